//! One row a rule, in the order of evaluation.

use std::sync::Arc;

use ipnet::Ipv4Net;

use super::super::super::Class;
use super::super::super::entities::{RuleRow, Touch};
use super::super::super::source::{Gap, GapKind, Seen};
use super::super::Cx;
use super::nets::{Cover, Names, networks};
use super::policy::{Breach, Policy, any};
use crate::backends::opnsense::model::{Direction, Family, NotRead, Rule, RuleKind, RuleSet, Side};
use crate::inventory::readings::fw_gap;
use crate::text::clean;

/// The part of a rule set that holds what rules were made elsewhere, as the client names it.
pub(super) const FOREIGN: &str = "legacy and automatic rules";
/// The part that tells counters and what is loaded.
const COUNTERS: &str = "counters and the loaded set";

/// Why a part of the rule set is missing, when it is.
pub(super) fn missing(set: &RuleSet, part: &str) -> Option<Gap> {
    let why = |n: &NotRead| fw_gap(&n.why).about(n.what);
    set.not_read.iter().find(|n| n.what == part).map(why)
}

/// The rows of `set`, each with what it does to the policy.
pub(super) fn rows(cx: &Cx<'_>, set: &RuleSet, names: &Names<'_>, policy: &Policy<'_>) -> Vec<(RuleRow, Breach)> {
    let counters = missing(set, COUNTERS);
    let row = |(i, rule): (usize, &Rule)| {
        let breach = policy.breach(rule, set.rules.get(..i).unwrap_or_default());
        let place = u32::try_from(i + 1).unwrap_or(u32::MAX);
        let mut row = RuleRow {
            uuid: Arc::from(clean(&rule.uuid)),
            place,
            kind: rule.kind,
            enabled: rule.enabled,
            action: rule.action.clone(),
            quick: rule.quick,
            direction: rule.direction,
            interfaces: interfaces(rule, names).into(),
            source: side(&rule.source, names).into(),
            destination: side(&rule.destination, names).into(),
            protocol: Arc::from(clean(&rule.protocol)),
            port: Arc::from(clean(rule.destination.port.as_deref().unwrap_or("any"))),
            description: Arc::from(clean(&rule.description)),
            hits: counted(rule, set, counters.as_ref()),
            loaded: loaded(rule, set, counters.as_ref()),
            touches: touches(cx, rule, names, policy),
            must_not_exist: breach.words().map(Into::into),
            protected: policy.protects(rule),
            class: Class::Fine,
            word: Arc::from(""),
        };
        let (class, word) = state(&row);
        (row.class, row.word) = (class, word.into());
        (row, breach)
    };
    set.rules.iter().enumerate().map(row).collect()
}

fn state(row: &RuleRow) -> (Class, String) {
    match (&row.loaded, row.enabled) {
        _ if row.must_not_exist.is_some() => (Class::Fault, "must not exist".into()),
        (Ok(true), false) => (Class::Differs, "still loaded".into()),
        (_, false) => (Class::Absent, "disabled".into()),
        (Ok(false), true) => (Class::Warning, "not loaded".into()),
        (Ok(true), true) if row.protected => (Class::Info, "protected".into()),
        (Ok(true), true) => (Class::Fine, "loaded".into()),
        (Err(gap), true) => (Class::Unknown, gap.word().into()),
    }
}

/// A rule that is missing from counters that may be old was perhaps loaded since.
fn cached() -> Gap {
    Gap::new(GapKind::NotRead, "this version's counters are up to 300 s old, and the rule is not among them")
}

fn loaded(rule: &Rule, set: &RuleSet, counters: Option<&Gap>) -> Seen<bool> {
    match (rule.loaded, counters) {
        (Some(loaded), _) => Ok(loaded),
        (None, Some(gap)) => Err(gap.clone()),
        (None, None) if set.counters_cached => Err(cached()),
        (None, None) => Err(Gap::not_read("the loaded rule set")),
    }
}

