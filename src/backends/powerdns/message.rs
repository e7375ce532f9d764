//! From an answer that says no to its [`Error`] (facts/dns.md §1).

use serde::Deserialize;

use super::error::Error;
use crate::backends::http::{Response, clean};

/// Longest text of an answer that gets into an error, in characters.
const LONGEST: usize = 300;

/// The body of a refusal.
#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    errors: Vec<String>,
}

/// What `answer` to a request for `path` means, in words without `key`: a proxy in between may repeat it.
pub(super) fn error_from_answer(path: &'static str, answer: &Response, key: &str) -> Error {
    let status = answer.status;
    let Some(text) = words(answer) else { return error_from_page(answer, key) };
    let text = quoted(&text, key);
    match status {
        401 => Error::Unauthenticated,
        403 => Error::Denied { text },
        404 => Error::NoApi { path, text },
        422 => Error::Unprocessable { text },
        500.. => Error::ServerFault { status, text },
        _ => Error::Refused { status, text },
    }
}

/// A success whose body is not JSON.
pub(super) fn not_the_api(answer: &Response) -> Error {
    let media = answer.content_type.clone().unwrap_or_else(|| "a body of no type".to_owned());
    Error::NotTheApi { status: answer.status, media }
}

/// A refusal whose body is a page: PowerDNS sends hardly any to who asks for JSON.
fn error_from_page(answer: &Response, key: &str) -> Error {
    match answer.status {
        401 => Error::Unauthenticated,
        500.. => Error::ServerFault { status: answer.status, text: quoted(&answer.reason, key) },
        _ => not_the_api(answer),
    }
}

/// One safe line, not too long, without the key.
fn quoted(text: &str, key: &str) -> String {
    clean(&text.replace(key, "…")).chars().take(LONGEST).collect()
}

/// What a refusal says: `error` of JSON, or plain text. `None` for a page and for JSON that is not PowerDNS's.
fn words(answer: &Response) -> Option<String> {
    let body = String::from_utf8_lossy(&answer.body);
    let media = answer.content_type.as_deref().unwrap_or("text/plain");
    let text = if let Ok(refusal) = serde_json::from_str::<Refusal>(&body) {
        std::iter::once(refusal.error).chain(refusal.errors).collect::<Vec<_>>().join("; ")
    } else if media.starts_with("text/plain") {
        body.into_owned()
    } else {
        return None;
    };
    Some(if text.trim().is_empty() { answer.reason.clone() } else { text })
}
