//! What SDN objects are made of when they are created or changed (facts/proxmox.md §4, domain.md §4.1). Types that only
//! other kinds of zone have are left out: a tenant is an EVPN zone.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;

use super::call::{Call, Edit, list};
use super::names::{
    Alias, ControllerId, Digest, FabricId, MacAddress, NodeName, PluginId, SubnetId, VnetId, Vni, ZoneId,
};

/// A new EVPN zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewZone {
    /// Its id.
    pub zone: ZoneId,
    /// EVPN controller, which has to exist.
    pub controller: ControllerId,
    /// VXLAN id of the VRF. Proxmox compares it with other zones', never with VNets' tags.
    pub vrf_vxlan: Vni,
    /// Nodes that carry it; empty = all.
    pub nodes: Vec<NodeName>,
    /// Exit nodes. Proxmox takes names that no node has.
    pub exit_nodes: Vec<NodeName>,
    /// The exit node that traffic goes through first.
    pub exit_nodes_primary: Option<NodeName>,
    /// Whether exit nodes reach guests themselves.
    pub exit_nodes_local_routing: Option<bool>,
    /// Whether subnets are advertised.
    pub advertise_subnets: Option<bool>,
    /// MTU in bytes.
    pub mtu: Option<u32>,
    /// Anycast MAC; Proxmox makes one up where there is none. Given when a zone is put back as it was.
    pub mac: Option<MacAddress>,
    /// IPAM plug-in; given when a zone is put back as it was.
    pub ipam: Option<PluginId>,
}

impl NewZone {
    /// The zone of a tenant: these three, everything else as Proxmox has it.
    #[must_use]
    pub fn new(zone: ZoneId, controller: ControllerId, vrf_vxlan: Vni) -> Self {
        Self {
            zone,
            controller,
            vrf_vxlan,
            nodes: Vec::new(),
            exit_nodes: Vec::new(),
            exit_nodes_primary: None,
            exit_nodes_local_routing: None,
            advertise_subnets: None,
            mtu: None,
            mac: None,
            ipam: None,
        }
    }

    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        call.set("zone", &self.zone)
            .set("type", "evpn")
            .set("controller", &self.controller)
            .set("vrf-vxlan", self.vrf_vxlan)
            .set_list("nodes", &self.nodes)
            .set_list("exitnodes", &self.exit_nodes)
            .set_some("exitnodes-primary", self.exit_nodes_primary.as_ref())
            .set_flag("exitnodes-local-routing", self.exit_nodes_local_routing)
            .set_flag("advertise-subnets", self.advertise_subnets)
            .set_some("mtu", self.mtu)
            .set_some("mac", self.mac.as_ref())
            .set_some("ipam", self.ipam.as_ref())
    }
}

/// A change of an EVPN zone: what is left stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZoneChange {
    /// EVPN controller.
    pub controller: Option<ControllerId>,
    /// VXLAN id of the VRF.
    pub vrf_vxlan: Option<Vni>,
    /// Nodes that carry it; removed = all.
    pub nodes: Edit<Vec<NodeName>>,
    /// Exit nodes.
    pub exit_nodes: Edit<Vec<NodeName>>,
    /// The exit node that traffic goes through first.
    pub exit_nodes_primary: Edit<NodeName>,
    /// Whether exit nodes reach guests themselves.
    pub exit_nodes_local_routing: Edit<bool>,
    /// Whether subnets are advertised.
    pub advertise_subnets: Edit<bool>,
    /// MTU in bytes.
    pub mtu: Edit<u32>,
    /// Refuse unless the zones are as they were when this was read. It is the digest of the file with all zones.
    pub digest: Option<Digest>,
}

impl ZoneChange {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        call.set_some("controller", self.controller.as_ref())
            .set_some("vrf-vxlan", self.vrf_vxlan)
            .edit("nodes", or_none(&self.nodes))
            .edit("exitnodes", or_none(&self.exit_nodes))
            .edit("exitnodes-primary", self.exit_nodes_primary.as_ref())
            .edit("exitnodes-local-routing", self.exit_nodes_local_routing.as_ref().map(|on| u8::from(*on)))
            .edit("advertise-subnets", self.advertise_subnets.as_ref().map(|on| u8::from(*on)))
            .edit("mtu", self.mtu.as_ref())
            .set_some("digest", self.digest.as_ref())
    }
}

