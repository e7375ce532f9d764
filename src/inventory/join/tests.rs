//! The join: healthy stays quiet, each difference is told where it is, each missing input is unknown.

use std::sync::Arc;

use super::super::entities::{Inventory, ObjectId, Origin, TenantStatus};
use super::super::testing::{NODE, Sample, healthy};
use super::super::{Class, GapKind, Presence, SourceId};
use crate::backends::exit_node::model::{NatEngine, Readout, RouteKind, Unread, UnreadKind};
use crate::backends::proxmox::model::{self as pve, Change};

fn presences(inv: &Inventory, name: &str) -> [Presence; 3] {
    let layers = &inv.tenant(name).expect("the tenant").layers;
    [layers.fabric.presence, layers.node.presence, layers.workloads.presence]
}

fn fact<'a>(inv: &'a Inventory, tenant: &str, label: &str) -> (Class, &'a str, &'a str) {
    let vrf = inv.vrfs.iter().find(|v| &*v.tenant == tenant).expect("the VRF");
    let f = vrf.facts.iter().find(|f| f.label == label).expect("the fact");
    (f.class, &f.word, &f.value)
}

fn denied<T>(what: &str) -> Readout<T> {
    Readout::Unread(Unread { what: what.into(), why: "not permitted".into(), kind: UnreadKind::Denied })
}

#[test]
fn a_healthy_site_is_present_everywhere_and_asks_for_nothing() {
    let inv = healthy();
    assert_eq!(inv.attention, Vec::new());
    assert_eq!(inv.tenants.len(), 6);
    for t in &inv.tenants {
        let expected = if &*t.name == "bench1" { Presence::Absent } else { Presence::Present };
        assert_eq!(presences(&inv, &t.name), [Presence::Present, Presence::Present, expected], "{}", t.name);
        assert_eq!(t.status, TenantStatus::Ready);
        assert_eq!((t.layers.dns.presence, &*t.layers.dns.words), (Presence::Present, "present"), "{}", t.name);
        assert_eq!(t.layers.bootstrap.presence, expected, "{}", t.name);
    }
    let eds = inv.tenant("eds").expect("eds");
    assert_eq!((eds.index, eds.vrf_vni, eds.subnet.to_string()), (2, 10002, "10.20.130.0/24".into()));
    let names: Vec<&str> = inv.workloads_of(eds).iter().map(|w| &*w.name).collect();
    assert_eq!(names, ["services", "jobs"]);
    assert_eq!(inv.vnets_of(eds).len(), 1);
    assert_eq!(inv.vrfs_of(eds).len(), 1);
}

#[test]
fn a_source_that_is_off_is_unknown_never_absent() {
    let mut s = Sample::healthy();
    s.sources.set(SourceId::Boot, crate::inventory::SourceHealth::off());
    for t in &s.join_without(SourceId::Boot).tenants {
        let b = &t.layers.bootstrap;
        assert_eq!((b.presence, b.gap.as_ref().map(|g| g.kind)), (Presence::Unknown, Some(GapKind::Off)), "{}", t.name);
    }
}

#[test]
fn snat_off_and_no_rule_are_told_in_two_layers() {
    let mut s = Sample::healthy();
    let sdn = s.pve.sdn.as_mut().expect("sdn");
    for side in sdn.subnets.get_mut("eds0").expect("eds0") {
        side.running.as_mut().expect("running").snat = false;
        side.configured.as_mut().expect("configured").snat = false;
    }
    if let Readout::Value(nat) = &mut s.exit.nat {
        nat.snat.retain(|r| !r.text.contains("10.20.130."));
    }
    let inv = s.join();
    assert_eq!(presences(&inv, "eds")[..2], [Presence::Differs, Presence::Differs]);
    assert_eq!(inv.tenant("eds").expect("eds").layers.fabric.words, "SNAT off");
    assert_eq!(fact(&inv, "eds", "SNAT"), (Class::Differs, "off", "off at the subnet, no rule"));
    assert_eq!(presences(&inv, "tdemo")[..2], [Presence::Present, Presence::Present]);
}

#[test]
fn every_snat_fault_has_its_own_word() {
    type Change = fn(&mut crate::backends::exit_node::model::SnatRule);
    let cases: [(Change, Class, &str); 4] = [
        (|r| r.to_source = Some([10, 20, 50, 23].into()), Class::Fault, "wrong source"),
        (|r| r.out_interface = Some("vmbr0".into()), Class::Fault, "wrong"),
        (|r| r.engine = NatEngine::Legacy, Class::Info, "right"),
        (|r| r.to_source = None, Class::Differs, "masquerade"),
    ];
    for (change, class, word) in cases {
        let mut s = Sample::healthy();
        if let Readout::Value(nat) = &mut s.exit.nat {
            change(nat.snat.first_mut().expect("a rule"));
        }
        let inv = s.join();
        let (c, w, _) = fact(&inv, "tdemo", "SNAT");
        assert_eq!((c, w), (class, word));
        assert_eq!(fact(&inv, "eds", "SNAT").0, Class::Fine);
    }
    let mut s = Sample::healthy();
    if let Readout::Value(nat) = &mut s.exit.nat {
        let again = nat.snat.first().expect("a rule").clone();
        nat.snat.push(again);
    }
    let inv = s.join();
    assert_eq!(fact(&inv, "tdemo", "SNAT"), (Class::Warning, "twice", "→ 10.20.50.22, 2 rules"));
}

