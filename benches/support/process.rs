//! What the system says about a process and its threads.

use std::fs;

fn status(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn threads(pid: i32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path().display().to_string()).collect()
}

/// Milliseconds of CPU time that its living threads have used (`schedstat`, nanoseconds).
pub fn cpu_ms(pid: i32) -> f64 {
    let of = |path: &String| {
        let text = fs::read_to_string(format!("{path}/schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    #[expect(clippy::cast_precision_loss, reason = "a time")]
    let ns = threads(pid).iter().filter_map(of).sum::<u64>() as f64;
    ns / 1e6
}

/// How often its threads went to sleep.
pub fn sleeps(pid: i32) -> u64 {
    threads(pid).iter().map(|path| status(&format!("{path}/status"), "voluntary_ctxt_switches")).sum()
}

/// Resident memory in MiB.
#[expect(clippy::cast_precision_loss, reason = "a size")]
pub fn rss_mib(pid: i32) -> f64 {
    status(&format!("/proc/{pid}/status"), "VmRSS") as f64 / 1024.0
}

/// The part of it that no file backs, in MiB.
#[expect(clippy::cast_precision_loss, reason = "a size")]
pub fn anonymous_mib(pid: i32) -> f64 {
    status(&format!("/proc/{pid}/status"), "RssAnon") as f64 / 1024.0
}
