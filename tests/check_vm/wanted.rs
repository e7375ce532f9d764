//! What each state of the VM has to come to, from `facts/exit-node.md` §2 (ids: §11), not from what the product says.
//!
//! Whatever a state does not name must not be there: every finding that is not among its causes, under one of them, or
//! among its notes is wrong, and so is every rule in `passed` or `unknown` that did not look, or says that it did.

/// How the facts class a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Broken, or open to somebody it must not be open to: the headline.
    Fault,
    /// Worth knowing, and nothing is lost.
    Note,
    /// Nothing may be said.
    Silent,
}

/// What a cause is about, and so whom it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The node: both tenants.
    Node,
    /// The first tenant alone.
    Tdemo,
    /// The second tenant alone.
    Eds,
    /// A fault between the two that is told of this one.
    Between(&'static str),
    /// A workload of the first tenant.
    Workload,
}

/// A state and what it has to come to.
#[derive(Debug, Default)]
pub struct Want {
    /// What is switched on at once, as `site fault` takes it.
    pub on: &'static [&'static str],
    /// Causes, the headline first.
    pub causes: &'static [(&'static str, Of)],
    /// Consequences that have to be told, each with its cause.
    pub under: &'static [(&'static str, &'static str)],
    /// Consequences that may be there, by when it was looked.
    pub may: &'static [(&'static str, &'static str)],
    /// Notes.
    pub notes: &'static [&'static str],
    /// Signs of §2 that have to be among the facts of the causes: key and a part of its value.
    pub signs: &'static [(&'static str, &'static str)],
    /// Look-alikes: rules that have to have looked and found nothing.
    pub passed: &'static [&'static str],
    /// Rules that cannot know, and have to say so.
    pub unknown: &'static [&'static str],
    /// Rules that may not know, by when it was looked.
    pub open: &'static [&'static str],
    /// In the ordinary run too.
    pub sample: bool,
}

impl Want {
    /// Its name.
    pub fn name(&self) -> String {
        self.on.join(" + ")
    }

    /// How the facts class it.
    pub const fn class(&self) -> Class {
        match (self.causes, self.notes) {
            ([], []) => Class::Silent,
            ([], _) => Class::Note,
            _ => Class::Fault,
        }
    }
}

/// A state without anything.
const NONE: Want = Want {
    on: &[],
    causes: &[],
    under: &[],
    may: &[],
    notes: &[],
    signs: &[],
    passed: &[],
    unknown: &[],
    open: &[],
    sample: false,
};

/// Rules that look at a healthy node and find nothing: none of them is silent for want of something to look at.
pub const HEALTHY: &[&str] = &[
    "uplink-down",
    "frr-down",
    "vrf-default-missing",
    "vrf-default-wrong-gateway",
    "management-leak",
    "snat-missing",
    "snat-wrong-source",
    "tenant-forwarding-off",
    "transit-forwarding-off",
    "forward-policy-drop",
    "return-route-missing",
    "gateway-unreachable",
    "perimeter-drop",
    "transit-mtu",
    "conntrack-full",
    "rp-filter-strict",
    "inter-tenant-leak",
    "workload-down",
];

/// Of a node that carries everything: what is lost, if anything, is lost beyond it.
const CARRIES: &[&str] = &["snat-missing", "transit-forwarding-off", "gateway-unreachable", "return-route-missing"];

/// What is beyond a gateway that does not answer.
const HIDDEN: &[&str] = &["perimeter-drop", "transit-mtu"];
/// The same while FRR does not say what it runs.
const HIDDEN_WITH_FRR: &[&str] = &["frr-unsaved", "perimeter-drop", "transit-mtu"];

/// What the end of FRR takes along where main's default is on transit.
const OF_FRR: &[(&str, &str)] = &[("vrf-default-missing", "frr-down"), ("return-route-missing", "frr-down")];

