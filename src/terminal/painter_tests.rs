//! The painter against an emulated terminal.

use proptest::prelude::*;
use ratatui::{
    layout::{Constraint, Layout},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Paragraph, Widget},
};
use unicode_width::UnicodeWidthStr;

use super::*;

/// A terminal in memory with a painter in front of it.
struct Bench {
    painter: Painter,
    terminal: vt100::Parser,
}

impl Bench {
    fn new(w: u16, h: u16, options: PaintOptions) -> Self {
        Self {
            painter: Painter::new(options),
            terminal: vt100::Parser::new(h.try_into().unwrap(), w.try_into().unwrap(), 0),
        }
    }

    fn paint(&mut self, frame: &Frame) -> Vec<u8> {
        let mut out = Vec::new();
        self.painter.paint(frame.clone(), &mut out);
        self.terminal.process(&out);
        out
    }
}

fn expected_colour(colour: Color) -> vt100::Color {
    use vt100::Color::Idx;
    match colour {
        Color::Reset => vt100::Color::Default,
        Color::Indexed(i) => Idx(i),
        Color::Rgb(r, g, b) => vt100::Color::Rgb(r, g, b),
        named => Idx(NAMED.iter().position(|c| *c == named).unwrap() as u8),
    }
}

const NAMED: [Color; 16] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

/// Says where the emulated screen differs from the frame.
fn difference(screen: &vt100::Screen, frame: &Frame) -> Option<String> {
    for y in 0..frame.buffer.area.height {
        let mut covered = 0;
        for x in 0..frame.buffer.area.width {
            let cell = &frame.buffer[(x, y)];
            let seen = screen.cell(y, x).unwrap();
            if covered > 0 {
                covered -= 1;
                if !seen.is_wide_continuation() {
                    return Some(format!("{x},{y}: not covered by the wide character before it: {seen:?}"));
                }
                continue;
            }
            covered = cell.symbol().width().max(1) - 1;
            let text = if seen.has_contents() { seen.contents() } else { " " };
            let m = cell.modifier;
            let same = text == cell.symbol()
                && seen.fgcolor() == expected_colour(cell.fg)
                && seen.bgcolor() == expected_colour(cell.bg)
                && seen.bold() == (m.contains(Modifier::BOLD) && !m.contains(Modifier::DIM))
                && seen.dim() == m.contains(Modifier::DIM)
                && seen.italic() == m.contains(Modifier::ITALIC)
                && seen.underline() == m.contains(Modifier::UNDERLINED)
                && seen.inverse() == m.contains(Modifier::REVERSED);
            if !same {
                return Some(format!("{x},{y}: wanted {cell:?}, the terminal shows {seen:?}"));
            }
        }
    }
    let cursor = (!screen.hide_cursor()).then(|| Position::new(screen.cursor_position().1, screen.cursor_position().0));
    (cursor != frame.cursor).then(|| format!("cursor: wanted {:?}, is {cursor:?}", frame.cursor))
}

const W: u16 = 17;
const H: u16 = 9;

/// One change to the picture.
#[derive(Debug, Clone)]
enum Change {
    Text { x: u16, y: u16, text: String, style: Style },
    Scroll(i16),
    Cursor(Option<(u16, u16)>),
    Blank(u16),
    Forget,
}

fn style() -> impl Strategy<Value = Style> {
    let colour = prop_oneof![
        3 => Just(Color::Reset),
        2 => prop::sample::select(NAMED.to_vec()),
        1 => any::<u8>().prop_map(Color::Indexed),
        1 => any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Color::Rgb(r, g, b)),
    ];
    // The emulator keeps one intensity, so bold and dim do not come together here.
    let modifier = prop::sample::select(vec![
        Modifier::empty(),
        Modifier::BOLD,
        Modifier::DIM,
        Modifier::ITALIC | Modifier::BOLD,
        Modifier::UNDERLINED,
        Modifier::REVERSED | Modifier::DIM,
        Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED,
    ]);
    (colour.clone(), colour, modifier)
        .prop_map(|(fg, bg, m)| Style::new().fg(fg).bg(bg).remove_modifier(Modifier::all()).add_modifier(m))
}

fn change() -> impl Strategy<Value = Change> {
    let text = prop::collection::vec(
        prop::sample::select(vec!["a", "b", " ", "日", "e\u{301}", "👩", "…", "xyz", "  "]),
        1..12,
    )
    .prop_map(|parts| parts.concat());
    prop_oneof![
        8 => (0..W, 0..H, text, style()).prop_map(|(x, y, text, style)| Change::Text { x, y, text, style }),
        3 => (-3i16..=3).prop_map(Change::Scroll),
        1 => prop::option::of((0..W, 0..H)).prop_map(Change::Cursor),
        2 => (0..H).prop_map(Change::Blank),
        1 => Just(Change::Forget),
    ]
}

fn list_area() -> Rect {
    Rect::new(0, 1, W, H - 2)
}

