//! A null route between two tenants is gone: the packet leaves by the default and may come back.

use std::collections::BTreeMap;

use super::super::exits::{Tenant, exits, in_all};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};
use crate::text::some_of;

/// The rule.
pub static RULE: Rule = Rule {
    id: "hairpin-leak",
    layer: Layer::Isolation,
    severity: Severity::Warning,
    says: "A tenant's VRF has no null route for another tenant's subnet, so its packets leave by the default route and would come \
           back by the perimeter's route to the tenants: of two barriers the perimeter alone is left.",
    reads: "routes of VRFs on exit nodes, subnets of all zones",
    unlike: &[("inter-tenant-leak", "the VRF itself delivers to the other tenant")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let mut open: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for from in &exit.tenants {
            let Some(routes) = exit.node.tables.get(&from.vrf) else { continue };
            // Without a default of its own the packet goes another way, which other rules judge.
            if !matches!(exit.node.default_of(&from.vrf), Some(Some(_))) {
                continue;
            }
            let barred = |to: &Tenant<'_>| {
                let covered = |net| routes.iter().any(|r| r.dst.prefix_len() > 0 && r.dst.contains(net));
                to.subnets.iter().all(|(_, net)| covered(net))
            };
            // What comes back for a zone that the node has not realised finds no way in.
            let there = |to: &&Tenant<'_>| to.zone != from.zone && exit.realised(to) != Some(false);
            for to in exit.tenants.iter().filter(there).filter(|to| !barred(to)) {
                open.entry(from.zone).or_default().push(to.zone);
            }
        }
        let hits: Vec<&Tenant<'_>> = exit.tenants.iter().filter(|tenant| open.contains_key(tenant.zone)).collect();
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let all: Vec<&str> = tenants.iter().map(|tenant| tenant.zone).collect();
            let of_tenants = open.iter().filter(|(from, _)| all.contains(from));
            let pairs: Vec<(&str, &str)> =
                of_tenants.flat_map(|(from, to)| to.iter().map(move |to| (*from, *to))).collect();
            let which = match in_all(&pairs) {
                Some(one) if all.len() > 1 => format!("tenant {one} and {} others apart", all.len().saturating_sub(1)),
                _ if all.len() > 1 => format!("tenants {} from other tenants", some_of(&all)),
                _ => format!("{who} from other tenants"),
            };
            let title = format!("On {} no null route keeps {which}: the perimeter alone does.", exit.name);
            let mut finding = out.finding(subject, title);
            for tenant in tenants {
                let others = open.get(tenant.zone).map_or(0, Vec::len);
                let first = open.get(tenant.zone).and_then(|to| to.first()).copied().unwrap_or_default();
                let value = if others == 1 {
                    first.to_owned()
                } else {
                    format!("{first} and {} more", others.saturating_sub(1))
                };
                finding = finding.fact("vrf.no-null-route", exit.at(tenant.zone), value);
                if let Some(routes) = exit.node.tables.get(&tenant.vrf) {
                    finding = finding.from(routes);
                }
            }
            finding
                .next(
                    "restore-null-routes",
                    2,
                    "apply SDN, which writes the null routes again, then read the VRFs again",
                )
                .not_tested("whether the perimeter drops it; traffic from a workload")
        });
    }
}
