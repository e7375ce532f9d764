//! The guest agent, which answers when a workload's system is up. Only looked at.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use crate::backends::permit::Permit;
use crate::backends::proxmox::model::AgentState;
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::object::{Doing, Ensure, Looking, Place, only_looks};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

const AGENT: &str = "agent";
const ANSWERS: &str = "answers";
/// How long a system may take to boot until its agent answers.
const BOOT: Duration = Duration::from_secs(300);

/// A VM whose guest agent answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmAgent {
    /// The VM.
    pub vm: Machine,
}

impl VmAgent {
    /// What it looks like.
    #[must_use]
    pub fn answers() -> Fields {
        fields([(AGENT, ANSWERS)])
    }

    async fn ask(&self, context: &Context) -> Result<AgentState, Trouble> {
        let client = context.world.proxmox()?;
        client.agent_state(&self.vm.node, self.vm.vmid).await.map_err(|e| Trouble::from(&e))
    }
}

impl Ensure for VmAgent {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("guest agent of {}", self.vm.words())
    }

    only_looks!();

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            if self.vm.own(context).await?.is_none() {
                return Ok(Seen::Absent);
            }
            let word = match self.ask(context).await? {
                AgentState::Answers => ANSWERS,
                AgentState::NotConfigured => "not configured",
                AgentState::NotRunning => "does not answer",
                AgentState::VmStopped => "stopped",
            };
            Ok(Seen::Present(fields([(AGENT, word)])))
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, _permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            let mut waited = Duration::ZERO;
            let mut told = false;
            while waited < BOOT {
                match self.ask(context).await? {
                    AgentState::Answers => return Ok(()),
                    AgentState::NotRunning => {}
                    other => {
                        let why = crate::backends::proxmox::Error::Agent(other);
                        return Err(
                            Trouble::new(TroubleKind::Refused, format!("{}: {why}", self.name())).with_help(why.help())
                        );
                    }
                }
                if !told {
                    context.tell(format!("waits until the {} answers", self.name()));
                    told = true;
                }
                context.wait().await?;
                waited += context.world.patience.between.max(Duration::from_millis(100));
            }
            let text = format!("the {} did not answer within {} s of waiting", self.name(), BOOT.as_secs());
            Err(Trouble::new(TroubleKind::NotSeen, text)
                .with_help("look at the VM's console; resume goes on waiting when it has booted"))
        })
    }
}
