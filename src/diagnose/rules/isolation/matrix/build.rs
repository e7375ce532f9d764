//! The table from facts.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::super::{keys, packets};
use super::ends::{self, Goal, NOT_TO_TENANTS, SERVED, Sender, SenderKind, Target};
use super::pairs::{Way, way};
use super::perimeter::{Passes, Perimeter, Question};
use super::{Cell, Config, Matrix, Traffic, legs};
use crate::backends::exit_node::model::Lookup;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Asked;
use crate::diagnose::pasted::Whence;
use crate::diagnose::rules::exits::{Exit, Tenant, exits};

/// Everything that cells are judged by.
struct Ground<'a> {
    exits: Vec<Exit<'a>>,
    tenants: Vec<Tenant<'a>>,
    perimeter: Result<Perimeter<'a>, String>,
    /// Interfaces by which tenants' packets arrive at the perimeter, and what they may come as.
    transit: Result<(Vec<String>, Vec<Ipv4Net>), String>,
    overlay: Option<Ipv4Net>,
    /// What was looked up, by exit node and by the tenants of source and destination.
    lookups: BTreeMap<(&'a str, &'a str, Option<&'a str>), Vec<&'a Asked>>,
    /// Routes of each ordered pair.
    ways: BTreeMap<(String, String), Routes>,
}

pub(super) fn build(facts: &Facts) -> Matrix {
    let (exits, tenants) = (exits(facts), ends::tenants(facts));
    let perimeter = Perimeter::of(facts);
    let transit = transit(facts, &perimeter);
    let overlay = facts.site.as_ref().map(|site| site.numbering.overlay);
    let senders = senders(facts, &tenants, &exits);
    let targets: Vec<Target> = tenants
        .iter()
        .map(|tenant| ends::tenant_target(facts, tenant))
        .chain(ends::other_targets(facts, &exits))
        .collect();
    let path = legs::of_paths(facts, &tenants, &senders, &exits);
    let nodes = exits.iter().map(|exit| exit.name.to_owned()).collect();
    let unread = exits.iter().filter(|exit| exit.node.unreachable.is_some()).map(|exit| exit.name.to_owned()).collect();
    let lookups = lookups(&exits, facts, &tenants);
    let told: BTreeSet<_> = lookups.keys().filter_map(|(_, from, to)| Some((*from, (*to)?))).collect();
    let looked_up = told.iter().filter(|(from, to)| from != to).count();
    let mut ground = Ground { exits, tenants, perimeter, transit, overlay, lookups, ways: BTreeMap::new() };
    ground.ways = ground.all_ways();
    let cells =
        senders.iter().flat_map(|sender| targets.iter().map(|target| ground.cell(facts, sender, target))).collect();
    Matrix { at: facts.read_at, senders, targets, cells, pasted: Vec::new(), looked_up, nodes, unread, path }
}

