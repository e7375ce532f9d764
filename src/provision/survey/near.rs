//! What is read for one tenant beside the lists: whose its zones of names are, and which networks there are already.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use ipnet::{IpNet, Ipv4Net};

use super::{Survey, Told, both};
use crate::backends::powerdns::model::{RrSet, Zone, ZoneMetadata};
use crate::backends::powerdns::{NOBODY, Name};
use crate::backends::proxmox::View;
use crate::provision::names::owns_key;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::World;
use crate::site::Site;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// A network, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// In words: `subnet 10.20.131.0/24 of VNet lab0`.
    pub what: String,
    /// The network.
    pub net: Ipv4Net,
    /// Whether a rule names it, and nothing has it.
    pub named_only: bool,
}

/// Whose the zone of an index' addresses is, that bears no mark of the tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reverse {
    /// The tenant's own key updates it.
    Own,
    /// Nobody's any more: whose it was is no tenant now, and all it holds was theirs.
    LeftOver(String),
    /// Somebody's, or that it is left over cannot be proved; in words.
    Held(String),
}

/// What was read for one tenant.
#[derive(Debug, Clone)]
pub struct Near {
    /// The tenant it was read for.
    pub tenant: TenantName,
    /// Subnets of SDN that are not the tenant's, also those that wait.
    pub subnets: Told<Vec<Placed>>,
    /// Networks of the perimeter's interfaces, and those that its rules name; `None` = the site has no perimeter.
    pub perimeter: Option<Told<Vec<Placed>>>,
    /// Keys that update the tenant's forward zone, where there is one that bears nobody's mark.
    pub forward: Option<Told<Vec<String>>>,
    /// Zones of addresses that bear another mark than the tenant's, or none, of indexes that nothing else holds.
    pub reverse: BTreeMap<TenantIndex, Told<Reverse>>,
}

impl Near {
    /// Reads it, where the lists say what to look at.
    pub(super) async fn read(world: &Arc<World>, survey: &Survey, tenant: &TenantName) -> Self {
        let (subnets, perimeter, (forward, reverse)) =
            tokio::join!(subnets(world, survey, tenant), perimeter(world), zones(world, survey, tenant));
        Self { tenant: tenant.clone(), subnets, perimeter, forward, reverse }
    }
}

async fn subnets(world: &World, survey: &Survey, tenant: &TenantName) -> Told<Vec<Placed>> {
    let vnets = survey.vnets.as_ref().map_err(Clone::clone)?;
    let others: BTreeSet<&str> =
        both(vnets).filter(|vnet| vnet.zone != tenant.as_str()).map(|vnet| vnet.vnet.as_str()).collect();
    let mut all = Vec::new();
    for vnet in others {
        let read = match world.proxmox()?.subnets(vnet, View::Pending).await {
            Ok(read) => read,
            Err(error) if error.is_absent() => continue,
            Err(error) => return Err(Trouble::from(&error)),
        };
        let placed = both(&read).filter_map(|subnet| {
            Some(Placed {
                what: format!("subnet {} of VNet {vnet}", subnet.cidr_text),
                net: subnet.cidr?,
                named_only: false,
            })
        });
        all.extend(placed);
    }
    Ok(all)
}

/// One after the other: the router is asked gently.
async fn perimeter(world: &World) -> Option<Told<Vec<Placed>>> {
    world.site.opnsense.as_ref()?;
    let unknown =
        |e: &crate::backends::opnsense::Error| Trouble::new(TroubleKind::Unknown, e.to_string()).with_help(e.help());
    let read = async {
        let client = world.opnsense()?;
        let mut all = Vec::new();
        for interface in client.interfaces().await.map_err(|e| unknown(&e))? {
            let name = interface.description.or(interface.id).unwrap_or(interface.device);
            all.extend(interface.addresses.iter().filter_map(|net| match net {
                IpNet::V4(net) => Some(Placed {
                    what: format!("interface {name} of the perimeter"),
                    net: net.trunc(),
                    named_only: false,
                }),
                IpNet::V6(_) => None,
            }));
        }
        let rules = client.rules().await.map_err(|e| unknown(&e))?;
        if let Some(part) = rules.not_read.first() {
            let text = format!("which networks the perimeter's rules name: {}: {}", part.what, part.why);
            return Err(Trouble::new(TroubleKind::Unknown, text).with_help(part.why.help()));
        }
        for rule in rules.rules.iter().filter(|rule| rule.enabled) {
            let named = if rule.description.is_empty() { &rule.uuid } else { &rule.description };
            let nets = rule.source.nets.iter().chain(&rule.destination.nets).filter_map(|net| prefix(net));
            let what = format!("rule {named:?} of the perimeter");
            all.extend(nets.map(|net| Placed { what: what.clone(), net, named_only: true }));
        }
        Ok(all)
    };
    Some(read.await)
}

