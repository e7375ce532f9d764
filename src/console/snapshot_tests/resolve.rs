//! One name at every vantage point: awaited, answered, in disagreement, with one silent; and what was asked, in Activity.

use std::time::Duration;

use jiff::SignedDuration;

use super::*;
use crate::backends::dns::{Answer, Data, ExtendedError, Flags, Rcode, Record, RecordType, Soa, Via};
use crate::console::resolve;
use crate::diagnose::resolve::{Column, ControlOutcome, Expected, Heard, Outcome, Target, Vantage, WhyNot};

fn asking(size: (u16, u16), text: &str) -> Model {
    let mut model = tenants(testing::healthy(), size);
    let inv = testing::healthy();
    let target = Target::parse(&inv.site, text, None).expect("a name");
    resolve::ask(&mut model, &inv, target);
    let later = testing::now() + SignedDuration::from_secs(2);
    update(&mut model, Msg::Now(later));
    model
}

fn answer(values: &[(&str, Data)], ttl: u32, aa: bool) -> Answer {
    let record = |(name, data): &(&str, Data)| Record {
        name: (*name).to_owned(),
        ttl,
        kind: match data {
            Data::Ptr(_) => RecordType::PTR,
            _ => RecordType::A,
        },
        data: data.clone(),
    };
    Answer {
        rcode: Rcode::NOERROR,
        flags: Some(Flags { aa, rd: !aa, ra: !aa, ..Flags::default() }),
        answers: values.iter().map(record).collect(),
        authority: Vec::new(),
        additional: Vec::new(),
        extended: Vec::new(),
        bytes: Some(61),
        took: Duration::from_millis(2),
        via: Via::Udp,
        strays: Default::default(),
    }
}

fn address(ttl: u32, aa: bool) -> Answer {
    answer(&[("app.tdemo.mobile.deevnet.net", Data::A([10, 20, 129, 10].into()))], ttl, aa)
}

/// NXDOMAIN with an older SOA, and an extended error.
fn negative() -> Answer {
    let soa = Soa {
        mname: "tdns.mobile.deevnet.net".into(),
        rname: "hostmaster.mobile.deevnet.net".into(),
        serial: 2026112906,
        refresh: 10_800,
        retry: 3600,
        expire: 604_800,
        minimum: 60,
    };
    let record =
        Record { name: "tdemo.mobile.deevnet.net".into(), ttl: 41, kind: RecordType::SOA, data: Data::Soa(soa) };
    let extended = vec![ExtendedError { code: 29, text: "synthesised".into() }];
    Answer { rcode: Rcode::NXDOMAIN, authority: vec![record], extended, ..answer(&[], 0, false) }
}

fn tell(model: &mut Model, vantage: Vantage, outcome: Outcome) {
    let (asked, how) = match vantage {
        Vantage::Authoritative => ("10.20.25.21", "no recursion, udp"),
        Vantage::Perimeter => ("10.20.50.1", "recursion, udp"),
        Vantage::Substrate => ("10.20.99.1", "recursion, udp"),
        Vantage::Vrf => ("10.20.50.1 via hv02", "recursion, in vrf_tdemo"),
        Vantage::Host => ("10.20.99.1 (system)", "as configured"),
    };
    let controls = match (vantage, &outcome) {
        (Vantage::Authoritative, _) => {
            vec![ControlOutcome::NotAsked("not asked"), ControlOutcome::NotAsked("not its zone")]
        }
        (_, Outcome::Failed { .. }) => vec![ControlOutcome::Failed("no answer".into()); 2],
        (_, Outcome::NotAsked { .. }) => vec![ControlOutcome::NotAsked("not asked"); 2],
        _ => {
            vec![ControlOutcome::Answers(vec!["192.0.2.1".into()]), ControlOutcome::Answers(vec!["10.20.25.20".into()])]
        }
    };
    let asked = if matches!(outcome, Outcome::NotAsked { .. }) { "" } else { asked };
    let column = Column { vantage, asked: asked.into(), how: how.into(), outcome, controls };
    update(model, Msg::Heard(1, Box::new(Heard::Column(column))));
}

