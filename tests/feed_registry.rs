//! The registry on a whole lab: whose a tenant is, what differs, and that nothing is concluded without an answer.

#![expect(clippy::expect_used, reason = "helpers of tests, which should stop")]

mod common;

use std::path::PathBuf;
use std::sync::Arc;

use common::{Bench, clock, status, told};
use deevnet_console::inventory::{GapKind, Inventory, Owner, Presence, SourceId, SourceStatus};
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};

/// A lab whose site file names the registry and, besides Proxmox and the exit node, nothing else.
async fn bench() -> Bench {
    let options = LabOptions {
        tenants: None,
        workloads: None,
        faults: Vec::new(),
        seed: 7,
        clock: clock(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: true,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    let lab = Lab::start(options).await.expect("a lab");
    let (url, dir) = (lab.registry_url().expect("the second half"), lab.dir().to_owned());
    let section = format!(
        "\n[registry]\nurl = \"{url}\"\nca_file = \"{}\"\ntoken = {{ file = \"{}\" }}\n",
        dir.join("ca.pem").display(),
        dir.join("registry-token").display()
    );
    let first_half = |text: String| text.split("\n[powerdns]").next().unwrap_or_default().to_owned() + &section;
    Bench::on(lab, first_half, &clock()).await
}

async fn fresh(bench: &mut Bench) -> Arc<Inventory> {
    let now = clock()();
    bench.feed.refresh(None);
    bench
        .until("a fresh picture", |inv| {
            let read = |id| inv.sources.get(id).observed_at.is_some_and(|at| at >= now);
            read(SourceId::Pve) && read(SourceId::Registry) && read(SourceId::Exit) && common::complete(inv)
        })
        .await
}

fn owner(inv: &Inventory, tenant: &str) -> &'static str {
    inv.tenant(tenant).expect("the tenant").owner.word()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_registry_lists_is_its_own() {
    let mut bench = bench().await;
    let inv = fresh(&mut bench).await;
    assert_eq!(inv.attention, Vec::new(), "{}", told(&inv));
    for t in &inv.tenants {
        let registration = t.owner.registration().expect("registered");
        assert_eq!((registration.egress.clone(), registration.diffs.len(), registration.only), (Ok(true), 0, false));
        assert_eq!(
            (registration.entry.status.word(), registration.entry.steps.as_ref().map(Vec::len)),
            ("ready", Some(4))
        );
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_that_fails_leaves_the_owner_unknown_and_recovers() {
    let mut bench = bench().await;
    fresh(&mut bench).await;
    for (fault, wanted, kind) in [
        ("registry-down", SourceStatus::Stale, GapKind::NoAnswer),
        ("registry-auth", SourceStatus::Denied, GapKind::Denied),
    ] {
        bench.lab.fault_on(fault).expect("a fault of the lab");
        bench.feed.refresh(Some(SourceId::Registry));
        let inv = bench.until(fault, |inv| inv.sources.get(SourceId::Registry).error.is_some()).await;
        assert_eq!(status(&inv, SourceId::Registry), wanted, "{fault}");
        assert!(inv.tenants.iter().all(|t| matches!(&t.owner, Owner::Unknown(gap) if gap.kind == kind)), "{fault}");
        let rows: Vec<_> = inv.attention.iter().map(|a| (a.kind, &*a.place)).collect();
        assert_eq!(rows, [("source", "REG")], "{fault}");
        assert_eq!(inv.tenant("eds").map(|t| t.layers.fabric.presence), Some(Presence::Present), "{fault}");
        bench.lab.fault_off(fault).expect("a fault of the lab");
        let after = fresh(&mut bench).await;
        assert_eq!((owner(&after, "eds"), after.attention.len()), ("registry", 0), "{fault}");
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_registry_and_fabric_say_differently_is_seen_and_goes() {
    let mut bench = bench().await;
    fresh(&mut bench).await;
    bench.lab.fault_on("registry-lost@eds").expect("a fault of the lab");
    let inv = fresh(&mut bench).await;
    assert_eq!((owner(&inv, "eds"), owner(&inv, "tdemo"), inv.attention.len()), ("not in the registry", "registry", 0));
    bench.lab.fault_off("registry-lost").expect("a fault of the lab");
    bench.lab.fault_on("registry-differs@eds").expect("a fault of the lab");
    let inv = fresh(&mut bench).await;
    let registration = inv.tenant("eds").and_then(|t| t.owner.registration()).expect("registered");
    let fields: Vec<_> = registration.diffs.iter().map(|d| &*d.field).collect();
    assert_eq!(fields, ["index", "vrf_vni", "vnet_vni_base", "subnet", "gateway"]);
    let told: Vec<_> = inv.attention.iter().map(|a| (&*a.place, &*a.what)).collect();
    assert_eq!(told, [("eds", "the registry has index 61, the fabric 2")]);
    bench.lab.fault_off("registry-differs").expect("a fault of the lab");
    bench.lab.fault_on("registry-only").expect("a fault of the lab");
    let inv = fresh(&mut bench).await;
    let orchard = inv.tenant("orchard").expect("a row of its own");
    assert_eq!((orchard.index, orchard.layers.fabric.presence), (62, Presence::Absent));
    assert_eq!(orchard.layers.node.presence, Presence::Absent);
    let told: Vec<_> = inv.attention.iter().map(|a| (&*a.place, &*a.what)).collect();
    assert_eq!(told, [("orchard", "registered as index 62 (ready), absent from the fabric")]);
    bench.lab.fault_off("registry-only").expect("a fault of the lab");
    let inv = fresh(&mut bench).await;
    assert!(inv.tenant("orchard").is_none() && inv.attention.is_empty());
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_registry_delays_nobody() {
    let mut bench = bench().await;
    fresh(&mut bench).await;
    bench.lab.fault_on("registry-slow").expect("a fault of the lab");
    let before = bench.feed.inventory.borrow().sources.get(SourceId::Registry).observed_at;
    bench.feed.refresh(Some(SourceId::Registry));
    bench.latency(SourceId::Pve).await;
    assert_eq!(bench.feed.inventory.borrow().sources.get(SourceId::Registry).observed_at, before);
    let inv = bench.until("late", |inv| inv.sources.get(SourceId::Registry).observed_at > before).await;
    assert!(inv.sources.get(SourceId::Registry).error.is_none(), "late is no failure");
    bench.stop().await;
}
