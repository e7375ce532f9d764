//! The perimeter audited against a site: what is too wide, what is left over, what is not translated, what decides.

use crate::by_hand::{Site, get, http, item};
use deevnet_console::diagnose::evidence::{Item, Kind};
use deevnet_console::diagnose::finding::Severity;

const RULES: &str = "/api/firewall/filter/search_rule";
const ALIASES: &str = "/api/firewall/alias/search_item";
const ROUTES: &str = "/api/routes/routes/searchroute";
const FORWARDS: &str = "/api/unbound/settings/search_forward";
const NAT: &str = "/api/firewall/source_nat/search_rule";
const INTERFACES: &str = "/api/interfaces/overview/export";
const RIGHTS: &str = "/api2/json/access/permissions";
const TIME: &str = "/api/diagnostics/system/system_time";

/// Another number in the second octet of every address of the site.
fn moved(text: &str, o: u8) -> String {
    text.replace("10.20.", &format!("10.{o}.")).replace(".20.10.in-addr", &format!(".{o}.10.in-addr"))
}

fn rule(n: u32, more: &str) -> String {
    format!(
        r#"{{"uuid":"r{n}","enabled":"1","action":"pass","quick":"1","direction":"in","protocol":"any","ipprotocol":"inet",
        "source_net":"any","destination_net":"any","description":"ansible: rule {n}","sort_order":"400000.{n:07}",
        "prio_group":"400000","evaluations":5000,"packets":4,"states":1{more}}}"#
    )
}

