//! What drawing looks at: the model, the picture, and the rows of a list as the model holds them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::console::keymap::Mode;
use crate::console::list::{Cx, ListDef, ListId, ListState, Scope};
use crate::console::lists;
use crate::console::model::{Model, Screen};
use crate::console::widgets::canvas::Canvas;
use crate::console::widgets::state::{self, Asked, Saying};
use crate::console::widgets::{Table, Turn};
use crate::inventory::Inventory;

/// What a screen is drawn from.
#[derive(Clone, Copy)]
pub struct Ctx<'m> {
    /// The model.
    pub model: &'m Model,
    /// The picture.
    pub cx: Cx<'m>,
}

/// The rows of a list, in order.
pub struct Rows<'m> {
    /// Definition.
    pub def: &'static ListDef,
    /// Whose rows.
    pub scope: Scope,
    /// Positions in the inventory.
    pub order: Cow<'m, [u32]>,
    /// Rows before the filter.
    pub total: usize,
    /// Position of the cursor.
    pub at: Option<usize>,
    state: Option<&'m ListState>,
}

impl<'m> Ctx<'m> {
    /// The picture.
    #[must_use]
    pub const fn inv(&self) -> &'m Inventory {
        self.cx.inv
    }

    /// The first key for the command line `line` on this screen; empty where there is none.
    #[must_use]
    pub fn key(&self, line: &str) -> String {
        let mode = match self.model.screen() {
            Screen::Tenants | Screen::Board { .. } => Mode::Board,
            screen if screen.is_text() => Mode::Text,
            _ => Mode::List,
        };
        self.model.keymap.key_for(mode, line, self.model.look.glyphs.ascii).unwrap_or_default()
    }

    /// The rows of `list`: as the model ordered them when it takes part on this screen, else all of the scope.
    #[must_use]
    pub fn rows(&self, list: ListId, scope: &Scope) -> Rows<'m> {
        let def = lists::def(list);
        let kept = self.model.visible_lists().iter().any(|(l, s)| *l == list && s == scope);
        let state = self.model.list_state(list, scope).filter(|_| kept);
        let (order, total) = state.map_or_else(
            || {
                let all = in_scope(self.inv(), def, scope);
                let total = all.len();
                (Cow::Owned(all), total)
            },
            |s| (Cow::Borrowed(&*s.order), s.total),
        );
        let at = state.map_or(Some(0), |s| s.cursor.as_ref().map(|_| s.at)).filter(|at| *at < order.len());
        Rows { def, scope: scope.clone(), order, total, at, state }
    }

    /// The tenants of the rail: where it is not a list of its own, the board's tenant is the selected one.
    #[must_use]
    pub fn rail(&self) -> Rows<'m> {
        let mut rows = self.rows(ListId::Tenants, &Scope::All);
        if let Screen::Board { tenant } = self.model.screen() {
            rows.at =
                rows.order.iter().position(|i| self.inv().tenants.get(*i as usize).is_some_and(|t| t.name == *tenant));
        }
        rows
    }

    /// Whether `list` takes the keys, with no overlay over it.
    #[must_use]
    pub fn focused(&self, list: ListId) -> bool {
        self.model.focused().is_some_and(|(focused, _)| focused == list)
    }

    /// What the state of a list has to say.
    #[must_use]
    pub fn saying(&self, canvas: &Canvas<'_>, rows: &Rows<'_>) -> Saying {
        let refresh = self.key("refresh");
        let asked = Asked {
            def: rows.def,
            total: rows.total,
            shown: rows.order.len(),
            filter: rows.filter(),
            hole: if rows.def.id == ListId::Records { lists::records::hole(self.inv(), &rows.scope) } else { None },
            refresh_key: &refresh,
        };
        state::saying(canvas, self.cx, &asked)
    }
}

fn in_scope(inv: &Inventory, def: &ListDef, scope: &Scope) -> Vec<u32> {
    if let (ListId::Workloads, Scope::Tenant(name)) = (def.id, scope) {
        return inv.tenant(name).map_or_else(Vec::new, |t| t.workloads.clone().collect());
    }
    let wanted = |i: &usize| match scope {
        Scope::All => true,
        Scope::Tenant(tenant) => def.is_of(inv, *i, tenant),
    };
    (0..(def.len)(inv)).filter(wanted).filter_map(|i| u32::try_from(i).ok()).collect()
}

impl Rows<'_> {
    /// Filter in force; empty = none.
    #[must_use]
    pub fn filter(&self) -> &str {
        self.state.map_or("", |s| &s.filter)
    }

    /// Marked rows.
    #[must_use]
    pub fn marks(&self) -> Option<&BTreeSet<crate::inventory::ObjectId>> {
        self.state.map(|s| &s.marks)
    }

    /// Position in the inventory of the row under the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<usize> {
        self.order.get(self.at?).map(|i| *i as usize)
    }

    /// Column and direction of the sort.
    #[must_use]
    pub fn sort(&self) -> Option<&crate::console::list::Sort> {
        self.state.map(|s| &s.sort)
    }

    /// Title with whose rows these are and how many: `Workloads · tdemo · 2`, `Workloads · all tenants · 37 of 42`.
    #[must_use]
    pub fn title(&self, unknown: bool) -> String {
        let whose = match (&self.scope, self.def.id) {
            (
                _,
                ListId::Tenants
                | ListId::Attention
                | ListId::Members
                | ListId::Pending
                | ListId::Sources
                | ListId::Tasks,
            ) => String::new(),
            (Scope::All, ListId::Rules) => " · all".into(),
            (Scope::Tenant(tenant), ListId::Rules) => format!(" · touching {tenant}"),
            (Scope::All, _) => " · all tenants".into(),
            (Scope::Tenant(tenant), _) => format!(" · {tenant}"),
        };
        if unknown {
            return format!("{}{whose}", self.def.title);
        }
        let count = if self.order.len() == self.total {
            self.total.to_string()
        } else {
            format!("{} of {}", self.order.len(), self.total)
        };
        format!("{}{whose} · {count}", self.def.title)
    }

    /// A table of these rows.
    #[must_use]
    pub fn table<'t>(&'t self, ctx: &Ctx<'t>, hidden: &'t dyn Fn(&str) -> bool, turn: Turn, stale: bool) -> Table<'t> {
        Table {
            def: self.def,
            cx: ctx.cx,
            order: &self.order,
            at: self.at,
            top: self.state.map_or(0, |s| s.top),
            marks: self.marks(),
            hidden,
            sort: self.sort(),
            focused: ctx.focused(self.def.id),
            stale,
            head: true,
            turn,
        }
    }

    /// Whether the operator switched column `key` off.
    #[must_use]
    pub fn switched_off(&self, key: &str) -> bool {
        self.state.is_some_and(|s| s.hidden.contains(key))
    }

    /// Tenant of the scope.
    #[must_use]
    pub fn tenant(&self) -> Option<&Arc<str>> {
        match &self.scope {
            Scope::All => None,
            Scope::Tenant(tenant) => Some(tenant),
        }
    }
}
