//! What the steps of a change write down for each other, and for whoever takes it up again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use super::file::Log;
use super::record::Record;
use crate::provision::trouble::Trouble;

/// Notes by name. A copy is the same notes.
#[derive(Clone, Default)]
pub struct Notes {
    known: Arc<Mutex<BTreeMap<String, String>>>,
    log: Option<Log>,
}

impl Notes {
    /// What a journal tells; new ones are kept in memory alone.
    pub fn remembered(all: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { known: Arc::new(Mutex::new(all.into_iter().collect())), log: None }
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

    /// Writes a note down. An empty value takes it back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set(&self, key: &str, value: &str, at: Timestamp) -> Result<(), Trouble> {
        // Kept even where it cannot be written: what is held has to be given back by this run then.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.to_owned(), value.to_owned());
        drop(known);
        match &self.log {
            Some(log) => log.write(at, Record::Note { key: key.to_owned(), value: value.to_owned() }),
            None => Ok(()),
        }
    }
}
