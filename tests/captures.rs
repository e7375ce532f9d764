//! Every captured state of an exit node, judged: from its text commands, and from the helper's frame alone.
//!
//! `facts/exit-node.md` §2 says what each state is. What the site expects comes from SDN items and a site file that stand
//! beside the commands, as they would in a bundle.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips and what it saw"
)]

#[path = "exit_node_common/captured.rs"]
mod captured;
#[allow(dead_code, reason = "the questions alone are needed here")]
mod exit_node_common;

use std::fs;
use std::path::{Path, PathBuf};

use captured::State;
use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::evidence::{Ended, Evidence, Http, Item, Kind};
use deevnet_console::diagnose::finding::Severity;
use exit_node_common::lookups;
use serde_json::{Value, json};

const NODE: &str = "hv02";

const SITE: &str = r#"version = 1
[site]
name = "mobile"
domain = "mobile.example"
octet = 20
[numbering]
vrf_vni_base = 10000
vnet_vni_base = 20000
overlay = "10.20.128.0/18"
asn = 65000
vmid_base = 2000
vmids_per_tenant = 40
[proxmox]
url = "https://192.0.2.1:8006"
token = { file = "token" }
node = "hv02"
controller = "evpn1"
[[exit_node]]
name = "hv02"
transport = { command = ["false"] }
transit_interface = "vmbr0.50"
transit_address = "10.20.50.22"
transit_gateway = "10.20.50.1"
"#;

/// State, and what it has to come to: findings that are faults or warnings, the headline first; then notes.
const EXPECTED: [(&str, &[&str], &[&str]); 34] = [
    ("conntrack-acct", &[], &[]),
    ("conntrack-full", &["conntrack-full"], &[]),
    ("core-dns-down", &[], &[]),
    ("core-drop", &["perimeter-drop"], &[]),
    ("forward-policy-drop", &["forward-policy-drop"], &[]),
    ("frr-killed", &["frr-down"], &[]),
    ("frr-stopped", &["frr-down", "return-route-missing", "vrf-default-missing"], &[]),
    ("frr-stopped--main-mgmt", &["frr-down", "management-leak", "return-route-missing"], &["snat-apply-rewrites"]),
    ("gateway-neigh-failed", &["gateway-unreachable"], &[]),
    ("healthy", &[], &[]),
    ("healthy--main-mgmt", &[], &["snat-apply-rewrites"]),
    ("healthy-fallback", &[], &[]),
    ("inter-tenant-leak", &["inter-tenant-leak"], &[]),
    ("inter-tenant-leak-oneway", &["inter-tenant-leak"], &[]),
    ("mgmt-leak", &["management-leak"], &["snat-apply-rewrites"]),
    ("return-route-missing", &["return-route-missing"], &[]),
    ("rp-filter-strict", &[], &["rp-filter-strict"]),
    ("rp-filter-strict--main-mgmt", &[], &["rp-filter-strict", "snat-apply-rewrites"]),
    ("rp-filter-strict-all", &[], &["rp-filter-strict"]),
    ("snat-duplicate", &[], &["snat-duplicate"]),
    ("snat-in-legacy", &[], &[]),
    ("snat-missing", &["snat-missing"], &[]),
    ("snat-wrong-source", &["snat-wrong-source"], &[]),
    ("tenant-forwarding-off", &["tenant-forwarding-off"], &[]),
    ("transit-forwarding-off", &["transit-forwarding-off"], &[]),
    ("transit-forwarding-off--main-mgmt", &["transit-forwarding-off"], &["snat-apply-rewrites"]),
    ("transit-gateway-wrong", &["vrf-default-wrong-gateway"], &[]),
    ("transit-mtu-blackhole", &["transit-mtu"], &[]),
    ("transit-mtu-low", &[], &["transit-mtu"]),
    ("uplink-down", &["uplink-down", "gateway-unreachable", "vrf-default-missing"], &[]),
    ("vrf-default-missing", &["vrf-default-missing"], &[]),
    ("vrf-default-missing-fallback", &["vrf-default-missing"], &[]),
    ("vrf-forwarding-off", &[], &[]),
    ("workload-down", &["workload-down"], &[]),
];

/// What only probes and flows show, which the helper's frame does not hold.
const NOT_IN_FRAME: [&str; 3] = ["perimeter-drop", "transit-mtu", "workload-down"];

/// By design in every state with null routes: said, and no fault.
const BY_DESIGN: &str = "tenant-isolated";

