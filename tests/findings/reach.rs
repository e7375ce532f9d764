//! What is let through where several words of one list speak of it: rules of the router, access lists of the resolver, and
//! probes of which some were not sent.

use crate::by_hand::{Site, get, http, item};
use crate::exits::{SITE, site};
use deevnet_console::diagnose::evidence::{Item, Kind};

const RULES: &str = "/api/firewall/filter/search_rule";
const LISTS: &str = "/api/unbound/settings/search_acl";

fn rules(rows: &str) -> Item {
    get("fw", RULES, &format!(r#"{{"rows":[{rows}]}}"#))
}

/// A rule to the internet on `interface`.
fn out(interface: &str, more: &str) -> String {
    format!(
        r#"{{"uuid":"r1","enabled":"1","action":"pass","quick":"1","interface":"{interface}","direction":"in",
        "protocol":"any","source_net":"10.9.0.0/24","destination_net":"any","description":"rule 1",
        "sort_order":"400000.0000001"{more}}}"#
    )
}

fn router(rows: &str) -> Site {
    let interfaces = r#"{"rows":[
        {"identifier":"lan","description":"LAN","addr4":"192.0.2.1/24","gateways":[]},
        {"identifier":"opt1","description":"TRANSIT","addr4":"10.9.0.1/24","gateways":[]}]}"#;
    site().and(get("fw", "/api/interfaces/overview/export", interfaces)).and(rules(rows))
}

/// Whether somebody says that the perimeter drops what the exit node sends.
fn dropped(site: &Site) -> bool {
    site.report().findings.iter().any(|finding| finding.id == "perimeter-drop")
}

#[test]
fn the_router_lets_nothing_out_only_where_every_rule_is_understood() {
    assert!(dropped(&router(&out("lan", ""))));
    assert!(dropped(&router(&out("opt1", r#","interfacenot":"1""#))), "everywhere but there");
    assert!(!dropped(&router(&out("opt1", ""))));
    assert!(!dropped(&router(&out("TRANSIT", ""))));
    assert!(!dropped(&router(&out("", ""))), "on all interfaces");
    assert!(!dropped(&router(&out("lan", r#","interfacenot":"1""#))), "on all interfaces but another");
    // Who is in a group is not told, and a list without rules was not read.
    assert!(!dropped(&router(&out("INSIDE", ""))));
    assert!(!dropped(&router("")));
}

#[test]
fn what_came_back_before_says_nothing_while_the_gateway_is_silent() {
    let before = r#"{"rows":[{"interface":"TRANSIT","proto":"tcp","direction":"in","src_addr":"10.9.0.22",
        "dst_addr":"203.0.113.9","nat_addr":null,"state":"ESTABLISHED","pkts":[3,3]}]}"#;
    let tried = |received: u8| {
        let body = format!("3 packets transmitted, {received} received, 0% packet loss, time 2ms\n");
        let kind = Kind::Command { line: "ping -c 3 10.9.0.1".to_owned(), exit: Some(i32::from(received == 0)) };
        let states = http("fw", "POST /api/diagnostics/firewall/query_states", 200, "OK", before);
        router(&out("opt1", "")).and(states).and(item("ping", "hv", kind, &body)).report()
    };
    let passed = |received| tried(received).passed.iter().any(|p| p.id == "perimeter-drop");
    assert!(passed(3) && !passed(0));
    assert!(tried(0).unknown.iter().any(|unknown| unknown.missing.contains("beyond the gateway of hv")));
}

#[test]
fn an_address_probe_that_did_not_run_says_nothing_of_packets_that_were_sent() {
    let mut file = item("site.toml", "console", Kind::Material("the site file".to_owned()), SITE);
    file.body += "[probes]\ninternet = \"192.0.2.80\"\n";
    file.empty = false;
    let denied = |line: &str| {
        let mut item = item(line, "hv", Kind::Command { line: line.to_owned(), exit: Some(2) }, "");
        item.stderr = "socket: Operation not permitted".to_owned();
        site().with(file.clone()).and(item).report()
    };
    let beyond = |line: &str| denied(line).unknown.iter().any(|unknown| unknown.missing.contains("beyond"));
    assert!(!beyond("arping -c1 -w1 -I up.7 10.9.0.1"));
    assert!(!beyond("sudo -n /usr/sbin/arping -c1 -w1 -I up.7 10.9.0.1"));
    assert!(beyond("ping -c 1 192.0.2.80"));
    assert!(beyond("sudo -n /usr/sbin/hping3 -S -p 443 -c 1 192.0.2.80"));
}

/// What is said of the resolver and the first tenant, whose questions arrive from the transit address.
fn resolver(lists: &[(&str, &str)], more: &[Item]) -> (bool, bool) {
    let row = |(action, nets): &(&str, &str)| {
        format!(r#"{{"uuid":"a","enabled":"1","action":"{action}","networks":"{nets}"}}"#)
    };
    let rows: Vec<String> = lists.iter().map(row).collect();
    let mut with = site().and(get("fw", LISTS, &format!(r#"{{"rows":[{}]}}"#, rows.join(","))));
    with.0.extend(more.iter().cloned());
    let report = with.report();
    let passed = report.passed.iter().any(|p| p.id == "resolver-refuses-network" && p.subject.name == "10.9.129.0/24");
    let missing = "what the resolver answers to 10.9.129.0/24";
    (passed, report.unknown.iter().any(|unknown| unknown.missing.contains(missing)))
}

#[test]
fn the_most_specific_access_list_decides() {
    let (allowed, unknown) = ((true, false), (false, true));
    assert_eq!(resolver(&[("allow", "10.9.0.0/24")], &[]), allowed);
    assert_eq!(resolver(&[("refuse", "10.9.0.0/16"), ("allow", "10.9.0.0/24")], &[]), allowed);
    assert_eq!(resolver(&[("allow", "10.9.0.0/16"), ("refuse", "10.9.0.0/24")], &[]), unknown);
    assert_eq!(resolver(&[("allow_snoop", "10.9.0.0/16,10.9.0.22/32"), ("deny", "10.9.0.0/24")], &[]), allowed);
    assert_eq!(resolver(&[("allow", "10.9.0.0/24"), ("deny", "10.9.0.0/24")], &[]), unknown);
    let default = |action: &str| {
        let body = format!(r#"{{"unbound":{{"acls":{{"default_action":"{action}"}}}}}}"#);
        http("fw", "GET /api/unbound/settings/get", 200, "OK", &body)
    };
    assert_eq!(resolver(&[("deny", "192.0.2.0/24")], &[default("allow")]), allowed);
    assert_eq!(resolver(&[("deny", "10.9.0.0/24")], &[default("allow")]), unknown);
}