/// One at a time, in the order of §2. Those that restart FRR take longest.
pub const SINGLE: &[Want] = &[
    Want {
        on: &["transit-forwarding-off"],
        causes: &[("transit-forwarding-off", Of::Node)],
        signs: &[("forwarding", "off")],
        passed: &["tenant-forwarding-off", "return-route-missing", "perimeter-drop", "gateway-unreachable"],
        sample: true,
        ..NONE
    },
    Want {
        on: &["tenant-forwarding-off"],
        causes: &[("tenant-forwarding-off", Of::Tdemo)],
        signs: &[("forwarding", "off")],
        passed: &["transit-forwarding-off", "vrf-default-missing", "snat-missing"],
        sample: true,
        ..NONE
    },
    Want {
        on: &["vrf-default-missing"],
        causes: &[("vrf-default-missing", Of::Tdemo)],
        // No symptom: the lookups alone show that management is reached.
        signs: &[("vrf.default", "none"), ("vrf.guard", "none"), ("lookup.leaves", "vmbr0")],
        passed: &["perimeter-drop", "return-route-missing", "frr-down"],
        sample: true,
        ..NONE
    },
    Want {
        on: &["vrf-default-missing-fallback"],
        causes: &[("vrf-default-missing", Of::Tdemo)],
        signs: &[("vrf.default", "none"), ("vrf.guard", "in place")],
        passed: &["tenant-forwarding-off", "snat-missing"],
        ..NONE
    },
    Want {
        on: &["mgmt-leak"],
        causes: &[("management-leak", Of::Tdemo)],
        // An apply would look where main leads (§1).
        notes: &["snat-apply-rewrites"],
        signs: &[("lookup.leaves", "vmbr0"), ("main.default", "vmbr0")],
        passed: &["snat-missing", "frr-down"],
        sample: true,
        ..NONE
    },
    Want {
        on: &["snat-missing"],
        causes: &[("snat-missing", Of::Tdemo)],
        signs: &[("snat.rule", "none")],
        passed: &["vrf-default-missing", "return-route-missing", "perimeter-drop"],
        sample: true,
        ..NONE
    },
    Want {
        on: &["snat-wrong-source"],
        causes: &[("snat-wrong-source", Of::Tdemo)],
        signs: &[("snat.rule", "10.20.50.23"), ("address.local", "no")],
        // The platform's dry run was read, and would write no other rule.
        passed: &["snat-missing"],
        ..NONE
    },
    Want { on: &["snat-in-legacy"], passed: &["snat-missing", "snat-wrong-source"], sample: true, ..NONE },
    Want { on: &["snat-duplicate"], notes: &["snat-duplicate"], passed: &["snat-missing"], ..NONE },
    Want {
        on: &["transit-gateway-wrong"],
        // The fault types the other route into vtysh: it stands in no file.
        causes: &[("vrf-default-wrong-gateway", Of::Tdemo), ("frr-unsaved", Of::Tdemo)],
        signs: &[("vrf.default", "10.20.50.99"), ("frr.unsaved", "10.20.50.99")],
        passed: &["gateway-unreachable", "vrf-default-missing"],
        ..NONE
    },
    Want {
        on: &["gateway-neigh-failed"],
        causes: &[("gateway-unreachable", Of::Node)],
        signs: &[("probe.answered", "no")],
        passed: &["uplink-down", "snat-missing", "vrf-default-wrong-gateway"],
        unknown: HIDDEN,
        sample: true,
        ..NONE
    },
    Want {
        on: &["uplink-down"],
        causes: &[("uplink-down", Of::Node)],
        // zebra withdrew the defaults.
        under: &[("vrf-default-missing", "uplink-down")],
        may: &[("gateway-unreachable", "uplink-down")],
        passed: &["frr-down", "snat-missing", "return-route-missing"],
        unknown: HIDDEN,
        sample: true,
        ..NONE
    },
    Want {
        on: &["core-drop"],
        causes: &[("perimeter-drop", Of::Node)],
        signs: &[("probe.answered", "no"), ("probe.answered", "yes")],
        passed: CARRIES,
        unknown: &["transit-mtu"],
        sample: true,
        ..NONE
    },
    // Names alone fail, and none is asked for here: the way out is good.
    Want { on: &["core-dns-down"], passed: HEALTHY, ..NONE },
    Want {
        on: &["return-route-missing"],
        causes: &[("return-route-missing", Of::Tdemo)],
        signs: &[("main.route", "none"), ("lookup.bounces", "10.20.50.1 by vmbr0.50")],
        passed: &["transit-forwarding-off", "frr-down", "snat-missing"],
        sample: true,
        ..NONE
    },
    Want {
        on: &["frr-stopped"],
        causes: &[("frr-down", Of::Node)],
        under: OF_FRR,
        // Until zebra has withdrawn everything, main holds the other tenant's subnet.
        may: &[("inter-tenant-leak", "frr-down"), ("hairpin-leak", "frr-down")],
        signs: &[("frr.unit", "inactive")],
        passed: &["uplink-down", "snat-missing", "gateway-unreachable"],
        sample: true,
        unknown: &["frr-unsaved"],
        ..NONE
    },
    Want {
        on: &["frr-killed"],
        causes: &[("frr-down", Of::Node)],
        signs: &[("frr.unit", "failed")],
        // Its routes are still in the kernel.
        passed: &["vrf-default-missing", "return-route-missing", "perimeter-drop", "inter-tenant-leak"],
        unknown: &["frr-unsaved"],
        ..NONE
    },
    Want { on: &["rp-filter-strict"], notes: &["rp-filter-strict"], passed: &["rp-filter-drops"], ..NONE },
    Want { on: &["rp-filter-strict-all"], notes: &["rp-filter-strict"], passed: &["rp-filter-drops"], ..NONE },
    Want {
        on: &["conntrack-full"],
        causes: &[("conntrack-full", Of::Node)],
        signs: &[("conntrack.dropped", "+")],
        passed: &["gateway-unreachable", "snat-missing", "transit-forwarding-off"],
        // The node's own new flows are lost as well, and with them what would ask for the guest.
        unknown: &["perimeter-drop"],
        open: &["transit-mtu", "workload-down"],
        sample: true,
        ..NONE
    },
    Want {
        on: &["forward-policy-drop"],
        causes: &[("forward-policy-drop", Of::Node)],
        signs: &[("forward.policy", "DROP")],
        passed: &["transit-forwarding-off", "tenant-forwarding-off", "snat-missing", "perimeter-drop"],
        ..NONE
    },
    Want {
        on: &["transit-mtu-blackhole"],
        causes: &[("transit-mtu", Of::Node)],
        signs: &[("probe.passes", "576 bytes"), ("probe.lost", "1500 bytes")],
        passed: &["perimeter-drop", "gateway-unreachable"],
        ..NONE
    },
    // Senders are told, and it works.
    Want { on: &["transit-mtu-low"], notes: &["transit-mtu"], passed: &["perimeter-drop"], ..NONE },
    Want {
        on: &["inter-tenant-leak"],
        causes: &[("inter-tenant-leak", Of::Between("eds"))],
        signs: &[("lookup.leaves", "eds0"), ("vrf.route", "tdemo0")],
        passed: CARRIES,
        sample: true,
        ..NONE
    },
    Want {
        on: &["inter-tenant-leak-oneway"],
        causes: &[("inter-tenant-leak", Of::Between("eds"))],
        signs: &[("vrf.route", "tdemo0")],
        passed: CARRIES,
        ..NONE
    },
    Want {
        on: &["workload-down"],
        causes: &[("workload-down", Of::Workload)],
        signs: &[("probe.answered", "no")],
        // Everything else is fine.
        passed: &["tenant-forwarding-off", "snat-missing", "perimeter-drop", "vrf-default-missing"],
        sample: true,
        ..NONE
    },
    Want {
        on: &["vrf-forwarding-off"],
        passed: &["transit-forwarding-off", "tenant-forwarding-off", "forward-policy-drop"],
        ..NONE
    },
    Want { on: &["healthy-fallback"], passed: HEALTHY, sample: true, ..NONE },
    Want { on: &["conntrack-acct"], passed: HEALTHY, ..NONE },
    // Nothing is lost, and the next apply would write other rules (§1).
    Want { on: &["main-mgmt"], notes: &["snat-apply-rewrites"], passed: &["snat-missing", "perimeter-drop"], ..NONE },
];

