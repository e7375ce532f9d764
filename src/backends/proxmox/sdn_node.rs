//! SDN as one node realises it.

use super::call::Call;
use super::client::Client;
use super::endpoints;
use super::error::Error;
use super::model::{NodeVnet, NodeZone};

/// A route of a zone's VRF (`GET /nodes/{node}/sdn/zones/{zone}/ip-vrf`): installed IPv4 routes only, and an empty
/// list also when FRR is down (facts/proxmox.md §8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VrfRoute {
    /// Destination prefix; the default route is `0.0.0.0/0`.
    pub prefix: String,
    /// Metric.
    pub metric: Option<u64>,
    /// `bgp`, `connected`, …
    pub protocol: Option<String>,
    /// Addresses or interface names.
    pub next_hops: Vec<String>,
}

/// A best type-2 path of a VNet (`GET /nodes/{node}/sdn/vnets/{vnet}/mac-vrf`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacVrfEntry {
    /// Lower-case MAC.
    pub mac: String,
    /// Address, where the path carries one.
    pub ip: Option<String>,
    /// VTEP.
    pub next_hop: Option<String>,
}

impl Client {
    /// `GET /nodes/{node}/sdn/zones`: state of each zone there.
    ///
    /// # Errors
    /// [`Error::NodeUnreachable`] for an offline node; any other [`Error`].
    pub async fn node_zones(&self, node: &str) -> Result<Vec<NodeZone>, Error> {
        let answer = self.call(Call::new(&endpoints::NODE_ZONES).id("node", node)).await?;
        answer.rows(|row| {
            let (zone, status) = (row.need_text("zone")?, row.need_text("status")?);
            Ok(NodeZone { node: node.to_owned(), zone, status })
        })
    }

    /// `GET /nodes/{node}/sdn/zones/{zone}/content`. A zone nobody knows has no content: `[]`. `localnetwork` is
    /// refused as a parameter (its name is over eight characters).
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn zone_content(&self, node: &str, zone: &str) -> Result<Vec<NodeVnet>, Error> {
        let answer = self.call(Call::new(&endpoints::ZONE_CONTENT).id("node", node).id("zone", zone)).await?;
        answer.rows(|row| {
            let message = row.text("statusmsg")?.filter(|m| !m.is_empty());
            Ok(NodeVnet { vnet: row.need_text("vnet")?, status: row.need_text("status")?, message })
        })
    }

    /// The routes of `zone`'s VRF on `node`.
    ///
    /// # Errors
    /// [`Error::ServerDefect`] for zones with a node list: the routes are unknown then, not absent.
    pub async fn ip_vrf(&self, node: &str, zone: &str) -> Result<Vec<VrfRoute>, Error> {
        let answer = self.call(Call::new(&endpoints::IP_VRF).id("node", node).id("zone", zone)).await?;
        answer.rows(|row| {
            Ok(VrfRoute {
                prefix: row.need_text("ip")?,
                metric: row.u64("metric")?,
                protocol: row.text("protocol")?,
                next_hops: row.words("nexthops")?,
            })
        })
    }

    /// The addresses `vnet` knows on `node`.
    ///
    /// # Errors
    /// [`Error::ServerDefect`] as for [`Client::ip_vrf`].
    pub async fn mac_vrf(&self, node: &str, vnet: &str) -> Result<Vec<MacVrfEntry>, Error> {
        let answer = self.call(Call::new(&endpoints::MAC_VRF).id("node", node).id("vnet", vnet)).await?;
        answer.rows(|row| {
            let mac = row.need_text("mac")?.to_ascii_lowercase();
            Ok(MacVrfEntry { mac, ip: row.text("ip")?, next_hop: row.text("nexthop")? })
        })
    }
}
