//! What a tenant has in PowerDNS and in the perimeter's resolver: made, handed over, removed.

use std::sync::Arc;

use crate::backends::dns::DnsName;
use crate::backends::powerdns::Name;
use crate::backends::powerdns::order::without;
use crate::provision::fields::{Fields, fields};
use crate::provision::names::{
    Claim, DnsZone, Forward, ResolverReload, TsigKey, all_zones, listed, owns_key, server_text,
};
use crate::provision::object::Object;
use crate::provision::plan::Step;
use crate::provision::trouble::Trouble;
use crate::provision::world::World;
use crate::site::Site;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// The zones of a tenant, without final dots: its names, and its addresses.
#[must_use]
pub fn zones(site: &Site, tenant: &TenantName, index: TenantIndex) -> [String; 2] {
    let plain = |zone: String| zone.trim_end_matches('.').to_ascii_lowercase();
    [plain(tenant.forward_zone(&site.domain)), plain(site.numbering.reverse_zone(index))]
}

/// A tenant's key and its two zones, each closed until its key is listed. A zone that is another's stops the plan before it
/// begins. Empty where the site has no PowerDNS.
#[must_use]
pub fn onboarding(site: &Site, tenant: &TenantName, index: TenantIndex) -> Vec<Step> {
    made(site, tenant, index, &Claim::Own(tenant.as_str().to_owned()))
}

/// The same, where the zone of the addresses comes over from another tenant: what it holds is deleted first (domain.md §4.3).
#[must_use]
pub fn handover(site: &Site, tenant: &TenantName, index: TenantIndex) -> Vec<Step> {
    made(site, tenant, index, &Claim::Handover(tenant.as_str().to_owned()))
}

fn made(site: &Site, tenant: &TenantName, index: TenantIndex, of_reverse: &Claim) -> Vec<Step> {
    if site.powerdns.is_none() {
        return Vec::new();
    }
    let [forward, reverse] = zones(site, tenant, index);
    let key = TsigKey { key: tenant.as_str().to_owned(), zones: vec![forward.clone(), reverse.clone()], or_next: true };
    let mut steps = vec![Step::present(Object::TsigKey(key), fields([("algorithm", "hmac-sha256")]))];
    for (zone, claim) in [(forward, Claim::Own(tenant.as_str().to_owned())), (reverse, of_reverse.clone())] {
        let mut wanted = zone_fields(site, tenant, &zone);
        if matches!(claim, Claim::Handover(_)) {
            wanted.insert("holds".to_owned(), String::new());
        }
        steps.push(Step::present(Object::DnsZone(DnsZone { zone, claim }), wanted));
    }
    steps
}

/// A zone of a tenant as it is to be. Timers and serial are the zone's own.
fn zone_fields(site: &Site, tenant: &TenantName, zone: &str) -> Fields {
    let dns = site.powerdns.as_ref();
    let networks = listed(dns.into_iter().flat_map(|dns| &dns.update_networks).map(ToString::to_string));
    let mut all = fields([
        ("kind", "native".to_owned()),
        ("account", tenant.as_str().to_owned()),
        ("keys", tenant.as_str().to_owned()),
        ("networks", networks.unwrap_or_default()),
        ("update-serial", "INCREASE".to_owned()),
    ]);
    if let Some(host) = dns.and_then(|dns| dns.nameserver.as_deref()).map(Name::new) {
        all.insert("ns".to_owned(), host.to_string());
        all.insert("soa".to_owned(), format!("{host} hostmaster.{zone}"));
    }
    all
}

