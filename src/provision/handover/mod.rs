//! The sheet that a tenant's people get: what is theirs, and how they use it. What cannot be read is said to be unknown; the
//! secret of their key is never on it.

mod file;
mod keys;
mod text;

use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;
use jiff::Timestamp;
use serde::Serialize;

pub use file::{NewFileError, write_new};
pub use keys::{Keys, Listing, UpdateKey, chosen, key_file, read, secret};

use super::trouble::Trouble;
use crate::backends::opnsense::model::{Action, RuleKind};
use crate::inventory::{Gap, GapKind, Inventory, Presence, RuleRow, SourceId, Tenant, Workload, ZoneRow};
use crate::site::numbering::TenantIndex;

/// Word of a part that is not known.
const UNKNOWN: &str = "unknown";

/// Something that was read, or why it is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Part<T> {
    /// It was read.
    Known(T),
    /// It was not.
    Unknown {
        /// Why.
        unknown: String,
    },
}

impl<T> Part<T> {
    fn of(seen: Result<T, String>) -> Self {
        seen.map_or_else(|unknown| Self::Unknown { unknown }, Self::Known)
    }

    /// Whether it is not known.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

/// A part of a tenant, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct State {
    /// Which: fabric, node, dns, …
    pub part: &'static str,
    /// How it stands: `absent`, `pending`, `present`, `differs`, `unknown`, or `off` where the site has no such source.
    pub state: &'static str,
    /// In words; why, where it is not known.
    pub words: String,
}

/// The network of a tenant. Numbers follow from the index; whether they are in force is told by [`Sheet::state`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Network {
    /// Index.
    pub index: u8,
    /// Device of the VRF.
    pub vrf: String,
    /// Its VNI.
    pub vrf_vni: u32,
    /// VNet.
    pub vnet: String,
    /// Its tag.
    pub vnet_vni: u32,
    /// Subnet.
    pub subnet: Ipv4Net,
    /// Gateway.
    pub gateway: Ipv4Addr,
    /// Address of the first workload, ordinal 0.
    pub first: Option<Ipv4Addr>,
    /// Address of the last.
    pub last: Option<Ipv4Addr>,
    /// Ordinal of the last.
    pub last_ordinal: u32,
    /// Resolver of the workloads.
    pub resolver: Option<IpAddr>,
}

/// A zone of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ZoneState {
    /// Name.
    pub zone: String,
    /// Whether it is served.
    pub served: Part<bool>,
    /// Its name servers.
    pub nameservers: Part<Vec<String>>,
}

/// Names of a tenant, and how they are changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Names {
    /// Of its names.
    pub forward: ZoneState,
    /// Of its addresses.
    pub reverse: ZoneState,
    /// Where updates go: the name server's address; `None` where the site has no PowerDNS.
    pub server: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// The key.
    pub key: Part<UpdateKey>,
}

/// A workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Name.
    pub name: String,
    /// Whole name, where the site has names.
    pub fqdn: String,
    /// VMID.
    pub vmid: u32,
    /// Address.
    pub address: Part<Option<Ipv4Addr>>,
    /// `running`, `stopped`, …
    pub status: String,
}

/// A rule of the perimeter that meets the tenant's traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// `pass`, `block`, …
    pub action: String,
    /// From.
    pub source: String,
    /// To.
    pub destination: String,
    /// Port and protocol.
    pub service: String,
    /// What it is for.
    pub purpose: String,
    /// Whether it decides where it matches; else the last of those that match does, where none of these did.
    pub quick: bool,
}

/// A source that did not answer lately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Late {
    /// Which.
    pub source: &'static str,
    /// When what is told of it was read; `None` where it never was.
    pub read: Option<Timestamp>,
    /// Why nothing newer is known.
    pub why: String,
}

