use super::*;
use crate::backends::registry::{Status, Tenant};
use crate::inventory::testing as invented;

fn unknown<T>() -> Told<T> {
    Err(Trouble::new(TroubleKind::Unknown, "not read"))
}

fn survey() -> Survey {
    Survey {
        rights: unknown(),
        zones: Ok(Vec::new()),
        vnets: Ok(Vec::new()),
        vms: Ok(Vec::new()),
        containers: Ok(Vec::new()),
        bridges: unknown(),
        cluster: unknown(),
        names: None,
        routes: None,
        registry: None,
        near: None,
    }
}

fn guest(vmid: u32, name: &str) -> Vm {
    Vm {
        vmid,
        name: Some(name.to_owned()),
        node: "hv01".to_owned(),
        status: "running".to_owned(),
        template: false,
        lock: None,
        cpu: None,
        cpus: None,
        mem: None,
        maxmem: None,
        maxdisk: None,
        uptime_s: None,
        tags: Vec::new(),
    }
}

fn zone(name: &str, vni: u32) -> Sdn<Zone> {
    let zone = Zone { zone: name.to_owned(), kind: "evpn".to_owned(), vrf_vxlan: Some(vni), ..Zone::default() };
    let change = crate::backends::proxmox::model::Change::None;
    Sdn { running: Some(zone.clone()), configured: Some(zone), change, pending: BTreeMap::new() }
}

fn row(name: &str, index: u64) -> Tenant {
    Tenant {
        name: name.to_owned(),
        index: Some(index),
        status: Status::Ready,
        outcome: None,
        vrf_vni: None,
        vnet_vni: None,
        subnet: None,
        gateway: None,
        secrets_stored: None,
        steps: None,
    }
}

fn index(number: u64) -> TenantIndex {
    TenantIndex::new(number).expect("an index")
}

#[test]
fn a_container_holds_its_index_as_a_machine_does() {
    let (site, tenant) = (invented::site(), "shop".parse().expect("a name"));
    let vmid = site.numbering.vmid(index(1), 3).expect("a number");
    let survey = Survey { containers: Ok(vec![guest(vmid, "box")]), ..survey() };
    let held = survey.holders(&site, &tenant).expect("told");
    assert_eq!(held[&index(1)], [format!("container {vmid} box")]);
    assert_eq!(survey.index_for(&site, &tenant, None), Ok(index(2)));
    let unread = Survey { containers: unknown(), ..survey };
    assert_eq!(unread.index_for(&site, &tenant, None).map_err(|why| why.kind), Err(TroubleKind::Unknown));
}

#[test]
fn a_clone_in_the_making_holds_an_index_against_all_but_the_tenant_whose_it_is() {
    let site = invented::site();
    let [shop, picow] = ["shop", "picow"].map(|name| name.parse::<TenantName>().expect("a name"));
    let vmid = site.numbering.vmid(index(6), 0).expect("a number");
    let unnamed = Vm { name: None, ..guest(vmid, "") };
    // As Proxmox lists it: by its number, or without a name.
    for clone in [guest(vmid, &format!("VM {vmid}")), unnamed] {
        let own = zone("shop", site.numbering.vrf_vni(index(6)));
        let survey = Survey { zones: Ok(vec![own]), vms: Ok(vec![clone.clone()]), ..survey() };
        assert!(!survey.holders(&site, &shop).expect("told").contains_key(&index(6)), "{:?}", clone.name);
        let held = survey.holders(&site, &picow).expect("told");
        assert!(held[&index(6)].contains(&format!("VM {vmid}")), "{held:?}");
        // Without a zone nothing says that the number is the tenant's.
        let alone = Survey { zones: Ok(Vec::new()), ..survey };
        assert!(alone.holders(&site, &shop).expect("told").contains_key(&index(6)), "{:?}", clone.name);
    }
    // A machine that has its own name is nobody's clone.
    let own = zone("shop", site.numbering.vrf_vni(index(6)));
    let strange = Survey { zones: Ok(vec![own]), vms: Ok(vec![guest(vmid, "box")]), ..survey() };
    assert_eq!(strange.holders(&site, &shop).expect("told")[&index(6)], [format!("VM {vmid} box")]);
}

#[test]
fn an_index_that_only_the_registry_tells_is_one_only_where_nobody_else_has_it() {
    let (site, tenant) = (invented::site(), "shop".parse().expect("a name"));
    let registered = || Survey { registry: Some(Ok(vec![row("shop", 6)])), ..survey() };
    assert_eq!(registered().proven_index(&site, &tenant), Ok(Some(index(6))));
    let other = zone("picow", site.numbering.vrf_vni(index(6)));
    let taken = Survey { zones: Ok(vec![other]), ..registered() };
    let why = taken.proven_index(&site, &tenant).expect_err("held");
    assert!(why.kind == TroubleKind::Refused && why.text.contains("held by zone picow"), "{why:?}");
    // What the fabric says counts, whatever else is not read.
    let own = zone("shop", site.numbering.vrf_vni(index(6)));
    let fabric = Survey { zones: Ok(vec![own]), vnets: unknown(), ..registered() };
    assert_eq!(fabric.proven_index(&site, &tenant), Ok(Some(index(6))));
    assert_eq!(survey().proven_index(&site, &tenant), Ok(None));
}

#[test]
fn an_empty_zone_of_addresses_that_says_not_whose_it_is_is_not_adopted() {
    use crate::backends::powerdns::Name;
    use crate::backends::powerdns::model::{Zone, ZoneKind};
    let (site, tenant): (_, TenantName) = (invented::site(), "shop".parse().expect("a name"));
    let head = ZoneHead {
        name: Name::new(&site.numbering.reverse_zone(index(6))),
        kind: ZoneKind::Native,
        serial: None,
        edited_serial: None,
        dnssec: None,
        account: None,
        soa_edit_api: None,
        masters: Vec::new(),
    };
    let zone = Zone { head, rrsets: Vec::new(), bytes_replaced: false };
    let whose = |keys: &[String]| near::whose(&site, &survey(), &tenant, (&zone, keys));
    let near::Reverse::Held(why) = whose(&[]) else { panic!("{:?}", whose(&[])) };
    assert!(why.contains("neither a mark nor a key says whose it is"), "{why}");
    assert_eq!(whose(&["gone".to_owned()]), near::Reverse::LeftOver("gone".to_owned()));
}

#[test]
fn what_was_read_for_one_tenant_says_nothing_of_another() {
    let site = invented::site();
    let [shop, picow] = ["shop", "picow"].map(|name| name.parse::<TenantName>().expect("a name"));
    let mut heads = invented::Sample::healthy().dns.zones.expect("zones").to_vec();
    heads.retain(|head| head.name.as_str().starts_with("129.20.10.in-addr.arpa"));
    heads.iter_mut().for_each(|head| head.account = None);
    assert_eq!(heads.len(), 1);
    let near = Near {
        tenant: shop.clone(),
        subnets: Ok(Vec::new()),
        perimeter: None,
        forward: None,
        reverse: BTreeMap::from([(index(1), Ok(Reverse::Own))]),
    };
    let survey = Survey { names: Some(Ok(heads)), near: Some(near), ..survey() };
    assert_eq!(survey.index_for(&site, &shop, None), Ok(index(1)));
    assert_eq!(survey.index_for(&site, &picow, None), Ok(index(2)));
    assert!(survey.near_is_whole());
    let unread = Survey { vnets: unknown(), ..survey };
    assert!(!unread.near_is_whole());
}
