//! Names read by the engine: PowerDNS and the perimeter resolver of a lab, a real PowerDNS behind the lab's Proxmox.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of tests, which should stop; a skip and a measurement are said aloud"
)]

mod common;
mod dns_common;
#[path = "feed_dns/queries.rs"]
mod queries;
#[path = "feed_dns/real.rs"]
mod real;

use std::sync::Arc;

use common::{Bench, LIMIT, clock, lab_of, status, told};
use deevnet_console::inventory::{
    Class, Demand, Gap, GapKind, Inventory, Presence, RecordRow, Seen, SourceId, SourceStatus,
};
use deevnet_console::lab::names::Rrset;

const ZONE: &str = "/servers/localhost/zones/{zone}";
const METADATA: &str = "/servers/localhost/zones/{zone}/metadata";
const ZONES: &str = "/servers/localhost/zones";

async fn bench(change: impl FnOnce(String) -> String) -> Bench {
    Bench::on(lab_of(None, None, clock(), true).await, change, &clock()).await
}

fn unread<T>(seen: &Seen<T>) -> bool {
    matches!(seen, Err(Gap { kind: GapKind::NotRead, .. }))
}

/// Whether nothing about names waits to be read for the first time.
fn named(inv: &Inventory) -> bool {
    let hole = |r: &RecordRow| r.gap.as_ref().is_some_and(|g| g.kind == GapKind::NotRead);
    common::complete(inv)
        && !inv.tenants.is_empty()
        && inv.records_gap.is_none()
        && !inv.records.iter().any(hole)
        && !inv
            .zones
            .iter()
            .any(|z| unread(&z.exists) || z.exists == Ok(true) && (unread(&z.rrsets) || unread(&z.keys)))
}

/// A picture in which names were read after now.
async fn fresh(bench: &mut Bench) -> Arc<Inventory> {
    let now = clock()();
    bench.feed.refresh(None);
    bench
        .until("names", |inv| {
            let read = |id| inv.sources.get(id).observed_at.is_some_and(|at| at >= now);
            [SourceId::Pve, SourceId::Dns, SourceId::Exit].into_iter().all(read) && named(inv)
        })
        .await
}

fn count(bench: &Bench, endpoint: &str) -> u64 {
    bench.names.as_ref().expect("a client").requests().by_endpoint.get(endpoint).copied().unwrap_or_default()
}

fn total(bench: &Bench) -> u64 {
    bench.names.as_ref().expect("a client").requests().total
}

fn row<'a>(inv: &'a Inventory, name: &str, kind: &str) -> &'a RecordRow {
    let found = inv.records.iter().find(|r| *r.name == *name && *r.kind == *kind);
    found.unwrap_or_else(|| panic!("no {name} {kind}\n{}", told(inv)))
}

