//! An invented site that speaks over sockets and commands, for demo, training and tests.
//!
//! [`Lab::start`] serves the reading side of a Proxmox VE API over HTTPS on loopback and an exit node behind a
//! `command` transport, both from one [`state::World`]. Faults ([`faults`]) change that one world, so the sources can
//! disagree only where a real site's would. Nothing outside this module knows it: the site file names the ports and
//! the command, as for any other site.

mod acting;
pub mod boot;
mod build;
pub mod control;
mod diff;
mod dns;
pub mod faults;
pub mod gate;
mod http;
mod leftovers;
pub mod names;
pub mod node;
mod opnsense;
mod options;
mod pdns;
pub mod perimeter;
pub mod pve;
mod readings;
pub mod registry;
pub mod sdn;
mod servers;
mod shared;
mod site_file;
pub mod state;
pub mod tool;
mod trust;
pub mod writing;
mod written;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use serde_json::Value;
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use acting::Agenda;
pub use acting::Pace;
use dns::Role;
use faults::Fault;
use gate::{Gate, Gates};
use http::Api;
use node::files::Files;
pub use options::{LabError, LabOptions};
use readings::Readings;
use servers::Addresses;
use shared::{Shared, Shifting};
use state::{Object, World};

/// Where the lab takes the time from.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A moment of a lab: its world, the faults that were on, and what was still to come.
#[derive(Clone)]
pub struct Moment {
    base: Arc<World>,
    active: Vec<Fault>,
    agenda: Agenda,
}

impl Moment {
    /// Whether nothing was done between the two.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.base, &other.base) && self.agenda.len() == other.agenda.len() && self.active == other.active
    }
}

/// A running lab. Dropping it stops its servers; [`Lab::shutdown`] also waits for them.
pub struct Lab {
    shared: Arc<Shared>,
    address: SocketAddr,
    more: Option<Addresses>,
    identity: (String, String),
    /// Whether the site file names the writing token.
    writable: bool,
    stop: watch::Sender<bool>,
    servers: Vec<JoinHandle<()>>,
    temporary: Option<tempfile::TempDir>,
}

impl Lab {
    /// Starts the servers and writes the files a site needs.
    ///
    /// # Errors
    /// When a directory, socket or certificate cannot be made, or a fault is not known.
    pub async fn start(options: LabOptions) -> Result<Self, LabError> {
        let temporary = match options.dir {
            Some(_) => None,
            None => Some(leftovers::fresh((options.clock)())?),
        };
        let dir = options.dir.unwrap_or_else(|| temporary.as_ref().map_or_else(PathBuf::new, |t| t.path().to_owned()));
        let now = (options.clock)().as_second();
        let secrets = ["console", "operator"].map(|token| site_file::secret(options.seed, token, now));
        let [reading, writing] = &secrets;
        let mut base = build::mobile(options.seed, now, (reading, writing), options.tenants, options.workloads);
        base.perimeter.release = options.release;
        let base = Arc::new(base);
        let current = Arc::clone(&base);
        let shared = Arc::new(Shared {
            clock: options.clock,
            dir,
            program: options.program,
            state: Mutex::new(Shifting {
                base,
                active: Vec::new(),
                current,
                epoch: 0,
                pace: options.pace,
                agenda: Agenda::new(),
            }),
            written: Mutex::new(Files::new()),
            resolver: Role::resolver(),
            echoes: Mutex::default(),
            opnsense_load: http::Load::default(),
            gates: Gates::default(),
            readings: Readings::default(),
            stranger: trust::make()?.acceptor,
        });
        for fault in &options.faults {
            shared.fault_on(fault)?;
        }
        let identity = trust::make()?;
        site_file::write_tree(&shared, &identity.ca_pem, &secrets)?;
        let (listener, address) = servers::listen().await?;
        let socket = control::socket(&shared.dir);
        let unix = UnixListener::bind(&socket).map_err(LabError::io("cannot listen on", &socket))?;
        let (stop, stopped) = watch::channel(false);
        let tls = identity.acceptor;
        let proxmox = http::serve(Api::Proxmox, listener, Some(tls.clone()), Arc::clone(&shared), stopped.clone());
        let mut servers = vec![
            tokio::spawn(proxmox),
            tokio::spawn(control::serve(unix, Arc::clone(&shared), stopped.clone())),
            written_ahead(Arc::clone(&shared)),
        ];
        let more = match options.second_half {
            true => Some(servers::second_half(&shared, tls, &stopped, &mut servers).await?),
            false => None,
        };
        let identity = (identity.ca_pem, identity.fingerprint);
        let writable = options.writable;
        let lab = Self { shared, address, more, identity, writable, stop, servers, temporary };
        let site = lab.shared.dir.join("site.toml");
        std::fs::write(&site, lab.site_toml()).map_err(LabError::io("cannot write", &site))?;
        Ok(lab)
    }

