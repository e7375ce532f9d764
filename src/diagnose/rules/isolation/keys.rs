//! Update keys between tenants: what each key came to on every other tenant's zones.

use serde::Serialize;

use crate::diagnose::facts::Facts;
use crate::diagnose::facts::keys::{Answer, Key, Meaning, Tried, Zone};

/// Why nothing was tried where nobody asked for it.
pub const NOT_ASKED: &str = "not asked for: it fetches the keys' secrets; `check keys` does, or --keys";

/// What one tenant's key came to on another's zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "way", content = "why")]
pub enum KeyWay {
    /// Refused by the zone's list of keys, with a signature, and its serial stands.
    KeptOut,
    /// Let in: it may write.
    LetIn,
    /// Let in as everybody is: the zone asks for no key.
    Open,
    /// Tried, and nothing is proven: the reason.
    NotProven(String),
    /// Not tried here: the reason.
    NotRun(String),
}

impl KeyWay {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::KeptOut => "kept out by the zone's list of keys".to_owned(),
            Self::LetIn => "LET IN".to_owned(),
            Self::Open => "LET IN: the zone asks for no key".to_owned(),
            Self::NotProven(why) => format!("not proven: {why}"),
            Self::NotRun(why) => format!("not run here: {why}"),
        }
    }

    /// The worst comes first.
    const fn rank(&self) -> u8 {
        match self {
            Self::LetIn => 0,
            Self::Open => 1,
            Self::NotProven(_) => 2,
            Self::NotRun(_) => 3,
            Self::KeptOut => 4,
        }
    }
}

/// One tenant's key on one zone of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyOnZone {
    /// Whose key.
    pub from: String,
    /// Its name.
    pub key: String,
    /// Whose zone.
    pub to: String,
    /// The zone.
    pub zone: String,
    /// The answer, in words, where there is one.
    pub answer: Option<String>,
    /// What it came to.
    #[serde(flatten)]
    pub way: KeyWay,
}

/// Every key on every zone of others; empty where nothing was tried.
#[must_use]
pub fn on_zones(facts: &Facts) -> Vec<KeyOnZone> {
    let Some(tried) = &facts.keys else { return Vec::new() };
    let mut all = Vec::new();
    for key in &tried.keys {
        let others = tried.zones.iter().filter(|zone| zone.tenant != key.tenant);
        for zone in others.filter(|zone| tried.concerns(&key.tenant, &zone.tenant)) {
            let attempt = tried.attempt(Some(key), &zone.zone);
            all.push(KeyOnZone {
                from: key.tenant.clone(),
                key: key.name.clone(),
                to: zone.tenant.clone(),
                zone: zone.zone.clone(),
                answer: attempt.and_then(|a| a.answer.as_ref()).map(Answer::words),
                way: judged(facts, tried, key, zone),
            });
        }
    }
    all
}

/// What the key of `from` came to on the zones of `to`: the worst of them. For a cell of a matrix.
#[must_use]
pub fn between(facts: &Facts, from: &str, to: &str) -> KeyWay {
    let Some(tried) = &facts.keys else { return KeyWay::NotRun(NOT_ASKED.to_owned()) };
    if let Some(why) = &tried.not_run {
        return KeyWay::NotRun(why.clone());
    }
    if !tried.concerns(from, to) {
        return KeyWay::NotRun(format!("asked for {} alone", tried.of.as_deref().unwrap_or_default()));
    }
    if tried.keys_of(from).next().is_none() {
        return KeyWay::NotRun(format!("the key of {from} was not tried"));
    }
    let zones = tried.zones.iter().filter(|zone| zone.tenant == to);
    let each = zones.flat_map(|zone| tried.keys_of(from).map(move |key| judged(facts, tried, key, zone)));
    let worst = each.min_by_key(KeyWay::rank);
    worst.unwrap_or_else(|| KeyWay::NotRun(format!("no zone of {to} is known")))
}

fn judged(facts: &Facts, tried: &Tried, key: &Key, zone: &Zone) -> KeyWay {
    if let Some(why) = key.not_run.as_ref().or(tried.not_run.as_ref()) {
        return KeyWay::NotRun(why.clone());
    }
    if !key.answer.as_ref().is_some_and(Answer::takes_key) {
        let said = key.answer.as_ref().map_or_else(|| "nothing".to_owned(), Answer::words);
        return KeyWay::NotProven(format!("{} does not take the key {}: {said}", tried.server, key.name));
    }
    if facts.powerdns.setting("lua-dnsupdate-policy-script").is_some_and(|script| !script.is_empty()) {
        return KeyWay::NotProven("a policy script of PowerDNS decides, after what was tried here".to_owned());
    }
    let Some(attempt) = tried.attempt(Some(key), &zone.zone) else {
        return KeyWay::NotRun("the server had stopped answering".to_owned());
    };
    let Some(answer) = &attempt.answer else {
        return KeyWay::NotProven(attempt.why.clone().unwrap_or_else(|| "no answer".to_owned()));
    };
    match answer.meaning(true) {
        Meaning::LetIn if tried.open(&zone.zone).is_some() => KeyWay::Open,
        Meaning::LetIn => KeyWay::LetIn,
        Meaning::KeptOut => kept_out(tried, zone),
        Meaning::Credential => KeyWay::NotProven(format!("{}: the credential, not the zone's lists", answer.words())),
        Meaning::Other => KeyWay::NotProven(answer.words()),
    }
}

/// A refusal proves the list of keys only where the zone's own key is let in from the same address, and nothing moved.
fn kept_out(tried: &Tried, zone: &Zone) -> KeyWay {
    match tried.of_own(zone) {
        Some(Meaning::LetIn) => {}
        Some(Meaning::KeptOut) => {
            return KeyWay::NotProven(format!("{} refuses its own key from here too", zone.zone));
        }
        _ => return KeyWay::NotProven(format!("without {}'s own key it may be the address", zone.tenant)),
    }
    match (zone.before, zone.after) {
        (Some(before), Some(after)) if before == after => KeyWay::KeptOut,
        (Some(before), Some(after)) => KeyWay::NotProven(format!(
            "the serial of {} went from {before} to {after} meanwhile: somebody writes; run it again",
            zone.zone
        )),
        _ => KeyWay::NotProven(format!("the serial of {} was not read before and after", zone.zone)),
    }
}
