//! Builds the invented site: the worked tenants of the platform with invented neighbours, or any number of tenants.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde_json::json;

use super::boot::{self, Boot};
use super::names::{self, Names};
use super::object;
use super::perimeter::{self, Perimeter, Release};
use super::registry::{self, Registry};
use super::sdn::{Kind, Sdn};
use super::state::{ApiHealth, ExitNode, FrrUnit, Guest, Node, Object, Reach, Role, Storage, Task, Token, World, mix};
use super::writing::{Reload, Writing};

/// Node that carries tenants.
pub const EXIT_NODE: &str = "dv02hyp002p02";
/// Node that carries service machines.
pub const SERVICE_NODE: &str = "dv02hyp001p01";
/// What people call the nodes.
pub const ALIASES: &[(&str, &str)] = &[("hv01", SERVICE_NODE), ("hv02", EXIT_NODE)];
/// Id of the console's token, which may read.
pub const TOKEN_ID: &str = "deevnet@pve!console";
/// Id of the token that may change things.
pub const WRITER_ID: &str = "deevnet@pve!operator";

const GIB: u64 = 1 << 30;

/// A tenant to be built.
struct Tenant {
    name: String,
    index: u32,
    workloads: Vec<String>,
}

const DEFAULT: &[(&str, u32, &[&str])] = &[
    ("tdemo", 1, &["app", "worker"]),
    ("eds", 2, &["services", "jobs"]),
    (
        "greenhse",
        3,
        &["app", "broker", "camera-1", "camera-2", "climate", "db", "grafana", "irrigation", "lights", "reports"],
    ),
    (
        "sensors",
        4,
        &[
            "gw-01", "gw-02", "gw-03", "gw-04", "gw-05", "gw-06", "gw-07", "gw-08", "gw-09", "gw-10", "gw-11", "gw-12",
            "gw-13", "gw-14", "gw-15", "gw-16", "gw-17", "gw-18", "gw-19", "gw-20",
        ],
    ),
    ("bench1", 5, &["runner-1", "runner-2", "cache", "registry"]),
    ("radio", 7, &["web", "stream", "archive", "mixer"]),
];

const HEADS: &[&str] = &[
    "al", "ba", "cor", "del", "em", "fen", "gor", "hal", "ir", "jun", "kel", "lor", "mer", "nor", "or", "pel", "qu",
    "rem", "sol", "tam", "ul", "ver", "wes", "xen", "yar", "zel",
];
const TAILS: &[&str] = &["da", "mi", "no", "ra", "tis", "vo", "ka", "lu"];
const JOBS: &[&str] = &["app", "api", "db", "queue", "web", "cache", "jobs", "proxy", "store", "relay"];

/// Builds the default site when `tenants` is `None`, else that many invented tenants (0–62) of `workloads` (0–40).
/// `secrets` are those of the console's two tokens: the reading and the writing one.
pub fn mobile(seed: u64, now: i64, secrets: (&str, &str), tenants: Option<u32>, workloads: Option<u32>) -> World {
    let plan = plan(seed, tenants, workloads);
    let booted = now - 19 * 86_400 - i64::try_from(mix(seed, "boot") % 40_000).unwrap_or(0);
    let mut world = frame(seed, booted, secrets);
    controller(&mut world.sdn);
    for tenant in &plan {
        tenant_sdn(&mut world.sdn, tenant, seed);
        for (ordinal, workload) in (0..).zip(&tenant.workloads) {
            let (vmid, guest) = workload_guest(&world, tenant, ordinal, workload, now);
            world.guests.insert(vmid, guest);
        }
    }
    world.sdn.apply();
    world.sdn.version = 41;
    services(&mut world, now);
    tasks(&mut world, &plan, now);
    world.names = names::build(&world, now);
    world.boot = boot::build(&world);
    world.registry = registry::build(&world);
    world.perimeter = perimeter::build::build(&world, now, Release::default());
    world
}

