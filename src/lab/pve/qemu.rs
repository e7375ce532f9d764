//! `/nodes/{node}/qemu/…` (facts/proxmox.md §10).

use serde_json::{Value, json};

use super::{Answer, Call, Outcome, Shape, cloudinit};
use crate::lab::sdn::{digest_of, scalar};
use crate::lab::state::{Guest, Object};
use crate::lab::{insert, object};

/// Keys cloud-init is made from, as `GET cloudinit` lists them; `ipconfigN` is never among them.
const CLOUDINIT: &[&str] = &["cipassword", "ciuser", "nameserver", "searchdomain", "sshkeys"];

/// A guest's numbers at one moment.
pub(super) struct Live {
    pub(super) status: &'static str,
    pub(super) uptime: i64,
    pub(super) cpu: f64,
    pub(super) cores: u64,
    pub(super) memory: u64,
    pub(super) memory_used: u64,
    pub(super) net_in: u64,
    pub(super) net_out: u64,
    pub(super) disk_read: u64,
    pub(super) disk_write: u64,
    running: bool,
}

impl Live {
    /// Reads them off.
    pub(super) fn of(call: &Call<'_>, vmid: u32, guest: &Guest) -> Self {
        let number = |key: &str, otherwise: u64| guest.text(key).and_then(|t| t.parse().ok()).unwrap_or(otherwise);
        let memory = number("memory", 512) * 1_048_576;
        let running = guest.started.is_some();
        let uptime = guest.started.map_or(0, |start| (call.now - start).max(0));
        let grown = |text: &str, rate: u64| {
            let age = u64::try_from(uptime).unwrap_or(0);
            (call.world.number(&format!("{text} {vmid}")) % rate + rate / 4) * age / 60
        };
        let share = call.world.number(&format!("mem {vmid}")) % 60 + 20;
        Self {
            status: if running { "running" } else { "stopped" },
            uptime,
            cpu: if running { call.world.cpu(vmid, call.now) } else { 0.0 },
            cores: number("cores", 1) * number("sockets", 1),
            memory,
            memory_used: if running { memory / 100 * share } else { 0 },
            net_in: grown("in", 90_000),
            net_out: grown("out", 40_000),
            disk_read: grown("read", 20_000),
            disk_write: grown("write", 60_000),
            running,
        }
    }
}

pub(super) fn route(call: &Call<'_>, node: &str, path: &[&str]) -> Option<Outcome> {
    Some(match path {
        [] => list(call, node),
        [vmid, "config"] => config(call, node, vmid),
        [vmid, "pending"] => pending(call, node, vmid),
        [vmid, "status", "current"] => current(call, node, vmid),
        [vmid, "cloudinit"] => cloudinit(call, node, vmid),
        [vmid, "cloudinit", "dump"] => cloudinit_dump(call, node, vmid),
        [vmid, "agent", "exec-status"] => agent_exec_status(call, node, vmid),
        [vmid, "agent", "network-get-interfaces"] => agent_interfaces(call, node, vmid),
        _ => return None,
    })
}

fn find<'a>(call: &Call<'a>, name: &str, vmid: &str) -> Result<(u32, &'a Guest), Answer> {
    call.node(name)?;
    let Ok(number) = vmid.parse::<u32>() else {
        return Err(Answer::parameter(json!({"vmid": format!("type check ('integer') failed - got '{vmid}'")})));
    };
    if !call.may("VM.Audit") {
        return Err(Answer::forbidden(&format!("/vms/{vmid}"), "VM.Audit"));
    }
    match call.world.guests.get(&number) {
        Some(guest) if guest.node == name => Ok((number, guest)),
        _ => Err(Answer::failed(&format!("Configuration file 'nodes/{name}/qemu-server/{vmid}.conf' does not exist"))),
    }
}

/// The name in lists: a machine without one goes by its number.
pub(super) fn shown_name(vmid: u32, guest: &Guest) -> String {
    guest.text("name").unwrap_or_else(|| format!("VM {vmid}"))
}

