//! The fabric against the site's plan: what still works and is not as it should be, one thing at a time; each with another
//! site's numbers, and with an input missing.

use crate::by_hand::{Site, get, http, item};
use deevnet_console::diagnose::evidence::{Item, Kind};
use deevnet_console::diagnose::finding::Severity;

pub const ZONES: &str = "/api2/json/cluster/sdn/zones?running=1";
const WAITS: &str = "/api2/json/cluster/sdn/zones?pending=1";
const VNETS: &str = "/api2/json/cluster/sdn/vnets?running=1";
const CONTROLLERS: &str = "/api2/json/cluster/sdn/controllers?pending=1";
const FABRICS: &str = "/api2/json/cluster/sdn/fabrics/all?pending=1";
pub const SHOP: &str = "/api2/json/cluster/sdn/vnets/shop0/subnets?running=1";
pub const FARM: &str = "/api2/json/cluster/sdn/vnets/farm0/subnets?running=1";
const CONTENT: &str = "/api2/json/nodes/hv/sdn/zones/shop/content";
const DRY: &str = "/api2/json/cluster/sdn/dry-run?node=hv";
const FRR: &str = "cat /etc/frr/frr.conf";
const LOCAL: &str = "cat /etc/frr/frr.conf.local";
const RUNNING: &str = "vtysh -c 'show running-config'";
const LINKS: &str = "ip -o link show";

/// A site with octet `o`.
fn file(o: u8) -> Item {
    let text = format!(
        r#"version = 1
[site]
name = "yard"
domain = "yard.example"
octet = {o}
[numbering]
vrf_vni_base = {o}0000
vnet_vni_base = {o}50000
overlay = "10.{o}.128.0/18"
asn = 650{o}
vmid_base = 2000
vmids_per_tenant = 40
reserved_names = ["shed"]
[proxmox]
url = "https://192.0.2.1:8006"
token = {{ file = "token" }}
node = "hv"
controller = "ctl"
[[exit_node]]
name = "hv"
transport = {{ command = ["false"] }}
transit_interface = "up.7"
transit_address = "10.{o}.0.22"
transit_gateway = "10.{o}.0.1"
"#
    );
    item("site.toml", "console", Kind::Material("the site file".to_owned()), &text)
}

fn zone(name: &str, vni: u32, more: &str) -> String {
    format!(
        r#"{{"zone":"{name}","type":"evpn","controller":"ctl","vrf-vxlan":{vni},"nodes":"hv","exitnodes":"hv","exitnodes-primary":"hv"{more}}}"#
    )
}

