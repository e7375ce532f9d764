//! Invented answers of the oldest and the newest version, every refusal, and how gently the router is asked, so that a
//! clone without recordings tests the same code.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict"
)]

mod loopback;
mod opnsense_common;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deevnet_console::backends::http::{Kind, Limits};
use deevnet_console::backends::opnsense::model::{
    Action, Direction, ForwardKind, GatewayState, NatMode, RuleKind, RuleSet, ServiceState,
};
use deevnet_console::backends::opnsense::{Client, Error, Evidence, Pace, Version, endpoints};
use loopback::{Seen, Server, variant};
use opnsense_common::{AT_ONCE, KEY, Router, SECRET, canned, client_at, everything, json};
use serde_json::{Value, json};
use tokio::time::Instant;

const OLD: &str = "24.7.12";
const NEW: &str = "26.7.2";

fn answers(version: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("data/opnsense/answers.json")).unwrap();
    all[version].clone()
}

async fn router(version: &str) -> (Router, Client) {
    let router = Router::of(&answers(version)).await;
    let client = router.client();
    (router, client)
}

#[tokio::test]
async fn every_invented_refusal_has_its_variant() {
    let all: Vec<Value> = serde_json::from_str(include_str!("data/opnsense/refusals.json")).unwrap();
    let router = Router::start(HashMap::new()).await;
    let client = router.client();
    for raw in &all {
        let status = u16::try_from(raw["status"].as_u64().unwrap()).unwrap();
        router.set(
            "GET firewall/filter_util/rule_stats",
            canned(status, raw["content_type"].as_str().unwrap(), &raw["body"]),
        );
        let error = client.rule_stats().await.unwrap_err();
        assert_eq!(
            (variant(&error).as_str(), error.to_string().as_str()),
            (raw["variant"].as_str().unwrap(), raw["says"].as_str().unwrap())
        );
        let shown = format!("{error} {error:?} {}", error.help());
        assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{shown}");
        assert!(!shown.contains(SECRET) && !shown.contains(KEY), "{shown}");
    }
    assert!(all.len() >= 20, "{}", all.len());
}

#[tokio::test]
async fn the_key_is_in_one_header_and_nowhere_else() {
    use base64::Engine as _;
    let (router, client) = router(NEW).await;
    everything(&client).await;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{KEY}:{SECRET}"));
    let seen = router.server.take_seen();
    assert!(seen.len() > 20);
    for request in &seen {
        let auth: Vec<_> = request.headers.iter().filter(|(k, _)| k == "authorization").collect();
        assert_eq!(auth, [&("authorization".to_owned(), format!("Basic {pair}"))]);
        let rest = format!("{} {:?} {:?}", request.path, request.query, String::from_utf8_lossy(&request.body));
        let headers = request.headers.iter().filter(|(k, _)| k != "authorization");
        let rest = format!("{rest} {:?}", headers.collect::<Vec<_>>());
        assert!(![KEY, SECRET, pair.as_str()].iter().any(|s| rest.contains(s)), "{rest}");
    }
    let shown = format!("{client:?}");
    assert!(![KEY, SECRET, pair.as_str()].iter().any(|s| shown.contains(s)), "{shown}");
}

#[tokio::test]
async fn the_version_is_found_in_three_places() {
    let forbidden = canned(403, "application/json", &json!({"status": 403, "message": "Forbidden"}));
    for (version, series) in [(OLD, Version::new(24, 7, 0)), (NEW, Version::new(26, 7, 0))] {
        let full = Version::parse(version).unwrap();
        let (router, client) = router(version).await;
        assert_eq!(client.known_release(), None);
        let release = client.release().await.unwrap();
        assert_eq!((release.version, release.evidence), (full, Evidence::Firmware));
        assert_eq!(client.known_release(), Some(release));
        router.set("GET core/firmware/status", forbidden.clone());
        let other = router.client();
        // 24.7 knows the second place under its older spelling only.
        if version == OLD {
            router.set("GET diagnostics/system/system_information", forbidden.clone());
        }
        let release = other.release().await.unwrap();
        assert_eq!((release.version, release.evidence), (full, Evidence::SystemInformation));
        for name in ["systemInformation", "system_information"] {
            router.set(&format!("GET diagnostics/system/{name}"), forbidden.clone());
        }
        let release = router.client().release().await.unwrap();
        assert_eq!((release.version, release.evidence), (series, Evidence::RuleFields));
        router.set("GET firewall/filter/get_rule", forbidden.clone());
        assert!(matches!(router.client().release().await, Err(Error::Denied { .. })));
    }
}

