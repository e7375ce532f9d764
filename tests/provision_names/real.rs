//! Against a real PowerDNS, with a writer that has no key; cut before and after each request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deevnet_console::backends::powerdns::ZoneListing;
use deevnet_console::backends::powerdns::model::{RrSet, ZoneKind};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::plan::Plan;
use deevnet_console::provision::plans::{names, tsig};
use deevnet_console::provision::world::World;
use deevnet_console::site::Site;
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{RData, Record, RecordType};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::change_common::{Hand, Runs};
use super::names::{GLOBAL, ZONES, plan, site, tenant};
use super::powerdns_common::{KEY, Pdns, client};

/// Names alone, whose requests go to `origin`; each is tried once.
fn world(site: &Arc<Site>, server: &Pdns, origin: &str) -> Arc<World> {
    let mut dns = server.site();
    dns.url = Some(origin.to_owned());
    super::names::world(site, Some(client(&dns, KEY)), Hand::new().clock(), 1)
}

/// A writer without a key.
struct Prober {
    stop: Arc<AtomicBool>,
    passed: Arc<AtomicU64>,
    tries: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

impl Prober {
    fn start(at: SocketAddr) -> Self {
        let (stop, passed, tries) =
            (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let (s, p, t) = (Arc::clone(&stop), Arc::clone(&passed), Arc::clone(&tries));
        let task = tokio::spawn(async move {
            for zone in ZONES.iter().cycle() {
                if s.load(Ordering::SeqCst) {
                    return;
                }
                let code = unsigned(at, zone).await;
                p.fetch_add(u64::from(code == Some(ResponseCode::NoError)), Ordering::SeqCst);
                t.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { stop, passed, tries, task }
    }

    async fn end(self) -> (u64, u64) {
        self.stop.store(true, Ordering::SeqCst);
        self.task.await.unwrap();
        (self.tries.load(Ordering::SeqCst), self.passed.load(Ordering::SeqCst))
    }
}

async fn unsigned(at: SocketAddr, zone: &str) -> Option<ResponseCode> {
    let mut message = Message::new(4711, MessageType::Query, OpCode::Update);
    message.add_query(Query::query(format!("{zone}.").parse().unwrap(), RecordType::SOA));
    let owner = format!("intruder.{zone}.").parse().unwrap();
    message.authorities.push(Record::from_rdata(owner, 60, RData::A(std::net::Ipv4Addr::new(10, 9, 8, 7).into())));
    let bytes = message.to_vec().unwrap();
    let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
    let mut stream = TcpStream::connect(at).await.ok()?;
    stream.write_all(&[length.as_slice(), &bytes].concat()).await.ok()?;
    let mut answer = vec![0; usize::from(stream.read_u16().await.ok()?)];
    stream.read_exact(&mut answer).await.ok()?;
    Some(Message::from_vec(&answer).unwrap().metadata.response_code)
}

/// A door to the server that is shut for good at one change: before the server has it, or after it has answered.
async fn door(server: &Pdns, last: u64, before: bool) -> (String, Arc<AtomicU64>) {
    let far: SocketAddr = server.origin().trim_start_matches("http://").parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let changes = Arc::<AtomicU64>::default();
    let counted = Arc::clone(&changes);
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let counted = Arc::clone(&counted);
            tokio::spawn(async move { through(near, far, &counted, last, before).await });
        }
    });
    (format!("http://{at}"), changes)
}

async fn through(mut near: TcpStream, far: SocketAddr, changes: &AtomicU64, last: u64, before: bool) -> Option<()> {
    let (mut request, mut buffer) = (Vec::new(), vec![0; 65_536]);
    loop {
        let length = near.read(&mut buffer).await.ok()?;
        request.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&request).to_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let says = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if length == 0 || body.len() >= says.map_or(0, |n| n.trim().parse().unwrap()) {
            break;
        }
    }
    let change = !request.starts_with(b"GET");
    let number = if change { changes.fetch_add(1, Ordering::SeqCst) + 1 } else { changes.load(Ordering::SeqCst) };
    if number > last || (change && number == last && before) {
        return None;
    }
    let mut stream = TcpStream::connect(far).await.ok()?;
    stream.write_all(&request).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    if change && number == last {
        return None;
    }
    near.write_all(&answer).await.ok()
}

/// Everything that is there, but for serials.
async fn whole(server: &Pdns) -> Vec<(String, ZoneKind, Option<String>, Vec<RrSet>, Vec<(String, Vec<String>)>)> {
    let pdns = server.client();
    let mut all = Vec::new();
    for head in pdns.zones(ZoneListing::Lean).await.unwrap() {
        let (zone, metadata) = (pdns.zone(&head.name).await.unwrap(), pdns.metadata(&head.name).await.unwrap());
        let sets = zone.rrsets.into_iter().filter(|set| set.kind != "SOA").collect();
        all.push((head.name.to_string(), head.kind, zone.head.account, sets, metadata.kinds.into_iter().collect()));
    }
    all
}

/// Before each change; and after some, where the answer is lost and the next change finds the door shut.
fn cuts(changes: u64) -> impl Iterator<Item = (u64, bool)> {
    (1..=changes).flat_map(move |last| {
        let after = (last % 4 == 2 && last < changes).then_some((last, false));
        std::iter::once((last, true)).chain(after)
    })
}

fn onboarding(world: &World) -> Plan {
    let (name, index) = tenant();
    plan(world, names::onboarding(&world.site, &name, index))
}

async fn removed(server: &Pdns, site: &Arc<Site>) {
    let straight = world(site, server, &server.origin());
    let (name, index) = tenant();
    let steps = names::removal(&straight, &name, index).await.unwrap();
    assert_eq!(Runs::new().run(&straight, plan(&straight, steps)).await, Ended::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_cut_at_any_request_ends_as_the_undisturbed_one_and_no_unsigned_update_passes() {
    let test = "a_run_cut_at_any_request_ends_as_the_undisturbed_one_and_no_unsigned_update_passes";
    let Some(server) = Pdns::up(test) else { return };
    server.stop();
    server.start(GLOBAL);
    let dir = tempfile::tempdir().unwrap();
    let site = site(server.site().dns, dir.path());
    let prober = Prober::start(server.site().dns);

    let (counting, changes) = door(&server, u64::MAX, true).await;
    let undisturbed = world(&site, &server, &counting);
    assert_eq!(Runs::new().run(&undisturbed, onboarding(&undisturbed)).await, Ended::Done);
    let wanted = whole(&server).await;
    let requests = changes.load(Ordering::SeqCst);
    assert_eq!((wanted.len(), requests), (2, 13), "{wanted:?}");
    removed(&server, &site).await;

    let straight = world(&site, &server, &server.origin());
    for (last, before) in cuts(requests) {
        let (origin, _) = door(&server, last, before).await;
        let (runs, cut) = (Runs::new(), world(&site, &server, &origin));
        let ended = runs.run(&cut, onboarding(&cut)).await;
        assert!(matches!(ended, Ended::Early { .. }), "{last} {before}");
        assert_eq!(runs.resume(&straight).await, Ended::Done, "cut at change {last}, before it: {before}");
        assert_eq!(whole(&server).await, wanted, "cut at change {last}, before it: {before}");
        assert!(runs.look(&straight, onboarding(&straight)).await.is_empty(), "a second run does nothing");
        let back = runs.way_back();
        assert!(back.left.is_empty(), "{:?}", back.left);
        assert_eq!(runs.run(&straight, back.plan).await, Ended::Done);
        assert!(whole(&server).await.is_empty(), "cut at change {last}: taken back");
    }
    let (tries, passed) = prober.end().await;
    eprintln!("{tries} unsigned updates tried, {passed} passed");
    assert_eq!(passed, 0, "of {tries}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_cut_at_any_request_leaves_no_zone_closed_or_open() {
    let Some(server) = Pdns::up("a_rotation_cut_at_any_request_leaves_no_zone_closed_or_open") else { return };
    server.stop();
    server.start(GLOBAL);
    let dir = tempfile::tempdir().unwrap();
    let site = site(server.site().dns, dir.path());
    let straight = world(&site, &server, &server.origin());
    assert_eq!(Runs::new().run(&straight, onboarding(&straight)).await, Ended::Done);
    // One is a primary, and stays one.
    let (status, text) = server.api("PUT", &format!("/zones/{}", ZONES[0]), br#"{"kind":"Master"}"#);
    assert_eq!(status, 204, "{text}");
    let before = whole(&server).await;
    let prober = Prober::start(server.site().dns);
    let (name, _) = tenant();
    // A key, and for each zone: closed, listed, opened.
    for (last, early) in cuts(7) {
        let (origin, _) = door(&server, last, early).await;
        let (runs, cut) = (Runs::new(), world(&site, &server, &origin));
        let begin = tsig::rotate_begin(&straight, &name).await.unwrap();
        assert!(matches!(runs.run(&cut, begin).await, Ended::Early { .. }), "{last} {early}");
        assert_eq!(runs.resume(&straight).await, Ended::Done, "cut at change {last}, before it: {early}");
        let both = whole(&server).await;
        assert!(both.iter().zip(&before).all(|(now, then)| now.1 == then.1), "kinds: {both:?}");
        assert_eq!(runs.run(&straight, runs.way_back().plan).await, Ended::Done);
        assert_eq!(whole(&server).await, before, "cut at change {last}, before it: {early}, and taken back");
    }
    assert_eq!(Runs::new().run(&straight, tsig::rotate_begin(&straight, &name).await.unwrap()).await, Ended::Done);
    assert_eq!(Runs::new().run(&straight, tsig::rotate_end(&straight, &name).await.unwrap()).await, Ended::Done);
    let (tries, passed) = prober.end().await;
    eprintln!("{tries} unsigned updates tried, {passed} passed");
    assert_eq!(passed, 0, "of {tries}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_zone_and_one_of_another_are_bound_and_handed_over() {
    let Some(server) = Pdns::up("an_open_zone_and_one_of_another_are_bound_and_handed_over") else { return };
    server.seed("eds", "eds.mobile.deevnet.net", ZONES[1]);
    let pointer = r#"{"name":"10.188.20.10.in-addr.arpa.","type":"PTR","ttl":300,"changetype":"REPLACE","records":[{"content":"app.eds.example."}]}"#;
    server.patch(ZONES[1], pointer.as_bytes());
    server.add_zone(&format!("{}.", ZONES[0]));
    let dir = tempfile::tempdir().unwrap();
    let site = site(server.site().dns, dir.path());
    let straight = world(&site, &server, &server.origin());
    let (name, index) = tenant();
    let runs = Runs::new();
    let preview = runs.look(&straight, onboarding(&straight)).await;
    assert!(runs.named(&straight, preview).is_err(), "the reverse zone is of eds");
    let over = plan(&straight, names::handover(&straight.site, &name, index));
    assert_eq!(runs.run(&straight, over.clone()).await, Ended::Done);
    assert!(runs.look(&straight, over).await.is_empty());
    let all = whole(&server).await;
    for zone in ZONES {
        let held = all.iter().find(|row| row.0 == zone).unwrap();
        assert_eq!(held.3.len(), 1, "its NS alone: {held:?}");
        let keys = held.4.iter().find(|(kind, _)| kind == "TSIG-ALLOW-DNSUPDATE").unwrap();
        assert_eq!(keys.1, ["rtrip"]);
    }
}
