//! The cheap lists of Proxmox: a fixed number of requests each cycle, whatever the site carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::proxmox::gap;
use crate::backends::proxmox::endpoints::{self, Endpoint};
use crate::backends::proxmox::model::{
    ClusterStatus, LockState, NodeStatus, Permissions, Resources, SdnConfig, Task, Version, Vm,
};
use crate::backends::proxmox::{Client, Error, Need, SdnRead, SubnetsOf};
use crate::inventory::PveReading;
use crate::inventory::source::{Gap, GapKind, Seen};
use crate::site::Site;

/// Cycles between two reads of what hardly changes (the version).
const SLOW: u32 = 30;

/// What the last cycle read.
#[derive(Default)]
pub(super) struct Lists {
    at: Option<Timestamp>,
    cycle: u32,
    version: Option<Seen<Version>>,
    permissions: Option<Seen<Arc<Permissions>>>,
    cluster: Option<Seen<ClusterStatus>>,
    resources: Option<Seen<Arc<Resources>>>,
    guests_hidden: Option<Gap>,
    zones_hidden: Option<Gap>,
    sdn: Option<Seen<SdnConfig>>,
    sdn_gaps: Vec<Gap>,
    tasks: Option<Seen<Vec<Task>>>,
    nodes: BTreeMap<String, Seen<NodeStatus>>,
    staged: BTreeMap<String, Seen<Option<String>>>,
    lock: LockState,
    /// Whether the last cycle got answers.
    alive: bool,
}

impl Lists {
    /// Whether the last cycle got answers.
    pub(super) const fn alive(&self) -> bool {
        self.alive
    }

    /// Guests whose node answers: VMID, node.
    pub(super) fn guests(&self) -> impl Iterator<Item = (u32, &str)> {
        self.vms().iter().filter(|vm| !vm.template && vm.status != "unknown").map(|vm| (vm.vmid, vm.node.as_str()))
    }

    /// Everything in the guest list.
    pub(super) fn vms(&self) -> &[Vm] {
        self.resources.as_ref().and_then(|r| r.as_ref().ok()).map(|r| r.vms.as_slice()).unwrap_or_default()
    }

    /// SDN configuration.
    pub(super) fn sdn(&self) -> Option<&SdnConfig> {
        self.sdn.as_ref()?.as_ref().ok()
    }

    /// Nodes that are online.
    pub(super) fn online(&self) -> impl Iterator<Item = &str> {
        let nodes = self.resources.as_ref().and_then(|r| r.as_ref().ok()).map(|r| r.nodes.as_slice());
        nodes.unwrap_or_default().iter().filter(|n| n.status == "online").map(|n| n.node.as_str())
    }

    /// (node, zone) → state as the resource list has it.
    pub(super) fn zone_states(&self) -> impl Iterator<Item = ((String, String), String)> {
        let zones = self.resources.as_ref().and_then(|r| r.as_ref().ok()).map(|r| r.zones.as_slice());
        zones.unwrap_or_default().iter().map(|z| ((z.node.clone(), z.zone.clone()), z.status.clone()))
    }

    /// Whether the guest list was read.
    pub(super) const fn guests_known(&self) -> bool {
        matches!(self.resources, Some(Ok(_)))
    }

    /// Recent tasks; `None` = not read this time.
    pub(super) fn tasks(&self) -> Option<&[Task]> {
        self.tasks.as_ref()?.as_ref().ok().map(Vec::as_slice)
    }

    /// Reads everything. Parts may fail on their own; the cycle fails when the guest list *and* the SDN lists did.
    pub(super) async fn read(&mut self, client: &Client, site: &Site, now: Timestamp) -> Result<(), Error> {
        self.alive = false;
        // First, and alone: a wrong token is one request a try, not ten (each 401 takes 3 s). And every time: lists hide
        // what a token that lost a right may no longer see.
        self.permissions = Some(rights(client).await?);
        if self.cycle.is_multiple_of(SLOW) {
            self.version = Some(client.version().await.map_err(|e| gap(&e)));
        }
        let node = site.proxmox.node.as_str();
        let (resources, sdn, cluster, tasks, status, staged) = tokio::join!(
            client.resources(),
            client.sdn(&SubnetsOf::None),
            client.cluster_status(),
            client.cluster_tasks(),
            client.node_status(node),
            client.staged_network(node),
        );
        let (resources, sdn) = match (resources, sdn) {
            (Err(error), Err(_)) => return Err(error),
            pair => pair,
        };
        if let Err(error) = &sdn {
            self.lock = std::mem::take(&mut self.lock).after(error, now);
        }
        self.guests_hidden = hidden(client, &endpoints::RESOURCES, "guests");
        self.zones_hidden = hidden(client, &endpoints::ZONES, "zones");
        self.resources = Some(resources.map(lean).map_err(|e| gap(&e)));
        self.take_sdn(sdn);
        if self.sees_nothing() {
            return Err(denied(&endpoints::ZONES));
        }
        self.cluster = Some(cluster.map_err(|e| gap(&e)));
        self.tasks = Some(tasks.map_err(|e| gap(&e)));
        self.nodes.insert(node.to_owned(), status.map_err(|e| gap(&e)));
        self.staged.insert(node.to_owned(), staged.map(|s| s.changes).map_err(|e| gap(&e)));
        if self.cycle.is_multiple_of(SLOW) {
            self.read_other_nodes(client, node).await;
        }
        self.at = Some(now);
        self.cycle += 1;
        self.alive = true;
        Ok(())
    }

