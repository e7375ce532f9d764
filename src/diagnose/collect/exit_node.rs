//! Exit nodes: two readings with the lookups that decide most faults, probes between them.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use futures_util::future::join_all;
use ipnet::Ipv4Net;

use super::{Check, Fabric, Leg, Sink, Wanted, between, bridge, names};
use crate::backends::exit_node::Client;
use crate::backends::exit_node::error::Error;
use crate::backends::exit_node::frame::Code;
use crate::backends::exit_node::helper::{LookupRequest, MAX_LOOKUPS};
use crate::backends::exit_node::model::{Reading, Route, RouteKind};
use crate::backends::exit_node::{MAX_QUESTIONS, PathProbe, Ran, What};
use crate::diagnose::evidence::Kind;
use crate::diagnose::parts::Part;
use crate::inventory::feed::Clients;
use crate::site::Site;
use crate::site::model::ExitNodeSite;

/// Between two samples of counters, where no probe takes its time anyway.
const BETWEEN: Duration = Duration::from_secs(1);
/// An address that only a default route leads to (RFC 5737). It is looked up, never sent to.
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);
/// Where the platform looks for its way out when it writes translation rules (`facts/exit-node.md` §1). Looked up only.
const REWRITE: Ipv4Addr = Ipv4Addr::new(8, 8, 8, 8);
/// Bytes of payload that fit everywhere: 576 on the wire, which every host takes (RFC 1122).
const SMALL: u16 = 548;
/// Headers of IPv4 and ICMP, in bytes.
const HEADERS: u16 = 28;

/// Guests looked for in one check of a tenant: one round of questions.
const MOST_GUESTS: usize = MAX_QUESTIONS;

/// Reads all exit nodes side by side.
pub(super) async fn read(site: &Site, clients: &Clients, wanted: &Wanted, fabric: &Fabric, sink: &Sink) {
    join_all(clients.exit_nodes.iter().filter_map(|(name, client)| {
        let about = site.exit_nodes.iter().find(|e| e.name == *name)?;
        Some(async move {
            match client {
                Ok(client) => node(about, client, (site, wanted), fabric, sink).await,
                Err(why) => unread(name, "deevnet-exit-node read", &why.text, sink),
            }
            sink.end(&Part::Read(name.clone()));
            sink.end(&Part::Tried(name.clone()));
            sink.end(&Part::Between(name.clone()));
        })
    }))
    .await;
}

/// VRF and address of the guests that run on `node` itself, where one tenant is asked about. The gateway's address is on
/// every node of a zone: what a guest elsewhere answers ends at its own node, and says nothing here.
fn guests(site: &Site, fabric: &Fabric, wanted: &Wanted, node: &str) -> Vec<(String, Ipv4Addr)> {
    if wanted.tenant.is_none() || !matches!(wanted.check, Check::Egress | Check::All) {
        return Vec::new();
    }
    let here = names::workloads(site, fabric, wanted).into_iter();
    let here = here.filter(|w| w.vm.node == node && w.vm.status == "running");
    here.map(|w| (format!("vrf_{}", w.tenant), w.address)).take(MOST_GUESTS).collect()
}

pub(super) fn unread(node: &str, line: &str, why: &str, sink: &Sink) {
    let kind = Kind::Command { line: line.to_owned(), exit: None };
    sink.add(node, "exit-node", "txt", kind, String::new(), why.to_owned());
}