fn zones(rows: &[String]) -> Item {
    get("hv", ZONES, &format!(r#"{{"data":[{}]}}"#, rows.join(",")))
}

pub fn vnets(rows: &str) -> Item {
    get("hv", VNETS, &format!(r#"{{"data":[{rows}]}}"#))
}

/// A subnet as Proxmox lists it.
fn subnet(path: &str, zone: &str, net: &str, more: &str) -> Item {
    let (ip, mask) = net.split_once('/').expect("a prefix");
    let id = format!("{zone}-{ip}-{mask}");
    let body = format!(
        r#"{{"data":[{{"id":"{id}","subnet":"{id}","type":"subnet","cidr":"{net}","zone":"{zone}","vnet":"{zone}0"{more}}}]}}"#
    );
    get("hv", path, &body)
}

fn controller(more: &str) -> Item {
    get("hv", CONTROLLERS, &format!(r#"{{"data":[{{"controller":"ctl","type":"evpn"{more}}}]}}"#))
}

fn fabrics(nodes: &str) -> Item {
    let body = format!(
        r#"{{"data":{{"fabrics":[{{"id":"under","protocol":"openfabric","ip_prefix":"10.250.0.0/24"}}],"nodes":[{nodes}]}}}}"#
    );
    get("hv", FABRICS, &body)
}

const MEMBER: &str = r#"{"fabric_id":"under","node_id":"hv","ip":"10.250.0.2","interfaces":["name=up.8"]}"#;

fn ran(line: &str, body: &str) -> Item {
    item(line, "hv", Kind::Command { line: line.to_owned(), exit: Some(0) }, body)
}

fn vrf(name: &str, vni: u32, o: u8) -> String {
    format!("vrf vrf_{name}\n vni {vni}\n ip route 0.0.0.0/0 10.{o}.0.1 nexthop-vrf default\nexit-vrf\n!\n")
}

fn links(mtu: u32) -> Item {
    let link = |n: u8, name: &str, mtu: u32| {
        format!("{n}: {name}: <UP,LOWER_UP> mtu {mtu} qdisc noqueue state UP mode DEFAULT\n")
    };
    let names = ["up.7", "vrf_shop", "shop0", "vrf_farm", "farm0"];
    let body: String = (1..).zip(names).map(|(n, name)| link(n, name, 1500)).collect();
    ran(LINKS, &format!("{body}{}", link(9, "up.8", mtu)))
}

/// Two tenants of index 1 and 2.
fn site_of(o: u8) -> Site {
    let base = u32::from(o) * 10_000;
    let tags = u32::from(o) * 100_000 + 50_000;
    let (shop, farm) = (base + 1, base + 2);
    let conf = format!("frr version 10.4.1\n!\n{}{}", vrf("shop", shop, o), vrf("farm", farm, o));
    Site(vec![
        file(o),
        zones(&[zone("shop", shop, ""), zone("farm", farm, "")]),
        get("hv", WAITS, r#"{"data":[]}"#),
        get("hv", "/api2/json/cluster/sdn/vnets?pending=1", r#"{"data":[]}"#),
        vnets(&format!(
            r#"{{"vnet":"shop0","zone":"shop","tag":{}}},{{"vnet":"farm0","zone":"farm","tag":{}}}"#,
            tags + 10,
            tags + 20
        )),
        subnet(SHOP, "shop", &format!("10.{o}.129.0/24"), &format!(r#","gateway":"10.{o}.129.1","snat":1"#)),
        subnet(FARM, "farm", &format!("10.{o}.130.0/24"), &format!(r#","gateway":"10.{o}.130.1","snat":1"#)),
        controller(&format!(r#","asn":650{o},"fabric":"under""#)),
        fabrics(MEMBER),
        get("hv", "/api2/json/nodes", r#"{"data":[{"node":"hv","status":"online"},{"node":"hw","status":"online"}]}"#),
        get("hv", CONTENT, r#"{"data":[{"vnet":"shop0","status":"available"}]}"#),
        get("hv", DRY, r#"{"data":{"frr-diff":null,"interfaces-diff":null}}"#),
        ran(FRR, &conf),
        ran(
            LOCAL,
            &format!("{}{}", vrf("shop", shop, o), vrf("farm", farm, o))
                .replace(&format!(" vni {shop}\n"), "")
                .replace(&format!(" vni {farm}\n"), ""),
        ),
        ran(RUNNING, &conf),
        links(1500),
    ])
}

pub fn site() -> Site {
    site_of(9)
}

/// The titles of what `id` says.
fn titles(site: &Site, id: &str) -> Vec<String> {
    site.report().findings.into_iter().filter(|f| f.id == id).map(|f| f.title).collect()
}

#[test]
fn a_fabric_by_the_plan_has_no_finding_whatever_its_numbers() {
    for o in [9, 20, 77] {
        site_of(o).is(&[]);
    }
}

#[test]
fn numbers_that_no_index_gives() {
    site().with(zones(&[zone("shop", 90_001, ""), zone("farm", 99_999, "")])).is(&["zone-unexplained"]);
    site().with(zones(&[zone("shop", 90_001, ""), zone("farm", 1, "")])).is(&["zone-unexplained"]);
    // The drill's index is in the plan.
    let drill = subnet(FARM, "farm", "10.9.191.0/24", r#","gateway":"10.9.191.1","snat":1"#);
    let tags = vnets(r#"{"vnet":"shop0","zone":"shop","tag":950010},{"vnet":"farm0","zone":"farm","tag":950630}"#);
    site().with(zones(&[zone("shop", 90_001, ""), zone("farm", 90_063, "")])).with(drill).with(tags).is(&[]);
    let of = |tag: u32| {
        vnets(&format!(r#"{{"vnet":"shop0","zone":"shop","tag":{tag}}},{{"vnet":"farm0","zone":"farm","tag":950020}}"#))
    };
    site().with(of(950_019)).is(&[]);
    site().with(of(950_021)).is(&["tag-off-plan"]);
    site().with(of(7)).is(&["tag-off-plan"]);
    // The same number in another site's plan is nobody's here, and without a site file nothing is expected.
    site_of(20).with(zones(&[zone("shop", 90_001, ""), zone("farm", 200_002, "")])).is(&["zone-unexplained"]);
    site().with(of(7)).without("site.toml").is(&[]);
    site()
        .without(&format!("GET {VNETS}"))
        .without("GET /api2/json/cluster/sdn/vnets?pending=1")
        .is_unknown("the VNets and their tags");
}

#[test]
fn subnets_gateways_and_translation_by_the_plan() {
    let shop = |net: &str, more: &str| site().with(subnet(SHOP, "shop", net, more));
    shop("10.9.140.0/24", r#","gateway":"10.9.140.1","snat":1"#).is(&["subnet-off-plan"]);
    shop("192.0.2.0/24", r#","gateway":"192.0.2.1","snat":1"#).is(&["subnet-off-plan"]);
    shop("10.9.129.0/24", r#","gateway":"10.9.129.254","snat":1"#).is(&["gateway-off-plan"]);
    shop("10.9.129.0/24", r#","gateway":"10.9.129.1","snat":0"#).is(&["subnet-snat-off"]);
    shop("10.9.129.0/24", r#","gateway":"10.9.129.1""#).is(&["subnet-snat-off"]);
    // Without any gateway nothing can work: the rest follows.
    shop("10.9.129.0/24", r#","snat":1"#).is(&["snat-without-gateway"]);
    shop("10.9.129.0/24", r#","snat":1"#).without("site.toml").is(&["snat-without-gateway"]);
    shop("10.9.129.0/24", r#","snat":1,"pending":{"gateway":"10.9.129.1"},"state":"changed""#)
        .without("site.toml")
        .is(&[]);
}

#[test]
fn zones_of_another_kind_and_names_that_are_taken() {
    // A zone that is not on the node is another matter.
    let with = |row: &str| {
        let all = [zone("shop", 90_001, ""), zone("farm", 90_002, ""), row.to_owned()];
        site().with(zones(&all)).without(LINKS)
    };
    with(r#"{"zone":"office","type":"simple"}"#).is(&["zone-not-evpn"]);
    with(r#"{"zone":"office","type":"simple"}"#).without("site.toml").is(&[]);
    with(r#"{"zone":"office"}"#).is(&[]);
    with(&zone("shed", 90_005, "")).is(&["zone-name-reserved"]);
    let alike = [zone("project1", 90_003, ""), zone("project2", 90_004, "")].join(",");
    with(&alike).is(&["vnet-name-clash"]);
    with(&zone("shop", 90_001, "").replace("\"shop\"", "\"shopper\"").replace("90001", "90006")).is(&[]);
    // A name that no tenant can have, with the numbers of one.
    with(&zone("Office", 90_007, "")).is(&["zone-unexplained"]);
}

#[test]
fn a_controller_and_what_it_stands_on() {
    site().with(controller(r#","asn":65020,"fabric":"under""#)).is(&["controller-off-plan"]);
    site().with(controller(r#","asn":"6509","fabric":"under""#)).is(&[]);
    site()
        .with(zones(&[zone("shop", 90_001, "").replace("\"ctl\"", "\"other\""), zone("farm", 90_002, "")]))
        .is(&["controller-off-plan"]);
    site().with(controller(r#","asn":6509"#)).is(&["controller-no-vtep"]);
    site().with(fabrics("")).is(&["controller-no-vtep"]);
    site().with(fabrics(&MEMBER.replace(r#","ip":"10.250.0.2""#, ""))).is(&["controller-no-vtep"]);
    site().with(controller(r#","asn":6509,"fabric":"over""#)).is(&["controller-no-vtep"]);
    site().without(&format!("GET {FABRICS}")).is_unknown("the fabrics and their members");
    // A zone without nodes is on every member.
    let shop = zone("shop", 90_001, "").replace(r#""nodes":"hv","#, "");
    let everywhere = site().with(zones(&[shop, zone("farm", 90_002, "")]));
    everywhere.is(&["controller-no-vtep"]);
    everywhere.without("GET /api2/json/nodes").is_unknown("the members of the cluster");
    let blind = site().without(&format!("GET {ZONES}")).without(&format!("GET {WAITS}"));
    blind.is_unknown("the zones of controller ctl");
    site().without(&format!("GET {CONTROLLERS}")).is_unknown("the controllers");
    // New and not applied: everything is below `pending`.
    let new = get(
        "hv",
        CONTROLLERS,
        r#"{"data":[{"controller":"ctl","type":"evpn","state":"new","pending":{"asn":6509,"fabric":"under"}}]}"#,
    );
    site().with(new).is(&["sdn-pending"]);
    // What waits in a fabric counts as well, though the platform's own lock leaves it out.
    let waits = MEMBER.replace('}', r#","state":"changed","pending":{"ip":"10.250.0.9"}}"#);
    site().with(fabrics(&waits)).is(&["sdn-pending"]);
}

#[test]
fn peers_are_nodes_addresses() {
    let peers = |list: &str| {
        site().with(controller(&format!(r#","asn":6509,"peers":"{list}""#))).and(get(
            "hv",
            "/api2/json/cluster/status",
            r#"{"data":[{"type":"node","name":"hv","ip":"192.0.2.11","online":1}]}"#,
        ))
    };
    let one = get("hv", "/api2/json/nodes", r#"{"data":[{"node":"hv","status":"online"}]}"#);
    peers("192.0.2.11").is(&[]);
    peers("192.0.2.11,192.0.2.99").is_unknown("all addresses of every node");
    let own = ran("ip -br -4 addr", "up.7 UP 10.9.0.22/24 \nup.8 UP 192.0.2.12/24 \n");
    peers("192.0.2.11,192.0.2.99").with(one.clone()).and(own.clone()).is(&["controller-peer-strange"]);
    peers("192.0.2.11,192.0.2.12").with(one).and(own).is(&[]);
}

#[test]
fn exit_nodes_are_nodes_of_the_zone_and_of_the_cluster() {
    let shop = |from: &str, to: &str| {
        site().with(zones(&[zone("shop", 90_001, "").replace(from, to), zone("farm", 90_002, "")]))
    };
    shop(r#""nodes":"hv""#, r#""nodes":"hw""#)
        .without(LINKS)
        .without(&format!("GET {CONTENT}"))
        .with(fabrics(&format!("{MEMBER},{}", MEMBER.replace("hv", "hw"))))
        .is(&["exit-outside-zone"]);
    let both = fabrics(&format!("{MEMBER},{}", MEMBER.replace("hv", "hw")));
    shop(r#""nodes":"hv","#, "").with(both).is(&[]);
    shop(r#""exitnodes-primary":"hv""#, r#""exitnodes-primary":"hw""#).is(&["exit-primary-outside"]);
    shop(r#""exitnodes-primary":"hv""#, r#""exitnodes-primary":"""#).is(&[]);
    let gone = shop(r#""nodes":"hv","exitnodes":"hv""#, r#""nodes":"hv,hx","exitnodes":"hv,hx""#)
        .with(fabrics(&format!("{MEMBER},{}", MEMBER.replace("hv", "hx"))));
    gone.is(&["node-stranger"]);
    assert_eq!(gone.report().worst(), Some(Severity::Warning), "one exit node is left");
    // The nodes' own lists begin like the list of nodes.
    gone.without("GET /api2/json/nodes").is(&[]);
}

#[test]
fn imports_of_another_tenants_routes() {
    let import = |text: &str| {
        site().with(zones(&[zone("shop", 90_001, &format!(r#","rt-import":"{text}""#)), zone("farm", 90_002, "")]))
    };
    import("6509:90002").is(&["rt-import-foreign"]);
    import("6509:90001").is(&[]);
    // Of another system, or a number that no zone has: nothing comes in.
    for text in ["65020:90002", "6509:90044"] {
        import(text).is(&[]);
        assert_eq!(titles(&import(text), "rt-import-idle").len(), 1, "{text}");
    }
    // The system is that of the other zone's own controller, and nothing is said where it is not known.
    import("6509:90002").without(&format!("GET {CONTROLLERS}")).is_unknown("the autonomous system of zone farm");
    let two = r#"{"data":[{"controller":"old","type":"evpn","asn":1,"fabric":"under"},
        {"controller":"ctl","type":"evpn","asn":6509,"fabric":"under"}]}"#;
    import("6509:90002").without("site.toml").with(get("hv", CONTROLLERS, two)).is(&["rt-import-foreign"]);
    import("1:90002").without("site.toml").with(get("hv", CONTROLLERS, two)).is(&[]);
    let local =
        site().with(zones(&[zone("shop", 90_001, r#","exitnodes-local-routing":1"#), zone("farm", 90_002, "")]));
    local.is(&[]);
    assert_eq!(titles(&local, "local-routing-on").len(), 1);
}

#[test]
fn one_number_for_two() {
    site().with(zones(&[zone("shop", 90_001, ""), zone("farm", 90_001, "")])).without("site.toml").is(&["vni-shared"]);
    let twice = vnets(r#"{"vnet":"shop0","zone":"shop","tag":950010},{"vnet":"farm0","zone":"farm","tag":950010}"#);
    site().with(twice.clone()).without("site.toml").is(&["vni-shared"]);
    // A VLAN tag is another space of numbers.
    let vlan = zone("farm", 90_002, "").replace(r#""evpn""#, r#""vlan""#);
    site().with(twice.clone()).with(zones(&[zone("shop", 90_001, ""), vlan])).without("site.toml").is(&[]);
    // Of what kind a zone is that is not listed nobody knows.
    let one = site().with(twice).with(zones(&[zone("shop", 90_001, "")])).without("site.toml");
    one.is_unknown("of what kind zone farm is");
    // A VNet's tag that is another's, and a VRF VNI's, is out of its band by that alone.
    let of = |tag: u32| {
        site().with(vnets(&format!(
            r#"{{"vnet":"shop0","zone":"shop","tag":{tag}}},{{"vnet":"farm0","zone":"farm","tag":950020}}"#
        )))
    };
    of(950_020).is(&["vni-shared"]);
    of(90_002).is(&["vni-collision"]);
}

#[test]
fn prefixes_that_meet() {
    let body = r#"{"data":[{"cidr":"10.9.129.0/24","zone":"shop","vnet":"shop0","gateway":"10.9.129.1","snat":1},
        {"cidr":"10.9.129.128/25","zone":"shop","vnet":"shop0","gateway":"10.9.129.129","snat":1}]}"#;
    site().with(get("hv", SHOP, body)).without("site.toml").is(&["subnet-overlap-inside"]);
    let apart = [zone("shop", 90_001, ""), zone("farm", 90_002, "").replace(r#""hv""#, r#""hw""#)];
    let farm = subnet(FARM, "farm", "10.9.129.0/24", r#","gateway":"10.9.129.1","snat":1"#);
    let both = || {
        site().with(zones(&apart)).with(farm.clone()).with(fabrics(&format!("{MEMBER},{}", MEMBER.replace("hv", "hw"))))
    };
    both().is(&["subnet-not-unique", "subnet-off-plan"]);
    both().without("site.toml").is(&[]);
    let interfaces = |net: &str| {
        get(
            "fw",
            "/api/interfaces/overview/interfaces_info",
            &format!(r#"{{"rows":[{{"identifier":"opt7","description":"LAB","addr4":"{net}","gateways":[]}}]}}"#),
        )
    };
    site().and(interfaces("10.9.1.1/24")).is(&[]);
    site().and(interfaces("10.9.129.1/26")).without("site.toml").is(&["subnet-on-site-net"]);
    let loops = |net: &str| {
        get(
            "hv",
            FABRICS,
            &format!(r#"{{"data":{{"fabrics":[{{"id":"under","ip_prefix":"{net}"}}],"nodes":[{MEMBER}]}}}}"#),
        )
    };
    site().with(loops("10.9.128.0/22")).without("site.toml").is(&["subnet-on-site-net"]);
}

#[test]
fn a_node_that_never_realised_a_vnet() {
    let more = vnets(
        r#"{"vnet":"shop0","zone":"shop","tag":950010},{"vnet":"shop1","zone":"shop","tag":950011},{"vnet":"farm0","zone":"farm","tag":950020}"#,
    );
    site().with(more.clone()).is(&["vnet-not-on-node"]);
    // With an empty list it may be the token that sees nothing.
    let none = get("hv", CONTENT, r#"{"data":[]}"#);
    site().with(none.clone()).is_unknown("what hv made of zone shop");
    let zones_there = get("hv", "/api2/json/nodes/hv/sdn/zones", r#"{"data":[{"zone":"shop","status":"available"}]}"#);
    site().with(none).and(zones_there).is(&["vnet-not-on-node"]);
    // What waits is on no node.
    site()
        .with(more)
        .without(&format!("GET {ZONES}"))
        .and(get("hv", "/api2/json/cluster/sdn/zones", &format!(r#"{{"data":[{}]}}"#, zone("shop", 90_001, ""))))
        .is(&[]);
}

#[test]
fn the_underlay_takes_what_is_wrapped() {
    site().with(links(1499)).is(&["zone-mtu"]);
    assert_eq!(site().with(links(1499)).report().worst(), Some(Severity::Warning), "one node wraps nothing yet");
    let two = fabrics(&format!("{MEMBER},{}", MEMBER.replace("hv", "hw")));
    assert_eq!(site().with(links(1499)).with(two).report().worst(), Some(Severity::Fault));
    site().with(zones(&[zone("shop", 90_001, r#","mtu":"1500""#), zone("farm", 90_002, "")])).is(&["zone-mtu"]);
    site().with(zones(&[zone("shop", 90_001, r#","mtu":"1500""#), zone("farm", 90_002, "")])).with(links(1550)).is(&[]);
}

#[test]
fn what_the_next_apply_and_the_next_boot_take_away() {
    let conf =
        |extra: &str| format!("frr version 10.4.1\n!\n{}{}{extra}", vrf("shop", 90_001, 9), vrf("farm", 90_002, 9));
    let farm = vrf("farm", 90_002, 9).replace(" vni 90002\n", "");
    site().with(ran(LOCAL, &farm)).is(&["frr-default-unkept"]);
    let marked = site().with(ran(LOCAL, &format!("! kept by the egress agent\n{farm}"))).report();
    assert!(marked.findings.iter().flat_map(|f| &f.facts).any(|f| f.value == "kept by the egress agent"));
    site().without(LOCAL).is_unknown("frr.conf.local");
    // Null routes are the generator's.
    let null = conf("").replace(" vni 90001\n", " vni 90001\n ip route 10.9.130.0/24 null0\n");
    site().with(ran(FRR, &null)).with(ran(RUNNING, &null)).is(&[]);
    // Typed into the shell: no file has it.
    let typed =
        conf("").replace(" vni 90001\n", " vni 90001\n ip route 198.51.100.0/24 10.9.0.9 nexthop-vrf default\n");
    site().with(ran(RUNNING, &typed)).is(&["frr-unsaved"]);
    // In the file by hand: a boot keeps it, an apply does not.
    site().with(ran(RUNNING, &typed)).with(ran(FRR, &typed)).is(&["frr-default-unkept"]);
    let dry = |diff: &str| get("hv", DRY, &serde_json::json!({"data": {"frr-diff": diff}}).to_string());
    let ospf = "--- a\n+++ b\n@@ -1,3 +1,1 @@\n same\n-router ospf\n- network 192.0.2.0/24 area 0\n";
    site().with(dry(ospf)).is(&["frr-apply-erases"]);
    site().with(dry("--- a\n+++ b\n@@ -1 +1 @@\n-frr version 10.3\n+frr version 10.4.1\n")).is(&[]);
    // What stands in frr.conf.local comes back, whatever the dry run shows.
    site()
        .with(dry("--- a\n+++ b\n@@ -1,2 +1 @@\n-vrf vrf_shop\n- ip route 0.0.0.0/0 10.9.0.1 nexthop-vrf default\n"))
        .is(&[]);
    site().with(dry(ospf)).without(LOCAL).is_unknown("frr.conf.local of hv");
    // A file that is not there holds nothing; one that nobody could read may.
    let unread = |said: &str| {
        let mut item = ran(LOCAL, "");
        item.kind = Kind::Command { line: LOCAL.to_owned(), exit: Some(1) };
        item.stderr = format!("cat: /etc/frr/frr.conf.local: {said}");
        item
    };
    let (absent, denied) = (unread("No such file or directory"), unread("Permission denied"));
    site().with(absent.clone()).is(&["frr-default-unkept"]);
    site().with(denied.clone()).is_unknown("frr.conf.local of hv");
    site().with(dry(ospf)).with(absent.clone()).is(&["frr-apply-erases", "frr-default-unkept"]);
    site().with(ran(RUNNING, &typed)).with(denied).is_unknown("frr.conf.local of hv");
    site().with(ran(RUNNING, &typed)).with(absent).is(&["frr-default-unkept", "frr-unsaved"]);
    site().without(RUNNING).is_unknown("the running configuration of FRR of hv");
    site().with(dry(ospf)).without(&format!("GET {WAITS}")).is_unknown("what waits in SDN");
    for unread in [CONTROLLERS, FABRICS] {
        site().with(dry(ospf)).without(&format!("GET {unread}")).is_unknown("what waits in SDN");
    }
    site()
        .with(get("hv", DRY, r#"{"data":{"interfaces-diff":null}}"#))
        .is_unknown("what the dry run of hv changes of frr.conf");
    let waits =
        get("hv", WAITS, r#"{"data":[{"zone":"shop","state":"changed","mtu":"1450","pending":{"mtu":"1400"}}]}"#);
    site().with(dry(ospf)).with(waits).is(&["sdn-pending"]);
}

#[test]
fn what_was_denied_is_unknown_and_why() {
    let denied = |path: &str| {
        http(
            "hv",
            &format!("GET {path}"),
            403,
            "Permission check failed",
            r#"{"data":null,"message":"Permission check failed (/sdn, SDN.Audit)\n"}"#,
        )
    };
    for (path, missing) in [
        (FABRICS, "the fabrics and their members"),
        (CONTROLLERS, "the controllers"),
        (VNETS, "the VNets and their tags"),
    ] {
        let mut less = site().with(denied(path));
        less.0.retain(|item| path != VNETS || !item.file.contains("vnets?pending"));
        let report = less.report();
        let told = report.unknown.iter().find(|u| u.missing.contains(missing));
        assert!(
            told.is_some_and(|u| u.why.as_ref().is_some_and(|why| why.contains("403"))),
            "{path}: {:#?}",
            report.unknown
        );
    }
}

/// Whether `id` passes for a subject called `name`.
fn passes(site: &Site, id: &str, name: &str) -> bool {
    site.report().passed.iter().any(|passed| passed.id == id && passed.subject.name == name)
}

#[test]
fn a_tenant_is_by_its_index_only_where_all_of_it_was_read() {
    let says = |site: &Site, missing: &str| {
        assert!(!passes(site, "tenant-off-plan", "shop"), "{missing}");
        site.is_unknown(missing);
    };
    assert!(passes(&site(), "tenant-off-plan", "shop"));
    says(&site().without(&format!("GET {SHOP}")), "the subnets of VNet shop0");
    let tags = |shop: &str| vnets(&format!(r#"{shop}{{"vnet":"farm0","zone":"farm","tag":950020}}"#));
    says(&site().with(tags(r#"{"vnet":"shop0","zone":"shop"},"#)), "the tag of VNet shop0");
    says(&site().with(tags("")), "the VNets of zone shop");
    // Where nobody translates it is not said of the subnet either.
    let alone = zone("shop", 90_001, "").replace(r#","exitnodes":"hv","exitnodes-primary":"hv""#, "");
    let quiet = subnet(SHOP, "shop", "10.9.129.0/24", r#","gateway":"10.9.129.1","snat":0"#);
    let inside = site().with(zones(&[alone, zone("farm", 90_002, "")])).with(quiet);
    assert!(passes(&inside, "tenant-off-plan", "shop"), "{:#?}", inside.report());
}

#[test]
fn a_bridge_that_nobody_owns_may_be_hidden() {
    let with = |bridge: &str| {
        let body = format!(r#"{{"data":{{"name":"shop-app","net0":"virtio=02:00:00:00:00:01,bridge={bridge}"}}}}"#);
        site().and(get("hv", "/api2/json/nodes/hv/qemu/2040/config", &body))
    };
    let rights = |path: &str| {
        get("hv", "/api2/json/access/permissions", &format!(r#"{{"data":{{"{path}":{{"SDN.Audit":1}}}}}}"#))
    };
    let foreign = |site: Site| !titles(&site, "workload-on-foreign-network").is_empty();
    let unknown = |site: Site| site.report().unknown.iter().any(|u| u.ids.contains(&"workload-on-foreign-network"));
    assert!(passes(&with("shop0"), "workload-on-foreign-network", "shop-app"));
    assert!(foreign(with("farm0")), "another tenant's is seen");
    assert!(unknown(with("vmbr0")) && !foreign(with("vmbr0")));
    let one = || with("vmbr0").and(rights("/sdn/zones/farm"));
    assert!(unknown(one()) && !foreign(one()), "the token sees one zone");
    let all = || with("vmbr0").and(rights("/sdn"));
    assert!(foreign(all()) && !unknown(all()));
}

#[test]
fn one_cause_is_one_root() {
    let farm = subnet(FARM, "farm", "10.9.129.0/25", r#","gateway":"10.9.129.1","snat":1"#);
    site().with(farm).is(&["subnet-overlap"]);
    let segment = r#"{"rows":[{"identifier":"opt7","description":"LAB","addr4":"10.9.129.1/26","gateways":[]}]}"#;
    site().and(get("fw", "/api/interfaces/overview/interfaces_info", segment)).is(&["subnet-on-site-net"]);
}
