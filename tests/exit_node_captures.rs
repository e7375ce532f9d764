//! Captured output of real exit nodes, healthy and broken, put into the helper's frame and read.
//!
//! `tests/data/exit-node` holds a part of the captures; the whole set is read where it is at hand.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test that cannot go on must fail, says what it skips, and measures time"
)]

#[path = "exit_node_common/captured.rs"]
mod captured;
mod exit_node_common;

use std::fs;
use std::path::Path;

use captured::State;
use deevnet_console::backends::exit_node::frame::Frame;
use deevnet_console::backends::exit_node::model::{Reading, UnreadKind};
use deevnet_console::backends::exit_node::{helper, reading};
use exit_node_common::{expected, lookups, signals};

fn read(state: &State) -> Reading {
    let frame = Frame::parse(&state.frame(), helper::VERSION).unwrap();
    let asked = lookups();
    let names: Vec<&str> = asked.iter().map(|l| l.name()).collect();
    reading("hv02", &frame, &names).unwrap()
}

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn ours(state: &str) -> State {
    State { dir: manifest().join("tests/data/exit-node").join(state) }
}

/// Reads every state below `root`, and says how many there were.
fn every_state(root: &Path) -> usize {
    let mut count = 0;
    for suite in ["debian12", "debian13"] {
        let Ok(states) = fs::read_dir(root.join(suite)) else { continue };
        for state in states.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
            let name = state.file_name().unwrap().to_str().unwrap().to_owned();
            let mut wanted = expected(&name).unwrap_or_else(|| panic!("no expectation for state {name}"));
            let state = State { dir: state };
            // Not captured everywhere.
            if state.file("vtysh-version.txt").is_none() {
                wanted.remove("frr silent");
            }
            assert_eq!(signals(&read(&state)), wanted, "{suite}/{name}");
            count += 1;
        }
    }
    count
}

#[test]
fn states_of_the_public_captures_show_their_signals() {
    assert_eq!(every_state(&manifest().join("tests/data/exit-node")), 9);
}

#[test]
fn states_of_all_captures_show_their_signals() {
    let root = manifest().join("../shared/fixtures/exit-node");
    if !root.is_dir() {
        eprintln!("SKIPPED states_of_all_captures_show_their_signals: ../shared is absent");
        return;
    }
    let count = every_state(&root);
    assert!(count >= 38, "only {count} states were read");
}

#[test]
fn the_healthy_node_in_full() {
    for (suite, kernel_route_dev, version) in [("debian12", "tdemo0", "8.4.4"), ("debian13", "vrf_tdemo", "10.3")] {
        let reading = read(&ours(&format!("{suite}/healthy")));
        let links = reading.links.value().unwrap();
        let link = |name: &str| links.iter().find(|l| l.name == name).unwrap();
        assert_eq!((link("vrf_tdemo").vrf_table, link("vrf_eds").vrf_table), (Some(1001), Some(1002)), "{suite}");
        let vxlan = link("vxlan_tdemo0");
        assert_eq!((vxlan.vxlan_id, vxlan.vxlan_local), (Some(20010), "10.20.99.22".parse().ok()));
        assert_eq!(link("vrfvx_tdemo").vxlan_id, Some(10001));
        assert_eq!((link("tdemo0").mtu, link("tdemo0").master.as_deref()), (1450, Some("vrf_tdemo")));
        assert!(link("vmbr0.50").stats.unwrap().rx_packets > 0);
        let main = reading.main_routes.value().unwrap();
        let subnet = main.iter().find(|r| r.dst.to_string() == "10.20.129.0/24").unwrap();
        assert_eq!((subnet.dev.as_deref(), subnet.metric), (Some(kernel_route_dev), Some(20)), "{suite}");
        let rules: Vec<_> = reading.rules.value().unwrap().iter().map(|r| (r.priority, r.l3mdev)).collect();
        assert_eq!(rules, [(100, false), (1000, true), (32765, false), (32766, false), (32767, false)]);
        let addresses = reading.addresses.value().unwrap();
        assert!(
            addresses.iter().any(|a| a.dev == "vmbr0.50" && a.ip.to_string() == "10.20.50.22" && a.prefix_len == 24)
        );
        let frr = reading.frr.value().unwrap();
        assert_eq!((frr.version.as_deref(), frr.daemons_answer), (Some(version), Some(true)));
        let conf = reading.frr_conf.value().unwrap();
        assert!(conf.vrfs["vrf_tdemo"].contains(&"ip route 10.20.130.0/24 null0".to_owned()));
        let default = "ip route 0.0.0.0/0 10.20.50.1 vmbr0.50 nexthop-vrf default";
        assert_eq!(reading.frr_local.value().unwrap().vrfs["vrf_eds"], [default]);
        assert_eq!(reading.sdn_version.value(), Some(&7));
        let neighbours = reading.neighbours.value().unwrap();
        assert!(neighbours.iter().any(|n| n.ip.to_string() == "10.20.50.1" && n.mac.is_some()));
        let nat = reading.nat.value().unwrap();
        assert_eq!((nat.legacy_in_use, nat.legacy_read, nat.forward_policy.as_deref()), (false, true, None));
        assert!(nat.snat.iter().all(|rule| rule.new_connections > 0), "{suite}: counters");
    }
}

#[test]
fn a_rule_in_the_legacy_engine_is_found_and_named() {
    let reading = read(&ours("debian12/snat-in-legacy"));
    let nat = reading.nat.value().unwrap();
    assert!(nat.legacy_in_use && nat.legacy_read);
    assert_eq!(nat.snat.len(), 2);
    assert_eq!(nat.snat[1].text, "-A POSTROUTING -s 10.20.129.0/24 -o vmbr0.50 -j SNAT --to-source 10.20.50.22");
    assert_eq!(nat.snat[1].new_connections, 8);
}

#[test]
fn what_was_not_captured_is_unread_and_says_so() {
    let reading = read(&ours("debian12/snat-missing"));
    let unread = reading.unread();
    let whats: Vec<&str> = unread.iter().map(|u| u.what.as_str()).collect();
    let absent = [
        "uname -r",
        "hostname",
        "/etc/frr/frr.conf",
        "/etc/frr/frr.conf.local",
        "/proc/net/snmp",
        "/etc/network/interfaces.d/sdn",
        "vtysh -c 'show version'",
    ];
    for what in absent {
        assert!(whats.contains(&what), "{what} in {whats:?}");
    }
    assert_eq!(whats.len(), absent.len());
    assert!(unread.iter().all(|u| u.kind == UnreadKind::Missing && !u.why.is_empty()));
}

#[test]
fn a_damaged_part_spoils_nothing_else() {
    let whole = String::from_utf8(ours("debian12/healthy").frame()).unwrap();
    // The same length, so that the frame itself stays whole.
    let bytes = whole.replace("*nat\n:PREROUTING", "?nat\n:PREROUTING").replace("\"ifindex\":12,", "\"ifindex\":-2,");
    let frame = Frame::parse(bytes.as_bytes(), helper::VERSION).unwrap();
    let reading = reading("hv02", &frame, &lookups().iter().map(|l| l.name()).collect::<Vec<_>>()).unwrap();
    for unread in [reading.nat.unread(), reading.links.unread()] {
        assert_eq!(unread.unwrap().kind, UnreadKind::Unparsable);
    }
    assert!(reading.main_routes.value().is_some() && reading.frr.value().is_some());
}
