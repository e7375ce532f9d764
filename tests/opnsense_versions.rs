//! Answers made from the field tables of five versions: each as that version would send it, read by the client.

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

use deevnet_console::backends::opnsense::model::{Action, Direction, Family, ForwardKind, NatMode, NotRead, RuleKind};
use deevnet_console::backends::opnsense::{Client, Error, Version};
use opnsense_common::{Router, contracts};
use serde_json::{Map, Value, json};

const VERSIONS: [&str; 5] = ["24.7.12", "25.1.12", "25.7.11", "26.1.11", "26.7.2"];
const UUID: &str = "6d1f0a52-3f1e-4c6e-9a55-0d4a4f0c1b01";

/// How a field is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `get`: options as maps.
    Model,
    /// A search row from 25.7 on: keys, and texts beside them.
    Keys,
    /// A search row before: texts.
    Texts,
}

/// Interfaces of the invented router.
const INTERFACES: [(&str, &str); 2] = [("opt10", "TENANT_TRANSIT"), ("wan", "WAN")];

/// One field as `version` writes it; `None` where it has no such field.
fn field(table: &Value, name: &str, version: &str, form: Form, value: Option<&str>) -> Option<Vec<(String, Value)>> {
    let versions = &table["versions"];
    let has = match versions.as_array() {
        Some(list) => list.iter().any(|v| v == version),
        None => true,
    };
    if !has {
        return None;
    }
    let kind = table["type"].as_str().unwrap_or_default();
    let chosen = value.or_else(|| table["default"].as_str()).unwrap_or_default().to_owned();
    let mut options: Vec<(String, String)> = match table["values"].as_object() {
        Some(map) => map.iter().map(|(k, v)| (k.clone(), v.as_str().unwrap_or(k).to_owned())).collect(),
        None => Vec::new(),
    };
    if kind.contains("InterfaceField") {
        options = INTERFACES.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    } else if kind.contains("ProtocolField") {
        options = ["any", "TCP", "UDP"].iter().map(|p| ((*p).to_owned(), (*p).to_owned())).collect();
    } else if kind.contains("JsonKeyValueStoreField") {
        options = vec![
            (String::new(), "None".to_owned()),
            ("TENANT_FABRIC_GW".to_owned(), "TENANT_FABRIC_GW - 10.20.50.22".to_owned()),
        ];
    }
    let text = options.iter().find(|(k, _)| *k == chosen).map_or(chosen.clone(), |(_, v)| v.clone());
    Some(match form {
        Form::Model if !options.is_empty() => {
            let map: Map<String, Value> = options
                .into_iter()
                .map(|(k, v)| (k.clone(), json!({"value": v, "selected": u8::from(k == chosen)})))
                .collect();
            vec![(name.to_owned(), Value::Object(map))]
        }
        Form::Model => vec![(name.to_owned(), json!(chosen))],
        Form::Texts => vec![(name.to_owned(), json!(text))],
        Form::Keys if text != chosen => vec![(name.to_owned(), json!(chosen)), (format!("%{name}"), json!(text))],
        Form::Keys => vec![(name.to_owned(), json!(chosen))],
    })
}

/// One object of a model as `version` writes it.
fn object(models: &Value, model: &str, version: &str, form: Form, values: &[(&str, &str)]) -> Map<String, Value> {
    let fields = models[model]["fields"].as_object().unwrap();
    for (name, _) in values {
        assert!(fields.contains_key(*name), "{model} has no {name}");
    }
    let value = |name: &str| values.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    fields.iter().filter_map(|(name, table)| field(table, name, version, form, value(name))).flatten().collect()
}

fn row(models: &Value, model: &str, version: &str, values: &[(&str, &str)]) -> Value {
    let form = if Version::parse(version).unwrap().speaks_snake_case() { Form::Keys } else { Form::Texts };
    let mut row = object(models, model, version, form, values);
    row.insert("uuid".to_owned(), json!(UUID));
    json!({"rows": [row], "rowCount": 1, "total": 1, "current": 1})
}

