//! Changes of a machine's configuration and of the size of its disks (facts/proxmox.md §10).

use serde_json::{Value, json};

use super::form::{self, Parameter, Rule, TEXT};
use super::guests::{Target, quorum, with};
use super::jobs::{Job, ms};
use super::{Answer, Call, Done, apply, qemu};
use crate::lab::acting::Act;
use crate::lab::http::percent_decode;
use crate::lab::sdn::{Kind, digest_of};
use crate::lab::state::{Guest, Object};

mod forms;

/// Options: name, form, the right that changes it.
const OPTIONS: &[(&str, Rule, &str)] = &[
    ("acpi", Rule::Bool, "Options"),
    ("agent", TEXT, "Options"),
    ("autostart", Rule::Bool, "Options"),
    ("balloon", Rule::Int(0, i64::MAX), "Memory"),
    ("bios", Rule::Word(&["seabios", "ovmf"]), "HWType"),
    ("boot", TEXT, "Options"),
    ("cipassword", TEXT, "Cloudinit"),
    ("citype", Rule::Word(&["configdrive2", "nocloud", "opennebula"]), "Cloudinit"),
    ("ciupgrade", Rule::Bool, "Cloudinit"),
    ("ciuser", TEXT, "Cloudinit"),
    ("cores", Rule::Int(1, i64::MAX), "CPU"),
    ("cpu", TEXT, "CPU"),
    ("cpulimit", TEXT, "CPU"),
    ("cpuunits", Rule::Int(1, 262_144), "CPU"),
    ("description", Rule::Text(8192), "Options"),
    ("hotplug", TEXT, "Options"),
    ("kvm", Rule::Bool, "HWType"),
    ("machine", TEXT, "HWType"),
    ("memory", TEXT, "Memory"),
    ("name", Rule::Own(form::dns_name), "Options"),
    ("nameserver", Rule::Own(form::addresses), "Cloudinit"),
    ("numa", Rule::Bool, "CPU"),
    ("onboot", Rule::Bool, "Options"),
    ("ostype", TEXT, "Options"),
    ("protection", Rule::Bool, "Options"),
    ("rng0", TEXT, "HWType"),
    ("scsihw", TEXT, "HWType"),
    ("searchdomain", TEXT, "Cloudinit"),
    ("smbios1", Rule::Named(forms::smbios), "HWType"),
    ("sockets", Rule::Int(1, i64::MAX), "CPU"),
    ("sshkeys", Rule::Own(forms::urlencoded), "Cloudinit"),
    ("startup", TEXT, "Options"),
    ("tablet", Rule::Bool, "HWType"),
    ("tags", TEXT, "Options"),
    ("vcpus", Rule::Int(1, i64::MAX), "CPU"),
    ("vga", TEXT, "HWType"),
    ("vmgenid", TEXT, "HWType"),
];

/// Options that the lab stores and makes nothing of.
const OTHERS: &[&str] = &[
    "affinity",
    "allow-ksm",
    "amd-sev",
    "arch",
    "args",
    "audio0",
    "bootdisk",
    "cdrom",
    "cicustom",
    "efidisk0",
    "freeze",
    "hookscript",
    "hugepages",
    "intel-tdx",
    "ivshmem",
    "keephugepages",
    "keyboard",
    "localtime",
    "lock",
    "migrate_downtime",
    "migrate_speed",
    "reboot",
    "shares",
    "smp",
    "spice_enhancements",
    "startdate",
    "tdf",
    "template",
    "tpmstate0",
    "vmstatestorage",
    "watchdog",
];

/// Options with a number behind their name.
const NUMBERED: &[(&str, Rule, &str)] = &[
    ("hostpci", TEXT, "HWType"),
    ("ide", TEXT, "Disk"),
    ("ipconfig", Rule::Named(forms::ipconfig), "Cloudinit"),
    ("net", Rule::Named(forms::net), "Network"),
    ("numa", TEXT, "CPU"),
    ("parallel", TEXT, "HWType"),
    ("sata", TEXT, "Disk"),
    ("scsi", TEXT, "Disk"),
    ("serial", TEXT, "HWType"),
    ("unused", TEXT, "Disk"),
    ("usb", TEXT, "HWType"),
    ("virtio", TEXT, "Disk"),
    ("virtiofs", TEXT, "Options"),
];

