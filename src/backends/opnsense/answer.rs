//! From an HTTP answer to its meaning. HTTP 200 says little: OPNsense refuses with 200 and fails with 500
//! (facts/opnsense.md §1, §2).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::endpoints::Privilege;
use super::error::Error;
use super::wire::scalar;
use crate::backends::http::{HttpError, Kind, Response, clean};

/// Longest piece of a foreign answer shown to an operator, in characters.
const SNIPPET: usize = 120;

/// What a request was for; needed to name an error.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Path of the endpoint, e.g. `firewall/filter/get`.
    pub endpoint: &'a str,
    /// Privileges that open it.
    pub need: &'static [Privilege],
}

/// The JSON of a successful answer.
///
/// # Errors
/// Every [`Error`] that an answer can mean; a redirect is in [`error_without_answer`].
pub fn value_of(asked: Asked<'_>, answer: &Response) -> Result<Value, Error> {
    let parsed: Option<Value> = serde_json::from_slice(&answer.body).ok();
    match (answer.status, parsed) {
        (200..=299, Some(value)) => match failure(&value) {
            Some(validations) => Err(Error::Failed { validations }),
            None => Ok(value),
        },
        // A catch-all method answers unknown commands with nothing at all.
        (200..=299, None) if answer.body.is_empty() => Err(Error::NoEndpoint { endpoint: asked.endpoint.to_owned() }),
        (status, Some(Value::Object(map))) if status >= 400 => Err(refused(asked, status, &map)),
        _ => Err(not_the_api(answer)),
    }
}

/// What a request without an answer means: a redirect to the login page is a missing key.
#[must_use]
pub fn error_without_answer(error: HttpError) -> Error {
    match &error.kind {
        Kind::Redirected { location, .. } if location.starts_with("/?url=") => Error::NoCredentials,
        _ => Error::Http(error),
    }
}

fn refused(asked: Asked<'_>, status: u16, map: &Map<String, Value>) -> Error {
    let words = |key: &str| map.get(key).and_then(scalar).map(|t| unescape(&t));
    let text = words("errorMessage").or_else(|| words("message")).unwrap_or_else(|| "without a reason".to_owned());
    match status {
        400 => Error::BadRequest { text },
        401 => Error::Unauthenticated { reason: text },
        403 => Error::Denied { endpoint: asked.endpoint.to_owned(), need: asked.need },
        404 => Error::NoEndpoint { endpoint: asked.endpoint.to_owned() },
        500 if text.contains("denied for write access") => Error::ReadOnlyKey { text },
        500 if text.starts_with("Unexpected error") => Error::Crashed { endpoint: asked.endpoint.to_owned(), text },
        500 => Error::Refused { text },
        _ => Error::Other { status, text },
    }
}

/// `{"result":"failed"}` and its kin: the refusals that come with 200. A message may be a text or a list of texts.
fn failure(value: &Value) -> Option<BTreeMap<String, Vec<String>>> {
    let map = value.as_object()?;
    let word = |key: &str| map.get(key).and_then(Value::as_str);
    let failed =
        word("result") == Some("failed") || (matches!(word("status"), Some("error" | "failed")) && map.len() == 1);
    if !failed {
        return None;
    }
    let mut validations = BTreeMap::new();
    if let Some(Value::Object(fields)) = map.get("validations") {
        for (field, why) in fields {
            let lines = match why {
                Value::Array(list) => list.iter().filter_map(scalar).collect(),
                other => scalar(other).into_iter().collect(),
            };
            validations.insert(clean(field), lines);
        }
    }
    Some(validations)
}

fn not_the_api(answer: &Response) -> Error {
    let media = answer.content_type.as_deref().unwrap_or("no media type");
    let body = String::from_utf8_lossy(answer.body.get(..4096).unwrap_or(&answer.body)).into_owned();
    let words: String = clean(&body).chars().take(SNIPPET).collect();
    Error::NotTheApi { status: answer.status, snippet: clean(&format!("{media}: {words}")) }
}

/// Error texts come with `<`, `>`, `&` and quotes escaped for HTML.
fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#039;", "'")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// What OPNsense says to a command that changes something or starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ack {
    /// Saved; a new object has an id.
    Saved {
        /// Id, on `add`.
        uuid: Option<String>,
    },
    /// Switched.
    Toggled {
        /// The state now.
        enabled: bool,
        /// Whether it was another before; routes do not say up to 25.7.
        changed: Option<bool>,
    },
    /// Gone.
    Deleted,
    /// `ok`: of a command (`status`), or of a test run (`result`).
    Ok,
    /// A command's own word, e.g. `reverted`, `done`, or the output of pf.
    Word(String),
}

/// Reads the acknowledgement of a write (facts §3). Nothing may be concluded from the HTTP status alone.
///
/// # Errors
/// As [`value_of`]; [`Error::Absent`] for `not found`; [`Error::Unreadable`] for an answer that acknowledges nothing.
pub fn acknowledgement(asked: Asked<'_>, answer: &Response) -> Result<Ack, Error> {
    acknowledged(asked, &value_of(asked, answer)?)
}

