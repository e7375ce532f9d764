//! A zone that takes updates without a key.

use super::super::{Out, Rule};
use super::tried_keys;
use super::update_refused::networks;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "tsig-unbound",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "A zone lists networks that may update it and no key: any host there can change it without a signature, or with \
           any tenant's key. An empty list of keys is an open zone. That a signed update works proves nothing. With `--keys` an \
           update without a signature that can change nothing shows it.",
    reads: "the zone's metadata, and dnsupdate, dnsupdate-require-tsig and the policy script in the server's settings; what an update \
            without a key came to",
    unlike: &[
        ("tsig-foreign", "the zone lists a key, and it is another tenant's"),
        ("update-refused", "updates do not get in"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    tried_keys::unsigned(facts, out);
    let of = &facts.powerdns;
    let wants =
        |what: &str, out: &mut Out<'_>| out.unknown(what, facts.calls.why(Api::PowerDns, "servers/*/zones/*/metadata"));
    // Settings about updates, and no zone to apply them to.
    if of.metadata.is_empty() && of.flag("dnsupdate").is_some() && !facts.nobody() {
        wants("which networks and keys may update each zone", out);
    }
    for zone in &of.metadata {
        let name = zone.zone.as_str();
        let mut lists = zone.update_networks().to_vec();
        lists.extend(of.setting("allow-dnsupdate-from").map(str::to_owned));
        let open: Vec<String> =
            networks(&lists).into_iter().filter(|net| !net.addr().is_loopback()).map(|net| net.to_string()).collect();
        if open.is_empty() || !zone.update_keys().is_empty() {
            // Where it was to be tried, what that came to is the word.
            if facts.keys.as_ref().is_none_or(|tried| tried.not_run.is_some()) {
                out.pass(Subject::new("name", name));
            }
            continue;
        }
        let Some(on) = of.flag("dnsupdate") else {
            out.unknown("the settings of PowerDNS", facts.calls.why(Api::PowerDns, "servers/*/config"));
            continue;
        };
        if of.setting("lua-dnsupdate-policy-script").is_some_and(|script| !script.is_empty()) {
            out.unknown("what the policy script of PowerDNS decides", None);
            continue;
        }
        if !on || of.flag("dnsupdate-require-tsig") == Some(true) {
            out.pass(Subject::new("name", name));
            continue;
        }
        let mut finding = out
            .finding(
                Subject::new("name", name),
                format!("Any host in {} can change {name} without a key.", open.join(", ")),
            )
            .fact("update.key-needed", name, "no")
            .affects([name])
            .from(zone);
        for net in &open {
            finding = finding.fact("update.open-to", name, net);
        }
        if let Some(settings) = &of.settings {
            finding = finding.from(settings);
        }
        let finding = finding
            .next("close-updates", 2, format!("take ALLOW-DNSUPDATE-FROM of {name} away until a key is bound"))
            .next("bind-tsig-key", 2, format!("set TSIG-ALLOW-DNSUPDATE of {name} to the tenant's key"));
        out.found(finding);
    }
}
