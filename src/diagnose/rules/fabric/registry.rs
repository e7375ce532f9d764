//! The registry of tenants against the fabric (domain.md §4.6, §8.2 N8). Nothing is said where the site names none.

use super::super::{Out, Rule};
use crate::backends::proxmox::endpoints::ZONES;
use crate::backends::registry::{Status, Tenant};
use crate::diagnose::facts::services::Registry;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::site::model::NumberingPlan;
use crate::site::numbering::TenantIndex;

const READS: &str =
    "the registry's tenants and VRFs with a way out, zones in force, the token's rights, the site's numbering";

/// A tenant that nobody registered.
pub static MISSING: Rule = Rule {
    id: "registry-record-missing",
    layer: Layer::Fabric,
    severity: Severity::Info,
    says: "A tenant's zone is in force, and the registry does not list the tenant. That is no fault of one that this console \
           made; of one that the registry made its record is lost, and its index may be given to another.",
    reads: READS,
    unlike: &[("zone-unexplained", "the zone is no tenant's by its number")],
    explains: &[],
    judge: missing,
};

/// Two say different things.
pub static DIFFERS: Rule = Rule {
    id: "registry-differs",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "The registry has another index or another number for a tenant than the fabric. What the registry leaves out is no \
           difference.",
    reads: READS,
    unlike: &[("tenant-off-plan", "the fabric differs from what the index of its own zone derives")],
    explains: &[],
    judge: differs,
};

/// Registered, and not there.
pub static ONLY: Rule = Rule {
    id: "registry-only",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "The registry lists a tenant of which no zone is in force: somebody took it from the fabric, or its creation broke \
           off. While it is being made or removed that is no fault.",
    reads: READS,
    unlike: &[("sdn-pending", "the zone is configured and waits for an apply")],
    explains: &[],
    judge: only,
};

/// No way out.
pub static EGRESS: Rule = Rule {
    id: "registry-egress-missing",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "The registry lists a tenant as ready, and not among the VRFs that exit nodes are told to give a way out: the next \
           run of the egress agent takes the tenant's default route away.",
    reads: READS,
    unlike: &[("vrf-default-missing", "the default route is gone from the node")],
    explains: &[],
    judge: egress,
};

/// The registry where it was read; what is unknown is said.
fn read<'f>(facts: &'f Facts, out: &mut Out<'_>) -> Option<&'f Sourced<Registry>> {
    let registry = facts.registry.as_ref()?;
    if let Some(lack) = &registry.lack {
        out.unknown("the registry of tenants", Some(lack.why.clone()));
        return None;
    }
    Some(registry)
}

/// Tenants of the fabric: zones in force with a tenant's number.
fn tenants(facts: &Facts) -> Vec<(&str, TenantIndex)> {
    let Some(site) = &facts.site else { return Vec::new() };
    let zones = facts.sdn.zones_in_force().map_or(&[][..], |zones| zones.value.as_slice());
    let own = zones.iter().filter(|zone| zone.kind == "evpn");
    own.filter_map(|zone| Some((zone.zone.as_str(), site.numbering.index_of_vrf_vni(zone.vrf_vni?)?))).collect()
}

/// Whether the zones in force were read; what is unknown is said.
fn zones_read(facts: &Facts, out: &mut Out<'_>) -> bool {
    let read = facts.sdn.zones_in_force().is_some();
    if !read {
        out.unknown("the tenants on the fabric: the zones", facts.pve.why("cluster/sdn/zones"));
    }
    read
}

fn entry<'r>(registry: &'r Registry, name: &str) -> Option<&'r Tenant> {
    registry.tenants.iter().find(|tenant| tenant.name == name)
}

fn missing(facts: &Facts, out: &mut Out<'_>) {
    let Some(registry) = read(facts, out).filter(|_| zones_read(facts, out)) else { return };
    for (name, index) in tenants(facts) {
        if entry(registry, name).is_some() {
            out.pass(Subject::new("zone", name));
            continue;
        }
        let finding = out
            .finding(
                Subject::new("zone", name),
                format!("Tenant {name} is on the fabric, and the registry does not list it."),
            )
            .fact("registry.tenant", name, "not listed")
            .fact("fabric.index", name, index)
            .affects([name])
            .from(registry)
            .next(
                "find-owner",
                0,
                format!("find out who made {name}: where the registry did, have it listed again with index {index}"),
            );
        out.found(finding);
    }
}

