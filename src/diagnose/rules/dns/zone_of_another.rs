//! The zone that is to be made is there, and another account has it.

use super::super::{Out, Rule};
use super::written::{makes_zone, of_another, within, zone_named};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::powerdns::Head;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-of-another",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A zone could not be made since it exists, and its account is not the one that its own first label names. It is \
           somebody's: it is not to be adopted, overwritten or removed. What the parent zone holds below it may be in use as well.",
    reads: "the refusal, the zone's account, the parent zone's records",
    unlike: &[("zone-half-made", "an earlier request of one's own left it behind")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for call in makes_zone(facts, 409) {
        let named = zone_named(call);
        // Without what was sent: the zone that was looked at afterwards by itself, or with the one above it.
        let zones = &facts.powerdns.zones;
        let alone = |head: &Head| {
            head.rrsets.is_none() || zones.iter().any(|up| up.name != head.name && within(&head.name, &up.name))
        };
        let read = zones.iter().filter(|head| match &named {
            Some(name) => head.name == *name,
            None => alone(head),
        });
        let Some(head) = read.max_by_key(|head| head.name.as_str().len()) else {
            out.unknown("whose the zone is that exists already", facts.calls.why(Api::PowerDns, "servers/*/zones/*"));
            continue;
        };
        // A try of one's own that was refused before may have left the zone behind, where nobody else's name is on it.
        let tried = makes_zone(facts, 422).any(|before| zone_named(before).is_none_or(|name| name == head.name));
        if tried && !of_another(head) {
            continue;
        }
        let zone = head.name.as_str().trim_end_matches('.');
        let label = zone.split('.').next().unwrap_or_default();
        let Some(account) = &head.account else {
            out.unknown_of([Subject::new("name", zone)], format!("whose {zone} is: it names no account"), None);
            continue;
        };
        if account == label {
            out.pass(Subject::new("name", zone));
            continue;
        }
        let title = format!("{zone} exists, and is of the account {account}, not {label}.");
        let mut finding = out
            .finding(Subject::new("name", zone), title)
            .fact("zone.account", zone, account)
            .fact("zone.account-wanted", zone, label)
            .affects([zone])
            .resting_on(&call.file)
            .from(head)
            .next("stop-and-ask", 0, format!("stop, and ask {account} whose {zone} is"));
        let parents = facts.powerdns.zones.iter().filter(|up| up.name != head.name && within(&head.name, &up.name));
        let mut told = false;
        for parent in parents.filter(|parent| parent.rrsets.is_some()) {
            told = true;
            for (name, kind, values) in parent.rrsets.iter().flatten().filter(|(name, ..)| within(name, &head.name)) {
                let value = format!("{kind} {}", values.join(", "));
                finding = finding.fact("parent.holds", name.as_str().trim_end_matches('.'), value).from(parent);
            }
        }
        if !told {
            out.unknown_of(
                [Subject::new("name", zone)],
                format!("what the zone above {zone} holds below that name"),
                None,
            );
        }
        out.found(finding);
    }
}
