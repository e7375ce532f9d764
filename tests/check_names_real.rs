//! `check dns` against a real PowerDNS and a real Unbound in front of it; the tenant itself is the lab's.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

mod common;
mod powerdns_common;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::collect::{Check, Sink, Wanted, collect, report};
use deevnet_console::diagnose::evidence::{load, save};
use deevnet_console::inventory::feed::Clients;
use deevnet_console::site::Site;
use powerdns_common::{KEY, Pdns};

const FORWARD: &str = "tdemo.mobile.deevnet.net";
const REVERSE: &str = "129.20.10.in-addr.arpa";

const NETWORKS: &str = r#"{"kind":"ALLOW-DNSUPDATE-FROM","metadata":["10.20.129.0/24"]}"#;

fn change(server: &Pdns, method: &str, path: &str, body: &str) {
    let (status, text) = server.api(method, path, body.as_bytes());
    assert!((200..300).contains(&status), "{method} {path}: {status} {text}");
}

fn write(server: &Pdns, zone: &str, name: &str, kind: &str, value: &str) {
    let rrset = format!(
        r#"{{"name":"{name}.","type":"{kind}","ttl":300,"changetype":"REPLACE","records":[{{"content":"{value}"}}]}}"#
    );
    server.patch(&format!("{zone}."), rrset.as_bytes());
}

/// Ends the fixture's own Unbound, and waits until its port is free.
fn stop_resolver(server: &Pdns) {
    let pid = std::fs::read_to_string(server.directory().join("d/unbound/unbound.pid")).unwrap();
    assert!(std::process::Command::new("kill").arg(pid.trim()).status().unwrap().success());
    let free = |_: &u32| std::net::UdpSocket::bind(server.resolver()).is_ok();
    assert!((0..1_000_000).any(|n| free(&n)), "Unbound goes on");
}

/// The lab's tenants with these servers. The perimeter's address is none of the lab's: its exit node has a resolver of
/// its own behind that.
fn site(lab: &deevnet_console::lab::Lab, server: &Pdns, key: &Path) -> Arc<Site> {
    common::site(lab, |text| {
        let own = format!(
            "\n[powerdns]\nmode = \"api\"\nurl = \"{}\"\napi_key = {{ file = \"{}\" }}\ndns = \"{}\"\n\n\
             [resolvers]\nperimeter = \"10.20.50.53\"\nask = \"{}\"\n",
            server.origin(),
            key.display(),
            server.site().dns,
            server.resolver(),
        );
        text + &own
    })
}

async fn check(site: &Arc<Site>, secrets: &[String]) -> Report {
    let clients = Clients::connect(site).await;
    let wanted = Wanted::of(Check::Dns, Some("tdemo"));
    let evidence = collect(site, &clients, &wanted, &Sink::new(common::clock())).await;
    let dir = tempfile::tempdir().unwrap();
    save(&evidence, dir.path()).unwrap();
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!secrets.iter().any(|secret| text.contains(secret.as_str())), "a secret is kept");
    }
    let live = report(&evidence);
    assert_eq!(live, report(&load(dir.path()).unwrap()), "a bundle says what the site said");
    assert!(!secrets.iter().any(|secret| format!("{live:?}").contains(secret.as_str())), "a secret is told");
    live
}

fn ids(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|f| f.id).collect()
}

fn told(report: &Report) -> String {
    let findings = report.findings.iter().map(|f| format!("{} {:?} {}", f.id, f.subject.name, f.title));
    findings.chain(report.unknown.iter().map(|u| format!("unknown {u:?}"))).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_names_is_named() {
    let Some(server) = Pdns::with_resolver("what_is_wrong_with_names_is_named") else { return };
    server.seed("tdemo", FORWARD, REVERSE);
    write(&server, FORWARD, &format!("app.{FORWARD}"), "A", "10.20.129.10");
    write(&server, REVERSE, &format!("10.{REVERSE}"), "PTR", &format!("app.{FORWARD}."));
    // The first half of the lab: tenants, and nobody's names.
    let lab = common::lab_of(Some(1), Some(1), common::clock(), false).await;
    let dir = tempfile::tempdir().unwrap();
    let key = dir.path().join("key");
    std::fs::write(&key, KEY).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let site = site(&lab, &server, &key);
    let secrets = [KEY.to_owned(), server.secret("tdemo")];

    let healthy = check(&site, &secrets).await;
    assert!(healthy.findings.is_empty(), "{}", told(&healthy));
    for (flag, id) in [("no-private-domain", "rebind-filtered"), ("no-nodefault", "builtin-reverse-zone")] {
        server.reload_resolver(&[flag]);
        let report = check(&site, &secrets).await;
        assert!(ids(&report).contains(&id), "{flag}: {}", told(&report));
        server.reload_resolver(&[]);
    }
    // What the set-up gives a tenant, before a key is bound.
    change(&server, "PUT", &format!("/zones/{FORWARD}./metadata/ALLOW-DNSUPDATE-FROM"), NETWORKS);
    let bound = check(&site, &secrets).await;
    assert!(bound.findings.is_empty(), "{}", told(&bound));
    change(&server, "DELETE", &format!("/zones/{FORWARD}./metadata/TSIG-ALLOW-DNSUPDATE"), "");
    let open = check(&site, &secrets).await;
    assert!(ids(&open).contains(&"tsig-unbound"), "{}", told(&open));
    change(&server, "DELETE", &format!("/zones/{FORWARD}."), "");
    let gone = check(&site, &secrets).await;
    assert!(ids(&gone).contains(&"zone-missing"), "{}", told(&gone));
    assert!(!gone.unknown.iter().any(|u| u.ids.contains(&"zone-not-served")), "{}", told(&gone));
    server.stop();
    let down = check(&site, &secrets).await;
    assert!(ids(&down).contains(&"auth-down") && !ids(&down).contains(&"resolver-down"), "{}", told(&down));
    server.start("");
    stop_resolver(&server);
    let down = check(&site, &secrets).await;
    assert!(ids(&down).contains(&"resolver-down") && !ids(&down).contains(&"auth-down"), "{}", told(&down));
    lab.shutdown().await;
}