/// Several at once: those that hide one another, look like one another, or reach different tenants.
pub const TOGETHER: &[Want] = &[
    Want {
        on: &["snat-missing", "forward-policy-drop"],
        causes: &[("forward-policy-drop", Of::Node), ("snat-missing", Of::Tdemo)],
        ..NONE
    },
    Want {
        on: &["tenant-forwarding-off", "core-drop"],
        causes: &[("perimeter-drop", Of::Node), ("tenant-forwarding-off", Of::Tdemo)],
        unknown: &["transit-mtu"],
        ..NONE
    },
    Want {
        on: &["return-route-missing", "inter-tenant-leak"],
        causes: &[("inter-tenant-leak", Of::Between("eds")), ("return-route-missing", Of::Tdemo)],
        ..NONE
    },
    // Each of its own tenant, and neither of the node.
    Want {
        on: &["snat-missing", "vrf-default-missing@eds"],
        causes: &[("vrf-default-missing", Of::Eds), ("snat-missing", Of::Tdemo)],
        signs: &[("snat.rule", "none"), ("vrf.guard", "none")],
        sample: true,
        ..NONE
    },
    // Answers would go to nobody, and would be dropped if they came: neither explains the other.
    Want {
        on: &["transit-forwarding-off", "snat-wrong-source"],
        causes: &[("transit-forwarding-off", Of::Node), ("snat-wrong-source", Of::Tdemo)],
        ..NONE
    },
    // The look-alike of a missing rule stays no fault.
    Want {
        on: &["snat-in-legacy", "conntrack-full"],
        causes: &[("conntrack-full", Of::Node)],
        passed: &["snat-missing"],
        unknown: &["perimeter-drop"],
        open: &["transit-mtu", "workload-down"],
        ..NONE
    },
    // A gateway that does not answer hides what is beyond it.
    Want {
        on: &["gateway-neigh-failed", "core-drop"],
        causes: &[("gateway-unreachable", Of::Node)],
        unknown: HIDDEN,
        ..NONE
    },
    // The kernel drops the defaults with the link, and a dead FRR will not bring them back: two causes.
    Want {
        on: &["frr-killed", "uplink-down"],
        causes: &[("uplink-down", Of::Node), ("frr-down", Of::Node)],
        may: &[("gateway-unreachable", "uplink-down"), ("vrf-default-missing", "uplink-down")],
        unknown: HIDDEN_WITH_FRR,
        ..NONE
    },
    // A rule is no consequence of FRR.
    Want {
        on: &["snat-missing", "frr-stopped"],
        causes: &[("frr-down", Of::Node), ("snat-missing", Of::Tdemo)],
        under: OF_FRR,
        may: &[("inter-tenant-leak", "frr-down"), ("hairpin-leak", "frr-down")],
        unknown: &["frr-unsaved"],
        ..NONE
    },
    // Without FRR's defaults the other place of main's default makes it a leak.
    Want {
        on: &["main-mgmt", "frr-stopped"],
        causes: &[("frr-down", Of::Node)],
        under: &[("management-leak", "frr-down"), ("return-route-missing", "frr-down")],
        may: &[("inter-tenant-leak", "frr-down"), ("hairpin-leak", "frr-down")],
        notes: &["snat-apply-rewrites"],
        unknown: &["frr-unsaved"],
        ..NONE
    },
    // One tenant's default points at nobody, and the true gateway is dead for both.
    Want {
        on: &["transit-gateway-wrong", "gateway-neigh-failed"],
        causes: &[
            ("gateway-unreachable", Of::Node),
            ("vrf-default-wrong-gateway", Of::Tdemo),
            ("frr-unsaved", Of::Tdemo),
        ],
        unknown: HIDDEN,
        ..NONE
    },
    // The path begins at the guest; one that is off does not hide what its tenant lacks.
    Want {
        on: &["workload-down", "return-route-missing"],
        causes: &[("workload-down", Of::Workload), ("return-route-missing", Of::Tdemo)],
        ..NONE
    },
    // Strict filtering is a note, also beside a fault that it resembles.
    Want {
        on: &["rp-filter-strict-all", "return-route-missing"],
        causes: &[("return-route-missing", Of::Tdemo)],
        notes: &["rp-filter-strict"],
        passed: &["rp-filter-drops"],
        ..NONE
    },
    // Everything is dropped beyond, whatever its size.
    Want {
        on: &["core-drop", "snat-duplicate"],
        causes: &[("perimeter-drop", Of::Node)],
        notes: &["snat-duplicate"],
        passed: &["snat-missing"],
        unknown: &["transit-mtu"],
        ..NONE
    },
    // The same fault of both tenants is one fault of the node.
    Want {
        on: &["snat-missing", "snat-missing@eds"],
        causes: &[("snat-missing", Of::Node)],
        signs: &[("snat.rule", "none")],
        ..NONE
    },
];
