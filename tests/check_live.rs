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

use std::collections::BTreeSet;
use std::sync::Arc;

use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::collect::{Check, Sink, Wanted, collect, report};
use deevnet_console::diagnose::evidence::{Evidence, load, save};
use deevnet_console::diagnose::finding::{Layer, Severity};
use deevnet_console::diagnose::rules;
use deevnet_console::inventory::feed::Clients;
use deevnet_console::lab::Lab;
use deevnet_console::lab::faults;
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
    if let Some(dir) = std::env::var_os("KEEP_BUNDLE") {
        save(&evidence, std::path::Path::new(&dir)).unwrap();
    }
    let report = report(&evidence);
    let loud = report.findings.iter().any(|f| f.severity > Severity::Info);
    assert!(!loud && report.unknown.is_empty(), "{}", told(&report));
    lab.shutdown().await;
}
