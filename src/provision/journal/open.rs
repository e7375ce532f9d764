//! Changes that did not come to their end, as a diagnosis reads them.

use super::{Entry, Journal, JournalError};
use crate::diagnose::facts::journal::{CHANGES, Changes, Open};
use crate::provision::fields::{Difference, Wanted};
use crate::provision::object::{Object, Undo};
use crate::provision::sdn::holder;
use crate::text::clean;

impl Journal {
    /// What the journal tells of open changes. A file that cannot be read is said beside the others.
    #[must_use]
    pub fn changes(&self) -> Changes {
        let (mut open, mut lack) = (Vec::new(), None);
        let ids = self.ids().unwrap_or_else(|why| {
            lack = Some(why.to_string());
            Vec::new()
        });
        for id in ids {
            match self.read(id) {
                Ok(entry) if entry.closed().is_none() => {
                    // Whoever runs it has it to itself.
                    open.push(told(&entry, self.is_running(id).unwrap_or(false)));
                }
                Ok(_) | Err(JournalError::NoPlan { .. }) => {}
                Err(why) => lack = lack.or(Some(why.to_string())),
            }
        }
        Changes { schema: CHANGES.to_owned(), lack: lack.map(|why| clean(&why).into_owned()), open }
    }
}

/// Words of an object's name that name something, not what kind of thing it is.
fn names(object: &Object) -> Vec<String> {
    let name = object.ensure().name();
    let mut words = name.split([' ', ',']).map(|word| word.trim_start_matches("vrf_").trim_end_matches('.'));
    let kind = words.next();
    // Of a record its owner comes first.
    let owner = kind.filter(|word| word.contains('.'));
    owner.into_iter().chain(words).filter(|word| !COMMON.contains(word)).map(str::to_owned).collect()
}

/// Words of names that name nothing.
const COMMON: [&str; 12] =
    ["", "of", "on", "from", "the", "by", "update", "route", "key", "agent", "reload", "resolver"];

fn told(entry: &Entry, running: bool) -> Open {
    let states = entry.steps();
    let steps = || entry.plan.steps.iter().zip(&states);
    let lock = holder([entry]);
    // An apply that was read back puts all that was staged before it in force.
    let applied =
        |at: usize| steps().skip(at).any(|(step, state)| matches!(step.object, Object::SdnApply(_)) && state.verified);
    let (mut half, mut staged) = (Vec::new(), Vec::new());
    for (at, (step, state)) in steps().enumerate() {
        let gone = step.wanted == Wanted::Absent && (state.own || state.before.is_some());
        // What is only looked at, held or put in force for others is nothing that can be half made.
        let itself = matches!(step.object.ensure().undo(&Difference::Nothing), Undo::Inverse | Undo::None(_));
        if itself && (gone || !state.verified && step.wanted != Wanted::Absent) {
            half.extend(names(&step.object));
        }
        let stages = matches!(step.object, Object::SdnZone(_) | Object::SdnVnet(_) | Object::SdnSubnet(_));
        if stages && (state.own || state.before.is_some()) && !applied(at) {
            staged.extend(names(&step.object));
        }
    }
    for list in [&mut half, &mut staged] {
        list.sort();
        list.dedup();
    }
    let who = lock.as_ref().map_or(entry.who.user.as_str(), |holder| holder.who.as_str());
    Open {
        id: entry.id.to_string(),
        title: clean(&entry.plan.title).into_owned(),
        who: clean(who).into_owned(),
        last: entry.last(),
        running,
        lock: lock.as_ref().map(|holder| holder.asked),
        certain: lock.is_some_and(|holder| holder.certain),
        steps: (states.iter().filter(|state| state.verified).count(), states.len()),
        at: steps()
            .find(|(_, state)| !state.verified)
            .map(|(step, _)| clean(&step.object.ensure().name()).into_owned()),
        half,
        staged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing::now;
    use crate::provision::fields::{Seen, fields};
    use crate::provision::journal::{Closing, Record, Who};
    use crate::provision::plan::Step;
    use crate::provision::sdn::SdnZone;
    use crate::provision::testing::{plan, thing};

    fn who() -> Who {
        Who { user: "operator".to_owned(), host: "console".to_owned(), pid: 7 }
    }

    #[test]
    fn an_open_change_tells_what_it_left_half_made_and_what_it_staged() {
        let dir = tempfile::tempdir().expect("a directory");
        let journal = Journal::in_state(dir.path());
        assert_eq!((journal.changes().open, journal.changes().lack), (Vec::new(), None), "none was made yet");
        let zone = Object::SdnZone(SdnZone { zone: "shop".to_owned() });
        let steps = vec![
            Step::present(zone, fields([("tag", "1")])),
            Step::present(thing("a"), fields([("tag", "1")])),
            Step::absent(thing("b")),
        ];
        let change = journal.begin(&who(), &plan(steps), now()).expect("begun");
        let begun = Record::Begun { step: 0, before: Seen::Absent, todo: Difference::Create(Vec::new()) };
        change.log.write(now(), begun).expect("written");
        change.log.write(now(), Record::Verified { step: 0, after: None }).expect("written");
        let told = journal.changes();
        let [open] = told.open.as_slice() else { panic!("{told:?}") };
        assert!(open.running, "this process has it");
        assert_eq!((open.steps, open.at.as_deref()), ((1, 3), Some("thing a")));
        assert_eq!((open.half.as_slice(), open.staged.as_slice()), (&["a".to_owned()][..], &["shop".to_owned()][..]));
        change.notes.set(crate::provision::sdn::TOKEN, "x", now()).expect("noted");
        drop(change);
        let told = journal.changes();
        assert_eq!(told.open.first().map(|open| (open.running, open.certain)), Some((false, true)));
        assert!(!serde_json::to_string(&told).expect("JSON").contains("\"x\""), "the token stays where it is");
        let (_, change) = journal.take_up("C-1".parse().expect("an id")).expect("taken up");
        change.log.close(now(), Closing::LeftAsItIs).expect("closed");
        assert!(journal.changes().open.is_empty());
    }

    #[test]
    fn a_journal_that_cannot_be_read_says_so() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("journal"), "no directory").expect("written");
        let told = Journal::in_state(dir.path()).changes();
        assert!(told.open.is_empty() && told.lack.is_some_and(|why| why.contains("cannot be read")));
    }
}
