//! Tasks: lists, state, log.

use jiff::Timestamp;
use serde_json::Value;

use super::call::Call;
use super::client::Client;
use super::endpoints;
use super::error::Error;
use super::model::{Task, TaskState};
use super::upid::Upid;
use super::wire::{Row, Unreadable};

/// Which tasks of a node to list. The default is Proxmox's: the 50 latest finished ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Type, e.g. `srvreload`.
    pub kind: Option<String>,
    /// VM.
    pub vmid: Option<u32>,
    /// Started at or after.
    pub since: Option<Timestamp>,
    /// Started at or before.
    pub until: Option<Timestamp>,
    /// Failed ones only.
    pub errors: bool,
    /// Finished, running, or both.
    pub source: Option<TaskSource>,
    /// `ok`, `error`, `warning`, `unknown`; comma list.
    pub status: Option<String>,
    /// At most this many; 0 = no limit.
    pub limit: Option<u32>,
    /// Skip this many.
    pub start: Option<u32>,
}

/// Where tasks are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskSource {
    /// Finished ones.
    Archive,
    /// Running ones.
    Active,
    /// Both.
    All,
}

impl TaskSource {
    fn word(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Active => "active",
            Self::All => "all",
        }
    }
}

/// A line of a task log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Line number, from 1.
    pub number: u64,
    /// Text, cleaned.
    pub text: String,
}

/// Part of a task log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskLog {
    /// Lines.
    pub lines: Vec<LogLine>,
    /// Lines in the whole log, where Proxmox says so.
    pub total: Option<u64>,
}

impl Client {
    /// `GET /cluster/tasks`: running ones and at most 25 finished ones per node, in no useful order.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn cluster_tasks(&self) -> Result<Vec<Task>, Error> {
        self.call(Call::new(&endpoints::CLUSTER_TASKS)).await?.rows(task)
    }

    /// `GET /nodes/{node}/tasks`.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn node_tasks(&self, node: &str, filter: &TaskFilter) -> Result<Vec<Task>, Error> {
        let call = Call::new(&endpoints::NODE_TASKS)
            .id("node", node)
            .set_some("typefilter", filter.kind.as_deref())
            .set_some("vmid", filter.vmid)
            .set_some("since", filter.since.map(Timestamp::as_second))
            .set_some("until", filter.until.map(Timestamp::as_second))
            .set_some("errors", filter.errors.then_some(1))
            .set_some("source", filter.source.map(TaskSource::word))
            .set_some("statusfilter", filter.status.as_deref())
            .set_some("limit", filter.limit)
            .set_some("start", filter.start);
        self.call(call).await?.rows(task)
    }

    /// `GET /nodes/{node}/tasks/{upid}/status`, asked of the node the id names.
    ///
    /// # Errors
    /// [`Error::Absent`] for a task nobody knows; any other [`Error`].
    pub async fn task_state(&self, upid: &Upid) -> Result<TaskState, Error> {
        let call = Call::new(&endpoints::TASK_STATUS).id("node", &upid.node).id("upid", upid.as_str());
        let answer = self.call(call).await.map_err(|error| no_such_task(error, upid))?;
        answer.decode(task_state)
    }

    /// `GET /nodes/{node}/tasks/{upid}/log`: `limit` lines from line `start` (0-based); 0 = all.
    ///
    /// # Errors
    /// [`Error::Absent`] for a task nobody knows; any other [`Error`].
    pub async fn task_log(&self, upid: &Upid, start: u64, limit: u64) -> Result<TaskLog, Error> {
        let mut call = Call::new(&endpoints::TASK_LOG).id("node", &upid.node).id("upid", upid.as_str());
        if start > 0 {
            call = call.set("start", start);
        }
        let answer = self.call(call.set("limit", limit)).await.map_err(|error| no_such_task(error, upid))?;
        let lines = answer.rows(|row| {
            let number = row.u64("n")?.ok_or_else(|| row.fault("n", "is missing"))?;
            Ok(LogLine { number, text: row.text("t")?.unwrap_or_default() })
        })?;
        let total = answer.beside().u64("total").map_err(|fault| answer.unreadable(fault))?;
        Ok(TaskLog { lines, total })
    }
}

/// An unknown task is a parameter error to Proxmox.
fn no_such_task(error: Error, upid: &Upid) -> Error {
    match error {
        Error::BadParameters { errors, .. } if errors.get("upid").is_some_and(|why| why == "no such task") => {
            Error::Absent { action: None, what: format!("task {upid}") }
        }
        other => other,
    }
}

fn task(row: &Row<'_>) -> Result<Task, Unreadable> {
    Ok(Task {
        upid: row.need_text("upid")?,
        node: row.need_text("node")?,
        kind: row.need_text("type")?,
        id: row.text("id")?.unwrap_or_default(),
        user: row.need_text("user")?,
        started: time(row, "starttime")?,
        ended: time(row, "endtime")?,
        status: row.text("status")?,
    })
}

fn time(row: &Row<'_>, key: &str) -> Result<Option<Timestamp>, Unreadable> {
    let Some(seconds) = row.u64(key)? else { return Ok(None) };
    let read = i64::try_from(seconds).ok().and_then(|s| Timestamp::from_second(s).ok());
    read.map(Some).ok_or_else(|| row.fault(key, "is not a time"))
}

fn task_state(data: &Value) -> Result<TaskState, Unreadable> {
    let row = Row::new(data, "data")?;
    match row.need_text("status")?.as_str() {
        "running" => Ok(TaskState::Running),
        "stopped" => Ok(match row.need_text("exitstatus")? {
            end if end == "OK" => TaskState::Ok,
            end => match end.strip_prefix("WARNINGS: ").and_then(|n| n.parse().ok()) {
                Some(n) => TaskState::Warnings(n),
                None => TaskState::Failed(end),
            },
        }),
        _ => Err(row.fault("status", "is neither running nor stopped")),
    }
}
