//! An invented perimeter.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{SampleTenant, index, now};
use crate::backends::opnsense::model as fw;
use crate::backends::opnsense::{Evidence, Release, Version};
use crate::inventory::FwReading;
use crate::site::Site;
use crate::site::model::{OpnsenseSite, SecretSource, Trust};

/// The section of the site file.
pub(super) fn section() -> OpnsenseSite {
    OpnsenseSite {
        url: "https://10.20.99.1".into(),
        key: SecretSource::Env("OPNSENSE_KEY".into()),
        secret: SecretSource::Env("OPNSENSE_SECRET".into()),
        trust: Trust::System,
        transit: "10.20.50.0/24".parse().expect("a prefix"),
    }
}

/// Segment, interface id, third octet.
const SEGMENTS: [(&str, &str, u8); 10] = [
    ("TRUSTED", "opt1", 10),
    ("STORAGE", "opt2", 20),
    ("PLATFORM", "opt3", 25),
    ("IOT", "opt4", 30),
    ("IOT_VENDOR", "opt5", 31),
    ("IOT_BACKEND", "opt6", 35),
    ("GUEST", "opt7", 40),
    ("MANAGEMENT", "opt8", 99),
    ("TENANT_TRANSIT", "opt10", 50),
    ("TENANT_DEV", "opt11", 45),
];

fn interface(id: &str, description: &str, device: &str, address: &str) -> fw::Interface {
    fw::Interface {
        id: Some(id.into()),
        description: Some(description.into()),
        device: device.into(),
        enabled: Some(true),
        link: Some("up".into()),
        addresses: vec![address.parse().expect("an address")],
        vlan: None,
        gateways: Vec::new(),
        routes: Vec::new(),
    }
}

/// One side of a rule: `not` before what is negated, `any`, `:` before a port.
fn side(text: &str) -> fw::Side {
    let (nets, port) = text.split_once(':').map_or((text, None), |(nets, port)| (nets, Some(port.to_owned())));
    let (negated, nets) = nets.strip_prefix("not ").map_or((false, nets), |nets| (true, nets));
    let nets = nets.split(',').filter(|n| *n != "any").map(str::to_owned).collect();
    fw::Side { nets, negated, port }
}

/// A managed pass rule at `place` of its group; its uuid follows from the place.
pub fn rule(place: u32, id: &str, protocol: &str, (from, to): (&str, &str), description: &str) -> fw::Rule {
    fw::Rule {
        uuid: format!("7c1d0e52-93b4-4f0e-9a55-{place:012}"),
        kind: fw::RuleKind::Managed,
        enabled: true,
        action: fw::Action::Pass,
        quick: true,
        interfaces: id.split(',').filter(|i| !i.is_empty()).map(str::to_owned).collect(),
        interfaces_negated: false,
        direction: fw::Direction::In,
        family: Some(fw::Family::Inet),
        protocol: protocol.into(),
        source: side(from),
        destination: side(to),
        gateway: None,
        description: description.into(),
        sequence: Some(place),
        order: Some(format!("400000.{place:07}")),
        log: false,
        origin: None,
        hits: Some(fw::Hits {
            pf_rules: 1,
            evaluations: u64::from(place) * 900_001,
            packets: 1_284_551 / u64::from(place).max(1),
            bytes: u64::from(place) * 512_000,
            states: u64::from(place) % 20,
        }),
        loaded: Some(true),
    }
}

fn automatic(n: u32, action: fw::Action, id: &str, to: &str, description: &str) -> fw::Rule {
    fw::Rule {
        uuid: format!("{n:032x}"),
        kind: fw::RuleKind::Automatic,
        action,
        quick: n != 1,
        family: Some(fw::Family::Both),
        sequence: None,
        order: Some(format!("00000{}.1{n:06}", if n == 1 { 1 } else { 5 })),
        ..rule(n, id, if n == 1 { "any" } else { "TCP" }, ("any", to), description)
    }
}

/// The rules of domain.md §2.2, those of OPNsense itself first.
fn rules() -> Vec<fw::Rule> {
    let (net, overlay, transit) = (|o: u8| format!("10.20.{o}.0/24"), "10.20.128.0/18", "10.20.50.0/24");
    let mut out = vec![
        automatic(1, fw::Action::Block, "", "any", "Default deny / state violation rule"),
        automatic(2, fw::Action::Pass, "lan", "(self):443", "anti-lockout rule"),
    ];
    let mut add = |id: &str, protocol: &str, from: &str, to: &str, description: &str| {
        let place = u32::try_from(out.len()).unwrap_or(u32::MAX);
        out.push(rule(place, id, protocol, (from, to), &format!("ansible: {description}")));
    };
    add("opt8", "TCP", "any", "opt8ip:443", "anti-lockout HTTPS management");
    add("opt8", "TCP", "any", "opt8ip:22", "anti-lockout SSH management");
    for (name, id, _) in SEGMENTS {
        let name = name.to_lowercase();
        add(id, "TCP/UDP", "any", &format!("{id}ip:53"), &format!("gateway services DNS {name}"));
        add(id, "UDP", "any", &format!("{id}ip:123"), &format!("gateway services NTP {name}"));
    }
    for (name, id, octet) in SEGMENTS.iter().filter(|(n, ..)| *n != "STORAGE" && *n != "IOT_BACKEND") {
        let description = format!("{} -> internet", name.to_lowercase());
        add(id, "any", &net(*octet), "not deevnet_private", &description);
    }
    add("opt10", "any", transit, &net(25), "tenant_transit -> platform");
    add("opt10", "any", transit, &net(35), "tenant_transit -> iot_backend");
    for (name, id, octet) in [("management", "opt8", 99), ("trusted", "opt1", 10)] {
        add(id, "any", &net(octet), transit, &format!("{name} -> tenant_transit"));
        add(id, "any", &net(octet), overlay, &format!("{name} -> tenant_transit: tenant overlay (ADR-0018)"));
    }
    add("opt1", "any", &net(10), &net(99), "trusted -> management");
    add(
        "opt11",
        "TCP",
        &net(45),
        &format!("{overlay}:22"),
        "tenant_dev -> tenant_transit: tenant workload SSH (ADR-0028)",
    );
    add(
        "opt3",
        "TCP",
        "10.20.25.20/32",
        "10.20.99.22/32:8006",
        "platform -> management: deevnet-api -> tenant hypervisor API",
    );
    out
}

