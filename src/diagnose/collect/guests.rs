//! Machines of tenants: configuration, power, and whether the agent of a running one answers.

use futures_util::future::join_all;

use super::{Check, Fabric, Sink, Wanted};
use crate::backends::proxmox::Client;
use crate::backends::proxmox::model::Vm;
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
    let vms: Vec<&Vm> = super::names::workloads(site, fabric, wanted).into_iter().map(|w| w.vm).take(MOST).collect();
    for wave in vms.chunks(WAVE) {
        join_all(wave.iter().map(|vm| one(&client, vm, wanted.check))).await;
    }
}

async fn one(client: &Client, vm: &Vm, check: Check) {
    if matches!(check, Check::Dns | Check::Isolation) {
        drop(client.vm_config(&vm.node, vm.vmid).await);
        return;
    }
    let agent = async {
        if vm.status == "running" {
            drop(client.agent_state(&vm.node, vm.vmid).await);
        }
    };
    drop(tokio::join!(client.vm_config(&vm.node, vm.vmid), client.vm_status(&vm.node, vm.vmid), agent));
}
