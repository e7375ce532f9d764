//! What the perimeter must not let through, and what must never be deleted (domain.md §2.2), by interfaces and
//! prefixes: descriptions of rules decide nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::super::super::entities::Pattern;
use super::super::super::source::{Gap, GapKind, Seen};
use super::nets::{Cover, Names, networks};
use crate::backends::opnsense::model::{Action, Direction, Family, Interface, Rule, RuleKind};
use crate::inventory::FwReading;
use crate::site::Site;

/// A side of a pattern: the tenants' block, the transit network, or a segment by its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Zone {
    Overlay,
    Transit,
    Segment(&'static str),
}

impl Zone {
    const fn word(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Transit => "transit",
            Self::Segment(role) => role,
        }
    }

    /// Whether it is a segment that an interface of that description is for.
    fn plays(self, description: &str) -> bool {
        matches!(self, Self::Segment(role) if role_of(description) == role_of(role))
    }
}

/// From where to where nothing may pass.
const PATTERNS: [(Zone, Zone); 8] = [
    (Zone::Segment("iot_vendor"), Zone::Overlay),
    (Zone::Segment("iot"), Zone::Overlay),
    (Zone::Segment("guest"), Zone::Overlay),
    (Zone::Segment("storage"), Zone::Overlay),
    (Zone::Transit, Zone::Overlay),
    (Zone::Transit, Zone::Segment("management")),
    (Zone::Transit, Zone::Segment("trusted")),
    (Zone::Transit, Zone::Segment("storage")),
];

/// Names a rule may give as interface that are no segment.
const NO_SEGMENT: [&str; 4] = ["openvpn", "wireguard", "enc0", "lo0"];

/// The interfaces of a zone and their networks.
#[derive(Debug, Clone)]
struct Place {
    ids: Vec<String>,
    nets: Vec<Ipv4Net>,
    /// What lies behind each of the interfaces, in the order of `ids`.
    behind: Vec<Vec<Ipv4Net>>,
}

/// The policy against one reading.
pub(super) struct Policy<'a> {
    site: &'a Site,
    names: &'a Names<'a>,
    own: Vec<Ipv4Addr>,
    places: BTreeMap<Zone, Seen<Place>>,
}

/// What a rule does to the patterns: those it breaks, and those of which that cannot be said.
#[derive(Debug, Default)]
pub(super) struct Breach {
    broken: BTreeSet<usize>,
    unknown: BTreeMap<usize, Gap>,
}

/// Letters and digits only, in lower case: `IOT-Vendor` is `iot_vendor`.
fn role_of(description: &str) -> String {
    let word: String = description.chars().filter(char::is_ascii_alphanumeric).collect();
    let word = word.to_ascii_lowercase();
    if word == "mgmt" { "management".to_owned() } else { word }
}

/// Whether what lies behind an interface of that description must not reach tenants.
#[must_use]
pub fn kept_from_tenants(description: &str) -> bool {
    PATTERNS.iter().any(|(from, to)| *to == Zone::Overlay && from.plays(description))
}

/// Whether tenants must not reach what lies behind an interface of that description.
#[must_use]
pub fn barred_to_tenants(description: &str) -> bool {
    PATTERNS.iter().any(|(from, to)| *from == Zone::Transit && to.plays(description))
}

/// Whether `id` is one interface and no group, though it was not found: then it is none of those that were.
fn is_single(id: &str) -> bool {
    let numbered = id.strip_prefix("opt").is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    numbered || matches!(id, "lan" | "wan") || NO_SEGMENT.contains(&id)
}

fn plays(interface: &Interface, role: &str) -> bool {
    interface.description.as_deref().is_some_and(|d| role_of(d) == role_of(role))
}

impl<'a> Policy<'a> {
    pub(super) fn new(site: &'a Site, names: &'a Names<'a>) -> Self {
        let zones: BTreeSet<Zone> = PATTERNS.into_iter().flat_map(|(from, to)| [from, to]).collect();
        let mut policy = Self { site, names, own: names.own().unwrap_or_default(), places: BTreeMap::new() };
        policy.places = zones.into_iter().map(|zone| (zone, policy.place(zone))).collect();
        policy
    }

