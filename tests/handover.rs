//! `tenant handover` of the program itself, against a lab: everything a tenant's people need, and the secret in a file alone.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test stops at the first surprise, and says what it skips"
)]

mod change_common;

use std::os::unix::fs::MetadataExt as _;

use change_common::Options;
use deevnet_console::lab::Lab;
use serde_json::Value;

async fn lab() -> Lab {
    let two = Options { workloads: Some(2), moved: false, ..Options::tenants(2) };
    two.lab().await.0
}

async fn run(lab: &Lab, args: &[&str]) -> (i32, String, String) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
    command.arg("--site").arg(lab.dir().join("site.toml")).args(args);
    command.env("LC_ALL", "C.UTF-8").env("HOME", lab.dir()).env("XDG_STATE_HOME", lab.dir().join("state"));
    let out = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

/// The example on the sheet is run as it stands, beside the key.
async fn example(lab: &Lab, sheet: &str) {
    let lines = sheet.lines().filter_map(|line| line.strip_prefix("    "));
    let script = lines.collect::<Vec<_>>().join("\n");
    assert!(script.starts_with("nsupdate"), "{sheet}");
    let found = tokio::process::Command::new("nsupdate").arg("-V").output().await;
    if found.is_err() {
        eprintln!("SKIPPED the example on the sheet: nsupdate is not installed");
        return;
    }
    let mut command = tokio::process::Command::new("bash");
    let done = command.arg("-c").arg(&script).current_dir(lab.dir()).output().await.unwrap();
    assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
    let (_, text, said) = run(lab, &["get", "records", "--tenant", "tdemo"]).await;
    assert!(text.lines().any(|line| line.contains(" www ") && line.contains("10.20.129.10")), "{text}{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sheet_has_everything_and_the_secret_is_in_the_file_alone() {
    let lab = lab().await;
    let file = lab.dir().join("tdemo.key");
    let named = file.display().to_string();
    let (code, text, said) = run(&lab, &["tenant", "handover", "tdemo", "--key-file", &named]).await;
    assert_eq!(code, 0, "{text}{said}");
    for want in [
        "# Tenant tdemo on site",
        "- subnet: 10.20.129.0/24",
        "- update key: tdemo, hmac-sha256",
        "nsupdate -v -k tdemo.key",
        "| app.tdemo.mobile.deevnet.net | 10.20.129.10 | 2040 |",
        "## At the perimeter",
    ] {
        assert!(text.contains(want), "{want}: {text}");
    }
    assert!(!text.contains("unknown:"), "{text}");
    let key = std::fs::read_to_string(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o7777, 0o600);
    let secret = key.split('"').nth(3).unwrap();
    assert!(secret.len() > 20 && !text.contains(secret) && !said.contains(secret), "{said}");

    example(&lab, &text).await;

    let (code, text, said) = run(&lab, &["tenant", "handover", "tdemo", "--key-file", &named]).await;
    assert!(code == 4 && said.contains("is there already"), "{code}: {text}{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), key);

    // After a rotation has begun the newer key is the one, and signs an update.
    let (code, _, said) = run(&lab, &["tsig", "begin", "tdemo", "--write", "--yes"]).await;
    assert_eq!(code, 0, "{said}");
    let next = lab.dir().join("tdemo-2.key").display().to_string();
    let (code, text, said) = run(&lab, &["tenant", "handover", "tdemo", "--json", "--key-file", &next]).await;
    assert_eq!(code, 0, "{text}{said}");
    let json: Value = serde_json::from_str(&text).unwrap();
    let told = &json["sheet"]["names"]["key"];
    assert_eq!(
        (json["schema"].as_str(), told["name"].as_str()),
        (Some("deevnet-console/tenant-handover/v1"), Some("tdemo-2"))
    );
    assert_eq!(told["also"][0], "tdemo");
    let set =
        ["record", "set", "tdemo", "shop", "10.20.129.30", "--via", "update", "--key-file", &next, "--write", "--yes"];
    let (code, text, said) = run(&lab, &set).await;
    assert_eq!(code, 0, "{text}{said}");
    let (code, text, said) = run(&lab, &set).await;
    assert!(code == 0 && !said.contains("verified"), "a second run does nothing: {text}{said}");
    let (code, text, said) = run(&lab, &["get", "records", "--tenant", "tdemo"]).await;
    assert!(text.contains("shop") && text.contains("10.20.129.30"), "{code}: {text}{said}");

    let (code, _, said) = run(&lab, &["tenant", "handover", "nobody"]).await;
    assert!(code == 2 && said.contains("no tenant is called"), "{code}: {said}");
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_api_the_key_is_unknown_and_no_file_is_made() {
    let lab = lab().await;
    lab.fault_on("dns-api-denied").unwrap();
    let file = lab.dir().join("tdemo.key");
    let (code, text, said) = run(&lab, &["tenant", "handover", "tdemo"]).await;
    assert!(code == 3 && text.contains("- update key: unknown: "), "{code}: {text}{said}");
    assert!(text.contains("- subnet: 10.20.129.0/24"), "{text}");
    let named = file.display().to_string();
    let (code, _, said) = run(&lab, &["tenant", "handover", "tdemo", "--key-file", &named]).await;
    assert!(code == 3 && said.contains("no key was written") && !file.exists(), "{code}: {said}");
    lab.shutdown().await;
}
