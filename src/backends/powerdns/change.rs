//! What can be written, as data: each [`Write`] is one request, so that a plan can show, order and repeat them.

use std::borrow::Cow;
use std::fmt;

use ipnet::IpNet;
use serde_json::{Value, json};

use super::model::{Comment, Content, Record, RrSet, Zone, ZoneKind};
use super::name::Name;
use crate::backends::dns::{DnsName, LONGEST_TTL, RecordData, RecordSet};
use crate::site::secret::Secret;

/// Bytes of a body at most; PowerDNS takes 2 MB and says nothing but 400 beyond (facts/dns.md §1).
pub const LARGEST_BODY: usize = 1_500_000;
/// Value of TSIG-ALLOW-DNSUPDATE that closes a zone to everybody: no key has this name, and no tenant can (a list that is
/// empty would open it, facts/dns.md §0.3).
pub const NOBODY: &str = "nobody.invalid";

/// A change of one record set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The whole set. Without `comments` those that are there stay.
    Replace {
        /// Owner.
        name: Name,
        /// Type, upper-case.
        kind: String,
        /// Seconds.
        ttl: u32,
        /// At least one.
        records: Vec<Record>,
        /// In place of all there are.
        comments: Option<Vec<Comment>>,
    },
    /// The set and its comments go. One that is not there is deleted with success.
    Delete {
        /// Owner.
        name: Name,
        /// Type, upper-case.
        kind: String,
    },
}

/// Why a change is not sent. The server would take some of these, and be broken by them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be written: {why}")]
pub struct BadChange {
    what: String,
    why: String,
}

impl BadChange {
    pub(super) fn new(what: impl fmt::Display, why: impl Into<String>) -> Self {
        Self { what: crate::backends::http::clean(&what.to_string()), why: why.into() }
    }
}

impl From<&RecordSet> for Change {
    fn from(set: &RecordSet) -> Self {
        let record = |data: &RecordData| Record { content: Content::from(data), disabled: false };
        Self::Replace {
            name: Name::new(set.name().as_str()),
            kind: set.kind().to_string(),
            ttl: set.ttl(),
            records: set.data().iter().map(record).collect(),
            comments: None,
        }
    }
}

impl From<&RecordData> for Content {
    fn from(data: &RecordData) -> Self {
        Self(data.content())
    }
}

impl Change {
    /// What brings back a set as it was read, its disabled records and comments too.
    ///
    /// # Errors
    /// [`BadChange`] for a TTL that only 4.7 stores.
    pub fn restore(set: &RrSet) -> Result<Self, BadChange> {
        let ttl = u32::try_from(set.ttl).map_err(|_| BadChange::new(&set.name, "its TTL is out of range"))?;
        let (name, kind, records) = (set.name.clone(), set.kind.clone(), set.records.clone());
        Ok(Self::Replace { name, kind, ttl, records, comments: Some(set.comments.clone()) })
    }

    /// Owner.
    #[must_use]
    pub const fn name(&self) -> &Name {
        match self {
            Self::Replace { name, .. } | Self::Delete { name, .. } => name,
        }
    }

