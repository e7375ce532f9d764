//! The terminal modes that a program switches, read from its output.

use std::collections::BTreeMap;

/// Modes that are followed, with their names.
const FOLLOWED: [(u16, &str); 9] = [
    (1, "application cursor keys"),
    (25, "hidden cursor"),
    (1000, "mouse clicks"),
    (1002, "mouse drags"),
    (1003, "mouse movement"),
    (1004, "focus events"),
    (1006, "mouse in SGR form"),
    (1049, "alternate screen"),
    (2004, "bracketed paste"),
];
const SYNCHRONISED: u16 = 2026;

/// What is on, and what the terminal was asked.
#[derive(Default)]
pub struct Modes {
    on: BTreeMap<u16, bool>,
    switched: BTreeMap<u16, u32>,
    /// Titles put on the terminal's stack, less those taken back.
    titles: i32,
    region: bool,
    sequence: Sequence,
    questions: Vec<Question>,
}

#[derive(Default)]
enum Sequence {
    #[default]
    Text,
    Escape,
    Control(Vec<u8>),
}

enum Question {
    /// Device attributes (DA1).
    Attributes,
    /// Cursor position (CPR).
    Position,
}

impl Modes {
    pub fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.sequence = match (std::mem::take(&mut self.sequence), byte) {
                (_, 0x1b) => Sequence::Escape,
                (Sequence::Escape, b'[') => Sequence::Control(Vec::new()),
                (Sequence::Control(parameters), 0x40..=0x7e) => {
                    self.control(&String::from_utf8_lossy(&parameters), byte);
                    Sequence::Text
                }
                (Sequence::Control(mut parameters), _) => {
                    parameters.push(byte);
                    Sequence::Control(parameters)
                }
                _ => Sequence::Text,
            };
        }
    }

    fn control(&mut self, parameters: &str, end: u8) {
        match (parameters, end) {
            (list, b'h' | b'l') => {
                for mode in list.strip_prefix('?').into_iter().flat_map(|list| list.split(';')) {
                    if let Ok(mode) = mode.parse() {
                        self.on.insert(mode, end == b'h');
                        *self.switched.entry(mode).or_default() += 1;
                    }
                }
            }
            ("22;2" | "22;0", b't') => self.titles += 1,
            ("23;2" | "23;0", b't') => self.titles -= 1,
            (list, b'r') if !list.starts_with('?') => self.region = !list.is_empty(),
            ("" | "0", b'c') => self.questions.push(Question::Attributes),
            ("6", b'n') => self.questions.push(Question::Position),
            _ => {}
        }
    }

    /// Whether a private mode is on now.
    pub fn is_on(&self, mode: u16) -> bool {
        // The cursor shows unless it is hidden.
        self.on.get(&mode).copied().unwrap_or(mode == 25)
    }

    /// How often a private mode was switched.
    pub fn switched(&self, mode: u16) -> u32 {
        self.switched.get(&mode).copied().unwrap_or(0)
    }

    /// The names of what the terminal would be left with.
    pub fn left_on(&self) -> Vec<&'static str> {
        let mut left: Vec<_> =
            FOLLOWED.iter().filter(|(mode, _)| self.is_on(*mode) != (*mode == 25)).map(|(_, name)| *name).collect();
        for (on, name) in [
            (self.is_on(SYNCHRONISED), "synchronised output"),
            (self.titles != 0, "titles on the stack"),
            (self.region, "scroll region"),
        ] {
            if on {
                left.push(name);
            }
        }
        left
    }

    /// What a terminal would answer to what it was asked since the last call.
    pub fn take_answers(&mut self, (row, column): (u16, u16)) -> Vec<u8> {
        let answers = self.questions.drain(..).map(|question| match question {
            Question::Attributes => "\x1b[?62;22c".to_owned(),
            Question::Position => format!("\x1b[{};{}R", row + 1, column + 1),
        });
        answers.collect::<String>().into_bytes()
    }
}
