//! The last rows: one sentence, and the keys that help here.

use ratatui::layout::Rect;

use super::ctx::Ctx;
use super::header::worst;
use crate::console::commands;
use crate::console::isolation;
use crate::console::model::{Model, Overlay, Screen};
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::format;
use crate::diagnose::finding::Severity;
use crate::inventory::{Class, SourceId, SourceStatus};

/// Rows that a message takes at most.
const MOST: u16 = 3;

/// What the message line says, its class, and the key at its right; row by row.
pub struct Message {
    class: Class,
    key: String,
    parts: Vec<String>,
}

impl Message {
    /// Rows that it takes, one at least.
    #[must_use]
    pub fn rows(&self) -> u16 {
        u16::try_from(self.parts.len()).unwrap_or(MOST).clamp(1, MOST)
    }
}

/// The message: what was just done, else the worst finding of what is on screen, else that there is none.
#[must_use]
pub fn message(canvas: &Canvas<'_>, model: &Model) -> Message {
    let ctx = super::ctx(model);
    let changing = crate::console::screens::change::message(model);
    let (class, text, key) = match (&model.notice, &ctx) {
        (Some(notice), _) => (notice.class, notice.text.clone(), String::new()),
        _ if changing.is_some() => {
            let (class, text) = changing.unwrap_or((Class::Info, String::new()));
            (class, text, String::new())
        }
        (None, Some(ctx)) => sentence(ctx),
        (None, None) => (Class::Progress, "Reading the site for the first time.".into(), String::new()),
    };
    let room = room(canvas, &key);
    // What was just said is read whole: until the next key the page is shorter by its further rows. What fills the screen keeps all its own.
    let most = if matches!(model.overlay, Overlay::Approve(_) | Overlay::Paste(_)) { 1 } else { usize::from(MOST) };
    let parts = match &model.notice {
        Some(_) if canvas.width(&text) > room => {
            let mut parts = wrap(&canvas.plain(&text), room);
            if let Some(dropped) = parts.get(most..).filter(|dropped| !dropped.is_empty()) {
                // The last row is cut where it is drawn.
                let rest = format!(" {}", dropped.join(" "));
                parts.truncate(most);
                parts.iter_mut().skip(most - 1).for_each(|last| last.push_str(&rest));
            }
            parts
        }
        _ => vec![text],
    };
    Message { class, key, parts }
}

/// Columns for the words beside their sign and the key.
fn room(canvas: &Canvas<'_>, key: &str) -> u16 {
    let key = if key.is_empty() { 0 } else { canvas.width(key) + 2 };
    canvas.area().width.saturating_sub(4 + key)
}

/// Draws the message from row `y` on.
pub fn draw(canvas: &mut Canvas<'_>, message: Message, y: u16) {
    let Message { class, key, parts } = message;
    let (width, room) = (canvas.area().width, room(canvas, &key));
    canvas.clear(Rect::new(0, y, width, MOST.min(canvas.area().height.saturating_sub(y + 1))), Role::Text);
    let role = if class == Class::Fault { Role::Fault } else { Role::Text };
    for (n, (y, part)) in (y..).zip(parts).enumerate() {
        let sign = if n == 0 { canvas.glyph(class) } else { Bit::text(" ") };
        canvas.bits((1, y), room + 2, &[sign, Bit::text(" "), Bit::new(part, role)]);
    }
    if !key.is_empty() {
        canvas.bits_right(width.saturating_sub(1), y, canvas.width(&key) + 2, &[Bit::muted(key)]);
    }
}

/// The worst cell of the isolation table, else a fault that is in no cell, else how many are proven.
fn of_table(ctx: &Ctx<'_>) -> Option<(Class, String, String)> {
    if !matches!(ctx.model.screen(), Screen::Isolation { .. } | Screen::Cell { .. }) {
        return None;
    }
    let (class, text) = isolation::sentence(isolation::matrix(ctx.model)?);
    let inquiry = ctx.model.inquiry.as_ref().filter(|i| i.id == ctx.model.isolation.id);
    let fault = inquiry.filter(|i| i.headline().is_some_and(|f| f.severity == Severity::Fault));
    Some(match fault {
        Some(inquiry) if class < Class::Fault => {
            let (class, text) = crate::console::findings::short(inquiry, ctx.model.now);
            (class, text, format!("{} shows it", ctx.key("explain")))
        }
        _ => (class, text, String::new()),
    })
}

