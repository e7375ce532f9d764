//! The lab's DNS servers and the PowerDNS API, asked by a plain client over their sockets.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, which should stop")]

mod lab_client;

use std::str::FromStr as _;

use deevnet_console::lab::Lab;
use hickory_proto::op::{Message, Query, ResponseCode, UpdateMessage as _};
use hickory_proto::rr::rdata::tsig::TsigAlgorithm;
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType, TSigner};
use lab_client::{NOW, addresses, ask, ask_tcp, ede, exchange, lab, query, send_tcp, soa, texts};
use serde_json::Value;

fn signer(lab: &Lab, key: &str) -> TSigner {
    let secret = lab.world().names.keys[key].secret.clone();
    signer_of(key, secret)
}

fn signer_of(key: &str, secret: Vec<u8>) -> TSigner {
    TSigner::new(secret, TsigAlgorithm::HmacSha256, Name::from_str(&format!("{key}.")).unwrap(), 300).unwrap()
}

fn update(zone: &str) -> Message {
    let mut message = Message::new(77, hickory_proto::op::MessageType::Query, hickory_proto::op::OpCode::Update);
    message.add_zone(Query::query(Name::from_str(zone).unwrap(), RecordType::SOA));
    message
}

fn address(name: &str, address: &str) -> Record {
    let data = RData::try_from_str(RecordType::A, address).unwrap();
    Record::from_rdata(Name::from_str(name).unwrap(), 60, data)
}

/// Sends an update over TCP, signed when a key is given: the code, and whether the answer is signed and verifies.
async fn send(lab: &Lab, mut message: Message, key: Option<&TSigner>, at: u64) -> (ResponseCode, bool) {
    let verifier = key.and_then(|key| message.finalize(key, at).unwrap());
    let raw = send_tcp(lab.authoritative().unwrap(), &message.to_vec().unwrap()).await;
    let answer = Message::from_vec(&raw).unwrap();
    let signed = answer.signature().is_some();
    if let (true, Some(mut verifier)) = (signed, verifier) {
        verifier.verify(&raw).unwrap();
    }
    (answer.metadata.response_code, signed)
}

