//! Messages to bytes and back. The library knows the format; what leaves this file is ours, and clean.

use hickory_proto::op::{Edns as WireEdns, Message, MessageType, OpCode, Query as WireQuery};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_proto::rr::{DNSClass, Name, RData, Record as WireRecord, RecordType as WireType};

use super::ask::Query;
use super::error::Strays;
use super::model::{Answer, Data, ExtendedError, Flags, Rcode, Record, RecordType, Soa, Via, text_of_bytes};
use super::name::DnsName;
use crate::text;

/// Length of a header (RFC 1035 §4.1.1).
const HEADER: usize = 12;
/// Option code of extended errors (RFC 8914 §2).
const EXTENDED_ERROR: u16 = 15;
/// Longest text of an extended error that is kept, in characters.
const LONGEST_ERROR: usize = 240;
/// Longest presentation form of an unknown record that is kept, in characters.
const LONGEST_DATA: usize = 512;

/// A question ready to be sent.
#[derive(Debug)]
pub(super) struct Encoded {
    pub id: u16,
    pub bytes: Vec<u8>,
    question: WireQuery,
}

/// What a datagram or a TCP message is to a question.
#[derive(Debug)]
pub(super) enum Received {
    /// Its answer.
    Answer(Box<Message>),
    /// Not its answer.
    Stray(Strays),
    /// Its answer by the header, and no message.
    Malformed(String),
}

/// The question in `query` with an id of its own, which is random.
pub(super) fn encode(query: &Query) -> Result<Encoded, String> {
    let mut message = Message::query();
    message.metadata.op_code = OpCode::Query;
    message.metadata.recursion_desired = query.recursion;
    message.metadata.checking_disabled = query.checking_disabled;
    let name = wire_name(&query.name)?;
    let mut question = WireQuery::query(name, WireType::from(query.kind.0));
    question.set_query_class(DNSClass::from(query.class));
    message.add_query(question.clone());
    if let Some(edns) = query.edns {
        let mut wire = WireEdns::new();
        wire.set_version(0).set_max_payload(edns.size);
        wire.set_dnssec_ok(edns.dnssec_ok);
        message.set_edns(wire);
    }
    let bytes = message.to_vec().map_err(|e| e.to_string())?;
    Ok(Encoded { id: message.metadata.id, bytes, question })
}

/// `name` as the library has it: absolute.
pub(super) fn wire_name(name: &DnsName) -> Result<Name, String> {
    Name::from_ascii(format!("{}.", name.as_str())).map_err(|e| e.to_string())
}

impl Encoded {
    /// A message that was made elsewhere, with the question that its answer repeats.
    pub(super) const fn of(id: u16, bytes: Vec<u8>, question: WireQuery) -> Self {
        Self { id, bytes, question }
    }

    /// Judges `bytes`. The header is looked at before the rest is parsed, so that foreign bytes are foreign first.
    pub(super) fn judge(&self, bytes: &[u8]) -> Received {
        let [high, low, third, ..] = bytes else {
            return Received::Stray(Strays { no_header: 1, ..Strays::default() });
        };
        if bytes.len() < HEADER {
            return Received::Stray(Strays { no_header: 1, ..Strays::default() });
        }
        if u16::from_be_bytes([*high, *low]) != self.id {
            return Received::Stray(Strays { wrong_id: 1, ..Strays::default() });
        }
        if third & 0x80 == 0 {
            return Received::Stray(Strays { wrong_question: 1, ..Strays::default() });
        }
        let message = match Message::from_vec(bytes) {
            Ok(message) => message,
            Err(error) => return Received::Malformed(cut(&error.to_string(), LONGEST_ERROR)),
        };
        let same = match message.queries.as_slice() {
            // FORMERR and the like may come without the question (RFC 1035 leaves it open).
            [] => u16::from(message.metadata.response_code) != 0,
            [question] => {
                question.name.eq_ignore_root(&self.question.name)
                    && question.query_type == self.question.query_type
                    && question.query_class == self.question.query_class
            }
            _ => false,
        };
        if same && message.metadata.message_type == MessageType::Response {
            Received::Answer(Box::new(message))
        } else {
            Received::Stray(Strays { wrong_question: 1, ..Strays::default() })
        }
    }
}

/// What is known of an answer besides its message.
pub(super) struct Around {
    pub bytes: usize,
    pub took: std::time::Duration,
    pub via: Via,
    pub strays: Strays,
}

/// `message` as an answer of ours.
pub(super) fn answer(message: &Message, around: Around) -> Answer {
    let meta = &message.metadata;
    Answer {
        rcode: Rcode(u16::from(meta.response_code)),
        flags: Some(Flags {
            aa: meta.authoritative,
            tc: meta.truncation,
            rd: meta.recursion_desired,
            ra: meta.recursion_available,
            ad: meta.authentic_data,
            cd: meta.checking_disabled,
        }),
        answers: message.answers.iter().map(record).collect(),
        authority: message.authorities.iter().map(record).collect(),
        additional: message.additionals.iter().map(record).collect(),
        extended: message.edns.as_ref().map(extended).unwrap_or_default(),
        bytes: Some(around.bytes),
        took: around.took,
        via: around.via,
        strays: around.strays,
    }
}

fn extended(edns: &WireEdns) -> Vec<ExtendedError> {
    let options = edns.options().get_all(EdnsCode::Unknown(EXTENDED_ERROR));
    options
        .into_iter()
        .filter_map(|option| match option {
            EdnsOption::Unknown(_, bytes) => match bytes.as_slice() {
                [high, low, words @ ..] => Some(ExtendedError {
                    code: u16::from_be_bytes([*high, *low]),
                    text: cut(&String::from_utf8_lossy(words), LONGEST_ERROR),
                }),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// A record as one of ours.
pub(super) fn record(record: &WireRecord) -> Record {
    Record {
        name: name_text(&record.name),
        ttl: record.ttl,
        kind: RecordType(u16::from(record.record_type())),
        data: data(&record.data),
    }
}

fn data(data: &RData) -> Data {
    match data {
        RData::A(a) => Data::A(a.0),
        RData::AAAA(aaaa) => Data::Aaaa(aaaa.0),
        RData::PTR(ptr) => Data::Ptr(name_text(&ptr.0)),
        RData::CNAME(cname) => Data::Cname(name_text(&cname.0)),
        RData::NS(ns) => Data::Ns(name_text(&ns.0)),
        RData::SOA(soa) => Data::Soa(Soa {
            mname: name_text(&soa.mname),
            rname: name_text(&soa.rname),
            serial: soa.serial,
            refresh: soa.refresh.cast_unsigned(),
            retry: soa.retry.cast_unsigned(),
            expire: soa.expire.cast_unsigned(),
            minimum: soa.minimum,
        }),
        RData::TXT(txt) => Data::Txt(txt.txt_data.iter().map(|bytes| text_of_bytes(bytes)).collect()),
        other => Data::Other(cut(&other.to_string(), LONGEST_DATA)),
    }
}

/// A name without trailing dot, in lower case; what is no letter, digit, dash or underscore is escaped.
fn name_text(name: &Name) -> String {
    let text = name.to_ascii().to_ascii_lowercase();
    let text = if text == "." { text } else { text.trim_end_matches('.').to_owned() };
    text::clean(&text).into_owned()
}

fn cut(words: &str, longest: usize) -> String {
    text::clean(words.trim()).chars().take(longest).collect()
}
