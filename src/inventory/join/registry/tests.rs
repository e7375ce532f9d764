//! Registry and fabric: who owns a tenant, where the two disagree, and what is not concluded.

use super::super::super::testing::registry::{all, entry, with_registry};
use super::super::super::testing::{Sample, healthy};
use super::super::super::{Class, Gap, GapKind, Inventory, Owner, Presence, SourceHealth, SourceId};
use crate::backends::registry::{Status, Tenant};

/// The healthy site with a registry that lists these.
fn with(tenants: Vec<Tenant>) -> Sample {
    with_registry(Sample::healthy(), tenants)
}

fn owner<'a>(inv: &'a Inventory, name: &str) -> &'a Owner {
    &inv.tenant(name).expect("the tenant").owner
}

#[test]
fn without_a_registry_tenants_are_the_consoles() {
    let inv = healthy();
    assert!(inv.tenants.iter().all(|t| t.owner == Owner::Console));
    assert_eq!(inv.sources.get(SourceId::Registry), &SourceHealth::off());
}

#[test]
fn what_the_registry_lists_is_its_own_and_what_it_does_not_says_so() {
    let mut listed = all();
    listed.retain(|t| t.name != "radio");
    let inv = with(listed).join();
    let registration = owner(&inv, "eds").registration().expect("registered");
    assert_eq!((registration.egress.clone(), registration.only), (Ok(true), false));
    assert_eq!(owner(&inv, "radio"), &Owner::Unregistered);
    assert_eq!(inv.attention, Vec::new(), "a tenant that nobody registered is told, and is no fault");
    assert_eq!(inv.tenants.len(), 6);
}

#[test]
fn a_registry_that_does_not_answer_leaves_the_owner_unknown() {
    let mut s = with(all());
    s.fail(SourceId::Registry, GapKind::NoAnswer, "https://10.20.25.20:8080: connection refused", true);
    let inv = s.join();
    for t in &inv.tenants {
        assert!(matches!(&t.owner, Owner::Unknown(gap) if gap.kind == GapKind::NoAnswer), "{}: {:?}", t.name, t.owner);
    }
    assert_eq!(inv.attention.iter().map(|a| &*a.place).collect::<Vec<_>>(), ["REG"]);
    let mut s = with(all());
    s.registry = None;
    let inv = s.join();
    assert!(inv.tenants.iter().all(|t| matches!(&t.owner, Owner::Unknown(gap) if gap.kind == GapKind::NotRead)));
}

#[test]
fn numbers_that_differ_are_named_and_those_left_out_are_not() {
    let mut listed = all();
    listed[1].index = Some(3);
    listed[2].subnet = Some("10.20.140.0/24".parse().unwrap());
    listed[3].vrf_vni = Some(10004);
    let inv = with(listed).join();
    let fields = |name: &str| -> Vec<_> {
        let registration = owner(&inv, name).registration().expect("registered");
        registration.diffs.iter().map(|d| (d.field.clone(), d.expected.clone(), d.observed.clone())).collect()
    };
    let same = |f: &str, a: &str, b: &str| vec![(f.to_owned(), a.to_owned(), b.to_owned())];
    assert_eq!(fields("eds"), same("index", "2", "3"));
    assert_eq!(fields("greenhse"), same("subnet", "10.20.131.0/24", "10.20.140.0/24"));
    assert_eq!(fields("sensors"), Vec::new());
    let told: Vec<_> = inv.attention.iter().map(|a| (a.class, &*a.place, &*a.what)).collect();
    assert_eq!(
        told,
        [
            (Class::Differs, "eds", "the registry has index 3, the fabric 2"),
            (Class::Differs, "greenhse", "the registry has subnet 10.20.140.0/24, the fabric 10.20.131.0/24"),
        ]
    );
}

#[test]
fn a_tenant_of_the_registry_without_a_zone_is_a_row_of_its_own() {
    let mut listed = all();
    listed.push(Tenant { status: Status::Provisioning, ..entry("orchard", 6) });
    listed.push(entry("twin", 2));
    listed.push(entry("far", 80));
    let inv = with(listed.clone()).join();
    let names: Vec<_> = inv.tenants.iter().map(|t| (t.index, &*t.name)).collect();
    assert_eq!(names[6], (6, "orchard"));
    assert_eq!((names[1], names[2]), ((2, "eds"), (2, "twin")));
    let orchard = inv.tenant("orchard").unwrap();
    assert!(owner(&inv, "orchard").registration().unwrap().only);
    let layers = &orchard.layers;
    assert_eq!((layers.fabric.presence, layers.node.presence), (Presence::Absent, Presence::Absent));
    assert_eq!(layers.workloads.presence, Presence::Absent);
    let eds = inv.tenant("eds").unwrap();
    assert_eq!(inv.workloads_of(eds).len(), 2, "the index is the fabric's");
    assert!(inv.workloads_of(inv.tenant("twin").unwrap()).is_empty());
    let told: Vec<_> = inv.attention.iter().map(|a| &*a.what).collect();
    assert_eq!(
        told,
        [
            "registered with index 80, which no tenant can have",
            "registered as index 6 (provisioning), absent from the fabric",
            "registered as index 2 (ready), absent from the fabric",
        ]
    );
    // Where zones are hidden or were not read, nothing is absent.
    let mut s = with(listed.clone());
    s.pve.zones_hidden = Some(Gap::new(GapKind::Denied, "the token lacks SDN.Audit"));
    let hidden = s.join();
    assert_eq!(hidden.tenant("orchard").unwrap().layers.fabric.presence, Presence::Unknown);
    assert!(hidden.attention.iter().all(|a| !a.what.contains("absent from the fabric")));
    let mut s = with(listed);
    s.pve.sdn = Err(Gap::new(GapKind::Failed, "no"));
    assert!(s.join().tenants.is_empty());
}
