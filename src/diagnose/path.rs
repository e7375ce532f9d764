//! The path from a workload to the internet: which rules speak for which leg, and what they come to.

use std::collections::BTreeMap;

use super::Report;
use super::evidence::Api;
use super::finding::{Finding, Key, Layer, Severity, Subject, Unknown};
use super::parts::Kind::{self, Fabric, Guests, Perimeter, Read, Tried};
use super::parts::Part;
use super::rules;
use super::scope::{Scope, Whose};

/// A leg of the path.
#[derive(Debug, PartialEq, Eq)]
pub struct Leg {
    /// Name.
    pub name: &'static str,
    /// Where it is looked at.
    pub place: &'static str,
    /// What would look at it where no rule has.
    pub needs: &'static str,
    /// Parts of a check that it hangs on.
    pub awaits: &'static [Kind],
    /// What is not seen from there, so that a pass says nothing of it; empty = nothing worth saying.
    pub misses: &'static str,
    /// Whether it passes only where something was seen on it: its rules look at nearer things as well.
    pub seen_only: bool,
    /// Rules that speak for it.
    pub rules: &'static [&'static str],
    /// Those of them without which it does not pass: the others look at one thing beside it, and say nothing of the leg.
    pub decide: &'static [&'static str],
}

/// Legs that a check of this site does not test, by name, and why.
pub type Untested = BTreeMap<&'static str, String>;

/// The place of legs that are looked at on each exit node.
pub const EXIT_NODE: &str = "exit node";
/// The place of legs that nobody sees but the workload itself.
const WORKLOAD: &str = "in the workload";

/// Legs that hang on `part`.
pub fn awaiting(part: &Part) -> impl Iterator<Item = &'static Leg> {
    let kind = part.kind();
    LEGS.iter().filter(move |leg| leg.awaits.contains(&kind))
}

/// Whether the rule called `id` speaks for a leg.
#[must_use]
pub fn on_a_leg(id: &str) -> bool {
    LEGS.iter().any(|leg| leg.rules.contains(&id))
}

