//! Bodies of requests to the Proxmox API: form or JSON, and nothing else (facts/proxmox.md §1).

use serde_json::Value;

use super::parse_query;
use crate::lab::pve::{Answer, Body};
use crate::lab::sdn::scalar;

/// The parameters of a body, with a list's key repeated and switches as `0` and `1`.
///
/// # Errors
/// The answer to another kind of content, or to JSON that cannot be read.
pub(super) fn read(kind: Option<&str>, body: &[u8]) -> Result<Vec<(String, String)>, Answer> {
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim());
    let text = String::from_utf8_lossy(body);
    match kind {
        _ if body.is_empty() => Ok(Vec::new()),
        None | Some("" | "application/x-www-form-urlencoded") => Ok(parse_query(&text)),
        Some("application/json") => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Ok(object.iter().flat_map(|(key, value)| values(key, value)).collect()),
            Ok(_) => Err(plain(500, "JSON object expected at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 934.\n")),
            Err(_) => Err(plain(500, &malformed(&text))),
        },
        Some(other) => Err(plain(506, &format!("upload 'Content-Type '{other}' not implemented"))),
    }
}

fn values(key: &str, value: &Value) -> Vec<(String, String)> {
    let one = |value: &Value| match value {
        Value::Bool(on) => u8::from(*on).to_string(),
        other => scalar(other),
    };
    match value {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().map(|value| (key.to_owned(), one(value))).collect(),
        value => vec![(key.to_owned(), one(value))],
    }
}

/// What Perl's parser says of a text that ends too early; of anything else it says less here than there.
fn malformed(text: &str) -> String {
    let end = text.trim_end().len();
    let offset = (end + 1).min(text.len());
    let what = "malformed JSON string, neither tag, array, object, number, string or atom, at character offset";
    let at = "at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 934.";
    format!("{what} {offset} (before \"(end of string)\") {at}\n")
}

/// Text without a content type; the reason phrase is its first line.
fn plain(status: u16, text: &str) -> Answer {
    let reason = text.lines().next().unwrap_or_default().to_owned();
    Answer { status, reason, body: Body::Text(text.to_owned()) }
}
