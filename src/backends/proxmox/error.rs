//! What Proxmox refuses, typed. Sources: facts/proxmox.md §1, §6, §10.

use std::collections::BTreeMap;

use crate::backends::http::{HttpError, Outcome};

use super::model::AgentState;
use super::wire::Unreadable;

/// A privilege that was missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// ACL path, e.g. `/sdn/zones`.
    pub path: String,
    /// Privileges, any one of which would do.
    pub privileges: Vec<String>,
}

/// Which kind of configuration moved under a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SdnOrVm {
    /// An SDN file: any change to any object of that kind counts.
    Sdn,
    /// One VM's configuration.
    Vm,
}

/// What is wrong between a write and the SDN lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockFault {
    /// The lock was asked for, and somebody has it.
    HeldByAnother,
    /// A token was given, and it is not that of the lock that is held: it was taken away by force and taken anew.
    StaleToken,
    /// No token was given while the lock is held.
    NoToken,
}

/// Why a request to Proxmox gave no value. `action` is Proxmox's own prefix, e.g. `update sdn zone object failed`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No usable answer at all.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The API token has not the shape `user@realm!name=secret`. Its text is never shown.
    #[error("the Proxmox API token is not of the form user@realm!name=secret: {0}")]
    BadToken(&'static str),
    /// An id that cannot be part of a request path.
    #[error("{value:?} is not a valid {what}")]
    BadId {
        /// What it should have been.
        what: &'static str,
        /// What it was, cleaned.
        value: String,
    },
    /// 401.
    #[error("Proxmox did not accept the API token: {reason}")]
    Unauthenticated {
        /// `No ticket`, `Authentication failed!`, …
        reason: String,
    },
    /// 403.
    #[error("not permitted: {}", match .need {
        Some(need) => format!("needs {} at {}", need.privileges.join(" or "), need.path),
        None => .text.clone(),
    })]
    Denied {
        /// What was missing, where Proxmox says so.
        need: Option<Need>,
        /// Proxmox's words.
        text: String,
    },
    /// Parameters refused: 400, or a 400 folded into a 500 by an SDN lock, or a 500 that names one option.
    #[error("{}parameters refused: {}", prefix(.action), listed(.errors))]
    BadParameters {
        /// Prefix of a folded refusal.
        action: Option<String>,
        /// Parameter → why.
        errors: BTreeMap<String, String>,
    },
    /// The object does not exist. Proxmox says so with a 500.
    #[error("{}does not exist: {what}", prefix(.action))]
    Absent {
        /// Prefix, on writes.
        action: Option<String>,
        /// The object, in Proxmox's words.
        what: String,
    },
    /// What a write refers to does not exist.
    #[error("{action}: {what} does not exist")]
    ReferenceAbsent {
        /// Prefix.
        action: String,
        /// What was referred to.
        what: String,
    },
    /// 595–599, or no connection to the node that would know.
    #[error("the node that should answer is unreachable (HTTP {status}: {reason})")]
    NodeUnreachable {
        /// 595–599.
        status: u16,
        /// e.g. `Connection refused`.
        reason: String,
    },
    /// The cluster has no node of that name.
    #[error("no node {node} in this cluster")]
    NodeUnknown {
        /// The name.
        node: String,
    },
    /// 501 for a path or method: this version does not have it.
    #[error("this Proxmox version has no {endpoint}")]
    NotImplemented {
        /// Method and path.
        endpoint: String,
    },
    /// The server did not understand the request as such (501, 506, broken JSON).
    #[error("Proxmox could not parse the request: {text}")]
    MalformedRequest {
        /// Its words.
        text: String,
    },
    /// The cluster has lost quorum; nothing can be written.
    #[error("{}the cluster has no quorum", prefix(.action))]
    NoQuorum {
        /// Prefix.
        action: Option<String>,
    },
    /// Somebody else is writing.
    #[error("{}{lock} is busy", prefix(.action))]
    Busy {
        /// Prefix.
        action: Option<String>,
        /// e.g. `domain-sdn`, or a VM's lock file.
        lock: String,
    },
    /// Somebody holds the SDN lock, or the token given is not its token.
    #[error("{action}: {}", match .fault {
        LockFault::StaleToken => "our SDN lock was taken away and somebody else holds one now",
        LockFault::HeldByAnother | LockFault::NoToken => "the SDN configuration is locked by somebody",
    })]
    SdnLocked {
        /// Prefix.
        action: String,
        /// What is wrong.
        fault: LockFault,
    },
    /// The SDN lock is not given while changes wait.
    #[error("{action}: the SDN configuration has pending changes")]
    SdnPending {
        /// Prefix.
        action: String,
    },
    /// The digest given is not the current one.
    #[error("{}the configuration was changed by somebody else in between", prefix(.action))]
    Modified {
        /// Prefix.
        action: Option<String>,
        /// Which configuration.
        what: SdnOrVm,
    },
    /// The VM is locked by an operation.
    #[error("the VM is locked ({lock})")]
    VmLocked {
        /// `clone`, `backup`, …
        lock: String,
    },
    /// The guest did not shut down in the time given.
    #[error("the guest did not shut down in time")]
    ShutdownTimedOut,
    /// A disk would become smaller.
    #[error("a disk cannot be made smaller")]
    DiskShrink,
    /// A value that is refused here; nothing was sent.
    #[error("{what}: {why}")]
    BadValue {
        /// Which value.
        what: &'static str,
        /// What is wrong with it, without the value where it may be secret.
        why: String,
    },
    /// The VM's power state does not allow it.
    #[error("{text}")]
    VmState {
        /// Proxmox's words.
        text: String,
    },
    /// A guest agent question without an agent that answers.
    #[error("{}", agent_text(.0))]
    Agent(AgentState),
    /// The agent answers, but not this.
    #[error("the guest agent refused: {text}")]
    AgentRefused {
        /// Its words.
        text: String,
    },
    /// Output of a process in the guest that is unknown or was fetched already.
    #[error("the guest agent knows no process {pid}")]
    AgentProcessGone {
        /// Process id in the guest.
        pid: u64,
    },
    /// The object is in use by another.
    #[error("{action}: {what} is used by {by}")]
    InUse {
        /// Prefix.
        action: String,
        /// The object.
        what: String,
        /// Its user.
        by: String,
    },
    /// What was to be created exists.
    #[error("{}exists already: {what}", prefix(.action))]
    Exists {
        /// Prefix.
        action: Option<String>,
        /// The object, in Proxmox's words.
        what: String,
    },
    /// It clashes with what exists.
    #[error("{}{text}", prefix(.action))]
    Conflict {
        /// Prefix.
        action: Option<String>,
        /// Proxmox's words.
        text: String,
    },
    /// A write that changes nothing.
    #[error("nothing to change")]
    NothingToDo,
    /// A known defect of the server: the state asked for stays unknown.
    #[error("unknown: Proxmox cannot answer this for zones with a node list ({text})")]
    ServerDefect {
        /// Its words.
        text: String,
    },
    /// A success that is not JSON, e.g. a page of a proxy in between.
    #[error("HTTP {status}, but the answer is not from the Proxmox API: {snippet}")]
    NotTheApi {
        /// Status.
        status: u16,
        /// Media type and the first words of the body, cleaned.
        snippet: String,
    },
    /// A field of an answer that cannot be understood.
    #[error("{endpoint}: the answer cannot be understood at {fault}")]
    Unreadable {
        /// Method and path template.
        endpoint: &'static str,
        /// Where and why.
        fault: Unreadable,
    },
    /// A refusal without a kind of its own.
    #[error("HTTP {status}: {}{text}", prefix(.action))]
    Other {
        /// Status.
        status: u16,
        /// Prefix.
        action: Option<String>,
        /// Proxmox's words.
        text: String,
    },
}

