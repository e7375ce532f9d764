//! From a theme to what one terminal can show.

use ratatui::style::{Color, Modifier, Style};

use super::load::{Ink, RoleStyle, Theme};
use super::{Depth, Glyphs, Look, Role};

/// The 16 colours as xterm shows them, for distances and contrast.
const XTERM_16: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// Steps of the 6×6×6 cube of the 256-colour palette.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// What every theme must keep apart, colours or not (screens.md "Colour roles").
const fn always(role: Role) -> Modifier {
    match role {
        Role::Selection => Modifier::REVERSED,
        Role::Fault => Modifier::BOLD,
        Role::Muted | Role::Stale => Modifier::DIM,
        Role::ModeWrite => Modifier::BOLD.union(Modifier::REVERSED),
        _ => Modifier::empty(),
    }
}

/// Resolves `theme` for a terminal.
#[must_use]
pub fn resolve(theme: &Theme, depth: Depth, glyphs: &'static Glyphs) -> Look {
    let styles = theme.roles.iter().map(|(role, style)| (*role, style_of(*role, style, depth))).collect();
    Look { theme: theme.name.clone(), depth, styles, glyphs }
}

fn style_of(role: Role, style: &RoleStyle, depth: Depth) -> Style {
    let mut out = Style::new().add_modifier(style.attributes | always(role));
    if let Some(fg) = color(style.fg, depth) {
        out = out.fg(fg);
    }
    if let Some(bg) = color(style.bg, depth) {
        out = out.bg(bg);
    }
    out
}

fn color(ink: Ink, depth: Depth) -> Option<Color> {
    let rgb = rgb(ink)?;
    match (depth, ink) {
        (Depth::None, _) => None,
        (_, Ink::Named(n)) => Some(named(n)),
        (Depth::Ansi16, _) => Some(named(nearest_16(rgb))),
        (_, Ink::Indexed(n)) => Some(Color::Indexed(n)),
        (Depth::Ansi256, _) => Some(Color::Indexed(nearest_256(rgb))),
        (Depth::True, _) => Some(Color::Rgb(rgb.0, rgb.1, rgb.2)),
    }
}

pub(super) const fn named(n: u8) -> Color {
    match n {
        0 => Color::Black,
        1 => Color::Red,
        2 => Color::Green,
        3 => Color::Yellow,
        4 => Color::Blue,
        5 => Color::Magenta,
        6 => Color::Cyan,
        7 => Color::Gray,
        8 => Color::DarkGray,
        9 => Color::LightRed,
        10 => Color::LightGreen,
        11 => Color::LightYellow,
        12 => Color::LightBlue,
        13 => Color::LightMagenta,
        14 => Color::LightCyan,
        _ => Color::White,
    }
}

/// What a colour looks like, as far as can be known; `None` for the terminal's own.
#[must_use]
pub fn rgb(ink: Ink) -> Option<(u8, u8, u8)> {
    match ink {
        Ink::Default => None,
        Ink::Named(n) => XTERM_16.get(usize::from(n)).copied(),
        Ink::Indexed(n) => Some(indexed(n)),
        Ink::Rgb(r, g, b) => Some((r, g, b)),
    }
}

fn indexed(n: u8) -> (u8, u8, u8) {
    let step = |i: u8| CUBE.get(usize::from(i)).copied().unwrap_or(255);
    match n {
        0..=15 => XTERM_16.get(usize::from(n)).copied().unwrap_or_default(),
        16..=231 => {
            let i = n - 16;
            (step(i / 36), step(i / 6 % 6), step(i % 6))
        }
        _ => {
            let grey = 8 + 10 * (n - 232);
            (grey, grey, grey)
        }
    }
}

/// The nearest of the 16 colours.
#[must_use]
pub fn nearest_16(to: (u8, u8, u8)) -> u8 {
    nearest(0..=15, to)
}

/// The nearest of the 240 colours that no palette setting changes.
#[must_use]
pub fn nearest_256(to: (u8, u8, u8)) -> u8 {
    nearest(16..=255, to)
}

fn nearest(range: std::ops::RangeInclusive<u8>, to: (u8, u8, u8)) -> u8 {
    range.min_by_key(|n| distance(indexed(*n), to)).unwrap_or_default()
}

/// Squared distance, weighted as the eye weighs red, green and blue.
fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let d = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    3 * d(a.0, b.0) + 6 * d(a.1, b.1) + d(a.2, b.2)
}
