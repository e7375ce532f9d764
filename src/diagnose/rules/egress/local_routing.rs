//! Local routing of exit nodes changes the way back, and strict reverse-path filtering sits on it.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::MAIN;
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
    let zones = facts.sdn.zones_in_force();
    let asked = |zone: &str| {
        let zone = zones?.iter().find(|z| z.zone == zone)?;
        Some(text(&zone.fields, "exitnodes-local-routing").is_some_and(|on| on == "1"))
    };
    for (name, node) in facts.nodes.iter() {
        let on_pair =
            node.links.iter().flat_map(|links| links.iter()).filter_map(|link| link.name.strip_prefix(PREFIX));
        let routes = node.tables.get(MAIN);
        let by_pair = |zone: &str| {
            let dev = format!("{PREFIX}{zone}");
            routes.map(|routes| {
                routes
                    .iter()
                    .filter(|r| r.dev.as_ref() == Some(&dev) && r.gateway.is_some())
                    .cloned()
                    .collect::<Vec<_>>()
            })
        };
        let mut pairs: Vec<&str> = on_pair.collect();
        let of_routes =
            routes.iter().flat_map(|routes| routes.iter()).filter_map(|r| r.dev.as_deref()?.strip_prefix(PREFIX));
        pairs.extend(of_routes);
        let of_settings = node.rp_filter.iter().flat_map(|set| set.keys()).filter_map(|name| name.strip_prefix(PREFIX));
        pairs.extend(of_settings);
        pairs.sort_unstable();
        pairs.dedup();
        for zone in pairs {
            let dev = format!("{PREFIX}{zone}");
            let Some(back) = by_pair(zone) else {
                out.unknown(format!("the main table of {name}"), node.why_unread("route"));
                continue;
            };
            let Some(filter) = node.rp_filter_of(&dev) else {
                out.unknown(format!("rp_filter of {dev} on {name}"), node.why_unread("rp_filter"));
                continue;
            };
            if asked(zone).is_none() {
                out.unknown(format!("whether zone {zone} asks for local routing"), facts.pve.why("cluster/sdn/zones"));
            }
            if back.is_empty() || filter != 1 || asked(zone) == Some(false) {
                continue;
            }
            let title = format!(
                "Local routing of zone {zone} brings answers on {name} back over {dev}, where reverse-path filtering is strict."
            );
            let mut finding = out
                .finding(Subject::new("zone", zone), title)
                .fact("rp-filter.effective", format!("{name}/{dev}"), filter)
                .affects([zone, name]);
            if let Some(zones) = zones {
                finding = finding.fact("zone.exitnodes-local-routing", zone, "on").from(zones);
            }
            for route in &back {
                finding = finding.fact("main.route", format!("{name}/{}", route.dst), format!("by {dev}"));
            }
            if let Some(routes) = routes {
                finding = finding.from(routes);
            }
            if let Some(set) = &node.rp_filter {
                finding = finding.from(set);
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
    }
}
