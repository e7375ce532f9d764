//! Every change that the client makes, on a real PowerDNS: once, twice, against another writer, and without a permit to
//! sign. A prober tries unsigned updates all the while.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict; a skip is said aloud"
)]

mod powerdns_common;

#[path = "powerdns_write/lists.rs"]
mod lists;
#[path = "powerdns_write/order.rs"]
mod order;
#[path = "powerdns_write/update.rs"]
mod update;

use std::sync::{Arc, Mutex};

use deevnet_console::backends::dns::{DnsName, HostRecord, RecordData, RecordSet, Text};
use deevnet_console::backends::http::{Exchange, Outcome, Recorder};
use deevnet_console::backends::permit::Permit;
use deevnet_console::backends::powerdns::model::{Comment, Record, Zone, ZoneKind};
use deevnet_console::backends::powerdns::{
    Apex, Change, Client, Done, Error, Guarded, Metadata, Name, Replaced, UPDATE_NETWORKS, Write, endpoints,
    fresh_secret,
};
use powerdns_common::{KEY, Pdns, shown};

const ZONE: &str = "tdemo.mobile.deevnet.net";

fn permit() -> Permit {
    Permit::grant("a-plan")
}

fn zone() -> Name {
    Name::new(ZONE)
}

fn dns_name(text: &str) -> DnsName {
    text.parse().unwrap()
}

fn apex() -> Apex {
    Apex { nameserver: dns_name("dv02idn001v01.mobile.deevnet.net"), serial: 2_026_113_000 }
}

/// A closed zone, made native with its apex: nobody can update it.
async fn make_zone(pdns: &Client, zone: &Name) {
    for write in [
        Write::CreateClosed { zone: zone.clone(), account: "tdemo".to_owned() },
        Write::MakeNative(zone.clone()),
        Write::Patch(zone.clone(), apex().changes(zone)),
    ] {
        pdns.perform(&permit(), &write).await.unwrap();
    }
}

fn host(name: &str, last: u8) -> RecordSet {
    HostRecord { name: dns_name(name), address: [10, 20, 129, last].into(), ttl: 300 }.forward().unwrap()
}

