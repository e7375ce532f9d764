//! What holds of one workload's delivery, and which of it is shown (domain.md §7.6).
//!
//! Several states may hold at once: a token may be refused to a second holder while the first one failed. Each is looked
//! for on its own; the first in the order of [`CheckInState`] is shown.

use jiff::{SignedDuration, Timestamp};

use crate::backends::bootstrap::{Record, Refusal, Report, TokenState};
use crate::inventory::{CheckInState, Workload};

/// What is known of a machine, wherever it was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vm<'a> {
    /// Its number.
    pub(crate) vmid: u32,
    /// Its SMBIOS UUID; `None` = not read, or it has none.
    pub(crate) uuid: Option<&'a str>,
    /// `running`, `stopped`.
    pub(crate) status: &'a str,
    /// When its process started.
    pub(crate) started_at: Option<Timestamp>,
}

impl<'a> From<&'a Workload> for Vm<'a> {
    fn from(w: &'a Workload) -> Self {
        let uuid = w.uuid.as_ref().ok().and_then(|uuid| uuid.as_deref());
        Self { vmid: w.vmid, uuid, status: &w.status, started_at: w.started_at }
    }
}

/// How long a running machine may keep silent before somebody should look.
pub(crate) const PATIENCE: SignedDuration = SignedDuration::from_mins(10);
/// Time between two reports where the source does not say (domain.md §7.5: hourly).
const INTERVAL: SignedDuration = SignedDuration::from_hours(1);
/// Reports that may be missed before a workload counts as silent.
const MISSED: i32 = 3;
/// Uptimes are known to the minute.
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// States in the order of precedence.
pub(crate) const ORDER: [CheckInState; 9] = [
    CheckInState::ReplayRefused,
    CheckInState::Foreign,
    CheckInState::Failed,
    CheckInState::Expired,
    CheckInState::Behind,
    CheckInState::Delivered,
    CheckInState::Awaiting,
    CheckInState::Applied,
    CheckInState::None,
];

/// The machine of a workload as Proxmox has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine<'a> {
    /// Its row; `None` = there is none, or none is known.
    pub(crate) vm: Option<Vm<'a>>,
    /// Whether the list of machines is of now, so that what it says of one holds.
    pub(crate) fresh: bool,
    /// Whether it is whole as well, so that what is not in it is not there.
    pub(crate) whole: bool,
    /// When Proxmox was read, by our clock.
    pub(crate) read_at: Option<Timestamp>,
}

impl<'a> Machine<'a> {
    /// Its SMBIOS UUID; `None` = not read, or there is no machine or no UUID.
    pub(crate) fn uuid(&self) -> Option<&'a str> {
        self.vm.filter(|_| self.fresh)?.uuid
    }

    /// How long it has been running; `None` = it does not run, or that is not known.
    fn up(&self) -> Option<SignedDuration> {
        let vm = self.vm.filter(|vm| self.fresh && vm.status == "running")?;
        Some(self.read_at?.duration_since(vm.started_at?))
    }
}

/// What holds of one record at a moment of its source's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    /// The record.
    pub(crate) record: &'a Record,
    /// The machine.
    pub(crate) machine: Machine<'a>,
    /// The moment.
    pub(crate) at: Timestamp,
}

/// What is to be said beside a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    /// The machine runs and nothing was heard for ten minutes.
    Late,
    /// Nothing was heard for ten minutes after the exchange.
    Stuck,
    /// Three reports were missed.
    Silent,
    /// The token was written while the machine ran: it sees it after a cold start.
    ColdStart,
    /// The machine does not run.
    Stopped,
    /// Declared, and no token was issued.
    NoToken,
    /// The token was taken back.
    Revoked,
    /// The token is bound to another machine.
    OtherInstance,
    /// There is no machine of that name.
    NoMachine,
    /// What runs is newer than, or other than, what is declared.
    Differs,
    /// What runs was not told, so that nobody knows whether it is what is declared.
    Untold,
}

/// Whether two UUIDs are one; letters may be of either case.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Refusals that say that a second holder was there, as opposed to one that came too late.
fn is_replay(refusal: &Refusal) -> bool {
    !matches!(refusal.reason.as_str(), "expired" | "revoked" | "unknown") && !is_identity(refusal)
}

/// Refusals that say that another machine was there.
fn is_identity(refusal: &Refusal) -> bool {
    matches!(refusal.reason.as_str(), "identity" | "identity-mismatch" | "uuid-mismatch")
}

