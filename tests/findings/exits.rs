//! An exit node as people list it by hand: each part in another form than the helper's.

use crate::by_hand::{Site, get, item, nothing_unknown};
use deevnet_console::diagnose::evidence::{Evidence, Item, Kind};
use deevnet_console::diagnose::facts::Facts;
use deevnet_console::diagnose::finding::{Layer, Severity};
use deevnet_console::diagnose::rules::matrix::{self, Way};

pub const ZONES: &str = "/api2/json/cluster/sdn/zones?running=1";
pub const NAT: &str = "iptables -t nat -nvL POSTROUTING";
const FORWARD: &str = "iptables -S FORWARD";
const MAIN: &str = "ip route";
const SHOP: &str = "ip route list vrf vrf_shop";
const FARM: &str = "ip -4 route show vrf vrf_farm";
const FLAGS: &str = "sysctl -a -r forwarding$";
const FILTER: &str = "sysctl net.ipv4.conf.all.rp_filter net.ipv4.conf.up/7.rp_filter";
const UNIT: &str = "systemctl is-active frr.service";
const LINKS: &str = "ip -o link show";
const NEIGH: &str = "ip neigh show dev up.7";
const TRACK: &str = "sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max";

pub const SITE: &str = r#"version = 1
[site]
name = "yard"
domain = "yard.example"
octet = 9
[numbering]
vrf_vni_base = 10000
vnet_vni_base = 20000
overlay = "10.9.128.0/18"
asn = 65000
vmid_base = 2000
vmids_per_tenant = 40
[proxmox]
url = "https://192.0.2.1:8006"
token = { file = "token" }
node = "hv"
controller = "evpn1"
[[exit_node]]
name = "hv"
transport = { command = ["false"] }
transit_interface = "up.7"
transit_address = "10.9.0.22"
transit_gateway = "10.9.0.1"
"#;

const UPLINK: &str = "4: up.7@up: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT\n";
const SHOP_LINKS: &str = "8: vrf_shop: <NOARP,MASTER,UP,LOWER_UP> mtu 65575 qdisc noqueue state UP mode DEFAULT\n\
                          9: shop0: <UP> mtu 1450 qdisc noqueue master vrf_shop state UP mode DEFAULT\n";
const FARM_LINKS: &str = "10: vrf_farm: <NOARP,MASTER,UP,LOWER_UP> mtu 65575 qdisc noqueue state UP mode DEFAULT\n\
                          11: farm0: <UP> mtu 1450 qdisc noqueue master vrf_farm state UP mode DEFAULT\n";

/// A command on the node, called after its line.
fn ran(line: &str, exit: i32, body: &str) -> Item {
    item(line, "hv", Kind::Command { line: line.to_owned(), exit: Some(exit) }, body)
}

fn nat(to: &str) -> Item {
    let row = |n: u8| format!("  97K 5820K SNAT  all  --  *  up.7  10.9.{n}.0/24  0.0.0.0/0  to:{to}\n");
    let head =
        "Chain POSTROUTING (policy ACCEPT 3 packets, 9 bytes)\n pkts bytes target prot opt in out source destination\n";
    ran(NAT, 0, &format!("{head}{}{}", row(129), row(130)))
}

fn vrf(line: &str, own: (&str, u8), other: u8, default: &str) -> Item {
    let (vnet, octet) = own;
    let body = format!(
        "{default}\n10.9.{octet}.0/24 dev {vnet} proto kernel scope link src 10.9.{octet}.1 \n\
         blackhole 10.9.{other}.0/24 nhid 61 proto static metric 20\n"
    );
    ran(line, 0, &body)
}

