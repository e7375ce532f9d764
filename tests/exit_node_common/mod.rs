//! What the states of the modelled exit node look like in a reading: the same table for captures and for the live VM.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use deevnet_console::backends::exit_node::helper::LookupRequest;
use deevnet_console::backends::exit_node::model::{Lookup, NatEngine, Reading, RouteKind};

/// A guest of the modelled site's first tenant.
pub const GUEST: Ipv4Addr = Ipv4Addr::new(10, 20, 129, 10);
/// A guest of the second.
pub const OTHER_GUEST: Ipv4Addr = Ipv4Addr::new(10, 20, 130, 10);
/// A host on the modelled internet.
pub const INTERNET: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 10);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 20, 50, 1);
const TRANSIT: &str = "vmbr0.50";
/// Name, VNet, third octet.
const TENANTS: [(&str, &str, u8); 2] = [("tdemo", "tdemo0", 129), ("eds", "eds0", 130)];

/// The questions, by the names under which [`signals`] looks for the answers.
pub fn lookups() -> Vec<LookupRequest> {
    let ask = |name: &str, dst, src, iif| LookupRequest::new(name, dst, src, iif).unwrap();
    let management = Ipv4Addr::new(10, 20, 99, 95);
    vec![
        ask("out.tdemo", INTERNET, Some(GUEST), Some("tdemo0")),
        ask("ret.tdemo", GUEST, Some(INTERNET), Some(TRANSIT)),
        ask("cross.tdemo", OTHER_GUEST, Some(GUEST), Some("tdemo0")),
        ask("cross.eds", GUEST, Some(OTHER_GUEST), Some("eds0")),
        ask("mgmt.tdemo", management, Some(GUEST), Some("tdemo0")),
        ask("out.eds", INTERNET, Some(OTHER_GUEST), Some("eds0")),
        ask("main", Ipv4Addr::new(8, 8, 8, 8), None, None),
    ]
}

/// Everything in `reading` that is not as in the healthy site.
pub fn signals(reading: &Reading) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |signal: String| {
        found.insert(signal);
    };
    for (interface, on) in reading.forwarding.value().expect("forwarding") {
        if !on && [TRANSIT, "tdemo0", "eds0"].contains(&interface.as_str()) {
            add(format!("forwarding-off {interface}"));
        }
    }
    for (interface, mode) in reading.rp_filter.value().expect("rp_filter").iter().filter(|(_, mode)| **mode > 0) {
        add(format!("rp-filter {interface} {mode}"));
    }
    let links = reading.links.value().expect("links");
    let transit = links.iter().find(|l| l.name == TRANSIT).expect("the transit link");
    if transit.operstate != "UP" {
        add(format!("transit {}", transit.operstate));
    }
    if transit.mtu != 1500 {
        add(format!("transit mtu {}", transit.mtu));
    }
    let frr = reading.frr.value().expect("frr");
    if frr.unit != "active" {
        add(format!("frr {}", frr.unit));
    }
    if frr.daemons_answer == Some(false) {
        add("frr silent".to_owned());
    }
    let conntrack = reading.conntrack.value().expect("conntrack");
    if conntrack.count >= conntrack.max {
        add("conntrack full".to_owned());
    }
    if conntrack.acct {
        add("conntrack acct".to_owned());
    }
    if reading.nat.value().is_some_and(|nat| nat.forward_policy.as_deref() == Some("DROP")) {
        add("forward DROP".to_owned());
    }
    let main = reading.main_routes.value().expect("main");
    if main.iter().any(|r| r.dst.prefix_len() == 0 && r.dev.as_deref() == Some("vmbr0")) {
        add("main default on management".to_owned());
    }
    for tenant in TENANTS {
        found.extend(tenant_signals(reading, tenant));
    }
    found.extend(lookup_signals(reading));
    found
}

fn tenant_signals(reading: &Reading, (name, _, octet): (&str, &str, u8)) -> Vec<String> {
    let mut found = Vec::new();
    let subnet = format!("10.20.{octet}.0/24").parse().unwrap();
    let routes = reading.vrf_routes[&format!("vrf_{name}")].value().expect("routes of the VRF");
    let mut defaults = routes.iter().filter(|r| r.dst.prefix_len() == 0);
    let fallback = defaults.clone().find(|r| r.kind == RouteKind::Unreachable);
    if let Some(fallback) = fallback {
        assert_eq!(fallback.metric, Some(4_278_198_272));
        found.push(format!("{name} fallback"));
    }
    match defaults.find(|r| r.kind == RouteKind::Unicast).map(|r| r.gateway) {
        None => found.push(format!("{name} no default")),
        Some(gateway) if gateway != Some(GATEWAY) => found.push(format!("{name} default via {}", gateway.unwrap())),
        Some(_) => {}
    }
    if !routes.iter().any(|r| r.kind == RouteKind::Blackhole) {
        found.push(format!("{name} no null route"));
    }
    if !reading.main_routes.value().unwrap().iter().any(|r| r.dst == subnet && r.protocol.as_deref() == Some("bgp")) {
        found.push(format!("{name} no return route"));
    }
    let Some(nat) = reading.nat.value() else { return found };
    let rules: Vec<_> = nat.snat.iter().filter(|rule| rule.source == Some(subnet)).collect();
    if rules.len() != 1 {
        found.push(format!("{name} {} snat rules", rules.len()));
    }
    for rule in rules {
        assert_eq!(rule.out_interface.as_deref(), Some(TRANSIT));
        assert!(!rule.is_narrowed());
        if rule.engine == NatEngine::Legacy {
            found.push(format!("{name} snat legacy"));
        }
        if rule.to_source != Some(Ipv4Addr::new(10, 20, 50, 22)) {
            found.push(format!("{name} snat to {}", rule.to_source.unwrap()));
        }
    }
    found
}

