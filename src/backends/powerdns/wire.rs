//! From JSON to the model. Scalars are read leniently: a number may come as text, a truth as `0` and `1`. What is absent
//! or null is `None`; what cannot be understood is an error that names the field, never a default.
//!
//! Records are decoded straight into their own structures: a tree of JSON values for 10,000 records costs several times
//! their text.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::model::{
    Comment, Content, Record, RrSet, Server, Settings, Statistics, TsigKeyName, TsigSecret, Version, Zone, ZoneHead,
    ZoneKind,
};
use super::name::Name;
use crate::backends::http::clean;
use crate::site::secret::Secret;

/// A value in an answer that is not what the field must hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {why}")]
pub struct Unreadable {
    /// Where in the answer, e.g. `rrsets[3].ttl`.
    pub at: String,
    /// What is wrong with it. Never holds the value.
    pub why: String,
}

type Read<T> = Result<T, Unreadable>;

/// What became of a body.
pub(super) enum Decoded<T> {
    /// It was read; `true` when bytes that are not UTF-8 were replaced.
    Whole(T, bool),
    /// It is JSON of another shape.
    Shape(Unreadable),
    /// It is no JSON.
    NotJson,
}

/// Reads `body`. PowerDNS passes bytes of its database on as they are, so text may hold what is not UTF-8; the rest of
/// such an answer is as good as any.
pub(super) fn decode<T: DeserializeOwned>(body: &[u8]) -> Decoded<T> {
    let first = serde_json::from_slice(body);
    let (result, replaced) = match (first, std::str::from_utf8(body)) {
        (Err(_), Err(_)) => (serde_json::from_str(&String::from_utf8_lossy(body)), true),
        (first, _) => (first, false),
    };
    match result {
        Ok(value) => Decoded::Whole(value, replaced),
        // Its words may quote a value.
        Err(error) if error.is_data() => Decoded::Shape(Unreadable {
            at: format!("line {}, column {}", error.line(), error.column()),
            why: "the answer has another shape than known".to_owned(),
        }),
        Err(_) => Decoded::NotJson,
    }
}

fn fault(at: &str, key: &str, why: impl Into<String>) -> Unreadable {
    Unreadable { at: format!("{at}.{key}"), why: why.into() }
}

/// Text as sent.
fn raw(value: Option<Value>, at: &str, key: &str) -> Read<Option<String>> {
    match value {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(Value::Bool(truth)) => Ok(Some(truth.to_string())),
        Some(_) => Err(fault(at, key, "expected text")),
    }
}

fn need<T>(value: Option<T>, at: &str, key: &str) -> Read<T> {
    value.ok_or_else(|| fault(at, key, "is missing"))
}

fn need_raw(value: Option<Value>, at: &str, key: &str) -> Read<String> {
    need(raw(value, at, key)?, at, key)
}

fn text(value: Option<Value>, at: &str, key: &str) -> Read<Option<String>> {
    Ok(raw(value, at, key)?.map(|text| clean(&text)))
}

fn need_text(value: Option<Value>, at: &str, key: &str) -> Read<String> {
    need(text(value, at, key)?, at, key)
}

fn whole(value: Option<Value>, at: &str, key: &str) -> Read<Option<i64>> {
    let Some(value) = value else { return Ok(None) };
    let number = match &value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.map(Some).ok_or_else(|| fault(at, key, "expected a whole number"))
}

fn serial(value: Option<Value>, at: &str, key: &str) -> Read<Option<u32>> {
    let narrow = |n: i64| u32::try_from(n).map_err(|_| fault(at, key, format!("{n} is not a serial")));
    whole(value, at, key)?.map(narrow).transpose()
}

fn truth(value: Option<Value>, at: &str, key: &str) -> Read<Option<bool>> {
    let found = match raw(value, at, key)?.as_deref() {
        None => return Ok(None),
        Some("true" | "1" | "yes") => true,
        Some("false" | "0" | "no" | "") => false,
        Some(_) => return Err(fault(at, key, "expected a truth value")),
    };
    Ok(Some(found))
}

