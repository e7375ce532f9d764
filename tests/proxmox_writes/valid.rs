//! Whatever the types allow is a request that both described versions of the API take.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use deevnet_console::backends::http::{Access, Limits};
use deevnet_console::backends::proxmox::endpoints::{Endpoint, WRITES, Without};
use deevnet_console::backends::proxmox::names::{Alias, Description, LockToken, SubnetId, Tag, Vmid, VnetId, ZoneId};
use deevnet_console::backends::proxmox::{
    Card, Client, CloneRequest, ControllerChange, Copying, DiskSize, Edit, Error, GuestAddress, Leftovers, Lock,
    NewController, NewSubnet, NewVnet, NewZone, Resize, Smbios, SshKeys, SubnetChange, Underlay, VmSettings,
    VnetChange, Waiting, ZoneChange,
};
use deevnet_console::site::model::Trust;
use ipnet::Ipv4Net;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::loopback::{Canned, Seen, Server, site, token};
use super::schema::{contract, numbered, parameter_faults, placeholders};
use super::{UPID, form, permit};

/// Texts of that form, of which only those that the type takes are left.
fn name<T: std::str::FromStr<Err = Error> + std::fmt::Debug + 'static>(form: &'static str) -> BoxedStrategy<T> {
    proptest::string::string_regex(form).unwrap().prop_filter_map("refused by the type", |t| t.parse().ok()).boxed()
}

fn edit<T: std::fmt::Debug + Clone + 'static>(of: BoxedStrategy<T>) -> BoxedStrategy<Edit<T>> {
    prop_oneof![Just(Edit::Leave), of.prop_map(Edit::Set), Just(Edit::Remove)].boxed()
}

fn some<T: std::fmt::Debug + 'static>(of: BoxedStrategy<T>) -> BoxedStrategy<Option<T>> {
    proptest::option::of(of).boxed()
}

fn list<T: std::fmt::Debug + 'static>(of: BoxedStrategy<T>, least: usize) -> BoxedStrategy<Vec<T>> {
    proptest::collection::vec(of, least..4).boxed()
}

const SDN_ID: &str = "[a-zA-Z0-9_-]{1,9}";
const NODE: &str = "[a-zA-Z0-9-]{1,20}";

fn number<T: TryFrom<u32, Error = Error> + std::fmt::Debug + 'static>() -> BoxedStrategy<T> {
    let edges = prop_oneof![Just(1), Just(100), Just(16_777_215), Just(999_999_999), 0..1_000_000_000_u32];
    edges.prop_filter_map("refused by the type", |n| T::try_from(n).ok()).boxed()
}

fn vmid() -> BoxedStrategy<Vmid> {
    number()
}

fn net() -> BoxedStrategy<Ipv4Net> {
    (any::<u32>(), 0..=32_u8).prop_map(|(ip, n)| Ipv4Net::new(Ipv4Addr::from(ip), n).unwrap()).boxed()
}

fn ip() -> BoxedStrategy<Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from).boxed()
}

fn digest() -> BoxedStrategy<Option<deevnet_console::backends::proxmox::names::Digest>> {
    some(name("[0-9a-f]{40}"))
}

fn new_zone() -> impl Strategy<Value = NewZone> {
    let first = (name(SDN_ID), name("[a-zA-Z0-9_-]{1,66}"), number(), list(name(NODE), 0), list(name(NODE), 0));
    let rest = (
        some(name(NODE)),
        some(any::<bool>().boxed()),
        some(any::<bool>().boxed()),
        some((576..9217_u32).boxed()),
        some(name("[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")),
        some(name("[a-z0-9]{2,9}")),
    );
    (first, rest).prop_map(
        |((zone, controller, vni, nodes, exit_nodes), (primary, local, advertise, mtu, mac, ipam))| NewZone {
            nodes,
            exit_nodes,
            exit_nodes_primary: primary,
            exit_nodes_local_routing: local,
            advertise_subnets: advertise,
            mtu,
            mac,
            ipam,
            ..NewZone::new(zone, controller, vni)
        },
    )
}

