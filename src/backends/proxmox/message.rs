//! From an answer with an error status to an [`Error`]. Every text handled here is listed in facts/proxmox.md §1,
//! §5, §6, §8 and §10.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::backends::http::{Response, clean, clean_block};

use super::error::{Error, LockFault, Need, SdnOrVm};
use super::model::AgentState;

const FOLDED: &str = ": 400 Parameter verification failed.\n";

/// What `answer`, whose status is an error, means.
#[must_use]
pub fn error_from_answer(answer: &Response) -> Error {
    let status = answer.status;
    if (595..=599).contains(&status) {
        return Error::NodeUnreachable { status, reason: answer.reason.clone() };
    }
    let body = serde_json::from_slice::<Value>(&answer.body).ok();
    let envelope = body.as_ref().and_then(Value::as_object);
    let message = envelope.and_then(|e| e.get("message")).and_then(Value::as_str);
    let text = match message {
        Some(message) => clean_block(message),
        // Older versions put the message into the reason phrase alone.
        None if answer.body.is_empty() || envelope.is_some() => answer.reason.clone(),
        None if is_page(answer) => return not_the_api(answer),
        None => clean_block(&String::from_utf8_lossy(&answer.body)),
    };
    let text = strip_location(text.trim_end());
    match status {
        401 => Error::Unauthenticated { reason: clean(text) },
        403 => denied(text),
        400 => match envelope.and_then(|e| e.get("errors")).and_then(Value::as_object) {
            Some(errors) => Error::BadParameters { action: None, errors: parameter_errors(errors) },
            None => refused(status, text),
        },
        501 | 506 => match not_implemented(text) {
            Some(endpoint) => Error::NotImplemented { endpoint },
            None => Error::MalformedRequest { text: clean(text) },
        },
        500 if message.is_none() && text.starts_with("malformed JSON") => Error::MalformedRequest { text: clean(text) },
        _ => refused(status, text),
    }
}

/// What the text at the end of a task means, where it has a meaning of its own: tasks fail with the words of a refusal
/// (facts/proxmox.md §9).
pub(super) fn error_from_task(text: &str) -> Option<Error> {
    match refused(500, strip_location(text.trim_end())) {
        Error::Other { .. } => None,
        error => Some(error),
    }
}

/// A success whose body is not the API's envelope, or an error page.
pub(super) fn not_the_api(answer: &Response) -> Error {
    let text = String::from_utf8_lossy(&answer.body);
    let words: String = clean(&text).chars().take(80).collect();
    let media = answer.content_type.as_deref().unwrap_or("no media type");
    Error::NotTheApi { status: answer.status, snippet: format!("{media}: {words}") }
}

fn is_page(answer: &Response) -> bool {
    answer.content_type.as_deref().is_some_and(|t| t.starts_with("text/html"))
        || answer.body.trim_ascii_start().starts_with(b"<")
}

/// Cuts Perl's ` at FILE line N.`
fn strip_location(text: &str) -> &str {
    let Some(rest) = text.strip_suffix('.') else { return text };
    let digits = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    if digits.len() == rest.len() {
        return text;
    }
    let Some(before) = digits.strip_suffix(" line ") else { return text };
    match before.rsplit_once(" at ") {
        Some((head, file)) if !file.is_empty() && !file.contains(char::is_whitespace) => head,
        _ => text,
    }
}

fn parameter_errors(errors: &serde_json::Map<String, Value>) -> BTreeMap<String, String> {
    let words = |v: &Value| v.as_str().map_or_else(|| clean(&v.to_string()), clean);
    errors.iter().map(|(key, why)| (clean(key), words(why))).collect()
}

fn denied(text: &str) -> Error {
    let need = text.strip_prefix("Permission check failed (").and_then(|rest| {
        let (path, privileges) = rest.trim_end().strip_suffix(')')?.split_once(", ")?;
        let privileges: Vec<String> = privileges.split(['|', ',']).map(clean).collect();
        let plausible = path.starts_with('/') && privileges.iter().all(|p| !p.is_empty() && !p.contains(' '));
        plausible.then(|| Need { path: clean(path), privileges })
    });
    Error::Denied { need, text: clean(text) }
}

