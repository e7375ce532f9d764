//! A VM with the site around it: SDN, site file and perimeter are the lab's, the node is the VM.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deevnet_console::backends::exit_node::helper;
use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::collect::{Check, Sink, Wanted, collect};
use deevnet_console::diagnose::evidence::{Evidence, Kind};
use deevnet_console::diagnose::finding::{Finding, Severity};
use deevnet_console::inventory::feed::Clients;
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use deevnet_console::runtime::clock;
use deevnet_console::site::Site;

use crate::vm::{Vm, boot};
use crate::wanted::{Of, Want};

/// The host on the VM's internet that answers pings and HTTP.
const INTERNET: &str = "\n[probes]\ninternet = \"198.51.100.10\"\n";
/// An emulated machine on a busy host is some 50 times slower than a node.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Longest wait for a fault to be on, or healed: FRR takes half a minute.
const MINUTES: u32 = 240;
/// By design in every state: said, and no fault.
pub const BY_DESIGN: [&str; 2] = ["tenant-isolated", "token-end-not-read"];
/// Tenants of the VM.
const TENANTS: [&str; 2] = ["eds", "tdemo"];

/// Site, clients and VM together.
pub struct Bench {
    pub vm: Vm,
    pub lab: Lab,
    pub site: Arc<Site>,
    pub clients: Clients,
    /// What faults change, as it is in the healthy VM.
    healthy: String,
}

/// A verdict.
pub struct Said {
    pub evidence: Evidence,
    pub report: Report,
    /// From the question to the verdict.
    pub took: Duration,
    /// From the last answer to the verdict.
    pub after: Duration,
}

/// A state, judged.
pub struct Line {
    pub want: &'static Want,
    pub said: Option<Said>,
    pub wrong: Vec<String>,
    /// Switching on, judging, and healing together.
    pub took: Duration,
}

impl Bench {
    /// The VM, installed and read; `None` where it cannot be had here, which is told.
    pub async fn start(who: &str) -> Option<Self> {
        let vm = match tokio::task::block_in_place(|| boot(who)) {
            Ok(vm) => vm,
            Err(why) => {
                eprintln!("SKIPPED faults_of_a_real_exit_node: {why}");
                return None;
            }
        };
        vm.install(helper::SCRIPT);
        let options = LabOptions {
            tenants: Some(2),
            workloads: Some(1),
            faults: Vec::new(),
            seed: 1,
            clock: clock::system(),
            program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
            second_half: false,
            release: Release::default(),
            writable: false,
            pace: Pace::Clock,
            dir: None,
        };
        let lab = Lab::start(options).await.unwrap();
        let text = format!("{}{INTERNET}", lab.site_toml());
        let site = Arc::new(Site::parse(&text, &lab.dir().join("site.toml")).unwrap());
        let mut bench = Self { clients: Clients::connect(&site).await, vm, lab, site, healthy: String::new() };
        let node = bench.site.exit_nodes.first().unwrap().name.clone();
        bench.clients.exit_nodes = vec![(node, Ok(bench.vm.login("ops")))];
        bench.healthy = bench.root("site print").unwrap();
        Some(bench)
    }

    /// Runs a command in the VM as root, within bounds.
    pub fn root(&self, command: &str) -> Result<String, String> {
        tokio::task::block_in_place(|| self.vm.tried(command, MINUTES))
    }

    /// Asks and judges.
    pub async fn check(&self, check: Check, subject: Option<&str>) -> Said {
        ask(&self.site, &self.clients, check, subject).await
    }

    /// Switches a state on, judges it, and heals it whatever the verdict.
    pub async fn state(&self, want: &'static Want) -> Line {
        let began = Instant::now();
        let mut line = Line { want, said: None, wrong: Vec::new(), took: Duration::ZERO };
        match self.root(&format!("site fault {}", want.on.join(" "))) {
            Err(why) => line.wrong.push(format!("it could not be switched on: {why}")),
            Ok(_) => {
                let said = self.check(Check::Egress, Some("tdemo")).await;
                line.wrong = said.against(want);
                line.said = Some(said);
            }
        }
        line.wrong.extend(self.heal().err());
        line.took = began.elapsed();
        line
    }

