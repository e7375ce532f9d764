//! The lock on all SDN configuration. It can be taken and not be looked at: whether this change has it, its notes tell.

use serde::{Deserialize, Serialize};

use super::{ASKED, FORCED, TOKEN, token};
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
            Trouble::new(TroubleKind::Refused, text)
                .with_help("make sure that nobody else changes the SDN, then resume and let it take the lock by force")
        }
    }
}

impl Ensure for SdnLock {
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
        let held = context.notes.get(TOKEN).is_some();
        Box::pin(async move { Ok(if held { Seen::Present(Self::held()) } else { Seen::Absent }) })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            match todo {
                Difference::Delete(_) => release(context, permit).await,
                Difference::Nothing => Ok(()),
                _ => self.take(context, permit).await,
            }
        })
    }

    fn give_back<'a>(&'a self, context: &'a Context, permit: &'a Permit) -> Option<Doing<'a>> {
        context.notes.get(TOKEN)?;
        Some(Box::pin(release(context, permit)))
    }
}

/// Gives the lock back. Giving it back twice is no fault.
async fn release(context: &Context, permit: &Permit) -> Result<(), Trouble> {
    let token = token(context)?;
    match context.world.proxmox()?.sdn_unlock(permit, &token).await {
        // Somebody took it by force: it is not this change's any more.
        Ok(()) | Err(Error::SdnLocked { .. }) => context.notes.set(TOKEN, "", context.now()),
        Err(error) => Err(Trouble::from(&error)),
    }
}
