//! The model: a plain value. No channel, no lock, no clock in it.

mod shown;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use ratatui::layout::Rect;

pub use shown::{Focus, Overlay, Saving, Screen, Spot, TextForm};

use super::findings::{Inquiry, Verdict};
use super::keymap::Keymap;
use super::list::{ListId, ListState, ListStates, Scope};
use super::msg::{Hit, Notice};
use super::resolve::{Probe, Question};
use super::select::Kept;
use super::theme::{Look, Theme};
use crate::inventory::{Inventory, ObjectId};

/// Smallest usable terminal, columns and rows (screens.md 19).
pub const FLOOR: (u16, u16) = (72, 20);

/// The panes of a board in the order in which `tab` walks them (screens.md 1).
pub const PANES: [ListId; 6] =
    [ListId::Workloads, ListId::VrfFacts, ListId::Vnets, ListId::Records, ListId::Checkins, ListId::Rules];

/// The tabs of a compact board in the order of the tab bar (screens.md 3b).
pub const TABS: [ListId; 6] =
    [ListId::VrfFacts, ListId::Vnets, ListId::Workloads, ListId::Records, ListId::Checkins, ListId::Rules];

/// How many lines of the message log are kept.
const MESSAGES: usize = 500;

/// What the terminal's size allows (screens.md "Grid").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// Below 72×20: one message.
    TooSmall,
    /// Below 100 columns: one full-width list, or one pane with its tab bar.
    Compact,
    /// Rail and board of two columns; one pane beside the rail below 30 rows.
    Normal,
    /// From 160 columns: three board columns.
    Wide,
}

impl Layout {
    /// The layout of a terminal of `size` columns and rows.
    #[must_use]
    pub const fn of(size: (u16, u16)) -> Self {
        match size {
            (w, h) if w < FLOOR.0 || h < FLOOR.1 => Self::TooSmall,
            (w, _) if w < 100 => Self::Compact,
            (w, _) if w < 160 => Self::Normal,
            _ => Self::Wide,
        }
    }
}

/// The console's whole state.
#[derive(Debug, Clone)]
pub struct Model {
    /// The newest joined picture; `None` before the first one.
    pub inv: Option<Arc<Inventory>>,
    /// Name of the site, known before any reading.
    pub site_name: String,
    /// `DEMO`, when the site is the embedded lab: given by the caller, only shown.
    pub mode_word: Option<&'static str>,
    /// Now, as last told.
    pub now: Timestamp,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The last layout that was not too small: what the screens are arranged for.
    pub arranged: Layout,
    /// Screens, the shown one last; never empty.
    pub stack: Vec<Screen>,
    /// Focus on the shown screen.
    pub focus: Focus,
    /// Focus of the screens beneath, to return to.
    pub parked: Vec<Focus>,
    /// Overlay.
    pub overlay: Overlay,
    /// Lists.
    pub lists: ListStates,
    /// The pane last open where only one fits (compact width, or beside the rail below 30 rows).
    pub tab: ListId,
    /// The tenant whose board is shown beside the rail. It follows the rail's cursor once that rests.
    pub board: Option<Arc<str>>,
    /// When the board follows the rail's cursor; `None` when it already has.
    pub follow_at: Option<Timestamp>,
    /// Last notice.
    pub notice: Option<Notice>,
    /// Everything ever said in the message line, oldest first, bounded.
    pub messages: Vec<(Timestamp, Notice)>,
    /// The question of `resolve` that was asked last.
    pub question: Option<Question>,
    /// The check that was asked for last.
    pub inquiry: Option<Inquiry>,
    /// Directory that is offered for bundles; `None` = the working directory.
    pub bundles: Option<std::path::PathBuf>,
    /// The isolation table, and what was pasted.
    pub isolation: super::isolation::Isolation,
    /// Plans, runs, the journal, and whether this console may write.
    pub changes: super::change::Changes,
    /// What the last check of each tenant's egress came to.
    pub verdicts: BTreeMap<Arc<str>, Verdict>,
    /// What this console asked or tried by itself, oldest first, bounded.
    pub probes: Vec<Probe>,
    /// Command history, oldest first.
    pub history: Vec<String>,
    /// Keys of an unfinished sequence (`g …`).
    pub prefix: Vec<crate::terminal::input::Key>,
    /// Frozen numbers: the picture shown instead of the newest one.
    pub frozen: Option<Arc<Inventory>>,
    /// What the places of the last frame mean; see [`Msg::Drawn`](super::msg::Msg::Drawn).
    pub hits: Arc<[(Rect, Hit)]>,
    /// Theme, glyphs.
    pub look: Arc<Look>,
    /// Themes to choose from.
    pub themes: Arc<[Theme]>,
    /// Keymap in force.
    pub keymap: Arc<Keymap>,
    /// What was computed from the rest and need not be computed again.
    pub kept: Kept,
}

impl Model {
    /// A console that has seen nothing yet: the tenant list, waiting.
    #[must_use]
    pub fn new(
        site_name: impl Into<String>,
        size: (u16, u16),
        now: Timestamp,
        look: Arc<Look>,
        keymap: Arc<Keymap>,
    ) -> Self {
        Self {
            inv: None,
            site_name: site_name.into(),
            mode_word: None,
            now,
            size,
            arranged: Layout::of(size),
            stack: vec![Screen::Tenants],
            focus: Focus::Rail,
            parked: Vec::new(),
            overlay: Overlay::None,
            lists: ListStates::new(),
            tab: ListId::Workloads,
            board: None,
            follow_at: None,
            notice: None,
            messages: Vec::new(),
            question: None,
            inquiry: None,
            bundles: None,
            isolation: super::isolation::Isolation::default(),
            changes: super::change::Changes::default(),
            verdicts: BTreeMap::new(),
            probes: Vec::new(),
            history: Vec::new(),
            prefix: Vec::new(),
            frozen: None,
            hits: Arc::from([]),
            look,
            themes: super::theme::all(&[]).unwrap_or_default().into(),
            keymap,
            kept: Kept::default(),
        }
    }

