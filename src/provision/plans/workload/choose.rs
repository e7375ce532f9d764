//! Where a workload is, or will be: its number.

use std::sync::Arc;

use super::Workload;
use crate::backends::proxmox::endpoints;
use crate::backends::proxmox::model::Vm;
use crate::backends::proxmox::names::Vmid;
use crate::backends::proxmox::{Client, View};
use crate::provision::sdn::whole;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::vm::{self, Machine};
use crate::provision::world::World;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// The number of a workload, and what else is there.
pub(super) struct Home {
    /// The tenant's index.
    pub index: TenantIndex,
    /// Ordinal.
    pub ordinal: u32,
    /// VMID.
    pub vmid: u32,
    /// Node.
    pub node: String,
    /// Whether a VM of that number and name is there.
    pub exists: bool,
    /// All VMs of the cluster.
    pub vms: Vec<Vm>,
}

impl Home {
    /// The VM that is there or is to be made.
    pub fn machine(&self, wanted: &Workload) -> Machine {
        let name = wanted.tenant.vm(&wanted.name);
        Machine { node: self.node.clone(), vmid: self.vmid, name, new: !self.exists }
    }

    /// The VM that is there.
    pub fn existing(&self, wanted: &Workload) -> Result<Machine, Trouble> {
        if self.exists {
            return Ok(self.machine(wanted));
        }
        let text = format!("there is no VM {} in the cluster", wanted.tenant.vm(&wanted.name));
        Err(Trouble::new(TroubleKind::Refused, text).with_help("look at the list of workloads"))
    }
}

/// Finds a workload's number: its VM's where there is one, else the lowest of the tenant's that is free.
pub(super) async fn home(world: &Arc<World>, wanted: &Workload) -> Result<Home, Trouble> {
    let client = world.proxmox()?;
    client.permissions().await.map_err(|e| Trouble::from(&e))?;
    let index = match wanted.index {
        Some(index) => index,
        None => index_of(world, client, &wanted.tenant).await?,
    };
    let vms = settled(world, client, index).await?;
    let name = wanted.tenant.vm(&wanted.name);
    let mut named = vms.iter().filter(|vm| vm.name.as_deref() == Some(name.as_str()));
    match (named.next(), named.next()) {
        (Some(one), Some(other)) => {
            let text = format!("{name} is the name of two VMs: {} and {}", one.vmid, other.vmid);
            Err(Trouble::new(TroubleKind::Refused, text).with_help("rename one of them in Proxmox"))
        }
        (Some(vm), None) => {
            let (vmid, node) = (vm.vmid, vm.node.clone());
            let own = world.site.numbering.index_of_vmid(vmid).filter(|(of, _)| *of == index);
            let (_, ordinal) = own.filter(|_| !vm.template).ok_or_else(|| outside(world, index, &name, vmid))?;
            Ok(Home { index, ordinal, vmid, node, exists: true, vms })
        }
        (None, _) => {
            let (ordinal, vmid) = free(world, client, index, &vms).await?;
            Ok(Home { index, ordinal, vmid, node: world.site.proxmox.node.clone(), exists: false, vms })
        }
    }
}

/// The disk that a VM boots from.
pub(super) async fn disk(world: &World, vm: &Machine) -> Result<Option<(String, Option<u64>)>, Trouble> {
    let config = world.proxmox()?.vm_config(&vm.node, vm.vmid).await.map_err(|e| Trouble::from(&e))?;
    Ok(vm::boot_disk(&config.raw))
}

fn outside(world: &World, index: TenantIndex, name: &str, vmid: u32) -> Trouble {
    let numbering = &world.site.numbering;
    let (first, last) = (numbering.vmid(index, 0), numbering.vmid(index, numbering.vmids_per_tenant.saturating_sub(1)));
    let range = first.zip(last).map_or_else(String::new, |(first, last)| format!(" ({first}–{last})"));
    let text = format!("VM {vmid} is called {name}, and its number is none of the tenant's{range}");
    Trouble::new(TroubleKind::Refused, text).with_help("it was made by hand; it is not touched from here")
}

/// The index of a tenant, from its zone.
async fn index_of(world: &World, client: &Client, tenant: &TenantName) -> Result<TenantIndex, Trouble> {
    let zones = client.zones(View::Pending).await.map_err(|e| Trouble::from(&e))?;
    let found = zones.iter().filter_map(|zone| zone.configured.as_ref()).find(|zone| zone.zone == tenant.as_str());
    let Some(zone) = found else {
        // One that is not shown may be there all the same.
        whole(client, &[("SDN zone", &endpoints::ZONES)]).await?;
        let text = format!("there is no zone {tenant}: the tenant's index is not known");
        return Err(Trouble::new(TroubleKind::Refused, text).with_help("onboard the tenant first"));
    };
    let index = zone.vrf_vxlan.and_then(|vni| world.site.numbering.index_of_vrf_vni(vni));
    index.ok_or_else(|| {
        let text = format!("zone {tenant} has a VRF VNI that is none of the site's numbering");
        Trouble::new(TroubleKind::Refused, text).with_help("it is no tenant of this site")
    })
}

/// All VMs, when none of the tenant's is without a name any more: while it is cloned nobody can tell which it will be.
async fn settled(world: &World, client: &Client, index: TenantIndex) -> Result<Vec<Vm>, Trouble> {
    whole(client, &[("VM", &endpoints::RESOURCES)]).await?;
    let looks = world.patience.looks.max(1);
    let mut left = looks;
    loop {
        let vms = client.resources().await.map_err(|e| Trouble::from(&e))?.vms;
        let ours = |vm: &&Vm| world.site.numbering.index_of_vmid(vm.vmid).is_some_and(|(of, _)| of == index);
        let unclear = |vm: &&Vm| vm.name.is_none() || vm.lock.as_deref() == Some("clone");
        let Some(vm) = vms.iter().filter(ours).find(unclear) else { return Ok(vms) };
        let (vmid, node) = (vm.vmid, vm.node.clone());
        if vm.lock.as_deref() != Some("clone") {
            let text = format!("what VM {vmid} on {node} is called is not known");
            return Err(
                Trouble::new(TroubleKind::Unknown, text).with_help(format!("{node} may be away; bring it back"))
            );
        }
        left -= 1;
        if left == 0 {
            let text = format!("VM {vmid} on {node} is being cloned, and nobody can tell yet what it will be called");
            return Err(Trouble::new(TroubleKind::Busy, text)
                .with_help("wait until its task ends, or resume the change that makes it"));
        }
        (world.sleep)(world.patience.between).await;
    }
}

/// The lowest number of the tenant's that nothing has. The cluster's own word counts: lists know no containers.
async fn free(world: &World, client: &Client, index: TenantIndex, vms: &[Vm]) -> Result<(u32, u32), Trouble> {
    let numbering = &world.site.numbering;
    for ordinal in 0..numbering.vmids_per_tenant {
        let Some(vmid) = numbering.vmid(index, ordinal) else { break };
        if numbering.workload_address(index, ordinal).is_none() {
            break;
        }
        if vms.iter().any(|vm| vm.vmid == vmid) {
            continue;
        }
        let id = Vmid::try_from(vmid).map_err(|e| Trouble::from(&e))?;
        if client.vmid_is_free(id).await.map_err(|e| Trouble::from(&e))? {
            return Ok((ordinal, vmid));
        }
    }
    let text = format!("all {} numbers of index {} are taken", numbering.vmids_per_tenant, index.get());
    Err(Trouble::new(TroubleKind::Refused, text).with_help("delete a workload first"))
}
