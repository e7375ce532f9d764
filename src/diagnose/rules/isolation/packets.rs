//! Packets between tenants: what those came to that exit nodes sent from one tenant's VRF to another's addresses.

use serde::Serialize;

use crate::diagnose::facts::Facts;
use crate::diagnose::facts::between::{Attempt, Crossing, Sent};

/// What every such packet misses: `facts/exit-node.md` §5.
pub const MISSES: &str = "the node itself sends, and pings alone: not seen are the forward chain, forwarding on the VNet, other \
                          protocols; a workload of the tenant has to try those";

/// What the packets of one tenant to another came to, over all exit nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "what")]
pub enum Packets {
    /// None got there, and what was tried besides shows that the probe can work: how, node by node.
    Isolated(Vec<String>),
    /// Something of the other tenant answered: what, on which node.
    Answered(String),
    /// It was tried, or was to be, and nothing is proven: why.
    NotProven(String),
}

impl Packets {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Isolated(how) => format!("isolated by packets: {}", how.join("; ")),
            Self::Answered(what) => format!("ANSWERED: {what}"),
            Self::NotProven(why) => format!("not proven: {why}"),
        }
    }
}

/// What packets of `from` to `to` came to; `None` = nobody asked for them.
#[must_use]
pub fn between(facts: &Facts, from: &str, to: &str) -> Option<Packets> {
    let mut how = Vec::new();
    let mut unproven = None;
    for sent in facts.between.iter().filter(|sent| sent.concerns(from, to)) {
        match on_node(sent, from, to) {
            Some(Packets::Isolated(more)) => how.extend(more),
            Some(Packets::NotProven(why)) => unproven = unproven.or(Some(Packets::NotProven(why))),
            Some(answered) => return Some(answered),
            None => {}
        }
    }
    unproven.or_else(|| (!how.is_empty()).then_some(Packets::Isolated(how)))
}

/// The same on one node; `None` = one of the two is not there.
#[must_use]
pub fn on_node(sent: &Sent, from: &str, to: &str) -> Option<Packets> {
    if !sent.concerns(from, to) || sent.tenant(from).is_none() || sent.tenant(to).is_none() {
        return None;
    }
    let node = &sent.node;
    let clean = |text: String| crate::text::clean(&text).into_owned();
    let attempts: Vec<&Attempt> = sent.attempts.iter().filter(|a| a.from == from && a.to == to).collect();
    if attempts.is_empty() {
        let why = sent.cut.as_deref().unwrap_or("no address of it is known");
        return Some(Packets::NotProven(clean(format!("not sent on {node}: {why}"))));
    }
    let (mut how, mut unproven) = (Vec::new(), None);
    for attempt in attempts {
        let what = sent.what(to, attempt.address).unwrap_or("an address");
        let at = format!("{} ({what} of {to})", attempt.address);
        match sent.judge(attempt) {
            Crossing::Answered(seen) => {
                return Some(Packets::Answered(clean(format!("{at}, tried on {node}: {seen}"))));
            }
            Crossing::NotProven(why) => unproven = unproven.or(Some(format!("{at}, tried on {node}: {why}"))),
            Crossing::Refused(words) => how.push(format!("{node}: vrf_{from} lets nothing leave to {at}: {words}")),
            Crossing::Lost(left_as) => {
                how.push(format!("{node}: to {at} it left as {left_as}, and nothing came back"));
            }
        }
    }
    Some(
        unproven.map_or_else(
            || Packets::Isolated(how.into_iter().map(clean).collect()),
            |why| Packets::NotProven(clean(why)),
        ),
    )
}
