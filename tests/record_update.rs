//! Records by signed updates: made, replaced, deleted and taken back; what others write the same moment, answers that are lost,
//! keys and clocks that are wrong. Against a real PowerDNS, and against the lab.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "helpers of a test: a panic is its verdict; a skip is said aloud; a real server has the real time"
)]

mod change_common;
mod powerdns_common;

#[path = "change_common/names.rs"]
mod names;

use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deevnet_console::backends::dns::{RecordData, Text};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::handover;
use deevnet_console::provision::plan::Plan;
use deevnet_console::provision::plans::names::onboarding;
use deevnet_console::provision::plans::record::{Of, by_update};
use deevnet_console::provision::plans::tsig;
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::world::World;
use deevnet_console::site::Site;
use jiff::{SignedDuration, Timestamp};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use change_common::{Options, Runs, early};
use names::{GLOBAL, ZONES, plan, site, tenant};
use powerdns_common::{KEY, Pdns, client};

/// What happens to updates on their way.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Through,
    /// The server has it, the answer is lost.
    Lost,
    /// Somebody else writes before it comes.
    Overtaken,
    /// Somebody else writes, and the answer is changed on its way back.
    Forged,
}

/// A door to a name server, over TCP; counts updates.
struct Door {
    at: SocketAddr,
    updates: Arc<AtomicU64>,
    way: Arc<std::sync::Mutex<Way>>,
}

type Overtaking = Arc<dyn Fn() + Send + Sync>;

impl Door {
    async fn to(far: SocketAddr, overtaking: Overtaking) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let door = Self {
            at: listener.local_addr().unwrap(),
            updates: Arc::default(),
            way: Arc::new(std::sync::Mutex::new(Way::Through)),
        };
        let (updates, way) = (Arc::clone(&door.updates), Arc::clone(&door.way));
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let (updates, way) = (Arc::clone(&updates), *way.lock().unwrap());
                tokio::spawn(through(near, far, updates, way, Arc::clone(&overtaking)));
            }
        });
        door
    }

    fn set(&self, way: Way) {
        *self.way.lock().unwrap() = way;
        self.updates.store(0, Ordering::SeqCst);
    }

    fn updates(&self) -> u64 {
        self.updates.load(Ordering::SeqCst)
    }
}

async fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let length = stream.read_u16().await.ok()?;
    let mut bytes = vec![0; usize::from(length)];
    stream.read_exact(&mut bytes).await.ok()?;
    Some(bytes)
}

async fn send(stream: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    let length = u16::try_from(bytes.len()).ok()?.to_be_bytes();
    stream.write_all(&[length.as_slice(), bytes].concat()).await.ok()
}

async fn through(
    mut near: TcpStream,
    far: SocketAddr,
    updates: Arc<AtomicU64>,
    way: Way,
    overtaking: Overtaking,
) -> Option<()> {
    let question = message(&mut near).await?;
    // The opcode of an update is 5 (RFC 2136 §2.2).
    let update = (question[2] >> 3) & 0b1111 == 5;
    if update {
        updates.fetch_add(1, Ordering::SeqCst);
        if matches!(way, Way::Overtaken | Way::Forged) {
            tokio::task::spawn_blocking(move || overtaking()).await.ok()?;
        }
    }
    let mut stream = TcpStream::connect(far).await.ok()?;
    send(&mut stream, &question).await?;
    let mut answer = message(&mut stream).await?;
    if update && way == Way::Lost {
        return None;
    }
    if update && way == Way::Forged {
        // NOERROR in place of what the server said: its signature does not hold any more.
        answer[3] &= 0xf0;
    }
    send(&mut near, &answer).await
}

/// Names alone; without `api` only updates can change them. Its clock is that many seconds ahead.
fn world(site: &Arc<Site>, server: &Pdns, api: bool, ahead: i64) -> Arc<World> {
    let clock = Arc::new(move || Timestamp::now() + SignedDuration::from_secs(ahead));
    names::world(site, api.then(|| client(&server.site(), KEY)), clock, 2)
}

