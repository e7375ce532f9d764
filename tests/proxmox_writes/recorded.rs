//! Requests as they were recorded with a real Proxmox API, made by the client's own methods and answered as recorded.

use std::collections::BTreeMap;

use deevnet_console::backends::proxmox::names::{MacAddress, NodeName, Vmid};
use deevnet_console::backends::proxmox::{
    Card, Client, CloneRequest, Copying, DiskSize, Edit, Error, GuestAddress, Leftovers, Lock, LockFault,
    NewController, NewSubnet, NewVnet, NewZone, Resize, Smbios, SshKeys, SubnetChange, TaskEnd, TaskStep, Underlay,
    Upid, VmSettings, VnetChange, Waiting, ZoneChange,
};
use serde_json::Value;

use super::loopback::{Canned, Server, decode};
use super::{answering, form, lock_token, parsed, permit};

/// The recording, or `None` with a loud note.
struct Recorded(Vec<Value>);

impl Recorded {
    fn open(test: &str) -> Option<Self> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts/pve-transcripts.json");
        let Ok(text) = std::fs::read_to_string(path) else {
            eprintln!("SKIPPED {test}: ../shared is absent");
            return None;
        };
        Some(Self(serde_json::from_str(&text).unwrap()))
    }

    fn step(&self, scenario: &str, step: &str) -> &Value {
        let found = self.0.iter().find(|raw| raw["scenario"] == scenario && raw["step"] == step);
        found.unwrap_or_else(|| panic!("no {scenario} {step}"))
    }

    fn answer(&self, scenario: &str, step: &str) -> Canned {
        let response = &self.step(scenario, step)["response"];
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let body = match &response["body"] {
            Value::String(text) => text.clone(),
            json => json.to_string(),
        };
        let status = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
        Canned { status, reason: text(&response["reason"]), close: status >= 400, ..Canned::json(&body) }
    }

    /// A client that gets the recorded answer to its one request.
    async fn play(&self, scenario: &str, step: &str) -> Played<'_> {
        let (server, client) = answering([self.answer(scenario, step)]).await;
        Played { step: self.step(scenario, step), server, client }
    }
}

struct Played<'a> {
    step: &'a Value,
    server: Server,
    client: Client,
}

impl Played<'_> {
    /// What was sent is what was recorded, and the token of the SDN lock beside it.
    fn agrees(&self, with_token: bool) {
        let seen = self.server.take_seen();
        let [sent] = seen.as_slice() else { panic!("{} requests", seen.len()) };
        let request = &self.step["request"];
        let name = format!("{} {}", self.step["scenario"], self.step["step"]);
        assert_eq!(Some(sent.method.as_str()), request["method"].as_str(), "{name}");
        assert_eq!(sent.path, decode(request["path"].as_str().unwrap()), "{name}");
        let text = |v: &Value| match v {
            Value::String(text) => text.clone(),
            Value::Bool(on) => u8::from(*on).to_string(),
            other => other.to_string(),
        };
        let pairs = |v: &Value| -> BTreeMap<String, String> {
            v.as_object().into_iter().flatten().map(|(k, v)| (k.clone(), text(v))).collect()
        };
        let mut body = form(sent);
        let mut query: BTreeMap<String, String> = sent.query.iter().cloned().collect();
        if with_token {
            let place = if sent.method == "DELETE" { &mut query } else { &mut body };
            assert_eq!(place.remove("lock-token").as_deref(), Some(lock_token().expose()), "{name}");
        }
        let mut recorded = (pairs(&request["form"]), pairs(&request["query"]));
        let token = recorded.0.remove("lock-token");
        assert!(token.is_none_or(|token| with_token && token == lock_token().expose()), "{name}");
        assert_eq!((body, query), recorded, "{name}");
    }
}

fn zone(name: &str, vni: u32) -> NewZone {
    let exit = vec![parsed("pve1")];
    NewZone {
        exit_nodes: exit,
        mtu: Some(1450),
        ..NewZone::new(parsed(name), parsed("evpn1"), vni.try_into().unwrap())
    }
}

