//! Large packets vanish beyond the transit interface; or the interface itself is smaller than what is behind it.

use super::super::exits::{Exit, exits};
use super::super::{Out, Rule};
use crate::diagnose::facts::node::Ping;
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity};
use crate::site::model::ExitNodeSite;

/// The rule.
pub static RULE: Rule = Rule {
    id: "transit-mtu",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "Small packets pass, large ones that may not be fragmented vanish without a word: something beyond the transit \
           interface has a smaller MTU and says nothing. Connections open and then stall. An interface of the node that is \
           itself smaller than the VNet is only noted, since then senders are told.",
    reads: "probes of two sizes from the transit address, MTUs of the transit interface and the VNets",
    unlike: &[
        ("mtu-ruled-out", "even the smallest packet is lost"),
        ("firewall-bridge-mtu", "the guest's own bridge is smaller"),
    ],
    explains: &[],
    judge,
};

fn whole<'e>(exit: &'e Exit<'_>, site: &ExitNodeSite) -> Vec<&'e Sourced<Ping>> {
    let from = site.transit_address.to_string();
    let ours =
        |p: &&Sourced<Ping>| p.vrf.is_none() && p.whole && p.sent > 0 && p.source.as_deref() == Some(from.as_str());
    exit.node.pings.iter().filter(ours).collect()
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(site) = exit.site else { continue };
        let limit = exit.node.link(&site.transit_interface).and_then(|link| link.mtu);
        let probes = whole(&exit, site);
        let fits = |p: &&&Sourced<Ping>| limit.is_none_or(|limit| p.size <= limit);
        let lost = probes.iter().filter(|p| p.received == 0 && !p.too_large).filter(fits).min_by_key(|p| p.size);
        // Of the same destination: another one's packets took another path.
        let same = |p: &&&Sourced<Ping>| lost.is_none_or(|lost| lost.dst == p.dst);
        let passes = probes.iter().filter(|p| p.received > 0).filter(same).max_by_key(|p| p.size);
        match (passes, lost) {
            (Some(passes), Some(lost)) if lost.size > passes.size => {
                let title = format!(
                    "Beyond {} packets of {} bytes pass and of {} vanish silently.",
                    exit.name, passes.size, lost.size
                );
                let finding = out
                    .finding(exit.subject(), title)
                    .fact("probe.passes", exit.at(passes.dst), format!("{} bytes", passes.size))
                    .fact("probe.lost", exit.at(lost.dst), format!("{} bytes, without an error", lost.size))
                    .affects(exit.zones())
                    .from(passes)
                    .from(lost)
                    .next("find-small-hop", 0, "find the hop with the smaller MTU, from the perimeter outwards")
                    .next("clamp-mss", 2, "until then, clamp the MSS at the perimeter");
                out.found(finding);
            }
            (Some(_), None) => out.pass(exit.subject()),
            (None, None) if exit.node.why_not_sent().is_none() => {}
            (None, lost) => {
                let small = lost.map(|lost| format!("not even {} bytes to {} are answered", lost.size, lost.dst));
                let why = small.or_else(|| exit.node.why_not_sent());
                out.unknown(format!("what becomes of large packets beyond {}", exit.name), why);
            }
            // Some of the small ones were lost as well: size is not what decides.
            (Some(_), Some(_)) => {}
        }
        note(&exit, site, limit, out);
    }
}

/// The local interface is smaller than a VNet. Senders are told, so that it works.
fn note(exit: &Exit<'_>, site: &ExitNodeSite, limit: Option<u32>, out: &mut Out<'_>) {
    let vnets = exit.tenants.iter().flat_map(|t| &t.subnets).filter_map(|(s, _)| exit.node.link(&s.vnet)?.mtu);
    let (Some(limit), Some(largest), Some(links)) = (limit, vnets.max(), &exit.node.links) else { return };
    if limit >= largest {
        return;
    }
    let title =
        format!("{} of {} has an MTU of {limit}, the VNets up to {largest}.", site.transit_interface, exit.name);
    let mut finding = out
        .finding(exit.subject(), title)
        .fact("link.mtu", exit.at(&site.transit_interface), limit)
        .from(links)
        .next("raise-transit-mtu", 2, "raise the MTU of the transit interface, where the segment allows it")
        .not_tested("whether guests hear of it: a firewall that drops ICMP makes it a fault");
    finding.severity = Severity::Info;
    out.found(finding);
}
