//! A plan before it runs (screens.md 12b): a line a step, below them what the step under the cursor does.

use ratatui::layout::Rect;

use super::{awaited, danger, folded, lines, names, steps, waiting, window};
use crate::console::change::words;
use crate::console::change::{Came, Offer, Proposal, proposal};
use crate::console::list::Cell;
use crate::console::model::Model;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::Class;
use crate::provision::object::Danger;
use crate::provision::plan::Preview;
use crate::text::{pad, sentence, sentences};

/// Rows that the detail keeps, its rule included.
const DETAIL: u16 = 7;
/// Cells that a name keeps whatever stands behind it.
const NAME: usize = 26;
/// Below this width what is there now leaves.
const NARROW: u16 = 72;

/// Draws the page.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, area: Rect, at: usize) {
    let Some(proposal) = &model.changes.proposal else {
        rule(canvas, Rect { height: 1, ..area }, &Titles { focused: true, ..Titles::new("Plan") });
        return waiting(canvas, area, "There is no plan here any more.");
    };
    let Some(offer) = &proposal.offer else {
        let title = format!("Plan · {} {}", proposal.wish.name, proposal.wish.words.join(" "));
        rule(canvas, Rect { height: 1, ..area }, &Titles { focused: true, ..Titles::new(title.trim()) });
        return waiting(canvas, area, &awaited(model, proposal));
    };
    let preview = &offer.preview;
    let title = format!("{}{}", preview.plan.title, words::part(&preview.plan, 2, "plan"));
    let titles = Titles { right: vec![danger(preview.danger())], focused: true, ..Titles::new(title) };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    let len = u16::try_from(preview.plan.steps.len()).unwrap_or(u16::MAX);
    let mut above = above(canvas, area, proposal, offer);
    let numbers = model.picture().and_then(|inv| words::numbers(&inv.site, &preview.plan));
    above.splice(0..0, numbers.map(|[line, ..]| vec![Bit::muted(line)]));
    let head = u16::try_from(above.len()).unwrap_or(0).min(area.height / 3);
    lines(canvas, Rect { y: area.y + 1, height: head, ..area }, above);
    let room = area.height.saturating_sub(2 + head + DETAIL).max(1);
    let body = Rect { y: area.y + 2 + head, height: len.min(room).max(1), ..area };
    table(canvas, preview, at, body);
    let below = Rect { y: body.bottom(), height: area.bottom().saturating_sub(body.bottom()), ..area };
    detail(canvas, preview, at, below);
}

/// What stands above the steps: what moved, what stays.
fn above(canvas: &Canvas<'_>, area: Rect, proposal: &Proposal, offer: &Offer) -> Vec<Vec<Bit>> {
    let mut out = Vec::new();
    if let Came::Moved(what) = &proposal.came {
        out.extend(folded(
            canvas,
            area,
            "Nothing was done. This is not as it was when the plan was shown:",
            Role::Warn,
        ));
        out.extend(what.iter().flat_map(|what| folded(canvas, area, what, Role::Text)));
    }
    let said = match &proposal.came {
        Came::Refused(why) => Some(("Nothing was done", why.clone())),
        Came::Failed(trouble) => Some(("It could not be looked at again", sentences(&trouble.text, trouble.help()))),
        _ => None,
    };
    if let Some((lead, why)) = said {
        out.extend(folded(canvas, area, &sentence(&format!("{lead}: {why}")), Role::Warn));
    }
    for (what, why) in &offer.left {
        out.extend(folded(canvas, area, &format!("stays: {what}, {why}"), Role::Warn));
    }
    out
}

/// Cells of the columns: name, now, what it will be. What is there now takes what it needs, within bounds.
fn columns(canvas: &Canvas<'_>, preview: &Preview, width: u16) -> (usize, usize, usize) {
    let rest = usize::from(width.saturating_sub(15));
    if width < NARROW {
        return (rest / 2, 0, rest - rest / 2);
    }
    let widest = |cell: fn(&Preview, usize) -> Cell| {
        let cells = (0..preview.plan.steps.len()).map(|number| canvas.cell_bits(&cell(preview, number)));
        cells.map(|bits| usize::from(canvas.bits_width(&bits))).max().unwrap_or(0)
    };
    let now = widest(words::now).clamp(8, (rest / 5).max(10));
    let names = preview.plan.steps.iter().map(|step| usize::from(canvas.width(&step.object.ensure().name())));
    let names = names.max().unwrap_or(0);
    let rest = rest.saturating_sub(now + 2);
    // What it will be is what is decided on: the name gives way, it stands whole below.
    let will = widest(words::will_be).max(7).min(rest.saturating_sub(names.min(NAME)));
    let name = names.max(18).min(rest.saturating_sub(will));
    (name, now, rest.saturating_sub(name))
}

