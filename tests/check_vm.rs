//! `check egress` against a real exit node: every fault that the VM can switch on, judged from what the collector reads.
//!
//! SDN and the site file are the lab's; FRR, VRFs, iptables and the packets are the VM's (`tests/tools/exit-node-vm.sh`).
//! `check_vm/wanted.rs` holds what each state has to come to. Skipped, with the reason, without the VM. A state that is
//! judged wrongly does not stop the others; the table at the end shows all of them.
//!
//! `CHECK_VM_ONLY=snat-missing,core-drop` judges those alone (`healthy`, `together`, `reach` and `broken` and `isolation` are words for
//! the rest), `CHECK_VM_SAMPLE=1` the telling ones, `CHECK_VM_MACHINES=1` uses one machine instead of one a processor (at most two).
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test that cannot go on must fail, says what it skips and saw, and measures time"
)]

#[path = "check_vm/bench.rs"]
mod bench;
#[path = "check_vm/broken.rs"]
mod broken;
#[path = "check_vm/ours.rs"]
mod ours;
#[allow(dead_code, reason = "other tests of the VM need more of it")]
#[path = "exit_node_common/vm.rs"]
mod vm;
#[path = "check_vm/wanted.rs"]
mod wanted;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bench::{BY_DESIGN, Bench, Line, PATIENCE};
use deevnet_console::diagnose::collect::reach::{Ended, From, Target, reach};
use deevnet_console::diagnose::collect::{Check, Sink};
use deevnet_console::diagnose::facts::Facts;
use deevnet_console::diagnose::finding::Layer;
use deevnet_console::diagnose::rules::matrix::{self, Way};
use deevnet_console::diagnose::rules::packets::{Packets, between};
use deevnet_console::diagnose::rules::rule;
use deevnet_console::runtime::clock;
use wanted::{Class, HEALTHY, SINGLE, TOGETHER, Want};

/// What is to be judged.
struct Chosen {
    only: Vec<String>,
    sample: bool,
}

impl Chosen {
    fn of_environment() -> Self {
        let only = std::env::var("CHECK_VM_ONLY").unwrap_or_default();
        let only = only.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Self { only, sample: std::env::var_os("CHECK_VM_SAMPLE").is_some() }
    }

    /// Whether the part called `word` is.
    fn has(&self, word: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one == word)
    }

    /// States in the order in which machines take them: those that wait for FRR first, so that none is left alone at the
    /// end.
    fn states(&self) -> VecDeque<&'static Want> {
        let named = |want: &Want, of: &str| self.has(of) || self.only.contains(&want.name());
        let single = SINGLE.iter().filter(|want| named(want, want.on[0]));
        let together = TOGETHER.iter().filter(|want| named(want, "together"));
        let mut states: Vec<_> = single.chain(together).filter(|want| !self.sample || want.sample).collect();
        states.sort_by_key(|want| !want.on.iter().any(|on| on.starts_with("frr")));
        states.into()
    }
}

#[test]
fn every_state_of_the_vm_has_an_expectation() {
    let script = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/exit-node-vm.sh")).unwrap();
    let (_, list) = script.split_once("\nFAULTS=\"").unwrap();
    let (list, _) = list.split_once('"').unwrap();
    let mut known: Vec<&str> = list.split_whitespace().collect();
    let mut wanted: Vec<&str> = SINGLE.iter().map(|want| want.on[0]).collect();
    known.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(known, wanted);
    for on in TOGETHER.iter().flat_map(|want| want.on) {
        assert!(known.contains(&on.split('@').next().unwrap()), "{on}");
    }
    assert!(SINGLE.iter().filter(|want| want.sample).count() >= 10, "the ordinary run judges the ten most telling");
}

