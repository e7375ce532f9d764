//! How a task ends, and how long to wait for it. Nothing here looks at a clock: whoever waits says how.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use super::client::Client;
use super::error::Error;
use super::message::error_from_task;
use super::model::TaskState;
use super::tasks::TaskLog;
use super::upid::Upid;

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStep {
    /// It runs.
    Running,
    /// It ended.
    Ended(TaskEnd),
    /// It is gone without a last word: killed, or its node was restarted. How far it came is unknown.
    Vanished {
        /// Proxmox's words.
        why: String,
    },
}

/// The end of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEnd {
    /// `OK`: the task did what it does. For an SDN apply that says nothing about the nodes.
    Ok,
    /// `WARNINGS: n`: done, and its log says what else.
    Warnings(u32),
    /// It failed.
    Failed {
        /// Its last words.
        text: String,
        /// What they mean, where they are those of a known refusal.
        kind: Option<Error>,
    },
}

impl From<TaskState> for TaskStep {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Running => Self::Running,
            TaskState::Ok => Self::Ended(TaskEnd::Ok),
            TaskState::Warnings(n) => Self::Ended(TaskEnd::Warnings(n)),
            TaskState::Failed(why) if why == "unexpected status" || why.starts_with("unable to get last line") => {
                Self::Vanished { why }
            }
            TaskState::Failed(text) => Self::Ended(TaskEnd::Failed { kind: error_from_task(&text), text }),
        }
    }
}

/// Pauses between two looks at a task: each twice the one before, and all of them bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The first pause.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// All pauses together, at most.
    pub total: Duration,
}

impl Pace {
    /// The pauses, one by one.
    pub fn pauses(self) -> impl Iterator<Item = Duration> {
        let mut next = self.first;
        let mut left = self.total;
        std::iter::from_fn(move || {
            let pause = next.min(self.longest).min(left);
            left = left.saturating_sub(pause);
            next = next.saturating_mul(2);
            (!pause.is_zero()).then_some(pause)
        })
    }
}

impl Client {
    /// One look at a task, asked of the node that its id names.
    ///
    /// # Errors
    /// [`Error::NodeUnreachable`] while that node is away: how the task ends is unknown then; any other [`Error`].
    pub async fn task_step(&self, upid: &Upid) -> Result<TaskStep, Error> {
        match self.task_state(upid).await {
            Ok(state) => Ok(state.into()),
            Err(Error::Absent { .. }) => Ok(TaskStep::Vanished { why: "no such task".to_owned() }),
            Err(other) => Err(other),
        }
    }

    /// Looks at a task until it ends, or until `pace` is used up: what was seen last is returned. `pause` waits; it ends
    /// early by being dropped with this future. A node that does not answer is asked again.
    ///
    /// # Errors
    /// The last look's [`Error`]; one that no later look can mend ends the waiting.
    pub async fn task_wait<F>(
        &self,
        upid: &Upid,
        pace: Pace,
        mut pause: impl FnMut(Duration) -> F,
    ) -> Result<TaskStep, Error>
    where
        F: Future<Output = ()>,
    {
        let mut pauses = pace.pauses();
        loop {
            let seen = self.task_step(upid).await;
            let goes_on = match &seen {
                Ok(step) => *step == TaskStep::Running,
                Err(Error::Http(error)) => error.is_transient(),
                Err(error) => matches!(error, Error::NodeUnreachable { .. } | Error::Busy { .. }),
            };
            match pauses.next() {
                Some(length) if goes_on => pause(length).await,
                _ => return seen,
            }
        }
    }
}

/// What the log of an SDN apply tells of each node. Its task ends `OK` whatever happened there (facts/proxmox.md §7).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reloads {
    /// Node → what failed; `None` where the log tells of nothing, which is no proof.
    pub by_node: BTreeMap<String, Option<String>>,
}

