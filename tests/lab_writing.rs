//! Our clients change the lab's PowerDNS and its resolver's forwards; and every fault of writing as they see it.
#![cfg(feature = "console")]
#![expect(clippy::unwrap_used, reason = "helpers of tests, which should stop")]

mod lab_client;

use std::time::Duration;

use deevnet_console::backends::dns::{Changes, DnsName, FUDGE, HostRecord, Update, UpdateError, UpdateKey, update};
use deevnet_console::backends::http::{Limits, Outcome};
use deevnet_console::backends::opnsense::{self, NewForward, Pace};
use deevnet_console::backends::permit::Permit;
use deevnet_console::backends::powerdns::order::{NewZone, Owner, creation};
use deevnet_console::backends::powerdns::{Apex, Change, Client, Done, Error, Guarded, Name, Replaced, Write};
use deevnet_console::lab::Lab;
use deevnet_console::site::Site;
use deevnet_console::site::secret::Secret;
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;
use lab_client::{ask, lab, texts};
use zeroize::Zeroizing;

const ZONE: &str = "fresh.mobile.deevnet.net";
const REVERSE: &str = "140.20.10.in-addr.arpa";

fn permit() -> Permit {
    Permit::grant("a-plan")
}

fn dns_name(text: &str) -> DnsName {
    text.parse().unwrap()
}

struct Bench {
    lab: Lab,
    site: Site,
    pdns: Client,
    router: opnsense::Client,
}

impl Bench {
    async fn up(faults: &[&str]) -> Self {
        let lab = lab(faults).await;
        let file = lab.dir().join("site.toml");
        let site = Site::load(&file).unwrap();
        let read =
            |name: &str| Zeroizing::new(std::fs::read_to_string(lab.dir().join(name)).unwrap().trim().to_owned());
        let pdns = Client::new(site.powerdns.as_ref().unwrap(), read("powerdns-key"), Limits::default()).unwrap();
        let pace = Pace { requests: Duration::ZERO, polls: Duration::ZERO };
        let (key, secret) = (read("opnsense-key"), read("opnsense-secret"));
        let of = site.opnsense.as_ref().unwrap();
        let router = opnsense::Client::new(of, &key, &secret, Limits::default(), pace).unwrap();
        Self { lab, site, pdns, router }
    }

    /// The zones of a new tenant, and the secret of its key.
    async fn make(&self) -> Secret {
        let apex = Apex { nameserver: dns_name("dv02idn001v01.mobile.deevnet.net"), serial: 2_026_113_000 };
        let new = |zone| NewZone { zone: Name::new(zone), apex: apex.clone() };
        let networks = vec!["10.20.99.0/24".parse().unwrap()];
        let owner = Owner { key: dns_name("fresh"), networks, account: "fresh".to_owned() };
        let mut secret = None;
        for write in creation(&owner, &[new(ZONE), new(REVERSE)], None) {
            if let Done::Key(made) = self.pdns.perform(&permit(), &write).await.unwrap() {
                secret = Some(made.key.secret);
            }
        }
        secret.unwrap()
    }

    async fn adds(&self, key: &UpdateKey, name: &str, last: u8) -> Result<(), UpdateError> {
        let changes = Changes::create(host(name, last).forward().unwrap());
        let (zone, server) = (dns_name(ZONE), self.lab.authoritative().unwrap());
        let (changes, wait) = (&changes, Duration::from_secs(20));
        let clock = || jiff::Timestamp::from_second(lab_client::NOW).unwrap();
        update(&permit(), &Update { server, zone: &zone, changes, key, fudge: FUDGE, wait }, &clock).await.map(|_| ())
    }
}

fn host(name: &str, last: u8) -> HostRecord {
    HostRecord { name: dns_name(name), address: [10, 20, 140, last].into(), ttl: 300 }
}

