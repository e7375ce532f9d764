//! DNS servers of the tests' own, on loopback: each answers as it is told, and ends with the test.
#![allow(dead_code, reason = "each test file uses its part")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hickory_proto::op::{Edns, Message, MessageType, OpCode, ResponseCode};
use hickory_proto::rr::rdata::opt::EdnsOption;
use hickory_proto::rr::rdata::{A, SOA};
use hickory_proto::rr::{Name, RData, Record};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::JoinHandle;

/// What a server does with a question: bytes to send back, in this order.
pub type Reply = Arc<dyn Fn(&Message) -> Vec<Vec<u8>> + Send + Sync>;

/// A running server; aborted when dropped.
pub struct Server {
    pub addr: SocketAddr,
    asked: Arc<AtomicU32>,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Server {
    /// How many questions it has read.
    pub fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }

    /// Datagrams only.
    pub async fn udp(reply: impl Fn(&Message) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self::start(Arc::new(reply), None, false).await
    }

    /// Datagrams that are answered from another port.
    pub async fn elsewhere(reply: impl Fn(&Message) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self::start(Arc::new(reply), None, true).await
    }

    /// Datagrams and TCP on the same port. Each reply of `tcp` is written with its length before it; an empty one
    /// closes the connection.
    pub async fn both(
        udp: impl Fn(&Message) -> Vec<Vec<u8>> + Send + Sync + 'static,
        tcp: impl Fn(&Message) -> Vec<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        Self::start(Arc::new(udp), Some(Arc::new(tcp)), false).await
    }

    async fn start(udp: Reply, tcp: Option<Reply>, elsewhere: bool) -> Self {
        let (socket, listener) = ports(tcp.is_some()).await;
        let addr = socket.local_addr().unwrap();
        let asked = Arc::new(AtomicU32::new(0));
        let out = if elsewhere { Some(UdpSocket::bind("127.0.0.1:0").await.unwrap()) } else { None };
        let count = Arc::clone(&asked);
        let mut tasks = vec![tokio::spawn(async move {
            let mut buffer = vec![0; 4096];
            while let Ok((len, from)) = socket.recv_from(&mut buffer).await {
                count.fetch_add(1, Ordering::SeqCst);
                for bytes in udp(&Message::from_vec(&buffer[..len]).unwrap()) {
                    let _ = out.as_ref().unwrap_or(&socket).send_to(&bytes, from).await;
                }
            }
        })];
        if let (Some(listener), Some(tcp)) = (listener, tcp) {
            tasks.push(tokio::spawn(serve_tcp(listener, tcp)));
        }
        Self { addr, asked, tasks }
    }
}

/// A datagram socket, and a listener on the same port where one is wanted.
async fn ports(tcp: bool) -> (UdpSocket, Option<TcpListener>) {
    for _ in 0..50 {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if !tcp {
            return (socket, None);
        }
        if let Ok(listener) = TcpListener::bind(socket.local_addr().unwrap()).await {
            return (socket, Some(listener));
        }
    }
    panic!("no port was free for both protocols");
}

async fn serve_tcp(listener: TcpListener, reply: Reply) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let Ok(len) = stream.read_u16().await else { continue };
        let mut bytes = vec![0; usize::from(len)];
        if stream.read_exact(&mut bytes).await.is_err() {
            continue;
        }
        for bytes in reply(&Message::from_vec(&bytes).unwrap()) {
            let framed = [u16::try_from(bytes.len()).unwrap().to_be_bytes().as_slice(), &bytes].concat();
            if !bytes.is_empty() {
                let _ = stream.write_all(&framed).await;
            }
        }
    }
}

/// An answer to `asked` with nothing in it.
pub fn empty(asked: &Message, code: ResponseCode) -> Message {
    let mut message = Message::new(asked.metadata.id, MessageType::Response, OpCode::Query);
    message.metadata.response_code = code;
    message.metadata.recursion_desired = asked.metadata.recursion_desired;
    message.add_queries(asked.queries.clone());
    message
}

/// The address record of whatever was asked for, TTL 300.
pub fn with_a(asked: &Message, address: [u8; 4]) -> Message {
    let mut message = empty(asked, ResponseCode::NoError);
    let [a, b, c, d] = address;
    message.add_answer(Record::from_rdata(asked.queries[0].name.clone(), 300, RData::A(A::new(a, b, c, d))));
    message
}

/// A start of authority of `zone` in the authority section.
pub fn add_soa(message: &mut Message, zone: &str, serial: u32) {
    let name = |text: &str| Name::from_ascii(text).unwrap();
    let soa = SOA::new(name("ns1.example."), name("hostmaster.example."), serial, 10800, 3600, 604_800, 60);
    message.add_authority(Record::from_rdata(name(zone), 42, RData::SOA(soa)));
}

/// An extended error.
pub fn add_extended(message: &mut Message, code: u16, words: &str) {
    let mut edns = Edns::new();
    edns.set_max_payload(1232);
    let bytes = [code.to_be_bytes().as_slice(), words.as_bytes()].concat();
    edns.options_mut().insert(EdnsOption::Unknown(15, bytes));
    message.set_edns(edns);
}

/// The bytes.
pub fn bytes(message: &Message) -> Vec<u8> {
    message.to_vec().unwrap()
}

/// An address on which nobody listens.
pub async fn closed() -> SocketAddr {
    UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}
