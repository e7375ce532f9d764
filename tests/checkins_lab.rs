//! Check-ins and the registry as evidence, on the lab: each fault on, found, off, gone; and what no source tells is unknown.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail"
)]

mod common;
mod keys_common;

use std::sync::Arc;

use deevnet_console::diagnose::collect::{Check, Wanted};
use deevnet_console::diagnose::contract::{self, State};
use deevnet_console::lab::Lab;
use deevnet_console::site::Site;
use keys_common::{Seen, ids, look, told};

async fn lab() -> Lab {
    common::lab_of(None, Some(2), common::clock(), true).await
}

async fn seen(lab: &Lab, site: &Arc<Site>, check: Check) -> Seen {
    let secrets = [lab.world().boot.credential.clone(), lab.world().registry.token.clone()];
    look(site, &Wanted::of(check, None), &secrets, &common::clock()).await
}

/// Ids that speak of the two services.
fn own(seen: &Seen) -> Vec<&'static str> {
    let own = |id: &&str| id.starts_with("checkin-") || id.starts_with("registry-");
    ids(&seen.report).into_iter().filter(own).collect()
}

/// What is unknown for want of one of them.
fn unknown(seen: &Seen, what: &str) -> Option<String> {
    let of = |u: &&deevnet_console::diagnose::finding::Unknown| u.missing.contains(what);
    seen.report.unknown.iter().find(of).map(|u| u.why.clone().unwrap_or_default())
}

fn clause(seen: &Seen, id: &str) -> State {
    contract::of(&seen.report, &seen.facts, "tdemo").into_iter().find(|one| one.clause == id).unwrap().state
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_not_to_check_in_is_found_and_gone_again() {
    let lab = lab().await;
    let site = common::site(&lab, |text| text);
    let healthy = seen(&lab, &site, Check::Contract).await;
    assert_eq!(own(&healthy), Vec::<&str>::new(), "{}", told(&healthy.report));
    for id in ["P1", "P2", "S1"] {
        assert_eq!(clause(&healthy, id), State::Kept, "{id}: {}", told(&healthy.report));
    }
    let mut wrong = Vec::new();
    for (fault, finding, breaks) in [
        ("checkin-failed@tdemo", "checkin-failed", Some("P1")),
        ("checkin-late@tdemo", "checkin-late", Some("P1")),
        ("checkin-stuck@tdemo", "checkin-stuck", Some("P1")),
        ("checkin-expired@tdemo", "checkin-expired", Some("P1")),
        ("checkin-behind@tdemo", "checkin-behind", Some("P1")),
        ("checkin-replay@tdemo", "checkin-replay", Some("P2")),
        ("checkin-foreign@tdemo", "checkin-foreign", Some("S1")),
        ("checkin-silent@tdemo", "checkin-silent", None),
    ] {
        lab.fault_on(fault).unwrap();
        let on = seen(&lab, &site, Check::Workload).await;
        if own(&on) != [finding] {
            wrong.push(format!("{fault}: {:?}\n{}", own(&on), told(&on.report)));
        }
        if let Some(id) = breaks {
            let state = clause(&seen(&lab, &site, Check::Contract).await, id);
            if !matches!(&state, State::Broken { by } if by.iter().any(|(by, _)| *by == finding)) {
                wrong.push(format!("{fault}: {id} is {state:?}"));
            }
        }
        lab.fault_off(fault).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(own(&seen(&lab, &site, Check::Workload).await), Vec::<&str>::new());
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_does_not_tell_makes_unknown_and_one_that_is_off_does_not() {
    let lab = lab().await;
    let site = common::site(&lab, |text| text);
    for (fault, why) in
        [("checkins-down", "check-ins"), ("checkins-denied", "does not let"), ("checkins-auth", "did not accept")]
    {
        lab.fault_on(fault).unwrap();
        let dead = seen(&lab, &site, Check::Contract).await;
        let said = unknown(&dead, "the check-ins of the workloads").unwrap_or_else(|| panic!("{fault}"));
        assert!(fault == "checkins-down" || said.contains(why), "{fault}: {said}");
        assert!(matches!(clause(&dead, "P1"), State::Unknown { .. }), "{fault}: {:?}", clause(&dead, "P1"));
        assert_eq!(own(&dead), Vec::<&str>::new());
        lab.fault_off(fault).unwrap();
    }
    lab.fault_on("checkins-not-offered").unwrap();
    let off = seen(&lab, &site, Check::Contract).await;
    assert_eq!((unknown(&off, "check-ins"), clause(&off, "P1")), (None, State::NotRun), "{}", told(&off.report));
    lab.fault_off("checkins-not-offered").unwrap();
    let without = common::site(&lab, |text| cut(&text, "[bootstrap]"));
    let none = seen(&lab, &without, Check::All).await;
    assert!(none.facts.checkins.is_none() && none.facts.registry.is_none());
    assert_eq!((unknown(&none, "check-ins"), unknown(&none, "registry")), (None, None), "{}", told(&none.report));
    lab.shutdown().await;
}

/// The site of a lab that names its registry.
fn registered(lab: &Lab) -> Arc<Site> {
    let dir = lab.dir();
    let section = format!(
        "\n[registry]\nurl = \"{}\"\nca_file = \"{}\"\ntoken = {{ file = \"{}\" }}\n",
        lab.registry_url().unwrap(),
        dir.join("ca.pem").display(),
        dir.join("registry-token").display()
    );
    common::site(lab, |text| text + &section)
}

/// A site file without one of its sections.
fn cut(text: &str, section: &str) -> String {
    let at = text.find(section).unwrap_or_else(|| panic!("no {section}"));
    let end = text[at + 1..].find("\n[").map_or(text.len(), |end| at + 1 + end + 1);
    format!("{}{}", &text[..at], &text[end..])
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_registry_and_the_fabric_disagree_about_is_found_and_gone_again() {
    let lab = lab().await;
    let site = registered(&lab);
    let healthy = seen(&lab, &site, Check::Fabric).await;
    assert_eq!(own(&healthy), Vec::<&str>::new(), "{}", told(&healthy.report));
    let mut wrong = Vec::new();
    for (fault, finding) in [
        ("registry-lost@tdemo", "registry-record-missing"),
        ("registry-differs@tdemo", "registry-differs"),
        ("registry-only", "registry-only"),
    ] {
        lab.fault_on(fault).unwrap();
        let on = seen(&lab, &site, Check::Fabric).await;
        if own(&on) != [finding] {
            wrong.push(format!("{fault}: {:?}\n{}", own(&on), told(&on.report)));
        }
        lab.fault_off(fault).unwrap();
    }
    for (fault, word) in [("registry-down", ""), ("registry-auth", "did not accept")] {
        lab.fault_on(fault).unwrap();
        let dead = seen(&lab, &site, Check::Fabric).await;
        match unknown(&dead, "the registry of tenants") {
            Some(why) if why.contains(word) && own(&dead).is_empty() => {}
            other => wrong.push(format!("{fault}: {other:?} {:?}", own(&dead))),
        }
        lab.fault_off(fault).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(own(&seen(&lab, &site, Check::Fabric).await), Vec::<&str>::new());
    lab.shutdown().await;
}
