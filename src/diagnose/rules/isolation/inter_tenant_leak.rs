//! One tenant reaches another's subnet on the exit node.

use std::collections::BTreeSet;

use super::super::exits::{Exit, Tenant, exits, in_all};
use super::super::{Out, Rule};
use crate::backends::exit_node::model::{Lookup, RouteKind};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::text::some_of;

/// The rule.
pub static RULE: Rule = Rule {
    id: "inter-tenant-leak",
    layer: Layer::Isolation,
    severity: Severity::Fault,
    says: "A tenant's VRF on the exit node delivers to another tenant's subnet, where a null route has to drop it. In one \
           direction alone no connection works, but packets cross.",
    reads: "routes of VRFs, lookups from one tenant to another, subnets of all zones",
    unlike: &[("tenants-share-vrf", "both are in one zone"), ("tenant-isolated", "the null route is there")],
    explains: &["packet-leak"],
    judge,
};

/// Most pairs that are told one by one.
const FEW: usize = 3;

/// A fact: key, subject, value, file.
type Sign = (&'static str, String, String, Sourced<()>);

/// The signs that `from` reaches `to`.
fn signs(exit: &Exit<'_>, from: &Tenant<'_>, to: &Tenant<'_>) -> Vec<Sign> {
    let mut found = Vec::new();
    if let Some(routes) = exit.node.tables.get(&from.vrf) {
        for (_, net) in &to.subnets {
            // The most specific route for the subnet decides.
            let of = routes.iter().filter(|r| r.dst.prefix_len() > 0 && r.dst.contains(net));
            let Some(best) = of.max_by_key(|r| r.dst.prefix_len()) else { continue };
            if best.kind == RouteKind::Unicast {
                let value = format!("by {}", best.dev.as_deref().unwrap_or("?"));
                let file = Sourced { value: (), file: routes.file.clone() };
                found.push(("vrf.route", format!("{} to {net}", from.zone), value, file));
            }
        }
    }
    for asked in &exit.node.lookups {
        let ours = asked.from.is_some_and(|ip| from.has(ip)) && to.has(asked.dst);
        let iif = asked.iif.as_deref().is_some_and(|iif| from.has_device(iif));
        if let (true, Lookup::Route { dev, .. }) = (ours && iif, &asked.answer)
            && to.has_device(dev)
        {
            let file = Sourced { value: (), file: asked.file.clone() };
            found.push(("lookup.leaves", format!("{} to {}", from.zone, asked.dst), format!("by {dev}"), file));
        }
    }
    found
}

/// Whether it was looked at all whether `from` reaches `to`.
fn looked(exit: &Exit<'_>, from: &Tenant<'_>, to: &Tenant<'_>) -> bool {
    let asked = exit.node.lookups.iter().any(|a| a.from.is_some_and(|ip| from.has(ip)) && to.has(a.dst));
    (exit.node.tables.contains_key(&from.vrf) && !to.subnets.is_empty()) || asked
}

/// A pair of tenants and the signs that one reaches the other.
struct Leak<'e, 'a> {
    from: &'e Tenant<'a>,
    to: &'e Tenant<'a>,
    one_way: bool,
    signs: Vec<Sign>,
}

fn leaks<'e, 'a>(exit: &'e Exit<'a>, out: &mut Out<'_>) -> Vec<Leak<'e, 'a>> {
    let mut found = Vec::new();
    for from in &exit.tenants {
        for to in exit.tenants.iter().filter(|to| to.zone != from.zone && looked(exit, from, to)) {
            let there = signs(exit, from, to);
            if there.is_empty() {
                out.pass(Subject::new("zone", from.zone));
                continue;
            }
            let back = signs(exit, to, from);
            // Both directions are one leak, of the first of the two.
            if back.is_empty() || from.zone < to.zone {
                let one_way = back.is_empty();
                found.push(Leak { from, to, one_way, signs: there.into_iter().chain(back).collect() });
            }
        }
    }
    found
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let leaks = leaks(&exit, out);
        if leaks.len() > FEW {
            let finding = everywhere(&exit, &leaks, out);
            out.found(finding);
            continue;
        }
        for leak in leaks {
            let finding = finding(&exit, leak.from, leak.to, leak.one_way, out);
            out.found(with_signs(finding, leak.signs));
        }
    }
}

fn with_signs(finding: Finding, signs: Vec<Sign>) -> Finding {
    signs
        .into_iter()
        .fold(finding, |finding, (key, subject, value, file)| finding.fact(key, subject, value).from(&file))
}

/// More than a few pairs are one fault of the node.
fn everywhere(exit: &Exit<'_>, leaks: &[Leak<'_, '_>], out: &Out<'_>) -> Finding {
    let who: BTreeSet<&str> = leaks.iter().flat_map(|leak| [leak.from.zone, leak.to.zone]).collect();
    let pairs: Vec<(&str, &str)> = leaks.iter().map(|leak| (leak.from.zone, leak.to.zone)).collect();
    let title = match in_all(&pairs) {
        Some(one) if leaks.iter().all(|leak| !leak.one_way) => {
            format!("Tenant {one} and each of {} other tenants reach each other on {}.", leaks.len(), exit.name)
        }
        Some(one) => format!("Packets cross between tenant {one} and {} other tenants on {}.", leaks.len(), exit.name),
        None => {
            let names = some_of(&who.iter().copied().collect::<Vec<_>>());
            format!("{} pairs of tenants reach each other on {}: {names}.", leaks.len(), exit.name)
        }
    };
    let signs = leaks.iter().take(FEW).flat_map(|leak| leak.signs.clone()).collect();
    let finding = out.finding(exit.subject(), title).fact("leak.pairs", exit.name, leaks.len()).affects(who);
    with_signs(finding, signs)
        .next("find-route", 0, format!("find who changed the routes of the VRFs on {}", exit.name))
        .command("ip route show table all")
        .next("restore-null-routes", 2, "take them out; an SDN apply writes the null routes again")
}

fn finding(exit: &Exit<'_>, from: &Tenant<'_>, to: &Tenant<'_>, one_way: bool, out: &Out<'_>) -> Finding {
    let title = if one_way {
        format!("Packets of tenant {} reach tenant {} on {}, in this direction alone.", from.zone, to.zone, exit.name)
    } else {
        format!("Tenants {} and {} reach each other on {}.", from.zone, to.zone, exit.name)
    };
    out.finding(Subject::new("zone", from.zone), title)
        .affects([from.zone, to.zone])
        .next("find-route", 0, format!("find who put the route into vrf_{} on {}", from.zone, exit.name))
        .command(format!("ip route show vrf vrf_{}", from.zone))
        .next("restore-null-routes", 2, "take it out; an SDN apply writes the null routes again")
}
