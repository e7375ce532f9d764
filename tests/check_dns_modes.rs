//! `check dns` and `resolve` against a real PowerDNS and a real Unbound in every mode of `tests/tools/dns-fixture.sh`: what
//! is broken is named alone, and what only looks broken is not.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

mod common;
mod powerdns_common;

use std::future::ready;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use deevnet_console::backends::dns::{Query, Rcode, RecordType, ask};
use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::collect::{Check, Sink, Wanted, collect, report};
use deevnet_console::diagnose::finding::Severity;
use deevnet_console::diagnose::resolve::{State, Target, Vantage, Vantages, resolve};
use deevnet_console::inventory::Inventory;
use deevnet_console::inventory::feed::Clients;
use deevnet_console::lab::Lab;
use deevnet_console::site::Site;
use powerdns_common::{KEY, Pdns};

const FORWARD: &str = "tdemo.mobile.deevnet.net";
const REVERSE: &str = "129.20.10.in-addr.arpa";
const APP: &str = "app.tdemo.mobile.deevnet.net";
const POINTER: &str = "10.129.20.10.in-addr.arpa";

/// The servers, the lab that has the tenant, and a picture of it.
struct Bench {
    server: Pdns,
    lab: Lab,
    site: Arc<Site>,
    picture: Arc<Inventory>,
    _key: tempfile::TempDir,
}

impl Bench {
    async fn on(server: Pdns) -> Self {
        server.seed("tdemo", FORWARD, REVERSE);
        let lab = common::lab_of(Some(1), Some(1), common::clock(), false).await;
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("key");
        std::fs::write(&key, KEY).unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let site = common::site(&lab, |text| {
            let own = format!(
                "\n[powerdns]\nmode = \"api\"\nurl = \"{}\"\napi_key = {{ file = \"{}\" }}\ndns = \"{}\"\n\n\
                 [resolvers]\nperimeter = \"10.20.50.53\"\nask = \"{}\"\n",
                server.origin(),
                key.display(),
                server.site().dns,
                server.resolver(),
            );
            text + &own
        });
        let clients = Clients::connect(&site).await;
        let mut bench = common::Bench::with(lab, Arc::clone(&site), clients, &common::clock());
        let picture =
            bench.until("the tenant's machine", |inv| !inv.workloads.is_empty() && common::complete(inv)).await;
        drop(bench.feed);
        let bench = Self { server, lab: bench.lab, site, picture, _key: dir };
        bench.write(FORWARD, APP, "A", "10.20.129.10");
        bench.write(REVERSE, POINTER, "PTR", &format!("{APP}."));
        bench
    }

    fn write(&self, zone: &str, name: &str, kind: &str, value: &str) {
        let rrset = format!(
            r#"{{"name":"{name}.","type":"{kind}","ttl":300,"changetype":"REPLACE","records":[{{"content":"{value}"}}]}}"#
        );
        self.server.patch(&format!("{zone}."), rrset.as_bytes());
    }

