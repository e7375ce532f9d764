//! What became of an apply on each node: its own reload task, and what its log says (facts/proxmox.md §7).

use std::time::Duration;

use crate::backends::proxmox::{Client, Reloads, TaskEnd, TaskFilter, TaskSource, TaskStep, Upid};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Most lines of one log that are told.
const LINES: usize = 20;

/// Follows the reload of each of these nodes to its end, and tells what it and the apply's own log say.
///
/// # Errors
/// When one failed, or does not end. A node that was never told is seen by its zones, which still wait then.
pub(super) async fn watch(context: &Context, client: &Client, apply: &Upid, nodes: &[String]) -> Result<(), Trouble> {
    match client.task_log(apply, 0, 0).await {
        Ok(log) => {
            for (node, why) in Reloads::read(&log).failed() {
                context.tell(format!("{node}: {why}"));
            }
        }
        Err(why) => context.tell(format!("the log of the apply was not read: {why}")),
    }
    let mut worst = Ok(());
    for node in nodes {
        let filter = TaskFilter {
            kind: Some("srvreload".to_owned()),
            since: Some(apply.started),
            source: Some(TaskSource::All),
            ..TaskFilter::default()
        };
        let tasks = match client.node_tasks(node, &filter).await {
            Ok(tasks) => tasks,
            Err(why) => {
                context.tell(format!("the reload of {node} was not followed: {why}"));
                continue;
            }
        };
        let first = tasks.iter().filter_map(|task| task.upid.parse::<Upid>().ok()).min_by_key(|upid| upid.started);
        match first {
            None => context.tell(format!("{node} has not begun to reload")),
            Some(upid) => worst = worst.and(one(context, client, node, &upid).await),
        }
    }
    worst
}

async fn one(context: &Context, client: &Client, node: &str, upid: &Upid) -> Result<(), Trouble> {
    let patience = context.world.patience;
    let mut waited = Duration::ZERO;
    let end = loop {
        match client.task_step(upid).await.map_err(|e| Trouble::from(&e))? {
            TaskStep::Running if waited < patience.task => {}
            TaskStep::Running => {
                let text = format!("{node} reloads its network for more than {} s", patience.task.as_secs());
                return Err(Trouble::new(TroubleKind::Unsettled, text));
            }
            TaskStep::Ended(end) => break end,
            TaskStep::Vanished { why } => {
                context.tell(format!("the reload of {node} is gone without a last word: {why}"));
                return Ok(());
            }
        }
        context.wait().await?;
        waited += patience.between;
    };
    let (told, failed) = match end {
        TaskEnd::Ok => {
            context.tell(format!("{node} has reloaded its network"));
            return Ok(());
        }
        TaskEnd::Warnings(count) => (format!("{node} has reloaded its network with {count} warnings"), None),
        TaskEnd::Failed { text, .. } => {
            let said = format!("{node} did not reload its network: {text}");
            (said.clone(), Some(said))
        }
    };
    context.tell(told);
    match client.task_log(upid, 0, 0).await {
        Ok(log) => {
            let lines = log.lines.iter().filter(|line| !line.text.trim().is_empty());
            lines.take(LINES).for_each(|line| context.tell(format!("{node}: {}", line.text)));
        }
        Err(why) => context.tell(format!("the log of the reload of {node} was not read: {why}")),
    }
    failed.map_or(Ok(()), |text| {
        let help = format!("read the log of its task {upid} on the node, mend what it names, then resume");
        Err(Trouble::new(TroubleKind::Refused, text).with_help(help))
    })
}
