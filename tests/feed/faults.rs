//! Every fault of the lab that these two sources can show: what the console says of it, and of nobody else.

use deevnet_console::inventory::{Class, Inventory};
use deevnet_console::lab::faults::SPECS;

use super::common::{Bench, assert_same, told};

/// A fault and all that is said of it.
struct Expected {
    /// With its target.
    fault: &'static str,
    /// Letters of fabric, node and workloads of eds: `+` present, `≠` differs, `~` pending, `?` unknown.
    letters: &'static str,
    /// A fact of eds on hv02: label, word, class.
    fact: Option<(&'static str, &'static str, Class)>,
    /// The rows of the overview: class, place, words in the sentence.
    rows: &'static [(Class, &'static str, &'static str)],
    /// How many tenants the first row affects.
    affects: usize,
}

const fn expect(
    fault: &'static str,
    letters: &'static str,
    fact: Option<(&'static str, &'static str, Class)>,
    rows: &'static [(Class, &'static str, &'static str)],
    affects: usize,
) -> Expected {
    Expected { fault, letters, fact, rows, affects }
}

use Class::{Absent, Differs, Fault, Fine, Pending, Unknown, Warning};

const TABLE: &[Expected] = &[
    expect(
        "transit-forwarding-off",
        "+≠+",
        Some(("forwarding", "off", Fault)),
        &[(Fault, "hv02", "does not forward: vmbr0.50 = 0")],
        6,
    ),
    expect(
        "vrf-default-missing@eds",
        "+≠+",
        Some(("default", "absent", Fault)),
        &[(Fault, "eds", "no default route")],
        1,
    ),
    expect(
        "vrf-default-wrong-gateway@eds",
        "+≠+",
        Some(("default", "wrong", Fault)),
        &[(Fault, "eds", "default wrong: 10.20.50.99")],
        1,
    ),
    expect("snat-missing@eds", "+≠+", Some(("SNAT", "absent", Fault)), &[(Fault, "eds", "no SNAT rule")], 1),
    expect("snat-wrong-source@eds", "+≠+", Some(("SNAT", "wrong source", Fault)), &[(Fault, "eds", "10.20.50.23")], 1),
    // Harmless until one of the two is changed.
    expect("snat-duplicate@eds", "+++", Some(("SNAT", "twice", Warning)), &[(Warning, "eds", "SNAT twice")], 1),
    expect(
        "snat-without-exit-node@eds",
        "≠≠+",
        Some(("SNAT", "absent", Fault)),
        &[(Fault, "eds", "exitnodes is –")],
        1,
    ),
    expect("frr-down", "+≠+", Some(("FRR", "down", Fault)), &[(Fault, "hv02", "FRR is down")], 6),
    expect(
        "frr-local-not-merged@eds",
        "+≠+",
        Some(("FRR", "not merged", Warning)),
        &[(Fault, "eds", "in frr.conf.local, not in frr.conf")],
        1,
    ),
    expect(
        "frr-local-contested@eds",
        "+≠+",
        Some(("FRR", "no stanza", Warning)),
        &[(Fault, "eds", "no stanza for this VRF")],
        1,
    ),
    expect(
        "tenant-forwarding-off@eds",
        "+≠+",
        Some(("forwarding", "off on eds0", Fault)),
        &[(Fault, "eds", "eds0 = 0")],
        1,
    ),
    expect(
        "forward-policy-drop",
        "+≠+",
        Some(("forwarding", "firewall drops", Fault)),
        &[(Fault, "hv02", "policy of FORWARD is DROP")],
        6,
    ),
    expect(
        "conntrack-full",
        "+≠+",
        Some(("forwarding", "table full", Fault)),
        &[(Fault, "hv02", "drops new connections")],
        6,
    ),
    expect(
        "gateway-unreachable",
        "+≠+",
        Some(("default", "no gateway", Fault)),
        &[(Fault, "hv02", "10.20.50.1 vmbr0.50 does not answer")],
        6,
    ),
    expect(
        "return-route-missing@eds",
        "+≠+",
        Some(("forwarding", "no way back", Fault)),
        &[(Fault, "eds", "no route to 10.20.130.0/24")],
        1,
    ),
    expect("management-leak@eds", "+≠+", Some(("default", "absent", Fault)), &[(Fault, "eds", "no default route")], 1),
    expect(
        "inter-tenant-leak@eds",
        "+≠+",
        Some(("null routes", "open", Fault)),
        &[(Fault, "hv02", "not separated")],
        6,
    ),
    expect(
        "hairpin-leak@eds",
        "+++",
        Some(("null routes", "missing", Warning)),
        &[(Warning, "hv02", "null routes missing")],
        6,
    ),
    expect(
        "sdn-pending@eds",
        "~++",
        Some(("link", "up", Fine)),
        &[(Pending, "eds", "zone eds and 1 more, not applied")],
        1,
    ),
    expect(
        "vnet-missing@eds",
        "≠≠+",
        Some(("forwarding", "none", Absent)),
        &[(Fault, "eds", "missing vxlan_eds0 on hv02")],
        1,
    ),
    expect("workload-down@eds", "+++", None, &[(Warning, "eds/services", "is stopped")], 1),
    expect(
        "exit-node-unreachable",
        "???",
        Some(("link", "up", Fine)),
        &[(Fault, "hv02", "node offline"), (Unknown, "EXIT", "No route to host")],
        6,
    ),
    expect("pve-no-quorum", "+++", None, &[(Fault, "cluster", "no quorum"), (Fault, "hv01", "node offline")], 0),
    expect("node-offline", "+++", None, &[(Fault, "hv01", "node offline")], 0),
    expect("foreign-zone", "+++", None, &[(Pending, "SDN", "zone lab, not applied")], 0),
    expect(
        "foreign-vm@eds",
        "++≠",
        None,
        &[(Differs, "eds/handmade", "VMID 5001 is outside its band; it sits on eds0")],
        0,
    ),
    // Look-alikes and what only a probe or a second sample can tell: no finding, and no claim.
    expect("rp-filter-drops", "+++", Some(("forwarding", "on", Fine)), &[], 0),
    expect("transit-mtu", "+++", Some(("default", "right", Fine)), &[], 0),
    expect("sdn-locked", "+++", None, &[], 0),
];

