//! The apply: one for the whole cluster, it takes along whatever waits, and its own "OK" says nothing of the nodes.

use serde::{Deserialize, Serialize};

use super::{APPLY, TOKEN, token};
use crate::backends::permit::Permit;
use crate::backends::proxmox::model::Change as State;
use crate::backends::proxmox::{Client, Lock, SdnRead, SubnetsOf, TaskEnd, TaskStep, Upid};
use crate::provision::fields::{Change, Difference, Fields, Seen, Wanted};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Object, Place, Undo};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Nothing waits to be applied, and each of these nodes has realised every zone it carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SdnApply {
    /// Nodes that are looked at afterwards.
    pub nodes: Vec<String>,
}

/// What a field of a look says of a node, not of what waits.
const ON: &str = " on ";

impl SdnApply {
    /// Waits for an apply that was begun, until it ends.
    async fn wait_for(&self, context: &Context, client: &Client, upid: &Upid) -> Result<(), Trouble> {
        let patience = context.world.patience;
        let mut waited = std::time::Duration::ZERO;
        loop {
            match client.task_step(upid).await.map_err(|e| Trouble::from(&e))? {
                TaskStep::Running if waited < patience.task => {}
                TaskStep::Running => {
                    let text = format!("the apply runs for more than {} s", patience.task.as_secs());
                    return Err(Trouble::new(TroubleKind::Unsettled, text));
                }
                TaskStep::Ended(TaskEnd::Failed { text, .. }) => {
                    context.notes.set(APPLY, "", context.now())?;
                    return Err(Trouble::new(TroubleKind::Refused, format!("the apply failed: {text}"))
                        .with_help("its task log in Proxmox names the node and the reason"));
                }
                TaskStep::Ended(_) => return context.notes.set(APPLY, "", context.now()),
                TaskStep::Vanished { why } => {
                    context.notes.set(APPLY, "", context.now())?;
                    context.tell(format!("the apply is gone without a last word: {why}"));
                    return Ok(());
                }
            }
            context.wait().await?;
            waited += patience.between;
        }
    }
}

/// What waits to be applied, by name, with its state.
fn waiting(read: &SdnRead) -> Fields {
    let mut fields = Fields::new();
    let mut add = |name: String, state: State| {
        let word = match state {
            State::None => return,
            State::New => "new",
            State::Changed => "changed",
            State::Deleted => "deleted",
        };
        fields.insert(name, word.to_owned());
    };
    for zone in &read.config.zones {
        add(zone.current().map(|z| format!("zone {}", z.zone)).unwrap_or_default(), zone.change);
    }
    for vnet in &read.config.vnets {
        add(vnet.current().map(|v| format!("VNet {}", v.vnet)).unwrap_or_default(), vnet.change);
    }
    for (vnet, subnets) in &read.config.subnets {
        for subnet in subnets {
            let name = subnet.current().map(|s| format!("subnet {} of {vnet}", s.cidr_text));
            add(name.unwrap_or_default(), subnet.change);
        }
    }
    for controller in &read.config.controllers {
        add(
            controller.current().map(|c| format!("controller {}", c.controller)).unwrap_or_default(),
            controller.change,
        );
    }
    for fabric in &read.config.fabrics {
        add(fabric.current().map(|f| format!("fabric {}", f.id)).unwrap_or_default(), fabric.change);
    }
    for node in &read.config.fabric_nodes {
        let name = node.current().map(|n| format!("node {} of fabric {}", n.node, n.fabric));
        add(name.unwrap_or_default(), node.change);
    }
    fields
}

impl Ensure for SdnApply {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("SDN apply, reload on {}", self.nodes.join(", "))
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Shared
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::Again
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let client = context.world.proxmox()?;
            let read = client.sdn(&SubnetsOf::All).await.map_err(|e| Trouble::from(&e))?;
            if let Some(part) = read.not_read.first() {
                let text = format!("what waits to be applied is not known: {}: {}", part.what, part.why);
                return Err(Trouble::new(TroubleKind::Unknown, text).with_help(part.why.help()));
            }
            let mut fields = waiting(&read);
            for node in &self.nodes {
                for zone in client.node_zones(node).await.map_err(|e| Trouble::from(&e))? {
                    if zone.status != "available" {
                        fields.insert(format!("zone {}{ON}{node}", zone.zone), zone.status);
                    }
                }
            }
            Ok(Seen::Present(fields))
        })
    }

    fn difference(&self, seen: &Seen, _wanted: &Wanted) -> Difference {
        let Seen::Present(waits) = seen else { return Difference::Nothing };
        let gone =
            |(name, state): (&String, &String)| Change { field: name.clone(), now: Some(state.clone()), will_be: None };
        let changes: Vec<Change> = waits.iter().map(gone).collect();
        if changes.is_empty() { Difference::Nothing } else { Difference::Update(changes) }
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            let client = context.world.proxmox()?;
            let begun = context.notes.get(APPLY).and_then(|upid| upid.parse::<Upid>().ok());
            if let Some(upid) = begun {
                context.tell("waits for the apply that was begun before");
                self.wait_for(context, client, &upid).await?;
                let rest = self.difference(&self.observe(context).await?, &Wanted::Present(Fields::new()));
                if rest.is_nothing() {
                    return Ok(());
                }
            }
            let token = token(context)?;
            let upid = client.sdn_apply(permit, &token, Lock::Release).await.map_err(|e| Trouble::from(&e))?;
            context.notes.set(APPLY, &upid.to_string(), context.now())?;
            context.notes.set(TOKEN, "", context.now())?;
            context.tell(format!("task {upid}"));
            self.wait_for(context, client, &upid).await
        })
    }

    fn riders(&self, seen: &Seen, own: &[&Object]) -> Vec<String> {
        let Seen::Present(waits) = seen else { return Vec::new() };
        let ours: Vec<String> = own.iter().map(|object| object.ensure().name()).collect();
        let foreign = waits.iter().filter(|(name, _)| !name.contains(ON) && !ours.contains(name));
        foreign.map(|(name, state)| format!("{name} ({state})")).collect()
    }
}
