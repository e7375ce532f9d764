//! Invented answers: each refusal, and the shapes of versions that are not installed here (facts/dns.md).
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict; a skip and a measurement are said aloud"
)]

mod loopback;
mod powerdns_common;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use deevnet_console::backends::powerdns::model::ZoneKind;
use deevnet_console::backends::powerdns::{Client, Error, Name, Reach, ZoneListing};
use deevnet_console::site::model::PowerDnsMode;
use loopback::{Canned, Seen, Server, variant};
use powerdns_common::{KEY, shown, site};
use serde_json::Value;

fn client(server: &Server) -> Client {
    powerdns_common::client(&site(&server.origin, PowerDnsMode::Api, SocketAddr::from(([127, 0, 0, 1], 53))), KEY)
}

#[tokio::test]
async fn every_invented_refusal_has_its_variant() {
    let all: Vec<Value> = serde_json::from_str(include_str!("data/powerdns/refusals.json")).unwrap();
    let next = Arc::new(Mutex::new(Canned::default()));
    let told = Arc::clone(&next);
    let server = Server::start(move |_: &Seen| told.lock().unwrap().clone()).await;
    let client = client(&server);
    for raw in &all {
        let body = match &raw["body"] {
            Value::String(text) => text.replace("{KEY}", KEY),
            json => json.to_string(),
        };
        *next.lock().unwrap() = Canned {
            status: u16::try_from(raw["status"].as_u64().unwrap()).unwrap(),
            reason: raw["reason"].as_str().unwrap().to_owned(),
            content_type: raw["content_type"].as_str().map(str::to_owned),
            body: body.into_bytes(),
            close: true,
        };
        let error = match raw["call"].as_str().unwrap() {
            "zone" => client.zone(&Name::new("z.example")).await.unwrap_err(),
            _ => client.server().await.unwrap_err(),
        };
        assert_eq!(
            (variant(&error).as_str(), error.to_string().as_str()),
            (raw["variant"].as_str().unwrap(), raw["says"].as_str().unwrap())
        );
        shown(&error);
        assert!(!error.help().is_empty());
    }
    assert!(all.len() >= 30, "{}", all.len());
}

