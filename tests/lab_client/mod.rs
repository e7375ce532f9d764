//! Plain clients of the lab's second half, and a lab that has it, at a moment of our own.

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, which should stop")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use hickory_proto::op::{Edns, Message, Query};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_proto::rr::{Name, RData, RecordType};
use jiff::Timestamp;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};

/// A fixed moment, so that answers can be compared.
pub const NOW: i64 = 1_795_950_000;
/// How long a server may be silent before it counts as silent.
const PATIENCE: Duration = Duration::from_millis(400);

/// A clock that only moves when it is told to.
#[derive(Clone)]
pub struct Hand(Arc<AtomicI64>);

impl Hand {
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

pub async fn lab(faults: &[&str]) -> Lab {
    lab_with_clock(faults).await.0
}

pub async fn lab_with_clock(faults: &[&str]) -> (Lab, Hand) {
    start(None, None, faults, true).await
}

/// A lab of a size, with or without its second half.
pub async fn start(tenants: Option<u32>, workloads: Option<u32>, faults: &[&str], second_half: bool) -> (Lab, Hand) {
    let hand = Hand(Arc::new(AtomicI64::new(NOW)));
    let clock = hand.clone();
    let options = LabOptions {
        tenants,
        workloads,
        faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
        seed: 7,
        clock: Arc::new(move || Timestamp::from_second(clock.0.load(Ordering::SeqCst)).unwrap()),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    };
    (Lab::start(options).await.unwrap(), hand)
}

pub fn query(name: &str, kind: RecordType, recursive: bool) -> Message {
    let mut message = Message::query();
    message.metadata.recursion_desired = recursive;
    message.add_query(Query::query(Name::from_str(name).unwrap(), kind));
    let mut edns = Edns::new();
    edns.set_max_payload(1232);
    message.set_edns(edns);
    message
}

/// One datagram there and back; `None` when nothing comes.
pub async fn exchange(at: SocketAddr, packet: &[u8]) -> Option<Vec<u8>> {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(at).await.unwrap();
    socket.send(packet).await.unwrap();
    let mut buffer = vec![0; 4096];
    let length = tokio::time::timeout(PATIENCE, socket.recv(&mut buffer)).await.ok()?.ok()?;
    buffer.truncate(length);
    Some(buffer)
}

pub async fn send_tcp(at: SocketAddr, packet: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_u16(u16::try_from(packet.len()).unwrap()).await.unwrap();
    stream.write_all(packet).await.unwrap();
    let length = stream.read_u16().await.unwrap();
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await.unwrap();
    answer
}

/// Asks over UDP; `None` when nothing comes.
pub async fn try_ask(at: SocketAddr, name: &str, kind: RecordType) -> Option<Message> {
    let raw = exchange(at, &query(name, kind, true).to_vec().unwrap()).await?;
    Some(Message::from_vec(&raw).unwrap())
}

pub async fn ask(at: SocketAddr, name: &str, kind: RecordType) -> Message {
    try_ask(at, name, kind).await.unwrap()
}

pub async fn ask_tcp(at: SocketAddr, name: &str, kind: RecordType) -> Message {
    Message::from_vec(&send_tcp(at, &query(name, kind, true).to_vec().unwrap()).await).unwrap()
}

pub fn texts(message: &Message) -> Vec<String> {
    message.answers.iter().map(|record| record.data.to_string()).collect()
}

pub fn addresses(message: &Message) -> Vec<String> {
    texts(message)
}

/// Owner, serial and TTL of the SOA in the authority section.
pub fn soa(message: &Message) -> Option<(String, u32, u32)> {
    message.authorities.iter().find_map(|record| match &record.data {
        RData::SOA(soa) => Some((record.name.to_string(), soa.serial, record.ttl)),
        _ => None,
    })
}

/// The extended error of an answer.
pub fn ede(message: &Message) -> Option<u16> {
    match message.edns.as_ref()?.options().get(EdnsCode::Unknown(15))? {
        EdnsOption::Unknown(_, data) => Some(u16::from_be_bytes([data[0], data[1]])),
        _ => None,
    }
}

/// A client that trusts the lab, and the header that names its key.
pub struct Perimeter {
    http: reqwest::Client,
    url: String,
    key: String,
    secret: String,
}

impl Perimeter {
    pub fn of(lab: &Lab) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let ca = reqwest::Certificate::from_pem(lab.ca_pem().as_bytes()).unwrap();
        let policy = reqwest::redirect::Policy::none();
        let http = reqwest::Client::builder().tls_certs_only([ca]).redirect(policy).build().unwrap();
        let read = |name: &str| std::fs::read_to_string(lab.dir().join(name)).unwrap().trim().to_owned();
        let url = lab.opnsense_url().unwrap();
        Self { http, url, key: read("opnsense-key"), secret: read("opnsense-secret") }
    }

    /// A request without credential.
    pub fn bare(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method.parse().unwrap(), format!("{}/api/{path}", self.url))
    }

    /// A request with the lab's key.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.bare(method, path).basic_auth(&self.key, Some(&self.secret))
    }

    pub async fn get(&self, path: &str) -> Value {
        let text = self.request("GET", path).send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap()
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.request("POST", path).header("Content-Type", "application/json").body(body.to_string());
        serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap()
    }

    /// The rows of a list.
    pub async fn rows(&self, path: &str) -> Vec<Value> {
        self.get(path).await["rows"].as_array().unwrap().clone()
    }
}
