//! What a new tenant meets: every source that knows of an index, a name or a number, read once.
//!
//! The registry can be told from the fabric alone (domain.md §5.2): a zone's id is the tenant, its VRF VNI the index. What
//! waits to be applied counts, and what waits to be removed counts still.

mod near;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use ipnet::Ipv4Net;

pub use near::{Near, Placed, Reverse};

use super::trouble::{Trouble, TroubleKind};
use super::world::World;
use crate::backends::opnsense::model::KernelRoute;
use crate::backends::powerdns::ZoneListing;
use crate::backends::powerdns::model::ZoneHead;
use crate::backends::proxmox::endpoints::{self, Endpoint};
use crate::backends::proxmox::model::{ClusterStatus, Permissions, Sdn, Vm, Vnet, Zone};
use crate::backends::proxmox::{Client, View};
use crate::backends::registry;
use crate::site::Site;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// What a source said, or why it is not known.
pub type Told<T> = Result<T, Trouble>;

/// What is there. `None` = the site has no such source.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The console's rights in Proxmox.
    pub rights: Told<Arc<Permissions>>,
    /// Zones.
    pub zones: Told<Vec<Sdn<Zone>>>,
    /// VNets.
    pub vnets: Told<Vec<Sdn<Vnet>>>,
    /// Guests of all nodes.
    pub vms: Told<Vec<Vm>>,
    /// Containers of all nodes.
    pub containers: Told<Vec<Vm>>,
    /// Bridges of every node that a tenant's zone is on.
    pub bridges: Told<Vec<String>>,
    /// Whether the cluster can be changed.
    pub cluster: Told<ClusterStatus>,
    /// Zones of names.
    pub names: Option<Told<Vec<ZoneHead>>>,
    /// Routes of the perimeter.
    pub routes: Option<Told<Vec<KernelRoute>>>,
    /// Registered tenants.
    pub registry: Option<Told<Vec<registry::Tenant>>>,
    /// What was read for one tenant beside this, where it was asked for.
    pub near: Option<Near>,
}

/// The list at `endpoint` as a whole: Proxmox leaves out what the token may not see and says nothing about it.
fn whole<T>(client: &Client, endpoint: &Endpoint, what: &str, list: Told<T>) -> Told<T> {
    if client.sees_all(endpoint) != Some(false) {
        return list;
    }
    let right = endpoint.privilege.any_of.join(" or ");
    let text = format!(
        "{what} are shown in part only: the token has not {right} everywhere below {}",
        endpoint.privilege.path
    );
    Err(Trouble::new(TroubleKind::Unknown, text).with_help("docs/access-proxmox.md has the command that grants it"))
}

impl Survey {
    /// Reads all of it, and what one tenant meets beside it.
    pub async fn read_for(world: &Arc<World>, tenant: &TenantName) -> Self {
        let mut survey = Self::read(world).await;
        survey.near = Some(Near::read(world, &survey, tenant).await);
        survey
    }

    /// What was read for this very tenant.
    #[must_use]
    pub fn near_of(&self, tenant: &TenantName) -> Option<&Near> {
        self.near.as_ref().filter(|near| near.tenant == *tenant)
    }

    /// Whether nothing that was read for one tenant is unknown, or lacks a list that says what to look at.
    #[must_use]
    pub fn near_is_whole(&self) -> bool {
        let Some(near) = &self.near else { return false };
        let lists = self.zones.is_ok() && self.vnets.is_ok() && self.guests().is_ok();
        let told = |list: Option<bool>| list.unwrap_or(true);
        let names = told(self.names.as_ref().map(Result::is_ok)) && told(self.registry.as_ref().map(Result::is_ok));
        let own = near.subnets.is_ok()
            && told(near.perimeter.as_ref().map(Result::is_ok))
            && told(near.forward.as_ref().map(Result::is_ok))
            && near.reverse.values().all(Result::is_ok);
        lists && names && own
    }

