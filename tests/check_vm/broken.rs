//! The reading itself is broken: what was not read is unknown, never passed and never a fault.

use std::process::Child;
use std::time::Duration;

use deevnet_console::backends::exit_node::helper;
use deevnet_console::diagnose::collect::Check;

use crate::bench::{Bench, Said};

/// A reading that is broken on purpose.
struct Broken {
    name: &'static str,
    /// Faults that are on meanwhile: what cannot be read of them must not be denied.
    on: &'static [&'static str],
    /// What breaks the reading, and what mends it: commands of root in the VM.
    breaks: String,
    mends: String,
    /// The subcommand of the helper that is killed whenever it runs, at both ends: what sudo started, and the shell that
    /// waits for it. Whenever, since a connection that was lost is tried once more.
    kills: Option<&'static str>,
    /// Causes that are told all the same.
    causes: &'static [&'static str],
    /// Rules that have to say that they cannot know, and must not have passed.
    unknown: &'static [&'static str],
    /// Rules that have what they need.
    passed: &'static [&'static str],
    /// A part of some reason that is given: the command, whether it was refused or, on a busy host, took too long.
    why: &'static str,
}

/// Rules that a whole reading is the only source of.
const OF_READING: &[&str] = &[
    "uplink-down",
    "frr-down",
    "snat-missing",
    "tenant-forwarding-off",
    "transit-forwarding-off",
    "forward-policy-drop",
    "return-route-missing",
    "vrf-default-missing",
    "conntrack-full",
];

/// Lets `ops` run `tools` as root instead of the helper, which is put away.
fn only(tools: &str) -> String {
    format!(
        "mv {0} /root/helper && cp -p /etc/sudoers.d/deevnet /root/sudoers && \
         echo '%deevnet ALL=(root) NOPASSWD: {tools}' >/etc/sudoers.d/deevnet",
        helper::INSTALL_PATH
    )
}

fn as_before() -> String {
    format!("mv /root/helper {0}; mv /root/sudoers /etc/sudoers.d/deevnet; test -x {0}", helper::INSTALL_PATH)
}

const NOTHING: Broken = Broken {
    name: "",
    on: &[],
    breaks: String::new(),
    mends: String::new(),
    kills: None,
    causes: &[],
    unknown: &[],
    passed: &[],
    why: "",
};

fn all() -> Vec<Broken> {
    let ip = "/usr/sbin/ip, /sbin/ip, /usr/bin/ip, /bin/ip";
    vec![
        Broken {
            name: "sudo refuses the firewall's list",
            on: &["snat-missing", "forward-policy-drop"],
            breaks: only(&format!("{ip}, /usr/sbin/conntrack, /usr/bin/vtysh, /usr/bin/cat")),
            mends: as_before(),
            unknown: &["snat-missing", "forward-policy-drop"],
            passed: &["transit-forwarding-off", "vrf-default-missing", "return-route-missing", "perimeter-drop"],
            why: "iptables-save",
            ..NOTHING
        },
        Broken {
            name: "sudo refuses the list of flows",
            // With main's default elsewhere the flows alone tell what is beyond the gateway.
            on: &["main-mgmt", "core-drop"],
            breaks: only(&format!("{ip}, /usr/sbin/iptables-nft-save, /usr/bin/vtysh, /usr/bin/cat")),
            mends: as_before(),
            unknown: &["perimeter-drop"],
            passed: &["gateway-unreachable", "return-route-missing"],
            why: "conntrack -L",
            ..NOTHING
        },
        Broken {
            name: "the helper is killed while it reads",
            on: &["snat-missing"],
            kills: Some("read"),
            causes: &["exit-node-unreachable"],
            unknown: OF_READING,
            why: "",
            ..NOTHING
        },
        Broken {
            name: "the helper is killed while it probes",
            on: &["core-drop"],
            kills: Some("probe"),
            unknown: &["perimeter-drop", "transit-mtu", "workload-down"],
            passed: &["snat-missing", "transit-forwarding-off", "return-route-missing"],
            why: "",
            ..NOTHING
        },
        Broken {
            name: "sshd is gone",
            on: &["snat-missing"],
            // The door opens again by itself: should this test end, the next one finds it open.
            breaks: "systemctl stop oob-ssh.socket; (sleep 200; systemctl start oob-ssh.socket) >/dev/null 2>&1 </dev/null & \
                     pkill -KILL -u ops || true"
                .to_owned(),
            mends: "systemctl start oob-ssh.socket".to_owned(),
            causes: &["exit-node-unreachable"],
            unknown: OF_READING,
            why: "",
            ..NOTHING
        },
    ]
}

