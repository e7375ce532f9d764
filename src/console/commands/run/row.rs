//! What happens to the selected object.

use tui_input::Input as Field;

use super::{changes, evidence};
use crate::console::change::handover;
use crate::console::commands::Call;
use crate::console::list::{Cell, Cx, ListId, ListState};
use crate::console::lists::def;
use crate::console::model::{Focus, Layout, Model, Overlay, Screen, Spot, TextForm};
use crate::console::msg::{Effect, Notice};
use crate::console::update::overlay;
use crate::console::{describe, findings, isolation, nav, resolve};
use crate::inventory::ObjectId;

pub(in super::super) fn open(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    if !matches!(model.overlay, Overlay::None) {
        return overlay::accept(model);
    }
    if matches!(model.screen(), Screen::Change(_)) {
        return changes::open(model);
    }
    if matches!(model.screen(), Screen::Isolation { .. }) {
        isolation::describe(model);
        return Vec::new();
    }
    if matches!(model.screen(), Screen::Diagnose { .. }) {
        evidence::open(model);
        return Vec::new();
    }
    let Some(id) = model.selected().cloned() else { return Vec::new() };
    match (&id, model.focus) {
        (ObjectId::Tenant(_), Focus::Rail) if model.layout() > Layout::Compact => {
            let pane = if model.one_pane() { model.tab } else { ListId::Workloads };
            nav::focus(model, Focus::Pane(pane));
        }
        (ObjectId::Tenant(tenant), _) => nav::open_board(model, tenant, None),
        (ObjectId::Attention(_), _) => {
            let target = model.picture().and_then(|inv| nav::attention(inv, &id)).map(|a| a.target.clone());
            if let Some(target) = target {
                nav::goto(model, &target);
            }
        }
        _ => return describe(model, call),
    }
    Vec::new()
}

/// Shows a text about what is selected; on a text screen it changes the form.
fn text(model: &mut Model, to: TextForm) -> Vec<Effect> {
    if let Some(Screen::Text { form, scroll, .. }) = model.stack.last_mut() {
        if *form != to {
            (*form, *scroll) = (to, 0);
        }
    } else if let Some(subject) = model.selected().cloned() {
        nav::push(model, Screen::Text { subject, form: to, scroll: 0 });
    }
    Vec::new()
}

pub(in super::super) fn describe(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if matches!(model.screen(), Screen::Change(_)) {
        return changes::open(model);
    }
    if matches!(model.screen(), Screen::Isolation { .. }) {
        isolation::describe(model);
        return Vec::new();
    }
    text(model, TextForm::Describe)
}

pub(in super::super) fn data(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if matches!(model.screen(), Screen::Change(_)) {
        return changes::data(model);
    }
    match model.stack.last_mut() {
        Some(Screen::Diagnose { .. }) => {
            nav::push(model, Screen::Finding { key: None, json: true, scroll: 0 });
            return Vec::new();
        }
        Some(Screen::Evidence { spot: Some(Spot::Finding(key)), .. }) => {
            let key = Some(key.clone());
            nav::push(model, Screen::Finding { key, json: true, scroll: 0 });
            return Vec::new();
        }
        Some(Screen::Evidence { .. }) => return Vec::new(),
        Some(Screen::Finding { .. }) => {
            nav::pop(model);
            return Vec::new();
        }
        _ => {}
    }
    let to = match model.screen() {
        Screen::Text { form: TextForm::Yaml, .. } => TextForm::Json,
        _ => TextForm::Yaml,
    };
    text(model, to)
}

pub(in super::super) fn edit(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    let Some(id) = model.selected() else { return Vec::new() };
    let (form, suffix) = match model.screen() {
        Screen::Text { form: TextForm::Json, .. } => (TextForm::Json, "json"),
        _ => (TextForm::Yaml, "yaml"),
    };
    let text = describe::plain(&describe::lines(model, id, form));
    vec![Effect::Edit { text, suffix }]
}

pub(in super::super) fn actions(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    model.overlay = Overlay::Actions { search: Field::default(), at: 0 };
    Vec::new()
}

