//! A VM by number and name, and what is there of it.

use serde::{Deserialize, Serialize};

use crate::backends::proxmox::endpoints::Endpoint;
use crate::backends::proxmox::model::{PendingOption, Task, VmConfig};
use crate::backends::proxmox::names::{NodeName, Vmid};
use crate::backends::proxmox::{Client, TaskFilter, TaskSource};
use crate::provision::rights::{self, Right};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::{Context, World};

/// The VM that a step is about. Its number alone is never enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Node that carries it.
    pub node: String,
    /// Its number.
    pub vmid: u32,
    /// Its name.
    pub name: String,
    /// Whether the same plan makes it: what is done to it goes with it then, and is not taken back by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new: bool,
}

/// What Proxmox has under a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// Its configuration; what waits for a cold start counts.
    pub config: VmConfig,
    /// Every option, with what waits.
    pub options: Vec<PendingOption>,
}

impl Found {
    /// Options whose value waits for a cold start.
    pub fn waiting(&self) -> Vec<&str> {
        let waits = |option: &&PendingOption| option.pending.is_some() || option.delete;
        self.options.iter().filter(waits).map(|option| option.key.as_str()).collect()
    }

    /// Disks by key: what is neither a cloud-init drive nor a CD.
    pub fn disks(&self) -> impl Iterator<Item = (&str, &str)> {
        super::disk::disks(&self.config.raw)
    }
}

impl Machine {
    /// The rights of a request about it.
    pub(super) fn rights(&self, endpoint: &'static Endpoint) -> Vec<Right> {
        rights::of(endpoint, &[("vmid", self.vmid.to_string())])
    }

    /// As it is called.
    pub(super) fn words(&self) -> String {
        format!("VM {} {}", self.vmid, self.name)
    }

    /// Its number as it is sent.
    pub(super) fn id(&self) -> Result<Vmid, Trouble> {
        Vmid::try_from(self.vmid).map_err(|e| Trouble::from(&e))
    }

    /// Its node as it is sent.
    pub(super) fn at(&self) -> Result<NodeName, Trouble> {
        self.node.parse().map_err(|e| Trouble::from(&e))
    }

    /// What stands under its number on its node, whatever it is called. `None` = nothing does in the whole cluster.
    pub(super) async fn read(&self, context: &Context) -> Result<Option<Found>, Trouble> {
        let client = context.world.proxmox()?;
        match client.vm_config_and_pending(&self.node, self.vmid).await {
            Ok((config, options)) => Ok(Some(Found { config, options })),
            // A list may leave out what the token must not see: the cluster's own word on the number does not.
            Err(error) if error.is_absent() => match client.vmid_is_free(self.id()?).await {
                Ok(true) => Ok(None),
                Ok(false) => Err(self.elsewhere(client).await),
                Err(error) => Err(Trouble::from(&error)),
            },
            Err(error) => Err(Trouble::from(&error)),
        }
    }

    /// Who has the number, where it is not this node.
    async fn elsewhere(&self, client: &Client) -> Trouble {
        let vms = client.resources().await.map(|read| read.vms).unwrap_or_default();
        let (kind, who) = match vms.iter().find(|vm| vm.vmid == self.vmid) {
            // It was made between two looks, or the list is older than the configuration.
            Some(vm) if vm.node == self.node => (TroubleKind::Busy, format!("a VM on {} that came just now", vm.node)),
            Some(vm) => (TroubleKind::Refused, format!("{} on {}", vm.name.as_deref().unwrap_or("a VM"), vm.node)),
            None => (TroubleKind::Refused, "a container, or a VM that the token must not see".to_owned()),
        };
        Trouble::new(kind, format!("VMID {} is not on {}: it is {who}", self.vmid, self.node))
            .with_help("make the plan again; it takes a free number")
    }

    /// The VM, if it is there and is the one that is meant.
    ///
    /// # Errors
    /// [`TroubleKind::Refused`] when the number is another's, [`TroubleKind::Busy`] while it is being cloned.
    pub(super) async fn own(&self, context: &Context) -> Result<Option<Found>, Trouble> {
        let Some(found) = self.read(context).await? else { return Ok(None) };
        match found.config.name.as_deref() {
            Some(name) if name == self.name => Ok(Some(found)),
            None if found.config.lock.as_deref() == Some("clone") => {
                Err(Trouble::new(TroubleKind::Busy, format!("VMID {} is being cloned", self.vmid)))
            }
            other => Err(self.anothers(other)),
        }
    }

