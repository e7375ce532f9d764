//! What can be known of PowerDNS in each mode of a site (domain.md §13).

use crate::site::model::{PowerDnsMode, PowerDnsSite};

/// How PowerDNS is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// HTTP API.
    Api,
    /// HTTP API through a tunnel of ours.
    Tunnel,
    /// DNS queries only.
    DnsOnly,
}

/// A part of what there is to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Version, counters and settings of the server.
    Server,
    /// Which zones exist.
    ZoneList,
    /// The serial of a zone whose name is known.
    Serial,
    /// SOA and NS at a zone's apex.
    Apex,
    /// Records of names that are known: A and PTR of workloads.
    NamedRecords,
    /// All records of a zone.
    AllRecords,
    /// Disabled records and comments.
    Unserved,
    /// Who may update a zone.
    Metadata,
    /// Which TSIG keys exist.
    TsigKeys,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 9] = [
        Self::Server,
        Self::ZoneList,
        Self::Serial,
        Self::Apex,
        Self::NamedRecords,
        Self::AllRecords,
        Self::Unserved,
        Self::Metadata,
        Self::TsigKeys,
    ];
}

/// Whether a part can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// From the API.
    Api,
    /// From DNS queries.
    Queries,
    /// Not at all: it is unknown, not absent.
    Unknowable(&'static str),
}

impl Reach {
    /// How `site` says PowerDNS is reached.
    #[must_use]
    pub fn of(site: &PowerDnsSite) -> Self {
        match site.mode {
            PowerDnsMode::Api => Self::Api,
            PowerDnsMode::Tunnel => Self::Tunnel,
            PowerDnsMode::DnsOnly => Self::DnsOnly,
        }
    }

    /// Whether there is an HTTP API to ask.
    #[must_use]
    pub fn has_api(self) -> bool {
        self != Self::DnsOnly
    }

    /// Whether and from where `part` can be known.
    #[must_use]
    pub fn knows(self, part: Part) -> Knowledge {
        if self.has_api() {
            return Knowledge::Api;
        }
        match part {
            Part::Serial | Part::Apex | Part::NamedRecords => Knowledge::Queries,
            Part::Server => Knowledge::Unknowable("version, counters and settings are in the API only"),
            Part::ZoneList => {
                Knowledge::Unknowable("DNS has no list of zones; only zones with a known name can be asked")
            }
            Part::AllRecords => Knowledge::Unknowable("a query needs the name; a transfer (AXFR) is not made"),
            Part::Unserved => Knowledge::Unknowable("disabled records and comments are never served"),
            Part::Metadata => Knowledge::Unknowable("who may update a zone is in the API only"),
            Part::TsigKeys => Knowledge::Unknowable("the names of keys are in the API only"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_api_only_what_queries_tell_is_known() {
        let by_queries: Vec<Part> =
            Part::ALL.into_iter().filter(|part| Reach::DnsOnly.knows(*part) == Knowledge::Queries).collect();
        assert_eq!(by_queries, [Part::Serial, Part::Apex, Part::NamedRecords]);
        for part in Part::ALL {
            assert_eq!((Reach::Api.knows(part), Reach::Tunnel.knows(part)), (Knowledge::Api, Knowledge::Api));
            if let Knowledge::Unknowable(why) = Reach::DnsOnly.knows(part) {
                assert!(why.len() > 20, "{part:?}");
            }
        }
    }
}
