//! The perimeter's worker and its join against the lab's OPNsense, as both versions speak: up, slow, down, denied in part
//! and as a whole, with a wrong key, broken, and back again. One request at a time, a bounded number a poll.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test stops at the first surprise, its output is its report"
)]

mod common;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::opnsense::{Client, Pace};
use deevnet_console::inventory::feed::{Clients, Feed};
use deevnet_console::inventory::{Class, GapKind, Inventory, Presence, SourceId, SourceStatus};
use deevnet_console::lab::perimeter::{Perimeter, Release};
use deevnet_console::lab::{self, Lab, LabOptions};
use zeroize::Zeroizing;

use common::{clock, site, status, told};

/// A lab with its perimeter, and a feed that waits between polls as the product does, but not for the first of two
/// wishes.
struct Bench {
    lab: Lab,
    feed: Feed,
}

impl Bench {
    async fn start(release: Release) -> Self {
        Self::with(release, Duration::from_secs(10)).await
    }

    /// With another patience for a request.
    async fn with(release: Release, total: Duration) -> Self {
        let options = LabOptions {
            tenants: None,
            workloads: None,
            faults: Vec::new(),
            seed: 7,
            clock: clock(),
            program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
            second_half: true,
            release,
            writable: false,
            pace: lab::Pace::Clock,
            dir: None,
        };
        let lab = Lab::start(options).await.unwrap();
        lab.edit(|world| world.perimeter.api.unauthorized_delay_ms = 0).unwrap();
        let site = site(&lab, |text| text);
        let mut clients = Clients::connect(&site).await;
        assert!(matches!(clients.opnsense, Some(Ok(_))), "the site's own client could not be made");
        let (key, secret) = lab.world().perimeter.credential.clone();
        let pace = Pace { requests: Duration::ZERO, polls: Duration::ZERO };
        let limits = Limits { total, ..Limits::default() };
        let section = site.opnsense.as_ref().unwrap();
        let client = Client::new(section, &Zeroizing::new(key), &Zeroizing::new(secret), limits, pace).unwrap();
        clients.opnsense = Some(Ok(client));
        let feed = Feed::start(&site, clients, &clock());
        Self { lab, feed }
    }

    async fn until(&mut self, what: &str, mut wanted: impl FnMut(&Inventory) -> bool) -> Arc<Inventory> {
        match tokio::time::timeout(common::LIMIT, self.feed.inventory.wait_for(|inv| wanted(inv))).await {
            Ok(Ok(inv)) => return Arc::clone(&inv),
            Ok(Err(_)) => panic!("{what}: the feed ended"),
            Err(_) => {}
        }
        panic!("{what}: not in time; last seen:\n{}", told(&self.feed.inventory.borrow()));
    }

    /// A picture in which everything of the perimeter was read.
    async fn whole(&mut self) -> Arc<Inventory> {
        let read = |inv: &Inventory| {
            let known = inv.perimeter.must_not_exist.is_ok() && inv.perimeter.route.is_ok();
            known && inv.sources.get(SourceId::Fw).error.is_none() && !inv.tenants.is_empty()
        };
        self.until("the whole perimeter", read).await
    }

    /// Changes the perimeter and waits for a picture after the next poll.
    async fn after(&mut self, change: impl FnOnce(&mut Perimeter)) -> Arc<Inventory> {
        self.lab.edit(|world| change(&mut world.perimeter)).unwrap();
        self.polled().await
    }

    /// A picture after another poll, well or not.
    async fn polled(&mut self) -> Arc<Inventory> {
        let health = |inv: &Inventory| {
            let h = inv.sources.get(SourceId::Fw);
            (h.observed_at, h.next_try)
        };
        let before = health(&self.feed.inventory.borrow());
        self.feed.refresh(Some(SourceId::Fw));
        self.until("another poll", |inv| health(inv) != before).await
    }

    async fn stop(self) {
        drop(self.feed);
        self.lab.shutdown().await;
    }
}

