//! The field for a pasted result: what it is for, the text so far, and how it is read, before it counts.

use std::sync::Arc;

use crate::console::list::Cell;
use crate::console::model::{Model, Overlay, Screen};
use crate::console::msg::{Effect, Notice};
use crate::console::resolve::{Probe, remember};
use crate::diagnose::evidence::Item;
use crate::diagnose::pasted::{Given, Leg, MOST, Reading, Refusal, fit, item, read};
use crate::inventory::Class;

/// Most pasted results that are kept.
const KEPT: usize = 500;

/// The field.
#[derive(Debug, Clone, PartialEq)]
pub struct Paste {
    /// What it is for: `tdemo → eds`, `leg 2 of tdemo`.
    pub title: String,
    /// What is to be run.
    pub legs: Vec<Leg>,
    /// Where whoever pastes it says that it was run.
    pub from: String,
    /// The text so far.
    pub text: String,
    /// How it is read; `Err` says why it is not taken, and what helps.
    pub reading: Result<Vec<(usize, Reading)>, (String, &'static str)>,
    /// It came as one piece, so that `enter` is no line end of it.
    whole: bool,
}

impl Paste {
    /// An empty field.
    #[must_use]
    pub fn new(title: String, from: String, legs: Vec<Leg>) -> Self {
        let mut paste = Self { title, legs, from, text: String::new(), reading: Ok(Vec::new()), whole: false };
        paste.read();
        paste
    }

    fn read(&mut self) {
        let fitting = read(&self.text).and_then(|readings| fit(readings, &self.legs));
        self.reading = fitting.map_err(|why: Refusal| (why.to_string(), why.help()));
    }

    /// Adds a character that was typed.
    pub fn typed(&mut self, c: char) {
        if self.text.len() < MOST {
            self.text.push(c);
            self.whole = false;
            self.read();
        }
    }

    /// Takes the last character away.
    pub fn erased(&mut self) {
        self.text.pop();
        self.read();
    }

    /// Adds what was pasted as one piece.
    pub fn pasted(&mut self, text: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        let room = (MOST + 1).saturating_sub(self.text.len());
        let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= room).last();
        self.text.push_str(text.get(..end.unwrap_or(0)).unwrap_or_default());
        self.whole = true;
        self.read();
    }

    /// Whether `enter` takes it: of text that was typed, or came key by key, only behind an empty line.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.reading.is_ok() && (self.whole || self.text.ends_with("\n\n"))
    }
}

/// What the field would be for on the screen shown: a cell of the table, or the legs of a tenant's path that only a
/// workload can test.
///
/// # Errors
/// One clause: why there is nothing to paste for.
pub fn subject(model: &Model) -> Result<Paste, String> {
    match model.screen() {
        Screen::Isolation { .. } | Screen::Cell { .. } => {
            let matrix = super::matrix(model).ok_or("there is no table yet")?;
            let (row, column) = super::cursor(model).ok_or("there is no cell here")?;
            let legs = matrix.legs(row, column);
            let sender =
                matrix.senders.get(row).filter(|_| !legs.is_empty()).ok_or("nothing is to be run for this cell")?;
            Ok(Paste::new(matrix.name(row, column), sender.whence.label(), legs))
        }
        Screen::Diagnose { .. } | Screen::Finding { .. } | Screen::Evidence { .. } => {
            let tenant = model.inquiry.as_ref().and_then(|inquiry| inquiry.tenant.clone());
            let tenant = tenant.ok_or("the check is of all tenants: check one, its legs take pasted results")?;
            of_path(model, &tenant)
        }
        _ => {
            Err("results are pasted into a cell of the isolation table, or into the legs of a tenant's path".to_owned())
        }
    }
}

