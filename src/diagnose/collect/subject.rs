//! Whether the tenant or the workload that a check was asked about is there at all.

use std::collections::BTreeSet;

use super::Wanted;
use crate::backends::proxmox::endpoints::{RESOURCES, ZONES};
use crate::diagnose::evidence::Evidence;
use crate::diagnose::facts::Facts;
use crate::site::Site;

/// What became of the name in a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It is there, or nobody was named.
    There,
    /// It was not found, and not everything can be seen.
    Unknown,
    /// It is not there.
    Nobody {
        /// `tenant` or `workload`.
        what: &'static str,
        /// As asked, without the tenant.
        name: String,
        /// Those that are there, sorted.
        there: Vec<String>,
    },
}

/// Looks for what `wanted` names in `evidence` of its own check. A tenant is a zone of SDN or a zone of names; a workload is
/// told by its number and its name.
#[must_use]
pub fn asked(evidence: &Evidence, wanted: &Wanted, site: &Site) -> Asked {
    let Some(tenant) = &wanted.tenant else { return Asked::There };
    let facts = Facts::of(evidence);
    let zones: BTreeSet<&str> =
        facts.sdn.zones.values().flat_map(|list| list.iter()).map(|z| z.zone.as_str()).collect();
    let named = format!("{tenant}.{}", site.domain);
    let in_dns = facts.powerdns.has(&crate::backends::powerdns::Name::new(&named)) == Some(true);
    if !zones.contains(tenant.as_str()) && !in_dns {
        let held = facts.access.held.as_ref();
        let whole = facts.sdn.zones_in_force().is_some() && held.is_some_and(|held| ZONES.privilege.sees_all(held));
        return nobody(whole, "tenant", tenant, tenants(&facts));
    }
    let Some(workload) = &wanted.workload else { return Asked::There };
    let there = workloads(&facts, site, tenant);
    if there.contains(workload) {
        return Asked::There;
    }
    let held = facts.access.held.as_ref();
    let whole = facts.cluster.guests.is_some() && held.is_some_and(|held| RESOURCES.privilege.sees_all(held));
    nobody(whole, "workload", workload, there.into_iter().collect())
}

fn nobody(whole: bool, what: &'static str, name: &str, there: Vec<String>) -> Asked {
    if whole { Asked::Nobody { what, name: name.to_owned(), there } } else { Asked::Unknown }
}

/// Zones in force that route.
fn tenants(facts: &Facts) -> Vec<String> {
    let zones = facts.sdn.zones_in_force().into_iter().flat_map(|zones| zones.iter());
    let names: BTreeSet<String> = zones.filter(|zone| zone.kind == "evpn").map(|zone| zone.zone.clone()).collect();
    names.into_iter().collect()
}

fn workloads(facts: &Facts, site: &Site, tenant: &str) -> BTreeSet<String> {
    let own = |subnet: ipnet::Ipv4Net| {
        facts.sdn.subnets_in_force().any(|(_, s)| s.zone == tenant && s.cidr == ipnet::IpNet::V4(subnet))
    };
    let guests = facts.cluster.guests.iter().flat_map(|all| all.value.iter());
    guests
        .filter(|guest| {
            let index = u32::try_from(guest.vmid).ok().and_then(|vmid| site.numbering.index_of_vmid(vmid));
            index.is_some_and(|(index, _)| own(site.numbering.subnet(index)))
        })
        .filter_map(|guest| guest.name.as_deref())
        .map(|name| super::names::label(tenant, name).to_owned())
        .collect()
}
