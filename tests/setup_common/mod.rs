//! A whole lab in this process, this host's resolver, and the program run against them.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use deevnet_console::lab::perimeter::Release;
use deevnet_console::lab::{Lab, LabOptions, Pace};
use serde_json::Value;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// A run of the program.
#[derive(Debug)]
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl Ran {
    /// The document on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Everything that was printed.
    pub fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

/// The program with nothing of this environment that would change what it prints.
pub fn program(home: &Path) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
    for key in ["LC_CTYPE", "NO_COLOR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DEEVNET_LOG"] {
        command.env_remove(key);
    }
    command.env("HOME", home).env("LC_ALL", "C.UTF-8").env("COLUMNS", "160").stdin(Stdio::null()).kill_on_drop(true);
    command
}

pub async fn run(mut command: tokio::process::Command) -> Ran {
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { out: text(output.stdout), err: text(output.stderr), code: output.status.code() }
}

/// A lab with all its parts, its site file, and a resolver for this host.
pub struct Whole {
    pub lab: Lab,
    pub dir: tempfile::TempDir,
    resolver: Option<JoinHandle<()>>,
    resolv_conf: PathBuf,
}

impl Whole {
    /// `address` is one of loopback that no other test uses.
    pub async fn start(address: &str, faults: &[&str]) -> Self {
        let options = LabOptions {
            tenants: None,
            workloads: None,
            faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
            seed: 7,
            clock: deevnet_console::runtime::clock::system(),
            program: PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console")),
            second_half: true,
            release: Release::default(),
            writable: false,
            pace: Pace::Clock,
            dir: None,
        };
        let lab = Lab::start(options).await.unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("site.toml"), lab.site_toml()).unwrap();
        let resolv_conf = dir.path().join("resolv.conf");
        std::fs::write(&resolv_conf, format!("nameserver {address}\noptions timeout:1 attempts:1\n")).unwrap();
        enter_vrfs(&lab);
        let resolver = relay(address, lab.resolver().unwrap()).await;
        Self { lab, dir, resolver, resolv_conf }
    }

    /// Whether all parts can be played here; without them a check or two stay unknown.
    pub fn is_complete(&self, test: &str) -> bool {
        let dig = Path::new("/usr/bin/dig").exists();
        if !dig {
            eprintln!("SKIPPED part of {test}: /usr/bin/dig is not installed");
        }
        self.resolver.is_some() && dig
    }

    pub fn site(&self) -> PathBuf {
        self.dir.path().join("site.toml")
    }

    /// Changes the text of the site file.
    pub fn edit(&self, change: impl FnOnce(String) -> String) {
        let text = std::fs::read_to_string(self.site()).unwrap();
        std::fs::write(self.site(), change(text)).unwrap();
    }

    pub async fn check(&self, more: &[&str]) -> Ran {
        let mut command = program(self.dir.path());
        command
            .arg("--site")
            .arg(self.site())
            .args(["site", "check", "--resolv-conf"])
            .arg(&self.resolv_conf)
            .args(more);
        run(command).await
    }

    pub fn resolv_conf(&self) -> &Path {
        &self.resolv_conf
    }

    /// Every secret of the lab.
    pub fn secrets(&self) -> Vec<String> {
        let names = ["proxmox-token", "powerdns-key", "opnsense-key", "opnsense-secret", "bootstrap-credential"];
        let read = |name| std::fs::read_to_string(self.lab.dir().join(name)).unwrap().trim().to_owned();
        names.map(read).map(|text| text.split_once('=').map_or(text.clone(), |(_, secret)| secret.to_owned())).to_vec()
    }

    /// Fails when anything printed holds a secret.
    #[track_caller]
    pub fn assert_silent(&self, ran: &Ran) {
        for secret in self.secrets() {
            assert!(!ran.all().contains(&secret), "a secret was printed: {}", ran.all());
        }
    }

    pub async fn stop(self) {
        if let Some(resolver) = self.resolver {
            resolver.abort();
        }
        self.lab.shutdown().await;
    }
}

/// Lets the lab's node enter a VRF: `dig` runs where it is, and asks the lab's resolver.
fn enter_vrfs(lab: &Lab) {
    let bin = lab.dir().join("bin");
    std::fs::rename(bin.join("ip"), bin.join("ip-lab")).unwrap();
    let ip =
        "#!/bin/sh\nif [ \"$1 $2\" = 'vrf exec' ]; then shift 3; exec \"$@\"; fi\nexec \"${0%/*}/ip-lab\" \"$@\"\n";
    let port = lab.resolver().unwrap().port();
    let dig = format!(
        "#!/bin/sh\nfor word; do shift; [ \"$word\" = @10.20.50.1 ] && word='@127.0.0.1'; set -- \"$@\" \"$word\"; done\nexec /usr/bin/dig -p {port} \"$@\"\n"
    );
    for (name, text) in [("ip", ip), ("dig", &dig)] {
        std::fs::write(bin.join(name), text).unwrap();
        std::fs::set_permissions(bin.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
}

/// Sends what comes to `address`:53 on to `server`; `None` where that port may not be opened.
async fn relay(address: &str, server: std::net::SocketAddr) -> Option<JoinHandle<()>> {
    let Ok(socket) = UdpSocket::bind((address, 53)).await else {
        eprintln!("SKIPPED this host's resolver: {address}:53 may not be opened here");
        return None;
    };
    Some(tokio::spawn(async move {
        let mut buffer = vec![0; 4096];
        while let Ok((len, from)) = socket.recv_from(&mut buffer).await {
            let Ok(onward) = UdpSocket::bind("127.0.0.1:0").await else { return };
            let _ = onward.send_to(&buffer[..len], server).await;
            let Ok((len, _)) = onward.recv_from(&mut buffer).await else { return };
            let _ = socket.send_to(&buffer[..len], from).await;
        }
    }))
}

/// The checks of a source with that name.
#[track_caller]
pub fn checks<'v>(document: &'v Value, source: &str, what: &str) -> Vec<&'v Value> {
    let sources = document["sources"].as_array().unwrap();
    let found = sources.iter().find(|s| s["name"] == source).unwrap_or_else(|| panic!("no {source} in {document:#}"));
    found["checks"].as_array().unwrap().iter().filter(|check| check["check"] == what).collect()
}

/// The one check of that name.
#[track_caller]
pub fn only<'v>(document: &'v Value, source: &str, what: &str) -> &'v Value {
    match checks(document, source, what)[..] {
        [one] => one,
        ref many => panic!("{} checks {source}/{what} in {document:#}", many.len()),
    }
}
