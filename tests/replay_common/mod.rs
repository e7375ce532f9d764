//! Recorded answers of a real Proxmox VE, the cluster they were recorded on as a lab, and how answers are compared.

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, which should stop")]

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::sdn::Sdn;
use deevnet_console::lab::state::{Guest, LocalStanza, Node, Object, Role, Storage, Token, World};
use deevnet_console::lab::writing::Reload;
use deevnet_console::lab::{Clock, Lab, LabOptions, Pace};
use jiff::Timestamp;
use serde_json::{Value, json};

pub fn recordings() -> Option<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts/pve-transcripts.json");
    let text = std::fs::read_to_string(path).ok()?;
    let mut steps: Vec<Value> = serde_json::from_str(&text).unwrap();
    steps.remove(0);
    Some(steps)
}

pub fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

pub fn node(name: &str, id: u32) -> Node {
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

pub fn guest(node: &str, config: Value, template: bool) -> Guest {
    Guest { node: node.to_owned(), config: object(config), template, disk: 1 << 30, ..Guest::default() }
}

/// The cluster of the recording, before its first step.
pub fn cluster(world: &mut World) {
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
pub fn membership(world: &mut World, scenario: &str) {
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

pub fn kind(value: &Value) -> &'static str {
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
pub fn identity(row: &Value) -> String {
    let keys = ["id", "upid", "vnet", "zone", "controller", "vmid", "iface", "key", "n", "node", "name", "ip", "mac"];
    keys.iter().find_map(|key| row.get(*key)).map_or_else(|| row.to_string(), |value| format!("{value}"))
}

/// Differences of shape: missing and additional keys, other types, other lengths.
pub fn differences(at: &str, recorded: &Value, answered: &Value, out: &mut Vec<String>) {
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
pub fn generated(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let volatile = ["--- ", "+++ ", "+\thwaddress "];
    text.lines().filter(|line| !volatile.iter().any(|v| line.starts_with(v))).collect::<Vec<_>>().join("\n")
}

pub fn messages(recorded: &Value, answered: &Value, out: &mut Vec<String>) {
    for key in ["message", "errors"] {
        if recorded.get(key) != answered.get(key) {
            out.push(format!("{key} {:?}, recorded {:?}", answered.get(key), recorded.get(key)));
        }
    }
}

/// A moment after the recording.
pub const NOW: i64 = 1_795_980_000;

/// A clock that stands still at [`NOW`].
pub fn still() -> Clock {
    Arc::new(|| Timestamp::from_second(NOW).unwrap())
}

/// The lab with the cluster of the recording, and a client of it.
pub async fn start(pace: Pace, clock: Clock) -> (Lab, reqwest::Client) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let lab = Lab::start(LabOptions {
        tenants: Some(1),
        workloads: Some(0),
        faults: Vec::new(),
        seed: 1,
        clock,
        program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
        second_half: false,
        release: Release::default(),
        writable: false,
        pace,
        dir: None,
    })
    .await
    .unwrap();
    lab.edit(cluster).unwrap();
    let ca = reqwest::Certificate::from_pem(lab.ca_pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder().tls_certs_only([ca]).build().unwrap();
    (lab, client)
}

/// What an answer is made of.
pub struct Heard {
    pub status: u64,
    pub reason: String,
    pub body: String,
}

/// Whose token a step was recorded with.
pub fn token(step: &Value) -> Option<&'static str> {
    let note = step["note"].as_str().unwrap();
    match (note, step["response"]["reason"].as_str().unwrap()) {
        (_, "No ticket") => None,
        (note, _) if note.contains("ticket cookie") => None,
        (_, "Authentication failed!") => Some("ops@pve!full=wrong"),
        (note, _) if note.contains("ops@pve!sep") => Some("ops@pve!sep=s"),
        (note, _) if note.contains("audit@pve!ro") => Some("audit@pve!ro=s"),
        _ => Some("ops@pve!full=s"),
    }
}

/// A recorded step as a request to the lab, without its body.
pub fn request(lab: &Lab, client: &reqwest::Client, step: &Value, path: &str) -> reqwest::RequestBuilder {
    let query = object(step["request"]["query"].clone());
    let query: Vec<String> = query.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap())).collect();
    let mut url = format!("{}{path}", lab.proxmox_url());
    if !query.is_empty() {
        url = format!("{url}?{}", query.join("&"));
    }
    let request = client.request(step["request"]["method"].as_str().unwrap().parse().unwrap(), url);
    match token(step) {
        Some(token) => request.header("Authorization", format!("PVEAPIToken={token}")),
        None => request,
    }
}

/// Sends it and takes the answer apart.
pub async fn hear(request: reqwest::RequestBuilder) -> Heard {
    let answer = request.send().await.unwrap();
    let status = u64::from(answer.status().as_u16());
    let reason = answer.extensions().get::<hyper::ext::ReasonPhrase>().map_or_else(
        || answer.status().canonical_reason().unwrap_or_default().to_owned(),
        |reason| String::from_utf8(reason.as_bytes().to_vec()).unwrap(),
    );
    Heard { status, reason, body: answer.text().await.unwrap() }
}

/// How an answer differs from the recorded one.
pub fn compared(at: &str, response: &Value, heard: &Heard) -> Vec<String> {
    let mut out = Vec::new();
    let status = response["status"].as_u64().unwrap();
    if heard.status != status {
        out.push(format!("status {}, recorded {status}", heard.status));
    }
    let reason = response["reason"].as_str().unwrap();
    if heard.reason != reason {
        out.push(format!("reason {:?}, recorded {reason:?}", heard.reason));
    }
    let recorded = &response["body"];
    match serde_json::from_str::<Value>(&heard.body) {
        Ok(answered) => {
            messages(recorded, &answered, &mut out);
            differences(at, recorded, &answered, &mut out);
        }
        Err(_) if recorded.as_str() == Some(heard.body.as_str()) => {}
        Err(_) => out.push(format!("body {:?}", heard.body)),
    }
    out
}
