//! Requests that were refused, several of them at once: each answer is about its own object.

use crate::by_hand::{Site, get, http, item, report};
use deevnet_console::diagnose::evidence::{Item, Kind};
use deevnet_console::diagnose::finding::Finding;

const ZONES: &str = "/api/v1/servers/localhost/zones";

/// A request to make a zone, and how it ended. Files are told apart by `file`.
fn makes(file: &str, zone: &str, status: u16) -> Item {
    let mut item = http("auth", &format!("POST {ZONES}"), status, "", r#"{"error":"refused"}"#);
    let rrset = format!(r#"{{"name":"{zone}.","type":"NS","records":[]}}"#);
    if let Kind::Http(http) = &mut item.kind {
        http.sent = Some(format!(r#"{{"name":"{zone}.","kind":"Native","rrsets":[{rrset}]}}"#));
    }
    Item { file: file.to_owned(), ..item }
}

fn stands(zone: &str, account: &str) -> Item {
    let soa = format!(r#"{{"name":"{zone}.","type":"SOA","records":[{{"content":"ns. op. 1 2 3 4 5"}}]}}"#);
    let body = format!(r#"{{"name":"{zone}.","serial":1,"account":"{account}","rrsets":[{soa}]}}"#);
    get("auth", &format!("{ZONES}/{zone}."), &body)
}

fn found(items: Vec<Item>, id: &str) -> Vec<Finding> {
    report(items).findings.into_iter().filter(|finding| finding.id == id).collect()
}

fn names(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.subject.name.as_str()).collect()
}

#[test]
fn a_try_that_was_refused_for_one_zone_says_nothing_of_another() {
    let both = vec![
        makes("a", "shop.test", 422),
        makes("b", "mail.test", 409),
        stands("shop.test", ""),
        stands("mail.test", "eds"),
    ];
    assert_eq!(names(&found(both.clone(), "zone-of-another")), ["mail.test"]);
    let half = found(both, "zone-half-made");
    assert_eq!(names(&half), ["shop.test"]);
    assert!(half[0].facts.iter().all(|fact| fact.key != "zone.second-try"), "{half:?}");
    let again = vec![makes("a", "shop.test", 422), makes("b", "shop.test", 409), stands("shop.test", "shop")];
    let half = found(again.clone(), "zone-half-made");
    assert!(half[0].facts.iter().any(|fact| fact.key == "zone.second-try"), "{half:?}");
    assert!(found(again, "zone-of-another").is_empty());
}

#[test]
fn a_zone_that_another_account_made_since_is_not_ones_own_half() {
    let since = vec![makes("a", "shop.test", 422), makes("b", "shop.test", 409), stands("shop.test", "eds")];
    assert!(found(since.clone(), "zone-half-made").is_empty());
    assert_eq!(names(&found(since, "zone-of-another")), ["shop.test"]);
}

fn starved(rows: &str) -> Site {
    let message = "unable to create VM 77 - can't find any free ip in zone shop for IPv4";
    let subnets =
        r#"{"data":[{"subnet":"shop-192.0.2.0-24","state":"new","vnet":"shop0","pending":{"cidr":"192.0.2.0/24"}}]}"#;
    Site(vec![
        http("hv", "POST /api2/json/nodes/hv/qemu", 500, message, &format!(r#"{{"data":null,"message":"{message}"}}"#)),
        get("hv", "/api2/json/cluster/sdn/vnets/shop0/subnets?pending=1", subnets),
        get("hv", "/api2/json/cluster/sdn/ipams/pve/status", &format!(r#"{{"data":[{rows}]}}"#)),
    ])
}

#[test]
fn addresses_in_use_are_those_of_the_zone() {
    let of = |zone: &str| format!(r#"{{"zone":"{zone}","ip":"192.0.2.9","vmid":9}}"#);
    let told = |site: Site| site.report().findings.iter().any(|f| f.id == "subnet-not-applied");
    assert!(told(starved("")));
    let finding = starved(&of("eds")).report().findings.into_iter().find(|f| f.id == "subnet-not-applied").unwrap();
    assert!(finding.facts.iter().any(|f| f.key == "addresses.in-use" && f.value == "0"), "{finding:?}");
    assert!(!told(starved(&of("shop"))), "its range may be full");
    assert!(!told(starved(r#"{"ip":"192.0.2.9"}"#)), "whose it is is not told");
    assert!(!told(starved("").without("GET /api2/json/cluster/sdn/ipams")));
}

#[test]
fn refused_removals_are_told_zone_by_zone() {
    let zone = |zone: &str| {
        let message = format!("delete sdn zone object failed: zone {zone} is used by vnet {zone}0");
        let body = serde_json::json!({"data": null, "message": message}).to_string();
        http("hv", &format!("DELETE /api2/json/cluster/sdn/zones/{zone}"), 500, "", &body)
    };
    let subnet = |zone: &str, octet: u8| {
        let row = format!(r#"{{"subnet":"{zone}-x","cidr":"192.0.{octet}.0/24","zone":"{zone}","vnet":"{zone}0"}}"#);
        get("hv", &format!("/api2/json/cluster/sdn/vnets/{zone}0/subnets"), &format!(r#"{{"data":[{row}]}}"#))
    };
    let guest = r#"{"data":{"name":"web","net0":"virtio=BC:24:11:00:50:21,bridge=eds0"}}"#;
    let all = vec![
        zone("eds"),
        zone("shop"),
        subnet("eds", 2),
        subnet("shop", 3),
        get("hv", "/api2/json/nodes/hv/qemu/77/config", guest),
    ];
    let blocked = found(all, "delete-blocked");
    assert_eq!(names(&blocked), ["eds", "shop"]);
    assert!(blocked[0].title.contains("192.0.2.0/24") && blocked[0].affects.contains(&"77".to_owned()), "{blocked:?}");
    assert!(!blocked[1].title.contains("eds") && blocked[1].affects == ["shop0"], "{blocked:?}");
}

#[test]
fn a_record_that_a_later_reading_does_not_hold_is_gone() {
    let subnets =
        r#"{"data":[{"subnet":"shop-x","cidr":"192.0.2.0/24","zone":"shop","vnet":"shop0","gateway":"192.0.2.1"}]}"#;
    let read = |file: &str, query: &str, value: &str| {
        let set = format!(r#"{{"name":"shop0-gw.shop.test.","type":"A","records":[{{"content":"{value}"}}]}}"#);
        let body = format!(r#"{{"name":"shop.test.","serial":1,"rrsets":[{set}]}}"#);
        Item { file: file.to_owned(), ..get("auth", &format!("{ZONES}/shop.test.{query}"), &body) }
    };
    let told = |items: &[Item]| {
        let subnets = get("hv", "/api2/json/cluster/sdn/vnets/shop0/subnets", subnets);
        !found([&[subnets], items].concat(), "gateway-record-stale").is_empty()
    };
    let (old, new) = (read("old", "", "192.0.2.254"), read("new", "", "192.0.2.1"));
    assert!(told(std::slice::from_ref(&old)) && told(&[new.clone(), old.clone()]));
    assert!(!told(&[old.clone(), new]));
    assert!(!told(&[old.clone(), read("one", "?rrset_name=shop0-gw.shop.test.", "192.0.2.1")]));
    assert!(told(&[old, read("other", "?rrset_name=web.shop.test.&rrset_type=A", "192.0.2.1")]));
}

#[test]
fn material_is_read_as_what_its_name_says() {
    let material = |what: &str, body: &str| item(what, "operator", Kind::Material(what.to_owned()), body);
    let told = |what: &str, body: &str, id: &str| {
        let report = report(vec![material(what, body)]);
        report.findings.iter().any(|f| f.id == id) || report.unknown.iter().any(|u| u.ids.contains(&id_of(id)))
    };
    let step = r#"{"plan":"p","step":1,"what":"apply"}"#;
    assert!(told("the journal as it was found", step, "change-unfinished"));
    assert!(!told("events", step, "change-unfinished"), "steps of something else");
    assert!(told("a request", "add A web 192.0.2.1", "send-whole-set"));
    assert!(!told("a note", "add A web 192.0.2.1", "send-whole-set"), "words that somebody wrote");
}

fn id_of(id: &str) -> &'static str {
    deevnet_console::diagnose::rules::rule(id).unwrap().id
}