fn prefix(text: &str) -> Option<Ipv4Net> {
    text.parse().ok().or_else(|| text.parse::<Ipv4Addr>().ok().map(Ipv4Net::from))
}

type Zones = (Option<Told<Vec<String>>>, BTreeMap<TenantIndex, Told<Reverse>>);

async fn zones(world: &World, survey: &Survey, tenant: &TenantName) -> Zones {
    let (mut forward, mut reverse) = (None, BTreeMap::new());
    let Some(Ok(heads)) = &survey.names else { return (forward, reverse) };
    // Without it nothing is known to be free anyway.
    let Ok(held) = survey.held_beside_names(&world.site, tenant) else { return (forward, reverse) };
    let own = tenant.forward_zone(&world.site.domain);
    for head in heads {
        let (name, mark) = (head.name.as_str().trim_end_matches('.'), head.account.as_deref().unwrap_or_default());
        if name == own && mark.is_empty() {
            forward = Some(metadata(world, &head.name).await.map(|read| keys(&read)));
        }
        let Some(index) = world.site.numbering.index_of_reverse_zone(name) else { continue };
        if mark == tenant.as_str() || held.contains_key(&index) {
            continue;
        }
        let whose = async {
            let listed = keys(&metadata(world, &head.name).await?);
            let zone = world.powerdns()?.zone(&head.name).await.map_err(|e| Trouble::from(&e))?;
            Ok(whose(&world.site, survey, tenant, (&zone, &listed)))
        };
        reverse.insert(index, whose.await);
    }
    (forward, reverse)
}

async fn metadata(world: &World, zone: &Name) -> Told<ZoneMetadata> {
    world.powerdns()?.metadata(zone).await.map_err(|e| Trouble::from(&e))
}

fn keys(metadata: &ZoneMetadata) -> Vec<String> {
    let all = metadata.update_keys().into_iter().filter(|key| key.as_str() != NOBODY);
    all.map(|key| key.as_str().to_owned()).collect()
}

/// The tenant that a key is of.
fn owner(key: &str) -> &str {
    key.split_once('-').filter(|(tenant, _)| owns_key(tenant, key)).map_or(key, |(tenant, _)| tenant)
}

/// Whose a zone of addresses is, by its keys, its mark and what it holds.
pub(super) fn whose(site: &Site, survey: &Survey, tenant: &TenantName, (zone, keys): (&Zone, &[String])) -> Reverse {
    let name = zone.head.name.as_str().trim_end_matches('.');
    if !keys.is_empty() && keys.iter().all(|key| owns_key(tenant.as_str(), key)) {
        return Reverse::Own;
    }
    let mark = zone.head.account.iter().map(String::as_str).filter(|mark| !mark.is_empty());
    let owners: BTreeSet<&str> = keys.iter().map(|key| owner(key)).chain(mark).collect();
    for owner in &owners {
        if let Some(why) = lives(site, survey, owner) {
            return Reverse::Held(format!("reverse zone {name} of {owner}, {why}"));
        }
    }
    let theirs = |target: &str| {
        let target = target.trim_end_matches('.').to_ascii_lowercase();
        owners.iter().filter_map(|owner| owner.parse::<TenantName>().ok()).any(|owner| {
            let zone = owner.forward_zone(&site.domain);
            target == zone || target.ends_with(&format!(".{zone}"))
        })
    };
    let apex = |set: &&RrSet| set.name == zone.head.name && matches!(set.kind.as_str(), "SOA" | "NS");
    let foreign = zone.rrsets.iter().filter(|set| !apex(set)).find_map(|set| {
        let own = set.kind == "PTR" && set.records.iter().all(|record| theirs(record.content.target().as_str()));
        (!own).then(|| format!("{} {}", set.name, set.kind))
    });
    match (foreign, owners.first()) {
        (Some(what), Some(owner)) => Reverse::Held(format!(
            "reverse zone {name}, whose {what} is not {owner}'s, and nothing proves that it is left over"
        )),
        (Some(what), None) => {
            Reverse::Held(format!("reverse zone {name}, which holds {what} and says not whose it is"))
        }
        (None, Some(owner)) => Reverse::LeftOver((*owner).to_owned()),
        (None, None) => Reverse::Held(format!("reverse zone {name}: neither a mark nor a key says whose it is")),
    }
}

/// Why somebody is a tenant still, or may be; `None` where they are one no more.
fn lives(site: &Site, survey: &Survey, owner: &str) -> Option<&'static str> {
    let Ok(name) = owner.parse::<TenantName>() else { return Some("which is no name of a tenant") };
    if survey.tenants().iter().any(|tenant| tenant == owner) {
        return Some("which is a tenant");
    }
    let names = survey.names.as_ref().and_then(|told| told.as_ref().ok()).map(Vec::as_slice).unwrap_or_default();
    let zone = name.forward_zone(&site.domain);
    let served = names.iter().any(|head| head.name.as_str().trim_end_matches('.') == zone);
    served.then_some("whose names are served still")
}
