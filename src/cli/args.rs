//! The command line as data.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::change::args::{ApplyArgs, AuditAction, Change, JournalArgs, PlanArgs};
use crate::diagnose::collect::Check;

/// Console for a tenant platform on Proxmox VE, PowerDNS, OPNsense and an exit node.
#[derive(Debug, Parser)]
#[command(name = "deevnet-console", version, about, max_term_width = 120, disable_help_subcommand = true)]
pub struct Cli {
    /// What applies to every verb.
    #[command(flatten)]
    pub global: Global,
    /// The verb; without one the full-screen console opens.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// Options of every verb.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Site: a file, or the name of one in ~/.config/deevnet-console/sites.
    #[arg(long, global = true, value_name = "FILE|NAME")]
    pub site: Option<String>,
    /// Theme: dark, light, mono, high-contrast, colour-blind, or a file of the user's themes.
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Keymap: default, vim, emacs, or a file of the user's keymaps.
    #[arg(long, global = true, value_name = "NAME")]
    pub keymap: Option<String>,
    /// Draw with ASCII only.
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Write a log to this file (never secrets; default: none).
    #[arg(long, global = true, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// Form of printed data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The console on the embedded lab: an invented site, no network, nothing to set up.
    Demo {
        /// The site.
        #[command(flatten)]
        lab: LabArgs,
    },
    /// The lab as servers on loopback until stopped.
    Lab(LabVerb),
    /// Everything that is derived from a tenant index.
    Numbering {
        /// Tenant index, 1–63; without one, the table of all.
        index: Option<u64>,
        /// Tenant name, for device and zone names.
        #[arg(long)]
        name: Option<String>,
        /// Form.
        #[arg(short, long, value_enum, default_value_t)]
        output: Format,
    },
    /// What the site holds, read once.
    Get {
        /// What.
        #[arg(value_enum)]
        kind: Kind,
        /// Only this tenant's.
        #[arg(long, value_name = "NAME")]
        tenant: Option<String>,
        /// Form.
        #[arg(short, long, value_enum, default_value_t)]
        output: Format,
        /// Seconds to wait for the sources.
        #[arg(long, default_value_t = 30, value_name = "SECONDS")]
        timeout: u16,
    },
    /// New connections through each tenant's SNAT rules.
    Snat {
        /// Only this tenant's.
        tenant: Option<String>,
        /// Print again with every reading (every 5 s) until stopped.
        #[arg(long)]
        watch: bool,
        /// Form; with --watch one JSON document a line.
        #[arg(short, long, value_enum, default_value_t)]
        output: Format,
    },
    /// One name at every vantage point, beside what the index derives for it.
    Resolve(ResolveArgs),
    /// What is broken, weak or worth knowing, from the live site.
    Check(CheckArgs),
    /// Whether an address is reached from inside a tenant's VRF, on each of its exit nodes.
    Reach(ReachArgs),
    /// Findings from an evidence bundle, without a network.
    Explain {
        /// Directory with inputs.json and the files it names.
        dir: PathBuf,
        /// Instead of findings the table of every ordered pair of tenants, as Markdown.
        #[arg(long)]
        matrix: bool,
        /// Form.
        #[arg(short, long, value_enum, default_value_t)]
        output: Format,
    },
    /// What changes something.
    #[command(flatten)]
    Change(Change),
    /// Show what a verb would change, and save it with -o FILE.
    Plan(PlanArgs),
    /// Make a saved plan again, and carry it out; refused when it is otherwise now.
    Apply(ApplyArgs),
    /// What was changed from here; 1 where a change is open.
    Journal(JournalArgs),
    /// What was changed from here, for an archive.
    Audit {
        /// What.
        #[command(subcommand)]
        action: AuditAction,
    },
    /// Write a site file by asking, probing and explaining.
    Init(InitArgs),
    /// The site file against what is really there.
    Site {
        /// What to do with it.
        #[command(subcommand)]
        action: SiteAction,
    },
    /// One screen as text.
    Render(RenderArgs),
    /// Completions for a shell.
    Completions {
        /// Shell.
        shell: clap_complete::Shell,
    },
    /// The manual page, as roff.
    Man,
}

impl Verb {
    /// Whether it starts a lab, whose site is the only one it could show.
    #[must_use]
    pub const fn brings_its_site(&self) -> bool {
        match self {
            Self::Demo { .. } => true,
            Self::Lab(verb) => verb.action.is_none(),
            Self::Render(request) => request.demo,
            _ => false,
        }
    }
}