    /// Heals, and compares what faults change with what it was.
    pub fn heal(&self) -> Result<(), String> {
        let now = self.root("site heal && site print").map_err(|why| format!("it could not be healed: {why}"))?;
        // A chain that lets everything through is as good as none; asking for its policy makes it.
        let open = |line: &&str| line.starts_with(':') && line.ends_with(" ACCEPT");
        let lines = |text: &str| text.lines().filter(|line| !open(line)).map(str::to_owned).collect::<Vec<_>>();
        let (was, now) = (lines(&self.healthy), lines(&now));
        let more = now.iter().filter(|line| !was.contains(line)).map(|line| format!("+{line}"));
        let less = was.iter().filter(|line| !now.contains(line)).map(|line| format!("-{line}"));
        let differs: Vec<String> = less.chain(more).collect();
        if differs.is_empty() { Ok(()) } else { Err(format!("it is not healed: {}", differs.join(" | "))) }
    }
}

/// Asks `clients` and judges what they say.
pub async fn ask(site: &Arc<Site>, clients: &Clients, check: Check, subject: Option<&str>) -> Said {
    let wanted = Wanted::of(check, subject);
    let sink = Sink::new(clock::system()).patient(PATIENCE);
    let began = Instant::now();
    let evidence = collect(site, clients, &wanted, &sink).await;
    let answered = evidence.items.iter().filter(|item| !matches!(item.kind, Kind::Material(_)));
    let last = answered.filter_map(|item| item.at).max().unwrap();
    let report = Report::of(&evidence);
    let after = Duration::try_from(clock::system()().duration_since(last)).unwrap_or_default();
    Said { evidence, report, took: began.elapsed(), after }
}

fn loud(finding: &&Finding) -> bool {
    finding.severity > Severity::Info
}

impl Said {
    pub fn roots(&self) -> Vec<&Finding> {
        self.report.findings.iter().filter(loud).filter(|f| f.caused_by.is_none()).collect()
    }

    /// Consequences with their causes.
    pub fn under(&self) -> Vec<(&'static str, &'static str)> {
        let below = |f: &Finding| f.caused_by.as_ref().map(|(cause, _)| (f.id, *cause));
        self.report.findings.iter().filter(loud).filter_map(below).collect()
    }

