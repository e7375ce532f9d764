//! TSIG as PowerDNS deals with it: whatever is wrong with a signature, the answer carries none (facts/dns.md §0.1).

use hickory_proto::op::Message;
use hickory_proto::rr::rdata::tsig::TsigAlgorithm;
use hickory_proto::rr::{Name, TSigResponseContext, TSigner};

use super::wire;
use crate::lab::names::Names;

/// Seconds a signature of ours may be off.
const FUDGE: u16 = 300;

/// A signature on a request.
pub(super) enum Signature {
    /// None.
    None,
    /// It does not verify: key, secret, algorithm, clock or length.
    Bad,
    /// It verifies.
    Good(Box<Verified>),
}

/// A key that has signed a request.
pub(super) struct Verified {
    /// Its name without the dot, in lower case.
    pub(super) name: String,
    signer: TSigner,
    mac: Vec<u8>,
}

/// Checks the signature of a request against the server's keys and its clock.
pub(super) fn verified(names: &Names, now: i64, packet: &[u8], request: &Message) -> Signature {
    let Some(record) = request.signature() else { return Signature::None };
    let name = wire::name_text(&record.name).trim_end_matches('.').to_owned();
    let good = || {
        let key = names.keys.get(&name)?;
        let algorithm = match key.algorithm.as_str() {
            "hmac-sha256" => TsigAlgorithm::HmacSha256,
            "hmac-sha384" => TsigAlgorithm::HmacSha384,
            "hmac-sha512" => TsigAlgorithm::HmacSha512,
            _ => return None,
        };
        let owner = Name::from_ascii(format!("{name}.")).ok()?;
        let signer = TSigner::new(key.secret.clone(), algorithm, owner, FUDGE).ok()?;
        let (mac, time, _) = signer.verify_message_byte(packet, None, true).ok()?;
        let skew = time.abs_diff(u64::try_from(now).ok()?);
        (skew <= u64::from(record.data.fudge)).then_some(Verified { name: name.clone(), signer, mac })
    };
    good().map_or(Signature::Bad, |verified| Signature::Good(Box::new(verified)))
}

/// The bytes of a response, signed by the key that has signed its request.
pub(super) fn signed(key: &Verified, now: i64, mut response: Message) -> Option<Vec<u8>> {
    let plain = response.to_vec().ok()?;
    let now = u64::try_from(now).ok()?;
    let context = TSigResponseContext::new(response.metadata.id, now, key.signer.clone(), key.mac.clone(), None);
    response.set_signature(context.sign(&plain).ok()?);
    response.to_vec().ok()
}
