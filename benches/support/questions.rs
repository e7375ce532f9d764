//! Stands between the console and a DNS server of the lab: counts questions.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    net::{TcpListener, UdpSocket},
    runtime::Runtime,
};

/// A running relay; it ends with the runtime.
#[derive(Clone)]
pub struct Questions {
    pub address: SocketAddr,
    seen: Arc<AtomicU64>,
}

impl Questions {
    /// Relays to `upstream`, over UDP and TCP. A TCP connection counts as one question.
    pub fn start(runtime: &Runtime, upstream: SocketAddr) -> Self {
        let seen = Arc::<AtomicU64>::default();
        let (udp, tcp) = runtime.block_on(async {
            let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let tcp = TcpListener::bind(udp.local_addr().unwrap()).await.unwrap();
            (Arc::new(udp), tcp)
        });
        let address = udp.local_addr().unwrap();
        runtime.spawn(datagrams(udp, upstream, Arc::clone(&seen)));
        let counted = Arc::clone(&seen);
        runtime.spawn(async move {
            while let Ok((mut client, _)) = tcp.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    let Ok(mut server) = tokio::net::TcpStream::connect(upstream).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        Self { address, seen }
    }

    /// Questions so far.
    pub fn count(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }
}

async fn datagrams(socket: Arc<UdpSocket>, upstream: SocketAddr, seen: Arc<AtomicU64>) {
    let mut buffer = [0; 4096];
    while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
        seen.fetch_add(1, Ordering::Relaxed);
        let (packet, socket) = (buffer[..length].to_vec(), Arc::clone(&socket));
        tokio::spawn(async move {
            let Ok(own) = UdpSocket::bind("127.0.0.1:0").await else { return };
            let mut answer = [0; 4096];
            if own.send_to(&packet, upstream).await.is_ok()
                && let Ok(length) = own.recv(&mut answer).await
            {
                let _ = socket.send_to(&answer[..length], peer).await;
            }
        });
    }
}
