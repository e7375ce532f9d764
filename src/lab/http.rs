//! The HTTP front of the lab's APIs: each with its own ways of keeping and closing connections.

mod forms;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::{Body as HttpBody, to_bytes};
use axum::http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request as HttpRequest, Response, StatusCode};
use base64::Engine as _;
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::gate::{Arrival, Late, Way};
use super::pve::{self, Body};
use super::state::{ApiHealth, World};
use super::writing::WrittenAnswer;
use super::{Shared, boot, moment, registry};

/// An idle connection lives this long.
const IDLE: Duration = Duration::from_secs(5);
/// Bytes of a request body that are looked at.
const BODY_LIMIT: usize = 512 * 1024;

/// An API of the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// Proxmox VE: real reason phrases, closed after every error (facts/proxmox.md §1).
    Proxmox,
    /// PowerDNS: one request a connection (facts/dns.md §1).
    PowerDns,
    /// OPNsense behind lighttpd (facts/opnsense.md §2).
    Opnsense,
    /// Check-ins (docs/bootstrap-records.md).
    Bootstrap,
    /// The registry (domain.md §4.6).
    Registry,
}

impl Api {
    /// As a gate calls it.
    const fn word(self) -> &'static str {
        match self {
            Self::Proxmox => "pve",
            Self::PowerDns => "dns",
            Self::Opnsense => "fw",
            Self::Bootstrap => "boot",
            Self::Registry => "registry",
        }
    }

    fn health(self, world: &World) -> ApiHealth {
        match self {
            Self::Proxmox => world.api,
            Self::PowerDns => world.names.api,
            Self::Opnsense => world.perimeter.api,
            Self::Bootstrap => world.boot.api,
            Self::Registry => world.registry.api,
        }
    }

    /// Requests served on one connection before the server closes it.
    fn per_connection(self) -> u32 {
        match self {
            Self::Proxmox | Self::Bootstrap | Self::Registry => 100,
            Self::PowerDns => 1,
            Self::Opnsense => 15,
        }
    }

    /// Whether a host may connect at all.
    fn admits(self, world: &World) -> bool {
        self != Self::PowerDns || !world.names.api_denied
    }
}

/// How many requests are served at a time, and how many were.
#[derive(Debug, Default)]
pub(super) struct Load {
    now: AtomicU32,
    most: AtomicU32,
    all: AtomicU32,
}

impl Load {
    /// Counts a request until the guard is dropped.
    fn enter(&self) -> Served<'_> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        self.all.fetch_add(1, Ordering::SeqCst);
        Served(self)
    }

    /// Requests in all, and the most that were served at a time.
    pub(super) fn seen(&self) -> (u32, u32) {
        (self.all.load(Ordering::SeqCst), self.most.load(Ordering::SeqCst))
    }
}

/// A request that is being served.
struct Served<'a>(&'a Load);

impl Drop for Served<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A request to one of the newer APIs after HTTP has been taken off.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    /// `GET`, `POST`, …
    pub(super) method: String,
    /// Path, still percent-encoded.
    pub(super) path: String,
    /// Decoded query parameters in order.
    pub(super) query: Vec<(String, String)>,
    /// Headers.
    pub(super) headers: HeaderMap,
    /// Body.
    pub(super) body: Vec<u8>,
}

impl Call {
    /// A header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// A query parameter.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The body of an [`Answer`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Payload {
    /// JSON.
    Json(Value),
    /// JSON under another content type.
    JsonAs(&'static str, Value),
    /// Text of a content type.
    Text(&'static str, String),
    /// Nothing.
    Empty,
}

/// What goes back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// Status code.
    pub(super) status: u16,
    /// Reason phrase; `None` = the usual one.
    pub(super) reason: Option<String>,
    /// Headers besides content type and connection.
    pub(super) headers: Vec<(&'static str, String)>,
    /// Body.
    pub(super) payload: Payload,
}

impl Answer {
    /// An answer without additional headers.
    pub(super) fn new(status: u16, payload: Payload) -> Self {
        Self { status, reason: None, headers: Vec::new(), payload }
    }

    /// 200 and JSON.
    pub(super) fn json(value: Value) -> Self {
        Self::new(200, Payload::Json(value))
    }
}

impl From<pve::Answer> for Answer {
    fn from(answer: pve::Answer) -> Self {
        let payload = match answer.body {
            Body::Json(value) => Payload::JsonAs("application/json;charset=UTF-8", value),
            Body::Text(text) => Payload::Text("", text),
            Body::Empty => Payload::Empty,
        };
        Self { reason: Some(answer.reason), ..Self::new(answer.status, payload) }
    }
}

/// Serves until `stop` turns true; without `tls` in plain text.
pub(super) async fn serve(
    api: Api,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let world = shared.world();
                if !api.admits(&world) {
                    // A reset, and no HTTP at all.
                    let _ = stream.set_zero_linger();
                } else if api.health(&world).up {
                    let foreign = api.health(&world).foreign_certificate;
                    let tls = tls.as_ref().map(|own| if foreign { &shared.stranger } else { own }.clone());
                    connections.spawn(connection((api, foreign), stream, tls, Arc::clone(&shared)));
                }
                // A server that is down gives nothing back, not even a handshake.
            }
        }
    }
    connections.shutdown().await;
}

