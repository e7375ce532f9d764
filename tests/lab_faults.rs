//! Every fault shows on some socket or program of the lab, and leaves no trace when it is off.
#![cfg(feature = "console")]
#![expect(clippy::unwrap_used, reason = "helpers of tests, which should stop")]

mod lab_client;

use std::collections::BTreeMap;

use deevnet_console::lab::control::{self, Reply, Request};
use deevnet_console::lab::faults::{Scope, shows_in_changes_alone, specs};
use deevnet_console::lab::node::{self, Run};
use deevnet_console::lab::{Lab, control::socket};
use futures_util::future::join_all;
use hickory_proto::op::Message;
use hickory_proto::rr::RecordType;
use lab_client::{NOW, exchange, lab, query};

/// Questions to both servers: workloads of the first tenant and its neighbour, both directions, and what is no tenant's.
const QUESTIONS: &[(&str, RecordType)] = &[
    ("app.tdemo.mobile.deevnet.net.", RecordType::A),
    ("web.tdemo.mobile.deevnet.net.", RecordType::A),
    ("nobody.tdemo.mobile.deevnet.net.", RecordType::A),
    ("tdemo.mobile.deevnet.net.", RecordType::SOA),
    ("tdemo.mobile.deevnet.net.", RecordType::NS),
    ("10.129.20.10.in-addr.arpa.", RecordType::PTR),
    ("services.eds.mobile.deevnet.net.", RecordType::A),
    ("api.mobile.deevnet.net.", RecordType::A),
    ("localhost.", RecordType::A),
];

const POWERDNS: &[&str] = &[
    "/servers",
    "/servers/localhost/config",
    "/servers/localhost/zones",
    "/servers/localhost/zones/tdemo.mobile.deevnet.net./metadata",
    "/servers/localhost/tsigkeys",
];

const OPNSENSE: &[&str] = &[
    "core/system/status",
    "firewall/filter/search_rule",
    "firewall/filter_util/rule_stats",
    "firewall/alias/search_item",
    "firewall/alias_util/list/deevnet_private",
    "firewall/source_nat/search_rule",
    "routes/routes/searchroute",
    "routes/gateway/status",
    "diagnostics/interface/get_routes",
    "unbound/settings/search_forward",
    "unbound/settings/search_dot",
    "unbound/settings/search_acl",
    "unbound/service/status",
];

const PROXMOX: &[&str] = &[
    "/cluster/resources",
    "/cluster/status",
    "/cluster/sdn/zones?pending=1",
    "/cluster/sdn/vnets?pending=1",
    "/cluster/sdn/zones?running=1",
    "/cluster/sdn/vnets/tdemo0/subnets?running=1",
    "/cluster/sdn/vnets/tdemo0/subnets?pending=1",
    "/nodes/dv02hyp002p02/sdn/zones",
    "/nodes/dv02hyp002p02/sdn/zones/tdemo/content",
    "/nodes/dv02hyp002p02/qemu/2040/config",
    "/nodes/dv02hyp002p02/qemu/2040/status/current",
    "/nodes/dv02hyp002p02/qemu/2040/agent/network-get-interfaces",
    "/nodes/dv02hyp002p02/tasks?source=all&limit=3",
];

const PROGRAMS: &[&[&str]] = &[
    &["ip", "-j", "-d", "addr", "show"],
    &["ip", "-j", "route", "show", "table", "all"],
    &["ip", "-j", "neigh", "show"],
    &["iptables-save", "-c"],
    &["vtysh", "-c", "show running-config"],
    &["vtysh", "-c", "show evpn vni json"],
    &["systemctl", "is-active", "frr"],
    &["conntrack", "-C"],
    &["nstat", "-az"],
    &["ping", "-c", "1", "-s", "1400", "10.20.50.1"],
];

/// Files of the exit node.
const FILES: &[&str] = &[
    "etc/frr/frr.conf.local",
    "etc/frr/frr.conf.sav",
    "proc/sys/net/ipv4/conf/vmbr0.50/forwarding",
    "proc/sys/net/ipv4/conf/vmbr0.50/rp_filter",
    "proc/sys/net/ipv4/conf/tdemo0/forwarding",
    ".denied",
];

/// Faults that nothing shows to a reader, and why.
const UNSEEN: &[(&str, &str)] = &[("sdn-locked", "Proxmox shows no reader who holds the SDN lock")];

/// Everything that was heard, by what was asked.
type Heard = BTreeMap<String, String>;

/// A DNS answer without its number.
fn answer(raw: Option<Vec<u8>>) -> String {
    let Some(raw) = raw else { return "silence".to_owned() };
    let mut message = Message::from_vec(&raw).unwrap();
    message.metadata.id = 0;
    format!("{message:?}")
}

/// This host's clock, which an answer's date follows.
fn common_clock() -> jiff::Timestamp {
    deevnet_console::runtime::clock::system()()
}

async fn http(request: reqwest::RequestBuilder) -> String {
    match request.send().await {
        Ok(answer) => {
            let status = answer.status();
            let date = answer.headers().get("date").and_then(|date| date.to_str().ok());
            let clock = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok()).map(|date| date.timestamp());
            let apart = clock.map(|clock| common_clock().duration_since(clock).abs().as_secs() > 300);
            format!("{status} {apart:?} {}", answer.text().await.unwrap_or_default())
        }
        Err(_) => "no answer".to_owned(),
    }
}

