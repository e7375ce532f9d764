//! A VM that no task has locked.

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use crate::backends::permit::Permit;
use crate::provision::fields::{Difference, Fields, PASSING, Seen, fields};
use crate::provision::object::{Doing, Ensure, Looking, Place, only_looks};
use crate::provision::world::Context;

/// A lock is waited for before what comes after it is begun: a backup ends by itself. A VM that is gone is not locked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmUnlocked {
    /// The VM.
    pub vm: Machine,
}

impl VmUnlocked {
    fn lock() -> String {
        format!("{PASSING}lock")
    }

    /// What a VM that nothing has locked looks like.
    #[must_use]
    pub fn free() -> Fields {
        fields([(Self::lock(), "")])
    }
}

impl Ensure for VmUnlocked {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("{} not locked", self.vm.words())
    }

    only_looks!();

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let lock = self.vm.own(context).await?.and_then(|found| found.config.lock);
            let lock = lock.map(|lock| crate::text::clean(&lock).into_owned());
            Ok(Seen::Present(fields(lock.map(|lock| (Self::lock(), lock)))))
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, _permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            if todo.is_nothing() {
                return Ok(());
            }
            self.vm.free(context).await.map(drop)
        })
    }
}
