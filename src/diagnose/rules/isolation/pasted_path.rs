//! Legs of the path to the internet that only a workload can test, as pasted results show them.

use super::super::{Out, Rule};
use super::matrix::{BRIDGE, MANAGEMENT, Matrix, PathLeg};
use crate::diagnose::facts::{Facts, Sourced, pasted::Pasted};
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::diagnose::pasted::{Came, Leg, Wants};

/// The workload and its gateway.
pub static GATEWAY: Rule = Rule {
    id: "workload-gateway-silent",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A pasted ping from a workload shows that its own gateway does not answer it: the packet is lost between the guest \
           and the VNet's bridge.",
    reads: "pasted results",
    unlike: &[("workload-down", "the exit node sees no neighbour")],
    explains: &[],
    judge: gateway,
};

/// Nothing of a tenant on the management segment.
pub static MANAGED: Rule = Rule {
    id: "management-traffic-seen",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A pasted capture on the management segment shows packets of a tenant while a workload sent: they bypass the \
           transit segment and the firewall.",
    reads: "pasted results",
    unlike: &[("management-leak", "a lookup on the exit node shows the way")],
    explains: &[],
    judge: managed,
};

/// The legs of a number, tenant by tenant.
fn legs(matrix: &Matrix, number: usize) -> Vec<(String, Vec<Leg>)> {
    let mut out: Vec<(String, Vec<Leg>)> = Vec::new();
    for PathLeg { tenant, leg, .. } in matrix.path.iter().filter(|path| path.number == number) {
        match out.iter_mut().find(|(have, _)| have == tenant) {
            Some((_, legs)) => legs.push(leg.clone()),
            None => out.push((tenant.clone(), vec![leg.clone()])),
        }
    }
    out
}

/// What the fresh results of one leg say, and the texts they stand in.
fn said<'p>(leg: &Leg, matrix: &Matrix, facts: &'p Facts) -> Vec<(Came, &'p Sourced<Pasted>, String)> {
    let mine = facts.pasted.iter().filter(|p| leg.from.is(&p.given.from) && !matrix.aged(p.given.at));
    mine.flat_map(|p| p.readings.iter().map(move |reading| (p, reading)))
        .filter(|(_, reading)| reading.tried == leg.ask.tried())
        .map(|(p, reading)| (leg.judge(reading), p, reading.words()))
        .collect()
}

fn gateway(facts: &Facts, out: &mut Out<'_>) {
    if facts.pasted.is_empty() {
        return;
    }
    let matrix = Matrix::of(facts);
    for (tenant, legs) in legs(&matrix, BRIDGE) {
        let said: Vec<_> = legs.iter().flat_map(|leg| said(leg, &matrix, facts)).collect();
        let any = |came| said.iter().any(|(c, ..)| *c == came);
        if any(Came::Right) && any(Came::Wrong) {
            let why = "one pasted result says that it answers, another that it does not".to_owned();
            out.unknown_of(
                [Subject::new("tenant", &tenant)],
                format!("whether the gateway of tenant {tenant} answers its workloads"),
                Some(why),
            );
        } else if any(Came::Wrong) {
            let title =
                format!("A workload of tenant {tenant} does not reach its own gateway, as a pasted result shows.");
            let mut finding = out.finding(Subject::new("zone", &tenant), title).affects([&tenant]);
            for (_, pasted, words) in &said {
                let who = format!("{} by {}", pasted.given.from, pasted.given.by);
                finding = finding.fact("pasted.result", who, words).from(pasted);
            }
            let text = "look at the guest's network device, its address and its firewall";
            out.found(finding.next("look-at-guest", 0, text));
        } else if any(Came::Right) {
            out.pass(Subject::new("zone", tenant));
        }
    }
}

fn managed(facts: &Facts, out: &mut Out<'_>) {
    if facts.pasted.is_empty() {
        return;
    }
    let matrix = Matrix::of(facts);
    for (tenant, legs) in legs(&matrix, MANAGEMENT) {
        let captures = || legs.iter().filter(|leg| leg.wants == Wants::Nothing);
        let seen: Vec<_> = captures().flat_map(|leg| said(leg, &matrix, facts)).collect();
        let stimulus = legs.iter().filter(|leg| leg.wants == Wants::Answer).flat_map(|leg| said(leg, &matrix, facts));
        let sent = stimulus.count() > 0;
        if let Some((_, pasted, words)) = seen.iter().find(|(came, ..)| *came == Came::Wrong) {
            let title =
                format!("Packets of tenant {tenant} were seen on the management segment, as a pasted capture shows.");
            let finding = out
                .finding(Subject::new("zone", &tenant), title)
                .fact("pasted.result", format!("{} by {}", pasted.given.from, pasted.given.by), words)
                .affects([&tenant])
                .from(*pasted)
                .next("find-default", 0, "look where the VRF's default route leads");
            out.found(finding);
        } else if !seen.is_empty() && sent {
            out.pass(Subject::new("zone", tenant));
        } else if !seen.is_empty() {
            let why =
                "an empty capture shows nothing unless a workload sent meanwhile: its ping was not pasted".to_owned();
            out.unknown_of(
                [Subject::new("tenant", &tenant)],
                format!("whether tenant {tenant} is seen on the management segment"),
                Some(why),
            );
        }
    }
}
