//! The OPNsense API: pure functions from a request to an answer, and to what it changes (facts/opnsense.md).
//!
//! Fields, and which scalar is a string, a number or a boolean where, are those of the releases, oddities included.
//! Forwards of the resolver can be written; all else is refused as for a key that is bound to reading.

mod config;
mod diagnostics;
mod forms;
mod forward;
mod options;
mod pf;
mod resolver;
mod rules;
mod status;

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::http::{Answer, Call, Payload};
use super::perimeter::{Perimeter, Release};
use super::state::World;

pub(super) use forward::Op;

/// Content type of JSON answers.
const JSON: &str = "application/json; charset=UTF-8";
/// Rows of a page when the request does not say.
const ROWS: usize = 9999;

/// A checked request on its way to its handler.
struct Ask<'a> {
    world: &'a World,
    perimeter: &'a Perimeter,
    now: i64,
    post: bool,
    body: Map<String, Value>,
    query: &'a [(String, String)],
}

impl Ask<'_> {
    fn modern(&self) -> bool {
        self.perimeter.release == Release::V26_7
    }

    /// A scalar of the body as text; `None` when it is not there.
    fn text(&self, key: &str) -> Option<String> {
        match self.body.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn number(&self, key: &str) -> Option<i64> {
        self.text(key)?.parse().ok()
    }

    fn query(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// One page of a list. Paging and search are read from POST only.
    fn grid(&self, mut rows: Vec<Value>) -> Value {
        if !self.post {
            return page(&rows, rows.len(), 1);
        }
        let phrase = self.text("searchPhrase").unwrap_or_default().to_lowercase();
        let words: Vec<&str> = phrase.split_whitespace().collect();
        rows.retain(|row| words.iter().all(|word| holds(row, word)));
        self.sort(&mut rows);
        let total = rows.len();
        let count = match self.number("rowCount") {
            None => ROWS,
            Some(count) => usize::try_from(count).unwrap_or(usize::MAX),
        };
        let current = self.number("current").and_then(|page| usize::try_from(page).ok()).unwrap_or(1).max(1);
        let rows: Vec<Value> = rows.into_iter().skip((current - 1).saturating_mul(count)).take(count).collect();
        page(&rows, total, current)
    }

    fn sort(&self, rows: &mut [Value]) {
        let Some((key, direction)) = self.body.get("sort").and_then(|sort| sort.as_object()?.iter().next()) else {
            return;
        };
        rows.sort_by_key(|row| row.get(key).map(plain).unwrap_or_default());
        if direction == "desc" {
            rows.reverse();
        }
    }
}

fn page(rows: &[Value], total: usize, current: usize) -> Value {
    json!({"total": total, "rowCount": rows.len(), "current": current, "rows": rows})
}

/// Whether a word occurs in any scalar of a row.
fn holds(row: &Value, word: &str) -> bool {
    let scalars = row.as_object().into_iter().flat_map(Map::values).filter(|value| !value.is_array());
    scalars.map(plain).any(|text| text.to_lowercase().contains(word))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `1` and `0`, as most fields are.
fn flag(on: bool) -> &'static str {
    if on { "1" } else { "0" }
}

/// Answers a request that changes nothing.
pub(super) fn answer(world: &World, now: i64, call: &Call) -> Answer {
    match admitted(world, now, call) {
        Ok((ask, name, rest)) => route(&ask, &name, &rest.iter().map(String::as_str).collect::<Vec<_>>()),
        Err(answer) => *answer,
    }
}

/// Answers a request that changes something, and says what it does; `None` for one that does not.
pub(super) fn write(world: &World, now: i64, call: &Call) -> Option<(Answer, Option<Op>)> {
    let (ask, name, rest) = admitted(world, now, call).ok()?;
    if !ask.post {
        return None;
    }
    let (value, op) = forward::write(world, now, &name, &rest, &ask.body)?;
    Some((Answer::new(200, Payload::JsonAs(JSON, value)), op))
}

/// The request of whoever may ask: what it holds, its command in snake case, and what stands behind that.
fn admitted<'a>(world: &'a World, now: i64, call: &'a Call) -> Result<(Ask<'a>, String, Vec<String>), Box<Answer>> {
    let perimeter = &world.perimeter;
    let arrived = call.header("authorization").filter(|_| !perimeter.api.credentials_lost);
    let Some(authorization) = arrived else { return Err(login_page(call).into()) };
    if !perimeter.api.tokens_known || !authentic(perimeter, authorization) {
        return Err(plain_error(401, "Authentication Failed").into());
    }
    if perimeter.denied {
        return Err(plain_error(403, "Forbidden").into());
    }
    let path = call.path.trim_start_matches("/api/");
    match perimeter.faulty.iter().find(|(at, _)| path.starts_with(at.as_str())).map(|(_, status)| *status) {
        None => {}
        Some(302) => return Err(login_page(call).into()),
        Some(403) => return Err(plain_error(403, "Forbidden").into()),
        Some(status) => {
            let message = "Unexpected error, check log for details";
            return Err(Answer::new(status, Payload::JsonAs(JSON, json!({"errorMessage": message}))).into());
        }
    }
    let json = call.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    if json && call.body.is_empty() {
        return Err(plain_error(400, "Invalid JSON syntax").into());
    }
    let ask = Ask { world, perimeter, now, post: call.method == "POST", body: body(call), query: &call.query };
    let parts: Vec<&str> = call.path.trim_start_matches("/api/").split('/').filter(|part| !part.is_empty()).collect();
    let [module, controller, command, rest @ ..] = parts.as_slice() else { return Err(nowhere().into()) };
    // The console's key is a full one, which camel case dispatches for as well.
    let name = [module, controller, command].map(|part| snake(part)).join("/");
    Ok((ask, name, rest.iter().map(|part| (*part).to_owned()).collect()))
}

