//! The worker of names: PowerDNS by its API or by queries, and the perimeter resolver beside it.
//!
//! The source is PowerDNS: a resolver that is dead leaves gaps, not a failed source.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::dns_api::{self, Api, SWEEP};
use super::dns_queries::{self as queries, Answers, WAVE};
use super::dns_trouble::Trouble;
use super::dns_wanted::{Tenants, Wanted, own};
use super::hub::{PICTURE, Update};
use super::pace::Pace;
use super::{Clock, DEADLINE, DnsClient, Wishes};
use crate::backends::http::Limits;
use crate::backends::powerdns::{Client, Knowledge, Part, Reach};
use crate::inventory::readings::{COMPARED, Demand, DnsReading, QuestionKey};
use crate::inventory::source::{Gap, GapKind, SourceId};
use crate::site::Site;
use crate::site::model::PowerDnsSite;

/// Time between two reads of the cheap parts.
pub(super) const INTERVAL: SignedDuration = SignedDuration::from_secs(10);
/// Questions to the perimeter a cycle.
const PERIMETER: usize = 200;
/// Questions to an authority without an API a cycle: 62 tenants of 40 workloads are asked within two minutes.
const AUTHORITY: usize = 500;

/// The worker.
pub(super) struct Worker {
    site: Arc<Site>,
    dns: PowerDnsSite,
    reach: Reach,
    access: DnsClient,
    /// The client, once there is one: in mode `tunnel` after it was opened.
    client: Option<Client>,
    clock: Clock,
    out: mpsc::Sender<Update>,
    pace: Pace,
    api: Api,
    authority: Answers,
    perimeter: Answers,
    /// Why the perimeter is not asked any more in this cycle.
    resolver: Option<Gap>,
    /// Whether it was found out in this cycle that the perimeter answers at all.
    probed: bool,
    /// When the cycle began, for people and for ages.
    began: Timestamp,
    since: Instant,
    /// Questions to the perimeter left in this cycle.
    left: usize,
    wanted: Wanted,
    /// Questions to the authority that wait in this cycle, and how many it may still be asked; see [`Self::queue`].
    waiting: Option<Vec<QuestionKey>>,
    budget: usize,
    /// Whose names there are to read.
    tenants: Tenants,
    /// When it last told.
    told: Option<Instant>,
    /// Whether it rested since it last looked: waiting marks as seen what it wakes for, and pictures it does not wake for.
    rested: bool,
    /// What is compared; `None` when the screen, the picture or a zone changed since.
    compared: Option<Vec<QuestionKey>>,
}

/// Nobody listens any more.
struct Gone;

/// What came of a wave of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// There was nothing to ask.
    Nothing,
    Some,
    /// No answer to any.
    Silence,
}

impl Worker {
    pub(super) fn new(
        site: &Arc<Site>,
        dns: PowerDnsSite,
        access: DnsClient,
        clock: &Clock,
        out: &mpsc::Sender<Update>,
    ) -> Self {
        let client = if let DnsClient::Api(client) = &access { Some(client.clone()) } else { None };
        Self {
            site: Arc::clone(site),
            reach: Reach::of(&dns),
            pace: Pace::new(&dns.dns.to_string()),
            dns,
            access,
            client,
            clock: Arc::clone(clock),
            out: out.clone(),
            api: Api::default(),
            authority: Answers::default(),
            perimeter: Answers::default(),
            resolver: None,
            probed: false,
            began: clock(),
            since: Instant::now(),
            left: 0,
            wanted: Wanted::default(),
            waiting: None,
            budget: 0,
            tenants: Tenants::default(),
            told: None,
            rested: true,
            compared: None,
        }
    }

    /// Reads until nobody listens.
    pub(super) async fn run(mut self, mut wishes: Wishes) {
        let mut last = None;
        loop {
            let answered = wishes.wished(SourceId::Dns);
            (self.began, self.since) = ((self.clock)(), Instant::now());
            if last.replace(answered).is_some_and(|before| before != answered) {
                self.api.read_anew();
            }
            let result = self.cycle(&mut wishes).await;
            let alive = result.is_ok();
            let pause = match result {
                Ok(()) => self.pace.well(INTERVAL),
                Err(trouble) => {
                    let pause = self.pace.failed(INTERVAL);
                    if self.report(trouble, pause).await.is_err() {
                        return;
                    }
                    pause
                }
            };
            if self.rest(&mut wishes, answered, (pause, alive)).await.is_err() {
                return;
            }
        }
    }

    /// One cycle of what is cheap. Fails when PowerDNS cannot be asked.
    async fn cycle(&mut self, wishes: &mut Wishes) -> Result<(), Trouble> {
        self.want(wishes);
        let at_once = wishes.demand.borrow().at_once;
        let most = |most: usize| if at_once { usize::MAX } else { most };
        self.left = most(PERIMETER);
        (self.resolver, self.probed) = (None, false);
        if self.reach.has_api() {
            let client = self.connect().await?;
            self.api.lists(&client, self.began).await?;
        } else {
            let server = self.dns.dns;
            let alive = queries::alive(server, false, &self.first(), &self.clock).await;
            alive.map_err(|failure| Trouble::from(&failure))?;
            self.authority.forget(Instant::now());
            (self.waiting, self.budget) = (None, most(AUTHORITY));
        }
        self.publish().await.ok();
        Ok(())
    }