    fn place(&self, zone: Zone) -> Seen<Place> {
        let all = self.names.interfaces.as_ref().map_err(Clone::clone)?;
        let transit = self.site.opnsense.as_ref().map(|o| o.transit);
        let found: Vec<&&Interface> = match zone {
            Zone::Overlay => {
                return Ok(Place { ids: Vec::new(), nets: vec![self.site.numbering.overlay], behind: Vec::new() });
            }
            Zone::Transit => {
                all.iter().filter(|i| networks(i).any(|n| transit.is_some_and(|t| t.contains(&n)))).collect()
            }
            Zone::Segment(role) => all.iter().filter(|i| plays(i, role)).collect(),
        };
        if found.is_empty() {
            let why = match (zone, transit) {
                (Zone::Transit, Some(net)) => format!("no interface of the perimeter stands in {net}"),
                _ => format!("no interface of the perimeter is described as {}", zone.word()),
            };
            return Err(Gap::new(GapKind::Failed, why));
        }
        // What the exit node did not translate comes from the overlay itself.
        let more: Vec<Ipv4Net> = match zone {
            Zone::Transit => transit.into_iter().chain([self.site.numbering.overlay]).collect(),
            _ => Vec::new(),
        };
        let behind: Vec<Vec<Ipv4Net>> =
            found.iter().map(|i| networks(i).chain(more.iter().copied()).collect()).collect();
        let nets = found.iter().flat_map(|i| networks(i)).chain(more).collect();
        Ok(Place { ids: found.iter().filter_map(|i| i.id.clone()).collect(), nets, behind })
    }

    fn at(&self, zone: Zone) -> Seen<&Place> {
        match self.places.get(&zone) {
            Some(place) => place.as_ref().map_err(Clone::clone),
            None => Err(Gap::not_read("the interface list")),
        }
    }

    /// Ids of the interfaces on the transit network.
    pub(super) fn transit_ids(&self) -> &[String] {
        self.places.get(&Zone::Transit).and_then(|p| p.as_ref().ok()).map_or(&[], |p| &p.ids)
    }

    /// Which patterns `rule` breaks, `before` being the rules that are looked at first.
    pub(super) fn breach(&self, rule: &Rule, before: &[Rule]) -> Breach {
        let mut out = Breach::default();
        // A rule that was switched off or not yet loaded counts until it is neither saved nor in force.
        let stands = rule.enabled || rule.loaded == Some(true);
        let passes = stands && rule.action == Action::Pass && rule.direction != Direction::Out;
        if !passes || rule.kind == RuleKind::Automatic || rule.family == Some(Family::Inet6) {
            return out;
        }
        let (source, destination) = (self.names.cover(&rule.source), self.names.cover(&rule.destination));
        for (i, (from, to)) in PATTERNS.into_iter().enumerate() {
            let (Ok(from), Ok(to)) = (self.at(from), self.at(to)) else { continue };
            let said = (self.comes_from(rule, &source, from), self.leads_to(&destination, to));
            match said {
                (Ok(false), _) | (_, Ok(false)) => {}
                (Ok(true), Ok(true)) if self.stopped(rule, &destination, (from, to), before) => {}
                (Ok(true), Ok(true)) => drop(out.broken.insert(i)),
                (Err(gap), _) | (_, Err(gap)) => drop(out.unknown.insert(i, gap)),
            }
        }
        out
    }

