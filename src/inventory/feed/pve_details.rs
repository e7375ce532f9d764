//! Details of Proxmox: VM configurations, subnets, realisation per node. What is on screen is read each cycle, what
//! changed (a task names it) or was never read comes next, the rest is swept in the background.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};

use super::proxmox::gap;
use super::pve_lists::Lists;
use crate::backends::proxmox::model::{Change, NodeVnet, PendingOption, Sdn, Subnet, Task, VmConfig};
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
    Subnets {
        vnet: String,
        zone: String,
    },
    Vm {
        vmid: u32,
        node: String,
    },
    /// The same with what waits for a cold start, in one request. Only of VMs on screen: the answer is several times
    /// as long.
    Options {
        vmid: u32,
        node: String,
    },
    Zone {
        node: String,
        zone: String,
    },
}

type Options = Seen<Vec<PendingOption>>;
type Subnets = Seen<Vec<Sdn<Subnet>>>;
type Content = Seen<Vec<NodeVnet>>;
/// (node, zone).
type Place = (String, String);

enum Answer {
    Vm(u32, Seen<Arc<VmConfig>>),
    Options(u32, Seen<(Arc<VmConfig>, Vec<PendingOption>)>),
    Zone(String, String, Content),
    Subnets(String, Subnets),
}

/// What was read so far, and when.
#[derive(Default)]
pub(super) struct Details {
    /// Every detail there is to read, as of the newest cycle.
    all: Vec<Item>,
    configs: BTreeMap<u32, (Timestamp, Seen<Arc<VmConfig>>)>,
    pending: BTreeMap<u32, Options>,
    zones: BTreeMap<Place, (Timestamp, Content)>,
    /// (node, zone) → its state in the resource list, which changes with what the node carries.
    zone_states: BTreeMap<Place, String>,
    subnets: BTreeMap<String, (Timestamp, Subnets)>,
    /// VMs and zones that must be read again although they were.
    dirty: BTreeSet<Item>,
    /// What this cycle has read already because it is on screen.
    done: BTreeSet<Item>,
    seen_tasks: Option<BTreeSet<String>>,
    /// Ages are counted from here: the newest cycle, or the newest batch.
    at: Timestamp,
}

impl Details {
    /// After a cycle of lists: forget what is gone, mark what a new task touched. A list that could not be read this
    /// time says nothing about what is gone.
    pub(super) fn follow(&mut self, lists: &Lists, now: Timestamp) {
        self.at = now;
        self.done.clear();
        self.all = all(lists).collect();
        if lists.guests_known() {
            let guests: BTreeSet<u32> = lists.vms().iter().map(|vm| vm.vmid).collect();
            self.configs.retain(|vmid, _| guests.contains(vmid));
            self.pending.retain(|vmid, _| guests.contains(vmid));
            self.dirty.retain(|i| !matches!(i, Item::Vm { vmid, .. } if !guests.contains(vmid)));
        }
        if lists.guests_known() && lists.sdn().is_some() {
            self.follow_sdn(lists);
        }
        self.follow_tasks(lists);
    }

    fn follow_sdn(&mut self, lists: &Lists) {
        let names: BTreeSet<String> = subnets(lists).map(|(vnet, _)| vnet.to_owned()).collect();
        self.subnets.retain(|vnet, _| names.contains(vnet));
        let carried: BTreeSet<Place> = zones(lists).into_iter().collect();
        // What a node carries is not known while it does not answer.
        self.zones.retain(|key, _| carried.contains(key));
        self.dirty.retain(|i| match i {
            Item::Vm { .. } | Item::Options { .. } => true,
            Item::Zone { node, zone } => carried.contains(&(node.clone(), zone.clone())),
            Item::Subnets { vnet, .. } => names.contains(vnet),
        });
        let states: BTreeMap<_, _> = lists.zone_states().filter(|(key, _)| carried.contains(key)).collect();
        let moved = states.iter().filter(|(key, state)| self.zone_states.get(*key) != Some(*state));
        self.dirty.extend(moved.map(|((node, zone), _)| Item::Zone { node: node.clone(), zone: zone.clone() }));
        self.zone_states = states;
    }

    fn follow_tasks(&mut self, lists: &Lists) {
        let Some(tasks) = lists.tasks() else { return };
        // A task that ended since is another event than its start.
        let now: BTreeSet<String> = tasks.iter().map(|t| format!("{} {}", t.upid, t.status.is_some())).collect();
        if let Some(seen) = self.seen_tasks.take() {
            for task in tasks.iter().filter(|t| !seen.contains(&format!("{} {}", t.upid, t.status.is_some()))) {
                self.touched(task);
            }
        }
        self.seen_tasks = Some(now);
    }

