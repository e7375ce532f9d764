//! Two things at once: what one dead machine brings is one root, and what has another cause stays beside it.

use crate::by_hand::{Site, claims, get, http, item};
use deevnet_console::diagnose::evidence::{Item, Kind};

const ZONES: &str = "/api2/json/cluster/sdn/zones?running=1";
const NODES: &str = "/api2/json/nodes";
const NEIGH: &str = "ip neigh show dev vmbr0.50";
const LINKS: &str = "ip -o link show";
const NODE: &str = "dv02hyp002p02";

fn ran(line: &str, exit: Option<i32>, body: &str, stderr: &str) -> Item {
    let mut item = item(line, NODE, Kind::Command { line: line.to_owned(), exit }, body);
    stderr.clone_into(&mut item.stderr);
    item
}

fn nodes(state: &str) -> Item {
    get(
        "api",
        NODES,
        &format!(r#"{{"data":[{{"node":"hv01","status":"online"}},{{"node":"{NODE}","status":"{state}"}}]}}"#),
    )
}

fn silent(why: &str) -> Item {
    ran("deevnet-exit-node read main/198.51.100.1/-/-", None, "", why)
}

fn gateway(status: &str, mac: &str) -> [Item; 2] {
    [
        get(
            "fw",
            "/api/routes/gateway/status",
            &format!(
                r#"{{"items":[{{"name":"FABRIC","gateway":"10.20.50.22","monitor":"10.20.50.22","status":"{status}","loss":"~"}}]}}"#
            ),
        ),
        get(
            "fw",
            "/api/diagnostics/interface/search_arp",
            &format!(r#"{{"rows":[{{"ip":"10.20.50.22","mac":"{mac}"}}]}}"#),
        ),
    ]
}

fn site() -> Site {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sites/good/mobile.toml");
    let text = std::fs::read_to_string(file).expect("a site");
    let zones = format!(
        r#"{{"data":[{{"zone":"shop","type":"evpn","vrf-vxlan":10001,"nodes":"{NODE}","exitnodes":"{NODE}"}}]}}"#
    );
    Site(vec![
        item("site.toml", "console", Kind::Material("the site file".to_owned()), &text),
        get("api", ZONES, &zones),
        nodes("online"),
    ])
}

/// Every finding with the id of its root.
fn under(site: &Site) -> Vec<(&'static str, &'static str)> {
    let report = site.report();
    let root = |mut key| {
        while let Some(cause) = report.findings.iter().find(|f| f.key() == key).and_then(|f| f.caused_by.clone()) {
            key = cause;
        }
        key.0
    };
    report.findings.iter().map(|f| (f.id, root(f.key()))).collect()
}

#[test]
fn a_node_that_is_gone_is_one_root() {
    let gone = site().with(nodes("offline")).and(silent("ssh: connect to host hv02 port 22: Connection timed out"));
    assert_eq!(under(&gone), [("node-unreachable", "node-unreachable"), ("exit-node-unreachable", "node-unreachable")]);
    // The cluster reaches it: then the console's own way is the matter.
    let own = site().and(silent("ssh: connect to host hv02 port 22: Connection timed out"));
    assert_eq!(under(&own), [("exit-node-unreachable", "exit-node-unreachable")]);
}

#[test]
fn the_perimeters_gateway_goes_with_its_exit_node() {
    let [status, arp] = gateway("down", "(incomplete)");
    let both = site().with(nodes("offline")).and(silent("No route to host")).and(status.clone()).and(arp.clone());
    let all = under(&both);
    assert!(all.contains(&("gateway-down", "node-unreachable")), "{all:?}");
    assert_eq!(claims(&both.report()).into_iter().collect::<Vec<_>>(), ["node-unreachable"]);
    // Somebody forced it down: another cause, beside the first.
    let [forced, arp_there] = gateway("force_down", "02:00:00:00:00:22");
    let two = site().with(nodes("offline")).and(silent("No route to host")).and(forced).and(arp_there);
    assert_eq!(claims(&two.report()).into_iter().collect::<Vec<_>>(), ["gateway-down", "node-unreachable"]);
    // Alone it is a root.
    site().and(status).and(arp).is(&["gateway-down"]);
}

#[test]
fn one_host_that_answers_nothing_is_one_root_and_one_that_refuses_is_not_gone() {
    let dead = |path: &str| http(NODE, &format!("GET {path}"), 0, "no answer within 10 s", "");
    let with = |why: &str| {
        let text = site().0.into_iter().next().expect("the site file");
        Site(vec![text, dead(ZONES), dead("/api2/json/cluster/resources"), silent(why)])
    };
    let all = under(&with("ssh: connect to host hv02 port 22: Connection timed out"));
    assert_eq!(all, [("source-unreachable", "source-unreachable"), ("exit-node-unreachable", "source-unreachable")]);
    let refused = with("Permission denied (publickey).");
    assert_eq!(
        claims(&refused.report()).into_iter().collect::<Vec<_>>(),
        ["exit-node-unreachable", "source-unreachable"]
    );
}

/// The exit node, whose transit gateway is silent.
fn without_gateway() -> Site {
    let up = "4: vmbr0.50@vmbr0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT\n\
              8: vrf_shop: <NOARP,MASTER,UP,LOWER_UP> mtu 65575 qdisc noqueue state UP mode DEFAULT\n";
    site().and(ran(LINKS, Some(0), up, "")).and(ran(NEIGH, Some(0), "10.20.50.1 FAILED \n", ""))
}

#[test]
fn one_dead_router_is_one_root() {
    let dead = |path: &str| http("10.20.99.1", &format!("GET /api/{path}"), 0, "no answer within 10 s", "");
    without_gateway().is(&["gateway-unreachable"]);
    let both = without_gateway().and(dead("core/firmware/status")).and(dead("core/system/status"));
    let all = under(&both);
    // The outage is the root: that its API is silent stops no packet.
    assert!(
        all.contains(&("gateway-unreachable", "gateway-unreachable"))
            && all.contains(&("source-unreachable", "gateway-unreachable")),
        "{all:?}"
    );
    // The uplink explains the silence of the gateway; the router is dead beside it.
    let down = "4: vmbr0.50@vmbr0: <NO-CARRIER,BROADCAST,UP> mtu 1500 qdisc noqueue state LOWERLAYERDOWN\n\
                8: vrf_shop: <NOARP,MASTER,UP,LOWER_UP> mtu 65575 qdisc noqueue state UP mode DEFAULT\n";
    let all = under(&both.with(ran(LINKS, Some(0), down, "")));
    assert!(
        all.contains(&("gateway-unreachable", "uplink-down"))
            && all.contains(&("source-unreachable", "source-unreachable")),
        "{all:?}"
    );
}
