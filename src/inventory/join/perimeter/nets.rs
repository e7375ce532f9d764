//! Which IPv4 networks a side of a rule means: interface networks, addresses and aliases resolved, negation kept apart.
//!
//! The overlay and the transit network are IPv4, so IPv6 members mean nothing here.

use std::net::Ipv4Addr;

use ipnet::{IpNet, Ipv4Net, Ipv4Subnets};

use super::super::super::source::{Gap, GapKind, Seen};
use crate::backends::opnsense::model::{Alias, Aliases, Interface, Side};
use crate::inventory::FwReading;
use crate::text::clean;

/// Aliases within aliases are followed so far.
const DEPTH: usize = 8;

/// What names in rules stand for.
pub(super) struct Names<'a> {
    /// Interfaces with an id. A discovery that found none is broken, not empty (domain.md §9, T18).
    pub(super) interfaces: Seen<Vec<&'a Interface>>,
    aliases: Seen<&'a Aliases>,
}

/// What one side of a rule covers.
#[derive(Debug, Clone, Default)]
pub(super) struct Cover {
    any: bool,
    negated: bool,
    nets: Vec<Ipv4Net>,
    /// Left out of `nets` by `!` members of aliases; the more specific of the two wins, as in a table of pf.
    except: Vec<Ipv4Net>,
    /// Addresses of the perimeter itself.
    own: Vec<Ipv4Addr>,
    /// Why a member could not be resolved.
    unknown: Option<Gap>,
}

/// The IPv4 networks of an interface.
pub(super) fn networks(interface: &Interface) -> impl Iterator<Item = Ipv4Net> + '_ {
    addresses(interface).map(|net| net.trunc())
}

fn addresses(interface: &Interface) -> impl Iterator<Item = Ipv4Net> + '_ {
    interface.addresses.iter().filter_map(|net| match net {
        IpNet::V4(net) => Some(*net),
        IpNet::V6(_) => None,
    })
}

fn overlaps(a: &Ipv4Net, b: &Ipv4Net) -> bool {
    a.contains(b) || b.contains(a)
}

impl<'a> Names<'a> {
    pub(super) fn new(fw: &'a FwReading) -> Self {
        let interfaces = match &fw.interfaces {
            Err(gap) => Err(gap.clone()),
            Ok(all) => {
                let named: Vec<&Interface> = all.iter().filter(|i| i.id.is_some()).collect();
                if named.is_empty() {
                    Err(Gap::new(
                        GapKind::Failed,
                        "the interface list of the perimeter came back without any interface",
                    ))
                } else {
                    Ok(named)
                }
            }
        };
        Self { interfaces, aliases: fw.aliases.as_ref().map(AsRef::as_ref).map_err(Clone::clone) }
    }

    /// The interface of that id.
    pub(super) fn interface(&self, id: &str) -> Option<&'a Interface> {
        let all = self.interfaces.as_ref().ok()?;
        all.iter().find(|i| i.id.as_deref() == Some(id)).copied()
    }

    /// What people call the interface `id`.
    pub(super) fn label(&self, id: &str) -> String {
        let described = self.interface(id).and_then(|i| i.description.as_deref()).filter(|d| !d.trim().is_empty());
        clean(described.unwrap_or(id)).into_owned()
    }

    /// Every address of the perimeter itself.
    pub(super) fn own(&self) -> Seen<Vec<Ipv4Addr>> {
        let all = self.interfaces.as_ref().map_err(Clone::clone)?;
        Ok(all.iter().flat_map(|i| addresses(i).map(|net| net.addr())).collect())
    }

    fn alias(&self, name: &str) -> Option<&'a Alias> {
        self.aliases.as_ref().ok()?.aliases.iter().find(|a| a.name == name)
    }

    /// What `side` covers.
    pub(super) fn cover(&self, side: &Side) -> Cover {
        let mut cover = Cover { any: side.is_any(), negated: side.negated, ..Cover::default() };
        for net in &side.nets {
            self.add(&mut cover, net, 0);
        }
        cover
    }

    fn add(&self, cover: &mut Cover, token: &str, depth: usize) {
        if let Some(nets) = literal(token) {
            cover.nets.extend(nets);
            return;
        }
        if token == "(self)" {
            match self.own() {
                Ok(own) => cover.own.extend(own),
                Err(gap) => cover.note(gap),
            }
            return;
        }
        let network_of = token.strip_prefix("__").and_then(|t| t.strip_suffix("_network")).unwrap_or(token);
        if let Some(interface) = self.interface(network_of) {
            cover.nets.extend(networks(interface));
        } else if let Some(interface) = token.strip_suffix("ip").and_then(|id| self.interface(id)) {
            cover.own.extend(addresses(interface).map(|net| net.addr()));
        } else if let Some(alias) = self.alias(token) {
            self.add_alias(cover, alias, depth);
        } else {
            let missing = self.aliases.as_ref().err().or(self.interfaces.as_ref().err()).cloned();
            let why = || format!("{} is neither an interface nor an alias that was read", clean(token));
            cover.note(missing.unwrap_or_else(|| Gap::new(GapKind::Failed, why())));
        }
    }

    fn add_alias(&self, cover: &mut Cover, alias: &Alias, depth: usize) {
        let unknown = |why: &str| Gap::new(GapKind::Failed, format!("alias {}: {why}", clean(&alias.name)));
        if !alias.enabled {
            return cover.note(unknown("it is switched off"));
        }
        if depth >= DEPTH {
            return cover.note(unknown("it is nested too deeply"));
        }
        if !matches!(alias.kind.as_str(), "host" | "network" | "networkgroup") {
            return cover.note(unknown("its members are only in the perimeter's tables"));
        }
        for member in &alias.content {
            match member.strip_prefix('!') {
                Some(left_out) => match literal(left_out) {
                    Some(nets) => cover.except.extend(nets),
                    None => cover.note(unknown("it leaves out what has no address here")),
                },
                None if literal(member).is_some() || self.alias(member).is_some() => self.add(cover, member, depth + 1),
                None => cover.note(unknown("it has members that are names")),
            }
        }
    }
}