fn words(values: Option<Vec<Value>>, at: &str, key: &str) -> Read<Vec<String>> {
    values.unwrap_or_default().into_iter().map(|value| need_text(Some(value), at, key)).collect()
}

/// A row of `/servers`.
#[derive(Debug, Deserialize)]
pub(super) struct RawServer {
    id: Option<Value>,
    daemon_type: Option<Value>,
    version: Option<Value>,
}

impl RawServer {
    pub(super) fn read(self, at: &str) -> Read<Server> {
        let version = need_raw(self.version, at, "version")?;
        Ok(Server {
            id: text(self.id, at, "id")?.unwrap_or_else(|| "localhost".to_owned()),
            daemon: text(self.daemon_type, at, "daemon_type")?,
            version: Version::new(&version),
        })
    }
}

/// A row of `/statistics` or `/config`: rings and maps have a list as value.
#[derive(Debug, Deserialize)]
pub(super) struct RawItem {
    name: Option<Value>,
    value: Option<Value>,
}

impl RawItem {
    pub(super) fn statistics(rows: Vec<Self>) -> Read<Statistics> {
        let mut values = BTreeMap::new();
        for (i, row) in rows.into_iter().enumerate().filter(|(_, row)| !matches!(row.value, Some(Value::Array(_)))) {
            let at = format!("[{i}]");
            values.insert(need_text(row.name, &at, "name")?, need_text(row.value, &at, "value")?);
        }
        Ok(Statistics { values })
    }

    pub(super) fn settings(rows: Vec<Self>) -> Read<Settings> {
        let mut settings = Settings::default();
        for (i, row) in rows.into_iter().enumerate() {
            let at = format!("[{i}]");
            settings.keep(&need_text(row.name, &at, "name")?, need_text(row.value, &at, "value")?);
        }
        Ok(settings)
    }
}

/// A zone, with or without records.
#[derive(Debug, Deserialize)]
pub(super) struct RawZone {
    name: Option<Value>,
    kind: Option<Value>,
    serial: Option<Value>,
    edited_serial: Option<Value>,
    dnssec: Option<Value>,
    account: Option<Value>,
    soa_edit_api: Option<Value>,
    masters: Option<Vec<Value>>,
    rrsets: Option<Vec<RawRrSet>>,
}

impl RawZone {
    pub(super) fn head(self, at: &str) -> Read<ZoneHead> {
        self.split(at).map(|(head, _)| head)
    }

    pub(super) fn zone(self, bytes_replaced: bool) -> Read<Zone> {
        let (head, raw) = self.split("zone")?;
        let raw = need(raw, "zone", "rrsets")?;
        let mut rrsets = Vec::with_capacity(raw.len());
        for (i, set) in raw.into_iter().enumerate() {
            rrsets.push(set.read(i)?);
        }
        rrsets.sort_by(|a: &RrSet, b| {
            a.name.tree_order(&b.name).then_with(|| rank(&a.kind).cmp(&rank(&b.kind))).then_with(|| a.kind.cmp(&b.kind))
        });
        Ok(Zone { head, rrsets, bytes_replaced })
    }

    fn split(self, at: &str) -> Read<(ZoneHead, Option<Vec<RawRrSet>>)> {
        let head = ZoneHead {
            name: Name::new(&need_raw(self.name, at, "name")?),
            kind: ZoneKind::new(&need_raw(self.kind, at, "kind")?),
            serial: serial(self.serial, at, "serial")?,
            edited_serial: serial(self.edited_serial, at, "edited_serial")?,
            dnssec: truth(self.dnssec, at, "dnssec")?,
            account: text(self.account, at, "account")?,
            soa_edit_api: text(self.soa_edit_api, at, "soa_edit_api")?,
            masters: words(self.masters, at, "masters")?,
        };
        Ok((head, self.rrsets))
    }
}

fn rank(kind: &str) -> u8 {
    match kind {
        "SOA" => 0,
        "NS" => 1,
        _ => 2,
    }
}

#[derive(Debug, Deserialize)]
struct RawRrSet {
    name: Option<Value>,
    r#type: Option<Value>,
    ttl: Option<Value>,
    records: Option<Vec<RawRecord>>,
    comments: Option<Vec<RawComment>>,
}

