//! A zone lists a key that is not on the server.

use super::super::{Out, Rule};
use crate::backends::powerdns::Name;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "update-key-missing",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A zone lists a key for its updates that PowerDNS does not have: every update is refused as if the credential were \
           wrong, and whoever makes a key of that name inherits the zone. Deleting a key leaves its name in the zones.",
    reads: "names of TSIG keys, the metadata of zones",
    unlike: &[
        ("update-refused", "the key is there, and is not let in"),
        ("tsig-foreign", "the key is there, and is another tenant's"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let of = &facts.powerdns;
    let listing: Vec<_> = of.metadata.iter().filter(|meta| !meta.update_keys().is_empty()).collect();
    if listing.is_empty() {
        return;
    }
    let Some(known) = &of.keys else {
        // Without any word of keys nobody meant to ask.
        if let Some(why) = facts.calls.why(Api::PowerDns, "servers/*/tsigkeys") {
            out.unknown("the names of TSIG keys", Some(why));
        }
        return;
    };
    for meta in listing {
        let name = meta.zone.as_str();
        let missing: Vec<Name> = meta.update_keys().into_iter().filter(|key| !known.contains(key)).collect();
        if missing.is_empty() {
            out.pass(Subject::new("name", name));
            continue;
        }
        let shown: Vec<&str> = missing.iter().map(Name::as_str).collect();
        let title = format!("{name} lists the key {}, which PowerDNS does not have.", shown.join(", "));
        let mut finding = out.finding(Subject::new("name", name), title).affects([name]).from(meta).from(known);
        for key in &shown {
            finding = finding.fact("update.key-absent", name, key);
        }
        out.found(finding.next(
            "make-tsig-key",
            2,
            format!(
                "make the key again, or take its name out of TSIG-ALLOW-DNSUPDATE of {name} before somebody else does"
            ),
        ));
    }
}
