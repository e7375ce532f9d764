//! Every plan that can be asked for by name: the one table from a command to the plan that it makes.

mod asked;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::{delete, onboard, onboard::Onboarding};
use crate::provision::conduct::Course;
use crate::provision::journal::{Change, ChangeId, Closing, Entry, Journal, JournalError, Notes};
use crate::provision::object::Object;
use crate::provision::plan::Plan;
use crate::provision::sdn::{asked_for_lock, holds_lock, running};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::undo::{ASKED_FOR, way_back_now};
use crate::provision::world::World;
use crate::site::names::{NameError, TenantName};
use crate::site::numbering::TenantIndex;

/// What a plan is made from.
#[derive(Clone)]
pub struct Desk {
    /// The site as it can be looked at.
    pub world: Arc<World>,
    /// What was changed before.
    pub journal: Journal,
}

/// What a change that runs now staged, waited for before a plan is made of what is there.
#[derive(Debug, Default)]
pub struct Turn {
    waited: Duration,
    once_more: bool,
}

impl Turn {
    /// Waits a little; false where nobody of this journal is at work, or it was waited for long enough. Whoever was at work may
    /// have come to the end since it was looked: then it is worth one more look.
    pub async fn wait(&mut self, desk: &Desk) -> bool {
        let world = &desk.world;
        if self.waited >= world.patience.lock {
            return false;
        }
        if running(&desk.journal).is_none() {
            return !std::mem::replace(&mut self.once_more, true);
        }
        self.once_more = false;
        (world.sleep)(world.patience.between).await;
        self.waited += world.patience.between.max(Duration::from_millis(1));
        true
    }
}

/// A plan as it was made, before it is looked at.
pub struct Draft {
    /// The plan.
    pub plan: Plan,
    /// What is known of it from before: the notes of the change that it goes on with.
    pub notes: Notes,
    /// What it is to the journal.
    pub course: Course,
    /// What it leaves as it is, and why.
    pub left: Vec<(String, &'static str)>,
}

/// A plan that is being made.
pub type Making = BoxFuture<'static, Result<Draft, Trouble>>;

/// One line of the table.
pub struct Maker {
    /// Name of the command.
    pub name: &'static str,
    /// Its words: plain ones in order, `key=WHAT` anywhere; `[…]` may be left out, what ends with `…` may come again.
    pub form: &'static str,
    /// Makes the plan from the words behind the name; `key=value` where a word says what it is.
    pub make: fn(Desk, Vec<String>) -> Making,
}

impl Maker {
    /// Name and form, e.g. `tsig-end TENANT`.
    #[must_use]
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.form).trim_end().to_owned()
    }

    /// Looks whether the words are those of its form. What they say is judged when the plan is made.
    ///
    /// # Errors
    /// Which word is too much, or missing, and the form.
    pub fn accepts(&self, words: &[String]) -> Result<(), String> {
        let parts: Vec<Part> = self.form.split_whitespace().map(Part::of).collect();
        let mut left = parts.clone();
        for word in words {
            let key = word.split_once('=').map(|(key, _)| key);
            let Some(at) = left.iter().position(|part| part.key == key) else {
                return Err(format!("\"{word}\" is too much: {}", self.usage()));
            };
            if !left.get(at).is_some_and(|part| part.again) {
                left.remove(at);
            }
        }
        let given = |part: &Part| words.iter().any(|word| word.split_once('=').map(|(key, _)| key) == part.key);
        let missing = left.iter().find(|part| part.needed && !(part.again && given(part)));
        missing.map_or(Ok(()), |part| Err(format!("{} is missing: {}", part.text, self.usage())))
    }
}

/// A part of a form.
#[derive(Clone, Copy)]
struct Part {
    text: &'static str,
    /// `None` = a plain word.
    key: Option<&'static str>,
    needed: bool,
    again: bool,
}

impl Part {
    fn of(text: &'static str) -> Self {
        let needed = !text.starts_with('[');
        let text = if needed { text } else { text.trim_start_matches('[').trim_end_matches(']') };
        Self { text, key: text.split_once('=').map(|(key, _)| key), needed, again: text.ends_with('…') }
    }
}

