//! Judgement of made facts.

use std::time::Duration;

use jiff::Timestamp;

use super::super::facts::{Asked, Fault, FaultKind, SecretFacts, ServiceFacts, Tried};
use super::super::{Check, Report, Source, State, Verdict};
use super::{names, service};
use crate::backends::dns::{Answer, Rcode, Strays, Via};
use crate::backends::http::{ClockSeen, HttpSeen, Look};
use crate::site::model::Trust;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn skew_has_two_bounds_and_two_directions() {
    let judged = |ahead: i64| {
        let check = service::skew(ClockSeen { theirs: at(10_000 + ahead), ours: (at(10_000), at(10_000)) });
        (check.state, check.text)
    };
    assert_eq!(judged(0).0, State::Ok);
    assert_eq!([-29, 29].map(|s| judged(s).0), [State::Ok; 2]);
    assert_eq!([-30, 30, 299].map(|s| judged(s).0), [State::Warning; 3]);
    assert_eq!([-300, 300, 9_000].map(|s| judged(s).0), [State::Fault; 3]);
    assert_eq!(judged(-45).1, "45 s behind this host");
}

fn plain(origin: &str) -> ServiceFacts {
    let http = Some(Ok(HttpSeen { status: 200, clock: None }));
    let look = Look { lookup: None, connect: Some(Ok(Duration::from_millis(3))), tls: None, http };
    let secret = SecretFacts { key: "token", source: "env X".to_owned(), fault: None };
    ServiceFacts {
        section: "powerdns",
        origin: origin.to_owned(),
        trust: Trust::Plaintext,
        secrets: vec![secret],
        look: Tried::Got(look),
        took: Duration::ZERO,
    }
}

#[test]
fn plain_text_is_a_warning_but_on_loopback() {
    let tls = |origin| service::checks(&plain(origin)).into_iter().find(|c| c.what == "TLS").unwrap().state;
    assert_eq!(tls("http://10.20.25.21:8081"), State::Warning);
    assert_eq!(tls("http://dns.example"), State::Warning);
    assert_eq!([tls("http://127.0.0.1:8081"), tls("http://[::1]:8081"), tls("http://localhost")], [State::Off; 3]);
}

#[test]
fn configuration_is_said_before_faults_and_faults_before_what_is_unknown() {
    let report = |states: &[(State, bool)]| {
        let check = |(state, configuration): &(State, bool)| Check {
            configuration: *configuration,
            ..Check::new("x", *state, "")
        };
        let checks = states.iter().map(check).collect();
        let source = Source { name: "pve".into(), target: String::new(), took: Duration::ZERO, checks };
        Report { at: at(0), sources: vec![source] }.verdict()
    };
    assert_eq!(report(&[(State::Ok, false), (State::Off, false)]), Verdict::Ok);
    assert_eq!(report(&[(State::NotRun, false)]), Verdict::Unknown);
    assert_eq!(report(&[(State::Unknown, false), (State::Warning, false)]), Verdict::Found);
    assert_eq!(report(&[(State::Fault, false), (State::Fault, true), (State::Unknown, false)]), Verdict::Configuration);
}

fn heard(rcode: Rcode) -> Tried<Answer> {
    Tried::Got(Answer {
        rcode,
        flags: None,
        answers: Vec::new(),
        authority: Vec::new(),
        additional: Vec::new(),
        extended: Vec::new(),
        bytes: None,
        took: Duration::from_millis(4),
        via: Via::Udp,
        strays: Strays::default(),
    })
}

#[test]
fn a_resolver_that_answers_is_well_whatever_it_knows_and_one_that_refuses_is_not() {
    let judged = |who, answer| {
        let asked = Asked { server: None, name: "mobile.example".parse().unwrap(), answer };
        names::resolver(who, &asked)
    };
    assert_eq!(judged("perimeter", heard(Rcode::NXDOMAIN)).state, State::Ok);
    assert_eq!(judged("perimeter", heard(Rcode::SERVFAIL)).state, State::Unknown);
    let refused = judged("perimeter", heard(Rcode::REFUSED));
    assert_eq!(refused.state, State::Fault);
    assert!(refused.help.unwrap().contains("Access Lists") && refused.commands[0].starts_with("access-control: "));
    let silent = || {
        let fault = Fault { kind: FaultKind::NoAnswer, why: "silence".to_owned(), help: "look".to_owned() };
        Tried::Failed(fault)
    };
    assert_eq!(judged("perimeter", silent()).state, State::Fault);
    assert_eq!(judged("this host", silent()).state, State::Unknown, "the console does without it");
}
