//! Text of rows, each kept once for all pictures.
//!
//! A picture is made anew with each reading, while nearly all of its text stays the same: names, addresses, states,
//! words. The hub hands the same store to every join, so that the next picture holds the very text of the one before
//! and only its rows are new.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

/// The store. One thread at a time: a join borrows it.
#[derive(Debug, Default)]
pub struct Texts {
    kept: RefCell<HashSet<Arc<str>>>,
}

impl Texts {
    /// `text`, shared with everybody who holds the same.
    pub fn of(&self, text: impl AsRef<str>) -> Arc<str> {
        let text = text.as_ref();
        let mut kept = self.kept.borrow_mut();
        if let Some(known) = kept.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        kept.insert(Arc::clone(&new));
        new
    }

    /// Lets go of what no row holds any more.
    pub fn sweep(&self) {
        self.kept.borrow_mut().retain(|text| Arc::strong_count(text) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_one_text_for_as_long_as_somebody_holds_it() {
        let texts = Texts::default();
        let (a, b) = (texts.of("web"), texts.of(String::from("web")));
        assert!(Arc::ptr_eq(&a, &b));
        texts.sweep();
        assert!(Arc::ptr_eq(&a, &texts.of("web")), "held, so kept");
        drop((a, b));
        texts.sweep();
        assert!(texts.kept.borrow().is_empty());
    }
}
