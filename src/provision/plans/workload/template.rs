//! Which template a workload is cloned from.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Workload;
use crate::backends::proxmox::model::Vm;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::vm;
use crate::provision::world::World;

/// A template.
pub(super) struct Template {
    /// Its number.
    pub vmid: u32,
    /// Its name.
    pub name: String,
    /// The disk it boots from, and its size in bytes.
    pub disk: Option<(String, Option<u64>)>,
}

/// The template that is named, or the newest of the site's prefix on that node.
pub(super) async fn choose(world: &Arc<World>, wanted: &Workload, vms: &[Vm], node: &str) -> Result<Template, Trouble> {
    let there = vms.iter().filter(|vm| vm.template && vm.node == node);
    let there: Vec<(&str, u32)> = there.filter_map(|vm| Some((vm.name.as_deref()?, vm.vmid))).collect();
    let chosen = match (&wanted.template, &world.site.proxmox.template_prefix) {
        (Some(name), _) => the_only(&there.iter().copied().filter(|(own, _)| own == name).collect::<Vec<_>>()),
        (None, Some(prefix)) => newest(&there, prefix),
        (None, None) => Err("the site file has no [proxmox] template_prefix, and no template is named".to_owned()),
    };
    let refused = |text: String| {
        Trouble::new(TroubleKind::Refused, format!("no template to clone from on {node}: {text}"))
            .with_help("name one, or correct template_prefix in the site file")
    };
    let (name, vmid) = chosen.map_err(refused)?;
    let config = world.proxmox()?.vm_config(node, vmid).await.map_err(|e| Trouble::from(&e))?;
    Ok(Template { vmid, name, disk: vm::boot_disk(&config.raw) })
}

fn the_only(all: &[(&str, u32)]) -> Result<(String, u32), String> {
    match all {
        [] => Err("none is called so".to_owned()),
        [(name, vmid)] => Ok(((*name).to_owned(), *vmid)),
        [(name, one), (_, other), ..] => Err(format!("{one} and {other} are both called {name}")),
    }
}

/// The one whose numbers are highest, of those that start with the prefix.
fn newest(all: &[(&str, u32)], prefix: &str) -> Result<(String, u32), String> {
    let mut fit: Vec<(&str, u32)> = all.iter().copied().filter(|(name, _)| name.starts_with(prefix)).collect();
    fit.sort_by(|(one, _), (other, _)| by_numbers(other, one));
    match fit.as_slice() {
        [] => Err(format!("none starts with {prefix}")),
        [(one, first), (other, second), ..] if by_numbers(one, other) == Ordering::Equal => {
            Err(format!("{first} {one} and {second} {other} are equally new"))
        }
        [(name, vmid), ..] => Ok(((*name).to_owned(), *vmid)),
    }
}

/// Compares names by all numbers in them, as numbers: 44-1.10 is above 44-1.9.
fn by_numbers(one: &str, other: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<(usize, String)> {
        let digits = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        // Of any length: a longer number without leading zeros is the larger one.
        digits.map(|digits| digits.trim_start_matches('0')).map(|digits| (digits.len(), digits.to_owned())).collect()
    };
    numbers(one).cmp(&numbers(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_that_of_the_highest_numbers() {
        let all =
            [("fedora-44-1.9", 1), ("fedora-44-1.10", 2), ("fedora-43-9.99", 3), ("debian-99", 4), ("fedora-44", 5)];
        assert_eq!(newest(&all, "fedora-"), Ok(("fedora-44-1.10".to_owned(), 2)));
        assert_eq!(newest(&all, "debian-"), Ok(("debian-99".to_owned(), 4)));
        assert!(newest(&all, "alma-").unwrap_err().contains("alma-"));
        let huge = [("t-99999999999999999999999", 1), ("t-100000000000000000000000", 2), ("t-007", 3)];
        assert_eq!(newest(&huge, "t-").unwrap().1, 2);
    }

    #[test]
    fn of_two_that_are_equally_new_none_is_taken() {
        let why = newest(&[("fedora-44-1.10", 1), ("fedora-44-1.10-b", 2)], "fedora-").unwrap_err();
        assert!(why.contains("fedora-44-1.10-b") && why.contains("equally new"), "{why}");
        assert!(the_only(&[("a", 1), ("a", 2)]).is_err() && the_only(&[]).is_err());
    }
}
