//! The numbering scheme against its published vectors, and both ways against itself.

#![cfg(test)]

use std::net::Ipv4Addr;
use std::path::PathBuf;

use deevnet_console::cli::numbering::{Format, NumberingError, Request, numbering};
use deevnet_console::site::model::NumberingPlan;
use deevnet_console::site::names::{NameConflict, TenantName, WorkloadName, split_vm_name, subnet_id, vnet_vxlan};
use deevnet_console::site::numbering::{IndexError, TenantIndex};
use deevnet_console::site::smbios::smbios1;
use proptest::prelude::*;
use serde_json::Value;

fn plan(site: &str) -> NumberingPlan {
    let (octet, vrf, vnet, asn) = match site {
        "mobile" => (20, 10_000, 20_000, 65_020),
        "home" => (10, 11_000, 21_000, 65_010),
        other => panic!("no plan for {other}"),
    };
    NumberingPlan {
        octet,
        vrf_vni_base: vrf,
        vnet_vni_base: vnet,
        overlay: format!("10.{octet}.128.0/18").parse().unwrap(),
        asn,
        vmid_base: 2_000,
        vmids_per_tenant: 40,
        reserved_names: ["api", "tdns", "tfstate", "mqtt", "pve", "pve2", "pxe", "omada", "logs", "grafana"]
            .map(str::to_owned)
            .to_vec(),
    }
}

fn read(path: PathBuf) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The project's copy of the vectors, and the shared original where it is there.
fn vectors(test: &str) -> Vec<Value> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut all = vec![read(root.join("tests/data/sites/vectors.json"))];
    let shared = root.join("../shared/fixtures/tenant-example.json");
    if shared.exists() {
        all.push(read(shared));
    } else {
        eprintln!("SKIPPED {test} (shared half): ../shared is absent");
    }
    all
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

fn print(
    plan: &NumberingPlan,
    site: &str,
    index: Option<u64>,
    name: Option<&str>,
    format: Format,
) -> Result<String, NumberingError> {
    numbering(&Request { plan, site, domain: "mobile.deevnet.net", index, name }, format)
}

#[test]
fn forward_vectors_key_by_key() {
    for vectors in vectors("forward_vectors_key_by_key") {
        let all = vectors["numbering_vectors"].as_array().unwrap();
        assert_eq!(all.len(), 5);
        for expected in all {
            let site = expected["site"].as_str().unwrap();
            let printed = print(&plan(site), site, expected["index"].as_u64(), None, Format::Json).unwrap();
            assert_eq!(&serde_json::from_str::<Value>(&printed).unwrap(), expected);
        }
    }
}

#[test]
fn reverse_vectors() {
    for vectors in vectors("reverse_vectors") {
        for vector in vectors["reverse_vectors"].as_array().unwrap() {
            let plan = plan(vector["site"].as_str().unwrap());
            let number = |key: &str| vector[key].as_u64().map(|n| u32::try_from(n).unwrap());
            let found = match (number("vrf_vni"), number("vnet_tag")) {
                (Some(vni), None) => plan.index_of_vrf_vni(vni),
                (None, Some(tag)) => plan.index_of_tag(tag).map(|(index, _)| index),
                other => panic!("{other:?}"),
            };
            assert_eq!(found.map(|i| u64::from(i.get())), vector["index"].as_u64(), "{vector}");
        }
    }
}

