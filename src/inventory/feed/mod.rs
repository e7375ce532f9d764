//! The workers that keep the picture fresh: one a source, each with its own pace, deadline and back-off.
//!
//! ```text
//! demand, refresh ──► worker (Proxmox) ──┐
//!                 ├─► worker (perimeter) ┤
//!                 └─► worker (exit node) ┴─► hub: folds what is ready, joins once ──► watch: Arc<Inventory>
//! ```
//!
//! A worker knows nothing of the others: one that fails or hangs delays nobody. Channels are bounded; a picture that
//! nobody took yet is replaced by the next one.

mod checkins;
mod connect;
mod dns;
mod dns_api;
mod dns_queries;
mod dns_trouble;
mod dns_wanted;
mod exit;
mod hub;
mod pace;
mod perimeter;
mod proxmox;
mod pve_details;
mod pve_lists;
mod registry;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::entities::Inventory;
use super::readings::Demand;
use super::source::SourceId;
use crate::backends::{bootstrap, exit_node, opnsense, powerdns, proxmox as pve, registry as reg};
use crate::site::Site;
use crate::site::scrub::Known;
use crate::site::secret::Secret;

/// Reads the time; the only way a worker learns it.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Time between two reads of Proxmox's lists.
const PVE_INTERVAL: SignedDuration = SignedDuration::from_secs(10);
/// Time between the starts of two polls of the perimeter: no shorter, it is to be asked gently (design §7).
const FW_INTERVAL: SignedDuration = SignedDuration::from_secs(10);
/// Time between two reads of an exit node while nobody watches counters, and while somebody does.
const EXIT_INTERVAL: SignedDuration = SignedDuration::from_secs(30);
/// See [`EXIT_INTERVAL`].
const EXIT_LIVE_INTERVAL: SignedDuration = SignedDuration::from_secs(5);
/// Time between two reads of check-ins, and of the registry.
const BOOT_INTERVAL: SignedDuration = SignedDuration::from_secs(30);
/// After how long an attempt is given up.
const DEADLINE: SignedDuration = SignedDuration::from_secs(10);

/// The clients a feed reads with. A client that could not be made (no secret, bad CA file) is its error.
pub struct Clients {
    /// Proxmox.
    pub proxmox: Result<pve::Client, Unusable>,
    /// The perimeter; `None` = the site has none.
    pub opnsense: Option<Result<opnsense::Client, Unusable>>,
    /// Exit nodes, in the order of the site file.
    pub exit_nodes: Vec<(String, Result<exit_node::Client, Unusable>)>,
    /// Check-ins; `None` = the site has no source of them.
    pub bootstrap: Option<Result<bootstrap::Client, Unusable>>,
    /// Registry; `None` = the site has none.
    pub registry: Option<Result<reg::Client, Unusable>>,
    /// Names; `None` = the site has no PowerDNS.
    pub powerdns: Option<Result<DnsClient, Unusable>>,
    /// The secrets that were read for them, to be taken out of what is kept of their exchanges.
    pub known: Known,
}

/// How the worker of names gets at them.
pub enum DnsClient {
    /// By the API.
    Api(powerdns::Client),
    /// By the API through a tunnel that the worker opens.
    Tunnel {
        /// The API's key.
        key: Secret,
        /// Options of ssh.
        ssh: exit_node::transport::SshOptions,
    },
    /// By queries alone.
    Queries,
}

/// Why there is no client: said in place of a reading, for as long as the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// What is wrong, one clean line.
    pub text: String,
    /// What helps.
    pub help: Option<String>,
}

/// A running feed. Dropping it ends the workers.
pub struct Feed {
    /// The newest picture.
    pub inventory: watch::Receiver<Arc<Inventory>>,
    demand: watch::Sender<Demand>,
    refresh: watch::Sender<Refresh>,
    _workers: JoinSet<()>,
}

/// Counts the wishes to read now, per source, so that none is lost and none queues up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Refresh {
    pve: u64,
    dns: u64,
    fw: u64,
    exit: u64,
    boot: u64,
    registry: u64,
}

impl Refresh {
    const fn of(&self, source: SourceId) -> u64 {
        match source {
            SourceId::Pve => self.pve,
            SourceId::Dns => self.dns,
            SourceId::Fw => self.fw,
            SourceId::Exit => self.exit,
            SourceId::Boot => self.boot,
            SourceId::Registry => self.registry,
        }
    }
}