/// What lists and `status/current` share.
fn row(call: &Call<'_>, vmid: u32, guest: &Guest) -> Object {
    let live = Live::of(call, vmid, guest);
    let mut row =
        object(json!({"vmid": vmid, "name": shown_name(vmid, guest), "status": live.status, "uptime": live.uptime,
        "cpu": live.cpu, "cpus": live.cores, "mem": live.memory_used, "maxmem": live.memory,
        "memhost": live.memory_used, "disk": 0, "maxdisk": guest.disk, "netin": live.net_in, "netout": live.net_out}));
    if live.running {
        insert(&mut row, "pid", json!(call.world.number(&format!("pid {vmid}")) % 90_000 + 2000));
        for pressure in ["cpusome", "cpufull", "memorysome", "memoryfull", "iosome", "iofull"] {
            insert(&mut row, &format!("pressure{pressure}"), json!(0));
        }
    }
    if guest.template {
        insert(&mut row, "template", json!(1));
    }
    for key in ["tags", "lock"] {
        if let Some(text) = guest.text(key) {
            insert(&mut row, key, json!(text));
        }
    }
    row
}

fn list(call: &Call<'_>, name: &str) -> Outcome {
    call.node(name)?;
    call.accept(&[("full", Shape::Bool)])?;
    let guests = call.world.guests.iter().filter(|(_, guest)| guest.node == name && call.may("VM.Audit"));
    let rows: Vec<Value> = guests.map(|(vmid, guest)| Value::Object(row(call, *vmid, guest))).collect();
    Ok(json!(rows).into())
}

pub(super) fn digest(guest: &Guest) -> Value {
    json!(digest_of(&serde_json::to_string(&(&guest.config, &guest.pending)).unwrap_or_default()))
}

/// The configuration; without `current=1` what waits for a cold start is already in it.
fn config(call: &Call<'_>, name: &str, vmid: &str) -> Outcome {
    let (_, guest) = find(call, name, vmid)?;
    call.accept(&[("current", Shape::Bool), ("snapshot", Shape::Text)])?;
    let mut config = guest.config.clone();
    if !call.flag("current") {
        for (key, value) in &guest.pending {
            if value.is_null() {
                config.shift_remove(key);
            } else {
                config.insert(key.clone(), value.clone());
            }
        }
    }
    if config.contains_key("cipassword") {
        insert(&mut config, "cipassword", json!("**********"));
    }
    insert(&mut config, "digest", digest(guest));
    Ok(Value::Object(config).into())
}

fn pending(call: &Call<'_>, name: &str, vmid: &str) -> Outcome {
    let (_, guest) = find(call, name, vmid)?;
    call.accept(&[])?;
    let mut rows: Vec<Value> = Vec::new();
    for (key, value) in &guest.config {
        let mut row = object(json!({"key": key, "value": value}));
        match guest.pending.get(key) {
            Some(Value::Null) => insert(&mut row, "delete", json!(1)),
            Some(waits) => insert(&mut row, "pending", waits.clone()),
            None => {}
        }
        rows.push(Value::Object(row));
    }
    for (key, value) in guest.pending.iter().filter(|(key, _)| !guest.config.contains_key(*key)) {
        rows.push(json!({"key": key, "pending": value}));
    }
    rows.push(json!({"key": "digest", "value": digest(guest)}));
    Ok(json!(rows).into())
}

fn current(call: &Call<'_>, name: &str, vmid: &str) -> Outcome {
    let (number, guest) = find(call, name, vmid)?;
    call.accept(&[])?;
    let mut row = row(call, number, guest);
    insert(&mut row, "qmpstatus", json!(if guest.started.is_some() { "running" } else { "stopped" }));
    insert(&mut row, "ha", json!({"managed": 0}));
    if agent_configured(guest) {
        insert(&mut row, "agent", json!(1));
    }
    Ok(Value::Object(row).into())
}

