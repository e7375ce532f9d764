//! `/cluster/sdn/…`: each object plain, running and pending (facts/proxmox.md §5).

use serde_json::{Map, Value, json};

use super::{Answer, Call, Outcome, Shape, generate};
use crate::lab::sdn::{Kind, Tree, subnet_parts};
use crate::lab::state::Object;
use crate::lab::{insert, object};

const MODES: &[(&str, Shape)] = &[("pending", Shape::Bool), ("running", Shape::Bool), ("type", Shape::Text)];

pub(super) fn route(call: &Call<'_>, path: &[&str]) -> Option<Outcome> {
    Some(match path {
        [] => index(call),
        ["zones"] => list(call, Kind::Zone, |_| true),
        ["zones", zone] => zone_one(call, zone),
        ["vnets"] => list(call, Kind::Vnet, |_| true),
        ["vnets", vnet] => vnet_one(call, vnet),
        ["vnets", vnet, "subnets"] => subnets(call, vnet),
        ["vnets", vnet, "subnets", subnet] => subnet_one(call, vnet, subnet),
        ["controllers"] => list(call, Kind::Controller, |_| true),
        ["controllers", id] => one(call, Kind::Controller, id, "controller"),
        ["fabrics"] => Ok(json!([{"subdir": "fabric"}, {"subdir": "node"}, {"subdir": "all"}]).into()),
        ["fabrics", "all"] => fabrics_all(call),
        ["fabrics", "fabric"] => list(call, Kind::Fabric, |_| true),
        ["fabrics", "fabric", id] => one(call, Kind::Fabric, id, "fabric"),
        ["fabrics", "node"] => list(call, Kind::FabricNode, |_| true),
        ["fabrics", "node", fabric] => fabric_members(call, fabric),
        ["fabrics", "node", fabric, node] => one(call, Kind::FabricNode, &format!("{fabric}_{node}"), "node"),
        ["ipams"] => Ok(json!([{"ipam": "pve", "type": "pve"}]).into()),
        ["dns"] => Ok(json!([]).into()),
        ["dry-run"] => dry_run(call),
        _ => return None,
    })
}

fn index(call: &Call<'_>) -> Outcome {
    call.accept(&[])?;
    let parts = ["vnets", "zones", "controllers", "ipams", "dns", "fabrics"];
    Ok(json!(parts.map(|id| json!({"id": id}))).into())
}

/// Options every row of a kind has at top level whatever its state, made from its id.
fn identity(kind: Kind, id: &str, options: &Object) -> Object {
    match kind {
        Kind::Zone => object(json!({"zone": id})),
        Kind::Vnet => object(json!({"vnet": id})),
        Kind::Controller => object(json!({"controller": id})),
        Kind::Fabric => object(json!({"id": id})),
        Kind::FabricNode => Object::new(),
        Kind::Subnet => {
            let (zone, network, mask) = subnet_parts(id).unwrap_or_default();
            object(json!({"id": id, "subnet": id, "zone": zone, "network": network, "mask": mask,
                "cidr": format!("{network}/{mask}"), "vnet": options.get("vnet"), "dhcp-range": []}))
        }
    }
}

fn row(kind: Kind, id: &str, options: &Object, digest: Value) -> Value {
    let mut row = identity(kind, id, options);
    row.extend(options.clone());
    insert(&mut row, "digest", digest);
    Value::Object(row)
}

/// The rows of a kind as the request's flags ask for them.
fn rows(call: &Call<'_>, kind: Kind, keep: impl Fn(&Object) -> bool) -> Vec<Value> {
    let sdn = &call.world.sdn;
    if !call.may("SDN.Audit") {
        return Vec::new();
    }
    if call.flag("pending") {
        return pending_rows(kind, &sdn.running, &sdn.configured, keep);
    }
    let (tree, digest) = if call.flag("running") {
        (&sdn.running, Value::Null)
    } else {
        (&sdn.configured, json!(sdn.configured.digest(kind)))
    };
    tree.of(kind).filter(|(_, o)| keep(o)).map(|(id, o)| row(kind, id, o, digest.clone())).collect()
}

/// Running and configured merged: top level runs, `pending` waits, `state` names the difference.
fn pending_rows(kind: Kind, running: &Tree, configured: &Tree, keep: impl Fn(&Object) -> bool) -> Vec<Value> {
    let digest = match kind {
        Kind::Fabric | Kind::FabricNode => json!(configured.digest(kind)),
        _ => Value::Null,
    };
    let mut out = Vec::new();
    for (id, wanted) in configured.of(kind).filter(|(_, o)| keep(o)) {
        out.push(match running.get(kind, id) {
            None => new_row(kind, id, wanted, digest.clone()),
            Some(applied) => {
                let waits = difference(applied, wanted);
                let mut merged = object(row(kind, id, applied, digest.clone()));
                if !waits.is_empty() {
                    insert(&mut merged, "pending", Value::Object(waits));
                    insert(&mut merged, "state", json!("changed"));
                }
                Value::Object(merged)
            }
        });
    }
    for (id, applied) in running.of(kind).filter(|(_, o)| keep(o)) {
        if configured.get(kind, id).is_none() {
            let mut gone = object(row(kind, id, applied, digest.clone()));
            insert(&mut gone, "pending", json!({}));
            insert(&mut gone, "state", json!("deleted"));
            out.push(Value::Object(gone));
        }
    }
    out
}