async fn listen(lab: &Lab, client: &reqwest::Client) -> Heard {
    let read = |name: &str| std::fs::read_to_string(lab.dir().join(name)).unwrap().trim().to_owned();
    let names = QUESTIONS
        .iter()
        .flat_map(|question| [(lab.resolver(), true, question), (lab.authoritative(), false, question)]);
    let names = join_all(names.map(async |(at, recursive, (name, kind))| {
        let packet = query(name, *kind, recursive).to_vec().unwrap();
        (format!("dns {recursive} {name} {kind}"), answer(exchange(at.unwrap(), &packet).await))
    }));
    let (key, secret, api_key) = (read("opnsense-key"), read("opnsense-secret"), read("powerdns-key"));
    let token = format!("PVEAPIToken={}", read("proxmox-token"));
    let powerdns = POWERDNS.iter().map(|path| {
        let url = format!("{}/api/v1{path}", lab.powerdns_url().unwrap());
        (path, client.get(url).header("X-API-Key", &api_key).header("Accept", "application/json"))
    });
    let opnsense = OPNSENSE.iter().map(|path| {
        (path, client.get(format!("{}/api/{path}", lab.opnsense_url().unwrap())).basic_auth(&key, Some(&secret)))
    });
    let proxmox = PROXMOX.iter().map(|path| {
        (path, client.get(format!("{}/api2/json{path}", lab.proxmox_url())).header("Authorization", &token))
    });
    let (credential, registry_token) = (read("bootstrap-credential"), read("registry-token"));
    let services = [
        (lab.bootstrap_url(), &"/v1/bootstrap/records?limit=100", credential),
        (lab.registry_url(), &"/v1/tenants", registry_token.clone()),
        (lab.registry_url(), &"/v1/fabric/egress", registry_token),
    ];
    let services = services
        .into_iter()
        .map(|(origin, path, token)| (path, client.get(format!("{}{path}", origin.unwrap())).bearer_auth(token)));
    let asked = powerdns.chain(opnsense).chain(proxmox).chain(services);
    let asked = join_all(asked.map(async |(path, request)| ((*path).to_owned(), http(request).await)));
    let (names, asked) = futures_util::future::join(names, asked).await;
    let world = lab.world();
    let ran = PROGRAMS.iter().map(|argv| {
        let run = Run { argv: argv.iter().map(|word| (*word).to_owned()).collect(), input: String::new() };
        (argv.join(" "), format!("{:?}", node::run(&world, NOW, &run)))
    });
    let at = socket(lab.dir());
    let entered = tokio::task::spawn_blocking(move || control::ask(&at, &Request::Enter { asked: String::new() }))
        .await
        .unwrap()
        .unwrap();
    let files = match &entered {
        Reply::Entered { root, .. } => {
            FILES.iter().map(|name| format!("{:?}", std::fs::read_to_string(root.join(name)).ok())).collect()
        }
        _ => String::new(),
    };
    let login = [("login".to_owned(), format!("{entered:?} {files} {:?}", world.api.delay_ms))];
    names.into_iter().chain(asked).chain(ran).chain(login).collect()
}

/// What differs, by its question.
fn differences(before: &Heard, after: &Heard) -> Vec<String> {
    before.iter().filter(|(asked, heard)| after.get(*asked) != Some(heard)).map(|(asked, _)| asked.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_shows_and_goes_without_a_trace() {
    let lab = lab(&[]).await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ca = reqwest::Certificate::from_pem(lab.ca_pem().as_bytes()).unwrap();
    let redirects = reqwest::redirect::Policy::none();
    let client = reqwest::Client::builder().tls_certs_only([ca]).redirect(redirects).build().unwrap();
    lab.edit(|world| world.perimeter.api.unauthorized_delay_ms = 0).unwrap();
    let healthy = listen(&lab, &client).await;
    assert_eq!(differences(&healthy, &listen(&lab, &client).await), Vec::<String>::new(), "nothing moves by itself");
    let (mut unseen, mut traces, mut count) = (Vec::new(), Vec::new(), 0);
    for spec in specs() {
        // What answers late is measured by nobody here: the delay is in the world, and the answers are the same.
        let late = spec.id.ends_with("-slow");
        lab.fault_on(spec.id).unwrap();
        count += 1;
        let moved = if late {
            lab.world().disturbed > 0
        } else {
            !differences(&healthy, &listen(&lab, &client).await).is_empty()
        };
        // What shows when something is changed is looked for in tests/lab_writing_faults.rs.
        let hidden = shows_in_changes_alone(spec.id) || UNSEEN.iter().any(|(id, _)| *id == spec.id);
        if moved == hidden {
            unseen.push(spec.id);
        }
        lab.fault_off(spec.id).unwrap();
        for left in differences(&healthy, &listen(&lab, &client).await) {
            traces.push(format!("{} {left}", spec.id));
        }
        assert!(lab.faults().is_empty(), "{}", spec.id);
    }
    assert!(
        unseen.is_empty(),
        "of {count} faults these are not seen, or seen although nothing should show them: {unseen:?}"
    );
    assert!(traces.is_empty(), "left behind: {traces:?}");
    assert!(specs().any(|spec| spec.scope == Scope::Tenant));
    lab.shutdown().await;
}

/// The ids that findings will have (design: egress and names).
#[test]
fn every_finding_has_its_fault() {
    let names = "forward-missing forward-wrong-type forward-disabled rebind-filtered builtin-reverse-zone dnssec-bogus \
                 negative-cached zone-missing apex-broken tsig-unbound tsig-foreign update-refused ptr-mismatch auth-down \
                 resolver-down wrong-workload-resolver perimeter-drop perimeter-leak perimeter-rule-missing \
                 perimeter-rule-leftover ruleset-refused route-missing";
    for id in names.split_whitespace() {
        assert!(specs().any(|spec| spec.id == id), "{id}");
    }
}