/// Fields of a rule: interface, source, destination.
fn of(interface: &str, source: &str, destination: &str) -> String {
    format!(r#","interface":"{interface}","source_net":"{source}","destination_net":"{destination}""#)
}

/// JSON in which the last of equal keys counts, as in every reader here.
fn rows(path: &str, all: &[String]) -> Item {
    let rows: Vec<serde_json::Value> = all.iter().map(|row| serde_json::from_str(row).expect("a row")).collect();
    get("fw", path, &serde_json::json!({"rows": rows}).to_string())
}

const PRIVATE: &str = r#"{"uuid":"a1","name":"all_private","type":"network","enabled":"1","content":"10.0.0.0/8\n172.16.0.0/12\n192.168.0.0/16"}"#;
const AGGREGATE: &str = r#"{"uuid":"a","network":"10.20.128.0/18","gateway":"FABRIC - 10.20.50.22","enabled":"1"}"#;
const OUT: &str =
    r#"{"uuid":"automatic_wan","enabled":"1","interface":"wan","source_net":"opt8,opt10","is_automatic":true}"#;

fn interfaces() -> Item {
    let segment = |id: &str, name: &str, net: &str| {
        format!(r#"{{"identifier":"{id}","description":"{name}","addr4":"{net}","gateways":[]}}"#)
    };
    let all = [
        segment("opt1", "TRUSTED", "10.20.10.1/24"),
        segment("opt3", "PLATFORM", "10.20.25.1/24"),
        segment("opt4", "IOT", "10.20.30.1/24"),
        segment("opt8", "MANAGEMENT", "10.20.99.1/24"),
        segment("opt10", "TENANT_TRANSIT", "10.20.50.1/24"),
        r#"{"identifier":"wan","description":"WAN","device":"re1","addr4":"198.51.100.2/24","gateways":["198.51.100.1"]}"#.to_owned(),
    ];
    get("fw", INTERFACES, &format!("[{}]", all.join(",")))
}

/// To everywhere but all private networks.
fn internet(n: u32) -> String {
    rule(n, &format!(r#"{},"destination_not":"1""#, of("opt10", "10.20.50.0/24", "all_private")))
}

fn forwards(domains: &[&str]) -> Item {
    let row =
        |d: &&str| format!(r#"{{"uuid":"{d}","enabled":"1","type":"forward","domain":"{d}","server":"10.20.25.21"}}"#);
    rows(FORWARDS, &domains.iter().map(row).collect::<Vec<_>>())
}

const NAMES: [&str; 2] = ["shop.mobile.deevnet.net", "129.20.10.in-addr.arpa"];

fn site() -> Site {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sites/good/mobile.toml");
    let text = std::fs::read_to_string(file).expect("a site");
    // Whether a registry knows more tenants is a question of its own.
    let text = text.split("[registry]").next().expect("a part").to_owned();
    let subnet =
        r#"{"data":[{"cidr":"10.20.129.0/24","zone":"shop","vnet":"shop0","gateway":"10.20.129.1","snat":1}]}"#;
    Site(vec![
        item("site.toml", "console", Kind::Material("the site file".to_owned()), &text),
        get(
            "hv",
            "/api2/json/cluster/sdn/zones?running=1",
            r#"{"data":[{"zone":"shop","type":"evpn","vrf-vxlan":10001,"exitnodes":"dv02hyp002p02"}]}"#,
        ),
        get("hv", "/api2/json/cluster/sdn/vnets?running=1", r#"{"data":[{"vnet":"shop0","zone":"shop","tag":20010}]}"#),
        get("hv", "/api2/json/cluster/sdn/vnets/shop0/subnets?running=1", subnet),
        get("hv", RIGHTS, r#"{"data":{"/":{"SDN.Audit":1}}}"#),
        interfaces(),
        rows(ALIASES, &[PRIVATE.to_owned()]),
        rows(
            RULES,
            &[
                internet(1),
                rule(2, &of("opt10", "10.20.50.0/24", "opt3")),
                rule(3, &of("opt1", "opt1", "10.20.128.0/18")),
            ],
        ),
        rows(ROUTES, &[AGGREGATE.to_owned()]),
        rows(NAT, &[OUT.to_owned()]),
        forwards(&NAMES),
        get("fw", TIME, r#"{"uptime":"11 days, 05:06:29"}"#),
        get("fw", "/api/core/system/status", r#"{"metadata":{},"subsystems":{}}"#),
    ])
}

#[test]
fn a_router_by_the_policy_has_no_finding_whatever_its_numbers() {
    site().is(&[]);
    for o in [21, 77] {
        let mut other = site();
        for item in &mut other.0 {
            item.body = moved(&item.body, o).replace("octet = 20", &format!("octet = {o}"));
        }
        other.is(&[]);
    }
}

#[test]
fn what_is_meant_for_the_internet_and_leads_inside() {
    let with = |row: String| site().with(rows(RULES, &[row]));
    let wide = |more: &str| rule(1, &format!("{}{more}", of("opt10", "10.20.50.0/24", "any")));
    with(wide("")).is(&["perimeter-too-wide"]);
    with(rule(1, &of("opt4", "any", "any"))).is(&["perimeter-too-wide"]);
    with(rule(1, &of("", "any", "any"))).is(&["perimeter-too-wide"]);
    // Of operators, blocked, on the way out, by another family, sent to a gateway by the rule itself.
    with(rule(1, &of("opt1", "any", "any"))).is(&[]);
    for more in [
        r#","action":"block""#,
        r#","direction":"out""#,
        r#","ipprotocol":"inet6""#,
        r#","enabled":"0","evaluations":null"#,
        r#","gateway":"WAN_GW""#,
    ] {
        with(wide(more)).is(&[]);
    }
    // All but a network that does not hold the others.
    let but = |net: &str| rule(1, &format!(r#"{},"destination_not":"1""#, of("opt10", "any", net)));
    with(but("10.20.99.0/24")).is(&["perimeter-too-wide"]);
    with(but("10.20.0.0/16")).is(&[]);
    // An empty alias leaves nothing out; one that is not known may leave out anything.
    let empty = PRIVATE.replace(r"10.0.0.0/8\n172.16.0.0/12\n192.168.0.0/16", "");
    let hollow = site().with(rows(ALIASES, &[empty]));
    hollow.is(&["perimeter-too-wide"]);
    let report = hollow.report();
    for wide in report.findings.iter().filter(|f| f.id == "perimeter-too-wide") {
        assert!(wide.title.contains("alias all_private is empty"), "{}", wide.title);
        assert_eq!(
            wide.next.iter().map(|n| n.id).collect::<Vec<_>>(),
            ["fill-alias"],
            "the rule itself is as it should be"
        );
    }
    site().without(&format!("GET {ALIASES}")).is_unknown("all_private");
    site().with(rows(ALIASES, &[PRIVATE.replace("network", "urltable")])).is_unknown("all_private");
    // Who is in a group of interfaces is not told.
    with(rule(1, &of("INSIDE", "any", "any"))).is_unknown("what INSIDE means");
    // A list without rules was not read.
    site().with(rows(RULES, &[])).is_unknown("the filter rules of the router");
}

#[test]
fn a_block_before_it_counts() {
    let pass = rule(9, &of("opt4", "any", "any"));
    let block =
        |n: u32, more: &str| rule(n, &format!(r#"{},"action":"block"{more}"#, of("opt4", "any", "10.20.128.0/18")));
    let both = |block: String| site().with(rows(RULES, &[pass.clone(), block]));
    both(block(3, "")).is(&[]);
    // After it, it decides nothing, and that is told too.
    both(block(10, "")).is(&["perimeter-too-wide", "rule-shadowed"]);
    both(block(3, r#","quick":"0""#)).is(&["perimeter-too-wide", "rule-shadowed"]);
    for weak in [
        block(3, r#","protocol":"TCP""#),
        block(3, r#","icmptype":"echoreq""#),
        block(3, r#","enabled":"0","evaluations":null"#),
    ] {
        both(weak).is(&["perimeter-too-wide"]);
    }
}

#[test]
fn what_stops_a_rule_that_names_the_network_counts_too() {
    let pass = |more: &str| rule(9, &format!("{}{more}", of("opt4", "any", "10.20.128.0/18")));
    let block =
        |n: u32, more: &str| rule(n, &format!(r#"{},"action":"block"{more}"#, of("opt4", "any", "10.20.128.0/18")));
    let both = |pass: String, block: String| site().with(rows(RULES, &[pass, block]));
    let leaks = |site: Site| site.report().findings.iter().any(|finding| finding.id == "perimeter-leak");
    both(pass(""), block(3, "")).is(&["rule-shadowed"]);
    assert!(!leaks(both(pass(""), block(3, r#","source_net":"opt4""#))));
    // Of one address, of one protocol, or for a part of the block: the rest passes.
    for weak in [r#","source_net":"10.20.30.9""#, r#","protocol":"TCP""#, r#","destination_net":"10.20.140.0/24""#] {
        assert!(leaks(both(pass(""), block(3, weak))), "{weak}");
    }
    // A tenant's own source is none of the segment's.
    let own = |source: &str| {
        let pass = rule(9, &of("opt10", "10.20.129.7", "10.20.128.0/18"));
        let block = format!(r#"{},"action":"block""#, of("opt10", source, "10.20.128.0/18"));
        site().with(rows(RULES, &[pass, rule(3, &block)]))
    };
    assert!(leaks(own("10.20.50.0/24")));
    assert!(!leaks(own("10.20.129.0/24")));
    // What is not understood, and where it is evaluated, may stop it.
    for maybe in [r#","destination_net":"nowhere""#, r#","interface":"INSIDE""#, r#","sort_order":"""#] {
        let report = both(pass(""), block(3, maybe)).report();
        assert!(report.findings.iter().all(|finding| finding.id != "perimeter-leak"), "{maybe}");
        let missing = "whether ansible: rule 3 blocks before ansible: rule 9 passes";
        assert!(report.unknown.iter().any(|unknown| unknown.missing == missing), "{maybe}: {:#?}", report.unknown);
    }
}

#[test]
fn a_gateway_of_the_rule_itself_decides_where_it_leads() {
    let with = |address: &str| {
        let pass = rule(9, &format!(r#"{},"gateway":"ELSEWHERE""#, of("opt4", "any", "10.20.128.0/18")));
        let row = format!(r#"{{"name":"ELSEWHERE","address":"{address}","status":"none","monitor":"","loss":"~"}}"#);
        let gateways = get("fw", "/api/routes/gateway/status", &format!(r#"{{"items":[{row}]}}"#));
        site().with(rows(RULES, &[pass])).and(gateways)
    };
    with("198.51.100.1").is(&[]);
    with("10.20.50.22").is_unknown("whether gateway ELSEWHERE");
    with("~").is_unknown("where gateway ELSEWHERE");
}

#[test]
fn nothing_passes_where_a_rule_is_not_understood() {
    let passes = |destination: &str| {
        let report = site().with(rows(RULES, &[rule(1, &of("opt4", "any", destination))])).report();
        report.passed.iter().any(|pass| pass.id == "perimeter-leak")
    };
    assert!(passes("__opt3_network"));
    assert!(!passes("nowhere"));
}

#[test]
fn a_tenant_who_waits_for_an_apply_has_a_network() {
    let route = || {
        let own = AGGREGATE.replace("10.20.128.0/18", "10.20.140.0/24");
        site().with(rows(ROUTES, &[AGGREGATE.to_owned(), own]))
    };
    route().is(&["route-left-over"]);
    let waiting = |zone: &str| {
        let zones = format!(r#"{{"data":[{{"zone":"shop","type":"evpn","vrf-vxlan":10001}},{zone}]}}"#);
        let report = route().and(get("hv", "/api2/json/cluster/sdn/zones?pending=1", &zones)).report();
        assert!(report.findings.iter().all(|finding| finding.id != "route-left-over"), "{zone}");
    };
    waiting(r#"{"zone":"fresh","type":"evpn","state":"new","vrf-vxlan":10012}"#);
    waiting(r#"{"zone":"fresh","type":"evpn","state":"new","pending":{"vrf-vxlan":10012}}"#);
}

#[test]
fn rights_that_do_not_reach_every_zone_show_not_all_tenants() {
    let stale = || site().with(forwards(&[NAMES[0], NAMES[1], "gone.mobile.deevnet.net"]));
    for rights in [
        // At the root alone, and with an entry below that takes it away.
        r#"{"data":{"/":{"SDN.Audit":0}}}"#,
        r#"{"data":{"/":{"SDN.Audit":1},"/sdn/zones/other":{"VM.Audit":1}}}"#,
    ] {
        let report = stale().with(get("hv", RIGHTS, rights)).report();
        assert!(report.findings.iter().all(|finding| finding.id != "forward-left-over"), "{rights}");
        assert!(report.unknown.iter().any(|unknown| unknown.missing.contains("all tenants")), "{rights}");
    }
}

#[test]
fn names_in_rules_are_followed() {
    let to = |destination: &str| site().with(rows(RULES, &[rule(1, &of("opt4", "any", destination))]));
    to("10.20.128.0/18").is(&["perimeter-leak"]);
    let nested = [
        PRIVATE.to_owned(),
        r#"{"uuid":"a2","name":"outer","type":"networkgroup","enabled":"1","content":"inner"}"#.to_owned(),
        r#"{"uuid":"a3","name":"inner","type":"network","enabled":"1","content":"10.20.129.0/24"}"#.to_owned(),
    ];
    to("outer").with(rows(ALIASES, &nested)).is(&["perimeter-leak"]);
    to("__opt3_network").is(&[]);
    to("nowhere").is_unknown("what nowhere means");
}

#[test]
fn what_a_tenant_who_is_gone_left_behind() {
    let left: [(Item, &str); 5] = [
        (
            rows(ROUTES, &[AGGREGATE.to_owned(), AGGREGATE.replace("10.20.128.0/18", "10.20.140.0/24")]),
            "route-left-over",
        ),
        (
            rows(
                ALIASES,
                &[
                    PRIVATE.to_owned(),
                    r#"{"uuid":"a4","name":"old","type":"host","enabled":"1","content":"10.20.140.7"}"#.to_owned(),
                ],
            ),
            "alias-left-over",
        ),
        (
            rows(
                NAT,
                &[
                    OUT.to_owned(),
                    r#"{"uuid":"n","enabled":"1","interface":"wan","source_net":"10.20.140.0/24"}"#.to_owned(),
                ],
            ),
            "nat-left-over",
        ),
        (forwards(&[NAMES[0], NAMES[1], "gone.mobile.deevnet.net"]), "forward-left-over"),
        (forwards(&[NAMES[0], NAMES[1], "140.20.10.in-addr.arpa"]), "forward-left-over"),
    ];
    for (item, id) in left {
        let with = || site().with(item.clone());
        with().is(&[id]);
        // Nobody's only where all tenants are known.
        let known = || with().without(&format!("GET {RIGHTS}"));
        let claims = known().report();
        assert!(claims.findings.iter().all(|f| f.id != id), "{id}");
        assert!(
            claims.unknown.iter().any(|u| u.missing.contains("all tenants") && u.ids.contains(&id)),
            "{id}: {:#?}",
            claims.unknown
        );
        with()
            .with(get("hv", RIGHTS, r#"{"data":{"/sdn/zones/shop":{"SDN.Audit":1}}}"#))
            .without("GET /api2/json/cluster/sdn/vnets/")
            .report()
            .findings
            .iter()
            .for_each(|f| assert_ne!(f.id, id));
    }
    // Names of the site, of others' servers, and below a tenant's own are none of this.
    forwards_are(&["api.mobile.deevnet.net", "example.org", "a.b.mobile.deevnet.net"], &[]);
}

fn forwards_are(more: &[&str], ids: &[&'static str]) {
    let all: Vec<&str> = NAMES.iter().chain(more).copied().collect();
    let text = site();
    text.with(forwards(&all)).is(ids);
}

#[test]
fn one_aggregate_route_that_leads_to_an_exit_node() {
    let with = |more: &str| site().with(rows(ROUTES, &[AGGREGATE.to_owned(), more.to_owned()]));
    with(&AGGREGATE.replace("10.20.128.0/18", "10.20.129.0/24")).is(&["route-per-tenant"]);
    with(&AGGREGATE.replace("10.20.128.0/18", "10.50.0.0/16")).is(&[]);
    site().with(rows(ROUTES, &[AGGREGATE.replace("10.20.50.22", "10.20.50.99")])).is(&["route-wrong-gateway"]);
    // A shorter one elsewhere decides nothing.
    with(&AGGREGATE.replace("10.20.128.0/18", "10.0.0.0/8").replace("10.20.50.22", "10.20.10.9")).is(&[]);
    site().with(rows(ROUTES, &[AGGREGATE.replace(" - 10.20.50.22", "")])).is_unknown("the address of gateway FABRIC");
}

#[test]
fn transit_is_always_translated() {
    site().with(rows(NAT, &[OUT.replace("opt8,opt10", "opt8")])).is(&["nat-missing-for-transit"]);
    let own = |source: &str| format!(r#"{{"uuid":"n","enabled":"1","interface":"wan","source_net":"{source}"}}"#);
    site().with(rows(NAT, &[own("10.20.50.0/24")])).is(&[]);
    site().with(rows(NAT, &[own("tenants_alias")])).is_unknown("which sources the rules of source NAT mean");
    // Older releases list no automatic rules: only a state tells.
    site().with(rows(NAT, &[own("10.20.99.0/24")])).is_unknown("whether automatic source NAT covers");
    let state = |source: &str, nat: &str, way: &str, on: &str| {
        let body = format!(
            r#"{{"rows":[{{"interface":"{on}","proto":"tcp","direction":"{way}","src_addr":"{source}","dst_addr":"203.0.113.9","nat_addr":{nat},"state":"ESTABLISHED","pkts":[3,3]}}]}}"#
        );
        http("fw", "POST /api/diagnostics/firewall/query_states", 200, "OK", &body)
    };
    let old = || site().with(rows(NAT, &[own("10.20.99.0/24")]));
    old().and(state("10.20.50.22", "null", "out", "WAN")).is(&["nat-missing-for-transit"]);
    old().and(state("198.51.100.2", r#""10.20.50.22""#, "out", "WAN")).is(&[]);
    // Another network's is translated: that says nothing of transit.
    old().and(state("198.51.100.2", r#""10.20.10.5""#, "out", "WAN")).is_unknown("whether automatic source NAT covers");
    // A tenant's own source arrives although its SNAT is on: then it is the router's to translate.
    site().and(state("10.20.129.10", "null", "in", "TENANT_TRANSIT")).is(&["nat-missing-for-routed"]);
}

#[test]
fn order_and_quick_decide() {
    let pass = |n: u32, more: &str| rule(n, &format!("{}{more}", of("opt1", "opt1", "10.20.25.0/24")));
    let block =
        |n: u32, more: &str| rule(n, &format!(r#"{},"action":"block"{more}"#, of("opt1", "opt1", "10.20.25.9")));
    let both = |a: String, b: String| site().with(rows(RULES, &[internet(1), a, b]));
    both(pass(4, ""), block(5, "")).is(&["rule-shadowed"]);
    // Of a group of interfaces that is evaluated before: its members are not told, so nothing is said.
    both(pass(4, r#","interface":"INSIDE","sort_order":"300001.0000001","prio_group":"300001""#), block(5, "")).is(&[]);
    // Another family, a kind of packet, all interfaces but one.
    for narrow in
        [r#","ipprotocol":"inet6""#, r#","icmptype":"echoreq""#, r#","interfacenot":"1""#, r#","tcpflags1":"syn""#]
    {
        both(pass(4, narrow), block(5, "")).is(&[]);
    }
    both(pass(4, r#","protocol":"TCP/UDP""#), block(5, r#","protocol":"UDP""#)).is(&["rule-shadowed"]);
    // A rule that is not quick is overruled by one after it.
    both(block(4, r#","quick":"0""#), pass(5, "")).is(&["rule-shadowed"]);
    both(block(4, ""), pass(5, "")).is(&[]);
}

#[test]
fn a_fresh_counter_is_no_proof() {
    let idle = rule(4, &format!(r#"{},"packets":0,"states":0"#, of("opt1", "opt1", "10.20.25.0/24")));
    let notes = |site: Site| {
        let report = site.report();
        report
            .findings
            .iter()
            .filter(|f| f.id == "rule-never-hit")
            .map(|f| {
                (
                    f.severity,
                    f.facts.iter().find(|x| x.key == "counters.run").map(|x| x.value.clone()).unwrap_or_default(),
                )
            })
            .collect::<Vec<_>>()
    };
    let with = || site().with(rows(RULES, &[internet(1), idle.clone()]));
    assert_eq!(notes(with()), [(Severity::Info, "at most 11 d".to_owned())]);
    assert_eq!(notes(with().with(get("fw", TIME, r#"{"uptime":"02:10:00"}"#))), []);
    assert_eq!(notes(with().without(&format!("GET {TIME}"))), [(Severity::Info, "unknown".to_owned())]);
}

#[test]
fn a_rule_that_the_inventory_did_not_write_is_told() {
    let by_hand = rule(4, &of("opt10", "10.20.50.0/24", "opt3")).replace("ansible: rule 4", "quick fix");
    let with = site().with(rows(RULES, &[internet(1), by_hand.clone()]));
    with.is(&[]);
    // What is not run here is told of every site that was looked at.
    let found = |site: &Site| -> Vec<&'static str> {
        site.report().findings.iter().map(|f| f.id).filter(|id| *id != "token-end-not-read").collect()
    };
    assert_eq!(found(&with), ["rule-hand-made"]);
    // Where nobody marks rules, none is missing its mark.
    let plain = internet(1).replace("ansible: ", "");
    assert!(found(&site().with(rows(RULES, &[plain, by_hand]))).is_empty());
}