#[tokio::test]
async fn each_change_is_made_and_the_second_time_is_known() {
    let Some(server) = Pdns::up("each_change_is_made_and_the_second_time_is_known") else { return };
    let heard = Arc::new(Mutex::new(Vec::<Exchange>::new()));
    let listener = Arc::clone(&heard);
    let pdns = server.client().recorded(Recorder::new(move |exchange| listener.lock().unwrap().push(exchange)));
    let key = dns_name("tdemo");
    let secret = fresh_secret().unwrap();
    let given = Write::CreateKey { name: key.clone(), secret: Some(secret.clone()) };
    let Done::Key(made) = pdns.perform(&permit(), &given).await.unwrap() else { panic!("no key") };
    assert_eq!((made.key.secret.expose(), made.key.algorithm.as_str()), (secret.expose(), "hmac-sha256"));
    let by_server = Write::CreateKey { name: dns_name("eds"), secret: None };
    let Done::Key(theirs) = pdns.perform(&permit(), &by_server).await.unwrap() else { panic!("no key") };
    assert!(theirs.key.secret.expose().len() >= 44);
    let again = pdns.perform(&permit(), &given).await.unwrap_err();
    assert_eq!(again, Error::Exists { what: "TSIG key", name: "tdemo".to_owned() });
    assert!(shown(&again).contains("is there already"));

    let create = Write::CreateClosed { zone: zone(), account: "tdemo".to_owned() };
    pdns.perform(&permit(), &create).await.unwrap();
    let again = pdns.perform(&permit(), &create).await.unwrap_err();
    assert_eq!(again, Error::Exists { what: "zone", name: ZONE.to_owned() });
    assert_eq!(again.outcome(), Outcome::Answered);
    for write in [
        Write::MakeNative(zone()),
        Write::PutMetadata(zone(), Metadata::UpdateKeys(vec![key.clone()])),
        Write::PutMetadata(zone(), Metadata::UpdateSerial),
        Write::PutMetadata(zone(), Metadata::UpdateNetworks(vec!["127.0.0.0/8".parse().unwrap()])),
        Write::PutMetadata(zone(), Metadata::Own { kind: "X-PLAN".to_owned(), values: vec!["1".to_owned()] }),
        Write::DeleteMetadata(zone(), UPDATE_NETWORKS),
    ] {
        for _ in 0..2 {
            pdns.perform(&permit(), &write).await.unwrap();
        }
    }
    pdns.perform(&permit(), &Write::Patch(zone(), apex().changes(&zone()))).await.unwrap();
    let held = pdns.zone(&zone()).await.unwrap();
    assert_eq!((held.head.kind, held.head.account.as_deref()), (ZoneKind::Native, Some("tdemo")));
    assert_eq!(held.head.soa_edit_api.as_deref(), Some("INCREASE"));
    assert_eq!(held.head.serial, Some(2_026_113_001), "one up");
    let metadata = pdns.metadata(&zone()).await.unwrap();
    assert_eq!((metadata.update_keys(), metadata.update_networks()), (vec![Name::new("tdemo")], &[][..]));

    pdns.perform(&permit(), &Write::DeleteZone(zone())).await.unwrap();
    let absent = Error::ZoneAbsent { zone: zone() };
    for write in [
        Write::DeleteZone(zone()),
        Write::MakeNative(zone()),
        Write::PutMetadata(zone(), Metadata::UpdateSerial),
        Write::Patch(zone(), apex().changes(&zone())),
    ] {
        assert_eq!(pdns.perform(&permit(), &write).await.unwrap_err(), absent, "{write}");
    }
    pdns.perform(&permit(), &Write::DeleteKey(key.clone())).await.unwrap();
    let absent = pdns.perform(&permit(), &Write::DeleteKey(key)).await.unwrap_err();
    assert_eq!(absent, Error::KeyAbsent { key: Name::new("tdemo") });

    let counts = pdns.requests().by_endpoint;
    assert!(endpoints::WRITES.iter().all(|endpoint| counts.contains_key(endpoint.path)), "{counts:?}");
    let everything = format!("{:?} {made:?} {theirs:?} {given:?} {pdns:?}", heard.lock().unwrap());
    for word in [secret.expose(), theirs.key.secret.expose(), KEY] {
        assert!(!everything.contains(word), "a secret was heard of");
    }
}

#[tokio::test]
async fn what_is_refused_says_why_and_nothing_is_written() {
    let Some(server) = Pdns::up("what_is_refused_says_why_and_nothing_is_written") else { return };
    let pdns = server.client();
    make_zone(&pdns, &zone()).await;
    let before = pdns.zone(&zone()).await.unwrap();
    let alias = RecordSet::new(dns_name(ZONE), 300, vec![RecordData::Cname(dns_name("x.example"))]).unwrap();
    let good = Change::from(&host(&format!("app.{ZONE}"), 10));
    let write = Write::Patch(zone(), vec![good.clone(), Change::from(&alias)]);
    let error = pdns.perform(&permit(), &write).await.unwrap_err();
    assert!(matches!(&error, Error::Unprocessable { text } if text.contains("Conflicts")), "{error:?}");
    assert_eq!(error.outcome(), Outcome::Answered);
    shown(&error);
    assert_eq!(pdns.zone(&zone()).await.unwrap(), before, "all or none");
    let dead = Write::Patch(zone(), vec![Change::Delete { name: zone(), kind: "SOA".to_owned() }]);
    let error = pdns.perform(&permit(), &dead).await.unwrap_err();
    assert!(matches!(error, Error::BadChange(_)), "{error:?}");
    assert_eq!(error.outcome(), Outcome::NotSent);
    assert!(!shown(&error).is_empty());
    let wrong = powerdns_common::client(&server.site(), "wrong");
    let error = wrong.perform(&permit(), &Write::DeleteZone(zone())).await.unwrap_err();
    assert_eq!(error, Error::Unauthenticated);
    server.stop();
    let error = server.client().perform(&permit(), &Write::DeleteZone(zone())).await.unwrap_err();
    // A socket that is being closed may still take a connection.
    assert_ne!(error.outcome(), Outcome::Answered, "{error:?}");
    server.start("webserver-allow-from=192.0.2.1");
    let error = server.client().perform(&permit(), &Write::DeleteZone(zone())).await.unwrap_err();
    assert_eq!(error.outcome(), Outcome::Unknown, "closed without an answer: {error:?}");
}

