//! What is asked of every source at 62 × 40: until everything was read once, and in a minute after that.

use std::{
    collections::BTreeMap,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use super::{
    log,
    outside::{all_workloads, lines, presses},
    process::{anonymous_mib, rss_mib},
    questions::Questions,
    table::{ms, note, percentile, row},
};
use crate::{CONSOLE, pty::Program};

/// Where requests are counted.
pub struct Counters<'a> {
    /// Questions to the authority and to the perimeter.
    pub questions: [&'a Questions; 2],
    /// A line for each round trip to the exit node.
    pub calls: &'a Path,
    /// The console's log.
    pub log: &'a Path,
}

impl Counters<'_> {
    fn now(&self, skip: usize) -> (BTreeMap<&'static str, u64>, log::Told) {
        let mut told = log::read(self.log, skip);
        let mut counts = std::mem::take(&mut told.requests);
        counts.insert("DNS, questions to the authority", self.questions[0].count());
        counts.insert("DNS, questions to the perimeter", self.questions[1].count());
        counts.insert("EXIT", lines(self.calls) as u64);
        (counts, told)
    }
}

fn rows(when: &str, counts: &BTreeMap<&'static str, u64>, before: &BTreeMap<&'static str, u64>) {
    for (source, count) in counts {
        let asked = count - before.get(source).copied().unwrap_or_default();
        row(&format!("requests {when}, {source}"), "", None, None, asked as f64);
    }
}

/// Cold, then a minute of peace, in the list of all workloads.
pub fn measure(site: &str, at: &Counters<'_>) {
    let begun = Instant::now();
    let arguments = ["--site", site, "--log", at.log.to_str().unwrap()];
    let mut pty = Program::new(CONSOLE, &arguments).env("DEEVNET_LOG", "deevnet_console=debug").size(120, 40).start();
    all_workloads(&mut pty, "2480");
    let (mut keys, mut last, mut quiet) = (Vec::new(), 0, Instant::now());
    // All was read once Proxmox and PowerDNS are asked for no further details.
    while quiet.elapsed() < Duration::from_secs(5) && begun.elapsed() < Duration::from_secs(150) {
        keys.extend(presses(&mut pty, &["j", "k"], 10).0);
        let counts = at.now(0).0;
        let details = ["PVE", "DNS"].map(|source| counts.get(source).copied().unwrap_or_default()).iter().sum();
        if details > last + 20 {
            (last, quiet) = (details, Instant::now());
        }
    }
    let took = begun.elapsed().saturating_sub(quiet.elapsed());
    row("cold full sweep, all sources", "s", Some(120.0), None, took.as_secs_f64());
    row("key → repaint meanwhile, p50", "ms", Some(1.5), Some(1.0), percentile(&keys, 0.5));
    row("key → repaint meanwhile, p99", "ms", Some(10.0), Some(5.0), percentile(&keys, 0.99));
    let (cold, told) = at.now(0);
    rows("until all was read", &cold, &BTreeMap::new());
    row("a picture joined while sweeping, p50", "ms", Some(200.0), Some(50.0), percentile(&told.joins, 0.5));
    row("a picture joined while sweeping, slowest", "ms", Some(200.0), None, percentile(&told.joins, 1.0));
    pty.take_for(Duration::from_secs(60));
    let (after, told) = at.now(told.lines);
    let before = BTreeMap::from_iter(cold.into_iter().filter(|(source, _)| source.contains(',') || *source == "EXIT"));
    rows("in a minute of peace", &after, &before);
    row("a picture joined in peace, p50", "ms", Some(200.0), Some(50.0), percentile(&told.joins, 0.5));
    row("memory after that minute", "MiB", Some(40.0), Some(30.0), rss_mib(pty.pid()));
    row("of it anonymous", "MiB", None, None, anonymous_mib(pty.pid()));
    pty.send(b"q");
    pty.wait_ended();
}

/// The headless verbs.
pub fn verbs(site: &str, folder: &Path) {
    for kind in ["tenants", "workloads", "records", "checkins", "vnets", "vrfs", "rules", "forwards"] {
        let path = folder.join(format!("get-{kind}.log"));
        let begun = Instant::now();
        let output = Command::new(CONSOLE)
            .args(["--site", site, "--log"])
            .arg(&path)
            .args(["get", kind, "-o", "json"])
            .env("DEEVNET_LOG", "deevnet_console=debug")
            .output()
            .unwrap();
        row(&format!("get {kind} -o json at 62 × 40, wall"), "ms", None, None, ms(begun.elapsed()));
        note("", &format!("{:?}", log::read(&path, 0).requests));
        if output.status.code() != Some(0) {
            note("", &format!("ended with {:?}: {}", output.status.code(), String::from_utf8_lossy(&output.stderr)));
        }
    }
}