fn forward(domain: &str) -> NewForward {
    NewForward {
        domain: dns_name(domain),
        server: [10, 20, 25, 21].into(),
        port: None,
        enabled: true,
        description: "tenant fresh".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_gets_its_names() {
    let bench = Bench::up(&[]).await;
    assert!(bench.site.powerdns.is_some());
    let secret = bench.make().await;
    let key = UpdateKey::new(&dns_name("fresh"), "hmac-sha256", secret.expose()).unwrap();
    let name = format!("app.{ZONE}");
    bench.adds(&key, &name, 10).await.unwrap();
    assert!(matches!(bench.adds(&key, &name, 10).await, Err(UpdateError::Unmet { .. })), "the second time");
    let head = bench.pdns.zone_head(&Name::new(ZONE)).await.unwrap();
    assert_eq!(head.serial, Some(2_026_113_002), "the apex and one update");

    // The resolver does not know of them before it is told.
    let at = bench.lab.resolver().unwrap();
    let resolved = || async { ask(at, &format!("{name}."), RecordType::A).await };
    assert_eq!(resolved().await.metadata.response_code, ResponseCode::NXDomain);
    let uuid = bench.router.add_forward(&permit(), &forward(ZONE)).await.unwrap();
    let back = bench.router.add_forward(&permit(), &forward(REVERSE)).await.unwrap();
    assert_ne!(uuid, back);
    assert_eq!(resolved().await.metadata.response_code, ResponseCode::NXDomain, "saved, not in force");
    assert!(!bench.router.insecure_domains().await.unwrap().contains(&ZONE.to_owned()));
    bench.router.reconfigure_resolver(&permit()).await.unwrap();
    assert_eq!(texts(&resolved().await), ["10.20.140.10"]);
    assert!(bench.router.insecure_domains().await.unwrap().contains(&ZONE.to_owned()));

    assert!(bench.router.toggle_forward(&permit(), &uuid, false).await.unwrap());
    assert!(!bench.router.toggle_forward(&permit(), &uuid, false).await.unwrap(), "the second time");
    let elsewhere = NewForward { server: [10, 20, 99, 30].into(), ..forward(REVERSE) };
    bench.router.set_forward(&permit(), &back, &elsewhere).await.unwrap();
    let rows = bench.router.forwards().await.unwrap();
    let row = |uuid: &str| rows.iter().find(|row| row.uuid == uuid).unwrap();
    assert!(!row(&uuid).enabled && elsewhere.is_made(row(&back)));
    bench.router.delete_forward(&permit(), &uuid).await.unwrap();
    let gone = bench.router.delete_forward(&permit(), &uuid).await.unwrap_err();
    assert!(matches!(gone, opnsense::Error::Absent { .. }), "{gone:?}");
    let gone = bench.router.set_forward(&permit(), &uuid, &forward(ZONE)).await.unwrap_err();
    assert!(matches!(gone, opnsense::Error::Absent { .. }), "it is not made anew: {gone:?}");
    assert_eq!(texts(&resolved().await), ["10.20.140.10"], "not in force yet");
    bench.router.reconfigure_resolver(&permit()).await.unwrap();
    assert_eq!(resolved().await.metadata.response_code, ResponseCode::NXDomain);
    bench.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repair_ends_the_fault() {
    let bench = Bench::up(&["zone-missing@tdemo", "forward-missing@tdemo", "snat-missing@eds"]).await;
    let zone = Name::new("tdemo.mobile.deevnet.net");
    let create = Write::CreateClosed { zone: zone.clone(), account: "tdemo".to_owned() };
    bench.pdns.perform(&permit(), &create).await.unwrap();
    assert!(bench.pdns.zone_head(&zone).await.is_ok(), "what is made is there");
    bench.router.add_forward(&permit(), &forward("tdemo.mobile.deevnet.net")).await.unwrap();
    let rows = bench.router.forwards().await.unwrap();
    assert_eq!(rows.iter().filter(|row| row.domain == "tdemo.mobile.deevnet.net").count(), 1);
    assert_eq!(bench.lab.faults(), ["snat-missing@eds"], "what was not repaired is still broken");
    bench.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_of_an_answer_is_told() {
    let bench = Bench::up(&[]).await;
    let secret = bench.make().await;
    let key = UpdateKey::new(&dns_name("fresh"), "hmac-sha256", secret.expose()).unwrap();
    let zone = Name::new(ZONE);
    let put = |last| vec![Change::from(&host(&format!("app.{ZONE}"), last).forward().unwrap())];
    for (n, fault) in ["dns-write-lost", "dns-write-500"].into_iter().enumerate() {
        bench.lab.fault_on(fault).unwrap();
        let changes = put(20 + u8::try_from(n).unwrap());
        let error = bench.pdns.perform(&permit(), &Write::Patch(zone.clone(), changes.clone())).await.unwrap_err();
        assert_eq!(error.outcome(), Outcome::Unknown, "{fault}: {error:?}");
        assert!(changes[0].is_made(&bench.pdns.zone(&zone).await.unwrap()), "{fault}: it was made");
        bench.lab.fault_off(fault).unwrap();
    }
    bench.lab.fault_on("dns-update-lost").unwrap();
    let error = bench.adds(&key, &format!("lost.{ZONE}"), 30).await.unwrap_err();
    assert_eq!(error.outcome(), Outcome::Unknown, "{error:?}");
    assert!(matches!(error, UpdateError::NoAnswer(_)), "{error:?}");
    assert!(bench.pdns.zone(&zone).await.unwrap().rrset(&Name::new(&format!("lost.{ZONE}")), "A").is_some());
    bench.lab.fault_off("dns-update-lost").unwrap();

    bench.lab.fault_on("dns-write-refused").unwrap();
    let before = bench.pdns.zone(&zone).await.unwrap();
    let error = bench.pdns.perform(&permit(), &Write::Patch(zone.clone(), put(40))).await.unwrap_err();
    assert!(matches!(&error, Error::Unprocessable { text } if text.contains("does not support")), "{error:?}");
    assert_eq!((error.outcome(), bench.pdns.zone(&zone).await.unwrap()), (Outcome::Answered, before));
    bench.lab.fault_off("dns-write-refused").unwrap();
    bench.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_writers_and_serials_that_stand_still_are_seen() {
    let bench = Bench::up(&[]).await;
    bench.make().await;
    let zone = Name::new(ZONE);
    let read = || async { bench.pdns.zone(&zone).await.unwrap() };
    let change = |last| Change::from(&host(&format!("app.{ZONE}"), last).forward().unwrap());
    let guarded = Guarded::of(&read().await, change(10));
    let written = bench.pdns.replace(&permit(), &zone, &[guarded]).await.unwrap();
    assert!(matches!(written, Replaced::Written { alone: Some(true), .. }), "{written:?}");

    bench.lab.fault_on("dns-write-outdone").unwrap();
    let guarded = Guarded::of(&read().await, change(11));
    let error = bench.pdns.replace(&permit(), &zone, &[guarded]).await.unwrap_err();
    assert!(matches!(error, Error::Overtaken { .. }), "{error:?}");
    bench.lab.fault_off("dns-write-outdone").unwrap();

    bench.lab.fault_on("dns-serial-stuck").unwrap();
    let before = read().await;
    let guarded = Guarded::of(&before, change(12));
    let written = bench.pdns.replace(&permit(), &zone, &[guarded]).await.unwrap();
    assert!(matches!(written, Replaced::Written { serial, .. } if serial == before.head.serial), "{written:?}");
    bench.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forwards_that_do_not_get_into_force_are_seen() {
    let bench = Bench::up(&["forward-not-applied"]).await;
    bench.router.add_forward(&permit(), &forward(ZONE)).await.unwrap();
    bench.router.reconfigure_resolver(&permit()).await.unwrap();
    let in_force = || async { bench.router.insecure_domains().await.unwrap().contains(&ZONE.to_owned()) };
    assert!(!in_force().await, "ok is no proof");
    bench.lab.fault_off("forward-not-applied").unwrap();
    bench.lab.fault_on("forward-apply-fails").unwrap();
    let error = bench.router.reconfigure_resolver(&permit()).await.unwrap_err();
    assert!(matches!(error, opnsense::Error::Failed { .. }), "{error:?}");
    assert!(!in_force().await);
    bench.lab.fault_off("forward-apply-fails").unwrap();
    bench.router.reconfigure_resolver(&permit()).await.unwrap();
    assert!(in_force().await);
    let odd = NewForward { domain: dns_name("_tcp.fresh.example"), port: Some(5300), ..forward(ZONE) };
    assert!(bench.router.add_forward(&permit(), &odd).await.is_ok());
    bench.lab.shutdown().await;
}
