//! One captured state of an exit node, put into the helper's frame.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use deevnet_console::backends::exit_node::helper;
use serde_json::{Value, json};

/// Captures of the lookups, in the order in which they are asked.
const LOOKUPS: [&str; 7] =
    ["guest-iif", "return", "tdemo-to-eds", "eds-to-tdemo", "guest-to-mgmt", "eds-guest-iif", "main-8.8.8.8"];

/// A state: one directory of captured outputs.
pub struct State {
    /// Directory.
    pub dir: PathBuf,
}

impl State {
    /// Text of a file, where it was captured.
    pub fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.dir.join(name)).ok()
    }

    fn json(&self, name: &str) -> Value {
        let text = self.file(name).unwrap_or_else(|| panic!("{}/{name}", self.dir.display()));
        serde_json::from_str(&text).unwrap()
    }

    /// `ip -d -s addr` prints in one what was captured in three.
    fn links(&self) -> Value {
        let mut links = self.json("ip-link.json");
        for (source, key) in [("ip-link-stats.json", "stats64"), ("ip-addr.json", "addr_info")] {
            let more = self.json(source);
            for link in links.as_array_mut().unwrap() {
                let same = more.as_array().unwrap().iter().find(|other| other["ifname"] == link["ifname"]).unwrap();
                link[key] = same[key].clone();
            }
        }
        links
    }

    /// `route show table all` likewise.
    fn routes(&self) -> Value {
        let mut all = self.json("ip-route-main.json").as_array().unwrap().clone();
        for vrf in ["vrf_tdemo", "vrf_eds"] {
            for mut route in self.json(&format!("ip-route-{}.json", vrf.replace('_', "-"))).as_array().unwrap().clone()
            {
                route["table"] = json!(vrf);
                all.push(route);
            }
        }
        Value::Array(all)
    }

    fn ip(&self) -> (String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        for document in [self.links(), self.json("ip-rule.json"), self.routes(), self.json("ip-neigh.json")] {
            writeln!(out, "{document}").unwrap();
        }
        for (index, name) in LOOKUPS.iter().enumerate() {
            out += &self.file(&format!("route-get-{name}.json")).unwrap();
            if let Some(words) = self.file(&format!("route-get-{name}.stderr.txt")) {
                writeln!(err, "{words}Command failed /tmp/batch:{}", index + 5).unwrap();
            }
        }
        (out, err)
    }

    fn proc(&self) -> String {
        let mut text = self.file("proc-forwarding.txt").unwrap() + &self.file("proc-rp_filter.txt").unwrap();
        for line in self.file("sysctl-conntrack.txt").unwrap().lines() {
            let (name, value) = line.split_once(" = ").unwrap();
            writeln!(text, "/proc/sys/{}:{value}", name.replace('.', "/")).unwrap();
        }
        for line in self.file("proc-stat-nf_conntrack.txt").unwrap_or_default().lines() {
            writeln!(text, "/proc/net/stat/nf_conntrack:{line}").unwrap();
        }
        text
    }

    /// The frame that the helper would have sent.
    pub fn frame(&self) -> Vec<u8> {
        let active = self.file("systemctl-frr.txt").unwrap();
        let (ip_out, ip_err) = self.ip();
        let file = |name: &str| match self.file(name) {
            Some(text) => ("0", text, String::new()),
            None => ("missing", String::new(), "not captured".to_owned()),
        };
        let vtysh = match (self.file("vtysh-version.txt"), active.trim()) {
            (Some(text), "active") => ("0", text, String::new()),
            (Some(text), _) => ("1", text, self.file("vtysh-version.stderr.txt").unwrap()),
            (None, _) => ("missing", String::new(), "not captured".to_owned()),
        };
        let nft = (
            "0",
            self.file("iptables-save-all.txt").unwrap(),
            self.file("iptables-save-all.stderr.txt").unwrap_or_default(),
        );
        let parts = [
            ("meta", ("0", "began 1795977991.353751891\nuser root\neuid 0\nsudo 0\n".to_owned(), String::new())),
            ("ip", (if ip_err.is_empty() { "0" } else { "1" }, ip_out, ip_err)),
            ("tables", ("0", "254 main\n1001 vrf_tdemo\n1002 vrf_eds\n".to_owned(), String::new())),
            ("proc", ("2", self.proc(), String::new())),
            ("unit", (if active.trim() == "active" { "0" } else { "3" }, active.clone(), String::new())),
            ("vtysh", vtysh),
            ("frr-conf", file("frr-conf.txt")),
            ("frr-local", file("frr-conf-local.txt")),
            ("nft", nft),
            ("legacy", file("iptables-legacy-save.txt")),
            ("sdn", file("interfaces-sdn.txt")),
        ];
        let mut head = format!("%deevnet-exit-node 1 {}\n", helper::VERSION);
        let mut body = String::new();
        for (name, (code, out, err)) in &parts {
            writeln!(head, "{name} {code} {} {}", out.len(), err.len()).unwrap();
            body += out;
            body += err;
        }
        format!("{head}\n{body}%end\n").into_bytes()
    }
}
