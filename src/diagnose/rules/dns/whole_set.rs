//! A value is to be added to a set that has others.

use super::super::{Out, Rule};
use super::written::{held, within};
use crate::backends::powerdns::Name;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::powerdns::Wanted;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "send-whole-set",
    layer: Layer::Dns,
    severity: Severity::Warning,
    says: "A value is asked for beside others of the same name and type. PowerDNS takes a set as a whole: what is sent replaces \
           all that is there, so that the values that are to stay have to be sent again with the new one.",
    reads: "the record that is asked for, and the set as it was read just before",
    unlike: &[("cname-conflict", "the name holds records of another type")],
    explains: &[],
    judge,
};

/// The whole name of what is asked for: in the zone that was read, where it is not whole already.
fn owner(facts: &Facts, wanted: &Wanted) -> Option<Name> {
    let whole = Name::new(&wanted.name);
    let zones = || facts.powerdns.zones.iter().filter(|head| head.rrsets.is_some());
    if zones().any(|head| within(&whole, &head.name)) {
        return Some(whole);
    }
    zones().next().map(|head| Name::new(&format!("{}.{}", wanted.name, head.name.as_str())))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for wanted in &facts.powerdns.wanted {
        let read = owner(facts, wanted).and_then(|name| Some((held(facts, &name, &wanted.kind)?, name)));
        let Some(((head, values), name)) = read else {
            let why = facts.calls.why(Api::PowerDns, "servers/*/zones/*");
            out.unknown_of(
                [Subject::new("name", &wanted.name)],
                format!("what {} holds of type {} already", wanted.name, wanted.kind),
                why,
            );
            continue;
        };
        let name = name.as_str().trim_end_matches('.');
        if values.is_empty() || values.contains(&wanted.content.as_str()) {
            out.pass(Subject::new("name", name));
            continue;
        }
        let set = values.iter().copied().chain([wanted.content.as_str()]).collect::<Vec<_>>().join(", ");
        let title =
            format!("{name} has {} of type {}: the set that is sent has to hold them too.", values.len(), wanted.kind);
        let finding = out
            .finding(Subject::new("name", name), title)
            .fact("set.to-send", format!("{name} {}", wanted.kind), set)
            .fact("set.unchanged", format!("{name} {}", wanted.kind), values.len())
            .affects([name])
            .from(wanted)
            .from(head)
            .next(
                "send-whole-set",
                1,
                format!("+ {}, {} unchanged; read it again right before", wanted.content, values.len()),
            );
        out.found(finding);
    }
}
