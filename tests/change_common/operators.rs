//! Operators with journals on an empty site, and plans asked for by the words of their verbs. Waiting takes no time.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "helpers of tests, not all used by each")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use deevnet_console::provision::approve::ApprovedPlan;
use deevnet_console::provision::conduct::{self, Course};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::{Entry, Journal, JournalError, Who};
use deevnet_console::provision::plan::Preview;
use deevnet_console::provision::plans::table::{Desk, Draft, maker};
use deevnet_console::provision::trouble::Trouble;
use deevnet_console::provision::world::{Listener, News, Patience};

use super::change_common::{Bench, Options, Runs, ears, lines, who};

/// Everything that a site has and no tenant. A lock is waited for as long as that.
pub async fn bench(lock: Duration) -> Bench {
    let empty = Options::empty();
    Options { patience: Patience { lock, ..empty.patience }, ..empty }.start().await
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
        let name = preview.plan.subject.name.clone();
        Runs::approved_as(&self.desk.world, preview, Some(&name)).unwrap()
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
        let who = Who { user: self.name.to_owned(), ..who() };
        let (_keep, ears) = ears(listener);
        conduct::run(&self.desk.world, &self.desk.journal, (course, approved), &who, &ears, |_| ()).await
    }

    /// Asks, looks and runs, to the end.
    pub async fn does(&self, verb: &str, words: &[&str]) {
        let ended = self.run(self.asks(verb, words).await).await;
        assert_eq!(ended, Ended::Done, "{verb} {words:?}");
    }

    /// The lines that were told.
    pub fn lines(&self) -> Vec<String> {
        lines(&self.heard.lock().unwrap())
    }

    /// The newest change that somebody of that name began.
    pub fn newest(&self) -> Entry {
        let journal = &self.desk.journal;
        let mut all = journal.ids().unwrap().into_iter().rev().map(|id| journal.read(id).unwrap());
        all.find(|entry| entry.who.user == self.name).unwrap()
    }
}
