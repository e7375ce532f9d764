//! `check egress` against a real exit node: every fault that the VM can switch on, judged from what the collector reads.
//!
//! SDN and the site file are the lab's; FRR, VRFs, iptables and the packets are the VM's (`tests/tools/exit-node-vm.sh`).
//! `facts/exit-node.md` §2 says what each fault is and what must not be reported. Skipped, with the reason, without the VM.
//! `CHECK_VM_ONLY=snat-missing,core-drop` judges those alone; `pairs` and `reach` are words for the rest.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test that cannot go on must fail, says what it skips and saw, and measures time"
)]

#[allow(dead_code, reason = "other tests of the VM need more of it")]
#[path = "exit_node_common/vm.rs"]
mod vm;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deevnet_console::backends::exit_node::helper;
use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::collect::reach::{Ended, From, Target, reach};
use deevnet_console::diagnose::collect::{Check, Sink, Wanted, collect};
use deevnet_console::diagnose::evidence::Evidence;
use deevnet_console::diagnose::facts::Facts;
use deevnet_console::diagnose::finding::Severity;
use deevnet_console::diagnose::rules::matrix::{self, Way};
use deevnet_console::inventory::feed::Clients;
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions};
use deevnet_console::runtime::clock;
use deevnet_console::site::Site;
use vm::{Vm, boot};

/// The host on the VM's internet that answers pings and HTTP.
const INTERNET: &str = "\n[probes]\ninternet = \"198.51.100.10\"\n";

/// An emulated machine on a busy host is some 50 times slower than a node.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fault of the VM, the one root it has to come to (none = must not be reported), consequences it may have, and notes.
type Want = (&'static str, Option<&'static str>, &'static [&'static str], &'static [&'static str]);

/// What FRR's end takes along.
const OF_FRR: &[&str] = &["return-route-missing", "vrf-default-missing", "hairpin-leak", "inter-tenant-leak"];
/// What is lost with the link to the perimeter.
const OF_UPLINK: &[&str] = &["gateway-unreachable", "perimeter-drop", "vrf-default-missing"];
/// What new flows of the node itself lose to a full table.
const OF_TRACKING: &[&str] = &["gateway-unreachable", "perimeter-drop"];

const FAULTS: [Want; 29] = [
    ("snat-missing", Some("snat-missing"), &[], &[]),
    ("snat-wrong-source", Some("snat-wrong-source"), &[], &[]),
    ("snat-duplicate", None, &[], &["snat-duplicate"]),
    ("snat-in-legacy", None, &[], &[]),
    ("tenant-forwarding-off", Some("tenant-forwarding-off"), &[], &[]),
    ("transit-forwarding-off", Some("transit-forwarding-off"), &[], &[]),
    ("vrf-forwarding-off", None, &[], &[]),
    ("forward-policy-drop", Some("forward-policy-drop"), &[], &[]),
    ("vrf-default-missing", Some("vrf-default-missing"), &[], &[]),
    ("vrf-default-missing-fallback", Some("vrf-default-missing"), &[], &[]),
    ("healthy-fallback", None, &[], &[]),
    ("mgmt-leak", Some("management-leak"), &[], &["snat-apply-rewrites"]),
    ("transit-gateway-wrong", Some("vrf-default-wrong-gateway"), &[], &[]),
    ("gateway-neigh-failed", Some("gateway-unreachable"), &["perimeter-drop"], &[]),
    ("core-drop", Some("perimeter-drop"), &[], &[]),
    ("core-dns-down", None, &[], &[]),
    ("transit-mtu-blackhole", Some("transit-mtu"), &[], &[]),
    ("transit-mtu-low", None, &[], &["transit-mtu"]),
    ("return-route-missing", Some("return-route-missing"), &[], &[]),
    ("inter-tenant-leak", Some("inter-tenant-leak"), &[], &[]),
    ("inter-tenant-leak-oneway", Some("inter-tenant-leak"), &[], &[]),
    ("conntrack-full", Some("conntrack-full"), OF_TRACKING, &[]),
    ("conntrack-acct", None, &[], &[]),
    ("rp-filter-strict", None, &[], &["rp-filter-strict"]),
    ("rp-filter-strict-all", None, &[], &["rp-filter-strict"]),
    // Nobody but the workload itself is concerned, and no question to it is among the probes.
    ("workload-down", None, &[], &[]),
    ("uplink-down", Some("uplink-down"), OF_UPLINK, &[]),
    ("frr-killed", Some("frr-down"), &[], &[]),
    ("frr-stopped", Some("frr-down"), OF_FRR, &[]),
];

