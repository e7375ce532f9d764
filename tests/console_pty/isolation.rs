//! The isolation table of the real program on a lab: a leak that comes and goes, and a pasted result.

use std::path::PathBuf;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use tokio::runtime::Runtime;

use crate::{CONSOLE, Home, leave, started};

fn ping(ip: &str, received: u8) -> String {
    format!(
        "PING {ip} ({ip}) 56(84) bytes of data.\r\r--- {ip} ping statistics ---\r3 packets transmitted, {received} received, \
         0% packet loss, time 2043ms\r"
    )
}

#[test]
fn a_leak_is_red_until_it_is_gone_and_a_pasted_result_is_the_second_mark() {
    let (home, runtime) = (Home::new(), Runtime::new().unwrap());
    let options = LabOptions {
        tenants: Some(3),
        workloads: Some(2),
        faults: vec!["inter-tenant-leak@tdemo".to_owned()],
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
    let site = lab.dir().join("site.toml").display().to_string();
    let mut pty = started(home.console(&["--site", &site]));
    pty.press(":check isolation\r", "Diagnose › isolation");
    pty.wait_for("✗ ◇");
    pty.wait_for("eds → tdemo is open");
    assert!(pty.text().contains("▸eds"), "{}", pty.text());
    lab.fault_off("inter-tenant-leak@tdemo").unwrap();
    pty.press("r", "every barrier stands by routes and rules");
    assert!(!pty.text().contains("✗ ◇"), "{}", pty.text());
    // The cursor is on the same cell still; what is pasted says how it is read before it counts.
    pty.press("m", "Paste a result · eds → tdemo");
    let tcp = "nc: connect to 10.20.129.10 port 22 (tcp) timed out: Operation now in progress\r";
    let all = [ping("10.20.130.1", 3), ping("10.20.129.10", 0), tcp.to_owned(), ping("10.20.129.1", 0)].concat();
    pty.press(&format!("\u{1b}[200~{all}\u{1b}[201~"), "enter takes it");
    assert!(pty.text().contains("✓ tcp 10.20.129.10:22: timeout"), "{}", pty.text());
    pty.press("\r", "✓ ✓");
    pty.press("\r", "a person's word, not measured here");
    leave(pty);
    runtime.block_on(lab.shutdown());
}
