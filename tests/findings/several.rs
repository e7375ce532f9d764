//! Two exit nodes of one zone: what is wrong on one of them says nothing about the other.

use crate::by_hand::{Site, get, item};
use crate::exits::{NAT, SITE, ZONES, site};
use deevnet_console::diagnose::collect::{Check, Wanted, report};
use deevnet_console::diagnose::evidence::{Evidence, Item, Kind};
use deevnet_console::diagnose::facts::given_up;
use deevnet_console::diagnose::parts::Part;
use deevnet_console::diagnose::path::State;
use deevnet_console::diagnose::{Diagnosis, OneNode};

const SECOND: &str = r#"[[exit_node]]
name = "hw"
transport = { command = ["false"] }
transit_interface = "up.7"
transit_address = "10.9.0.22"
transit_gateway = "10.9.0.1"
"#;

fn zones() -> Item {
    let zone = |name: &str, vni: u32| {
        format!(r#"{{"zone":"{name}","type":"evpn","exitnodes":"hv,hw","exitnodes-primary":"hv","vrf-vxlan":{vni}}}"#)
    };
    get("hv", ZONES, &format!(r#"{{"data":[{},{}]}}"#, zone("shop", 10_001), zone("farm", 10_002)))
}

/// The second node: the same as the first one.
fn second(first: &Item) -> Item {
    Item { from: "hw".to_owned(), file: format!("hw {}", first.file), ..first.clone() }
}

fn both(described: bool) -> Site {
    let mut all = site().with(zones());
    if described {
        let text = format!("{SITE}{SECOND}");
        let mut file = item("site.toml", "console", Kind::Material("the site file".to_owned()), &text);
        file.empty = false;
        all = all.with(file);
    }
    let copies: Vec<Item> = all.0.iter().filter(|item| item.command().is_some()).map(second).collect();
    copies.into_iter().fold(all, Site::and)
}

fn diagnosis(site: Site) -> Diagnosis {
    let wanted = Wanted::of(Check::Egress, Some("shop"));
    Diagnosis::of(&wanted, Evidence { question: Some(wanted.question()), items: site.0 }, Vec::new())
}

fn on(node: &OneNode, leg: &str) -> State {
    node.path(Some("shop")).legs.iter().find(|judged| judged.leg.name == leg).unwrap().state
}

/// What a leg comes to on the first and on the second node.
fn pair(diagnosis: &Diagnosis, leg: &str) -> (State, State) {
    let [first, second] = diagnosis.nodes.as_slice() else { panic!("two nodes: {:?}", diagnosis.nodes.len()) };
    assert!(first.name == "hv" && first.primary && second.name == "hw" && !second.primary);
    (on(first, leg), on(second, leg))
}

#[test]
fn two_healthy_nodes_pass_each_by_itself() {
    let both = diagnosis(both(true));
    for leg in ["VRF up", "default route", "SNAT rule"] {
        assert_eq!(pair(&both, leg), (State::Pass, State::Pass), "{leg}");
    }
    assert_eq!(both.nodes[1].seen.get("SNAT rule").map(String::as_str), Some("to 10.9.0.22 by up.7, 1 rule"));
    assert!(!both.seen.contains_key("SNAT rule"), "nothing is told of a node without its name");
}

#[test]
fn a_fault_of_one_node_is_no_fault_of_the_other() {
    let none = "Chain POSTROUTING (policy ACCEPT)\n pkts bytes target\n";
    let lacks = item(NAT, "hw", Kind::Command { line: NAT.to_owned(), exit: Some(0) }, none);
    let both = diagnosis(both(true).with(Item { file: format!("hw {NAT}"), ..lacks }));
    assert_eq!(pair(&both, "SNAT rule"), (State::Pass, State::Fail));
    assert_eq!(pair(&both, "default route"), (State::Pass, State::Pass));
    assert_eq!(both.state(), Some(State::Fail));
    let ids: Vec<_> = both.nodes[0].whole.findings.iter().map(|f| f.id).collect();
    assert!(!ids.contains(&"snat-missing"), "{ids:?}");
}

#[test]
fn a_node_that_is_silent_or_not_described_is_unknown_and_the_other_is_known() {
    let dead = |site: Site| {
        let mut read = item("hw read", "hw", Kind::Command { line: "deevnet-exit-node read".into(), exit: None }, "");
        read.stderr = "connection refused".into();
        site.without("hw ").and(read)
    };
    let silent = diagnosis(dead(both(true)));
    let strange = diagnosis(both(false).without("hw "));
    for diagnosis in [&silent, &strange] {
        for leg in ["VRF up", "default route", "SNAT rule", "transit forwards"] {
            let (first, second) = pair(diagnosis, leg);
            assert!(first != State::Unknown && second == State::Unknown, "{leg}: {first:?} {second:?}");
        }
        assert_eq!(pair(diagnosis, "default route").0, State::Pass);
        assert_eq!(diagnosis.state(), Some(State::Unknown));
    }
    let missing = &strange.nodes[1].whole.unknown.last().unwrap();
    assert_eq!(missing.why.as_deref(), Some("the site file does not describe this exit node"));
}

#[test]
fn what_was_given_up_of_one_node_is_unknown_there_alone() {
    let (file, kind, body) = given_up::item("given up by you", &[Part::Tried("hw".into())]);
    let both = diagnosis(both(true).and(item(file, "console", kind, &body)));
    assert_eq!(pair(&both, "SNAT rule"), (State::Pass, State::Unknown));
    assert_eq!(pair(&both, "default route"), (State::Pass, State::Pass), "it hangs on the first reading");
    assert_eq!(both.given_up.as_deref(), Some("given up by you"));
}

#[test]
fn the_report_is_that_of_the_verb() {
    let wanted = Wanted::of(Check::Egress, Some("shop"));
    let evidence = Evidence { question: Some(wanted.question()), items: both(true).0 };
    let (by_verb, others) = report(&evidence).about("shop");
    let diagnosis = Diagnosis::of(&wanted, evidence, Vec::new());
    assert_eq!((&diagnosis.report, diagnosis.others), (&by_verb, others));
}
