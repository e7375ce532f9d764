//! A restart: the system is shut down and started, and what waited for that is in force.

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::power::{deaf, status};
use super::task::Errand;
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints;
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::rights::Right;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

const RESTARTED: &str = "restarted";
/// Seconds by which a start is told later only because clocks and answers differ.
const JITTER: i64 = 2;

/// A VM that was started anew by this change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmReboot {
    /// The VM.
    pub vm: Machine,
    /// Seconds that its system is given to shut down.
    pub seconds: u32,
}

impl VmReboot {
    /// What it looks like afterwards.
    #[must_use]
    pub fn done() -> Fields {
        fields([(RESTARTED, "by this change")])
    }

    /// Note: when it had been started, before this change asked for a restart.
    fn note(&self) -> String {
        format!("vm-started-{}", self.vm.vmid)
    }

    /// Note: the task of the restart came to its end.
    fn ended(&self) -> String {
        format!("vm-restarted-{}", self.vm.vmid)
    }

    /// When it was started, in seconds since the epoch; `None` = it does not run.
    async fn started(&self, context: &Context) -> Result<Option<i64>, Trouble> {
        let seen = status(context, &self.vm).await?;
        match (seen.vm.status.as_str(), seen.vm.uptime_s) {
            ("stopped", _) => Ok(None),
            ("running", Some(up)) => Ok(Some(context.now().as_second() - i64::try_from(up).unwrap_or(i64::MAX))),
            (other, _) => {
                let text = format!("how long {} runs is not known: it is {other}", self.vm.words());
                Err(Trouble::new(TroubleKind::Unknown, text))
            }
        }
    }
}

impl Ensure for VmReboot {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("restart of {}", self.vm.words())
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Tenant
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::Nothing
    }

    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        self.vm.rights(&endpoints::VM_REBOOT)
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            if self.vm.own(context).await?.is_none() {
                return Ok(Seen::Absent);
            }
            if context.notes.get(&self.ended()).is_some() {
                return Ok(Seen::Present(Self::done()));
            }
            let before = context.notes.get(&self.note()).and_then(|at| at.parse::<i64>().ok());
            let started = self.started(context).await?;
            let anew = before.zip(started).is_some_and(|(before, started)| started > before.saturating_add(JITTER));
            Ok(Seen::Present(if anew { Self::done() } else { Fields::new() }))
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            self.vm.unlocked(context).await?;
            let stopped = || {
                Trouble::new(TroubleKind::Refused, format!("{} does not run", self.vm.words())).with_help("start it")
            };
            if context.notes.get(&self.note()).is_none() {
                let started = self.started(context).await?.ok_or_else(stopped)?;
                context.notes.set(&self.note(), &started.to_string(), context.now())?;
            }
            let (client, node, id) = (context.world.proxmox()?, self.vm.at()?, self.vm.id()?);
            let errand = Errand::on(&self.vm, "qmreboot", "restart");
            let begin = client.vm_reboot(permit, &node, id, Some(self.seconds));
            errand.run(context, begin).await.map_err(|trouble| deaf(trouble, &self.vm))?;
            // One that began soon after a start cannot be told from it by the clock.
            context.notes.set(&self.ended(), "1", context.now())
        })
    }
}
