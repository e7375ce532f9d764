//! `/nodes/{node}/…` except guests and tasks.

use serde_json::{Value, json};

use super::{Answer, Call, Outcome, Shape};
use crate::lab::node::routes::Tables;
use crate::lab::object;
use crate::lab::sdn::{Kind, scalar};
use crate::lab::state::{Node, World};

pub(super) fn route(call: &Call<'_>, node: &str, path: &[&str]) -> Option<Outcome> {
    Some(match path {
        ["status"] => status(call, node),
        ["network"] => network(call, node),
        ["sdn", "zones"] => zones(call, node),
        ["sdn", "zones", zone, "content"] => content(call, node, zone),
        ["sdn", "zones", zone, "ip-vrf"] => ip_vrf(call, node, zone),
        ["sdn", "zones", zone, "bridges"] => bridges(call, node, zone),
        ["sdn", "vnets", vnet, "mac-vrf"] => mac_vrf(call, node, vnet),
        ["sdn", "fabrics", fabric, what @ ("routes" | "neighbors" | "interfaces")] => {
            fabric_state(call, node, fabric, what)
        }
        _ => return None,
    })
}

/// A node's load in 0.0..0.3.
pub(super) fn load(call: &Call<'_>, node: &str) -> f64 {
    let n = call.world.number(&format!("load {node} {}", call.now.div_euclid(30))) % 200 + 50;
    f64::from(u32::try_from(n).unwrap_or(0)) / 1000.0
}

fn status(call: &Call<'_>, name: &str) -> Outcome {
    let node = call.node(name)?;
    call.accept(&[])?;
    if !call.may("Sys.Audit") {
        return Err(Answer::forbidden(&format!("/nodes/{name}"), "Sys.Audit"));
    }
    let used = call.world.number(&format!("mem {name}")) % (node.memory / 4) + node.memory / 3;
    let one = load(call, name);
    Ok(json!({"uptime": call.now - call.world.booted, "cpu": one, "wait": 0, "idle": 0,
        "loadavg": [format!("{:.2}", one * 16.0), format!("{:.2}", one * 15.0), format!("{:.2}", one * 14.0)],
        "memory": {"total": node.memory, "used": used, "free": node.memory - used, "available": node.memory - used},
        "swap": {"total": 0, "used": 0, "free": 0},
        "rootfs": {"total": 107_374_182_400_u64, "used": 21_474_836_480_u64, "free": 85_899_345_920_u64,
            "avail": 85_899_345_920_u64},
        "cpuinfo": {"cpus": node.cores, "cores": node.cores / 2, "sockets": 1, "model": "lab", "mhz": "2400.000",
            "user_hz": 100, "hvm": "1", "flags": ""},
        "ksm": {"shared": 0}, "kversion": "Linux 6.14.11-4-pve #1 SMP",
        "current-kernel": {"sysname": "Linux", "release": "6.14.11-4-pve", "version": "#1 SMP", "machine": "x86_64"},
        "boot-info": {"mode": "efi", "secureboot": 0}, "pveversion": "pve-manager/9.2.11/14a22df3"})
    .into())
}

fn network(call: &Call<'_>, name: &str) -> Outcome {
    let node = call.node(name)?;
    call.accept(&[("type", Shape::Text)])?;
    if !call.may("Sys.Audit") {
        return Err(Answer::forbidden(&format!("/nodes/{name}"), "Sys.Audit|Sys.Modify"));
    }
    let mut rows: Vec<Value> = node.interfaces.iter().cloned().map(Value::Object).collect();
    match call.param("type") {
        None | Some("include_sdn" | "any_bridge" | "any_local_bridge") => {}
        Some(kind) => rows.retain(|row| row.get("type").is_some_and(|t| t == kind)),
    }
    if call.param("type") == Some("any_bridge") {
        rows.retain(|row| row.get("type").is_some_and(|kind| kind == "bridge"));
    }
    if matches!(call.param("type"), Some("include_sdn" | "any_bridge")) && call.may("SDN.Audit") {
        rows.extend(sdn_interfaces(call.world, node));
    }
    Ok(json!(rows).into())
}

