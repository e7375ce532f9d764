//! The hub: takes what workers say, keeps the newest reading of each, joins once for all that is ready.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::super::entities::{Flows, Inventory};
use super::super::join;
use super::super::readings::{BootReading, DnsReading, FwReading, PveReading, Readings, RegistryReading};
use super::super::source::{Gap, GapKind, SourceError, SourceHealth, SourceId};
use super::{BOOT_INTERVAL, DEADLINE, EXIT_INTERVAL, FW_INTERVAL, PVE_INTERVAL, Unusable};
use crate::backends::exit_node::model::Reading;
use crate::site::Site;

/// Shortest time between two pictures.
const PICTURE: std::time::Duration = std::time::Duration::from_millis(200);

/// What a worker reports.
pub(super) enum Update {
    /// Proxmox was read (perhaps only further details).
    Pve {
        /// The reading.
        reading: Arc<PveReading>,
        /// Parts that were refused although it answered.
        gaps: Vec<Gap>,
    },
    /// An exit node was read.
    Exit {
        /// Name in the site file.
        node: String,
        /// The reading.
        reading: Arc<Reading>,
        /// When it arrived, by our clock: ages are counted on one clock, rates on the node's.
        at: Timestamp,
        /// Interval in force.
        interval: SignedDuration,
    },
    /// Names were read (perhaps only further zones).
    Dns {
        /// The reading.
        reading: Arc<DnsReading>,
        /// Parts that could not be had although the server answered.
        gaps: Vec<Gap>,
    },
    /// The perimeter was read.
    Fw {
        /// The reading.
        reading: Arc<FwReading>,
        /// Parts that were refused although it answered.
        gaps: Vec<Gap>,
    },
    /// Check-ins were read.
    Boot {
        /// The reading.
        reading: Arc<BootReading>,
        /// Records that make no sense.
        gaps: Vec<Gap>,
    },
    /// The registry was read.
    Registry {
        /// The reading.
        reading: Arc<RegistryReading>,
        /// Lists that were refused although it answered.
        gaps: Vec<Gap>,
    },
    /// A source failed.
    Failed {
        /// Which.
        source: SourceId,
        /// Which exit node.
        node: Option<String>,
        /// How.
        kind: GapKind,
        /// One clean line.
        text: Arc<str>,
        /// What helps.
        help: Option<Arc<str>>,
        /// When.
        at: Timestamp,
        /// When it is tried again; `None` = never.
        next_try: Option<Timestamp>,
    },
}

impl Update {
    /// A source that failed at `at` and is tried again after `pause`.
    pub(super) fn failed(
        source: SourceId,
        kind: GapKind,
        (text, help): (impl Into<Arc<str>>, impl Into<Arc<str>>),
        at: Timestamp,
        pause: std::time::Duration,
    ) -> Self {
        let next_try = at.checked_add(pause).ok();
        Self::Failed { source, node: None, kind, text: text.into(), help: Some(help.into()), at, next_try }
    }

    /// A source without a client.
    pub(super) fn unusable(source: SourceId, node: Option<String>, why: &Unusable, at: Timestamp) -> Self {
        Self::Failed {
            source,
            node,
            kind: GapKind::Unusable,
            text: Arc::from(why.text.as_str()),
            help: why.help.as_deref().map(Arc::from),
            at,
            next_try: None,
        }
    }
}

/// State of the hub.
pub(super) struct Hub {
    site: Arc<Site>,
    readings: Readings,
    /// Health of each exit node; the header shows the worst.
    exits: BTreeMap<String, SourceHealth>,
    generation: u64,
    out: watch::Sender<Arc<Inventory>>,
}

impl Hub {
    pub(super) fn new(site: &Arc<Site>, exits: usize, now: Timestamp) -> Self {
        let mut readings = Readings::default();
        readings.sources.set(SourceId::Pve, SourceHealth::starting(PVE_INTERVAL, DEADLINE, now));
        if site.opnsense.is_some() {
            readings.sources.set(SourceId::Fw, SourceHealth::starting(FW_INTERVAL, DEADLINE, now));
        }
        if exits > 0 {
            readings.sources.set(SourceId::Exit, SourceHealth::starting(EXIT_INTERVAL, DEADLINE, now));
        }
        if site.powerdns.is_some() {
            readings.sources.set(SourceId::Dns, SourceHealth::starting(super::dns::INTERVAL, DEADLINE, now));
        }
        let starting = SourceHealth::starting(EXIT_INTERVAL, DEADLINE, now);
        let exits = site.exit_nodes.iter().map(|e| (e.name.clone(), starting.clone())).collect();
        for (id, named) in [(SourceId::Boot, site.bootstrap.is_some()), (SourceId::Registry, site.registry.is_some())] {
            if named {
                readings.sources.set(id, SourceHealth::starting(BOOT_INTERVAL, DEADLINE, now));
            }
        }
        let first = Arc::new(join(site, &readings, 0));
        Self { site: Arc::clone(site), readings, exits, generation: 0, out: watch::Sender::new(first) }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Arc<Inventory>> {
        self.out.subscribe()
    }

    /// Runs until all workers are gone.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Update>) {
        while let Some(update) = inbox.recv().await {
            self.take(update);
            while let Ok(update) = inbox.try_recv() {
                self.take(update);
            }
            self.generation += 1;
            let begun = Instant::now();
            let picture = Arc::new(join(&self.site, &self.readings, self.generation));
            tracing::debug!(us = begun.elapsed().as_micros(), "joined");
            self.out.send_replace(picture);
            // A sweep reports many times a second; a person sees no more than a few pictures of it.
            tokio::time::sleep(PICTURE).await;
        }
    }

