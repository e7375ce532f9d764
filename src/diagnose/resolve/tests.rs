//! The engine against loopback servers that say different things.
#![expect(clippy::disallowed_methods, reason = "tests read the clock")]

#[path = "../../../tests/dns_common/mod.rs"]
mod dns_common;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use dns_common::{Server, add_soa, bytes, closed, empty, with_a};
use hickory_proto::op::{Message, ResponseCode};

use super::*;
use crate::backends::dns::system::SystemResolver;
use crate::backends::exit_node::Client;
use crate::inventory::testing;
use crate::site::model::{ExitNodeSite, Transport};
use jiff::Timestamp;

/// The authority's and a good resolver's answers: one workload, one site name, one public name.
fn good(asked: &Message) -> Vec<Vec<u8>> {
    let name = asked.queries[0].name.to_string();
    let recursion = asked.metadata.recursion_desired;
    let mut message = match name.as_str() {
        "app.tdemo.mobile.deevnet.net." => with_a(asked, [10, 20, 129, 10]),
        "api.mobile.deevnet.net." if recursion => with_a(asked, [10, 20, 25, 20]),
        "example.com." if recursion => with_a(asked, [192, 0, 2, 1]),
        _ if recursion => empty(asked, ResponseCode::NXDomain),
        _ => empty(asked, ResponseCode::Refused),
    };
    message.metadata.authoritative = !recursion && !message.answers.is_empty();
    message.metadata.recursion_available = recursion;
    vec![bytes(&message)]
}

/// A resolver with a rebinding filter: private addresses are taken out (`facts/dns.md` §0.4).
fn filtering(asked: &Message) -> Vec<Vec<u8>> {
    match asked.queries[0].name.to_string().as_str() {
        "app.tdemo.mobile.deevnet.net." => vec![bytes(&empty(asked, ResponseCode::NoError))],
        _ => good(asked),
    }
}

/// A node that answers every reading and probe with `frame`, or with nothing.
fn exit(frame: &str) -> Exit {
    let script = format!("cat >/dev/null; printf '%s' '{}'", frame.replace('\'', "'\\''"));
    let client = Client::new(&ExitNodeSite {
        name: "dv02hyp002p02".to_owned(),
        transport: Transport::Command(vec!["sh".to_owned(), "-c".to_owned(), script]),
        transit_interface: "lo".to_owned(),
        transit_address: std::net::Ipv4Addr::LOCALHOST,
        transit_gateway: std::net::Ipv4Addr::LOCALHOST,
        egress_apply: None,
        egress_install: false,
    });
    Exit { client, name: "hv02".to_owned(), gateway: std::net::Ipv4Addr::new(10, 20, 50, 1) }
}

fn dig(name: &str, address: &str) -> String {
    format!(
        ";; Got answer:\n;; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1\n;; flags: qr rd ra; QUERY: 1\n\n\
         ;; QUESTION SECTION:\n;{name}. IN A\n\n;; ANSWER SECTION:\n{name}. 211 IN A {address}\n\n"
    )
}

fn frame(parts: &[(&str, &str, &str)]) -> String {
    let heads: String = parts
        .iter()
        .enumerate()
        .map(|(n, (code, out, err))| format!("q{n} {code} {} {}\n", out.len(), err.len()))
        .collect();
    let bodies: String = parts.iter().map(|(_, out, err)| format!("{out}{err}")).collect();
    format!("%deevnet-exit-node 1 {}\n{heads}\n{bodies}%end\n", crate::backends::exit_node::helper::VERSION)
}

fn healthy_frame() -> String {
    let answers = [
        dig("app.tdemo.mobile.deevnet.net", "10.20.129.10"),
        dig("example.com", "192.0.2.1"),
        dig("api.mobile.deevnet.net", "10.20.25.20"),
    ];
    frame(&answers.each_ref().map(|out| ("0", out.as_str(), "")))
}

struct Site5 {
    vantages: Vantages,
    _servers: Vec<Server>,
}