/// Everything that a tenant's people need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sheet {
    /// Site.
    pub site: String,
    /// Tenant.
    pub tenant: String,
    /// When it was made.
    pub at: Timestamp,
    /// Sources that did not answer lately: what is told of them is what they said before.
    pub late: Vec<Late>,
    /// How its parts stand.
    pub state: Vec<State>,
    /// Network.
    pub network: Network,
    /// Names.
    pub names: Names,
    /// Workloads.
    pub workloads: Part<Vec<Machine>>,
    /// Rules that people made, in the order in which the first that matches decides. `None` = the site file names no perimeter.
    pub perimeter: Option<Part<Vec<Rule>>>,
}

impl Sheet {
    /// The sheet of a tenant as the picture has it; `keys` as they were read now, `None` while they are read. `None` where there
    /// is no such tenant.
    #[must_use]
    pub fn of(inv: &Inventory, tenant: &str, keys: Option<&Result<Keys, Trouble>>, at: Timestamp) -> Option<Self> {
        let row = inv.tenants.iter().find(|row| *row.name == *tenant)?;
        Some(Self {
            site: inv.site.name.clone(),
            tenant: tenant.to_owned(),
            at,
            late: late(inv),
            state: states(row),
            network: network(inv, row)?,
            names: names(inv, row, keys),
            workloads: workloads(inv, row),
            perimeter: inv.site.opnsense.as_ref().map(|_| perimeter(inv, tenant)),
        })
    }

    /// Whether something on it is not known.
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        let zone = |zone: &ZoneState| zone.served.is_unknown() || zone.nameservers.is_unknown();
        let machines = match &self.workloads {
            Part::Known(rows) => rows.iter().any(|row| row.address.is_unknown()),
            Part::Unknown { .. } => true,
        };
        let names = self.names.key.is_unknown() || zone(&self.names.forward) || zone(&self.names.reverse);
        machines
            || !self.late.is_empty()
            || self.perimeter.as_ref().is_some_and(Part::is_unknown)
            || (names && self.names.server.is_some())
            || self.state.iter().any(|state| state.state == UNKNOWN)
    }

    /// As Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        text::of(self)
    }
}

fn late(inv: &Inventory) -> Vec<Late> {
    let of = |(id, health): (SourceId, &crate::inventory::SourceHealth)| {
        let error = health.error.as_ref().filter(|_| health.configured)?;
        Some(Late { source: id.words(), read: health.observed_at, why: error.text.to_string() })
    };
    inv.sources.iter().filter_map(of).collect()
}

fn why(gap: &Gap) -> String {
    gap.why.to_string()
}

fn states(tenant: &Tenant) -> Vec<State> {
    let state = |(_, part, layer): (char, &'static str, &crate::inventory::Layer)| {
        let gap = layer.gap.as_ref().filter(|_| layer.presence == Presence::Unknown);
        let state = match layer.presence {
            Presence::Unknown if gap.is_some_and(|gap| gap.kind == GapKind::Off) => "off",
            Presence::Unknown => UNKNOWN,
            Presence::Absent => "absent",
            Presence::Pending => "pending",
            Presence::Present => "present",
            Presence::Differs => "differs",
        };
        State { part, state, words: gap.map_or_else(|| layer.words.clone(), why) }
    };
    tenant.layers.all().into_iter().map(state).collect()
}

fn network(inv: &Inventory, tenant: &Tenant) -> Option<Network> {
    let plan = &inv.site.numbering;
    let index = TenantIndex::new(u64::from(tenant.index)).ok()?;
    let last_ordinal = plan.vmids_per_tenant.saturating_sub(1);
    let own =
        |vnet: &&crate::inventory::VnetRow| vnet.tenant.as_deref() == Some(&*tenant.name) && vnet.ordinal == Some(0);
    let derived = || tenant.name.parse::<crate::site::names::TenantName>().ok()?.vnet(0);
    Some(Network {
        index: tenant.index,
        vrf: format!("vrf_{}", tenant.name),
        vrf_vni: tenant.vrf_vni,
        vnet: inv.vnets.iter().find(own).map(|vnet| vnet.vnet.to_string()).or_else(derived).unwrap_or_default(),
        vnet_vni: tenant.vnet_vni,
        subnet: tenant.subnet,
        gateway: tenant.gateway,
        first: plan.workload_address(index, 0),
        last: plan.workload_address(index, last_ordinal),
        last_ordinal,
        resolver: inv.site.resolvers.as_ref().map(|resolvers| resolvers.perimeter),
    })
}

