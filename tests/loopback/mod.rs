//! A plain HTTP/1.1 server on loopback that answers byte for byte what a test wants, and remembers what it was asked.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io;
use std::sync::{Arc, Mutex};

use deevnet_console::site::model::{ProxmoxSite, SecretSource, Trust};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request as it arrived.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub method: String,
    /// Decoded path segments joined by `/`.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// An answer to give.
#[derive(Debug, Clone, Default)]
pub struct Canned {
    pub status: u16,
    pub reason: String,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
    /// Close the connection after this answer, as Proxmox does after every error.
    pub close: bool,
}

impl Canned {
    pub fn json(body: &str) -> Self {
        let content_type = Some("application/json;charset=UTF-8".to_owned());
        Self { status: 200, reason: "OK".to_owned(), content_type, body: body.as_bytes().to_vec(), close: false }
    }
}

/// The server; it stops when dropped.
pub struct Server {
    pub origin: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start(answer: impl Fn(&Seen) -> Canned + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move {
                    let _ = serve(socket, &log, &*answer).await;
                });
            }
        });
        Self { origin, seen, task }
    }

    /// What was asked since the last call.
    pub fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(socket: TcpStream, log: &Mutex<Vec<Seen>>, answer: &(dyn Fn(&Seen) -> Canned + Sync)) -> io::Result<()> {
    let mut stream = BufReader::new(socket);
    while let Some(seen) = read_request(&mut stream).await? {
        let canned = answer(&seen);
        log.lock().unwrap().push(seen);
        let mut head =
            format!("HTTP/1.1 {} {}\r\nContent-Length: {}\r\n", canned.status, canned.reason, canned.body.len());
        if let Some(media) = &canned.content_type {
            head.push_str(&format!("Content-Type: {media}\r\n"));
        }
        head.push_str(if canned.close { "Connection: close\r\n\r\n" } else { "\r\n" });
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&canned.body);
        stream.get_mut().write_all(&bytes).await?;
        if canned.close {
            break;
        }
    }
    stream.get_mut().shutdown().await
}

/// The next request on a connection, `None` at its end.
pub async fn read_request<S: tokio::io::AsyncRead + Unpin>(stream: &mut BufReader<S>) -> io::Result<Option<Seen>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default().to_owned();
    let url = reqwest::Url::parse(&format!("http://h{target}")).map_err(io::Error::other)?;
    let mut seen = Seen { method, path: decode(url.path()), ..Seen::default() };
    seen.query = url.query_pairs().map(|(k, v)| (k.into_owned(), v.into_owned())).collect();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((key, value)) = line.trim_end().split_once(": ") else { break };
        seen.headers.push((key.to_ascii_lowercase(), value.to_owned()));
    }
    let length =
        seen.headers.iter().find(|(k, _)| k == "content-length").and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
    seen.body = vec![0; length];
    stream.read_exact(&mut seen.body).await?;
    Ok(Some(seen))
}

/// Percent-decoding; enough for paths of this API.
pub fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'%', [a, b, after @ ..]) => {
                let pair = String::from_utf8(vec![*a, *b]).unwrap();
                bytes.push(u8::from_str_radix(&pair, 16).unwrap());
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// The canary: it must never be seen outside the Authorization header.
pub const SECRET: &str = "c4n4ry00-1111-4222-8333-444455556666";

/// A site whose Proxmox is at `origin`.
pub fn site(origin: &str, trust: Trust) -> ProxmoxSite {
    ProxmoxSite {
        url: origin.to_owned(),
        token: SecretSource::Env("UNUSED".to_owned()),
        trust,
        node: "hyp1".to_owned(),
        controller: "evpn1".to_owned(),
        fabric: None,
        template_prefix: None,
        storage: None,
        login_user: None,
    }
}

/// The token that carries the canary.
pub fn token() -> zeroize::Zeroizing<String> {
    zeroize::Zeroizing::new(format!("ops@pve!console={SECRET}"))
}

/// The name of an error's variant.
pub fn variant(error: &impl std::fmt::Debug) -> String {
    let debug = format!("{error:?}");
    debug.chars().take_while(char::is_ascii_alphanumeric).collect()
}
