//! What goes into `update` and what comes out of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::change::{Order, Shelf, Told, Whispered};
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::Check;
use crate::diagnose::evidence::{Evidence, Item};
use crate::diagnose::resolve::{Heard, Target};
use crate::diagnose::rules::matrix::Matrix;
pub use crate::inventory::Demand;
use crate::inventory::{Class, Inventory, ObjectId, SourceId};

/// Everything that can happen to the console.
#[derive(Debug, Clone)]
pub enum Msg {
    /// A key, the mouse, a paste, a new size.
    Input(crate::terminal::input::Input),
    /// A new joined picture.
    Inventory(Arc<Inventory>),
    /// The time: sent before every batch of messages that is folded, and when the moment that [`Effect::WakeAt`] asked
    /// for has come (then never earlier than that moment). Nothing ticks.
    Now(Timestamp),
    /// A frame was drawn: what its places mean. Sent after each frame and never a reason for another one.
    Drawn(Arc<[(Rect, Hit)]>),
    /// A line for the message row: result of an effect.
    Notice(Notice),
    /// Something came of the question of this number ([`Effect::Resolve`]).
    Heard(u64, Box<Heard>),
    /// Something came of the check of this number ([`Effect::Check`]).
    Checking {
        /// Number of the check.
        id: u64,
        /// What there is so far.
        diagnosis: Arc<Diagnosis>,
        /// How long it has taken.
        took: Duration,
    },
    /// What was read was kept, or not ([`Effect::Save`]).
    Saved {
        /// Where.
        dir: PathBuf,
        /// How many items; `Err` says in one sentence why not.
        result: Result<usize, String>,
    },
    /// The check of this number ended, or was given up ([`Effect::Check`]).
    Checked {
        /// Number of the check.
        id: u64,
        /// What it comes to; `Err` says in one sentence why there is nothing.
        diagnosis: Result<Arc<Diagnosis>, String>,
        /// How long it took.
        took: Duration,
    },
    /// The isolation table of the check of this number, before what it found.
    Table {
        /// Number of the check.
        id: u64,
        /// The table.
        matrix: Arc<Matrix>,
    },
    /// What the check of this number comes to together with what was pasted ([`Effect::Judge`]).
    Judged {
        /// Number of the check.
        id: u64,
        /// What it comes to.
        diagnosis: Arc<Diagnosis>,
        /// The isolation table.
        matrix: Arc<Matrix>,
    },
    /// `$EDITOR` came back, with the text where it was changed: nothing is edited from here, so that it is thrown away.
    Edited(Option<String>),
    /// Something came of an order about changes, by its number ([`Effect::Change`]).
    Change(u64, Box<Told>),
    /// The journal was read.
    Journal(Arc<Shelf>),
    /// TERM, HUP or INT: leave, giving locks back first.
    Shutdown,
    /// After SIGCONT or `ctrl-l`: everything must be drawn again.
    Repaint,
}

/// A line for the message row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// How it is to be read.
    pub class: Class,
    /// One sentence, clean.
    pub text: String,
}

impl Notice {
    /// Something worth knowing.
    pub fn info(text: impl Into<String>) -> Self {
        Self { class: Class::Info, text: text.into() }
    }

    /// Something that goes on until the next picture.
    pub fn progress(text: impl Into<String>) -> Self {
        Self { class: Class::Progress, text: text.into() }
    }

    /// Something that was not done, and why.
    pub fn warning(text: impl Into<String>) -> Self {
        Self { class: Class::Warning, text: text.into() }
    }
}

/// What `update` wants done. Data: tests assert on it, the runtime carries it out.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Leave the program.
    Quit,
    /// Suspend to the shell (`ctrl-z`).
    Suspend,
    /// Draw everything again (`ctrl-l`).
    Redraw,
    /// Read a source again now; `None` = all.
    Refresh(Option<SourceId>),
    /// What is visible, so that its details are read first.
    Demand(Demand),
    /// Copy to the operator's clipboard (OSC 52).
    Copy(String),
    /// The same with a secret: nothing of it is kept.
    CopySecret(Whispered),
    /// Show text in `$EDITOR`/`$PAGER`; suffix for syntax (`yaml`, `json`).
    Edit {
        /// Text.
        text: String,
        /// File suffix without dot.
        suffix: &'static str,
    },
    /// Send [`Msg::Now`] at this moment (never earlier); replaces an earlier wish. A moment that has passed is due now.
    WakeAt(Timestamp),
    /// Ask everybody for a name; what comes is told as [`Msg::Heard`] with this number. An older question is given up.
    Resolve {
        /// Number of the question.
        id: u64,
        /// Name and type.
        target: Target,
    },
    /// Give the question up.
    StopResolve,
    /// Read the site for a check and judge it; what comes is told as [`Msg::Checking`] and
    /// [`Msg::Checked`] with this number. An older
    /// check is given up.
    Check {
        /// Number of the check.
        id: u64,
        /// What is looked at.
        check: Check,
        /// Of whom; `None` = of everybody.
        tenant: Option<Arc<str>>,
    },
    /// Give up what has not come of the check, and judge what has.
    StopCheck,
    /// Keep what was read in a directory that holds nothing; what came of it is told as [`Msg::Saved`].
    Save {
        /// Directory.
        dir: PathBuf,
        /// What was read.
        evidence: Arc<Evidence>,
    },
    /// Judge what the last checks read again, together with what was pasted; further checks take it in too. What comes
    /// of it is told as [`Msg::Judged`].
    Judge {
        /// Everything that is pasted now.
        pasted: Arc<[Item]>,
    },
    /// Plans, runs and the journal; what comes of it is told as [`Msg::Change`] or [`Msg::Journal`].
    Change(Order),
    /// Set the terminal's title.
    Title(String),
}

/// One drawn frame.
#[derive(Debug, Clone)]
pub struct Screenful {
    /// Cells.
    pub buffer: Buffer,
    /// Where the terminal's own cursor belongs (text input, else the selected row, for screen readers).
    pub cursor: Option<Position>,
    /// Whether that cursor is shown.
    pub cursor_visible: bool,
    /// Full-width list area that may be served with scroll regions.
    pub scroll: Option<Rect>,
    /// What a mouse click at a place means. The smallest place around a click counts. Every row drawn has its
    /// [`Hit::Row`]: paging, scrolling and [`Demand`] are computed from them.
    pub hits: Vec<(Rect, Hit)>,
}

/// Meaning of a place on screen.
#[derive(Debug, Clone, PartialEq)]
pub enum Hit {
    /// A row of a list.
    Row(super::list::ListId, ObjectId),
    /// A list as a whole (focus, scroll wheel).
    List(super::list::ListId),
    /// A column head (sort).
    Column(super::list::ListId, &'static str),
    /// A command, by its name in the command table.
    Command(&'static str),
    /// A candidate of an open menu, by position.
    Candidate(usize),
    /// A text that scrolls (text screen, help): how far the frame shows it scrolled, and how far it can be.
    Text {
        /// Rows above the first one shown.
        top: usize,
        /// Rows above the first one shown when the last one is.
        end: usize,
    },
}