#[derive(Debug, Deserialize)]
struct RawRecord {
    content: Option<Value>,
    disabled: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct RawComment {
    content: Option<Value>,
    account: Option<Value>,
    modified_at: Option<Value>,
}

impl RawRrSet {
    fn read(self, index: usize) -> Read<RrSet> {
        // Made only for an error: 10,000 paths would be built for nothing.
        self.read_fields().map_err(|(key, why)| Unreadable { at: format!("rrsets[{index}].{key}"), why })
    }

    fn read_fields(self) -> Result<RrSet, (String, String)> {
        let told = |fault: Unreadable| (fault.at.trim_start_matches('.').to_owned(), fault.why);
        let mut kind = need_text(self.r#type, "", "type").map_err(told)?;
        kind.make_ascii_uppercase();
        let mut records: Vec<Record> = need(self.records, "", "records")
            .and_then(|rows| rows.into_iter().map(RawRecord::read).collect())
            .map_err(told)?;
        // They were built where the longer rows lay that they were made of.
        records.shrink_to_fit();
        Ok(RrSet {
            name: Name::new(&need_raw(self.name, "", "name").map_err(told)?),
            kind,
            ttl: need(whole(self.ttl, "", "ttl").map_err(told)?, "", "ttl").map_err(told)?,
            records,
            comments: self
                .comments
                .unwrap_or_default()
                .into_iter()
                .map(RawComment::read)
                .collect::<Read<_>>()
                .map_err(told)?,
        })
    }
}

impl RawRecord {
    fn read(self) -> Read<Record> {
        Ok(Record {
            content: Content(need_raw(self.content, "records", "content")?),
            disabled: truth(self.disabled, "records", "disabled")?.unwrap_or(false),
        })
    }
}

impl RawComment {
    fn read(self) -> Read<Comment> {
        Ok(Comment {
            text: need_text(self.content, "comments", "content")?,
            account: text(self.account, "comments", "account")?.unwrap_or_default(),
            modified_at: whole(self.modified_at, "comments", "modified_at")?.and_then(|n| u64::try_from(n).ok()),
        })
    }
}

/// A row of a zone's metadata.
#[derive(Debug, Deserialize)]
pub(super) struct RawMetadata {
    kind: Option<Value>,
    metadata: Option<Vec<Value>>,
}

impl RawMetadata {
    pub(super) fn kinds(rows: Vec<Self>) -> Read<BTreeMap<String, Vec<String>>> {
        let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (i, row) in rows.into_iter().enumerate() {
            let at = format!("[{i}]");
            let values = words(Some(need(row.metadata, &at, "metadata")?), &at, "metadata")?;
            kinds.entry(need_text(row.kind, &at, "kind")?).or_default().extend(values);
        }
        Ok(kinds)
    }
}

/// A row of `/tsigkeys`. It has no field for the secret: should one come, it is read over.
#[derive(Debug, Deserialize)]
pub(super) struct RawKey {
    id: Option<Value>,
    name: Option<Value>,
    algorithm: Option<Value>,
}

impl RawKey {
    pub(super) fn read(self, at: &str) -> Read<TsigKeyName> {
        let name = need_raw(self.name, at, "name")?;
        let algorithm = need_text(self.algorithm, at, "algorithm")?.to_ascii_lowercase();
        Ok(TsigKeyName {
            id: text(self.id, at, "id")?.unwrap_or_else(|| clean(&name)),
            name: Name::new(&name),
            algorithm: algorithm.trim_end_matches('.').to_owned(),
        })
    }
}

/// `/tsigkeys/{id}`, the one answer whose secret is read.
#[derive(Deserialize)]
pub(super) struct RawSecret {
    algorithm: Option<Value>,
    key: Option<String>,
}

impl RawSecret {
    pub(super) fn read(self) -> Read<TsigSecret> {
        let secret = Secret::new(need(self.key, "key", "key")?);
        let algorithm = need_text(self.algorithm, "key", "algorithm")?.to_ascii_lowercase();
        Ok(TsigSecret { algorithm: algorithm.trim_end_matches('.').to_owned(), secret })
    }
}