/// All of them.
pub static MAKERS: &[Maker] = &[
    Maker {
        name: "onboard",
        form: "TENANT [index=N] [workload=NAME] [cores=N] [memory=MIB] [disk=GIB] [user=NAME] [template=NAME] [keys=KEYS]",
        make: |desk, words| Box::pin(async move { onboarding(&desk, &words, false).await }),
    },
    Maker {
        name: "reconcile",
        form: "TENANT [index=N] [workload=NAME] [cores=N] [memory=MIB] [disk=GIB] [user=NAME] [template=NAME] [keys=KEYS]",
        make: |desk, words| Box::pin(async move { onboarding(&desk, &words, true).await }),
    },
    Maker {
        name: "tenant-delete",
        form: "TENANT",
        make: |desk, words| Box::pin(async move { deletion(&desk, &words).await }),
    },
    Maker {
        name: "workload-create",
        form: "TENANT/NAME [cores=N] [memory=MIB] [disk=GIB] [user=NAME] [template=NAME] [keys=KEYS]",
        make: |desk, words| Box::pin(async move { asked::create(&desk, &words).await }),
    },
    Maker {
        name: "workload-replace",
        form: "TENANT/NAME [cores=N] [memory=MIB] [disk=GIB] [user=NAME] [template=NAME] [keys=KEYS]",
        make: |desk, words| Box::pin(async move { asked::replace(&desk, &words).await }),
    },
    Maker {
        name: "workload-resize",
        form: "TENANT/NAME [cores=N] [memory=MIB] [disk=GIB] [restart=SECONDS]",
        make: |desk, words| Box::pin(async move { asked::resize(&desk, &words).await }),
    },
    Maker {
        name: "workload-power",
        form: "TENANT/NAME to=start|shutdown|stop|reboot [timeout=SECONDS]",
        make: |desk, words| Box::pin(async move { asked::power(&desk, &words).await }),
    },
    Maker {
        name: "workload-delete",
        form: "TENANT/NAME",
        make: |desk, words| Box::pin(async move { asked::remove(&desk, &words).await }),
    },
    Maker {
        name: "record-set",
        form: "TENANT NAME value=VALUE… [type=TYPE] [ttl=SECONDS] [via=api|update] [key-file=FILE]",
        make: |desk, words| Box::pin(async move { asked::record_set(&desk, &words).await }),
    },
    Maker {
        name: "record-delete",
        form: "TENANT NAME [type=TYPE] [pointer=ADDRESS] [via=api|update] [key-file=FILE]",
        make: |desk, words| Box::pin(async move { asked::record_delete(&desk, &words).await }),
    },
    Maker {
        name: "tsig-begin",
        form: "TENANT",
        make: |desk, words| Box::pin(async move { asked::rotation(&desk, &words, true).await }),
    },
    Maker {
        name: "tsig-end",
        form: "TENANT",
        make: |desk, words| Box::pin(async move { asked::rotation(&desk, &words, false).await }),
    },
    Maker {
        name: "forward-set",
        form: "DOMAIN server=ADDRESS[:PORT] [description=TEXT] [asked=yes|no]",
        make: |desk, words| Box::pin(async move { asked::forward_set(&desk, &words) }),
    },
    Maker {
        name: "forward-delete",
        form: "DOMAIN",
        make: |desk, words| Box::pin(async move { asked::forward_delete(&desk, &words) }),
    },
    Maker { name: "sdn-apply", form: "", make: |desk, _| Box::pin(async move { asked::sdn_apply(&desk).await }) },
    Maker { name: "sdn-rollback", form: "", make: |desk, _| Box::pin(async move { Ok(asked::sdn_rollback(&desk)) }) },
    Maker { name: "sdn-unlock", form: "", make: |desk, _| Box::pin(async move { asked::sdn_unlock(&desk) }) },
    Maker { name: "undo", form: "CHANGE", make: |desk, words| Box::pin(async move { undo(&desk, &words).await }) },
    Maker { name: "resume", form: "CHANGE", make: |desk, words| Box::pin(async move { resume(&desk, &words).await }) },
    Maker { name: "later", form: "CHANGE", make: |desk, words| Box::pin(async move { later(&desk, &words) }) },
];

/// The maker of that name.
#[must_use]
pub fn maker(name: &str) -> Option<&'static Maker> {
    MAKERS.iter().find(|maker| maker.name == name)
}

/// The value of `key=value` among the words.
#[must_use]
pub fn value<'w>(words: &'w [String], key: &str) -> Option<&'w str> {
    words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

fn refused(text: impl AsRef<str>, help: &str) -> Trouble {
    Trouble::new(TroubleKind::Refused, text).with_help(help)
}

/// Words that cannot be understood.
fn usage(text: impl AsRef<str>, help: impl AsRef<str>) -> Trouble {
    Trouble::new(TroubleKind::Usage, text).with_help(help)
}

fn tenant(words: &[String]) -> Result<TenantName, Trouble> {
    let name = words.first().map(String::as_str).unwrap_or_default();
    name.parse().map_err(|e: NameError| usage(e.to_string(), e.help()))
}

/// A plan that is a change of its own.
fn new(plan: Plan) -> Draft {
    Draft { plan, notes: Notes::default(), course: Course::Begin, left: Vec::new() }
}

