//! What the index derives for a name.

use std::net::Ipv4Addr;

use super::target::{Place, Target};
use crate::backends::dns::RecordType;
use crate::inventory::{Inventory, Tenant};
use crate::site::Site;

/// What should be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// These values: addresses, names; of an SOA the primary server alone, since its serial moves.
    Values {
        /// Values, sorted.
        values: Vec<String>,
        /// From what they follow, e.g. `index 1, ordinal 0`.
        because: String,
    },
    /// Nothing follows from the index.
    Nothing {
        /// Why.
        why: String,
    },
    /// It would follow from what could not be read.
    Unknown {
        /// Why.
        why: String,
    },
}

/// What `inv` and the site's numbering derive for `target`.
#[must_use]
pub fn expect(site: &Site, inv: &Inventory, target: &Target) -> Expected {
    match &target.place {
        Place::Workload { tenant, workload } => workload_address(inv, tenant.as_str(), workload.as_str(), target.kind),
        Place::Reverse { index, address } => address_name(site, inv, index.get(), *address, target.kind),
        Place::Apex { tenant } => match known(inv, |t| &*t.name == tenant.as_str(), &format!("called {tenant}")) {
            Ok(_) => apex(site, target.kind),
            Err(none) => none,
        },
        Place::ReverseApex { index } => match known(inv, |t| t.index == index.get(), &format!("of index {index}")) {
            Ok(_) => apex(site, target.kind),
            Err(none) => none,
        },
        Place::InZone { .. } | Place::Site | Place::Elsewhere => {
            without_picture(target).unwrap_or_else(|| nothing("nothing follows from the index"))
        }
    }
}

/// What is derived for a name whose place alone says it.
pub(super) fn without_picture(target: &Target) -> Option<Expected> {
    match &target.place {
        Place::InZone { .. } => Some(nothing("a tenant's own record")),
        Place::Site => Some(nothing("a name of the site, not of a tenant")),
        Place::Elsewhere => Some(nothing("not a name of this site")),
        _ => None,
    }
}

/// The tenant that `target` belongs to, as far as `inv` knows.
pub(super) fn tenant_of<'a>(inv: &'a Inventory, target: &Target) -> Result<&'a Tenant, Expected> {
    match &target.place {
        Place::Workload { tenant, .. } | Place::Apex { tenant } | Place::InZone { tenant } => {
            known(inv, |t| &*t.name == tenant.as_str(), &format!("called {tenant}"))
        }
        Place::Reverse { index, .. } | Place::ReverseApex { index } => {
            known(inv, |t| t.index == index.get(), &format!("of index {index}"))
        }
        Place::Site | Place::Elsewhere => Err(nothing("the name belongs to no tenant")),
    }
}

fn nothing(why: &str) -> Expected {
    Expected::Nothing { why: why.to_owned() }
}

fn known<'a>(inv: &'a Inventory, is: impl Fn(&Tenant) -> bool, words: &str) -> Result<&'a Tenant, Expected> {
    let found = inv.tenants.iter().find(|tenant| is(tenant));
    found.ok_or_else(|| match &inv.tenants_gap {
        Some(gap) => Expected::Unknown { why: format!("tenants: {}", gap.why) },
        None => Expected::Nothing { why: format!("no tenant is {words}") },
    })
}

fn workload_address(inv: &Inventory, tenant: &str, workload: &str, kind: RecordType) -> Expected {
    if kind != RecordType::A {
        return Expected::Nothing { why: format!("the index derives an A record, no {kind}") };
    }
    let tenant = match known(inv, |t| &*t.name == tenant, &format!("called {tenant}")) {
        Ok(tenant) => tenant,
        Err(none) => return none,
    };
    let found = inv.workloads_of(tenant).iter().find(|w| &*w.name == workload);
    match (found.map(|w| (w.derived_address, w.ordinal)), &inv.workloads_gap) {
        (Some((Some(address), Some(ordinal))), _) => Expected::Values {
            values: vec![address.to_string()],
            because: format!("index {}, ordinal {ordinal}", tenant.index),
        },
        (Some(_), _) => nothing("its VM is outside the tenant's VMIDs: no address follows"),
        (None, Some(gap)) => Expected::Unknown { why: format!("workloads: {}", gap.why) },
        (None, None) => Expected::Nothing { why: format!("no workload of {} is called {workload}", tenant.name) },
    }
}

