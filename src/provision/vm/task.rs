//! Tasks of a VM: begun once, found again, followed to their end.
//!
//! Before a task is begun its journal says what the newest one of its kind was, and afterwards its number. Whoever takes the
//! change up goes on waiting for the task that runs; one whose number never arrived is looked for in the node's list.

use std::time::Duration;

use super::machine::Machine;
use crate::backends::proxmox::model::Task;
use crate::backends::proxmox::{Client, Error, TaskEnd, TaskFilter, TaskSource, TaskStep, Upid};
use crate::provision::journal::{Entry, Line, Notes, Record};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Words in the end of a task that speak of room.
const FULL: &[&str] = &["free space", "no space left", "out of space", "not enough space", "quota"];
/// No task of that kind was in the list.
const NONE: &str = "-";
/// Tasks of a list that are looked through.
const NEWEST: u32 = 50;

/// Something that Proxmox does to a VM as a task.
pub(super) struct Errand<'a> {
    /// The VM.
    pub machine: &'a Machine,
    /// Type of the task, as Proxmox lists it.
    pub kind: &'static str,
    /// Number under which it is listed: the VM's own, or of a clone its template's.
    pub listed: u32,
    /// What it is, for people: `clone of …`.
    pub words: String,
}

impl<'a> Errand<'a> {
    /// A task that is listed under the VM's own number.
    pub fn on(machine: &'a Machine, kind: &'static str, what: &str) -> Self {
        Self { machine, kind, listed: machine.vmid, words: format!("{what} of {}", machine.words()) }
    }

    fn note(&self) -> String {
        format!("{}-{}", self.kind, self.machine.vmid)
    }

    fn asked(&self) -> String {
        format!("{}-asked", self.note())
    }

    /// The number of the task, where Proxmox itself gave it to this change.
    fn own(&self) -> String {
        format!("{}-own", self.note())
    }

    /// Whether this change asked for it and does not know yet what came of it, or knows the task that runs.
    pub fn is_open(&self, context: &Context) -> bool {
        context.notes.get(&self.note()).is_some() || context.notes.get(&self.asked()).is_some()
    }

    /// Whether a task of this change did it, certainly.
    pub fn is_own(&self, context: &Context) -> bool {
        self.is_noted(&context.notes)
    }

    /// The same by the notes of a change.
    pub fn is_noted(&self, notes: &Notes) -> bool {
        notes.get(&self.own()).is_some()
    }

    /// Whether a task of a change did it, or may have: one that it knew at any time, or asked for and knows nothing of.
    pub fn was_begun(&self, entry: &Entry) -> bool {
        let keys = [self.note(), self.own()];
        let known = |line: &Line| matches!(&line.record, Record::Note { key, value } if keys.contains(key) && !value.is_empty());
        entry.lines.iter().any(known) || entry.notes().get(&self.asked()).is_some()
    }

    /// Whether the task that was begun before runs; `None` where there is none.
    pub async fn runs(&self, context: &Context) -> Result<Option<bool>, Trouble> {
        let Some(upid) = self.begun(context).await? else { return Ok(None) };
        let step = context.world.proxmox()?.task_step(&upid).await.map_err(|e| Trouble::from(&e))?;
        Ok(Some(step == TaskStep::Running))
    }

    /// Waits for the task that was begun before, or begins it. What came of it is looked at by whoever called.
    pub async fn run(
        &self,
        context: &Context,
        begin: impl Future<Output = Result<Upid, Error>>,
    ) -> Result<(), Trouble> {
        let client = context.world.proxmox()?;
        if let Some(upid) = self.begun(context).await? {
            context.tell(format!("waits for the {} that was begun before", self.words));
            return self.follow(context, client, &upid).await;
        }
        let before = context.notes.get(&self.asked()).is_some();
        if !before {
            let newest = self.listed(client).await?.into_iter().next().map_or(NONE.to_owned(), |task| task.upid);
            context.notes.set(&self.asked(), &newest, context.now())?;
        }
        match begin.await {
            Ok(upid) => {
                context.notes.set(&self.note(), upid.as_str(), context.now())?;
                context.notes.set(&self.own(), upid.as_str(), context.now())?;
                context.notes.set(&self.asked(), "", context.now())?;
                context.tell(format!("{}: task {upid}", self.words));
                self.follow(context, client, &upid).await
            }
            Err(error) => {
                let trouble = self.refused(context, &error, before).await;
                if trouble.kind != TroubleKind::Unsettled && !before {
                    context.notes.set(&self.asked(), "", context.now())?;
                }
                Err(trouble)
            }
        }
    }