fn zone_change() -> impl Strategy<Value = ZoneChange> {
    let first =
        (some(name("[a-zA-Z0-9_-]{1,66}")), some(number()), edit(list(name(NODE), 0)), edit(list(name(NODE), 0)));
    let rest = (
        edit(name(NODE)),
        edit(any::<bool>().boxed()),
        edit(any::<bool>().boxed()),
        edit((576..9217_u32).boxed()),
        digest(),
    );
    (first, rest).prop_map(|((controller, vrf_vxlan, nodes, exit_nodes), (primary, local, advertise, mtu, digest))| {
        ZoneChange {
            controller,
            vrf_vxlan,
            nodes,
            exit_nodes,
            exit_nodes_primary: primary,
            exit_nodes_local_routing: local,
            advertise_subnets: advertise,
            mtu,
            digest,
        }
    })
}

fn alias() -> BoxedStrategy<Alias> {
    name(r"[a-zA-Z0-9 ()_.,:/\-!ä\n]{1,40}")
}

fn underlay() -> BoxedStrategy<Underlay> {
    let peers = list(any::<std::net::IpAddr>().boxed(), 1).prop_map(Underlay::Peers);
    prop_oneof![name("[a-zA-Z0-9-]{1,9}").prop_map(Underlay::Fabric), peers].boxed()
}

fn ssh_keys() -> BoxedStrategy<SshKeys> {
    let line = "(ssh-ed25519|ecdsa-sha2-nistp256) [A-Za-z0-9+/]{20,60}={0,2}( [ -~]{0,20})?";
    let lines = proptest::collection::vec(proptest::string::string_regex(line).unwrap(), 1..3);
    lines.prop_filter_map("refused by the type", |lines| SshKeys::new(&lines.join("\n")).ok()).boxed()
}

fn smbios() -> BoxedStrategy<Smbios> {
    let uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    let made = (uuid, proptest::collection::vec(any::<u8>(), 0..300), any::<bool>());
    let made = made.prop_map(|(uuid, serial, more)| {
        let mut smbios = Smbios::parse(&format!("uuid={uuid}{}", if more { ",family=abc" } else { "" })).unwrap();
        smbios.set_serial(&serial);
        smbios
    });
    made.boxed()
}

fn address() -> BoxedStrategy<GuestAddress> {
    let fixed = (net(), some(ip())).prop_map(|(address, gateway)| GuestAddress::Fixed { address, gateway });
    prop_oneof![Just(GuestAddress::Dhcp), fixed].boxed()
}

fn card() -> BoxedStrategy<Card> {
    let parts = (name("[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}"), name(r"[a-zA-Z0-9._-]{1,16}"), any::<bool>());
    parts.prop_map(|(mac, bridge, firewall)| Card { mac, bridge, firewall }).boxed()
}

fn description() -> BoxedStrategy<Description> {
    name(r"[ -~äß\n\t]{1,60}")
}

fn settings() -> impl Strategy<Value = VmSettings> {
    let tag: BoxedStrategy<Tag> = name(r"[a-z0-9_+.A-Z-]{1,12}");
    let first = (
        some(name(r"[a-zA-Z0-9.-]{1,30}")),
        edit(description()),
        edit(list(tag, 1)),
        some((1..128_u32).boxed()),
        some((16..65536_u32).boxed()),
        some(any::<bool>().boxed()),
        some(any::<bool>().boxed()),
    );
    let cards = proptest::collection::btree_map(0..=31_u8, edit(card()), 0..3);
    let addresses = proptest::collection::btree_map(0..=31_u8, edit(address()), 0..3);
    let rest = (
        cards,
        addresses,
        edit(list(any::<std::net::IpAddr>().boxed(), 1)),
        edit(name(r"[a-zA-Z0-9.-]{1,30}")),
        edit(name(r"[a-z0-9_-]{1,33}")),
        edit(any::<bool>().boxed()),
        edit(ssh_keys()),
        some(smbios()),
        digest(),
    );
    (first, rest).prop_map(|(a, b)| VmSettings {
        name: a.0,
        description: a.1,
        tags: a.2,
        cores: a.3,
        memory_mib: a.4,
        agent: a.5,
        onboot: a.6,
        nets: b.0,
        ipconfigs: b.1,
        nameservers: b.2,
        searchdomain: b.3,
        ciuser: b.4,
        ciupgrade: b.5,
        sshkeys: b.6,
        smbios: b.7,
        digest: b.8,
    })
}

