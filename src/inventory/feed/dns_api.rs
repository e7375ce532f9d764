//! PowerDNS by its API: one cheap list a cycle; a zone's records only when its serial moved, and at times anyway.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use tokio::time::Instant;

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
const SERVER_AGE: Duration = Duration::from_secs(5 * 60);
/// How old the names of keys may be.
const KEYS_AGE: Duration = Duration::from_secs(60);
/// How old metadata may be, on screen and elsewhere: a change of them moves no serial (facts/dns.md §4).
const METADATA_AGE: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(5 * 60)];
/// The same of records: what is written into the database by hand moves none either.
const CONTENT_AGE: [Duration; 2] = [Duration::from_secs(5 * 60), Duration::from_secs(15 * 60)];
/// How soon a zone that could not be read is tried again.
const RETRY: Duration = Duration::from_secs(30);

/// RRsets of a zone that is read again on a wish alone: some 150 KB (facts/dns.md §3).
const SMALL: usize = 1000;

/// Something read, and when.
struct Kept<T> {
    seen: Seen<T>,
    /// Why the last try failed, where `seen` is what an earlier one gave.
    failed: Option<Gap>,
    at: Instant,
    /// Wishes made by then.
    wish: u64,
    /// Serial that the list of zones showed then.
    listed: Option<u32>,
}

impl<T> Kept<T> {
    const fn new(seen: Seen<T>, at: Instant, wish: u64) -> Self {
        Self { seen, failed: None, at, wish, listed: None }
    }

    fn is_older(&self, age: Duration, now: Instant) -> bool {
        let well = self.seen.is_ok() && self.failed.is_none();
        now.saturating_duration_since(self.at) >= if well { age } else { age.min(RETRY) }
    }
}

fn due<T>(kept: Option<&Kept<T>>, age: Duration, now: Instant) -> bool {
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
    /// How often a person wished that what was read before is read again.
    wish: u64,
}

impl Api {
    /// Lets everything that is small, and what is on screen, be read again.
    pub(super) fn read_anew(&mut self) {
        self.wish += 1;
        self.server = None;
        self.settings = None;
        self.keys = None;
    }

    /// The list of zones.
    pub(super) fn zones(&self) -> &[ZoneHead] {
        &self.zones
    }

    /// A zone's records, where they were ever read.
    pub(super) fn content(&self, zone: &Name) -> Option<&Arc<Zone>> {
        self.content.get(zone)?.seen.as_ref().ok()
    }

    /// The cheap parts, at `at`. Fails when the server or its list of zones cannot be had.
    pub(super) async fn lists(&mut self, client: &Client, at: Timestamp) -> Result<(), Trouble> {
        let (now, wish) = (Instant::now(), self.wish);
        if due(self.server.as_ref(), SERVER_AGE, now) {
            let server = client.server().await.map_err(|e| Trouble::from(&e))?;
            if let Some(daemon) = server.daemon.as_deref().filter(|daemon| *daemon != "authoritative") {
                return Err(Trouble {
                    kind: GapKind::Failed,
                    text: format!("{} is a {daemon}, not an authoritative server", client.origin()),
                    help: "Set url in [powerdns] to the API of the authoritative server.".to_owned(),
                });
            }
            self.server = Some(Kept::new(Ok(server), now, wish));
        }
        let zones = client.zones(ZoneListing::Lean).await.map_err(|e| Trouble::from(&e))?;
        if due(self.settings.as_ref(), SERVER_AGE, now) {
            let seen = client.settings().await.map_err(|e| gap(&e).about("settings"));
            self.settings = Some(Kept::new(seen, now, wish));
        }
        if due(self.keys.as_ref(), KEYS_AGE, now) {
            let seen = client.tsig_keys().await.map(Arc::from).map_err(|e| gap(&e).about("TSIG keys"));
            self.keys = Some(Kept::new(seen, now, wish));
        }
        self.zones = zones.into();
        self.at = Some(at);
        let there = |zone: &Name| self.zones.iter().any(|head| head.name == *zone);
        self.content.retain(|zone, _| there(zone));
        self.metadata.retain(|zone, _| there(zone));
        Ok(())
    }

    /// The next reads of `wanted` (zone, whether on screen); at most `sweep` of what is not on screen.
    pub(super) fn batch(&self, wanted: &[(Name, bool)], sweep: usize, now: Instant) -> Vec<Job> {
        let jobs = wanted.iter().flat_map(|(zone, shown)| {
            [Part::Content, Part::Metadata].map(|part| Job { zone: zone.clone(), part, shown: *shown })
        });
        jobs.filter(|job| self.is_due(job, now)).filter(|job| job.shown || sweep > 0).take(BATCH).collect()
    }

