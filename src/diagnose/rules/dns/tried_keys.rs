//! What is said of update keys that were tried on zones.

use std::collections::BTreeMap;

use super::super::Out;
use super::super::isolation::keys::{KeyOnZone, KeyWay, on_zones};
use crate::backends::dns::FUDGE;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::keys::{Answer, Key, Meaning, Tried, Zone};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Severity, Subject};

/// Most keys that a sentence names.
const FEW: usize = 3;

/// Says which zones let another tenant's key in, which keep all others out, and which of them nothing is proven of.
pub(super) fn foreign(facts: &Facts, out: &mut Out<'_>) {
    let Some(tried) = &facts.keys else { return };
    if let Some(why) = &tried.not_run {
        out.unknown("whether tenants' keys are kept out of each other's zones", Some(why.clone()));
        return;
    }
    let mut by_zone: BTreeMap<String, Vec<KeyOnZone>> = BTreeMap::new();
    for on in on_zones(facts) {
        by_zone.entry(on.zone.clone()).or_default().push(on);
    }
    for (zone, all) in by_zone {
        let entered: Vec<&KeyOnZone> = all.iter().filter(|on| on.way == KeyWay::LetIn).collect();
        if !entered.is_empty() {
            let finding = entered_by(tried, &zone, &entered, out);
            out.found(finding);
        }
        let unproven = all.iter().find_map(|on| match &on.way {
            KeyWay::NotProven(why) | KeyWay::NotRun(why) => Some((on, why)),
            _ => None,
        });
        match unproven {
            Some((on, why)) => {
                let missing = format!("whether other tenants' keys are kept out of {zone}");
                out.unknown_of(
                    [Subject::new("tenant", &on.to)],
                    missing,
                    Some(format!("the key of {}: {why}", on.from)),
                );
            }
            // Of another tenant's zone one key alone was tried.
            None if all.iter().any(|on| tried.of.as_ref().is_some_and(|of| *of != on.to)) => {}
            None if all.iter().all(|on| on.way == KeyWay::KeptOut) => out.pass(Subject::new("name", &zone)),
            None => {}
        }
    }
}

fn entered_by(tried: &Sourced<Tried>, zone: &str, entered: &[&KeyOnZone], out: &Out<'_>) -> Finding {
    let names: Vec<&str> = entered.iter().take(FEW).map(|on| on.from.as_str()).collect();
    let more = entered.len().saturating_sub(FEW);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let title = format!("{zone} lets the key of {}{more} in: it may write there.", names.join(", "));
    let owner = entered.first().map_or("", |on| on.to.as_str());
    let mut finding = out.finding(Subject::new("name", zone), title).affects([zone, owner]).from(tried);
    for on in entered.iter().take(FEW) {
        let said = on.answer.as_deref().unwrap_or_default();
        let key = on.key.as_str();
        finding = finding.fact("update.key-foreign", zone, key).fact("update.answer", format!("{key} on {zone}"), said);
    }
    with_serials(finding, tried.zones.iter().find(|known| known.zone == zone)).next(
        "bind-tsig-key",
        2,
        format!("list {owner}'s own key alone in TSIG-ALLOW-DNSUPDATE of {zone}"),
    )
}

/// The serials, which show that trying has changed nothing.
fn with_serials(finding: Finding, zone: Option<&Zone>) -> Finding {
    match zone {
        Some(Zone { zone, before: Some(before), after: Some(after), .. }) => {
            let moved = if before == after { "the same after" } else { "another after" };
            finding.fact("zone.serial", zone, format!("{before} before, {moved}"))
        }
        _ => finding.not_tested("the serial before and after"),
    }
}

/// Says which zones took an update without a signature.
pub(super) fn unsigned(facts: &Facts, out: &mut Out<'_>) {
    let Some(tried) = &facts.keys else { return };
    for zone in &tried.zones {
        let attempt = tried.attempt(None, &zone.zone);
        let owner = || [Subject::new("tenant", &zone.tenant)];
        let Some(answer) = attempt.and_then(|attempt| attempt.answer.as_ref()) else {
            let why = attempt.and_then(|attempt| attempt.why.clone()).or_else(|| tried.not_run.clone());
            out.unknown_of(owner(), format!("whether {} takes updates without a key", zone.zone), why);
            continue;
        };
        let script = facts.powerdns.setting("lua-dnsupdate-policy-script").is_some_and(|script| !script.is_empty());
        match answer.meaning(false) {
            Meaning::LetIn if script => out.unknown("what the policy script of PowerDNS decides", None),
            Meaning::LetIn => {
                let title = format!("{} takes updates without a key, from this host for one.", zone.zone);
                let finding = out
                    .finding(Subject::new("name", &zone.zone), title)
                    .affects([zone.zone.as_str(), zone.tenant.as_str()])
                    .fact("update.key-needed", &zone.zone, "no")
                    .fact("update.answer", format!("no key on {}", zone.zone), answer.words())
                    .from(tried);
                let finding = with_serials(finding, Some(zone))
                    .next(
                        "close-updates",
                        2,
                        format!("take ALLOW-DNSUPDATE-FROM of {} away until a key is bound", zone.zone),
                    )
                    .next("bind-tsig-key", 2, format!("set TSIG-ALLOW-DNSUPDATE of {} to the tenant's key", zone.zone));
                out.found(finding);
            }
            Meaning::KeptOut => out.pass(Subject::new("name", &zone.zone)),
            Meaning::Credential | Meaning::Other => {
                let missing = format!("whether {} takes updates without a key", zone.zone);
                out.unknown_of(owner(), missing, Some(answer.words()));
            }
        }
    }
}

