//! A workload by plan, against the lab: made, made anew, grown, switched, removed.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

mod change_common;
#[path = "change_common/workload.rs"]
mod workload;

use change_common::Bench;
use deevnet_console::backends::proxmox::model::AgentState;
use deevnet_console::provision::approve::{ApprovedPlan, Consent, Refusal};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::Closing;
use deevnet_console::provision::plan::Question;
use deevnet_console::provision::plans::workload::{
    Size, Switch, Workload, create, delete, numbers, power, replace, resize, stays,
};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::undo::way_back;
use serde_json::json;
use workload::{bench, early, workload};

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJjbbdP/RJQAq9NUE8ZINFCcchqmHAKUcKO1zdb5aNT3 ops@deevnet.example";

fn web() -> Workload {
    Workload { ssh_keys: Some(format!("# ours\n{KEY}\n")), disk_gib: Some(40), ..workload("web") }
}

async fn made(bench: &Bench) -> u32 {
    assert_eq!(bench.run(bench.create(&web()).await).await, Ended::Done);
    bench.vmid("tdemo-web").await
}

#[tokio::test]
async fn a_workload_is_made_once_and_taken_back() {
    let bench = bench().await;
    let plan = bench.create(&web()).await;
    let of = numbers(&bench.world.site, &plan).unwrap();
    let before = bench.look(plan.clone()).await;
    assert_eq!(before.question(), Question::Yes);
    assert!(plan.steps[0].object.ensure().name().ends_with("from fedora-tenant-44-1.10"), "{:?}", plan.steps[0]);
    assert_eq!(bench.run(plan).await, Ended::Done);
    assert_eq!(bench.closed(), Some(Closing::Done));
    let made = bench.newest();
    bench.is_whole(&web()).await;

    let vmid = bench.vmid("tdemo-web").await;
    assert_eq!((vmid, of.address.to_string()), (of.vmid, format!("10.20.129.{}", 10 + of.ordinal)));
    let config = bench.config(vmid).await;
    assert_eq!((config.cores, config.memory_mib, config.agent, config.onboot), (Some(2), Some(2048), true, true));
    let net = &config.nets[&0];
    let mac = bench.world.site.numbering.mac(vmid).unwrap().to_string();
    assert_eq!((net.mac.as_deref(), net.bridge.as_deref()), (Some(mac.as_str()), Some("tdemo0")));
    assert_eq!(config.raw["ipconfig0"], format!("ip={}/24,gw=10.20.129.1", of.address));
    assert_eq!((config.nameserver.as_deref(), config.tags.len()), (Some("10.20.50.1"), 2));
    assert!(config.raw["sshkeys"].contains("%20") && !config.raw["sshkeys"].contains('+'), "{config:?}");
    assert!(config.raw["scsi0"].contains("local-lvm:") && config.raw["scsi0"].contains("size=40G"), "{config:?}");
    let node = &bench.world.site.proxmox.node;
    assert_eq!(bench.client().agent_state(node, vmid).await.unwrap(), AgentState::Answers);
    let smbios = bench.client().vm_smbios(&node.parse().unwrap(), vmid.try_into().unwrap()).await.unwrap().smbios;
    let pointer = format!("dvb1;u={};n=tdemo/web", bench.lab.bootstrap_url().unwrap());
    assert_eq!((smbios.uuid().is_some(), smbios.serial()), (true, Some(pointer.as_bytes())));

    let back = way_back(&bench.journal.read(made).unwrap());
    assert!(back.left.is_empty(), "{:?}", back.left);
    assert_eq!(back.plan.steps.len(), 1, "what was done in it goes with it");
    assert!(matches!(bench.look(back.plan.clone()).await.question(), Question::Name(_)));
    assert_eq!(bench.run(back.plan).await, Ended::Done);
    assert_eq!(bench.look(bench.create(&web()).await).await.looks, before.looks, "as it was");
    bench.end().await;
}

