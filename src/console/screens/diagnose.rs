//! Diagnose: the sentence, the path leg by leg, what was found, what is unknown; below them what was read for what is
//! under the cursor (screens.md 9a, 9b).

mod drawer;
mod live;

use ratatui::layout::Rect;

use super::text;
use crate::console::findings::{self, Came, Inquiry, Row as Leg, result, seen, severity};
use crate::console::list::Cell;
use crate::console::model::{Screen, Spot};
use crate::console::msg::Hit;
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::format::plural;
use crate::console::widgets::frame::{Titles, rule};
use crate::diagnose::collect::Check;
use crate::diagnose::contract::{Judged, State as ClauseState};
use crate::diagnose::finding::{Finding, Severity, Unknown};
use crate::diagnose::path::State;
use crate::diagnose::report::{inputs, together};
use crate::inventory::Class;
use crate::text::{Cut, cut, pad};

/// From this width on a leg says where it is looked at (screens.md 9a, 9b).
const WIDE: u16 = 100;
/// From this height on the body has a heading over the legs and air around them.
const TALL: u16 = 24;
/// Cells of a leg's number, its name, where it is looked at, its result.
const COLUMNS: [u16; 4] = [4, 22, 16, 15];
/// Cells before what is unknown.
const LEAD: usize = 3;
/// Rows of the sentence at most.
const SENTENCE: usize = 2;
/// Rows for what was read, at least; all there is room for on a tall screen.
const DRAWER: u16 = 4;

type Row = Vec<Bit>;

/// Draws the check into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let Some(inquiry) = &ctx.model.inquiry else {
        let key = ctx.key("explain");
        let hint = format!("Nothing was checked yet. {key} on a row checks it, :check WHAT [TENANT] anything.");
        canvas.bits((area.x + 2, area.y + 1), area.width.saturating_sub(3), &[Bit::muted(hint)]);
        return;
    };
    let page = Page { canvas, inquiry, ctx, width: area.width.saturating_sub(2), tall: area.height >= TALL };
    let top = page.top();
    let (rows, cursor) = page.rows();
    let spot = findings::spot(ctx.model).filter(|_| inquiry.found().is_some());
    let live = live::rows(page.canvas, ctx, inquiry, area.width.saturating_sub(2));
    let drawer = spot.map(|spot| drawer::Drawer::new(page.canvas, ctx, inquiry, &spot, area.width.saturating_sub(2)));
    let titles = page.titles();

    let above = area.height.saturating_sub(u16::try_from(top.len()).unwrap_or(0));
    let live_rows = u16::try_from(live.len()).unwrap_or(0);
    // The legs are never cut: their order is the answer. What was read gives way to them.
    let wanted = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(1);
    let legs = u16::try_from(inquiry.leg_count()).unwrap_or(0) + 1 + u16::from(page.tall && inquiry.has_path());
    let least = if drawer.is_some() { DRAWER + 1 } else { 0 };
    let list = wanted.min(above.saturating_sub(least + live_rows)).max(legs.min(above));
    let mut at = area.y;
    for row in &top {
        canvas.bits((area.x + 1, at), area.width.saturating_sub(2), row);
        at += 1;
    }
    rule(canvas, Rect { y: at, height: 1, ..area }, &titles);
    let body = Rect { y: at + 1, height: list.saturating_sub(1), ..area };
    scrolled(canvas, ctx, body, &rows, cursor);
    let mut rest = Rect { y: body.bottom(), height: area.bottom().saturating_sub(body.bottom()), ..area };
    for row in live.iter().take(usize::from(rest.height.saturating_sub(1))) {
        canvas.bits((rest.x + 1, rest.y), rest.width.saturating_sub(2), row);
        rest = Rect { y: rest.y + 1, height: rest.height - 1, ..rest };
    }
    if let Some(drawer) = drawer {
        drawer.draw(canvas, rest);
    }
}

/// Rows of a list that may be longer than its place: the cursor stays on screen.
fn scrolled(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, rows: &[Row], cursor: Option<(usize, usize)>) {
    let Screen::Diagnose { follow, scroll, .. } = ctx.model.screen() else { return };
    let height = usize::from(area.height).max(1);
    let end = rows.len().saturating_sub(height);
    let top = match (follow, cursor) {
        (true, Some((first, last))) => (*scroll).max((last + 1).saturating_sub(height)).min(first),
        _ => *scroll,
    };
    let top = top.min(end);
    canvas.hit(area, Hit::Text { top, end });
    for (y, row) in (area.y..area.bottom()).zip(rows.iter().skip(top)) {
        canvas.bits((area.x + 1, y), area.width.saturating_sub(2), row);
    }
    if let Some((first, _)) = cursor.filter(|(first, _)| (top..top + height).contains(first)) {
        let y = area.y + u16::try_from(first - top).unwrap_or(0);
        canvas.point(area.x, y);
    }
}

