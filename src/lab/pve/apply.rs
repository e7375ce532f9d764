//! The SDN lock, apply and rollback, and what the nodes make of an apply (facts/proxmox.md §6, §7).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::form::{self, Rule, TOKEN};
use super::jobs::{self, Job, ms};
use super::nodes::zone_nodes;
use super::{Answer, Call, Done};
use crate::lab::acting::Act;
use crate::lab::node::vrf_tables;
use crate::lab::sdn::{Kind, Tree};
use crate::lab::state::{LocalStanza, SnatState, World};
use crate::lab::writing::Reload;

/// What a reload says on a node that lacks FRR's tools.
pub const NO_TOOLS: &str = "WARN: reloading frr configuration failed: missing /usr/lib/frr/frr-reload.py. Please install \
                            the frr-pythontools package at /usr/share/perl5/PVE/Network/SDN/Frr.pm line 98.";

/// What a node says of a VNet that its reload could not make.
const NOT_GENERATED: &str = "vnet is not generated. Please check the 'reload network' task log.";

/// Refuses unless the caller holds a privilege.
pub(super) fn need(call: &Call<'_>, path: &str, privilege: &str) -> Result<(), Answer> {
    if call.may(privilege) { Ok(()) } else { Err(Answer::forbidden(path, privilege)) }
}

/// What every change of SDN passes: quorum, the cluster's own lock, and the lock that somebody may hold. `action` is
/// what an error begins with.
pub(super) fn guard(call: &Call<'_>, action: &str, creates: bool) -> Result<(), Answer> {
    if !call.world.quorate {
        return Err(match creates {
            true => Answer::failed("cluster not ready - no quorum?"),
            false => Answer::failed(&format!("{action}: cfs-lock 'domain-sdn' error: no quorum!")),
        });
    }
    if call.world.writing.sdn_busy {
        let text = "cfs-lock 'domain-sdn' error: got lock request timeout";
        return Err(Answer::failed(&format!("{action}: {text}")));
    }
    let lock = call.world.sdn.lock.as_deref();
    if lock.is_some() && lock != call.param("lock-token") {
        let text = "invalid lock token provided! at /usr/share/perl5/PVE/Network/SDN.pm line 291.";
        return Err(Answer::failed(&format!("{action}: {text}")));
    }
    Ok(())
}

/// `POST /cluster/sdn/lock`.
pub(super) fn acquire(call: &Call<'_>) -> Done {
    need(call, "/sdn", "SDN.Allocate")?;
    form::check(call, &[("allow-pending", Rule::Bool, false)])?;
    let action = "could not acquire lock for SDN config";
    guard(call, action, false)?;
    // Changes of fabrics do not count (§6).
    let sdn = &call.world.sdn;
    let waits = sdn.waiting().iter().any(|(kind, ..)| !matches!(kind, Kind::Fabric | Kind::FabricNode));
    if waits && !call.flag("allow-pending") {
        let text = "configuration has pending changes at /usr/share/perl5/PVE/API2/Network/SDN.pm line 150.";
        return Err(Answer::failed(&format!("{action}: {text}")));
    }
    let token = token(call);
    let mut act = Act::default();
    let held = token.clone();
    act.now(move |world, _| world.sdn.lock = Some(held.clone()));
    Ok((json!(token), act))
}

/// A UUID of version 7.
fn token(call: &Call<'_>) -> String {
    let time = u64::try_from(call.now_ms).unwrap_or(0);
    let bits = call.world.number(&format!("sdn lock {time} {} {}", call.world.tasks.len(), call.world.sdn.version));
    let (high, low) = (time >> 16 & 0xffff_ffff, time & 0xffff);
    let (a, b, c) = (bits >> 52, 0x8000 | bits >> 36 & 0x3fff, bits & 0xffff_ffff_ffff);
    format!("{high:08x}-{low:04x}-7{a:03x}-{b:04x}-{c:012x}")
}

/// `DELETE /cluster/sdn/lock`: with `force` always, else with the token.
pub(super) fn release(call: &Call<'_>) -> Done {
    need(call, "/sdn", "SDN.Allocate")?;
    form::check(call, &[("force", Rule::Bool, false), TOKEN])?;
    if !call.flag("force") {
        guard(call, "could not release lock", false)?;
    }
    let mut act = Act::default();
    act.now(|world, _| world.sdn.lock = None);
    Ok((Value::Null, act))
}

/// Gives the lock back where that was asked for in so many words: the documented default is not what is done (§6).
fn give_back(call: &Call<'_>, act: &mut Act) {
    if call.param("lock-token").is_some() && call.flag("release-lock") {
        act.now(|world, _| world.sdn.lock = None);
    }
}

/// `POST /cluster/sdn/rollback`.
pub(super) fn rollback(call: &Call<'_>) -> Done {
    need(call, "/sdn", "SDN.Allocate")?;
    form::check(call, &[TOKEN, ("release-lock", Rule::Bool, false)])?;
    guard(call, "could not rollback SDN config", false)?;
    let mut act = Act::default();
    act.now(|world, _| world.sdn.rollback());
    give_back(call, &mut act);
    Ok((Value::Null, act))
}

