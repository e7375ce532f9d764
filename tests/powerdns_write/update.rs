//! Signed updates: what is made together, on which conditions, and how each refusal is told apart.

use std::time::Duration;

use deevnet_console::backends::dns::{
    Changes, DnsName, Edit, FUDGE, HostRecord, Prerequisite, RecordData, RecordSet, RecordType, Text, Unmet, Update,
    UpdateError, UpdateKey, update,
};
use deevnet_console::backends::http::Outcome;
use deevnet_console::backends::powerdns::Name;
use jiff::{SignedDuration, Timestamp};

use super::{Pdns, ZONE, dns_name, host, permit, zone};

const REVERSE: &str = "129.20.10.in-addr.arpa";
const OTHER: (&str, &str) = ("eds.mobile.deevnet.net", "130.20.10.in-addr.arpa");

pub fn now() -> Timestamp {
    deevnet_console::runtime::clock::now()
}

pub fn request<'a>(server: &Pdns, zone: &'a DnsName, changes: &'a Changes, key: &'a UpdateKey) -> Update<'a> {
    Update { server: server.site().dns, zone, changes, key, fudge: FUDGE, wait: Duration::from_secs(20) }
}

fn key(server: &Pdns, name: &str) -> UpdateKey {
    UpdateKey::new(&dns_name(name), "hmac-sha256", &server.secret(name)).unwrap()
}

async fn sent(server: &Pdns, zone: &str, changes: &Changes, key: &UpdateKey) -> Result<(), UpdateError> {
    let zone = dns_name(zone);
    update(&permit(), &request(server, &zone, changes, key), &now).await.map(|_| ())
}

fn unmet(result: Result<(), UpdateError>) -> Unmet {
    match result {
        Err(error @ UpdateError::Unmet { unmet, .. }) => {
            assert_eq!(error.outcome(), Outcome::Answered);
            unmet
        }
        other => panic!("{other:?}"),
    }
}

async fn up(test: &str) -> Option<Pdns> {
    let server = Pdns::up(test)?;
    server.seed("tdemo", ZONE, REVERSE);
    server.seed("eds", OTHER.0, OTHER.1);
    Some(server)
}

#[tokio::test]
async fn whole_sets_are_made_replaced_and_taken_away() {
    let Some(server) = up("whole_sets_are_made_replaced_and_taken_away").await else { return };
    let (pdns, key) = (server.client(), key(&server, "tdemo"));
    let name = format!("app.{ZONE}");
    let serial = || async { pdns.zone_head(&zone()).await.unwrap().serial.unwrap() };
    let first = serial().await;
    let create = Changes::create(host(&name, 10));
    sent(&server, ZONE, &create, &key).await.unwrap();
    assert_eq!(serial().await, first + 1);
    assert_eq!(unmet(sent(&server, ZONE, &create, &key).await), Unmet::SetThere, "the second time");
    let replace = Changes::replace(host(&name, 10), host(&name, 11));
    sent(&server, ZONE, &replace, &key).await.unwrap();
    assert_eq!(unmet(sent(&server, ZONE, &replace, &key).await), Unmet::SetOther, "the second time");
    let held = pdns.zone(&zone()).await.unwrap();
    let set = held.rrset(&Name::new(&name), "A").unwrap();
    assert_eq!((set.records[0].content.raw(), set.ttl), ("10.20.129.11", 300));

    // Together or not at all, with everything that a condition can say.
    let text = RecordSet::new(dns_name(&format!("t.{ZONE}")), 60, vec![RecordData::Txt(Text::new(b"\x00\xff\"\\"))]);
    let both = Changes::create(text.clone().unwrap()).and(Changes::create(host(&name, 12)));
    let before = serial().await;
    assert_eq!(unmet(sent(&server, ZONE, &both, &key).await), Unmet::SetThere);
    assert_eq!(serial().await, before, "nothing was made");
    let only = |prerequisite| Changes { prerequisites: vec![prerequisite], edits: Vec::new() };
    let (here, nowhere) = (dns_name(&name), dns_name(&format!("nowhere.{ZONE}")));
    for (wanted, fails) in [
        (Prerequisite::NameInUse(nowhere.clone()), Unmet::NameMissing),
        (Prerequisite::NameNotInUse(here.clone()), Unmet::NameThere),
        (Prerequisite::SetExists(here.clone(), RecordType::TXT), Unmet::SetOther),
        (Prerequisite::SetAbsent(here.clone(), RecordType::A), Unmet::SetThere),
        (Prerequisite::SetIs(host(&name, 99)), Unmet::SetOther),
    ] {
        assert_eq!(unmet(sent(&server, ZONE, &only(wanted.clone()), &key).await), fails, "{wanted:?}");
    }
    for holds in [
        Prerequisite::NameInUse(here.clone()),
        Prerequisite::NameNotInUse(nowhere),
        Prerequisite::SetExists(here.clone(), RecordType::A),
        Prerequisite::SetAbsent(here.clone(), RecordType::TXT),
        Prerequisite::SetIs(host(&name, 11)),
    ] {
        sent(&server, ZONE, &only(holds), &key).await.unwrap();
    }
    assert_eq!(serial().await, before);

    // What the API reads is what the condition of an update says, odd bytes too.
    sent(&server, ZONE, &Changes::create(text.clone().unwrap()), &key).await.unwrap();
    let held = pdns.zone(&zone()).await.unwrap();
    let stored = held.rrset(&Name::new(&format!("t.{ZONE}")), "TXT").unwrap().records[0].content.raw().to_owned();
    let stored = RecordData::Stored { kind: RecordType::TXT, content: stored };
    let read = RecordSet::new(text.unwrap().name().clone(), 60, vec![stored]).unwrap();
    sent(&server, ZONE, &Changes::delete(read), &key).await.unwrap();

    let one_of = RecordSet::new(here.clone(), 300, vec![RecordData::A([10, 20, 129, 12].into())]).unwrap();
    let edits = vec![Edit::Add(one_of.clone()), Edit::DeleteRecords(host(&name, 11))];
    sent(&server, ZONE, &Changes { prerequisites: Vec::new(), edits }, &key).await.unwrap();
    sent(&server, ZONE, &Changes::delete(one_of.clone()), &key).await.unwrap();
    assert_eq!(unmet(sent(&server, ZONE, &Changes::delete(one_of), &key).await), Unmet::SetOther, "the second time");
    let gone = Changes { prerequisites: Vec::new(), edits: vec![Edit::DeleteName(here)] };
    sent(&server, ZONE, &gone, &key).await.unwrap();
    assert_eq!(pdns.zone(&zone()).await.unwrap().rrsets.len(), 2);

    let host = HostRecord { name: dns_name(&name), address: [10, 20, 129, 10].into(), ttl: 300 };
    sent(&server, ZONE, &Changes::create(host.forward().unwrap()), &key).await.unwrap();
    sent(&server, REVERSE, &Changes::create(host.pointer().unwrap()), &key).await.unwrap();
}

