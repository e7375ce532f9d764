//! What Proxmox says of its nodes beside SDN: tasks, packages, network cards of guests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Facts, Reader, Sourced, Taken, json, sdn::text};
use crate::diagnose::evidence::{Api, Http, Item};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[failed, tasks, task, log, packages, nics, bridges, resources];

/// A task that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Node.
    pub node: String,
    /// Type: `srvreload`, `reloadnetworkall`, `qmstart`, …
    pub kind: String,
    /// What it was for: a guest's number, a service.
    pub id: String,
    /// How it ended: `OK`, `WARNINGS: n` or the error; `None` while it runs.
    pub end: Option<String>,
    /// Start, Unix seconds.
    pub started: i64,
    /// Its number.
    pub upid: String,
    /// It was asked for by itself, not met in a list.
    pub asked: bool,
}

impl Task {
    /// Whether it ended in an error.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.end.as_deref().is_some_and(|end| end != "OK" && !end.starts_with("WARNINGS"))
    }
}

/// Log of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Node.
    pub node: String,
    /// Type of the task.
    pub kind: String,
    /// What it was for.
    pub id: String,
    /// Lines.
    pub lines: Vec<String>,
}

/// A network card of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// Node.
    pub node: String,
    /// Guest's number.
    pub vmid: String,
    /// Guest's name, where it has one.
    pub guest: Option<String>,
    /// `net0`, …
    pub key: String,
    /// Bridge or VNet.
    pub bridge: String,
    /// The firewall is on for it.
    pub firewall: bool,
    /// `mtu`; 1 = as the bridge's.
    pub mtu: Option<u32>,
}

/// A read that failed: what it asks for is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRead {
    /// Path.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Pve {
    /// Tasks, each as it was last seen in a list or by itself.
    pub tasks: Vec<Sourced<Task>>,
    /// Logs.
    pub logs: Vec<Sourced<Log>>,
    /// Installed packages among those Proxmox lists, by node.
    pub packages: BTreeMap<String, Sourced<BTreeSet<String>>>,
    /// Network cards.
    pub nics: Vec<Sourced<Nic>>,
    /// Bridges that the token sees, by node.
    pub bridges: BTreeMap<String, Sourced<Vec<String>>>,
    /// SDN objects that the token sees in the cluster's resources.
    pub sdn_resources: Option<Sourced<Vec<String>>>,
    /// Reads that failed.
    pub failed: Vec<Sourced<FailedRead>>,
}

impl Pve {
    /// The last network reload of each node, of the tasks that were read.
    pub fn reloads(&self) -> impl Iterator<Item = &Sourced<Task>> {
        let reload = |task: &&Sourced<Task>| task.kind == "srvreload";
        let later =
            |task: &Sourced<Task>, other: &Sourced<Task>| other.node == task.node && other.started > task.started;
        self.tasks.iter().filter(reload).filter(move |task| !self.tasks.iter().filter(reload).any(|o| later(task, o)))
    }

    /// Why `path` could not be read, where the evidence says so.
    #[must_use]
    pub fn why(&self, path: &str) -> Option<String> {
        self.failed.iter().find(|f| f.path.starts_with(path)).map(|f| f.why.clone())
    }
}

fn get<'a>(item: &'a Item, path: &str) -> Option<&'a Http> {
    item.http().filter(|http| http.gets(Api::Proxmox, path) && http.ok())
}

fn data(item: &Item) -> Result<Value, Taken> {
    json(item)?.get_mut("data").map(Value::take).ok_or_else(|| Taken::Unreadable("no \"data\"".to_owned()))
}

fn list(item: &Item) -> Result<Vec<Map<String, Value>>, Taken> {
    let Value::Array(rows) = data(item)? else { return Err(Taken::Unreadable("no list below \"data\"".to_owned())) };
    Ok(rows.into_iter().filter_map(|row| if let Value::Object(map) = row { Some(map) } else { None }).collect())
}

fn failed(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http().filter(|h| h.api == Api::Proxmox && h.method == "GET" && !h.ok()) else {
        return Taken::NotMine;
    };
    let why = match http.ended.status {
        0 => "no answer".to_owned(),
        status => format!("{status} {}", http.ended.reason),
    };
    let why = crate::text::clean(&why).into_owned();
    facts.pve.failed.push(Sourced::new(FailedRead { path: http.path.clone(), why }, item));
    Taken::Read
}