async fn node(about: &ExitNodeSite, client: &Client, (site, wanted): (&Site, &Wanted), fabric: &Fabric, sink: &Sink) {
    let mine: Vec<&Leg> = fabric.legs.iter().filter(|leg| leg.exits.contains(&about.name)).collect();
    let subjects: Vec<&&Leg> =
        mine.iter().filter(|leg| wanted.tenant.as_ref().is_none_or(|t| *t == leg.zone)).collect();
    let mut asked = questions(about, &subjects, &mine, wanted.check);
    // What a node made of the fabric is in one reading: nothing is sent for it.
    if wanted.check == Check::Fabric {
        let shown = bridge::shown(about, client, wanted.check, sink);
        drop(tokio::join!(sample(about, client, &[], sink), shown));
        return;
    }
    let Ok(reading) = sample(about, client, &asked, sink).await else { return };
    sink.end(&Part::Read(about.name.clone()));
    let there: Vec<&Leg> = subjects.iter().map(|leg| **leg).filter(|leg| has_vrf(&reading, leg)).collect();
    let mut along = packets(about, site.internet, &there, &reading);
    let guests = guests(site, fabric, wanted, &about.name);
    let looked_for = guests.iter().filter(|(vrf, _)| there.iter().any(|leg| self::vrf(leg) == *vrf));
    along.extend(looked_for.filter_map(|(vrf, ip)| PathProbe::new(Some(vrf), None, *ip, What::Ping).ok()));
    along.extend(bridge::neighbours(site, fabric, wanted, (&about.name, &there)));
    let shown = bridge::shown(about, client, wanted.check, sink);
    tokio::join!(run(about, client, &along, sink), shown, tokio::time::sleep(BETWEEN));
    if let Some(address) = management(about, &reading, &mine) {
        asked.extend(to_management(&there, address));
        asked.truncate(MAX_LOOKUPS);
    }
    // Flows after the packets: where no answer can come back to the sender, they alone tell whether one came to the node.
    let flows: Vec<PathProbe> = there.iter().filter_map(|leg| PathProbe::flows(leg.subnet).ok()).collect();
    let (last, ()) = tokio::join!(sample(about, client, &asked, sink), run(about, client, &flows, sink));
    drop(last);
    sink.end(&Part::Tried(about.name.clone()));
    if wanted.check.between() {
        let there = mine.iter().copied().filter(|leg| has_vrf(&reading, leg)).collect();
        between::read(&between::Asked { about, client, site, wanted, fabric, there }, sink).await;
    }
}

/// One reading, kept as evidence.
pub(super) async fn sample(
    about: &ExitNodeSite,
    client: &Client,
    questions: &[LookupRequest],
    sink: &Sink,
) -> Result<Reading, Error> {
    let words: Vec<String> = questions.iter().map(LookupRequest::argument).collect();
    let line = format!("deevnet-exit-node read {}", words.join(" "));
    let began = (sink.clock())();
    let (exit, frame, said, result) = match client.read_raw(sink.patience(), questions).await {
        Ok((reading, frame)) => (Some(0), frame, String::new(), Ok(reading)),
        Err(error) => (None, String::new(), error.to_string(), Err(error)),
    };
    sink.add_since(began, (&about.name, "exit-node"), Kind::Command { line, exit }, frame, said);
    result
}

/// Tries `probes` side by side, in as many round trips as they need, all at once.
async fn run(about: &ExitNodeSite, client: &Client, probes: &[PathProbe], sink: &Sink) {
    let began = (sink.clock())();
    let rounds = probes.chunks(MAX_QUESTIONS).map(|round| client.probe_path(sink.patience(), round));
    for ran in join_all(rounds).await {
        match ran {
            Ok(ran) => ran.into_iter().for_each(|ran| probed(about, ran, began, sink)),
            Err(error) => unread(&about.name, "deevnet-exit-node probe path", &error.to_string(), sink),
        }
    }
}

/// A workload's address in `subnet`: any but the gateway's would do, since it is only looked up.
pub(super) fn guest(subnet: Ipv4Net) -> Ipv4Addr {
    let first = u32::from(subnet.network());
    Ipv4Addr::from(first.saturating_add(10).min(u32::from(subnet.broadcast())))
}