#[test]
fn name_vectors() {
    for vectors in vectors("name_vectors") {
        let names = &vectors["name_vectors"];
        for ok in texts(&names["tenant_ok"]) {
            assert_eq!(ok.parse::<TenantName>().unwrap().as_str(), ok);
        }
        for bad in texts(&names["tenant_bad"]) {
            bad.parse::<TenantName>().expect_err(bad);
        }
        for refused in names["tenant_accepted_upstream_but_refused_by_backend"].as_array().unwrap() {
            refused["name"].as_str().unwrap().parse::<TenantName>().unwrap_err();
        }
        for ok in texts(&names["workload_ok"]) {
            assert_eq!(ok.parse::<WorkloadName>().unwrap().as_str(), ok);
        }
        for bad in texts(&names["workload_bad"]) {
            bad.parse::<WorkloadName>().expect_err(bad);
        }
        for collision in names["vnet_collision"].as_array().unwrap() {
            let name: TenantName = collision["new"].as_str().unwrap().parse().unwrap();
            let found = name.conflicts(&plan("mobile"), [collision["existing"].as_str().unwrap()], []);
            let [NameConflict::Vnet { vnet, .. }] = found.as_slice() else { panic!("{found:?}") };
            assert_eq!(vnet, collision["vnet"].as_str().unwrap());
        }
        for reserved in texts(&names["reserved_suggested"]) {
            let name: TenantName = reserved.parse().unwrap();
            assert_eq!(name.conflicts(&plan("mobile"), [], []).len(), 1, "{reserved}");
        }
    }
}

#[test]
fn smbios_vectors() {
    for vectors in vectors("smbios_vectors") {
        for vector in vectors["smbios_vectors"].as_array().unwrap() {
            let bytes = usize::try_from(vector["payload_bytes"].as_u64().unwrap()).unwrap();
            let found = smbios1(bytes, vector["base64"] == "padded");
            assert_eq!(found.chars as u64, vector["smbios1_chars"].as_u64().unwrap(), "{vector}");
            assert_eq!(found.fits, vector["fits"].as_bool().unwrap(), "{vector}");
        }
    }
}

#[test]
fn two_characters_are_valid_but_not_advised() {
    let advice = |name: &str| name.parse::<TenantName>().unwrap().advice_for_new().is_some();
    assert!(advice("a1"));
    assert!(!advice("eds"));
}

#[test]
fn a_name_error_says_which_rule_and_what_to_do() {
    let text = |name: &str| name.parse::<TenantName>().unwrap_err().to_string();
    assert_eq!(text(""), "`` is not a valid tenant name: it is empty");
    assert_eq!(text("1abc"), "`1abc` is not a valid tenant name: it does not start with a letter");
    assert_eq!(text("a_b"), "`a_b` is not a valid tenant name: `_` is not a lower-case letter or a digit");
    assert_eq!(text("a"), "`a` is not a valid tenant name: Proxmox zone ids have at least 2 characters");
    assert!(text("abcdefghi").contains("it has 9 characters, and Proxmox zone ids have at most 8"));
    assert!(text("x\u{1b}[2J").starts_with("`x\\u{1b}[2J` is not"));
    assert!("a_b".parse::<TenantName>().unwrap_err().help().contains("3 to 8"));
}

#[test]
fn conflicts_name_the_rival() {
    let plan = plan("mobile");
    let name = |text: &str| text.parse::<TenantName>().unwrap();
    assert_eq!(name("tdemo").conflicts(&plan, ["tdemo", "eds", "tdem"], ["vmbr0", "tdem0", "eds0"]), []);
    let found: Vec<_> =
        name("project2").conflicts(&plan, ["eds", "project1"], []).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["project2 and project1 both want the VNet id projec0"]);
    let found: Vec<_> = name("vmbr").conflicts(&plan, [], ["vmbr0"]).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "the VNets of a tenant vmbr would be called like network devices (vmbr0)",
            "a network device vmbr0 exists, which a VNet of vmbr would be called"
        ]
    );
    // A multi-byte name from a back end must not be cut inside a character.
    assert_eq!(name("tdemo").conflicts(&plan, ["tdemoé1"], []), []);
}

