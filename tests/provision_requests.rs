//! Every request that changes something, as onboarding, workloads, names, keys, forwards and the end of a tenant send it to the
//! lab: each is one that the recorded API descriptions of its back end allow.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict, its output its report"
)]

mod change_common;

#[path = "provision_crash/bench.rs"]
mod bench;
#[path = "proxmox_common/schema.rs"]
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use bench::Bench;
use change_common::{Runs, ears, who};
use deevnet_console::lab::gate::{Arrival, Gate, Way};
use deevnet_console::provision::conduct::{self, Course};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::plans::table::{Desk, maker};
use schema::{contract, parameter_faults, placeholders};
use serde_json::Value;

/// Notes what is sent.
#[derive(Default)]
struct Sent(Mutex<Vec<Arrival>>);

impl Gate for Sent {
    fn arrives(&self, request: &Arrival) -> Way {
        if !["GET", "enter"].contains(&request.method.as_str()) {
            self.0.lock().unwrap().push(request.clone());
        }
        Way::Pass
    }
}

/// Somebody switches the tenant's forward off.
const SWITCHED_OFF: &str = "";

/// What is asked for, one after the other, as by the commands of the console.
const ASKED: &[&str] = &[
    "onboard picow workload=app cores=2 memory=4096 disk=40 user=ops",
    "workload-create picow/db",
    "workload-resize picow/app cores=4 memory=8192 disk=50",
    "workload-power picow/app to=reboot",
    "workload-power picow/app to=shutdown",
    "workload-power picow/app to=start",
    "workload-power picow/app to=stop",
    "workload-replace picow/app",
    "record-set picow www type=CNAME value=app.picow.mobile.deevnet.net",
    "record-set picow note type=TXT value=hello",
    "record-delete picow note type=TXT",
    "record-delete picow www type=CNAME",
    "tsig-begin picow",
    "tsig-end picow",
    "forward-delete picow.mobile.deevnet.net",
    "forward-set picow.mobile.deevnet.net server={dns}",
    SWITCHED_OFF,
    "forward-set picow.mobile.deevnet.net server={dns}",
    "workload-delete picow/app",
    "workload-delete picow/db",
    "tenant-delete picow",
];

/// One command of the console, to its end.
async fn command(bench: &Bench, asked: &str) -> Result<(), String> {
    let mut words = asked.split(' ').map(str::to_owned);
    let name = words.next().unwrap();
    let world = bench.world().await;
    let desk = Desk { world: Arc::clone(&world), journal: bench.journal() };
    let maker = maker(&name).unwrap_or_else(|| panic!("no command {name}"));
    let draft = (maker.make)(desk, words.collect()).await.map_err(|e| format!("{asked}: {e}"))?;
    let mut plan = draft.plan;
    // It only reads.
    plan.steps.retain(|step| !step.object.ensure().name().starts_with("check all"));
    let preview = plan.preview(&world, Default::default()).await;
    let ended = match draft.course {
        course @ Course::TakeBack(_) => {
            let approved = Runs::approved_as(&world, preview.clone(), Some(&preview.plan.subject.name)).unwrap();
            let (_keep, ears) = ears(Arc::new(|_| ()));
            let ended = conduct::run(&world, &bench.journal(), (course, approved), &who(), &ears, |_| ()).await;
            ended.map_err(|e| e.to_string())
        }
        _ => bench.run(&world, preview, None).await,
    };
    match ended {
        Ok(Ended::Done) => Ok(()),
        other => Err(format!("{asked}: {other:?}")),
    }
}

/// All that is sent on that way.
async fn sent() -> Vec<Arrival> {
    let bench = Bench::start().await;
    let sent = Arc::new(Sent::default());
    bench.lab.gate(Some(sent.clone()));
    let server = bench.lab.authoritative().unwrap().to_string();
    for asked in ASKED.iter().map(|asked| asked.replace("{dns}", &server)) {
        if asked == SWITCHED_OFF {
            let off = |row: &mut deevnet_console::lab::perimeter::Forward| row.enabled = false;
            bench.lab.edit(|world| off(world.perimeter.forward_mut("picow.mobile.deevnet.net").unwrap())).unwrap();
            continue;
        }
        command(&bench, &asked).await.unwrap();
    }
    bench.lab.gate(None);
    bench.end().await;
    std::mem::take(&mut *sent.0.lock().unwrap())
}

