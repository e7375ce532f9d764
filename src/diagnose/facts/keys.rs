//! What tenants' update keys were tried on: signed questions, and updates that can change nothing (facts/dns.md §0.2).
//!
//! One document holds all of it: who could be tried at all, each zone's serial before and after, each key on each zone.
//! There is no secret in it. What an answer means is told here, since a refusal has two meanings; what follows from it
//! for tenants is for rules to say.

use serde::{Deserialize, Serialize};

use super::{Facts, Reader, Sourced, Taken};
use crate::backends::dns::{FUDGE, Rcode};
use crate::diagnose::evidence::{Api, Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[tried];

/// Name of the form.
pub const SCHEMA: &str = "deevnet-console/update-keys/v1";
/// What the item is called.
pub const WHAT: &str = "update keys of tenants, tried on every tenant's zones";

/// The document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// [`SCHEMA`].
    pub schema: String,
    /// The server whose port was asked.
    pub server: String,
    /// Why nothing was tried; `None` = it was.
    #[serde(default)]
    pub not_run: Option<String>,
    /// The tenant whose key and zones it is about; `None` = all tenants.
    #[serde(default)]
    pub of: Option<String>,
    /// Keys.
    #[serde(default)]
    pub keys: Vec<Key>,
    /// Keys that tenants' zones list and that are not the tenants' own: never fetched, never tried.
    #[serde(default)]
    pub not_own: Vec<NotOwn>,
    /// Zones.
    #[serde(default)]
    pub zones: Vec<Zone>,
    /// Updates; of a reading in the order of keys and zones.
    #[serde(default)]
    pub updates: Vec<Attempt>,
}

/// A tenant's key, and what came of a signed question for a start of authority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Whose.
    pub tenant: String,
    /// Name.
    pub name: String,
    /// Why it could not be tried: no secret was to be had, or no answer came.
    #[serde(default)]
    pub not_run: Option<String>,
    /// The answer.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// Seconds by which the server's clock, told by its signature, is ahead of this host's.
    #[serde(default)]
    pub clock_off_by: Option<i64>,
}

/// A key that a tenant's zone lists, and that is not called after the tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotOwn {
    /// Whose zone.
    pub tenant: String,
    /// Name of the key.
    pub key: String,
}

/// A zone, and its serial before anything was tried and after everything was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// Name without trailing dot.
    pub zone: String,
    /// Whose.
    pub tenant: String,
    /// Serial before; `None` = not told.
    #[serde(default)]
    pub before: Option<u32>,
    /// Serial after; `None` = not told.
    #[serde(default)]
    pub after: Option<u32>,
}

/// An update that can change nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The tenant whose key signed it; `None` = nobody's.
    pub signed_by: Option<String>,
    /// Name of that key; `None` = the one called after the tenant.
    #[serde(default)]
    pub key: Option<String>,
    /// The zone.
    pub zone: String,
    /// The answer; `None` = none came.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// Why none came.
    #[serde(default)]
    pub why: Option<String>,
}

impl Attempt {
    fn place(&self) -> (Option<&str>, Option<&str>, &str) {
        let key = self.key.as_deref().or(self.signed_by.as_deref());
        (self.signed_by.as_deref(), key, &self.zone)
    }
}

/// An answer: its code, and what stands where a signature may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Word of the code: `REFUSED`.
    pub code: String,
    /// Its signature.
    pub signature: Mark,
}

/// What stands where a signature may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A signature that verifies.
    Good,
    /// Nothing.
    None,
    /// A signature that does not verify.
    Bad,
    /// An error of TSIG by its word: `BADKEY`.
    Error(String),
}

/// What an answer to an update that can change nothing means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Key, address and zone were in order: only the impossible condition stood in the way.
    LetIn,
    /// Refused, and the key was known: the zone's lists keep it out.
    KeptOut,
    /// The server did not take the credential: nothing is said of the zone.
    Credential,
    /// Something else: nothing is said of the zone.
    Other,
}

impl Answer {
    /// In words, e.g. `REFUSED, signed`.
    #[must_use]
    pub fn words(&self) -> String {
        let signed = match &self.signature {
            Mark::Good => "signed",
            Mark::None => "unsigned",
            Mark::Bad => "with a signature that is not the key's",
            Mark::Error(word) => word,
        };
        format!("{}, {signed}", self.code)
    }

    fn is(&self, code: Rcode) -> bool {
        Rcode::of_word(&self.code) == Some(code)
    }

    /// A signed question for a start of authority was answered as only a server does that takes the key.
    #[must_use]
    pub fn takes_key(&self) -> bool {
        self.signature == Mark::Good && !self.is(Rcode::NOTAUTH)
    }

    /// What it means as the answer to an update, `signed` or not. Codes of prerequisites: RFC 2136 §2.2.
    #[must_use]
    pub fn meaning(&self, signed: bool) -> Meaning {
        let passed = [Rcode::NOERROR, Rcode::NXDOMAIN, Rcode(6), Rcode(7), Rcode(8)].into_iter().any(|c| self.is(c));
        match (&self.signature, signed) {
            (Mark::Good, true) | (Mark::None, false) if passed => Meaning::LetIn,
            (Mark::Good, true) | (Mark::None, false) if self.is(Rcode::REFUSED) => Meaning::KeptOut,
            (Mark::Error(_), _) => Meaning::Credential,
            (Mark::None, true) if self.is(Rcode::REFUSED) || self.is(Rcode::NOTAUTH) => Meaning::Credential,
            _ => Meaning::Other,
        }
    }
}

impl Tried {
    /// Whether the key of `tenant` was to be tried on the zones of `owner`. A tenant's own key always is: it shows that a
    /// zone takes updates from here at all.
    #[must_use]
    pub fn concerns(&self, tenant: &str, owner: &str) -> bool {
        self.of.as_deref().is_none_or(|of| of == tenant || of == owner) || tenant == owner
    }

