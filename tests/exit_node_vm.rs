//! The console's own client against a real exit node: FRR, VRFs, iptables and sshd in a VM (`tests/tools/exit-node-vm.sh`).
//!
//! One VM serves all of it, in one test. Skipped, with the reason, where the VM's programs or its image are missing:
//! `tests/tools/exit-node-vm.sh deps` and `build` make both.
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

mod exit_node_common;
#[allow(dead_code, reason = "other tests of the VM need more of it")]
#[path = "exit_node_common/vm.rs"]
mod vm;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deevnet_console::backends::exit_node::error::Error;
use deevnet_console::backends::exit_node::model::{Reading, SnatRule, UnreadKind};
use deevnet_console::backends::exit_node::{Client, helper};
use deevnet_console::inventory::feed::{Clients, Feed};
use deevnet_console::inventory::{Class, Demand, Inventory, Layer, Presence};
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use deevnet_console::runtime::clock;
use deevnet_console::site::Site;
use exit_node_common::{expected, lookups, signals};
use vm::{Vm, boot};

/// Generous: an emulated machine on a busy host is some 50 times slower than a node.
const DEADLINE: Duration = Duration::from_secs(60);
/// How long is waited for what the workers read by themselves: they give up after their own time and try again, which on an
/// emulated machine beside others is several times.
const PATIENCE: Duration = Duration::from_secs(240);

/// Faults of the VM whose signs are in a reading. Those that only change a number are left to the captures.
const FAULTS: [&str; 16] = [
    "transit-forwarding-off",
    "tenant-forwarding-off",
    "snat-missing",
    "snat-wrong-source",
    "snat-duplicate",
    "snat-in-legacy",
    "vrf-default-missing",
    "vrf-default-missing-fallback",
    "transit-gateway-wrong",
    "forward-policy-drop",
    "conntrack-full",
    "uplink-down",
    "inter-tenant-leak",
    "return-route-missing",
    "frr-killed",
    "frr-stopped",
];

async fn read(client: &Client) -> Reading {
    client.read(DEADLINE, &lookups()).await.unwrap()
}

fn snat<'a>(reading: &'a Reading, subnet: &str) -> &'a SnatRule {
    let subnet = Some(subnet.parse().unwrap());
    reading.nat.value().unwrap().snat.iter().find(|rule| rule.source == subnet).unwrap()
}

fn total(reading: &Reading, counter: &str) -> u64 {
    reading.counters.value().unwrap()[counter]
}

/// Reads until the signals are `wanted`: routes and carriers take a moment to follow.
async fn settle(client: &Client, state: &str) -> Reading {
    let wanted = expected(state).unwrap();
    let mut seen = Default::default();
    for _ in 0..12 {
        let reading = read(client).await;
        seen = signals(&reading);
        if seen == wanted {
            return reading;
        }
    }
    panic!("{state}: read {seen:?}, expected {wanted:?}");
}

async fn a_user_without_rights_is_told_which(vm: &Vm, user: &str) {
    let reading = read(&vm.login(user)).await;
    assert_eq!((reading.user.as_str(), reading.privileged), (user, false));
    assert_eq!(signals(&reading), expected("healthy").unwrap(), "{user}: what needs no root is read");
    assert_eq!(reading.vrf_routes.len(), 2);
    let denied: Vec<&str> =
        reading.unread().iter().filter(|u| u.kind == UnreadKind::Denied).map(|u| u.what.as_str()).collect();
    assert_eq!(denied, ["/etc/frr/frr.conf", "/etc/frr/frr.conf.local", "iptables-save -c", "vtysh -c 'show version'"]);
    assert_eq!(reading.unread().len(), denied.len(), "{user}: {:?}", reading.unread());
    let frr = reading.frr.value().unwrap();
    assert_eq!((frr.unit.as_str(), frr.daemons_answer), ("active", None));
    assert!(frr.vtysh_unread.as_ref().unwrap().why.contains("group frrvty"), "{:?}", frr.vtysh_unread);
    assert!(reading.nat.unread().unwrap().why.contains("root"), "{:?}", reading.nat);
}

