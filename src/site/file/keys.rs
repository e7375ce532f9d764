//! The one table of everything a site file may say. The reader, its suggestions, the list of what is missing and the
//! documentation test all use it.

/// What a value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name without spaces that can be an argument: no leading dash.
    Word,
    /// A site's short name.
    SiteName,
    /// A DNS name without trailing dot.
    Domain,
    /// The version of the format that this program reads.
    Version(i64),
    /// An integer within both bounds.
    Integer(i64, i64),
    /// `true` or `false`.
    Bool,
    /// A list of words.
    Words,
    /// A table from word to word.
    Aliases,
    /// An IPv4 network.
    Network,
    /// A list of IPv4 networks.
    Networks,
    /// An IPv4 address.
    Ipv4,
    /// An IP address.
    Ip,
    /// An IP address with an optional port; 53 without one.
    DnsServer,
    /// Origin of an HTTP service.
    Url,
    /// A path; relative to the file's directory, `~/` is the home directory.
    Path,
    /// SHA-256 of a certificate.
    Fingerprint,
    /// Where a secret comes from.
    Secret,
    /// How an exit node is reached.
    Transport,
    /// An argument vector.
    Command,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// The kind in words, as messages and the documentation say it.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Word => "a name without spaces".to_owned(),
            Self::SiteName => "a name of lower-case letters, digits and dashes".to_owned(),
            Self::Domain => "a DNS name without trailing dot".to_owned(),
            Self::Version(known) => format!("the integer {known}"),
            Self::Integer(min, max) if min == max => format!("the integer {min}"),
            Self::Integer(min, max) => format!("an integer from {min} to {max}"),
            Self::Bool => "true or false".to_owned(),
            Self::Words => "a list of names".to_owned(),
            Self::Aliases => "a table of alias = \"name\"".to_owned(),
            Self::Network => "an IPv4 network such as \"10.20.128.0/18\"".to_owned(),
            Self::Networks => "a list of IPv4 networks".to_owned(),
            Self::Ipv4 => "an IPv4 address".to_owned(),
            Self::Ip => "an IP address".to_owned(),
            Self::DnsServer => "an IP address with an optional port".to_owned(),
            Self::Url => "an http:// or https:// origin".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::Fingerprint => "a SHA-256 fingerprint".to_owned(),
            Self::Secret => "a secret's source".to_owned(),
            Self::Transport => "{ ssh = \"…\" } or { command = [\"…\"] }".to_owned(),
            Self::Command => "a list of a program and its arguments".to_owned(),
            Self::Choice(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or "),
        }
    }
}

/// Whether a key has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always, where its section is present.
    Required,
    /// Never; this TOML value stands in for it.
    Default(&'static str),
    /// Never; without it the feature it serves is off.
    Optional,
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value has to be.
    pub kind: Kind,
    /// Whether it has to be there.
    pub need: Need,
    /// What it is, in one line.
    pub doc: &'static str,
}

/// How often a section may appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The keys above the first section.
    Top,
    /// `[name]`, once.
    One,
    /// `[[name]]`, any number of times.
    Many,
}

/// One section.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its name; empty for the keys above the first section.
    pub name: &'static str,
    /// How often it may appear.
    pub shape: Shape,
    /// Whether it has to be there.
    pub required: bool,
    /// What its absence means, or what it holds.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

impl Section {
    /// The section as it is written in a file.
    #[must_use]
    pub fn title(&self) -> String {
        match self.shape {
            Shape::Top => "the top of the file".to_owned(),
            Shape::One => format!("[{}]", self.name),
            Shape::Many => format!("[[{}]]", self.name),
        }
    }