/// `resolve …`.
#[derive(Debug, Args)]
pub struct ResolveArgs {
    /// TENANT/WORKLOAD, an address, or a whole name.
    pub name: String,
    /// Record type; without one PTR for an address, SOA for a reverse zone, else A.
    #[arg(value_name = "TYPE")]
    pub kind: Option<String>,
    /// Ask from this tenant's VRF, whoever the name belongs to.
    #[arg(long, value_name = "NAME")]
    pub tenant: Option<String>,
    /// Name on the internet that is asked for beside (default: example.com).
    #[arg(long, value_name = "NAME")]
    pub public: Option<String>,
    /// Servers of this host, from another file than /etc/resolv.conf.
    #[arg(long, value_name = "FILE")]
    pub resolv_conf: Option<PathBuf>,
    /// Form.
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Format,
}

/// `check …`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// What is looked at.
    #[arg(value_enum)]
    pub what: CheckKind,
    /// Only this tenant, or this workload of it.
    #[arg(value_name = "TENANT[/WORKLOAD]")]
    pub subject: Option<String>,
    /// Instead of findings the table of every ordered pair of tenants, as Markdown, for a change record: what routes and
    /// rules say, what traffic showed, what was not run, with its commands.
    #[arg(long)]
    pub matrix: bool,
    /// Also try each tenant's update key on every other tenant's zones, by updates that can change nothing. Fetches the
    /// keys' secrets from PowerDNS for this alone; they are kept nowhere. For isolation, dns, contract and all;
    /// `check keys` does it by itself.
    #[arg(long)]
    pub keys: bool,
    /// Results that somebody ran in a workload or on another segment: a file, or - for standard input. They count as
    /// pasted, never as measured.
    #[arg(long, value_name = "FILE")]
    pub pasted: Option<PathBuf>,
    /// Keep the evidence in this directory, which must not exist yet.
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Form.
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Format,
}

/// `reach …`.
#[derive(Debug, Args)]
pub struct ReachArgs {
    /// The tenant.
    pub tenant: crate::site::names::TenantName,
    /// An IPv4 address, and a TCP port that is tried beside the ping.
    #[arg(value_name = "ADDRESS[:PORT]")]
    pub target: String,
    /// Form.
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Format,
}

/// Kinds of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckKind {
    /// Whether the console may and can look at all.
    Access,
    /// SDN and what nodes made of it.
    Fabric,
    /// Machines and their agents.
    Workload,
    /// From the workload to the internet.
    Egress,
    /// Between tenants, every ordered pair.
    Isolation,
    /// Rules, translation and routes of the router.
    Perimeter,
    /// Zones, records, forwards, resolvers, updates.
    Dns,
    /// Tenants' update keys, tried on each other's zones by updates that can change nothing. Fetches the keys' secrets.
    Keys,
    /// The clauses of the tenant contract, each with what it came to.
    Contract,
    /// Everything.
    All,
}

impl CheckKind {
    /// The check.
    #[must_use]
    pub const fn check(self) -> Check {
        match self {
            Self::Access => Check::Access,
            Self::Fabric => Check::Fabric,
            Self::Workload => Check::Workload,
            Self::Egress => Check::Egress,
            Self::Isolation => Check::Isolation,
            Self::Perimeter => Check::Perimeter,
            Self::Dns => Check::Dns,
            Self::Keys => Check::Keys,
            Self::Contract => Check::Contract,
            Self::All => Check::All,
        }
    }
}

/// `init …`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Short name of the site; the file is called after it.
    pub name: Option<String>,
    /// Where the file is written (default: sites/NAME.toml in ~/.config/deevnet-console). Never over an existing one.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Ask nothing: what is missing ends it.
    #[arg(long)]
    pub non_interactive: bool,
    /// The same as --set proxmox.url=URL.
    #[arg(long, value_name = "URL")]
    pub proxmox_url: Option<String>,
    /// The same as --set proxmox.token=SOURCE; env:NAME, file:PATH or command:PROGRAM ARGUMENT.
    #[arg(long, value_name = "SOURCE")]
    pub proxmox_token: Option<String>,
    /// Answer to one question, e.g. proxmox.node=hv02; exit_node.2.name=… for a second one. May be repeated.
    #[arg(long, value_name = "SECTION.KEY=VALUE")]
    pub set: Vec<String>,
    /// Leave a section out without asking: powerdns, opnsense, resolvers, bootstrap, registry. May be repeated.
    #[arg(long, value_name = "SECTION")]
    pub off: Vec<String>,
    /// Do not run `site check` at the end.
    #[arg(long)]
    pub no_check: bool,
    /// Seconds that one step may take, 1–60.
    #[arg(long, default_value_t = 8, value_name = "SECONDS", value_parser = clap::value_parser!(u8).range(1..=60))]
    pub timeout: u8,
    /// Servers of this host, from another file than /etc/resolv.conf.
    #[arg(long, value_name = "FILE")]
    pub resolv_conf: Option<PathBuf>,
}

