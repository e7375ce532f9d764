//! Dynamic updates (RFC 2136), signed (RFC 8945): several changes of one zone that are made together or not at all, on
//! conditions that the server checks in the same moment. That is what the API has not: another writer cannot come between.
//!
//! One message, sent once, over TCP: PowerDNS drops large updates over UDP in silence, and a repeated one may answer for its
//! first copy (facts/dns.md §5). An answer counts when it is signed. Without a signature it may be from anybody, and what
//! became of the update is unknown.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, OpCode, Query as WireQuery, UpdateMessage as _};
use hickory_proto::rr::{DNSClass, RData, Record as WireRecord, RecordType as WireType};
use jiff::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ask::Clock;
use super::error::{Failure, Strays};
use super::model::{Rcode, RecordType};
use super::name::DnsName;
use super::record::{RecordFault, RecordSet};
use super::signed::{Signature, UpdateKey, sign, signature};
use super::wire::{self, Received};
use crate::backends::http::{Access, Outcome};
use crate::backends::permit::Permit;

/// What an update does to the other side.
pub const UPDATE_ACCESS: Access = Access::Write;
/// Records and conditions of one update at most: PowerDNS takes more than linear time for many (facts/dns.md §5).
pub const MOST_RECORDS: usize = 250;

/// A condition on the zone as it is when the update is carried out (RFC 2136 §2.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prerequisite {
    /// Something is at the name.
    NameInUse(DnsName),
    /// Nothing is at the name.
    NameNotInUse(DnsName),
    /// There is a set of this type at the name.
    SetExists(DnsName, RecordType),
    /// There is none.
    SetAbsent(DnsName, RecordType),
    /// The set is exactly this one; TTLs are not compared.
    SetIs(RecordSet),
}

/// A change (RFC 2136 §2.5). PowerDNS leaves the apex SOA and the last apex NS where they are, and says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Adds records; all of the set get this TTL.
    Add(RecordSet),
    /// Takes these records out of their set.
    DeleteRecords(RecordSet),
    /// Takes a set away, disabled records and comments too.
    DeleteSet(DnsName, RecordType),
    /// Takes all sets of a name away.
    DeleteName(DnsName),
}

/// Changes of one zone that belong together, and their conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// All must hold.
    pub prerequisites: Vec<Prerequisite>,
    /// In this order.
    pub edits: Vec<Edit>,
}

impl Changes {
    /// A set where there was none.
    #[must_use]
    pub fn create(set: RecordSet) -> Self {
        let absent = Prerequisite::SetAbsent(set.name().clone(), set.kind());
        Self { prerequisites: vec![absent], edits: vec![Edit::Add(set)] }
    }

    /// `new` in place of exactly `old`, which has the same name and type.
    #[must_use]
    pub fn replace(old: RecordSet, new: RecordSet) -> Self {
        let gone = Edit::DeleteSet(old.name().clone(), old.kind());
        Self { prerequisites: vec![Prerequisite::SetIs(old)], edits: vec![gone, Edit::Add(new)] }
    }

    /// Exactly this set gone.
    #[must_use]
    pub fn delete(old: RecordSet) -> Self {
        let gone = Edit::DeleteSet(old.name().clone(), old.kind());
        Self { prerequisites: vec![Prerequisite::SetIs(old)], edits: vec![gone] }
    }

    /// These and `more`, made together.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.prerequisites.extend(more.prerequisites);
        self.edits.extend(more.edits);
        self
    }
}

/// An update of one zone.
#[derive(Debug)]
pub struct Update<'a> {
    /// Server.
    pub server: SocketAddr,
    /// Zone.
    pub zone: &'a DnsName,
    /// What is changed, on which conditions.
    pub changes: &'a Changes,
    /// The key.
    pub key: &'a UpdateKey,
    /// Seconds that clocks may differ; [`super::FUDGE`] unless there is a reason.
    pub fudge: u16,
    /// Longest wait for connecting, and again for the answer.
    pub wait: Duration,
}