/// Parameters that are no options.
const CONTROLS: &[Parameter] = &[
    ("delete", TEXT, false),
    ("digest", Rule::Text(40), false),
    ("force", Rule::Bool, false),
    ("revert", TEXT, false),
    ("skiplock", Rule::Bool, false),
];

/// What a running machine takes over at once.
const AT_ONCE: &[&str] = &["description", "name", "onboot", "protection", "startup", "tags"];

/// The rights of which one has to be there.
const ANY: &str = "VM.Config.Disk|VM.Config.CDROM|VM.Config.CPU|VM.Config.Memory|VM.Config.Network|VM.Config.HWType|\
                   VM.Config.Options|VM.Config.Cloudinit";

/// Form and right of an option.
fn option(name: &str) -> Option<(Rule, &'static str)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = NUMBERED.iter().find(|(key, ..)| *key == stem && stem.len() < name.len());
    let known = OPTIONS.iter().find(|(key, ..)| *key == name).or(numbered).map(|(_, rule, right)| (*rule, *right));
    known.or_else(|| OTHERS.contains(&name).then_some((TEXT, "HWType")))
}

/// A change of a configuration that has been looked at.
#[derive(Clone)]
struct Change {
    set: Object,
    gone: Vec<String>,
    back: Vec<String>,
}

/// `PUT config`: done when it answers.
pub(super) fn put(call: &Call<'_>, target: Target<'_>) -> Done {
    let change = look(call, target, &[])?;
    let mut act = Act::default();
    let vmid = target.number;
    act.now(move |world, _| with(world, vmid, |guest| change.apply(guest)));
    Ok((Value::Null, act))
}

/// `POST config`: the same as a task, or `null` where it ends within the delay.
pub(super) fn post(call: &Call<'_>, target: Target<'_>) -> Done {
    let more = [("background_delay", Rule::Int(1, 30), false), ("import-working-storage", TEXT, false)];
    let change = look(call, target, &more)?;
    let mut act = Act::default();
    let vmid = target.number;
    let job = Job::begin(call, &mut act, target.node, "qmconfig", target.vmid);
    let upid = json!(job.upid());
    if call.param("background_delay").is_some() {
        act.now(move |world, now| {
            with(world, vmid, |guest| change.apply(guest));
            job.end(world, now, "OK");
        });
        return Ok((Value::Null, act));
    }
    act.after(ms::CONFIG, move |world, now| {
        with(world, vmid, |guest| change.apply(guest));
        job.end(world, now, "OK");
    });
    Ok((upid, act))
}

fn look(call: &Call<'_>, target: Target<'_>, more: &[Parameter]) -> Result<Change, Answer> {
    let path = format!("/vms/{}", target.vmid);
    if !ANY.split('|').any(|right| call.may(right)) {
        return Err(Answer::forbidden(&path, ANY));
    }
    target.enter(call, "VM.Audit")?;
    form::checked(call, &[CONTROLS, more].concat(), |name| option(name).map(|(rule, _)| rule))?;
    if call.param("skiplock").is_some() {
        return Err(Answer::parameter(json!({"skiplock": "Only root may use this option."})));
    }
    let list = |name: &str| -> Vec<String> {
        call.param(name).map_or_else(Vec::new, |list| list.split([',', ' ', ';']).map(str::to_owned).collect())
    };
    let (gone, back) = (list("delete"), list("revert"));
    let given = call.query.iter().filter_map(|(name, value)| Some((name, value, option(name)?)));
    let given: Vec<_> = given.collect();
    if given.is_empty() && gone.is_empty() && back.is_empty() {
        return Err(Answer::failed("no options specified"));
    }
    if call.param("sshkeys").is_some_and(|keys| !forms::are_keys(&percent_decode(keys))) {
        return Err(Answer::failed("SSH public key validation error"));
    }
    for name in &gone {
        if option(name).is_none() {
            return Err(Answer::parameter(json!({"delete": format!("unknown option '{name}'")})));
        }
        if call.param(name).is_some() {
            let text = format!("you can't use '-{name}' and -delete {name}' at the same time");
            return Err(Answer::parameter(json!({ "delete": text })));
        }
    }
    let named = given.iter().map(|(name, ..)| name.as_str()).chain(gone.iter().map(String::as_str));
    for right in named.filter_map(|name| option(name).map(|(_, right)| right)) {
        apply::need(call, &path, &format!("VM.Config.{right}"))?;
    }
    for (_, value, _) in given.iter().filter(|(name, ..)| name.starts_with("net")) {
        bridge(call, value)?;
    }
    let guest = target.guest(call.world).map_err(|text| Answer::failed(&text))?;
    if call.param("digest").is_some_and(|digest| qemu::digest(guest) != digest) {
        return Err(Answer::failed("checksum mismatch (file change by other user?)"));
    }
    target.unlocked(call.world).map_err(|text| Answer::failed(&text))?;
    quorum(call)?;
    let seed = format!("card {} {}", target.vmid, call.now_ms);
    let set = given.into_iter().map(|(name, value, (rule, _))| (name.clone(), stored(call, name, value, rule, &seed)));
    Ok(Change { set: set.collect(), gone, back })
}

