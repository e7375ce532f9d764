//! `check` against the lab: a healthy site, each fault by its own id, bundles that are judged like the site.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail, and tells what it saw"
)]

mod common;
#[path = "check_live/table.rs"]
mod table;
#[path = "check_live/trips.rs"]
mod trips;

use std::sync::Arc;

use base64::Engine as _;
use deevnet_console::diagnose::collect::{Check, Sink, Wanted, collect, report};
use deevnet_console::diagnose::evidence::{Evidence, load, save};
use deevnet_console::diagnose::finding::{Layer, Severity};
use deevnet_console::diagnose::path::State;
use deevnet_console::diagnose::rules;
use deevnet_console::diagnose::{Diagnosis, Report};
use deevnet_console::inventory::feed::Clients;
use deevnet_console::lab::Lab;
use deevnet_console::site::Site;

async fn lab() -> (Lab, Arc<Site>) {
    let lab = common::lab_of(Some(2), Some(2), common::clock(), true).await;
    let site = common::site(&lab, |text| text);
    (lab, site)
}

async fn evidence(site: &Arc<Site>, check: Check, subject: Option<&str>) -> Evidence {
    let clients = Clients::connect(site).await;
    collect(site, &clients, &Wanted::of(check, subject), &Sink::new(common::clock())).await
}

fn told(report: &Report) -> String {
    let findings = report.findings.iter().map(|f| {
        let cause = f.caused_by.as_ref().map(|(id, _)| format!(" <- {id}")).unwrap_or_default();
        format!("{:?} {} {:?} {}{cause}", f.severity, f.id, f.subject.name, f.title)
    });
    let unknown = report.unknown.iter().map(|u| format!("unknown {} ({:?}) {:?}", u.missing, u.why, u.ids));
    findings.chain(unknown).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_site_has_nothing_to_say() {
    let (lab, site) = lab().await;
    let evidence = evidence(&site, Check::All, None).await;
    let report = report(&evidence);
    let loud = report.findings.iter().any(|f| f.severity > Severity::Info);
    assert!(!loud && report.unknown.is_empty(), "{}", told(&report));
    lab.shutdown().await;
}

/// Nobody who is not seen is cleared: a token that is shown some tenants at most makes a check of all of them unknown.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_of_tenants_that_are_not_shown_is_unknown() {
    let (lab, site) = lab().await;
    lab.fault_on("list-filtered").unwrap();
    for check in [Check::Egress, Check::Workload] {
        let found = Diagnosis::of(&Wanted::of(check, None), evidence(&site, check, None).await, Vec::new());
        let told = found.report.unknown.iter().any(|unknown| unknown.missing.starts_with("which tenants there are"));
        assert!(told, "{}", self::told(&found.report));
    }
    lab.shutdown().await;
}

/// The first leg is told from the tenant's own machines, whether their number or their address names them.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_leg_is_of_the_tenants_own_machines() {
    let (lab, site) = lab().await;
    let first = async |tenant: &str| {
        let wanted = Wanted::of(Check::Egress, Some(tenant));
        let found = Diagnosis::of(&wanted, evidence(&site, Check::Egress, Some(tenant)).await, Vec::new());
        found.path().unwrap().legs[0].state
    };
    assert_eq!((first("tdemo").await, first("eds").await), (State::Pass, State::Pass));
    lab.fault_on("workload-down@tdemo").unwrap();
    // Stopped, and to run: the same on every check.
    assert_eq!((first("tdemo").await, first("eds").await), (State::Fail, State::Pass));
    for check in [Check::Workload, Check::Egress, Check::Contract, Check::All] {
        let report = report(&evidence(&site, check, None).await);
        let stopped = report.findings.iter().find(|f| f.id == "workload-stopped").map(|f| f.severity);
        assert_eq!(stopped, Some(Severity::Fault), "{check:?}: {}", told(&report));
    }
    lab.shutdown().await;
}

/// A bundle says what the site said, of every check, and so does its second reading.
#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_is_judged_like_the_site() {
    let (lab, site) = lab().await;
    for fault in ["zone-missing", "rebind-filtered@eds", "perimeter-leak", "frr-down", "wrong-workload-resolver"] {
        lab.fault_on(fault).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    for check in Check::ALL {
        for subject in [None, Some("tdemo"), Some("eds/app")] {
            let evidence = evidence(&site, check, subject).await;
            let live = report(&evidence);
            let at = dir.path().join(Wanted::of(check, subject).question().replace(['/', ' '], "-"));
            save(&evidence, &at).unwrap();
            let kept = report(&load(&at).unwrap());
            assert_eq!(told(&live), told(&kept), "{check:?} {subject:?}");
            assert_eq!(live, kept, "{check:?} {subject:?}");
            if let Some(layer) = check.layer() {
                let strange = |f: &&deevnet_console::diagnose::finding::Finding| {
                    let causes = live.findings.iter().any(|g| g.caused_by.as_ref() == Some(&f.key()));
                    // Of another layer only what the check says that it hears: no more than this table of its.
                    let heard = check == Check::Isolation && rules::rule(f.id).is_some_and(|rule| check.hears(rule));
                    f.layer != layer && f.layer != Layer::Access && !causes && !heard
                };
                assert!(!live.findings.iter().any(|f| strange(&f)), "{check:?}: {}", told(&live));
            }
        }
    }
    lab.shutdown().await;
}

/// Where secrets come from and what they are is in no file and no line.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_kept_or_told() {
    let (lab, site) = lab().await;
    let mut secrets = Vec::new();
    for file in ["proxmox-token", "powerdns-key", "opnsense-key", "opnsense-secret", "bootstrap-credential"] {
        let text = std::fs::read_to_string(lab.dir().join(file)).unwrap();
        secrets.push(text.trim().rsplit('=').next().unwrap().to_owned());
    }
    let encoded = |bytes: &Vec<u8>| base64::engine::general_purpose::STANDARD.encode(bytes);
    secrets.extend(lab.world().names.keys.values().map(|key| encoded(&key.secret)));
    assert!(secrets.len() > 6 && secrets.iter().all(|s| s.len() >= 8), "{}", secrets.len());
    for fault in ["", "dns-api-auth", "fw-auth", "pve-auth"] {
        if !fault.is_empty() {
            lab.fault_on(fault).unwrap();
        }
        let evidence = evidence(&site, Check::All, None).await;
        let dir = tempfile::tempdir().unwrap();
        save(&evidence, dir.path()).unwrap();
        let mut texts = vec![told(&report(&evidence)), format!("{:?}", report(&evidence))];
        for file in std::fs::read_dir(dir.path()).unwrap() {
            texts.push(std::fs::read_to_string(file.unwrap().path()).unwrap());
        }
        assert!(texts.len() > 5, "{fault}: {} files", texts.len());
        for (n, secret) in secrets.iter().enumerate() {
            assert!(!texts.iter().any(|text| text.contains(secret.as_str())), "{fault}: secret {n} is told");
        }
    }
    lab.shutdown().await;
}