    async fn refused(&self, context: &Context, error: &Error, asked: bool) -> Trouble {
        match error {
            // The first request, whose answer was lost, may have made it.
            Error::Exists { .. } if asked => Trouble::new(TroubleKind::Unsettled, error.to_string()),
            Error::Exists { .. } => {
                let text = format!("VMID {} was taken by somebody else in between", self.machine.vmid);
                Trouble::new(TroubleKind::Refused, text).with_help("make the plan again: it takes the next free number")
            }
            Error::VmLocked { lock } => self.machine.locked(context, lock).await,
            error => {
                let trouble = Trouble::from(error);
                let help = trouble.help().unwrap_or_default().to_owned();
                Trouble::new(trouble.kind, format!("{}: {}", self.words, trouble.text)).with_help(help)
            }
        }
    }

    /// The task of this change that may still run, by its note or by the node's list.
    pub async fn begun(&self, context: &Context) -> Result<Option<Upid>, Trouble> {
        if let Some(upid) = context.notes.get(&self.note()).and_then(|upid| upid.parse().ok()) {
            return Ok(Some(upid));
        }
        let Some(newest) = context.notes.get(&self.asked()) else { return Ok(None) };
        let client = context.world.proxmox()?;
        let mark = newest.parse::<Upid>().ok().map(|upid| upid.started);
        let since = |task: &Task| task.upid != newest && mark.is_none_or(|mark| task.started >= Some(mark));
        let mut found: Vec<Upid> = Vec::new();
        for task in self.listed(client).await?.iter().filter(|task| since(task)) {
            let Ok(upid) = task.upid.parse::<Upid>() else { continue };
            found.push(upid);
        }
        let found = if self.listed == self.machine.vmid || found.len() < 2 {
            found.into_iter().next()
        } else {
            self.named(client, &found).await?
        };
        if let Some(upid) = &found {
            context.notes.set(&self.note(), upid.as_str(), context.now())?;
            context.notes.set(&self.asked(), "", context.now())?;
        }
        Ok(found)
    }

    /// Of several clones of one template the one whose log speaks of this VM's disks.
    async fn named(&self, client: &Client, all: &[Upid]) -> Result<Option<Upid>, Trouble> {
        let disk = format!("vm-{}-", self.machine.vmid);
        for upid in all {
            let log = client.task_log(upid, 0, 0).await.map_err(|e| Trouble::from(&e))?;
            if log.lines.iter().any(|line| line.text.contains(&disk)) {
                return Ok(Some(upid.clone()));
            }
        }
        let text = format!("{}: which of {} tasks is this change's cannot be told", self.words, all.len());
        Err(Trouble::new(TroubleKind::Busy, text).with_help("wait until they end, then resume"))
    }

    /// Tasks of its kind, newest first.
    async fn listed(&self, client: &Client) -> Result<Vec<Task>, Trouble> {
        let filter = TaskFilter {
            kind: Some(self.kind.to_owned()),
            vmid: Some(self.listed),
            source: Some(TaskSource::All),
            limit: Some(NEWEST),
            ..TaskFilter::default()
        };
        let mut tasks = client.node_tasks(&self.machine.node, &filter).await.map_err(|e| Trouble::from(&e))?;
        tasks.retain(|task| task.kind == self.kind && task.id == self.listed.to_string());
        tasks.sort_by_key(|task| std::cmp::Reverse(task.started));
        Ok(tasks)
    }

