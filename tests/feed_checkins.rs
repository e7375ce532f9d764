//! Check-ins on a whole lab: every fault on, seen, off, gone; a source that fails leaves the others alone.

#![expect(clippy::expect_used, reason = "helpers of tests, which should stop")]

mod common;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use common::{Bench, clock, status, told};
use deevnet_console::backends::bootstrap::{Client, Listing};
use deevnet_console::backends::http::Limits;
use deevnet_console::inventory::{
    CheckInRow, CheckInState, Class, GapKind, Inventory, Presence, SourceId, SourceStatus,
};
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use deevnet_console::site::model::Trust;
use zeroize::Zeroizing;

async fn lab(tenants: Option<u32>, workloads: Option<u32>) -> Lab {
    let options = LabOptions {
        tenants,
        workloads,
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
    Lab::start(options).await.expect("a lab")
}

/// The site of Proxmox, the exit node and check-ins alone.
fn alone(text: &str) -> String {
    let parts = text.split("\n[");
    let kept = parts.filter(|part| !["powerdns]", "opnsense]", "resolvers]"].iter().any(|name| part.starts_with(name)));
    kept.collect::<Vec<_>>().join("\n[")
}

async fn bench() -> Bench {
    Bench::on(lab(None, None).await, |text| alone(&text), &clock()).await
}

/// A picture of which Proxmox and check-ins were read after now, with every machine's UUID.
async fn fresh(bench: &mut Bench) -> Arc<Inventory> {
    let now = clock()();
    bench.feed.refresh(None);
    bench
        .until("a fresh picture", |inv| {
            let read = |id| inv.sources.get(id).observed_at.is_some_and(|at| at >= now);
            read(SourceId::Pve) && read(SourceId::Boot) && read(SourceId::Exit) && common::complete(inv)
        })
        .await
}

fn row<'a>(inv: &'a Inventory, tenant: &str, workload: &str) -> &'a CheckInRow {
    inv.checkins.iter().find(|c| &*c.tenant == tenant && &*c.workload == workload).expect("the check-in")
}

