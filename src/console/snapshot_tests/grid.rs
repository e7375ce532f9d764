//! A frame as text: what is written, and in which style.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use crate::console::msg::Screenful;
use crate::text;

const LETTERS: &str = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Every row of `buffer` has exactly the screen's width in display cells, and nothing in it can command a terminal.
pub fn assert_whole(buffer: &Buffer, (w, h): (u16, u16)) {
    assert_eq!((buffer.area.width, buffer.area.height), (w, h));
    for y in 0..h {
        let line = row(buffer, y);
        assert_eq!(text::width(&line), usize::from(w), "row {y} of {w}×{h}: {line:?}");
        assert!(text::is_clean(&line), "row {y} of {w}×{h} is not clean: {line:?}");
    }
}

/// What a terminal shows in row `y`: a wide character takes the cell after it, too.
pub fn row(buffer: &Buffer, y: u16) -> String {
    let mut out = String::new();
    let mut x = 0;
    while x < buffer.area.width {
        let symbol = buffer[(x, y)].symbol();
        out.push_str(symbol);
        x += u16::try_from(text::width(symbol)).unwrap().max(1);
    }
    out
}

/// Text grid, style grid, legend, and what is beside the cells: cursor and scroll area.
pub fn render(screen: &Screenful) -> String {
    let buffer = &screen.buffer;
    let mut legend: BTreeMap<String, char> = BTreeMap::new();
    legend.insert(describe(Style::reset()), '.');
    let (mut words, mut styles) = (String::new(), String::new());
    for y in 0..buffer.area.height {
        let _ = writeln!(words, "|{}|", row(buffer, y));
        styles.push('|');
        for x in 0..buffer.area.width {
            let next = LETTERS.chars().nth(legend.len()).expect("enough letters");
            styles.push(*legend.entry(describe(buffer[(x, y)].style())).or_insert(next));
        }
        styles.push_str("|\n");
    }
    let mut letters: Vec<_> = legend.into_iter().collect();
    letters.sort_by_key(|(_, letter)| LETTERS.find(*letter));
    let mut out = format!("{words}\n{styles}\n");
    for (style, letter) in letters {
        let _ = writeln!(out, "{letter} = {style}");
    }
    if let Some(at) = screen.cursor {
        let shown = if screen.cursor_visible { "shown" } else { "hidden" };
        let _ = writeln!(out, "cursor {},{} {shown}", at.x, at.y);
    }
    if let Some(area) = screen.scroll {
        let _ = writeln!(out, "scrolls rows {}–{}", area.top(), area.bottom().saturating_sub(1));
    }
    out
}

fn describe(style: Style) -> String {
    let color = |c: Option<Color>| c.map_or_else(|| "-".into(), |c| c.to_string());
    let mut out = format!("{} on {}", color(style.fg), color(style.bg));
    for (modifier, word) in [
        (Modifier::BOLD, " bold"),
        (Modifier::DIM, " dim"),
        (Modifier::ITALIC, " italic"),
        (Modifier::UNDERLINED, " underlined"),
        (Modifier::REVERSED, " reverse"),
    ] {
        if style.add_modifier.contains(modifier) {
            out.push_str(word);
        }
    }
    out
}
