//! Rotation of a tenant's key: a second one beside the first, then the first gone. A secret that is replaced in place has no
//! overlap (facts/dns.md §4).

use std::sync::Arc;

use super::names::keys_field;
use crate::backends::powerdns::Name;
use crate::backends::powerdns::order::Held;
use crate::provision::fields::fields;
use crate::provision::names::{Claim, DnsZone, TsigKey, all_zones, owns_key};
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Step, Subject};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::World;
use crate::site::names::TenantName;

fn key(name: &str) -> Object {
    Object::TsigKey(TsigKey { key: name.to_owned(), zones: Vec::new(), or_next: false })
}

fn plan(world: &World, tenant: &TenantName, title: &str, steps: Vec<Step>) -> Plan {
    let name = tenant.as_str().to_owned();
    let subject = Subject { name: name.clone(), tenant: Some(name) };
    Plan {
        site: world.site.name.clone(),
        title: format!("{title} of {}", tenant.as_str()),
        subject,
        steps,
        reach: None,
    }
}

/// The keys of a tenant that there are, oldest first, and all zones.
async fn read(world: &World, tenant: &TenantName) -> Result<(Vec<String>, Vec<Held>), Trouble> {
    let client = world.powerdns()?;
    let keys = client.tsig_keys().await.map_err(|e| Trouble::from(&e))?;
    let mut own: Vec<String> = keys.into_iter().map(|key| key.name.to_string()).collect();
    own.retain(|key| owns_key(tenant.as_str(), key));
    own.sort_by_key(|key| number(key));
    own.dedup();
    Ok((own, all_zones(client).await?))
}

/// The number of a key: 1 is the one without.
fn number(key: &str) -> u32 {
    key.rsplit_once('-').and_then(|(_, n)| n.parse().ok()).unwrap_or(1)
}

fn listing<'a>(all: &'a [Held], key: &str) -> impl Iterator<Item = &'a Held> {
    let key = Name::new(key);
    all.iter().filter(move |held| held.metadata.update_keys().contains(&key))
}

fn relist(held: &Held, keys: &[Name]) -> Step {
    let zone = DnsZone { zone: held.metadata.zone.to_string(), claim: Claim::Any };
    Step::present(Object::DnsZone(zone), keys_field(keys))
}

/// A second key, listed beside the first by every zone that lists that one. Both write from then on. A rotation that was begun is
/// completed.
///
/// # Errors
/// Where PowerDNS cannot be read, the tenant has no key, or more than two.
pub async fn rotate_begin(world: &Arc<World>, tenant: &TenantName) -> Result<Plan, Trouble> {
    let (own, all) = read(world, tenant).await?;
    let refused = |text: String, help: &str| Err(Trouble::new(TroubleKind::Refused, text).with_help(help));
    let (first, next) = match own.as_slice() {
        [] => return refused(format!("{} has no key", tenant.as_str()), "onboard its names first"),
        [first] => (first, format!("{}-{}", tenant.as_str(), number(first).saturating_add(1))),
        [first, next] => (first, next.clone()),
        _ => {
            let text = format!("keys of {}: {}", tenant.as_str(), own.join(", "));
            return refused(text, "end the rotation that was begun");
        }
    };
    let mut steps = vec![Step::present(key(&next), fields([("algorithm", "hmac-sha256")]))];
    for held in listing(&all, first) {
        let mut keys = held.metadata.update_keys();
        if !keys.contains(&Name::new(&next)) {
            keys.push(Name::new(&next));
        }
        steps.push(relist(held, &keys));
    }
    Ok(plan(world, tenant, "Second key", steps))
}

/// The first key out of every list, and gone: from then on the second alone writes. Where there is one key alone, no rotation is
/// to be ended.
///
/// # Errors
/// Where PowerDNS cannot be read, there is no key or more than two, or a zone lists the first alone.
pub async fn rotate_end(world: &Arc<World>, tenant: &TenantName) -> Result<Plan, Trouble> {
    let (own, all) = read(world, tenant).await?;
    let refused = |text: String, help: &str| Err(Trouble::new(TroubleKind::Refused, text).with_help(help));
    let (first, next) = match own.as_slice() {
        [first, next] => (first, next),
        [only] => {
            let there = Step::present(key(only), fields([("algorithm", "hmac-sha256")]));
            return Ok(plan(world, tenant, "First key", vec![there]));
        }
        [] => return refused(format!("{} has no key", tenant.as_str()), "onboard its names first"),
        _ => {
            let text = format!("keys of {}: {}", tenant.as_str(), own.join(", "));
            return refused(text, "more than two are not told apart: remove the one that is not used at PowerDNS");
        }
    };
    let mut steps = Vec::new();
    for held in listing(&all, first) {
        let mut keys = held.metadata.update_keys();
        keys.retain(|key| key.as_str() != first);
        if !keys.iter().any(|key| key.as_str() == next) {
            let text = format!("zone {} lists {first} and not {next}", held.metadata.zone);
            return refused(text, "list the second key there too");
        }
        steps.push(relist(held, &keys));
    }
    steps.push(Step::absent(key(first)));
    Ok(plan(world, tenant, "First key", steps))
}
