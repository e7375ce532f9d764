//! The client: one origin, one key, one request in flight.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Interval, MissedTickBehavior, interval};
use zeroize::Zeroizing;

use super::answer::{Ack, Asked, acknowledged, error_without_answer, value_of};
use super::endpoints::Endpoint;
use super::error::Error;
use super::version::{Release, Version};
use super::wire::{Read, Row};
use crate::backends::http::{Access, HttpClient, Limits, Request, clean};
use crate::backends::permit::Permit;
use crate::site::model::OpnsenseSite;

/// Rows asked for at once. A page of this size holds every list of a site many times over.
const PAGE: usize = 1000;
/// Pages read at most: a router that never ends its list must not keep the console busy.
const PAGES: usize = 50;

/// How gently the router is asked. It once hung under load (domain.md §9, T21).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Shortest time between the starts of two requests.
    pub requests: Duration,
    /// Shortest time between the starts of two polls, see [`Client::begin_poll`].
    pub polls: Duration,
}

impl Default for Pace {
    /// 100 ms and 10 s.
    fn default() -> Self {
        Self { requests: Duration::from_millis(100), polls: Duration::from_secs(10) }
    }
}

/// A client of one OPNsense router. Cheap to clone; clones share connections, counters, the version found, and
/// the bound of one request in flight.
#[derive(Debug, Clone)]
pub struct Client {
    http: HttpClient,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    in_flight: Semaphore,
    requests: Gap,
    polls: Gap,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    release: Mutex<Option<Release>>,
}

/// A shortest time between two events.
#[derive(Debug)]
struct Gap {
    period: Duration,
    // Made at the first use: a timer needs the runtime, a client does not.
    timer: tokio::sync::Mutex<Option<Interval>>,
}

impl Gap {
    fn new(period: Duration) -> Self {
        Self { period, timer: tokio::sync::Mutex::new(None) }
    }

    async fn wait(&self) {
        if self.period.is_zero() {
            return;
        }
        let mut timer = self.timer.lock().await;
        let timer = timer.get_or_insert_with(|| {
            let mut timer = interval(self.period);
            timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
            timer
        });
        timer.tick().await;
    }
}

/// How many requests were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// On the wire, repetitions included.
    pub total: u64,
    /// Path template → calls.
    pub by_endpoint: BTreeMap<&'static str, u64>,
}

/// A decoded answer and the endpoint it is from.
#[derive(Debug)]
pub(super) struct Answer {
    endpoint: &'static Endpoint,
    value: Value,
}

/// A request being put together.
pub(super) struct Call<'a> {
    endpoint: &'static Endpoint,
    id: &'a str,
    flag: bool,
    query: Vec<(String, String)>,
    body: Map<String, Value>,
}

impl<'a> Call<'a> {
    pub(super) fn new(endpoint: &'static Endpoint) -> Self {
        Self { endpoint, id: "", flag: false, query: Vec::new(), body: Map::new() }
    }

    /// Fills the placeholder of the path.
    pub(super) fn id(mut self, value: &'a str) -> Self {
        self.id = value;
        self
    }

    /// Fills `{enabled}` of the path.
    pub(super) fn flag(mut self, on: bool) -> Self {
        self.flag = on;
        self
    }

    /// Sets `key` of the body.
    pub(super) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        debug_assert!(self.endpoint.body.contains(&key), "{key} is not declared for {}", self.endpoint.path);
        self.body.insert(key.to_owned(), value.into());
        self
    }

    /// Asks with `key` in the query.
    pub(super) fn asking(mut self, key: &'static str, value: impl ToString) -> Self {
        debug_assert!(self.endpoint.query.contains(&key), "{key} is not declared for {}", self.endpoint.path);
        self.query.push((key.to_owned(), value.to_string()));
        self
    }

    fn page(self, current: usize, rows: usize, phrase: &str) -> Self {
        self.with("current", current).with("rowCount", rows).with("sort", json!({})).with("searchPhrase", phrase)
    }

    fn request(&self, path: &str) -> Result<Request, Error> {
        let mut segments = vec!["api".to_owned()];
        for segment in path.split('/') {
            if segment == "{enabled}" {
                segments.push(u8::from(self.flag).to_string());
                continue;
            }
            segments.push(match segment.strip_prefix('{').and_then(|s| s.strip_suffix('}')) {
                Some(_) => self.checked_id()?.to_owned(),
                None => segment.to_owned(),
            });
        }
        let method = if self.endpoint.method == "POST" { Method::POST } else { Method::GET };
        Ok(Request { method, access: self.endpoint.access, path: segments, query: self.query.clone() })
    }

    /// The id, if it cannot lead to another path. Names of aliases, uuids and devices fit.
    fn checked_id(&self) -> Result<&'a str, Error> {
        let sound = !self.id.is_empty() && self.id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if sound { Ok(self.id) } else { Err(Error::BadId { what: "id", value: clean(self.id) }) }
    }
}