    /// Type.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Replace { kind, .. } | Self::Delete { kind, .. } => kind,
        }
    }

    /// Whether the change may be sent for `zone`. Apex SOA and NS can be deleted over the API, and the zone is dead then
    /// (facts/dns.md §2).
    ///
    /// # Errors
    /// [`BadChange`].
    pub fn check(&self, zone: &Name) -> Result<(), BadChange> {
        let (name, kind) = (self.name(), self.kind());
        let bad = |why: &str| Err(BadChange::new(format!("{name} {kind}"), why));
        let apex = name == zone;
        if !name.is_in(zone) {
            return bad("it is not in the zone");
        }
        if kind.is_empty() || !kind.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-') {
            return bad("that is no record type");
        }
        match self {
            Self::Delete { .. } if apex && matches!(kind, "SOA" | "NS") => bad("the zone would be dead without it"),
            Self::Delete { .. } => Ok(()),
            Self::Replace { records, .. } if records.is_empty() => bad("there is no record to write"),
            Self::Replace { records, .. } if apex && kind == "NS" && records.iter().all(|r| r.disabled) => {
                bad("the zone would be dead without it")
            }
            Self::Replace { .. } if kind == "SOA" && !apex => bad("a start of authority stands at the apex only"),
            Self::Replace { records, .. } if matches!(kind, "SOA" | "CNAME") && records.len() != 1 => {
                bad("there can be one record only")
            }
            Self::Replace { records, .. } if twice(records) => bad("a record is there twice"),
            Self::Replace { ttl, .. } if *ttl > LONGEST_TTL => bad("its TTL is longer than 2147483647 s"),
            Self::Replace { .. } if name.as_str().parse::<DnsName>().is_err() => bad("that is no name to publish"),
            Self::Replace { .. } => Ok(()),
        }
    }

    /// Whether `zone`, as read, already is as this change would make it.
    #[must_use]
    pub fn is_made(&self, zone: &Zone) -> bool {
        let set = zone.rrset(self.name(), self.kind());
        match (self, set) {
            (Self::Delete { .. }, None) => true,
            (Self::Delete { .. }, Some(_)) | (Self::Replace { .. }, None) => false,
            (Self::Replace { kind, ttl, records, comments, .. }, Some(set)) => {
                set.ttl == i64::from(*ttl)
                    && sorted(kind, &set.records) == sorted(kind, records)
                    && comments.as_ref().is_none_or(|wanted| same_comments(wanted, &set.comments))
            }
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Delete { name, kind } => json!({"name": name.absolute(), "type": kind, "changetype": "DELETE"}),
            Self::Replace { name, kind, ttl, records, comments } => {
                let rows =
                    records.iter().map(|r| json!({"content": writable(kind, r.content.raw()), "disabled": r.disabled}));
                let mut set = json!({"name": name.absolute(), "type": kind, "ttl": ttl, "changetype": "REPLACE",
                    "records": rows.collect::<Vec<_>>()});
                if let (Some(comments), Value::Object(set)) = (comments, &mut set) {
                    set.insert("comments".to_owned(), comments.iter().map(comment).collect());
                }
                set
            }
        }
    }
}

fn comment(comment: &Comment) -> Value {
    let mut row = json!({"content": comment.text, "account": comment.account});
    if let (Some(at), Value::Object(row)) = (comment.modified_at, &mut row) {
        row.insert("modified_at".to_owned(), json!(at));
    }
    row
}

fn twice(records: &[Record]) -> bool {
    records.iter().enumerate().any(|(at, one)| records.iter().take(at).any(|other| other.content == one.content))
}

/// Records of a type in an order of their own: PowerDNS keeps none.
pub(super) fn sorted<'a>(kind: &str, records: &'a [Record]) -> Vec<(Cow<'a, str>, bool)> {
    let mut rows: Vec<_> = records.iter().map(|r| (writable(kind, r.content.raw()), r.disabled)).collect();
    rows.sort_unstable();
    rows
}

/// Content in the form that is taken: 4.7 hands out mapped IPv6 addresses with dots and refuses them so (measured).
fn writable<'a>(kind: &str, content: &'a str) -> Cow<'a, str> {
    match content.parse() {
        Ok(address) if kind == "AAAA" => RecordData::Aaaa(address).content().into(),
        _ => content.into(),
    }
}

/// Comments without their order and times.
pub(super) fn same_comments(wanted: &[Comment], held: &[Comment]) -> bool {
    let rows = |comments: &[Comment]| {
        let mut rows: Vec<_> = comments.iter().map(|c| (c.text.clone(), c.account.clone())).collect();
        rows.sort();
        rows
    };
    rows(wanted) == rows(held)
}

/// The start of authority of a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Apex {
    /// Host of the authoritative server, never an alias of it.
    pub nameserver: DnsName,
    /// Serial to begin with; of a zone that was there before, its last.
    pub serial: u32,
}

impl Apex {
    /// Seconds that a name may be remembered as missing: the platform's own 3600 lets a typing mistake last an hour
    /// (facts/dns.md §2).
    pub const NEGATIVE: u32 = 60;

    /// The two sets at the apex of `zone` (domain.md §4.3).
    #[must_use]
    pub fn changes(&self, zone: &Name) -> Vec<Change> {
        let host = format!("{}.", self.nameserver.as_str());
        let contact = if zone.as_str() == "." { "hostmaster.".to_owned() } else { format!("hostmaster.{zone}.") };
        let soa = format!("{host} {contact} {} 10800 3600 604800 {}", self.serial, Self::NEGATIVE);
        let set = |kind: &str, content: String| Change::Replace {
            name: zone.clone(),
            kind: kind.to_owned(),
            ttl: 3600,
            records: vec![Record { content: Content(content), disabled: false }],
            comments: None,
        };
        vec![set("SOA", soa), set("NS", host)]
    }
}

