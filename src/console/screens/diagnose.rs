//! Diagnose: the path leg by leg, what was found, what is unknown; and one finding in full.

use ratatui::layout::Rect;

use super::text;
use crate::console::findings::{self, Came, Inquiry, result, seen, severity};
use crate::console::list::Cell;
use crate::console::model::Screen;
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::format::plural;
use crate::console::widgets::frame::Titles;
use crate::diagnose::finding::{Finding, Severity, Unknown};
use crate::diagnose::path::{Judged, Path};
use crate::inventory::Class;
use crate::text::{Cut, cut, pad};

/// From this width on a leg says where it is looked at (screens.md 9a, 9b).
const WIDE: u16 = 100;
/// Cells of a leg's number, its name, where it is looked at, its result.
const COLUMNS: [u16; 4] = [4, 22, 16, 15];
/// Cells before what is unknown.
const LEAD: usize = 3;

type Row = Vec<Bit>;

/// Draws the check into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let Screen::Diagnose { follow, scroll, .. } = ctx.model.screen() else { return };
    let Some(inquiry) = &ctx.model.inquiry else {
        let key = ctx.key("explain");
        let hint = format!("Nothing was checked yet. {key} on a row checks it, :check WHAT [TENANT] anything.");
        canvas.bits((area.x + 2, area.y + 1), area.width.saturating_sub(3), &[Bit::muted(hint)]);
        return;
    };
    let right = match &inquiry.came {
        Came::Found(found) => {
            format!("collected {} in {:.1}s", found.at.strftime("%H:%M:%SZ"), found.took.as_secs_f64())
        }
        _ => format!("asked {}", inquiry.asked.strftime("%H:%M:%SZ")),
    };
    let title = match (&inquiry.tenant, inquiry.path()) {
        (Some(tenant), Some(_)) => format!("Path · {tenant} → internet"),
        (None, Some(_)) => "Path · all tenants → internet".to_owned(),
        _ => inquiry.name(),
    };
    let titles = Titles { right: vec![Bit::muted(right)], focused: true, ..Titles::new(title) };
    let page = Page { canvas, inquiry, ctx, width: area.width.saturating_sub(2) };
    let (rows, cursor) = page.rows();
    let height = usize::from(area.height.saturating_sub(2)).max(1);
    let top = match (follow, cursor) {
        (true, Some((first, last))) => (*scroll).max((last + 1).saturating_sub(height)).min(first),
        _ => *scroll,
    };
    text::page(canvas, area, &titles, &rows, top);
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
}

impl Page<'_, '_> {
    /// All rows, and the first and last one of the finding under the cursor.
    fn rows(&self) -> (Vec<Row>, Option<(usize, usize)>) {
        let (class, text) = findings::sentence(self.inquiry, self.ctx.model.now);
        let mut rows = self.folded(&[self.canvas.glyph(class), Bit::text(" ")], &text, Role::Title);
        let Some(found) = self.inquiry.found() else { return (rows, None) };
        let path = self.inquiry.path();
        rows.extend(self.about(path.as_ref()).map(|text| vec![Bit::muted(format!("  {text}"))]));
        if let Some(path) = &path {
            let broken = path.broken().map(|(n, _)| n);
            rows.push(self.head());
            rows.extend((1..).zip(&path.legs).map(|(n, leg)| self.leg(n, leg, broken == Some(n))));
        }
        let mut cursor = None;
        let shown = self.inquiry.findings();
        rows.push(self.rule(&format!("findings · {}", shown.len()), found.others));
        if shown.is_empty() && found.report.unknown.is_empty() {
            rows.push(vec![Bit::muted("   Nothing was found.")]);
        }
        let selected = findings::selected(self.ctx.model).map(Finding::key);
        for finding in shown {
            let here = selected == Some(finding.key());
            let first = rows.len();
            rows.extend(self.finding(finding, here));
            if here {
                cursor = Some((first, rows.len() - 1));
            }
        }
        if !found.report.unknown.is_empty() {
            rows.push(self.rule(&format!("unknown · {}", found.report.unknown.len()), 0));
            rows.extend(found.report.unknown.iter().flat_map(|u| self.unknown(u)));
        }
        (rows, cursor)
    }

    /// Reach, leg, and the danger of the first step; nothing where nothing was found.
    fn about(&self, path: Option<&Path<'_>>) -> Option<String> {
        let first = self.inquiry.headline().filter(|f| f.severity > Severity::Info)?;
        let reach = first.affects.len();
        let tenants = first.affects.iter().all(|who| self.ctx.inv().tenant(who).is_some());
        let mut out = Vec::new();
        out.extend(
            (reach > 0).then(|| format!("Affects {}.", plural(reach, if tenants { "tenant" } else { "object" }))),
        );
        let broken = path.and_then(|path| Some((path.broken()?.0, path.legs.len())));
        out.extend(broken.map(|(leg, all)| format!("Found at leg {leg} of {all}.")));
        out.extend(first.next.first().map(|next| format!("Danger of the next step: {}.", next.danger)));
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

    fn leg(&self, number: usize, leg: &Judged<'_>, broken: bool) -> Row {
        let sign = if broken { self.canvas.look().glyphs.cursor } else { " " };
        self.table([
            Cell::text(format!("{sign}{number:>2}")),
            Cell::text(leg.leg.name),
            Cell::muted(leg.leg.place),
            result(leg.state),
            Cell::text(seen(leg)),
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

    fn unknown(&self, unknown: &Unknown) -> Vec<Row> {
        let why = unknown.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let ids =
            if unknown.ids.is_empty() { String::new() } else { format!(" · not judged: {}", unknown.ids.join(", ")) };
        let lead = [Bit::text(" ".repeat(LEAD)), self.canvas.glyph(Class::Unknown), Bit::text(" ")];
        self.folded(&lead, &format!("{}{why}{ids}", unknown.missing), Role::Text)
    }

    /// A rule with a title within the text, and how many findings were left out.
    fn rule(&self, title: &str, others: usize) -> Row {
        let line = self.canvas.look().glyphs.horizontal;
        let right =
            if others > 0 { format!(" {} about others left out ", plural(others, "finding")) } else { String::new() };
        let rest = self.width.saturating_sub(self.canvas.width(title) + 4 + self.canvas.width(&right));
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
    fn folded(&self, lead: &[Bit], text: &str, role: Role) -> Vec<Row> {
        let start = self.canvas.bits_width(lead);
        let parts = wrap(&self.canvas.plain(text), self.width.saturating_sub(start));
        let blank = || vec![Bit::text(" ".repeat(usize::from(start)))];
        let leads = std::iter::once(lead.to_vec()).chain(std::iter::repeat_with(blank));
        leads.zip(parts).map(|(lead, part)| lead.into_iter().chain([Bit::new(part, role)]).collect()).collect()
    }
}
