//! Clocks: the `Date` of an answer, a clock that was read, moments that were noted down.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;

use super::calls::header;
use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::{Api, Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[dates, noted];

/// A server's clock, and which interface told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Date {
    /// Interface.
    pub api: Api,
    /// The place that was asked.
    pub from: String,
    /// Its clock.
    pub at: Timestamp,
    /// This host's clock at the same moment, where the item keeps it.
    pub here: Option<Timestamp>,
}

/// What was read of them.
#[derive(Debug, Default)]
pub struct Clocks {
    /// Clocks of servers.
    pub dates: Vec<Sourced<Date>>,
    /// A clock by itself: this host's.
    pub here: Option<Sourced<Timestamp>>,
    /// Moments by name: `now`, `apply_sent_at`, …
    pub noted: BTreeMap<String, Sourced<Timestamp>>,
}

fn dates(item: &Item, facts: &mut Facts) -> Taken {
    let Some(http) = item.http() else { return Taken::NotMine };
    let date = header(http, "date").and_then(|text| DateTimeParser::new().parse_timestamp(text.trim()).ok());
    if let Some(at) = date {
        let date = Date { api: http.api, from: item.from.clone(), at, here: item.at };
        facts.clocks.dates.push(Sourced::new(date, item));
    }
    // The body is another reader's.
    Taken::NotMine
}

/// Seconds since the epoch or RFC 3339.
fn moment(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(n) => Timestamp::from_second(n.as_i64()?).ok(),
        Value::String(s) => s.trim().parse().ok(),
        _ => None,
    }
}

fn noted(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(item.kind, Kind::Material(_)) {
        return Taken::NotMine;
    }
    if let Ok(at) = item.body.trim().parse::<Timestamp>() {
        facts.clocks.here = Some(Sourced::new(at, item));
        return Taken::Read;
    }
    let Ok(Value::Object(map)) = serde_json::from_str::<Value>(&item.body) else { return Taken::NotMine };
    let times: Vec<_> = map.iter().filter_map(|(key, value)| Some((key.clone(), moment(value)?))).collect();
    if times.is_empty() || times.len() != map.len() {
        return Taken::NotMine;
    }
    facts.clocks.noted.extend(times.into_iter().map(|(key, at)| (key, Sourced::new(at, item))));
    Taken::Read
}