pub(in super::super) fn copy(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    if let Screen::Text { subject, form, .. } = model.screen() {
        return vec![Effect::Copy(describe::plain(&describe::lines(model, subject, *form)))];
    }
    if matches!(model.screen(), Screen::Change(_)) {
        return handover::sheet(model).map(|sheet| Effect::Copy(sheet.markdown())).into_iter().collect();
    }
    if matches!(model.screen(), Screen::Diagnose { .. } | Screen::Finding { .. } | Screen::Evidence { .. }) {
        return findings::text(model).map(Effect::Copy).into_iter().collect();
    }
    if matches!(model.screen(), Screen::Isolation { .. } | Screen::Cell { .. }) {
        return isolation::text(model).map(Effect::Copy).into_iter().collect();
    }
    if let (Screen::Resolve { .. }, Some(question)) = (model.screen(), &model.question) {
        return vec![Effect::Copy(resolve::markdown(&question.found, model.look.glyphs))];
    }
    let (Some((list, _)), Some(state), Some(inv)) = (model.focused(), model.focused_state(), model.picture()) else {
        return Vec::new();
    };
    let rows = Rows { list, state, cx: Cx { inv, now: model.now } };
    let text = match call.args.first() {
        None | Some(&"row") => rows.marked_or_selected(),
        Some(&"table") => rows.markdown(),
        Some(_) => {
            model.say(Notice::warning("copy what? row or table"));
            return Vec::new();
        }
    };
    vec![Effect::Copy(text)]
}

/// Asks for the name of the row.
pub(in super::super) fn resolve(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    let Some((id, inv)) = model.selected().zip(model.picture()) else { return Vec::new() };
    match resolve::of_row(inv, id) {
        Ok((text, kind)) => resolve::typed(model, &text, kind),
        Err(_) => Vec::new(),
    }
}

/// Checks what is under the cursor.
pub(in super::super) fn explain(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    if matches!(model.screen(), Screen::Isolation { .. } | Screen::Cell { .. }) {
        isolation::findings(model);
        return Vec::new();
    }
    match findings::of_row(model) {
        Ok((check, tenant)) => findings::ask(model, check, tenant),
        Err(_) => Vec::new(),
    }
}

/// Rows of a list as text.
struct Rows<'a> {
    list: ListId,
    state: &'a ListState,
    cx: Cx<'a>,
}

impl Rows<'_> {
    fn columns(&self) -> impl Iterator<Item = &'static str> {
        let shown = |key: &&'static str| !self.state.hidden.contains(key);
        def(self.list).columns.iter().filter(|c| c.max > 0).map(|c| c.key).filter(shown)
    }

    fn cells(&self, row: usize) -> Vec<String> {
        self.columns().map(|key| said((def(self.list).cell)(self.cx, row, key))).collect()
    }

    /// In the order of the screen; what is marked and filtered away comes along too.
    fn marked_or_selected(&self) -> String {
        let wanted = |id: &ObjectId| {
            if self.state.marks.is_empty() {
                self.state.cursor.as_ref() == Some(id)
            } else {
                self.state.marks.contains(id)
            }
        };
        let shown = self.state.order.iter().map(|i| *i as usize);
        let mut hidden: Vec<usize> = (0..(def(self.list).len)(self.cx.inv)).collect();
        if self.state.marks.is_empty() {
            hidden.clear();
        } else {
            let seen: std::collections::HashSet<usize> = shown.clone().collect();
            hidden.retain(|i| !seen.contains(i));
        }
        let is_wanted = |i: &usize| (def(self.list).id_of)(self.cx.inv, *i).is_some_and(|id| wanted(&id));
        let lines = shown.chain(hidden).filter(is_wanted).map(|i| self.cells(i).join("\t"));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn markdown(&self) -> String {
        let escape = |cell: String| cell.replace('|', "\\|");
        let line =
            |cells: Vec<String>| format!("| {} |", cells.into_iter().map(escape).collect::<Vec<_>>().join(" | "));
        let titles = self.columns().filter_map(|key| def(self.list).columns.iter().find(|c| c.key == key));
        let head = line(titles.map(|c| c.title.to_owned()).collect());
        let rule = format!("|{}", " --- |".repeat(self.columns().count()));
        let rows = self.state.order.iter().map(|i| line(self.cells(*i as usize)));
        [head, rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
    }
}

/// A cell in words. A state whose cell is a glyph alone is said by its class.
fn said(cell: Cell) -> String {
    match (cell.text.is_empty(), cell.class) {
        (true, Some(class)) => format!("{class:?}").to_lowercase(),
        _ => cell.text,
    }
}
