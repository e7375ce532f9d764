//! Exit nodes as rules look at them: the node, the tenants whose traffic leaves through it, what the site expects.
//!
//! What is expected comes from evidence alone: zones and subnets say whose exit it is, `site.toml` says how it is built.

use std::net::Ipv4Addr;

use ipnet::{IpNet, Ipv4Net};

use super::Out;
use crate::backends::exit_node::model::{Route, SnatRule};
use crate::diagnose::facts::node::{Asked, MAIN, Node};
use crate::diagnose::facts::sdn::Subnet;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Finding, Subject};
use crate::site::model::ExitNodeSite;

/// A zone whose traffic leaves through an exit node.
pub struct Tenant<'a> {
    /// Zone.
    pub zone: &'a str,
    /// Device of its VRF: Proxmox names it after the zone (`facts/proxmox.md` §8).
    pub vrf: String,
    /// Its IPv4 subnets, as far as they were read.
    pub subnets: Vec<(&'a Subnet, Ipv4Net)>,
}

impl Tenant<'_> {
    /// Its VRF and its VNets, as the node would have them.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.vrf.as_str()).chain(self.subnets.iter().map(|(subnet, _)| subnet.vnet.as_str()))
    }

    /// Whether a device is the VRF or one of its VNets.
    pub fn has_device(&self, dev: &str) -> bool {
        self.vrf == dev || self.subnets.iter().any(|(subnet, _)| subnet.vnet == dev)
    }

    /// Whether `ip` is in one of its subnets.
    pub fn has(&self, ip: Ipv4Addr) -> bool {
        self.subnets.iter().any(|(_, net)| net.contains(&ip))
    }
}

/// An exit node.
pub struct Exit<'a> {
    /// Name.
    pub name: &'a str,
    /// What was read of it.
    pub node: &'a Node,
    /// What the site file says of it.
    pub site: Option<&'a ExitNodeSite>,
    /// Whose exit it is, in the order of zones.
    pub tenants: Vec<Tenant<'a>>,
}

/// Exit nodes of which something was read.
pub fn exits(facts: &Facts) -> Vec<Exit<'_>> {
    let exit = |(name, node)| {
        let tenants = tenants(facts, name);
        let site = facts.site.as_ref().and_then(|site| site.value.exit_nodes.iter().find(|exit| exit.name == name));
        (!tenants.is_empty()).then_some(Exit { name, node, site, tenants })
    };
    facts.nodes.iter().filter_map(exit).collect()
}

fn tenants<'a>(facts: &'a Facts, node: &str) -> Vec<Tenant<'a>> {
    let zones = facts.sdn.zones_in_force().map_or(&[][..], |zones| zones.value.as_slice());
    let mine = zones.iter().filter(|zone| zone.kind == "evpn" && zone.exit_nodes.iter().any(|exit| exit == node));
    mine.map(|zone| Tenant { zone: &zone.zone, vrf: format!("vrf_{}", zone.zone), subnets: subnets(facts, &zone.zone) })
        .collect()
}

/// IPv4 subnets of a zone, as far as they were read.
pub fn subnets<'a>(facts: &'a Facts, zone: &str) -> Vec<(&'a Subnet, Ipv4Net)> {
    let v4 = |subnet: &'a Subnet| match subnet.cidr {
        IpNet::V4(net) => Some((subnet, net)),
        IpNet::V6(_) => None,
    };
    facts.sdn.subnets_in_force().filter(|(_, s)| s.zone == zone).filter_map(|(_, s)| v4(s)).collect()
}

impl<'a> Exit<'a> {
    /// The node as a subject.
    pub fn subject(&self) -> Subject {
        Subject::new("node", self.name)
    }

