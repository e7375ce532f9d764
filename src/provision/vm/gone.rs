//! A VM that is gone, with its disks.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::task::Errand;
use crate::backends::permit::Permit;
use crate::backends::proxmox::Leftovers;
use crate::backends::proxmox::endpoints;
use crate::provision::fields::{Difference, Seen, fields};
use crate::provision::journal::Entry;
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::rights::Right;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Why a VM that is gone stays gone.
pub(super) const NO_WAY_BACK: &str = "disks that are destroyed cannot be brought back";

/// Type of the task that removes a VM.
const DESTROY: &str = "qmdestroy";
/// Type of the task that stops one hard.
const STOP: &str = "qmstop";

/// How long a request may be on its way whose answer nobody waited for.
const ARRIVES: SignedDuration = SignedDuration::from_mins(1);
/// What to do about a removal that may be under way.
const WAIT: &str = "wait until that ends, then undo again";

/// No VM there any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmGone {
    /// The VM.
    pub vm: Machine,
    /// Only the one with this UUID, where another of the same number and name takes its place: that one is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
}

/// Reads the VM once more, right before something that cannot be taken back: `true` = it is there and the one that is meant.
async fn is_meant(
    context: &Context,
    vm: &Machine,
    (name, uuid): (Option<&str>, Option<&str>),
) -> Result<bool, Trouble> {
    let Some(found) = vm.read(context).await? else { return Ok(false) };
    if found.config.name.as_deref() != name {
        return Err(vm.anothers(found.config.name.as_deref()));
    }
    if uuid.is_some() && found.config.smbios_uuid.as_deref() != uuid {
        let text = format!("{} is another machine than the one that was looked at: its UUID differs", vm.words());
        return Err(Trouble::new(TroubleKind::Moved, text)
            .with_help("it was replaced since; nothing is done to it: look at the plan again"));
    }
    if let Some(lock) = &found.config.lock {
        return Err(vm.locked(context, lock).await);
    }
    Ok(true)
}

/// Stops a VM hard and destroys it with its disks, its backup jobs and disks that nobody names. `name` is what it has to be
/// called, `None` = nothing, as what a clone left; and its UUID, where that is known.
pub(super) async fn remove(
    context: &Context,
    permit: &Permit,
    vm: &Machine,
    meant: (Option<&str>, Option<&str>),
) -> Result<(), Trouble> {
    let client = context.world.proxmox()?;
    let (node, id) = (vm.at()?, vm.id()?);
    if !is_meant(context, vm, meant).await? {
        return Ok(());
    }
    let destroying = Errand::on(vm, DESTROY, "removal");
    if destroying.begun(context).await?.is_none() {
        let status = client.vm_status(&vm.node, vm.vmid).await.map_err(|e| Trouble::from(&e))?;
        if status.vm.status != "stopped" {
            let stopping = Errand::on(vm, STOP, "hard stop");
            stopping.run(context, client.vm_stop(permit, &node, id, true)).await?;
        }
        if !is_meant(context, vm, meant).await? {
            return Ok(());
        }
    }
    let all = Leftovers { purge: true, unreferenced_disks: true };
    destroying.run(context, client.vm_destroy(permit, &node, id, all)).await
}

impl VmGone {
    /// Why the machine may be on its way out though it is there: its configuration is whole while its disks are removed. So it
    /// is where the task of its removal runs, where that was asked for just now and has no task yet, or where it is locked.
    /// `last` is when its change wrote its last line: what it asked for arrives soon after, or never.
    ///
    /// # Errors
    /// What cannot be asked.
    pub(in crate::provision) async fn may_be_going(
        &self,
        context: &Context,
        last: Timestamp,
    ) -> Result<Option<Trouble>, Trouble> {
        let removal = Errand::on(&self.vm, DESTROY, "removal");
        let young = || context.now().duration_since(last) < ARRIVES;
        if removal.is_open(context) && removal.runs(context).await?.unwrap_or_else(young) {
            let text = format!("{}: its removal may be under way", self.vm.words());
            return Ok(Some(Trouble::new(TroubleKind::Busy, text).with_help(WAIT)));
        }
        let Some(lock) = self.vm.read(context).await?.and_then(|found| found.config.lock) else { return Ok(None) };
        let why = self.vm.locked(context, &lock).await;
        let help = format!("{}; then undo again", why.help().unwrap_or(WAIT));
        Ok(Some(why.with_help(help)))
    }

    /// Whether a change stopped the machine, or may have.
    pub(in crate::provision) fn was_stopped(&self, entry: &Entry) -> bool {
        Errand::on(&self.vm, STOP, "hard stop").was_begun(entry)
    }

    async fn look(&self, context: &Context) -> Result<Seen, Trouble> {
        let Some(found) = self.vm.read(context).await? else { return Ok(Seen::Absent) };
        let uuid = found.config.smbios_uuid.clone();
        if self.uuid.is_some() && uuid != self.uuid {
            // The one that was meant is gone: this is its successor, whole or in the making.
            return Ok(Seen::Absent);
        }
        if found.config.name.as_deref() != Some(self.vm.name.as_str()) {
            return Err(self.vm.anothers(found.config.name.as_deref()));
        }
        let client = context.world.proxmox()?;
        let status = client.vm_status(&self.vm.node, self.vm.vmid).await.map_err(|e| Trouble::from(&e))?;
        if status.vm.status == "unknown" {
            let text = format!("whether {} runs is not known: {} is away", self.vm.words(), self.vm.node);
            return Err(Trouble::new(TroubleKind::Unknown, text));
        }
        let disks: Vec<String> = found.disks().map(|(key, value)| format!("{key} {value}")).collect();
        let all = [
            ("name", self.vm.name.clone()),
            ("status", status.vm.status),
            ("disks", disks.join("; ")),
            ("uuid", uuid.unwrap_or_default()),
        ];
        Ok(Seen::Present(fields(all.into_iter().filter(|(_, value)| !value.is_empty()))))
    }
}

impl Ensure for VmGone {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        self.vm.words()
    }

    fn danger(&self, todo: &Difference) -> Danger {
        if todo.is_nothing() { Danger::Look } else { Danger::Final }
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::None(NO_WAY_BACK)
    }

    fn goes(&self, todo: &Difference) -> Vec<String> {
        let now = |field: &str| todo.changes().iter().find(|change| change.field == field)?.now.as_deref();
        let status = now("status").map_or_else(String::new, |status| format!(", {status}"));
        let disks = now("disks").into_iter().flat_map(|disks| disks.split("; ")).map(|disk| format!("disk {disk}"));
        std::iter::once(format!("{}{status}", self.vm.words())).chain(disks).collect()
    }

    fn rights(&self, todo: &Difference) -> Vec<Right> {
        let stopped = todo.changes().iter().any(|c| c.field == "status" && c.now.as_deref() == Some("stopped"));
        let stop = if stopped { Vec::new() } else { self.vm.rights(&endpoints::VM_STOP) };
        [stop, self.vm.rights(&endpoints::VM_DESTROY)].concat()
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(self.look(context))
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            match todo {
                Difference::Delete(_) => {
                    if self.look(context).await? == Seen::Absent {
                        return Ok(());
                    }
                    // One that came since the plan was shown is waited for as well.
                    if self.vm.free(context).await?.is_none() {
                        return Ok(());
                    }
                    remove(context, permit, &self.vm, (Some(&self.vm.name), self.uuid.as_deref())).await
                }
                _ => Ok(()),
            }
        })
    }
}