/// From the workload outwards; the first that is broken explains those behind it.
pub static LEGS: [Leg; 12] = [
    Leg {
        name: "workload runs",
        awaits: &[Fabric, Tried, Guests],
        misses: "",
        seen_only: false,
        place: "PVE",
        needs: "the guest's state and its agent",
        rules: &["workload-stopped", "workload-down", "address-not-announced"],
        decide: &["workload-stopped", "workload-down"],
    },
    Leg {
        name: "workload → bridge",
        awaits: &[Fabric, Read, Guests],
        misses: "",
        seen_only: false,
        place: WORKLOAD,
        needs: "a ping of the gateway from the workload",
        rules: &["firewall-bridge-mtu", "workload-gateway-silent"],
        decide: &["firewall-bridge-mtu", "workload-gateway-silent"],
    },
    Leg {
        name: "zone and VNet applied",
        awaits: &[Fabric],
        misses: "",
        seen_only: false,
        place: "PVE",
        needs: "SDN as configured and as applied",
        rules: &[
            "sdn-pending",
            "apply-partial",
            "node-lags",
            "node-stranger",
            "exit-outside-zone",
            "vni-collision",
            "vni-shared",
            "subnet-overlap",
            "subnet-overlap-inside",
            "snat-without-exit-node",
            "snat-without-gateway",
            "exit-primary-missing",
            "exit-nodes-loop",
            "vnet-missing",
            "vnet-not-on-node",
        ],
        decide: &["vnet-missing", "exit-outside-zone", "vni-collision", "snat-without-exit-node"],
    },
    Leg {
        name: "VRF up",
        awaits: &[Fabric, Read],
        misses: "",
        seen_only: false,
        place: EXIT_NODE,
        needs: "links and FRR of the exit node",
        rules: &[
            "exit-node-unreachable",
            "routing-packages-missing",
            "frr-down",
            "frr-handwritten-lost",
            "l3vni-not-bound",
            "tenant-forwarding-off",
        ],
        decide: &["frr-down", "l3vni-not-bound", "tenant-forwarding-off"],
    },
    Leg {
        name: "default route",
        awaits: &[Fabric, Read],
        misses: "",
        seen_only: false,
        place: EXIT_NODE,
        needs: "routes of the VRF",
        rules: &["vrf-default-missing", "vrf-default-wrong-gateway", "frr-local-not-merged", "frr-local-contested"],
        decide: &["vrf-default-missing", "vrf-default-wrong-gateway"],
    },
    Leg {
        name: "leaves by transit",
        awaits: &[Fabric, Tried],
        misses: "",
        seen_only: true,
        place: EXIT_NODE,
        needs: "a lookup of a workload's packet",
        rules: &["management-leak", "uplink-down", "exit-local-routing"],
        decide: &["management-leak", "uplink-down"],
    },
    Leg {
        name: "SNAT rule",
        awaits: &[Fabric, Tried],
        misses: "",
        seen_only: false,
        place: EXIT_NODE,
        needs: "the NAT rules of the exit node",
        rules: &[
            "snat-missing",
            "snat-wrong-source",
            "snat-duplicate",
            "snat-stale",
            "snat-catches-routed",
            "snat-apply-rewrites",
            "conntrack-full",
            "conntrack-collision",
        ],
        decide: &["snat-missing", "snat-wrong-source", "conntrack-full"],
    },
    Leg {
        name: "transit forwards",
        awaits: &[Fabric, Tried],
        misses: "",
        seen_only: false,
        place: EXIT_NODE,
        needs: "settings and filter of the exit node",
        rules: &[
            "transit-forwarding-off",
            "forward-policy-drop",
            "rp-filter-drops",
            "rp-filter-strict",
            "return-route-missing",
        ],
        decide: &["transit-forwarding-off", "forward-policy-drop", "return-route-missing"],
    },
    Leg {
        name: "gateway answers",
        awaits: &[Fabric, Tried, Perimeter],
        misses: "cannot see leg 8",
        seen_only: false,
        place: EXIT_NODE,
        needs: "a ping of the transit gateway",
        rules: &["gateway-unreachable", "gateway-down"],
        decide: &["gateway-unreachable"],
    },
    Leg {
        name: "perimeter passes",
        awaits: &[Fabric, Tried, Perimeter],
        misses: "",
        seen_only: false,
        place: "firewall",
        needs: "rules of the firewall, or a probe beyond it",
        rules: &[
            "perimeter-drop",
            "route-missing",
            "route-wrong-gateway",
            "nat-missing-for-transit",
            "nat-missing-for-routed",
            "ruleset-not-loaded",
            "rule-shadowed",
            "asymmetric-path",
        ],
        decide: &["perimeter-drop", "route-missing", "nat-missing-for-routed"],
    },
    Leg {
        name: "internet answers",
        awaits: &[Fabric, Tried],
        misses: "cannot see legs 2 and 8",
        seen_only: true,
        place: EXIT_NODE,
        needs: "a connection to the internet from the VRF",
        rules: &["transit-mtu", "mtu-ruled-out"],
        decide: &["transit-mtu"],
    },
    Leg {
        name: "nothing on management",
        awaits: &[],
        misses: "",
        seen_only: false,
        place: WORKLOAD,
        needs: "a capture during a ping from the workload",
        rules: &["management-traffic-seen"],
        decide: &["management-traffic-seen"],
    },
];

/// Whether rule `id` speaks for a leg of the path.
#[must_use]
pub fn has(id: &str) -> bool {
    LEGS.iter().any(|leg| leg.rules.contains(&id))
}

/// What the rules come to for a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// What it hangs on has not come yet.
    Asking,
    /// A rule found a fault.
    Fail,
    /// It was to be looked at: an input is missing, or what was found may be somebody else's.
    Unknown,
    /// A rule found something to look at.
    Weak,
    /// A rule looked and found nothing.
    Pass,
    /// It cannot be tested from here.
    NotRun,
}

