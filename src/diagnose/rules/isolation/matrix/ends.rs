//! Who sends and who is sent to.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};
use serde::Serialize;

use super::super::super::exits::{Exit, Tenant, subnets};
use crate::backends::exit_node::model::RouteKind;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::MAIN;
use crate::diagnose::facts::perimeter::routing::Interface;
use crate::diagnose::pasted::Whence;

/// Kinds of sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SenderKind {
    /// A workload of a tenant.
    Tenant,
    /// A host on a segment that must not reach tenants.
    Segment,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sender {
    /// Tenant or segment.
    pub name: String,
    /// Kind.
    pub kind: SenderKind,
    /// Where the legs of this row are run.
    pub whence: Whence,
    /// Its own gateway, which shows that the sender has a network.
    pub gateway: Option<Ipv4Addr>,
    /// A name that its gateway can be asked for, of a segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// The exit node and its interface on the transit segment, where captures are made.
    #[serde(skip)]
    pub exit: Option<(String, String)>,
}

/// Kinds of target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Another tenant.
    Tenant,
    /// Any tenant, out by the default route and back by the perimeter's route to the tenants.
    Hairpin,
    /// A segment behind the perimeter that tenants must not reach.
    Segment,
    /// The exit nodes' own addresses on the transit segment.
    Transit,
    /// The perimeter's own address on the transit segment, other than names and time.
    Perimeter,
}

/// A host that is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Address.
    pub ip: Ipv4Addr,
    /// Whether it is pinged.
    pub ping: bool,
    /// TCP ports.
    pub ports: Vec<u16>,
    /// What it is.
    pub what: String,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Name.
    pub name: String,
    /// Kind.
    pub goal: Goal,
    /// Networks.
    pub nets: Vec<Ipv4Net>,
    /// What is tried.
    pub hosts: Vec<Host>,
}

/// Ports of the perimeter that tenants are served on: names and time.
pub(super) const SERVED: [&str; 4] = ["53", "123", "domain", "ntp"];
/// Secure shell, which every machine of the platform has.
const SSH: u16 = 22;
/// The interface of Proxmox VE.
const PVE: u16 = 8006;
/// The pages of the router.
const HTTPS: u16 = 443;

/// Segments that must not reach tenants, by the roles of their interfaces (domain.md §2.2), and how they are shown.
pub(super) const NOT_TO_TENANTS: [(&str, &str); 4] =
    [("iot", "iot"), ("iotvendor", "iot_vendor"), ("guest", "guest"), ("storage", "storage")];
/// Segments that tenants must not reach.
pub(super) const NOT_FROM_TENANTS: [(&str, &str); 3] =
    [("management", "mgmt"), ("trusted", "trusted"), ("storage", "storage")];

/// Letters and digits in lower case: `IOT-Vendor` is `iotvendor`.
fn role(interface: &Interface) -> String {
    let word: String = interface.description.chars().filter(char::is_ascii_alphanumeric).collect();
    let word = word.to_ascii_lowercase();
    if word == "mgmt" { "management".to_owned() } else { word }
}

/// The interfaces that play `wanted`.
pub(super) fn playing<'a>(facts: &'a Facts, wanted: &str) -> Vec<&'a Interface> {
    let all = facts.perimeter.interfaces.iter().flat_map(|all| all.value.iter());
    all.filter(|interface| !interface.outside && role(interface) == wanted).collect()
}

/// The address and network of an interface.
pub(super) fn net_of(interface: &Interface) -> Option<(Ipv4Addr, Ipv4Net)> {
    match interface.net? {
        IpNet::V4(net) => Some((net.addr(), net.trunc())),
        IpNet::V6(_) => None,
    }
}