/// The forwards of a tenant's zones, and the resolver told of them. Empty where the site has no perimeter or no PowerDNS.
#[must_use]
pub fn forwards(site: &Site, tenant: &TenantName, index: TenantIndex) -> Vec<Step> {
    let (Some(dns), Some(_)) = (site.powerdns.as_ref(), site.opnsense.as_ref()) else { return Vec::new() };
    let server = server_text(dns.dns.ip(), dns.dns.port());
    let domains = zones(site, tenant, index);
    let one = |(domain, tail): (&String, &str)| {
        let wanted = fields([
            ("type", "forward".to_owned()),
            ("server", server.clone()),
            ("enabled", "1".to_owned()),
            ("description", format!("Deevnet API - tenant {}{tail} (ADR-0015)", tenant.as_str())),
        ]);
        Step::present(Object::Forward(Forward { domain: domain.clone() }), wanted)
    };
    let mut steps: Vec<Step> = domains.iter().zip(["", " reverse"]).map(one).collect();
    steps.push(told(domains.to_vec()));
    steps
}

/// The resolver told of what is saved, with the proof for these domains.
#[must_use]
pub fn told(domains: Vec<String>) -> Step {
    Step::present(Object::ResolverReload(ResolverReload { domains }), Fields::new()).following()
}

/// The forwards of a tenant's zones gone, and the resolver told. It comes before the zones go: the router never forwards what
/// nobody holds.
#[must_use]
pub fn forwards_removal(site: &Site, tenant: &TenantName, index: TenantIndex) -> Vec<Step> {
    if site.opnsense.is_none() {
        return Vec::new();
    }
    let domains = zones(site, tenant, index);
    let gone = |domain: &String| Step::absent(Object::Forward(Forward { domain: domain.clone() }));
    let mut steps: Vec<Step> = domains.iter().map(gone).collect();
    steps.push(told(domains.to_vec()));
    steps
}

/// A tenant's zones and keys gone: each key out of every other list first, then the zones with all they hold, then the keys.
/// Without an index there are no zones, and a key may be left over.
///
/// # Errors
/// When the zones or keys of the server cannot be read.
pub async fn removal(
    world: &Arc<World>,
    tenant: &TenantName,
    index: impl Into<Option<TenantIndex>>,
) -> Result<Vec<Step>, Trouble> {
    let client = world.powerdns()?;
    let own = index.into().map(|index| zones(&world.site, tenant, index).to_vec()).unwrap_or_default();
    let keys = client.tsig_keys().await.map_err(|e| Trouble::from(&e))?;
    let mut keys: Vec<String> = keys.into_iter().map(|key| key.name.to_string()).collect();
    keys.retain(|key| owns_key(tenant.as_str(), key));
    keys.sort();
    keys.dedup();
    let mut steps = Vec::new();
    for held in all_zones(client).await? {
        if own.iter().any(|zone| zone == held.metadata.zone.as_str()) {
            continue;
        }
        let mut left = held.clone();
        for key in left.metadata.update_keys() {
            let Ok(name) = key.as_str().parse::<DnsName>() else { continue };
            if owns_key(tenant.as_str(), key.as_str()) {
                let list = without(&left, &name).iter().map(|key| key.as_str().to_owned()).collect();
                left.metadata.kinds.insert(crate::backends::powerdns::UPDATE_KEYS.to_owned(), list);
            }
        }
        if left != held {
            let zone = DnsZone { zone: held.metadata.zone.to_string(), claim: Claim::Any };
            steps.push(Step::present(Object::DnsZone(zone), keys_field(&left.metadata.update_keys())));
        }
    }
    let whole = |zone: String| DnsZone { zone, claim: Claim::Whole(tenant.as_str().to_owned()) };
    steps.extend(own.into_iter().map(|zone| Step::absent(Object::DnsZone(whole(zone)))));
    // It can only be told when no zone lists it any more.
    let key = |key| TsigKey { key, zones: Vec::new(), or_next: false };
    steps.extend(keys.into_iter().map(|name| Step::absent(Object::TsigKey(key(name)))));
    Ok(steps)
}

/// The keys of a zone, wanted.
pub(super) fn keys_field(keys: &[Name]) -> Fields {
    fields([("keys", listed(keys.iter().map(Name::as_str)).unwrap_or_default())])
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
