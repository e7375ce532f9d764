//! The program as a person sees it: keys in, bytes out, through a terminal.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use super::{
    process::{anonymous_mib, cpu_ms, rss_mib, sleeps},
    proxy::Proxy,
    table::{ms, note, percentile, row},
};
use crate::{
    CONSOLE,
    pty::{Program, Pty},
};

fn console(site: &str) -> Program {
    Program::new(CONSOLE, &["--site", site]).size(120, 40)
}

/// Time to the answer, and bytes of it, for each press.
pub fn presses(pty: &mut Pty, keys: &[&str], count: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut times, mut bytes) = (Vec::new(), Vec::new());
    for key in keys.iter().cycle().take(count) {
        pty.take_for(Duration::from_millis(20));
        let begun = Instant::now();
        pty.send(key.as_bytes());
        let Some(first) = pty.take_next(Duration::from_secs(2)) else { continue };
        times.push(ms(begun.elapsed()));
        bytes.push(first as f64);
    }
    (times, bytes)
}

fn latency(what: &str, times: &[f64]) {
    row(&format!("key → repaint through a pty, {what}, p50"), "ms", Some(1.5), Some(1.0), percentile(times, 0.5));
    row(&format!("key → repaint through a pty, {what}, p99"), "ms", Some(10.0), Some(5.0), percentile(times, 0.99));
}

/// First frame with nobody answering.
pub fn first_paint(site: &str) {
    let (mut cpu, mut wall) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        let begun = Instant::now();
        let mut pty = console(site).start();
        pty.wait_for("? help");
        wall.push(ms(begun.elapsed()));
        cpu.push(cpu_ms(pty.pid()));
        pty.send(b"q");
        pty.wait_ended();
    }
    row("first paint, back ends unreachable, CPU p50", "ms", Some(30.0), Some(15.0), percentile(&cpu, 0.5));
    row("first paint, back ends unreachable, wall p50", "ms", None, None, percentile(&wall, 0.5));
}

/// All workloads in a full-width list.
pub fn all_workloads(pty: &mut Pty, rows: &str) {
    pty.wait_for("[Tenants 62/62]");
    pty.press("\t", "[Workloads");
    pty.press("zt", &format!("of {rows}"));
    pty.take_for(Duration::from_millis(500));
}

/// Keys, bytes, refresh, idle and memory at 62 × 40, and the sweep meanwhile.
pub fn normal(site: &str, calls: &Path, proxy: &Proxy) {
    let begun = Instant::now();
    let mut pty = console(site).start();
    all_workloads(&mut pty, "2480");
    let (times, moves) = presses(&mut pty, &["j", "k"], 200);
    latency("62 × 40, sweeping", &times);
    row("bytes per cursor move", "B", Some(500.0), Some(200.0), percentile(&moves, 0.5));
    pty.press("G", "row 2480 of");
    pty.press("gg", "row 1 of");
    pty.send("j".repeat(40).as_bytes());
    let (_, steps) = presses(&mut pty, &["j"], 200);
    row("bytes per scroll step", "B", Some(550.0), Some(300.0), percentile(&steps, 0.5));
    sweep(&mut pty, proxy, begun);
    let (times, _) = presses(&mut pty, &["j", "k"], 200);
    latency("62 × 40", &times);
    refresh(&mut pty, calls, proxy);
    idle(&mut pty);
    row("memory at 62 × 40", "MiB", Some(40.0), Some(30.0), rss_mib(pty.pid()));
    pty.send(b"q");
    pty.wait_ended();
}

/// VMs whose configuration was read: by itself, or with what waits for a cold start.
fn configs(proxy: &Proxy) -> usize {
    let seen = proxy.seen();
    let vms = seen.iter().filter_map(|r| r.path.strip_suffix("/config").or_else(|| r.path.strip_suffix("/pending")));
    vms.filter(|path| path.contains("/qemu/")).collect::<BTreeSet<_>>().len()
}

fn sweep(pty: &mut Pty, proxy: &Proxy, begun: Instant) {
    while configs(proxy) < 2480 && begun.elapsed() < Duration::from_secs(150) {
        pty.take_for(Duration::from_millis(100));
    }
    let read = configs(proxy);
    row("cold full sweep at 62 × 40", "s", Some(120.0), None, begun.elapsed().as_secs_f64());
    if read < 2480 {
        note("", &format!("not done: {read} of 2480 VM configurations read"));
    }
    pty.take_for(Duration::from_secs(3));
}

