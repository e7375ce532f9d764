//! A lab whose Proxmox API is written to, and a plain client of it.

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, which should stop")]

use deevnet_console::lab::node::{self, Run};
use deevnet_console::lab::{Lab, Pace};
use deevnet_console::site::Site as SiteFile;
use serde_json::Value;

use super::change_common::{Hand, Options};

/// The node that carries tenants.
pub const NODE: &str = "/nodes/dv02hyp002p02";

/// Status and body of an answer; no status where none came.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    pub fn data(&self) -> &Value {
        assert_eq!(self.status, 200, "{}", self.body);
        &self.body["data"]
    }

    /// Status and message without the end of its line.
    pub fn refusal(&self) -> (u16, &str) {
        (self.status, self.body["message"].as_str().unwrap_or_default().trim_end())
    }
}

/// A lab and a client with one of its tokens.
pub struct Site {
    pub lab: Lab,
    pub hand: Hand,
    http: reqwest::Client,
    token: String,
}

/// Starts a lab of so many tenants; `None` = the default site.
pub async fn site(tenants: Option<u32>, pace: Pace) -> Site {
    let (lab, hand) = Options { tenants, pace, ..Options::tenants(0) }.lab().await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ca = reqwest::Certificate::from_pem(lab.ca_pem().as_bytes()).unwrap();
    let http = reqwest::Client::builder().tls_certs_only([ca]).build().unwrap();
    let mut site = Site { lab, hand, http, token: String::new() };
    site.login("proxmox-writer-token");
    site
}

impl Site {
    /// Uses the token in a file of the lab.
    pub fn login(&mut self, file: &str) {
        self.token = std::fs::read_to_string(self.lab.dir().join(file)).unwrap().trim().to_owned();
    }

    /// Sends a request with parameters; `None` when no answer comes.
    pub async fn try_send(&self, method: &str, path: &str, parameters: &[(&str, &str)]) -> Option<Answer> {
        let encode = |text: &str| -> String {
            text.bytes()
                .map(|byte| match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
                    other => format!("%{other:02X}"),
                })
                .collect()
        };
        let pairs: Vec<String> = parameters.iter().map(|(key, value)| format!("{key}={}", encode(value))).collect();
        let in_query = matches!(method, "GET" | "DELETE") && !pairs.is_empty();
        let query = if in_query { format!("?{}", pairs.join("&")) } else { String::new() };
        let url = format!("{}/api2/json{path}{query}", self.lab.proxmox_url());
        let mut request = self.http.request(method.parse().unwrap(), url);
        request = request.header("Authorization", format!("PVEAPIToken={}", self.token));
        if !in_query && !pairs.is_empty() {
            request = request.header("Content-Type", "application/x-www-form-urlencoded").body(pairs.join("&"));
        }
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        let text = answer.text().await.ok()?;
        Some(Answer { status, body: serde_json::from_str(&text).unwrap_or(Value::Null) })
    }

    pub async fn send(&self, method: &str, path: &str, parameters: &[(&str, &str)]) -> Answer {
        self.try_send(method, path, parameters).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Value {
        self.send("GET", path, &[]).await.data().clone()
    }

    /// How a task ended, by the answer that began it; `running` while it runs.
    pub async fn end(&self, begun: &Answer) -> String {
        let upid = begun.data().as_str().unwrap();
        let node = upid.split(':').nth(1).unwrap();
        let status = self.get(&format!("/nodes/{node}/tasks/{upid}/status")).await;
        status["exitstatus"].as_str().unwrap_or("running").to_owned()
    }

    /// The lines of a task's log.
    pub async fn log(&self, begun: &Answer) -> String {
        let upid = begun.data().as_str().unwrap();
        let node = upid.split(':').nth(1).unwrap();
        let rows = self.get(&format!("/nodes/{node}/tasks/{upid}/log?limit=0")).await;
        rows.as_array().unwrap().iter().map(|row| format!("{}\n", row["t"].as_str().unwrap())).collect()
    }

    /// What a program prints on the exit node; what `vtysh` is asked is one word.
    pub fn on_node(&self, command: &str) -> String {
        let argv = match command.strip_prefix("vtysh -c ") {
            Some(asked) => vec!["vtysh".to_owned(), "-c".to_owned(), asked.to_owned()],
            None => command.split(' ').map(str::to_owned).collect(),
        };
        let now = self.hand.now() / 1000;
        let output = node::run(&self.lab.world(), now, &Run { argv, input: String::new() });
        format!("{}{}", output.stdout, output.stderr)
    }

    /// Puts a `frr.conf.local` in place by the site's own command.
    pub fn way_out(&self, file: &str) {
        let text = self.lab.site_toml();
        let site = SiteFile::parse(&text, &self.lab.dir().join("site.toml")).unwrap();
        let command = site.exit_nodes[0].egress_apply.clone().unwrap();
        let mut child = std::process::Command::new(&command[0])
            .args(&command[1..])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), file.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// Puts a tenant on the fabric, without applying it.
    pub async fn tenant(&self, name: &str, index: u32) {
        let (vni, tag, third) = (10_000 + index, 20_000 + 10 * index, 128 + index);
        let node = "dv02hyp002p02";
        let zone = [
            ("zone", name),
            ("type", "evpn"),
            ("controller", "evpn1"),
            ("vrf-vxlan", &vni.to_string()),
            ("nodes", node),
            ("exitnodes", node),
            ("exitnodes-primary", node),
        ];
        self.send("POST", "/cluster/sdn/zones", &zone).await.data();
        let vnet = format!("{name}0");
        let fields = [("vnet", vnet.as_str()), ("zone", name), ("tag", &tag.to_string())];
        self.send("POST", "/cluster/sdn/vnets", &fields).await.data();
        let (cidr, gateway) = (format!("10.20.{third}.0/24"), format!("10.20.{third}.1"));
        let fields = [("type", "subnet"), ("subnet", cidr.as_str()), ("gateway", &gateway), ("snat", "1")];
        self.send("POST", &format!("/cluster/sdn/vnets/{vnet}/subnets"), &fields).await.data();
    }
}
