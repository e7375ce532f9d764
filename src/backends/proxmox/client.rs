//! The client: one origin, one token, at most four requests in flight. What writes is told to no recorder: a request may
//! carry the pointer of a workload or the token of the SDN lock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::call::Call;
use super::endpoints::{self, Endpoint};
use super::error::Error;
use super::message::{error_from_answer, not_the_api};
use super::model::Permissions;
use super::upid::Upid;
use super::wire::{Row, Unreadable};
use crate::backends::http::{Access, HttpClient, Limits};
use crate::backends::permit::Permit;
use crate::site::model::ProxmoxSite;

/// Proxmox serves with three workers, each one request at a time (facts/proxmox.md §1).
const IN_FLIGHT: usize = 4;

/// A client of one Proxmox VE cluster. Cheap to clone; clones share connections, counters, permissions and the
/// bound on requests in flight.
#[derive(Debug, Clone)]
pub struct Client {
    http: HttpClient,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    in_flight: Semaphore,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    permissions: Mutex<Option<Arc<Permissions>>>,
}

/// How many requests were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// On the wire, repetitions included.
    pub total: u64,
    /// Path template → calls.
    pub by_endpoint: BTreeMap<&'static str, u64>,
}

/// An answer: `data`, still text, and what stands beside it.
///
/// A list is taken apart row by row: as one tree, the resource list of a large site is 10 MiB every few seconds.
#[derive(Debug)]
pub(super) struct Answer {
    endpoint: &'static Endpoint,
    data: Box<RawValue>,
    beside: Map<String, Value>,
}

#[derive(serde::Deserialize)]
struct Envelope {
    data: Box<RawValue>,
    #[serde(flatten)]
    beside: Map<String, Value>,
}

impl Client {
    /// A client of `site`. `token` is the whole token, `user@realm!name=secret`; it goes into one header marked
    /// sensitive and nowhere else; dropping it here wipes the caller's copy.
    ///
    /// # Errors
    /// [`Error::BadToken`] or [`Error::Http`] with a setup fault; nothing is sent.
    pub fn new(site: &ProxmoxSite, token: Zeroizing<String>, limits: Limits) -> Result<Self, Error> {
        let header = authorization(&token)?;
        let http = HttpClient::new(&site.url, &site.trust, Some((AUTHORIZATION, header)), limits)?;
        let shared =
            Shared { in_flight: Semaphore::new(IN_FLIGHT), counts: Mutex::default(), permissions: Mutex::default() };
        Ok(Self { http, shared: Arc::new(shared) })
    }

    /// The same client, sharing connections and bounds, that tells `recorder` of every exchange.
    #[must_use]
    pub fn recorded(&self, recorder: crate::backends::http::Recorder) -> Self {
        Self { http: self.http.recorded(recorder), shared: Arc::clone(&self.shared) }
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.http.origin()
    }

    /// Requests made so far.
    #[must_use]
    pub fn requests(&self) -> RequestCounts {
        let by_endpoint = self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        RequestCounts { total: self.http.sent(), by_endpoint }
    }

    /// The token's privileges; kept for [`Client::can`].
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn permissions(&self) -> Result<Arc<Permissions>, Error> {
        let answer = self.call(Call::new(&endpoints::PERMISSIONS)).await?;
        let read = Arc::new(answer.decode(super::cluster::permissions)?);
        *self.shared.permissions.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Whether the token holds `privilege` at `path`; `None` while [`Client::permissions`] has not been read.
    #[must_use]
    pub fn can(&self, path: &str, privilege: &str) -> Option<bool> {
        let kept = self.shared.permissions.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().map(|p| p.allows(path, privilege))
    }

    /// Whether the list at `endpoint` shows every object to this token; `None` while [`Client::permissions`] has not
    /// been read. Lists leave out what the token may not see and say nothing about it.
    #[must_use]
    pub fn sees_all(&self, endpoint: &Endpoint) -> Option<bool> {
        let kept = self.shared.permissions.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().map(|p| endpoint.privilege.sees_all(p))
    }

    /// Makes a request that looks.
    pub(super) async fn call(&self, call: Call<'_>) -> Result<Answer, Error> {
        debug_assert!(call.endpoint.access != Access::Write, "{} writes", call.endpoint.path);
        self.exchange(&self.http, call).await
    }

    /// Makes a request that looks and whose answer holds a secret.
    pub(super) async fn call_unheard(&self, call: Call<'_>) -> Result<Answer, Error> {
        debug_assert!(call.endpoint.access != Access::Write, "{} writes", call.endpoint.path);
        self.exchange(&self.http.unrecorded(), call).await
    }

    /// Makes a request that writes. It is sent once, whatever happens: [`Error::outcome`] says what is known then.
    pub(super) async fn change(&self, permit: &Permit, call: Call<'_>) -> Result<Answer, Error> {
        let (endpoint, token) = (call.endpoint, call.token());
        debug_assert!(endpoint.access == Access::Write, "{} does not write", endpoint.path);
        tracing::info!(plan = permit.plan(), method = endpoint.method, path = endpoint.path, "change");
        let unheard = self.http.unrecorded();
        let http = token.as_ref().map_or_else(|| unheard.clone(), |token| unheard.carrying(token));
        let answer = self.exchange(&http, call).await;
        answer.map_err(|error| if token.is_some() { error.with_token_given() } else { error })
    }

    async fn exchange(&self, http: &HttpClient, call: Call<'_>) -> Result<Answer, Error> {
        let endpoint = call.endpoint;
        let mut call = call;
        let request = call.request()?;
        // The semaphore is never closed.
        let _permit = self.shared.in_flight.acquire().await.ok();
        *self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(endpoint.path).or_default() += 1;
        let answer = match call.form() {
            Some(form) => http.send_form(&request, form).await?,
            None => http.send(&request).await?,
        };
        if !(200..300).contains(&answer.status) {
            return Err(error_from_answer(&answer));
        }
        match serde_json::from_slice(&answer.body) {
            Ok(Envelope { data, beside }) => Ok(Answer { endpoint, data, beside }),
            Err(_) => Err(not_the_api(&answer)),
        }
    }
}

impl Answer {
    /// `data` through `decode`.
    pub(super) fn decode<T>(&self, decode: impl FnOnce(&Value) -> Result<T, Unreadable>) -> Result<T, Error> {
        decode(&self.data()).map_err(|fault| self.unreadable(fault))
    }

