//! What a server answered, typed and safe to show.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::time::Duration;

use super::error::Strays;

/// A record type by its number (IANA, "Resource Record TYPEs").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordType(pub u16);

const TYPES: [(u16, &str); 20] = [
    (1, "A"),
    (2, "NS"),
    (5, "CNAME"),
    (6, "SOA"),
    (12, "PTR"),
    (13, "HINFO"),
    (15, "MX"),
    (16, "TXT"),
    (28, "AAAA"),
    (33, "SRV"),
    (35, "NAPTR"),
    (39, "DNAME"),
    (43, "DS"),
    (44, "SSHFP"),
    (46, "RRSIG"),
    (47, "NSEC"),
    (48, "DNSKEY"),
    (64, "SVCB"),
    (65, "HTTPS"),
    (257, "CAA"),
];

impl RecordType {
    /// IPv4 address.
    pub const A: Self = Self(1);
    /// Name server.
    pub const NS: Self = Self(2);
    /// Alias.
    pub const CNAME: Self = Self(5);
    /// Start of authority.
    pub const SOA: Self = Self(6);
    /// Name of an address.
    pub const PTR: Self = Self(12);
    /// Text.
    pub const TXT: Self = Self(16);
    /// IPv6 address.
    pub const AAAA: Self = Self(28);
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match TYPES.iter().find(|(number, _)| *number == self.0) {
            Some((_, word)) => f.pad(word),
            None => f.pad(&format!("TYPE{}", self.0)),
        }
    }
}

/// Not a record type that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a record type that can be asked for")]
pub struct TypeError(String);

impl TypeError {
    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "give A, AAAA, PTR, CNAME, NS, SOA, TXT, MX, SRV, CAA, … or TYPE and a number (RFC 3597)"
    }
}

impl FromStr for RecordType {
    type Err = TypeError;

    fn from_str(text: &str) -> Result<Self, TypeError> {
        let upper = text.to_ascii_uppercase();
        let known = TYPES.iter().find(|(_, word)| *word == upper).map(|(number, _)| *number);
        let digits = upper.strip_prefix("TYPE").filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
        // OPT and the meta-types (RFC 6895 §3.1) are no questions of this tool: transfers and ANY would be something else.
        let number = known.or_else(|| digits?.parse().ok()).filter(|n| !matches!(n, 0 | 41 | 128..=255));
        number.map(Self).ok_or_else(|| TypeError(crate::site::text::printable(text).chars().take(40).collect()))
    }
}

/// A response code, the extended bits included (RFC 6895 §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rcode(pub u16);

const RCODES: [(u16, &str); 20] = [
    (0, "NOERROR"),
    (1, "FORMERR"),
    (2, "SERVFAIL"),
    (3, "NXDOMAIN"),
    (4, "NOTIMP"),
    (5, "REFUSED"),
    (6, "YXDOMAIN"),
    (7, "YXRRSET"),
    (8, "NXRRSET"),
    (9, "NOTAUTH"),
    (10, "NOTZONE"),
    (11, "DSOTYPENI"),
    (16, "BADVERS"),
    (17, "BADKEY"),
    (18, "BADTIME"),
    (19, "BADMODE"),
    (20, "BADNAME"),
    (21, "BADALG"),
    (22, "BADTRUNC"),
    (23, "BADCOOKIE"),
];

impl Rcode {
    /// No error; with or without records.
    pub const NOERROR: Self = Self(0);
    /// The server failed.
    pub const SERVFAIL: Self = Self(2);
    /// The name does not exist.
    pub const NXDOMAIN: Self = Self(3);
    /// The server would not answer; of PowerDNS: the zone is not here (`facts/dns.md` §6).
    pub const REFUSED: Self = Self(5);
    /// The server is not the zone's, or does not take the key.
    pub const NOTAUTH: Self = Self(9);

    /// The code of a mnemonic as dig prints it.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        let number = || word.strip_prefix("RESERVED")?.parse().ok().filter(|n| *n < 4096);
        RCODES.iter().find(|(_, known)| *known == word).map(|(number, _)| *number).or_else(number).map(Self)
    }
}

impl fmt::Display for Rcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match RCODES.iter().find(|(number, _)| *number == self.0) {
            Some((_, word)) => f.pad(word),
            None => f.pad(&format!("RCODE{}", self.0)),
        }
    }
}

/// Bits of the header (RFC 1035 §4.1.1, RFC 4035 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own six bits")]
pub struct Flags {
    /// Authoritative answer.
    pub aa: bool,
    /// Truncated.
    pub tc: bool,
    /// Recursion was asked for.
    pub rd: bool,
    /// Recursion is available.
    pub ra: bool,
    /// The server vouches for the signatures.
    pub ad: bool,
    /// Checking was disabled.
    pub cd: bool,
}

impl Flags {
    /// Those that are set, in the header's order, e.g. `aa rd ra`.
    #[must_use]
    pub fn words(&self) -> String {
        let all =
            [("aa", self.aa), ("tc", self.tc), ("rd", self.rd), ("ra", self.ra), ("ad", self.ad), ("cd", self.cd)];
        all.iter().filter(|(_, set)| *set).map(|(word, _)| *word).collect::<Vec<_>>().join(" ")
    }
}

/// A start of authority. Times in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Soa {
    /// Primary name server, without trailing dot.
    pub mname: String,
    /// Mailbox of who answers for the zone, as a name.
    pub rname: String,
    /// Serial; in a negative answer it dates the answer (`facts/dns.md` §6).
    pub serial: u32,
    /// Refresh.
    pub refresh: u32,
    /// Retry.
    pub retry: u32,
    /// Expire.
    pub expire: u32,
    /// How long a negative answer may be kept, unless the SOA's own TTL is less (RFC 2308 §5).
    pub minimum: u32,
}