/// All five, everybody in good health.
async fn healthy() -> Site5 {
    let mut servers = Vec::new();
    for _ in 0..4 {
        servers.push(Server::udp(good).await);
    }
    let at = |n: usize| -> SocketAddr { servers[n].addr };
    let vantages = Vantages {
        authoritative: Ok(at(0)),
        perimeter: Ok(at(1)),
        substrate: Ok(at(2)),
        exit: Ok(exit(&healthy_frame())),
        host: SystemResolver::with_servers(&[at(3)], Duration::from_secs(2)),
        controls: Controls::of_site(&testing::site()),
        from: None,
    };
    Site5 { vantages, _servers: servers }
}

async fn ask(text: &str, vantages: &Vantages) -> Gathering {
    let mut site = testing::site();
    // Nothing is derived for an apex then.
    site.powerdns = None;
    let target = Target::parse(&site, text, None).unwrap();
    resolve(&site, &target, vantages, async { testing::healthy() }, &Timestamp::now).await
}

fn words(found: &Gathering) -> (Vec<&'static str>, Verdict) {
    let (states, verdict) = found.judge();
    (states.into_iter().map(|state| state.unwrap().word()).collect(), verdict.unwrap())
}

fn columns(found: &Gathering) -> Vec<&Column> {
    found.heard().collect()
}

#[tokio::test]
async fn all_five_say_what_the_index_derives() {
    let site = healthy().await;
    let found = ask("tdemo/app", &site.vantages).await;
    assert_eq!(
        found.expected,
        Some(Expected::Values { values: vec!["10.20.129.10".into()], because: "index 1, ordinal 0".into() })
    );
    assert_eq!(columns(&found).iter().map(|c| c.vantage).collect::<Vec<_>>(), Vantage::ALL);
    assert_eq!(words(&found), (vec!["as expected"; 5], Verdict::Agree), "{found:#?}");
    let [authority, perimeter, _, vrf, host] = columns(&found)[..] else { panic!() };
    assert_eq!(authority.how, "no recursion, udp");
    assert_eq!((vrf.asked.as_str(), vrf.how.as_str()), ("10.20.50.1 via hv02", "recursion, in vrf_tdemo"));
    assert!(host.asked.ends_with("(system)"));
    let public = ControlOutcome::Answers(vec!["192.0.2.1".into()]);
    let own = ControlOutcome::Answers(vec!["10.20.25.20".into()]);
    assert_eq!(authority.controls, [ControlOutcome::NotAsked("not asked"), ControlOutcome::NotAsked("not its zone")]);
    for column in [perimeter, vrf, host] {
        assert_eq!(column.controls, [public.clone(), own.clone()], "{column:?}");
    }
}

#[tokio::test]
async fn a_resolver_that_strips_the_address_differs_and_its_controls_answer() {
    let mut site = healthy().await;
    let perimeter = Server::udp(filtering).await;
    site.vantages.perimeter = Ok(perimeter.addr);
    let found = ask("tdemo/app", &site.vantages).await;
    let (states, verdict) = words(&found);
    assert_eq!(states, ["as expected", "differs", "as expected", "as expected", "as expected"]);
    assert_eq!(verdict, Verdict::Differ);
    assert!(columns(&found)[1].controls.iter().all(|c| matches!(c, ControlOutcome::Answers(_))));
}

#[tokio::test]
async fn one_that_is_silent_delays_no_other() {
    let mut site = healthy().await;
    let silent = Server::udp(|_| vec![]).await;
    site.vantages.perimeter = Ok(silent.addr);
    site.vantages.substrate = Ok(closed().await);
    site.vantages.host = SystemResolver::with_servers(&[silent.addr], Duration::from_secs(1));
    let began = Instant::now();
    let found = ask("tdemo/app", &site.vantages).await;
    let took = began.elapsed();
    let (states, verdict) = words(&found);
    assert_eq!(states, ["as expected", "unknown", "unknown", "as expected", "unknown"]);
    assert_eq!(verdict, Verdict::Unknown);
    // Two tries of 1.5 s each for the name and both controls: one after another they would take 9 s.
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert!(matches!(&columns(&found)[1].outcome, Outcome::Failed { why, .. } if why.contains("2 tries")));
    assert!(matches!(&columns(&found)[2].outcome, Outcome::Failed { why, .. } if why.contains("refuses connections")));
}

