//! VRFs on the exit nodes, with their facts and their flows.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Class, FieldDiff};
use crate::backends::exit_node::model::{Route, SnatRule, Tracked};
use crate::inventory::source::{Gap, Seen};

/// One line of evidence in the VRF & egress pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// e.g. `default`.
    pub label: &'static str,
    /// e.g. `10.20.50.1 vmbr0.50`.
    pub value: String,
    /// Class.
    pub class: Class,
    /// Word beside the glyph, e.g. `right`.
    pub word: String,
    /// Why it is unknown, where it is.
    pub gap: Option<Gap>,
}

/// A tenant's VRF on one exit node.
#[derive(Debug, Clone, PartialEq)]
pub struct Vrf {
    /// Tenant.
    pub tenant: Arc<str>,
    /// Exit node.
    pub node: Arc<str>,
    /// Device, `vrf_<name>`.
    pub device: String,
    /// Derived VNI.
    pub vni: u32,
    /// link · default · SNAT · forwarding · null routes · FRR, in this order.
    pub facts: Vec<Fact>,
    /// Class of the worst fact.
    pub class: Class,
    /// Routes of the VRF.
    pub routes: Seen<Vec<(Route, RouteWhy)>>,
    /// SNAT rules for the tenant's subnet.
    pub snat: Seen<Vec<SnatRule>>,
    /// New connections through those rules.
    pub flow: Seen<Flow>,
    /// Bytes per second over the VNet bridge, when two samples exist.
    pub vnet_bytes_s: Seen<f64>,
    /// Flows tracked from its subnet; `None` = nobody asked.
    pub tracked: Option<Seen<Tracked>>,
    /// What differs from the derived state.
    pub diffs: Vec<FieldDiff>,
}

/// Why a route is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteWhy {
    /// Class.
    pub class: Class,
    /// e.g. `default to the perimeter`, `the tenant's own subnet`, `null route to eds`.
    pub words: Arc<str>,
}

/// Count and rate of new connections. Activity, not health (facts/exit-node.md §4).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flow {
    /// First packets of connections since the last reset.
    pub total: u64,
    /// Per second between the last two samples; `None` with one sample or after a reset.
    pub per_second: Option<f64>,
    /// Increments between samples, oldest first, at most ten.
    pub history: Vec<u64>,
    /// When the counter fell (rule replaced, `-Z`, SDN apply).
    pub reset_at: Option<Timestamp>,
    /// When counting was first seen by this program.
    pub since: Option<Timestamp>,
}

/// Flows kept across readings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flows {
    /// (exit node, rule text) → flow.
    pub snat: BTreeMap<(String, String), Flow>,
    /// (exit node, interface) → bytes per second, both directions.
    pub bytes_s: BTreeMap<(String, String), f64>,
}