fn zones(more: &str) -> Item {
    let zone =
        |name: &str, vni: u32| format!(r#"{{"zone":"{name}","type":"evpn","exitnodes":"hv","vrf-vxlan":{vni}{more}}}"#);
    get("hv", ZONES, &format!(r#"{{"data":[{},{}]}}"#, zone("shop", 10_001), zone("farm", 10_002)))
}

fn subnets(zone: &str, octet: u8) -> Item {
    let body = format!(
        r#"{{"data":[{{"cidr":"10.9.{octet}.0/24","gateway":"10.9.{octet}.1","zone":"{zone}","vnet":"{zone}0","snat":1}}]}}"#
    );
    get("hv", &format!("/api2/json/cluster/sdn/vnets/{zone}0/subnets?running=1"), &body)
}

const VIA: &str = "default via 10.9.0.1 dev up.7 proto static metric 20";

fn main_table(default: &str) -> Item {
    let subnet = |n: u8, dev: &str| format!("10.9.{n}.0/24 nhid 52 dev {dev} proto bgp metric 20\n");
    ran(MAIN, 0, &format!("{default}\n{}{}", subnet(129, "vrf_shop"), subnet(130, "farm0")))
}

pub fn site() -> Site {
    let mut file = item("site.toml", "console", Kind::Material("the site file".to_owned()), SITE);
    file.empty = false;
    Site(vec![
        file,
        zones(""),
        subnets("shop", 129),
        subnets("farm", 130),
        nat("10.9.0.22"),
        ran("iptables-legacy-save", 0, ""),
        ran(FORWARD, 0, "-P FORWARD ACCEPT\n"),
        main_table("default via 10.9.0.1 dev up.7 proto kernel onlink"),
        vrf(SHOP, ("shop0", 129), 130, VIA),
        vrf(FARM, ("farm0", 130), 129, VIA),
        ran(
            FLAGS,
            0,
            "net.ipv4.conf.up/7.forwarding = 1\nnet.ipv4.conf.shop0.forwarding = 1\nnet.ipv4.conf.farm0.forwarding = 1\nnet.ipv4.conf.vrf_shop.forwarding = 0\n",
        ),
        ran(FILTER, 0, "net.ipv4.conf.all.rp_filter = 0\nnet.ipv4.conf.up/7.rp_filter = 0\n"),
        ran(UNIT, 0, "active\n"),
        ran(LINKS, 0, &format!("{UPLINK}{SHOP_LINKS}{FARM_LINKS}")),
        ran("ip -br -4 addr", 0, "up.7@up UP 10.9.0.22/24 \nshop0 UP 10.9.129.1/24 \n"),
        ran(NEIGH, 0, "10.9.0.1 lladdr 02:00:00:00:00:01 REACHABLE \n"),
        ran(TRACK, 0, "net.netfilter.nf_conntrack_count = 4\nnet.netfilter.nf_conntrack_max = 3072\n"),
    ])
}

#[test]
fn a_healthy_exit_node_has_no_finding() {
    site().is(&[]);
    let frr = |line: &str| ran(line, 0, "frr version 10.4.1\n");
    let whole = site().and(frr("vtysh -c 'show running-config'")).and(frr("cat /etc/frr/frr.conf"));
    nothing_unknown(&whole, &[Layer::Egress, Layer::Isolation, Layer::Fabric]);
}

#[test]
fn one_thing_wrong_at_a_time() {
    site().with(nat("10.9.0.23")).is(&["snat-wrong-source"]);
    site().with(ran(NAT, 0, "Chain POSTROUTING (policy ACCEPT)\n pkts bytes target\n")).is(&["snat-missing"]);
    site().with(ran(FORWARD, 0, "-P FORWARD DROP\n")).is(&["forward-policy-drop"]);
    site().with(ran(FLAGS, 0, "net.ipv4.conf.up/7.forwarding = 0\nnet.ipv4.conf.shop0.forwarding = 1\nnet.ipv4.conf.farm0.forwarding = 1\n")).is(&["transit-forwarding-off"]);
    site().with(ran(FLAGS, 0, "net.ipv4.conf.up/7.forwarding = 1\nnet.ipv4.conf.shop0.forwarding = 0\nnet.ipv4.conf.farm0.forwarding = 1\n")).is(&["tenant-forwarding-off"]);
    site().with(ran(UNIT, 3, "failed\n")).is(&["frr-down"]);
    site().with(vrf(SHOP, ("shop0", 129), 130, "")).is(&["vrf-default-missing"]);
    site().with(vrf(SHOP, ("shop0", 129), 130, &VIA.replace("0.1", "0.99"))).is(&["vrf-default-wrong-gateway"]);
    site().with(ran(NEIGH, 0, "10.9.0.1 FAILED \n")).is(&["gateway-unreachable"]);
    site()
        .with(ran(TRACK, 0, "net.netfilter.nf_conntrack_count = 9\nnet.netfilter.nf_conntrack_max = 9\n"))
        .is(&["conntrack-full"]);
    site()
        .with(ran(MAIN, 0, "default via 10.9.0.1 dev up.7\n10.9.130.0/24 dev vrf_farm proto bgp\n"))
        .is(&["return-route-missing"]);
    let no_carrier = "4: up.7@up: <NO-CARRIER,BROADCAST,UP> mtu 1500 qdisc noqueue state LOWERLAYERDOWN\n";
    site().with(ran(LINKS, 0, &format!("{no_carrier}{SHOP_LINKS}{FARM_LINKS}"))).is(&["uplink-down"]);
    let open = format!("{VIA}\n10.9.129.0/24 dev shop0 proto kernel\n10.9.130.0/24 dev farm0 proto static\n");
    site().with(ran(SHOP, 0, &open)).is(&["inter-tenant-leak"]);
}

#[test]
fn without_a_default_it_matters_where_main_leads() {
    let none = || site().with(vrf(SHOP, ("shop0", 129), 130, ""));
    let aside = main_table("default via 192.0.2.254 dev mgmt");
    none().with(aside.clone()).is(&["management-leak"]);
    site()
        .with(vrf(SHOP, ("shop0", 129), 130, "unreachable default metric 4278198272"))
        .with(aside)
        .is(&["vrf-default-missing"]);
    none().without(MAIN).and(vrf(FARM, ("farm0", 130), 129, VIA)).is_unknown("main table");
}

#[test]
fn what_stops_everything_is_one_root() {
    let gone = site()
        .with(ran(UNIT, 3, "inactive\n"))
        .with(ran(SHOP, 0, "10.9.129.0/24 dev shop0 proto kernel\n"))
        .with(ran(FARM, 0, "10.9.130.0/24 dev farm0 proto kernel\n"))
        .with(ran(MAIN, 0, "default via 10.9.0.1 dev up.7\n"));
    gone.is(&["frr-down"]);
    let report = gone.report();
    let under: Vec<_> = report.findings.iter().skip(1).map(|f| (f.id, f.subject.kind, f.affects.len())).collect();
    assert_eq!(under, [("vrf-default-missing", "node", 2), ("return-route-missing", "node", 2)]);
}

#[test]
fn a_counter_that_rises_is_activity() {
    let rules = |n: u32| {
        format!(
            "*nat\n:POSTROUTING ACCEPT [0:0]\n[{n}:60] -A POSTROUTING -s 10.9.129.0/24 -o up.7 -j SNAT --to-source 10.9.0.22\n[0:0] -A POSTROUTING -s 10.9.130.0/24 -o up.7 -j SNAT --to-source 10.9.0.22\nCOMMIT\n"
        )
    };
    let counted = site().and(ran("iptables-save -c -t nat", 0, &rules(95))).and(ran(
        "sudo iptables-save -c -t nat",
        0,
        &rules(99),
    ));
    counted.is(&[]);
}

#[test]
fn reverse_path_filtering_is_a_cause_only_while_it_drops() {
    let strict = ran(FILTER, 0, "net.ipv4.conf.all.rp_filter = 1\nnet.ipv4.conf.up/7.rp_filter = 0\n");
    let count = |line: &str, n: u32| ran(line, 0, &format!("#kernel\nTcpExtIPReversePathFilter {n} 0.0\n"));
    let twice = |n: u32| site().with(strict.clone()).and(count("nstat -az", 7)).and(count("nstat -az Tcp*", n));
    twice(7).is(&[]);
    let notes = |site: &Site| {
        site.report().findings.iter().filter(|f| f.severity == Severity::Info).map(|f| f.id).collect::<Vec<_>>()
    };
    assert!(notes(&twice(7)).contains(&"rp-filter-strict"));
    twice(9).is(&["rp-filter-drops"]);
    assert!(!notes(&twice(9)).contains(&"rp-filter-strict"));
    // A decrease is a reset, and says nothing.
    twice(3).is_unknown("two samples");
}

#[test]
fn a_node_that_cannot_be_asked() {
    let line = "ssh root@hv /usr/local/sbin/deevnet-exit-node read main/192.0.2.9/-/-".split_once("hv ").unwrap().1;
    let mut dead = ran(line, 255, "");
    dead.stderr = "ssh: connect to host hv port 22: Connection timed out".to_owned();
    let base = Site(vec![zones(""), subnets("shop", 129), subnets("farm", 130), dead]);
    base.is(&["exit-node-unreachable"]);
    assert!(base.report().unknown.iter().any(|u| u.why.as_deref().is_some_and(|why| why.contains("timed out"))));
}

#[test]
fn what_frr_was_not_given() {
    let stanza = "vrf vrf_shop\n ip route 0.0.0.0/0 10.9.0.1 up.7 nexthop-vrf default\nexit-vrf\n";
    let local = || site().and(ran("cat /etc/frr/frr.conf.local", 0, stanza));
    local().and(ran("cat /etc/frr/frr.conf", 0, stanza)).is(&[]);
    local().and(ran("cat /etc/frr/frr.conf", 0, "vrf vrf_shop\n vni 10001\nexit-vrf\n")).is(&["frr-local-not-merged"]);
    local().is_unknown("frr.conf");
}

#[test]
fn what_is_denied_is_unknown_and_why() {
    let mut denied = ran(NAT, 4, "");
    denied.stderr = "Fatal: can't open lock file /run/xtables.lock: Permission denied".to_owned();
    let site = site().with(denied).without("iptables-legacy-save");
    site.is_unknown("NAT rules of hv");
    let report = site.report();
    let rules = report.unknown.iter().find(|u| u.missing == "the NAT rules of hv").unwrap();
    assert!(rules.why.as_deref().unwrap().contains("Permission denied"));
}

#[test]
fn local_routing_is_a_fault_with_a_strict_filter_alone() {
    let back = "default via 10.9.0.1 dev up.7\n10.9.129.0/24 via 10.255.255.2 dev xvrf_shop proto static\n10.9.130.0/24 dev farm0 proto bgp\n";
    let filter =
        |n: u8| ran(FILTER, 0, &format!("net.ipv4.conf.all.rp_filter = {n}\nnet.ipv4.conf.xvrf_shop.rp_filter = 0\n"));
    let routed = |n: u8| site().with(zones(r#","exitnodes-local-routing":1"#)).with(ran(MAIN, 0, back)).with(filter(n));
    routed(1).is(&["exit-local-routing"]);
    routed(2).is(&[]);
}

#[test]
fn a_file_that_somebody_else_keeps() {
    let file =
        |text: &str| site().with(vrf(SHOP, ("shop0", 129), 130, "")).and(ran("cat /etc/frr/frr.conf.local", 0, text));
    let farm = "vrf vrf_farm\n ip route 0.0.0.0/0 10.9.0.1 up.7 nexthop-vrf default\nexit-vrf\n";
    let merged = |site: Site| site.and(ran("cat /etc/frr/frr.conf", 0, farm));
    merged(file(&format!("! kept by another agent\n{farm}"))).is(&["frr-local-contested"]);
    merged(file(farm)).is(&["vrf-default-missing"]);
    site()
        .and(ran("cat /etc/frr/frr.conf.local", 0, "! kept by another agent\n"))
        .and(ran("cat /etc/frr/frr.conf", 0, ""))
        .is(&[]);
}

#[test]
fn one_barrier_of_two() {
    let open = ran(SHOP, 0, &format!("{VIA}\n10.9.129.0/24 dev shop0 proto kernel\n"));
    let site_open = site().with(open);
    site_open.is(&["hairpin-leak"]);
    // What stands beside it does not say the contrary.
    let said = site_open.report();
    let apart = said.findings.iter().find(|f| f.id == "tenant-isolated").map(|f| f.title.as_str());
    assert!(apart.is_none_or(|title| !title.contains("keeps tenants apart")), "{apart:?}");
    let wide = ran(SHOP, 0, &format!("{VIA}\n10.9.129.0/24 dev shop0 proto kernel\nblackhole 10.9.128.0/18\n"));
    site().with(wide).is(&[]);
}

/// Everything of farm is gone: links, its VRF's routes, its rule, its flag, the way back and the null route for it.
fn without_farm(site: Site) -> Site {
    let row = "  97K 5820K SNAT  all  --  *  up.7  10.9.129.0/24  0.0.0.0/0  to:10.9.0.22\n";
    let nat =
        format!("Chain POSTROUTING (policy ACCEPT)\n pkts bytes target prot opt in out source destination\n{row}");
    let own = format!("{VIA}\n10.9.129.0/24 dev shop0 proto kernel scope link src 10.9.129.1 \n");
    site.with(ran(LINKS, 0, &format!("{UPLINK}{SHOP_LINKS}")))
        .with(ran(NAT, 0, &nat))
        .with(ran(MAIN, 0, "default via 10.9.0.1 dev up.7 proto kernel\n10.9.129.0/24 dev vrf_shop proto bgp\n"))
        .with(ran(SHOP, 0, &own))
        .with(ran(FLAGS, 0, "net.ipv4.conf.up/7.forwarding = 1\nnet.ipv4.conf.shop0.forwarding = 1\n"))
        .without(FARM)
}

#[test]
fn a_zone_that_is_not_there_explains_all_that_it_lacks() {
    let site = without_farm(site());
    site.is(&["vnet-missing"]);
    let report = site.report();
    let head = report.headline().unwrap();
    assert_eq!(
        (head.subject.kind, head.subject.name.as_str(), head.affects.as_slice()),
        ("zone", "farm", &["farm".to_owned()][..])
    );
    assert!(
        head.facts
            .iter()
            .any(|f| (f.key, f.subject.as_str(), f.value.as_str()) == ("node.link", "hv/vrf_farm", "none"))
    );
    let under: Vec<_> = report
        .findings
        .iter()
        .filter(|f| f.caused_by.is_some())
        .map(|f| (f.id, f.caused_by.clone().unwrap().0))
        .collect();
    assert_eq!(under, [("snat-missing", "vnet-missing"), ("return-route-missing", "vnet-missing")]);
    assert!(!report.unknown.iter().any(|u| u.missing.contains("vrf_farm")), "{:#?}", report.unknown);
    // A tenant that is there and has the same fault has it for another reason.
    let both = without_farm(self::site()).with(ran(NAT, 0, "Chain POSTROUTING (policy ACCEPT)\n pkts bytes target\n"));
    both.is(&["snat-missing", "vnet-missing"]);
}

#[test]
fn several_zones_that_are_not_there_are_one_fault_of_the_node() {
    let site = without_farm(site())
        .with(ran(LINKS, 0, UPLINK))
        .with(ran(NAT, 0, "Chain POSTROUTING (policy ACCEPT)\n pkts bytes target\n"))
        .with(ran(MAIN, 0, "default via 10.9.0.1 dev up.7 proto kernel\n"))
        .without(SHOP);
    site.is(&["vnet-missing"]);
    let report = site.report();
    let head = report.headline().unwrap();
    assert_eq!((head.subject.kind, head.subject.name.as_str(), head.affects.len()), ("node", "hv", 2));
    // What the node made of it says why.
    let content = r#"{"data":[{"vnet":"farm0","status":"error","statusmsg":"no bridge"}]}"#;
    let failed = site.and(get("hv", "/api2/json/nodes/hv/sdn/zones/farm/content", content));
    failed.is(&["apply-partial"]);
    assert_eq!(failed.report().findings.iter().filter(|f| f.caused_by.is_some()).count(), 3);
}

#[test]
fn every_ordered_pair_says_what_keeps_it_apart() {
    let of = |site: Site| matrix::pairs(&Facts::of(&Evidence { items: site.0, ..Evidence::default() }));
    let ways = |site: Site| of(site).into_iter().map(|p| (p.from, p.to, p.routes)).collect::<Vec<_>>();
    let row = |from: &str, to: &str, way| (from.to_owned(), to.to_owned(), way);
    assert_eq!(ways(site()), [row("shop", "farm", Way::Dropped), row("farm", "shop", Way::Dropped)]);
    let own = "10.9.129.0/24 dev shop0 proto kernel";
    for (routes, way) in [
        (format!("{VIA}\n{own}\n"), Way::Hairpin),
        (format!("{VIA}\n{own}\n10.9.130.0/24 dev farm0 proto static\n"), Way::Delivered),
        // Without a route of its own the lookup goes on in main, which holds every tenant's subnet.
        (format!("{own}\n"), Way::Delivered),
        (format!("unreachable default metric 4278198272\n{own}\n"), Way::Dropped),
    ] {
        assert_eq!(ways(site().with(ran(SHOP, 0, &routes)))[0].2, way, "{routes}");
    }
    assert_eq!(ways(site().without(SHOP))[0].2, Way::Unknown);
    let table = matrix::Matrix::of(&Facts::of(&Evidence { items: site().0, ..Evidence::default() }));
    let text = matrix::markdown(&table, &matrix::About::default());
    // The firewall was not read: what it would do is unknown, and so is the pair.
    assert!(text.contains("| shop | – | ? ◇ |"), "{text}");
    assert!(text.contains("vrf_shop drops it; whether the firewall would too is unknown"), "{text}");
    assert!(text.contains("  - `ping -c 3 -W 1 10.9.130.1`"), "{text}");
}

#[test]
fn beyond_the_gateway_flows_tell_where_main_leaves_elsewhere() {
    let mut file = item("site.toml", "console", Kind::Material("the site file".to_owned()), SITE);
    file.body += "[probes]\ninternet = \"192.0.2.80\"\n";
    file.empty = false;
    let flow = |mark: &str, as_whom: &str| {
        let way = "dst=192.0.2.80 type=8 code=0 id=7";
        let back = format!("src=192.0.2.80 dst={as_whom} type=0 code=0 id=7");
        ran("conntrack -L -s 10.9.129.0/24", 0, &format!("icmp 1 29 src=10.9.129.1 {way} {mark}{back} mark=0 use=1\n"))
    };
    let pong = ran("ping -c 1 10.9.0.1", 0, "1 packets transmitted, 1 received, 0% packet loss, time 0ms\n");
    let aside = || {
        let site = site().with(main_table("default via 192.0.2.254 dev mgmt")).with(file.clone());
        site.and(pong.clone())
    };
    aside().and(flow("[UNREPLIED] ", "10.9.0.22")).is(&["perimeter-drop"]);
    aside().and(flow("", "10.9.0.22")).is(&[]);
    // Not translated: that is another fault, and no word about the perimeter.
    aside().and(flow("[UNREPLIED] ", "10.9.129.1")).is(&[]);
}

/// A command that did not run, and why.
fn not_run(line: &str, why: &str) -> Item {
    let mut item = item(line, "hv", Kind::Command { line: line.to_owned(), exit: None }, "");
    item.stderr = why.to_owned();
    item
}

const LOST: &str = "3 packets transmitted, 0 received, 100% packet loss, time 612ms\n";

#[test]
fn a_workload_is_looked_for_by_a_ping_and_judged_by_its_neighbour_entry() {
    let ping = |body: &str| ran("ip vrf exec vrf_shop ping -n -c 3 -i 0.3 -W 1 10.9.129.10", 1, body);
    let entry = |states: &str| ran("ip neigh show dev shop0", 0, &format!("10.9.129.10 {states}\n"));
    let looked = |body: &str, states: &str| site().and(ping(body)).and(entry(states));
    looked(LOST, "FAILED").is(&["workload-down"]);
    looked(LOST, "INCOMPLETE").is(&["workload-down"]);
    looked("3 packets transmitted, 3 received, 0% packet loss, time 612ms\n", "FAILED").is(&[]);
    // It has an address on the link, and its firewall drops pings.
    looked(LOST, "lladdr 02:00:00:00:00:02 REACHABLE").is(&[]);
    // Whether that entry is still true nobody can say.
    looked(LOST, "lladdr 02:00:00:00:00:02 DELAY").is_unknown("whether 10.9.129.10 answers on shop0");
    site().and(ping(LOST)).is_unknown("whether 10.9.129.10 answers on shop0");
    // The gateway's own address is the node's.
    site().and(ran("ip vrf exec vrf_shop ping -c 1 10.9.129.1", 1, LOST)).is(&[]);
    let denied = not_run("ip vrf exec vrf_shop ping -n -c 3 -i 0.3 -W 1 10.9.129.10", "sudo: a password is required");
    site().and(denied).is_unknown("whether workloads of shop answer");
}

#[test]
fn packets_that_were_to_be_sent_and_were_not_leave_unknown_what_is_beyond() {
    let mut file = item("site.toml", "console", Kind::Material("the site file".to_owned()), SITE);
    file.body += "[probes]\ninternet = \"192.0.2.80\"\n";
    file.empty = false;
    let round = not_run("deevnet-exit-node probe path", "the connection to hv was lost");
    let lost = site().with(file.clone()).and(round.clone());
    for what in ["what is beyond the gateway of hv", "large packets beyond hv", "whether workloads of farm answer"] {
        lost.is_unknown(what);
    }
    let why = lost.report().unknown.into_iter().filter_map(|u| u.why).find(|why| why.contains("was lost"));
    assert!(why.is_some(), "the reason is given");
    // Without an address beyond nothing was to be sent there.
    let report = site().and(round).report();
    assert!(!report.unknown.iter().any(|u| u.missing.contains("beyond the gateway")), "{:#?}", report.unknown);
    // Where flows alone would tell, and the list of them is refused.
    let aside = site().with(file).with(main_table("default via 192.0.2.254 dev mgmt"));
    let refused = aside.and(not_run("conntrack -L -s 10.9.129.0/24", "sudo: a password is required"));
    refused.is_unknown("what is beyond the gateway of hv");
}

#[test]
fn of_two_faults_of_the_node_the_one_that_is_nearer_to_the_cause_comes_first() {
    let both = site().with(ran(UNIT, 3, "failed\n")).with(ran(
        LINKS,
        0,
        &format!(
            "{}{SHOP_LINKS}{FARM_LINKS}",
            UPLINK.replace("UP,LOWER_UP", "NO-CARRIER,UP").replace("state UP", "state LOWERLAYERDOWN")
        ),
    ));
    // Either would take the default away: it hangs under the first.
    let both = both.with(vrf(SHOP, ("shop0", 129), 130, ""));
    both.is(&["uplink-down", "frr-down"]);
    let report = both.report();
    let loud = report.findings.iter().filter(|f| f.severity > Severity::Info);
    let told: Vec<_> = loud.map(|f| (f.id, f.caused_by.as_ref().map(|(id, _)| *id))).collect();
    let under = Some("uplink-down");
    assert_eq!(told, [("uplink-down", None), ("vrf-default-missing", under), ("frr-down", None)]);
}

#[test]
fn what_a_change_left_half_made_is_told_by_what_it_is_and_not_by_whose_or_where() {
    use crate::fabric::{changes, open};
    let none = |line: &str, own: (&str, u8), other: u8| vrf(line, own, other, "");
    let one = || site().with(none(SHOP, ("shop0", 129), 130));
    let under = |site: Site| {
        let report = site.report();
        let of = |f: &deevnet_console::diagnose::finding::Finding| f.caused_by.as_ref().map(|cause| cause.0);
        let found = report.findings.iter().find(|f| f.id == "vrf-default-missing").map(of);
        found.expect("a default is missing")
    };
    let stanza = |name: &str| format!(r#"{{"what":"stanza","name":"{name}"}}"#);
    assert_eq!(under(one().and(open("", &stanza("hv/shop"), false))), Some("change-unfinished"));
    for other in [
        stanza("hv/farm"),
        stanza("hw/shop"),
        r#"{"what":"key","name":"shop"}"#.to_owned(),
        r#"{"what":"dns-zone","name":"shop"}"#.to_owned(),
        r#"{"what":"vnet","name":"shop0"}"#.to_owned(),
    ] {
        assert_eq!(under(one().and(open("", &other, false))), None, "{other}");
    }
    // FRR lost the default of all: no change of one tenant does that.
    let all = one().with(none(FARM, ("farm0", 130), 129));
    assert_eq!(under(all.and(open("", &stanza("hv/shop"), false))), None);
    // Under a change that runs, which is no more than news, the fault is still the first that is told.
    let text = open("", &stanza("hv/shop"), true).body;
    let start = text.find(r#"{"id""#).expect("a change");
    let running = text[start..].strip_suffix("]}").expect("the end of the list").to_owned();
    let another = running.replace("C-0042", "C-0041").replace(r#""running":true"#, r#""running":false"#);
    let another = another.replace(r#""hv/shop""#, r#""hx/shop""#);
    let report = one().and(changes("null", &format!("{another},{running}"))).report();
    let told: Vec<(&str, &str)> = report.findings.iter().take(3).map(|f| (f.id, f.subject.name.as_str())).collect();
    let first = [("change-unfinished", "C-0042"), ("vrf-default-missing", "shop"), ("change-unfinished", "C-0041")];
    assert_eq!(told, first);
}