    /// Follows a task to its end; tells what its log says meanwhile.
    async fn follow(&self, context: &Context, client: &Client, upid: &Upid) -> Result<(), Trouble> {
        let patience = context.world.patience;
        let (mut log, mut waited, mut unread) = (Log::default(), Duration::ZERO, 0_u32);
        loop {
            let step = client.task_step(upid).await;
            log.tell(context, client, upid).await;
            match step {
                Ok(TaskStep::Running) if waited < patience.task => unread = 0,
                Ok(TaskStep::Running) => {
                    let text = format!("{} runs for more than {} s and goes on", self.words, patience.task.as_secs());
                    return Err(Trouble::new(TroubleKind::NotSeen, text).with_help("resume waits for it again"));
                }
                Ok(TaskStep::Ended(TaskEnd::Failed { text, kind })) => {
                    context.notes.set(&self.note(), "", context.now())?;
                    return Err(self.failed(context, &text, kind.as_ref(), &log.last).await);
                }
                Ok(TaskStep::Ended(_)) => return context.notes.set(&self.note(), "", context.now()),
                Ok(TaskStep::Vanished { why }) => {
                    context.notes.set(&self.note(), "", context.now())?;
                    let text = format!("{} ended without a last word: {why}", self.words);
                    return Err(Trouble::new(TroubleKind::Unsettled, text));
                }
                // The task goes on while its node cannot be asked.
                Err(error) => {
                    let trouble = Trouble::from(&error);
                    unread += 1;
                    if !trouble.kind.may_pass() || unread >= patience.looks.max(1) {
                        return Err(Trouble::new(trouble.kind, format!("{}: {}", self.words, trouble.text))
                            .with_help(format!("when {} answers again, resume: it waits for the task", upid.node)));
                    }
                    context.tell(&trouble.text);
                }
            }
            context.wait().await?;
            waited += patience.between;
        }
    }

    async fn failed(&self, context: &Context, text: &str, kind: Option<&Error>, last: &str) -> Trouble {
        if let Some(Error::VmLocked { lock }) = kind {
            return self.machine.locked(context, lock).await;
        }
        if let Some(error) = kind {
            let trouble = Trouble::from(error);
            let help = trouble.help().unwrap_or_default().to_owned();
            return Trouble::new(trouble.kind, format!("{} failed: {}", self.words, trouble.text)).with_help(help);
        }
        let more = if last.is_empty() || text.contains(last) { String::new() } else { format!(" ({last})") };
        let trouble = Trouble::new(TroubleKind::Refused, format!("{} failed: {text}{more}", self.words));
        let lower = text.to_lowercase();
        if FULL.iter().any(|words| lower.contains(words)) {
            return trouble.with_help("make room on the storage, or name another in the site file, [proxmox] storage");
        }
        trouble.with_help(format!("its whole log is in Proxmox, on {}", self.machine.node))
    }
}

/// What was told of a task's log.
#[derive(Default)]
struct Log {
    read: u64,
    last: String,
}

impl Log {
    /// Tells the lines that came since; of many the last. What cannot be read is not missed.
    async fn tell(&mut self, context: &Context, client: &Client, upid: &Upid) {
        let Ok(log) = client.task_log(upid, self.read, 0).await else { return };
        let fresh: Vec<_> = log.lines.iter().filter(|line| line.number > self.read).collect();
        let Some(newest) = fresh.last() else { return };
        self.read = newest.number;
        let words = |text: &str| !text.is_empty() && text != "no content" && !text.starts_with("TASK ");
        let told: Vec<&str> = fresh.iter().map(|line| line.text.trim()).filter(|text| words(text)).collect();
        for line in told.iter().skip(told.len().saturating_sub(3)) {
            context.tell(line);
        }
        if let Some(last) = told.last() {
            (*last).clone_into(&mut self.last);
        }
    }
}
