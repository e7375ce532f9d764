//! A VM that was wholly cloned.
//!
//! Until its clone ends Proxmox lists it locked, without a name and without disks. A clone that broke off may stay like that:
//! it is recognised, and removed only where Proxmox itself told this change that the task was its own.

use serde::{Deserialize, Serialize};

use super::gone::remove;
use super::machine::{Found, Machine};
use super::task::Errand;
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints;
use crate::backends::proxmox::names::Vmid;
use crate::backends::proxmox::{CloneRequest, Copying};
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::journal::Notes;
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::rights::{self, Right};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Field: how much of the copy is there.
const COPY: &str = "copy";
/// Field: the UUID of the machine, which no other has.
const UUID: &str = "uuid";
const WHOLE: &str = "whole";
const UNDER_WAY: &str = "under way";
const HALF: &str = "half";

/// A VM, cloned from a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmClone {
    /// The VM.
    pub vm: Machine,
    /// Number of the template, on the same node.
    pub template: u32,
    /// Name of the template, for people.
    pub from: String,
    /// Storage of its disks; where the template's are otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
}

impl VmClone {
    /// What a VM that is wholly there looks like.
    #[must_use]
    pub fn whole(&self) -> Fields {
        fields([("name", self.vm.name.as_str()), (COPY, WHOLE)])
    }

    fn errand(&self) -> Errand<'_> {
        let words = format!("clone of {} to {}", self.from, self.vm.words());
        Errand { machine: &self.vm, kind: "qmclone", listed: self.template, words }
    }

    fn state(&self, context: &Context, found: &Found) -> Result<Seen, Trouble> {
        let errand = self.errand();
        let (name, lock) = (found.config.name.as_deref(), found.config.lock.as_deref());
        let cloning = lock == Some("clone");
        let copied = found.disks().next().is_some();
        let ours = errand.is_open(context) || errand.is_own(context);
        let state = match name {
            Some(name) if name != self.vm.name => return Err(self.vm.anothers(Some(name))),
            Some(_) if !cloning && copied => WHOLE,
            _ if cloning && ours => UNDER_WAY,
            _ if !cloning && !copied && errand.is_own(context) => HALF,
            Some(_) if !cloning => {
                let text = format!("{} has no disk, and this change did not make it", self.vm.words());
                return Err(Trouble::new(TroubleKind::Refused, text)
                    .with_help("it may be left of a clone that broke off; look at it, then remove it in Proxmox"));
            }
            _ if cloning => {
                let text = format!("VMID {} is being cloned by somebody else", self.vm.vmid);
                return Err(Trouble::new(TroubleKind::Refused, text)
                    .with_help("make the plan again: it takes the next free number"));
            }
            _ => return Err(self.vm.anothers(None)),
        };
        let name = name.map(|name| ("name", name));
        // A successor has the same number and name, and another UUID.
        let uuid = found.config.smbios_uuid.as_deref().filter(|_| state == WHOLE).map(|uuid| (UUID, uuid));
        Ok(Seen::Present(fields(name.into_iter().chain([(COPY, state)]).chain(uuid))))
    }

    async fn clone(&self, context: &Context, permit: &Permit) -> Result<(), Trouble> {
        let client = context.world.proxmox()?;
        let typed = |e: &crate::backends::proxmox::Error| Trouble::from(e);
        let storage = self.storage.as_deref().map(str::parse).transpose().map_err(|e| typed(&e))?;
        let request = CloneRequest {
            newid: self.vm.id()?,
            name: self.vm.name.parse().map_err(|e| typed(&e))?,
            copy: Copying::Full { storage },
            target: None,
            pool: None,
            description: None,
        };
        let (node, template) = (self.vm.at()?, Vmid::try_from(self.template).map_err(|e| typed(&e))?);
        self.errand().run(context, client.vm_clone(permit, &node, template, &request)).await
    }

    /// Goes on with a copy that is not whole: waits for its task, or removes what a task of this change left and copies anew.
    async fn mend(&self, context: &Context, permit: &Permit) -> Result<(), Trouble> {
        if self.errand().begun(context).await?.is_some() {
            return self.clone(context, permit).await;
        }
        let found = self.vm.read(context).await?;
        let state = found.as_ref().map(|found| self.state(context, found)).transpose()?;
        match state.as_ref().and_then(|seen| seen.field(COPY)) {
            Some(WHOLE) => Ok(()),
            Some(HALF) => {
                context.tell(format!("removes what is left of the {}", self.errand().words));
                let name = found.and_then(|found| found.config.name);
                remove(context, permit, &self.vm, (name.as_deref(), None)).await?;
                self.clone(context, permit).await
            }
            Some(_) => {
                let text = format!("{} is left locked (clone), and no task works on it any more", self.vm.words());
                Err(Trouble::new(TroubleKind::Refused, text).with_help(format!(
                    "on {}, as root: `qm unlock {}`; then resume, which removes it and copies anew",
                    self.vm.node, self.vm.vmid
                )))
            }
            None => self.clone(context, permit).await,
        }
    }
}

impl Ensure for VmClone {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("{} from {}", self.vm.words(), self.from)
    }

    fn danger(&self, todo: &Difference) -> Danger {
        if matches!(todo, Difference::Delete(_)) { Danger::Final } else { Danger::One }
    }

    fn undo(&self, todo: &Difference) -> Undo {
        match todo {
            Difference::Delete(_) => Undo::None(super::gone::NO_WAY_BACK),
            // It is the same VM that is gone on with.
            _ => Undo::Inverse,
        }
    }

    fn rights(&self, todo: &Difference) -> Vec<Right> {
        let ids = [("vmid", self.template), ("newid", self.vm.vmid)].map(|(id, number)| (id, number.to_string()));
        match todo {
            Difference::Create(_) => rights::of(&endpoints::VM_CLONE, &ids),
            Difference::Delete(_) => self.vm.rights(&endpoints::VM_DESTROY),
            _ => Vec::new(),
        }
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            match self.vm.read(context).await? {
                None => Ok(Seen::Absent),
                Some(found) => self.state(context, &found),
            }
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            match todo {
                Difference::Nothing => Ok(()),
                Difference::Create(_) => self.clone(context, permit).await,
                Difference::Update(_) => self.mend(context, permit).await,
                Difference::Delete(known) => {
                    let uuid =
                        known.iter().find(|change| change.field == UUID).and_then(|change| change.now.as_deref());
                    remove(context, permit, &self.vm, (Some(&self.vm.name), uuid)).await
                }
            }
        })
    }

    /// Proxmox gave this change the number of the task that made it.
    fn proof(&self, _wanted: &Fields, notes: &Notes) -> Option<Fields> {
        self.errand().is_noted(notes).then(Fields::new)
    }
}
