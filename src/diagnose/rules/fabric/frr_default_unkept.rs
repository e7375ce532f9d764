//! A tenant's default stands in `frr.conf` and not in `frr.conf.local`.

use super::super::exits::{Exit, exits};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Config;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "frr-default-unkept",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A static route of a tenant's VRF stands in frr.conf, which the platform writes anew, and not in frr.conf.local, which it \
           merges; the platform itself writes null routes and local routes alone. The tenant has its default until the next \
           SDN apply, by whomever, and loses it then.",
    reads: "frr.conf and frr.conf.local of exit nodes",
    unlike: &[
        ("frr-local-not-merged", "frr.conf.local holds it and frr.conf does not"),
        ("frr-local-contested", "the default is gone already"),
        ("frr-apply-erases", "the dry run shows what else is lost"),
    ],
    explains: &[],
    judge,
};

/// Static routes that the platform's generator never writes into a VRF: those with a next hop.
pub(super) fn by_hand(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("ip route ").or_else(|| line.strip_prefix("ipv6 route ")) else { return false };
    let mut words = rest.split_whitespace().skip(1);
    let to = words.next().unwrap_or_default();
    !["null0", "Null0", "blackhole", "reject", "10.255.255.2"].contains(&to) && !to.starts_with("xvrf")
}

/// The remark at the head of the file, by which its writer is told.
fn mark(config: &Config) -> Option<&str> {
    let first = config.text.lines().find(|line| !line.trim().is_empty())?;
    first.trim().strip_prefix('!').map(str::trim).filter(|words| !words.is_empty())
}

/// Routes of `tenant` that the next apply takes away; empty where a file of the two was not read.
fn unkept<'e>(exit: &'e Exit<'_>, vrf: &str) -> Vec<&'e String> {
    let configs = &exit.node.frr_configs;
    let (Some(written), Some(local)) = (configs.get("frr.conf"), configs.get("frr.conf.local")) else {
        return Vec::new();
    };
    let kept = local.vrfs.get(vrf);
    let own = written.vrfs.get(vrf).into_iter().flatten().filter(|line| by_hand(line));
    own.filter(|line| !kept.is_some_and(|kept| kept.contains(line))).collect()
}

/// What this rule says of `node`, line by line: another rule need not say it again.
pub(super) fn told(facts: &Facts, node: &str) -> Vec<String> {
    let exits = exits(facts);
    let of = exits.iter().filter(|exit| exit.name == node);
    of.flat_map(|exit| exit.tenants.iter().flat_map(|tenant| unkept(exit, &tenant.vrf))).cloned().collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let configs = &exit.node.frr_configs;
        let Some(written) = configs.get("frr.conf") else { continue };
        let Some(local) = configs.get("frr.conf.local") else {
            // A file that is not there holds nothing; one that could not be read may.
            if exit.tenants.iter().any(|t| written.vrfs.get(&t.vrf).is_some_and(|l| l.iter().any(|l| by_hand(l)))) {
                exit.unknown(out, "frr.conf.local", "frr.conf.local");
            }
            continue;
        };
        let hits: Vec<_> = exit.tenants.iter().filter(|tenant| !unkept(&exit, &tenant.vrf).is_empty()).collect();
        if hits.is_empty() {
            out.pass(exit.subject());
        }
        exit.spread(out, &hits, |out, subject, who, tenants| {
            let title =
                format!("The next SDN apply takes routes of {who} away: frr.conf.local of {} lacks them.", exit.name);
            let mut finding = out.finding(subject, title).from(written).from(local);
            if let Some(mark) = mark(local) {
                finding = finding.fact("frr.conf.local.mark", exit.name, mark);
            }
            for tenant in tenants {
                for line in unkept(&exit, &tenant.vrf) {
                    finding = finding.fact("frr.conf.local.lacks", exit.at(tenant.zone), line);
                }
            }
            let tell = "let whoever keeps frr.conf.local know the tenant, before anything is applied";
            finding
                .next("tell-the-writer", 1, tell)
                .next("look-at-file", 0, format!("look at the file on {}", exit.name))
                .command("cat /etc/frr/frr.conf.local")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_platform_never_writes() {
        assert!(by_hand("ip route 0.0.0.0/0 192.0.2.1 nexthop-vrf default"));
        assert!(by_hand("ip route 198.51.100.0/24 192.0.2.9"));
        assert!(!by_hand("ip route 192.0.2.0/24 null0"));
        assert!(!by_hand("ip route 192.0.2.0/24 10.255.255.2 xvrf_a"));
        assert!(!by_hand("vni 10001"));
    }
}