/// [`acknowledgement`] of an answer that was read already.
pub(super) fn acknowledged(asked: Asked<'_>, value: &Value) -> Result<Ack, Error> {
    let unreadable = |why: &str| Error::Unreadable {
        endpoint: asked.endpoint.to_owned(),
        fault: super::wire::Unreadable { at: "result".to_owned(), why: why.to_owned() },
    };
    let Value::Object(map) = value else { return Err(unreadable("expected an object")) };
    let word = map.get("result").or_else(|| map.get("status"));
    // Nothing at all: the backend did not answer in time, or there was nothing to do. Two line feeds are success
    // (facts §5), so nothing may be trimmed before this.
    if word.is_some_and(|w| w.is_null() || w.as_str() == Some("")) {
        return Err(Error::Failed { validations: BTreeMap::new() });
    }
    let Some(word) = word.and_then(scalar) else { return Err(unreadable("is missing")) };
    match word.as_str() {
        "saved" => Ok(Ack::Saved { uuid: map.get("uuid").and_then(scalar) }),
        "Enabled" | "Disabled" => {
            Ok(Ack::Toggled { enabled: word == "Enabled", changed: map.get("changed").and_then(Value::as_bool) })
        }
        "deleted" => Ok(Ack::Deleted),
        "not found" | "not_found" => Err(Error::Absent { what: asked.endpoint.to_owned() }),
        unknown if unknown.starts_with("unknown") => Err(Error::Absent { what: word }),
        error if error.starts_with("error") => Err(Error::Refused { text: word }),
        "ok" | "OK" | "" => Ok(Ack::Ok),
        _ => Ok(Ack::Word(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked<'static> = Asked { endpoint: "firewall/filter/get", need: &[] };

    fn answer(status: u16, media: &str, body: &str) -> Response {
        Response {
            status,
            reason: String::new(),
            content_type: Some(media.to_owned()),
            date: None,
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn two_hundred_is_not_success() {
        let read = |body: &str| value_of(ASKED, &answer(200, "application/json", body));
        let Err(Error::Failed { validations }) =
            read(r#"{"result":"failed","validations":{"rule.a":"no","rule.b":["x","y"]}}"#)
        else {
            panic!("not refused")
        };
        assert_eq!(validations["rule.a"], ["no"]);
        assert_eq!(validations["rule.b"], ["x", "y"]);
        assert!(matches!(read(r#"{"status":"error"}"#), Err(Error::Failed { .. })));
        assert!(matches!(read(""), Err(Error::NoEndpoint { .. })));
        assert!(matches!(read("<html>"), Err(Error::NotTheApi { .. })));
        assert!(read(r#"{"status":"failed","stats":{}}"#).is_ok(), "an answer with data is the caller's to judge");
    }

    #[test]
    fn json_is_json_whatever_its_media_type() {
        assert!(value_of(ASKED, &answer(200, "text/html; charset=UTF-8", "[]")).is_ok());
    }

    #[test]
    fn five_hundred_is_told_apart_by_its_words() {
        let read = |m: &str| value_of(ASKED, &answer(500, "application/json", &format!(r#"{{"errorMessage":"{m}"}}"#)));
        assert!(matches!(
            read("User a denied for write access (user-config-readonly set)"),
            Err(Error::ReadOnlyKey { .. })
        ));
        assert!(matches!(read("Unexpected error, check log for details"), Err(Error::Crashed { .. })));
        assert_eq!(
            read("Cannot delete &lt;a&gt; &amp; &#039;b&#039;").unwrap_err(),
            Error::Refused { text: "Cannot delete <a> & 'b'".to_owned() }
        );
    }

    #[test]
    fn acknowledgements_say_what_happened() {
        let read = |body: &str| acknowledgement(ASKED, &answer(200, "application/json", body));
        assert_eq!(read(r#"{"result":"saved","uuid":"u"}"#).unwrap(), Ack::Saved { uuid: Some("u".to_owned()) });
        assert_eq!(
            read(r#"{"result":"Disabled","changed":true}"#).unwrap(),
            Ack::Toggled { enabled: false, changed: Some(true) }
        );
        assert_eq!(read(r#"{"status":"OK\n\n"}"#).unwrap(), Ack::Ok);
        assert_eq!(read(r#"{"status":"\n\n"}"#).unwrap(), Ack::Ok);
        for nothing in [r#"{"status":""}"#, r#"{"status":null}"#] {
            assert!(matches!(read(nothing), Err(Error::Failed { .. })), "{nothing}");
        }
        assert!(matches!(read(r#"{"status":"unknown (or removed) savepoint"}"#), Err(Error::Absent { .. })));
        assert!(matches!(read(r#"{"status":"error reloading routes (x)"}"#), Err(Error::Refused { .. })));
        assert!(matches!(read(r#"{"result":"not found"}"#), Err(Error::Absent { .. })));
        assert!(matches!(read("[]"), Err(Error::Unreadable { .. })));
        assert!(matches!(read("{}"), Err(Error::Unreadable { .. })));
    }
}
