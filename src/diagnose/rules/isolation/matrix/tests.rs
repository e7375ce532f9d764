//! What rules of the firewall come to, and what pasted results of one cell come to.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use jiff::{SignedDuration, Timestamp};

use super::perimeter::{Passes, Perimeter, Question};
use super::traffic::of_legs;
use super::*;
use crate::diagnose::evidence::{Ended, Evidence, Http, Item, Kind};
use crate::diagnose::facts::Sourced;
use crate::diagnose::facts::pasted::Pasted;
use crate::diagnose::pasted::{Ask, Given, Leg, Wants, Whence, read};

fn item(request: &str, rows: &[String]) -> Item {
    let http = Http::parse(request, Ended { status: 200, reason: "OK".into() }).unwrap();
    let body = format!("{{\"rows\":[{}]}}", rows.join(","));
    let (file, from) = (format!("{}.json", request.len()), "fw".to_owned());
    Item { file, from, kind: Kind::Http(http), at: None, took: None, body, stderr: String::new(), empty: false }
}

fn rule(fields: &str) -> String {
    format!(
        "{{\"uuid\":\"u\",\"enabled\":\"1\",\"action\":\"pass\",\"interface\":\"opt10\",\"direction\":\"in\",\"description\":\"R\",{fields}}}"
    )
}

fn interface(id: &str, name: &str, net: &str) -> String {
    format!("{{\"identifier\":\"{id}\",\"description\":\"{name}\",\"device\":\"x\",\"addr4\":\"{net}\"}}")
}

fn facts(rules: &[String]) -> Facts {
    let interfaces = [
        interface("opt10", "transit", "10.9.0.1/24"),
        interface("opt8", "management", "10.9.99.1/24"),
        interface("opt1", "trusted", "10.9.10.1/24"),
    ];
    let aliases = [
        r#"{"name":"private","type":"network","enabled":"1","content":"10.0.0.0/8\n192.168.0.0/16"}"#.to_owned(),
        r#"{"name":"nested","type":"network","enabled":"1","content":"private"}"#.to_owned(),
        r#"{"name":"named","type":"host","enabled":"1","content":"files.example"}"#.to_owned(),
        r#"{"name":"filled","type":"external","enabled":"1","content":""}"#.to_owned(),
    ];
    let items = vec![
        item("GET /api/interfaces/overview/interfacesInfo", &interfaces),
        item("POST /api/firewall/filter/searchRule", rules),
        item("POST /api/firewall/alias/searchItem", &aliases),
    ];
    Facts::of(&Evidence { question: None, items })
}

/// Whether what arrives from transit reaches management.
fn passes(rules: &[String]) -> Passes {
    let facts = facts(rules);
    let perimeter = Perimeter::of(&facts).unwrap_or_else(|why| panic!("{why}"));
    let net = |text: &str| text.parse::<Ipv4Net>().unwrap();
    let (on, from, to) = (["opt10".to_owned()], [net("10.9.0.0/24"), net("10.9.129.0/24")], [net("10.9.99.0/24")]);
    perimeter.passes(&Question { on: &on, from: &from, to: &to, served: &["53"] })
}