    fn remove(&self, zone: &str, name: &str, kind: &str) {
        let rrset = format!(r#"{{"name":"{name}.","type":"{kind}","changetype":"DELETE"}}"#);
        self.server.patch(&format!("{zone}."), rrset.as_bytes());
    }

    async fn check(&self) -> Report {
        let clients = Clients::connect(&self.site).await;
        let wanted = Wanted::of(Check::Dns, Some("tdemo"));
        report(&collect(&self.site, &clients, &wanted, &Sink::new(common::clock())).await)
    }

    /// Nothing is wrong, or `id` alone is; what is unknown beside it is told.
    async fn is(&self, mode: &str, id: Option<&str>) -> Report {
        let report = self.check().await;
        let loud: Vec<&str> = report.findings.iter().filter(|f| f.severity > Severity::Info).map(|f| f.id).collect();
        assert!(loud.iter().all(|found| Some(*found) == id), "{mode}: {}", told(&report));
        assert_eq!(report.headline().map(|f| f.id).filter(|_| !loud.is_empty()), id, "{mode}: {}", told(&report));
        report
    }

    /// What the authority and the perimeter are to what the index derives for `text`.
    async fn resolves(&self, text: &str) -> (State, State) {
        let target = Target::parse(&self.site, text, None).unwrap();
        let vantages = Vantages::of_site(&self.site);
        let clock = common::clock();
        let found = resolve(&self.site, &target, &vantages, ready(Arc::clone(&self.picture)), &*clock).await;
        let (states, _) = found.judge();
        let of = |wanted| Vantage::ALL.iter().zip(states).find(|(v, _)| **v == wanted).unwrap().1.unwrap();
        (of(Vantage::Authoritative), of(Vantage::Perimeter))
    }

    async fn at_resolver(&self, name: &str, kind: RecordType) -> Option<Rcode> {
        let query = Query::new(self.server.resolver(), name.parse().unwrap(), kind);
        ask(&query, &*common::clock()).await.ok().map(|answer| answer.rcode)
    }
}

fn told(report: &Report) -> String {
    let findings =
        report.findings.iter().map(|f| format!("{:?} {} {:?} {}", f.severity, f.id, f.subject.name, f.title));
    findings.chain(report.unknown.iter().map(|u| format!("unknown {u:?}"))).collect::<Vec<_>>().join("\n")
}

/// A mode: flags, the finding, whether the perimeter has the name and the pointer as derived.
type Mode<'a> = (&'a [&'a str], Option<&'a str>, bool, bool);

async fn each(bench: &Bench, modes: &[Mode<'_>]) {
    for (flags, id, name, pointer) in modes {
        bench.server.reload_resolver(flags);
        let mode = flags.join(" ");
        bench.is(&mode, *id).await;
        let right = |right: bool| if right { State::AsExpected } else { State::Differs };
        assert_eq!(bench.resolves("tdemo/app").await, (State::AsExpected, right(*name)), "{mode}: the name");
        assert_eq!(bench.resolves(POINTER).await, (State::AsExpected, right(*pointer)), "{mode}: the pointer");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn modes_of_the_resolver() {
    let Some(server) = Pdns::with_resolver("modes_of_the_resolver") else { return };
    let bench = Bench::on(server).await;
    each(
        &bench,
        &[
            (&[], None, true, true),
            (&["no-private-domain"], Some("rebind-filtered"), false, true),
            (&["no-nodefault"], Some("builtin-reverse-zone"), true, false),
            // Nothing is filtered, whatever is listed.
            (&["no-private-address"], None, true, true),
            (&["no-private-domain", "no-private-address"], None, true, true),
            // Without a trust anchor there is nothing to exempt from.
            (&["no-insecure"], None, true, true),
            (&["stub"], None, true, true),
            (&["stub", "no-private-domain"], Some("rebind-filtered"), false, true),
            (&["stub", "no-nodefault"], Some("builtin-reverse-zone"), true, false),
            (&["serve-expired"], None, true, true),
            (&["serve-expired", "reply-ede"], None, true, true),
            (&["reply-ede", "no-private-domain"], Some("rebind-filtered"), false, true),
            (&["forward-first"], None, true, true),
            (&["tcp-upstream"], None, true, true),
        ],
    )
    .await;
    bench.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn modes_below_a_signed_parent() {
    let Some(server) = Pdns::with_parent("modes_below_a_signed_parent") else { return };
    let bench = Bench::on(server).await;
    each(
        &bench,
        &[
            (&[], None, true, true),
            (&["validate"], None, true, true),
            (&["validate", "reply-ede"], None, true, true),
            (&["validate", "no-insecure"], Some("dnssec-bogus"), false, true),
            (&["validate", "no-insecure", "reply-ede"], Some("dnssec-bogus"), false, true),
        ],
    )
    .await;
    // A secure NXDOMAIN of a name in between: 1.17 takes everything below it for gone, and only who sees the forwards can
    // say that there is one.
    bench.server.reload_resolver(&["validate"]);
    assert_eq!(bench.at_resolver("mobile.deevnet.net", RecordType::A).await, Some(Rcode::NXDOMAIN));
    let gone = bench.at_resolver(APP, RecordType::A).await == Some(Rcode::NXDOMAIN);
    let report = bench.is("below a name that is gone", None).await;
    let unknown = report.unknown.iter().any(|u| u.ids.contains(&"forward-missing"));
    assert_eq!(unknown, gone, "{}", told(&report));
    bench.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_authority_holds() {
    let Some(server) = Pdns::with_resolver("what_the_authority_holds") else { return };
    let bench = Bench::on(server).await;
    bench.is("healthy", None).await;

    // The records were lost, then written again while the resolver remembers that they were not there.
    bench.server.reload_resolver(&[]);
    bench.remove(FORWARD, APP, "A");
    let missing = bench.is("no address", Some("workload-name-missing")).await;
    assert!(missing.findings[0].facts.iter().any(|f| f.key == "name.address" && f.value.starts_with("none")));
    bench.write(FORWARD, APP, "A", "10.20.129.10");
    let cached = bench.is("written again", Some("negative-cached")).await;
    assert_eq!(cached.findings[0].subject.name, APP);
    assert_eq!(bench.resolves("tdemo/app").await, (State::AsExpected, State::Differs));
    bench.server.reload_resolver(&[]);
    bench.is("forgotten", None).await;

    bench.remove(REVERSE, POINTER, "PTR");
    bench.is("no reverse record", Some("workload-name-missing")).await;
    bench.write(REVERSE, POINTER, "PTR", "other.tdemo.mobile.deevnet.net.");
    bench.is("another's reverse record", Some("ptr-mismatch")).await;
    bench.write(REVERSE, POINTER, "PTR", &format!("{APP}."));
    bench.server.reload_resolver(&[]);

    // Names that are the tenant's business, and one that is not.
    bench.write(FORWARD, &format!("shop.{FORWARD}"), "A", "198.51.100.7");
    bench.write(FORWARD, &format!("web.{FORWARD}"), "A", "10.20.129.77");
    bench.is("names of its own", None).await;
    bench.write(FORWARD, &format!("web.{FORWARD}"), "A", "10.20.130.10");
    bench.is("a name of another's address", Some("name-points-outside")).await;
    bench.remove(FORWARD, &format!("web.{FORWARD}"), "A");

    // The apex lost its servers.
    bench.remove(FORWARD, FORWARD, "NS");
    bench.is("no NS", Some("apex-broken")).await;
    bench.write(FORWARD, FORWARD, "NS", &format!("ns1.{FORWARD}."));
    bench.is("healthy again", None).await;

    // The server is gone; what expired is still served, which is no health.
    bench.server.reload_resolver(&["serve-expired"]);
    bench.server.stop();
    let gone = bench.check().await;
    let down: Vec<(&str, bool)> = gone.findings.iter().map(|f| (f.id, f.caused_by.is_some())).collect();
    assert_eq!(down, [("auth-down", false), ("source-unreachable", true)], "{}", told(&gone));
    bench.lab.shutdown().await;
}

/// Sets how the API moves the serial of the forward zone.
fn moving(bench: &Bench, how: &str) {
    let body = format!(r#"{{"soa_edit_api":"{how}"}}"#);
    let (status, text) = bench.server.api("PUT", &format!("/zones/{FORWARD}."), body.as_bytes());
    assert_eq!(status, 204, "{text}");
}

/// A serial that does not move is told by itself: the apex is whole, and the resolver is not to blame.
#[tokio::test(flavor = "multi_thread")]
async fn a_serial_that_does_not_move() {
    let Some(server) = Pdns::with_resolver("a_serial_that_does_not_move") else { return };
    let bench = Bench::on(server).await;
    // A value that the server does not know leaves it where it is.
    moving(&bench, "BOGUS");
    bench.write(FORWARD, &format!("web.{FORWARD}"), "A", "10.20.129.20");
    bench.server.reload_resolver(&[]);
    let stays = bench.is("soa_edit_api BOGUS", Some("serial-unchanged")).await;
    assert!(stays.findings[0].title.contains("does not move"), "{}", told(&stays));
    // In a new zone that is 0, with an SOA.
    let (status, _) = bench.server.api("DELETE", &format!("/zones/{FORWARD}."), b"");
    assert_eq!(status, 204);
    let body = format!(
        r#"{{"name":"{FORWARD}.","kind":"Native","nameservers":["ns1.fixture."],"soa_edit_api":"BOGUS","rrsets":[]}}"#
    );
    assert_eq!(bench.server.api("POST", "/zones", body.as_bytes()).0, 201);
    bench.write(FORWARD, APP, "A", "10.20.129.10");
    let zero = bench.is("a new zone with BOGUS", Some("serial-unchanged")).await;
    assert!(zero.findings[0].facts.iter().any(|f| f.key == "zone.serial" && f.value == "0"), "{}", told(&zero));
    moving(&bench, "INCREASE");
    bench.write(FORWARD, &format!("web.{FORWARD}"), "A", "10.20.129.21");
    bench.is("INCREASE again", None).await;

    // None at all: the resolver keeps what it learnt at the serial that the zone has still.
    bench.remove(FORWARD, APP, "A");
    moving(&bench, "");
    bench.server.reload_resolver(&[]);
    bench.is("no address", Some("workload-name-missing")).await;
    bench.write(FORWARD, APP, "A", "10.20.129.10");
    let same = bench.is("no soa_edit_api", Some("serial-unchanged")).await;
    assert_eq!(same.findings[0].subject.name, FORWARD, "{}", told(&same));
    bench.lab.shutdown().await;
}

/// The API is off and the name server answers: one cause.
#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_is_off_is_one_cause() {
    let lab = common::lab_of(Some(2), Some(2), common::clock(), true).await;
    let site = common::site(&lab, |text| text);
    for fault in ["dns-api-down", "dns-api-denied"] {
        lab.fault_on(fault).unwrap();
        let dns = Wanted::of(Check::Dns, None);
        let keys = Wanted::of(Check::Isolation, None).with_keys(true);
        for wanted in
            [dns.clone().with_keys(true), dns, keys, Wanted::of(Check::All, None), Wanted::of(Check::Dns, Some("eds"))]
        {
            let clients = Clients::connect(&site).await;
            let check = wanted.question();
            let off = report(&collect(&site, &clients, &wanted, &Sink::new(common::clock())).await);
            let loud = off.findings.iter().filter(|f| f.severity > Severity::Info && f.caused_by.is_none());
            let roots: Vec<&str> = loud.map(|f| f.id).collect();
            assert_eq!(roots, ["source-unreachable"], "{fault} {check:?}: {}", told(&off));
            let why = off.unknown.iter().filter(|u| u.missing.contains("everything that PowerDNS tells")).count();
            assert_eq!(why, 1, "{fault} {check:?}: {}", told(&off));
        }
        lab.fault_off(fault).unwrap();
    }
    lab.shutdown().await;
}
