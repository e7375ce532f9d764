//! Every way a question can go, against loopback servers that do exactly that.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot go on must fail, and measures time"
)]

mod dns_common;

use std::net::SocketAddr;
use std::time::Duration;

use deevnet_console::backends::dns::{
    Answer, Data, Edns, ExtendedError, Failure, Query, Rcode, RecordType, Strays, Transport, Via, ask,
    system::SystemResolver,
};
use dns_common::{Server, add_extended, add_soa, bytes, closed, empty, with_a};
use hickory_proto::op::{Edns as WireEdns, Message, ResponseCode};
use hickory_proto::rr::rdata::TXT;
use hickory_proto::rr::{RData, Record};
use jiff::Timestamp;
use proptest::prelude::*;

fn question(server: SocketAddr) -> Query {
    let mut query = Query::new(server, "app.tdemo.mobile.example".parse().unwrap(), RecordType::A);
    query.wait = Duration::from_millis(300);
    query
}

async fn get(query: &Query) -> Result<Answer, Failure> {
    ask(query, &Timestamp::now).await
}

#[tokio::test]
async fn an_answer_comes_with_everything_it_said() {
    let server = Server::udp(|asked| {
        assert!(asked.metadata.recursion_desired && !asked.metadata.checking_disabled);
        assert_eq!(asked.edns.as_ref().map(WireEdns::max_payload), Some(1232));
        let mut message = with_a(asked, [10, 20, 129, 10]);
        message.metadata.authoritative = true;
        message.metadata.recursion_available = true;
        vec![bytes(&message)]
    })
    .await;
    let answer = get(&question(server.addr)).await.unwrap();
    assert_eq!((answer.rcode, answer.via), (Rcode::NOERROR, Via::Udp));
    assert_eq!(answer.flags.unwrap().words(), "aa rd ra");
    let record = &answer.answers[0];
    assert_eq!((record.name.as_str(), record.ttl), ("app.tdemo.mobile.example", 300));
    assert_eq!(record.data, Data::A("10.20.129.10".parse().unwrap()));
    assert_eq!(answer.values(RecordType::A), ["10.20.129.10"]);
    assert!(answer.strays.is_empty() && answer.bytes.unwrap() > 40 && server.asked() == 1);
}

#[tokio::test]
async fn the_bits_of_the_question_are_those_asked_for() {
    let server = Server::udp(|asked| {
        assert!(!asked.metadata.recursion_desired && asked.metadata.checking_disabled);
        assert!(asked.edns.as_ref().unwrap().flags().dnssec_ok);
        vec![bytes(&empty(asked, ResponseCode::NoError))]
    })
    .await;
    let mut query = Query::of_authority(server.addr, "x.example".parse().unwrap(), RecordType::TXT);
    query.checking_disabled = true;
    query.edns = Some(Edns { size: 4096, dnssec_ok: true });
    assert_eq!(get(&query).await.unwrap().rcode, Rcode::NOERROR);
}

#[tokio::test]
async fn a_closed_port_is_told_at_once() {
    let server = closed().await;
    let mut query = question(server);
    query.wait = Duration::from_secs(60);
    assert_eq!(get(&query).await, Err(Failure::Refused { server, via: "udp" }));
    query.transport = Transport::Tcp;
    assert_eq!(get(&query).await, Err(Failure::Refused { server, via: "tcp" }));
}

#[tokio::test]
async fn silence_names_its_tries() {
    let server = Server::udp(|_| vec![]).await;
    let failure = get(&question(server.addr)).await.unwrap_err();
    let each = Duration::from_millis(300);
    assert_eq!(failure, Failure::TimedOut { server: server.addr, tries: 2, each, strays: Strays::default() });
    assert_eq!(failure.to_string(), format!("{} did not answer: 2 tries, 300 ms each", server.addr));
    assert_eq!(server.asked(), 2);
}

#[tokio::test]
async fn a_lost_datagram_is_asked_again() {
    let seen = std::sync::Mutex::new(Vec::new());
    let server = Server::udp(move |asked| {
        let mut seen = seen.lock().unwrap();
        seen.push(asked.metadata.id);
        if seen.len() == 1 { vec![] } else { vec![bytes(&with_a(asked, [10, 0, 0, 1]))] }
    })
    .await;
    assert_eq!(get(&question(server.addr)).await.unwrap().values(RecordType::A), ["10.0.0.1"]);
    assert_eq!(server.asked(), 2);
}

#[tokio::test]
async fn what_is_not_the_answer_is_ignored_and_counted() {
    let server = Server::udp(|asked| {
        let (mut id, mut other) = (with_a(asked, [6, 6, 6, 6]), with_a(asked, [6, 6, 6, 6]));
        id.metadata.id = id.metadata.id.wrapping_add(1);
        other.queries[0].name = "evil.example.".parse().unwrap();
        let echo = bytes(asked);
        vec![vec![1, 2, 3], bytes(&id), bytes(&other), echo, bytes(&with_a(asked, [10, 20, 129, 10]))]
    })
    .await;
    let answer = get(&question(server.addr)).await.unwrap();
    assert_eq!(answer.values(RecordType::A), ["10.20.129.10"]);
    assert_eq!(answer.strays, Strays { wrong_id: 1, wrong_question: 2, no_header: 1, wrong_source: 0 });
    assert_eq!(answer.strays.words(), "1 with another id, 2 to another question, 1 without a header");
}

