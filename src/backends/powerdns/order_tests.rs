use std::collections::BTreeMap;

use super::super::change::UPDATE_KEYS;
use super::super::model::testing::rrset;
use super::super::model::{ZoneHead, ZoneKind};
use super::*;

const FORWARD: &str = "tdemo.mobile.example";
const REVERSE: &str = "129.20.10.in-addr.arpa";

fn owner() -> Owner {
    let networks = ["10.20.99.0/24", "10.20.50.0/24"].map(|net| net.parse().unwrap()).to_vec();
    Owner { key: "tdemo".parse().unwrap(), networks, account: "tdemo".to_owned() }
}

fn new(zone: &str) -> NewZone {
    let apex = Apex { nameserver: "ns.mobile.example".parse().unwrap(), serial: 1 };
    NewZone { zone: Name::new(zone), apex }
}

fn held(zone: &str, keys: &[&str], networks: &[&str]) -> Held {
    let owned = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect();
    let kinds = BTreeMap::from([
        (UPDATE_KEYS.to_owned(), owned(keys)),
        (UPDATE_NETWORKS.to_owned(), owned(networks)),
        ("SOA-EDIT-DNSUPDATE".to_owned(), owned(&["INCREASE"])),
    ]);
    Held { metadata: ZoneMetadata { zone: Name::new(zone), kinds }, kind: ZoneKind::Native }
}

fn said(writes: &[Write]) -> Vec<String> {
    for write in writes {
        write.check().unwrap();
    }
    writes.iter().map(ToString::to_string).collect()
}

#[test]
fn who_may_update_comes_last() {
    let order = said(&creation(&owner(), &[new(FORWARD), new(REVERSE)], None));
    assert_eq!(
        order,
        [
            "make TSIG key tdemo",
            "make zone tdemo.mobile.example, closed to updates",
            "tdemo.mobile.example: set TSIG-ALLOW-DNSUPDATE to tdemo",
            "tdemo.mobile.example: set SOA-EDIT-DNSUPDATE to INCREASE",
            "make zone tdemo.mobile.example native",
            "tdemo.mobile.example: write tdemo.mobile.example SOA, write tdemo.mobile.example NS",
            "make zone 129.20.10.in-addr.arpa, closed to updates",
            "129.20.10.in-addr.arpa: set TSIG-ALLOW-DNSUPDATE to tdemo",
            "129.20.10.in-addr.arpa: set SOA-EDIT-DNSUPDATE to INCREASE",
            "make zone 129.20.10.in-addr.arpa native",
            "129.20.10.in-addr.arpa: write 129.20.10.in-addr.arpa SOA, write 129.20.10.in-addr.arpa NS",
            "tdemo.mobile.example: set ALLOW-DNSUPDATE-FROM to 10.20.99.0/24, 10.20.50.0/24",
            "129.20.10.in-addr.arpa: set ALLOW-DNSUPDATE-FROM to 10.20.99.0/24, 10.20.50.0/24",
        ]
    );
}

#[test]
fn a_zone_that_is_right_is_left_alone_and_an_open_one_is_closed_first() {
    let both = ["10.20.50.0/24", "10.20.99.0/24"];
    assert!(binding(&owner(), &held(FORWARD, &["TDEMO."], &both)).is_empty(), "order and spelling do not count");
    let open = said(&binding(&owner(), &held(FORWARD, &[], &["10.0.0.0/8"])));
    assert_eq!(
        open,
        [
            "close zone tdemo.mobile.example to updates",
            "tdemo.mobile.example: set TSIG-ALLOW-DNSUPDATE to tdemo",
            "open zone tdemo.mobile.example again, native",
            "tdemo.mobile.example: set ALLOW-DNSUPDATE-FROM to 10.20.99.0/24, 10.20.50.0/24",
        ]
    );
    let cut = Held { kind: ZoneKind::Secondary, ..held(FORWARD, &[], &both) };
    assert_eq!(
        said(&binding(&owner(), &cut)),
        ["tdemo.mobile.example: set TSIG-ALLOW-DNSUPDATE to tdemo", "make zone tdemo.mobile.example native"],
        "one that a cut run left closed"
    );
    let primary = Held { kind: ZoneKind::Primary, ..held(FORWARD, &["old"], &both) };
    assert_eq!(said(&binding(&owner(), &primary))[2], "open zone tdemo.mobile.example again, primary");
    let nobody = Owner { networks: Vec::new(), ..owner() };
    let closed = said(&binding(&nobody, &held(FORWARD, &["tdemo"], &both)));
    assert_eq!(closed, ["tdemo.mobile.example: remove ALLOW-DNSUPDATE-FROM"]);
}

