//! A route for a network that no tenant has.

use ipnet::IpNet;

use super::super::{Out, Rule};
use super::tenants;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "route-left-over",
    layer: Layer::Perimeter,
    severity: Severity::Warning,
    says: "The router has a route to a part of the tenants' block that belongs to no tenant any more. Packets to it go round \
           between router and exit node until their time is over; the next tenant who gets the network inherits the route.",
    reads: "static routes, the site file, the list of tenants where it is whole",
    unlike: &[("route-per-tenant", "the network is a tenant's, or it cannot be said whose it is")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(site), Some(routes)) = (&facts.site, &facts.perimeter.routes) else { return };
    let overlay = IpNet::from(site.value.numbering.overlay);
    for route in routes.iter() {
        let net = route.network.trunc();
        if !overlay.contains(&net) || net == overlay {
            continue;
        }
        match tenants::whole(facts) {
            Ok(all) if all.have(&net) => {}
            Ok(_) => {
                let finding = out
                    .finding(
                        Subject::new("subnet", net.to_string()),
                        format!("The router routes {net}, which no tenant has."),
                    )
                    .fact("route.gateway", net.to_string(), &route.gateway)
                    .affects([net.to_string()])
                    .from(routes)
                    .from(site)
                    .next("remove-route", 2, format!("remove the route of {net}"));
                out.found(finding);
            }
            Err((missing, why)) => out.unknown(missing, why),
        }
    }
}
