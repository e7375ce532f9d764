use proptest::prelude::*;

use super::super::model::testing::rrset;
use super::super::model::{ZoneHead, ZoneKind};
use super::super::wire::{Decoded, RawZone, decode};
use super::*;
use crate::backends::dns::{HostRecord, Text};

const ZONE: &str = "tdemo.example";

fn zone() -> Name {
    Name::new(ZONE)
}

fn read(rrsets: Vec<RrSet>) -> Zone {
    let head = ZoneHead {
        name: zone(),
        kind: ZoneKind::Native,
        serial: Some(7),
        edited_serial: Some(7),
        dnssec: Some(false),
        account: None,
        soa_edit_api: Some("INCREASE".to_owned()),
        masters: Vec::new(),
    };
    Zone { head, rrsets, bytes_replaced: false }
}

fn host(last: u8) -> Change {
    let name = "app.tdemo.example".parse().unwrap();
    Change::from(&HostRecord { name, address: [10, 20, 129, last].into(), ttl: 300 }.forward().unwrap())
}

/// The body of a patch as a server would hand the sets back.
fn handed_back(changes: &[Change]) -> Zone {
    let write = Write::Patch(zone(), changes.to_vec());
    write.check().unwrap();
    let mut body = write.body().unwrap();
    let mut sets = body["rrsets"].take();
    sets.as_array_mut().unwrap().retain(|set| set["changetype"] == "REPLACE");
    let whole = json!({"name": "tdemo.example.", "kind": "Native", "serial": 7, "rrsets": sets});
    match decode::<RawZone>(whole.to_string().as_bytes()) {
        Decoded::Whole(raw, replaced) => raw.zone(replaced).unwrap(),
        _ => panic!("{whole}"),
    }
}

#[test]
fn what_would_break_a_zone_is_not_sent() {
    let bad = |change: Change| change.check(&zone()).unwrap_err().to_string();
    let delete = |name: &str, kind: &str| Change::Delete { name: Name::new(name), kind: kind.to_owned() };
    assert!(bad(delete(ZONE, "SOA")).contains("dead without it"));
    assert!(bad(delete(ZONE, "NS")).contains("dead without it"));
    assert!(delete("child.tdemo.example", "NS").check(&zone()).is_ok(), "a delegation may go");
    assert!(delete("odd\\032name.tdemo.example", "A").check(&zone()).is_ok(), "what a tenant named oddly may go");
    assert!(bad(delete("app.eds.example", "A")).contains("not in the zone"));
    assert!(bad(delete(ZONE, "a")).contains("no record type"));
    let edited = |edit: &dyn Fn(&mut Change)| {
        let mut change = host(10);
        edit(&mut change);
        bad(change)
    };
    let records = |change: &mut Change, edit: fn(&mut Vec<Record>)| {
        if let Change::Replace { records, .. } = change {
            edit(records);
        }
    };
    assert!(edited(&|c| records(c, Vec::clear)).contains("no record"));
    assert!(edited(&|c| records(c, |r| r.push(r[0].clone()))).contains("twice"));
    assert!(
        edited(&|c| if let Change::Replace { ttl, .. } = c {
            *ttl = 1 << 31
        })
        .contains("longer than")
    );
    assert!(
        edited(&|c| if let Change::Replace { kind, .. } = c {
            "SOA".clone_into(kind)
        })
        .contains("apex only")
    );
    assert!(
        edited(&|c| if let Change::Replace { name, .. } = c {
            *name = Name::new("a b.tdemo.example")
        })
        .contains("no name")
    );
    let twice = Write::Patch(zone(), vec![host(10), host(11)]).check().unwrap_err();
    assert!(twice.to_string().contains("changed twice"), "{twice}");
    assert!(Write::Patch(zone(), Vec::new()).check().is_err(), "it would move the serial for nothing");
}

