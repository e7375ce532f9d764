//! What a plan is run on: the site, its clients, the time, and who is told.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::watch;

use super::journal::{ChangeId, Journal, Notes};
use super::plan::Preview;
use super::trouble::{Trouble, TroubleKind};
use crate::backends::http::Limits;
use crate::backends::{exit_node, opnsense, powerdns, proxmox, registry};
use crate::inventory::feed::{Clients, Clock, DnsClient, Unusable};
use crate::site::Site;

/// Waits that long. Handed in, so that a test decides how long a wait is.
pub type Sleep = Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

/// The site and the clients that a plan reads and writes with.
pub struct World {
    /// The site.
    pub site: Arc<Site>,
    /// Proxmox.
    pub proxmox: Result<proxmox::Client, Trouble>,
    /// PowerDNS' API; an error where the site has none, or it cannot be used from here.
    pub powerdns: Result<powerdns::Client, Trouble>,
    /// The perimeter.
    pub opnsense: Result<opnsense::Client, Trouble>,
    /// The platform's registry, which is only read; `None` = the site has none.
    pub registry: Option<Result<registry::Client, Trouble>>,
    /// Exit nodes by Proxmox node id, in the order of the site file.
    pub exit_nodes: Vec<(String, Result<exit_node::Client, Trouble>)>,
    /// The time.
    pub clock: Clock,
    /// How waits are waited.
    pub sleep: Sleep,
    /// How long things may take.
    pub patience: Patience,
    /// Objects of tests.
    #[cfg(test)]
    pub(crate) bench: super::testing::Bench,
}

/// How often something is asked again, and how long it is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Between two looks at something that is under way.
    pub between: Duration,
    /// Looks at an object after a change, until it is as it was to be.
    pub looks: u32,
    /// Tries of one step where the trouble may pass by itself.
    pub tries: u32,
    /// Longest wait for a task of a back end.
    pub task: Duration,
    /// How long it is waited for a lock that somebody else holds.
    pub lock: Duration,
    /// How long the request in flight is awaited after a stop was asked for (design §6: 20 s).
    pub last: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            between: Duration::from_secs(1),
            looks: 30,
            tries: 3,
            task: Duration::from_secs(30 * 60),
            lock: Duration::from_secs(10 * 60),
            last: Duration::from_secs(20),
        }
    }
}

/// Note: something was changed by a run of this change.
pub(super) const CHANGED: &str = "changed";

/// What goes on in a run, as it is told to a screen or a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A step was begun: its number, from 0.
    Begun(usize),
    /// The back end answered yes; it is read again now.
    Applied(usize),
    /// A step is as it was wanted, read back.
    Verified(usize),
    /// There was nothing to do.
    Satisfied(usize),
    /// Something a step has to tell while it works: a line of a task's log, what it waits for.
    Line(usize, String),
    /// A step did not come to its end.
    Failed(usize, Trouble),
    /// Another plan takes the place of the one that was approved, before anything of it was done.
    Replanned(Box<Preview>),
    /// Something that was held for the run was given back, or could not be.
    GaveBack(String, Result<(), Trouble>),
}

/// Who is told what goes on.
pub type Listener = Arc<dyn Fn(News) + Send + Sync>;

/// What a step has at hand: the world, the notes of its change, a listener, and whether a stop was asked for.
pub struct Context {
    /// The world.
    pub world: Arc<World>,
    /// What steps of the change wrote down for each other and for a later run.
    pub notes: Notes,
    /// The step, from 0.
    pub step: usize,
    /// The journal that the change is kept in, and its number; `None` where it is only looked.
    pub past: Option<(Journal, ChangeId)>,
    pub(super) listener: Listener,
    pub(super) stop: watch::Receiver<bool>,
}

impl Context {
    /// A context that only looks: notes are kept in memory.
    #[must_use]
    pub fn looking(world: &Arc<World>, notes: Notes) -> Self {
        let (_, stop) = watch::channel(false);
        Self { world: Arc::clone(world), notes, step: 0, past: None, listener: Arc::new(|_| ()), stop }
    }

