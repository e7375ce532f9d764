//! `render SCREEN --from DIR`: screens of what a check left, without a network.

#![cfg(feature = "console")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod common;

use std::path::{Path, PathBuf};

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};

async fn lab() -> Lab {
    let options = LabOptions {
        tenants: Some(2),
        workloads: Some(1),
        faults: Vec::new(),
        seed: 7,
        clock: common::clock(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: true,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    Lab::start(options).await.unwrap()
}

fn program(args: &[&str]) -> (i32, String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
    let out = command.args(args).env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

fn render(screen: &str, dir: &Path, size: &str) -> String {
    let args = ["render", screen, "--from", dir.to_str().unwrap(), "--size", size, "--at", "2026-07-01T12:00:00Z"];
    let (code, out, err) = program(&args);
    assert_eq!(code, 0, "{screen}: {err}");
    let (again, same, _) = program(&args);
    assert!(again == 0 && same == out, "{screen} is another one the second time");
    out
}

/// The row of the leg called `name`.
fn leg<'s>(screen: &'s str, name: &str) -> &'s str {
    screen.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("no {name} in\n{screen}"))
}

/// What a check leaves of a healthy site, and of one whose Proxmox VE answers nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_is_drawn_without_its_site() {
    let lab = lab().await;
    let dir = tempfile::tempdir().unwrap();
    let site = lab.dir().join("site.toml").to_str().unwrap().to_owned();
    let keep = |words: &'static [&'static str], name: &str| {
        let (site, to) = (site.clone(), dir.path().join(name));
        tokio::task::spawn_blocking(move || {
            let start = ["--site", site.as_str(), "check"];
            let args: Vec<&str> = start.iter().chain(words).copied().chain(["--save", to.to_str().unwrap()]).collect();
            let (code, ..) = program(&args);
            (code, to)
        })
    };
    let (code, all) = keep(&["all"], "all").await.unwrap();
    assert_eq!(code, 0, "the lab is healthy");
    lab.fault_on("pve-down").unwrap();
    let (_, dark) = keep(&["egress"], "dark").await.unwrap();
    let (_, eds) = keep(&["egress", "eds"], "eds").await.unwrap();
    let (_, owed) = keep(&["contract"], "contract").await.unwrap();
    lab.shutdown().await;

    let path = render("diagnose", &all, "120x40");
    assert!(leg(&path, "leaves by transit").contains("pass") && path.contains("packets of 2 of 2 tenants"), "{path}");
    assert!(leg(&path, "internet answers").contains("`internet` in the site file"), "it says why:\n{path}");
    assert!(render("contract", &all, "120x40").contains("28 clauses kept"));
    assert!(render("isolation", &all, "80x24").contains("2 pairs"));
    assert!(render("evidence", &all, "80x24").contains("evidence 1 of"));

    for bundle in [&dark, &eds] {
        let path = render("path", bundle, "120x40");
        for name in ["workload runs", "VRF up", "leaves by transit", "SNAT rule", "transit forwards", "gateway answers"]
        {
            assert!(leg(&path, name).contains("unknown"), "{name}:\n{path}");
        }
        assert!(leg(&path, "nothing on management").contains("not run here"), "{path}");
    }
    let contract = render("contract", &owed, "120x40");
    assert!(contract.contains("contract with every tenant: 0 of") && contract.contains("? N1"), "{contract}");
    assert!(render("finding", &dark, "80x24").contains("source-unreachable"));
    assert!(render("isolation", &dark, "80x24").contains("no pair looked at"));
}

#[test]
fn what_a_bundle_lacks_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let refused = |args: &[&str], words: &str| {
        let (code, _, err) = program(args);
        assert!(code == 2 && err.contains(words), "{args:?}: {code} {err}");
    };
    refused(&["render", "diagnose", "--from", at], "inputs.json");
    std::fs::write(dir.path().join("inputs.json"), "{\"items\": []}").unwrap();
    refused(&["render", "diagnose", "--from", at], "holds no site.toml");
    refused(&["render", "diagnos", "--from", at], "did you mean diagnose?");
    refused(&["render", "diagnose", "--demo"], "--save DIR");
}
