//! Who holds the SDN lock. Proxmox does not tell (facts/proxmox.md §6); the journals of a state directory tell of the changes that
//! were made from here, and of nobody else's.

use jiff::Timestamp;

use super::{ASKED, FORCED, TOKEN};
use crate::provision::journal::{ChangeId, Entry, Journal, Record};

/// A change that has the lock, or may have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The change.
    pub change: ChangeId,
    /// Who ran it last.
    pub who: String,
    /// When it asked for the lock.
    pub asked: Timestamp,
    /// Whether it was given the lock; one that only asked got no answer.
    pub certain: bool,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { change, who, asked, .. } = self;
        let who = crate::text::clean(who);
        write!(f, "change {change} of {who} (asked {})", asked.strftime("%Y-%m-%d %H:%M:%SZ"))
    }
}

/// Who has the lock by these changes: one that noted its token and has not given it back, else one that asked for it and got no
/// answer. What was freed by force since counts no more.
#[must_use]
pub fn holder<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Option<Holder> {
    let mut freed: Option<Timestamp> = None;
    let mut all = Vec::new();
    for entry in entries {
        let (mut token, mut asked) = (None, None);
        let mut who = entry.who.user.as_str();
        for line in &entry.lines {
            match &line.record {
                Record::Run { who: by, .. } => who = by.user.as_str(),
                Record::Note { key, value } => {
                    let at = (!value.is_empty()).then_some(line.at);
                    match key.as_str() {
                        TOKEN => token = at,
                        ASKED => asked = at,
                        FORCED => freed = freed.max(at),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let found = token.map(|at| (at, true)).or_else(|| asked.map(|at| (at, false)));
        if let Some((asked, certain)) = found.filter(|_| entry.closed().is_none()) {
            all.push(Holder { change: entry.id, who: who.to_owned(), asked, certain });
        }
    }
    all.retain(|holder| freed.is_none_or(|freed| holder.asked >= freed));
    all.into_iter().max_by_key(|holder| (holder.certain, holder.asked))
}

/// The same by all of a journal but one change. A file that cannot be read tells nothing.
#[must_use]
pub fn holder_in(journal: &Journal, but: Option<ChangeId>) -> Option<Holder> {
    let ids = journal.ids().unwrap_or_default().into_iter().filter(|id| Some(*id) != but);
    let entries: Vec<Entry> = ids.filter_map(|id| journal.read(id).ok()).collect();
    holder(&entries)
}

/// The change of a journal that has the lock and is being run right now. What it staged is about to be applied: whoever plans
/// something waits for it.
#[must_use]
pub fn running(journal: &Journal) -> Option<Holder> {
    let holder = holder_in(journal, None).filter(|holder| holder.certain)?;
    // Whoever runs a change has it to itself.
    journal.is_running(holder.change).is_ok_and(|runs| runs).then_some(holder)
}

/// The change of a journal, other than `but`, that has the lock and that no process runs any more: it gives the lock back when
/// it is taken up, and not before.
#[must_use]
pub fn left_behind(journal: &Journal, but: Option<ChangeId>) -> Option<Holder> {
    let held = || holder_in(journal, but).filter(|holder| holder.certain);
    let holder = held().filter(|holder| journal.is_running(holder.change).is_ok_and(|runs| !runs))?;
    // It may have given the lock back and ended between the two looks: its file was written before it let go of it.
    held().filter(|now| *now == holder)
}

/// What to do about a lock that nobody answers for.
#[must_use]
pub fn taken_up(holder: &Holder) -> String {
    let change = holder.change;
    format!(
        "`deevnet-console resume {change}` goes on with that change and gives the lock back, `deevnet-console resume --later \
         {change}` only gives it back"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::journal::{Closing, Who};
    use crate::provision::testing::{plan, thing};

    struct Shelf {
        journal: Journal,
        _dir: tempfile::TempDir,
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_795_950_000 + second).expect("a time")
    }

    impl Shelf {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a directory");
            Self { journal: Journal::in_state(dir.path()), _dir: dir }
        }

        /// A change of somebody with these notes, a second each.
        fn change(&self, user: &str, from: i64, notes: &[(&str, &str)]) -> crate::provision::journal::Change {
            let who = Who { user: user.to_owned(), host: "console".to_owned(), pid: 1 };
            let step = crate::provision::plan::Step::absent(thing("zone"));
            let change = self.journal.begin(&who, &plan(vec![step]), at(from)).expect("a change");
            for (n, (key, value)) in notes.iter().enumerate() {
                let second = from + i64::try_from(n).expect("small");
                change.notes.set(key, value, at(second)).expect("a note");
            }
            change
        }

        fn found(&self) -> Option<String> {
            holder_in(&self.journal, None).map(|holder| format!("{} {holder}", holder.certain))
        }
    }

    #[test]
    fn whoever_noted_the_token_holds_the_lock_and_who_only_asked_may() {
        let shelf = Shelf::new();
        assert_eq!(shelf.found(), None);
        let asked = shelf.change("bo", 0, &[(ASKED, "then")]);
        assert_eq!(shelf.found().as_deref(), Some("false change C-0001 of bo (asked 2026-11-29 11:00:00Z)"));
        let holds = shelf.change("ann", 5, &[(ASKED, "then"), (TOKEN, "t"), (ASKED, "")]);
        assert_eq!(shelf.found().as_deref(), Some("true change C-0002 of ann (asked 2026-11-29 11:00:06Z)"));
        assert_eq!(holder_in(&shelf.journal, Some(holds.id)).map(|holder| holder.change), Some(asked.id));
        holds.notes.set(TOKEN, "", at(9)).expect("a note");
        assert!(shelf.found().is_some_and(|found| found.starts_with("false change C-0001")));
        asked.log.close(at(10), Closing::LeftAsItIs).expect("closed");
        assert_eq!(shelf.found(), None);
    }

    fn ids(shelf: &Shelf) -> Vec<ChangeId> {
        shelf.journal.ids().expect("ids")
    }

    #[test]
    fn a_change_runs_while_somebody_has_it() {
        let shelf = Shelf::new();
        let change = shelf.change("ann", 0, &[(TOKEN, "t")]);
        assert_eq!(running(&shelf.journal).map(|holder| holder.change), Some(change.id));
        assert_eq!(left_behind(&shelf.journal, None), None, "it runs");
        drop(change);
        assert_eq!(running(&shelf.journal), None, "it was cut off");
        assert_eq!(left_behind(&shelf.journal, None).map(|holder| holder.change), Some(ids(&shelf)[0]));
        assert_eq!(left_behind(&shelf.journal, Some(ids(&shelf)[0])), None, "its own");
    }

    #[test]
    fn what_was_freed_by_force_is_held_no_more() {
        let shelf = Shelf::new();
        shelf.change("ann", 0, &[(TOKEN, "t")]);
        shelf.change("bo", 5, &[(FORCED, "then")]);
        assert_eq!(shelf.found(), None);
        shelf.change("cy", 7, &[(TOKEN, "u")]);
        assert!(shelf.found().is_some_and(|found| found.starts_with("true change C-0003 of cy")));
    }
}
