//! The journal: every change of the site, newest first.

use ratatui::layout::Rect;

use super::{folded, lines, window};
use crate::console::change::journal as shelf;
use crate::console::model::Model;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::Class;
use crate::provision::conduct::Course;
use crate::text::{Cut, cut, pad};

/// Draws the page.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, area: Rect) {
    let Some(read) = &model.changes.shelf else {
        rule(canvas, Rect { height: 1, ..area }, &Titles { focused: true, ..Titles::new("Journal") });
        return super::waiting(canvas, area, "Reading the journal.");
    };
    let title = format!("Journal · {}", read.entries.len());
    let right = vec![Bit::muted("newest first")];
    rule(canvas, Rect { height: 1, ..area }, &Titles { right, focused: true, ..Titles::new(title) });
    let bad: Vec<_> = read.bad.iter().flat_map(|bad| folded(canvas, area, bad, Role::Warn)).collect();
    let foot = u16::try_from(bad.len()).unwrap_or(0).min(area.height / 3);
    lines(canvas, Rect { y: area.bottom() - foot, height: foot, ..area }, bad);
    if read.entries.is_empty() {
        return super::waiting(canvas, area, "Nothing was changed from here yet.");
    }
    let cursor = shelf::under_cursor(model);
    let at = read.entries.iter().position(|entry| Some(entry.id) == cursor).unwrap_or(0);
    let body = Rect { y: area.y + 2, height: area.height.saturating_sub(2 + foot), ..area };
    let rest = usize::from(area.width.saturating_sub(13 + 16 + 7 + 11));
    let (title, who) = (rest * 3 / 5, rest - rest * 3 / 5);
    let charset = canvas.charset();
    let head =
        format!("  {:<7} {:<title$} {:<15} {:>5}  {:<who$} {:<8}", "CHANGE", "WHAT", "STATE", "STEPS", "WHO", "WHEN");
    canvas.bits((area.x + 1, area.y + 1), area.width.saturating_sub(2), &[Bit::muted(head)]);
    let top = window(at, read.entries.len(), body.height);
    for (y, entry) in (body.y..body.bottom()).zip(read.entries.iter().skip(top)) {
        let selected = Some(entry.id) == cursor;
        let sign = if selected { canvas.look().glyphs.cursor } else { " " };
        let what = cut(&canvas.plain(&entry.plan.title), title, Cut::End, charset).into_owned();
        let by = canvas.plain(&format!("{}@{}", entry.who.user, entry.who.host)).into_owned();
        let by = cut(&by, who, Cut::End, charset).into_owned();
        let (class, word) = shelf::state(read, entry);
        let steps = entry.steps();
        let done = steps.iter().filter(|step| step.verified).count();
        let bits = [
            Bit::new(sign, Role::Accent),
            Bit::text(format!(" {:<7} ", entry.id.to_string())),
            Bit::text(pad(&what, title + 1, charset).into_owned()),
            canvas.glyph(class),
            Bit::text(format!(" {word:<13} {:>5}  ", format!("{done}/{}", steps.len()))),
            Bit::muted(pad(&by, who + 1, charset).into_owned()),
            Bit::muted(format::when(entry.at, model.now)),
        ];
        canvas.bits((body.x + 1, y), body.width.saturating_sub(2), &bits);
        if selected {
            canvas.restyle(Rect::new(body.x, y, body.width, 1), Role::Selection);
            canvas.point(body.x + 1, y);
        }
    }
}

/// What the journal comes to.
pub fn sentence(model: &Model) -> Option<(Class, String)> {
    let read = model.changes.shelf.as_ref()?;
    let open = read.unfinished().count();
    let of = |id| match model.changes.proposal.as_ref()?.offer.as_ref()?.course {
        Course::Resume(own) if own == id => Some(()),
        _ => None,
    };
    if open == 0 {
        return Some((Class::Fine, "no change is open".to_owned()));
    }
    let looked = read.unfinished().any(|entry| of(entry.id).is_some());
    let more = if looked { "" } else { " · :resume goes on" };
    Some((Class::Warning, format!("{} did not come to an end{more}", format::plural(open, "change"))))
}
