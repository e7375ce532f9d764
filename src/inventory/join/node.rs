//! A tenant's VRF on an exit node: link, default, SNAT, forwarding, null routes, FRR.
//!
//! What each fact means and which look-alike must not be reported: facts/exit-node.md §1–§4. A fact that could not be
//! read stays unknown and says which right or command was missing.

mod facts;

use std::sync::Arc;

use super::super::entities::{Fact, Flow, Layer, RouteWhy, VnetRow, Vrf};
use super::super::source::{Gap, GapKind, Seen};
use super::super::{Class, Presence};
use super::{Cx, Seed, diff, vnet_id};
use crate::backends::exit_node::model::{Reading, Readout, Route, RouteKind, SnatRule};
use crate::backends::proxmox::model::{Change, Zone};
use crate::site::model::ExitNodeSite;

/// The value of a part, or the gap it leaves.
pub(super) fn seen<T>(part: &Readout<T>) -> Seen<&T> {
    match part {
        Readout::Value(v) => Ok(v),
        Readout::Unread(u) => Err(Gap::from(u)),
    }
}

/// What the facts of one VRF are computed from.
struct Subject<'a> {
    site: &'a ExitNodeSite,
    seed: &'a Seed,
    device: String,
    vni: u32,
    subnet: ipnet::Ipv4Net,
    /// Name and subnets of the other tenants this node should keep apart.
    others: Vec<(Arc<str>, Vec<ipnet::Ipv4Net>)>,
    /// Whether the zone is applied, so that the node is to have it.
    applied: bool,
    /// Whether the subnet is meant to be translated at all; unknown without Proxmox.
    snat_wanted: Option<bool>,
    /// Whether traffic of the zone is to leave here: the zone names this exit node, or none.
    leaves_here: bool,
    /// Whether the tenant's subnet waits for its first apply.
    subnet_waits: bool,
    vnet: String,
}

/// VRF rows in tenant order, one an exit node.
pub(super) fn rows(cx: &Cx<'_>, vnets: &[VnetRow]) -> Vec<Vrf> {
    cx.seeds
        .iter()
        .flat_map(|seed| cx.site.exit_nodes.iter().map(move |exit| (seed, exit)))
        .map(|(seed, exit)| row(cx, vnets, seed, exit))
        .collect()
}

fn subject<'a>(cx: &'a Cx<'_>, vnets: &[VnetRow], seed: &'a Seed, exit: &'a ExitNodeSite) -> Subject<'a> {
    let plan = &cx.site.numbering;
    let subnets_of = |name: &str| -> Vec<ipnet::Ipv4Net> {
        vnets
            .iter()
            .filter(|v| v.tenant.as_deref() == Some(name))
            .filter_map(|v| v.subnets.as_ref().ok())
            .flatten()
            .filter_map(|s| s.cidr.parse().ok())
            .collect()
    };
    let others = cx.seeds.iter().filter(|s| s.name != seed.name && running(cx, &s.name).is_some()).map(|s| {
        let mut nets = subnets_of(&s.name);
        if nets.is_empty() {
            nets.push(plan.subnet(s.index));
        }
        (Arc::clone(&s.name), nets)
    });
    let own = vnets
        .iter()
        .filter(|v| v.tenant.as_ref() == Some(&seed.name))
        .filter_map(|v| v.subnets.as_ref().ok())
        .flatten()
        .find(|s| s.derived);
    Subject {
        site: exit,
        seed,
        device: format!("vrf_{}", seed.name),
        vni: plan.vrf_vni(seed.index),
        subnet: plan.subnet(seed.index),
        others: others.collect(),
        applied: running(cx, &seed.name).is_some(),
        leaves_here: running(cx, &seed.name)
            .is_none_or(|z| z.exit_nodes.is_empty() || z.exit_nodes.contains(&exit.name)),
        snat_wanted: own.map(|s| s.snat),
        subnet_waits: own.is_some_and(|s| s.change == Change::New),
        vnet: vnet_id(&seed.name, 0),
    }
}

