//! What findings say: whom they name, and how bad the same thing is.

use crate::by_hand::{Site, get, item};
use deevnet_console::diagnose::evidence::Kind;
use deevnet_console::diagnose::finding::{Finding, Severity};

const NODE: &str = "dv02hyp002p02";
const ZONES: &str = "/api2/json/cluster/sdn/zones?running=1";

/// One tenant `shop` with index 1.
fn site() -> Site {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sites/good/mobile.toml");
    let text = std::fs::read_to_string(file).expect("a site");
    let zones = format!(r#"{{"data":[{{"zone":"shop","type":"evpn","vrf-vxlan":10001,"exitnodes":"{NODE}"}}]}}"#);
    Site(vec![
        item("site.toml", "console", Kind::Material("the site file".to_owned()), &text),
        get("api", ZONES, &zones),
    ])
}

fn state(status: &str) -> Site {
    let path = format!("/api2/json/nodes/{NODE}/qemu/2040/status/current");
    site().and(get("api", &path, &format!(r#"{{"data":{{"status":"{status}","uptime":0}}}}"#)))
}

fn config(more: &str) -> deevnet_console::diagnose::evidence::Item {
    let path = format!("/api2/json/nodes/{NODE}/qemu/2040/config");
    get("api", &path, &format!(r#"{{"data":{{"name":"shop-app"{more}}}}}"#))
}

fn stopped(site: &Site) -> Finding {
    site.report().findings.into_iter().find(|f| f.id == "workload-stopped").expect("it is stopped")
}

#[test]
fn a_machine_that_is_to_run_and_does_not_is_a_fault_and_one_that_is_not_to_run_is_worth_knowing() {
    let meant = stopped(&state("stopped").and(config(r#","onboot":1"#)));
    assert_eq!(meant.severity, Severity::Fault);
    assert_eq!(meant.title, "Guest shop-app (2040) is stopped, and is to start with its node.");
    assert_eq!(meant.affects, ["2040", "shop", "shop-app"], "its tenant is named");
    for off in [r#","onboot":0"#, ""] {
        assert_eq!(stopped(&state("stopped").and(config(off))).severity, Severity::Info, "{off}");
    }
    let unread = stopped(&state("stopped"));
    assert_eq!((unread.severity, unread.not_tested.len()), (Severity::Info, 1), "nobody knows what is meant");
    state("running").and(config(r#","onboot":1"#)).is(&[]);
}

#[test]
fn a_token_is_told_before_its_end_and_one_without_an_end_is_not() {
    let read = |end: &str| {
        let path = "/api2/json/access/users/ops@pve/token";
        let mut list = get("api", path, &format!(r#"{{"data":[{{"tokenid":"console","privsep":1,"expire":{end}}}]}}"#));
        list.at = Some("2026-11-30T08:00:00Z".parse().expect("a time"));
        site().and(list)
    };
    let at = |time: &str| time.parse::<jiff::Timestamp>().expect("a time").as_second().to_string();
    let titles = |site: &Site| -> Vec<String> {
        site.report().findings.into_iter().filter(|f| f.id == "token-ends-soon").map(|f| f.title).collect()
    };
    assert_eq!(titles(&read(&at("2026-12-05T09:00:00Z"))), ["Token ops@pve!console ends in 5 days, on 2026-12-05."]);
    for far in ["0".to_owned(), at("2027-06-01T00:00:00Z"), at("2026-11-29T00:00:00Z")] {
        assert_eq!(titles(&read(&far)), Vec::<String>::new(), "{far}");
    }
}

#[test]
fn a_node_that_is_gone_reaches_tenants_and_not_forty_numbers() {
    let guest = |vmid: u32| format!(r#"{{"type":"qemu","vmid":{vmid},"node":"{NODE}","status":"unknown"}}"#);
    let guests: Vec<String> = (2040..2060).chain([120]).map(guest).collect();
    let all = format!(r#"{{"data":[{}]}}"#, guests.join(","));
    let nodes = format!(r#"{{"data":[{{"node":"hv01","status":"online"}},{{"node":"{NODE}","status":"offline"}}]}}"#);
    let gone = site().and(get("api", "/api2/json/cluster/resources", &all)).and(get("api", "/api2/json/nodes", &nodes));
    let report = gone.report();
    let finding = report.findings.iter().find(|f| f.id == "node-unreachable").expect("it is gone");
    assert_eq!(finding.affects, ["120", "shop"]);
    assert!(finding.facts.iter().any(|f| f.subject == format!("21 guests on {NODE}")), "{:#?}", finding.facts);
}

#[test]
fn what_waits_is_told_once_for_each_tenant() {
    let pending = |kind: &str, rows: &str| get("api", &format!("/api2/json/cluster/sdn/{kind}?pending=1"), rows);
    let zone = r#"{"data":[{"zone":"shop","type":"evpn","state":"changed","mtu":1450,"pending":{"mtu":1400}}]}"#;
    let vnet = r#"{"data":[{"vnet":"shop0","zone":"shop","state":"changed","alias":"a","pending":{"alias":"b"}}]}"#;
    let report = site().and(pending("zones", zone)).and(pending("vnets", vnet)).report();
    let finding = report.findings.iter().find(|f| f.id == "sdn-pending").expect("two objects wait");
    assert!(finding.title.starts_with("Changes of zone shop and 1 more wait"), "{}", finding.title);
    let consent = finding.next.iter().find(|next| next.id == "apply-all-named").expect("a step");
    assert!(consent.text.ends_with("that names shop"), "{}", consent.text);
}
