//! What is asked before a tenant is onboarded (screens.md 12a), with checks while it is typed.

use ratatui::layout::Rect;

use super::{folded, lines};
use crate::console::change::form::{ASKED, Check, checks, hint, own};
use crate::console::model::{Model, Overlay};
use crate::console::theme::Role;
use crate::console::view::field;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::Class;

/// Cells of the labels.
const LABEL: u16 = 14;
/// Where what follows from a field stands behind it.
const HINT: u16 = 18;

/// Draws the page.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, area: Rect) {
    let Some(form) = &model.changes.form else { return };
    let titles = Titles {
        right: vec![Bit::muted("the draft is kept")],
        focused: true,
        ..Titles::new("Onboard a tenant · step 1 of 4: name")
    };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    let all = checks(model);
    let (half, why) = (all.len().div_ceil(2), whys(canvas, area, &all));
    let needed = ASKED.len() + half + why.len() + 2 + usize::from(!why.is_empty());
    // Blank lines give way to what has to be read.
    let roomy = usize::from(area.height) >= needed + 3;
    let mut y = area.y + 1 + u16::from(roomy);
    for (at, ((key, label), typed)) in ASKED.iter().zip(&form.fields).enumerate() {
        let focused = at == form.at;
        let role = if focused { Role::Accent } else { Role::Muted };
        canvas.bits((area.x + 2, y), LABEL, &[Bit::new(*label, role)]);
        let x = area.x + 2 + LABEL;
        let width = area.width.saturating_sub(LABEL + 4);
        if focused && matches!(model.overlay, Overlay::None) {
            field::draw(canvas, (x, y), width, typed, "");
        } else {
            canvas.bits((x, y), width, &[Bit::new(typed.value().to_owned(), Role::Input)]);
        }
        if let Some(hint) = hint(model, key) {
            let start =
                if typed.value().is_empty() && !focused { 0 } else { HINT.max(canvas.width(typed.value()) + 2) };
            canvas.bits((x + start, y), width.saturating_sub(start), &[Bit::muted(hint)]);
        }
        y += 1;
    }
    y += u16::from(roomy);
    let failed = all.iter().filter(|check| check.class == Class::Fault).count();
    let right = if failed == 0 {
        Vec::new()
    } else {
        vec![canvas.glyph(Class::Fault), Bit::text(format!(" {failed} of {}", all.len()))]
    };
    rule(canvas, Rect::new(area.x, y, area.width, 1), &Titles { right, ..Titles::new("preflight, as you type") });
    let width = (area.width.saturating_sub(4)) / 2;
    for (n, check) in all.iter().enumerate() {
        let (column, row) = (u16::from(n >= half), u16::try_from(n % half.max(1)).unwrap_or(0));
        let bits = [canvas.glyph(check.class), Bit::text(format!(" {}", check.label))];
        let place = (area.x + 2 + column * width, y + 1 + row);
        if place.1 < area.bottom() {
            canvas.bits(place, width.saturating_sub(1), &bits);
        }
    }
    y += 1 + u16::try_from(half).unwrap_or(0) + u16::from(roomy);
    if why.is_empty() || y >= area.bottom() {
        return;
    }
    rule(canvas, Rect::new(area.x, y, area.width, 1), &Titles::new("why"));
    lines(canvas, Rect { y: y + 1, height: area.bottom().saturating_sub(y + 1), ..area }, why);
}

/// Why checks failed or are not known, the worst first.
fn whys(canvas: &Canvas<'_>, area: Rect, all: &[Check]) -> Vec<Vec<Bit>> {
    let mut rows = Vec::new();
    let order = [Class::Fault, Class::Warning, Class::Unknown];
    for check in order.into_iter().flat_map(|class| all.iter().filter(move |check| check.class == class)) {
        let Some(why) = &check.why else { continue };
        let narrow = Rect { width: area.width.saturating_sub(2), ..area };
        for (n, row) in folded(canvas, narrow, why, Role::Text).into_iter().enumerate() {
            let lead = if n == 0 { vec![canvas.glyph(check.class), Bit::text(" ")] } else { vec![Bit::text("  ")] };
            rows.push(lead.into_iter().chain(row).collect());
        }
    }
    rows
}

/// Whether it can go on.
pub fn sentence(model: &Model) -> Option<(Class, String)> {
    let name = model.changes.form.as_ref()?.text("name");
    let all = checks(model);
    let failed = all.iter().filter(|check| check.class == Class::Fault).count();
    let unknown = all.iter().filter(|check| check.class == Class::Unknown).count();
    let waits = all.iter().filter(|check| check.waits).count();
    Some(match (name, failed, unknown) {
        ("", ..) => (Class::Info, "type the tenant's name".to_owned()),
        (name, 0, 0) if waits > 0 => {
            (Class::Progress, format!("{name}: {} not told yet", format::plural(waits, "check")))
        }
        (name, 0, 0) if own(model).is_some() => {
            (Class::Warning, format!("{name} is there: its plan makes only what it lacks"))
        }
        (name, 0, 0) => (Class::Fine, format!("{name} can go on to its plan")),
        (name, 0, n) => {
            (Class::Unknown, format!("{name}: {} not known; the plan looks again", format::plural(n, "check")))
        }
        (name, n, _) => (Class::Fault, format!("{name} cannot go on: {} failed", format::plural(n, "check"))),
    })
}