    /// Tells a line.
    pub fn tell(&self, line: impl AsRef<str>) {
        (self.listener)(News::Line(self.step, crate::text::clean(line.as_ref()).into_owned()));
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.world.clock)()
    }

    /// Waits one step of patience.
    ///
    /// # Errors
    /// [`TroubleKind::Stopped`] when a stop was asked for: what is under way at the back end goes on there.
    pub async fn wait(&self) -> Result<(), Trouble> {
        let mut stop = self.stop.clone();
        let stopped = || Trouble::new(TroubleKind::Stopped, "stopped while it waited");
        if *stop.borrow() {
            return Err(stopped());
        }
        let asked = async {
            // Nobody is left who could stop it.
            if stop.wait_for(|asked| *asked).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = (self.world.sleep)(self.world.patience.between) => Ok(()),
            () = asked => Err(stopped()),
        }
    }
}

impl World {
    /// The world of a site, with the clients that its file describes. A tunnel to PowerDNS is opened here.
    pub async fn connect(site: &Arc<Site>, clock: Clock, sleep: Sleep, patience: Patience) -> Self {
        let clients = Clients::connect(site).await;
        let unusable = |why: &Unusable| {
            Trouble::new(TroubleKind::Refused, &why.text).with_help(why.help.as_deref().unwrap_or_default())
        };
        let none = |what: &str| Trouble::new(TroubleKind::Unknown, format!("the site file has no [{what}]"));
        let exit_nodes = clients.exit_nodes.into_iter().map(|(name, client)| (name, client.map_err(|e| unusable(&e))));
        Self {
            proxmox: clients.proxmox.map_err(|e| unusable(&e)),
            powerdns: match clients.powerdns {
                None => Err(none("powerdns")),
                Some(Err(why)) => Err(unusable(&why)),
                Some(Ok(client)) => names(site, client).await,
            },
            opnsense: clients.opnsense.map_or_else(|| Err(none("opnsense")), |c| c.map_err(|e| unusable(&e))),
            registry: clients.registry.map(|c| c.map_err(|e| unusable(&e))),
            exit_nodes: exit_nodes.collect(),
            site: Arc::clone(site),
            clock,
            sleep,
            patience,
            #[cfg(test)]
            bench: super::testing::Bench::default(),
        }
    }

    /// Proxmox.
    ///
    /// # Errors
    /// Why there is no client.
    pub fn proxmox(&self) -> Result<&proxmox::Client, Trouble> {
        self.proxmox.as_ref().map_err(Clone::clone)
    }

    /// PowerDNS' API.
    ///
    /// # Errors
    /// Why there is no client.
    pub fn powerdns(&self) -> Result<&powerdns::Client, Trouble> {
        self.powerdns.as_ref().map_err(Clone::clone)
    }

    /// The perimeter.
    ///
    /// # Errors
    /// Why there is no client.
    pub fn opnsense(&self) -> Result<&opnsense::Client, Trouble> {
        self.opnsense.as_ref().map_err(Clone::clone)
    }

    /// An exit node.
    ///
    /// # Errors
    /// Why there is no client, or that the site names no such exit node.
    pub fn exit_node(&self, name: &str) -> Result<&exit_node::Client, Trouble> {
        let found = self.exit_nodes.iter().find(|(own, _)| own == name);
        let missing = || Trouble::new(TroubleKind::Unknown, format!("the site file names no exit node {name}"));
        found.ok_or_else(missing)?.1.as_ref().map_err(Clone::clone)
    }
}

/// PowerDNS' API by the way that the site names.
async fn names(site: &Site, client: DnsClient) -> Result<powerdns::Client, Trouble> {
    match client {
        DnsClient::Api(client) => Ok(client),
        DnsClient::Queries => {
            Err(Trouble::new(TroubleKind::Unknown, "PowerDNS' API is not reached from here: mode dns-only"))
        }
        DnsClient::Tunnel { key, ssh } => {
            let none = || Trouble::new(TroubleKind::Unknown, "the site file has no [powerdns]");
            let dns = site.powerdns.as_ref().ok_or_else(none)?;
            let key = zeroize::Zeroizing::new(key.expose().to_owned());
            let opened = powerdns::Client::connect(dns, key, Limits::default(), &ssh, TUNNEL).await;
            opened.map_err(|e| Trouble::new(TroubleKind::NotReached, e.to_string()).with_help(e.help()))
        }
    }
}

/// After how long a tunnel that does not open is given up.
const TUNNEL: Duration = Duration::from_secs(20);
