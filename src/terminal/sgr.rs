//! Character attributes as the shortest SGR sequence from one style to the next (ECMA-48 §8.3.117).
//!
//! The sixteen named colours are written as 30–37 and 90–97, so that the user's palette and 16-colour terminals get
//! what they know; whether a colour may be used at all is decided in the theme, never here.

use std::io::Write as _;

use ratatui::{
    buffer::Cell,
    style::{Color, Modifier},
};

/// The attributes that the terminal applies to the next character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pen {
    pub fg: Color,
    pub bg: Color,
    pub modifier: Modifier,
}

impl Pen {
    /// What a terminal starts with and SGR 0 goes back to.
    pub const DEFAULT: Self = Self { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

    pub const fn of(cell: &Cell) -> Self {
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }

    /// Appends the shortest sequence that takes the terminal from this pen to `target`.
    pub fn change(&mut self, target: Self, out: &mut Vec<u8>) {
        if *self == target {
            return;
        }
        let mut step = Codes::default();
        step.modifiers(self.modifier, target.modifier);
        step.colour(self.fg, target.fg, Ground::Fore);
        step.colour(self.bg, target.bg, Ground::Back);
        let mut fresh = Codes::default();
        if target != Self::DEFAULT {
            fresh.code(0);
            fresh.modifiers(Modifier::empty(), target.modifier);
            fresh.colour(Color::Reset, target.fg, Ground::Fore);
            fresh.colour(Color::Reset, target.bg, Ground::Back);
        }
        let shorter = if fresh.0.len() < step.0.len() { &fresh.0 } else { &step.0 };
        out.extend_from_slice(b"\x1b[");
        out.extend_from_slice(shorter);
        out.push(b'm');
        *self = target;
    }
}

#[derive(Clone, Copy)]
enum Ground {
    Fore,
    Back,
}

/// Parameters of one SGR sequence, separated by semicolons.
#[derive(Default)]
struct Codes(Vec<u8>);

/// Each modifier with the code that switches it on and the one that switches it off.
const MODIFIERS: [(Modifier, u16, u16); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

impl Codes {
    fn code(&mut self, code: u16) {
        self.separate();
        // Writing to a Vec cannot fail.
        let _ = write!(self.0, "{code}");
    }

    fn separate(&mut self) {
        if !self.0.is_empty() {
            self.0.push(b';');
        }
    }

    fn modifiers(&mut self, from: Modifier, to: Modifier) {
        // 22 ends bold and dim together, 25 both blinks: what shares an off code and stays is switched on again.
        let mut on = from;
        for (modifier, _, off) in MODIFIERS {
            if on.contains(modifier) && !to.contains(modifier) {
                self.code(off);
                for (other, _, shared) in MODIFIERS {
                    if shared == off {
                        on.remove(other);
                    }
                }
            }
        }
        for (modifier, code, _) in MODIFIERS {
            if to.contains(modifier) && !on.contains(modifier) {
                self.code(code);
            }
        }
    }

    fn colour(&mut self, from: Color, to: Color, ground: Ground) {
        if from == to {
            return;
        }
        let back = match ground {
            Ground::Fore => 0,
            Ground::Back => 10,
        };
        let named = match to {
            Color::Reset => 39,
            Color::Black => 30,
            Color::Red => 31,
            Color::Green => 32,
            Color::Yellow => 33,
            Color::Blue => 34,
            Color::Magenta => 35,
            Color::Cyan => 36,
            Color::Gray => 37,
            Color::DarkGray => 90,
            Color::LightRed => 91,
            Color::LightGreen => 92,
            Color::LightYellow => 93,
            Color::LightBlue => 94,
            Color::LightMagenta => 95,
            Color::LightCyan => 96,
            Color::White => 97,
            Color::Indexed(index) => {
                self.separate();
                let _ = write!(self.0, "{};5;{index}", 38 + back);
                return;
            }
            Color::Rgb(r, g, b) => {
                self.separate();
                let _ = write!(self.0, "{};2;{r};{g};{b}", 38 + back);
                return;
            }
        };
        self.code(named + back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(from: Pen, to: Pen) -> String {
        let mut out = Vec::new();
        let mut pen = from;
        pen.change(to, &mut out);
        assert_eq!(pen, to);
        String::from_utf8(out).unwrap().replace('\x1b', "")
    }

    const fn pen(fg: Color, bg: Color, modifier: Modifier) -> Pen {
        Pen { fg, bg, modifier }
    }

    #[test]
    fn named_colours_keep_their_short_codes() {
        let plain = Modifier::empty();
        assert_eq!(step(Pen::DEFAULT, pen(Color::Red, Color::Gray, plain)), "[31;47m");
        assert_eq!(step(Pen::DEFAULT, pen(Color::White, Color::DarkGray, plain)), "[97;100m");
        assert_eq!(step(Pen::DEFAULT, pen(Color::Indexed(8), Color::Rgb(1, 2, 3), plain)), "[38;5;8;48;2;1;2;3m");
        assert_eq!(step(pen(Color::Red, Color::Blue, plain), pen(Color::Red, Color::Reset, plain)), "[49m");
    }

    #[test]
    fn the_shorter_way_is_taken() {
        let busy = pen(Color::Rgb(1, 2, 3), Color::Blue, Modifier::BOLD | Modifier::REVERSED);
        assert_eq!(step(busy, Pen::DEFAULT), "[m");
        assert_eq!(step(busy, busy), "");
        assert_eq!(step(busy, pen(Color::Reset, Color::Reset, Modifier::BOLD)), "[0;1m");
    }

    #[test]
    fn ending_bold_keeps_dim() {
        let both = pen(Color::Rgb(1, 2, 3), Color::Rgb(4, 5, 6), Modifier::BOLD | Modifier::DIM);
        assert_eq!(step(both, Pen { modifier: Modifier::DIM, ..both }), "[22;2m");
        assert_eq!(step(both, Pen { modifier: Modifier::BOLD, ..both }), "[22;1m");
    }
}