fn zone(inv: &Inventory, zone: &str) -> ZoneState {
    let row = inv.zones.iter().find(|row| *row.zone == *zone);
    let unread = || inv.records_gap.as_ref().map_or_else(|| "the zone was not read yet".to_owned(), why);
    let of =
        |row: Option<&ZoneRow>| row.map_or_else(|| Err(unread()), |row| row.exists.clone().map_err(|gap| why(&gap)));
    let nameservers = match of(row) {
        Ok(false) => Ok(Vec::new()),
        Ok(true) => row.map_or_else(|| Err(unread()), |row| row.nameservers.clone().map_err(|gap| why(&gap))),
        Err(why) => Err(why),
    };
    ZoneState { zone: zone.to_owned(), served: Part::of(of(row)), nameservers: Part::of(nameservers) }
}

fn names(inv: &Inventory, tenant: &Tenant, keys: Option<&Result<Keys, Trouble>>) -> Names {
    let dns = inv.site.powerdns.as_ref();
    let key = match keys {
        None => Err("it is being read".to_owned()),
        Some(Err(trouble)) => Err(trouble.text.clone()),
        Some(Ok(keys)) => chosen(&tenant.name, keys).map_err(|trouble| trouble.text),
    };
    Names {
        forward: zone(inv, &tenant.forward_zone),
        reverse: zone(inv, &tenant.reverse_zone),
        server: dns.map(|dns| dns.dns.ip().to_string()),
        port: dns.map(|dns| dns.dns.port()),
        key: Part::of(key),
    }
}

fn workloads(inv: &Inventory, tenant: &Tenant) -> Part<Vec<Machine>> {
    if let Some(gap) = &inv.workloads_gap {
        return Part::Unknown { unknown: why(gap) };
    }
    let machine = |row: &Workload| Machine {
        name: row.name.to_string(),
        fqdn: format!("{}.{}", row.name, tenant.forward_zone),
        vmid: row.vmid,
        address: Part::of(row.own_address().map_err(|gap| why(&gap))),
        status: row.status.to_string(),
    };
    Part::Known(inv.workloads.iter().filter(|row| *row.tenant == *tenant.name).map(machine).collect())
}

/// Rules that meet the tenant's traffic. One of which nobody knows whether it does makes the list unknown.
fn perimeter(inv: &Inventory, tenant: &str) -> Part<Vec<Rule>> {
    if let Some(gap) = &inv.rules_gap {
        return Part::Unknown { unknown: why(gap) };
    }
    let mut rules = Vec::new();
    // The router's own rules are about itself, or block what nothing lets through.
    for row in inv.rules.iter().filter(|row| row.enabled && row.kind != RuleKind::Automatic) {
        match &row.touches {
            Err(gap) => {
                let unknown = format!("whether rule {} meets {tenant}'s traffic: {}", row.place, gap.why);
                return Part::Unknown { unknown };
            }
            Ok(touch) if touch.meets(tenant) => rules.push(rule(row)),
            Ok(_) => {}
        }
    }
    // Of those that are not quick the last one decides.
    let (mut rules, mut others): (Vec<Rule>, Vec<Rule>) = rules.into_iter().partition(|rule| rule.quick);
    others.reverse();
    rules.extend(others);
    Part::Known(rules)
}

fn rule(row: &RuleRow) -> Rule {
    let action = match &row.action {
        Action::Pass => "pass",
        Action::Block => "block",
        Action::Reject => "reject",
        Action::Unstated => "not stated",
        Action::Other(word) => word.as_str(),
    };
    let loaded = match &row.loaded {
        Ok(true) => "",
        Ok(false) => " (not loaded)",
        Err(_) => " (loaded or not is not known)",
    };
    Rule {
        action: format!("{}{loaded}", crate::text::clean(action)),
        source: row.source.to_string(),
        destination: row.destination.to_string(),
        service: row.service(),
        purpose: row.purpose(),
        quick: row.quick,
    }
}

#[cfg(test)]
mod tests;
