//! What the steps of a change write down for each other, and for whoever takes it up again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use super::file::Log;
use super::record::Record;
use crate::provision::trouble::Trouble;

/// Notes by name. A copy is the same notes.
#[derive(Clone, Default)]
pub struct Notes {
    known: Arc<Mutex<BTreeMap<String, String>>>,
    /// Those that were written since this was made: what a journal tells may have become untrue meanwhile.
    own: Arc<Mutex<BTreeSet<String>>>,
    log: Option<Log>,
}

impl Notes {
    /// What a journal tells; new ones are kept in memory alone.
    pub fn remembered(all: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { known: Arc::new(Mutex::new(all.into_iter().collect())), ..Self::default() }
    }

    /// The same notes; new ones are on disk before they count.
    #[must_use]
    pub(super) fn written_to(mut self, log: &Log) -> Self {
        self.log = Some(log.clone());
        self
    }

    /// A note; `None` where there is none, or it is not true any more.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).filter(|value| !value.is_empty()).cloned()
    }

    /// Whether a note was written by this run, and is not merely remembered from the journal.
    #[must_use]
    pub fn is_own(&self, key: &str) -> bool {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }

    /// Writes a note down. An empty value takes it back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set(&self, key: &str, value: &str, at: Timestamp) -> Result<(), Trouble> {
        // Kept even where it cannot be written: what is held has to be given back by this run then.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.to_owned(), value.to_owned());
        drop(known);
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
        match &self.log {
            Some(log) => log.write(at, Record::Note { key: key.to_owned(), value: value.into() }),
            None => Ok(()),
        }
    }
}
