//! Tenants' update keys on each other's zones, on a real PowerDNS; the tenants themselves are the lab's.
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
mod keys_common;
mod powerdns_common;

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use deevnet_console::diagnose::collect::{Check, Wanted};
use deevnet_console::diagnose::finding::Severity;
use deevnet_console::diagnose::rules::keys::{KeyWay, between};
use deevnet_console::inventory::feed::Clock;
use deevnet_console::lab::Lab;
use deevnet_console::site::Site;
use keys_common::{Seen, ids, look, told};
use powerdns_common::{KEY, Pdns};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

const TDEMO: (&str, &str) = ("tdemo.mobile.deevnet.net", "129.20.10.in-addr.arpa");
const EDS: (&str, &str) = ("eds.mobile.deevnet.net", "130.20.10.in-addr.arpa");

/// A PowerDNS with the zones and keys of two tenants, the lab that has those tenants, a file with the API's key.
struct Bench {
    server: Pdns,
    lab: Lab,
    dir: tempfile::TempDir,
}

impl Bench {
    async fn up(test: &str) -> Option<Self> {
        let server = Pdns::up(test)?;
        server.seed("tdemo", TDEMO.0, TDEMO.1);
        server.seed("eds", EDS.0, EDS.1);
        let lab = common::lab_of(None, None, common::clock(), false).await;
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("key");
        std::fs::write(&key, KEY).unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        Some(Self { server, lab, dir })
    }

    /// The lab's tenants with this server's API, and `dns` as its port.
    fn site(&self, dns: SocketAddr) -> Arc<Site> {
        common::site(&self.lab, |text| {
            let key = self.dir.path().join("key");
            let own = format!(
                "\n[powerdns]\nmode = \"api\"\nurl = \"{}\"\napi_key = {{ file = \"{}\" }}\ndns = \"{dns}\"\n",
                self.server.origin(),
                key.display(),
            );
            text + &own
        })
    }

    async fn at(&self, dns: SocketAddr, clock: &Clock) -> Seen {
        let secrets: Vec<String> = ["tdemo", "eds"].iter().map(|name| self.server.secret(name)).collect();
        let wanted = Wanted::of(Check::Dns, None).with_keys(true);
        look(&self.site(dns), &wanted, &[secrets, vec![KEY.to_owned()]].concat(), clock).await
    }

    async fn seen(&self) -> Seen {
        self.at(self.server.site().dns, &common::clock()).await
    }

    fn change(&self, method: &str, path: &str, body: &str) {
        let (status, text) = self.server.api(method, path, body.as_bytes());
        assert!((200..300).contains(&status), "{method} {path}: {status} {text}");
    }

