//! Dynamic updates are refused: the gates in the order in which PowerDNS checks them.

use std::net::IpAddr;

use ipnet::IpNet;

use super::super::{Out, Rule};
use super::clock_skew::{FUDGE, differences};
use super::tried_keys;
use crate::backends::powerdns::model::ZoneMetadata;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::powerdns::Update;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "update-refused",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "PowerDNS answers REFUSED to a dynamic update for many reasons. Its gates are looked at in its own order: updates \
           switched on, the signature, the address in either list, the key in the zone's list. The first shut one is named. \
           A refusal without a signature is always about the credential, a signed one never.",
    reads: "the update's end, the server's settings, the zone's metadata, the clocks of both sides; what a tenant's own key \
            came to where it was tried",
    unlike: &[
        ("clock-skew", "the refusal is unsigned and the clocks differ by more than a signature allows"),
        ("tsig-foreign", "the zone lists the key of another tenant"),
        ("zone-missing", "the zone is not on this server"),
    ],
    explains: &[],
    judge,
};

/// The server's own list of networks that may update any zone: it adds to each zone's (facts/dns.md §5).
pub(super) const GLOBAL: &str = "allow-dnsupdate-from";

fn judge(facts: &Facts, out: &mut Out<'_>) {
    tried_keys::own(facts, out);
    for update in facts.powerdns.updates.iter().filter(|u| u.refused.as_deref() == Some("REFUSED")) {
        if update.unsigned { credential(facts, update, out) } else { policy(facts, update, out) }
    }
    // A zone with a key and without a network takes no update from anywhere but the server itself.
    for zone in &facts.powerdns.metadata {
        let name = zone.zone.as_str();
        let shut = !zone.update_keys().is_empty() && networks(zone.update_networks()).is_empty();
        if !shut || !facts.powerdns.updates.is_empty() {
            continue;
        }
        let Some(global) = facts.powerdns.setting(GLOBAL) else {
            settings(facts, &mut out.about([Subject::new("name", name)]));
            continue;
        };
        if networks(&[global.to_owned()]).iter().all(|net| net.addr().is_loopback()) {
            let finding = start(out, name, format!("{name} has a key for updates and no network to take them from."))
                .fact("update.networks", name, "none")
                .from(zone)
                .next(
                    "allow-update-from",
                    2,
                    format!("list the networks of the tenant's clients in ALLOW-DNSUPDATE-FROM of {name}"),
                );
            out.found(finding);
        }
    }
}

/// Says that the server's settings are missing.
pub(super) fn settings(facts: &Facts, out: &mut Out<'_>) {
    out.unknown("the settings of PowerDNS", facts.calls.why(Api::PowerDns, "servers/*/config"));
}

fn start(out: &Out<'_>, zone: &str, title: String) -> Finding {
    out.finding(Subject::new("name", zone), title).affects([zone])
}

/// Unsigned: the server did not take the credential (facts/dns.md §0.1).
fn credential(facts: &Facts, update: &Update, out: &mut Out<'_>) {
    let key = update.key.as_ref().map_or("the key", |key| key.as_str());
    match differences(facts).iter().map(|(apart, ..)| *apart).max() {
        // That rule says so.
        Some(apart) if apart > FUDGE => {}
        None => out.unknown("the clocks of both sides", None),
        Some(_) => {
            let finding = start(out, key, format!("PowerDNS does not accept {key}: its name, secret or algorithm."))
                .fact("update.credential", key, "not accepted")
                .resting_on(&update.file)
                .next(
                    "check-tsig-key",
                    0,
                    format!("compare name, algorithm and secret of {key}; the name in lower case"),
                );
            out.found(finding);
        }
    }
}

/// The zone whose key was used, or the only one that was read.
fn zone_of<'f>(facts: &'f Facts, update: &Update) -> Option<&'f Sourced<ZoneMetadata>> {
    match facts.powerdns.metadata.as_slice() {
        [one] => Some(one),
        several => several.iter().find(|zone| update.key.as_ref().is_some_and(|key| zone.update_keys().contains(key))),
    }
}

/// Signed: the key is good, and some list shuts it out.
fn policy(facts: &Facts, update: &Update, out: &mut Out<'_>) {
    let of = &facts.powerdns;
    let (Some(settings), Some(global)) = (&of.settings, of.setting(GLOBAL)) else { return settings(facts, out) };
    if of.flag("dnsupdate") == Some(false) {
        let finding = start(out, "PowerDNS", "PowerDNS takes no dynamic updates at all.".to_owned())
            .fact("dnsupdate", "PowerDNS", "off")
            .from(settings)
            .next("enable-updates", 3, "set dnsupdate=yes on the server and restart it");
        out.found(finding);
        return;
    }
    if of.setting("lua-dnsupdate-policy-script").is_some_and(|script| !script.is_empty()) {
        out.unknown("what the policy script of PowerDNS decides", None);
        return;
    }
    let Some(zone) = zone_of(facts, update) else {
        out.unknown(
            "the metadata of the zone that was to be updated",
            facts.calls.why(Api::PowerDns, "servers/*/zones/*/metadata"),
        );
        return;
    };
    let name = zone.zone.as_str();
    let keys = zone.update_keys();
    let listed = update.key.as_ref().map(|key| keys.contains(key));
    let mut allowed = zone.update_networks().to_vec();
    allowed.push(global.to_owned());
    let from = update.from.parse::<IpAddr>().ok();
    let Some(from) = from else {
        out.unknown("the address the update was sent from", None);
        return;
    };
    let inside = networks(&allowed).iter().any(|net| net.contains(&from));
    let finding = start(out, name, String::new())
        .fact("dnsupdate", "PowerDNS", "on")
        .fact("update.source-listed", from.to_string(), if inside { "yes" } else { "no" })
        .from(settings)
        .from(zone)
        .resting_on(&update.file);
    let finding = match (&update.key, listed) {
        (Some(key), Some(listed)) => finding.fact("update.key-listed", key.as_str(), if listed { "yes" } else { "no" }),
        _ => finding,
    };
    if !inside {
        let mut finding =
            finding.next("allow-update-from", 2, format!("add {from} alone to ALLOW-DNSUPDATE-FROM of {name}"));
        finding.title = format!("{name}: {from} is in neither list of networks that may update it.");
        out.found(finding);
    } else if listed == Some(false) && !keys.is_empty() {
        let mut finding =
            finding.next("bind-tsig-key", 2, format!("list the tenant's own key in TSIG-ALLOW-DNSUPDATE of {name}"));
        finding.title = format!("{name} does not list the key the update was signed with.");
        out.found(finding);
    } else {
        out.unknown_of(
            [Subject::new("name", name)],
            format!("why PowerDNS refuses updates of {name}: every list lets them in"),
            None,
        );
    }
}

/// Networks of a list, whose entries may be lists themselves. What is no network matches nobody.
pub(super) fn networks(lists: &[String]) -> Vec<IpNet> {
    let parts = lists.iter().flat_map(|list| list.split([',', ' ', ';'])).filter(|part| !part.is_empty());
    parts.filter_map(|part| part.parse().ok().or_else(|| part.parse::<IpAddr>().ok().map(IpNet::from))).collect()
}