fn not_implemented(text: &str) -> Option<String> {
    let endpoint = text.strip_prefix("Method '")?.strip_suffix("' not implemented")?;
    Some(clean(endpoint))
}

/// A refusal in words. `action failed: ` or `could not …: ` is split off first.
fn refused(status: u16, text: &str) -> Error {
    if let Some((action, rest)) = text.split_once(FOLDED) {
        return Error::BadParameters { action: Some(clean(action)), errors: folded(rest) };
    }
    if let Some(action) = text.strip_suffix(FOLDED.trim_end()) {
        return Error::BadParameters { action: Some(clean(action)), errors: BTreeMap::new() };
    }
    let (action, text) = split_action(text);
    let action = action.map(clean);
    let text = strip_location(text.trim());
    agent(text)
        .or_else(|| vm(text))
        .or_else(|| locks(action.as_deref(), text))
        .or_else(|| parameters(&action, text))
        .or_else(|| objects(&action, text))
        .unwrap_or_else(|| Error::Other { status, action, text: clean(text) })
}

fn folded(lines: &str) -> BTreeMap<String, String> {
    let mut errors = BTreeMap::new();
    let mut last: Option<String> = None;
    for line in lines.lines().filter(|l| !l.trim().is_empty()) {
        match line.split_once(": ") {
            Some((key, why)) if !key.is_empty() && !key.contains(char::is_whitespace) => {
                errors.insert(clean(key), clean(why));
                last = Some(clean(key));
            }
            // A second line of the same reason.
            _ => {
                let reason: &mut String = errors.entry(last.clone().unwrap_or_default()).or_default();
                reason.push(' ');
                reason.push_str(&clean(line));
            }
        }
    }
    errors
}

fn split_action(text: &str) -> (Option<&str>, &str) {
    let Some((head, rest)) = text.split_once(": ") else { return (None, text) };
    let is_action = (head.ends_with(" failed") || head.starts_with("could not ")) && !head.contains('\'');
    if is_action { (Some(head), rest) } else { (None, text) }
}

fn agent(text: &str) -> Option<Error> {
    if text == "No QEMU guest agent configured" {
        return Some(Error::Agent(AgentState::NotConfigured));
    }
    if text == "QEMU guest agent is not running" {
        return Some(Error::Agent(AgentState::NotRunning));
    }
    if text.strip_prefix("VM ").and_then(|t| t.strip_suffix(" is not running")).is_some_and(is_number) {
        return Some(Error::Agent(AgentState::VmStopped));
    }
    let refusal = text.strip_prefix("Agent error: ")?;
    let pid = refusal.strip_prefix("PID ").and_then(|t| t.strip_suffix(" does not exist"));
    Some(match pid.and_then(|p| p.parse().ok()) {
        Some(pid) => Error::AgentProcessGone { pid },
        None => Error::AgentRefused { text: clean(refusal) },
    })
}

fn vm(text: &str) -> Option<Error> {
    if let Some(lock) = text.strip_prefix("VM is locked (").and_then(|t| t.strip_suffix(')')) {
        return Some(Error::VmLocked { lock: clean(lock) });
    }
    if text == "checksum mismatch (file change by other user?)" {
        return Some(Error::Modified { action: None, what: SdnOrVm::Vm });
    }
    if let Some((file, why)) = text.strip_prefix("can't lock file '").and_then(|t| t.split_once('\''))
        && why.ends_with("got timeout")
    {
        return Some(Error::Busy { action: None, lock: clean(file) });
    }
    match text {
        "no options specified" => return Some(Error::NothingToDo),
        "shrinking disks is not supported" => return Some(Error::DiskShrink),
        "VM quit/powerdown failed - got timeout" => return Some(Error::ShutdownTimedOut),
        "you can't start a vm if it's a template" => return Some(Error::VmState { text: clean(text) }),
        _ => {}
    }
    let (id, state) = text.strip_prefix("VM ")?.split_once(' ')?;
    let about_power = ["not running", "already running", "is running"].iter().any(|s| state.starts_with(s));
    (is_number(id) && about_power).then(|| Error::VmState { text: clean(text) })
}