fn clone_request() -> impl Strategy<Value = CloneRequest> {
    let storage = some(name(r"[a-zA-Z0-9._-]{1,20}")).prop_map(|storage| Copying::Full { storage });
    let copy = prop_oneof![Just(Copying::Linked), storage];
    let pool = some(name(r"[a-zA-Z0-9._/-]{1,12}"));
    (vmid(), name(r"[a-zA-Z0-9._-]{1,30}"), copy, some(name(NODE)), pool, some(description())).prop_map(
        |(newid, name, copy, target, pool, description)| CloneRequest { newid, name, copy, target, pool, description },
    )
}

/// Everything that one case asks for.
#[derive(Debug)]
struct Sdn {
    token: LockToken,
    ids: (ZoneId, VnetId, SubnetId),
    zone: NewZone,
    zone_change: ZoneChange,
    vnet: NewVnet,
    vnet_change: VnetChange,
    subnet: NewSubnet,
    subnet_change: SubnetChange,
    controller: NewController,
    controller_change: ControllerChange,
    flag: bool,
}

fn sdn() -> impl Strategy<Value = Sdn> {
    let vnet = (name(SDN_ID), name(SDN_ID), number(), some(alias()));
    let vnet = vnet.prop_map(|(vnet, zone, tag, alias)| NewVnet { vnet, zone, tag, alias });
    let vnet_change = (some(number()), edit(alias()), digest());
    let vnet_change = vnet_change.prop_map(|(tag, alias, digest)| VnetChange { tag, alias, digest });
    let subnet = (name(SDN_ID), net(), some(ip()), any::<bool>());
    let subnet = subnet.prop_map(|(vnet, net, gateway, snat)| NewSubnet { vnet, net, gateway, snat });
    let subnet_change = (edit(ip()), some(any::<bool>().boxed()), digest());
    let subnet_change = subnet_change.prop_map(|(gateway, snat, digest)| SubnetChange { gateway, snat, digest });
    let controller = (name("[a-zA-Z0-9_-]{1,66}"), any::<u32>(), underlay());
    let controller = controller.prop_map(|(controller, asn, underlay)| NewController { controller, asn, underlay });
    let controller_change = (some(any::<u32>().boxed()), some(underlay()), digest());
    let controller_change =
        controller_change.prop_map(|(asn, underlay, digest)| ControllerChange { asn, underlay, digest });
    let ids = (name(SDN_ID), name(SDN_ID), name::<ZoneId>(SDN_ID), net());
    let ids = ids.prop_map(|(zone, vnet, of, net)| (zone, vnet, SubnetId::of(&of, net)));
    let made = (
        name("[0-9a-f-]{36}"),
        ids,
        (new_zone(), zone_change()),
        (vnet, vnet_change),
        (subnet, subnet_change),
        (controller, controller_change),
        any::<bool>(),
    );
    made.prop_map(|(token, ids, zones, vnets, subnets, controllers, flag)| Sdn {
        token,
        ids,
        zone: zones.0,
        zone_change: zones.1,
        vnet: vnets.0,
        vnet_change: vnets.1,
        subnet: subnets.0,
        subnet_change: subnets.1,
        controller: controllers.0,
        controller_change: controllers.1,
        flag,
    })
}