fn sentence(ctx: &Ctx<'_>) -> (Class, String, String) {
    if let (Screen::Resolve { .. }, Some(question)) = (ctx.model.screen(), &ctx.model.question) {
        let (class, text) = crate::console::resolve::sentence(question);
        return (class, text, String::new());
    }
    if let Some(said) = of_table(ctx) {
        return said;
    }
    if let (Screen::Diagnose { .. } | Screen::Finding { .. } | Screen::Evidence { .. }, Some(inquiry)) =
        (ctx.model.screen(), &ctx.model.inquiry)
    {
        let (class, text) = crate::console::findings::short(inquiry, ctx.model.now);
        return (class, text, String::new());
    }
    let tenant = match ctx.model.screen() {
        Screen::Board { tenant } => Some(std::sync::Arc::clone(tenant)),
        Screen::Tenants if ctx.model.layout() > crate::console::model::Layout::Compact => ctx.model.board.clone(),
        _ => None,
    };
    let marks = ctx.model.focused_state().map_or(0, |s| s.marks.len());
    if marks > 0 {
        let text = format!("{marks} marked · an action takes the marked rows, not the cursor row");
        return (Class::Info, text, String::new());
    }
    if let Some(name) = tenant.as_ref().filter(|t| ctx.inv().tenants_gap.is_none() && ctx.inv().tenant(t).is_none()) {
        return (Class::Unknown, format!("{name} is not in the newest picture"), String::new());
    }
    if let Some(a) = worst(ctx, tenant.as_deref()) {
        let go = ctx.key("go overview");
        let key = if go.is_empty() || *ctx.model.screen() == Screen::Overview {
            String::new()
        } else {
            format!("{go} overview")
        };
        return (a.class, format!("{}: {}", a.place, a.what), key);
    }
    let place = tenant.map_or_else(String::new, |t| format!("{t}: "));
    let health = ctx.inv().sources.get(SourceId::Pve);
    let read = health.observed_at.map(format::minute).unwrap_or_default();
    let mut sources = ctx.inv().sources.iter();
    let awaited = sources.find(|(_, h)| h.status(ctx.model.now) == SourceStatus::Loading).map(|(id, _)| id.words());
    match (health.status(ctx.model.now), awaited) {
        (SourceStatus::Fresh, Some(who)) => {
            (Class::Progress, format!("{place}no findings so far · asking {who}"), String::new())
        }
        (SourceStatus::Fresh, None) => (Class::Fine, format!("{place}no findings · read {read}"), String::new()),
        (SourceStatus::Loading, _) => {
            (Class::Progress, format!("{place}asking {}", SourceId::Pve.words()), String::new())
        }
        (SourceStatus::Stale, _) => {
            (Class::Unknown, format!("{place}no findings in what was read at {read}, which is old"), String::new())
        }
        _ => (
            Class::Unknown,
            format!("{place}findings are unknown: {} was not read", SourceId::Pve.words()),
            String::new(),
        ),
    }
}

/// Draws the key hints: as many whole ones as fit, help always among them.
pub fn hints(canvas: &mut Canvas<'_>, model: &Model, y: u16) {
    let width = canvas.area().width;
    let all = commands::hints(model);
    let (help, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, word)| word == "help");
    let size = |canvas: &Canvas<'_>, (key, word): &(String, String)| canvas.width(key) + 1 + canvas.width(word) + 2;
    let help_size: u16 = help.iter().map(|h| size(canvas, h)).sum();
    let mut x = 1;
    let mut shown = Vec::new();
    for hint in others {
        let own = size(canvas, &hint);
        if x + own + help_size > width + 1 {
            continue;
        }
        x += own;
        shown.push(hint);
    }
    shown.extend(help);
    let mut x = 1;
    for (key, word) in shown {
        let bits = [Bit::new(key, Role::Accent), Bit::text(" "), Bit::muted(word)];
        let used = canvas.bits((x, y), width.saturating_sub(x), &bits);
        x += used + 2;
    }
}
