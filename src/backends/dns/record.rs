//! What a record is to say, in types that both ways of writing share: text for the API of PowerDNS, bytes for an update.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hickory_proto::rr::rdata::{A, AAAA, CNAME, MX, NS, PTR, SRV, TXT};
use hickory_proto::rr::{Name, RData, RecordType as WireType};

use super::model::RecordType;
use super::name::DnsName;
use super::wire;

/// Longest TTL (RFC 2181 §8). PowerDNS 4.7 takes longer ones without complaint (facts/dns.md §3).
pub const LONGEST_TTL: u32 = i32::MAX.cast_unsigned();
/// Longest string of a TXT record, in bytes (RFC 1035 §3.3).
const LONGEST_STRING: usize = 255;
/// MX and SRV, which the model of answers has no names for.
const MX_TYPE: RecordType = RecordType(15);
const SRV_TYPE: RecordType = RecordType(33);

/// What one record is to say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordData {
    /// IPv4 address.
    A(Ipv4Addr),
    /// IPv6 address.
    Aaaa(Ipv6Addr),
    /// Alias.
    Cname(DnsName),
    /// Name server.
    Ns(DnsName),
    /// Name of an address.
    Ptr(DnsName),
    /// Mail exchanger.
    Mx {
        /// Lower is asked first.
        preference: u16,
        /// Host.
        exchange: DnsName,
    },
    /// Place of a service.
    Srv {
        /// Lower is asked first.
        priority: u16,
        /// Share among equals.
        weight: u16,
        /// Port.
        port: u16,
        /// Host.
        target: DnsName,
    },
    /// Text.
    Txt(Text),
    /// Content of any type as PowerDNS stores it, to write back what was read.
    Stored {
        /// Type.
        kind: RecordType,
        /// Content in presentation form.
        content: String,
    },
}

/// The strings of a TXT record, each of at most 255 bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Vec<Vec<u8>>);

impl Text {
    /// Any bytes, cut into strings where they are too long for one; without bytes one empty string.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let strings: Vec<Vec<u8>> = bytes.chunks(LONGEST_STRING).map(<[u8]>::to_vec).collect();
        Self(if strings.is_empty() { vec![Vec::new()] } else { strings })
    }

    /// The strings.
    #[must_use]
    pub fn strings(&self) -> &[Vec<u8>] {
        &self.0
    }
}

/// In presentation form, as text in an error or a log has to be.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(&self.0))
    }
}

/// Every string in quotes; a quote and a backslash escaped by a backslash, what is not printable ASCII by its number.
fn quoted(strings: &[Vec<u8>]) -> String {
    let one = |bytes: &Vec<u8>| {
        let mut out = String::from("\"");
        for byte in bytes {
            match byte {
                b'"' | b'\\' => {
                    out.push('\\');
                    out.push(char::from(*byte));
                }
                b' '..=b'~' => out.push(char::from(*byte)),
                odd => out.push_str(&format!("\\{odd:03}")),
            }
        }
        out.push('"');
        out
    };
    strings.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Why records cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// A set needs a record.
    #[error("{0}: there is no record to write")]
    Empty(DnsName),
    /// A set holds one type.
    #[error("{0}: the records are of different types")]
    Mixed(DnsName),
    /// The same record twice.
    #[error("{0}: a record is there twice")]
    Twice(DnsName),
    /// An alias stands alone.
    #[error("{0}: an alias can have one target only")]
    Aliases(DnsName),
    /// Longer than RFC 2181 allows.
    #[error("{name}: a TTL of {ttl} s is longer than {LONGEST_TTL} s")]
    Ttl {
        /// Owner.
        name: DnsName,
        /// Seconds.
        ttl: u32,
    },
    /// Content that has no form on the wire.
    #[error("the content of a {kind} record cannot be written: {why}")]
    Content {
        /// Type.
        kind: RecordType,
        /// What is wrong with it.
        why: String,
    },
}

impl RecordFault {
    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Empty(_) => "delete the set instead of writing none",
            Self::Mixed(_) => "write one set for each type",
            Self::Twice(_) => "leave one of the two out",
            Self::Aliases(_) => "name one target",
            Self::Ttl { .. } => "give fewer seconds; the platform's records have 300",
            Self::Content { .. } => "correct the content",
        }
    }
}

