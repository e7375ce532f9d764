//! The clauses. Sources: the platform's documents (fabric, platform plan, code delivery) and domain.md §2–§8.

use super::Party::{Platform, Tenant};
use super::{Clause, Elsewhere, Party};

const fn judged(id: &'static str, by: Party, says: &'static str, rules: &'static [&'static str]) -> Clause {
    Clause { id, by, says, rules, elsewhere: None, tried: false }
}

const fn and(mut clause: Clause, place: &'static str, command: &'static str, expect: &'static str) -> Clause {
    clause.elsewhere = Some(Elsewhere { place, command, expect });
    clause
}

/// A clause whose rules judge nothing but what was tried.
const fn by_trial(mut clause: Clause) -> Clause {
    clause.tried = true;
    clause
}

const WORKLOAD: &str = "on a workload of the tenant";
const HERE: &str = "on this host";

/// All clauses, part by part.
pub static CLAUSES: &[Clause] = &[
    judged(
        "N1",
        Platform,
        "A tenant has one zone called after it, one VRF, VNets, one /24 with the gateway at `.1` and SNAT, all derived from \
         its index.",
        &["tenant-off-plan"],
    ),
    judged(
        "N2",
        Platform,
        "No number of a tenant (VRF, tag, prefix) is anybody else's.",
        &[
            "vni-collision",
            "vni-shared",
            "subnet-overlap",
            "subnet-overlap-inside",
            "subnet-not-unique",
            "subnet-on-site-net",
            "subnet-off-plan",
            "tag-off-plan",
            "tenants-share-vrf",
        ],
    ),
    judged(
        "N3",
        Platform,
        "What is configured is in force on every node that carries the tenant, and nothing of it waits.",
        &[
            "vnet-missing",
            "vnet-not-on-node",
            "exit-outside-zone",
            "sdn-pending",
            "apply-partial",
            "node-lags",
            "sdn-no-effect",
        ],
    ),
    and(
        judged(
            "E1",
            Platform,
            "A workload reaches the internet through the tenant's own default route, translated on the transit segment.",
            &[
                "exit-node-unreachable",
                "node-stranger",
                "routing-packages-missing",
                "frr-down",
                "frr-handwritten-lost",
                "l3vni-not-bound",
                "exit-nodes-loop",
                "exit-local-routing",
                "address-not-announced",
                "firewall-bridge-mtu",
                "workload-gateway-silent",
                "vrf-default-missing",
                "vrf-default-wrong-gateway",
                "frr-local-not-merged",
                "frr-local-contested",
                "snat-missing",
                "snat-wrong-source",
                "snat-stale",
                "snat-without-exit-node",
                "snat-without-gateway",
                "tenant-forwarding-off",
                "transit-forwarding-off",
                "forward-policy-drop",
                "rp-filter-drops",
                "return-route-missing",
                "conntrack-full",
                "conntrack-collision",
                "gateway-unreachable",
                "transit-mtu",
            ],
        ),
        WORKLOAD,
        "ping -c 3 GATEWAY && curl -sI https://fedoraproject.org",
        "replies, and a status line",
    ),
    judged(
        "E2",
        Platform,
        "Nothing of a tenant leaves by the management segment.",
        &["management-leak", "management-traffic-seen", "uplink-down", "vrf-default-missing"],
    ),
    and(
        judged(
            "E3",
            Platform,
            "The perimeter lets tenants out to the internet and to the platform's services, and knows the way back.",
            &[
                "perimeter-drop",
                "rule-shadowed",
                "route-missing",
                "route-wrong-gateway",
                "gateway-down",
                "gateway-monitor-silent",
                "snat-catches-routed",
                "nat-missing-for-transit",
                "nat-missing-for-routed",
                "ruleset-not-loaded",
                "asymmetric-path",
            ],
        ),
        WORKLOAD,
        "curl -sS https://api.DOMAIN:8080/healthz",
        "200, with the site's CA",
    ),
    and(
        judged(
            "I1",
            Platform,
            "No tenant reaches another, directly or out by its default route and back.",
            &[
                "inter-tenant-leak",
                "rt-import-foreign",
                "hairpin-leak",
                "tenants-share-vrf",
                "packet-leak",
                "pasted-leak",
            ],
        ),
        WORKLOAD,
        "ping -c 3 -W 1 OTHER; nc -vz -w 3 OTHER 22",
        "silence, here and on a workload of the other; a refusal is a leak",
    ),
    and(
        judged(
            "I2",
            Platform,
            "The perimeter lets nothing back from the transit to tenants, and nothing of tenants to management, operators \
             and storage.",
            &["perimeter-leak", "perimeter-too-wide"],
        ),
        "on a client of the guest or IoT segment",
        "ping -c 3 -W 1 GATEWAY",
        "silence",
    ),
    judged(
        "I3",
        Platform,
        "A tenant's machines have network cards on the tenant's own VNets alone.",
        &["workload-on-foreign-network"],
    ),
    and(
        judged(
            "I4",
            Platform,
            "A tenant's update key writes no zone of another tenant, and nobody writes without a key.",
            &["tsig-foreign", "tsig-unbound"],
        ),
        HERE,
        "deevnet-console check contract TENANT --keys",
        "every other key kept out, signed; without --keys the lists alone are read",
    ),
    and(
        judged("I5", Platform, "A tenant's credential for the state store opens its own prefix alone.", &[]),
        "where the tenant's credential is",
        "aws s3 ls s3://tf-state/tenants/another/ --endpoint-url https://tfstate.DOMAIN:9000",
        "AccessDenied",
    ),
    judged(
        "D1",
        Platform,
        "The tenant's forward and reverse zones are on the authoritative server and served, with the platform's apex.",
        &["zone-missing", "zone-not-served", "apex-broken", "serial-unchanged", "auth-down"],
    ),
    judged(
        "D2",
        Platform,
        "The workloads' resolver answers for both zones what the authoritative server does.",
        &[
            "resolver-down",
            "forward-missing",
            "forward-disabled",
            "forward-wrong-type",
            "parent-nxdomain-believed",
            "rebind-filtered",
            "builtin-reverse-zone",
            "dnssec-bogus",
            "negative-cached",
        ],
    ),
    and(
        judged(
            "D3",
            Platform,
            "Workloads are given the perimeter's resolver and resolve public, platform and tenant names with it.",
            &["wrong-workload-resolver", "resolver-refuses-network"],
        ),
        WORKLOAD,
        "getent hosts fedoraproject.org && getent hosts api.DOMAIN",
        "an address each",
    ),
    judged(
        "D4",
        Platform,
        "Every workload has an address record under its name and a reverse record that names it.",
        &["workload-name-missing", "ptr-mismatch"],
    ),
    judged("D5", Tenant, "Of the site's addresses a tenant publishes its own alone.", &["name-points-outside"]),
    judged(
        "K1",
        Platform,
        "The tenant has one key called after it, which its two zones list, and no other zone does.",
        &["update-key-missing", "tsig-foreign", "tsig-unbound"],
    ),
    by_trial(and(
        judged(
            "K2",
            Platform,
            "Signed updates of its zones are taken from the networks that the site names.",
            &["update-refused"],
        ),
        "where the tenant's key is",
        "printf 'zone TENANT.DOMAIN\\nprereq yxdomain nobody.TENANT.DOMAIN\\nsend\\n' | nsupdate -v -k TENANT.key",
        "update failed: NXDOMAIN, and no TSIG error: it was let in and changed nothing",
    )),
    judged("K3", Tenant, "The clock of whoever signs agrees with the server's within 300 seconds.", &["clock-skew"]),
    judged(
        "W1",
        Platform,
        "A machine's name, MAC, address and gateway follow from its VMID: ordinal k has `.(10+k)`, 40 to a tenant.",
        &["workload-off-plan"],
    ),
    judged(
        "W2",
        Platform,
        "A tenant's machines that are to start with their node run.",
        &["workload-stopped", "workload-down"],
    ),
    and(
        judged(
            "W3",
            Tenant,
            "A tenant rebuilds what it runs from code alone; a machine may be replaced at any time and holds nothing that is \
             not elsewhere.",
            &[],
        ),
        "in the tenant's repository",
        "terraform plan -detailed-exitcode",
        "exit 0: nothing to change",
    ),
    by_trial(and(
        judged(
            "P1",
            Platform,
            "What a workload runs is fetched by the workload itself; nothing is pushed into it.",
            &[
                "checkin-failed",
                "checkin-late",
                "checkin-stuck",
                "checkin-expired",
                "checkin-behind",
                "checkin-other-instance",
            ],
        ),
        HERE,
        "deevnet-console get checkins --tenant TENANT",
        "applied, for every workload with a configuration",
    )),
    by_trial(and(
        judged(
            "P2",
            Platform,
            "A workload fetches where it has no configuration for its instance: a reboot needs no service of the platform.",
            &["checkin-replay"],
        ),
        HERE,
        "deevnet-console get checkins --tenant TENANT -o json",
        "no second redemption for the same SMBIOS UUID",
    )),
    and(
        judged(
            "P3",
            Tenant,
            "A tenant declares configuration in the platform's schema and names no mechanism of the hypervisor.",
            &[],
        ),
        "in the tenant's repository",
        "grep -rniE 'proxmox|pve|vmid|cicustom|smbios|vmbr' --include=*.tf .",
        "nothing",
    ),
    by_trial(and(
        judged(
            "S1",
            Platform,
            "A workload is known by its SMBIOS UUID, which a replacement changes and a reboot keeps; its source address is \
             the exit node's and proves nothing.",
            &["checkin-foreign", "checkin-replay", "checkin-without-machine"],
        ),
        HERE,
        "deevnet-console get checkins --tenant TENANT",
        "no foreign check-in, no refused replay",
    )),
    and(
        judged(
            "S2",
            Platform,
            "No secret that lasts stands where the hypervisor shows it: `smbios1` holds a pointer with a token for one use.",
            &[],
        ),
        "on the tenant's node, for each VMID",
        "qm config VMID --current | grep -E '^(smbios1|cicustom)'",
        "a uuid, and at most a pointer that begins with dvb1",
    ),
    and(
        judged("S3", Tenant, "Configuration names secrets and never carries them.", &[]),
        "in the tenant's repository",
        "grep -rnE 'BEGIN [A-Z ]*PRIVATE KEY|dvt1\\.|dbt1\\.|hvs\\.|AKIA' .",
        "nothing",
    ),
];
