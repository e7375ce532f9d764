//! A plan that runs (screens.md 12c), and what it came to (12d).

use jiff::Timestamp;
use ratatui::layout::Rect;

use super::{done, folded, lines, names, second, ways, window};
use crate::console::change::Run;
use crate::console::change::run::{self as running, State, StepRun, ago};
use crate::console::change::words;
use crate::console::findings;
use crate::console::model::Model;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::frame::{Titles, rule};
use crate::inventory::Class;
use crate::provision::trouble::TroubleKind;
use crate::text::{pad, sentence};

/// Rows that what a step tells keeps, its rule included: while it runs, and afterwards.
const DETAIL: (u16, u16) = (6, 3);

/// Draws the page.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, area: Rect, at: Option<usize>) {
    let Some(run) = &model.changes.run else {
        rule(canvas, Rect { height: 1, ..area }, &Titles { focused: true, ..Titles::new("Change") });
        return super::waiting(canvas, area, "Nothing was run from here yet.");
    };
    let until = run.ended.as_ref().map_or(model.now, |end| end.at);
    let name = run.change.map_or_else(String::new, |change| format!("change {change} · "));
    let took = run.ended.as_ref().map_or_else(|| ago(run.began, until), |end| exact(run.began, end.at));
    let part = match run.succeeded() {
        true => words::part(&run.offer.preview.plan, 4, "done"),
        false => words::part(&run.offer.preview.plan, 3, "apply"),
    };
    let titles = Titles {
        right: vec![Bit::muted(format!("{name}{took}"))],
        focused: true,
        ..Titles::new(format!("{}{part}", run.offer.preview.plan.title))
    };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    let summary = done::is_due(run, at);
    let at = at.unwrap_or_else(|| run.current()).min(run.steps.len().saturating_sub(1));
    let result = result(canvas, area, run);
    let head = u16::try_from(result.len()).unwrap_or(0).min(area.height / 3);
    lines(canvas, Rect { y: area.y + 1, height: head, ..area }, result);
    if summary {
        let below = Rect { y: area.y + 1 + head, height: area.height.saturating_sub(1 + head), ..area };
        return done::draw(canvas, model, run, below);
    }
    let len = u16::try_from(run.steps.len()).unwrap_or(u16::MAX);
    let ended = run.ended.is_some();
    let on = running::ways_on(run);
    let on = if ended { ways(canvas, area, &on) } else { Vec::new() };
    let foot = if on.is_empty() { 0 } else { u16::try_from(on.len()).unwrap_or(0) + 1 };
    let detail_rows = if ended { DETAIL.1 } else { DETAIL.0 };
    let room = area.height.saturating_sub(2 + head + detail_rows + foot).max(1);
    let body = Rect { y: area.y + 2 + head, height: len.min(room).max(1), ..area };
    table(canvas, model, run, at, body);
    let foot = Rect { y: area.bottom().saturating_sub(foot), height: foot, ..area };
    let below = Rect { y: body.bottom(), height: foot.y.saturating_sub(body.bottom()), ..area };
    let free = detail(canvas, model, run, at, below);
    // Of a tenant that is gone nothing is checked.
    if run.succeeded() && !on.is_empty() {
        checked(canvas, model, run, free);
    }
    if !on.is_empty() {
        let title = if run.open_change().is_some() { "ways on" } else { "left to do" };
        rule(canvas, Rect { height: 1, ..foot }, &Titles::new(title));
        lines(canvas, Rect { y: foot.y + 1, height: foot.height.saturating_sub(1), ..foot }, on);
    }
}

/// What it came to: where it failed, what helps; how many steps were verified.
fn result(canvas: &Canvas<'_>, area: Rect, run: &Run) -> Vec<Vec<Bit>> {
    let Some(end) = &run.ended else { return Vec::new() };
    let mut out = Vec::new();
    let said = |class: Class, text: String| {
        let narrow = Rect { width: area.width.saturating_sub(2), ..area };
        let mut all = folded(canvas, narrow, &text, Role::Title);
        if let Some(first) = all.first_mut() {
            first.splice(0..0, [canvas.glyph(class), Bit::text(" ")]);
        }
        all
    };
    match run.trouble() {
        None => {
            let (class, text) = running::sentence(run, end.at);
            let name = &run.offer.preview.plan.subject.name;
            out.extend(said(class, sentence(&format!("{name}: {text}")).into_owned()));
        }
        Some(trouble) => {
            let at = run.steps.iter().position(|step| matches!(step.state, State::Failed(_)));
            let place = at.and_then(|at| Some((at, run.offer.preview.plan.steps.get(at)?)));
            let place = place.map_or_else(String::new, |(at, step)| {
                let (name, place) = (step.object.ensure().name(), step.object.ensure().place().word());
                // What names the object itself is not told twice.
                let name = if trouble.text.contains(&name) { String::new() } else { format!(", {name}") };
                format!("step {}{name} on {place}: ", at + 1)
            });
            let class = if trouble.kind == TroubleKind::Stopped { Class::Warning } else { Class::Fault };
            out.extend(said(class, sentence(&format!("{place}{}", trouble.text)).into_owned()));
            out.extend(trouble.help().into_iter().flat_map(|help| folded(canvas, area, &sentence(help), Role::Muted)));
        }
    }
    for (what, why) in &run.given {
        out.push(match why {
            None => vec![canvas.glyph(Class::Fine), Bit::text(format!(" {what}: given back"))],
            Some(why) => vec![
                canvas.glyph(Class::Fault),
                Bit::new(format!(" {what} could not be given back: {}", why.text), Role::Fault),
            ],
        });
    }
    out
}

