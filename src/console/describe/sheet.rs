//! A description under construction: one sequence of facts from which text, YAML and JSON are all made.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::TextLine;
use crate::inventory::{Class, FieldDiff, Gap, GapKind, Seen};

/// A description: headed parts of labelled facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    lines: Vec<TextLine>,
    data: Map<String, Value>,
    unknown: Map<String, Value>,
}

/// Text made safe for a line on screen.
fn clean(text: &str) -> String {
    crate::text::clean(text).into_owned()
}

/// The same for every text in a value, keys included.
fn clean_value(value: Value) -> Value {
    match value {
        Value::String(s) => Value::String(clean(&s)),
        Value::Array(all) => Value::Array(all.into_iter().map(clean_value).collect()),
        Value::Object(map) => map.into_iter().map(|(k, v)| (clean(&k), clean_value(v))).collect(),
        other => other,
    }
}

impl Sheet {
    /// An empty description of a `kind` (`tenant`, `workload`, …) called `name`.
    pub(super) fn new(kind: &str, name: &str) -> Self {
        let mut data = Map::new();
        data.insert("kind".to_owned(), json!(kind));
        data.insert("name".to_owned(), json!(clean(name)));
        Self { lines: vec![TextLine::Head(format!("{kind} {}", clean(name)))], data, unknown: Map::new() }
    }

    /// Begins a part.
    pub(super) fn head(&mut self, title: &str) -> &mut Self {
        self.lines.push(TextLine::Plain(String::new()));
        self.lines.push(TextLine::Head(clean(title)));
        self
    }

    fn line(&mut self, label: &str, value: &str, class: Option<Class>) {
        self.lines.push(TextLine::Pair { label: clean(label), value: clean(value), class });
    }

    fn keep(&mut self, key: &str, value: Value) {
        self.data.insert(key.to_owned(), clean_value(value));
    }

    /// A fact: label for people, key and value for programs.
    pub(super) fn fact(&mut self, key: &str, label: &str, value: impl Serialize + ToString) -> &mut Self {
        self.line(label, &value.to_string(), None);
        self.keep(key, json!(value));
        self
    }

    /// A fact that may be missing in the good sense: known to be nothing.
    pub(super) fn maybe(&mut self, key: &str, label: &str, value: Option<impl Serialize + ToString>) -> &mut Self {
        self.line(label, &value.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string), None);
        self.keep(key, json!(value));
        self
    }

    /// A state in words, with its class.
    pub(super) fn state(&mut self, key: &str, label: &str, words: &str, class: Class) -> &mut Self {
        self.line(label, words, Some(class));
        self.keep(key, json!({ "class": class, "words": words }));
        self
    }

    /// What was seen, shown by `show` as text and value; or why it was not.
    pub(super) fn seen<T>(
        &mut self,
        key: &str,
        label: &str,
        value: &Seen<T>,
        show: impl FnOnce(&T) -> (String, Value),
    ) -> &mut Self {
        match value {
            Ok(v) => {
                let (text, value) = show(v);
                self.line(label, &text, None);
                self.keep(key, value);
            }
            Err(gap) => self.gap(key, label, gap),
        }
        self
    }

    /// An optional text that was seen to be there or not, or was not seen.
    pub(super) fn text(&mut self, key: &str, label: &str, value: &Seen<Option<Arc<str>>>) -> &mut Self {
        self.seen(key, label, value, |v| (v.as_deref().unwrap_or("–").to_owned(), json!(v)))
    }

    /// Something unknown, with the reason.
    pub(super) fn gap(&mut self, key: &str, label: &str, gap: &Gap) {
        let class = (gap.kind != GapKind::Off).then_some(Class::Unknown);
        self.line(label, &format!("{}: {}", gap.word(), gap.why), class);
        self.keep(key, Value::Null);
        self.unknown.insert(key.to_owned(), json!(clean(&gap.why)));
    }

    /// One line of a list, for people only.
    pub(super) fn row(&mut self, label: &str, value: &str, class: Option<Class>) -> &mut Self {
        self.line(label, value, class);
        self
    }

    /// A sentence, for people only.
    pub(super) fn say(&mut self, text: &str) -> &mut Self {
        self.lines.push(TextLine::Plain(format!("  {}", clean(text))));
        self
    }

    /// A value for programs only.
    pub(super) fn data(&mut self, key: &str, value: Value) -> &mut Self {
        self.keep(key, value);
        self
    }

    /// What differs from the derived state.
    pub(super) fn diffs(&mut self, diffs: &[FieldDiff]) -> &mut Self {
        self.keep("differs", json!(diffs));
        if diffs.is_empty() {
            return self;
        }
        self.head("Differs from what the index derives");
        for d in diffs {
            let words = format!("{}: derived {}, observed {}", d.object, d.expected, d.observed);
            self.line(&d.field, &words, Some(Class::Differs));
        }
        self
    }

    /// The lines for people.
    pub(super) fn into_lines(self) -> Vec<TextLine> {
        self.lines
    }

    /// The value for programs; what is unknown is `null`, its reason under `unknown`.
    pub(super) fn into_value(mut self) -> Value {
        self.data.insert("unknown".to_owned(), Value::Object(self.unknown));
        Value::Object(self.data)
    }
}
