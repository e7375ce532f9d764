//! The reading engine itself: wishes, back-off, what is read again and when, and what a cycle costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use deevnet_console::inventory::feed::Clock;
use deevnet_console::inventory::{Demand, Inventory, Presence, SourceId, SourceStatus};
use deevnet_console::lab::state::Task;
use jiff::SignedDuration;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;

use super::common::{Bench, clock, complete, lab, status, told};

const CONFIG: &str = "/nodes/{node}/qemu/{vmid}/config";
const PENDING: &str = "/nodes/{node}/qemu/{vmid}/pending";

fn configs(bench: &Bench) -> u64 {
    let requests = bench.client.requests();
    // By itself, or with what waits for a cold start.
    [CONFIG, PENDING].iter().filter_map(|path| requests.by_endpoint.get(path)).sum()
}

/// The system's clock, and how often it was read.
fn counting() -> (Clock, watch::Receiver<u64>) {
    let (sender, reads) = watch::channel(0);
    let now = clock();
    let counted = move || {
        sender.send_modify(|n| *n += 1);
        now()
    };
    (Arc::new(counted), reads)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_that_comes_during_a_cycle_is_for_another_one() {
    let (counted, mut reads) = counting();
    let mut bench = Bench::on(lab(Some(2), Some(1), clock()).await, |text| text, &counted).await;
    bench.fresh().await;
    bench.lab.edit(|world| world.api.delay_ms = 200).expect("a world");
    reads.mark_unchanged();
    bench.feed.refresh(Some(SourceId::Pve));
    // A cycle reads the clock as it begins; with these delays it takes more than a second.
    tokio::time::timeout(Duration::from_secs(5), reads.changed()).await.expect("a cycle").expect("a feed");
    let wished = Instant::now();
    let moment = clock()();
    bench.feed.refresh(Some(SourceId::Pve));
    bench.until("the second wish", |inv| inv.sources.get(SourceId::Pve).observed_at >= Some(moment)).await;
    assert!(wished.elapsed() < Duration::from_secs(8), "it waited for the interval: {:?}", wished.elapsed());
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_token_is_one_request_a_try() {
    let mut bench = Bench::start(Some(2), Some(1)).await;
    bench.fresh().await;
    bench.lab.edit(|world| world.api.unauthorized_delay_ms = 0).expect("a world");
    bench.lab.fault_on("pve-auth").expect("a fault of the lab");
    let mut before = bench.client.requests().total;
    let mut last = None;
    for _ in 0..3 {
        bench.feed.refresh(Some(SourceId::Pve));
        let inv = bench
            .until("another refusal", |inv| {
                let health = inv.sources.get(SourceId::Pve);
                health.error.is_some() && health.next_try != last
            })
            .await;
        last = inv.sources.get(SourceId::Pve).next_try;
        let now = bench.client.requests().total;
        assert_eq!(now - before, 1, "a try is one request");
        before = now;
    }
    let pause = last.expect("another try").duration_since(clock()());
    assert!(pause > SignedDuration::from_secs(25), "the third refusal is followed by {pause:?}");
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_on_screen_is_read_each_cycle_and_the_rest_is_not() {
    let mut bench = Bench::start(None, None).await;
    bench.fresh().await;
    let read = configs(&bench);
    bench.fresh().await;
    bench.fresh().await;
    assert_eq!(configs(&bench), read, "nothing is on screen and nothing changed");
    bench.feed.demand(Demand { vmids: vec![2041], ..Demand::default() });
    for turn in 0..3 {
        let shown = format!("10.20.50.{turn}");
        bench
            .lab
            .edit(|world| {
                let guest = world.guests.get_mut(&2041).expect("VM 2041");
                guest.config.insert("nameserver".into(), json!(shown));
            })
            .expect("a world");
        bench.feed.refresh(Some(SourceId::Pve));
        bench
            .until("the VM on screen", |inv| {
                inv.workloads.iter().any(|w| w.vmid == 2041 && w.nameserver == Ok(Some(shown.as_str().into())))
            })
            .await;
    }
    let more = configs(&bench) - read;
    assert!((3..=5).contains(&more), "{more} configurations were read for three cycles with one VM on screen");
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn details_that_nobody_looks_at_grow_old_and_are_read_again() {
    const SUBNETS: &str = "/cluster/sdn/vnets/{vnet}/subnets";
    let ahead = Arc::new(AtomicI64::new(0));
    let (now, by) = (clock(), Arc::clone(&ahead));
    let shifted: Clock = Arc::new(move || now() + SignedDuration::from_secs(by.load(Ordering::Relaxed)));
    let mut bench = Bench::on(lab(Some(2), Some(1), clock()).await, |text| text, &shifted).await;
    bench.fresh().await;
    let read = |bench: &Bench| bench.client.requests().by_endpoint.get(SUBNETS).copied().unwrap_or_default();
    let before = read(&bench);
    ahead.store(61, Ordering::Relaxed);
    let cycles = [bench.latency(SourceId::Pve).await, bench.latency(SourceId::Pve).await];
    let vnets = bench.feed.inventory.borrow().vnets.len() as u64;
    assert!(read(&bench) >= before + vnets, "after a minute, {cycles:?}: {} of {vnets}", read(&bench) - before);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vm_that_a_new_task_names_is_read_again() {
    let mut bench = Bench::start(None, None).await;
    bench.fresh().await;
    let read = configs(&bench);
    let start = clock()().as_second();
    bench
        .lab
        .edit(|world| {
            let guest = world.guests.get_mut(&2041).expect("VM 2041");
            guest.config.insert("nameserver".into(), json!("192.0.2.53"));
            world.tasks.push(Task {
                upid: format!("UPID:dv02hyp002p02:00071234:00071234:{start:08X}:qmconfig:2041:root@pam:"),
                ended: Some(start),
                status: "OK".into(),
                log: Vec::new(),
                saved: false,
            });
        })
        .expect("a world");
    bench.feed.refresh(Some(SourceId::Pve));
    let inv =
        bench.until("the change", |inv| inv.workloads.iter().any(|w| w.vmid == 2041 && !w.diffs.is_empty())).await;
    assert_eq!(inv.attention.len(), 1, "{}", told(&inv));
    assert_eq!(inv.attention[0].what, "nameserver is 192.0.2.53, derived 10.20.50.1");
    assert_eq!(configs(&bench) - read, 1, "and no other");
    bench.stop().await;
}

/// No task names it; the state of the zone in the resource list does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_node_carries_is_read_again_when_its_state_changes() {
    let mut bench = Bench::start(None, None).await;
    bench.fresh().await;
    bench.lab.fault_on("vnet-missing@eds").expect("a fault of the lab");
    bench.feed.refresh(Some(SourceId::Pve));
    let word = |inv: &Inventory| inv.vnets.iter().find(|v| &*v.vnet == "eds0").map(|v| v.word.clone());
    let told = "error: missing vxlan_eds0 on hv02";
    bench.until("the node's words", |inv| word(inv).as_deref() == Some(told)).await;
    bench.lab.fault_off("vnet-missing").expect("a fault that is on");
    bench.feed.refresh(Some(SourceId::Pve));
    bench.until("its end", |inv| word(inv).as_deref() == Some("present")).await;
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_exit_nodes_one_is_silent_and_the_other_is_still_told() {
    let second = "\n[[exit_node]]\nname = \"dv02hyp001p01\"\ntransport = { command = [\"false\"] }\ntransit_interface = \
                  \"vmbr0.50\"\ntransit_address = \"10.20.50.21\"\ntransit_gateway = \"10.20.50.1\"\n";
    let lab = lab(None, None, clock()).await;
    let mut bench = Bench::on(lab, |text| text + second, &clock()).await;
    bench
        .until("both nodes", |inv| {
            let vrf = |node: &str| inv.vrfs.iter().find(|v| &*v.node == node && &*v.tenant == "eds");
            let known = vrf("dv02hyp002p02").is_some_and(|v| v.routes.is_ok());
            known && inv.sources.get(SourceId::Exit).error.is_some() && complete(inv)
        })
        .await;
    let inv = bench.feed.inventory.borrow().clone();
    let error = inv.sources.get(SourceId::Exit).error.clone().expect("an error");
    assert!(error.text.contains("dv02hyp001p01"), "it does not say which: {}", error.text);
    let node = &inv.tenant("eds").expect("eds").layers.node;
    assert_eq!(node.presence, Presence::Unknown, "one of two answered: {}", told(&inv));
    bench.lab.fault_on("snat-missing@eds").expect("a fault of the lab");
    bench.feed.refresh(None);
    let inv = bench
        .until("the fault", |inv| inv.tenant("eds").is_some_and(|t| t.layers.node.presence == Presence::Differs))
        .await;
    assert!(inv.attention.iter().any(|a| a.place == "eds on hv02"), "{}", told(&inv));
    assert_eq!(inv.tenant("tdemo").expect("tdemo").layers.node.presence, Presence::Unknown);
    bench.stop().await;
}

/// Ages are counted on our clock, rates on the node's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_clock_is_hours_off_is_read_like_any_other() {
    let now = clock();
    let ahead: Clock = Arc::new(move || now() + SignedDuration::from_hours(5));
    let mut bench = Bench::on(lab(Some(2), Some(1), ahead).await, |text| text, &clock()).await;
    bench.fresh().await;
    bench.feed.demand(Demand { live_counters: true, ..Demand::default() });
    let inv = bench
        .until("two readings make a rate", |inv| {
            inv.vrfs.iter().all(|v| v.flow.as_ref().is_ok_and(|flow| flow.per_second.is_some())) && complete(inv)
        })
        .await;
    for id in [SourceId::Pve, SourceId::Exit] {
        assert_eq!(status(&inv, id), SourceStatus::Fresh, "{}", told(&inv));
        let age = inv.sources.get(id).age(clock()()).expect("an age");
        assert!(age < SignedDuration::from_secs(30), "{age:?}");
    }
    let flow = inv.vrfs[0].flow.as_ref().expect("a flow");
    let since = flow.since.expect("a moment").duration_since(clock()());
    assert!(since.abs() < SignedDuration::from_mins(1), "counting began {since:?} from now");
    assert!(inv.attention.is_empty(), "{}", told(&inv));
    bench.stop().await;
}

/// Requests of one cycle of lists at a size, after everything was read once.
async fn cycle_cost(tenants: u32, workloads: u32) -> (u64, u64, Duration) {
    let begun = Instant::now();
    let mut bench = Bench::start(Some(tenants), Some(workloads)).await;
    bench.until("everything once", |inv| inv.tenants.len() == tenants as usize && complete(inv)).await;
    let (sweep, took) = (bench.client.requests().total, begun.elapsed());
    // No cycle that was wished for before is still under way.
    bench.tried().await;
    let mut costs = Vec::new();
    for _ in 0..3 {
        let before = bench.client.requests().total;
        bench.latency(SourceId::Pve).await;
        costs.push(bench.client.requests().total - before);
    }
    bench.stop().await;
    // A detail that came due in between is none of the lists.
    (costs.into_iter().min().unwrap_or_default(), sweep, took)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cycle_costs_the_same_at_every_size_and_a_cold_sweep_ends() {
    let (small, ..) = cycle_cost(2, 1).await;
    let (large, sweep, took) = cycle_cost(62, 40).await;
    println!("requests a cycle: {small} at 2 × 1, {large} at 62 × 40; cold sweep: {sweep} requests in {took:?}");
    assert_eq!(small, large, "the lists cost requests by size");
    assert!(small <= 16, "{small} requests a cycle");
    assert!(took < Duration::from_secs(120), "the cold sweep took {took:?}");
}
