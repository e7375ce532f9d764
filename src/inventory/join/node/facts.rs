//! The six facts of a VRF, each from the part of the reading that can know it.

use std::net::IpAddr;

use super::super::super::Class;
use super::super::super::entities::Fact;
use super::super::super::source::Gap;
use super::{Subject, seen};
use crate::backends::exit_node::model::{
    FrrConfig, NatEngine, Neighbour, Reading, Readout, Route, RouteKind, SnatRule,
};

/// Labels, in the order of the pane.
pub(super) const LABELS: [&str; 6] = ["link", "default", "SNAT", "forwarding", "null routes", "FRR"];

fn fact(label: &'static str, class: Class, value: impl Into<String>, word: impl Into<String>) -> Fact {
    Fact { label, value: value.into(), class, word: word.into(), gap: None }
}

fn gap(label: &'static str, gap: Gap) -> Fact {
    Fact { label, value: "?".to_owned(), class: Class::Unknown, word: gap.word().to_owned(), gap: Some(gap) }
}

/// All facts in order.
pub(super) fn all(s: &Subject<'_>, r: &Reading) -> Vec<Fact> {
    if let (false, Ok(links)) = (s.applied, seen(&r.links))
        && !links.iter().any(|l| l.name == s.device)
    {
        return LABELS.map(|label| fact(label, Class::Absent, "the zone is not applied", "not applied")).into();
    }
    if !s.leaves_here {
        let elsewhere = |label| fact(label, Class::Absent, "the zone leaves by another exit node", "elsewhere");
        let [_, rest @ ..] = LABELS.map(elsewhere);
        return std::iter::once(link(s, r)).chain(rest).collect();
    }
    vec![link(s, r), default(s, r), snat(s, r), forwarding(s, r), null_routes(s, r), frr(s, r)]
}

/// What is derived for a fact, for the difference list.
pub(super) fn expected(label: &str, s: &Subject<'_>) -> String {
    let site = s.site;
    match label {
        "link" => format!("{} up, VNI {}", s.device, s.vni),
        "default" => format!("{} {}", site.transit_gateway, site.transit_interface),
        "SNAT" => format!("{} out {} to {}", s.subnet, site.transit_interface, site.transit_address),
        "forwarding" => format!("{} = 1, {} = 1", site.transit_interface, s.vnet),
        "null routes" => format!("{} of {}", s.others.len(), s.others.len()),
        _ => "running, stanza merged".to_owned(),
    }
}

/// A few words for the summary strip.
pub(super) fn brief(f: &Fact) -> String {
    match (f.label, f.word.as_str()) {
        ("SNAT", "absent") => "no SNAT rule".to_owned(),
        ("default", "absent") => "no default".to_owned(),
        ("link", _) => "no VRF".to_owned(),
        ("forwarding", "no way back" | "table full" | "firewall drops") => f.word.clone(),
        ("forwarding", _) => "no forwarding".to_owned(),
        (label, word) => format!("{label} {word}"),
    }
}

fn link(s: &Subject<'_>, r: &Reading) -> Fact {
    let links = match seen(&r.links) {
        Ok(links) => links,
        Err(g) => return gap("link", g),
    };
    let value = format!("{} VNI {}", s.device, s.vni);
    let find = |name: &str| links.iter().find(|l| l.name == name);
    let Some(vrf) = find(&s.device) else {
        return fact("link", Class::Fault, format!("no {}", s.device), "absent");
    };
    if !vrf.flags.iter().any(|f| f == "UP") && vrf.operstate != "UP" {
        return fact("link", Class::Fault, value, "down");
    }
    match find(&format!("vrfvx_{}", s.seed.name)).map(|l| l.vxlan_id) {
        None => fact("link", Class::Fault, format!("no vrfvx_{}", s.seed.name), "no L3 VNI"),
        Some(Some(vni)) if vni != s.vni => fact("link", Class::Differs, format!("VNI {vni}"), "differs"),
        Some(_) => fact("link", Class::Fine, value, "up"),
    }
}

/// Whether a default route is the derived one.
pub(super) fn is_right_default(s: &Subject<'_>, route: &Route) -> bool {
    route.gateway == Some(s.site.transit_gateway) && route.dev.as_deref() == Some(s.site.transit_interface.as_str())
}

fn vrf_routes<'a>(s: &Subject<'_>, r: &'a Reading) -> Option<Result<&'a Vec<Route>, Gap>> {
    r.vrf_routes.get(&s.device).map(seen)
}

