//! Scalars as Proxmox sends them (facts/proxmox.md §2): a number may come as string, a boolean as `1`, `"1"` or
//! `true`, a list as array or comma text. What is absent or null is `None`; what cannot be understood is an error
//! that names the field, never a default.

use serde_json::{Map, Value};

use crate::backends::http::{clean, clean_block};

/// A value in an answer that is not what the field must hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {why}")]
pub struct Unreadable {
    /// Where in the answer, e.g. `data[3].vmid`.
    pub at: String,
    /// What is wrong with it.
    pub why: String,
}

type Read<T> = Result<T, Unreadable>;

/// One JSON object of an answer and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    at: String,
    map: &'a Map<String, Value>,
}

impl<'a> Row<'a> {
    /// `value` as an object.
    pub(super) fn new(value: &'a Value, at: impl Into<String>) -> Read<Self> {
        let at = at.into();
        match value {
            Value::Object(map) => Ok(Self { at, map }),
            other => Err(Unreadable { at, why: format!("expected an object, found {}", kind(other)) }),
        }
    }

    /// The objects of a list.
    pub(super) fn list(value: &'a Value, at: &str) -> Read<Vec<Self>> {
        match value {
            Value::Array(rows) => {
                rows.iter().enumerate().map(|(i, row)| Self::new(row, format!("{at}[{i}]"))).collect()
            }
            other => Err(Unreadable { at: at.to_owned(), why: format!("expected a list, found {}", kind(other)) }),
        }
    }

    pub(super) fn of_map(map: &'a Map<String, Value>, at: impl Into<String>) -> Self {
        Self { at: at.into(), map }
    }

    pub(super) fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    pub(super) fn at(&self) -> &str {
        &self.at
    }

    /// The value of `key`; `None` when absent or null.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|v| !v.is_null())
    }

    /// An error at `key`.
    pub(super) fn fault(&self, key: &str, why: impl Into<String>) -> Unreadable {
        Unreadable { at: format!("{}.{key}", self.at), why: why.into() }
    }

    fn wrong(&self, key: &str, wanted: &str, value: &Value) -> Unreadable {
        self.fault(key, format!("expected {wanted}, found {}", kind(value)))
    }

    fn need<T>(&self, key: &str, found: Option<T>) -> Read<T> {
        found.ok_or_else(|| self.fault(key, "is missing"))
    }

    /// One line of text, cleaned.
    pub(super) fn text(&self, key: &str) -> Read<Option<String>> {
        self.get(key).map(|v| scalar_text(v).ok_or_else(|| self.wrong(key, "text", v))).transpose()
    }

    pub(super) fn need_text(&self, key: &str) -> Read<String> {
        self.text(key).and_then(|found| self.need(key, found))
    }

    /// Text that may hold several lines.
    pub(super) fn block(&self, key: &str) -> Read<Option<String>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(s)) => Ok(Some(clean_block(s))),
            Some(other) => Err(self.wrong(key, "text", other)),
        }
    }

    pub(super) fn u64(&self, key: &str) -> Read<Option<u64>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let found = match value {
            Value::Number(n) => n.as_u64().or_else(|| whole(n.as_f64()?)),
            Value::String(s) => s.trim().parse().ok(),
            Value::Bool(b) => Some(u64::from(*b)),
            _ => None,
        };
        found.map(Some).ok_or_else(|| self.wrong(key, "a whole number", value))
    }

    pub(super) fn u32(&self, key: &str) -> Read<Option<u32>> {
        let narrow = |n: u64| u32::try_from(n).map_err(|_| self.fault(key, format!("{n} is out of range")));
        self.u64(key)?.map(narrow).transpose()
    }

    pub(super) fn need_u32(&self, key: &str) -> Read<u32> {
        self.u32(key).and_then(|found| self.need(key, found))
    }

    pub(super) fn f64(&self, key: &str) -> Read<Option<f64>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let found = match value {
            Value::Number(n) => n.as_f64(),
            Value::String(s) => s.trim().parse().ok(),
            _ => None,
        };
        let finite = found.filter(|n: &f64| n.is_finite());
        finite.map(Some).ok_or_else(|| self.wrong(key, "a number", value))
    }

    pub(super) fn bool(&self, key: &str) -> Read<Option<bool>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        truth(value).map(Some).ok_or_else(|| self.wrong(key, "a truth value", value))
    }

    pub(super) fn need_bool(&self, key: &str) -> Read<bool> {
        self.bool(key).and_then(|found| self.need(key, found))
    }

    /// A list: an array of scalars, or text split at commas, semicolons and blanks. Absent is empty.
    pub(super) fn words(&self, key: &str) -> Read<Vec<String>> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                items.iter().map(|v| scalar_text(v).ok_or_else(|| self.wrong(key, "a list of words", v))).collect()
            }
            Some(other) => {
                let text = scalar_text(other).ok_or_else(|| self.wrong(key, "a list", other))?;
                Ok(split_words(&text))
            }
        }
    }
}

