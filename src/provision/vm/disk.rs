//! The size of a VM's disk. Disks only grow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::task::Errand;
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints;
use crate::backends::proxmox::{DiskSize, Resize};
use crate::provision::fields::{Change, Difference, Seen, Wanted, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::rights::Right;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

const SIZE: &str = "size";

/// A disk of a VM, of a size in GiB: `40G`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmDisk {
    /// The VM.
    pub vm: Machine,
    /// Key of the disk, `scsi0`.
    pub disk: String,
}

/// Disks of a configuration by key: what is neither a cloud-init drive nor a CD.
pub(super) fn disks(raw: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    let is_disk = |key: &str| {
        let bus = key.trim_end_matches(|c: char| c.is_ascii_digit());
        bus.len() < key.len() && ["scsi", "virtio", "sata", "ide"].contains(&bus)
    };
    let is_medium = |value: &str| value.contains("media=cdrom") || value.contains("cloudinit");
    let all = raw.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    all.filter(move |(key, value)| is_disk(key) && !is_medium(value))
}

/// The disk a VM boots from, and how large it is, in bytes where it says so.
pub(in crate::provision) fn boot_disk(raw: &BTreeMap<String, String>) -> Option<(String, Option<u64>)> {
    let order = raw.get("boot").and_then(|boot| boot.split(',').find_map(|part| part.strip_prefix("order=")));
    let mut first = order.unwrap_or_default().split(';').filter_map(|key| disks(raw).find(|(own, _)| *own == key));
    let only = || {
        let mut all = disks(raw);
        all.next().filter(|_| all.next().is_none())
    };
    let (key, value) = first.next().or_else(only)?;
    Some((key.to_owned(), size_of(value).and_then(bytes)))
}

fn size_of(value: &str) -> Option<&str> {
    value.split(',').find_map(|part| part.strip_prefix("size="))
}

/// `32G`, `32768M`, … in bytes.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..)? {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A size in the largest unit that is whole, GiB at most.
pub(in crate::provision) fn gib(bytes: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let whole = units.iter().find(|(shift, _)| bytes.is_multiple_of(1 << shift));
    whole.map_or_else(|| bytes.to_string(), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

impl VmDisk {
    async fn grow(&self, context: &Context, permit: &Permit, todo: &Difference) -> Result<(), Trouble> {
        let refused = |text: String| Trouble::new(TroubleKind::Refused, text);
        let found = self.vm.unlocked(context).await?;
        let wanted = todo.value(SIZE).unwrap_or_default();
        let wanted = bytes(wanted).ok_or_else(|| refused(format!("{SIZE} = {wanted:?} is no size; write 40G")))?;
        let disk = disks(&found.config.raw).find(|(key, _)| *key == self.disk);
        let (_, value) = disk.ok_or_else(|| refused(format!("{} has no disk {}", self.vm.words(), self.disk)))?;
        if let Some(now) = size_of(value).and_then(bytes).filter(|now| *now > wanted) {
            let text = format!("{} has {} and cannot become {}: disks only grow", self.name(), gib(now), gib(wanted));
            return Err(refused(text).with_help(format!("ask for {} or more", gib(now))));
        }
        let whole = u32::try_from(wanted >> 30).ok().filter(|gib| u64::from(*gib) << 30 == wanted);
        let total = whole.ok_or_else(|| refused(format!("{} is not a whole number of GiB", gib(wanted))))?;
        let disk = self.disk.parse().map_err(|e| Trouble::from(&e))?;
        let to = Resize { disk, size: DiskSize::Total(total), digest: None };
        let (client, node, id) = (context.world.proxmox()?, self.vm.at()?, self.vm.id()?);
        let errand = Errand::on(&self.vm, "resize", &format!("growing {}", self.disk));
        errand.run(context, client.vm_resize(permit, &node, id, &to)).await
    }
}

impl Ensure for VmDisk {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("disk {} of {}", self.disk, self.vm.words())
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::One
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        if self.vm.new { Undo::Nothing } else { Undo::None("a disk that grew does not become smaller") }
    }

    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        self.vm.rights(&endpoints::VM_RESIZE)
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let Some(found) = self.vm.own(context).await? else { return Ok(Seen::Absent) };
            let disk = disks(&found.config.raw).find(|(key, _)| *key == self.disk);
            let Some((_, value)) = disk else { return Ok(Seen::Absent) };
            let size = size_of(value).and_then(bytes).map(gib);
            let unknown = || Trouble::new(TroubleKind::Unknown, format!("how large {} is, is not told", self.name()));
            Ok(Seen::Present(fields([(SIZE, size.ok_or_else(unknown)?)])))
        })
    }

    /// `1024M` and `1G` are one size.
    fn difference(&self, seen: &Seen, wanted: &Wanted) -> Difference {
        let size = |text: Option<&str>| text.and_then(bytes);
        match wanted {
            Wanted::Present(fields) if size(seen.field(SIZE)).is_some() => {
                let same = size(seen.field(SIZE)) == size(fields.get(SIZE).map(String::as_str));
                let now = seen.field(SIZE);
                let to = fields.get(SIZE).map_or("", String::as_str);
                if same { Difference::Nothing } else { Difference::Update(vec![Change::set(SIZE, now, to)]) }
            }
            _ => Difference::between(seen, wanted),
        }
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(self.grow(context, permit, todo))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_disk_that_is_booted_from() {
        let one = raw(&[("scsi0", "a:vm-1-disk-0,size=32G"), ("ide2", "a:vm-1-cloudinit,media=cdrom,size=4M")]);
        assert_eq!(boot_disk(&one), Some(("scsi0".to_owned(), Some(32 << 30))));
        let two = raw(&[
            ("boot", "order=ide2;virtio0;scsi0"),
            ("ide2", "a:iso/x.iso,media=cdrom"),
            ("scsi0", "a:1"),
            ("virtio0", "a:2,size=512M"),
            ("scsihw", "virtio-scsi-single"),
        ]);
        assert_eq!(boot_disk(&two), Some(("virtio0".to_owned(), Some(512 << 20))));
        let unsaid = raw(&[("scsi0", "a:1,size=1G"), ("scsi1", "a:2,size=1G")]);
        assert_eq!(boot_disk(&unsaid), None, "which of two is not told");
    }

    #[test]
    fn sizes_are_compared_as_sizes() {
        assert_eq!((bytes("1T"), bytes("1.5G"), bytes("x")), (Some(1 << 40), None, None));
        assert_eq!((gib(32 << 30), gib(1 << 20), gib(3)), ("32G".to_owned(), "1M".to_owned(), "3".to_owned()));
        let vm = Machine { node: "n".to_owned(), vmid: 2040, name: "a-b".to_owned(), new: false };
        let disk = VmDisk { vm, disk: "scsi0".to_owned() };
        let seen = Seen::Present(fields([(SIZE, "1024M")]));
        assert!(disk.difference(&seen, &Wanted::Present(fields([(SIZE, "1G")]))).is_nothing());
        assert!(!disk.difference(&seen, &Wanted::Present(fields([(SIZE, "2G")]))).is_nothing());
    }
}
