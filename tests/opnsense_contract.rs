//! Every request the client can make, as it goes over the wire, against the endpoint table; and the table against the
//! recorded API of five versions: methods, paths, parameters and privileges.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict, its output is its report"
)]

mod loopback;
mod opnsense_common;

use std::collections::BTreeSet;

use deevnet_console::backends::opnsense::endpoints::{ALL, Endpoint, WRITES};
use deevnet_console::backends::opnsense::{Error, NewForward, Version};
use deevnet_console::backends::permit::Permit;
use loopback::Seen;
use opnsense_common::{Router, contracts, everything};
use serde_json::{Value, json};

const VERSIONS: [&str; 5] = ["24.7.12", "25.1.12", "25.7.11", "26.1.11", "26.7.2"];

/// Every request made of a router of `version`.
async fn requests(version: &str) -> Vec<Seen> {
    let all: Value = serde_json::from_str(include_str!("data/opnsense/answers.json")).unwrap();
    let era = if Version::parse(version).unwrap().speaks_snake_case() { "26.7.2" } else { "24.7.12" };
    let mut world = all[era].clone();
    world["GET core/firmware/status"]["product"]["product_version"] = json!(version);
    let router = Router::of(&world).await;
    let client = router.client();
    everything(&client).await;
    router.server.take_seen()
}

/// The endpoint a request belongs to, and the spelling it came in.
fn endpoint(seen: &Seen) -> (&'static Endpoint, &'static str) {
    let path = seen.path.strip_prefix("/api/").unwrap();
    let spellings = ALL.iter().flat_map(|e| [Some(e.path), e.before_25_7].into_iter().flatten().map(move |p| (*e, p)));
    let fits = |template: &str| {
        let (a, b): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
        a.len() == b.len() && a.iter().zip(&b).all(|(t, p)| t.starts_with('{') || t == p)
    };
    let found: Vec<_> = spellings.filter(|(e, template)| e.method == seen.method && fits(template)).collect();
    match found[..] {
        [only] => only,
        _ => panic!("{} {path} fits {} endpoints", seen.method, found.len()),
    }
}

fn body(seen: &Seen) -> Value {
    if seen.body.is_empty() { json!({}) } else { serde_json::from_slice(&seen.body).unwrap() }
}

#[tokio::test]
async fn what_is_sent_is_declared() {
    for version in VERSIONS {
        let mut used = BTreeSet::new();
        for seen in requests(version).await {
            let (endpoint, _) = endpoint(&seen);
            used.insert(endpoint.path);
            for (key, _) in &seen.query {
                assert!(endpoint.query.contains(&key.as_str()), "{} asks with {key}", endpoint.path);
            }
            for key in body(&seen).as_object().unwrap().keys() {
                assert!(endpoint.body.contains(&key.as_str()), "{} sends {key}", endpoint.path);
            }
        }
        let rest: Vec<_> = ALL.iter().map(|e| e.path).filter(|p| !used.contains(p)).collect();
        // Asked only where the version needs them.
        let allowed = [
            "diagnostics/system/system_information",
            "firewall/filter/get_interface_list",
            "firewall/filter/get_rule",
            "firewall/filter/flush_inspect_cache",
            "firewall/filter/search_rule",
            "firewall/source_nat/search_rule",
        ];
        assert!(rest.iter().all(|p| allowed.contains(p)), "{version}: never asked: {rest:?}");
    }
}

/// The contract's entry of a path in one spelling.
fn entry<'a>(contract: &'a Value, method: &str, spelling: &str) -> Option<&'a Value> {
    let wanted = spelling.replace("pf_statistics/rules", "pf_statistics/{info|memory|timeouts|interfaces|rules}");
    // An empty rule is asked for like any other, without an id.
    let wanted = if wanted == "firewall/filter/get_rule" { format!("{wanted}/{{uuid}}") } else { wanted };
    contract["endpoints"].as_array().unwrap().iter().find(|e| {
        let paths = [e["path"].as_str(), e["camelCase_equivalent"].as_str()];
        e["method"] == method && paths.iter().flatten().any(|p| p.strip_prefix("/api/") == Some(wanted.as_str()))
    })
}