/// Metadata of a zone that is written here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Metadata {
    /// Keys that may update the zone. Never none: that would open it.
    UpdateKeys(Vec<DnsName>),
    /// Networks that updates may come from, beside those of the server itself.
    UpdateNetworks(Vec<IpNet>),
    /// How an update moves the serial; `INCREASE` is one up.
    UpdateSerial,
    /// Free text of ours, in a kind whose name begins with `X-`.
    Own {
        /// Kind, with `X-` in front.
        kind: String,
        /// Values.
        values: Vec<String>,
    },
}

impl Metadata {
    /// Its kind, as PowerDNS names it.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::UpdateKeys(_) => UPDATE_KEYS,
            Self::UpdateNetworks(_) => UPDATE_NETWORKS,
            Self::UpdateSerial => "SOA-EDIT-DNSUPDATE",
            Self::Own { kind, .. } => kind,
        }
    }

    /// Its values, as PowerDNS takes them.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        match self {
            Self::UpdateKeys(keys) => keys.iter().map(|key| key.as_str().to_owned()).collect(),
            Self::UpdateNetworks(networks) => networks.iter().map(network).collect(),
            Self::UpdateSerial => vec!["INCREASE".to_owned()],
            Self::Own { values, .. } => values.clone(),
        }
    }

    fn check(&self) -> Result<(), BadChange> {
        let bad = |why: &str| Err(BadChange::new(self.kind(), why));
        match self {
            Self::UpdateKeys(keys) if keys.is_empty() => bad("a list without a key opens the zone to everybody"),
            Self::UpdateKeys(keys) if keys.iter().any(|key| key.as_str().is_empty()) => bad("a key has no name"),
            Self::UpdateNetworks(networks) if networks.is_empty() => bad("there is no network in it"),
            Self::Own { kind, .. } if !own(kind) => bad("a kind of ours begins with X-"),
            _ => Ok(()),
        }
    }
}

fn network(network: &IpNet) -> String {
    network.trunc().to_string()
}

fn own(kind: &str) -> bool {
    kind.strip_prefix("X-").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-')
    })
}

/// Kind of the keys that may update a zone.
pub const UPDATE_KEYS: &str = "TSIG-ALLOW-DNSUPDATE";
/// Kind of the networks that updates may come from.
pub const UPDATE_NETWORKS: &str = "ALLOW-DNSUPDATE-FROM";

/// The kinds of a zone that takes updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LiveKind {
    /// Replicated by other means than DNS, or not at all.
    Native,
    /// Notifies secondaries.
    Primary,
}

impl LiveKind {
    /// The kind of a zone that takes updates; `None` for a copy, and for kinds that are not known here.
    #[must_use]
    pub const fn of(kind: &ZoneKind) -> Option<Self> {
        match kind {
            ZoneKind::Native => Some(Self::Native),
            ZoneKind::Primary => Some(Self::Primary),
            ZoneKind::Secondary | ZoneKind::Other(_) => None,
        }
    }

    /// As every version takes it.
    const fn sent(self) -> &'static str {
        match self {
            Self::Native => "Native",
            Self::Primary => "Master",
        }
    }

    /// Word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Primary => "primary",
        }
    }
}