fn plan(seed: u64, tenants: Option<u32>, workloads: Option<u32>) -> Vec<Tenant> {
    let cap = workloads.map_or(usize::MAX, |n| usize::try_from(n.min(40)).unwrap_or(40));
    let Some(count) = tenants else {
        return DEFAULT
            .iter()
            .map(|(name, index, names)| Tenant {
                name: (*name).to_owned(),
                index: *index,
                workloads: names.iter().take(cap).map(|n| (*n).to_owned()).collect(),
            })
            .collect();
    };
    let each = if cap == usize::MAX { 4 } else { cap };
    (1..=count.min(62)).map(|index| Tenant { name: invented(seed, index), index, workloads: jobs(each) }).collect()
}

/// A name no other index gets: heads and tails are walked in step, a third round adds a digit.
fn invented(seed: u64, index: u32) -> String {
    if let Some((name, ..)) = DEFAULT.iter().find(|(_, i, _)| *i == index) {
        return (*name).to_owned();
    }
    let start = mix(seed, "names") % 26;
    let slot = usize::try_from(u64::from(index) + start).unwrap_or(0);
    let head = HEADS.get(slot % HEADS.len()).copied().unwrap_or("t");
    let tail = TAILS.get(slot / HEADS.len() % TAILS.len()).copied().unwrap_or("x");
    format!("{head}{tail}")
}

fn jobs(count: usize) -> Vec<String> {
    (0..count)
        .map(|i| {
            let job = JOBS.get(i % JOBS.len()).copied().unwrap_or("app");
            if i < JOBS.len() { job.to_owned() } else { format!("{job}-{}", i / JOBS.len() + 1) }
        })
        .collect()
}

fn frame(seed: u64, booted: i64, secrets: (&str, &str)) -> World {
    World {
        seed,
        booted,
        disturbed: booted,
        cluster: "mobile".to_owned(),
        quorate: true,
        local: EXIT_NODE.to_owned(),
        nodes: vec![
            node(SERVICE_NODE, 1, Ipv4Addr::new(10, 20, 99, 21), 32 * GIB, false),
            node(EXIT_NODE, 2, Ipv4Addr::new(10, 20, 99, 22), 64 * GIB, true),
        ],
        guests: BTreeMap::new(),
        storages: vec![
            storage("local", "dir", "iso,vztmpl,backup,snippets"),
            storage("local-lvm", "lvmthin", "images,rootdir"),
        ],
        sdn: Sdn::default(),
        tasks: Vec::new(),
        tokens_refused: None,
        tokens: BTreeMap::from([
            (TOKEN_ID.to_owned(), Token { secret: secrets.0.to_owned(), role: Role::Auditor }),
            (WRITER_ID.to_owned(), Token { secret: secrets.1.to_owned(), role: Role::Operator }),
        ]),
        writing: Writing::default(),
        api: ApiHealth { up: true, tokens_known: true, unauthorized_delay_ms: 3000, ..ApiHealth::default() },
        exit: exit_node(),
        names: Names::default(),
        perimeter: Perimeter::default(),
        boot: Boot::default(),
        registry: Registry::default(),
    }
}

/// The exit node of the default site, healthy.
#[must_use]
pub fn exit_node() -> ExitNode {
    ExitNode {
        node: EXIT_NODE.to_owned(),
        transit_dev: "vmbr0.50".to_owned(),
        transit_address: Ipv4Addr::new(10, 20, 50, 22),
        transit_gateway: Ipv4Addr::new(10, 20, 50, 1),
        management_gateway: Ipv4Addr::new(10, 20, 99, 1),
        vtep: Ipv4Addr::new(10, 20, 255, 2),
        reach: Reach::After(0),
        root: true,
        transit_forwarding: true,
        rp_filter: 0,
        rp_drops: false,
        frr: FrrUnit::Active,
        forward_drop: false,
        conntrack_full: false,
        gateway_answers: true,
        mtu_blackhole: false,
        main_via_management: false,
        vrfs: BTreeMap::new(),
        uplink_down: false,
        frr_saved: None,
        missing_vnets: std::collections::BTreeSet::new(),
        tables: BTreeMap::new(),
    }
}