#[tokio::test]
async fn what_a_vm_that_is_there_differs_in_is_set_and_taken_back() {
    let bench = bench().await;
    let vmid = made(&bench).await;
    bench.edit(|world| {
        let guest = world.guests.get_mut(&vmid).unwrap();
        guest.config.insert("nameserver".to_owned(), json!("10.20.25.21"));
        guest.config.insert("tags".to_owned(), json!("backup;tdemo;tenant"));
        guest.config.insert("cores".to_owned(), json!(8));
    });
    let plan = bench.create(&web()).await;
    let preview = bench.look(plan.clone()).await;
    let todo: Vec<_> = preview.looks.iter().flat_map(|look| look.as_ref().unwrap().todo.changes()).collect();
    assert_eq!(todo.len(), 1, "tags of others and a size that nobody asked for stay: {todo:?}");
    assert_eq!(bench.run(plan).await, Ended::Done);
    assert!(bench.told().contains("nameserver takes a restart"), "{}", bench.told());
    let back = way_back(&bench.journal.read(bench.newest()).unwrap());
    assert_eq!(bench.run(back.plan).await, Ended::Done);
    assert_eq!(bench.config(vmid).await.nameserver.as_deref(), Some("10.20.25.21"));
    bench.end().await;
}

#[tokio::test]
async fn what_cannot_be_removed_is_refused_before_anything_is_done() {
    let bench = bench().await;
    made(&bench).await;
    let delete = async || {
        let (tenant, name) = ("tdemo".parse().unwrap(), "web".parse().unwrap());
        deevnet_console::provision::plans::workload::delete(&bench.world, &tenant, &name).await
    };
    bench.lab.fault_on("pve-no-quorum").unwrap();
    let told = delete().await.err().map(|trouble| trouble.text).unwrap_or_default();
    assert!(told.contains("no quorum"), "{told}");
    bench.lab.fault_off("pve-no-quorum").unwrap();
    bench.end().await;
}

#[tokio::test]
async fn a_successor_is_not_taken_back_with_the_one_that_was_made() {
    let bench = bench().await;
    assert_eq!(bench.run(bench.create(&web()).await).await, Ended::Done);
    let made = bench.newest();
    let vmid = bench.vmid("tdemo-web").await;
    assert_eq!(bench.run(replace(&bench.world, &web()).await.unwrap()).await, Ended::Done);
    let back = way_back(&bench.journal.read(made).unwrap());
    let refused = bench.approved(bench.look(back.plan).await).unwrap_err().to_string();
    assert!(refused.contains("not as the change left it: uuid was"), "{refused}");
    assert_eq!(bench.vmid("tdemo-web").await, vmid);
    // The one that was made last can be.
    let back = way_back(&bench.journal.read(bench.newest()).unwrap());
    assert_eq!(bench.run(back.plan).await, Ended::Done);
    bench.end().await;
}

#[tokio::test]
async fn a_workload_is_made_anew_with_its_number_and_settings() {
    let bench = bench().await;
    let vmid = made(&bench).await;
    let before = bench.config(vmid).await;
    let plan = replace(&bench.world, &workload("web")).await.unwrap();
    let preview = bench.look(plan.clone()).await;
    assert!(matches!(preview.question(), Question::Name(_)));
    let consent = Consent::Flags { write: true, yes: true, confirm: Some("web".to_owned()) };
    let refused = ApprovedPlan::of(preview, &bench.world.site, &consent, (bench.world.clock)());
    assert!(matches!(refused, Err(Refusal::NameNeeded { .. })), "the whole name has to be typed");
    assert_eq!(bench.run(plan.clone()).await, Ended::Done);
    assert_eq!(bench.vmid("tdemo-web").await, vmid);
    let after = bench.config(vmid).await;
    assert_ne!(after.smbios_uuid, before.smbios_uuid, "another machine");
    for key in ["cores", "memory", "net0", "ipconfig0", "sshkeys", "ciuser"] {
        assert_eq!(after.raw.get(key), before.raw.get(key), "{key}");
    }
    assert!(after.raw["scsi0"].contains("size=40G"), "as large as it was: {after:?}");
    // The same plan again finds that the machine it was made for is gone, and leaves its successor alone.
    assert!(bench.look(plan.clone()).await.is_empty());
    assert_eq!(bench.run(plan).await, Ended::Done);
    assert_eq!(bench.config(vmid).await.smbios_uuid, after.smbios_uuid);
    bench.end().await;
}