/// A healthy node: nothing to say, since everything was looked at; and tenants are kept apart.
async fn healthy(bench: &Bench) -> Vec<String> {
    let said = bench.check(Check::All, None).await;
    let mut wrong = Vec::new();
    let pairs = matrix::pairs(&Facts::of(&said.evidence));
    let apart = |pair: &matrix::Pair| pair.routes == Way::Dropped && pair.lookup.as_deref() == Some("Invalid argument");
    if pairs.len() != 2 || !pairs.iter().all(apart) {
        wrong.push(format!("healthy: {pairs:#?}"));
    }
    // The lab's site has no name server here: what concerns names is not this test's business.
    let names = |id: &&'static str| rule(id).is_some_and(|of| of.layer == Layer::Dns);
    let unknown = said.report.unknown.iter().any(|unknown| !unknown.ids.iter().all(names));
    if unknown || said.report.findings.iter().any(|f| !BY_DESIGN.contains(&f.id)) {
        wrong.push(format!("healthy: says something\n{}", said.whole()));
    }
    let egress = bench.check(Check::Egress, Some("tdemo")).await;
    let unlooked: Vec<_> = HEALTHY.iter().filter(|id| !egress.passed(id)).collect();
    if !unlooked.is_empty() || !egress.unknown().is_empty() {
        wrong.push(format!("healthy: {unlooked:?} did not look\n{}", egress.whole()));
    }
    wrong
}

async fn reached(bench: &Bench, address: &str, port: Option<u16>) -> From {
    let target = Target { tenant: "tdemo".to_owned(), address: address.parse().unwrap(), port };
    let found = reach(&bench.site, &bench.clients, &target, &Sink::new(clock::system()).patient(PATIENCE)).await;
    let [from] = found.try_into().expect("one exit node");
    let tcp = from.tcp.as_ref().map(|t| &t.text);
    eprintln!("check_vm: reach {address}: {} / {} / {tcp:?}", from.lookup.text, from.ping.text);
    from
}

/// The internet is reached from the VRF, another tenant is not, and nobody takes an answer for granted.
async fn reaches(bench: &Bench) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut want = |what: &str, from: &From, ends: [Ended; 3]| {
        let tcp = from.tcp.as_ref().map_or(ends[2], |tcp| tcp.ended);
        if [from.lookup.ended, from.ping.ended, tcp] != ends {
            wrong.push(format!("reach {what}: {from:#?}"));
        }
    };
    want("the internet", &reached(bench, "198.51.100.10", Some(80)).await, [Ended::Reached; 3]);
    want("another tenant", &reached(bench, "10.20.130.10", None).await, [Ended::Failed; 3]);
    if let Err(why) = bench.root("site fault core-drop") {
        return vec![why];
    }
    let dropped = reached(bench, "198.51.100.10", Some(80)).await;
    want("what the perimeter drops", &dropped, [Ended::Reached, Ended::Failed, Ended::Failed]);
    wrong.extend(bench.heal().err());
    wrong
}

/// Packets between the tenants, as the node itself sends them: none gets there in the healthy VM, and each way to break
/// that is seen.
async fn isolated(bench: &Bench) -> Vec<String> {
    let mut wrong = Vec::new();
    for (on, [there, back], leak) in [
        ("healthy", ["isolated", "isolated"], false),
        ("inter-tenant-leak", ["answered", "answered"], true),
        // From eds alone a packet gets to tdemo, whose answer the null route of its own VRF drops: it came to the node.
        ("inter-tenant-leak-oneway", ["isolated", "answered"], true),
    ] {
        if let Err(why) = bench.root(&format!("site fault {on}")) {
            wrong.push(why);
            continue;
        }
        let said = bench.check(Check::Isolation, None).await;
        let facts = Facts::of(&said.evidence);
        for (from, to, want) in [("tdemo", "eds", there), ("eds", "tdemo", back)] {
            let came = between(&facts, from, to);
            let is = match &came {
                Some(Packets::Isolated(_)) => "isolated",
                Some(Packets::Answered(_)) => "answered",
                Some(Packets::NotProven(_)) => "not proven",
                None => "not sent",
            };
            let words = came.map(|came| came.words()).unwrap_or_default();
            eprintln!("check_vm: {on}: packets {from} to {to}: {words} ({:.1} s)", said.took.as_secs_f64());
            if is != want {
                wrong.push(format!("{on}: packets {from} to {to}: {is} instead of {want}: {words}"));
            }
        }
        let told = said.report.findings.iter().any(|f| f.id == "packet-leak");
        if told != leak || said.unknown().contains(&"packet-leak") {
            wrong.push(format!("{on}: packet-leak {told} instead of {leak}\n{}", said.whole()));
        }
        wrong.extend(bench.heal().err());
    }
    wrong
}

