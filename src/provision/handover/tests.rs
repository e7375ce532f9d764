use super::*;
use crate::inventory::testing::{Sample, healthy, now};
use crate::inventory::{GapKind, SourceId};
use crate::provision::trouble::TroubleKind;

const ZONES: [&str; 2] = ["tdemo.mobile.deevnet.net", "129.20.10.in-addr.arpa"];

fn listing(zone: &str, keys: &[&str]) -> Listing {
    let keys = keys.iter().map(ToString::to_string).collect();
    Listing { zone: zone.to_owned(), listed: Some((keys, vec!["10.20.99.0/24".to_owned()])) }
}

fn keys(listed: [&[&str]; 2], there: &[&str]) -> Keys {
    let zones = ZONES.iter().zip(listed).map(|(zone, keys)| listing(zone, keys)).collect();
    Keys { zones, there: there.iter().map(|key| ((*key).to_owned(), "hmac-sha256".to_owned())).collect() }
}

fn sheet(inv: &Inventory, keys: &Result<Keys, Trouble>) -> Sheet {
    Sheet::of(inv, "tdemo", Some(keys), now()).expect("a tenant")
}

#[test]
fn the_key_is_the_one_that_the_zones_list() {
    let name = |keys: &Keys| chosen("tdemo", keys).map(|key| (key.name, key.also, key.not_for));
    let key = |name: &str, also: &[&str], not_for: &[&str]| {
        let own = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        Ok((name.to_owned(), own(also), own(not_for)))
    };
    assert_eq!(name(&keys([&["tdemo"], &["tdemo"]], &["eds", "tdemo"])), key("tdemo", &[], &[]));
    // While it is rotated, the newer one; afterwards the only one, whatever else there is.
    assert_eq!(
        name(&keys([&["tdemo", "tdemo-2"], &["tdemo", "tdemo-2"]], &["tdemo", "tdemo-2"])),
        key("tdemo-2", &["tdemo"], &[])
    );
    assert_eq!(name(&keys([&["tdemo-2"], &["tdemo-2"]], &["tdemo", "tdemo-2"])), key("tdemo-2", &[], &[]));
    // A listed key that is not there is nobody's; a zone that does not list it is told.
    assert_eq!(
        name(&keys([&["tdemo", "tdemo-2"], &["tdemo-2"]], &["tdemo"])),
        key("tdemo", &[], &["129.20.10.in-addr.arpa"])
    );
    for (listed, there, says) in [
        ([&["eds"][..], &[]], &["eds", "tdemo"][..], "lists no key of tdemo, it lists: eds"),
        ([&[], &[]], &["tdemo"], "it lists: none"),
        ([&["tdemo"], &["tdemo"]], &["tdemo2"], "there is no such key"),
    ] {
        let why = chosen("tdemo", &keys(listed, there)).expect_err("no key");
        assert!(why.text.contains(says) && why.help.is_some(), "{why}");
    }
    let mut gone = keys([&["tdemo"], &["tdemo"]], &["tdemo"]);
    gone.zones[0].listed = None;
    assert!(chosen("tdemo", &gone).expect_err("no zone").text.contains("there is no zone tdemo."));
}

#[test]
fn a_sheet_has_everything_and_no_secret() {
    let sheet = sheet(&healthy(), &Ok(keys([&["tdemo"], &["tdemo"]], &["tdemo"])));
    let text = sheet.markdown();
    for part in [
        "# Tenant tdemo on site mobile",
        "- index: 1",
        "vrf_tdemo, VNI 10001",
        "tdemo0, tag 20010",
        "10.20.129.0/24",
        "- gateway: 10.20.129.1",
        "10.20.129.10 to 10.20.129.49, ordinals 0 to 39",
        ZONES[0],
        ZONES[1],
        "update key: tdemo, hmac-sha256",
        "10.20.99.0/24",
        "nsupdate -v -k tdemo.key",
        "update add www.tdemo.mobile.deevnet.net. 300 A 10.20.129.10",
        "| app.tdemo.mobile.deevnet.net | 10.20.129.10 | 2040 |",
        "1. ",
        "pass: ",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!sheet.has_unknown(), "{text}");
    let json = serde_json::to_value(&sheet).expect("data");
    assert_eq!(json["network"]["subnet"], "10.20.129.0/24");
    assert_eq!(json["names"]["key"]["name"], "tdemo");
    assert!(!text.contains("secret \""), "{text}");
}

#[test]
fn what_is_not_known_says_so_and_is_never_blank() {
    let dead = || Err(Trouble::new(TroubleKind::NotReached, "10.20.25.21:8081 refuses connections"));
    let text = sheet(&healthy(), &dead()).markdown();
    assert!(text.contains("update key: unknown: 10.20.25.21:8081 refuses connections"), "{text}");
    assert!(!text.contains("nsupdate"), "an example with a key that nobody knows: {text}");
    let waiting = Sheet::of(&healthy(), "tdemo", None, now()).expect("a tenant");
    assert!(waiting.markdown().contains("unknown: it is being read") && waiting.has_unknown());

    let known = Ok(keys([&["tdemo"], &["tdemo"]], &["tdemo"]));
    for (source, says) in
        [(SourceId::Dns, "whether it is served is unknown"), (SourceId::Fw, "## At the perimeter\n\nunknown: ")]
    {
        let sheet = sheet(&Sample::healthy().join_without(source), &known);
        let text = sheet.markdown();
        assert!(text.contains(says) && sheet.has_unknown(), "{source:?}: {text}");
    }
    // What was read before and is not answered for now says so.
    let mut sample = Sample::healthy();
    sample.fail(SourceId::Fw, GapKind::NoAnswer, "10.20.99.1 does not answer", true);
    let late = sheet(&sample.join(), &known);
    let text = late.markdown();
    assert!(text.contains("the perimeter is told as it was 2026-") && late.has_unknown(), "{text}");
    assert!(text.contains("does not answer: 10.20.99.1 does not answer"), "{text}");
    assert_eq!(Sheet::of(&healthy(), "nobody", None, now()), None);
}

/// pf takes the first quick rule that matches, else the last of the others.
#[test]
fn rules_stand_in_the_order_in_which_they_decide() {
    let sheet = sheet(&healthy(), &Ok(keys([&["tdemo"], &["tdemo"]], &["tdemo"])));
    let Some(Part::Known(rules)) = sheet.perimeter else { panic!("rules") };
    let quick = rules.iter().take_while(|rule| rule.quick).count();
    assert!(quick > 2 && rules.iter().skip(quick).all(|rule| !rule.quick), "{rules:?}");
    assert!(rules.iter().all(|rule| rule.purpose != "anti-lockout rule"), "the router's own: {rules:?}");
}

#[test]
fn a_key_file_is_what_nsupdate_takes() {
    let text = key_file("tdemo", "hmac-sha256", "c2VjcmV0");
    assert_eq!(*text, "key \"tdemo\" { algorithm hmac-sha256; secret \"c2VjcmV0\"; };\n");
    assert!(text.capacity() >= text.len());
}