/// A prefix, an address or a range as networks; none of IPv6. `None` = something else.
fn literal(token: &str) -> Option<Vec<Ipv4Net>> {
    if let Ok(net) = token.parse::<IpNet>() {
        return Some(match net {
            IpNet::V4(net) => vec![net.trunc()],
            IpNet::V6(_) => Vec::new(),
        });
    }
    if let Ok(address) = token.parse::<std::net::IpAddr>() {
        return Some(match address {
            std::net::IpAddr::V4(address) => vec![Ipv4Net::from(address)],
            std::net::IpAddr::V6(_) => Vec::new(),
        });
    }
    let (first, last) = token.split_once('-')?;
    let (first, last) = (first.trim().parse::<Ipv4Addr>().ok()?, last.trim().parse::<Ipv4Addr>().ok()?);
    (first <= last).then(|| Ipv4Subnets::new(first, last, 0).collect())
}

impl Cover {
    /// These networks, and the perimeter's own addresses none of them.
    pub(super) fn of(nets: Vec<Ipv4Net>) -> Self {
        Self { nets, ..Self::default() }
    }

    /// Nothing that could be said of it.
    pub(super) fn unknown(gap: Gap) -> Self {
        Self { unknown: Some(gap), ..Self::default() }
    }

    fn note(&mut self, gap: Gap) {
        self.unknown.get_or_insert(gap);
    }

    /// Every address.
    pub(super) const fn is_any(&self) -> bool {
        self.any
    }

    /// Everything but what is named.
    pub(super) const fn is_negated(&self) -> bool {
        self.negated
    }

    /// Whether some address of `target` is covered.
    pub(super) fn meets(&self, target: Ipv4Net) -> Seen<bool> {
        self.judge(target, true)
    }

    /// The same without the perimeter's own addresses: the perimeter is no host of the segments it stands in.
    pub(super) fn reaches(&self, target: Ipv4Net, own: &[Ipv4Addr]) -> Seen<bool> {
        let mut hosts = self.clone();
        if !hosts.negated {
            hosts.nets.retain(|n| n.prefix_len() < 32 || !own.contains(&n.addr()));
        }
        hosts.judge(target, false)
    }

    fn judge(&self, target: Ipv4Net, own: bool) -> Seen<bool> {
        if self.any {
            return Ok(true);
        }
        let met = if self.negated { self.leaves(target) } else { self.holds(target, own) };
        match (&self.unknown, met) {
            // What is unknown adds to what is named: it can only bring more in, or keep more out.
            (Some(gap), met) if met == self.negated => Err(gap.clone()),
            (_, met) => Ok(met),
        }
    }

    /// Whether what is named meets `target`.
    fn holds(&self, target: Ipv4Net, own: bool) -> bool {
        let met = |n: &&Ipv4Net| {
            let shared = if n.contains(&target) { target } else { **n };
            overlaps(n, &target) && !self.left_out_of(n).iter().any(|x| x.contains(&shared))
        };
        self.nets.iter().any(|n| met(&n)) || own && self.own.iter().any(|a| target.contains(a))
    }

