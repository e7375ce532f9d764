//! One address, tried from inside a tenant's VRF on each of its exit nodes: lookup, ping, TCP.

use std::net::Ipv4Addr;
use std::sync::Arc;

use futures_util::future::join_all;
use serde::Serialize;

use super::exit_node::{answers_come_back, guest, probed, sample, unread, vrf};
use super::{Check, Leg, Sink, fabric};
use crate::backends::exit_node::frame::Code;
use crate::backends::exit_node::helper::LookupRequest;
use crate::backends::exit_node::model::{Lookup, Reading};
use crate::backends::exit_node::{Client, PathProbe, Ran, What};
use crate::diagnose::evidence::{Api, Evidence};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Flow;
use crate::inventory::feed::Clients;
use crate::site::Site;
use crate::site::model::ExitNodeSite;
use crate::text::clean;

/// What every step misses: `facts/exit-node.md` §5.
pub const MISSES: &str = "sent by the node itself: not tested are forwarding on the VNet, the forward chain, the bridge, the \
                          guest and its firewall, the guest's MTU";

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// The address answered.
    Reached,
    /// It did not, or the packet could not leave.
    Failed,
    /// It was not tried, or the try says nothing.
    Unknown,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// How it ended.
    pub ended: Ended,
    /// In words.
    pub text: String,
    /// What ran on the node.
    pub command: String,
}

/// What one exit node says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct From {
    /// The node.
    pub node: String,
    /// The VRF.
    pub vrf: String,
    /// The way a guest's packet would take.
    pub lookup: Step,
    /// Three echo requests.
    pub ping: Step,
    /// A connection, where a port was given.
    pub tcp: Option<Step>,
}

impl From {
    /// What it comes to: a connection decides where a port was given.
    #[must_use]
    pub fn ended(&self) -> Ended {
        self.tcp.as_ref().unwrap_or(&self.ping).ended
    }
}

/// What is tried: a tenant, an address, a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The tenant, whose zone has the same name.
    pub tenant: String,
    /// The address.
    pub address: Ipv4Addr,
    /// The TCP port.
    pub port: Option<u16>,
}

/// Tries `target` from every exit node of its tenant, side by side; empty where the tenant has no subnet in force.
pub async fn reach(site: &Arc<Site>, clients: &Clients, target: &Target, sink: &Sink) -> Vec<From> {
    let fabric = fabric::read(site, clients, Check::Isolation, sink).await;
    let Some(leg) = fabric.legs.iter().find(|leg| leg.zone == target.tenant) else { return Vec::new() };
    let tried = leg.exits.iter().map(|name| async move {
        let about = site.exit_nodes.iter().find(|exit| exit.name == *name);
        let client = clients.exit_nodes.iter().find(|(exit, _)| exit == name).map(|(_, client)| client);
        match (about, client) {
            (Some(about), Some(Ok(client))) => from(about, client, leg, target, sink).await,
            (_, Some(Err(why))) => nothing(name, leg, target, &why.text),
            _ => nothing(name, leg, target, "the site file does not describe this exit node"),
        }
    });
    join_all(tried).await
}

/// Why nothing could be tried, where Proxmox VE did not tell the tenant's subnet: who it was and its words.
#[must_use]
pub fn untold(evidence: &Evidence) -> Option<String> {
    let facts = Facts::of(evidence);
    let lists = ["cluster/sdn/zones", "cluster/sdn/vnets", "cluster/sdn/vnets/*/subnets", "access/permissions"];
    let why = lists.into_iter().find_map(|path| facts.calls.why(Api::Proxmox, path))?;
    Some(format!("{} did not tell: {why}", Api::Proxmox.words()))
}

fn step(ended: Ended, text: impl AsRef<str>, command: &str) -> Step {
    Step { ended, text: clean(text.as_ref()).into_owned(), command: command.to_owned() }
}

/// The node was not asked.
fn nothing(node: &str, leg: &Leg, target: &Target, why: &str) -> From {
    let not_tried = || step(Ended::Unknown, why, "");
    let tcp = target.port.map(|_| not_tried());
    From { node: node.to_owned(), vrf: vrf(leg), lookup: not_tried(), ping: not_tried(), tcp }
}

