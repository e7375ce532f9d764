//! A tenant with a name that the site serves itself.

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-name-reserved",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A tenant has a name that the site keeps for itself. The resolver forwards the whole subtree of a tenant's name to the \
           tenants' server, so the platform's own name of that label is no longer answered.",
    reads: "zones, the site file's reserved names",
    unlike: &[("vnet-name-clash", "the name is free, and another tenant begins alike")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some((site, plan)), Some(zones)) = (plan::plan(facts), facts.sdn.zones_in_force()) else { return };
    for zone in zones.iter().filter(|zone| plan.reserved_names.contains(&zone.zone)) {
        let name = format!("{}.{}", zone.zone, site.value.domain);
        let finding = out
            .finding(
                Subject::new("zone", &zone.zone),
                format!("Tenant {} has a name that the site keeps: it hides {name}.", zone.zone),
            )
            .fact("zone.name", &zone.zone, "reserved")
            .affects([&zone.zone])
            .from(zones)
            .from(site)
            .next("rename-tenant", 3, format!("rename tenant {}", zone.zone));
        out.found(finding);
    }
}