#[test]
fn a_reverse_zone_goes_on_empty() {
    let head = ZoneHead {
        name: Name::new(REVERSE),
        kind: ZoneKind::Native,
        serial: Some(3),
        edited_serial: None,
        dnssec: None,
        account: None,
        soa_edit_api: None,
        masters: Vec::new(),
    };
    let rrsets = vec![
        rrset(REVERSE, "SOA", 3600, &["a. b. 3 4 5 6 7"]),
        rrset("10.129.20.10.in-addr.arpa", "PTR", 300, &["app.old.mobile.example."]),
    ];
    let mut zone = Zone { head, rrsets, bytes_replaced: false };
    let theirs = held(REVERSE, &["old"], &["10.20.99.0/24", "10.20.50.0/24"]);
    assert_eq!(
        said(&handover(&owner(), &zone, &theirs.metadata)),
        [
            "close zone 129.20.10.in-addr.arpa to updates",
            "129.20.10.in-addr.arpa: delete 10.129.20.10.in-addr.arpa PTR",
            "129.20.10.in-addr.arpa: set TSIG-ALLOW-DNSUPDATE to tdemo",
            "open zone 129.20.10.in-addr.arpa again, native",
        ]
    );
    zone.rrsets.truncate(1);
    assert_eq!(handover(&owner(), &zone, &theirs.metadata).len(), 3, "nothing to empty: no serial is moved for it");
}

#[test]
fn keys_overlap_and_no_list_becomes_empty() {
    let (old, next): (DnsName, DnsName) = ("tdemo".parse().unwrap(), "tdemo-2".parse().unwrap());
    let all =
        [held(FORWARD, &["tdemo"], &[]), held(REVERSE, &["Tdemo.", "ops"], &[]), held("eds.example", &["eds"], &[])];
    assert_eq!(
        said(&rotation_begins(&old, &next, None, &all)),
        [
            "make TSIG key tdemo-2",
            "close zone tdemo.mobile.example to updates",
            "tdemo.mobile.example: set TSIG-ALLOW-DNSUPDATE to tdemo, tdemo-2",
            "open zone tdemo.mobile.example again, native",
            "close zone 129.20.10.in-addr.arpa to updates",
            "129.20.10.in-addr.arpa: set TSIG-ALLOW-DNSUPDATE to tdemo, ops, tdemo-2",
            "open zone 129.20.10.in-addr.arpa again, native",
        ]
    );
    let both = [held(FORWARD, &["tdemo", "tdemo-2"], &[]), held(REVERSE, &["tdemo"], &[])];
    assert_eq!(
        said(&rotation_ends(&old, &both)),
        [
            "close zone tdemo.mobile.example to updates",
            "tdemo.mobile.example: set TSIG-ALLOW-DNSUPDATE to tdemo-2",
            "open zone tdemo.mobile.example again, native",
            "close zone 129.20.10.in-addr.arpa to updates",
            "129.20.10.in-addr.arpa: set TSIG-ALLOW-DNSUPDATE to nobody.invalid",
            "open zone 129.20.10.in-addr.arpa again, native",
            "delete TSIG key tdemo",
        ]
    );
    assert_eq!(said(&rotation_begins(&old, &next, None, &both)).len(), 4, "what is listed is not listed twice");
}

#[test]
fn a_key_goes_last_and_is_left_in_no_list() {
    let key: DnsName = "tdemo".parse().unwrap();
    let all = [held(FORWARD, &["tdemo"], &[]), held("eds.example", &["eds", "tdemo"], &[])];
    assert_eq!(
        said(&removal(&key, &[Name::new(FORWARD)], &all)),
        [
            "close zone eds.example to updates",
            "eds.example: set TSIG-ALLOW-DNSUPDATE to eds",
            "open zone eds.example again, native",
            "delete zone tdemo.mobile.example",
            "delete TSIG key tdemo",
        ]
    );
}
