//! Every request the client can make, in two tables: what only looks, and what writes. `tests/proxmox_contract.rs` and
//! `tests/proxmox_writes.rs` hold what is really sent against them and against Proxmox's own API description.

mod write;

use super::model::Permissions;
use crate::backends::http::Access;

pub use write::{
    CONTROLLER_CREATE, CONTROLLER_DELETE, CONTROLLER_UPDATE, SDN_APPLY, SDN_LOCK, SDN_ROLLBACK, SDN_UNLOCK,
    SUBNET_CREATE, SUBNET_DELETE, SUBNET_UPDATE, VM_CLONE, VM_CONFIG_SET, VM_CONFIG_TASK, VM_DESTROY, VM_REBOOT,
    VM_RESIZE, VM_SHUTDOWN, VM_START, VM_STOP, VNET_CREATE, VNET_DELETE, VNET_UPDATE, WRITES, ZONE_CREATE, ZONE_DELETE,
    ZONE_UPDATE,
};

/// One endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// HTTP method.
    pub method: &'static str,
    /// Path below `/api2/json`, with `{placeholders}`.
    pub path: &'static str,
    /// Parameters the client may send; `net[n]` stands for `net0` and its like.
    pub parameters: &'static [&'static str],
    /// What it does to Proxmox.
    pub access: Access,
    /// What the token must hold.
    pub privilege: Privilege,
    /// What it must hold beside that.
    pub also: &'static [Also],
}

/// A privilege beside the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Also {
    /// The privilege.
    pub privilege: Privilege,
    /// The parameters that ask for it; empty = every request does.
    pub parameters: &'static [&'static str],
}

/// The privilege an endpoint asks for: any one of `any_of` at `path`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Privilege {
    /// ACL path, with the placeholders of the endpoint; `{…}` of a listed object where a list is filtered.
    pub path: &'static str,
    /// Any one of these; empty = every valid token may ask.
    pub any_of: &'static [&'static str],
    /// What happens without it.
    pub without: Without,
}

/// How Proxmox treats a token that lacks a privilege.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// 403.
    Refused,
    /// 200, but the objects are missing from the list: empty is then not a proof of absence.
    Filtered,
}

impl Privilege {
    /// Whether a list guarded by this shows *every* object to a holder of `permissions`. Where it does not, what is
    /// missing from the list is unknown, not absent (facts/proxmox.md §3).
    #[must_use]
    pub fn sees_all(&self, permissions: &Permissions) -> bool {
        let parent = self.path.split("/{").next().unwrap_or_default();
        let below = format!("{parent}/");
        let any = |path: &str| self.any_of.is_empty() || self.any_of.iter().any(|p| permissions.allows(path, p));
        // An object without an entry of its own inherits; an entry replaces what would be inherited.
        let unlisted = format!("{below}\u{0}");
        any(&unlisted) && permissions.by_path.keys().filter(|path| path.starts_with(&below)).all(|path| any(path))
    }
}

const SDN: &[&str] = &["SDN.Audit", "SDN.Allocate"];
const VIEW: &[&str] = &["pending", "running"];

const fn get(
    path: &'static str,
    parameters: &'static [&'static str],
    at: &'static str,
    any_of: &'static [&'static str],
    without: Without,
) -> Endpoint {
    let privilege = Privilege { path: at, any_of, without };
    Endpoint { method: "GET", path, parameters, access: Access::Read, privilege, also: &[] }
}

const fn open(path: &'static str) -> Endpoint {
    get(path, &[], "/", &[], Without::Refused)
}

use Without::{Filtered, Refused};

