//! What was changed from here: all changes, one of them line by line, or everything for an archive.

use std::io::Write;

use serde_json::{Value, json};

use super::args::{AuditAction, How, JournalArgs};
use super::{at, failure, refused, unwritten};
use crate::cli::args::{Format, Global};
use crate::cli::{Code, Failure, open, print, verdict};
use crate::provision::approve::Refusal;
use crate::provision::journal::{ChangeId, Closing, Entry, Journal, Record};
use crate::provision::plans::table::{Desk, may_be_left};
use crate::text::clean;

/// The only change that is open.
///
/// # Errors
/// That there is none, or which ones there are.
pub(super) fn the_open_one(journal: &Journal) -> Result<ChangeId, Failure> {
    let open = journal.unfinished().map_err(|e| unwritten(&e))?;
    match open.as_slice() {
        [one] => Ok(one.id),
        [] => Err(Failure::usage("no change is open", "`deevnet-console journal` lists those that ended")),
        all => {
            let ids: Vec<String> = all.iter().map(|entry| entry.id.to_string()).collect();
            Err(Failure::usage(format!("{} changes are open", ids.len()), format!("name one of {}", ids.join(", "))))
        }
    }
}

/// Closes a change that is to stay as it is.
///
/// # Errors
/// When nobody said yes, or it holds something.
pub(super) fn leave(desk: &Desk, id: Option<&str>, how: &How) -> Result<Code, Failure> {
    let id = match id {
        Some(id) => id.parse().map_err(|e| unwritten(&e))?,
        None => the_open_one(&desk.journal)?,
    };
    // Asked also where nothing is to be written: what would be refused is not promised.
    let change = may_be_left(desk, id).map_err(|trouble| failure(&trouble))?;
    if !how.write {
        open::note(&format!("nothing was changed: --write --yes leaves {id} as it is, and it is not resumed any more"));
        return Ok(Code::Ok);
    }
    if !how.yes {
        return Err(refused(&Refusal::Unasked("--yes")));
    }
    change.log.close((desk.world.clock)(), Closing::LeftAsItIs).map_err(|trouble| failure(&trouble))?;
    writeln!(std::io::stdout(), "{id} is left as it is")?;
    Ok(Code::Ok)
}

/// How a change stands, and the command that takes it up, where nobody runs it.
fn state(journal: &Journal, entry: &Entry) -> (&'static str, Option<String>) {
    if let Some(how) = entry.closed() {
        return (ended(how), None);
    }
    match journal.not_running(entry.id).map(|now| now.map(|now| now.closed())) {
        Ok(None) => ("running", None),
        // It came to its end since it was read.
        Ok(Some(Some(how))) => (ended(how), None),
        Ok(Some(None)) => ("left open", Some(format!("deevnet-console resume {}", entry.id))),
        // Whether somebody runs it is not known.
        Err(_) => ("open", None),
    }
}

/// How a change ended, in a word.
const fn ended(how: Closing) -> &'static str {
    match how {
        Closing::Done => "done",
        Closing::Undone => "taken back",
        Closing::LeftAsItIs => "left as it is",
    }
}

fn summary(journal: &Journal, entry: &Entry) -> Value {
    let (state, resume) = state(journal, entry);
    let steps = entry.steps();
    json!({
        "change": entry.id.to_string(), "at": entry.at, "last": entry.last(), "user": entry.who.user,
        "host": entry.who.host, "title": entry.plan.title, "site": entry.plan.site, "tenant": entry.plan.subject.tenant,
        "state": state, "resume": resume, "steps": steps.len(), "verified": steps.iter().filter(|step| step.verified).count(),
        "damaged": entry.damaged,
    })
}

/// `journal [CHANGE]`.
pub(in crate::cli) fn list(global: &Global, request: &JournalArgs) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let journal = at(&site)?;
    let out = &mut std::io::stdout();
    if let Some(id) = &request.id {
        let id: ChangeId = id.parse().map_err(|e| unwritten(&e))?;
        let entry = journal.read(id).map_err(|e| unwritten(&e))?;
        let unread = warned(&entry);
        return verdict(one(out, (&journal, &entry), request.output), ends(&[entry], unread));
    }
    let mut entries = Vec::new();
    let mut unread = false;
    for id in journal.ids().map_err(|e| unwritten(&e))? {
        match journal.read(id) {
            Ok(entry) => {
                unread |= warned(&entry);
                entries.push(entry);
            }
            Err(e) => {
                open::warn(&format!("{e}; {}", e.help()));
                unread = true;
            }
        }
    }
    let printed = if request.output == Format::Table {
        entries.iter().try_for_each(|entry| line(out, &journal, entry))
    } else {
        let items: Vec<Value> = entries.iter().map(|entry| summary(&journal, entry)).collect();
        print::document(out, &json!({ "schema": "deevnet-console/journal/v1", "items": items }), request.output)
    };
    if entries.is_empty() && !unread {
        open::note("nothing was changed from here yet");
    }
    verdict(printed, ends(&entries, unread))
}

/// 1 where a change is open, else 3 where something could not be read.
fn ends(entries: &[Entry], unread: bool) -> Code {
    match entries.iter().any(|entry| entry.closed().is_none()) {
        true => Code::Found,
        false if unread => Code::Unknown,
        false => Code::Ok,
    }
}

/// Says what of a change cannot be read; whether there is something.
fn warned(entry: &Entry) -> bool {
    let unread = entry.unread();
    unread.iter().for_each(|what| open::warn(what));
    unread.is_some()
}

