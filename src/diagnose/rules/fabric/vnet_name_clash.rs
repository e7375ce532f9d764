//! Two tenants want one VNet name.

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::site::names::TenantName;

/// The rule.
pub static RULE: Rule = Rule {
    id: "vnet-name-clash",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "VNets are named after the first six letters of their tenant, so two tenants that begin alike want the same name. One \
           of them has it; the other's next VNet, or its rebuild, ends at the network step, after its names, forwards and \
           storage were made.",
    reads: "zones and VNets, the site file",
    unlike: &[("vni-shared", "names differ, and the number is one")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some((site, plan)), Some(zones)) = (plan::plan(facts), facts.sdn.zones_in_force()) else { return };
    let names: Vec<TenantName> =
        plan::placed(facts, plan).iter().filter_map(|(zone, _)| zone.zone.parse().ok()).collect();
    for (n, name) in names.iter().enumerate() {
        let alike: Vec<&TenantName> =
            names.iter().skip(n + 1).filter(|other| other.vnet_prefix() == name.vnet_prefix()).collect();
        for other in alike {
            let stem = name.vnet_prefix();
            let title =
                format!("Tenants {} and {} both want VNets named {stem}0 to {stem}9.", name.as_str(), other.as_str());
            let mut finding = out
                .finding(Subject::new("zone", other.as_str()), title)
                .fact("vnet.stem", name.as_str(), stem)
                .fact("vnet.stem", other.as_str(), stem)
                .affects([name.as_str(), other.as_str()])
                .from(zones)
                .from(site)
                .next("rename-tenant", 3, "rename one of the two before it is built anew");
            let vnets = facts.sdn.vnets_in_force().into_iter().flat_map(|all| all.iter());
            for vnet in vnets.filter(|vnet| vnet.zone == name.as_str() || vnet.zone == other.as_str()) {
                finding = finding.fact("zone.vnet", &vnet.zone, &vnet.vnet);
            }
            out.found(finding);
        }
    }
}
