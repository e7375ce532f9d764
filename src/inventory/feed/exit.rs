//! The worker of one exit node: one round trip for all tenants, every 30 s, every 5 s while counters are watched.

use std::sync::Arc;

use jiff::SignedDuration;
use tokio::sync::mpsc;

use super::hub::Update;
use super::pace::Pace;
use super::{Clock, DEADLINE, EXIT_INTERVAL, EXIT_LIVE_INTERVAL, Wishes};
use crate::backends::exit_node::Client;
use crate::backends::exit_node::error::Error;
use crate::backends::exit_node::model::{Reading, Readout};
use crate::inventory::Demand;
use crate::inventory::source::{GapKind, SourceId};

/// The worker.
pub(super) struct Worker {
    node: String,
    client: Client,
    clock: Clock,
    out: mpsc::Sender<Update>,
    pace: Pace,
}

const fn interval(demand: &Demand) -> SignedDuration {
    if demand.live_counters { EXIT_LIVE_INTERVAL } else { EXIT_INTERVAL }
}

/// Drops the text of FRR's configuration: the join looks at its VRFs.
fn lean(reading: &mut Reading) {
    for conf in [&mut reading.frr_conf, &mut reading.frr_local] {
        if let Readout::Value(conf) = conf {
            conf.text = String::new();
        }
    }
}

/// What kind of hole a failed reading leaves. A command that ends with 255 is an `ssh` inside it that did not get there.
pub(super) fn kind(error: &Error) -> GapKind {
    match error {
        Error::AuthRefused { .. } | Error::HostUnknown { .. } | Error::HostKeyChanged { .. } => GapKind::Denied,
        Error::ConnectionRefused { .. }
        | Error::Unreachable { .. }
        | Error::Disconnected { .. }
        | Error::TimedOut { .. }
        | Error::Truncated { .. } => GapKind::NoAnswer,
        Error::NoFrame { code, .. } if code == "255" => GapKind::NoAnswer,
        _ => GapKind::Failed,
    }
}

impl Worker {
    pub(super) fn new(node: String, client: Client, clock: &Clock, out: &mpsc::Sender<Update>) -> Self {
        Self { pace: Pace::new(&node), node, client, clock: Arc::clone(clock), out: out.clone() }
    }

    /// Reads until nobody listens.
    pub(super) async fn run(mut self, mut wishes: Wishes) {
        loop {
            // Taken before the reading: a wish that comes while it runs is for another one.
            let answered = wishes.refresh.borrow_and_update().exit;
            let (wanted, prefixes) = {
                let demand = wishes.demand.borrow_and_update();
                (interval(&demand), demand.flows.clone())
            };
            let result = self.client.read_with_flows(DEADLINE.unsigned_abs(), &prefixes).await;
            let (update, pause) = match result {
                Ok(mut reading) => {
                    lean(&mut reading);
                    let (node, at) = (self.node.clone(), (self.clock)());
                    (Update::Exit { node, reading: Arc::new(reading), at, interval: wanted }, self.pace.well(wanted))
                }
                Err(error) => {
                    let pause = self.pace.failed(wanted);
                    (self.failure(&error, pause), pause)
                }
            };
            if self.out.send(update).await.is_err() || self.rest(&mut wishes, answered, wanted, pause).await.is_none() {
                return;
            }
        }
    }

    fn failure(&self, error: &Error, pause: std::time::Duration) -> Update {
        let at = (self.clock)();
        Update::Failed {
            source: SourceId::Exit,
            node: Some(self.node.clone()),
            kind: kind(error),
            text: self.named(error.to_string()).into(),
            help: Some(error.help().into()),
            at,
            next_try: at.checked_add(pause).ok(),
        }
    }

    /// The text with the node's name in it: a command's own name says little.
    fn named(&self, text: String) -> String {
        if text.contains(&self.node) { text } else { format!("{}: {text}", self.node) }
    }

    /// Waits for the next turn: the pause, a wish to read now, or counters coming on screen. `None` = all is over.
    async fn rest(
        &self,
        wishes: &mut Wishes,
        answered: u64,
        interval_now: SignedDuration,
        pause: std::time::Duration,
    ) -> Option<()> {
        let until = tokio::time::sleep(pause);
        tokio::pin!(until);
        loop {
            tokio::select! {
                () = &mut until => return Some(()),
                changed = wishes.demand.changed() => {
                    changed.ok()?;
                    if interval(&wishes.demand.borrow_and_update()) < interval_now {
                        return Some(());
                    }
                }
                wish = wishes.refresh.wait_for(|r| r.exit != answered) => return wish.ok().map(drop),
            }
        }
    }
}
