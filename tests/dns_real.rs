//! Our questions to a real PowerDNS and a real Unbound in front of it (`tests/tools/dns-fixture.sh`).
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test that cannot go on must fail, says what it skips, and measures time"
)]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use deevnet_console::backends::dns::{Answer, Query, Rcode, RecordType, Transport, Via, ask};
use jiff::Timestamp;

const FORWARD: &str = "tdemo.mobile.deevnet.net";
const REVERSE: &str = "129.20.10.in-addr.arpa";

/// Both servers; they stop when dropped.
struct Servers {
    dir: tempfile::TempDir,
    env: BTreeMap<String, String>,
}

fn run(args: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/dns-fixture.sh");
    Command::new("bash").arg(script).args(args).output().unwrap()
}

impl Servers {
    fn up(test: &str) -> Option<Self> {
        let ready = run(&["ready"]);
        if !ready.status.success() {
            eprintln!("SKIPPED {test}: {}", String::from_utf8_lossy(&ready.stderr).trim());
            return None;
        }
        let dir = tempfile::Builder::new().prefix("dns").tempdir().unwrap();
        let mut servers = Self { env: BTreeMap::new(), dir };
        servers.call(&["up"]);
        let env = std::fs::read_to_string(servers.data().join("env")).unwrap();
        servers.env =
            env.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        servers.call(&["seed", "tdemo", FORWARD, REVERSE]);
        let records = format!(
            r#"{{"rrsets":[{},{},{}]}}"#,
            rrset("app", "A", r#"{"content":"10.20.129.10"}"#),
            rrset("alias", "CNAME", &format!(r#"{{"content":"app.{FORWARD}."}}"#)),
            rrset("many", "TXT", &many()),
        );
        servers.patch(FORWARD, &records);
        let ptr = format!(
            r#"{{"rrsets":[{{"name":"10.{REVERSE}.","type":"PTR","ttl":300,"changetype":"REPLACE","records":[{{"content":"app.{FORWARD}."}}]}}]}}"#
        );
        servers.patch(REVERSE, &ptr);
        Some(servers)
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("d")
    }

    fn call(&self, args: &[&str]) {
        let data = self.data();
        let (verb, rest) = args.split_first().unwrap();
        let all: Vec<&str> = [verb, "--dir", data.to_str().unwrap()].into_iter().chain(rest.iter().copied()).collect();
        let done = run(&all);
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn patch(&self, zone: &str, body: &str) {
        let (url, key) =
            (format!("{}/zones/{zone}.", self.env["API_URL"]), format!("X-API-Key: {}", self.env["API_KEY"]));
        let args = ["-sS", "--fail-with-body", "-m", "20", "-X", "PATCH", "-H", &key, "-d", body, &url];
        let done = Command::new("curl").args(args).output().unwrap();
        assert!(
            done.status.success(),
            "{}{}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        );
    }

    fn at(&self, port: &str) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.env[port].parse().unwrap()))
    }

    async fn authority(&self, name: &str, kind: RecordType) -> Answer {
        ask(&Query::of_authority(self.at("AUTH_PORT"), name.parse().unwrap(), kind), &Timestamp::now).await.unwrap()
    }

    async fn resolver(&self, name: &str, kind: RecordType) -> Answer {
        ask(&Query::new(self.at("RESOLVER_PORT"), name.parse().unwrap(), kind), &Timestamp::now).await.unwrap()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let data = self.data();
        run(&["down", "--dir", data.to_str().unwrap_or_default()]);
    }
}

fn rrset(label: &str, kind: &str, records: &str) -> String {
    format!(r#"{{"name":"{label}.{FORWARD}.","type":"{kind}","ttl":300,"changetype":"REPLACE","records":[{records}]}}"#)
}

/// 60 strings: more than a datagram holds.
fn many() -> String {
    let one = |n: usize| format!(r#"{{"content":"\"{n:02} {}\""}}"#, "x".repeat(40));
    (0..60).map(one).collect::<Vec<_>>().join(",")
}

fn name(label: &str) -> String {
    format!("{label}.{FORWARD}")
}

#[tokio::test]
async fn a_real_authority_and_a_real_resolver() {
    let Some(servers) = Servers::up("a_real_authority_and_a_real_resolver") else { return };

    let there = servers.authority(&name("app"), RecordType::A).await;
    assert_eq!((there.rcode, there.values(RecordType::A)), (Rcode::NOERROR, vec!["10.20.129.10".to_owned()]));
    assert_eq!(there.flags.unwrap().words(), "aa");
    let seen = servers.resolver(&name("app"), RecordType::A).await;
    assert_eq!(
        (seen.values(RecordType::A), seen.flags.unwrap().words()),
        (there.values(RecordType::A), "rd ra".to_owned())
    );
    assert!(seen.answers[0].ttl <= 300);

    let alias = servers.resolver(&name("alias"), RecordType::A).await;
    assert_eq!(
        (alias.values(RecordType::CNAME), alias.values(RecordType::A)),
        (vec![name("app")], there.values(RecordType::A))
    );
    let ptr = servers.resolver(&format!("10.{REVERSE}"), RecordType::PTR).await;
    assert_eq!(ptr.values(RecordType::PTR), [name("app")]);

    let gone = servers.authority(&name("gone"), RecordType::A).await;
    let (record, soa) = gone.soa().unwrap();
    assert_eq!((gone.rcode, record.name.as_str(), soa.minimum), (Rcode::NXDOMAIN, FORWARD, 60));
    let lame = servers.authority("nobody.example", RecordType::A).await;
    assert_eq!((lame.rcode, lame.soa().is_none()), (Rcode::REFUSED, true));

    let many = servers.authority(&name("many"), RecordType::TXT).await;
    assert_eq!((many.via, many.values(RecordType::TXT).len()), (Via::TcpAfterUdp, 60));
    let cut = Query {
        transport: Transport::Udp,
        ..Query::of_authority(servers.at("AUTH_PORT"), name("many").parse().unwrap(), RecordType::TXT)
    };
    assert!(ask(&cut, &Timestamp::now).await.unwrap().flags.unwrap().tc);

    // The rebinding filter: no error, no record, no SOA (facts/dns.md §0.4).
    servers.call(&["reload-unbound", "no-private-domain"]);
    let stripped = servers.resolver(&name("app"), RecordType::A).await;
    assert_eq!((stripped.rcode, stripped.answers.len(), stripped.soa().is_none()), (Rcode::NOERROR, 0, true));

    // The resolver's own reverse zone (facts/dns.md §0.5).
    servers.call(&["reload-unbound", "no-nodefault"]);
    let builtin = servers.resolver(&format!("10.{REVERSE}"), RecordType::PTR).await;
    assert!(builtin.rcode == Rcode::NXDOMAIN && builtin.flags.unwrap().aa);
    assert_eq!(builtin.soa().unwrap().1.rname, "nobody.invalid");

    // Behind it everything else is a dead end: silence, then SERVFAIL, never an answer.
    let dead = Query {
        wait: Duration::from_millis(400),
        ..Query::new(servers.at("RESOLVER_PORT"), "example.com".parse().unwrap(), RecordType::A)
    };
    match ask(&dead, &Timestamp::now).await {
        Ok(answer) => assert_eq!(answer.rcode, Rcode::SERVFAIL),
        Err(failure) => assert!(failure.to_string().contains("did not answer"), "{failure}"),
    }
}
