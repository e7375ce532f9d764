//! The cluster: members and their state, votes, guests as the cluster lists them.

use std::net::IpAddr;

use super::rows::{self, Row, data, number, read, truth};
use super::sdn::text;
use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::Item;

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[nodes, status, resources, firewall];

/// A member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Name.
    pub node: String,
    /// Whether the cluster sees it; `None` where the answer says neither.
    pub online: Option<bool>,
    /// Address, where it was told.
    pub ip: Option<IpAddr>,
}

/// A row of `cluster/status` about the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quorum {
    /// Name of the cluster.
    pub cluster: String,
    /// Has a majority.
    pub quorate: bool,
    /// Members with their state.
    pub members: Vec<Member>,
}

/// A guest as the cluster lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Id.
    pub vmid: u64,
    /// Name; offline nodes' guests may have none.
    pub name: Option<String>,
    /// Node.
    pub node: String,
    /// `running`, `stopped`, `unknown`.
    pub status: String,
    /// Pool it is in.
    pub pool: Option<String>,
    /// The place that was asked.
    pub from: String,
}

/// What was read of it.
#[derive(Debug, Default)]
pub struct Cluster {
    /// Members by `GET nodes`.
    pub nodes: Option<Sourced<Vec<Member>>>,
    /// Votes by `GET cluster/status`.
    pub quorum: Option<Sourced<Quorum>>,
    /// Guests by `GET cluster/resources`.
    pub guests: Option<Sourced<Vec<Listed>>>,
    /// Nodes whose firewall is on or off.
    pub firewall: Vec<Sourced<(String, bool)>>,
}

impl Cluster {
    /// The list of members, from whichever answer has it.
    #[must_use]
    pub fn members(&self) -> Option<Sourced<Vec<Member>>> {
        self.nodes.clone().or_else(|| {
            let quorum = self.quorum.as_ref()?;
            Some(Sourced { value: quorum.members.clone(), file: quorum.file.clone() })
        })
    }
}

fn nodes(item: &Item, facts: &mut Facts) -> Taken {
    let member = |row: Row| -> Result<Member, Taken> {
        let online = match text(&row, "status").as_deref() {
            Some("online") => Some(true),
            Some("offline") => Some(false),
            _ => None,
        };
        Ok(Member { node: rows::need(&row, "node", "a node")?, online, ip: None })
    };
    let all = data(item, "nodes")
        .and_then(|value| rows::objects(value, "nodes"))
        .and_then(|rows| rows.into_iter().map(member).collect::<Result<Vec<_>, _>>());
    read(all, |all| facts.cluster.nodes = Some(Sourced::new(all, item)))
}

fn status(item: &Item, facts: &mut Facts) -> Taken {
    let all = data(item, "cluster/status").and_then(|value| rows::objects(value, "cluster status"));
    let quorum = all.and_then(|rows| {
        let of = |kind: &'static str| rows.iter().filter(move |r| text(r, "type").as_deref() == Some(kind));
        let member = |row: &Row| -> Result<Member, Taken> {
            Ok(Member {
                node: rows::need(row, "name", "a node")?,
                online: truth(row, "online"),
                ip: text(row, "ip").and_then(|ip| ip.parse().ok()),
            })
        };
        let members = of("node").map(member).collect::<Result<Vec<_>, _>>()?;
        // A node that is in no cluster has no such row, and nobody to vote with.
        let Some(whole) = of("cluster").next() else {
            return Ok(Quorum { cluster: String::new(), quorate: true, members });
        };
        let quorate = truth(whole, "quorate");
        Ok(Quorum {
            cluster: text(whole, "name").unwrap_or_default(),
            quorate: quorate.ok_or_else(|| Taken::Unreadable("a cluster without \"quorate\"".to_owned()))?,
            members,
        })
    });
    read(quorum, |quorum| facts.cluster.quorum = Some(Sourced::new(quorum, item)))
}

fn resources(item: &Item, facts: &mut Facts) -> Taken {
    let guest = |row: &Row| -> Result<Listed, Taken> {
        let vmid = number(row, "vmid");
        Ok(Listed {
            vmid: vmid.ok_or_else(|| Taken::Unreadable("a guest without its id".to_owned()))?,
            name: text(row, "name"),
            node: rows::need(row, "node", "a guest")?,
            status: text(row, "status").unwrap_or_else(|| "unknown".to_owned()),
            pool: text(row, "pool").filter(|pool| !pool.is_empty()),
            from: item.from.clone(),
        })
    };
    let all = data(item, "cluster/resources").and_then(|value| rows::objects(value, "resources"));
    let guests = all.and_then(|rows| {
        let is_guest = |row: &&Row| matches!(text(row, "type").as_deref(), Some("qemu" | "lxc"));
        rows.iter().filter(is_guest).map(guest).collect::<Result<Vec<_>, _>>()
    });
    read(guests, |guests| facts.cluster.guests = Some(Sourced::new(guests, item)))
}

fn firewall(item: &Item, facts: &mut Facts) -> Taken {
    let Some(node) = item.http().map(|http| http.segment(1).to_owned()) else { return Taken::NotMine };
    let on = data(item, "nodes/*/firewall/options")
        .and_then(|value| rows::object(value, "firewall options"))
        .map(|row| truth(&row, "enable").unwrap_or(true));
    read(on, |on| facts.cluster.firewall.push(Sourced::new((node, on), item)))
}
