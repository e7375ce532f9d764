//! Recorded answers of a real Proxmox VE replayed against the lab: equal status, error text and shape.
//!
//! Reads are sent to the lab over HTTPS. Recorded writes that succeeded bring its state into the recorded condition
//! through its Rust methods; facts of the machine behind the recording (which task ended how, who is offline) are set
//! before the read that shows them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, which should stop")]

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::sdn::{Kind, Sdn};
use deevnet_console::lab::state::{Guest, LocalStanza, Node, Object, Reload, Role, Storage, Task, Token, World};
use deevnet_console::lab::{Lab, LabOptions, Pace};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Just under what the lab reaches.
const FLOOR_PERCENT: usize = 96;

/// Reads the lab does not answer, with the reason.
const NOT_SERVED: &[(&str, &str)] = &[
    ("/mac-vrf", "the recorded route is canned by the harness: no VM stood behind it"),
    ("/agent/exec-status", "belongs to agent exec, a write"),
    ("/agent/get-time", "the recorded answer is canned by the harness"),
];

fn recordings() -> Option<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts/pve-transcripts.json");
    let text = std::fs::read_to_string(path).ok()?;
    let mut steps: Vec<Value> = serde_json::from_str(&text).unwrap();
    steps.remove(0);
    Some(steps)
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

fn node(name: &str, id: u32) -> Node {
    let interfaces = if id == 1 {
        vec![
            json!({"iface": "eth0", "type": "eth", "method": "manual", "method6": "manual", "families": ["inet"],
                "exists": 1, "active": 1}),
            json!({"iface": "vmbr0", "type": "bridge", "method": "static", "method6": "manual", "families": ["inet"],
                "address": "192.0.2.11", "netmask": "24", "cidr": "192.0.2.11/24", "gateway": "192.0.2.1",
                "bridge_ports": "eno1", "bridge_stp": "off", "bridge_fd": "0", "autostart": 1, "priority": 4}),
            json!({"iface": "eno1", "type": "eth", "method": "manual", "method6": "manual", "families": ["inet"],
                "priority": 3}),
        ]
    } else {
        Vec::new()
    };
    Node {
        name: name.to_owned(),
        id,
        ip: Ipv4Addr::new(192, 0, 2, 10 + u8::try_from(id).unwrap()),
        online: true,
        cores: 8,
        memory: 34_359_738_368,
        interfaces: interfaces.into_iter().map(object).collect(),
        sdn_version: None,
        loaded: None,
        reload: Reload::Right,
        vnet_errors: BTreeMap::new(),
    }
}

fn guest(node: &str, config: Value, template: bool) -> Guest {
    Guest { node: node.to_owned(), config: object(config), template, disk: 1 << 30, ..Guest::default() }
}

/// The cluster of the recording, before its first step.
fn cluster(world: &mut World) {
    world.cluster = "h1".to_owned();
    world.local = "pve1".to_owned();
    world.nodes = vec![node("pve1", 1), node("pve2", 2)];
    world.sdn = Sdn::default();
    world.tasks.clear();
    world.exit.node = "pve1".to_owned();
    for zone in ["tdemo", "eds"] {
        world.exit.vrf_mut(zone).local = LocalStanza::NotMerged;
    }
    world.storages = [("local", "dir", "iso,backup", false), ("vmdata", "dir", "images,rootdir", true)]
        .map(|(name, plugin, content, shared)| Storage {
            name: name.to_owned(),
            plugin: plugin.to_owned(),
            content: content.to_owned(),
            shared,
        })
        .to_vec();
    let template = json!({"name": "debian-13-tmpl", "cores": 2, "memory": "2048", "template": 1, "agent": "1",
        "ostype": "l26", "scsihw": "virtio-scsi-single", "boot": "order=scsi0", "ipconfig0": "ip=dhcp",
        "net0": "virtio=BC:24:11:00:90:00,bridge=vmbr0", "scsi0": "vmdata:9000/base-9000-disk-0.qcow2,size=1G",
        "ide2": "vmdata:9000/vm-9000-cloudinit.qcow2,media=cdrom,size=4M", "smbios1": "uuid=1"});
    let locked = json!({"name": "locked-vm", "lock": "clone", "memory": "512", "cores": 1,
        "smbios1": "uuid=5a7a7a7a-0000-4000-8000-000000000201", "net0": "virtio=BC:24:11:00:02:01,bridge=vmbr0"});
    world.guests = BTreeMap::from([(9000, guest("pve1", template, true)), (201, guest("pve2", locked, false))]);
    let token = |role| Token { secret: "s".to_owned(), role };
    world.tokens = BTreeMap::from([
        ("ops@pve!full".to_owned(), token(Role::Administrator)),
        ("ops@pve!sep".to_owned(), token(Role::Empty)),
        ("audit@pve!ro".to_owned(), token(Role::Auditor)),
    ]);
    world.api.unauthorized_delay_ms = 0;
}

