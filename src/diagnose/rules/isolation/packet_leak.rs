//! A packet that was sent from one tenant's VRF was answered by another tenant.

use super::super::{Out, Rule};
use super::packets::{MISSES, Packets, on_node};
use crate::diagnose::facts::between::Sent;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::text::some_of;

/// The rule.
pub static RULE: Rule = Rule {
    id: "packet-leak",
    layer: Layer::Isolation,
    severity: Severity::Fault,
    says: "An exit node sent packets from inside one tenant's VRF to an address of another tenant, and something answered. \
           Silence counts as isolated only where the same VRF gets through to its own; a packet that left counts as lost \
           only where the other answers at home and the router beyond does. Everything else is unknown.",
    reads: "pings from tenants' VRFs to other tenants, to their own addresses and to the router, tracked flows",
    unlike: &[
        ("inter-tenant-leak", "routes say that packets cross; no packet was sent for it"),
        ("pasted-leak", "a person ran it in a workload"),
    ],
    explains: &[],
    judge,
};

/// Most receivers that are told one by one.
const FEW: usize = 3;

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for sent in &facts.between {
        for from in &sent.tenants {
            of_sender(sent, &from.tenant, out);
        }
    }
}

fn of_sender(sent: &Sourced<Sent>, from: &str, out: &mut Out<'_>) {
    let others = sent.tenants.iter().map(|other| other.tenant.as_str());
    let all: Vec<(&str, Packets)> = others.filter_map(|to| Some((to, on_node(sent, from, to)?))).collect();
    let answered: Vec<(&str, &String)> = all
        .iter()
        .filter_map(|(to, came)| match came {
            Packets::Answered(what) => Some((*to, what)),
            _ => None,
        })
        .collect();
    let open: Vec<(&str, &String)> = all
        .iter()
        .filter_map(|(to, came)| match came {
            Packets::NotProven(why) => Some((*to, why)),
            _ => None,
        })
        .collect();
    if let Some((_, why)) = open.first() {
        let missing =
            format!("whether packets of tenant {from} reach {} by way of {}", others_of(open.len()), sent.node);
        let both =
            std::iter::once(from).chain(open.iter().map(|(to, _)| *to)).map(|tenant| Subject::new("zone", tenant));
        out.unknown_of(both, missing, Some((*why).clone()));
    }
    if !answered.is_empty() {
        out.found(finding(sent, from, &answered, out));
    } else if open.is_empty() && !all.is_empty() {
        out.pass(Subject::new("zone", from));
    }
}

/// How many others, without their names.
fn others_of(count: usize) -> String {
    if count == 1 { "another tenant".to_owned() } else { format!("{count} others") }
}

fn finding(sent: &Sourced<Sent>, from: &str, answered: &[(&str, &String)], out: &Out<'_>) -> Finding {
    let who: Vec<&str> = answered.iter().map(|(to, _)| *to).collect();
    let title = format!(
        "Packets that {} sent from the VRF of tenant {from} were answered by tenant {}.",
        sent.node,
        some_of(&who)
    );
    let finding = out.finding(Subject::new("zone", from), title).affects([from]).affects(who).from(sent);
    let finding = answered
        .iter()
        .take(FEW)
        .fold(finding, |finding, (to, what)| finding.fact("packets.answered", format!("{from} to {to}"), *what));
    finding
        .next("find-route", 0, format!("find which way they take on {}", sent.node))
        .command(format!("ip route show vrf vrf_{from}"))
        .not_tested(MISSES)
}