/// What `entry` says otherwise than the index derives: field, registry, fabric.
fn unlike(plan: &NumberingPlan, index: TenantIndex, entry: &Tenant) -> Vec<(&'static str, String, String)> {
    let all = [
        ("index", entry.index.map(|i| i.to_string()), index.get().to_string()),
        ("vrf_vni", entry.vrf_vni.map(|v| v.to_string()), plan.vrf_vni(index).to_string()),
        ("vnet_vni_base", entry.vnet_vni.map(|v| v.to_string()), plan.vnet_vni_base_of(index).to_string()),
        ("subnet", entry.subnet.map(|s| s.to_string()), plan.subnet(index).to_string()),
        ("gateway", entry.gateway.map(|g| g.to_string()), plan.gateway(index).to_string()),
    ];
    all.into_iter().filter_map(|(field, theirs, ours)| Some((field, theirs.filter(|t| *t != ours)?, ours))).collect()
}

fn differs(facts: &Facts, out: &mut Out<'_>) {
    let (Some(registry), Some(site)) = (read(facts, out).filter(|_| zones_read(facts, out)), &facts.site) else {
        return;
    };
    for (name, index) in tenants(facts) {
        let Some(entry) = entry(registry, name) else { continue };
        let unlike = unlike(&site.numbering, index, entry);
        let Some((field, theirs, ours)) = unlike.first() else {
            out.pass(Subject::new("zone", name));
            continue;
        };
        let title = format!("The registry has {field} {theirs} for tenant {name}, the fabric {ours}.");
        let mut finding = out.finding(Subject::new("zone", name), title).affects([name]).from(registry);
        for (field, theirs, ours) in &unlike {
            finding = finding.fact("registry.says", format!("{name} {field}"), theirs).fact(
                "fabric.has",
                format!("{name} {field}"),
                ours,
            );
        }
        out.found(finding.next("compare-registry", 0, format!("find out which of the two {name} was built by")));
    }
}

fn only(facts: &Facts, out: &mut Out<'_>) {
    let Some(registry) = read(facts, out) else { return };
    let Some(zones) = facts.sdn.zones_in_force() else {
        zones_read(facts, out);
        return;
    };
    let held = facts.access.held.as_ref();
    let whole = held.is_some_and(|held| ZONES.privilege.sees_all(held));
    for entry in &registry.tenants {
        if zones.iter().any(|zone| zone.zone == entry.name) {
            out.pass(Subject::new("zone", &entry.name));
            continue;
        }
        if !whole {
            let why = match held {
                Some(_) => Some("the token does not see every zone".to_owned()),
                None => {
                    facts.pve.why("access/permissions").or_else(|| Some("the token's rights were not read".to_owned()))
                }
            };
            let tenant = Subject::new("tenant", &entry.name);
            out.unknown_of([tenant], format!("whether registered tenant {} is on the fabric", entry.name), why);
            continue;
        }
        let index = entry.index.map_or_else(|| "no index".to_owned(), |index| format!("index {index}"));
        let status = entry.status.word();
        let title = format!("Tenant {} is registered with {index} ({status}), and is not on the fabric.", entry.name);
        let mut finding = out
            .finding(Subject::new("zone", &entry.name), title)
            .fact("registry.status", &entry.name, status)
            .fact("registry.index", &entry.name, index)
            .affects([&entry.name])
            .from(registry)
            .next("find-zone", 0, "see whether a zone of that name waits for an apply, and who removed it");
        if matches!(entry.status, Status::Provisioning | Status::Deleting) {
            finding.severity = Severity::Info;
        }
        out.found(finding);
    }
}

fn egress(facts: &Facts, out: &mut Out<'_>) {
    let Some(registry) = read(facts, out) else { return };
    if !zones_read(facts, out) {
        return;
    }
    let Some(vrfs) = &registry.egress else {
        return out.unknown("the VRFs that the registry gives a way out", registry.no_egress.clone());
    };
    for (name, _) in tenants(facts) {
        if entry(registry, name).is_none_or(|entry| entry.status != Status::Ready) {
            continue;
        }
        if vrfs.iter().any(|vrf| vrf.tenant == name) {
            out.pass(Subject::new("zone", name));
            continue;
        }
        let finding = out
            .finding(
                Subject::new("zone", name),
                format!("The registry gives tenant {name} no way out, and lists it as ready."),
            )
            .fact("registry.egress", name, "not listed")
            .affects([name])
            .from(registry)
            .next(
                "look-at-registry",
                0,
                format!("look at the registry's steps of {name}: its way out was never recorded"),
            );
        out.found(finding);
    }
}