/// Scenarios that were recorded with pve3, which is offline and holds VM 301.
fn membership(world: &mut World, scenario: &str) {
    let wanted = matches!(scenario, "version-and-shape" | "resource-lists");
    world.nodes.retain(|node| node.name != "pve3");
    world.guests.remove(&301);
    if wanted {
        let mut third = node("pve3", 3);
        third.online = false;
        world.nodes.push(third);
        world.guests.insert(301, guest("pve3", json!({"name": "far"}), false));
    }
    if scenario == "sdn-ip-vrf-quirk" {
        world.exit.vrf_mut("tdemo").local = LocalStanza::Merged;
    }
    for node in &mut world.nodes {
        node.vnet_errors.clear();
        if node.name == "pve2" && scenario == "sdn-apply-ifreload-failure" {
            let text = "vnet is not generated. Please check the 'reload network' task log.";
            node.vnet_errors.insert("eds2".to_owned(), text.to_owned());
        }
    }
}

/// The options of a recorded write, as the server stores them.
fn stored(form: &Map<String, Value>) -> Object {
    let skip =
        ["zone", "vnet", "subnet", "background_delay", "lock-token", "delete", "digest", "newid", "full", "storage"];
    form.iter()
        .filter(|(key, _)| !skip.contains(&key.as_str()))
        .map(|(key, value)| {
            let number = ["vrf-vxlan", "tag", "mtu", "asn", "snat", "advertise-subnets", "cores", "onboot"];
            let value = match value {
                Value::Bool(on) => json!(i32::from(*on)),
                Value::String(text) if number.contains(&key.as_str()) => json!(text.parse::<i64>().unwrap()),
                other => other.clone(),
            };
            (key.clone(), value)
        })
        .collect()
}