    /// The number is another's.
    pub(super) fn anothers(&self, name: Option<&str>) -> Trouble {
        let whose = name.map_or_else(|| "a VM without a name".to_owned(), |name| format!("VM {name}"));
        let text = format!("VMID {} on {} is {whose}, not {}", self.vmid, self.node, self.name);
        Trouble::new(TroubleKind::Refused, text)
            .with_help("nothing is done to it; find out whose it is, or make the plan again")
    }

    /// The VM as it is there and not locked: waited for as long as patience lasts.
    ///
    /// # Errors
    /// [`TroubleKind::Refused`] where it is not there; as [`Machine::free`].
    pub(super) async fn unlocked(&self, context: &Context) -> Result<Found, Trouble> {
        let gone = || Trouble::new(TroubleKind::Refused, format!("{} is not there", self.words()));
        self.free(context).await?.ok_or_else(gone)
    }

    /// The same; `None` where it is not there, or goes while it is waited for.
    ///
    /// # Errors
    /// [`TroubleKind::Busy`] with whoever holds the lock; as [`Machine::own`].
    pub(super) async fn free(&self, context: &Context) -> Result<Option<Found>, Trouble> {
        let looks = context.world.patience.looks.max(1);
        for left in (0..looks).rev() {
            let Some(found) = self.own(context).await? else { return Ok(None) };
            let Some(lock) = found.config.lock.clone() else { return Ok(Some(found)) };
            if left == 0 {
                return Err(self.locked(context, &lock).await);
            }
            if left == looks - 1 {
                context.tell(format!("waits for {}: locked ({lock})", self.words()));
            }
            context.wait().await?;
        }
        Err(Trouble::new(TroubleKind::Busy, format!("{} is locked", self.words())))
    }

    /// A lock on it that no task holds, so that it never ends by itself. `None` also where that cannot be told.
    ///
    /// # Errors
    /// What cannot be read.
    pub(in crate::provision) async fn left_locked(&self, world: &World) -> Result<Option<String>, Trouble> {
        let client = world.proxmox()?;
        let lock = async || {
            let read = client.vm_config(&self.node, self.vmid).await;
            read.map(|config| config.lock).map_err(|e| Trouble::from(&e))
        };
        let Some(held) = lock().await? else { return Ok(None) };
        // A node tells of other people's tasks to those alone who may look at it.
        let told = client.permissions().await.is_ok();
        if !told || client.can(&format!("/nodes/{}", self.node), "Sys.Audit") != Some(true) {
            return Ok(None);
        }
        let filter = TaskFilter { source: Some(TaskSource::Active), ..TaskFilter::default() };
        let Ok(tasks) = client.node_tasks(&self.node, &filter).await else { return Ok(None) };
        // A backup of several machines is listed under no number, a clone under its template's.
        let number = self.vmid.to_string();
        let holds = |task: &Task| task.id == number || task.id.is_empty() || task.kind == "qmclone";
        if tasks.iter().any(|task| task.ended.is_none() && holds(task)) {
            return Ok(None);
        }
        // The task may have ended, and its lock with it, before the list was read.
        let still = lock().await?.filter(|now| *now == held);
        Ok(still.map(|lock| crate::text::clean(&lock).into_owned()))
    }

    /// Who holds the lock on it.
    pub(super) async fn locked(&self, context: &Context, lock: &str) -> Trouble {
        let filter = TaskFilter { vmid: Some(self.vmid), source: Some(TaskSource::Active), ..TaskFilter::default() };
        let tasks = match context.world.proxmox() {
            Ok(client) => client.node_tasks(&self.node, &filter).await.unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let holder = match tasks.iter().find(|task| task.ended.is_none()) {
            Some(task) => format!("task {} of {}", task.kind, task.user),
            None => "no task that can be seen".to_owned(),
        };
        let help = "wait until it ends; a lock that nobody holds any more is freed on the node, as root: ";
        Trouble::new(TroubleKind::Busy, format!("{} is locked ({lock}), held by {holder}", self.words()))
            .with_help(format!("{help}`qm unlock {}`", self.vmid))
    }

    /// Tells what waits for a cold start.
    pub(super) async fn tell_waiting(&self, context: &Context) {
        let Ok(Some(found)) = self.own(context).await else { return };
        let waiting = found.waiting();
        if !waiting.is_empty() {
            context.tell(format!("{} runs: {} takes a restart", self.words(), waiting.join(", ")));
        }
    }
}
