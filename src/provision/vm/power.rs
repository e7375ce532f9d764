//! Whether a VM runs.

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::task::Errand;
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints;
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::rights::Right;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

const STATUS: &str = "status";
const RUNNING: &str = "running";
const STOPPED: &str = "stopped";

/// Seconds that a system is given to shut down, where nobody says otherwise.
pub const SHUTDOWN: u32 = 120;

/// How a VM is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Off {
    /// Its system is asked to shut down and given so many seconds; one that does not goes on running.
    Shutdown(u32),
    /// The plug is pulled.
    Hard,
}

/// A VM that runs, or does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmPower {
    /// The VM.
    pub vm: Machine,
    /// How it is switched off, where it is to be.
    pub off: Off,
}

/// Asks the VM's state.
pub(super) async fn status(context: &Context, vm: &Machine) -> Result<crate::backends::proxmox::VmStatus, Trouble> {
    let client = context.world.proxmox()?;
    client.vm_status(&vm.node, vm.vmid).await.map_err(|e| Trouble::from(&e))
}

impl VmPower {
    /// What a VM that runs looks like.
    #[must_use]
    pub fn running() -> Fields {
        fields([(STATUS, RUNNING)])
    }

    /// What a VM that does not run looks like.
    #[must_use]
    pub fn stopped() -> Fields {
        fields([(STATUS, STOPPED)])
    }

    async fn switch(&self, context: &Context, permit: &Permit, to: &str) -> Result<(), Trouble> {
        self.vm.unlocked(context).await?;
        let (client, node, id) = (context.world.proxmox()?, self.vm.at()?, self.vm.id()?);
        match (to, self.off) {
            (RUNNING, _) => {
                let errand = Errand::on(&self.vm, "qmstart", "start");
                errand.run(context, client.vm_start(permit, &node, id)).await
            }
            (_, Off::Hard) => {
                let errand = Errand::on(&self.vm, "qmstop", "hard stop");
                errand.run(context, client.vm_stop(permit, &node, id, true)).await
            }
            (_, Off::Shutdown(seconds)) => {
                let errand = Errand::on(&self.vm, "qmshutdown", "shutdown");
                let begin = client.vm_shutdown(permit, &node, id, Some(seconds), false);
                errand.run(context, begin).await.map_err(|trouble| deaf(trouble, &self.vm))
            }
        }
    }
}

/// A system that does not shut down goes on running, and only a person decides to stop it hard.
pub(super) fn deaf(trouble: Trouble, vm: &Machine) -> Trouble {
    if !trouble.text.contains("did not shut down") && !trouble.text.contains("quit/powerdown failed") {
        return trouble;
    }
    let text = format!("the system of {} did not shut down in its time; it still runs", vm.words());
    Trouble::new(TroubleKind::Refused, text)
        .with_help("look at its console, give it more time, or stop it hard: what it has not written is lost then")
}

impl Ensure for VmPower {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("power of {}", self.vm.words())
    }

    fn danger(&self, todo: &Difference) -> Danger {
        if todo.value(STATUS) == Some(STOPPED) { Danger::Tenant } else { Danger::One }
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        if self.vm.new { Undo::Nothing } else { Undo::Inverse }
    }

    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        self.vm.rights(&endpoints::VM_START)
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            if self.vm.own(context).await?.is_none() {
                return Ok(Seen::Absent);
            }
            let seen = status(context, &self.vm).await?;
            match seen.vm.status.as_str() {
                state @ (RUNNING | STOPPED) => Ok(Seen::Present(fields([(STATUS, state)]))),
                other => {
                    let text = format!("whether {} runs is not known: it is {other}", self.vm.words());
                    Err(Trouble::new(TroubleKind::Unknown, text).with_help("its node may be away"))
                }
            }
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            match todo.value(STATUS) {
                Some(to) => self.switch(context, permit, to).await,
                None => Ok(()),
            }
        })
    }
}
