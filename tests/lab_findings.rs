//! The lab's exit node, one fault at a time, judged from what commands on it print.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::evidence::{Ended, Evidence, Http, Item, Kind};
use deevnet_console::diagnose::finding::Severity;
use deevnet_console::lab::node::files::Entry;
use deevnet_console::lab::node::{self, Run};
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use deevnet_console::site::model::Site;
use jiff::Timestamp;
use serde_json::{Value, json};

/// When the lab is looked at, by its own clock, in seconds.
const NOW: i64 = 1_795_950_000;

/// What is run on the node.
const COMMANDS: [&str; 11] = [
    "ip -j -d link",
    "ip -j addr",
    "ip -j route show",
    "ip -j route show vrf vrf_tdemo",
    "ip -j route show vrf vrf_eds",
    "ip -j neigh",
    "ip -j route get 198.51.100.10 from 10.20.129.10 iif tdemo0",
    "ip -j route get 10.20.129.10 from 198.51.100.10 iif vmbr0.50",
    "iptables-save -c",
    "iptables-legacy-save -c",
    "systemctl is-active frr",
];

/// Faults of the lab whose signs these commands show, and the finding each has to come to.
const FAULTS: [(&str, &str); 12] = [
    ("vrf-default-missing@tdemo", "vrf-default-missing"),
    ("vrf-default-wrong-gateway@tdemo", "vrf-default-wrong-gateway"),
    ("snat-missing@tdemo", "snat-missing"),
    ("snat-wrong-source@tdemo", "snat-wrong-source"),
    ("frr-down", "frr-down"),
    ("frr-local-not-merged@tdemo", "frr-local-not-merged"),
    ("frr-local-contested@tdemo", "frr-local-contested"),
    ("return-route-missing@tdemo", "return-route-missing"),
    ("inter-tenant-leak@tdemo", "inter-tenant-leak"),
    ("hairpin-leak@tdemo", "hairpin-leak"),
    ("forward-policy-drop", "forward-policy-drop"),
    ("conntrack-full", "conntrack-full"),
];

fn item(file: &str, from: &str, kind: Kind, body: String, stderr: String) -> Item {
    Item { file: file.to_owned(), from: from.to_owned(), kind, at: None, took: None, empty: false, body, stderr }
}

fn get(path: &str, data: &Value) -> Item {
    let ended = Ended { status: 200, reason: "OK".to_owned() };
    let http = Http::parse(&format!("GET /api2/json/{path}?running=1"), ended).unwrap();
    item(path, "api", Kind::Http(http), json!({ "data": data }).to_string(), String::new())
}

/// What `cat` and `grep -H` show of the node's files. Settings of interfaces are links there, and left out.
fn files(lab: &Lab, name: &str) -> Vec<Item> {
    let files = node::files::files(&lab.world(), NOW);
    let texts = files.iter().filter_map(|(path, entry)| match entry {
        Entry::Text(text) => Some((path.as_str(), text.as_str())),
        _ => None,
    });
    let ran = |line: &str, body: String| {
        item(line, name, Kind::Command { line: line.to_owned(), exit: Some(0) }, body, String::new())
    };
    let (mut items, mut proc) = (Vec::new(), String::new());
    for (path, text) in texts {
        if path.starts_with("etc/frr/") {
            items.push(ran(&format!("cat /{path}"), text.to_owned()));
        } else if path.starts_with("proc/sys/net/netfilter/") {
            proc += &format!("/{path}:{text}");
        }
    }
    items.push(ran("grep -H . /proc/sys/net/netfilter/*", proc));
    items
}

fn evidence(lab: &Lab) -> Evidence {
    let text = lab.site_toml();
    let site = Site::parse(&text, Path::new("site.toml")).unwrap();
    let name = site.exit_nodes[0].name.clone();
    let zone = |zone: &str| json!({"zone": zone, "type": "evpn", "exitnodes": name});
    let subnet = |zone: &str, net: &str| json!([{"cidr": net, "zone": zone, "vnet": format!("{zone}0"), "snat": 1}]);
    let mut items = vec![
        item("site.toml", "console", Kind::Material("the site file".to_owned()), text, String::new()),
        get("cluster/sdn/zones", &json!([zone("tdemo"), zone("eds")])),
        get("cluster/sdn/vnets/tdemo0/subnets", &subnet("tdemo", "10.20.129.0/24")),
        get("cluster/sdn/vnets/eds0/subnets", &subnet("eds", "10.20.130.0/24")),
    ];
    items.extend(files(lab, &name));
    for line in COMMANDS {
        let run = Run { argv: line.split(' ').map(str::to_owned).collect(), input: String::new() };
        let output = node::run(&lab.world(), NOW, &run);
        let kind = Kind::Command { line: line.to_owned(), exit: Some(i32::from(output.code)) };
        items.push(item(line, &name, kind, output.stdout, output.stderr));
    }
    Evidence { items, ..Evidence::default() }
}

/// Faults and warnings that are no consequence of another.
fn roots(report: &Report) -> Vec<&'static str> {
    let loud = report.findings.iter().filter(|f| f.severity > Severity::Info && f.caused_by.is_none());
    loud.map(|f| f.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_the_node_is_its_own_finding() {
    let lab = Lab::start(LabOptions {
        tenants: Some(2),
        workloads: Some(1),
        faults: Vec::new(),
        seed: 3,
        clock: Arc::new(|| Timestamp::from_second(NOW).unwrap()),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: false,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    })
    .await
    .unwrap();
    assert_eq!(roots(&Report::of(&evidence(&lab))), Vec::<&str>::new(), "healthy");
    let mut bad = Vec::new();
    for (fault, id) in FAULTS {
        lab.fault_on(fault).unwrap();
        let report = Report::of(&evidence(&lab));
        if roots(&report) != [id] {
            bad.push(format!("{fault}: {:?}", roots(&report)));
        }
        lab.fault_off(fault).unwrap();
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    lab.shutdown().await;
}
