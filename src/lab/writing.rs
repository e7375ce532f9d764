//! What goes wrong when something is changed through the Proxmox API: plain data that faults set.

/// How the reload of a node goes after an apply (facts/proxmox.md §7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reload {
    /// It works.
    #[default]
    Right,
    /// Devices come, and FRR is not reloaded for want of its tools: a warning.
    NoTools,
    /// `ifreload` fails: VNets that are new are not there.
    Refused,
    /// The node is never told: no task there, and it keeps what it had.
    Untold,
}

/// What the command does that puts `frr.conf.local` in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Putting {
    /// It puts the file there.
    #[default]
    Right,
    /// It fails and puts nothing there.
    Fails,
    /// It says yes and puts nothing there.
    Idle,
}

/// What goes wrong when something is changed through the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Writing {
    /// Another process holds `cfs-lock 'domain-sdn'`.
    pub sdn_busy: bool,
    /// No storage has room.
    pub storage_full: bool,
    /// Copying a disk ends with an error halfway.
    pub clone_fails: bool,
    /// What the command does that puts `frr.conf.local` in place.
    pub putting: Putting,
    /// What becomes of the answer to a change that took effect.
    pub answer: WrittenAnswer,
}

/// What becomes of the answer to a change that took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WrittenAnswer {
    /// It arrives.
    #[default]
    Given,
    /// The connection is closed without it.
    Lost,
    /// It comes this many milliseconds late.
    Late(u64),
    /// Another status comes in its place, with this reason and an empty body.
    Instead(u16, &'static str),
}
