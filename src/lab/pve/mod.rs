//! The Proxmox VE API: one function from a request to an answer, and what it does (facts/proxmox.md §1–§10).

mod apply;
mod clone;
mod cloudinit;
mod cluster;
mod form;
mod generate;
mod guests;
mod jobs;
mod nodes;
mod objects;
mod power;
mod qemu;
mod rights;
mod sdn;
mod settings;
mod tasks;

use serde_json::{Value, json};

use super::acting::Act;
use super::state::{Node, Role, World};

pub use apply::NO_TOOLS;
pub use generate::{frr_conf, interfaces_sdn};

/// A request after HTTP has been taken off.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path below `/api2/json`, still percent-encoded.
    pub path: String,
    /// Decoded query parameters in order.
    pub query: Vec<(String, String)>,
    /// Value of the `Authorization` header.
    pub authorization: Option<String>,
    /// Decoded parameters of the body in order.
    pub form: Vec<(String, String)>,
    /// Whether a body came with it.
    pub has_body: bool,
}

/// The body of an [`Answer`].
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// JSON.
    Json(Value),
    /// Text without a content type.
    Text(String),
    /// Nothing.
    Empty,
}

/// What goes back.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Status code, 200–599.
    pub status: u16,
    /// Reason phrase: for errors the first line of the message.
    pub reason: String,
    /// Body.
    pub body: Body,
}

impl Answer {
    fn error(status: u16, message: &str) -> Self {
        let reason = message.lines().next().unwrap_or_default().to_owned();
        Self { status, reason, body: Body::Json(json!({"data": null, "message": message})) }
    }

    fn failed(message: &str) -> Self {
        Self::error(500, &format!("{message}\n"))
    }

    fn forbidden(path: &str, privilege: &str) -> Self {
        Self::error(403, &format!("Permission check failed ({path}, {privilege})\n"))
    }

    fn parameter(errors: Value) -> Self {
        let mut answer = Self::error(400, "Parameter verification failed.\n");
        if let Body::Json(Value::Object(body)) = &mut answer.body {
            body.insert("errors".to_owned(), errors);
        }
        answer
    }

    fn unreachable() -> Self {
        Self { status: 595, reason: "No route to host".to_owned(), body: Body::Empty }
    }

    /// An answer 401: empty body, the reason in the status line only.
    fn unauthorized(reason: &str) -> Self {
        Self { status: 401, reason: reason.to_owned(), body: Body::Empty }
    }
}

/// A successful result: data, and the number of rows where the API adds `total`.
enum Reply {
    Data(Value),
    Counted(Value, usize),
}

impl From<Value> for Reply {
    fn from(data: Value) -> Self {
        Self::Data(data)
    }
}

type Outcome = Result<Reply, Answer>;

/// What a request that changes something answers, and what it does.
type Done = Result<(Value, Act), Answer>;

/// A checked request on its way to its handler.
struct Call<'a> {
    world: &'a World,
    now: i64,
    /// Milliseconds since the epoch.
    now_ms: i64,
    /// Token of the caller, `user@realm!name`.
    user: &'a str,
    role: Role,
    query: &'a [(String, String)],
}

/// What a query parameter must look like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Bool,
    Integer,
    Text,
}

impl Call<'_> {
    fn may(&self, privilege: &str) -> bool {
        rights::holds(self.role, privilege)
    }

    fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn flag(&self, name: &str) -> bool {
        self.param(name) == Some("1")
    }

    fn integer(&self, name: &str) -> Option<i64> {
        self.param(name).and_then(|value| value.parse().ok())
    }

    /// Refuses parameters the endpoint does not know, and values of the wrong type.
    fn accept(&self, known: &[(&str, Shape)]) -> Result<(), Answer> {
        let mut errors = serde_json::Map::new();
        for (name, value) in self.query {
            let problem = match known.iter().find(|(key, _)| key == name) {
                None => Some(
                    "property is not defined in schema and the schema does not allow additional properties".to_owned(),
                ),
                Some((_, Shape::Bool)) if !matches!(value.as_str(), "0" | "1") => {
                    Some(format!("type check ('boolean') failed - got '{value}'"))
                }
                Some((_, Shape::Integer)) if value.parse::<i64>().is_err() => {
                    Some(format!("type check ('integer') failed - got '{value}'"))
                }
                Some(_) => None,
            };
            if let Some(problem) = problem {
                errors.insert(name.clone(), Value::String(problem));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(Answer::parameter(Value::Object(errors))) }
    }

    /// The node of a `proxyto: node` path, if it can be asked.
    fn node(&self, name: &str) -> Result<&Node, Answer> {
        match self.world.node(name) {
            None => Err(Answer::failed(&format!(
                "hostname lookup '{name}' failed - failed to get address info for: {name}: Name or service not known"
            ))),
            Some(node) if !node.online => Err(Answer::unreachable()),
            Some(node) => Ok(node),
        }
    }
}

