//! The router: what it lets through, translates and routes.

use crate::by_hand::{Site, get, http, item, nothing_unknown};
use deevnet_console::diagnose::evidence::{Item, Kind};
use deevnet_console::diagnose::finding::{Layer, Severity};

const RULES: &str = "/api/firewall/filter/search_rule?show_all=1";
const ROUTES: &str = "/api/routes/routes/searchroute";
const GATEWAYS: &str = "/api/routes/gateway/status";
const INTERFACES: &str = "/api/interfaces/overview/interfaces_info";
const ZONES: &str = "/api2/json/cluster/sdn/zones?running=1";
const VNETS: &str = "/api2/json/cluster/sdn/vnets?running=1";
const RIGHTS: &str = "/api2/json/access/permissions";
const SUBNETS: &str = "/api2/json/cluster/sdn/vnets/shop0/subnets?running=1";

/// A rule on `interface`: (uuid, action, interface, source, destination, more).
fn rule(n: u32, action: &str, interface: &str, source: &str, destination: &str, more: &str) -> String {
    format!(
        r#"{{"uuid":"r{n}","enabled":"1","action":"{action}","quick":"1","interface":"{interface}","direction":"in",
        "protocol":"any","source_net":"{source}","destination_net":"{destination}","description":"rule {n}",
        "prio_group":"400000","sort_order":"400000.{n:07}","evaluations":5000,"packets":4,"states":1{more}}}"#
    )
}

/// What pf counts, in every rule made by [`rule`].
const COUNTED: &str = r#","evaluations":5000,"packets":4,"states":1"#;

