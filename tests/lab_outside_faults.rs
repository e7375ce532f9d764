//! Each fault of names and of the perimeter, as its sockets show it, and that it goes without a trace.

mod lab_client;

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::RecordType;
use lab_client::{Perimeter, ask, exchange, lab, lab_with_clock, query, soa, texts, try_ask};

const APP: &str = "app.tdemo.mobile.deevnet.net.";
const ZONE: &str = "tdemo.mobile.deevnet.net.";
const POINTER: &str = "10.129.20.10.in-addr.arpa.";

#[tokio::test(flavor = "multi_thread")]
async fn forwards_that_are_wrong_differ_in_what_the_resolver_says() {
    let lab = lab(&[]).await;
    let (at, firewall) = (lab.resolver().unwrap(), Perimeter::of(&lab));
    let domain = ZONE.trim_end_matches('.');
    for (fault, code, owner) in [
        ("forward-missing", ResponseCode::NXDomain, Some("deevnet.net.")),
        ("forward-disabled", ResponseCode::NXDomain, Some("deevnet.net.")),
        ("forward-wrong-type", ResponseCode::ServFail, None),
        ("rebind-filtered", ResponseCode::NoError, None),
        ("dnssec-bogus", ResponseCode::ServFail, None),
    ] {
        lab.fault_on(fault).unwrap();
        let answer = ask(at, APP, RecordType::A).await;
        assert_eq!((answer.metadata.response_code, answer.answers.len()), (code, 0), "{fault}");
        assert_eq!(soa(&answer).map(|(owner, ..)| owner).as_deref(), owner, "{fault}");
        let row = |rows: Vec<serde_json::Value>| rows.into_iter().find(|row| row["domain"] == domain);
        let plain = row(firewall.rows("unbound/settings/search_forward").await);
        let tls = row(firewall.rows("unbound/settings/search_dot").await);
        match fault {
            "forward-missing" => assert_eq!((plain, tls), (None, None)),
            "forward-wrong-type" => assert_eq!((plain, tls.unwrap()["type"].clone()), (None, "dot".into())),
            "forward-disabled" => assert_eq!(plain.unwrap()["enabled"], "0"),
            _ => assert_eq!(plain.unwrap()["enabled"], "1"),
        }
        let mut unchecked = query(APP, RecordType::A, true);
        unchecked.metadata.checking_disabled = true;
        let unchecked = exchange(at, &unchecked.to_vec().unwrap()).await.unwrap();
        let heard = texts(&Message::from_vec(&unchecked).unwrap());
        assert_eq!(heard == ["10.20.129.10"], fault == "dnssec-bogus", "{fault} with CD");
        lab.fault_off(fault).unwrap();
        assert_eq!(texts(&ask(at, APP, RecordType::A).await), ["10.20.129.10"], "after {fault}");
    }
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reverse_zone_behind_the_built_in_one_is_never_asked_for() {
    let lab = lab(&["builtin-reverse-zone@tdemo"]).await;
    let at = lab.resolver().unwrap();
    let hidden = ask(at, POINTER, RecordType::PTR).await;
    assert_eq!((hidden.metadata.response_code, hidden.metadata.authoritative), (ResponseCode::NXDomain, true));
    assert_eq!(soa(&hidden).unwrap().0, "10.in-addr.arpa.");
    let other = ask(at, "10.130.20.10.in-addr.arpa.", RecordType::PTR).await;
    assert_eq!(texts(&other), ["services.eds.mobile.deevnet.net."]);
    assert_eq!(texts(&ask(lab.authoritative().unwrap(), POINTER, RecordType::PTR).await).len(), 1);
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_denial_ages_and_ends() {
    let (lab, clock) = lab_with_clock(&["negative-cached"]).await;
    let (at, authoritative) = (lab.resolver().unwrap(), lab.authoritative().unwrap());
    let apex = ask(authoritative, ZONE, RecordType::SOA).await;
    let serial: u32 = texts(&apex).first().unwrap().split(' ').nth(2).unwrap().parse().unwrap();
    clock.advance(600);
    let kept = ask(at, APP, RecordType::A).await;
    assert_eq!(kept.metadata.response_code, ResponseCode::NXDomain);
    assert_eq!(soa(&kept).unwrap(), (ZONE.to_owned(), serial - 1, 3000));
    clock.advance(3000);
    assert_eq!(texts(&ask(at, APP, RecordType::A).await), ["10.20.129.10"]);
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn zones_that_are_wrong_show_at_both_servers() {
    let lab = lab(&["zone-missing@eds", "apex-broken@tdemo", "ptr-mismatch@tdemo"]).await;
    let (resolver, authoritative) = (lab.resolver().unwrap(), lab.authoritative().unwrap());
    let eds = "services.eds.mobile.deevnet.net.";
    assert_eq!(ask(authoritative, eds, RecordType::A).await.metadata.response_code, ResponseCode::Refused);
    assert_eq!(ask(resolver, eds, RecordType::A).await.metadata.response_code, ResponseCode::ServFail);
    let apex = ask(authoritative, ZONE, RecordType::SOA).await;
    assert!(texts(&apex).first().unwrap().starts_with("a.misconfigured.dns.server.invalid. hostmaster.tdemo."));
    assert_eq!(texts(&ask(authoritative, ZONE, RecordType::NS).await), Vec::<String>::new());
    assert_eq!(texts(&ask(resolver, APP, RecordType::A).await), ["10.20.129.10"], "forwarding never reads the apex");
    for at in [resolver, authoritative] {
        assert_eq!(texts(&ask(at, POINTER, RecordType::PTR).await), ["app.bench1.mobile.deevnet.net."]);
    }
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_server_is_silent_and_the_other_says_so() {
    let lab = lab(&["auth-down"]).await;
    let (resolver, authoritative) = (lab.resolver().unwrap(), lab.authoritative().unwrap());
    assert!(try_ask(authoritative, APP, RecordType::A).await.is_none());
    assert_eq!(ask(resolver, APP, RecordType::A).await.metadata.response_code, ResponseCode::ServFail);
    assert_eq!(texts(&ask(resolver, "localhost.", RecordType::A).await), ["127.0.0.1"]);
    lab.fault_off("auth-down").unwrap();
    lab.fault_on("resolver-down").unwrap();
    assert!(try_ask(resolver, "localhost.", RecordType::A).await.is_none());
    assert_eq!(Perimeter::of(&lab).get("unbound/service/status").await["status"], "stopped");
    assert_eq!(texts(&ask(authoritative, APP, RecordType::A).await), ["10.20.129.10"]);
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_perimeter_shows_what_it_lets_through() {
    let lab = lab(&[]).await;
    let firewall = Perimeter::of(&lab);
    let rule = async |part: &str| {
        let rows = firewall.rows("firewall/filter/search_rule").await;
        rows.into_iter().find(|row| row["description"].as_str().unwrap().contains(part))
    };
    let counted = async |uuid: &str| firewall.get("firewall/filter_util/rule_stats").await["stats"][uuid].clone();
    let internet = rule("tenant_transit -> internet").await.unwrap();
    assert_eq!((&internet["interface"], &internet["destination_not"]), (&"opt10".into(), &"1".into()));
    let uuid = internet["uuid"].as_str().unwrap();
    assert!(counted(uuid).await["packets"].as_u64().unwrap() > 0);
    lab.fault_on("perimeter-drop").unwrap();
    assert_eq!(rule("tenant_transit -> internet").await.unwrap()["enabled"], "0");
    assert!(counted(uuid).await.is_null(), "what is not compiled is not counted");
    lab.fault_on("perimeter-rule-missing").unwrap();
    assert!(rule("tenant_transit -> platform").await.is_none());
    lab.fault_on("perimeter-leak").unwrap();
    let leak = rule("iot -> tenant_transit").await.unwrap();
    assert_eq!((&leak["interface"], &leak["destination_net"]), (&"opt4".into(), &"10.20.128.0/18".into()));
    let entries = async || firewall.rows("firewall/alias_util/list/deevnet_private").await.len();
    assert_eq!(entries().await, 3);
    lab.fault_on("alias-empty").unwrap();
    assert_eq!(entries().await, 0);
    let routed = async || {
        let kernel = firewall.get("diagnostics/interface/get_routes").await;
        let there = kernel.as_array().unwrap().iter().any(|row| row["destination"] == "10.20.128.0/18");
        (firewall.rows("routes/routes/searchroute").await.len(), there)
    };
    assert_eq!(routed().await, (1, true));
    lab.fault_on("gateway-down").unwrap();
    assert_eq!(routed().await, (1, false));
    let status = firewall.get("routes/gateway/status").await;
    assert_eq!(status["items"][1]["status"], "force_down");
    lab.fault_on("route-missing").unwrap();
    assert_eq!(routed().await, (0, false));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_of_not_being_let_in_looks_its_own_way() {
    let lab = lab(&[]).await;
    lab.edit(|world| world.perimeter.api.unauthorized_delay_ms = 0).unwrap();
    let firewall = Perimeter::of(&lab);
    let status = async || {
        let answer = firewall.request("GET", "core/system/status").send().await.ok()?;
        Some(answer.status().as_u16())
    };
    assert_eq!(status().await, Some(200));
    let stranger = firewall.bare("GET", "core/system/status").send().await.unwrap();
    assert_eq!(
        (stranger.status().as_u16(), stranger.headers()["location"].to_str().unwrap()),
        (302, "/?url=/api/core/system/status")
    );
    for (fault, wanted) in [("fw-auth", Some(401)), ("fw-denied", Some(403)), ("fw-down", None)] {
        lab.fault_on(fault).unwrap();
        assert_eq!(status().await, wanted, "{fault}");
        lab.fault_off(fault).unwrap();
    }
    let key = std::fs::read_to_string(lab.dir().join("powerdns-key")).unwrap();
    let url = format!("{}/api/v1/servers", lab.powerdns_url().unwrap());
    let names = async || {
        let request = reqwest::Client::new().get(&url).header("X-API-Key", key.trim());
        request.send().await.ok().map(|answer| answer.status().as_u16())
    };
    for (fault, wanted) in [("dns-api-auth", Some(401)), ("dns-api-denied", None), ("dns-api-down", None)] {
        lab.fault_on(fault).unwrap();
        assert_eq!(names().await, wanted, "{fault}");
        lab.fault_off(fault).unwrap();
        assert_eq!(names().await, Some(200), "after {fault}");
    }
    lab.fault_on("wrong-workload-resolver@eds").unwrap();
    assert_eq!(lab.world().guests.get(&2080).unwrap().text("nameserver").as_deref(), Some("10.20.25.21"));
    lab.shutdown().await;
}
