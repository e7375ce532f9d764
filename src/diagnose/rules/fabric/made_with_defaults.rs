//! What was made has more values than were sent.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "made-with-defaults",
    layer: Layer::Fabric,
    severity: Severity::Info,
    says: "An object of SDN was made as it was asked for, and the platform added values of its own. Lists come back in another \
           order: they are sets. Nothing is wrong, and nothing is to be done again.",
    reads: "what was sent and accepted, the object as it was read afterwards",
    unlike: &[("sdn-pending", "what waits is somebody else's")],
    explains: &[],
    judge,
};

/// Whether two values are one: lists are sets.
fn same(a: &str, b: &str) -> bool {
    let set = |text: &str| text.split([',', ';']).map(|part| part.trim().to_owned()).collect::<BTreeSet<_>>();
    set(a) == set(b)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for write in facts.sdn.writes.iter().filter(|write| write.method == "POST") {
        let kind = match write.path.rsplit('/').next() {
            Some("zones") => "zone",
            Some("vnets") => "vnet",
            Some("controllers") => "controller",
            _ => continue,
        };
        let Some(id) = write.field(kind) else { continue };
        let Some(object) = facts.sdn.objects.iter().find(|object| object.kind == kind && object.id == id) else {
            let listed = facts.sdn.pending.iter().any(|one| one.kind == kind && one.id == id);
            if !listed {
                out.unknown(format!("whether {kind} {id} is as it was asked for"), None);
            }
            continue;
        };
        let sent: Vec<_> = write.fields.iter().filter(|(key, _)| key != "lock-token").collect();
        let differs = sent.iter().filter(|(key, value)| !object.fields.get(key).is_some_and(|have| same(have, value)));
        let differs: Vec<&str> = differs.map(|(key, _)| key.as_str()).collect();
        if !differs.is_empty() {
            out.unknown(format!("why {} of {kind} {id} is not as it was sent", differs.join(", ")), None);
            continue;
        }
        let added = object.fields.iter().filter(|(key, _)| !sent.iter().any(|(own, _)| own == *key));
        let added: Vec<_> = added.collect();
        if added.is_empty() {
            out.pass(Subject::new(if kind == "controller" { "name" } else { kind }, id));
            continue;
        }
        let keys: Vec<&str> = added.iter().map(|(key, _)| key.as_str()).collect();
        let title = format!("{id} was made as it was asked for; the platform added {}.", keys.join(", "));
        let mut finding = out
            .finding(Subject::new(if kind == "controller" { "name" } else { kind }, id), title)
            .fact("request.in-place", id, format!("all {} values", sent.len()))
            .affects([id])
            .from(write)
            .from(object)
            .next("continue", 0, "go on with the next step");
        for (key, value) in added {
            finding = finding.fact("added.by-platform", format!("{id}/{key}"), value);
        }
        out.found(finding);
    }
}
