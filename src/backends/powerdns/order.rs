//! Requests in the order in which no update passes that should not.
//!
//! A list of keys that is empty, or not there yet, lets every address of the lists of networks write without a key; and the
//! server's own list adds to the zone's and holds loopback by default (facts/dns.md §0.3, §5). So a new zone begins as a
//! copy of nobody, which takes no update at all, and becomes native only once its keys are listed; and who may send updates
//! comes last. PowerDNS replaces a list by deleting it and writing it anew, on POST as on PUT, and an update that comes in
//! between passes unsigned (measured): a list is therefore replaced while its zone is a copy of nobody, which goes on
//! answering queries, and opened only when an update that saw the empty list has come to its end. Each function says the whole order as data: a plan shows it, repeats what is not done, and resumes.

use ipnet::IpNet;

use super::change::{Apex, LiveKind, Metadata, NOBODY, UPDATE_NETWORKS, Write, emptying};
use super::model::{Zone, ZoneHead, ZoneKind, ZoneMetadata};
use super::name::Name;
use crate::backends::dns::DnsName;
use crate::site::secret::Secret;

/// A zone that is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewZone {
    /// Name.
    pub zone: Name,
    /// Its apex.
    pub apex: Apex,
}

/// The key and the networks of a tenant, and the mark on its zones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Name of the key.
    pub key: DnsName,
    /// Networks that updates may come from.
    pub networks: Vec<IpNet>,
    /// Account of the zones.
    pub account: String,
}

/// Zones of a tenant, its key among them: at no moment does any of them take an update that the key has not signed.
#[must_use]
pub fn creation(owner: &Owner, zones: &[NewZone], secret: Option<Secret>) -> Vec<Write> {
    let mut writes = vec![Write::CreateKey { name: owner.key.clone(), secret }];
    for new in zones {
        let zone = &new.zone;
        writes.push(Write::CreateClosed { zone: zone.clone(), account: owner.account.clone() });
        writes.extend(completion(owner, new));
    }
    writes.extend(zones.iter().map(|new| networks(&new.zone, owner)));
    writes
}

/// What follows the making of a zone, but for the networks: keys, serials, native, apex. Each may be repeated.
#[must_use]
pub fn completion(owner: &Owner, new: &NewZone) -> Vec<Write> {
    let zone = &new.zone;
    vec![
        keys(zone, vec![owner.key.clone()]),
        Write::PutMetadata(zone.clone(), Metadata::UpdateSerial),
        Write::MakeNative(zone.clone()),
        Write::Patch(zone.clone(), new.apex.changes(zone)),
    ]
}

/// A zone that is there: its metadata, and its kind, which it is to have again after a list was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Metadata.
    pub metadata: ZoneMetadata,
    /// Kind.
    pub kind: ZoneKind,
}

impl Held {
    /// Of a zone as it was read.
    #[must_use]
    pub fn new(head: &ZoneHead, metadata: ZoneMetadata) -> Self {
        Self { metadata, kind: head.kind.clone() }
    }

    const fn zone(&self) -> &Name {
        &self.metadata.zone
    }
}

/// A zone that is there and of the right tenant: keys first, as it may be open, then networks. Only what differs. One that
/// was left closed is opened, and is native.
#[must_use]
pub fn binding(owner: &Owner, held: &Held) -> Vec<Write> {
    let zone = held.zone();
    let mut writes = Vec::new();
    if held.metadata.update_keys() != [Name::new(owner.key.as_str())] {
        writes.extend(relisting(held, vec![owner.key.clone()], Vec::new()));
    }
    if held.metadata.values("SOA-EDIT-DNSUPDATE") != ["INCREASE"] {
        writes.push(Write::PutMetadata(zone.clone(), Metadata::UpdateSerial));
    }
    if held.kind == ZoneKind::Secondary {
        writes.push(Write::MakeNative(zone.clone()));
    }
    writes.extend(networks_if_other(owner, &held.metadata));
    writes
}

/// A zone of another tenant, which goes to `owner` empty: closed to everybody, emptied, and only then bound to its key. The
/// emptying is missing where `zone` has nothing but its apex.
#[must_use]
pub fn handover(owner: &Owner, zone: &Zone, metadata: &ZoneMetadata) -> Vec<Write> {
    let name = &zone.head.name;
    let gone = emptying(zone);
    let mut between: Vec<Write> = networks_if_other(owner, metadata).into_iter().collect();
    if !gone.is_empty() {
        between.push(Write::Patch(name.clone(), gone));
    }
    let held = Held::new(&zone.head, metadata.clone());
    let mut writes = relisting(&held, vec![owner.key.clone()], between);
    if held.kind == ZoneKind::Secondary {
        writes.push(Write::MakeNative(name.clone()));
    }
    writes
}

