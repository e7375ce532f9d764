//! Routes of a VRF that stand in `frr.conf.local` are not in what FRR was given.

use super::super::exits::exits;
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "frr-local-not-merged",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "frr.conf.local holds statements of a tenant's VRF that FRR's configuration does not: they are merged by the next SDN \
           apply and not before.",
    reads: "frr.conf.local, frr.conf or the running configuration of exit nodes",
    unlike: &[("frr-handwritten-lost", "frr.conf.local does not hold it either")],
    explains: &["vrf-default-missing", "vrf-default-wrong-gateway", "management-leak"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(local) = exit.node.frr_configs.get("frr.conf.local") else { continue };
        // The file is written first; what runs may lag behind it, and is another fault's business.
        let Some(merged) = exit.node.frr_configs.get("frr.conf").or_else(|| exit.node.frr_configs.get("running"))
        else {
            exit.unknown(out, "frr.conf", "frr.conf");
            continue;
        };
        let lines = |tenant: &crate::diagnose::rules::exits::Tenant<'_>| -> Vec<String> {
            let own = merged.vrfs.get(&tenant.vrf);
            let asked = local.vrfs.get(&tenant.vrf).into_iter().flatten();
            asked.filter(|line| !own.is_some_and(|own| own.contains(line))).cloned().collect()
        };
        let hits: Vec<_> = exit.tenants.iter().filter(|tenant| !lines(tenant).is_empty()).collect();
        if hits.is_empty() {
            out.pass(exit.subject());
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let title = format!("frr.conf.local of {} holds routes of {who} that FRR was not given.", exit.name);
            let mut finding = out.finding(subject, title).from(local).from(merged);
            for tenant in tenants {
                for line in lines(tenant) {
                    finding = finding.fact("frr.conf.lacks", exit.at(tenant.zone), line);
                }
            }
            finding.next("apply-sdn", 3, "look at the dry run, then apply SDN: it merges frr.conf.local")
        });
    }
}
