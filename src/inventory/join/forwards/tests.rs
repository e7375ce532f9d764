//! The letter R: absent, present, another one, left over, unknown.

use crate::backends::opnsense::model::{Forward, ForwardKind};
use crate::backends::proxmox::model::Change;
use crate::inventory::testing::Sample;
use crate::inventory::{Class, ForwardRow, Gap, GapKind, Inventory, Presence};
use crate::site::model::{PowerDnsMode, PowerDnsSite, Trust};

fn forwarded(change: impl FnOnce(&mut Vec<Forward>)) -> Sample {
    let mut s = Sample::healthy();
    let dns = "10.20.25.21:53".parse().expect("an address");
    s.site.powerdns = Some(PowerDnsSite {
        mode: PowerDnsMode::DnsOnly,
        url: None,
        trust: Trust::System,
        api_key: None,
        tunnel: None,
        dns,
        nameserver: None,
        update_networks: Vec::new(),
    });
    let mut all = s.fw.forwards.as_ref().expect("forwards").to_vec();
    change(&mut all);
    s.fw.forwards = Ok(all.into());
    s
}

fn letter(inv: &Inventory, tenant: &str) -> (Presence, Class, String) {
    let layer = &inv.tenant(tenant).expect("the tenant").layers.resolver;
    (layer.presence, layer.class, layer.words.clone())
}

fn of<'a>(inv: &'a Inventory, domain: &str) -> &'a ForwardRow {
    inv.forwards.iter().find(|f| &*f.domain == domain).expect("the forward")
}

#[test]
fn healthy_forwards_are_present_in_tenant_order() {
    let inv = forwarded(|_| {}).join();
    assert_eq!(inv.forwards.len(), 12);
    for t in &inv.tenants {
        assert_eq!(letter(&inv, &t.name), (Presence::Present, Class::Fine, "present".into()));
        let own: Vec<&str> = inv.forwards_of(t).iter().map(|f| &*f.domain).collect();
        assert_eq!(own, [t.forward_zone.as_str(), t.reverse_zone.as_str()]);
    }
    assert!(inv.attention.is_empty(), "{:?}", inv.attention);
}

#[test]
fn each_difference_has_its_word() {
    type Edit = fn(&mut Forward);
    let cases: [(Edit, &str, &str); 6] = [
        (|f| f.enabled = false, "disabled", "enabled"),
        (|f| f.kind = ForwardKind::Dot, "wrong type", "type"),
        (|f| f.server = "10.20.99.30".into(), "wrong server", "server"),
        (|f| f.server = "a\u{1b}[31m".into(), "wrong server", "server"),
        (|f| f.port = Some(5300), "wrong port", "port"),
        (|f| f.final_dot = true, "final dot", "domain"),
    ];
    for (edit, word, field) in cases {
        let inv = forwarded(|all| edit(all.iter_mut().find(|f| f.domain.starts_with("eds.")).expect("eds"))).join();
        assert_eq!(letter(&inv, "eds"), (Presence::Differs, Class::Differs, word.into()));
        assert_eq!(letter(&inv, "tdemo").0, Presence::Present);
        let row = of(&inv, "eds.mobile.deevnet.net");
        assert_eq!((row.diffs[0].field.as_str(), &*row.word), (field, word));
        assert!(crate::text::is_clean(row.server.as_deref().expect("a server")));
        assert_eq!(inv.attention.len(), 1, "{:?}", inv.attention);
    }
}

#[test]
fn one_of_two_missing_differs_and_both_missing_is_absent() {
    let inv = forwarded(|all| all.retain(|f| f.domain != "130.20.10.in-addr.arpa")).join();
    assert_eq!(letter(&inv, "eds"), (Presence::Differs, Class::Fault, "no reverse forward".into()));
    assert_eq!(of(&inv, "130.20.10.in-addr.arpa").uuid, None);
    let inv = forwarded(Vec::clear).join();
    assert_eq!(letter(&inv, "eds"), (Presence::Absent, Class::Fault, "absent".into()));
    let rows: Vec<_> = inv.attention.iter().map(|a| (a.what.as_str(), a.affects.len())).collect();
    assert_eq!(rows, [("resolver forwards of 6 tenants absent", 6)], "one cause, one row");
}

