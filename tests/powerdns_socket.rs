//! Requests through a socket, the near end of a tunnel: TLS still checks the far end's own name.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "helpers of a test: a panic is its verdict, and not every one is used here"
)]

mod loopback;
#[path = "loopback/tls.rs"]
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;

use deevnet_console::backends::http::{Access, HttpClient, HttpError, Kind, Limits, Request, Response, TlsFault};
use deevnet_console::site::model::Trust;
use loopback::read_request;
use reqwest::Method;
use tempfile::TempDir;
use tls::{identity, tls_server};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener};

/// Answers one request with the Host header it carried.
async fn answer_all(stream: impl AsyncRead + AsyncWrite + Unpin, _limit: usize) {
    let mut stream = BufReader::new(stream);
    let Ok(Some(seen)) = read_request(&mut stream).await else { return };
    let host = seen.headers.iter().find(|(k, _)| k == "host").map_or("", |(_, v)| v);
    let answer = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{host}", host.len());
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// A socket whose connections end at `far`.
fn tunnel(dir: &TempDir, far: SocketAddr) -> PathBuf {
    let path = dir.path().join("api");
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let mut far = TcpStream::connect(far).await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut near, &mut far).await });
        }
    });
    path
}

async fn ask(origin: &str, trust: &Trust, socket: &std::path::Path) -> Result<Response, HttpError> {
    let client = HttpClient::through_socket(origin, trust, None, Limits::default(), socket).unwrap();
    let path = vec!["api".to_owned()];
    client.send(&Request { method: Method::GET, access: Access::Read, path, query: Vec::new() }).await
}

#[tokio::test]
async fn a_tunnel_changes_neither_the_host_nor_the_name_that_is_checked() {
    let ours = identity("dns.example", |_| ());
    let server = tls_server(&ours).await;
    let dir = tempfile::tempdir().unwrap();
    let (trust, socket) = (ours.ca_file(&dir), tunnel(&dir, server.address));
    let answer = ask("https://dns.example:8443", &trust, &socket).await.unwrap();
    assert_eq!(String::from_utf8(answer.body).unwrap(), "dns.example:8443");
    let error = ask("https://other.example:8443", &trust, &socket).await.unwrap_err();
    assert_eq!(error.origin, "https://other.example:8443");
    assert!(matches!(error.kind, Kind::Tls(TlsFault::NameMismatch { .. })), "{error}");
}

#[tokio::test]
async fn a_socket_that_is_gone_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let absent = ask("http://dns.example:8081", &Trust::Plaintext, &dir.path().join("api")).await.unwrap_err();
    assert_eq!(absent.kind, Kind::Refused);
    let stale = dir.path().join("stale");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    assert_eq!(ask("http://dns.example:8081", &Trust::Plaintext, &stale).await.unwrap_err().kind, Kind::Refused);
}
