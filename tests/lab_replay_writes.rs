//! The recorded scenarios of a real Proxmox VE played against the lab from the first request to the last: every change
//! goes over HTTPS as it was recorded, and what is read between changes shows what the lab made of them.
//!
//! Numbers that a server gives out (tasks, lock tokens) are replaced by the lab's. Facts of the machine behind the
//! recording (who is offline, whose reload fails) are set before the step that shows them, as faults where the lab has
//! one.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, which should stop")]

mod replay_common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use deevnet_console::lab::writing::Reload;
use deevnet_console::lab::{Lab, Pace};
use jiff::Timestamp;
use replay_common::{NOW, compared, hear, membership, recordings, request, start};
use serde_json::{Value, json};

/// What the lab does not answer, with the reason.
const NOT_SERVED: &[(&str, &str)] = &[
    ("/mac-vrf", "the recorded route is canned by the harness: no VM stood behind it"),
    ("/agent/exec", "nothing can be run in the lab's guests"),
    ("/agent/get-time", "the recorded answer is canned by the harness"),
    ("sdn-apply/06", "what the node's reload says is canned by the harness"),
    ("auth-errors/04", "the lab knows tokens, and no tickets"),
    ("cluster-tasks/", "lists tasks of steps that were not recorded; tests/lab_replay.rs compares them"),
];

/// What the recording had and the lab is told: before a step, by its scenario and the beginning of its name.
fn facts(lab: &Lab, scenario: &str, step: &str) {
    lab.edit(|world| membership(world, scenario)).unwrap();
    let busy = scenario == "sdn-lock-timeout" && !step.starts_with("03");
    let refused = scenario == "sdn-apply-ifreload-failure" && step < "09";
    lab.edit(|world| {
        world.writing.sdn_busy = busy;
        if let Some(node) = world.node_mut("pve2") {
            node.reload = if refused { Reload::Refused } else { Reload::Right };
        }
        if let Some(guest) = world.guests.get_mut(&2040) {
            guest.deaf = step.starts_with("08-shutdown-timeout");
            guest.start_fails = step.starts_with("14-start-fails");
            if scenario.starts_with("vm-agent") {
                guest.started.get_or_insert(world.booted);
                guest.agent_up = scenario == "vm-agent-up";
                guest.address = Some(([10, 20, 129, 12].into(), 24));
            }
        }
    })
    .unwrap();
    // A node of a fabric that was not recorded with errors has none.
    if scenario == "sdn-apply-ifreload-failure" && step < "03" {
        lab.edit(|world| world.nodes.iter_mut().for_each(|node| node.vnet_errors.clear())).unwrap();
    }
}

/// Recorded numbers of the server → the lab's.
type Names = BTreeMap<String, String>;

/// Puts the lab's numbers in place of recorded ones, plain and percent-encoded.
fn renamed(text: &str, names: &Names) -> String {
    let encoded = |text: &str| text.replace(':', "%3A").replace('@', "%40").replace('!', "%21");
    names.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new).replace(&encoded(old), &encoded(new)))
}

fn walked(value: &Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => json!(change(text)),
        Value::Array(all) => all.iter().map(|value| walked(value, change)).collect(),
        Value::Object(all) => all.iter().map(|(key, value)| (key.clone(), walked(value, change))).collect(),
        other => other.clone(),
    }
}

/// A task without the numbers of its process, and a lock token without its digits: what can be equal of them.
fn form(text: &str) -> String {
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        ["UPID", node, _, _, _, kind, id, user, ..] => format!("UPID:{node}:{kind}:{id}:{user}"),
        _ if text.len() == 36 && text.matches('-').count() == 4 => "a token".to_owned(),
        _ => text.to_owned(),
    }
}

/// When the last apply began.
fn last_apply(lab: &Lab) -> i64 {
    let world = lab.world();
    let upid = world.tasks.iter().rev().find(|task| task.upid.contains(":reloadnetworkall:")).unwrap();
    i64::from_str_radix(upid.upid.split(':').nth(4).unwrap(), 16).unwrap()
}

/// The lab's youngest task of the kind and node of a recorded one that no answer named.
fn learn(lab: &Lab, path: &str, names: &mut Names) {
    let Some(recorded) = path.split('/').find(|part| part.starts_with("UPID")) else { return };
    let recorded = recorded.replace("%3A", ":").replace("%40", "@").replace("%21", "!");
    let like = |upid: &str| form(upid) == form(&recorded);
    if !names.contains_key(&recorded)
        && let Some(task) = lab.world().tasks.iter().rev().find(|task| like(&task.upid))
    {
        names.insert(recorded, task.upid.clone());
    }
}

