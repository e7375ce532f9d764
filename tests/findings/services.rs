//! Check-ins and the registry: what is found, and what nobody can say.

use crate::by_hand::{Site, get, item};
use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::evidence::{Item, Kind};
use deevnet_console::diagnose::facts::services::{CHECKINS, OF_CHECKINS, OF_REGISTRY, REGISTRY};

const ZONES: &str = "/api2/json/cluster/sdn/zones?running=1";
const RIGHTS: &str = "/api2/json/access/permissions";
const GUESTS: &str = "/api2/json/cluster/resources";
const CONFIG: &str = "/api2/json/nodes/hv/qemu/2040/config";
const NOW: &str = "2026-11-30T12:00:00Z";
const OWN: &str = "11111111-1111-4111-8111-111111111111";
const OTHER: &str = "22222222-2222-4222-8222-222222222222";

fn rights(paths: &str) -> Item {
    get("hv", RIGHTS, &format!(r#"{{"data":{{{paths}}}}}"#))
}

fn material(what: &str, body: &str) -> Item {
    Item { at: NOW.parse().ok(), ..item(what, "console", Kind::Material(what.to_owned()), body) }
}

/// One tenant `shop` with index 1, seen by a token that sees everything.
fn site() -> Site {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sites/good/mobile.toml");
    let text = std::fs::read_to_string(file).expect("a site");
    Site(vec![
        item("site.toml", "console", Kind::Material("the site file".to_owned()), &text),
        get("hv", ZONES, r#"{"data":[{"zone":"shop","type":"evpn","vrf-vxlan":10001,"exitnodes":"hv"}]}"#),
        rights(r#""/":{"SDN.Audit":1,"VM.Audit":1,"Sys.Audit":1,"Pool.Audit":1,"Datastore.Audit":1}"#),
    ])
}

fn registered(site: Site, tenants: &str, egress: &str) -> Site {
    let body = format!(r#"{{"schema":"{REGISTRY}","place":"registry","tenants":[{tenants}],"egress":{egress}}}"#);
    site.and(material(OF_REGISTRY, &body))
}

const SHOP: &str = r#"{"name":"shop","index":1,"status":"ready"}"#;
const MAIL: &str = r#"{"name":"mail","index":2,"status":"ready"}"#;

fn ids(report: &Report) -> Vec<&'static str> {
    let own = |id: &&str| id.starts_with("checkin-") || id.starts_with("registry-");
    report.findings.iter().map(|f| f.id).filter(own).collect()
}

fn passes(report: &Report, id: &str) -> bool {
    report.passed.iter().any(|passed| passed.id == id)
}

fn unknown(report: &Report, id: &str) -> bool {
    report.unknown.iter().any(|unknown| unknown.ids.contains(&id))
}

#[test]
fn a_registered_tenant_is_off_the_fabric_only_where_all_zones_are_seen() {
    let both = || registered(site(), &format!("{SHOP},{MAIL}"), r#"[{"tenant":"shop","vrf":"vrf_shop"}]"#);
    assert_eq!(ids(&both().report()), ["registry-only"]);
    for held in [both().with(rights(r#""/sdn/zones/shop":{"SDN.Audit":1}"#)), both().without(&format!("GET {RIGHTS}"))]
    {
        let report = held.report();
        assert!(ids(&report).is_empty() && unknown(&report, "registry-only"), "{:?}", report.unknown);
        let about_shop = report.about("shop").0;
        assert!(!unknown(&about_shop, "registry-only"), "that of another is nothing to shop: {:?}", about_shop.unknown);
    }
    let unread = both().without(&format!("GET {ZONES}")).report();
    assert!(ids(&unread).is_empty(), "{:?}", unread.findings);
    for id in ["registry-record-missing", "registry-differs", "registry-only", "registry-egress-missing"] {
        assert!(unknown(&unread, id), "{id}: {:?}", unread.unknown);
    }
}

#[test]
fn a_ready_tenant_without_a_way_out_in_the_registry_is_told() {
    assert_eq!(ids(&registered(site(), SHOP, "[]").report()), ["registry-egress-missing"]);
    let told = registered(site(), SHOP, r#"[{"tenant":"shop","vrf":"vrf_shop"}]"#).report();
    assert!(ids(&told).is_empty() && passes(&told, "registry-egress-missing"));
    let making = SHOP.replace("ready", "provisioning");
    assert!(ids(&registered(site(), &making, "[]").report()).is_empty());
    let untold = registered(site(), SHOP, "null").report();
    assert!(ids(&untold).is_empty() && unknown(&untold, "registry-egress-missing"));
}

fn report_of(uuid: &str) -> String {
    format!(
        r#"{{"at":"2026-11-30T11:50:00Z","phase":"health","ok":true,"code":"","detail":"","images":[],"generation":1,"smbios_uuid":"{uuid}"}}"#
    )
}

fn token(state: &str, uuid: &str, issued: &str, redeemed: &str) -> String {
    let times = format!(r#""issued_at":"{issued}","redeemed_at":{redeemed}"#);
    format!(r#"{{"kid":"k","state":"{state}",{times},"smbios_uuid":"{uuid}","generation":1}}"#)
}

/// A record of shop/app; `broken` is what is told beside it.
fn checked(token: &str, reports: &str, broken: &str) -> Item {
    let record = format!(
        r#"{{"tenant":"shop","workload":"app","declared":{{"generation":1,"digest":""}},"token":{token},"refusals":[],"reports":[{reports}]}}"#
    );
    let head = format!(r#""schema":"{CHECKINS}","place":"boot","at":"{NOW}""#);
    material(OF_CHECKINS, &format!(r#"{{{head},"records":[{record}],"broken":[{broken}]}}"#))
}

/// shop/app, whose machine has run for that many seconds.
fn machine(uptime: i64) -> Site {
    let guests = r#"{"data":[{"type":"qemu","vmid":2040,"name":"shop-app","node":"hv","status":"running"}]}"#;
    let status = format!(r#"{{"data":{{"status":"running","uptime":{uptime}}}}}"#);
    let mut list = get("hv", GUESTS, guests);
    list.at = NOW.parse().ok();
    site()
        .and(list)
        .and(get("hv", CONFIG, &format!(r#"{{"data":{{"name":"shop-app","smbios1":"uuid={OWN}"}}}}"#)))
        .and(get("hv", "/api2/json/nodes/hv/qemu/2040/status/current", &status))
}

fn redeemed() -> String {
    token("redeemed", OWN, "2026-11-30T10:00:00Z", r#""2026-11-30T10:05:00Z""#)
}

#[test]
fn nobody_is_cleared_where_the_machines_uuid_was_not_read() {
    let well = checked(&redeemed(), &report_of(OWN), "");
    let read = machine(7200).and(well.clone()).report();
    for id in ["checkin-foreign", "checkin-other-instance", "checkin-without-machine"] {
        assert!(passes(&read, id) && !unknown(&read, id), "{id}: {:?}", read.unknown);
    }
    let unread = machine(7200).without(&format!("GET {CONFIG}")).and(well.clone()).report();
    for id in ["checkin-foreign", "checkin-other-instance"] {
        assert!(!passes(&unread, id) && unknown(&unread, id), "{id}: {:?}", unread.unknown);
    }
    assert!(ids(&unread).is_empty(), "and nobody is accused");
    assert!(unknown(&unread.about("shop").0, "checkin-foreign"));
    let partly = machine(7200).without(&format!("GET {GUESTS}")).and(well).report();
    assert!(!passes(&partly, "checkin-without-machine") && unknown(&partly, "checkin-without-machine"));
}

#[test]
fn nobody_is_accused_while_proxmox_names_a_guest_by_its_number_alone() {
    let listed = |more: &str| {
        let list = format!(r#"{{"data":[{{"type":"qemu","vmid":2041,"node":"hw","status":"unknown"{more}}}]}}"#);
        site().and(get("hv", GUESTS, &list)).and(checked(&redeemed(), &report_of(OWN), "")).report()
    };
    // Whose machine 2041 is, its name would tell: it is not shop/app.
    assert_eq!(ids(&listed(r#","name":"shop-db""#)), ["checkin-foreign"]);
    let nameless = listed("");
    assert!(ids(&nameless).is_empty(), "{:?}", nameless.findings);
    for id in ["checkin-foreign", "checkin-without-machine"] {
        let why = nameless.unknown.iter().find(|u| u.ids.contains(&id)).and_then(|u| u.why.as_deref());
        assert!(!passes(&nameless, id) && why.is_some_and(|why| why.contains("hw")), "{id}: {:?}", nameless.unknown);
    }
}

#[test]
fn a_token_of_another_machine_one_without_a_machine_and_one_that_came_late_are_told() {
    let issued = |uuid: &str| checked(&token("issued", uuid, "2026-11-30T11:00:00Z", "null"), "", "");
    assert_eq!(ids(&machine(600).and(issued(OTHER)).report()), ["checkin-other-instance"]);
    let empty = get("hv", GUESTS, r#"{"data":[]}"#);
    assert_eq!(ids(&site().and(empty).and(issued(OWN)).report()), ["checkin-without-machine"]);
    assert_eq!(ids(&machine(7200).and(issued(OWN)).report()), ["checkin-cold-start"]);
}

#[test]
fn what_a_source_does_not_tell_is_missing_of_tenants_that_it_told_nothing_of() {
    let named = |report: &Report, tenant: &str| unknown(&report.about(tenant).0, "checkin-failed");
    let broken = r#"{"number":2,"why":"no tenant"}"#;
    let told = machine(7200).and(checked(&redeemed(), &report_of(OWN), broken)).report();
    assert!(unknown(&told, "checkin-failed"));
    assert!(!named(&told, "shop") && !named(&told, "picow"), "{:?}", told.unknown);
    let lack = format!(r#"{{"schema":"{CHECKINS}","place":"boot","lack":{{"why":"no answer"}}}}"#);
    let silent = machine(7200).and(material(OF_CHECKINS, &lack)).report();
    assert!(named(&silent, "shop") && !named(&silent, "picow"), "{:?}", silent.unknown);
    let filtered =
        machine(7200).with(rights(r#""/vms/2040":{"VM.Audit":1}"#)).and(material(OF_CHECKINS, &lack)).report();
    assert!(named(&filtered, "picow"), "nobody knows whose machines there are");
}

#[test]
fn a_report_of_another_that_tells_no_generation_is_nothing_to_a_tenant() {
    let silent = report_of(OWN).replace(r#""generation":1,"#, "");
    let report = machine(7200).and(checked(&redeemed(), &silent, "")).report();
    assert!(unknown(&report, "checkin-behind"));
    assert!(unknown(&report.about("shop").0, "checkin-behind") && !unknown(&report.about("picow").0, "checkin-behind"));
}