/// Draws one finding, or all as JSON, into `area`.
pub fn finding(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let Screen::Finding { key, json, scroll } = ctx.model.screen() else { return };
    let name = key.as_ref().map_or("findings", |(id, _)| id);
    let title = if *json { format!("{name} · JSON") } else { name.to_owned() };
    text::sheet(canvas, area, title, &findings::sheet(ctx.model), *scroll);
}

struct Page<'p, 'm> {
    canvas: &'p Canvas<'m>,
    inquiry: &'p Inquiry,
    ctx: &'p Ctx<'m>,
    width: u16,
    tall: bool,
}

impl Page<'_, '_> {
    fn titles(&self) -> Titles {
        let right = match (&self.inquiry.came, self.inquiry.found()) {
            (Came::Ended, Some(found)) => {
                format!("collected {} in {:.1}s", found.at.strftime("%H:%M:%SZ"), found.took.as_secs_f64())
            }
            _ => format!("asked {}", self.inquiry.asked.strftime("%H:%M:%SZ")),
        };
        let title = match (&self.inquiry.tenant, self.inquiry.has_path()) {
            (Some(tenant), true) => format!("Path · {tenant} → internet"),
            (None, true) => "Path · all tenants → internet".to_owned(),
            _ => self.inquiry.name(),
        };
        Titles { right: vec![Bit::muted(right)], focused: true, ..Titles::new(title) }
    }

    /// The sentence, and below it its reach.
    fn top(&self) -> Vec<Row> {
        let (class, text) = findings::sentence(self.inquiry, self.ctx.model.now);
        let lead = [self.canvas.glyph(class), Bit::text(" ")];
        let mut rows = self.folded(&lead, &text, Role::Title);
        // The findings below have the whole sentence.
        if rows.len() > SENTENCE {
            rows.truncate(SENTENCE);
            rows.last_mut().into_iter().for_each(|row| row.push(Bit::text(self.canvas.look().glyphs.more)));
        }
        rows.extend(self.about().map(|text| vec![Bit::muted(format!("  {text}"))]));
        rows
    }

    /// All rows of the list, and the first and last one under the cursor.
    fn rows(&self) -> (Vec<Row>, Option<(usize, usize)>) {
        let mut rows = Vec::new();
        let mut cursor = None;
        let spot = findings::spot(self.ctx.model);
        if self.inquiry.has_path() && self.tall {
            rows.push(self.head());
        }
        let legs = self.inquiry.legs();
        for (at, leg) in legs.iter().enumerate() {
            let here = spot == Some(Spot::Leg(at));
            cursor = if here { Some((rows.len(), rows.len())) } else { cursor };
            rows.push(self.leg(leg, here));
        }
        if legs.is_empty() && self.inquiry.has_path() {
            rows.extend((1..).zip(&crate::diagnose::path::LEGS).map(|(n, leg)| self.waiting(n, leg)));
        }
        let Some(diagnosis) = self.inquiry.diagnosis() else { return (rows, cursor) };
        // What is found before all has come may be taken back: it is told leg by leg, and in full at the end.
        if self.inquiry.is_open() {
            return (rows, cursor);
        }
        let shown = self.inquiry.findings();
        rows.push(self.rule(&format!("findings · {}", shown.len()), diagnosis.others));
        if shown.is_empty() && diagnosis.report.unknown.is_empty() {
            rows.push(vec![Bit::muted("   Nothing was found.")]);
        }
        for finding in shown {
            let here = spot == Some(Spot::Finding(finding.key()));
            let first = rows.len();
            rows.extend(self.finding(finding, here));
            if here {
                cursor = Some((first, rows.len() - 1));
            }
        }
        rows.extend(self.clauses(&diagnosis.clauses));
        if !diagnosis.report.unknown.is_empty() {
            rows.push(self.rule(&format!("unknown · {}", diagnosis.report.unknown.len()), 0));
            let all: Vec<&Unknown> = diagnosis.report.unknown.iter().collect();
            rows.extend(together(&all).iter().flat_map(|group| self.unknown(group)));
        }
        (rows, cursor)
    }