/// Faults of the sources themselves; `feed.rs` has them. Hostile names have a test of their own below.
const ELSEWHERE: [&str; 8] =
    ["hostile-names", "pve-down", "pve-slow", "pve-denied", "pve-auth", "exit-down", "exit-slow", "exit-denied"];

fn letters(inv: &Inventory, tenant: &str) -> String {
    use deevnet_console::inventory::Presence;
    let layers = &inv.tenant(tenant).expect("the tenant").layers;
    let letter = |presence| match presence {
        Presence::Absent => '-',
        Presence::Pending => '~',
        Presence::Present => '+',
        Presence::Differs => '≠',
        Presence::Unknown => '?',
    };
    [&layers.fabric, &layers.node, &layers.workloads].map(|l| letter(l.presence)).iter().collect()
}

fn check(e: &Expected, inv: &Inventory) {
    let all = told(inv);
    assert_eq!(letters(inv, "eds"), e.letters, "{}\n{all}", e.fault);
    if let Some((label, word, class)) = e.fact {
        let vrf = inv.vrfs.iter().find(|v| &*v.tenant == "eds").expect("the VRF");
        let fact = vrf.facts.iter().find(|f| f.label == label).expect("the fact");
        assert_eq!((fact.word.as_str(), fact.class), (word, class), "{} {label}: {}", e.fault, fact.value);
    }
    let rows: Vec<_> = inv.attention.iter().map(|a| (a.class, a.place.as_str())).collect();
    let wanted: Vec<_> = e.rows.iter().map(|(class, place, _)| (*class, *place)).collect();
    assert_eq!(rows, wanted, "{}: one row a cause\n{all}", e.fault);
    for (row, (_, _, words)) in inv.attention.iter().zip(e.rows) {
        assert!(row.what.contains(words), "{}: {}", e.fault, row.what);
        assert!(!row.what.chars().any(char::is_control), "{:?}", row.what);
    }
    assert_eq!(inv.attention.first().map_or(0, |a| a.affects.len()), e.affects, "{}\n{all}", e.fault);
}