/// Every tenant: every zone that routes, whether an exit node of it was read or not.
pub(super) fn tenants(facts: &Facts) -> Vec<Tenant<'_>> {
    let zones = facts.sdn.zones_in_force().map_or(&[][..], |zones| zones.value.as_slice());
    let of = |zone: &'_ str| format!("vrf_{zone}");
    let evpn = zones.iter().filter(|zone| zone.kind == "evpn");
    evpn.map(|zone| Tenant { zone: &zone.zone, vrf: of(&zone.zone), subnets: subnets(facts, &zone.zone) }).collect()
}

/// A tenant's gateway: as SDN has it, else the first address of its first subnet.
pub(super) fn gateway(tenant: &Tenant<'_>) -> Option<Ipv4Addr> {
    let (subnet, net) = tenant.subnets.first()?;
    let said = subnet.fields.get("gateway").and_then(|gateway| gateway.as_str()?.parse().ok());
    said.or_else(|| net.hosts().next())
}

/// Running machines of a tenant with the address that its number gives it, lowest first. Only a site says how.
pub(super) fn workloads(facts: &Facts, tenant: &Tenant<'_>) -> Vec<(String, Ipv4Addr)> {
    let (Some(site), Some(guests)) = (&facts.site, &facts.cluster.guests) else { return Vec::new() };
    let of = |vmid: u64| {
        let (index, ordinal) = site.numbering.index_of_vmid(u32::try_from(vmid).ok()?)?;
        site.numbering.workload_address(index, ordinal)
    };
    let mut all: Vec<(String, Ipv4Addr)> = guests
        .iter()
        .filter(|guest| guest.status == "running")
        .filter_map(|guest| Some((guest.name.clone()?, of(guest.vmid)?)))
        .filter(|(_, ip)| tenant.has(*ip))
        .map(|(name, ip)| {
            let label = name.strip_prefix(tenant.zone).and_then(|rest| rest.strip_prefix('-')).unwrap_or(&name);
            (crate::text::clean(label).into_owned(), ip)
        })
        .collect();
    all.sort_by_key(|(_, ip)| *ip);
    all
}

/// The management segment as the exit node has it: device, its own address there, the network.
pub(super) fn management(exit: &Exit<'_>) -> Option<(String, Option<Ipv4Addr>, Ipv4Net)> {
    let transit = exit.transit()?;
    let ours = |dev: &str| dev == transit || exit.tenants.iter().any(|tenant| tenant.has_device(dev));
    let route = exit.node.tables.get(MAIN)?.iter().find(|route| {
        let connected = route.kind == RouteKind::Unicast && route.gateway.is_none() && route.dst.prefix_len() <= 30;
        let kernel = route.protocol.as_deref() == Some("kernel");
        connected && kernel && route.dev.as_deref().is_some_and(|dev| !ours(dev))
    })?;
    let own = exit.node.addresses.as_ref().and_then(|all| {
        all.iter().find_map(|address| match address.ip {
            IpAddr::V4(ip) if route.dst.contains(&ip) => Some(ip),
            _ => None,
        })
    });
    Some((route.dev.clone()?, own, route.dst.trunc()))
}

/// The column of a tenant: its gateway always answers, a workload where one runs.
pub(super) fn tenant_target(facts: &Facts, tenant: &Tenant<'_>) -> Target {
    let runs = workloads(facts, tenant).into_iter().next();
    let workload = runs.map(|(name, ip)| Host { ip, ping: true, ports: vec![SSH], what: format!("workload {name}") });
    let gateway = gateway(tenant).map(|ip| Host { ip, ping: true, ports: Vec::new(), what: "its gateway".to_owned() });
    let nets = tenant.subnets.iter().map(|(_, net)| *net).collect();
    Target {
        name: tenant.zone.to_owned(),
        goal: Goal::Tenant,
        nets,
        hosts: workload.into_iter().chain(gateway).collect(),
    }
}