    /// Whether packets of `place` can meet the rule: it stands on one of their interfaces and its source means what lies
    /// behind that one, or its source is theirs alone.
    fn comes_from(&self, rule: &Rule, source: &Cover, place: &Place) -> Seen<bool> {
        if place.nets.iter().any(|net| source.within(*net)) {
            return Ok(true);
        }
        let stands =
            |id: &String| rule.interfaces.is_empty() || rule.interfaces.contains(id) != rule.interfaces_negated;
        let on = place.ids.iter().zip(&place.behind).filter(|(id, _)| stands(id));
        let met = any(on.map(|(_, nets)| sends(source, nets)));
        if met != Ok(false) {
            return met;
        }
        let stranger = |i: &&String| self.names.interface(i).is_none() && !is_single(i);
        match rule.interfaces.iter().find(stranger) {
            Some(group) if !rule.interfaces_negated && sends(source, &place.nets) != Ok(false) => Err(Gap::new(
                GapKind::Failed,
                format!("which interfaces {} means was not read", crate::text::clean(group)),
            )),
            _ => Ok(false),
        }
    }

    fn leads_to(&self, destination: &Cover, place: &Place) -> Seen<bool> {
        if place.nets.is_empty() {
            return Err(Gap::new(GapKind::Failed, "its interface has no IPv4 network"));
        }
        any(place.nets.iter().map(|net| destination.reaches(*net, &self.own)))
    }

    /// Whether rules before stop what a broad one would let through, in what is saved and in what pf has. One that means
    /// the place itself must not exist, whatever stands before it.
    fn stopped(&self, pass: &Rule, destination: &Cover, route: (&Place, &Place), before: &[Rule]) -> bool {
        if route.1.nets.iter().any(|net| destination.within(*net)) {
            return false;
        }
        let saved = || before.iter().any(|rule| rule.enabled && self.stops(rule, route));
        let in_force = |rule: &Rule| rule.loaded.unwrap_or(rule.enabled);
        let live = || before.iter().any(|rule| in_force(rule) && self.stops(rule, route));
        (!pass.enabled || saved()) && (pass.loaded == Some(false) || live())
    }

    /// Whether nothing gets past `rule` on its way between the two.
    fn stops(&self, rule: &Rule, (from, to): (&Place, &Place)) -> bool {
        let blocks = rule.quick && matches!(rule.action, Action::Block | Action::Reject);
        let here = rule.interfaces.is_empty() || from.ids.iter().all(|id| rule.interfaces.contains(id));
        let whole = rule.protocol == "any" && rule.source.port.is_none() && rule.destination.port.is_none();
        if !blocks || !here || !whole || rule.interfaces_negated || rule.direction == Direction::Out {
            return false;
        }
        let family = rule.family != Some(Family::Inet6) && rule.kind != RuleKind::Automatic;
        let all = |cover: Cover, place: &Place| place.nets.iter().all(|net| cover.covers(*net));
        family && all(self.names.cover(&rule.source), from) && all(self.names.cover(&rule.destination), to)
    }

    /// The rules that keep the operators' own way in: anti-lockout, and the trusted segment's to management.
    pub(super) fn protects(&self, rule: &Rule) -> bool {
        if rule.action != Action::Pass || rule.direction == Direction::Out {
            return false;
        }
        if rule.kind == RuleKind::Automatic {
            return rule.description.to_ascii_lowercase().contains("anti-lockout");
        }
        let on = |role| rule.interfaces.iter().any(|i| self.names.interface(i).is_some_and(|i| plays(i, role)));
        let destination = self.names.cover(&rule.destination);
        let ways_in = ["22", "80", "443", "ssh", "http", "https"];
        let port = rule.destination.port.as_deref().unwrap_or_default().to_ascii_lowercase();
        if on("management") && destination.is_own(&self.own) && ways_in.contains(&port.as_str()) {
            return true;
        }
        let broad = destination.is_any() || destination.is_negated();
        let management = self.at(Zone::Segment("management")).map(|p| p.nets.clone()).unwrap_or_default();
        on("trusted") && !broad && management.iter().any(|net| destination.covers(*net))
    }

