//! What an object is, what it is to be, and what differs, field by field.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Fields of an object by the back end's names for them. Never a secret.
pub type Fields = BTreeMap<String, String>;

/// Fields of name and value.
pub fn fields<K: Into<String>, V: Into<String>>(all: impl IntoIterator<Item = (K, V)>) -> Fields {
    all.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// An object as it was read. What could not be read is an error, never one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// It is not there.
    Absent,
    /// It is there; a field that is not set is left out.
    Present(Fields),
}

impl Seen {
    /// The value of a field of an object that is there.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        match self {
            Self::Absent => None,
            Self::Present(fields) => fields.get(name).map(String::as_str),
        }
    }

    /// What this looked like, in 64 hexadecimal digits: equal for equal fields, whatever order they were read in. What passes by
    /// itself is left out.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        if let Self::Present(fields) = self {
            hash.update([1]);
            let lasting = fields.iter().filter(|(name, _)| !name.starts_with(PASSING));
            for text in lasting.flat_map(|(name, value)| [name, value]) {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Before the name of a field that tells how something is right now and changes by itself: two looks that differ in such alone
/// are alike.
pub const PASSING: &str = "right now: ";

/// What an object is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Gone.
    Absent,
    /// There, with these fields. An empty value means: not set. Fields that are not named are left as they are.
    Present(Fields),
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its name.
    pub field: String,
    /// Its value now; `None` where it is not set.
    pub now: Option<String>,
    /// Its value afterwards; `None` where it is to be unset.
    pub will_be: Option<String>,
}

impl Change {
    /// A field that is set.
    pub fn set(field: impl Into<String>, now: Option<&str>, will_be: impl Into<String>) -> Self {
        Self { field: field.into(), now: now.map(str::to_owned), will_be: Some(will_be.into()) }
    }
}

/// What has to be done to an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do", content = "fields")]
pub enum Difference {
    /// Nothing: it is as it is wanted.
    Nothing,
    /// It has to be made, with these fields.
    Create(Vec<Change>),
    /// These fields differ.
    Update(Vec<Change>),
    /// It has to go; what it is now.
    Delete(Vec<Change>),
}

impl Difference {
    /// Between what was read and what is wanted.
    #[must_use]
    pub fn between(seen: &Seen, wanted: &Wanted) -> Self {
        match (seen, wanted) {
            (Seen::Absent, Wanted::Absent) => Self::Nothing,
            (Seen::Absent, Wanted::Present(fields)) => {
                let set = fields.iter().filter(|(_, value)| !value.is_empty());
                Self::Create(set.map(|(name, value)| Change::set(name, None, value)).collect())
            }
            (Seen::Present(fields), Wanted::Absent) => {
                let gone = |(name, value): (&String, &String)| Change {
                    field: name.clone(),
                    now: Some(value.clone()),
                    will_be: None,
                };
                Self::Delete(fields.iter().map(gone).collect())
            }
            (Seen::Present(now), Wanted::Present(wanted)) => {
                let changes: Vec<Change> = wanted
                    .iter()
                    .filter(|(name, value)| now.get(*name).map_or("", String::as_str) != value.as_str())
                    .map(|(name, value)| Change {
                        field: name.clone(),
                        now: now.get(name).cloned(),
                        will_be: Some(value.clone()).filter(|value| !value.is_empty()),
                    })
                    .collect();
                if changes.is_empty() { Self::Nothing } else { Self::Update(changes) }
            }
        }
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// The fields it is about.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        match self {
            Self::Nothing => &[],
            Self::Create(changes) | Self::Update(changes) | Self::Delete(changes) => changes,
        }
    }

    /// The new value of a field, where it is set.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<&str> {
        self.changes().iter().find(|change| change.field == field)?.will_be.as_deref()
    }

    /// Names of the fields that are to be unset.
    pub fn unset(&self) -> impl Iterator<Item = &str> {
        let update = matches!(self, Self::Update(_));
        self.changes().iter().filter(move |c| update && c.will_be.is_none()).map(|c| c.field.as_str())
    }
}