fn tdemo() -> NewZone {
    NewZone { exit_nodes_primary: Some(parsed("pve1")), advertise_subnets: Some(true), ..zone("tdemo", 10001) }
}

fn vnet(name: &str, of: &str, tag: u32) -> NewVnet {
    NewVnet { vnet: parsed(name), zone: parsed(of), tag: tag.try_into().unwrap(), alias: Some(parsed("tenant tdemo")) }
}

fn subnet(net: &str, gateway: &str) -> NewSubnet {
    let gateway = Some(gateway.parse().unwrap());
    NewSubnet { vnet: parsed("tdemo0"), net: net.parse().unwrap(), gateway, snat: true }
}

fn controller(name: &str) -> NewController {
    let peers = vec!["192.0.2.11".parse().unwrap(), "192.0.2.12".parse().unwrap()];
    NewController { controller: parsed(name), asn: 65020, underlay: Underlay::Peers(peers) }
}

#[tokio::test]
async fn a_tenants_objects_are_created_changed_and_removed() {
    let Some(recorded) = Recorded::open("a_tenants_objects_are_created_changed_and_removed") else { return };
    let (permit, token) = (permit(), lock_token());
    let created = "sdn-create-tdemo";
    let at = recorded.play(created, "01-controller").await;
    at.client.controller_create(&permit, &token, &controller("evpn1")).await.unwrap();
    at.agrees(true);
    let at = recorded.play(created, "05-zone").await;
    at.client.zone_create(&permit, &token, &tdemo()).await.unwrap();
    at.agrees(true);
    let at = recorded.play(created, "11-vnet").await;
    at.client.vnet_create(&permit, &token, &vnet("tdemo0", "tdemo", 20010)).await.unwrap();
    at.agrees(true);
    let at = recorded.play(created, "15-subnet").await;
    let new = subnet("10.20.129.5/24", "10.20.129.1");
    at.client.subnet_create(&permit, &token, &new).await.unwrap();
    at.agrees(true);
    let id = new.id(&parsed("tdemo"));

    let changed = "sdn-pending-changed-deleted";
    let at = recorded.play(changed, "01-zone-change-and-remove-option").await;
    let change = ZoneChange { mtu: Edit::Set(1400), advertise_subnets: Edit::Remove, ..ZoneChange::default() };
    at.client.zone_update(&permit, &token, &parsed("tdemo"), &change).await.unwrap();
    at.agrees(true);
    let at = recorded.play(changed, "02-vnet-change").await;
    let change = VnetChange { alias: Edit::Set(parsed("changed")), ..VnetChange::default() };
    at.client.vnet_update(&permit, &token, &parsed("tdemo0"), &change).await.unwrap();
    at.agrees(true);
    let at = recorded.play(changed, "03-subnet-change").await;
    let change = SubnetChange { snat: Some(false), ..SubnetChange::default() };
    at.client.subnet_update(&permit, &token, &parsed("tdemo0"), &id, &change).await.unwrap();
    at.agrees(true);

    let removed = "cleanup-order";
    let at = recorded.play(removed, "05-tdemo-subnet").await;
    at.client.subnet_delete(&permit, &token, &parsed("tdemo0"), &id).await.unwrap();
    at.agrees(true);
    let at = recorded.play(removed, "06-tdemo-vnet").await;
    at.client.vnet_delete(&permit, &token, &parsed("tdemo0")).await.unwrap();
    at.agrees(true);
    let at = recorded.play(removed, "07-tdemo-zone").await;
    at.client.zone_delete(&permit, &token, &parsed("tdemo")).await.unwrap();
    at.agrees(true);
    let at = recorded.play(removed, "11-controller").await;
    at.client.controller_delete(&permit, &token, &parsed("evpn1")).await.unwrap();
    at.agrees(true);
}

