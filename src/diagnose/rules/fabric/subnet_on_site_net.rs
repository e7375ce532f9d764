//! A tenant's subnet is one of the site's own networks.

use ipnet::IpNet;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::routing::Interface;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "subnet-on-site-net",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A tenant's subnet overlaps a network of the site itself: the transit network, a segment of the perimeter, or the loopbacks \
           of the fabric. Inside the VRF the connected subnet wins, so that part of the site is out of the tenant's reach; \
           at the perimeter the segment wins, and no answer comes back.",
    reads: "subnets, the site file, fabrics, interfaces of the perimeter",
    unlike: &[("subnet-overlap", "the other network is a tenant's")],
    explains: &["route-per-tenant"],
    judge,
};

/// A network of the site: what it is, the network, the file that tells.
struct Own {
    what: String,
    /// Name of the segment, where it is one of the perimeter.
    segment: Option<String>,
    net: IpNet,
    file: String,
}

fn own(facts: &Facts) -> Vec<Own> {
    let mut all = Vec::new();
    if let Some(site) = &facts.site {
        let transit = site.value.opnsense.as_ref().map(|router| IpNet::from(router.transit));
        let addresses = site.value.exit_nodes.iter().flat_map(|exit| [exit.transit_address, exit.transit_gateway]);
        let nets = transit.into_iter().chain(addresses.map(|address| IpNet::from(std::net::IpAddr::V4(address))));
        all.extend(nets.map(|net| Own {
            what: "the transit network".to_owned(),
            segment: None,
            net,
            file: site.file.to_string(),
        }));
    }
    if let Some(fabrics) = facts.sdn.fabrics_in_force() {
        let prefixes =
            fabrics.fabrics.iter().filter_map(|f| Some((format!("the loopbacks of fabric {}", f.id), f.prefix?)));
        all.extend(prefixes.map(|(what, net)| Own { what, segment: None, net, file: fabrics.file.to_string() }));
    }
    if let Some(interfaces) = &facts.perimeter.interfaces {
        let segment = |i: &Interface| {
            Some(Own {
                what: format!("segment {} of the perimeter", i.description),
                segment: Some(i.description.clone()),
                net: i.net?.trunc(),
                file: interfaces.file.to_string(),
            })
        };
        all.extend(interfaces.iter().filter_map(segment));
    }
    all
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let own = own(facts);
    for (list, subnet) in facts.sdn.subnets_in_force() {
        let (shown, net) = (subnet.cidr.to_string(), subnet.cidr.trunc());
        let meets = |one: &&Own| one.net.prefix_len() > 0 && (net.contains(&one.net) || one.net.contains(&net));
        let Some(first) = own.iter().find(meets) else { continue };
        let title = format!("{shown} of zone {} overlaps {}, {}.", subnet.zone, first.what, first.net);
        let segments = own.iter().filter(meets).filter_map(|one| one.segment.as_ref());
        let finding =
            out.finding(Subject::new("subnet", &shown), title).affects([&subnet.zone]).affects(segments).from(list);
        let with = |finding: Finding, one: &Own| finding.fact("site.network", &one.what, one.net).resting_on(&one.file);
        let finding = own.iter().filter(meets).fold(finding, with);
        out.found(finding.next("choose-free-prefix", 3, "give the tenant the subnet of its index"));
    }
}
