//! A router on loopback: a table of answers by method and path, and a client of it.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test: a panic is its verdict"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::opnsense::{Client, Pace};
use deevnet_console::site::model::{OpnsenseSite, SecretSource, Trust};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::loopback::{Canned, Seen, Server};

/// The canaries: they must never be seen outside the Authorization header.
pub const KEY: &str = "c4n4ryKEYw5Kb8kPz";
pub const SECRET: &str = "c4n4rySECRETq7+/m";

/// No waiting: what is tested is not the pace.
pub const AT_ONCE: Pace = Pace { requests: Duration::ZERO, polls: Duration::ZERO };

pub fn site(origin: &str) -> OpnsenseSite {
    OpnsenseSite {
        url: origin.to_owned(),
        key: SecretSource::Env("UNUSED".to_owned()),
        secret: SecretSource::Env("UNUSED".to_owned()),
        trust: Trust::Plaintext,
        transit: "10.20.50.0/24".parse().unwrap(),
    }
}

pub fn client_at(origin: &str, limits: Limits, pace: Pace) -> Client {
    let (key, secret) = (Zeroizing::new(KEY.to_owned()), Zeroizing::new(SECRET.to_owned()));
    Client::new(&site(origin), &key, &secret, limits, pace).unwrap()
}

/// An answer of the API with `status`; a text is sent as it is, anything else as JSON.
pub fn canned(status: u16, content_type: &str, body: &Value) -> Canned {
    let body = match body {
        Value::String(text) => text.clone().into_bytes(),
        json => json.to_string().into_bytes(),
    };
    // The test server writes the media type as it stands: a redirect's target can travel with it.
    let content_type = match status {
        302 => format!("{content_type}\r\nLocation: /?url=/api/core/system/status"),
        _ => content_type.to_owned(),
    };
    Canned { status, reason: "As Said".to_owned(), content_type: Some(content_type), body, close: status >= 400 }
}

pub fn json(body: &Value) -> Canned {
    canned(200, "application/json; charset=UTF-8", body)
}

/// A router that knows these answers, `METHOD path` → answer; everything else is 404 as OPNsense says it.
pub struct Router {
    pub server: Server,
    answers: Arc<Mutex<HashMap<String, Canned>>>,
}

impl Router {
    pub async fn start(answers: HashMap<String, Canned>) -> Self {
        let answers = Arc::new(Mutex::new(answers));
        let table = Arc::clone(&answers);
        let server = Server::start(move |seen: &Seen| {
            let key = format!("{} {}", seen.method, seen.path.strip_prefix("/api/").unwrap_or(&seen.path));
            let missing = serde_json::json!({"errorMessage": "Endpoint not found"});
            let found = table.lock().unwrap().get(&key).cloned();
            found.unwrap_or_else(|| canned(404, "application/json; charset=UTF-8", &missing))
        })
        .await;
        Self { server, answers }
    }

    /// Answers from a JSON map `METHOD path` → body.
    pub async fn of(map: &Value) -> Self {
        Self::start(map.as_object().unwrap().iter().map(|(k, body)| (k.clone(), json(body))).collect()).await
    }

    /// Replaces one answer.
    pub fn set(&self, key: &str, answer: Canned) {
        self.answers.lock().unwrap().insert(key.to_owned(), answer);
    }

    pub fn client(&self) -> Client {
        client_at(&self.server.origin, Limits::default(), AT_ONCE)
    }
}

/// Calls every reading method of the client in every form it has.
pub async fn everything(client: &Client) {
    let _ = client.release().await;
    let _ = client.uptime().await;
    let _ = client.system_status().await;
    let _ = client.interfaces().await;
    let _ = client.rules().await;
    let _ = client.rule("6d1f0a52-3f1e-4c6e-9a55-0d4a4f0c1b01").await;
    let _ = client.fresh_rule_stats().await;
    let _ = client.pf_rules().await;
    let _ = client.states_of("10.20.50.22".parse().unwrap(), 50).await;
    let _ = client.state_table().await;
    let _ = client.source_nat().await;
    let _ = client.aliases().await;
    let _ = client.table_names().await;
    let _ = client.table("deevnet_private").await;
    let _ = client.static_routes().await;
    let _ = client.kernel_routes().await;
    let _ = client.gateways().await;
    let _ = client.gateway_health().await;
    let _ = client.forwards().await;
    let _ = client.resolver_settings().await;
    let _ = client.resolver_state().await;
    let _ = client.insecure_domains().await;
    let _ = client.access_lists().await;
    let _ = client.local_zones().await;
    let _ = client.arp().await;
    let _ = client.filter_log(50).await;
}

/// `../shared/contracts`, or `None` after saying so loudly.
pub fn contracts(test: &str) -> Option<std::path::PathBuf> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts");
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED {test}: ../shared is absent");
    None
}
