//! Forwards of the resolver, written (facts/opnsense.md §3, §9): saved at once, in force after the next reconfiguration.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Map, Value, json};

use crate::lab::build::uuid;
use crate::lab::perimeter::{Forward, ForwardKind, Perimeter};
use crate::lab::state::World;

/// What a request does to the perimeter.
pub(in crate::lab) struct Op {
    /// The change.
    pub(in crate::lab) change: Box<dyn Fn(&mut Perimeter) + Send + Sync>,
    /// Whether the resolver starts anew.
    pub(in crate::lab) restarts: bool,
}

/// What is answered to a POST that writes a forward or applies them; `None` for another command.
pub(super) fn write(
    world: &World,
    now: i64,
    name: &str,
    rest: &[String],
    body: &Map<String, Value>,
) -> Option<(Value, Option<Op>)> {
    let perimeter = &world.perimeter;
    let id = rest.first().map(String::as_str).unwrap_or_default();
    let row = perimeter.forwards.iter().find(|row| row.uuid == id);
    Some(match name {
        "unbound/settings/add_forward" => {
            let new = uuid(world, &format!("forward {now} {} {body:?}", perimeter.forwards.len()));
            let (answer, op) = saved(perimeter, blank(&new), body);
            (if op.is_some() { json!({"result": "saved", "uuid": new}) } else { answer }, op)
        }
        // An id that is not there is made.
        "unbound/settings/set_forward" => saved(perimeter, row.cloned().unwrap_or_else(|| blank(id)), body),
        "unbound/settings/toggle_forward" => match row {
            None => (json!({"result": "failed"}), None),
            Some(row) => {
                let on = rest.get(1).map_or(!row.enabled, |word| word == "1");
                let changed = on != row.enabled;
                let switched = Forward { enabled: on, ..row.clone() };
                let word = if on { "Enabled" } else { "Disabled" };
                (json!({"result": word, "changed": changed}), Some(put(perimeter, switched)))
            }
        },
        "unbound/settings/del_forward" => match row {
            None => (json!({"result": "not found"}), None),
            Some(row) => (json!({"result": "deleted"}), Some(gone(perimeter, row))),
        },
        "unbound/service/reconfigure" if perimeter.writing.apply_fails => (json!({"status": "failed"}), None),
        "unbound/service/reconfigure" => {
            let idle = perimeter.writing.apply_idle;
            let change = move |perimeter: &mut Perimeter| {
                if !idle {
                    perimeter.loaded = None;
                }
            };
            (json!({"status": "ok"}), Some(Op { change: Box::new(change), restarts: true }))
        }
        _ => return None,
    })
}

fn blank(uuid: &str) -> Forward {
    Forward {
        uuid: uuid.to_owned(),
        enabled: true,
        kind: ForwardKind::Forward,
        domain: String::new(),
        server: String::new(),
        port: String::new(),
        description: String::new(),
    }
}

/// `row` with what `body` says of it; fields that nobody knows are not looked at.
fn saved(perimeter: &Perimeter, row: Forward, body: &Map<String, Value>) -> (Value, Option<Op>) {
    let Some(fields) = body.get("dot").and_then(Value::as_object) else { return (json!({"result": "failed"}), None) };
    let word = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    // The command decides of which kind it is.
    let row = Forward {
        enabled: word("enabled").map_or(row.enabled, |word| word == "1"),
        kind: ForwardKind::Forward,
        domain: word("domain").unwrap_or(row.domain),
        server: word("server").unwrap_or(row.server),
        port: word("port").unwrap_or(row.port),
        description: word("description").unwrap_or(row.description),
        uuid: row.uuid,
    };
    let validations = invalid(&row);
    if validations.is_empty() {
        return (json!({"result": "saved"}), Some(put(perimeter, row)));
    }
    (json!({"result": "failed", "validations": validations}), None)
}

fn invalid(row: &Forward) -> BTreeMap<&'static str, &'static str> {
    let mut out = BTreeMap::new();
    let letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !row.domain.chars().all(letter) {
        out.insert("dot.domain", "A valid domain must be specified.");
    }
    if row.server.parse::<IpAddr>().is_err() {
        out.insert("dot.server", "Please specify a valid network segment or IP address.");
    }
    if !row.port.is_empty() && !row.port.parse::<u16>().is_ok_and(|port| port > 0) {
        out.insert("dot.port", "Please specify a valid port number (1-65535).");
    }
    out
}

/// The rows of a domain as they are to be. What a fault hides of them is written too: whoever repairs it leaves no second
/// row behind.
fn rows(domain: String, rows: Vec<Forward>) -> Op {
    let change = move |perimeter: &mut Perimeter| {
        perimeter.loaded.get_or_insert_with(|| perimeter.forwards.clone());
        let at = perimeter.forwards.iter().position(|row| row.domain == domain).unwrap_or(perimeter.forwards.len());
        perimeter.forwards.retain(|row| row.domain != domain && !rows.iter().any(|new| new.uuid == row.uuid));
        let at = at.min(perimeter.forwards.len());
        perimeter.forwards.splice(at..at, rows.iter().cloned());
    };
    Op { change: Box::new(change), restarts: false }
}

fn put(perimeter: &Perimeter, row: Forward) -> Op {
    let mut of_domain: Vec<Forward> = perimeter
        .forwards
        .iter()
        .filter(|other| other.domain == row.domain && other.uuid != row.uuid)
        .cloned()
        .collect();
    let domain = row.domain.clone();
    of_domain.push(row);
    rows(domain, of_domain)
}

fn gone(perimeter: &Perimeter, row: &Forward) -> Op {
    let left = perimeter.forwards.iter().filter(|other| other.domain == row.domain && other.uuid != row.uuid);
    rows(row.domain.clone(), left.cloned().collect())
}