fn text(form: &Map<String, Value>, key: &str) -> String {
    form.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Carries a recorded successful write out in the lab's state.
fn write(world: &mut World, method: &str, path: &[&str], form: &Map<String, Value>) {
    let sdn = &mut world.sdn;
    let mut options = stored(form);
    match (method, path) {
        ("POST", ["cluster", "sdn", "controllers"]) => {
            options.shift_remove("controller");
            sdn.set(Kind::Controller, &text(form, "controller"), options);
        }
        ("POST", ["cluster", "sdn", "zones"]) => {
            options.insert("mac".to_owned(), json!("BC:24:11:00:00:01"));
            sdn.set(Kind::Zone, &text(form, "zone"), options);
        }
        ("POST", ["cluster", "sdn", "vnets"]) => {
            options.insert("zone".to_owned(), form["zone"].clone());
            sdn.set(Kind::Vnet, &text(form, "vnet"), options);
        }
        ("POST", ["cluster", "sdn", "vnets", vnet, "subnets"]) => {
            let zone = sdn.configured.text(Kind::Vnet, vnet, "zone").unwrap();
            options.insert("vnet".to_owned(), json!(vnet));
            sdn.set(Kind::Subnet, &format!("{zone}-{}", text(form, "subnet").replace('/', "-")), options);
        }
        ("PUT", ["cluster", "sdn"]) => sdn.apply(),
        ("POST", ["cluster", "sdn", "rollback"]) => sdn.rollback(),
        ("PUT" | "DELETE", ["cluster", "sdn", rest @ ..]) => {
            let (kind, id) = match rest {
                ["zones", zone] => (Kind::Zone, *zone),
                ["vnets", vnet] => (Kind::Vnet, *vnet),
                ["vnets", _, "subnets", subnet] => (Kind::Subnet, *subnet),
                ["controllers", id] => (Kind::Controller, *id),
                _ => return,
            };
            if method == "DELETE" {
                sdn.delete(kind, id);
            } else {
                sdn.set(kind, id, options);
                let gone = text(form, "delete");
                sdn.unset(kind, id, &gone.split(',').filter(|name| !name.is_empty()).collect::<Vec<_>>());
            }
        }
        (_, ["nodes", node, "qemu", rest @ ..]) => guest_write(world, node, method, rest, form, options),
        _ => {}
    }
}

fn guest_write(world: &mut World, node: &str, method: &str, path: &[&str], form: &Map<String, Value>, options: Object) {
    match (method, path) {
        ("POST", [template, "clone"]) => {
            let mut copy = world.guests[&template.parse().unwrap()].clone();
            copy.template = false;
            copy.config.shift_remove("template");
            copy.config.insert("vmgenid".to_owned(), json!("4fa35e3b"));
            copy.config.extend(options);
            world.guests.insert(text(form, "newid").parse().unwrap(), copy);
        }
        ("PUT" | "POST", [vmid, "config"]) => {
            let guest = world.guests.get_mut(&vmid.parse().unwrap()).unwrap();
            guest.config.extend(options);
            for gone in text(form, "delete").split(',') {
                guest.config.shift_remove(gone);
            }
        }
        ("POST", [vmid, "status", verb]) => {
            if let Some(guest) = world.guests.get_mut(&vmid.parse().unwrap()).filter(|guest| guest.node == node) {
                guest.started = (*verb == "start" && !guest.template).then_some(1_795_900_000);
                guest.agent_up = true;
                guest.address = Some((Ipv4Addr::new(10, 20, 129, 12), 24));
            }
        }
        ("DELETE", [vmid]) if *vmid != "201" => {
            world.guests.remove(&vmid.parse().unwrap());
        }
        _ => {}
    }
}

/// Makes the task exist that a recorded read talks about, in the state the recording shows.
fn task_facts(world: &mut World, step: &Value) {
    let body = &step["response"]["body"]["data"];
    let rows = match body {
        Value::Array(rows) => rows.clone(),
        other => vec![other.clone()],
    };
    for row in rows.iter().filter(|row| row.get("upid").is_some()) {
        let upid = row["upid"].as_str().unwrap().to_owned();
        let status = row["exitstatus"].as_str().or(row["status"].as_str()).unwrap_or("OK").to_owned();
        let ended = (status != "running").then(|| row["endtime"].as_i64().unwrap_or(1_795_900_001));
        world.tasks.retain(|task| task.upid != upid);
        let saved = row.get("saved").is_some();
        world.tasks.insert(0, Task { upid, ended, status, log: Vec::new(), saved });
    }
    let path = step["request"]["path"].as_str().unwrap();
    if let Some((upid, _)) = path
        .rsplit_once('/')
        .and_then(|(rest, last)| rest.rsplit_once('/').filter(|_| last == "log").map(|(_, u)| (u, last)))
    {
        let upid = upid.replace("%3A", ":").replace("%40", "@").replace("%21", "!");
        let mut lines: Vec<String> = rows.iter().map(|row| row["t"].as_str().unwrap().to_owned()).collect();
        let last = lines.pop().unwrap();
        let status = last.strip_prefix("TASK ERROR: ").or(last.strip_prefix("TASK ")).unwrap_or("OK").to_owned();
        world.tasks.retain(|task| task.upid != upid);
        world.tasks.push(Task { upid, ended: Some(1_795_900_001), status, log: lines, saved: true });
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What identifies a row of a list.
fn identity(row: &Value) -> String {
    let keys = ["id", "upid", "vnet", "zone", "controller", "vmid", "iface", "key", "n", "node", "name", "ip", "mac"];
    keys.iter().find_map(|key| row.get(*key)).map_or_else(|| row.to_string(), |value| format!("{value}"))
}

/// Differences of shape: missing and additional keys, other types, other lengths.
fn differences(at: &str, recorded: &Value, answered: &Value, out: &mut Vec<String>) {
    match (recorded, answered) {
        (Value::Object(recorded), Value::Object(answered)) => {
            for (key, value) in recorded {
                match answered.get(key) {
                    None => out.push(format!("{at}.{key} is missing")),
                    Some(ours) => differences(&format!("{at}.{key}"), value, ours, out),
                }
            }
            out.extend(
                answered.keys().filter(|key| !recorded.contains_key(*key)).map(|key| format!("{at}.{key} is new")),
            );
        }
        (Value::Array(recorded), Value::Array(answered)) => {
            if recorded.len() != answered.len() {
                out.push(format!("{at} has {} rows, recorded {}", answered.len(), recorded.len()));
                return;
            }
            let sorted = |rows: &[Value]| {
                let mut rows = rows.to_vec();
                rows.sort_by_key(identity);
                rows
            };
            for (recorded, answered) in sorted(recorded).iter().zip(&sorted(answered)) {
                differences(&format!("{at}[{}]", identity(recorded)), recorded, answered, out);
            }
        }
        // Which scalar type `saved` has depends on the age of the archive entry.
        _ if at.ends_with(".saved") => {}
        (recorded, answered) if kind(recorded) != kind(answered) => {
            out.push(format!("{at} is {}, recorded {}", kind(answered), kind(recorded)));
        }
        // What SDN objects say is not volatile, two invented values apart.
        (Value::String(_) | Value::Number(_), ours)
            if at.starts_with("/cluster/sdn")
                && ours != recorded
                && !at.ends_with(".mac")
                && !at.ends_with(".digest") =>
        {
            let (ours, theirs) = (generated(ours), generated(recorded));
            if let Some((ours, theirs)) = ours.lines().chain([""]).zip(theirs.lines().chain([""])).find(|(a, b)| a != b)
            {
                out.push(format!("{at} is {ours:?}, recorded {theirs:?}"));
            }
        }
        _ => {}
    }
}

/// A value, of a diff only what is the same for every run: no file names, times and addresses of invented hardware.
fn generated(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let volatile = ["--- ", "+++ ", "+\thwaddress "];
    text.lines().filter(|line| !volatile.iter().any(|v| line.starts_with(v))).collect::<Vec<_>>().join("\n")
}

fn messages(recorded: &Value, answered: &Value, out: &mut Vec<String>) {
    for key in ["message", "errors"] {
        if recorded.get(key) != answered.get(key) {
            out.push(format!("{key} {:?}, recorded {:?}", answered.get(key), recorded.get(key)));
        }
    }
}

async fn read(lab: &Lab, client: &reqwest::Client, step: &Value) -> Vec<String> {
    let note = step["note"].as_str().unwrap();
    let reason = step["response"]["reason"].as_str().unwrap();
    let token = match (note, reason) {
        (_, "No ticket") => None,
        (_, "Authentication failed!") => Some("ops@pve!full=wrong"),
        (note, _) if note.contains("ops@pve!sep") => Some("ops@pve!sep=s"),
        (note, _) if note.contains("audit@pve!ro") => Some("audit@pve!ro=s"),
        _ => Some("ops@pve!full=s"),
    };
    let path = step["request"]["path"].as_str().unwrap();
    let query = object(step["request"]["query"].clone());
    let query: Vec<String> = query.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap())).collect();
    let mut url = format!("{}{path}", lab.proxmox_url());
    if !query.is_empty() {
        url = format!("{url}?{}", query.join("&"));
    }
    let mut request = client.request(step["request"]["method"].as_str().unwrap().parse().unwrap(), url);
    if let Some(token) = token {
        request = request.header("Authorization", format!("PVEAPIToken={token}"));
    }
    let answer = request.send().await.unwrap();
    let mut out = Vec::new();
    let status = step["response"]["status"].as_u64().unwrap();
    if u64::from(answer.status().as_u16()) != status {
        out.push(format!("status {}, recorded {status}", answer.status()));
    }
    let ours = answer.extensions().get::<hyper::ext::ReasonPhrase>().map_or_else(
        || answer.status().canonical_reason().unwrap_or_default().to_owned(),
        |reason| String::from_utf8(reason.as_bytes().to_vec()).unwrap(),
    );
    if ours != reason {
        out.push(format!("reason {ours:?}, recorded {reason:?}"));
    }
    let body = answer.text().await.unwrap();
    let recorded = &step["response"]["body"];
    match serde_json::from_str::<Value>(&body) {
        Ok(answered) => {
            messages(recorded, &answered, &mut out);
            differences(path.trim_start_matches("/api2/json"), recorded, &answered, &mut out);
        }
        Err(_) if recorded.as_str() == Some(body.as_str()) => {}
        Err(_) => out.push(format!("body {body:?}")),
    }
    out
}

/// Replays one step: a write changes the state and gives `None`, a read gives its differences.
async fn replay(lab: &Lab, client: &reqwest::Client, step: &Value) -> Option<Vec<String>> {
    let scenario = step["scenario"].as_str().unwrap();
    let method = step["request"]["method"].as_str().unwrap();
    let path = step["request"]["path"].as_str().unwrap();
    let parts: Vec<&str> = path.split('/').skip(3).collect();
    lab.edit(|world| membership(world, scenario)).unwrap();
    if method != "GET" && !path.ends_with("/agent/ping") {
        if step["response"]["status"] == 200 {
            let form = object(step["request"]["form"].clone());
            lab.edit(|world| write(world, method, &parts, &form)).unwrap();
        }
        return None;
    }
    lab.edit(|world| {
        if parts.contains(&"tasks") {
            if !path.ends_with("/status") && !path.ends_with("/log") {
                world.tasks.clear();
            }
            if step["response"]["status"] == 200 {
                task_facts(world, step);
            }
        }
        if scenario == "vm-agent-down" {
            world.guests.values_mut().for_each(|guest| guest.agent_up = false);
        }
    })
    .unwrap();
    Some(read(lab, client, step).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_reads_are_answered_alike() {
    let Some(steps) = recordings() else {
        eprintln!("SKIPPED recorded_reads_are_answered_alike: ../shared is absent");
        return;
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let lab = Lab::start(LabOptions {
        tenants: Some(1),
        workloads: Some(0),
        faults: Vec::new(),
        seed: 1,
        clock: Arc::new(|| Timestamp::from_second(1_795_980_000).unwrap()),
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: false,
        release: Release::default(),
        writable: false,
        pace: Pace::Clock,
        dir: None,
    })
    .await
    .unwrap();
    lab.edit(cluster).unwrap();
    let ca = reqwest::Certificate::from_pem(lab.ca_pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder().tls_certs_only([ca]).build().unwrap();
    let (mut equal, mut all, mut unequal) = (0, 0, Vec::new());
    for step in &steps {
        let Some(found) = replay(&lab, &client, step).await else { continue };
        all += 1;
        if found.is_empty() {
            equal += 1;
        } else {
            let (scenario, name) = (step["scenario"].as_str().unwrap(), step["step"].as_str().unwrap());
            let path = step["request"]["path"].as_str().unwrap();
            let why = NOT_SERVED.iter().find(|(part, _)| path.contains(part)).map(|(_, why)| *why);
            unequal.push((format!("{scenario}/{name} {path}"), why.map_or_else(|| found.join("; "), str::to_owned)));
        }
    }
    for (what, why) in &unequal {
        println!("  {what}: {why}");
    }
    println!("{equal} of {all} reads equal");
    assert!(equal * 100 >= FLOOR_PERCENT * all, "only {equal} of {all} recorded reads are answered alike");
    lab.shutdown().await;
}
