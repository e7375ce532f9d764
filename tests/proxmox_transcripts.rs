//! Recorded answers of a real Proxmox API, served with their exact status, reason phrase, media type and body, and
//! read through the whole HTTP path.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict, its output is its report"
)]

mod loopback;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use deevnet_console::backends::http::{Access, HttpClient, Limits, Request};
use deevnet_console::backends::proxmox::model::{AgentState, Change, Sdn, TaskState};
use deevnet_console::backends::proxmox::{Client, Error, TaskFilter, Upid, View, error_from_answer};
use deevnet_console::site::model::Trust;
use jiff::Timestamp;
use loopback::{Canned, Seen, Server, decode, site, token, variant};
use serde_json::Value;

/// One exchange.
struct Step {
    name: String,
    method: String,
    /// Below `/api2/json`, decoded.
    path: String,
    query: BTreeMap<String, String>,
    answer: Canned,
    data: Value,
}

/// How a step was read.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// By the client's own decoder of that endpoint.
    Typed,
    /// As the bare envelope: a write, or an endpoint the client does not read.
    Envelope,
    /// As an error of this variant.
    Refused(String),
}

fn step(raw: &Value) -> Step {
    let (request, response) = (&raw["request"], &raw["response"]);
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let body = match &response["body"] {
        Value::String(text) => text.clone().into_bytes(),
        json => json.to_string().into_bytes(),
    };
    let status = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
    let pairs = request["query"].as_object().into_iter().flatten();
    let path = decode(request["path"].as_str().unwrap());
    Step {
        name: format!("{} {}", text(&raw["scenario"]), text(&raw["step"])),
        method: text(&request["method"]),
        path: path.strip_prefix("/api2/json").unwrap().to_owned(),
        query: pairs.map(|(k, v)| (k.clone(), text(v))).collect(),
        answer: Canned {
            status,
            reason: text(&response["reason"]),
            content_type: response["content_type"].as_str().map(str::to_owned),
            body,
            close: status >= 400,
        },
        data: response["body"]["data"].clone(),
    }
}

/// A server that gives the answer it was last told to give.
async fn player() -> (Server, Arc<Mutex<Canned>>, Client, HttpClient) {
    let next = Arc::new(Mutex::new(Canned::default()));
    let told = Arc::clone(&next);
    let server = Server::start(move |_: &Seen| told.lock().unwrap().clone()).await;
    let client = Client::new(&site(&server.origin, Trust::Plaintext), token(), Limits::default()).unwrap();
    let bare = HttpClient::new(&server.origin, &Trust::Plaintext, None, Limits::default()).unwrap();
    (server, next, client, bare)
}

/// Reads one step the way the program would.
async fn play(client: &Client, bare: &HttpClient, step: &Step) -> Result<Outcome, Error> {
    if let Some(read) = typed(client, step).await {
        return read.map(|()| Outcome::Typed);
    }
    let path = format!("/api2/json{}", step.path);
    let answer = bare
        .send(&Request {
            method: step.method.parse().unwrap(),
            access: if step.method == "GET" { Access::Read } else { Access::Write },
            path: path.split('/').skip(1).map(str::to_owned).collect(),
            query: step.query.clone().into_iter().collect(),
        })
        .await?;
    if answer.status >= 400 {
        return Err(error_from_answer(&answer));
    }
    let envelope: Value = serde_json::from_slice(&answer.body).unwrap();
    assert!(envelope.get("data").is_some(), "{}", step.name);
    Ok(Outcome::Envelope)
}

/// Through the client's own method for this endpoint, with a look at the values; `None` where it has none.
async fn typed(client: &Client, step: &Step) -> Option<Result<(), Error>> {
    let parts: Vec<&str> = step.path.split('/').skip(1).collect();
    if step.method == "POST" {
        let ["nodes", node, "qemu", id, "agent", "ping"] = parts.as_slice() else { return None };
        // The three texts are states, not errors; the transcript counts them as refusals.
        let state = client.agent_state(node, id.parse().unwrap()).await;
        return Some(state.and_then(|s| if s == AgentState::Answers { Ok(()) } else { Err(Error::Agent(s)) }));
    }
    if step.method != "GET"
        || step.query.contains_key("bogus")
        || step.query.get("pending").is_some_and(|v| v == "true")
    {
        return None;
    }
    match parts.as_slice() {
        ["cluster", "sdn", rest @ ..] => typed_sdn(client, step, rest).await,
        ["nodes", node, "qemu", rest @ ..] => typed_vm(client, step, node, rest).await,
        ["nodes", node, rest @ ..] => typed_node(client, step, node, rest).await,
        _ => typed_cluster(client, step, &parts).await,
    }
}