/// Takes states until none is left.
async fn work(bench: &Bench, states: &Mutex<VecDeque<&'static Want>>, done: &Mutex<Vec<Line>>) {
    loop {
        let Some(want) = states.lock().unwrap().pop_front() else { return };
        let line = bench.state(want).await;
        told(&line);
        line.wrong.iter().for_each(|why| eprintln!("check_vm:   {why}"));
        done.lock().unwrap().push(line);
    }
}

fn told(line: &Line) {
    let verdict = if line.wrong.is_empty() { "right" } else { "WRONG" };
    let class = match line.want.class() {
        Class::Fault => "fault",
        Class::Note => "note",
        Class::Silent => "silent",
    };
    let (causes, under, notes, took, after) = line.said.as_ref().map_or_else(Default::default, |said| {
        let causes: Vec<_> = said.roots().iter().map(|f| f.id).collect();
        let under: Vec<_> = said.under().iter().map(|(id, _)| *id).collect();
        (causes.join(" "), under.join(" "), said.notes().join(" "), said.took.as_secs_f64(), said.after.as_millis())
    });
    let whole = line.took.as_secs_f64();
    let name = line.want.name();
    eprintln!(
        "check_vm: {verdict} {class:6} {name:46} {causes:44} {under:42} {notes:20} {took:5.1} s {after:3} ms, {whole:5.1} s in all"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn faults_of_a_real_exit_node() {
    let chosen = Chosen::of_environment();
    let began = Instant::now();
    let Some(bench) = Bench::start("check_vm").await else { return };
    let mut wrong = Vec::new();
    if chosen.has("healthy") {
        wrong.extend(ours::measure(&bench).await);
        wrong.extend(healthy(&bench).await);
    }
    if chosen.has("reach") {
        wrong.extend(reaches(&bench).await);
    }
    if chosen.has("isolation") {
        wrong.extend(isolated(&bench).await);
    }
    let states = Arc::new(Mutex::new(chosen.states()));
    let done = Arc::new(Mutex::new(Vec::new()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let machines = std::env::var("CHECK_VM_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(cores);
    // A task of its own: what waits for one machine must not hold up the questions to the other, or they run out of time.
    let second = tokio::spawn({
        let (states, done) = (Arc::clone(&states), Arc::clone(&done));
        async move {
            if machines > 1
                && states.lock().unwrap().len() > 4
                && let Some(other) = Bench::start("check_vm: another").await
            {
                work(&other, &states, &done).await;
                other.lab.shutdown().await;
            }
        }
    });
    let unread = if chosen.has("broken") { broken::readings(&bench).await } else { Vec::new() };
    work(&bench, &states, &done).await;
    second.await.unwrap();
    wrong.extend(unread);
    bench.lab.shutdown().await;
    eprintln!(
        "\ncheck_vm: verdict, class, what was on, causes, consequences, notes, time of the check, from the last answer on"
    );
    let done = std::mem::take(&mut *done.lock().unwrap());
    done.iter().for_each(told);
    let bad: Vec<_> = done.iter().filter(|line| !line.wrong.is_empty()).collect();
    let right = done.len() - bad.len();
    let minutes = began.elapsed().as_secs_f64() / Duration::from_secs(60).as_secs_f64();
    eprintln!("check_vm: {right} of {} states judged right, {minutes:.1} minutes", done.len());
    wrong.extend(bad.iter().map(|line| {
        let whole = line.said.as_ref().map(bench::Said::whole).unwrap_or_default();
        format!("{}:\n  {}\n{whole}", line.want.name(), line.wrong.join("\n  "))
    }));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
