//! A check of the console: read by clients of its own, judged as it comes, given up when the operator or the time says so.
//!
//! Nothing here runs on the thread that draws: what was read is judged on a thread for such work.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::console::Msg;
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Sink, Wanted, collect};
use crate::inventory::Inventory;
use crate::inventory::feed::{Clients, Clock};

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
}

/// Runs a check to its end, or until `stop`.
pub(super) async fn run(order: Order, clock: Clock, stop: &Notify, tell: &mpsc::Sender<Msg>) {
    let news = Arc::new(Notify::new());
    let heard = Arc::clone(&news);
    let sink = Sink::new(clock).telling(Arc::new(move |_, _| heard.notify_one()));
    let site = Arc::clone(&order.picture.site);
    let (wanted, gathering) = (order.wanted.clone(), sink.clone());
    let reading = async move {
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
            let Ok(diagnosis) = judge(&order.wanted, sink).await else { continue };
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
            let diagnosis = judge(&order.wanted, sink).await;
            // Nobody is left to be told only when the console ends.
            let _ = tell.send(Msg::Checked { id: order.id, diagnosis, took: began.elapsed() }).await;
        }
    }
}

/// What has gathered, judged.
async fn judge(wanted: &Wanted, sink: &Sink) -> Result<Arc<Diagnosis>, String> {
    // What is open first: what ends meanwhile is still awaited, never the other way around.
    let (wanted, open) = (wanted.clone(), sink.open());
    let evidence = sink.evidence(Some(wanted.question()));
    let judged = tokio::task::spawn_blocking(move || Arc::new(Diagnosis::of(&wanted, evidence, open))).await;
    judged.map_err(|_| "judging what was read ended by itself: nothing is known of it".to_owned())
}