/// Asserts inside a closure, so that an error of the read is passed on.
fn checked<T>(read: Result<T, Error>, check: impl FnOnce(T)) -> Option<Result<(), Error>> {
    Some(read.map(check))
}

async fn typed_cluster(client: &Client, step: &Step, parts: &[&str]) -> Option<Result<(), Error>> {
    let data = &step.data;
    match parts {
        ["version"] => checked(client.version().await, |v| assert_eq!(data["version"], v.version.as_str())),
        ["access", "permissions"] => checked(client.permissions().await, |held| {
            assert_eq!(held.by_path.len(), data.as_object().unwrap().len());
            assert_eq!(client.can("/sdn/zones/tdemo", "SDN.Audit"), Some(!held.by_path.is_empty()));
            let may_write = data["/"].get("SDN.Allocate").is_some();
            assert_eq!(client.can("/sdn/zones", "SDN.Allocate"), Some(may_write));
        }),
        ["cluster", "resources"] => checked(client.resources().await, |read| {
            let of = |kind: &str| data.as_array().unwrap().iter().filter(|r| r["type"] == kind).count();
            assert_eq!((read.vms.len(), read.nodes.len(), read.zones.len()), (of("qemu"), of("node"), of("network")));
            let locked = read.vms.iter().find(|v| v.vmid == 201).unwrap();
            assert_eq!((locked.lock.as_deref(), locked.node.as_str(), locked.cpus), (Some("clone"), "pve2", Some(1)));
            assert!(read.vms.iter().any(|v| v.vmid == 9000 && v.template));
            // A guest of an offline node: unknown, without name and numbers.
            for lost in read.vms.iter().filter(|v| v.status == "unknown") {
                assert_eq!((lost.name.as_deref(), lost.mem, lost.cpu), (None, None, None));
            }
            assert!(read.zones.iter().all(|z| z.zone == "localnetwork" || z.status == "available"));
        }),
        ["cluster", "status"] => checked(client.cluster_status().await, |status| {
            assert_eq!((status.quorate, status.nodes.len()), (Some(true), 3));
            let offline: Vec<_> = status.nodes.iter().filter(|n| !n.online).map(|n| n.name.as_str()).collect();
            assert_eq!(offline, ["pve3"]);
        }),
        ["nodes"] => checked(client.nodes().await, |nodes| {
            assert_eq!(nodes.iter().filter(|n| n.status == "offline" && n.mem.is_none()).count(), 1);
            assert_eq!(nodes.iter().find(|n| n.node == "pve1").unwrap().maxcpu, Some(8));
        }),
        ["cluster", "tasks"] => checked(client.cluster_tasks().await, |tasks| {
            assert_eq!(tasks.len(), data.as_array().unwrap().len());
            tasks.iter().for_each(|t| assert_eq!(t.upid.parse::<Upid>().unwrap().node, t.node));
        }),
        _ => None,
    }
}

async fn typed_sdn(client: &Client, step: &Step, rest: &[&str]) -> Option<Result<(), Error>> {
    let view = match (step.query.get("pending"), step.query.get("running")) {
        (Some(_), _) => View::Pending,
        (_, Some(_)) => View::Running,
        _ => View::Configured,
    };
    let rows = step.data.as_array();
    match rest {
        ["zones"] => checked(client.zones(view).await, |zones| {
            same_changes(&zones, rows.unwrap(), |z| &z.zone, "zone");
            for (zone, raw) in zones.iter().zip(rows.unwrap()) {
                let new = raw["state"] == "new";
                let vni = if new { &raw["pending"]["vrf-vxlan"] } else { &raw["vrf-vxlan"] };
                assert_eq!(zone.current().unwrap().vrf_vxlan.map(u64::from), vni.as_u64(), "{}", step.name);
            }
        }),
        ["vnets"] => checked(client.vnets(view).await, |vnets| {
            same_changes(&vnets, rows.unwrap(), |v| &v.vnet, "vnet");
            assert!(vnets.iter().all(|v| v.current().unwrap().tag.is_some() && !v.current().unwrap().zone.is_empty()));
        }),
        ["vnets", vnet, "subnets"] => checked(client.subnets(vnet, view).await, |subnets| {
            same_changes(&subnets, rows.unwrap(), |s| &s.id, "subnet");
            subnets
                .iter()
                .for_each(|s| assert!(s.current().unwrap().cidr.is_some() && s.current().unwrap().vnet == *vnet));
        }),
        ["controllers"] => checked(client.controllers(view).await, |all| {
            same_changes(&all, rows.unwrap(), |c| &c.controller, "controller");
            all.iter().for_each(|c| {
                assert_eq!((c.current().unwrap().asn, c.current().unwrap().peers.len()), (Some(65020), 2))
            });
        }),
        ["dry-run"] => checked(client.dry_run(&step.query["node"]).await, |run| {
            assert_eq!(step.data["frr-diff"].as_str(), run.frr_diff.as_deref());
            assert_eq!(step.data["interfaces-diff"].as_str(), run.interfaces_diff.as_deref());
        }),
        _ => None,
    }
}