/// The zone as applied, so that nodes are expected to have it.
fn running<'a>(cx: &'a Cx<'_>, zone: &str) -> Option<&'a Zone> {
    cx.sdn().ok()?.zones.iter().filter_map(|z| z.running.as_ref()).find(|z| z.zone == zone)
}

fn row(cx: &Cx<'_>, vnets: &[VnetRow], seed: &Seed, exit: &ExitNodeSite) -> Vrf {
    let s = subject(cx, vnets, seed, exit);
    let reading = match cx.readings.exits.get(&exit.name) {
        Some(Ok(reading)) => Ok(Arc::clone(reading)),
        Some(Err(gap)) => Err(gap.clone()),
        None => Err(super::source_gap(cx.readings, super::SourceId::Exit, "this exit node")),
    };
    match reading {
        Err(gap) => unknown(&s, &gap),
        Ok(reading) => known(cx, &s, &reading),
    }
}

fn unknown(s: &Subject<'_>, gap: &Gap) -> Vrf {
    let fact = |label, value: String| Fact {
        label,
        value,
        class: Class::Unknown,
        word: gap.word().to_owned(),
        gap: Some(gap.clone()),
    };
    Vrf {
        tenant: Arc::clone(&s.seed.name),
        node: Arc::from(s.site.name.as_str()),
        device: s.device.clone(),
        vni: s.vni,
        facts: facts::LABELS.iter().map(|label| fact(label, "?".to_owned())).collect(),
        class: Class::Unknown,
        routes: Err(gap.clone()),
        snat: Err(gap.clone()),
        flow: Err(gap.clone()),
        vnet_bytes_s: Err(gap.clone()),
        tracked: None,
        diffs: Vec::new(),
    }
}

fn known(cx: &Cx<'_>, s: &Subject<'_>, r: &Reading) -> Vrf {
    let facts = facts::all(s, r);
    let snat = seen(&r.nat).map(|nat| facts::rules_for(&nat.snat, s).cloned().collect::<Vec<SnatRule>>());
    let flow = snat.clone().map(|rules| merge_flows(cx, &r.node, &rules));
    let bytes = cx.readings.flows.bytes_s.get(&(r.node.clone(), s.vnet.clone()));
    let class = facts.iter().map(|f| f.class).max().unwrap_or(Class::Unknown);
    let diffs = facts
        .iter()
        .filter(|f| matches!(f.class, Class::Differs | Class::Fault))
        .map(|f| {
            diff(
                format!("{} on {}", s.device, cx.site.short_name(&r.node)),
                f.label,
                facts::expected(f.label, s),
                &f.value,
            )
        })
        .collect();
    Vrf {
        tenant: Arc::clone(&s.seed.name),
        node: Arc::from(s.site.name.as_str()),
        device: s.device.clone(),
        vni: s.vni,
        facts,
        class,
        routes: routes(cx, s, r),
        snat,
        flow,
        vnet_bytes_s: bytes.copied().ok_or_else(|| Gap::not_read("a second sample of the VNet's counters")),
        tracked: r.flows.get(&s.subnet).map(|tracked| seen(tracked).cloned()),
        diffs,
    }
}

fn merge_flows(cx: &Cx<'_>, node: &str, rules: &[SnatRule]) -> Flow {
    let mut texts: Vec<&str> = rules.iter().map(|r| r.text.as_str()).collect();
    texts.sort_unstable();
    texts.dedup();
    let flows = texts.iter().filter_map(|t| cx.readings.flows.snat.get(&(node.to_owned(), (*t).to_owned())));
    let flows: Vec<&Flow> = flows.collect();
    // The rate of some is not the rate of all.
    let rates: Option<Vec<f64>> = flows.iter().map(|f| f.per_second).collect();
    let per_second = rates.filter(|r| !r.is_empty()).map(|r| r.iter().sum());
    let mut out = Flow { per_second, ..Flow::default() };
    for flow in flows {
        out.total = out.total.saturating_add(flow.total);
        out.reset_at = out.reset_at.max(flow.reset_at);
        out.since = out.since.max(flow.since);
        if out.history.len() < flow.history.len() {
            out.history.resize(flow.history.len(), 0);
        }
        for (sum, step) in out.history.iter_mut().rev().zip(flow.history.iter().rev()) {
            *sum = sum.saturating_add(*step);
        }
    }
    out
}