    /// Names of all its zones.
    pub fn zones(&self) -> impl Iterator<Item = &'a str> {
        self.tenants.iter().map(|tenant| tenant.zone)
    }

    /// Interface on the transit segment: the site's, else the one by which all translation rules of the tenants leave.
    pub fn transit(&self) -> Option<&str> {
        if let Some(site) = self.site {
            return Some(&site.transit_interface);
        }
        let of_tenants = |rule: &&SnatRule| self.tenants.iter().any(|t| t.subnets.iter().any(|(_, n)| covers(rule, n)));
        let mut out = self.node.snat_rules()?.filter(of_tenants).map(|rule| rule.out_interface.as_deref());
        let first = out.next()??;
        out.all(|other| other == Some(first)).then_some(first)
    }

    /// Devices of `tenant` that the node lacks; none where its links were not all read.
    pub fn missing_devices<'t>(&self, tenant: &'t Tenant<'_>) -> Vec<&'t str> {
        let lacks = |device: &&str| self.node.links_whole && self.node.link(device).is_none();
        let mut missing: Vec<&str> = tenant.devices().filter(lacks).collect();
        missing.dedup();
        missing
    }

    /// Whether the node has made a VRF and VNets of `tenant`'s zone; `None` where its links were not all read. Where it
    /// has not, every other thing it lacks of that zone is a consequence.
    pub fn realised(&self, tenant: &Tenant<'_>) -> Option<bool> {
        self.node.links_whole.then(|| self.missing_devices(tenant).is_empty())
    }

    /// Main's default; `None` where the table was not read.
    pub fn main_default(&self) -> Option<Option<&Route>> {
        self.node.default_of(MAIN)
    }

    /// Whether main's default leaves by the transit interface; `None` where that cannot be said.
    pub fn main_by_transit(&self) -> Option<bool> {
        let transit = self.transit()?;
        Some(self.main_default()?.is_some_and(|route| route.dev.as_deref() == Some(transit)))
    }

    /// The lookup of a packet of `tenant` to a destination outside all tenants, the last one asked.
    pub fn outward(&self, tenant: &Tenant<'_>) -> impl Iterator<Item = &Sourced<Asked>> {
        let inside = move |ip: Ipv4Addr| self.tenants.iter().any(|tenant| tenant.has(ip));
        let from = move |asked: &Asked| {
            asked.from.is_some_and(|from| tenant.has(from))
                && asked.iif.as_deref().is_some_and(|iif| tenant.has_device(iif))
                && !inside(asked.dst)
        };
        self.node.lookups.iter().filter(move |asked| from(asked))
    }

    /// Says that something could not be judged for want of `what`.
    pub fn unknown(&self, out: &mut Out<'_>, what: &str, command: &str) {
        let why = self.node.unreachable.as_ref().map(|why| why.value.clone()).or_else(|| self.node.why_unread(command));
        out.unknown(format!("{what} of {}", self.name), why);
    }

    /// The same of what is missing of `tenant` alone.
    pub fn unknown_of(&self, tenant: &Tenant<'_>, out: &mut Out<'_>, what: &str, command: &str) {
        self.unknown(&mut out.about([Subject::new("zone", tenant.zone)]), what, command);
    }

    /// Reports `hits`: one finding of the node where every tenant has it (and there are several), else one a zone. Tenants
    /// whose zone the node has not realised are told apart from the others: theirs has another cause. `make` gets the subject, whom to name, and the tenants.
    pub fn spread<'t>(
        &self,
        out: &mut Out<'_>,
        hits: &[&'t Tenant<'a>],
        mut make: impl FnMut(&mut Out<'_>, Subject, &str, &[&'t Tenant<'a>]) -> Finding,
    ) {
        let gone = |tenant: &&'t Tenant<'a>| self.realised(tenant) == Some(false);
        let (absent, present): (Vec<_>, Vec<_>) = hits.iter().copied().partition(gone);
        let there = self.tenants.iter().filter(|tenant| self.realised(tenant) != Some(false)).count();
        let everyone = present.len() > 1 && present.len() == there;
        let together = if everyone {
            present.as_slice()
        } else if present.is_empty() && absent.len() > 1 {
            absent.as_slice()
        } else {
            &[]
        };
        if !together.is_empty() {
            let which = if together.len() == self.tenants.len() { "all " } else { "" };
            let who = format!("{which}{} tenants of {}", together.len(), self.name);
            let finding = make(out, self.subject(), &who, together).affects(together.iter().map(|tenant| tenant.zone));
            out.found(finding);
        }
        for tenant in hits.iter().filter(|hit| !together.iter().any(|t| t.zone == hit.zone)) {
            let who = format!("tenant {}", tenant.zone);
            let finding = make(out, Subject::new("zone", tenant.zone), &who, &[tenant]).affects([tenant.zone]);
            out.found(finding);
        }
    }

    /// Name of a tenant's part on this node, for facts.
    pub fn at(&self, what: impl std::fmt::Display) -> String {
        format!("{}/{what}", self.name)
    }
}

/// The one tenant that is in every one of several `pairs`: the one that differs from the others.
pub fn in_all<'z>(pairs: &[(&'z str, &'z str)]) -> Option<&'z str> {
    let (a, b) = *pairs.first()?;
    let mut common = [a, b].into_iter().filter(|who| pairs.iter().all(|(a, b)| a == who || b == who));
    match (common.next(), common.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    }
}

/// Whether `rule` speaks for all traffic of `net`.
pub fn covers(rule: &SnatRule, net: &Ipv4Net) -> bool {
    rule.source.is_none_or(|source| source.contains(net)) && !rule.is_narrowed()
}

/// What a rule does, for facts.
pub fn words(rule: &SnatRule) -> String {
    let to = rule.to_source.map_or_else(|| "the interface's address".to_owned(), |to| to.to_string());
    match &rule.out_interface {
        Some(out) => format!("to {to} by {out}"),
        None => format!("to {to}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tenant_in_all_pairs_is_the_one_that_differs() {
        assert_eq!(in_all(&[("a", "b"), ("c", "a"), ("a", "d")]), Some("a"));
        assert_eq!(in_all(&[("a", "b"), ("b", "a")]), None, "two of them");
        assert_eq!(in_all(&[("a", "b"), ("c", "d")]), None);
        assert_eq!(in_all(&[]), None);
    }
}
