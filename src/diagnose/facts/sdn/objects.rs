//! Objects of SDN one by one, and the addresses that are given out.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::rows;
use super::super::{Facts, Reader, Sourced, Taken};
use super::{View, read, text};
use crate::diagnose::evidence::{Api, Item};

/// Readers of this file.
pub(super) const READERS: &[Reader] = &[object, leases];

/// An object as it is configured, what waits included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// `zone`, `vnet`, `controller`.
    pub kind: &'static str,
    /// Id.
    pub id: String,
    /// Fields.
    pub fields: BTreeMap<String, String>,
}

/// Addresses that one IPAM gave out, without those of gateways.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leases {
    /// How many, by zone.
    pub by_zone: BTreeMap<String, usize>,
    /// How many whose zone is not told.
    pub nobodys: usize,
}

/// Paths of objects, and what each is.
const KINDS: [(&str, &str); 3] =
    [("cluster/sdn/zones/*", "zone"), ("cluster/sdn/vnets/*", "vnet"), ("cluster/sdn/controllers/*", "controller")];
/// What is no field of an object.
const BESIDE: [&str; 3] = ["digest", "state", "pending"];

fn object(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http().filter(|http| View::of(http) != View::Running) else { return Taken::NotMine };
    let Some((path, kind)) = KINDS.into_iter().find(|(path, _)| http.gets(Api::Proxmox, path)) else {
        return Taken::NotMine;
    };
    let id = http.segment(3).to_owned();
    let row = rows::data(item, path).and_then(|value| rows::object(value, "an object"));
    read(row, |row| {
        let waiting = row.get("pending").and_then(Value::as_object);
        let mut fields: BTreeMap<String, String> = BTreeMap::new();
        for map in std::iter::once(&row).chain(waiting) {
            for key in map.keys().filter(|key| !BESIDE.contains(&key.as_str())) {
                match text(map, key) {
                    Some(value) if value == "deleted" && Some(map) == waiting => drop(fields.remove(key)),
                    Some(value) => drop(fields.insert(key.clone(), value)),
                    None => {}
                }
            }
        }
        facts.sdn.objects.push(Sourced::new(Object { kind, id, fields }, item));
    })
}

fn leases(item: &Item, facts: &mut Facts) -> Taken {
    let place = item.http().map(|http| http.segment(3).to_owned()).unwrap_or_default();
    let rows = rows::data(item, "cluster/sdn/ipams/*/status").and_then(|value| rows::objects(value, "addresses"));
    // A gateway is the network's own.
    let own = |row: &rows::Row| rows::truth(row, "gateway") != Some(true);
    read(rows, |rows| {
        let mut leases = Leases::default();
        for row in rows.iter().filter(|row| own(row)) {
            match text(row, "zone") {
                Some(zone) => *leases.by_zone.entry(zone).or_default() += 1,
                None => leases.nobodys += 1,
            }
        }
        facts.sdn.leases.insert(place, Sourced::new(leases, item));
    })
}