fn rule<'a>(set: &'a RuleSet, end: &str) -> &'a deevnet_console::backends::opnsense::model::Rule {
    set.rules.iter().find(|r| r.uuid.ends_with(end)).unwrap()
}

#[tokio::test]
async fn rules_of_the_newest_version_are_whole() {
    let (_router, client) = router(NEW).await;
    let set = client.rules().await.unwrap();
    assert!(set.not_read.is_empty() && !set.counters_cached);
    let kinds: Vec<_> = set.rules.iter().map(|r| r.kind).collect();
    use RuleKind::{Automatic as A, Legacy as L, Managed as M};
    assert_eq!(kinds, [A, A, M, M, M, M, L], "in the order of evaluation");
    let out = rule(&set, "1b01");
    assert_eq!((out.interfaces.as_slice(), out.direction), (&["opt10".to_owned()][..], Direction::In));
    assert_eq!(out.destination.nets, ["deevnet_private"]);
    assert!(out.destination.negated && !out.source.negated && out.quick && out.enabled);
    assert_eq!((out.loaded, out.hits.map(|h| h.packets)), (Some(true), Some(41)));
    let dns = rule(&set, "1b02");
    assert!(dns.source.is_any() && !dns.destination.is_any());
    assert_eq!((dns.protocol.as_str(), dns.destination.port.as_deref()), ("TCP/UDP", Some("53")));
    // Same description, another rule, not loaded although enabled.
    let twin = rule(&set, "1b04");
    assert_eq!((twin.description.as_str(), twin.loaded, twin.hits), (out.description.as_str(), Some(false), None));
    let legacy = rule(&set, LEGACY);
    assert_eq!(legacy.interfaces, ["opt9"], "the id behind the description MANAGEMENT");
    assert!(legacy.origin.as_deref().unwrap().starts_with("firewall_rules"));
    assert_eq!(set.rules[1].action, Action::Unstated);
    assert_eq!(set.loaded_unknown.iter().map(String::as_str).collect::<Vec<_>>(), ["f".repeat(32)]);
}

const LEGACY: &str = "1a1b2c3d4e5f60718293a4b5c6d7e8f9";

#[tokio::test]
async fn the_oldest_version_says_what_it_does_not_tell() {
    let (_router, client) = router(OLD).await;
    let set = client.rules().await.unwrap();
    assert_eq!(set.rules.len(), 4);
    assert!(matches!(&set.not_read[..], [only] if matches!(only.why, Error::NotOffered { .. })), "{:?}", set.not_read);
    // Floating before interface rules, then by sequence.
    let ends: Vec<_> = set.rules.iter().map(|r| r.uuid[r.uuid.len() - 2..].to_owned()).collect();
    assert_eq!(ends, ["03", "02", "01", "04"]);
    let nat = client.source_nat().await.unwrap();
    assert_eq!((nat.mode, nat.manual_applies, nat.rules.len()), (None, Some(true), 1));
    assert_eq!(nat.not_read.len(), 1);
    let route = &client.static_routes().await.unwrap()[0];
    assert_eq!((route.gateway.as_str(), route.enabled), ("TENANT_FABRIC_GW", true));
    assert_eq!(client.aliases().await.unwrap().aliases[0].kind, "network");
    let first = &client.forwards().await.unwrap()[0];
    assert_eq!((first.kind, first.first), (ForwardKind::Forward, None));
    assert_eq!(client.kernel_routes().await.unwrap().len(), 2, "by the spelling of its access list");
}

