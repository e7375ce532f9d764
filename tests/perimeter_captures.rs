//! Recorded answers of two versions of OPNsense, served over loopback, through the real client, worker and join into rows.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test stops at the first surprise; a skip is told loudly"
)]

mod loopback;
mod opnsense_common;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deevnet_console::backends::opnsense::endpoints::ALL;
use deevnet_console::backends::opnsense::model::RuleKind;
use deevnet_console::inventory::feed::{Clients, Feed, Unusable};
use deevnet_console::inventory::{Class, Inventory, RuleRow, SourceId, Touch};
use deevnet_console::site::Site;
use loopback::Canned;
use opnsense_common::{Router, canned, contracts};
use serde_json::Value;

/// What a version answers: the first good answer of each endpoint, but of a rule search the one that shows all rules.
fn answers(dir: &Path, version: &str) -> HashMap<String, Canned> {
    let text = std::fs::read_to_string(dir.join(format!("opnsense-captures/cap-{version}.json"))).unwrap();
    let steps: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut table = HashMap::new();
    for step in steps.iter().filter(|s| s["status"] == 200) {
        let path = step["path"].as_str().unwrap().split('?').next().unwrap().trim_start_matches("/api/");
        let path = if path == "routes/routes/search_route" { "routes/routes/searchroute" } else { path };
        let Some(endpoint) = ALL.iter().find(|e| e.path == path && step["method"] == e.method) else { continue };
        let rows = step["response"]["rows"].as_array();
        let foreign = rows.is_some_and(|rows| rows.iter().any(|r| r["is_automatic"] == true));
        if path == "firewall/filter/search_rule" && !foreign {
            continue;
        }
        let body = &step["response"];
        let media = step["content_type"].as_str().unwrap_or("text/html");
        table.entry(format!("{} {path}", endpoint.method)).or_insert_with(|| canned(200, media, body));
    }
    table
}

fn site(origin: &str) -> Arc<Site> {
    let text = format!(
        r#"
version = 1
[site]
name = "mobile"
domain = "mobile.deevnet.net"
octet = 20
[numbering]
vrf_vni_base = 10000
vnet_vni_base = 20000
overlay = "10.20.128.0/18"
asn = 65020
vmid_base = 2000
vmids_per_tenant = 40
[proxmox]
url = "https://10.20.99.22:8006"
token = {{ env = "UNUSED" }}
node = "dv02hyp002p02"
controller = "evpn1"
[[exit_node]]
name = "dv02hyp002p02"
transport = {{ command = ["false"] }}
transit_interface = "vmbr0.50"
transit_address = "10.20.50.22"
transit_gateway = "10.20.50.1"
[opnsense]
url = "{origin}"
key = {{ env = "UNUSED" }}
secret = {{ env = "UNUSED" }}
transit = "10.20.50.0/24"
"#
    );
    Arc::new(Site::parse(&text, Path::new("site.toml")).unwrap_or_else(|e| panic!("{e}")))
}

/// The picture that a version's answers make.
async fn picture(dir: &Path, version: &str) -> Arc<Inventory> {
    let router = Router::start(answers(dir, version)).await;
    let site = site(&router.server.origin);
    let unused = || Unusable { text: "not asked here".into(), help: None };
    let clients = Clients {
        known: Default::default(),
        proxmox: Err(unused()),
        opnsense: Some(Ok(router.client())),
        exit_nodes: Vec::new(),
        powerdns: None,
        bootstrap: None,
        registry: None,
    };
    let mut feed = Feed::start(&site, clients, &deevnet_console::runtime::clock::system());
    let wanted = feed.inventory.wait_for(|inv| inv.perimeter.route.is_ok());
    let read = matches!(tokio::time::timeout(Duration::from_secs(30), wanted).await, Ok(Ok(_)));
    let inv = Arc::clone(&feed.inventory.borrow());
    assert!(read, "{version}: {:?} {:?}", inv.perimeter, inv.sources.get(SourceId::Fw));
    inv
}

fn found<'a>(inv: &'a Inventory, description: &str) -> &'a RuleRow {
    inv.rules.iter().find(|r| r.description.contains(description)).unwrap_or_else(|| panic!("no rule {description}"))
}