    /// Each pattern over all rules, and what is no rule: a route or an interface of a single tenant.
    pub(super) fn patterns(&self, breaches: &Seen<Vec<Breach>>, fw: &FwReading) -> Vec<Pattern> {
        let rules = PATTERNS.into_iter().enumerate().map(|(i, (from, to))| {
            let name = format!("{} → {}", from.word(), to.word());
            let found = || -> Seen<usize> {
                let breaches = breaches.as_ref().map_err(Clone::clone)?;
                let count = breaches.iter().filter(|b| b.broken.contains(&i)).count();
                if count > 0 {
                    return Ok(count);
                }
                self.at(from)?;
                self.leads_to(&Cover::unknown(Gap::not_read("a rule")), self.at(to)?).or_else(|gap| {
                    match gap.kind {
                        GapKind::NotRead => Ok(false),
                        _ => Err(gap),
                    }
                })?;
                breaches.iter().find_map(|b| b.unknown.get(&i)).map_or(Ok(0), |gap| Err(gap.clone()))
            };
            Pattern { found: found().map_err(|gap| gap.about(&name)), name: name.into() }
        });
        let own = Pattern { name: "a per-tenant route or interface".into(), found: self.per_tenant(fw) };
        rules.chain([own]).collect()
    }

    /// Static routes into a part of the overlay, and interfaces that stand in it.
    fn per_tenant(&self, fw: &FwReading) -> Seen<usize> {
        let overlay = self.site.numbering.overlay;
        let part = |net: Ipv4Net| overlay.contains(&net) && net != overlay;
        let interfaces = self.names.interfaces.as_ref().map_err(Clone::clone)?;
        let standing = interfaces.iter().filter(|i| networks(i).any(|n| overlay.contains(&n))).count();
        let routes = fw.routes.as_ref().map_err(Clone::clone)?;
        let routed = routes.iter().filter(|r| matches!(r.network, ipnet::IpNet::V4(net) if part(net.trunc()))).count();
        Ok(standing + routed)
    }
}

/// Whether a source means some of what lies behind an interface.
fn sends(source: &Cover, nets: &[Ipv4Net]) -> Seen<bool> {
    match nets {
        [] if source.is_any() => Ok(true),
        [] => Err(Gap::new(GapKind::Failed, "its interface has no IPv4 network")),
        nets => any(nets.iter().map(|net| source.meets(*net))),
    }
}

/// Whether one is true; unknown where none is and one is unknown.
pub(super) fn any(all: impl Iterator<Item = Seen<bool>>) -> Seen<bool> {
    let mut gap = None;
    for one in all {
        match one {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(why) => drop(gap.get_or_insert(why)),
        }
    }
    gap.map_or(Ok(false), Err)
}

impl Breach {
    /// Why the rule must not exist, if so; unknown where a pattern is and none is broken.
    pub(super) fn verdict(&self) -> Seen<Option<String>> {
        match (self.words(), self.unknown.values().next()) {
            (None, Some(gap)) => Err(gap.clone()),
            (words, _) => Ok(words),
        }
    }

    /// What is broken, in words: `iot, guest may reach the tenant overlay`.
    fn words(&self) -> Option<String> {
        let target = |zone: Zone| if zone == Zone::Overlay { "the tenant overlay" } else { zone.word() };
        let mut by_target: Vec<(&str, Vec<&str>)> = Vec::new();
        for (from, to) in self.broken.iter().filter_map(|i| PATTERNS.get(*i)) {
            match by_target.iter_mut().find(|(to_word, _)| *to_word == target(*to)) {
                Some((_, froms)) => froms.push(from.word()),
                None => by_target.push((target(*to), vec![from.word()])),
            }
        }
        // The same senders to several targets are said once.
        let mut by_froms: Vec<(String, Vec<&str>)> = Vec::new();
        for (to, froms) in by_target {
            let froms = froms.join(", ");
            match by_froms.iter_mut().find(|(same, _)| *same == froms) {
                Some((_, targets)) => targets.push(to),
                None => by_froms.push((froms, vec![to])),
            }
        }
        let part = |(froms, targets): &(String, Vec<&str>)| format!("{froms} may reach {}", targets.join(", "));
        let parts: Vec<String> = by_froms.iter().map(part).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