fn cloudinit(call: &Call<'_>, name: &str, vmid: &str) -> Outcome {
    let (_, guest) = find(call, name, vmid)?;
    call.accept(&[])?;
    let rows: Vec<Value> = CLOUDINIT
        .iter()
        .filter_map(|key| {
            let now = guest.config.get(*key);
            let waits = guest.pending.get(*key);
            let mut row = object(json!({"key": key}));
            insert(&mut row, "value", json!(scalar(now.or(waits)?)));
            if let (Some(_), Some(waits)) = (now, waits) {
                insert(&mut row, "pending", json!(scalar(waits)));
            }
            Some(Value::Object(row))
        })
        .collect();
    Ok(json!(rows).into())
}

fn cloudinit_dump(call: &Call<'_>, name: &str, vmid: &str) -> Outcome {
    let (_, guest) = find(call, name, vmid)?;
    call.accept(&[("type", Shape::Text)])?;
    let text = match call.param("type") {
        Some("user") => cloudinit::user(guest),
        Some("network") => cloudinit::network(guest),
        Some("meta") => cloudinit::meta(guest),
        Some(other) => {
            return Err(Answer::parameter(json!({"type": format!(
                "value '{other}' does not have a value in the enumeration 'user, network, meta'")})));
        }
        None => return Err(Answer::parameter(json!({"type": "property is missing and it is not optional"}))),
    };
    Ok(json!(text).into())
}

/// Nothing can be run in the lab's guests yet, so no process is ever known.
fn agent_exec_status(call: &Call<'_>, name: &str, vmid: &str) -> Outcome {
    agent(call, name, vmid)?;
    call.accept(&[("pid", Shape::Integer)])?;
    match call.param("pid") {
        Some(pid) => Err(Answer::failed(&format!("Agent error: PID {pid} does not exist"))),
        None => Err(Answer::parameter(json!({"pid": "property is missing and it is not optional"}))),
    }
}

fn agent_configured(guest: &Guest) -> bool {
    guest.text("agent").is_some_and(|agent| {
        let first = agent.split(',').next().unwrap_or_default();
        matches!(first, "1" | "enabled=1")
    })
}

/// A guest whose agent answers, else the error the API gives.
fn agent<'a>(call: &Call<'a>, name: &str, vmid: &str) -> Result<(u32, &'a Guest), Answer> {
    let (number, guest) = find(call, name, vmid)?;
    if !call.may("VM.GuestAgent.Audit") {
        return Err(Answer::forbidden(&format!("/vms/{vmid}"), "VM.GuestAgent.Audit|VM.GuestAgent.Unrestricted"));
    }
    if !agent_configured(guest) {
        return Err(Answer::failed("No QEMU guest agent configured"));
    }
    if guest.started.is_none() {
        return Err(Answer::failed(&format!("VM {vmid} is not running")));
    }
    if !guest.agent_up {
        return Err(Answer::failed("QEMU guest agent is not running"));
    }
    Ok((number, guest))
}

pub(super) fn agent_ping(call: &Call<'_>, name: &str, vmid: &str) -> Outcome {
    agent(call, name, vmid)?;
    Ok(json!({"result": {}}).into())
}

fn agent_interfaces(call: &Call<'_>, name: &str, vmid: &str) -> Outcome {
    let (number, guest) = agent(call, name, vmid)?;
    call.accept(&[])?;
    let live = Live::of(call, number, guest);
    let addresses: Vec<Value> = guest
        .address
        .iter()
        .map(|(ip, prefix)| (ip, *prefix))
        .chain(guest.floating.iter().map(|ip| (ip, 32)))
        .map(|(ip, prefix)| json!({"ip-address-type": "ipv4", "ip-address": ip.to_string(), "prefix": prefix}))
        .collect();
    Ok(json!({"result": [
        {"name": "lo", "hardware-address": "00:00:00:00:00:00",
            "ip-addresses": [{"ip-address-type": "ipv4", "ip-address": "127.0.0.1", "prefix": 8}]},
        {"name": "eth0", "hardware-address": guest.mac(), "ip-addresses": addresses,
            "statistics": {"rx-bytes": live.net_in, "rx-packets": live.net_in / 700, "rx-errs": 0, "rx-dropped": 0,
                "tx-bytes": live.net_out, "tx-packets": live.net_out / 500, "tx-errs": 0, "tx-dropped": 0}},
    ]})
    .into())
}
