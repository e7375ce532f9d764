//! Names: one tenant `shop`, its zones at 192.0.2.10, the resolver at 192.0.2.1.

use crate::by_hand::{SILENCE, Site, asked, dig, get, http, item, nothing_unknown};
use deevnet_console::diagnose::evidence::Kind;
use deevnet_console::diagnose::finding::Layer;

const AUTH: &str = "192.0.2.10";
const RESOLVER: &str = "192.0.2.1";
const NAME: &str = "app.shop.test. A";
const REVERSE: &str = "-x 10.9.8.10";
const A: &str = "app.shop.test. 300 IN A 10.9.8.10";
const PTR: &str = "10.8.9.10.in-addr.arpa. 300 IN PTR app.shop.test.";
const SOA: &str = "shop.test. 60 IN SOA ns.test. host.test. 7 10800 3600 604800 60";
const OLD_SOA: &str = "shop.test. 41 IN SOA ns.test. host.test. 6 10800 3600 604800 60";
const ABOVE: &str = "test. 900 IN SOA a.root. b.root. 2026112800 1800 900 604800 86400";

const API: &str = "/api/v1/servers/localhost";
const FORWARDS: &str = "/api/unbound/settings/search_forward";
const DOTS: &str = "/api/unbound/settings/search_dot";

fn row(domain: &str, kind: &str, enabled: &str, port: &str) -> String {
    format!(
        r#"{{"uuid":"u-{domain}","enabled":"{enabled}","type":"{kind}","domain":"{domain}","server":"{AUTH}","port":"{port}"}}"#
    )
}

