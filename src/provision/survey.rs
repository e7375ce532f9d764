//! What a new tenant meets: every source that knows of an index, a name or a number, read once.
//!
//! The registry can be told from the fabric alone (domain.md §5.2): a zone's id is the tenant, its VRF VNI the index. What
//! waits to be applied counts, and what waits to be removed counts still.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use ipnet::Ipv4Net;

use super::trouble::{Trouble, TroubleKind};
use super::world::World;
use crate::backends::opnsense::model::{Forward, KernelRoute};
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
    /// Bridges of the tenants' node.
    pub bridges: Told<Vec<String>>,
    /// Whether the cluster can be changed.
    pub cluster: Told<ClusterStatus>,
    /// Zones of names.
    pub names: Option<Told<Vec<ZoneHead>>>,
    /// Forwards of the perimeter's resolver.
    pub forwards: Option<Told<Vec<Forward>>>,
    /// Routes of the perimeter.
    pub routes: Option<Told<Vec<KernelRoute>>>,
    /// Registered tenants.
    pub registry: Option<Told<Vec<registry::Tenant>>>,
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
                client.bridges(&site.proxmox.node),
                client.cluster_status(),
            );
            let zones = whole(client, &endpoints::ZONES, "zones", zones.map_err(|e| Trouble::from(&e)));
            let vnets = whole(client, &endpoints::VNETS, "VNets", vnets.map_err(|e| Trouble::from(&e)));
            let vms = resources.map(|all| all.vms).map_err(|e| Trouble::from(&e));
            let vms = whole(client, &endpoints::RESOURCES, "guests", vms);
            let bridges = bridges.map_err(|e| Trouble::from(&e));
            Ok::<_, Trouble>((rights, zones, vnets, vms, bridges, cluster.map_err(|e| Trouble::from(&e))))
        };
        let names = async {
            site.powerdns.as_ref()?;
            let read = async {
                let zones = world.powerdns()?.zones(ZoneListing::Lean).await;
                zones.map_err(|e| Trouble::new(TroubleKind::Unknown, e.to_string()).with_help(e.help()))
            };
            Some(read.await)
        };
        let (fabric, names, perimeter, registry) = tokio::join!(fabric, names, perimeter(world), registered(world));
        let (forwards, routes) = perimeter.unzip();
        let failed = |why: &Trouble| why.clone();
        match fabric {
            Ok((rights, zones, vnets, vms, bridges, cluster)) => {
                let rights = Ok(rights);
                Self { rights, zones, vnets, vms, bridges, cluster, names, forwards, routes, registry }
            }
            Err(why) => Self {
                rights: Err(failed(&why)),
                zones: Err(failed(&why)),
                vnets: Err(failed(&why)),
                vms: Err(failed(&why)),
                bridges: Err(failed(&why)),
                cluster: Err(why),
                names,
                forwards,
                routes,
                registry,
            },
        }
    }

    /// Who holds which index, told as it is read; what is `tenant`'s own does not count.
    ///
    /// # Errors
    /// The first source that did not tell: an index is free only where every source says so.
    pub fn holders(&self, site: &Site, tenant: &TenantName) -> Told<BTreeMap<TenantIndex, Vec<String>>> {
        let mut held = BTreeMap::<TenantIndex, Vec<String>>::new();
        let mut holds = |index: Option<TenantIndex>, by: String| {
            let all = index.map(|index| held.entry(index).or_default());
            if let Some(all) = all.filter(|all| !all.contains(&by)) {
                all.push(by);
            }
        };
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
        for vm in self.vms.as_ref().map_err(Clone::clone)? {
            let named = vm.name.as_deref().unwrap_or_default();
            if !named.starts_with(&prefix) {
                holds(plan.index_of_vmid(vm.vmid).map(|(index, _)| index), format!("VM {} {named}", vm.vmid));
            }
        }
        if let Some(zones) = &self.names {
            let own_index = self.own_index(site, tenant);
            for zone in zones.as_ref().map_err(Clone::clone)? {
                let name = zone.name.as_str().trim_end_matches('.');
                let index = plan.index_of_reverse_zone(name);
                // Zones that others made bear no account.
                let ours = match zone.account.as_deref().unwrap_or_default() {
                    "" => index == own_index,
                    account => own(account),
                };
                if !ours {
                    holds(index, format!("reverse zone {name}"));
                }
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

/// What runs and what is configured, both.
pub(super) fn both<T>(all: &[Sdn<T>]) -> impl Iterator<Item = &T> {
    all.iter().flat_map(|object| object.running.iter().chain(&object.configured))
}

async fn perimeter(world: &World) -> Option<(Told<Vec<Forward>>, Told<Vec<KernelRoute>>)> {
    world.site.opnsense.as_ref()?;
    let unknown =
        |e: &crate::backends::opnsense::Error| Trouble::new(TroubleKind::Unknown, e.to_string()).with_help(e.help());
    let client = match world.opnsense() {
        Ok(client) => client,
        Err(why) => return Some((Err(why.clone()), Err(why))),
    };
    // One after the other: the router is asked gently.
    let forwards = client.forwards().await.map_err(|e| unknown(&e));
    let routes = client.kernel_routes().await.map_err(|e| unknown(&e));
    Some((forwards, routes))
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
