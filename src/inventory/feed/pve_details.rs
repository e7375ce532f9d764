//! Details of Proxmox: VM configurations, subnets, realisation per node. What is on screen is read each cycle, what
//! changed (a task names it) or was never read comes next, the rest is swept in the background.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};

use super::proxmox::gap;
use super::pve_lists::Lists;
use crate::backends::proxmox::model::{Change, NodeVnet, PendingOption, Sdn, Subnet, VmConfig};
use crate::backends::proxmox::{Client, View};
use crate::inventory::source::Seen;
use crate::inventory::{Demand, PveReading};

/// Requests in flight; the client bounds them as well.
const IN_FLIGHT: usize = 4;
/// Objects per batch: small enough that a change of the screen is followed soon.
const BATCH: usize = 24;
/// Age at which a configuration that nobody looks at is read again.
const OLD: SignedDuration = SignedDuration::from_secs(600);
/// Age at which subnets that nobody looks at are read again: an edit there leaves no trace in any list.
const OLD_SUBNETS: SignedDuration = SignedDuration::from_secs(60);

/// One detail to read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Subnets { vnet: String, zone: String },
    Vm { vmid: u32, node: String },
    Zone { node: String, zone: String },
}

type Options = Seen<Vec<PendingOption>>;
type Subnets = Seen<Vec<Sdn<Subnet>>>;

enum Answer {
    Vm(u32, Seen<Arc<VmConfig>>, Options),
    Zone(String, String, Seen<Vec<NodeVnet>>),
    Subnets(String, Subnets),
}

/// What was read so far, and when.
#[derive(Default)]
pub(super) struct Details {
    configs: BTreeMap<u32, (Timestamp, Seen<Arc<VmConfig>>)>,
    pending: BTreeMap<u32, Options>,
    zones: BTreeMap<(String, String), Seen<Vec<NodeVnet>>>,
    subnets: BTreeMap<String, (Timestamp, Subnets)>,
    /// VMs and zones that must be read again although they were.
    dirty: BTreeSet<Item>,
    /// What this cycle has read already because it is on screen.
    done: BTreeSet<Item>,
    seen_tasks: BTreeSet<String>,
    at: Timestamp,
}

impl Details {
    /// After a cycle of lists: forget what is gone, mark what a new task touched.
    pub(super) fn follow(&mut self, lists: &Lists) {
        let guests: BTreeMap<u32, &str> = lists.guests().collect();
        self.configs.retain(|vmid, _| guests.contains_key(vmid));
        self.pending.retain(|vmid, _| guests.contains_key(vmid));
        let vnets: BTreeSet<Item> = subnets(lists).collect();
        self.subnets.retain(|vnet, _| vnets.iter().any(|i| matches!(i, Item::Subnets { vnet: v, .. } if v == vnet)));
        self.done.clear();
        let first = self.seen_tasks.is_empty();
        let mut now = BTreeSet::new();
        for task in lists.tasks() {
            // A task that ended since is another event than its start.
            let key = format!("{} {}", task.upid, task.status.is_some());
            if !first && !self.seen_tasks.contains(&key) {
                self.touched(&task.kind, &task.id, &guests);
            }
            now.insert(key);
        }
        self.seen_tasks = now;
    }

    fn touched(&mut self, kind: &str, id: &str, guests: &BTreeMap<u32, &str>) {
        if matches!(kind, "reloadnetworkall" | "srvreload") {
            self.dirty
                .extend(self.zones.keys().map(|(node, zone)| Item::Zone { node: node.clone(), zone: zone.clone() }));
        }
        if let Some((vmid, node)) = id.parse().ok().and_then(|vmid: u32| guests.get_key_value(&vmid)) {
            self.dirty.insert(Item::Vm { vmid: *vmid, node: (*node).to_owned() });
        }
    }

    /// The next details to read; empty = nothing is due.
    pub(super) fn batch(&self, lists: &Lists, demand: &Demand) -> Vec<Item> {
        let on_screen = |item: &Item| match item {
            Item::Vm { vmid, .. } => demand.vmids.contains(vmid),
            Item::Zone { zone, .. } | Item::Subnets { zone, .. } => demand.tenants.iter().any(|t| **t == **zone),
        };
        let vms = lists.guests().map(|(vmid, node)| Item::Vm { vmid, node: node.to_owned() });
        let all: Vec<Item> = subnets(lists).chain(vms).chain(zones(lists)).collect();
        let shown = all.iter().filter(|i| on_screen(i) && !self.done.contains(*i));
        let fresh = all.iter().filter(|i| self.dirty.contains(*i));
        let unread = all.iter().filter(|i| self.age(i).is_none());
        let failed = all.iter().filter(|i| self.failed(i) && !self.done.contains(*i));
        let limit = |i: &Item| if matches!(i, Item::Subnets { .. }) { OLD_SUBNETS } else { OLD };
        let old = all.iter().filter(|i| self.age(i).is_some_and(|age| age > limit(i)));
        let mut batch = Vec::new();
        for item in shown.chain(fresh).chain(unread).chain(failed).chain(old) {
            if batch.len() == BATCH {
                break;
            }
            if !batch.contains(item) {
                batch.push(item.clone());
            }
        }
        batch
    }

