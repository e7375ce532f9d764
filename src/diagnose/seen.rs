//! What was seen on legs of the path that pass: the values themselves, so that a pass is no mere word.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use super::facts::Facts;
use super::facts::node::Ping;
use super::path::Untested;
use super::rules::exits::{Exit, Tenant, covers, exits, words};
use crate::backends::exit_node::model::Lookup;

/// What was seen, by the name of the leg.
pub type Seen = BTreeMap<&'static str, String>;

/// What was seen of `tenant`'s path; nothing of what lies on an exit node where it has several. Of everybody's: by which way
/// packets leave, and what answers an exit node, where there is only one.
#[must_use]
pub(super) fn of(facts: &Facts, tenant: Option<&str>) -> Seen {
    let mut seen = Seen::new();
    let mut put = |leg: &'static str, text: Option<String>| {
        if let Some(text) = text {
            seen.insert(leg, crate::text::clean(&text).into_owned());
        }
    };
    let all = exits(facts);
    let Some(tenant) = tenant else {
        put("leaves by transit", all_ways_out(&all));
        if let [exit] = all.as_slice() {
            nearer_and_beyond(exit, &mut put);
        }
        return seen;
    };
    put("zone and VNet applied", applied(facts, tenant));
    let mut mine = all.iter().filter_map(|exit| Some((exit, exit.tenants.iter().find(|t| t.zone == tenant)?)));
    if let (Some((exit, tenant)), None) = (mine.next(), mine.next()) {
        put("VRF up", link(exit, &tenant.vrf));
        put("default route", default_route(exit, tenant));
        put("leaves by transit", way_out(exit, tenant));
        put("SNAT rule", translation(exit, tenant));
        put("transit forwards", forwarding(exit));
        nearer_and_beyond(exit, &mut put);
    }
    seen
}

/// What the node itself can reach.
fn nearer_and_beyond(exit: &Exit<'_>, put: &mut dyn FnMut(&'static str, Option<String>)) {
    let Some(gateway) = exit.site.map(|site| site.transit_gateway) else { return };
    put("gateway answers", answers(exit, |dst| dst == gateway));
    put("internet answers", answers(exit, |dst| dst != gateway));
}

fn applied(facts: &Facts, tenant: &str) -> Option<String> {
    let zones = facts.sdn.zones_in_force()?;
    let zone = zones.value.iter().find(|zone| zone.zone == tenant)?;
    let vni = zone.vrf_vni.map(|vni| format!(" {vni}")).unwrap_or_default();
    let subnets = facts.sdn.subnets_in_force().filter(|(_, subnet)| subnet.zone == tenant);
    let subnets = subnets.map(|(_, subnet)| format!(", {} {}", subnet.vnet, subnet.cidr)).collect::<String>();
    Some(format!("{tenant}{vni}{subnets}"))
}

fn link(exit: &Exit<'_>, vrf: &str) -> Option<String> {
    let state = exit.node.link(vrf)?.state.clone()?;
    let frr = exit.node.frr_unit.as_ref().map(|unit| format!(", FRR {}", unit.value)).unwrap_or_default();
    Some(format!("{vrf} {state}{frr}"))
}

fn default_route(exit: &Exit<'_>, tenant: &Tenant<'_>) -> Option<String> {
    let route = exit.node.default_of(&tenant.vrf)??;
    let via = route.gateway.map(|gateway| format!("via {gateway} ")).unwrap_or_default();
    Some(format!("{via}dev {}", route.dev.as_deref()?))
}

fn way_out(exit: &Exit<'_>, tenant: &Tenant<'_>) -> Option<String> {
    let asked = exit.outward(tenant).last()?;
    match &asked.answer {
        // What leaves elsewhere is no sign that all is well.
        Lookup::Route { dev, .. } if exit.site.is_some_and(|site| site.transit_interface != *dev) => None,
        Lookup::Route { dev, .. } => Some(format!("a packet to {} leaves by {dev}", asked.dst)),
        Lookup::Error(_) => None,
    }
}

