//! `POST /nodes/{node}/qemu/{vmid}/clone` (facts/proxmox.md §10).

use serde_json::json;

use super::form::{self, NUMBER, Parameter, Rule, TEXT};
use super::guests::{Target, quorum};
use super::jobs::{Job, ms};
use super::{Answer, Call, Done};
use crate::lab::acting::Act;
use crate::lab::build::uuid;
use crate::lab::sdn::scalar;
use crate::lab::state::{Guest, Object, Storage, World};
use crate::lab::{insert, object};

const PARAMETERS: &[Parameter] = &[
    ("bwlimit", NUMBER, false),
    ("description", TEXT, false),
    ("format", Rule::Word(&["raw", "qcow2", "vmdk"]), false),
    ("full", Rule::Bool, false),
    ("name", Rule::Own(form::dns_name), false),
    ("newid", Rule::Int(100, 999_999_999), true),
    ("pool", TEXT, false),
    ("snapname", Rule::Text(40), false),
    ("storage", TEXT, false),
    ("target", Rule::Own(form::nodes), false),
];

pub(super) fn clone(call: &Call<'_>, source: Target<'_>) -> Done {
    source.enter(call, "VM.Clone")?;
    let newid = call.param("newid").unwrap_or_default();
    super::apply::need(call, &format!("/vms/{newid}"), "VM.Allocate")?;
    form::check(call, PARAMETERS)?;
    let failed = |text: &str| Answer::failed(text);
    quorum(call)?;
    let guest = source.unlocked(call.world).map_err(|text| failed(&text))?;
    let full = call.param("full").map_or(!guest.template, |full| full == "1");
    if let Some(name) = ["storage", "format"].iter().find(|name| !full && call.param(name).is_some()) {
        return Err(failed(&format!("parameter '{name}' not allowed for linked clones")));
    }
    let storage = storage(call, guest)?;
    let node = call.param("target").unwrap_or(source.node);
    if call.world.node(node).is_none() {
        return Err(failed(&format!("no such cluster node '{node}'")));
    }
    if node != source.node && storage.is_none_or(|storage| !storage.shared) {
        let name = storage.map_or("", |storage| storage.name.as_str());
        return Err(failed(&format!("can't clone to non-shared storage '{name}'")));
    }
    let number: u32 = newid.parse().unwrap_or_default();
    if call.world.guests.contains_key(&number) {
        return Err(failed(&format!("unable to create VM {newid}: config file already exists")));
    }
    let mut act = Act::default();
    let job = Job::begin(call, &mut act, source.node, "qmclone", source.vmid);
    let upid = json!(job.upid());
    let made = copy(call, guest, node, number, (full, storage));
    // It is there from the beginning, locked and without anything in it.
    let holder = Guest { config: placeholder(), ..Guest { node: node.to_owned(), ..Guest::default() } };
    act.now(move |world, _| drop(world.guests.insert(number, holder.clone())));
    let ms = if full { ms::FULL } else { ms::LINKED };
    if let Some(why) = trouble(call.world, number, full) {
        act.after(ms / 2, move |world, now| {
            world.guests.remove(&number);
            job.end(world, now, &format!("clone failed: {why}"));
        });
        return Ok((upid, act));
    }
    act.after(ms, move |world, now| {
        if world.guests.contains_key(&number) {
            world.guests.insert(number, made.clone());
        }
        job.end(world, now, "OK");
    });
    Ok((upid, act))
}

/// What stands in the way of a copy, as the task's end says it.
fn trouble(world: &World, vmid: u32, full: bool) -> Option<String> {
    let disk = format!("vm-{vmid}-disk-0");
    if world.writing.storage_full && full {
        return Some(format!(
            "lvcreate 'pve/{disk}' error:   Cannot create new thin volume, free space in thin pool pve/data reached threshold."
        ));
    }
    let copy = format!("/usr/bin/qemu-img convert -p -n -f raw -O raw /dev/pve/{disk}");
    world.writing.clone_fails.then(|| format!("copy failed: command '{copy}' failed: exit code 1"))
}

fn placeholder() -> Object {
    object(json!({"lock": "clone", "description": " qmclone temporary file"}))
}