fn derived(model: &mut Model, value: &str) {
    let expected = Expected::Values { values: vec![value.into()], because: "index 1, ordinal 0".into() };
    update(model, Msg::Heard(1, Box::new(Heard::Expected(expected))));
}

fn all(model: &mut Model, outcome: impl Fn(Vantage) -> Outcome) {
    for vantage in Vantage::ALL {
        tell(model, vantage, outcome(vantage));
    }
}

fn good(vantage: Vantage) -> Outcome {
    let authority = vantage == Vantage::Authoritative;
    Outcome::Answered(address(if authority { 300 } else { 212 }, authority))
}

#[test]
fn awaited_and_answered() {
    for size in [COMPACT, DESIGN] {
        check(&asking(size, "tdemo/app"), "resolve", "asked");
        let mut some = asking(size, "tdemo/app");
        derived(&mut some, "10.20.129.10");
        tell(&mut some, Vantage::Authoritative, good(Vantage::Authoritative));
        tell(&mut some, Vantage::Substrate, good(Vantage::Substrate));
        check(&some, "resolve", "pending");
        all(&mut some, good);
        check(&some, "resolve", "answered");
    }
}

#[test]
fn in_disagreement_with_one_that_says_why() {
    for size in [COMPACT, DESIGN] {
        let mut model = asking(size, "tdemo/app");
        derived(&mut model, "10.20.129.10");
        all(&mut model, |vantage| match vantage {
            Vantage::Perimeter | Vantage::Vrf => Outcome::Answered(negative()),
            Vantage::Substrate => {
                let why = "[resolvers] names no substrate".to_owned();
                Outcome::NotAsked { kind: WhyNot::NotConfigured, why }
            }
            other => good(other),
        });
        check(&model, "resolve", "differs");
    }
}

#[test]
fn one_silent_and_given_up() {
    for size in [COMPACT, DESIGN] {
        let mut model = asking(size, "tdemo/app");
        derived(&mut model, "10.20.129.10");
        all(&mut model, |vantage| match vantage {
            Vantage::Perimeter => Outcome::Failed {
                why: "10.20.50.1 port 53 did not answer: 2 tries of 1500 ms over UDP".into(),
                help: "check that the resolver runs and that nothing on the way drops port 53".into(),
            },
            other => good(other),
        });
        check(&model, "resolve", "silent");
        let mut stopped = asking(size, "tdemo/app");
        tell(&mut stopped, Vantage::Host, good(Vantage::Host));
        resolve::stop(&mut stopped);
        check(&stopped, "resolve", "given-up");
    }
}

#[test]
fn long_answers_are_whole_below() {
    for size in [COMPACT, DESIGN] {
        let mut model = asking(size, "10.20.129.10");
        derived(&mut model, "app.tdemo.mobile.deevnet.net");
        let name = |name: &str| answer(&[("10.129.20.10.in-addr.arpa", Data::Ptr(name.into()))], 300, false);
        all(&mut model, |vantage| match vantage {
            Vantage::Host => Outcome::Answered(name("services.eds.mobile.deevnet.net")),
            _ => Outcome::Answered(name("app.tdemo.mobile.deevnet.net")),
        });
        check(&model, "resolve", "names");
    }
}

#[test]
fn activity_lists_what_was_asked() {
    for size in [COMPACT, DESIGN] {
        let mut model = asking(size, "tdemo/app");
        derived(&mut model, "10.20.129.10");
        all(&mut model, good);
        let inv = testing::healthy();
        let again = Target::parse(&inv.site, "eds/services", None).expect("a name");
        resolve::ask(&mut model, &inv, again);
        model.show(Screen::Activity);
        check(&refreshed(model), "activity", "probes");
    }
}