    /// Age of a detail; `None` = never read.
    fn age(&self, item: &Item) -> Option<SignedDuration> {
        match item {
            Item::Vm { vmid, .. } => self.configs.get(vmid).map(|(at, _)| self.at.duration_since(*at)),
            Item::Subnets { vnet, .. } => self.subnets.get(vnet).map(|(at, _)| self.at.duration_since(*at)),
            Item::Zone { node, zone } => {
                self.zones.contains_key(&(node.clone(), zone.clone())).then_some(SignedDuration::ZERO)
            }
        }
    }

    /// Whether the last read of a detail failed; once a cycle it is tried again.
    fn failed(&self, item: &Item) -> bool {
        match item {
            Item::Vm { vmid, .. } => self.configs.get(vmid).is_some_and(|(_, c)| c.is_err()),
            Item::Subnets { vnet, .. } => self.subnets.get(vnet).is_some_and(|(_, s)| s.is_err()),
            Item::Zone { node, zone } => self.zones.get(&(node.clone(), zone.clone())).is_some_and(Result::is_err),
        }
    }

    /// Reads a batch, a few requests at a time.
    pub(super) async fn read(&mut self, client: &Client, batch: Vec<Item>, now: Timestamp) {
        self.at = now;
        for item in &batch {
            self.dirty.remove(item);
            self.done.insert(item.clone());
        }
        let mut answers = stream::iter(batch).map(|item| ask(client, item)).buffer_unordered(IN_FLIGHT);
        while let Some(answer) = answers.next().await {
            match answer {
                Answer::Vm(vmid, config, pending) => {
                    self.configs.insert(vmid, (now, config));
                    self.pending.insert(vmid, pending);
                }
                Answer::Subnets(vnet, subnets) => drop(self.subnets.insert(vnet, (now, subnets))),
                Answer::Zone(node, zone, content) => drop(self.zones.insert((node, zone), content)),
            }
        }
    }

    /// Puts the details into a reading.
    pub(super) fn fill(&self, reading: &mut PveReading) {
        reading.configs = self.configs.iter().map(|(vmid, (_, config))| (*vmid, config.clone())).collect();
        reading.vm_pending.clone_from(&self.pending);
        reading.node_vnets.clone_from(&self.zones);
        let Ok(sdn) = &mut reading.sdn else { return };
        for (vnet, (_, subnets)) in &self.subnets {
            match subnets {
                Ok(subnets) => drop(sdn.subnets.insert(vnet.clone(), subnets.clone())),
                Err(gap) => drop(reading.subnet_gaps.insert(vnet.clone(), gap.clone())),
            }
        }
    }
}

/// Every VNet whose subnets can be asked for; those of a VNet that is being deleted are hidden.
fn subnets(lists: &Lists) -> impl Iterator<Item = Item> {
    let vnets = lists.sdn().map(|sdn| sdn.vnets.as_slice()).unwrap_or_default();
    vnets
        .iter()
        .filter(|v| v.change != Change::Deleted)
        .filter_map(|v| v.current())
        .map(|v| Item::Subnets { vnet: v.vnet.clone(), zone: v.zone.clone() })
}

/// (online node, applied zone that it should carry).
fn zones(lists: &Lists) -> Vec<Item> {
    let Some(sdn) = lists.sdn() else { return Vec::new() };
    let applied: Vec<_> = sdn.zones.iter().filter_map(|z| z.running.as_ref()).collect();
    lists
        .online()
        .flat_map(|node| {
            applied
                .iter()
                .filter(move |z| z.nodes.is_empty() || z.nodes.iter().any(|n| n == node))
                .map(move |z| Item::Zone { node: node.to_owned(), zone: z.zone.clone() })
        })
        .collect()
}

async fn ask(client: &Client, item: Item) -> Answer {
    match item {
        Item::Vm { vmid, node } => {
            let config = client.vm_config(&node, vmid).await.map(Arc::new).map_err(|e| gap(&e));
            let pending = client.vm_pending(&node, vmid).await.map_err(|e| gap(&e));
            Answer::Vm(vmid, config, pending)
        }
        Item::Subnets { vnet, .. } => {
            let subnets = client.subnets(&vnet, View::Pending).await.map_err(|e| gap(&e));
            Answer::Subnets(vnet, subnets)
        }
        Item::Zone { node, zone } => {
            let content = client.zone_content(&node, &zone).await.map_err(|e| gap(&e));
            Answer::Zone(node, zone, content)
        }
    }
}
