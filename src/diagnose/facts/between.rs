//! Packets that an exit node sent from each tenant's VRF to addresses of the others.
//!
//! One document a node holds all of it: what answers in each tenant's own VRF, which shows that the probe can work at
//! all, and what became of each attempt. What an attempt means is told here, since silence has several meanings
//! (`facts/exit-node.md` §5): the sender is the node itself, whose address answers cannot always come back to.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

use super::node::{Flow, counts};
use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::{Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[sent];

/// Name of the form.
pub const SCHEMA: &str = "deevnet-console/packets-between-tenants/v1";
/// What the item is called.
pub const WHAT: &str = "packets between tenants, sent by an exit node from inside their VRFs";

/// The document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// [`SCHEMA`].
    pub schema: String,
    /// The exit node.
    pub node: String,
    /// The tenant that was asked about; `None` = every pair was.
    #[serde(default)]
    pub of: Option<String>,
    /// Tenants with their own addresses, each tried from its own VRF.
    pub tenants: Vec<Tenant>,
    /// The router beyond the node, tried from the node itself.
    #[serde(default)]
    pub beyond: Option<Target>,
    /// Attempts, by sender and receiver.
    pub attempts: Vec<Attempt>,
    /// Why attempts are missing: the time that there is for them was over.
    #[serde(default)]
    pub cut: Option<String>,
}

/// A tenant on the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    /// Zone.
    pub tenant: String,
    /// Its VRF.
    pub vrf: String,
    /// Its subnets.
    pub subnets: Vec<Ipv4Net>,
    /// Its own addresses.
    pub targets: Vec<Target>,
}

/// An address, and what a ping of it from where it ought to answer came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Address.
    pub address: Ipv4Addr,
    /// What it is: `workload app`, `the gateway`.
    pub what: String,
    /// The ping.
    pub echo: Echo,
}

/// One ping, as it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// The command as it ran on the node.
    pub command: String,
    /// Its exit status; `None` = it was not run.
    #[serde(default)]
    pub exit: Option<i32>,
    /// What it printed.
    #[serde(default)]
    pub out: String,
    /// What it said on its error stream.
    #[serde(default)]
    pub err: String,
}

/// One attempt from a tenant's VRF to another's address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The sender's zone.
    pub from: String,
    /// The receiver's.
    pub to: String,
    /// The receiver's address.
    pub address: Ipv4Addr,
    /// The ping.
    pub echo: Echo,
    /// The flow that it left behind in the node's connection table, as listed there; looked for only where nothing
    /// came back to the sender.
    #[serde(default)]
    pub flow: Option<String>,
    /// Why flows were not listed.
    #[serde(default)]
    pub no_flows: Option<String>,
}

/// What the kernel says where its routes let a packet go nowhere: a null route, an unreachable one, none, a prohibited one
/// (`facts/exit-node.md` §2).
const NO_WAY: [&str; 4] = ["Invalid argument", "No route to host", "Network is unreachable", "Permission denied"];

/// How a ping ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Something answered.
    Answered,
    /// It was sent, and nothing came back to the sender.
    Silent,
    /// The kernel did not let it leave, in its words.
    Refused(String),
    /// It did not run: why.
    NotRun(String),
}

impl Echo {
    /// How it ended.
    #[must_use]
    pub fn ended(&self) -> Ended {
        let said = self.err.lines().next().unwrap_or_default().trim();
        let clean = |text: &str| crate::text::clean(text).into_owned();
        if self.exit.is_some() {
            // With a source of its own `ping` does not connect first: each packet is refused, and counted as sent.
            let words = ["ping: connect: ", "ping: sendmsg: "].iter().find_map(|head| said.strip_prefix(head));
            match (counts(&self.out), words) {
                (Some((_, received)), _) if received > 0 => return Ended::Answered,
                (_, Some(words)) if NO_WAY.contains(&words) => return Ended::Refused(clean(words)),
                (_, Some(words)) => return Ended::NotRun(clean(words)),
                (Some((sent, _)), None) if sent > 0 => return Ended::Silent,
                _ => {}
            }
        }
        Ended::NotRun(if said.is_empty() { "the ping did not run".to_owned() } else { clean(said) })
    }

    fn answered(&self) -> bool {
        self.ended() == Ended::Answered
    }

    /// Why it shows nothing, for a control that ought to have been answered.
    fn why(&self) -> String {
        match self.ended() {
            Ended::Answered => "it answered".to_owned(),
            Ended::Silent => "no answer".to_owned(),
            Ended::Refused(words) | Ended::NotRun(words) => words,
        }
    }
}

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crossing {
    /// Something of the other tenant answered: how it was seen.
    Answered(String),
    /// The VRF let nothing leave, and does let its own through: the kernel's words.
    Refused(String),
    /// It left by the way out, and nothing came back, of an address that answers at home: the address it left as.
    Lost(Ipv4Addr),
    /// Nothing is proven: why.
    NotProven(String),
}

