//! Verbs that change something, as data.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::site::names::{TenantName, WorkloadName};

/// How a change is made.
#[derive(Debug, Clone, Default, Args)]
pub struct How {
    /// Change something; without it the plan is only shown.
    #[arg(long)]
    pub write: bool,
    /// Yes to the plan as it is shown.
    #[arg(long)]
    pub yes: bool,
    /// The name, typed back, where something is final or takes along what is others'.
    #[arg(long, value_name = "NAME")]
    pub confirm: Option<String>,
    /// Form: table, json or yaml; after `plan` the file that the plan is saved in.
    #[arg(short, long, value_name = "FORM|FILE")]
    pub output: Option<String>,
}

/// Verbs that change something.
#[derive(Debug, Clone, Subcommand)]
pub enum Change {
    /// A tenant: network, names, forwards, way out.
    Tenant {
        /// What.
        #[command(subcommand)]
        action: TenantAction,
    },
    /// A workload of a tenant: its machine and its name.
    Workload {
        /// What.
        #[command(subcommand)]
        action: WorkloadAction,
    },
    /// A name in a tenant's zone.
    Record {
        /// What.
        #[command(subcommand)]
        action: RecordAction,
    },
    /// The update key of a tenant.
    Tsig {
        /// What.
        #[command(subcommand)]
        action: TsigAction,
    },
    /// A forward of the perimeter's resolver.
    Forward {
        /// What.
        #[command(subcommand)]
        action: ForwardAction,
    },
    /// What waits in SDN.
    Sdn {
        /// What.
        #[command(subcommand)]
        action: SdnAction,
    },
    /// Take a change back, last step first.
    Undo {
        /// The change, e.g. C-0042.
        #[arg(value_name = "CHANGE")]
        id: String,
        /// How.
        #[command(flatten)]
        how: How,
    },
    /// Go on with a change that did not come to its end.
    Resume {
        /// The change; without it the only one that is open.
        #[arg(value_name = "CHANGE")]
        id: Option<String>,
        /// Give back what it holds, and leave it open for later.
        #[arg(long)]
        later: bool,
        /// Close it, and leave everything as it is.
        #[arg(long, conflicts_with = "later")]
        leave: bool,
        /// How.
        #[command(flatten)]
        how: How,
    },
}

/// `tenant …`.
#[derive(Debug, Clone, Subcommand)]
pub enum TenantAction {
    /// Show what `create` would do.
    Plan(Onboard),
    /// Make a tenant; what is there is left as it is.
    Create(Onboard),
    /// Make what a tenant lacks.
    Reconcile(Onboard),
    /// What the tenant's people need, as Markdown; the secret of their key only in a file.
    Handover {
        /// Its name.
        name: TenantName,
        /// New file for the update key with its secret, as `nsupdate -k` takes it; only you can read it.
        #[arg(long, value_name = "FILE")]
        key_file: Option<PathBuf>,
        /// As JSON; no secret is in it either.
        #[arg(long)]
        json: bool,
    },
    /// Remove a tenant that has no workload.
    Delete {
        /// Its name.
        name: TenantName,
        /// How.
        #[command(flatten)]
        how: How,
    },
}

/// What `tenant create` is told.
#[derive(Debug, Clone, Args)]
pub struct Onboard {
    /// Its name.
    pub name: TenantName,
    /// Its index, 1–62; without it the lowest that is free on every source.
    #[arg(long, value_name = "N")]
    pub index: Option<u8>,
    /// Name of its first workload.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<WorkloadName>,
    /// Settings of the workload.
    #[command(flatten)]
    pub machine: Machine,
    /// How.
    #[command(flatten)]
    pub how: How,
}

/// What a machine is to be; what is not named is as by default, or stays as it is.
#[derive(Debug, Clone, Args)]
pub struct Machine {
    /// Cores.
    #[arg(long, value_name = "N")]
    pub cores: Option<u32>,
    /// Memory in MiB.
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u32>,
    /// Disk in GiB.
    #[arg(long, value_name = "GIB")]
    pub disk: Option<u32>,
}

/// `workload …`.
#[derive(Debug, Clone, Subcommand)]
pub enum WorkloadAction {
    /// Show what `create` would do.
    Plan(Make),
    /// Make a workload, or make it what it is to be.
    Create(Make),
    /// Destroy its machine and make it anew: its disks are lost.
    Replace(Make),
    /// Give it another size; a disk only grows.
    Resize {
        /// The workload.
        #[arg(value_name = "TENANT/NAME")]
        name: String,
        /// The size.
        #[command(flatten)]
        machine: Machine,
        /// Restart it with that many seconds to shut down, so that cores and memory come into force.
        #[arg(long, value_name = "SECONDS")]
        restart: Option<u32>,
        /// How.
        #[command(flatten)]
        how: How,
    },
    /// Destroy its machine and remove its name: its disks are lost.
    Delete(Power),
    /// Start it.
    Start(Power),
    /// Pull its plug.
    Stop(Power),
    /// Ask its system to shut down.
    Shutdown(Power),
    /// Restart it.
    Reboot(Power),
}

