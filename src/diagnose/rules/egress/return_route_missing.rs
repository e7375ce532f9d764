//! The main table of the exit node lacks a tenant's subnet: answers have no way in.

use ipnet::Ipv4Net;

use super::super::exits::{Exit, Tenant, exits};
use super::super::{Out, Rule};
use crate::backends::exit_node::model::{Lookup, RouteKind};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::MAIN;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "return-route-missing",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "Answers are routed by the main table of the exit node, which has to know the tenant's subnet (imported from the VRF \
           by BGP; its device is the VNet with FRR 8 and the VRF with FRR 10). Without it they bounce back to the gateway.",
    reads: "the main table, lookups of an answer on its way in, the subnets",
    unlike: &[("transit-forwarding-off", "the route is there and forwarding is off on the transit interface")],
    explains: &[],
    judge,
};

fn has_route(exit: &Exit<'_>, net: &Ipv4Net) -> Option<bool> {
    let routes = exit.node.tables.get(MAIN)?;
    Some(routes.iter().any(|r| r.kind == RouteKind::Unicast && r.dst.prefix_len() > 0 && r.dst.contains(net)))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(main) = exit.node.tables.get(MAIN) else {
            exit.unknown(out, "the main table", "route");
            continue;
        };
        let lacks = |tenant: &&Tenant<'_>| tenant.subnets.iter().any(|(_, net)| has_route(&exit, net) == Some(false));
        let hits: Vec<&Tenant<'_>> = exit.tenants.iter().filter(lacks).collect();
        for tenant in exit.tenants.iter().filter(|tenant| !lacks(tenant) && !tenant.subnets.is_empty()) {
            out.pass(Subject::new("zone", tenant.zone));
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let title = format!("{} has no route back to {who}: answers bounce.", exit.name);
            let mut finding = out.finding(subject, title).from(main);
            for tenant in tenants {
                for (_, net) in tenant.subnets.iter().filter(|(_, net)| has_route(&exit, net) == Some(false)) {
                    finding = finding.fact("main.route", exit.at(net), "none");
                }
                let back = exit
                    .node
                    .lookups
                    .iter()
                    .filter(|asked| tenant.has(asked.dst) && asked.iif.as_deref() == exit.transit());
                for asked in back {
                    if let Lookup::Route { dev, gateway: Some(gateway), .. } = &asked.answer {
                        let to = format!("{} to {}", exit.name, asked.dst);
                        finding = finding.fact("lookup.bounces", to, format!("{gateway} by {dev}")).from(asked);
                    }
                }
            }
            finding
                .next("check-import", 1, "look whether FRR's default BGP instance imports the VRF, and why not")
                .command("vtysh -c 'show running-config'")
        });
    }
}
