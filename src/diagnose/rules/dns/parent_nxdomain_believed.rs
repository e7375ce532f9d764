//! The resolver says that a name does not exist because a zone above it says so, although it has a forward.

use super::super::{Out, Rule};
use super::forward_missing::from_above;
use super::{rows_for, zone_of};
use crate::backends::dns::Rcode;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "parent-nxdomain-believed",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The resolver has an enabled forward for the zone and says all the same that the name does not exist, in the words \
           of a zone further up: it was told once, with a valid signature, that a name in between does not exist, and takes \
           everything below it for gone (`harden-below-nxdomain`, Unbound before 1.25.2). It lasts as long as that answer.",
    reads: "the resolver's answer and its SOA, the authoritative server's answer, the forwards",
    unlike: &[
        ("forward-missing", "there is no forward for the domain"),
        ("forward-disabled", "the forward is switched off"),
        ("negative-cached", "the SOA is of the zone itself, with an older serial"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(forwards) = &facts.perimeter.forwards else { return };
    for reply in facts.dns.resolved().filter(|reply| reply.is(Rcode::NXDOMAIN)) {
        let name = reply.name.as_str();
        let Some((parent, (record, _))) = from_above(facts, reply).zip(reply.soa()) else { continue };
        let Some(source) = facts.dns.at_source(reply).filter(|source| source.has_data()) else { continue };
        let mut rows = rows_for(facts, name).peekable();
        if rows.peek().is_none() || !rows.all(|row| row.enabled && row.kind == "forward") {
            continue;
        }
        let zone = zone_of(facts, name);
        let title = format!("The resolver believes {parent} that nothing is below it, and does not ask for {zone}.");
        let finding = out
            .finding(Subject::new("name", &zone), title)
            .fact("forward", &zone, "there")
            .fact("answer.from", name, &parent)
            .fact("answer.seconds-left", name, record.ttl)
            .affects([name])
            .resting_on(&reply.file)
            .resting_on(&source.file)
            .from(forwards)
            .not_tested("whether the forward may fall back to the public tree, and did while the server was silent")
            .next("update-resolver", 2, "update Unbound to 1.25.2 or later, or turn off Harden Below NXDOMAIN")
            .next("wait-for-expiry", 0, format!("wait {} s, then ask again", record.ttl));
        out.found(finding);
    }
}