/// A change of each kind of content, many of them odd.
fn contents() -> Vec<Change> {
    let (names, hosts) = (["x.example", "_tcp.a-b.example", "1.2.example"], ["x.example", "a-b.example"]);
    let text = |bytes: &[u8]| RecordData::Txt(Text::new(bytes));
    let every: Vec<u8> = (0..=255).collect();
    let sets = [
        vec![RecordData::A([10, 20, 129, 9].into()), RecordData::A([10, 20, 129, 10].into())],
        ["::", "2001:db8::1", "::ffff:10.0.0.1", "fe80::1:0:0:1"]
            .map(|a| RecordData::Aaaa(a.parse().unwrap()))
            .to_vec(),
        names.map(|n| RecordData::Ptr(dns_name(n))).to_vec(),
        hosts.map(|n| RecordData::Mx { preference: 10, exchange: dns_name(n) }).to_vec(),
        hosts.map(|n| RecordData::Srv { priority: 0, weight: 5, port: 65_535, target: dns_name(n) }).to_vec(),
        vec![
            text(b""),
            text(b"plain"),
            text(b"semi;colon \"quoted\" back\\slash"),
            text("ümlaut".as_bytes()),
            text(&every),
            text(&every.repeat(3)),
        ],
    ];
    let set = |(n, data)| Change::from(&RecordSet::new(dns_name(&format!("c{n}.{ZONE}")), 300, data).unwrap());
    sets.into_iter().enumerate().map(set).collect()
}

#[tokio::test]
async fn what_is_written_is_what_is_read() {
    let Some(server) = Pdns::up("what_is_written_is_what_is_read") else { return };
    let pdns = server.client();
    make_zone(&pdns, &zone()).await;
    let mut changes = contents();
    if let Change::Replace { records, comments, .. } = &mut changes[0] {
        records[0].disabled = true;
        let comment = |text: &str| Comment { text: text.to_owned(), account: "ops".to_owned(), modified_at: None };
        *comments = Some(vec![comment("by the console"), comment("twice")]);
    }
    pdns.perform(&permit(), &Write::Patch(zone(), changes.clone())).await.unwrap();
    let held = pdns.zone(&zone()).await.unwrap();
    for change in &changes {
        assert!(change.is_made(&held), "{change:?}\n{:?}", held.rrset(change.name(), change.kind()));
    }
    // What was read can be written back as it was.
    let back = held.rrsets.iter().filter(|set| set.name != zone()).map(|set| Change::restore(set).unwrap());
    let back: Vec<Change> = back.collect();
    let gone: Vec<Change> =
        changes.iter().map(|c| Change::Delete { name: c.name().clone(), kind: c.kind().to_owned() }).collect();
    pdns.perform(&permit(), &Write::Patch(zone(), gone.clone())).await.unwrap();
    let empty = pdns.zone(&zone()).await.unwrap();
    assert_eq!(empty.rrsets.len(), 2, "{empty:?}");
    pdns.perform(&permit(), &Write::Patch(zone(), back.clone())).await.unwrap();
    let again = pdns.zone(&zone()).await.unwrap();
    assert!(back.iter().all(|change| change.is_made(&again)), "{again:?}");
}

