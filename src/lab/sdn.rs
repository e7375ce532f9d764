//! SDN objects: what is configured, what is applied, and the edits between them (facts/proxmox.md §5–§7).

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::state::Object;

/// The files an SDN configuration consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `zones.cfg`.
    Zone,
    /// `vnets.cfg`.
    Vnet,
    /// `subnets.cfg`; the id is `<zone>-<ip>-<mask>`.
    Subnet,
    /// `controllers.cfg`.
    Controller,
    /// Fabrics of `fabrics.cfg`.
    Fabric,
    /// Fabric members of `fabrics.cfg`; the id is `<fabric>_<node>`.
    FabricNode,
}

/// One set of SDN objects: kind → id → options. The id is not among the options.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree(BTreeMap<Kind, BTreeMap<String, Object>>);

impl Tree {
    /// The objects of a kind by id.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = (&String, &Object)> {
        self.0.get(&kind).into_iter().flatten()
    }

    /// One object.
    #[must_use]
    pub fn get(&self, kind: Kind, id: &str) -> Option<&Object> {
        self.0.get(&kind)?.get(id)
    }

    /// An option of an object as text.
    #[must_use]
    pub fn text(&self, kind: Kind, id: &str, option: &str) -> Option<String> {
        self.get(kind, id).and_then(|object| object.get(option)).map(scalar)
    }

    /// Every object with its kind and id.
    pub fn all(&self) -> impl Iterator<Item = (Kind, &String, &Object)> {
        self.0.iter().flat_map(|(kind, objects)| objects.iter().map(|(id, object)| (*kind, id, object)))
    }

    /// Digest of the file that holds a kind: forty hexadecimal digits over all its objects.
    #[must_use]
    pub fn digest(&self, kind: Kind) -> String {
        let text = serde_json::to_string(&self.0.get(&kind)).unwrap_or_default();
        digest_of(&text)
    }

    fn entry(&mut self, kind: Kind, id: &str) -> &mut Object {
        self.0.entry(kind).or_default().entry(id.to_owned()).or_default()
    }

    fn remove(&mut self, kind: Kind, id: &str) {
        if let Some(objects) = self.0.get_mut(&kind) {
            objects.remove(id);
        }
    }

    /// Ids of the VNets of a zone.
    pub fn vnets_of<'a>(&'a self, zone: &'a str) -> impl Iterator<Item = &'a String> {
        self.of(Kind::Vnet).filter(move |(_, o)| o.get("zone").is_some_and(|z| z == zone)).map(|(id, _)| id)
    }

    /// Subnets of a zone.
    pub fn subnets_in<'a>(&'a self, zone: &'a str) -> impl Iterator<Item = &'a Object> {
        self.of(Kind::Subnet)
            .filter(move |(id, _)| subnet_parts(id).is_some_and(|(owner, ..)| owner == zone))
            .map(|(_, options)| options)
    }

    /// Subnets of a VNet.
    pub fn subnets_of<'a>(&'a self, vnet: &'a str) -> impl Iterator<Item = (&'a String, &'a Object)> {
        self.of(Kind::Subnet).filter(move |(_, o)| o.get("vnet").is_some_and(|v| v == vnet))
    }
}

/// A change that waits: kind, id, and the object as it is configured; `None` = it goes.
pub type Waiting = (Kind, String, Option<Object>);

/// The SDN configuration of the cluster.
#[derive(Debug, Clone, Default)]
pub struct Sdn {
    /// What the files say.
    pub configured: Tree,
    /// What was applied last.
    pub running: Tree,
    /// Counts applies; 0 = never.
    pub version: u64,
    /// Token of the lock, while somebody holds it.
    pub lock: Option<String>,
}

impl Sdn {
    /// Creates or changes a configured object: options that are not named stay.
    pub fn set(&mut self, kind: Kind, id: &str, options: Object) {
        self.configured.entry(kind, id).extend(options);
    }

    /// Removes options of a configured object.
    pub fn unset(&mut self, kind: Kind, id: &str, options: &[&str]) {
        let object = self.configured.entry(kind, id);
        for option in options {
            object.remove(*option);
        }
    }

    /// Removes a configured object.
    pub fn delete(&mut self, kind: Kind, id: &str) {
        self.configured.remove(kind, id);
    }

    /// What waits for an apply: kind, id, and the object as it is configured; `None` = it goes.
    #[must_use]
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut out = Vec::new();
        for (kind, objects) in &self.configured.0 {
            for (id, object) in objects.iter().filter(|(id, object)| self.running.get(*kind, id) != Some(*object)) {
                out.push((*kind, id.clone(), Some(object.clone())));
            }
        }
        for (kind, objects) in &self.running.0 {
            let gone = objects.keys().filter(|id| self.configured.get(*kind, id).is_none());
            out.extend(gone.map(|id| (*kind, id.clone(), None)));
        }
        out
    }

    /// Applies these changes and no others.
    pub fn commit(&mut self, waiting: &[Waiting]) {
        for (kind, id, object) in waiting {
            for tree in [&mut self.configured, &mut self.running] {
                match object {
                    Some(object) => *tree.entry(*kind, id) = object.clone(),
                    None => tree.remove(*kind, id),
                }
            }
        }
        self.version += 1;
    }

    /// Makes the configured state the applied one.
    pub fn apply(&mut self) {
        self.running = self.configured.clone();
        self.version += 1;
    }

    /// Makes the applied state the configured one.
    pub fn rollback(&mut self) {
        self.configured = self.running.clone();
    }

    /// Changes an applied object and its configured twin alike, as if it had been applied so from the start.
    pub fn settle(&mut self, kind: Kind, id: &str, change: impl Fn(&mut Object)) {
        change(self.configured.entry(kind, id));
        change(self.running.entry(kind, id));
    }
}

/// A scalar as text.
#[must_use]
pub fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Forty hexadecimal digits over a text.
#[must_use]
pub fn digest_of(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(20).map(|byte| format!("{byte:02x}")).collect()
}

/// The parts of a subnet id `<zone>-<ip>-<mask>`.
#[must_use]
pub fn subnet_parts(id: &str) -> Option<(&str, &str, &str)> {
    let (rest, mask) = id.rsplit_once('-')?;
    let (zone, network) = rest.rsplit_once('-')?;
    Some((zone, network, mask))
}
