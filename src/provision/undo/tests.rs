//! What comes back, what does not, and what is perhaps not the change's to take back.

use super::*;
use crate::inventory::testing::now;
use crate::provision::fields::{Change, Seen, fields};
use crate::provision::journal::{Journal, Record, Who};
use crate::provision::names::{Claim, DnsRecords, DnsZone, Forward, TsigKey};
use crate::provision::sdn::{SdnSubnet, SdnVnet, SdnZone};
use crate::provision::testing::plan;
use crate::provision::trouble::TroubleKind;

fn zone(name: &str) -> Object {
    Object::DnsZone(DnsZone { zone: name.to_owned(), claim: Claim::Own("rtrip".to_owned()) })
}

fn key(name: &str) -> Object {
    Object::TsigKey(TsigKey { key: name.to_owned(), zones: Vec::new(), or_next: false })
}

fn forward(domain: &str) -> Object {
    Object::Forward(Forward { domain: domain.to_owned() })
}

fn present(all: &[(&str, &str)]) -> Seen {
    Seen::Present(fields(all.iter().copied()))
}

/// The entry of a change of those steps with those lines.
fn entry(steps: Vec<Step>, lines: Vec<Record>) -> Entry {
    let dir = tempfile::tempdir().expect("a directory");
    let journal = Journal::in_state(dir.path());
    let who = Who { user: "operator".to_owned(), host: "console".to_owned(), pid: 7 };
    let change = journal.begin(&who, &plan(steps), now()).expect("begun");
    lines.into_iter().for_each(|line| change.log.write(now(), line).expect("written"));
    journal.read(change.id).expect("an entry")
}

fn begun(step: usize, before: Seen, wanted: &Wanted) -> Record {
    let todo = Difference::between(&before, wanted);
    Record::Begun { step, before, todo }
}

/// Steps that were all carried out, each from what was there before.
fn done(steps: Vec<(Step, Seen)>) -> Entry {
    let lines = steps.iter().enumerate().flat_map(|(number, (step, before))| {
        let after = match &step.wanted {
            Wanted::Absent => Seen::Absent,
            Wanted::Present(fields) => Seen::Present(fields.clone()),
        };
        [begun(number, before.clone(), &step.wanted), Record::Verified { step: number, after: Some(after) }]
    });
    let lines = lines.collect();
    entry(steps.into_iter().map(|(step, _)| step).collect(), lines)
}