fn storage(name: &str, plugin: &str, content: &str) -> Storage {
    Storage { name: name.to_owned(), plugin: plugin.to_owned(), content: content.to_owned(), shared: false }
}

fn node(name: &str, id: u32, ip: Ipv4Addr, memory: u64, transit: bool) -> Node {
    let mut interfaces = vec![
        object(json!({"iface": "eno1", "type": "eth", "method": "manual", "method6": "manual", "families": ["inet"],
            "exists": 1, "active": 1, "priority": 3})),
        bridge(ip, if transit { None } else { Some("10.20.99.1") }),
    ];
    if transit {
        interfaces.push(vlan("vmbr0.50", "10.20.50.22", Some("10.20.50.1"), 5));
        interfaces.push(vlan("vmbr0.51", "10.20.51.22", None, 6));
    }
    Node {
        name: name.to_owned(),
        id,
        ip,
        online: true,
        cores: 16,
        memory,
        interfaces,
        sdn_version: None,
        loaded: None,
        reload: Reload::Right,
        vnet_errors: BTreeMap::new(),
    }
}

fn bridge(ip: Ipv4Addr, gateway: Option<&str>) -> Object {
    let mut row = object(json!({"iface": "vmbr0", "type": "bridge", "method": "static", "method6": "manual",
        "families": ["inet"], "address": ip.to_string(), "netmask": "24", "cidr": format!("{ip}/24"),
        "bridge_ports": "eno1", "bridge_stp": "off", "bridge_fd": "0", "bridge_vlan_aware": 1, "bridge_vids": "2-4094",
        "autostart": 1, "active": 1, "priority": 4}));
    if let Some(gateway) = gateway {
        row.insert("gateway".to_owned(), json!(gateway));
    }
    row
}

fn vlan(name: &str, address: &str, gateway: Option<&str>, priority: u32) -> Object {
    let tag = name.rsplit_once('.').map_or("", |(_, tag)| tag);
    let mut row = object(json!({"iface": name, "type": "vlan", "method": "static", "method6": "manual",
        "families": ["inet"], "address": address, "netmask": "24", "cidr": format!("{address}/24"),
        "vlan-id": tag, "vlan-raw-device": "vmbr0", "autostart": 1, "active": 1, "exists": 1, "priority": priority}));
    if let Some(gateway) = gateway {
        row.insert("gateway".to_owned(), json!(gateway));
    }
    row
}

fn controller(sdn: &mut Sdn) {
    sdn.set(Kind::Controller, "evpn1", object(json!({"type": "evpn", "asn": 65020, "fabric": "tfab"})));
    sdn.set(Kind::Fabric, "tfab", object(json!({"protocol": "openfabric", "ip_prefix": "10.20.255.0/24"})));
    let member = json!({"protocol": "openfabric", "ip": "10.20.255.2", "interfaces": ["name=vmbr0.51"],
        "fabric_id": "tfab", "node_id": EXIT_NODE});
    sdn.set(Kind::FabricNode, &format!("tfab_{EXIT_NODE}"), object(member));
}

/// VNet id of a tenant: the first six characters of its name and the VNet's number (domain.md §3).
fn vnet_id(name: &str) -> String {
    let head: String = name.chars().take(6).collect();
    format!("{head}0")
}

