//! TUI-06: the session drops in the middle of something.
//!
//! What changes something goes on from its journal: `provision_network` cuts runs at every step, the console's own tests a
//! session. Here: what only reads leaves nothing behind, and what another session left is read as it is.

use std::{fs, path::Path};

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::proxmox::model::{Change, TaskState};
use deevnet_console::backends::proxmox::{Client, Upid, View, endpoints};
use deevnet_console::site::model::Trust;
use rustix::process::Signal;

use crate::loopback::{Canned, Seen, Server, site, token};
use crate::{Home, demo, leave};

const JOURNAL: &str = include_str!("../data/cases/TUI-06/journal.jsonl");
const TASK: &str = include_str!("../data/cases/TUI-06/task.json");
const VNETS: &str = include_str!("../data/cases/TUI-06/vnets.json");

/// The task that the case's journal holds as sent.
fn sent() -> Upid {
    let lines = JOURNAL.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let upids: Vec<String> = lines.filter_map(|line| Some(line["upid"].as_str()?.to_owned())).collect();
    assert_eq!(upids.len(), 1);
    upids[0].parse().unwrap()
}

#[test]
fn what_reads_leaves_nothing_half_done() {
    for endpoint in endpoints::ALL {
        let ping = endpoint.path.ends_with("/agent/ping");
        assert!(endpoint.method == "GET" || ping, "{} {} needs a journal (TUI-06)", endpoint.method, endpoint.path);
    }
}

#[tokio::test]
async fn what_was_done_is_read_and_nothing_is_sent() {
    let server = Server::start(
        |seen: &Seen| {
            if seen.path.contains("/tasks/") { Canned::json(TASK) } else { Canned::json(VNETS) }
        },
    )
    .await;
    let client = Client::new(&site(&server.origin, Trust::Plaintext), token(), Limits::default()).unwrap();
    assert_eq!(client.task_state(&sent()).await.unwrap(), TaskState::Ok);
    let vnets = client.vnets(View::Pending).await.unwrap();
    let waiting: Vec<_> = vnets.iter().filter(|vnet| vnet.change != Change::None).collect();
    assert!(vnets.len() == 2 && waiting.is_empty(), "both are applied: {vnets:?}");
    let asked = server.take_seen();
    assert!(!asked.is_empty() && asked.iter().all(|seen| seen.method == "GET"), "{asked:?}");
}

/// Every file below a directory.
fn files(dir: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_dir() {
            out.extend(files(&entry.path()));
        } else {
            out.push(entry.path().display().to_string());
        }
    }
    out
}

#[test]
fn a_session_that_drops_leaves_nothing_and_the_next_one_starts_as_ever() {
    let home = Home::new();
    for _ in 0..2 {
        let mut pty = demo(&home, &[]);
        pty.press("gf", "[Members");
        // A reading is on its way, and a line half typed.
        pty.send(b"r:go act");
        pty.signal(Signal::HUP);
        assert_eq!(pty.wait_ended().exit_status(), Some(129));
        pty.assert_nothing_left_behind();
        assert_eq!(files(home.0.path()), Vec::<String>::new());
    }
    leave(demo(&home, &[]));
}