    /// Reads all of it, side by side.
    pub async fn read(world: &World) -> Self {
        let site = &world.site;
        let fabric = async {
            let client = world.proxmox()?;
            // First: it decides whether the lists count.
            let rights = client.permissions().await.map_err(|e| Trouble::from(&e))?;
            let (zones, vnets, resources, bridges, cluster) = tokio::join!(
                client.zones(View::Pending),
                client.vnets(View::Pending),
                client.resources(),
                bridges(client, site),
                client.cluster_status(),
            );
            let zones = whole(client, &endpoints::ZONES, "zones", zones.map_err(|e| Trouble::from(&e)));
            let vnets = whole(client, &endpoints::VNETS, "VNets", vnets.map_err(|e| Trouble::from(&e)));
            let guests = resources.map(|all| (all.vms, all.containers)).map_err(|e| Trouble::from(&e));
            let guests = whole(client, &endpoints::RESOURCES, "guests", guests);
            Ok::<_, Trouble>((rights, zones, vnets, guests, bridges, cluster.map_err(|e| Trouble::from(&e))))
        };
        let names = async {
            site.powerdns.as_ref()?;
            let read = async {
                let zones = world.powerdns()?.zones(ZoneListing::Lean).await;
                zones.map_err(|e| Trouble::new(TroubleKind::Unknown, e.to_string()).with_help(e.help()))
            };
            Some(read.await)
        };
        let (fabric, names, routes, registry) = tokio::join!(fabric, names, routes(world), registered(world));
        let failed = |why: &Trouble| why.clone();
        match fabric {
            Ok((rights, zones, vnets, guests, bridges, cluster)) => {
                let (vms, containers) = match guests {
                    Ok((vms, containers)) => (Ok(vms), Ok(containers)),
                    Err(why) => (Err(why.clone()), Err(why)),
                };
                let rights = Ok(rights);
                Self { rights, zones, vnets, vms, containers, bridges, cluster, names, routes, registry, near: None }
            }
            Err(why) => Self {
                rights: Err(failed(&why)),
                zones: Err(failed(&why)),
                vnets: Err(failed(&why)),
                vms: Err(failed(&why)),
                containers: Err(failed(&why)),
                bridges: Err(failed(&why)),
                cluster: Err(why),
                names,
                routes,
                registry,
                near: None,
            },
        }
    }

    /// Guests of all nodes, machines and containers.
    ///
    /// # Errors
    /// When they are not known.
    pub fn guests(&self) -> Told<impl Iterator<Item = (&'static str, &Vm)>> {
        let vms = self.vms.as_ref().map_err(Clone::clone)?.iter().map(|vm| ("VM", vm));
        Ok(vms.chain(self.containers.as_ref().map_err(Clone::clone)?.iter().map(|ct| ("container", ct))))
    }

    /// Who holds which index, told as it is read; what is `tenant`'s own does not count.
    ///
    /// # Errors
    /// The first source that did not tell: an index is free only where every source says so.
    pub fn holders(&self, site: &Site, tenant: &TenantName) -> Told<Holders> {
        let mut held = self.held_beside_names(site, tenant)?;
        let Some(zones) = &self.names else { return Ok(held) };
        let plan = &site.numbering;
        let own_index = self.own_index(site, tenant);
        for zone in zones.as_ref().map_err(Clone::clone)? {
            let name = zone.name.as_str().trim_end_matches('.');
            let Some(index) = plan.index_of_reverse_zone(name) else { continue };
            // Zones that others made bear no account.
            let ours = match zone.account.as_deref().unwrap_or_default() {
                "" => Some(index) == own_index,
                account => account == tenant.as_str(),
            };
            if ours {
                continue;
            }
            match self.near_of(tenant).and_then(|near| near.reverse.get(&index)) {
                Some(Ok(Reverse::Own | Reverse::LeftOver(_))) => {}
                Some(Ok(Reverse::Held(why))) => holds(&mut held, Some(index), why.clone()),
                Some(Err(why)) => return Err(why.clone()),
                None => holds(&mut held, Some(index), format!("reverse zone {name}")),
            }
        }
        Ok(held)
    }

