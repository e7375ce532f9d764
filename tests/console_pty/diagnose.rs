//! A fault of one tenant, found and explained by the real program on a lab.

use std::path::PathBuf;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions};
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
    pty.press("\r", "Evidence");
    pty.wait_for("subnet.snat");
    // Another tenant has no part in it.
    pty.press(":check egress tdemo\r", "Path · tdemo → internet");
    pty.wait_for("no fault found");
    assert!(!pty.text().contains("✗ fail"), "{}", pty.text());
    pty.press("ga", "check egress of eds");
    pty.press("gt", "egress ✗");
    pty.press("k", "egress ✓");
    leave(pty);
    // The verb judges by the same measure.
    let run = |what: &[&str]| std::process::Command::new(CONSOLE).args(["--site", &site]).args(what).output().unwrap();
    let (eds, tdemo) = (run(&["check", "egress", "eds"]), run(&["check", "egress", "tdemo"]));
    assert_eq!(eds.status.code(), Some(1), "{eds:?}");
    assert_eq!(tdemo.status.code(), Some(0), "{tdemo:?}");
    assert!(!String::from_utf8_lossy(&tdemo.stdout).contains("snat-missing"), "{tdemo:?}");
    assert!(String::from_utf8_lossy(&tdemo.stderr).contains("1 finding about other tenants left out"), "{tdemo:?}");
    assert_eq!(run(&["check", "egress", "nobody"]).status.code(), Some(3), "a tenant that is not there is not well");
    runtime.block_on(lab.shutdown());
}
