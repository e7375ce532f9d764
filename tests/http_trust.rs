//! What the HTTP layer trusts, how it gives up, and that the token never shows.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

mod loopback;
#[path = "loopback/tls.rs"]
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deevnet_console::backends::http::{
    Access, HttpClient, HttpError, Kind, Limits, Outcome, Phase, Recorder, Request, Response, TlsFault,
    fingerprint_text,
};
use deevnet_console::backends::proxmox::{Client, Error};
use deevnet_console::site::model::Trust;
use deevnet_console::site::secret::Secret;
use loopback::{Canned, SECRET, Server, read_request, site, token};
use rcgen::{KeyPair, date_time_ymd};
use reqwest::header::{HeaderName, HeaderValue};
use tls::{Listener, WrongKey, identity, identity_by, tls_server};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

const VERSION: &str = r#"{"data":{"version":"9.2.11","release":"9.2"}}"#;

/// Answers `limit` requests on a connection, the way of keep-alive, then closes it without notice.
async fn answer_all(stream: impl AsyncRead + AsyncWrite + Unpin, limit: usize) {
    let mut stream = BufReader::new(stream);
    for _ in 0..limit {
        let Ok(Some(_)) = read_request(&mut stream).await else { return };
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{VERSION}", VERSION.len());
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
    let _ = stream.shutdown().await;
}

/// The connection once a request has arrived on it.
async fn asked(socket: TcpStream) -> TcpStream {
    let mut stream = BufReader::new(socket);
    let _ = read_request(&mut stream).await;
    stream.into_inner()
}

fn limits() -> Limits {
    Limits { connect: Duration::from_secs(3), total: Duration::from_secs(10), body: 64 * 1024 }
}

fn client(scheme: &str, address: SocketAddr, trust: Trust, limits: Limits) -> Client {
    Client::new(&site(&format!("{scheme}://{address}"), trust), token(), limits).unwrap()
}

/// The kind of failure of one read. Checks on the way that nothing printable carries the token.
async fn failure(client: &Client) -> Kind {
    let error = client.version().await.unwrap_err();
    let shown = format!("{error} {error:?} {error:#?} {} {client:?}", error.help());
    assert!(!shown.contains(SECRET) && !shown.contains("c4n4ry"), "{shown}");
    assert!(shown.contains("127.0.0.1") || shown.contains(".invalid"), "where is missing: {shown}");
    let outcome = error.outcome();
    let Error::Http(HttpError { kind, .. }) = error else { panic!("{error:?}") };
    let asked = match &kind {
        Kind::Setup(_) | Kind::NameNotResolved { .. } | Kind::Refused | Kind::Unreachable(_) | Kind::Tls(_) => {
            Outcome::NotSent
        }
        Kind::TimedOut { phase: Phase::Connect, .. } => Outcome::NotSent,
        Kind::Redirected { .. } | Kind::PlainToTls { .. } => Outcome::Answered,
        _ => Outcome::Unknown,
    };
    assert_eq!(outcome, asked, "{kind:?}");
    kind
}

#[tokio::test]
async fn a_ca_file_trusts_its_own_and_nobody_else() {
    let (ours, renewed) = (identity("127.0.0.1", |_| ()), identity("127.0.0.1", |_| ()));
    let other = identity_by("Other CA", "127.0.0.1", |_| ());
    let dir = tempfile::tempdir().unwrap();
    let trust = ours.ca_file(&dir);
    let (good, bad, new) = (tls_server(&ours).await, tls_server(&other).await, tls_server(&renewed).await);
    assert_eq!(client("https", good.address, trust.clone(), limits()).version().await.unwrap().release, "9.2");
    let kind = failure(&client("https", bad.address, trust.clone(), limits())).await;
    assert_eq!(kind, Kind::Tls(TlsFault::UnknownIssuer));
    // An authority of the same name with another key.
    assert_eq!(failure(&client("https", new.address, trust, limits())).await, Kind::Tls(TlsFault::BadSignature));
}

#[tokio::test]
async fn the_system_store_does_not_know_a_private_authority() {
    let ours = identity("127.0.0.1", |_| ());
    let server = tls_server(&ours).await;
    // A system without any store cannot be set up at all, which is said before anything is sent.
    match Client::new(&site(&format!("https://{}", server.address), Trust::System), token(), limits()) {
        Ok(client) => assert_eq!(failure(&client).await, Kind::Tls(TlsFault::UnknownIssuer)),
        Err(Error::Http(HttpError { kind: Kind::Setup(why), .. })) => assert!(why.contains("store"), "{why}"),
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_pin_accepts_one_certificate_whatever_its_name_and_date() {
    let pinned = identity("elsewhere.example", |p| p.not_after = date_time_ymd(2001, 1, 1));
    let other = identity("127.0.0.1", |_| ());
    let (good, bad) = (tls_server(&pinned).await, tls_server(&other).await);
    let trust = Trust::Fingerprint(pinned.fingerprint());
    assert!(client("https", good.address, trust.clone(), limits()).version().await.is_ok());
    let kind = failure(&client("https", bad.address, trust, limits())).await;
    assert_eq!(kind, Kind::Tls(TlsFault::PinMismatch { expected: pinned.fingerprint(), seen: other.fingerprint() }));
    let text = kind.to_string();
    assert!(text.contains(&fingerprint_text(&pinned.fingerprint())), "{text}");
    assert!(text.contains(&fingerprint_text(&other.fingerprint())), "{text}");
}

#[tokio::test]
async fn a_pinned_certificate_without_its_key_is_refused() {
    // The certificate is public: whoever presents it must still hold the key.
    let pinned = identity("127.0.0.1", |_| ());
    let stolen =
        WrongKey { certificate: pinned.certificate.clone(), key: KeyPair::generate().unwrap().serialize_der() };
    let server = stolen.serve().await;
    let kind = failure(&client("https", server.address, Trust::Fingerprint(pinned.fingerprint()), limits())).await;
    assert_eq!(kind, Kind::Tls(TlsFault::BadSignature));
}

#[tokio::test]
async fn expired_early_and_misnamed_certificates_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let expired = identity("127.0.0.1", |p| p.not_after = date_time_ymd(2001, 1, 1));
    let server = tls_server(&expired).await;
    let kind = failure(&client("https", server.address, expired.ca_file(&dir), limits())).await;
    assert_eq!(kind, Kind::Tls(TlsFault::Expired));

    let early = identity("127.0.0.1", |p| p.not_before = date_time_ymd(3000, 1, 1));
    let server = tls_server(&early).await;
    let kind = failure(&client("https", server.address, early.ca_file(&dir), limits())).await;
    assert_eq!(kind, Kind::Tls(TlsFault::NotYetValid));

    let misnamed = identity("pve.example", |_| ());
    let server = tls_server(&misnamed).await;
    let kind = failure(&client("https", server.address, misnamed.ca_file(&dir), limits())).await;
    let Kind::Tls(TlsFault::NameMismatch { expected, presented }) = kind else { panic!("{kind:?}") };
    assert_eq!(expected, "127.0.0.1");
    assert!(presented.contains("pve.example"), "{presented}");
}

#[tokio::test]
async fn a_wrong_scheme_is_recognised() {
    let ours = identity("127.0.0.1", |_| ());
    let tls = tls_server(&ours).await;
    let kind = failure(&client("http", tls.address, Trust::Plaintext, limits())).await;
    assert!(matches!(kind, Kind::NotHttp(_)), "{kind:?}");

    let plain = Listener::start(|_, socket| async move {
        // Answers whatever arrives, as a plain HTTP server does to a TLS greeting.
        let mut socket = socket;
        let _ = socket.readable().await;
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
        let _ = socket.shutdown().await;
    })
    .await;
    let trust = Trust::Fingerprint(ours.fingerprint());
    let kind = failure(&client("https", plain.address, trust, limits())).await;
    assert_eq!(kind, Kind::Tls(TlsFault::NotTls));
}

#[tokio::test]
async fn nobody_there_is_named() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(failure(&client("http", gone, Trust::Plaintext, limits())).await, Kind::Refused);
    let name = Client::new(&site("http://no-such-host.invalid:8006", Trust::Plaintext), token(), limits()).unwrap();
    let kind = failure(&name).await;
    assert!(matches!(&kind, Kind::NameNotResolved { host, .. } if host == "no-such-host.invalid"), "{kind:?}");
}

#[tokio::test]
async fn silence_ends_at_the_deadline_and_says_in_which_phase() {
    let limits = Limits { connect: Duration::from_millis(150), total: Duration::from_millis(300), ..limits() };
    let silent = Listener::start(|_, socket| async move {
        let mut stream = BufReader::new(socket);
        let _ = read_request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let kind = failure(&client("http", silent.address, Trust::Plaintext, limits)).await;
    assert_eq!(kind, Kind::TimedOut { phase: Phase::Answer, limit: limits.total });

    let trust = Trust::Fingerprint([0; 32]);
    let kind = failure(&client("https", silent.address, trust, limits)).await;
    assert_eq!(kind, Kind::TimedOut { phase: Phase::Connect, limit: limits.connect });
}

#[tokio::test]
async fn a_dripping_body_ends_at_the_deadline() {
    let drip = Listener::start(|_, socket| async move {
        let mut socket = asked(socket).await;
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n";
        let mut interval = tokio::time::interval(Duration::from_millis(5));
        if socket.write_all(head).await.is_ok() {
            while socket.write_all(b" ").await.is_ok() {
                interval.tick().await;
            }
        }
    })
    .await;
    let limits = Limits { total: Duration::from_millis(300), ..limits() };
    let kind = failure(&client("http", drip.address, Trust::Plaintext, limits)).await;
    assert_eq!(kind, Kind::TimedOut { phase: Phase::Body, limit: limits.total });
}

#[tokio::test]
async fn a_huge_body_is_cut_off_announced_or_not() {
    let too_large = Kind::BodyTooLarge { limit: limits().body };
    // Says how much will come and then sends nothing: waiting for it would end in a timeout instead.
    let announced = Listener::start(|_, socket| async move {
        let mut socket = asked(socket).await;
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n").await;
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(failure(&client("http", announced.address, Trust::Plaintext, limits())).await, too_large);

    let written = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&written);
    let endless = Listener::start(move |_, socket| {
        let counter = Arc::clone(&counter);
        async move {
            let mut socket = asked(socket).await;
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
            while socket.write_all(b"400\r\n").await.is_ok()
                && socket.write_all(&[b' '; 1024]).await.is_ok()
                && socket.write_all(b"\r\n").await.is_ok()
            {
                counter.fetch_add(1024, Ordering::Relaxed);
            }
        }
    })
    .await;
    assert_eq!(failure(&client("http", endless.address, Trust::Plaintext, limits())).await, too_large);
    assert!(written.load(Ordering::Relaxed) > limits().body, "the cap is what ended it");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_not_an_answer() {
    let short = Listener::start(|_, socket| async move {
        let mut socket = asked(socket).await;
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\":").await;
        let _ = socket.shutdown().await;
    })
    .await;
    let kind = failure(&client("http", short.address, Trust::Plaintext, limits())).await;
    assert!(matches!(kind, Kind::Broken(_)), "{kind:?}");
}

#[tokio::test]
async fn redirects_are_named_and_not_followed() {
    let followed = Arc::new(AtomicUsize::new(0));
    let target = {
        let followed = Arc::clone(&followed);
        Server::start(move |_| {
            followed.fetch_add(1, Ordering::Relaxed);
            Canned::json(VERSION)
        })
        .await
    };
    for (location, wanted) in [("https://127.0.0.1:8006/", true), (target.origin.as_str(), false)] {
        let head = format!("HTTP/1.1 301 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        let server = Listener::start(move |_, socket| {
            let head = head.clone();
            async move {
                let mut stream = BufReader::new(socket);
                let _ = read_request(&mut stream).await;
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        })
        .await;
        let kind = failure(&client("http", server.address, Trust::Plaintext, limits())).await;
        let location = location.to_owned();
        let expected = match wanted {
            true => Kind::PlainToTls { status: 301, location },
            false => Kind::Redirected { status: 301, location },
        };
        assert_eq!(kind, expected);
    }
    assert_eq!(followed.load(Ordering::Relaxed), 0, "the token would have gone along");
}

#[tokio::test]
async fn connections_that_end_between_answers_are_invisible() {
    // Closed after each answer, after three, and after a hundred, always without notice.
    for per_connection in [1, 3, 100] {
        let opened = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&opened);
        let server = Listener::start(move |_, socket| {
            counter.fetch_add(1, Ordering::Relaxed);
            answer_all(socket, per_connection)
        })
        .await;
        let client = client("http", server.address, Trust::Plaintext, limits());
        for n in 0..250 {
            let read = client.version().await;
            assert!(read.is_ok(), "request {n} with {per_connection} per connection: {read:?}");
        }
        assert!(opened.load(Ordering::Relaxed) >= 250 / per_connection);
    }
}

#[tokio::test]
async fn a_read_is_repeated_once_and_no_more() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    // Takes each request and hangs up instead of answering.
    let rude = Listener::start(move |_, socket| {
        let counter = Arc::clone(&counter);
        async move {
            let mut stream = BufReader::new(socket);
            let _ = read_request(&mut stream).await;
            counter.fetch_add(1, Ordering::Relaxed);
        }
    })
    .await;
    let client = client("http", rude.address, Trust::Plaintext, limits());
    assert_eq!(failure(&client).await, Kind::ClosedBeforeAnswer);
    assert_eq!((taken.load(Ordering::Relaxed), client.requests().total), (2, 2));
    // The agent's ping is a POST: once only.
    assert!(client.agent_state("hyp1", 2040).await.is_err());
    assert_eq!((taken.load(Ordering::Relaxed), client.requests().total), (3, 3));
}

#[tokio::test]
async fn four_requests_are_in_flight_and_never_five() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let gate = Arc::new(tokio::sync::Barrier::new(4));
    let server = {
        let (now, most, gate) = (Arc::clone(&now), Arc::clone(&most), Arc::clone(&gate));
        Listener::start(move |_, socket| {
            let (now, most, gate) = (Arc::clone(&now), Arc::clone(&most), Arc::clone(&gate));
            async move {
                let mut stream = BufReader::new(socket);
                while let Ok(Some(_)) = read_request(&mut stream).await {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    // Nobody is answered before four wait: fewer in flight would hang. A fifth needs no answer to
                    // arrive, so it gets many turns to do so.
                    gate.wait().await;
                    for _ in 0..2000 {
                        tokio::task::yield_now().await;
                    }
                    now.fetch_sub(1, Ordering::SeqCst);
                    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{VERSION}", VERSION.len());
                    let _ = stream.write_all(answer.as_bytes()).await;
                }
            }
        })
        .await
    };
    let client = client("http", server.address, Trust::Plaintext, limits());
    let reads = (0..40).map(|_| client.version());
    assert!(futures_util::future::join_all(reads).await.iter().all(Result::is_ok));
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn dot_segments_do_not_reach_another_path() {
    let server = Server::start(|_| Canned::json(VERSION)).await;
    let client = HttpClient::new(&server.origin, &Trust::Plaintext, None, limits()).unwrap();
    let get = |path: &[&str]| Request {
        method: reqwest::Method::GET,
        access: Access::Read,
        path: path.iter().map(|s| (*s).to_owned()).collect(),
        query: vec![("q".to_owned(), "a&b=c#d".to_owned())],
    };
    for bad in [&["a", "..", "b"][..], &["a", "."], &["a", "", "b"]] {
        assert!(matches!(client.send(&get(bad)).await, Err(HttpError { kind: Kind::Setup(_), .. })), "{bad:?}");
    }
    assert!(server.take_seen().is_empty());
    client.send(&get(&["a/b", "ä?x"])).await.unwrap();
    let seen = server.take_seen();
    assert_eq!(seen[0].path, "/a/b/ä?x", "what looks like syntax is encoded");
    assert_eq!(seen[0].query, [("q".to_owned(), "a&b=c#d".to_owned())]);
}

#[tokio::test]
async fn a_form_arrives_as_it_was_meant() {
    let server = Server::start(|_| Canned::json(VERSION)).await;
    let client = HttpClient::new(&server.origin, &Trust::Plaintext, None, limits()).unwrap();
    let path = vec!["a".to_owned()];
    let post = Request { method: reqwest::Method::POST, access: Access::Write, path, query: Vec::new() };
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let sent = [pair("keys", "ssh-ed25519%20AA%2B"), pair("a;b", "c&d=e f+g"), pair("empty", "")];
    client.send_form(&post, &sent).await.unwrap();
    client.send_form(&post, &[]).await.unwrap();
    let seen = server.take_seen();
    assert_eq!(seen[0].body, b"keys=ssh-ed25519%2520AA%252B&a%3Bb=c%26d%3De+f%2Bg&empty=");
    assert!(seen[0].query.is_empty() && seen[1].body.is_empty());
    for request in seen {
        let media = request.headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.as_str());
        assert_eq!(media, Some("application/x-www-form-urlencoded"));
    }
}

#[test]
fn a_secret_header_is_never_printed_even_if_its_maker_forgot_to_mark_it() {
    let value = HeaderValue::from_static(SECRET);
    let header = Some((HeaderName::from_static("x-api-key"), value));
    let client = HttpClient::new("http://127.0.0.1:1", &Trust::Plaintext, header, limits()).unwrap();
    let shown = format!("{client:?} {client:#?}");
    assert!(!shown.contains(SECRET) && shown.contains("x-api-key"), "{shown}");
}

#[tokio::test]
async fn a_setup_that_cannot_work_says_so_before_anything_is_sent() {
    let missing = Trust::CaFile(PathBuf::from("/nonexistent/ca.pem"));
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty.pem");
    std::fs::write(&empty, "no certificate here\n").unwrap();
    for (url, trust, part) in [
        ("https://10.20.99.22:8006", missing, "/nonexistent/ca.pem"),
        ("https://10.20.99.22:8006", Trust::CaFile(empty), "holds no certificate"),
        ("http://10.20.99.22:8006", Trust::System, "write https://"),
        ("https://10.20.99.22:8006", Trust::Plaintext, "plaintext"),
        ("https://10.20.99.22:8006/api2", Trust::Fingerprint([1; 32]), "host and port only"),
        ("https://user:hunter2@10.20.99.22:8006", Trust::Fingerprint([1; 32]), "must not carry"),
        ("ftp://10.20.99.22", Trust::Plaintext, "only http"),
        ("10.20.99.22", Trust::Plaintext, "not a URL"),
    ] {
        let error = Client::new(&site(url, trust), token(), limits()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(part) && !format!("{text}{error:?}").contains(SECRET), "{text}");
        assert!(!format!("{text}{error:?}").contains("hunter2"), "{text}");
    }
}

/// What a server repeats of what it was sent, in the line of its answer, its headers, its body, or where it leads to.
#[tokio::test]
async fn no_answer_repeats_what_is_secret_in_a_request() {
    const SENT: &str = "0badf00d/1111+4222/8333=";
    const CARRIED: &str = "c4rried+in/the/body==";
    let answers = [
        "HTTP/1.1 302 Found\r\nLocation: /login?token=0badf00d%2F1111%2B4222%2f8333%3D\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 401 no 0badf00d/1111+4222/8333=\r\nContent-Type: text/0badf00d/1111+4222/8333=\r\n\
         Date: 0badf00d/1111+4222/8333=\r\nConnection: close\r\n\r\n\
         {\"message\":\"0badf00d\\/1111+4222\\/8333= and 0badf00d\\/1111… and c4rried+in\\/the\\/body==\"}",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
         {\"result\":\"failed\",\"validations\":\"0badf00d\\/1111+4222\\/8333=\"}",
    ];
    for answer in answers {
        let server = Listener::start(move |_, socket| async move {
            let mut socket = asked(socket).await;
            let _ = socket.write_all(answer.as_bytes()).await;
            let _ = socket.shutdown().await;
        })
        .await;
        let value = HeaderValue::try_from(format!("Bearer {SENT}")).unwrap();
        let origin = format!("http://{}", server.address);
        let secret = Some((HeaderName::from_static("authorization"), value));
        let heard = Arc::new(Mutex::new(String::new()));
        let hear = Arc::clone(&heard);
        let recorder = Recorder::new(move |exchange| *hear.lock().unwrap() = said(&exchange.ended));
        let client = HttpClient::new(&origin, &Trust::Plaintext, secret, limits()).unwrap().recorded(recorder);
        let (path, query) = (vec!["things".to_owned()], Vec::new());
        let request = Request { method: reqwest::Method::POST, access: Access::Write, path, query };
        let told = said(&client.carrying(&Secret::new(CARRIED.to_owned())).send_json(&request, "{}").await);
        assert!(told.contains("****") && !told.contains("0badf00d") && !told.contains("c4rried"), "{told}");
        assert_eq!(*heard.lock().unwrap(), told);
    }
}

/// All that is said of an end.
fn said(ended: &Result<Response, HttpError>) -> String {
    match ended {
        Ok(answer) => format!("{answer:?} {}", String::from_utf8_lossy(&answer.body)),
        Err(error) => format!("{error:?} {error}"),
    }
}