fn default(s: &Subject<'_>, r: &Reading) -> Fact {
    let routes = match vrf_routes(s, r) {
        None => return missing_vrf("default", s, r),
        Some(Err(g)) => return gap("default", g),
        Some(Ok(routes)) => routes,
    };
    let best = routes.iter().filter(|r| r.dst.prefix_len() == 0).min_by_key(|r| r.metric.unwrap_or(0));
    let Some(route) = best else { return fact("default", Class::Fault, "no default route", "absent") };
    if route.kind != RouteKind::Unicast {
        return fact("default", Class::Fault, "only the unreachable fallback", "absent");
    }
    let via = route.gateway.map_or_else(|| "–".to_owned(), |g| g.to_string());
    let value = format!("{via} {}", route.dev.as_deref().unwrap_or("–"));
    if route.flags.iter().any(|f| f == "linkdown" || f == "dead") {
        return fact("default", Class::Fault, value, "link down");
    }
    if is_right_default(s, route) {
        if gateway_fails(s, r) {
            return fact("default", Class::Fault, format!("{value} does not answer"), "no gateway");
        }
        fact("default", Class::Fine, value, "right")
    } else {
        fact("default", Class::Fault, value, "wrong")
    }
}

/// Whether the neighbour entry of the perimeter says that it does not answer. No entry says nothing.
fn gateway_fails(s: &Subject<'_>, r: &Reading) -> bool {
    let gateway = IpAddr::V4(s.site.transit_gateway);
    let entry = |n: &&Neighbour| n.ip == gateway && n.dev == s.site.transit_interface;
    let fails = |n: &Neighbour| n.states.iter().any(|state| state == "FAILED" || state == "INCOMPLETE");
    r.neighbours.value().and_then(|all| all.iter().find(entry)).is_some_and(fails)
}

/// A VRF that is not there leaves its facts undecided, not broken: the link fact says what is broken.
fn missing_vrf(label: &'static str, s: &Subject<'_>, r: &Reading) -> Fact {
    match &r.links {
        Readout::Unread(u) => gap(label, Gap::from(u)),
        Readout::Value(_) => fact(label, Class::Absent, format!("no {}", s.device), "none"),
    }
}

/// SNAT rules that a packet from the tenant's subnet would meet on its way out, in rule order.
pub(super) fn rules_for<'a>(rules: &'a [SnatRule], s: &Subject<'_>) -> impl Iterator<Item = &'a SnatRule> {
    let subnet = s.subnet;
    let covers = move |net: ipnet::Ipv4Net| net.contains(&subnet) || subnet.contains(&net);
    rules.iter().filter(move |r| r.source.is_some_and(covers) && !r.is_narrowed())
}

fn snat(s: &Subject<'_>, r: &Reading) -> Fact {
    let nat = match seen(&r.nat) {
        Ok(nat) => nat,
        Err(g) => return gap("SNAT", g),
    };
    let rules: Vec<&SnatRule> = rules_for(&nat.snat, s).collect();
    let transit = s.site.transit_interface.as_str();
    let out = |r: &&&SnatRule| r.out_interface.as_deref().is_none_or(|o| o == transit);
    let matching: Vec<&&SnatRule> = rules.iter().filter(out).collect();
    let Some(first) = matching.first() else {
        // A rule may stand where we could not look.
        if let Some(u) = &nat.legacy_unread {
            return gap("SNAT", Gap::from(u));
        }
        return match (rules.first(), s.snat_wanted) {
            (Some(r), _) => {
                let dev = r.out_interface.as_deref().unwrap_or("–");
                fact("SNAT", Class::Fault, format!("bound to {dev}, not {transit}"), "wrong")
            }
            (None, _) if s.subnet_waits => fact("SNAT", Class::Absent, "the subnet is not applied", "not applied"),
            (None, Some(false)) => fact("SNAT", Class::Differs, "off at the subnet, no rule", "off"),
            (None, _) => fact("SNAT", Class::Fault, format!("no rule on {transit}"), "absent"),
        };
    };
    let count = if matching.len() == 1 { "1 rule".to_owned() } else { format!("{} rules", matching.len()) };
    let Some(to) = first.to_source else {
        return fact("SNAT", Class::Differs, format!("masquerade, {count}"), "masquerade");
    };
    if to != s.site.transit_address {
        return fact("SNAT", Class::Fault, format!("→ {to}, {count}"), "wrong source");
    }
    let value = format!("→ {to}, {count}");
    if matching.len() > 1 {
        return fact("SNAT", Class::Warning, value, "twice");
    }
    if first.engine == NatEngine::Legacy {
        return fact("SNAT", Class::Info, format!("{value} in iptables-legacy"), "right");
    }
    fact("SNAT", Class::Fine, value, "right")
}

