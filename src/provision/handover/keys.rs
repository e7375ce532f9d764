//! The key that a tenant writes its zones with: the one that they list, whatever its name is. Its secret is fetched alone, when
//! somebody asks for it.

use serde::Serialize;
use zeroize::Zeroizing;

use crate::backends::powerdns::{Error, Name};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::World;
use crate::site::names::owns_key;

/// Who may update a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Zone.
    pub zone: String,
    /// Keys and networks that it lists; `None` = there is no such zone.
    pub listed: Option<(Vec<String>, Vec<String>)>,
}

/// What PowerDNS says of keys: no secret is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// The tenant's zones: of its names, then of its addresses.
    pub zones: Vec<Listing>,
    /// Keys that there are, with their algorithms.
    pub there: Vec<(String, String)>,
}

/// The key to hand over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UpdateKey {
    /// Name.
    pub name: String,
    /// Algorithm.
    pub algorithm: String,
    /// Older keys that the zone takes still.
    pub also: Vec<String>,
    /// Networks that the zone lists for updates; the server's own `allow-dnsupdate-from` adds to them.
    pub networks: Vec<String>,
    /// Zones of the tenant that do not list it, or are not there.
    pub not_for: Vec<String>,
}

/// Reads who may update `zones`, and which keys there are.
///
/// # Errors
/// Where PowerDNS' API is not reached from here, or does not tell.
pub async fn read(world: &World, zones: &[String]) -> Result<Keys, Trouble> {
    let client = world.powerdns()?;
    let mut told = Vec::new();
    for zone in zones {
        let listed = match client.metadata(&Name::new(zone)).await {
            Ok(metadata) => {
                let keys = metadata.update_keys().iter().map(ToString::to_string).collect();
                Some((keys, metadata.update_networks().to_vec()))
            }
            Err(Error::ZoneAbsent { .. }) => None,
            Err(error) => return Err(Trouble::from(&error)),
        };
        told.push(Listing { zone: zone.clone(), listed });
    }
    let keys = client.tsig_keys().await.map_err(|error| Trouble::from(&error))?;
    let there = keys.into_iter().map(|key| (key.name.to_string(), key.algorithm)).collect();
    Ok(Keys { zones: told, there })
}

/// The newest key of the tenant that its first zone lists and that is there.
///
/// # Errors
/// In words, where there is none.
pub fn chosen(tenant: &str, keys: &Keys) -> Result<UpdateKey, Trouble> {
    let refused = |text: String, help: &str| Err(Trouble::new(TroubleKind::Refused, text).with_help(help));
    let reconcile = "`deevnet-console tenant reconcile` makes what is missing";
    let Some(first) = keys.zones.first() else { return refused(format!("{tenant} has no zone"), reconcile) };
    let Some((listed, networks)) = &first.listed else {
        return refused(format!("there is no zone {}", first.zone), reconcile);
    };
    let mut own: Vec<&String> = listed.iter().filter(|key| owns_key(tenant, key)).collect();
    own.sort_by_key(|key| std::cmp::Reverse(number(key)));
    if own.is_empty() {
        let others = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
        return refused(format!("zone {} lists no key of {tenant}, it lists: {others}", first.zone), reconcile);
    }
    let is_there = |name: &str| keys.there.iter().find(|(own, _)| own == name);
    let Some((name, algorithm)) = own.iter().find_map(|key| is_there(key)) else {
        let names = own.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(", ");
        return refused(format!("zone {} lists {names}, and there is no such key", first.zone), reconcile);
    };
    let also = own.iter().filter(|key| **key != name && is_there(key).is_some()).map(ToString::to_string).collect();
    let lists = |listing: &&Listing| listing.listed.as_ref().is_some_and(|(keys, _)| keys.contains(name));
    let not_for = keys.zones.iter().filter(|listing| !lists(listing)).map(|listing| listing.zone.clone()).collect();
    Ok(UpdateKey { name: name.clone(), algorithm: algorithm.clone(), also, networks: networks.clone(), not_for })
}

/// The number of a key by rotation: the one without is the first.
fn number(key: &str) -> u32 {
    key.rsplit_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or(1)
}

/// The secret of a key in base64, and its algorithm, fetched now by a request that no recorder hears of.
///
/// # Errors
/// Where the site may not be changed from here, PowerDNS' API is not reached, or has no such key.
pub async fn secret(world: &World, key: &str) -> Result<(Zeroizing<String>, String), Trouble> {
    if world.site.read_only {
        let text = format!("site {} is read-only: no key that can write is fetched", world.site.name);
        return Err(Trouble::new(TroubleKind::Refused, text)
            .with_help("set read_only = false in its site file, if this console is to hand keys over"));
    }
    let told = world.powerdns()?.tsig_secret(&Name::new(key)).await.map_err(|error| Trouble::from(&error))?;
    // It is written between quotes.
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-'));
    if !plain(told.secret.expose()) || !plain(&told.algorithm) {
        let text = format!("the secret of key {key} is not base64");
        return Err(Trouble::new(TroubleKind::Refused, text).with_help("rotate the key"));
    }
    // To be handed over, or to sign an update with.
    tracing::info!(key, "the secret of an update key was fetched");
    Ok((Zeroizing::new(told.secret.expose().to_owned()), told.algorithm))
}

/// A key as `nsupdate -k` takes it.
#[must_use]
pub fn key_file(name: &str, algorithm: &str, secret: &str) -> Zeroizing<String> {
    // Room for all of it, so that growing leaves no copy behind.
    let mut text = Zeroizing::new(String::with_capacity(64 + name.len() + algorithm.len() + secret.len()));
    for part in ["key \"", name, "\" { algorithm ", algorithm, "; secret \"", secret, "\"; };\n"] {
        text.push_str(part);
    }
    text
}
