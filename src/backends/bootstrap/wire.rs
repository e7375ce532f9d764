//! From JSON to records. Unknown fields are ignored; a record that makes no sense is told by its number.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::SCHEMA;
use super::error::Error;
use super::model::{Broken, Declared, Record, Refusal, Report, Token};
use super::redact;

/// Refusals and reports kept of one workload.
const KEPT: usize = 32;
/// Characters of a word, of a detail, of a shortened claim hash.
const WORD: usize = 80;
const DETAIL: usize = 256;
const CLAIM: usize = 12;

/// One page of a list, or the head line of a file.
#[derive(Debug, Deserialize)]
struct RawPage {
    schema: Option<String>,
    at: Option<String>,
    items: Option<Vec<Box<RawValue>>>,
    next: Option<String>,
}

/// A page after its head was checked.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) at: Option<Timestamp>,
    /// Each as it was sent: trees of hundreds of records take many times the room of what is kept of them.
    pub(super) items: Vec<Box<RawValue>>,
    pub(super) next: Option<String>,
}

/// Reads a page.
///
/// # Errors
/// [`Error::NotUnderstood`] where it is no page, [`Error::Schema`] where it is one of another major version.
pub(super) fn page(place: &str, body: &[u8]) -> Result<Page, Error> {
    let not = |what: String| Error::NotUnderstood { place: place.to_owned(), what };
    let raw: RawPage = serde_json::from_slice(body).map_err(|e| not(said(&e)))?;
    let at = head(place, raw.schema.as_deref(), raw.at.as_deref())?;
    let items = raw.items.ok_or_else(|| not("there are no `items`".to_owned()))?;
    Ok(Page { at, items, next: raw.next.filter(|next| !next.is_empty()) })
}

/// The head line of a file, where `line` is one.
pub(super) fn head_line(place: &str, line: &Value) -> Option<Result<Option<Timestamp>, Error>> {
    let schema = line.get("schema")?.as_str();
    let at = line.get("at").and_then(Value::as_str);
    Some(head(place, schema, at))
}

fn head(place: &str, schema: Option<&str>, at: Option<&str>) -> Result<Option<Timestamp>, Error> {
    if schema != Some(SCHEMA) {
        let found = schema.map_or_else(|| "nothing".to_owned(), |s| redact::text(s, WORD));
        return Err(Error::Schema { place: place.to_owned(), found });
    }
    let wrong = |at: &str| Error::NotUnderstood {
        place: place.to_owned(),
        what: format!("`at` is no timestamp: {:?}", redact::text(at, WORD)),
    };
    at.map(|at| at.parse().map_err(|_| wrong(at))).transpose()
}

/// What the library says of an error, without what may be a secret.
pub(super) fn said(error: &serde_json::Error) -> String {
    redact::text(&error.to_string(), 160)
}

