//! Changes that did not come to their end, as a diagnosis reads them.

use super::{ChangeId, Entry, Journal, JournalError};
use crate::diagnose::facts::journal::{CHANGES, Changes, Left, Open, Staged, What};
use crate::provision::fields::{Difference, Seen, Wanted};
use crate::provision::names::SignedRecords;
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
                Ok(entry) if entry.closed().is_none() => open.extend(self.still_open(&entry)),
                Ok(_) | Err(JournalError::NoPlan { .. }) => {}
                Err(why) => lack = lack.or(Some(why.to_string())),
            }
        }
        Changes { schema: CHANGES.to_owned(), lack: lack.map(|why| clean(&why).into_owned()), open }
    }

    /// What an entry that was read as open tells; `None` where the change ended since.
    fn still_open(&self, entry: &Entry) -> Option<Open> {
        match self.not_running(entry.id) {
            Ok(None) => Some(told(entry, Some(true))),
            Ok(Some(now)) => now.closed().is_none().then(|| told(&now, Some(false))),
            Err(_) => Some(told(entry, None)),
        }
    }

    /// What a change's file tells once nobody runs it; `None` while somebody does. It may have ended after it was read the last
    /// time: whoever ran it wrote that before letting go.
    ///
    /// # Errors
    /// When its file cannot be read: then it is not known whether anybody runs it.
    pub fn not_running(&self, id: ChangeId) -> Result<Option<Entry>, JournalError> {
        if self.is_running(id)? { Ok(None) } else { self.read(id).map(Some) }
    }
}

/// What a finding would speak of while the object is half made; `None` where no finding speaks of its kind.
fn left(object: &Object) -> Option<Left> {
    let (what, name) = match object {
        Object::SdnZone(zone) => (What::SdnZone, zone.zone.clone()),
        Object::SdnVnet(vnet) => (What::Vnet, vnet.vnet.clone()),
        Object::Stanza(stanza) => (What::Stanza, format!("{}/{}", stanza.node, stanza.tenant)),
        Object::DnsZone(zone) => (What::DnsZone, zone.zone.clone()),
        Object::TsigKey(key) => (What::Key, key.key.clone()),
        Object::DnsRecords(set) | Object::SignedRecords(SignedRecords { set, .. })
            if matches!(set.rtype.as_str(), "A" | "PTR") =>
        {
            (What::Record, set.owner.clone())
        }
        Object::Forward(forward) => (What::Forward, forward.domain.clone()),
        _ => return None,
    };
    Some(Left { what, name: name.trim_end_matches('.').to_owned() })
}

/// The object as the list of what waits in SDN has it; `None` where it is none that is staged there.
fn staged(object: &Object, state: &'static str) -> Option<Staged> {
    let (kind, id) = match object {
        Object::SdnZone(zone) => ("zone", zone.zone.clone()),
        Object::SdnVnet(vnet) => ("vnet", vnet.vnet.clone()),
        Object::SdnSubnet(subnet) => {
            ("subnet", format!("{}-{}-{}", subnet.zone, subnet.net.network(), subnet.net.prefix_len()))
        }
        _ => return None,
    };
    Some(Staged { kind: kind.to_owned(), id, state: state.to_owned() })
}

