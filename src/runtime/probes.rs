//! Questions that the console asks beside reading the site: one at a time, never waited for.

use std::future::ready;
use std::sync::Arc;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::console::Msg;
use crate::diagnose::resolve::{Heard, Target, Vantages, ask};
use crate::inventory::Inventory;
use crate::inventory::feed::Clock;

/// Answers that wait to be folded: a question has six.
const ANSWERS: usize = 16;

/// The question that is being asked, and what came of it.
pub(super) struct Probes {
    tell: mpsc::Sender<(u64, Heard)>,
    heard: mpsc::Receiver<(u64, Heard)>,
    asking: Option<AbortHandle>,
}

impl Probes {
    pub(super) fn new() -> Self {
        let (tell, heard) = mpsc::channel(ANSWERS);
        Self { tell, heard, asking: None }
    }

    /// Asks everybody for `target`; an older question is given up.
    pub(super) fn resolve(&mut self, id: u64, target: Target, picture: Arc<Inventory>, clock: &Clock) {
        self.stop();
        let (tell, clock) = (self.tell.clone(), Arc::clone(clock));
        let task = tokio::spawn(async move {
            let site = Arc::clone(&picture.site);
            let vantages = Vantages::of_site(&site);
            let mut answers = std::pin::pin!(ask(&site, &target, &vantages, ready(picture), &*clock));
            while let Some(heard) = answers.next().await {
                if tell.send((id, heard)).await.is_err() {
                    return;
                }
            }
        });
        self.asking = Some(task.abort_handle());
    }

    /// Gives the question up.
    pub(super) fn stop(&mut self) {
        if let Some(task) = self.asking.take() {
            task.abort();
        }
    }

    /// The next thing that comes of a question.
    pub(super) async fn next(&mut self) -> Msg {
        match self.heard.recv().await {
            Some((id, heard)) => Msg::Heard(id, Box::new(heard)),
            // There is always a sender: this one.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.stop();
    }
}
