//! The model: a plain value. No channel, no lock, no clock in it.

use std::sync::Arc;

use jiff::Timestamp;
use tui_input::Input as Field;

use super::list::{ListId, ListStates, Scope};
use super::msg::Notice;
use super::theme::Look;
use crate::inventory::{Inventory, ObjectId};

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

/// The console's whole state.
#[derive(Debug, Clone)]
pub struct Model {
    /// The joined picture; `None` before the first one.
    pub inv: Option<Arc<Inventory>>,
    /// Name of the site, known before any reading.
    pub site_name: String,
    /// `DEMO`, when the site is the embedded lab: given by the caller, only shown.
    pub mode_word: Option<&'static str>,
    /// Now, as last told.
    pub now: Timestamp,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// Screens, the shown one last; never empty.
    pub stack: Vec<Screen>,
    /// Focus per kind of screen.
    pub focus: Focus,
    /// Overlay.
    pub overlay: Overlay,
    /// Lists.
    pub lists: ListStates,
    /// The pane last open at compact width.
    pub tab: ListId,
    /// Last notice.
    pub notice: Option<Notice>,
    /// Everything ever said in the message line, oldest first, bounded.
    pub messages: Vec<(Timestamp, Notice)>,
    /// Command history, oldest first.
    pub history: Vec<String>,
    /// Keys of an unfinished sequence (`g …`).
    pub prefix: Vec<crate::terminal::input::Key>,
    /// Frozen numbers: the picture shown instead of the newest one.
    pub frozen: Option<Arc<Inventory>>,
    /// Theme, glyphs.
    pub look: Arc<Look>,
    /// Keymap in force.
    pub keymap: Arc<super::keymap::Keymap>,
}