fn d(inv: &Inventory, tenant: &str) -> (Presence, String) {
    let layer = &inv.tenant(tenant).unwrap_or_else(|| panic!("no {tenant}\n{}", told(inv))).layers.dns;
    (layer.presence, layer.words.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_healthy_lab_has_its_names_and_an_unchanged_zone_costs_nothing() {
    let mut bench = bench(|text| text).await;
    let inv = fresh(&mut bench).await;
    assert!(inv.tenants.iter().all(|t| t.layers.dns.presence == Presence::Present), "{}", told(&inv));
    assert_eq!(inv.attention, Vec::new(), "{}", told(&inv));
    assert!(inv.workloads.iter().all(|w| w.names.a.as_ref().is_ok_and(|m| m.class == Class::Fine)));
    let (zones, cold) = (inv.zones.len() as u64, total(&bench));
    println!("cold: {cold} requests for {zones} zones");
    assert!(cold <= 2 * zones + 12, "{cold} requests for {zones} zones");
    let (content, metadata, lists, before) =
        (count(&bench, ZONE), count(&bench, METADATA), count(&bench, ZONES), total(&bench));
    assert_eq!((content, metadata), (zones, zones), "each zone once");
    for _ in 0..3 {
        fresh(&mut bench).await;
    }
    let cycles = count(&bench, ZONES) - lists;
    println!("{cycles} wished cycles: {} requests", total(&bench) - before);
    assert_eq!(
        (count(&bench, ZONE), count(&bench, METADATA)),
        (content, metadata),
        "nothing moved, nothing is on screen"
    );
    assert!(total(&bench) - before <= 4 * cycles, "list, server, settings, keys");
    bench
        .lab
        .edit(|world| {
            let origin = "tdemo.mobile.deevnet.net.";
            let zone = world.names.zones.get_mut(origin).expect("a zone");
            zone.set("more.tdemo.mobile.deevnet.net.", "A", Rrset::one(300, "10.20.129.10"));
            zone.bump(origin, 0);
        })
        .expect("a world");
    bench.feed.refresh(Some(SourceId::Dns));
    bench.until("the new record", |inv| inv.records.iter().any(|r| &*r.label == "more")).await;
    assert_eq!(count(&bench, ZONE) - content, 1, "one serial moved");
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_powerdns_that_fails_says_why_keeps_its_rows_and_recovers() {
    let mut bench = bench(|text| text).await;
    let healthy = fresh(&mut bench).await;
    for (fault, expected, kind, says) in [
        ("dns-api-denied", SourceStatus::Denied, GapKind::Denied, "webserver-allow-from"),
        ("dns-api-auth", SourceStatus::Denied, GapKind::Denied, "did not accept the API key"),
    ] {
        bench.lab.fault_on(fault).expect("a fault");
        bench.feed.refresh(Some(SourceId::Dns));
        let inv = bench.until(fault, |inv| inv.sources.get(SourceId::Dns).error.is_some()).await;
        let error = inv.sources.get(SourceId::Dns).error.clone().expect("an error");
        assert_eq!((status(&inv, SourceId::Dns), error.kind), (expected, kind), "{fault}: {}", error.text);
        assert!(error.text.contains(says), "{fault}: {}", error.text);
        assert!(error.help.is_some_and(|help| !help.is_empty()) && inv.sources.get(SourceId::Dns).next_try.is_some());
        assert_eq!(inv.records.len(), healthy.records.len(), "{fault}: the last rows stay");
        assert!(inv.records.iter().all(|r| r.class == Class::Unknown), "{fault}");
        assert!(inv.tenants.iter().all(|t| t.layers.dns.presence == Presence::Unknown), "{}", told(&inv));
        assert!(inv.tenants.iter().all(|t| t.layers.fabric.presence == Presence::Present), "{}", told(&inv));
        assert_eq!(inv.attention.len(), 1, "{fault}: one cause, one row\n{}", told(&inv));
        bench.lab.fault_off(fault).expect("a fault");
        let after = fresh(&mut bench).await;
        assert_eq!(status(&after, SourceId::Dns), SourceStatus::Fresh, "{fault}");
        // Other sources have counters that move meanwhile.
        assert!((&after.records, &after.zones) == (&healthy.records, &healthy.zones), "{fault}\n{}", told(&after));
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_powerdns_that_answers_late_delays_nobody() {
    let mut bench = bench(|text| text).await;
    fresh(&mut bench).await;
    let usual = bench.latency(SourceId::Pve).await;
    bench.lab.fault_on("dns-api-slow").expect("a fault");
    let before = bench.feed.inventory.borrow().sources.get(SourceId::Dns).observed_at;
    bench.feed.refresh(Some(SourceId::Dns));
    for _ in 0..3 {
        let now = bench.latency(SourceId::Pve).await;
        assert!(now < usual * 3 + std::time::Duration::from_secs(1), "{now:?} instead of {usual:?}");
    }
    let inv = bench.until("a late answer", |inv| inv.sources.get(SourceId::Dns).observed_at > before).await;
    assert!(inv.sources.get(SourceId::Dns).error.is_none(), "late is no failure\n{}", told(&inv));
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_zone_is_told_at_its_tenant() {
    let mut bench = bench(|text| text).await;
    let healthy = fresh(&mut bench).await;
    for (fault, presence, words, class) in [
        ("zone-missing", Presence::Differs, "zone missing", Class::Fault),
        ("tsig-unbound", Presence::Differs, "unsigned updates", Class::Fault),
        ("tsig-foreign", Presence::Differs, "foreign key", Class::Fault),
        ("update-refused", Presence::Differs, "networks differ", Class::Differs),
        ("apex-broken", Presence::Differs, "NS differs", Class::Differs),
        ("ptr-mismatch", Presence::Differs, "1 record wrong", Class::Differs),
    ] {
        // Metadata move no serial: they are read again of what is on screen, when it is wished.
        bench.feed.demand(Demand { tenants: vec!["eds".into()], ..Demand::default() });
        bench.lab.fault_on(&format!("{fault}@eds")).expect("a fault");
        bench.feed.refresh(Some(SourceId::Dns));
        let inv = bench.until(fault, |inv| d(inv, "eds").0 != Presence::Present && named(inv)).await;
        assert_eq!(d(&inv, "eds"), (presence, words.to_owned()), "{fault}\n{}", told(&inv));
        let told_of: Vec<_> = inv.attention.iter().map(|a| (a.class, a.place.as_str(), a.affects.len())).collect();
        assert_eq!(told_of, [(class, "eds", 1)], "{fault}\n{}", told(&inv));
        assert_eq!(d(&inv, "tdemo").0, Presence::Present, "{fault}");
        bench.lab.fault_off(fault).expect("a fault");
        bench.feed.refresh(Some(SourceId::Dns));
        let after = bench.until("its end", |inv| d(inv, "eds").0 == Presence::Present && named(inv)).await;
        bench.feed.demand(Demand::default());
        assert_eq!(after.records.len(), healthy.records.len(), "{fault}");
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_of_ten_thousand_records_is_read_once_and_shown_whole() {
    let mut bench = bench(|text| text).await;
    bench
        .lab
        .edit(|world| {
            let origin = "eds.mobile.deevnet.net.";
            let zone = world.names.zones.get_mut(origin).expect("a zone");
            for n in 0..10_000 {
                zone.set(&format!("n{n:05}.{origin}"), "A", Rrset::one(300, "10.20.130.10"));
            }
            zone.bump(origin, 0);
        })
        .expect("a world");
    let inv = fresh(&mut bench).await;
    let eds = inv.tenant("eds").expect("eds");
    assert!(inv.records_of(eds).len() > 10_000, "{}", inv.records_of(eds).len());
    assert_eq!(eds.layers.dns.presence, Presence::Present, "{}", told(&inv));
    let read = count(&bench, ZONE);
    bench.feed.demand(Demand { tenants: vec!["eds".into()], ..Demand::default() });
    let inv = bench.until("the first answers", |inv| inv.records.iter().any(|r| r.perimeter.is_ok())).await;
    fresh(&mut bench).await;
    assert!(count(&bench, ZONE) <= read + 1, "of what is unchanged a wish reads the small zone alone");
    let asked =
        bench.until("a cycle's answers", |inv| inv.records.iter().filter(|r| r.perimeter.is_ok()).count() >= 150).await;
    let compared = asked.records.iter().filter(|r| r.perimeter.is_ok()).count();
    println!("10,000 records: {compared} compared so far, {} rows", inv.records.len());
    assert!(compared < 2_000, "bounded a cycle");
    let own = asked.workloads_of(asked.tenant("eds").expect("eds")).len();
    let due = asked.records.iter().filter(|r| r.workload.is_some() && r.perimeter.is_ok()).count();
    assert_eq!(due, 2 * own, "names of workloads first");
    bench.stop().await;
}

/// The verb as a program: what it reads, prints and ends with.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn get_records_prints_both_servers_and_ends_with_what_is_unknown() {
    let lab = lab_of(None, None, clock(), true).await;
    let file = lab.dir().join("site-second-half.toml");
    std::fs::write(&file, lab.site_toml()).expect("a file");
    let run = async |args: &[&str]| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
        command.arg("--site").arg(&file).args(["get", "records"]).args(args).env("LANG", "C.UTF-8").kill_on_drop(true);
        let done = tokio::time::timeout(LIMIT, command.output()).await.expect("an end").expect("a program");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    let (code, out, err) = run(&["-o", "json", "--tenant", "tdemo"]).await;
    assert_eq!(code, Some(0), "{out}{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["schema"], "deevnet-console/get-records/v1");
    let items = json["items"].as_array().expect("items");
    assert_eq!(items.len(), 5, "{out}");
    let app = items.iter().find(|i| i["name"] == "app.tdemo.mobile.deevnet.net").expect("app");
    assert_eq!((&app["type"], &app["state"], &app["word"]), (&"A".into(), &"fine".into(), &"same".into()));
    assert_eq!(
        (&app["values"][0]["content"], &app["perimeter"]["values"][0]),
        (&"10.20.129.10".into(), &"10.20.129.10".into())
    );
    assert_eq!((&app["tenant"], &app["zone"]), (&"tdemo".into(), &"tdemo.mobile.deevnet.net".into()));
    let (code, out, _) = run(&[]).await;
    assert_eq!(code, Some(0), "{out}");
    assert!(out.lines().next().is_some_and(|head| head.starts_with("TENANT") && head.contains("PERIMETER")), "{out}");
    assert!(out.contains("10.129.20.10") && out.contains("✓ same"), "{out}");
    lab.fault_on("dns-api-auth").expect("a fault");
    let (code, out, err) = run(&["-o", "json"]).await;
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &json["items"]), (Some(3), &serde_json::Value::Null), "{out}{err}");
    assert!(json["unknown"].as_str().is_some_and(|why| why.contains("API key")), "{out}");
    lab.shutdown().await;
}