/// VNets and fabrics as `?type=include_sdn` mixes them in: made by other code, so with other scalar types (§2).
fn sdn_interfaces(world: &World, node: &Node) -> Vec<Value> {
    let mut rows = Vec::new();
    for (vnet, options) in world.loaded(&node.name).of(Kind::Vnet) {
        let zone = options.get("zone").map(scalar).unwrap_or_default();
        if !zone_nodes(world, &zone).contains(&node.name.as_str()) {
            continue;
        }
        let mut row = object(json!({"iface": vnet, "type": "vnet", "active": "1"}));
        if let Some(alias) = options.get("alias") {
            row.insert("comments".to_owned(), alias.clone());
        }
        rows.push(Value::Object(row));
    }
    for (_, member) in world.sdn.running.of(Kind::FabricNode) {
        if member.get("node_id").is_some_and(|id| id == node.name.as_str()) {
            let fabric = member.get("fabric_id").map(scalar).unwrap_or_default();
            rows.push(json!({"iface": format!("dummy_{fabric}"), "type": "fabric", "active": true,
                "cidr": member.get("ip").map(|ip| format!("{}/32", scalar(ip)))}));
        }
    }
    rows
}

/// The nodes a zone is for.
pub(super) fn zone_nodes<'a>(world: &'a World, zone: &str) -> Vec<&'a str> {
    let listed = world.sdn.running.text(Kind::Zone, zone, "nodes");
    world
        .nodes
        .iter()
        .map(|node| node.name.as_str())
        .filter(|name| listed.as_deref().is_none_or(|list| list.split(',').any(|entry| entry == *name)))
        .collect()
}

/// Applied zones of a node with their state there (§7).
pub(super) fn zone_states(world: &World, node: &Node) -> Vec<(String, &'static str)> {
    let stale = node.sdn_version.is_some_and(|version| version < world.sdn.version);
    world
        .sdn
        .running
        .of(Kind::Zone)
        .filter(|(zone, _)| zone_nodes(world, zone).contains(&node.name.as_str()))
        .map(|(zone, _)| {
            let failed = world.sdn.running.vnets_of(zone).any(|vnet| node.vnet_errors.contains_key(vnet));
            let state = match (node.online, stale, failed) {
                (false, ..) => "unknown",
                (true, true, _) => "pending",
                (true, false, true) => "error",
                (true, false, false) => "available",
            };
            (zone.clone(), state)
        })
        .collect()
}

fn zones(call: &Call<'_>, name: &str) -> Outcome {
    let node = call.node(name)?;
    call.accept(&[])?;
    let rows: Vec<Value> = zone_states(call.world, node)
        .into_iter()
        .filter(|_| call.may("SDN.Audit"))
        .map(|(zone, status)| json!({"zone": zone, "status": status}))
        .collect();
    Ok(json!(rows).into())
}

fn content(call: &Call<'_>, name: &str, zone: &str) -> Outcome {
    let node = call.node(name)?;
    call.accept(&[])?;
    if zone.len() > 8 {
        return Err(Answer::parameter(json!({"zone": "value may only be 8 characters long"})));
    }
    if !call.may("SDN.Audit") {
        return Err(Answer::forbidden(&format!("/sdn/zones/{zone}"), "SDN.Audit"));
    }
    let stale = node.sdn_version.is_some_and(|version| version < call.world.sdn.version);
    let rows: Vec<Value> = call
        .world
        .sdn
        .running
        .vnets_of(zone)
        .map(|vnet| match node.vnet_errors.get(vnet) {
            _ if stale => json!({"vnet": vnet, "status": "pending",
                "statusmsg": "local sdn network configuration is too old, please reload"}),
            Some(message) => json!({"vnet": vnet, "status": "error", "statusmsg": message}),
            None => json!({"vnet": vnet, "status": "available", "statusmsg": null}),
        })
        .collect();
    Ok(json!(rows).into())
}

/// Refuses like the server bug for zones that have `nodes` set (§8).
fn array_bug(world: &World, zone: &str, place: &str) -> Result<(), Answer> {
    if world.sdn.running.text(Kind::Zone, zone, "nodes").is_some() {
        return Err(Answer::failed(&format!(
            "Not an ARRAY reference at /usr/share/perl5/PVE/API2/Network/SDN/Nodes/{place}."
        )));
    }
    Ok(())
}