async fn from(about: &ExitNodeSite, client: &Client, leg: &Leg, target: &Target, sink: &Sink) -> From {
    let guest = guest(leg.subnet);
    let asked = LookupRequest::new("reach", target.address, Some(guest), Some(&leg.vnet));
    let asked: Vec<LookupRequest> = asked.into_iter().collect();
    let flows: Vec<PathProbe> = PathProbe::flows(leg.subnet).into_iter().collect();
    // Before and after: a flow of an earlier try may still be tracked, and says nothing about this one.
    let (reading, before) = tokio::join!(sample(about, client, &asked, sink), tried(about, client, &flows, sink));
    let reading = match reading {
        Ok(reading) => reading,
        Err(error) => return nothing(&about.name, leg, target, &error.to_string()),
    };
    let wanted = [Some(What::Ping), target.port.map(What::Tcp)];
    let probes = wanted.into_iter().flatten().map(|what| PathProbe::new(Some(&vrf(leg)), None, target.address, what));
    let probes: Vec<PathProbe> = probes.filter_map(Result::ok).collect();
    let ran = tried(about, client, &probes, sink).await;
    let back = answers_come_back(&reading, leg);
    let fresh = if back { Ok(Vec::new()) } else { fresh(before, tried(about, client, &flows, sink).await) };
    let seen = Seen { leg, target, back, fresh };
    let step_of = |at: usize, what: &str| match &ran {
        Ok(ran) => ran.get(at).map(|ran| seen.judge(ran, what)),
        Err(why) => Some(step(Ended::Unknown, why, "")),
    };
    let ping = step_of(0, "icmp").unwrap_or_else(|| step(Ended::Unknown, "not tried", ""));
    let tcp = target.port.and_then(|_| step_of(1, "tcp"));
    let command = format!("ip route get {} from {guest} iif {}", target.address, leg.vnet);
    From { node: about.name.clone(), vrf: vrf(leg), lookup: way(&reading, &command), ping, tcp }
}

async fn tried(about: &ExitNodeSite, client: &Client, probes: &[PathProbe], sink: &Sink) -> Result<Vec<Ran>, String> {
    let began = (sink.clock())();
    match client.probe_path(sink.patience(), probes).await {
        Ok(ran) => {
            ran.iter().for_each(|ran| probed(about, ran.clone(), began, sink));
            Ok(ran)
        }
        Err(error) => {
            unread(&about.name, "deevnet-exit-node probe path", &error.to_string(), sink);
            Err(error.to_string())
        }
    }
}

/// Flows that the second listing has and the first has not.
fn fresh(before: Result<Vec<Ran>, String>, after: Result<Vec<Ran>, String>) -> Result<Vec<Flow>, String> {
    let listed = |ran: Result<Vec<Ran>, String>| {
        let ran = ran?.pop().ok_or_else(|| "the flows were not listed".to_owned())?;
        if ran.code == Code::Exit(0) { Ok(ran.out) } else { Err(ran.err) }
    };
    let (before, after) = (listed(before)?, listed(after)?);
    let known: Vec<String> = before.lines().map(tuple).collect();
    Ok(after.lines().filter(|line| !known.contains(&tuple(line))).filter_map(Flow::parse).collect())
}

/// What identifies a flow in a line of `conntrack -L`: no state, no time, no counter.
pub(super) fn tuple(line: &str) -> String {
    let key = |word: &&str| ["src=", "dst=", "sport=", "dport=", "id="].iter().any(|key| word.starts_with(key));
    let words = line.split_whitespace();
    words.clone().take(1).chain(words.filter(key)).collect::<Vec<_>>().join(" ")
}

fn way(reading: &Reading, command: &str) -> Step {
    let answer = reading.lookups.value().and_then(|all| all.by_name.get("reach"));
    match answer {
        None => step(Ended::Unknown, "the node did not say", command),
        Some(Lookup::Error(words)) => step(Ended::Failed, words, command),
        Some(Lookup::Route { dev, gateway, table, .. }) => {
            let via = gateway.map(|gateway| format!("via {gateway} ")).unwrap_or_default();
            let table = table.as_deref().unwrap_or("main");
            step(Ended::Reached, format!("{via}by {dev}, table {table}"), command)
        }
    }
}

/// What a probe's output is read with.
struct Seen<'a> {
    leg: &'a Leg,
    target: &'a Target,
    /// Whether an answer comes back to the sender in the VRF.
    back: bool,
    /// Flows that the probes left behind; else why they were not listed. Read only where no answer comes back.
    fresh: Result<Vec<Flow>, String>,
}

impl Seen<'_> {
    fn judge(&self, ran: &Ran, protocol: &str) -> Step {
        let said = ran.err.lines().next().unwrap_or_default().trim();
        let Code::Exit(code) = ran.code else { return step(Ended::Unknown, said, &ran.line) };
        let open = protocol == "tcp" && connected(&ran.out);
        if open || (protocol == "icmp" && code == 0) {
            let text = if open { "connected" } else { "answered" };
            return step(Ended::Reached, text, &ran.line);
        }
        // No packet was sent: the kernel's words are the answer.
        if let Some(words) = said.strip_prefix("ping: connect: ") {
            return step(Ended::Failed, words, &ran.line);
        }
        // Of ping a summary, of curl "could not connect" (7) or "timed out" (28): else it did not run.
        let tried = if protocol == "icmp" { ran.out.contains("packets transmitted") } else { matches!(code, 7 | 28) };
        if !tried {
            return step(Ended::Unknown, said, &ran.line);
        }
        if self.back {
            let text = if said.is_empty() { "no answer" } else { said };
            return step(Ended::Failed, text, &ran.line);
        }
        self.by_flow(ran, protocol)
    }

    /// Where the sender never hears the answer, the connection table tells whether it came to the node.
    fn by_flow(&self, ran: &Ran, protocol: &str) -> Step {
        let unknown = |why: &str| {
            step(Ended::Unknown, format!("no answer can come back to the sender here, and {}", why.trim()), &ran.line)
        };
        let flows = match &self.fresh {
            Ok(flows) => flows,
            Err(why) => return unknown(why),
        };
        let ours = |flow: &&Flow| {
            flow.protocol == protocol && flow.dst == self.target.address && self.leg.subnet.contains(&flow.src)
        };
        match flows.iter().rfind(ours) {
            None => unknown("no flow of it is tracked"),
            Some(flow) if flow.unreplied => {
                step(Ended::Failed, format!("left as {}, and no answer came to the node", flow.reply_dst), &ran.line)
            }
            Some(flow) => {
                step(Ended::Reached, format!("left as {}, and an answer came to the node", flow.reply_dst), &ran.line)
            }
        }
    }
}

