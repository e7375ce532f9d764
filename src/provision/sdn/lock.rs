//! The lock on all SDN configuration. It can be taken and not be looked at: whether this change has it, its notes tell.
//!
//! A token that an earlier run noted proves nothing: the lock may have been broken by force and taken by somebody else
//! since, and Proxmox takes any token while nobody holds the lock (facts/proxmox.md §6). It is given back with that token,
//! which fails if it is somebody else's, and taken anew, before anything is staged.

use serde::{Deserialize, Serialize};

use super::{ALONE, ASKED, FORCED, TOKEN, token};
use crate::backends::permit::Permit;
use crate::backends::proxmox::{Error, LockFault, Waiting};
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// The SDN lock, held by this change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SdnLock {
    /// Whether a lock that somebody holds is taken from them. On request alone: Proxmox does not tell whose it is.
    #[serde(default)]
    pub by_force: bool,
}

impl SdnLock {
    /// What a lock that this change holds looks like.
    #[must_use]
    pub fn held() -> Fields {
        fields([("held", "by this change")])
    }

    async fn take(&self, context: &Context, permit: &Permit) -> Result<(), Trouble> {
        let client = context.world.proxmox()?;
        let remembered = context.notes.get(TOKEN).is_some() && !context.notes.is_own(TOKEN);
        let broken = context.notes.get(TOKEN).is_some() && !release_own(context, permit).await?;
        if remembered {
            context.notes.set(ALONE, if broken { "" } else { "yes" }, context.now())?;
        } else if context.notes.get(ALONE).is_some() && !context.notes.is_own(ALONE) {
            // It was given back in between: others may have had it.
            context.notes.set(ALONE, "", context.now())?;
        }
        if broken && !self.by_force {
            let text = "the SDN lock that this change had was taken from it by force, and somebody else has it now";
            return Err(Trouble::new(TroubleKind::Refused, text).with_help(
                "find out who changes the SDN, wait until they are done, look at the plan again and resume",
            ));
        }
        let before = context.notes.get(ASKED);
        // Once: whoever has it after that took it since.
        if self.by_force && context.notes.get(FORCED).is_none() {
            context.notes.set(FORCED, &context.now().to_string(), context.now())?;
            client.sdn_unlock_by_force(permit).await.map_err(|e| Trouble::from(&e))?;
        }
        // An answer that gets lost leaves a lock without a token: that it was asked for is on disk before.
        context.notes.set(ASKED, &context.now().to_string(), context.now())?;
        match client.sdn_lock(permit, Waiting::Allow).await {
            Ok(token) => {
                context.notes.set(TOKEN, token.expose(), context.now())?;
                context.notes.set(ASKED, "", context.now())
            }
            Err(error) => {
                let trouble = refused(&error, before.as_deref());
                if trouble.kind != TroubleKind::Unsettled && before.is_none() {
                    context.notes.set(ASKED, "", context.now())?;
                }
                Err(trouble)
            }
        }
    }
}

/// Takes the lock anew, so that it is certain that this change has it: its token may have been used up by an apply whose
/// answer got lost.
pub(super) async fn prove(context: &Context, permit: &Permit) -> Result<(), Trouble> {
    SdnLock::default().take(context, permit).await
}

/// Why the lock was not to be had; `asked` is when this change asked for it before and got no answer.
fn refused(error: &Error, asked: Option<&str>) -> Trouble {
    if !matches!(error, Error::SdnLocked { fault: LockFault::HeldByAnother, .. }) {
        return Trouble::from(error);
    }
    match asked {
        None => Trouble::new(TroubleKind::Refused, "somebody else holds the SDN lock; Proxmox does not tell who")
            .with_help("wait until they are done; if nobody is, release it with `deevnet-console sdn unlock`"),
        Some(at) => {
            let text =
                format!("the SDN lock is held, probably by this change: it asked for it at {at} and got no answer");
            Trouble::new(TroubleKind::Refused, text).with_help(
                "make sure that nobody else changes the SDN, free it by `deevnet-console sdn unlock`, then resume",
            )
        }
    }
}

impl Ensure for SdnLock {
    fn in_one(&self) -> bool {
        true
    }

    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        if self.by_force { "the SDN lock, by force" } else { "the SDN lock" }.to_owned()
    }

    fn danger(&self, todo: &Difference) -> Danger {
        match todo {
            Difference::Nothing => Danger::Look,
            _ if self.by_force => Danger::Shared,
            _ => Danger::One,
        }
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::First
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        let seen = match context.notes.get(TOKEN) {
            None => Seen::Absent,
            Some(_) if context.notes.is_own(TOKEN) => Seen::Present(Self::held()),
            Some(_) => Seen::Present(fields([("held", "by an earlier run, as the journal says")])),
        };
        Box::pin(async move { Ok(seen) })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            match todo {
                Difference::Delete(_) => release_own(context, permit).await.map(drop),
                Difference::Nothing => Ok(()),
                _ => self.take(context, permit).await,
            }
        })
    }

    fn give_back<'a>(&'a self, context: &'a Context, permit: &'a Permit) -> Option<Doing<'a>> {
        context.notes.get(TOKEN)?;
        Some(Box::pin(async move { release_own(context, permit).await.map(drop) }))
    }
}

/// Gives the lock back; false where it is somebody else's by now, who took it by force. Giving it back twice is no fault.
async fn release_own(context: &Context, permit: &Permit) -> Result<bool, Trouble> {
    let token = token(context)?;
    let own = match context.world.proxmox()?.sdn_unlock(permit, &token).await {
        Ok(()) => true,
        Err(Error::SdnLocked { .. }) => false,
        Err(error) => return Err(Trouble::from(&error)),
    };
    context.notes.set(TOKEN, "", context.now())?;
    Ok(own)
}
