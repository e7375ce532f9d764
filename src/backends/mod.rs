//! Typed clients of the systems a site is made of: wire types, client, map. Knows [`crate::site`] and nobody else.

pub mod bootstrap;
pub mod dns;
pub mod exit_node;
pub mod http;
pub mod opnsense;
pub mod permit;
pub mod powerdns;
pub mod proxmox;
pub mod registry;