fn forwarding(s: &Subject<'_>, r: &Reading) -> Fact {
    let flags = match seen(&r.forwarding) {
        Ok(flags) => flags,
        Err(g) => return gap("forwarding", g),
    };
    let transit = s.site.transit_interface.as_str();
    let show = |on: bool| if on { "1" } else { "0" };
    match (flags.get(transit), flags.get(&s.vnet)) {
        (None, _) => fact("forwarding", Class::Fault, format!("no {transit}"), "no interface"),
        (Some(false), _) => fact("forwarding", Class::Fault, format!("{transit} = 0"), "off"),
        (Some(true), Some(false)) => {
            fact("forwarding", Class::Fault, format!("{} = 0", s.vnet), format!("off on {}", s.vnet))
        }
        (Some(t), Some(v)) => stopped(s, r).unwrap_or_else(|| {
            fact("forwarding", Class::Fine, format!("{transit} = {}, {} = {}", show(*t), s.vnet, show(*v)), "on")
        }),
        (Some(true), None) => fact("forwarding", Class::Absent, format!("no {}", s.vnet), "none"),
    }
}

/// What stops packets although every interface forwards: the connection table, the FORWARD chain, no way back in main
/// (facts/exit-node.md §2).
fn stopped(s: &Subject<'_>, r: &Reading) -> Option<Fact> {
    let fault = |value: String, word: &str| Some(fact("forwarding", Class::Fault, value, word));
    if let Some(c) = r.conntrack.value().filter(|c| c.max > 0 && c.count >= c.max) {
        return fault(format!("{} of {} connections tracked", c.count, c.max), "table full");
    }
    let nat = r.nat.value();
    // With rules in the chain the policy alone decides nothing.
    if nat.is_some_and(|n| n.forward_policy.as_deref() == Some("DROP") && n.forward_rules.is_empty()) {
        return fault("policy of FORWARD is DROP".to_owned(), "firewall drops");
    }
    // FRR withdraws it together with the default; then its own fact says why.
    let frr_runs = r.frr.value().is_some_and(|f| f.unit == "active");
    let back = r.main_routes.value().map(|all| all.iter().any(|route| route.dst == s.subnet));
    if frr_runs && back == Some(false) && s.applied && !s.subnet_waits {
        return fault(format!("main has no route to {}", s.subnet), "no way back");
    }
    None
}

fn null_routes(s: &Subject<'_>, r: &Reading) -> Fact {
    let routes = match vrf_routes(s, r) {
        None => return missing_vrf("null routes", s, r),
        Some(Err(g)) => return gap("null routes", g),
        Some(Ok(routes)) => routes,
    };
    let total = s.others.len();
    if total == 0 {
        return fact("null routes", Class::Fine, "no other tenant", "none needed");
    }
    let stopped = |net: &ipnet::Ipv4Net| {
        routes.iter().any(|r| r.dst == *net && matches!(r.kind, RouteKind::Blackhole | RouteKind::Unreachable))
    };
    let open = |net: &ipnet::Ipv4Net| routes.iter().any(|r| r.dst == *net && r.kind == RouteKind::Unicast);
    if let Some((name, _)) = s.others.iter().find(|(_, nets)| nets.iter().any(open)) {
        return fact("null routes", Class::Fault, format!("a route leads to {name}"), "open");
    }
    let have = s.others.iter().filter(|(_, nets)| nets.iter().all(stopped)).count();
    let value = format!("{have} of {total} other tenants");
    if have == total {
        fact("null routes", Class::Fine, value, "all")
    } else {
        fact("null routes", Class::Warning, value, "missing")
    }
}

fn frr(s: &Subject<'_>, r: &Reading) -> Fact {
    let frr = match seen(&r.frr) {
        Ok(frr) => frr,
        Err(g) => return gap("FRR", g),
    };
    if let (Some(u), "active") = (&frr.vtysh_unread, frr.unit.as_str()) {
        return gap("FRR", Gap::from(u));
    }
    if frr.unit != "active" || frr.daemons_answer == Some(false) {
        return fact("FRR", Class::Fault, format!("unit {}", frr.unit), "down");
    }
    let has = |conf: &Readout<FrrConfig>| -> Result<bool, Gap> {
        let lines = seen(conf)?.vrfs.get(&s.device);
        Ok(lines.is_some_and(|l| l.iter().any(|l| l.starts_with("ip route 0.0.0.0/0 "))))
    };
    match (has(&r.frr_local), has(&r.frr_conf)) {
        (Ok(true), Ok(true)) => fact("FRR", Class::Fine, "stanza in frr.conf.local, merged", "right"),
        (Ok(true), Ok(false)) => fact("FRR", Class::Warning, "in frr.conf.local, not in frr.conf", "not merged"),
        (Ok(false), Ok(true)) => {
            fact("FRR", Class::Warning, "in frr.conf, not in frr.conf.local", "lost at next apply")
        }
        (Ok(false), Ok(false)) => fact("FRR", Class::Warning, "no stanza for this VRF", "no stanza"),
        (Err(g), _) | (_, Err(g)) => gap("FRR", g),
    }
}
