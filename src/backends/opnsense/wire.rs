//! Values as OPNsense sends them (facts/opnsense.md §1 item 8, §3): text throughout, `"0"`/`"1"` for truth, lists
//! joined by commas, and option maps in which every choice stands with a `selected` mark. What is absent or null is
//! `None`; what cannot be understood is an error that names the field, never a default.

use serde_json::{Map, Value};

use crate::backends::http::clean;

/// A value in an answer that is not what the field must hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {why}")]
pub struct Unreadable {
    /// Where in the answer, e.g. `rows[3].sequence`.
    pub at: String,
    /// What is wrong with it.
    pub why: String,
}

pub(super) type Read<T> = Result<T, Unreadable>;

/// One JSON object of an answer and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    at: String,
    map: &'a Map<String, Value>,
}

impl<'a> Row<'a> {
    pub(super) fn new(value: &'a Value, at: impl Into<String>) -> Read<Self> {
        let at = at.into();
        match value {
            Value::Object(map) => Ok(Self { at, map }),
            other => Err(misfit(&at, "an object", other)),
        }
    }

    /// The objects of a list.
    pub(super) fn list(value: &'a Value, at: &str) -> Read<Vec<Self>> {
        match value {
            Value::Array(rows) => {
                rows.iter().enumerate().map(|(i, row)| Self::new(row, format!("{at}[{i}]"))).collect()
            }
            other => Err(misfit(at, "a list", other)),
        }
    }

    /// The named objects of a map. PHP writes an empty map as an empty list.
    pub(super) fn named(value: &'a Value, at: &str) -> Read<Vec<(&'a str, Self)>> {
        match value {
            Value::Array(none) if none.is_empty() => Ok(Vec::new()),
            Value::Object(map) => {
                map.iter().map(|(key, v)| Ok((key.as_str(), Self::new(v, format!("{at}.{}", clean(key)))?))).collect()
            }
            other => Err(misfit(at, "a map", other)),
        }
    }

    pub(super) fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// The value of `key`; `None` when absent or null.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|v| !v.is_null())
    }

    pub(super) fn need(&self, key: &str) -> Read<&'a Value> {
        self.get(key).ok_or_else(|| self.fault(key, "is missing"))
    }

    /// The object under `key`.
    pub(super) fn sub(&self, key: &str) -> Read<Row<'a>> {
        Row::new(self.need(key)?, format!("{}.{key}", self.at))
    }

    pub(super) fn fault(&self, key: &str, why: impl Into<String>) -> Unreadable {
        let dot = if self.at.is_empty() { "" } else { "." };
        Unreadable { at: format!("{}{dot}{key}", self.at), why: why.into() }
    }

    fn wrong(&self, key: &str, wanted: &str, value: &Value) -> Unreadable {
        self.fault(key, format!("expected {wanted}, found {}", kind(value)))
    }

    /// One line of text, cleaned; empty stays empty.
    pub(super) fn text(&self, key: &str) -> Read<Option<String>> {
        self.get(key).map(|v| scalar(v).ok_or_else(|| self.wrong(key, "text", v))).transpose()
    }

    pub(super) fn need_text(&self, key: &str) -> Read<String> {
        self.text(key)?.ok_or_else(|| self.fault(key, "is missing"))
    }

    /// Text; an empty one counts as none.
    pub(super) fn some_text(&self, key: &str) -> Read<Option<String>> {
        Ok(self.text(key)?.filter(|t| !t.is_empty()))
    }

    /// Lines of text, cleaned, without empty ones.
    pub(super) fn lines(&self, key: &str) -> Read<Vec<String>> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::String(s)) => Ok(s.lines().map(clean).filter(|l| !l.is_empty()).collect()),
            // The model form of an alias lists its content as options.
            Some(_) => self.keys(key),
        }
    }

    /// A whole number; an empty text counts as none.
    pub(super) fn u64(&self, key: &str) -> Read<Option<u64>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value {
            Value::String(s) if s.trim().is_empty() => Ok(None),
            Value::String(s) => {
                s.trim().parse().map(Some).map_err(|_| self.fault(key, "expected a whole number, found other text"))
            }
            Value::Number(n) if n.is_u64() => Ok(n.as_u64()),
            other => Err(self.wrong(key, "a whole number", other)),
        }
    }

    pub(super) fn need_u64(&self, key: &str) -> Read<u64> {
        self.u64(key)?.ok_or_else(|| self.fault(key, "is missing"))
    }

    pub(super) fn u32(&self, key: &str) -> Read<Option<u32>> {
        let narrow = |n: u64| u32::try_from(n).map_err(|_| self.fault(key, format!("{n} is out of range")));
        self.u64(key)?.map(narrow).transpose()
    }

    /// `"0"`, `"1"`, 0, 1, true, false; an empty text is an unset boolean, hence false.
    pub(super) fn bool(&self, key: &str) -> Read<Option<bool>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let truth = match value {
            Value::Bool(b) => Some(*b),
            Value::Number(n) => match n.as_u64() {
                Some(0) => Some(false),
                Some(1) => Some(true),
                _ => None,
            },
            Value::String(s) => match s.trim() {
                "" | "0" => Some(false),
                "1" => Some(true),
                _ => None,
            },
            _ => None,
        };
        truth.map(Some).ok_or_else(|| self.wrong(key, "a truth value", value))
    }

    pub(super) fn need_bool(&self, key: &str) -> Read<bool> {
        self.bool(key)?.ok_or_else(|| self.fault(key, "is missing"))
    }

    /// The chosen keys of a field that may hold several: an option map, comma text or a list. Absent is empty.
    pub(super) fn keys(&self, key: &str) -> Read<Vec<String>> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(split(text)),
            Some(Value::Object(options)) => {
                let mut chosen = Vec::new();
                for (name, option) in options {
                    if self.selected(key, option)? && !name.is_empty() {
                        chosen.push(clean(name));
                    }
                }
                Ok(chosen)
            }
            Some(Value::Array(items)) => {
                let mut chosen = Vec::new();
                for (i, item) in items.iter().enumerate() {
                    match item {
                        // Options whose keys happen to be 0, 1, 2 … become a list in PHP's JSON.
                        Value::Object(_) if self.selected(key, item)? => chosen.push(i.to_string()),
                        Value::Object(_) => {}
                        other => chosen.push(scalar(other).ok_or_else(|| self.wrong(key, "a list of words", other))?),
                    }
                }
                Ok(chosen)
            }
            Some(other) => Err(self.wrong(key, "a choice", other)),
        }
    }

    /// The chosen key of a field that holds one; `None` when nothing or the empty choice is taken.
    pub(super) fn key(&self, key: &str) -> Read<Option<String>> {
        match self.get(key) {
            Some(Value::Object(_) | Value::Array(_)) => Ok(self.keys(key)?.into_iter().next()),
            _ => self.some_text(key),
        }
    }

    /// Key and text of every choice that an option map offers.
    pub(super) fn choices(&self, key: &str) -> Vec<(String, String)> {
        let Some(Value::Object(options)) = self.get(key) else { return Vec::new() };
        let text = |o: &Value| o.get("value").and_then(scalar).unwrap_or_default();
        options.iter().map(|(name, option)| (clean(name), text(option))).collect()
    }

    fn selected(&self, key: &str, option: &Value) -> Read<bool> {
        let row = Row::new(option, format!("{}.{key}", self.at))?;
        row.need_bool("selected")
    }
}

