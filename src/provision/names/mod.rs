//! Names: what a tenant has in PowerDNS and in the perimeter's resolver.
//!
//! Sources: facts/dns.md §0.3, §2–§5, facts/opnsense.md §3, §9, domain.md §4.3, §4.4.

mod answers;
mod forward;
mod key;
mod records;
mod reload;
mod signed;
mod signing;
mod zone;
mod zone_apply;

pub use answers::Answers;
pub use forward::Forward;
pub(super) use forward::server_text;
pub use key::TsigKey;
pub use records::DnsRecords;
pub use reload::ResolverReload;
pub use signed::SignedRecords;
pub use zone::{Claim, DnsZone};

use super::fields::Difference;
use super::object::Object;
use super::trouble::{Trouble, TroubleKind};
use super::world::World;
use crate::backends::dns::DnsName;
use crate::backends::powerdns::order::Held;
use crate::backends::powerdns::{Client, Error, Name, ZoneListing};
pub use crate::site::names::owns_key;
use crate::site::secret::Secret;

/// Note: the resolver has not been told yet of what this change saved.
const UNTOLD: &str = "resolver-untold";

/// The secret of a key, fetched now by a request that no recorder hears of. It is in no plan, note or journal.
///
/// # Errors
/// When PowerDNS' API is not reached from here, or has no such key.
pub async fn secret_of(world: &World, key: &str) -> Result<Secret, Trouble> {
    let told = world.powerdns()?.tsig_secret(&Name::new(key)).await.map_err(|e| Trouble::from(&e))?;
    Ok(told.secret)
}

/// A TSIG key, as it can be seen without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySeen {
    /// Its name.
    pub name: String,
    /// Its algorithm.
    pub algorithm: String,
    /// Zones that list it, by name.
    pub zones: Vec<String>,
}

/// Keys and the zones that list each, by name: all, or one tenant's.
///
/// # Errors
/// When the keys or zones of the server cannot be read.
pub async fn keys(world: &World, tenant: Option<&str>) -> Result<Vec<KeySeen>, Trouble> {
    let client = world.powerdns()?;
    let keys = client.tsig_keys().await.map_err(|e| Trouble::from(&e))?;
    let zones = all_zones(client).await?;
    let listing = |key: &Name| {
        let mut all: Vec<String> = zones
            .iter()
            .filter(|held| held.metadata.update_keys().contains(key))
            .map(|held| held.metadata.zone.to_string())
            .collect();
        all.sort();
        all
    };
    let own = keys.iter().filter(|key| tenant.is_none_or(|tenant| owns_key(tenant, key.name.as_str())));
    let mut all: Vec<KeySeen> = own
        .map(|key| KeySeen {
            name: key.name.as_str().to_owned(),
            algorithm: key.algorithm.clone(),
            zones: listing(&key.name),
        })
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

/// All zones of the server, with their lists. One that goes meanwhile is left out.
///
/// # Errors
/// When any of them cannot be read.
pub(super) async fn all_zones(client: &Client) -> Result<Vec<Held>, Trouble> {
    let mut all = Vec::new();
    for head in client.zones(ZoneListing::Lean).await.map_err(|e| Trouble::from(&e))? {
        match client.metadata(&head.name).await {
            Ok(metadata) => all.push(Held::new(&head, metadata)),
            Err(Error::ZoneAbsent { .. }) => {}
            Err(error) => return Err(Trouble::from(&error)),
        }
    }
    Ok(all)
}

/// A name that may be sent.
fn dns_name(text: &str) -> Result<DnsName, Trouble> {
    text.parse().map_err(|e: crate::backends::dns::NameError| {
        Trouble::new(TroubleKind::Refused, e.to_string()).with_help(e.help())
    })
}

/// Whether a zone is among what does not come back.
fn is_lost(zone: &str, lost: &[Object]) -> bool {
    lost.iter().any(|object| matches!(object, Object::DnsZone(own) if own.zone == zone))
}

/// Words, comma between them; `None` where there are none.
pub(super) fn listed<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Option<String> {
    let mut all: Vec<String> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
    all.sort();
    all.dedup();
    Some(all.join(", ")).filter(|text| !text.is_empty())
}

/// The words of a list that [`listed`] made.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// A set of records that is removed, in words: its name, and the records where they are known.
fn records_that_go(name: String, todo: &Difference) -> String {
    let now = todo.changes().iter().find(|change| change.field == "records").and_then(|change| change.now.as_deref());
    now.map_or_else(|| name.clone(), |records| format!("{name}: {records}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_tenant_are_told_from_those_of_others() {
        for own in ["tdemo", "tdemo-2", "tdemo-10"] {
            assert!(owns_key("tdemo", own), "{own}");
        }
        for other in ["tdemo2", "tdem", "eds", "tdemo-", "tdemo-x", "nobody.invalid"] {
            assert!(!owns_key("tdemo", other), "{other}");
        }
    }
}
