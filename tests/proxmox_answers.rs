//! Invented answers, one for each refusal and each odd shape, so that a clone without recordings tests the same code.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

mod loopback;

use std::sync::{Arc, Mutex};

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::proxmox::model::{AgentState, Change, TaskState};
use deevnet_console::backends::proxmox::{Client, Error, SubnetsOf, Upid, endpoints};
use deevnet_console::site::model::Trust;
use loopback::{Canned, SECRET, Seen, Server, site, token, variant};
use serde_json::Value;

fn client(server: &Server) -> Client {
    Client::new(&site(&server.origin, Trust::Plaintext), token(), Limits::default()).unwrap()
}

#[tokio::test]
async fn every_invented_refusal_has_its_variant() {
    let all: Vec<Value> = serde_json::from_str(include_str!("data/proxmox/refusals.json")).unwrap();
    let next = Arc::new(Mutex::new(Canned::default()));
    let told = Arc::clone(&next);
    let server = Server::start(move |_: &Seen| told.lock().unwrap().clone()).await;
    let client = client(&server);
    for raw in &all {
        let body = match &raw["body"] {
            Value::String(text) => text.clone().into_bytes(),
            json => json.to_string().into_bytes(),
        };
        *next.lock().unwrap() = Canned {
            status: u16::try_from(raw["status"].as_u64().unwrap()).unwrap(),
            reason: raw["reason"].as_str().unwrap().to_owned(),
            content_type: raw["content_type"].as_str().map(str::to_owned),
            body,
            close: true,
        };
        let error = client.version().await.unwrap_err();
        assert_eq!(
            (variant(&error).as_str(), error.to_string().as_str()),
            (raw["variant"].as_str().unwrap(), raw["says"].as_str().unwrap())
        );
        let shown = format!("{error} {error:?} {}", error.help());
        assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}') && !shown.contains(SECRET), "{shown}");
    }
    assert!(all.len() >= 35, "{}", all.len());
}

/// A server of the stored answers: path and query → answer, or the message of a refusal.
async fn stored() -> Server {
    let all: Value = serde_json::from_str(include_str!("data/proxmox/answers.json")).unwrap();
    Server::start(move |seen: &Seen| {
        let path = seen.path.strip_prefix("/api2/json").unwrap();
        let query = seen.query.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join("&");
        let key = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        match &all[&key] {
            Value::Null => Canned { status: 501, reason: "no".to_owned(), body: b"{}".to_vec(), ..Canned::default() },
            // The stored refusals of a deleted VNet.
            Value::String(message) => Canned {
                status: 500,
                reason: message.clone(),
                close: true,
                ..Canned::json(&serde_json::json!({"data": null, "message": format!("{message}\n")}).to_string())
            },
            answer => Canned::json(&answer.to_string()),
        }
    })
    .await
}

#[tokio::test]
async fn invented_answers_are_decoded() {
    let server = stored().await;
    let client = client(&server);
    whole_sdn_read(&client).await;
    assert_eq!(server.take_seen().len(), 6 + 2, "requests grow by one for each VNet that can have subnets");

    let status = client.node_status("hyp1").await.unwrap();
    assert_eq!((status.uptime_s, status.mem, status.maxmem), (Some(86400), Some(4096), Some(8192)));
    assert_eq!(
        (status.pve_version.as_deref(), status.kernel.as_deref()),
        (Some("pve-manager/9.9.9/abc"), Some("6.99.1-1-pve"))
    );
    let staged = client.staged_network("hyp1").await.unwrap().changes.unwrap();
    assert!(staged.contains("+\taddress 10.20.50.22/24\n"), "{staged}");
    let options = client.vm_pending("hyp1", 2040).await.unwrap();
    let cores = options.iter().find(|o| o.key == "cores").unwrap();
    assert_eq!((cores.value.as_deref(), cores.pending.as_deref()), (Some("2"), Some("4")));
    assert!(options.iter().any(|o| o.key == "balloon" && o.delete));
    let vms = client.resources().await.unwrap().vms;
    assert_eq!((vms[0].vmid, vms[0].template, vms[0].tags.len()), (2040, false, 2));

    // A field that is not understood is not its default.
    let error = client.vms("hyp8").await.unwrap_err();
    assert!(error.to_string().contains("data[0].template: expected a truth value"), "{error}");

    // One row that is not understood is an error that names it, not a shorter list.
    let error = client.vms("hyp9").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "/nodes/{node}/qemu: the answer cannot be understood at data[1].vmid: expected a whole number, found other text"
    );
}