fn rows(rows: &[String]) -> String {
    format!(r#"{{"rows":[{}],"rowCount":1,"total":1,"current":1}}"#, rows.join(","))
}

fn metadata(kinds: &[(&str, &[&str])]) -> String {
    let all: Vec<_> =
        kinds.iter().map(|(kind, values)| serde_json::json!({"kind": kind, "metadata": values})).collect();
    serde_json::json!(all).to_string()
}

fn zone(serial: u32, rrsets: &[(&str, &str)]) -> String {
    let sets: Vec<_> = rrsets
        .iter()
        .map(|(kind, content)| {
            let records = [serde_json::json!({"content": content, "disabled": false})];
            serde_json::json!({"name": "shop.test.", "type": kind, "ttl": 60, "records": records})
        })
        .collect();
    serde_json::json!({"name": "shop.test.", "kind": "Native", "serial": serial, "soa_edit_api": "INCREASE", "rrsets": sets})
        .to_string()
}

const APEX: [(&str, &str); 2] = [("SOA", "ns.test. host.test. 7 10800 3600 604800 60"), ("NS", "ns.test.")];

/// Everything as it should be.
fn site() -> Site {
    let auth = |question, answer| asked(AUTH, question, &dig("NOERROR", "qr aa", &[answer], &[]));
    let resolver = |question, answer| asked(RESOLVER, question, &dig("NOERROR", "qr rd ra", &[answer], &[]));
    let forwards = rows(&[row("shop.test", "forward", "1", "53"), row("8.9.10.in-addr.arpa", "forward", "1", "53")]);
    Site(vec![
        auth("shop.test. SOA", SOA),
        auth(NAME, A),
        auth(REVERSE, PTR),
        resolver("localhost. A", "localhost. 3600 IN A 127.0.0.1"),
        resolver(NAME, A),
        resolver(REVERSE, PTR),
        get("fw", FORWARDS, &forwards),
        get("fw", DOTS, &rows(&[])),
        get("fw", "/api/unbound/service/status", r#"{"status":"running"}"#),
        get("auth", "/api/v1/servers", r#"[{"id":"localhost","daemon_type":"authoritative"}]"#),
        get(
            "auth",
            &format!("{API}/config"),
            r#"[{"name":"dnsupdate","value":"yes"},{"name":"allow-dnsupdate-from","value":"127.0.0.0/8,::1"}]"#,
        ),
        get("auth", &format!("{API}/zones"), r#"[{"name":"shop.test.","serial":7},{"name":"other.test.","serial":3}]"#),
        get("auth", &format!("{API}/zones/shop.test."), &zone(7, &APEX)),
        get("auth", &format!("{API}/zones/shop.test./metadata"), &bound("shop")),
        get("hv", "/api2/json/nodes/hv/qemu/200/config", &guest(RESOLVER)),
    ])
}

fn bound(key: &str) -> String {
    metadata(&[("TSIG-ALLOW-DNSUPDATE", &[key]), ("ALLOW-DNSUPDATE-FROM", &["192.0.2.0/24"])])
}

fn guest(nameserver: &str) -> String {
    serde_json::json!({"data": {"name": "shop-app", "agent": "1", "nameserver": nameserver}}).to_string()
}

fn resolver_says(status: &str, authority: &[&str]) -> deevnet_console::diagnose::evidence::Item {
    asked(RESOLVER, NAME, &dig(status, "qr rd ra", &[], authority))
}

fn forwards(all: &[String]) -> deevnet_console::diagnose::evidence::Item {
    get("fw", FORWARDS, &rows(all))
}

fn reverse_row() -> String {
    row("8.9.10.in-addr.arpa", "forward", "1", "53")
}

#[test]
fn a_healthy_site_has_no_finding() {
    site().is(&[]);
    nothing_unknown(&site(), &[Layer::Access, Layer::Workload, Layer::Dns]);
    assert!(!site().report().passed.is_empty());
}

#[test]
fn no_forward_is_nxdomain_in_the_words_of_a_zone_above() {
    let missing = site().with(forwards(&[reverse_row()])).with(resolver_says("NXDOMAIN", &[ABOVE]));
    missing.is(&["forward-missing"]);
    // Without one of the two lists nothing is claimed: the row may be in the other.
    missing.clone().without(&format!("GET {DOTS}")).is_unknown("over TLS");
    missing.clone().without(&format!("GET {FORWARDS}")).is_unknown("forwards of the resolver");
    // Nor without the authority's word.
    missing.without(&format!("{AUTH} {NAME}")).is_unknown("authoritative server answers for app.shop.test");
    // The row is there and in force: the resolver believes the parent.
    site().with(resolver_says("NXDOMAIN", &[ABOVE])).is(&["parent-nxdomain-believed"]);
}

#[test]
fn a_forward_that_is_off_is_not_one_that_is_missing() {
    let off = forwards(&[row("shop.test", "forward", "0", "53"), reverse_row()]);
    site().with(off.clone()).with(resolver_says("NXDOMAIN", &[ABOVE])).is(&["forward-disabled"]);
    // Its answers are stripped as well: the same cause.
    site().with(off).with(resolver_says("NOERROR", &[])).is(&["forward-disabled"]);
}

#[test]
fn a_forward_over_tls_to_a_plain_server() {
    let site = site()
        .with(forwards(&[reverse_row()]))
        .with(get("fw", DOTS, &rows(&[row("shop.test", "dot", "1", "53")])))
        .with(resolver_says("SERVFAIL", &[]));
    site.is(&["forward-wrong-type"]);
    // A TLS forward for all names to somebody else is meant.
    let public =
        r#"{"uuid":"u","enabled":"1","type":"dot","domain":"","server":"198.51.100.9","port":"853"}"#.to_owned();
    self::site().with(get("fw", DOTS, &rows(&[public]))).is(&[]);
}

#[test]
fn a_stripped_answer_is_empty_without_an_soa() {
    site().with(forwards(&[reverse_row()])).with(resolver_says("NOERROR", &[])).is(&["rebind-filtered"]);
    // With the zone's SOA of today it is a true absence at the resolver's side; nothing that is known explains it.
    site().with(resolver_says("NOERROR", &[SOA])).is(&[]);
}

#[test]
fn the_built_in_reverse_zone_signs_with_nobody_invalid() {
    let built_in = "10.in-addr.arpa. 10800 IN SOA localhost. nobody.invalid. 1 3600 1200 604800 10800";
    let answer = asked(RESOLVER, REVERSE, &dig("NXDOMAIN", "qr aa rd ra", &[], &[built_in]));
    let site = site().with(forwards(&[row("shop.test", "forward", "1", "53")])).with(answer);
    site.is(&["builtin-reverse-zone"]);
    let report = site.report();
    let fact = report.findings[0].facts.iter().find(|f| f.key == "forward").expect("the forward");
    assert_eq!((fact.subject.as_str(), fact.value.as_str()), ("8.9.10.in-addr.arpa", "none"));
}

#[test]
fn validation_fails_only_while_it_is_done() {
    let bogus = site().with(resolver_says("SERVFAIL", &[]));
    let unchecked = |status, answers: &[&str]| {
        asked(RESOLVER, &format!("{NAME} +cdflag"), &dig(status, "qr rd ra cd", answers, &[]))
    };
    bogus.clone().and(unchecked("NOERROR", &[A])).is(&["dnssec-bogus"]);
    bogus.clone().and(unchecked("SERVFAIL", &[])).is(&[]);
    bogus.is_unknown("with checking disabled");
}

#[test]
fn a_negative_answer_is_dated_by_its_serial() {
    site().with(resolver_says("NXDOMAIN", &[OLD_SOA])).is(&["negative-cached"]);
    site().with(resolver_says("NOERROR", &[OLD_SOA])).is(&["negative-cached"]);
    let report = site().with(resolver_says("NXDOMAIN", &[OLD_SOA])).report();
    assert!(report.findings[0].facts.iter().any(|f| f.key == "answer.seconds-left" && f.value == "41"));
    // Today's serial: not a matter of age.
    site().with(resolver_says("NXDOMAIN", &[SOA])).is(&[]);
    // The name is not there at the source either.
    let neither = asked(AUTH, NAME, &dig("NXDOMAIN", "qr aa", &[], &[SOA]));
    site().with(resolver_says("NXDOMAIN", &[OLD_SOA])).with(neither).is(&[]);
}

fn without_zone() -> Site {
    let refused = dig("REFUSED", "qr", &[], &[]);
    site()
        .with(asked(AUTH, "shop.test. SOA", &refused))
        .with(asked(AUTH, NAME, &refused))
        .with(resolver_says("SERVFAIL", &[]))
        .and(asked(RESOLVER, &format!("{NAME} +cd"), &dig("SERVFAIL", "qr rd ra cd", &[], &[])))
        .with(get("auth", &format!("{API}/zones"), r#"[{"name":"other.test.","serial":3}]"#))
        .with(http("auth", &format!("GET {API}/zones/shop.test."), 404, "Not Found", r#"{"error":"Not Found"}"#))
        .without(&format!("GET {API}/zones/shop.test./metadata"))
}

#[test]
fn a_zone_that_is_not_there() {
    without_zone().is(&["zone-missing"]);
    // 404 under another server id says nothing about the zone.
    site()
        .and(http("auth", "GET /api/v1/servers/ns9/zones/gone.test.", 404, "Not Found", r#"{"error":"Not Found"}"#))
        .is(&["server-id-wrong"]);
}

#[test]
fn a_zone_the_server_has_and_does_not_serve_yet() {
    let refused = dig("REFUSED", "qr rd", &[], &[]);
    let interval = r#"[{"name":"dnsupdate","value":"no"},{"name":"zone-cache-refresh-interval","value":"300"}]"#;
    let clock = |now| {
        let times = format!(r#"{{"created_at":"2026-03-01T08:00:00Z","now":"{now}"}}"#);
        item("clock", "console", Kind::Material("times".to_owned()), &times)
    };
    let young = Site(vec![
        asked("192.0.2.11", "shop.test. SOA", &refused),
        get("auth", &format!("{API}/zones/shop.test.?rrsets=false"), r#"{"name":"shop.test.","serial":1}"#),
        get("auth", &format!("{API}/config"), interval),
    ]);
    young.clone().and(clock("2026-03-01T08:01:00Z")).is(&["zone-not-served"]);
    young.clone().and(clock("2026-03-01T08:09:00Z")).is_unknown("which PowerDNS has");
    young.is_unknown("when shop.test was made");
}

#[test]
fn an_apex_that_is_not_right() {
    let placeholder =
        "shop.test. 60 IN SOA a.misconfigured.dns.server.invalid. host.shop.test. 7 10800 3600 604800 3600";
    site().with(asked(AUTH, "shop.test. SOA", &dig("NOERROR", "qr aa", &[placeholder], &[]))).is(&["apex-broken"]);
    let head = |serial, rrsets: &[(&str, &str)]| get("auth", &format!("{API}/zones/shop.test."), &zone(serial, rrsets));
    site().with(head(7, &APEX[..1])).is(&["apex-broken"]);
    site().with(head(0, &APEX[1..])).is(&["apex-broken"]);
    // An excerpt of the zone tells nothing of its apex.
    site().with(head(7, &[])).is(&[]);
}

fn with_metadata(body: &str) -> Site {
    site().with(get("auth", &format!("{API}/zones/shop.test./metadata"), body))
}

#[test]
fn who_may_update_a_zone() {
    with_metadata(&metadata(&[("ALLOW-DNSUPDATE-FROM", &["192.0.2.0/24"])])).is(&["tsig-unbound"]);
    // An empty list of keys is an open zone too.
    with_metadata(&metadata(&[("TSIG-ALLOW-DNSUPDATE", &[]), ("ALLOW-DNSUPDATE-FROM", &["192.0.2.0/24"])]))
        .is(&["tsig-unbound"]);
    with_metadata(&bound("other")).is(&["tsig-foreign"]);
    // A key that is no zone's beside this one is nobody's that is known.
    with_metadata(&bound("shop-2")).is(&[]);
    with_metadata(&metadata(&[("TSIG-ALLOW-DNSUPDATE", &["shop"])])).is(&["update-refused"]);
    with_metadata("[]").is(&[]);
    let off = r#"[{"name":"dnsupdate","value":"no"}]"#;
    with_metadata(&metadata(&[("ALLOW-DNSUPDATE-FROM", &["192.0.2.0/24"])]))
        .with(get("auth", &format!("{API}/config"), off))
        .is(&[]);
    with_metadata(&metadata(&[("ALLOW-DNSUPDATE-FROM", &["192.0.2.0/24"])]))
        .without(&format!("GET {API}/config"))
        .is_unknown("settings of PowerDNS");
}

#[test]
fn the_servers_own_list_of_networks_adds_to_that_of_each_zone() {
    let config = |from: &str| {
        let both =
            format!(r#"[{{"name":"dnsupdate","value":"yes"}},{{"name":"allow-dnsupdate-from","value":"{from}"}}]"#);
        get("auth", &format!("{API}/config"), &both)
    };
    let unread = format!("GET {API}/config");
    // A zone that lists neither is as open as the server is.
    let neither = with_metadata("[]");
    let open = neither.clone().with(config("192.0.2.0/24"));
    open.is(&["tsig-unbound"]);
    let next: Vec<_> = open.report().findings[0].next.iter().map(|next| next.id).collect();
    assert_eq!(next, ["close-updates-of-server", "bind-tsig-key"], "the zone has no list to take away");
    neither.clone().without(&unread).is_unknown("settings of PowerDNS");
    let passes = |site: &Site| site.report().passed.iter().any(|passed| passed.id == "tsig-unbound");
    assert!(passes(&neither) && !passes(&neither.without(&unread)));
    // A zone with a key takes updates from there without a list of its own.
    let keyed = with_metadata(&metadata(&[("TSIG-ALLOW-DNSUPDATE", &["shop"])]));
    keyed.clone().with(config("192.0.2.0/24")).is(&[]);
    keyed.without(&unread).is_unknown("settings of PowerDNS");
}

#[test]
fn a_serial_that_is_0_by_its_soa_is_no_want_of_one() {
    let soa = APEX[0].1.replace(" 7 ", " 0 ");
    let there = [APEX[0], APEX[1]].map(|(kind, value)| (kind, if kind == "SOA" { soa.as_str() } else { value }));
    let head = |how: &str, rrsets: &[(&str, &str)]| {
        let text = zone(0, rrsets).replace("INCREASE", how);
        site().with(get("auth", &format!("{API}/zones/shop.test."), &text))
    };
    head("BOGUS", &there).is(&["serial-unchanged"]);
    head("", &there).is(&["serial-unchanged"]);
    // A zone that was read as a whole and has none, whatever moves its serial.
    head("BOGUS", &APEX[1..]).is(&["apex-broken", "serial-unchanged"]);
    // It began at 0, and moves with the next change.
    head("INCREASE", &there).is(&[]);
    head("INCREASE", &APEX[1..]).is(&["apex-broken"]);
    // The serial of a copy comes from where it is copied.
    for copy in ["Slave", "Secondary"] {
        let text = zone(0, &there).replace("INCREASE", "").replace("Native", copy);
        site().with(get("auth", &format!("{API}/zones/shop.test."), &text)).is(&[]);
    }
}

#[test]
fn a_zone_of_which_a_part_was_read_may_have_no_soa() {
    let part = |serial: u32, how: &str| {
        let text = zone(serial, &APEX[1..]).replace("INCREASE", how);
        let path = format!("{API}/zones/shop.test.?rrset_name=shop.test.&rrset_type=NS");
        let report = site().and(get("auth", &path, &text)).report();
        let open = report.unknown.iter().any(|unknown| unknown.missing == "whether shop.test has an SOA");
        (open, report.findings.iter().any(|f| f.id == "apex-broken"))
    };
    assert_eq!(part(0, ""), (true, false));
    assert_eq!(part(0, "INCREASE"), (false, true));
    assert_eq!(part(7, ""), (false, false));
}

#[test]
fn a_resolver_that_remembers_the_serial_that_the_zone_has_still_is_not_to_blame() {
    let remembers = |serial: u32| {
        let soa = OLD_SOA.replace(" 6 ", &format!(" {serial} "));
        site().with(resolver_says("NXDOMAIN", &[soa.as_str()]))
    };
    remembers(6).is(&["negative-cached"]);
    remembers(7).is_unknown("why the resolver does not have app.shop.test");
    let stays = zone(7, &APEX).replace("INCREASE", "");
    remembers(7).with(get("auth", &format!("{API}/zones/shop.test."), &stays)).is(&["serial-unchanged"]);
    remembers(6).with(get("auth", &format!("{API}/zones/shop.test."), &stays)).is(&["negative-cached"]);
}

fn updated(said: &str) -> Site {
    let line = "nsupdate -y hmac-sha256:shop:*** < u.txt".to_owned();
    site().and(item("update", "198.51.100.7", Kind::Command { line, exit: Some(2) }, said))
}

#[test]
fn an_unsigned_refusal_is_about_the_credential_and_a_signed_one_never() {
    const UNSIGNED: &str = "; TSIG error with server: expected a TSIG or SIG(0)\nupdate failed: REFUSED\n";
    updated("update failed: REFUSED\n").is(&["update-refused"]);
    updated(UNSIGNED).is_unknown("clock");
    let clock = |at: &str| item("here", "console", Kind::Material("clock".to_owned()), at);
    let mut servers = get("auth", "/api/v1/servers", r#"[{"id":"localhost","daemon_type":"authoritative"}]"#);
    if let Kind::Http(http) = &mut servers.kind {
        http.headers.insert("date".to_owned(), "Sun, 01 Mar 2026 08:00:00 GMT".to_owned());
    }
    let at = |here: &str, said: &str| updated(said).with(servers.clone()).and(clock(here));
    at("2026-03-01T08:00:05Z", UNSIGNED).is(&["update-refused"]);
    at("2026-03-01T08:08:00Z", UNSIGNED).is(&["clock-skew"]);
    let credential = at("2026-03-01T08:00:05Z", UNSIGNED).report();
    assert!(credential.findings[0].next.iter().any(|n| n.id == "check-tsig-key"));
}

#[test]
fn a_reverse_record_that_names_somebody_else() {
    let other = "10.8.9.10.in-addr.arpa. 300 IN PTR web.other.test.";
    site()
        .with(asked(AUTH, REVERSE, &dig("NOERROR", "qr aa", &[other], &[])))
        .with(asked(RESOLVER, REVERSE, &dig("NOERROR", "qr rd ra", &[other], &[])))
        .is(&["ptr-mismatch"]);
    // One of two names it.
    site().with(asked(AUTH, REVERSE, &dig("NOERROR", "qr aa", &[PTR, other], &[]))).is(&[]);
}

#[test]
fn who_is_silent() {
    let auth_down = site()
        .with(asked(AUTH, "shop.test. SOA", SILENCE))
        .with(asked(AUTH, NAME, SILENCE))
        .with(asked(AUTH, REVERSE, SILENCE));
    auth_down.clone().is(&["auth-down"]);
    // The resolver is silent about those names at first, and is not down.
    auth_down.with(asked(RESOLVER, NAME, SILENCE)).is(&["auth-down"]);
    let interfaces = r#"{"rows":[{"identifier":"lan","description":"LAN","addr4":"192.0.2.1/24","gateways":[]}]}"#;
    let known = get("fw", "/api/interfaces/overview/interfaces_info", interfaces);
    let down = site()
        .and(known)
        .with(asked(RESOLVER, "localhost. A", SILENCE))
        .with(asked(RESOLVER, NAME, SILENCE))
        .with(asked(RESOLVER, REVERSE, SILENCE));
    down.is(&["resolver-down"]);
    site().with(get("fw", "/api/unbound/service/status", r#"{"status":"stopped"}"#)).is(&["resolver-down"]);
}

#[test]
fn a_workload_that_asks_the_authority() {
    let guest = |nameserver| get("hv", "/api2/json/nodes/hv/qemu/200/config", &guest(nameserver));
    site().with(guest(AUTH)).is(&["wrong-workload-resolver"]);
    site().with(guest("192.0.2.10 192.0.2.1")).is(&[]);
}

#[test]
fn a_recursor_is_no_authoritative_server() {
    site()
        .and(get("192.0.2.77", "/api/v1/servers", r#"[{"id":"localhost","daemon_type":"recursor"}]"#))
        .is(&["server-is-recursor"]);
}
