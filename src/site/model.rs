//! A site as the rest of the program sees it: complete, checked, secrets still unread.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use ipnet::Ipv4Net;

/// One site. Every required field of every section that is present has a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Short name, e.g. `mobile`.
    pub name: String,
    /// DNS domain under which tenants' zones live, without trailing dot.
    pub domain: String,
    /// Second octet of the site's addresses; also the decimal digits in MACs.
    pub octet: u8,
    /// Writes are refused for this site whatever the command says.
    pub read_only: bool,
    /// Alias → node or host name; lookups go both ways.
    pub aliases: BTreeMap<String, String>,
    /// Bases of the numbering scheme.
    pub numbering: NumberingPlan,
    /// Proxmox VE.
    pub proxmox: ProxmoxSite,
    /// Exit nodes, at least one.
    pub exit_nodes: Vec<ExitNodeSite>,
    /// PowerDNS; `None` = off.
    pub powerdns: Option<PowerDnsSite>,
    /// OPNsense; `None` = off.
    pub opnsense: Option<OpnsenseSite>,
    /// Resolvers; `None` = off.
    pub resolvers: Option<ResolversSite>,
    /// What probes of the path to the internet are sent to, beyond the transit gateway; `None` = they end there.
    pub internet: Option<Ipv4Addr>,
    /// Where check-ins are read; `None` = off.
    pub bootstrap: Option<BootstrapSite>,
    /// Registry; `None` = rebuilt from the fabric.
    pub registry: Option<RegistrySite>,
    /// Where journal, plans, bundles and logs live.
    pub state_dir: Option<PathBuf>,
    /// Warnings to show (plaintext URLs and the like).
    pub warnings: Vec<String>,
    /// The file without where its secrets come from, as TOML; empty for a site that came from no file.
    pub redacted: Arc<str>,
}

impl Site {
    /// The name people use for `name`: its alias where one is configured, else itself.
    #[must_use]
    pub fn short_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.iter().find(|(_, full)| *full == name).map_or(name, |(alias, _)| alias.as_str())
    }

    /// The node or host that `name` stands for where it is an alias, else itself.
    #[must_use]
    pub fn full_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }
}

/// Bases of the numbering scheme (domain.md §3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberingPlan {
    /// Site octet.
    pub octet: u8,
    /// VRF VNI = this + index.
    pub vrf_vni_base: u32,
    /// VNet VNI = this + 10·index + i.
    pub vnet_vni_base: u32,
    /// Block of all tenants' subnets, a /18.
    pub overlay: Ipv4Net,
    /// BGP ASN.
    pub asn: u32,
    /// VMID = this + vmids_per_tenant·index + k.
    pub vmid_base: u32,
    /// Workload ordinals per tenant.
    pub vmids_per_tenant: u32,
    /// Labels no tenant may be called.
    pub reserved_names: Vec<String>,
}

/// How a secret is obtained. The value itself never lives in a [`Site`].
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// Environment variable.
    Env(String),
    /// File, mode 0600 or stricter enforced.
    File(PathBuf),
    /// First line of a command's output; argument vector, no shell.
    Command(Vec<String>),
}

impl std::fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env {name}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Command(argv) => write!(f, "command {}", argv.first().map_or("", String::as_str)),
        }
    }
}

/// How a server proves who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The operating system's certificate store.
    System,
    /// Certificates of this PEM file, and no others.
    CaFile(PathBuf),
    /// SHA-256 of the server's own certificate, pinned.
    Fingerprint([u8; 32]),
    /// No TLS (loopback, or `plaintext = true`).
    Plaintext,
}

/// `[proxmox]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxmoxSite {
    /// Origin, e.g. `https://10.20.99.22:8006`, no trailing slash.
    pub url: String,
    /// API token, whole: `user@realm!name=secret`.
    pub token: SecretSource,
    /// Trust.
    pub trust: Trust,
    /// Node id that carries tenants.
    pub node: String,
    /// EVPN controller id.
    pub controller: String,
    /// Fabric id.
    pub fabric: Option<String>,
    /// Prefix of template names.
    pub template_prefix: Option<String>,
    /// Storage for clones.
    pub storage: Option<String>,
    /// Cloud-init login account.
    pub login_user: Option<String>,
}

/// How the exit node is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// The operator's own ssh, to this destination.
    Ssh(String),
    /// A command that runs the helper's command line, prefixed to it.
    Command(Vec<String>),
}

/// `[[exit_node]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ExitNodeSite {
    /// Proxmox node id.
    pub name: String,
    /// Transport.
    pub transport: Transport,
    /// Interface on the transit segment.
    pub transit_interface: String,
    /// Address on it: what SNAT translates to.
    pub transit_address: Ipv4Addr,
    /// Perimeter's address on it: the tenants' next hop, and their resolver.
    pub transit_gateway: Ipv4Addr,
    /// Command that puts `frr.conf.local` in place: it gets the whole file on stdin.
    pub egress_apply: Option<Vec<String>>,
    /// Whether the console may put it in place itself, over the transport.
    pub egress_install: bool,
}

/// How much of PowerDNS can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerDnsMode {
    /// HTTP API.
    Api,
    /// HTTP API through an ssh tunnel opened by us.
    Tunnel,
    /// DNS queries only.
    DnsOnly,
}

/// `[powerdns]`.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerDnsSite {
    /// Mode.
    pub mode: PowerDnsMode,
    /// API origin (modes api, tunnel).
    pub url: Option<String>,
    /// Trust of the API origin.
    pub trust: Trust,
    /// API key (modes api, tunnel).
    pub api_key: Option<SecretSource>,
    /// ssh destination of the tunnel.
    pub tunnel: Option<String>,
    /// DNS address of the authoritative server.
    pub dns: SocketAddr,
    /// Name in apex NS and SOA.
    pub nameserver: Option<String>,
    /// Networks that may send updates.
    pub update_networks: Vec<Ipv4Net>,
}

/// `[opnsense]`.
#[derive(Debug, Clone, PartialEq)]
pub struct OpnsenseSite {
    /// Origin.
    pub url: String,
    /// API key.
    pub key: SecretSource,
    /// API secret.
    pub secret: SecretSource,
    /// Trust.
    pub trust: Trust,
    /// Transit network.
    pub transit: Ipv4Net,
}

/// `[resolvers]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolversSite {
    /// Resolver that workloads use.
    pub perimeter: IpAddr,
    /// Where it is asked from here: its own port 53, unless the site says otherwise.
    pub ask: SocketAddr,
    /// Resolver of the substrate.
    pub substrate: Option<IpAddr>,
}

/// `[bootstrap]`.
#[derive(Debug, Clone, PartialEq)]
pub enum BootstrapSite {
    /// A service that lists its records.
    Api {
        /// Origin.
        url: String,
        /// Trust.
        trust: Trust,
        /// Operator credential.
        credential: SecretSource,
    },
    /// A file of records, one JSON object a line.
    File(PathBuf),
}

/// `[registry]`.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistrySite {
    /// Origin.
    pub url: String,
    /// Trust.
    pub trust: Trust,
    /// Token.
    pub token: SecretSource,
}
