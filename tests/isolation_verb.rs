//! `check isolation --matrix`, `--pasted` and `explain` of the program itself, against a lab.

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
        workloads: Some(2),
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

async fn run(lab: &Lab, args: &[&str]) -> (i32, String, String) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
    command.arg("--site").arg(lab.dir().join("site.toml")).args(args);
    let out = command.env("LC_ALL", "C.UTF-8").env("LOGNAME", "amy").output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

fn ping(ip: &str, received: u8) -> String {
    format!(
        "PING {ip} ({ip}) 56(84) bytes of data.\n\n--- {ip} ping statistics ---\n3 packets transmitted, {received} received, \
         0% packet loss, time 2043ms\n"
    )
}

/// What a workload of tdemo shows when nothing of eds answers.
fn lost() -> String {
    format!(
        "from: tdemo/app\nby: bob\n\n{}{}nc: connect to 10.20.130.10 port 22 (tcp) timed out: Operation now in progress\n\
         tcp 10.20.130.10:22 exit 1\n{}",
        ping("10.20.129.1", 3),
        ping("10.20.130.10", 0),
        ping("10.20.130.1", 0)
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_table_is_markdown_for_a_change_record() {
    let lab = lab().await;
    let (code, text, said) = run(&lab, &["check", "isolation", "--matrix"]).await;
    assert_eq!(code, 0, "{text}{said}");
    assert!(text.contains("| tdemo | ✓ ◇ ✓ | – |") && text.contains("| eds | – | ✓ ◇ ✓ |"), "{text}");
    for want in [
        "run by amy, deevnet-console",
        "2 ordered pairs of tenants, 2 of them looked up",
        "2 of 2 pairs isolated by packets",
        "- in workload app of tdemo:",
        "  - `ping -c 3 -W 1 10.20.130.10`",
        "on a host of segment iot:",
    ] {
        assert!(text.contains(want), "{want}: {text}");
    }
    assert!(!text.contains("? ◇"), "{text}");
    lab.fault_on("inter-tenant-leak@tdemo").unwrap();
    let (code, text, _) = run(&lab, &["check", "isolation", "--matrix"]).await;
    assert!(
        code == 1 && text.contains("✗ ◇ ✗") && text.contains("tdemo → eds: vrf_tdemo delivers to 10.20.130.0/24"),
        "{text}"
    );
    lab.fault_off("inter-tenant-leak@tdemo").unwrap();
    lab.fault_on("hairpin-leak@tdemo").unwrap();
    let (_, text, _) = run(&lab, &["check", "isolation", "tdemo", "--matrix"]).await;
    assert!(text.contains("! ◇") && text.contains("only the firewall still separates tdemo from eds"), "{text}");
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pasted_results_count_as_pasted_and_stay_in_the_bundle() {
    let lab = lab().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("results.txt");
    let path = file.display().to_string();
    std::fs::write(&file, lost()).unwrap();
    let bundle = dir.path().join("bundle").display().to_string();
    let args = ["check", "isolation", "--matrix", "--pasted", &path, "--save", &bundle];
    let (code, text, said) = run(&lab, &args).await;
    assert_eq!(code, 0, "{text}{said}");
    assert!(said.contains("read as ping 10.20.130.10: timeout"), "{said}");
    assert!(text.contains("| tdemo | ✓ ✓ ✓ | – |"), "{text}");
    assert!(text.contains("run in tdemo/app, pasted by bob by way of results.txt"), "{text}");
    let (code, text, said) = run(&lab, &["explain", &bundle]).await;
    assert!(code == 0 && text.contains("pasted by bob from tdemo/app"), "{code} {text}{said}");
    let (_, text, _) = run(&lab, &["explain", &bundle, "--matrix", "-o", "json"]).await;
    let found: Value = serde_json::from_str(&text).unwrap();
    let cells = found["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["from"] == "tdemo" && cell["to"] == "eds").unwrap();
    assert_eq!(
        (&cell["routes_and_rules"], &cell["traffic"]["state"]),
        (&"blocked".into(), &"blocked".into()),
        "{cell:#}"
    );
    assert_eq!(found["pasted"][0]["by"], "bob");
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_got_through_is_a_fault_and_what_does_not_fit_is_refused() {
    let lab = lab().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("results.txt");
    let path = file.display().to_string();
    let refused = "from: tdemo/app\n\nnc: connect to 10.20.130.10 port 22 (tcp) failed: Connection refused\n";
    std::fs::write(&file, refused).unwrap();
    let (code, text, said) = run(&lab, &["check", "isolation", "--pasted", &path, "-o", "json"]).await;
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &found["headline"]["id"]), (1, &"pasted-leak".into()), "{found:#}{said}");
    assert_eq!(found["pasted"][0]["from"], "tdemo/app", "{found:#}");
    for (text, why) in [
        ("from: tdemo\n\nhello\n", "no output of ping"),
        ("from: nobody\n\ntcp 10.20.130.10:22 exit 0\n", "nothing is to be run in nobody"),
        ("from: tdemo\n\ntcp 192.0.2.1:22 exit 0\n", "this is tcp 192.0.2.1:22"),
        ("nothing here", "no `key: value`"),
        ("", "no pasted result"),
    ] {
        std::fs::write(&file, text).unwrap();
        let (code, out, said) = run(&lab, &["check", "isolation", "--pasted", &path]).await;
        assert!(code == 2 && said.contains(why) && out.is_empty(), "{text:?}: {code} {out}{said}");
    }
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn legs_of_the_path_take_pasted_results_too() {
    let lab = lab().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("results.txt");
    let path = file.display().to_string();
    std::fs::write(&file, format!("from: tdemo/app\n\n{}", ping("10.20.129.1", 0))).unwrap();
    let (code, text, said) = run(&lab, &["check", "egress", "tdemo", "--pasted", &path]).await;
    assert!(code == 1 && text.contains("workload-gateway-silent"), "{code} {text}{said}");
    std::fs::write(&file, format!("from: tdemo/app\n\n{}", ping("10.20.129.1", 3))).unwrap();
    let (code, text, said) = run(&lab, &["check", "egress", "tdemo", "--pasted", &path]).await;
    assert!(code == 0 && text.contains("pasted by amy from tdemo/app"), "{code} {text}{said}");
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tenants_are_not_told_apart_by_a_node_that_is_not_read_or_routes_nothing() {
    let lab = lab().await;
    let (code, text, said) = run(&lab, &["check", "all"]).await;
    assert!(code == 0 && !text.contains("0 kept"), "a healthy site is green: {text}{said}");
    for (fault, says) in [("exit-down", "cannot be asked"), ("frr-down", "FRR")] {
        lab.fault_on(fault).unwrap();
        for tenant in [None, Some("eds")] {
            let args: Vec<&str> = ["check", "isolation"].into_iter().chain(tenant).collect();
            let (code, text, _) = run(&lab, &args).await;
            assert!(code == 1 && text.contains(says), "{fault} {tenant:?}: {code} {text}");
        }
        lab.fault_off(fault).unwrap();
    }
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_cannot_be_used_is_not_told_as_silence() {
    let lab = lab().await;
    let file = lab.dir().join("site.toml");
    let whole = std::fs::read_to_string(&file).unwrap();
    for (section, check) in [("[proxmox]", "fabric"), ("[opnsense]", "perimeter"), ("[powerdns]", "dns")] {
        let at = whole.find(section).unwrap();
        let secret = at + whole[at..].find("{ file = \"").unwrap() + "{ file = \"".len();
        std::fs::write(&file, format!("{}/none{}", &whole[..secret], &whole[secret..])).unwrap();
        let (code, text, said) = run(&lab, &["check", check]).await;
        assert!(code == 1 && text.contains("cannot be asked"), "{section}: {code} {text}{said}");
        assert!(text.contains("cannot be read") && !text.contains("power, network"), "{section}: {text}");
    }
    lab.shutdown().await;
}

/// Cells of a table as JSON, by sender and receiver.
async fn packets(lab: &Lab, from: &str, to: &str) -> (i32, Value) {
    let (code, text, said) = run(lab, &["check", "isolation", "--matrix", "-o", "json"]).await;
    let found: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{said}"));
    let cells = found["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["from"] == from && cell["to"] == to).unwrap();
    (code, cell["packets"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_from_the_exit_node_tell_every_pair() {
    let lab = lab().await;
    let (code, came) = packets(&lab, "tdemo", "eds").await;
    assert_eq!((code, &came["state"]), (0, &"isolated".into()), "{came}");
    assert!(came["what"][0].as_str().unwrap().contains("vrf_tdemo lets nothing leave to 10.20.130.10"), "{came}");
    lab.fault_on("inter-tenant-leak@tdemo").unwrap();
    for (from, to) in [("tdemo", "eds"), ("eds", "tdemo")] {
        let (code, came) = packets(&lab, from, to).await;
        assert_eq!((code, &came["state"]), (1, &"answered".into()), "{from} {to}: {came}");
    }
    let (_, text, _) = run(&lab, &["check", "isolation", "-o", "json"]).await;
    let found: Value = serde_json::from_str(&text).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let leak = findings.iter().find(|f| f["id"] == "packet-leak").unwrap_or_else(|| panic!("{found:#}"));
    assert!(leak["caused_by"].to_string().contains("inter-tenant-leak"), "{leak:#}");
    lab.fault_off("inter-tenant-leak@tdemo").unwrap();
    // Out by the default route: it left, and nothing of it came back.
    lab.fault_on("hairpin-leak@tdemo").unwrap();
    let (_, came) = packets(&lab, "tdemo", "eds").await;
    assert_eq!(came["state"], "isolated", "{came}");
    assert!(came["what"][0].as_str().unwrap().contains("left as 10.20.50.22"), "{came}");
    // Without the router beyond, that nothing came back proves nothing.
    lab.fault_on("gateway-unreachable").unwrap();
    let (_, came) = packets(&lab, "tdemo", "eds").await;
    assert_eq!(came["state"], "not-proven", "{came}");
    assert!(came["what"].as_str().unwrap().contains("the router does not answer"), "{came}");
    lab.fault_off("gateway-unreachable").unwrap();
    lab.fault_off("hairpin-leak@tdemo").unwrap();
    lab.fault_on("exit-denied").unwrap();
    let (_, came) = packets(&lab, "tdemo", "eds").await;
    assert_eq!(came["state"], "not-proven", "{came}");
    let (code, text, _) = run(&lab, &["check", "isolation", "eds"]).await;
    assert!(code != 0 && text.contains("whether packets of tenant eds reach another tenant"), "{code} {text}");
    assert!(!text.contains("/tmp/"), "a path of the lab's own: {text}");
    lab.shutdown().await;
}
