//! Every request that changes something. Each takes a [`crate::backends::permit::Permit`].

use super::{Also, Endpoint, Privilege, Refused};
use crate::backends::http::Access;

const ALLOCATE: &[&str] = &["SDN.Allocate"];
const LOCK: &str = "lock-token";

const fn write(
    method: &'static str,
    path: &'static str,
    parameters: &'static [&'static str],
    at: &'static str,
    any_of: &'static [&'static str],
) -> Endpoint {
    let privilege = Privilege { path: at, any_of, without: Refused };
    Endpoint { method, path, parameters, access: Access::Write, privilege, also: &[] }
}

const fn power(path: &'static str, parameters: &'static [&'static str]) -> Endpoint {
    write("POST", path, parameters, "/vms/{vmid}", &["VM.PowerMgmt"])
}

const fn also(path: &'static str, any_of: &'static [&'static str], parameters: &'static [&'static str]) -> Also {
    Also { privilege: Privilege { path, any_of, without: Refused }, parameters }
}

/// Takes the SDN lock.
pub static SDN_LOCK: Endpoint = write("POST", "/cluster/sdn/lock", &["allow-pending"], "/sdn", ALLOCATE);
/// Gives the SDN lock back, or takes it from whoever holds it.
pub static SDN_UNLOCK: Endpoint = write("DELETE", "/cluster/sdn/lock", &[LOCK, "force"], "/sdn", ALLOCATE);
/// Makes every pending change of the cluster real.
pub static SDN_APPLY: Endpoint = write("PUT", "/cluster/sdn", &[LOCK, "release-lock"], "/sdn", ALLOCATE);
/// Drops every pending change of the cluster.
pub static SDN_ROLLBACK: Endpoint = write("POST", "/cluster/sdn/rollback", &[LOCK, "release-lock"], "/sdn", ALLOCATE);
/// A new zone.
pub static ZONE_CREATE: Endpoint = write(
    "POST",
    "/cluster/sdn/zones",
    &[
        LOCK,
        "zone",
        "type",
        "controller",
        "vrf-vxlan",
        "nodes",
        "exitnodes",
        "exitnodes-primary",
        "exitnodes-local-routing",
        "advertise-subnets",
        "mtu",
        "mac",
        "ipam",
    ],
    "/sdn/zones",
    ALLOCATE,
);
/// A change of a zone.
pub static ZONE_UPDATE: Endpoint = write(
    "PUT",
    "/cluster/sdn/zones/{zone}",
    &[
        LOCK,
        "digest",
        "delete",
        "controller",
        "vrf-vxlan",
        "nodes",
        "exitnodes",
        "exitnodes-primary",
        "exitnodes-local-routing",
        "advertise-subnets",
        "mtu",
    ],
    "/sdn/zones/{zone}",
    ALLOCATE,
);
/// Removes a zone without VNets.
pub static ZONE_DELETE: Endpoint = write("DELETE", "/cluster/sdn/zones/{zone}", &[LOCK], "/sdn/zones/{zone}", ALLOCATE);
/// A new VNet.
pub static VNET_CREATE: Endpoint =
    write("POST", "/cluster/sdn/vnets", &[LOCK, "vnet", "zone", "tag", "alias", "type"], "/sdn/zones/{zone}", ALLOCATE);
/// A change of a VNet.
pub static VNET_UPDATE: Endpoint = write(
    "PUT",
    "/cluster/sdn/vnets/{vnet}",
    &[LOCK, "digest", "delete", "tag", "alias"],
    "/sdn/zones/{zone}/{vnet}",
    ALLOCATE,
);
/// Removes a VNet without subnets.
pub static VNET_DELETE: Endpoint =
    write("DELETE", "/cluster/sdn/vnets/{vnet}", &[LOCK], "/sdn/zones/{zone}/{vnet}", ALLOCATE);
/// A new subnet.
pub static SUBNET_CREATE: Endpoint = write(
    "POST",
    "/cluster/sdn/vnets/{vnet}/subnets",
    &[LOCK, "subnet", "type", "gateway", "snat"],
    "/sdn/zones/{zone}/{vnet}",
    ALLOCATE,
);
/// A change of a subnet.
pub static SUBNET_UPDATE: Endpoint = write(
    "PUT",
    "/cluster/sdn/vnets/{vnet}/subnets/{subnet}",
    &[LOCK, "digest", "delete", "gateway", "snat"],
    "/sdn/zones/{zone}/{vnet}",
    ALLOCATE,
);
/// Removes a subnet; one that does not exist as well.
pub static SUBNET_DELETE: Endpoint =
    write("DELETE", "/cluster/sdn/vnets/{vnet}/subnets/{subnet}", &[LOCK], "/sdn/zones/{zone}/{vnet}", ALLOCATE);
/// A new EVPN controller.
pub static CONTROLLER_CREATE: Endpoint = write(
    "POST",
    "/cluster/sdn/controllers",
    &[LOCK, "controller", "type", "asn", "peers", "fabric"],
    "/sdn/controllers",
    ALLOCATE,
);
/// A change of an EVPN controller.
pub static CONTROLLER_UPDATE: Endpoint = write(
    "PUT",
    "/cluster/sdn/controllers/{controller}",
    &[LOCK, "digest", "delete", "asn", "peers", "fabric"],
    "/sdn/controllers",
    ALLOCATE,
);
/// Removes a controller that no zone uses.
pub static CONTROLLER_DELETE: Endpoint =
    write("DELETE", "/cluster/sdn/controllers/{controller}", &[LOCK], "/sdn/controllers", ALLOCATE);

/// Copies a VM or a template.
pub static VM_CLONE: Endpoint = Endpoint {
    also: &[
        also("/vms/{newid}", &["VM.Allocate"], &[]),
        also("/storage/{storage}", &["Datastore.AllocateSpace"], &[]),
        also("/sdn/zones/{zone}/{vnet}", &["SDN.Use"], &[]),
    ],
    ..write(
        "POST",
        "/nodes/{node}/qemu/{vmid}/clone",
        &["newid", "name", "full", "storage", "target", "pool", "description"],
        "/vms/{vmid}",
        &["VM.Clone"],
    )
};

const SETTINGS: &[&str] = &[
    "digest",
    "delete",
    "name",
    "description",
    "tags",
    "cores",
    "memory",
    "agent",
    "onboot",
    "net[n]",
    "ipconfig[n]",
    "nameserver",
    "searchdomain",
    "ciuser",
    "ciupgrade",
    "sshkeys",
    "smbios1",
];

/// Any one opens the request; each option is then looked at by itself.
const OPENS_SETTINGS: &[&str] = &[
    "VM.Config.Disk",
    "VM.Config.CDROM",
    "VM.Config.CPU",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.HWType",
    "VM.Config.Options",
    "VM.Config.Cloudinit",
];

const BY_SETTING: &[Also] = &[
    also("/vms/{vmid}", &["VM.Config.Options"], &["name", "description", "tags", "agent", "onboot"]),
    also("/vms/{vmid}", &["VM.Config.CPU"], &["cores"]),
    also("/vms/{vmid}", &["VM.Config.Memory"], &["memory"]),
    also("/vms/{vmid}", &["VM.Config.Network"], &["net[n]"]),
    also("/sdn/zones/{zone}/{vnet}", &["SDN.Use"], &["net[n]"]),
    also(
        "/vms/{vmid}",
        &["VM.Config.Cloudinit"],
        &["ipconfig[n]", "nameserver", "searchdomain", "ciuser", "ciupgrade", "sshkeys"],
    ),
    also("/vms/{vmid}", &["VM.Config.HWType"], &["smbios1"]),
];

/// Settings of a VM, at once.
pub static VM_CONFIG_SET: Endpoint = Endpoint {
    also: BY_SETTING,
    ..write("PUT", "/nodes/{node}/qemu/{vmid}/config", SETTINGS, "/vms/{vmid}", OPENS_SETTINGS)
};
/// Settings of a VM, as a task.
pub static VM_CONFIG_TASK: Endpoint = Endpoint {
    also: BY_SETTING,
    ..write("POST", "/nodes/{node}/qemu/{vmid}/config", SETTINGS, "/vms/{vmid}", OPENS_SETTINGS)
};
/// Makes a disk larger.
pub static VM_RESIZE: Endpoint = Endpoint {
    also: &[also("/storage/{storage}", &["Datastore.AllocateSpace"], &[])],
    ..write("PUT", "/nodes/{node}/qemu/{vmid}/resize", &["disk", "size", "digest"], "/vms/{vmid}", &["VM.Config.Disk"])
};
/// Starts a VM.
pub static VM_START: Endpoint = power("/nodes/{node}/qemu/{vmid}/status/start", &[]);
/// Asks the guest to shut down.
pub static VM_SHUTDOWN: Endpoint = power("/nodes/{node}/qemu/{vmid}/status/shutdown", &["timeout", "forceStop"]);
/// Pulls the plug.
pub static VM_STOP: Endpoint = power("/nodes/{node}/qemu/{vmid}/status/stop", &["overrule-shutdown"]);
/// Shuts the guest down and starts it again; pending settings come into force.
pub static VM_REBOOT: Endpoint = power("/nodes/{node}/qemu/{vmid}/status/reboot", &["timeout"]);
/// Destroys a stopped VM and its disks.
pub static VM_DESTROY: Endpoint = write(
    "DELETE",
    "/nodes/{node}/qemu/{vmid}",
    &["purge", "destroy-unreferenced-disks"],
    "/vms/{vmid}",
    &["VM.Allocate"],
);

/// All of them.
pub static WRITES: [&Endpoint; 25] = [
    &SDN_LOCK,
    &SDN_UNLOCK,
    &SDN_APPLY,
    &SDN_ROLLBACK,
    &ZONE_CREATE,
    &ZONE_UPDATE,
    &ZONE_DELETE,
    &VNET_CREATE,
    &VNET_UPDATE,
    &VNET_DELETE,
    &SUBNET_CREATE,
    &SUBNET_UPDATE,
    &SUBNET_DELETE,
    &CONTROLLER_CREATE,
    &CONTROLLER_UPDATE,
    &CONTROLLER_DELETE,
    &VM_CLONE,
    &VM_CONFIG_SET,
    &VM_CONFIG_TASK,
    &VM_RESIZE,
    &VM_START,
    &VM_SHUTDOWN,
    &VM_STOP,
    &VM_REBOOT,
    &VM_DESTROY,
];
