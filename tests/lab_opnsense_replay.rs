//! Recorded answers of a real OPNsense, two releases, replayed against the lab: equal status, error text and shape.
//!
//! The recorded site is another one, so that rows are compared by their kind: which keys rows always have, which they
//! may have, and of which type each is.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of tests, which should stop and tell"
)]

mod lab_client;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deevnet_console::lab::Lab;
use deevnet_console::lab::perimeter::Release;
use lab_client::Perimeter;
use serde_json::Value;

/// Reads the lab does not answer, with the reason.
const NOT_SERVED: &[(&str, &str)] = &[
    ("/log/core/", "the recorded log is canned by the harness"),
    ("download_rules", "CSV of what search_rule tells"),
    ("pf_statistics/rules", "raw lines of pf"),
    ("get_interface_config", "what the overview tells, from ifconfig"),
    ("get_interface/", "one row of the overview with headings"),
    ("list_port_select_options", "choices of a form"),
    ("unbound/settings/get", "many more settings than the console reads"),
    ("find_references", "a search over tables"),
];

/// Objects whose keys are data: ids, names, choices.
const KEYED: &[&str] = &[
    ".stats",
    ".rules.rule",
    ".items",
    ".gateway",
    ".interface",
    ".protocol",
    ".icmptype",
    ".icmp6type",
    ".replyto",
    ".overload",
    ".prio",
    ".set-prio",
    ".set-prio-low",
    ".tos",
    ".statistics",
    ".content",
    ".type",
    ".proto",
    ".shaper1",
    ".categories",
    ".authtype",
    "get_interface_names",
    "list_network_aliases",
    "reverse_lookup",
];