async fn an_outdated_helper_is_named(vm: &Vm) {
    let own = format!("\nVERSION={}\n", helper::VERSION);
    vm.install(&helper::SCRIPT.replace(&own, "\nVERSION=0\n"));
    let reading = read(&vm.login("ops")).await;
    let why = &reading.nat.unread().unwrap().why;
    let wanted = format!("another version than {}: install the current one", helper::VERSION);
    assert!(why.contains(&wanted), "{why}");
    assert!(reading.main_routes.value().is_some());
}

/// Each SSH session leaves a line behind, so that round trips can be counted where they end.
async fn one_round_trip_reads_both_tenants(vm: &Vm) {
    vm.guest("echo 'echo Welcome; echo session >>~/sessions' >/home/ops/.ssh/rc");
    let client = vm.login("ops");
    read(&client).await;
    let started = Instant::now();
    let reading = read(&client).await;
    let took = started.elapsed();
    let sessions = vm.guest("wc -l </home/ops/sessions");
    assert_eq!(sessions.trim(), "2", "two readings are two round trips");
    eprintln!("exit_node_vm: a reading is 1 round trip, {} ms", took.as_millis());
    assert_eq!((reading.user.as_str(), reading.privileged, reading.helper), ("ops", true, helper::VERSION));
    assert_eq!(reading.unread(), Vec::<&_>::new());
    assert_eq!(signals(&reading), expected("healthy").unwrap());
    assert_eq!(reading.hostname.value().map(String::as_str), Some("hv02"));
    assert_eq!(reading.sdn_version.value(), Some(&7));
    assert!(reading.frr_local.value().unwrap().vrfs.contains_key("vrf_eds"));
    assert!(reading.conntrack.value().unwrap().drop.is_some());
    let left = vm.guest("ls -d /tmp/deevnet-exit-node.* /dev/shm/deevnet-exit-node.* 2>/dev/null | wc -l");
    assert_eq!(left.trim(), "0", "nothing is left behind");
}

async fn a_rule_counts_first_packets(vm: &Vm) {
    let client = vm.login("ops");
    let before = read(&client).await;
    let said = vm.guest("site traffic");
    assert_eq!(said.matches("rc=0").count(), 2, "{said}");
    let after = read(&client).await;
    let more = |subnet: &str| snat(&after, subnet).new_connections - snat(&before, subnet).new_connections;
    assert_eq!(more("10.20.129.0/24"), 2, "three pings are one flow, a download is another");
    assert_eq!(more("10.20.130.0/24"), 0);
    assert_eq!(snat(&before, "10.20.129.0/24").text, snat(&after, "10.20.129.0/24").text);
    assert!(total(&after, "IpForwDatagrams") > total(&before, "IpForwDatagrams"));
    assert!(after.at > before.at);
}