/// A server of the stored answers of `version`.
async fn stored(version: &str) -> Server {
    let mut all: Value = serde_json::from_str(include_str!("data/powerdns/versions.json")).unwrap();
    let answers = all[version].take();
    Server::start(move |seen: &Seen| {
        let accept = seen.headers.iter().any(|(k, v)| k == "accept" && v == "application/json");
        let key = seen.headers.iter().any(|(k, v)| k == "x-api-key" && v == KEY);
        assert!(accept && key && seen.method == "GET" && seen.body.is_empty(), "{seen:?}");
        match &answers[seen.path.strip_prefix("/api/v1").unwrap()] {
            Value::Null => {
                Canned { status: 404, reason: "Not Found".to_owned(), ..Canned::json(r#"{"error":"Not Found"}"#) }
            }
            answer => Canned { close: true, ..Canned::json(&answer.to_string()) },
        }
    })
    .await
}

#[tokio::test]
async fn an_old_version_lacks_fields_and_says_so() {
    let server = stored("4.1.14").await;
    let client = client(&server);
    assert_eq!(client.server().await.unwrap().version.at_least(4, 2), Some(false));
    let head = client.zones(ZoneListing::Lean).await.unwrap().remove(0);
    assert_eq!((head.kind, head.serial, head.dnssec), (ZoneKind::Primary, Some(2_026_112_901), Some(false)));
    assert_eq!((head.edited_serial, head.account), (None, None), "not sent is unknown");
    let zone = client.zone(&Name::new("old.example")).await.unwrap();
    assert_eq!(zone.rrsets.iter().map(|s| s.kind.as_str()).collect::<Vec<_>>(), ["SOA", "A"]);
    assert_eq!((zone.rrsets[1].ttl, zone.rrsets[1].records[0].disabled), (300, false));
    let keys = client.tsig_keys().await.unwrap();
    assert_eq!((keys[0].name.as_str(), keys[0].algorithm.as_str()), ("old", "hmac-md5"));
    assert!(!format!("{keys:?}").contains("czNjcjN0"), "a secret that comes unasked is not kept");
    assert_eq!(client.statistics().await.unwrap().counter("uptime"), Some(17));
    let settings = client.settings().await.unwrap();
    let metadata = client.metadata(&Name::new("old.example")).await.unwrap();
    assert_eq!(metadata.takes_unsigned_updates(&settings), None, "the server's own list of networks is not known");
}

#[tokio::test]
async fn a_current_version_is_read_whole() {
    let server = stored("4.9.18").await;
    let client = client(&server);
    let zone = client.zone(&Name::new("OLD.example.")).await.unwrap();
    assert_eq!((zone.head.edited_serial, zone.head.account.as_deref()), (Some(8), Some("tdemo")));
    let names: Vec<_> = zone.rrsets.iter().map(|s| (s.name.as_str(), s.kind.as_str())).collect();
    let apex = [("old.example", "SOA"), ("old.example", "NS")];
    assert_eq!(names, [apex[0], apex[1], ("gone.old.example", "A"), ("www.old.example", "A")]);
    assert!(zone.rrsets[2].records.is_empty() && zone.rrsets[2].comments[0].modified_at == Some(1_790_000_000));
    assert!(!zone.rrsets[3].ttl_is_valid(), "-1, as 4.7 stores it");
    assert_eq!(zone.rrsets[1].records[0].content.target(), Name::new("ns1.old.example"));
    assert_eq!(client.tsig_keys().await.unwrap().len(), 2, "one name with two algorithms");
    assert_eq!(client.statistics().await.unwrap().values.len(), 1, "rings and maps are left out");
    let settings = client.settings().await.unwrap();
    assert_eq!(settings.get("api-key"), None);
    let metadata = client.metadata(&Name::new("old.example")).await.unwrap();
    assert_eq!(metadata.update_networks().len(), 2);
    assert_eq!(metadata.takes_unsigned_updates(&settings), Some(false));
}

#[tokio::test]
async fn a_newer_version_may_say_more() {
    let server = stored("5.1.0-alpha1").await;
    let client = client(&server);
    let version = client.server().await.unwrap().version;
    assert_eq!(
        (version.numbers, version.at_least(5, 1), version.at_least(5, 2)),
        (Some((5, 1, 0)), Some(true), Some(false))
    );
    let head = client.zones(ZoneListing::Lean).await.unwrap().remove(0);
    assert_eq!((head.kind, head.dnssec), (ZoneKind::Other("Producer".to_owned()), None));
    let zone = client.zone(&Name::new("old.example")).await.unwrap();
    assert_eq!((&zone.head.kind, zone.rrsets[0].kind.as_str()), (&ZoneKind::Secondary, "TYPE65300"));
    let metadata = client.metadata(&Name::new("old.example")).await.unwrap();
    assert_eq!(metadata.values("X-Owner"), ["t␛[2Jdemo"]);
    let settings = client.settings().await.unwrap();
    assert_eq!(metadata.takes_unsigned_updates(&settings), Some(false), "dnsupdate-require-tsig");
}

#[tokio::test]
async fn a_404_is_an_absent_zone_only_when_the_server_answers() {
    let server = stored("4.9.18").await;
    let client = client(&server);
    let name = Name::new("nowhere.example");
    assert_eq!(client.zone(&name).await.unwrap_err(), Error::ZoneAbsent { zone: name.clone() });
    assert_eq!(server.take_seen().last().unwrap().path, "/api/v1/servers/localhost", "it was asked");
    assert_eq!(client.requests().total, 2);
    let off = stored("no such version").await;
    let error = self::client(&off).metadata(&name).await.unwrap_err();
    assert!(matches!(error, Error::NoApi { path: "/servers/localhost", .. }), "{error:?}");
}

#[tokio::test]
async fn a_site_without_an_api_says_so() {
    let mut site = site("http://127.0.0.1:9", PowerDnsMode::DnsOnly, SocketAddr::from(([127, 0, 0, 1], 53)));
    let connect = |site| async move {
        let (key, limits) = (zeroize::Zeroizing::new(KEY.to_owned()), Default::default());
        Client::connect(&site, key, limits, &Default::default(), std::time::Duration::from_secs(5)).await.unwrap_err()
    };
    assert!(!Reach::of(&site).has_api());
    let error = connect(site.clone()).await;
    assert!(shown(&error).contains("dns-only"));
    site.mode = PowerDnsMode::Tunnel;
    site.tunnel = None;
    assert!(shown(&connect(site.clone()).await).contains("names no tunnel"));
    site.mode = PowerDnsMode::Api;
    site.url = None;
    assert!(shown(&connect(site).await).contains("has no url"));
}