    /// Directory of the lab: certificate, token, site file, control socket.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.shared.dir
    }

    /// Origin of the Proxmox API, e.g. `https://127.0.0.1:34567`.
    #[must_use]
    pub fn proxmox_url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The authority's certificate in PEM.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.identity.0
    }

    /// SHA-256 of the server's certificate, `AA:BB:…`.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.identity.1
    }

    /// Argument vector that stands before a command to be run on the exit node.
    #[must_use]
    pub fn exit_node_command(&self) -> Vec<String> {
        self.own("lab-enter")
    }

    /// Argument vector of a program of the lab's own that takes its control socket.
    fn own(&self, verb: &str) -> Vec<String> {
        let program = self.shared.program.display().to_string();
        vec![program, verb.to_owned(), control::socket(&self.shared.dir).display().to_string()]
    }

    /// Text of a site file for this lab.
    #[must_use]
    pub fn site_toml(&self) -> String {
        let (world, dir) = (self.shared.world(), &self.shared.dir);
        let (enter, put) = (self.exit_node_command(), self.own("lab-egress"));
        let mut text = site_file::text(&world, dir, &self.proxmox_url(), [&enter, &put], self.writable);
        if let Some(at) = &self.more {
            text.push_str(&site_file::second_half(&world, dir, at));
        }
        text
    }

    /// Origin of the PowerDNS API, e.g. `http://127.0.0.1:34568`; `None` without the second half.
    #[must_use]
    pub fn powerdns_url(&self) -> Option<String> {
        self.more.map(|at| format!("http://{}", at.powerdns))
    }

    /// Origin of the OPNsense API; `None` without the second half.
    #[must_use]
    pub fn opnsense_url(&self) -> Option<String> {
        self.more.map(|at| format!("https://{}", at.opnsense))
    }

    /// Origin of the service that lists check-ins; `None` without the second half.
    #[must_use]
    pub fn bootstrap_url(&self) -> Option<String> {
        self.more.map(|at| format!("https://{}", at.bootstrap))
    }

    /// Origin of the registry; `None` without the second half. The site file does not name it: a tenant that a registry
    /// owns is not the console's.
    #[must_use]
    pub fn registry_url(&self) -> Option<String> {
        self.more.map(|at| format!("https://{}", at.registry))
    }

    /// Requests that the OPNsense API has had, and the most it had at a time.
    #[must_use]
    pub fn opnsense_load(&self) -> (u32, u32) {
        self.shared.opnsense_load.seen()
    }

    /// How often the perimeter's resolver has started anew, and forgotten what it knew.
    #[must_use]
    pub fn resolver_starts(&self) -> u64 {
        self.shared.epoch().0
    }

    /// The authoritative DNS server, UDP and TCP; `None` without the second half.
    #[must_use]
    pub fn authoritative(&self) -> Option<SocketAddr> {
        self.more.map(|at| at.authoritative)
    }

    /// The perimeter's resolver, UDP and TCP; `None` without the second half.
    #[must_use]
    pub fn resolver(&self) -> Option<SocketAddr> {
        self.more.map(|at| at.resolver)
    }

    /// Switches a fault on, e.g. `snat-missing@eds`. On twice is on once.
    ///
    /// # Errors
    /// When the id or its target is not known.
    pub fn fault_on(&self, fault: &str) -> Result<(), LabError> {
        Ok(self.shared.fault_on(fault)?)
    }

    /// Switches a fault off; without a target, wherever it is on.
    ///
    /// # Errors
    /// When the id is not known.
    pub fn fault_off(&self, fault: &str) -> Result<(), LabError> {
        Ok(self.shared.fault_off(fault)?)
    }

    /// Faults that are on, in a fixed order.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.shared.faults()
    }

    /// Changes the undisturbed world; the faults stay on top of it.
    ///
    /// # Errors
    /// When a fault that is on has lost its target.
    pub fn edit(&self, change: impl FnOnce(&mut World)) -> Result<(), LabError> {
        Ok(self.shared.edit(change)?)
    }

    /// Does the next thing that was to happen later, whatever the time; false when there is none.
    #[must_use]
    pub fn step(&self) -> bool {
        let now = self.shared.now_ms();
        self.shared.state().next(now)
    }

    /// Puts somebody between the clients and the servers, or nobody. What was held back is forgotten.
    pub fn gate(&self, gate: Option<Arc<dyn Gate>>) {
        self.shared.gates.set(gate);
    }

    /// From now on what a reading of the exit node printed is given again while nothing changed that it shows. What moves with
    /// time alone, a counter, stands still then.
    pub fn keep_readings(&self) {
        self.shared.readings.begin();
    }

    /// Does what a gate still holds back.
    pub async fn let_through(&self) {
        http::do_late(&self.shared, self.shared.gates.held()).await;
    }

    /// The world as it is, with what is still to come of what was done.
    #[must_use]
    pub fn moment(&self) -> Moment {
        let state = self.shared.state();
        Moment { base: Arc::clone(&state.base), active: state.active.clone(), agenda: state.agenda.clone() }
    }

    /// Goes back to a moment of this lab. The clock is whoever's who handed it in.
    pub fn back_to(&self, moment: &Moment) {
        let mut state = self.shared.state();
        state.base = Arc::clone(&moment.base);
        state.active.clone_from(&moment.active);
        state.agenda.clone_from(&moment.agenda);
        state.epoch += 1;
        // A fault that was on had its target then, too.
        let _ = state.refresh();
    }

    /// The world as it is served now.
    #[must_use]
    pub fn world(&self) -> Arc<World> {
        self.shared.world()
    }

    /// Stops the servers, waits for them, and removes the directory if it is temporary.
    pub async fn shutdown(mut self) {
        let _ = self.stop.send(true);
        for server in self.servers.drain(..) {
            let _ = server.await;
        }
        drop(self.temporary.take());
    }
}

/// Writes the exit node's files before the first login asks for them. A failure shows at that login.
fn written_ahead(shared: Arc<Shared>) -> JoinHandle<()> {
    tokio::task::spawn_blocking(move || {
        let _ = site_file::refresh_root(&shared);
    })
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

/// The object inside a JSON value; empty for anything else.
fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

fn insert(object: &mut Object, key: &str, value: Value) {
    object.insert(key.to_owned(), value);
}

/// Seconds since the epoch as a moment; beyond the calendar it is the epoch.
fn moment(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
