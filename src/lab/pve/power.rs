//! Starting, stopping and what a machine does when it boots (facts/proxmox.md §10).

use std::net::Ipv4Addr;

use serde_json::json;

use super::form::{self, Parameter, Rule, TEXT};
use super::guests::{Target, quorum, with};
use super::jobs::{Job, ms};
use super::{Answer, Call, Done};
use crate::lab::acting::Act;
use crate::lab::boot;
use crate::lab::sdn::Kind;
use crate::lab::state::{Guest, World};

const TIMEOUT: Parameter = ("timeout", Rule::Int(0, i64::MAX), false);
const SKIPLOCK: Parameter = ("skiplock", Rule::Bool, false);

/// Parameters of a start; most are for a machine that comes from another node.
const START: &[Parameter] = &[
    TIMEOUT,
    SKIPLOCK,
    ("force-cpu", TEXT, false),
    ("machine", TEXT, false),
    ("migratedfrom", TEXT, false),
    ("migration_network", TEXT, false),
    ("migration_type", TEXT, false),
    ("nets-host-mtu", TEXT, false),
    ("stateuri", TEXT, false),
    ("targetstorage", TEXT, false),
    ("with-conntrack-state", Rule::Bool, false),
];

/// Begins a task on a machine whose configuration may be missing or locked: both show in the task alone.
fn begin<'w>(call: &Call<'w>, target: Target<'_>, kind: &str) -> (Act, Job, Option<&'w Guest>) {
    let mut act = Act::default();
    let job = Job::begin(call, &mut act, target.node, kind, target.vmid);
    match target.unlocked(call.world) {
        Ok(guest) => (act, job, Some(guest)),
        Err(text) => {
            job.fails(&mut act, &text);
            (act, job, None)
        }
    }
}

fn done(act: Act, job: &Job) -> Done {
    Ok((json!(job.upid()), act))
}

/// `POST status/start`.
pub(super) fn start(call: &Call<'_>, target: Target<'_>) -> Done {
    target.enter(call, "VM.PowerMgmt")?;
    form::check(call, START)?;
    quorum(call)?;
    let (mut act, job, guest) = begin(call, target, "qmstart");
    let Some(guest) = guest else { return done(act, &job) };
    let vmid = target.number;
    if guest.template {
        job.fails(&mut act, "you can't start a vm if it's a template");
    } else if guest.started.is_some() {
        job.fails(&mut act, &format!("VM {vmid} already running"));
    } else if let Some(line) = obstacle(call.world, guest) {
        let log = job.clone();
        act.now(move |world, _| log.log(world, &line));
        job.fails_after(&mut act, ms::POWER, "start failed: QEMU exited with code 1");
    } else {
        let ended = job.clone();
        act.after(ms::POWER, move |world, now| {
            with(world, vmid, |guest| powered(guest, now));
            ended.end(world, now, "OK");
        });
        boots(&mut act, ms::POWER, vmid);
    }
    done(act, &job)
}

/// What keeps QEMU from running, as the task's log says it.
fn obstacle(world: &World, guest: &Guest) -> Option<String> {
    if guest.start_fails {
        return Some("kvm: -device virtio-net-pci: failed to initialise".to_owned());
    }
    let bridges =
        guest.config.keys().filter(|key| key.starts_with("net")).filter_map(|key| guest.property(key, "bridge"));
    let loaded = world.loaded(&guest.node);
    let there = |bridge: &str| {
        let own = world
            .node(&guest.node)
            .is_some_and(|node| node.interfaces.iter().any(|row| row.get("iface").is_some_and(|name| name == bridge)));
        own || loaded.get(Kind::Vnet, bridge).is_some() && !missing(world, guest, bridge)
    };
    let gone = bridges.into_iter().find(|bridge| !there(bridge))?;
    Some(format!("bridge '{gone}' does not exist"))
}

fn missing(world: &World, guest: &Guest, bridge: &str) -> bool {
    guest.node == world.exit.node && world.exit.missing_vnets.contains(bridge)
}

/// The process runs; what waited for a cold start is in force.
fn powered(guest: &mut Guest, now: i64) {
    for (key, value) in std::mem::take(&mut guest.pending) {
        if value.is_null() {
            guest.config.shift_remove(&key);
        } else {
            guest.config.insert(key, value);
        }
    }
    (guest.started, guest.agent_up) = (Some(now), false);
}

/// What the system does after its machine was started: it takes its address and its agent answers, then its
/// configuration runs, where it was given a pointer to one.
fn boots(act: &mut Act, after: i64, vmid: u32) {
    act.after(after + ms::BOOT, move |world, _| {
        with(world, vmid, |guest| {
            if guest.started.is_some() {
                guest.address = address(guest, vmid);
                guest.agent_up = true;
            }
        });
    });
    act.after(after + ms::CHECK_IN, move |world, now| boot::check_in(world, now, vmid));
}