/// What `workload create` is told.
#[derive(Debug, Clone, Args)]
pub struct Make {
    /// The workload.
    #[arg(value_name = "TENANT/NAME")]
    pub name: String,
    /// Its machine.
    #[command(flatten)]
    pub machine: Machine,
    /// File of public keys that may log in, as in `authorized_keys`.
    #[arg(long, value_name = "FILE")]
    pub ssh_keys: Option<PathBuf>,
    /// Login account.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Name of the template; the newest of the site's without it.
    #[arg(long, value_name = "NAME")]
    pub template: Option<String>,
    /// How.
    #[command(flatten)]
    pub how: How,
}

/// What the verbs of power are told.
#[derive(Debug, Clone, Args)]
pub struct Power {
    /// The workload.
    #[arg(value_name = "TENANT/NAME")]
    pub name: String,
    /// Seconds that its system is given to shut down.
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
    /// How.
    #[command(flatten)]
    pub how: How,
}

/// What a `list` is told.
#[derive(Debug, Clone, Args)]
pub struct Listed {
    /// Only this tenant's.
    pub tenant: Option<TenantName>,
    /// Form.
    #[arg(short, long, value_enum, default_value_t)]
    pub output: crate::cli::args::Format,
}

/// By which way records are changed.
#[derive(Debug, Clone, Args)]
pub struct Way {
    /// PowerDNS' API, or updates signed with the tenant's key; without it the API, unless the site says dns-only.
    #[arg(long, value_parser = ["api", "update"])]
    pub via: Option<String>,
    /// File of the key, as `nsupdate -k` takes it; without it the API tells the secret.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

/// `record …`.
#[derive(Debug, Clone, Subcommand)]
pub enum RecordAction {
    /// Records, as `get records` shows them.
    List(Listed),
    /// Give a name its records, in place of those it has.
    Set {
        /// The tenant.
        tenant: TenantName,
        /// A label, or the whole name.
        name: String,
        /// What it is to be; several make one set.
        #[arg(required = true)]
        value: Vec<String>,
        /// A, CNAME or TXT; tenants have no IPv6 network.
        #[arg(long = "type", default_value = "A", value_name = "TYPE")]
        kind: String,
        /// Seconds that others may keep it.
        #[arg(long)]
        ttl: Option<u32>,
        /// By which way.
        #[command(flatten)]
        way: Way,
        /// How.
        #[command(flatten)]
        how: How,
    },
    /// Remove the records of a name.
    Delete {
        /// The tenant.
        tenant: TenantName,
        /// A label, or the whole name.
        name: String,
        /// A, AAAA, CNAME or TXT.
        #[arg(long = "type", default_value = "A", value_name = "TYPE")]
        kind: String,
        /// Also the pointer of this address.
        #[arg(long, value_name = "ADDRESS")]
        pointer: Option<std::net::Ipv4Addr>,
        /// By which way.
        #[command(flatten)]
        way: Way,
        /// How.
        #[command(flatten)]
        how: How,
    },
}

/// `tsig …`.
#[derive(Debug, Clone, Subcommand)]
pub enum TsigAction {
    /// Keys and the zones that list each. No secret is asked for.
    List(Listed),
    /// A second key beside the first: both are good.
    Begin {
        /// The tenant.
        tenant: TenantName,
        /// How.
        #[command(flatten)]
        how: How,
    },
    /// The first key goes: only the second is good.
    End {
        /// The tenant.
        tenant: TenantName,
        /// How.
        #[command(flatten)]
        how: How,
    },
}

/// `forward …`.
#[derive(Debug, Clone, Subcommand)]
pub enum ForwardAction {
    /// Forwards, as `get forwards` shows them.
    List(Listed),
    /// Forward a domain to a server.
    Set {
        /// The domain.
        domain: String,
        /// The server.
        #[arg(value_name = "ADDRESS[:PORT]")]
        server: String,
        /// What is written beside it.
        #[arg(long, default_value = "", value_name = "TEXT")]
        description: String,
        /// Do not ask the server for the domain first: only the perimeter may ask it.
        #[arg(long)]
        not_asked: bool,
        /// How.
        #[command(flatten)]
        how: How,
    },
    /// Forward it no longer.
    Delete {
        /// The domain.
        domain: String,
        /// How.
        #[command(flatten)]
        how: How,
    },
}

/// `sdn …`.
#[derive(Debug, Clone, Subcommand)]
pub enum SdnAction {
    /// What waits, whose it is as far as is known, and who holds the lock.
    Status {
        /// Form.
        #[arg(short, long, value_enum, default_value_t)]
        output: crate::cli::args::Format,
    },
    /// Make real what waits.
    Apply(How),
    /// Drop what waits.
    Rollback(How),
    /// Free the lock by force: whoever holds it may be in the middle of something.
    Unlock(How),
}

/// `plan …`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The verb that would be run.
    #[command(subcommand)]
    pub change: Change,
}

/// `apply FILE`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// A plan that `plan … -o FILE` or the console saved.
    pub file: PathBuf,
    /// Also one that was saved more than a day ago.
    #[arg(long)]
    pub old: bool,
    /// How.
    #[command(flatten)]
    pub how: How,
}

/// `journal`.
#[derive(Debug, Args)]
pub struct JournalArgs {
    /// One change, line by line; without it all of them.
    #[arg(value_name = "CHANGE")]
    pub id: Option<String>,
    /// Form.
    #[arg(short, long, value_enum, default_value_t)]
    pub output: crate::cli::args::Format,
}

/// `audit …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum AuditAction {
    /// Everything that was changed from here, one JSON object a line.
    Export,
}
