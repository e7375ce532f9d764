//! Every id of the catalogue, and how it is seen: by which check, with which fault of the lab on; or why not there.

use deevnet_console::diagnose::collect::Check;

/// How an id is seen.
pub enum Way {
    /// By this check, with this fault of the lab on.
    Fault(Check, &'static str),
    /// By this check of one tenant, with this fault of that tenant on.
    Tenant(Check, &'static str, &'static str),
    /// By this check on a site file that is wrong; nothing is broken.
    Site(Check, fn(String) -> String),
    /// By this check of a healthy site.
    Healthy(Check),
    /// In bundles alone, and why no live check collects what it rests on.
    Bundle(&'static str),
}

use Check::{Access, All, Contract, Dns, Egress, Fabric, Isolation, Perimeter, Workload};
use Way::{Bundle, Fault, Healthy, Site, Tenant};

/// The node by its DNS name.
fn node_fqdn(text: String) -> String {
    let node = "\nnode = \"dv02hyp002p02\"";
    assert!(text.contains(node), "the lab's site names its node otherwise");
    text.replace(node, "\nnode = \"dv02hyp002p02.mobile.deevnet.net\"")
}

/// A pin of some certificate instead of the authority of Proxmox VE.
fn pinned(text: String) -> String {
    let (before, rest) = text.split_once("\nca_file").unwrap();
    let (_, after) = rest.split_once('\n').unwrap();
    format!("{before}\nfingerprint = \"{}\"\n{after}", ["AB"; 32].join(":"))
}

/// Why an id is seen in bundles alone that a live check can find on a real site.
const NO_FAULT: &str =
    "no fault of the lab shows it with all that follows from it; its evidence is in tests/findings/lint.rs";

/// The same of what somebody ran elsewhere and pasted.
const PASTED: &str = "it rests on pasted results; tests/isolation_verb.rs pastes them";

/// Why an id is seen in bundles alone that is about changes: a check sends none.
const CHANGE: &str = "it rests on a change that was sent or a task that was waited for; a check does neither";

/// The same of what was planned or written down elsewhere.
const PLANNED: &str = "it rests on a plan or a record of somebody else; a check reads none";

/// Why an id is seen in bundles alone that is about the registry.
const REGISTRY: &str = "the lab's site names no registry; tests/checkins_lab.rs gives it one";

/// The catalogue.
pub const TABLE: &[(&str, Way)] = &[
    // Access
    ("ca-unknown", Fault(Access, "ca-unknown")),
    ("credentials-not-sent", Fault(Access, "credentials-not-sent")),
    ("credentials-rejected", Fault(Access, "pve-auth")),
    ("endpoint-renamed", Bundle("the console asks in the spelling that the version knows")),
    ("exit-rights-missing", Fault(Egress, "exit-denied")),
    ("lock-held", Fault(Workload, "lock-held")),
    ("no-quorum", Fault(Access, "pve-no-quorum")),
    ("node-unknown", Site(Access, node_fqdn)),
    ("node-unreachable", Fault(Access, "node-offline")),
    ("pin-mismatch", Site(Access, pinned)),
    ("privilege-missing", Fault(Perimeter, "fw-denied")),
    ("probe-without-trust", Bundle("it is about a check of somebody else; the console uses its profile's trust")),
    ("request-without-body", Bundle("the console sends a body with every POST")),
    ("source-unreachable", Fault(Access, "pve-down")),
    ("ticket-expired", Bundle("the console uses tokens, never a login ticket")),
    ("token-ends-soon", Bundle("a token that only looks may not read when tokens end")),
    ("token-expired", Fault(Access, "token-expired")),
    ("token-unknown", Fault(Access, "token-unknown")),
    ("token-without-rights", Fault(Access, "pve-denied")),
    ("token-end-not-read", Healthy(Access)),
    (
        "change-unfinished",
        Bundle("whoever asks for a check hands the journal in, and nobody does here; tests/findings/fabric.rs does"),
    ),
    // Fabric
    ("apply-partial", Fault(Fabric, "apply-partial")),
    ("list-filtered", Fault(Fabric, "list-filtered")),
    ("node-lags", Fault(Fabric, "node-lags")),
    ("routing-packages-missing", Fault(Fabric, "routing-packages-missing")),
    ("sdn-no-effect", Fault(Fabric, "sdn-no-effect")),
    ("sdn-pending", Fault(Fabric, "sdn-pending")),
    ("subnet-overlap", Fault(Fabric, "subnet-overlap")),
    ("tenant-off-plan", Fault(Contract, "tenant-off-plan")),
    ("vnet-missing", Fault(All, "vnet-missing")),
    ("vni-collision", Fault(Fabric, "vni-collision")),
    ("controller-no-vtep", Bundle(NO_FAULT)),
    ("controller-off-plan", Bundle(NO_FAULT)),
    ("controller-peer-strange", Bundle(NO_FAULT)),
    ("exit-outside-zone", Bundle(NO_FAULT)),
    ("exit-primary-outside", Fault(Fabric, "exit-primary-outside")),
    ("frr-apply-erases", Bundle(NO_FAULT)),
    ("frr-default-unkept", Fault(Fabric, "frr-default-unkept")),
    ("frr-unsaved", Bundle(NO_FAULT)),
    ("gateway-off-plan", Fault(Fabric, "gateway-off-plan")),
    ("local-routing-on", Bundle(NO_FAULT)),
    ("node-stranger", Bundle(NO_FAULT)),
    ("rt-import-foreign", Bundle(NO_FAULT)),
    ("rt-import-idle", Bundle(NO_FAULT)),
    ("snat-without-gateway", Bundle(NO_FAULT)),
    ("subnet-not-unique", Bundle(NO_FAULT)),
    ("subnet-off-plan", Bundle(NO_FAULT)),
    ("subnet-on-site-net", Bundle(NO_FAULT)),
    ("subnet-overlap-inside", Bundle(NO_FAULT)),
    ("subnet-snat-off", Bundle(NO_FAULT)),
    ("tag-off-plan", Fault(Fabric, "tag-off-plan")),
    ("vnet-name-clash", Bundle(NO_FAULT)),
    ("vnet-not-on-node", Bundle(NO_FAULT)),
    ("vni-shared", Bundle(NO_FAULT)),
    ("zone-mtu", Bundle(NO_FAULT)),
    ("zone-name-reserved", Bundle(NO_FAULT)),
    ("zone-not-evpn", Bundle(NO_FAULT)),
    ("zone-unexplained", Bundle(NO_FAULT)),
    ("delete-blocked", Bundle(CHANGE)),
    ("made-with-defaults", Bundle(CHANGE)),
    ("sdn-id-invalid", Bundle(CHANGE)),
    ("subnet-input-invalid", Bundle(CHANGE)),
    ("subnet-not-applied", Bundle(CHANGE)),
    ("zone-mtu-nonsense", Bundle(NO_FAULT)),
    ("registry-differs", Bundle(REGISTRY)),
    ("registry-egress-missing", Bundle(REGISTRY)),
    ("registry-only", Bundle(REGISTRY)),
    ("registry-record-missing", Bundle(REGISTRY)),
    // Workload
    ("agent-option-off", Fault(Workload, "agent-option-off")),
    ("agent-process-lost", Bundle("the console starts no command in a guest")),
    ("agent-silent", Fault(Workload, "agent-silent")),
    ("workload-down", Fault(All, "workload-unplugged")),
    ("workload-off-plan", Fault(Contract, "workload-off-plan")),
    ("workload-stopped", Fault(Workload, "workload-down")),
    ("answer-lost", Bundle(CHANGE)),
    ("config-moved", Bundle(CHANGE)),
    ("flag-form", Bundle(CHANGE)),
    ("no-way-in", Bundle(PLANNED)),
    ("seed-pending", Bundle("a check does not ask what waits for the cloud-init drive")),
    ("sshkeys-encoding", Bundle(CHANGE)),
    ("store-full", Bundle("a check does not ask for the room of a store")),
    ("task-runs-on", Bundle(CHANGE)),
    ("task-warned", Bundle(CHANGE)),
    ("vm-lock-busy", Bundle(CHANGE)),
    ("vmid-other-cluster", Bundle(PLANNED)),
    ("vmid-reused", Bundle(PLANNED)),
    ("vmid-taken", Bundle(CHANGE)),
    ("checkin-behind", Fault(Workload, "checkin-behind")),
    ("checkin-expired", Fault(Workload, "checkin-expired")),
    ("checkin-failed", Fault(Workload, "checkin-failed")),
    ("checkin-foreign", Fault(Workload, "checkin-foreign")),
    ("checkin-late", Fault(Workload, "checkin-late")),
    ("checkin-replay", Fault(Workload, "checkin-replay")),
    ("checkin-silent", Fault(Workload, "checkin-silent")),
    ("checkin-stuck", Fault(Workload, "checkin-stuck")),
    ("checkin-cold-start", Bundle(NO_FAULT)),
    ("checkin-other-instance", Bundle(NO_FAULT)),
    ("checkin-without-machine", Bundle(NO_FAULT)),
    // Egress
    ("address-not-announced", Fault(Workload, "address-not-announced")),
    ("conntrack-collision", Bundle("no packets are captured on a node")),
    ("conntrack-full", Fault(Egress, "conntrack-full")),
    ("exit-local-routing", Fault(Egress, "exit-local-routing")),
    ("exit-node-unreachable", Fault(Egress, "exit-node-unreachable")),
    ("exit-nodes-loop", Fault(Egress, "exit-nodes-loop")),
    ("exit-primary-missing", Fault(Egress, "exit-primary-missing")),
    ("firewall-bridge-mtu", Fault(All, "firewall-bridge-mtu")),
    ("forward-policy-drop", Fault(Egress, "forward-policy-drop")),
    ("frr-down", Fault(Egress, "frr-down")),
    ("frr-handwritten-lost", Fault(Egress, "frr-handwritten-lost")),
    ("frr-local-contested", Fault(Egress, "frr-local-contested")),
    ("frr-local-not-merged", Fault(Egress, "frr-local-not-merged")),
    ("gateway-unreachable", Fault(Egress, "gateway-unreachable")),
    ("l3vni-not-bound", Fault(Egress, "l3vni-not-bound")),
    ("management-leak", Fault(Egress, "management-leak")),
    ("mtu-ruled-out", Bundle("live, an address that answers nothing is perimeter-drop; nobody claimed an MTU")),
    ("perimeter-drop", Fault(Egress, "perimeter-drop")),
    ("return-route-missing", Fault(Egress, "return-route-missing")),
    ("rp-filter-drops", Fault(Egress, "rp-filter-drops")),
    ("rp-filter-strict", Fault(Egress, "rp-filter-strict")),
    ("snat-apply-rewrites", Fault(Egress, "snat-apply-rewrites")),
    ("snat-catches-routed", Bundle("no packets are captured on a server")),
    ("snat-duplicate", Fault(Egress, "snat-duplicate")),
    ("snat-missing", Fault(Egress, "snat-missing")),
    ("snat-stale", Fault(Egress, "snat-stale")),
    ("snat-without-exit-node", Fault(Egress, "snat-without-exit-node")),
    ("snat-wrong-source", Fault(Egress, "snat-wrong-source")),
    ("tenant-forwarding-off", Fault(Egress, "tenant-forwarding-off")),
    ("transit-forwarding-off", Fault(Egress, "transit-forwarding-off")),
    ("transit-mtu", Fault(Egress, "transit-mtu")),
    ("uplink-down", Fault(Egress, "uplink-down")),
    ("vrf-default-missing", Fault(Egress, "vrf-default-missing")),
    ("vrf-default-wrong-gateway", Fault(Egress, "vrf-default-wrong-gateway")),
    ("workload-gateway-silent", Bundle(PASTED)),
    ("management-traffic-seen", Bundle(PASTED)),
    // Isolation
    ("hairpin-leak", Fault(Isolation, "hairpin-leak")),
    ("inter-tenant-leak", Fault(Isolation, "inter-tenant-leak")),
    ("packet-leak", Fault(Isolation, "inter-tenant-leak")),
    ("tenant-isolated", Healthy(Isolation)),
    ("tenants-share-vrf", Fault(Isolation, "tenants-share-vrf")),
    ("workload-on-foreign-network", Fault(Isolation, "workload-on-foreign-network")),
    ("pasted-contradiction", Bundle(PASTED)),
    ("pasted-leak", Bundle(PASTED)),
    // Perimeter
    ("asymmetric-path", Fault(Perimeter, "asymmetric-path")),
    ("gateway-down", Fault(Perimeter, "gateway-down")),
    ("gateway-monitor-silent", Fault(Perimeter, "gateway-monitor-silent")),
    ("nat-missing-for-routed", Fault(Perimeter, "nat-missing-for-routed")),
    ("perimeter-leak", Fault(Perimeter, "perimeter-leak")),
    ("route-missing", Fault(Perimeter, "route-missing")),
    ("rule-left-over", Fault(Perimeter, "perimeter-rule-leftover")),
    ("rule-never-hit", Fault(Perimeter, "rule-never-hit")),
    ("rule-shadowed", Fault(Perimeter, "rule-shadowed")),
    ("ruleset-not-loaded", Fault(Perimeter, "ruleset-refused")),
    ("alias-left-over", Fault(Perimeter, "alias-left-over")),
    ("forward-left-over", Bundle(NO_FAULT)),
    ("nat-left-over", Bundle(NO_FAULT)),
    ("nat-missing-for-transit", Bundle(NO_FAULT)),
    ("perimeter-too-wide", Fault(Perimeter, "perimeter-too-wide")),
    ("route-left-over", Fault(Perimeter, "route-left-over")),
    ("route-per-tenant", Fault(Perimeter, "route-per-tenant")),
    ("route-wrong-gateway", Fault(Perimeter, "route-wrong-gateway")),
    ("rule-hand-made", Bundle(NO_FAULT)),
    ("rule-still-loaded", Bundle(NO_FAULT)),
    // DNS
    ("apex-broken", Fault(Dns, "apex-broken")),
    ("auth-down", Fault(Dns, "auth-down")),
    ("builtin-reverse-zone", Fault(Dns, "builtin-reverse-zone")),
    ("clock-skew", Fault(Dns, "clock-skew")),
    ("dnssec-bogus", Fault(Dns, "dnssec-bogus")),
    ("forward-disabled", Fault(Dns, "forward-disabled")),
    ("forward-missing", Fault(Dns, "forward-missing")),
    ("forward-wrong-type", Fault(Dns, "forward-wrong-type")),
    ("name-points-outside", Tenant(Contract, "name-points-outside", "tdemo")),
    ("negative-cached", Fault(Dns, "negative-cached")),
    (
        "parent-nxdomain-believed",
        Bundle("it takes a resolver that believes a parent's NXDOMAIN for what is below; the lab's does not"),
    ),
    ("ptr-mismatch", Fault(Dns, "ptr-mismatch")),
    ("rebind-filtered", Fault(Dns, "rebind-filtered")),
    ("resolver-down", Fault(Dns, "resolver-down")),
    ("resolver-refuses-network", Fault(Dns, "resolver-refuses-network")),
    ("serial-unchanged", Bundle("it takes a zone before and after a write, or a second server: neither is there")),
    ("server-id-wrong", Bundle("PowerDNS has one server, localhost, and the console asks for no other")),
    ("server-is-recursor", Fault(Dns, "server-is-recursor")),
    ("tsig-foreign", Fault(Dns, "tsig-foreign")),
    ("tsig-unbound", Fault(Dns, "tsig-unbound")),
    ("update-key-missing", Fault(Contract, "update-key-missing")),
    ("update-refused", Fault(Dns, "update-refused")),
    ("workload-name-missing", Tenant(Contract, "workload-name-missing", "tdemo")),
    ("wrong-workload-resolver", Fault(Dns, "wrong-workload-resolver")),
    ("name-not-canonical", Bundle(CHANGE)),
    ("cname-conflict", Bundle(CHANGE)),
    ("send-whole-set", Bundle(CHANGE)),
    ("ptr-not-written", Bundle(CHANGE)),
    ("zone-half-made", Bundle(CHANGE)),
    ("zone-of-another", Bundle(CHANGE)),
    ("gateway-record-stale", Bundle(NO_FAULT)),
    ("zone-missing", Fault(Dns, "zone-missing")),
    (
        "zone-not-served",
        Bundle("when the zone was made only tells who made it; a live check says unknown, with the zone"),
    ),
];