fn routes(cx: &Cx<'_>, s: &Subject<'_>, r: &Reading) -> Seen<Vec<(Route, RouteWhy)>> {
    let Some(part) = r.vrf_routes.get(&s.device) else {
        return Err(Gap::new(GapKind::Failed, format!("{} does not exist on {}", s.device, r.node)));
    };
    Ok(seen(part)?.iter().map(|route| (route.clone(), why(cx, s, route))).collect())
}

fn why(cx: &Cx<'_>, s: &Subject<'_>, route: &Route) -> RouteWhy {
    let of = |class, words: &str| RouteWhy { class, words: cx.text(words) };
    if route.dst.prefix_len() == 0 {
        return match route.kind {
            RouteKind::Unicast if facts::is_right_default(s, route) => {
                of(Class::Fine, "default to the perimeter; merged from frr.conf.local")
            }
            RouteKind::Unicast => of(Class::Fault, "default, but not to the perimeter"),
            _ => of(Class::Info, "fallback that stops what has no other route"),
        };
    }
    if route.dst == s.subnet {
        return of(Class::Fine, "the tenant's own subnet");
    }
    if let Some((other, _)) = s.others.iter().find(|(_, nets)| nets.contains(&route.dst)) {
        return match route.kind {
            RouteKind::Blackhole | RouteKind::Unreachable => of(Class::Fine, &format!("null route to {other}")),
            _ => of(Class::Fault, &format!("reaches {other}: tenants are not separated here")),
        };
    }
    match route.protocol.as_deref() {
        Some("kernel") => of(Class::Info, "connected"),
        _ => of(Class::Info, "not derived from the index"),
    }
}

/// The node layer of one tenant over all its exit nodes. What one node shows to be wrong is not hidden by another that
/// does not answer; that all is well is said only when all answered.
pub(super) fn layer(cx: &Cx<'_>, vrfs: &[Vrf], fabric: &Layer) -> Layer {
    let stale = |v: &&Vrf| cx.readings.stale_exits.get(&*v.node);
    let fresh: Vec<&Vrf> = vrfs.iter().filter(|v| stale(v).is_none()).collect();
    let silent = vrfs.iter().find_map(|v| stale(&v));
    let Some(worst) = fresh.iter().max_by_key(|v| v.class) else {
        let off = || Gap::new(GapKind::Off, "this site names no exit node");
        return Layer::unknown(silent.cloned().unwrap_or_else(off));
    };
    let gone = |v: &&Vrf| v.facts.first().is_some_and(|f| matches!(f.class, Class::Fault | Class::Absent));
    if silent.is_none() && fresh.iter().all(gone) {
        let class = match fabric.presence {
            Presence::Pending | Presence::Absent => Class::Absent,
            _ => Class::Fault,
        };
        return Layer::known(Presence::Absent, class, "no VRF");
    }
    if worst.class >= Class::Differs {
        let words = worst.facts.iter().filter(|f| f.class >= Class::Differs).max_by_key(|f| f.class);
        return Layer {
            presence: if worst.class == Class::Warning { Presence::Present } else { Presence::Differs },
            class: worst.class,
            words: words.map_or_else(|| "differs".to_owned(), facts::brief),
            diffs: fresh.iter().flat_map(|v| v.diffs.clone()).collect(),
            gap: None,
        };
    }
    if let Some(gap) = silent.cloned().or_else(|| fresh.iter().flat_map(|v| &v.facts).find_map(|f| f.gap.clone())) {
        return Layer::unknown(gap);
    }
    Layer::known(Presence::Present, Class::Fine, "present")
}
