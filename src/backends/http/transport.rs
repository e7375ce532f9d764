//! One server, one connection pool, and how a request is made.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::body::Bytes;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE, DATE, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Url};
use zeroize::Zeroizing;

use super::Access;
use super::classify::classify;
use super::echo::{Said, blank, blank_word};
use super::error::{HttpError, Kind, Phase};
use super::record::{Exchange, Recorder};
use super::text::clean;
use super::trust::client_config;
use crate::site::model::Trust;
use crate::site::secret::Secret;

/// Below the 5 s after which Proxmox closes an idle connection (facts/proxmox.md §1).
const IDLE: Duration = Duration::from_secs(4);

/// Bounds of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Name lookup, TCP and TLS together.
    pub connect: Duration,
    /// The whole request, body included.
    pub total: Duration,
    /// Bytes of one answer's body.
    pub body: usize,
}

impl Default for Limits {
    /// 5 s to connect, 35 s in all (Proxmox gives up on a proxied call after 30 s), 16 MiB.
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), total: Duration::from_secs(35), body: 16 << 20 }
    }
}

/// A request before it is sent: relative to the client's origin.
#[derive(Debug, Clone)]
pub struct Request {
    /// HTTP method.
    pub method: Method,
    /// What it does to the other side.
    pub access: Access,
    /// Path segments, not yet encoded. `.` and `..` are refused.
    pub path: Vec<String>,
    /// Query pairs, not yet encoded.
    pub query: Vec<(String, String)>,
}

/// What a request carries.
#[derive(Clone, Copy)]
struct Body<'a> {
    media: &'static str,
    text: &'a str,
}

/// An answer with any status but a redirect's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Reason phrase as sent, cleaned; Proxmox puts the error there (facts/proxmox.md §1).
    pub reason: String,
    /// Media type as sent.
    pub content_type: Option<String>,
    /// The server's clock as sent.
    pub date: Option<String>,
    /// Body.
    pub body: Vec<u8>,
}

/// A client of one origin. Cheap to clone; clones share connections and the counter.
#[derive(Debug, Clone)]
pub struct HttpClient {
    inner: reqwest::Client,
    base: Url,
    origin: String,
    secret: Option<Box<(HeaderName, HeaderValue)>>,
    /// Another secret that its requests carry.
    carried: Option<Secret>,
    limits: Limits,
    sent: Arc<AtomicU64>,
    recorder: Option<Recorder>,
}

impl HttpClient {
    /// A client of `origin` (scheme, host, port). `secret` is a header sent with every request; its value is marked
    /// sensitive and never printed.
    ///
    /// # Errors
    /// [`Kind::Setup`] when origin and trust do not fit together or the trust anchor cannot be read.
    pub fn new(
        origin: &str,
        trust: &Trust,
        secret: Option<(HeaderName, HeaderValue)>,
        limits: Limits,
    ) -> Result<Self, HttpError> {
        Self::build(origin, trust, secret, limits, None)
    }

    /// Like [`HttpClient::new`], but every connection goes to the Unix socket `socket`: the near end of a tunnel. Host
    /// header and certificate names stay those of `origin`, and nothing looks `origin` up.
    ///
    /// # Errors
    /// As [`HttpClient::new`].
    pub fn through_socket(
        origin: &str,
        trust: &Trust,
        secret: Option<(HeaderName, HeaderValue)>,
        limits: Limits,
        socket: &Path,
    ) -> Result<Self, HttpError> {
        Self::build(origin, trust, secret, limits, Some(socket))
    }

    fn build(
        origin: &str,
        trust: &Trust,
        secret: Option<(HeaderName, HeaderValue)>,
        limits: Limits,
        socket: Option<&Path>,
    ) -> Result<Self, HttpError> {
        let shown = shown_origin(origin);
        let setup = |why: String| HttpError { origin: shown.clone(), kind: Kind::Setup(why) };
        let base = checked_origin(origin, trust).map_err(|why| setup(why.to_owned()))?;
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(client_config(trust).map_err(setup)?)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .https_only(*trust != Trust::Plaintext)
            .connect_timeout(limits.connect.min(limits.total))
            .pool_idle_timeout(IDLE)
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(SystemResolver);
        if let Some(path) = socket {
            builder = builder.unix_socket(path);
        }
        let inner = builder
            .build()
            .map_err(|e| setup(format!("the HTTP client cannot be built: {}", clean(&e.to_string()))))?;
        let secret = secret.map(|(name, mut value)| {
            value.set_sensitive(true);
            Box::new((name, value))
        });
        Ok(Self { inner, base, origin: shown, secret, carried: None, limits, sent: Arc::default(), recorder: None })
    }