#[tokio::test]
async fn two_writers_at_a_time_do_not_overwrite_each_other() {
    let Some(server) = up("two_writers_at_a_time_do_not_overwrite_each_other").await else { return };
    let key = key(&server, "tdemo");
    let name = format!("app.{ZONE}");
    sent(&server, ZONE, &Changes::create(host(&name, 10)), &key).await.unwrap();
    let writers = (20..30).map(|last| {
        let changes = Changes::replace(host(&name, 10), host(&name, last));
        let (server, key) = (&server, &key);
        async move { (last, sent(server, ZONE, &changes, key).await) }
    });
    let ends = futures_util::future::join_all(writers).await;
    let (made, lost): (Vec<_>, Vec<_>) = ends.into_iter().partition(|(_, end)| end.is_ok());
    assert_eq!((made.len(), lost.len()), (1, 9), "{made:?} {lost:?}");
    for (_, end) in lost {
        assert_eq!(unmet(end), Unmet::SetOther);
    }
    let held = server.client().zone(&zone()).await.unwrap();
    let content = held.rrset(&Name::new(&name), "A").unwrap().records[0].content.raw().to_owned();
    assert_eq!(content, format!("10.20.129.{}", made[0].0));
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let Some(server) = up("refusals_are_told_apart").await else { return };
    let (own, other) = (key(&server, "tdemo"), key(&server, "eds"));
    let changes = Changes::create(host(&format!("app.{ZONE}"), 10));
    let before = server.client().zone(&zone()).await.unwrap();
    let denied = sent(&server, ZONE, &changes, &other).await.unwrap_err();
    assert!(matches!(denied, UpdateError::Denied { .. }), "{denied:?}");
    assert_eq!(denied.outcome(), Outcome::Answered);
    let absent = Changes::create(host("app.nobody.example", 10));
    let absent = sent(&server, "nobody.example", &absent, &own).await.unwrap_err();
    assert!(matches!(absent, UpdateError::Denied { .. } | UpdateError::Rejected { .. }), "{absent:?}");

    let forged = UpdateKey::new(&dns_name("tdemo"), "hmac-sha256", &server.secret("eds")).unwrap();
    let unknown = UpdateKey::new(&dns_name("nobody"), "hmac-sha256", &server.secret("eds")).unwrap();
    let algorithm = UpdateKey::new(&dns_name("tdemo"), "hmac-sha512", &server.secret("tdemo")).unwrap();
    for (what, bad) in [("secret", &forged), ("name", &unknown), ("algorithm", &algorithm)] {
        let error = sent(&server, ZONE, &changes, bad).await.unwrap_err();
        assert!(matches!(error, UpdateError::Credential { tsig: None, .. }), "{what}: {error:?}");
        assert_eq!(error.outcome(), Outcome::Unknown, "nobody has signed it");
        assert!(!format!("{error} {error:?} {} {bad:?}", error.help()).contains(&server.secret("eds")));
    }
    let late = || now().checked_sub(SignedDuration::from_secs(3600)).unwrap();
    let zone_name = dns_name(ZONE);
    let error = update(&permit(), &request(&server, &zone_name, &changes, &own), &late).await.unwrap_err();
    assert!(matches!(error, UpdateError::Credential { .. }), "{error:?}");

    let alias = RecordSet::new(dns_name(ZONE), 60, vec![RecordData::Cname(dns_name("x.example"))]).unwrap();
    let alias = Changes { prerequisites: Vec::new(), edits: vec![Edit::Add(alias)] };
    let error = sent(&server, ZONE, &alias, &own).await.unwrap_err();
    assert!(matches!(error, UpdateError::Denied { .. }), "an alias beside other records: {error:?}");
    assert_eq!(server.client().zone(&zone()).await.unwrap(), before, "nothing was written");

    server.stop();
    let error = sent(&server, ZONE, &changes, &own).await.unwrap_err();
    // A socket that is being closed may still take a connection.
    assert!(matches!(error, UpdateError::NotSent(_) | UpdateError::NoAnswer(_)), "{error:?}");
    assert_ne!(error.outcome(), Outcome::Answered);
}