impl RecordData {
    /// Its type.
    #[must_use]
    pub const fn kind(&self) -> RecordType {
        match self {
            Self::A(_) => RecordType::A,
            Self::Aaaa(_) => RecordType::AAAA,
            Self::Cname(_) => RecordType::CNAME,
            Self::Ns(_) => RecordType::NS,
            Self::Ptr(_) => RecordType::PTR,
            Self::Mx { .. } => MX_TYPE,
            Self::Srv { .. } => SRV_TYPE,
            Self::Txt(_) => RecordType::TXT,
            Self::Stored { kind, .. } => *kind,
        }
    }

    /// The canonical presentation form, which is the only one that PowerDNS takes (facts/dns.md §3).
    #[must_use]
    pub fn content(&self) -> String {
        match self {
            Self::A(address) => address.to_string(),
            Self::Aaaa(address) => hexadecimal(*address),
            Self::Cname(name) | Self::Ns(name) | Self::Ptr(name) => absolute(name),
            Self::Mx { preference, exchange } => format!("{preference} {}", absolute(exchange)),
            Self::Srv { priority, weight, port, target } => {
                format!("{priority} {weight} {port} {}", absolute(target))
            }
            Self::Txt(text) => quoted(&text.0),
            Self::Stored { content, .. } => content.clone(),
        }
    }

    /// The form on the wire.
    pub(super) fn wire(&self) -> Result<RData, RecordFault> {
        let fault =
            |why: String| RecordFault::Content { kind: self.kind(), why: crate::text::clean(&why).into_owned() };
        let name = |name: &DnsName| wire::wire_name(name).map_err(fault);
        Ok(match self {
            Self::A(address) => RData::A(A(*address)),
            Self::Aaaa(address) => RData::AAAA(AAAA(*address)),
            Self::Cname(target) => RData::CNAME(CNAME(name(target)?)),
            Self::Ns(target) => RData::NS(NS(name(target)?)),
            Self::Ptr(target) => RData::PTR(PTR(name(target)?)),
            Self::Mx { preference, exchange } => RData::MX(MX::new(*preference, name(exchange)?)),
            Self::Srv { priority, weight, port, target } => {
                RData::SRV(SRV::new(*priority, *weight, *port, name(target)?))
            }
            Self::Txt(text) => RData::TXT(TXT::from_bytes(text.0.iter().map(Vec::as_slice).collect())),
            Self::Stored { kind, content } => stored(*kind, content).map_err(fault)?,
        })
    }
}

/// Content as PowerDNS stores it. Names and texts are read here: the library's reader takes no names but those of hosts,
/// and no numbers of bytes.
fn stored(kind: RecordType, content: &str) -> Result<RData, String> {
    let name = |text: &str| Name::from_ascii(text).map_err(|e| e.to_string());
    let number = |text: &str| text.parse::<u16>().map_err(|e| e.to_string());
    let words: Vec<&str> = content.split_ascii_whitespace().collect();
    Ok(match (kind, words.as_slice()) {
        (RecordType::CNAME, [target]) => RData::CNAME(CNAME(name(target)?)),
        (RecordType::NS, [target]) => RData::NS(NS(name(target)?)),
        (RecordType::PTR, [target]) => RData::PTR(PTR(name(target)?)),
        (MX_TYPE, [preference, exchange]) => RData::MX(MX::new(number(preference)?, name(exchange)?)),
        (SRV_TYPE, [priority, weight, port, target]) => {
            RData::SRV(SRV::new(number(priority)?, number(weight)?, number(port)?, name(target)?))
        }
        (RecordType::TXT, _) => {
            let strings = unquoted(content).ok_or("its quotes or escapes are wrong")?;
            RData::TXT(TXT::from_bytes(strings.iter().map(Vec::as_slice).collect()))
        }
        _ => RData::try_from_str(WireType::from(kind.0), content).map_err(|e| e.to_string())?,
    })
}

