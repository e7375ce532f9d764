//! Whom to ask, and what comes of it.

use std::net::{Ipv4Addr, SocketAddr};

use crate::backends::dns::system::SystemResolver;
use crate::backends::dns::{Answer, DnsName, Failure, Rcode, RecordType};
use crate::backends::exit_node::Client;
use crate::site::Site;
use crate::site::names::TenantName;

/// Port of a resolver.
pub(super) const PORT: u16 = 53;

/// A place to ask from, or whom to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vantage {
    /// The authoritative server, without recursion.
    Authoritative,
    /// The perimeter's resolver, the one that workloads use.
    Perimeter,
    /// The resolver of the substrate.
    Substrate,
    /// The perimeter, asked from inside the tenant's VRF on the exit node.
    Vrf,
    /// This host, as it is configured.
    Host,
}

impl Vantage {
    /// All, in the order of the columns.
    pub const ALL: [Self; 5] = [Self::Authoritative, Self::Perimeter, Self::Substrate, Self::Vrf, Self::Host];

    /// Word, as in documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Authoritative => "authoritative",
            Self::Perimeter => "perimeter",
            Self::Substrate => "substrate",
            Self::Vrf => "vrf",
            Self::Host => "host",
        }
    }
}

/// Why a vantage point has no part in a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyNot {
    /// The site has no such back end.
    Off,
    /// The site file does not name it.
    NotConfigured,
    /// The name is none of its own.
    NotItsName,
}

/// What came of one vantage point.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// An answer, whatever it says.
    Answered(Answer),
    /// It was asked, and did not answer.
    Failed {
        /// Why.
        why: String,
        /// Remedy.
        help: String,
    },
    /// It may not be used.
    Denied {
        /// Which right, where.
        why: String,
        /// Remedy.
        help: String,
    },
    /// It was not asked.
    NotAsked {
        /// Kind.
        kind: WhyNot,
        /// Why.
        why: String,
    },
}

/// What came of a control name at one vantage point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlOutcome {
    /// It answers with these.
    Answers(Vec<String>),
    /// It answers without them.
    Empty(Rcode),
    /// No answer.
    Failed(String),
    /// Not asked, and why.
    NotAsked(&'static str),
}

/// One vantage point.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Which.
    pub vantage: Vantage,
    /// Whom it asks, e.g. `10.20.50.1 via hv02`; empty where nobody.
    pub asked: String,
    /// How, e.g. `no recursion, udp`.
    pub how: String,
    /// What came of it.
    pub outcome: Outcome,
    /// What came of each control, in the order in which they are asked.
    pub controls: Vec<ControlOutcome>,
}

impl Column {
    /// A vantage point that was asked and of which nothing came, `why`; with `controls` of which nothing came either.
    #[must_use]
    pub(super) fn silent(vantage: Vantage, controls: usize, why: &str) -> Self {
        Self {
            vantage,
            asked: String::new(),
            how: String::new(),
            outcome: Outcome::Failed { why: why.to_owned(), help: "ask again".to_owned() },
            controls: vec![ControlOutcome::Failed(why.to_owned()); controls],
        }
    }

    /// Its answer, where there is one.
    #[must_use]
    pub const fn answer(&self) -> Option<&Answer> {
        match &self.outcome {
            Outcome::Answered(answer) => Some(answer),
            _ => None,
        }
    }
}

/// A name that is asked for beside: it tells "this name" from "this resolver".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// `public` or `site`.
    pub what: &'static str,
    /// Name.
    pub name: DnsName,
    /// Type.
    pub kind: RecordType,
}

/// The controls to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controls {
    /// A name on the internet.
    pub public: Option<DnsName>,
    /// A name of the site that is no tenant's.
    pub site: Option<DnsName>,
}

impl Controls {
    /// `example.com`, which RFC 2606 keeps for such uses, and the first reserved name below the site's domain: `api` where
    /// none is reserved.
    #[must_use]
    pub fn of_site(site: &Site) -> Self {
        let label = site.numbering.reserved_names.first().map_or("api", String::as_str);
        Self { public: "example.com".parse().ok(), site: format!("{label}.{}", site.domain).parse().ok() }
    }

    pub(super) fn list(&self) -> Vec<Control> {
        let one = |what, name: &Option<DnsName>| name.clone().map(|name| Control { what, name, kind: RecordType::A });
        [one("public", &self.public), one("site", &self.site)].into_iter().flatten().collect()
    }
}

/// The exit node as a vantage point.
#[derive(Debug)]
pub struct Exit {
    /// Client.
    pub client: Client,
    /// The name people use for it.
    pub name: String,
    /// Whom the tenants' VRFs ask: the perimeter's address on the transit segment.
    pub gateway: Ipv4Addr,
}

/// Who can be asked. `Err` says why one cannot.
#[derive(Debug)]
pub struct Vantages {
    /// Authoritative server.
    pub authoritative: Result<SocketAddr, (WhyNot, String)>,
    /// Perimeter.
    pub perimeter: Result<SocketAddr, (WhyNot, String)>,
    /// Substrate.
    pub substrate: Result<SocketAddr, (WhyNot, String)>,
    /// Exit node.
    pub exit: Result<Exit, (WhyNot, String)>,
    /// This host.
    pub host: Result<SystemResolver, Failure>,
    /// Controls.
    pub controls: Controls,
    /// Ask from this tenant's VRF, whoever the name belongs to.
    pub from: Option<TenantName>,
}

impl Vantages {
    /// Those of the site file and of this host.
    #[must_use]
    pub fn of_site(site: &Site) -> Self {
        let off = |what: &str| (WhyNot::Off, format!("the site file has no [{what}]"));
        let resolvers = site.resolvers.as_ref().ok_or_else(|| off("resolvers"));
        let exit = site.exit_nodes.first().map(|node| Exit {
            client: Client::new(node),
            name: site.short_name(&node.name).to_owned(),
            gateway: node.transit_gateway,
        });
        let unnamed = || (WhyNot::NotConfigured, "[resolvers] names no substrate".to_owned());
        Self {
            authoritative: site.powerdns.as_ref().map(|dns| dns.dns).ok_or_else(|| off("powerdns")),
            perimeter: resolvers.clone().map(|r| r.ask),
            substrate: resolvers.and_then(|r| r.substrate.ok_or_else(unnamed)).map(|ip| SocketAddr::new(ip, PORT)),
            exit: exit.ok_or_else(|| off("[exit_node]")),
            host: SystemResolver::from_system(),
            controls: Controls::of_site(site),
            from: None,
        }
    }
}
