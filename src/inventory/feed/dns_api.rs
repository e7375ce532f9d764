//! PowerDNS by its API: one cheap list a cycle; a zone's records only when its serial moved, and at times anyway.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};

use super::dns_trouble::{Trouble, gap};
use crate::backends::powerdns::model::{Server, Settings, TsigKeyName, Zone, ZoneHead, ZoneMetadata};
use crate::backends::powerdns::{Client, Name, ZoneListing};
use crate::inventory::readings::DnsReading;
use crate::inventory::source::{Gap, GapKind, Seen};

/// Zones of a batch: the client lets two requests through at once.
const BATCH: usize = 2;
/// Reads of zones that nobody looks at, a cycle: 62 tenants are read within half a minute, and no cycle is all sweep.
pub(super) const SWEEP: usize = 100;
/// How old version and settings may be.
const SERVER_AGE: SignedDuration = SignedDuration::from_mins(5);
/// How old the names of keys may be.
const KEYS_AGE: SignedDuration = SignedDuration::from_mins(1);
/// How old metadata may be, on screen and elsewhere: a change of them moves no serial (facts/dns.md §4).
const METADATA_AGE: [SignedDuration; 2] = [SignedDuration::from_secs(30), SignedDuration::from_mins(5)];
/// The same of records: what is written into the database by hand moves none either.
const CONTENT_AGE: [SignedDuration; 2] = [SignedDuration::from_mins(5), SignedDuration::from_mins(15)];
/// How soon a zone that could not be read is tried again.
const RETRY: SignedDuration = SignedDuration::from_secs(30);

/// RRsets of a zone that is read again on a wish alone: some 150 KB (facts/dns.md §3).
const SMALL: usize = 1000;

/// Something read, and when.
struct Kept<T> {
    seen: Seen<T>,
    at: Timestamp,
    /// Serial that the list of zones showed then.
    listed: Option<u32>,
}

impl<T> Kept<T> {
    const fn new(seen: Seen<T>, at: Timestamp) -> Self {
        Self { seen, at, listed: None }
    }

    fn is_older(&self, age: SignedDuration, now: Timestamp) -> bool {
        now.duration_since(self.at) >= if self.seen.is_ok() { age } else { age.min(RETRY) }
    }
}

fn due<T>(kept: Option<&Kept<T>>, age: SignedDuration, now: Timestamp) -> bool {
    kept.is_none_or(|kept| kept.is_older(age, now))
}

/// Whether reading the zone again on a wish costs little; a large one is read again only when its serial moved.
fn is_small(kept: &Kept<Arc<Zone>>) -> bool {
    kept.seen.as_ref().map_or(true, |zone| zone.rrsets.len() <= SMALL)
}

/// A part of a zone to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Content,
    Metadata,
}

/// A read to be made.
pub(super) struct Job {
    zone: Name,
    part: Part,
    /// Whether it is on screen.
    pub shown: bool,
}

enum Done {
    Content(Name, Seen<Arc<Zone>>),
    Metadata(Name, Seen<Arc<ZoneMetadata>>),
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Api {
    at: Option<Timestamp>,
    server: Option<Kept<Server>>,
    settings: Option<Kept<Settings>>,
    keys: Option<Kept<Arc<[TsigKeyName]>>>,
    zones: Arc<[ZoneHead]>,
    content: BTreeMap<Name, Kept<Arc<Zone>>>,
    metadata: BTreeMap<Name, Kept<Arc<ZoneMetadata>>>,
    /// What was read before this moment is read again: a person wished it.
    anew: Option<Timestamp>,
}

impl Api {
    /// Lets everything that is small, and what is on screen, be read again.
    pub(super) fn read_anew(&mut self, now: Timestamp) {
        self.anew = Some(now);
        self.server = None;
        self.settings = None;
        self.keys = None;
    }

    /// The list of zones.
    pub(super) fn zones(&self) -> &[ZoneHead] {
        &self.zones
    }

    /// A zone's records, where they were read.
    pub(super) fn content(&self, zone: &Name) -> Option<&Arc<Zone>> {
        self.content.get(zone)?.seen.as_ref().ok()
    }

    /// The cheap parts. Fails when the server or its list of zones cannot be had.
    pub(super) async fn lists(&mut self, client: &Client, now: Timestamp) -> Result<(), Trouble> {
        if due(self.server.as_ref(), SERVER_AGE, now) {
            let server = client.server().await.map_err(|e| Trouble::from(&e))?;
            if let Some(daemon) = server.daemon.as_deref().filter(|daemon| *daemon != "authoritative") {
                return Err(Trouble {
                    kind: GapKind::Failed,
                    text: format!("{} is a {daemon}, not an authoritative server", client.origin()),
                    help: "Set url in [powerdns] to the API of the authoritative server.".to_owned(),
                });
            }
            self.server = Some(Kept::new(Ok(server), now));
        }
        let zones = client.zones(ZoneListing::Lean).await.map_err(|e| Trouble::from(&e))?;
        if due(self.settings.as_ref(), SERVER_AGE, now) {
            let seen = client.settings().await.map_err(|e| gap(&e).about("settings"));
            self.settings = Some(Kept::new(seen, now));
        }
        if due(self.keys.as_ref(), KEYS_AGE, now) {
            let seen = client.tsig_keys().await.map(Arc::from).map_err(|e| gap(&e).about("TSIG keys"));
            self.keys = Some(Kept::new(seen, now));
        }
        self.zones = zones.into();
        self.at = Some(now);
        let there = |zone: &Name| self.zones.iter().any(|head| head.name == *zone);
        self.content.retain(|zone, _| there(zone));
        self.metadata.retain(|zone, _| there(zone));
        Ok(())
    }