fn locks(action: Option<&str>, text: &str) -> Option<Error> {
    let owned = || action.map(str::to_owned);
    let named = || action.unwrap_or("request failed").to_owned();
    if let Some((lock, why)) = text.strip_prefix("cfs-lock '").and_then(|t| t.split_once("' error: ")) {
        return match why {
            "no quorum!" => Some(Error::NoQuorum { action: owned() }),
            _ if why.contains("timeout") => Some(Error::Busy { action: owned(), lock: clean(lock) }),
            _ => None,
        };
    }
    if text.starts_with("cluster not ready - no quorum") {
        return Some(Error::NoQuorum { action: owned() });
    }
    if text.starts_with("invalid lock token") {
        let asked_for = action.is_some_and(|a| a.starts_with("could not acquire lock"));
        let fault = if asked_for { LockFault::HeldByAnother } else { LockFault::NoToken };
        return Some(Error::SdnLocked { action: named(), fault });
    }
    if text == "configuration has pending changes" {
        return Some(Error::SdnPending { action: named() });
    }
    text.starts_with("detected modified configuration").then(|| Error::Modified { action: owned(), what: SdnOrVm::Sdn })
}

/// Refusals that name one option but come without an `errors` map.
fn parameters(action: &Option<String>, text: &str) -> Option<Error> {
    let one = |key: &str, why: &str| {
        let errors = BTreeMap::from([(clean(key), clean(why))]);
        Some(Error::BadParameters { action: action.clone(), errors })
    };
    for opening in ["missing value for required option '", "unable to delete required option '", "no such option '"] {
        if let Some(key) = text.strip_prefix(opening).and_then(|t| t.strip_suffix('\'')) {
            return one(key, opening.trim_end_matches('\'').trim_end());
        }
    }
    if let Some((key, why)) = text.strip_prefix("parameter '").and_then(|t| t.split_once("' ")) {
        return one(key, why);
    }
    if let Some((key, why)) = text.strip_prefix("cannot set and delete property '").and_then(|t| t.split_once("' ")) {
        return one(key, &format!("cannot be set and deleted {why}"));
    }
    match text {
        "SSH public key validation error" => one("sshkeys", "is not a valid public key"),
        "proxyto parameter does not exist" => one("node", "is missing"),
        _ => None,
    }
}

fn objects(action: &Option<String>, text: &str) -> Option<Error> {
    let named = || action.clone().unwrap_or_else(|| "request failed".to_owned());
    if let Some(node) = text.strip_prefix("hostname lookup '").and_then(|t| t.split_once('\'')).map(|(n, _)| n) {
        return Some(Error::NodeUnknown { node: clean(node) });
    }
    if text.starts_with("Not an ARRAY reference") {
        return Some(Error::ServerDefect { text: clean(text) });
    }
    if let Some(what) = text.strip_suffix(" don't exist") {
        return Some(Error::ReferenceAbsent { action: named(), what: clean(what) });
    }
    if text == "cannot lookup undefined type!" {
        return Some(Error::ReferenceAbsent { action: named(), what: "the zone".to_owned() });
    }
    if let Some((what, by)) = text.split_once(" is used by ") {
        return Some(Error::InUse { action: named(), what: clean(what), by: clean(by) });
    }
    if let Some(what) = text.strip_suffix(" already defined") {
        return Some(Error::Exists { action: action.clone(), what: clean(what) });
    }
    if let Some(vm) = text.strip_suffix(": config file already exists") {
        return Some(Error::Exists { action: action.clone(), what: clean(vm.trim_start_matches("unable to create ")) });
    }
    let clash = [" is already declared in ", "only 1 global "];
    if clash.iter().any(|c| text.contains(c)) {
        return Some(Error::Conflict { action: action.clone(), text: clean(text) });
    }
    let what =
        text.strip_suffix(" does not exist").or_else(|| text.strip_suffix(" does not exist in configuration"))?;
    Some(Error::Absent { action: action.clone(), what: clean(what) })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