    fn touched(&mut self, task: &Task) {
        if matches!(task.kind.as_str(), "reloadnetworkall" | "srvreload") {
            // An apply: what nodes carry and what of the subnets waits are both new.
            self.dirty.extend(self.all.iter().filter(|i| !matches!(i, Item::Vm { .. })).cloned());
        }
        let vmid: Option<u32> = task.id.parse().ok();
        let named = |i: &&Item| matches!(i, Item::Vm { vmid: v, .. } if Some(*v) == vmid);
        self.dirty.extend(self.all.iter().filter(named).cloned());
    }

    /// The next details to read; empty = nothing is due.
    pub(super) fn batch(&self, lists: &Lists, demand: &Demand) -> Vec<Item> {
        // Without a screen all are asked for.
        let vmids: BTreeSet<u32> = demand.vmids.iter().copied().collect();
        let on_screen = |item: &Item| match item {
            Item::Vm { vmid, .. } | Item::Options { vmid, .. } => vmids.contains(vmid),
            Item::Zone { zone, .. } | Item::Subnets { zone, .. } => demand.tenants.iter().any(|t| **t == **zone),
        };
        let options = lists
            .guests()
            .filter(|(vmid, _)| vmids.contains(vmid))
            .map(|(vmid, node)| Item::Options { vmid, node: node.to_owned() });
        let anything = !(vmids.is_empty() && demand.tenants.is_empty());
        let all = &self.all;
        let shown = |i: &&Item| anything && on_screen(i) && !matches!(i, Item::Vm { .. });
        let shown = options.chain(all.iter().filter(shown).cloned()).filter(|i| !self.done.contains(i));
        let fresh = all.iter().filter(|i| self.dirty.contains(*i));
        let unread = all.iter().filter(|i| self.age(i).is_none());
        let failed = all.iter().filter(|i| self.failed(i) && !self.done.contains(*i));
        let limit = |i: &Item| if matches!(i, Item::Subnets { .. }) { OLD_SUBNETS } else { OLD };
        let old = all.iter().filter(|i| self.age(i).is_some_and(|age| age > limit(i)));
        let mut batch = Vec::new();
        for item in shown.chain(fresh.chain(unread).chain(failed).chain(old).cloned()) {
            if batch.len() == BATCH {
                break;
            }
            if !batch.contains(&item) {
                batch.push(item);
            }
        }
        batch
    }

    /// Age of a detail; `None` = never read.
    fn age(&self, item: &Item) -> Option<SignedDuration> {
        match item {
            Item::Vm { vmid, .. } => self.configs.get(vmid).map(|(at, _)| self.at.duration_since(*at)),
            Item::Options { vmid, .. } => self.pending.contains_key(vmid).then_some(SignedDuration::ZERO),
            Item::Subnets { vnet, .. } => self.subnets.get(vnet).map(|(at, _)| self.at.duration_since(*at)),
            Item::Zone { node, zone } => {
                self.zones.get(&(node.clone(), zone.clone())).map(|(at, _)| self.at.duration_since(*at))
            }
        }
    }

    /// Whether the last read of a detail failed; once a cycle it is tried again.
    fn failed(&self, item: &Item) -> bool {
        match item {
            Item::Vm { vmid, .. } => self.configs.get(vmid).is_some_and(|(_, c)| c.is_err()),
            Item::Options { vmid, .. } => self.pending.get(vmid).is_some_and(Result::is_err),
            Item::Subnets { vnet, .. } => self.subnets.get(vnet).is_some_and(|(_, s)| s.is_err()),
            Item::Zone { node, zone } => self.zones.get(&(node.clone(), zone.clone())).is_some_and(|(_, z)| z.is_err()),
        }
    }