    /// The same client, sharing connections and counter, that tells `recorder` of every exchange.
    #[must_use]
    pub fn recorded(&self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self.clone() }
    }

    /// The same client, and nobody hears of its exchanges: for answers that hold a secret.
    #[must_use]
    pub fn unrecorded(&self) -> Self {
        Self { recorder: None, ..self.clone() }
    }

    /// The same client for requests that carry `secret`: no refusal's words repeat it.
    #[must_use]
    pub fn carrying(&self, secret: &Secret) -> Self {
        Self { carried: Some(secret.clone()), ..self.clone() }
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Requests sent so far, repetitions included.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Sends `request` and reads the whole answer. A read by GET whose connection died before any answer is sent once
    /// more: an idle connection may be closed by the server at any moment.
    ///
    /// # Errors
    /// [`HttpError`]; an answer with an error status is not one, except a redirect.
    pub async fn send(&self, request: &Request) -> Result<Response, HttpError> {
        self.deliver(request, None).await
    }

    /// [`HttpClient::send`] with `json` as the body.
    ///
    /// # Errors
    /// As [`HttpClient::send`].
    pub async fn send_json(&self, request: &Request, json: &str) -> Result<Response, HttpError> {
        self.deliver(request, Some(Body { media: "application/json", text: json })).await
    }

    /// [`HttpClient::send`] with `pairs`, not yet encoded, as a form in the body.
    ///
    /// # Errors
    /// As [`HttpClient::send`].
    pub async fn send_form(&self, request: &Request, pairs: &[(String, String)]) -> Result<Response, HttpError> {
        // A query is encoded as a form is.
        let mut form = self.base.clone();
        form.query_pairs_mut().clear().extend_pairs(pairs);
        let text = Zeroizing::new(form.query().unwrap_or_default().to_owned());
        self.deliver(request, Some(Body { media: "application/x-www-form-urlencoded", text: &text })).await
    }

    async fn deliver(&self, request: &Request, body: Option<Body<'_>>) -> Result<Response, HttpError> {
        let url = self.url(request)?;
        let target = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let mut phase = Phase::Answer;
        let sending = async {
            let first = self.once(request, body, url.clone(), &mut phase).await;
            let repeatable = request.method == Method::GET && request.access == Access::Read;
            match first {
                Err(Kind::ClosedBeforeAnswer) if repeatable => self.once(request, body, url, &mut phase).await,
                other => other,
            }
        };
        let began = tokio::time::Instant::now();
        let outcome = tokio::time::timeout(self.limits.total, sending).await;
        let limit = self.limits.total;
        let result = outcome.unwrap_or(Err(Kind::TimedOut { phase, limit })).map_err(|kind| self.error(kind));
        let path = request.path.join("/");
        match &result {
            Ok(answer) => tracing::debug!(method = %request.method, path, status = answer.status, "request"),
            Err(error) => tracing::debug!(method = %request.method, path, %error, "request"),
        }
        if let Some(recorder) = &self.recorder {
            recorder.hear(Exchange {
                origin: self.origin.clone(),
                method: request.method.to_string(),
                target,
                sent: body.map(|body| body.text.to_owned()),
                took: began.elapsed(),
                ended: result.clone(),
            });
        }
        result
    }

    async fn once(
        &self,
        request: &Request,
        body: Option<Body<'_>>,
        url: Url,
        phase: &mut Phase,
    ) -> Result<Response, Kind> {
        *phase = Phase::Answer;
        self.sent.fetch_add(1, Ordering::Relaxed);
        // PowerDNS leaves the reason out of a refusal unless JSON is asked for (facts/dns.md §1).
        let mut builder = self.inner.request(request.method.clone(), url).header(ACCEPT, "application/json");
        if let Some((name, value)) = self.secret.as_deref() {
            builder = builder.header(name, value);
        }
        if let Some(Body { media, text }) = body {
            // A body may hold a secret: its bytes are wiped once they are sent.
            let bytes = Zeroizing::new(text.as_bytes().to_vec());
            builder = builder.header(CONTENT_TYPE, media).body(Bytes::from_owner(bytes));
        }
        let limit = self.limits.connect.min(self.limits.total);
        let mut answer = builder.send().await.map_err(|e| classify(&e, limit, false))?;
        *phase = Phase::Body;
        self.refuse_redirect(&answer)?;
        let cap = self.limits.body;
        let too_large = || Kind::BodyTooLarge { limit: cap };
        if answer.content_length().is_some_and(|n| n > cap as u64) {
            return Err(too_large());
        }
        // An answer may hold a secret: no copy of it is left behind, by growing or by an early end.
        let room = answer.content_length().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
        let mut body = Zeroizing::new(Vec::with_capacity(room.min(cap)));
        while let Some(chunk) = answer.chunk().await.map_err(|e| classify(&e, limit, true))? {
            if body.len() + chunk.len() > cap {
                return Err(too_large());
            }
            append(&mut body, &chunk);
        }
        let said = if answer.status().is_success() { Said::Data } else { Said::Refusal };
        self.hide(&mut body, said);
        Ok(Response {
            status: answer.status().as_u16(),
            reason: self.told(reason(&answer), said),
            content_type: header(&answer, &CONTENT_TYPE).map(|text| self.told(text, said)),
            date: header(&answer, &DATE).map(|text| self.told(text, said)),
            body: std::mem::take(&mut *body),
        })
    }

    /// Puts stars in place of secrets that were sent. An answer of success may give one back to who asked for it.
    fn hide(&self, text: &mut [u8], said: Said) {
        if let Some((_, credential)) = self.secret.as_deref() {
            blank(credential, text, said);
        }
        if let Some(secret) = self.carried.as_ref().filter(|_| said == Said::Refusal) {
            blank_word(secret.expose().as_bytes(), text, said);
        }
    }

    /// Words of the server without them.
    fn told(&self, text: String, said: Said) -> String {
        let mut bytes = text.into_bytes();
        self.hide(&mut bytes, said);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn refuse_redirect(&self, answer: &reqwest::Response) -> Result<(), Kind> {
        if !answer.status().is_redirection() {
            return Ok(());
        }
        let status = answer.status().as_u16();
        let location = header(answer, &LOCATION).map(|text| self.told(text, Said::Refusal));
        let location = location.unwrap_or_else(|| "nowhere".to_owned());
        if self.base.scheme() == "http" && location.starts_with("https://") {
            return Err(Kind::PlainToTls { status, location });
        }
        Err(Kind::Redirected { status, location })
    }

    fn url(&self, request: &Request) -> Result<Url, HttpError> {
        let mut url = self.base.clone();
        // Dot segments would be folded away and the request would reach another endpoint.
        if let Some(bad) = request.path.iter().find(|s| s.is_empty() || matches!(s.as_str(), "." | "..")) {
            return Err(self.error(Kind::Setup(format!("{bad:?} cannot be part of a path"))));
        }
        match url.path_segments_mut() {
            Ok(mut path) => drop(path.clear().extend(&request.path)),
            Err(()) => return Err(self.error(Kind::Setup("the URL cannot carry a path".to_owned()))),
        }
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        Ok(url)
    }

    fn error(&self, kind: Kind) -> HttpError {
        HttpError { origin: self.origin.clone(), kind }
    }
}

/// Appends `chunk`; where there is no room, what was there is moved to where there is, and wiped.
fn append(body: &mut Zeroizing<Vec<u8>>, chunk: &[u8]) {
    if body.capacity() - body.len() < chunk.len() {
        let mut larger = Zeroizing::new(Vec::with_capacity((body.len() + chunk.len()).saturating_mul(2)));
        larger.extend_from_slice(body);
        *body = larger;
    }
    body.extend_from_slice(chunk);
}

impl Response {
    /// The answer, if its status is 2xx.
    ///
    /// # Errors
    /// [`Kind::Status`] otherwise.
    pub fn success(self, origin: &str) -> Result<Self, HttpError> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(HttpError { origin: clean(origin), kind: Kind::Status { status: self.status, reason: self.reason } })
    }
}

