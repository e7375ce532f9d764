//! SDN edits that wait for an apply, whoever made them.

use std::sync::Arc;

use super::super::entities::PendingEdit;
use super::super::source::Seen;
use super::Cx;
use super::fabric::find_vnet;
use crate::backends::proxmox::model::{Change, Sdn};
use crate::text::clean;

/// Every SDN edit that waits for an apply.
pub(super) fn edits(cx: &Cx<'_>) -> Seen<Vec<PendingEdit>> {
    let sdn = cx.sdn()?;
    let mut out = Vec::new();
    let mut push = |kind, id: &str, zone: Option<&str>, change: Change, fields: String| {
        if change != Change::None {
            let tenant = zone.and_then(|z| cx.is_tenant(z)).map(|s| Arc::clone(&s.name));
            out.push(PendingEdit { kind, id: Arc::from(clean(id)), tenant, change, what: fields, by: None });
        }
    };
    for z in &sdn.zones {
        if let Some(zone) = z.current() {
            push("zone", &zone.zone, Some(&zone.zone), z.change, fields(z));
        }
    }
    for v in &sdn.vnets {
        if let Some(vnet) = v.current() {
            push("vnet", &vnet.vnet, Some(&vnet.zone), v.change, fields(v));
        }
    }
    for (vnet, list) in &sdn.subnets {
        let zone = find_vnet(sdn, vnet).and_then(|v| v.current()).map(|v| v.zone.clone());
        for s in list {
            if let Some(subnet) = s.current() {
                push("subnet", &subnet.id, zone.as_deref(), s.change, fields(s));
            }
        }
    }
    for c in &sdn.controllers {
        if let Some(controller) = c.current() {
            push("controller", &controller.controller, None, c.change, fields(c));
        }
    }
    for f in &sdn.fabrics {
        if let Some(fabric) = f.current() {
            push("fabric", &fabric.id, None, f.change, fields(f));
        }
    }
    for n in &sdn.fabric_nodes {
        if let Some(node) = n.current() {
            push("fabric node", &format!("{}/{}", node.fabric, node.node), None, n.change, fields(n));
        }
    }
    Ok(out)
}

/// The changed options of an object, in words.
fn fields<T>(object: &Sdn<T>) -> String {
    if object.change == Change::Deleted {
        return "removed".to_owned();
    }
    let list: Vec<String> = object.pending.iter().map(|(k, v)| format!("{} {}", clean(k), clean(v))).collect();
    if list.is_empty() { "no option named".to_owned() } else { list.join(", ") }
}
