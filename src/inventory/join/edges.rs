//! The join at the edges: lists that hide, objects that clash, wait, or belong to nobody.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::entities::{Flow, Inventory, Origin, TenantStatus};
use super::super::testing::{NODE, Sample};
use super::super::{Class, Gap, GapKind, Presence};
use crate::backends::exit_node::model::{Conntrack, Neighbour, Reading, Readout};
use crate::backends::proxmox::model::{self as pve, Change};

fn hidden() -> Gap {
    Gap::new(GapKind::Denied, "the token lacks VM.Audit for all of /vms: guests may be hidden, not absent")
}

fn workloads(inv: &Inventory, tenant: &str) -> (Presence, String) {
    let layer = &inv.tenant(tenant).expect("the tenant").layers.workloads;
    (layer.presence, layer.words.clone())
}

fn rows(inv: &Inventory) -> Vec<(Class, &str, &str)> {
    inv.attention.iter().map(|a| (a.class, a.place.as_str(), a.what.as_str())).collect()
}

fn zone<'a>(s: &'a mut Sample, name: &str) -> &'a mut pve::Sdn<pve::Zone> {
    let zones = &mut s.pve.sdn.as_mut().expect("sdn").zones;
    zones.iter_mut().find(|z| z.current().is_some_and(|z| z.zone == name)).expect("the zone")
}

fn both<T>(object: &mut pve::Sdn<T>, change: impl Fn(&mut T)) {
    object.running.iter_mut().chain(object.configured.iter_mut()).for_each(change);
}

fn vm(s: &mut Sample, vmid: u32, change: impl FnOnce(&mut pve::Vm)) {
    let vms = &mut s.resources().vms;
    change(vms.iter_mut().find(|v| v.vmid == vmid).expect("the VM"));
}

#[test]
fn a_guest_list_that_hides_some_makes_nobody_absent() {
    let mut s = Sample::healthy();
    s.pve.guests_hidden = Some(hidden());
    s.resources().vms.retain(|v| v.vmid == 2080);
    let inv = s.join();
    assert_eq!(inv.workloads.len(), 1, "what is seen is shown");
    assert_eq!(workloads(&inv, "eds"), (Presence::Present, "1 of 1 running, others hidden".into()));
    assert_eq!(workloads(&inv, "tdemo"), (Presence::Unknown, "denied".into()));
    let mut s = Sample::healthy();
    s.pve.guests_hidden = Some(hidden());
    s.resources().vms.clear();
    let inv = s.join();
    assert_eq!(inv.workloads_gap, Some(hidden()), "an empty list with a right missing is no list");
    assert_eq!(workloads(&inv, "eds").0, Presence::Unknown);
}

#[test]
fn a_zone_list_that_hides_some_accuses_no_vm() {
    let mut s = Sample::healthy();
    s.pve.zones_hidden = Some(hidden());
    s.pve.sdn.as_mut().expect("sdn").zones.retain(|z| z.current().is_some_and(|z| z.zone == "eds"));
    let inv = s.join();
    assert_eq!(inv.tenants.len(), 1);
    assert_eq!(rows(&inv), [], "VMs of zones out of sight are not foreign");
    let other = inv.workloads.iter().find(|w| w.vmid == 2040).expect("a VM of tdemo");
    assert_eq!(other.origin, Origin::Foreign("VMID 2040 belongs to index 1, which no zone in sight holds".into()));
}

#[test]
fn two_zones_with_one_vni_and_two_vnets_with_one_tag_are_faults() {
    let mut s = Sample::healthy();
    both(zone(&mut s, "radio"), |z| z.vrf_vxlan = Some(10002));
    let inv = s.join();
    for (name, other) in [("eds", "radio"), ("radio", "eds")] {
        let row = inv.attention.iter().find(|a| a.place == name).expect("a row");
        assert_eq!(row.class, Class::Fault);
        assert!(row.what.contains(&format!("shared with zone {other}")), "{}", row.what);
    }
    let mut s = Sample::healthy();
    let vnets = &mut s.pve.sdn.as_mut().expect("sdn").vnets;
    let radio = vnets.iter_mut().find(|v| v.current().is_some_and(|v| v.vnet == "radio0")).expect("radio0");
    both(radio, |v| v.tag = Some(20020));
    let inv = s.join();
    let eds = &inv.tenant("eds").expect("eds").layers.fabric;
    assert_eq!((eds.presence, eds.class), (Presence::Differs, Class::Fault));
    assert_eq!(eds.diffs[0].observed, "shared with VNet radio0");
}

