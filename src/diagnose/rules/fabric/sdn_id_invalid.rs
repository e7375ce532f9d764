//! An id that SDN does not take.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "sdn-id-invalid",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A zone or VNet was refused for its id: two to eight letters and digits, a letter first; the words of the refusal \
           differ by version. An id that is cut to fit may be another tenant's already, so a short one is derived and compared \
           with those there are.",
    reads: "the refusal, the parameter it names and what was sent, ids of zones and VNets",
    unlike: &[("zone-name-reserved", "the id has the right form, and the platform keeps it for itself")],
    explains: &[],
    judge,
};

/// Longest id.
const LONGEST: usize = 8;

/// Whether it is an id: two to eight letters and digits, a letter first.
fn is_id(text: &str) -> bool {
    (2..=LONGEST).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric())
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// A short id of `name` that none of `taken` is: its letters and digits, then with a number at the end.
fn short(name: &str, taken: &BTreeSet<String>) -> Option<String> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.trim_start_matches(|c: char| c.is_ascii_digit());
    let cut = |most: usize| plain.chars().take(most).collect::<String>();
    let numbered = (2..100).map(|n| {
        let number = n.to_string();
        format!("{}{number}", cut(LONGEST - number.len()))
    });
    std::iter::once(cut(LONGEST)).chain(numbered).find(|id| is_id(id) && !taken.contains(id))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let zones = facts.sdn.zones.values().flat_map(|all| all.iter().map(|zone| zone.zone.clone()));
    let vnets = facts.sdn.vnets.values().flat_map(|all| all.iter().map(|vnet| vnet.vnet.clone()));
    let mut taken: BTreeSet<String> = zones.chain(vnets).collect();
    let read = !taken.is_empty();
    for call in facts.calls.of(Api::Proxmox).filter(|call| call.writes() && call.http.path.starts_with("cluster/sdn/"))
    {
        let Some(Error::BadParameters { errors, .. }) = call.proxmox() else { continue };
        let sent = call.form();
        for kind in ["zone", "vnet", "controller"].into_iter().filter(|kind| errors.contains_key(*kind)) {
            let Some(value) = sent.get(kind) else {
                out.unknown(format!("the {kind} that was sent and refused"), None);
                continue;
            };
            // Refused for something else than its form.
            if is_id(value) {
                continue;
            }
            let title = format!("{value:?} is no {kind}: an id has 2 to {LONGEST} letters and digits, a letter first.");
            let mut finding = out
                .finding(Subject::new(if kind == "controller" { "name" } else { kind }, value), title)
                .fact("parameter.refused", kind, value)
                .fact("id.form", kind, format!("2 to {LONGEST} letters and digits, a letter first"))
                .affects([value])
                .resting_on(&call.file);
            if let Some(id) = short(value, &taken) {
                finding = finding.next("choose-short-id", 0, format!("take another id for it, such as {id}"));
                taken.insert(id);
            }
            if !read {
                finding = finding.not_tested("whether a zone or VNet has that short id already");
            }
            out.found(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_nobodys() {
        let taken: BTreeSet<String> = ["mountain".to_owned()].into();
        assert_eq!(short("mountaineers", &taken).as_deref(), Some("mountai2"));
        assert_eq!(short("9to-five", &BTreeSet::new()).as_deref(), Some("tofive"));
        assert_eq!(short("--", &BTreeSet::new()), None);
        assert!(is_id("ab") && !is_id("a") && !is_id("1a") && !is_id("a-b") && !is_id("abcdefghi"));
    }
}