/// The way out of all tenants, where every one of them was looked up on each of its exit nodes and leaves by transit.
fn all_ways_out(exits: &[Exit<'_>]) -> Option<String> {
    let mut tenants = BTreeSet::new();
    let mut ways = BTreeSet::new();
    for exit in exits {
        for tenant in &exit.tenants {
            way_out(exit, tenant)?;
            tenants.insert(tenant.zone);
            ways.extend(exit.transit());
        }
    }
    let ways: Vec<&str> = ways.into_iter().collect();
    let count = tenants.len();
    (count > 0).then(|| format!("packets of {count} of {count} tenants leave by {}", ways.join(", ")))
}

/// Legs that a check of `tenant` does not test on this site, and why: there is nothing to ask, or nothing to send to. Only
/// what was read tells; where it was not, they are unknown.
#[must_use]
pub(super) fn untested(facts: &Facts, tenant: Option<&str>) -> Untested {
    let mut out = Untested::new();
    out.extend(no_workload(facts, tenant).map(|why| ("workload runs", why)));
    let Some(site) = facts.site.as_ref().map(|site| &site.value) else { return out };
    if site.opnsense.is_none() {
        out.insert("perimeter passes", "the site file names no firewall".to_owned());
    }
    if site.internet.is_none() {
        out.insert("internet answers", "needs an address to try: `internet` in the site file".to_owned());
    } else if let Some(exit) = exits(facts).iter().find(|exit| exit.main_by_transit() == Some(false)) {
        let why = format!("nothing is sent from {}: its own default is not by transit", exit.name);
        out.insert("internet answers", crate::text::clean(&why).into_owned());
    }
    out
}

/// Why nothing is told of whether a workload runs, where the list of guests was read.
fn no_workload(facts: &Facts, tenant: Option<&str>) -> Option<String> {
    let guests = facts.cluster.guests.as_ref()?;
    let plan = &facts.site.as_ref()?.value.numbering;
    let Some(tenant) = tenant else { return Some("needs a running workload that answers: none is known".to_owned()) };
    let zones = facts.sdn.zones_in_force()?;
    let index = zones.iter().find(|zone| zone.zone == tenant)?.vrf_vni.and_then(|vni| plan.index_of_vrf_vni(vni))?;
    let of = |vmid: u64| u32::try_from(vmid).ok().and_then(|vmid| plan.index_of_vmid(vmid)).map(|(index, _)| index);
    let mut own = guests.iter().filter(|guest| of(guest.vmid) == Some(index)).peekable();
    let none = own.peek().is_none();
    let running = own.any(|guest| guest.status == "running");
    let why = match (none, running) {
        (true, _) => format!("{tenant} has no workload"),
        (false, false) => format!("no workload of {tenant} runs"),
        (false, true) => "needs an answer of a running workload: none was read".to_owned(),
    };
    Some(crate::text::clean(&why).into_owned())
}

fn translation(exit: &Exit<'_>, tenant: &Tenant<'_>) -> Option<String> {
    let own = |rule: &&_| tenant.subnets.iter().any(|(_, net)| covers(rule, net));
    let rules: Vec<_> = exit.node.snat_rules()?.filter(own).collect();
    let first = rules.first()?;
    let count = if rules.len() == 1 { "1 rule".to_owned() } else { format!("{} rules", rules.len()) };
    Some(format!("{}, {count}", words(first)))
}

fn forwarding(exit: &Exit<'_>) -> Option<String> {
    let transit = exit.transit()?;
    let on = exit.node.forwarding.as_ref()?.get(transit)?;
    Some(format!("{transit} forwarding = {}", u8::from(*on)))
}

/// Echo requests from the node's own address.
fn answers(exit: &Exit<'_>, to: impl Fn(Ipv4Addr) -> bool) -> Option<String> {
    let own = |ping: &&Ping| ping.vrf.is_none() && ping.sent > 0 && to(ping.dst);
    let ping = exit.node.pings.iter().map(|ping| &ping.value).filter(own).max_by_key(|ping| ping.received)?;
    Some(format!("{} answered {} of {}", ping.dst, ping.received, ping.sent))
}