/// Version of the node that answers.
pub static VERSION: Endpoint = open("/version");
/// The token's own privileges.
pub static PERMISSIONS: Endpoint = open("/access/permissions");
/// Guests, nodes, zones per node.
pub static RESOURCES: Endpoint = get("/cluster/resources", &[], "/vms/{vmid}", &["VM.Audit"], Filtered);
/// Quorum and members.
pub static CLUSTER_STATUS: Endpoint = get("/cluster/status", &[], "/", &["Sys.Audit"], Refused);
/// Nodes.
pub static NODES: Endpoint = open("/nodes");
/// One node's load.
pub static NODE_STATUS: Endpoint = get("/nodes/{node}/status", &[], "/nodes/{node}", &["Sys.Audit"], Refused);
/// Recent tasks of all nodes.
pub static CLUSTER_TASKS: Endpoint = get("/cluster/tasks", &[], "/nodes/{node}", &["Sys.Audit"], Filtered);
/// Tasks of one node.
pub static NODE_TASKS: Endpoint = get(
    "/nodes/{node}/tasks",
    &["typefilter", "vmid", "since", "until", "errors", "source", "statusfilter", "limit", "start"],
    "/nodes/{node}",
    &["Sys.Audit"],
    Filtered,
);
/// State of one task.
pub static TASK_STATUS: Endpoint =
    get("/nodes/{node}/tasks/{upid}/status", &[], "/nodes/{node}", &["Sys.Audit"], Refused);
/// Log of one task.
pub static TASK_LOG: Endpoint =
    get("/nodes/{node}/tasks/{upid}/log", &["start", "limit"], "/nodes/{node}", &["Sys.Audit"], Refused);
/// SDN zones.
pub static ZONES: Endpoint = get("/cluster/sdn/zones", VIEW, "/sdn/zones/{zone}", SDN, Filtered);
/// SDN VNets.
pub static VNETS: Endpoint = get("/cluster/sdn/vnets", VIEW, "/sdn/zones/{zone}/{vnet}", SDN, Filtered);
/// Subnets of one VNet.
pub static SUBNETS: Endpoint =
    get("/cluster/sdn/vnets/{vnet}/subnets", VIEW, "/sdn/zones/{zone}/{vnet}", SDN, Filtered);
/// SDN controllers.
pub static CONTROLLERS: Endpoint =
    get("/cluster/sdn/controllers", VIEW, "/sdn/controllers/{controller}", SDN, Filtered);
/// Fabrics and their members.
pub static FABRICS: Endpoint = get("/cluster/sdn/fabrics/all", VIEW, "/sdn/fabrics/{fabric}", SDN, Filtered);
/// What an apply would change on one node.
pub static DRY_RUN: Endpoint = get("/cluster/sdn/dry-run", &["node"], "/nodes/{node}", &["Sys.Audit"], Refused);
/// State of each zone on one node.
pub static NODE_ZONES: Endpoint = get("/nodes/{node}/sdn/zones", &[], "/sdn/zones/{zone}", &["SDN.Audit"], Filtered);
/// Realisation of one zone's VNets on one node.
pub static ZONE_CONTENT: Endpoint =
    get("/nodes/{node}/sdn/zones/{zone}/content", &[], "/sdn/zones/{zone}", &["SDN.Audit"], Refused);
/// Routes of one zone's VRF.
pub static IP_VRF: Endpoint =
    get("/nodes/{node}/sdn/zones/{zone}/ip-vrf", &[], "/sdn/zones/{zone}", &["SDN.Audit"], Refused);
/// Addresses one VNet knows.
pub static MAC_VRF: Endpoint =
    get("/nodes/{node}/sdn/vnets/{vnet}/mac-vrf", &[], "/sdn/zones/{zone}/{vnet}", &["SDN.Audit"], Refused);
/// Interfaces of a node and its staged changes.
pub static NODE_NETWORK: Endpoint = get("/nodes/{node}/network", &["type"], "/", &[], Without::Refused);
/// Whether a VMID is free, or which one is.
pub static NEXT_VMID: Endpoint = get("/cluster/nextid", &["vmid"], "/", &[], Refused);
/// Guests of one node.
pub static QEMU: Endpoint = get("/nodes/{node}/qemu", &[], "/vms/{vmid}", &["VM.Audit"], Filtered);
/// One VM's configuration.
pub static VM_CONFIG: Endpoint = vm("/nodes/{node}/qemu/{vmid}/config");
/// One container's configuration.
pub static CONTAINER_CONFIG: Endpoint = vm("/nodes/{node}/lxc/{vmid}/config");
/// One VM's options that wait for a cold start.
pub static VM_PENDING: Endpoint = vm("/nodes/{node}/qemu/{vmid}/pending");
/// One VM's state.
pub static VM_STATUS: Endpoint = vm("/nodes/{node}/qemu/{vmid}/status/current");
/// Whether the guest agent answers. POST, yet it changes nothing.
pub static AGENT_PING: Endpoint = Endpoint { method: "POST", ..agent("/nodes/{node}/qemu/{vmid}/agent/ping") };
/// Addresses inside the guest.
pub static AGENT_INTERFACES: Endpoint = agent("/nodes/{node}/qemu/{vmid}/agent/network-get-interfaces");