/// Pairs that are on at once, and the root of each.
const PAIRS: [[(&str, &str); 2]; 3] = [
    [("snat-missing", "snat-missing"), ("forward-policy-drop", "forward-policy-drop")],
    [("tenant-forwarding-off", "tenant-forwarding-off"), ("core-drop", "perimeter-drop")],
    [("return-route-missing", "return-route-missing"), ("inter-tenant-leak", "inter-tenant-leak")],
];

/// By design in every state with null routes: said, and no fault.
const BY_DESIGN: &str = "tenant-isolated";

/// Site, clients and VM together.
struct Bench {
    vm: Vm,
    site: Arc<Site>,
    clients: Clients,
}

/// What a verdict says, in ids.
struct Said {
    roots: Vec<&'static str>,
    consequences: Vec<&'static str>,
    notes: Vec<&'static str>,
    headline: Option<&'static str>,
    seconds: f64,
    whole: String,
}

impl Bench {
    async fn check(&self, check: Check, tenant: Option<&str>) -> (Evidence, Said) {
        let wanted = Wanted::of(check, tenant);
        let started = Instant::now();
        let evidence = collect(&self.site, &self.clients, &wanted, &Sink::new(clock::system()).patient(PATIENCE)).await;
        let report = Report::of(&evidence);
        let seconds = started.elapsed().as_secs_f64();
        let ids = |pick: &dyn Fn(bool, bool) -> bool| {
            let found = report.findings.iter().filter(|f| f.id != BY_DESIGN);
            let mut ids: Vec<_> =
                found.filter(|f| pick(f.severity > Severity::Info, f.caused_by.is_none())).map(|f| f.id).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let said = Said {
            roots: ids(&|loud, root| loud && root),
            consequences: ids(&|loud, root| loud && !root),
            notes: ids(&|loud, _| !loud),
            headline: report.headline().map(|f| f.id),
            seconds,
            whole: format!("{:#?}\n{:#?}", report.findings, report.unknown),
        };
        (evidence, said)
    }

    fn told(&self, name: &str, said: &Said) {
        eprintln!(
            "check_vm: {name:42} {:28} {:45} {:24} {:5.1} s",
            said.roots.join(" "),
            said.consequences.join(" "),
            said.notes.join(" "),
            said.seconds
        );
    }

    async fn judged(&self, want: &Want, bad: &mut Vec<String>) {
        let (fault, root, may, notes) = *want;
        self.vm.guest(&format!("site fault {fault}"));
        let (_, said) = self.check(Check::Egress, Some("tdemo")).await;
        self.told(fault, &said);
        let roots: Vec<_> = root.into_iter().collect();
        let more: Vec<_> = said.consequences.iter().filter(|id| !may.contains(id)).collect();
        let headline = root.is_none() || said.headline == root;
        if said.roots != roots || !more.is_empty() || said.notes != notes || !headline {
            bad.push(format!(
                "{fault}: roots {:?} instead of {roots:?}, unexpected {more:?}, notes {:?}\n{}",
                said.roots, said.notes, said.whole
            ));
        }
        self.vm.guest("site heal");
    }

    async fn reach(&self, address: &str, port: Option<u16>) -> From {
        let target = Target { tenant: "tdemo".to_owned(), address: address.parse().unwrap(), port };
        let found = reach(&self.site, &self.clients, &target, &Sink::new(clock::system()).patient(PATIENCE)).await;
        let [from] = found.try_into().expect("one exit node");
        eprintln!(
            "check_vm: reach {address}: {} / {} / {:?}",
            from.lookup.text,
            from.ping.text,
            from.tcp.as_ref().map(|t| &t.text)
        );
        from
    }

    /// The internet is reached from the VRF, another tenant is not, and nobody takes an answer for granted.
    async fn reached(&self) {
        let web = self.reach("198.51.100.10", Some(80)).await;
        assert_eq!((web.lookup.ended, web.ping.ended), (Ended::Reached, Ended::Reached), "{web:#?}");
        assert_eq!(web.tcp.as_ref().unwrap().ended, Ended::Reached, "{web:#?}");
        let other = self.reach("10.20.130.10", None).await;
        assert_eq!((other.lookup.ended, other.ping.ended), (Ended::Failed, Ended::Failed), "{other:#?}");
        self.vm.guest("site fault core-drop");
        let dropped = self.reach("198.51.100.10", Some(80)).await;
        let ended = (dropped.ping.ended, dropped.tcp.as_ref().unwrap().ended);
        assert_eq!(ended, (Ended::Failed, Ended::Failed), "{dropped:#?}");
        self.vm.guest("site heal");
    }

    async fn both(&self, pair: &[(&str, &'static str); 2], bad: &mut Vec<String>) {
        // The second one starts its own list of what is to be undone.
        let [(first, a), (second, b)] = pair;
        self.vm.guest(&format!(
            "site fault {first}; mv /run/site.undo /run/first.undo; site fault {second}; \
             cat /run/site.undo >>/run/first.undo; mv /run/first.undo /run/site.undo"
        ));
        let (_, said) = self.check(Check::Egress, Some("tdemo")).await;
        self.told(&format!("{first} + {second}"), &said);
        let mut roots = vec![*a, *b];
        roots.sort_unstable();
        if said.roots != roots {
            bad.push(format!("{first} + {second}: {:?} instead of {roots:?}\n{}", said.roots, said.whole));
        }
        self.vm.guest("site heal");
    }
}

async fn start() -> Option<(Bench, Lab)> {
    let vm = match boot("check_vm") {
        Ok(vm) => vm,
        Err(why) => {
            eprintln!("SKIPPED faults_of_a_real_exit_node: {why}");
            return None;
        }
    };
    vm.install(helper::SCRIPT);
    let lab = Lab::start(LabOptions {
        tenants: Some(2),
        workloads: Some(1),
        faults: Vec::new(),
        seed: 1,
        clock: clock::system(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: false,
        release: Release::default(),
        dir: None,
    })
    .await
    .unwrap();
    let text = format!("{}{INTERNET}", lab.site_toml());
    let site = Arc::new(Site::parse(&text, &lab.dir().join("site.toml")).unwrap());
    let mut clients = Clients::connect(&site).await;
    let node = site.exit_nodes.first().unwrap().name.clone();
    clients.exit_nodes = vec![(node, Ok(vm.login("ops")))];
    Some((Bench { vm, site, clients }, lab))
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_a_real_exit_node() {
    let Some((bench, lab)) = start().await else { return };
    let only = std::env::var("CHECK_VM_ONLY").unwrap_or_default();
    let chosen = |name: &str| only.is_empty() || only.split(',').any(|one| one == name);
    let mut bad = Vec::new();
    let began = Instant::now();
    let (evidence, healthy) = bench.check(Check::All, None).await;
    bench.told("healthy", &healthy);
    let pairs = matrix::pairs(&Facts::of(&evidence));
    assert!(pairs.len() == 2 && pairs.iter().all(|pair| pair.routes == Way::Dropped), "{pairs:#?}");
    assert!(pairs.iter().all(|pair| pair.lookup.as_deref() == Some("Invalid argument")), "{pairs:#?}");
    if !(healthy.roots.is_empty() && healthy.consequences.is_empty() && healthy.notes.is_empty()) {
        bad.push(format!("healthy: {}", healthy.whole));
    }
    if chosen("reach") {
        bench.reached().await;
    }
    for want in FAULTS.iter().filter(|want| chosen(want.0)) {
        bench.judged(want, &mut bad).await;
    }
    for pair in PAIRS.iter().filter(|_| chosen("pairs")) {
        bench.both(pair, &mut bad).await;
    }
    eprintln!("check_vm: {:.1} minutes", began.elapsed().as_secs_f64() / Duration::from_secs(60).as_secs_f64());
    lab.shutdown().await;
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