/// Ids and changes are those of the raw rows.
fn same_changes<T>(read: &[Sdn<T>], raw: &[Value], id: impl Fn(&T) -> &String, key: &str) {
    assert_eq!(read.len(), raw.len());
    for (object, row) in read.iter().zip(raw) {
        let change = match row["state"].as_str() {
            None => Change::None,
            Some("new") => Change::New,
            Some("changed") => Change::Changed,
            Some("deleted") => Change::Deleted,
            Some(other) => panic!("{other}"),
        };
        assert_eq!((row[key].as_str(), object.change), (object.current().map(|o| id(o).as_str()), change));
        assert_eq!(object.running.is_none() && change != Change::None, change == Change::New);
        assert_eq!(object.configured.is_none() && change != Change::None, change == Change::Deleted);
        assert_eq!(object.pending.len(), row["pending"].as_object().map_or(0, |p| p.len()));
    }
}

async fn typed_vm(client: &Client, step: &Step, node: &str, rest: &[&str]) -> Option<Result<(), Error>> {
    let data = &step.data;
    let id = |text: &str| text.parse::<u32>().unwrap();
    match rest {
        [] => checked(client.vms(node).await, |vms| {
            assert_eq!((vms.len(), vms[0].vmid, vms[0].template, vms[0].cpus), (1, 9000, true, Some(2)));
        }),
        [vmid, "config"] => checked(client.vm_config(node, id(vmid)).await, |vm| {
            assert_eq!(vm.name.as_deref(), data["name"].as_str());
            assert_eq!(vm.memory_mib.unwrap().to_string(), data["memory"].as_str().unwrap());
            assert_eq!(vm.raw.len(), data.as_object().unwrap().len());
            let net = &vm.nets[&0];
            assert_eq!(
                data["net0"],
                format!("virtio={},bridge={}", mac_as_stored(data, net.mac.as_ref()), net.bridge.as_ref().unwrap())
            );
            let smbios = data["smbios1"].as_str().unwrap();
            assert_eq!(vm.smbios_uuid.is_some(), smbios.contains("uuid="));
            if smbios.contains("serial=") {
                assert!(!format!("{vm:?}").contains("ZHM9bm9jbG91ZD"), "the pointer in smbios1 shows");
            }
        }),
        [vmid, "pending"] => checked(client.vm_pending(node, id(vmid)).await, |options| {
            assert_eq!(options.len(), data.as_array().unwrap().len());
        }),
        [vmid, "status", "current"] => checked(client.vm_status(node, id(vmid)).await, |status| {
            assert_eq!(
                (status.vm.status.as_str(), status.qmp.as_deref(), status.agent),
                ("running", Some("running"), true)
            );
            assert_eq!(status.vm.tags, ["deevnet", "tdemo"]);
        }),
        [vmid, "agent", "network-get-interfaces"] => checked(client.agent_interfaces(node, id(vmid)).await, |nics| {
            assert_eq!(nics[1].addresses, ["10.20.129.12/24"]);
            assert_eq!((nics[1].name.as_str(), nics[1].mac.as_deref()), ("eth0", Some("02:de:20:00:07:f8")));
        }),
        _ => None,
    }
}

/// Upper or lower case, as the recording has it.
fn mac_as_stored(data: &Value, mac: Option<&String>) -> String {
    let lower = mac.unwrap();
    let upper = lower.to_uppercase();
    if data["net0"].as_str().unwrap().contains(&upper) { upper } else { lower.clone() }
}