    /// The key of that name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

const fn key(name: &'static str, kind: Kind, need: Need, doc: &'static str) -> Key {
    Key { name, kind, need, doc }
}

const fn section(name: &'static str, shape: Shape, required: bool, doc: &'static str, keys: &'static [Key]) -> Section {
    Section { name, shape, required, doc, keys }
}

use Kind::{
    Aliases, Bool, Choice, Command, DnsServer, Domain, Fingerprint, Integer, Ip, Ipv4, Network, Networks, Path, Secret,
    SiteName, Transport, Url, Version, Word, Words,
};
use Need::{Default, Optional, Required};
use Shape::{Many, One, Top};

const CA_FILE: Key = key("ca_file", Path, Optional, "PEM file with the certificates to trust, and no others");
const FINGERPRINT: Key = key("fingerprint", Fingerprint, Optional, "SHA-256 of the server's certificate, pinned");
const PLAINTEXT: Key = key("plaintext", Bool, Default("false"), "accept http:// to an address that is not loopback");

/// Sections of a site file, in the order of the documentation.
pub static SITE: &[Section] = &[
    section("", Top, true, "format of the file", &[key("version", Version(1), Required, "version of the format")]),
    section(
        "site",
        One,
        true,
        "the site itself",
        &[
            key("name", SiteName, Required, "short name of the site"),
            key("domain", Domain, Required, "DNS domain below which tenants' zones live"),
            key("octet", Integer(0, 99), Required, "second octet of the site's addresses, also its digits in MACs"),
            key("read_only", Bool, Default("false"), "refuse every write for this site"),
            key("aliases", Aliases, Default("{}"), "other names of nodes and hosts: alias = \"name\""),
        ],
    ),
    section(
        "numbering",
        One,
        true,
        "bases of the numbering scheme",
        &[
            key("vrf_vni_base", Integer(0, 0xFF_FFFF), Required, "VRF VNI = this + index"),
            key("vnet_vni_base", Integer(0, 0xFF_FFFF), Required, "VNet VNI = this + 10 · index + number of the VNet"),
            key("overlay", Network, Required, "the /18 of all tenants' subnets"),
            key("asn", Integer(1, 4_294_967_294), Required, "BGP autonomous system of the fabric"),
            key("vmid_base", Integer(0, 0xFF_FFFF), Required, "VMID = this + vmids_per_tenant · index + ordinal"),
            key("vmids_per_tenant", Integer(1, 245), Default("40"), "workloads a tenant may have"),
            key("reserved_names", Words, Default("[]"), "labels of the site's own zone that no tenant may be called"),
        ],
    ),
    section(
        "proxmox",
        One,
        true,
        "Proxmox VE",
        &[
            key("url", Url, Required, "origin of the API"),
            key("token", Secret, Required, "API token, whole: user@realm!name=secret"),
            CA_FILE,
            FINGERPRINT,
            PLAINTEXT,
            key("node", Word, Required, "id of the node that carries tenants"),
            key("controller", Word, Required, "id of the EVPN controller"),
            key("fabric", Word, Optional, "id of the SDN fabric"),
            key("template_prefix", Word, Optional, "what the names of workload templates start with"),
            key("storage", Word, Optional, "storage that clones go to"),
            key("login_user", Word, Optional, "login account that cloud-init makes"),
        ],
    ),
    section(
        "exit_node",
        Many,
        true,
        "an exit node; at least one",
        &[
            key("name", Word, Required, "Proxmox node id"),
            key("transport", Transport, Required, "how the node is reached"),
            key("transit_interface", Word, Required, "interface on the transit segment"),
            key("transit_address", Ipv4, Required, "the node's address there, which tenants' traffic is translated to"),
            key("transit_gateway", Ipv4, Required, "the perimeter's address there: next hop of every tenant"),
            key(
                "egress_apply",
                Command,
                Optional,
                "command that puts frr.conf.local in place; it gets the file on stdin",
            ),
            key("egress_install", Bool, Default("false"), "put frr.conf.local in place over the transport"),
        ],
    ),
    section(
        "powerdns",
        One,
        false,
        "PowerDNS; without it names are not managed",
        &[
            key("mode", Choice(&["api", "tunnel", "dns-only"]), Required, "how much of PowerDNS can be reached"),
            key("url", Url, Optional, "origin of the API; required unless mode is dns-only"),
            CA_FILE,
            FINGERPRINT,
            PLAINTEXT,
            key("api_key", Secret, Optional, "API key; required unless mode is dns-only"),
            key("tunnel", Word, Optional, "ssh destination that reaches the API; required when mode is tunnel"),
            key("dns", DnsServer, Required, "where the authoritative server answers queries"),
            key("nameserver", Domain, Optional, "name in NS and SOA at the apex of tenants' zones"),
            key("update_networks", Networks, Default("[]"), "networks that may send DNS updates"),
        ],
    ),
    section(
        "opnsense",
        One,
        false,
        "OPNsense; without it the perimeter is not read",
        &[
            key("url", Url, Required, "origin of the API"),
            key("key", Secret, Required, "API key"),
            key("secret", Secret, Required, "API secret"),
            CA_FILE,
            FINGERPRINT,
            PLAINTEXT,
            key("transit", Network, Required, "network between the exit nodes and the perimeter"),
        ],
    ),
    section(
        "resolvers",
        One,
        false,
        "resolvers; without it names are not resolved",
        &[
            key("perimeter", Ip, Required, "resolver that workloads use"),
            key("ask", DnsServer, Optional, "where that resolver is asked from here; its own port 53 without it"),
            key("substrate", Ip, Optional, "resolver of the machines below the tenants"),
        ],
    ),
    section(
        "probes",
        One,
        false,
        "what probes are sent to; without it they end at the transit gateway",
        &[key("internet", Ipv4, Optional, "address on the internet that answers pings and HTTP")],
    ),
    section(
        "bootstrap",
        One,
        false,
        "check-ins, of a service or a file; without it there are none",
        &[
            key("url", Url, Optional, "origin of the service; required unless there is a file"),
            CA_FILE,
            FINGERPRINT,
            PLAINTEXT,
            key("credential", Secret, Optional, "operator credential; required with url"),
            key("file", Path, Optional, "file of records, one JSON object a line; excludes url"),
        ],
    ),
    section(
        "registry",
        One,
        false,
        "the platform's registry, read only; without it the fabric is asked",
        &[
            key("url", Url, Required, "origin of the registry"),
            CA_FILE,
            FINGERPRINT,
            PLAINTEXT,
            key("token", Secret, Required, "operator token"),
        ],
    ),
    section(
        "state",
        One,
        false,
        "where the program keeps its state",
        &[key("dir", Path, Required, "directory of journal, plans, bundles and logs")],
    ),
];

/// Keys of `section` that are required because of what another of its keys says: `text` is the value of one that is a
/// text, `given` whether one is there.
pub(super) fn wanted(
    section: &str,
    text: impl Fn(&str) -> Option<String>,
    given: impl Fn(&str) -> bool,
) -> &'static [&'static str] {
    match section {
        "powerdns" => match text("mode").as_deref() {
            Some("api") => &["url", "api_key"],
            Some("tunnel") => &["url", "api_key", "tunnel"],
            _ => &[],
        },
        "bootstrap" if !given("file") => &["url", "credential"],
        _ => &[],
    }
}

/// The user's own `config.toml`.
pub static USER: &[Section] = &[section(
    "",
    Top,
    false,
    "the user's preferences",
    &[
        key("theme", Word, Optional, "name of a theme"),
        key("keymap", Word, Optional, "name of a keymap"),
        key("ascii", Bool, Optional, "draw with ASCII characters only"),
        key("default_site", Word, Optional, "site to open when none is named"),
    ],
)];
