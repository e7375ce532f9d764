//! The DNS port: answers, and who may update what.

use std::net::SocketAddr;
use std::str::FromStr as _;

use deevnet_console::lab::Lab;
use hickory_proto::op::{Message, MessageType, OpCode, Query};
use hickory_proto::rr::rdata::tsig::TsigAlgorithm;
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType, TSigner};

use super::lab_client::{exchange, query, send_tcp};
use super::{conclude, twins};

/// Differences that remain: part of a step, part of a difference, and why the lab keeps it.
const KNOWN: &[(&str, &str, &str)] = &[];

const ZONE: &str = "tdemo.mobile.deevnet.net.";

/// Questions: name, type.
const QUESTIONS: &[(&str, RecordType)] = &[
    (ZONE, RecordType::SOA),
    (ZONE, RecordType::NS),
    (ZONE, RecordType::A),
    (ZONE, RecordType::ANY),
    ("app.tdemo.mobile.deevnet.net.", RecordType::A),
    ("APP.Tdemo.mobile.deevnet.net.", RecordType::A),
    ("app.tdemo.mobile.deevnet.net.", RecordType::AAAA),
    ("app.tdemo.mobile.deevnet.net.", RecordType::TXT),
    ("app.tdemo.mobile.deevnet.net.", RecordType::ANY),
    ("nobody.tdemo.mobile.deevnet.net.", RecordType::A),
    ("a.b.nobody.tdemo.mobile.deevnet.net.", RecordType::A),
    ("www.tdemo.mobile.deevnet.net.", RecordType::A),
    ("www.tdemo.mobile.deevnet.net.", RecordType::CNAME),
    ("10.129.20.10.in-addr.arpa.", RecordType::PTR),
    ("99.129.20.10.in-addr.arpa.", RecordType::PTR),
    ("129.20.10.in-addr.arpa.", RecordType::SOA),
    ("20.10.in-addr.arpa.", RecordType::SOA),
    ("services.eds.mobile.deevnet.net.", RecordType::A),
    ("mobile.deevnet.net.", RecordType::SOA),
    ("example.com.", RecordType::A),
    (".", RecordType::NS),
];

/// What an answer says, line by line.
fn said(raw: Option<&[u8]>) -> Vec<String> {
    let Some(raw) = raw else { return vec!["silence".to_owned()] };
    let message = Message::from_vec(raw).unwrap();
    let head = &message.metadata;
    let mut out = vec![format!("code {}", head.response_code)];
    for (word, set) in [
        ("aa", head.authoritative),
        ("tc", head.truncation),
        ("rd", head.recursion_desired),
        ("ra", head.recursion_available),
        ("ad", head.authentic_data),
        ("cd", head.checking_disabled),
    ] {
        out.push(format!("{word} {set}"));
    }
    out.push(format!("edns {:?}", message.edns.as_ref().map(|edns| edns.max_payload())));
    out.push(format!("signed {}", message.signature().is_some()));
    out.extend(message.queries.iter().map(|q| format!("question {} {}", q.name(), q.query_type())));
    for (section, records) in
        [("answer", &message.answers), ("authority", &message.authorities), ("additional", &message.additionals)]
    {
        let mut lines: Vec<String> =
            records.iter().map(|r| format!("{section} {} {} {} {}", r.name, r.ttl, r.record_type(), r.data)).collect();
        lines.sort();
        out.extend(lines);
    }
    out
}

fn differences(lab: &[String], real: &[String]) -> Vec<String> {
    let only = |a: &[String], b: &[String], whose: &str| -> Vec<String> {
        a.iter().filter(|line| !b.contains(line)).map(|line| format!("{whose}: {line}")).collect()
    };
    [only(lab, real, "lab"), only(real, lab, "real")].concat()
}

fn signer(lab: &Lab, key: &str, secret: Option<Vec<u8>>) -> TSigner {
    let secret = secret.unwrap_or_else(|| lab.world().names.keys[key].secret.clone());
    TSigner::new(secret, TsigAlgorithm::HmacSha256, Name::from_str(&format!("{key}.")).unwrap(), 300).unwrap()
}

fn now() -> u64 {
    let now = deevnet_console::runtime::clock::now();
    u64::try_from(now.as_second()).unwrap()
}