/// The first of these fields that something has otherwise, in words; `None` = it has them all so.
#[must_use]
pub fn differing(wanted: &Fields, seen: &Seen) -> Option<String> {
    let (name, value) = wanted.iter().find(|(name, value)| seen.field(name) != Some(value.as_str()))?;
    Some(format!("{name} is {:?}, not {value:?}", seen.field(name).unwrap_or_default()))
}

/// What has to be wanted so that a change is taken back: what the object was before, in the fields that were changed.
#[must_use]
pub fn inverse(before: &Seen, done: &Difference) -> Option<Wanted> {
    Some(match (before, done) {
        (_, Difference::Nothing) => return None,
        (Seen::Absent, _) => Wanted::Absent,
        (Seen::Present(fields), Difference::Update(changes)) => {
            let former = |c: &Change| (c.field.clone(), fields.get(&c.field).cloned().unwrap_or_default());
            Wanted::Present(changes.iter().map(former).collect())
        }
        (Seen::Present(fields), _) => Wanted::Present(fields.clone()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some() -> impl Strategy<Value = Fields> {
        proptest::collection::btree_map("[a-e]", "[x-z]{1,2}", 0..5)
    }

    fn seen() -> impl Strategy<Value = Seen> {
        prop_oneof![Just(Seen::Absent), some().prop_map(Seen::Present)]
    }

    fn wanted() -> impl Strategy<Value = Wanted> {
        let fields = proptest::collection::btree_map("[a-e]", "[x-z]{0,2}", 0..5);
        prop_oneof![Just(Wanted::Absent), fields.prop_map(Wanted::Present)]
    }

    /// What an object becomes when a difference is carried out.
    fn after(seen: &Seen, todo: &Difference) -> Seen {
        let mut fields = match (seen, todo) {
            (_, Difference::Delete(_)) => return Seen::Absent,
            (_, Difference::Nothing) => return seen.clone(),
            (Seen::Absent, _) => Fields::new(),
            (Seen::Present(fields), _) => fields.clone(),
        };
        for change in todo.changes() {
            match &change.will_be {
                Some(value) => fields.insert(change.field.clone(), value.clone()),
                None => fields.remove(&change.field),
            };
        }
        Seen::Present(fields)
    }

    proptest! {
        #[test]
        fn a_difference_that_is_carried_out_leaves_none(seen in seen(), wanted in wanted()) {
            let todo = Difference::between(&seen, &wanted);
            prop_assert_eq!(Difference::between(&after(&seen, &todo), &wanted), Difference::Nothing);
        }

        #[test]
        fn what_is_taken_back_is_as_it_was(seen in seen(), wanted in wanted()) {
            let todo = Difference::between(&seen, &wanted);
            let then = after(&seen, &todo);
            let Some(back) = inverse(&seen, &todo) else { return Ok(()) };
            let undone = after(&then, &Difference::between(&then, &back));
            prop_assert_eq!(undone, seen);
        }

        #[test]
        fn what_passes_by_itself_makes_no_other_look(one in seen(), word in "[a-z ]{0,9}") {
            let mut now = one.clone();
            if let Seen::Present(fields) = &mut now {
                fields.insert(format!("{PASSING}{word}"), word);
            }
            prop_assert_eq!(one.digest(), now.digest());
        }

        #[test]
        fn two_looks_have_one_digest_only_where_they_are_equal(one in seen(), other in seen()) {
            prop_assert_eq!(one.digest() == other.digest(), one == other);
        }
    }

    #[test]
    fn what_is_not_named_is_left_alone() {
        let now = Seen::Present(fields([("tag", "20010"), ("alias", "by hand")]));
        assert!(Difference::between(&now, &Wanted::Present(fields([("tag", "20010")]))).is_nothing());
        let unset = Difference::between(&now, &Wanted::Present(fields([("alias", "")])));
        assert_eq!(unset.unset().collect::<Vec<_>>(), ["alias"]);
    }
}
