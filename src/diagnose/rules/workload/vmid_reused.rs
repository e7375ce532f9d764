//! A number that is remembered as one's own and is another's by now.

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::guests::Config;
use crate::diagnose::facts::provisioning::Remembered;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vmid-reused",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "A guest that is remembered by its number is not the one that has the number now: its name or its mark is another's. \
           Whatever is done to that number would reach somebody else; what is remembered is to be closed without it.",
    reads: "what was remembered: name, number and mark; the guest's configuration now",
    unlike: &[("vmid-taken", "the number was another's before anything was made")],
    explains: &[],
    judge,
};

/// Whether the guest is the one that is remembered; `None` where that cannot be told. A guest may be renamed and its notes
/// edited: one alone says nothing.
fn same(record: &Remembered, config: &Config) -> Option<bool> {
    let mark = record.marker.as_deref()?;
    let words = || config.notes.iter().flat_map(|notes| notes.split_whitespace());
    if words().any(|word| word == mark) {
        return Some(true);
    }
    // A mark of the same form.
    let form = mark.split_once('-').map(|(stem, _)| format!("{stem}-"));
    let other = form.is_some_and(|form| words().any(|word| word.starts_with(&form)));
    let renamed = config.name.as_deref().is_some_and(|name| name != record.name);
    (other || renamed).then_some(false)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for record in facts.provisioning.remembered.iter() {
        let vmid = &record.vmid;
        let Some(config) = facts.guests.config.get(vmid) else {
            let why = facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/config");
            out.unknown_of([Subject::new("workload", vmid)], format!("what guest {vmid} is now"), why);
            continue;
        };
        match same(record, config) {
            Some(true) => out.pass(Subject::new("workload", vmid)),
            None => out.unknown_of(
                [Subject::new("workload", vmid)],
                format!("whether guest {vmid} is the one that is remembered as {}", record.name),
                None,
            ),
            Some(false) => {
                let name = config.name.as_deref().unwrap_or("a guest without a name");
                let of = config.tags.as_deref().map_or_else(String::new, |tags| format!(" of {tags}"));
                let mut finding = out
                    .finding(Subject::new("workload", vmid), format!("{vmid} is now {name}{of}, not {}.", record.name))
                    .fact("guest.name", vmid, name)
                    .affects([name])
                    .from(record)
                    .from(config)
                    .next(
                        "close-record",
                        0,
                        format!("close what is remembered of {} without touching {vmid}", record.name),
                    );
                if let Some(tags) = &config.tags {
                    finding = finding.fact("guest.tags", vmid, tags);
                }
                let notes = config.notes.as_deref().and_then(|notes| notes.lines().next()).map(str::to_owned);
                for (key, mark) in [("record.marker", &record.marker), ("guest.marker", &notes)] {
                    if let Some(mark) = mark {
                        finding = finding.fact(key, vmid, mark);
                    }
                }
                out.found(finding);
            }
        }
    }
}