fn tenant_sdn(sdn: &mut Sdn, tenant: &Tenant, seed: u64) {
    let bits = mix(seed, &format!("anycast {}", tenant.name));
    let mac = format!("BC:24:11:{:02X}:{:02X}:{:02X}", bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff);
    let zone = json!({"type": "evpn", "controller": "evpn1", "vrf-vxlan": 10_000 + tenant.index, "nodes": EXIT_NODE,
        "exitnodes": EXIT_NODE, "exitnodes-primary": EXIT_NODE, "mac": mac});
    sdn.set(Kind::Zone, &tenant.name, object(zone));
    let vnet = vnet_id(&tenant.name);
    let tag = 20_000 + 10 * tenant.index;
    sdn.set(Kind::Vnet, &vnet, object(json!({"type": "vnet", "zone": tenant.name, "tag": tag})));
    let third = 128 + tenant.index;
    let id = format!("{}-10.20.{third}.0-24", tenant.name);
    let subnet = json!({"type": "subnet", "vnet": vnet, "gateway": format!("10.20.{third}.1"), "snat": 1});
    sdn.set(Kind::Subnet, &id, object(subnet));
}

fn workload_guest(world: &World, tenant: &Tenant, ordinal: u32, workload: &str, now: i64) -> (u32, Guest) {
    let vmid = 2000 + 40 * tenant.index + ordinal;
    let third = u8::try_from(128 + tenant.index).unwrap_or(255);
    let address = Ipv4Addr::new(10, 20, third, u8::try_from(10 + ordinal).unwrap_or(254));
    let [_, high, middle, low] = vmid.to_be_bytes();
    let config = json!({
        "name": format!("{}-{workload}", tenant.name), "cores": 2, "memory": "2048", "agent": "enabled=1", "onboot": 1,
        "net0": format!("virtio=02:de:20:{high:02x}:{middle:02x}:{low:02x},bridge={}", vnet_id(&tenant.name)),
        "ipconfig0": format!("ip={address}/24,gw=10.20.{third}.1"), "nameserver": "10.20.50.1", "ciuser": "tenant",
        "tags": format!("tenant;{}", tenant.name), "ostype": "l26", "scsihw": "virtio-scsi-single",
        "scsi0": format!("local-lvm:vm-{vmid}-disk-0,size=32G"), "boot": "order=scsi0",
        "ide2": format!("local-lvm:vm-{vmid}-cloudinit,media=cdrom,size=4M"),
        "smbios1": format!("uuid={}", uuid(world, &format!("smbios {vmid}"))),
        "vmgenid": uuid(world, &format!("genid {vmid}")),
    });
    let age = i64::try_from(1200 + world.number(&format!("age {vmid}")) % (18 * 86_400)).unwrap_or(1200);
    let guest = Guest {
        node: EXIT_NODE.to_owned(),
        config: object(config),
        pending: Object::new(),
        started: Some(now - age),
        template: false,
        disk: 32 * GIB,
        agent_up: true,
        address: Some((address, 24)),
        floating: None,
        pool: None,
        deaf: false,
        start_fails: false,
    };
    (vmid, guest)
}

/// A UUID that is always the same for a site and a text.
pub(super) fn uuid(world: &World, text: &str) -> String {
    let (a, b) = (world.number(text), world.number(&format!("{text}/2")));
    let (time, mid, version) = (a >> 32, a >> 16 & 0xffff, a & 0xfff);
    format!("{time:08x}-{mid:04x}-4{version:03x}-{:04x}-{:012x}", 0x8000 | b >> 48 & 0x3fff, b & 0xffff_ffff_ffff)
}