#[tokio::test]
async fn a_workload_is_removed_and_never_another_of_its_number() {
    let bench = bench().await;
    let vmid = made(&bench).await;
    let wanted = workload("web");
    let plan = delete(&bench.world, &wanted.tenant, &wanted.name).await.unwrap();
    assert!(stays(&numbers(&bench.world.site, &plan).unwrap()).iter().any(|line| line.contains("free at once")));
    let preview = bench.look(plan.clone()).await;
    assert!(matches!(preview.question(), Question::Name(why) if why.contains("cannot be brought back")));
    let approved = bench.approved(preview).unwrap();
    // It is renamed after the plan was approved.
    bench
        .edit(|world| drop(world.guests.get_mut(&vmid).unwrap().config.insert("name".to_owned(), json!("orchard-db"))));
    let (_, kind, text, _) = early(bench.engine(approved, None).await);
    assert_eq!(kind, TroubleKind::Refused);
    assert!(text.contains("is VM orchard-db, not tdemo-web"), "{text}");
    assert_eq!(bench.config(vmid).await.name.as_deref(), Some("orchard-db"), "it is still there");
    bench.edit(|world| drop(world.guests.get_mut(&vmid).unwrap().config.insert("name".to_owned(), json!("tdemo-web"))));
    assert_eq!(bench.run(plan.clone()).await, Ended::Done);
    assert_eq!(bench.vms().await.len(), 1);
    assert!(bench.look(plan).await.is_empty());
    let again = delete(&bench.world, &wanted.tenant, &wanted.name).await.unwrap();
    assert!(again.steps.is_empty(), "nothing is to be done: {again:?}");
    bench.end().await;
}

#[tokio::test]
async fn a_running_workload_grows_and_is_told_what_takes_a_restart() {
    let bench = bench().await;
    let vmid = made(&bench).await;
    let wanted = workload("web");
    let more = |size| resize(&bench.world, &wanted.tenant, &wanted.name, size);
    let smaller = more(Size { disk_gib: Some(30), ..Size::default() }).await.unwrap_err();
    assert!(smaller.text.contains("30G is asked for, and scsi0 has 40G: disks only grow"), "{smaller}");
    assert!(more(Size::default()).await.unwrap_err().text.contains("no new size"));

    let plan = more(Size { cores: Some(4), memory_mib: Some(4096), disk_gib: Some(50), restart: None }).await.unwrap();
    assert_eq!(bench.run(plan.clone()).await, Ended::Done);
    assert!(bench.told().contains("cores, memory takes a restart"), "{}", bench.told());
    assert!(bench.config(vmid).await.raw["scsi0"].contains("size=50G"));
    assert!(bench.look(plan).await.is_empty());
    let node = bench.world.site.proxmox.node.clone();
    let waiting = bench.client().vm_pending(&node, vmid).await.unwrap();
    assert_eq!(waiting.iter().filter(|option| option.pending.is_some()).count(), 2);

    let plan = more(Size { cores: Some(4), restart: Some(60), ..Size::default() }).await.unwrap();
    assert_eq!(bench.run(plan).await, Ended::Done);
    let waiting = bench.client().vm_pending(&node, vmid).await.unwrap();
    assert_eq!(waiting.iter().filter(|option| option.pending.is_some()).count(), 0, "in force: {waiting:?}");
    bench.end().await;
}