#[tokio::test]
async fn what_cannot_be_used_says_why() {
    let mut site = healthy().await;
    let why = "sudo: a password is required\n";
    site.vantages.exit = Ok(exit(&frame(&[("denied", "", why), ("denied", "", why), ("denied", "", why)])));
    site.vantages.substrate = Err((WhyNot::NotConfigured, "[resolvers] names no substrate".to_owned()));
    let found = ask("tdemo/app", &site.vantages).await;
    assert!(matches!(&columns(&found)[3].outcome, Outcome::Denied { why, .. } if why.contains("needs root")));
    let (states, verdict) = words(&found);
    assert_eq!(states, ["as expected", "as expected", "not compared", "unknown", "as expected"]);
    assert_eq!(verdict, Verdict::Unknown);
    // What the site does not have is no gap.
    site.vantages.exit = Err((WhyNot::Off, "off".to_owned()));
    assert_eq!(ask("tdemo/app", &site.vantages).await.judge().1, Some(Verdict::Agree));
}

#[tokio::test]
async fn without_an_expectation_they_are_compared_with_one_another() {
    let site = healthy().await;
    let found = ask("api.mobile.deevnet.net", &site.vantages).await;
    assert!(matches!(found.expected, Some(Expected::Nothing { .. })));
    let (states, verdict) = words(&found);
    // The authority does not have it, and the name belongs to no VRF.
    assert_eq!(states, ["not compared", "same", "same", "not compared", "same"]);
    assert_eq!(verdict, Verdict::Agree);
    let public = ask("example.com", &site.vantages).await;
    assert!(matches!(&columns(&public)[0].outcome, Outcome::NotAsked { kind: WhyNot::NotItsName, .. }));
    assert_eq!(public.judge().1, Some(Verdict::Agree));
}

#[tokio::test]
async fn an_unknown_picture_leaves_the_answers() {
    let site = testing::site();
    let target = Target::parse(&site, "10.20.129.10", None).unwrap();
    let server = Server::udp(|asked| {
        let mut message = empty(asked, ResponseCode::NXDomain);
        add_soa(&mut message, "129.20.10.in-addr.arpa.", 3);
        vec![bytes(&message)]
    })
    .await;
    let mut vantages = healthy().await.vantages;
    vantages.perimeter = Ok(server.addr);
    vantages.authoritative = Ok(server.addr);
    let mut unread = (*testing::healthy()).clone();
    unread.tenants.clear();
    unread.tenants_gap = Some(crate::inventory::Gap::not_read("the fabric"));
    let picture = async { std::sync::Arc::new(unread) };
    let found = resolve(&site, &target, &vantages, picture, &Timestamp::now).await;
    assert!(matches!(&found.expected, Some(Expected::Unknown { why }) if why.contains("not read")));
    assert!(matches!(&columns(&found)[3].outcome, Outcome::Failed { help, .. } if help.contains("--tenant")));
    let (states, verdict) = words(&found);
    assert_eq!((states[0], states[1], verdict), ("same", "same", Verdict::Unknown));
}

#[tokio::test]
async fn a_name_in_capitals_or_another_soa_serial_does_not_differ() {
    let soa = |serial| {
        move |asked: &Message| {
            let mut message = empty(asked, ResponseCode::NoError);
            add_soa(&mut message, "129.20.10.in-addr.arpa.", serial);
            message.answers = std::mem::take(&mut message.authorities);
            vec![bytes(&message)]
        }
    };
    let (new, old) = (Server::udp(soa(9)).await, Server::udp(soa(7)).await);
    let mut vantages = healthy().await.vantages;
    vantages.authoritative = Ok(new.addr);
    vantages.perimeter = Ok(old.addr);
    vantages.substrate = Ok(old.addr);
    vantages.exit = Err((WhyNot::Off, String::new()));
    vantages.host = SystemResolver::with_servers(&[old.addr], Duration::from_secs(2));
    let found = ask("129.20.10.IN-ADDR.arpa", &vantages).await;
    assert_eq!(words(&found), (vec!["same", "same", "same", "not compared", "same"], Verdict::Agree), "{found:#?}");
}
