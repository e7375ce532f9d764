use super::super::record::Of;
use super::*;
use crate::backends::dns::RecordData;
use crate::inventory::testing as invented;

fn tenant() -> (Site, TenantName, TenantIndex) {
    (invented::site(), "rtrip".parse().unwrap(), TenantIndex::new(60).unwrap())
}

fn names(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|step| step.object.ensure().name()).collect()
}

#[test]
fn a_key_comes_first_and_the_resolver_is_told_last() {
    let (site, name, index) = tenant();
    let steps = onboarding(&site, &name, index);
    let zones = zones(&site, &name, index);
    assert_eq!(
        names(&steps),
        ["TSIG key rtrip".to_owned(), format!("zone {}", zones[0]), format!("zone {}", zones[1])]
    );
    let forwards = forwards(&site, &name, index);
    assert!(forwards[2].follows && names(&forwards)[2] == "reload of the resolver");
    let text = serde_json::to_string(&[steps, forwards].concat()).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Step>>(&text).unwrap().len(), 6);
}

#[test]
fn a_site_without_a_server_has_no_steps() {
    let (mut site, name, index) = tenant();
    site.opnsense = None;
    assert!(forwards(&site, &name, index).is_empty() && forwards_removal(&site, &name, index).is_empty());
    site.powerdns = None;
    assert!(onboarding(&site, &name, index).is_empty());
}

#[test]
fn records_are_of_the_tenants_own_names_and_addresses() {
    let (site, name, index) = tenant();
    let of = Of { site: &site, tenant: &name, index };
    let zone = &zones(&site, &name, index)[0];
    let address = site.numbering.workload_address(index, 0).unwrap();
    let plan = of.host("app", address).unwrap();
    let reversed = DnsName::reverse(address.into());
    assert_eq!(names(&plan.steps), [format!("app.{zone} A"), format!("{} PTR", reversed.as_str())]);
    assert_eq!(of.name(&format!("app.{zone}.")).unwrap().as_str(), format!("app.{zone}"));
    let other = site.numbering.workload_address(TenantIndex::new(59).unwrap(), 0).unwrap();
    assert!(of.host("app", other).unwrap_err().text.contains("no address of rtrip"));
    let why = of.name("a.b").unwrap_err();
    let help = format!("give one label, or the whole name; for a.b below the zone write a.b.{zone}");
    assert_eq!(why.help(), Some(help.as_str()));
    assert!(of.host("app.example.", address).is_err() && of.name(&format!("app.{}", site.domain)).is_err());
    let extra = of.set("www", 300, vec![RecordData::A(address)]).unwrap();
    assert_eq!(extra.steps.len(), 1, "another name has no pointer");
    assert!(of.set("www", 300, vec![RecordData::Ptr("a.example".parse().unwrap())]).is_err());
    assert!(of.delete(&format!("{zone}."), "ns", None).is_err());
    let gone = of.delete("app", "a", Some(address)).unwrap();
    assert!(names(&gone.steps)[0].ends_with(" PTR"), "no address points at a name that is gone");
}
