//! The legs as they are shown: where a tenant has several exit nodes, what each of them comes to.

use crate::diagnose::finding::Finding;
use crate::diagnose::path::{EXIT_NODE, Judged, Leg, State};
use crate::diagnose::{Diagnosis, OneNode};

/// A leg.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'f> {
    /// Its place on the path, counted from 1.
    pub number: usize,
    /// The leg.
    pub leg: &'static Leg,
    /// What it comes to: the worst of the nodes it was looked at on.
    pub state: State,
    /// As all that was read says.
    pub judged: Judged<'f>,
    /// On each exit node, where there are several and the leg is looked at there.
    pub nodes: Vec<OnNode<'f>>,
    /// The values that were seen.
    pub seen: Option<&'f str>,
}

/// A leg on one of several exit nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct OnNode<'f> {
    /// The node.
    pub node: &'f OneNode,
    /// What it comes to there.
    pub judged: Judged<'f>,
    /// The values that were seen.
    pub seen: Option<&'f str>,
}

impl<'f> Row<'f> {
    /// Faults and warnings of the leg; of every exit node where there are several, each once.
    pub fn findings(&self) -> Vec<&'f Finding> {
        let of_nodes = self.nodes.iter().flat_map(|on| on.judged.findings.iter().copied());
        let mut out: Vec<&Finding> = Vec::new();
        for finding in self.judged.findings.iter().copied().chain(of_nodes) {
            if out.iter().all(|have| have.key() != finding.key()) {
                out.push(finding);
            }
        }
        out
    }
}

/// The legs of the path of `diagnosis`.
#[must_use]
pub fn rows<'f>(diagnosis: &'f Diagnosis) -> Vec<Row<'f>> {
    let Some(path) = diagnosis.path() else { return Vec::new() };
    let tenant = diagnosis.wanted.tenant.as_deref();
    let nodes: Vec<_> = diagnosis.nodes.iter().map(|node| (node, node.path(tenant).legs)).collect();
    let row = |(at, judged): (usize, Judged<'f>)| -> Row<'f> {
        let leg = judged.leg;
        let there = leg.place == EXIT_NODE;
        let nodes: Vec<OnNode<'f>> = nodes
            .iter()
            .filter(|_| there)
            .filter_map(|(node, legs)| {
                let seen = node.seen.get(leg.name).map(String::as_str);
                Some(OnNode { node, judged: legs.get(at)?.clone(), seen })
            })
            .collect();
        let worst = nodes.iter().map(|on| on.judged.state).min_by_key(|state| state.rank());
        let seen = diagnosis.seen.get(leg.name).map(String::as_str);
        let mut state = worst.unwrap_or(judged.state);
        let proven = seen.is_some() || nodes.iter().any(|on| on.seen.is_some());
        if leg.seen_only && state == State::Pass && !proven {
            state = if judged.untested.is_some() { State::NotRun } else { State::Unknown };
        }
        Row { number: at + 1, leg, state, judged, nodes, seen }
    };
    path.legs.into_iter().enumerate().map(row).collect()
}
