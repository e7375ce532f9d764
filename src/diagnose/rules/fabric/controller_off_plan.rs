//! A zone on another controller than the site's, or a controller with another number.

use super::super::{Out, Rule};
use super::plan;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::text;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "controller-off-plan",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "The EVPN controller has another autonomous system than the site, or a zone names another controller. Route targets are \
           made of that number, so two sites with one number, or one fabric with two, mix up or lose routes as soon as a \
           second member joins. With 0 the platform generates nothing at all.",
    reads: "controllers, zones, the site file",
    unlike: &[("controller-no-vtep", "the number is right, and there is nothing to tunnel from")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some((site, plan)), Some(zones)) = (plan::plan(facts), facts.sdn.zones_in_force()) else { return };
    let want = &site.value.proxmox.controller;
    for zone in zones.iter().filter(|zone| zone.kind == "evpn") {
        match text(&zone.fields, "controller") {
            Some(has) if has != *want => {
                let title = format!("Zone {} is on controller {has}, not on the site's {want}.", zone.zone);
                let finding = out
                    .finding(Subject::new("zone", &zone.zone), title)
                    .fact("zone.controller", &zone.zone, has)
                    .affects([&zone.zone])
                    .from(zones)
                    .from(site)
                    .next("set-controller", 2, format!("put zone {} on {want}, look at the dry run, apply", zone.zone));
                out.found(finding);
            }
            Some(_) => out.pass(Subject::new("zone", &zone.zone)),
            None => {}
        }
    }
    let named = zones.iter().any(|zone| zone.kind == "evpn" && zone.fields.contains_key("controller"));
    let Some(controllers) = facts.sdn.controllers_in_force() else {
        if named {
            out.unknown("the controllers", facts.pve.why("cluster/sdn/controllers"));
        }
        return;
    };
    for controller in controllers.iter().filter(|c| c.kind == "evpn") {
        let name = &controller.controller;
        if controller.asn == Some(plan.asn) {
            out.pass(Subject::new("source", name));
            continue;
        }
        let has = controller.asn.map_or_else(|| "none".to_owned(), |asn| asn.to_string());
        let title = format!("Controller {name} has autonomous system {has}, the site {}.", plan.asn);
        let on_it = zones.iter().filter(|zone| text(&zone.fields, "controller").as_ref() == Some(name));
        let finding = out
            .finding(Subject::new("source", name), title)
            .fact("controller.asn", name, has)
            .fact("plan.asn", &site.value.name, plan.asn)
            .affects(on_it.map(|zone| &zone.zone))
            .from(controllers)
            .from(site)
            .next(
                "set-asn",
                3,
                format!("set the number of {name}, look at the dry run, apply: all tenants' routing restarts"),
            );
        out.found(finding);
    }
}
