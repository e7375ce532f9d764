//! One question on a socket of its own.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

use super::error::{Failure, Strays, any_port};
use super::model::{Answer, RecordType, Via};
use super::name::DnsName;
use super::wire::{self, Around, Encoded, Received};
use crate::backends::http::Access;

/// Tells the time; answers say how long they took by it.
pub type Clock<'a> = &'a (dyn Fn() -> Timestamp + Send + Sync);

/// Datagram size without EDNS (RFC 1035 §2.3.4).
const PLAIN_UDP: usize = 512;
/// What a question does to the other side; signed messages too: none of those made here can change anything.
pub const ACCESS: Access = Access::Probe;
/// Class IN.
const IN: u16 = 1;

/// What a question says about itself (RFC 6891).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edns {
    /// Largest datagram taken, in bytes; a larger answer is no answer. At least 512.
    pub size: u16,
    /// Whether signatures are wanted.
    pub dnssec_ok: bool,
}

/// How a question travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A datagram, and TCP when its answer was truncated.
    Auto,
    /// A datagram; a truncated answer is the answer.
    Udp,
    /// TCP.
    Tcp,
}

/// One question to one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Server.
    pub server: SocketAddr,
    /// Name.
    pub name: DnsName,
    /// Type.
    pub kind: RecordType,
    /// Class, 1 = IN.
    pub class: u16,
    /// Whether the server shall ask others: yes of a resolver, no of an authority.
    pub recursion: bool,
    /// Whether the server shall leave out its checks of signatures.
    pub checking_disabled: bool,
    /// EDNS; `None` sends none, and takes 512 bytes.
    pub edns: Option<Edns>,
    /// Transport.
    pub transport: Transport,
    /// How often a datagram is sent, at least 1; each from a new port, with a new id.
    pub tries: u32,
    /// How long each try, and each connection, may take.
    pub wait: Duration,
}

impl Query {
    /// A question of class IN with recursion, EDNS of 1232 bytes (the DNS Flag Day 2020 size), two tries of 1.5 s.
    #[must_use]
    pub const fn new(server: SocketAddr, name: DnsName, kind: RecordType) -> Self {
        Self {
            server,
            name,
            kind,
            class: IN,
            recursion: true,
            checking_disabled: false,
            edns: Some(Edns { size: 1232, dnssec_ok: false }),
            transport: Transport::Auto,
            tries: 2,
            wait: Duration::from_millis(1500),
        }
    }

    /// The same without recursion: what the server itself knows.
    #[must_use]
    pub const fn of_authority(server: SocketAddr, name: DnsName, kind: RecordType) -> Self {
        let mut query = Self::new(server, name, kind);
        query.recursion = false;
        query
    }

    fn limit(&self) -> usize {
        self.edns.map_or(PLAIN_UDP, |edns| usize::from(edns.size).max(PLAIN_UDP))
    }

    fn encode(&self) -> Result<Encoded, Failure> {
        wire::encode(self).map_err(|why| Failure::Local { what: "the question cannot be written", why })
    }
}

/// Asks, and waits for the answer. Takes at most `tries` × `wait`, and `wait` more where TCP is needed.
///
/// # Errors
/// [`Failure`] when no answer came; an answer that says no, e.g. SERVFAIL, is an answer.
pub async fn ask(query: &Query, clock: Clock<'_>) -> Result<Answer, Failure> {
    let began = clock();
    if query.transport == Transport::Tcp {
        return tcp(query, Via::Tcp, Strays::default(), began, clock).await;
    }
    let (answer, strays) = udp(query, began, clock).await?;
    if query.transport == Transport::Auto && answer.flags.is_some_and(|flags| flags.tc) {
        let over_tcp = tcp(query, Via::TcpAfterUdp, strays, began, clock).await;
        return over_tcp.map_err(|failure| Failure::TcpAfterTruncation(Box::new(failure)));
    }
    Ok(answer)
}

async fn udp(query: &Query, began: Timestamp, clock: Clock<'_>) -> Result<(Answer, Strays), Failure> {
    let tries = query.tries.max(1);
    let mut strays = Strays::default();
    let mut wrong_source = None;
    for attempt in 1..=tries {
        let question = query.encode()?;
        // A connected socket hears that a port is closed; one that is not hears who else answers. The first tries use
        // the one, the last of several the other.
        let open = attempt > 1 && attempt == tries;
        let mut socket = Socket::new(query, open).await?;
        socket.send(&question.bytes).await?;
        let heard = timeout(query.wait, socket.hear(&question, &mut strays)).await;
        wrong_source = wrong_source.or(socket.wrong_source);
        if let Ok(heard) = heard {
            let (message, bytes) = heard?;
            let around = Around { bytes, took: since(began, clock), via: Via::Udp, strays };
            return Ok((wire::answer(&message, around), strays));
        }
    }
    let server = query.server;
    Err(match wrong_source {
        Some(from) => Failure::WrongSource { server, from },
        None => Failure::TimedOut { server, tries, each: query.wait, strays },
    })
}