fn lookup_signals(reading: &Reading) -> Vec<String> {
    let answers = &reading.lookups.value().expect("lookups").by_name;
    let mut found = Vec::new();
    for (name, answer) in answers {
        let expected_table = name.split_once('.').map(|(_, tenant)| format!("vrf_{tenant}"));
        match (name.split('.').next().unwrap(), answer) {
            ("out" | "mgmt", Lookup::Route { dev, table, .. }) if dev != TRANSIT || *table != expected_table => {
                found.push(format!("{name} {dev} {}", table.as_deref().unwrap_or("main")));
            }
            ("ret", Lookup::Route { gateway: Some(_), dev, .. }) => found.push(format!("{name} bounces {dev}")),
            ("cross", Lookup::Route { dev, .. }) => found.push(format!("{name} {dev}")),
            ("cross", Lookup::Error(words)) if words == "Invalid argument" => {}
            ("main", Lookup::Route { dev, .. }) if dev != TRANSIT => found.push(format!("{name} {dev}")),
            (_, Lookup::Error(words)) => found.push(format!("{name} {words}")),
            (_, Lookup::Route { .. }) => {}
        }
    }
    found
}

/// State → the signals it shows, all of them, with main's default on transit. `None` for an unknown state.
pub fn expected(state: &str) -> Option<BTreeSet<String>> {
    let (state, mgmt) = state.strip_suffix("--main-mgmt").map_or((state, false), |state| (state, true));
    let mut signals: Vec<&str> = match state {
        // Faults whose signs are outside this reading: the core, the guest, learnt path MTUs, neighbours.
        "healthy"
        | "core-dns-down"
        | "core-drop"
        | "gateway-neigh-failed"
        | "transit-mtu-blackhole"
        | "vrf-forwarding-off"
        | "workload-down" => vec![],
        "conntrack-acct" => vec!["conntrack acct"],
        "conntrack-full" => vec!["conntrack full"],
        "forward-policy-drop" => vec!["forward DROP"],
        "healthy-fallback" => vec!["tdemo fallback", "eds fallback"],
        "frr-killed" => vec!["frr failed", "frr silent"],
        "frr-stopped" => frr_stopped(mgmt),
        "inter-tenant-leak" => vec!["tdemo no null route", "eds no null route", "cross.tdemo eds0", "cross.eds tdemo0"],
        "inter-tenant-leak-oneway" => vec!["eds no null route", "cross.eds tdemo0"],
        "mgmt-leak" => vec![
            "tdemo no default",
            "out.tdemo vmbr0 main",
            "mgmt.tdemo vmbr0 main",
            "main default on management",
            "main vmbr0",
        ],
        "return-route-missing" => vec!["tdemo no return route", "ret.tdemo bounces vmbr0.50"],
        "rp-filter-strict" => vec!["rp-filter vmbr0.50 1"],
        "rp-filter-strict-all" => vec!["rp-filter all 1"],
        "snat-duplicate" => vec!["tdemo 2 snat rules"],
        "snat-in-legacy" => vec!["tdemo snat legacy"],
        "snat-missing" => vec!["tdemo 0 snat rules"],
        "snat-wrong-source" => vec!["tdemo snat to 10.20.50.23"],
        "tenant-forwarding-off" => vec![
            "forwarding-off tdemo0",
            "out.tdemo No route to host",
            "cross.tdemo No route to host",
            "mgmt.tdemo No route to host",
        ],
        "transit-forwarding-off" => vec!["forwarding-off vmbr0.50", "ret.tdemo No route to host"],
        "transit-gateway-wrong" => vec!["tdemo default via 10.20.50.99"],
        "transit-mtu-low" => vec!["transit mtu 1400"],
        "uplink-down" => uplink_down(),
        "vrf-default-missing" => vec!["tdemo no default", "out.tdemo vmbr0.50 main", "mgmt.tdemo vmbr0 main"],
        "vrf-default-missing-fallback" => {
            vec!["tdemo fallback", "tdemo no default", "out.tdemo No route to host", "mgmt.tdemo No route to host"]
        }
        _ => return None,
    };
    if mgmt {
        signals.extend(["main default on management", "main vmbr0"]);
    }
    Some(signals.into_iter().map(str::to_owned).collect())
}

fn frr_stopped(mgmt: bool) -> Vec<&'static str> {
    let mut signals = vec![
        "frr inactive",
        "frr silent",
        "tdemo no default",
        "eds no default",
        "tdemo no null route",
        "eds no null route",
        "tdemo no return route",
        "eds no return route",
        "mgmt.tdemo vmbr0 main",
    ];
    signals.extend(if mgmt {
        [
            "out.tdemo vmbr0 main",
            "out.eds vmbr0 main",
            "ret.tdemo bounces vmbr0",
            "cross.tdemo vmbr0",
            "cross.eds vmbr0",
        ]
    } else {
        [
            "out.tdemo vmbr0.50 main",
            "out.eds vmbr0.50 main",
            "ret.tdemo bounces vmbr0.50",
            "cross.tdemo vmbr0.50",
            "cross.eds vmbr0.50",
        ]
    });
    signals
}

/// zebra withdraws the default, since its device has no carrier.
fn uplink_down() -> Vec<&'static str> {
    vec![
        "transit LOWERLAYERDOWN",
        "tdemo no default",
        "eds no default",
        "out.tdemo vmbr0.50 main",
        "out.eds vmbr0.50 main",
        "mgmt.tdemo vmbr0 main",
    ]
}
