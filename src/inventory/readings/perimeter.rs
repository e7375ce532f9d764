//! What was read of the perimeter: OPNsense's rules, routes, translation and resolver.

use std::sync::Arc;

use jiff::Timestamp;

use crate::backends::opnsense::model::{
    Aliases, Forward, Gateway, GatewayHealth, Interface, KernelRoute, ResolverSettings, RuleSet, ServiceState,
    SourceNat, StateTable, StaticRoute, SystemStatus,
};
use crate::backends::opnsense::{Error, Release};
use crate::inventory::source::{Gap, GapKind, Seen};

/// The gap that `error` leaves.
#[must_use]
pub fn fw_gap(error: &Error) -> Gap {
    let kind = match error {
        Error::Denied { .. } | Error::Unauthenticated { .. } | Error::NoCredentials => GapKind::Denied,
        Error::Http(_) => GapKind::NoAnswer,
        _ => GapKind::Failed,
    };
    Gap::new(kind, error.to_string())
}

/// One poll of the perimeter. Its parts are read one after the other (facts/opnsense.md §10).
#[derive(Debug, Clone)]
pub struct FwReading {
    /// When its parts that are read at each poll were read.
    pub at: Timestamp,
    /// Version and how it was found out.
    pub release: Seen<Release>,
    /// Standing messages, among them a rule set that pf refused.
    pub system: Seen<SystemStatus>,
    /// Interfaces, by which `opt10` becomes `tenant_transit`.
    pub interfaces: Seen<Arc<[Interface]>>,
    /// Filter rules in the order pf looks at them, with counters.
    pub rules: Seen<Arc<RuleSet>>,
    /// Aliases, whose members rules mean.
    pub aliases: Seen<Arc<Aliases>>,
    /// Static routes as configured.
    pub routes: Seen<Arc<[StaticRoute]>>,
    /// Routes in force.
    pub kernel_routes: Seen<Arc<[KernelRoute]>>,
    /// Gateways as configured.
    pub gateways: Seen<Arc<[Gateway]>>,
    /// Gateways as monitored.
    pub gateway_health: Seen<Arc<[GatewayHealth]>>,
    /// Source NAT.
    pub source_nat: Seen<Arc<SourceNat>>,
    /// Forwards of the resolver.
    pub forwards: Seen<Arc<[Forward]>>,
    /// The resolver's settings.
    pub resolver: Seen<Arc<ResolverSettings>>,
    /// Whether the resolver runs.
    pub resolver_state: Seen<ServiceState>,
    /// How full the state table is.
    pub states: Seen<StateTable>,
    /// Requests made so far.
    pub requests: u64,
}

impl FwReading {
    /// An empty reading at `at`: everything "not read yet".
    #[must_use]
    pub fn empty(at: Timestamp) -> Self {
        Self {
            at,
            release: Err(Gap::not_read("the version of the perimeter")),
            system: Err(Gap::not_read("the perimeter's standing messages")),
            interfaces: Err(Gap::not_read("the interface list")),
            rules: Err(Gap::not_read("the rule set")),
            aliases: Err(Gap::not_read("the alias list")),
            routes: Err(Gap::not_read("the static routes")),
            kernel_routes: Err(Gap::not_read("the routes in force")),
            gateways: Err(Gap::not_read("the gateways")),
            gateway_health: Err(Gap::not_read("the state of the gateways")),
            source_nat: Err(Gap::not_read("the source NAT rules")),
            forwards: Err(Gap::not_read("the resolver's forwards")),
            resolver: Err(Gap::not_read("the resolver's settings")),
            resolver_state: Err(Gap::not_read("the resolver's state")),
            states: Err(Gap::not_read("the state table")),
            requests: 0,
        }
    }
}