fn forward(uuid: u32, domain: String, description: String) -> fw::Forward {
    fw::Forward {
        uuid: format!("5e0f7d10-0000-4000-8000-{uuid:012}"),
        kind: fw::ForwardKind::Forward,
        enabled: true,
        domain,
        final_dot: false,
        server: "10.20.25.21".into(),
        port: None,
        tcp: Some(false),
        first: Some(false),
        description,
    }
}

fn forwards(site: &Site, tenants: &[SampleTenant]) -> Vec<fw::Forward> {
    let both = |(name, n, _): &SampleTenant| {
        let what = |tail: &str| format!("Deevnet API - tenant {name}{tail} (ADR-0015)");
        [
            forward(u32::from(*n) * 2, format!("{name}.{}", site.domain), what("")),
            forward(u32::from(*n) * 2 + 1, site.numbering.reverse_zone(index(*n)), what(" reverse")),
        ]
    };
    tenants.iter().flat_map(both).collect()
}

fn private() -> fw::Alias {
    fw::Alias {
        uuid: "b4a1c0de-0000-4000-8000-000000000001".into(),
        name: "deevnet_private".into(),
        kind: "network".into(),
        enabled: true,
        content: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"].map(str::to_owned).to_vec(),
        description: "ansible: all private networks".into(),
        loaded: Some(true),
    }
}

/// The way back to the tenants: the static route, its gateway, and the kernel's entry.
fn way_back() -> (fw::StaticRoute, fw::Gateway, fw::KernelRoute) {
    let route = fw::StaticRoute {
        uuid: "0a0a0a0a-0000-4000-8000-000000000001".into(),
        network: "10.20.128.0/18".parse().expect("a prefix"),
        gateway: "TENANT_FABRIC_GW".into(),
        enabled: true,
        description: "tenant overlay via the fabric's exit node".into(),
    };
    let gateway = fw::Gateway {
        uuid: Some("0b0b0b0b-0000-4000-8000-000000000001".into()),
        name: "TENANT_FABRIC_GW".into(),
        interface: "opt10".into(),
        device: Some("re0_vlan50".into()),
        address: Some("10.20.50.22".parse().expect("an address")),
        enabled: true,
        may_be_default: Some(false),
        is_default: Some(false),
        monitored: Some(false),
        description: String::new(),
    };
    let kernel = fw::KernelRoute {
        family: "ipv4".into(),
        destination: "10.20.128.0/18".into(),
        gateway: "10.20.50.22".into(),
        flags: "UGS".into(),
        device: "re0_vlan50".into(),
    };
    (route, gateway, kernel)
}

pub(super) fn reading(site: &Site, tenants: &[SampleTenant]) -> FwReading {
    let mut interfaces =
        vec![interface("lan", "LAN", "re0", "192.168.10.1/24"), interface("wan", "WAN", "re1", "192.168.8.50/24")];
    let vlan = |(name, id, octet): &(&str, &str, u8)| {
        interface(id, name, &format!("re0_vlan{octet}"), &format!("10.20.{octet}.1/24"))
    };
    interfaces.extend(SEGMENTS.iter().map(vlan));
    let (route, gateway, kernel) = way_back();
    let health = fw::GatewayHealth {
        name: gateway.name.clone(),
        address: gateway.address,
        state: fw::GatewayState::Online,
        delay: None,
        loss: None,
    };
    let rules = fw::RuleSet {
        rules: rules(),
        counters_cached: false,
        loaded_unknown: std::collections::BTreeSet::new(),
        not_read: Vec::new(),
    };
    let nat = fw::SourceNat {
        mode: Some(fw::NatMode::Hybrid),
        rules: Vec::new(),
        manual_applies: Some(true),
        not_read: Vec::new(),
    };
    FwReading {
        release: Ok(Release { version: Version::new(26, 7, 3), evidence: Evidence::Firmware }),
        system: Ok(fw::SystemStatus { messages: BTreeMap::new() }),
        interfaces: Ok(interfaces.into()),
        rules: Ok(Arc::new(rules)),
        aliases: Ok(Arc::new(fw::Aliases { aliases: vec![private()], not_read: Vec::new() })),
        routes: Ok(vec![route].into()),
        kernel_routes: Ok(vec![kernel].into()),
        gateways: Ok(vec![gateway].into()),
        gateway_health: Ok(vec![health].into()),
        source_nat: Ok(Arc::new(nat)),
        forwards: Ok(forwards(site, tenants).into()),
        resolver: Ok(Arc::new(fw::ResolverSettings {
            enabled: true,
            port: Some(53),
            dnssec: Some(true),
            interfaces: Vec::new(),
            forwards_everything: Some(false),
            private_addresses: vec!["10.0.0.0/8".parse().expect("a prefix")],
            private_domains: Vec::new(),
            insecure_domains: Vec::new(),
        })),
        resolver_state: Ok(fw::ServiceState::Running),
        states: Ok(fw::StateTable { current: 1_204, limit: 816_000 }),
        requests: 19,
        ..FwReading::empty(now())
    }
}