/// Lookups of tenants' packets, by node, sender, and the tenant they are to, where they are to one.
fn lookups<'a>(
    exits: &[Exit<'a>],
    facts: &'a Facts,
    tenants: &[Tenant<'a>],
) -> BTreeMap<(&'a str, &'a str, Option<&'a str>), Vec<&'a Asked>> {
    let owner = |ip: Ipv4Addr| tenants.iter().find(|tenant| tenant.has(ip)).map(|tenant| tenant.zone);
    let mut out: BTreeMap<_, Vec<&Asked>> = BTreeMap::new();
    for exit in exits {
        let Some(node) = facts.nodes.get(exit.name) else { continue };
        for asked in &node.lookups {
            if let Some(from) = asked.from.and_then(owner) {
                out.entry((exit.name, from, owner(asked.dst))).or_default().push(&asked.value);
            }
        }
    }
    out
}

fn transit(facts: &Facts, perimeter: &Result<Perimeter<'_>, String>) -> Result<(Vec<String>, Vec<Ipv4Net>), String> {
    let perimeter = perimeter.as_ref().map_err(Clone::clone)?;
    let site = facts.site.as_ref().and_then(|site| site.opnsense.as_ref());
    let Some(net) = site.map(|site| site.transit) else {
        return Err("the site does not name the transit network".to_owned());
    };
    let ids = perimeter.in_net(net);
    if ids.is_empty() { Err(format!("no interface of the perimeter stands in {net}")) } else { Ok((ids, vec![net])) }
}

fn senders(facts: &Facts, tenants: &[Tenant<'_>], exits: &[Exit<'_>]) -> Vec<Sender> {
    let of_tenant = |tenant: &Tenant<'_>| {
        let workload = ends::workloads(facts, tenant).into_iter().next().map(|(name, _)| name);
        let words = match &workload {
            Some(name) => format!("in workload {name} of {}", tenant.zone),
            None => format!("in a workload of {}, which has none that is known to run", tenant.zone),
        };
        let nets = tenant.subnets.iter().map(|(_, net)| *net).collect();
        let exit = exits.iter().find(|exit| exit.zones().any(|zone| zone == tenant.zone));
        Sender {
            name: tenant.zone.to_owned(),
            kind: SenderKind::Tenant,
            whence: Whence { name: tenant.zone.to_owned(), workload, words, nets },
            gateway: ends::gateway(tenant),
            asks: None,
            exit: exit.and_then(|exit| Some((exit.name.to_owned(), exit.transit()?.to_owned()))),
        }
    };
    let domain = facts.site.as_ref().map(|site| site.domain.to_ascii_lowercase());
    let described = facts.site.as_ref().is_some_and(|site| site.opnsense.is_some());
    let segments = NOT_TO_TENANTS.into_iter().filter_map(|(role, name)| {
        let found = ends::playing(facts, role).into_iter().find_map(ends::net_of);
        if found.is_none() && (facts.perimeter.interfaces.is_some() || !described) {
            return None;
        }
        let words = format!("on a host of segment {name}");
        let nets = found.map(|(_, net)| net).into_iter().collect();
        let whence = Whence { name: name.to_owned(), workload: None, words, nets };
        let (gateway, asks) = (found.map(|(ip, _)| ip), domain.clone());
        Some(Sender { name: name.to_owned(), kind: SenderKind::Segment, whence, gateway, asks, exit: None })
    });
    tenants.iter().map(of_tenant).chain(segments).collect()
}

fn cell(config: Config, sentence: impl Into<String>, facts: Vec<String>) -> Cell {
    let clean = |text: String| crate::text::clean(&text).into_owned();
    Cell {
        config,
        sentence: clean(sentence.into()),
        facts: facts.into_iter().map(clean).collect(),
        keys: None,
        packets: None,
        traffic: Traffic::NotRun,
    }
}

/// The perimeter in words.
fn said(passes: &Passes, what: &str) -> String {
    match passes {
        Passes::No => format!("perimeter: no rule lets {what}"),
        Passes::Yes(rule) => format!("perimeter: rule {rule} lets {what}"),
        Passes::Unknown(why) => format!("perimeter: unknown whether a rule lets {what}: {why}"),
    }
}

/// A tenant's routes towards another, over all exit nodes.
struct Routes {
    worst: Way,
    facts: Vec<String>,
    /// A node's own answer that contradicts its table.
    odd: Option<String>,
}

impl Ground<'_> {
    fn cell(&self, facts: &Facts, sender: &Sender, target: &Target) -> Option<Cell> {
        match (sender.kind, target.goal) {
            (SenderKind::Tenant, Goal::Tenant) if sender.name == target.name => None,
            (SenderKind::Tenant, Goal::Tenant) => {
                let cell = with_keys(self.pair(&sender.name, target), facts, sender, target);
                Some(with_packets(cell, facts, sender, target))
            }
            (SenderKind::Tenant, Goal::Hairpin) => Some(self.hairpin(&sender.name, target)),
            (SenderKind::Tenant, Goal::Segment) => Some(self.segment(&sender.name, target)),
            (SenderKind::Tenant, Goal::Transit | Goal::Perimeter) => Some(self.router(&sender.name, target)),
            (SenderKind::Segment, Goal::Tenant) => Some(self.of_segment(facts, sender, target)),
            (SenderKind::Segment, _) => None,
        }
    }

    fn tenant(&self, zone: &str) -> Option<&Tenant<'_>> {
        self.tenants.iter().find(|tenant| tenant.zone == zone)
    }

    /// Whether the perimeter passes what arrives from the tenants to `to`.
    fn through(&self, zone: &str, to: &[Ipv4Net], served: &[&str]) -> Passes {
        let (perimeter, (on, nets)) = match (&self.perimeter, &self.transit) {
            (Ok(perimeter), Ok(transit)) => (perimeter, transit),
            (Err(why), _) | (_, Err(why)) => return Passes::Unknown(why.clone()),
        };
        if to.is_empty() {
            return Passes::Unknown("its networks were not read".to_owned());
        }
        let own = self.tenant(zone).into_iter().flat_map(|tenant| tenant.subnets.iter().map(|(_, net)| *net));
        let from: Vec<Ipv4Net> = nets.iter().copied().chain(own).collect();
        perimeter.passes(&Question { on, from: &from, to, served })
    }

    fn all_ways(&self) -> BTreeMap<(String, String), Routes> {
        let pairs = self.tenants.iter().flat_map(|from| self.tenants.iter().map(move |to| (from, to)));
        let pairs = pairs.filter(|(from, to)| from.zone != to.zone);
        pairs.map(|(from, to)| ((from.zone.to_owned(), to.zone.to_owned()), self.routes(from, to))).collect()
    }

    fn way(&self, from: &str, to: &str) -> Option<&Routes> {
        self.ways.get(&(from.to_owned(), to.to_owned()))
    }

    fn routes(&self, from: &Tenant<'_>, to: &Tenant<'_>) -> Routes {
        let (mut ways, mut said, mut odd) = (Vec::new(), Vec::new(), None);
        for exit in self.exits.iter().filter(|exit| exit.zones().any(|zone| zone == from.zone)) {
            let table = way(exit, from, to);
            said.push(format!("{}: {} towards {}: {}", exit.name, from.vrf, to.zone, table.words()));
            let mut worst = table;
            for asked in self.lookups.get(&(exit.name, from.zone, Some(to.zone))).into_iter().flatten() {
                let told = match &asked.answer {
                    Lookup::Error(words) => format!("refused: {words}"),
                    Lookup::Route { dev, .. } if to.has_device(dev) => {
                        worst = Way::Delivered;
                        format!("by {dev}")
                    }
                    Lookup::Route { dev, gateway, .. } => {
                        let via = gateway.map(|gateway| format!("via {gateway} ")).unwrap_or_default();
                        if table == Way::Dropped {
                            odd = Some(format!("{} says that it drops and that it sends {via}by {dev}", exit.name));
                        }
                        format!("{via}by {dev}")
                    }
                };
                let told = format!("{}: lookup of {}: {told}", exit.name, asked.dst);
                // It is asked twice, and says the same twice.
                if !said.contains(&told) {
                    said.push(told);
                }
            }
            ways.push(worst);
        }
        if ways.is_empty() {
            said.push(format!("no exit node of {} was read", from.zone));
        }
        let order = [Way::Delivered, Way::Unknown, Way::Hairpin, Way::NoRoute, Way::Dropped];
        let worst = order.into_iter().find(|way| ways.contains(way)).unwrap_or(Way::Unknown);
        Routes { worst, facts: said, odd }
    }

    fn pair(&self, from: &str, target: &Target) -> Cell {
        let to = target.name.as_str();
        let (worst, odd, mut facts) = match self.way(from, to) {
            Some(routes) => (routes.worst, routes.odd.clone(), routes.facts.clone()),
            None => (Way::Unknown, None, Vec::new()),
        };
        let passes = self.through(from, &target.nets, &[]);
        facts.push(said(&passes, &format!("the transit segment reach {to}")));
        let net = target.nets.first().map_or_else(|| to.to_owned(), ToString::to_string);
        if worst == Way::Delivered {
            return cell(Config::Open, format!("vrf_{from} delivers to {net}: {from} reaches {to}."), facts);
        }
        if let Some(odd) = odd {
            return cell(Config::Unknown, format!("Whether {from} reaches {to} is unknown: {odd}."), facts);
        }
        let (config, sentence) = match (worst, &passes) {
            (Way::Unknown | Way::Delivered, _) => (
                Config::Unknown,
                format!("Whether {from} reaches {to} is unknown: the routes of vrf_{from} were not read."),
            ),
            (Way::Hairpin, Passes::Yes(rule)) => (
                Config::Open,
                format!(
                    "Nothing separates {from} from {to}: vrf_{from} has no null route for {net}, and rule {rule} lets it back in."
                ),
            ),
            (Way::Hairpin, Passes::No) => (
                Config::Weak,
                format!("vrf_{from} has no null route for {net}: only the firewall still separates {from} from {to}."),
            ),
            (Way::Hairpin, Passes::Unknown(why)) => (
                Config::Unknown,
                format!(
                    "vrf_{from} has no null route for {net}, and whether the firewall separates {from} from {to} is unknown: {why}."
                ),
            ),
            (Way::Dropped | Way::NoRoute, Passes::Yes(rule)) => (
                Config::Weak,
                format!(
                    "Only the routes of vrf_{from} still separate {from} from {to}: rule {rule} of the firewall would let it in."
                ),
            ),
            (Way::Dropped | Way::NoRoute, Passes::No) => {
                (Config::Blocked, format!("vrf_{from} drops it, and the firewall has no rule that would let it in."))
            }
            (Way::Dropped | Way::NoRoute, Passes::Unknown(why)) => {
                (Config::Unknown, format!("vrf_{from} drops it; whether the firewall would too is unknown: {why}."))
            }
        };
        cell(config, sentence, facts)
    }

    /// Out by the default route, and back by the perimeter's route to all tenants.
    fn hairpin(&self, from: &str, target: &Target) -> Cell {
        let all: Vec<Ipv4Net> = self.tenants.iter().flat_map(|t| t.subnets.iter().map(|(_, net)| *net)).collect();
        let to = if target.nets.is_empty() { all.as_slice() } else { target.nets.as_slice() };
        let passes = self.through(from, to, &[]);
        let others = self.tenants.iter().filter(|tenant| tenant.zone != from);
        let open: Vec<&str> = others
            .filter(|to| self.way(from, to.zone).is_some_and(|r| r.worst == Way::Hairpin))
            .map(|to| to.zone)
            .collect();
        let overlay = self.overlay.map_or_else(|| "the tenants' networks".to_owned(), |net| net.to_string());
        let mut facts = vec![said(&passes, &format!("the transit segment reach {overlay}"))];
        facts.push(if open.is_empty() {
            format!("vrf_{from} has a null route for every other tenant")
        } else {
            format!("vrf_{from} has no null route for {}", open.join(", "))
        });
        let (config, sentence) = match (&passes, open.is_empty()) {
            (Passes::No, _) => (
                Config::Blocked,
                format!("What {from} sends out by its default route does not come back to {overlay}."),
            ),
            (Passes::Yes(rule), true) => (
                Config::Weak,
                format!(
                    "Rule {rule} lets the transit segment reach {overlay}: the null routes of vrf_{from} alone keep it from other tenants."
                ),
            ),
            (Passes::Yes(rule), false) => (
                Config::Open,
                format!(
                    "Rule {rule} lets {from} come back to {overlay}, and vrf_{from} has no null route for {}.",
                    open.join(", ")
                ),
            ),
            (Passes::Unknown(why), _) => {
                (Config::Unknown, format!("Whether {from} comes back by way of the perimeter is unknown: {why}."))
            }
        };
        cell(config, sentence, facts)
    }

    /// How packets of `from` to `to` leave the exit nodes: past the perimeter by another device, or `None` as they should.
    fn past(&self, from: &str, to: &[Ipv4Net]) -> (Option<String>, Vec<String>) {
        let (mut past, mut facts) = (None, Vec::new());
        let Some(tenant) = self.tenant(from) else { return (past, facts) };
        for exit in &self.exits {
            for asked in self.lookups.get(&(exit.name, tenant.zone, None)).into_iter().flatten() {
                let mine = to.iter().any(|net| net.contains(&asked.dst));
                let (true, Lookup::Route { dev, .. }) = (mine, &asked.answer) else { continue };
                let told = format!("{}: lookup of {}: by {dev}", exit.name, asked.dst);
                if !facts.contains(&told) {
                    facts.push(told);
                }
                if exit.transit().is_some_and(|transit| transit != dev) && !tenant.has_device(dev) {
                    past = Some(format!("{} sends it by {dev}, past the firewall", exit.name));
                }
            }
        }
        (past, facts)
    }

    fn segment(&self, from: &str, target: &Target) -> Cell {
        let to = target.name.as_str();
        let (past, mut facts) = self.past(from, &target.nets);
        let passes = self.through(from, &target.nets, &[]);
        facts.push(said(&passes, &format!("the transit segment reach {to}")));
        if let Some(past) = past {
            return cell(Config::Open, format!("{from} reaches {to}: {past}."), facts);
        }
        one_barrier(from, to, passes, facts)
    }

    fn router(&self, from: &str, target: &Target) -> Cell {
        let served: &[&str] = if target.goal == Goal::Perimeter { &SERVED } else { &[] };
        let passes = self.through(from, &target.nets, served);
        let what = match target.goal {
            Goal::Perimeter => "the router's own address, beyond names and time",
            _ => "the exit nodes' addresses on the transit segment",
        };
        let facts = vec![said(&passes, &format!("the transit segment reach {what}"))];
        one_barrier(from, what, passes, facts)
    }

    fn of_segment(&self, facts: &Facts, sender: &Sender, target: &Target) -> Cell {
        let to = target.name.as_str();
        let passes = match (&self.perimeter, sender.whence.nets.as_slice()) {
            (Err(why), _) => Passes::Unknown(why.clone()),
            (Ok(_), []) => Passes::Unknown("the segment's network was not read".to_owned()),
            (Ok(_), _) if target.nets.is_empty() => Passes::Unknown("the tenant's networks were not read".to_owned()),
            (Ok(perimeter), from) => {
                let playing = NOT_TO_TENANTS.iter().filter(|(_, name)| *name == sender.name);
                let on: Vec<String> =
                    playing.flat_map(|(role, _)| ends::playing(facts, role)).map(|i| i.id.clone()).collect();
                perimeter.passes(&Question { on: &on, from, to: &target.nets, served: &[] })
            }
        };
        let facts = vec![said(&passes, &format!("{} reach {to}", sender.name))];
        one_barrier(&sender.name, to, passes, facts)
    }
}