fn world(models: &Value, version: &str) -> Value {
    let v = Version::parse(version).unwrap();
    let rule = object(
        models,
        "filter.rule",
        version,
        Form::Model,
        &[
            ("interface", "opt10"),
            ("protocol", "UDP"),
            ("source_net", "10.20.50.0/24"),
            ("destination_net", "deevnet_private"),
            ("destination_not", "1"),
            ("destination_port", "123"),
            ("gateway", "TENANT_FABRIC_GW"),
            ("sequence", "4242"),
            ("description", "from the table"),
        ],
    );
    let nat_values =
        [("interface", "wan"), ("source_net", "10.20.128.0/18"), ("target", "wanip"), ("description", "tenants out")];
    let nat = object(models, "snat.rule", version, Form::Model, &nat_values);
    let mut model = json!({"rules": {"rule": {UUID: rule}}, "snatrules": {"rule": {UUID: nat}}});
    if v.tells_nat_mode() {
        model["general"] =
            Value::Object(object(models, "snat.general", version, Form::Model, &[("snat_mode", "hybrid")]));
    }
    let general = if v >= Version::new(26, 7, 0) { json!({"general": model["general"]}) } else { model.clone() };
    let route = if v >= Version::new(26, 1, 10) { ("enabled", "0") } else { ("disabled", "1") };
    let dot = [("type", "forward"), ("domain", "tdemo.mobile.deevnet.net"), ("server", "10.20.25.21")];
    json!({
        "GET core/firmware/status": {"product": {"product_version": version}},
        "GET firewall/filter/get": {"filter": model},
        "GET firewall/filter/get_rule": {"rule": object(models, "filter.rule", version, Form::Model, &[])},
        "POST firewall/filter/search_rule": row(models, "filter.rule", version, &[("interface", "opt10")]),
        "GET firewall/filter/get_interface_list":
            {"groups": {"items": []}, "interfaces": {"items": [{"value": "opt10"}, {"value": "wan"}]}},
        "GET firewall/filter_util/rule_stats": {"status": "ok", "stats": {}},
        "GET firewall/source_nat/get": {"filter": general},
        "POST firewall/source_nat/search_rule": row(models, "snat.rule", version, &nat_values),
        "POST firewall/alias/search_item":
            row(models, "alias", version, &[("name", "deevnet_private"), ("type", "network"), ("content", "10.0.0.0/8\n172.16.0.0/12")]),
        "POST routes/routes/searchroute":
            row(models, "route", version, &[("network", "10.20.128.0/18"), ("gateway", "TENANT_FABRIC_GW"), route]),
        "POST unbound/settings/search_forward": row(models, "unbound.dot", version, &dot),
        "POST unbound/settings/search_dot": {"rows": [], "rowCount": 0, "total": 0, "current": 1},
    })
}

#[tokio::test]
async fn the_field_tables_of_every_version_are_read() {
    let Some(dir) = contracts("the_field_tables_of_every_version_are_read") else { return };
    let text = std::fs::read_to_string(dir.join("opnsense-api.json")).unwrap();
    let contract: Value = serde_json::from_str(&text).unwrap();
    let models = &contract["models"];
    for version in VERSIONS {
        let v = Version::parse(version).unwrap();
        let router = Router::of(&world(models, version)).await;
        let client = router.client();
        rules(&client, v).await;
        nat(&client, v).await;
        let alias = &client.aliases().await.unwrap().aliases[0];
        assert_eq!((alias.kind.as_str(), alias.content.len(), alias.enabled), ("network", 2, true), "{version}");
        let route = &client.static_routes().await.unwrap()[0];
        assert_eq!((route.gateway.as_str(), route.enabled), ("TENANT_FABRIC_GW", false), "{version}");
        let forward = &client.forwards().await.unwrap()[0];
        assert_eq!((forward.kind, forward.port), (ForwardKind::Forward, None), "{version}");
        assert_eq!(forward.first.is_some(), v >= Version::new(25, 1, 0), "{version}");
        println!("{version}: rule, source NAT, alias, route and forward read");
        // Without any privilege for the version itself, the fields of a rule tell the series.
        router
            .set("GET core/firmware/status", opnsense_common::canned(403, "application/json", &json!({"status": 403})));
        let release = router.client().release().await.unwrap();
        assert_eq!((release.version.year, release.version.month), (v.year, v.month), "{version}");
    }
}

async fn rules(client: &Client, v: Version) {
    let set = client.rules().await.unwrap();
    assert_eq!(set.rules.len(), 1, "{v}: the managed row of the search is not counted twice");
    let rule = &set.rules[0];
    assert_eq!((rule.uuid.as_str(), rule.kind, rule.enabled, rule.quick), (UUID, RuleKind::Managed, true, true), "{v}");
    assert_eq!((&rule.action, rule.direction, rule.family), (&Action::Pass, Direction::In, Some(Family::Inet)), "{v}");
    assert_eq!((rule.protocol.as_str(), rule.interfaces.as_slice()), ("UDP", &["opt10".to_owned()][..]), "{v}");
    assert_eq!((rule.source.nets.as_slice(), rule.source.negated), (&["10.20.50.0/24".to_owned()][..], false), "{v}");
    assert_eq!((rule.destination.negated, rule.destination.port.as_deref()), (true, Some("123")), "{v}");
    assert_eq!((rule.gateway.as_deref(), rule.sequence), (Some("TENANT_FABRIC_GW"), Some(4242)), "{v}");
    assert_eq!(rule.description, "from the table", "{v}");
    assert_eq!(rule.loaded, if v.caches_counters() { None } else { Some(false) }, "{v}");
    assert_eq!(set.not_read.is_empty(), v.lists_foreign_rules(), "{v}: {:?}", set.not_read);
}

