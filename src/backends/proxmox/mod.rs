//! Proxmox VE: the reading client and what it returns.

pub mod model;