async fn connection(api: (Api, bool), stream: TcpStream, tls: Option<TlsAcceptor>, shared: Arc<Shared>) {
    match tls {
        None => exchange(api, stream, shared).await,
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                exchange(api, stream, shared).await;
            }
        }
    }
}

/// `foreign`: the certificate that the connection was made with. With another one the server is another process.
async fn exchange(
    (api, foreign): (Api, bool),
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    shared: Arc<Shared>,
) {
    let served = Arc::new(AtomicU32::new(0));
    let service = service_fn(move |request| {
        let (shared, served) = (Arc::clone(&shared), Arc::clone(&served));
        async move {
            // A server that goes down gives no answer on the connections it had.
            let same = api.health(&shared.world()).foreign_certificate == foreign;
            let answer = if same { respond(api, &shared, request).await } else { None };
            let answer = answer.ok_or(io::ErrorKind::ConnectionAborted)?;
            let last = served.fetch_add(1, Ordering::Relaxed) + 1 >= api.per_connection();
            Ok::<_, io::Error>(response(answer, last))
        }
    });
    // An error here is a client that went away.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// The answer; `None` while the server is down.
async fn respond(api: Api, shared: &Shared, request: HttpRequest<Incoming>) -> Option<Answer> {
    let _served = (api == Api::Opnsense).then(|| shared.opnsense_load.enter());
    let world = shared.world();
    let health = api.health(&world);
    if !health.up {
        return None;
    }
    pause(health.delay_ms).await;
    let (parts, body) = request.into_parts();
    let body = to_bytes(HttpBody::new(body), BODY_LIMIT).await.map(|bytes| bytes.to_vec()).unwrap_or_default();
    let mut answer = gated(api, shared, parts, body).await?;
    if answer.status == 401 {
        pause(health.unauthorized_delay_ms).await;
    }
    if health.ahead != 0 {
        let date = moment(shared.now() + health.ahead).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        answer.headers.push(("date", date));
    }
    Some(answer)
}

/// The answer past whoever stands at the gate; `None` where it is lost on its way.
async fn gated(api: Api, shared: &Shared, parts: Parts, body: Vec<u8>) -> Option<Answer> {
    let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let arrival = Arrival {
        number: 0,
        to: api.word(),
        method: parts.method.as_str().to_owned(),
        target: parts.uri.to_string(),
        media: header(CONTENT_TYPE),
        body: body.clone(),
    };
    let (standing, due) = shared.gates.arrives(arrival);
    do_late(shared, due).await;
    let bare = |status| Answer::new(status, Payload::Empty);
    match standing.way {
        Way::Unheard => return None,
        Way::Held => {
            standing.held().await;
            return None;
        }
        Way::Refused(status) => return Some(bare(status)),
        Way::Repeated => return Some(repeated(api, &parts)),
        Way::Later(more) => {
            shared.gates.hold(standing.due(more), Late::Http(api, Box::new(parts), body));
            return None;
        }
        Way::Twice => drop(done(api, shared, parts.clone(), body.clone()).await),
        Way::Pass | Way::Unanswered | Way::Denied(_) | Way::Kept => {}
    }
    let answer = done(api, shared, parts, body).await;
    standing.done();
    match standing.way {
        Way::Unanswered => None,
        Way::Kept => {
            standing.held().await;
            None
        }
        Way::Denied(status) => Some(bare(status)),
        _ => answer,
    }
}

/// A refusal whose words repeat the credential, as PHP writes JSON. OPNsense refuses with 200.
fn repeated(api: Api, parts: &Parts) -> Answer {
    let sent = [AUTHORIZATION.as_str(), "x-api-key"].into_iter().find_map(|name| parts.headers.get(name));
    let sent = sent.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let plain =
        sent.strip_prefix("Basic ").and_then(|text| base64::engine::general_purpose::STANDARD.decode(text).ok());
    let plain = plain.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let words = format!("what was sent is {sent} {plain}");
    let (status, value) = match api {
        Api::Proxmox => (500, json!({"data": null, "message": words})),
        Api::Opnsense => (200, json!({"result": "failed", "validations": {"query": words}})),
        _ => (422, json!({"error": words})),
    };
    Answer::new(status, Payload::Text("application/json", value.to_string().replace('/', "\\/")))
}

/// Does what was held back.
pub(super) async fn do_late(shared: &Shared, due: Vec<Late>) {
    for late in due {
        match late {
            Late::Http(api, parts, body) => drop(done(api, shared, *parts, body).await),
            Late::Put(text) => drop(shared.put_local(&text, None)),
        }
    }
}

/// Does what a request asks for; `None` where the answer is lost on its way.
async fn done(api: Api, shared: &Shared, parts: Parts, body: Vec<u8>) -> Option<Answer> {
    let (world, now) = (shared.world(), shared.now());
    Some(match api {
        Api::Proxmox => proxmox(shared, &parts, &body).await?,
        Api::PowerDns => {
            let (answer, way) = shared.powerdns(&call(parts, body));
            on_its_way(way, answer).await?
        }
        Api::Opnsense => shared.perimeter(&call(parts, body)),
        Api::Bootstrap => boot::answer(&world, now, &call(parts, body)),
        Api::Registry => registry::answer(&world, now, &call(parts, body)),
    })
}

fn call(parts: Parts, body: Vec<u8>) -> Call {
    Call {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parse_query(parts.uri.query().unwrap_or_default()),
        headers: parts.headers,
        body,
    }
}

/// The Proxmox API's answer; `None` where it is lost on its way.
async fn proxmox(shared: &Shared, parts: &Parts, body: &[u8]) -> Option<Answer> {
    let closed = |mut answer: Answer| {
        answer.headers.push(("connection", "close".to_owned()));
        answer
    };
    let Some(path) = parts.uri.path().strip_prefix("/api2/json") else {
        let reason = Some("not implemented".to_owned());
        return Some(closed(Answer { reason, ..Answer::new(501, Payload::Empty) }));
    };
    let authorization = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let form = match forms::read(kind, body).map_err(Answer::from) {
        Ok(form) => form,
        Err(_) if parts.method == "DELETE" => Vec::new(),
        Err(answer) => return Some(closed(answer)),
    };
    let request = pve::Request {
        method: parts.method.as_str().to_owned(),
        path: path.to_owned(),
        query: parse_query(parts.uri.query().unwrap_or_default()),
        form,
        authorization: authorization.map(str::to_owned),
        has_body: !body.is_empty(),
    };
    // Before it acts: what it does may end the fault.
    let way = shared.world().writing.answer;
    let mut answer = Answer::from(shared.proxmox(&request));
    if parts.method != "GET" && answer.status == 200 {
        answer = on_its_way(way, answer).await?;
    }
    Some(if answer.status >= 400 { closed(answer) } else { answer })
}

/// What comes of the answer to a change that was made; `None` where it is lost.
async fn on_its_way(way: WrittenAnswer, answer: Answer) -> Option<Answer> {
    match way {
        WrittenAnswer::Given => Some(answer),
        WrittenAnswer::Lost => None,
        WrittenAnswer::Late(ms) => {
            pause(ms).await;
            Some(answer)
        }
        WrittenAnswer::Instead(status, reason) => {
            Some(Answer { reason: Some(reason.to_owned()), ..Answer::new(status, Payload::Empty) })
        }
    }
}

async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

fn response(answer: Answer, last: bool) -> Response<HttpBody> {
    let (body, kind) = match answer.payload {
        Payload::Json(value) => (value.to_string(), "application/json"),
        Payload::JsonAs(kind, value) => (value.to_string(), kind),
        Payload::Text(kind, text) => (text, kind),
        Payload::Empty => (String::new(), ""),
    };
    let mut response = Response::new(HttpBody::from(body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if !kind.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
    if last {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(reason) = answer.reason.and_then(|reason| ReasonPhrase::try_from(reason.into_bytes()).ok()) {
        response.extensions_mut().insert(reason);
    }
    response
}

/// Decodes a query string; `;` separates pairs as well as `&`.
pub(super) fn parse_query(query: &str) -> Vec<(String, String)> {
    query
        .split(['&', ';'])
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent_decode(&key.replace('+', " ")), percent_decode(&value.replace('+', " ")))
        })
        .collect()
}

/// Undoes percent-encoding once; a broken escape stays as it is.
pub(super) fn percent_decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{parse_query, percent_decode};

    #[test]
    fn escapes_are_undone_once() {
        assert_eq!(percent_decode("UPID%3Apve1%3a%2525"), "UPID:pve1:%25");
        assert_eq!(percent_decode("100% %zz %4"), "100% %zz %4");
    }

    #[test]
    fn queries_are_pairs() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(parse_query("a=1&b=x+y;c&d=%26"), [pair("a", "1"), pair("b", "x y"), pair("c", ""), pair("d", "&")]);
    }
}