/// Which way a packet of each tenant goes out, back, to the perimeter, and to every other tenant; and the node's own.
fn questions(about: &ExitNodeSite, subjects: &[&&Leg], all: &[&Leg], check: Check) -> Vec<LookupRequest> {
    let transit = about.transit_interface.as_str();
    let own = [("main", OUTSIDE), ("rewrite", REWRITE)];
    let mut asked: Vec<_> = own.into_iter().map(|(name, dst)| LookupRequest::new(name, dst, None, None)).collect();
    for leg in subjects {
        let (from, vnet) = (guest(leg.subnet), Some(leg.vnet.as_str()));
        let mut ask = |what: &str, dst, from, iif| {
            asked.push(LookupRequest::new(&format!("{what}.{}.{}", leg.zone, leg.vnet), dst, Some(from), iif));
        };
        ask("out", OUTSIDE, from, vnet);
        ask("ret", from, OUTSIDE, Some(transit));
        ask("transit", about.transit_gateway, from, vnet);
        if matches!(check, Check::Isolation | Check::All) || subjects.len() == 1 {
            for other in all.iter().filter(|other| other.zone != leg.zone) {
                ask(&format!("to.{}", other.vnet), guest(other.subnet), from, vnet);
            }
        }
    }
    // A name that Proxmox allows and the helper does not take leaves its question out; the rule then says unknown.
    asked.into_iter().filter_map(Result::ok).take(MAX_LOOKUPS).collect()
}

/// A host on the node's management segment: a network of its own that is neither transit nor a tenant's. It is looked up.
fn management(about: &ExitNodeSite, reading: &Reading, all: &[&Leg]) -> Option<Ipv4Addr> {
    let ours = |dev: &str| dev == about.transit_interface || all.iter().any(|l| l.vnet == dev || vrf(l) == dev);
    let direct = |route: &&Route| {
        let connected = route.kind == RouteKind::Unicast && route.gateway.is_none() && route.dst.prefix_len() <= 30;
        connected && route.protocol.as_deref() == Some("kernel") && route.dev.as_deref().is_some_and(|dev| !ours(dev))
    };
    let route = reading.main_routes.value()?.iter().find(direct)?;
    let own = |ip: &Ipv4Addr| reading.addresses.value().is_some_and(|all| all.iter().any(|a| a.ip == IpAddr::V4(*ip)));
    route.dst.hosts().find(|ip| !own(ip))
}

fn to_management(legs: &[&Leg], address: Ipv4Addr) -> Vec<LookupRequest> {
    let ask = |leg: &&Leg| {
        let name = format!("mgmt.{}.{}", leg.zone, leg.vnet);
        LookupRequest::new(&name, address, Some(guest(leg.subnet)), Some(&leg.vnet)).ok()
    };
    legs.iter().filter_map(ask).collect()
}

pub(super) fn vrf(leg: &Leg) -> String {
    format!("vrf_{}", leg.zone)
}

/// Whether the node has the tenant's VRF at all; where its links were not read, the probe says so itself.
fn has_vrf(reading: &Reading, leg: &Leg) -> bool {
    reading.links.value().is_none_or(|links| links.iter().any(|link| link.name == vrf(leg)))
}

/// Whether an answer finds its way back to a sender in the VRF itself: main's route to the subnet leads to the VRF. Where
/// it leads to the VNet, what is sent from there is never answered, healthy or not (`facts/exit-node.md` §5).
pub(super) fn answers_come_back(reading: &Reading, leg: &Leg) -> bool {
    let routes = reading.main_routes.value().map_or(&[][..], Vec::as_slice);
    let mut of = routes.iter().filter(|route| route.dst == leg.subnet.trunc() && route.kind == RouteKind::Unicast);
    of.any(|route| route.dev.as_deref() == Some(vrf(leg).as_str()))
}

/// Packets along each tenant's path. Beyond the gateway only where the site names an address for it.
fn packets(about: &ExitNodeSite, internet: Option<Ipv4Addr>, legs: &[&Leg], reading: &Reading) -> Vec<PathProbe> {
    let gateway = about.transit_gateway;
    let mut all = Vec::new();
    let mut from_transit = |dst: Ipv4Addr, what| all.push(PathProbe::new(None, Some(about.transit_address), dst, what));
    // Of two sizes, both whole: one that every segment takes, and the largest that this one does.
    let largest = mtu(about, reading).map(|mtu| mtu.saturating_sub(HEADERS)).filter(|size| *size > SMALL);
    // From main these are only good while main's own default is on transit (`facts/exit-node.md` §5).
    let beyond = internet.filter(|_| main_by_transit(about, reading));
    for dst in [Some(gateway), beyond].into_iter().flatten() {
        from_transit(dst, What::Ping);
        from_transit(dst, What::Mtu(SMALL));
        if let Some(size) = largest {
            from_transit(dst, What::Mtu(size));
        }
    }
    if let Some(dst) = beyond {
        from_transit(dst, What::Tcp(443));
    }
    for leg in legs {
        let mut from_vrf = |dst, what| all.push(PathProbe::new(Some(&vrf(leg)), None, dst, what));
        // Sent even where no answer comes back: the flow that it leaves behind is what is read.
        from_vrf(internet.unwrap_or(gateway), What::Ping);
        if let Some(dst) = internet.filter(|_| answers_come_back(reading, leg)) {
            from_vrf(dst, What::Tcp(443));
            from_vrf(dst, What::Http(80));
        }
    }
    all.into_iter().filter_map(Result::ok).collect()
}

