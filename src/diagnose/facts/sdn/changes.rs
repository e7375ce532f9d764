//! What waits, what was written, what an apply would do.

use ipnet::IpNet;
use serde_json::{Map, Value};

use super::super::{Facts, Reader, Sourced, Taken, json};
use super::{View, read, rows, text};
use crate::diagnose::evidence::{Api, Item};

/// Readers of this file.
pub(super) const READERS: &[Reader] = &[vnets, pending, write, lock, dry_run];

/// A VNet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vnet {
    /// Id.
    pub vnet: String,
    /// Zone; empty where it is not shown.
    pub zone: String,
    /// VNI.
    pub tag: Option<u32>,
}

/// One field that would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Field.
    pub field: String,
    /// As applied; `None` = not set.
    pub old: Option<String>,
    /// As it would be; `None` = not set.
    pub new: Option<String>,
}

impl Change {
    /// Whether anything changes: 0 and not set are the same for a flag, lists are sets.
    #[must_use]
    pub fn is_effective(&self) -> bool {
        let set = |value: &Option<String>| {
            let value = value.as_deref().unwrap_or("0");
            let mut parts: Vec<String> = value.split([',', ';', ' ']).map(str::to_owned).collect();
            parts.sort_unstable();
            parts
        };
        set(&self.old) != set(&self.new)
    }
}

/// An object that waits for an apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// `zone`, `vnet`, `subnet`, `controller`.
    pub kind: &'static str,
    /// Id.
    pub id: String,
    /// Zone to which it belongs, where that is shown.
    pub zone: Option<String>,
    /// `new`, `changed`, `deleted`.
    pub state: String,
    /// Fields, without those that stay.
    pub changes: Vec<Change>,
}

impl Pending {
    /// Whether an apply would make a difference.
    #[must_use]
    pub fn is_effective(&self) -> bool {
        self.state != "changed" || self.changes.iter().any(Change::is_effective)
    }
}

/// A write that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// Method.
    pub method: String,
    /// Path.
    pub path: String,
    /// Fields sent.
    pub fields: Vec<(String, String)>,
}

impl Write {
    /// A field that was sent.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What an apply would change on a node; unified differences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DryRun {
    /// Of FRR's configuration; `None` = nothing, or nothing was told.
    pub frr: Option<String>,
    /// Whether the answer says anything of FRR.
    pub frr_told: bool,
    /// Of the interfaces.
    pub interfaces: Option<String>,
}

/// A field, or what it would become where the object is new.
fn either(map: &Map<String, Value>, key: &str) -> Option<String> {
    let waiting = || text(map.get("pending")?.as_object()?, key);
    text(map, key).or_else(waiting)
}

fn vnets(item: &Item, facts: &mut Facts) -> Taken {
    let view = item.http().map_or(View::Configured, View::of);
    let vnet = |map: Map<String, Value>| -> Result<Vnet, Taken> {
        Ok(Vnet {
            vnet: text(&map, "vnet").ok_or_else(|| Taken::Unreadable("a VNet without its id".to_owned()))?,
            zone: either(&map, "zone").unwrap_or_default(),
            tag: either(&map, "tag").and_then(|tag| tag.parse().ok()),
        })
    };
    let all = rows(item, "cluster/sdn/vnets").and_then(|rows| rows.into_iter().map(vnet).collect::<Result<_, _>>());
    read(all, |all| drop(facts.sdn.vnets.insert(view, Sourced::new(all, item))))
}

/// Lists that show what waits, and the key that names their objects.
const KINDS: [(&str, &str, &str); 4] = [
    ("cluster/sdn/zones", "zone", "zone"),
    ("cluster/sdn/vnets", "vnet", "vnet"),
    ("cluster/sdn/controllers", "controller", "controller"),
    ("cluster/sdn/vnets/*/subnets", "subnet", "subnet"),
];