/// One request that changes something.
#[derive(Debug, Clone)]
pub enum Write {
    /// A key. Without `secret` the server makes one.
    CreateKey {
        /// Name, sent in lower case.
        name: DnsName,
        /// In base64.
        secret: Option<Secret>,
    },
    /// A key goes. Its name stays in every list of keys that has it, and whoever makes a key of that name has those zones:
    /// clean the lists first.
    DeleteKey(DnsName),
    /// A zone without records that no update reaches: of a kind that is copied from elsewhere, from nowhere.
    CreateClosed {
        /// Name.
        zone: Name,
        /// Mark of its owner.
        account: String,
    },
    /// A zone goes, with everything in it.
    DeleteZone(Name),
    /// Its kind, and how changes over the API move its serial: one up.
    MakeNative(Name),
    /// A zone that is there becomes a copy of nobody: it answers as before, and takes no update (measured).
    Close(Name),
    /// The kind that it had before it was closed.
    Reopen(Name, LiveKind),
    /// The mark of its owner.
    SetAccount(Name, String),
    /// Metadata, in place of what there is of this kind.
    PutMetadata(Name, Metadata),
    /// Metadata of this kind goes.
    DeleteMetadata(Name, &'static str),
    /// Record sets, all or none. No-ops are not left out: each moves the serial.
    Patch(Name, Vec<Change>),
}

impl Write {
    /// Whether it may be sent.
    ///
    /// # Errors
    /// [`BadChange`].
    pub fn check(&self) -> Result<(), BadChange> {
        match self {
            Self::CreateKey { name, .. } | Self::DeleteKey(name) if name.as_str().is_empty() => {
                Err(BadChange::new("a key", "it has no name"))
            }
            Self::CreateClosed { zone, .. } if zone.as_str().parse::<DnsName>().is_err() => {
                Err(BadChange::new(zone, "that is no name to publish"))
            }
            Self::PutMetadata(_, metadata) => metadata.check(),
            Self::DeleteMetadata(_, kind) if *kind == UPDATE_KEYS => {
                Err(BadChange::new(kind, "a zone without a list of keys is open to everybody"))
            }
            Self::Patch(zone, changes) if changes.is_empty() => Err(BadChange::new(zone, "there is nothing to change")),
            Self::Patch(zone, changes) => {
                for (at, change) in changes.iter().enumerate() {
                    change.check(zone)?;
                    let same = |other: &Change| other.name() == change.name() && other.kind() == change.kind();
                    if changes.iter().take(at).any(same) {
                        return Err(BadChange::new(change.name(), "one set is changed twice"));
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The body; `None` where there is none, and for the one that holds a secret.
    pub(super) fn body(&self) -> Option<Value> {
        Some(match self {
            Self::CreateClosed { zone, account } => json!({"name": zone.absolute(), "kind": "Slave", "masters": [],
                "nameservers": [], "soa_edit_api": "INCREASE", "account": account}),
            Self::MakeNative(_) => json!({"kind": "Native", "soa_edit_api": "INCREASE"}),
            Self::Close(_) => json!({"kind": "Slave", "masters": []}),
            Self::Reopen(_, kind) => json!({"kind": kind.sent()}),
            Self::SetAccount(_, account) => json!({"account": account}),
            Self::PutMetadata(_, metadata) => json!({"metadata": metadata.values()}),
            Self::Patch(_, changes) => json!({"rrsets": changes.iter().map(Change::json).collect::<Vec<_>>()}),
            _ => return None,
        })
    }
}

/// One line for plans and logs. Holds no secret.
impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateKey { name, .. } => write!(f, "make TSIG key {name}"),
            Self::DeleteKey(name) => write!(f, "delete TSIG key {name}"),
            Self::CreateClosed { zone, .. } => write!(f, "make zone {zone}, closed to updates"),
            Self::DeleteZone(zone) => write!(f, "delete zone {zone}"),
            Self::MakeNative(zone) => write!(f, "make zone {zone} native"),
            Self::Close(zone) => write!(f, "close zone {zone} to updates"),
            Self::SetAccount(zone, account) => write!(f, "mark zone {zone} as {account}'s"),
            Self::Reopen(zone, kind) => write!(f, "open zone {zone} again, {}", kind.word()),
            Self::PutMetadata(zone, metadata) => {
                write!(f, "{zone}: set {} to {}", metadata.kind(), metadata.values().join(", "))
            }
            Self::DeleteMetadata(zone, kind) => write!(f, "{zone}: remove {kind}"),
            Self::Patch(zone, changes) => {
                write!(f, "{zone}: ")?;
                for (at, change) in changes.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    let verb = if matches!(change, Change::Delete { .. }) { "delete" } else { "write" };
                    write!(f, "{comma}{verb} {} {}", change.name(), change.kind())?;
                }
                Ok(())
            }
        }
    }
}

/// All but the apex, to be deleted: a reverse zone goes to another tenant empty (domain.md §4.3).
#[must_use]
pub fn emptying(zone: &Zone) -> Vec<Change> {
    let apex = |set: &&RrSet| set.name == zone.head.name && matches!(set.kind.as_str(), "SOA" | "NS");
    let gone = |set: &RrSet| Change::Delete { name: set.name.clone(), kind: set.kind.clone() };
    zone.rrsets.iter().filter(|set| !apex(set)).map(gone).collect()
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
