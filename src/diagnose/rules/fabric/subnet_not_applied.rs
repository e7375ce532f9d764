//! No address is free in a subnet that is not in force yet.

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Failure;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "subnet-not-applied",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A guest could not be made since no address was free in its zone, and the zone's subnet waits to be applied: until \
           then it has no addresses to give. That no address of the zone is in use tells it from a range that is full.",
    reads: "the refusal, subnets with what waits, the addresses that are given out",
    unlike: &[("sdn-pending", "something waits, and nobody needed it yet")],
    explains: &["sdn-pending"],
    judge,
};

/// The zone in `… can't find any free ip in zone NAME for IPv4`.
fn starved(failure: Option<&Failure>) -> Option<String> {
    let words = failure?.words();
    let (_, rest) = words.split_once("can't find any free ip in zone ")?;
    Some(rest.split_whitespace().next()?.to_owned())
}

/// How many addresses of `zone` are in use in all IPAMs that were read; else why that is not known.
fn in_use(facts: &Facts, zone: &str) -> Result<usize, Option<String>> {
    let all = facts.sdn.leases.values();
    let used = all.clone().filter_map(|leases| leases.by_zone.get(zone)).sum();
    if facts.sdn.leases.is_empty() {
        return Err(facts.calls.why(Api::Proxmox, "cluster/sdn/ipams/*/status"));
    }
    if used == 0 && all.clone().any(|leases| leases.nobodys > 0) {
        return Err(Some("some of them are told without their zone".to_owned()));
    }
    Ok(used)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for call in facts.calls.of(Api::Proxmox).filter(|call| call.writes()) {
        let Some(zone) = starved(call.failure.as_ref()) else { continue };
        // A subnet's id begins with its zone.
        let own = |id: &str| id.strip_prefix(zone.as_str()).is_some_and(|rest| rest.starts_with('-'));
        let waits: Vec<_> =
            facts.sdn.pending.iter().filter(|one| one.kind == "subnet" && one.state == "new" && own(&one.id)).collect();
        if waits.is_empty() {
            let why = facts.calls.why(Api::Proxmox, "cluster/sdn/vnets/*/subnets");
            out.unknown_of(
                [Subject::new("zone", &zone)],
                format!("whether the subnets of zone {zone} are in force, or their range is full"),
                why,
            );
            continue;
        }
        let used = match in_use(facts, &zone) {
            Ok(0) => 0,
            Ok(used) => {
                let what = format!("whether the range of zone {zone} is full, or its subnet waits to be applied");
                out.unknown_of(
                    [Subject::new("zone", &zone)],
                    what,
                    Some(format!("{used} of its addresses are in use")),
                );
                continue;
            }
            Err(why) => {
                out.unknown_of(
                    [Subject::new("zone", &zone)],
                    format!("which addresses of zone {zone} are in use"),
                    why,
                );
                continue;
            }
        };
        let title = format!("Zone {zone} has no address to give: its subnet waits to be applied.");
        let mut finding = out.finding(Subject::new("zone", &zone), title).affects([&zone]).resting_on(&call.file).next(
            "apply-then-retry",
            3,
            "apply SDN, look that the subnet is in force, then ask for the guest again",
        );
        for one in &waits {
            finding = finding.fact("subnet.state", &one.id, &one.state).from(*one);
        }
        finding = finding.fact("addresses.in-use", &zone, used);
        out.found(facts.sdn.leases.values().fold(finding, |finding, leases| finding.from(leases)));
    }
}
