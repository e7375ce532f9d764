//! A lab in this process with a feed on its site: what tests of the reading engine stand on.

#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests, which should stop")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use deevnet_console::backends::powerdns;
use deevnet_console::backends::proxmox::Client;
use deevnet_console::inventory::feed::{Clients, Clock, DnsClient, Feed};
use deevnet_console::inventory::{Gap, GapKind, Inventory, Seen, SourceId, SourceStatus};
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use deevnet_console::site::Site;
use tokio::time::Instant;

/// No test waits longer for anything.
pub const LIMIT: Duration = Duration::from_secs(90);

/// The system's clock.
pub fn clock() -> Clock {
    deevnet_console::runtime::clock::system()
}

/// A lab, its site, and a feed that reads it.
pub struct Bench {
    pub lab: Lab,
    pub site: Arc<Site>,
    pub feed: Feed,
    /// A copy of the feed's client: both count the same requests.
    pub client: Client,
    /// The same of PowerDNS, where its API is asked directly.
    pub names: Option<powerdns::Client>,
}

impl Bench {
    /// The default site, or an invented one of that size.
    pub async fn start(tenants: Option<u32>, workloads: Option<u32>) -> Self {
        Self::on(lab(tenants, workloads, clock()).await, |text| text, &clock()).await
    }

    /// A feed with its own clock on a site whose text is changed first.
    pub async fn on(lab: Lab, change: impl FnOnce(String) -> String, clock: &Clock) -> Self {
        let site = site(&lab, change);
        let clients = Clients::connect(&site).await;
        Self::with(lab, site, clients, clock)
    }

    /// A feed with these clients.
    pub fn with(lab: Lab, site: Arc<Site>, clients: Clients, clock: &Clock) -> Self {
        let client = clients.proxmox.as_ref().unwrap_or_else(|e| panic!("{}", e.text)).clone();
        let names = match &clients.powerdns {
            Some(Ok(DnsClient::Api(client))) => Some(client.clone()),
            _ => None,
        };
        let feed = Feed::start(&site, clients, clock);
        Self { lab, site, feed, client, names }
    }

    /// Waits for a picture of which `wanted` holds; what it was when time ran out is told.
    pub async fn until(&mut self, what: &str, mut wanted: impl FnMut(&Inventory) -> bool) -> Arc<Inventory> {
        match tokio::time::timeout(LIMIT, self.feed.inventory.wait_for(|inv| wanted(inv))).await {
            Ok(Ok(inv)) => return Arc::clone(&inv),
            Ok(Err(_)) => panic!("{what}: the feed ended"),
            Err(_) => {}
        }
        let inv = Arc::clone(&self.feed.inventory.borrow());
        panic!("{what}: not within {LIMIT:?}; last seen:\n{}", told(&inv));
    }

    /// A picture of which every part was read after now.
    pub async fn fresh(&mut self) -> Arc<Inventory> {
        let now = clock()();
        self.feed.refresh(None);
        self.until("a fresh picture", |inv| {
            let read = |id| inv.sources.get(id).observed_at.is_some_and(|at| at >= now);
            read(SourceId::Pve) && read(SourceId::Exit) && complete(inv)
        })
        .await
    }

    /// A picture after now in which every source was read again or failed.
    pub async fn tried(&mut self) -> Arc<Inventory> {
        // Once for a reading that was under way already, and once for one that began after this was called.
        self.tried_since_now().await;
        self.tried_since_now().await
    }

    async fn tried_since_now(&mut self) -> Arc<Inventory> {
        let now = clock()();
        self.feed.refresh(None);
        self.until("a new picture", |inv| {
            let tried = |id| {
                let health = inv.sources.get(id);
                health.error.is_some() || health.observed_at.is_some_and(|at| at >= now)
            };
            tried(SourceId::Pve) && tried(SourceId::Exit) && complete(inv)
        })
        .await
    }

    /// Time until a source's next reading after it was asked for one.
    pub async fn latency(&mut self, id: SourceId) -> Duration {
        let before = self.feed.inventory.borrow().sources.get(id).observed_at;
        let asked = Instant::now();
        self.feed.refresh(Some(id));
        self.until("the next reading", |inv| inv.sources.get(id).observed_at > before).await;
        asked.elapsed()
    }

