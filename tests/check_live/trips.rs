//! Each id that the lab can show: on, named; off, gone; nothing else beside it.

use std::collections::BTreeSet;

use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::collect::Check;
use deevnet_console::diagnose::finding::{Finding, Severity};
use deevnet_console::diagnose::rules;
use deevnet_console::lab::faults::{self, Scope};

use super::table::{TABLE, Way};
use super::{evidence, lab, told};

#[test]
fn every_id_has_one_way_to_be_seen() {
    let ids: Vec<&str> = rules::all().map(|rule| rule.id).collect();
    let seen: Vec<&str> = TABLE.iter().map(|(id, _)| *id).collect();
    let missing: Vec<_> = ids.iter().filter(|id| seen.iter().filter(|s| s == id).count() != 1).collect();
    assert!(missing.is_empty(), "without a way, or with several: {missing:?}");
    let strange: Vec<_> = seen.iter().filter(|id| !ids.contains(id)).collect();
    assert!(strange.is_empty(), "no ids of the catalogue: {strange:?}");
    for (id, way) in TABLE {
        match way {
            Way::Fault(_, fault) | Way::Tenant(_, fault, _) => {
                assert!(faults::specs().any(|spec| spec.id == *fault), "{id}: no fault {fault}");
            }
            Way::Bundle(why) => assert!(!why.is_empty(), "{id}"),
            Way::Site(..) | Way::Healthy(_) => {}
        }
    }
    // A fault that has the name of an id is for it.
    for spec in faults::specs().filter(|spec| ids.contains(&spec.id) && spec.id != "workload-down") {
        let of = TABLE.iter().find(|(id, _)| *id == spec.id).map(|(_, way)| way);
        let bundle = matches!(of, Some(Way::Bundle(_)));
        let own = matches!(of, Some(Way::Fault(_, fault) | Way::Tenant(_, fault, _)) if *fault == spec.id);
        assert!(own || bundle, "{} is not seen by its own fault", spec.id);
    }
}

/// Where `id` stands: at the top, or under it; otherwise what stands at the top.
fn place<'r>(report: &'r Report, id: &str) -> Result<&'static str, &'r str> {
    let Some(headline) = report.headline() else { return Err("nothing") };
    let of = |f: &&Finding| f.id == id && root(report, f).key() == headline.key();
    match report.findings.iter().filter(of).any(|f| f.key() == headline.key()) {
        true => Ok("headline"),
        false if report.findings.iter().any(|f| of(&f)) => Ok("under the headline"),
        false => Err(headline.id),
    }
}

/// The end of the chain of causes.
fn root<'r>(report: &'r Report, finding: &'r Finding) -> &'r Finding {
    let mut at = finding;
    for _ in 0..report.findings.len() {
        let cause = report.findings.iter().find(|f| Some(f.key()) == at.caused_by);
        match cause {
            Some(cause) => at = cause,
            None => break,
        }
    }
    at
}

/// Warnings and faults of other ids that do not hang under the headline.
fn others<'r>(report: &'r Report, id: &str) -> Vec<&'r str> {
    let Some(headline) = report.headline() else { return Vec::new() };
    let loud = report.findings.iter().filter(|f| f.severity > Severity::Info && f.id != id);
    loud.filter(|f| root(report, f).key() != headline.key()).map(|f| f.id).collect()
}

/// What is wrong with a report that is to name `id`, whose severity says whether it comes first.
fn wrong(report: &Report, id: &'static str) -> Option<String> {
    let quiet = rules::rule(id).is_some_and(|rule| rule.severity == Severity::Info);
    let there = report.findings.iter().any(|f| f.id == id);
    let others = others(report, id);
    match place(report, id) {
        Ok(_) if others.is_empty() => None,
        // What is only worth knowing stands where its reach puts it.
        Err(_) if quiet && there && others.is_empty() => None,
        found => Some(format!("{id}: {found:?}, also {others:?}\n{}", told(report))),
    }
}

/// The ids that are seen by one of `checks`, each on a lab of its own kind of site.
async fn trips(checks: &[Check]) {
    let every_tenant = std::env::var("CHECK_LIVE_TENANTS").is_ok();
    let only = std::env::var("CHECK_LIVE_ONLY").unwrap_or_default();
    let (lab, site) = lab().await;
    let (mut bad, mut used) = (Vec::new(), BTreeSet::new());
    for (id, way) in TABLE.iter().filter(|(id, _)| only.is_empty() || only.split(',').any(|o| o == *id)) {
        let (check, fault, changed, of) = match way {
            Way::Fault(check, fault) => (*check, Some(*fault), None, None),
            Way::Tenant(check, fault, tenant) => (*check, Some(*fault), None, Some(*tenant)),
            Way::Site(check, change) => (*check, None, Some(change), None),
            Way::Healthy(check) => (*check, None, None, None),
            Way::Bundle(_) => continue,
        };
        if !checks.contains(&check) {
            continue;
        }
        used.insert(check.word());
        let own = changed.map(|change| super::common::site(&lab, change));
        let own = own.as_ref().unwrap_or(&site);
        let tenant = faults::specs().any(|spec| Some(spec.id) == fault && spec.scope == Scope::Tenant);
        let own_target = of.map_or_else(String::new, |tenant| format!("@{tenant}"));
        let more = (tenant && every_tenant && of.is_none()).then(|| "@eds".to_owned());
        for target in std::iter::once(own_target).chain(more) {
            let fault = fault.map(|fault| format!("{fault}{target}"));
            if let Some(fault) = &fault {
                lab.fault_on(fault).unwrap();
            }
            let on = Report::of(&evidence(own, check, of).await);
            if let Some(fault) = &fault {
                lab.fault_off(fault).unwrap();
            }
            eprintln!("{id:28} {:10} {:?}", check.word(), place(&on, id));
            bad.extend(wrong(&on, id));
        }
    }
    for check in checks.iter().filter(|check| used.contains(check.word())) {
        let off = Report::of(&evidence(&site, *check, None).await);
        let loud = off.findings.iter().any(|f| f.severity > Severity::Info);
        assert!(!loud, "all off: {}", told(&off));
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn access_fabric_and_workloads() {
    trips(&[Check::Access, Check::Fabric, Check::Workload]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_out_and_isolation() {
    trips(&[Check::Egress, Check::Isolation, Check::All]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn perimeter_and_names() {
    trips(&[Check::Perimeter, Check::Dns, Check::Contract]).await;
}