fn mtu(about: &ExitNodeSite, reading: &Reading) -> Option<u16> {
    let link = reading.links.value()?.iter().find(|link| link.name == about.transit_interface)?;
    u16::try_from(link.mtu).ok()
}

fn main_by_transit(about: &ExitNodeSite, reading: &Reading) -> bool {
    let routes = reading.main_routes.value().map_or(&[][..], Vec::as_slice);
    let default = routes.iter().find(|route| route.dst.prefix_len() == 0 && route.kind == RouteKind::Unicast);
    default.is_some_and(|route| route.dev.as_deref() == Some(about.transit_interface.as_str()))
}

pub(super) fn probed(about: &ExitNodeSite, ran: Ran, began: jiff::Timestamp, sink: &Sink) {
    let exit = match ran.code {
        Code::Exit(code) => Some(code),
        Code::Denied | Code::Missing => None,
    };
    let slug = ran.line.split(' ').filter(|w| !w.starts_with('-')).collect::<Vec<_>>().join("-");
    sink.add_since(began, (&about.name, &slug), Kind::Command { line: ran.line, exit }, ran.out, ran.err);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::exit_node::model::Readout;
    use crate::site::model::Transport;

    fn about() -> ExitNodeSite {
        ExitNodeSite {
            name: "hv02".into(),
            transport: Transport::Command(Vec::new()),
            transit_interface: "vmbr0.50".into(),
            transit_address: Ipv4Addr::new(10, 20, 50, 22),
            transit_gateway: Ipv4Addr::new(10, 20, 50, 1),
            egress_apply: None,
            egress_install: false,
        }
    }

    fn leg(zone: &str, third: u8) -> Leg {
        let subnet = Ipv4Net::new(Ipv4Addr::new(10, 20, third, 0), 24).expect("a prefix");
        Leg { zone: zone.into(), vnet: format!("{zone}0"), subnet, exits: vec!["hv02".into()] }
    }

    fn arguments(check: Check, subjects: &[&Leg], all: &[&Leg]) -> Vec<String> {
        let subjects: Vec<&&Leg> = subjects.iter().collect();
        questions(&about(), &subjects, all, check).iter().map(LookupRequest::argument).collect()
    }

    #[test]
    fn every_tenant_is_looked_up_out_and_back_and_against_every_other() {
        let (a, b) = (leg("a", 129), leg("b", 130));
        let all = [&a, &b];
        let asked = arguments(Check::Isolation, &all, &all);
        for want in [
            "out.a.a0/198.51.100.1/10.20.129.10/a0",
            "ret.a.a0/10.20.129.10/198.51.100.1/vmbr0.50",
            "to.b0.a.a0/10.20.130.10/10.20.129.10/a0",
            "to.a0.b.b0/10.20.129.10/10.20.130.10/b0",
        ] {
            assert!(asked.iter().any(|a| a == want), "{want} is not in {asked:?}");
        }
        let few = arguments(Check::Egress, &all, &all);
        assert!(!few.iter().any(|a| a.starts_with("to.")), "{few:?}");
        let one = arguments(Check::Egress, &[&a], &all);
        assert!(one.iter().any(|a| a.starts_with("to.b0.a.")), "{one:?}");
    }

    #[test]
    fn a_guest_is_in_its_subnet() {
        let net = |text: &str| text.parse::<Ipv4Net>().expect("a prefix");
        assert_eq!(guest(net("10.20.129.0/24")), Ipv4Addr::new(10, 20, 129, 10));
        assert!(net("192.0.2.0/30").contains(&guest(net("192.0.2.0/30"))));
    }
    /// A healthy node with tdemo, and tdemo's leg on it.
    fn sample() -> (Reading, Leg) {
        let sample = crate::inventory::testing::Sample::of(&[("tdemo".into(), 1, Vec::new())]);
        let subnet = sample.site.numbering.subnet(crate::site::numbering::TenantIndex::new(1).expect("an index"));
        (sample.exit, Leg { zone: "tdemo".into(), vnet: "tdemo0".into(), subnet, exits: vec!["hv02".into()] })
    }

    fn lines(reading: &Reading, leg: &Leg, internet: Option<Ipv4Addr>) -> Vec<String> {
        packets(&about(), internet, &[leg], reading).iter().map(PathProbe::line).collect()
    }

    fn main_of(reading: &mut Reading) -> &mut Vec<Route> {
        let Readout::Value(routes) = &mut reading.main_routes else { panic!("routes") };
        routes
    }

    #[test]
    fn probes_end_at_the_gateway_unless_the_site_names_an_address_beyond() {
        let (reading, leg) = sample();
        let near = lines(&reading, &leg, None);
        assert!(near.iter().all(|line| line.contains(" 10.20.50.1 ")), "{near:?}");
        for want in
            ["ping - 10.20.50.22 10.20.50.1 -", "mtu - 10.20.50.22 10.20.50.1 548", "ping vrf_tdemo - 10.20.50.1 -"]
        {
            assert!(near.iter().any(|line| line == want), "{want}: {near:?}");
        }
        assert!(
            near.iter().any(|line| line == "mtu - 10.20.50.22 10.20.50.1 1422"),
            "as large as the link takes: {near:?}"
        );
        let far = lines(&reading, &leg, Some(OUTSIDE));
        for want in [
            "ping - 10.20.50.22 198.51.100.1 -",
            "tcp vrf_tdemo - 198.51.100.1 443",
            "http vrf_tdemo - 198.51.100.1 80",
        ] {
            assert!(far.iter().any(|line| line == want), "{want}: {far:?}");
        }
    }

    #[test]
    fn what_fails_on_a_healthy_node_is_not_sent() {
        let (mut reading, leg) = sample();
        for route in main_of(&mut reading).iter_mut().filter(|route| route.dev.as_deref() == Some("vrf_tdemo")) {
            route.dev = Some("tdemo0".into());
        }
        assert!(!answers_come_back(&reading, &leg));
        let sent = lines(&reading, &leg, Some(OUTSIDE));
        assert!(!sent.iter().any(|line| line.contains("tcp vrf_") || line.contains("http vrf_")), "{sent:?}");
        assert!(sent.contains(&"ping vrf_tdemo - 198.51.100.1 -".to_owned()), "it leaves a flow: {sent:?}");
        // With main's default elsewhere what is sent from the transit address is lost beyond the gateway.
        for route in main_of(&mut reading).iter_mut().filter(|route| route.dst.prefix_len() == 0) {
            route.dev = Some("vmbr0".into());
        }
        let sent = lines(&reading, &leg, Some(OUTSIDE));
        assert!(!sent.iter().any(|line| line.contains("10.20.50.22 198.51.100.1")), "{sent:?}");
    }

    #[test]
    fn a_management_address_is_neither_transit_nor_a_tenants_nor_the_nodes_own() {
        let (mut reading, leg) = sample();
        assert_eq!(management(&about(), &reading, &[&leg]), None, "the transit network alone is connected");
        let mut route = main_of(&mut reading).iter().find(|route| route.gateway.is_none()).cloned().expect("a route");
        route.dst = "10.20.99.0/24".parse().expect("a prefix");
        route.dev = Some("vmbr0".into());
        main_of(&mut reading).push(route);
        let Readout::Value(addresses) = &mut reading.addresses else { panic!("addresses") };
        let mut own = addresses.first().cloned().expect("an address");
        own.ip = [10, 20, 99, 1].into();
        addresses.push(own);
        assert_eq!(management(&about(), &reading, &[&leg]), Some(Ipv4Addr::new(10, 20, 99, 2)));
    }
}
