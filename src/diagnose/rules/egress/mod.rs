//! From the workload to the internet: exit node, default, translation, forwarding, the way back.

mod snat_without_exit_node;

use super::Rule;

/// Rules of this layer, those first whose faults explain others.
pub(super) static RULES: &[&Rule] = &[&snat_without_exit_node::RULE];