    fn is_due(&self, job: &Job, now: Instant) -> bool {
        let age = |ages: [Duration; 2]| {
            let [shown, other] = ages;
            if job.shown { shown } else { other }
        };
        let wished = |wish: u64| job.shown && wish < self.wish;
        match job.part {
            Part::Metadata => {
                let kept = self.metadata.get(&job.zone);
                due(kept, age(METADATA_AGE), now) || kept.is_some_and(|kept| wished(kept.wish))
            }
            Part::Content => {
                let kept = self.content.get(&job.zone);
                due(kept, age(CONTENT_AGE), now)
                    || kept.is_some_and(|kept| self.moved(&job.zone, kept) || wished(kept.wish) && is_small(kept))
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
    pub(super) async fn read(&mut self, client: &Client, jobs: Vec<Job>, now: Instant) {
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
                Done::Content(zone, seen) => self.keep(zone, seen, now),
                Done::Metadata(zone, seen) => drop(self.metadata.insert(zone, Kept::new(seen, now, self.wish))),
            }
        }
    }

    /// Keeps a zone's records. Those of an earlier read stay where this one failed.
    fn keep(&mut self, zone: Name, seen: Seen<Arc<Zone>>, now: Instant) {
        let before = self.content.remove(&zone).and_then(|kept| kept.seen.ok());
        let (seen, failed) = match (seen, before) {
            (Err(gap), Some(before)) => (Ok(before), Some(gap)),
            (seen, _) => (seen, None),
        };
        let listed = self.listed(&zone);
        self.content.insert(zone, Kept { failed, listed, ..Kept::new(seen, now, self.wish) });
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
        let old = self.content.iter().filter_map(|(zone, kept)| Some((zone.clone(), kept.failed.clone()?)));
        reading.old = old.collect();
        reading.metadata = self.metadata.iter().map(|(zone, kept)| (zone.clone(), kept.seen.clone())).collect();
    }
}

/// Parts that could not be had although the server answered.
pub(super) fn gaps(reading: &DnsReading) -> Vec<Gap> {
    let read = |gap: &&Gap| gap.kind != GapKind::NotRead;
    let parts = [reading.settings.as_ref().err(), reading.keys.as_ref().err()];
    let zones = reading.content.values().filter_map(|seen| seen.as_ref().err());
    let metadata = reading.metadata.values().filter_map(|seen| seen.as_ref().err());
    parts
        .into_iter()
        .flatten()
        .chain(zones)
        .chain(reading.old.values())
        .chain(metadata)
        .filter(read)
        .take(8)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::powerdns::Reach;
    use crate::inventory::testing::{Sample, now};

    const ZONE: &str = "tdemo.mobile.deevnet.net";

    fn read() -> (Api, Job, Arc<Zone>) {
        let dns = Sample::healthy().dns;
        let zone = dns.content[&Name::new(ZONE)].clone().expect("the zone");
        let mut api = Api { at: Some(now()), zones: dns.zones.expect("zones"), ..Api::default() };
        api.keep(Name::new(ZONE), Ok(Arc::clone(&zone)), Instant::now());
        (api, Job { zone: Name::new(ZONE), part: Part::Content, shown: true }, zone)
    }

    #[test]
    fn a_wish_reads_a_zone_again_once() {
        let (mut api, job, zone) = read();
        let now = Instant::now();
        assert!(!api.is_due(&job, now));
        api.read_anew();
        assert!(api.is_due(&job, now));
        api.keep(Name::new(ZONE), Ok(zone), now);
        assert!(!api.is_due(&job, now), "read since the wish, whatever any clock says");
    }

    #[test]
    fn a_zone_that_cannot_be_read_again_keeps_its_records_beside_the_gap() {
        let (mut api, job, zone) = read();
        let now = Instant::now();
        api.keep(Name::new(ZONE), Err(Gap::new(GapKind::Failed, "500")), now);
        assert!(!api.is_due(&job, now) && api.is_due(&job, now + RETRY));
        let mut reading = DnsReading::empty(super::super::super::testing::now(), Reach::Api);
        api.fill(&mut reading);
        assert_eq!(reading.content[&Name::new(ZONE)], Ok(Arc::clone(&zone)));
        assert_eq!(gaps(&reading).iter().map(|g| &*g.why).collect::<Vec<_>>(), ["500"]);
        api.keep(Name::new(ZONE), Ok(zone), now);
        api.fill(&mut reading);
        assert!(reading.old.is_empty() && gaps(&reading).is_empty());
    }
}
