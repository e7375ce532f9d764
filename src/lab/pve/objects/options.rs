//! Options of SDN objects as the API's schemas have them (facts/proxmox.md §4).

use crate::lab::pve::form::{self, NUMBER, Parameter, Rule, TEXT, TOKEN};

const VNI: Rule = Rule::Int(1, 16_777_215);
const NODES: Rule = Rule::Own(form::nodes);

/// Options of zones; what one type takes and another does not is said by [`FOREIGN`].
pub(super) const ZONE: &[Parameter] = &[
    ("advertise-subnets", Rule::Bool, false),
    ("bridge", TEXT, false),
    ("bridge-disable-mac-learning", Rule::Bool, false),
    ("controller", TEXT, false),
    ("dhcp", Rule::Word(&["dnsmasq"]), false),
    ("disable-arp-nd-suppression", Rule::Bool, false),
    ("dns", TEXT, false),
    ("dnszone", Rule::Own(form::dns_name), false),
    ("dp-id", NUMBER, false),
    ("exitnodes", NODES, false),
    ("exitnodes-local-routing", Rule::Bool, false),
    ("exitnodes-primary", NODES, false),
    ("fabric", TEXT, false),
    ("ipam", TEXT, false),
    TOKEN,
    ("mac", Rule::Own(form::mac), false),
    ("mtu", NUMBER, false),
    ("nodes", NODES, false),
    ("peers", Rule::Own(form::addresses), false),
    ("reversedns", TEXT, false),
    ("rt-import", TEXT, false),
    ("tag", Rule::Int(0, i64::MAX), false),
    ("vlan-protocol", Rule::Word(&["802.1q", "802.1ad"]), false),
    ("vrf-vxlan", VNI, false),
    ("vxlan-port", Rule::Int(1, 65_536), false),
];

/// Options of zones that an EVPN zone does not have.
pub(super) const FOREIGN: &[&str] =
    &["bridge", "dhcp", "dp-id", "peers", "tag", "vlan-protocol", "vxlan-port", "fabric"];

/// Options of VNets.
pub(super) const VNET: &[Parameter] = &[
    ("alias", Rule::Text(256), false),
    ("isolate-ports", Rule::Bool, false),
    TOKEN,
    ("tag", VNI, false),
    ("vlanaware", Rule::Bool, false),
    ("zone", TEXT, false),
];

/// Options of subnets.
pub(super) const SUBNET: &[Parameter] = &[
    ("dhcp-dns-server", Rule::Own(form::address), false),
    ("dhcp-range", TEXT, false),
    ("dnszoneprefix", Rule::Own(form::dns_name), false),
    ("gateway", Rule::Own(form::address), false),
    TOKEN,
    ("snat", Rule::Bool, false),
];

/// Options of controllers.
pub(super) const CONTROLLER: &[Parameter] = &[
    ("asn", Rule::Int(0, 4_294_967_295), false),
    ("bgp-multipath-as-path-relax", Rule::Bool, false),
    ("ebgp", Rule::Bool, false),
    ("ebgp-multihop", NUMBER, false),
    ("fabric", TEXT, false),
    ("isis-domain", TEXT, false),
    ("isis-ifaces", TEXT, false),
    ("isis-net", Rule::Text(50), false),
    TOKEN,
    ("loopback", TEXT, false),
    ("node", NODES, false),
    ("peers", Rule::Own(form::addresses), false),
];
