//! Local routing of exit nodes changes the way back, and strict reverse-path filtering sits on it.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::{MAIN, Node};
use crate::diagnose::facts::sdn::text;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "exit-local-routing",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "With local routing of exit nodes the main table reaches a tenant by a pair of virtual interfaces and a static \
           route, instead of importing the VRF. Answers then take another interface than before, and strict reverse-path \
           filtering there drops them. The node itself gains access to guests.",
    reads: "the zone's option, the main table, rp_filter of the pair",
    unlike: &[
        ("snat-missing", "the translation rule is not there"),
        ("return-route-missing", "there is no way back at all"),
    ],
    explains: &["rp-filter-strict", "return-route-missing"],
    judge,
};

/// The pair's end in the main table; the other one is `xvrfp_ZONE` (`facts/proxmox.md` §8).
const PREFIX: &str = "xvrf_";

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (name, node) in facts.nodes.iter() {
        for zone in zones_with_pair(node) {
            judge_pair(facts, (name, node), zone, out);
        }
    }
}

/// Zones of which the node shows the pair: among its links, its routes or its settings.
fn zones_with_pair(node: &Node) -> BTreeSet<&str> {
    let links = node.links.iter().flat_map(|links| links.iter()).map(|link| link.name.as_str());
    let main = node.tables.get(MAIN).into_iter().flat_map(|routes| routes.iter());
    let settings = node.rp_filter.iter().flat_map(|set| set.keys()).map(String::as_str);
    let names = links.chain(main.filter_map(|route| route.dev.as_deref())).chain(settings);
    names.filter_map(|name| name.strip_prefix(PREFIX)).collect()
}

fn judge_pair(facts: &Facts, (name, node): (&str, &Node), zone: &str, out: &mut Out<'_>) {
    let dev = format!("{PREFIX}{zone}");
    let zones = facts.sdn.zones_in_force();
    let asked = zones.and_then(|zones| zones.iter().find(|z| z.zone == zone));
    let asked = asked.map(|zone| text(&zone.fields, "exitnodes-local-routing").is_some_and(|on| on == "1"));
    if asked.is_none() {
        out.unknown_of(
            [Subject::new("zone", zone)],
            format!("whether zone {zone} asks for local routing"),
            facts.pve.why("cluster/sdn/zones"),
        );
    }
    let Some(routes) = node.tables.get(MAIN) else {
        out.unknown(format!("the main table of {name}"), node.why_unread("route"));
        return;
    };
    let (Some(filter), Some(set)) = (node.rp_filter_of(&dev), &node.rp_filter) else {
        out.unknown_of(
            [Subject::new("zone", zone)],
            format!("rp_filter of {dev} on {name}"),
            node.why_unread("rp_filter"),
        );
        return;
    };
    let back: Vec<_> = routes.iter().filter(|r| r.dev.as_ref() == Some(&dev) && r.gateway.is_some()).collect();
    if back.is_empty() || filter != 1 || asked == Some(false) {
        return;
    }
    let title =
        format!("Local routing brings answers for zone {zone} on {name} back over {dev}, which filters strictly.");
    let mut finding = out
        .finding(Subject::new("zone", zone), title)
        .fact("rp-filter.effective", format!("{name}/{dev}"), filter)
        .affects([zone, name])
        .from(routes)
        .from(set);
    if let (Some(zones), Some(true)) = (zones, asked) {
        finding = finding.fact("zone.exitnodes-local-routing", zone, "on").from(zones);
    }
    for route in back {
        finding = finding.fact("main.route", format!("{name}/{}", route.dst), format!("by {dev}"));
    }
    let finding = finding
        .next(
            "local-routing-off",
            2,
            format!("turn local routing off for zone {zone}, unless the node itself must reach guests"),
        )
        .next("rp-filter-off", 2, format!("or set rp_filter to 0 or 2 for all and {dev} on {name}"))
        .not_tested("whether the counter of dropped packets rises while a connection fails");
    out.found(finding);
}
