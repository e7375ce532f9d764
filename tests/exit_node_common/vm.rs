//! The exit node of `tests/tools/exit-node-vm.sh`, started for a test and stopped after it.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use deevnet_console::backends::exit_node::transport::SshOptions;
use deevnet_console::backends::exit_node::{Client, helper};
use deevnet_console::site::model::{ExitNodeSite, Transport};

/// A running VM; stopped at the end.
pub struct Vm {
    image: PathBuf,
    run: tempfile::TempDir,
    port: u16,
}

impl Vm {
    /// Runs the VM's script with `args`.
    pub fn script(&self, args: &[&str]) -> Output {
        let mut command = script();
        command.env("RUNDIR", self.run.path()).env("SSH_PORT", self.port.to_string());
        command.args(args).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a command in the VM as root.
    pub fn guest(&self, command: &str) -> String {
        self.tried(command, 600).unwrap()
    }

    /// The same; what it said where it failed, or did not end within `seconds`.
    ///
    /// # Errors
    /// When it ended with another status than 0.
    pub fn tried(&self, command: &str, seconds: u32) -> Result<String, String> {
        let mut bounded = Command::new("timeout");
        bounded.args(["-k", "5", &seconds.to_string(), "bash"]).arg(path()).args(["ssh", command]);
        bounded.env("RUNDIR", self.run.path()).env("SSH_PORT", self.port.to_string());
        let output = bounded.stdin(Stdio::null()).output().map_err(|e| format!("timeout: {e}"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(said);
        }
        Err(format!("{command}: {}: {said}{}", output.status, String::from_utf8_lossy(&output.stderr)))
    }

    /// Starts a command in the VM as root, to run beside something else.
    ///
    /// # Errors
    /// When ssh cannot be started.
    pub fn beside(&self, command: &str) -> std::io::Result<std::process::Child> {
        let mut ssh = script();
        ssh.env("RUNDIR", self.run.path()).env("SSH_PORT", self.port.to_string()).args(["ssh", command]);
        ssh.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.run.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A client that logs in as `user`, with `known` for known host keys.
    pub fn client(&self, user: &str, known: &str) -> Client {
        let known = self.write(&format!("known-{}", known.len()), known);
        let config = format!(
            "Host exit-node\n HostName 127.0.0.1\n Port {}\n User {user}\n IdentityFile {}\n IdentitiesOnly yes\n \
             IdentityAgent none\n UserKnownHostsFile {}\n GlobalKnownHostsFile /dev/null\n",
            self.port,
            self.image.join("key").display(),
            known.display()
        );
        let config = self.write(&format!("config-{user}"), &config);
        let options = SshOptions { config: Some(config), control_directory: Some(self.run.path().to_owned()) };
        Client::with_ssh_options(&site(Transport::Ssh("exit-node".to_owned())), options)
    }

    /// The known-hosts line of this VM with that key of the image.
    pub fn known_hosts(&self, key: &str) -> String {
        format!("[127.0.0.1]:{} {}", self.port, fs::read_to_string(self.image.join(key)).unwrap())
    }

    /// A client that logs in as `user` and trusts the VM.
    pub fn login(&self, user: &str) -> Client {
        self.client(user, &self.known_hosts("hostkey.pub"))
    }

    /// Installs `script` as the helper.
    pub fn install(&self, script: &str) {
        let text = self.write("helper", script);
        let command =
            format!("install -m 755 -o root -g root /dev/stdin {0}.new && mv {0}.new {0}", helper::INSTALL_PATH);
        let mut ssh = self_ssh(self);
        let status = ssh.arg(command).stdin(fs::File::open(text).unwrap()).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        self.script(&["stop"]);
    }
}

fn self_ssh(vm: &Vm) -> Command {
    let mut command = script();
    command.env("RUNDIR", vm.run.path()).env("SSH_PORT", vm.port.to_string()).arg("ssh");
    command
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/exit-node-vm.sh")
}

fn script() -> Command {
    let mut command = Command::new("bash");
    command.arg(path());
    command
}

fn site(transport: Transport) -> ExitNodeSite {
    ExitNodeSite {
        name: "hv02".to_owned(),
        transport,
        transit_interface: "vmbr0.50".to_owned(),
        transit_address: "10.20.50.22".parse().unwrap(),
        transit_gateway: "10.20.50.1".parse().unwrap(),
        egress_apply: None,
        egress_install: false,
    }
}

/// The VM, up and converged; or why not. `who` is named in what is told.
pub fn boot(who: &str) -> Result<Vm, String> {
    let ready = script().arg("ready").output().map_err(|e| format!("bash: {e}"))?;
    let said = String::from_utf8_lossy(&ready.stdout).trim().to_owned();
    if !ready.status.success() {
        return Err(said);
    }
    let place = script().arg("where").output().map_err(|e| e.to_string())?;
    let image = PathBuf::from(String::from_utf8_lossy(&place.stdout).trim());
    let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).map_err(|e| e.to_string())?.port();
    let run = tempfile::Builder::new().prefix("dvm").tempdir().map_err(|e| e.to_string())?;
    let vm = Vm { image, run, port };
    let up = vm.script(&["up"]);
    let said = String::from_utf8_lossy(&up.stderr).trim().to_owned();
    assert!(up.status.success(), "the VM did not start: {said}{}", String::from_utf8_lossy(&up.stdout));
    eprintln!("{who}: {}", said.lines().last().unwrap_or_default());
    Ok(vm)
}
