//! Messages signed with a TSIG key (RFC 8945): what a key may do, learnt without doing it.
//!
//! Over TCP, one message a connection, sent once: PowerDNS drops large updates over UDP in silence, and a repeated one may
//! answer for its first copy (facts/dns.md §5). The code is read before the signature: PowerDNS refuses a bad credential
//! without one (facts/dns.md §0.1).

use std::net::SocketAddr;
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, OpCode, Query as WireQuery, UpdateMessage as _};
use hickory_proto::rr::rdata::TSIG;
use hickory_proto::rr::rdata::tsig::{
    TsigAlgorithm, TsigError, make_tsig_record, message_tbs, signed_bitmessage_to_buf,
};
use hickory_proto::rr::{DNSClass, Name, RData, Record as WireRecord, RecordType as WireType};
use jiff::Timestamp;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::ask::{Clock, exchange};
use super::error::{Failure, Strays};
use super::model::Rcode;
use super::name::DnsName;
use super::wire::{self, Encoded, Received};

/// Seconds that the clocks of both sides may differ by default (RFC 8945 §10).
pub const FUDGE: u16 = 300;
/// The largest difference a signature can allow: with it a clock that is off does not hide what a key may do.
pub const WIDEST_FUDGE: u16 = u16::MAX;
/// Bytes that the MAC of an accepted algorithm has at least.
const LEAST_MAC: usize = 32;
/// Owner of the prerequisites of [`Ask::Nothing`]. Whether it exists does not matter.
const PROBE: &str = "_deevnet-probe";

/// A key and its secret, which is wiped when this is dropped.
pub struct UpdateKey {
    name: Name,
    algorithm: TsigAlgorithm,
    secret: Zeroizing<Vec<u8>>,
}

impl std::fmt::Debug for UpdateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpdateKey").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a key cannot sign. Never holds any of the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Only the three strong algorithms are signed with.
    #[error("its algorithm is {0}, which is not signed with here")]
    Algorithm(String),
    /// The secret is not base64, or empty.
    #[error("its secret is not base64")]
    NotBase64,
    /// The name cannot be written.
    #[error("its name cannot be written")]
    Name,
}

impl KeyError {
    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Algorithm(_) => "make the key anew with hmac-sha256",
            Self::NotBase64 => "make the key anew: its secret is damaged",
            Self::Name => "make the key anew under the tenant's name",
        }
    }
}

impl UpdateKey {
    /// A key of this name (sent in lower case: PowerDNS 4.7 refuses others), with an algorithm as PowerDNS spells it.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn new(name: &DnsName, algorithm: &str, base64: &str) -> Result<Self, KeyError> {
        use base64::Engine as _;
        let known = match algorithm.trim_end_matches('.').to_ascii_lowercase().as_str() {
            "hmac-sha256" => TsigAlgorithm::HmacSha256,
            "hmac-sha384" => TsigAlgorithm::HmacSha384,
            "hmac-sha512" => TsigAlgorithm::HmacSha512,
            other => return Err(KeyError::Algorithm(crate::text::clean(other).into_owned())),
        };
        // Room for all of it, so that growing leaves no copy behind.
        let mut secret = Zeroizing::new(Vec::with_capacity(base64.len()));
        let decoded = base64::engine::general_purpose::STANDARD.decode_vec(base64.trim(), &mut secret);
        if decoded.is_err() || secret.is_empty() {
            return Err(KeyError::NotBase64);
        }
        let name = wire::wire_name(name).map_err(|_| KeyError::Name)?;
        Ok(Self { name, algorithm: known, secret })
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// The zone's start of authority: whether the server takes the key, and the serial.
    Soa,
    /// An update that no server can carry out: one name shall exist and not exist, and nothing is to be changed.
    /// PowerDNS looks at key, address and zone before it looks at that (facts/dns.md §5).
    Nothing,
}

/// The signature of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// It verifies; the time it was made, by the server's clock. PowerDNS repeats the question's time instead (measured
    /// with 4.7.3).
    Good(Timestamp),
    /// There is none.
    None,
    /// In its place an error of TSIG (RFC 8945 §5.2): 16 BADSIG, 17 BADKEY, 18 BADTIME, 22 BADTRUNC.
    Error(u16),
    /// There is one, and it does not verify.
    Bad,
}

/// An answer to a message that may have been signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedAnswer {
    /// Its code.
    pub rcode: Rcode,
    /// Its signature.
    pub signature: Signature,
    /// Serial of the zone, where it was asked for and told.
    pub serial: Option<u32>,
    /// This host's address that was asked from.
    pub from: SocketAddr,
    /// The time that the question was signed with.
    pub signed_at: Timestamp,
}

/// One message to one server.
#[derive(Debug)]
pub struct SignedQuery<'a> {
    /// Server.
    pub server: SocketAddr,
    /// Zone.
    pub zone: &'a DnsName,
    /// What is asked.
    pub ask: Ask,
    /// The key; `None` leaves the message unsigned.
    pub key: Option<&'a UpdateKey>,
    /// Seconds that clocks may differ.
    pub fudge: u16,
    /// Longest wait for all of it.
    pub wait: Duration,
}

