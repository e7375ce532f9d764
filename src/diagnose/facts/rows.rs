//! Rows of lists as the back ends send them.

use serde_json::{Map, Value};

use super::sdn::text;
use super::{Taken, json};
use crate::diagnose::evidence::{Api, Http, Item};

/// One row.
pub type Row = Map<String, Value>;

/// Puts what was read, or passes on why it was not.
pub fn read<T>(result: Result<T, Taken>, put: impl FnOnce(T)) -> Taken {
    match result {
        Ok(value) => {
            put(value);
            Taken::Read
        }
        Err(taken) => taken,
    }
}

/// The answered request behind `item`, if it asks `api` for `path`.
pub fn answered<'a>(item: &'a Item, api: Api, path: &str) -> Result<&'a Http, Taken> {
    item.http().filter(|http| http.ok() && http.asks(api, path)).ok_or(Taken::NotMine)
}

/// `data` of an answered GET of Proxmox VE.
pub fn data(item: &Item, path: &str) -> Result<Value, Taken> {
    let http = answered(item, Api::Proxmox, path)?;
    if http.method != "GET" {
        return Err(Taken::NotMine);
    }
    let mut value = json(item)?;
    match value.get_mut("data").map(Value::take) {
        Some(data) => Ok(data),
        None => Err(Taken::Unreadable(format!("{}: nothing below \"data\"", http.path))),
    }
}

/// The objects of a list; one that is no object makes all of it unreadable.
pub fn objects(value: Value, what: &str) -> Result<Vec<Row>, Taken> {
    let Value::Array(rows) = value else { return Err(Taken::Unreadable(format!("{what}: no list"))) };
    rows.into_iter()
        .map(|row| match row {
            Value::Object(map) => Ok(map),
            _ => Err(Taken::Unreadable(format!("{what}: a row is no object"))),
        })
        .collect()
}

/// One object.
pub fn object(value: Value, what: &str) -> Result<Row, Taken> {
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(Taken::Unreadable(format!("{what}: no object"))),
    }
}

/// A field that has to be there.
pub fn need(row: &Row, key: &str, what: &str) -> Result<String, Taken> {
    text(row, key).ok_or_else(|| Taken::Unreadable(format!("{what} without {key:?}")))
}

/// Whether `path` of OPNsense is one of `names`: old and new versions spell it `search_rule`, `searchRule`, `searchrule`.
#[must_use]
pub fn opnsense(item: &Item, names: &[&str]) -> bool {
    item.http().is_some_and(|http| {
        let plain = http.path.replace('_', "").to_ascii_lowercase();
        http.ok() && http.api == Api::Opnsense && names.iter().any(|name| *name == plain)
    })
}

/// Rows of an OPNsense search, or of a plain list.
pub fn listed(item: &Item, names: &[&str]) -> Result<Vec<Row>, Taken> {
    if !opnsense(item, names) {
        return Err(Taken::NotMine);
    }
    let mut value = json(item)?;
    let rows = ["rows", "items", "data"].iter().find_map(|key| value.get_mut(*key).map(Value::take));
    objects(rows.unwrap_or(value), names.first().copied().unwrap_or_default())
}

/// A yes or no as it comes: `"1"`, `1`, `true`.
#[must_use]
pub fn truth(row: &Row, key: &str) -> Option<bool> {
    match text(row, key)?.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" | "" => Some(false),
        _ => None,
    }
}

/// A whole number, whether it comes as one or as text.
#[must_use]
pub fn number(row: &Row, key: &str) -> Option<u64> {
    text(row, key)?.trim().parse().ok()
}

/// The selected keys of an option map `{"key": {"value": …, "selected": 1}}`, or the parts of a list as text.
#[must_use]
pub fn selected(value: Option<&Value>) -> Vec<String> {
    let on = |option: &Value| match option.get("selected") {
        Some(Value::Bool(b)) => *b,
        Some(Value::Number(n)) => n.as_u64() == Some(1),
        Some(Value::String(s)) => s == "1",
        _ => false,
    };
    match value {
        Some(Value::Object(map)) => {
            map.iter().filter(|(key, v)| !key.is_empty() && on(v)).map(|(key, _)| key.clone()).collect()
        }
        Some(Value::String(text)) => {
            text.split([',', '\n']).map(str::trim).filter(|p| !p.is_empty()).map(str::to_owned).collect()
        }
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