fn address_name(site: &Site, inv: &Inventory, index: u8, address: Ipv4Addr, kind: RecordType) -> Expected {
    if kind != RecordType::PTR {
        return Expected::Nothing { why: format!("the index derives a PTR record, no {kind}") };
    }
    let tenant = match known(inv, |t| t.index == index, &format!("of index {index}")) {
        Ok(tenant) => tenant,
        Err(none) => return none,
    };
    let found = inv.workloads_of(tenant).iter().find(|w| w.derived_address == Some(address));
    match (found, &inv.workloads_gap) {
        (Some(workload), _) => Expected::Values {
            values: vec![format!("{}.{}.{}", workload.name, tenant.name, site.domain).to_ascii_lowercase()],
            because: format!("index {index}, VMID {}", workload.vmid),
        },
        (None, Some(gap)) => Expected::Unknown { why: format!("workloads: {}", gap.why) },
        (None, None) => Expected::Nothing { why: format!("no workload of {} has {address}", tenant.name) },
    }
}

fn apex(site: &Site, kind: RecordType) -> Expected {
    if kind != RecordType::SOA && kind != RecordType::NS {
        return Expected::Nothing { why: format!("an apex has SOA and NS, no {kind} follows from the index") };
    }
    match site.powerdns.as_ref().and_then(|dns| dns.nameserver.as_ref()) {
        Some(server) => Expected::Values {
            values: vec![server.trim_end_matches('.').to_ascii_lowercase()],
            because: "nameserver of [powerdns]".to_owned(),
        },
        None => nothing("[powerdns] names no nameserver"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing;

    fn expected(text: &str, kind: Option<RecordType>) -> Expected {
        let inv = testing::healthy();
        expect(&inv.site, &inv, &Target::parse(&inv.site, text, kind).unwrap())
    }

    #[test]
    fn address_and_name_of_a_workload_follow_from_its_vmid() {
        let inv = testing::healthy();
        let workload = inv.workloads.iter().find(|w| w.derived_address.is_some()).unwrap();
        let (place, address) = (format!("{}/{}", workload.tenant, workload.name), workload.derived_address.unwrap());
        let Expected::Values { values, .. } = expected(&place, None) else { panic!("{:?}", expected(&place, None)) };
        assert_eq!(values, [address.to_string()]);
        let Expected::Values { values, .. } = expected(&address.to_string(), None) else { panic!() };
        assert_eq!(values, [format!("{}.{}.{}", workload.name, workload.tenant, inv.site.domain)]);
        assert!(matches!(expected(&place, Some(RecordType::TXT)), Expected::Nothing { .. }));
    }

    #[test]
    fn what_follows_from_nothing_is_not_unknown() {
        for text in ["tdemo/nobody", "example.com", "10.20.129.250", "10.20.191.10"] {
            assert!(matches!(expected(text, None), Expected::Nothing { .. }), "{text}: {:?}", expected(text, None));
        }
    }

    #[test]
    fn without_the_tenants_it_is_unknown() {
        let mut inv = (*testing::healthy()).clone();
        inv.tenants.clear();
        inv.tenants_gap = Some(crate::inventory::Gap::not_read("the fabric"));
        for text in ["tdemo/app", "10.20.129.10", "129.20.10.in-addr.arpa"] {
            let target = Target::parse(&inv.site, text, None).unwrap();
            assert!(matches!(expect(&inv.site, &inv, &target), Expected::Unknown { .. }), "{text}");
        }
    }

    #[test]
    fn an_apex_names_the_server_of_the_site_file() {
        let inv = testing::healthy();
        let target = Target::parse(&inv.site, "129.20.10.in-addr.arpa", None).unwrap();
        let mut site = (*inv.site).clone();
        site.powerdns = None;
        assert!(matches!(expect(&site, &inv, &target), Expected::Nothing { .. }));
        site.powerdns = Some(crate::site::model::PowerDnsSite {
            mode: crate::site::model::PowerDnsMode::DnsOnly,
            url: None,
            trust: crate::site::model::Trust::Plaintext,
            api_key: None,
            tunnel: None,
            dns: "127.0.0.1:53".parse().unwrap(),
            nameserver: Some("NS1.example.".to_owned()),
            update_networks: Vec::new(),
        });
        let told = expect(&site, &inv, &target);
        assert!(matches!(&told, Expected::Values { values, .. } if values == &["ns1.example"]), "{told:?}");
    }
}
