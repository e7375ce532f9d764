//! SSH keys that were not percent-encoded before the form was.

use super::super::{Out, Rule};
use super::provisioning::settings;
use crate::backends::proxmox::{Error, SshKeys};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::{Call, unescaped};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "sshkeys-encoding",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "Proxmox VE refused SSH keys for their form: the text of the keys has to be percent-encoded, a blank as %20 and \
           never as +, and that again like every value of a form. The keys themselves are not at fault.",
    reads: "the refusal, the form that was sent, the keys that are stored and those that were meant",
    unlike: &[("no-way-in", "no key was sent at all")],
    explains: &[],
    judge,
};

/// Whether Proxmox refused the form of the keys, not a key.
fn is_form(call: &Call) -> bool {
    let Some(Error::BadParameters { errors, .. }) = call.proxmox() else { return false };
    errors.get("sshkeys").is_some_and(|why| why.contains("urlencoded"))
}

/// What is wrong with a value after the form was decoded, if anything.
fn fault(value: &str) -> &'static str {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-%_.!~*'()".contains(c);
    match value {
        _ if value.chars().all(allowed) => "nothing",
        _ if value.contains(' ') => "not encoded before the form",
        _ if value.contains('+') => "+ instead of %20",
        _ => "characters that have to be encoded",
    }
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let sent: Vec<(&Call, String)> =
        settings(facts).filter_map(|call| Some((call, call.form().remove("sshkeys")?))).collect();
    let mut vmids: Vec<&str> = settings(facts).filter(|call| is_form(call)).map(|call| call.http.segment(3)).collect();
    vmids.sort_unstable();
    vmids.dedup();
    for vmid in vmids {
        let mut finding = out
            .finding(
                Subject::new("workload", vmid),
                format!("The keys for guest {vmid} were refused for their encoding, not for what they are."),
            )
            .affects([vmid])
            .next("encode-keys-twice", 1, "percent-encode the text of the keys, a blank as %20, then encode the form");
        let own = sent.iter().filter(|(call, _)| call.http.segment(3) == vmid);
        for (number, (call, value)) in own.enumerate() {
            let state = match call.failure {
                None => "taken",
                Some(_) if is_form(call) => fault(value),
                Some(_) => "refused for something else",
            };
            finding = finding.fact("sshkeys.request", format!("{vmid} #{}", number + 1), state).resting_on(&call.file);
        }
        if let Some(state) = stored(facts, vmid, out) {
            finding = finding.fact("sshkeys.stored", vmid, state);
        }
        out.found(finding);
    }
}

/// How the keys that are stored compare with those that were meant.
fn stored(facts: &Facts, vmid: &str, out: &mut Out<'_>) -> Option<&'static str> {
    let [key] = facts.provisioning.keys.as_slice() else {
        out.unknown_of([Subject::new("workload", vmid)], format!("the key that was meant for guest {vmid}"), None);
        return None;
    };
    let Some(config) = facts.guests.config.get(vmid) else {
        out.unknown_of(
            [Subject::new("workload", vmid)],
            format!("the keys that guest {vmid} has"),
            facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/config"),
        );
        return None;
    };
    let Ok(meant) = SshKeys::new(&key.value) else {
        out.unknown_of(
            [Subject::new("workload", vmid)],
            format!("whether what was meant for guest {vmid} is a public key"),
            None,
        );
        return None;
    };
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let there = config.keys.as_deref().map(|keys| lines(&unescaped(keys, false)));
    Some(match there {
        None => "none",
        Some(there) if there == lines(&unescaped(&meant.encoded(), false)) => "as it was meant",
        Some(_) => "other",
    })
}