#[tokio::test]
async fn the_lock_is_taken_used_and_given_back() {
    let Some(recorded) = Recorded::open("the_lock_is_taken_used_and_given_back") else { return };
    let (permit, life) = (permit(), "sdn-lock-lifecycle");
    let at = recorded.play(life, "01-acquire").await;
    let token = at.client.sdn_lock(&permit, Waiting::Refuse).await.unwrap();
    at.agrees(false);
    assert_eq!(token, lock_token());
    let mtu = |mtu| ZoneChange { mtu: Edit::Set(mtu), ..ZoneChange::default() };
    let at = recorded.play(life, "03-write-with-token").await;
    at.client.zone_update(&permit, &token, &parsed("tdemo"), &mtu(1400)).await.unwrap();
    at.agrees(true);
    let at = recorded.play(life, "06-apply-with-token").await;
    let upid = at.client.sdn_apply(&permit, &token, Lock::Keep).await.unwrap();
    assert_eq!((upid.kind.as_str(), upid.node.as_str()), ("reloadnetworkall", "pve1"));
    at.agrees(true);
    let at = recorded.play(life, "09-apply-release-lock-1").await;
    at.client.sdn_apply(&permit, &token, Lock::Release).await.unwrap();
    at.agrees(true);

    let pending = "sdn-lock-with-pending";
    let at = recorded.play(pending, "02-acquire-refused").await;
    let refused = at.client.sdn_lock(&permit, Waiting::Refuse).await.unwrap_err();
    assert!(matches!(refused, Error::SdnPending { .. }), "{refused:?}");
    let at = recorded.play(pending, "03-acquire-allow-pending").await;
    assert_ne!(at.client.sdn_lock(&permit, Waiting::Allow).await.unwrap(), token);
    at.agrees(false);
    let at = recorded.play(pending, "05-acquire-still-refused").await;
    let refused = at.client.sdn_lock(&permit, Waiting::Refuse).await.unwrap_err();
    assert!(matches!(refused, Error::SdnLocked { fault: LockFault::HeldByAnother, .. }), "{refused:?}");
    let at = recorded.play("sdn-rollback", "01-rollback").await;
    at.client.sdn_rollback(&permit, &token, Lock::Keep).await.unwrap();
    at.agrees(true);

    // The same words, after the lock was taken away: the token is not that of the lock any more.
    for step in ["04-apply-without-token", "07-still-locked"] {
        let at = recorded.play(life, step).await;
        let refused = at.client.sdn_apply(&permit, &token, Lock::Release).await.unwrap_err();
        assert!(matches!(refused, Error::SdnLocked { fault: LockFault::StaleToken, .. }), "{refused:?}");
        assert!(!format!("{refused} {refused:?} {}", refused.help()).contains(token.expose()));
    }
    let at = recorded.play("sdn-lock-timeout", "02-apply").await;
    let busy = at.client.sdn_apply(&permit, &token, Lock::Release).await.unwrap_err();
    assert!(matches!(busy, Error::Busy { .. }), "{busy:?}");
    let at = recorded.play(pending, "08-release").await;
    at.client.sdn_unlock(&permit, &token).await.unwrap();
    let sent = at.server.take_seen();
    assert_eq!(sent[0].query, [("lock-token".to_owned(), token.expose().to_owned())]);
}

