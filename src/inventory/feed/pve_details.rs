//! Details of Proxmox: VM configurations, subnets, realisation per node. What is on screen is read each cycle, what
//! changed (a task names it) or was never read comes next, the rest is swept in the background.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};

use super::proxmox::gap;
use super::pve_lists::Lists;
use crate::backends::proxmox::Client;
use crate::backends::proxmox::model::{Change, NodeVnet, PendingOption, VmConfig};
use crate::inventory::source::Seen;
use crate::inventory::{Demand, PveReading};

/// Requests in flight; the client bounds them as well.
const IN_FLIGHT: usize = 4;
/// Objects per batch: small enough that a change of the screen is followed soon.
const BATCH: usize = 24;
/// Age at which a configuration that nobody looks at is read again.
const OLD: SignedDuration = SignedDuration::from_secs(600);
/// VNets whose subnets are read again each cycle although nobody looks at them.
const SUBNETS_PER_CYCLE: usize = 4;

/// One detail to read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Vm { vmid: u32, node: String },
    Zone { node: String, zone: String },
}

type Options = Seen<Vec<PendingOption>>;

enum Answer {
    Vm(u32, Seen<Arc<VmConfig>>, Options),
    Zone(String, String, Seen<Vec<NodeVnet>>),
}

/// What was read so far, and when.
#[derive(Default)]
pub(super) struct Details {
    configs: BTreeMap<u32, (Timestamp, Seen<Arc<VmConfig>>)>,
    pending: BTreeMap<u32, Options>,
    zones: BTreeMap<(String, String), Seen<Vec<NodeVnet>>>,
    /// VMs and zones that must be read again although they were.
    dirty: BTreeSet<Item>,
    /// What this cycle has read already because it is on screen.
    done: BTreeSet<Item>,
    seen_tasks: BTreeSet<String>,
    at: Timestamp,
    rotation: usize,
}

impl Details {
    /// VNets whose subnets the next cycle reads: on screen, never read, after a reload all, else a few in turn.
    pub(super) fn subnets_due(&mut self, lists: &Lists, demand: &Demand) -> BTreeSet<String> {
        let Some(sdn) = lists.sdn() else { return BTreeSet::new() };
        let all: Vec<(&str, &str)> = sdn
            .vnets
            .iter()
            .filter(|v| v.change != Change::Deleted)
            .filter_map(|v| v.current())
            .map(|v| (v.vnet.as_str(), v.zone.as_str()))
            .collect();
        let shown = |zone: &str| demand.tenants.iter().any(|t| &**t == zone);
        let mut due: BTreeSet<String> = all
            .iter()
            .filter(|(vnet, zone)| shown(zone) || !lists.has_subnets(vnet))
            .map(|(vnet, _)| (*vnet).to_owned())
            .collect();
        let turn = all.iter().cycle().skip(self.rotation).take(SUBNETS_PER_CYCLE.min(all.len()));
        due.extend(turn.map(|(vnet, _)| (*vnet).to_owned()));
        self.rotation = (self.rotation + SUBNETS_PER_CYCLE) % all.len().max(1);
        due
    }

    /// After a cycle of lists: forget what is gone, mark what a new task touched.
    pub(super) fn follow(&mut self, lists: &Lists) {
        let guests: BTreeMap<u32, &str> = lists.guests().collect();
        self.configs.retain(|vmid, _| guests.contains_key(vmid));
        self.pending.retain(|vmid, _| guests.contains_key(vmid));
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
            Item::Zone { zone, .. } => demand.tenants.iter().any(|t| **t == **zone),
        };
        let vms = lists.guests().map(|(vmid, node)| Item::Vm { vmid, node: node.to_owned() });
        let all: Vec<Item> = vms.chain(zones(lists)).collect();
        let shown = all.iter().filter(|i| on_screen(i) && !self.done.contains(*i));
        let fresh = all.iter().filter(|i| self.dirty.contains(*i));
        let unread = all.iter().filter(|i| self.age(i).is_none());
        let old = all.iter().filter(|i| self.age(i).is_some_and(|age| age > OLD));
        let mut batch = Vec::new();
        for item in shown.chain(fresh).chain(unread).chain(old) {
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
            Item::Zone { node, zone } => {
                self.zones.contains_key(&(node.clone(), zone.clone())).then_some(SignedDuration::ZERO)
            }
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
                Answer::Zone(node, zone, content) => drop(self.zones.insert((node, zone), content)),
            }
        }
    }

    /// Puts the details into a reading.
    pub(super) fn fill(&self, reading: &mut PveReading) {
        reading.configs = self.configs.iter().map(|(vmid, (_, config))| (*vmid, config.clone())).collect();
        reading.vm_pending.clone_from(&self.pending);
        reading.node_vnets.clone_from(&self.zones);
    }
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
        Item::Zone { node, zone } => {
            let content = client.zone_content(&node, &zone).await.map_err(|e| gap(&e));
            Answer::Zone(node, zone, content)
        }
    }
}
