//! A certificate of an issuer that is not trusted.

use super::super::{Out, Rule};
use super::{no_answer, source};
use crate::backends::http::TlsFault;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "ca-unknown",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The server's certificate is signed by an issuer that is not trusted, or by another authority of the same name: \
           the CA was made anew, or the profile never named it. The service is not down.",
    reads: "requests that ended in the TLS handshake, and what the client said",
    unlike: &[
        ("pin-mismatch", "a fingerprint is pinned"),
        ("probe-without-trust", "the same request with the profile's trust is answered"),
        ("source-unreachable", "nothing answers"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let words = [TlsFault::UnknownIssuer.to_string(), TlsFault::BadSignature.to_string()];
    let says = |why: &str| words.iter().any(|w| why.contains(w.as_str()));
    for call in facts.calls.all.iter().filter(|call| no_answer(call).is_some_and(says)) {
        let api = call.http.api;
        let finding = out
            .finding(source(api), format!("{}: its certificate is of an issuer that is not trusted.", api.words()))
            .fact("certificate.issuer", api.words(), "not trusted")
            .resting_on(&call.file)
            .next(
                "fetch-ca",
                0,
                "fetch the CA's certificate from the server itself, compare, name it in the site file",
            );
        out.unknown(format!("everything that {} tells", api.words()), Some("its issuer is not trusted".to_owned()));
        out.found(finding);
    }
}
