//! Lists: what every pane, rail and full-width list is made of.
//!
//! A list is defined once, as data ([`ListDef`], one file each in `lists/`), and shown in several places. Its rows are
//! positions in the inventory; cells are made on demand for the rows on screen, so that 25,000 rows cost nothing per
//! frame. Order and filter are computed in `update`, when data, filter or sort change.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use super::theme::Role;
use crate::inventory::{Class, Gap, GapKind, Inventory, ObjectId, SourceId};

/// The lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ListId {
    /// Tenants (rail, and screen 3a).
    Tenants,
    /// VRF & egress, one row a tenant and exit node.
    Vrfs,
    /// The facts of one tenant's VRF (the board's pane).
    VrfFacts,
    /// Routes of the selected VRF.
    Routes,
    /// VNets.
    Vnets,
    /// Workloads.
    Workloads,
    /// DNS records.
    Records,
    /// Check-ins.
    Checkins,
    /// Perimeter rules.
    Rules,
    /// Forwards of the perimeter resolver.
    Forwards,
    /// Overview: what needs a human now.
    Attention,
    /// Fabric members.
    Members,
    /// Pending SDN edits.
    Pending,
    /// Sources.
    Sources,
    /// Tasks.
    Tasks,
}

/// Which rows of a list are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All.
    All,
    /// Those of one tenant.
    Tenant(Arc<str>),
}

/// What cells may depend on besides the inventory.
#[derive(Debug, Clone, Copy)]
pub struct Cx<'a> {
    /// The picture.
    pub inv: &'a Inventory,
    /// Now, for ages in steps.
    pub now: Timestamp,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Text, already clean.
    pub text: String,
    /// Role of the text.
    pub role: Role,
    /// Glyph drawn before the text, with its own role.
    pub class: Option<Class>,
}

impl Cell {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), role: Role::Text, class: None }
    }

    /// Muted text.
    pub fn muted(text: impl Into<String>) -> Self {
        Self { text: text.into(), role: Role::Muted, class: None }
    }

    /// Glyph and word.
    pub fn state(class: Class, word: impl Into<String>) -> Self {
        Self { text: word.into(), role: Role::Text, class: Some(class) }
    }

    /// Not known.
    #[must_use]
    pub fn gap(gap: &Gap) -> Self {
        match gap.kind {
            GapKind::Off => Self::muted(gap.word()),
            _ => Self::state(Class::Unknown, gap.word()),
        }
    }
}

/// Alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// How text that does not fit is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutting {
    /// At the end.
    End,
    /// In the middle (UUID, FQDN, digest).
    Middle,
    /// Never (addresses, VMIDs, VNIs, states, keys): the column leaves instead.
    Never,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name for `col:value`, sort and configuration.
    pub key: &'static str,
    /// Head.
    pub title: &'static str,
    /// Smallest useful width in cells.
    pub min: u16,
    /// Width beyond which it is not widened.
    pub max: u16,
    /// Alignment.
    pub align: Align,
    /// Cutting.
    pub cutting: Cutting,
    /// Columns with the smallest number leave first; 255 never leaves.
    pub keep: u8,
}

/// A value to sort by; numbers sort as numbers.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub enum SortKey {
    /// Number.
    Num(f64),
    /// Text.
    Text(String),
    /// Unknown, sorts last.
    None,
}

/// Definition of a list, as data.
pub struct ListDef {
    /// Id.
    pub id: ListId,
    /// Title, e.g. `Workloads`.
    pub title: &'static str,
    /// Word for `:` and `get`, e.g. `workloads`.
    pub word: &'static str,
    /// Sources the rows come from; their state is the state of the pane.
    pub sources: &'static [SourceId],
    /// Columns in order.
    pub columns: &'static [Column],
    /// Column sorted by at first, ascending.
    pub sort: &'static str,
    /// Number of rows in all.
    pub len: fn(&Inventory) -> usize,
    /// Identity of row `i`.
    pub id_of: fn(&Inventory, usize) -> Option<ObjectId>,
    /// Tenant of row `i`.
    pub tenant_of: fn(&Inventory, usize) -> Option<&str>,
    /// Cell of row `i` in column `key`.
    pub cell: fn(Cx<'_>, usize, &'static str) -> Cell,
    /// Sort value of row `i` in column `key`.
    pub sort_key: fn(&Inventory, usize, &'static str) -> SortKey,
    /// Why the rows are not known, when they are not.
    pub gap: fn(&Inventory) -> Option<&Gap>,
    /// Detail lines of row `i`, most important first.
    pub detail: fn(Cx<'_>, usize) -> Vec<Vec<Cell>>,
    /// What to say and do when there is no row.
    pub empty: &'static str,
}

impl ListDef {
    /// Whether row `i` is one of `tenant`'s. Rules are the site's: a tenant's are those that touch its traffic.
    #[must_use]
    pub fn is_of(&self, inv: &Inventory, i: usize, tenant: &str) -> bool {
        match self.id {
            ListId::Rules => super::lists::touches(inv, i, tenant),
            _ => (self.tenant_of)(inv, i) == Some(tenant),
        }
    }
}

/// Direction and column of a sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort {
    /// Column.
    pub column: &'static str,
    /// Largest first.
    pub descending: bool,
}

/// State of one list on screen: everything by identity.
#[derive(Debug, Clone, PartialEq)]
pub struct ListState {
    /// Row under the cursor.
    pub cursor: Option<ObjectId>,
    /// Marked rows.
    pub marks: BTreeSet<ObjectId>,
    /// Filter text as typed; empty = none.
    pub filter: String,
    /// Sort.
    pub sort: Sort,
    /// Columns switched off.
    pub hidden: BTreeSet<&'static str>,
    /// First row shown, a hint that the view clamps.
    pub top: usize,
    /// Rows after scope, filter and sort: positions in the inventory.
    pub order: Arc<[u32]>,
    /// Position of `cursor` in `order`.
    pub at: usize,
    /// Rows before the filter.
    pub total: usize,
}

impl ListState {
    /// A fresh list sorted by `column`.
    #[must_use]
    pub fn new(column: &'static str) -> Self {
        Self {
            cursor: None,
            marks: BTreeSet::new(),
            filter: String::new(),
            sort: Sort { column, descending: false },
            hidden: BTreeSet::new(),
            top: 0,
            order: Arc::from([]),
            at: 0,
            total: 0,
        }
    }
}

/// States of all lists, by list and scope.
pub type ListStates = HashMap<(ListId, Scope), ListState>;
