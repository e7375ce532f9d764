use super::*;
use crate::provision::fields::{Change, fields};

fn records(rtype: &str) -> SignedRecords {
    SignedRecords {
        set: DnsRecords {
            zone: "tdemo.mobile.deevnet.net".to_owned(),
            owner: "app.tdemo.mobile.deevnet.net".to_owned(),
            rtype: rtype.to_owned(),
            known: false,
        },
        key_file: None,
        tenant: "tdemo".to_owned(),
    }
}

fn told(contents: &[&str]) -> Told {
    Told { fields: (!contents.is_empty()).then(|| DnsRecords::wanted(300, contents)), alias: None }
}

fn todo(of: &SignedRecords, now: &[&str], wanted: &Wanted) -> Difference {
    let seen = told(now).fields.map_or(Seen::Absent, Seen::Present);
    of.difference(&seen, wanted)
}

#[test]
fn every_update_holds_the_whole_set_as_it_was_read() {
    let name: DnsName = "app.tdemo.mobile.deevnet.net".parse().expect("a name");
    let of = records("A");
    let old = ["10.20.129.10", "10.20.129.11"];
    let new = Wanted::Present(DnsRecords::wanted(300, ["10.20.129.12"]));
    let is_old = |condition: &Prerequisite| matches!(condition, Prerequisite::SetIs(set) if set.data().len() == 2 && set.name() == &name);
    for (wanted, edits) in [(&new, 2), (&Wanted::Absent, 1)] {
        let changes = of.changes(&name, &todo(&of, &old, wanted), &told(&old)).expect("changes");
        assert!(changes.prerequisites.iter().any(is_old), "{changes:?}");
        assert_eq!(changes.edits.len(), edits);
    }
    let made = of.changes(&name, &todo(&of, &[], &new), &told(&[])).expect("changes");
    assert!(made.prerequisites.contains(&Prerequisite::SetAbsent(name.clone(), RecordType::A)), "{made:?}");
    assert!(made.prerequisites.contains(&Prerequisite::SetAbsent(name.clone(), RecordType::CNAME)), "{made:?}");
    // An alias stands alone.
    let alias = records("CNAME");
    let wanted = Wanted::Present(DnsRecords::wanted(300, ["www.example."]));
    let made = alias.changes(&name, &todo(&alias, &[], &wanted), &told(&[])).expect("changes");
    assert!(made.prerequisites.contains(&Prerequisite::NameNotInUse(name)), "{made:?}");
}

#[test]
fn a_set_that_moved_since_it_was_read_is_left_alone() {
    let of = records("A");
    let new = Wanted::Present(DnsRecords::wanted(300, ["10.20.129.12"]));
    let update = todo(&of, &["10.20.129.10"], &new);
    assert!(of.unmoved(&update, &told(&["10.20.129.10"])).is_ok());
    for now in [&["10.20.129.66"][..], &[]] {
        assert_eq!(of.unmoved(&update, &told(now)).expect_err("moved").kind, TroubleKind::Moved, "{now:?}");
    }
    let create = todo(&of, &[], &new);
    assert_eq!(of.unmoved(&create, &told(&["10.20.129.66"])).expect_err("moved").kind, TroubleKind::Moved);
    // What only the API shows is no part of the set.
    let beside = Difference::Delete(vec![
        Change { field: KEPT.to_owned(), now: Some(UNSEEN.to_owned()), will_be: None },
        Change { field: "records".to_owned(), now: Some("10.20.129.10".to_owned()), will_be: None },
    ]);
    assert!(of.unmoved(&beside, &told(&["10.20.129.10"])).is_ok());
}

#[test]
fn what_goes_along_unseen_is_named_and_never_wanted_back() {
    let of = records("A");
    let mut seen = DnsRecords::wanted(300, ["10.20.129.10"]);
    seen.insert(KEPT.to_owned(), UNSEEN.to_owned());
    let riders = of.riders(&Seen::Present(seen.clone()), &[]);
    assert!(riders.iter().any(|rider| rider.contains("switched off")), "{riders:?}");
    let back = of.difference(&Seen::Present(DnsRecords::wanted(300, ["10.20.129.10"])), &Wanted::Present(seen));
    assert!(back.is_nothing(), "{back:?}");
}

#[test]
fn only_what_is_read_back_as_it_was_written_is_changed() {
    for good in ["A", "AAAA", "CNAME", "TXT", "PTR", "NS"] {
        assert!(kind_of(good).is_ok(), "{good}");
    }
    for bad in ["MX", "SRV", "ANY", "TYPE65300", "SOA", "nonsense"] {
        assert_eq!(kind_of(bad).expect_err("no").kind, TroubleKind::Refused, "{bad}");
    }
    assert_eq!(content(&Data::Ptr("app.tdemo.mobile.deevnet.net".to_owned())), "app.tdemo.mobile.deevnet.net.");
    assert_eq!(content(&Data::Txt(vec!["a\\\"b".to_owned(), "c".to_owned()])), "\"a\\\"b\" \"c\"");
    let set = fields([("ttl", "300"), ("records", "\"a, b\" \"c\", \"d\"")]);
    assert_eq!(set_of(&set), Some((300, vec!["\"a, b\" \"c\"".to_owned(), "\"d\"".to_owned()])));
}