fn set(world: &World, name: &str, data: Vec<RecordData>, key: Option<&Path>) -> Plan {
    let (tenant, index) = tenant();
    let of = Of { site: &world.site, tenant: &tenant, index };
    by_update(of.set(name, 300, data).unwrap(), &tenant, key)
}

fn gone(world: &World, name: &str, rtype: &str) -> Plan {
    let (tenant, index) = tenant();
    let of = Of { site: &world.site, tenant: &tenant, index };
    by_update(of.delete(name, rtype, None).unwrap(), &tenant, None)
}

fn a(last: u8) -> RecordData {
    RecordData::A([10, 20, 188, last].into())
}

/// What the API shows of a name.
async fn held(server: &Pdns, name: &str, rtype: &str) -> Vec<String> {
    let zone = server.client().zone(&deevnet_console::backends::powerdns::Name::new(ZONES[0])).await.unwrap();
    let name = deevnet_console::backends::powerdns::Name::new(&format!("{name}.{}", ZONES[0]));
    let mut all: Vec<String> = zone
        .rrset(&name, rtype)
        .map(|set| set.records.iter().map(|record| record.content.raw().to_owned()).collect())
        .unwrap_or_default();
    all.sort();
    all
}

fn private(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

struct Real {
    server: Arc<Pdns>,
    door: Door,
    site: Arc<Site>,
    dir: tempfile::TempDir,
}

/// A server with the names of a tenant, and a door before it behind which somebody else writes `www`.
async fn real(test: &str) -> Option<Real> {
    let server = Arc::new(Pdns::up(test)?);
    server.stop();
    server.start(GLOBAL);
    let dir = tempfile::tempdir().unwrap();
    let writer = Arc::clone(&server);
    let overtaking: Overtaking = Arc::new(move || {
        let body = format!(
            r#"{{"rrsets":[{{"name":"www.{}.","type":"A","ttl":300,"changetype":"REPLACE","records":[{{"content":"10.20.188.66"}}]}}]}}"#,
            ZONES[0]
        );
        let (status, text) = writer.api("PATCH", &format!("/zones/{}.", ZONES[0]), body.as_bytes());
        assert_eq!(status, 204, "{text}");
    });
    let door = Door::to(server.site().dns, overtaking).await;
    let site = site(door.at, dir.path());
    let straight = world(&site, &server, true, 0);
    let (name, index) = tenant();
    let steps = onboarding(&straight.site, &name, index);
    assert_eq!(Runs::new().run(&straight, plan(&straight, steps)).await, Ended::Done);
    Some(Real { server, door, site, dir })
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_made_replaced_deleted_and_taken_back_by_updates() {
    let Some(real) = real("records_are_made_replaced_deleted_and_taken_back_by_updates").await else { return };
    let (runs, world) = (Runs::new(), world(&real.site, &real.server, true, 0));
    let made = set(&world, "www", vec![a(20)], None);
    assert_eq!(runs.run(&world, made.clone()).await, Ended::Done);
    assert_eq!(held(&real.server, "www", "A").await, ["10.20.188.20"]);
    assert!(runs.look(&world, made.clone()).await.is_empty(), "a second run does nothing");

    let replaced = set(&world, "www", vec![a(21), a(22)], None);
    let preview = runs.look(&world, replaced.clone()).await;
    assert!(preview.riders()[0].contains("10.20.188.20"), "{:?}", preview.riders());
    assert_eq!(runs.run(&world, replaced.clone()).await, Ended::Done);
    assert_eq!(held(&real.server, "www", "A").await, ["10.20.188.21", "10.20.188.22"]);
    assert_eq!(runs.run(&world, runs.way_back().plan).await, Ended::Done);
    assert_eq!(held(&real.server, "www", "A").await, ["10.20.188.20"], "as it was");

    let text = RecordData::Txt(Text::new(br#"a, "b" \ c"#));
    assert_eq!(runs.run(&world, set(&world, "www", vec![text.clone()], None)).await, Ended::Done);
    assert!(runs.look(&world, set(&world, "www", vec![text], None)).await.is_empty());

    let alias = set(&world, "www", vec![RecordData::Cname("app.example".parse().unwrap())], None);
    let (_, kind, why) = early(runs.run(&world, alias).await);
    assert_eq!(kind, TroubleKind::Refused, "{why}");
    assert!(why.contains("an alias stands alone"), "{why}");

    let alias = set(&world, "web", vec![RecordData::Cname("app.example".parse().unwrap())], None);
    assert_eq!(runs.run(&world, alias).await, Ended::Done);
    let (_, kind, why) = early(runs.run(&world, set(&world, "web", vec![a(30)], None)).await);
    assert!(kind == TroubleKind::Refused && why.contains("is an alias of app.example"), "{why}");

    assert_eq!(runs.run(&world, gone(&world, "www", "A")).await, Ended::Done);
    assert!(held(&real.server, "www", "A").await.is_empty());
    assert_eq!(runs.run(&world, runs.way_back().plan).await, Ended::Done);
    assert_eq!(held(&real.server, "www", "A").await, ["10.20.188.20"], "made again");
    let (secret, _) = handover::secret(&world, "rtrip").await.unwrap();
    assert!(!runs.written().contains(secret.as_str()), "a secret is written down");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_write_the_same_moment_stays_and_a_lost_answer_is_looked_for() {
    let test = "what_others_write_the_same_moment_stays_and_a_lost_answer_is_looked_for";
    let Some(real) = real(test).await else { return };
    let (runs, world) = (Runs::new(), world(&real.site, &real.server, true, 0));
    real.door.set(Way::Lost);
    assert_eq!(runs.run(&world, set(&world, "www", vec![a(20)], None)).await, Ended::Done);
    assert_eq!(real.door.updates(), 1, "it was looked for, not sent again");
    assert_eq!(held(&real.server, "www", "A").await, ["10.20.188.20"]);

    for plan in [set(&world, "www", vec![a(21)], None), gone(&world, "www", "A")] {
        real.door.set(Way::Through);
        assert_eq!(runs.run(&world, set(&world, "www", vec![a(20)], None)).await, Ended::Done);
        real.door.set(Way::Overtaken);
        let (_, kind, why) = early(runs.run(&world, plan).await);
        assert_eq!((kind, real.door.updates()), (TroubleKind::Moved, 1), "{why}");
        assert!(why.contains("is not as it was read"), "{why}");
        assert_eq!(held(&real.server, "www", "A").await, ["10.20.188.66"], "the other's stays");
    }
    // The same where it was to be made.
    real.door.set(Way::Through);
    assert_eq!(runs.run(&world, gone(&world, "www", "A")).await, Ended::Done);
    real.door.set(Way::Overtaken);
    let (_, kind, why) = early(runs.run(&world, set(&world, "www", vec![a(23)], None)).await);
    assert!(kind == TroubleKind::Moved && why.contains("a record set is there already"), "{why}");

    // An answer that was changed on its way proves nothing.
    real.door.set(Way::Through);
    assert_eq!(runs.run(&world, set(&world, "www", vec![a(20)], None)).await, Ended::Done);
    real.door.set(Way::Forged);
    let (_, kind, why) = early(runs.run(&world, set(&world, "www", vec![a(24)], None)).await);
    assert!(kind == TroubleKind::NotSeen && why.contains("is not signed with the key"), "{kind:?} {why}");
    assert_eq!(held(&real.server, "www", "A").await, ["10.20.188.66"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_clocks_that_are_wrong_are_told_and_a_key_file_does_without_the_api() {
    let test = "keys_and_clocks_that_are_wrong_are_told_and_a_key_file_does_without_the_api";
    let Some(real) = real(test).await else { return };
    let (runs, api) = (Runs::new(), world(&real.site, &real.server, true, 0));
    let file = real.dir.path().join("rtrip.key");
    private(&file, "key \"rtrip\" { algorithm hmac-sha256; secret \"c29tZXRoaW5nIGVsc2U=\"; };\n");
    let (_, kind, why) = early(runs.run(&api, set(&api, "www", vec![a(20)], Some(&file))).await);
    assert!(kind == TroubleKind::NotSeen && why.contains("does not take the key: REFUSED, unsigned"), "{kind:?} {why}");
    assert!(!why.contains("clocks"), "{why}");

    let late = world(&real.site, &real.server, true, 900);
    let (_, kind, why) = early(runs.run(&late, set(&late, "www", vec![a(20)], None)).await);
    assert!(kind == TroubleKind::NotSeen && why.contains("differ by more than 300 s"), "{kind:?} {why}");

    // Another tenant's key is taken, and its update refused.
    real.server.seed("eds", "eds.mobile.deevnet.net", "130.20.10.in-addr.arpa");
    let (secret, algorithm) = handover::secret(&api, "eds").await.unwrap();
    private(&file, &handover::key_file("eds", &algorithm, &secret));
    let (_, kind, why) = early(runs.run(&api, set(&api, "www", vec![a(20)], Some(&file))).await);
    assert!(kind == TroubleKind::Refused && why.contains("takes the key and refuses"), "{kind:?} {why}");
    assert!(held(&real.server, "www", "A").await.is_empty());

    // After a rotation the newer key signs; a file of it is all that is needed.
    let (name, _) = tenant();
    assert_eq!(runs.run(&api, tsig::rotate_begin(&api, &name).await.unwrap()).await, Ended::Done);
    let keys = handover::read(&api, &ZONES.map(str::to_owned)).await.unwrap();
    let key = handover::chosen("rtrip", &keys).unwrap();
    assert_eq!((key.name.as_str(), key.also.as_slice()), ("rtrip-2", ["rtrip".to_owned()].as_slice()));
    let (secret, algorithm) = handover::secret(&api, &key.name).await.unwrap();
    private(&file, &handover::key_file(&key.name, &algorithm, &secret));
    let dns_only = world(&real.site, &real.server, false, 0);
    let (_, kind, why) = early(runs.run(&dns_only, set(&dns_only, "www", vec![a(20)], None)).await);
    assert_eq!(kind, TroubleKind::Unknown, "{why}");
    assert_eq!(runs.run(&dns_only, set(&dns_only, "www", vec![a(20)], Some(&file))).await, Ended::Done);
    assert_eq!(held(&real.server, "www", "A").await, ["10.20.188.20"]);
    let preview = runs.look(&dns_only, set(&dns_only, "www", vec![a(21)], Some(&file))).await;
    assert!(preview.riders().iter().any(|rider| rider.contains("switched off")), "{:?}", preview.riders());
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let (_, kind, why) = early(runs.run(&dns_only, set(&dns_only, "www", vec![a(22)], Some(&file))).await);
    assert!(kind == TroubleKind::Refused && why.contains("lets others in"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lab_takes_updates_too() {
    let bench = Options::tenants(2).start().await;
    let (name, index) = tenant();
    assert_eq!(bench.run(plan(&bench.world, onboarding(&bench.world.site, &name, index))).await, Ended::Done);
    bench.lab.fault_on("dns-update-lost").unwrap();
    assert_eq!(bench.run(set(&bench.world, "www", vec![a(20)], None)).await, Ended::Done);
    bench.lab.fault_off("dns-update-lost").unwrap();
    assert!(bench.look(set(&bench.world, "www", vec![a(20)], None)).await.is_empty());
    assert_eq!(bench.run(set(&bench.world, "www", vec![a(21), a(22)], None)).await, Ended::Done);
    assert_eq!(bench.run(bench.way_back().plan).await, Ended::Done);
    assert!(bench.look(set(&bench.world, "www", vec![a(20)], None)).await.is_empty(), "as it was");
    assert_eq!(bench.run(gone(&bench.world, "www", "A")).await, Ended::Done);
    assert!(bench.look(gone(&bench.world, "www", "A")).await.is_empty());
    bench.end().await;
}