fn item(file: &str, kind: Kind, body: String, stderr: String) -> Item {
    Item {
        file: file.to_owned(),
        from: NODE.to_owned(),
        kind,
        at: None,
        took: None,
        empty: body.is_empty(),
        body,
        stderr,
    }
}

fn get(file: &str, path: &str, data: &Value) -> Item {
    let ended = Ended { status: 200, reason: "OK".to_owned() };
    let http = Http::parse(&format!("GET /api2/json/{path}?running=1"), ended).unwrap();
    item(file, Kind::Http(http), json!({ "data": data }).to_string(), String::new())
}

/// What the site expects: zones, subnets, the site file.
fn expectations() -> Vec<Item> {
    let zone = |zone: &str, vni: u32| json!({"zone": zone, "type": "evpn", "exitnodes": NODE, "vrf-vxlan": vni});
    let subnet = |zone: &str, net: &str| {
        let gateway = net.replace(".0/24", ".1");
        json!([{"cidr": net, "zone": zone, "vnet": format!("{zone}0"), "gateway": gateway, "snat": 1}])
    };
    vec![
        get("zones.json", "cluster/sdn/zones", &json!([zone("tdemo", 10_001), zone("eds", 10_002)])),
        get("tdemo.json", "cluster/sdn/vnets/tdemo0/subnets", &subnet("tdemo", "10.20.129.0/24")),
        get("eds.json", "cluster/sdn/vnets/eds0/subnets", &subnet("eds", "10.20.130.0/24")),
        item("site.toml", Kind::Material("the site file".to_owned()), SITE.to_owned(), String::new()),
    ]
}

/// The state's commands that a tool can run on the node, in the order in which they ran.
fn commands(state: &State) -> Evidence {
    let index: Value = serde_json::from_str(&state.file("index.json").unwrap()).unwrap();
    let mut items = expectations();
    let run = index["commands"].as_array().unwrap().iter().filter(|c| c["vantage"] == "hypervisor");
    // Scripts are no commands, and what some commands printed was not kept in every state.
    let kept = |c: &&Value| {
        let name = c["stdout"].as_str().and_then(|path| path.rsplit('/').next());
        !c["cmd"].as_str().unwrap().contains("; ") && name.is_none_or(|name| state.file(name).is_some())
    };
    for command in run.filter(kept) {
        let text = |key: &str| {
            let name = command[key].as_str().and_then(|path| path.rsplit('/').next());
            name.and_then(|name| state.file(name)).unwrap_or_default()
        };
        let line = command["cmd"].as_str().unwrap().to_owned();
        let exit = command["exit"].as_i64().and_then(|code| i32::try_from(code).ok());
        let name = command["slug"].as_str().unwrap();
        items.push(item(name, Kind::Command { line, exit }, text("stdout"), text("stderr")));
    }
    Evidence { items, ..Evidence::default() }
}

/// The helper's frame alone.
fn frame(state: &State) -> Evidence {
    let questions: Vec<String> = lookups().iter().map(|lookup| lookup.argument()).collect();
    let line = format!("/usr/local/sbin/deevnet-exit-node read {}", questions.join(" "));
    let body = String::from_utf8(state.frame()).unwrap();
    let mut items = expectations();
    items.push(item("frame", Kind::Command { line, exit: Some(0) }, body, String::new()));
    Evidence { items, ..Evidence::default() }
}

/// Faults and warnings, the headline first and the rest by name; then notes by name.
fn said(report: &Report) -> (Vec<&'static str>, Vec<&'static str>) {
    let mut loud: Vec<_> = report.findings.iter().filter(|f| f.severity > Severity::Info).map(|f| f.id).collect();
    if let [_, rest @ ..] = loud.as_mut_slice() {
        rest.sort_unstable();
    }
    let notes = report.findings.iter().filter(|f| f.severity == Severity::Info && f.id != BY_DESIGN);
    let mut notes: Vec<_> = notes.map(|f| f.id).collect();
    notes.sort_unstable();
    (loud, notes)
}

fn states() -> Option<Vec<(String, PathBuf)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures/exit-node");
    if !root.is_dir() {
        eprintln!("SKIPPED captures: ../shared/fixtures/exit-node is not there");
        return None;
    }
    let mut found = Vec::new();
    for suite in ["debian12", "debian13"] {
        let states = fs::read_dir(root.join(suite)).unwrap().map(|entry| entry.unwrap().path());
        for dir in states.filter(|path| path.is_dir()) {
            found.push((format!("{suite}/{}", dir.file_name().unwrap().to_str().unwrap()), dir));
        }
    }
    found.sort();
    Some(found)
}

