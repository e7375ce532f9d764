//! A check of the console: read by clients of its own, judged as it comes, given up when the operator or the time says so.
//!
//! Nothing here runs on the thread that draws: what was read is judged on a thread for such work.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::console::Msg;
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Check, Sink, Wanted, changes, collect, expect};
use crate::diagnose::evidence::{Evidence, Item, Kind};
use crate::diagnose::facts::Facts;
use crate::diagnose::rules::matrix::Matrix;
use crate::inventory::Inventory;
use crate::inventory::feed::{Clients, Clock};
use crate::provision::journal::Journal;

/// Longest time for a check: three rounds to a silent exit node, and what Proxmox takes.
const LONGEST: Duration = Duration::from_secs(60);
/// Between two judgements of what has come so far: bursts of answers are judged once.
const PACE: Duration = Duration::from_millis(150);

/// What is to be checked.
pub(super) struct Order {
    /// Number of the check.
    pub(super) id: u64,
    /// What is wanted.
    pub(super) wanted: Wanted,
    /// The site as it was last pictured: of it, only which site it is.
    pub(super) picture: Arc<Inventory>,
    /// Where what it comes to is kept, with what is pasted.
    pub(super) kept: Arc<Kept>,
    /// Where this console notes its changes: those that are open explain what is half made.
    pub(super) journal: Journal,
}

/// What checks came to, and what is pasted beside it: a paste makes them anew.
#[derive(Default)]
pub(super) struct Kept {
    pasted: Mutex<Arc<[Item]>>,
    /// The last check, and the last one that the isolation table is of, by number.
    checks: Mutex<Vec<(u64, Arc<Diagnosis>)>>,
}

impl Kept {
    /// From now on this is what is pasted.
    pub(super) fn paste(&self, pasted: Arc<[Item]>) {
        *held(&self.pasted) = pasted;
    }

    fn pasted(&self) -> Arc<[Item]> {
        Arc::clone(&held(&self.pasted))
    }

    fn keep(&self, id: u64, diagnosis: &Arc<Diagnosis>) {
        let of_table = |diagnosis: &Diagnosis| matches!(diagnosis.wanted.check, Check::Isolation | Check::All);
        let mut checks = held(&self.checks);
        checks.retain(|(_, old)| of_table(old) && !of_table(diagnosis));
        checks.push((id, Arc::clone(diagnosis)));
    }