/// Where the disks go: as asked for, else where they are.
fn storage<'w>(call: &Call<'w>, guest: &Guest) -> Result<Option<&'w Storage>, Answer> {
    let own = disks(guest).find_map(|(_, disk)| Some(disk.split_once(':')?.0.to_owned()));
    let Some(name) = call.param("storage").map(str::to_owned).or(own) else { return Ok(None) };
    super::apply::need(call, &format!("/storage/{name}"), "Datastore.AllocateSpace")?;
    match call.world.storages.iter().find(|storage| storage.name == name) {
        Some(storage) => Ok(Some(storage)),
        None => Err(Answer::failed(&format!("storage '{name}' does not exist"))),
    }
}

/// Keys and values of a machine's disks.
fn disks(guest: &Guest) -> impl Iterator<Item = (&String, String)> {
    let disk = |key: &str| {
        let bus = key.trim_end_matches(|c: char| c.is_ascii_digit());
        bus.len() < key.len() && ["scsi", "ide", "sata", "virtio"].contains(&bus)
    };
    guest.config.iter().filter(move |(key, _)| disk(key)).map(|(key, value)| (key, scalar(value)))
}

/// The machine as it is when the clone has ended.
fn copy(call: &Call<'_>, source: &Guest, node: &str, vmid: u32, (full, storage): (bool, Option<&Storage>)) -> Guest {
    let world = call.world;
    let mut config = source.config.clone();
    for key in ["template", "lock", "description", "snapshots"] {
        config.shift_remove(key);
    }
    let name = call
        .param("name")
        .map_or_else(|| format!("Copy-of-VM-{}", source.text("name").unwrap_or_default()), str::to_owned);
    insert(&mut config, "name", json!(name));
    if let Some(description) = call.param("description") {
        insert(&mut config, "description", json!(description));
    }
    for (key, disk) in disks(source) {
        let base = (!full).then(|| disk.split_once(':').map_or("", |(_, volume)| volume));
        insert(&mut config, key, json!(volume(&disk, vmid, storage, base)));
    }
    let seed = format!("clone {vmid} {}", call.now_ms);
    for key in source.config.keys().filter(|key| key.starts_with("net")) {
        let bits = world.number(&format!("{seed} {key}"));
        let mac = format!("BC:24:11:{:02X}:{:02X}:{:02X}", bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff);
        let card = source.text(key).unwrap_or_default();
        let (first, rest) = card.split_once(',').unwrap_or((card.as_str(), ""));
        let model = first.split('=').next().unwrap_or("virtio");
        let comma = if rest.is_empty() { "" } else { "," };
        insert(&mut config, key, json!(format!("{model}={mac}{comma}{rest}")));
    }
    // The other fields of smbios1 are kept (§10).
    let smbios = source.text("smbios1").unwrap_or_default();
    let kept = smbios.split(',').filter(|part| !part.is_empty() && !part.starts_with("uuid="));
    let parts: Vec<String> = std::iter::once(format!("uuid={}", uuid(world, &format!("{seed} smbios"))))
        .chain(kept.map(str::to_owned))
        .collect();
    insert(&mut config, "smbios1", json!(parts.join(",")));
    insert(&mut config, "vmgenid", json!(uuid(world, &format!("{seed} genid"))));
    let pool = call.param("pool").map(str::to_owned);
    Guest { node: node.to_owned(), config, disk: source.disk, pool, ..Guest::default() }
}

/// A disk's volume under another number; linked ones name their base before them.
fn volume(disk: &str, vmid: u32, storage: Option<&Storage>, base: Option<&str>) -> String {
    let (file, options) = disk.split_once(',').unwrap_or((disk, ""));
    let (of, old) = file.split_once(':').unwrap_or(("", file));
    let end = if old.contains("cloudinit") { "cloudinit" } else { "disk-0" };
    let name = storage.map_or(of, |storage| storage.name.as_str());
    let files = storage.is_some_and(|storage| matches!(storage.plugin.as_str(), "dir" | "nfs" | "cifs"));
    let kind = old.rsplit_once('.').map_or("raw", |(_, kind)| kind);
    let volume = if files { format!("{vmid}/vm-{vmid}-{end}.{kind}") } else { format!("vm-{vmid}-{end}") };
    let base = base.filter(|_| end != "cloudinit").and_then(|base| base.split(',').next());
    let before = base.map(|base| format!("{base}/")).unwrap_or_default();
    let comma = if options.is_empty() { "" } else { "," };
    format!("{name}:{before}{volume}{comma}{options}")
}