    /// Whether what is named leaves something of `target` out.
    fn leaves(&self, target: Ipv4Net) -> bool {
        let named = Ipv4Net::aggregate(&self.nets);
        let whole = named.iter().any(|n| n.contains(&target));
        let holed = || self.nets.iter().flat_map(|n| self.left_out_of(n)).any(|x| overlaps(&x, &target));
        !whole || holed()
    }

    /// What is left out of one of the networks: only the more specific wins against it.
    fn left_out_of(&self, net: &Ipv4Net) -> Vec<Ipv4Net> {
        let inside: Vec<Ipv4Net> = self.except.iter().filter(|x| net.contains(*x) && *x != net).copied().collect();
        Ipv4Net::aggregate(&inside)
    }

    /// Whether all of `target` is certainly covered.
    pub(super) fn covers(&self, target: Ipv4Net) -> bool {
        if self.any {
            return true;
        }
        if self.unknown.is_some() || !self.except.is_empty() {
            return false;
        }
        match self.negated {
            true => !self.nets.iter().any(|n| overlaps(n, &target)),
            false => Ipv4Net::aggregate(&self.nets).iter().any(|n| n.contains(&target)),
        }
    }

    /// Whether it names networks and each lies in `target`.
    pub(super) fn within(&self, target: Ipv4Net) -> bool {
        !self.any && !self.negated && !self.nets.is_empty() && self.nets.iter().all(|n| target.contains(n))
    }

    /// Whether it names addresses of the perimeter and nothing else.
    pub(super) fn is_own(&self, own: &[Ipv4Addr]) -> bool {
        let plain = |n: &Ipv4Net| n.prefix_len() == 32 && own.contains(&n.addr());
        let named = !self.own.is_empty() || !self.nets.is_empty();
        !self.any && !self.negated && self.unknown.is_none() && named && self.nets.iter().all(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> Ipv4Net {
        text.parse().expect("a prefix")
    }

    fn cover(negated: bool, nets: &[&str], except: &[&str]) -> Cover {
        let all = |list: &[&str]| list.iter().map(|n| net(n)).collect();
        Cover { negated, nets: all(nets), except: all(except), ..Cover::default() }
    }

    #[test]
    fn a_negation_meets_what_it_leaves() {
        let overlay = net("10.20.128.0/18");
        for (negated, nets, except, expected) in [
            (false, &["10.20.129.0/24"][..], &[][..], true),
            (false, &["10.20.0.0/17"], &[], false),
            (false, &["10.0.0.0/8"], &["10.20.128.0/18"], false),
            (false, &["10.0.0.0/8"], &["10.20.128.0/19", "10.20.160.0/19"], false),
            (false, &["10.0.0.0/8"], &["10.20.128.0/19"], true),
            (false, &["10.0.0.0/8", "10.20.129.0/24"], &["10.20.128.0/18"], true),
            (true, &["10.0.0.0/8"], &[], false),
            (true, &["10.20.128.0/19", "10.20.160.0/19"], &[], false),
            (true, &["10.20.128.0/19"], &[], true),
            (true, &["10.0.0.0/8"], &["10.20.130.0/24"], true),
            (true, &["192.168.0.0/16"], &[], true),
        ] {
            assert_eq!(cover(negated, nets, except).meets(overlay), Ok(expected), "{negated} {nets:?} {except:?}");
        }
    }

    #[test]
    fn what_is_unknown_decides_nothing_that_is_decided_already() {
        let overlay = net("10.20.128.0/18");
        let unknown = |negated, nets: &[&str]| {
            let gap = Some(Gap::new(GapKind::Failed, "names"));
            Cover { unknown: gap, ..cover(negated, nets, &[]) }.meets(overlay).ok()
        };
        assert_eq!(unknown(false, &["10.20.129.0/24"]), Some(true));
        assert_eq!(unknown(false, &["10.20.0.0/17"]), None, "a name may be a tenant's");
        assert_eq!(unknown(true, &["10.0.0.0/8"]), Some(false));
        assert_eq!(unknown(true, &["10.20.0.0/17"]), None, "a name may be all of it");
    }

    #[test]
    fn addresses_ranges_and_networks_are_read() {
        assert_eq!(literal("10.20.130.9"), Some(vec![net("10.20.130.9/32")]));
        assert_eq!(literal("10.20.130.9/24"), Some(vec![net("10.20.130.0/24")]), "host bits are kept by OPNsense");
        assert_eq!(literal("10.0.0.0-10.0.0.3"), Some(vec![net("10.0.0.0/30")]));
        assert_eq!(literal("fe80::/10"), Some(Vec::new()));
        assert_eq!(literal("www.example.net"), None);
        assert_eq!(literal("net-a"), None);
    }
}