/// Hosts of a segment: the hypervisor's interface where it stands there, and the router's own address.
fn hosts(facts: &Facts, router: Option<Ipv4Addr>, node: Option<Ipv4Addr>, net: Ipv4Net) -> Vec<Host> {
    let url = facts.site.as_ref().and_then(|site| {
        let host = site.proxmox.url.split("://").nth(1)?.split(['/', ':']).next()?;
        host.parse::<Ipv4Addr>().ok()
    });
    let pve = [url, node].into_iter().flatten().find(|ip| net.contains(ip));
    let pve = pve.map(|ip| Host { ip, ping: true, ports: vec![PVE, SSH], what: "the hypervisor".to_owned() });
    let router =
        router.map(|ip| Host { ip, ping: true, ports: vec![HTTPS], what: "the router's address there".to_owned() });
    pve.into_iter().chain(router).collect()
}

/// The columns beside tenants.
pub(super) fn other_targets(facts: &Facts, exits: &[Exit<'_>]) -> Vec<Target> {
    let mut out = Vec::new();
    let overlay = facts.site.as_ref().map(|site| site.numbering.overlay);
    let nobodys = overlay.and_then(|_| nobodys(facts));
    let host =
        nobodys.map(|ip| Host { ip, ping: true, ports: Vec::new(), what: "an address that nobody has".to_owned() });
    out.push(Target {
        name: "hairpin".to_owned(),
        goal: Goal::Hairpin,
        nets: overlay.into_iter().collect(),
        hosts: host.into_iter().collect(),
    });
    let managed = exits.iter().find_map(management);
    for (role, name) in NOT_FROM_TENANTS {
        let found: Vec<(Ipv4Addr, Ipv4Net)> = playing(facts, role).into_iter().filter_map(net_of).collect();
        let node = managed.as_ref().filter(|_| role == "management");
        let own = node.and_then(|(_, own, _)| *own);
        let nets: Vec<Ipv4Net> = if found.is_empty() {
            node.map(|(.., net)| *net).into_iter().collect()
        } else {
            found.iter().map(|(_, net)| *net).collect()
        };
        let absent = found.is_empty() && facts.perimeter.interfaces.is_some();
        let described = facts.site.as_ref().is_some_and(|site| site.opnsense.is_some());
        if nets.is_empty() && (absent || !described) {
            continue;
        }
        let router = found.first().map(|(ip, _)| *ip);
        let hosts = nets.first().map(|net| hosts(facts, router, own, *net)).unwrap_or_default();
        out.push(Target { name: name.to_owned(), goal: Goal::Segment, nets, hosts });
    }
    let sites = || facts.site.iter().flat_map(|site| site.exit_nodes.iter());
    let own: Vec<Host> = sites()
        .map(|exit| Host { ip: exit.transit_address, ping: false, ports: vec![SSH, PVE], what: exit.name.clone() })
        .collect();
    let mut gateways: Vec<Ipv4Addr> = sites().map(|exit| exit.transit_gateway).collect();
    gateways.dedup();
    let router: Vec<Host> = gateways
        .iter()
        .map(|ip| Host { ip: *ip, ping: false, ports: vec![HTTPS, SSH], what: "the router".to_owned() })
        .collect();
    for (name, goal, hosts) in [("transit", Goal::Transit, own), ("perimeter", Goal::Perimeter, router)] {
        if !hosts.is_empty() {
            let nets = hosts.iter().map(|host| Ipv4Net::from(host.ip)).collect();
            out.push(Target { name: name.to_owned(), goal, nets, hosts });
        }
    }
    out
}

/// An address in the tenants' block that no subnet in force holds: of the highest index that is free.
fn nobodys(facts: &Facts) -> Option<Ipv4Addr> {
    let site = facts.site.as_ref()?;
    let taken: Vec<IpNet> = facts.sdn.subnets_in_force().map(|(_, subnet)| subnet.cidr).collect();
    let free =
        |net: &Ipv4Net| !taken.iter().any(|have| have.contains(&IpNet::V4(*net)) || IpNet::V4(*net).contains(have));
    let all: Vec<_> = crate::site::numbering::TenantIndex::all().collect();
    let index = all.into_iter().rev().find(|index| free(&site.numbering.subnet(*index)))?;
    site.numbering.workload_address(index, 0)
}
