//! The client's writes against the lab: a tenant's network and a workload, from nothing and back to nothing.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of a test: a panic is its verdict, its output is its report"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::permit::Permit;
use deevnet_console::backends::proxmox::model::{Change, TaskState};
use deevnet_console::backends::proxmox::names::{NodeName, SubnetId, Vmid, VnetId, ZoneId};
use deevnet_console::backends::proxmox::{
    Card, Client, CloneRequest, Copying, DiskSize, Edit, Error, GuestAddress, Leftovers, Lock, LockFault, NewSubnet,
    NewVnet, NewZone, Pace, Resize, SshKeys, TaskEnd, TaskFilter, TaskSource, TaskStep, Upid, View, VmSettings,
    VnetChange, Waiting,
};
use deevnet_console::lab::{Lab, LabOptions};
use deevnet_console::site::Site;
use deevnet_console::site::secret::Secret;
use jiff::Timestamp;

/// A tenant that the lab does not have.
const NAME: &str = "rtrip";

struct Bench {
    lab: Lab,
    client: Client,
    node: NodeName,
    controller: String,
    permit: Permit,
    /// Milliseconds since the epoch, by the lab's clock.
    now: Arc<AtomicI64>,
}

async fn bench() -> Bench {
    let now = Arc::new(AtomicI64::new(1_795_950_000_000));
    let clock = Arc::clone(&now);
    let clock = Arc::new(move || Timestamp::from_millisecond(clock.load(Ordering::SeqCst)).unwrap());
    let options = LabOptions::new(clock, PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")));
    let lab = Lab::start(LabOptions { writable: true, second_half: false, ..options });
    let lab = lab.await.unwrap();
    let site = Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap();
    let token = site.proxmox.token.read().await.unwrap();
    let client = Client::new(&site.proxmox, token.expose().to_owned().into(), Limits::default()).unwrap();
    let node = site.proxmox.node.parse().unwrap();
    Bench { lab, client, node, controller: site.proxmox.controller.clone(), permit: Permit::grant("plan-1"), now }
}

impl Bench {
    /// How a task ends. Every pause moves the lab's clock.
    async fn end(&self, upid: &Upid) -> TaskEnd {
        let second = Duration::from_secs(1);
        let pace = Pace { first: second, longest: second, total: 60 * second };
        let pause = |length: Duration| {
            self.now.fetch_add(i64::try_from(length.as_millis()).unwrap(), Ordering::SeqCst);
            std::future::ready(())
        };
        match self.client.task_wait(upid, pace, pause).await.unwrap() {
            TaskStep::Ended(end) => end,
            other => panic!("{upid}: {other:?}"),
        }
    }

    async fn ends_well(&self, upid: Result<Upid, Error>) {
        let upid = upid.unwrap();
        assert_eq!(self.end(&upid).await, TaskEnd::Ok, "{upid}");
    }

    async fn zone_state(&self, zone: &ZoneId) -> Option<String> {
        let zones = self.client.node_zones(self.node.as_str()).await.unwrap();
        zones.into_iter().find(|z| z.zone == zone.as_str()).map(|z| z.status)
    }

    /// Makes what waits real and gives the lock back.
    async fn apply(&self, token: &deevnet_console::backends::proxmox::names::LockToken) {
        let upid = self.client.sdn_apply(&self.permit, token, Lock::Release).await.unwrap();
        assert_eq!(self.end(&upid).await, TaskEnd::Ok);
        let filter = TaskFilter {
            kind: Some("srvreload".to_owned()),
            since: Some(upid.started),
            source: Some(TaskSource::All),
            ..TaskFilter::default()
        };
        let reloads = self.client.node_tasks(self.node.as_str(), &filter).await.unwrap();
        let state = self.client.task_state(&reloads[0].upid.parse().unwrap()).await.unwrap();
        assert_eq!(state, TaskState::Ok, "the node's own word");
    }
}

fn tenant() -> (ZoneId, VnetId, NewSubnet) {
    let vnet: VnetId = format!("{NAME}0").parse().unwrap();
    let net = "10.20.188.0/24".parse().unwrap();
    let gateway = Some("10.20.188.1".parse().unwrap());
    (NAME.parse().unwrap(), vnet.clone(), NewSubnet { vnet, net, gateway, snat: true })
}

#[tokio::test]
async fn a_network_comes_under_the_lock_and_goes_again() {
    let bench = bench().await;
    let (client, permit) = (&bench.client, &bench.permit);
    let (zone, vnet, subnet) = tenant();
    let id: SubnetId = subnet.id(&zone);
    let before = client.zones(View::Running).await.unwrap().len();

    let token = client.sdn_lock(permit, Waiting::Refuse).await.unwrap();
    let held = client.sdn_lock(permit, Waiting::Refuse).await.unwrap_err();
    assert!(matches!(held, Error::SdnLocked { fault: LockFault::HeldByAnother, .. }), "{held:?}");
    let new = NewZone {
        nodes: vec![bench.node.clone()],
        exit_nodes: vec![bench.node.clone()],
        exit_nodes_primary: Some(bench.node.clone()),
        ..NewZone::new(zone.clone(), bench.controller.parse().unwrap(), 10_060.try_into().unwrap())
    };
    client.zone_create(permit, &token, &new).await.unwrap();
    assert!(client.zone_create(permit, &token, &new).await.unwrap_err().already_exists());
    let other = "01a2283f-0000-7b5f-9c0a-e4225efe1620".parse().unwrap();
    let stale = client.zone_create(permit, &other, &new).await.unwrap_err();
    assert!(matches!(stale, Error::SdnLocked { fault: LockFault::StaleToken, .. }), "{stale:?}");
    let made = NewVnet { vnet: vnet.clone(), zone: zone.clone(), tag: 20_600.try_into().unwrap(), alias: None };
    client.vnet_create(permit, &token, &made).await.unwrap();
    client.subnet_create(permit, &token, &subnet).await.unwrap();
    let alias = VnetChange { alias: Edit::Set("round trip".parse().unwrap()), ..VnetChange::default() };
    client.vnet_update(permit, &token, &vnet, &alias).await.unwrap();
    let waiting = client.zones(View::Pending).await.unwrap();
    assert!(waiting.iter().any(|z| z.change == Change::New && z.current().unwrap().zone == NAME));
    bench.apply(&token).await;

    let running = client.zones(View::Running).await.unwrap();
    let zone_now = running.iter().filter_map(|z| z.current()).find(|z| z.zone == NAME).unwrap();
    assert_eq!((running.len(), zone_now.vrf_vxlan), (before + 1, Some(10_060)));
    let subnets = client.subnets(vnet.as_str(), View::Running).await.unwrap();
    let found = subnets[0].current().unwrap();
    assert_eq!((found.id.as_str(), found.snat, found.gateway), (id.as_str(), true, subnet.gateway));
    assert_eq!(bench.zone_state(&zone).await.as_deref(), Some("available"));

    // Released with the apply: it can be taken again at once.
    let token = client.sdn_lock(permit, Waiting::Refuse).await.unwrap();
    assert!(client.vnet_delete(permit, &token, &vnet).await.unwrap_err().is_in_use());
    assert!(client.zone_delete(permit, &token, &zone).await.unwrap_err().is_in_use());
    client.subnet_delete(permit, &token, &vnet, &id).await.unwrap();
    client.subnet_delete(permit, &token, &vnet, &id).await.unwrap();
    client.sdn_rollback(permit, &token, Lock::Keep).await.unwrap();
    assert_eq!(client.subnets(vnet.as_str(), View::Pending).await.unwrap()[0].change, Change::None);
    client.subnet_delete(permit, &token, &vnet, &id).await.unwrap();
    client.vnet_delete(permit, &token, &vnet).await.unwrap();
    assert!(client.vnet_delete(permit, &token, &vnet).await.unwrap_err().is_absent());
    client.zone_delete(permit, &token, &zone).await.unwrap();
    bench.apply(&token).await;
    assert_eq!(client.zones(View::Pending).await.unwrap().len(), before);
    assert_eq!(bench.zone_state(&zone).await, None);

    let left = client.sdn_lock(permit, Waiting::Refuse).await.unwrap();
    client.sdn_unlock_by_force(permit).await.unwrap();
    client.sdn_unlock(permit, &left).await.unwrap();
    bench.lab.shutdown().await;
}

fn settings() -> VmSettings {
    let card = Card { mac: "02:de:20:00:11:58".parse().unwrap(), bridge: "tdemo0".parse().unwrap(), firewall: false };
    let address = GuestAddress::Fixed {
        address: "10.20.129.48/24".parse().unwrap(),
        gateway: Some("10.20.129.1".parse().unwrap()),
    };
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJjbbdP/RJQAq9NUE8ZINFCcchqmHAKUcKO1zdb5aNT3 ops@deevnet.example";
    VmSettings {
        cores: Some(2),
        memory_mib: Some(2048),
        agent: Some(true),
        onboot: Some(true),
        tags: Edit::Set(vec!["tenant".parse().unwrap(), "tdemo".parse().unwrap()]),
        nets: BTreeMap::from([(0, Edit::Set(card))]),
        ipconfigs: BTreeMap::from([(0, Edit::Set(address))]),
        nameservers: Edit::Set(vec!["10.20.50.1".parse().unwrap()]),
        ciuser: Edit::Set("tenant".parse().unwrap()),
        sshkeys: Edit::Set(SshKeys::new(key).unwrap()),
        ..VmSettings::default()
    }
}

#[tokio::test]
async fn a_workload_comes_runs_and_goes_again() {
    let bench = bench().await;
    let (client, permit, node) = (&bench.client, &bench.permit, &bench.node);
    let vmid: Vmid = 4440.try_into().unwrap();
    assert!(client.vmid_is_free(vmid).await.unwrap());
    let templates = client.vms(node.as_str()).await.unwrap();
    let template = templates.iter().find(|vm| vm.template).unwrap().vmid.try_into().unwrap();
    assert!(!client.vmid_is_free(template).await.unwrap());
    let request = CloneRequest {
        newid: vmid,
        name: "tdemo-trip".parse().unwrap(),
        copy: Copying::Full { storage: Some("local-lvm".parse().unwrap()) },
        target: None,
        pool: None,
        description: None,
    };
    bench.ends_well(client.vm_clone(permit, node, template, &request).await).await;
    let again = client.vm_clone(permit, node, template, &request).await.unwrap_err();
    assert!(again.already_exists(), "{again:?}");

    let first = client.vm_config(node.as_str(), vmid.get()).await.unwrap();
    let digest = first.digest.as_deref().unwrap().parse().unwrap();
    let guarded = VmSettings { digest: Some(digest), ..settings() };
    client.vm_configure(permit, node, vmid, &guarded).await.unwrap();
    let stale = client.vm_configure(permit, node, vmid, &guarded).await.unwrap_err();
    assert!(matches!(stale, Error::Modified { .. }), "{stale:?}");
    let pointer = Secret::new("dvb1;u=https://10.20.25.20:8443;n=tdemo/trip;x=1795971529;t=dbt1.C4N4RY".to_owned());
    client.vm_write_serial(permit, node, vmid, Some(&pointer)).await.unwrap();
    let read = client.vm_smbios(node, vmid).await.unwrap();
    assert_eq!(read.smbios.serial(), Some(pointer.expose().as_bytes()));
    let now = client.vm_config(node.as_str(), vmid.get()).await.unwrap();
    assert_eq!(now.smbios_uuid, first.smbios_uuid, "the guest keeps its UUID");
    assert_eq!((now.name.as_deref(), now.cores, now.memory_mib), (Some("tdemo-trip"), Some(2), Some(2048)));
    assert_eq!(now.tags, ["tenant", "tdemo"]);
    assert_eq!(now.nets[&0].mac.as_deref(), Some("02:de:20:00:11:58"));
    assert_eq!(now.ipconfigs[&0].gateway.as_deref(), Some("10.20.129.1"));
    assert!(!format!("{now:?} {read:?}").contains("C4N4RY"));

    let size = |gib| Resize { disk: "scsi0".parse().unwrap(), size: DiskSize::Total(gib), digest: None };
    bench.ends_well(client.vm_resize(permit, node, vmid, &size(40)).await).await;
    let shrunk = client.vm_resize(permit, node, vmid, &size(20)).await.unwrap();
    let end = bench.end(&shrunk).await;
    assert!(matches!(&end, TaskEnd::Failed { kind: Some(Error::DiskShrink), .. }), "{end:?}");

    bench.ends_well(client.vm_start(permit, node, vmid).await).await;
    let twice = client.vm_start(permit, node, vmid).await.unwrap();
    let end = bench.end(&twice).await;
    assert!(matches!(&end, TaskEnd::Failed { kind: Some(Error::VmState { .. }), .. }), "{end:?}");
    assert_eq!(client.vm_status(node.as_str(), vmid.get()).await.unwrap().vm.status, "running");
    let running = client.vm_destroy(permit, node, vmid, Leftovers::default()).await.unwrap_err();
    assert!(matches!(running, Error::VmState { .. }), "{running:?}");
    bench.ends_well(client.vm_reboot(permit, node, vmid, Some(30)).await).await;
    bench.ends_well(client.vm_shutdown(permit, node, vmid, Some(30), true).await).await;
    bench.ends_well(client.vm_stop(permit, node, vmid, false).await).await;
    let all = Leftovers { purge: true, unreferenced_disks: true };
    bench.ends_well(client.vm_destroy(permit, node, vmid, all).await).await;
    let gone = client.vm_config(node.as_str(), vmid.get()).await.unwrap_err();
    assert!(gone.is_absent(), "{gone:?}");
    let gone = client.vm_destroy(permit, node, vmid, all).await.unwrap_err();
    assert!(gone.is_absent(), "{gone:?}");
    bench.lab.shutdown().await;
}