impl Sent {
    /// The tenant of that zone.
    #[must_use]
    pub fn tenant(&self, zone: &str) -> Option<&Tenant> {
        self.tenants.iter().find(|tenant| tenant.tenant == zone)
    }

    /// Whether packets of `from` to `to` were any of its business.
    #[must_use]
    pub fn concerns(&self, from: &str, to: &str) -> bool {
        from != to && self.of.as_deref().is_none_or(|of| of == from || of == to)
    }

    /// What `address` is.
    #[must_use]
    pub fn what(&self, to: &str, address: Ipv4Addr) -> Option<&str> {
        let target = self.tenant(to)?.targets.iter().find(|target| target.address == address)?;
        Some(&target.what)
    }

    /// What `attempt` came to. Silence of the other counts where the same VRF gets through to its own, and, once a packet
    /// has left, where the other answers at home and the router does.
    #[must_use]
    pub fn judge(&self, attempt: &Attempt) -> Crossing {
        let Some(sender) = self.tenant(&attempt.from) else {
            return Crossing::NotProven(format!("nothing is told of {}", attempt.from));
        };
        match attempt.echo.ended() {
            Ended::Answered => Crossing::Answered("it answered the sender".to_owned()),
            Ended::NotRun(why) => Crossing::NotProven(why),
            Ended::Refused(words) => sender.control().map_or(Crossing::Refused(words), Crossing::NotProven),
            Ended::Silent => self.by_flow(attempt, sender),
        }
    }

    /// What the connection table says where the sender heard nothing.
    fn by_flow(&self, attempt: &Attempt, sender: &Tenant) -> Crossing {
        let unproven = |why: &str| Crossing::NotProven(format!("it left, nothing came back to the sender, and {why}"));
        let flow = match (&attempt.flow, &attempt.no_flows) {
            (None, Some(why)) => return unproven(&format!("flows were not listed: {}", crate::text::clean(why))),
            (None, None) => return unproven("no flow of it is tracked"),
            (Some(line), _) => match Flow::parse(line).filter(|flow| flow.dst == attempt.address) {
                Some(flow) => flow,
                None => return unproven("its flow is not understood"),
            },
        };
        if !flow.unreplied {
            return Crossing::Answered("an answer came to the node".to_owned());
        }
        if sender.subnets.iter().any(|net| net.contains(&flow.reply_dst)) {
            return unproven("it went on untranslated: it may have been delivered");
        }
        if let Some(why) = sender.control() {
            return Crossing::NotProven(why);
        }
        let home = self.tenant(&attempt.to).and_then(|to| to.targets.iter().find(|t| t.address == attempt.address));
        if !home.is_some_and(|target| target.echo.answered()) {
            return unproven(&format!("{} does not answer from its own VRF either", attempt.address));
        }
        match &self.beyond {
            Some(beyond) if beyond.echo.answered() => Crossing::Lost(flow.reply_dst),
            Some(beyond) => unproven(&format!("{} does not answer either: {}", beyond.what, beyond.echo.why())),
            None => unproven("whether the router beyond answers was not tried"),
        }
    }
}

impl Tenant {
    /// Why a probe from its VRF proves nothing; `None` = one of its own addresses answers it, so that it can work.
    fn control(&self) -> Option<String> {
        if self.targets.iter().any(|target| target.echo.answered()) {
            return None;
        }
        let why = self.targets.first().map_or_else(
            || "none of its own addresses is known".to_owned(),
            |target| format!("{} of it, {}: {}", target.what, target.address, target.echo.why()),
        );
        Some(format!("nothing shows that a probe from {} can work: {why}", self.vrf))
    }
}