fn ip_vrf(call: &Call<'_>, name: &str, zone: &str) -> Outcome {
    call.node(name)?;
    call.accept(&[])?;
    if call.world.sdn.running.get(Kind::Zone, zone).is_none() {
        return Err(Answer::failed(&format!("sdn '{zone}' does not exist")));
    }
    array_bug(call.world, zone, "Zone.pm line 379")?;
    let tables = Tables::of(call.world);
    let mut rows: Vec<Value> = tables
        .vrf(zone)
        .iter()
        .filter(|route| route.is_unicast())
        .map(|route| {
            let hop = route.gateway.map_or_else(|| route.dev.clone(), |gateway| gateway.to_string());
            let protocol = if route.protocol == "kernel" { "connected" } else { route.protocol };
            json!({"ip": route.dst.to_string(), "metric": route.metric.unwrap_or(0), "protocol": protocol,
                "nexthops": [hop]})
        })
        .collect();
    // Learnt, and not chosen while there is a static one.
    if let Some(hop) = call.world.exit.vrf(zone).learnt_default {
        rows.push(json!({"ip": "0.0.0.0/0", "metric": 0, "protocol": "bgp", "nexthops": [hop.to_string()]}));
    }
    Ok(json!(rows).into())
}

fn mac_vrf(call: &Call<'_>, name: &str, vnet: &str) -> Outcome {
    call.node(name)?;
    call.accept(&[])?;
    let Some(zone) = call.world.sdn.running.text(Kind::Vnet, vnet, "zone") else {
        return Err(Answer::failed(&format!("sdn vnet '{vnet}' does not exist")));
    };
    array_bug(call.world, &zone, "Vnet.pm line 141")?;
    let rows: Vec<Value> = call
        .world
        .guests
        .values()
        .filter(|guest| guest.wired() && guest.property("net0", "bridge").as_deref() == Some(vnet))
        .filter_map(|guest| {
            let (address, _) = guest.address?;
            let vtep = call.world.node(&guest.node)?.ip.to_string();
            Some(json!({"mac": guest.mac(), "ip": address.to_string(), "nexthop": vtep}))
        })
        .collect();
    Ok(json!(rows).into())
}

/// Bridges of a zone on a node with the ports the node put there.
fn bridges(call: &Call<'_>, name: &str, zone: &str) -> Outcome {
    call.node(name)?;
    call.accept(&[])?;
    let rows: Vec<Value> = call
        .world
        .loaded(name)
        .vnets_of(zone)
        .filter(|vnet| !call.world.exit.missing_vnets.contains(*vnet))
        .map(|vnet| {
            let mut ports = vec![json!({"name": format!("vxlan_{vnet}")})];
            for (vmid, guest) in call.world.guests.iter().filter(|(_, guest)| guest.started.is_some()) {
                if guest.node == name && guest.property("net0", "bridge").as_deref() == Some(vnet) {
                    ports.push(json!({"name": format!("tap{vmid}i0"), "vmid": vmid, "index": "net0"}));
                }
            }
            json!({"name": vnet, "vlan_filtering": "0", "ports": ports})
        })
        .collect();
    Ok(json!(rows).into())
}

/// A fabric of one member: its underlay interfaces, and nobody to talk to.
fn fabric_state(call: &Call<'_>, name: &str, fabric: &str, what: &str) -> Outcome {
    call.node(name)?;
    call.accept(&[])?;
    let member = call.world.sdn.running.get(Kind::FabricNode, &format!("{fabric}_{name}"));
    let interfaces = member.and_then(|member| member.get("interfaces")).and_then(Value::as_array);
    let rows: Vec<Value> = interfaces
        .into_iter()
        .flatten()
        .filter(|_| what == "interfaces")
        .map(|text| {
            let text = scalar(text);
            let device = text.split(',').find_map(|part| part.strip_prefix("name=")).unwrap_or_default().to_owned();
            json!({"name": device, "type": "Broadcast", "state": "Up"})
        })
        .collect();
    Ok(json!(rows).into())
}