/// `PUT /cluster/sdn`: everything that waits is applied at once, then one node after another reloads.
pub(super) fn apply(call: &Call<'_>) -> Done {
    need(call, "/sdn", "SDN.Allocate")?;
    form::check(call, &[TOKEN, ("release-lock", Rule::Bool, false)])?;
    guard(call, "could not commit SDN config", false)?;
    let mut act = Act::default();
    let waiting = call.world.sdn.waiting();
    act.now(move |world, _| {
        let before = (world.sdn.version, Arc::new(world.sdn.running.clone()));
        for node in &mut world.nodes {
            node.sdn_version.get_or_insert(before.0);
            node.loaded.get_or_insert_with(|| Arc::clone(&before.1));
        }
        world.sdn.commit(&waiting);
    });
    give_back(call, &mut act);
    let local = &call.world.local;
    let job = Job::begin(call, &mut act, local, "reloadnetworkall", "");
    let mut at = ms::SHORT;
    let own_first = |node: &&crate::lab::state::Node| node.name != *local;
    let mut nodes: Vec<_> = call.world.nodes.iter().collect();
    nodes.sort_by_key(own_first);
    for node in nodes {
        let told = node.online && node.reload != Reload::Untold;
        tell(&mut act, &job, &node.name, (at, told.then_some(node.reload)));
        at += ms::RELOAD;
    }
    // A node that failed does not make the whole fail (§7).
    let whole = job.clone();
    act.after(at, move |world, now| whole.end(world, now, "OK"));
    Ok((json!(job.upid()), act))
}

/// One node's turn; without a way it cannot be told.
fn tell(act: &mut Act, job: &Job, name: &str, (at, way): (i64, Option<Reload>)) {
    let (begun, node) = (job.clone(), name.to_owned());
    act.after(at, move |world, now| {
        begun.log(world, &format!("{node}: reloading network config"));
        if way.is_some() {
            jobs::begin_reload(world, now, &node);
        }
    });
    let (ended, node) = (job.clone(), name.to_owned());
    act.after(at + ms::RELOAD - ms::SHORT, move |world, now| match way {
        None => {
            let command = format!("pvesh set /nodes/{node}/network --regenerate-frr 1");
            ended.log(world, &format!("command '{command}' failed: exit code 255"));
        }
        Some(Reload::Refused) => {
            let error = "command 'ifreload -a' failed: exit code 1";
            let log = refused(world, &node);
            jobs::end_reload(world, now, &node, log, error);
            ended.log(world, error);
        }
        Some(way) => {
            realised(world, &node);
            let (log, status) = match way {
                Reload::NoTools => (vec![NO_TOOLS.to_owned()], "WARNINGS: 1"),
                _ => (Vec::new(), "OK"),
            };
            jobs::end_reload(world, now, &node, log, status);
        }
    });
}

/// The node has loaded what is applied.
fn realised(world: &mut World, name: &str) {
    let before = tables_before(world, name);
    if let Some(node) = world.node_mut(name) {
        (node.sdn_version, node.loaded) = (None, None);
        node.vnet_errors.clear();
    }
    let Some(tables) = before else { return };
    world.exit.missing_vnets.clear();
    give_tables(world, tables);
    // FRR's file is made anew of what frr.conf.local holds now.
    for vrf in world.exit.vrfs.values_mut() {
        vrf.local = match vrf.local {
            LocalStanza::NotMerged => LocalStanza::Merged,
            LocalStanza::Unkept if vrf.kept => LocalStanza::Missing,
            LocalStanza::Unkept => LocalStanza::Contested,
            other => other,
        };
        // `ifreload` takes each rule away and adds it anew: a missing one is back, one of an old address is right.
        if matches!(vrf.snat, SnatState::Missing | SnatState::Stale(_)) {
            vrf.snat = SnatState::Right;
        }
    }
}

/// The node's `ifreload` failed: VNets that are new to it are not there. The log's lines are returned.
fn refused(world: &mut World, name: &str) -> Vec<String> {
    let new = new_vnets(world, name);
    let before = tables_before(world, name);
    if let Some(node) = world.node_mut(name) {
        (node.sdn_version, node.loaded) = (None, None);
        node.vnet_errors.extend(new.iter().map(|vnet| (vnet.clone(), NOT_GENERATED.to_owned())));
    }
    if let Some(tables) = before {
        world.exit.missing_vnets.extend(new.iter().cloned());
        give_tables(world, tables);
    }
    let line = |vnet: &String| {
        let command = format!("/bin/ip link set vxlan_{vnet} master {vnet}");
        let why = "returned 1 (RTNETLINK answers: Invalid argument) ";
        [format!("{vnet} : error: {vnet}: cmd '{command}' failed: {why}"), String::new()]
    };
    new.iter().flat_map(line).collect()
}

/// VNets of the applied set that the node did not have.
fn new_vnets(world: &World, name: &str) -> Vec<String> {
    let empty = Tree::default();
    let before = world.node(name).and_then(|node| node.loaded.as_deref()).unwrap_or(&empty);
    let here = |vnet: &str| {
        let zone = world.sdn.running.text(Kind::Vnet, vnet, "zone").unwrap_or_default();
        zone_nodes(world, &zone).contains(&name)
    };
    let vnets = world.sdn.running.of(Kind::Vnet).map(|(vnet, _)| vnet);
    vnets.filter(|vnet| before.get(Kind::Vnet, vnet).is_none() && here(vnet)).cloned().collect()
}

/// The routing tables of the exit node before it loads anything; `None` for another node.
fn tables_before(world: &World, name: &str) -> Option<BTreeMap<String, u32>> {
    (world.exit.node == name).then(|| vrf_tables(world))
}

/// VRFs that stay keep their tables; new ones get the next free ones.
fn give_tables(world: &mut World, before: BTreeMap<String, u32>) {
    let mut tables = before;
    let zones: Vec<String> = vrf_tables(world).into_keys().collect();
    tables.retain(|zone, _| zones.contains(zone));
    for zone in zones {
        let free = (1001..).find(|table| tables.values().all(|taken| taken != table)).unwrap_or(1001);
        tables.entry(zone).or_insert(free);
    }
    world.exit.tables = tables;
}