/// The keys of a zone, replaced while it takes no update, and what else is done meanwhile. A zone that is no live one stays
/// what it is.
#[must_use]
pub fn relisting(held: &Held, list: Vec<DnsName>, meanwhile: Vec<Write>) -> Vec<Write> {
    let zone = held.zone();
    let live = LiveKind::of(&held.kind);
    let mut writes: Vec<Write> = live.map(|_| Write::Close(zone.clone())).into_iter().collect();
    writes.extend(meanwhile);
    writes.push(keys(zone, list));
    writes.extend(live.map(|kind| Write::Reopen(zone.clone(), kind)));
    writes
}

/// A second key beside the first in every zone that lists it; both are good from then on.
#[must_use]
pub fn rotation_begins(from: &DnsName, to: &DnsName, secret: Option<Secret>, all: &[Held]) -> Vec<Write> {
    let mut writes = vec![Write::CreateKey { name: to.clone(), secret }];
    for held in listing(from, all).filter(|held| !lists(held, to)) {
        let mut both = listed(held, |_| true);
        both.push(to.clone());
        writes.extend(relisting(held, both, Vec::new()));
    }
    writes
}

/// The first key out of every list, and then gone. No list becomes empty: one that would names nobody instead.
#[must_use]
pub fn rotation_ends(from: &DnsName, all: &[Held]) -> Vec<Write> {
    let mut writes = unlisting(from, all);
    writes.push(Write::DeleteKey(from.clone()));
    writes
}

/// Zones of a tenant and its key, gone. The key's name is taken out of every other list first: it would be left there, and
/// the next key of that name would have those zones (facts/dns.md §4).
#[must_use]
pub fn removal(key: &DnsName, zones: &[Name], all: &[Held]) -> Vec<Write> {
    let others: Vec<Held> = all.iter().filter(|held| !zones.contains(held.zone())).cloned().collect();
    let mut writes = unlisting(key, &others);
    writes.extend(zones.iter().cloned().map(Write::DeleteZone));
    writes.push(Write::DeleteKey(key.clone()));
    writes
}

/// A key out of every list that has it.
#[must_use]
pub fn unlisting(key: &DnsName, all: &[Held]) -> Vec<Write> {
    listing(key, all).flat_map(|held| relisting(held, without(held, key), Vec::new())).collect()
}

/// The keys of a zone without one; nobody where none would be left.
#[must_use]
pub fn without(held: &Held, key: &DnsName) -> Vec<DnsName> {
    let mut left = listed(held, |other| *other != Name::new(key.as_str()));
    if left.is_empty() {
        left.extend(nobody());
    }
    left
}

fn listing<'a>(key: &DnsName, all: &'a [Held]) -> impl Iterator<Item = &'a Held> {
    let key = key.clone();
    all.iter().filter(move |held| lists(held, &key))
}

fn lists(held: &Held, key: &DnsName) -> bool {
    held.metadata.update_keys().contains(&Name::new(key.as_str()))
}

/// The keys of a list that are names of keys at all.
fn listed(held: &Held, keep: impl Fn(&Name) -> bool) -> Vec<DnsName> {
    held.metadata.update_keys().iter().filter(|key| keep(key)).filter_map(|key| key.as_str().parse().ok()).collect()
}

fn nobody() -> Option<DnsName> {
    NOBODY.parse().ok()
}

fn keys(zone: &Name, keys: Vec<DnsName>) -> Write {
    Write::PutMetadata(zone.clone(), Metadata::UpdateKeys(keys))
}

fn networks(zone: &Name, owner: &Owner) -> Write {
    if owner.networks.is_empty() {
        return Write::DeleteMetadata(zone.clone(), UPDATE_NETWORKS);
    }
    Write::PutMetadata(zone.clone(), Metadata::UpdateNetworks(owner.networks.clone()))
}

fn networks_if_other(owner: &Owner, held: &ZoneMetadata) -> Option<Write> {
    let mut wanted = Metadata::UpdateNetworks(owner.networks.clone()).values();
    let mut there = held.update_networks().to_vec();
    wanted.sort();
    there.sort();
    (wanted != there).then(|| networks(&held.zone, owner))
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