#[test]
fn what_would_open_a_zone_is_not_sent() {
    let put = |metadata| Write::PutMetadata(zone(), metadata).check();
    assert!(put(Metadata::UpdateKeys(Vec::new())).unwrap_err().to_string().contains("opens the zone"));
    assert!(Write::DeleteMetadata(zone(), UPDATE_KEYS).check().unwrap_err().to_string().contains("open to everybody"));
    assert!(put(Metadata::UpdateNetworks(Vec::new())).is_err());
    for kind in ["", "X-", "LUA-AXFR-SCRIPT", "X-a/b"] {
        assert!(put(Metadata::Own { kind: kind.to_owned(), values: Vec::new() }).is_err(), "{kind}");
    }
    assert!(put(Metadata::Own { kind: "X-DEEVNET-PLAN".to_owned(), values: vec!["1".to_owned()] }).is_ok());
    assert_eq!(Metadata::UpdateNetworks(vec!["10.20.99.7/24".parse().unwrap()]).values(), ["10.20.99.0/24"]);
    let nobody: DnsName = NOBODY.parse().unwrap();
    assert!(put(Metadata::UpdateKeys(vec![nobody])).is_ok());
}

#[test]
fn what_is_there_already_is_told() {
    let change = host(10);
    let there = read(vec![rrset("app.tdemo.example", "A", 300, &["10.20.129.10"])]);
    assert!(change.is_made(&there) && !host(11).is_made(&there));
    assert!(!change.is_made(&read(vec![rrset("app.tdemo.example", "A", 60, &["10.20.129.10"])])), "another TTL");
    let gone = Change::Delete { name: Name::new("x.tdemo.example"), kind: "A".to_owned() };
    assert!(gone.is_made(&there));
    let mut off = rrset("app.tdemo.example", "A", 300, &["10.20.129.10"]);
    off.records[0].disabled = true;
    let back = Change::restore(&off).unwrap();
    assert!(!change.is_made(&read(vec![off.clone()])), "what is disabled is not served");
    assert!(back.is_made(&read(vec![off])));
}

#[test]
fn emptying_leaves_the_apex() {
    let zone = read(vec![
        rrset(ZONE, "SOA", 3600, &["a. b. 1 2 3 4 5"]),
        rrset(ZONE, "NS", 3600, &["a."]),
        rrset(ZONE, "TXT", 60, &["\"theirs\""]),
        rrset("sub.tdemo.example", "NS", 60, &["b."]),
        rrset("10.tdemo.example", "PTR", 60, &["b."]),
    ]);
    let gone: Vec<String> = emptying(&zone).iter().map(|c| format!("{} {}", c.name(), c.kind())).collect();
    assert_eq!(gone, ["tdemo.example TXT", "sub.tdemo.example NS", "10.tdemo.example PTR"]);
}

#[test]
fn a_secret_shows_nowhere_but_in_its_body() {
    let name = "tdemo".parse().unwrap();
    let write = Write::CreateKey { name, secret: Some(Secret::new("YzRuNHJ5".to_owned())) };
    assert!(!format!("{write} {write:?}").contains("YzRu"));
    assert_eq!(write.body(), None, "its body is made where it is wiped");
}

fn values() -> impl Strategy<Value = Change> {
    let data = prop_oneof![
        any::<[u8; 4]>().prop_map(|octets| RecordData::A(octets.into())),
        any::<[u8; 16]>().prop_map(|octets| RecordData::Aaaa(octets.into())),
        proptest::collection::vec(any::<u8>(), 0..600).prop_map(|bytes| RecordData::Txt(Text::new(&bytes))),
    ];
    (data, "[a-z0-9_][a-z0-9_-]{0,20}", 0..=LONGEST_TTL, proptest::option::of("\\PC{1,20}"), any::<bool>()).prop_map(
        |(data, label, ttl, comment, off)| {
            let name = format!("{label}.{ZONE}").parse().unwrap();
            let mut change = Change::from(&RecordSet::new(name, ttl, vec![data]).unwrap());
            if let Change::Replace { comments, records, .. } = &mut change {
                let account = String::new();
                *comments = comment.map(|text| {
                    let text = crate::backends::http::clean(&text);
                    vec![Comment { text, account, modified_at: Some(1_795_950_000) }]
                });
                records[0].disabled = off;
            }
            change
        },
    )
}

proptest! {
    #[test]
    fn a_body_reads_back_to_its_values(change in values()) {
        let zone = handed_back(std::slice::from_ref(&change));
        prop_assert_eq!(zone.rrsets.len(), 1);
        prop_assert!(change.is_made(&zone), "{change:?} {zone:?}");
        if let Change::Replace { comments, .. } = &change {
            prop_assert_eq!(&zone.rrsets[0].comments, &comments.clone().unwrap_or_default());
        }
    }
}
