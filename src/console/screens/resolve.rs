//! Resolve: one name at every vantage point, side by side where there is room, else one below the other.

use ratatui::layout::Rect;

use super::text;
use crate::console::list::Cell;
use crate::console::resolve::{self, Question};
use crate::console::theme::Role;
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas, wrap};
use crate::console::widgets::frame::Titles;
use crate::diagnose::resolve::{Column, State};
use crate::inventory::Class;
use crate::text::{Cut, cut, pad};

/// From this width on the vantage points stand side by side (screens.md 10).
const WIDE: u16 = 110;
/// Cells of the names of the lines.
const LABEL: u16 = 10;
/// Cells of what is expected, beside the vantage points.
const EXPECTED: u16 = 19;
/// Cells of a vantage point's name, where vantage points are rows.
const NAME: u16 = 18;
/// Cells of code, TTL, time taken and state there.
const FIELDS: [u16; 4] = [13, 7, 8, 14];
/// Blanks before what is said more about a vantage point.
const INDENT: usize = 4;

/// Draws the question into `area`, from line `scroll` on.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, scroll: usize) {
    let Some(question) = &ctx.model.question else {
        canvas.bits((area.x + 2, area.y + 1), area.width.saturating_sub(3), &[Bit::muted("Nothing was asked yet.")]);
        return;
    };
    let found = &question.found;
    let titles = Titles {
        title: format!("{} {}", found.target.name, found.target.kind),
        right: vec![Bit::muted(format!("asked {}", found.at.strftime("%H:%M:%SZ")))],
        focused: true,
        ..Titles::default()
    };
    let page = Page { canvas, question, ctx, width: area.width.saturating_sub(2) };
    let (mut rows, cut) = if area.width >= WIDE { page.wide() } else { page.narrow() };
    if cut {
        rows.extend(page.in_full());
    }
    rows.extend(page.reasons());
    text::page(canvas, area, &titles, &rows, scroll);
}

type Row = Vec<Bit>;

struct Page<'p, 'm> {
    canvas: &'p Canvas<'m>,
    question: &'p Question,
    ctx: &'p Ctx<'m>,
    width: u16,
}

impl Page<'_, '_> {
    /// A rule with a title within the text.
    fn rule(&self, title: &str) -> Row {
        let line = self.canvas.look().glyphs.horizontal;
        let rest = self.width.saturating_sub(self.canvas.width(title) + 3);
        vec![
            Bit::new(line, Role::Border),
            Bit::text(" "),
            Bit::new(title.to_owned(), Role::Title),
            Bit::text(" "),
            Bit::new(line.repeat(usize::from(rest)), Role::Border),
        ]
    }

    /// `cell` in exactly `width` cells with a gap behind it, cut where `place` says; and whether it was cut.
    fn cell(&self, cell: &Cell, width: u16, place: Cut) -> (Vec<Bit>, bool) {
        let charset = self.canvas.charset();
        let mut bits: Vec<Bit> = cell.class.map(|class| self.canvas.glyph(class)).into_iter().collect();
        let sign = if bits.is_empty() { 0 } else { 2 };
        bits.extend((sign > 0).then(|| Bit::text(" ")));
        let plain = self.canvas.plain(&cell.text).into_owned();
        let kept = cut(&plain, usize::from(width.saturating_sub(sign + 1)), place, charset);
        let padded = pad(&kept, usize::from(width.saturating_sub(sign)), charset).into_owned();
        bits.push(Bit::new(padded, cell.role));
        (bits, kept != plain)
    }

    /// Vantage points side by side, and whether answers are cut.
    fn wide(&self) -> (Vec<Row>, bool) {
        let found = &self.question.found;
        let lines = resolve::lines(found, self.ctx.model.now);
        let room = self.width.saturating_sub(LABEL + EXPECTED);
        // What five do not share evenly goes to the first of them.
        let widths = (0..5u16).map(|n| room / 5 + u16::from(n < room % 5));
        let controls = lines.len().saturating_sub(found.controls.len());
        let (mut rows, mut any_cut, mut answers) = (Vec::new(), false, false);
        for (n, line) in lines.iter().enumerate() {
            if n == controls {
                rows.push(self.rule("controls, same moment"));
            }
            answers = line.label == resolve::ANSWER || answers && line.label.is_empty();
            // Names differ at their beginning, the rest at both ends.
            let place = if answers { Cut::End } else { Cut::Middle };
            let head = |cell: &Cell| if n == 0 { Cell { role: Role::Title, ..cell.clone() } } else { cell.clone() };
            let (mut row, _) = self.cell(&Cell::muted(line.label.clone()), LABEL, place);
            let cells = std::iter::once((&line.derived, EXPECTED)).chain(line.cells.iter().zip(widths.clone()));
            for (cell, width) in cells {
                let (bits, cut) = self.cell(&head(cell), width, place);
                row.extend(bits);
                any_cut |= cut && answers;
            }
            rows.push(row);
        }
        (rows, any_cut)
    }