    /// The same, but for zones of names.
    fn held_beside_names(&self, site: &Site, tenant: &TenantName) -> Told<Holders> {
        let mut held = Holders::new();
        let mut holds = |index, by| holds(&mut held, index, by);
        let plan = &site.numbering;
        let own = |name: &str| name == tenant.as_str();
        for zone in both(self.zones.as_ref().map_err(Clone::clone)?).filter(|zone| !own(&zone.zone)) {
            holds(zone.vrf_vxlan.and_then(|vni| plan.index_of_vrf_vni(vni)), format!("zone {}", zone.zone));
        }
        for vnet in both(self.vnets.as_ref().map_err(Clone::clone)?).filter(|vnet| !own(&vnet.zone)) {
            holds(
                vnet.tag.and_then(|tag| plan.index_of_tag(tag)).map(|(index, _)| index),
                format!("VNet {}", vnet.vnet),
            );
        }
        let prefix = format!("{tenant}-");
        let zones = self.zones.as_ref().map_err(Clone::clone)?;
        let own_zone = both(zones).find(|zone| own(&zone.zone)).and_then(|zone| plan.index_of_vrf_vni(zone.vrf_vxlan?));
        for (kind, guest) in self.guests()? {
            let number = guest.vmid.to_string();
            // Proxmox calls a clone by its number until it is made.
            let named = guest.name.as_deref().filter(|name| *name != format!("VM {number}")).unwrap_or_default();
            let index = plan.index_of_vmid(guest.vmid).map(|(index, _)| index);
            let in_the_making = named.is_empty() && own_zone.is_some() && index == own_zone;
            if !named.starts_with(&prefix) && !in_the_making {
                holds(index, format!("{kind} {number} {named}").trim_end().to_owned());
            }
        }
        if let Some(tenants) = &self.registry {
            for row in tenants.as_ref().map_err(Clone::clone)?.iter().filter(|row| !own(&row.name)) {
                let index = row.index.and_then(|index| TenantIndex::new(index).ok());
                holds(index, format!("{} in the registry", row.name));
            }
        }
        Ok(held)
    }

    /// Of whom the zone of an index' addresses is left over, where that is proved: it comes to the tenant emptied.
    #[must_use]
    pub fn left_over(&self, index: TenantIndex) -> Option<&str> {
        match self.near.as_ref()?.reverse.get(&index)? {
            Ok(Reverse::LeftOver(by)) => Some(by),
            _ => None,
        }
    }

    /// Whether a tenant of that name is there, or a part of one.
    #[must_use]
    pub fn knows(&self, site: &Site, tenant: &TenantName) -> bool {
        self.own_index(site, tenant).is_some() || self.tenants().iter().any(|name| name == tenant.as_str())
    }

    /// [`Survey::own_index`], told only where nobody else has it.
    ///
    /// # Errors
    /// That somebody else holds it, or which source did not tell.
    pub fn proven_index(&self, site: &Site, tenant: &TenantName) -> Told<Option<TenantIndex>> {
        let Some(index) = self.own_index(site, tenant) else { return Ok(None) };
        let zones = self.zones.as_ref().map_err(Clone::clone)?;
        let vni = site.numbering.vrf_vni(index);
        if both(zones).any(|zone| zone.zone == tenant.as_str() && zone.vrf_vxlan == Some(vni)) {
            return Ok(Some(index));
        }
        match self.holders(site, tenant)?.get(&index) {
            None => Ok(Some(index)),
            Some(by) => {
                let text = format!("index {} of {tenant} is held by {}", index.get(), by.join(", "));
                Err(Trouble::new(TroubleKind::Refused, text).with_help(
                    "the registry or the names say otherwise than the fabric: find out which of them is right",
                ))
            }
        }
    }

    /// The index that the fabric, else the registry, else the names have for the tenant already.
    #[must_use]
    pub fn own_index(&self, site: &Site, tenant: &TenantName) -> Option<TenantIndex> {
        let zones = self.zones.as_ref().map(Vec::as_slice).unwrap_or_default();
        let zone = both(zones).find(|zone| zone.zone == tenant.as_str());
        let by_zone = zone.and_then(|zone| site.numbering.index_of_vrf_vni(zone.vrf_vxlan?));
        let by_registry = || {
            let rows = self.registry.as_ref()?.as_ref().ok()?;
            TenantIndex::new(rows.iter().find(|row| row.name == tenant.as_str())?.index?).ok()
        };
        // What is left of a tenant whose network is gone.
        let by_names = || {
            let zones = self.names.as_ref()?.as_ref().ok()?;
            let mut own = zones.iter().filter(|zone| zone.account.as_deref() == Some(tenant.as_str()));
            own.find_map(|zone| site.numbering.index_of_reverse_zone(zone.name.as_str().trim_end_matches('.')))
        };
        by_zone.or_else(by_registry).or_else(by_names)
    }