#[test]
fn rules_are_read_as_far_as_they_can_be_understood() {
    let yes = || Passes::Yes("R".to_owned());
    for (fields, want) in [
        (r#""source_net":"any","destination_net":"any""#, yes()),
        (r#""source_net":"10.9.0.22","destination_net":"10.9.99.22","destination_port":"8006""#, yes()),
        (r#""source_net":"opt10","destination_net":"opt8""#, yes()),
        (r#""source_net":"any","destination_net":"opt8ip""#, yes()),
        (r#""source_net":"any","destination_net":"(self)""#, yes()),
        (r#""source_net":"any","destination_net":"nested""#, yes()),
        (r#""source_net":"any","destination_net":"192.0.2.0/24","destination_not":"1""#, yes()),
        // A source that is all but others' networks.
        (r#""source_net":"opt1","source_not":"1","destination_net":"any""#, yes()),
        (r#""source_net":"any","destination_net":"private","destination_not":"1""#, Passes::No),
        (r#""source_net":"any","destination_net":"opt10ip","destination_port":"443""#, Passes::No),
        (r#""source_net":"any","destination_net":"opt8","destination_port":"53""#, Passes::No),
        (r#""source_net":"10.9.10.0/24","destination_net":"any""#, Passes::No),
        (r#""source_net":"any","destination_net":"any","enabled":"0""#, Passes::No),
        (r#""source_net":"any","destination_net":"any","direction":"out""#, Passes::No),
        (r#""source_net":"any","destination_net":"any","interface":"opt1""#, Passes::No),
        (r#""source_net":"any","destination_net":"any","ipprotocol":"inet6""#, Passes::No),
        (r#""source_net":"any","destination_net":"any","action":"block""#, Passes::No),
    ] {
        assert_eq!(passes(&[rule(fields)]), want, "{fields}");
    }
    for fields in [
        r#""source_net":"any","destination_net":"named""#,
        r#""source_net":"any","destination_net":"filled""#,
        r#""source_net":"any","destination_net":"unheard_of","destination_not":"1""#,
        r#""source_net":"any","destination_net":"any","interface":"a_group""#,
        r#""source_net":"any","destination_net":"any","quick":"0""#,
    ] {
        assert!(matches!(passes(&[rule(fields)]), Passes::Unknown(_)), "{fields}");
    }
}

#[test]
fn an_earlier_rule_that_stops_everything_decides() {
    let block = |fields: &str| rule(&format!("\"action\":\"block\",{fields}"));
    let all = r#""source_net":"any","destination_net":"any""#;
    let both = [block(r#""source_net":"any","destination_net":"private""#), rule(all)];
    assert_eq!(passes(&both), Passes::No);
    // One that stops a part, a protocol or a port lets the rest by.
    for part in [
        r#""source_net":"10.9.0.0/24","destination_net":"any""#,
        r#""source_net":"any","destination_net":"any","protocol":"tcp""#,
        r#""source_net":"any","destination_net":"10.9.99.0/25""#,
        r#""source_net":"any","destination_net":"named""#,
    ] {
        assert_eq!(passes(&[block(part), rule(all)]), Passes::Yes("R".to_owned()), "{part}");
    }
}

#[test]
fn what_was_not_read_is_unknown() {
    let nothing = Facts::of(&Evidence::default());
    assert!(Perimeter::of(&nothing).is_err_and(|why| why.contains("rules")));
    assert_eq!(Matrix::of(&nothing).iter().count(), 0);
}

fn now() -> Timestamp {
    "2026-11-29T11:00:00Z".parse().unwrap()
}

fn legs() -> Vec<Leg> {
    let from =
        Whence { name: "a".into(), workload: None, words: String::new(), nets: vec!["10.9.129.0/24".parse().unwrap()] };
    let leg = |ask, wants| Leg { from: from.clone(), ask, wants, behind: vec!["10.9.130.0/24".parse().unwrap()] };
    let ip = |last: u8, third: u8| Ipv4Addr::new(10, 9, third, last);
    vec![
        leg(Ask::Ping(ip(1, 129)), Wants::Answer),
        leg(Ask::Ping(ip(10, 130)), Wants::Nothing),
        leg(Ask::Tcp(ip(10, 130), 22), Wants::Nothing),
    ]
}

fn pasted(from: &str, hours: i64, text: &str) -> Sourced<Pasted> {
    let at = now() - SignedDuration::from_hours(hours);
    let given = Given { from: from.into(), by: "amy".into(), at, via: "screen".into() };
    Sourced { value: Pasted { given, readings: read(text).unwrap() }, file: "p.txt".into() }
}

fn ping(ip: &str, got: u8) -> String {
    format!(
        "PING {ip} ({ip}) 56(84) bytes of data.\n\n--- {ip} ping statistics ---\n3 packets transmitted, {got} received, 0% packet loss\n"
    )
}

#[test]
fn a_cell_is_proven_by_every_leg_of_a_sender_that_has_a_network() {
    let control = || pasted("a/x", 0, &ping("10.9.129.1", 3));
    let lost = || pasted("a/x", 0, &ping("10.9.130.10", 0));
    let tcp = |exit: &str| pasted("a/x", 0, &format!("{exit}\ntcp 10.9.130.10:22 exit 1"));
    let timeout = "nc: timed out";
    let of = |all: &[Sourced<Pasted>]| of_legs(legs(), all, Some(now()));
    assert_eq!(of(&[]), Traffic::NotRun);
    assert_eq!(of(&[control()]), Traffic::NotRun);
    assert_eq!(of(&[control(), lost()]), Traffic::Partly { ran: 1, of: 2 });
    assert_eq!(of(&[control(), lost(), tcp(timeout)]), Traffic::Blocked);
    for unclear in [
        vec![lost(), tcp(timeout)],
        vec![pasted("a/x", 0, &ping("10.9.129.1", 0)), lost(), tcp(timeout)],
        // The control of another workload, and one that is too old.
        vec![pasted("a/y", 0, &ping("10.9.129.1", 3)), lost(), tcp(timeout)],
        vec![pasted("a/x", 25, &ping("10.9.129.1", 3)), lost(), tcp(timeout)],
        vec![control(), lost(), tcp("nc: can't connect to remote host (10.9.130.10): No route to host")],
    ] {
        assert!(matches!(of(&unclear), Traffic::Unclear { .. }), "{:?}", of(&unclear));
    }
    assert!(matches!(of(&[control(), lost(), tcp("Ncat: Connection refused.")]), Traffic::Open { .. }));
    assert!(matches!(of(&[lost(), pasted("a/x", 1, &ping("10.9.130.10", 1))]), Traffic::Contradictory { .. }));
    // Too old, of another tenant, or of a tenant whose name begins alike: nothing was run.
    assert_eq!(of(&[pasted("a/x", 25, &ping("10.9.130.10", 1))]), Traffic::Aged);
    assert_eq!(of(&[pasted("ab", 0, &ping("10.9.130.10", 1))]), Traffic::NotRun);
}
