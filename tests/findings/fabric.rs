//! SDN as configured, as applied and as realised: what looks alike.

use crate::by_hand::{Site, get, http, item};
use deevnet_console::diagnose::evidence::{Item, Kind};
use deevnet_console::diagnose::facts::journal::{CHANGES, OF_CHANGES};
use deevnet_console::diagnose::finding::Severity;

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

/// What the console's own journal tells.
pub fn changes(lack: &str, open: &str) -> Item {
    let text = format!(r#"{{"schema":"{CHANGES}","lack":{lack},"open":[{open}]}}"#);
    item("changes", "console", Kind::Material(OF_CHANGES.to_owned()), &text)
}

/// Objects of SDN, each as `KIND ID STATE`.
fn of_sdn(all: &str) -> String {
    let one = |words: &str| {
        let [kind, id, state] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
        format!(r#"{{"kind":"{kind}","id":"{id}","state":"{state}"}}"#)
    };
    let all: Vec<String> = all.split(", ").filter(|words| !words.is_empty()).map(one).collect();
    all.join(",")
}

/// C-0042, which staged `staged`, left `half` half made and is `running` or not.
pub fn open(staged: &str, half: &str, running: bool) -> Item {
    let ends = format!(r#""steps":[3,9],"at":"SDN apply","half":[{half}],"staged":[{}]"#, of_sdn(staged));
    let open = format!(
        r#"{{"id":"C-0042","title":"Onboard shop","who":"ops","last":"2026-11-30T12:00:00Z","running":{running},{ends}}}"#
    );
    changes("null", &open)
}

#[test]
fn what_an_open_change_of_this_console_staged_waits_for_it() {
    let row = r#"{"vnet":"shop1","state":"new","pending":{"zone":"shop","tag":20011}}"#;
    let waits = site().with(get("hv", VNETS, &format!(r#"{{"data":[{row}]}}"#)));
    waits.is(&["sdn-pending"]);
    let own = waits.clone().and(open("vnet shop1 new", "", false));
    own.is(&["change-unfinished"]);
    let report = own.report();
    let ids: Vec<_> = report.findings.iter().map(|f| (f.id, f.caused_by.is_some())).collect();
    assert_eq!(ids, [("change-unfinished", false), ("sdn-pending", true)]);
    let command = report.findings[0].next[0].command.as_deref();
    assert_eq!(command, Some("deevnet-console resume C-0042"));
    let origin = report.findings[1].facts.iter().find(|f| f.key == "sdn.pending-origin").map(|f| f.value.as_str());
    assert_eq!(origin, Some("change C-0042"));
    // One that staged something else explains nothing of it, and both are told.
    for staged in ["vnet farm0 new", "zone shop1 new", "subnet shop1 new", "vnet shop1 deleted", "vnet shop1 changed"] {
        let other = waits.clone().and(open(staged, "", false)).report();
        assert!(other.findings.iter().all(|f| f.caused_by.is_none()), "{staged}: {:?}", other.findings);
        assert_eq!(other.findings.iter().filter(|f| ["sdn-pending", "change-unfinished"].contains(&f.id)).count(), 2);
    }
}

#[test]
fn a_change_that_has_the_lock_is_not_closed_before_it_gave_it_back() {
    let ways = |more: &str| -> Vec<String> {
        let mut change = open("", "", false);
        change.body = change.body.replace(r#""steps""#, &format!(r#"{more}"steps""#));
        let finding = site().and(change).report().findings.into_iter().find(|f| f.id == "change-unfinished");
        finding.expect("it is open").next.into_iter().filter_map(|next| next.command).collect()
    };
    let (on, leave) = ("deevnet-console resume C-0042", "deevnet-console resume C-0042 --leave");
    assert_eq!(ways(""), [on, leave]);
    let held = r#""lock":"2026-11-30T12:00:00Z","certain":true,"#;
    assert_eq!(ways(held), [on, "deevnet-console resume --later C-0042", leave]);
}

#[test]
fn whether_a_change_runs_may_be_unknown() {
    let mut change = open("", "", false);
    change.body = change.body.replace(r#""running":false"#, r#""running":null"#);
    let report = site().and(change).report();
    let finding = report.findings.iter().find(|f| f.id == "change-unfinished").expect("it is open");
    assert_eq!((finding.severity, finding.not_tested.len()), (Severity::Warning, 1), "{finding:#?}");
}

#[test]
fn a_change_that_runs_is_news_and_a_journal_that_cannot_be_read_is_unknown() {
    let running = site().and(open("zone shop new", r#"{"what":"sdn-zone","name":"shop"}"#, true)).report();
    let news = running.findings.iter().find(|f| f.id == "change-unfinished").map(|f| f.severity);
    assert_eq!(news, Some(Severity::Info));
    site().and(changes(r#""journal: permission denied""#, "")).is_unknown("made from here");
    let none = site().and(changes("null", "")).report();
    assert!(none.passed.iter().any(|passed| passed.id == "change-unfinished"));
    let not_run = site().report();
    assert!(!not_run.passed.iter().any(|passed| passed.id == "change-unfinished"));
    assert!(!not_run.unknown.iter().any(|unknown| unknown.ids.contains(&"change-unfinished")));
}
