//! Header and breadcrumb: the first two rows of every screen.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::ctx::Ctx;
use crate::console::findings::Inquiry;
use crate::console::list::{ListId, Scope};
use crate::console::lists;
use crate::console::model::{Focus, Layout, Model, Screen, Spot, TextForm};
use crate::console::nav;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::state::source_sign;
use crate::diagnose::contract;
use crate::diagnose::finding::Severity;
use crate::diagnose::path::State;
use crate::inventory::{Class, GapKind, Inventory, SourceHealth, SourceId, SourceStatus};
use crate::text::Cut;

/// Draws the header into row `y`.
pub fn header(canvas: &mut Canvas<'_>, model: &Model, y: u16) {
    let width = canvas.area().width;
    let compact = model.layout() <= Layout::Compact;
    let style = canvas.look().style(Role::SiteBand);
    let site = format!(" {} ", model.site_name);
    let band = canvas.width(&site).min(18);
    canvas.put((0, y), band, &site, style, Cut::End);

    let mode = match (model.changes.minutes(model.now), model.mode_word) {
        (Some(minutes), _) => Bit::new(format!("WRITE {minutes}m"), Role::ModeWrite),
        (None, Some(word)) => Bit::new(word, Role::Accent),
        (None, None) => Bit::new("read-only", Role::ModeRead),
    };
    let gap = if compact { "  " } else { "   " };
    let right = [mode, Bit::text(gap), Bit::text(format::minute(model.now)), Bit::text(" ")];
    let right_at = canvas.bits_right(width, y, width, &right);

    let Some(inv) = model.picture() else { return };
    let room = right_at.saturating_sub(band + 1);
    let fits = |bits: &Vec<Bit>| canvas.bits_width(bits) < room;
    let bits = [Detail::Full, Detail::Late, Detail::Age, Detail::Sign]
        .into_iter()
        .filter(|d| !compact || *d != Detail::Full)
        .map(|detail| sources(canvas, model, inv, detail, gap))
        .find(fits)
        .unwrap_or_else(|| sources(canvas, model, inv, Detail::Sign, " "));
    canvas.bits((band + 1, y), room, &bits);
}

/// How much is said of a source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Ages of all.
    Full,
    /// Words and ages of those that are not fresh.
    Late,
    /// Ages without words.
    Age,
    /// Glyphs alone.
    Sign,
}

fn sources(canvas: &Canvas<'_>, model: &Model, inv: &Inventory, detail: Detail, gap: &'static str) -> Vec<Bit> {
    let mut out = Vec::new();
    let seldom = |id: SourceId, health: &SourceHealth| {
        id == SourceId::Registry
            && matches!(health.status(model.now), SourceStatus::Off | SourceStatus::Fresh | SourceStatus::Loading)
    };
    for (id, health) in inv.sources.iter().filter(|(id, health)| !seldom(*id, health)) {
        if !out.is_empty() {
            out.push(Bit::text(gap));
        }
        out.extend(source(canvas, model, (id, health), detail));
    }
    out
}

fn source(canvas: &Canvas<'_>, model: &Model, (id, health): (SourceId, &SourceHealth), detail: Detail) -> Vec<Bit> {
    let status = health.status(model.now);
    let (sign, word) = source_sign(canvas, status);
    let role = sign.role;
    let mut out = vec![Bit::muted(id.label()), Bit::text(" "), sign];
    let age = || health.age(model.now).map(format::late_age);
    let text = match (status, detail) {
        (SourceStatus::Fresh, Detail::Full) => format::fresh_age(health.fresh_bound()),
        (SourceStatus::Fresh, _) | (_, Detail::Sign) | (SourceStatus::Off, Detail::Late) => String::new(),
        (SourceStatus::Stale, Detail::Full | Detail::Late) => format!("{word} {}", age().unwrap_or_default()),
        (SourceStatus::Stale, Detail::Age) => age().unwrap_or_default(),
        (_, Detail::Age) => String::new(),
        _ => word.to_owned(),
    };
    if !text.is_empty() {
        let role = if status == SourceStatus::Fresh { Role::Muted } else { role };
        out.extend([Bit::text(" "), Bit::new(text, role)]);
    }
    out
}

/// Draws where we are, and the counts of what is wrong, into row `y`.
pub fn breadcrumb(canvas: &mut Canvas<'_>, model: &Model, y: u16) {
    let width = canvas.area().width;
    let counts = match (model.screen(), &model.inquiry) {
        (Screen::Isolation { .. } | Screen::Cell { .. }, _) => of_table(canvas, model),
        (Screen::Diagnose { .. } | Screen::Finding { .. } | Screen::Evidence { .. }, Some(inquiry)) => {
            of_check(canvas, inquiry)
        }
        _ => model.picture().map(|inv| counts(canvas, model, inv)).unwrap_or_default(),
    };
    let counts = with_changes(canvas, model, counts);
    let path = path(model);
    let path_width = path.iter().fold(0, |sum: u16, part| sum.saturating_add(canvas.width(part) + 3));
    let room = width.saturating_sub(path_width).max(width / 2);
    let right_at = canvas.bits_right(width.saturating_sub(1), y, room, &counts);
    let arrow = format!(" {} ", canvas.look().glyphs.path);
    let mut bits = Vec::new();
    for (i, part) in path.iter().enumerate() {
        if i > 0 {
            bits.push(Bit::muted(arrow.clone()));
        }
        let role = if i + 1 == path.len() { Role::Title } else { Role::Text };
        bits.push(Bit::new(part.clone(), role));
    }
    canvas.bits((1, y), right_at.saturating_sub(2), &bits);
    canvas.hit(Rect::new(0, y, right_at, 1), crate::console::msg::Hit::Command("back"));
}