    fn take(&mut self, update: Update) {
        match update {
            Update::Pve { reading, gaps } => {
                self.succeeded(SourceId::Pve, reading.at, gaps);
                self.readings.pve = Some(reading);
            }
            Update::Dns { reading, gaps } => {
                self.succeeded(SourceId::Dns, reading.at, gaps);
                self.readings.dns = Some(reading);
            }
            Update::Fw { reading, gaps } => {
                self.succeeded(SourceId::Fw, reading.at, gaps);
                self.readings.fw = Some(reading);
            }
            Update::Boot { reading, gaps } => {
                self.succeeded(SourceId::Boot, reading.at, gaps);
                self.readings.boot = Some(reading);
            }
            Update::Registry { reading, gaps } => {
                self.succeeded(SourceId::Registry, reading.at, gaps);
                self.readings.registry = Some(reading);
            }
            Update::Exit { node, reading, at, interval } => self.take_exit(node, reading, at, interval),
            Update::Failed { source, node, kind, text, help, at, next_try } => {
                tracing::warn!(source = source.label(), node = node.as_deref(), %text, "source failed");
                let error = |since| SourceError { kind, text: Arc::clone(&text), help: help.clone(), since };
                match node {
                    Some(node) => {
                        if let Some(health) = self.exits.get_mut(&node) {
                            fail(health, error, at, next_try);
                        }
                        let gap = Gap::new(kind, Arc::clone(&text));
                        if !matches!(self.readings.exits.get(&node), Some(Ok(_))) {
                            self.readings.exits.insert(node.clone(), Err(gap.clone()));
                        }
                        self.forget_rates(&node);
                        self.readings.stale_exits.insert(node, gap);
                        self.rate_exits();
                    }
                    None => {
                        let mut health = self.readings.sources.get(source).clone();
                        fail(&mut health, error, at, next_try);
                        self.readings.sources.set(source, health);
                    }
                }
            }
        }
    }

    fn succeeded(&mut self, source: SourceId, at: Timestamp, gaps: Vec<Gap>) {
        let mut health = self.readings.sources.get(source).clone();
        succeed(&mut health, at, gaps);
        self.readings.sources.set(source, health);
    }

    fn take_exit(&mut self, node: String, reading: Arc<Reading>, at: Timestamp, interval: SignedDuration) {
        let before = self.readings.exits.get(&node).and_then(|r| r.as_ref().ok());
        let flows: Flows = self.readings.flows.advance(before.map(Arc::as_ref), &reading, at);
        self.readings.flows = Arc::new(flows);
        if let Some(health) = self.exits.get_mut(&node) {
            health.interval = interval;
            succeed(health, at, reading.unread().into_iter().map(Gap::from).collect());
        }
        self.readings.stale_exits.remove(&node);
        self.readings.exits.insert(node, Ok(reading));
        self.rate_exits();
    }

    /// A rate is of now: with the reading it becomes unknown, while the counts stay as last seen.
    fn forget_rates(&mut self, node: &str) {
        let flows = Arc::make_mut(&mut self.readings.flows);
        flows.bytes_s.retain(|(n, _), _| n != node);
        flows.snat.iter_mut().filter(|((n, _), _)| n == node).for_each(|(_, flow)| flow.per_second = None);
    }

    /// The header's EXIT is the worst of the exit nodes: a failure first, else the oldest, and what was
    /// never read is older than anything. Gaps of all are told.
    fn rate_exits(&mut self) {
        let worst = self.exits.values().max_by_key(|h| (h.error.is_some(), std::cmp::Reverse(h.observed_at)));
        let Some(mut health) = worst.cloned() else { return };
        if let [_, _, ..] = self.site.exit_nodes.as_slice() {
            let about = |name: &String| self.site.short_name(name).to_owned();
            health.gaps =
                self.exits.iter().flat_map(|(n, h)| h.gaps.iter().map(|g| g.clone().about(&about(n)))).collect();
        }
        self.readings.sources.set(SourceId::Exit, health);
    }
}

fn succeed(health: &mut SourceHealth, at: Timestamp, gaps: Vec<Gap>) {
    health.observed_at = Some(at);
    health.error = None;
    health.next_try = None;
    health.gaps = gaps;
}

fn fail(
    health: &mut SourceHealth,
    error: impl FnOnce(Timestamp) -> SourceError,
    at: Timestamp,
    next_try: Option<Timestamp>,
) {
    let since = health.error.as_ref().map_or(at, |e| e.since);
    health.error = Some(error(since));
    health.next_try = next_try;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::source::SourceStatus;
    use crate::inventory::testing::{self, Sample, now};

    #[test]
    fn an_exit_node_that_was_never_read_is_worse_than_one_that_was() {
        let mut site = testing::site();
        let (read, mut unread) = (site.exit_nodes[0].name.clone(), site.exit_nodes[0].clone());
        unread.name = "dv02hyp009p01".into();
        site.exit_nodes.push(unread.clone());
        let mut hub = Hub::new(&Arc::new(site), 2, now());
        let status = |hub: &Hub| hub.readings.sources.get(SourceId::Exit).status(now());
        let reading = Arc::new(Sample::healthy().exit);
        let answered = |node: &str| Update::Exit {
            node: node.to_owned(),
            reading: Arc::clone(&reading),
            at: now(),
            interval: EXIT_INTERVAL,
        };
        hub.take(answered(&read));
        assert_eq!(status(&hub), SourceStatus::Loading, "half of the answer is no answer");
        hub.take(answered(&unread.name));
        assert_eq!(status(&hub), SourceStatus::Fresh);
        hub.take(Update::unusable(SourceId::Exit, Some(read), &Unusable { text: "x".into(), help: None }, now()));
        assert_eq!(status(&hub), SourceStatus::Stale);
    }
}