/// A list that may differ by version.
fn ids(value: &Value, version: &str) -> BTreeSet<String> {
    let list = if value.is_object() { &value[version] } else { value };
    list.as_array().into_iter().flatten().map(|v| v.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_sent_is_in_the_contract() {
    let Some(dir) = contracts("what_is_sent_is_in_the_contract") else { return };
    let text = std::fs::read_to_string(dir.join("opnsense-api.json")).unwrap();
    let contract: Value = serde_json::from_str(&text).unwrap();
    let (mut checked, mut outside) = (0, BTreeSet::new());
    for version in VERSIONS {
        for seen in requests(version).await {
            let (endpoint, spelling) = endpoint(&seen);
            let Some(entry) = entry(&contract, &seen.method, spelling) else {
                outside.insert(spelling);
                continue;
            };
            assert_eq!(entry["status_by_version"][version], 200, "{version} {spelling}");
            if let Some(parameters) = entry["request_body"].as_object() {
                for key in body(&seen).as_object().unwrap().keys() {
                    assert!(parameters.contains_key(key), "{version} {spelling}: {key}");
                }
            }
            // In this spelling, exactly the privileges of the table open it (the dashboard's own aside).
            let other = &entry["acl_privileges_camelCase_differs"];
            let camel = spelling.chars().any(|c| c.is_ascii_uppercase());
            let by_contract =
                if camel && !other.is_null() { ids(other, version) } else { ids(&entry["acl_privileges"], version) };
            let opened: BTreeSet<_> = by_contract.into_iter().filter(|p| p != "page-dashboard-all").collect();
            let table: BTreeSet<_> = endpoint.need.iter().map(|p| p.id.to_owned()).collect();
            assert_eq!(opened, table, "{version} {spelling}");
            checked += 1;
        }
    }
    println!("{checked} requests of {} versions are in the contract; not described there: {outside:?}", VERSIONS.len());
    assert!(checked > 100, "{checked}");
    // The resolver's lists are known by name alone (facts/dns.md §9, and a recorded case).
    let known: BTreeSet<_> = [
        "diagnostics/system/system_time",
        "diagnostics/system/systemTime",
        "unbound/settings/search_acl",
        "unbound/diagnostics/listlocalzones",
    ]
    .into();
    assert!(outside.is_subset(&known), "{outside:?}");
}

/// A refusal with its reasons, and a forward over TLS, which is not turned into a plain one.
async fn refusals(router: &Router, wanted: &NewForward, refused: &Value) {
    let (client, permit) = (router.client(), Permit::grant("a-plan"));
    router.set("POST unbound/settings/add_forward", opnsense_common::json(refused));
    let error = client.add_forward(&permit, wanted).await.unwrap_err();
    assert!(matches!(&error, Error::Failed { validations } if validations.contains_key("dot.server")), "{error:?}");
    let row = json!({"uuid": "d", "enabled": "1", "type": "dot", "domain": "x", "server": "10.0.0.1"});
    let rows = json!({"total": 1, "rowCount": 1, "current": 1, "rows": [row]});
    router.set("POST unbound/settings/search_dot", opnsense_common::json(&rows));
    let error = client.set_forward(&permit, "d", wanted).await.unwrap_err();
    assert!(matches!(error, Error::OtherKind { .. }), "{error:?}");
}

/// What is asked of a router whose answers are the recorded ones.
#[tokio::test]
async fn forwards_are_written_as_recorded() {
    let Some(dir) = contracts("forwards_are_written_as_recorded") else { return };
    let text = std::fs::read_to_string(dir.join("opnsense-api.json")).unwrap();
    let contract: Value = serde_json::from_str(&text).unwrap();
    let fields = &contract["models"]["unbound.dot"]["fields"];
    let permit = Permit::grant("a-plan");
    let uuid = "09f297da-ca6c-493c-bfa4-1528c6fe8089";
    let wanted = NewForward {
        domain: "tdemo.mobile.deevnet.net".parse().unwrap(),
        server: [10, 20, 25, 21].into(),
        port: Some(5300),
        enabled: true,
        description: "tenant tdemo".to_owned(),
    };
    for version in VERSIONS {
        let recorded = |path: &str, id: &str| {
            let entry = entry(&contract, "POST", path).unwrap_or_else(|| panic!("{path}"));
            assert_eq!(entry["status_by_version"][version], 200, "{version} {path}");
            let opens: Vec<_> = ids(&entry["acl_privileges"], version).into_iter().collect();
            assert_eq!(opens, ["page-services-unbound"]);
            entry["examples"].as_array().unwrap().iter().find(|e| e["id"] == id).unwrap()["response"].clone()
        };
        let rows = json!({"total": 1, "rowCount": 1, "current": 1, "rows": [{"uuid": uuid, "enabled": "1",
            "type": "forward", "domain": "tdemo.mobile.deevnet.net", "server": "10.20.25.53", "port": "5300"}]});
        let empty = json!({"total": 0, "rowCount": 0, "current": 1, "rows": []});
        let mut answers =
            json!({"POST unbound/settings/search_forward": rows, "POST unbound/settings/search_dot": empty});
        for (endpoint, id) in WRITES.iter().zip([
            "unbound.forward.add",
            "unbound.forward.set",
            "unbound.forward.toggle",
            "unbound.forward.del",
            "unbound.reconfigure",
        ]) {
            let path = endpoint.path.replace("{uuid}", uuid).replace("{enabled}", "0");
            answers[format!("POST {path}")] = recorded(endpoint.path, id);
        }
        let router = Router::of(&answers).await;
        let client = router.client();
        assert_eq!(client.add_forward(&permit, &wanted).await.unwrap(), uuid);
        client.set_forward(&permit, uuid, &wanted).await.unwrap();
        assert!(client.toggle_forward(&permit, uuid, false).await.unwrap());
        client.delete_forward(&permit, uuid).await.unwrap();
        client.reconfigure_resolver(&permit).await.unwrap();
        let seen = router.server.take_seen();
        let written: Vec<_> = seen.iter().filter(|seen| !seen.path.contains("search_")).collect();
        assert_eq!(written.len(), WRITES.len(), "{version}");
        for seen in written {
            let body = body(seen);
            for (key, value) in body["dot"].as_object().into_iter().flatten() {
                let since = &fields[key]["versions"];
                let known = since.is_string() || since.as_array().is_some_and(|all| all.iter().any(|v| v == version));
                assert!(known && value.is_string(), "{version} {key}: {value}");
            }
            assert!(body.as_object().unwrap().keys().all(|key| key == "dot"), "{body}");
        }
        let refused = recorded("unbound/settings/add_forward", "unbound.forward.add.invalid");
        refusals(&router, &wanted, &refused).await;
    }
}

#[tokio::test]
async fn a_forward_of_everything_is_not_sent() {
    let router = Router::of(&json!({})).await;
    let all = NewForward {
        domain: ".".parse().unwrap(),
        server: [10, 20, 25, 21].into(),
        port: None,
        enabled: true,
        description: String::new(),
    };
    let error = router.client().add_forward(&Permit::grant("a-plan"), &all).await.unwrap_err();
    assert!(matches!(error, Error::BadForward(_)) && router.server.take_seen().is_empty(), "{error:?}");
}