#[test]
fn a_node_wide_fault_is_one_row_that_names_whom_it_affects() {
    let mut s = Sample::healthy();
    if let Readout::Value(f) = &mut s.exit.forwarding {
        f.insert("vmbr0.50".into(), false);
    }
    let inv = s.join();
    let faults: Vec<_> = inv.attention.iter().filter(|a| a.class == Class::Fault).collect();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].affects.len(), 6);
    assert_eq!(faults[0].place, "hv02");
    assert_eq!(faults[0].target, ObjectId::Node(Arc::from(NODE)));
}

#[test]
fn a_default_is_judged_by_where_it_leads() {
    let mut s = Sample::healthy();
    if let Some(Readout::Value(routes)) = s.exit.vrf_routes.get_mut("vrf_eds") {
        routes[0].gateway = Some([10, 20, 50, 99].into());
    }
    if let Some(Readout::Value(routes)) = s.exit.vrf_routes.get_mut("vrf_tdemo") {
        routes[0].kind = RouteKind::Unreachable;
        routes[0].metric = Some(4_278_198_272);
    }
    if let Some(Readout::Value(routes)) = s.exit.vrf_routes.get_mut("vrf_radio") {
        routes.remove(0);
    }
    let inv = s.join();
    assert_eq!(fact(&inv, "eds", "default"), (Class::Fault, "wrong", "10.20.50.99 vmbr0.50"));
    assert_eq!(fact(&inv, "tdemo", "default").1, "absent");
    assert_eq!(fact(&inv, "radio", "default"), (Class::Fault, "absent", "no default route"));
    assert_eq!(fact(&inv, "sensors", "default").0, Class::Fine);
}

#[test]
fn null_routes_missing_are_a_warning_and_an_open_route_is_a_fault() {
    let mut s = Sample::healthy();
    if let Some(Readout::Value(routes)) = s.exit.vrf_routes.get_mut("vrf_eds") {
        routes.retain(|r| r.dst.to_string() != "10.20.129.0/24");
    }
    if let Some(Readout::Value(routes)) = s.exit.vrf_routes.get_mut("vrf_tdemo") {
        let leak = routes.iter_mut().find(|r| r.dst.to_string() == "10.20.130.0/24").expect("the null route");
        leak.kind = RouteKind::Unicast;
        leak.dev = Some("eds0".into());
    }
    let inv = s.join();
    assert_eq!(fact(&inv, "eds", "null routes"), (Class::Warning, "missing", "4 of 5 other tenants"));
    assert_eq!(fact(&inv, "tdemo", "null routes"), (Class::Fault, "open", "a route leads to eds"));
}

#[test]
fn what_could_not_be_read_is_unknown_with_the_reason() {
    let mut s = Sample::healthy();
    s.exit.nat = denied("iptables-save");
    let inv = s.join();
    let (class, word, _) = fact(&inv, "tdemo", "SNAT");
    assert_eq!((class, word), (Class::Unknown, "denied"));
    let layer = &inv.tenant("tdemo").expect("tdemo").layers.node;
    assert_eq!(layer.presence, Presence::Unknown);
    assert!(layer.gap.as_ref().expect("a gap").why.contains("iptables-save"));
    assert_eq!(inv.attention, Vec::new(), "unknown is not a fault");
}

#[test]
fn each_source_missing_leaves_the_other_alone() {
    let mut s = Sample::healthy();
    s.fail(SourceId::Exit, GapKind::NoAnswer, "hv02 does not answer", false);
    let pve = s.pve.clone();
    let readings = super::Readings {
        sources: s.sources.clone(),
        pve: Some(Arc::new(pve)),
        exits: std::iter::once((NODE.to_owned(), Err(super::Gap::new(GapKind::NoAnswer, "hv02 does not answer"))))
            .collect(),
        ..super::Readings::default()
    };
    let inv = super::join(&Arc::new(s.site), &readings, 1);
    assert_eq!(presences(&inv, "eds"), [Presence::Present, Presence::Unknown, Presence::Present]);
    assert_eq!(inv.attention.iter().filter(|a| a.class == Class::Fault).count(), 0);
    assert_eq!(inv.attention.iter().filter(|a| a.kind == "source").count(), 1);
}

#[test]
fn old_rows_stay_and_nothing_is_concluded_from_them() {
    let mut s = Sample::healthy();
    s.fail(SourceId::Pve, GapKind::NoAnswer, "10.20.99.22:8006 refuses connections", true);
    s.resources().vms[0].status = "stopped".into();
    let inv = s.join();
    assert_eq!(inv.tenants.len(), 6);
    assert_eq!(inv.workloads.len(), 42);
    assert_eq!(presences(&inv, "tdemo"), [Presence::Unknown, Presence::Present, Presence::Unknown]);
    assert_eq!(inv.attention.iter().map(|a| a.kind).collect::<Vec<_>>(), ["source"]);
}