async fn ask_sdn(client: &Client, case: &Sdn) {
    let permit = permit();
    let (token, (zone, vnet, subnet)) = (&case.token, &case.ids);
    let lock = if case.flag { Lock::Release } else { Lock::Keep };
    let _ = client.sdn_lock(&permit, if case.flag { Waiting::Allow } else { Waiting::Refuse }).await;
    let _ = client.zone_create(&permit, token, &case.zone).await;
    let _ = client.zone_update(&permit, token, zone, &case.zone_change).await;
    let _ = client.zone_delete(&permit, token, zone).await;
    let _ = client.vnet_create(&permit, token, &case.vnet).await;
    let _ = client.vnet_update(&permit, token, vnet, &case.vnet_change).await;
    let _ = client.vnet_delete(&permit, token, vnet).await;
    let _ = client.subnet_create(&permit, token, &case.subnet).await;
    let _ = client.subnet_update(&permit, token, vnet, subnet, &case.subnet_change).await;
    let _ = client.subnet_delete(&permit, token, vnet, subnet).await;
    let _ = client.controller_create(&permit, token, &case.controller).await;
    let _ = client.controller_update(&permit, token, &case.controller.controller, &case.controller_change).await;
    let _ = client.controller_delete(&permit, token, &case.controller.controller).await;
    let _ = client.sdn_apply(&permit, token, lock).await;
    let _ = client.sdn_rollback(&permit, token, lock).await;
    let _ = client.sdn_unlock(&permit, token).await;
    let _ = client.sdn_unlock_by_force(&permit).await;
}

/// What is asked for of one VM.
type Guest = ((String, Vmid), CloneRequest, VmSettings, Resize, (Option<u32>, bool));

fn guest() -> impl Strategy<Value = Guest> {
    let size = prop_oneof![(1..4096_u32).prop_map(DiskSize::Total), (1..4096_u32).prop_map(DiskSize::More)];
    let resize = (name("(scsi|virtio|sata|ide)[0-9]{1,2}"), size, digest());
    let resize = resize.prop_map(|(disk, size, digest)| Resize { disk, size, digest });
    let power = (some((0..600_u32).boxed()), any::<bool>());
    (("[a-zA-Z0-9]{1,12}", vmid()), clone_request(), settings(), resize, power)
}

async fn ask_guest(client: &Client, ((node, vmid), clone, settings, resize, (timeout, flag)): &Guest) {
    let (permit, node, vmid) = (permit(), node.parse().unwrap(), *vmid);
    let _ = client.vm_clone(&permit, &node, vmid, clone).await;
    let _ = client.vm_configure(&permit, &node, vmid, settings).await;
    let _ = client.vm_configure_as_task(&permit, &node, vmid, settings).await;
    let _ = client.vm_resize(&permit, &node, vmid, resize).await;
    let _ = client.vm_start(&permit, &node, vmid).await;
    let _ = client.vm_shutdown(&permit, &node, vmid, *timeout, *flag).await;
    let _ = client.vm_stop(&permit, &node, vmid, *flag).await;
    let _ = client.vm_reboot(&permit, &node, vmid, *timeout).await;
    let leftovers = Leftovers { purge: *flag, unreferenced_disks: !flag };
    let _ = client.vm_destroy(&permit, &node, vmid, leftovers).await;
}

fn endpoint_of(seen: &Seen) -> (&'static Endpoint, BTreeMap<String, String>) {
    let path = seen.path.strip_prefix("/api2/json").unwrap_or_else(|| panic!("not the JSON API: {}", seen.path));
    let mut fits = WRITES.iter().filter(|e| e.method == seen.method);
    fits.find_map(|e| Some((*e, placeholders(e.path, path)?))).unwrap_or_else(|| panic!("not in the table: {seen:?}"))
}

/// Faults of one request in each description; the parameters that it used are added to `used`.
fn faults(seen: &Seen, apis: &[Value], used: &mut BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let (endpoint, mut values) = endpoint_of(seen);
    assert_eq!(endpoint.access, Access::Write);
    let mut sent = form(seen);
    assert!(sent.is_empty() || endpoint.method != "DELETE", "a DELETE with a body is refused: {seen:?}");
    assert!(seen.query.is_empty() || endpoint.method == "DELETE", "{seen:?}");
    sent.extend(seen.query.iter().cloned());
    let key = format!("{} {}", endpoint.method, endpoint.path);
    let names = sent.keys().map(|name| {
        let numbered = numbered(name);
        if endpoint.parameters.contains(&numbered.as_str()) { numbered } else { name.clone() }
    });
    used.entry(key.clone()).or_default().extend(names);
    let in_path = values.keys().find(|name| sent.contains_key(*name));
    assert_eq!(in_path, None, "a parameter of the path comes again");
    values.extend(sent);
    let of_api = |api: &Value| {
        let operation = api.get(&key).unwrap_or_else(|| panic!("no {key}"));
        assert_ne!(operation["allowtoken"], 0, "{key} cannot be called with a token");
        parameter_faults(&operation["parameters"], &values)
    };
    apis.iter().flat_map(of_api).map(|fault| format!("{key}: {fault}")).collect()
}

