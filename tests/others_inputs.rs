//! What is missing of one tenant is nothing to another: each thing that was read of one is taken away, alone, and refused,
//! alone, and what is said of the other stays.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail, and tells what it saw"
)]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use deevnet_console::diagnose::Diagnosis;
use deevnet_console::diagnose::collect::{Check, Sink, Wanted, collect};
use deevnet_console::diagnose::evidence::{Ended, Evidence, Item, Kind};
use deevnet_console::diagnose::finding::Unknown;
use deevnet_console::diagnose::path::State;
use deevnet_console::inventory::feed::Clients;
use deevnet_console::lab::Lab;
use deevnet_console::site::Site;
use deevnet_console::site::numbering::TenantIndex;

/// Faults of one tenant that rules look into further.
const FAULTS: [&str; 10] = [
    "",
    "snat-missing@tdemo",
    "vrf-default-missing@tdemo",
    "workload-down@tdemo",
    "rebind-filtered@tdemo",
    "builtin-reverse-zone@tdemo",
    "negative-cached@tdemo",
    "zone-missing@tdemo",
    "zone-not-served@tdemo",
    "vnet-missing@tdemo",
];

/// Words by which a request or a command is of a tenant alone.
struct Words(Vec<String>);

impl Words {
    fn of(site: &Site, tenant: &str, index: u64) -> Self {
        let plan = &site.numbering;
        let index = TenantIndex::new(index).unwrap();
        let net = plan.subnet(index).to_string();
        let mut all = vec![tenant.to_owned(), net[..net.rfind('.').unwrap() + 1].to_owned(), plan.reverse_zone(index)];
        all.extend((0..40).filter_map(|ordinal| plan.vmid(index, ordinal)).map(|vmid| format!("/{vmid}/")));
        Self(all)
    }

    fn name(&self, item: &Item) -> bool {
        let line = asked(item);
        self.0.iter().any(|word| line.contains(word.as_str()))
    }
}

/// What was asked for.
fn asked(item: &Item) -> String {
    match &item.kind {
        Kind::Http(http) => format!("{}/", http.request()),
        Kind::Command { line, .. } => line.clone(),
        Kind::Dns(question) => format!("{question:?}"),
        _ => String::new(),
    }
}

/// The same answer, refused.
fn refused(item: &Item) -> Option<Item> {
    let mut item = item.clone();
    match &mut item.kind {
        Kind::Http(http) => http.ended = Ended { status: 500, reason: "no sense in it".to_owned() },
        Kind::Command { exit, .. } => *exit = Some(1),
        _ => return None,
    }
    (item.body, item.stderr) = (String::new(), "it does not say".to_owned());
    Some(item)
}

fn judge(evidence: &Evidence, check: Check, tenant: Option<&str>) -> Diagnosis {
    Diagnosis::of(&Wanted::of(check, tenant), evidence.clone(), Vec::new())
}

/// What is open.
fn open(diagnosis: &Diagnosis) -> BTreeSet<String> {
    let words = |u: &Unknown| format!("{} ({:?}) {:?} of {:?}", u.missing, u.why, u.ids, u.about);
    diagnosis.report.unknown.iter().map(words).collect()
}

/// The state of each leg.
fn legs(diagnosis: &Diagnosis) -> Vec<(&'static str, State)> {
    diagnosis.path().map(|path| path.legs.iter().map(|leg| (leg.leg.name, leg.state)).collect()).unwrap_or_default()
}

async fn read(site: &Arc<Site>, check: Check) -> Evidence {
    let clients = Clients::connect(site).await;
    collect(site, &clients, &Wanted::of(check, None), &Sink::new(common::clock())).await
}

async fn lab() -> (Lab, Arc<Site>) {
    let lab = common::lab_of(Some(2), Some(2), common::clock(), true).await;
    let site = common::site(&lab, |text| text);
    (lab, site)
}

/// Whether what it would tell may be of anybody: on whose network a guest has its cards, whom a subnet overlaps.
fn is_everybodys(item: &Item) -> bool {
    let line = asked(item);
    line.contains("/subnets")
        || ["/qemu/", "/lxc/"].iter().any(|guest| line.contains(guest)) && line.contains("/config")
}

/// Places in `whole` of what is of tdemo alone.
fn of_one(site: &Site, whole: &Evidence) -> Vec<usize> {
    let (theirs, ours) = (Words::of(site, "tdemo", 1), Words::of(site, "eds", 2));
    let of_one = |item: &Item| theirs.name(item) && !ours.name(item) && !is_everybodys(item);
    (0..whole.items.len()).filter(|at| of_one(&whole.items[*at])).collect()
}

/// `whole` with the items at `places` taken away, or refused.
fn less(whole: &Evidence, places: &[usize], refuse: bool) -> Evidence {
    let mut less = whole.clone();
    for at in places.iter().rev() {
        less.items.splice(at..=at, Some(&whole.items[*at]).filter(|_| refuse).and_then(refused));
    }
    less
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_read_of_one_tenant_is_nothing_to_another() {
    let (lab, site) = lab().await;
    let whole = read(&site, Check::All).await;
    lab.shutdown().await;
    let places = of_one(&site, &whole);
    assert!(places.len() > 20, "only {} things are of one tenant alone", places.len());
    let before = judge(&whole, Check::All, Some("eds"));
    let mut wrong = BTreeSet::new();
    for at in &places {
        for refuse in [false, true] {
            let after = judge(&less(&whole, &[*at], refuse), Check::All, Some("eds"));
            let more = open(&after).difference(&open(&before)).cloned().collect::<Vec<_>>();
            wrong.extend(more.into_iter().map(|more| format!("{more}\n    without {}", asked(&whole.items[*at]))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
    // On whose network a machine of the one hangs concerns the other, too.
    let theirs = Words::of(&site, "tdemo", 1);
    let cards = |item: &Item| is_everybodys(item) && theirs.name(item) && asked(item).contains("/config");
    let cards: Vec<usize> = (0..whole.items.len()).filter(|at| cards(&whole.items[*at])).collect();
    assert!(!cards.is_empty());
    for at in cards {
        let after = judge(&less(&whole, &[at], true), Check::All, Some("eds"));
        let told = open(&after).iter().any(|missing| missing.starts_with("on which networks guest"));
        assert!(told, "nothing is missing without {}", asked(&whole.items[at]));
    }
}

/// Whatever is broken of one tenant, and whatever of it cannot be read then: the path and the names of the other are judged.
#[tokio::test(flavor = "multi_thread")]
async fn another_is_judged_while_all_of_one_tenant_is_unreadable() {
    let (lab, site) = lab().await;
    let mut wrong = Vec::new();
    for fault in FAULTS {
        if !fault.is_empty() {
            lab.fault_on(fault).unwrap();
        }
        let checks: &[Check] = if fault.is_empty() { &[Check::Egress, Check::Dns, Check::All] } else { &[Check::All] };
        for &check in checks {
            let whole = read(&site, check).await;
            let places = of_one(&site, &whole);
            let before = judge(&whole, check, Some("eds"));
            for refuse in [false, true] {
                let after = judge(&less(&whole, &places, refuse), check, Some("eds"));
                let more = open(&after).difference(&open(&before)).cloned().collect::<Vec<_>>();
                wrong.extend(more.into_iter().map(|more| format!("{fault:?} {check:?} refused {refuse}: {more}")));
                if legs(&after) != legs(&before) {
                    wrong.push(format!("{fault:?} {check:?}: {:?} was {:?}", legs(&after), legs(&before)));
                }
            }
        }
        if !fault.is_empty() {
            lab.fault_off(fault).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    lab.shutdown().await;
}
