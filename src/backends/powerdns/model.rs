//! What PowerDNS says, in types. Text that may steer a terminal is in [`Content`] or already cleaned.

use std::collections::BTreeMap;
use std::fmt;

use super::name::Name;
use crate::backends::http::clean;
use crate::site::secret::Secret;

/// A server behind the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// `localhost`.
    pub id: String,
    /// `authoritative`; a recursor or a balancer would say otherwise.
    pub daemon: Option<String>,
    /// Its version.
    pub version: Version,
}

/// A version as PowerDNS writes it, and its numbers where it has any (a build from git may not).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// As sent, e.g. `4.9.18`, `5.1.0-alpha1`.
    pub text: String,
    /// Major, minor and patch number; patch 0 where it is missing.
    pub numbers: Option<(u16, u16, u16)>,
}

impl Version {
    /// Reads `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = clean(text);
        let mut parts = text.split('.').map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part.get(..end).and_then(|digits| digits.parse().ok())
        });
        let major = parts.next().flatten();
        let minor = parts.next().flatten();
        let patch = parts.next().flatten().unwrap_or(0);
        let numbers = major.zip(minor).map(|(major, minor)| (major, minor, patch));
        Self { text, numbers }
    }

    /// Whether this is `major.minor` or later; `None` when the version has no numbers.
    #[must_use]
    pub fn at_least(&self, major: u16, minor: u16) -> Option<bool> {
        self.numbers.map(|(a, b, _)| (a, b) >= (major, minor))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Counters of the server. Their names differ between versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Name → value as sent; rings and maps are left out.
    pub values: BTreeMap<String, String>,
}

impl Statistics {
    /// The counter `name`; `None` when this version has none of that name, or its value is no whole number.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.parse().ok()
    }
}

/// The settings that decide what zones may be told by whom (facts/dns.md §1, §5). Others are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    values: BTreeMap<&'static str, String>,
}

/// The settings kept.
const SETTINGS: [&str; 10] = [
    "allow-dnsupdate-from",
    "default-soa-content",
    "dnsupdate",
    "dnsupdate-require-tsig",
    "enable-lua-record-updates",
    "enable-lua-records",
    "lua-dnsupdate-policy-script",
    "webserver-allow-from",
    "webserver-max-bodysize",
    "zone-cache-refresh-interval",
];

impl Settings {
    pub(super) fn keep(&mut self, name: &str, value: String) {
        if let Some(known) = SETTINGS.iter().find(|known| **known == name) {
            self.values.insert(known, value);
        }
    }

    /// A setting as sent; `None` when this version does not have it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// A yes-or-no setting; `None` when this version does not have it or its value is neither.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            "yes" | "true" | "on" | "1" => Some(true),
            "no" | "false" | "off" | "0" | "" => Some(false),
            _ => None,
        }
    }
}

/// How a zone is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZoneKind {
    /// Replicated by other means than DNS, or not at all.
    Native,
    /// Notifies and serves secondaries; PowerDNS writes `Master`.
    Primary,
    /// Copied from elsewhere; PowerDNS writes `Slave`.
    Secondary,
    /// A kind not known here, as sent (`Producer`, `Consumer`).
    Other(String),
}

impl ZoneKind {
    pub(super) fn new(text: &str) -> Self {
        match text.to_ascii_lowercase().as_str() {
            "native" => Self::Native,
            "master" | "primary" => Self::Primary,
            "slave" | "secondary" => Self::Secondary,
            _ => Self::Other(clean(text)),
        }
    }
}

impl fmt::Display for ZoneKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Native => "native",
            Self::Primary => "primary",
            Self::Secondary => "secondary",
            Self::Other(text) => text,
        })
    }
}

/// A zone without its records. What a field of `None` would say was not sent: an older version, or a list that leaves it
/// out (`?dnssec=false`, facts/dns.md §2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneHead {
    /// Its name.
    pub name: Name,
    /// How it is kept.
    pub kind: ZoneKind,
    /// Serial of the SOA; 0 also when the zone has no SOA any more (facts/dns.md §2).
    pub serial: Option<u32>,
    /// Serial after SOA-EDIT.
    pub edited_serial: Option<u32>,
    /// Whether it is signed.
    pub dnssec: Option<bool>,
    /// Free text, used as owner's mark.
    pub account: Option<String>,
    /// How the API moves the serial, e.g. `INCREASE`.
    pub soa_edit_api: Option<String>,
    /// Addresses a secondary copies from.
    pub masters: Vec<String>,
}