async fn typed_node(client: &Client, step: &Step, node: &str, rest: &[&str]) -> Option<Result<(), Error>> {
    let data = &step.data;
    match rest {
        ["network"] => checked(client.staged_network(node).await, |staged| assert_eq!(staged.changes, None)),
        ["tasks"] => checked(client.node_tasks(node, &filter_of(step)).await, |tasks| {
            assert_eq!(tasks.len(), data.as_array().unwrap().len());
            for (task, raw) in tasks.iter().zip(data.as_array().unwrap()) {
                assert_eq!(
                    (Some(task.upid.as_str()), task.status.as_deref()),
                    (raw["upid"].as_str(), raw["status"].as_str())
                );
                assert_eq!(task.ended.map(Timestamp::as_second), raw["endtime"].as_i64());
            }
        }),
        ["tasks", upid, "status"] => {
            checked(task_state(client, node, upid).await, |state| match data["exitstatus"].as_str() {
                None => assert_eq!((state, data["status"].as_str()), (TaskState::Running, Some("running"))),
                Some("OK") => assert_eq!(state, TaskState::Ok),
                Some(end) => assert_eq!(state, TaskState::Failed(end.to_owned())),
            })
        }
        ["tasks", upid, "log"] => {
            let limit = step.query.get("limit").map_or(50, |n| n.parse().unwrap());
            checked(client.task_log(&upid.parse().unwrap(), 0, limit).await, |log| {
                assert_eq!(log.total, Some(log.lines.len() as u64));
                assert!(log.lines.last().unwrap().text.starts_with("TASK "));
            })
        }
        ["sdn", "zones"] => checked(client.node_zones(node).await, |zones| {
            let read: Vec<_> = zones.iter().map(|z| (Some(z.zone.as_str()), Some(z.status.as_str()))).collect();
            let raw: Vec<_> =
                data.as_array().unwrap().iter().map(|z| (z["zone"].as_str(), z["status"].as_str())).collect();
            assert_eq!(read, raw);
        }),
        ["sdn", "zones", zone, "content"] => checked(client.zone_content(node, zone).await, |vnets| {
            assert_eq!(vnets.len(), data.as_array().unwrap().len());
            vnets.iter().for_each(|v| assert_eq!(v.message.is_some(), v.status == "error"));
        }),
        ["sdn", "zones", zone, "ip-vrf"] => checked(client.ip_vrf(node, zone).await, |routes| {
            assert_eq!(
                (routes[0].prefix.as_str(), routes[0].next_hops.as_slice()),
                ("0.0.0.0/0", &["192.0.2.11".to_owned()][..])
            );
        }),
        ["sdn", "vnets", vnet, "mac-vrf"] => checked(client.mac_vrf(node, vnet).await, |paths| {
            assert_eq!((paths[0].mac.as_str(), paths[0].ip.as_deref()), ("02:de:20:00:07:f8", Some("10.20.129.11")));
        }),
        _ => None,
    }
}

/// Where the recording asked a node other than the task's own, that is the point of the step.
async fn task_state(client: &Client, node: &str, upid: &str) -> Result<TaskState, Error> {
    let mut upid: Upid = upid.parse().unwrap();
    node.clone_into(&mut upid.node);
    client.task_state(&upid).await
}

fn filter_of(step: &Step) -> TaskFilter {
    let number = |key: &str| step.query.get(key).map(|n| n.parse::<u32>().unwrap());
    TaskFilter {
        kind: step.query.get("typefilter").cloned(),
        vmid: number("vmid"),
        since: number("since").map(|s| Timestamp::from_second(i64::from(s)).unwrap()),
        errors: number("errors").is_some(),
        source: step.query.get("source").map(|_| deevnet_console::backends::proxmox::TaskSource::All),
        limit: number("limit"),
        ..TaskFilter::default()
    }
}