async fn whole_sdn_read(client: &Client) {
    let read = client.sdn(&SubnetsOf::All).await.unwrap();
    let (config, not_read) = (read.config, read.not_read);
    assert_eq!(config.zones_digest.as_deref(), Some("aaaa"));
    let zones: Vec<_> = config.zones.iter().map(|z| (z.current().unwrap().zone.as_str(), z.change)).collect();
    assert_eq!(zones, [("eds", Change::Deleted), ("tdemo", Change::Changed), ("tnew", Change::New)]);
    // `alias` was set to the word "deleted"; the plain list tells.
    let tdemo0 = config.vnets.iter().find(|v| v.current().unwrap().vnet == "tdemo0").unwrap();
    assert_eq!(tdemo0.configured.as_ref().unwrap().alias.as_deref(), Some("deleted"));
    assert_eq!(config.subnets.keys().collect::<Vec<_>>(), ["tdemo0"], "eds0 is deleted, tnew0 could not be read");
    assert!(config.subnets["tdemo0"][0].running.as_ref().unwrap().snat);
    assert_eq!(config.fabrics[0].configured.as_ref().unwrap().id, "tfab");
    assert_eq!(config.fabric_nodes[0].configured.as_ref().unwrap().interfaces, ["vmbr0.51"]);
    let [lost] = not_read.as_slice() else { panic!("{not_read:?}") };
    assert_eq!((lost.what.as_str(), variant(&lost.why).as_str()), ("subnets of tnew0", "Absent"));
}

#[tokio::test]
async fn tasks_end_in_four_ways() {
    let server = stored().await;
    let client = client(&server);
    let upid = |n: u8| format!("UPID:hyp1:0000000{n}:00075FB7:6B0C59C9:qmstart:2040:ops@pve:").parse::<Upid>().unwrap();
    assert_eq!(client.task_state(&upid(1)).await.unwrap(), TaskState::Running);
    assert_eq!(client.task_state(&upid(2)).await.unwrap(), TaskState::Ok);
    assert_eq!(client.task_state(&upid(3)).await.unwrap(), TaskState::Warnings(3));
    assert_eq!(client.task_state(&upid(4)).await.unwrap(), TaskState::Failed("unexpected status".to_owned()));
    // Stopped without an end is not understood, and not taken for success.
    assert!(matches!(client.task_state(&upid(5)).await, Err(Error::Unreadable { .. })));
    let log = client.task_log(&upid(2), 50, 2).await.unwrap();
    assert_eq!((log.total, log.lines[0].number, log.lines[0].text.as_str()), (Some(52), 51, "␛[32mgreen␛[0m"));
}

#[tokio::test]
async fn the_agent_has_four_states() {
    let server = stored().await;
    let client = client(&server);
    for (vmid, state) in [
        (2040, AgentState::Answers),
        (2041, AgentState::VmStopped),
        (2042, AgentState::NotConfigured),
        (2043, AgentState::NotRunning),
    ] {
        assert_eq!(client.agent_state("hyp1", vmid).await.unwrap(), state);
    }
    let nics = client.agent_interfaces("hyp1", 2040).await.unwrap();
    assert_eq!(
        (nics[0].mac.as_deref(), nics[0].addresses.as_slice()),
        (Some("02:de:20:00:07:f8"), &["10.20.129.10/24".to_owned()][..])
    );
    assert!(nics[1].addresses.is_empty());
    let refused = client.agent_interfaces("hyp1", 2041).await.unwrap_err();
    assert_eq!(refused.to_string(), "the guest agent refused: The command has been disabled");
}

#[tokio::test]
async fn privileges_are_unknown_until_read() {
    let server = stored().await;
    let client = client(&server);
    assert_eq!((client.can("/vms/2040", "VM.Audit"), client.sees_all(&endpoints::ZONES)), (None, None));
    client.permissions().await.unwrap();
    assert_eq!(client.can("/vms/2040", "VM.Audit"), Some(true));
    assert_eq!(client.can("/nodes/hyp1", "Sys.Audit"), Some(false), "held at / but not below");
    assert_eq!(client.can("/", "Sys.Audit"), Some(true));
    assert_eq!(client.sees_all(&endpoints::ZONES), Some(true));
    assert_eq!(client.sees_all(&endpoints::CLUSTER_TASKS), Some(false));
}
