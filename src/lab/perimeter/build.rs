//! Builds the perimeter of the invented site (domain.md §2, §4.4).

use std::net::Ipv4Addr;

use super::{
    Alias, Forward, ForwardKind, Gateway, Interface, Nat, Perimeter, PerimeterWriting, Release, Resolver, Route, Rule,
};
use crate::lab::build::uuid;
use crate::lab::names::{self, AUTHORITATIVE, Rrset, SITE_DOMAIN, Zone};
use crate::lab::sdn::Kind;
use crate::lab::state::{ApiHealth, World, mix};

/// The block of all tenants' subnets.
pub(in crate::lab) const OVERLAY: &str = "10.20.128.0/18";
/// The transit network.
pub(in crate::lab) const TRANSIT: &str = "10.20.50.0/24";
/// The gateway that leads to the fabric.
pub(in crate::lab) const FABRIC_GATEWAY: &str = "TENANT_FABRIC_GW";
/// The alias of all private networks.
pub(in crate::lab) const PRIVATE: &str = "deevnet_private";

/// Segment → interface id and VLAN; third octet = VLAN.
const SEGMENTS: &[(&str, &str, u16)] = &[
    ("trusted", "opt1", 10),
    ("storage", "opt2", 20),
    ("platform", "opt3", 25),
    ("iot", "opt4", 30),
    ("iot_vendor", "opt5", 31),
    ("iot_backend", "opt6", 35),
    ("guest", "opt7", 40),
    ("management", "opt8", 99),
    ("blackhole", "opt9", 999),
    ("tenant_transit", "opt10", 50),
    ("tenant_dev", "opt11", 45),
];

/// Hosts of the site's own zone: label and last two octets below 10.20.
const HOSTS: &[(&str, [u8; 2])] = &[
    ("dv00bld001p01", [99, 95]),
    ("dv02cor002p01", [99, 1]),
    ("dv02hyp001p01", [99, 21]),
    ("dv02hyp002p02", [99, 22]),
    ("dv02prv001v01", [25, 20]),
    ("dv02idn001v01", [25, 21]),
    ("dv02nms001v01", [99, 40]),
    ("api", [25, 20]),
    ("tfstate", [25, 20]),
    ("tdns", [25, 21]),
    ("mqtt", [35, 20]),
    ("pve", [99, 21]),
    ("pve2", [99, 22]),
];

/// Interface id of a segment.
pub(in crate::lab) fn interface_of(segment: &str) -> &'static str {
    SEGMENTS.iter().find(|(name, ..)| *name == segment).map_or("", |(_, id, _)| id)
}

fn network(segment: &str) -> String {
    let vlan = SEGMENTS.iter().find(|(name, ..)| *name == segment).map_or(0, |(.., vlan)| *vlan);
    format!("10.20.{vlan}.0/24")
}

/// The perimeter of a built site; `now` makes the invented secrets those of one start.
pub(in crate::lab) fn build(world: &World, now: i64, release: Release) -> Perimeter {
    let word = |what: &str| -> String {
        (0..5).map(|n| format!("{:016x}", mix(world.seed, &format!("opnsense {what} {now} {n}")))).collect()
    };
    Perimeter {
        idle: std::collections::BTreeSet::new(),
        shared_segment: None,
        unloaded: std::collections::BTreeSet::new(),
        release,
        interfaces: interfaces(),
        rules: rules(world),
        aliases: aliases(world),
        gateways: gateways(world),
        routes: vec![Route {
            uuid: uuid(world, "route overlay"),
            network: OVERLAY.to_owned(),
            gateway: FABRIC_GATEWAY.to_owned(),
            description: "tenant overlay via the fabric's exit node".to_owned(),
            enabled: true,
        }],
        forwards: forwards(world),
        loaded: None,
        writing: PerimeterWriting::default(),
        nat: vec![Nat {
            uuid: uuid(world, "nat transit"),
            interface: "wan".to_owned(),
            source: TRANSIT.to_owned(),
            description: "ansible: outbound tenant_transit".to_owned(),
        }],
        resolver: resolver(),
        credential: (word("key"), word("secret")),
        api: ApiHealth { up: true, tokens_known: true, unauthorized_delay_ms: 2000, ..ApiHealth::default() },
        denied: false,
        faulty: std::collections::BTreeMap::new(),
    }
}