fn with_body(request: reqwest::RequestBuilder, step: &Value, names: &Names) -> reqwest::RequestBuilder {
    let form = walked(&step["request"]["form"], &|text| renamed(text, names));
    let kind = step["request"]["headers"]["Content-Type"].as_str().unwrap_or_default().to_owned();
    match &form {
        Value::Null => request,
        Value::String(raw) => request.header("Content-Type", kind).body(raw.clone()),
        _ if kind == "application/json" => request.header("Content-Type", kind).body(form.to_string()),
        Value::Object(fields) => {
            let pairs = fields.iter().flat_map(|(key, value)| match value {
                Value::Array(all) => {
                    all.iter().map(|value| (key.clone(), value.as_str().unwrap().to_owned())).collect()
                }
                value => vec![(key.clone(), value.as_str().unwrap().to_owned())],
            });
            let encode = |text: &str| -> String {
                text.bytes()
                    .map(|byte| match byte {
                        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
                        other => format!("%{other:02X}"),
                    })
                    .collect()
            };
            let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", encode(&value))).collect();
            request.header("Content-Type", kind).body(pairs.join("&"))
        }
        _ => request,
    }
}

/// Plays a step and says how the answer differs.
async fn play(lab: &Lab, client: &reqwest::Client, step: &Value, names: &mut Names) -> Vec<String> {
    let (scenario, name) = (step["scenario"].as_str().unwrap(), step["step"].as_str().unwrap());
    facts(lab, scenario, name);
    // A task that was recorded while it ran is asked about before it is carried on.
    if step["response"]["body"]["data"]["status"] != "running" {
        while lab.step() {}
    }
    let recorded_path = step["request"]["path"].as_str().unwrap();
    learn(lab, recorded_path, names);
    let path = renamed(recorded_path, names);
    let mut step = step.clone();
    step["request"]["query"] = walked(&step["request"]["query"], &|text| match text.parse::<i64>() {
        // The recording's clock and the lab's are apart: since the last apply.
        Ok(moment) if moment > 1_700_000_000 => last_apply(lab).to_string(),
        _ => renamed(text, names),
    });
    let mut heard = hear(with_body(request(lab, client, &step, &path), &step, names)).await;
    let recorded = walked(&step["response"], &form);
    if let Ok(body) = serde_json::from_str::<Value>(&heard.body) {
        if let (Some(old), Some(new)) = (step["response"]["body"]["data"].as_str(), body["data"].as_str())
            && form(old) != *old
            && form(old) == form(new)
        {
            names.insert(old.to_owned(), new.to_owned());
        }
        if let (Some(old), Some(new)) =
            (step["response"]["body"]["data"]["digest"].as_str(), body["data"]["digest"].as_str())
        {
            names.insert(old.to_owned(), new.to_owned());
        }
        heard.body = walked(&body, &form).to_string();
    }
    compared(path.trim_start_matches("/api2/json"), &recorded, &heard)
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_changes_are_answered_alike_and_show() {
    let Some(steps) = recordings() else {
        eprintln!("SKIPPED recorded_changes_are_answered_alike_and_show: ../shared is absent");
        return;
    };
    let moment = Arc::new(AtomicI64::new(NOW));
    let clock = Arc::clone(&moment);
    let clock = Arc::new(move || Timestamp::from_second(clock.load(Ordering::SeqCst)).unwrap());
    let (lab, client) = start(Pace::Steps, clock).await;
    let mut names = Names::new();
    let mut equal = BTreeMap::from([(true, 0), (false, 0)]);
    let (mut all, mut unlike) = (equal.clone(), Vec::new());
    for step in &steps {
        moment.fetch_add(20, Ordering::SeqCst);
        let found = play(&lab, &client, step, &mut names).await;
        let change = step["request"]["method"] != "GET";
        let (scenario, name) = (step["scenario"].as_str().unwrap(), step["step"].as_str().unwrap());
        let path = step["request"]["path"].as_str().unwrap();
        let here = format!("{scenario}/{name} {path}");
        *all.get_mut(&change).unwrap() += 1;
        if found.is_empty() {
            *equal.get_mut(&change).unwrap() += 1;
            continue;
        }
        let why = NOT_SERVED.iter().find(|(part, _)| here.contains(part)).map(|(_, why)| (*why).to_owned());
        match why {
            Some(why) => println!("  {here}: {why}"),
            None => unlike.push(format!("{here}: {}", found.join("; "))),
        }
    }
    println!("{} of {} changes and {} of {} reads equal", equal[&true], all[&true], equal[&false], all[&false]);
    assert!(unlike.is_empty(), "answered otherwise, without a reason:\n{}", unlike.join("\n"));
    lab.shutdown().await;
}