/// A zone and its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    /// What the list shows of it, and more.
    pub head: ZoneHead,
    /// Its RRsets in tree order, SOA and NS first at each name.
    pub rrsets: Vec<RrSet>,
    /// Some bytes of the answer were not UTF-8 and read U+FFFD now: the text shown is not the text stored.
    pub bytes_replaced: bool,
}

impl Zone {
    /// The RRset of `name` and `kind` (upper-case, e.g. `TXT`).
    #[must_use]
    pub fn rrset(&self, name: &Name, kind: &str) -> Option<&RrSet> {
        self.rrsets.iter().find(|set| set.kind == kind && set.name == *name)
    }

    /// Records served, disabled ones not counted.
    #[must_use]
    pub fn served(&self) -> usize {
        self.rrsets.iter().flat_map(|set| &set.records).filter(|record| !record.disabled).count()
    }
}

/// All records of one name and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RrSet {
    /// Owner.
    pub name: Name,
    /// Type, upper-case: `A`, `TXT`, `TYPE65300`.
    pub kind: String,
    /// TTL in seconds as sent. 4.7 stores any: 4294967295 stands for -1 there (facts/dns.md §3).
    pub ttl: i64,
    /// Records; empty where only comments are left.
    pub records: Vec<Record>,
    /// Comments. A dynamic update that touches the set drops them (facts/dns.md §5).
    pub comments: Vec<Comment>,
}

impl RrSet {
    /// Whether the TTL is one that RFC 2181 §8 allows.
    #[must_use]
    pub fn ttl_is_valid(&self) -> bool {
        (0..=i64::from(i32::MAX)).contains(&self.ttl)
    }
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Content.
    pub content: Content,
    /// Kept, but not served.
    pub disabled: bool,
}

/// A record's content as stored: quoting of TXT, `\DDD` escapes and letter case untouched, so that it can be compared and
/// written back. Displayed, it cannot steer a terminal: PowerDNS stores and returns raw control and bidirectional
/// characters inside a TXT.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content(pub(super) String);

impl Content {
    /// Content as PowerDNS takes it: names with their final dot, texts in quotes.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// As stored. Never print this.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// The name that content of one name (NS, CNAME, PTR, DNAME, ALIAS) points to.
    #[must_use]
    pub fn target(&self) -> Name {
        Name::new(&self.0)
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&clean(&self.0))
    }
}

/// Escaped, as text in an error or a log has to be.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A comment on an RRset, cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Text.
    pub text: String,
    /// Who wrote it, as they said.
    pub account: String,
    /// Unix seconds of the last change.
    pub modified_at: Option<u64>,
}

/// Metadata of one zone. Kinds that are properties of the zone itself (API-RECTIFY, SOA-EDIT-API, keys for transfers) are
/// listed by some versions only: for those a missing kind says nothing (facts/dns.md §4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneMetadata {
    /// The zone.
    pub zone: Name,
    /// Kind → values, in the order sent.
    pub kinds: BTreeMap<String, Vec<String>>,
}

impl ZoneMetadata {
    /// Values of `kind`; empty when it is not set.
    #[must_use]
    pub fn values(&self, kind: &str) -> &[String] {
        self.kinds.get(kind).map_or(&[], Vec::as_slice)
    }

    /// Keys that may update the zone. PowerDNS compares their names like domain names.
    #[must_use]
    pub fn update_keys(&self) -> Vec<Name> {
        self.values("TSIG-ALLOW-DNSUPDATE").iter().map(|name| Name::new(name)).collect()
    }

    /// Networks that updates of this zone may come from, beside the server's own `allow-dnsupdate-from`.
    #[must_use]
    pub fn update_networks(&self) -> &[String] {
        self.values("ALLOW-DNSUPDATE-FROM")
    }

    /// Whether the zone takes updates without a signature. A list of keys that is empty is not a closed zone: any
    /// address in either list of networks may then write (facts/dns.md §0.3). `None` where that cannot be said: a
    /// policy script decides alone, or `settings` lacks what is needed.
    #[must_use]
    pub fn takes_unsigned_updates(&self, settings: &Settings) -> Option<bool> {
        if !settings.flag("dnsupdate")? {
            return Some(false);
        }
        // The script bypasses both lists and the demand for a key; it may be missing in a version without it.
        if settings.get("lua-dnsupdate-policy-script").is_some_and(|script| !script.is_empty()) {
            return None;
        }
        // Before 5.0 there was no such demand.
        if settings.flag("dnsupdate-require-tsig") == Some(true) || !self.update_keys().is_empty() {
            return Some(false);
        }
        if !self.update_networks().is_empty() {
            return Some(true);
        }
        settings.get("allow-dnsupdate-from").map(|networks| !networks.trim().is_empty())
    }
}

