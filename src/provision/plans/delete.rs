//! A tenant is taken away: refused while something of it lives, then network, forwards, names (domain.md §5.6).

use std::collections::BTreeSet;
use std::sync::Arc;

use ipnet::Ipv4Net;

use super::{egress, names};
use crate::backends::proxmox::View;
use crate::provision::fields::Fields;
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Reach, Step, Subject};
use crate::provision::sdn::{SdnApply, SdnLock, SdnSubnet, SdnVnet, SdnZone};
use crate::provision::survey::{Survey, both};
use crate::provision::tenant::NothingLives;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::World;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// The plan of it. Everything of the tenant that is there, by what is read, not by what the scheme would give it: a second
/// VNet or a subnet of another size goes too.
///
/// # Errors
/// What could not be read: nothing is removed of which the whole is not known.
pub async fn plan(world: &Arc<World>, tenant: &TenantName) -> Result<Plan, Trouble> {
    let site = &world.site;
    let survey = Survey::read(world).await;
    let index = survey.proven_index(site, tenant)?;
    if let Some(zone) = both(survey.zones.as_ref().map_err(Clone::clone)?).find(|zone| zone.zone == tenant.as_str()) {
        let numbered = zone.vrf_vxlan.is_some_and(|vni| site.numbering.index_of_vrf_vni(vni).is_some());
        if zone.kind != "evpn" || !numbered {
            let text =
                format!("zone {tenant} is of type {} and has no VRF VNI of the scheme: it is no tenant's", zone.kind);
            return Err(Trouble::new(TroubleKind::Refused, text).with_help("look at it in Proxmox"));
        }
    }
    let known = index.is_some() || survey.tenants().contains(&tenant.to_string());
    let network = network(world, &survey, tenant).await?;
    let lives = Object::NothingLives(NothingLives { tenant: tenant.to_string() });
    let mut steps = vec![Step::present(Object::SdnLock(SdnLock::default()), SdnLock::held())];
    steps.push(Step::present(lives, Fields::new()));
    // Before the apply, which gives the lock back: two consoles never write that file at once.
    steps.extend(egress::removal(site, tenant.as_str()));
    steps.extend(network);
    let named = named(world, &survey, tenant, index).await?;
    // Left of a deletion that was cut behind the zones.
    let known = known || named.iter().any(|step| matches!(step.object, Object::TsigKey(_)));
    steps.extend(named);
    Ok(Plan {
        site: site.name.clone(),
        title: format!("Delete {tenant}"),
        subject: Subject { name: tenant.to_string(), tenant: Some(tenant.to_string()) },
        steps,
        // Of a name that nobody has nothing goes.
        reach: known.then(|| reach(tenant, index)),
    })
}

/// Its forwards and its names. Both zones are needed to tell them, and so the index.
async fn named(
    world: &Arc<World>,
    survey: &Survey,
    tenant: &TenantName,
    index: Option<TenantIndex>,
) -> Result<Vec<Step>, Trouble> {
    let site = &world.site;
    let Some(index) = index else {
        let forward = tenant.forward_zone(&site.domain);
        let zones = survey.names.as_ref().map(|told| told.as_ref().map_err(Clone::clone)).transpose()?;
        let left = zones.into_iter().flatten().any(|zone| zone.name.as_str().trim_end_matches('.') == forward);
        if !left {
            return if site.powerdns.is_some() { names::removal(world, tenant, None).await } else { Ok(Vec::new()) };
        }
        let text =
            format!("{forward} is there, and nothing tells the index of {tenant}: its other zone cannot be told");
        return Err(Trouble::new(TroubleKind::Unknown, text).with_help("remove that zone at PowerDNS"));
    };
    let mut steps = names::forwards_removal(site, tenant, index);
    if site.powerdns.is_some() {
        steps.extend(names::removal(world, tenant, index).await?);
    }
    Ok(steps)
}

/// Subnets, VNets, the zone, and one apply.
async fn network(world: &Arc<World>, survey: &Survey, tenant: &TenantName) -> Result<Vec<Step>, Trouble> {
    let zone = tenant.to_string();
    let zones = survey.zones.as_ref().map_err(Clone::clone)?;
    let vnets = survey.vnets.as_ref().map_err(Clone::clone)?;
    let mut nodes: BTreeSet<String> = both(zones).filter(|z| z.zone == zone).flat_map(|z| z.nodes.clone()).collect();
    nodes.insert(world.site.proxmox.node.clone());
    let vnets: BTreeSet<&str> = both(vnets).filter(|v| v.zone == zone).map(|v| v.vnet.as_str()).collect();
    let mut steps = Vec::new();
    for vnet in &vnets {
        for net in subnets(world, vnet).await? {
            let subnet = SdnSubnet { zone: zone.clone(), vnet: (*vnet).to_owned(), net };
            steps.push(Step::absent(Object::SdnSubnet(subnet)));
        }
    }
    steps.extend(vnets.iter().map(|vnet| Step::absent(Object::SdnVnet(SdnVnet { vnet: (*vnet).to_owned() }))));
    steps.push(Step::absent(Object::SdnZone(SdnZone { zone })));
    let nodes = nodes.into_iter().collect();
    steps.push(Step::present(Object::SdnApply(SdnApply { nodes }), Fields::new()).following());
    Ok(steps)
}

async fn subnets(world: &Arc<World>, vnet: &str) -> Result<BTreeSet<Ipv4Net>, Trouble> {
    let read = match world.proxmox()?.subnets(vnet, View::Pending).await {
        Ok(read) => read,
        Err(error) if error.is_absent() => return Ok(BTreeSet::new()),
        Err(error) => return Err(Trouble::from(&error)),
    };
    let mut all = BTreeSet::new();
    for subnet in both(&read) {
        let other = || {
            let text = format!("subnet {} of {vnet} is none that this console can remove", subnet.cidr_text);
            Trouble::new(TroubleKind::Refused, text).with_help("remove it in Proxmox first")
        };
        all.insert(subnet.cidr.ok_or_else(other)?);
    }
    Ok(all)
}

/// What stays, and what follows (domain.md §5.6).
fn reach(tenant: &TenantName, index: Option<TenantIndex>) -> Reach {
    let number = index.map_or_else(|| "its index".to_owned(), |index| format!("index {}", index.get()));
    Reach {
        destroyed: vec![
            format!("zone {tenant}, its VNets and subnets"),
            "its two zones of names with all records, and its update key".to_owned(),
            "its forwards at the perimeter, its way out on each exit node".to_owned(),
        ],
        stays: vec![
            format!("state objects under tenants/{tenant}/"),
            format!("log lines of {number}"),
            "the tenant's token, until it is revoked at the API".to_owned(),
            "audit and journal".to_owned(),
        ],
        noticed: vec![
            "the apply reloads networking: every tenant of the node pauses about a second".to_owned(),
            format!("{number} is free at once: the next tenant may get the same addresses"),
        ],
    }
}
