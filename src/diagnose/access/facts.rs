//! What was seen, before anybody judges it.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::backends::dns::{Answer, DnsName};
use crate::backends::exit_node::model::Reading;
use crate::backends::http::{self, HttpError, Look};
use crate::backends::opnsense::Release;
use crate::backends::opnsense::endpoints::Endpoint;
use crate::backends::powerdns::model as pdns;
use crate::backends::proxmox::model as pve;
use crate::backends::{dns, exit_node, opnsense, powerdns, proxmox};
use crate::site::SecretError;
use crate::site::model::Trust;

/// What came of a try.
#[derive(Debug, Clone, PartialEq)]
pub enum Tried<T> {
    /// It worked.
    Got(T),
    /// It did not.
    Failed(Fault),
    /// It was not tried, and why.
    NotRun(String),
}

impl<T> Tried<T> {
    /// The value, where there is one.
    pub const fn got(&self) -> Option<&T> {
        match self {
            Self::Got(value) => Some(value),
            Self::Failed(_) | Self::NotRun(_) => None,
        }
    }

    pub(super) fn of<E>(result: Result<T, E>) -> Self
    where
        Fault: for<'e> From<&'e E>,
    {
        result.map_or_else(|e| Self::Failed(Fault::from(&e)), Self::Got)
    }
}

/// Why a try failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Kind.
    pub kind: FaultKind,
    /// One clean line.
    pub why: String,
    /// Remedy.
    pub help: String,
}

/// Kinds of [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The site file, a secret or a CA file on this host.
    Configuration,
    /// The credential is not accepted.
    Credential,
    /// This host is not let in.
    Host,
    /// A right is missing.
    Right,
    /// No answer.
    NoAnswer,
    /// This version has no such thing.
    NotOffered,
    /// Anything else.
    Failed,
}

impl From<&HttpError> for Fault {
    fn from(error: &HttpError) -> Self {
        let kind = match &error.kind {
            http::Kind::Setup(_) => FaultKind::Configuration,
            _ if error.is_transient() => FaultKind::NoAnswer,
            _ => FaultKind::Failed,
        };
        Self { kind, why: error.kind.to_string(), help: error.help() }
    }
}

impl From<&proxmox::Error> for Fault {
    fn from(error: &proxmox::Error) -> Self {
        use proxmox::Error;
        let kind = match error {
            Error::Http(inner) => return Self::from(inner),
            Error::BadToken(_) => FaultKind::Configuration,
            Error::Unauthenticated { .. } => FaultKind::Credential,
            Error::Denied { .. } => FaultKind::Right,
            Error::NodeUnreachable { .. } => FaultKind::NoAnswer,
            Error::NotImplemented { .. } => FaultKind::NotOffered,
            _ => FaultKind::Failed,
        };
        Self { kind, why: error.to_string(), help: error.help() }
    }
}

impl From<&opnsense::Error> for Fault {
    fn from(error: &opnsense::Error) -> Self {
        use opnsense::Error;
        let kind = match error {
            Error::Http(inner) => return Self::from(inner),
            Error::BadCredentials(_) => FaultKind::Configuration,
            Error::Unauthenticated { .. } | Error::NoCredentials => FaultKind::Credential,
            Error::Denied { .. } => FaultKind::Right,
            Error::NoEndpoint { .. } | Error::NotOffered { .. } => FaultKind::NotOffered,
            _ => FaultKind::Failed,
        };
        Self { kind, why: error.to_string(), help: error.help() }
    }
}

impl From<&powerdns::Error> for Fault {
    fn from(error: &powerdns::Error) -> Self {
        use powerdns::Error;
        let kind = match error {
            Error::Http(inner) => return Self::from(inner),
            Error::NotConfigured(_) | Error::BadKey(_) => FaultKind::Configuration,
            Error::Unauthenticated => FaultKind::Credential,
            Error::SourceRefused { .. } => FaultKind::Host,
            Error::NoApi { .. } => FaultKind::NotOffered,
            Error::Tunnel(_) | Error::TunnelLost { .. } | Error::TunnelFarEnd { .. } => FaultKind::NoAnswer,
            _ => FaultKind::Failed,
        };
        Self { kind, why: error.to_string(), help: error.help() }
    }
}

impl From<&exit_node::error::Error> for Fault {
    fn from(error: &exit_node::error::Error) -> Self {
        use exit_node::error::Error;
        let kind = match error {
            Error::SshMissing { .. } | Error::CommandMissing { .. } => FaultKind::Configuration,
            Error::AuthRefused { .. } | Error::HostUnknown { .. } | Error::HostKeyChanged { .. } => {
                FaultKind::Credential
            }
            Error::ConnectionRefused { .. }
            | Error::Unreachable { .. }
            | Error::Disconnected { .. }
            | Error::TimedOut { .. }
            | Error::Truncated { .. } => FaultKind::NoAnswer,
            _ => FaultKind::Failed,
        };
        Self { kind, why: error.to_string(), help: error.help() }
    }
}

