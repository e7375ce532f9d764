//! An empty lab that can be changed, operators with journals, and plans asked for by the words of their verbs. Waiting takes no
//! time.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deevnet_console::lab::{Lab, LabOptions, Pace};
use deevnet_console::provision::approve::{ApprovedPlan, Consent};
use deevnet_console::provision::conduct::{self, Course, Ears};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::{Entry, Journal, JournalError, Who};
use deevnet_console::provision::plan::Preview;
use deevnet_console::provision::plans::table::{Desk, Draft, maker};
use deevnet_console::provision::trouble::Trouble;
use deevnet_console::provision::world::{Listener, News, Patience, World};
use deevnet_console::runtime::clock;
use deevnet_console::site::Site;
use futures_util::future::BoxFuture;
use tokio::sync::watch;

/// A lab and its site.
pub struct Bench {
    pub lab: Arc<Lab>,
    pub world: Arc<World>,
    pub state: tempfile::TempDir,
}

/// Everything that a site has and no tenant. Nothing there takes time; a lock is waited for as long as that many seconds.
pub async fn bench(lock: Duration) -> Bench {
    let clock = clock::system();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console"));
    let options = LabOptions {
        tenants: Some(0),
        writable: true,
        pace: Pace::Instant,
        ..LabOptions::new(Arc::clone(&clock), program)
    };
    let lab = Arc::new(Lab::start(options).await.unwrap());
    let site = Arc::new(Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap());
    let sleep = Arc::new(|_| Box::pin(tokio::task::yield_now()) as BoxFuture<'static, ()>);
    let world = World::connect(&site, clock, sleep, Patience { looks: 8, lock, ..Patience::default() }).await;
    Bench { lab, world: Arc::new(world), state: tempfile::tempdir().unwrap() }
}

/// Somebody who asks for plans and runs them.
pub struct Operator {
    pub name: &'static str,
    pub desk: Desk,
    pub heard: Arc<Mutex<Vec<News>>>,
    /// Called at each piece of news.
    pub also: Listener,
}

impl Bench {
    /// One of that name, with the journal of the site's state directory.
    pub fn operator(&self, name: &'static str) -> Operator {
        let desk = Desk { world: Arc::clone(&self.world), journal: Journal::in_state(self.state.path()) };
        Operator { name, desk, heard: Arc::default(), also: Arc::new(|_| ()) }
    }

    pub async fn end(self) {
        drop(self.world);
        Arc::into_inner(self.lab).unwrap().shutdown().await;
    }
}

impl Operator {
    pub async fn draft(&self, verb: &str, words: &[&str]) -> Result<Draft, Trouble> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        (maker(verb).unwrap().make)(self.desk.clone(), words).await
    }

    pub async fn look(&self, draft: Draft) -> (Preview, Course) {
        (draft.plan.preview(&self.desk.world, draft.notes).await, draft.course)
    }

    /// Asks and looks.
    pub async fn asks(&self, verb: &str, words: &[&str]) -> (Preview, Course) {
        let draft = self.draft(verb, words).await;
        self.look(draft.unwrap_or_else(|why| panic!("{verb} {words:?}: {why:?}"))).await
    }

    pub fn approved(&self, preview: Preview) -> ApprovedPlan {
        let confirm = Some(preview.plan.subject.name.clone());
        let consent = Consent::Flags { write: true, yes: true, confirm };
        let world = &self.desk.world;
        ApprovedPlan::of(preview, &world.site, &consent, (world.clock)()).unwrap()
    }

    /// Runs what was looked at, with its name typed.
    pub async fn run(&self, asked: (Preview, Course)) -> Ended {
        self.tried(asked).await.unwrap()
    }

    /// The same, which the journal may keep from being begun.
    pub async fn tried(&self, (preview, course): (Preview, Course)) -> Result<Ended, JournalError> {
        let approved = self.approved(preview);
        let (heard, also) = (Arc::clone(&self.heard), Arc::clone(&self.also));
        let listener: Listener = Arc::new(move |news: News| {
            heard.lock().unwrap().push(news.clone());
            also(news);
        });
        let (_keep, stop) = watch::channel(false);
        let who = Who { user: self.name.to_owned(), host: "console".to_owned(), pid: std::process::id() };
        let ears = Ears { listener, stop };
        conduct::run(&self.desk.world, &self.desk.journal, (course, approved), &who, &ears, |_| ()).await
    }

    /// Asks, looks and runs, to the end.
    pub async fn does(&self, verb: &str, words: &[&str]) {
        let ended = self.run(self.asks(verb, words).await).await;
        assert_eq!(ended, Ended::Done, "{verb} {words:?}");
    }

    /// The lines that were told.
    pub fn lines(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        let line = |news: &News| match news {
            News::Line(_, line) => Some(line.clone()),
            _ => None,
        };
        heard.iter().filter_map(line).collect()
    }

    /// The newest change that somebody of that name began.
    pub fn newest(&self) -> Entry {
        let journal = &self.desk.journal;
        let mut all = journal.ids().unwrap().into_iter().rev().map(|id| journal.read(id).unwrap());
        all.find(|entry| entry.who.user == self.name).unwrap()
    }
}
