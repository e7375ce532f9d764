//! Forwarding is off on a tenant's VNet: its packets never leave the node.

use super::super::exits::{Tenant, exits};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "tenant-forwarding-off",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "Forwarding is off on the VNet's bridge of an exit node, the device by which the tenant's packets come in. The \
           gateway still answers; nothing goes beyond it. Probes from the gateway's address succeed, since they are not \
           forwarded.",
    reads: "forwarding flags, the subnets' VNets",
    unlike: &[("transit-forwarding-off", "all tenants, and packets leave")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(flags) = &exit.node.forwarding else {
            exit.unknown(out, "the forwarding flags", "forwarding");
            continue;
        };
        let off = |tenant: &Tenant<'_>| {
            tenant.subnets.iter().map(|(subnet, _)| &subnet.vnet).find(|vnet| flags.get(*vnet) == Some(&false)).cloned()
        };
        let hits: Vec<&Tenant<'_>> = exit.tenants.iter().filter(|tenant| off(tenant).is_some()).collect();
        let on = |tenant: &&Tenant<'_>| tenant.subnets.iter().any(|(subnet, _)| flags.get(&subnet.vnet) == Some(&true));
        for tenant in exit.tenants.iter().filter(on).filter(|t| off(t).is_none()) {
            out.pass(Subject::new("zone", tenant.zone));
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let title = format!("Forwarding is off on the VNet of {who} on {}: nothing of it goes out.", exit.name);
            let mut finding = out.finding(subject, title).from(flags);
            for vnet in tenants.iter().filter_map(|tenant| off(tenant)) {
                finding = finding
                    .fact("forwarding", exit.at(&vnet), "off")
                    .next(
                        "forwarding-on",
                        2,
                        format!("switch forwarding on for {vnet} of {}, and make it last", exit.name),
                    )
                    .command(format!("sysctl -w net.ipv4.conf.{}.forwarding=1", vnet.replace('.', "/")));
            }
            finding
        });
    }
}
