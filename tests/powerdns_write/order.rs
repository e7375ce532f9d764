//! Orders of requests: at no moment does an unsigned update pass, whoever sends it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deevnet_console::backends::dns::{Changes, UpdateError, UpdateKey, update};
use deevnet_console::backends::powerdns::order::{
    Held, NewZone, Owner, binding, creation, handover, removal, rotation_begins, rotation_ends,
};
use deevnet_console::backends::powerdns::{Client, Done, Name, Write, ZoneListing};
use deevnet_console::site::secret::Secret;
use hickory_proto::op::{Message, MessageType, OpCode, Query};
use hickory_proto::rr::{RData, Record, RecordType};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::update::request;
use super::{Pdns, ZONE, apex, dns_name, host, make_zone, permit, zone};

const REVERSE: &str = "129.20.10.in-addr.arpa";
/// What PowerDNS has when nobody says otherwise.
pub const GLOBAL: &str = "allow-dnsupdate-from=127.0.0.0/8,::1";

fn owner(key: &str) -> Owner {
    Owner { key: dns_name(key), networks: vec!["127.0.0.0/8".parse().unwrap()], account: key.to_owned() }
}

fn new(zone: &str) -> NewZone {
    NewZone { zone: Name::new(zone), apex: apex() }
}

/// Tries unsigned updates of zones, one after the other, until it is stopped; counts tries and what was let in.
struct Prober {
    stop: Arc<AtomicBool>,
    tries: watch::Receiver<u64>,
    passed: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

impl Prober {
    fn start(at: SocketAddr, zones: &'static [&'static str]) -> Self {
        let (stop, passed) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (counter, tries) = watch::channel(0);
        let (s, p) = (Arc::clone(&stop), Arc::clone(&passed));
        let task = tokio::spawn(async move {
            for zone in zones.iter().cycle() {
                if s.load(Ordering::SeqCst) {
                    return;
                }
                if unsigned(at, zone).await == Some(0) {
                    p.fetch_add(1, Ordering::SeqCst);
                }
                counter.send_modify(|tries| *tries += 1);
            }
        });
        Self { stop, tries, passed, task }
    }

    /// Waits until it has tried `more` times from now on.
    async fn tried(&self, more: u64) {
        let mut tries = self.tries.clone();
        let wanted = *tries.borrow() + more;
        tries.wait_for(|tries| *tries >= wanted).await.unwrap();
    }

    async fn end(self) -> (u64, u64) {
        self.stop.store(true, Ordering::SeqCst);
        self.task.await.unwrap();
        (*self.tries.borrow(), self.passed.load(Ordering::SeqCst))
    }
}

/// The code that an unsigned update of `zone` is answered with; `None` where the server, which may be at work on that very
/// zone, ends the connection instead. What it had let in would be in the zone afterwards.
async fn unsigned(at: SocketAddr, zone: &str) -> Option<u16> {
    let bytes = unsigned_update(zone);
    let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
    let mut stream = TcpStream::connect(at).await.ok()?;
    stream.write_all(&[length.as_slice(), &bytes].concat()).await.ok()?;
    let mut answer = vec![0; usize::from(stream.read_u16().await.ok()?)];
    stream.read_exact(&mut answer).await.ok()?;
    Some(u16::from(Message::from_vec(&answer).unwrap().metadata.response_code))
}

/// An update of `zone` that nobody has signed.
pub fn unsigned_update(zone: &str) -> Vec<u8> {
    let mut message = Message::new(4711, MessageType::Query, OpCode::Update);
    let name = |text: String| text.parse::<hickory_proto::rr::Name>().unwrap();
    message.add_query(Query::query(name(format!("{zone}.")), RecordType::SOA));
    let owner = name(format!("intruder.{zone}."));
    message.authorities.push(Record::from_rdata(owner, 60, RData::A(std::net::Ipv4Addr::new(10, 9, 8, 7).into())));
    message.to_vec().unwrap()
}

/// Makes one change.
pub async fn carried_out(pdns: &Client, write: &Write) -> Done {
    pdns.perform(&permit(), write).await.unwrap_or_else(|e| panic!("{write}: {e}"))
}

/// Makes `writes` one after the other, each long enough that the prober has tried all zones after it; the key that is made.
async fn carry_out(pdns: &Client, prober: &Prober, writes: &[Write]) -> Option<Secret> {
    let mut secret = None;
    for write in writes {
        if let Done::Key(made) = carried_out(pdns, write).await {
            secret = Some(made.key.secret);
        }
        prober.tried(4).await;
    }
    secret
}

/// All zones of the server.
async fn all(pdns: &Client) -> Vec<Held> {
    let mut all = Vec::new();
    for head in pdns.zones(ZoneListing::Lean).await.unwrap() {
        let metadata = pdns.metadata(&head.name).await.unwrap();
        all.push(Held::new(&head, metadata));
    }
    all
}

fn key(name: &str, secret: &Secret) -> UpdateKey {
    UpdateKey::new(&dns_name(name), "hmac-sha256", secret.expose()).unwrap()
}