#[test]
fn a_zone_in_the_band_that_is_no_evpn_zone_is_no_tenant() {
    let mut s = Sample::healthy();
    both(zone(&mut s, "radio"), |z| z.kind = "simple".into());
    let inv = s.join();
    assert!(inv.tenant("radio").is_none());
    let foreign = inv.fabric.foreign_zones.as_ref().expect("zones");
    assert_eq!(foreign[0].why, "a simple zone; tenants are evpn zones");
}

#[test]
fn what_waits_for_its_first_apply_is_expected_nowhere() {
    let mut s = Sample::healthy();
    let z = zone(&mut s, "radio");
    (z.change, z.running) = (Change::New, None);
    if let Readout::Value(links) = &mut s.exit.links {
        links.retain(|l| !l.name.contains("radio"));
    }
    s.exit.vrf_routes.remove("vrf_radio");
    if let Readout::Value(nat) = &mut s.exit.nat {
        nat.snat.retain(|r| !r.text.contains("10.20.135."));
    }
    let inv = s.join();
    let vrf = inv.vrfs.iter().find(|v| &*v.tenant == "radio").expect("the VRF");
    assert!(vrf.facts.iter().all(|f| f.class == Class::Absent && f.word == "not applied"), "{:?}", vrf.facts);
    assert_eq!(rows(&inv), [(Class::Pending, "radio", "zone radio, not applied")]);
}

#[test]
fn a_tenant_that_leaves_keeps_its_rows_and_its_hidden_subnets_are_unknown() {
    let mut s = Sample::healthy();
    let z = zone(&mut s, "radio");
    (z.change, z.configured) = (Change::Deleted, None);
    let sdn = s.pve.sdn.as_mut().expect("sdn");
    let vnet = sdn.vnets.iter_mut().find(|v| v.current().is_some_and(|v| v.vnet == "radio0")).expect("radio0");
    (vnet.change, vnet.configured) = (Change::Deleted, None);
    sdn.subnets.remove("radio0");
    let inv = s.join();
    let radio = inv.tenant("radio").expect("radio");
    assert_eq!((radio.status, radio.layers.fabric.presence), (TenantStatus::Deleting, Presence::Pending));
    assert_eq!(radio.layers.node.presence, Presence::Present, "the node carries it until the apply");
    let vnet = &inv.vnets_of(radio)[0];
    assert_eq!((vnet.class, vnet.word.as_str()), (Class::Pending, "leaving"));
    let gap = vnet.subnets.as_ref().expect_err("hidden subnets");
    assert!(gap.why.contains("hides the subnets"), "{}", gap.why);
    assert!(inv.attention.iter().all(|a| a.class == Class::Pending), "{:?}", rows(&inv));
}

#[test]
fn vms_of_nobody_of_another_and_without_a_network_are_told_apart() {
    let mut s = Sample::healthy();
    let vms = &mut s.resources().vms;
    let copy = |vmid: u32, name: &str, template: bool| pve::Vm {
        vmid,
        name: Some(name.into()),
        template,
        ..vms.iter().find(|v| v.vmid == 2080).expect("a VM").clone()
    };
    let (nobody, template) = (copy(2241, "lost-app", false), copy(2119, "fedora-tenant-42", true));
    vms.extend([nobody, template]);
    vm(&mut s, 2081, |v| v.name = Some("tdemo-app".into()));
    s.pve.configs.insert(2080, Ok(Arc::new(pve::VmConfig { nets: BTreeMap::new(), ..config(&s, 2080) })));
    let inv = s.join();
    let origin = |vmid: u32| inv.workloads.iter().find(|w| w.vmid == vmid).map(|w| w.origin.clone());
    let foreign = |text: &str| Some(Origin::Foreign(text.into()));
    assert_eq!(origin(2241), foreign("VMID 2241 belongs to index 6, which no tenant holds"));
    assert_eq!(origin(2081), foreign("its name does not read eds-…"));
    assert_eq!(origin(2119), None, "a template is no workload");
    let bare = inv.workloads.iter().find(|w| w.vmid == 2080).expect("the VM");
    assert_eq!(bare.bridge, Ok(None), "read, and there is none");
    assert_eq!((bare.diffs[0].field.as_str(), bare.diffs[0].observed.as_str()), ("net0 bridge", "–"));
}

