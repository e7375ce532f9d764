//! A tenant's subnet with another gateway than the first address, or without one.

use ipnet::IpNet;

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::text;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "gateway-off-plan",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A tenant's subnet is the plan's and its gateway is not: another address, or none. Workloads are given the planned \
           gateway when they are made, so they send to an address that no bridge has. A subnet that exists is never \
           corrected by making the tenant again.",
    reads: "subnets of the tenants' zones, the site file's numbering",
    unlike: &[("subnet-off-plan", "the subnet itself is not the tenant's")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some((site, plan)) = plan::plan(facts) else { return };
    let zones = plan::placed(facts, plan);
    for (list, subnet) in facts.sdn.subnets_in_force() {
        let Some((_, index)) = zones.iter().find(|(zone, _)| zone.zone == subnet.zone) else { continue };
        if subnet.cidr.trunc() != IpNet::V4(plan.subnet(*index)) {
            continue;
        }
        let (shown, want) = (subnet.cidr.to_string(), plan.gateway(*index).to_string());
        let has = text(&subnet.fields, "gateway").filter(|gateway| !gateway.is_empty());
        if has.as_ref() == Some(&want) {
            out.pass(Subject::new("subnet", &shown));
            continue;
        }
        let says = has.as_deref().unwrap_or("none");
        let title = format!("The gateway of {shown} is {says}; workloads of zone {} are given {want}.", subnet.zone);
        let finding = out
            .finding(Subject::new("subnet", &shown), title)
            .fact("subnet.gateway", &shown, says)
            .fact("plan.gateway", &shown, &want)
            .affects([&subnet.zone])
            .from(list)
            .from(site)
            .next("set-gateway", 2, format!("set the gateway of {shown} to {want}, look at the dry run, apply"));
        out.found(finding);
    }
}