/// The origin for messages: whatever else the text holds, a password among it, stays out.
fn shown_origin(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) if url.has_host() => url.origin().ascii_serialization(),
        _ if text.contains('@') => "the URL".to_owned(),
        _ => clean(text),
    }
}

fn checked_origin(origin: &str, trust: &Trust) -> Result<Url, &'static str> {
    let url = Url::parse(origin).map_err(|_| "not a URL")?;
    if url.host().is_none() || url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err("the URL must be scheme, host and port only, e.g. https://10.20.99.22:8006");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the URL must not carry a user or a password");
    }
    match (url.scheme(), trust) {
        ("http", Trust::Plaintext) => Ok(url),
        ("http", _) => Err("the URL says http:// but trust needs TLS: write https://, or plaintext = true if meant"),
        ("https", Trust::Plaintext) => Err("the URL says https:// but trust says plaintext"),
        ("https", _) => Ok(url),
        _ => Err("only http:// and https:// URLs are understood"),
    }
}

/// The reason phrase as sent: hyper keeps it apart when it differs from the standard one.
fn reason(answer: &reqwest::Response) -> String {
    match answer.extensions().get::<hyper::ext::ReasonPhrase>() {
        Some(sent) => clean(&String::from_utf8_lossy(sent.as_bytes())),
        None => answer.status().canonical_reason().unwrap_or_default().to_owned(),
    }
}

fn header(answer: &reqwest::Response, name: &HeaderName) -> Option<String> {
    answer.headers().get(name).map(|v| clean(&String::from_utf8_lossy(v.as_bytes())))
}

/// A failed name lookup, kept apart from other connect errors.
#[derive(Debug, thiserror::Error)]
#[error("{host}: {reason}")]
pub(super) struct NameNotResolved {
    pub host: String,
    pub reason: String,
}

/// The operating system's resolver.
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await.map(Vec::from_iter);
            match found {
                Ok(addresses) => Ok(Box::new(addresses.into_iter()) as Addrs),
                Err(e) => Err(NameNotResolved { host, reason: e.to_string() }.into()),
            }
        })
    }
}