/// Machines that belong to no tenant: templates, the platform's own services, a plain bridge machine.
fn services(world: &mut World, now: i64) {
    let rows: &[(u32, &str, &str, bool)] = &[
        (901, "fedora-tenant-44-1.9", EXIT_NODE, true),
        (902, "fedora-tenant-44-1.10", EXIT_NODE, true),
        (101, "dv02prv001v01", SERVICE_NODE, false),
        (102, "dv02idn001v01", SERVICE_NODE, false),
        (103, "dv02nms001v01", SERVICE_NODE, false),
        (120, "burn-in", EXIT_NODE, false),
    ];
    for (vmid, name, node, template) in rows {
        let bits = world.number(&format!("mac {vmid}"));
        let mac = format!("BC:24:11:{:02X}:{:02X}:{:02X}", bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff);
        let config = json!({"name": name, "cores": 2, "memory": "4096", "agent": "1", "ostype": "l26",
            "net0": format!("virtio={mac},bridge=vmbr0"), "scsihw": "virtio-scsi-single", "boot": "order=scsi0",
            "scsi0": format!("local-lvm:{}-{vmid}-disk-0,size=32G", if *template { "base" } else { "vm" }),
            "smbios1": format!("uuid={}", uuid(world, &format!("smbios {vmid}")))});
        let mut guest = Guest {
            node: (*node).to_owned(),
            config: object(config),
            started: (!template).then_some(now - 18 * 86_400),
            template: *template,
            disk: 32 * GIB,
            agent_up: true,
            ..Guest::default()
        };
        if *template {
            guest.config.insert("template".to_owned(), json!(1));
            let drive = format!("local-lvm:vm-{vmid}-cloudinit,media=cdrom,size=4M");
            guest.config.insert("ide2".to_owned(), json!(drive));
        }
        world.guests.insert(*vmid, guest);
    }
}

fn tasks(world: &mut World, plan: &[Tenant], now: i64) {
    let mut starts = vec![];
    for tenant in plan.iter().rev().take(6).rev() {
        let vmid = (2000 + 40 * tenant.index).to_string();
        if tenant.workloads.is_empty() {
            continue;
        }
        starts.push((6 * 3600, "qmclone", "902".to_owned()));
        starts.push((6 * 3600 - 70, "qmconfig", vmid.clone()));
        starts.push((6 * 3600 - 80, "qmstart", vmid));
    }
    starts.push((5 * 3600, "reloadnetworkall", String::new()));
    for (n, (ago, kind, id)) in (0_i64..).zip(starts) {
        let start = now - ago + n * 120;
        world.tasks.push(task(EXIT_NODE, 0x4000 + n, start, kind, &id, TOKEN_ID));
    }
    world.tasks.push(task(EXIT_NODE, 0x4100, now - 4 * 3600, "srvreload", "networking", "root@pam"));
}

/// A task as it ended, two seconds after its start.
pub(super) fn task(node: &str, pid: i64, start: i64, kind: &str, id: &str, user: &str) -> Task {
    Task {
        upid: format!("UPID:{node}:{pid:08X}:{:08X}:{start:08X}:{kind}:{id}:{user}:", 0x0007_0000 + pid),
        ended: Some(start + 2),
        status: "OK".to_owned(),
        log: Vec::new(),
        saved: true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_largest_site_has_names_the_platform_would_take() {
        for seed in 0..40 {
            let workloads = if seed == 0 { 40 } else { 1 };
            let world = mobile(seed, 1_795_950_000, ("s", "w"), Some(62), Some(workloads));
            let zones: Vec<&String> = world.sdn.running.of(Kind::Zone).map(|(zone, _)| zone).collect();
            assert_eq!(zones.len(), 62, "seed {seed}: two tenants share a name");
            for zone in &zones {
                let plain = zone.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
                assert!(plain && (3..=8).contains(&zone.len()), "{zone}");
            }
            assert_eq!(world.sdn.running.of(Kind::Vnet).count(), 62, "seed {seed}: two tenants share a VNet id");
            let tagged = |guest: &&Guest| guest.text("tags").is_some();
            let names: BTreeSet<_> = world.guests.values().filter(tagged).map(|guest| guest.text("name")).collect();
            assert_eq!(names.len(), usize::try_from(62 * workloads).unwrap());
            assert!(names.iter().flatten().all(|name| name.len() <= 29), "a VM name is too long");
        }
    }

    #[test]
    fn equal_seeds_build_equal_sites() {
        let build = |seed| format!("{:?}", mobile(seed, 1_795_950_000, ("s", "w"), Some(5), Some(3)));
        assert_eq!(build(4), build(4));
        assert_ne!(build(4), build(5));
    }
}