impl State {
    /// Its place among states, the worst first.
    #[must_use]
    pub const fn rank(self) -> u8 {
        match self {
            Self::Fail => 0,
            Self::Asking => 1,
            Self::Unknown => 2,
            Self::Weak => 3,
            Self::Pass => 4,
            Self::NotRun => 5,
        }
    }
}

/// A leg, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged<'r> {
    /// The leg.
    pub leg: &'static Leg,
    /// What the rules come to.
    pub state: State,
    /// Faults and warnings, in the order of the report.
    pub findings: Vec<&'r Finding>,
    /// Inputs that are missing.
    pub missing: Vec<&'r Unknown>,
    /// Rules that looked and found nothing.
    pub passed: Vec<&'static str>,
    /// What it still waits for.
    pub open: Vec<&'r Part>,
    /// Why it is not tested on this site, where it is not.
    pub untested: Option<&'r str>,
    /// Whether what was found may be another tenant's.
    pub unclear: bool,
}

/// The legs, and the faults of egress that are on none.
#[derive(Debug, Clone, PartialEq)]
pub struct Path<'r> {
    /// In causal order.
    pub legs: Vec<Judged<'r>>,
    elsewhere: bool,
    /// Whether nothing that was read names the tenant: what all share says nothing of its path then.
    unnamed: bool,
}

impl<'r> Path<'r> {
    /// The path of `tenant`; of everybody without one.
    #[must_use]
    pub fn of(report: &'r Report, tenant: Option<&str>) -> Self {
        static NONE: Untested = Untested::new();
        Self::so_far(report, tenant, &[], &NONE)
    }

    /// The same while `open` has not come, where `untested` is not tested.
    #[must_use]
    pub fn so_far(report: &'r Report, tenant: Option<&str>, open: &'r [Part], untested: &'r Untested) -> Self {
        let scope = tenant.map(|tenant| Scope::of(report, tenant));
        let found = |f: &Finding| scope.as_ref().map_or(Whose::Ours, |scope| scope.finding(f));
        let missing = |u: &Unknown| scope.as_ref().map_or(Whose::Ours, |scope| scope.unknown(u));
        let unnamed = scope.as_ref().is_some_and(|scope| !scope.named());
        let about = |s: &Subject| match &scope {
            None => Whose::Ours,
            Some(_) if unnamed => Whose::Unclear,
            Some(scope) => scope.subject(s),
        };
        let legs: Vec<Judged<'r>> =
            LEGS.iter().map(|leg| judge(leg, report, (&found, &about, &missing), (open, untested))).collect();
        let on_no_leg = |f: &&Finding| !on_a_leg(f.id);
        let loud = |f: &&Finding| f.layer == Layer::Egress && f.severity == Severity::Fault;
        let elsewhere = report.findings.iter().filter(loud).filter(on_no_leg).any(|f| found(f) != Whose::Theirs);
        Self { legs, elsewhere, unnamed }
    }

    /// The first leg that is broken, counted from 1.
    #[must_use]
    pub fn broken(&self) -> Option<(usize, &Judged<'r>)> {
        (1..).zip(&self.legs).find(|(_, leg)| leg.state == State::Fail)
    }

    /// What the whole path comes to: the worst of its legs. That nobody looked at some does not count.
    #[must_use]
    pub fn state(&self) -> State {
        let any = |state| self.legs.iter().any(|leg| leg.state == state);
        if self.elsewhere {
            return State::Fail;
        }
        if self.unnamed && self.broken().is_none() {
            return State::Unknown;
        }
        let order = [State::Fail, State::Asking, State::Unknown, State::Weak, State::Pass];
        order.into_iter().find(|state| any(*state)).unwrap_or(State::NotRun)
    }

    /// How many legs are as `state` says.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.legs.iter().filter(|leg| leg.state == state).count()
    }
}

