//! Version, privileges, members, resources.

use std::collections::BTreeSet;

use serde_json::Value;

use super::call::Call;
use super::client::Client;
use super::endpoints;
use super::error::Error;
use super::model::{ClusterNode, ClusterStatus, NodeResource, NodeZone, Permissions, Resources, Storage, Version, Vm};
use super::wire::{Row, Unreadable};

impl Client {
    /// `GET /version`.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn version(&self) -> Result<Version, Error> {
        let answer = self.call(Call::new(&endpoints::VERSION)).await?;
        answer.decode(|data| {
            let row = Row::new(data, "data")?;
            Ok(Version { version: row.need_text("version")?, release: row.need_text("release")? })
        })
    }

    /// `GET /cluster/resources`: guests, nodes, zones per node. About 10 s old (facts/proxmox.md §7).
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn resources(&self) -> Result<Resources, Error> {
        let answer = self.call(Call::new(&endpoints::RESOURCES)).await?;
        let mut read = Resources::default();
        // Row by row: a tree of the whole list takes many times the room of what is kept of it.
        answer.rows(|row| resource(&mut read, row))?;
        read.vms.shrink_to_fit();
        Ok(read)
    }

    /// `GET /cluster/status`: quorum and members.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn cluster_status(&self) -> Result<ClusterStatus, Error> {
        let answer = self.call(Call::new(&endpoints::CLUSTER_STATUS)).await?;
        answer.decode(cluster_status)
    }

    /// `GET /nodes`.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn nodes(&self) -> Result<Vec<NodeResource>, Error> {
        self.call(Call::new(&endpoints::NODES)).await?.rows(node_resource)
    }
}

/// Path → privilege → whether it propagates.
pub(super) fn permissions(data: &Value) -> Result<Permissions, Unreadable> {
    // Perl makes an empty map an empty list now and then.
    if data.as_array().is_some_and(Vec::is_empty) {
        return Ok(Permissions::default());
    }
    let mut read = Permissions::default();
    for (path, held) in Row::new(data, "data")?.map() {
        let row = Row::new(held, format!("data.{path}"))?;
        let mut here = BTreeSet::new();
        let mut below = BTreeSet::new();
        for privilege in row.map().keys() {
            if row.need_bool(privilege)? {
                below.insert(privilege.clone());
            }
            here.insert(privilege.clone());
        }
        read.by_path.insert(path.clone(), here);
        read.propagating.insert(path.clone(), below);
    }
    Ok(read)
}

fn cluster_status(data: &Value) -> Result<ClusterStatus, Unreadable> {
    let mut status = ClusterStatus::default();
    for row in Row::list(data, "data")? {
        match row.need_text("type")?.as_str() {
            "cluster" => {
                status.name = row.text("name")?;
                status.quorate = row.bool("quorate")?;
            }
            "node" => status.nodes.push(ClusterNode {
                name: row.need_text("name")?,
                online: row.need_bool("online")?,
                local: row.bool("local")?.unwrap_or(false),
                ip: match row.text("ip")? {
                    Some(ip) => Some(ip.parse().map_err(|_| row.fault("ip", "is not an address"))?),
                    None => None,
                },
            }),
            _ => {}
        }
    }
    Ok(status)
}

fn resource(read: &mut Resources, row: &Row<'_>) -> Result<(), Unreadable> {
    match row.need_text("type")?.as_str() {
        "qemu" => read.vms.push(vm(row, &row.need_text("node")?, "maxcpu")?),
        "lxc" => read.containers.push(vm(row, &row.need_text("node")?, "maxcpu")?),
        "node" => read.nodes.push(node_resource(row)?),
        // `network/N/zone/Z` from 9.1 on, `sdn/N/Z` before.
        "network" | "sdn" => read.zones.extend(zone(row)?),
        "storage" => read.storages.push(storage(row)?),
        _ => {}
    }
    Ok(())
}

fn storage(row: &Row<'_>) -> Result<Storage, Unreadable> {
    let content = row.text("content")?.unwrap_or_default();
    Ok(Storage {
        storage: row.need_text("storage")?,
        node: row.need_text("node")?,
        status: row.text("status")?,
        content: content.split(',').filter(|c| !c.is_empty()).map(str::to_owned).collect(),
    })
}

/// A zone row; `None` for a fabric row.
fn zone(row: &Row<'_>) -> Result<Option<NodeZone>, Unreadable> {
    if row.text("network-type")?.is_some_and(|kind| kind != "zone") {
        return Ok(None);
    }
    let id = row.need_text("id")?;
    let mut parts = id.split('/');
    let of_zone = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("network"), Some(node), Some("zone"), Some(zone)) | (Some("sdn"), Some(node), Some(zone), None) => {
            Some((node.to_owned(), zone.to_owned()))
        }
        _ => None,
    };
    let Some((node, zone)) = of_zone else { return Ok(None) };
    Ok(Some(NodeZone { node, zone, status: row.need_text("status")? }))
}

pub(super) fn vm(row: &Row<'_>, node: &str, cpus: &str) -> Result<Vm, Unreadable> {
    Ok(Vm {
        vmid: row.need_u32("vmid")?,
        name: row.text("name")?,
        node: node.to_owned(),
        status: row.need_text("status")?,
        template: row.bool("template")?.unwrap_or(false),
        lock: row.text("lock")?,
        cpu: row.f64("cpu")?,
        cpus: row.u32(cpus)?,
        mem: row.u64("mem")?,
        maxmem: row.u64("maxmem")?,
        maxdisk: row.u64("maxdisk")?,
        uptime_s: row.u64("uptime")?,
        tags: row.words("tags")?,
    })
}

fn node_resource(row: &Row<'_>) -> Result<NodeResource, Unreadable> {
    Ok(NodeResource {
        node: row.need_text("node")?,
        status: row.need_text("status")?,
        cpu: row.f64("cpu")?,
        maxcpu: row.u32("maxcpu")?,
        mem: row.u64("mem")?,
        maxmem: row.u64("maxmem")?,
        uptime_s: row.u64("uptime")?,
    })
}