#[test]
fn before_the_fabric_is_there_a_missing_forward_is_no_fault() {
    let mut s = forwarded(|all| all.retain(|f| !f.domain.starts_with("radio") && !f.domain.starts_with("135.")));
    let sdn = s.pve.sdn.as_mut().expect("sdn");
    let zone = sdn.zones.iter_mut().find(|z| z.current().is_some_and(|z| z.zone == "radio")).expect("radio");
    zone.change = Change::New;
    zone.running = None;
    zone.pending.insert("vrf-vxlan".into(), "10007".into());
    let inv = s.join();
    assert_eq!(letter(&inv, "radio"), (Presence::Absent, Class::Absent, "absent".into()));
    assert!(!inv.attention.iter().any(|a| a.what.contains("forward")), "{:?}", inv.attention);
}

#[test]
fn copies_are_told() {
    let copy = |edit: fn(&mut Forward)| {
        forwarded(|all| {
            let mut again = all.iter().find(|f| f.domain.starts_with("eds.")).expect("eds").clone();
            again.uuid = "copy".into();
            edit(&mut again);
            all.push(again);
        })
        .join()
    };
    assert_eq!(letter(&copy(|_| {}), "eds"), (Presence::Present, Class::Warning, "forwarded twice".into()));
    assert_eq!(letter(&copy(|f| f.enabled = false), "eds").1, Class::Fine, "one that is switched off takes no part");
    let elsewhere = copy(|f| f.server = "10.20.99.30".into());
    assert_eq!(letter(&elsewhere, "eds"), (Presence::Differs, Class::Differs, "wrong server".into()));
    assert_eq!(elsewhere.forwards_of(elsewhere.tenant("eds").expect("eds")).len(), 3);
}

#[test]
fn what_belongs_to_no_tenant_is_told_apart() {
    let more = |all: &mut Vec<Forward>| {
        for (n, domain) in
            ["gone.mobile.deevnet.net", "190.20.10.in-addr.arpa", "example.net", "", "x.eds.mobile.deevnet.net"]
                .into_iter()
                .enumerate()
        {
            all.push(Forward { uuid: format!("m{n}"), domain: domain.into(), ..all[0].clone() });
        }
    };
    let inv = forwarded(more).join();
    for (domain, word) in [
        ("gone.mobile.deevnet.net", "left over: no tenant"),
        ("190.20.10.in-addr.arpa", "left over: no tenant"),
        ("example.net", "no tenant's"),
        (".", "no tenant's"),
        ("x.eds.mobile.deevnet.net", "no tenant's"),
    ] {
        let row = of(&inv, domain);
        assert_eq!((row.class, &*row.word, &row.tenant), (Class::Info, word, &None), "{domain}");
    }
    let mut s = forwarded(more);
    s.pve.sdn = Err(Gap::new(GapKind::Denied, "no right"));
    let inv = s.join();
    assert_eq!(of(&inv, "gone.mobile.deevnet.net").class, Class::Unknown, "whose, nobody knows");
}

#[test]
fn without_an_address_to_expect_only_the_rest_is_compared() {
    let elsewhere = |all: &mut Vec<Forward>| all.iter_mut().for_each(|f| f.server = "192.0.2.7".into());
    let mut s = forwarded(elsewhere);
    s.site.powerdns = None;
    assert_eq!(letter(&s.join(), "eds").0, Presence::Present);
    let mut s = forwarded(elsewhere);
    s.site.powerdns.as_mut().expect("a section").dns = "127.0.0.1:5300".parse().expect("an address");
    assert_eq!(letter(&s.join(), "eds").0, Presence::Present, "our own loopback is not the perimeter's");
}

#[test]
fn forwards_that_were_not_read_are_unknown() {
    let mut s = forwarded(|_| {});
    s.fw.forwards = Err(Gap::new(GapKind::Denied, "not permitted: unbound/settings/search_forward"));
    let inv = s.join();
    assert_eq!(letter(&inv, "eds").0, Presence::Unknown);
    assert_eq!(inv.perimeter.must_not_exist, Ok(0), "rules are another part");
    assert!(inv.forwards_gap.is_some() && inv.forwards.is_empty());
}
