//! The parts of a check: each ends by itself, and what hangs on it can be said from then on.

use std::fmt;

use super::evidence::{self, Api, Item};
use super::facts::{between, keys, services};

/// A part of a check.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Proxmox VE: rights, SDN, members, lists.
    Fabric,
    /// The first reading of an exit node.
    Read(String),
    /// What is tried on an exit node, and the second reading after it.
    Tried(String),
    /// Packets between tenants on an exit node.
    Between(String),
    /// Machines one by one.
    Guests,
    /// PowerDNS and the resolvers.
    Names,
    /// Tenants' update keys, tried.
    Keys,
    /// The router.
    Perimeter,
    /// Check-ins of workloads.
    CheckIns,
    /// The registry of tenants.
    Registry,
}

/// Kinds of part, as the legs of the path wait for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// [`Part::Fabric`].
    Fabric,
    /// [`Part::Read`], of every exit node.
    Read,
    /// [`Part::Tried`], of every exit node.
    Tried,
    /// [`Part::Between`], of every exit node.
    Between,
    /// [`Part::Guests`].
    Guests,
    /// [`Part::Names`].
    Names,
    /// [`Part::Keys`].
    Keys,
    /// [`Part::Perimeter`].
    Perimeter,
    /// [`Part::CheckIns`].
    CheckIns,
    /// [`Part::Registry`].
    Registry,
}

impl Part {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Fabric => Kind::Fabric,
            Self::Read(_) => Kind::Read,
            Self::Tried(_) => Kind::Tried,
            Self::Between(_) => Kind::Between,
            Self::Guests => Kind::Guests,
            Self::Names => Kind::Names,
            Self::Keys => Kind::Keys,
            Self::Perimeter => Kind::Perimeter,
            Self::CheckIns => Kind::CheckIns,
            Self::Registry => Kind::Registry,
        }
    }

    /// The exit node, where it is of one.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::Read(node) | Self::Tried(node) | Self::Between(node) => Some(node),
            _ => None,
        }
    }

    /// Who is asked, in words.
    #[must_use]
    pub fn who(&self) -> String {
        match self {
            Self::Fabric => "Proxmox VE".to_owned(),
            Self::Read(node) => format!("the exit node {node}"),
            Self::Tried(node) => format!("probes on {node}"),
            Self::Between(node) => format!("packets between tenants on {node}"),
            Self::Guests => "the workloads".to_owned(),
            Self::Names => "PowerDNS and the resolvers".to_owned(),
            Self::Keys => "the trial of update keys".to_owned(),
            Self::Perimeter => "the firewall".to_owned(),
            Self::CheckIns => "the service of check-ins".to_owned(),
            Self::Registry => "the registry".to_owned(),
        }
    }

    /// The part that `item` came with; `None` for what no part brings.
    #[must_use]
    pub fn of(item: &Item) -> Option<Self> {
        match &item.kind {
            evidence::Kind::Http(http) => match http.api {
                Api::Proxmox if http.path.contains("/qemu/") => Some(Self::Guests),
                Api::Proxmox => Some(Self::Fabric),
                Api::PowerDns => Some(Self::Names),
                Api::Opnsense => Some(Self::Perimeter),
                Api::Other => None,
            },
            evidence::Kind::Command { line, .. } if line.starts_with("deevnet-exit-node read") => {
                Some(Self::Read(item.from.clone()))
            }
            evidence::Kind::Command { .. } => Some(Self::Tried(item.from.clone())),
            evidence::Kind::Dns(_) => Some(Self::Names),
            evidence::Kind::Material(what) if what == keys::WHAT => Some(Self::Keys),
            evidence::Kind::Material(what) if what == between::WHAT => Some(Self::Between(item.from.clone())),
            evidence::Kind::Material(what) if what == services::OF_CHECKINS => Some(Self::CheckIns),
            evidence::Kind::Material(what) if what == services::OF_REGISTRY => Some(Self::Registry),
            evidence::Kind::Pasted { .. } | evidence::Kind::Material(_) => None,
        }
    }

    /// Reads what [`fmt::Display`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (word, node) = text.split_once(' ').map_or((text, None), |(word, node)| (word, Some(node.to_owned())));
        match (word, node) {
            ("fabric", None) => Some(Self::Fabric),
            ("read", Some(node)) => Some(Self::Read(node)),
            ("tried", Some(node)) => Some(Self::Tried(node)),
            ("between", Some(node)) => Some(Self::Between(node)),
            ("guests", None) => Some(Self::Guests),
            ("names", None) => Some(Self::Names),
            ("keys", None) => Some(Self::Keys),
            ("perimeter", None) => Some(Self::Perimeter),
            ("checkins", None) => Some(Self::CheckIns),
            ("registry", None) => Some(Self::Registry),
            _ => None,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fabric => f.write_str("fabric"),
            Self::Read(node) => write!(f, "read {node}"),
            Self::Tried(node) => write!(f, "tried {node}"),
            Self::Between(node) => write!(f, "between {node}"),
            Self::Guests => f.write_str("guests"),
            Self::Names => f.write_str("names"),
            Self::Keys => f.write_str("keys"),
            Self::Perimeter => f.write_str("perimeter"),
            Self::CheckIns => f.write_str("checkins"),
            Self::Registry => f.write_str("registry"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let all = [
            Part::Fabric,
            Part::Read("hv02".into()),
            Part::Tried("hv02".into()),
            Part::Between("hv02".into()),
            Part::Guests,
            Part::Names,
            Part::Keys,
            Part::Perimeter,
            Part::CheckIns,
            Part::Registry,
        ];
        for part in all {
            assert_eq!(Part::parse(&part.to_string()), Some(part));
        }
        for other in ["", "read", "fabric x", "something else"] {
            assert_eq!(Part::parse(other), None, "{other}");
        }
    }
}
