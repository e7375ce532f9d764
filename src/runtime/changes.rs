//! Plans and runs of the console, beside the thread that draws: a plan is looked at, a change is run, and what goes on is told.
//!
//! However the program ends, a run that goes on is stopped first: no further step begins, what was sent is awaited for a
//! while, and what is held is given back (design §6).

mod handover;

use std::collections::VecDeque;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as Slot, Notify, watch};
use tokio::task::{AbortHandle, JoinHandle};

use crate::console::Msg;
use crate::console::change::{Offer, Order, Shelf, Told};
use crate::console::msg::Notice;
use crate::inventory::Class;
use crate::inventory::feed::Clock;
use crate::provision::approve::{ApprovedPlan, Consent};
use crate::provision::conduct::{self, Course, Ears};
use crate::provision::engine::Ended;
use crate::provision::journal::{Journal, JournalError, Notes, Who};
use crate::provision::plans::table::{Desk, maker};
use crate::provision::saved::Asked;
use crate::provision::survey::Survey;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::{News, Patience, World};
use crate::site::Site;

/// Time that a run has after the request in flight was given up: for a last look, and to give back what is held.
const GIVING_BACK: Duration = Duration::from_secs(40);
/// Lines of steps that wait to be folded at most; older ones give way. Nothing else is ever dropped.
const LINES: usize = 512;

/// What changes are made with.
pub struct Workshop {
    /// The site.
    pub site: Arc<Site>,
    /// Its state directory: journal and saved plans.
    pub state: PathBuf,
    /// Who sits here.
    pub who: Who,
}

/// What waits to be folded into the model.
#[derive(Default)]
struct Heard {
    waiting: Mutex<VecDeque<Msg>>,
    news: Notify,
}

impl Heard {
    fn push(&self, msg: Msg) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |msg: &Msg| matches!(msg, Msg::Change(_, told) if matches!(**told, Told::News(_, News::Line(..))));
        if waiting.len() >= LINES
            && let Some(oldest) = waiting.iter().position(line)
        {
            waiting.remove(oldest);
        }
        waiting.push_back(msg);
        drop(waiting);
        self.news.notify_one();
    }

    fn tell(&self, id: u64, told: Told) {
        self.push(Msg::Change(id, Box::new(told)));
    }

    async fn next(&self) -> Msg {
        loop {
            let first = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            if let Some(msg) = first {
                return msg;
            }
            self.news.notified().await;
        }
    }
}

/// What tasks share.
struct Shop {
    site: Arc<Site>,
    who: Who,
    journal: Journal,
    plans: PathBuf,
    clock: Clock,
    heard: Arc<Heard>,
    /// The clients that the last plan was looked at with: its run goes on with them.
    world: Slot<Option<Arc<World>>>,
}

/// Plans and runs of a console.
pub(super) struct Changes {
    shop: Arc<Shop>,
    planning: Option<AbortHandle>,
    running: Option<(JoinHandle<()>, watch::Sender<bool>)>,
}

impl Changes {
    pub(super) fn new(workshop: Workshop, clock: &Clock) -> Self {
        let shop = Shop {
            journal: Journal::in_state(&workshop.state),
            plans: workshop.state.join("plans"),
            site: workshop.site,
            who: workshop.who,
            clock: Arc::clone(clock),
            heard: Arc::default(),
            world: Slot::new(None),
        };
        Self { shop: Arc::new(shop), planning: None, running: None }
    }

    /// Carries an order out, or begins to.
    pub(super) fn take(&mut self, order: Order) {
        let shop = Arc::clone(&self.shop);
        match order {
            Order::Plan { id, wish } => self.plan(async move {
                let offer = shop.plan(wish.name, wish.words).await;
                shop.heard.tell(id, Told::Planned(offer.map(Arc::new)));
            }),
            Order::Look { id, offer } => self.plan(async move {
                let offer = shop.look(&offer).await;
                shop.heard.tell(id, Told::Planned(offer.map(Arc::new)));
            }),
            Order::Run { id, offer, consent } => self.run(id, offer, consent),
            Order::Stop => self.stop(),
            Order::Journal => drop(tokio::task::spawn_blocking(move || {
                let shelf = shelf(&shop.journal);
                shop.heard.push(Msg::Journal(Arc::new(shelf)));
            })),
            Order::Survey { id, tenant } => drop(tokio::spawn(async move {
                let world = shop.connected(false).await;
                let survey = match tenant {
                    Some(tenant) => Survey::read_for(&world, &tenant).await,
                    None => Survey::read(&world).await,
                };
                shop.heard.tell(id, Told::Surveyed(Arc::new(survey)));
            })),
            Order::Keys { id, zones } => drop(tokio::spawn(async move { shop.keys(id, zones).await })),
            Order::Secret { id, key, to } => drop(tokio::spawn(async move { shop.secret(id, key, to).await })),
            Order::Keep { id, path, text } => {
                drop(tokio::task::spawn_blocking(move || shop.keep(id, &path, &text)));
            }
            Order::Save(offer) => drop(tokio::task::spawn_blocking(move || {
                let notice = match save(&shop.plans, &offer, (shop.clock)()) {
                    Ok(path) => Notice { class: Class::Fine, text: format!("the plan is in {}", path.display()) },
                    Err(why) => Notice::warning(format!("the plan was not saved in {}: {why}", shop.plans.display())),
                };
                shop.heard.push(Msg::Notice(notice));
            })),
        }
    }

