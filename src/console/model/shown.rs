//! What is shown: the screens, what lies over them, where the cursor is.

use std::sync::Arc;

use tui_input::Input as Field;

use crate::console::change::{Approve, Page};
use crate::console::findings::Line;
use crate::console::list::{ListId, Scope};
use crate::diagnose::finding::Key;
use crate::inventory::ObjectId;

/// What fills the body.
#[derive(Debug, Clone, PartialEq)]
pub enum Screen {
    /// Tenant rail and board (or the tenant list below 100 columns).
    Tenants,
    /// The board of one tenant; below 100 columns one pane with its tab bar.
    Board {
        /// Tenant.
        tenant: Arc<str>,
    },
    /// One list at full width.
    List {
        /// Which.
        list: ListId,
        /// Whose rows.
        scope: Scope,
    },
    /// What needs a human now.
    Overview,
    /// Members, controllers, pending edits, lock.
    Fabric,
    /// Tasks and messages.
    Activity,
    /// Sources with their errors.
    Sources,
    /// Text about one object.
    Text {
        /// Subject.
        subject: ObjectId,
        /// Form.
        form: TextForm,
        /// First line shown.
        scroll: usize,
    },
    /// [`super::Model::question`]: one name at every vantage point.
    Resolve {
        /// First line shown.
        scroll: usize,
    },
    /// [`super::Model::inquiry`]: the path and the findings of a check.
    Diagnose {
        /// Where the cursor was put; `None` = the first broken leg.
        cursor: Option<Spot>,
        /// Whether the cursor has to be on screen: it was moved last, not the text.
        follow: bool,
        /// First line shown.
        scroll: usize,
    },
    /// The isolation table: every ordered pair of tenants, and what they must not reach.
    Isolation {
        /// The cell under the cursor; `None` = the one that matters most.
        at: Option<crate::console::isolation::At>,
    },
    /// One cell of it in full.
    Cell {
        /// Which.
        at: crate::console::isolation::At,
        /// First line shown.
        scroll: usize,
    },
    /// One finding of it in full.
    Finding {
        /// Which; `None` = all of them, as JSON.
        key: Option<Key>,
        /// As JSON.
        json: bool,
        /// First line shown.
        scroll: usize,
    },
    /// A plan, a run, the journal: [`super::Model::changes`].
    Change(Page),
    /// What was read for a leg or a finding of it; or the flows of its tenant.
    Evidence {
        /// Of what; `None` = the flows.
        spot: Option<Spot>,
        /// Its lines, made when it was opened and when more came.
        lines: Arc<[Line]>,
        /// What was searched for; empty = nothing.
        search: String,
        /// First line shown.
        scroll: usize,
    },
}

/// A place of the cursor on the screen of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// A leg of the path, counted from 0.
    Leg(usize),
    /// A finding.
    Finding(Key),
}

impl Screen {
    /// The screen of the check that runs or ran last, as it is first shown.
    #[must_use]
    pub const fn diagnose() -> Self {
        Self::Diagnose { cursor: None, follow: true, scroll: 0 }
    }

    /// Whether it is text that scrolls, without a list.
    #[must_use]
    pub const fn is_text(&self) -> bool {
        matches!(
            self,
            Self::Text { .. }
                | Self::Resolve { .. }
                | Self::Diagnose { .. }
                | Self::Finding { .. }
                | Self::Evidence { .. }
                | Self::Cell { .. }
                | Self::Change(Page::Text { .. })
        )
    }

    /// How far it is scrolled, where it is text.
    pub const fn scroll_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Text { scroll, .. }
            | Self::Resolve { scroll }
            | Self::Diagnose { scroll, .. }
            | Self::Finding { scroll, .. }
            | Self::Evidence { scroll, .. }
            | Self::Cell { scroll, .. }
            | Self::Change(Page::Text { scroll, .. }) => Some(scroll),
            _ => None,
        }
    }
}

/// Forms of a text screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// For people.
    Describe,
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

/// What lies over the screen and takes the keys.
#[derive(Debug, Clone, Default)]
pub enum Overlay {
    /// Nothing.
    #[default]
    None,
    /// Help, made from the keymap in force.
    Help {
        /// First line shown.
        scroll: usize,
        /// Search.
        search: Field,
    },
    /// All actions of the selected row.
    Actions {
        /// Narrowing text.
        search: Field,
        /// Position among the candidates.
        at: usize,
    },
    /// The `:` line.
    Command {
        /// Text.
        field: Field,
        /// Position among the candidates.
        at: Option<usize>,
        /// Position in the history.
        history: Option<usize>,
    },
    /// The `/` line of the focused list.
    Filter {
        /// Text.
        field: Field,
        /// Text to return to on `esc`.
        before: String,
    },
    /// The `/` line of a text.
    Search {
        /// Text.
        field: Field,
        /// What was searched for before, and the first line shown then.
        before: (String, usize),
    },
    /// Where a bundle is to be kept.
    Save {
        /// Directory.
        field: Field,
        /// How far it is.
        saving: Saving,
    },
    /// The field for a pasted result.
    Paste(Box<crate::console::isolation::Paste>),
    /// What is asked before something runs.
    Approve(Box<Approve>),
    /// Choice of a sort column.
    Sort {
        /// Position among the columns.
        at: usize,
    },
    /// Choice of columns.
    Columns {
        /// Position among the columns.
        at: usize,
    },
}

/// Where the cursor is within a screen that has several lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The tenant rail.
    Rail,
    /// A pane.
    Pane(ListId),
}

/// How far the keeping of a bundle is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Saving {
    /// The directory is being named.
    #[default]
    Asked,
    /// It is being written.
    Running,
    /// It was not kept: why, and what helps.
    Refused(String),
}