/// Tells whose something is.
type Of<'a, T> = &'a dyn Fn(&T) -> Whose;

fn judge<'r>(
    leg: &'static Leg,
    report: &'r Report,
    (found, about, lacks): (Of<'_, Finding>, Of<'_, Subject>, Of<'_, Unknown>),
    (open, untested): (&'r [Part], &'r Untested),
) -> Judged<'r> {
    let loud = |f: &&Finding| leg.rules.contains(&f.id) && f.severity > Severity::Info;
    let ours = |f: &&Finding| !matches!(found(f), Whose::Theirs | Whose::Unclear);
    let mut findings: Vec<&Finding> = report.findings.iter().filter(loud).filter(ours).collect();
    let unclear = report.findings.iter().filter(loud).any(|f| found(f) == Whose::Unclear);
    let missing = report.unknown.iter().filter(|u| u.ids.iter().any(|id| leg.rules.contains(id)));
    let missing: Vec<&Unknown> = missing.filter(|u| lacks(u) != Whose::Theirs).collect();
    let mut passed: Vec<&'static str> = report
        .passed
        .iter()
        .filter(|p| leg.rules.contains(&p.id) && matches!(about(&p.subject), Whose::Ours | Whose::Shared))
        .map(|p| p.id)
        .collect();
    passed.dedup();
    let decided = passed.iter().any(|id| leg.decide.contains(id));
    let open: Vec<&Part> = open.iter().filter(|part| leg.awaits.contains(&part.kind())).collect();
    let silent = findings.is_empty() && missing.is_empty() && !unclear && !decided;
    let untested = untested.get(leg.name).map(String::as_str);
    let elsewhere = leg.place == WORKLOAD || untested.is_some();
    let told: Vec<Key> = findings.iter().map(|f| f.key()).collect();
    let hidden = |f: &&Finding| match (rules::is_blind(f.id), decided) {
        (true, _) => leg.is_of_nodes() && (!decided || leg.seen_only),
        // What only the workload sees is no source's to tell.
        (false, false) => told.is_empty() && !elsewhere && hides(f, leg),
        (false, true) => false,
    };
    findings.extend(report.findings.iter().filter(hidden).filter(ours).filter(|f| !told.contains(&f.key())));
    let blind = findings.iter().any(|f| is_blind(f));
    let state = if !open.is_empty() {
        State::Asking
    } else if findings.iter().any(|f| f.severity == Severity::Fault && !is_blind(f)) {
        State::Fail
    } else if blind || unclear || !missing.is_empty() {
        State::Unknown
    } else if !findings.is_empty() {
        State::Weak
    } else if decided {
        State::Pass
    } else if silent && elsewhere {
        State::NotRun
    } else {
        State::Unknown
    };
    Judged { leg, state, findings, missing, passed, open, untested, unclear }
}

impl Leg {
    /// Whether it is looked at on exit nodes: one that cannot be asked was wanted and not had, which is more than not run.
    fn is_of_nodes(&self) -> bool {
        self.awaits.iter().any(|kind| matches!(kind, Read | Tried))
    }
}

fn is_blind(finding: &Finding) -> bool {
    rules::is_blind(finding.id) || finding.layer == Layer::Access
}

/// Whether `finding` says that nothing comes from a back end that `leg` hangs on.
fn hides(finding: &Finding, leg: &Leg) -> bool {
    let of = |kind: Kind, api: Api| {
        let whole = finding.subject.kind == "source" && finding.subject.name == api.words();
        whole && leg.awaits.contains(&kind)
    };
    let source = of(Fabric, Api::Proxmox) || of(Perimeter, Api::Opnsense);
    let token = finding.subject.kind == "token" && finding.subject.name.contains('!') && leg.awaits.contains(&Fabric);
    finding.layer == Layer::Access && finding.severity == Severity::Fault && (source || token)
}

#[cfg(test)]
mod tests;