#[tokio::test]
async fn a_system_that_does_not_shut_down_is_never_stopped_hard_by_itself() {
    let bench = bench().await;
    let vms = bench.vms().await;
    let name = vms[0].name.clone().unwrap();
    let wanted = workload(name.strip_prefix("tdemo-").unwrap());
    let to = |switch| power(&bench.world, &wanted.tenant, &wanted.name, switch);
    let status = async || bench.vms().await[0].status.clone();
    bench.lab.fault_on("shutdown-ignored@tdemo").unwrap();
    let plan = to(Switch::Shutdown(5)).await.unwrap();
    assert_eq!(bench.look(plan.clone()).await.question(), Question::PlanYes);
    let (_, kind, text, help) = early(bench.run(plan.clone()).await);
    assert_eq!(kind, TroubleKind::Refused);
    assert!(text.contains("did not shut down in its time") && help.contains("stop it hard"), "{text} {help}");
    assert_eq!(status().await, "running");
    assert_eq!(bench.run(to(Switch::Stop).await.unwrap()).await, Ended::Done);
    assert_eq!(status().await, "stopped");
    bench.lab.fault_off("shutdown-ignored@tdemo").ok();
    assert!(bench.look(plan).await.is_empty());
    assert_eq!(bench.run(to(Switch::Start).await.unwrap()).await, Ended::Done);
    assert_eq!(bench.run(to(Switch::Shutdown(60)).await.unwrap()).await, Ended::Done);
    assert_eq!(status().await, "stopped");
    let before = bench.journal.ids().unwrap();
    let why = to(Switch::Reboot(60)).await.unwrap_err();
    assert!(why.kind == TroubleKind::Refused && why.text.contains("does not run"), "{why:?}");
    assert_eq!(bench.journal.ids().unwrap(), before, "no change is begun for it");
    bench.end().await;
}

#[tokio::test]
async fn a_name_or_number_of_somebody_else_is_left_alone() {
    let bench = bench().await;
    let plan = bench.create(&web()).await;
    let of = numbers(&bench.world.site, &plan).unwrap();
    let other = bench.vms().await[0].vmid;
    bench.edit(|world| {
        let mut guest = world.guests[&other].clone();
        guest.config.insert("name".to_owned(), json!("orchard-db"));
        world.guests.insert(of.vmid, guest);
    });
    // The plan that was made before does not run; a new one takes the next number.
    let preview = bench.look(plan.clone()).await;
    assert!(
        preview.untold().any(|(_, why)| why.text.contains("is VM orchard-db, not tdemo-web")),
        "{:?}",
        preview.looks
    );
    assert!(matches!(bench.approved(preview), Err(Refusal::Untold { .. })));
    let next = bench.create(&web()).await;
    assert_eq!(numbers(&bench.world.site, &next).unwrap().vmid, of.vmid + 1);

    // The same on another node of the cluster, and what no list shows.
    let elsewhere = bench.world.site.proxmox.node.clone();
    bench.edit(|world| {
        let node = world.nodes.iter().find(|node| node.name != elsewhere).unwrap().name.clone();
        world.guests.get_mut(&of.vmid).unwrap().node = node;
    });
    let preview = bench.look(plan).await;
    assert!(preview.untold().any(|(_, why)| why.text.contains("it is orchard-db on ")), "{:?}", preview.looks);

    // A VM of the workload's name under a number that is not the tenant's.
    bench.edit(|world| {
        let guest = world.guests.get_mut(&of.vmid).unwrap();
        guest.config.insert("name".to_owned(), json!("tdemo-web"));
        let guest = world.guests.remove(&of.vmid).unwrap();
        world.guests.insert(150, guest);
    });
    let why = create(&bench.world, &web()).await.unwrap_err();
    assert!(
        why.text.contains("VM 150 is called tdemo-web, and its number is none of the tenant's (2040–2079)"),
        "{why}"
    );
    bench.end().await;
}