/// Copies rows by `n`, as a list does that scrolls.
fn scroll_picture(buffer: &mut Buffer, n: i16) {
    let old = buffer.clone();
    for y in 1..H - 1 {
        let from = i32::from(y) + i32::from(n);
        for x in 0..W {
            buffer[(x, y)] = match u16::try_from(from) {
                Ok(from) if (1..H - 1).contains(&from) => old[(x, from)].clone(),
                _ => Cell::default(),
            };
        }
    }
}

fn apply(frame: &mut Frame, change: &Change, bench: &mut Bench) {
    match change {
        Change::Text { x, y, text, style } => {
            frame.buffer.set_string(*x, *y, text, *style);
        }
        Change::Scroll(n) => scroll_picture(&mut frame.buffer, *n),
        Change::Cursor(at) => frame.cursor = at.map(|(x, y)| Position::new(x, y)),
        Change::Blank(y) => (0..W).for_each(|x| frame.buffer[(x, *y)].reset()),
        Change::Forget => bench.painter.forget(),
    }
}

/// Overwriting the second half of a wide character leaves its first half in the buffer, covering the new text; a view
/// paints into an empty buffer and never has that. Such halves are blanked.
fn settle(buffer: &mut Buffer) {
    for y in 0..H {
        for x in 0..W {
            let wide = buffer[(x, y)].symbol().width() == 2;
            if wide && (x + 1 == W || buffer[(x + 1, y)].symbol() != " ") {
                buffer[(x, y)].set_symbol(" ");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_terminal_shows_every_frame(
        frames in prop::collection::vec(prop::collection::vec(change(), 1..6), 1..12),
        scroll_regions: bool,
        synchronised: bool,
    ) {
        let mut bench = Bench::new(W, H, PaintOptions { synchronised, scroll_regions });
        let mut frame = Frame { buffer: Buffer::empty(Rect::new(0, 0, W, H)), scroll: Some(list_area()), cursor: None };
        for changes in frames {
            for change in &changes {
                apply(&mut frame, change, &mut bench);
                settle(&mut frame.buffer);
            }
            bench.paint(&frame);
            prop_assert_eq!(difference(bench.terminal.screen(), &frame), None);
            prop_assert!(bench.paint(&frame).is_empty());
        }
    }
}

#[test]
fn a_cursor_left_on_a_wide_character_does_not_erase_it() {
    let mut bench = Bench::new(W, H, PaintOptions { synchronised: false, scroll_regions: false });
    let buffer = Buffer::empty(Rect::new(0, 0, W, H));
    let mut frame = Frame { buffer, scroll: None, cursor: Some(Position::new(2, 1)) };
    frame.buffer.set_string(1, 1, "日", Style::new());
    bench.paint(&frame);
    frame.buffer.set_string(3, 1, "a", Style::new());
    bench.paint(&frame);
    assert_eq!(difference(bench.terminal.screen(), &frame), None);
}

/// A list as the console draws it: `selected` in reverse, six coloured columns, full width.
fn list(w: u16, h: u16, offset: usize, selected: usize) -> Frame {
    let area = Rect::new(0, 0, w, h);
    let mut buffer = Buffer::empty(area);
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Fill(1), Constraint::Length(2)]).areas(area);
    Paragraph::new(" mobile   PVE <10s  DNS <10s").style(Style::new().bg(Color::Blue)).render(head, &mut buffer);
    for y in 0..body.height {
        let i = offset + usize::from(y);
        let state = if i.is_multiple_of(4) {
            ("stopped", Color::Rgb(220, 120, 120))
        } else {
            ("running", Color::Rgb(120, 220, 120))
        };
        let line = Line::from(vec![
            Span::styled(format!("{:>6}  ", 2000 + i), Color::Rgb(140, 140, 160)),
            Span::raw(format!("tenant{:02}-app-{i:04}        ", i % 37)),
            Span::styled(format!("{:<12}", state.0), state.1),
            Span::raw(format!("vnet{:03}          ", i * 7 % 211)),
            Span::styled(format!("{:<20}", format!("10.20.{}.{}", i % 128, i * 3 % 250)), Color::Rgb(120, 180, 240)),
            Span::styled(format!("{:>3}%", i * 7 % 100), Color::Gray),
        ]);
        let style = if i == selected { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        let row = Rect::new(0, body.y + y, w, 1);
        buffer.set_style(row, style);
        line.render(row, &mut buffer);
    }
    // The count has the width of its largest value.
    Paragraph::new(format!(" {selected:>5}/10000  ? help  q quit")).render(foot, &mut buffer);
    Frame { buffer, scroll: Some(body), cursor: None }
}

#[test]
fn byte_budgets_at_120_by_40() {
    let mut bench = Bench::new(120, 40, PaintOptions::default());
    let first = bench.paint(&list(120, 40, 0, 10)).len();
    let moved = bench.paint(&list(120, 40, 0, 11)).len();
    bench.paint(&list(120, 40, 0, 35));
    let down = bench.paint(&list(120, 40, 1, 36)).len();
    let page = bench.paint(&list(120, 40, 37, 72)).len();
    let up = {
        bench.paint(&list(120, 40, 37, 37));
        bench.paint(&list(120, 40, 36, 36)).len()
    };
    let mut plain = Bench::new(120, 40, PaintOptions { scroll_regions: false, ..PaintOptions::default() });
    plain.paint(&list(120, 40, 0, 35));
    let unassisted = plain.paint(&list(120, 40, 1, 36)).len();
    println!(
        "bytes at 120x40: first {first}, cursor {moved}, down {down}, up {up}, page {page}, no regions {unassisted}"
    );
    assert_eq!(difference(bench.terminal.screen(), &list(120, 40, 36, 36)), None);
    assert!(moved <= 500, "cursor move: {moved}");
    assert!(down <= 550, "scroll step down: {down}");
    assert!(up <= 550, "scroll step up: {up}");
    assert!(first <= 10_000, "whole screen: {first}");
    assert!(unassisted <= 5_200, "scroll step without regions: {unassisted}");
}

#[test]
fn wide_characters_leave_no_ghost() {
    let mut bench = Bench::new(6, 1, PaintOptions::default());
    for text in ["日本語", "a日本b", "ab日cd", "日日日", "abcdef", "      ", "x日"] {
        let mut frame = list_of(6, 1);
        frame.buffer.set_string(0, 0, text, Style::new());
        bench.paint(&frame);
        assert_eq!(difference(bench.terminal.screen(), &frame), None, "{text}");
    }
}

fn list_of(w: u16, h: u16) -> Frame {
    Frame { buffer: Buffer::empty(Rect::new(0, 0, w, h)), scroll: None, cursor: None }
}

#[test]
fn a_size_of_zero_and_a_new_size_are_painted() {
    let mut bench = Bench::new(200, 50, PaintOptions::default());
    for (w, h) in [(80, 24), (1, 1), (0, 0), (200, 50)] {
        let mut frame = list_of(w, h);
        frame.buffer.set_string(0, 0, "x".repeat(w.into()), Style::new());
        let bytes = bench.paint(&frame);
        assert!(bytes.windows(4).any(|w| w == b"\x1b[2J"), "{w}x{h} is painted whole");
    }
    let mut last = list_of(200, 50);
    last.buffer.set_string(0, 0, "x".repeat(200), Style::new());
    assert_eq!(difference(bench.terminal.screen(), &last), None);
}

#[test]
fn control_and_bidi_characters_in_a_cell_do_not_reach_the_wire() {
    let mut frame = list_of(4, 1);
    for (x, symbol) in ["\x1b", "\u{202e}", "\u{9b}", "a\u{200d}"].into_iter().enumerate() {
        frame.buffer[(x as u16, 0)].set_symbol(symbol);
    }
    let mut out = Vec::new();
    Painter::new(PaintOptions { synchronised: false, scroll_regions: false }).paint(frame, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "\x1b[m\x1b[r\x1b[H\x1b[2J????\x1b[?25l");
}

#[test]
fn scroll_regions_need_the_full_width() {
    let mut bench = Bench::new(120, 40, PaintOptions::default());
    let narrow = |offset| {
        let mut frame = list(120, 40, offset, 5);
        frame.scroll = Some(Rect::new(0, 2, 119, 36));
        frame
    };
    bench.paint(&narrow(0));
    let bytes = bench.paint(&narrow(1));
    assert!(!bytes.contains(&b'S') && bytes.len() > 2000);
    assert_eq!(difference(bench.terminal.screen(), &narrow(1)), None);
}

#[test]
fn a_list_that_turns_in_a_circle_is_shown() {
    let mut bench = Bench::new(8, 9, PaintOptions::default());
    for turn in [0, 1, 2, 1, 6, 0] {
        let mut frame = list_of(8, 9);
        frame.scroll = Some(Rect::new(0, 1, 8, 7));
        (0..7).for_each(|y| frame.buffer.set_string(0, y + 1, format!("row {}", (y + turn) % 7), Style::new()));
        let bytes = bench.paint(&frame);
        assert_eq!(difference(bench.terminal.screen(), &frame), None, "turned by {turn}");
        assert!(turn == 0 || bytes.windows(3).any(|w| w == b"\x1b[r"), "turned by {turn} without a region");
    }
}

#[test]
fn the_cursor_is_placed_anew_where_terminals_may_disagree() {
    let mut painter = Painter::new(PaintOptions::default());
    let mut frame = list_of(9, 1);
    let mut out = Vec::new();
    painter.paint(frame.clone(), &mut out);
    out.clear();
    frame.buffer.set_string(1, 0, "e\u{301}x", Style::new());
    painter.paint(frame, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "\x1b[?2026h e\u{301}\x1b[1;3Hx\x1b[?2026l");
}