#[tokio::test]
async fn recorded_answers_of_both_versions_become_rows() {
    let Some(dir) = contracts("recorded_answers_of_both_versions_become_rows") else { return };
    for version in ["25.7.11", "26.7.2"] {
        let inv = picture(&dir, version).await;
        assert_eq!(inv.perimeter.version.as_deref(), Ok(version));
        check_rules(version, &inv);
        check_forwards(version, &inv);
        check_whole(version, &inv);
    }
}

/// A rule as it stands in the list: interfaces, source, destination, port and protocol.
fn told(r: &RuleRow) -> [String; 4] {
    [r.interfaces.to_string(), r.source.to_string(), r.destination.to_string(), r.service()]
}

fn check_rules(version: &str, inv: &Inventory) {
    for (description, row) in [
        ("tenant_transit -> dns", ["MANAGEMENT, TENANT_TRANSIT", "any", "this firewall", "53 TCP/UDP"]),
        ("any-interface rule", ["any", "any", "192.0.2.0/24", "any"]),
        ("tenant_transit -> internet", ["TENANT_TRANSIT", "10.20.128.0/18", "not 10.20.0.0/16", "any"]),
        ("tenant -> management deny", ["TENANT_TRANSIT", "10.20.128.0/18", "10.20.99.0/24", "any"]),
    ] {
        let r = found(inv, description);
        assert_eq!((r.kind, told(r)), (RuleKind::Managed, row.map(str::to_owned)), "{version} {description}");
        assert_eq!(r.touches, Ok(Touch::Every), "{version} {description}");
        assert_eq!(r.must_not_exist, Ok(None), "{version} {description}");
    }
    assert_eq!(
        (found(inv, "any-interface rule").class, found(inv, "any-interface rule").enabled),
        (Class::Absent, false)
    );
    let six = found(inv, "IPv6 RFC4890");
    assert_eq!((six.kind, &six.touches), (RuleKind::Automatic, &Ok(Touch::No)), "{version}");
    assert!(inv.rules.iter().filter(|r| r.kind == RuleKind::Automatic).all(|r| r.must_not_exist == Ok(None)));
    // Rules that pass anything on transit were saved there, each by another mistake.
    for description in ["deevnet: unknown field", ""] {
        let r = inv.rules.iter().find(|r| &*r.description == description).expect("a rule");
        let why = "transit may reach the tenant overlay, management, trusted";
        assert_eq!(
            (r.class, r.must_not_exist.as_ref().ok().and_then(|m| m.as_deref())),
            (Class::Fault, Some(why)),
            "{version} {description}"
        );
    }
    for (at, r) in (1..).zip(&inv.rules) {
        assert_eq!(r.place, at, "{version}");
        // 25.7.11 counts from a cache: what is missing there is unknown, not unloaded.
        let old = version == "25.7.11" && r.loaded.is_err();
        assert!(old || r.loaded.is_ok(), "{version} {}: {:?}", r.description, r.loaded);
    }
}

fn check_forwards(version: &str, inv: &Inventory) {
    let rows: Vec<_> = inv.forwards.iter().map(|f| (&*f.domain, f.server.as_deref(), f.kind)).collect();
    let first = [
        ("tdemo.mobile.deevnet.net", Some("10.20.25.53:5300"), Some("forward")),
        ("129.20.10.in-addr.arpa", Some("10.20.25.53:5300"), Some("forward")),
    ];
    assert!(rows.starts_with(&first), "{version}: {rows:?}");
    assert!(rows.contains(&(".", Some("9.9.9.9:853"), Some("dot"))), "{version}: {rows:?}");
    // Nobody said whose zones there are.
    assert!(inv.forwards.iter().all(|f| f.tenant.is_none()));
    assert_eq!((inv.forwards[0].class, &*inv.forwards[0].word), (Class::Unknown, "whose is unknown"));
}

fn check_whole(version: &str, inv: &Inventory) {
    let route = inv.perimeter.route.as_ref().expect("a verdict");
    assert_eq!(route.class, Class::Fault, "{version}");
    assert!(route.word.contains("TENANT_EXIT 10.20.50.2, which is no exit node"), "{version}: {}", route.word);
    let pattern = |name: &str| &inv.perimeter.patterns.iter().find(|p| &*p.name == name).expect("a pattern").found;
    assert!(pattern("transit → management").as_ref().is_ok_and(|n| *n >= 2), "{version}");
    assert!(pattern("guest → overlay").as_ref().is_err_and(|g| g.why.contains("described as guest")), "{version}");
    assert!(inv.sources.get(SourceId::Fw).error.is_none());
}
