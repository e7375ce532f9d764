//! SNAT for a subnet that has no gateway.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::text;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "snat-without-gateway",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A subnet asks for SNAT and has no gateway. The platform writes the translation rule, but gives the VNet's bridge no \
           address and does not let it forward: guests have nothing to send to, and the rule never counts.",
    reads: "subnets in full, zones",
    unlike: &[
        ("gateway-off-plan", "there is a gateway, and it is another than workloads are given"),
        ("tenant-forwarding-off", "the gateway is there, and its bridge does not forward"),
    ],
    explains: &["gateway-off-plan", "tenant-forwarding-off"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (list, subnet) in facts.sdn.subnets_in_force().filter(|(_, subnet)| subnet.snat) {
        let shown = subnet.cidr.to_string();
        let fields = &subnet.fields;
        if text(fields, "gateway").is_some_and(|gateway| !gateway.is_empty()) {
            out.pass(Subject::new("subnet", &shown));
            continue;
        }
        // A row that lacks what every row of the platform has was shortened, and so may be its gateway.
        if !fields.contains_key("type") || !(fields.contains_key("subnet") || fields.contains_key("id")) {
            continue;
        }
        // What waits is below `pending`; sdn-pending tells it.
        if fields.get("pending").is_some_and(|waiting| waiting.get("gateway").is_some()) {
            continue;
        }
        let zones = facts.sdn.zones_in_force();
        if zones.is_some_and(|zones| zones.iter().any(|z| z.zone == subnet.zone && z.kind != "evpn")) {
            continue;
        }
        let finding = out
            .finding(
                Subject::new("subnet", &shown),
                format!("{shown} of zone {} asks for SNAT and has no gateway.", subnet.zone),
            )
            .fact("subnet.gateway", &shown, "none")
            .fact("subnet.snat", &shown, "on")
            .affects([&subnet.zone])
            .from(list)
            .next("set-gateway", 2, format!("give {shown} its gateway, look at the dry run, apply"));
        out.found(finding);
    }
}
