//! Half of a flow goes round the router.

use std::net::IpAddr;

use super::super::{Out, Rule};
use super::{ROUTES, interface_of, interfaces};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::routing::{Gateway, Interface, Route};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "asymmetric-path",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "A host and the next hop of its destination's route are on one segment: the host sends through the router, and the \
           answer goes straight to it. The router sees one direction, takes the rest for strangers and drops it. No rule \
           helps, since no rule is the cause.",
    reads: "static routes, interfaces, states that saw one direction only, drops of packets inside a connection",
    unlike: &[
        ("perimeter-drop", "the first packet is dropped, by a rule"),
        ("route-missing", "there is no way to the destination"),
    ],
    explains: &[],
    judge,
};

/// Flows of which the router saw one direction only: from states, and from packets that belong to no state.
fn one_sided(facts: &Facts) -> Vec<(IpAddr, IpAddr, String)> {
    let of = &facts.perimeter;
    let states = of.states.iter().flat_map(|all| all.iter().map(move |s| (s, all.file.to_string())));
    let states = states.filter_map(|(state, file)| {
        let silent = matches!(state.packets, Some((there, 0)) if there > 0) && state.direction == "in";
        let opening = state.protocol != "tcp" || state.state.contains("SYN_SENT");
        Some((state.source.filter(|_| silent && opening)?, state.destination?, file))
    });
    let drops = of.log.iter().flat_map(|all| all.iter().map(move |d| (d, all.file.to_string())));
    let drops = drops.filter_map(|(drop, file)| {
        // The first packet of a connection has S and nothing else.
        let later = !drop.flags.is_empty() && drop.flags != "S";
        Some((drop.source.filter(|_| later)?, drop.destination?, file))
    });
    states.chain(drops).collect()
}

/// The route to `destination` whose next hop sits where `source` does.
fn same_side<'a>(
    (routes, gateways): (&'a [Route], &[Gateway]),
    interfaces: &'a [Interface],
    source: IpAddr,
    destination: IpAddr,
) -> Option<(&'a Route, IpAddr, &'a Interface)> {
    let to = routes.iter().filter(|r| r.enabled && r.network.contains(&destination));
    let route = to.max_by_key(|r| r.network.prefix_len())?;
    let via = route.via.or_else(|| gateways.iter().find(|gateway| gateway.name == route.gateway)?.address)?;
    let interface = interface_of(interfaces, source)?;
    let same = interface.net.is_some_and(|net| net.contains(&via));
    (same && via != source).then_some((route, via, interface))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let flows = one_sided(facts);
    if flows.is_empty() {
        return;
    }
    let Some(routes) = &facts.perimeter.routes else {
        out.unknown("the static routes of the router", facts.calls.why(Api::Opnsense, ROUTES));
        return;
    };
    let Some(interfaces) = interfaces(facts, out) else { return };
    let gateways = facts.perimeter.gateways.as_ref().map_or(&[][..], |all| all.value.as_slice());
    for (source, destination, file) in flows {
        let Some((route, via, interface)) = same_side((routes, gateways), interfaces, source, destination) else {
            continue;
        };
        let mut finding = out
            .finding(
                Subject::new("name", source.to_string()),
                format!(
                    "{source} and the next hop {via} share {}: answers go round the router.",
                    interface.description
                ),
            )
            .fact("path.interface", source.to_string(), &interface.description)
            .fact("path.interface", via.to_string(), &interface.description)
            .fact("path.directions-seen", source.to_string(), "one")
            .affects([source.to_string(), route.network.to_string()])
            .resting_on(&file)
            .from(routes);
        if let Some(all) = &facts.perimeter.interfaces {
            finding = finding.from(all);
        }
        let finding = finding
            .next(
                "add-host-route",
                1,
                format!("give {source} a route to {} by way of {via}: one host at a time", route.network),
            )
            .next(
                "separate-transfer-net",
                3,
                "or move the next hop to a transfer network of its own: clean, and a change of addresses",
            )
            .next(
                "bypass-same-interface",
                3,
                "or let the router pass traffic between hosts of one interface: it stops filtering there",
            );
        out.found(finding);
    }
}
