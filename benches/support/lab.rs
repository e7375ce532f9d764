//! A lab of 62 tenants with 40 workloads each in a process of its own, and a site file that leads to it past counters.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use toml::{Table, Value};

use crate::CONSOLE;

/// Ended by its pid when dropped.
pub struct Lab {
    child: Child,
    dir: TempDir,
    site: Table,
}

impl Lab {
    pub fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lab.toml");
        let mut child = Command::new(CONSOLE)
            .args(["lab", "--tenants", "62", "--workloads", "40", "--site-out"])
            .arg(&path)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.map_while(Result::ok).any(|line| line.contains("ctrl-c")), "the lab did not start");
        let site = fs::read_to_string(&path).unwrap().parse().unwrap();
        Self { child, dir, site }
    }

    pub fn url(&self) -> String {
        self.site["proxmox"]["url"].as_str().unwrap().to_owned()
    }

    pub fn ca(&self) -> PathBuf {
        self.site["proxmox"]["ca_file"].as_str().unwrap().into()
    }

    /// Where its names are asked for, as the lab gave it: `powerdns.dns` or `resolvers.ask`.
    pub fn address(&self, section: &str, key: &str) -> SocketAddr {
        self.site[section][key].as_str().unwrap().parse().unwrap()
    }

    /// The same site with names asked for elsewhere.
    pub fn ask(&mut self, section: &str, key: &str, address: SocketAddr) {
        self.site[section].as_table_mut().unwrap().insert(key.into(), Value::String(address.to_string()));
    }

    /// A site file that reads Proxmox at `url`, and the exit node through a command that counts its calls.
    pub fn site(&self, name: &str, url: &str) -> (String, PathBuf) {
        let mut site = self.site.clone();
        let calls = self.dir.path().join(format!("{name}.calls"));
        let counter = self.dir.path().join(format!("{name}.sh"));
        fs::write(&counter, format!("#!/bin/sh\necho >> '{}'\nexec \"$@\"\n", calls.display())).unwrap();
        fs::set_permissions(&counter, fs::Permissions::from_mode(0o700)).unwrap();
        let proxmox = site["proxmox"].as_table_mut().unwrap();
        proxmox.insert("url".into(), Value::String(url.to_owned()));
        if url.starts_with("http:") {
            proxmox.remove("ca_file");
        }
        let command = site["exit_node"][0]["transport"]["command"].as_array_mut().unwrap();
        command.insert(0, Value::String(counter.display().to_string()));
        let path = self.dir.path().join(format!("{name}.toml"));
        fs::write(&path, site.to_string()).unwrap();
        (path.display().to_string(), calls)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}