/// Time taken, as it stands once it is over.
fn exact(from: Timestamp, to: Timestamp) -> String {
    let took = to.duration_since(from);
    let seconds = took.as_secs().max(0);
    match seconds {
        0..10 => format!("{}.{}s", seconds, took.subsec_millis().max(0) / 100),
        10..60 => format!("{seconds}s"),
        _ => format!("{}m {}s", seconds / 60, seconds % 60),
    }
}

fn state(canvas: &Canvas<'_>, run: &Run, step: &StepRun, now: Timestamp) -> Vec<Bit> {
    let took = || step.began.zip(step.ended).map(|(from, to)| format!("  {}", exact(from, to))).unwrap_or_default();
    let (class, word) = match &step.state {
        State::Next if run.ended.is_some() => (Class::Absent, "not begun".to_owned()),
        State::Next => return vec![Bit::muted("  next")],
        State::Begun => {
            let last = step.lines.last().map_or("working", |(_, line)| line.as_str());
            (Class::Progress, format!("{last}  {}", step.began.map(|at| ago(at, now)).unwrap_or_default()))
        }
        State::Applied => (Class::Progress, "done, is read again".to_owned()),
        State::Verified => (Class::Fine, format!("verified{}", took())),
        State::Satisfied => (Class::Fine, "nothing to do".to_owned()),
        State::Failed(trouble) if trouble.kind == TroubleKind::Stopped => (Class::Warning, "stopped".to_owned()),
        State::Failed(_) => (Class::Fault, format!("failed{}", took())),
    };
    vec![canvas.glyph(class), Bit::text(format!(" {word}"))]
}

fn table(canvas: &mut Canvas<'_>, model: &Model, run: &Run, at: usize, body: Rect) {
    let name = usize::from(body.width.saturating_sub(15) / 2).max(20);
    let (charset, names) = (canvas.charset(), names::of(canvas, &run.offer.preview.plan, name));
    let head = format!("  #  {:<6} {:<name$} STATE", "WHERE", "STEP");
    canvas.bits((body.x + 1, body.y - 1), body.width.saturating_sub(2), &[Bit::muted(head)]);
    let top = window(at, run.steps.len(), body.height);
    let steps = run.offer.preview.plan.steps.iter().zip(&run.steps).enumerate().skip(top);
    for (y, (number, (step, came))) in (body.y..body.bottom()).zip(steps) {
        let object = step.object.ensure();
        let sign = if number == at { canvas.look().glyphs.cursor } else { " " };
        let text = names.get(number).map_or("", String::as_str);
        let mut bits = vec![
            Bit::new(sign, Role::Accent),
            Bit::text(format!("{:>2}  ", number + 1)),
            Bit::muted(pad(&canvas.plain(object.place().word()), 7, charset).into_owned()),
            Bit::text(pad(text, name + 1, charset).into_owned()),
        ];
        bits.extend(state(canvas, run, came, model.now));
        canvas.bits((body.x + 1, y), body.width.saturating_sub(2), &bits);
        if number == at {
            canvas.restyle(Rect::new(body.x, y, body.width, 1), Role::Selection);
            canvas.point(body.x + 1, y);
        }
    }
}

/// What the step told, the newest last; returns what is left below.
fn detail(canvas: &mut Canvas<'_>, model: &Model, run: &Run, at: usize, area: Rect) -> Rect {
    let Some(step) = run.steps.get(at) else { return area };
    if run.succeeded() && step.lines.is_empty() {
        return area;
    }
    let right = match &run.ended {
        None => vec![Bit::muted(format!("last news {} ago", ago(run.last, model.now)))],
        Some(_) => Vec::new(),
    };
    let name = run.offer.preview.plan.steps.get(at).map(|step| step.object.ensure().name()).unwrap_or_default();
    let (title, mut all) = names::whole(canvas, area, (at, &name), &right);
    rule(canvas, Rect { height: 1, ..area }, &Titles { right, ..Titles::new(title) });
    let room = usize::from(area.height.saturating_sub(1)).saturating_sub(all.len());
    let running = run.ended.is_none();
    let kept = if running { room.saturating_sub(3).max(1) } else { room };
    let told = step.lines.iter().skip(step.lines.len().saturating_sub(kept));
    all.extend(told.map(|(when, line)| vec![Bit::muted(format!("{}  ", second(*when))), Bit::text(line.clone())]));
    if running {
        if step.lines.is_empty() {
            let over = matches!(step.state, State::Verified | State::Satisfied | State::Failed(_));
            all.push(vec![Bit::muted(if over { "It told nothing." } else { "It has told nothing yet." })]);
        }
        all.push(Vec::new());
        let text = "Losing this session loses nothing: the step is in the journal, and the next start offers to go on.";
        all.extend(folded(canvas, area, text, Role::Muted));
    }
    let used = 1 + u16::try_from(all.len()).unwrap_or(0);
    lines(canvas, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, all);
    Rect { y: area.y + used.min(area.height), height: area.height.saturating_sub(used), ..area }
}

/// What a check of everything came to that was asked for since.
fn checked(canvas: &mut Canvas<'_>, model: &Model, run: &Run, area: Rect) {
    if area.height < 2 || run.open_change().is_some() {
        return;
    }
    let inquiry = done::inquiry(model, run);
    rule(canvas, Rect { height: 1, ..area }, &Titles::new("check all"));
    let bits = match inquiry {
        None => vec![canvas.glyph(Class::NotRun), Bit::muted(" not run since")],
        Some(inquiry) => {
            let (class, text) = findings::short(inquiry, model.now);
            vec![canvas.glyph(class), Bit::text(format!(" {text}"))]
        }
    };
    canvas.bits((area.x + 2, area.y + 1), area.width.saturating_sub(3), &bits);
}