async fn nat(client: &Client, v: Version) {
    let nat = client.source_nat().await.unwrap();
    assert_eq!(nat.rules.len(), 1, "{v}");
    let rule = &nat.rules[0];
    assert_eq!(
        (rule.source.nets.as_slice(), rule.interfaces.as_slice()),
        (&["10.20.128.0/18".to_owned()][..], &["wan".to_owned()][..]),
        "{v}"
    );
    assert_eq!(
        (rule.target.as_deref(), rule.static_port.is_some()),
        (Some("wanip"), v >= Version::new(26, 1, 0)),
        "{v}"
    );
    assert_eq!((nat.mode == Some(NatMode::Hybrid), nat.manual_applies), (v.tells_nat_mode(), Some(true)), "{v}");
}

/// Removes what the contract's examples say about their own shortening.
fn untrimmed(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("_trimmed");
            map.values_mut().for_each(untrimmed);
            if let Some(Value::Array(rows)) = map.get("rows") {
                let count = rows.len();
                map.insert("total".to_owned(), json!(count));
            }
        }
        Value::Array(list) => {
            list.retain(|v| !v.as_str().is_some_and(|t| t.starts_with('…')));
            list.iter_mut().for_each(untrimmed);
        }
        _ => {}
    }
}

/// The client's method that reads the endpoint `path`; `None` where it has none.
async fn read(client: &Client, path: &str) -> Option<Result<(), Error>> {
    let part = |not_read: Vec<NotRead>| not_read.into_iter().next().map_or(Ok(()), |n| Err(n.why));
    Some(match path {
        "core/firmware/status" | "firewall/filter/get_rule" => client.release().await.map(drop),
        "core/system/status" => client.system_status().await.map(drop),
        "diagnostics/firewall/query_states" => client.states_of("10.20.50.2".parse().unwrap(), 10).await.map(drop),
        "diagnostics/interface/get_routes" => client.kernel_routes().await.map(drop),
        "firewall/alias/search_item" => client.aliases().await.map(drop),
        "firewall/filter/search_rule" => client.rules().await.and_then(|set| part(set.not_read)),
        "firewall/filter_util/rule_stats" => client.rule_stats().await.map(drop),
        "firewall/source_nat/get" => client.source_nat().await.map(drop),
        "firewall/source_nat/search_rule" => client.source_nat().await.and_then(|nat| part(nat.not_read)),
        "interfaces/overview/export" => client.interfaces().await.map(drop),
        "routes/routes/searchroute" => client.static_routes().await.map(drop),
        "routing/settings/search_gateway" => client.gateways().await.map(drop),
        "unbound/settings/get" => client.resolver_settings().await.map(drop),
        "unbound/settings/search_dot" | "unbound/settings/search_forward" => client.forwards().await.map(drop),
        _ => return None,
    })
}

/// Examples recorded on the versions of which no whole recording exists, shortened as they are.
#[tokio::test]
async fn recorded_examples_of_other_versions_are_read() {
    let Some(dir) = contracts("recorded_examples_of_other_versions_are_read") else { return };
    let text = std::fs::read_to_string(dir.join("opnsense-api.json")).unwrap();
    let contract: Value = serde_json::from_str(&text).unwrap();
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for example in contract["endpoints"].as_array().unwrap().iter().flat_map(|e| e["examples"].as_array().unwrap()) {
        let version = example["version"].as_str().unwrap();
        if !["24.7.12", "25.1.12", "26.1.11"].contains(&version) || example["status"] != 200 {
            continue;
        }
        let path = example["path"].as_str().unwrap().strip_prefix("/api/").unwrap();
        let mut answer = example["response"].clone();
        untrimmed(&mut answer);
        let router = Router::of(&world(&contract["models"], version)).await;
        let verb = if path.contains("search") || path.contains("query") { "POST" } else { "GET" };
        // 24.7 and 25.1 answer this one under the spelling of their access lists.
        let key = path.replace("get_routes", if version < "25.7" { "getRoutes" } else { "get_routes" });
        router.set(&format!("{verb} {key}"), opnsense_common::json(&answer));
        let client = router.client();
        if path != "core/firmware/status" {
            client.release().await.unwrap();
        }
        match read(&client, path).await {
            // Rows of 24.7 hold no more than a description; the client says that it does not read them.
            Some(Err(Error::NotOffered { .. })) => assert!(version == "24.7.12" && path.ends_with("search_rule")),
            Some(Err(error)) => panic!("{version} {path}: {error}"),
            Some(Ok(())) => *seen.entry(version).or_default() += 1,
            None => {}
        }
    }
    println!("examples read: {seen:?}");
    assert!(seen.values().all(|n| *n >= 3) && seen.len() == 3, "{seen:?}");
}