    /// Reads a batch, a few requests at a time. Once `due` resolves no further request starts, but for the first few:
    /// a server that answers late, or an operator who wishes again and again, must not hold up the lists, nor the lists
    /// the details.
    pub(super) async fn read(
        &mut self,
        client: &Client,
        mut batch: Vec<Item>,
        now: Timestamp,
        due: impl Future<Output = ()>,
    ) {
        self.at = now;
        let rest = batch.split_off(batch.len().min(IN_FLIGHT));
        let items = stream::iter(batch).chain(stream::iter(rest).take_until(due));
        let answers = items.map(|item| async { (item.clone(), ask(client, item).await) }).buffer_unordered(IN_FLIGHT);
        let mut answers = std::pin::pin!(answers);
        while let Some((item, answer)) = answers.next().await {
            if let Item::Options { vmid, node } = &item {
                let vm = Item::Vm { vmid: *vmid, node: node.clone() };
                self.dirty.remove(&vm);
                self.done.insert(vm);
            }
            self.dirty.remove(&item);
            self.done.insert(item);
            match answer {
                Answer::Vm(vmid, config) => drop(self.configs.insert(vmid, (now, config))),
                Answer::Options(vmid, both) => {
                    let config = both.as_ref().map(|(config, _)| Arc::clone(config)).map_err(Clone::clone);
                    self.configs.insert(vmid, (now, config));
                    self.pending.insert(vmid, both.map(|(_, pending)| pending));
                }
                Answer::Subnets(vnet, subnets) => drop(self.subnets.insert(vnet, (now, subnets))),
                Answer::Zone(node, zone, content) => drop(self.zones.insert((node, zone), (now, content))),
            }
        }
    }

    /// Puts the details into a reading.
    pub(super) fn fill(&self, reading: &mut PveReading) {
        reading.configs = self.configs.iter().map(|(vmid, (_, config))| (*vmid, config.clone())).collect();
        reading.vm_pending.clone_from(&self.pending);
        reading.node_vnets = self.zones.iter().map(|(key, (_, content))| (key.clone(), content.clone())).collect();
        let Ok(sdn) = &mut reading.sdn else { return };
        for (vnet, (_, subnets)) in &self.subnets {
            match subnets {
                Ok(subnets) => drop(sdn.subnets.insert(vnet.clone(), subnets.clone())),
                Err(gap) => drop(reading.subnet_gaps.insert(vnet.clone(), gap.clone())),
            }
        }
    }
}

/// Every detail there is to read.
fn all(lists: &Lists) -> impl Iterator<Item = Item> {
    let subnets = subnets(lists).map(|(vnet, zone)| Item::Subnets { vnet: vnet.to_owned(), zone: zone.to_owned() });
    let vms = lists.guests().map(|(vmid, node)| Item::Vm { vmid, node: node.to_owned() });
    subnets.chain(vms).chain(zones(lists).into_iter().map(|(node, zone)| Item::Zone { node, zone }))
}

/// (VNet, zone) of every VNet whose subnets can be asked for; those of a VNet that is being deleted are hidden.
fn subnets(lists: &Lists) -> impl Iterator<Item = (&str, &str)> {
    let vnets = lists.sdn().map(|sdn| sdn.vnets.as_slice()).unwrap_or_default();
    vnets
        .iter()
        .filter(|v| v.change != Change::Deleted)
        .filter_map(|v| v.current())
        .map(|v| (v.vnet.as_str(), v.zone.as_str()))
}

/// (online node, applied zone that it should carry).
fn zones(lists: &Lists) -> Vec<Place> {
    let Some(sdn) = lists.sdn() else { return Vec::new() };
    let applied: Vec<_> = sdn.zones.iter().filter_map(|z| z.running.as_ref()).collect();
    lists
        .online()
        .flat_map(|node| {
            applied
                .iter()
                .filter(move |z| z.nodes.is_empty() || z.nodes.iter().any(|n| n == node))
                .map(move |z| (node.to_owned(), z.zone.clone()))
        })
        .collect()
}

/// What the join looks at; the rest of thousands of VMs is memory for nothing.
fn lean(mut config: VmConfig) -> Arc<VmConfig> {
    config.raw = BTreeMap::new();
    (config.digest, config.ciuser, config.name, config.tags) = (None, None, None, Vec::new());
    Arc::new(config)
}

async fn ask(client: &Client, item: Item) -> Answer {
    match item {
        Item::Vm { vmid, node } => Answer::Vm(vmid, client.vm_config(&node, vmid).await.map(lean).map_err(|e| gap(&e))),
        Item::Options { vmid, node } => {
            let both = client.vm_config_and_pending(&node, vmid).await.map(|(config, mut pending)| {
                pending.retain(|option| option.pending.is_some() || option.delete);
                pending.shrink_to_fit();
                (lean(config), pending)
            });
            Answer::Options(vmid, both.map_err(|e| gap(&e)))
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
