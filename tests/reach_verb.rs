//! `reach` of the program itself, against a lab.

#![cfg(feature = "console")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod common;

use std::path::PathBuf;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use serde_json::Value;

async fn lab() -> Lab {
    let options = LabOptions {
        tenants: Some(2),
        workloads: Some(1),
        faults: Vec::new(),
        seed: 7,
        clock: common::clock(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: false,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    Lab::start(options).await.unwrap()
}

async fn run(lab: &Lab, args: &[&str]) -> (i32, String, String) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
    command.arg("--site").arg(lab.dir().join("site.toml")).args(args).env("LC_ALL", "C.UTF-8");
    let out = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_is_tried_from_the_vrf_and_what_could_not_be_is_unknown() {
    let lab = lab().await;
    let (code, text, _) = run(&lab, &["reach", "tdemo", "198.51.100.10:443", "-o", "json"]).await;
    let found: Value = serde_json::from_str(&text).unwrap();
    // The lab's node has the routes, and no program that sends from inside a VRF.
    assert_eq!((code, &found["schema"]), (3, &"deevnet-console/reach/v1".into()), "{found:#}");
    let from = &found["from"][0];
    assert_eq!((&from["vrf"], &from["lookup"]["ended"]), (&"vrf_tdemo".into(), &"reached".into()), "{found:#}");
    assert!(from["lookup"]["text"].as_str().unwrap().contains("table vrf_tdemo"), "{found:#}");
    assert_eq!((&from["ping"]["ended"], &from["tcp"]["ended"]), (&"unknown".into(), &"unknown".into()), "{found:#}");
    assert!(found["misses"].as_str().unwrap().contains("guest"), "{found:#}");
    let (code, text, _) = run(&lab, &["reach", "tdemo", "10.20.130.10"]).await;
    assert!(code == 1 && text.contains("Invalid argument"), "{code} {text}");
    let (code, _, said) = run(&lab, &["reach", "nobody", "198.51.100.10"]).await;
    assert!(
        code == 2 && said.contains("no tenant is called \"nobody\"") && said.contains("eds, tdemo"),
        "{code} {said}"
    );
    let (code, _, said) = run(&lab, &["reach", "tdemo", "example.com"]).await;
    assert!(code == 2 && said.contains("no IPv4 address"), "{code} {said}");
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_is_nobodys_is_a_mistake_where_everybody_is_known() {
    let lab = lab().await;
    let (code, text, said) = run(&lab, &["check", "fabric", "edz"]).await;
    assert_eq!((code, text.as_str()), (2, ""), "{said}");
    assert!(
        said.contains("no tenant is called \"edz\"") && said.contains("did you mean eds? there are: eds, tdemo"),
        "{said}"
    );
    let (code, _, said) = run(&lab, &["check", "workload", "tdemo/db"]).await;
    assert!(
        code == 2 && said.contains("no workload of tdemo is called \"db\"") && said.contains("there are: app"),
        "{said}"
    );
    let (code, text, said) = run(&lab, &["check", "workload", "tdemo/app"]).await;
    assert!(code == 0 && text.contains("0 unknown"), "{code} {text}{said}");
    // Who sees no zone does not know who is there.
    lab.fault_on("list-filtered").unwrap();
    let (code, text, _) = run(&lab, &["check", "workload", "nobody"]).await;
    assert!(code == 3 && text.contains("tenant nobody"), "{code} {text}");
    lab.shutdown().await;
}