    /// Reach, leg, and the danger of the first step; by which exit nodes the tenant leaves; who is awaited.
    fn about(&self) -> Option<String> {
        let mut out = Vec::new();
        // What is found before all has come may be taken back, unless a leg is broken.
        let told = !self.inquiry.is_open() || self.inquiry.broken().is_some();
        if let Some(first) = self.inquiry.headline().filter(|f| told && f.severity > Severity::Info) {
            let reach = first.affects.len();
            let tenants = first.affects.iter().all(|who| self.ctx.inv().tenant(who).is_some());
            let what = if tenants { "tenant" } else { "object" };
            out.extend(match first.affects.as_slice() {
                [] => None,
                [one] => Some(format!("Affects {one}.")),
                _ => Some(format!("Affects {}.", plural(reach, what))),
            });
            let all = self.inquiry.leg_count();
            out.extend(self.inquiry.broken().map(|leg| format!("Found at leg {leg} of {all}.")));
            // Where there is little room the step itself says it.
            let danger = first.next.first().filter(|_| self.width >= WIDE);
            out.extend(danger.map(|next| format!("Danger of the next step: {}.", next.danger)));
        }
        let diagnosis = self.inquiry.diagnosis();
        if let Some(open) = diagnosis.filter(|_| self.inquiry.is_open() && !out.is_empty()).map(|d| d.open.iter()) {
            out.push(format!("Still waiting {}.", findings::waiting(open)));
        }
        if let Some(why) = diagnosis.and_then(|d| d.given_up.as_ref()).filter(|_| !out.is_empty()) {
            out.push(format!("The rest is unknown: {}", crate::text::sentence(why)));
        }
        let nodes = diagnosis.map(|d| d.nodes.as_slice()).unwrap_or_default();
        let name = |node: &crate::diagnose::OneNode| {
            if node.primary { format!("{} (primary)", node.name) } else { node.name.clone() }
        };
        let names: Vec<String> = nodes.iter().map(name).collect();
        out.extend((!names.is_empty()).then(|| format!("Leaves by {}.", names.join(" and "))));
        (!out.is_empty()).then(|| out.join(" "))
    }

    fn columns(&self) -> (Vec<u16>, u16) {
        let [number, name, place, result] = COLUMNS;
        let place = if self.width >= WIDE { place } else { 0 };
        (vec![number, name, place, result], self.width.saturating_sub(number + name + place + result))
    }

    /// `cells` in their columns; a column of no width is left out.
    fn table(&self, cells: [Cell; 5]) -> Row {
        let (widths, rest) = self.columns();
        let widths = widths.into_iter().chain([rest]);
        let charset = self.canvas.charset();
        let mut row = Row::new();
        for (cell, width) in cells.iter().zip(widths).filter(|(_, width)| *width > 0) {
            let sign: Vec<Bit> =
                cell.class.map(|class| vec![self.canvas.glyph(class), Bit::text(" ")]).unwrap_or_default();
            let room = usize::from(width.saturating_sub(self.canvas.bits_width(&sign)));
            let plain = self.canvas.plain(&cell.text).into_owned();
            let kept = cut(&plain, room.saturating_sub(1), Cut::End, charset);
            row.extend(sign);
            row.push(Bit::new(pad(&kept, room, charset).into_owned(), cell.role));
        }
        row
    }

    fn head(&self) -> Row {
        self.table(["", "LEG", "WHERE", "RESULT", "WHAT WAS SEEN"].map(|t| Cell { role: Role::Title, ..Cell::text(t) }))
    }

    fn leg(&self, leg: &Leg<'_>, here: bool) -> Row {
        let sign = if here { self.canvas.look().glyphs.cursor } else { " " };
        let role = if here { Role::Title } else { Role::Text };
        let place = match leg.nodes.len() {
            0 => leg.leg.place.to_owned(),
            n => plural(n, "exit node"),
        };
        self.table([
            Cell::text(format!("{sign}{:>2}", leg.number)),
            Cell { role, ..Cell::text(leg.leg.name) },
            Cell::muted(place),
            result(leg.state),
            Cell::text(seen(leg)),
        ])
    }

    /// A leg of which nothing has come.
    fn waiting(&self, number: usize, leg: &crate::diagnose::path::Leg) -> Row {
        let asking = self.inquiry.is_open() && !leg.awaits.is_empty();
        let (state, text) = match &self.inquiry.came {
            _ if leg.awaits.is_empty() => (State::NotRun, format!("needs {}", leg.needs)),
            _ if asking => (State::Asking, String::new()),
            Came::Failed(_) => (State::Unknown, String::new()),
            _ => (State::Unknown, "given up by you".to_owned()),
        };
        self.table([
            Cell::text(format!(" {number:>2}")),
            Cell::text(leg.name),
            Cell::muted(leg.place),
            result(state),
            Cell::muted(text),
        ])
    }