/// The strings that the content of a TXT record stands for (RFC 1035 §5.1). One that is longer than a string can be is
/// cut, as PowerDNS does.
fn unquoted(content: &str) -> Option<Vec<Vec<u8>>> {
    let mut strings: Vec<Vec<u8>> = Vec::new();
    let mut inside = false;
    let mut bytes = content.bytes();
    while let Some(byte) = bytes.next() {
        match (byte, inside) {
            (b'"', _) => {
                inside = !inside;
                if inside {
                    strings.push(Vec::new());
                }
            }
            (b' ' | b'\t', false) => {}
            (_, false) => return None,
            (b'\\', true) => {
                let first = bytes.next()?;
                let byte = match first {
                    b'0'..=b'9' => {
                        let digits = [first, bytes.next()?, bytes.next()?];
                        std::str::from_utf8(&digits).ok()?.parse().ok()?
                    }
                    other => other,
                };
                strings.last_mut()?.push(byte);
            }
            (byte, true) => strings.last_mut()?.push(byte),
        }
    }
    let cut = strings.into_iter().flat_map(|string| Text::new(&string).0);
    (!inside && !content.trim().is_empty()).then(|| cut.collect())
}

/// With its final dot: without it PowerDNS takes a name in a content for another (facts/dns.md §3).
pub(super) fn absolute(name: &DnsName) -> String {
    format!("{}.", name.as_str())
}

/// An address that maps an IPv4 one has a form with dots, which PowerDNS refuses (measured with 4.7.3).
fn hexadecimal(address: Ipv6Addr) -> String {
    match (address.to_ipv4_mapped(), address.segments()) {
        (Some(_), [.., high, low]) => format!("::ffff:{high:x}:{low:x}"),
        _ => address.to_string(),
    }
}

/// All records of one name and type, as they are to be: at least one, no two alike, one TTL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordSet {
    name: DnsName,
    ttl: u32,
    data: Vec<RecordData>,
}

impl RecordSet {
    /// The records `data` at `name`.
    ///
    /// # Errors
    /// [`RecordFault`]: none, of several types, one twice, two aliases, a TTL beyond [`LONGEST_TTL`] seconds.
    pub fn new(name: DnsName, ttl: u32, data: Vec<RecordData>) -> Result<Self, RecordFault> {
        let Some(kind) = data.first().map(RecordData::kind) else { return Err(RecordFault::Empty(name)) };
        if data.iter().any(|one| one.kind() != kind) {
            return Err(RecordFault::Mixed(name));
        }
        if data.iter().enumerate().any(|(at, one)| data.iter().take(at).any(|other| other.content() == one.content())) {
            return Err(RecordFault::Twice(name));
        }
        if kind == RecordType::CNAME && data.len() > 1 {
            return Err(RecordFault::Aliases(name));
        }
        if ttl > LONGEST_TTL {
            return Err(RecordFault::Ttl { name, ttl });
        }
        Ok(Self { name, ttl, data })
    }

    /// Owner.
    #[must_use]
    pub const fn name(&self) -> &DnsName {
        &self.name
    }

    /// Type.
    #[must_use]
    pub fn kind(&self) -> RecordType {
        self.data.first().map_or(RecordType::A, RecordData::kind)
    }

    /// Seconds.
    #[must_use]
    pub const fn ttl(&self) -> u32 {
        self.ttl
    }

    /// Its records.
    #[must_use]
    pub fn data(&self) -> &[RecordData] {
        &self.data
    }
}

/// A host: its name in the forward zone and its pointer in the reverse zone belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRecord {
    /// Name.
    pub name: DnsName,
    /// Address.
    pub address: IpAddr,
    /// Seconds, for both.
    pub ttl: u32,
}

impl HostRecord {
    /// The address under the name.
    ///
    /// # Errors
    /// [`RecordFault::Ttl`].
    pub fn forward(&self) -> Result<RecordSet, RecordFault> {
        let data = match self.address {
            IpAddr::V4(address) => RecordData::A(address),
            IpAddr::V6(address) => RecordData::Aaaa(address),
        };
        RecordSet::new(self.name.clone(), self.ttl, vec![data])
    }

    /// The name under the address.
    ///
    /// # Errors
    /// [`RecordFault::Ttl`].
    pub fn pointer(&self) -> Result<RecordSet, RecordFault> {
        let data = vec![RecordData::Ptr(self.name.clone())];
        RecordSet::new(DnsName::reverse(self.address), self.ttl, data)
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
