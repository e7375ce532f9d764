//! Proxmox VE: the reading client and what it returns.
//!
//! ```text
//! endpoints  the table of every request this client can make
//! client     origin, token, permissions, counters, the bound of 4 requests in flight
//! cluster, node, tasks, sdn, sdn_node, qemu, agent    the methods, by area
//! sdn_merge  rows of `?pending=1` taken apart; qemu_config: property strings of a VM; upid: task ids
//! wire       scalars as Proxmox sends them, errors that name the field
//! error      what Proxmox refuses, typed; message: from its texts to those types
//! ```
//!
//! A list with one row that cannot be understood is an error naming row and field: leaving the row out would turn
//! "unknown" into "absent". Rows of kinds nobody asked for are passed over unread.

mod agent;
mod client;
mod cluster;
pub mod endpoints;
mod error;
mod message;
pub mod model;
mod node;
mod qemu;
mod qemu_config;
mod sdn;
mod sdn_merge;
mod sdn_node;
mod tasks;
mod upid;
mod wire;

pub use client::{Client, RequestCounts};
pub use error::{Error, Need, SdnOrVm};
pub use message::error_from_answer;
pub use node::StagedNetwork;
pub use qemu::VmStatus;
pub use sdn::{NotRead, SdnRead, SubnetsOf, View};
pub use sdn_node::{MacVrfEntry, VrfRoute};
pub use tasks::{LogLine, TaskFilter, TaskLog, TaskSource};
pub use upid::{BadUpid, Upid};
pub use wire::Unreadable;
