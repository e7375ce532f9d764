//! The real program, killed or hung up in the middle of an onboarding and taken up again by another one: the site ends as
//! undisturbed, and nothing that was printed or written down on the way holds a secret.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of a test: a panic is its verdict, its output its report"
)]

mod change_common;
#[path = "provision_crash/state.rs"]
mod state;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use change_common::Options;
use deevnet_console::lab::gate::{Arrival, Gate, Way};
use deevnet_console::lab::{Lab, Moment};
use rustix::process::{Pid, Signal, kill_process};
use state::{differs, secrets, state};

/// Ends the program when a request arrives, or when it was done.
struct Ends {
    pid: AtomicI32,
    at: u64,
    after: bool,
    signal: Signal,
    seen: AtomicU64,
    /// Number of the first request that changes something.
    first: AtomicU64,
    met: Mutex<Option<Arrival>>,
}

impl Ends {
    fn new(at: u64, after: bool, signal: Signal) -> Arc<Self> {
        let (pid, seen, first) = (AtomicI32::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { pid, at, after, signal, seen, first, met: Mutex::new(None) })
    }

    fn end(&self, request: &Arrival) {
        if let Some(pid) = Pid::from_raw(self.pid.load(Ordering::SeqCst)) {
            kill_process(pid, self.signal).unwrap();
            *self.met.lock().unwrap() = Some(request.clone());
        }
    }
}

impl Gate for Ends {
    fn arrives(&self, request: &Arrival) -> Way {
        self.seen.fetch_max(request.number, Ordering::SeqCst);
        if request.to == "pve" && request.method == "POST" {
            self.first.compare_exchange(0, request.number, Ordering::SeqCst, Ordering::SeqCst).ok();
        }
        if request.number != self.at || self.after {
            return Way::Pass;
        }
        self.end(request);
        // What was killed asks for nothing any more; what was hung up waits for the answer.
        if self.signal == Signal::KILL { Way::Unheard } else { Way::Pass }
    }

    fn done(&self, request: &Arrival) {
        if request.number == self.at && self.after {
            self.end(request);
        }
    }
}

struct Bench {
    lab: Lab,
    start: Moment,
    site: PathBuf,
    _dir: tempfile::TempDir,
}

/// What one program printed.
struct Ran {
    code: Option<i32>,
    printed: String,
}

impl Bench {
    async fn start() -> Self {
        let lab = Options::empty().lab().await.0;
        lab.keep_readings();
        let dir = tempfile::tempdir().unwrap();
        let site = dir.path().join("site.toml");
        std::fs::write(&site, lab.site_toml()).unwrap();
        let start = lab.moment();
        Self { lab, start, site, _dir: dir }
    }

    async fn run(&self, home: &Path, words: &[&str], gate: Option<Arc<Ends>>) -> Ran {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
        for key in ["LC_CTYPE", "NO_COLOR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env_remove(key);
        }
        command.env("HOME", home).env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).kill_on_drop(true);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.arg("--site").arg(&self.site).arg("--log").arg(home.join("log")).args(words);
        self.lab.gate(gate.clone().map(|gate| gate as Arc<dyn Gate>));
        let child = command.spawn().unwrap();
        if let (Some(gate), Some(pid)) = (gate, child.id()) {
            gate.pid.store(pid.try_into().unwrap(), Ordering::SeqCst);
        }
        let output = child.wait_with_output().await.unwrap();
        self.lab.gate(None);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), printed: text(&output.stdout) + &text(&output.stderr) }
    }

    /// Taken up until it is done, as its own words say.
    async fn to_the_end(&self, home: &Path, mut last: Ran) -> Vec<String> {
        let mut said = vec![last.printed.clone()];
        for _ in 0..5 {
            if last.code == Some(0) {
                return said;
            }
            let begun = files(home).iter().any(|(path, text)| is_journal(path) && text.contains("\"event\":\"run\""));
            let words = if said.last().is_some_and(|text| text.contains("sdn unlock`, then")) {
                vec!["sdn", "unlock", "--write", "--yes", "--confirm", "mobile"]
            } else if begun {
                vec!["resume", "--write", "--yes"]
            } else {
                CREATE.to_vec()
            };
            let ran = self.run(home, &words, None).await;
            said.push(format!("$ {words:?} → {:?}\n{}", ran.code, ran.printed));
            // An unlock that went well is not the end of it.
            last = if words[0] == "sdn" { Ran { code: None, printed: String::new() } } else { ran };
        }
        panic!("it did not come to its end:\n{}", said.join("\n"));
    }
}

