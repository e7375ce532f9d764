//! Trying tenants' keys: what was seen, and that no secret stays anywhere.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::Arc;

use base64::Engine as _;
use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::collect::{Sink, Wanted, collect, report};
use deevnet_console::diagnose::evidence::{load, save};
use deevnet_console::diagnose::facts::Facts;
use deevnet_console::inventory::feed::{Clients, Clock};
use deevnet_console::site::Site;

/// What a check saw.
pub struct Seen {
    pub report: Report,
    pub facts: Facts,
}

pub fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Looks, keeps a bundle and judges it again; none of `secrets` may be found anywhere.
pub async fn look(site: &Arc<Site>, wanted: &Wanted, secrets: &[String], clock: &Clock) -> Seen {
    let clients = Clients::connect(site).await;
    let evidence = collect(site, &clients, wanted, &Sink::new(clock.clone())).await;
    let dir = tempfile::tempdir().unwrap();
    save(&evidence, dir.path()).unwrap();
    let mut places: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    // In memory too, before anything was taken out.
    places.extend(evidence.items.iter().flat_map(|item| [item.body.clone(), item.stderr.clone()]));
    let live = report(&evidence);
    let again = load(dir.path()).unwrap();
    assert_eq!(live, report(&again), "a bundle says what the site said");
    places.push(format!("{live:?} {evidence:?}"));
    for secret in secrets {
        assert!(!places.iter().any(|text| text.contains(secret.as_str())), "a secret is kept");
    }
    Seen { report: live, facts: Facts::of(&again) }
}

pub fn ids(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|f| f.id).collect()
}

pub fn told(report: &Report) -> String {
    let findings = report.findings.iter().map(|f| format!("{} {:?} {}", f.id, f.subject.name, f.title));
    findings.chain(report.unknown.iter().map(|u| format!("unknown {u:?}"))).collect::<Vec<_>>().join("\n")
}
