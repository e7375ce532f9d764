//! The HTTPS front of the Proxmox API: HTTP/1.1 with real reason phrases, a hundred requests per connection, closed
//! after every error (facts/proxmox.md §1).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::{Body as HttpBody, to_bytes};
use axum::http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderValue};
use axum::http::{Request as HttpRequest, Response, StatusCode};
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::Shared;
use super::pve::{self, Answer, Body, Request};

/// Requests served on one connection before the server closes it.
const PER_CONNECTION: u32 = 100;
/// An idle connection lives this long.
const IDLE: Duration = Duration::from_secs(5);
/// Bytes of a request body that are looked at.
const BODY_LIMIT: usize = 512 * 1024;

/// Serves until `stop` turns true.
pub(super) async fn serve(
    listener: TcpListener,
    tls: TlsAcceptor,
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
                // A server that is down gives nothing back, not even a handshake.
                if shared.world().api.up {
                    connections.spawn(connection(stream, tls.clone(), Arc::clone(&shared)));
                }
            }
        }
    }
    connections.shutdown().await;
}

async fn connection(stream: TcpStream, tls: TlsAcceptor, shared: Arc<Shared>) {
    let Ok(stream) = tls.accept(stream).await else { return };
    let served = Arc::new(AtomicU32::new(0));
    let service = service_fn(move |request| {
        let (shared, served) = (Arc::clone(&shared), Arc::clone(&served));
        async move {
            // A server that goes down gives no answer on the connections it had.
            let answer = respond(&shared, request).await.ok_or(io::ErrorKind::ConnectionAborted)?;
            let last = served.fetch_add(1, Ordering::Relaxed) + 1 >= PER_CONNECTION;
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
async fn respond(shared: &Shared, request: HttpRequest<Incoming>) -> Option<Answer> {
    let world = shared.world();
    if !world.api.up {
        return None;
    }
    pause(world.api.delay_ms).await;
    let (parts, body) = request.into_parts();
    let has_body = to_bytes(HttpBody::new(body), BODY_LIMIT).await.is_ok_and(|bytes| !bytes.is_empty());
    let Some(path) = parts.uri.path().strip_prefix("/api2/json") else {
        return Some(Answer { status: 501, reason: "not implemented".to_owned(), body: Body::Empty });
    };
    let authorization = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let answer = pve::answer(
        &world,
        shared.now(),
        &Request {
            method: parts.method.as_str().to_owned(),
            path: path.to_owned(),
            query: parse_query(parts.uri.query().unwrap_or_default()),
            authorization: authorization.map(str::to_owned),
            has_body,
        },
    );
    if answer.status == 401 {
        pause(world.api.unauthorized_delay_ms).await;
    }
    Some(answer)
}

async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

fn response(answer: Answer, last: bool) -> Response<HttpBody> {
    let (body, kind) = match answer.body {
        Body::Json(value) => (value.to_string(), Some("application/json;charset=UTF-8")),
        Body::Text(text) => (text, None),
        Body::Empty => (String::new(), None),
    };
    let mut response = Response::new(HttpBody::from(body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(kind) = kind {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    if last || answer.status >= 400 {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(reason) = ReasonPhrase::try_from(answer.reason.into_bytes()) {
        response.extensions_mut().insert(reason);
    }
    response
}

/// Decodes a query string; `;` separates pairs as well as `&`.
fn parse_query(query: &str) -> Vec<(String, String)> {
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