fn decoded(text: &str) -> String {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            other => out.push(other),
        }
    }
    String::from_utf8(out).unwrap()
}

fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').map(|(key, value)| (decoded(key), decoded(value))).unwrap())
}

/// Requests to Proxmox against its own description; how many, and which calls.
fn proxmox(all: &[Arrival], api: &Value, file: &str) -> BTreeSet<String> {
    let mut calls = BTreeSet::new();
    for request in all.iter().filter(|request| request.to == "pve") {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let path = path.strip_prefix("/api2/json").unwrap();
        let form = String::from_utf8(request.body.clone()).unwrap();
        assert!(form.is_empty() || request.media == "application/x-www-form-urlencoded", "{request:?}");
        let mut fits = api.as_object().unwrap().iter().filter_map(|(call, schema)| {
            let (method, template) = call.split_once(' ')?;
            (method == request.method).then_some(())?;
            Some((call, schema, placeholders(template, path)?))
        });
        let (call, schema, mut values) = fits.next().unwrap_or_else(|| panic!("{file}: {} {path}", request.method));
        for (key, value) in pairs(query).chain(pairs(&form)) {
            assert!(values.insert(key.clone(), value).is_none(), "{call}: {key} twice");
        }
        assert_eq!(parameter_faults(&schema["parameters"], &values), Vec::<String>::new(), "{file}: {call} {values:?}");
        calls.insert(call.clone());
    }
    calls
}

/// Requests to the perimeter against the recorded API.
fn perimeter(all: &[Arrival], contract: &Value) -> BTreeSet<String> {
    let fields = &contract["models"]["unbound.dot"]["fields"];
    let endpoints = contract["endpoints"].as_array().unwrap();
    let mut calls = BTreeSet::new();
    for request in all.iter().filter(|request| request.to == "fw") {
        let fits = endpoints.iter().find(|entry| {
            let template = entry["path"].as_str().unwrap();
            entry["method"] == request.method.as_str() && placeholders(template, &request.target).is_some()
        });
        let entry = fits.unwrap_or_else(|| panic!("{} {}", request.method, request.target));
        let by_version = entry["status_by_version"].as_object().unwrap();
        assert!(by_version.values().any(|status| status == 200), "{}", request.target);
        let body: Value =
            if request.body.is_empty() { Value::Null } else { serde_json::from_slice(&request.body).unwrap() };
        for (key, value) in body["dot"].as_object().into_iter().flatten() {
            assert!(!fields[key].is_null() && value.is_string(), "{}: {key}={value}", request.target);
        }
        calls.insert(entry["path"].as_str().unwrap().to_owned());
    }
    calls
}

/// Requests to PowerDNS: its API has no recorded description, so each is held to what was measured (facts/dns.md §1–§4).
fn powerdns(all: &[Arrival]) -> BTreeSet<String> {
    let mut calls = BTreeSet::new();
    for request in all.iter().filter(|request| request.to == "dns") {
        let path = request.target.split('?').next().unwrap().trim_start_matches("/api/v1/servers/localhost/");
        let parts: Vec<&str> = path.split('/').collect();
        let body: Value =
            if request.body.is_empty() { Value::Null } else { serde_json::from_slice(&request.body).unwrap() };
        let keys: BTreeSet<&str> = body.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let within = |allowed: &[&str]| assert!(keys.iter().all(|key| allowed.contains(key)), "{request:?}");
        match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["zones"]) => {
                within(&[
                    "name",
                    "kind",
                    "masters",
                    "nameservers",
                    "rrsets",
                    "account",
                    "soa_edit_api",
                    "soa_edit",
                    "api_rectify",
                    "dnssec",
                ]);
                assert!(body["name"].as_str().is_some_and(|name| name.ends_with('.')), "{body}");
            }
            ("PATCH", ["zones", _]) => body["rrsets"].as_array().unwrap().iter().for_each(change),
            ("PUT", ["zones", _]) => within(&["kind", "masters", "account", "soa_edit_api"]),
            ("PUT", ["zones", _, "metadata", kind]) => {
                within(&["kind", "metadata"]);
                assert!(body["kind"].is_null() || body["kind"] == *kind, "{body}");
                assert!(body["metadata"].as_array().is_some_and(|all| all.iter().all(Value::is_string)), "{body}");
            }
            ("POST", ["tsigkeys"]) => within(&["name", "algorithm", "key"]),
            ("DELETE", ["zones", _] | ["tsigkeys", _] | ["zones", _, "metadata", _]) => {
                assert!(request.body.is_empty(), "{request:?}");
            }
            other => panic!("{other:?} is no known call"),
        }
        let call = if parts.len() > 2 { format!("{}/{}", parts[0], parts[2]) } else { parts[0].to_owned() };
        calls.insert(format!("{} {call}", request.method));
    }
    calls
}

