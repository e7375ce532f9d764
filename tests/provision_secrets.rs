//! No secret of the site is anywhere but where it was asked for: not in what the program prints, not on its screens, not in saved
//! plans, journals, logs or what a killed program leaves. The lab's answers carry them all.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "helpers of a test: a panic is its verdict"
)]

mod change_common;
mod pty;
#[path = "change_common/secrets.rs"]
mod secrets;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use base64::Engine as _;
use change_common::Options;
use deevnet_console::lab::Lab;
use deevnet_console::lab::gate::{Arrival, Gate, Way};
use deevnet_console::lab::state::World;
use pty::{Program, Pty};
use secrets::secrets;
use serde_json::json;

const CONSOLE: &str = env!("CARGO_BIN_EXE_deevnet-console");
/// What a machine's configuration carries: a password, and a token in the pointer to its check-in.
const PLANTED: [&str; 2] = ["C4N4RYpasswordOfAMachine", "c2VjcmV0LWNhbmFyeS1vZi1hLXRva2VuLTAxMjM0NTY3"];

/// Each machine has a password, and a pointer with a token, as whoever made it may have left them.
fn planted(world: &mut World) {
    let [password, token] = PLANTED;
    let base64 = base64::engine::general_purpose::STANDARD;
    let pointer = format!("dvb1;u=https://10.20.25.20:8443;n=picow/app;x=1795951200;t=dbt1.EXAMPLEEXAMPLE03.{token}");
    for guest in world.guests.values_mut() {
        guest.config.insert("cipassword".to_owned(), json!(password));
        let serial = base64.encode(&pointer);
        let uuid =
            guest.property("smbios1", "uuid").unwrap_or_else(|| "7f0c3f0e-0000-4000-8000-000000000001".to_owned());
        guest.config.insert("smbios1".to_owned(), json!(format!("uuid={uuid},serial={serial},base64=1")));
        guest.pending.insert("cipassword".to_owned(), json!(password));
    }
}

/// Everything that must not be seen, in each form it could be written down.
fn forbidden(world: &World) -> Vec<String> {
    let base64 = base64::engine::general_purpose::STANDARD_NO_PAD;
    let mut all = secrets(world);
    all.extend(PLANTED.iter().flat_map(|word| [(*word).to_owned(), base64.encode(word)]));
    // The lock of a running change is its owner's alone.
    all.extend(world.sdn.lock.clone());
    all
}

struct Bench {
    lab: Lab,
    home: tempfile::TempDir,
    /// What was seen, and where.
    seen: Vec<(String, String)>,
    forbidden: Vec<String>,
}

impl Bench {
    async fn start() -> Self {
        let lab = Options::empty().lab().await.0;
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("site.toml"), lab.site_toml()).unwrap();
        let forbidden = forbidden(&lab.world());
        Self { lab, home, seen: Vec::new(), forbidden }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Secrets that came since count, and those that went still do.
    fn look(&mut self) {
        let now = forbidden(&self.lab.world());
        self.forbidden.extend(now);
        self.forbidden.sort();
        self.forbidden.dedup();
    }

    /// Runs the program, keeps what it prints, and gives its code.
    async fn run(&mut self, words: &[&str]) -> Option<i32> {
        let mut command = tokio::process::Command::new(CONSOLE);
        command.current_dir(self.home.path()).stdin(Stdio::null()).kill_on_drop(true);
        for (name, at) in [("HOME", ""), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")] {
            command.env(name, self.path(at));
        }
        command.args(["--site", "site.toml", "--log", "log"]).args(words);
        let output = command.output().await.unwrap();
        self.look();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        self.seen.push((format!("$ {}", words.join(" ")), text));
        output.status.code()
    }

    async fn runs(&mut self, words: &[&str]) {
        let code = self.run(words).await;
        assert_eq!(code, Some(0), "{:?}", self.seen.last());
    }

    /// Where a secret is.
    fn leaks(&self) -> Vec<String> {
        let mut all = self.seen.clone();
        all.extend(files(self.home.path()).into_iter().filter(|(path, _)| !path.ends_with("site.toml")));
        let lock = |line: &str| line.contains("\"key\":\"sdn-lock\"");
        let mut leaks = Vec::new();
        for (place, text) in all {
            // The token of a lock is noted in the journal, which is its owner's alone.
            let kept: String = text.lines().filter(|line| !(place.ends_with(".jsonl") && lock(line))).collect();
            let held = self.forbidden.iter().filter(|secret| kept.contains(*secret));
            leaks.extend(held.map(|secret| format!("{place}: {}…", secret.chars().take(4).collect::<String>())));
        }
        leaks
    }