/// Sends it once, over TCP.
///
/// # Errors
/// [`Failure`] when no answer came; a refusal is an answer.
pub async fn ask_signed(query: &SignedQuery<'_>, clock: Clock<'_>) -> Result<SignedAnswer, Failure> {
    let local = |why: String| Failure::Local { what: "the message cannot be written", why };
    let (message, question) = message(query).map_err(local)?;
    let signed_at = clock();
    let (encoded, mac) = sign(message, question, query.key, query.fudge, signed_at).map_err(local)?;
    let server = query.server;
    let silence = |_| Failure::TimedOut { server, tries: 1, each: query.wait, strays: Strays::default() };
    let exchanged = timeout(query.wait, exchange(server, &encoded.bytes)).await;
    let (bytes, from) = exchanged.map_err(silence)?.map_err(|e| Failure::of_io(server, "tcp", &e))?;
    match encoded.judge(&bytes) {
        Received::Answer(message) => Ok(SignedAnswer {
            rcode: Rcode(u16::from(message.metadata.response_code)),
            signature: signature(&message, &bytes, query.key, &mac),
            serial: serial(&message, query.ask),
            from,
            signed_at,
        }),
        Received::Malformed(why) => Err(Failure::Malformed { server, why }),
        Received::Stray(stray) => Err(Failure::Malformed { server, why: format!("a message {}", stray.words()) }),
    }
}

fn message(query: &SignedQuery<'_>) -> Result<(Message, WireQuery), String> {
    let zone = wire::wire_name(query.zone)?;
    let question = WireQuery::query(zone, WireType::SOA);
    let mut message = Message::query();
    if query.ask == Ask::Nothing {
        message = Message::new(message.metadata.id, MessageType::Query, OpCode::Update);
    }
    message.metadata.recursion_desired = false;
    message.add_query(question.clone());
    if query.ask == Ask::Nothing {
        let owner = format!("{PROBE}.{}.", query.zone.as_str());
        let owner = Name::from_ascii(owner).map_err(|e| e.to_string())?;
        // "Name is in use" and "name is not in use" (RFC 2136 §2.4.4, §2.4.5).
        for class in [DNSClass::ANY, DNSClass::NONE] {
            let mut wanted: WireRecord = WireRecord::update0(owner.clone(), 0, WireType::ANY).into_record_of_rdata();
            wanted.dns_class = class;
            message.add_pre_requisite(wanted);
        }
    }
    Ok((message, question))
}

/// The bytes to send, and the MAC that the answer's signature covers.
pub(super) fn sign(
    mut message: Message,
    question: WireQuery,
    key: Option<&UpdateKey>,
    fudge: u16,
    now: Timestamp,
) -> Result<(Encoded, Vec<u8>), String> {
    let id = message.metadata.id;
    let mut mac = Vec::new();
    if let Some(key) = key {
        let time = u64::try_from(now.as_second()).map_err(|e| e.to_string())?;
        let stub = TSIG::new(key.algorithm.clone(), time, fudge, Vec::new(), id, None, Vec::new());
        let covered = message_tbs(&message, &stub, &key.name).map_err(|e| e.to_string())?;
        mac = key.algorithm.mac_data(&key.secret, &covered).map_err(|e| e.to_string())?;
        message.set_signature(Box::new(make_tsig_record(key.name.clone(), stub.set_mac(mac.clone()))));
    }
    let bytes = message.to_vec().map_err(|e| e.to_string())?;
    Ok((Encoded::of(id, bytes, question), mac))
}

/// What `mac`'s message was answered with.
pub(super) fn signature(message: &Message, bytes: &[u8], key: Option<&UpdateKey>, mac: &[u8]) -> Signature {
    let (Some(record), Some(key)) = (message.signature(), key) else { return Signature::None };
    let error = record.data.error.as_ref().map(code);
    // Servers that follow RFC 8945 say BADKEY and BADSIG without a MAC, and BADTIME with one.
    if let Some(code) = error.filter(|code| *code != 0) {
        return Signature::Error(code);
    }
    let verified = || {
        let (covered, record) = signed_bitmessage_to_buf(bytes, Some(mac), true).ok()?;
        let whole = record.data.mac.len() >= LEAST_MAC && record.data.algorithm == key.algorithm;
        let ours = record.name.eq_ignore_root(&key.name) && whole;
        let verifies = || key.algorithm.verify_mac(&key.secret, &covered, &record.data.mac).is_ok();
        let at = i64::try_from(record.data.time).ok().and_then(|s| Timestamp::from_second(s).ok());
        at.filter(|_| ours && verifies())
    };
    verified().map_or(Signature::Bad, Signature::Good)
}

const fn code(error: &TsigError) -> u16 {
    match error {
        TsigError::BadSig => 16,
        TsigError::BadKey => 17,
        TsigError::BadTime => 18,
        TsigError::BadTrunc => 22,
        TsigError::Unknown(code) => *code,
    }
}

fn serial(message: &Message, ask: Ask) -> Option<u32> {
    let of = |record: &WireRecord| match &record.data {
        RData::SOA(soa) => Some(soa.serial),
        _ => None,
    };
    (ask == Ask::Soa).then(|| message.answers.iter().find_map(of)).flatten()
}

#[cfg(test)]
#[path = "signed_tests.rs"]
mod tests;
