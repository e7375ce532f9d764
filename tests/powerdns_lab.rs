//! The lab's PowerDNS and a real one, over the same zones and keys: the same requests, and where the answers differ.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips and what it has found"
)]

mod lab_client;
mod powerdns_common;

#[path = "powerdns_lab/dns.rs"]
mod dns;
#[path = "powerdns_lab/http.rs"]
mod http;
#[path = "powerdns_lab/write.rs"]
mod write;

use std::path::PathBuf;

use base64::Engine as _;
use deevnet_console::lab::names::ALLOW_FROM;
use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use powerdns_common::{KEY, Pdns};
use serde_json::json;

/// A zone of each direction, and another tenant's.
pub const ZONES: [&str; 3] = ["tdemo.mobile.deevnet.net.", "129.20.10.in-addr.arpa.", "eds.mobile.deevnet.net."];
/// Keys of the two tenants.
pub const KEYS: [&str; 2] = ["tdemo", "eds"];

/// A lab whose PowerDNS holds these zones and keys alone and lets loopback update them, and a real server with the same.
async fn twins(test: &str) -> Option<(Lab, Pdns)> {
    let real = Pdns::up(test)?;
    let options = LabOptions {
        tenants: None,
        workloads: None,
        faults: Vec::new(),
        seed: 7,
        clock: deevnet_console::runtime::clock::system(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: true,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    let lab = Lab::start(options).await.unwrap();
    lab.edit(|world| {
        world.names.api_key = KEY.to_owned();
        world.names.zones.retain(|zone, _| ZONES.contains(&zone.as_str()));
        world.names.keys.retain(|key, _| KEYS.contains(&key.as_str()));
        for zone in world.names.zones.values_mut() {
            zone.metadata.entry(ALLOW_FROM.to_owned()).or_default().push("127.0.0.0/8".to_owned());
        }
    })
    .unwrap();
    copy(&lab, &real);
    Some((lab, real))
}

/// Gives the real server what the lab holds.
fn copy(lab: &Lab, real: &Pdns) {
    let world = lab.world();
    for (name, key) in &world.names.keys {
        let secret = base64::engine::general_purpose::STANDARD.encode(&key.secret);
        let body = json!({"name": name, "algorithm": key.algorithm, "key": secret}).to_string();
        assert_eq!(real.api("POST", "/tsigkeys", body.as_bytes()).0, 201);
    }
    for (origin, zone) in &world.names.zones {
        let rrsets: Vec<_> = zone
            .rrsets
            .iter()
            .map(|((name, kind), set)| {
                let records = set.records.iter().map(|(content, off)| json!({"content": content, "disabled": off}));
                let comments = set
                    .comments
                    .iter()
                    .map(|(text, account, at)| json!({"content": text, "account": account, "modified_at": at}));
                json!({"name": name, "type": kind, "ttl": set.ttl, "records": records.collect::<Vec<_>>(),
                    "comments": comments.collect::<Vec<_>>()})
            })
            .collect();
        let body = json!({"name": origin, "kind": "Native", "account": zone.account, "soa_edit_api": "",
            "nameservers": [], "rrsets": rrsets})
        .to_string();
        let (status, text) = real.api("POST", "/zones?rrsets=false", body.as_bytes());
        assert_eq!(status, 201, "{origin}: {text}");
        // Only afterwards, or the serial would be another one from the start.
        let edit = json!({"soa_edit_api": "DEFAULT"}).to_string();
        assert_eq!(real.api("PUT", &format!("/zones/{origin}"), edit.as_bytes()).0, 204);
        for (kind, values) in &zone.metadata {
            let body = json!({"metadata": values}).to_string();
            let (status, text) = real.api("PUT", &format!("/zones/{origin}/metadata/{kind}"), body.as_bytes());
            assert_eq!(status, 200, "{origin} {kind}: {text}");
        }
    }
}

/// Prints how many steps are equal; fails where one differs that is not among `known`, or one of `known` no longer does.
fn conclude(what: &str, steps: &[(String, Vec<String>)], known: &[(&str, &str, &str)]) {
    let equal = steps.iter().filter(|(_, found)| found.is_empty()).count();
    let mut unexplained = Vec::new();
    let mut met = vec![0; known.len()];
    for (step, found) in steps {
        for difference in found {
            let why = known.iter().position(|(s, d, _)| step.contains(s) && difference.contains(d));
            match why {
                Some(n) => {
                    met[n] += 1;
                }
                None => unexplained.push(format!("{step}: {difference}")),
            }
        }
    }
    println!("{what}: {equal} of {} steps equal", steps.len());
    for ((step, difference, why), times) in known.iter().zip(&met) {
        println!("  {times} times {step:?} {difference:?}: {why}");
    }
    let gone: Vec<_> = known.iter().zip(met).filter(|(_, met)| *met == 0).map(|(k, _)| k).collect();
    assert!(unexplained.is_empty(), "{what} differs:\n{}", unexplained.join("\n"));
    assert!(gone.is_empty(), "no longer differs: {gone:?}");
}