impl Reloads {
    /// Reads the log of a task `reloadnetworkall`.
    #[must_use]
    pub fn read(log: &TaskLog) -> Self {
        let mut by_node: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut node = None;
        for line in &log.lines {
            if let Some(name) = line.text.strip_suffix(": reloading network config") {
                by_node.entry(name.to_owned()).or_default();
                node = Some(name.to_owned());
            } else if line.text.contains(" failed") && !line.text.starts_with("TASK ") {
                // The command names its node, or else the line stands below it.
                let named = line.text.split("/nodes/").nth(1).and_then(|rest| rest.split(['/', ' ']).next());
                if let Some(at) = named.map(str::to_owned).or_else(|| node.clone()) {
                    by_node.entry(at).or_default().get_or_insert_with(|| line.text.clone());
                }
            }
        }
        Self { by_node }
    }

    /// Nodes of which the log tells that they failed.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_node.iter().filter_map(|(node, why)| Some((node.as_str(), why.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tasks::LogLine;
    use super::*;

    fn log(lines: &[&str]) -> TaskLog {
        let line = |(i, text): (usize, &&str)| LogLine { number: i as u64 + 1, text: (*text).to_owned() };
        TaskLog { lines: lines.iter().enumerate().map(line).collect(), total: None }
    }

    #[test]
    fn last_words_are_judged() {
        let kind = |text: &str| match TaskStep::from(TaskState::Failed(text.to_owned())) {
            TaskStep::Ended(TaskEnd::Failed { kind, .. }) => kind,
            other => panic!("{other:?}"),
        };
        assert!(matches!(kind("VM is locked (clone)"), Some(Error::VmLocked { .. })));
        assert!(matches!(kind("VM 2040 already running"), Some(Error::VmState { .. })));
        assert!(kind("Configuration file 'nodes/pve1/qemu-server/4711.conf' does not exist").unwrap().is_absent());
        assert!(kind("unable to create VM 100: config file already exists").unwrap().already_exists());
        assert_eq!(kind("shrinking disks is not supported"), Some(Error::DiskShrink));
        assert_eq!(kind("VM quit/powerdown failed - got timeout"), Some(Error::ShutdownTimedOut));
        assert_eq!(kind("start failed: QEMU exited with code 1"), None);
        for gone in ["unexpected status", "unable to get last line from task log - No such file"] {
            assert!(matches!(TaskState::Failed(gone.to_owned()).into(), TaskStep::Vanished { .. }), "{gone}");
        }
        assert_eq!(TaskStep::from(TaskState::Warnings(2)), TaskStep::Ended(TaskEnd::Warnings(2)));
    }

    #[test]
    fn pauses_grow_and_end() {
        let pace =
            Pace { first: Duration::from_millis(500), longest: Duration::from_secs(2), total: Duration::from_secs(6) };
        let pauses: Vec<u128> = pace.pauses().map(|p| p.as_millis()).collect();
        assert_eq!(pauses, [500, 1000, 2000, 2000, 500]);
        let none = Pace { total: Duration::ZERO, ..pace };
        assert_eq!(none.pauses().count(), 0);
    }

    #[test]
    fn the_node_that_failed_is_named() {
        let recorded = log(&[
            "pve2: reloading network config",
            "command 'ifreload -a' failed: exit code 1",
            "pve1: reloading network config",
            "TASK OK",
        ]);
        let reloads = Reloads::read(&recorded);
        assert_eq!(reloads.failed().collect::<Vec<_>>(), [("pve2", "command 'ifreload -a' failed: exit code 1")]);
        assert_eq!(reloads.by_node.len(), 2);
        let called = log(&[
            "hyp1: reloading network config",
            "hyp2: reloading network config",
            "command 'pvesh set /nodes/hyp1/network --regenerate-frr 1' failed: exit code 255",
        ]);
        assert_eq!(Reloads::read(&called).failed().map(|(node, _)| node).collect::<Vec<_>>(), ["hyp1"]);
    }
}
