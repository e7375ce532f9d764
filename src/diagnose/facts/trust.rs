//! Which trust a connection was made with: the profile in use, and probes that say what they trusted.

use serde_json::Value;

use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::{Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[profile, probe];

/// Words of TLS libraries for a certificate whose issuer is not trusted (OpenSSL and those that print its texts,
/// rustls).
const UNTRUSTED: [&str; 6] = [
    "unable to verify the first certificate",
    "unable to get local issuer certificate",
    "self-signed certificate",
    "self signed certificate",
    "certificate verify failed",
    "unknown issuer",
];

/// How a site connects to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Origin: scheme, host, port.
    pub endpoint: String,
    /// Files and fingerprints of its trust.
    pub anchors: Vec<String>,
}

/// A request outside of the profile, and how it failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Origin.
    pub endpoint: String,
    /// Path below it.
    pub path: String,
    /// It failed since it does not trust the issuer.
    pub untrusted: bool,
    /// What it says it trusted.
    pub trust: Option<String>,
}

/// What was read of it.
#[derive(Debug, Default)]
pub struct Trust {
    /// Profiles.
    pub profiles: Vec<Sourced<Profile>>,
    /// Probes.
    pub probes: Vec<Sourced<Probe>>,
}

fn profile(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(item.kind, Kind::Material(_)) {
        return Taken::NotMine;
    }
    let Ok(value) = serde_json::from_str::<Value>(&item.body) else { return Taken::NotMine };
    let (Some(endpoint), Some(Value::Object(trust))) =
        (value.get("endpoint").and_then(Value::as_str), value.get("trust"))
    else {
        return Taken::NotMine;
    };
    let anchors = trust.values().filter_map(Value::as_str).map(str::to_owned).collect();
    let profile = Profile { endpoint: endpoint.trim_end_matches('/').to_owned(), anchors };
    facts.trust.profiles.push(Sourced::new(profile, item));
    Taken::Read
}

/// `GET URL`, then `key: value` lines.
fn probe(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(item.kind, Kind::Material(_)) {
        return Taken::NotMine;
    }
    let url = item.body.lines().next().and_then(|line| line.split_once(' ')).map(|(_, url)| url.trim());
    let Some((scheme, rest)) = url.and_then(|url| url.split_once("://")) else { return Taken::NotMine };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let value = |key: &str| {
        let lines = item.body.lines().skip(1).filter_map(|l| l.split_once(": "));
        lines.filter(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.trim().to_owned()).next()
    };
    let error = value("error").unwrap_or_default().to_ascii_lowercase();
    let probe = Probe {
        endpoint: format!("{scheme}://{host}"),
        path: format!("/{path}"),
        untrusted: UNTRUSTED.iter().any(|words| error.contains(words)),
        trust: value("trust"),
    };
    facts.trust.probes.push(Sourced::new(probe, item));
    Taken::Read
}
