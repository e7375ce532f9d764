//! Requests in the order in which they were sent, and why those that failed did. A refused read is *why it is unknown*.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Facts, Reader, Taken};
use crate::backends::http::Response;
use crate::backends::{opnsense, proxmox};
use crate::diagnose::evidence::{Api, Http, Item};
use crate::text::clean;

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[call];

/// Bodies of an empty list are no longer.
const SHORT: usize = 64;

/// Why a request brought nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// No answer within the limit, in the words of who asked.
    NoAnswer(String),
    /// Sent elsewhere.
    Redirected(String),
    /// Refused by Proxmox VE.
    Proxmox(proxmox::Error),
    /// Refused by OPNsense.
    Opnsense(opnsense::Error),
    /// Refused by PowerDNS, or by something else.
    Status {
        /// HTTP status.
        status: u16,
        /// The server's words, cleaned.
        text: String,
    },
}

impl Failure {
    /// In words, for a gap.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::NoAnswer(why) if why.is_empty() => "no answer".to_owned(),
            Self::NoAnswer(why) => format!("no answer: {why}"),
            Self::Redirected(to) => format!("redirected to {to}"),
            Self::Proxmox(error) => error.to_string(),
            Self::Opnsense(error) => error.to_string(),
            Self::Status { status, text } => format!("HTTP {status} {text}"),
        }
    }
}

/// One request and its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The place that was asked.
    pub from: String,
    /// The request.
    pub http: Http,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// The answer is a list without rows.
    pub empty_list: bool,
    /// File.
    pub file: Arc<str>,
}

impl Call {
    /// The failure as Proxmox VE put it.
    #[must_use]
    pub const fn proxmox(&self) -> Option<&proxmox::Error> {
        match &self.failure {
            Some(Failure::Proxmox(error)) => Some(error),
            _ => None,
        }
    }

    /// The failure as OPNsense put it.
    #[must_use]
    pub const fn opnsense(&self) -> Option<&opnsense::Error> {
        match &self.failure {
            Some(Failure::Opnsense(error)) => Some(error),
            _ => None,
        }
    }

    /// Method and path, for people.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} {}", self.http.method, self.http.path)
    }

    /// The form that was sent, decoded once, as the server sees it.
    #[must_use]
    pub fn form(&self) -> BTreeMap<String, String> {
        let sent = self.http.sent.as_deref().unwrap_or_default();
        let pairs = sent.split('&').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (unescaped(key, true), unescaped(value, true))).collect()
    }

    /// What was sent, where that is JSON.
    #[must_use]
    pub fn sent(&self) -> Option<Value> {
        serde_json::from_str(self.http.sent.as_deref()?).ok()
    }

    /// Name, type and values of the RRsets that were sent.
    #[must_use]
    pub fn rrsets(&self) -> Vec<(String, String, Vec<Value>)> {
        let sent = self.sent();
        let all = sent.as_ref().and_then(|sent| sent.get("rrsets")).and_then(Value::as_array).into_iter().flatten();
        let of = |set: &Value, key: &str| set.get(key).and_then(Value::as_str).map(str::to_owned);
        let records = |set: &Value| set.get("records").and_then(Value::as_array).cloned().unwrap_or_default();
        all.filter_map(|set| Some((of(set, "name")?, of(set, "type")?, records(set)))).collect()
    }

    /// What it asks for changes something. OPNsense's searches are POST.
    #[must_use]
    pub fn writes(&self) -> bool {
        match self.http.api {
            Api::Opnsense => {
                self.http.method == "POST" && !opnsense::endpoints::ALL.iter().any(|e| fits(e.path, &self.http.path))
            }
            _ => self.http.method != "GET",
        }
    }
}

/// All requests.
#[derive(Debug, Default)]
pub struct Calls {
    /// In the order in which they were sent.
    pub all: Vec<Call>,
}

impl Calls {
    /// Requests to one interface.
    pub fn of(&self, api: Api) -> impl Iterator<Item = &Call> {
        self.all.iter().filter(move |call| call.http.api == api)
    }

    /// Why `path` (`*` = any one segment) could not be read, where it was asked for in vain.
    #[must_use]
    pub fn why(&self, api: Api, path: &str) -> Option<String> {
        let asked = self.all.iter().rev().find(|c| c.http.asks(api, path) || fits(path, &c.http.path));
        asked.and_then(|call| call.failure.as_ref()).map(Failure::words)
    }
}

/// Whether `path` is `pattern`, in which `{name}` and `*` stand for one segment; OPNsense spells paths in two ways.
fn fits(pattern: &str, path: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
    let mut own = path.split('/');
    let same = |want: &str, have: &str| want.starts_with('{') || want == "*" || plain(want) == plain(have);
    pattern.split('/').all(|want| own.next().is_some_and(|have| same(want, have))) && own.next().is_none()
}

fn call(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http() else { return Taken::NotMine };
    let failure = failure(http, item);
    let failed = failure.is_some();
    let empty = || {
        let rows = serde_json::from_str::<Value>(&item.body).ok();
        rows.is_some_and(|v| v.get("data").unwrap_or(&v).as_array().is_some_and(Vec::is_empty))
    };
    facts.calls.all.push(Call {
        from: item.from.clone(),
        http: http.clone(),
        empty_list: !failed && http.method == "GET" && item.body.len() <= SHORT && empty(),
        failure,
        file: Arc::from(item.file.as_str()),
    });
    // A success is another reader's to understand.
    if failed { Taken::Read } else { Taken::NotMine }
}

fn failure(http: &Http, item: &Item) -> Option<Failure> {
    let status = http.ended.status;
    let response = || Response {
        status,
        reason: http.ended.reason.clone(),
        content_type: header(http, "content-type").map(str::to_owned),
        date: None,
        body: item.body.as_bytes().to_vec(),
    };
    if status == 0 {
        return Some(Failure::NoAnswer(clean(&http.ended.reason).into_owned()));
    }
    if (300..400).contains(&status) {
        let to = header(http, "location").unwrap_or("nowhere");
        return Some(match http.api {
            Api::Opnsense if to.starts_with("/?url=") => Failure::Opnsense(opnsense::Error::NoCredentials),
            _ => Failure::Redirected(clean(to).into_owned()),
        });
    }
    match http.api {
        Api::Proxmox => (status >= 400).then(|| Failure::Proxmox(proxmox::error_from_answer(&response()))),
        Api::Opnsense => {
            let known = opnsense::endpoints::ALL.iter().find(|e| fits(e.path, &http.path));
            let asked = opnsense::Asked { endpoint: &http.path, need: known.map_or(&[], |e| e.need) };
            opnsense::value_of(asked, &response()).err().map(Failure::Opnsense)
        }
        Api::PowerDns | Api::Other => (status >= 400).then(|| {
            let json = serde_json::from_str::<Value>(&item.body).ok();
            let said = json.as_ref().and_then(|v| v.get("error")).and_then(Value::as_str);
            Failure::Status { status, text: clean(said.unwrap_or(&http.ended.reason)).into_owned() }
        }),
    }
}

/// Percent signs taken out; in a form a `+` is a blank.
#[must_use]
pub fn unescaped(text: &str, form: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match (first, hex.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = tail.get(2..).unwrap_or_default();
                continue;
            }
            (b'+', _) if form => out.push(b' '),
            (other, _) => out.push(*other),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A header of the answer, whatever the case of its name.
#[must_use]
pub fn header<'a>(http: &'a Http, name: &str) -> Option<&'a str> {
    http.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}
