//! Facts: evidence in types, each with the file it came from.
//!
//! One reader a form of input (`facts/*/…`): it recognises an item by its request or command and puts what it says
//! into the area it belongs to. Readers never conclude; what an answer means is for rules to say. An item that its
//! reader cannot understand is kept in [`Facts::unreadable`] and makes things unknown, never absent.

pub mod access;
pub mod between;
pub mod calls;
pub mod clocks;
pub mod cluster;
pub mod dns;
pub mod given_up;
pub mod guests;
pub mod journal;
pub mod keys;
mod line;
pub mod node;
pub mod pasted;
pub mod perimeter;
pub mod powerdns;
pub mod provisioning;
pub mod pve;
mod rows;
pub mod sdn;
pub mod services;
mod site;
pub mod trust;

use std::sync::Arc;

use super::evidence::{Evidence, Item, Kind};
use crate::backends::proxmox::endpoints::ZONES;

/// A value and the file of the evidence it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// Value.
    pub value: T,
    /// File.
    pub file: Arc<str>,
}

impl<T> std::ops::Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Sourced<T> {
    /// A value out of `item`.
    pub fn new(value: T, item: &Item) -> Self {
        Self { value, file: Arc::from(item.file.as_str()) }
    }
}

/// What a reader made of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// It is for another reader.
    NotMine,
    /// It was read.
    Read,
    /// It is of the reader's form, and cannot be understood.
    Unreadable(String),
}

/// A reader.
pub type Reader = fn(&Item, &mut Facts) -> Taken;

/// All readers. An item may be of use to several.
const READERS: &[&[&[Reader]]] = &[
    // First: what was asked, and in which order.
    &[calls::READERS, given_up::READERS],
    sdn::READERS,
    &[node::READERS, pve::READERS, site::READERS],
    &[access::READERS, cluster::READERS, guests::READERS, provisioning::READERS, clocks::READERS, trust::READERS],
    &[dns::READERS, powerdns::READERS, keys::READERS, between::READERS, services::READERS, journal::READERS],
    perimeter::READERS,
    &[pasted::READERS],
];

/// An item that nobody could make sense of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// File.
    pub file: String,
    /// Why, one clean line.
    pub why: String,
}

/// Everything the evidence says, in types.
#[derive(Debug, Default)]
pub struct Facts {
    /// SDN configuration and what nodes made of it.
    pub sdn: sdn::Sdn,
    /// Requests and why they failed.
    pub calls: calls::Calls,
    /// Who asks, and with which rights.
    pub access: access::Access,
    /// Members, votes, guests as listed.
    pub cluster: cluster::Cluster,
    /// Guests and their agents.
    pub guests: guests::Guests,
    /// What was read around making and removing guests.
    pub provisioning: provisioning::Provisioning,
    /// Clocks.
    pub clocks: clocks::Clocks,
    /// Profiles and probes beside them.
    pub trust: trust::Trust,
    /// Answers on DNS ports.
    pub dns: dns::Dns,
    /// PowerDNS.
    pub powerdns: powerdns::PowerDns,
    /// Update keys, tried on zones.
    pub keys: Option<Sourced<keys::Tried>>,
    /// Packets between tenants, an exit node each.
    pub between: Vec<Sourced<between::Sent>>,
    /// Check-ins of workloads; `None` = the site has no source of them.
    pub checkins: Option<Sourced<services::CheckIns>>,
    /// Steps of changes, as a journal has them.
    pub journal: Vec<Sourced<journal::Step>>,
    /// What this console's own journal tells; `None` = it was not asked.
    pub changes: Option<Sourced<journal::Changes>>,
    /// The registry of tenants; `None` = the site has none.
    pub registry: Option<Sourced<services::Registry>>,
    /// OPNsense.
    pub perimeter: perimeter::Perimeter,
    /// Hosts as commands on them show them.
    pub nodes: node::Nodes,
    /// Tasks, packages, network cards, and what of it may be seen.
    pub pve: pve::Pve,
    /// What the check that made the evidence did not wait for.
    pub given_up: Option<given_up::GivenUp>,
    /// What the site expects.
    pub site: Option<Sourced<crate::site::Site>>,
    /// What was pasted.
    pub pasted: Vec<Sourced<pasted::Pasted>>,
    /// When the last thing was read that was not pasted.
    pub read_at: Option<jiff::Timestamp>,
    /// Items that could not be understood.
    pub unreadable: Vec<Unreadable>,
    /// Items of a form that no reader knows.
    pub unused: Vec<String>,
}

impl Facts {
    /// Reads `evidence`.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        let read = evidence.items.iter().filter(|item| !matches!(item.kind, Kind::Pasted { .. }));
        let mut facts = Self { read_at: read.filter_map(|item| item.at).max(), ..Self::default() };
        for item in &evidence.items {
            let mut used = false;
            for reader in READERS.iter().copied().flatten().copied().flatten() {
                match reader(item, &mut facts) {
                    Taken::NotMine => {}
                    Taken::Read => used = true,
                    Taken::Unreadable(why) => {
                        used = true;
                        let why = crate::text::clean(&why).into_owned();
                        facts.unreadable.push(Unreadable { file: item.file.clone(), why });
                    }
                }
            }
            if !used {
                facts.unused.push(item.file.clone());
            }
        }
        facts
    }
}

impl Facts {
    /// Whether there is nobody to judge: the list of zones was read whole, and none of them is a tenant's.
    #[must_use]
    pub fn nobody(&self) -> bool {
        let whole = self.access.held.as_ref().is_some_and(|held| ZONES.privilege.sees_all(held));
        whole && self.sdn.zones_in_force().is_some_and(|zones| zones.iter().all(|zone| zone.kind != "evpn"))
    }
}

/// Whether `word` is among those of a material's name.
fn is_called(name: &str, word: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric()).any(|own| own.eq_ignore_ascii_case(word))
}

/// The JSON of a successful answer, or why there is none.
fn json(item: &Item) -> Result<serde_json::Value, Taken> {
    serde_json::from_str(&item.body).map_err(|e| Taken::Unreadable(format!("no JSON: {e}")))
}
