//! The one static route back to the tenants: to the whole overlay, by an exit node's address on transit.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};

use super::super::super::Class;
use super::super::super::entities::Mark;
use super::super::super::source::{Gap, GapKind, Seen};
use super::super::Cx;
use crate::backends::opnsense::model::StaticRoute;
use crate::inventory::FwReading;
use crate::text::clean;

/// Whether there is exactly one, enabled, by the right gateway, and in force.
pub(super) fn aggregate(cx: &Cx<'_>, fw: &FwReading) -> Seen<Mark> {
    let overlay = cx.site.numbering.overlay;
    let all = fw.routes.as_ref().map_err(Clone::clone)?;
    let is_it = |r: &&StaticRoute| matches!(r.network, IpNet::V4(net) if net.trunc() == overlay);
    let routes: Vec<&StaticRoute> = all.iter().filter(is_it).collect();
    let wrong = |word: String| Ok(Mark::new(Class::Fault, word));
    let enabled: Vec<&&StaticRoute> = routes.iter().filter(|r| r.enabled).collect();
    let route = match enabled.as_slice() {
        [] if routes.is_empty() => return wrong(format!("no static route to {overlay}")),
        [] => return wrong(format!("the static route to {overlay} is disabled")),
        [one] => one,
        several => return wrong(format!("{} static routes to {overlay}", several.len())),
    };
    let gateways = fw.gateways.as_ref().map_err(Clone::clone)?;
    let name = clean(&route.gateway);
    let Some(gateway) = gateways.iter().find(|g| g.name == route.gateway) else {
        return wrong(format!("the route to {overlay} leads to {name}, which is no gateway"));
    };
    let Some(IpAddr::V4(address)) = gateway.address else {
        return Err(Gap::new(GapKind::Failed, format!("the address of gateway {name} is not known")));
    };
    if !cx.site.exit_nodes.iter().any(|e| e.transit_address == address) {
        return wrong(format!("the route to {overlay} leads to {name} {address}, which is no exit node"));
    }
    if !gateway.enabled {
        return wrong(format!("gateway {name} of the route to {overlay} is disabled"));
    }
    match in_force(fw, overlay, address)? {
        true => Ok(Mark::new(Class::Fine, format!("via {name} {address}"))),
        false => wrong(format!("the route to {overlay} via {address} is configured and not in force")),
    }
}

fn in_force(fw: &FwReading, overlay: Ipv4Net, gateway: std::net::Ipv4Addr) -> Seen<bool> {
    let kernel = fw.kernel_routes.as_ref().map_err(Clone::clone)?;
    let to = |text: &str| text.parse::<Ipv4Net>().is_ok_and(|net| net == overlay);
    Ok(kernel.iter().any(|r| to(&r.destination) && r.gateway == gateway.to_string()))
}