fn recordings(release: &str) -> Option<Vec<Value>> {
    let name = format!("../shared/contracts/opnsense-captures/cap-{release}.json");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

/// What is known of a place in an answer: its types, and of objects how often which key was there.
#[derive(Debug, Default)]
struct Shape {
    types: BTreeSet<&'static str>,
    objects: usize,
    keys: BTreeMap<String, (usize, Shape)>,
    rows: Option<Box<Shape>>,
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl Shape {
    fn learn(&mut self, at: &str, value: &Value) {
        self.types.insert(kind(value));
        match value {
            Value::Array(rows) => {
                let shape = self.rows.get_or_insert_default();
                rows.iter().for_each(|row| shape.learn(at, row));
            }
            Value::Object(fields) if KEYED.iter().any(|end| at.ends_with(end)) => {
                let shape = self.rows.get_or_insert_default();
                fields.values().for_each(|row| shape.learn("[]", row));
            }
            Value::Object(fields) => {
                self.objects += 1;
                for (key, value) in fields {
                    let (count, shape) = self.keys.entry(key.clone()).or_default();
                    *count += 1;
                    shape.learn(&format!("{at}.{key}"), value);
                }
            }
            _ => {}
        }
    }

    /// Differences of ours from one recorded answer (`self`) and from all of its endpoint.
    fn compare(&self, at: &str, all: &Self, ours: &Self, out: &mut Vec<String>) {
        // PHP writes an empty map as a list.
        let empty = ours.rows.as_ref().is_none_or(|rows| rows.types.is_empty()) && ours.objects == 0;
        for other in ours.types.difference(&all.types).filter(|other| **other != "array" || !empty) {
            out.push(format!("{at} is {other}, recorded {:?}", all.types));
        }
        for (key, (count, shape)) in &self.keys {
            match ours.keys.get(key) {
                Some((_, mine)) => {
                    let all = all.keys.get(key).map_or(shape, |(_, all)| all);
                    shape.compare(&format!("{at}.{key}"), all, mine, out);
                }
                // What every recorded row has, ours must have.
                None if *count == self.objects && ours.objects > 0 => out.push(format!("{at}.{key} is missing")),
                None => {}
            }
        }
        let new = ours.keys.keys().filter(|key| !all.keys.contains_key(*key));
        out.extend(new.filter(|_| all.objects > 0).map(|key| format!("{at}.{key} is new")));
        if let (Some(theirs), Some(mine)) = (&self.rows, &ours.rows) {
            theirs.compare(&format!("{at}[]"), all.rows.as_deref().unwrap_or(theirs), mine, out);
        }
    }
}

/// Whether a step changes something; a ping is a job that is made, started and removed.
fn writes(step: &Value) -> bool {
    if step["path"].as_str().unwrap().contains("/diagnostics/ping/") {
        return true;
    }
    let command = step["path"].as_str().unwrap().split('/').nth(4).unwrap_or_default();
    let words = [
        "add",
        "set",
        "del",
        "toggle",
        "move",
        "apply",
        "reconfigure",
        "revert",
        "kill",
        "cancel",
        "savepoint",
        "flush",
        "delete",
    ];
    words.iter().any(|word| command.starts_with(word))
}

/// The lab's own id of the kind of thing that a recorded path names.
fn own_path(lab: &Lab, path: &str) -> String {
    let world = lab.world();
    let perimeter = &world.perimeter;
    let parts: Vec<&str> = path.trim_start_matches("/api/").split('/').collect();
    let id = match parts.as_slice() {
        [.., last] if last.starts_with("99999999") => None,
        ["firewall", "filter", "get_rule", _] => Some(perimeter.rules[0].uuid.clone()),
        ["firewall", "alias", "get_item", _] => {
            perimeter.aliases.iter().find(|alias| alias.kind == "network").map(|alias| alias.uuid.clone())
        }
        ["firewall", _, _, "tenant_tdemo"] => Some("deevnet_private".to_owned()),
        ["routes", "routes", "getroute", _] => Some(perimeter.routes[0].uuid.clone()),
        ["unbound", "settings", "get_forward", _] => Some(perimeter.forwards[0].uuid.clone()),
        _ => None,
    };
    match id {
        Some(id) => [&parts[..parts.len() - 1], &[id.as_str()]].concat().join("/"),
        None => parts.join("/"),
    }
}

/// The recorded body: JSON under another content type is JSON too.
fn recorded_body(step: &Value) -> Value {
    match &step["response"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| step["response"].clone()),
        other => other.clone(),
    }
}

/// The command of a recorded path.
fn place(step: &Value) -> String {
    let path = step["path"].as_str().unwrap().split('?').next().unwrap();
    path.split('/').nth(4).unwrap_or_default().to_owned()
}

/// What all answers of an endpoint have in common is told by module, controller, command and status.
fn endpoint(step: &Value) -> String {
    let path = step["path"].as_str().unwrap().split('?').next().unwrap();
    let parts: Vec<&str> = path.split('/').take(5).collect();
    format!("{} {}", parts.join("/"), step["status"])
}

async fn read(lab: &Lab, firewall: &Perimeter, all: &Shape, step: &Value) -> Vec<String> {
    let recorded_path = step["path"].as_str().unwrap();
    let path = own_path(lab, recorded_path);
    let (id, method) = (step["id"].as_str().unwrap(), step["method"].as_str().unwrap());
    let denied = step["status"] == 403;
    lab.edit(|world| world.perimeter.denied = denied).unwrap();
    let mut request = match (step["user"].as_str(), id) {
        (None, _) => firewall.bare(method, &path),
        (_, "auth.badsecret" | "auth.badkey" | "auth.disabled") => {
            firewall.bare(method, &path).basic_auth("k", Some("s"))
        }
        (_, "auth.bearer") => firewall.bare(method, &path).bearer_auth("k"),
        _ => firewall.request(method, &path),
    };
    if let Some(kind) = step["request_content_type"].as_str() {
        request = request.header("Content-Type", kind);
    }
    request = match &step["request"] {
        Value::Null => request,
        Value::String(text) => request.body(text.clone()),
        body => request.body(own_words(lab, body)),
    };
    let answer = request.send().await.unwrap();
    let mut out = Vec::new();
    let status = step["status"].as_u64().unwrap();
    if u64::from(answer.status().as_u16()) != status {
        out.push(format!("status {}, recorded {status}", answer.status()));
    }
    let header = answer.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    let kind = |text: &str| text.split(';').next().unwrap_or_default().to_owned();
    if let (Some(ours), Some(theirs)) = (&header, step["content_type"].as_str())
        && kind(ours) != kind(theirs)
    {
        out.push(format!("content type {ours}, recorded {theirs}"));
    }
    let body = answer.text().await.unwrap();
    let recorded = recorded_body(step);
    let ours = serde_json::from_str(&body).unwrap_or(Value::String(body));
    for key in ["message", "errorMessage"] {
        if recorded.get(key).is_some_and(Value::is_string) && recorded.get(key) != ours.get(key) {
            out.push(format!("{key} {:?}, recorded {:?}", ours.get(key), recorded.get(key)));
        }
    }
    let (mut theirs, mut mine) = (Shape::default(), Shape::default());
    let place = place(step);
    theirs.learn(&place, &recorded);
    mine.learn(&place, &ours);
    theirs.compare(&place, all, &mine, &mut out);
    out
}

/// A recorded search with the ids and words of the lab's site in place of the recorded ones.
fn own_words(lab: &Lab, body: &Value) -> String {
    let rule = lab.world().perimeter.rules[0].uuid.clone();
    let mut body = body.clone();
    for key in ["ruleid", "searchPhrase"] {
        if body[key].as_str().is_some_and(|text| text.len() == 36) {
            body[key] = rule.clone().into();
        }
    }
    if body["interface"] == "opt3" {
        body["interface"] = "opt10".into();
    }
    body.to_string()
}

/// Replays the recording of `name` against a lab of `release`: how many reads are equal, and of how many.
async fn replay(name: &str, release: Release, told: bool) -> Option<(usize, usize)> {
    let Some(steps) = recordings(name) else {
        eprintln!("SKIPPED the replay of OPNsense {name}: ../shared is absent");
        return None;
    };
    let lab = lab_client::lab(&[]).await;
    lab.edit(|world| {
        world.perimeter.release = release;
        world.perimeter.api.unauthorized_delay_ms = 0;
    })
    .unwrap();
    let firewall = Perimeter::of(&lab);
    let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
    for step in &steps {
        shapes.entry(endpoint(step)).or_default().learn(&place(step), &recorded_body(step));
    }
    let (mut equal, mut all, mut unequal) = (0, 0, Vec::new());
    for step in steps.iter().filter(|step| !writes(step)) {
        let (id, path) = (step["id"].as_str().unwrap(), step["path"].as_str().unwrap());
        all += 1;
        let found = read(&lab, &firewall, &shapes[&endpoint(step)], step).await;
        if found.is_empty() {
            equal += 1;
        } else {
            let why = NOT_SERVED.iter().find(|(part, _)| path.contains(part)).map(|(_, why)| *why);
            unequal.push((format!("{id} {path}"), why.map_or_else(|| found.join("; "), str::to_owned)));
        }
    }
    lab.shutdown().await;
    for (what, why) in unequal.iter().filter(|_| told) {
        println!("  {what}: {why}");
    }
    println!("OPNsense {name} against {release:?}: {equal} of {all} reads equal");
    Some((equal, all))
}

/// `floor` is just under what the lab reaches, in percent. A lab of the other release must do worse, or the
/// comparison would see nothing.
async fn prove(name: &str, release: Release, other: Release, floor: usize) {
    let Some((equal, all)) = replay(name, release, true).await else { return };
    assert!(equal * 100 >= floor * all, "only {equal} of {all} recorded reads are answered alike");
    let (confused, _) = replay(name, other, false).await.unwrap();
    assert!(confused + 12 <= equal, "{confused} of {all} reads of {name} are equal to those of {other:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_reads_of_26_7_are_answered_alike() {
    prove("26.7.2", Release::V26_7, Release::V25_7, 91).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_reads_of_25_7_are_answered_alike() {
    prove("25.7.11", Release::V25_7, Release::V26_7, 93).await;
}