fn sent(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(&item.kind, Kind::Material(what) if what == WHAT) {
        return Taken::NotMine;
    }
    let sent: Sent = match serde_json::from_str(&item.body) {
        Ok(sent) => sent,
        Err(why) => return Taken::Unreadable(why.to_string()),
    };
    if sent.schema != SCHEMA {
        return Taken::Unreadable(format!("its form is not {SCHEMA}"));
    }
    facts.between.push(Sourced::new(sent, item));
    Taken::Read
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(exit: i32, received: u8, err: &str) -> Echo {
        let out = match err {
            "" => format!("3 packets transmitted, {received} received, 0% packet loss, time 600ms\n"),
            _ => String::new(),
        };
        Echo { command: "ping".to_owned(), exit: Some(exit), out, err: err.to_owned() }
    }

    fn tenant(name: &str, third: u8, answers: u8) -> Tenant {
        let at = |last| Ipv4Addr::new(10, 9, third, last);
        let target = |last, what: &str, received| Target {
            address: at(last),
            what: what.to_owned(),
            echo: echo(i32::from(received == 0), received, ""),
        };
        Tenant {
            tenant: name.to_owned(),
            vrf: format!("vrf_{name}"),
            subnets: vec![Ipv4Net::new(at(0), 24).expect("a prefix")],
            targets: vec![target(10, "workload app", answers), target(1, "the gateway", answers)],
        }
    }

    fn sent(of_sender: u8, of_target: u8, beyond: u8) -> Sent {
        let router = Target {
            address: Ipv4Addr::new(10, 9, 0, 1),
            what: "the router".to_owned(),
            echo: echo(i32::from(beyond == 0), beyond, ""),
        };
        Sent {
            schema: SCHEMA.to_owned(),
            node: "gw1".to_owned(),
            of: None,
            tenants: vec![tenant("shop", 129, of_sender), tenant("farm", 130, of_target)],
            beyond: Some(router),
            attempts: Vec::new(),
            cut: None,
        }
    }

    fn attempt(echo: Echo, flow: Option<&str>) -> Attempt {
        let (from, to) = ("shop".to_owned(), "farm".to_owned());
        let address = Ipv4Addr::new(10, 9, 130, 10);
        Attempt { from, to, address, echo, flow: flow.map(str::to_owned), no_flows: None }
    }

    /// A tracked ping from shop's gateway to farm's workload.
    fn flow(mark: &str, left_as: &str) -> String {
        format!("icmp 1 29 src=10.9.129.1 dst=10.9.130.10 type=8 {mark}src=10.9.130.10 dst={left_as} type=0")
    }

    #[test]
    fn an_answer_is_a_leak_however_it_is_seen() {
        let all = sent(3, 3, 3);
        assert!(matches!(all.judge(&attempt(echo(0, 3, ""), None)), Crossing::Answered(_)));
        assert!(matches!(all.judge(&attempt(echo(1, 1, ""), None)), Crossing::Answered(_)), "one of three");
        let heard = flow("", "10.9.129.1");
        assert!(matches!(all.judge(&attempt(echo(1, 0, ""), Some(&heard))), Crossing::Answered(_)));
        // It needs no control.
        assert!(matches!(sent(0, 0, 0).judge(&attempt(echo(0, 3, ""), None)), Crossing::Answered(_)));
    }

    #[test]
    fn what_the_vrf_refuses_counts_where_it_lets_its_own_through() {
        let refused = || attempt(echo(2, 0, "ping: connect: Invalid argument"), None);
        assert_eq!(sent(3, 0, 0).judge(&refused()), Crossing::Refused("Invalid argument".to_owned()));
        // By its own address, as it is sent: each packet is refused, and counted as sent.
        let mut by_source = attempt(echo(1, 0, ""), None);
        by_source.echo.err = "ping: sendmsg: Invalid argument\nping: sendmsg: Invalid argument\n".to_owned();
        assert_eq!(sent(3, 0, 0).judge(&by_source), Crossing::Refused("Invalid argument".to_owned()));
        by_source.echo.err = "ping: sendmsg: Operation not permitted\n".to_owned();
        assert!(matches!(sent(3, 3, 3).judge(&by_source), Crossing::NotProven(_)), "a firewall of the node's own");
        let Crossing::NotProven(why) = sent(0, 3, 3).judge(&refused()) else { panic!("nothing shows that it works") };
        assert!(why.contains("vrf_shop can work") && why.contains("no answer"), "{why}");
    }

    #[test]
    fn silence_counts_only_with_every_control() {
        let left = flow("[UNREPLIED] ", "10.9.0.22");
        let lost = || attempt(echo(1, 0, ""), Some(&left));
        assert_eq!(sent(3, 3, 3).judge(&lost()), Crossing::Lost(Ipv4Addr::new(10, 9, 0, 22)));
        for (all, word) in [
            (sent(0, 3, 3), "can work"),
            (sent(3, 0, 3), "own VRF either"),
            (sent(3, 3, 0), "the router does not answer"),
            (Sent { beyond: None, ..sent(3, 3, 3) }, "was not tried"),
        ] {
            let judged = all.judge(&lost());
            assert!(matches!(&judged, Crossing::NotProven(why) if why.contains(word)), "{word}: {judged:?}");
        }
        let untranslated = flow("[UNREPLIED] ", "10.9.129.1");
        let other = left.replace("10.9.130.10", "10.9.131.10");
        for (flow, word) in
            [(None, "no flow"), (Some(untranslated.as_str()), "delivered"), (Some(other.as_str()), "not understood")]
        {
            let judged = sent(3, 3, 3).judge(&attempt(echo(1, 0, ""), flow));
            assert!(matches!(&judged, Crossing::NotProven(why) if why.contains(word)), "{word}: {judged:?}");
        }
        let mut denied = attempt(echo(1, 0, ""), None);
        denied.no_flows = Some("needs root".to_owned());
        assert!(matches!(sent(3, 3, 3).judge(&denied), Crossing::NotProven(why) if why.contains("needs root")));
    }

    #[test]
    fn what_did_not_run_proves_nothing() {
        let denied = Echo { exit: None, ..echo(1, 0, "sudo: a password is required") };
        for not_run in [denied, echo(255, 0, "Invalid VRF name")] {
            assert!(matches!(sent(3, 3, 3).judge(&attempt(not_run, None)), Crossing::NotProven(_)));
        }
    }
}
