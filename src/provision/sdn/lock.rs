//! The lock on all SDN configuration. It can be taken and not be looked at: whether this change has it, its notes tell.
//!
//! A token that an earlier run noted proves nothing: the lock may have been broken by force and taken by somebody else
//! since, and Proxmox takes any token while nobody holds the lock (facts/proxmox.md §6). It is given back with that token,
//! which fails if it is somebody else's, and taken anew, before anything is staged. That it could be given back proves as
//! little: what this change asked for under it and never saw made may be another's work.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::holder::{Holder, holder_in, left_behind, taken_up};
use super::{ASKED, FORCED, TOKEN, token};
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints;
use crate::backends::proxmox::{Error, LockFault, Waiting};
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::rights::{self, Right};
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
        let broken = context.notes.get(TOKEN).is_some() && !release_own(context, permit).await?;
        if broken && !self.by_force {
            let text = "the SDN lock that this change had was taken from it by force, and somebody else has it now";
            return Err(Trouble::new(TroubleKind::Refused, text).with_help(
                "find out who changes the SDN, wait until they are done, look at the plan again and resume",
            ));
        }
        let before = context.notes.get(ASKED);
        let mut turn = Turn::default();
        // Once: whoever has it after that took it since.
        if self.by_force && context.notes.get(FORCED).is_none() {
            context.notes.set(FORCED, &context.now().to_string(), context.now())?;
            client.sdn_unlock_by_force(permit).await.map_err(|e| Trouble::from(&e))?;
        }
        loop {
            // An answer that gets lost leaves a lock without a token: that it was asked for is on disk before.
            context.notes.set(ASKED, &context.now().to_string(), context.now())?;
            let error = match client.sdn_lock(permit, Waiting::Allow).await {
                Ok(token) => {
                    context.notes.set(TOKEN, token.expose(), context.now())?;
                    return context.notes.set(ASKED, "", context.now());
                }
                Err(error) => error,
            };
            let trouble = Trouble::from(&error);
            if trouble.kind != TroubleKind::Unsettled && before.is_none() {
                context.notes.set(ASKED, "", context.now())?;
            }
            if !matches!(error, Error::SdnLocked { fault: LockFault::HeldByAnother, .. }) {
                return Err(trouble);
            }
            turn.wait(context, before.as_deref()).await?;
        }
    }
}

/// Most steps of patience between two tries of a lock that somebody else holds.
const RARELY: u32 = 5;

/// A lock that is somebody else's, waited for.
#[derive(Default)]
struct Turn {
    tries: u32,
    waited: Duration,
    told: Option<String>,
}

impl Turn {
    /// Waits until it is worth another try; `asked` is when this change asked for the lock before and got no answer.
    ///
    /// # Errors
    /// When it was waited for long enough, a stop was asked for, nobody runs the change that has it, or it is probably this
    /// change's own.
    async fn wait(&mut self, context: &Context, asked: Option<&str>) -> Result<(), Trouble> {
        // Whoever has it may be another change by now.
        let known = match &context.past {
            Some((journal, own)) => holder_in(journal, Some(*own)),
            None => None,
        };
        if let (Some(at), None) = (asked, known.as_ref().filter(|holder| holder.certain)) {
            let text =
                format!("the SDN lock is held, probably by this change: it asked for it at {at} and got no answer");
            return Err(Trouble::new(TroubleKind::Refused, text).with_help(
                "make sure that nobody else changes the SDN, free it by `deevnet-console sdn unlock`, then resume",
            ));
        }
        if let Some(holder) = context.past.as_ref().and_then(|(journal, own)| left_behind(journal, Some(*own))) {
            let text = format!("the SDN lock is, by the journal, held by {holder}, which nobody runs any more");
            return Err(
                Trouble::new(TroubleKind::Refused, text).with_help(format!("{}; then resume", taken_up(&holder)))
            );
        }
        let who = held_by(known.as_ref());
        let (most, between) = (context.world.patience.lock, context.world.patience.between);
        if self.waited >= most {
            let text = format!("the SDN lock was not given back within {} s by {who}", most.as_secs());
            return Err(Trouble::new(TroubleKind::Refused, text).with_help(
                "wait until they are done, then resume; if nobody is, free it by `deevnet-console sdn unlock`",
            ));
        }
        if self.told.as_ref() != Some(&who) {
            context.tell(format!("waiting for the SDN lock, held by {who}; for {} s at most", most.as_secs()));
            self.told = Some(who);
        }
        self.tries = (self.tries + 1).min(RARELY);
        for _ in 0..self.tries {
            context.wait().await?;
            self.waited += between.max(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Who has the lock, in words.
fn held_by(known: Option<&Holder>) -> String {
    match known {
        Some(holder) if holder.certain => holder.to_string(),
        Some(holder) => format!("somebody else, probably {holder}?"),
        None => "somebody else; Proxmox does not tell who".to_owned(),
    }
}

/// Takes the lock anew, so that it is certain that this change has it: its token may have been used up by an apply whose
/// answer got lost.
pub(super) async fn prove(context: &Context, permit: &Permit) -> Result<(), Trouble> {
    SdnLock::default().take(context, permit).await
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

    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        rights::of(&endpoints::SDN_LOCK, &[])
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
        Some(Box::pin(async move {
            if release_own(context, permit).await? {
                return Ok(());
            }
            let text = "it was taken from this change by force, and somebody else has it now";
            Err(Trouble::new(TroubleKind::Moved, text).with_help("find out who changes the SDN before you go on"))
        }))
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
