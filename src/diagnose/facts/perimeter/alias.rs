//! Aliases: what names in rules stand for. And how long the router has run.

use serde_json::Value;

use crate::diagnose::evidence::Item;
use crate::diagnose::facts::rows::{self, Row, listed, read, selected, truth};
use crate::diagnose::facts::sdn::text;
use crate::diagnose::facts::{Facts, Reader, Sourced, Taken, json};

/// Readers.
pub(super) const READERS: &[Reader] = &[aliases, uptime];

/// An alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// Its uuid; the name of a built-in one.
    pub uuid: String,
    /// Name.
    pub name: String,
    /// Switched on.
    pub enabled: bool,
    /// `host`, `network`, `networkgroup`, `port`, `url`, `external`, `internal`, …
    pub kind: String,
    /// Members as written.
    pub content: Vec<String>,
}

fn aliases(item: &Item, facts: &mut Facts) -> Taken {
    let alias = |row: &Row| Alias {
        uuid: text(row, "uuid").unwrap_or_default(),
        name: text(row, "name").unwrap_or_default(),
        enabled: truth(row, "enabled").unwrap_or(true),
        kind: text(row, "type").unwrap_or_default().to_ascii_lowercase(),
        content: selected(row.get("content")),
    };
    let rows = listed(item, &["firewall/alias/searchitem"]);
    read(rows, |rows| facts.perimeter.aliases = Some(Sourced::new(rows.iter().map(alias).collect(), item)))
}

/// `11 days, 05:06:29` or `05:06:29`.
fn seconds(text: &str) -> Option<u64> {
    let (days, clock) = match text.split_once(" day") {
        Some((days, rest)) => (days.trim().parse::<u64>().ok()?, rest.rsplit(' ').next()?),
        None => (0, text.trim()),
    };
    let mut parts = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

fn uptime(item: &Item, facts: &mut Facts) -> Taken {
    if !rows::opnsense(item, &["diagnostics/system/systemtime"]) {
        return Taken::NotMine;
    }
    read(json(item), |value| {
        let told = value.get("uptime").and_then(Value::as_str).and_then(seconds);
        facts.perimeter.uptime = told.map(|seconds| Sourced::new(seconds, item));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptimes() {
        assert_eq!(seconds("11 days, 05:06:29"), Some(11 * 86_400 + 5 * 3600 + 6 * 60 + 29));
        assert_eq!(seconds("1 day, 00:00:01"), Some(86_401));
        assert_eq!(seconds("00:20:00"), Some(1200));
        assert_eq!(seconds("soon"), None);
    }
}
