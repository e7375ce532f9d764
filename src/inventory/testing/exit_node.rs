//! An invented exit node.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use jiff::SignedDuration;

use super::{NODE, SampleTenant, head, index, now};
use crate::backends::exit_node::model as exit;
use crate::inventory::{Flow, Flows};
use crate::site::Site;

fn link(n: u32, name: &str, kind: Option<&str>) -> exit::Link {
    exit::Link {
        ifindex: n,
        name: name.into(),
        operstate: "UP".into(),
        flags: vec!["UP".into(), "LOWER_UP".into()],
        mtu: 1450,
        kind: kind.map(str::to_owned),
        stats: Some(exit::LinkStats {
            rx_bytes: 1 << 20,
            rx_packets: 900,
            tx_bytes: 1 << 21,
            tx_packets: 950,
            dropped: 0,
        }),
        ..exit::Link::default()
    }
}

fn route(dst: &str, kind: exit::RouteKind, gateway: Option<&str>, dev: Option<&str>, protocol: &str) -> exit::Route {
    exit::Route {
        dst: dst.parse().expect("a prefix"),
        kind,
        gateway: gateway.map(|g| g.parse().expect("an address")),
        dev: dev.map(str::to_owned),
        protocol: Some(protocol.into()),
        metric: Some(20),
        flags: Vec::new(),
        nexthops: 1,
    }
}

pub(super) fn reading(site: &Site, tenants: &[SampleTenant]) -> exit::Reading {
    let plan = &site.numbering;
    let mut links = vec![link(1, "vmbr0", Some("bridge")), link(2, "vmbr0.50", Some("vlan"))];
    let mut forwarding = BTreeMap::from([("vmbr0.50".to_owned(), true), ("all".to_owned(), true)]);
    let (mut vrf_routes, mut snat) = (BTreeMap::new(), Vec::new());
    let (mut frr_conf, mut frr_local) = (exit::FrrConfig::default(), exit::FrrConfig::default());
    let mut main = vec![
        route("0.0.0.0/0", exit::RouteKind::Unicast, Some("10.20.50.1"), Some("vmbr0.50"), "kernel"),
        route("10.20.50.0/24", exit::RouteKind::Unicast, None, Some("vmbr0.50"), "kernel"),
    ];
    for (name, n, _) in tenants {
        let (i, vnet) = (index(*n), format!("{}0", head(name)));
        let (subnet, base) = (plan.subnet(i), u32::from(*n) * 10);
        let mut vrf = link(base + 10, &format!("vrf_{name}"), Some("vrf"));
        vrf.vrf_table = Some(1000 + u32::from(*n));
        let mut l3 = link(base + 11, &format!("vrfvx_{name}"), Some("vxlan"));
        l3.vxlan_id = Some(plan.vrf_vni(i));
        links.extend([vrf, l3, link(base + 12, &vnet, Some("bridge"))]);
        forwarding.insert(vnet.clone(), true);
        let mut routes = vec![
            route("0.0.0.0/0", exit::RouteKind::Unicast, Some("10.20.50.1"), Some("vmbr0.50"), "static"),
            route(&subnet.to_string(), exit::RouteKind::Unicast, None, Some(&vnet), "kernel"),
        ];
        let others = tenants.iter().filter(|(other, _, _)| other != name);
        routes.extend(others.map(|(_, m, _)| {
            route(&plan.subnet(index(*m)).to_string(), exit::RouteKind::Blackhole, None, None, "static")
        }));
        vrf_routes.insert(format!("vrf_{name}"), exit::Readout::Value(routes));
        main.push(route(&subnet.to_string(), exit::RouteKind::Unicast, None, Some(&format!("vrf_{name}")), "bgp"));
        let stanza = vec!["ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default".to_owned()];
        frr_local.vrfs.insert(format!("vrf_{name}"), stanza.clone());
        frr_conf.vrfs.insert(format!("vrf_{name}"), stanza);
        snat.push(exit::SnatRule {
            engine: exit::NatEngine::Nft,
            source: Some(subnet),
            out_interface: Some("vmbr0.50".into()),
            to_source: Some(Ipv4Addr::new(10, 20, 50, 22)),
            new_connections: 1_000 * u64::from(*n) * u64::from(*n),
            bytes: 84_000 * u64::from(*n),
            text: rule_text(&subnet.to_string()),
        });
    }
    reading_of(links, forwarding, vrf_routes, main, snat, frr_conf, frr_local)
}

