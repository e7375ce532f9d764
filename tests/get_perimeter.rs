//! `get rules` and `get forwards` of the program itself, against a lab with a perimeter.

#![cfg(feature = "console")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod common;

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Output;

use deevnet_console::inventory::feed::Clients;
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use serde_json::{Value, json};

async fn lab(release: Release) -> Lab {
    let options = LabOptions {
        tenants: None,
        workloads: Some(1),
        faults: Vec::new(),
        seed: 7,
        clock: common::clock(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: true,
        release,
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    Lab::start(options).await.unwrap()
}

async fn run(lab: &Lab, args: &[&str]) -> Output {
    let site = lab.dir().join("site.toml");
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
    command.arg("--site").arg(site).args(args).env("LC_ALL", "C.UTF-8");
    command.output().await.unwrap()
}

async fn json_of(lab: &Lab, args: &[&str]) -> (i32, Value) {
    let out = run(lab, &[args, &["-o", "json"]].concat()).await;
    let text = String::from_utf8_lossy(&out.stdout);
    let value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}: {text}{:?}", out.stderr));
    (out.status.code().unwrap(), value)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_and_forwards_are_printed() {
    for release in [Release::V25_7, Release::V26_7] {
        let lab = lab(release).await;
        let (code, all) = json_of(&lab, &["get", "rules"]).await;
        let (touching, own) = json_of(&lab, &["get", "rules", "--tenant", "eds"]).await;
        assert_eq!((code, touching), (0, 0), "{release:?}");
        assert_eq!(all["schema"], "deevnet-console/get-rules/v1");
        let items = |v: &Value| v["items"].as_array().unwrap().clone();
        assert!(items(&all).len() > 50 && (8..14).contains(&items(&own).len()), "{}", items(&own).len());
        assert!(items(&all).iter().all(|r| r["must_not_exist"].is_null() && r["unknown"] == json!({})));
        let (code, forwards) = json_of(&lab, &["get", "forwards", "--tenant", "eds"]).await;
        let told: Vec<_> = items(&forwards).iter().map(|f| (f["domain"].clone(), f["word"].clone())).collect();
        let expected = ["eds.mobile.deevnet.net", "130.20.10.in-addr.arpa"].map(|d| (json!(d), json!("present")));
        assert_eq!((code, told), (0, expected.to_vec()), "{release:?}");
        let table = run(&lab, &["get", "rules"]).await;
        let text = String::from_utf8_lossy(&table.stdout).into_owned();
        let head = text.lines().next().unwrap();
        assert!(head.contains("INTERFACE") && !head.contains("→"), "{head}");
        assert!(text.contains("not deevnet_private") && text.contains("✓ loaded"), "{text}");
        lab.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_be_read_ends_with_3_and_names_the_privilege() {
    let lab = lab(Release::V26_7).await;
    lab.edit(|world| {
        world.perimeter.faulty.insert("firewall/filter/get".to_owned(), 403);
    })
    .unwrap();
    let (code, rules) = json_of(&lab, &["get", "rules"]).await;
    assert_eq!((code, &rules["items"]), (3, &Value::Null));
    assert!(rules["unknown"].as_str().unwrap().contains("page-filter-api"), "{rules}");
    assert_eq!(json_of(&lab, &["get", "forwards"]).await.1["items"].as_array().unwrap().len(), 12);
    let wrong = run(&lab, &["get", "forwards", "--tenant", "edz"]).await;
    assert_eq!(wrong.status.code(), Some(2));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_healthy_site_is_read_without_a_gap() {
    for release in [Release::V25_7, Release::V26_7] {
        let lab = lab(release).await;
        let (code, sources) = json_of(&lab, &["get", "sources"]).await;
        let sources = sources["items"].as_array().unwrap();
        let gaps: Vec<&str> =
            sources.iter().flat_map(|s| s["gaps"].as_array().unwrap()).map(|g| g.as_str().unwrap()).collect();
        // Only what this version cannot tell.
        let expected = |gap: &&str| release == Release::V25_7 && gap.contains("(needs 26.1.11)");
        assert!(code == 0 && gaps.iter().all(expected), "{release:?}: {gaps:?}");
        for screen in ["tenants", "board", "overview", "vrfs", "rules", "records", "workloads"] {
            let shown = run(&lab, &["render", screen, "--tenant", "eds", "--size", "200x60"]).await;
            let text = String::from_utf8_lossy(&shown.stdout).into_owned();
            assert!(text.contains("eds") && !text.contains("not read") && !text.contains("? FW"), "{screen}:\n{text}");
        }
        lab.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lab_tells_what_pf_runs_and_how_its_resolver_is_set() {
    let lab = lab(Release::V26_7).await;
    let client = Clients::connect(&common::site(&lab, |text| text))
        .await
        .opnsense
        .unwrap()
        .unwrap_or_else(|e| panic!("{}", e.text));
    let (own, nat) = {
        let world = lab.world();
        (world.perimeter.rules[0].uuid.clone(), world.perimeter.nat[0].description.clone())
    };
    let domain = "eds.mobile.deevnet.net".to_owned();
    let rules = client.pf_rules().await.unwrap();
    let labels: std::collections::BTreeSet<_> = rules.filter.iter().filter_map(|r| r.label.clone()).collect();
    let counted = client.rule_stats().await.unwrap();
    assert_eq!(labels, counted.keys().cloned().collect(), "lines and counters are of the same rules");
    assert!(labels.contains(&own) && rules.nat.iter().any(|r| r.text.ends_with(&nat)), "{rules:?}");
    let insecure = client.insecure_domains().await.unwrap();
    assert!(insecure.contains(&domain));
    let settings = client.resolver_settings().await.unwrap();
    assert!(settings.enabled && settings.dnssec == Some(true) && settings.forwards_everything == Some(false));
    let within =
        |text: &str| settings.private_addresses.iter().any(|net| net.contains(&text.parse::<IpAddr>().unwrap()));
    assert!(within("10.20.130.10") && !within("203.0.113.80"), "what is filtered: {settings:?}");
    lab.edit(|world| {
        world.perimeter.unloaded.insert(own.clone());
        world.perimeter.resolver.bogus.insert(domain.clone());
    })
    .unwrap();
    let rules = client.pf_rules().await.unwrap();
    assert!(rules.filter.iter().all(|r| r.label.as_ref() != Some(&own)), "a rule that pf refused does not run");
    assert!(!client.insecure_domains().await.unwrap().contains(&domain), "it is validated");
    lab.shutdown().await;
}
