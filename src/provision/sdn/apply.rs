//! The apply: one for the whole cluster, it takes along whatever waits, and its own "OK" says nothing of the nodes.
//!
//! It gives the lock back as it commits, before any node reloads. Where its answer is lost, its task is looked for: a
//! second apply would publish what others staged since.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::waiting::{self, ON, is_to_do};
use super::{APPLY, APPLYING, TOKEN, lock, reloads, token, whole};
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints::{self, CONTROLLERS, FABRICS, VNETS, ZONES};
use crate::backends::proxmox::{Client, Lock, SdnRead, SubnetsOf, TaskEnd, TaskStep, Upid};
use crate::provision::fields::{Change, Difference, Fields, Seen, Wanted};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Object, Place, Undo};
use crate::provision::plan::Step;
use crate::provision::rights::{self, Right};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Type of the task of an apply.
const KIND: &str = "reloadnetworkall";

/// Note: which lock an apply was asked for under.
const UNDER: &str = "sdn-apply-lock";
/// Field: an apply that this change asked for was not seen to end. What is removed is gone from the configuration before any
/// node has let go of it: the lists alone do not tell.
const BEGUN: &str = "reload that was begun on the nodes";

/// Nothing waits to be applied, and each of these nodes has realised every zone it carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SdnApply {
    /// Nodes that are looked at afterwards.
    pub nodes: Vec<String>,
}

impl SdnApply {
    /// Waits for an apply that was begun, until it and the reloads it began have ended.
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
                TaskStep::Ended(end) => {
                    if let TaskEnd::Warnings(count) = end {
                        context.tell(format!("the apply ended with {count} warnings"));
                    }
                    break;
                }
                TaskStep::Vanished { why } => {
                    context.tell(format!("the apply is gone without a last word: {why}"));
                    break;
                }
            }
            context.wait().await?;
            waited += patience.between;
        }
        let watched = reloads::watch(context, client, upid, &self.nodes).await;
        if watched.as_ref().err().is_none_or(|trouble| !trouble.kind.may_pass()) {
            context.notes.set(APPLY, "", context.now())?;
        }
        watched
    }

    /// The tasks of applies that are known, oldest first.
    async fn applies(client: &Client) -> Result<Vec<Upid>, Trouble> {
        let tasks = client.cluster_tasks().await.map_err(|e| Trouble::from(&e))?;
        let mut all: Vec<Upid> =
            tasks.iter().filter(|task| task.kind == KIND).filter_map(|task| task.upid.parse().ok()).collect();
        all.sort_by_key(|upid| upid.started);
        Ok(all)
    }

    /// Takes up what was asked for and not answered: the task that was begun, or the lock anew where none was. Nobody else
    /// can have begun one before, since this change had the lock.
    async fn take_up(&self, context: &Context, permit: &Permit, known: &str) -> Result<(), Trouble> {
        let client = context.world.proxmox()?;
        let known: Vec<&str> = known.split(',').collect();
        let begun = Self::applies(client).await?.into_iter().find(|upid| !known.contains(&upid.as_str()));
        if let Some(upid) = begun {
            context.tell(format!("the apply that got no answer runs as task {upid}"));
            return self.began(context, &upid);
        }
        // It may have given the lock up all the same: what waits is looked at again under one that is certain.
        lock::prove(context, permit).await?;
        context.notes.set(APPLYING, "", context.now())?;
        let text = "the apply that got no answer was not begun: what waits is looked at again";
        Err(Trouble::new(TroubleKind::Busy, text))
    }

    /// Notes a task that was begun: it has given back the lock that it was asked for under. One that was taken since is held.
    fn began(&self, context: &Context, upid: &Upid) -> Result<(), Trouble> {
        context.notes.set(APPLY, upid.as_str(), context.now())?;
        context.notes.set(APPLYING, "", context.now())?;
        let held = context.notes.get(TOKEN).map(|token| mark(&token));
        if held.is_some() && held != context.notes.get(UNDER) {
            return Ok(());
        }
        context.notes.set(TOKEN, "", context.now())
    }

    async fn is_through(&self, context: &Context) -> Result<bool, Trouble> {
        Ok(self.difference(&self.observe(context).await?, &Wanted::Present(Fields::new())).is_nothing())
    }

    async fn begin(&self, context: &Context, permit: &Permit) -> Result<Upid, Trouble> {
        let client = context.world.proxmox()?;
        let token = token(context)?;
        let known: Vec<String> = Self::applies(client).await?.iter().map(Upid::to_string).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(",") };
        context.notes.set(UNDER, &mark(token.expose()), context.now())?;
        context.notes.set(APPLYING, &known, context.now())?;
        match client.sdn_apply(permit, &token, Lock::Release).await {
            Ok(upid) => {
                self.began(context, &upid)?;
                context.tell(format!("task {upid}"));
                Ok(upid)
            }
            Err(error) => {
                let trouble = Trouble::from(&error);
                if trouble.kind.changed_nothing() {
                    context.notes.set(APPLYING, "", context.now())?;
                }
                Err(trouble)
            }
        }
    }
}