#[tokio::test]
async fn what_cannot_be_read_is_named_and_leaves_the_rest() {
    let forbidden = canned(403, "application/json", &json!({"status": 403, "message": "Forbidden"}));
    let (router, client) = router(NEW).await;
    router.set("GET firewall/filter_util/rule_stats", forbidden.clone());
    router.set("POST firewall/filter/search_rule", forbidden.clone());
    router.set("POST firewall/source_nat/search_rule", forbidden);
    let set = client.rules().await.unwrap();
    assert_eq!(
        set.not_read.iter().map(|n| n.what).collect::<Vec<_>>(),
        ["legacy and automatic rules", "counters and the loaded set"]
    );
    assert!(set.rules.iter().all(|r| r.loaded.is_none() && r.hits.is_none()), "unknown, not unloaded");
    assert!(set.loaded_unknown.is_empty());
    let nat = client.source_nat().await.unwrap();
    assert_eq!((nat.rules.len(), nat.not_read.len(), nat.mode), (0, 1, Some(NatMode::Hybrid)));
}

#[tokio::test]
async fn cached_counters_prove_no_absence() {
    let (router, client) = router(NEW).await;
    router.set("GET core/firmware/status", json(&json!({"product": {"product_version": "25.7.10"}})));
    let set = client.rules().await.unwrap();
    assert!(set.counters_cached);
    assert_eq!((rule(&set, "1b01").loaded, rule(&set, "1b04").loaded), (Some(true), None));
    router.server.take_seen();
    client.fresh_rule_stats().await.unwrap();
    let seen: Vec<_> = router.server.take_seen().into_iter().map(|s| s.path).collect();
    assert_eq!(seen, ["/api/firewall/filter/flush_inspect_cache", "/api/firewall/filter_util/rule_stats"]);
    // A rule search of this version needs the interfaces named.
    client.rules().await.unwrap();
    let seen = router.server.take_seen();
    let search = seen.iter().find(|s| s.path.ends_with("search_rule")).unwrap();
    let body: Value = serde_json::from_slice(&search.body).unwrap();
    assert_eq!((&body["interface"], &body["show_all"]), (&json!("enc0,lan,lo0,opt10,opt9,wan"), &json!("1")));
}

#[tokio::test]
async fn manual_nat_rules_hidden_by_the_mode_are_found_or_unknown() {
    let (router, client) = router(NEW).await;
    let nat = client.source_nat().await.unwrap();
    assert_eq!(nat.rules.iter().map(|r| r.kind).collect::<Vec<_>>(), [RuleKind::Managed, RuleKind::Automatic]);
    assert_eq!((nat.rules[0].target.as_deref(), nat.rules[0].static_port), (Some("wanip"), Some(false)));
    let automatic = json!({"filter": {"general": {"snat_mode": {"automatic": {"value": "A", "selected": 1}}}}});
    router.set("GET firewall/source_nat/get", json(&automatic));
    let manual = answers(NEW)["POST firewall/source_nat/search_rule"]["rows"][1].clone();
    router.set(
        "POST firewall/source_nat/search_rule",
        json(&json!({"rows": [manual], "rowCount": 1, "total": 1, "current": 1})),
    );
    let nat = client.source_nat().await.unwrap();
    assert_eq!((nat.manual_applies, nat.not_read.len()), (Some(false), 0));
    let kinds: Vec<_> = nat.rules.iter().map(|r| r.kind).collect();
    assert_eq!(kinds, [RuleKind::Managed, RuleKind::Automatic], "the hidden one comes from the filter model");
    router.set("GET firewall/filter/get", canned(403, "application/json", &json!({"status": 403})));
    let nat = client.source_nat().await.unwrap();
    assert_eq!(nat.not_read.iter().map(|n| n.what).collect::<Vec<_>>(), ["manual source NAT rules"]);
}

