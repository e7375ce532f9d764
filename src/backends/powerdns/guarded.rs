//! Record sets replaced only while they are as they were read.
//!
//! The API has no condition on a change (facts/dns.md §1, §3): whoever writes between a reading and a change is
//! overwritten. What can be done is to look right before and right after, and to say when somebody else was there. A change
//! that must not meet another writer is made by [`crate::backends::dns::update()`], whose conditions the server checks itself.

use super::change::{BadChange, Change, Write, same_comments, sorted};
use super::client::Client;
use super::error::Error;
use super::model::{RrSet, Zone};
use super::name::Name;
use crate::backends::permit::Permit;

/// A change and the set it was decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarded {
    /// As it was read, disabled records and comments included; `None` = it was not there.
    pub seen: Option<RrSet>,
    /// What is to become of it.
    pub change: Change,
}

/// What guarded changes have come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// All was as wanted; nothing was sent.
    Unchanged,
    /// Written and read back.
    Written {
        /// The zone's serial now.
        serial: Option<u32>,
        /// Whether the serial tells that nobody else wrote the zone between the two readings. `Some(false)`: somebody did,
        /// and what they wrote into one of these sets just before us is lost. `None`: the zone's serials do not tell.
        alone: Option<bool>,
    },
}

impl Guarded {
    /// The change of a set of `zone` as it was read.
    #[must_use]
    pub fn of(zone: &Zone, change: Change) -> Self {
        Self { seen: zone.rrset(change.name(), change.kind()).cloned(), change }
    }

    /// Whether the set in `zone` is still the one that was seen.
    fn holds(&self, zone: &Zone) -> bool {
        match (&self.seen, zone.rrset(self.change.name(), self.change.kind())) {
            (None, None) => true,
            (Some(seen), Some(now)) => {
                seen.ttl == now.ttl
                    && sorted(&seen.kind, &seen.records) == sorted(&now.kind, &now.records)
                    && same_comments(&seen.comments, &now.comments)
            }
            _ => false,
        }
    }
}

impl Client {
    /// Reads the zone, makes those of `changes` that are not made yet if their sets are as they were seen, and reads the
    /// zone again. Three requests; one when there is nothing to do.
    ///
    /// # Errors
    /// [`Error::Moved`] when a set is another than seen: nothing was sent. [`Error::Overtaken`] when one reads back as
    /// something else than was written. And as [`Client::perform`].
    pub async fn replace(&self, permit: &Permit, zone: &Name, changes: &[Guarded]) -> Result<Replaced, Error> {
        // All of it: a filter leaves disabled records out before 5.0 (facts/dns.md §3).
        let before = self.zone(zone).await?;
        let open: Vec<&Guarded> = changes.iter().filter(|one| !one.change.is_made(&before)).collect();
        if open.is_empty() {
            return Ok(Replaced::Unchanged);
        }
        if let Some(moved) = open.iter().find(|one| !one.holds(&before)) {
            let (name, kind) = (moved.change.name().clone(), moved.change.kind().to_owned());
            return Err(Error::Moved { name, kind });
        }
        if before.bytes_replaced && open.iter().any(|one| has_replaced(&one.change)) {
            return Err(BadChange::new(zone, "what was read of it is not what is stored: bytes were replaced").into());
        }
        let sent = open.iter().map(|one| one.change.clone()).collect();
        self.perform(permit, &Write::Patch(zone.clone(), sent)).await?;
        let after = self.zone(zone).await?;
        if let Some(lost) = open.iter().find(|one| !one.change.is_made(&after)) {
            let (name, kind) = (lost.change.name().clone(), lost.change.kind().to_owned());
            return Err(Error::Overtaken { name, kind });
        }
        Ok(Replaced::Written { serial: after.head.serial, alone: alone(&before, &after) })
    }
}

fn has_replaced(change: &Change) -> bool {
    match change {
        Change::Replace { records, .. } => records.iter().any(|record| record.content.raw().contains('\u{fffd}')),
        Change::Delete { .. } => false,
    }
}

/// Every change moves the serial by one where the zone says `INCREASE`; other ways jump.
fn alone(before: &Zone, after: &Zone) -> Option<bool> {
    let steady = |zone: &Zone| zone.head.soa_edit_api.as_deref() == Some("INCREASE");
    let (old, new) = (before.head.serial?, after.head.serial?);
    (steady(before) && steady(after) && old != 0).then(|| new == old.wrapping_add(1))
}