fn b(inv: &Inventory, tenant: &str) -> (Presence, Class, String) {
    let layer = &inv.tenant(tenant).expect("the tenant").layers.bootstrap;
    (layer.presence, layer.class, layer.words.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_healthy_site_has_everything_applied_and_asks_for_nothing() {
    let mut bench = bench().await;
    let inv = fresh(&mut bench).await;
    assert_eq!(inv.attention, Vec::new(), "{}", told(&inv));
    assert_eq!(b(&inv, "eds"), (Presence::Present, Class::Fine, "2 applied".into()));
    assert_eq!(inv.checkins.len(), inv.workloads.len());
    let states: std::collections::BTreeSet<_> = inv.checkins.iter().map(|c| c.state).collect();
    assert_eq!(states, [CheckInState::Applied, CheckInState::None].into(), "some have nothing declared");
    let services = row(&inv, "eds", "services");
    assert_eq!(services.vmid, Some(2080));
    assert!(services.events.iter().any(|e| &*e.what == "token" && e.text.contains("matches")), "{:?}", services.events);
    bench.stop().await;
}

/// A fault of a delivery: state, class and word of `eds/services`, letter B of eds, rows of the overview.
type Shown = (&'static str, CheckInState, Class, &'static str, &'static str, &'static [&'static str]);

const FAULTS: &[Shown] = &[
    (
        "checkin-failed@eds",
        CheckInState::Failed,
        Class::Fault,
        "failed at pull",
        "1 failed",
        &["bootstrap failed at pull: image access denied"],
    ),
    (
        "checkin-late@eds",
        CheckInState::Awaiting,
        Class::Warning,
        "awaiting, late",
        "1 late",
        &["check-in awaiting, late, token 6h left: look at its console"],
    ),
    (
        "checkin-stuck@eds",
        CheckInState::Delivered,
        Class::Warning,
        "delivered, stuck",
        "1 stuck",
        &["check-in delivered, stuck: look at its console"],
    ),
    (
        "checkin-replay@eds",
        CheckInState::ReplayRefused,
        Class::Fault,
        "replay refused",
        "1 refused",
        &["replay refused: two holders of one token"],
    ),
    (
        "checkin-behind@eds",
        CheckInState::Behind,
        Class::Warning,
        "behind",
        "1 behind",
        &["check-in behind: cold start or replace"],
    ),
    (
        "checkin-foreign@eds",
        CheckInState::Foreign,
        Class::Warning,
        "foreign",
        "1 foreign",
        &["another machine reports in its name"],
    ),
    ("checkin-silent@eds", CheckInState::Applied, Class::Info, "applied, silent", "1 silent", &[]),
    (
        "checkin-expired@eds",
        CheckInState::Expired,
        Class::Warning,
        "expired",
        "1 expired",
        &["check-in expired: reissue the token"],
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_of_a_delivery_is_seen_and_goes_without_a_trace() {
    let mut bench = bench().await;
    let healthy = fresh(&mut bench).await;
    for (fault, state, class, word, letter, rows) in FAULTS {
        bench.lab.fault_on(fault).expect("a fault of the lab");
        let inv = fresh(&mut bench).await;
        let c = row(&inv, "eds", "services");
        assert_eq!((c.state, c.class, &*c.word), (*state, *class, *word), "{fault}: {c:#?}");
        let (_, _, words) = b(&inv, "eds");
        assert_eq!(words, *letter, "{fault}");
        let said: Vec<_> = inv.attention.iter().map(|a| &*a.what).collect();
        assert_eq!(said, *rows, "{fault}\n{}", told(&inv));
        assert!(inv.attention.iter().all(|a| a.place == "eds/services"), "{fault}");
        let (jobs, before) = (row(&inv, "eds", "jobs"), row(&healthy, "eds", "jobs"));
        assert_eq!(
            (jobs.state, &jobs.word, jobs.since),
            (before.state, &before.word, before.since),
            "{fault}: its neighbour"
        );
        assert_eq!(b(&inv, "tdemo"), b(&healthy, "tdemo"), "{fault}");
        bench.lab.fault_off(fault).expect("a fault of the lab");
        let after = fresh(&mut bench).await;
        let (before, after) = (row(&healthy, "eds", "services"), row(&after, "eds", "services"));
        assert_eq!((before.state, &before.word, before.since), (after.state, &after.word, after.since), "{fault}");
    }
    bench.stop().await;
}

#[test]
fn the_tables_name_every_fault_of_check_ins() {
    let sources = ["checkins-not-offered", "checkins-down", "checkins-slow", "checkins-denied", "checkins-auth"];
    for spec in deevnet_console::lab::faults::specs().filter(|s| s.id.starts_with("checkin")) {
        let here = FAULTS.iter().any(|(fault, ..)| fault.split('@').next() == Some(spec.id));
        assert!(here || sources.contains(&spec.id), "nothing says how {} is shown", spec.id);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_fails_keeps_its_rows_concludes_nothing_and_recovers() {
    let mut bench = bench().await;
    let healthy = fresh(&mut bench).await;
    for (fault, wanted, kind, says) in [
        ("checkins-down", SourceStatus::Stale, GapKind::NoAnswer, "https://127.0.0.1:"),
        ("checkins-denied", SourceStatus::Denied, GapKind::Denied, "does not let this credential list check-ins"),
        ("checkins-auth", SourceStatus::Denied, GapKind::Denied, "did not accept the credential"),
    ] {
        bench.lab.fault_on(fault).expect("a fault of the lab");
        bench.feed.refresh(Some(SourceId::Boot));
        let inv = bench.until(fault, |inv| inv.sources.get(SourceId::Boot).error.is_some()).await;
        let error = inv.sources.get(SourceId::Boot).error.as_ref().expect("an error");
        assert_eq!((status(&inv, SourceId::Boot), error.kind), (wanted, kind), "{fault}: {}", error.text);
        assert!(error.text.contains(says) && error.help.is_some(), "{fault}: {}", error.text);
        assert!(inv.sources.get(SourceId::Boot).next_try.is_some(), "{fault}: nobody tries again");
        assert_eq!(inv.checkins.len(), healthy.checkins.len(), "{fault}: the last rows stay");
        assert!(inv.tenants.iter().all(|t| t.layers.bootstrap.presence == Presence::Unknown), "{fault}");
        assert!(inv.workloads.iter().all(|w| w.checkin.is_err()), "{fault}");
        let rows: Vec<_> = inv.attention.iter().map(|a| (a.kind, &*a.place)).collect();
        assert_eq!(rows, [("source", "BOOT")], "{fault}: one cause, one row");
        assert_eq!(inv.tenant("eds").map(|t| t.layers.fabric.presence), Some(Presence::Present), "{fault}");
        bench.lab.fault_off(fault).expect("a fault of the lab");
        let after = fresh(&mut bench).await;
        assert_eq!((status(&after, SourceId::Boot), after.attention.len()), (SourceStatus::Fresh, 0), "{fault}");
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_without_check_ins_is_no_fault() {
    let mut bench = bench().await;
    fresh(&mut bench).await;
    bench.lab.fault_on("checkins-not-offered").expect("a fault of the lab");
    let inv = fresh(&mut bench).await;
    assert_eq!(status(&inv, SourceId::Boot), SourceStatus::Fresh);
    assert_eq!((inv.attention.len(), inv.checkins.len()), (0, 0), "{}", told(&inv));
    let gap = inv.checkins_gap.as_ref().expect("why there are none");
    assert!(
        gap.kind == GapKind::Off && gap.why.ends_with("offers no bootstrap check-ins. That is not a fault."),
        "{gap:?}"
    );
    assert!(inv.tenants.iter().all(|t| t.layers.bootstrap.is_off()));
    bench.lab.fault_off("checkins-not-offered").expect("a fault of the lab");
    let after = fresh(&mut bench).await;
    assert_eq!(b(&after, "eds").2, "2 applied");
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_service_delays_nobody() {
    let mut bench = bench().await;
    fresh(&mut bench).await;
    bench.lab.fault_on("checkins-slow").expect("a fault of the lab");
    let before = bench.feed.inventory.borrow().sources.get(SourceId::Boot).observed_at;
    bench.feed.refresh(Some(SourceId::Boot));
    for _ in 0..2 {
        bench.latency(SourceId::Pve).await;
        let inv = Arc::clone(&bench.feed.inventory.borrow());
        assert_eq!(inv.sources.get(SourceId::Boot).observed_at, before, "Proxmox did not wait for it");
    }
    let inv = bench.until("late", |inv| inv.sources.get(SourceId::Boot).observed_at > before).await;
    assert!(inv.sources.get(SourceId::Boot).error.is_none(), "late is no failure");
    bench.stop().await;
}

/// A full site is a handful of requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_and_a_half_thousand_records_are_five_requests() {
    let lab = lab(Some(62), Some(40)).await;
    lab.edit(|world| {
        let all: Vec<u32> = world.guests.keys().copied().filter(|vmid| (2040..4560).contains(vmid)).collect();
        let one = world.boot.deliveries.values().next().cloned().expect("a delivery");
        for vmid in all {
            world.boot.deliveries.entry(vmid).or_insert_with(|| one.clone());
        }
    })
    .expect("no fault is on");
    let word = std::fs::read_to_string(lab.dir().join("bootstrap-credential")).expect("the credential");
    let trust = Trust::CaFile(lab.dir().join("ca.pem"));
    let url = lab.bootstrap_url().expect("the second half");
    let limits = Limits { total: Duration::from_secs(30), ..Limits::default() };
    let client = Client::api(&url, &trust, Zeroizing::new(word), limits).expect("a client");
    for round in 1..=2 {
        let Listing::Records(all) = client.read().await.expect("a listing") else { panic!("not offered") };
        assert_eq!((all.items.len(), all.broken.len(), all.cut), (2480, 0, false));
        assert_eq!(client.sent(), 5 * round);
    }
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_of_a_file_are_read_again_and_broken_lines_are_named() {
    let lab = lab(None, None).await;
    let path = lab.dir().join("records.jsonl");
    let line = |workload: &str| {
        format!(
            "{{\"tenant\":\"eds\",\"workload\":\"{workload}\",\"declared\":{{\"generation\":1}},\"token\":{{\"kid\":\"K\",\
             \"state\":\"revoked\",\"issued_at\":\"2026-11-29T10:00:00Z\"}}}}\n"
        )
    };
    std::fs::write(&path, line("services") + "oops\n" + &line("jobs")).expect("a file");
    let file = format!("\n[bootstrap]\nfile = \"{}\"\n", path.display());
    let without = |text: &str| alone(text).split("\n[bootstrap]").next().unwrap_or_default().to_owned();
    let mut bench = Bench::on(lab, |text| without(&text) + &file, &clock()).await;
    let inv = fresh(&mut bench).await;
    for workload in ["services", "jobs"] {
        assert_eq!(&*row(&inv, "eds", workload).word, "revoked");
    }
    let gaps = &inv.sources.get(SourceId::Boot).gaps;
    assert!(gaps.len() == 1 && gaps[0].why.contains("records.jsonl, line 2: "), "{gaps:?}");
    let rows: Vec<_> = inv.attention.iter().filter(|a| a.kind == "source").map(|a| (&*a.place, &*a.what)).collect();
    assert!(matches!(rows[..], [("BOOT", what)] if what.contains("line 2")), "it is told beside the rest: {rows:?}");
    assert_eq!(b(&inv, "tdemo").0, Presence::Unknown, "a broken line may have been anybody's");
    std::fs::write(&path, line("jobs")).expect("a file");
    let inv = fresh(&mut bench).await;
    assert_eq!(inv.sources.get(SourceId::Boot).gaps, Vec::new());
    assert_eq!((b(&inv, "tdemo").0, row(&inv, "eds", "services").state), (Presence::Absent, CheckInState::None));
    std::fs::remove_file(&path).expect("a file");
    bench.feed.refresh(Some(SourceId::Boot));
    let inv = bench.until("gone", |inv| inv.sources.get(SourceId::Boot).error.is_some()).await;
    assert_eq!(status(&inv, SourceId::Boot), SourceStatus::Stale);
    bench.stop().await;
}

/// A token in every text of a record, and where no record should have one: nothing that is shown has its secret.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_planted_secret_is_nowhere_in_what_is_shown() {
    use base64::Engine as _;
    let secret = "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k";
    let token = format!("dbt1.EXAMPLEEXAMPLE03.{secret}");
    let coded = base64::engine::general_purpose::STANDARD.encode(&token);
    let text = format!("{token} {coded} {}", token.replace('.', "%2E"));
    let lab = lab(None, None).await;
    let path = lab.dir().join("records.jsonl");
    let record = format!(
        r#"{{"tenant":"eds","workload":"jobs","secret":"{secret}","declared":{{"generation":1,"digest":"{token}"}},
        "token":{{"kid":"{token}","secret":"{secret}","state":"redeemed","issued_at":"2026-11-29T10:20:00Z",
        "redeemed_at":"2026-11-29T10:21:00Z","redeemed_from":"{text}","smbios_uuid":"{token}"}},
        "refusals":[{{"at":"2026-11-29T10:24:40Z","reason":"{text}","from":"{token}","claim":"{token}"}}],
        "reports":[{{"at":"2026-11-29T10:24:41Z","phase":"{token}","status":"error","code":"{text}","detail":"{text}",
        "digest":"{token}","boot_id":"{token}","images":{{"{token}":"{text}"}},"from":"{text}"}}]}}"#
    );
    std::fs::write(&path, record.replace('\n', " ") + &format!("\n{{\"tenant\":\"{token}\"}}\n\"{text}\"\n"))
        .expect("a file");
    let file = format!("\n[bootstrap]\nfile = \"{}\"\n", path.display());
    let site = alone(&lab.site_toml()).split("\n[bootstrap]").next().unwrap_or_default().to_owned() + &file;
    let at = lab.dir().join("secret.toml");
    std::fs::write(&at, &site).expect("a site file");
    let mut bench = Bench::on(lab, |_| site, &clock()).await;
    let inv = fresh(&mut bench).await;
    assert_eq!(row(&inv, "eds", "jobs").kid.as_deref(), Some("EXAMPLEEXAMPLE03"));
    let mut shown = format!("{inv:#?}");
    for verb in [
        vec!["get", "checkins"],
        vec!["get", "checkins", "-o", "json"],
        vec!["get", "sources", "-o", "yaml"],
        vec!["render", "checkins", "--size", "120x40"],
        vec!["render", "overview", "--size", "120x40"],
    ] {
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
        let (verb, at) = (verb, at.clone());
        let out = tokio::task::spawn_blocking(move || {
            let mut run = run;
            run.arg("--site").arg(at).args(&verb).env("LC_ALL", "C.UTF-8").output().expect("the program")
        });
        let out = out.await.expect("it ended");
        shown += &String::from_utf8_lossy(&out.stdout);
        shown += &String::from_utf8_lossy(&out.stderr);
    }
    assert!(shown.contains("eds/jobs") && shown.contains("EXAMPLEEXAMPLE03"), "nothing was shown");
    for canary in [secret, &coded, &secret.to_lowercase(), secret.get(..20).expect("a part")] {
        assert!(!shown.contains(canary), "{canary} shows");
    }
    bench.stop().await;
}
