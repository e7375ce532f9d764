//! The journal survives what a crash leaves of it.

use super::*;
use crate::inventory::testing::now;
use crate::provision::fields::{Fields, fields};
use crate::provision::plan::Step;
use crate::provision::testing::{plan, thing};

fn who() -> Who {
    Who { user: "operator".to_owned(), host: "console".to_owned(), pid: 7 }
}

fn made() -> (tempfile::TempDir, Journal, ChangeId) {
    let dir = tempfile::tempdir().expect("a directory");
    let journal = Journal::in_state(dir.path());
    let plan = plan(vec![Step::present(thing("a"), fields([("tag", "1")])), Step::absent(thing("b"))]);
    let change = journal.begin(&who(), &plan, now()).expect("begun");
    change.notes.set("token", "one", now()).expect("noted");
    let before = Seen::Present(Fields::new());
    let todo = Difference::Update(Vec::new());
    change.log.write(now(), Record::Begun { step: 0, before, todo }).expect("written");
    change.notes.set("token", "", now()).expect("noted");
    change.log.write(now(), Record::Verified { step: 0, after: None }).expect("written");
    change.log.close(now(), Closing::Done).expect("closed");
    let id = change.id;
    (dir, journal, id)
}

#[test]
fn what_was_written_is_read_back() {
    let (_dir, journal, id) = made();
    let entry = journal.read(id).expect("an entry");
    assert_eq!((id.to_string().as_str(), entry.who.user.as_str(), entry.damaged), ("C-0001", "operator", 0));
    assert_eq!(entry.closed(), Some(Closing::Done));
    assert_eq!(entry.notes().get("token"), None, "it was taken back");
    assert!(entry.steps().first().is_some_and(|s| s.verified) && entry.steps().get(1).is_some_and(|s| !s.verified));
    assert!(journal.unfinished().expect("readable").is_empty());
}

#[test]
fn a_file_that_is_cut_at_any_byte_is_read_as_far_as_its_lines_are_whole() {
    let (_dir, journal, id) = made();
    let path = journal.path(id);
    let whole = std::fs::read(&path).expect("a file");
    let mut last = 0;
    for end in 0..=whole.len() {
        let kept = whole.get(..end).expect("a part");
        std::fs::write(&path, kept).expect("written");
        let lines = kept.iter().filter(|b| **b == b'\n').count();
        match journal.read(id) {
            Ok(entry) => {
                assert_eq!((entry.lines.len(), entry.damaged), (lines, 0), "cut at {end}");
                assert!(entry.lines.len() >= last);
                last = entry.lines.len();
                // What is written after the cut is read too.
                let (_, change) = match journal.take_up(id) {
                    Err(JournalError::Over(_)) if entry.closed().is_some() => continue,
                    taken => taken.expect("taken up"),
                };
                change.log.write(now(), Record::Interrupted { step: 1 }).expect("written");
                let after = journal.read(id).expect("an entry");
                assert_eq!(after.lines.last().map(|l| &l.record), Some(&Record::Interrupted { step: 1 }));
                assert_eq!(after.unread(), None, "a line that was never written counts for nothing, and is no damage");
            }
            Err(JournalError::NoPlan { .. }) => assert_eq!(lines, 0, "cut at {end}"),
            Err(e) => panic!("cut at {end}: {e}"),
        }
    }
    assert_eq!(last, 6);
}

#[test]
fn a_change_is_taken_up_by_one_console_at_a_time_and_two_begin_with_two_numbers() {
    let (_dir, journal, over) = made();
    assert!(matches!(journal.take_up(over), Err(JournalError::Over(_))));
    let id = journal.begin(&who(), &plan(Vec::new()), now()).expect("begun").id;
    let (_, kept) = journal.take_up(id).expect("free");
    assert!(matches!(journal.take_up(id), Err(JournalError::Running(running)) if running == id));
    drop(kept);
    journal.take_up(id).expect("free again");
    let all: Vec<ChangeId> = std::thread::scope(|scope| {
        let begin = || journal.begin(&who(), &plan(Vec::new()), now()).expect("begun").id;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut numbers = all.clone();
    numbers.sort();
    numbers.dedup();
    assert_eq!(numbers.len(), all.len());
    assert_eq!(journal.ids().expect("ids").len(), 10);
}

#[test]
fn a_line_that_cannot_be_read_hides_no_other() {
    let (_dir, journal, id) = made();
    let path = journal.path(id);
    let text = std::fs::read_to_string(&path).expect("a file");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(2, "\u{0}{\"at\":");
    std::fs::write(&path, lines.join("\n") + "\n").expect("written");
    let entry = journal.read(id).expect("an entry");
    assert_eq!((entry.damaged, entry.lines.len()), (1, 6));
}

#[test]
fn no_directory_is_no_changes_and_one_that_cannot_be_made_is_told() {
    let dir = tempfile::tempdir().expect("a directory");
    assert!(Journal::in_state(&dir.path().join("none")).ids().expect("none").is_empty());
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("written");
    let begun = Journal::in_state(&file).begin(&who(), &plan(Vec::new()), now());
    assert!(matches!(begun.map(|c| c.id), Err(JournalError::File { what: "cannot be made", .. })));
}

#[test]
fn numbers_are_read_as_they_are_written() {
    assert_eq!("C-0042".parse::<ChangeId>().expect("a number").to_string(), "C-0042");
    for wrong in ["", "C-", "C--1", "C-+1", "x", "../C-0001"] {
        assert!(matches!(wrong.parse::<ChangeId>(), Err(JournalError::NoChange(_))), "{wrong}");
    }
}

#[test]
fn a_plan_that_cannot_be_read_is_no_harmless_file() {
    let (_dir, journal, id) = made();
    let path = journal.path(id);
    let text = std::fs::read_to_string(&path).expect("a file");
    std::fs::write(&path, text.replacen("\"opened\"", "\"opened-anew\"", 1)).expect("written");
    assert!(matches!(journal.read(id), Err(JournalError::Damaged { .. })));
    assert!(journal.unfinished().is_err(), "it is told, not left out");
}

#[test]
fn a_journal_in_a_directory_of_a_group_is_the_group_s() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o7777;
    for (state, own, file) in [(0o700, 0o700, 0o600), (0o2770, 0o2770, 0o660)] {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(state)).expect("set");
        let journal = Journal::in_state(dir.path());
        let change = journal.begin(&who(), &plan(vec![Step::absent(thing("b"))]), now()).expect("begun");
        assert_eq!(mode(&journal.dir) & 0o770, own & 0o770, "{state:o}");
        assert_eq!(mode(&journal.path(change.id)), file, "{state:o}");
    }
}

#[test]
fn who_has_a_change_is_looked_at_without_keeping_anybody_from_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let journal = Journal::in_state(dir.path());
    let change = journal.begin(&who(), &plan(vec![Step::absent(thing("a"))]), now()).expect("begun");
    let id = change.id;
    assert!(journal.is_running(id).expect("told"));
    assert!(matches!(journal.take_up(id), Err(JournalError::Running(_))));
    drop(change);
    // The copy that the notes of the change held is gone with it.
    assert!(!journal.is_running(id).expect("told"));
    assert!(!journal.is_running(id).expect("told"), "looking took nothing");
    assert!(journal.take_up(id).is_ok());
    let absent = "C-0099".parse().expect("a number");
    assert!(journal.is_running(absent).is_err());
}
