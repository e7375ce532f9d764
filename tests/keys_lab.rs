//! Tenants' update keys on each other's zones, on the lab: what is proven, what is a leak, and what is neither.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail"
)]

mod common;
mod keys_common;

use std::sync::Arc;

use deevnet_console::diagnose::collect::{Check, Wanted};
use deevnet_console::diagnose::rules::keys::{KeyWay, between};
use deevnet_console::diagnose::rules::matrix;
use deevnet_console::lab::Lab;
use deevnet_console::site::Site;
use keys_common::{Seen, ids, look, told};

const ZONE: &str = "tdemo.mobile.deevnet.net.";

async fn lab() -> Lab {
    common::lab_of(Some(3), Some(1), common::clock(), true).await
}

/// Names of the lab's tenants, in order.
fn tenants(lab: &Lab) -> Vec<String> {
    lab.world().names.keys.keys().cloned().collect()
}

async fn keys(lab: &Lab, site: &Arc<Site>, check: Check, tenant: Option<&str>) -> Seen {
    let secrets: Vec<String> = lab.world().names.keys.values().map(|key| keys_common::base64(&key.secret)).collect();
    look(site, &Wanted::of(check, tenant).with_keys(true), &secrets, &common::clock()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_key_is_kept_out_of_all_zones_but_its_own_and_nothing_has_changed() {
    let lab = lab().await;
    let site = common::site(&lab, |text| text);
    let before = format!("{:?}", lab.world());
    let seen = keys(&lab, &site, Check::Isolation, None).await;
    assert_eq!(format!("{:?}", lab.world()), before, "the lab is as it was");
    assert!(!ids(&seen.report).iter().any(|id| id.starts_with("tsig")), "{}", told(&seen.report));
    assert!(seen.report.unknown.iter().all(|u| !u.ids.contains(&"tsig-foreign")), "{}", told(&seen.report));
    let pairs = matrix::pairs(&seen.facts);
    assert!(pairs.len() >= 6 && pairs.iter().all(|pair| pair.keys == KeyWay::KeptOut), "{pairs:?}");
    let tried = seen.facts.keys.as_ref().unwrap();
    assert!(tried.zones.len() == 6 && tried.zones.iter().all(|z| z.before.is_some() && z.before == z.after));
    let table = matrix::Matrix::of(&seen.facts);
    assert!(table.iter().filter(|(.., cell)| cell.keys == Some(KeyWay::KeptOut)).count() >= 6);
    let text = matrix::markdown(&table, &matrix::About::default());
    assert!(text.contains("kept out by the zone's list of keys") && !text.contains("--keys"), "{text}");
    let passed = seen.report.passed.iter().filter(|p| p.id == "tsig-foreign").count();
    assert_eq!(passed, 6, "forward and reverse zones: {}", told(&seen.report));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_asks_for_secrets_unless_told_to() {
    let lab = lab().await;
    let site = common::site(&lab, |text| text);
    let seen = look(&site, &Wanted::of(Check::Isolation, None), &[], &common::clock()).await;
    assert!(seen.facts.keys.is_none());
    let text = matrix::markdown(&matrix::Matrix::of(&seen.facts), &matrix::About::default());
    assert!(text.contains("not run here") && text.contains("--matrix --keys"), "{text}");
    let pairs = matrix::pairs(&seen.facts);
    assert!(pairs.iter().all(|pair| matches!(&pair.keys, KeyWay::NotRun(why) if why.contains("--keys"))), "{pairs:?}");
    assert!(seen.report.unknown.iter().all(|u| !u.ids.contains(&"tsig-foreign")), "{}", told(&seen.report));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_key_and_an_open_zone_are_told_apart() {
    let lab = lab().await;
    let site = common::site(&lab, |text| text);
    let first = tenants(&lab)[0].clone();
    let zone = format!("{first}.mobile.deevnet.net");
    lab.fault_on(&format!("tsig-foreign@{first}")).unwrap();
    let before = format!("{:?}", lab.world());
    let foreign = keys(&lab, &site, Check::Isolation, None).await;
    assert_eq!(format!("{:?}", lab.world()), before, "the lab is as it was");
    let found = foreign
        .report
        .findings
        .iter()
        .find(|f| f.id == "tsig-foreign")
        .unwrap_or_else(|| panic!("{}", told(&foreign.report)));
    assert_eq!(found.subject.name, zone);
    assert!(found.facts.iter().any(|f| f.key == "update.answer" && f.value == "NXDOMAIN, signed"), "{found:?}");
    assert!(!ids(&foreign.report).contains(&"tsig-unbound"), "{}", told(&foreign.report));
    let other = lab.world().names.zones[&format!("{zone}.")].metadata["TSIG-ALLOW-DNSUPDATE"][0].clone();
    assert_eq!(between(&foreign.facts, &other, &first), KeyWay::LetIn);
    lab.fault_off("tsig-foreign").unwrap();

    lab.fault_on(&format!("tsig-unbound@{first}")).unwrap();
    let open = keys(&lab, &site, Check::Isolation, None).await;
    assert!(ids(&open.report).contains(&"tsig-unbound"), "{}", told(&open.report));
    assert!(!ids(&open.report).contains(&"tsig-foreign"), "{}", told(&open.report));
    assert_eq!(between(&open.facts, &other, &first), KeyWay::Open);
    lab.fault_off("tsig-unbound").unwrap();

    // Nobody's updates get in: that a foreign key does not either proves nothing.
    lab.fault_on(&format!("update-refused@{first}")).unwrap();
    let shut = keys(&lab, &site, Check::Isolation, None).await;
    assert!(matches!(between(&shut.facts, &other, &first), KeyWay::NotProven(_)));
    assert!(shut.report.unknown.iter().any(|u| u.ids.contains(&"tsig-foreign")), "{}", told(&shut.report));
    let names = keys(&lab, &site, Check::Dns, None).await;
    assert!(ids(&names.report).contains(&"update-refused"), "{}", told(&names.report));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_tenant_is_about_its_key_and_its_zones() {
    let lab = lab().await;
    let site = common::site(&lab, |text| text);
    let all = tenants(&lab);
    let seen = keys(&lab, &site, Check::Isolation, Some(&all[0])).await;
    assert_eq!(between(&seen.facts, &all[0], &all[1]), KeyWay::KeptOut);
    assert_eq!(between(&seen.facts, &all[1], &all[0]), KeyWay::KeptOut);
    assert!(matches!(between(&seen.facts, &all[1], &all[2]), KeyWay::NotRun(_)));
    let (report, _) = seen.report.about(&all[0]);
    assert!(report.unknown.iter().all(|u| !u.ids.contains(&"tsig-foreign")), "{}", told(&report));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_way_to_the_secret_it_is_not_run_and_says_why() {
    let lab = lab().await;
    let all = tenants(&lab);
    let dns_only = common::site(&lab, |text| {
        let api = text.split_once("[powerdns]\nmode = \"api\"\n").expect("a section").1;
        let own: String = api.lines().take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
        let kept: String =
            own.lines().filter(|line| line.starts_with("dns =")).map(|line| format!("{line}\n")).collect();
        text.replace(&format!("mode = \"api\"\n{own}"), &format!("mode = \"dns-only\"\n{kept}"))
    });
    let read_only = common::site(&lab, |text| text.replace("[site]\n", "[site]\nread_only = true\n"));
    let before = format!("{:?}", lab.world());
    for (site, word) in [(&dns_only, "dns-only"), (&read_only, "read-only")] {
        let seen = keys(&lab, site, Check::Isolation, None).await;
        let way = between(&seen.facts, &all[0], &all[1]);
        assert!(matches!(&way, KeyWay::NotRun(why) if why.contains(word)), "{word}: {way:?}");
        let about = |u: &&deevnet_console::diagnose::finding::Unknown| u.ids.contains(&"tsig-foreign");
        let unknown = seen.report.unknown.iter().find(about).unwrap_or_else(|| panic!("{}", told(&seen.report)));
        assert!(unknown.why.as_ref().unwrap().contains(word), "{unknown:?}");
        assert!(seen.report.passed.iter().all(|p| p.id != "tsig-foreign"), "{}", told(&seen.report));
    }
    // Without a secret it still shows which zones ask for none.
    lab.fault_on(&format!("tsig-unbound@{}", all[0])).unwrap();
    let open = keys(&lab, &dns_only, Check::Isolation, None).await;
    assert!(ids(&open.report).contains(&"tsig-unbound"), "{}", told(&open.report));
    lab.fault_off("tsig-unbound").unwrap();
    // The API turns this host away.
    lab.edit(|world| world.names.api.tokens_known = false).unwrap();
    let site = common::site(&lab, |text| text);
    let denied = keys(&lab, &site, Check::Isolation, None).await;
    assert!(matches!(&between(&denied.facts, &all[0], &all[1]), KeyWay::NotRun(why) if why.contains("API key")));
    lab.edit(|world| world.names.api.tokens_known = true).unwrap();
    assert_eq!(format!("{:?}", lab.world()), before);
    assert!(lab.world().names.zones.contains_key(ZONE) || !all.contains(&"tdemo".to_owned()));
    lab.shutdown().await;
}

/// After a rotation a tenant's key is not called after it any more: what its zones list is tried.
#[tokio::test(flavor = "multi_thread")]
async fn the_key_that_the_zones_list_is_tried_whatever_its_name() {
    let lab = lab().await;
    let all = tenants(&lab);
    let (first, next) = (all[0].clone(), format!("{}-2", all[0]));
    let rename = |world: &mut deevnet_console::lab::state::World| {
        let key = world.names.keys.remove(&first).unwrap();
        world.names.keys.insert(next.clone(), key);
        for zone in world.names.zones.values_mut() {
            for listed in zone.metadata.values_mut().flatten().filter(|listed| **listed == first) {
                listed.clone_from(&next);
            }
        }
    };
    lab.edit(rename).unwrap();
    let site = common::site(&lab, |text| text);
    let seen = keys(&lab, &site, Check::Isolation, None).await;
    let tried = seen.facts.keys.as_ref().unwrap();
    let names: Vec<&str> = tried.keys_of(&first).map(|key| key.name.as_str()).collect();
    assert_eq!(names, [next.as_str()], "{}", told(&seen.report));
    assert_eq!(between(&seen.facts, &first, &all[1]), KeyWay::KeptOut);
    assert_eq!(between(&seen.facts, &all[1], &first), KeyWay::KeptOut);
    // A key of somebody else's that a zone lists is not taken for the tenant's.
    lab.fault_on(&format!("tsig-foreign@{first}")).unwrap();
    let foreign = keys(&lab, &site, Check::Isolation, None).await;
    let tried = foreign.facts.keys.as_ref().unwrap();
    assert_eq!(tried.keys_of(&first).map(|key| key.name.as_str()).collect::<Vec<_>>(), [next.as_str()]);
    assert!(ids(&foreign.report).contains(&"tsig-foreign"), "{}", told(&foreign.report));
    lab.shutdown().await;
}

/// A key of the platform's that every zone lists is nobody's of the tenants: it is neither fetched nor blamed on one of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_no_tenants_is_named_and_not_tried() {
    let lab = lab().await;
    let all = tenants(&lab);
    let list = |world: &mut deevnet_console::lab::state::World| {
        let key = world.names.keys[&all[0]].clone();
        world.names.keys.insert("acme".to_owned(), key);
        for zone in world.names.zones.values_mut() {
            if let Some(listed) = zone.metadata.get_mut("TSIG-ALLOW-DNSUPDATE") {
                listed.extend(["acme".to_owned(), "nobody.invalid".to_owned()]);
            }
        }
    };
    lab.edit(list).unwrap();
    let site = common::site(&lab, |text| text);
    let seen = keys(&lab, &site, Check::Isolation, None).await;
    let tried = seen.facts.keys.as_ref().unwrap();
    for tenant in &all {
        assert_eq!(tried.keys_of(tenant).map(|key| key.name.as_str()).collect::<Vec<_>>(), [tenant.as_str()]);
        let beside = tried.not_own.iter().filter(|key| key.tenant == *tenant).map(|key| key.key.as_str());
        assert_eq!(beside.collect::<Vec<_>>(), ["acme", "nobody.invalid"]);
    }
    assert!(!ids(&seen.report).contains(&"tsig-foreign"), "{}", told(&seen.report));
    lab.shutdown().await;
}