    /// The index of a tenant (domain.md §5.2): what it has already, the one asked for where it is free, else the lowest that
    /// is free on every source.
    ///
    /// # Errors
    /// That it is taken, that none is free, or which source did not tell.
    pub fn index_for(&self, site: &Site, tenant: &TenantName, asked: Option<TenantIndex>) -> Told<TenantIndex> {
        let held = self.holders(site, tenant)?;
        let refused = |text: String| Trouble::new(TroubleKind::Refused, text);
        let own = self.own_index(site, tenant);
        let wanted = match (own, asked) {
            (Some(own), Some(asked)) if own != asked => {
                let text = format!("{tenant} has index {} already, not {}", own.get(), asked.get());
                return Err(refused(text).with_help("leave the index out: a tenant's number is for good"));
            }
            (own, asked) => own.or(asked),
        };
        if let Some(index) = wanted.filter(|index| own.is_none() && !index.is_allocatable()) {
            let text = format!("index {} is not given to tenants", index.get());
            return Err(refused(text).with_help("give one from 1 to 62, or none"));
        }
        if let Some(index) = wanted {
            return match held.get(&index) {
                None => Ok(index),
                Some(by) => Err(refused(format!("index {} is held by {}", index.get(), by.join(", ")))
                    .with_help("take another index, or remove what holds this one")),
            };
        }
        let free = TenantIndex::all().find(|index| index.is_allocatable() && !held.contains_key(index));
        free.ok_or_else(|| {
            refused("no index is free".to_owned()).with_help("remove a tenant that is not needed any more")
        })
    }

    /// Tenants by the fabric and the registry.
    #[must_use]
    pub fn tenants(&self) -> Vec<String> {
        let zones = self.zones.as_ref().map(Vec::as_slice).unwrap_or_default();
        let registered =
            self.registry.as_ref().and_then(|told| told.as_ref().ok()).map(Vec::as_slice).unwrap_or_default();
        let mut all: Vec<String> =
            both(zones).map(|zone| zone.zone.clone()).chain(registered.iter().map(|row| row.name.clone())).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// Who holds which index, in words.
pub type Holders = BTreeMap<TenantIndex, Vec<String>>;

fn holds(held: &mut Holders, index: Option<TenantIndex>, by: String) {
    let all = index.map(|index| held.entry(index).or_default());
    if let Some(all) = all.filter(|all| !all.contains(&by)) {
        all.push(by);
    }
}

/// Bridges of the tenants' node and of every exit node: a tenant's zone is on all of them.
async fn bridges(client: &Client, site: &Site) -> Told<Vec<String>> {
    let exits = site.exit_nodes.iter().map(|exit| exit.name.as_str());
    let nodes: BTreeSet<&str> = exits.chain([site.proxmox.node.as_str()]).collect();
    let mut all = BTreeSet::new();
    for node in nodes {
        all.extend(client.bridges(node).await.map_err(|e| Trouble::from(&e))?);
    }
    Ok(all.into_iter().collect())
}

/// What runs and what is configured, both.
pub(super) fn both<T>(all: &[Sdn<T>]) -> impl Iterator<Item = &T> {
    all.iter().flat_map(|object| object.running.iter().chain(&object.configured))
}

async fn routes(world: &World) -> Option<Told<Vec<KernelRoute>>> {
    world.site.opnsense.as_ref()?;
    let client = match world.opnsense() {
        Ok(client) => client,
        Err(why) => return Some(Err(why)),
    };
    let read = client.kernel_routes().await;
    Some(read.map_err(|e| Trouble::new(TroubleKind::Unknown, e.to_string()).with_help(e.help())))
}

async fn registered(world: &World) -> Option<Told<Vec<registry::Tenant>>> {
    let client = match world.registry.as_ref()? {
        Ok(client) => client,
        Err(why) => return Some(Err(why.clone())),
    };
    let told = client.tenants().await;
    Some(told.map_err(|e| Trouble::new(TroubleKind::Unknown, e.to_string()).with_help(e.help())))
}

/// A route's destination, where it is an IPv4 prefix.
pub(super) fn destination(route: &KernelRoute) -> Option<Ipv4Net> {
    let text = route.destination.as_str();
    text.parse().ok().or_else(|| text.parse::<Ipv4Addr>().ok().map(Ipv4Net::from))
}

#[cfg(test)]
mod tests;