#[tokio::test]
async fn the_rest_of_the_router_is_typed() {
    let (_router, client) = router(NEW).await;
    assert_eq!(client.uptime().await.unwrap().seconds, Some(3 * 86_400 + 3723));
    let status = client.system_status().await.unwrap();
    assert!(status.rules_refused().unwrap().0.contains("syntax error"));
    let interfaces = client.interfaces().await.unwrap();
    let transit = interfaces.iter().find(|i| i.addresses.iter().any(|a| a.to_string() == "10.20.50.1/24")).unwrap();
    assert_eq!((transit.id.as_deref(), transit.vlan), (Some("opt10"), Some(50)));
    assert_eq!(interfaces.iter().filter(|i| i.id.is_none()).count(), 1);
    assert_eq!(client.table("deevnet_private").await.unwrap().len(), 3);
    assert!(matches!(client.table("../../x").await, Err(Error::BadId { .. })));
    let gateways = client.gateways().await.unwrap();
    assert_eq!((gateways[0].monitored, gateways[1].uuid.as_deref(), gateways[1].address), (Some(false), None, None));
    let health = client.gateway_health().await.unwrap();
    assert_eq!((&health[0].state, &health[0].delay), (&GatewayState::Online, &None));
    assert_eq!((&health[1].state, health[1].address), (&GatewayState::Down, None));
    assert_eq!(health[2].state, GatewayState::Impaired("delay+loss".to_owned()));
    let forwards = client.forwards().await.unwrap();
    assert_eq!(
        (forwards[1].domain.as_str(), forwards[1].final_dot, forwards[1].enabled),
        ("129.20.10.in-addr.arpa", true, false)
    );
    assert_eq!(forwards[2].kind, ForwardKind::Dot);
    let settings = client.resolver_settings().await.unwrap();
    assert_eq!(settings.private_addresses.len(), 2);
    assert_eq!(
        (settings.private_domains.as_slice(), settings.insecure_domains.len()),
        (&["lab.example.net".to_owned()][..], 0)
    );
    assert_eq!(client.resolver_state().await.unwrap(), ServiceState::Running);
    let pf = client.pf_rules().await.unwrap();
    assert!(pf.nat[0].text.starts_with("nat on igc1") && pf.nat[0].label.is_none() && pf.filter[0].label.is_some());
}

#[tokio::test]
async fn states_are_bounded_and_exact() {
    let (router, client) = router(NEW).await;
    let found = client.states_of("10.20.50.22".parse().unwrap(), 1_000_000).await.unwrap();
    assert_eq!(found.states.len(), 2, "10.20.50.225 holds the text but is another address");
    assert!(found.cut, "five match, three came");
    assert_eq!(found.states[1].inside.map(|(a, p)| (a.to_string(), p)), Some(("10.20.50.22".to_owned(), Some(51_234))));
    let seen = router.server.take_seen();
    let body: Value = serde_json::from_slice(&seen[0].body).unwrap();
    assert_eq!(body["rowCount"], json!(1000));
    // Before 26.1.3 a search cuts the colons out and finds nothing: unknown, not none.
    router.set("GET core/firmware/status", json(&json!({"product": {"product_version": "26.1.2"}})));
    let error = router.client().states_of("2001:db8::1".parse().unwrap(), 10).await.unwrap_err();
    assert!(matches!(error, Error::NotOffered { .. }), "{error}");
}