fn rules(all: &[String]) -> Item {
    get("fw", RULES, &format!(r#"{{"rows":[{}]}}"#, all.join(",")))
}

fn gateway(status: &str) -> Item {
    let body = format!(
        r#"{{"items":[{{"name":"FABRIC","gateway":"10.9.0.22","status":"{status}","monitor":"10.9.0.22","loss":"~"}}]}}"#
    );
    get("fw", GATEWAYS, &body)
}

fn arp(mac: &str) -> Item {
    get("fw", "/api/diagnostics/interface/search_arp", &format!(r#"{{"rows":[{{"ip":"10.9.0.22","mac":"{mac}"}}]}}"#))
}

fn routes(rows: &str) -> Item {
    get("fw", ROUTES, &format!(r#"{{"rows":[{rows}]}}"#))
}

const AGGREGATE: &str = r#"{"uuid":"a","network":"10.9.128.0/18","gateway":"FABRIC - 10.9.0.22","enabled":"1"}"#;

fn subnets(snat: &str) -> Item {
    let body = format!(r#"{{"data":[{{"cidr":"10.9.129.0/24","zone":"shop","vnet":"shop0"{snat}}}]}}"#);
    get("hv", SUBNETS, &body)
}

fn site() -> Site {
    let interfaces = r#"{"rows":[
        {"identifier":"wan","description":"WAN","addr4":"198.51.100.2/24","gateways":["198.51.100.1"]},
        {"identifier":"lan","description":"LAN","addr4":"192.0.2.1/24","gateways":[]},
        {"identifier":"opt1","description":"TRANSIT","addr4":"10.9.0.1/24","gateways":[]}]}"#;
    Site(vec![
        rules(&[
            rule(1, "pass", "opt1", "10.9.0.0/24", "192.0.2.0/24", ""),
            rule(2, "pass", "lan", "192.0.2.0/24", "10.9.128.0/18", ""),
        ]),
        get("fw", INTERFACES, interfaces),
        routes(AGGREGATE),
        gateway("none"),
        arp("02:00:00:00:00:22"),
        get("hv", "/api2/json/nodes", r#"{"data":[{"node":"hv","status":"online"}]}"#),
        get("fw", "/api/core/system/status", r#"{"metadata":{},"subsystems":{}}"#),
        subnets(r#","snat":1"#),
        get("hv", ZONES, r#"{"data":[{"zone":"shop","type":"evpn","exitnodes":"hv","vrf-vxlan":10001}]}"#),
        get("hv", VNETS, r#"{"data":[{"vnet":"shop0","zone":"shop","tag":20010}]}"#),
        get("hv", RIGHTS, r#"{"data":{"/":{"SDN.Audit":1}}}"#),
    ])
}

fn nat(source: &str, automatic: bool) -> Item {
    let body = format!(
        r#"{{"rows":[{{"uuid":"n","enabled":"1","interface":"wan","source_net":"{source}","is_automatic":{automatic}}}]}}"#
    );
    get("fw", "/api/firewall/source_nat/search_rule", &body)
}

#[test]
fn a_healthy_router_has_no_finding() {
    site().is(&[]);
    nothing_unknown(&site().and(nat("10.9.128.0/18", false)), &[Layer::Access, Layer::Perimeter]);
}

#[test]
fn tenants_must_not_reach_one_another_by_way_of_the_router() {
    let leak = rule(9, "pass", "opt1", "10.9.0.0/24", "10.9.128.0/18", "");
    site().with(rules(std::slice::from_ref(&leak))).is(&["perimeter-leak"]);
    let own = rule(9, "pass", "opt1", "opt1", "10.9.129.0/24", "");
    site().with(rules(&[own])).is(&["perimeter-leak"]);
    // From a tenant's own address on that interface, and from one on all interfaces.
    site().with(rules(&[rule(9, "pass", "opt1", "10.9.129.7", "10.9.129.0/24", "")])).is(&["perimeter-leak"]);
    site().with(rules(&[rule(9, "pass", "", "10.9.0.22", "10.9.129.0/24", "")])).is(&["perimeter-leak"]);
    site().with(rules(&[rule(9, "pass", "", "192.0.2.5", "10.9.129.0/24", "")])).is(&[]);
    // Off, a block, or to everywhere.
    let off = leak.replace(r#""enabled":"1""#, r#""enabled":"0""#);
    site().with(rules(&[off.replace(COUNTED, "")])).is(&[]);
    // Off, and pf counts for it: it was not applied since.
    site().with(rules(&[off])).is(&["rule-still-loaded"]);
    site().with(rules(&[rule(9, "block", "opt1", "10.9.0.0/24", "10.9.128.0/18", "")])).is(&[]);
    site().with(rules(&[rule(9, "pass", "opt1", "10.9.0.0/24", "any", "")])).is(&[]);
}

#[test]
fn without_interfaces_nothing_is_concluded() {
    let leak = rules(&[rule(9, "pass", "opt1", "10.9.0.0/24", "10.9.128.0/18", "")]);
    site().with(leak.clone()).with(get("fw", INTERFACES, r#"{"rows":[]}"#)).is_unknown("interfaces of the router");
    let denied = http("fw", &format!("GET {INTERFACES}"), 403, "Forbidden", r#"{"status":403,"message":"Forbidden"}"#);
    site().with(leak).with(denied).is(&["privilege-missing"]);
}

#[test]
fn a_rule_for_a_network_nobody_has() {
    site().with(rules(&[rule(3, "pass", "lan", "192.0.2.0/24", "10.9.140.7", "")])).is(&["rule-left-over"]);
    site().with(rules(&[rule(3, "pass", "lan", "192.0.2.0/24", "10.9.129.7", "")])).is(&[]);
    // Nobody's only where all tenants are known.
    let stale = || site().with(rules(&[rule(3, "pass", "lan", "192.0.2.0/24", "10.9.140.7", "")]));
    for gone in [ZONES, VNETS, RIGHTS] {
        stale().without(&format!("GET {gone}")).is_unknown("all tenants");
    }
    stale().with(get("hv", RIGHTS, r#"{"data":{"/sdn/zones/shop":{"SDN.Audit":1}}}"#)).is_unknown("all tenants");
    let more = r#"{"data":[{"vnet":"shop0","zone":"shop","tag":20010},{"vnet":"shop1","zone":"shop","tag":20011}]}"#;
    stale().with(get("hv", VNETS, more)).is_unknown("subnets of VNet shop1");
    // Outside of the tenants' route it is none of their business.
    site().with(rules(&[rule(3, "pass", "lan", "192.0.2.0/24", "10.50.0.0/24", "")])).is(&[]);
}

#[test]
fn the_earlier_of_two_opposite_rules_decides() {
    let block = rule(5, "block", "lan", "192.0.2.0/24", "10.9.129.0/24", "");
    let wide = rule(4, "pass", "lan", "192.0.2.0/24", "10.9.128.0/18", "");
    site().with(rules(&[block.clone(), wide.clone()])).is(&["rule-shadowed"]);
    // Later, of another interface, of one port, or not quick: it does not decide.
    site().with(rules(&[wide.replace(".0000004", ".0000006"), block.clone()])).is(&[]);
    site().with(rules(&[wide.replace(r#""lan""#, r#""opt1""#), block.clone()])).is(&[]);
    site().with(rules(&[wide.replace(r#""direction":"in""#, r#""direction":"out""#), block.clone()])).is(&[]);
    site()
        .with(rules(&[
            wide.replace(r#""destination_net""#, r#""destination_port":"443","destination_net""#),
            block.clone(),
        ]))
        .is(&[]);
    site().with(rules(&[wide.replace(r#""quick":"1""#, r#""quick":"0""#), block.clone()])).is(&[]);
    // An alias that is not known here covers nothing.
    site().with(rules(&[wide.replace("10.9.128.0/18", "some_alias"), block])).is(&[]);
}

#[test]
fn a_rule_that_nothing_matched_is_told_and_no_fault() {
    let idle = rule(6, "pass", "lan", "192.0.2.0/24", "10.9.128.0/18", "")
        .replace(r#""packets":4,"states":1"#, r#""packets":0,"states":0"#);
    let report = site().with(rules(&[idle])).report();
    assert_eq!(report.findings.iter().map(|f| f.id).collect::<Vec<_>>(), ["rule-never-hit"]);
    assert_eq!(report.worst(), Some(Severity::Info));
}

#[test]
fn counters_read_by_label_count_as_those_of_the_list() {
    let bare = |n, more: &str| {
        rule(n, "pass", "lan", "192.0.2.0/24", "10.9.128.0/18", "")
            .replace(r#","evaluations":5000,"packets":4,"states":1"#, more)
    };
    let stats = |label: &str| {
        let body = format!(
            r#"{{"status":"ok","stats":{{"{label}":{{"pf_rules":1,"evaluations":5000,"packets":0,"states":0}}}}}}"#
        );
        get("fw", "/api/firewall/filter_util/rule_stats", &body)
    };
    let ids = |site: Site| site.report().findings.iter().map(|f| f.id).collect::<Vec<_>>();
    assert_eq!(ids(site().with(rules(&[bare(6, "")])).and(stats("r6"))), ["rule-never-hit"]);
    // pf has one of the two.
    site().with(rules(&[bare(6, ""), bare(8, "")])).and(stats("r6")).is_unknown("whether the rules were applied");
}

#[test]
fn rules_that_pf_refused() {
    let message = "There were error(s) loading the rules: /tmp/rules.debug:41: syntax error - The line in question reads [41]: pass in quick on re0 inet from any to {  }";
    let status = |at: i64| {
        let body =
            serde_json::json!({"metadata": {}, "subsystems": {"firewall": {"message": message, "timestamp": at}}});
        get("fw", "/api/core/system/status", &body.to_string())
    };
    let fresh = rule(7, "pass", "lan", "192.0.2.0/24", "10.9.129.0/24", "")
        .replace(r#","evaluations":5000,"packets":4,"states":1"#, "");
    let old = rule(1, "pass", "opt1", "10.9.0.0/24", "192.0.2.0/24", "");
    let failed = site().with(status(1_764_144_132)).with(rules(&[old.clone(), fresh.clone()]));
    failed.is(&["ruleset-not-loaded"]);
    assert!(
        failed.report().findings[0].facts.iter().any(|f| f.subject == "line 41" && f.value == "empty destination list")
    );
    let applied = |at: i64| {
        let body = format!(r#"{{"apply_sent_at":{at}}}"#);
        item("clock", "console", Kind::Material("times".to_owned()), &body)
    };
    site().with(status(1_764_144_132)).and(applied(1_764_144_130)).is(&["ruleset-not-loaded"]);
    site().with(status(1_764_144_132)).and(applied(1_764_144_199)).is(&[]);
    // The message stays after a good load: with all rules in force it is of an earlier time.
    site().with(status(1_764_144_132)).is_unknown("when the rules were applied");
    // A rule that is not there and no message: it was never applied.
    site().with(rules(&[old, fresh])).is_unknown("whether the rules were applied");
}

#[test]
fn the_way_to_tenants() {
    site().with(routes("")).is(&["route-missing"]);
    site().with(routes(&AGGREGATE.replace(r#""enabled":"1""#, r#""enabled":"0""#))).is(&["route-missing"]);
    site().with(routes(&AGGREGATE.replace(r#""enabled":"1""#, r#""disabled":"1""#))).is(&["route-missing"]);
    site().with(routes(&AGGREGATE.replace(r#""enabled":"1""#, r#""disabled":"0""#))).is(&[]);
}

#[test]
fn a_gateway_that_is_down_and_one_whose_monitor_is_silent() {
    site().with(gateway("down")).is(&["gateway-monitor-silent"]);
    site().with(gateway("down")).with(arp("(incomplete)")).is(&["gateway-down"]);
    site().with(gateway("force_down")).is(&["gateway-down"]);
    let offline = get("hv", "/api2/json/nodes", r#"{"data":[{"node":"hv","status":"offline"}]}"#);
    site().with(gateway("down")).with(offline).is(&["node-unreachable"]);
    site().with(gateway("down")).without("GET /api/diagnostics/interface/search_arp").is_unknown("hardware address");
}

#[test]
fn translation_of_a_routed_network() {
    let off = || site().with(subnets(""));
    off().and(nat("lan,opt1,127.0.0.0/8", true)).is(&["nat-missing-for-routed"]);
    off().and(nat("10.9.128.0/18", false)).is(&[]);
    off().and(nat("any", false)).is(&[]);
    off().and(nat("tenants_alias", false)).is_unknown("which sources the rules of source NAT mean");
    site().and(nat("lan,opt1,127.0.0.0/8", true)).is(&[]);
}

#[test]
fn a_flow_of_which_one_direction_is_seen() {
    let state = |source: &str, packets: &str| {
        let body = format!(
            r#"{{"rows":[{{"interface":"TRANSIT","proto":"tcp","direction":"in","src_addr":"{source}","dst_addr":"10.9.129.5",
            "state":"CLOSED:SYN_SENT","pkts":{packets}}}]}}"#
        );
        http("fw", "POST /api/diagnostics/firewall/query_states", 200, "OK", &body)
    };
    site().and(state("10.9.0.40", "[3,0]")).is(&["asymmetric-path"]);
    site().and(state("10.9.0.40", "[3,2]")).is(&[]);
    // From another segment the answer comes back through the router.
    site().and(state("192.0.2.40", "[3,0]")).is(&[]);
    // The next hop itself.
    site().and(state("10.9.0.22", "[3,0]")).is(&[]);
}

#[test]
fn a_site_says_which_segments_must_not_meet() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sites/good/mobile.toml");
    let text = std::fs::read_to_string(file).expect("a site");
    let interfaces = r#"{"rows":[
        {"identifier":"opt5","description":"IOT-Vendor","addr4":"10.20.31.1/24","gateways":[]},
        {"identifier":"opt1","description":"TRUSTED","addr4":"10.20.10.1/24","gateways":[]},
        {"identifier":"opt8","description":"MGMT","addr4":"10.20.99.1/24","gateways":[]},
        {"identifier":"opt10","description":"TENANT_TRANSIT","addr4":"10.20.50.1/24","gateways":[]}]}"#;
    let with = |interface: &str, source: &str, destination: &str| {
        Site(vec![
            item("site.toml", "site", Kind::Material("the site file".to_owned()), &text),
            get("fw", INTERFACES, interfaces),
            rules(&[rule(1, "pass", interface, source, destination, "")]),
        ])
    };
    with("opt5", "any", "10.20.128.0/18").is(&["perimeter-leak"]);
    with("opt5", "10.20.31.9", "10.20.129.10").is(&["perimeter-leak"]);
    with("opt10", "10.20.50.0/24", "10.20.99.22").is(&["perimeter-leak"]);
    with("opt10", "10.20.129.0/24", "opt1").is(&["perimeter-leak"]);
    // Operators may reach tenants, tenants may reach what serves them.
    with("opt1", "10.20.10.0/24", "10.20.128.0/18").is(&[]);
    with("opt10", "10.20.50.0/24", "10.20.25.0/24").is(&[]);
    // What is meant for the internet leads to all of them as well.
    with("opt10", "any", "any").is(&["perimeter-too-wide"]);
}
