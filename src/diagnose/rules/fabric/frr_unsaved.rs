//! Routes of a VRF run that stand in no file.

use super::super::exits::exits;
use super::super::{Out, Rule};
use super::frr_default_unkept::by_hand;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "frr-unsaved",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "Static routes of a tenant's VRF run in FRR and stand neither in frr.conf nor in frr.conf.local: somebody typed them into \
           its shell. The next restart of FRR, the next boot and the next apply each take them away.",
    reads: "the running configuration, frr.conf and frr.conf.local of exit nodes",
    unlike: &[
        ("frr-default-unkept", "they stand in frr.conf, which survives a boot and no apply"),
        ("frr-local-not-merged", "they stand in frr.conf.local and do not run"),
    ],
    explains: &[],
    judge,
};

/// Destination and next hop: FRR prints the words behind them in another order than they were written.
fn route(line: &str) -> Vec<&str> {
    line.split_whitespace().take(4).collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let configs = &exit.node.frr_configs;
        let (Some(running), Some(written)) = (configs.get("running"), configs.get("frr.conf")) else {
            if configs.contains_key("running") {
                exit.unknown(out, "frr.conf", "frr.conf");
            } else {
                let silent = exit.node.frr_answers.as_ref().is_some_and(|answers| !answers.value);
                let why = silent.then(|| "the daemons of FRR do not answer vtysh".to_owned());
                let unreachable = exit.node.unreachable.as_ref().map(|why| why.value.clone());
                let why = unreachable.or_else(|| exit.node.why_unread("show running-config")).or(why);
                out.unknown(format!("the running configuration of FRR of {}", exit.name), why);
            }
            continue;
        };
        let local = configs.get("frr.conf.local");
        let lines = |vrf: &str| -> Vec<&String> {
            let own = running.vrfs.get(vrf).into_iter().flatten().filter(|line| by_hand(line));
            let stands = |line: &String| {
                let files = [Some(written), local].into_iter().flatten();
                files.filter_map(|file| file.vrfs.get(vrf)).flatten().any(|other| route(other) == route(line))
            };
            own.filter(|line| !stands(line)).collect()
        };
        let hits: Vec<_> = exit.tenants.iter().filter(|tenant| !lines(&tenant.vrf).is_empty()).collect();
        if local.is_none() && !hits.is_empty() {
            // They may stand there.
            exit.unknown(out, "frr.conf.local", "frr.conf.local");
            continue;
        }
        if hits.is_empty() {
            out.pass(exit.subject());
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let title = format!("Routes of {who} run on {} and stand in no file.", exit.name);
            let mut finding = out.finding(subject, title).from(running).from(written);
            if let Some(local) = local {
                finding = finding.from(local);
            }
            for tenant in tenants {
                for line in lines(&tenant.vrf) {
                    finding = finding.fact("frr.unsaved", exit.at(tenant.zone), line);
                }
            }
            finding.next("keep-in-local", 2, "put what is to stay into frr.conf.local, by whoever keeps that file")
        });
    }
}
