//! A check that fails only since it does not use the profile's trust.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "probe-without-trust",
    layer: Layer::Access,
    severity: Severity::Warning,
    says: "A check does not trust the server's certificate, while the same request with the profile's CA or pin is \
           answered. The service is well; the check was made without the trust that everything else uses.",
    reads: "the probe and what it says it trusted, the profile in use, the same request made with it",
    unlike: &[
        ("source-unreachable", "nothing answers with the profile's trust either"),
        ("ca-unknown", "the profile's own trust does not know the issuer"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for probe in facts.trust.probes.iter().filter(|probe| probe.untrusted) {
        let endpoint = &probe.endpoint;
        let Some(profile) = facts.trust.profiles.iter().find(|profile| profile.endpoint == *endpoint) else {
            out.unknown(format!("the profile in use for {endpoint}"), None);
            continue;
        };
        let used = probe.trust.as_deref().map(|trust| profile.anchors.iter().any(|a| trust.contains(a.as_str())));
        // One answer to the same path will do: it was read with the profile.
        let same = facts.calls.all.iter().find(|c| c.failure.is_none() && probe.path.ends_with(&c.http.path));
        match (used, same) {
            (None, _) => out.unknown(format!("what the probe of {endpoint} trusted"), None),
            (_, None) => out.unknown(format!("whether {endpoint} answers with the profile's trust"), None),
            (Some(true), _) => {}
            (Some(false), Some(call)) => {
                let finding = out
                    .finding(
                        Subject::new("source", endpoint),
                        format!("{endpoint} answers with the profile's trust; the check was made without it."),
                    )
                    .fact("endpoint.answers", endpoint, "with the profile's trust")
                    .fact("probe.trust", endpoint, "not the profile's")
                    .from(probe)
                    .from(profile)
                    .resting_on(&call.file)
                    .next("probe-with-profile", 0, "run the check with the connection profile that is in use");
                out.found(finding);
            }
        }
    }
}
