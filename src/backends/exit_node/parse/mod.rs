//! Parsers of what the helper's commands print, one small file each. Pure: text in, typed part or one reason out.
//!
//! Unknown keys are ignored, since iproute2 adds some with every release; a wrong shape fails that part alone.

pub mod batch;
pub mod flows;
pub mod frr;
pub mod links;
pub mod lookup;
pub mod nat;
pub mod neigh;
pub mod proc;
pub mod routes;
pub mod rules;

use serde_json::Value;

/// Why a text was not understood, one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotUnderstood(pub String);

impl NotUnderstood {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// The objects of one `ip -j` document, without the empty ones that some releases print for filtered entries
/// (`facts/exit-node.md` §7).
fn objects(document: &Value) -> Result<impl Iterator<Item = &serde_json::Map<String, Value>>, NotUnderstood> {
    let Value::Array(items) = document else { return Err(NotUnderstood::new("not a JSON array")) };
    if let Some(other) = items.iter().find(|item| !item.is_object()) {
        return Err(NotUnderstood::new(format!("an entry is {}, not an object", kind_of(other))));
    }
    Ok(items.iter().filter_map(Value::as_object).filter(|object| !object.is_empty()))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

type Object = serde_json::Map<String, Value>;

fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

fn needed<'a>(object: &'a Object, key: &str) -> Result<&'a str, NotUnderstood> {
    text(object, key).ok_or_else(|| NotUnderstood::new(format!("an entry has no \"{key}\"")))
}

fn number<T: TryFrom<u64>>(object: &Object, key: &str) -> Option<T> {
    object.get(key).and_then(Value::as_u64).and_then(|n| T::try_from(n).ok())
}

fn words(object: &Object, key: &str) -> Vec<String> {
    let items = object.get(key).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
