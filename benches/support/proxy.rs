//! Stands between the console and the lab's Proxmox: counts and times requests, and can show more VMs than there are.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use reqwest::header::AUTHORIZATION;
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

/// One request that was answered.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    pub begun: Instant,
    pub took: Duration,
}

/// A running proxy; it ends with the runtime.
#[derive(Clone)]
pub struct Proxy {
    pub url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

struct Shared {
    client: reqwest::Client,
    upstream: String,
    rows: u32,
    delay: Duration,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Proxy {
    /// Serves `upstream`, whose certificate is signed by `ca`. With `rows`, so many VMs are listed. Every answer is
    /// held back by `delay`.
    pub fn start(runtime: &Runtime, upstream: &str, ca: &Path, rows: u32, delay: Duration) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = rustls::RootCertStore::empty();
        for der in CertificateDer::pem_file_iter(ca).unwrap() {
            roots.add(der.unwrap()).unwrap();
        }
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = reqwest::Client::builder().tls_backend_preconfigured(tls).http1_only().no_proxy().build().unwrap();
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let shared = Arc::new(Shared { client, upstream: upstream.to_owned(), rows, delay, seen: Arc::clone(&seen) });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { url, seen }
    }

    /// Everything that was answered so far.
    pub fn seen(&self) -> MutexGuard<'_, Vec<Request>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers the requests of one connection. They have no body: the console only reads.
async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut head = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut buffer).await {
                Ok(n @ 1..) => head.extend_from_slice(&buffer[..n]),
                _ => return,
            }
        }
        let text = String::from_utf8_lossy(&head).into_owned();
        head.clear();
        let begun = Instant::now();
        let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, body) = shared.answer(&path, &text).await;
        tokio::time::sleep(shared.delay).await;
        let head =
            format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all(&[head.as_bytes(), &body].concat()).await.is_err() {
            return;
        }
        let request = Request { path, begun, took: begun.elapsed() };
        shared.seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    }
}

impl Shared {
    async fn answer(&self, path: &str, head: &str) -> (u16, Vec<u8>) {
        let secret = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("authorization").then(|| value.to_owned())
        });
        let request =
            self.client.get(format!("{}{path}", self.upstream)).header(AUTHORIZATION, secret.unwrap_or_default());
        let Ok(answer) = request.send().await else { return (502, Vec::new()) };
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map(|bytes| bytes.to_vec()).unwrap_or_default();
        if self.rows > 0 && path.contains("/cluster/resources") {
            return (status, self.more(&body).unwrap_or(body));
        }
        (status, body)
    }

    /// The same list with VMs added under other VMIDs, the names of tenants in front of theirs.
    fn more(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut answer: Value = serde_json::from_slice(body).ok()?;
        let list = answer.get_mut("data")?.as_array_mut()?;
        let is_vm =
            |row: &&Value| row.get("type").is_some_and(|kind| kind == "qemu") && row.get("template") != Some(&json!(1));
        let models: Vec<Value> = list.iter().filter(is_vm).cloned().collect();
        let wanted = usize::try_from(self.rows).ok()?.saturating_sub(models.len());
        list.extend((100_000_u32..).zip(models.iter().cycle()).take(wanted).map(|(vmid, model)| {
            let mut row = model.clone();
            row["vmid"] = json!(vmid);
            row["id"] = json!(format!("qemu/{vmid}"));
            row["name"] = json!(format!("{}-{vmid}", row["name"].as_str().unwrap_or("x")));
            row
        }));
        serde_json::to_vec(&answer).ok()
    }
}