/// Asserts that nothing is said of tenants that the fault does not touch.
fn others_are_left_alone(e: &Expected, healthy: &Inventory, inv: &Inventory) {
    if !e.fault.contains("@eds") {
        return;
    }
    let touched = |name: &str| name == "eds" || inv.attention.iter().any(|a| a.affects.iter().any(|t| &**t == name));
    for before in healthy.tenants.iter().filter(|t| !touched(&t.name)) {
        let after = inv.tenant(&before.name).expect("the tenant");
        assert_eq!(before.layers, after.layers, "{}: {}", e.fault, before.name);
        assert_eq!(before.status, after.status, "{}: {}", e.fault, before.name);
    }
}

#[test]
fn the_table_names_every_fault_of_the_lab() {
    for spec in SPECS {
        let here = TABLE.iter().any(|e| e.fault.split('@').next() == Some(spec.id));
        assert!(here || ELSEWHERE.contains(&spec.id), "nothing says how {} is shown", spec.id);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_told_once_where_it_is_and_leaves_nothing_behind() {
    let mut bench = Bench::start(None, None).await;
    let healthy = bench.fresh().await;
    assert!(healthy.attention.is_empty(), "{}", told(&healthy));
    for e in TABLE {
        bench.lab.fault_on(e.fault).unwrap_or_else(|error| panic!("{}: {error}", e.fault));
        let inv = bench.tried().await;
        check(e, &inv);
        others_are_left_alone(e, &healthy, &inv);
        bench.lab.fault_off(e.fault).expect("a fault that is on");
        let after = bench.fresh().await;
        assert_same(e.fault, &healthy, &after);
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_faults_at_once_are_two_rows_each_in_its_place() {
    let mut bench = Bench::start(None, None).await;
    for fault in ["snat-missing@eds", "workload-down@sensors", "pve-no-quorum"] {
        bench.lab.fault_on(fault).expect("a fault of the lab");
    }
    let inv = bench.fresh().await;
    let rows: Vec<_> = inv.attention.iter().map(|a| (a.class, a.place.as_str())).collect();
    let first = inv.workloads_of(inv.tenant("sensors").expect("sensors"))[0].name.clone();
    let stopped = format!("sensors/{first}");
    let wanted = [(Fault, "eds"), (Fault, "cluster"), (Fault, "hv01"), (Warning, stopped.as_str())];
    assert_eq!(rows, wanted, "{}", told(&inv));
    bench.stop().await;
}

/// Names are data: hand-made VMs on tenants' VNets with names of every hostile kind are findings like any other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_names_are_clean_wherever_they_show() {
    let mut bench = Bench::start(None, None).await;
    bench.lab.fault_on("hostile-names").expect("a fault of the lab");
    let inv = bench.fresh().await;
    assert_eq!(inv.attention.len(), 5, "{}", told(&inv));
    for row in &inv.attention {
        assert_eq!(row.class, Differs, "{}", told(&inv));
        assert!(deevnet_console::text::is_clean(&row.place) && deevnet_console::text::is_clean(&row.what), "{row:?}");
    }
    let strangers: Vec<_> = inv.workloads.iter().filter(|w| (6001..=6005).contains(&w.vmid)).collect();
    assert_eq!(strangers.len(), 5);
    assert!(strangers.iter().all(|w| deevnet_console::text::is_clean(&w.name)));
    assert!(inv.vnets.iter().filter_map(|v| v.alias.as_deref()).all(deevnet_console::text::is_clean));
    bench.stop().await;
}