/// Data of a record. Names without trailing dot, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// IPv4 address.
    A(Ipv4Addr),
    /// IPv6 address.
    Aaaa(Ipv6Addr),
    /// Name of an address.
    Ptr(String),
    /// Alias.
    Cname(String),
    /// Name server.
    Ns(String),
    /// Start of authority.
    Soa(Soa),
    /// Strings, each in presentation form without its quotes: what is not printable ASCII as `\DDD`.
    Txt(Vec<String>),
    /// Presentation form of anything else, at most 512 characters.
    Other(String),
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::A(address) => address.fmt(f),
            Self::Aaaa(address) => address.fmt(f),
            Self::Ptr(name) | Self::Cname(name) | Self::Ns(name) | Self::Other(name) => f.write_str(name),
            Self::Soa(soa) => write!(
                f,
                "{} {} {} {} {} {} {}",
                soa.mname, soa.rname, soa.serial, soa.refresh, soa.retry, soa.expire, soa.minimum
            ),
            Self::Txt(strings) => {
                let quoted: Vec<String> = strings.iter().map(|s| format!("\"{s}\"")).collect();
                f.write_str(&quoted.join(" "))
            }
        }
    }
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Owner, without trailing dot, in lower case.
    pub name: String,
    /// Seconds it may be kept.
    pub ttl: u32,
    /// Type.
    pub kind: RecordType,
    /// Data.
    pub data: Data,
}

/// An extended error (RFC 8914).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtendedError {
    /// Code, e.g. 9 DNSKEY missing, 18 prohibited.
    pub code: u16,
    /// The server's words, cleaned, at most 240 characters; may be empty.
    pub text: String,
}

/// How an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// One datagram.
    Udp,
    /// TCP, as asked for.
    Tcp,
    /// TCP, since the datagram was truncated.
    TcpAfterUdp,
    /// Not told: a library or a file of this host answered.
    Untold,
}

impl Via {
    /// Word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::TcpAfterUdp => "udp truncated, tcp",
            Self::Untold => "as configured",
        }
    }
}

/// One answer. That it came says nothing about its content: see [`Answer::rcode`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Response code.
    pub rcode: Rcode,
    /// Header bits; `None` where the vantage hides them.
    pub flags: Option<Flags>,
    /// Answer section.
    pub answers: Vec<Record>,
    /// Authority section.
    pub authority: Vec<Record>,
    /// Additional section, without OPT.
    pub additional: Vec<Record>,
    /// Extended errors.
    pub extended: Vec<ExtendedError>,
    /// Size on the wire in bytes; `None` where the vantage hides it.
    pub bytes: Option<usize>,
    /// From sending to having the answer; with TCP after UDP, both.
    pub took: Duration,
    /// How it came.
    pub via: Via,
    /// Datagrams that came meanwhile and were not this answer.
    pub strays: Strays,
}

impl Answer {
    /// Data of the records of type `kind`, at whatever end of a chain of aliases, sorted.
    #[must_use]
    pub fn values(&self, kind: RecordType) -> Vec<String> {
        let mut values: Vec<String> =
            self.answers.iter().filter(|r| r.kind == kind).map(|r| r.data.to_string()).collect();
        values.sort();
        values.dedup();
        values
    }

    /// The start of authority of a negative answer, with its owner and its TTL.
    #[must_use]
    pub fn soa(&self) -> Option<(&Record, &Soa)> {
        self.authority.iter().chain(&self.answers).find_map(|record| match &record.data {
            Data::Soa(soa) => Some((record, soa)),
            _ => None,
        })
    }
}

/// Bytes of a character string in presentation form (RFC 1035 §5.1): printable ASCII as it is, `"` and `\` after a
/// backslash, everything else as `\DDD`.
#[must_use]
pub fn text_of_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            0x20..=0x7e => text.push(char::from(*byte)),
            other => text.push_str(&format!("\\{other:03}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_both_ways() {
        for (number, word) in TYPES {
            assert_eq!(word.to_ascii_lowercase().parse::<RecordType>(), Ok(RecordType(number)));
            assert_eq!(RecordType(number).to_string(), word);
        }
        assert_eq!("type65300".parse(), Ok(RecordType(65300)));
        assert_eq!(RecordType(65300).to_string(), "TYPE65300");
        for bad in ["", "ANY", "AXFR", "TYPE", "TYPE0", "TYPE41", "TYPE252", "TYPE255", "TYPE65536", "TYPE+1", "A B"] {
            assert!(bad.parse::<RecordType>().is_err(), "{bad}");
        }
    }

    #[test]
    fn codes_both_ways() {
        for (number, word) in RCODES {
            assert_eq!(Rcode::of_word(word), Some(Rcode(number)));
            assert_eq!(Rcode(number).to_string(), word);
        }
        assert_eq!(Rcode::of_word("RESERVED12"), Some(Rcode(12)));
        assert_eq!(Rcode::of_word("RESERVED4096"), None);
        assert_eq!(Rcode(12).to_string(), "RCODE12");
    }

    #[test]
    fn bytes_that_are_no_text_are_spelt() {
        assert_eq!(text_of_bytes(b"a\"b\\c\x1b\xc3\xa9 ~"), "a\\\"b\\\\c\\027\\195\\169 ~");
    }
}