fn wanted(name: &str) -> (&'static [&'static str], &'static [&'static str]) {
    let state = name.rsplit('/').next().unwrap();
    let (_, loud, notes) = EXPECTED.iter().find(|(known, ..)| *known == state).unwrap_or_else(|| panic!("{name}?"));
    (*loud, *notes)
}

#[test]
fn every_state_by_its_commands() {
    let Some(states) = states() else { return };
    let mut bad = Vec::new();
    for (name, dir) in states {
        let report = Report::of(&commands(&State { dir }));
        let (loud, notes) = said(&report);
        eprintln!("{name:45} {} {}", loud.first().unwrap_or(&"-"), notes.join(" "));
        if (loud.as_slice(), notes.as_slice()) != wanted(&name) {
            bad.push(format!("{name}: {loud:?} {notes:?} instead of {:?}", wanted(&name)));
        }
        // One root: whatever else is found hangs under it.
        for finding in report.findings.iter().skip(1).filter(|f| f.severity > Severity::Info) {
            if finding.caused_by.is_none() {
                bad.push(format!("{name}: {} hangs under nothing", finding.id));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn every_state_by_the_frame_alone() {
    let Some(states) = states() else { return };
    let mut bad = Vec::new();
    for (name, dir) in states {
        let report = Report::of(&frame(&State { dir }));
        let (loud, notes) = said(&report);
        let (want, want_notes) = wanted(&name);
        let want: Vec<_> = want.iter().copied().filter(|id| !NOT_IN_FRAME.contains(id)).collect();
        eprintln!("{name:45} {} {}", loud.first().unwrap_or(&"-"), notes.join(" "));
        if loud != want || notes != want_notes {
            bad.push(format!(
                "{name}: {loud:?} {notes:?} instead of {want:?} {want_notes:?}; unknown {:?}",
                report.unknown
            ));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Inputs that go together, by what their commands or files begin with.
const FORMS: [&[&str]; 14] = [
    &["ip -j route show"],
    &["ip -j route get"],
    &["ip -j neigh", "ip -j -s neigh"],
    &["ip -j -d link", "ip -j -s link"],
    &["ip -j addr"],
    &["iptables"],
    &["iptables-legacy"],
    &["grep", "sysctl"],
    &["nstat", "conntrack"],
    &["systemctl", "vtysh"],
    &["ping", "arping"],
    &["zones.json"],
    &["tdemo.json"],
    &["site.toml"],
];

fn is_of(item: &Item, form: &[&str]) -> bool {
    let line = item.command().map_or(item.file.as_str(), |(line, _)| line);
    form.iter().any(|begin| line.starts_with(begin))
}

#[test]
fn a_missing_form_makes_unknown_and_no_other_fault() {
    let Some(states) = states() else { return };
    let mut bad = Vec::new();
    for (name, dir) in states {
        let (want, _) = wanted(&name);
        let whole = commands(&State { dir });
        for form in FORMS.iter().filter(|_| !want.is_empty()) {
            let items = whole.items.iter().filter(|item| !is_of(item, form)).cloned().collect();
            let report = Report::of(&Evidence { items, ..Evidence::default() });
            let (loud, _) = said(&report);
            if let Some(other) = loud.iter().find(|id| !want.contains(id)) {
                bad.push(format!("{name} without {form:?}: claims {other}"));
            }
            // What only probes show is not tested without them, which is no lack of a state that is read.
            let probes_only = form[0] == "ping" && NOT_IN_FRAME.contains(&want[0]);
            if loud.first() != want.first() && report.unknown.is_empty() && !probes_only {
                bad.push(format!("{name} without {form:?}: neither {} nor what is unknown", want[0]));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn a_healthy_node_leaves_nothing_unknown() {
    let Some(states) = states() else { return };
    for (name, dir) in states.into_iter().filter(|(name, _)| name.ends_with("/healthy")) {
        let state = State { dir };
        for evidence in [commands(&state), frame(&state)] {
            let mut report = Report::of(&evidence);
            // The captures do not hold what FRR runs.
            report.unknown.retain(|unknown| unknown.ids != ["frr-unsaved"]);
            assert!(report.unknown.is_empty(), "{name}: {:#?}", report.unknown);
        }
    }
}
