//! Somebody else keeps `frr.conf.local`, and does not know the tenant.

use super::super::exits::{Tenant, exits};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Config;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "frr-local-contested",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "frr.conf.local carries another writer's mark and lacks a tenant whose VRF has no default route. What is written into \
           it by hand is overwritten: the tenant has to be made known to that writer.",
    reads: "frr.conf.local, routes of the VRF, the site file",
    unlike: &[("frr-local-not-merged", "the file holds the tenant, and FRR was not given it")],
    explains: &["vrf-default-missing", "management-leak"],
    judge,
};

/// The remark at the head of the file, by which its writer is told.
fn mark(config: &Config) -> Option<&str> {
    let first = config.text.lines().find(|line| !line.trim().is_empty())?;
    first.trim().strip_prefix('!').map(str::trim).filter(|words| !words.is_empty())
}

fn knows(config: &Config, tenant: &Tenant<'_>) -> bool {
    config.vrfs.get(&tenant.vrf).is_some_and(|lines| lines.iter().any(|line| line.starts_with("ip route 0.0.0.0/0 ")))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts).iter().filter(|exit| exit.site.is_some()) {
        let Some(local) = exit.node.frr_configs.get("frr.conf.local") else { continue };
        let Some(mark) = mark(local) else { continue };
        let without = |tenant: &&Tenant<'_>| exit.node.default_of(&tenant.vrf) == Some(None) && !knows(local, tenant);
        let hits: Vec<_> = exit.tenants.iter().filter(without).collect();
        if hits.is_empty() {
            out.pass(exit.subject());
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let title = format!("frr.conf.local of {} is kept by somebody else and lacks {who}.", exit.name);
            let mut finding = out.finding(subject, title).fact("frr.conf.local.mark", exit.name, mark).from(local);
            for tenant in tenants {
                finding = finding.fact("frr.conf.local.lacks", exit.at(tenant.zone), "a default route");
            }
            finding
                .next("tell-the-writer", 1, "let the writer of the file know the tenant, and let it write")
                .next("look-at-file", 0, format!("look at the file on {}", exit.name))
                .command("cat /etc/frr/frr.conf.local")
        });
    }
}