    /// What the newest picture and the screen ask for. Holds no picture: an old one would live for as long as it rests.
    fn want(&mut self, wishes: &mut Wishes) {
        let news = [wishes.picture.has_changed(), wishes.demand.has_changed()];
        if !std::mem::take(&mut self.rested) && !news.into_iter().any(|changed| changed.unwrap_or(true)) {
            return;
        }
        let demand: Demand = wishes.demand.borrow_and_update().clone();
        let picture = wishes.picture.borrow_and_update();
        let wanted = Wanted::of(&self.site, &picture, &demand, self.reach.has_api());
        self.tenants = Tenants::of(&picture);
        if wanted != self.wanted {
            self.wanted = wanted;
            (self.waiting, self.compared) = (None, None);
        }
    }

    /// The client. A tunnel is opened here, so that nobody waits for it but this worker.
    async fn connect(&mut self) -> Result<Client, Trouble> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let DnsClient::Tunnel { key, ssh } = &self.access else {
            let error = crate::backends::powerdns::Error::NotConfigured("there is no client for the site's mode");
            return Err(Trouble::from(&error));
        };
        let key = Zeroizing::new(key.expose().to_owned());
        let opened = Client::connect(&self.dns, key, limits(), ssh, DEADLINE.unsigned_abs()).await;
        let client = opened.map_err(|e| Trouble::from(&e))?;
        self.client = Some(client.clone());
        Ok(client)
    }

    /// A question that the authority of this site can answer.
    fn first(&self) -> QuestionKey {
        let site = || (crate::backends::powerdns::Name::new(&self.site.domain), "SOA");
        self.wanted.authority().first().map_or_else(site, |(key, _)| key.clone())
    }

    /// What the authority is still asked in this cycle, the next question last: what is on screen, then the rest.
    fn queue(&self) -> Vec<QuestionKey> {
        let all = self.wanted.authority();
        let of = |wanted: bool| all.iter().filter(move |(_, shown)| *shown == wanted).map(|(key, _)| key.clone());
        let mut due = self.authority.due(of(true), (self.since, Duration::ZERO), self.budget);
        let left = self.budget - due.len().min(self.budget);
        due.extend(self.authority.due(of(false), (self.since, Duration::from_secs(60)), left));
        due.reverse();
        due
    }

    /// Asks the authority the next questions, a wave at a time, so that a name that meets silence keeps nobody waiting.
    async fn ask_authority(&mut self) -> Asked {
        if self.reach.has_api() {
            return Asked::Nothing;
        }
        let mut waiting = self.waiting.take().unwrap_or_else(|| self.queue());
        let mut wave = waiting.split_off(waiting.len().saturating_sub(WAVE));
        self.waiting = Some(waiting);
        wave.reverse();
        let asked = wave.len();
        if asked == 0 {
            return Asked::Nothing;
        }
        self.budget -= asked.min(self.budget);
        let silent = self.authority.ask(self.dns.dns, false, wave, &self.clock).await;
        if silent == asked { Asked::Silence } else { Asked::Some }
    }

    /// Between cycles: zones batch by batch, then the perimeter; at once what is newly on screen.
    async fn rest(&mut self, wishes: &mut Wishes, answered: u64, (pause, alive): (Duration, bool)) -> Result<(), Gone> {
        let until = Instant::now() + pause;
        let mut sweep = if wishes.demand.borrow().at_once { usize::MAX } else { SWEEP };
        let mut untold = false;
        loop {
            self.want(wishes);
            let asked = if alive { self.ask_authority().await } else { Asked::Nothing };
            let more =
                alive && (asked != Asked::Nothing || self.read_zones(&mut sweep).await || self.ask_perimeter().await);
            untold |= more;
            // A wave is asked faster than a picture is made of it.
            if untold && (!more || self.told.is_none_or(|at| at.elapsed() >= PICTURE)) {
                self.publish().await?;
                untold = false;
            }
            if more {
                // The next cycle begins with whether the server lives.
                if asked == Asked::Silence
                    || Instant::now() >= until
                    || wishes.refresh.borrow().of(SourceId::Dns) != answered
                {
                    return if untold { self.publish().await } else { Ok(()) };
                }
                continue;
            }
            self.rested = true;
            tokio::select! {
                rested = wishes.refresh.wait_for(|r| r.of(SourceId::Dns) != answered) => {
                    return rested.map(drop).map_err(|_| Gone);
                }
                changed = wishes.demand.changed() => changed.map_err(|_| Gone)?,
                // Only whose names there are to read is a reason to wake up, not every picture.
                changed = wishes.picture.wait_for(|new| !self.tenants.are_of(new)) => {
                    changed.map_err(|_| Gone)?;
                    if !self.reach.has_api() {
                        return Ok(());
                    }
                }
                () = tokio::time::sleep_until(until) => return Ok(()),
            }
        }
    }

    /// Reads the next zones; whether there were any to be read.
    async fn read_zones(&mut self, sweep: &mut usize) -> bool {
        let Some(client) = self.client.clone() else { return false };
        let zones = self.wanted.zones(&self.site, self.api.zones());
        let now = Instant::now();
        let jobs = self.api.batch(&zones, *sweep, now);
        if jobs.is_empty() {
            return false;
        }
        *sweep = sweep.saturating_sub(jobs.iter().filter(|job| !job.shown).count());
        self.api.read(&client, jobs, now).await;
        self.compared = None;
        true
    }

    /// What is worth comparing: names of workloads on screen, then all other addresses, aliases and pointers there.
    fn compared(&self) -> Vec<QuestionKey> {
        let shown = || self.wanted.holders.iter().filter(|h| h.shown);
        let mut keys: Vec<QuestionKey> = shown().flat_map(|h| h.hosts.iter().flat_map(own)).collect();
        keys.extend(shown().flat_map(|h| h.zones.iter().map(|zone| (zone.clone(), "SOA"))));
        let mut seen: std::collections::BTreeSet<QuestionKey> = keys.iter().cloned().collect();
        for zone in shown().flat_map(|h| &h.zones).filter_map(|zone| self.api.content(zone)) {
            for set in zone.rrsets.iter().filter(|set| !set.records.is_empty()) {
                let kind = COMPARED.into_iter().find(|kind| *kind == set.kind);
                let key = kind.filter(|_| queries::can_be_asked(&set.name)).map(|kind| (set.name.clone(), kind));
                keys.extend(key.filter(|key| seen.insert(key.clone())));
            }
        }
        keys
    }

    /// Asks the perimeter the next questions; whether there were any. Its silence is found out once a cycle.
    async fn ask_perimeter(&mut self) -> bool {
        let Some(resolvers) = self.site.resolvers.clone() else { return false };
        let compared = self.compared.take().unwrap_or_else(|| self.compared());
        let due = self.perimeter.due(compared.iter().cloned(), (self.since, Duration::ZERO), self.left);
        self.compared = Some(compared);
        if due.is_empty() {
            return false;
        }
        let now = Instant::now();
        if self.resolver.is_none() && !std::mem::replace(&mut self.probed, true) {
            let alive = queries::alive(resolvers.ask, true, &queries::localhost(), &self.clock).await;
            self.resolver = alive.err().map(|failure| queries::dead_resolver(resolvers.perimeter, &failure));
        }
        if let Some(gap) = self.resolver.clone() {
            self.perimeter.leave(due, &gap, now);
            return true;
        }
        let wave: Vec<QuestionKey> = due.into_iter().take(WAVE).collect();
        let asked = wave.len();
        self.left -= asked;
        if self.perimeter.ask(resolvers.ask, true, wave, &self.clock).await == asked && asked == WAVE {
            // Silence about names behind it, while it answers for itself: the rest would be no different.
            let why = format!("{} says nothing about names of this site", resolvers.perimeter);
            self.resolver = Some(Gap::new(GapKind::NoAnswer, why));
        }
        self.perimeter.forget(now);
        true
    }

    async fn publish(&mut self) -> Result<(), Gone> {
        let now = Instant::now();
        self.told = Some(now);
        let mut reading = DnsReading::empty(self.began, self.reach);
        if self.reach.has_api() {
            self.api.fill(&mut reading);
        } else {
            unknowable(&mut reading, self.reach);
            reading.authority = self.authority.fresh(now);
        }
        reading.perimeter = self.perimeter.fresh(now);
        reading.requests = self.client.as_ref().map_or(0, |client| client.requests().total);
        reading.queries = self.authority.queries + self.perimeter.queries;
        let mut gaps = dns_api::gaps(&reading);
        gaps.extend(self.resolver.clone());
        self.out.send(Update::Dns { reading: Arc::new(reading), gaps }).await.map_err(|_| Gone)
    }

    async fn report(&self, trouble: Trouble, pause: Duration) -> Result<(), Gone> {
        let at = (self.clock)();
        let update = Update::failed(SourceId::Dns, trouble.kind, (trouble.text, trouble.help), at, pause);
        self.out.send(update).await.map_err(|_| Gone)
    }
}

/// Limits of one request.
pub(super) fn limits() -> Limits {
    Limits { total: DEADLINE.unsigned_abs(), ..Limits::default() }
}

/// What cannot be known in this mode: the site does not have that source, which is no fault.
fn unknowable(reading: &mut DnsReading, reach: Reach) {
    let gap = |part| match reach.knows(part) {
        Knowledge::Unknowable(why) => Some(Gap::new(GapKind::Off, why)),
        _ => None,
    };
    if let Some(server) = gap(Part::Server) {
        reading.server = Err(server.clone());
        reading.settings = Err(server);
    }
    if let Some(list) = gap(Part::ZoneList) {
        reading.zones = Err(list);
    }
    if let Some(keys) = gap(Part::TsigKeys) {
        reading.keys = Err(keys);
    }
}
