//! Recorded answers of a real Proxmox VE replayed against the lab: equal status, error text and shape.
//!
//! Reads are sent to the lab over HTTPS. Recorded writes that succeeded bring its state into the recorded condition
//! through its Rust methods; facts of the machine behind the recording (which task ended how, who is offline) are set
//! before the read that shows them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, which should stop")]

mod replay_common;

use std::net::Ipv4Addr;

use deevnet_console::lab::sdn::Kind;
use deevnet_console::lab::state::{Object, Task, World};
use deevnet_console::lab::{Lab, Pace};
use replay_common::{compared, hear, membership, object, recordings, request, start, still};
use serde_json::{Map, Value, json};

/// Just under what the lab reaches.
const FLOOR_PERCENT: usize = 96;

/// Reads the lab does not answer, with the reason.
const NOT_SERVED: &[(&str, &str)] = &[
    ("/mac-vrf", "the recorded route is canned by the harness: no VM stood behind it"),
    ("/agent/exec-status", "belongs to agent exec, a write"),
    ("/agent/get-time", "the recorded answer is canned by the harness"),
];

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
    let heard = hear(request(lab, client, step, path)).await;
    Some(compared(path.trim_start_matches("/api2/json"), &step["response"], &heard))
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_reads_are_answered_alike() {
    let Some(steps) = recordings() else {
        eprintln!("SKIPPED recorded_reads_are_answered_alike: ../shared is absent");
        return;
    };
    let (lab, client) = start(Pace::Clock, still()).await;
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