/// An update of `zone`, empty so far.
fn update(zone: &str) -> Message {
    let mut message = Message::new(4321, MessageType::Query, OpCode::Update);
    message.add_query(Query::query(Name::from_str(zone).unwrap(), RecordType::SOA));
    message
}

fn address(name: &str, last: u8) -> Record {
    Record::from_rdata(Name::from_str(name).unwrap(), 300, RData::A(std::net::Ipv4Addr::new(10, 20, 129, last).into()))
}

/// Adds `name` to `zone`.
fn adds(zone: &str, name: &str) -> Message {
    let mut message = update(zone);
    message.authorities.push(address(name, 77));
    message
}

/// Takes the set of `name` away.
fn removes(zone: &str, name: &str) -> Message {
    let mut message = update(zone);
    let mut record = Record::update0(Name::from_str(name).unwrap(), 0, RecordType::A);
    record.dns_class = DNSClass::ANY;
    message.authorities.push(record);
    message
}

/// The update that cannot hold, and so tells policy without a trace (facts/dns.md §0.2).
fn probes(zone: &str) -> Message {
    let mut message = adds(zone, &format!("probe.{zone}"));
    let mut wanted = Record::update0(Name::from_str(&format!("not-there.{zone}")).unwrap(), 0, RecordType::ANY);
    wanted.dns_class = DNSClass::ANY;
    message.answers.push(wanted);
    message
}

const ABSENT: DNSClass = DNSClass::NONE;

/// Adds `name`, which must not be there.
fn creates(name: &str, last: u8) -> Message {
    let mut message = update(ZONE);
    let mut absent = Record::update0(Name::from_str(name).unwrap(), 0, RecordType::A);
    absent.dns_class = ABSENT;
    message.answers.push(absent);
    message.authorities.push(address(name, last));
    message
}

/// One address in place of exactly another.
fn swaps(name: &str, old: u8, new: u8) -> Message {
    let mut message = removes(ZONE, name);
    let mut held = address(name, old);
    held.ttl = 0;
    message.answers.push(held);
    message.authorities.push(address(name, new));
    message
}

/// Takes one address out of its set.
fn takes(name: &str, last: u8) -> Message {
    let mut message = update(ZONE);
    let mut record = address(name, last);
    (record.ttl, record.dns_class) = (0, ABSENT);
    message.authorities.push(record);
    message
}