fn config(s: &Sample, vmid: u32) -> pve::VmConfig {
    (**s.pve.configs[&vmid].as_ref().expect("a configuration")).clone()
}

#[test]
fn what_a_silent_node_carries_is_unknown_not_broken() {
    let mut s = Sample::healthy();
    let resources = s.resources();
    resources.zones.iter_mut().for_each(|z| z.status = "unknown".into());
    resources.vms.iter_mut().for_each(|v| v.status = "unknown".into());
    s.pve.configs.clear();
    s.pve.cluster.as_mut().expect("cluster").nodes[0].online = false;
    let inv = s.join();
    let eds = &inv.tenant("eds").expect("eds").layers;
    assert_eq!((eds.fabric.presence, eds.workloads.presence), (Presence::Unknown, Presence::Unknown));
    assert_eq!(eds.fabric.gap.as_ref().map(|g| (g.kind, &*g.why)).expect("a gap").0, GapKind::NoAnswer);
    let address = inv.workloads[0].address.as_ref().expect_err("no configuration");
    assert_eq!(
        (address.kind, &*address.why),
        (GapKind::NoAnswer, "hv02 does not answer: this VM's configuration is not known")
    );
    assert_eq!(rows(&inv), [(Class::Fault, "hv02", "node offline")]);
}

#[test]
fn a_zone_that_leaves_by_another_exit_node_needs_nothing_here() {
    let mut s = Sample::healthy();
    let mut second = s.site.exit_nodes[0].clone();
    second.name = "dv02hyp003p02".into();
    s.site.exit_nodes.push(second);
    both(zone(&mut s, "radio"), |z| {
        z.exit_nodes = vec!["dv02hyp003p02".into()];
        z.exit_nodes_primary = None;
    });
    if let Readout::Value(nat) = &mut s.exit.nat {
        nat.snat.retain(|r| !r.text.contains("10.20.135."));
    }
    let inv = s.join();
    let here = inv.vrfs.iter().find(|v| &*v.tenant == "radio" && &*v.node == NODE).expect("the VRF");
    let words: Vec<&str> = here.facts.iter().map(|f| f.word.as_str()).collect();
    assert_eq!(words, ["up", "elsewhere", "elsewhere", "elsewhere", "elsewhere", "elsewhere"]);
    assert!(inv.attention.iter().all(|a| a.class != Class::Fault), "{:?}", rows(&inv));
}

#[test]
fn what_stops_packets_is_a_fault_and_its_look_alikes_are_not() {
    type Edit = Box<dyn Fn(&mut Reading)>;
    let gateway = |state: &str| {
        Readout::Value(vec![Neighbour {
            ip: [10, 20, 50, 1].into(),
            dev: "vmbr0.50".into(),
            mac: None,
            states: vec![state.to_owned()],
        }])
    };
    let table = |count| Readout::Value(Conntrack { count, max: 1000, ..Conntrack::default() });
    let cases: [(&str, Edit, usize); 6] = [
        ("a gateway that fails", Box::new(move |r| r.neighbours = gateway("FAILED")), 1),
        ("a gateway that was not asked lately", Box::new(move |r| r.neighbours = gateway("STALE")), 0),
        ("a full table", Box::new(move |r| r.conntrack = table(1000)), 1),
        ("a busy table", Box::new(move |r| r.conntrack = table(999)), 0),
        ("a policy", Box::new(policy(&[])), 1),
        ("a policy behind rules that decide", Box::new(policy(&["-A FORWARD -j PVEFW-FORWARD"])), 0),
    ];
    for (what, change, expected) in cases {
        let mut s = Sample::healthy();
        change(&mut s.exit);
        let inv = s.join();
        assert_eq!(inv.attention.len(), expected, "{what}: {:?}", rows(&inv));
        assert!(inv.attention.iter().all(|a| a.class == Class::Fault && a.affects.len() == 6), "{what}");
    }
}