    /// Judges what was read again, with what is pasted now, and tells what it comes to.
    pub(super) async fn judge(&self, tell: &mpsc::Sender<Msg>) {
        let checks = held(&self.checks).clone();
        for (id, old) in checks {
            let pasted = self.pasted();
            let judged = tokio::task::spawn_blocking(move || {
                let read = old.evidence.items.iter().filter(|item| !matches!(item.kind, Kind::Pasted { .. }));
                let items = read.chain(&*pasted).cloned().collect();
                let evidence = Evidence { question: old.evidence.question.clone(), items };
                tabled(Diagnosis::of(&old.wanted, evidence, Vec::new()))
            });
            let Ok((diagnosis, matrix)) = judged.await else { continue };
            if tell.send(Msg::Judged { id, diagnosis, matrix }).await.is_err() {
                return;
            }
        }
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// With the isolation table of the same evidence.
fn tabled(diagnosis: Diagnosis) -> (Arc<Diagnosis>, Arc<Matrix>) {
    let matrix = Matrix::of(&Facts::of(&diagnosis.evidence));
    (Arc::new(diagnosis), Arc::new(matrix))
}

/// Runs a check to its end, or until `stop`.
pub(super) async fn run(order: Order, clock: Clock, stop: &Notify, tell: &mpsc::Sender<Msg>) {
    let news = Arc::new(Notify::new());
    let heard = Arc::clone(&news);
    let sink = Sink::new(clock).telling(Arc::new(move |_, _| heard.notify_one()));
    let site = Arc::clone(&order.picture.site);
    let (wanted, gathering, journal) = (order.wanted.clone(), sink.clone(), order.journal.clone());
    let reading = async move {
        expect(&site, &wanted, &gathering);
        if let Ok(told) = tokio::task::spawn_blocking(move || journal.changes()).await {
            changes(&told, &gathering);
        }
        let clients = Clients::connect(&site).await;
        drop(collect(&site, &clients, &wanted, &gathering).await);
    };
    watch(&order, reading, (&sink, &news), stop, tell).await;
}

/// Tells what `reading` brings into the sink, and in the end what it comes to.
async fn watch(
    order: &Order,
    reading: impl Future<Output = ()>,
    (sink, news): (&Sink, &Notify),
    stop: &Notify,
    tell: &mpsc::Sender<Msg>,
) {
    let began = Instant::now();
    let so_far = async {
        loop {
            news.notified().await;
            tokio::time::sleep(PACE).await;
            let Ok(diagnosis) = judge(order, sink, Arc::new).await else { continue };
            // A console that is behind hears of the next one.
            drop(tell.try_send(Msg::Checking { id: order.id, diagnosis, took: began.elapsed() }));
        }
    };
    let ended = async {
        tokio::select! {
            () = reading => {}
            () = stop.notified() => sink.give_up("given up by you"),
            () = tokio::time::sleep(LONGEST) => sink.give_up(&format!("not awaited longer than {}s", LONGEST.as_secs())),
        }
    };
    tokio::select! {
        () = so_far => {}
        () = ended => {
            let judged = judge(order, sink, tabled).await;
            if let Ok((diagnosis, matrix)) = &judged {
                order.kept.keep(order.id, diagnosis);
                // The table stands before the check is said to have ended.
                let _ = tell.send(Msg::Table { id: order.id, matrix: Arc::clone(matrix) }).await;
            }
            let diagnosis = judged.map(|(diagnosis, _)| diagnosis);
            // Nobody is left to be told only when the console ends.
            let _ = tell.send(Msg::Checked { id: order.id, diagnosis, took: began.elapsed() }).await;
        }
    }
}

/// What has gathered, together with what is pasted, judged and made into what `make` makes of it.
async fn judge<T: Send + 'static>(
    order: &Order,
    sink: &Sink,
    make: impl FnOnce(Diagnosis) -> T + Send + 'static,
) -> Result<T, String> {
    // What is open first: what ends meanwhile is still awaited, never the other way around.
    let (wanted, open) = (order.wanted.clone(), sink.open());
    let mut evidence = sink.evidence(Some(wanted.question()));
    evidence.items.extend(order.kept.pasted().iter().cloned());
    let judged = tokio::task::spawn_blocking(move || make(Diagnosis::of(&wanted, evidence, open))).await;
    judged.map_err(|_| "judging what was read ended by itself: nothing is known of it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::pasted::{Given, item};

    fn results(count: usize) -> Vec<Item> {
        let text = "PING 10.20.130.10 (10.20.130.10) 56(84) bytes of data.\n\n--- 10.20.130.10 ping statistics ---\n3 packets \
                    transmitted, 0 received, 100% packet loss, time 2043ms\n";
        let at = jiff::Timestamp::UNIX_EPOCH;
        let given = Given { from: "tdemo".into(), by: "amy".into(), at, via: "screen".into() };
        (1..=count).map(|n| item(&given, n, text)).collect()
    }

    fn done(kept: &Kept, id: u64, check: Check, pasted: usize) {
        let wanted = Wanted::of(check, None);
        let evidence = Evidence { question: Some(wanted.question()), items: results(pasted) };
        kept.keep(id, &Arc::new(Diagnosis::of(&wanted, evidence, Vec::new())));
    }

    #[tokio::test]
    async fn what_was_read_is_judged_again_with_what_is_pasted_now() {
        let kept = Kept::default();
        done(&kept, 1, Check::Egress, 0);
        done(&kept, 2, Check::Isolation, 1);
        done(&kept, 3, Check::Egress, 1);
        let (tell, mut heard) = mpsc::channel(8);
        for count in [2, 0] {
            kept.paste(results(count).into());
            kept.judge(&tell).await;
            for check in [2, 3] {
                let Some(Msg::Judged { id, diagnosis, matrix }) = heard.recv().await else { panic!("judged") };
                assert_eq!((id, diagnosis.evidence.items.len(), matrix.pasted.len()), (check, count, count));
            }
        }
        assert!(heard.try_recv().is_err(), "of older checks nothing is told");
    }
}