#[tokio::test]
async fn forgeries_alone_end_as_silence_that_says_so() {
    let server = Server::udp(|asked| {
        let mut message = with_a(asked, [6, 6, 6, 6]);
        message.metadata.id = message.metadata.id.wrapping_add(1);
        vec![bytes(&message)]
    })
    .await;
    let failure = get(&question(server.addr)).await.unwrap_err();
    assert!(matches!(failure, Failure::TimedOut { strays: Strays { wrong_id: 2, .. }, .. }), "{failure:?}");
    assert!(failure.to_string().ends_with("; ignored 2 with another id"), "{failure}");
}

#[tokio::test]
async fn an_answer_from_elsewhere_is_never_taken() {
    let server = Server::elsewhere(|asked| vec![bytes(&with_a(asked, [6, 6, 6, 6]))]).await;
    let failure = get(&question(server.addr)).await.unwrap_err();
    let Failure::WrongSource { server: asked, from } = failure else { panic!("{failure:?}") };
    assert_eq!(asked, server.addr);
    assert_ne!(from, server.addr);
}

/// 60 strings, more than a datagram may hold here.
fn long(asked: &Message) -> Message {
    let mut message = empty(asked, ResponseCode::NoError);
    for n in 0..60 {
        let text = format!("{n:02} {}", "x".repeat(40));
        message.add_answer(Record::from_rdata(asked.queries[0].name.clone(), 60, RData::TXT(TXT::new(vec![text]))));
    }
    message
}

fn truncated(asked: &Message) -> Message {
    let mut message = empty(asked, ResponseCode::NoError);
    message.metadata.truncation = true;
    message
}

fn long_question(server: SocketAddr) -> Query {
    Query { kind: RecordType::TXT, ..question(server) }
}

#[tokio::test]
async fn a_truncated_answer_is_fetched_over_tcp() {
    let server = Server::both(|asked| vec![bytes(&truncated(asked))], |asked| vec![bytes(&long(asked))]).await;
    let answer = get(&long_question(server.addr)).await.unwrap();
    assert_eq!((answer.via, answer.values(RecordType::TXT).len()), (Via::TcpAfterUdp, 60));
    assert!(!answer.flags.unwrap().tc && answer.bytes.unwrap() > 1232);
    let alone = Query { transport: Transport::Udp, ..long_question(server.addr) };
    let answer = get(&alone).await.unwrap();
    assert!(answer.flags.unwrap().tc && answer.answers.is_empty() && answer.via == Via::Udp);
}

#[tokio::test]
async fn tcp_that_fails_after_truncation_says_both() {
    let server = Server::udp(|asked| vec![bytes(&truncated(asked))]).await;
    let failure = get(&long_question(server.addr)).await.unwrap_err();
    let refused = Failure::Refused { server: server.addr, via: "tcp" };
    assert_eq!(failure, Failure::TcpAfterTruncation(Box::new(refused)));
    assert!(failure.help().contains("53/tcp"));
}

#[tokio::test]
async fn a_datagram_larger_than_allowed_is_no_answer() {
    let server = Server::udp(|asked| vec![bytes(&long(asked))]).await;
    let failure = get(&long_question(server.addr)).await.unwrap_err();
    assert_eq!(failure, Failure::Oversized { server: server.addr, limit: 1232 });
}

#[tokio::test]
async fn bytes_that_are_no_message_are_told() {
    let cut = |asked: &Message| {
        let mut bytes = bytes(&with_a(asked, [10, 0, 0, 1]));
        bytes.truncate(bytes.len() - 3);
        vec![bytes]
    };
    let server = Server::both(cut, cut).await;
    let mut query = question(server.addr);
    assert!(matches!(get(&query).await, Err(Failure::Malformed { .. })));
    query.transport = Transport::Tcp;
    assert!(matches!(get(&query).await, Err(Failure::Malformed { .. })));
}

#[tokio::test]
async fn a_connection_that_closes_is_told() {
    let server = Server::both(|_| vec![], |_| vec![vec![]]).await;
    let query = Query { transport: Transport::Tcp, ..question(server.addr) };
    assert_eq!(get(&query).await, Err(Failure::Closed { server: server.addr }));
}

#[tokio::test]
async fn extended_errors_and_codes_are_kept_and_clean() {
    let server = Server::udp(|asked| {
        let mut message = empty(asked, ResponseCode::ServFail);
        add_extended(&mut message, 9, "no DNSKEY\u{1b}[31m \u{202e}for it");
        vec![bytes(&message)]
    })
    .await;
    let answer = get(&question(server.addr)).await.unwrap();
    assert_eq!(answer.rcode, Rcode::SERVFAIL);
    let [ExtendedError { code: 9, text }] = answer.extended.as_slice() else { panic!("{:?}", answer.extended) };
    assert!(text.starts_with("no DNSKEY") && !text.contains(['\u{1b}', '\u{202e}']), "{text:?}");

    let server = Server::udp(|asked| {
        let mut message = empty(asked, ResponseCode::BADCOOKIE);
        add_extended(&mut message, 0, "");
        vec![bytes(&message)]
    })
    .await;
    assert_eq!(get(&question(server.addr)).await.unwrap().rcode.to_string(), "BADCOOKIE");
}

