//! One name at every vantage point, in the real program on a lab with all its servers.

use std::path::PathBuf;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use tokio::runtime::Runtime;

use crate::{CONSOLE, Home, leave, started};

const ESC: &str = "\x1b";

/// A lab of everything, and the runtime it lives in.
struct Servers {
    lab: Lab,
    runtime: Runtime,
}

impl Servers {
    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let options = LabOptions {
            tenants: None,
            workloads: None,
            faults: Vec::new(),
            seed: 7,
            clock: deevnet_console::runtime::clock::system(),
            program: PathBuf::from(CONSOLE),
            second_half: true,
            release: Release::default(),
            writable: false,
            pace: Pace::Clock,
            dir: None,
        };
        let lab = runtime.block_on(Lab::start(options)).unwrap();
        Self { lab, runtime }
    }

    fn site(&self) -> String {
        self.lab.dir().join("site.toml").display().to_string()
    }

    fn stop(self) {
        self.runtime.block_on(self.lab.shutdown());
    }
}

#[test]
fn a_record_is_resolved_broken_and_resolved_again() {
    let (home, servers) = (Home::new(), Servers::start());
    let mut pty = started(home.console(&["--site", &servers.site()]));
    pty.press(":resolve tdemo/app\r", "[app.tdemo.mobile.deevnet.net A]");
    pty.wait_until("three places that answer as derived", |pty| pty.text().matches("✓ as expected").count() >= 3);
    pty.wait_for("FROM vrf_tdemo");
    assert!(pty.text().contains("[resolvers] names no substrate"), "{}", pty.text());
    // The resolver takes private addresses out: the authority is right, the perimeter is not, from here or from the VRF.
    servers.lab.fault_on("rebind-filtered@tdemo").unwrap();
    pty.press("r", "answers differ");
    pty.wait_until("both ways to the perimeter differ", |pty| pty.text().matches("≠ differs").count() >= 2);
    assert!(pty.text().contains("– none"), "{}", pty.text());
    servers.lab.fault_off("rebind-filtered").unwrap();
    // One that is dead holds up nobody.
    servers.lab.fault_on("resolver-down").unwrap();
    pty.press("r", "✓ as expected");
    pty.wait_for("… 1s");
    assert!(pty.text().contains("asking"), "the others are there before the silent one: {}", pty.text());
    pty.send(ESC.as_bytes());
    pty.wait_for("given up");
    pty.press("ga", "probes by you · 3");
    pty.wait_for("answers differ");
    pty.wait_for("given up by you");
    leave(pty);
    servers.stop();
}

#[test]
fn a_row_is_asked_for_at_eighty_columns() {
    let (home, servers) = (Home::new(), Servers::start());
    let mut pty = home.console(&["--site", &servers.site()]).size(80, 24).start();
    pty.wait_for("▸ 1 tdemo");
    pty.press("\r", "[Workloads");
    pty.press("R", "VANTAGE");
    pty.wait_until("three places that answer as derived", |pty| pty.text().matches("✓ as expected").count() >= 3);
    servers.lab.fault_on("auth-down").unwrap();
    pty.press("r", "… 1s");
    pty.press(ESC, "given up");
    pty.press(ESC, "[Workloads");
    leave(pty);
    servers.stop();
}