/// Every screen says that a change runs, or is open.
fn with_changes(canvas: &Canvas<'_>, model: &Model, counts: Vec<Bit>) -> Vec<Bit> {
    let open = model.changes.shelf.as_ref().map_or(0, |shelf| shelf.unfinished().count());
    let busy = model.changes.running().is_some() || model.changes.approved.is_some();
    let mut out = match (busy, open) {
        (true, _) => counted(canvas, Class::Progress, "1 change running"),
        (false, 0) => return counts,
        (false, n) => counted(canvas, Class::Pending, &format!("{} open", format::plural(n, "change"))),
    };
    // Where there is no room for both, what this console does comes first.
    if matches!(model.screen(), Screen::Change(_)) || counts.is_empty() {
        return out;
    }
    out.push(Bit::muted(" · "));
    out.extend(counts);
    out
}

fn path(model: &Model) -> Vec<String> {
    let title = |list: ListId| lists::def(list).title.to_owned();
    let board = |tenant: &Arc<str>| {
        let mut path = vec!["Tenants".to_owned(), tenant.to_string()];
        match (model.layout(), model.focus) {
            (Layout::Compact | Layout::TooSmall, _) => path.push(title(model.tab)),
            (_, Focus::Pane(list)) => path.push(title(list)),
            (_, Focus::Rail) => {}
        }
        path
    };
    match model.screen() {
        Screen::Tenants if model.layout() <= Layout::Compact => vec!["Tenants".into()],
        Screen::Tenants => model.board.as_ref().map_or_else(|| vec!["Tenants".into()], board),
        Screen::Board { tenant } => board(tenant),
        Screen::List { list: ListId::Tenants, .. } => vec!["Tenants".into()],
        Screen::List { list, scope: Scope::All } if lists::def(*list).columns.iter().any(|c| c.key == "tenant") => {
            vec![format!("{} · all tenants", title(*list))]
        }
        Screen::List { list, scope: Scope::All } => vec![title(*list)],
        Screen::List { list, scope: Scope::Tenant(t) } => vec!["Tenants".into(), t.to_string(), title(*list)],
        Screen::Overview => vec!["Overview".into()],
        Screen::Fabric => vec!["Fabric".into()],
        Screen::Activity => vec!["Activity".into()],
        Screen::Sources => vec!["Sources".into()],
        Screen::Resolve { .. } => {
            let name = model.question.as_ref().map(|q| q.found.target.name.to_string());
            ["Diagnose".into(), "resolve".into()].into_iter().chain(name).collect()
        }
        Screen::Change(page) => crate::console::screens::change::path(model, page),
        Screen::Isolation { .. } => vec!["Diagnose".into(), "isolation".into()],
        Screen::Cell { at: (from, to), .. } => {
            vec!["Diagnose".into(), "isolation".into(), format!("{from} → {to}")]
        }
        Screen::Diagnose { .. } => diagnose(model),
        Screen::Evidence { spot, .. } => {
            let of = match spot {
                Some(Spot::Leg(at)) => format!("leg {}", at + 1),
                Some(Spot::Finding((id, _))) => (*id).to_owned(),
                None => "flows".to_owned(),
            };
            diagnose(model).into_iter().chain([of]).collect()
        }
        Screen::Finding { key, json, .. } => {
            let tail = json.then(|| "JSON".to_owned());
            diagnose(model).into_iter().chain(key.as_ref().map(|(id, _)| (*id).to_owned())).chain(tail).collect()
        }
        Screen::Text { subject, form, .. } => {
            let form = match form {
                TextForm::Describe => "description",
                TextForm::Yaml => "YAML",
                TextForm::Json => "JSON",
            };
            let mut path: Vec<_> = model.picture().map(|inv| nav::name_of(inv, subject)).into_iter().collect();
            path.push(form.into());
            path
        }
    }
}

fn diagnose(model: &Model) -> Vec<String> {
    let inquiry = model.inquiry.as_ref();
    let what = inquiry.map(|i| crate::console::findings::word(i.check).to_owned());
    let whose = inquiry.and_then(|i| i.tenant.as_ref()).map(ToString::to_string);
    std::iter::once("Diagnose".to_owned()).chain(what).chain(whose).collect()
}

