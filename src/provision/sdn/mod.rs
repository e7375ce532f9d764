//! The fabric: what a tenant has in Proxmox SDN, the lock it is changed under, and the apply that makes it real.
//!
//! Sources: facts/proxmox.md §4–§7, domain.md §4.1.

mod apply;
mod lock;
mod objects;

pub use apply::SdnApply;
pub use lock::SdnLock;
pub use objects::{SdnSubnet, SdnVnet, SdnZone};

use super::trouble::{Trouble, TroubleKind};
use super::world::Context;
use crate::backends::proxmox::names::LockToken;

/// Note: the token of the lock, while this change has it.
const TOKEN: &str = "sdn-lock";
/// Note: the lock was asked for, and no answer came yet. When.
const ASKED: &str = "sdn-lock-asked";
/// Note: a lock that somebody held was taken from them. When.
const FORCED: &str = "sdn-lock-forced";
/// Note: the task of an apply that was begun.
const APPLY: &str = "sdn-apply";

/// The token of the lock that this change has.
fn token(context: &Context) -> Result<LockToken, Trouble> {
    let none =
        || Trouble::new(TroubleKind::Refused, "the SDN lock is not held by this change").with_help("take it first");
    context.notes.get(TOKEN).ok_or_else(none)?.parse().map_err(|e| Trouble::from(&e))
}