fn names(back: &WayBack) -> (Vec<String>, Vec<(String, &'static str)>) {
    (back.plan.steps.iter().map(|step| step.object.ensure().name()).collect(), back.left.clone())
}

#[test]
fn a_key_whose_secret_is_gone_is_not_listed_again() {
    let relisted = Step::present(zone("rtrip.example.net"), fields([("keys", "rtrip-2")]));
    let steps = vec![
        (relisted, present(&[("keys", "rtrip, rtrip-2"), ("kind", "native")])),
        (Step::absent(key("rtrip")), present(&[("algorithm", "hmac-sha256")])),
    ];
    let back = way_back(&done(steps));
    let wanted = Wanted::Present(fields([("keys", "rtrip-2")]));
    assert_eq!(back.plan.steps.iter().map(|step| &step.wanted).collect::<Vec<_>>(), [&wanted]);
    assert_eq!(back.left.len(), 1);
}

#[test]
fn what_stood_on_what_is_gone_does_not_come_back_alone() {
    let whole = present(&[("keys", "rtrip"), ("kind", "native")]);
    let server = present(&[("server", "10.20.25.21")]);
    let steps = vec![
        (Step::absent(forward("rtrip.example.net")), server.clone()),
        (Step::absent(forward("other.example.net")), server),
        (Step::absent(zone("rtrip.example.net")), whole),
        (Step::absent(key("rtrip")), present(&[("algorithm", "hmac-sha256")])),
    ];
    let (back, left) = names(&way_back(&done(steps)));
    assert_eq!(back, ["forward other.example.net"]);
    let why: Vec<&str> = left.iter().map(|(_, why)| *why).collect();
    assert_eq!(why, ["its secret is gone: a new key of that name is another one", WITHOUT, WITHOUT]);
}

#[test]
fn what_was_asked_for_and_never_seen_made_is_taken_back_only_where_it_proves_whose_it_is() {
    let wanted = fields([("server", "10.20.25.21"), ("description", "tenant rtrip")]);
    let network = fields([("type", "evpn"), ("vrf-vxlan", "10060")]);
    let steps = || {
        vec![
            Step::present(Object::SdnZone(SdnZone { zone: "rtrip".to_owned() }), network.clone()),
            Step::present(forward("rtrip.example.net"), wanted.clone()),
            Step::present(key("rtrip"), fields([("algorithm", "hmac-sha256")])),
        ]
    };
    let asked = || {
        let all = steps();
        let lines = all.iter().enumerate().map(|(number, step)| begun(number, Seen::Absent, &step.wanted));
        lines.chain([Record::Satisfied { step: 0 }]).collect::<Vec<_>>()
    };
    let (back, left) = names(&way_back(&entry(steps(), asked())));
    assert_eq!(back, [""; 0]);
    // Another operator writes the same server and description beside the same domain.
    assert_eq!(
        left,
        ["TSIG key rtrip", "forward rtrip.example.net", "zone rtrip"].map(|name| (name.to_owned(), PERHAPS))
    );
    // A token that is remembered does not prove that nobody else had the lock since, nor does giving it back.
    let held = Record::Note { key: "sdn-lock".to_owned(), value: "019d0000-0000-7000-8000-000000000001".into() };
    let told = Record::Note { key: "forward-rtrip.example.net-own".to_owned(), value: "0b5c".into() };
    let back = way_back(&entry(steps(), asked().into_iter().chain([held, told]).collect()));
    assert!(!names(&back).0.contains(&"zone rtrip".to_owned()), "{:?}", back.plan.steps);

    let taken = back.plan.steps.iter().find(|step| step.object == forward("rtrip.example.net")).expect("a step");
    let there = |uuid| {
        let row = [("server", "10.20.25.21"), ("description", "tenant rtrip"), ("right now: uuid", uuid)];
        Seen::Present(fields(row))
    };
    assert!(taken.judge(&there("0b5c"), &[], false).is_ok_and(|todo| !todo.is_nothing()));
    let refused = taken.judge(&there("77aa"), &[], false).expect_err("somebody else's");
    assert_eq!(refused.kind, TroubleKind::Moved);
    assert!(refused.text.contains("perhaps not of the change"), "{refused}");
}

#[test]
fn what_the_back_end_said_yes_to_is_the_changes_own() {
    let step = Step::present(key("rtrip"), fields([("algorithm", "hmac-sha256")]));
    let lines = vec![begun(0, Seen::Absent, &step.wanted), Record::Applied { step: 0 }];
    let back = way_back(&entry(vec![step], lines));
    assert_eq!(names(&back), (vec!["TSIG key rtrip".to_owned()], Vec::new()));
}

#[test]
fn changes_of_fields_are_left_to_the_journal() {
    let change = Change::set("keys", Some("rtrip"), "rtrip-2");
    let before = present(&[("keys", "rtrip")]);
    let step = Step::present(zone("rtrip.example.net"), fields([("keys", "rtrip-2")]));
    let line = Record::Begun { step: 0, before, todo: Difference::Update(vec![change]) };
    let back = way_back(&entry(vec![step], vec![line]));
    assert_eq!(back.plan.steps.len(), 1, "an update that got no answer is set back all the same");
}

#[test]
fn what_is_perhaps_anothers_keeps_what_it_stands_on() {
    let net = "10.20.129.0/24".parse().expect("a network");
    let subnet = SdnSubnet { zone: "rtrip".to_owned(), vnet: "rtrip0".to_owned(), net };
    let steps = vec![
        Step::present(zone_of("rtrip"), fields([("type", "evpn")])),
        Step::present(vnet_of("rtrip0"), fields([("zone", "rtrip")])),
        Step::present(Object::SdnSubnet(subnet), Fields::new()),
        Step::present(zone_of("other"), fields([("type", "evpn")])),
        Step::present(vnet_of("other0"), fields([("zone", "other")])),
    ];
    let answered = |seen: &[usize]| {
        let begun = steps.iter().enumerate().map(|(step, asked)| begun(step, Seen::Absent, &asked.wanted));
        let lines = begun.chain(seen.iter().map(|step| Record::Applied { step: *step })).collect();
        names(&way_back(&entry(steps.clone(), lines)))
    };
    let (back, left) = answered(&[0, 1, 3, 4]);
    assert_eq!(back, ["no workload of tdemo", "VNet other0", "zone other"], "what it does not stand on goes");
    let left: Vec<(&str, &str)> = left.iter().map(|(name, why)| (name.as_str(), *why)).collect();
    let named = [("subnet 10.20.129.0/24 of rtrip0", PERHAPS), ("VNet rtrip0", BELOW), ("zone rtrip", BELOW)];
    assert_eq!(left, named);
    let (back, left) = answered(&[0, 2, 3]);
    assert!(back.contains(&"subnet 10.20.129.0/24 of rtrip0".to_owned()), "{back:?}");
    let kept: Vec<&str> = left.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(kept, ["VNet other0", "zone other", "VNet rtrip0", "zone rtrip"]);
}

fn zone_of(zone: &str) -> Object {
    Object::SdnZone(SdnZone { zone: zone.to_owned() })
}

fn vnet_of(vnet: &str) -> Object {
    Object::SdnVnet(SdnVnet { vnet: vnet.to_owned() })
}

fn records(zone: &str) -> Object {
    let (zone, owner) = (zone.to_owned(), format!("app.{zone}"));
    Object::DnsRecords(DnsRecords { zone, owner, rtype: "A".to_owned(), known: true })
}

#[test]
fn a_set_that_was_never_seen_written_is_anybodys_unless_it_goes_with_its_zone() {
    let set = Step::present(records("rtrip.example.net"), DnsRecords::wanted(300, ["10.20.129.10"]));
    let lines = |at| vec![begun(at, Seen::Absent, &set.wanted)];
    let (back, left) = names(&way_back(&entry(vec![set.clone()], lines(0))));
    assert!(back.is_empty(), "{back:?}");
    assert_eq!(left, [("app.rtrip.example.net A".to_owned(), PERHAPS)]);

    let made = Step::present(zone("rtrip.example.net"), fields([("keys", "rtrip")]));
    let first = vec![begun(0, Seen::Absent, &made.wanted), Record::Applied { step: 0 }];
    let back = way_back(&entry(vec![made, set.clone()], first.into_iter().chain(lines(1)).collect()));
    assert_eq!(
        names(&back),
        (vec!["app.rtrip.example.net A".to_owned(), "zone rtrip.example.net".to_owned()], Vec::new())
    );
}

#[test]
fn an_update_that_nobody_saw_done_is_set_back_only_from_what_it_was_to_be() {
    let set = |address| Seen::Present(DnsRecords::wanted(300, [address]));
    let step = Step::present(records("rtrip.example.net"), DnsRecords::wanted(300, ["10.20.129.11"]));
    let back = way_back(&entry(vec![step.clone()], vec![begun(0, set("10.20.129.10"), &step.wanted)]));
    let taken = &back.plan.steps[0];
    assert!(taken.judge(&set("10.20.129.10"), &[], false).is_ok_and(|todo| todo.is_nothing()));
    assert!(taken.judge(&set("10.20.129.11"), &[], false).is_ok_and(|todo| !todo.is_nothing()));
    let refused = taken.judge(&set("10.20.129.99"), &[], false).expect_err("somebody else's");
    assert_eq!(refused.kind, TroubleKind::Moved);
    assert!(refused.text.contains("10.20.129.99"), "{refused}");
}

/// An apply of the fabric writes FRR's configuration anew, and the lock ends with it.
#[test]
fn what_is_on_an_exit_node_goes_before_the_apply() {
    use crate::provision::object::Danger;
    use crate::provision::testing::{Thing, role};
    let role = |id: &str| role(id, if id == "zone" { "object" } else { id }, Danger::One);
    let stanza = Thing { id: "stanza".to_owned(), place: Place::Exit, danger: Danger::One, role: "object".to_owned() };
    let steps = [role("lock"), Object::Thing(stanza), role("zone"), role("apply")];
    let made = steps.map(|object| (Step::present(object, fields([("is", "there")])), Seen::Absent));
    let (names, left) = names(&way_back(&done(made.to_vec())));
    assert_eq!(names, ["thing lock", "thing zone", "thing stanza", "thing apply"]);
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_same_in_other_words_is_as_the_change_left_it() {
    let step = Step {
        left_as: Some(present(&[("kind", "native")])),
        ..Step::present(zone("rtrip.example.net"), fields([("kind", "closed")]))
    };
    let judged = |kind| step.judge(&present(&[("kind", kind)]), &[], false);
    assert!(judged("native").is_ok() && judged("primary").is_ok(), "{:?}", judged("primary"));
    assert_eq!(judged("secondary").expect_err("another kind").kind, TroubleKind::Moved);
}