fn rule_text(subnet: &str) -> String {
    format!("-A POSTROUTING -s {subnet} -o vmbr0.50 -j SNAT --to-source 10.20.50.22")
}

fn reading_of(
    links: Vec<exit::Link>,
    forwarding: BTreeMap<String, bool>,
    vrf_routes: BTreeMap<String, exit::Readout<Vec<exit::Route>>>,
    main: Vec<exit::Route>,
    snat: Vec<exit::SnatRule>,
    frr_conf: exit::FrrConfig,
    frr_local: exit::FrrConfig,
) -> exit::Reading {
    use exit::Readout::Value;
    exit::Reading {
        node: NODE.into(),
        at: now(),
        helper: 1,
        user: "root".into(),
        privileged: true,
        kernel: Value("6.17.2-1-pve".into()),
        hostname: Value(NODE.into()),
        links: Value(links),
        addresses: Value(vec![exit::Address { dev: "vmbr0.50".into(), ip: [10, 20, 50, 22].into(), prefix_len: 24 }]),
        rules: Value(vec![exit::Rule { priority: 1000, src: "all".into(), table: None, l3mdev: true }]),
        main_routes: Value(main),
        vrf_routes,
        neighbours: Value(vec![exit::Neighbour {
            ip: [10, 20, 50, 1].into(),
            dev: "vmbr0.50".into(),
            mac: Some("02:00:00:00:50:01".into()),
            states: vec!["REACHABLE".into()],
        }]),
        rp_filter: Value(forwarding.keys().map(|k| (k.clone(), 2)).collect()),
        forwarding: Value(forwarding),
        frr: Value(exit::Frr {
            unit: "active".into(),
            version: Some("10.4.1".into()),
            daemons_answer: Some(true),
            vtysh_unread: None,
        }),
        frr_conf: Value(frr_conf),
        frr_local: Value(frr_local),
        nat: Value(exit::Nat {
            snat,
            forward_policy: Some("ACCEPT".into()),
            forward_rules: Vec::new(),
            legacy_in_use: false,
            legacy_read: true,
            legacy_unread: None,
        }),
        conntrack: Value(exit::Conntrack {
            count: 1204,
            max: 262_144,
            acct: false,
            drop: Some(0),
            early_drop: Some(0),
        }),
        counters: Value(BTreeMap::from([("IpInAddrErrors".to_owned(), 0)])),
        lookups: Value(exit::Lookups::default()),
        sdn_version: Value(41),
        flows: BTreeMap::new(),
    }
}

pub(super) fn flows(site: &Site, tenants: &[SampleTenant]) -> Flows {
    let mut flows = Flows::default();
    for (name, n, _) in tenants {
        let n64 = u64::from(*n);
        let subnet = site.numbering.subnet(index(*n)).to_string();
        flows.snat.insert(
            (NODE.to_owned(), rule_text(&subnet)),
            Flow {
                total: 1_000 * n64 * n64,
                per_second: Some(f64::from(*n) * 1.5),
                history: (0..10).map(|s| n64 * 10 + (s * 7 + n64) % 11).collect(),
                reset_at: None,
                since: Some(now() - SignedDuration::from_secs(1320)),
            },
        );
        flows.bytes_s.insert((NODE.to_owned(), format!("{}0", head(name))), f64::from(*n) * 1200.0);
    }
    flows
}
