//! The two DNS servers of the lab on loopback: the authoritative one and the perimeter's resolver, each on one port
//! over UDP and TCP.

mod auth;
pub(super) mod dig;
mod resolver;
mod tsig;
mod update;
mod wire;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Shared;
use super::acting::Deed;

pub(super) use resolver::{BUILT_IN, PRIVATE};
/// An idle TCP connection lives this long.
const IDLE: Duration = Duration::from_secs(5);
/// Largest datagram that is read, bytes.
const DATAGRAM: usize = 4096;
/// Tries to find a port that is free for UDP and TCP alike.
const TRIES: usize = 20;

/// Which server a socket belongs to.
#[derive(Clone)]
pub(super) enum Role {
    /// PowerDNS.
    Authoritative,
    /// Unbound, with what it keeps.
    Resolver(Arc<Mutex<resolver::Cache>>),
}

impl Role {
    /// A resolver that keeps nothing yet.
    pub(super) fn resolver() -> Self {
        Self::Resolver(Arc::default())
    }

    pub(super) fn answer(&self, shared: &Shared, packet: &[u8], udp: bool) -> Option<Vec<u8>> {
        match self {
            Self::Authoritative if is_update(packet) => {
                let now = shared.now();
                // Conditions are looked at and the change is made with nobody in between.
                shared.transact(|world| {
                    let answered = auth::packet(world, now, packet, udp);
                    let Some(change) = answered.changed else { return (answered.bytes, None) };
                    let bytes = answered.bytes.filter(|_| !world.names.writing.update_lost);
                    let deed: Deed = Arc::new(move |world, now| change.apply(&mut world.names, now));
                    (bytes, Some(deed))
                })
            }
            Self::Authoritative => auth::packet(&shared.world(), shared.now(), packet, udp).bytes,
            Self::Resolver(cache) => {
                let (epoch, world) = shared.epoch();
                let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
                resolver::packet(&world, cache.at(epoch), shared.now(), packet, udp)
            }
        }
    }
}

/// Whether the header says UPDATE (RFC 2136 §2.2).
fn is_update(packet: &[u8]) -> bool {
    packet.get(2).is_some_and(|flags| (flags >> 3) & 15 == 5)
}

/// A port of loopback, for UDP and TCP alike.
pub(super) struct Sockets {
    udp: UdpSocket,
    tcp: TcpListener,
    /// Where both listen.
    pub(super) address: SocketAddr,
}

/// Binds a free port.
///
/// # Errors
/// When there is none.
pub(super) async fn bind() -> std::io::Result<Sockets> {
    let mut last = std::io::ErrorKind::AddrInUse.into();
    for _ in 0..TRIES {
        let tcp = TcpListener::bind("127.0.0.1:0").await?;
        let address = tcp.local_addr()?;
        match UdpSocket::bind(address).await {
            Ok(udp) => return Ok(Sockets { udp, tcp, address }),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Serves until `stop` turns true.
pub(super) async fn serve(sockets: Sockets, role: Role, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    let mut buffer = vec![0; DATAGRAM];
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            received = sockets.udp.recv_from(&mut buffer) => {
                let Ok((length, from)) = received else { continue };
                let packet = buffer.get(..length).unwrap_or_default();
                if let Some(answer) = role.answer(&shared, packet, true) {
                    // A client that has gone needs no answer.
                    let _ = sockets.udp.send_to(&answer, from).await;
                }
            }
            accepted = sockets.tcp.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(connection(stream, role.clone(), Arc::clone(&shared)));
            }
        }
    }
    connections.shutdown().await;
}

/// Messages with their length in front, until the client is silent or the server is.
async fn connection(mut stream: TcpStream, role: Role, shared: Arc<Shared>) {
    while let Ok(Ok(length)) = tokio::time::timeout(IDLE, stream.read_u16()).await {
        let mut packet = vec![0; usize::from(length)];
        let Ok(Ok(_)) = tokio::time::timeout(IDLE, stream.read_exact(&mut packet)).await else { return };
        let Some(answer) = role.answer(&shared, &packet, false) else { return };
        let Ok(length) = u16::try_from(answer.len()) else { return };
        let mut framed = length.to_be_bytes().to_vec();
        framed.extend(answer);
        if stream.write_all(&framed).await.is_err() {
            return;
        }
    }
}
