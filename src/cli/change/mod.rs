//! Verbs that change something: the plan is made, looked at and shown; with `--write --yes` it is carried out.

pub mod args;
mod handover;
mod journal;
mod list;
mod saved;
mod sdn;
mod show;
mod words;

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum as _;
use tokio::sync::watch;

use self::args::{ApplyArgs, Change, How, PlanArgs, SdnAction, TenantAction};
use super::args::{Format, Global};
use super::{Code, Failure, open, verdict};
use crate::provision::approve::{ApprovedPlan, Consent, Refusal};
use crate::provision::conduct::{self, Course, Ears};
use crate::provision::engine::Ended;
use crate::provision::journal::{ChangeId, Journal, JournalError};
use crate::provision::object::Object;
use crate::provision::plan::{Preview, Question};
use crate::provision::plans::table::{Desk, Draft, Turn, maker};
use crate::provision::saved::Asked;
use crate::provision::sdn::{left_behind, running, taken_up};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::{News, Patience, World};
use crate::runtime::{clock, who::who};
use crate::site::Site;
use crate::text::clean;

pub(super) use self::journal::{audit, list as journal};

/// What a verb works with: the site, its clients, its journal.
struct Office {
    desk: Desk,
}

impl Office {
    async fn open(site: &Arc<Site>) -> Result<Self, Failure> {
        let world = World::connect(site, clock::system(), clock::sleep(), Patience::default()).await;
        Ok(Self { desk: Desk { world: Arc::new(world), journal: at(site)? } })
    }

    fn site(&self) -> &Arc<Site> {
        &self.desk.world.site
    }

    async fn draft(&self, asked: &Asked) -> Result<Draft, Failure> {
        let none = || Failure::plain(format!("there is no plan {}", clean(&asked.plan)));
        let maker = maker(&asked.plan).ok_or_else(none)?;
        (maker.make)(self.desk.clone(), asked.words.clone()).await.map_err(|trouble| failure(&trouble))
    }

    async fn look(&self, draft: Draft) -> Looked {
        let Draft { plan, notes, course, left } = draft;
        Looked { preview: plan.preview(&self.desk.world, notes).await, course, left }
    }
}

/// The journal of a site.
fn at(site: &Site) -> Result<Journal, Failure> {
    Ok(Journal::in_state(&open::places()?.state_of(site)))
}