/// The words of a list written as text.
pub(super) fn split_words(text: &str) -> Vec<String> {
    text.split([',', ';', ' ', '\0']).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// A scalar as cleaned text; `None` for lists, objects and null.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(clean(s)),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(u8::from(*b).to_string()),
        _ => None,
    }
}

/// The truth in `1`, `"1"`, `true`, `on`, `yes` and their opposites. An empty string is Perl's false.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(b) => Some(*b),
        Value::Number(n) => match n.as_f64() {
            Some(0.0) => Some(false),
            Some(1.0) => Some(true),
            _ => None,
        },
        Value::String(s) => truth_word(s),
        _ => None,
    }
}

pub(super) fn truth_word(word: &str) -> Option<bool> {
    match word.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Some(true),
        "0" | "false" | "off" | "no" | "" => Some(false),
        _ => None,
    }
}

/// A float that stands for a whole number below 2^53.
fn whole(n: f64) -> Option<u64> {
    ((0.0..9_007_199_254_740_992.0).contains(&n) && n.fract() == 0.0).then_some(n as u64)
}

/// What a value is, without printing it: it may hold a secret.
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

    fn row(value: &Value) -> Row<'_> {
        Row::new(value, "data[0]").unwrap()
    }

    #[test]
    fn every_mixture_of_scalars_is_understood() {
        let v = json!({"i": 7, "s": "7", "f": 7.0, "t": true, "one": "1", "zero": 0, "nil": null, "x": "0.25"});
        let r = row(&v);
        for key in ["i", "s", "f"] {
            assert_eq!(r.u32(key).unwrap(), Some(7), "{key}");
            assert_eq!(r.f64(key).unwrap(), Some(7.0), "{key}");
        }
        assert_eq!(r.bool("t").unwrap(), Some(true));
        assert_eq!(r.bool("one").unwrap(), Some(true));
        assert_eq!(r.bool("zero").unwrap(), Some(false));
        assert_eq!(r.text("i").unwrap().as_deref(), Some("7"));
        assert_eq!(r.f64("x").unwrap(), Some(0.25));
        for key in ["nil", "missing"] {
            assert_eq!((r.u64(key), r.bool(key), r.text(key)), (Ok(None), Ok(None), Ok(None)), "{key}");
        }
    }

    #[test]
    fn what_is_not_understood_names_its_place() {
        let v = json!({"n": "lots", "neg": -1, "big": 4_294_967_296_u64, "b": "perhaps", "l": {}, "frac": 1.5});
        let r = row(&v);
        assert_eq!(r.u32("n").unwrap_err().to_string(), "data[0].n: expected a whole number, found other text");
        assert_eq!(r.u32("big").unwrap_err().to_string(), "data[0].big: 4294967296 is out of range");
        assert!(r.u32("neg").is_err() && r.u64("frac").is_err() && r.bool("b").is_err() && r.words("l").is_err());
        assert_eq!(r.need_text("gone").unwrap_err().to_string(), "data[0].gone: is missing");
        assert_eq!(Row::new(&json!(3), "data").unwrap_err().why, "expected an object, found another number");
        assert!(Row::list(&json!({}), "data").is_err());
        assert_eq!(Row::list(&json!([{}, 1]), "data").unwrap_err().at, "data[1]");
    }

    #[test]
    fn lists_come_as_text_or_array() {
        let v = json!({"a": "x,y", "b": ["x", "y"], "c": "x;y", "d": "", "e": 5});
        let r = row(&v);
        for key in ["a", "b", "c"] {
            assert_eq!(r.words(key).unwrap(), ["x", "y"], "{key}");
        }
        assert!(r.words("d").unwrap().is_empty() && r.words("none").unwrap().is_empty());
        assert_eq!(r.words("e").unwrap(), ["5"]);
    }
}