fn pending(item: &Item, facts: &mut Facts) -> Taken {
    if item.http().is_none_or(|http| View::of(http) != View::Pending) {
        return Taken::NotMine;
    }
    for (path, kind, key) in KINDS {
        let rows = match rows(item, path) {
            Ok(rows) => rows,
            Err(Taken::NotMine) => continue,
            Err(other) => return other,
        };
        facts.sdn.pending_read.insert(kind, Sourced::new((), item));
        for row in rows {
            let Some(state) = text(&row, "state") else { continue };
            let zone = if kind == "zone" { text(&row, key) } else { either(&row, "zone") };
            let id = text(&row, key).unwrap_or_default();
            let one = Pending { kind, id, zone, state, changes: changes(&row) };
            facts.sdn.pending.push(Sourced::new(one, item));
        }
        return Taken::Read;
    }
    Taken::NotMine
}

pub(super) fn changes(row: &Map<String, Value>) -> Vec<Change> {
    let Some(waiting) = row.get("pending").and_then(Value::as_object) else { return Vec::new() };
    let change = |field: &String| {
        let new = text(waiting, field).filter(|value| value != "deleted");
        Change { field: field.clone(), old: text(row, field), new }
    };
    waiting.keys().map(change).collect()
}

fn write(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http().filter(|h| h.api == Api::Proxmox && h.method != "GET") else { return Taken::NotMine };
    if !http.ok() || !http.path.starts_with("cluster/sdn") {
        return Taken::NotMine;
    }
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        Some((key.to_owned(), value.to_owned()))
    };
    let fields = http.sent.iter().flat_map(|sent| sent.split('&')).filter_map(pair).collect();
    let write = Write { method: http.method.clone(), path: http.path.clone(), fields };
    facts.sdn.writes.push(Sourced::new(write, item));
    Taken::Read
}

/// The message is Proxmox's own and stable (`facts/proxmox.md` §6).
fn lock(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http().filter(|h| h.method == "POST" && h.asks(Api::Proxmox, "cluster/sdn/lock")) else {
        return Taken::NotMine;
    };
    let said =
        [item.body.as_str(), &http.ended.reason].into_iter().any(|t| t.contains("configuration has pending changes"));
    if http.ok() || !said {
        return Taken::NotMine;
    }
    facts.sdn.lock_refused = Some(Sourced::new("configuration has pending changes".to_owned(), item));
    Taken::Read
}

fn dry_run(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http().filter(|h| h.gets(Api::Proxmox, "cluster/sdn/dry-run") && h.ok()) else {
        return Taken::NotMine;
    };
    let Some(node) = http.query.get("node").cloned() else { return Taken::NotMine };
    let value = match json(item) {
        Ok(value) => value,
        Err(taken) => return taken,
    };
    let Some(data) = value.get("data").and_then(Value::as_object) else {
        return Taken::Unreadable("a dry run without data".to_owned());
    };
    let diff = |key: &str| text(data, key).filter(|diff| !diff.trim().is_empty());
    let run =
        DryRun { frr: diff("frr-diff"), frr_told: data.contains_key("frr-diff"), interfaces: diff("interfaces-diff") };
    facts.sdn.dry_runs.insert(node, Sourced::new(run, item));
    Taken::Read
}

/// A SNAT rule of a line of the interfaces file: `… -s 'NET' -o DEV -j SNAT --to-source ADDR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedSnat {
    /// Prefix.
    pub source: IpNet,
    /// Output interface.
    pub out: String,
    /// Address.
    pub to: String,
}

impl DryRun {
    /// SNAT rules on added lines (`true`) and removed ones (`false`).
    #[must_use]
    pub fn snat(&self, added: bool) -> Vec<RenderedSnat> {
        let mark = if added { '+' } else { '-' };
        let lines = self.interfaces.iter().flat_map(|diff| diff.lines());
        let lines = lines.filter_map(|line| line.strip_prefix(mark)).filter(|line| line.trim().starts_with("post-up "));
        let rule = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let after = |key: &str| words.iter().position(|w| *w == key).and_then(|at| words.get(at + 1)).copied();
            Some(RenderedSnat {
                source: after("-s")?.trim_matches('\'').parse().ok()?,
                out: after("-o")?.to_owned(),
                to: after("--to-source")?.to_owned(),
            })
        };
        lines.filter_map(rule).collect()
    }
}
