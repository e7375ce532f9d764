//! The fabric: what a tenant has in Proxmox SDN, the lock it is changed under, and the apply that makes it real.
//!
//! Sources: facts/proxmox.md §4–§7, domain.md §4.1.

mod apply;
mod holder;
mod lock;
mod objects;
mod release;
mod reloads;
mod waiting;

pub use apply::SdnApply;
pub use holder::{Holder, holder, holder_in, left_behind, running, taken_up};
pub use lock::SdnLock;
pub use objects::{SdnSubnet, SdnVnet, SdnZone};
pub use release::{SdnRollback, SdnUnlock};
pub use waiting::waiting;

use super::journal::Notes;
use super::trouble::{Trouble, TroubleKind};
use super::world::Context;
use crate::backends::proxmox::Client;
use crate::backends::proxmox::endpoints::Endpoint;
use crate::backends::proxmox::names::LockToken;

/// Note: the token of the lock, while this change has it.
pub(in crate::provision) const TOKEN: &str = "sdn-lock";
/// Note: the lock was asked for, and no answer came yet. When.
const ASKED: &str = "sdn-lock-asked";
/// Note: a lock that somebody held was taken from them. When.
const FORCED: &str = "sdn-lock-forced";
/// Note: an apply was asked for, and no answer came yet: the tasks of applies that were known before, comma between them.
const APPLYING: &str = "sdn-apply-asked";
/// Note: the task of an apply that was begun.
const APPLY: &str = "sdn-apply";

/// That a list shows every object. Proxmox leaves out what a token may not see and does not say so (facts/proxmox.md §3).
///
/// # Errors
/// [`TroubleKind::Unknown`] where it does not: what is not in the list is not known then.
pub(super) async fn whole(client: &Client, lists: &[(&'static str, &'static Endpoint)]) -> Result<(), Trouble> {
    client.permissions().await.map_err(|e| Trouble::from(&e))?;
    for (what, endpoint) in lists {
        if client.sees_all(endpoint) != Some(true) {
            let text = format!("the token is not shown every {what}: what it does not see is not known");
            let help = format!(
                "give it {} on {}, with propagation",
                endpoint.privilege.any_of.first().unwrap_or(&"SDN.Audit"),
                endpoint.privilege.path.split("/{").next().unwrap_or("/sdn"),
            );
            return Err(Trouble::new(TroubleKind::Unknown, text).with_help(help));
        }
    }
    Ok(())
}

/// Whether a change has the lock, by what it noted.
#[must_use]
pub fn holds_lock(notes: &Notes) -> bool {
    notes.get(TOKEN).is_some()
}

/// When a change asked for the lock and got no answer: it may have it, and nobody knows the token.
#[must_use]
pub fn asked_for_lock(notes: &Notes) -> Option<String> {
    notes.get(ASKED).filter(|_| !holds_lock(notes))
}

/// The token of the lock that this change has.
fn token(context: &Context) -> Result<LockToken, Trouble> {
    let none =
        || Trouble::new(TroubleKind::Refused, "the SDN lock is not held by this change").with_help("take it first");
    context.notes.get(TOKEN).ok_or_else(none)?.parse().map_err(|e| Trouble::from(&e))
}