#[tokio::test]
async fn what_exists_clashes_or_is_used_is_told_apart() {
    let Some(recorded) = Recorded::open("what_exists_clashes_or_is_used_is_told_apart") else { return };
    let (permit, token, twice, used) = (permit(), lock_token(), "sdn-duplicates", "sdn-delete-in-use");
    let at = recorded.play(twice, "01-second-evpn-controller").await;
    let error = at.client.controller_create(&permit, &token, &controller("evpn2")).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }) && !error.already_exists(), "{error:?}");
    at.agrees(true);
    let at = recorded.play(twice, "02-zone-same-id").await;
    let error = at.client.zone_create(&permit, &token, &tdemo()).await.unwrap_err();
    assert!(error.already_exists() && error.to_string().contains("sdn zone object ID 'tdemo'"), "{error}");
    at.agrees(true);
    let at = recorded.play(twice, "03-zone-same-vrf-vxlan").await;
    let error = at.client.zone_create(&permit, &token, &zone("eds", 10001)).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
    at.agrees(true);
    let at = recorded.play(twice, "04-vnet-same-tag").await;
    let error = at.client.vnet_create(&permit, &token, &vnet("tdemo1", "tdemo", 20010)).await.unwrap_err();
    assert!(matches!(&error, Error::BadParameters { errors, .. } if errors.contains_key("tag")), "{error:?}");
    at.agrees(true);
    let at = recorded.play("sdn-create-missing-controller", "01-zone-controller-does-not-exist").await;
    let error = at.client.zone_create(&permit, &token, &tdemo()).await.unwrap_err();
    assert!(matches!(error, Error::ReferenceAbsent { .. }), "{error:?}");

    let at = recorded.play(used, "01-vnet-with-subnets").await;
    assert!(at.client.vnet_delete(&permit, &token, &parsed("tdemo0")).await.unwrap_err().is_in_use());
    let at = recorded.play(used, "02-zone-with-vnets").await;
    assert!(at.client.zone_delete(&permit, &token, &parsed("tdemo")).await.unwrap_err().is_in_use());
    let at = recorded.play(used, "03-controller-with-zones").await;
    assert!(at.client.controller_delete(&permit, &token, &parsed("evpn1")).await.unwrap_err().is_in_use());
    let at = recorded.play("sdn-bad-subnets", "02-gateway-outside").await;
    let error = at.client.subnet_create(&permit, &token, &subnet("10.20.140.0/24", "10.20.129.1")).await.unwrap_err();
    assert!(matches!(&error, Error::BadParameters { errors, .. } if errors.contains_key("gateway")), "{error:?}");
    at.agrees(true);
    let at = recorded.play("sdn-bad-subnets", "08-remove-nonexistent").await;
    at.client.subnet_delete(&permit, &token, &parsed("tdemo0"), &parsed("tdemo-10.99.0.0-24")).await.unwrap();
    at.agrees(true);
}

fn pve1() -> NodeName {
    parsed("pve1")
}

fn id(number: u32) -> Vmid {
    number.try_into().unwrap()
}

/// The settings of the recorded workload.
fn app() -> VmSettings {
    let mac: MacAddress = parsed("02:de:20:00:07:f8");
    let card = Card { mac, bridge: parsed("tdemo0"), firewall: false };
    let address = GuestAddress::Fixed {
        address: "10.20.129.11/24".parse().unwrap(),
        gateway: Some("10.20.129.1".parse().unwrap()),
    };
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJjbbdP/RJQAq9NUE8ZINFCcchqmHAKUcKO1zdb5aNT3 ops@deevnet.example";
    let mut smbios = Smbios::parse("uuid=7d9f3c1e-2b4a-4c5d-8e6f-204020402040").unwrap();
    smbios.set_serial(b"ds=nocloud;s=http://10.20.50.1/seed/2040/");
    VmSettings {
        cores: Some(2),
        memory_mib: Some(2048),
        agent: Some(true),
        onboot: Some(true),
        tags: Edit::Set(vec![parsed("deevnet"), parsed("tdemo")]),
        nets: BTreeMap::from([(0, Edit::Set(card))]),
        ipconfigs: BTreeMap::from([(0, Edit::Set(address))]),
        nameservers: Edit::Set(vec!["10.20.50.1".parse().unwrap()]),
        searchdomain: Edit::Set(parsed("tdemo.example")),
        ciuser: Edit::Set(parsed("debian")),
        sshkeys: Edit::Set(SshKeys::new(key).unwrap()),
        smbios: Some(smbios),
        digest: Some(parsed("2f5ffd951a2c6c55d3d6ff5b02949c10960f750a")),
        ..VmSettings::default()
    }
}