const CREATE: &[&str] = &["tenant", "create", "picow", "--workload", "app", "--write", "--yes"];

fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
}

/// Everything below a directory.
fn files(home: &Path) -> Vec<(PathBuf, String)> {
    let (mut all, mut left) = (Vec::new(), vec![home.to_owned()]);
    while let Some(path) = left.pop() {
        match std::fs::read_dir(&path) {
            Ok(rows) => left.extend(rows.map(|row| row.unwrap().path())),
            Err(_) => {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
                all.push((path, text));
            }
        }
    }
    all
}

/// Nothing that was printed or written holds a secret; the token of a lock stands in the journal, which is its owner's alone.
fn holds_no_secret(bench: &Bench, home: &Path, said: &[String]) {
    let secrets = secrets(&bench.lab.world());
    assert!(secrets.len() > 20, "{}", secrets.len());
    let mut all = files(home);
    assert!(all.iter().any(|(path, text)| path.ends_with("log") && !text.is_empty()), "there is a log");
    let tokens: Vec<String> = all
        .iter()
        .filter(|(path, _)| is_journal(path))
        .flat_map(|(_, text)| text.lines().filter(|line| line.contains("\"sdn-lock\"")).collect::<Vec<_>>())
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["value"].as_str().map(str::to_owned))
        .filter(|token| !token.is_empty())
        .collect();
    for (path, _) in all.iter().filter(|(path, _)| is_journal(path)) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions());
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
    all.extend(said.iter().map(|text| (PathBuf::from("printed"), text.clone())));
    for (path, text) in &all {
        for secret in &secrets {
            assert!(!text.contains(secret), "{} holds a secret", path.display());
        }
        let shown = tokens.iter().any(|token| text.contains(token));
        assert!(is_journal(path) || !shown, "{} holds the token of a lock", path.display());
    }
    assert!(!tokens.is_empty(), "a lock was taken");
}

#[tokio::test]
async fn a_program_that_is_killed_or_hung_up_is_taken_up_by_another() {
    let bench = Bench::start().await;
    let home = tempfile::tempdir().unwrap();
    let counting = Ends::new(0, false, Signal::KILL);
    let ran = bench.run(home.path(), CREATE, Some(counting.clone())).await;
    assert_eq!(ran.code, Some(0), "{}", ran.printed);
    let wanted = state(&bench.lab.world());
    let (first, all) = (counting.first.load(Ordering::SeqCst), counting.seen.load(Ordering::SeqCst));
    let mut said = vec![ran.printed];
    for words in [&["journal"][..], &["journal", "-o", "json"], &["audit"], &["-o", "json", "get", "tenants"]] {
        said.push(bench.run(home.path(), words, None).await.printed);
    }
    holds_no_secret(&bench, home.path(), &said);

    // A fixed sample, spread over all that is sent while it runs.
    let span = all - first;
    for turn in 0..7_u64 {
        let at = first + (turn * span) / 7 + (turn * turn * 31 + 17) % (span / 7).max(1);
        let signal = if turn % 3 == 2 { Signal::HUP } else { Signal::KILL };
        let home = tempfile::tempdir().unwrap();
        bench.lab.back_to(&bench.start);
        let gate = Ends::new(at, turn % 2 == 1, signal);
        let ran = bench.run(home.path(), CREATE, Some(gate.clone())).await;
        let met = gate.met.lock().unwrap().clone();
        let what = format!("{signal:?} at {at} of {first}–{all}: {met:?}");
        println!("{}", what.chars().take(160).collect::<String>());
        if signal == Signal::KILL {
            assert_eq!(ran.code, None, "{what}: {}", ran.printed);
        }
        let said = bench.to_the_end(home.path(), ran).await;
        let wrong = differs(&wanted, &state(&bench.lab.world()));
        assert!(wrong.is_empty(), "{what}\n{}\n{}", wrong.join("\n"), said.join("\n"));
        holds_no_secret(&bench, home.path(), &said);
    }
    bench.lab.shutdown().await;
}