async fn onboarding(desk: &Desk, words: &[String], known: bool) -> Result<Draft, Trouble> {
    let number = |text: &str| {
        let number = text.parse().ok().and_then(|number| TenantIndex::new(number).ok());
        number.ok_or_else(|| usage(format!("{text:?} is no index of a tenant"), "give one from 1 to 62"))
    };
    let index = value(words, "index").map(number).transpose()?;
    let tenant = tenant(words)?;
    let first = asked::first_workload(&tenant, words)?;
    let asked = Onboarding { tenant, index, first };
    let (world, mut turn) = (&desk.world, Turn::default());
    loop {
        let made = match known {
            true => onboard::reconcile(world, &asked).await,
            false => onboard::plan(world, &asked).await,
        };
        match made {
            // What a change that runs now staged is applied in a moment.
            Err(why) if why.kind == TroubleKind::Busy => {
                if !turn.wait(desk).await {
                    return Err(Trouble { kind: TroubleKind::Refused, ..why });
                }
            }
            made => return made.map(new),
        }
    }
}

async fn deletion(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    Ok(new(delete::plan(&desk.world, &tenant(words)?).await?))
}

impl From<JournalError> for Trouble {
    fn from(error: JournalError) -> Self {
        let kind = match error {
            JournalError::Running(_)
            | JournalError::Over(_)
            | JournalError::TakenBack(..)
            | JournalError::Undone(..) => TroubleKind::Refused,
            _ => TroubleKind::Journal,
        };
        Self::new(kind, error.to_string()).with_help(error.help())
    }
}

fn entry(desk: &Desk, words: &[String]) -> Result<Entry, Trouble> {
    let id: ChangeId = words.first().map(String::as_str).unwrap_or_default().parse()?;
    Ok(desk.journal.read(id)?)
}

fn open_entry(desk: &Desk, words: &[String]) -> Result<Entry, Trouble> {
    let entry = entry(desk, words)?;
    if entry.closed().is_some() { Err(JournalError::Over(entry.id).into()) } else { Ok(entry) }
}

async fn undo(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let entry = entry(desk, words)?;
    if let Some(back) = desk.journal.taken_back(entry.id)? {
        return Err(JournalError::Undone(entry.id, back).into());
    }
    if let Some(back) = desk.journal.open_way_back(entry.id)? {
        return Err(JournalError::TakenBack(entry.id, back).into());
    }
    answered(desk, &entry)?;
    let mut back = way_back_now(&desk.world, &entry).await;
    // Begun now, it would end the change, and what is under way would be nobody's.
    if let Some(why) = back.not_yet {
        return Err(why);
    }
    // A lock that was asked for without an answer was freed since.
    back.left.retain(|(_, why)| *why != ASKED_FOR);
    Ok(Draft { plan: back.plan, notes: Notes::default(), course: Course::TakeBack(entry.id), left: back.left })
}

/// Refuses to end a change that may have the SDN lock, unless the lock was freed by force since.
fn answered(desk: &Desk, entry: &Entry) -> Result<(), Trouble> {
    let Some(at) = asked_for_lock(&entry.notes()) else { return Ok(()) };
    let frees = |later: &Entry| {
        later.closed() == Some(Closing::Done)
            && later.plan.steps.iter().any(|step| matches!(step.object, Object::SdnUnlock(_)))
    };
    let later = desk.journal.ids()?.into_iter().filter(|id| *id > entry.id);
    if later.filter_map(|id| desk.journal.read(id).ok()).any(|later| frees(&later)) {
        return Ok(());
    }
    let text = format!("{} asked for the SDN lock at {at} and got no answer: it may hold it", entry.id);
    Err(refused(text, "free the lock by `deevnet-console sdn unlock` first, or resume the change"))
}

/// A change that may be left as it is: closing it is all there is to do. What it holds is given back before.
///
/// # Errors
/// When it holds something, somebody runs it, it is over, or the journal cannot be written.
pub fn may_be_left(desk: &Desk, id: ChangeId) -> Result<Change, Trouble> {
    let (entry, change) = desk.journal.take_up(id)?;
    if holds_lock(&entry.notes()) {
        let text = format!("{id} holds the SDN lock");
        return Err(refused(text, "give it back first: `deevnet-console resume --later`"));
    }
    answered(desk, &entry)?;
    Ok(change)
}

async fn resume(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let entry = open_entry(desk, words)?;
    if let Some(back) = desk.journal.open_way_back(entry.id)? {
        return Err(JournalError::TakenBack(entry.id, back).into());
    }
    let notes = entry.notes();
    let own = entry.plan.steps.iter().find_map(|step| match &step.object {
        Object::OwnIndex(own) => Some(own),
        _ => None,
    });
    let plan = match own.filter(|_| entry.plan.is_untouched(&notes)) {
        Some(own) => onboard::anew(&desk.world, own).await?,
        None => None,
    };
    Ok(Draft { notes, course: Course::Resume(entry.id), plan: plan.unwrap_or(entry.plan), left: Vec::new() })
}

fn later(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let entry = open_entry(desk, words)?;
    Ok(Draft {
        plan: entry.plan.giving_back(),
        notes: entry.notes(),
        course: Course::LayDown(entry.id),
        left: Vec::new(),
    })
}