fn app_clone() -> CloneRequest {
    CloneRequest {
        newid: id(2040),
        name: parsed("tdemo-app"),
        copy: Copying::Full { storage: Some(parsed("vmdata")) },
        target: None,
        pool: None,
        description: Some(parsed("tenant tdemo")),
    }
}

#[tokio::test]
async fn a_workload_is_cloned_configured_and_destroyed() {
    let Some(recorded) = Recorded::open("a_workload_is_cloned_configured_and_destroyed") else { return };
    let (permit, made) = (permit(), "vm-clone-configure");
    let at = recorded.play("nextid", "01-next").await;
    assert_eq!(at.client.next_vmid().await.unwrap(), id(100));
    let at = recorded.play("nextid", "02-taken").await;
    assert!(!at.client.vmid_is_free(id(9000)).await.unwrap());
    at.agrees(false);
    let at = recorded.play("vm-clone-errors", "03-newid-taken").await;
    let error = at.client.vm_clone(&permit, &pve1(), id(9000), &app_clone()).await.unwrap_err();
    assert!(error.already_exists(), "{error:?}");
    let at = recorded.play(made, "01-clone").await;
    let upid = at.client.vm_clone(&permit, &pve1(), id(9000), &app_clone()).await.unwrap();
    assert_eq!((upid.kind.as_str(), upid.id.as_str()), ("qmclone", "9000"));
    at.agrees(false);
    let at = recorded.play(made, "05-configure").await;
    at.client.vm_configure(&permit, &pve1(), id(2040), &app()).await.unwrap();
    at.agrees(false);
    let at = recorded.play(made, "07-digest-mismatch").await;
    let stale = VmSettings { cores: Some(4), digest: app().digest, ..VmSettings::default() };
    let error = at.client.vm_configure(&permit, &pve1(), id(2040), &stale).await.unwrap_err();
    assert!(matches!(error, Error::Modified { .. }), "{error:?}");
    at.agrees(false);
    let at = recorded.play(made, "08-nothing-to-do").await;
    let error = at.client.vm_configure(&permit, &pve1(), id(2040), &VmSettings::default()).await.unwrap_err();
    assert_eq!(error, Error::NothingToDo);
    at.agrees(false);
    let at = recorded.play("vm-config-async", "01-post-config").await;
    let words = VmSettings { description: Edit::Set(parsed("set by POST")), ..VmSettings::default() };
    let upid = at.client.vm_configure_as_task(&permit, &pve1(), id(2040), &words).await.unwrap();
    assert_eq!(upid.unwrap().kind, "qmconfig");
    at.agrees(false);
    let at = recorded.play("vm-bridge-missing", "03-remove-net1").await;
    let without = VmSettings { nets: BTreeMap::from([(1, Edit::Remove)]), ..VmSettings::default() };
    at.client.vm_configure(&permit, &pve1(), id(2040), &without).await.unwrap();
    at.agrees(false);
    let at = recorded.play("vm-resize", "01-grow").await;
    let size = Resize { disk: parsed("scsi0"), size: DiskSize::Total(2), digest: None };
    at.client.vm_resize(&permit, &pve1(), id(2040), &size).await.unwrap();
    at.agrees(false);
    let at = recorded.play("cleanup-order", "02-vm-destroy").await;
    let all = Leftovers { purge: true, unreferenced_disks: true };
    assert_eq!(at.client.vm_destroy(&permit, &pve1(), id(2040), all).await.unwrap().kind, "qmdestroy");
    at.agrees(false);
    let at = recorded.play("vm-lifecycle", "07-destroy-running").await;
    let error = at.client.vm_destroy(&permit, &pve1(), id(2040), Leftovers::default()).await.unwrap_err();
    assert!(matches!(error, Error::VmState { .. }), "{error:?}");
    at.agrees(false);
    let at = recorded.play("vm-locked", "02-config-put").await;
    let cores = VmSettings { cores: Some(2), ..VmSettings::default() };
    let error = at.client.vm_configure(&permit, &parsed("pve2"), id(201), &cores).await.unwrap_err();
    assert!(matches!(&error, Error::VmLocked { lock } if lock == "clone"), "{error:?}");
    at.agrees(false);
}