impl Client {
    /// A client of `site`. `key` and `secret` go into one header marked sensitive and nowhere else; dropping them here
    /// wipes the caller's copies.
    ///
    /// # Errors
    /// [`Error::BadCredentials`] when they cannot be sent, [`Error::Http`] when URL and trust do not fit together.
    pub fn new(
        site: &OpnsenseSite,
        key: &Zeroizing<String>,
        secret: &Zeroizing<String>,
        limits: Limits,
        pace: Pace,
    ) -> Result<Self, Error> {
        let header = authorization(key, secret)?;
        let http = HttpClient::new(&site.url, &site.trust, Some((AUTHORIZATION, header)), limits)?;
        let shared = Shared {
            in_flight: Semaphore::new(1),
            requests: Gap::new(pace.requests),
            polls: Gap::new(pace.polls),
            counts: Mutex::default(),
            release: Mutex::default(),
        };
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

    /// Waits until the next poll may start: at least [`Pace::polls`] after the one before, whichever clone began it.
    pub async fn begin_poll(&self) {
        self.shared.polls.wait().await;
    }

    /// Whether this key may use `endpoint`: one request for one row at most, whose content is not looked at.
    ///
    /// # Errors
    /// [`Error::Denied`] where a privilege is missing, and any other [`Error`]; [`Error::BadId`] for an endpoint that
    /// needs an id, and for one that does more than read: nothing is sent then.
    pub async fn may_use(&self, endpoint: &'static Endpoint) -> Result<(), Error> {
        if endpoint.access != Access::Read {
            return Err(Error::BadId { what: "endpoint to try", value: endpoint.path.to_owned() });
        }
        let call = Call::new(endpoint);
        let call = if endpoint.body.is_empty() { call } else { call.page(1, 1, "") };
        self.call(call).await.map(drop)
    }

    /// The version, where it has been found out already.
    #[must_use]
    pub fn known_release(&self) -> Option<Release> {
        *self.shared.release.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn remember(&self, release: Release) {
        *self.shared.release.lock().unwrap_or_else(PoisonError::into_inner) = Some(release);
    }

    /// Sends `call`. Before 25.7 some access lists know the endpoint by its other spelling only: a refusal is asked
    /// again under that one (facts §2).
    pub(super) async fn call(&self, call: Call<'_>) -> Result<Answer, Error> {
        let endpoint = call.endpoint;
        let new = self.known_release().map(|r| r.version.speaks_snake_case());
        let (first, second) = match endpoint.before_25_7 {
            Some(old) if new == Some(false) => (old, Some(endpoint.path)),
            Some(old) if new.is_none() => (endpoint.path, Some(old)),
            _ => (endpoint.path, None),
        };
        match (self.once(&call, first).await, second) {
            (Err(Error::Denied { .. }), Some(other)) => self.once(&call, other).await,
            (result, _) => result,
        }
    }

    async fn once(&self, call: &Call<'_>, path: &str) -> Result<Answer, Error> {
        let endpoint = call.endpoint;
        let request = call.request(path)?;
        // The semaphore is never closed.
        let _permit = self.shared.in_flight.acquire().await.ok();
        self.shared.requests.wait().await;
        *self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(endpoint.path).or_default() += 1;
        let sent = match endpoint.method {
            // Every POST carries a body: one without a length is refused by the web server (facts §1 item 7).
            "POST" => self.http.send_json(&request, &Value::Object(call.body.clone()).to_string()).await,
            _ => self.http.send(&request).await,
        };
        let answer = sent.map_err(error_without_answer)?;
        let value = value_of(Asked { endpoint: path, need: endpoint.need }, &answer)?;
        Ok(Answer { endpoint, value })
    }

    /// What `call`, which changes something, is acknowledged with.
    pub(super) async fn acknowledged(&self, permit: &Permit, call: Call<'_>) -> Result<Ack, Error> {
        let endpoint = call.endpoint;
        tracing::info!(plan = permit.plan(), endpoint = endpoint.path, "OPNsense");
        let answer = self.once(&call, endpoint.path).await?;
        acknowledged(Asked { endpoint: endpoint.path, need: endpoint.need }, &answer.value)
    }

    /// All rows of a search, read page by page.
    pub(super) async fn search<T>(
        &self,
        endpoint: &'static Endpoint,
        id: &str,
        extra: &[(&'static str, &str)],
        mut decode: impl FnMut(&Row<'_>) -> Read<T>,
    ) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        for current in 1..=PAGES {
            let mut call = Call::new(endpoint).id(id).page(current, PAGE, "");
            for (key, value) in extra {
                call = call.with(key, *value);
            }
            let page = self.call(call).await?.page(&mut decode)?;
            let came = page.rows.len();
            rows.extend(page.rows);
            if rows.len() >= page.total {
                return Ok(rows);
            }
            if came == 0 || current == PAGES {
                let endpoint = endpoint.path.to_owned();
                return Err(Error::Incomplete { endpoint, got: rows.len(), total: page.total });
            }
        }
        Ok(rows)
    }

    /// At most `limit` rows that match `phrase`, and how many there are.
    pub(super) async fn search_some<T>(
        &self,
        endpoint: &'static Endpoint,
        phrase: &str,
        limit: usize,
        decode: impl FnMut(&Row<'_>) -> Read<T>,
    ) -> Result<Page<T>, Error> {
        self.call(Call::new(endpoint).page(1, limit, phrase)).await?.page(decode)
    }

    /// The version where a reading depends on it.
    pub(super) async fn version_for_reading(&self) -> Result<Version, Error> {
        match self.known_release() {
            Some(release) => Ok(release.version),
            None => Ok(self.release().await?.version),
        }
    }
}

/// One page of a search.
#[derive(Debug)]
pub(super) struct Page<T> {
    pub rows: Vec<T>,
    /// Rows in all that match.
    pub total: usize,
}

impl Answer {
    /// The whole answer through `decode`.
    pub(super) fn decode<T>(&self, decode: impl FnOnce(&Value) -> Read<T>) -> Result<T, Error> {
        let unreadable = |fault| Error::Unreadable { endpoint: self.endpoint.path.to_owned(), fault };
        decode(&self.value).map_err(unreadable)
    }

    /// The answer as one object.
    pub(super) fn object<T>(&self, decode: impl FnOnce(&Row<'_>) -> Read<T>) -> Result<T, Error> {
        self.decode(|value| decode(&Row::new(value, "")?))
    }

    fn page<T>(&self, decode: impl FnMut(&Row<'_>) -> Read<T>) -> Result<Page<T>, Error> {
        self.object(|answer| {
            let rows: Vec<T> = Row::list(answer.need("rows")?, "rows")?.iter().map(decode).collect::<Read<_>>()?;
            let total = usize::try_from(answer.need_u64("total")?).unwrap_or(usize::MAX);
            Ok(Page { rows, total })
        })
    }
}

/// `Authorization: Basic …`. A colon would end the key early.
fn authorization(key: &str, secret: &str) -> Result<HeaderValue, Error> {
    let (key, secret) = (key.trim_end_matches(['\r', '\n']), secret.trim_end_matches(['\r', '\n']));
    let sound = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
    if !sound(key) || !sound(secret) {
        return Err(Error::BadCredentials("one is empty, or holds a blank or a character outside ASCII"));
    }
    if key.contains(':') {
        return Err(Error::BadCredentials("there is a colon in the key"));
    }
    let pair = Zeroizing::new(format!("{key}:{secret}"));
    let text = Zeroizing::new(format!("Basic {}", &*Zeroizing::new(STANDARD.encode(pair.as_bytes()))));
    let mut value =
        HeaderValue::from_str(&text).map_err(|_| Error::BadCredentials("they cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::super::endpoints;
    use super::*;

    #[test]
    fn credentials_are_checked_without_being_shown() {
        for (key, secret) in
            [("", "c4n4ry"), ("c4n4ry", ""), ("c4:n4ry", "c4n4ry"), ("c4 n4ry", "c4n4ry"), ("ä", "c4n4ry")]
        {
            let error = authorization(key, secret).unwrap_err();
            assert!(matches!(error, Error::BadCredentials(_)), "{key}");
            assert!(!format!("{error} {error:?} {}", error.help()).contains("n4ry"), "{error}");
        }
        let good = authorization("key\n", "secret+/=\n").unwrap();
        assert!(good.is_sensitive() && !format!("{good:?}").contains("Basic"));
        assert_eq!(good.to_str().unwrap(), format!("Basic {}", STANDARD.encode("key:secret+/=")));
    }

    #[test]
    fn ids_cannot_leave_their_place() {
        for bad in ["", ".", "..", "a/b", "a\\b", "a\nb", "a%2fb", "a?b"] {
            let call = Call::new(&endpoints::TABLE).id(bad);
            assert!(matches!(call.request(endpoints::TABLE.path), Err(Error::BadId { .. })), "{bad:?}");
        }
        let request = Call::new(&endpoints::TABLE).id("deevnet_private").request(endpoints::TABLE.path).unwrap();
        assert_eq!(request.path, ["api", "firewall", "alias_util", "list", "deevnet_private"]);
    }
}