/// One site of both: the lab's Proxmox and this node, read by the console's own workers and joined.
async fn the_console_joins_it_with_proxmox(vm: &Vm) {
    let options = LabOptions {
        tenants: Some(2),
        workloads: Some(1),
        faults: Vec::new(),
        seed: 1,
        clock: clock::system(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: false,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    let lab = Lab::start(options).await.unwrap();
    let site = Arc::new(Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap());
    let mut clients = Clients::connect(&site).await;
    let node = site.exit_nodes.first().unwrap().name.clone();
    clients.exit_nodes = vec![(node, Ok(vm.login("ops")))];
    let mut feed = Feed::start(&site, clients, &clock::system());
    feed.demand(Demand { live_counters: true, ..Demand::default() });
    let joined = |inv: &Inventory, total: u64| {
        let tdemo = inv.vrfs.iter().find(|v| &*v.tenant == "tdemo");
        tdemo.and_then(|v| v.flow.as_ref().ok()).is_some_and(|flow| flow.total >= total)
    };
    let healthy = |inv: &Inventory| {
        let present = |layer: &Layer| layer.presence == Presence::Present;
        inv.tenants.len() == 2 && inv.tenants.iter().all(|t| present(&t.layers.fabric) && present(&t.layers.node))
    };
    let first = feed.inventory.wait_for(|inv| healthy(inv) && joined(inv, 0));
    let first = Arc::clone(&*tokio::time::timeout(PATIENCE, first).await.expect("both tenants present").unwrap());
    for vrf in &first.vrfs {
        let words: Vec<_> = vrf.facts.iter().map(|f| (f.label, f.word.as_str(), f.class)).collect();
        assert_eq!(vrf.class, Class::Fine, "{}: {words:?}", vrf.tenant);
    }
    assert_eq!(first.attention, Vec::new());
    let before = first.vrfs.first().unwrap().flow.as_ref().unwrap().total;
    vm.guest("site traffic >/dev/null");
    let moved = feed.inventory.wait_for(|inv| joined(inv, before + 2));
    let moved = Arc::clone(&*tokio::time::timeout(PATIENCE, moved).await.expect("the counter moves").unwrap());
    let rate = moved.vrfs.first().unwrap().flow.as_ref().unwrap().per_second;
    assert!(rate.is_some_and(|r| r > 0.0), "{rate:?}");
    lab.shutdown().await;
}

async fn wrong_identities_are_told_apart(vm: &Vm) {
    let refused = |client: Client| async move { client.read(DEADLINE, &[]).await.unwrap_err() };
    let changed = refused(vm.client("ops", &vm.known_hosts("key.pub"))).await;
    assert!(matches!(changed, Error::HostKeyChanged { .. }), "{changed:?}");
    let unknown = refused(vm.client("ops", "")).await;
    assert!(matches!(unknown, Error::HostUnknown { .. }), "{unknown:?}");
    let stranger = refused(vm.login("stranger")).await;
    assert!(matches!(stranger, Error::AuthRefused { .. }), "{stranger:?}");
}

async fn faults_show(vm: &Vm) {
    let client = vm.login("ops");
    for fault in FAULTS {
        let started = Instant::now();
        vm.guest(&format!("site fault {fault}"));
        let shown = settle(&client, fault).await;
        if let "transit-forwarding-off" | "conntrack-full" = fault {
            vm.guest("site traffic >/dev/null");
            let after = read(&client).await;
            let drops = |r: &Reading| r.conntrack.value().unwrap().drop.unwrap() + total(r, "IpInAddrErrors");
            assert!(drops(&after) > drops(&shown), "{fault}: lost packets are counted");
        }
        let legacy = shown.nat.value().unwrap();
        assert_eq!((legacy.legacy_in_use, legacy.legacy_read), (fault == "snat-in-legacy", true), "{fault}");
        vm.guest("site heal");
        settle(&client, "healthy").await;
        eprintln!("exit_node_vm: {fault} shown and healed in {} s", started.elapsed().as_secs());
    }
}

async fn a_closed_door_and_a_stopped_node(vm: &Vm) {
    let kept = vm.login("ops");
    read(&kept).await;
    vm.guest("systemctl stop oob-ssh.socket");
    let shut = vm.login("viewer").read(DEADLINE, &[]).await.unwrap_err();
    assert!(matches!(shut, Error::Unreachable { .. }), "{shut:?}");
    vm.script(&["stop"]);
    let stopped = kept.read(DEADLINE, &[]).await.unwrap_err();
    assert!(matches!(stopped, Error::ConnectionRefused { .. }), "{stopped:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_reads_a_real_exit_node() {
    let started = Instant::now();
    let vm = match boot("exit_node_vm") {
        Ok(vm) => vm,
        Err(why) => {
            eprintln!("SKIPPED the_client_reads_a_real_exit_node: {why}");
            return;
        }
    };
    vm.guest(&format!("rm -f {}", helper::INSTALL_PATH));
    a_user_without_rights_is_told_which(&vm, "viewer").await;
    a_user_without_rights_is_told_which(&vm, "ops").await;
    an_outdated_helper_is_named(&vm).await;
    vm.install(helper::SCRIPT);
    one_round_trip_reads_both_tenants(&vm).await;
    a_user_without_rights_is_told_which(&vm, "viewer").await;
    a_rule_counts_first_packets(&vm).await;
    the_console_joins_it_with_proxmox(&vm).await;
    wrong_identities_are_told_apart(&vm).await;
    faults_show(&vm).await;
    a_closed_door_and_a_stopped_node(&vm).await;
    eprintln!("exit_node_vm: {:.1} minutes", started.elapsed().as_secs_f64() / 60.0);
}