#[tokio::test]
async fn a_vm_is_started_and_stopped() {
    let Some(recorded) = Recorded::open("a_vm_is_started_and_stopped") else { return };
    let (permit, life) = (permit(), "vm-lifecycle");
    let at = recorded.play(life, "01-start").await;
    at.client.vm_start(&permit, &pve1(), id(2040)).await.unwrap();
    at.agrees(false);
    let at = recorded.play(life, "10-shutdown").await;
    at.client.vm_shutdown(&permit, &pve1(), id(2040), Some(20), false).await.unwrap();
    at.agrees(false);
    let at = recorded.play(life, "11-stop-stopped").await;
    assert_eq!(at.client.vm_stop(&permit, &pve1(), id(2040), false).await.unwrap().kind, "qmstop");
    at.agrees(false);
}

#[tokio::test]
async fn the_ends_of_recorded_tasks_are_understood() {
    let Some(recorded) = Recorded::open("the_ends_of_recorded_tasks_are_understood") else { return };
    let kind = async |scenario: &str, step: &str| {
        let at = recorded.play(scenario, step).await;
        let upid: Upid = at.step["response"]["body"]["data"]["upid"].as_str().unwrap().parse().unwrap();
        match at.client.task_step(&upid).await.unwrap() {
            TaskStep::Ended(TaskEnd::Failed { kind, .. }) => kind,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(kind("vm-locked", "04-start-status-final").await, Some(Error::VmLocked { .. })));
    assert!(matches!(kind("vm-locked", "06-destroy-status-final").await, Some(Error::VmLocked { .. })));
    assert!(matches!(kind("vm-lifecycle", "06-start-running-status-final").await, Some(Error::VmState { .. })));
    assert!(kind("vm-lifecycle", "13-start-missing-status-final").await.unwrap().is_absent());
    assert_eq!(kind("vm-lifecycle", "15-start-fails-status-final").await, None);
    assert_eq!(kind("vm-resize", "04-resize-shrink-status-final").await, Some(Error::DiskShrink));
    assert!(matches!(kind("vm-template-list", "03-start-status-final").await, Some(Error::VmState { .. })));
    let upid: Upid = super::UPID.parse().unwrap();
    for (step, wanted) in
        [("02-clone-status-poll", TaskStep::Running), ("03-clone-status-final", { TaskStep::Ended(TaskEnd::Ok) })]
    {
        let at = recorded.play("vm-clone-configure", step).await;
        assert_eq!(at.client.task_step(&upid).await.unwrap(), wanted);
    }
    let at = recorded.play("sdn-apply", "08-task-wrong-node").await;
    assert!(matches!(at.client.task_step(&upid).await.unwrap(), TaskStep::Vanished { .. }));
}

#[tokio::test]
async fn the_serial_changes_and_the_uuid_stays() {
    let Some(recorded) = Recorded::open("the_serial_changes_and_the_uuid_stays") else { return };
    // A VM that lost its UUID is not written to: a pointer is bound to it.
    let at = recorded.play("vm-smbios1", "04-uuid-is-gone").await;
    let error = at.client.vm_write_serial(&permit(), &pve1(), id(2040), None).await.unwrap_err();
    assert!(matches!(error, Error::BadValue { what: "smbios1", .. }), "{error:?}");
    assert_eq!(at.server.take_seen().len(), 1);
    let at = recorded.play("vm-smbios1", "05-put-back").await;
    let smbios = app().smbios;
    let settings = VmSettings { smbios, ..VmSettings::default() };
    at.client.vm_configure(&permit(), &pve1(), id(2040), &settings).await.unwrap();
    at.agrees(false);
}