fn line(out: &mut dyn Write, journal: &Journal, entry: &Entry) -> Result<(), Failure> {
    let (state, resume) = state(journal, entry);
    let steps = entry.steps();
    let verified = steps.iter().filter(|step| step.verified).count();
    writeln!(
        out,
        "{}  {}  {:<13}  {:>2} of {:<2}  {}  {}",
        entry.id,
        entry.at.strftime("%Y-%m-%d %H:%MZ"),
        state,
        verified,
        steps.len(),
        clean(&entry.who.user),
        clean(&entry.plan.title),
    )?;
    if let Some(resume) = resume {
        writeln!(out, "        `{resume}` goes on with it")?;
    }
    Ok(())
}

fn one(out: &mut dyn Write, (journal, entry): (&Journal, &Entry), format: Format) -> Result<(), Failure> {
    if format != Format::Table {
        let lines: Vec<Value> =
            entry.lines.iter().map(|line| json!({ "at": line.at, "record": told(&line.record) })).collect();
        let mut document = summary(journal, entry);
        if let Some(map) = document.as_object_mut() {
            map.insert("schema".to_owned(), json!("deevnet-console/journal-entry/v1"));
            map.insert("lines".to_owned(), json!(lines));
        }
        return print::document(out, &document, format);
    }
    line(out, journal, entry)?;
    for line in &entry.lines {
        let words = words(entry, &line.record);
        writeln!(out, "  {}  {}", line.at.strftime("%H:%M:%SZ"), clean(&words))?;
    }
    Ok(())
}

/// A line as it is told: without the values of notes, which may let somebody into a lock.
fn told(record: &Record) -> Value {
    match record {
        Record::Note { key, value } => json!({ "event": "note", "key": key, "set": !value.is_empty() }),
        other => json!(other),
    }
}

fn words(entry: &Entry, record: &Record) -> String {
    let name = |step: &usize| {
        let object = entry.plan.steps.get(*step).map(|step| step.object.ensure().name()).unwrap_or_default();
        format!("step {}, {object}", step + 1)
    };
    match record {
        Record::Opened { who, takes_back: Some(change), .. } => {
            format!("opened by {} on {}, takes back {}", who.user, who.host, crate::text::clean(change))
        }
        Record::Opened { who, .. } => format!("opened by {} on {}", who.user, who.host),
        Record::Run { who, riders, .. } if riders.is_empty() => format!("run by {} on {}", who.user, who.host),
        Record::Run { who, riders, .. } => format!("run by {}, taking along {}", who.user, riders.join(", ")),
        Record::Replanned { plan } => format!("planned anew: {}", plan.title),
        Record::Begun { step, .. } => format!("{}: begun", name(step)),
        Record::Note { key, value } if value.is_empty() => format!("note {key}: not any more"),
        Record::Note { key, .. } => format!("note {key}"),
        Record::Applied { step } => format!("{}: answered", name(step)),
        Record::Verified { step, .. } => format!("{}: verified", name(step)),
        Record::Satisfied { step } => format!("{}: nothing to do", name(step)),
        Record::Failed { step, trouble } => format!("{}: {}", name(step), trouble.text),
        Record::Interrupted { step } => format!("{}: interrupted", name(step)),
        Record::GaveBack { what, trouble: None } => format!("{what}: given back"),
        Record::GaveBack { what, trouble: Some(why) } => format!("{what}: not given back: {}", why.text),
        Record::Closed { how } => format!("closed: {}", ended(*how)),
    }
}

/// `audit export`: one object a line, oldest first.
pub(in crate::cli) fn audit(global: &Global, action: AuditAction) -> Result<Code, Failure> {
    let AuditAction::Export = action;
    let site = open::site(global)?;
    let journal = at(&site)?;
    let out = &mut std::io::stdout().lock();
    let mut unread = false;
    for id in journal.ids().map_err(|e| unwritten(&e))? {
        let entry = match journal.read(id) {
            Ok(entry) => entry,
            Err(e) => {
                open::warn(&format!("{e}; {}", e.help()));
                unread = true;
                continue;
            }
        };
        unread |= warned(&entry);
        for line in &entry.lines {
            let object = json!({
                "schema": "deevnet-console/audit/v1", "site": site.name, "change": id.to_string(), "at": line.at,
                "title": entry.plan.title, "record": told(&line.record),
            });
            writeln!(out, "{object}")?;
        }
    }
    Ok(if unread { Code::Unknown } else { Code::Ok })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing::now;
    use crate::provision::journal::Who;
    use crate::provision::plan::{Plan, Subject};

    #[test]
    fn a_change_that_ends_while_it_is_listed_is_not_left_open() {
        let dir = tempfile::tempdir().expect("a directory");
        let journal = Journal::in_state(dir.path());
        let who = Who { user: "operator".to_owned(), host: "console".to_owned(), pid: 7 };
        let subject = Subject { name: "shop".to_owned(), tenant: None };
        let (site, title) = ("yard".to_owned(), "Nothing".to_owned());
        let plan = Plan { site, title, subject, steps: Vec::new(), reach: None };
        let change = journal.begin(&who, &plan, now()).expect("begun");
        let read = journal.read(change.id).expect("read");
        assert_eq!(state(&journal, &read), ("running", None));
        change.log.close(now(), Closing::Done).expect("closed");
        drop(change);
        assert_eq!(state(&journal, &read), ("done", None));
    }
}