async fn adds(server: &Pdns, key: &UpdateKey, name: &str, last: u8) -> Result<(), UpdateError> {
    let changes = Changes::create(host(name, last));
    let zone = dns_name(ZONE);
    update(&permit(), &request(server, &zone, &changes, key), &super::update::now).await.map(|_| ())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_unsigned_update_passes_while_zones_are_made() {
    let Some(server) = Pdns::up("no_unsigned_update_passes_while_zones_are_made") else { return };
    server.stop();
    server.start(GLOBAL);
    let (pdns, at) = (server.client(), server.site().dns);
    let prober = Prober::start(at, &[ZONE, REVERSE]);
    prober.tried(2).await;
    let writes = creation(&owner("tdemo"), &[new(ZONE), new(REVERSE)], None);
    let secret = carry_out(&pdns, &prober, &writes).await.unwrap();
    let (tries, passed) = prober.end().await;
    eprintln!("{tries} unsigned updates tried, {passed} passed");
    assert_eq!(passed, 0, "of {tries}");

    // The zones are right, and their key writes them.
    let settings = pdns.settings().await.unwrap();
    for name in [ZONE, REVERSE] {
        let held = pdns.zone(&Name::new(name)).await.unwrap();
        assert_eq!(held.rrsets.len(), 2, "the apex and nothing else: {held:?}");
        let metadata = pdns.metadata(&Name::new(name)).await.unwrap();
        assert_eq!(metadata.takes_unsigned_updates(&settings), Some(false));
        assert!(
            binding(&owner("tdemo"), &Held::new(&held.head, metadata)).is_empty(),
            "a second run has nothing to do"
        );
    }
    adds(&server, &key("tdemo", &secret), &format!("app.{ZONE}"), 10).await.unwrap();

    // The prober would have seen it: a zone that is made native at once is open. It is whole before it is probed: a change
    // that meets an update which is let in finds the database locked, and the server says 500.
    make_zone(&pdns, &Name::new("naive.example")).await;
    let prober = Prober::start(at, &["naive.example"]);
    prober.tried(4).await;
    assert!(prober.end().await.1 > 0, "a zone without a list of keys takes unsigned updates");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_rotate_and_zones_change_hands() {
    let Some(server) = Pdns::up("keys_rotate_and_zones_change_hands") else { return };
    server.stop();
    server.start(GLOBAL);
    let (pdns, at) = (server.client(), server.site().dns);
    let prober = Prober::start(at, &[ZONE, REVERSE]);
    let writes = creation(&owner("tdemo"), &[new(ZONE), new(REVERSE)], None);
    let first = carry_out(&pdns, &prober, &writes).await.unwrap();
    let all = || all(&pdns);
    let (old, next) = (dns_name("tdemo"), dns_name("tdemo-2"));
    let begins = rotation_begins(&old, &next, None, &all().await);
    let second = carry_out(&pdns, &prober, &begins).await.unwrap();
    adds(&server, &key("tdemo", &first), &format!("a.{ZONE}"), 11).await.unwrap();
    adds(&server, &key("tdemo-2", &second), &format!("b.{ZONE}"), 12).await.unwrap();
    carry_out(&pdns, &prober, &rotation_ends(&old, &all().await)).await;
    let gone = adds(&server, &key("tdemo", &first), &format!("c.{ZONE}"), 13).await.unwrap_err();
    assert!(matches!(gone, UpdateError::Credential { .. }), "{gone:?}");
    adds(&server, &key("tdemo-2", &second), &format!("c.{ZONE}"), 13).await.unwrap();

    // The reverse zone goes to another tenant, with what the last one wrote in it.
    let pointer = r#"{"name":"10.129.20.10.in-addr.arpa.","type":"PTR","ttl":300,"changetype":"REPLACE","records":[{"content":"app.old.example."}]}"#;
    server.patch(REVERSE, pointer.as_bytes());
    let held = pdns.zone(&Name::new(REVERSE)).await.unwrap();
    let metadata = pdns.metadata(&Name::new(REVERSE)).await.unwrap();
    pdns.perform(&permit(), &Write::CreateKey { name: dns_name("eds"), secret: None }).await.unwrap();
    carry_out(&pdns, &prober, &handover(&owner("eds"), &held, &metadata)).await;
    assert_eq!(pdns.zone(&Name::new(REVERSE)).await.unwrap().rrsets.len(), 2);
    let metadata = pdns.metadata(&Name::new(REVERSE)).await.unwrap();
    assert_eq!(metadata.update_keys(), [Name::new("eds")]);

    let writes = removal(&next, &[zone()], &all().await);
    carry_out(&pdns, &prober, &writes).await;
    let left: Vec<Name> = pdns.zones(ZoneListing::Lean).await.unwrap().into_iter().map(|head| head.name).collect();
    assert_eq!(left, [Name::new(REVERSE)]);
    assert!(pdns.tsig_keys().await.unwrap().iter().all(|key| key.name == Name::new("eds")));
    let (tries, passed) = prober.end().await;
    assert_eq!(passed, 0, "of {tries}");
}

/// A door to the server's API: `meet` is called when a change of records comes through, `before` the server has it or after
/// it has answered.
pub async fn door(origin: String, before: bool, meet: impl Fn() + Send + Sync + 'static) -> String {
    let far: SocketAddr = origin.trim_start_matches("http://").parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let meet = Arc::new(meet);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let meet = Arc::clone(&meet);
            tokio::spawn(async move {
                let request = whole_request(&mut near).await;
                let patch = request.starts_with(b"PATCH");
                if patch && before {
                    meet();
                }
                let mut stream = TcpStream::connect(far).await.unwrap();
                stream.write_all(&request).await.unwrap();
                let mut answer = Vec::new();
                stream.read_to_end(&mut answer).await.unwrap();
                if patch && !before {
                    meet();
                }
                near.write_all(&answer).await.unwrap();
            });
        }
    });
    format!("http://{at}")
}

/// Head and body, as the length of the body says.
async fn whole_request(stream: &mut TcpStream) -> Vec<u8> {
    let (mut request, mut buffer) = (Vec::new(), vec![0; 65_536]);
    loop {
        let length = stream.read(&mut buffer).await.unwrap();
        request.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&request).to_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let says = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if length == 0 || body.len() >= says.map_or(0, |n| n.trim().parse().unwrap()) {
            return request;
        }
    }
}