fn misfit(at: &str, wanted: &str, found: &Value) -> Unreadable {
    let at = if at.is_empty() { "the top level" } else { at };
    Unreadable { at: at.to_owned(), why: format!("expected {wanted}, found {}", kind(found)) }
}

/// The words of a list written with commas.
pub(super) fn split(text: &str) -> Vec<String> {
    text.split(',').map(clean).filter(|w| !w.is_empty()).collect()
}

/// A scalar as cleaned text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(clean(s)),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(u8::from(*b).to_string()),
        _ => None,
    }
}

/// What a value is, without printing it.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "another number",
        Value::String(_) => "other text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn choices_come_as_maps_lists_and_text() {
        let v = json!({
            "map": {"": {"value": "None", "selected": 0}, "opt3": {"value": "TRANSIT", "selected": 1},
                    "opt4": {"value": "MGMT", "selected": "1"}},
            "none": {"": {"value": "None", "selected": 1}},
            "text": "opt3, opt4", "empty": "", "nothing": [],
            "php": [{"value": "Level 0", "selected": 0}, {"value": "Level 1", "selected": 1}],
            "words": ["a", "b"], "broken": {"x": {"value": "X"}}, "number": 5,
        });
        let r = Row::new(&v, "rows[0]").unwrap();
        assert_eq!(r.keys("map").unwrap(), ["opt3", "opt4"]);
        assert_eq!(r.keys("text").unwrap(), ["opt3", "opt4"]);
        assert_eq!(r.keys("php").unwrap(), ["1"]);
        assert_eq!(r.keys("words").unwrap(), ["a", "b"]);
        for key in ["none", "empty", "nothing", "absent"] {
            assert!(r.keys(key).unwrap().is_empty(), "{key}");
            assert_eq!(r.key(key).unwrap(), None, "{key}");
        }
        assert_eq!(r.key("map").unwrap().as_deref(), Some("opt3"));
        assert_eq!(r.keys("broken").unwrap_err().to_string(), "rows[0].broken.selected: is missing");
        assert!(r.keys("number").is_err());
        assert_eq!(r.choices("map").len(), 3);
    }

    #[test]
    fn scalars_are_text_and_errors_name_their_place() {
        let v =
            json!({"t": "1", "f": "", "b": true, "n": "12", "none": "", "bad": "yes", "neg": -1, "x": "\u{1b}[2Jhi"});
        let r = Row::new(&v, "rows[2]").unwrap();
        assert_eq!(
            (r.bool("t"), r.bool("f"), r.bool("b"), r.bool("gone")),
            (Ok(Some(true)), Ok(Some(false)), Ok(Some(true)), Ok(None))
        );
        assert_eq!((r.u64("n"), r.u64("none"), r.u64("gone")), (Ok(Some(12)), Ok(None), Ok(None)));
        assert_eq!(r.bool("bad").unwrap_err().to_string(), "rows[2].bad: expected a truth value, found other text");
        assert!(r.u64("neg").is_err() && r.u64("bad").is_err() && r.need_text("gone").is_err());
        assert_eq!(r.text("x").unwrap().as_deref(), Some("␛[2Jhi"));
        assert!(Row::named(&json!([]), "m").unwrap().is_empty() && Row::named(&json!([1]), "m").is_err());
    }
}