fn interfaces() -> Vec<Interface> {
    let mut out = vec![
        Interface {
            id: "lan".to_owned(),
            device: "re0".to_owned(),
            description: "LAN".to_owned(),
            vlan: None,
            address: Some((Ipv4Addr::new(192, 168, 10, 1), 24)),
        },
        Interface {
            id: "wan".to_owned(),
            device: "re1".to_owned(),
            description: "WAN".to_owned(),
            vlan: None,
            address: Some((Ipv4Addr::new(192, 168, 8, 50), 24)),
        },
    ];
    out.extend(SEGMENTS.iter().map(|(name, id, vlan)| Interface {
        id: (*id).to_owned(),
        device: format!("re0_vlan{vlan}"),
        description: name.to_uppercase(),
        vlan: Some(*vlan),
        // The segment of unused ports holds no address.
        address: u8::try_from(*vlan).ok().map(|octet| (Ipv4Addr::new(10, 20, octet, 1), 24)),
    }));
    out
}

/// A row of [`policy`]: description without its prefix, interface, protocol, source, destination, port.
struct Line(String, &'static str, &'static str, String, String, &'static str);

fn policy() -> Vec<Line> {
    let any = || "any".to_owned();
    let mut out = vec![
        Line("anti-lockout HTTPS management".to_owned(), "management", "TCP", any(), "opt8ip".to_owned(), "443"),
        Line("anti-lockout SSH management".to_owned(), "management", "TCP", any(), "opt8ip".to_owned(), "22"),
    ];
    let served = SEGMENTS.iter().filter(|(name, ..)| *name != "blackhole");
    for (name, id, _) in served {
        let router = || format!("{id}ip");
        out.push(Line(format!("gateway services DNS {name}"), name, "TCP/UDP", any(), router(), "53"));
        if matches!(*name, "trusted" | "iot" | "iot_vendor" | "guest" | "tenant_dev" | "management") {
            out.push(Line(format!("gateway services DHCP {name}"), name, "UDP", any(), router(), "67"));
        }
        out.push(Line(format!("gateway services NTP {name}"), name, "UDP", any(), router(), "123"));
    }
    let to = |from: &'static str, zone: &str, tail: &str, destination: &str, protocol, port| {
        Line(format!("{from} -> {zone}{tail}"), from, protocol, network(from), destination.to_owned(), port)
    };
    let overlay = ": tenant overlay (ADR-0018)";
    for from in ["trusted", "iot", "iot_vendor", "guest", "platform", "management", "tenant_transit", "tenant_dev"] {
        out.push(to(from, "internet", "", PRIVATE, "any", ""));
    }
    out.push(to("tenant_transit", "platform", "", &network("platform"), "any", ""));
    out.push(to("tenant_transit", "iot_backend", "", &network("iot_backend"), "any", ""));
    for from in ["management", "trusted"] {
        out.push(to(from, "tenant_transit", "", TRANSIT, "any", ""));
        out.push(to(from, "tenant_transit", overlay, OVERLAY, "any", ""));
    }
    out.push(to("trusted", "management", "", &network("management"), "any", ""));
    out.push(to("trusted", "platform", "", &network("platform"), "any", ""));
    out.push(to("iot", "iot_backend", "", &network("iot_backend"), "TCP", "8883"));
    let ssh = ": tenant dev -> tenant workload SSH (ADR-0028)";
    out.push(to("tenant_dev", "tenant_transit", ssh, OVERLAY, "TCP", "22"));
    let api = |zone: &str, tail: &str, destination: &str, port| {
        let description = format!("platform -> {zone}: deevnet-api -> {tail}");
        Line(description, "platform", "TCP", "10.20.25.20/32".to_owned(), destination.to_owned(), port)
    };
    out.push(api("management", "tenant hypervisor API", "10.20.99.22/32", "8006"));
    out.push(api("platform", "core router API", "10.20.25.1/32", "443"));
    out
}

/// A pass rule as the platform's automation makes it.
pub(in crate::lab) fn pass(world: &World, at: u32, description: &str, segment: &str, to: &str) -> Rule {
    Rule {
        uuid: uuid(world, &format!("rule {description}")),
        enabled: true,
        sequence: at,
        action: "pass".to_owned(),
        interface: interface_of(segment).to_owned(),
        protocol: "any".to_owned(),
        source: network(segment),
        destination: to.to_owned(),
        destination_not: false,
        port: String::new(),
        description: format!("ansible: {description}"),
    }
}