fn prefix(action: &Option<String>) -> String {
    action.as_ref().map(|a| format!("{a}: ")).unwrap_or_default()
}

fn listed(errors: &BTreeMap<String, String>) -> String {
    if errors.is_empty() {
        return "the answer does not say which".to_owned();
    }
    errors.iter().map(|(key, why)| format!("{key}: {why}")).collect::<Vec<_>>().join("; ")
}

fn agent_text(state: &AgentState) -> &'static str {
    match state {
        AgentState::Answers => "the guest agent answers",
        AgentState::NotConfigured => "the VM has no guest agent configured",
        AgentState::NotRunning => "the guest agent is not running",
        AgentState::VmStopped => "the VM is not running",
    }
}

impl Error {
    /// What to do about it, one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Http(error) => error.help(),
            Self::Denied { need: Some(need), .. } => {
                let privileges = need.privileges.join(" or ");
                format!(
                    "Give the token a role with {privileges} at {} (a privilege-separated token needs its own ACL).",
                    need.path
                )
            }
            other => other.fixed_help().to_owned(),
        }
    }

    /// Whether the request can have changed something.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Http(error) => error.outcome(),
            Self::BadToken(_) | Self::BadId { .. } | Self::BadValue { .. } => Outcome::NotSent,
            // 595: the node that would have done it could not be connected to. From 596 on it may be at work.
            Self::NodeUnreachable { status, .. } if *status == 595 => Outcome::Answered,
            Self::NodeUnreachable { .. } | Self::Unreadable { .. } => Outcome::Unknown,
            Self::Other { status, .. } => Outcome::of_status(*status),
            Self::NotTheApi { status, .. } => Outcome::of_foreign(*status),
            _ => Outcome::Answered,
        }
    }

    /// Whether what was to be created exists already. Whether it is what was wanted, its values say.
    #[must_use]
    pub fn already_exists(&self) -> bool {
        matches!(self, Self::Exists { .. })
    }

    /// Whether what was to be changed, read or removed does not exist.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent { .. })
    }

    /// Whether what was to be removed is still used: a VNet by its subnets, a zone by its VNets, a controller by a zone.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        match self {
            Self::InUse { .. } => true,
            Self::BadParameters { errors, .. } => {
                errors.get("vnet").is_some_and(|why| why == "Can't delete vnet if subnets exists")
            }
            _ => false,
        }
    }

    /// The same error for a request that carried a token of the SDN lock.
    pub(super) fn with_token_given(self) -> Self {
        match self {
            Self::SdnLocked { action, fault: LockFault::NoToken } => {
                Self::SdnLocked { action, fault: LockFault::StaleToken }
            }
            other => other,
        }
    }

    fn fixed_help(&self) -> &'static str {
        match self {
            Self::Http(_) | Self::Other { .. } => "Look at the task list and the log of the node.",
            Self::BadToken(_) => "Store the whole token, as in the Authorization header after PVEAPIToken=.",
            Self::BadId { .. } => "Correct the name.",
            Self::BadValue { .. } => "Correct the value.",
            Self::Exists { .. } => "Compare what exists with what is wanted, and adopt it or choose another name.",
            Self::ShutdownTimedOut => "Look at the guest's console; stop the VM if it does not answer.",
            Self::DiskShrink => "Ask for at least the disk's present size.",
            Self::Unauthenticated { .. } => {
                "Check user, realm, token name and secret, and whether the token expired (Datacenter → Permissions → API Tokens)."
            }
            Self::Denied { .. } => "Give the token the missing privilege (Datacenter → Permissions).",
            Self::BadParameters { .. } => "Correct the parameter named.",
            Self::Absent { .. } | Self::ReferenceAbsent { .. } => "Read again: it may just have been deleted.",
            Self::NodeUnreachable { .. } => "Check the node named; what runs there stays unknown until it answers.",
            Self::NodeUnknown { .. } => "Correct the node in the site file; the cluster's nodes are in `pvecm nodes`.",
            Self::NotImplemented { .. } => "Update the node; without it this view stays unknown.",
            Self::MalformedRequest { .. } => {
                "Something between here and the node changes requests, or versions differ."
            }
            Self::NoQuorum { .. } => "Bring the missing cluster nodes back; reading goes on meanwhile.",
            Self::Busy { .. } => "Try again in a few seconds.",
            Self::SdnLocked { fault: LockFault::StaleToken, .. } => {
                "Find out who took it; what is pending now may be theirs, so read again before anything is applied."
            }
            Self::SdnLocked { .. } => {
                "Wait for the holder; a lock left by a crash is freed with DELETE /cluster/sdn/lock?force=1."
            }
            Self::SdnPending { .. } => "Apply or roll back the pending changes first.",
            Self::Modified { .. } => "Read again, look at the difference, decide again.",
            Self::VmLocked { .. } => "Wait for the operation that holds the lock, see the VM's tasks.",
            Self::VmState { .. } => "Start or stop the VM first.",
            Self::Agent(AgentState::NotConfigured) => "Set agent=1 in the VM's options and restart it.",
            Self::Agent(AgentState::VmStopped) => "Start the VM.",
            Self::Agent(_) => "Start qemu-guest-agent inside the guest.",
            Self::AgentRefused { .. } => "Update qemu-guest-agent inside the guest or allow the command there.",
            Self::AgentProcessGone { .. } => "Run the command again: its output is given once.",
            Self::InUse { .. } => "Remove its user first.",
            Self::Conflict { .. } => "Choose another value, or adopt what exists.",
            Self::NothingToDo => "Nothing is left to do.",
            Self::ServerDefect { .. } => "Ask the node itself (vtysh); newer SDN packages may answer.",
            Self::NotTheApi { .. } => "Check the URL in the site file; a proxy may stand in between.",
            Self::Unreadable { .. } => "This version of Proxmox answers in a form not known here; report the field.",
        }
    }
}