#[test]
fn names_that_follow_from_a_name() {
    let name: TenantName = "greenhse".parse().unwrap();
    assert_eq!(name.vnet(0).as_deref(), Some("greenh0"));
    assert_eq!(name.vnet(9).as_deref(), Some("greenh9"));
    assert_eq!(name.vnet(10), None);
    assert_eq!(vnet_vxlan("greenh0"), "vxlan_greenh0");
    let devices = name.devices();
    let all = [&devices.vrf, &devices.vrf_vxlan, &devices.vrf_bridge];
    assert_eq!(all, ["vrf_greenhse", "vrfvx_greenhse", "vrfbr_greenhse"]);
    assert!(all.iter().all(|device| device.len() <= 15), "Linux device names have at most 15 characters");
    assert_eq!(name.forward_zone("mobile.deevnet.net"), "greenhse.mobile.deevnet.net");
    let workload: WorkloadName = "web-1".parse().unwrap();
    assert_eq!(name.vm(&workload), "greenhse-web-1");
    assert_eq!(split_vm_name("greenhse-web-1"), Some((name, workload)));
    assert_eq!(split_vm_name("template"), None);
    assert_eq!(subnet_id("tdemo", "10.20.129.0/24".parse().unwrap()), "tdemo-10.20.129.0-24");
}

#[test]
fn zero_and_64_are_refused_with_a_reason() {
    assert_eq!(TenantIndex::new(0), Err(IndexError::Zero));
    assert_eq!(TenantIndex::new(64), Err(IndexError::TooLarge(64)));
    assert_eq!(TenantIndex::new(257), Err(IndexError::TooLarge(257)), "no wrapping");
    let refused = |index| print(&plan("mobile"), "mobile", Some(index), None, Format::Table).unwrap_err();
    assert_eq!(refused(0).to_string(), "0 is not a tenant index: the first /24 of the overlay stays unused");
    assert_eq!(refused(64).to_string(), "64 is not a tenant index: the overlay holds 63 tenants' subnets");
    assert_eq!(refused(64).help(), "give 1 to 62 for a tenant, or 63 for the drill");
    assert!(matches!(
        print(&plan("mobile"), "mobile", None, Some("eds"), Format::Table),
        Err(NumberingError::NameWithoutIndex)
    ));
    assert!(matches!(
        print(&plan("mobile"), "mobile", Some(1), Some("E"), Format::Table),
        Err(NumberingError::Name(_))
    ));
}

#[test]
fn all_of_a_site_as_json_and_table() {
    let json: Value =
        serde_json::from_str(&print(&plan("mobile"), "mobile", None, None, Format::Json).unwrap()).unwrap();
    let rows = json.as_array().unwrap();
    assert_eq!(rows.iter().map(|r| r["index"].as_u64().unwrap()).collect::<Vec<_>>(), (1..=63).collect::<Vec<_>>());
    assert!(rows.iter().all(|r| r["allocatable"].as_bool().unwrap() == (r["index"] != 63)));
    let table = print(&plan("mobile"), "mobile", None, None, Format::Table).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 64);
    assert_eq!(
        lines[1],
        "1      10001     20010-20019        10.20.129.0/24      10.20.129.1      2040-2079        129.20.10.in-addr.arpa"
    );
    assert!(lines[63].starts_with("63 ") && lines[63].ends_with("191.20.10.in-addr.arpa  (drill, never allocated)"));
}

#[test]
fn a_name_adds_devices_and_zones_in_every_format() {
    let printed = |format| print(&plan("mobile"), "mobile", Some(1), Some("tdemo"), format).unwrap();
    let json: Value = serde_json::from_str(&printed(Format::Json)).unwrap();
    assert_eq!(json["vrf_vni"], 10_001);
    assert_eq!(json["forward_zone"], "tdemo.mobile.deevnet.net");
    assert_eq!(json["subnet_id"], "tdemo-10.20.129.0-24");
    assert_eq!(texts(&json["devices"]), ["vrf_tdemo", "vrfvx_tdemo", "vrfbr_tdemo", "vxlan_tdemo0"]);
    assert_eq!(texts(&json["vnets"]).len(), 10);
    assert_eq!(serde_yaml_ng::from_str::<Value>(&printed(Format::Yaml)).unwrap(), json);
    let table = printed(Format::Table);
    assert!(table.contains("devices       vrf_tdemo vrfvx_tdemo vrfbr_tdemo vxlan_tdemo0\n"), "{table}");
    assert!(table.contains("MACs          02:de:20:00:07:f8 to 02:de:20:00:08:1f\n"), "{table}");
}

