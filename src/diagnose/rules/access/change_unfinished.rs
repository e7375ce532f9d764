//! A change that broke off: what of it was done, and where it goes on.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::journal::{Open, Step};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "change-unfinished",
    layer: Layer::Access,
    severity: Severity::Warning,
    says: "A change that was made from here did not come to its end, or a journal ends with a step that was sent and whose end was \
           not noted. What became of it the server knows: the task that it was, and what is there now. The change goes on behind \
           it; nothing is done a second time. What is half made or half gone is explained by it.",
    reads: "the console's own journal, or one that is among the evidence; the state of the task that it names, what waits in SDN",
    unlike: &[
        ("answer-lost", "one request whose answer got lost, without a journal"),
        ("sdn-pending", "what waits in SDN, whoever staged it"),
    ],
    explains: &HALF,
    judge,
};

/// What a change leaves that made or removed a part of what it was to.
const HALF: [&str; 12] = [
    "zone-missing",
    "zone-half-made",
    "tsig-unbound",
    "update-key-missing",
    "update-refused",
    "forward-missing",
    "forward-left-over",
    "workload-name-missing",
    "ptr-not-written",
    "vnet-missing",
    "vrf-default-missing",
    "frr-local-not-merged",
];

/// Changes of this console.
fn own(facts: &Facts, out: &mut Out<'_>) {
    let Some(read) = &facts.changes else { return };
    if let Some(why) = &read.lack {
        out.unknown("which changes that were made from here are open", Some(why.clone()));
    } else if read.open.is_empty() {
        out.pass(Subject::new("source", "changes"));
    }
    for change in &read.open {
        let Open { id, title, who, steps: (done, all), .. } = change;
        let since = change.last.strftime("%Y-%m-%d %H:%M:%SZ");
        let words = match change.running {
            true => format!("Change {id} ({title}) is being run by {who}: {done} of {all} steps are done."),
            false => format!("Change {id} ({title}) of {who} is open since {since}: {done} of {all} steps are done."),
        };
        let mut finding = out
            .finding(Subject::new("name", id), words)
            .fact("change.steps-done", id, format!("{done} of {all}"))
            .affects(&change.half)
            .from(read);
        if let Some(at) = &change.at {
            finding = finding.fact("change.next-step", id, at);
        }
        if let Some(asked) = change.lock {
            let has = if change.certain { "has it" } else { "asked for it, and got no answer" };
            let since = asked.strftime("%Y-%m-%d %H:%M:%SZ");
            finding = finding.fact("sdn.lock", id, format!("{has}, since {since}")).affects(["SDN"]);
        }
        for name in &change.staged {
            finding = finding.fact("sdn.staged", id, name);
        }
        let finding = if change.running {
            finding.severity = Severity::Info;
            finding.next("wait-for-change", 0, format!("wait until {id} ends"))
        } else {
            finding
                .next("resume-change", 1, format!("go on with {id}: what is there is looked at first"))
                .command(format!("deevnet-console resume {id}"))
                .next("leave-change", 2, format!("or close {id} and leave everything as it is"))
                .command(format!("deevnet-console resume {id} --leave"))
        };
        out.found(finding);
    }
}

/// What a task came to, in words.
fn ended(facts: &Facts, upid: &str) -> Option<String> {
    let task = facts.pve.tasks.iter().find(|task| task.upid == upid)?;
    let end = task.end.as_ref().map(|end| format!("finished on the server: {end}"));
    Some(end.unwrap_or_else(|| "runs on the server".to_owned()))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    own(facts, out);
    let plans: BTreeSet<&str> = facts.journal.iter().map(|step| step.plan.as_str()).collect();
    for plan in plans {
        let steps: Vec<&Sourced<Step>> = facts.journal.iter().filter(|step| step.plan == plan).collect();
        let Some(last) = steps.iter().max_by_key(|step| step.number) else { continue };
        if last.result.is_some() {
            out.pass(Subject::new("name", plan));
            continue;
        }
        let came = last.upid.as_deref().and_then(|upid| ended(facts, upid));
        let state = came.as_deref().unwrap_or("sent, and its end is not known");
        if came.is_none() {
            let why = facts.calls.why(Api::Proxmox, "nodes/*/tasks/*/status");
            out.unknown(format!("what became of step {} of {plan}", last.number), why);
        }
        let when = last.sent_at.as_ref().map_or_else(String::new, |at| format!(" at {at}"));
        let title = format!("Change {plan} broke off: step {} ({}) was sent{when}, {state}.", last.number, last.what);
        let mut finding = out.finding(Subject::new("name", plan), title).affects([plan]).from(*last);
        for step in &steps {
            let value = if step.number == last.number { state } else { step.result.as_deref().unwrap_or("not noted") };
            finding = finding.fact("step.state", format!("{plan} #{}", step.number), value);
        }
        let next = last.number.saturating_add(1);
        finding = finding.fact("step.not-sent", plan, format!("from {next} on")).next(
            "verify-and-continue",
            1,
            format!("look whether step {} came to what it was to, then go on with step {next}", last.number),
        );
        if facts.sdn.pending_read.is_empty() {
            out.unknown("what waits in SDN after the step that was sent", None);
        } else {
            let waits = facts.sdn.pending.iter().filter(|one| one.is_effective()).count();
            finding = finding.fact("sdn.waits", plan, waits);
        }
        out.found(finding);
    }
}