    /// The keys of `tenant`: one, and during a rotation two.
    pub fn keys_of(&self, tenant: &str) -> impl Iterator<Item = &Key> {
        self.keys.iter().filter(move |key| key.tenant == tenant)
    }

    /// The attempt on `zone` with `key`, or with none.
    #[must_use]
    pub fn attempt(&self, key: Option<&Key>, zone: &str) -> Option<&Attempt> {
        let wanted = (key.map(|key| key.tenant.as_str()), key.map(|key| key.name.as_str()), zone);
        // A site of 62 tenants has seven thousand.
        let at = self.updates.binary_search_by(|update| update.place().cmp(&wanted)).ok()?;
        self.updates.get(at)
    }

    /// What `zone` answered to the keys of its own tenant: that one was let in, where one was.
    #[must_use]
    pub fn of_own(&self, zone: &Zone) -> Option<Meaning> {
        let answers = self.keys_of(&zone.tenant).filter_map(|key| self.attempt(Some(key), &zone.zone)?.answer.as_ref());
        let mut all: Vec<Meaning> = answers.map(|answer| answer.meaning(true)).collect();
        let let_in = all.iter().position(|meaning| *meaning == Meaning::LetIn).unwrap_or(0);
        (!all.is_empty()).then(|| all.swap_remove(let_in))
    }

    /// The answer by which `zone` takes updates without a signature from this host; `None` = it does not, or was not
    /// asked.
    #[must_use]
    pub fn open(&self, zone: &str) -> Option<&Answer> {
        let answer = self.attempt(None, zone)?.answer.as_ref()?;
        (answer.meaning(false) == Meaning::LetIn).then_some(answer)
    }
}

fn tried(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(&item.kind, Kind::Material(what) if what == WHAT) {
        return Taken::NotMine;
    }
    let mut tried: Tried = match serde_json::from_str(&item.body) {
        Ok(tried) => tried,
        Err(why) => return Taken::Unreadable(why.to_string()),
    };
    if tried.schema != SCHEMA {
        return Taken::Unreadable(format!("its form is not {SCHEMA}"));
    }
    tried.updates.sort_by(|a, b| a.place().cmp(&b.place()));
    clocks(&tried, item, facts);
    facts.keys = Some(Sourced::new(tried, item));
    Taken::Read
}

/// The server's clock as its signatures tell it, for the rule that compares clocks; and that an update signed by ours as it
/// is would be refused.
fn clocks(tried: &Tried, item: &Item, facts: &mut Facts) {
    let told = tried.keys.iter().filter_map(|key| Some((key, key.clock_off_by?)));
    let (Some((key, seconds)), Some(here)) = (told.max_by_key(|(_, off)| off.unsigned_abs()), item.at) else { return };
    let Ok(at) = here.checked_add(jiff::SignedDuration::from_secs(seconds)) else { return };
    let date = super::clocks::Date { api: Api::PowerDns, from: item.from.clone(), at, here: Some(here) };
    facts.clocks.dates.push(Sourced::new(date, item));
    if seconds.unsigned_abs() <= u64::from(FUDGE) {
        return;
    }
    facts.powerdns.updates.push(super::powerdns::Update {
        from: "console".to_owned(),
        key: Some(crate::backends::powerdns::Name::new(&key.name)),
        refused: Some("NOTAUTH".to_owned()),
        unsigned: true,
        file: item.file.as_str().into(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(code: &str, signature: Mark) -> Answer {
        Answer { code: code.to_owned(), signature }
    }

    #[test]
    fn only_a_signed_refusal_of_a_signed_update_is_the_zones() {
        let error = || Mark::Error("BADSIG".to_owned());
        for (code, mark, signed, meaning) in [
            ("REFUSED", Mark::Good, true, Meaning::KeptOut),
            ("REFUSED", Mark::None, true, Meaning::Credential),
            ("REFUSED", Mark::Bad, true, Meaning::Other),
            ("NOTAUTH", Mark::None, true, Meaning::Credential),
            ("NOTAUTH", error(), true, Meaning::Credential),
            ("REFUSED", error(), true, Meaning::Credential),
            ("NOTAUTH", Mark::Good, true, Meaning::Other),
            ("NXDOMAIN", Mark::Good, true, Meaning::LetIn),
            ("YXDOMAIN", Mark::Good, true, Meaning::LetIn),
            ("NOERROR", Mark::Good, true, Meaning::LetIn),
            ("NXDOMAIN", Mark::None, true, Meaning::Other),
            ("NOERROR", Mark::Bad, true, Meaning::Other),
            ("SERVFAIL", Mark::Good, true, Meaning::Other),
            ("NOTIMP", Mark::Good, true, Meaning::Other),
            ("NXDOMAIN", Mark::None, false, Meaning::LetIn),
            ("REFUSED", Mark::None, false, Meaning::KeptOut),
            ("SERVFAIL", Mark::None, false, Meaning::Other),
            ("RESERVED77", Mark::Good, true, Meaning::Other),
        ] {
            assert_eq!(answer(code, mark.clone()).meaning(signed), meaning, "{code} {mark:?} {signed}");
        }
    }

    #[test]
    fn a_key_is_taken_where_the_answer_is_signed() {
        assert!(answer("NOERROR", Mark::Good).takes_key() && answer("REFUSED", Mark::Good).takes_key());
        for mark in [Mark::None, Mark::Bad, Mark::Error("BADKEY".to_owned())] {
            assert!(!answer("NOERROR", mark).takes_key());
        }
        assert!(!answer("NOTAUTH", Mark::Good).takes_key());
    }
}