/// A change of a record set.
fn change(set: &Value) {
    let name = |value: &Value| value.as_str().is_some_and(|name| name.ends_with('.'));
    assert!(name(&set["name"]) && set["type"].is_string(), "{set}");
    match set["changetype"].as_str().unwrap() {
        "REPLACE" => {
            assert!(set["ttl"].as_u64().is_some_and(|ttl| ttl > 0), "{set}");
            let rows = set["records"].as_array().unwrap();
            assert!(!rows.is_empty() && rows.iter().all(|row| row["content"].is_string()), "{set}");
        }
        "DELETE" => assert!(set["records"].as_array().is_none_or(Vec::is_empty), "{set}"),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn every_request_that_changes_something_is_one_that_its_back_end_describes() {
    let test = "every_request_that_changes_something_is_one_that_its_back_end_describes";
    let all = sent().await;
    let names = powerdns(&all);
    assert!(all.iter().any(|request| request.to == "exit"));
    let mut per: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().for_each(|request| *per.entry(request.to).or_default() += 1);
    println!("{per:?}; PowerDNS: {names:?}");
    for file in ["pve-api.json", "pve-api-9.2.json"] {
        let Some(api) = contract(file, test) else { return };
        let calls = proxmox(&all, &api, file);
        println!("{file}: {calls:?}");
        assert!(calls.len() >= 15, "{calls:?}");
    }
    let Some(api) = contract("opnsense-api.json", test) else { return };
    let calls = perimeter(&all, &api);
    println!("perimeter: {calls:?}");
    assert!(calls.len() >= 4, "{calls:?}");
}

#[tokio::test]
async fn a_way_back_is_taken_back_and_the_change_can_be_taken_back_again() {
    let bench = Bench::start().await;
    command(&bench, "onboard picow").await.unwrap();
    command(&bench, "record-set picow note type=TXT value=hello").await.unwrap();
    let there =
        || bench.lab.world().names.zones["picow.mobile.deevnet.net."].contents("note.picow.mobile.deevnet.net.", "TXT");
    assert_eq!(there().len(), 1);
    command(&bench, "undo C-0002").await.unwrap();
    assert!(there().is_empty());
    assert!(command(&bench, "undo C-0002").await.unwrap_err().contains("was taken back by C-0003"));
    command(&bench, "undo C-0003").await.unwrap();
    assert_eq!(there().len(), 1);
    command(&bench, "undo C-0002").await.unwrap();
    assert!(there().is_empty());
    bench.end().await;
}

#[tokio::test]
async fn names_of_a_workload_whose_machine_is_gone_already_go_with_it() {
    let bench = Bench::start().await;
    command(&bench, "onboard picow workload=app").await.unwrap();
    let named = |world: &deevnet_console::lab::state::World| {
        let sets = world.names.zones.values().flat_map(|zone| zone.rrsets.keys().cloned());
        sets.filter(|(name, kind)| name.starts_with("app.") || kind == "PTR").collect::<BTreeSet<_>>()
    };
    let before = named(&bench.lab.world());
    let app = ("app.picow.mobile.deevnet.net.".to_owned(), "A".to_owned());
    assert!(before.contains(&app) && before.iter().any(|(_, kind)| kind == "PTR"), "{before:?}");
    // Somebody destroys it in Proxmox' own interface.
    bench
        .lab
        .edit(|world| world.guests.retain(|_, guest| guest.config.get("name") != Some(&Value::from("picow-app"))))
        .unwrap();
    command(&bench, "workload-delete picow/app").await.unwrap();
    let after = named(&bench.lab.world());
    let gone: Vec<_> = before.difference(&after).collect();
    assert!(gone.contains(&&app) && gone.len() == 2, "{gone:?}");
    command(&bench, "workload-delete picow/app").await.unwrap();
    assert_eq!(named(&bench.lab.world()), after);
    bench.end().await;
}
