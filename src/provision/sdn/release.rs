//! What is done to all that waits, or to a lock that nobody answers for. Neither can be taken back.

use serde::{Deserialize, Serialize};

use super::waiting::{self, is_to_do};
use super::{FORCED, TOKEN, token, whole};
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints::{self, CONTROLLERS, FABRICS, VNETS, ZONES};
use crate::backends::proxmox::{Lock, SubnetsOf};
use crate::provision::fields::{Change, Difference, Seen, Wanted, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::plan::Step;
use crate::provision::rights::{self, Right};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Nothing waits to be applied, because it was dropped: whoever staged it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SdnRollback {}

impl Ensure for SdnRollback {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        "SDN rollback of all that waits".to_owned()
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Shared
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::None("what was dropped is gone from Proxmox; the record in the journal names it")
    }

    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        rights::of(&endpoints::SDN_ROLLBACK, &[])
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let client = context.world.proxmox()?;
            let lists =
                [("zone", &ZONES), ("VNet", &VNETS), ("SDN controller", &CONTROLLERS), ("SDN fabric", &FABRICS)];
            whole(client, &lists).await?;
            let read = client.sdn(&SubnetsOf::All).await.map_err(|e| Trouble::from(&e))?;
            if let Some(part) = read.not_read.first() {
                let text = format!("what would be dropped is not known: {}: {}", part.what, part.why);
                return Err(Trouble::new(TroubleKind::Unknown, text).with_help(part.why.help()));
            }
            Ok(Seen::Present(waiting::waiting(&read)))
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
            let token = token(context)?;
            let client = context.world.proxmox()?;
            // The lock stays: where the answer is lost, it is still this change's, and nothing can have been staged since.
            client.sdn_rollback(permit, &token, Lock::Keep).await.map_err(|e| Trouble::from(&e))
        })
    }

    fn riders(&self, seen: &Seen, own: &[Step]) -> Vec<String> {
        waiting::riders(seen, own)
    }
}

/// The SDN lock is nobody's: it was taken from whoever held it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SdnUnlock {
    /// Who may hold it, as far as the journal of this console tells.
    pub held_by: String,
}

impl Ensure for SdnUnlock {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        "the SDN lock, freed by force".to_owned()
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Shared
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::None("whoever held the lock may be in the middle of something")
    }

    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        rights::of(&endpoints::SDN_UNLOCK, &[])
    }

    /// Proxmox does not tell whether the lock is held: that it was freed, the notes of the change tell.
    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        let freed = context.notes.get(FORCED).is_some();
        let seen = if freed { Seen::Absent } else { Seen::Present(fields([("held by", self.held_by.as_str())])) };
        Box::pin(async move { Ok(seen) })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            let client = context.world.proxmox()?;
            client.sdn_unlock_by_force(permit).await.map_err(|e| match Trouble::from(&e) {
                // Not tried again by itself: somebody may have taken the lock since.
                trouble if trouble.kind == TroubleKind::Unsettled => {
                    let text = format!("whether the lock was freed is not known: {}", trouble.text);
                    Trouble::new(TroubleKind::NotSeen, text)
                        .with_help("try to change something; if it is held still, try again")
                }
                trouble => trouble,
            })?;
            context.notes.set(TOKEN, "", context.now())?;
            context.notes.set(FORCED, &context.now().to_string(), context.now())
        })
    }
}
