//! What a new tenant meets: what others left, what is nobody's, what is in its way.

use deevnet_console::lab::names::{Rrset, Zone};
use deevnet_console::lab::sdn::Kind;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::plan::Question;
use deevnet_console::provision::trouble::TroubleKind;

use super::change_common::Bench;
use super::operators::{Operator, bench};
use super::{LONG, index, open_steps};

const REVERSE: &str = "129.20.10.in-addr.arpa.";

/// A tenant came and went, and its zone of addresses was left, with a pointer to something.
async fn left_over(bench: &Bench, operator: &Operator, pointer: &str) {
    operator.does("onboard", &["picow"]).await;
    let mut zone: Zone = bench.lab.world().names.zones[REVERSE].clone();
    operator.does("tenant-delete", &["picow"]).await;
    zone.set("10.129.20.10.in-addr.arpa.", "PTR", Rrset::one(300, pointer));
    bench.lab.edit(|world| drop(world.names.zones.insert(REVERSE.to_owned(), zone))).unwrap();
}

#[tokio::test]
async fn a_zone_of_addresses_that_is_left_over_comes_to_the_next_tenant_emptied_and_named() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    left_over(&bench, &ann, "app.picow.mobile.deevnet.net.").await;
    let (preview, course) = ann.asks("onboard", &["shop"]).await;
    assert_eq!(index(&preview.plan), 1, "its index is free");
    let riders = preview.riders();
    assert!(
        riders.iter().any(|rider| rider.contains("129.20.10.in-addr.arpa") && rider.contains("picow")),
        "{riders:?}"
    );
    assert!(matches!(preview.question(), Question::Name(_)), "{:?}", preview.question());
    assert_eq!(ann.run((preview, course)).await, Ended::Done);
    let zone = bench.lab.world().names.zones[REVERSE].clone();
    assert!(zone.contents("10.129.20.10.in-addr.arpa.", "PTR").is_empty());
    assert_eq!(zone.metadata["TSIG-ALLOW-DNSUPDATE"], ["shop"]);
    let again = ann.asks("onboard", &["shop"]).await.0;
    assert!(again.is_empty(), "{:#?}", open_steps(&again));
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn a_zone_of_addresses_that_may_be_somebodys_keeps_its_index() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    left_over(&bench, &ann, "app.picow.mobile.deevnet.net.").await;
    for pointer in ["printer.mobile.deevnet.net.", "app.garden.mobile.deevnet.net."] {
        let edit = |world: &mut deevnet_console::lab::state::World| {
            let zone = world.names.zones.get_mut(REVERSE).unwrap();
            zone.set("10.129.20.10.in-addr.arpa.", "PTR", Rrset::one(300, pointer));
        };
        bench.lab.edit(edit).unwrap();
        let why = ann.draft("onboard", &["shop", "index=1"]).await.err().unwrap();
        assert_eq!(why.kind, TroubleKind::Refused);
        assert!(why.text.contains("nothing proves that it is left over"), "{why:?}");
        assert_eq!(index(&ann.asks("onboard", &["shop"]).await.0.plan), 2, "{pointer}");
    }
    // Whose names are served still may come back.
    let served = |world: &mut deevnet_console::lab::state::World| {
        drop(world.names.zones.insert("picow.mobile.deevnet.net.".to_owned(), Zone::default()));
    };
    bench.lab.edit(served).unwrap();
    let why = ann.draft("onboard", &["shop", "index=1"]).await.err().unwrap();
    assert!(why.text.contains("whose names are served still"), "{why:?}");
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn a_zone_of_the_name_that_says_not_whose_it_is_is_not_adopted() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    let own = "shop.mobile.deevnet.net.";
    bench.lab.edit(|world| drop(world.names.zones.insert(own.to_owned(), Zone::default()))).unwrap();
    let why = ann.draft("onboard", &["shop"]).await.err().unwrap();
    assert_eq!(why.kind, TroubleKind::Refused);
    assert!(why.text.contains("neither a mark nor a key says whose it is"), "{why:?}");
    // Its own key says it.
    let keyed =
        Zone { metadata: [("TSIG-ALLOW-DNSUPDATE".to_owned(), vec!["shop".to_owned()])].into(), ..Zone::default() };
    bench.lab.edit(|world| drop(world.names.zones.insert(own.to_owned(), keyed))).unwrap();
    assert!(ann.draft("onboard", &["shop"]).await.is_ok());
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn a_network_that_is_there_already_is_named() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow"]).await;
    // A zone outside the band with a subnet of index 2 that waits.
    bench
        .lab
        .edit(|world| {
            let of = |json: serde_json::Value| json.as_object().unwrap().clone().into_iter().collect();
            let subnet = serde_json::json!({"type": "subnet", "vnet": "picow0", "gateway": "10.20.130.1"});
            world.sdn.set(Kind::Vnet, "lab0", of(serde_json::json!({"type": "vnet", "zone": "lab", "tag": 29_000})));
            world.sdn.set(
                Kind::Zone,
                "lab",
                of(serde_json::json!({"type": "evpn", "controller": "evpn1", "vrf-vxlan": 19_000})),
            );
            let mut subnet = subnet;
            subnet["vnet"] = "lab0".into();
            world.sdn.set(Kind::Subnet, "lab-10.20.130.0-25", of(subnet));
            world.sdn.apply();
        })
        .unwrap();
    let why = ann.draft("onboard", &["shop", "index=2"]).await.err().unwrap();
    assert!(why.text.contains("overlaps subnet 10.20.130.0/25 of VNet lab0"), "{why:?}");
    assert!(ann.draft("onboard", &["shop", "index=3"]).await.is_ok());
    // A rule for one tenant's network, not for all of them.
    bench
        .lab
        .edit(|world| {
            let mut rule = world.perimeter.rules[0].clone();
            rule.uuid = "6a0c0000-0000-4000-8000-00000000ab03".to_owned();
            (rule.enabled, rule.destination, rule.description) =
                (true, "10.20.131.10".to_owned(), "shop door".to_owned());
            world.perimeter.rules.push(rule);
        })
        .unwrap();
    let why = ann.draft("onboard", &["shop", "index=3"]).await.err().unwrap();
    assert!(why.text.contains("rule \"shop door\" of the perimeter"), "{why:?}");
    // A rule for a tenant that is there is its own.
    let own = |world: &mut deevnet_console::lab::state::World| {
        world.perimeter.rules.last_mut().unwrap().destination = "10.20.129.10".to_owned();
    };
    bench.lab.edit(own).unwrap();
    assert!(ann.draft("reconcile", &["picow"]).await.is_ok());
    assert!(ann.draft("onboard", &["shop", "index=3"]).await.is_ok());
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn what_is_asked_of_a_new_name_is_not_asked_of_a_tenant_and_reconcile_makes_none() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    let why = ann.draft("reconcile", &["picow"]).await.err().unwrap();
    assert!(why.kind == TroubleKind::Refused && why.text.contains("there is no tenant picow"), "{why:?}");
    let short = ann.draft("onboard", &["ab"]).await.err().unwrap();
    assert!(short.text.contains("ab is short"), "{short:?}");
    bench
        .lab
        .edit(|world| {
            let zone = serde_json::json!({"type": "evpn", "controller": "evpn1", "vrf-vxlan": 10_004});
            world.sdn.set(Kind::Zone, "ab", zone.as_object().unwrap().clone().into_iter().collect());
            world.sdn.apply();
        })
        .unwrap();
    let made = ann.draft("reconcile", &["ab"]).await.unwrap();
    assert_eq!((made.plan.title.as_str(), index(&made.plan)), ("Reconcile ab", 4));
    drop(ann);
    bench.end().await;
}