#[derive(Debug, Deserialize)]
struct RawRecord {
    tenant: String,
    workload: String,
    vmid: Option<u32>,
    declared: Option<RawDeclared>,
    token: Option<RawToken>,
    #[serde(default)]
    refusals: Option<Vec<RawRefusal>>,
    acknowledged_at: Option<String>,
    #[serde(default)]
    reports: Option<Vec<RawReport>>,
    interval_s: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct RawDeclared {
    generation: u64,
    digest: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawToken {
    kid: String,
    state: String,
    issued_at: String,
    expires_at: Option<String>,
    redeemed_at: Option<String>,
    redeemed_from: Option<String>,
    smbios_uuid: Option<String>,
    generation: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct RawRefusal {
    at: String,
    reason: Option<String>,
    from: Option<String>,
    claim: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawReport {
    at: String,
    phase: String,
    status: String,
    code: Option<String>,
    detail: Option<String>,
    generation: Option<u64>,
    digest: Option<String>,
    smbios_uuid: Option<String>,
    boot_id: Option<String>,
    #[serde(default)]
    images: Value,
    from: Option<String>,
}

/// Reads an item of a page.
///
/// # Errors
/// As [`record`].
pub(super) fn item(number: usize, raw: &RawValue) -> Result<Record, Broken> {
    // It was valid JSON as a part of the page.
    record(number, serde_json::from_str(raw.get()).unwrap_or_default())
}

/// Reads a record.
///
/// # Errors
/// What is wrong with it, by its number.
pub(super) fn record(number: usize, value: Value) -> Result<Record, Broken> {
    let broken = |why: String| Broken { number, why };
    let raw: RawRecord = serde_json::from_value(value).map_err(|e| broken(said(&e)))?;
    let whose = format!("{}/{}", redact::text(&raw.tenant, WORD), redact::text(&raw.workload, WORD));
    build(raw).map_err(|why| broken(format!("{whose}: {why}")))
}

fn build(raw: RawRecord) -> Result<Record, String> {
    let name = |text: &str, what: &str| {
        let name = redact::text(text, WORD);
        if name.is_empty() { Err(format!("`{what}` is empty")) } else { Ok(name) }
    };
    let mut refusals = each(raw.refusals, refusal)?;
    let mut reports = each(raw.reports, report)?;
    refusals.sort_by_key(|r| r.at);
    reports.sort_by_key(|r| r.at);
    refusals.drain(..refusals.len().saturating_sub(KEPT));
    reports.drain(..reports.len().saturating_sub(KEPT));
    let token = raw.token.map(token).transpose()?;
    share(token.as_ref().and_then(|t| t.smbios_uuid.clone()), &mut reports);
    Ok(Record {
        tenant: name(&raw.tenant, "tenant")?,
        workload: name(&raw.workload, "workload")?,
        vmid: raw.vmid,
        declared: raw
            .declared
            .map(|d| Declared { generation: d.generation, digest: redact::text(&d.digest.unwrap_or_default(), WORD) }),
        token,
        refusals,
        acknowledged_at: maybe(raw.acknowledged_at, "acknowledged_at")?,
        reports,
        interval: raw.interval_s.filter(|s| *s > 0).map(|s| SignedDuration::from_secs(i64::from(s))),
    })
}

/// Machine, address, digest and boot are the same in nearly all reports of a workload: each text is kept once.
fn share(bound: Option<Arc<str>>, reports: &mut [Report]) {
    fn one(last: &mut Option<Arc<str>>, own: &mut Option<Arc<str>>) {
        if own == last { own.clone_from(last) } else { last.clone_from(own) }
    }
    let (mut uuid, mut from, mut digest, mut boot) = (bound, None, None, None);
    for r in reports {
        one(&mut uuid, &mut r.smbios_uuid);
        one(&mut from, &mut r.from);
        one(&mut digest, &mut r.digest);
        one(&mut boot, &mut r.boot_id);
    }
}

fn each<A, B>(list: Option<Vec<A>>, build: impl Fn(A) -> Result<B, String>) -> Result<Vec<B>, String> {
    let mut built = list.unwrap_or_default().into_iter().map(build).collect::<Result<Vec<B>, _>>()?;
    // They were built where the longer ones lay that they were made of.
    built.shrink_to_fit();
    Ok(built)
}

fn time(text: &str, what: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("`{what}` is no timestamp: {:?}", redact::text(text, WORD)))
}

fn maybe(text: Option<String>, what: &str) -> Result<Option<Timestamp>, String> {
    text.map(|text| time(&text, what)).transpose()
}

fn word(text: Option<String>) -> Option<String> {
    text.map(|t| redact::text(&t, WORD)).filter(|t| !t.is_empty())
}

fn uuid(text: Option<String>) -> Option<Arc<str>> {
    word(text).map(|t| t.to_lowercase().into())
}

fn token(raw: RawToken) -> Result<Token, String> {
    Ok(Token {
        state: raw.state.parse().map_err(|_| format!("token.state is {:?}", redact::text(&raw.state, WORD)))?,
        kid: redact::kid(&raw.kid),
        issued_at: time(&raw.issued_at, "token.issued_at")?,
        expires_at: maybe(raw.expires_at, "token.expires_at")?,
        redeemed_at: maybe(raw.redeemed_at, "token.redeemed_at")?,
        redeemed_from: word(raw.redeemed_from),
        smbios_uuid: uuid(raw.smbios_uuid),
        generation: raw.generation,
    })
}

fn refusal(raw: RawRefusal) -> Result<Refusal, String> {
    Ok(Refusal {
        at: time(&raw.at, "refusal.at")?,
        reason: word(raw.reason).unwrap_or_else(|| "no reason given".to_owned()),
        from: word(raw.from),
        // A hash is shown to tell two holders apart, never whole: whoever holds it whole could look for its claim.
        claim: raw.claim.map(|c| redact::text(&c, WORD).chars().take(CLAIM).collect()),
    })
}

fn report(raw: RawReport) -> Result<Report, String> {
    let ok = match raw.status.as_str() {
        "ok" => true,
        "error" => false,
        other => return Err(format!("report.status is {:?}", redact::text(other, WORD))),
    };
    Ok(Report {
        at: time(&raw.at, "report.at")?,
        phase: redact::text(&raw.phase, WORD),
        ok,
        code: word(raw.code).unwrap_or_default(),
        detail: redact::text(&raw.detail.unwrap_or_default(), DETAIL),
        generation: raw.generation,
        digest: word(raw.digest).map(Into::into),
        smbios_uuid: uuid(raw.smbios_uuid),
        boot_id: uuid(raw.boot_id),
        images: images(&raw.images),
        from: word(raw.from).map(Into::into),
    })
}

/// `{container: digest}`; anything else is no statement about images.
fn images(value: &Value) -> Vec<(String, String)> {
    let Some(map) = value.as_object() else { return Vec::new() };
    let pairs = map.iter().filter_map(|(name, digest)| Some((name, digest.as_str()?)));
    pairs.take(8).map(|(name, digest)| (redact::text(name, WORD), redact::text(digest, 100))).collect()
}