/// Lines of a file.
pub fn lines(path: &Path) -> usize {
    fs::read(path).map_or(0, |bytes| bytes.iter().filter(|b| **b == b'\n').count())
}

/// Asks for everything again.
fn refresh(pty: &mut Pty, calls: &Path, proxy: &Proxy) {
    // Just after a cycle, so that no other one falls into the window.
    let before = proxy.seen().len();
    while proxy.seen().len() == before {
        pty.take_for(Duration::from_millis(50));
    }
    pty.take_for(Duration::from_secs(3));
    let (first, called, begun) = (proxy.seen().len(), lines(calls), Instant::now());
    pty.send(b"r");
    pty.take_for(Duration::from_secs(4));
    let mut seen = proxy.seen()[first..].to_vec();
    let all = seen.len();
    // Details of what is on screen are read again, too; they come after the lists.
    seen.retain(|request| !request.path.contains("/qemu/") && !request.path.contains("/subnets"));
    let end = seen.iter().map(|r| r.begun + r.took).max().unwrap_or(begun);
    let start = seen.iter().map(|r| r.begun).min().unwrap_or(begun);
    let slowest = seen.iter().map(|r| r.took).max().unwrap_or_default();
    row("requests to Proxmox per refresh of the lists", "", None, None, seen.len() as f64);
    row("requests for details of what is on screen", "", None, None, (all - seen.len()) as f64);
    row(
        "refresh of the lists, wall / slowest answer",
        "×",
        Some(1.3),
        None,
        (end - start).as_secs_f64() / slowest.as_secs_f64(),
    );
    // No more than four are in flight (design §7): where all answers take as long, this is the floor of the row above.
    let sum: f64 = seen.iter().map(|r| r.took.as_secs_f64()).sum();
    row("sum of these answers / (4 × the slowest)", "×", None, None, sum / 4.0 / slowest.as_secs_f64());
    row("exit-node round trips per refresh", "", Some(1.0), Some(1.0), (lines(calls) - called) as f64);
}

fn idle(pty: &mut Pty) {
    const SECONDS: u64 = 12;
    // A screen on which no value changes by itself.
    pty.press("gf", "[Members");
    pty.take_for(Duration::from_secs(1));
    let (bytes, slept, cpu) = (pty.bytes().len(), sleeps(pty.pid()), cpu_ms(pty.pid()));
    let begun = Instant::now();
    pty.take_for(Duration::from_secs(SECONDS));
    let passed = begun.elapsed().as_secs_f64();
    row(
        "idle with fresh data, bytes (a turned minute: some)",
        "B",
        None,
        Some(0.0),
        (pty.bytes().len() - bytes) as f64,
    );
    row("idle with fresh data, wake-ups", "/s", None, None, (sleeps(pty.pid()) - slept) as f64 / passed);
    row("idle with fresh data, CPU", "%", None, None, (cpu_ms(pty.pid()) - cpu) / passed / 10.0);
}

/// The same with 25,000 rows.
pub fn large(site: &str) {
    let mut pty = console(site).start();
    all_workloads(&mut pty, "25");
    let (times, _) = presses(&mut pty, &["j", "k", "G", "k", "g", "g"], 200);
    latency("25,000 rows", &times);
    row("memory at 25,000 rows", "MiB", Some(100.0), Some(90.0), rss_mib(pty.pid()));
    row("of it anonymous", "MiB", None, None, anonymous_mib(pty.pid()));
    pty.send(b"q");
    pty.wait_ended();
}

/// Other programs through the same terminal, where they are installed.
pub fn peers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let text: String = (0..25_000).map(|n| format!("{n:06} {}\n", "a row of text ".repeat(7))).collect();
    fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    for (name, arguments, ready) in
        [("less", vec![path.as_str()], "000001"), ("vim", vec!["-u", "NONE", &path], "000001"), ("htop", vec![], "PID")]
    {
        if Command::new(name).arg("--version").output().is_err() {
            note(&format!("peer {name}"), "not installed");
            continue;
        }
        let mut pty = Program::new(name, &arguments).size(120, 40).start();
        pty.wait_for(ready);
        // Past the first screen, so that each step scrolls.
        pty.send("j".repeat(60).as_bytes());
        pty.take_for(Duration::from_millis(500));
        let (times, bytes) = presses(&mut pty, &["j"], 100);
        row(&format!("peer {name}: key → repaint p50"), "ms", None, None, percentile(&times, 0.5));
        row(&format!("peer {name}: bytes per step"), "B", None, None, percentile(&bytes, 0.5));
    }
}