/// The address of its cloud-init drive, or the pool's of the management segment; a tenant's VNet has no DHCP.
fn address(guest: &Guest, vmid: u32) -> Option<(Ipv4Addr, u8)> {
    let drive = guest.config.values().any(|value| value.as_str().is_some_and(|text| text.contains("cloudinit,")));
    let wanted = guest.property("ipconfig0", "ip").filter(|_| drive);
    let (ip, bits) = match wanted.as_deref() {
        Some(text) if text != "dhcp" => text.split_once('/')?,
        _ if guest.property("net0", "bridge").as_deref() == Some("vmbr0") => {
            let last = u8::try_from(200 + vmid % 31).unwrap_or(230);
            return Some((Ipv4Addr::new(10, 20, 99, last), 24));
        }
        _ => return None,
    };
    Some((ip.parse().ok()?, bits.parse().ok()?))
}

/// `POST status/stop`: of a stopped machine it succeeds as well.
pub(super) fn stop(call: &Call<'_>, target: Target<'_>) -> Done {
    target.enter(call, "VM.PowerMgmt")?;
    let more = ["keepActive", "overrule-shutdown"].map(|name| (name, Rule::Bool, false));
    form::check(call, &[&[TIMEOUT, SKIPLOCK, ("migratedfrom", TEXT, false)], &more[..]].concat())?;
    let (mut act, job, guest) = begin(call, target, "qmstop");
    if guest.is_some() {
        off(&mut act, &job, target.number, ms::POWER);
    }
    done(act, &job)
}

fn off(act: &mut Act, job: &Job, vmid: u32, after: i64) {
    let job = job.clone();
    act.after(after, move |world, now| {
        with(world, vmid, |guest| guest.started = None);
        job.end(world, now, "OK");
    });
}

/// `POST status/shutdown`: a system that ignores it is given its time, then it goes on running unless `forceStop` is set.
pub(super) fn shutdown(call: &Call<'_>, target: Target<'_>) -> Done {
    target.enter(call, "VM.PowerMgmt")?;
    let more = ["forceStop", "keepActive"].map(|name| (name, Rule::Bool, false));
    form::check(call, &[&[TIMEOUT, SKIPLOCK], &more[..]].concat())?;
    let (mut act, job, guest) = begin(call, target, "qmshutdown");
    let Some(guest) = guest else { return done(act, &job) };
    if guest.started.is_some() && guest.deaf {
        let wait = call.integer("timeout").unwrap_or(60).clamp(0, 86_400) * 1000;
        let vmid = target.vmid.to_owned();
        let log = job.clone();
        act.now(move |world, _| {
            let text = "qga command 'guest-ping' failed - got timeout";
            log.log(world, &format!("QEMU Guest Agent is not running - VM {vmid} {text}"));
        });
        match call.flag("forceStop") {
            true => off(&mut act, &job, target.number, wait.max(ms::SHORT)),
            false => job.fails_after(&mut act, wait.max(ms::SHORT), "VM quit/powerdown failed - got timeout"),
        }
    } else {
        off(&mut act, &job, target.number, ms::SHUTDOWN);
    }
    done(act, &job)
}

/// Refuses what needs a running machine.
fn running(call: &Call<'_>, target: Target<'_>) -> Result<(), Answer> {
    let guest = target.guest(call.world).map_err(|text| Answer::failed(&text))?;
    match guest.started {
        Some(_) => Ok(()),
        None => Err(Answer::failed(&format!("VM {} not running", target.vmid))),
    }
}

/// `POST status/reboot`: shut down and started, with what waited for that.
pub(super) fn reboot(call: &Call<'_>, target: Target<'_>) -> Done {
    target.enter(call, "VM.PowerMgmt")?;
    form::check(call, &[TIMEOUT])?;
    running(call, target)?;
    let (mut act, job, guest) = begin(call, target, "qmreboot");
    let Some(guest) = guest else { return done(act, &job) };
    if guest.deaf {
        let wait = call.integer("timeout").unwrap_or(60).clamp(0, 86_400) * 1000;
        job.fails_after(&mut act, wait.max(ms::SHORT), "VM quit/powerdown failed");
        return done(act, &job);
    }
    let (ended, vmid) = (job.clone(), target.number);
    act.after(ms::SHUTDOWN, move |world, now| {
        with(world, vmid, |guest| powered(guest, now));
        ended.end(world, now, "OK");
    });
    boots(&mut act, ms::SHUTDOWN, vmid);
    done(act, &job)
}

/// `POST status/reset`: the same process, the system anew.
pub(super) fn reset(call: &Call<'_>, target: Target<'_>) -> Done {
    target.enter(call, "VM.PowerMgmt")?;
    form::check(call, &[SKIPLOCK])?;
    running(call, target)?;
    let (mut act, job, guest) = begin(call, target, "qmreset");
    if guest.is_some() {
        let (ended, vmid) = (job.clone(), target.number);
        act.after(ms::SHORT, move |world, now| {
            with(world, vmid, |guest| guest.agent_up = false);
            ended.end(world, now, "OK");
        });
        boots(&mut act, ms::SHORT, vmid);
    }
    done(act, &job)
}