/// A list as text; an empty one is no list.
fn or_none<T: ToString>(values: &Edit<Vec<T>>) -> Edit<String> {
    match values {
        Edit::Set(values) if values.is_empty() => Edit::Remove,
        other => other.as_ref().map(|values| list(values)),
    }
}

/// A new VNet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVnet {
    /// Its id, which is also the name of its bridge.
    pub vnet: VnetId,
    /// Zone, which has to exist.
    pub zone: ZoneId,
    /// VXLAN id. Proxmox compares it with other VNets', never with zones'.
    pub tag: Vni,
    /// Free words.
    pub alias: Option<Alias>,
}

impl NewVnet {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        call.set("type", "vnet")
            .set("vnet", &self.vnet)
            .set("zone", &self.zone)
            .set("tag", self.tag)
            .set_some("alias", self.alias.as_ref())
    }
}

/// A change of a VNet. Its zone is for good: Proxmox refuses to move one that has subnets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VnetChange {
    /// VXLAN id.
    pub tag: Option<Vni>,
    /// Free words.
    pub alias: Edit<Alias>,
    /// Refuse unless the VNets are as they were when this was read.
    pub digest: Option<Digest>,
}

impl VnetChange {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        call.set_some("tag", self.tag).edit("alias", self.alias.as_ref()).set_some("digest", self.digest.as_ref())
    }
}

/// A new subnet of a VNet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubnet {
    /// VNet, which has to exist.
    pub vnet: VnetId,
    /// Prefix. Host bits are cut off: Proxmox would keep them in the subnet's id.
    pub net: Ipv4Net,
    /// Anycast gateway, inside the prefix.
    pub gateway: Option<Ipv4Addr>,
    /// Whether exit nodes translate it.
    pub snat: bool,
}

impl NewSubnet {
    /// Id that Proxmox will give it in `zone`.
    #[must_use]
    pub fn id(&self, zone: &ZoneId) -> SubnetId {
        SubnetId::of(zone, self.net.trunc())
    }

    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        call.set("type", "subnet")
            .set("subnet", self.net.trunc())
            .set_some("gateway", self.gateway)
            .set_flag("snat", self.snat.then_some(true))
    }
}

/// A change of a subnet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubnetChange {
    /// Anycast gateway.
    pub gateway: Edit<Ipv4Addr>,
    /// Whether exit nodes translate it.
    pub snat: Option<bool>,
    /// Refuse unless the subnets are as they were when this was read.
    pub digest: Option<Digest>,
}

impl SubnetChange {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        call.edit("gateway", self.gateway.as_ref()).set_flag("snat", self.snat).set_some("digest", self.digest.as_ref())
    }
}

/// What an EVPN controller runs over: exactly one of the two (facts/proxmox.md §4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Underlay {
    /// A fabric.
    Fabric(FabricId),
    /// Peers by address.
    Peers(Vec<IpAddr>),
}

/// A new EVPN controller; a cluster has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewController {
    /// Its id.
    pub controller: ControllerId,
    /// BGP autonomous system. 0 is taken by Proxmox and generates nothing.
    pub asn: u32,
    /// What it runs over.
    pub underlay: Underlay,
}

impl NewController {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        let call = call.set("type", "evpn").set("controller", &self.controller).set("asn", self.asn);
        match &self.underlay {
            Underlay::Fabric(fabric) => call.set("fabric", fabric),
            Underlay::Peers(peers) => call.set_list("peers", peers),
        }
    }
}

/// A change of an EVPN controller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ControllerChange {
    /// BGP autonomous system.
    pub asn: Option<u32>,
    /// What it runs over; the other kind is taken away.
    pub underlay: Option<Underlay>,
    /// Refuse unless the controllers are as they were when this was read.
    pub digest: Option<Digest>,
}

impl ControllerChange {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        let call = call.set_some("asn", self.asn).set_some("digest", self.digest.as_ref());
        match &self.underlay {
            None => call,
            Some(Underlay::Fabric(fabric)) => call.set("fabric", fabric).edit("peers", Edit::<&str>::Remove),
            Some(Underlay::Peers(peers)) => call.set("peers", list(peers)).edit("fabric", Edit::<&str>::Remove),
        }
    }
}
