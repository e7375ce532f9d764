//! DNS from inside a VRF: the real helper through a `command` transport, with an `ip` that stays where it is.
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

mod dns_common;

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use deevnet_console::backends::dns::{Failure, Query, RecordType, Via, ask};
use deevnet_console::backends::exit_node::error::Error;
use deevnet_console::backends::exit_node::{Client, MAX_QUESTIONS, VrfFailure, VrfQuestion, helper};
use deevnet_console::site::model::{ExitNodeSite, Transport};
use dns_common::{Server, add_extended, add_soa, bytes, closed, empty, with_a};
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::{CNAME, MX, TXT};
use hickory_proto::rr::{RData, Record, RecordType as WireType};
use jiff::Timestamp;

const DEADLINE: Duration = Duration::from_secs(60);
const DIG: &str = "/usr/bin/dig";

/// A node with these programs before the system's.
struct Node {
    client: Client,
    _dir: tempfile::TempDir,
}

fn node(programs: &[(&str, &str)]) -> Node {
    let dir = tempfile::tempdir().unwrap();
    for (name, body) in programs {
        let path = dir.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("PATH={}:/usr/bin:/bin", dir.path().display());
    let client = Client::new(&ExitNodeSite {
        name: "hv02".to_owned(),
        transport: Transport::Command(vec!["env".to_owned(), path]),
        transit_interface: "lo".to_owned(),
        transit_address: Ipv4Addr::LOCALHOST,
        transit_gateway: Ipv4Addr::LOCALHOST,
        egress_apply: None,
        egress_install: false,
    });
    Node { client, _dir: dir }
}

const ROOT: (&str, &str) = ("id", "echo 0");
/// Checks how it was called, and runs what follows.
const ENTER: (&str, &str) = ("ip", r#"[ "$1 $2 $3" = "vrf exec lo" ] || exit 255; shift 3; exec "$@""#);

fn question(name: &str, kind: RecordType) -> VrfQuestion {
    VrfQuestion::new("lo", Ipv4Addr::LOCALHOST, name.parse().unwrap(), kind).unwrap()
}

fn has_dig(test: &str) -> bool {
    let has = Path::new(DIG).exists();
    if !has {
        eprintln!("SKIPPED {test}: {DIG} is not installed");
    }
    has
}

/// Answers by the first label of the name.
fn zone(asked: &Message) -> Vec<Vec<u8>> {
    let question = asked.queries[0].clone();
    let owner = question.name.clone();
    let mut message = empty(asked, ResponseCode::NoError);
    match owner.to_string().split('.').next().unwrap() {
        "app" => message = with_a(asked, [10, 20, 129, 10]),
        "gone" => {
            message = empty(asked, ResponseCode::NXDomain);
            add_soa(&mut message, "tdemo.example.", 7);
            add_extended(&mut message, 18, "not for you");
        }
        "alias" => {
            let target: hickory_proto::rr::Name = "app.tdemo.example.".parse().unwrap();
            message.add_answer(Record::from_rdata(owner, 60, RData::CNAME(CNAME(target.clone()))));
            message.add_answer(Record::from_rdata(
                target,
                60,
                RData::A("10.20.129.10".parse::<Ipv4Addr>().unwrap().into()),
            ));
        }
        "text" if question.query_type == WireType::TXT => {
            let txt = TXT::from_bytes(vec![b"a \"quoted\" \\ one", b"\x1b[2J\xc3\xa9", b""]);
            message.add_answer(Record::from_rdata(owner, 60, RData::TXT(txt)));
        }
        "mail" => {
            let mx = MX::new(10, "mx.tdemo.example.".parse().unwrap());
            message.add_answer(Record::from_rdata(owner, 60, RData::MX(mx)));
        }
        "silent" => return vec![],
        _ => message = empty(asked, ResponseCode::Refused),
    }
    message.metadata.recursion_available = true;
    vec![bytes(&message)]
}

#[tokio::test]
async fn dig_and_our_own_sockets_say_the_same() {
    if !has_dig("dig_and_our_own_sockets_say_the_same") {
        return;
    }
    let server = Server::udp(zone).await;
    let dig = format!("exec {DIG} -p {} \"$@\"", server.addr.port());
    let node = node(&[ROOT, ENTER, ("dig", &dig)]);
    let asked = [
        ("app.tdemo.example", RecordType::A),
        ("gone.tdemo.example", RecordType::AAAA),
        ("alias.tdemo.example", RecordType::A),
        ("text.tdemo.example", RecordType::TXT),
        ("mail.tdemo.example", RecordType(15)),
        ("other.example", RecordType::SOA),
    ];
    let questions: Vec<_> = asked.iter().map(|(name, kind)| question(name, *kind)).collect();
    let answers = node.client.probe_dns(DEADLINE, &questions).await.unwrap();
    assert_eq!(answers.len(), asked.len());
    for ((name, kind), there) in asked.iter().zip(answers) {
        let there = there.unwrap();
        let here = ask(&Query::new(server.addr, name.parse().unwrap(), *kind), &Timestamp::now).await.unwrap();
        assert_eq!(there.rcode, here.rcode, "{name}");
        assert_eq!((&there.answers, &there.authority), (&here.answers, &here.authority), "{name}");
        assert_eq!((&there.extended, there.flags, there.bytes), (&here.extended, here.flags, here.bytes), "{name}");
        assert_eq!(there.via, Via::Udp);
    }
}

#[tokio::test]
async fn silence_and_a_closed_port_are_told_apart() {
    if !has_dig("silence_and_a_closed_port_are_told_apart") {
        return;
    }
    let server = Server::udp(zone).await;
    let silent = node(&[ROOT, ENTER, ("dig", &format!("exec {DIG} -p {} \"$@\" +time=1", server.addr.port()))]);
    let answers = silent.client.probe_dns(DEADLINE, &[question("silent.example", RecordType::A)]).await.unwrap();
    let failure = dns_failure(&answers[0]);
    assert!(matches!(failure, Failure::TimedOut { tries: 2, .. }), "{failure:?}");
    let refusing = node(&[ROOT, ENTER, ("dig", &format!("exec {DIG} -p {} \"$@\"", closed().await.port()))]);
    let answers = refusing.client.probe_dns(DEADLINE, &[question("app.example", RecordType::A)]).await.unwrap();
    let failure = dns_failure(&answers[0]);
    assert!(matches!(failure, Failure::Refused { via: "udp", .. }), "{failure:?}");
}

fn dns_failure(answer: &Result<deevnet_console::backends::dns::Answer, VrfFailure>) -> Failure {
    match answer {
        Err(VrfFailure::Dns { failure, .. }) => failure.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_round_trip_asks_side_by_side_and_in_order() {
    // Each waits for the others to have begun: one after another they would end as failures.
    let dig = r#"touch "$0.began.$8"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  n=0; for f in "$0".began.*; do n=$((n + 1)); done
  [ "$n" = 3 ] && break; sleep 0.2
done
[ "$n" = 3 ] || exit 9
printf ';; Got answer:\n;; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1\n;; flags: qr; QUERY: 1\n\n;; QUESTION SECTION:\n;%s IN A\n\n;; ANSWER SECTION:\n%s 60 IN A 10.0.0.1\n' "$8" "$8""#;
    let node = node(&[ROOT, ENTER, ("dig", dig)]);
    let names = ["c.example", "a.example", "b.example"];
    let questions: Vec<_> = names.iter().map(|name| question(name, RecordType::A)).collect();
    let answers = node.client.probe_dns(DEADLINE, &questions).await.unwrap();
    let owners: Vec<String> = answers.into_iter().map(|a| a.unwrap().answers[0].name.clone()).collect();
    assert_eq!(owners, names);
}

#[tokio::test]
async fn what_the_node_lacks_is_told() {
    let ask = question("app.example", RecordType::A);
    let unknown =
        VrfQuestion::new("vrf_gone", Ipv4Addr::LOCALHOST, "x.example".parse().unwrap(), RecordType::A).unwrap();
    let lacking = node(&[ROOT, ENTER, ("dig", "exit 9")]);
    let answers = lacking.client.probe_dns(DEADLINE, &[ask.clone(), unknown]).await.unwrap();
    assert!(matches!(&answers[0], Err(VrfFailure::NotRun { code: 9, .. })), "{:?}", answers[0]);
    assert_eq!(answers[1], Err(VrfFailure::NoVrf { node: "hv02".into(), vrf: "vrf_gone".into() }));

    let refused = node(&[
        ("id", "echo 1000"),
        ENTER,
        ("dig", "exit 9"),
        ("sudo", "echo 'sudo: a password is required' >&2; exit 1"),
    ]);
    let answers = refused.client.probe_dns(DEADLINE, std::slice::from_ref(&ask)).await.unwrap();
    assert!(
        matches!(&answers[0], Err(VrfFailure::Denied { why, .. }) if why == "sudo: a password is required"),
        "{answers:?}"
    );

    let allowed = node(&[
        ("id", "echo 1000"),
        ENTER,
        ("dig", "exit 10"),
        ("sudo", "[ \"$2\" = -l ] && exit 0; shift; exec \"$@\""),
    ]);
    let answers = allowed.client.probe_dns(DEADLINE, &[ask]).await.unwrap();
    assert!(matches!(&answers[0], Err(VrfFailure::NotRun { code: 10, .. })), "{:?}", answers[0]);
    let many = vec![question("app.example", RecordType::A); MAX_QUESTIONS + 1];
    assert_eq!(allowed.client.probe_dns(DEADLINE, &many).await, Err(Error::Question { field: "number" }));
}

/// Runs the script as `sh HELPER ARGS…` with every program that it could misuse replaced.
fn refused(args: &[&str], stdin: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (path, input) = (dir.path().join("helper"), dir.path().join("stdin"));
    fs::write(&path, helper::SCRIPT).unwrap();
    fs::write(&input, stdin).unwrap();
    let output = Command::new("sh")
        .arg(path)
        .args(args)
        .stdin(Stdio::from(fs::File::open(input).unwrap()))
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?} {stdin:?}: {output:?}");
    assert!(output.stdout.is_empty() && !dir.path().join("pwned").exists());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn arguments_that_try_to_break_out_are_refused() {
    let good = ["lo", "127.0.0.1", "app.example", "A"];
    let bad = [
        (0, vec!["", "-x", "lo;touch pwned", "$(touch pwned)", "../lo", "lo lo", "sixteen_long_name"]),
        (1, vec!["", "::1", "127.0.0.1;id", "127.0.0.256", "@127.0.0.1", "localhost", "127.0.0.1#53"]),
        (2, vec!["", "-f/etc/passwd", "+trace", ".x", "a..b", "a b", "`touch pwned`", "x;y", "*", "@1.1.1.1"]),
        (3, vec!["", "a", "ANY", "AXFR", "IXFR", "IXFR=1", "A;id", "TYPE65536000", "-x", "1A"]),
    ];
    for (field, values) in bad {
        for value in values {
            let mut words = good;
            words[field] = value;
            let args: Vec<&str> = ["probe", "dns"].into_iter().chain(words).collect();
            assert!(refused(&args, "").contains("refused: "), "{args:?}");
        }
    }
    assert!(refused(&["probe"], "").contains("unknown probe"));
    assert!(refused(&["probe", "ping", "x"], "").contains("unknown probe"));
    assert!(refused(&["probe", "dns"], "").contains("four words"));
    assert!(refused(&["probe", "dns", "-"], "lo 127.0.0.1 app.example\n").contains("refused"));
    assert!(refused(&["probe", "dns", "-"], "lo 127.0.0.1 app.example A $(touch pwned)\n").contains("four words"));
    let many = "lo 127.0.0.1 app.example A\n".repeat(MAX_QUESTIONS + 1);
    assert!(refused(&["probe", "dns", "-"], &many).contains("more than 32 questions"));
}
