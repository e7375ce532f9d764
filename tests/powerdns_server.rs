//! The reading client against a real PowerDNS server.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict; a skip and a measurement are said aloud"
)]

mod powerdns_common;

use std::sync::{Arc, Mutex};

use deevnet_console::backends::http::{HttpError, Kind, Recorder};
use deevnet_console::backends::powerdns::model::ZoneKind;
use deevnet_console::backends::powerdns::{Error, Name, ZoneListing, endpoints};
use powerdns_common::{KEY, Pdns, client, shown};

#[tokio::test]
async fn every_call_reads_what_is_there() {
    let Some(server) = Pdns::up("every_call_reads_what_is_there") else { return };
    server.seed("tdemo", "tdemo.mobile.deevnet.net", "129.20.10.in-addr.arpa");
    let pdns = server.client();

    let servers = pdns.servers().await.unwrap();
    let one = pdns.server().await.unwrap();
    assert_eq!(servers, std::slice::from_ref(&one));
    assert_eq!((one.id.as_str(), one.daemon.as_deref()), ("localhost", Some("authoritative")));
    assert_eq!(one.version.at_least(4, 7), Some(true), "{}", one.version);
    eprintln!("PowerDNS {}", one.version);

    let statistics = pdns.statistics().await.unwrap();
    assert!(statistics.counter("udp-queries").is_some() && statistics.counter("dnsupdate-queries").is_some());
    assert_eq!(statistics.counter("no-such-counter"), None);
    let settings = pdns.settings().await.unwrap();
    assert_eq!(settings.flag("dnsupdate"), Some(true));
    assert_eq!(settings.get("api-key"), None, "only what is needed is kept");

    let (forward, reverse) = (Name::new("tdemo.mobile.deevnet.net"), Name::new("129.20.10.in-addr.arpa"));
    let lean = pdns.zones(ZoneListing::Lean).await.unwrap();
    assert_eq!(lean.iter().map(|z| &z.name).collect::<Vec<_>>(), [&reverse, &forward]);
    assert!(lean.iter().all(|z| z.kind == ZoneKind::Native && z.serial == Some(1) && z.dnssec.is_none()), "{lean:?}");
    let (status, text) = server.api("PUT", "/zones/tdemo.mobile.deevnet.net.", br#"{"dnssec":true}"#);
    assert_eq!(status, 204, "{text}");
    let full = pdns.zones(ZoneListing::WithDnssec).await.unwrap();
    assert_eq!(full.iter().map(|z| z.dnssec).collect::<Vec<_>>(), [Some(false), Some(true)]);

    let zone = pdns.zone(&forward).await.unwrap();
    assert_eq!(zone.head, pdns.zone_head(&forward).await.unwrap());
    assert_eq!(zone.rrsets.iter().map(|s| s.kind.as_str()).collect::<Vec<_>>(), ["SOA", "NS"]);
    let ns = zone.rrset(&forward, "NS").unwrap();
    assert_eq!(ns.records[0].content.target(), Name::new("ns1.tdemo.mobile.deevnet.net."));
    assert!(ns.ttl_is_valid() && zone.served() == 2 && !zone.bytes_replaced);

    let metadata = pdns.metadata(&forward).await.unwrap();
    assert_eq!(metadata.update_keys(), [Name::new("TDEMO.")]);
    assert_eq!(metadata.update_networks(), ["127.0.0.0/8"]);
    assert_eq!(metadata.takes_unsigned_updates(&settings), Some(false));
    let (status, _) =
        server.api("PUT", "/zones/129.20.10.in-addr.arpa./metadata/TSIG-ALLOW-DNSUPDATE", br#"{"metadata":[]}"#);
    assert_eq!(status, 200);
    let open = pdns.metadata(&reverse).await.unwrap();
    assert_eq!(open.takes_unsigned_updates(&settings), Some(true), "an empty list of keys is an open zone");

    let keys = pdns.tsig_keys().await.unwrap();
    assert_eq!((keys.len(), &keys[0].name, keys[0].algorithm.as_str()), (1, &Name::new("tdemo"), "hmac-sha256"));
    let secret = server.secret("tdemo");
    assert!(secret.len() > 40 && !format!("{keys:?}").contains(&secret));

    let counts = pdns.requests();
    assert_eq!(counts.by_endpoint.values().sum::<u64>(), counts.total);
    let open = endpoints::ALL.iter().filter(|endpoint| !endpoint.secret).count();
    assert_eq!(counts.by_endpoint.len(), open, "every endpoint without a secret was asked: {counts:?}");
}

#[tokio::test]
async fn a_secret_is_fetched_on_request_and_heard_of_by_nobody() {
    let Some(server) = Pdns::up("a_secret_is_fetched_on_request_and_heard_of_by_nobody") else { return };
    server.seed("tdemo", "tdemo.mobile.deevnet.net", "129.20.10.in-addr.arpa");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let pdns = server.client().recorded(Recorder::new(move |exchange| listener.lock().unwrap().push(exchange.target)));
    let told = pdns.tsig_secret(&Name::new("TDEMO.")).await.unwrap();
    assert_eq!((told.secret.expose(), told.algorithm.as_str()), (server.secret("tdemo").as_str(), "hmac-sha256"));
    assert!(!format!("{told:?}").contains(&server.secret("tdemo")) && heard.lock().unwrap().is_empty());
    let absent = pdns.tsig_secret(&Name::new("nobody")).await.unwrap_err();
    assert!(matches!(absent, Error::KeyAbsent { .. }), "{absent:?}");
    assert_eq!(*heard.lock().unwrap(), ["/api/v1/servers/localhost"], "whether the API is there at all");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it measures")]
async fn ten_thousand_records_are_read_at_once() {
    let Some(server) = Pdns::up("ten_thousand_records_are_read_at_once") else { return };
    server.add_zone("big.example.");
    let sets: Vec<String> = (0..10_000)
        .map(|i| {
            let (a, b) = (i / 250, i % 250);
            format!(
                r#"{{"name":"w{i}.big.example.","type":"A","ttl":300,"changetype":"REPLACE","records":[{{"content":"10.20.{a}.{b}"}}]}}"#
            )
        })
        .collect();
    server.patch("big.example.", sets.join(",").as_bytes());
    let pdns = server.client();
    let before = resident("VmRSS:");
    // Linux starts the high-water mark anew.
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let begin = std::time::Instant::now();
    let zone = pdns.zone(&Name::new("big.example")).await.unwrap();
    let took = begin.elapsed();
    eprintln!(
        "10,000 records: {} ms; resident {} KiB more, at most {} KiB more{}",
        took.as_millis(),
        resident("VmRSS:").saturating_sub(before),
        resident("VmHWM:").saturating_sub(before),
        if reset { "" } else { " (high-water mark of the whole test)" }
    );
    assert_eq!((zone.served(), zone.rrsets.len()), (10_002, 10_002));
    let one = zone.rrset(&Name::new("w9999.big.example"), "A").unwrap();
    assert_eq!((one.records[0].content.raw(), one.ttl), ("10.20.39.249", 300));
    let begin = std::time::Instant::now();
    let head = pdns.zone_head(&Name::new("big.example")).await.unwrap();
    eprintln!("its head alone: {} ms", begin.elapsed().as_millis());
    assert_eq!(head, zone.head);
}

/// A line of `/proc/self/status` in KiB.
fn resident(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|l| l.strip_prefix(line)).unwrap_or_default();
    found.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

#[tokio::test]
async fn each_way_of_being_kept_out_is_told_apart() {
    let Some(server) = Pdns::up("each_way_of_being_kept_out_is_told_apart") else { return };
    server.add_zone("here.example.");
    let here = Name::new("here.example");
    let pdns = server.client();

    let wrong = client(&server.site(), "wrong");
    for error in [wrong.server().await.unwrap_err(), wrong.zone(&here).await.unwrap_err()] {
        assert_eq!(error, Error::Unauthenticated);
        shown(&error);
    }

    server.stop();
    let stopped = pdns.zones(ZoneListing::Lean).await.unwrap_err();
    assert!(matches!(&stopped, Error::Http(HttpError { kind: Kind::Refused, .. })), "{stopped:?}");
    assert!(stopped.is_transient() && shown(&stopped).contains("connection refused"));

    server.start("api=no");
    let off = pdns.server().await.unwrap_err();
    assert!(matches!(&off, Error::NoApi { path: "/servers/localhost", .. }), "{off:?}");
    assert!(shown(&off).contains("api=yes"));
    let off = pdns.zone(&here).await.unwrap_err();
    assert!(matches!(&off, Error::NoApi { .. }), "a zone is not absent because the API is off: {off:?}");

    server.stop();
    server.start("webserver-allow-from=192.0.2.1");
    let kept_out = pdns.zone(&here).await.unwrap_err();
    assert_eq!(kept_out, Error::SourceRefused { origin: server.origin() });
    assert!(shown(&kept_out).contains("webserver-allow-from") && !kept_out.is_transient());

    server.stop();
    server.start("");
    assert_eq!(pdns.zone(&here).await.unwrap().head.name, here, "the same client goes on when the server is back");
}

#[tokio::test]
async fn a_zone_that_goes_away_is_absent_and_odd_names_are_found() {
    let Some(server) = Pdns::up("a_zone_that_goes_away_is_absent_and_odd_names_are_found") else { return };
    for zone in ["going.example.", "_tcp.a/b.example.", "."] {
        server.add_zone(zone);
    }
    let pdns = server.client();
    let listed = pdns.zones(ZoneListing::Lean).await.unwrap();
    assert_eq!(listed.iter().map(|z| z.name.as_str()).collect::<Vec<_>>(), [".", "_tcp.a/b.example", "going.example"]);
    let (status, _) = server.api("DELETE", "/zones/going.example.", b"");
    assert_eq!(status, 204);
    for head in &listed {
        let (zone, metadata) = (pdns.zone(&head.name).await, pdns.metadata(&head.name).await);
        if head.name.as_str() == "going.example" {
            let gone = Error::ZoneAbsent { zone: head.name.clone() };
            assert_eq!((zone.as_ref().unwrap_err(), metadata.as_ref().unwrap_err()), (&gone, &gone));
            assert!(shown(&gone).contains("no zone going.example on this server"));
        } else {
            assert_eq!((&zone.unwrap().head.name, &metadata.unwrap().zone), (&head.name, &head.name));
        }
    }
}

#[tokio::test]
async fn hostile_content_is_kept_whole_and_shown_harmless() {
    let Some(server) = Pdns::up("hostile_content_is_kept_whole_and_shown_harmless") else { return };
    server.add_zone("h.example.");
    let text = |name: &str, content: &str, rest: &str| {
        let content = serde_json::to_string(&format!("\"{content}\"")).unwrap();
        format!(
            r#"{{"name":"{name}.h.example.","type":"TXT","ttl":60,"changetype":"REPLACE","records":[{{"content":{content}{rest}}}]}}"#
        )
    };
    let long = "x".repeat(255);
    let escapes = r"\027[2J\255\200 \034quoted\034 \\";
    let sets = [
        text("raw", "a\u{1b}[31mred\u{202e}txet\u{7}", ""),
        text("ddd", escapes, ""),
        text("long", &long, r#","disabled":true"#),
    ];
    server.patch("h.example.", sets.join(",").as_bytes());
    let comment = b"{\"name\":\"raw.h.example.\",\"type\":\"TXT\",\"changetype\":\"REPLACE\",\"comments\":[{\"content\":\"by \\u001b]0;x\\u0007\xff\",\"account\":\"\xe2\x80\xaeops\"}]}";
    server.patch("h.example.", comment);

    let zone = server.client().zone(&Name::new("h.example")).await.unwrap();
    assert!(zone.bytes_replaced, "a byte that is not UTF-8 was in the answer");
    let content = |name: &str| {
        let set = zone.rrset(&Name::new(name), "TXT").unwrap();
        (set.records[0].content.raw().to_owned(), set.records[0].content.to_string(), set.records[0].disabled)
    };
    assert_eq!(
        content("raw.h.example"),
        ("\"a\u{1b}[31mred\u{202e}txet\u{7}\"".into(), "\"a␛[31mredtxet␇\"".into(), false)
    );
    let quoted = format!("\"{escapes}\"");
    assert_eq!(content("ddd.h.example"), (quoted.clone(), quoted, false));
    assert_eq!(content("long.h.example").0.len(), 257);
    assert!(content("long.h.example").2, "a disabled record is not served, and not left out");
    assert_eq!(zone.served(), 4);
    let comment = &zone.rrset(&Name::new("raw.h.example"), "TXT").unwrap().comments[0];
    assert_eq!((comment.text.as_str(), comment.account.as_str()), ("by ␛]0;x␇\u{fffd}", "ops"));
    assert!(!format!("{zone:?}").chars().any(|c| c.is_control() || c == '\u{202e}'));

    // A TXT without quotes, put into the database behind the server's back (facts/dns.md §3).
    server.sql("INSERT INTO records (domain_id, name, type, content, ttl, disabled, auth) SELECT id, 'bad.h.example', 'TXT', 'no quotes', 60, 0, 1 FROM domains");
    match server.client().zone(&Name::new("h.example")).await {
        Err(error @ Error::ServerFault { status: 500, .. }) => assert!(shown(&error).contains("TXT without quotes")),
        Ok(zone) => assert!(zone.rrset(&Name::new("bad.h.example"), "TXT").is_some(), "5.1 copes"),
        Err(other) => panic!("{other:?}"),
    }
}

/// A log that a test can look into.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_key_is_in_no_log_and_no_debug_text() {
    let Some(server) = Pdns::up("the_key_is_in_no_log_and_no_debug_text") else { return };
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    // This runtime has one thread: everything that is logged for these calls is logged on it.
    let guard = tracing::subscriber::set_default(subscriber);
    let pdns = server.client();
    pdns.server().await.unwrap();
    pdns.zone(&Name::new("nowhere.example")).await.unwrap_err();
    let debug = format!("{pdns:?}");
    drop(guard);
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("api/v1/servers/localhost"), "the log has the requests: {logged}");
    assert!(!logged.contains(KEY) && !debug.contains(KEY), "{debug}");
}