/// With what the sender's update key came to on the other's zones, where keys were tried.
fn with_keys(mut cell: Cell, facts: &Facts, sender: &Sender, target: &Target) -> Cell {
    if facts.keys.is_some() {
        let way = keys::between(facts, &sender.name, &target.name);
        let told = format!("update key of {} on the zones of {}: {}", sender.name, target.name, way.words());
        cell.facts.push(crate::text::clean(&told).into_owned());
        cell.keys = Some(way);
    }
    cell
}

/// With what packets came to, where some were sent.
fn with_packets(mut cell: Cell, facts: &Facts, sender: &Sender, target: &Target) -> Cell {
    cell.packets = packets::between(facts, &sender.name, &target.name);
    if let Some(came) = &cell.packets {
        cell.facts.push(format!("packets from vrf_{}: {}", sender.name, came.words()));
    }
    cell
}

/// Where the firewall alone decides.
fn one_barrier(from: &str, to: &str, passes: Passes, facts: Vec<String>) -> Cell {
    let (config, sentence) = match passes {
        Passes::No => (Config::Blocked, format!("The firewall has no rule that lets {from} reach {to}.")),
        Passes::Yes(rule) => (Config::Open, format!("Rule {rule} lets {from} reach {to}.")),
        Passes::Unknown(why) => (Config::Unknown, format!("Whether {from} reaches {to} is unknown: {why}.")),
    };
    cell(config, sentence, facts)
}