/// What tells a lock's token from another, and gives nothing away.
fn mark(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Zones that a node carries and that its own list does not show.
fn unlisted<'a>(read: &'a SdnRead, node: &'a str, listed: &'a [String]) -> impl Iterator<Item = &'a str> {
    let here = read.config.zones.iter().filter_map(|zone| zone.running.as_ref());
    let here = here.filter(move |zone| zone.nodes.is_empty() || zone.nodes.iter().any(|own| own == node));
    here.map(|zone| zone.zone.as_str()).filter(|zone| !listed.iter().any(|own| own == zone))
}

impl Ensure for SdnApply {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        if self.nodes.is_empty() {
            return "SDN apply; which nodes reload is not known".to_owned();
        }
        format!("SDN apply, reload on {}", self.nodes.join(", "))
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Shared
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::Again
    }

    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        rights::of(&endpoints::SDN_APPLY, &[])
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let client = context.world.proxmox()?;
            let lists =
                [("zone", &ZONES), ("VNet", &VNETS), ("SDN controller", &CONTROLLERS), ("SDN fabric", &FABRICS)];
            whole(client, &lists).await?;
            let read = client.sdn(&SubnetsOf::All).await.map_err(|e| Trouble::from(&e))?;
            if let Some(part) = read.not_read.first() {
                let text = format!("what waits to be applied is not known: {}: {}", part.what, part.why);
                return Err(Trouble::new(TroubleKind::Unknown, text).with_help(part.why.help()));
            }
            let mut fields = waiting::waiting(&read);
            if self.is_under_way(context) {
                fields.insert(BEGUN.to_owned(), "not seen to end".to_owned());
            }
            for node in &self.nodes {
                let zones = client.node_zones(node).await.map_err(|e| Trouble::from(&e))?;
                let listed: Vec<String> = zones.iter().map(|zone| zone.zone.clone()).collect();
                for zone in unlisted(&read, node, &listed) {
                    fields.insert(format!("zone {zone}{ON}{node}"), "not in the node's list".to_owned());
                }
                for zone in zones.into_iter().filter(|zone| zone.status != "available") {
                    fields.insert(format!("zone {}{ON}{node}", zone.zone), zone.status);
                }
            }
            fields.extend(waiting::networks(client).await.map_err(|e| Trouble::from(&e))?);
            Ok(Seen::Present(fields))
        })
    }

    fn difference(&self, seen: &Seen, _wanted: &Wanted) -> Difference {
        let Seen::Present(waits) = seen else { return Difference::Nothing };
        let gone =
            |(name, state): (&String, &String)| Change { field: name.clone(), now: Some(state.clone()), will_be: None };
        let changes: Vec<Change> = waits.iter().filter(|(name, _)| is_to_do(name)).map(gone).collect();
        if changes.is_empty() { Difference::Nothing } else { Difference::Update(changes) }
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            let client = context.world.proxmox()?;
            if let Some(known) = context.notes.get(APPLYING) {
                self.take_up(context, permit, &known).await?;
            }
            if let Some(upid) = context.notes.get(APPLY).and_then(|upid| upid.parse::<Upid>().ok()) {
                context.tell("waits for the apply that was begun before");
                self.wait_for(context, client, &upid).await?;
                if self.is_through(context).await? {
                    return Ok(());
                }
                // What is left needs another apply, under the lock, if it is still to be: that is told by looking again.
                lock::prove(context, permit).await?;
                let text = "something still waits after the apply that was begun before";
                return Err(Trouble::new(TroubleKind::Busy, text));
            }
            let upid = self.begin(context, permit).await?;
            self.wait_for(context, client, &upid).await
        })
    }

    fn riders(&self, seen: &Seen, own: &[Step]) -> Vec<String> {
        waiting::riders(seen, own)
    }

    /// A plan of objects is about those; one that only applies is about all that waits.
    fn is_of_others(&self, part: &Change, own: &[Step]) -> bool {
        let name = part.field.split_once(ON).map_or(part.field.as_str(), |(zone, _)| zone);
        let staged =
            |step: &Step| matches!(step.object, Object::SdnZone(_) | Object::SdnVnet(_) | Object::SdnSubnet(_));
        part.field != BEGUN && own.iter().any(staged) && !own.iter().any(|step| step.object.ensure().name() == name)
    }

    fn is_under_way(&self, context: &Context) -> bool {
        context.notes.get(APPLY).is_some() || context.notes.get(APPLYING).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_name_says_which_nodes_reload_or_that_none_is_known() {
        let name = |nodes: &[&str]| SdnApply { nodes: nodes.iter().map(|node| (*node).to_owned()).collect() }.name();
        assert_eq!(name(&["hv02", "hv03"]), "SDN apply, reload on hv02, hv03");
        assert_eq!(name(&[]), "SDN apply; which nodes reload is not known");
    }
}