const BOTH: [Release; 2] = [Release::V25_7, Release::V26_7];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_versions_are_read_to_the_same_picture() {
    for release in BOTH {
        let mut bench = Bench::start(release).await;
        let inv = bench.whole().await;
        assert_eq!(inv.perimeter.must_not_exist, Ok(0), "{release:?}: {:?}", inv.perimeter.patterns);
        assert_eq!(inv.perimeter.route.as_ref().unwrap().class, Class::Fine, "{:?}", inv.perimeter.route);
        assert_eq!(inv.perimeter.resolver.as_ref().unwrap().class, Class::Fine);
        let version = inv.perimeter.version.clone().unwrap();
        assert_eq!(version, if release == Release::V25_7 { "25.7.11" } else { "26.7.2" });
        for t in &inv.tenants {
            assert_eq!(t.layers.resolver.presence, Presence::Present, "{}: {}", t.name, t.layers.resolver.words);
        }
        let rule = |text: &str| inv.rules.iter().find(|r| r.description.contains(text)).unwrap();
        let ssh = rule("tenant workload SSH");
        assert_eq!((&*ssh.interfaces, &*ssh.destination, &*ssh.port), ("TENANT_DEV", "10.20.128.0/18", "22"));
        assert!(ssh.touches.as_ref().unwrap().meets("eds"));
        assert_eq!(rule("tenant_transit -> internet").destination.as_ref(), "not deevnet_private");
        assert!(rule("trusted -> management").protected);
        assert!(inv.attention.is_empty(), "{release:?}\n{}", told(&inv));
        bench.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_is_few_requests_and_never_two_at_a_time() {
    for release in BOTH {
        let mut bench = Bench::start(release).await;
        // Answers that take their time would overlap if anything asked side by side.
        bench.lab.edit(|world| world.perimeter.api.delay_ms = 20).unwrap();
        bench.whole().await;
        let (first, _) = bench.lab.opnsense_load();
        let mut polls = Vec::new();
        for _ in 0..3 {
            let before = bench.lab.opnsense_load().0;
            bench.polled().await;
            polls.push(bench.lab.opnsense_load().0 - before);
        }
        let (_, most) = bench.lab.opnsense_load();
        println!("{release:?}: {first} requests at first, then {polls:?} a poll, {most} at a time");
        assert_eq!(most, 1, "{release:?}");
        assert!(first <= 26 && polls.iter().all(|n| (5..=10).contains(n)), "{release:?}: {first}, {polls:?}");
        bench.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_come_before_what_hardly_changes() {
    let mut bench = Bench::start(Release::V26_7).await;
    bench.lab.edit(|world| world.perimeter.api.delay_ms = 150).unwrap();
    let inv = bench.until("the first rows", |inv| !inv.rules.is_empty()).await;
    let unread = |kind: GapKind| kind == GapKind::NotRead;
    assert!(inv.perimeter.route.as_ref().is_err_and(|gap| unread(gap.kind)), "{:?}", inv.perimeter.route);
    assert!(inv.forwards_gap.is_none() && !inv.forwards.is_empty());
    bench.whole().await;
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_is_told_and_what_returns_is_right_again() {
    for release in BOTH {
        let mut bench = Bench::start(release).await;
        let healthy = bench.whole().await;
        let inv = bench
            .after(|p| {
                let mut rule = p.rules.iter().find(|r| r.description.contains("trusted -> platform")).unwrap().clone();
                rule.uuid = "7c1d0e52-93b4-4f0e-9a55-0d1f3f5e2b10".into();
                rule.sequence = 9_000;
                rule.interface = p.interfaces.iter().find(|i| i.description == "IOT_VENDOR").unwrap().id.clone();
                (rule.source, rule.destination) = ("any".into(), "10.20.128.0/18".into());
                rule.description = "temp".into();
                p.rules.push(rule);
                p.forward_mut("eds.mobile.deevnet.net").unwrap().enabled = false;
            })
            .await;
        assert_eq!(inv.perimeter.must_not_exist, Ok(1), "{release:?}");
        assert!(inv.attention[0].what.starts_with("iot_vendor may reach the tenant overlay"), "{}", told(&inv));
        assert_eq!(inv.tenant("eds").unwrap().layers.resolver.words, "disabled");
        let inv = bench
            .after(|p| {
                p.rules.pop();
                p.forward_mut("eds.mobile.deevnet.net").unwrap().enabled = true;
                p.resolver.up = false;
            })
            .await;
        let what: Vec<&str> = inv.attention.iter().map(|a| a.what.as_str()).collect();
        assert_eq!(what, ["the resolver is stopped: no workload resolves a name"], "{release:?}");
        let inv = bench.after(|p| p.resolver.up = true).await;
        assert!(inv.attention.is_empty(), "{}", told(&inv));
        assert_eq!((&inv.forwards, &inv.perimeter), (&healthy.forwards, &healthy.perimeter));
        bench.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_router_that_goes_down_leaves_its_rows_and_no_verdict() {
    let mut bench = Bench::with(Release::V26_7, Duration::from_secs(3)).await;
    let healthy = bench.whole().await;
    let inv = bench.after(|p| p.api.up = false).await;
    let error = inv.sources.get(SourceId::Fw).error.clone().expect("an error");
    assert_eq!(error.kind, GapKind::NoAnswer, "{}", error.text);
    assert_eq!(inv.rules.len(), healthy.rules.len());
    assert!(inv.perimeter.must_not_exist.is_err() && inv.perimeter.route.is_err());
    assert_eq!(inv.tenant("eds").unwrap().layers.resolver.presence, Presence::Unknown);
    assert_eq!(inv.tenant("eds").unwrap().layers.fabric.presence, Presence::Present, "{}", told(&inv));
    let again = bench.polled().await;
    let pauses = [&inv, &again].map(|inv| inv.sources.get(SourceId::Fw).next_try.expect("another try"));
    assert!(pauses[1] > pauses[0], "it backs off: {pauses:?}");
    let inv = bench.after(|p| p.api.up = true).await;
    assert_eq!(status(&inv, SourceId::Fw), SourceStatus::Fresh, "{}", told(&inv));
    assert_eq!(bench.whole().await.perimeter, healthy.perimeter);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_router_is_late_and_delays_nobody() {
    let mut bench = Bench::start(Release::V26_7).await;
    bench.whole().await;
    bench.lab.edit(|world| world.perimeter.api.delay_ms = 400).unwrap();
    let before = bench.feed.inventory.borrow().sources.get(SourceId::Fw).observed_at;
    bench.feed.refresh(None);
    let read = |inv: &Inventory, id| inv.sources.get(id).observed_at;
    let pve = read(&bench.feed.inventory.borrow(), SourceId::Pve);
    let inv = bench.until("Proxmox", |inv| read(inv, SourceId::Pve) > pve).await;
    assert_eq!(read(&inv, SourceId::Fw), before, "the perimeter was not slow");
    let inv = bench.until("the perimeter", |inv| read(inv, SourceId::Fw) > before).await;
    assert!(inv.sources.get(SourceId::Fw).error.is_none(), "late is no failure\n{}", told(&inv));
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_privilege_that_is_missing_is_one_gap_that_names_it() {
    for release in BOTH {
        for (path, status, kind, name) in [
            ("firewall/filter_util", 403, GapKind::Denied, "page-firewall-rules"),
            ("unbound/settings/search_forward", 403, GapKind::Denied, "page-services-unbound"),
            ("interfaces/overview", 403, GapKind::Denied, "page-status-interfaces"),
            ("firewall/filter/get", 403, GapKind::Denied, "page-filter-api"),
            ("firewall/filter/get", 500, GapKind::Failed, "firewall/filter/get"),
        ] {
            let mut bench = Bench::start(release).await;
            bench
                .lab
                .edit(|world| {
                    world.perimeter.faulty.insert(path.to_owned(), status);
                })
                .unwrap();
            let inv =
                bench.until("what may be read", |inv| inv.perimeter.route.is_ok() && !inv.tenants.is_empty()).await;
            let health = inv.sources.get(SourceId::Fw);
            assert!(health.error.is_none(), "{path}: {}", told(&inv));
            let named = |g: &&deevnet_console::inventory::Gap| g.kind == kind && g.why.contains(name);
            assert!(health.gaps.iter().any(|g| named(&g)), "{release:?} {path}: {:?}", health.gaps);
            let (rules, forwards) = (inv.rules_gap.is_none(), inv.forwards_gap.is_none());
            assert_eq!(rules, path != "firewall/filter/get", "{path}");
            assert_eq!(forwards, !path.starts_with("unbound"), "{path}");
            if path != "unbound/settings/search_forward" && path != "firewall/filter_util" {
                assert!(inv.perimeter.must_not_exist.is_err(), "{path}");
            }
            assert!(inv.attention.iter().all(|a| a.kind == "source"), "{path}: {}", told(&inv));
            bench.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_without_any_privilege_denies_the_source() {
    let mut bench = Bench::start(Release::V26_7).await;
    let healthy = bench.whole().await;
    let inv = bench.after(|p| p.denied = true).await;
    assert_eq!(status(&inv, SourceId::Fw), SourceStatus::Denied, "{}", told(&inv));
    let text = &inv.sources.get(SourceId::Fw).error.as_ref().unwrap().text;
    assert!(text.contains("page-"), "{text}");
    assert_eq!(inv.rules.len(), healthy.rules.len(), "the last rows stay");
    let inv = bench.after(|p| p.denied = false).await;
    assert_eq!(status(&inv, SourceId::Fw), SourceStatus::Fresh, "{}", told(&inv));
    assert_eq!(bench.whole().await.perimeter, healthy.perimeter);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_is_one_request_a_try() {
    let mut bench = Bench::start(Release::V26_7).await;
    bench.whole().await;
    for (change, word) in [
        ((|p| p.api.tokens_known = false) as fn(&mut Perimeter), "did not accept the API key"),
        (
            |p| {
                p.api.tokens_known = true;
                p.faulty.insert(String::new(), 302);
            },
            "login page",
        ),
    ] {
        bench.lab.edit(|world| change(&mut world.perimeter)).unwrap();
        for _ in 0..2 {
            let before = bench.lab.opnsense_load().0;
            let inv = bench.polled().await;
            let error = inv.sources.get(SourceId::Fw).error.clone().expect("an error");
            assert!(error.kind == GapKind::Denied && error.text.contains(word), "{}", error.text);
            assert_eq!(bench.lab.opnsense_load().0 - before, 1, "{word}");
        }
    }
    let inv = bench.after(|p| p.faulty.clear()).await;
    assert!(inv.sources.get(SourceId::Fw).error.is_none(), "{}", told(&inv));
    bench.stop().await;
}