/// A plan, looked at.
struct Looked {
    preview: Preview,
    course: Course,
    left: Vec<(String, &'static str)>,
}

/// Why there is no plan, or it did not come to its end.
fn failure(trouble: &Trouble) -> Failure {
    // Nothing was begun: what gave no answer, or none that tells, leaves only unknown what is there.
    let code = match trouble.kind {
        TroubleKind::Refused | TroubleKind::Moved => Code::Refused,
        TroubleKind::Usage | TroubleKind::Journal => Code::Usage,
        TroubleKind::Stopped => Code::Found,
        TroubleKind::Unknown
        | TroubleKind::NotReached
        | TroubleKind::Unsettled
        | TroubleKind::Busy
        | TroubleKind::NotSeen => Code::Unknown,
    };
    Failure { code, text: trouble.text.clone(), help: trouble.help.clone() }
}

fn unwritten(error: &JournalError) -> Failure {
    let code = match error {
        JournalError::Running(_) | JournalError::Over(_) | JournalError::TakenBack(..) | JournalError::Undone(..) => {
            Code::Refused
        }
        _ => Code::Usage,
    };
    Failure { code, text: error.to_string(), help: Some(error.help().into_owned()) }
}

fn refused(refusal: &Refusal) -> Failure {
    let code = match refusal {
        // Nothing is known to stand against it: as for a plan that is only shown.
        Refusal::Untold { known: false, .. } => Code::Unknown,
        _ => Code::Refused,
    };
    Failure { code, text: refusal.to_string(), help: Some(refusal.help()) }
}

/// The form that was asked for.
fn form(how: &How) -> Result<Format, Failure> {
    let Some(text) = &how.output else { return Ok(Format::Table) };
    Format::from_str(text, false).map_err(|_| {
        Failure::usage(
            format!("{text:?} is no form"),
            "give table, json or yaml; `plan … -o FILE` saves a plan in a file",
        )
    })
}

/// Runs a verb that changes something.
pub(super) fn run(global: &Global, change: &Change) -> Result<Code, Failure> {
    let site = open::site(global)?;
    if let Change::Sdn { action: SdnAction::Status { output } } = change {
        return sdn::status(&site, *output);
    }
    if let Some(listed) = list::run(global, &site, change) {
        return listed;
    }
    if let Change::Tenant { action: TenantAction::Handover { name, key_file, json } } = change {
        return handover::run(&site, name, key_file.as_deref(), *json);
    }
    let nothing = How::default();
    let how = change.how().unwrap_or(&nothing);
    let format = form(how)?;
    open::runtime()?.block_on(async {
        let office = Office::open(&site).await?;
        if let Change::Resume { id, leave: true, .. } = change {
            return journal::leave(&office.desk, id.as_deref(), how);
        }
        let (looked, asked) = made(&office, change).await?;
        conclude(&office, looked, asked.only_shown, how, format).await
    })
}

/// `plan …`: shown, and saved where a file is named.
pub(super) fn plan(global: &Global, request: &PlanArgs) -> Result<Code, Failure> {
    let site = open::site(global)?;
    // A form is shown; anything else is the file that it is saved in.
    let output = request.change.how().and_then(|how| how.output.as_deref());
    let form = output.and_then(|text| Format::from_str(text, false).ok());
    let file = output.filter(|_| form.is_none()).map(std::path::Path::new);
    open::runtime()?.block_on(async {
        let office = Office::open(&site).await?;
        let (looked, asked) = made(&office, &request.change).await?;
        let shown = show::plan(&mut std::io::stdout(), &looked, form.unwrap_or_default());
        if let Some(file) = file {
            if looked.course != Course::Begin {
                let text = "only a new change can be saved: what is to go on, or to be taken back, is in the journal";
                return Err(Failure::usage(text, "leave -o out"));
            }
            saved::write(file, &asked.made_from(), &looked.preview)?;
            open::note(&saved::way(file, &looked.preview));
        }
        verdict(shown, told(&looked.preview))
    })
}

/// `apply FILE`.
pub(super) fn apply(global: &Global, request: &ApplyArgs) -> Result<Code, Failure> {
    let format = form(&request.how)?;
    let site = open::site(global)?;
    let saved = saved::read(&request.file)?;
    let age = saved::age(&saved, clock::system()(), request.old)?;
    if saved.preview.plan.site != site.name {
        let made = clean(&saved.preview.plan.site).into_owned();
        return Err(refused(&Refusal::OtherSite { made, here: site.name.clone() }));
    }
    open::runtime()?.block_on(async {
        let office = Office::open(&site).await?;
        let draft = office.draft(&saved.asked).await?;
        if draft.course != Course::Begin {
            let text = format!("{} is no plan that is applied from a file", clean(&saved.asked.plan));
            return Err(Failure::usage(text, "what is to go on, or to be taken back, is in the journal"));
        }
        let looked = office.look(draft).await;
        let differs = saved.differs(&looked.preview);
        if !differs.is_empty() {
            show::plan(&mut std::io::stdout(), &looked, format)?;
            let text = format!("{age}, and is another now: {}", clean(&differs.join("; ")));
            let help = "look at it: if it is what you want, make the plan again".to_owned();
            return Err(Failure { code: Code::Refused, text, help: Some(help) });
        }
        open::note(&format!("{age}, and is the same now"));
        conclude(&office, looked, false, &request.how, format).await
    })
}

/// Makes the plan and looks at it.
async fn made(office: &Office, change: &Change) -> Result<(Looked, words::Asked), Failure> {
    let open = match change {
        Change::Resume { id: None, .. } => Some(journal::the_open_one(&office.desk.journal)?),
        _ => None,
    };
    let asked = change.asked(open)?;
    if let Some(holder) = running(&office.desk.journal) {
        open::note(&format!("{holder} is at work: what it staged is waited for"));
    }
    let mut turn = Turn::default();
    loop {
        let draft = office.draft(&asked.made_from()).await?;
        let looked = office.look(draft).await;
        // What a change that runs now staged does not go along: it is applied in a moment.
        let own = looked.course != Course::Begin || looked.preview.staged_by_others().is_empty();
        if own || !turn.wait(&office.desk).await {
            lock_is_held(office, &looked);
            return Ok((looked, asked));
        }
    }
}

/// Tells of a lock that a new plan needs and that nobody gives back by itself.
fn lock_is_held(office: &Office, looked: &Looked) {
    let needs = looked.preview.plan.steps.iter().any(|step| matches!(step.object, Object::SdnLock(_)));
    if looked.course == Course::Begin
        && needs
        && let Some(holder) = left_behind(&office.desk.journal, None)
    {
        open::note(&format!(
            "the SDN lock is, by the journal, held by {holder}, which nobody runs any more: {}",
            taken_up(&holder)
        ));
    }
}

/// 0; 4 where something is known to stand against it, else 3 where a step could not be told.
fn told(preview: &Preview) -> Code {
    match preview.untold().map(|(_, why)| why.kind.is_known()).max() {
        None => Code::Ok,
        Some(true) => Code::Refused,
        Some(false) => Code::Unknown,
    }
}

/// Shows the plan; carries it out where that was asked for.
async fn conclude(
    office: &Office,
    looked: Looked,
    only_shown: bool,
    how: &How,
    format: Format,
) -> Result<Code, Failure> {
    if only_shown || !how.write {
        let shown = show::plan(&mut std::io::stdout(), &looked, format);
        let against = looked.preview.untold().next().map(|(step, why)| (step + 1, why.text.clone()));
        if let Some((number, why)) = against {
            open::note(&crate::text::clean(&format!("it cannot be carried out: step {number}: {why}")));
        } else if !only_shown && looked.preview.question() != Question::Nothing {
            open::note("nothing was changed: --write --yes carries the plan out");
        }
        return verdict(shown, told(&looked.preview));
    }
    if format == Format::Table {
        show::plan(&mut std::io::stderr(), &looked, format)?;
    }
    carry_out(office, looked, how, format).await
}

async fn carry_out(office: &Office, looked: Looked, how: &How, format: Format) -> Result<Code, Failure> {
    let world = &office.desk.world;
    let steps = show::names(&looked.preview);
    let consent = Consent::Flags { write: how.write, yes: how.yes, confirm: how.confirm.clone() };
    // What holds nothing has nothing to give back either; it stays open.
    let nothing = looked.preview.is_empty() && matches!(looked.course, Course::Begin | Course::LayDown(_));
    let approved =
        ApprovedPlan::of(looked.preview, office.site(), &consent, (world.clock)()).map_err(|e| refused(&e))?;
    if nothing {
        let shown = show::ended(&mut std::io::stdout(), None, &Ended::Done, &steps, format);
        return verdict(shown, Code::Ok);
    }
    let (asked, stop) = watch::channel(false);
    let steps: Steps = Arc::new(Mutex::new(steps));
    let ears = Ears { listener: Arc::new(teller(Arc::clone(&steps))), stop };
    let mut id = match looked.course {
        Course::Begin => None,
        Course::Resume(id) | Course::TakeBack(id) | Course::LayDown(id) => Some(id),
    };
    let who = who();
    let running = conduct::run(world, &office.desk.journal, (looked.course, approved), &who, &ears, |number| {
        open::note(&format!("change {number}"));
        id = Some(number);
    });
    let signal = stopped_by(asked);
    let ended = tokio::select! {
        ended = running => ended.map_err(|e| unwritten(&e))?,
        // It only tells the run, which ends by itself.
        never = signal => match never {},
    };
    // Of the plan that was run in the end.
    let steps = steps.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let shown = show::ended(&mut std::io::stdout(), id, &ended, &steps, format);
    match ended {
        Ended::Done => verdict(shown, Code::Ok),
        Ended::Early { step, trouble } => {
            shown?;
            Err(early(id, step, &steps, &trouble))
        }
    }
}

/// Where a change stopped, why, and what can be done.
fn early(id: Option<ChangeId>, step: usize, steps: &[String], trouble: &Trouble) -> Failure {
    let name = steps.get(step).map(String::as_str).unwrap_or_default();
    let whole = failure(trouble);
    let number = id.map(|id| id.to_string()).unwrap_or_default();
    let ways = format!(
        "`deevnet-console resume {number}` goes on, `deevnet-console undo {number}` takes it back, `deevnet-console resume \
         --leave {number}` leaves it as it is"
    );
    let help = whole.help.map_or_else(|| ways.clone(), |help| format!("{}; {ways}", help.trim_end_matches('.')));
    let text = format!("{number} stopped at step {} of {}, {name}: {}", step + 1, steps.len(), whole.text);
    // Whatever stopped it, something was begun and is not at its end.
    Failure { code: Code::Found, text, help: Some(help) }
}

/// Names of the steps that are run.
type Steps = Arc<Mutex<Vec<String>>>;

/// Tells what goes on, a line each, on stderr.
fn teller(steps: Steps) -> impl Fn(News) + Send + Sync {
    move |news| {
        let steps = &mut *steps.lock().unwrap_or_else(PoisonError::into_inner);
        if let News::Replanned(preview) = &news {
            *steps = show::names(preview);
        }
        let of = |number: usize| {
            format!("{:>2}/{} {}", number + 1, steps.len(), steps.get(number).map(String::as_str).unwrap_or_default())
        };
        let line = match news {
            News::Begun(_) | News::Applied(_) => return,
            News::Replanned(_) => format!("      the plan is made anew, with {} steps", steps.len()),
            News::Verified(number) => format!("{}: verified", of(number)),
            News::Satisfied(number) => format!("{}: nothing to do", of(number)),
            News::Line(number, line) => format!("{}: {line}", of(number)),
            News::Failed(number, trouble) => format!("{}: {}", of(number), trouble.text),
            News::GaveBack(what, Ok(())) => format!("      {what}: given back"),
            News::GaveBack(what, Err(trouble)) => format!("      {what}: NOT given back: {}", trouble.text),
        };
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(std::io::stderr(), "{}", crate::text::clean_lines(&line));
    }
}

/// Asks the run to stop when this process is asked to end: no new step begins, locks are given back.
async fn stopped_by(asked: watch::Sender<bool>) -> std::convert::Infallible {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()];
    let Ok(mut signals) = kinds.into_iter().map(signal).collect::<Result<Vec<_>, _>>() else {
        return std::future::pending().await;
    };
    loop {
        let waits: Vec<_> = signals.iter_mut().map(|signal| Box::pin(signal.recv())).collect();
        if futures_util::future::select_all(waits).await.0.is_none() {
            std::future::pending::<()>().await;
        }
        open::note("stops after this step: what is under way is awaited for up to 20 s");
        asked.send_replace(true);
    }
}
