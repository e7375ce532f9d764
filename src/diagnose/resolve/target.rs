//! What is asked: a workload, an address or a name, and what it is to the site.

use std::net::{IpAddr, Ipv4Addr};

use crate::backends::dns::{DnsName, NameError, RecordType};
use crate::site::Site;
use crate::site::names::{TenantName, WorkloadName};
use crate::site::numbering::TenantIndex;
use crate::site::text::printable;

/// A question, and what its name is to the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name.
    pub name: DnsName,
    /// Type.
    pub kind: RecordType,
    /// Place.
    pub place: Place,
}

/// What a name is to the site, by its form alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Two labels below the site's domain, which may be a workload of a tenant.
    Workload {
        /// Tenant.
        tenant: TenantName,
        /// Workload.
        workload: WorkloadName,
    },
    /// One label below the site's domain: a tenant's zone, if there is a tenant of that name.
    Apex {
        /// Tenant.
        tenant: TenantName,
    },
    /// Somewhere else in what may be a tenant's zone.
    InZone {
        /// Tenant.
        tenant: TenantName,
    },
    /// The reverse name of an address in a tenant's subnet.
    Reverse {
        /// Index.
        index: TenantIndex,
        /// Address.
        address: Ipv4Addr,
    },
    /// A tenant's reverse zone.
    ReverseApex {
        /// Index.
        index: TenantIndex,
    },
    /// The site's own: its domain, or below it and no tenant's.
    Site,
    /// Not the site's.
    Elsewhere,
}

/// Why nothing was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// `TENANT/WORKLOAD` with names that neither can have.
    #[error("`{text}` is no workload: {why}")]
    Workload {
        /// What was given.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// Four numbers that are no address.
    #[error("`{text}` is no address: each of its four numbers is 0 to 255")]
    Address {
        /// What was given.
        text: String,
    },
    /// An address has a name, and nothing else.
    #[error("an address is asked for its PTR, not for {kind}")]
    AddressType {
        /// Type.
        kind: RecordType,
    },
}

impl TargetError {
    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Name(error) => error.help(),
            Self::Workload { .. } => "give TENANT/WORKLOAD, e.g. tdemo/app, an address, or a whole name",
            Self::Address { .. } => "give an address such as 10.20.129.10, or a whole name",
            Self::AddressType { .. } => "leave the type out, or give a name",
        }
    }
}

impl Target {
    /// The question for `text`, which is `TENANT/WORKLOAD`, an address or a name. Without a type: PTR for an address or
    /// its reverse name, SOA for a reverse zone, else A.
    ///
    /// # Errors
    /// [`TargetError`] when it is none of the three.
    pub fn parse(site: &Site, text: &str, kind: Option<RecordType>) -> Result<Self, TargetError> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return match kind {
                None | Some(RecordType::PTR) => Ok(Self::of_name(site, DnsName::reverse(address), kind)),
                Some(kind) => Err(TargetError::AddressType { kind }),
            };
        }
        if text.split('.').count() == 4 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return Err(TargetError::Address { text: text.chars().take(80).collect() });
        }
        let name = match text.split_once('/') {
            Some((tenant, workload)) if !text.contains('.') => workload_name(site, tenant, workload)
                .map_err(|why| TargetError::Workload { text: printable(text).chars().take(80).collect(), why })?,
            _ => text.parse()?,
        };
        Ok(Self::of_name(site, name, kind))
    }

    fn of_name(site: &Site, name: DnsName, kind: Option<RecordType>) -> Self {
        let place = place(site, &name);
        let kind = kind.unwrap_or(match place {
            Place::ReverseApex { .. } => RecordType::SOA,
            _ if name.is_under("in-addr.arpa") || name.is_under("ip6.arpa") => RecordType::PTR,
            _ => RecordType::A,
        });
        Self { name, kind, place }
    }

    /// The tenant that the name belongs to, where the name alone says it for sure.
    #[must_use]
    pub const fn tenant(&self) -> Option<&TenantName> {
        match &self.place {
            Place::Workload { tenant, .. } | Place::InZone { tenant } => Some(tenant),
            _ => None,
        }
    }
}

fn workload_name(site: &Site, tenant: &str, workload: &str) -> Result<DnsName, String> {
    let tenant: TenantName = tenant.parse().map_err(|e: crate::site::names::NameError| e.to_string())?;
    let workload: WorkloadName = workload.parse().map_err(|e: crate::site::names::NameError| e.to_string())?;
    format!("{workload}.{}", tenant.forward_zone(&site.domain)).parse().map_err(|e: NameError| e.to_string())
}

