//! Records between the text form of the API and the wire.

use std::str::FromStr as _;

use hickory_proto::op::{Edns, Message, ResponseCode};
use hickory_proto::rr::rdata::opt::EdnsOption;
use hickory_proto::rr::{Name, RData, Record, RecordType};

use crate::lab::names::Rrset;

/// UDP payload without EDNS, bytes.
const PLAIN_UDP: u16 = 512;
/// Largest UDP answer of either server, bytes.
const LARGEST_UDP: u16 = 1232;
/// Extended DNS error (RFC 8914).
const EDE: u16 = 15;

/// The question of a message in lower case, with its dot.
pub(super) fn question(message: &Message) -> Option<(String, RecordType)> {
    let query = message.queries.first()?;
    Some((name_text(query.name()), query.query_type()))
}

/// A name in lower case with its dot.
pub(super) fn name_text(name: &Name) -> String {
    let text = name.to_lowercase().to_ascii();
    if text.ends_with('.') { text } else { format!("{text}.") }
}

/// The records of a set; contents that have no wire form are left out.
pub(super) fn records(owner: &str, kind: &str, set: &Rrset) -> Vec<Record> {
    let (Ok(owner), Ok(kind)) = (Name::from_ascii(owner), RecordType::from_str(kind)) else { return Vec::new() };
    let data = set.served().filter_map(|content| RData::try_from_str(kind, content).ok());
    data.map(|data| Record::from_rdata(owner.clone(), set.ttl, data)).collect()
}

/// The text form of a record's data.
pub(super) fn content(data: &RData) -> String {
    match data {
        RData::TXT(text) => {
            let quoted = text.txt_data.iter().map(|part| {
                let part = String::from_utf8_lossy(part).replace('\\', "\\\\").replace('"', "\\\"");
                format!("\"{part}\"")
            });
            quoted.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// A response to `request` with its question and, when it had EDNS, our own.
pub(super) fn response(request: &Message, code: ResponseCode) -> Message {
    let mut message = Message::response(request.metadata.id, request.metadata.op_code);
    message.metadata.recursion_desired = request.metadata.recursion_desired;
    message.metadata.checking_disabled = request.metadata.checking_disabled;
    message.metadata.response_code = code;
    message.add_queries(request.queries.to_vec());
    if request.edns.is_some() {
        let mut edns = Edns::new();
        edns.set_max_payload(LARGEST_UDP);
        message.set_edns(edns);
    }
    message
}

/// Adds an extended error, where the client speaks EDNS.
pub(super) fn explain(message: &mut Message, code: u16, text: &str) {
    if let Some(edns) = message.edns.as_mut() {
        let mut data = code.to_be_bytes().to_vec();
        data.extend_from_slice(text.as_bytes());
        edns.options_mut().insert(EdnsOption::Unknown(EDE, data));
    }
}

/// The bytes of a response; over UDP what does not fit becomes an empty answer with TC.
pub(super) fn bytes(request: &Message, response: &Message, udp: bool) -> Option<Vec<u8>> {
    let full = response.to_vec().ok()?;
    let room = request.edns.as_ref().map_or(PLAIN_UDP, |edns| edns.max_payload().clamp(PLAIN_UDP, LARGEST_UDP));
    if udp && full.len() > usize::from(room) { response.truncate().to_vec().ok() } else { Some(full) }
}