/// A TSIG key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TsigKeyName {
    /// Id in the API, cleaned.
    pub id: String,
    /// Name.
    pub name: Name,
    /// Algorithm, lower-case without trailing dot, e.g. `hmac-sha256`. One name may occur with two (facts/dns.md §4).
    pub algorithm: String,
}

/// A TSIG key's secret, wiped when it is dropped.
#[derive(Debug)]
pub struct TsigSecret {
    /// Algorithm, lower-case without trailing dot, e.g. `hmac-sha256`.
    pub algorithm: String,
    /// Secret in base64.
    pub secret: Secret,
}

/// Pieces for the pictures of other rooms' tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::{Content, Name, Record, RrSet, Settings};

    pub(crate) fn settings(pairs: &[(&'static str, &str)]) -> Settings {
        let mut settings = Settings::default();
        for (name, value) in pairs {
            settings.keep(name, (*value).to_owned());
        }
        settings
    }

    pub(crate) fn rrset(name: &str, kind: &str, ttl: i64, contents: &[&str]) -> RrSet {
        let record = |content: &&str| Record { content: Content((*content).to_owned()), disabled: false };
        let records = contents.iter().map(record).collect();
        RrSet { name: Name::new(name), kind: kind.to_owned(), ttl, records, comments: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (text, numbers) in [
            ("4.7.3", Some((4, 7, 3))),
            ("5.1.0-alpha1", Some((5, 1, 0))),
            ("4.10", Some((4, 10, 0))),
            ("git-2026-abc", None),
            ("", None),
        ] {
            assert_eq!(Version::new(text).numbers, numbers, "{text}");
        }
        assert_eq!(Version::new("4.10.0").at_least(4, 9), Some(true));
        assert_eq!(Version::new("4.9.18").at_least(4, 10), Some(false));
        assert_eq!(Version::new("unreleased").at_least(4, 9), None);
        assert_eq!(Version::new("5.0\u{1b}[2J").text, "5.0␛[2J");
    }

    /// What is said of a zone with these keys and networks on a server with these settings.
    fn open(keys: &[&str], networks: &[&str], settings: &[(&str, &str)]) -> Option<bool> {
        let mut known = Settings::default();
        for (name, value) in settings {
            known.keep(name, (*value).to_owned());
        }
        let owned = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect();
        let kinds = BTreeMap::from([
            ("TSIG-ALLOW-DNSUPDATE".to_owned(), owned(keys)),
            ("ALLOW-DNSUPDATE-FROM".to_owned(), owned(networks)),
        ]);
        ZoneMetadata { zone: Name::new("z.example"), kinds }.takes_unsigned_updates(&known)
    }

    #[test]
    fn an_open_zone_is_told_from_a_closed_one_and_from_an_unknown_one() {
        let (on, none, local) =
            (("dnsupdate", "yes"), ("allow-dnsupdate-from", ""), ("allow-dnsupdate-from", "127.0.0.0/8,::1"));
        assert_eq!(open(&[], &["10.20.99.0/24"], &[on, none]), Some(true));
        assert_eq!(open(&["tdemo"], &["10.20.99.0/24"], &[on, none]), Some(false));
        assert_eq!(open(&[], &[], &[on, none]), Some(false), "nobody may come");
        assert_eq!(open(&[], &[], &[on, local]), Some(true), "the server's own list counts too");
        assert_eq!(open(&[], &["10.0.0.0/8"], &[("dnsupdate", "no"), none]), Some(false));
        assert_eq!(open(&[], &["10.0.0.0/8"], &[on, none, ("dnsupdate-require-tsig", "yes")]), Some(false));
        let script = ("lua-dnsupdate-policy-script", "/etc/powerdns/policy.lua");
        assert_eq!(open(&["tdemo"], &[], &[on, none, script]), None, "the script decides");
        assert_eq!(open(&[], &["10.0.0.0/8"], &[]), None, "settings were not read");
        assert_eq!(open(&[], &[], &[on]), None, "the server's own list is not known");
    }
}
