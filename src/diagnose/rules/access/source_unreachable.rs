//! A back end that does not answer at all.

use std::collections::BTreeMap;

use super::super::egress::dead_router;
use super::super::{Out, Rule};
use super::{no_answer, source};
use crate::backends::http::TlsFault;
use crate::diagnose::evidence::{Api, NOT_ASKED};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Call;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "source-unreachable",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "A back end answers none of the requests. Everything it alone could tell is unknown, and rows keep their age; \
           this one line stands for all of it. It stops no packet: where what the back end does is gone as well, that is the \
           fault, and this comes with it.",
    reads: "requests to one back end that all ended without an answer",
    unlike: &[
        ("pin-mismatch", "something answers with another certificate than the pinned one"),
        ("ca-unknown", "something answers with a certificate of an issuer that is not trusted"),
        ("credentials-rejected", "it answers and says no"),
        ("node-unreachable", "the cluster answers and cannot reach one of its nodes"),
    ],
    explains: &[],
    judge,
};

/// TLS said why: another rule's.
pub(super) fn is_tls(why: &str) -> bool {
    why.contains(PINNED)
        || [TlsFault::UnknownIssuer, TlsFault::BadSignature].iter().any(|f| why.contains(&f.to_string()))
}

/// How this program begins to say that a certificate is not the pinned one.
pub(super) const PINNED: &str = "the server's certificate is not the pinned one";

/// Back ends that answer nothing.
pub(in super::super) fn dead(facts: &Facts) -> BTreeMap<Api, Vec<&Call>> {
    let mut by_api: BTreeMap<Api, Vec<&Call>> = BTreeMap::new();
    for call in facts.calls.all.iter().filter(|call| call.http.api != Api::Other) {
        by_api.entry(call.http.api).or_default().push(call);
    }
    by_api.retain(|_, calls| calls.iter().all(|call| no_answer(call).is_some_and(|why| !is_tls(why))));
    by_api
}

/// Host and port of `api`, where the site file has one address for it.
fn address(facts: &Facts, api: Api) -> Option<String> {
    let site = &facts.site.as_ref()?.value;
    let url = match api {
        Api::PowerDns => site.powerdns.as_ref()?.url.as_ref()?,
        Api::Opnsense => &site.opnsense.as_ref()?.url,
        _ => return None,
    };
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split('/').next()?;
    let host_ends = authority.rfind(']').map_or(0, |at| at + 1);
    if authority.get(host_ends..)?.contains(':') {
        return Some(authority.to_owned());
    }
    Some(format!("{authority}:{}", if scheme == "http" { 80 } else { 443 }))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (api, calls) in dead(facts) {
        let at = address(facts, api);
        let there = at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        let unasked = calls.iter().find_map(|call| no_answer(call)?.strip_prefix(NOT_ASKED));
        let (title, todo) = match unasked {
            Some(why) => (
                format!("{} cannot be asked{there}: {why}. What it alone knows is unknown.", api.words()),
                format!("mend what the site file names for {}; `site check` tries it", api.words()),
            ),
            None => (
                format!("{} does not answer{there}: what it alone knows is unknown.", api.words()),
                format!("look at {}{there}: power, network, service", api.words()),
            ),
        };
        let mut finding = out
            .finding(source(api), title)
            .fact("source.answers", api.words(), format!("0 of {}", calls.len()))
            .affects(&at)
            .caused_by(dead_router(facts).filter(|_| api == Api::Opnsense))
            .next("check-source", 0, todo);
        // A host is called by the address of its name server, which may answer all the same.
        let answers = |host: &str| facts.dns.replies.iter().any(|r| !r.silent && r.server == host);
        for call in &calls {
            let host = (at.is_none() || !answers(&call.from)).then_some(&call.from);
            finding = finding.affects(host).resting_on(&call.file);
        }
        let why = calls.iter().find_map(|call| no_answer(call)).filter(|why| !why.is_empty()).map(str::to_owned);
        out.unknown(format!("everything that {} tells", api.words()), why);
        out.found(finding);
    }
}