#[test]
fn whatever_the_types_allow_is_taken_by_both_versions() {
    let name = "whatever_the_types_allow_is_taken_by_both_versions";
    let apis: Vec<Value> =
        ["pve-api.json", "pve-api-9.2.json"].iter().filter_map(|file| contract(file, name)).collect();
    if apis.len() < 2 {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = format!(r#"{{"data":"{UPID}"}}"#);
    let server = runtime.block_on(Server::start(move |_| Canned::json(&answer)));
    let client = Client::new(&site(&server.origin, Trust::Plaintext), token(), Limits::default()).unwrap();
    let used = std::cell::RefCell::new(BTreeMap::new());
    let checked = std::cell::Cell::new(0);
    let judge = || {
        let mut used = used.borrow_mut();
        let seen = server.take_seen();
        checked.set(checked.get() + seen.len());
        let found: Vec<String> = seen.iter().flat_map(|request| faults(request, &apis, &mut used)).collect();
        prop_assert!(found.is_empty(), "{found:#?}");
        Ok(())
    };
    let config = Config { cases: 128, failure_persistence: None, max_shrink_iters: 64, ..Config::default() };
    TestRunner::new(config.clone())
        .run(&sdn(), |case| {
            runtime.block_on(ask_sdn(&client, &case));
            judge()
        })
        .unwrap();
    TestRunner::new(config)
        .run(&guest(), |case| {
            runtime.block_on(ask_guest(&client, &case));
            judge()
        })
        .unwrap();
    for endpoint in WRITES {
        let declared: BTreeSet<String> = endpoint.parameters.iter().map(|p| (*p).to_owned()).collect();
        let key = format!("{} {}", endpoint.method, endpoint.path);
        assert_eq!(used.borrow().get(&key), Some(&declared), "{key}: the table lists exactly what is sent");
    }
    println!("{} requests valid in {} descriptions, {} endpoints", checked.get(), apis.len(), WRITES.len());
}

#[test]
fn privileges_of_what_writes_are_those_of_the_api() {
    for file in ["pve-api.json", "pve-api-9.2.json"] {
        let Some(api) = contract(file, "privileges_of_what_writes_are_those_of_the_api") else { return };
        let mut checked = 0;
        for endpoint in WRITES {
            let permissions = &api[&format!("{} {}", endpoint.method, endpoint.path)]["permissions"];
            assert_eq!(endpoint.privilege.without, Without::Refused);
            let mut wanted = Vec::new();
            collect(&permissions["check"], &mut wanted);
            for (path, any_of) in wanted {
                let own = std::iter::once(&endpoint.privilege).chain(endpoint.also.iter().map(|also| &also.privilege));
                let known = own.into_iter().any(|need| need.path == path && need.any_of == any_of);
                assert!(known, "{file} {}: {path} {any_of:?}", endpoint.path);
                checked += 1;
            }
        }
        println!("{file}: {checked} privileges agree");
        assert!(checked >= 18, "{checked}");
    }
}

/// Path and privileges of each `perm` in a check. A right on a pool stands for the one on the VM's own path.
fn collect<'a>(check: &'a Value, into: &mut Vec<(&'a str, Vec<&'a str>)>) {
    let Some(parts) = check.as_array() else { return };
    match parts.first().and_then(Value::as_str) {
        Some("perm") if !parts[1].as_str().unwrap().starts_with("/pool/") => {
            let any_of = parts[2].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            into.push((parts[1].as_str().unwrap(), any_of));
        }
        Some("and" | "or") => parts.iter().skip(1).for_each(|part| collect(part, into)),
        _ => {}
    }
}
