//! Whose what is missing is: a read that is of one tenant by its path may tell something of another.

use std::collections::BTreeSet;

use crate::by_hand::{Site, get, http, item};
use crate::lint::{FARM, SHOP, site, vnets};
use deevnet_console::diagnose::Diagnosis;
use deevnet_console::diagnose::collect::{Check, Wanted};
use deevnet_console::diagnose::evidence::{Evidence, Item, Kind};
use deevnet_console::diagnose::facts::between::{SCHEMA, WHAT};

/// What is missing in a check of one tenant.
fn missing(site: &Site, tenant: &str) -> BTreeSet<String> {
    let evidence = Evidence { items: site.0.clone(), ..Evidence::default() };
    let diagnosis = Diagnosis::of(&Wanted::of(Check::All, Some(tenant)), evidence, Vec::new());
    diagnosis.report.unknown.into_iter().map(|unknown| unknown.missing).collect()
}

fn misses(site: &Site, tenant: &str, what: &str) -> bool {
    missing(site, tenant).iter().any(|missing| missing.contains(what))
}

fn refused(path: &str) -> Item {
    let why = "Permission check failed (/vms/2081, VM.Audit)";
    http("hv", &format!("GET {path}"), 403, why, &format!(r#"{{"data":null,"message":"{why}\n"}}"#))
}

#[test]
fn packets_that_prove_nothing_are_of_both_ends() {
    let tenant = |name: &str| format!(r#"{{"tenant":"{name}","vrf":"vrf_{name}","subnets":[],"targets":[]}}"#);
    let (shop, farm) = (tenant("shop"), tenant("farm"));
    let sent = format!(r#"{{"schema":"{SCHEMA}","node":"hv","tenants":[{shop},{farm}],"attempts":[]}}"#);
    let unproven = site().and(item("sent", "hv", Kind::Material(WHAT.to_owned()), &sent));
    for tenant in ["shop", "farm"] {
        for from in ["shop", "farm"] {
            let what = format!("whether packets of tenant {from} reach another tenant");
            assert!(misses(&unproven, tenant, &what), "{tenant}: {:#?}", missing(&unproven, tenant));
        }
    }
}

#[test]
fn on_whose_network_an_unread_guest_is_is_everybodys_question() {
    let unread = site().and(refused("/api2/json/nodes/hv/qemu/2081/config"));
    for what in ["nodes/hv/qemu/2081/config of", "on which networks guest 2081 has its cards"] {
        assert!(misses(&unread, "shop", what), "{:#?}", missing(&unread, "shop"));
    }
    // What it does is its own matter, and of a guest that is no tenant's nothing is asked.
    let status = site().and(refused("/api2/json/nodes/hv/qemu/2081/status/current"));
    assert!(!misses(&status, "shop", "2081") && misses(&status, "farm", "2081"));
    assert!(!misses(&site().and(refused("/api2/json/nodes/hv/qemu/120/config")), "shop", "on which networks"));
}

#[test]
fn subnets_that_were_not_read_may_overlap_anybodys() {
    let without = site().without(&format!("GET {FARM}"));
    assert!(misses(&without, "shop", "the subnets of zone farm"), "{:#?}", missing(&without, "shop"));
    assert!(misses(&without.and(refused(FARM)), "shop", "cluster/sdn/vnets/farm0/subnets of"));
    assert!(!misses(&site().without(&format!("GET {SHOP}")), "shop", "the subnets of zone farm"));
}

#[test]
fn a_bridge_that_is_not_listed_may_be_the_other_tenants() {
    let card = r#"{"data":{"name":"farm-app","net0":"virtio=02:00:00:00:00:01,bridge=shop0"}}"#;
    let rights = r#"{"data":{"/sdn/zones/farm":{"SDN.Audit":1}}}"#;
    let hidden = site()
        .with(vnets(r#"{"vnet":"farm0","zone":"farm","tag":950020}"#))
        .and(get("hv", "/api2/json/nodes/hv/qemu/2080/config", card))
        .and(get("hv", "/api2/json/access/permissions", rights));
    for tenant in ["shop", "farm"] {
        assert!(misses(&hidden, tenant, "whose shop0 of farm-app is"), "{tenant}: {:#?}", missing(&hidden, tenant));
    }
}

#[test]
fn a_tag_that_may_be_shared_is_of_all_who_have_it() {
    let twice = vnets(r#"{"vnet":"shop0","zone":"shop","tag":950010},{"vnet":"farm0","zone":"farm","tag":950010}"#);
    let zones = r#"{"data":[{"zone":"shop","type":"evpn","vrf-vxlan":90001,"exitnodes":"hv"}]}"#;
    let one = site().with(twice).with(get("hv", crate::lint::ZONES, zones));
    assert!(misses(&one, "shop", "of what kind zone farm is"), "{:#?}", missing(&one, "shop"));
}
