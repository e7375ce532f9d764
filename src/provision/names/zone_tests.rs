use super::*;
use crate::backends::powerdns::model::RrSet;
use crate::provision::object::Object;

fn zone(claim: Claim) -> DnsZone {
    DnsZone { zone: "tdemo.mobile.example".to_owned(), claim }
}

fn own() -> Claim {
    Claim::Own("tdemo".to_owned())
}

fn wanted() -> Fields {
    fields([
        ("kind", "native"),
        ("account", "tdemo"),
        ("keys", "tdemo"),
        ("networks", ""),
        ("update-serial", "INCREASE"),
    ])
}

fn seen(more: &[(&str, &str)]) -> Seen {
    let mut all = wanted();
    all.remove("networks");
    all.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    all.retain(|_, value| !value.is_empty());
    Seen::Present(all)
}

fn todo(claim: Claim, more: &[(&str, &str)]) -> Vec<String> {
    let todo = zone(claim).difference(&seen(more), &Wanted::Present(wanted()));
    todo.changes().iter().map(|change| change.field.clone()).collect()
}

#[test]
fn what_is_as_good_is_no_difference() {
    assert!(todo(own(), &[]).is_empty());
    assert!(todo(own(), &[("kind", "primary"), ("account", "deevnet"), ("keys", "tdemo-2")]).is_empty());
    assert!(todo(own(), &[("account", ""), ("update-serial", "")]).is_empty(), "a zone that others made");
    assert_eq!(todo(own(), &[("kind", "closed"), ("update-serial", "")]), ["kind", "update-serial"], "one half made");
    assert_eq!(todo(own(), &[("keys", "eds, tdemo")]), ["keys"], "a key of another beside it");
    assert_eq!(todo(own(), &[("keys", "")]), ["keys"], "open");
    assert_eq!(todo(own(), &[("kind", "secondary")]), ["kind"]);
    assert_eq!(todo(Claim::Handover("tdemo".to_owned()), &[("account", "eds")]), ["account"]);
}

#[test]
fn a_zone_that_was_left_closed_is_opened_whatever_is_wanted() {
    let only = Wanted::Present(fields([("keys", "tdemo")]));
    let todo = zone(Claim::Any).difference(&seen(&[("kind", "closed")]), &only);
    assert_eq!(todo.value("kind"), Some("native"));
    let stays = Wanted::Present(fields([("kind", "closed")]));
    assert!(zone(Claim::Any).difference(&seen(&[("kind", "closed")]), &stays).is_nothing());
}

#[test]
fn what_is_lost_or_opened_has_no_way_back() {
    let whole = zone(Claim::Whole("tdemo".to_owned()));
    let gone = |more: &[(&str, &str)]| whole.difference(&seen(more), &Wanted::Absent);
    assert_eq!(whole.undo(&gone(&[])), Undo::Inverse);
    assert_eq!(whole.danger(&gone(&[("holds", "3 record sets")])), Danger::Final);
    assert!(matches!(whole.undo(&gone(&[("holds", "3 record sets")])), Undo::None(_)));
    let bound = zone(own()).difference(&seen(&[("keys", "")]), &Wanted::Present(wanted()));
    assert!(matches!(zone(own()).undo(&bound), Undo::None(why) if why.contains("not opened again")));
    let riders = whole.riders(&seen(&[("holds", "3 record sets")]), &[]);
    assert!(riders[0].contains("3 record sets") && riders[0].contains("written by tdemo"), "{riders:?}");
}

/// A zone that was left closed with its tenant's mark, as it is looked at, with so many sets of records.
fn closed(claim: Claim, sets: usize) -> Seen {
    let name = Name::new("tdemo.mobile.example");
    let head = ZoneHead {
        name: name.clone(),
        kind: ZoneKind::Secondary,
        serial: None,
        edited_serial: None,
        dnssec: None,
        account: Some("tdemo".to_owned()),
        soa_edit_api: None,
        masters: Vec::new(),
    };
    let set = |number| RrSet {
        name: Name::new(&format!("app-{number}.tdemo.mobile.example")),
        kind: "A".to_owned(),
        ttl: 300,
        records: Vec::new(),
        comments: Vec::new(),
    };
    let held = Zone { head, rrsets: (0..sets).map(set).collect(), bytes_replaced: false };
    let metadata = ZoneMetadata { zone: name, kinds: Default::default() };
    Seen::Present(zone(claim).seen(&held, &metadata))
}

#[test]
fn a_closed_zone_is_nobodys_only_where_it_holds_nothing() {
    let proof = fields([("keys", "tdemo")]);
    let unproved = |sets| zone(own()).unproved(&proof, &closed(own(), sets));
    assert_eq!(unproved(0), None);
    assert!(unproved(1).is_some_and(|why| why.contains("keys")), "{:?}", unproved(1));
}

#[test]
fn what_a_closed_zone_holds_is_not_emptied_where_it_is_opened() {
    for claim in [Claim::Any, own()] {
        let (zone, seen) = (zone(claim.clone()), closed(claim, 2));
        assert_eq!(seen.field("holds"), Some("2 record sets"));
        let todo = zone.difference(&seen, &Wanted::Present(wanted()));
        assert!(todo.changes().iter().all(|change| change.field != "holds"), "{todo:?}");
        assert!(todo.value("kind") == Some("native") && !loses(&todo), "{todo:?}");
        assert_eq!(zone.riders(&seen, &[]), [""; 0], "nothing goes along");
    }
}

#[test]
fn a_claim_is_read_back_from_a_journal() {
    for claim in [Claim::Any, own(), Claim::Whole("tdemo".to_owned()), Claim::Handover("tdemo".to_owned())] {
        let object = Object::DnsZone(zone(claim));
        let text = serde_json::to_string(&object).unwrap();
        assert_eq!(serde_json::from_str::<Object>(&text).unwrap(), object, "{text}");
    }
}