    /// The nodes that carry no tenants: seldom, since little of them is shown.
    async fn read_other_nodes(&mut self, client: &Client, own: &str) {
        let others: Vec<String> = self.online().filter(|n| *n != own).map(str::to_owned).collect();
        for node in others {
            let (status, staged) = tokio::join!(client.node_status(&node), client.staged_network(&node));
            self.nodes.insert(node.clone(), status.map_err(|e| gap(&e)));
            self.staged.insert(node, staged.map(|s| s.changes).map_err(|e| gap(&e)));
        }
    }

    /// An SDN list without SDN.Audit is empty, not refused (facts/proxmox.md §3): that is a denial.
    fn take_sdn(&mut self, read: Result<SdnRead, Error>) {
        self.sdn = Some(match (read, &self.zones_hidden) {
            (Ok(read), Some(hidden)) if read.config.zones.is_empty() => Err(hidden.clone()),
            (Ok(read), _) => {
                self.sdn_gaps = read.not_read.iter().map(|n| gap(&n.why).about(&n.what)).collect();
                Ok(read.config)
            }
            (Err(error), _) => Err(gap(&error)),
        });
    }

    /// Whether the token is accepted and shown neither zones nor guests: a denial of the source as a whole.
    fn sees_nothing(&self) -> bool {
        let no_zones = matches!(&self.sdn, Some(Err(gap)) if gap.kind == GapKind::Denied);
        no_zones && self.guests_hidden.is_some() && self.vms().is_empty()
    }

    /// The reading so far, details still empty.
    pub(super) fn reading(&self) -> PveReading {
        let mut r = PveReading::empty(self.at.unwrap_or_default());
        let or = |fallback: Gap| Err(fallback);
        r.version = self.version.clone().unwrap_or_else(|| or(Gap::not_read("the version")));
        r.permissions = match &self.permissions {
            Some(p) => p.as_ref().map(|p| (**p).clone()).map_err(Clone::clone),
            None => r.permissions,
        };
        r.cluster = self.cluster.clone().unwrap_or(r.cluster);
        r.resources = self.resources.clone().unwrap_or(r.resources);
        r.guests_hidden.clone_from(&self.guests_hidden);
        r.zones_hidden.clone_from(&self.zones_hidden);
        r.sdn = self.sdn.clone().unwrap_or(r.sdn);
        r.tasks = self.tasks.clone().unwrap_or(r.tasks);
        r.nodes.clone_from(&self.nodes);
        r.staged.clone_from(&self.staged);
        r.lock = self.lock.clone();
        r
    }
}

/// What the join looks at: it asks no VM's tags.
fn lean(mut resources: Resources) -> Arc<Resources> {
    resources.vms.iter_mut().for_each(|vm| vm.tags = Vec::new());
    Arc::new(resources)
}

/// The rights map. A server that cannot be reached at all ends the cycle here.
async fn rights(client: &Client) -> Result<Seen<Arc<Permissions>>, Error> {
    match client.permissions().await {
        Ok(p) => Ok(Ok(p)),
        Err(error @ (Error::Http(_) | Error::Unauthenticated { .. })) => Err(error),
        Err(error) => Ok(Err(gap(&error))),
    }
}

/// Why objects may be missing from the list at `endpoint` although it was read: lists leave out what the token may not
/// see (facts/proxmox.md §3).
fn hidden(client: &Client, endpoint: &Endpoint, what: &str) -> Option<Gap> {
    if client.sees_all(endpoint)? {
        return None;
    }
    let why = format!(
        "the token lacks {} for all of {}: {what} may be hidden, not absent",
        privileges(endpoint),
        place(endpoint)
    );
    Some(Gap::new(GapKind::Denied, why))
}

fn denied(endpoint: &Endpoint) -> Error {
    let privileges = endpoint.privilege.any_of.iter().map(|p| (*p).to_owned()).collect();
    Error::Denied { need: Some(Need { path: place(endpoint).to_owned(), privileges }), text: String::new() }
}

/// The path above all objects of a list.
fn place(endpoint: &Endpoint) -> &'static str {
    endpoint.privilege.path.split("/{").next().unwrap_or("/")
}

fn privileges(endpoint: &Endpoint) -> String {
    endpoint.privilege.any_of.join(" or ")
}

/// Parts that an answering server refused or could not give.
pub(super) fn gaps(r: &PveReading, lists: &Lists) -> Vec<Gap> {
    let mut out: Vec<Gap> = [
        r.version.as_ref().err(),
        r.permissions.as_ref().err(),
        r.cluster.as_ref().err(),
        r.resources.as_ref().err(),
        r.guests_hidden.as_ref(),
        r.zones_hidden.as_ref(),
        r.sdn.as_ref().err(),
        r.tasks.as_ref().err(),
    ]
    .into_iter()
    .flatten()
    .filter(|g| g.kind != GapKind::NotRead)
    .cloned()
    .collect();
    out.extend(lists.sdn_gaps.iter().cloned());
    out.extend(r.nodes.values().filter_map(|n| n.as_ref().err()).cloned());
    let mut told = std::collections::BTreeSet::new();
    out.retain(|g| told.insert(Arc::clone(&g.why)));
    out
}
