//! A fault of one tenant, found and explained by the real program on a lab.

use std::path::PathBuf;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use tokio::runtime::Runtime;

use crate::{CONSOLE, Home, leave, started};

#[test]
fn x_shows_which_leg_is_broken_and_the_board_keeps_the_verdict() {
    let (home, runtime) = (Home::new(), Runtime::new().unwrap());
    let options = LabOptions {
        tenants: Some(3),
        workloads: Some(2),
        faults: vec!["snat-missing@eds".to_owned()],
        seed: 7,
        clock: deevnet_console::runtime::clock::system(),
        program: PathBuf::from(CONSOLE),
        second_half: false,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    let lab = runtime.block_on(Lab::start(options)).unwrap();
    let site = lab.dir().join("site.toml").display().to_string();
    let mut pty = started(home.console(&["--site", &site]));
    pty.press("j", "▸ 2 eds");
    pty.press("x", "Path · eds → internet");
    pty.wait_for("✗ fail");
    pty.wait_for("SNAT is asked for by tenant eds");
    assert!(pty.text().contains("▸ 7 SNAT rule"), "{}", pty.text());
    assert!(pty.text().contains("◇ not run here"), "{}", pty.text());
    pty.press("\r", "[Evidence]");
    pty.wait_for("subnet.snat");
    // Another tenant has no part in it.
    pty.press(":check egress tdemo\r", "Path · tdemo → internet");
    pty.wait_for("no fault found");
    assert!(!pty.text().contains("✗ fail"), "{}", pty.text());
    pty.press("ga", "check egress of eds");
    pty.press("gt", "egress ✗");
    // Without a perimeter nobody can say what is beyond the gateway.
    pty.press("k", "egress ?");
    leave(pty);
    // The verb judges by the same measure.
    let run = |what: &[&str]| std::process::Command::new(CONSOLE).args(["--site", &site]).args(what).output().unwrap();
    let (eds, tdemo) = (run(&["check", "egress", "eds"]), run(&["check", "egress", "tdemo"]));
    assert_eq!(eds.status.code(), Some(1), "{eds:?}");
    assert_eq!(tdemo.status.code(), Some(3), "{tdemo:?}");
    assert!(!String::from_utf8_lossy(&tdemo.stdout).contains("snat-missing"), "{tdemo:?}");
    assert!(String::from_utf8_lossy(&tdemo.stderr).contains("1 finding about other tenants left out"), "{tdemo:?}");
    assert_eq!(run(&["check", "egress", "nobody"]).status.code(), Some(2), "nobody is called that");
    runtime.block_on(lab.shutdown());
}

fn lab(runtime: &Runtime, faults: &[&str]) -> Lab {
    let options = LabOptions {
        tenants: Some(3),
        workloads: Some(2),
        faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
        seed: 7,
        clock: deevnet_console::runtime::clock::system(),
        program: PathBuf::from(CONSOLE),
        second_half: false,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    runtime.block_on(Lab::start(options)).unwrap()
}

/// The console on `lab`, with the path of eds on screen.
fn checked(home: &Home, lab: &Lab) -> crate::Pty {
    let site = lab.dir().join("site.toml").display().to_string();
    let mut pty = started(home.console(&["--site", &site]));
    pty.press("j", "▸ 2 eds");
    pty.press("x", "Path · eds → internet");
    pty
}

/// The row of a leg.
fn leg(pty: &crate::Pty, name: &str) -> String {
    pty.text().lines().find(|line| line.contains(name)).unwrap_or_default().to_owned()
}

#[test]
fn a_fault_that_comes_while_the_screen_is_open_changes_the_headline() {
    let (home, runtime) = (Home::new(), Runtime::new().unwrap());
    let lab = lab(&runtime, &[]);
    let mut pty = checked(&home, &lab);
    pty.wait_for("no fault found");
    assert!(leg(&pty, "5 default route").contains("via 10.20.50.1 dev vmbr0.50"), "{}", pty.text());
    // What goes on now stands beside, and says what it is.
    pty.wait_for("unanswered");
    assert!(pty.text().contains("activity, not health"), "{}", pty.text());
    lab.fault_on("snat-missing@eds").unwrap();
    pty.press("r", "SNAT is asked for by tenant eds");
    pty.wait_for("Found at leg 7 of 12");
    lab.fault_off("snat-missing@eds").unwrap();
    pty.press("r", "no fault found");
    // A node that does not answer breaks no leg: nothing is known of those that are looked at there.
    lab.fault_on("exit-down").unwrap();
    pty.press("r", "cannot be asked");
    pty.wait_until("every leg of the node is unknown", |pty| {
        ["4 VRF up", "5 default route", "7 SNAT rule", "8 transit forwards"]
            .iter()
            .all(|name| leg(pty, name).contains("? unknown"))
    });
    assert!(leg(&pty, "3 zone and VNet").contains("✓ pass"), "{}", pty.text());
    assert!(!pty.text().contains("✗ fail"), "{}", pty.text());
    let banners = pty.text().lines().filter(|line| line.starts_with(" ✗ The exit node")).count();
    assert_eq!(banners, 1, "{}", pty.text());
    leave(pty);
    runtime.block_on(lab.shutdown());
}

#[test]
fn legs_come_one_by_one_and_what_came_stays_when_the_rest_is_given_up() {
    let (home, runtime) = (Home::new(), Runtime::new().unwrap());
    let lab = lab(&runtime, &["exit-slow"]);
    let mut pty = checked(&home, &lab);
    pty.wait_until("Proxmox has answered and the exit node has not", |pty| {
        leg(pty, "3 zone and VNet").contains("✓ pass") && leg(pty, "7 SNAT rule").contains("… asking")
    });
    pty.press("j", "evidence · leg");
    pty.press("\x1b", "given up by you");
    pty.wait_until("what did not come is unknown", |pty| leg(pty, "7 SNAT rule").contains("? unknown"));
    assert!(leg(&pty, "3 zone and VNet").contains("✓ pass"), "{}", pty.text());
    assert!(leg(&pty, "7 SNAT rule").contains("given up by you"), "{}", pty.text());
    pty.press("\x1b", "2 of 2 running");
    pty.press("ga", "given up by you");
    leave(pty);
    runtime.block_on(lab.shutdown());
}

#[test]
fn the_evidence_is_read_searched_and_kept_and_says_the_same_again() {
    let (home, runtime) = (Home::new(), Runtime::new().unwrap());
    let lab = lab(&runtime, &["snat-missing@eds"]);
    let mut pty = checked(&home, &lab);
    pty.wait_for("Found at leg 7 of 12");
    pty.press("\r", "evidence 1 of");
    pty.wait_for("snat.rule");
    pty.press("/", "as before");
    pty.press("exit-node 1", "▏");
    pty.press("\r", "/exit-node 1");
    pty.press("\x1b", "Path · eds → internet");
    let kept = home.path("kept");
    pty.press("S", "bundles/egress-eds-");
    pty.send(b"\x1b");
    pty.wait_gone("Save the evidence");
    pty.press(&format!(":save-bundle {}\r", kept.display()), "kept in");
    pty.press("ga", "save ");
    leave(pty);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&kept).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
    let run = |what: &[&str]| std::process::Command::new(CONSOLE).args(what).output().unwrap();
    let site = lab.dir().join("site.toml").display().to_string();
    let again = run(&["explain", &kept.display().to_string(), "-o", "json"]);
    let live = run(&["--site", &site, "check", "egress", "eds", "-o", "json"]);
    let ids = |output: &std::process::Output| {
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let all = value["findings"].as_array().unwrap().clone();
        all.iter().map(|f| format!("{} {}", f["id"], f["subject"])).collect::<Vec<_>>()
    };
    assert_eq!(ids(&again), ids(&live));
    assert!(ids(&again)[0].contains("snat-missing"), "{:?}", ids(&again));
    runtime.block_on(lab.shutdown());
}
