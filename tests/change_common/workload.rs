//! Workloads of a tenant that has one, next to another tenant.

#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests, not all used by each")]

use deevnet_console::backends::proxmox::Client;
use deevnet_console::backends::proxmox::model::{Vm, VmConfig};
use deevnet_console::lab::state::World as LabWorld;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::plan::Plan;
use deevnet_console::provision::plans::workload::{Workload, create};
use deevnet_console::provision::trouble::TroubleKind;

use super::change_common::{Bench, Options, stopped};

pub async fn bench() -> Bench {
    Options { workloads: Some(1), ..Options::tenants(2) }.start().await
}

pub fn workload(name: &str) -> Workload {
    Workload::new("tdemo".parse().unwrap(), name.parse().unwrap())
}

/// Where and why a run stopped, and the remedy.
pub fn early(ended: Ended) -> (usize, TroubleKind, String, String) {
    let (step, trouble) = stopped(ended);
    (step, trouble.kind, trouble.text, trouble.help.unwrap_or_default())
}

impl Bench {
    pub fn client(&self) -> &Client {
        self.world.proxmox().unwrap()
    }

    pub async fn create(&self, wanted: &Workload) -> Plan {
        create(&self.world, wanted).await.unwrap()
    }

    /// VMs of the tenant, templates aside.
    pub async fn vms(&self) -> Vec<Vm> {
        let vms = self.client().resources().await.unwrap().vms;
        vms.into_iter().filter(|vm| (2040..2080).contains(&vm.vmid)).collect()
    }

    /// How many clones the cluster's tasks tell of.
    pub async fn clones(&self) -> usize {
        let tasks = self.client().cluster_tasks().await.unwrap();
        tasks.iter().filter(|task| task.kind == "qmclone").count()
    }

    /// Number of the VM of that name.
    pub async fn vmid(&self, name: &str) -> u32 {
        let vms = self.vms().await;
        let of: Vec<u32> = vms.iter().filter(|vm| vm.name.as_deref() == Some(name)).map(|vm| vm.vmid).collect();
        assert_eq!(of.len(), 1, "{name}: {vms:?}");
        of.first().copied().unwrap()
    }

    pub async fn config(&self, vmid: u32) -> VmConfig {
        self.client().vm_config(&self.world.site.proxmox.node, vmid).await.unwrap()
    }

    /// The lab's world is changed behind everybody's back.
    pub fn edit(&self, change: impl FnOnce(&mut LabWorld)) {
        self.lab.edit(change).unwrap();
    }

    /// The workload is there once, whole, running, and nothing is left to do.
    pub async fn is_whole(&self, wanted: &Workload) {
        let again = self.look(self.create(wanted).await).await;
        assert!(again.is_empty(), "{:?}", again.looks);
        let name = wanted.tenant.vm(&wanted.name);
        let vmid = self.vmid(&name).await;
        let config = self.config(vmid).await;
        assert_eq!((config.lock, config.raw.contains_key("scsi0")), (None, true));
        assert_eq!(self.vms().await.len(), 2, "the one that was there, and this: {:?}", self.vms().await);
    }
}