/// A task by its `UPID:node:pid:pstart:start:type:id:user:`, also with escaped colons; how it ended is not in it.
fn upid(text: &str) -> Option<Task> {
    let text = text.replace("%3A", ":").replace("%3a", ":");
    let mut parts = text.strip_prefix("UPID:")?.split(':');
    let node = parts.next()?.to_owned();
    let started = i64::from_str_radix(parts.nth(2)?, 16).unwrap_or(0);
    let (kind, id) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    Some(Task { node, kind, id, end: None, started, asked: false, upid: text.clone() })
}

fn tasks(item: &Item, facts: &mut Facts) -> Taken {
    if get(item, "nodes/*/tasks").is_none() && get(item, "cluster/tasks").is_none() {
        return Taken::NotMine;
    }
    let rows = match list(item) {
        Ok(rows) => rows,
        Err(taken) => return taken,
    };
    for row in rows {
        let Some(task) = text(&row, "upid").as_deref().and_then(upid) else { continue };
        let end = text(&row, "status").filter(|_| row.contains_key("endtime"));
        facts.pve.tasks.push(Sourced::new(Task { end, ..task }, item));
    }
    Taken::Read
}

fn task(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = get(item, "nodes/*/tasks/*/status") else { return Taken::NotMine };
    let Some(task) = upid(http.segment(3)) else {
        return Taken::Unreadable("a task without its id".to_owned());
    };
    let value = match data(item) {
        Ok(value) => value,
        Err(taken) => return taken,
    };
    let end = value.as_object().and_then(|map| text(map, "exitstatus"));
    facts.pve.tasks.push(Sourced::new(Task { end, asked: true, ..task }, item));
    Taken::Read
}

fn log(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = get(item, "nodes/*/tasks/*/log") else { return Taken::NotMine };
    let Some(Task { node, kind, id, .. }) = upid(http.segment(3)) else { return Taken::NotMine };
    match list(item) {
        Ok(rows) => {
            let lines = rows.iter().filter_map(|row| text(row, "t")).collect();
            facts.pve.logs.push(Sourced::new(Log { node, kind, id, lines }, item));
            Taken::Read
        }
        Err(taken) => taken,
    }
}

/// Packages that are not installed are left out of the list.
fn packages(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = get(item, "nodes/*/apt/versions") else { return Taken::NotMine };
    let installed = |row: &Map<String, Value>| text(row, "CurrentState").is_none_or(|state| state == "Installed");
    match list(item) {
        Ok(rows) => {
            let names = rows.iter().filter(|row| installed(row)).filter_map(|row| text(row, "Package")).collect();
            facts.pve.packages.insert(http.segment(1).to_owned(), Sourced::new(names, item));
            Taken::Read
        }
        Err(taken) => taken,
    }
}

fn nics(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = get(item, "nodes/*/qemu/*/config") else { return Taken::NotMine };
    let value = match data(item) {
        Ok(value) => value,
        Err(taken) => return taken,
    };
    let Some(map) = value.as_object() else { return Taken::Unreadable("a configuration that is no object".to_owned()) };
    for (key, value) in map {
        let is_nic = key.strip_prefix("net").is_some_and(|n| n.parse::<u8>().is_ok());
        let (true, Some(value)) = (is_nic, value.as_str()) else { continue };
        let part = |name: &str| value.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        let nic = Nic {
            node: http.segment(1).to_owned(),
            vmid: http.segment(3).to_owned(),
            guest: text(map, "name"),
            key: key.clone(),
            bridge: part("bridge").unwrap_or_default().to_owned(),
            firewall: part("firewall") == Some("1"),
            mtu: part("mtu").and_then(|mtu| mtu.parse().ok()),
        };
        facts.pve.nics.push(Sourced::new(nic, item));
    }
    Taken::Read
}

fn bridges(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = get(item, "nodes/*/network").filter(|h| h.query.get("type").is_some_and(|t| t.contains("bridge")))
    else {
        return Taken::NotMine;
    };
    match list(item) {
        Ok(rows) => {
            let names = rows.iter().filter_map(|row| text(row, "iface")).collect();
            facts.pve.bridges.insert(http.segment(1).to_owned(), Sourced::new(names, item));
            Taken::Read
        }
        Err(taken) => taken,
    }
}

fn resources(item: &Item, facts: &mut Facts) -> Taken {
    if get(item, "cluster/resources").is_none_or(|http| http.query.get("type").is_none_or(|t| t != "sdn")) {
        return Taken::NotMine;
    }
    match list(item) {
        Ok(rows) => {
            let ids = rows.iter().filter_map(|row| text(row, "id")).collect();
            facts.pve.sdn_resources = Some(Sourced::new(ids, item));
            Taken::Read
        }
        Err(taken) => taken,
    }
}
