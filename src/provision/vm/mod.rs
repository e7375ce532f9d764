//! Workloads: the VM of one, from its clone to its end, and what it is switched to.
//!
//! Every object names its VM by number **and** name, and looks at both right before it changes something: a number alone may
//! be somebody else's by now. Tasks are followed to their end, by whoever takes the change up as well (`task.rs`).
//! Sources: domain.md §4.2, facts/proxmox.md §9, §10.

mod agent;
mod clone;
mod config;
mod disk;
mod gone;
mod machine;
mod power;
mod reboot;
mod serial;
mod task;
mod unlocked;

pub use agent::VmAgent;
pub use clone::VmClone;
pub use config::VmConfig;
pub use disk::VmDisk;
pub use gone::VmGone;
pub use machine::Machine;
pub use power::{Off, SHUTDOWN, VmPower};
pub use reboot::VmReboot;
pub use serial::VmSerial;
pub use unlocked::VmUnlocked;

pub(super) use config::{authorized, keys_of, tags};
pub(super) use disk::{boot_disk, gib};
pub(super) use serial::pointer;
