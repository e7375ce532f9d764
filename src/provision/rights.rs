//! Rights in Proxmox that steps need, looked at before the first of them: one that is missing would stop a change half way, with
//! names gone and the machine still there.

use std::sync::Arc;

use super::trouble::{Trouble, TroubleKind};
use super::world::World;
use crate::backends::proxmox::endpoints::Endpoint;
use crate::backends::proxmox::model::Permissions;

/// A right that a request needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Right {
    /// Where: `/vms/2040`.
    pub path: String,
    /// Any one of these.
    pub any_of: &'static [&'static str],
}

/// The rights of a request on these ids (`vmid` → `2040`). What only some of its options need is not among them, nor what is on
/// something that no id names.
#[must_use]
pub fn of(endpoint: &'static Endpoint, ids: &[(&str, String)]) -> Vec<Right> {
    let also = endpoint.also.iter().filter(|also| also.parameters.is_empty()).map(|also| &also.privilege);
    let filled = std::iter::once(&endpoint.privilege).chain(also).map(|privilege| {
        let path = ids.iter().fold(privilege.path.to_owned(), |path, (id, is)| path.replace(&format!("{{{id}}}"), is));
        Right { path, any_of: privilege.any_of }
    });
    filled.filter(|right| !right.path.contains('{') && !right.any_of.is_empty()).collect()
}

/// What a token holds, asked for once and only where it matters.
#[derive(Default)]
pub struct Held {
    read: Option<Option<Arc<Permissions>>>,
}

impl Held {
    /// Whether the token holds all of these. Where Proxmox does not tell its rights, it is not kept from trying.
    ///
    /// # Errors
    /// [`TroubleKind::Refused`] for the first that it does not hold.
    pub async fn allow(&mut self, world: &World, rights: &[Right]) -> Result<(), Trouble> {
        if rights.is_empty() {
            return Ok(());
        }
        if self.read.is_none() {
            let asked = match world.proxmox() {
                Ok(client) => client.permissions().await.ok(),
                Err(_) => None,
            };
            self.read = Some(asked);
        }
        let Some(held) = self.read.iter().flatten().next() else { return Ok(()) };
        match rights.iter().find(|right| !right.any_of.iter().any(|privilege| held.allows(&right.path, privilege))) {
            None => Ok(()),
            Some(Right { path, any_of }) => {
                let text = format!("the console's token has not {} at {path}", any_of.join(" or "));
                Err(Trouble::new(TroubleKind::Refused, text)
                    .with_help("`deevnet-console site check` prints the command that grants it"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::proxmox::endpoints;

    #[test]
    fn the_rights_of_a_request_are_on_what_it_is_about() {
        let clone = of(&endpoints::VM_CLONE, &[("vmid", "902".to_owned()), ("newid", "2040".to_owned())]);
        let clone: Vec<_> = clone.iter().map(|right| (right.path.as_str(), right.any_of)).collect();
        assert_eq!(clone, [("/vms/902", &["VM.Clone"][..]), ("/vms/2040", &["VM.Allocate"])], "no storage is named");
        let power = of(&endpoints::VM_STOP, &[("vmid", "2040".to_owned())]);
        assert_eq!(power, [Right { path: "/vms/2040".to_owned(), any_of: &["VM.PowerMgmt"] }]);
    }
}