    /// A row of the table of vantage points: name, code, answer, TTL, time taken, state.
    fn row(&self, cells: [Cell; 6]) -> (Row, bool) {
        let [code, ttl, took, state] = FIELDS;
        let answer = self.width.saturating_sub(NAME + code + ttl + took + state);
        let widths = [NAME, code, answer, ttl, took, state];
        let (mut row, mut any_cut) = (Row::new(), false);
        for (cell, width) in cells.iter().zip(widths) {
            let (bits, cut) = self.cell(cell, width, Cut::End);
            row.extend(bits);
            any_cut |= cut;
        }
        (row, any_cut)
    }

    /// Vantage points one below the other, and whether answers are cut.
    fn narrow(&self) -> (Vec<Row>, bool) {
        let found = &self.question.found;
        let title = |text| Cell { role: Role::Title, ..Cell::text(text) };
        let (head, _) = self.row(["VANTAGE", "CODE", "ANSWER", "TTL", "TOOK", "STATE"].map(title));
        let derived = found.expected.as_ref().map(resolve::expected_values).unwrap_or_default();
        let (derived, more) = self.fitted(&derived);
        let (expected, mut any_cut) = self.row(["EXPECTED", "derived", &derived, "", "", ""].map(Cell::text));
        let mut rows = vec![head, expected];
        rows.extend(more);
        let because = resolve::lines(found, self.ctx.model.now).into_iter().find(|line| line.label == "how");
        rows.extend(because.filter(|line| line.derived.text != "–").map(|line| self.below(&[line.derived])));
        let (states, _) = found.judge();
        for ((vantage, column), state) in found.columns().zip(states) {
            let (cells, more) = match column {
                None => (self.awaited(resolve::title(vantage, column)), Vec::new()),
                Some(column) => self.answered(column, state),
            };
            let (row, cut) = self.row(cells);
            any_cut |= cut;
            rows.push(row);
            rows.extend(more);
            rows.extend(column.and_then(|column| self.about(column)));
        }
        rows.extend(self.controls());
        (rows, any_cut)
    }

    fn awaited(&self, name: String) -> [Cell; 6] {
        let mut cells = [const { String::new() }; 6].map(Cell::text);
        let waiting = Cell::state(Class::Progress, self.waited());
        for (cell, with) in cells.iter_mut().zip([Cell::text(name), waiting]) {
            *cell = with;
        }
        cells
    }

    /// Values for the column of answers: all in one where they fit, else how many, and a row for each. A single name is cut:
    /// names differ at their beginning, an address that is cut is another one.
    fn fitted(&self, values: &[String]) -> (String, Vec<Row>) {
        let [code, ttl, took, state] = FIELDS;
        let room = self.width.saturating_sub(NAME + code + ttl + took + state + 1);
        let all = values.join(", ");
        let is_name = |value: &String| value.parse::<std::net::IpAddr>().is_err();
        if self.canvas.width(&all) <= room || matches!(values, [one] if is_name(one)) {
            return (all, Vec::new());
        }
        let rows = values.iter().map(|value| {
            let indent = Bit::text(" ".repeat(INDENT));
            vec![indent, Bit::text(crate::text::clean(value).into_owned())]
        });
        (format!("{} below", values.len()), rows.collect())
    }

    fn answered(&self, column: &Column, state: Option<State>) -> ([Cell; 6], Vec<Row>) {
        let kind = self.question.found.target.kind;
        let (values, more) = self.fitted(&resolve::values(kind, column));
        let took = column.answer().map_or_else(|| "–".to_owned(), |a| format!("{} ms", a.took.as_millis()));
        let cells = [
            Cell::text(resolve::title(column.vantage, Some(column))),
            Cell::text(resolve::code(column)),
            Cell::text(values),
            Cell::text(resolve::ttl(kind, column)),
            Cell::text(took),
            state.map_or_else(|| Cell::text(""), resolve::state),
        ];
        (cells, more)
    }

    fn waited(&self) -> String {
        format!("{}s", self.ctx.model.now.duration_since(self.question.found.at).as_secs().max(0))
    }