fn table(canvas: &mut Canvas<'_>, preview: &Preview, at: usize, body: Rect) {
    let (name, now, will) = columns(canvas, preview, body.width);
    let (charset, names) = (canvas.charset(), names::of(canvas, &preview.plan, name));
    let head = if now > 0 {
        format!("  #  {:<6} {:<name$} {:<now$} WILL BE", "WHERE", "STEP", "NOW")
    } else {
        format!("  #  {:<6} {:<name$} WILL BE", "WHERE", "STEP")
    };
    canvas.bits((body.x + 1, body.y - 1), body.width.saturating_sub(2), &[Bit::muted(head)]);
    let top = window(at, preview.plan.steps.len(), body.height);
    for (y, number) in (body.y..body.bottom()).zip(top..preview.plan.steps.len()) {
        let Some(step) = preview.plan.steps.get(number) else { continue };
        let object = step.object.ensure();
        let sign = if number == at { canvas.look().glyphs.cursor } else { " " };
        let role = if preview.does(number) { Role::Text } else { Role::Muted };
        let text = names.get(number).map_or("", String::as_str);
        let mut bits = vec![
            Bit::new(sign, Role::Accent),
            Bit::text(format!("{:>2}  ", number + 1)),
            Bit::muted(pad(&canvas.plain(object.place().word()), 7, charset).into_owned()),
            Bit::new(pad(text, name + 1, charset).into_owned(), role),
        ];
        if now > 0 {
            let cell = words::now(preview, number);
            let start = canvas.bits_width(&bits);
            canvas.bits((body.x + 1, y), body.width.saturating_sub(2), &bits);
            let cell_bits = canvas.cell_bits(&cell);
            canvas.bits((body.x + 1 + start, y), u16::try_from(now).unwrap_or(0), &cell_bits);
            let x = body.x + 1 + start + u16::try_from(now).unwrap_or(0) + 1;
            bits = canvas.cell_bits(&words::will_be(preview, number));
            canvas.bits((x, y), u16::try_from(will).unwrap_or(0), &bits);
        } else {
            bits.extend(canvas.cell_bits(&words::will_be(preview, number)));
            canvas.bits((body.x + 1, y), body.width.saturating_sub(2), &bits);
        }
        if number == at {
            canvas.restyle(Rect::new(body.x, y, body.width, 1), Role::Selection);
            canvas.point(body.x + 1, y);
        }
    }
}

fn detail(canvas: &mut Canvas<'_>, preview: &Preview, at: usize, area: Rect) {
    let Some(step) = preview.plan.steps.get(at) else { return };
    let object = step.object.ensure();
    let right = vec![Bit::muted(words::undo(preview, at))];
    let (title, mut all) = names::whole(canvas, area, (at, &object.name()), &right);
    rule(canvas, Rect { height: 1, ..area }, &Titles { right, ..Titles::new(title) });
    match preview.looks.get(at) {
        Some(Err(why)) => {
            let lead = match (step.follows, why.kind.is_known()) {
                (true, _) => "Told once the steps before it ran",
                (false, true) => "In the way",
                (false, false) => "Could not be told",
            };
            all.extend(folded(canvas, area, &format!("{lead}: {}", sentence(&why.text)), Role::Text));
            all.extend(why.help().into_iter().flat_map(|help| folded(canvas, area, &sentence(help), Role::Muted)));
        }
        Some(Ok(look)) => {
            let riders = object.riders(&look.seen, &preview.plan.steps);
            if let Some(level) = words::step_danger(preview, at) {
                all.push(vec![danger(level), Bit::muted(reach(level))]);
            }
            if !riders.is_empty() {
                let text = format!("Goes along, and is not of this plan: {}", sentence(&riders.join(", ")));
                all.extend(folded(canvas, area, &text, Role::Warn));
            }
            if step.follows && preview.does(at) {
                all.push(vec![Bit::muted("It is looked at again once the steps before it ran.")]);
            }
            for change in look.todo.changes() {
                all.push(super::sheet::change(change));
            }
        }
        None => {}
    }
    lines(canvas, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, all);
}

const fn reach(level: Danger) -> &'static str {
    match level {
        Danger::Look => "  reads only",
        Danger::One => "  one object, can be taken back",
        Danger::Tenant => "  traffic or data of one tenant",
        Danger::Shared => "  other tenants notice",
        Danger::Final => "  cannot be taken back",
    }
}

/// How the plan stands, in one sentence.
pub fn message(model: &Model, proposal: &Proposal) -> (Class, String) {
    let Some(offer) = &proposal.offer else {
        return match &proposal.came {
            Came::Failed(trouble) => (Class::Fault, trouble.text.clone()),
            _ => (Class::Progress, "looking at what is there".to_owned()),
        };
    };
    let preview = &offer.preview;
    let at = format::minute(preview.at);
    match (&proposal.came, proposal::ready(model)) {
        (Came::Failed(trouble), _) => (Class::Fault, trouble.text.clone()),
        (Came::Refused(_), _) => (Class::Warning, "it was not begun: read why, then r looks again".to_owned()),
        (Came::Asking, _) => (Class::Progress, "looking again".to_owned()),
        (Came::Beginning, _) => (Class::Progress, "looking once more before the first step".to_owned()),
        (Came::Moved(_), Ok(_)) => {
            (Class::Warning, format!("looked at again {at}: read what moved; {}", words::asks(&preview.question())))
        }
        (_, Ok(_)) => {
            let all = preview.plan.steps.len();
            let doing = (0..all).filter(|number| preview.does(*number)).count();
            let text = format!(
                "{}, {doing} to do · observed {at}, good for 5m · {}",
                steps(all),
                words::asks(&preview.question())
            );
            (Class::Info, text)
        }
        (_, Err(_)) if preview.is_empty() => {
            (Class::Fine, "everything is as it is wanted, nothing is to be done".to_owned())
        }
        (_, Err(why)) => (Class::Warning, format!("not yet: {why}")),
    }
}
