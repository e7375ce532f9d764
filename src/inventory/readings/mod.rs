//! What the workers hand to the join: the newest reading of each source, whole, with its gaps.

mod checkins;
mod dns;
mod perimeter;
mod registry;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::entities::ObjectId;
use super::source::{Gap, Seen, Sources};
use crate::backends::exit_node::model::Reading;
use crate::backends::proxmox::model::{
    AgentState, ClusterStatus, LockState, NodeStatus, NodeVnet, PendingOption, Permissions, Resources, SdnConfig, Task,
    Version, VmConfig,
};

pub use checkins::BootReading;
pub use dns::{Answer, COMPARED, DnsReading, QuestionKey};
pub use perimeter::{FwReading, fw_gap};
pub use registry::RegistryReading;

/// One cycle of reading Proxmox: cheap lists each time, details as far as the sweep has come.
#[derive(Debug, Clone)]
pub struct PveReading {
    /// When the lists were read.
    pub at: Timestamp,
    /// `/version`.
    pub version: Seen<Version>,
    /// Rights of the token.
    pub permissions: Seen<Permissions>,
    /// Quorum and members.
    pub cluster: Seen<ClusterStatus>,
    /// Guests, nodes, zones per node.
    pub resources: Seen<Arc<Resources>>,
    /// Why guests may be missing from the list although it was read: lists hide what the token may not see.
    pub guests_hidden: Option<Gap>,
    /// The same for zones.
    pub zones_hidden: Option<Gap>,
    /// SDN objects, configured and running.
    pub sdn: Seen<SdnConfig>,
    /// VNet → why its subnets are not known.
    pub subnet_gaps: BTreeMap<String, Gap>,
    /// Recent tasks.
    pub tasks: Seen<Vec<Task>>,
    /// Node → its status.
    pub nodes: BTreeMap<String, Seen<NodeStatus>>,
    /// VMID → configuration; a VMID missing here was not read yet.
    pub configs: BTreeMap<u32, Seen<Arc<VmConfig>>>,
    /// VMID → options that wait for a cold start, and no others.
    pub vm_pending: BTreeMap<u32, Seen<Vec<PendingOption>>>,
    /// VMID → guest agent.
    pub agents: BTreeMap<u32, Seen<AgentState>>,
    /// (node, zone) → realisation of its VNets.
    pub node_vnets: BTreeMap<(String, String), Seen<Vec<NodeVnet>>>,
    /// Node → staged `/etc/network/interfaces.new` (unified diff), which an SDN apply would activate.
    pub staged: BTreeMap<String, Seen<Option<String>>>,
    /// What is known of the SDN lock.
    pub lock: LockState,
    /// Requests made so far, for the budget.
    pub requests: u64,
}

impl PveReading {
    /// An empty reading at `at`: everything "not read yet".
    #[must_use]
    pub fn empty(at: Timestamp) -> Self {
        Self {
            at,
            version: Err(Gap::not_read("the version")),
            permissions: Err(Gap::not_read("the rights map")),
            cluster: Err(Gap::not_read("the cluster status")),
            resources: Err(Gap::not_read("the resource list")),
            guests_hidden: None,
            zones_hidden: None,
            sdn: Err(Gap::not_read("the SDN configuration")),
            subnet_gaps: BTreeMap::new(),
            tasks: Err(Gap::not_read("the task list")),
            nodes: BTreeMap::new(),
            configs: BTreeMap::new(),
            vm_pending: BTreeMap::new(),
            agents: BTreeMap::new(),
            node_vnets: BTreeMap::new(),
            staged: BTreeMap::new(),
            lock: LockState::NotTried,
            requests: 0,
        }
    }
}

/// Everything the join works on.
#[derive(Debug, Clone, Default)]
pub struct Readings {
    /// Health of the sources.
    pub sources: Sources,
    /// Proxmox; `None` = nothing read yet.
    pub pve: Option<Arc<PveReading>>,
    /// Exit node name → its newest reading, or why there is none.
    pub exits: BTreeMap<String, Seen<Arc<Reading>>>,
    /// Exit nodes whose reading is old because the last try failed, and how it failed.
    pub stale_exits: BTreeMap<String, Gap>,
    /// Names; `None` = nothing read yet.
    pub dns: Option<Arc<DnsReading>>,
    /// The perimeter; `None` = nothing read yet.
    pub fw: Option<Arc<FwReading>>,
    /// Check-ins; `None` = nothing read yet.
    pub boot: Option<Arc<BootReading>>,
    /// The registry; `None` = nothing read yet, or the site has none.
    pub registry: Option<Arc<RegistryReading>>,
    /// Rates and trends kept across readings.
    pub flows: Arc<super::entities::Flows>,
}

/// What the screen needs to know in detail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Demand {
    /// VMIDs whose configuration is on screen.
    pub vmids: Vec<u32>,
    /// Tenants on screen.
    pub tenants: Vec<Arc<str>>,
    /// Whether live counters are on screen (exit node read every 5 s instead of 30 s).
    pub live_counters: bool,
    /// Somebody waits for everything: no part is spread over several cycles. What is in flight at a time stays bounded.
    pub at_once: bool,
    /// Prefixes whose tracked flows are on screen, at most [`MAX_FLOWS`](crate::backends::exit_node::helper::MAX_FLOWS).
    pub flows: Vec<ipnet::Ipv4Net>,
    /// The object whose details are open.
    pub focus: Option<ObjectId>,
}