/// The server says, signed, that it has made the change. Where it has a policy script, what was skipped says so too:
/// read back what matters (facts/dns.md §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// This host's address that it was sent from.
    pub from: SocketAddr,
    /// The time that the update was signed with.
    pub signed_at: Timestamp,
}

/// A condition that did not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmet {
    /// NXDOMAIN: a name that should be there is not.
    NameMissing,
    /// YXDOMAIN: a name is there that should not.
    NameThere,
    /// NXRRSET: a set is not there, or is another.
    SetOther,
    /// YXRRSET: a set is there that should not.
    SetThere,
}

impl std::fmt::Display for Unmet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NameMissing => "a name that should be there is not",
            Self::NameThere => "a name is there that should not be",
            Self::SetOther => "a record set is gone or has been changed by somebody else",
            Self::SetThere => "a record set is there already",
        })
    }
}

/// Why an update was not made, or is not known to have been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// It cannot be written.
    #[error("the update of {zone} cannot be written: {why}")]
    Unwritable {
        /// Zone.
        zone: DnsName,
        /// Why.
        why: String,
    },
    /// It was not sent.
    #[error("the update was not sent: {0}")]
    NotSent(Failure),
    /// It was sent, and there was no answer.
    #[error("the update was sent, and what became of it is unknown: {0}")]
    NoAnswer(Failure),
    /// A condition did not hold, signed.
    #[error("{zone} is not as it was read: {unmet}")]
    Unmet {
        /// Zone.
        zone: DnsName,
        /// Which kind of condition.
        unmet: Unmet,
    },
    /// REFUSED, signed: the key is good, and the zone, this address or the change is not open to it.
    #[error("{server} takes the key and refuses this update of {zone}")]
    Denied {
        /// Server.
        server: SocketAddr,
        /// Zone.
        zone: DnsName,
    },
    /// The server does not take the credential: REFUSED without a signature as PowerDNS says it, NOTAUTH as others do.
    #[error("{server} does not take the key: {}", credential(*.rcode, *.tsig))]
    Credential {
        /// Server.
        server: SocketAddr,
        /// Its code.
        rcode: Rcode,
        /// Its error of TSIG: 16 BADSIG, 17 BADKEY, 18 BADTIME, 22 BADTRUNC.
        tsig: Option<u16>,
    },
    /// Any other code, signed.
    #[error("{server} answers the update of {zone} with {rcode}")]
    Rejected {
        /// Server.
        server: SocketAddr,
        /// Zone.
        zone: DnsName,
        /// FORMERR, SERVFAIL, NOTIMP, NOTAUTH, NOTZONE, …
        rcode: Rcode,
    },
    /// An answer that nobody has signed, or somebody else: it says nothing.
    #[error("an answer of {server} ({rcode}) is not signed with the key")]
    NotProven {
        /// Server.
        server: SocketAddr,
        /// Its code.
        rcode: Rcode,
    },
}

fn credential(rcode: Rcode, tsig: Option<u16>) -> String {
    match tsig {
        Some(16) => format!("{rcode} with BADSIG"),
        Some(code) => format!("{rcode} with {}", Rcode(code)),
        None => format!("{rcode}, unsigned"),
    }
}

impl UpdateError {
    /// Whether the zone can have been changed: not where the answer is signed. Without a signature nothing is known.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Unwritable { .. } | Self::NotSent(_) => Outcome::NotSent,
            Self::Unmet { .. } | Self::Denied { .. } | Self::Rejected { .. } => Outcome::Answered,
            Self::NoAnswer(_) | Self::Credential { .. } | Self::NotProven { .. } => Outcome::Unknown,
        }
    }

    /// What to do about it, one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotSent(failure) => failure.help(),
            other => other.fixed_help().to_owned(),
        }
    }

    const fn fixed_help(&self) -> &'static str {
        match self {
            Self::Unwritable { .. } => "Correct the records; at most 250 records go into one update.",
            Self::NotSent(_) | Self::NoAnswer(_) => "Read the zone again before anything else; then plan anew.",
            Self::Unmet { .. } => "Somebody else has changed it: read it again, look at the difference, plan anew.",
            Self::Denied { .. } => {
                "Look at TSIG-ALLOW-DNSUPDATE and ALLOW-DNSUPDATE-FROM of the zone, and for a CNAME beside other records."
            }
            Self::Credential { tsig: Some(18), .. } => "Set the clocks of both sides.",
            Self::Credential { .. } => {
                "Compare name, algorithm and secret of the key with the server's, and both clocks."
            }
            Self::Rejected { rcode: Rcode::SERVFAIL, .. } => {
                "A value of ALLOW-DNSUPDATE-FROM may be no network; its log says more."
            }
            Self::Rejected { .. } => "Check that all names are in the zone and that the server is the zone's.",
            Self::NotProven { .. } => "Read the zone again; look for what stands between here and the server.",
        }
    }
}