fn told(entry: &Entry, running: Option<bool>) -> Open {
    let states = entry.steps();
    let steps = || entry.plan.steps.iter().zip(&states);
    let lock = holder([entry]);
    // An apply that was read back puts all that was staged before it in force.
    let applied =
        |at: usize| steps().skip(at).any(|(step, state)| matches!(step.object, Object::SdnApply(_)) && state.verified);
    let (mut half, mut waits) = (Vec::new(), Vec::new());
    for (at, (step, state)) in steps().enumerate() {
        let gone = step.wanted == Wanted::Absent && (state.own || state.before.is_some());
        // What is only looked at, held or put in force for others is nothing that can be half made.
        let itself = matches!(step.object.ensure().undo(&Difference::Nothing), Undo::Inverse | Undo::None(_));
        if itself && (gone || !state.verified && step.wanted != Wanted::Absent) {
            half.extend(left(&step.object));
        }
        let state = match (&step.wanted, &state.before) {
            (_, None) => continue,
            (Wanted::Absent, _) => "deleted",
            (_, Some(Seen::Absent)) => "new",
            _ => "changed",
        };
        waits.extend(staged(&step.object, state).filter(|_| !applied(at)));
    }
    half.sort();
    half.dedup();
    let who = lock.as_ref().map_or(entry.who.user.as_str(), |holder| holder.who.as_str());
    Open {
        id: entry.id.to_string(),
        title: clean(&entry.plan.title).into_owned(),
        who: clean(who).into_owned(),
        last: entry.last(),
        running,
        tenant: entry.plan.subject.tenant.as_deref().map(|tenant| clean(tenant).into_owned()),
        lock: lock.as_ref().map(|holder| holder.asked),
        certain: lock.is_some_and(|holder| holder.certain),
        steps: (states.iter().filter(|state| state.verified).count(), states.len()),
        at: steps()
            .find(|(_, state)| !state.verified)
            .map(|(step, _)| clean(&step.object.ensure().name()).into_owned()),
        half,
        staged: waits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing::now;
    use crate::provision::egress::Stanza;
    use crate::provision::fields::fields;
    use crate::provision::journal::{Closing, Record, Who};
    use crate::provision::names::{DnsRecords, Forward};
    use crate::provision::plan::Step;
    use crate::provision::sdn::{SdnSubnet, SdnZone};
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
            Step::present(Object::Forward(Forward { domain: "shop.example".to_owned() }), fields([("server", "x")])),
            Step::absent(thing("b")),
        ];
        let change = journal.begin(&who(), &plan(steps), now()).expect("begun");
        let begun = Record::Begun { step: 0, before: Seen::Absent, todo: Difference::Create(Vec::new()) };
        change.log.write(now(), begun).expect("written");
        change.log.write(now(), Record::Verified { step: 0, after: None }).expect("written");
        let told = journal.changes();
        let [open] = told.open.as_slice() else { panic!("{told:?}") };
        assert_eq!(open.running, Some(true), "this process has it");
        assert_eq!((open.steps, open.at.as_deref()), ((1, 3), Some("forward shop.example")));
        assert_eq!(open.half, [Left { what: What::Forward, name: "shop.example".to_owned() }]);
        let zone = Staged { kind: "zone".to_owned(), id: "shop".to_owned(), state: "new".to_owned() };
        assert_eq!(open.staged, [zone]);
        change.notes.set(crate::provision::sdn::TOKEN, "x", now()).expect("noted");
        drop(change);
        let told = journal.changes();
        assert_eq!(told.open.first().map(|open| (open.running, open.certain)), Some((Some(false), true)));
        assert!(!serde_json::to_string(&told).expect("JSON").contains("\"x\""), "the token stays where it is");
        let id = "C-1".parse().expect("an id");
        let read = journal.read(id).expect("read");
        assert_eq!(journal.still_open(&read).map(|open| open.running), Some(Some(false)));
        let (_, change) = journal.take_up(id).expect("taken up");
        change.log.close(now(), Closing::LeftAsItIs).expect("closed");
        drop(change);
        assert!(journal.changes().open.is_empty());
        assert_eq!(journal.still_open(&read), None, "it ended after it was read");
        std::fs::remove_file(journal.path(id)).expect("removed");
        assert_eq!(journal.still_open(&read).map(|open| open.running), Some(None), "nobody can say");
    }

    #[test]
    fn what_is_staged_is_told_as_the_list_of_what_waits_has_it() {
        let (zone, vnet) = ("shop".to_owned(), "shop0".to_owned());
        let subnet = SdnSubnet { zone, vnet, net: "10.9.129.0/24".parse().expect("a prefix") };
        let told = staged(&Object::SdnSubnet(subnet), "deleted").map(|one| (one.kind, one.id, one.state));
        let wanted = ("subnet", "shop-10.9.129.0-24", "deleted");
        assert_eq!(told, Some((wanted.0.to_owned(), wanted.1.to_owned(), wanted.2.to_owned())));
        let is = |object: &Object| left(object).map(|left| (left.what, left.name));
        let stanza = Stanza { node: "hv02".to_owned(), tenant: "tdemo".to_owned() };
        assert_eq!(is(&Object::Stanza(stanza)), Some((What::Stanza, "hv02/tdemo".to_owned())));
        let set = |rtype: &str| DnsRecords {
            zone: "shop.example".to_owned(),
            owner: "app.shop.example".to_owned(),
            rtype: rtype.to_owned(),
            known: false,
        };
        assert_eq!(is(&Object::DnsRecords(set("A"))), Some((What::Record, "app.shop.example".to_owned())));
        assert_eq!(is(&Object::DnsRecords(set("TXT"))), None, "no finding speaks of it");
    }

    #[test]
    fn a_journal_that_cannot_be_read_says_so() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("journal"), "no directory").expect("written");
        let told = Journal::in_state(dir.path()).changes();
        assert!(told.open.is_empty() && told.lack.is_some_and(|why| why.contains("cannot be read")));
    }
}