impl Wishes {
    /// How often `source` was wished to be read. Taken before a reading: a wish that comes while it runs is for another.
    fn wished(&mut self, source: SourceId) -> u64 {
        self.refresh.borrow_and_update().of(source)
    }

    /// Waits for `pause`, or a wish to read `source` now. `None` = all is over.
    async fn rest(&mut self, source: SourceId, answered: u64, pause: std::time::Duration) -> Option<()> {
        tokio::select! {
            () = tokio::time::sleep(pause) => Some(()),
            wish = self.refresh.wait_for(|r| r.of(source) != answered) => wish.ok().map(drop),
        }
    }
}

impl Feed {
    /// Starts the workers of `site`. Needs a tokio runtime.
    #[must_use]
    pub fn start(site: &Arc<Site>, clients: Clients, clock: &Clock) -> Self {
        let (demand, watch_demand) = watch::channel(Demand::default());
        let (refresh, watch_refresh) = watch::channel(Refresh::default());
        // Room for every worker that has nothing to say but that it cannot work.
        let (updates, inbox) = mpsc::channel(32 + clients.exit_nodes.len());
        let mut workers = JoinSet::new();
        let hub = hub::Hub::new(site, clients.exit_nodes.len(), clock());
        let inventory = hub.subscribe();
        workers.spawn(hub.run(inbox));
        let wishes = Wishes { demand: watch_demand, refresh: watch_refresh, picture: inventory.clone() };
        match clients.proxmox {
            Ok(client) => {
                let worker = proxmox::Worker::new(site, client, clock, &updates);
                workers.spawn(worker.run(wishes.clone()));
            }
            Err(why) => drop(updates.try_send(hub::Update::unusable(SourceId::Pve, None, &why, clock()))),
        }
        match (clients.powerdns, site.powerdns.clone()) {
            (Some(Ok(client)), Some(dns)) => {
                let worker = dns::Worker::new(site, dns, client, clock, &updates);
                workers.spawn(worker.run(wishes.clone()));
            }
            (Some(Err(why)), _) => drop(updates.try_send(hub::Update::unusable(SourceId::Dns, None, &why, clock()))),
            _ => {}
        }
        match clients.opnsense {
            Some(Ok(client)) => {
                drop(workers.spawn(perimeter::Worker::new(client, clock, &updates).run(wishes.clone())));
            }
            Some(Err(why)) => drop(updates.try_send(hub::Update::unusable(SourceId::Fw, None, &why, clock()))),
            None => {}
        }
        for (name, client) in clients.exit_nodes {
            match client {
                Ok(client) => {
                    let worker = exit::Worker::new(name, client, clock, &updates);
                    workers.spawn(worker.run(wishes.clone()));
                }
                Err(why) => drop(updates.try_send(hub::Update::unusable(SourceId::Exit, Some(name), &why, clock()))),
            }
        }
        match clients.bootstrap {
            Some(Ok(client)) => {
                workers.spawn(checkins::Worker::new(client, clock, &updates).run(wishes.clone()));
            }
            Some(Err(why)) => drop(updates.try_send(hub::Update::unusable(SourceId::Boot, None, &why, clock()))),
            None => {}
        }
        match clients.registry {
            Some(Ok(client)) => {
                workers.spawn(registry::Worker::new(client, clock, &updates).run(wishes.clone()));
            }
            Some(Err(why)) => drop(updates.try_send(hub::Update::unusable(SourceId::Registry, None, &why, clock()))),
            None => {}
        }
        Self { inventory, demand, refresh, _workers: workers }
    }

    /// Tells the workers what is on screen.
    pub fn demand(&self, demand: Demand) {
        self.demand.send_if_modified(|old| {
            let changed = *old != demand;
            *old = demand;
            changed
        });
    }

    /// Reads a source again now; `None` = all.
    pub fn refresh(&self, source: Option<SourceId>) {
        self.refresh.send_modify(|r| {
            let one = |id| u64::from(source.is_none_or(|wished| wished == id));
            r.pve += one(SourceId::Pve);
            r.dns += one(SourceId::Dns);
            r.fw += one(SourceId::Fw);
            r.exit += one(SourceId::Exit);
            r.boot += one(SourceId::Boot);
            r.registry += one(SourceId::Registry);
        });
    }
}

/// What a worker may be asked.
#[derive(Clone)]
struct Wishes {
    demand: watch::Receiver<Demand>,
    refresh: watch::Receiver<Refresh>,
    /// The newest picture, for workers that need to know of whom to ask. Never a reason to wake up by itself.
    picture: watch::Receiver<Arc<Inventory>>,
}