fn place(site: &Site, name: &DnsName) -> Place {
    if let Some(reverse) = reverse(site, name) {
        return reverse;
    }
    let Some(labels) = name.labels_below(&site.domain) else { return Place::Elsewhere };
    let tenant = |label: &str| {
        let reserved = site.numbering.reserved_names.iter().any(|name| name == label);
        label.parse::<TenantName>().ok().filter(|_| !reserved)
    };
    match labels.as_slice() {
        [label] => tenant(label).map_or(Place::Site, |tenant| Place::Apex { tenant }),
        [host, label] => match (tenant(label), host.parse()) {
            (Some(tenant), Ok(workload)) => Place::Workload { tenant, workload },
            (Some(tenant), Err(_)) => Place::InZone { tenant },
            (None, _) => Place::Site,
        },
        [.., label] => tenant(label).map_or(Place::Site, |tenant| Place::InZone { tenant }),
        [] => Place::Site,
    }
}

fn reverse(site: &Site, name: &DnsName) -> Option<Place> {
    if let Some(index) = site.numbering.index_of_reverse_zone(name.as_str()) {
        return Some(Place::ReverseApex { index });
    }
    let (host, zone) = name.as_str().split_once('.')?;
    let index = site.numbering.index_of_reverse_zone(zone)?;
    let host = host.parse::<u8>().ok().filter(|n| n.to_string() == host)?;
    let [a, b, c, _] = site.numbering.subnet(index).network().octets();
    Some(Place::Reverse { index, address: Ipv4Addr::new(a, b, c, host) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing;

    fn parse(text: &str) -> Target {
        Target::parse(&testing::site(), text, None).unwrap()
    }

    #[test]
    fn a_workload_an_address_and_a_name_meet() {
        let domain = testing::site().domain;
        let by_place = parse("tdemo/app");
        assert_eq!(by_place, parse(&format!("App.tdemo.{domain}.")));
        assert_eq!((by_place.kind, by_place.tenant().unwrap().as_str()), (RecordType::A, "tdemo"));
        let address = parse("10.20.129.10");
        assert_eq!(address, parse("10.129.20.10.in-addr.arpa"));
        assert_eq!(address.kind, RecordType::PTR);
        assert!(matches!(address.place, Place::Reverse { index, .. } if index.get() == 1));
    }

    #[test]
    fn four_numbers_are_an_address_or_nothing() {
        let refused = Target::parse(&testing::site(), "10.20.129.999", None).unwrap_err();
        assert!(matches!(&refused, TargetError::Address { text } if text == "10.20.129.999"), "{refused}");
    }

    #[test]
    fn places() {
        let site = testing::site();
        let place = |text: &str| parse(&text.replace("DOMAIN", &site.domain)).place;
        assert!(matches!(place("tdemo.DOMAIN"), Place::Apex { .. }));
        assert!(matches!(place("129.20.10.in-addr.arpa"), Place::ReverseApex { index } if index.get() == 1));
        assert_eq!(parse("129.20.10.in-addr.arpa").kind, RecordType::SOA);
        assert!(matches!(place("_mqtt._tcp.app.tdemo.DOMAIN"), Place::InZone { .. }));
        assert!(matches!(place("_x.tdemo.DOMAIN"), Place::InZone { .. }));
        let reserved = site.numbering.reserved_names.first().unwrap();
        assert_eq!(place(&format!("{reserved}.DOMAIN")), Place::Site);
        assert_eq!(place("a-longer-host.DOMAIN"), Place::Site);
        assert_eq!(place("DOMAIN"), Place::Site);
        for elsewhere in ["example.com", "1.1.1.1", "010.129.20.10.in-addr.arpa", "2001:db8::1"] {
            assert_eq!(place(elsewhere), Place::Elsewhere, "{elsewhere}");
        }
    }

    #[test]
    fn what_is_neither_is_refused() {
        let site = testing::site();
        let parse = |text: &str, kind| Target::parse(&site, text, kind).unwrap_err();
        assert!(matches!(parse("tdemo/App", None), TargetError::Workload { .. }));
        assert!(matches!(parse("a b", None), TargetError::Name(_)));
        let error = parse("10.20.129.10", Some(RecordType::TXT));
        assert_eq!(error.to_string(), "an address is asked for its PTR, not for TXT");
    }
}