const fn vm(path: &'static str) -> Endpoint {
    get(path, &[], "/vms/{vmid}", &["VM.Audit"], Refused)
}

const fn agent(path: &'static str) -> Endpoint {
    get(path, &[], "/vms/{vmid}", &["VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted"], Refused)
}

/// By what [`RESOURCES`] filters its storages, which it lists beside guests.
pub static STORAGE: Privilege = Privilege {
    path: "/storage/{storage}",
    any_of: &["Datastore.Audit", "Datastore.AllocateSpace"],
    without: Filtered,
};

/// All that look. Those that write are [`WRITES`].
pub static ALL: [&Endpoint; 29] = [
    &VERSION,
    &PERMISSIONS,
    &RESOURCES,
    &CLUSTER_STATUS,
    &NODES,
    &NODE_STATUS,
    &CLUSTER_TASKS,
    &NODE_TASKS,
    &TASK_STATUS,
    &TASK_LOG,
    &ZONES,
    &VNETS,
    &SUBNETS,
    &CONTROLLERS,
    &FABRICS,
    &DRY_RUN,
    &NODE_ZONES,
    &ZONE_CONTENT,
    &IP_VRF,
    &MAC_VRF,
    &NODE_NETWORK,
    &NEXT_VMID,
    &QEMU,
    &VM_CONFIG,
    &CONTAINER_CONFIG,
    &VM_PENDING,
    &VM_STATUS,
    &AGENT_PING,
    &AGENT_INTERFACES,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn holding(entries: &[(&str, &str, bool)]) -> Permissions {
        let mut permissions = Permissions::default();
        for (path, privilege, propagates) in entries {
            let set = BTreeSet::from([(*privilege).to_owned()]);
            permissions.by_path.insert((*path).to_owned(), set.clone());
            permissions.propagating.insert((*path).to_owned(), if *propagates { set } else { BTreeSet::new() });
        }
        permissions
    }

    #[test]
    fn a_list_is_complete_only_where_every_path_allows_it() {
        let sees = |entries: &[(&str, &str, bool)]| ZONES.privilege.sees_all(&holding(entries));
        assert!(sees(&[("/", "SDN.Audit", true)]));
        assert!(sees(&[("/sdn", "SDN.Allocate", true)]));
        assert!(!sees(&[]), "a token without rights gets an empty list, not a refusal");
        assert!(!sees(&[("/sdn/zones", "SDN.Audit", false)]));
        assert!(!sees(&[("/sdn/zones/tdemo", "SDN.Audit", true)]), "one zone is not all");
        assert!(!sees(&[("/", "SDN.Audit", true), ("/sdn/zones/eds", "SDN.Use", true)]), "an entry replaces");
        assert!(sees(&[("/", "SDN.Audit", true), ("/sdn/zones/eds", "SDN.Allocate", true)]));
        assert!(!QEMU.privilege.sees_all(&holding(&[("/sdn", "VM.Audit", true)])));
        assert!(NODES.privilege.sees_all(&holding(&[])));
    }

    #[test]
    fn what_looks_and_what_writes_are_apart() {
        for endpoint in ALL {
            assert_eq!(endpoint.access, Access::Read, "{}", endpoint.path);
            assert!(endpoint.method == "GET" || *endpoint == AGENT_PING, "{}", endpoint.path);
        }
        for endpoint in WRITES {
            assert_eq!(endpoint.access, Access::Write, "{}", endpoint.path);
            assert!(endpoint.method != "GET" && !endpoint.privilege.any_of.is_empty(), "{}", endpoint.path);
            let named = endpoint.also.iter().flat_map(|also| also.parameters);
            named.for_each(|p| assert!(endpoint.parameters.contains(p), "{} {p}", endpoint.path));
        }
    }
}
