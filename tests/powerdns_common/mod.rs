//! A real PowerDNS server on loopback (`tests/tools/dns-fixture.sh`), seeded over its own API.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::powerdns::{Client, Error};
use deevnet_console::site::model::{PowerDnsMode, PowerDnsSite, SecretSource, Trust};
use tempfile::TempDir;
use zeroize::Zeroizing;

/// The canary: it must never be seen outside the X-API-Key header.
pub const KEY: &str = "c4n4ry-a1b2c3d4e5f6";

/// The server; it stops when dropped.
pub struct Pdns {
    dir: TempDir,
    env: BTreeMap<String, String>,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/dns-fixture.sh")
}

fn run(args: &[&str], extra: &str) -> Output {
    Command::new("bash").arg(script()).args(args).env("PDNS_EXTRA", extra).output().unwrap()
}

impl Pdns {
    /// Starts one; `None`, said aloud, where PowerDNS is not installed.
    pub fn up(test: &str) -> Option<Self> {
        Self::started(test, &["--no-resolver"])
    }

    /// Starts one with an Unbound in front of it.
    pub fn with_resolver(test: &str) -> Option<Self> {
        Self::started(test, &[])
    }

    /// Starts one with an Unbound and a signed parent zone whose key Unbound may trust.
    pub fn with_parent(test: &str) -> Option<Self> {
        Self::started(test, &["--parent"])
    }

    fn started(test: &str, more: &[&str]) -> Option<Self> {
        let ready = run(&["ready"], "");
        if !ready.status.success() {
            eprintln!("SKIPPED {test}: {}", String::from_utf8_lossy(&ready.stderr).trim());
            return None;
        }
        let dir = tempfile::Builder::new().prefix("dns").tempdir().unwrap();
        let mut server = Self { dir, env: BTreeMap::new() };
        let data = server.data();
        let args = [["up", "--dir", &data, "--api-key", KEY].as_slice(), more].concat();
        server.call(&args, "");
        server.env = environment(&data);
        Some(server)
    }

    fn data(&self) -> String {
        self.dir.path().join("d").to_string_lossy().into_owned()
    }

    fn call(&self, args: &[&str], extra: &str) {
        let done = run(args, extra);
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    pub fn seed(&self, name: &str, forward: &str, reverse: &str) {
        self.call(&["seed", "--dir", &self.data(), name, forward, reverse], "");
    }

    /// The secret of a key that `seed` made.
    pub fn secret(&self, name: &str) -> String {
        let file = std::fs::read_to_string(Path::new(&self.data()).join(format!("{name}.key"))).unwrap();
        file.split('"').nth(3).unwrap().to_owned()
    }

    pub fn stop(&self) {
        self.call(&["stop", "--dir", &self.data()], "");
    }

    /// Starts the stopped server again, with `extra` lines in its configuration.
    pub fn start(&self, extra: &str) {
        self.call(&["start", "--dir", &self.data()], extra);
    }

    /// Starts an sshd; returns the configuration that names it `tunnel`.
    pub fn ssh_up(&mut self, forwarding: bool) -> PathBuf {
        let data = self.data();
        let mut args = vec!["ssh-up", "--dir", &data];
        if !forwarding {
            args.push("--no-forwarding");
        }
        self.call(&args, "");
        self.env = environment(&data);
        PathBuf::from(&self.env["SSH_CONFIG"])
    }

    pub fn ssh_down(&self) {
        self.call(&["ssh-down", "--dir", &self.data()], "");
    }

    /// Ends the connection of the only tunnel below the server's directory, as a lost link does.
    pub fn cut(&self) {
        let control = std::fs::read_dir(self.directory())
            .unwrap()
            .map(|entry| entry.unwrap().path().join("master"))
            .find(|path| path.exists())
            .unwrap();
        let done = Command::new("ssh").arg("-S").arg(control).args(["-O", "exit", "none"]).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    /// Restarts Unbound, with or without what `flags` names.
    pub fn reload_resolver(&self, flags: &[&str]) {
        let data = self.data();
        self.call(&[["reload-unbound", "--dir", &data].as_slice(), flags].concat(), "");
    }

    /// Restarts Unbound with forwards to this server for these domains alone.
    pub fn forward(&self, domains: &BTreeSet<String>) {
        let zones = domains.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let mut command = Command::new("bash");
        command.arg(script()).args(["reload-unbound", "--dir", &self.data()]);
        let done = command.env("FORWARDS", zones).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Where Unbound answers.
    pub fn resolver(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port("RESOLVER_PORT")))
    }

    pub fn directory(&self) -> &Path {
        self.dir.path()
    }

    /// Runs SQL on the server's database, behind its back.
    pub fn sql(&self, statement: &str) {
        let database = Path::new(&self.data()).join("auth/pdns.sqlite3");
        let done = Command::new("sqlite3").arg(database).arg(statement).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn port(&self, name: &str) -> u16 {
        self.env[name].parse().unwrap()
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port("API_PORT"))
    }

    pub fn site(&self) -> PowerDnsSite {
        site(&self.origin(), PowerDnsMode::Api, SocketAddr::from(([127, 0, 0, 1], self.port("AUTH_PORT"))))
    }

    pub fn client(&self) -> Client {
        client(&self.site(), KEY)
    }

    /// A request of the test's own, changing something; returns status and body.
    pub fn api(&self, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port("API_PORT"))).unwrap();
        let head = format!(
            "{method} /api/v1/servers/localhost{path} HTTP/1.1\r\nHost: pdns\r\nX-API-Key: {KEY}\r\nContent-Length: {}\r\n\
             Accept: application/json\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    /// A native zone with one NS.
    pub fn add_zone(&self, name: &str) {
        let body = format!(
            r#"{{"name":"{name}","kind":"Native","nameservers":["ns1.fixture."],"soa_edit_api":"INCREASE","rrsets":[]}}"#
        );
        let (status, text) = self.api("POST", "/zones?rrsets=false", body.as_bytes());
        assert_eq!(status, 201, "{name}: {text}");
    }

    /// RRsets of `zone` replaced.
    pub fn patch(&self, zone: &str, rrsets: &[u8]) {
        let body = [b"{\"rrsets\":[", rrsets, b"]}"].concat();
        let (status, text) = self.api("PATCH", &format!("/zones/{zone}"), &body);
        assert_eq!(status, 204, "{text}");
    }
}

impl Drop for Pdns {
    fn drop(&mut self) {
        let data = self.data();
        if Path::new(&data).join("env").exists() {
            run(&["down", "--dir", &data], "");
        }
    }
}

/// The names and values that the fixture wrote; none of those used here needs quoting.
fn environment(data: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(Path::new(data).join("env")).unwrap();
    text.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

pub fn site(origin: &str, mode: PowerDnsMode, dns: SocketAddr) -> PowerDnsSite {
    PowerDnsSite {
        mode,
        url: Some(origin.to_owned()),
        trust: Trust::Plaintext,
        api_key: Some(SecretSource::Env("UNUSED".to_owned())),
        tunnel: Some("tunnel".to_owned()),
        dns,
        nameserver: None,
        update_networks: Vec::new(),
    }
}

pub fn client(site: &PowerDnsSite, key: &str) -> Client {
    Client::new(site, Zeroizing::new(key.to_owned()), Limits::default()).unwrap()
}

/// Everything that an error can show, checked for the key and for what steers a terminal.
pub fn shown(error: &Error) -> String {
    let shown = format!("{error} | {error:?} | {}", error.help());
    assert!(!shown.contains(KEY), "{shown}");
    assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{shown:?}");
    shown
}
