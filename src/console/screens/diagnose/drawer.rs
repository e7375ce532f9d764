//! What was read for what is under the cursor, in the rows that are left: the values first, then where they are from, what
//! was not tested, and the next steps.

use ratatui::layout::Rect;

use super::{Row, folded, ruled};
use crate::console::findings::{self, Inquiry};
use crate::console::model::Spot;
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::diagnose::evidence::Item;
use crate::diagnose::finding::{Finding, Next};

/// From this many rows on the parts have rules between them.
const ROOMY: u16 = 12;
/// Values shown at most; the evidence has all.
const VALUES: usize = 6;
/// Cells of a label.
const LABEL: usize = 11;

/// The drawer.
pub(super) struct Drawer {
    title: String,
    count: String,
    values: Vec<Row>,
    value: Option<Row>,
    origin: Vec<Row>,
    short: Row,
    not_tested: Vec<Row>,
    next: Vec<Row>,
    /// Rows of the first step.
    first: usize,
    last: Vec<Row>,
    width: u16,
}

impl Drawer {
    pub(super) fn new(canvas: &Canvas<'_>, ctx: &Ctx<'_>, inquiry: &Inquiry, spot: &Spot, width: u16) -> Self {
        let pen = Pen { canvas, width };
        let items = findings::items_of(inquiry, spot);
        let all = inquiry.diagnosis().map_or(0, |d| d.evidence.items.len());
        let title = match spot {
            Spot::Leg(at) => format!("evidence · leg {}", at + 1),
            Spot::Finding((id, _)) => format!("evidence · {id}"),
        };
        let finding = findings::finding_at(inquiry, spot);
        let values = findings::values(inquiry, spot);
        let not_tested = finding.map(|f| f.not_tested.join("; ")).unwrap_or_default();
        let steps = finding.map_or(&[][..], |finding| finding.next.as_slice());
        let key = ctx.key("open");
        let shown: Vec<Row> = values.iter().take(VALUES).flat_map(|(label, value)| pen.pair(label, value)).collect();
        Self {
            title,
            count: if all == 0 { String::new() } else { format!("{key} {} of {all} items", items.len()) },
            values: shown,
            value: values.first().map(|(label, value)| pen.line(label, value)),
            origin: items.first().map(|item| pen.origin(item)).unwrap_or_default(),
            short: items.first().map(|item| pen.short(item)).unwrap_or_default(),
            not_tested: folded(canvas, width, &[Bit::text("  ")], &not_tested, Role::Text),
            next: steps.iter().enumerate().flat_map(|(at, step)| pen.step(ctx, at + 1, step)).collect(),
            first: finding.and_then(|f| f.next.first()).map_or(0, |step| pen.first(step).len()),
            last: pen.last(finding),
            width,
        }
    }

    pub(super) fn draw(self, canvas: &mut Canvas<'_>, area: Rect) {
        let rows = self.rows(canvas, area.height);
        for (y, row) in (area.y..area.bottom()).zip(&rows) {
            canvas.bits((area.x + 1, y), area.width.saturating_sub(2), row);
        }
    }

    /// As many rows as there is room for, the values in all of them.
    fn rows(self, canvas: &Canvas<'_>, height: u16) -> Vec<Row> {
        let head = ruled(canvas, self.width, &self.title, &self.count);
        let value = self.value;
        match height {
            0 => Vec::new(),
            1 => value.into_iter().collect(),
            2 => [Some(head), value].into_iter().flatten().collect(),
            ROOMY.. => {
                let mut out = vec![head];
                out.extend(self.values);
                out.extend(self.origin);
                if !self.not_tested.is_empty() {
                    out.push(ruled(canvas, self.width, "not tested", ""));
                    out.extend(self.not_tested);
                }
                if !self.next.is_empty() {
                    out.push(ruled(canvas, self.width, "next", ""));
                    out.extend(self.next);
                }
                out
            }
            _ => {
                let mut out: Vec<Row> = [Some(head), value].into_iter().flatten().collect();
                let room = usize::from(height).saturating_sub(out.len());
                // What to do is read whole; where a value is from has its own screen.
                if room > self.first || self.first == 0 {
                    out.extend(Some(self.short).filter(|row| !row.is_empty()));
                }
                // The steps in full where there is room for more than one row, else the first one and what was not tested.
                match usize::from(height).saturating_sub(out.len()) {
                    more if more > self.last.len() && !self.next.is_empty() => {
                        out.extend(self.next.into_iter().chain(self.not_tested).take(more));
                    }
                    more => out.extend(self.last.into_iter().take(more)),
                }
                out
            }
        }
    }
}

struct Pen<'p, 'm> {
    canvas: &'p Canvas<'m>,
    width: u16,
}

impl Pen<'_, '_> {
    fn pair(&self, label: &str, value: &str) -> Vec<Row> {
        let fill = LABEL.saturating_sub(usize::from(self.canvas.width(label))).max(1);
        let lead = [Bit::muted(format!("  {label}{}", " ".repeat(fill)))];
        folded(self.canvas, self.width, &lead, value, Role::Text)
    }

    /// The same in one row, cut where it does not fit.
    fn line(&self, label: &str, value: &str) -> Row {
        let fill = LABEL.saturating_sub(usize::from(self.canvas.width(label))).max(1);
        vec![Bit::muted(format!("  {label}{}", " ".repeat(fill))), Bit::text(self.canvas.plain(value).into_owned())]
    }

    fn origin(&self, item: &Item) -> Vec<Row> {
        let (label, text) = findings::spelt(item);
        let asked = self.pair(label, &text);
        // A lookup may ask a hundred ways: what was asked in full is in the evidence.
        self.pair("where", &findings::origin(item).join(", ")).into_iter().chain(asked.into_iter().take(2)).collect()
    }

    /// Where, how and what in one row.
    fn short(&self, item: &Item) -> Row {
        let mut words = vec![item.from.clone()];
        words.extend(findings::origin_short(item));
        vec![Bit::muted(format!("  {}  ", words.join(", "))), Bit::text(findings::spelt(item).1)]
    }

    fn step(&self, ctx: &Ctx<'_>, number: usize, step: &Next) -> Vec<Row> {
        let lead = [Bit::new(format!("  {number}  "), Role::Accent)];
        let mut rows =
            folded(self.canvas, self.width, &lead, &format!("{} · danger {}", step.text, step.danger), Role::Text);
        if let Some(command) = &step.command {
            let key = ctx.key(&format!("step {number}"));
            let lead = [Bit::muted("     $ ")];
            let hint = if key.is_empty() { String::new() } else { format!("   ({key} copies it)") };
            rows.extend(folded(self.canvas, self.width, &lead, &format!("{command}{hint}"), Role::Text));
        }
        rows
    }

    fn first(&self, step: &Next) -> Vec<Row> {
        let lead = [Bit::muted("  next "), Bit::new("1 ", Role::Accent)];
        folded(self.canvas, self.width, &lead, &format!("{} · danger {}", step.text, step.danger), Role::Text)
    }

    /// The first next step, and what was not tested.
    fn last(&self, finding: Option<&Finding>) -> Vec<Row> {
        let Some(finding) = finding else { return Vec::new() };
        let mut rows = finding.next.first().map_or_else(Vec::new, |step| self.first(step));
        if let Some(what) = finding.not_tested.first() {
            rows.extend(folded(self.canvas, self.width, &[Bit::muted("  not tested ")], what, Role::Text));
        }
        rows
    }
}