    /// Ends the feed, then the lab.
    pub async fn stop(self) {
        drop(self.feed);
        self.lab.shutdown().await;
    }
}

/// A lab alone.
pub async fn lab(tenants: Option<u32>, workloads: Option<u32>, clock: Clock) -> Lab {
    lab_of(tenants, workloads, clock, false).await
}

/// A lab with its second half, where wanted.
pub async fn lab_of(tenants: Option<u32>, workloads: Option<u32>, clock: Clock, second_half: bool) -> Lab {
    let options = LabOptions {
        tenants,
        workloads,
        faults: Vec::new(),
        seed: 7,
        clock,
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    Lab::start(options).await.unwrap()
}

/// The lab's site, its text changed first.
pub fn site(lab: &Lab, change: impl FnOnce(String) -> String) -> Arc<Site> {
    let text = change(lab.site_toml());
    Arc::new(Site::parse(&text, &lab.dir().join("site.toml")).unwrap_or_else(|e| panic!("{e}")))
}

fn unread<T>(seen: &Seen<T>) -> bool {
    matches!(seen, Err(Gap { kind: GapKind::NotRead, .. }))
}

/// Whether nothing waits to be read for the first time.
pub fn complete(inv: &Inventory) -> bool {
    !inv.workloads.iter().any(|w| unread(&w.address))
        && !inv.vnets.iter().any(|v| unread(&v.subnets) || v.nodes.iter().any(|(_, carries)| unread(carries)))
}

/// The picture without what changes by itself: counters, loads, ages, tasks.
pub fn still(inv: &Inventory) -> Inventory {
    let mut inv = inv.clone();
    inv.generation = 0;
    inv.sources = deevnet_console::inventory::Sources::default();
    for v in &mut inv.vrfs {
        v.flow = Ok(deevnet_console::inventory::Flow::default());
        v.vnet_bytes_s = Ok(0.0);
        v.snat.iter_mut().flatten().for_each(|r| (r.new_connections, r.bytes) = (0, 0));
    }
    for w in &mut inv.workloads {
        (w.cpu, w.mem, w.started_at) = (None, None, None);
    }
    for m in &mut inv.fabric.members {
        (m.cpu, m.mem) = (None, None);
    }
    inv.tasks = Ok(Vec::new());
    inv
}

/// Asserts that two pictures say the same, naming the first line in which they do not.
pub fn assert_same(what: &str, before: &Inventory, after: &Inventory) {
    let (before, after) = (still(before), still(after));
    if before == after {
        return;
    }
    let (b, a) = (format!("{before:#?}"), format!("{after:#?}"));
    let at = b.lines().zip(a.lines()).position(|(b, a)| b != a).unwrap_or_default();
    let part = |t: &str| t.lines().skip(at.saturating_sub(6)).take(12).collect::<Vec<_>>().join("\n");
    panic!("{what}: the picture is not the one before, but\n{}\ninstead of\n{}", part(&a), part(&b));
}

/// Status of a source now.
pub fn status(inv: &Inventory, id: SourceId) -> SourceStatus {
    inv.sources.get(id).status(clock()())
}

/// The picture in lines: what the assertions below speak of.
pub fn told(inv: &Inventory) -> String {
    let mut out = String::new();
    for (id, h) in inv.sources.iter().filter(|(_, h)| h.configured) {
        let error = h.error.as_ref().map(|e| format!("{:?} {} | {:?}", e.kind, e.text, e.help));
        let _ = writeln!(out, "source {} {:?} {error:?} gaps {:?}", id.label(), status(inv, id), h.gaps);
    }
    for t in &inv.tenants {
        let layers: Vec<String> = t.layers.all()[..]
            .iter()
            .map(|(c, _, l)| format!("{c}:{:?}/{:?} {}", l.presence, l.class, l.words))
            .collect();
        let _ = writeln!(out, "tenant {} {:?} {}", t.name, t.status, layers.join(" · "));
    }
    for a in &inv.attention {
        let affects: Vec<&str> = a.affects.iter().map(|t| &**t).collect();
        let _ = writeln!(out, "attention {:?} {} [{}] {} {affects:?}", a.class, a.kind, a.place, a.what);
    }
    out
}