    /// The next reads of `wanted` (zone, whether on screen); at most `sweep` of what is not on screen.
    pub(super) fn batch(&self, wanted: &[(Name, bool)], sweep: usize, now: Timestamp) -> Vec<Job> {
        let jobs = wanted.iter().flat_map(|(zone, shown)| {
            [Part::Content, Part::Metadata].map(|part| Job { zone: zone.clone(), part, shown: *shown })
        });
        jobs.filter(|job| self.is_due(job, now)).filter(|job| job.shown || sweep > 0).take(BATCH).collect()
    }

    fn is_due(&self, job: &Job, now: Timestamp) -> bool {
        let age = |ages: [SignedDuration; 2]| {
            let [shown, other] = ages;
            if job.shown { shown } else { other }
        };
        let wished = |at: Timestamp| job.shown && self.anew.is_some_and(|anew| at < anew);
        match job.part {
            Part::Metadata => {
                let kept = self.metadata.get(&job.zone);
                due(kept, age(METADATA_AGE), now) || kept.is_some_and(|kept| wished(kept.at))
            }
            Part::Content => {
                let kept = self.content.get(&job.zone);
                due(kept, age(CONTENT_AGE), now)
                    || kept.is_some_and(|kept| self.moved(&job.zone, kept) || wished(kept.at) && is_small(kept))
            }
        }
    }

    /// Whether the list shows another serial than the records have, and than it showed when they were read: where the
    /// two never agree, one read is enough.
    fn moved(&self, zone: &Name, kept: &Kept<Arc<Zone>>) -> bool {
        let (Ok(read), listed) = (&kept.seen, self.listed(zone)) else { return false };
        listed != read.head.serial && listed != kept.listed
    }

    fn listed(&self, zone: &Name) -> Option<u32> {
        self.zones.iter().find(|head| head.name == *zone)?.serial
    }

    /// Makes these reads.
    pub(super) async fn read(&mut self, client: &Client, jobs: Vec<Job>, now: Timestamp) {
        let read = async |job: Job| match job.part {
            Part::Content => {
                let seen = client.zone(&job.zone).await.map(Arc::new).map_err(|e| gap(&e).about(job.zone.as_str()));
                Done::Content(job.zone, seen)
            }
            Part::Metadata => {
                let seen = client.metadata(&job.zone).await.map(Arc::new);
                let seen = seen.map_err(|e| gap(&e).about(&format!("metadata of {}", job.zone)));
                Done::Metadata(job.zone, seen)
            }
        };
        for done in join_all(jobs.into_iter().map(read)).await {
            match done {
                Done::Content(zone, seen) => {
                    let listed = self.listed(&zone);
                    self.content.insert(zone, Kept { seen, at: now, listed });
                }
                Done::Metadata(zone, seen) => drop(self.metadata.insert(zone, Kept::new(seen, now))),
            }
        }
    }

    /// Puts what was read into `reading`.
    pub(super) fn fill(&self, reading: &mut DnsReading) {
        let Some(at) = self.at else { return };
        reading.at = at;
        reading.zones = Ok(Arc::clone(&self.zones));
        if let Some(server) = &self.server {
            reading.server = server.seen.clone();
        }
        if let Some(settings) = &self.settings {
            reading.settings = settings.seen.clone();
        }
        if let Some(keys) = &self.keys {
            reading.keys = keys.seen.clone();
        }
        reading.content = self.content.iter().map(|(zone, kept)| (zone.clone(), kept.seen.clone())).collect();
        reading.metadata = self.metadata.iter().map(|(zone, kept)| (zone.clone(), kept.seen.clone())).collect();
    }
}

/// Parts that could not be had although the server answered.
pub(super) fn gaps(reading: &DnsReading) -> Vec<Gap> {
    let read = |gap: &&Gap| gap.kind != GapKind::NotRead;
    let parts = [reading.settings.as_ref().err(), reading.keys.as_ref().err()];
    let zones = reading.content.values().filter_map(|seen| seen.as_ref().err());
    let metadata = reading.metadata.values().filter_map(|seen| seen.as_ref().err());
    parts.into_iter().flatten().chain(zones).chain(metadata).filter(read).take(8).cloned().collect()
}
