//! Machines of tenants: configuration, power, and whether the agent of a running one answers.

use std::collections::BTreeSet;

use futures_util::future::join_all;

use super::names::{self, Workload};
use super::{Check, Fabric, Sink, Wanted};
use crate::backends::proxmox::Client;
use crate::backends::proxmox::model::{AgentState, Vm};
use crate::inventory::feed::Clients;
use crate::site::Site;

/// Machines looked at in one check, so that a site of two thousand is not asked four thousand questions.
const MOST: usize = 64;
/// Machines asked about at once; an agent that is silent holds its question for some seconds.
const WAVE: usize = 8;

/// Reads the machines in scope, those of every tenant in turn.
pub(super) async fn read(site: &Site, clients: &Clients, wanted: &Wanted, fabric: &Fabric, sink: &Sink) {
    let Ok(client) = &clients.proxmox else { return };
    let client = client.recorded(sink.recorder(&site.proxmox.node));
    let wants = |w: &Workload<'_>| wanted.check != Check::Egress || w.vm.status != "running";
    let vms: Vec<Workload<'_>> = names::workloads(site, fabric, wanted).into_iter().filter(wants).take(MOST).collect();
    for wave in vms.chunks(WAVE) {
        join_all(wave.iter().map(|w| one(&client, w.vm, wanted.check))).await;
    }
    if !matches!(wanted.check, Check::Dns | Check::Egress) {
        learnt(&client, fabric, &vms).await;
    }
}

async fn one(client: &Client, vm: &Vm, check: Check) {
    if matches!(check, Check::Dns | Check::Isolation) {
        drop(client.vm_config(&vm.node, vm.vmid).await);
        return;
    }
    let agent = async {
        if vm.status == "running" && matches!(client.agent_state(&vm.node, vm.vmid).await, Ok(AgentState::Answers)) {
            drop(client.agent_interfaces(&vm.node, vm.vmid).await);
        }
    };
    drop(tokio::join!(client.vm_config(&vm.node, vm.vmid), client.vm_status(&vm.node, vm.vmid), agent));
}

/// What nodes have learnt of the segments of these machines, once a segment.
async fn learnt(client: &Client, fabric: &Fabric, vms: &[Workload<'_>]) {
    let of = |vm: &Workload<'_>| {
        let leg = fabric.legs.iter().find(|leg| leg.subnet.contains(&vm.address))?;
        Some((leg.exits.first()?.clone(), leg.vnet.clone()))
    };
    let segments: BTreeSet<(String, String)> = vms.iter().filter_map(of).collect();
    for (node, vnet) in segments {
        drop(client.mac_vrf(&node, &vnet).await);
    }
}
