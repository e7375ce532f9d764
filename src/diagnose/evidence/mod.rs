//! Evidence: what was read, with where, when, how and how it ended.
//!
//! A bundle is a directory: `inputs.json` names the items, one file beside it holds each body; optionally `site.toml`
//! (redacted). Live checks make the same items in memory, so that what is judged here is judged again from the
//! bundle, without a network.

mod item;
mod load;
mod redact;
mod save;

pub use item::{Api, Dns, Ended, Http, Item, Kind, Origin};
pub use load::{LoadError, load};
pub use redact::{REDACTED, redact};
pub use save::{SaveError, save};

/// How the reason of a request begins that was never sent: there is no client for what the site file names.
pub const NOT_ASKED: &str = "nothing was asked: ";

/// Everything that was read for one diagnosis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// What the operator asked, for people; never parsed.
    pub question: Option<String>,
    /// The items in the order in which they were read.
    pub items: Vec<Item>,
}

impl Evidence {
    /// When the last item was read, where that was kept.
    #[must_use]
    pub fn at(&self) -> Option<jiff::Timestamp> {
        self.items.iter().filter_map(|item| item.at).max()
    }
}