impl From<&exit_node::VrfFailure> for Fault {
    fn from(failure: &exit_node::VrfFailure) -> Self {
        use exit_node::VrfFailure;
        let kind = match failure {
            VrfFailure::Denied { .. } => FaultKind::Right,
            VrfFailure::Missing { .. } => FaultKind::NotOffered,
            VrfFailure::Dns { .. } => FaultKind::NoAnswer,
            _ => FaultKind::Failed,
        };
        Self { kind, why: failure.to_string(), help: failure.help() }
    }
}

impl From<&dns::Failure> for Fault {
    fn from(failure: &dns::Failure) -> Self {
        let kind = match failure {
            dns::Failure::System { .. } | dns::Failure::Local { .. } | dns::Failure::Malformed { .. } => {
                FaultKind::Failed
            }
            _ => FaultKind::NoAnswer,
        };
        Self { kind, why: failure.to_string(), help: failure.help() }
    }
}

impl From<&SecretError> for Fault {
    fn from(error: &SecretError) -> Self {
        Self { kind: FaultKind::Configuration, why: error.to_string(), help: error.help().to_owned() }
    }
}

/// Whether a secret could be read. It is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFacts {
    /// Key of the site file.
    pub key: &'static str,
    /// Where it comes from, without a command's arguments.
    pub source: String,
    /// Why it cannot be read.
    pub fault: Option<Fault>,
}

/// An HTTP service before anybody logs in.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceFacts {
    /// Its section of the site file.
    pub section: &'static str,
    /// Scheme, host and port.
    pub origin: String,
    /// Configured trust.
    pub trust: Trust,
    /// Its secrets.
    pub secrets: Vec<SecretFacts>,
    /// The look.
    pub look: Tried<Look>,
    /// How long everything about it took.
    pub took: Duration,
}

/// Proxmox.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxmoxFacts {
    /// The service.
    pub service: ServiceFacts,
    /// `user@realm!name` of the token: its public half.
    pub token_id: Option<String>,
    /// Version; what it says of the token goes for every other call.
    pub version: Tried<pve::Version>,
    /// The token's privileges.
    pub permissions: Tried<Arc<pve::Permissions>>,
    /// Node ids.
    pub nodes: Tried<Vec<String>>,
    /// Guests and storages.
    pub resources: Tried<pve::Resources>,
    /// Zones as configured, or as they run.
    pub zones: Tried<Vec<pve::Zone>>,
    /// VNets.
    pub vnets: Tried<Vec<pve::Vnet>>,
    /// Controllers.
    pub controllers: Tried<Vec<pve::Controller>>,
    /// Fabrics.
    pub fabrics: Tried<Vec<String>>,
}

/// One exit node.
#[derive(Debug, Clone, PartialEq)]
pub struct ExitFacts {
    /// Node id.
    pub node: String,
    /// Transport in words.
    pub how: String,
    /// The reading.
    pub reading: Tried<Arc<Reading>>,
    /// This host's clock before and after it.
    pub ours: (Timestamp, Timestamp),
    /// How long the reading took.
    pub took: Duration,
    /// The VRF that was tried as a vantage point, and what came of it.
    pub vrf: Option<(String, Tried<Answer>)>,
}

/// A question and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Whom; `None` = this host's own resolver.
    pub server: Option<SocketAddr>,
    /// What.
    pub name: DnsName,
    /// Answer.
    pub answer: Tried<Answer>,
}

/// PowerDNS.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerDnsFacts {
    /// The API; `None` in mode `dns-only`.
    pub api: Option<PowerDnsApi>,
    /// Questions to the authoritative server: the site's domain first, then a zone it should have.
    pub authority: Vec<Asked>,
    /// How long everything took.
    pub took: Duration,
}

/// The API of PowerDNS.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerDnsApi {
    /// The service.
    pub service: ServiceFacts,
    /// Destination of the tunnel.
    pub tunnel: Option<String>,
    /// Address with which this host appears there.
    pub from: Option<IpAddr>,
    /// Version.
    pub server: Tried<pdns::Server>,
    /// Settings.
    pub settings: Tried<pdns::Settings>,
    /// Names of zones.
    pub zones: Tried<Vec<String>>,
}

/// OPNsense.
#[derive(Debug, Clone, PartialEq)]
pub struct OpnsenseFacts {
    /// The service.
    pub service: ServiceFacts,
    /// Version, from the first of the places that tell it.
    pub release: Tried<Release>,
    /// One endpoint for each privilege.
    pub tried: Vec<(&'static Endpoint, Tried<()>)>,
}

/// Everything that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// When it began.
    pub at: Timestamp,
    /// Proxmox.
    pub proxmox: ProxmoxFacts,
    /// Exit nodes, in the order of the site file.
    pub exit_nodes: Vec<ExitFacts>,
    /// PowerDNS; `None` = off.
    pub powerdns: Option<PowerDnsFacts>,
    /// OPNsense; `None` = off.
    pub opnsense: Option<OpnsenseFacts>,
    /// The perimeter's resolver, the substrate's, and this host's.
    pub resolvers: Vec<(&'static str, Asked)>,
    /// Bootstrap service; `None` = off, or a file of records.
    pub bootstrap: Option<ServiceFacts>,
    /// File of bootstrap records: its path, its bytes or why it cannot be read; `None` = a service, or off.
    pub records: Option<(PathBuf, Result<u64, String>)>,
    /// Registry; `None` = off.
    pub registry: Option<ServiceFacts>,
}
