//! What rules about answers to writes of PowerDNS share.

use crate::backends::powerdns::{Name, Refusal};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::calls::{Call, Failure};
use crate::diagnose::facts::powerdns::Head;
use crate::diagnose::facts::{Facts, Sourced};

/// Writes that were refused in words that are known.
pub fn refused(facts: &Facts) -> impl Iterator<Item = (&Call, Refusal)> {
    facts.calls.of(Api::PowerDns).filter(|call| call.writes()).filter_map(|call| match &call.failure {
        Some(Failure::Status { text, .. }) => Some((call, Refusal::of(text)?)),
        _ => None,
    })
}

/// Requests to make a zone that ended with this status.
pub fn makes_zone(facts: &Facts, wanted: u16) -> impl Iterator<Item = &Call> {
    let of = move |call: &&Call| call.http.method == "POST" && call.http.ended.status == wanted;
    facts.calls.of(Api::PowerDns).filter(|call| call.http.asks(Api::PowerDns, "servers/*/zones")).filter(of)
}

/// The zone that a request to make one names, where what was sent was kept.
pub fn zone_named(call: &Call) -> Option<Name> {
    call.sent()?.get("name")?.as_str().map(Name::new)
}

/// Whether a zone's account says that it is somebody else's than the one that its first label names.
pub fn of_another(head: &Head) -> bool {
    let label = head.name.as_str().split('.').next().unwrap_or_default();
    head.account.as_ref().is_some_and(|account| account != label)
}

/// Values of `kind` that a zone was read to hold under `name`, with the reading; `None` = its RRsets there were not read.
pub fn held<'f>(facts: &'f Facts, name: &Name, kind: &str) -> Option<(&'f Sourced<Head>, Vec<&'f str>)> {
    let heads = facts.powerdns.zones.iter().rev().filter(|head| within(name, &head.name));
    let asked = heads.filter(|head| head.rrsets.is_some()).max_by_key(|head| head.name.as_str().len())?;
    let sets = asked.rrsets.iter().flatten().filter(|(owner, own, _)| owner == name && own == kind);
    Some((asked, sets.flat_map(|(.., values)| values.iter().map(String::as_str)).collect()))
}

/// Whether `name` is `zone` or below it.
pub fn within(name: &Name, zone: &Name) -> bool {
    let plain = |name: &Name| name.as_str().trim_end_matches('.').to_ascii_lowercase();
    let (name, zone) = (plain(name), plain(zone));
    name == zone || name.strip_suffix(zone.as_str()).is_some_and(|head| head.ends_with('.'))
}