/// Phases after which a configuration runs.
fn is_applied(report: &Report) -> bool {
    report.ok && matches!(report.phase.as_str(), "start" | "health")
}

impl<'a> Case<'a> {
    /// Whether `state` holds.
    pub(crate) fn holds(&self, state: CheckInState) -> bool {
        match state {
            CheckInState::ReplayRefused => self.replay().is_some(),
            CheckInState::Foreign => self.foreign().is_some(),
            CheckInState::Failed => self.failed().is_some(),
            CheckInState::Expired => self.expired(),
            CheckInState::Behind => self.behind(),
            CheckInState::Delivered => self.delivered(),
            CheckInState::Awaiting => self.awaiting(),
            CheckInState::Applied => self.runs() && self.told() && !self.behind(),
            CheckInState::None => true,
        }
    }

    /// The state that is shown.
    pub(crate) fn state(&self) -> CheckInState {
        ORDER.into_iter().find(|state| self.holds(*state)).unwrap_or(CheckInState::None)
    }

    /// The first refusal of a second holder since the last exchange that nobody acknowledged.
    pub(crate) fn replay(&self) -> Option<&'a Refusal> {
        self.standing().find(|r| is_replay(r))
    }

    fn standing(&self) -> impl Iterator<Item = &'a Refusal> {
        let record = self.record;
        let redeemed = record.token.as_ref().and_then(|t| t.redeemed_at);
        let open = move |r: &&Refusal| record.acknowledged_at.is_none_or(|seen| r.at > seen);
        record.refusals.iter().filter(open).filter(move |r| redeemed.is_none_or(|at| r.at >= at))
    }

    /// When another machine last spoke for this workload. Not judged where the machine's UUID is not known.
    pub(crate) fn foreign(&self) -> Option<Timestamp> {
        let since = self.record.token.as_ref().map(|t| t.issued_at);
        let recent = |at: Timestamp| since.is_none_or(|s| at >= s);
        let refused = self.standing().filter(|r| is_identity(r)).map(|r| r.at).max();
        let spoke = match (self.machine.uuid(), self.machine.vm) {
            (Some(uuid), _) => {
                self.last_report(|r| recent(r.at) && r.smbios_uuid.as_deref().is_some_and(|u| !same(u, uuid)))
            }
            // Nobody is there, and somebody reports: an old disk, or a machine that was deleted and still runs.
            (None, None) if self.machine.whole => self.last_report(|r| self.at.duration_since(r.at) < self.silence()),
            _ => None,
        };
        refused.max(spoke.map(|r| r.at))
    }

    fn last_report(&self, wanted: impl Fn(&Report) -> bool) -> Option<&'a Report> {
        self.record.reports.iter().rev().find(|r| wanted(r))
    }

    /// Whether a report is this machine's; where its UUID is not known, the one the token is bound to.
    fn is_own(&self, report: &Report) -> bool {
        let bound = self.record.token.as_ref().and_then(|t| t.smbios_uuid.as_deref());
        match (report.smbios_uuid.as_deref(), self.machine.uuid().or(bound)) {
            (Some(theirs), Some(ours)) => same(theirs, ours),
            _ => true,
        }
    }

    /// The last report of this machine.
    pub(crate) fn last_own(&self) -> Option<&'a Report> {
        self.last_report(|r| self.is_own(r))
    }

    /// The last report of this machine, where it is an error.
    pub(crate) fn failed(&self) -> Option<&'a Report> {
        self.last_own().filter(|r| !r.ok)
    }

    /// The last report after which a configuration ran, since the last exchange.
    pub(crate) fn applied(&self) -> Option<&'a Report> {
        let since = self.record.token.as_ref().and_then(|t| t.redeemed_at);
        self.last_report(|r| self.is_own(r) && is_applied(r) && since.is_none_or(|at| r.at >= at))
    }

    /// Whether this machine was heard since its token was issued.
    fn heard(&self) -> bool {
        let since = self.record.token.as_ref().map(|t| t.issued_at);
        self.last_own().is_some_and(|r| since.is_none_or(|at| r.at >= at))
    }

    fn redeemed(&self) -> bool {
        self.record.token.as_ref().is_some_and(|t| t.redeemed_at.is_some() || t.state == TokenState::Redeemed)
    }

    /// Whether the token ran out, or was taken back, before anything came of it.
    fn expired(&self) -> bool {
        let Some(token) = &self.record.token else { return false };
        match token.state {
            TokenState::Revoked => self.applied().is_none(),
            _ if self.redeemed() || self.heard() => false,
            TokenState::Expired => true,
            _ => token.expires_at.is_some_and(|at| at <= self.at),
        }
    }

    /// Whether what runs is not what is declared.
    fn behind(&self) -> bool {
        let (Some(declared), Some(applied)) = (&self.record.declared, self.applied()) else { return false };
        let other = |digest: &str| !declared.digest.is_empty() && digest != declared.digest;
        applied.generation.is_some_and(|g| g != declared.generation) || applied.digest.as_deref().is_some_and(other)
    }

    /// Whether a configuration is declared and one runs.
    fn runs(&self) -> bool {
        self.applied().is_some() && self.record.declared.is_some()
    }

    /// Whether the report names a generation or a digest by which it compares with what is declared.
    fn told(&self) -> bool {
        let comparable = self.record.declared.as_ref().is_some_and(|d| !d.digest.is_empty());
        self.applied().is_some_and(|r| r.generation.is_some() || comparable && r.digest.is_some())
    }

    /// Whether the exchange took place and nothing came of it yet.
    fn delivered(&self) -> bool {
        let Some(token) = &self.record.token else { return false };
        token.state != TokenState::Revoked && (self.redeemed() || self.heard()) && self.applied().is_none()
    }

    /// Whether a configuration is declared or a token issued, and nothing was heard.
    fn awaiting(&self) -> bool {
        match &self.record.token {
            Some(token) => token.state == TokenState::Issued && !self.redeemed() && !self.heard() && !self.expired(),
            None => self.record.declared.is_some() && self.applied().is_none() && self.last_own().is_none(),
        }
    }

    /// After how long without a report a workload counts as silent.
    fn silence(&self) -> SignedDuration {
        self.record.interval.unwrap_or(INTERVAL) * MISSED
    }

    /// What is to be said beside `state`, the most pressing first.
    pub(crate) fn flag(&self, state: CheckInState) -> Option<Flag> {
        let token = self.record.token.as_ref();
        if self.machine.vm.is_none() && self.machine.whole && state != CheckInState::None {
            return Some(Flag::NoMachine);
        }
        let bound = token.and_then(|t| t.smbios_uuid.as_deref());
        let other = bound.zip(self.machine.uuid()).is_some_and(|(bound, uuid)| !same(bound, uuid));
        match state {
            CheckInState::Awaiting if token.is_none() => Some(Flag::NoToken),
            CheckInState::Awaiting if other => Some(Flag::OtherInstance),
            CheckInState::Awaiting => self.waiting(),
            CheckInState::Delivered => self.stuck().then_some(Flag::Stuck),
            CheckInState::Applied => self.silent().then_some(Flag::Silent),
            CheckInState::None => (self.runs() && !self.told()).then_some(Flag::Untold),
            CheckInState::Expired if token.is_some_and(|t| t.state == TokenState::Revoked) => Some(Flag::Revoked),
            CheckInState::Behind => {
                let (declared, applied) = (self.record.declared.as_ref(), self.applied());
                let older = declared.zip(applied.and_then(|r| r.generation)).is_some_and(|(d, g)| g < d.generation);
                (!older).then_some(Flag::Differs)
            }
            _ => None,
        }
    }

    fn waiting(&self) -> Option<Flag> {
        let issued = self.at.duration_since(self.record.token.as_ref()?.issued_at);
        let stopped = self.machine.vm.is_some_and(|vm| self.machine.fresh && vm.status == "stopped");
        match self.machine.up() {
            Some(up) if up > issued + MINUTE => Some(Flag::ColdStart),
            Some(up) if up >= PATIENCE && issued >= PATIENCE => Some(Flag::Late),
            None if stopped => Some(Flag::Stopped),
            _ => None,
        }
    }

    /// The last sign of life: the exchange, or a report after it.
    fn stuck(&self) -> bool {
        let token = self.record.token.as_ref();
        let exchanged = token.and_then(|t| t.redeemed_at);
        let last = exchanged.max(self.last_own().map(|r| r.at)).or(token.map(|t| t.issued_at));
        last.is_some_and(|at| self.at.duration_since(at) >= PATIENCE)
    }

    fn silent(&self) -> bool {
        self.last_own().is_some_and(|r| self.at.duration_since(r.at) >= self.silence())
    }
}