/// Whether curl's times say that a connection was made.
fn connected(out: &str) -> bool {
    let time = out.lines().find_map(|line| line.strip_prefix("connect "));
    time.and_then(|time| time.trim().parse::<f64>().ok()).is_some_and(|time| time > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(back: bool, flows: &str, protocol: &str, ran: &Ran) -> Ended {
        let leg = Leg {
            zone: "shop".into(),
            vnet: "shop0".into(),
            subnet: "10.9.129.0/24".parse().expect("a prefix"),
            exits: Vec::new(),
        };
        let target = Target { tenant: "shop".into(), address: Ipv4Addr::new(192, 0, 2, 80), port: Some(80) };
        let fresh = fresh(Ok(vec![self::ran(0, "", "")]), Ok(vec![self::ran(0, flows, "")]));
        Seen { leg: &leg, target: &target, back, fresh }.judge(ran, protocol).ended
    }

    fn ran(code: i32, out: &str, err: &str) -> Ran {
        Ran { line: String::new(), code: Code::Exit(code), out: out.into(), err: err.into() }
    }

    const LOST: &str = "3 packets transmitted, 0 received, 100% packet loss";

    fn flow(mark: &str) -> String {
        format!("icmp 1 29 src=10.9.129.1 dst=192.0.2.80 type=8 {mark}src=192.0.2.80 dst=10.9.0.22 type=0\n")
    }

    #[test]
    fn an_answer_that_the_sender_never_hears_is_read_from_the_flow() {
        let lost = ran(1, LOST, "");
        assert_eq!(ended(true, &flow(""), "icmp", &lost), Ended::Failed, "where it would hear one, loss is loss");
        assert_eq!(ended(false, &flow(""), "icmp", &lost), Ended::Reached);
        assert_eq!(ended(false, &flow("[UNREPLIED] "), "icmp", &lost), Ended::Failed);
        assert_eq!(ended(false, "", "icmp", &lost), Ended::Unknown);
    }

    #[test]
    fn a_flow_of_an_earlier_try_says_nothing_about_this_one() {
        let line = |id: u16, rest: &str| {
            let back = format!("src=192.0.2.80 dst=10.9.0.22 type=0 code=0 id={id}");
            format!("icmp 1 {rest} src=10.9.129.1 dst=192.0.2.80 type=8 code=0 id={id} {back} mark=0 use=1\n")
        };
        let listed = |text: String| Ok(vec![ran(0, &text, "")]);
        let found = fresh(listed(line(7, "29")), listed(line(7, "21") + &line(8, "30"))).expect("both were listed");
        assert_eq!(found.len(), 1, "the same flow with less time left is no other one: {found:?}");
        let denied = Ran { code: Code::Denied, ..ran(0, "", "needs root") };
        assert_eq!(fresh(Ok(vec![denied]), listed(line(8, "30"))), Err("needs root".to_owned()));
    }

    #[test]
    fn a_packet_that_could_not_leave_failed_and_a_program_that_is_missing_is_unknown() {
        assert_eq!(ended(false, "", "icmp", &ran(2, "", "ping: connect: Invalid argument")), Ended::Failed);
        let no_vrf = "Object \"vrf\" is unknown, try \"ip help\".";
        assert_eq!(ended(true, "", "icmp", &ran(255, "", no_vrf)), Ended::Unknown);
        assert_eq!(ended(true, "", "tcp", &ran(1, "", "sudo: a password is required")), Ended::Unknown);
        let missing = Ran { code: Code::Missing, ..ran(0, "", "curl: not found") };
        assert_eq!(ended(true, "", "tcp", &missing), Ended::Unknown);
    }

    #[test]
    fn a_connection_is_told_by_its_time() {
        assert_eq!(ended(true, "", "tcp", &ran(28, "connect 0.012\ncode 000\n", "")), Ended::Reached);
        assert_eq!(ended(true, "", "tcp", &ran(7, "connect 0.000\ncode 000\n", "refused")), Ended::Failed);
    }
}
