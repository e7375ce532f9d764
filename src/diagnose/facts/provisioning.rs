//! What was read around making, changing and removing a guest: numbers, seeds, stores, and what was planned or remembered.

use serde_json::{Map, Value};

use super::rows::{self, data, number, read};
use super::sdn::text;
use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::{Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[seed, storage, next_number, material, public_key];

/// A value that waits for the cloud-init drive to be written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Guest.
    pub vmid: String,
    /// Key.
    pub key: String,
    /// What is on the drive.
    pub now: Option<String>,
    /// What will be; `None` = it will be taken away.
    pub then: Option<String>,
}

/// A store as its node sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Node.
    pub node: String,
    /// Name.
    pub storage: String,
    /// Whether its node has it in use; otherwise the numbers say nothing.
    pub active: Option<bool>,
    /// Bytes that can be written; what is used and what there is in all do not tell it.
    pub available: Option<u64>,
    /// Bytes used.
    pub used: Option<u64>,
    /// Bytes in all.
    pub total: Option<u64>,
}

/// A number that a cluster said is free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextNumber {
    /// The place that was asked, `cluster/node` or a node.
    pub from: String,
    /// The number.
    pub vmid: String,
}

/// A guest that is to be made, as somebody asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Name.
    pub name: String,
    /// Keys that may log in.
    pub keys: usize,
}

/// A guest that is to be made, with where its number came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered {
    /// Cluster on which it is to be made.
    pub on: String,
    /// Its number.
    pub vmid: String,
    /// Cluster that was asked for the number.
    pub asked: String,
}

/// What was written down of a guest that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Name.
    pub name: String,
    /// Number.
    pub vmid: String,
    /// Node.
    pub node: Option<String>,
    /// The mark that was put into its notes.
    pub marker: Option<String>,
}

/// What was read of it.
#[derive(Debug, Default)]
pub struct Provisioning {
    /// Guests whose seed was asked for.
    pub seeds: Vec<Sourced<String>>,
    /// What waits for a seed.
    pub waiting: Vec<Sourced<Waiting>>,
    /// Stores.
    pub stores: Vec<Sourced<Store>>,
    /// Free numbers.
    pub numbers: Vec<Sourced<NextNumber>>,
    /// Guests that are asked for.
    pub asked: Vec<Sourced<Asked>>,
    /// Numbers of guests that are to be made.
    pub numbered: Vec<Sourced<Numbered>>,
    /// Guests that were made.
    pub remembered: Vec<Sourced<Remembered>>,
    /// Steps of a plan that was not run.
    pub steps: Option<Sourced<Vec<String>>>,
    /// Public keys.
    pub keys: Vec<Sourced<String>>,
}

fn seed(item: &Item, facts: &mut Facts) -> Taken {
    let rows = data(item, "nodes/*/qemu/*/cloudinit").and_then(|value| rows::objects(value, "a seed"));
    let vmid = item.http().map(|http| http.segment(3).to_owned()).unwrap_or_default();
    read(rows, |rows| {
        for row in rows {
            let Some(key) = text(&row, "key") else { continue };
            let gone = rows::truth(&row, "delete").unwrap_or(false);
            let then = text(&row, "pending");
            if gone || then.is_some() {
                let waiting = Waiting { vmid: vmid.clone(), key, now: text(&row, "value"), then };
                facts.provisioning.waiting.push(Sourced::new(waiting, item));
            }
        }
        facts.provisioning.seeds.push(Sourced::new(vmid, item));
    })
}

fn storage(item: &Item, facts: &mut Facts) -> Taken {
    let row = data(item, "nodes/*/storage/*/status").and_then(|value| rows::object(value, "a store"));
    let part = |n: usize| item.http().map(|http| http.segment(n).to_owned()).unwrap_or_default();
    read(row, |row| {
        let store = Store {
            node: part(1),
            storage: part(3),
            active: rows::truth(&row, "active"),
            available: number(&row, "avail"),
            used: number(&row, "used"),
            total: number(&row, "total"),
        };
        facts.provisioning.stores.push(Sourced::new(store, item));
    })
}

/// With a number of one's own the answer only repeats it.
fn next_number(item: &Item, facts: &mut Facts) -> Taken {
    if item.http().is_some_and(|http| http.query.contains_key("vmid")) {
        return Taken::NotMine;
    }
    let vmid = data(item, "cluster/nextid").and_then(|value| match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(Taken::Unreadable("no number".to_owned())),
    });
    read(vmid, |vmid| {
        facts.provisioning.numbers.push(Sourced::new(NextNumber { from: item.from.clone(), vmid }, item));
    })
}

fn material(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(item.kind, Kind::Material(_)) {
        return Taken::NotMine;
    }
    let Ok(Value::Object(map)) = serde_json::from_str::<Value>(&item.body) else { return Taken::NotMine };
    let into = &mut facts.provisioning;
    let mut used = false;
    if let (Some(name), Some(Value::Array(keys))) = (text(&map, "name"), map.get("ssh_keys")) {
        let keys = keys.iter().filter(|key| key.as_str().is_some_and(|key| !key.trim().is_empty())).count();
        into.asked.push(Sourced::new(Asked { name, keys }, item));
        used = true;
    }
    if let (Some(on), Some(vmid), Some(asked)) =
        (text(&map, "create_on"), text(&map, "vmid"), text(&map, "vmid_source"))
    {
        into.numbered.push(Sourced::new(Numbered { on, vmid, asked }, item));
        used = true;
    }
    if let (Some(name), Some(vmid), true) = (text(&map, "name"), text(&map, "vmid"), map.contains_key("state")) {
        let remembered = Remembered { name, vmid, node: text(&map, "node"), marker: text(&map, "marker") };
        into.remembered.push(Sourced::new(remembered, item));
        used = true;
    }
    if let Some(steps) = steps(&map) {
        into.steps = Some(Sourced::new(steps, item));
        used = true;
    }
    if used { Taken::Read } else { Taken::NotMine }
}

fn steps(map: &Map<String, Value>) -> Option<Vec<String>> {
    let steps = map.get("steps")?.as_array()?;
    steps.iter().map(|step| step.as_str().map(str::to_owned)).collect()
}

/// A line as in `authorized_keys`.
fn public_key(item: &Item, facts: &mut Facts) -> Taken {
    let is_key = |line: &str| {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap_or_default();
        ["ssh-", "ecdsa-", "sk-"].iter().any(|stem| kind.starts_with(stem)) && words.next().is_some()
    };
    let mut lines = item.body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    match (&item.kind, lines.next(), lines.next()) {
        (Kind::Material(_), Some(line), None) if is_key(line) => {
            facts.provisioning.keys.push(Sourced::new(line.to_owned(), item));
            Taken::Read
        }
        _ => Taken::NotMine,
    }
}
