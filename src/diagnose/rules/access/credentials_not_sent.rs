//! A request that carried no credential.

use super::super::{Out, Rule};
use super::{refused_logins, rest_on, source};
use crate::backends::opnsense::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Call;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "credentials-not-sent",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The server saw no credential: OPNsense redirects to its login page, Proxmox VE says that there is no ticket. \
           Either none was sent, or a proxy in between dropped the header.",
    reads: "redirects to the login page, answers 401 without a ticket",
    unlike: &[
        ("credentials-rejected", "a credential arrived and is not accepted: 401 with those words"),
        ("privilege-missing", "the credential is accepted: 403"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let router = facts.calls.of(Api::Opnsense).filter(|call| matches!(call.opnsense(), Some(Error::NoCredentials)));
    let cluster = refused_logins(facts).filter(|(_, reason)| reason.eq_ignore_ascii_case("no ticket"));
    for (api, calls) in
        [(Api::Opnsense, router.collect::<Vec<&Call>>()), (Api::Proxmox, cluster.map(|(call, _)| call).collect())]
    {
        if calls.is_empty() {
            continue;
        }
        let finding = out
            .finding(source(api), format!("{} saw no credential in the request.", api.words()))
            .fact("key.sent", api.words(), "no")
            .affects(calls.iter().map(|call| call.http.path.as_str()))
            .next("send-key", 0, "send the key with every request; look for a proxy that drops the header");
        let finding = rest_on(finding, calls, out);
        out.found(finding);
    }
}