    /// Shows `screen` on top of the tenant list, as `go` does; for callers that have no keys to press.
    pub fn show(&mut self, screen: Screen) {
        let board = match &screen {
            Screen::Board { tenant } => Some(Arc::clone(tenant)),
            _ => None,
        };
        match board {
            Some(tenant) => {
                super::nav::from_home(self, Screen::Tenants);
                super::nav::open_board(self, &tenant, None);
            }
            None => super::nav::from_home(self, screen),
        }
        super::select::ensure(self);
        super::nav::settle(self);
    }

    /// The screen shown.
    #[must_use]
    pub fn screen(&self) -> &Screen {
        self.stack.last().unwrap_or(&Screen::Tenants)
    }

    /// What the size allows.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        Layout::of(self.size)
    }

    /// Whether the board has room for one pane only (below 30 rows).
    #[must_use]
    pub const fn one_pane(&self) -> bool {
        self.size.1 < 30
    }

    /// The picture shown: the frozen one, else the newest.
    #[must_use]
    pub fn picture(&self) -> Option<&Arc<Inventory>> {
        self.frozen.as_ref().or(self.inv.as_ref())
    }

    /// State of a list, when it was ever shown.
    #[must_use]
    pub fn list_state(&self, list: ListId, scope: &Scope) -> Option<&ListState> {
        self.lists.get(&(list, scope.clone()))
    }

    /// The lists on screen in the order in which `tab` walks them. A board that has no tenant yet has no panes.
    #[must_use]
    pub fn visible_lists(&self) -> Vec<(ListId, Scope)> {
        let compact = self.layout() <= Layout::Compact;
        match self.screen() {
            Screen::Tenants => {
                let mut out = vec![(ListId::Tenants, Scope::All)];
                if let Some(tenant) = self.board.as_ref().filter(|_| !compact) {
                    out.extend(self.panes().into_iter().map(|list| (list, Scope::Tenant(Arc::clone(tenant)))));
                }
                out
            }
            Screen::Board { tenant } if compact => vec![(self.tab, Scope::Tenant(Arc::clone(tenant)))],
            Screen::Board { tenant } => {
                self.panes().into_iter().map(|list| (list, Scope::Tenant(Arc::clone(tenant)))).collect()
            }
            Screen::List { list, scope } => vec![(*list, scope.clone())],
            Screen::Overview => vec![(ListId::Attention, Scope::All)],
            Screen::Fabric => vec![(ListId::Members, Scope::All), (ListId::Pending, Scope::All)],
            Screen::Activity => vec![(ListId::Tasks, Scope::All)],
            Screen::Sources => vec![(ListId::Sources, Scope::All)],
            Screen::Text { .. }
            | Screen::Resolve { .. }
            | Screen::Diagnose { .. }
            | Screen::Finding { .. }
            | Screen::Evidence { .. }
            | Screen::Isolation { .. }
            | Screen::Cell { .. }
            | Screen::Change(_) => Vec::new(),
        }
    }

    /// The panes of the board that fit.
    fn panes(&self) -> Vec<ListId> {
        if self.one_pane() { vec![self.tab] } else { PANES.to_vec() }
    }

    /// The list that takes the keys; `None` on a text screen.
    #[must_use]
    pub fn focused(&self) -> Option<(ListId, Scope)> {
        let wanted = match self.focus {
            Focus::Rail => ListId::Tenants,
            Focus::Pane(list) => list,
        };
        let visible = self.visible_lists();
        visible.iter().find(|(list, _)| *list == wanted).or_else(|| visible.first()).cloned()
    }

    /// State of the list that takes the keys.
    #[must_use]
    pub fn focused_state(&self) -> Option<&ListState> {
        self.lists.get(&self.focused()?)
    }

    /// The object under the cursor: the selected row, or the subject of a text screen.
    #[must_use]
    pub fn selected(&self) -> Option<&ObjectId> {
        match self.screen() {
            Screen::Text { subject, .. } => Some(subject),
            _ => self.focused_state()?.cursor.as_ref(),
        }
    }

    /// The tenant the screen is about: that of its scope, else that of the selected row.
    #[must_use]
    pub fn tenant(&self) -> Option<Arc<str>> {
        match (self.screen(), self.focus) {
            (Screen::Board { tenant } | Screen::List { scope: Scope::Tenant(tenant), .. }, _) => {
                Some(Arc::clone(tenant))
            }
            (Screen::Tenants, Focus::Pane(_)) if self.layout() > Layout::Compact => self.board.clone(),
            _ => super::nav::tenant_of(self.picture()?, self.selected()?),
        }
    }

    /// Says `notice` in the message line and keeps it.
    pub fn say(&mut self, notice: Notice) {
        if self.messages.len() >= MESSAGES {
            self.messages.remove(0);
        }
        self.messages.push((self.now, notice.clone()));
        self.notice = Some(notice);
    }
}