#[tokio::test]
async fn a_list_is_read_to_its_end_or_is_an_error() {
    let served = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&served);
    let row = |i: usize| json!({"uuid": format!("u{i}"), "enabled": "1", "name": format!("a{i}"), "type": "host", "content": ""});
    let server = Server::start(move |seen: &Seen| {
        if seen.method == "GET" {
            return json(&json!(["a1"]));
        }
        count.fetch_add(1, Ordering::SeqCst);
        let body: Value = serde_json::from_slice(&seen.body).unwrap();
        let (current, rows) = (body["current"].as_u64().unwrap() as usize, body["rowCount"].as_u64().unwrap() as usize);
        let from = (current - 1) * rows;
        let page: Vec<Value> = (from..2500.min(from + rows)).map(row).collect();
        json(&json!({"rows": page, "rowCount": page.len(), "total": 2500, "current": current}))
    })
    .await;
    let client = client_at(&server.origin, Limits::default(), AT_ONCE);
    let aliases = client.aliases().await.unwrap().aliases;
    assert_eq!((aliases.len(), served.load(Ordering::SeqCst)), (2500, 3));
    assert_eq!(aliases[2499].name, "a2499");
    assert_eq!((aliases[1].loaded, aliases[2].loaded), (Some(true), Some(false)));
    let short =
        Router::of(&json!({"POST firewall/alias/search_item": {"rows": [], "rowCount": 0, "total": 3, "current": 1}}))
            .await;
    let error = short.client().aliases().await.unwrap_err();
    assert_eq!(error, Error::Incomplete { endpoint: endpoints::ALIASES_LISTED.path.to_owned(), got: 0, total: 3 });
    assert!(error.is_transient());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn one_request_is_in_flight_whoever_asks() {
    let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (a, b) = (Arc::clone(&inside), Arc::clone(&most));
    let server = Server::start(move |_: &Seen| {
        let now = a.fetch_add(1, Ordering::SeqCst) + 1;
        b.fetch_max(now, Ordering::SeqCst);
        for _ in 0..2000 {
            std::thread::yield_now();
        }
        a.fetch_sub(1, Ordering::SeqCst);
        json(&json!({"current": "1", "limit": "2"}))
    })
    .await;
    let client = client_at(&server.origin, Limits::default(), AT_ONCE);
    let tasks: Vec<_> = (0..12)
        .map(|_| {
            let clone = client.clone();
            tokio::spawn(async move { clone.state_table().await.unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!((most.load(Ordering::SeqCst), client.requests().total), (1, 12));
}

#[tokio::test]
async fn requests_and_polls_keep_their_distance() {
    let router = Router::of(&answers(NEW)).await;
    let pace = Pace { requests: Duration::from_millis(30), polls: Duration::from_millis(120) };
    let client = client_at(&router.server.origin, Limits::default(), pace);
    let start = Instant::now();
    for _ in 0..4 {
        client.state_table().await.unwrap();
    }
    assert!(start.elapsed() >= Duration::from_millis(90), "{:?}", start.elapsed());
    let start = Instant::now();
    let other = client.clone();
    client.begin_poll().await;
    other.begin_poll().await;
    client.begin_poll().await;
    assert!(start.elapsed() >= Duration::from_millis(240), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_hung_router_ends_with_the_deadline_and_blocks_nobody() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let hold = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            held.push(socket);
        }
    });
    let limits = Limits { total: Duration::from_millis(150), ..Limits::default() };
    let client = client_at(&origin, limits, AT_ONCE);
    for _ in 0..2 {
        let error = client.rules().await.unwrap_err();
        let Error::Http(http) = &error else { panic!("{error}") };
        assert!(matches!(http.kind, Kind::TimedOut { .. }), "{error}");
        assert!(error.is_transient());
    }
    hold.abort();
}

#[tokio::test]
async fn text_of_the_router_cannot_steer_a_terminal() {
    let mut world = answers(NEW);
    let evil = "x\u{1b}]0;owned\u{7}\u{202e}y\u{9b}2Jz\n";
    let rules = world["GET firewall/filter/get"]["filter"]["rules"]["rule"].as_object_mut().unwrap();
    for rule in rules.values_mut() {
        rule["description"] = json!(evil);
        rule["source_net"] = json!(evil);
    }
    world["POST firewall/alias/search_item"]["rows"][0]["content"] = json!(format!("10.0.0.0/8\n{evil}"));
    world["GET unbound/service/status"]["status"] = json!(evil);
    let router = Router::of(&world).await;
    let client = router.client();
    let mut texts = Vec::new();
    for rule in client.rules().await.unwrap().rules {
        texts.push(rule.description);
        texts.extend(rule.source.nets);
    }
    texts.extend(client.aliases().await.unwrap().aliases.into_iter().flat_map(|a| a.content));
    if let ServiceState::Other(word) = client.resolver_state().await.unwrap() {
        texts.push(word);
    }
    assert!(texts.iter().any(|t| t.contains('x')));
    assert!(!texts.iter().any(|t| t.chars().any(|c| c.is_control() || c == '\u{202e}')), "{texts:?}");
}

#[tokio::test]
async fn every_post_has_a_body_and_no_get_has_one() {
    let (router, client) = router(NEW).await;
    everything(&client).await;
    router.set("GET core/firmware/status", json(&json!({"product": {"product_version": "26.1.3"}})));
    let other = router.client();
    other.fresh_rule_stats().await.unwrap();
    for request in router.server.take_seen() {
        let header = |name: &str| request.headers.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str());
        if request.method == "POST" {
            assert_eq!(header("content-type"), Some("application/json"), "{}", request.path);
            assert!(serde_json::from_slice::<Value>(&request.body).unwrap().is_object(), "{}", request.path);
        } else {
            assert_eq!((header("content-type"), request.body.len()), (None, 0), "{}", request.path);
        }
    }
}