    /// An older plan that is still being made is given up.
    fn plan(&mut self, making: impl Future<Output = ()> + Send + 'static) {
        if let Some(older) = self.planning.take() {
            older.abort();
        }
        self.planning = Some(tokio::spawn(making).abort_handle());
    }

    fn run(&mut self, id: u64, offer: Arc<Offer>, consent: Consent) {
        if self.running.as_ref().is_some_and(|(task, _)| !task.is_finished()) {
            return self.shop.heard.tell(id, Told::Refused("another change is running".to_owned()));
        }
        let shop = Arc::clone(&self.shop);
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(async move {
            let own = Arc::clone(&shop);
            let run = tokio::spawn(async move { own.run(id, &offer, &consent, stopped).await });
            let ended = match run.await {
                Ok(Some(ended)) => ended,
                Ok(None) => return,
                Err(_) => Err(Trouble::new(TroubleKind::Unknown, "the run ended by a fault of this program")
                    .with_help("the journal knows how far it came: resume it")),
            };
            shop.heard.tell(id, Told::Ended((shop.clock)(), ended));
        });
        self.running = Some((task, stop));
    }

    fn stop(&self) {
        if let Some((_, stop)) = &self.running {
            // Nobody listens any more where it just ended.
            let _ = stop.send(true);
        }
    }

    /// Stops a run that goes on, and waits until it has given back what it holds.
    pub(super) async fn finish(&mut self) {
        self.stop();
        let Some((task, _)) = self.running.as_mut().filter(|(task, _)| !task.is_finished()) else { return };
        let farewell = farewell();
        let say = |text: String| {
            tracing::warn!("{text}");
            // Whoever hung up reads nothing any more.
            let _ = writeln!(std::io::stderr(), "deevnet-console: {text}");
        };
        say(format!(
            "a change is stopped: what was sent is awaited, what is held is given back, {} s at most",
            farewell.as_secs()
        ));
        if tokio::time::timeout(farewell, task).await.is_err() {
            say("it did not end by then; the journal knows how far it came, the next start offers to go on".to_owned());
        }
    }

    /// The next thing that is told.
    pub(super) async fn next(&mut self) -> Msg {
        self.shop.heard.next().await
    }
}

/// Longest time that the end of the program waits for a run: the request in flight is awaited (design §6: 20 s), and what is
/// held is given back after that.
fn farewell() -> Duration {
    Patience::default().last + GIVING_BACK
}

impl Drop for Changes {
    fn drop(&mut self) {
        if let Some(planning) = self.planning.take() {
            planning.abort();
        }
    }
}

impl Shop {
    async fn connected(&self, anew: bool) -> Arc<World> {
        let mut slot = self.world.lock().await;
        match &*slot {
            Some(world) if !anew => Arc::clone(world),
            _ => {
                let sleep = Arc::new(|length| Box::pin(tokio::time::sleep(length)) as _);
                let clock = Arc::clone(&self.clock);
                let world = Arc::new(World::connect(&self.site, clock, sleep, Patience::default()).await);
                *slot = Some(Arc::clone(&world));
                world
            }
        }
    }

    async fn plan(&self, name: &str, words: Vec<String>) -> Result<Offer, Trouble> {
        let none = || Trouble::new(TroubleKind::Refused, format!("there is no plan called {name}"));
        let maker = maker(name).ok_or_else(none)?;
        let world = self.connected(true).await;
        let desk = Desk { world: Arc::clone(&world), journal: self.journal.clone() };
        let asked = Some(Asked { plan: name.to_owned(), words: words.clone() });
        let draft = (maker.make)(desk, words).await?;
        let preview = draft.plan.preview(&world, draft.notes).await;
        Ok(Offer { preview, course: draft.course, left: draft.left, asked })
    }

