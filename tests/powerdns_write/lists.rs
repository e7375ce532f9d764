//! Lists of keys that are replaced on a live zone, under many writers without a key.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use deevnet_console::backends::dns::DnsName;
use deevnet_console::backends::powerdns::model::ZoneKind;
use deevnet_console::backends::powerdns::order::{Held, relisting};
use deevnet_console::backends::powerdns::{Client, Metadata, Name, Write, ZoneListing};
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::RecordType;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::order::{GLOBAL, carried_out, unsigned_update};
use super::{Pdns, ZONE, apex, dns_name, permit, zone};

/// Writers at a time.
const WRITERS: usize = 6;
/// Lists that are replaced.
const ROUNDS: usize = 20;

/// Writers that send unsigned updates as fast as they are answered, each on a connection of its own.
struct Crowd {
    stop: Arc<AtomicBool>,
    tries: Arc<AtomicU64>,
    passed: Arc<AtomicU64>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Crowd {
    fn start(at: SocketAddr) -> Self {
        let (stop, tries, passed) =
            (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let one = |_| {
            let (stop, tries, passed) = (Arc::clone(&stop), Arc::clone(&tries), Arc::clone(&passed));
            tokio::spawn(async move {
                let update = unsigned_update(ZONE);
                while !stop.load(Ordering::SeqCst) {
                    let Ok(mut stream) = TcpStream::connect(at).await else { continue };
                    while let Some(answer) = exchanged(&mut stream, &update).await {
                        tries.fetch_add(1, Ordering::SeqCst);
                        passed.fetch_add(u64::from(answer == ResponseCode::NoError), Ordering::SeqCst);
                        if stop.load(Ordering::SeqCst) {
                            return;
                        }
                    }
                }
            })
        };
        let tasks = (0..WRITERS).map(one).collect();
        Self { stop, tries, passed, tasks }
    }

    fn passed(&self) -> u64 {
        self.passed.load(Ordering::SeqCst)
    }

    async fn end(self) -> (u64, u64) {
        self.stop.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        (self.tries.load(Ordering::SeqCst), self.passed.load(Ordering::SeqCst))
    }
}

/// The code of an answer; `None` where the connection ended.
async fn exchanged(stream: &mut TcpStream, message: &[u8]) -> Option<ResponseCode> {
    let length = u16::try_from(message.len()).unwrap().to_be_bytes();
    stream.write_all(&[length.as_slice(), message].concat()).await.ok()?;
    let mut answer = vec![0; usize::from(stream.read_u16().await.ok()?)];
    stream.read_exact(&mut answer).await.ok()?;
    Some(Message::from_vec(&answer).unwrap().metadata.response_code)
}

/// The start of authority as it is served now.
async fn serves(at: SocketAddr) -> bool {
    let mut question = Message::new(7, MessageType::Query, OpCode::Query);
    question.add_query(Query::query(format!("{ZONE}.").parse().unwrap(), RecordType::SOA));
    let mut stream = TcpStream::connect(at).await.unwrap();
    exchanged(&mut stream, &question.to_vec().unwrap()).await == Some(ResponseCode::NoError)
}

fn list(round: usize) -> Vec<DnsName> {
    let other = if round.is_multiple_of(2) { "tdemo-2" } else { "tdemo-3" };
    vec![dns_name("tdemo"), dns_name(other)]
}

async fn live(pdns: &Client, at: &Pdns) -> Held {
    let key = Metadata::UpdateKeys(vec![dns_name("tdemo")]);
    for write in [
        Write::CreateClosed { zone: zone(), account: "tdemo".to_owned() },
        Write::PutMetadata(zone(), key),
        Write::MakeNative(zone()),
        Write::Patch(zone(), apex().changes(&zone())),
    ] {
        pdns.perform(&permit(), &write).await.unwrap();
    }
    // Primary, so that a kind which is not put back would be seen.
    let (status, text) = at.api("PUT", &format!("/zones/{ZONE}"), br#"{"kind":"Master"}"#);
    assert_eq!(status, 204, "{text}");
    let head = pdns.zone_head(&zone()).await.unwrap();
    Held::new(&head, pdns.metadata(&zone()).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_replaced_under_many_writers_and_none_passes() {
    let Some(server) = Pdns::up("a_list_is_replaced_under_many_writers_and_none_passes") else { return };
    server.stop();
    server.start(GLOBAL);
    let (pdns, at) = (server.client(), server.site().dns);
    let held = live(&pdns, &server).await;
    let before = pdns.zone(&zone()).await.unwrap();
    assert_eq!(before.head.kind, ZoneKind::Primary);

    let crowd = Crowd::start(at);
    for round in 0..ROUNDS {
        for write in relisting(&held, list(round), Vec::new()) {
            carried_out(&pdns, &write).await;
            assert!(serves(at).await, "{write}: queries are answered all the while");
        }
    }
    let (tries, passed) = crowd.end().await;
    eprintln!("{ROUNDS} lists replaced, {tries} unsigned updates tried, {passed} passed");
    assert_eq!(passed, 0, "of {tries}");
    assert_eq!(pdns.zone(&zone()).await.unwrap(), before, "records, serial and kind are as they were");
    let keys: Vec<Name> = pdns.metadata(&zone()).await.unwrap().update_keys();
    assert_eq!(keys, list(ROUNDS - 1).iter().map(|key| Name::new(key.as_str())).collect::<Vec<_>>());
    assert_eq!(pdns.zones(ZoneListing::Lean).await.unwrap().len(), 1);

    // The crowd would have seen it: a list that is replaced on a live zone is empty for a moment.
    let crowd = Crowd::start(at);
    let naive = async {
        for round in (0..).take_while(|_| crowd.passed() == 0) {
            // Where one passed, the database may be busy with it.
            pdns.perform(&permit(), &Write::PutMetadata(zone(), Metadata::UpdateKeys(list(round)))).await.ok();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), naive).await.expect("a writer passes");
    let (tries, passed) = crowd.end().await;
    eprintln!("on a live zone: {tries} tried, {passed} passed");
}