fn new_row(kind: Kind, id: &str, wanted: &Object, digest: Value) -> Value {
    let mut waits = wanted.clone();
    let mut top = Object::new();
    if matches!(kind, Kind::Fabric | Kind::FabricNode) {
        waits.extend(identity(kind, id, wanted));
    } else {
        top = identity(kind, id, wanted);
        for key in ["type", "vnet"] {
            if let Some(value) = waits.shift_remove(key) {
                insert(&mut top, key, value);
            }
        }
    }
    insert(&mut top, "pending", Value::Object(waits));
    insert(&mut top, "state", json!("new"));
    insert(&mut top, "digest", digest);
    Value::Object(top)
}

/// Options that differ: new values, and `deleted` for those that go.
fn difference(applied: &Object, wanted: &Object) -> Map<String, Value> {
    let mut out = Map::new();
    for (key, value) in wanted.iter().filter(|(key, value)| applied.get(*key) != Some(*value)) {
        out.insert(key.clone(), value.clone());
    }
    for key in applied.keys().filter(|key| !wanted.contains_key(*key)) {
        out.insert(key.clone(), json!("deleted"));
    }
    out
}

fn list(call: &Call<'_>, kind: Kind, keep: impl Fn(&Object) -> bool) -> Outcome {
    call.accept(MODES)?;
    Ok(json!(rows(call, kind, keep)).into())
}

/// The one row of `id`, whose key in rows is `key`.
fn find(call: &Call<'_>, kind: Kind, id: &str) -> Option<Value> {
    let keys: &[&str] = match kind {
        Kind::Zone => &["zone"],
        Kind::Vnet => &["vnet"],
        Kind::Controller => &["controller"],
        Kind::Subnet | Kind::Fabric => &["id"],
        Kind::FabricNode => &["fabric_id", "node_id"],
    };
    rows(call, kind, |_| true).into_iter().find(|row| {
        let waits = row.get("pending");
        let parts: Vec<&str> = keys
            .iter()
            .filter_map(|key| row.get(*key).or_else(|| waits.and_then(|w| w.get(*key))).and_then(Value::as_str))
            .collect();
        parts.join("_") == id
    })
}

fn one(call: &Call<'_>, kind: Kind, id: &str, word: &str) -> Outcome {
    call.accept(MODES)?;
    match find(call, kind, id) {
        Some(row) => Ok(row.into()),
        None if matches!(kind, Kind::Fabric | Kind::FabricNode) => {
            Err(Answer::failed(&format!("{word} '{id}' does not exist in configuration")))
        }
        None => Err(Answer::failed(&format!("sdn '{id}' does not exist"))),
    }
}

fn zone_one(call: &Call<'_>, zone: &str) -> Outcome {
    if !call.may("SDN.Allocate") {
        return Err(Answer::forbidden(&format!("/sdn/zones/{zone}"), "SDN.Allocate"));
    }
    one(call, Kind::Zone, zone, "zone")
}

/// Access to a VNet is checked on the configured one: a VNet whose removal waits is not there (§5).
fn configured_vnet(call: &Call<'_>, vnet: &str) -> Result<(), Answer> {
    let Some(zone) = call.world.sdn.configured.text(Kind::Vnet, vnet, "zone") else {
        return Err(Answer::failed(&format!("sdn vnet '{vnet}' does not exist")));
    };
    if call.may("SDN.Audit") {
        Ok(())
    } else {
        Err(Answer::forbidden(&format!("/sdn/zones/{zone}/{vnet}"), "SDN.Audit|SDN.Allocate"))
    }
}

fn vnet_one(call: &Call<'_>, vnet: &str) -> Outcome {
    configured_vnet(call, vnet)?;
    one(call, Kind::Vnet, vnet, "vnet")
}

fn subnets(call: &Call<'_>, vnet: &str) -> Outcome {
    configured_vnet(call, vnet)?;
    list(call, Kind::Subnet, |options| options.get("vnet").is_some_and(|v| v == vnet))
}

fn subnet_one(call: &Call<'_>, vnet: &str, subnet: &str) -> Outcome {
    configured_vnet(call, vnet)?;
    one(call, Kind::Subnet, subnet, "subnet")
}

fn fabrics_all(call: &Call<'_>) -> Outcome {
    call.accept(MODES)?;
    Ok(json!({"fabrics": rows(call, Kind::Fabric, |_| true), "nodes": rows(call, Kind::FabricNode, |_| true)}).into())
}

fn fabric_members(call: &Call<'_>, fabric: &str) -> Outcome {
    call.accept(MODES)?;
    if call.world.sdn.running.get(Kind::Fabric, fabric).is_none() && call.flag("pending") {
        return Err(Answer::failed(&format!("fabric '{fabric}' does not exist in configuration")));
    }
    list(call, Kind::FabricNode, |options| options.get("fabric_id").is_some_and(|f| f == fabric))
}

fn dry_run(call: &Call<'_>) -> Outcome {
    let Some(name) = call.param("node") else {
        return Err(Answer::error(400, "proxyto parameter does not exist\n"));
    };
    let node = call.node(name)?;
    call.accept(&[("node", Shape::Text)])?;
    if !call.may("Sys.Audit") {
        return Err(Answer::forbidden(&format!("/nodes/{name}"), "Sys.Audit"));
    }
    Ok(generate::dry_run(call.world, node, call.now).into())
}