#[test]
fn what_a_node_does_not_carry_is_told_with_what_is_missing() {
    let broken = || {
        let mut s = Sample::healthy();
        let zones = &mut s.resources().zones;
        zones.iter_mut().filter(|z| z.zone == "eds").for_each(|z| z.status = "error".into());
        s
    };
    assert_eq!(rows(&broken().join()), [(Class::Fault, "eds", "zone eds: error on hv02")]);
    let mut s = broken();
    if let Some(Ok(vnets)) = s.pve.node_vnets.get_mut(&(NODE.into(), "eds".into())) {
        vnets[0].status = "error".into();
        vnets[0].message = Some("missing vxlan_eds0".into());
    }
    assert_eq!(rows(&s.join()), [(Class::Fault, "eds", "VNet eds0: error: missing vxlan_eds0 on hv02")]);
}

#[test]
fn an_exit_node_that_is_offline_reaches_every_tenant() {
    let mut s = Sample::healthy();
    s.resources().nodes.iter_mut().for_each(|n| n.status = "offline".into());
    if let Ok(cluster) = &mut s.pve.cluster {
        cluster.nodes.iter_mut().for_each(|n| n.online = false);
    }
    let inv = s.join();
    let row = inv.attention.iter().find(|a| a.target == super::super::entities::ObjectId::Node(Arc::from(NODE)));
    assert_eq!(row.map(|r| (r.what.as_str(), r.affects.len())), Some(("node offline", 6)));
}

fn policy(rules: &'static [&'static str]) -> impl Fn(&mut Reading) {
    move |r| {
        if let Readout::Value(nat) = &mut r.nat {
            nat.forward_policy = Some("DROP".into());
            nat.forward_rules = rules.iter().map(|r| (*r).to_owned()).collect();
        }
    }
}

#[test]
fn the_rate_of_one_rule_is_not_the_rate_of_two() {
    let mut s = Sample::healthy();
    let Readout::Value(nat) = &mut s.exit.nat else { panic!("no NAT") };
    let mut second = nat.snat.iter().find(|r| r.text.contains("10.20.130.")).expect("the rule of eds").clone();
    second.text.push_str(" --random");
    let key = (NODE.to_owned(), second.text.clone());
    nat.snat.push(second);
    s.flows.snat.insert(key, Flow { total: u64::MAX, ..Flow::default() });
    let inv = s.join();
    let flow = inv.vrfs.iter().find(|v| &*v.tenant == "eds").expect("the VRF").flow.as_ref().expect("a flow");
    assert_eq!((flow.total, flow.per_second), (u64::MAX, None));
}

#[test]
fn a_node_that_proxmox_does_not_name_was_not_merely_not_read_yet() {
    let unseen = |change: &dyn Fn(&mut Sample)| {
        let mut s = Sample::healthy();
        let mut second = s.site.exit_nodes[0].clone();
        second.name = "dv02hyp003p02".into();
        s.site.exit_nodes.push(second);
        change(&mut s);
        let inv = s.join();
        let member = inv.fabric.members.iter().find(|m| &*m.node == "dv02hyp003p02").expect("the member");
        member.online.clone().expect_err("nobody names it")
    };
    assert_eq!(unseen(&|_| ()), Gap::new(GapKind::Failed, "Proxmox has no node of this name"));
    assert_eq!(unseen(&|s| s.pve.cluster = Err(hidden())), hidden());
}

/// Prints what a join costs at the largest size; a bound would measure the machine.
#[test]
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn the_join_at_the_largest_size() {
    let s = Sample::large(62, 40);
    let begun = std::time::Instant::now();
    let inv = s.join();
    eprintln!("join of 62 × 40: {:?}", begun.elapsed());
    assert_eq!((inv.tenants.len(), inv.workloads.len()), (62, 2480));
    assert_eq!(inv.attention, Vec::new());
}