    fn bind(&self, zone: &str, kind: &str, values: &str) {
        let body = format!(r#"{{"kind":"{kind}","metadata":[{values}]}}"#);
        self.change("PUT", &format!("/zones/{zone}./metadata/{kind}"), &body);
    }

    /// Serials of all four zones.
    fn serials(&self) -> Vec<String> {
        let of = |zone: &&str| self.server.api("GET", &format!("/zones/{zone}."), b"").1;
        let all = [TDEMO.0, TDEMO.1, EDS.0, EDS.1];
        all.iter()
            .map(|zone| of(zone).split("\"serial\":").nth(1).unwrap().split(',').next().unwrap().trim().to_owned())
            .collect()
    }
}

fn way(seen: &Seen, from: &str, to: &str) -> KeyWay {
    between(&seen.facts, from, to)
}

/// Nothing is said to be proven of `zone`.
fn unproven(seen: &Seen, zone: &str) {
    let passes = seen.report.passed.iter().any(|p| p.id == "tsig-foreign" && p.subject.name == zone);
    let probed = |p: &KeyWay| *p == KeyWay::KeptOut;
    assert!(!probed(&way(seen, "tdemo", "eds")) || !passes, "{}", told(&seen.report));
    assert!(
        seen.report.unknown.iter().any(|u| u.ids.contains(&"tsig-foreign") && u.missing.contains(zone)),
        "{}",
        told(&seen.report)
    );
}

fn is_not_proven(way: &KeyWay, word: &str) {
    assert!(matches!(way, KeyWay::NotProven(why) if why.contains(word)), "{word}: {way:?}");
}

fn is_not_run(way: &KeyWay, word: &str) {
    assert!(matches!(way, KeyWay::NotRun(why) if why.contains(word)), "{word}: {way:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_zones_as_their_lists_say() {
    let Some(bench) = Bench::up("keys_and_zones_as_their_lists_say").await else { return };
    let before = bench.serials();
    let right = bench.seen().await;
    assert_eq!((way(&right, "tdemo", "eds"), way(&right, "eds", "tdemo")), (KeyWay::KeptOut, KeyWay::KeptOut));
    assert!(
        ids(&right.report).iter().all(|id| !id.starts_with("tsig") && *id != "update-refused"),
        "{}",
        told(&right.report)
    );

    // Bound to the wrong tenant: the foreign key is let in, the own one is not.
    bench.bind(EDS.0, "TSIG-ALLOW-DNSUPDATE", "\"tdemo\"");
    let foreign = bench.seen().await;
    assert_eq!(way(&foreign, "tdemo", "eds"), KeyWay::LetIn);
    assert_eq!(way(&foreign, "eds", "tdemo"), KeyWay::KeptOut);
    let found = foreign
        .report
        .findings
        .iter()
        .find(|f| f.id == "tsig-foreign")
        .unwrap_or_else(|| panic!("{}", told(&foreign.report)));
    assert_eq!((found.subject.name.as_str(), found.severity), (EDS.0, Severity::Fault));
    assert!(found.facts.iter().any(|f| f.key == "update.answer" && f.value == "NXDOMAIN, signed"), "{found:?}");
    let own = foreign.report.findings.iter().find(|f| f.id == "update-refused").unwrap();
    assert!(own.subject.name == EDS.0 && own.next[0].id == "bind-tsig-key", "{own:?}");

    // In the reverse zone alone, which only trying shows.
    bench.bind(EDS.0, "TSIG-ALLOW-DNSUPDATE", "\"eds\"");
    bench.bind(EDS.1, "TSIG-ALLOW-DNSUPDATE", "\"eds\",\"tdemo\"");
    let reverse = bench.seen().await;
    assert_eq!(way(&reverse, "tdemo", "eds"), KeyWay::LetIn);
    let found: Vec<_> = reverse.report.findings.iter().filter(|f| f.id == "tsig-foreign").collect();
    assert!(matches!(found.as_slice(), [one] if one.subject.name == EDS.1), "{}", told(&reverse.report));
    bench.bind(EDS.1, "TSIG-ALLOW-DNSUPDATE", "\"eds\"");

    // No key is asked for: everybody is let in, and no key is to blame.
    bench.change("DELETE", &format!("/zones/{}./metadata/TSIG-ALLOW-DNSUPDATE", TDEMO.0), "");
    let open = bench.seen().await;
    assert_eq!(way(&open, "eds", "tdemo"), KeyWay::Open);
    assert!(
        ids(&open.report).contains(&"tsig-unbound") && !ids(&open.report).contains(&"tsig-foreign"),
        "{}",
        told(&open.report)
    );
    bench.bind(TDEMO.0, "TSIG-ALLOW-DNSUPDATE", "\"tdemo\"");

    // The address is what refuses: nothing is proven of keys.
    bench.bind(EDS.0, "ALLOW-DNSUPDATE-FROM", "\"192.0.2.0/24\"");
    let far = bench.seen().await;
    is_not_proven(&way(&far, "tdemo", "eds"), "its own key from here too");
    unproven(&far, EDS.0);
    let refused = far.report.findings.iter().find(|f| f.id == "update-refused").unwrap();
    assert!(refused.severity == Severity::Warning && refused.next[0].id == "allow-update-from", "{refused:?}");
    // A value that is no network fails every update of the zone.
    bench.bind(EDS.0, "ALLOW-DNSUPDATE-FROM", "\"nonsense\"");
    let broken = bench.seen().await;
    assert!(
        matches!(way(&broken, "tdemo", "eds"), KeyWay::NotProven(_)),
        "SERVFAIL, or over TCP a connection that ends"
    );
    bench.bind(EDS.0, "ALLOW-DNSUPDATE-FROM", "\"127.0.0.0/8\"");
    assert_eq!(bench.serials(), before, "no serial has moved");
    bench.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_and_clocks() {
    let Some(bench) = Bench::up("credentials_and_clocks").await else { return };
    let before = bench.serials();
    // Another server's port: its key of that name has another secret.
    let other = Pdns::up("credentials_and_clocks").unwrap();
    other.seed("tdemo", TDEMO.0, TDEMO.1);
    other.seed("eds", EDS.0, EDS.1);
    let wrong = bench.at(other.site().dns, &common::clock()).await;
    is_not_proven(&way(&wrong, "tdemo", "eds"), "does not take the key tdemo: NOTAUTH, unsigned");
    unproven(&wrong, EDS.0);
    let found = wrong
        .report
        .findings
        .iter()
        .find(|f| f.id == "update-refused")
        .unwrap_or_else(|| panic!("{}", told(&wrong.report)));
    assert!(found.title.contains("does not take the key"), "{found:?}");
    assert!(!ids(&wrong.report).contains(&"clock-skew"), "{}", told(&wrong.report));
    drop(other);

    // A clock that is an hour off is named, and does not hide what the key may do.
    for offset in [3600_i64, -3600] {
        let ahead = Arc::new(AtomicI64::new(offset));
        let system = common::clock();
        let clock: Clock = Arc::new(move || {
            system().checked_add(jiff::SignedDuration::from_secs(ahead.load(Ordering::SeqCst))).unwrap()
        });
        let off = bench.at(bench.server.site().dns, &clock).await;
        let skew = off
            .report
            .findings
            .iter()
            .find(|f| f.id == "clock-skew")
            .unwrap_or_else(|| panic!("{}", told(&off.report)));
        assert_eq!(skew.severity, Severity::Fault);
        assert!(
            ["3599 s", "3600 s", "3601 s", "3602 s"].iter().any(|word| skew.title.contains(word)),
            "{}",
            skew.title
        );
        assert_eq!(way(&off, "tdemo", "eds"), KeyWay::KeptOut);
        let key = off.facts.keys.as_ref().unwrap().keys_of("tdemo").next().unwrap().clone();
        assert_eq!(key.clock_off_by.map(i64::signum), Some(-offset.signum()), "which clock is ahead: {key:?}");
        assert!(!ids(&off.report).contains(&"update-refused"), "{}", told(&off.report));
    }

    // A key that cannot sign here.
    bench.change("DELETE", "/tsigkeys/tdemo.", "");
    bench.change("POST", "/tsigkeys", r#"{"name":"tdemo","algorithm":"hmac-md5"}"#);
    let weak = bench.seen().await;
    is_not_run(&way(&weak, "tdemo", "eds"), "hmac-md5");
    // No key at all, and a zone that lists it.
    bench.change("DELETE", "/tsigkeys/tdemo.", "");
    let missing = bench.seen().await;
    is_not_run(&way(&missing, "tdemo", "eds"), "no TSIG key tdemo");
    is_not_proven(&way(&missing, "eds", "tdemo"), "without tdemo's own key");
    let absent: Vec<_> = missing.report.findings.iter().filter(|f| f.id == "update-key-missing").collect();
    assert!(absent.iter().any(|f| f.subject.name == TDEMO.0), "{}", told(&missing.report));
    unproven(&missing, EDS.0);
    assert_eq!(bench.serials(), before, "no serial has moved");
    bench.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_decides_otherwise() {
    let Some(bench) = Bench::up("a_server_that_decides_otherwise").await else { return };
    bench.server.stop();
    bench.server.start("dnsupdate=no");
    let off = bench.seen().await;
    assert!(matches!(way(&off, "tdemo", "eds"), KeyWay::NotProven(_)), "{:?}", way(&off, "tdemo", "eds"));
    unproven(&off, EDS.0);
    let script = bench.dir.path().join("policy.lua");
    std::fs::write(&script, "function updatepolicy(input)\n  return false\nend\n").unwrap();
    bench.server.stop();
    bench.server.start(&format!("lua-dnsupdate-policy-script={}", script.display()));
    let scripted = bench.seen().await;
    is_not_proven(&way(&scripted, "tdemo", "eds"), "policy script");
    assert!(!ids(&scripted.report).iter().any(|id| id.starts_with("tsig")), "{}", told(&scripted.report));
    bench.lab.shutdown().await;
}

/// A door to `server` that is shut after `most` connections.
async fn door(server: SocketAddr, most: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for _ in 0..most {
            let Ok((mut near, _)) = listener.accept().await else { return };
            tokio::spawn(async move {
                let mut far = TcpStream::connect(server).await.unwrap();
                let _ = copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    at
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_while_it_is_asked() {
    let Some(bench) = Bench::up("a_server_that_goes_while_it_is_asked").await else { return };
    let dns = bench.server.site().dns;
    let mut proven = 0;
    for most in [0, 1, 4, 14, 16, 20, 26, 30, 40] {
        let seen = bench.at(door(dns, most).await, &common::clock()).await;
        let kept = way(&seen, "tdemo", "eds") == KeyWay::KeptOut;
        proven += usize::from(kept);
        if !kept {
            let unknown = seen.report.unknown.iter().any(|u| u.ids.contains(&"tsig-foreign"));
            assert!(unknown, "after {most}: {}", told(&seen.report));
        }
        assert!(!ids(&seen.report).iter().any(|id| id.starts_with("tsig")), "after {most}: {}", told(&seen.report));
    }
    assert_eq!(proven, 0, "the other tenants' zones alone take more questions than that");
    bench.lab.shutdown().await;
}
