//! A zone that another tenant's key may update.

use super::super::{Out, Rule};
use super::tried_keys;
use crate::backends::powerdns::Name;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "tsig-foreign",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A tenant's zone lists the key of another tenant, who can write into it. Keys and zones of one tenant carry the \
           same label; the key's own zone stands beside this one. With `--keys` each tenant's key is tried on every other \
           tenant's zones by an update that can change nothing: only a signed refusal, by a zone that lets its own key in \
           and whose serial stands, shows that a key is kept out.",
    reads: "the metadata of the zones of one parent, names of TSIG keys; what keys came to where they were tried",
    unlike: &[("tsig-unbound", "the zone lists no key at all"), ("update-refused", "updates do not get in")],
    explains: &[],
    judge,
};

/// Label and parent of a zone.
fn parts(zone: &Name) -> Option<(&str, &str)> {
    zone.as_str().split_once('.').filter(|(_, parent)| !parent.ends_with("arpa"))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    tried_keys::foreign(facts, out);
    let of = &facts.powerdns;
    let zones: Vec<&Name> = of.zones.iter().map(|head| &head.name).chain(of.metadata.iter().map(|m| &m.zone)).collect();
    for meta in &of.metadata {
        let Some((label, parent)) = parts(&meta.zone) else { continue };
        let beside =
            |key: &Name| key.as_str() != label && zones.iter().any(|zone| parts(zone) == Some((key.as_str(), parent)));
        let (foreign, own): (Vec<Name>, Vec<Name>) = meta.update_keys().into_iter().partition(beside);
        let name = meta.zone.as_str();
        if foreign.is_empty() {
            // Where keys were to be tried, what they came to is the word.
            if !own.is_empty() && facts.keys.is_none() {
                out.pass(Subject::new("name", name));
            }
            continue;
        }
        let shown: Vec<&str> = foreign.iter().map(Name::as_str).collect();
        let mut finding = out
            .finding(Subject::new("name", name), format!("{name} may be updated with the key of {}.", shown.join(", ")))
            .affects([name])
            .from(meta)
            .next("bind-tsig-key", 2, format!("list {label}'s own key alone in TSIG-ALLOW-DNSUPDATE of {name}"));
        for key in shown {
            finding = finding.fact("update.key-foreign", name, key);
        }
        out.found(finding);
    }
}