fn now() -> u64 {
    u64::try_from(NOW).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_authoritative_server_answers_as_powerdns_does() {
    let lab = lab(&[]).await;
    let at = lab.authoritative().unwrap();
    let found = ask(at, "app.tdemo.mobile.deevnet.net.", RecordType::A).await;
    assert!(found.metadata.authoritative && !found.metadata.recursion_available);
    assert_eq!(addresses(&found), ["10.20.129.10"]);
    let pointer = ask(at, "10.129.20.10.in-addr.arpa.", RecordType::PTR).await;
    assert_eq!(texts(&pointer), ["app.tdemo.mobile.deevnet.net."]);
    let extra = ask(at, "WEB.tdemo.mobile.deevnet.net.", RecordType::A).await;
    assert_eq!(addresses(&extra), ["10.20.129.10"]);
    let missing = ask(at, "nosuch.tdemo.mobile.deevnet.net.", RecordType::A).await;
    assert_eq!(missing.metadata.response_code, ResponseCode::NXDomain);
    assert_eq!(soa(&missing).unwrap().0, "tdemo.mobile.deevnet.net.");
    let empty = ask(at, "app.tdemo.mobile.deevnet.net.", RecordType::AAAA).await;
    assert_eq!((empty.metadata.response_code, empty.answers.len()), (ResponseCode::NoError, 0));
    assert!(soa(&empty).is_some());
    let foreign = ask(at, "www.example.net.", RecordType::A).await;
    assert_eq!(foreign.metadata.response_code, ResponseCode::Refused);
    let apex = ask(at, "tdemo.mobile.deevnet.net.", RecordType::NS).await;
    assert_eq!(texts(&apex), ["dv02idn001v01.mobile.deevnet.net."]);
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_a_datagram_is_told_over_tcp() {
    use deevnet_console::lab::names::Rrset;
    let lab = lab(&[]).await;
    lab.edit(|world| {
        let zone = world.names.zones.get_mut("tdemo.mobile.deevnet.net.").unwrap();
        let many = (0..100).map(|n| (format!("10.20.129.{n}"), false)).collect();
        zone.set("many.tdemo.mobile.deevnet.net.", "A", Rrset { ttl: 60, records: many, comments: Vec::new() });
    })
    .unwrap();
    for at in [lab.authoritative().unwrap(), lab.resolver().unwrap()] {
        let short = ask(at, "many.tdemo.mobile.deevnet.net.", RecordType::A).await;
        assert!(short.metadata.truncation && short.answers.is_empty());
        let whole = ask_tcp(at, "many.tdemo.mobile.deevnet.net.", RecordType::A).await;
        assert!(!whole.metadata.truncation);
        assert_eq!(whole.answers.len(), 100);
    }
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_change_the_one_state_and_nothing_else_does() {
    let lab = lab(&[]).await;
    let (at, zone) = (lab.authoritative().unwrap(), "tdemo.mobile.deevnet.net.");
    let new = "new.tdemo.mobile.deevnet.net.";
    let serial = || lab.world().names.zones[zone].serial(zone);
    let before = serial();
    let mut add = update(zone);
    add.add_update(address(new, "10.20.129.33"));
    let (own, other) = (signer(&lab, "tdemo"), signer(&lab, "eds"));
    // Policy refuses with a signature, a credential without one.
    assert_eq!(send(&lab, add.clone(), Some(&other), now()).await, (ResponseCode::Refused, true));
    assert_eq!(send(&lab, add.clone(), None, now()).await, (ResponseCode::Refused, false));
    let wrong = signer_of("tdemo", vec![1; 32]);
    assert_eq!(send(&lab, add.clone(), Some(&wrong), now()).await, (ResponseCode::Refused, false));
    assert_eq!(send(&lab, add.clone(), Some(&own), now() - 600).await, (ResponseCode::Refused, false));
    let elsewhere = update("example.net.");
    assert_eq!(send(&lab, elsewhere, Some(&own), now()).await, (ResponseCode::Refused, true));
    let mut outside = update(zone);
    outside.add_update(address("new.eds.mobile.deevnet.net.", "10.20.130.33"));
    assert_eq!(send(&lab, outside, Some(&own), now()).await, (ResponseCode::NotZone, true));
    assert_eq!(serial(), before);
    assert_eq!(send(&lab, add.clone(), Some(&own), now()).await, (ResponseCode::NoError, true));
    assert_eq!(addresses(&ask(at, new, RecordType::A).await), ["10.20.129.33"]);
    let first = before.max(2_026_112_900) + 1;
    assert_eq!(serial(), first, "the first of the day");
    assert_eq!(send(&lab, add, Some(&own), now()).await, (ResponseCode::NoError, true), "a repeat changes nothing");
    assert_eq!(serial(), first);
    let mut remove = update(zone);
    let mut gone = Record::update0(Name::from_str(new).unwrap(), 0, RecordType::A).into_record_of_rdata();
    gone.dns_class = DNSClass::ANY;
    remove.add_update(gone);
    assert_eq!(send(&lab, remove, Some(&own), now()).await, (ResponseCode::NoError, true));
    assert_eq!(ask(at, new, RecordType::A).await.metadata.response_code, ResponseCode::NXDomain);
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn isolation_can_be_probed_without_a_trace() {
    let lab = lab(&[]).await;
    let probe = |zone: &str| {
        let mut message = update(zone);
        let name = Name::from_str(&format!("probe.{zone}")).unwrap();
        let mut there = Record::update0(name, 0, RecordType::ANY).into_record_of_rdata();
        there.dns_class = DNSClass::ANY;
        message.add_pre_requisite(there);
        message.add_update(address(&format!("probe.{zone}"), "10.20.129.44"));
        message
    };
    let state = format!("{:?}", lab.world());
    let (tdemo, eds) = ("tdemo.mobile.deevnet.net.", "eds.mobile.deevnet.net.");
    for (key, zone, code) in [
        ("tdemo", tdemo, ResponseCode::NXDomain),
        ("eds", eds, ResponseCode::NXDomain),
        ("tdemo", eds, ResponseCode::Refused),
        ("eds", tdemo, ResponseCode::Refused),
    ] {
        assert_eq!(send(&lab, probe(zone), Some(&signer(&lab, key)), now()).await, (code, true), "{key} in {zone}");
    }
    assert_eq!(format!("{:?}", lab.world()), state);
    // A signed query tells a bad credential from policy.
    let mut asked = query(tdemo, RecordType::SOA, false);
    asked.finalize(&signer_of("tdemo", vec![1; 32]), now()).unwrap();
    let raw = exchange(lab.authoritative().unwrap(), &asked.to_vec().unwrap()).await.unwrap();
    let answer = Message::from_vec(&raw).unwrap();
    assert_eq!((answer.metadata.response_code, answer.signature().is_some()), (ResponseCode::NotAuth, false));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_update_follows_the_metadata() {
    let lab = lab(&["tsig-foreign@tdemo"]).await;
    let zone = "tdemo.mobile.deevnet.net.";
    let add = |name: &str| {
        let mut message = update(zone);
        message.add_update(address(&format!("{name}.{zone}"), "10.20.129.45"));
        message
    };
    let other = lab.world().names.zones[zone].metadata["TSIG-ALLOW-DNSUPDATE"][0].clone();
    assert_ne!(other, "tdemo");
    assert_eq!(send(&lab, add("a"), Some(&signer(&lab, "tdemo")), now()).await, (ResponseCode::Refused, true));
    assert_eq!(send(&lab, add("a"), Some(&signer(&lab, &other)), now()).await, (ResponseCode::NoError, true));
    lab.fault_off("tsig-foreign").unwrap();
    lab.fault_on("update-refused").unwrap();
    assert_eq!(send(&lab, add("b"), Some(&signer(&lab, "tdemo")), now()).await, (ResponseCode::Refused, true));
    lab.fault_off("update-refused").unwrap();
    lab.fault_on("tsig-unbound").unwrap();
    assert_eq!(send(&lab, add("c"), None, now()).await, (ResponseCode::NoError, false), "an open zone");
    lab.fault_off("tsig-unbound").unwrap();
    assert_eq!(lab.world().names.zones[zone].metadata["TSIG-ALLOW-DNSUPDATE"], ["tdemo"], "the fault has stuck");
    assert_eq!(addresses(&ask(lab.authoritative().unwrap(), &format!("c.{zone}"), RecordType::A).await).len(), 1);
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_resolver_answers_as_unbound_does() {
    let lab = lab(&[]).await;
    let at = lab.resolver().unwrap();
    let found = ask(at, "app.tdemo.mobile.deevnet.net.", RecordType::A).await;
    assert!(!found.metadata.authoritative && found.metadata.recursion_available);
    assert_eq!(addresses(&found), ["10.20.129.10"]);
    let pointer = ask(at, "10.129.20.10.in-addr.arpa.", RecordType::PTR).await;
    assert_eq!(texts(&pointer), ["app.tdemo.mobile.deevnet.net."]);
    let site = ask(at, "api.mobile.deevnet.net.", RecordType::A).await;
    assert!(site.metadata.authoritative && site.metadata.recursion_available, "local data");
    assert_eq!(addresses(&site), ["10.20.25.20"]);
    assert_eq!(addresses(&ask(at, "www.example.net.", RecordType::A).await), ["198.51.100.10"]);
    let parent = ask(at, "nosuch.mobile.deevnet.net.", RecordType::A).await;
    assert_eq!(parent.metadata.response_code, ResponseCode::NXDomain);
    assert_eq!(soa(&parent).unwrap().0, "deevnet.net.");
    let built_in = ask(at, "10.200.20.10.in-addr.arpa.", RecordType::PTR).await;
    assert!(built_in.metadata.authoritative);
    assert_eq!(
        (built_in.metadata.response_code, soa(&built_in).unwrap().0),
        (ResponseCode::NXDomain, "10.in-addr.arpa.".to_owned())
    );
    assert_eq!(addresses(&ask(at, "localhost.", RecordType::A).await), ["127.0.0.1"]);
    let snoop = exchange(at, &query("app.tdemo.mobile.deevnet.net.", RecordType::A, false).to_vec().unwrap()).await;
    let snoop = Message::from_vec(&snoop.unwrap()).unwrap();
    assert_eq!((snoop.metadata.response_code, ede(&snoop)), (ResponseCode::Refused, Some(20)));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_resolver_has_heard_it_keeps() {
    let (lab, clock) = lab_client::lab_with_clock(&[]).await;
    let (at, new) = (lab.resolver().unwrap(), "new.tdemo.mobile.deevnet.net.");
    let first = ask(at, new, RecordType::A).await;
    let (_, serial, ttl) = soa(&first).unwrap();
    assert_eq!((first.metadata.response_code, ttl), (ResponseCode::NXDomain, 3600));
    let mut add = update("tdemo.mobile.deevnet.net.");
    add.add_update(address(new, "10.20.129.33"));
    assert_eq!(send(&lab, add, Some(&signer(&lab, "tdemo")), now()).await.0, ResponseCode::NoError);
    clock.advance(100);
    let stale = ask(at, new, RecordType::A).await;
    assert_eq!(
        (stale.metadata.response_code, soa(&stale)),
        (ResponseCode::NXDomain, Some(("tdemo.mobile.deevnet.net.".to_owned(), serial, 3500)))
    );
    clock.advance(3500);
    assert_eq!(addresses(&ask(at, new, RecordType::A).await), ["10.20.129.33"]);
    lab.shutdown().await;
}

async fn api(lab: &Lab, path: &str) -> (u16, Value) {
    let key = std::fs::read_to_string(lab.dir().join("powerdns-key")).unwrap().trim().to_owned();
    let url = format!("{}/api/v1/servers/localhost{path}", lab.powerdns_url().unwrap());
    let request = reqwest::Client::new().get(url).header("X-API-Key", key).header("Accept", "application/json");
    let answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["connection"], "close");
    (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_of_powerdns_tells_the_same_zones() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let lab = lab(&[]).await;
    assert_eq!(api(&lab, "").await.1["version"], "4.9.17");
    let (_, zones) = api(&lab, "/zones?dnssec=false").await;
    assert_eq!(zones.as_array().unwrap().len(), 12, "two for each of six tenants");
    assert!(zones[0].get("dnssec").is_none());
    let (_, zone) = api(&lab, "/zones/tdemo.mobile.deevnet.net").await;
    let app =
        zone["rrsets"].as_array().unwrap().iter().find(|set| set["name"] == "app.tdemo.mobile.deevnet.net.").unwrap();
    assert_eq!(
        (&app["type"], &app["ttl"], &app["records"][0]["content"]),
        (&"A".into(), &300.into(), &"10.20.129.10".into())
    );
    let (_, metadata) = api(&lab, "/zones/tdemo.mobile.deevnet.net./metadata/TSIG-ALLOW-DNSUPDATE").await;
    assert_eq!(metadata["metadata"], serde_json::json!(["tdemo"]));
    assert_eq!(api(&lab, "/zones/tdemo.mobile.deevnet.net./metadata/SOA-EDIT-API").await.0, 422);
    let (_, keys) = api(&lab, "/tsigkeys").await;
    assert!(keys.as_array().unwrap().iter().all(|key| key["key"] == ""));
    let (_, key) = api(&lab, "/tsigkeys/tdemo.").await;
    assert_eq!((&key["algorithm"], key["key"].as_str().unwrap().len()), (&"hmac-sha256".into(), 44));
    assert_eq!(api(&lab, "/zones/nosuch.").await, (404, serde_json::json!({"error": "Not Found"})));
    assert_eq!(api(&lab, "/statistics?statistic=nosuch").await.0, 422);
    let (_, counted) = api(&lab, "/statistics?statistic=udp-queries").await;
    assert!(counted[0]["value"].as_str().unwrap().parse::<u64>().unwrap() > 0);
    let url = format!("{}/api/v1/servers", lab.powerdns_url().unwrap());
    let stranger = reqwest::Client::new().get(url).header("Accept", "application/json").send().await.unwrap();
    assert_eq!(stranger.status(), 401);
    assert_eq!(stranger.headers()["www-authenticate"], "X-API-Key realm=\"PowerDNS\"");
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_workload_of_a_full_site_has_its_name_both_ways() {
    let (lab, _) = lab_client::start(Some(62), Some(3), &[], true).await;
    let world = lab.world();
    assert_eq!(world.perimeter.forwards.len(), 2 * 62);
    let mut named = 0;
    for guest in world.guests.values().filter(|guest| guest.address.is_some()) {
        let (address, _) = guest.address.unwrap();
        let name = guest.text("name").unwrap();
        let (tenant, workload) = name.split_once('-').unwrap();
        let full = format!("{workload}.{tenant}.mobile.deevnet.net.");
        let pointer = format!("{}.in-addr.arpa.", deevnet_console::lab::names::backwards(&address.to_string()));
        for at in [lab.authoritative().unwrap(), lab.resolver().unwrap()] {
            assert_eq!(addresses(&ask(at, &full, RecordType::A).await), [address.to_string()], "{full}");
            assert_eq!(texts(&ask(at, &pointer, RecordType::PTR).await), std::slice::from_ref(&full), "{pointer}");
        }
        named += 1;
    }
    assert_eq!(named, 62 * 3);
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_site_file_names_the_second_half_when_it_is_served() {
    use deevnet_console::site::Site;
    let lab = lab(&[]).await;
    let site = Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap();
    assert_eq!(site.warnings, Vec::<String>::new());
    assert_eq!(site.powerdns.as_ref().map(|powerdns| powerdns.dns), lab.authoritative());
    assert_eq!(site.powerdns.unwrap().url, lab.powerdns_url());
    assert_eq!(Some(site.opnsense.unwrap().url), lab.opnsense_url());
    let resolvers = site.resolvers.unwrap();
    assert_eq!((resolvers.perimeter, Some(resolvers.ask)), ("10.20.50.1".parse().unwrap(), lab.resolver()));
    for secret in ["powerdns-key", "opnsense-key", "opnsense-secret"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(lab.dir().join(secret)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
    lab.shutdown().await;
    let (half, _) = lab_client::start(None, None, &[], false).await;
    assert_eq!(
        (half.powerdns_url(), half.opnsense_url(), half.authoritative(), half.resolver()),
        (None, None, None, None)
    );
    let site = Site::parse(&half.site_toml(), &half.dir().join("site.toml")).unwrap();
    assert!(site.powerdns.is_none() && site.opnsense.is_none() && site.resolvers.is_none());
    half.shutdown().await;
}
