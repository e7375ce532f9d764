//! SDN as configured, as applied and as realised: what looks alike.

use crate::by_hand::{Site, get, http};
use deevnet_console::diagnose::evidence::Item;

const PENDING: &str = "/api2/json/cluster/sdn/zones?pending=1";
const VNETS: &str = "/api2/json/cluster/sdn/vnets?pending=1";

fn zones(more: &str) -> Item {
    get(
        "hv",
        PENDING,
        &format!(r#"{{"data":[{{"zone":"shop","type":"evpn","vrf-vxlan":10001,"exitnodes":"hv"{more}}}]}}"#),
    )
}

fn vnets(rows: &str) -> Item {
    get("hv", VNETS, &format!(r#"{{"data":[{rows}]}}"#))
}

fn content(node: &str, status: &str, message: &str) -> Item {
    let body = format!(r#"{{"data":[{{"vnet":"shop0","status":"{status}","statusmsg":"{message}"}}]}}"#);
    get(node, &format!("/api2/json/nodes/{node}/sdn/zones/shop/content"), &body)
}

fn reloads(node: &str, end: &str) -> Item {
    let body = format!(
        r#"{{"data":[{{"upid":"UPID:{node}:00000001:00000002:00000003:srvreload:networking:root@pam:","endtime":9,"status":"{end}"}}]}}"#
    );
    get(node, &format!("/api2/json/nodes/{node}/tasks?typefilter=srvreload"), &body)
}

fn site() -> Site {
    Site(vec![
        zones(""),
        vnets(r#"{"vnet":"shop0","zone":"shop","tag":20010}"#),
        content("hv", "available", ""),
        content("hw", "available", ""),
        reloads("hw", "OK"),
    ])
}

#[test]
fn a_healthy_fabric_has_no_finding() {
    site().is(&[]);
}

#[test]
fn a_node_that_failed_and_one_that_is_behind() {
    site().with(reloads("hw", "command 'ifreload -a' failed: exit code 1")).is(&["apply-partial"]);
    site().with(content("hw", "error", "vnet is not generated")).is(&["apply-partial"]);
    site()
        .with(content("hw", "pending", "local sdn network configuration is too old, please reload"))
        .is(&["node-lags"]);
    site().with(reloads("hw", "WARNINGS: 1")).is(&[]);
}

#[test]
fn marks_without_a_difference_are_no_pending_change() {
    let marked = |pending: &str| site().with(zones(&format!(r#","state":"changed","pending":{{{pending}}}"#)));
    marked(r#""advertise-subnets":0"#).is(&[]);
    marked(r#""exitnodes":"hv""#).is(&[]);
    let swapped = r#","nodes":"hv,hw","state":"changed","pending":{"nodes":"hw,hv"}"#;
    site().with(zones(swapped)).is(&[]);
    marked(r#""exitnodes":"hv,hw""#).is(&["sdn-pending"]);
    marked(r#""exitnodes":"deleted""#).is(&["sdn-pending"]);
}

#[test]
fn whose_change_it_is_comes_from_what_was_written() {
    let row = r#"{"vnet":"shop1","state":"new","pending":{"zone":"shop","tag":20011}}"#;
    let added = site().with(vnets(row));
    let origin = |site: &Site| {
        let report = site.report();
        let found = report.findings.iter().flat_map(|f| &f.facts).find(|f| f.key == "sdn.pending-origin");
        found.map(|f| f.value.clone()).unwrap()
    };
    assert_eq!(origin(&added), "this session?");
    let mut write = http("hv", "POST /api2/json/cluster/sdn/vnets", 200, "OK", r#"{"data":null}"#);
    if let deevnet_console::diagnose::evidence::Kind::Http(http) = &mut write.kind {
        http.sent = Some("vnet=shop1&zone=shop&tag=20011".to_owned());
    }
    assert_eq!(origin(&added.and(write)), "this session");
}

#[test]
fn one_number_in_two_spaces() {
    site().with(vnets(r#"{"vnet":"shop0","zone":"shop","tag":10001}"#)).is(&["vni-collision"]);
    site().without("GET /api2/json/cluster/sdn/zones").is_unknown("VRF VNIs");
}

#[test]
fn subnets_of_one_zone_may_be_side_by_side() {
    let list = |vnet: &str, zone: &str, net: &str| {
        let body = format!(r#"{{"data":[{{"cidr":"{net}","zone":"{zone}","vnet":"{vnet}"}}]}}"#);
        get("hv", &format!("/api2/json/cluster/sdn/vnets/{vnet}/subnets"), &body)
    };
    let two = |exit: &str| {
        let body = format!(
            r#"{{"data":[{{"zone":"shop","type":"evpn","exitnodes":"hv"}},{{"zone":"farm","type":"evpn","exitnodes":"{exit}"}}]}}"#
        );
        Site(vec![get("hv", "/api2/json/cluster/sdn/zones", &body)])
    };
    let wide = || list("farm0", "farm", "10.9.128.0/20");
    two("hv").and(list("shop0", "shop", "10.9.129.0/24")).and(wide()).is(&["subnet-overlap"]);
    two("hw").and(list("shop0", "shop", "10.9.129.0/24")).and(wide()).is(&[]);
    two("hv").and(list("shop0", "shop", "10.9.1.0/24")).and(wide()).is(&[]);
}