/// An alias beside what is there.
fn aliases(name: &str) -> Message {
    let mut message = update(ZONE);
    let target = hickory_proto::rr::rdata::CNAME(Name::from_str("x.example.").unwrap());
    message.authorities.push(Record::from_rdata(Name::from_str(name).unwrap(), 60, RData::CNAME(target)));
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dns_port_answers_as_a_real_server_does() {
    let Some((lab, real)) = twins("the_dns_port_answers_as_a_real_server_does").await else { return };
    let (lab_at, real_at) = (lab.authoritative().unwrap(), real.site().dns);
    let mut steps = Vec::new();
    for (name, kind) in QUESTIONS {
        for recursive in [false, true] {
            let packet = query(name, *kind, recursive).to_vec().unwrap();
            let (a, b) = (exchange(lab_at, &packet).await, exchange(real_at, &packet).await);
            let found = differences(&said(a.as_deref()), &said(b.as_deref()));
            steps.push((format!("udp {name} {kind} rd={recursive}"), found));
        }
        let packet = query(name, *kind, false).to_vec().unwrap();
        let (a, b) = (send_tcp(lab_at, &packet).await, send_tcp(real_at, &packet).await);
        steps.push((format!("tcp {name} {kind}"), differences(&said(Some(&a)), &said(Some(&b)))));
    }
    let mut plain = query(ZONE, RecordType::SOA, false);
    plain.edns = None;
    let packet = plain.to_vec().unwrap();
    let (a, b) = (exchange(lab_at, &packet).await, exchange(real_at, &packet).await);
    steps.push(("udp SOA without EDNS".to_owned(), differences(&said(a.as_deref()), &said(b.as_deref()))));
    for zone in [ZONE, "nobody.example."] {
        let packet = query(zone, RecordType::AXFR, false).to_vec().unwrap();
        let (a, b) = (exchange(lab_at, &packet).await, exchange(real_at, &packet).await);
        steps.push((format!("udp {zone} AXFR"), differences(&said(a.as_deref()), &said(b.as_deref()))));
    }
    conclude("DNS", &steps, KNOWN);
    lab.shutdown().await;
}

/// Sends `message`, signed where a key is given, to one server.
async fn send(at: SocketAddr, message: &Message, key: Option<&TSigner>) -> Vec<String> {
    let mut message = message.clone();
    if let Some(key) = key {
        message.finalize(key, now()).unwrap();
    }
    let answer = send_tcp(at, &message.to_vec().unwrap()).await;
    // The signature's time and MAC are its server's own.
    said(Some(&answer)).into_iter().filter(|line| !line.contains(" TSIG ")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_are_taken_and_refused_as_a_real_server_does() {
    let Some((lab, real)) = twins("updates_are_taken_and_refused_as_a_real_server_does").await else { return };
    let (lab_at, real_at) = (lab.authoritative().unwrap(), real.site().dns);
    let (own, other) = (signer(&lab, "tdemo", None), signer(&lab, "eds", None));
    let (wrong, nobody) = (signer(&lab, "tdemo", Some(vec![1; 32])), signer(&lab, "nobody", Some(vec![1; 32])));
    let soa = query(ZONE, RecordType::SOA, false);
    let mut out_of_zone = adds(ZONE, "x.eds.mobile.deevnet.net.");
    out_of_zone.authorities.truncate(1);
    let cases: [(&str, Message, Option<&TSigner>); 29] = [
        ("SOA signed by a good key", soa.clone(), Some(&own)),
        ("SOA signed by another tenant", soa.clone(), Some(&other)),
        ("SOA with a wrong secret", soa.clone(), Some(&wrong)),
        ("SOA with an unknown key", soa.clone(), Some(&nobody)),
        ("probe, own zone", probes(ZONE), Some(&own)),
        ("probe, other's zone", probes("eds.mobile.deevnet.net."), Some(&own)),
        ("add, unsigned", adds(ZONE, "new.tdemo.mobile.deevnet.net."), None),
        ("add, wrong secret", adds(ZONE, "new.tdemo.mobile.deevnet.net."), Some(&wrong)),
        ("add, unknown key", adds(ZONE, "new.tdemo.mobile.deevnet.net."), Some(&nobody)),
        ("add, other's key", adds(ZONE, "new.tdemo.mobile.deevnet.net."), Some(&other)),
        ("add, own zone", adds(ZONE, "new.tdemo.mobile.deevnet.net."), Some(&own)),
        ("what was added", query("new.tdemo.mobile.deevnet.net.", RecordType::A, false), None),
        ("add again", adds(ZONE, "new.tdemo.mobile.deevnet.net."), Some(&own)),
        ("serial after", soa.clone(), None),
        ("empty update", update(ZONE), Some(&own)),
        ("zone that is not here", adds("nobody.example.", "a.nobody.example."), Some(&own)),
        ("name outside the zone", out_of_zone, Some(&own)),
        ("remove", removes(ZONE, "new.tdemo.mobile.deevnet.net."), Some(&own)),
        ("what was removed", query("new.tdemo.mobile.deevnet.net.", RecordType::A, false), None),
        ("create", creates("atomic.tdemo.mobile.deevnet.net.", 77), Some(&own)),
        ("create again", creates("atomic.tdemo.mobile.deevnet.net.", 77), Some(&own)),
        ("swap", swaps("atomic.tdemo.mobile.deevnet.net.", 77, 78), Some(&own)),
        ("swap again", swaps("atomic.tdemo.mobile.deevnet.net.", 77, 79), Some(&own)),
        ("what was swapped", query("atomic.tdemo.mobile.deevnet.net.", RecordType::A, false), None),
        ("take one that is not there", takes("atomic.tdemo.mobile.deevnet.net.", 1), Some(&own)),
        ("take the last one", takes("atomic.tdemo.mobile.deevnet.net.", 78), Some(&own)),
        ("what was taken", query("atomic.tdemo.mobile.deevnet.net.", RecordType::A, false), None),
        ("an alias at the apex", aliases(ZONE), Some(&own)),
        ("serial at the end", soa.clone(), None),
    ];
    let mut steps = Vec::new();
    for (what, message, key) in &cases {
        let (a, b) = (send(lab_at, message, *key).await, send(real_at, message, *key).await);
        steps.push(((*what).to_owned(), differences(&a, &b)));
    }
    conclude("updates", &steps, KNOWN);
    lab.shutdown().await;
}