    /// What is noted of the change that the plan goes on with.
    fn notes(&self, course: Course) -> Result<Notes, JournalError> {
        match course {
            Course::Begin | Course::TakeBack(_) => Ok(Notes::default()),
            Course::Resume(id) | Course::LayDown(id) => self.journal.read(id).map(|entry| entry.notes()),
        }
    }

    async fn look(&self, offer: &Offer) -> Result<Offer, Trouble> {
        let world = self.connected(false).await;
        let notes = self.notes(offer.course)?;
        let preview = offer.preview.plan.clone().preview(&world, notes).await;
        Ok(Offer { preview, ..offer.clone() })
    }

    /// Looks once more, then runs it; `None` where it was not begun, which was told.
    async fn run(
        &self,
        id: u64,
        offer: &Offer,
        consent: &Consent,
        stop: watch::Receiver<bool>,
    ) -> Option<Result<Ended, Trouble>> {
        let refuse = |why: String| {
            self.heard.tell(id, Told::Refused(why));
            None
        };
        let newer = match self.look(offer).await {
            Ok(newer) => newer,
            Err(trouble) => return refuse(trouble.text),
        };
        let moved = offer.preview.moved(&newer.preview);
        if !moved.is_empty() {
            self.heard.tell(id, Told::Moved(Arc::new(newer), moved));
            return None;
        }
        let approved = match ApprovedPlan::of(offer.preview.clone(), &self.site, consent, (self.clock)()) {
            Ok(approved) => approved,
            Err(refusal) => return refuse(format!("{refusal}; {}", refusal.help())),
        };
        let world = self.connected(false).await;
        let (heard, clock) = (Arc::clone(&self.heard), Arc::clone(&self.clock));
        let listener = Arc::new(move |news| heard.tell(id, Told::News(clock(), news)));
        let ears = Ears { listener, stop };
        let opened = |change| self.heard.tell(id, Told::Opened(change));
        let ended = conduct::run(&world, &self.journal, (offer.course, approved), &self.who, &ears, opened).await;
        Some(ended.map_err(Trouble::from))
    }
}

fn shelf(journal: &Journal) -> Shelf {
    let mut shelf = Shelf::default();
    let ids = match journal.ids() {
        Ok(ids) => ids,
        Err(e) => {
            shelf.bad.push(format!("{e}; {}", e.help()));
            return shelf;
        }
    };
    for id in ids.into_iter().rev() {
        match journal.read(id) {
            Ok(entry) => {
                // Whoever runs it has it to itself.
                if entry.closed().is_none() && journal.is_running(id).unwrap_or(false) {
                    shelf.running.push(id);
                }
                shelf.entries.push(entry);
            }
            Err(JournalError::NoPlan { .. }) => {}
            Err(e) => shelf.bad.push(format!("{e}; {}", e.help())),
        }
    }
    shelf
}

/// Keeps a plan, as it was looked at, in a file of its own that is only the user's.
fn save(dir: &Path, offer: &Offer, at: jiff::Timestamp) -> std::io::Result<PathBuf> {
    let none = || std::io::Error::other("it goes on with a change, or takes one back: that is in the journal");
    let asked = offer.asked.clone().filter(|_| offer.course == Course::Begin).ok_or_else(none)?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let stem: String =
        offer.preview.plan.title.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let path = dir.join(format!("{}-{stem}.json", at.strftime("%Y%m%dT%H%M%S")));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(crate::provision::saved::text(&asked, &offer.preview)?.as_bytes())?;
    file.sync_all()?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_console_that_is_behind_misses_old_lines_and_nothing_else() {
        let heard = Heard::default();
        let at = jiff::Timestamp::UNIX_EPOCH;
        heard.tell(1, Told::News(at, News::Begun(0)));
        for n in 0..LINES * 2 {
            heard.tell(1, Told::News(at, News::Line(0, n.to_string())));
        }
        heard.tell(1, Told::News(at, News::Verified(0)));
        heard.tell(1, Told::Ended(at, Ok(Ended::Done)));
        let mut told = Vec::new();
        loop {
            let Msg::Change(1, next) = heard.next().await else { panic!("of changes") };
            let last = matches!(*next, Told::Ended(..));
            told.push(*next);
            if last {
                break;
            }
        }
        let states = told.iter().filter(|told| !matches!(told, Told::News(_, News::Line(..)))).count();
        assert!(states == 3 && told.len() <= LINES + 2, "{states} of {}", told.len());
        let newest = (LINES * 2 - 1).to_string();
        assert!(told.iter().any(|told| matches!(told, Told::News(_, News::Line(0, line)) if *line == newest)));
    }
}