    /// The rows of `data` through `decode`, in order.
    pub(super) fn rows<T>(&self, mut decode: impl FnMut(&Row<'_>) -> Result<T, Unreadable>) -> Result<Vec<T>, Error> {
        let Ok(rows) = serde_json::from_str::<Vec<&RawValue>>(self.data.get()) else {
            // Not a list: the decoder says what it is instead.
            return self.decode(|data| Row::list(data, "data")?.iter().map(decode).collect());
        };
        let one = |(i, raw): (usize, &RawValue)| {
            let row = tree(raw);
            decode(&Row::new(&row, format!("data[{i}]"))?)
        };
        rows.into_iter().enumerate().map(one).collect::<Result<_, _>>().map_err(|fault| self.unreadable(fault))
    }

    /// `data` as the id of a task.
    pub(super) fn upid(&self) -> Result<Upid, Error> {
        self.decode(|data| {
            upid(data)?.ok_or_else(|| Unreadable { at: "data".to_owned(), why: "is missing".to_owned() })
        })
    }

    /// `data` as the id of a task, where there may be none.
    pub(super) fn upid_if_any(&self) -> Result<Option<Upid>, Error> {
        self.decode(upid)
    }

    pub(super) fn data(&self) -> Value {
        tree(&self.data)
    }

    /// What stands beside `data`.
    pub(super) fn beside(&self) -> Row<'_> {
        Row::of_map(&self.beside, "")
    }

    pub(super) fn unreadable(&self, fault: Unreadable) -> Error {
        Error::Unreadable { endpoint: self.endpoint.path, fault }
    }
}

fn upid(data: &Value) -> Result<Option<Upid>, Unreadable> {
    let unreadable = |why: &str| Unreadable { at: "data".to_owned(), why: why.to_owned() };
    match data {
        Value::Null => Ok(None),
        Value::String(text) => text.parse().map(Some).map_err(|_| unreadable("is not a task id")),
        _ => Err(unreadable("is not text")),
    }
}

/// A part of an answer that was valid JSON as a whole, taken apart.
fn tree(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or(Value::Null)
}

/// `Authorization: PVEAPIToken=…`. Proxmox ends the value at `;` and un-escapes `%`, so neither may occur
/// (facts/proxmox.md §3).
fn authorization(token: &str) -> Result<HeaderValue, Error> {
    let token = token.trim_end_matches(['\r', '\n']);
    let (id, secret) = token.split_once('=').ok_or(Error::BadToken("no = in it"))?;
    let (user, name) = id.split_once('!').ok_or(Error::BadToken("no ! before the token's name"))?;
    if !user.contains('@') {
        return Err(Error::BadToken("no @realm after the user"));
    }
    if name.len() < 2 || secret.is_empty() {
        return Err(Error::BadToken("the token's name or its secret is too short"));
    }
    if !token.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b';' | b'%')) {
        return Err(Error::BadToken("it holds a blank, ;, % or a character outside ASCII"));
    }
    let text = Zeroizing::new(format!("PVEAPIToken={token}"));
    let mut value = HeaderValue::from_str(&text).map_err(|_| Error::BadToken("it cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_checked_without_being_shown() {
        for bad in [
            "",
            "secret",
            "ops@pve!t1",
            "ops!t1=s3cr3t",
            "ops@pve!t=s3cr3t",
            "ops@pve!t1=",
            "ops@pve!t1=s3;cr3t",
            "ops@pve!t1=s3 cr3t",
            "ops@pve!t1=%41",
        ] {
            let error = authorization(bad).unwrap_err();
            assert!(matches!(error, Error::BadToken(_)), "{bad}");
            assert!(!format!("{error} {error:?} {}", error.help()).contains("cr3t"), "{error}");
        }
        let good = authorization("ops@pve!t1=0badf00d-1111\n").unwrap();
        assert!(good.is_sensitive());
        assert_eq!(good.to_str().unwrap(), "PVEAPIToken=ops@pve!t1=0badf00d-1111");
        assert!(!format!("{good:?}").contains("0badf00d"));
    }
}
