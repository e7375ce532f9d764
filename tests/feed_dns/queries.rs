//! The perimeter, and an authority without its API.

use deevnet_console::inventory::{Class, Demand, GapKind, Presence, SourceId, SourceStatus};

use super::common::{status, told};
use super::dns_common::{Server, bytes, empty};
use super::{bench, d, fresh, row};

const APP: &str = "app.tdemo.mobile.deevnet.net";

fn tdemo() -> Demand {
    Demand { tenants: vec!["tdemo".into()], ..Demand::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_perimeter_is_asked_for_what_is_on_screen_alone() {
    let mut bench = bench(|text| text).await;
    let inv = fresh(&mut bench).await;
    assert!(inv.records.iter().all(|r| r.perimeter.is_err()), "nothing is on screen");
    bench.feed.demand(tdemo());
    let inv = bench.until("its answers", |inv| row(inv, "web.tdemo.mobile.deevnet.net", "A").perimeter.is_ok()).await;
    assert_eq!(&*row(&inv, APP, "A").word, "same", "{}", told(&inv));
    assert_eq!(&*row(&inv, "10.129.20.10.in-addr.arpa", "PTR").word, "same");
    assert!(inv.records.iter().filter(|r| r.tenant.as_deref() == Some("eds")).all(|r| r.perimeter.is_err()));
    bench.until("the zone's serial there", |inv| inv.zones.iter().any(|z| z.perimeter_serial.is_ok())).await;
    bench.lab.fault_on("negative-cached@tdemo").expect("a fault");
    bench.feed.refresh(Some(SourceId::Dns));
    let inv = bench.until("the cached no", |inv| &*row(inv, APP, "A").word == "FW NXDOMAIN").await;
    let answer = row(&inv, APP, "A").perimeter.clone().expect("an answer");
    assert!(answer.left.is_some_and(|left| left > 60) && answer.soa.is_some(), "{answer:?}");
    assert_eq!(d(&inv, "tdemo").0, Presence::Present, "the record itself is right");
    bench.stop().await;
}

/// Silence is found out once a cycle, by two questions, whatever there is to be asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_resolver_is_a_gap_and_given_up_at_once() {
    let silent = Server::udp(|_| Vec::new()).await;
    let at = silent.addr;
    let mut bench = bench(|text| with_resolver(&text, &at.to_string())).await;
    bench.feed.demand(tdemo());
    let dead = |inv: &deevnet_console::inventory::Inventory| {
        let rows = inv.records.iter().filter(|r| r.tenant.as_deref() == Some("tdemo") && &*r.kind != "TXT");
        let mut rows = rows.map(|r| r.perimeter.as_ref().err().map(|g| g.kind)).peekable();
        rows.peek().is_some() && rows.all(|kind| kind == Some(GapKind::NoAnswer))
    };
    let inv = bench.until("the gap", dead).await;
    println!("a dead resolver was asked {} times", silent.asked());
    assert!(silent.asked() <= 8, "{} questions", silent.asked());
    let why = row(&inv, APP, "A").perimeter.clone().expect_err("a gap").why;
    assert_eq!(&*why, "10.20.50.1 does not answer");
    assert_eq!((row(&inv, APP, "A").class, &*row(&inv, APP, "A").word), (Class::Fine, "right"), "{}", told(&inv));
    assert_eq!(status(&inv, SourceId::Dns), SourceStatus::Fresh);
    assert!(inv.sources.get(SourceId::Dns).gaps.iter().any(|g| g.why == why), "{}", told(&inv));
    assert_eq!((inv.attention.len(), inv.attention[0].what.as_str()), (1, &*why), "{}", told(&inv));
    bench.stop().await;
}

/// It answers for itself and is silent about what is behind it: one wave of questions finds out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resolver_without_its_upstream_is_given_up_after_one_wave() {
    let half = Server::udp(|asked| {
        let name = asked.queries[0].name.to_string();
        if name == "localhost." {
            vec![bytes(&empty(asked, hickory_proto::op::ResponseCode::NoError))]
        } else {
            Vec::new()
        }
    })
    .await;
    let at = half.addr;
    let mut bench = bench(|text| with_resolver(&text, &at.to_string())).await;
    bench.feed.demand(Demand { tenants: vec!["greenhse".into(), "tdemo".into()], ..Demand::default() });
    let inv = bench
        .until("the gap", |inv| {
            inv.sources.get(SourceId::Dns).gaps.iter().any(|g| g.why.contains("says nothing about names of this site"))
        })
        .await;
    println!("a resolver without upstream was asked {} times", half.asked());
    assert!(half.asked() <= 24, "{} questions\n{}", half.asked(), told(&inv));
    assert_eq!(status(&inv, SourceId::Dns), SourceStatus::Fresh);
    bench.stop().await;
}