/// Sends `update` once, over TCP. That one was made says its signed answer, and nothing else.
///
/// # Errors
/// [`UpdateError`]; [`UpdateError::outcome`] tells whether the zone may have been changed all the same.
pub async fn update(permit: &Permit, update: &Update<'_>, clock: Clock<'_>) -> Result<Applied, UpdateError> {
    let unwritable = |why: String| UpdateError::Unwritable { zone: update.zone.clone(), why };
    let (message, question) = message(update).map_err(unwritable)?;
    let signed_at = clock();
    let (encoded, mac) = sign(message, question, Some(update.key), update.fudge, signed_at).map_err(unwritable)?;
    if u16::try_from(encoded.bytes.len()).is_err() {
        return Err(unwritable(format!("it has {} bytes", encoded.bytes.len())));
    }
    tracing::info!(plan = permit.plan(), zone = %update.zone, server = %update.server, "update");
    let (bytes, from) = exchange(update, &encoded.bytes).await?;
    match encoded.judge(&bytes) {
        Received::Answer(answer) => {
            let signature = signature(&answer, &bytes, Some(update.key), &mac);
            judge(update, Rcode(u16::from(answer.metadata.response_code)), signature)
                .map(|()| Applied { from, signed_at })
        }
        Received::Malformed(why) => Err(UpdateError::NoAnswer(Failure::Malformed { server: update.server, why })),
        Received::Stray(stray) => {
            let why = format!("a message {}", stray.words());
            Err(UpdateError::NoAnswer(Failure::Malformed { server: update.server, why }))
        }
    }
}

/// What a code means, by what signed it.
fn judge(update: &Update<'_>, rcode: Rcode, signature: Signature) -> Result<(), UpdateError> {
    let (server, zone) = (update.server, update.zone.clone());
    let unmet = |unmet| Err(UpdateError::Unmet { zone: zone.clone(), unmet });
    match (signature, rcode.0) {
        (Signature::Good(_), 0) => Ok(()),
        (Signature::Good(_), 3) => unmet(Unmet::NameMissing),
        (Signature::Good(_), 5) => Err(UpdateError::Denied { server, zone }),
        (Signature::Good(_), 6) => unmet(Unmet::NameThere),
        (Signature::Good(_), 7) => unmet(Unmet::SetThere),
        (Signature::Good(_), 8) => unmet(Unmet::SetOther),
        (Signature::Good(_), _) => Err(UpdateError::Rejected { server, zone, rcode }),
        (Signature::Error(code), _) => Err(UpdateError::Credential { server, rcode, tsig: Some(code) }),
        (Signature::None, 5 | 9) => Err(UpdateError::Credential { server, rcode, tsig: None }),
        (Signature::None | Signature::Bad, _) => Err(UpdateError::NotProven { server, rcode }),
    }
}

