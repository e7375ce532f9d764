//! The reading engine on a whole lab: sources that fail, answer late or refuse leave each other alone and recover.

#![expect(clippy::expect_used, reason = "helpers of tests, which should stop")]

mod common;
#[path = "feed/engine.rs"]
mod engine;
#[path = "feed/faults.rs"]
mod faults;

use std::time::Duration;

use common::{Bench, assert_same, status, told};
use deevnet_console::inventory::{GapKind, Inventory, Presence, SourceId, SourceStatus};
use tokio::time::Instant;

/// What a source fault must look like.
struct Case {
    fault: &'static str,
    /// Source it hits.
    hit: SourceId,
    /// Status of that source.
    status: SourceStatus,
    kind: GapKind,
    /// Words that its text must hold.
    says: &'static str,
}

const CASES: &[Case] = &[
    Case {
        fault: "pve-down",
        hit: SourceId::Pve,
        status: SourceStatus::Stale,
        kind: GapKind::NoAnswer,
        says: "https://127.0.0.1:",
    },
    Case {
        fault: "pve-auth",
        hit: SourceId::Pve,
        status: SourceStatus::Denied,
        kind: GapKind::Denied,
        says: "did not accept the API token",
    },
    Case {
        fault: "pve-denied",
        hit: SourceId::Pve,
        status: SourceStatus::Denied,
        kind: GapKind::Denied,
        says: "SDN.Audit or SDN.Allocate at /sdn/zones",
    },
    Case {
        fault: "exit-down",
        hit: SourceId::Exit,
        status: SourceStatus::Stale,
        kind: GapKind::NoAnswer,
        says: "refused",
    },
];

/// One clean line that says something.
fn assert_line(text: &str) {
    assert!(!text.trim().is_empty() && !text.chars().any(char::is_control), "{text:?} is not one clean line");
}

fn other(id: SourceId) -> SourceId {
    if id == SourceId::Pve { SourceId::Exit } else { SourceId::Pve }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_fails_says_why_delays_nobody_and_recovers() {
    let mut bench = Bench::start(None, None).await;
    let healthy = bench.fresh().await;
    assert!(healthy.attention.is_empty(), "healthy, yet:\n{}", told(&healthy));
    for case in CASES {
        let usual = bench.latency(other(case.hit)).await;
        bench.lab.fault_on(case.fault).unwrap();
        bench.feed.refresh(Some(case.hit));
        let inv = bench.until(case.fault, |inv| inv.sources.get(case.hit).error.is_some()).await;
        let health = inv.sources.get(case.hit);
        let error = health.error.as_ref().unwrap();
        assert_eq!((status(&inv, case.hit), error.kind), (case.status, case.kind), "{}: {}", case.fault, error.text);
        assert!(error.text.contains(case.says), "{}: {}", case.fault, error.text);
        assert_line(&error.text);
        assert_line(error.help.as_deref().unwrap());
        assert!(health.next_try.is_some(), "{}: nobody tries again", case.fault);
        let first = &inv.attention[0];
        assert_eq!((first.kind, &*first.place), ("source", case.hit.label()), "{}\n{}", case.fault, told(&inv));
        assert_eq!(inv.attention.len(), 1, "{}: one cause, one row\n{}", case.fault, told(&inv));
        let (f, n) = (Presence::Unknown, Presence::Present);
        let expected = if case.hit == SourceId::Pve { (f, n, f) } else { (n, f, n) };
        let seen = &inv.tenant("eds").unwrap().layers;
        let seen = (seen.fabric.presence, seen.node.presence, seen.workloads.presence);
        assert_eq!(seen, expected, "{}\n{}", case.fault, told(&inv));
        assert_eq!(inv.tenants.len(), healthy.tenants.len(), "{}: the last rows stay", case.fault);
        if case.hit == SourceId::Exit {
            assert!(inv.vrfs.iter().all(|v| v.flow.as_ref().is_ok_and(|f| f.per_second.is_none())), "a rate is of now");
        }
        assert!(inv.sources.get(other(case.hit)).error.is_none());
        let now = bench.latency(other(case.hit)).await;
        assert!(now < usual * 3 + Duration::from_secs(1), "{}: {now:?} instead of {usual:?}", case.fault);
        bench.lab.fault_off(case.fault).unwrap();
        let after = bench.fresh().await;
        assert_eq!(status(&after, case.hit), SourceStatus::Fresh, "{}", case.fault);
        assert_same(case.fault, &healthy, &after);
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_answers_late_delays_nobody() {
    for (fault, slow) in [("pve-slow", SourceId::Pve), ("exit-slow", SourceId::Exit)] {
        let mut bench = Bench::start(None, None).await;
        let healthy = bench.fresh().await;
        let usual = bench.latency(other(slow)).await;
        bench.lab.fault_on(fault).unwrap();
        let before = bench.feed.inventory.borrow().sources.get(slow).observed_at;
        bench.feed.refresh(Some(slow));
        let asked = Instant::now();
        for _ in 0..3 {
            let now = bench.latency(other(slow)).await;
            assert!(now < usual * 3 + Duration::from_secs(1), "{fault}: {now:?} instead of {usual:?}");
        }
        let inv = bench.until(fault, |inv| inv.sources.get(slow).observed_at > before).await;
        println!("{fault}: {usual:?} for the other, {:?} for this one", asked.elapsed());
        assert!(asked.elapsed() >= Duration::from_secs(4), "{fault} was not slow");
        assert!(inv.sources.get(slow).error.is_none(), "late is no failure\n{}", told(&inv));
        bench.lab.fault_off(fault).unwrap();
        let after = bench.fresh().await;
        assert_same(fault, &healthy, &after);
        bench.stop().await;
    }
}

/// The right to read some parts is missing: those are unknown and named, the others are read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exit_node_login_without_root_leaves_what_needs_it_unknown() {
    let mut bench = Bench::start(None, None).await;
    bench.lab.fault_on("exit-denied").unwrap();
    let inv = bench.fresh().await;
    let word = |inv: &Inventory, label: &str| {
        let vrf = inv.vrfs.iter().find(|v| &*v.tenant == "eds").unwrap();
        let fact = vrf.facts.iter().find(|f| f.label == label).unwrap_or_else(|| panic!("no {label}"));
        fact.word.clone()
    };
    for (label, expected) in [
        ("link", "up"),
        ("default", "right"),
        ("SNAT", "denied"),
        ("forwarding", "on"),
        ("null routes", "all"),
        ("FRR", "denied"),
    ] {
        assert_eq!(word(&inv, label), expected, "{label}");
    }
    let layer = &inv.tenant("eds").unwrap().layers.node;
    assert_eq!((layer.presence, layer.gap.as_ref().unwrap().kind), (Presence::Unknown, GapKind::Denied));
    assert_eq!(inv.attention.len(), 1, "{}", told(&inv));
    assert_eq!((inv.attention[0].kind, &*inv.attention[0].place), ("source", "EXIT"));
    bench.stop().await;
}