#[test]
fn addresses_inside_a_subnet() {
    let (plan, index) = (plan("mobile"), TenantIndex::MIN);
    let reserved: Vec<_> = plan.reserved_addresses(index).map(|a| a.octets()[3]).collect();
    assert_eq!(reserved, [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(plan.workload_address(index, 39), Some(Ipv4Addr::new(10, 20, 129, 49)));
    assert_eq!(plan.workload_address(index, 40), None);
    assert_eq!(plan.workload_address(index, u32::MAX), None);
    assert_eq!(plan.broadcast(index), Ipv4Addr::new(10, 20, 129, 255));
    assert_eq!(plan.vmid(index, 40), None);
    assert_eq!(plan.vnet_vni(index, 9), Some(20_019));
    assert_eq!(plan.vnet_vni(index, 10), None);
}

#[test]
fn a_mac_holds_three_bytes_of_vmid_and_two_digits_of_octet() {
    let mac = |octet, vmid| NumberingPlan { octet, ..plan("mobile") }.mac(vmid).map(|mac| mac.to_string());
    assert_eq!(mac(5, 0x00FF_FFFF).as_deref(), Some("02:de:05:ff:ff:ff"));
    assert_eq!(mac(99, 100).as_deref(), Some("02:de:99:00:00:64"));
    assert_eq!(mac(20, 0x0100_0000), None);
    assert_eq!(mac(100, 100), None);
}

#[test]
fn numbers_beyond_the_end_stay_at_the_end() {
    let plan = NumberingPlan { vmid_base: u32::MAX, vrf_vni_base: u32::MAX, vnet_vni_base: u32::MAX, ..plan("mobile") };
    let derived = plan.derive("mobile", TenantIndex::DRILL);
    assert_eq!([derived.vrf_vni, derived.vnet_vni_last, derived.vmid_first, derived.vmid_last], [u32::MAX; 4]);
    assert_eq!((derived.mac_first, derived.mac_last), (None, None));
}

#[test]
fn reverse_zones_follow_the_overlay_of_the_plan() {
    let plan = NumberingPlan { overlay: "172.16.64.0/18".parse().unwrap(), ..plan("mobile") };
    assert_eq!(plan.reverse_zone(TenantIndex::MIN), "65.16.172.in-addr.arpa");
    assert_eq!(plan.index_of_reverse_zone("65.16.172.IN-ADDR.arpa."), Some(TenantIndex::MIN));
    let foreign =
        ["64.16.172.in-addr.arpa", "128.16.172.in-addr.arpa", "065.16.172.in-addr.arpa", "+65.16.172.in-addr.arpa"];
    for zone in foreign.into_iter().chain([
        "1.65.16.172.in-addr.arpa",
        "65.16.172.9.in-addr.arpa",
        "16.172.in-addr.arpa",
        "",
        ".",
        "in-addr.arpa",
        "é",
    ]) {
        assert_eq!(plan.index_of_reverse_zone(zone), None, "{zone}");
    }
}

fn any_plan() -> impl Strategy<Value = NumberingPlan> {
    (0_u8..=99, 0_u32..8_000, 0_u32..1_000_000, 0_u32..4, 100_u32..1_000_000, 1_u32..=245).prop_map(
        |(octet, gap, vrf, block, vmid_base, per)| NumberingPlan {
            octet,
            vrf_vni_base: vrf,
            vnet_vni_base: vrf + 100 + gap,
            overlay: format!("10.{octet}.{}.0/18", block * 64).parse().unwrap(),
            asn: 65_000 + u32::from(octet),
            vmid_base,
            vmids_per_tenant: per,
            reserved_names: Vec::new(),
        },
    )
}

proptest! {
    #[test]
    fn every_number_leads_back_to_its_index(plan in any_plan(), n in 1_u64..=63, i in 0_u32..10, k in 0_u32..245) {
        prop_assert_eq!(plan.check(), vec![]);
        let index = TenantIndex::new(n).unwrap();
        prop_assert_eq!(plan.index_of_vrf_vni(plan.vrf_vni(index)), Some(index));
        prop_assert_eq!(plan.index_of_tag(plan.vnet_vni(index, i).unwrap()), Some((index, i)));
        prop_assert_eq!(plan.index_of_reverse_zone(&plan.reverse_zone(index)), Some(index));
        prop_assert_eq!(plan.index_of_address(plan.gateway(index)), Some(index));
        prop_assert_eq!(plan.index_of_address(plan.broadcast(index)), Some(index));
        prop_assert!(plan.overlay.contains(&plan.subnet(index)));
        prop_assert_eq!(plan.vmid(index, k).is_some(), k < plan.vmids_per_tenant);
        if let (Some(vmid), Some(address)) = (plan.vmid(index, k), plan.workload_address(index, k)) {
            prop_assert_eq!(plan.index_of_vmid(vmid), Some((index, k)));
            prop_assert!(plan.subnet(index).contains(&address) && address != plan.broadcast(index));
            prop_assert!(plan.mac(vmid).is_some());
        }
    }

    #[test]
    fn any_number_is_nobodys_or_leads_there_and_back(plan in any_plan(), near in 0_u32..70_000, far in any::<u32>()) {
        for number in [near, far, far >> 8] {
            if let Some(index) = plan.index_of_vrf_vni(number) {
                prop_assert_eq!(plan.vrf_vni(index), number);
            }
            if let Some((index, i)) = plan.index_of_tag(number) {
                prop_assert_eq!(plan.vnet_vni(index, i), Some(number));
            }
            if let Some((index, k)) = plan.index_of_vmid(number) {
                prop_assert_eq!(plan.vmid(index, k), Some(number));
            }
            let address = Ipv4Addr::from_bits(number);
            prop_assert_eq!(
                plan.index_of_address(address),
                TenantIndex::all().find(|index| plan.subnet(*index).contains(&address))
            );
        }
    }

    #[test]
    fn no_plan_makes_it_panic(bases in any::<[u32; 5]>(), octet in any::<u8>(), prefix in 0_u8..=32, overlay in any::<u32>(), number in any::<u32>()) {
        let [vrf_vni_base, vnet_vni_base, asn, vmid_base, vmids_per_tenant] = bases;
        let overlay = ipnet::Ipv4Net::new(Ipv4Addr::from_bits(overlay), prefix).unwrap();
        let plan = NumberingPlan {
            octet, vrf_vni_base, vnet_vni_base, overlay, asn, vmid_base, vmids_per_tenant, reserved_names: Vec::new(),
        };
        let _ = plan.check();
        for index in TenantIndex::all() {
            let _ = plan.derive("x", index);
        }
        let _ = (plan.index_of_vrf_vni(number), plan.index_of_tag(number), plan.index_of_vmid(number));
        let _ = (plan.index_of_address(Ipv4Addr::from_bits(number)), plan.mac(number), plan.workload_address(TenantIndex::MIN, number));
    }

    #[test]
    fn no_text_makes_a_name_panic(text in "\\PC{0,12}") {
        let _ = (text.parse::<TenantName>(), text.parse::<WorkloadName>(), split_vm_name(&text));
        let _ = plan("mobile").index_of_reverse_zone(&text);
        if let Ok(name) = "tdemo".parse::<TenantName>() {
            let _ = name.conflicts(&plan("mobile"), [text.as_str()], [text.as_str()]);
        }
    }
}
