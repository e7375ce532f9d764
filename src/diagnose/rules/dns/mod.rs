//! Zones, records, forwards, resolvers, updates. Fingerprints of answers: facts/dns.md §6.

mod apex_broken;
mod auth_down;
mod builtin_reverse_zone;
mod clock_skew;
mod cname_conflict;
mod dnssec_bogus;
mod forward_disabled;
mod forward_missing;
mod forward_wrong_type;
mod gateway_record_stale;
mod name_not_canonical;
mod name_points_outside;
mod negative_cached;
mod parent_nxdomain_believed;
mod ptr_mismatch;
mod ptr_not_written;
mod rebind_filtered;
mod resolver_down;
mod resolver_refuses_network;
mod serial_unchanged;
mod server_id_wrong;
mod server_is_recursor;
mod tried_keys;
mod tsig_foreign;
mod tsig_unbound;
mod update_key_missing;
mod update_refused;
mod whole_set;
mod workload_name_missing;
mod written;
mod wrong_workload_resolver;
mod zone_half_made;
mod zone_missing;
mod zone_not_served;
mod zone_of_another;

use super::{Out, Rule};
use crate::backends::powerdns::Name;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::dns::Reply;
use crate::diagnose::facts::perimeter::resolver::{Forward, under};

/// Rules of this layer, those first whose faults explain others.
pub(super) static RULES: &[&Rule] = &[
    &auth_down::RULE,
    &resolver_down::RULE,
    &server_id_wrong::RULE,
    &server_is_recursor::RULE,
    &zone_missing::RULE,
    &zone_not_served::RULE,
    &apex_broken::RULE,
    &forward_disabled::RULE,
    &forward_wrong_type::RULE,
    &forward_missing::RULE,
    &parent_nxdomain_believed::RULE,
    &builtin_reverse_zone::RULE,
    &rebind_filtered::RULE,
    &dnssec_bogus::RULE,
    &negative_cached::RULE,
    &serial_unchanged::RULE,
    &clock_skew::RULE,
    &update_key_missing::RULE,
    &update_refused::RULE,
    &tsig_unbound::RULE,
    &tsig_foreign::RULE,
    &workload_name_missing::RULE,
    &name_points_outside::RULE,
    &ptr_mismatch::RULE,
    &resolver_refuses_network::RULE,
    &wrong_workload_resolver::RULE,
    &zone_half_made::RULE,
    &zone_of_another::RULE,
    &name_not_canonical::RULE,
    &cname_conflict::RULE,
    &whole_set::RULE,
    &ptr_not_written::RULE,
    &gateway_record_stale::RULE,
];

/// Where plain forwards are read.
const FORWARDS: &str = "unbound/settings/searchforward";
/// Where those over TLS are read.
const DOTS: &str = "unbound/settings/searchdot";

/// Zones that the evidence names: of PowerDNS, of forwards, owners of a start of authority.
fn known_zones(facts: &Facts) -> Vec<String> {
    let served = facts.powerdns.zones.iter().map(|head| head.name.as_str().to_owned());
    let sent = rows(facts).map(|row| row.domain.clone());
    let authorities = facts.dns.authorities();
    let speaks = facts.dns.replies.iter().filter(|r| authorities.contains(r.server.as_str()));
    let owners = speaks.filter_map(|reply| reply.soa().map(|(record, _)| record.name.clone()));
    served.chain(sent).chain(owners).filter(|zone| !zone.is_empty()).collect()
}

/// The closest known zone around `name`; without one what follows its first label: where a workload's records are.
fn zone_of(facts: &Facts, name: &str) -> String {
    let around = known_zones(facts).into_iter().filter(|zone| under(name, zone) && zone != "in-addr.arpa");
    let parent = || name.split_once('.').map_or(name, |(_, parent)| parent).to_owned();
    around.max_by_key(String::len).unwrap_or_else(parent)
}

/// Rows of both kinds.
fn rows(facts: &Facts) -> impl Iterator<Item = &Forward> {
    let of = &facts.perimeter;
    of.forwards.iter().chain(&of.dots).flat_map(|rows| rows.value.iter())
}

/// Rows whose domain is around `name`, but not one for all names.
fn rows_for<'a>(facts: &'a Facts, name: &'a str) -> impl Iterator<Item = &'a Forward> {
    rows(facts).filter(move |row| !row.domain.is_empty() && row.covers(name))
}

/// Whether `name` has an enabled plain forward; `None` = the list was not read.
fn forwarded(facts: &Facts, name: &str) -> Option<bool> {
    facts.perimeter.forwards.as_ref()?;
    Some(rows_for(facts, name).any(|row| row.enabled && row.kind == "forward"))
}

/// Says that a list of forwards is missing.
fn without(facts: &Facts, out: &mut Out<'_>, path: &str, what: &str) {
    out.unknown(what, facts.calls.why(Api::Opnsense, path));
}

/// The server that names of `zone` come from: of a row for it, of any row, or whoever answered with authority.
fn authority_of(facts: &Facts, reply: Option<&Reply>, zone: &str) -> Option<String> {
    let own = rows_for(facts, zone).map(|row| row.server.clone()).next();
    let spoke = reply.map(|r| r.server.clone());
    own.or(spoke).or_else(|| rows(facts).find(|row| row.kind == "forward").map(|row| row.server.clone()))
}

/// Addresses that the evidence knows as authoritative servers, answering or not.
fn authorities(facts: &Facts) -> Vec<String> {
    let spoke = facts.dns.authorities().into_iter().map(str::to_owned);
    let named = rows(facts).filter(|row| !row.domain.is_empty()).map(|row| row.server.clone());
    let own = facts.site.as_ref().and_then(|site| site.powerdns.as_ref()).map(|dns| server_name(dns.dns));
    let mut all: Vec<String> = spoke.chain(named).chain(own).collect();
    all.sort();
    all.dedup();
    all
}

/// Addresses that the evidence knows as resolvers, answering or not.
fn resolvers(facts: &Facts) -> Vec<String> {
    let spoke = facts.dns.resolvers().into_iter().map(str::to_owned);
    let own = facts.perimeter.interfaces.iter().flat_map(|all| all.value.iter());
    let own = own.filter(|i| !i.outside).filter_map(|i| i.net).map(|net| net.addr().to_string());
    let meant = facts.site.as_ref().and_then(|site| site.resolvers.as_ref()).map(|of| of.perimeter.to_string());
    let mut all: Vec<String> = spoke.chain(own).chain(meant).collect();
    all.sort();
    all.dedup();
    all
}

/// A server as answers of it are kept: its address, with the port where that is another than usual.
pub(in crate::diagnose) fn server_name(at: std::net::SocketAddr) -> String {
    if at.port() == 53 { at.ip().to_string() } else { at.to_string() }
}

/// A zone as PowerDNS names it.
fn named(zone: &str) -> Name {
    Name::new(zone)
}