/// The field for the legs of a tenant's path.
///
/// # Errors
/// One clause: why there is nothing to paste for.
pub fn of_path(model: &Model, tenant: &str) -> Result<Paste, String> {
    let paths = model.isolation.paths.as_ref().ok_or("there is no result yet")?;
    let mine: Vec<_> = paths.path.iter().filter(|path| path.tenant == tenant).collect();
    let sender = paths.senders.iter().find(|sender| sender.name == tenant);
    let (Some(sender), false) = (sender, mine.is_empty()) else {
        return Err(format!("what to run for {tenant} is not known: its networks were not read"));
    };
    let mut numbers: Vec<String> = mine.iter().map(|path| path.number.to_string()).collect();
    numbers.dedup();
    let title = format!("legs {} of {tenant}", numbers.join(" and "));
    let legs = mine.into_iter().map(|path| path.leg.clone()).collect();
    Ok(Paste::new(title, sender.whence.label(), legs))
}

/// Opens the field for what is on screen.
pub fn open(model: &mut Model) -> Vec<Effect> {
    match subject(model) {
        Ok(paste) => model.overlay = Overlay::Paste(Box::new(paste)),
        Err(why) => model.say(Notice::info(format!("paste a result: {why}"))),
    }
    Vec::new()
}

/// `enter` in the field: takes the text where it can be read as one of the legs, else says why not and goes on.
pub fn take(model: &mut Model) -> Vec<Effect> {
    let Overlay::Paste(paste) = &mut model.overlay else { return Vec::new() };
    if !paste.complete() {
        if !paste.whole && !paste.text.is_empty() {
            paste.typed('\n');
        }
        return Vec::new();
    }
    let Overlay::Paste(paste) = std::mem::take(&mut model.overlay) else { return Vec::new() };
    let by = if model.isolation.operator.is_empty() { "unknown" } else { &model.isolation.operator }.to_owned();
    model.isolation.count += 1;
    let given = Given { from: paste.from.clone(), by, at: model.now, via: "screen".to_owned() };
    let kept = item(&given, model.isolation.count, &paste.text);
    let mut all: Vec<Item> = model.isolation.pasted.iter().cloned().collect();
    if all.len() >= KEPT {
        all.remove(0);
    }
    all.push(kept);
    model.isolation.pasted = Arc::from(all);
    let read = paste.reading.as_ref().map(|all| all.iter().map(|(_, r)| r.words()).collect::<Vec<_>>().join(", "));
    let words = format!("pasted for {} from {}: {}", paste.title, paste.from, read.unwrap_or_default());
    let result = Some(Cell::state(Class::Info, "a person's word, not measured"));
    remember(model, Probe { at: model.now, what: words.clone(), result });
    model.say(Notice { class: Class::Info, text: format!("taken: {words}") });
    judge(model)
}

/// Takes away what was pasted for the cell under the cursor.
pub fn unpaste(model: &mut Model) -> Vec<Effect> {
    let Some((matrix, (row, column))) = super::matrix(model).zip(super::cursor(model)) else { return Vec::new() };
    let (legs, name) = (matrix.legs(row, column), matrix.name(row, column));
    let about = |item: &Item| {
        let mine = legs.iter().any(|leg| leg.from.is(&item.from));
        mine && read(&item.body).is_ok_and(|all| {
            all.iter().any(|reading| {
                legs.iter()
                    .any(|l| l.ask.tried() == reading.tried && l.wants == crate::diagnose::pasted::Wants::Nothing)
            })
        })
    };
    let before = model.isolation.pasted.len();
    let left: Vec<Item> = model.isolation.pasted.iter().filter(|item| !about(item)).cloned().collect();
    let gone = before - left.len();
    if gone == 0 {
        model.say(Notice::info(format!("nothing was pasted for {name}")));
        return Vec::new();
    }
    model.isolation.pasted = Arc::from(left);
    let results = crate::console::widgets::format::plural(gone, "pasted result");
    model.say(Notice::info(format!("{results} for {name} taken away")));
    judge(model)
}

/// What was read is judged again together with what is pasted now.
fn judge(model: &Model) -> Vec<Effect> {
    vec![Effect::Judge { pasted: Arc::clone(&model.isolation.pasted) }]
}