/// Whoever puts a card on a VNet needs the right to use it; whether it exists is nobody's business (§10).
fn bridge(call: &Call<'_>, card: &str) -> Result<(), Answer> {
    let Some(bridge) = card.split(',').find_map(|part| part.strip_prefix("bridge=")) else { return Ok(()) };
    let zone = call.world.sdn.running.text(Kind::Vnet, bridge, "zone").unwrap_or_else(|| "localnetwork".to_owned());
    apply::need(call, &format!("/sdn/zones/{zone}/{bridge}"), "SDN.Use")
}

/// A value as the configuration holds it.
fn stored(call: &Call<'_>, name: &str, value: &str, rule: Rule, seed: &str) -> Value {
    match name {
        "cipassword" => json!(format!("$5${}", digest_of(value))),
        "tags" => json!(value.replace([',', ' '], ";")),
        _ if name.starts_with("net") => {
            let bits = call.world.number(&format!("{seed} {name}"));
            json!(forms::with_mac(value, bits))
        }
        _ => rule.stored(value),
    }
}

impl Change {
    /// Changes the configuration, or what waits for a cold start where the machine runs.
    fn apply(&self, guest: &mut Guest) {
        let later = |name: &str| !AT_ONCE.contains(&name) && !name.starts_with("net");
        let runs = guest.started.is_some();
        for name in &self.back {
            guest.pending.shift_remove(name);
        }
        for (name, value) in &self.set {
            guest.pending.shift_remove(name);
            if guest.config.get(name) == Some(value) {
                continue;
            }
            let place = if runs && later(name) { &mut guest.pending } else { &mut guest.config };
            place.insert(name.clone(), value.clone());
        }
        for name in &self.gone {
            guest.pending.shift_remove(name);
            if !guest.config.contains_key(name) {
                continue;
            }
            if runs && later(name) {
                guest.pending.insert(name.clone(), Value::Null);
            } else {
                guest.config.shift_remove(name);
            }
        }
    }
}

/// `PUT resize`: whether it can be done shows in the task.
pub(super) fn resize(call: &Call<'_>, target: Target<'_>) -> Done {
    target.enter(call, "VM.Config.Disk")?;
    form::check(
        call,
        &[
            ("digest", Rule::Text(40), false),
            ("disk", Rule::Own(forms::disk), true),
            ("size", Rule::Own(forms::size), true),
            ("skiplock", Rule::Bool, false),
        ],
    )?;
    let (disk, wanted) = (call.param("disk").unwrap_or_default(), call.param("size").unwrap_or_default());
    let mut act = Act::default();
    let job = Job::begin(call, &mut act, target.node, "resize", target.vmid);
    let upid = json!(job.upid());
    let grown = target.unlocked(call.world).and_then(|guest| {
        if call.param("digest").is_some_and(|digest| qemu::digest(guest) != digest) {
            return Err("checksum mismatch (file change by other user?)".to_owned());
        }
        let value = guest.text(disk).ok_or_else(|| format!("disk '{disk}' does not exist"))?;
        let size = forms::grown(&value, wanted, guest.disk)?;
        if call.world.writing.storage_full {
            return Err("lvextend error: insufficient free space in thin pool pve/data".to_owned());
        }
        Ok((forms::with_size(&value, size), size))
    });
    let (value, size) = match grown {
        Ok(grown) => grown,
        Err(text) => {
            job.fails(&mut act, &text);
            return Ok((upid, act));
        }
    };
    let (vmid, disk) = (target.number, disk.to_owned());
    act.after(ms::RESIZE, move |world, now| {
        with(world, vmid, |guest| {
            guest.config.insert(disk.clone(), json!(value));
            guest.disk = size;
        });
        job.end(world, now, "OK");
    });
    Ok((upid, act))
}
