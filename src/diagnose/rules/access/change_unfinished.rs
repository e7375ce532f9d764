//! A change that broke off: what of it was done, and where it goes on.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::backends::dns::DnsName;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::journal::{Left, Open, Staged, Step, What};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Fact, Finding, Key, Layer, Severity, Subject};

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

/// What a change leaves that made or removed a part of what it was to: told by [`is_left`].
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
        let runs = change.running == Some(true);
        let words = if runs {
            format!("Change {id} ({title}) is being run by {who}: {done} of {all} steps are done.")
        } else {
            format!("Change {id} ({title}) of {who} is open since {since}: {done} of {all} steps are done.")
        };
        let mut finding = out
            .finding(Subject::new("name", id), words)
            .fact("change.steps-done", id, format!("{done} of {all}"))
            .affects(&change.tenant)
            .affects(change.half.iter().map(|left| &left.name))
            .from(read);
        if change.running.is_none() {
            finding = finding.not_tested("whether somebody runs it now");
        }
        if let Some(at) = &change.at {
            finding = finding.fact("change.next-step", id, at);
        }
        if let Some(asked) = change.lock {
            let has = if change.certain { "has it" } else { "asked for it, and got no answer" };
            let since = asked.strftime("%Y-%m-%d %H:%M:%SZ");
            finding = finding.fact("sdn.lock", id, format!("{has}, since {since}")).affects(["SDN"]);
        }
        for Staged { kind, id: name, state } in &change.staged {
            finding = finding.fact("sdn.staged", id, format!("{kind} {name}, {state}"));
        }
        let finding = if runs {
            finding.severity = Severity::Info;
            finding.next("wait-for-change", 0, format!("wait until {id} ends"))
        } else {
            ways_on(finding, change)
        };
        out.found(finding);
    }
}

/// What can be done with a change that nobody runs. One that has the lock is not closed before it has given it back.
fn ways_on(finding: Finding, change: &Open) -> Finding {
    let id = &change.id;
    let finding = finding
        .next("resume-change", 1, format!("go on with {id}: what is there is looked at first"))
        .command(format!("deevnet-console resume {id}"));
    let (finding, then) = if change.lock.is_some() {
        let text = format!("or only give the SDN lock back, and go on with {id} later");
        let later = format!("deevnet-console resume --later {id}");
        (finding.next("give-lock-back", 1, text).command(later), "once the lock is given back, ")
    } else {
        (finding, "")
    };
    finding
        .next("leave-change", 2, format!("or, {then}close {id} and leave everything as it is"))
        .command(format!("deevnet-console resume {id} --leave"))
}

/// The open change that left half made what `finding` speaks of, and nothing but that.
pub(in super::super::super) fn cause_of(facts: &Facts, finding: &Finding) -> Option<Key> {
    let change = facts.changes.as_ref()?.open.iter().find(|change| is_left(finding, &change.half))?;
    Some((RULE.id, Subject::new("name", &change.id)))
}

/// Whether all that `finding` speaks of is among `half`: by what it is, never by whose it is, or where.
fn is_left(finding: &Finding, half: &[Left]) -> bool {
    let subject = finding.subject.name.as_str();
    let left = |what: What, name: &str| {
        half.iter().any(|left| left.what == what && left.name.eq_ignore_ascii_case(name.trim_end_matches('.')))
    };
    // Each of the facts with these keys, of which there have to be some.
    let all = |keys: &[&str], is: &dyn Fn(&Fact) -> bool| {
        let mut own = finding.facts.iter().filter(|fact| keys.contains(&fact.key)).peekable();
        own.peek().is_some() && own.all(is)
    };
    let of_zone = finding.subject.kind == "zone";
    let pointer =
        |address: &str| address.parse().is_ok_and(|address| left(What::Record, DnsName::reverse(address).as_str()));
    match finding.id {
        "zone-missing" | "zone-half-made" | "tsig-unbound" | "update-refused" => left(What::DnsZone, subject),
        "update-key-missing" => all(&["update.key-absent"], &|fact| left(What::Key, &fact.value)),
        "forward-missing" | "forward-left-over" => left(What::Forward, subject),
        "workload-name-missing" => all(&["name.address", "ptr.names"], &|fact| match fact.key {
            "ptr.names" => pointer(&fact.subject),
            _ => left(What::Record, &fact.subject),
        }),
        "ptr-not-written" => all(&["ptr.there"], &|fact| pointer(&fact.subject)),
        "vnet-missing" if of_zone => {
            let device = |fact: &Fact| fact.subject.rsplit('/').next().is_some_and(|name| left(What::Vnet, name));
            left(What::SdnZone, subject) || all(&["node.link"], &device)
        }
        "vnet-missing" => all(&["workload.vnet"], &|fact| left(What::Vnet, &fact.value)),
        "vrf-default-missing" => of_zone && all(&["vrf.default"], &|fact| left(What::Stanza, &fact.subject)),
        "frr-local-not-merged" => of_zone && all(&["frr.conf.lacks"], &|fact| left(What::Stanza, &fact.subject)),
        _ => false,
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
