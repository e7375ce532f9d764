//! Every request that writes: as Proxmox's own API description has it, whatever is asked for, and as it was recorded of a
//! real Proxmox.

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
#[path = "proxmox_writes/recorded.rs"]
mod recorded;
#[path = "proxmox_common/schema.rs"]
mod schema;
#[path = "proxmox_writes/valid.rs"]
mod valid;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deevnet_console::backends::http::{Limits, Outcome, Recorder};
use deevnet_console::backends::permit::Permit;
use deevnet_console::backends::proxmox::names::LockToken;
use deevnet_console::backends::proxmox::{Client, Error, Lock, Pace, TaskEnd, TaskStep, Waiting};
use deevnet_console::site::model::Trust;
use deevnet_console::site::secret::Secret;
use loopback::{Canned, Seen, Server, read_request, site, token};
use tokio::io::BufReader;
use tokio::net::TcpListener;

const UPID: &str = "UPID:hyp1:0000093E:00075FB7:6B0C59C9:qmclone:2040:ops@pve!full:";

fn permit() -> Permit {
    Permit::grant("plan-1")
}

fn parsed<T: std::str::FromStr<Err = Error>>(text: &str) -> T {
    text.parse().unwrap()
}

fn lock_token() -> LockToken {
    parsed("01a2283f-2dc7-7b5f-9c0a-e4225efe1620")
}

/// A server that gives these answers one after the other, and its client.
async fn answering(answers: impl IntoIterator<Item = Canned>) -> (Server, Client) {
    let queue = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
    let server = Server::start(move |_: &Seen| queue.lock().unwrap().pop_front().unwrap()).await;
    let client = Client::new(&site(&server.origin, Trust::Plaintext), token(), Limits::default()).unwrap();
    (server, client)
}

/// The form in a body.
fn form(seen: &Seen) -> BTreeMap<String, String> {
    let text = String::from_utf8(seen.body.clone()).unwrap();
    let url = reqwest::Url::parse(&format!("http://h/?{text}")).unwrap();
    let pairs: Vec<_> = url.query_pairs().map(|(k, v)| (k.into_owned(), v.into_owned())).collect();
    let map: BTreeMap<_, _> = pairs.iter().cloned().collect();
    assert_eq!(map.len(), pairs.len(), "a parameter comes twice: {text}");
    map
}

#[tokio::test]
async fn a_write_is_sent_once_and_what_became_of_it_is_unknown() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::new(&site(&origin, Trust::Plaintext), token(), Limits::default()).unwrap();
    let rude = async {
        let (socket, _) = listener.accept().await.unwrap();
        read_request(&mut BufReader::new(socket)).await.unwrap().unwrap()
    };
    let (permit, token) = (permit(), lock_token());
    let (sent, seen) = tokio::join!(client.sdn_apply(&permit, &token, Lock::Release), rude);
    assert_eq!((seen.method.as_str(), sent.unwrap_err().outcome()), ("PUT", Outcome::Unknown));
    assert_eq!(client.requests().total, 1);
    drop(listener);
    let gone = client.sdn_unlock_by_force(&permit).await.unwrap_err();
    assert_eq!(gone.outcome(), Outcome::NotSent, "{gone:?}");
}

#[tokio::test]
async fn what_an_answer_leaves_open_is_unknown() {
    let answer = |status: u16, body: &str| Canned { status, reason: "x".to_owned(), ..Canned::json(body) };
    let refusal = r#"{"data":null,"message":"VM is locked (clone)\n"}"#;
    let cases = [
        (answer(500, refusal), Outcome::Answered),
        (answer(595, ""), Outcome::Answered),
        (answer(596, ""), Outcome::Unknown),
        (answer(502, "<html>"), Outcome::Unknown),
        (answer(404, "<html>"), Outcome::Answered),
        // It was done, and the id of the task cannot be read.
        (answer(200, r#"{"data":"UPID:odd"}"#), Outcome::Unknown),
        (answer(200, "<html>"), Outcome::Unknown),
    ];
    let (_server, client) = answering(cases.iter().map(|(answer, _)| answer.clone())).await;
    for (answer, outcome) in &cases {
        let error = client.vm_start(&permit(), &parsed("hyp1"), 2040.try_into().unwrap()).await.unwrap_err();
        assert_eq!(error.outcome(), *outcome, "{} {error:?}", answer.status);
    }
}

#[tokio::test]
async fn no_recorder_hears_of_what_is_written_or_of_a_pointer() {
    let config = r#"{"data":{"smbios1":"uuid=7d9f3c1e-2b4a-4c5d-8e6f-204020402040,family=YWJj,base64=1","digest":"2f5ffd951a2c6c55d3d6ff5b02949c10960f750a"}}"#;
    let token = r#"{"data":"01a2283f-2dc7-7b5f-9c0a-e4225efe1620"}"#;
    let (server, client) = answering([config, r#"{"data":null}"#, token].map(Canned::json)).await;
    let heard = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&heard);
    let client = client.recorded(Recorder::new(move |_| *counter.lock().unwrap() += 1));
    let pointer = Secret::new("dvb1;u=https://10.20.25.20:8443;n=tdemo/app;t=dbt1.C4N4RY".to_owned());
    let (node, vmid) = (parsed("hyp1"), 2040.try_into().unwrap());
    client.vm_write_serial(&permit(), &node, vmid, Some(&pointer)).await.unwrap();
    assert_eq!(client.sdn_lock(&permit(), Waiting::Refuse).await.unwrap(), lock_token());
    assert_eq!(*heard.lock().unwrap(), 0);
    let seen = server.take_seen();
    let written = form(&seen[1]);
    assert_eq!(written["digest"], "2f5ffd951a2c6c55d3d6ff5b02949c10960f750a", "guarded by what was read");
    let smbios = &written["smbios1"];
    assert!(smbios.starts_with("uuid=7d9f3c1e-2b4a-4c5d-8e6f-204020402040,family=YWJj,serial="), "{smbios}");
}

#[tokio::test]
async fn a_task_is_waited_for_no_longer_than_asked() {
    let running = || Canned::json(r#"{"data":{"status":"running"}}"#);
    let away = Canned { status: 595, reason: "Connection refused".to_owned(), close: true, ..Canned::default() };
    let ended = Canned::json(r#"{"data":{"status":"stopped","exitstatus":"VM is locked (clone)"}}"#);
    let upid = UPID.parse().unwrap();
    let second = Duration::from_secs(1);
    let pace = Pace { first: second, longest: 2 * second, total: 5 * second };

    let (server, client) = answering([running(), away, running(), ended]).await;
    let mut paused = Vec::new();
    let note = |length| {
        paused.push(length);
        std::future::ready(())
    };
    let step = client.task_wait(&upid, pace, note).await.unwrap();
    assert!(
        matches!(&step, TaskStep::Ended(TaskEnd::Failed { kind: Some(Error::VmLocked { lock }), .. }) if lock == "clone"),
        "{step:?}"
    );
    assert_eq!((paused, server.take_seen().len()), (vec![second, 2 * second, 2 * second], 4));

    let (server, client) = answering((0..4).map(|_| running())).await;
    let step = client.task_wait(&upid, pace, |_| std::future::ready(())).await.unwrap();
    assert_eq!((step, server.take_seen().len()), (TaskStep::Running, 4));

    let denied = Canned { status: 403, ..Canned::json(r#"{"data":null,"message":"Permission check failed\n"}"#) };
    let (server, client) = answering([denied]).await;
    assert!(client.task_wait(&upid, pace, |_| std::future::ready(())).await.is_err());
    assert_eq!(server.take_seen().len(), 1, "no later look mends that");
}