    /// A row that says more about the one above.
    fn below(&self, cells: &[Cell]) -> Row {
        let mut row = vec![Bit::text(" ".repeat(INDENT))];
        let cells: Vec<Cell> = cells.iter().map(|cell| Cell { role: Role::Muted, ..cell.clone() }).collect();
        row.extend(self.canvas.line_bits(&cells));
        row
    }

    /// Whom, how, flags and the SOA seen.
    fn about(&self, column: &Column) -> Option<Row> {
        if column.asked.is_empty() {
            return None;
        }
        let soa = column.answer().and_then(|answer| answer.soa()).map(|(_, soa)| format!("SOA {}", soa.serial));
        let flags = column.answer().map(|_| resolve::flags(column));
        let words = [Some(resolve::address(column)), Some(resolve::how(column)), flags, soa];
        Some(self.below(&words.into_iter().flatten().map(Cell::text).collect::<Vec<_>>()))
    }

    /// The controls side by side, vantage points below one another.
    fn controls(&self) -> Vec<Row> {
        let found = &self.question.found;
        let Some(each) = self.width.saturating_sub(NAME).checked_div(u16::try_from(found.controls.len()).unwrap_or(1))
        else {
            return Vec::new();
        };
        let mut rows = vec![self.rule("controls, same moment")];
        let line = |name: String, cells: Vec<Cell>| {
            let (mut row, _) = self.cell(&Cell::text(name), NAME, Cut::End);
            row.extend(cells.iter().flat_map(|cell| self.cell(cell, each, Cut::Middle).0));
            row
        };
        let names = found.controls.iter().map(|c| Cell::muted(format!("{} {}", c.name, c.kind)));
        rows.push(line(String::new(), names.collect()));
        for column in found.heard() {
            let cells = (0..found.controls.len()).map(|n| resolve::control(column.controls.get(n)));
            rows.push(line(resolve::title(column.vantage, Some(column)), cells.collect()));
        }
        rows
    }

    /// The values of everybody, where they do not fit beside one another; the same ones once.
    fn in_full(&self) -> Vec<Row> {
        let found = &self.question.found;
        let derived = found.expected.as_ref().map(resolve::expected_values).map(|values| ("expected", values));
        let answered = found.heard().filter(|column| column.answer().is_some());
        let answers = answered.map(|column| (column.vantage.word(), resolve::values(found.target.kind, column)));
        let mut said: Vec<(String, String)> = Vec::new();
        for (who, values) in derived.into_iter().chain(answers) {
            let values = values.join(", ");
            match said.iter_mut().find(|(_, same)| *same == values) {
                Some((others, _)) => *others = format!("{others}, {who}"),
                None => said.push((who.to_owned(), values)),
            }
        }
        let rows = said.iter().flat_map(|(who, what)| self.sentence(who, what, None));
        std::iter::once(self.rule("in full")).chain(rows).collect()
    }

    /// Why somebody said nothing, and what was said beside the answers.
    fn reasons(&self) -> Vec<Row> {
        let all = resolve::reasons(&self.question.found);
        let rows: Vec<Row> = all.iter().flat_map(|r| self.sentence(&r.who, &r.why, r.help.as_deref())).collect();
        if rows.is_empty() { rows } else { std::iter::once(self.rule("why")).chain(rows).collect() }
    }

    /// `who` beside a sentence that goes on below its own start; the remedy below that. Where many have it in common they
    /// stand above.
    fn sentence(&self, who: &str, what: &str, help: Option<&str>) -> Vec<Row> {
        let (lead, room) = (usize::from(NAME), self.width.saturating_sub(NAME));
        let parts = wrap(&self.canvas.plain(what), room).into_iter().map(Bit::text);
        let remedy =
            help.map(|help| wrap(&self.canvas.plain(help), room)).unwrap_or_default().into_iter().map(Bit::muted);
        let head = format!("  {who}");
        let fits = usize::from(self.canvas.width(&head)) < lead;
        let blank = || " ".repeat(lead);
        let first = if fits { pad(&head, lead, self.canvas.charset()).into_owned() } else { blank() };
        let leads = std::iter::once(first).chain(std::iter::repeat_with(blank));
        let above = (!fits).then(|| vec![Bit::muted(head.clone())]);
        let rows = leads.zip(parts.chain(remedy)).map(|(lead, part)| vec![Bit::muted(lead), part]);
        above.into_iter().chain(rows).collect()
    }
}
