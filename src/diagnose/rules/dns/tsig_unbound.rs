//! A zone that takes updates without a key.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use super::tried_keys;
use super::update_refused::{GLOBAL, networks, settings};
use crate::backends::powerdns::model::ZoneMetadata;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::text::some_of;

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

/// Networks of a list but the server itself.
fn open(lists: &[String]) -> Vec<String> {
    networks(lists).into_iter().filter(|net| !net.addr().is_loopback()).map(|net| net.to_string()).collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    tried_keys::unsigned(facts, out);
    let of = &facts.powerdns;
    let wants =
        |what: &str, out: &mut Out<'_>| out.unknown(what, facts.calls.why(Api::PowerDns, "servers/*/zones/*/metadata"));
    // Settings about updates, and no zone to apply them to.
    if of.metadata.is_empty() && of.flag("dnsupdate").is_some() && !facts.nobody() {
        wants("which networks and keys may update each zone", out);
    }
    // The server's own list adds to that of each zone (facts/dns.md §5).
    let global = of.setting(GLOBAL).map(|list| open(&[list.to_owned()]));
    for zone in &of.metadata {
        let name = zone.zone.as_str();
        let own = open(zone.update_networks());
        let nobody = own.is_empty() && global.as_ref().is_some_and(Vec::is_empty);
        if !zone.update_keys().is_empty() || nobody {
            // Where it was to be tried, what that came to is the word.
            if facts.keys.as_ref().is_none_or(|tried| tried.not_run.is_some()) {
                out.pass(Subject::new("name", name));
            }
            continue;
        }
        let Some(on) = of.flag("dnsupdate").filter(|_| !own.is_empty() || global.is_some()) else {
            settings(facts, out);
            continue;
        };
        let global = global.as_deref().unwrap_or_default();
        if of.setting("lua-dnsupdate-policy-script").is_some_and(|script| !script.is_empty()) {
            out.unknown("what the policy script of PowerDNS decides", None);
            continue;
        }
        if !on || of.flag("dnsupdate-require-tsig") == Some(true) {
            out.pass(Subject::new("name", name));
            continue;
        }
        let finding = finding(facts, zone, (&own, global), out);
        out.found(finding);
    }
}

/// `own` is what the zone opens, `global` what the server opens of every zone.
fn finding(
    facts: &Facts,
    zone: &Sourced<ZoneMetadata>,
    (own, global): (&[String], &[String]),
    out: &Out<'_>,
) -> Finding {
    let name = zone.zone.as_str();
    let open: BTreeSet<&str> = own.iter().chain(global).map(String::as_str).collect();
    let open: Vec<&str> = open.into_iter().collect();
    let title = format!("Any host in {} can change {name} without a key.", open.join(", "));
    let mut finding =
        out.finding(Subject::new("name", name), title).fact("update.key-needed", name, "no").affects([name]).from(zone);
    for net in &open {
        finding = finding.fact("update.open-to", name, net);
    }
    if let Some(settings) = &facts.powerdns.settings {
        finding = finding.from(settings);
    }
    if !own.is_empty() {
        let text = format!("take ALLOW-DNSUPDATE-FROM of {name} away until a key is bound");
        finding = finding.next("close-updates", 2, text);
    }
    if !global.is_empty() {
        let nets = some_of(&global.iter().map(String::as_str).collect::<Vec<_>>());
        let text = format!("take {nets} out of {GLOBAL} in the server's settings: it opens every zone");
        finding = finding.fact("update.open-by", name, GLOBAL).next("close-updates-of-server", 3, text);
    }
    finding.next("bind-tsig-key", 2, format!("set TSIG-ALLOW-DNSUPDATE of {name} to the tenant's key"))
}