fn guarded(zone: &Zone, change: &RecordSet) -> Guarded {
    Guarded::of(zone, Change::from(change))
}

#[tokio::test]
async fn a_guarded_change_meets_another_writer() {
    let Some(server) = Pdns::up("a_guarded_change_meets_another_writer") else { return };
    let pdns = server.client();
    make_zone(&pdns, &zone()).await;
    let name = format!("app.{ZONE}");
    let seen = pdns.zone(&zone()).await.unwrap();
    let first = [guarded(&seen, &host(&name, 10))];
    let written = pdns.replace(&permit(), &zone(), &first).await.unwrap();
    assert!(matches!(written, Replaced::Written { alone: Some(true), .. }), "{written:?}");
    let before = pdns.requests();
    assert_eq!(pdns.replace(&permit(), &zone(), &first).await.unwrap(), Replaced::Unchanged);
    assert_eq!(pdns.requests().total, before.total + 1, "it only looked");

    // Somebody changes it after it was read: nothing is sent.
    let seen = pdns.zone(&zone()).await.unwrap();
    server.patch(ZONE, put(&name, "10.20.129.99").as_bytes());
    let now = pdns.zone(&zone()).await.unwrap();
    let moved = pdns.replace(&permit(), &zone(), &[guarded(&seen, &host(&name, 11))]).await.unwrap_err();
    assert_eq!(moved, Error::Moved { name: Name::new(&name), kind: "A".to_owned() });
    assert_eq!(moved.outcome(), Outcome::NotSent);
    shown(&moved);
    assert_eq!(pdns.zone(&zone()).await.unwrap(), now);

    // What somebody made in the meantime as it was to be is right.
    server.patch(ZONE, put(&name, "10.20.129.11").as_bytes());
    let same = pdns.replace(&permit(), &zone(), &[guarded(&seen, &host(&name, 11))]).await.unwrap();
    assert_eq!(same, Replaced::Unchanged);
}

fn put(name: &str, address: &str) -> String {
    format!(r#"{{"name":"{name}.","type":"A","ttl":300,"changetype":"REPLACE","records":[{{"content":"{address}"}}]}}"#)
}

/// A door to the server behind which somebody else writes whenever a change has come through.
#[tokio::test(flavor = "multi_thread")]
async fn a_writer_right_before_or_after_is_told() {
    let Some(server) = Pdns::up("a_writer_right_before_or_after_is_told") else { return };
    let server = Arc::new(server);
    let direct = server.client();
    make_zone(&direct, &zone()).await;
    let name = format!("app.{ZONE}");
    for (before, other, wanted) in [(true, "10.20.129.98", "alone"), (false, "10.20.129.99", "overtaken")] {
        let (also, text) = (Arc::clone(&server), put(&name, other));
        let door = order::door(server.origin(), before, move || also.patch(ZONE, text.as_bytes())).await;
        let site = powerdns_common::site(&door, server.site().mode, server.site().dns);
        let pdns = powerdns_common::client(&site, KEY);
        let seen = pdns.zone(&zone()).await.unwrap();
        let last = if before { 20 } else { 21 };
        let result = pdns.replace(&permit(), &zone(), &[guarded(&seen, &host(&name, last))]).await;
        match (wanted, result) {
            ("alone", Ok(Replaced::Written { alone: Some(false), .. })) => {}
            ("overtaken", Err(error @ Error::Overtaken { .. })) => assert_eq!(error.outcome(), Outcome::Answered),
            (wanted, other) => panic!("{wanted}: {other:?}"),
        }
    }
    let held = direct.zone(&zone()).await.unwrap();
    let records: Vec<&Record> = held.rrset(&Name::new(&name), "A").unwrap().records.iter().collect();
    assert_eq!(records[0].content.raw(), "10.20.129.99");
}
