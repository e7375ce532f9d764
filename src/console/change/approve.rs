//! What is asked before something runs. Enter never answers, and nothing that was pasted does.

use super::proposal;
use crate::console::model::{Model, Overlay};
use crate::console::msg::Effect;
use crate::terminal::input::{Key, KeyCode};

/// Longest text that is taken for a name.
const LONGEST: usize = 64;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    /// Yes.
    Yes,
    /// The name, then the key.
    Name {
        /// Why.
        because: String,
        /// The name.
        name: String,
        /// What was typed so far.
        typed: String,
        /// Whether it is final: the key is `D` then, else `A`.
        last: bool,
    },
    /// Whether to leave while a change runs.
    Leave,
}

/// A question that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approve {
    /// What is asked.
    pub asks: Asks,
    /// What was said of the last key or paste.
    pub said: Option<String>,
    /// First line shown of what the plan reaches.
    pub scroll: usize,
    /// Lines of it that were on screen, from the first on, without a gap.
    pub seen: usize,
    /// Columns and lines of it where they were counted: at another width they are other lines.
    pub of: (u16, usize),
    /// Whether all of it was on screen: a name is no answer before.
    pub read: bool,
}

impl Approve {
    /// A question.
    #[must_use]
    pub const fn new(asks: Asks) -> Self {
        Self { asks, said: None, scroll: 0, seen: 0, of: (0, 0), read: false }
    }

    /// Whether to leave while a change runs.
    #[must_use]
    pub const fn leaving() -> Self {
        Self::new(Asks::Leave)
    }

    /// The key that says yes, where one does now.
    #[must_use]
    pub fn key(&self) -> Option<char> {
        match &self.asks {
            Asks::Yes | Asks::Leave => Some('y'),
            Asks::Name { last, .. } if self.read && self.is_complete() => Some(if *last { 'D' } else { 'A' }),
            Asks::Name { .. } => None,
        }
    }

    /// Whether the name stands there: the field takes no more letters.
    fn is_complete(&self) -> bool {
        matches!(&self.asks, Asks::Name { name, typed, .. } if typed == name)
    }

    /// Takes note of what a frame of `width` columns showed: lines from `top` on, as many as `height`, the last page beginning
    /// at `end`.
    pub fn shown(&mut self, width: u16, (top, end): (usize, usize), height: usize) {
        self.scroll = top;
        if self.of != (width, end + height) {
            self.of = (width, end + height);
            self.seen = 0;
        }
        if top <= self.seen {
            self.seen = self.seen.max(top + height);
        }
        self.read |= self.seen >= end + height;
    }

    /// What is missing of the name.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let Asks::Name { name, typed, .. } = &self.asks else { return None };
        let left = name.strip_prefix(typed.as_str());
        match left.map(|left| left.chars().count()) {
            Some(0) if !self.read => Some("read all that it reaches first".to_owned()),
            Some(0) => None,
            Some(1) => Some("name not complete: 1 letter missing".to_owned()),
            Some(left) => Some(format!("name not complete: {left} letters missing")),
            None => Some("that is not the name: backspace takes letters back".to_owned()),
        }
    }
}

/// A key while a question is open; `None` = it is not one of its keys.
pub fn answer(model: &mut Model, key: Key) -> Option<Vec<Effect>> {
    let Overlay::Approve(open) = &mut model.overlay else { return None };
    if key.ctrl || key.alt {
        return None;
    }
    open.said = None;
    let (yes, closed) = (open.key(), open.is_complete());
    match key.code {
        KeyCode::Char(c) if Some(c) == yes => return Some(say_yes(model)),
        KeyCode::Char(c) => {
            if let Asks::Name { typed, .. } = &mut open.asks
                && !closed
                && typed.len() < LONGEST
                && crate::text::is_clean(&c.to_string())
            {
                typed.push(c);
            }
        }
        KeyCode::Backspace => {
            if let Asks::Name { typed, .. } = &mut open.asks {
                typed.pop();
            }
        }
        // What scrolls, and what leaves.
        KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown | KeyCode::Home | KeyCode::End => {
            return None;
        }
        KeyCode::Esc => return None,
        _ => {}
    }
    Some(Vec::new())
}

fn say_yes(model: &mut Model) -> Vec<Effect> {
    let Overlay::Approve(open) = std::mem::take(&mut model.overlay) else { return Vec::new() };
    match open.asks {
        Asks::Leave => vec![Effect::Quit],
        Asks::Yes => proposal::begin(model, None),
        Asks::Name { typed, .. } => proposal::begin(model, Some(typed)),
    }
}

/// What was pasted is refused.
pub fn pasted(open: &mut Approve) {
    open.said = Some(match open.asks {
        Asks::Name { .. } => "pasted text is not taken: type the name".to_owned(),
        Asks::Yes | Asks::Leave => "pasted text is not taken: press the key".to_owned(),
    });
}
