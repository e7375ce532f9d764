//! The cheap lists of Proxmox: a fixed number of requests each cycle, whatever the site carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::proxmox::gap;
use crate::backends::proxmox::model::{
    ClusterStatus, LockState, NodeStatus, Permissions, Resources, SdnConfig, Task, Version,
};
use crate::backends::proxmox::{Client, Error, SdnRead, SubnetsOf};
use crate::inventory::PveReading;
use crate::inventory::source::{Gap, GapKind, Seen};
use crate::site::Site;

/// Cycles between two reads of what hardly changes (version, rights).
const SLOW: u32 = 30;

/// What the last cycle read.
#[derive(Default)]
pub(super) struct Lists {
    at: Option<Timestamp>,
    cycle: u32,
    version: Option<Seen<Version>>,
    permissions: Option<Seen<Arc<Permissions>>>,
    cluster: Option<Seen<ClusterStatus>>,
    resources: Option<Seen<Resources>>,
    guests_hidden: Option<Gap>,
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

    /// Guests: VMID, node.
    pub(super) fn guests(&self) -> impl Iterator<Item = (u32, &str)> {
        let vms = self.resources.as_ref().and_then(|r| r.as_ref().ok()).map(|r| r.vms.as_slice()).unwrap_or_default();
        vms.iter().filter(|vm| !vm.template && vm.status != "unknown").map(|vm| (vm.vmid, vm.node.as_str()))
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

    /// Recent tasks.
    pub(super) fn tasks(&self) -> &[Task] {
        self.tasks.as_ref().and_then(|t| t.as_ref().ok()).map(Vec::as_slice).unwrap_or_default()
    }

    /// Reads everything. Parts may fail on their own; the cycle fails when the guest list *and* the SDN lists did.
    pub(super) async fn read(&mut self, client: &Client, site: &Site, now: Timestamp) -> Result<(), Error> {
        self.alive = false;
        if self.cycle.is_multiple_of(SLOW) {
            // First, and alone: a wrong token is one request every few seconds, not ten (each 401 takes 3 s).
            self.permissions = Some(self.rights(client).await?);
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
        self.take_resources(resources.map_err(|e| gap(&e)));
        self.take_sdn(sdn);
        self.cluster = Some(cluster.map_err(|e| gap(&e)));
        self.tasks = Some(tasks.map_err(|e| gap(&e)));
        self.nodes.insert(node.to_owned(), status.map_err(|e| gap(&e)));
        self.staged.insert(node.to_owned(), staged.map(|s| s.changes).map_err(|e| gap(&e)));
        self.at = Some(now);
        self.cycle += 1;
        self.alive = true;
        Ok(())
    }

    /// The rights map. A server that cannot be reached at all ends the cycle here.
    async fn rights(&self, client: &Client) -> Result<Seen<Arc<Permissions>>, Error> {
        match client.permissions().await {
            Ok(p) => Ok(Ok(p)),
            Err(error @ (Error::Http(_) | Error::Unauthenticated { .. })) => Err(error),
            Err(error) => Ok(Err(gap(&error))),
        }
    }

    fn take_resources(&mut self, resources: Seen<Resources>) {
        self.guests_hidden = match (&self.permissions, &resources) {
            (Some(Ok(p)), Ok(r)) if !visible(p, "/vms", &["VM.Audit"]) && r.vms.is_empty() => {
                Some(Gap::new(GapKind::Denied, "the token lacks VM.Audit on /vms: guests are hidden, not absent"))
            }
            _ => None,
        };
        self.resources = Some(resources);
    }

    /// An SDN list without SDN.Audit is empty, not refused (facts/proxmox.md §3): that is a denial.
    fn take_sdn(&mut self, read: Result<SdnRead, Error>) {
        let hidden = match &self.permissions {
            Some(Ok(p)) => !visible(p, "/sdn/zones", &["SDN.Audit", "SDN.Allocate"]),
            _ => false,
        };
        self.sdn = Some(match read {
            Ok(read) if hidden && read.config.zones.is_empty() => {
                Err(Gap::new(GapKind::Denied, "the token lacks SDN.Audit on /sdn/zones: zones are hidden, not absent"))
            }
            Ok(read) => {
                self.sdn_gaps = read.not_read.iter().map(|n| gap(&n.why).about(&n.what)).collect();
                Ok(read.config)
            }
            Err(error) => Err(gap(&error)),
        });
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
        r.sdn = self.sdn.clone().unwrap_or(r.sdn);
        r.tasks = self.tasks.clone().unwrap_or(r.tasks);
        r.nodes.clone_from(&self.nodes);
        r.staged.clone_from(&self.staged);
        r.lock = self.lock.clone();
        r
    }
}

/// Whether one of `privileges` holds at `path`, by the path itself or from above.
fn visible(p: &Permissions, path: &str, privileges: &[&str]) -> bool {
    privileges.iter().any(|privilege| p.allows(path, privilege))
}

/// Parts that an answering server refused or could not give.
pub(super) fn gaps(r: &PveReading, lists: &Lists) -> Vec<Gap> {
    let mut out: Vec<Gap> = [
        r.version.as_ref().err(),
        r.permissions.as_ref().err(),
        r.cluster.as_ref().err(),
        r.resources.as_ref().err(),
        r.guests_hidden.as_ref(),
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
    if let Ok(p) = &r.permissions {
        out.extend(partial(p));
    }
    out.dedup();
    out
}

/// Rights that hold for some objects only: the lists are then filtered, and what is missing from them is unknown.
fn partial(p: &Permissions) -> Option<Gap> {
    let some = |prefix: &str| p.by_path.keys().any(|path| path.starts_with(prefix));
    if !visible(p, "/sdn/zones", &["SDN.Audit", "SDN.Allocate"]) && some("/sdn/zones/") {
        return Some(Gap::new(GapKind::Denied, "the token sees some zones only; others are hidden, not absent"));
    }
    if !visible(p, "/vms", &["VM.Audit"]) && some("/vms/") {
        return Some(Gap::new(GapKind::Denied, "the token sees some guests only; others are hidden, not absent"));
    }
    None
}
