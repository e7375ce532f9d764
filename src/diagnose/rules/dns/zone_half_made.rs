//! A zone that a refused request left behind.

use super::super::{Out, Rule};
use super::written::{makes_zone, of_another, zone_named};
use crate::backends::powerdns::{Name, Refusal};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Failure;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-half-made",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A request to make a zone with its records was refused for one of them, and the zone is there all the same, without \
           them, and no other account has it. The next try is refused since it exists: it is one's own half.",
    reads: "the refusal with what was sent, the zone as it is and its account",
    unlike: &[("zone-of-another", "the zone was there before, and another account has it")],
    explains: &["zone-of-another", "apex-broken"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for call in makes_zone(facts, 422) {
        let Some(name) = zone_named(call) else {
            out.unknown("the zone that a refused request was to make", None);
            continue;
        };
        let zone = name.as_str().trim_end_matches('.');
        let head = facts.powerdns.head(&name).filter(|head| head.rrsets.is_some() && head.whole);
        let Some(head) = head else {
            let why = facts.calls.why(Api::PowerDns, "servers/*/zones/*");
            out.unknown_of(
                [Subject::new("name", zone)],
                format!("whether the refused request left {zone} behind"),
                why,
            );
            continue;
        };
        // Somebody made it since: it is nobody's half, and not one's own to remove.
        if of_another(head) {
            continue;
        }
        let there: Vec<&str> = head.rrsets.iter().flatten().map(|(_, kind, _)| kind.as_str()).collect();
        let asked = call.rrsets();
        let missing = asked.iter().filter(|(name, kind, _)| {
            !head.rrsets.iter().flatten().any(|(own, other, _)| own == &Name::new(name) && other == kind)
        });
        let missing: Vec<String> = missing.map(|(name, kind, _)| format!("{name} {kind}")).collect();
        if missing.is_empty() && there.contains(&"NS") {
            continue;
        }
        let holds = if there == ["SOA"] { "SOA alone".to_owned() } else { there.join(", ") };
        let title = format!("{zone} was made by a request that was refused, and holds {holds}.");
        let mut finding = out
            .finding(Subject::new("name", zone), title)
            .fact("zone.holds", zone, &holds)
            .affects([zone])
            .resting_on(&call.file)
            .from(head)
            .next("complete-zone", 2, format!("complete {zone}: name servers, records"))
            .next("remove-zone", 3, format!("or remove {zone} and make it anew"));
        for missing in &missing {
            finding = finding.fact("record.missing", missing, "was refused");
        }
        if let Some(Failure::Status { text, .. }) = &call.failure
            && let Some(Refusal::Content { name, kind, content }) = Refusal::of(text)
        {
            finding = finding.fact("record.refused", format!("{name} {kind}"), content);
        }
        for again in makes_zone(facts, 409).filter(|again| zone_named(again).as_ref() == Some(&name)) {
            finding = finding.fact("zone.second-try", zone, "refused: it exists").resting_on(&again.file);
        }
        out.found(finding);
    }
}