#[tokio::test]
async fn every_recorded_step_is_understood() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts/pve-transcripts.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED every_recorded_step_is_understood: ../shared is absent");
        return;
    };
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let (server, next, client, bare) = player().await;
    let (mut typed, mut envelopes, mut refused) = (0, 0, BTreeMap::<String, u32>::new());
    // Asked in another form than recorded: without `type`, or with the limit written out.
    let reworded = ["03-network-bridges-incl-sdn", "01-resources-vm", "srvreload-log"];
    for raw in all.iter().skip(1) {
        let step = step(raw);
        *next.lock().unwrap() = step.answer.clone();
        let outcome = match play(&client, &bare, &step).await {
            Ok(outcome) => outcome,
            Err(error) => {
                assert!(step.answer.status >= 400, "{}: {error}", step.name);
                assert!(!error.help().is_empty() && !error.to_string().contains(".pm line"), "{error}");
                details_agree(&error, &step);
                Outcome::Refused(variant(&error))
            }
        };
        let asked = server.take_seen();
        assert_eq!((asked.len(), &asked[0].method), (1, &step.method), "{}", step.name);
        assert_eq!(asked[0].path, format!("/api2/json{}", step.path), "{}", step.name);
        let query: BTreeMap<_, _> = asked[0].query.iter().cloned().collect();
        assert!(query == step.query || reworded.iter().any(|r| step.name.contains(r)), "{}: {query:?}", step.name);
        match outcome {
            Outcome::Typed => typed += 1,
            Outcome::Envelope => {
                let known = UNREAD.iter().any(|part| step.path.contains(part)) || step.path == "/cluster/sdn";
                assert!(step.method != "GET" || known, "{} should be decoded", step.name);
                envelopes += 1;
            }
            Outcome::Refused(variant) => *refused.entry(variant).or_default() += 1,
        }
    }
    let errors: u32 = refused.values().sum();
    println!("{typed} typed, {envelopes} as envelope, {errors} as typed error, of {}: {refused:#?}", all.len() - 1);
    assert_eq!((typed, envelopes, errors), (89, 86, 65));
    assert_eq!(refused, REFUSALS.map(|(name, n)| (name.to_owned(), n)).into());
}

/// How many recorded refusals there are of each kind.
const REFUSALS: [(&str, u32); 20] = [
    ("Absent", 6),
    ("Agent", 2),
    ("AgentProcessGone", 1),
    ("BadParameters", 25),
    ("Busy", 2),
    ("Conflict", 2),
    ("Denied", 4),
    ("Exists", 2),
    ("InUse", 2),
    ("MalformedRequest", 3),
    ("Modified", 1),
    ("NotImplemented", 1),
    ("NothingToDo", 1),
    ("ReferenceAbsent", 1),
    ("SdnLocked", 4),
    ("SdnPending", 1),
    ("ServerDefect", 2),
    ("Unauthenticated", 3),
    ("VmLocked", 1),
    ("VmState", 1),
];

/// Endpoints the client has no use for; their answers are read as bare envelopes.
const UNREAD: [&str; 5] = ["/nextid", "/cloudinit", "/agent/exec", "/agent/get-time", "/cluster/sdn/zones/"];

/// What the error says is what the answer said.
fn details_agree(error: &Error, step: &Step) {
    let body = String::from_utf8_lossy(&step.answer.body).into_owned();
    let parsed: Value = serde_json::from_str(&body).unwrap_or_default();
    let said = |part: &str| assert!(body.contains(part), "{}: {part:?} is not in {body}", step.name);
    match error {
        Error::BadParameters { errors, action } => {
            let keys: Vec<&String> = parsed["errors"].as_object().into_iter().flatten().map(|(k, _)| k).collect();
            assert!(!errors.is_empty() && errors.values().all(|why| !why.is_empty()), "{}", step.name);
            assert!(keys.is_empty() || keys == errors.keys().collect::<Vec<_>>(), "{}", step.name);
            errors.keys().filter(|key| *key != "sshkeys").for_each(|key| said(key));
            action.iter().for_each(|action| said(action));
        }
        Error::Denied { need: Some(need), .. } => {
            said(&format!("({}, {})", need.path, need.privileges.join("|")));
            assert!(error.help().contains(&need.path));
        }
        Error::Denied { need: None, .. } => said("need proper ticket"),
        Error::Absent { what, .. } if what.starts_with("task UPID") => said("no such task"),
        Error::Absent { what, .. } => said(&format!("{what} does not exist")),
        Error::ReferenceAbsent { what, .. } => said(&format!("{what} don't exist")),
        Error::Exists { what, .. } => said(what),
        Error::InUse { what, by, .. } => said(&format!("{what} is used by {by}")),
        Error::Unauthenticated { reason } => assert_eq!((reason, body.as_str()), (&step.answer.reason, "")),
        Error::VmLocked { lock } => said(&format!("({lock})")),
        Error::Busy { lock, .. } => said(&format!("cfs-lock '{lock}'")),
        Error::NotImplemented { endpoint } => said(endpoint),
        Error::AgentProcessGone { pid } => said(&format!("PID {pid} ")),
        _ => {}
    }
}
