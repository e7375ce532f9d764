//! A yes or no in a form that Proxmox VE does not take.

use super::super::{Out, Rule};
use super::provisioning::settings;
use crate::backends::proxmox::Error;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "flag-form",
    layer: Layer::Workload,
    severity: Severity::Warning,
    says: "A yes or no was sent as a word. In a form Proxmox VE takes 0 and 1 alone; true, yes and on are refused, and \
           nothing was changed.",
    reads: "the refusal and the option it names",
    unlike: &[("config-moved", "the form is right, and somebody else changed the guest meanwhile")],
    explains: &[],
    judge,
};

/// What is to be sent instead of what was refused: `type check ('boolean') failed - got 'true'`.
fn instead(why: &str) -> Option<&'static str> {
    let got = why.split_once("type check ('boolean') failed - got '")?.1.split('\'').next()?;
    match got.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some("1"),
        "false" | "no" | "off" => Some("0"),
        _ => Some("0 or 1"),
    }
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for call in settings(facts) {
        let Some(Error::BadParameters { errors, .. }) = call.proxmox() else { continue };
        for (option, value) in errors.iter().filter_map(|(option, why)| Some((option, instead(why)?))) {
            let vmid = call.http.segment(3);
            let finding = out
                .finding(
                    Subject::new("workload", vmid),
                    format!("{option} of guest {vmid} was sent as a word: send {value}."),
                )
                .fact("parameter.send", option, value)
                .affects([vmid])
                .resting_on(&call.file)
                .next("send-number", 1, format!("send {option}={value}"));
            out.found(finding);
        }
    }
}