fn rules(world: &World) -> Vec<Rule> {
    let line = |(at, Line(description, segment, protocol, source, destination, port)): (u32, Line)| Rule {
        protocol: protocol.to_owned(),
        source,
        destination_not: destination == PRIVATE,
        port: port.to_owned(),
        ..pass(world, 100 + 10 * at, &description, segment, &destination)
    };
    (0..).zip(policy()).map(line).collect()
}

fn aliases(world: &World) -> Vec<Alias> {
    let alias = |uuid: &str, name: &str, kind: &str, content: &[&str], description: &str| Alias {
        uuid: uuid.to_owned(),
        name: name.to_owned(),
        kind: kind.to_owned(),
        content: content.iter().map(|entry| (*entry).to_owned()).collect(),
        description: description.to_owned(),
    };
    let built_in = |name: &str, description: &str| alias(name, name, "external", &[], description);
    let mut out = vec![
        built_in("bogons", "bogon networks (internal)"),
        built_in("bogonsv6", "bogon networks IPv6 (internal)"),
        built_in("sshlockout", "abuse lockout table (internal)"),
        built_in("virusprot", "overload table for rate limiting (internal)"),
        alias(
            &uuid(world, "alias private"),
            PRIVATE,
            "network",
            &["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
            "ansible: all private networks",
        ),
    ];
    for interface in interfaces() {
        let name = format!("__{}_network", interface.id);
        out.push(alias(&name, &name, "internal", &[], &format!("{} net", interface.description)));
    }
    out
}

fn gateways(world: &World) -> Vec<Gateway> {
    let gateway = |name: &str, interface: &str, address, default| Gateway {
        uuid: uuid(world, &format!("gateway {name}")),
        name: name.to_owned(),
        interface: interface.to_owned(),
        address,
        default,
        monitored: default,
        down: false,
    };
    vec![
        gateway("WAN_DHCP", "wan", Ipv4Addr::new(192, 168, 8, 1), true),
        gateway(FABRIC_GATEWAY, "opt10", world.exit.transit_address, false),
    ]
}

fn forwards(world: &World) -> Vec<Forward> {
    let mut out = Vec::new();
    for (tenant, _) in world.sdn.running.of(Kind::Zone) {
        let mut row = |zone: &str, tail: &str| {
            out.push(Forward {
                uuid: uuid(world, &format!("forward {zone}")),
                enabled: true,
                kind: ForwardKind::Forward,
                domain: zone.trim_end_matches('.').to_owned(),
                server: AUTHORITATIVE.to_owned(),
                port: String::new(),
                description: format!("Deevnet API - tenant {tenant}{tail} (ADR-0015)"),
            });
        };
        row(&names::forward_zone(tenant), "");
        if let Some(reverse) = names::reverse_zone(world, tenant) {
            row(&reverse, " reverse");
        }
    }
    out
}

fn resolver() -> Resolver {
    let mut local = Zone::default();
    for (label, [third, fourth]) in HOSTS {
        let (name, address) = (format!("{label}.{SITE_DOMAIN}"), format!("10.20.{third}.{fourth}"));
        local.set(&name, "A", Rrset::one(3600, &address));
        // The first host at an address owns its pointer; what follows are other names for it.
        let pointer = (format!("{}.in-addr.arpa.", names::backwards(&address)), "PTR".to_owned());
        local.rrsets.entry(pointer).or_insert_with(|| Rrset::one(3600, &name));
    }
    let mut public = std::collections::BTreeMap::new();
    for (origin, mname) in
        [(".", "a.root.invalid."), ("deevnet.net.", "ns1.deevnet.net."), ("example.net.", "ns1.example.net.")]
    {
        public.insert(origin.to_owned(), names::apex(origin, 2_026_112_901, mname));
    }
    for (origin, name, address) in [
        ("deevnet.net.", "www.deevnet.net.", "203.0.113.80"),
        ("deevnet.net.", "ns1.deevnet.net.", "203.0.113.53"),
        ("example.net.", "example.net.", "198.51.100.10"),
        ("example.net.", "www.example.net.", "198.51.100.10"),
    ] {
        if let Some(zone) = public.get_mut(origin) {
            zone.set(name, "A", Rrset::one(300, address));
        }
    }
    Resolver { up: true, local, public, ..Resolver::default() }
}