struct Socket {
    socket: UdpSocket,
    server: SocketAddr,
    limit: usize,
    wrong_source: Option<SocketAddr>,
}

impl Socket {
    async fn new(query: &Query, open: bool) -> Result<Self, Failure> {
        let local = |e: &std::io::Error| Failure::Local { what: "no socket for a question", why: e.to_string() };
        let socket = UdpSocket::bind(any_port(query.server)).await.map_err(|e| local(&e))?;
        if !open {
            socket.connect(query.server).await.map_err(|e| Failure::of_io(query.server, "udp", &e))?;
        }
        Ok(Self { socket, server: query.server, limit: query.limit(), wrong_source: None })
    }

    async fn send(&self, bytes: &[u8]) -> Result<(), Failure> {
        let connected = self.socket.peer_addr().is_ok();
        let sent =
            if connected { self.socket.send(bytes).await } else { self.socket.send_to(bytes, self.server).await };
        sent.map(|_| ()).map_err(|e| Failure::of_io(self.server, "udp", &e))
    }

    /// Waits for the answer to `question`; everything else is counted in `strays`.
    async fn hear(
        &mut self,
        question: &Encoded,
        strays: &mut Strays,
    ) -> Result<(Box<hickory_proto::op::Message>, usize), Failure> {
        let server = self.server;
        let mut buffer = vec![0; self.limit.saturating_add(1)];
        loop {
            let received = self.socket.recv_from(&mut buffer).await;
            let (len, from) = received.map_err(|e| Failure::of_io(server, "udp", &e))?;
            let bytes = buffer.get(..len).unwrap_or_default();
            if from != server {
                strays.wrong_source = strays.wrong_source.saturating_add(1);
                if matches!(question.judge(bytes), Received::Answer(_)) {
                    self.wrong_source = Some(from);
                }
                continue;
            }
            if len > self.limit && bytes.get(..2) == Some(question.id.to_be_bytes().as_slice()) {
                return Err(Failure::Oversized { server, limit: self.limit });
            }
            match question.judge(bytes) {
                Received::Answer(message) => return Ok((message, len)),
                Received::Malformed(why) => return Err(Failure::Malformed { server, why }),
                Received::Stray(stray) => strays.add(stray),
            }
        }
    }
}

async fn tcp(query: &Query, via: Via, strays: Strays, began: Timestamp, clock: Clock<'_>) -> Result<Answer, Failure> {
    let server = query.server;
    let question = query.encode()?;
    let exchanged = timeout(query.wait, exchange(server, &question.bytes)).await;
    let silence = |_| Failure::TimedOut { server, tries: 1, each: query.wait, strays };
    let (bytes, _) = exchanged.map_err(silence)?.map_err(|e| Failure::of_io(server, "tcp", &e))?;
    match question.judge(&bytes) {
        Received::Answer(message) => {
            Ok(wire::answer(&message, Around { bytes: bytes.len(), took: since(began, clock), via, strays }))
        }
        Received::Malformed(why) => Err(Failure::Malformed { server, why }),
        // The connection carries this question alone: anything else is no answer.
        Received::Stray(stray) => Err(Failure::Malformed { server, why: format!("a message {}", stray.words()) }),
    }
}

/// One message each way, with its length before it (RFC 1035 §4.2.2), and the address it was sent from. The length bounds
/// what is kept: 64 KiB.
pub(super) async fn exchange(server: SocketAddr, question: &[u8]) -> std::io::Result<(Vec<u8>, SocketAddr)> {
    let mut stream = TcpStream::connect(server).await?;
    let from = stream.local_addr()?;
    stream.set_nodelay(true)?;
    let length = u16::try_from(question.len()).map_err(std::io::Error::other)?;
    let framed = [length.to_be_bytes().as_slice(), question].concat();
    stream.write_all(&framed).await?;
    let length = stream.read_u16().await?;
    let mut bytes = vec![0; usize::from(length)];
    stream.read_exact(&mut bytes).await?;
    Ok((bytes, from))
}

fn since(began: Timestamp, clock: Clock<'_>) -> Duration {
    clock().duration_since(began).try_into().unwrap_or_default()
}
