//! Proxmox VE: the client and what it returns.
//!
//! ```text
//! endpoints  the tables of every request this client can make: those that look, those that write
//! client     origin, token, permissions, counters, the bound of 4 requests in flight; call: a request being put together
//! cluster, node, tasks, sdn, sdn_node, qemu, agent    the methods that look, by area
//! sdn_write, qemu_write    the methods that write; sdn_request, vm_settings, smbios: what they write
//! names      ids and values that can be sent; task_end: how a task ends, and what an apply did on each node
//! sdn_merge  rows of `?pending=1` taken apart; qemu_config: property strings of a VM; upid: task ids
//! wire       scalars as Proxmox sends them, errors that name the field
//! error      what Proxmox refuses, typed; message: from its texts to those types
//! ```
//!
//! A list with one row that cannot be understood is an error naming row and field: leaving the row out would turn
//! "unknown" into "absent". Rows of kinds nobody asked for are passed over unread.

mod agent;
mod call;
mod client;
mod cluster;
pub mod endpoints;
mod error;
mod message;
pub mod model;
pub mod names;
mod node;
mod qemu;
mod qemu_config;
mod qemu_write;
mod sdn;
mod sdn_merge;
mod sdn_node;
mod sdn_request;
mod sdn_write;
mod smbios;
mod task_end;
mod tasks;
mod upid;
mod vm_settings;
mod wire;

pub use call::Edit;
pub use client::{Client, RequestCounts};
pub use error::{Error, LockFault, Need, SdnOrVm};
pub use message::error_from_answer;
pub use node::StagedNetwork;
pub use qemu::VmStatus;
pub use qemu_write::Leftovers;
pub use sdn::{NotRead, SdnRead, SubnetsOf, View};
pub use sdn_node::{MacVrfEntry, VrfRoute};
pub use sdn_request::{
    ControllerChange, NewController, NewSubnet, NewVnet, NewZone, SubnetChange, Underlay, VnetChange, ZoneChange,
};
pub use sdn_write::{Lock, Waiting};
pub use smbios::{Smbios, SmbiosRead};
pub use task_end::{Pace, Reloads, TaskEnd, TaskStep};
pub use tasks::{LogLine, TaskFilter, TaskLog, TaskSource};
pub use upid::{BadUpid, Upid};
pub use vm_settings::{Card, CloneRequest, Copying, DiskSize, GuestAddress, Resize, SshKeys, VmSettings};
pub use wire::Unreadable;
