//! `/version`, `/nodes`, `/cluster/{resources,status,nextid}`.

use serde_json::{Value, json};

use super::{Answer, Call, Outcome, Shape, nodes};
use crate::lab::sdn::{Kind, digest_of};
use crate::lab::state::{Guest, Node, World};
use crate::lab::{insert, object};

pub(super) fn version(call: &Call<'_>) -> Outcome {
    call.accept(&[])?;
    Ok(json!({"version": "9.2.11", "release": "9.2", "repoid": "14a22df3c0ffee00"}).into())
}

pub(super) fn nodes(call: &Call<'_>) -> Outcome {
    call.accept(&[])?;
    let rows: Vec<Value> = call
        .world
        .nodes
        .iter()
        .map(|node| {
            let mut row = object(node_row(call, node));
            let print = digest_of(&format!("certificate {} {}", call.world.seed, node.name)).to_uppercase();
            let pairs: Vec<&str> = print.as_bytes().chunks(2).filter_map(|pair| str::from_utf8(pair).ok()).collect();
            insert(&mut row, "ssl_fingerprint", json!(pairs.join(":")));
            Value::Object(row)
        })
        .collect();
    Ok(json!(rows).into())
}

fn node_row(call: &Call<'_>, node: &Node) -> Value {
    let name = &node.name;
    if !node.online {
        return json!({"type": "node", "id": format!("node/{name}"), "node": name, "status": "offline"});
    }
    let used = call.world.number(&format!("mem {name}")) % (node.memory / 4) + node.memory / 3;
    json!({"type": "node", "id": format!("node/{name}"), "node": name, "status": "online", "level": "",
        "uptime": call.now - call.world.booted, "cpu": nodes::load(call, name), "maxcpu": node.cores,
        "mem": used, "maxmem": node.memory, "disk": 21_474_836_480_u64, "maxdisk": 107_374_182_400_u64})
}

pub(super) fn status(call: &Call<'_>) -> Outcome {
    call.accept(&[])?;
    let world = call.world;
    let mut rows =
        vec![json!({"type": "cluster", "id": "cluster", "name": world.cluster, "version": world.nodes.len(),
        "nodes": world.nodes.len(), "quorate": i32::from(world.quorate)})];
    for node in &world.nodes {
        rows.push(json!({"type": "node", "id": format!("node/{}", node.name), "name": node.name, "nodeid": node.id,
            "ip": node.ip.to_string(), "online": i32::from(node.online),
            "local": i32::from(node.name == world.local), "level": ""}));
    }
    Ok(json!(rows).into())
}

pub(super) fn next_id(call: &Call<'_>) -> Outcome {
    call.accept(&[("vmid", Shape::Integer)])?;
    if let Some(vmid) = call.param("vmid") {
        let taken = vmid.parse().is_ok_and(|vmid: u32| call.world.guests.contains_key(&vmid));
        return if taken {
            Err(Answer::parameter(json!({"vmid": format!("VM {vmid} already exists")})))
        } else {
            Ok(json!(vmid).into())
        };
    }
    let free = (100_u32..).find(|vmid| !call.world.guests.contains_key(vmid)).unwrap_or(100);
    Ok(json!(free.to_string()).into())
}

pub(super) fn resources(call: &Call<'_>) -> Outcome {
    call.accept(&[("type", Shape::Text)])?;
    let wanted = call.param("type");
    if let Some(other) = wanted.filter(|kind| !["vm", "storage", "node", "sdn"].contains(kind)) {
        return Err(Answer::parameter(json!({"type": format!(
            "value '{other}' does not have a value in the enumeration 'vm, storage, node, sdn'")})));
    }
    let wants = |kind: &str| wanted.is_none_or(|wanted| wanted == kind);
    let mut rows = Vec::new();
    if wants("vm") && call.may("VM.Audit") {
        rows.extend(call.world.guests.iter().map(|(vmid, guest)| guest_row(call, *vmid, guest)));
    }
    if wants("node") {
        rows.extend(call.world.nodes.iter().map(|node| node_row(call, node)));
    }
    if wants("storage") && call.may("Datastore.Audit") {
        rows.extend(storage_rows(call.world));
    }
    if wanted.is_none() && call.may("SDN.Audit") {
        rows.extend(network_rows(call.world));
    }
    Ok(json!(rows).into())
}

fn storage_rows(world: &World) -> Vec<Value> {
    let mut rows = Vec::new();
    for storage in &world.storages {
        for node in &world.nodes {
            rows.push(json!({"type": "storage", "id": format!("storage/{}/{}", node.name, storage.name),
                "storage": storage.name, "node": node.name, "plugintype": storage.plugin, "content": storage.content,
                "shared": i32::from(storage.shared), "status": if node.online { "available" } else { "unknown" }}));
        }
    }
    rows
}

fn network_rows(world: &World) -> Vec<Value> {
    let mut rows = Vec::new();
    for node in &world.nodes {
        let name = &node.name;
        rows.push(json!({"type": "network", "id": format!("network/{name}/zone/localnetwork"), "node": name,
            "network": "localnetwork", "network-type": "zone", "status": "ok"}));
        for (zone, status) in nodes::zone_states(world, node) {
            let kind = world.sdn.running.text(Kind::Zone, &zone, "type").unwrap_or_default();
            rows.push(json!({"type": "network", "id": format!("network/{name}/zone/{zone}"), "node": name,
                "network": zone, "network-type": "zone", "zone-type": kind, "status": status}));
        }
        for (_, member) in world.sdn.running.of(Kind::FabricNode) {
            if member.get("node_id").is_none_or(|id| id != name.as_str()) {
                continue;
            }
            let fabric = member.get("fabric_id").and_then(Value::as_str).unwrap_or_default();
            rows.push(json!({"type": "network", "id": format!("network/{name}/fabric/{fabric}"), "node": name,
                "network": fabric, "network-type": "fabric", "protocol": "openfabric",
                "status": if node.online { "ok" } else { "unknown" }}));
        }
    }
    rows
}

fn guest_row(call: &Call<'_>, vmid: u32, guest: &Guest) -> Value {
    let id = format!("qemu/{vmid}");
    let node = &guest.node;
    if call.world.node(node).is_none_or(|node| !node.online) {
        return json!({"type": "qemu", "id": id, "vmid": vmid, "node": node, "status": "unknown"});
    }
    let live = super::qemu::Live::of(call, vmid, guest);
    let mut row = object(json!({"type": "qemu", "id": id, "vmid": vmid, "node": node, "status": live.status,
        "name": super::qemu::shown_name(vmid, guest), "template": i32::from(guest.template), "uptime": live.uptime, "cpu": live.cpu,
        "maxcpu": live.cores, "mem": live.memory_used, "maxmem": live.memory, "memhost": live.memory_used, "disk": 0,
        "maxdisk": guest.disk, "netin": live.net_in, "netout": live.net_out, "diskread": live.disk_read,
        "diskwrite": live.disk_write}));
    for key in ["tags", "lock"] {
        if let Some(text) = guest.text(key) {
            insert(&mut row, key, json!(text));
        }
    }
    if let Some(pool) = &guest.pool {
        insert(&mut row, "pool", json!(pool));
    }
    Value::Object(row)
}