/// One message each way. What fails before the first byte is sent has changed nothing.
async fn exchange(update: &Update<'_>, bytes: &[u8]) -> Result<(Vec<u8>, SocketAddr), UpdateError> {
    let (server, each) = (update.server, update.wait);
    let silence = || Failure::TimedOut { server, tries: 1, each, strays: Strays::default() };
    let failed = |e: std::io::Error| Failure::of_io(server, "tcp", &e);
    let connected = timeout(each, TcpStream::connect(server)).await;
    let connected = connected.map_err(|_| UpdateError::NotSent(silence()))?;
    let mut stream = connected.map_err(|e| UpdateError::NotSent(failed(e)))?;
    let from = stream.local_addr().map_err(|e| UpdateError::NotSent(failed(e)))?;
    let talk = async {
        stream.set_nodelay(true)?;
        let length = u16::try_from(bytes.len()).map_err(std::io::Error::other)?;
        stream.write_all(&[length.to_be_bytes().as_slice(), bytes].concat()).await?;
        let length = stream.read_u16().await?;
        let mut answer = vec![0; usize::from(length)];
        stream.read_exact(&mut answer).await?;
        Ok(answer)
    };
    let answer = timeout(each, talk).await.map_err(|_| UpdateError::NoAnswer(silence()))?;
    Ok((answer.map_err(|e| UpdateError::NoAnswer(failed(e)))?, from))
}

fn message(update: &Update<'_>) -> Result<(Message, WireQuery), String> {
    let question = WireQuery::query(wire::wire_name(update.zone)?, WireType::SOA);
    let mut message = Message::new(Message::query().metadata.id, MessageType::Query, OpCode::Update);
    message.metadata.recursion_desired = false;
    message.add_query(question.clone());
    let inside = |name: &DnsName| match name.is_under(update.zone.as_str()) {
        true => Ok(()),
        false => Err(format!("{name} is not in it")),
    };
    for wanted in &update.changes.prerequisites {
        let (name, records) = prerequisite(wanted)?;
        inside(name)?;
        for record in records {
            message.add_pre_requisite(record);
        }
    }
    for edit in &update.changes.edits {
        let (name, records) = changed(edit)?;
        inside(name)?;
        for record in records {
            message.add_update(record);
        }
    }
    let records = message.answers.len() + message.authorities.len();
    if records > MOST_RECORDS {
        return Err(format!("it has {records} records and conditions"));
    }
    Ok((message, question))
}

fn prerequisite(wanted: &Prerequisite) -> Result<(&DnsName, Vec<WireRecord>), String> {
    let (name, records) = match wanted {
        Prerequisite::NameInUse(name) => (name, vec![bare(name, WireType::ANY, DNSClass::ANY)?]),
        Prerequisite::NameNotInUse(name) => (name, vec![bare(name, WireType::ANY, DNSClass::NONE)?]),
        Prerequisite::SetExists(name, kind) => (name, vec![bare(name, WireType::from(kind.0), DNSClass::ANY)?]),
        Prerequisite::SetAbsent(name, kind) => (name, vec![bare(name, WireType::from(kind.0), DNSClass::NONE)?]),
        Prerequisite::SetIs(set) => (set.name(), records(set, 0, DNSClass::IN)?),
    };
    Ok((name, records))
}

fn changed(edit: &Edit) -> Result<(&DnsName, Vec<WireRecord>), String> {
    let (name, records) = match edit {
        Edit::Add(set) => (set.name(), records(set, set.ttl(), DNSClass::IN)?),
        Edit::DeleteRecords(set) => (set.name(), records(set, 0, DNSClass::NONE)?),
        Edit::DeleteSet(name, kind) => (name, vec![bare(name, WireType::from(kind.0), DNSClass::ANY)?]),
        Edit::DeleteName(name) => (name, vec![bare(name, WireType::ANY, DNSClass::ANY)?]),
    };
    Ok((name, records))
}

/// A record without data.
fn bare(name: &DnsName, kind: WireType, class: DNSClass) -> Result<WireRecord, String> {
    let mut record: WireRecord<RData> = WireRecord::update0(wire::wire_name(name)?, 0, kind).into_record_of_rdata();
    record.dns_class = class;
    Ok(record)
}

fn records(set: &RecordSet, ttl: u32, class: DNSClass) -> Result<Vec<WireRecord>, String> {
    let owner = wire::wire_name(set.name())?;
    let one = |data: Result<RData, RecordFault>| {
        let mut record = WireRecord::from_rdata(owner.clone(), ttl, data.map_err(|e| e.to_string())?);
        record.dns_class = class;
        Ok(record)
    };
    set.data().iter().map(|data| one(data.wire())).collect()
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