/// Judges every one; the node reads as before after it.
pub async fn readings(bench: &Bench) -> Vec<String> {
    let mut wrong = Vec::new();
    for broken in all() {
        let of_it = one(bench, &broken).await;
        let verdict = if of_it.is_empty() { "right" } else { "WRONG" };
        eprintln!("check_vm: {verdict} unknown {}", broken.name);
        of_it.iter().for_each(|why| eprintln!("check_vm:   {why}"));
        wrong.extend(of_it.into_iter().map(|why| format!("{}: {why}", broken.name)));
    }
    wrong
}

async fn one(bench: &Bench, broken: &Broken) -> Vec<String> {
    let on = format!("site fault {}", if broken.on.is_empty() { "healthy".to_owned() } else { broken.on.join(" ") });
    let breaks = if broken.breaks.is_empty() { "true" } else { &broken.breaks };
    if let Err(why) = bench.root(&format!("{on} && {{ {breaks}; }}")) {
        let mended = [bench.root(&broken.mends).err(), bench.heal().err()];
        return std::iter::once(why).chain(mended.into_iter().flatten()).collect();
    }
    let killer = broken.kills.map(|what| bench.vm.beside(&kills(what)));
    let said = bench.check(Check::Egress, Some("tdemo")).await;
    let mut wrong = against(&said, broken);
    if let Some(killer) = killer {
        wrong.extend(bench.root("touch /run/enough").err());
        wrong.extend(ended(killer).await.err());
    }
    if !broken.mends.is_empty() {
        wrong.extend(bench.root(&broken.mends).err());
    }
    wrong.extend(bench.heal().err());
    if !wrong.is_empty() {
        wrong.push(format!("\n{}", said.whole()));
    }
    wrong
}

/// Kills `what` of the helper until it is told that it was enough.
fn kills(what: &str) -> String {
    format!(
        "rm -f /run/enough; while [ ! -e /run/enough ]; do \
         p=$(pgrep -f '^(/bin/sh {}|sh -s --) {what}') && kill -9 $p; sleep .02; done; true",
        helper::INSTALL_PATH
    )
}

async fn ended(killer: std::io::Result<Child>) -> Result<(), String> {
    let waited = tokio::task::spawn_blocking(move || killer.and_then(|mut child| child.wait()));
    match tokio::time::timeout(Duration::from_secs(120), waited).await {
        Ok(Ok(Ok(status))) if status.success() => Ok(()),
        other => Err(format!("what kills the helper did not run: {other:?}")),
    }
}

fn against(said: &Said, broken: &Broken) -> Vec<String> {
    let mut wrong = Vec::new();
    let roots: Vec<_> = said.roots().iter().map(|f| f.id).collect();
    if roots != broken.causes {
        wrong.push(format!("causes {roots:?} instead of {:?}", broken.causes));
    }
    if !said.under().is_empty() {
        wrong.push(format!("consequences of what was not read: {:?}", said.under()));
    }
    let unknown = said.unknown();
    wrong.extend(broken.unknown.iter().filter(|id| !unknown.contains(id)).map(|id| format!("{id} is not unknown")));
    wrong.extend(broken.unknown.iter().filter(|id| said.passed(id)).map(|id| format!("{id} cannot have passed")));
    wrong.extend(broken.passed.iter().filter(|id| !said.passed(id)).map(|id| format!("{id} has what it needs")));
    let given = said.report.unknown.iter().filter(|u| broken.unknown.iter().any(|id| u.ids.contains(id)));
    let reasons: Vec<_> = given.filter_map(|unknown| unknown.why.clone()).collect();
    if !reasons.iter().any(|why| why.contains(broken.why)) {
        wrong.push(format!("no reason says {:?}: {reasons:?}", broken.why));
    }
    wrong
}