/// Says which tenants' own updates do not get in, and which keys the server does not take.
pub(super) fn own(facts: &Facts, out: &mut Out<'_>) {
    let Some(tried) = &facts.keys else { return };
    for key in tried.keys.iter().filter(|key| key.not_run.is_none()) {
        let Some(answer) = &key.answer else { continue };
        if !answer.takes_key() {
            let finding = not_taken(tried, key, answer, out);
            out.found(finding);
            continue;
        }
        for zone in tried.zones.iter().filter(|zone| zone.tenant == key.tenant) {
            let answer = tried.attempt(Some(key), &zone.zone).and_then(|attempt| attempt.answer.as_ref());
            match answer.map(|answer| (answer, answer.meaning(true))) {
                Some((_, Meaning::LetIn)) => out.pass(Subject::new("name", &zone.zone)),
                Some((answer, Meaning::KeptOut)) => {
                    let finding = shut_out(facts, tried, key, zone, answer, out);
                    out.found(finding);
                }
                _ => {}
            }
        }
    }
}

/// A signature that was taken with the usual tolerance says that the clocks agree within it.
pub(super) fn clocks(facts: &Facts, out: &mut Out<'_>) {
    let near = |key: &Key| key.clock_off_by.is_none_or(|off| off.unsigned_abs() <= u64::from(FUDGE));
    let taken = |key: &Key| near(key) && key.answer.as_ref().is_some_and(Answer::takes_key);
    if facts.keys.as_ref().is_some_and(|tried| tried.keys.iter().any(taken)) {
        out.pass(Subject::new("source", Api::PowerDns.words()));
    }
}

/// The widest tolerance for clocks did not help: it is the key.
fn not_taken(tried: &Sourced<Tried>, key: &Key, answer: &Answer, out: &Out<'_>) -> Finding {
    let title =
        format!("The DNS server {} does not take the key {} as the API of PowerDNS tells it.", tried.server, key.name);
    out.finding(Subject::new("name", &key.name), title)
        .affects([&key.tenant])
        .fact("update.credential", &key.name, "not accepted")
        .fact("update.answer", format!("{}, a question", key.name), answer.words())
        .from(tried)
        .next(
            "check-tsig-key",
            0,
            format!(
                "see whether API and port are one server, and whether {} is there once: a second algorithm hides the first",
                key.name
            ),
        )
}

/// A signed refusal of the zone's own key: its list of keys, or its lists of networks.
fn shut_out(facts: &Facts, tried: &Sourced<Tried>, key: &Key, zone: &Zone, answer: &Answer, out: &Out<'_>) -> Finding {
    let meta = facts.powerdns.metadata.iter().find(|meta| meta.zone.as_str() == zone.zone);
    let listed = meta.map(|meta| meta.update_keys().iter().any(|known| known.as_str() == key.name));
    let title = match listed {
        Some(false) => format!("{} does not list the tenant's own key {}.", zone.zone, key.name),
        Some(true) => format!("{} takes no update from this host, not even with the tenant's own key.", zone.zone),
        None => format!("{} refuses an update with the tenant's own key {}.", zone.zone, key.name),
    };
    let mut finding = out
        .finding(Subject::new("name", &zone.zone), title)
        .affects([zone.zone.as_str(), zone.tenant.as_str()])
        .fact("update.answer", format!("{} on {}", key.name, zone.zone), answer.words())
        .from(tried);
    if let (Some(meta), Some(listed)) = (meta, listed) {
        finding = finding.fact("update.key-listed", &key.name, if listed { "yes" } else { "no" }).from(meta);
    }
    if listed == Some(true) {
        // Tenants update from elsewhere.
        finding.severity = Severity::Warning;
        let text =
            format!("see whether ALLOW-DNSUPDATE-FROM of {} names the networks that tenants update from", zone.zone);
        finding.not_tested("an update from where the tenant's own tools run").next("allow-update-from", 2, text)
    } else {
        let text = format!("list the tenant's own key in TSIG-ALLOW-DNSUPDATE of {}", zone.zone);
        finding.next("bind-tsig-key", 2, text)
    }
}