    /// A finding; a consequence is indented under its cause.
    fn finding(&self, finding: &Finding, here: bool) -> Vec<Row> {
        let sign = if here { self.canvas.look().glyphs.cursor } else { " " };
        let deeper = if finding.caused_by.is_some() { "  " } else { "" };
        let class = severity(finding.severity);
        let lead = [Bit::text(format!(" {sign} {deeper}")), self.canvas.glyph(class), Bit::text(" ")];
        let role = if here { Role::Title } else { Role::Text };
        self.folded(&lead, &finding.title, role)
    }

    /// The clauses of the tenant contract: all of them where it was asked for, else those that are broken.
    fn clauses(&self, judged: &[Judged]) -> Vec<Row> {
        let whole = self.inquiry.check == Check::Contract;
        let mut rows = Vec::new();
        for of_tenant in judged.chunk_by(|a, b| a.tenant == b.tenant) {
            let (class, text) = findings::contract(of_tenant);
            rows.push(self.rule("contract", 0));
            rows.extend(self.folded(&[Bit::text("   "), self.canvas.glyph(class), Bit::text(" ")], &text, Role::Title));
            let shown = of_tenant.iter().filter(|one| whole || matches!(one.state, ClauseState::Broken { .. }));
            rows.extend(shown.flat_map(|one| self.clause(one)));
        }
        rows
    }

    fn clause(&self, one: &Judged) -> Vec<Row> {
        let (class, why) = findings::clause(one);
        let lead = [Bit::text("   "), self.canvas.glyph(class), Bit::text(format!(" {:<4}", one.clause))];
        let below = Bit::text(" ".repeat(9));
        let mut rows = self.folded(&lead, one.says, Role::Text);
        if !why.is_empty() {
            rows.extend(self.folded(std::slice::from_ref(&below), &why, Role::Muted));
        }
        // Of everybody the commands would be the same ones again and again.
        if let Some(command) = one.not_run.as_ref().filter(|_| self.inquiry.tenant.is_some()) {
            let lead = [below, self.canvas.glyph(Class::NotRun), Bit::text(" ")];
            rows.extend(self.folded(&lead, &findings::elsewhere(command), Role::Muted));
            rows.extend(self.folded(&[Bit::text(" ".repeat(11)), Bit::muted("$ ")], &command.command, Role::Text));
        }
        rows
    }

    fn unknown(&self, group: &[&Unknown]) -> Vec<Row> {
        let why = group.first().and_then(|u| u.why.as_ref()).map_or_else(String::new, |why| format!(": {why}"));
        let of_one = if let [one] = group { one.ids.as_slice() } else { &[] };
        let ids = match of_one {
            [] => String::new(),
            [one, two, three, _, ..] => {
                format!(" · not judged: {one}, {two}, {three} and {} more", of_one.len() - 3)
            }
            ids => format!(" · not judged: {}", ids.join(", ")),
        };
        let lead = [Bit::text(" ".repeat(LEAD)), self.canvas.glyph(Class::Unknown), Bit::text(" ")];
        self.folded(&lead, &format!("{}{why}{ids}", inputs(group)), Role::Text)
    }

    /// A rule with a title within the text, and how many findings were left out.
    fn rule(&self, title: &str, others: usize) -> Row {
        let right =
            if others > 0 { format!("{} about others left out", plural(others, "finding")) } else { String::new() };
        ruled(self.canvas, self.width, title, &right)
    }

    /// `text` behind `lead`; what does not fit goes on below its own start.
    fn folded(&self, lead: &[Bit], text: &str, role: Role) -> Vec<Row> {
        folded(self.canvas, self.width, lead, text, role)
    }
}

/// A rule with titles, as a row.
fn ruled(canvas: &Canvas<'_>, width: u16, title: &str, right: &str) -> Row {
    let line = canvas.look().glyphs.horizontal;
    let right = if right.is_empty() { String::new() } else { format!(" {right} ") };
    let rest = width.saturating_sub(canvas.width(title) + 4 + canvas.width(&right));
    vec![
        Bit::new(line, Role::Border),
        Bit::text(" "),
        Bit::new(title.to_owned(), Role::Title),
        Bit::text(" "),
        Bit::new(line.repeat(usize::from(rest)), Role::Border),
        Bit::muted(right),
        Bit::new(line, Role::Border),
    ]
}

/// `text` behind `lead`; what does not fit goes on below its own start.
fn folded(canvas: &Canvas<'_>, width: u16, lead: &[Bit], text: &str, role: Role) -> Vec<Row> {
    let start = canvas.bits_width(lead);
    let parts = wrap(&canvas.plain(text), width.saturating_sub(start));
    let blank = || vec![Bit::text(" ".repeat(usize::from(start)))];
    let leads = std::iter::once(lead.to_vec()).chain(std::iter::repeat_with(blank));
    leads.zip(parts).map(|(lead, part)| lead.into_iter().chain([Bit::new(part, role)]).collect()).collect()
}