/// What the isolation table comes to.
fn of_table(canvas: &Canvas<'_>, model: &Model) -> Vec<Bit> {
    let Some(matrix) = crate::console::isolation::matrix(model) else { return Vec::new() };
    let mut out = Vec::new();
    for (class, words) in crate::console::isolation::counts(matrix) {
        if !out.is_empty() {
            out.push(Bit::muted(" · "));
        }
        out.extend([canvas.glyph(class), Bit::text(format!(" {words}"))]);
    }
    out
}

/// What a check found; nothing before it did.
fn of_check(canvas: &Canvas<'_>, inquiry: &Inquiry) -> Vec<Bit> {
    let Some(diagnosis) = inquiry.diagnosis().filter(|_| !inquiry.is_open()) else { return Vec::new() };
    let (faults, warnings) = (inquiry.count(Severity::Fault), inquiry.count(Severity::Warning));
    let not_run = inquiry.legs_of(State::NotRun);
    let clauses = contract::count(&diagnosis.clauses, &contract::State::Unknown { missing: Vec::new() });
    let mut out = match faults {
        0 => vec![Bit::text("0 faults")],
        n => counted(canvas, Class::Fault, &format::plural(n, "fault")),
    };
    let others = [
        (warnings, Class::Warning, format::plural(warnings, "warning")),
        (diagnosis.report.unknown.len(), Class::Unknown, format!("{} unknown", diagnosis.report.unknown.len())),
        (clauses, Class::Unknown, format!("{} unknown", format::plural(clauses, "clause"))),
        (not_run, Class::NotRun, format!("{not_run} not run here")),
    ];
    for (_, class, text) in others.into_iter().filter(|(n, ..)| *n > 0) {
        out.push(Bit::muted(" · "));
        out.extend(counted(canvas, class, &text));
    }
    out
}

/// Faults, warnings and pending edits of the site; a source without current data, or that keeps parts back, is named as
/// unknown, so that a zero never stands for what was not read.
fn counts(canvas: &Canvas<'_>, model: &Model, inv: &Inventory) -> Vec<Bit> {
    let of =
        |classes: &[Class]| inv.attention.iter().filter(|a| a.kind != "source" && classes.contains(&a.class)).count();
    let (faults, warnings) = (of(&[Class::Fault]), of(&[Class::Warning, Class::Differs]));
    let pending = inv.fabric.pending.as_ref().map(Vec::len);
    let blind: Vec<&str> = inv
        .sources
        .iter()
        .filter(|(_, h)| {
            let parts_denied = h.gaps.iter().any(|g| g.kind == GapKind::Denied);
            parts_denied || !matches!(h.status(model.now), SourceStatus::Fresh | SourceStatus::Off)
        })
        .map(|(id, _)| id.label())
        .collect();
    // A source that answers and hides a part of itself leaves no room for "none" either.
    let whole = blind.is_empty() && inv.attention.iter().all(|a| a.kind != "source");
    let dark = inv.sources.iter().all(|(_, h)| {
        matches!(
            h.status(model.now),
            SourceStatus::Off | SourceStatus::Stale | SourceStatus::Failed | SourceStatus::Unusable
        )
    });
    // Nothing of tenants is known without Proxmox VE: what others tell is joined on it.
    let pve = inv.sources.get(SourceId::Pve).status(model.now);
    let dark = dark || inv.tenants_gap.is_some() || pve != SourceStatus::Fresh;
    let dot = || Bit::muted(" · ");
    let mut out = match faults {
        0 if dark => counted(canvas, Class::Unknown, "faults"),
        0 if whole => vec![canvas.glyph(Class::Fine), Bit::text(" no faults")],
        0 => vec![Bit::text("0 faults")],
        n => counted(canvas, Class::Fault, &format::plural(n, "fault")),
    };
    out.push(dot());
    match warnings {
        0 if dark => out.extend(counted(canvas, Class::Unknown, "warnings")),
        0 => out.push(Bit::text("0 warnings")),
        n => out.extend(counted(canvas, Class::Warning, &format::plural(n, "warning"))),
    }
    out.push(dot());
    match pending {
        Ok(0) => out.push(Bit::text("0 pending")),
        Ok(n) => out.extend(counted(canvas, Class::Pending, &format!("{n} pending"))),
        Err(_) => out.extend(counted(canvas, Class::Unknown, "pending")),
    }
    if !blind.is_empty() {
        out.push(dot());
        out.extend(counted(canvas, Class::Unknown, &blind.join(" ")));
    }
    out
}

fn counted(canvas: &Canvas<'_>, class: Class, text: &str) -> Vec<Bit> {
    let glyph = canvas.glyph(class);
    let role = glyph.role;
    vec![glyph, Bit::text(" "), Bit::new(text.to_owned(), role)]
}

/// The worst finding about `tenant`, else about what no tenant owns; without a tenant the worst of the site.
#[must_use]
pub fn worst<'m>(ctx: &Ctx<'m>, tenant: Option<&str>) -> Option<&'m crate::inventory::Attention> {
    let all = &ctx.inv().attention;
    match tenant {
        None => all.first(),
        Some(name) => all
            .iter()
            .find(|a| a.affects.iter().any(|t| &**t == name))
            .or_else(|| all.iter().find(|a| a.affects.is_empty())),
    }
}