/// `site …`.
#[derive(Debug, Subcommand)]
pub enum SiteAction {
    /// Try every address, certificate, credential, right, clock and vantage point, all at once.
    Check {
        /// Show the evidence of what is well, too.
        #[arg(short, long)]
        verbose: bool,
        /// Seconds that one step may take, 1–60.
        #[arg(long, default_value_t = 8, value_name = "SECONDS", value_parser = clap::value_parser!(u8).range(1..=60))]
        timeout: u8,
        /// Servers of this host, from another file than /etc/resolv.conf.
        #[arg(long, value_name = "FILE")]
        resolv_conf: Option<PathBuf>,
        /// Form.
        #[arg(short, long, value_enum, default_value_t)]
        output: Format,
    },
}

/// `render …`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Screen: tenants, board, workloads, vrfs, vnets, overview, fabric, sources, activity; of a bundle: diagnose, finding,
    /// evidence, path, contract, isolation.
    pub screen: String,
    /// Tenant of the screen, where it has one.
    #[arg(long, value_name = "NAME")]
    pub tenant: Option<String>,
    /// Of the embedded lab instead of a site.
    #[arg(long)]
    pub demo: bool,
    /// Of what a check left in this directory, without a network.
    #[arg(long, value_name = "DIR", conflicts_with = "demo")]
    pub from: Option<PathBuf>,
    /// Columns × rows.
    #[arg(long, default_value = "120x40", value_name = "WxH")]
    pub size: String,
    /// Moment to draw as now (default: now; of a bundle: when it was read).
    #[arg(long, value_name = "TIMESTAMP")]
    pub at: Option<jiff::Timestamp>,
    /// With colours (SGR); default: when stdout is a terminal.
    #[arg(long)]
    pub colour: bool,
    /// Of the lab.
    #[command(flatten)]
    pub lab: LabArgs,
}

/// What the lab holds.
#[derive(Debug, Clone, Args)]
pub struct LabArgs {
    /// Tenants, 0–62 (default: the worked example with six). With 0 the site is empty: a fabric and nobody on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=62))]
    pub tenants: Option<u8>,
    /// Workloads per tenant, 0–40.
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u8).range(0..=40))]
    pub workloads: Option<u8>,
    /// Fault to start with, e.g. snat-missing@eds; may be repeated. `lab fault list` names them.
    #[arg(long, value_name = "ID[@TENANT|@NODE]")]
    pub fault: Vec<String>,
    /// Name the token that may change things in the site file, rather than the one that only reads.
    #[arg(long)]
    pub writable: bool,
}

/// `lab …`.
#[derive(Debug, Args)]
pub struct LabVerb {
    /// What to do; without one: serve.
    #[command(subcommand)]
    pub action: Option<LabAction>,
    /// Where the site file is written.
    #[arg(long, value_name = "FILE")]
    pub site_out: Option<PathBuf>,
    /// The site.
    #[command(flatten)]
    pub lab: LabArgs,
}

/// What can be done to a running lab.
#[derive(Debug, Subcommand)]
pub enum LabAction {
    /// Faults of the running lab whose site file is given with --site.
    Fault {
        /// What.
        #[command(subcommand)]
        action: FaultAction,
    },
}

/// `lab fault …`.
#[derive(Debug, Subcommand)]
pub enum FaultAction {
    /// Switch on.
    On {
        /// Fault.
        fault: String,
    },
    /// Switch off.
    Off {
        /// Fault.
        fault: String,
    },
    /// All there are, those that are on marked.
    List,
}

/// Kinds of `get`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Tenants with the presence of each layer.
    Tenants,
    /// VRFs on the exit nodes.
    Vrfs,
    /// VNets and subnets.
    Vnets,
    /// VMs.
    Workloads,
    /// Check-ins of first boots.
    Checkins,
    /// DNS records, at the authority and at the perimeter.
    Records,
    /// SNAT rules and flows.
    Snat,
    /// Filter rules of the perimeter, in the order of evaluation.
    Rules,
    /// Forwards of the perimeter resolver.
    Forwards,
    /// SDN edits that wait for an apply.
    Pending,
    /// Sources and their health.
    Sources,
}

impl Kind {
    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tenants => "tenants",
            Self::Vrfs => "vrfs",
            Self::Vnets => "vnets",
            Self::Workloads => "workloads",
            Self::Checkins => "checkins",
            Self::Records => "records",
            Self::Snat => "snat",
            Self::Rules => "rules",
            Self::Forwards => "forwards",
            Self::Pending => "pending",
            Self::Sources => "sources",
        }
    }
}
