//! Changes by keyboard, on a lab that may be written.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::pty::Pty;
use crate::{CONSOLE, Home, leave};

/// A lab without tenants as a process of its own: it outlives the console.
struct Lab {
    child: Child,
    site: String,
}

impl Lab {
    fn start(home: &Home) -> Self {
        let site = home.path("lab.toml").display().to_string();
        let mut child = Command::new(CONSOLE)
            .args(["lab", "--site-out", &site, "--writable", "--tenants", "0"])
            .env("HOME", home.path(""))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().contains("serves on loopback"));
        // Nobody may find the pipe closed.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, site }
    }

    fn fault(&self, home: &Home, switch: &str, fault: &str) {
        let mut command = Command::new(CONSOLE);
        command.args(["--site", &self.site, "lab", "fault", switch, fault]).env("HOME", home.path(""));
        assert!(command.status().unwrap().success(), "{fault} {switch}");
    }

    /// The node that carries tenants.
    fn node(&self) -> String {
        let text = std::fs::read_to_string(&self.site).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("node = \"")).unwrap();
        line.trim_end_matches('"').to_owned()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }
}

/// The plan of a new tenant on screen, in write mode.
fn planned(pty: &mut Pty) {
    pty.press("p", "Onboard a tenant");
    pty.press("picow", "picow can go on to its plan");
    pty.press("\r", "not yet: read-only: w first");
    pty.press("A", "apply the plan: read-only: w first");
    pty.press("w", "WRITE 30m");
}

fn journal(home: &Home) -> String {
    let dir = std::fs::read_dir(home.path("deevnet-console")).unwrap().next().unwrap().unwrap().path();
    std::fs::read_to_string(dir.join("journal/C-0001.jsonl")).unwrap()
}

#[test]
fn a_plan_is_looked_at_applied_and_taken_back_by_keyboard() {
    let home = Home::new();
    let mut pty = home.console(&["demo", "--writable", "--tenants", "0"]).start();
    pty.wait_for("Tenants 0/62");
    pty.wait_for("EXIT ● <");
    planned(&mut pty);
    pty.press("\r", "way back");
    pty.press("\x1b", "15 steps, 14 to do");
    pty.press("A", "C-0001 finished");
    pty.wait_for("15 of 15 steps verified");
    pty.press("u", "Undo C-0001");
    pty.wait_for("A asks for the name");
    pty.press("A", "Type picow to run it");
    pty.press("picow", "the name is complete");
    pty.press("D", "C-0002 finished");
    pty.press("gj", "Journal · 2");
    assert!(!home.path("deevnet-console").exists(), "a demo leaves no journal");
    leave(pty);
}

#[test]
fn a_session_that_is_lost_in_the_middle_is_taken_up_by_the_next_one() {
    let home = Home::new();
    let lab = Lab::start(&home);
    let fault = format!("apply-misses-node@{}", lab.node());
    lab.fault(&home, "on", &fault);
    let mut pty = home.console(&["--site", &lab.site]).start();
    pty.wait_for("Tenants 0/62");
    pty.wait_for("EXIT ● <");
    planned(&mut pty);
    // The apply was sent, and is looked for on a node that it does not reach.
    pty.press("A", "1 change running");
    pty.wait_for("step 13 of 15");
    pty.signal(Signal::HUP);
    assert_eq!(pty.wait_ended().exit_status(), Some(129));
    pty.assert_nothing_left_behind();
    let told = journal(&home);
    assert!(told.contains("interrupted") && !told.contains("closed"), "{told}");

    lab.fault(&home, "off", &fault);
    let mut pty = home.console(&["--site", &lab.site]).start();
    pty.wait_for("A change was cut off");
    pty.wait_for("✓ as wanted");
    pty.press("1", "not yet: read-only: w first");
    pty.press("w", "WRITE 30m");
    pty.press("A", "C-0001 finished");
    pty.press("gj", "✓ done");
    assert!(journal(&home).contains("\"how\":\"done\""));
    leave(pty);
}

#[test]
fn a_key_is_handed_over_and_never_drawn() {
    use std::os::unix::fs::MetadataExt as _;
    let home = Home::new();
    let mut pty = home.console(&["demo", "--tenants", "2"]).start();
    pty.wait_for("Tenants 2/62");
    pty.wait_for("DNS ● <");
    pty.press("H", "Hand over tdemo");
    pty.wait_for("2 and 3 fetch that of tdemo's key");
    let file = home.path("tdemo.key");
    pty.press("2", "Save the update key");
    pty.press(&format!("\x15{}", file.display()), "tdemo.key");
    pty.press("\r", "only yours to read");
    let key = std::fs::read_to_string(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o7777, 0o600);
    let secret = key.split('"').nth(3).unwrap().to_owned();
    assert!(key.starts_with("key \"tdemo\" { algorithm hmac-sha256;") && secret.len() > 20, "{key}");
    // The same again is refused, and the file left as it is.
    pty.press("2", "Save the update key");
    pty.press(&format!("\x15{}", file.display()), "tdemo.key");
    pty.press("\r", "is there already");
    pty.press("\x1b", "3 secret to the clipboard");
    pty.press("3", "sent to the terminal's clipboard");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), key);
    let told = String::from_utf8_lossy(pty.bytes()).into_owned();
    assert!(!told.contains(&secret), "the secret was drawn");
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &secret);
    assert!(told.contains(&format!("\x1b]52;c;{encoded}")), "it went to the clipboard");
    leave(pty);
}