/// Where a request goes whose key did not arrive.
fn login_page(call: &Call) -> Answer {
    let mut answer = Answer::new(302, Payload::Text("text/html; charset=UTF-8", String::new()));
    answer.headers.push(("location", format!("/?url={}", call.path)));
    answer
}

fn authentic(perimeter: &Perimeter, authorization: &str) -> bool {
    let (key, secret) = &perimeter.credential;
    let wanted = base64::engine::general_purpose::STANDARD.encode(format!("{key}:{secret}"));
    authorization.strip_prefix("Basic ") == Some(wanted.as_str())
}

/// An error in the form of the front controller.
fn plain_error(status: u16, message: &str) -> Answer {
    Answer::new(status, Payload::JsonAs(JSON, json!({"status": status, "message": message})))
}

/// An error in the form of the dispatcher.
fn nowhere() -> Answer {
    Answer::new(404, Payload::JsonAs(JSON, json!({"errorMessage": "Endpoint not found"})))
}

/// The fields of a body, JSON or form; anything else counts as an empty one.
fn body(call: &Call) -> Map<String, Value> {
    let kind = call.header("content-type").unwrap_or_default();
    if kind.starts_with("application/x-www-form-urlencoded") {
        let text = String::from_utf8_lossy(&call.body);
        return super::http::parse_query(&text).into_iter().map(|(key, value)| (key, Value::String(value))).collect();
    }
    match serde_json::from_slice(&call.body) {
        Ok(Value::Object(object)) if kind.starts_with("application/json") => object,
        _ => Map::new(),
    }
}

/// `searchRule` and `Firewall` as they are written in paths.
fn snake(text: &str) -> String {
    let mut out = String::new();
    for (at, character) in text.char_indices() {
        if character.is_ascii_uppercase() && at > 0 {
            out.push('_');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

/// Commands that change something.
const WRITES: &[&str] = &[
    "add",
    "set",
    "del",
    "toggle",
    "move",
    "apply",
    "reconfigure",
    "revert",
    "kill",
    "flush",
    "dismiss",
    "restart",
    "start",
    "stop",
    "import",
    "cancel",
    "remove",
];

fn route(ask: &Ask<'_>, name: &str, rest: &[&str]) -> Answer {
    let id = rest.first().copied();
    let found = rules::read(ask, name, id)
        .or_else(|| config::read(ask, name, id))
        .or_else(|| forms::read(ask, name, id))
        .or_else(|| diagnostics::read(ask, name, id));
    if let Some(value) = found {
        // This one says that it is HTML.
        let kind = if name == "interfaces/overview/export" { "text/html; charset=UTF-8" } else { JSON };
        return Answer::new(200, Payload::JsonAs(kind, value));
    }
    let command = name.rsplit('/').next().unwrap_or_default();
    let known =
        ["firewall/", "routes/routes/", "routing/settings/", "unbound/", "core/system/", "diagnostics/firewall/"];
    let writes = WRITES.iter().any(|word| command == *word || command.starts_with(&format!("{word}_")));
    if writes && known.iter().any(|module| name.starts_with(module)) {
        return refused(ask);
    }
    // A catch-all method answers for every command of this controller.
    if name.starts_with("unbound/settings/") {
        return Answer::new(200, Payload::Text("text/html; charset=UTF-8", String::new()));
    }
    nowhere()
}

fn refused(ask: &Ask<'_>) -> Answer {
    if !ask.post {
        return Answer::new(200, Payload::JsonAs(JSON, json!({"result": "failed"})));
    }
    let message = "User console denied for write access (user-config-readonly set)";
    Answer::new(500, Payload::JsonAs(JSON, json!({"errorMessage": message, "errorTitle": "General access"})))
}

#[cfg(test)]
mod tests {
    use super::snake;

    #[test]
    fn camel_case_dispatches_like_snake_case() {
        assert_eq!(snake("searchRule"), "search_rule");
        assert_eq!(snake("Firewall"), "firewall");
        assert_eq!(snake("source_nat"), "source_nat");
    }
}
