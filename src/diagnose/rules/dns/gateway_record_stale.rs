//! Records of a gateway that has moved.

use std::net::IpAddr;

use super::super::{Out, Rule};
use crate::backends::powerdns::Name;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::powerdns::Head;
use crate::diagnose::facts::sdn::text;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "gateway-record-stale",
    layer: Layer::Dns,
    severity: Severity::Warning,
    says: "The name that Proxmox VE gives a subnet's gateway (`VNET-gw`) holds an address that is not the gateway any more, or \
           a reverse record names it from there: the plugin writes such records and does not take all of them away. The \
           address may be somebody's by now.",
    reads: "subnets with their gateways, the forward and the reverse zone",
    unlike: &[("ptr-mismatch", "a workload's address has the reverse record of another host")],
    explains: &[],
    judge,
};

/// An address in `1.2.0.192.in-addr.arpa`.
fn of_reverse(name: &str) -> Option<IpAddr> {
    let mut parts: Vec<&str> = name.trim_end_matches('.').strip_suffix(".in-addr.arpa")?.split('.').collect();
    parts.reverse();
    if parts.len() == 4 { parts.join(".").parse().ok() } else { None }
}

/// A set of records, and the reading that holds it.
type Set<'f> = (&'f Sourced<Head>, &'f Name, &'f String, &'f Vec<String>);

/// Each set of records as it was read last: what a later reading looked at and does not hold is gone.
fn last_read(facts: &Facts) -> impl Iterator<Item = Set<'_>> {
    let zones = &facts.powerdns.zones;
    zones.iter().enumerate().flat_map(move |(at, head)| {
        let later = move |name: &Name, kind: &str| {
            zones.iter().skip(at + 1).any(|later| later.name == head.name && later.looked_at(name, kind))
        };
        let own = head.rrsets.iter().flatten().filter(move |(name, kind, _)| !later(name, kind));
        own.map(move |(name, kind, values)| (head, name, kind, values))
    })
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let all: Vec<Set<'_>> = last_read(facts).collect();
    let sets = || all.iter().copied();
    let is_gateway = |name: &str| name.split('.').next().and_then(|label| label.strip_suffix("-gw")).map(str::to_owned);
    for (list, subnet) in facts.sdn.subnets_in_force() {
        let Some(gateway) = text(&subnet.fields, "gateway").and_then(|gateway| gateway.parse::<IpAddr>().ok()) else {
            continue;
        };
        let own = |name: &str| is_gateway(name).as_deref() == Some(subnet.vnet.as_str());
        let moved = |ip: &IpAddr| subnet.cidr.contains(ip) && *ip != gateway;
        let values = sets().filter(|(_, name, kind, _)| *kind == "A" && own(name.as_str()));
        let values = values.flat_map(|(head, name, _, values)| values.iter().map(move |value| (head, name, value)));
        let stale: Vec<_> = values.filter(|(.., value)| value.parse().is_ok_and(|ip| moved(&ip))).collect();
        let pointers = sets().filter(|(_, name, kind, values)| {
            let there = *kind == "PTR" && of_reverse(name.as_str()).is_some_and(|ip| moved(&ip));
            there && values.iter().any(|value| own(value))
        });
        let pointers: Vec<_> = pointers.collect();
        if stale.is_empty() && pointers.is_empty() {
            if sets().any(|(_, name, _, values)| own(name.as_str()) || values.iter().any(|value| own(value))) {
                out.pass(Subject::new("vnet", &subnet.vnet));
            }
            continue;
        }
        let title = format!("The gateway of {} is {gateway}, and records of an earlier one are left.", subnet.cidr);
        let mut finding = out
            .finding(Subject::new("vnet", &subnet.vnet), title)
            .fact("subnet.gateway", subnet.cidr.to_string(), gateway)
            .affects([subnet.vnet.as_str()])
            .from(list);
        for (head, name, value) in &stale {
            finding = finding.fact("record.stale", name.as_str().trim_end_matches('.'), value).from(*head);
        }
        for (head, name, _, values) in &pointers {
            let ip = of_reverse(name.as_str()).map(|ip| ip.to_string()).unwrap_or_default();
            let to: Vec<&str> = values.iter().map(|value| value.trim_end_matches('.')).collect();
            finding = finding.fact("ptr.stale", ip, to.join(", ")).from(*head);
        }
        for (what, missing) in [("forward", stale.is_empty()), ("reverse", pointers.is_empty())] {
            let mut heads = facts.powerdns.zones.iter().filter(|head| head.rrsets.is_some());
            let read = heads.any(|head| (what == "reverse") == head.name.as_str().contains(".in-addr.arpa"));
            if missing && !read {
                out.unknown_of(
                    [Subject::new("vnet", &subnet.vnet)],
                    format!("records of an earlier gateway of {} in the {what} zone", subnet.cidr),
                    None,
                );
            }
        }
        out.found(finding.next(
            "delete-stale-records",
            2,
            format!(
                "delete the single stale value and the stale reverse record, keeping {gateway}; the set is shown before"
            ),
        ));
    }
    if facts.sdn.subnets.is_empty() && sets().any(|(_, name, ..)| is_gateway(name.as_str()).is_some()) {
        let why = facts.calls.why(Api::Proxmox, "cluster/sdn/vnets/*/subnets");
        out.unknown("the gateways of subnets, whose names stand in DNS", why);
    }
}