    pub fn notes(&self) -> Vec<&'static str> {
        let notes = self.report.findings.iter().filter(|f| !loud(f) && !BY_DESIGN.contains(&f.id));
        let mut notes: Vec<_> = notes.map(|f| f.id).collect();
        notes.sort_unstable();
        notes
    }

    /// Rules that could not know, each once.
    pub fn unknown(&self) -> Vec<&'static str> {
        let mut ids: Vec<_> = self.report.unknown.iter().flat_map(|unknown| unknown.ids.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Rules of the node that could not know: what the lab's site leaves open is none of the VM's business.
    pub fn passed(&self, id: &str) -> bool {
        self.report.passed.iter().any(|passed| passed.id == id)
    }

    /// Where it is not what is wanted.
    pub fn against(&self, want: &Want) -> Vec<String> {
        let mut wrong = Vec::new();
        let found: Vec<_> = self.roots().iter().map(|f| f.id).collect();
        let wanted: Vec<_> = want.causes.iter().map(|(id, _)| *id).collect();
        if found.first() != wanted.first() || sorted(&found) != sorted(&wanted) {
            wrong.push(format!("causes {found:?} instead of {wanted:?}"));
        }
        for (id, of) in want.causes {
            wrong.extend(self.roots().into_iter().filter(|f| f.id == *id).find_map(|f| concerns(f, *of)));
        }
        let under = self.under();
        let lost = want.under.iter().filter(|pair| !under.contains(pair)).map(|pair| format!("no {pair:?}"));
        wrong.extend(lost);
        let more = under.iter().filter(|pair| !want.under.contains(pair) && !want.may.contains(pair));
        wrong.extend(more.map(|pair| format!("unexpected {pair:?}")));
        if self.notes() != want.notes {
            wrong.push(format!("notes {:?} instead of {:?}", self.notes(), want.notes));
        }
        let facts: Vec<_> = self.roots().iter().flat_map(|f| f.facts.clone()).collect();
        let shown = |(key, part): &&(&str, &str)| !facts.iter().any(|f| f.key == *key && f.value.contains(part));
        wrong.extend(want.signs.iter().filter(shown).map(|sign| format!("the sign {sign:?} is not told")));
        let mut unknown = self.unknown();
        unknown.retain(|id| want.unknown.contains(id) || !want.open.contains(id));
        wrong.extend(want.passed.iter().filter(|id| !self.passed(id)).map(|id| format!("{id} did not look")));
        if unknown != want.unknown {
            wrong.push(format!("unknown {unknown:?} instead of {:?}", want.unknown));
        }
        wrong.extend(want.unknown.iter().filter(|id| self.passed(id)).map(|id| format!("{id} cannot have passed")));
        wrong.extend(self.concerned(want));
        wrong
    }

    /// What a tenant is told is its own and the node's, not the other's.
    fn concerned(&self, want: &Want) -> Vec<String> {
        let mut wrong = Vec::new();
        for tenant in TENANTS {
            let (mine, _) = self.report.about(tenant);
            for (id, of) in want.causes {
                let told = mine.findings.iter().any(|f| f.id == *id && f.severity > Severity::Info);
                let other = want.causes.iter().any(|(same, to)| same == id && to.reaches(tenant));
                if told != other {
                    let what = if told { "is told" } else { "is not told" };
                    wrong.push(format!("{tenant} {what} of {id}, which is of {of:?}"));
                }
            }
        }
        wrong
    }

    /// Everything, for people.
    pub fn whole(&self) -> String {
        let findings = self.report.findings.iter().filter(|f| !BY_DESIGN.contains(&f.id)).map(|f| {
            let cause = f.caused_by.as_ref().map(|(id, _)| format!(" <- {id}")).unwrap_or_default();
            let facts = f.facts.iter().map(|fact| format!("{} {}={}", fact.key, fact.subject, fact.value));
            format!("    {:?} {}{cause}: {} [{}]", f.severity, f.id, f.title, facts.collect::<Vec<_>>().join("; "))
        });
        let unknown =
            self.report.unknown.iter().map(|u| format!("    unknown {} ({:?}): {:?}", u.missing, u.why, u.ids));
        findings.chain(unknown).collect::<Vec<_>>().join("\n")
    }
}

impl Of {
    fn reaches(self, tenant: &str) -> bool {
        match self {
            Self::Node | Self::Between(_) => true,
            Self::Tdemo | Self::Workload => tenant == "tdemo",
            Self::Eds => tenant == "eds",
        }
    }
}

/// Why `finding` is about something else.
fn concerns(finding: &Finding, of: Of) -> Option<String> {
    let subject = (finding.subject.kind, finding.subject.name.as_str());
    let right = match of {
        Of::Node => subject.0 == "node",
        Of::Tdemo => subject == ("zone", "tdemo"),
        Of::Eds => subject == ("zone", "eds"),
        Of::Between(told) => subject == ("zone", told),
        Of::Workload => subject.0 == "workload",
    };
    let all = TENANTS.iter().filter(|tenant| finding.affects.iter().any(|who| who == *tenant)).count();
    let reach = all == TENANTS.iter().filter(|tenant| of.reaches(tenant)).count();
    (!right || !reach).then(|| format!("{} is of {subject:?}, reaching {:?}", finding.id, finding.affects))
}

fn sorted<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}