fn with_resolver(text: &str, at: &str) -> String {
    let changed: Vec<String> = text
        .lines()
        .map(|line| if line.starts_with("ask = ") { format!("ask = \"{at}\"") } else { line.to_owned() })
        .collect();
    changed.join("\n")
}

fn dns_only(text: String) -> String {
    text.replace("mode = \"api\"", "mode = \"dns-only\"")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_queries_alone_zones_and_workloads_names_are_known_and_the_rest_is_off() {
    let mut bench = bench(dns_only).await;
    let inv = bench
        .until("the names", |inv| {
            !inv.tenants.is_empty()
                && !inv.workloads.is_empty()
                && inv.workloads.iter().all(|w| w.names.a.is_ok() && w.names.ptr.is_ok())
                && inv.tenants.iter().all(|t| t.layers.dns.presence == Presence::Present)
        })
        .await;
    assert_eq!(d(&inv, "tdemo").1, "present, by queries", "{}", told(&inv));
    assert_eq!(status(&inv, SourceId::Dns), SourceStatus::Fresh);
    assert!(inv.records.iter().all(|r| r.workload.is_some()), "only names that are known can be asked");
    let zone = inv.zones.iter().find(|z| &*z.zone == "tdemo.mobile.deevnet.net").expect("a zone");
    assert_eq!(zone.keys.as_ref().expect_err("unknowable").kind, GapKind::Off);
    assert!(zone.serial.as_ref().is_ok_and(Option::is_some));
    assert_eq!(inv.attention, Vec::new(), "{}", told(&inv));
    bench.lab.fault_on("zone-missing@eds").expect("a fault");
    bench.feed.demand(Demand { tenants: vec!["eds".into()], ..Demand::default() });
    bench.feed.refresh(Some(SourceId::Dns));
    let inv = bench.until("the missing zone", |inv| d(inv, "eds").0 == Presence::Differs).await;
    assert_eq!(d(&inv, "eds").1, "zone missing", "{}", told(&inv));
    bench.lab.fault_off("zone-missing").expect("a fault");
    bench.lab.fault_on("auth-down").expect("a fault");
    bench.feed.refresh(Some(SourceId::Dns));
    let inv = bench.until("its silence", |inv| inv.sources.get(SourceId::Dns).error.is_some()).await;
    let error = inv.sources.get(SourceId::Dns).error.clone().expect("an error");
    assert_eq!(error.kind, GapKind::NoAnswer);
    assert!(error.text.contains("did not answer") && error.help.is_some(), "{}", error.text);
    assert!(inv.records.iter().all(|r| r.class == Class::Unknown) && !inv.records.is_empty());
    bench.lab.fault_off("auth-down").expect("a fault");
    bench.feed.refresh(Some(SourceId::Dns));
    bench
        .until("its return", |inv| {
            status(inv, SourceId::Dns) == SourceStatus::Fresh && d(inv, "eds").0 == Presence::Present
        })
        .await;
    bench.stop().await;
}