#[test]
fn nothing_read_means_nothing_claimed() {
    let inv = Sample::healthy().join_without_data();
    assert!(inv.tenants.is_empty());
    assert_eq!(inv.tenants_gap.as_ref().map(|g| g.kind), Some(GapKind::NotRead));
    assert!(inv.workloads_gap.is_some());
    assert!(inv.fabric.pending.is_err());
}

#[test]
fn pending_edits_make_a_layer_pending_and_a_tenant_provisioning() {
    let mut s = Sample::healthy();
    let sdn = s.pve.sdn.as_mut().expect("sdn");
    let zone = sdn.zones.iter_mut().find(|z| z.current().is_some_and(|z| z.zone == "radio")).expect("radio");
    zone.change = Change::New;
    zone.running = None;
    zone.pending.insert("vrf-vxlan".into(), "10007".into());
    s.exit.vrf_routes.remove("vrf_radio");
    if let Readout::Value(links) = &mut s.exit.links {
        links.retain(|l| !l.name.contains("radio"));
    }
    let inv = s.join();
    assert_eq!(presences(&inv, "radio")[..2], [Presence::Pending, Presence::Absent]);
    assert_eq!(inv.tenant("radio").expect("radio").status, TenantStatus::Provisioning);
    assert_eq!(inv.tenant("radio").expect("radio").layers.node.class, Class::Absent, "not a fault before the apply");
    assert_eq!(inv.fabric.pending.as_ref().expect("edits").len(), 1);
    let (class, _, value) = fact(&inv, "tdemo", "null routes");
    assert_eq!((class, value), (Class::Fine, "4 of 4 other tenants"), "a tenant that runs nowhere needs no null route");
}

#[test]
fn foreign_zones_and_vms_are_shown_with_the_reason() {
    let mut s = Sample::healthy();
    let sdn = s.pve.sdn.as_mut().expect("sdn");
    sdn.zones.push(pve::Sdn {
        running: None,
        configured: Some(pve::Zone {
            zone: "lab".into(),
            kind: "evpn".into(),
            vrf_vxlan: Some(10099),
            ..pve::Zone::default()
        }),
        change: Change::New,
        pending: std::collections::BTreeMap::new(),
    });
    let resources = s.resources();
    let mut vm = resources.vms[0].clone();
    vm.vmid = 105;
    vm.name = Some("handmade".into());
    resources.vms.push(vm);
    let config = s.pve.configs[&2080].clone();
    s.pve.configs.insert(105, config);
    let inv = s.join();
    assert_eq!(inv.tenants.len(), 6);
    let zones = inv.fabric.foreign_zones.as_ref().expect("zones");
    assert_eq!(zones[0].why, "VRF VNI 10099 is outside 10001–10063");
    let w = inv.workloads.iter().find(|w| w.vmid == 105).expect("the VM");
    assert_eq!(&*w.tenant, "eds");
    assert_eq!(w.origin, Origin::Foreign("VMID 105 is outside its band; it sits on eds0".into()));
    assert_eq!(w.diffs, Vec::new(), "nothing is derived for it");
}

#[test]
fn a_vm_that_differs_says_which_fields() {
    let mut s = Sample::healthy();
    let mut config = (**s.pve.configs[&2040].as_ref().expect("config")).clone();
    config.nets.get_mut(&0).expect("net0").bridge = Some("eds0".into());
    config.nameserver = Some("10.20.25.21".into());
    s.pve.configs.insert(2040, Ok(Arc::new(config)));
    let inv = s.join();
    let w = inv.workloads.iter().find(|w| w.vmid == 2040).expect("the VM");
    let fields: Vec<_> = w.diffs.iter().map(|d| (d.field.as_str(), d.observed.as_str())).collect();
    assert_eq!(fields, [("net0 bridge", "eds0"), ("nameserver", "10.20.25.21")]);
    assert_eq!(presences(&inv, "tdemo")[2], Presence::Differs);
}

#[test]
fn a_vm_whose_configuration_was_not_read_claims_nothing() {
    let mut s = Sample::healthy();
    s.pve.configs.remove(&2040);
    let inv = s.join();
    let w = inv.workloads.iter().find(|w| w.vmid == 2040).expect("the VM");
    assert_eq!(w.address.as_ref().map_err(|g| g.kind), Err(GapKind::NotRead));
    assert_eq!(w.diffs, Vec::new());
}

#[test]
fn hostile_names_are_cleaned_at_the_join() {
    let mut s = Sample::healthy();
    let resources = s.resources();
    resources.vms[0].name = Some("tdemo-\u{1b}[31mapp\u{202e}x".into());
    let inv = s.join();
    for w in &inv.workloads {
        assert!(crate::text::is_clean(&w.name), "{:?}", w.name);
    }
}