    async fn end(self) {
        assert!(self.forbidden.len() > 24, "{}", self.forbidden.len());
        let leaks = self.leaks();
        assert!(leaks.is_empty(), "{}", leaks.join("\n"));
        // It is found where it is.
        let mut told = self;
        for secret in told.forbidden.clone() {
            told.seen = vec![("a text".to_owned(), format!("it is {secret}, they say"))];
            assert!(told.leaks().iter().any(|leak| leak.starts_with("a text")), "not found");
        }
        told.lab.shutdown().await;
    }
}

/// Everything below a directory.
fn files(dir: &Path) -> Vec<(String, String)> {
    let (mut all, mut left) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(path) = left.pop() {
        match std::fs::read_dir(&path) {
            Ok(rows) => left.extend(rows.map(|row| row.unwrap().path())),
            Err(_) => {
                let bytes = std::fs::read(&path).unwrap_or_default();
                all.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    all
}

/// What only looks, once there is a tenant.
const LOOKS: &[&[&str]] = &[
    &["get", "tenants", "-o", "json"],
    &["get", "workloads", "-o", "json"],
    &["get", "records", "--tenant", "picow", "-o", "json"],
    &["get", "checkins", "-o", "json"],
    &["tsig", "list", "-o", "json"],
    &["forward", "list", "-o", "json"],
    &["sdn", "status", "-o", "json"],
    &["tenant", "handover", "picow"],
    &["tenant", "handover", "picow", "--json"],
    &["check", "all", "--save", "evidence", "-o", "json"],
    &["check", "keys"],
    &["plan", "workload", "delete", "picow/app", "-o", "gone.json"],
    &["plan", "undo", "C-0001", "-o", "back.json"],
    &["journal", "-o", "json"],
    &["journal", "C-0001"],
    &["audit", "export"],
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_printed_saved_noted_and_logged_holds_no_secret() {
    let mut bench = Bench::start().await;
    bench.lab.edit(planted).unwrap();
    bench.runs(&["plan", "tenant", "create", "picow", "--workload", "app", "-o", "picow.json"]).await;
    bench.runs(&["apply", "picow.json", "--write", "--yes"]).await;
    bench.lab.edit(planted).unwrap();
    for words in LOOKS {
        bench.run(words).await;
        assert!(bench.seen.last().is_some_and(|(_, text)| !text.is_empty()), "{words:?} says something");
        assert!(!bench.seen.last().unwrap().1.contains("Usage:"), "{:?}", bench.seen.last());
    }
    bench.runs(&["tsig", "begin", "picow", "--write", "--yes"]).await;
    bench.runs(&["record", "set", "picow", "www", "10.20.129.10", "--via", "update", "--write", "--yes"]).await;
    bench.runs(&["tsig", "end", "picow", "--write", "--yes", "--confirm", "picow"]).await;
    // Why something failed is told in the words of whoever refused it.
    for fault in ["dns-api-denied", "dns-write-500", "answer-500", "dns-update-lost", "fw-denied", "token-expired"] {
        bench.lab.fault_on(fault).unwrap_or_else(|why| panic!("{fault}: {why}"));
        let mut codes = Vec::new();
        for words in TRIED {
            codes.push(bench.run(words).await);
            assert!(!bench.seen.last().unwrap().1.contains("Usage:"), "{:?}", bench.seen.last());
        }
        // What is lost, or answered with 500, is looked for and tried again; a right that is missing stays so.
        let told = codes.iter().take(TRIED.len() - 1).any(|code| *code != Some(0));
        assert!(
            told || !["dns-api-denied", "fw-denied", "token-expired"].contains(&fault),
            "{fault} is told: {codes:?}"
        );
        bench.lab.fault_off(fault).unwrap();
    }
    // A server that repeats what it was sent.
    for (to, words) in REPEATED {
        bench.lab.gate(Some(Arc::new(Repeats(to))));
        let code = bench.run(words).await;
        let (_, said) = bench.seen.last().unwrap();
        assert!(said.contains("what was sent is") && said.contains("********"), "{to} {words:?} {code:?}: {said}");
    }
    bench.lab.gate(None);
    let token = std::fs::read_to_string(bench.lab.dir().join("proxmox-writer-token")).unwrap();
    let secret = token.trim().rsplit('=').next().unwrap().to_owned();
    assert!(bench.forbidden.contains(&secret));
    bench.lab.edit(|world| world.tokens_refused = Some(format!("invalid token value {secret}"))).unwrap();
    for words in [&["get", "tenants"][..], &["tenant", "create", "shop", "--write", "--yes"]] {
        let code = bench.run(words).await;
        let (_, said) = bench.seen.last().unwrap();
        assert!(code != Some(0) && said.contains("invalid token value ****"), "{words:?} {code:?}: {said}");
    }
    bench.end().await;
}

/// What is tried while something fails.
const TRIED: [&[&str]; 5] = [
    &["record", "set", "picow", "db", "10.20.129.11", "--write", "--yes"],
    &["workload", "resize", "picow/app", "--memory", "4096", "--write", "--yes"],
    &["record", "set", "picow", "signed", "10.20.129.13", "--via", "update", "--write", "--yes"],
    &["forward", "list"],
    &["resume", "--write", "--yes"],
];

/// Who repeats what it was sent, and the words that lead there.
const REPEATED: [(&str, &[&str]); 5] = [
    ("pve", &["get", "workloads"]),
    ("pve", &["workload", "resize", "picow/app", "--memory", "3072", "--write", "--yes"]),
    ("dns", &["record", "set", "picow", "web", "10.20.129.12", "--write", "--yes"]),
    ("fw", &["forward", "list"]),
    ("fw", &["tenant", "create", "shop", "--write", "--yes"]),
];

/// Repeats what it was sent.
struct Repeats(&'static str);

impl Gate for Repeats {
    fn arrives(&self, request: &Arrival) -> Way {
        if request.to == self.0 { Way::Repeated } else { Way::Pass }
    }
}

/// Ends the program at a request.
struct Ends(u64, std::sync::atomic::AtomicI32);

impl Gate for Ends {
    fn arrives(&self, request: &Arrival) -> Way {
        let pid = rustix::process::Pid::from_raw(self.1.load(std::sync::atomic::Ordering::SeqCst));
        if let Some(pid) = pid.filter(|_| request.number == self.0) {
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            return Way::Unheard;
        }
        Way::Pass
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_program_leaves_holds_no_secret() {
    for at in [60, 120, 160] {
        let mut bench = Bench::start().await;
        bench.lab.edit(planted).unwrap();
        let gate = Arc::new(Ends(at, std::sync::atomic::AtomicI32::new(0)));
        let mut command = tokio::process::Command::new(CONSOLE);
        command.current_dir(bench.home.path()).stdin(Stdio::null()).kill_on_drop(true);
        command.env("HOME", bench.home.path()).env("XDG_STATE_HOME", bench.path("state"));
        command.args(["--site", "site.toml", "--log", "log", "tenant", "create", "picow", "--workload", "app"]);
        command.args(["--write", "--yes"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        gate.1.store(child.id().unwrap().try_into().unwrap(), std::sync::atomic::Ordering::SeqCst);
        bench.lab.gate(Some(gate));
        let output = child.wait_with_output().await.unwrap();
        bench.lab.gate(None);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert_eq!(output.status.code(), None, "killed at {at}: {text}");
        bench.seen.push((format!("killed at {at}"), text));
        bench.look();
        bench.end().await;
    }
}

/// Screens that show what was made, by the keys that lead there.
fn walk(pty: &mut Pty) {
    pty.press("p", "Onboard a tenant");
    pty.press("picow", "picow can go on to its plan");
    pty.press("\r", "not yet: read-only: w first");
    pty.press("w", "WRITE 30m");
    pty.press("\r", "way back");
    pty.press("\x1b", "15 steps, 14 to do");
    pty.press("A", "C-0001 finished");
    pty.press("gj", "Journal · 1");
    pty.press("\r", "C-0001");
    pty.press("gt", "picow");
    pty.press("gf", "Fabric");
    pty.press("gd", "Diagnose");
    pty.press("ga", "Activity");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_screen_of_an_onboarding_shows_a_secret() {
    let mut bench = Bench::start().await;
    bench.lab.edit(planted).unwrap();
    let site = bench.path("site.toml").display().to_string();
    let log = bench.path("log").display().to_string();
    let home = bench.home.path().to_owned();
    let shown = tokio::task::spawn_blocking(move || {
        let program = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
            .into_iter()
            .fold(Program::new(CONSOLE, &["--site", &site, "--log", &log]), |program, name| program.env(name, &home));
        let mut pty = program.size(120, 40).start();
        pty.wait_for("Tenants 0/62");
        pty.wait_for("EXIT ● <");
        walk(&mut pty);
        pty.press("q", "");
        String::from_utf8_lossy(pty.bytes()).into_owned()
    });
    let shown = shown.await.unwrap();
    assert!(shown.contains("picow"));
    bench.seen.push(("the terminal".to_owned(), shown));
    bench.look();
    bench.end().await;
}