/// Answers a request at `now` (milliseconds since the epoch), and says what it does, if anything.
#[must_use]
pub(super) fn act(world: &World, now: i64, request: &Request) -> (Answer, Option<Act>) {
    match judge(world, now, request) {
        Ok((answer, act)) => (answer, act),
        Err(answer) => (answer, None),
    }
}

fn judge(world: &World, now_ms: i64, request: &Request) -> Result<(Answer, Option<Act>), Answer> {
    let (user, role) = rights::authenticate(world, request.authorization.as_deref())
        .map_err(|reason| Answer::unauthorized(&reason))?;
    if request.method == "DELETE" && request.has_body {
        let text = "Unexpected content for method 'DELETE'";
        return Err(Answer { status: 501, reason: text.to_owned(), body: Body::Text(text.to_owned()) });
    }
    let decoded: Vec<String> =
        request.path.split('/').filter(|part| !part.is_empty()).map(crate::lab::http::percent_decode).collect();
    let path: Vec<&str> = decoded.iter().map(String::as_str).collect();
    // What the query says counts for more than what the body says (§1).
    let mut parameters = request.query.clone();
    let named = |(key, _): &&(String, String)| request.query.iter().all(|(other, _)| other != key);
    parameters.extend(request.form.iter().filter(named).cloned());
    let call = Call { world, now: now_ms.div_euclid(1000), now_ms, user, role, query: &parameters };
    let method = request.method.as_str();
    let outcome = match (method, path.as_slice()) {
        ("POST", ["nodes", node, "qemu", vmid, "agent", "ping"]) => Some(qemu::agent_ping(&call, node, vmid)),
        ("GET", path) => route(&call, path),
        _ => None,
    };
    if let Some(outcome) = outcome {
        return outcome.map(|reply| match reply {
            Reply::Data(data) => (ok(json!({"data": data})), None),
            Reply::Counted(data, total) => (ok(json!({"data": data, "total": total})), None),
        });
    }
    match change(&call, method, &path) {
        Some(done) => done.map(|(data, act)| (ok(json!({"data": data})), Some(act))),
        None => Err(Answer::error(501, &format!("Method '{method} /{}' not implemented", path.join("/")))),
    }
}

/// What changes something.
fn change(call: &Call<'_>, method: &str, path: &[&str]) -> Option<Done> {
    Some(match (method, path) {
        ("POST", ["access", "ticket"]) => {
            let text = "URI '/access/ticket' not available with API token, need proper ticket.\n";
            Err(Answer::error(403, &format!("Permission check failed ({text})\n")))
        }
        ("POST" | "PUT" | "DELETE", ["cluster", "sdn", rest @ ..]) => return objects::route(call, method, rest),
        ("POST" | "PUT" | "DELETE", ["nodes", node, "qemu", rest @ ..]) => {
            return guests::route(call, method, node, rest);
        }
        _ => return None,
    })
}

fn ok(body: Value) -> Answer {
    Answer { status: 200, reason: "OK".to_owned(), body: Body::Json(body) }
}

fn route(call: &Call<'_>, path: &[&str]) -> Option<Outcome> {
    Some(match path {
        ["version"] => cluster::version(call),
        ["access", "permissions"] => rights::permissions(call),
        ["cluster", "resources"] => cluster::resources(call),
        ["cluster", "status"] => cluster::status(call),
        ["cluster", "nextid"] => cluster::next_id(call),
        ["cluster", "tasks"] => tasks::cluster(call),
        ["cluster", "sdn", rest @ ..] => return sdn::route(call, rest),
        ["nodes"] => cluster::nodes(call),
        ["nodes", node, "qemu", rest @ ..] => return qemu::route(call, node, rest),
        ["nodes", node, "tasks", rest @ ..] => return tasks::route(call, node, rest),
        ["nodes", node, rest @ ..] => return nodes::route(call, node, rest),
        _ => return None,
    })
}