fn counted(rule: &Rule, set: &RuleSet, counters: Option<&Gap>) -> Seen<Option<crate::backends::opnsense::model::Hits>> {
    match (rule.hits, counters) {
        (Some(hits), _) => Ok(Some(hits)),
        (None, Some(gap)) => Err(gap.clone()),
        (None, None) if set.counters_cached && rule.enabled => Err(cached()),
        (None, None) => Ok(None),
    }
}

fn interfaces(rule: &Rule, names: &Names<'_>) -> String {
    let list: Vec<String> = rule.interfaces.iter().map(|id| names.label(id)).collect();
    match (list.is_empty(), rule.interfaces_negated) {
        (true, _) => "any".to_owned(),
        (false, true) => format!("not {}", list.join(", ")),
        (false, false) => list.join(", "),
    }
}

/// A side in words: interface networks by the interface's description, aliases by name.
fn side(side: &Side, names: &Names<'_>) -> String {
    if side.nets.is_empty() {
        return if side.negated { "nothing".to_owned() } else { "any".to_owned() };
    }
    let list: Vec<String> = side.nets.iter().map(|net| token(net, names)).collect();
    format!("{}{}", if side.negated { "not " } else { "" }, list.join(", "))
}

fn token(net: &str, names: &Names<'_>) -> String {
    if net == "(self)" {
        return "this firewall".to_owned();
    }
    if names.interface(net).is_some() {
        return format!("{} net", names.label(net));
    }
    match net.strip_suffix("ip").filter(|id| names.interface(id).is_some()) {
        Some(id) => format!("{} address", names.label(id)),
        None => clean(net).into_owned(),
    }
}

/// What the source of a rule means: `any` of what comes in is what lies behind its interfaces.
fn source(cx: &Cx<'_>, rule: &Rule, names: &Names<'_>, policy: &Policy<'_>) -> Cover {
    let stated = names.cover(&rule.source);
    let narrow = stated.is_any() && rule.direction == Direction::In && !rule.interfaces_negated;
    if !narrow || rule.interfaces.is_empty() {
        return stated;
    }
    let mut nets: Vec<Ipv4Net> = Vec::new();
    for id in &rule.interfaces {
        match (names.interface(id), &names.interfaces) {
            (Some(interface), _) => nets.extend(networks(interface)),
            (None, Err(gap)) => return Cover::unknown(gap.clone()),
            (None, Ok(_)) => return stated,
        }
        if policy.transit_ids().contains(id) {
            nets.push(cx.site.numbering.overlay);
        }
    }
    Cover::of(nets)
}

fn touches(cx: &Cx<'_>, rule: &Rule, names: &Names<'_>, policy: &Policy<'_>) -> Seen<Touch> {
    if rule.family == Some(Family::Inet6) {
        return Ok(Touch::No);
    }
    let overlay = cx.site.numbering.overlay;
    let sides = [source(cx, rule, names, policy), names.cover(&rule.destination)];
    let meets = |net: Ipv4Net| any(sides.iter().map(|side| side.meets(net)));
    let transit = cx.site.opnsense.as_ref().map(|o| meets(o.transit));
    if transit == Some(Ok(true)) || sides.iter().any(|side| side.covers(overlay)) {
        return Ok(Touch::Every);
    }
    let met = meets(overlay)?;
    if let Some(Err(gap)) = transit {
        return Err(gap);
    }
    if !met {
        return Ok(Touch::No);
    }
    let plan = &cx.site.numbering;
    let hit = |seed: &&super::super::Seed| meets(plan.subnet(seed.index)) != Ok(false);
    Ok(Touch::Some(cx.seeds.iter().filter(hit).map(|seed| Arc::clone(&seed.name)).collect()))
}

/// Whether the rules are known well enough to say what is not among them.
pub(super) fn complete(set: &RuleSet) -> Seen<()> {
    if let Some(gap) = missing(set, FOREIGN) {
        return Err(gap);
    }
    // OPNsense always has rules of its own: none at all is a list that was not read.
    if !set.rules.iter().any(|rule| rule.kind != RuleKind::Managed) {
        return Err(Gap::new(GapKind::Failed, "the rule list came back without the rules every OPNsense has"));
    }
    Ok(())
}