#[tokio::test]
async fn a_negative_answer_keeps_its_soa() {
    let server = Server::udp(|asked| {
        let mut message = empty(asked, ResponseCode::NXDomain);
        add_soa(&mut message, "tdemo.mobile.example.", 2_026_112_907);
        vec![bytes(&message)]
    })
    .await;
    let answer = get(&question(server.addr)).await.unwrap();
    let (record, soa) = answer.soa().unwrap();
    assert_eq!(answer.rcode, Rcode::NXDOMAIN);
    assert_eq!(
        (record.name.as_str(), record.ttl, soa.serial, soa.minimum),
        ("tdemo.mobile.example", 42, 2_026_112_907, 60)
    );
    assert_eq!(soa.mname, "ns1.example");
}

#[tokio::test]
async fn an_error_may_come_without_the_question_but_data_may_not() {
    let server = Server::udp(|asked| {
        let (mut lame, mut data) = (empty(asked, ResponseCode::Refused), with_a(asked, [6, 6, 6, 6]));
        lame.queries.clear();
        data.queries.clear();
        vec![bytes(&data), bytes(&lame)]
    })
    .await;
    let answer = get(&question(server.addr)).await.unwrap();
    assert_eq!((answer.rcode, answer.strays.wrong_question), (Rcode::REFUSED, 1));
}

#[tokio::test]
async fn what_steers_a_terminal_is_spelt() {
    let server = Server::udp(|asked| {
        let mut message = empty(asked, ResponseCode::NoError);
        let name = asked.queries[0].name.clone();
        message.add_answer(Record::from_rdata(
            name,
            60,
            RData::TXT(TXT::from_bytes(vec![b"a\x1b[2J", b"\xe2\x80\xae"])),
        ));
        vec![bytes(&message)]
    })
    .await;
    let answer = get(&long_question(server.addr)).await.unwrap();
    assert_eq!(answer.values(RecordType::TXT), [r#""a\027[2J" "\226\128\174""#]);
}

#[tokio::test]
async fn this_host_asks_its_servers_in_order_and_names_them() {
    let server = Server::udp(|asked| {
        let mut message = if asked.queries[0].name.to_string().starts_with("gone") {
            empty(asked, ResponseCode::NXDomain)
        } else {
            with_a(asked, [10, 20, 129, 10])
        };
        if message.answers.is_empty() {
            add_soa(&mut message, "example.", 7);
        }
        vec![bytes(&message)]
    })
    .await;
    let wait = Duration::from_secs(5);
    let system = SystemResolver::with_servers(&[server.addr], wait).unwrap();
    assert_eq!(system.servers(), [server.addr.ip()]);
    let clock = &Timestamp::now;
    let found = system.ask(&"app.example".parse().unwrap(), RecordType::A, wait, clock).await.unwrap();
    assert_eq!((found.values(RecordType::A), found.via), (vec!["10.20.129.10".to_owned()], Via::Untold));
    let gone = system.ask(&"gone.example".parse().unwrap(), RecordType::A, wait, clock).await.unwrap();
    assert_eq!((gone.rcode, gone.flags, gone.soa().unwrap().1.serial), (Rcode::NXDOMAIN, None, 7));
    let dead = SystemResolver::with_servers(&[closed().await], wait).unwrap();
    let failure = dead.ask(&"app.example".parse().unwrap(), RecordType::A, Duration::from_millis(400), clock).await;
    assert!(matches!(failure, Err(Failure::System { .. })), "{failure:?}");
}

#[test]
fn a_resolver_file_without_servers_is_told() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "search example\n").unwrap();
    assert!(matches!(SystemResolver::from_file(file.path()), Err(Failure::System { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

    /// Whatever comes back with the right id: an answer or a failure, and nothing in it that steers a terminal.
    #[test]
    fn any_bytes_are_survived(tail in proptest::collection::vec(any::<u8>(), 0..200), keep in 2_usize..60) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let result = runtime.block_on(async move {
            let server = Server::udp(move |asked| {
                let mut reply = bytes(&with_a(asked, [10, 0, 0, 1]));
                reply.truncate(keep);
                reply.extend_from_slice(&tail);
                vec![reply]
            })
            .await;
            let query = Query { tries: 1, wait: Duration::from_millis(40), ..question(server.addr) };
            get(&query).await
        });
        let shown = match &result {
            Ok(answer) => answer.answers.iter().chain(&answer.authority).chain(&answer.additional)
                .map(|r| format!("{} {}", r.name, r.data)).collect::<String>(),
            Err(failure) => failure.to_string(),
        };
        prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
}
