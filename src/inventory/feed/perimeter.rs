//! The worker of the perimeter: one request after the other, polls at least ten seconds apart, since OPNsense once hung
//! under load (domain.md §9, T21). What hardly changes is read once a minute.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::hub::Update;
use super::pace::Pace;
use super::proxmox::Gone;
use super::{Clock, FW_INTERVAL, Wishes};
use crate::backends::opnsense::model::{Aliases, NotRead, RuleSet, SourceNat};
use crate::backends::opnsense::{Client, Error};
use crate::inventory::readings::{FwReading, fw_gap};
use crate::inventory::source::{Gap, GapKind, Seen, SourceId};

/// After how long what hardly changes is read again.
const SLOW: Duration = Duration::from_secs(60);

/// The worker.
pub(super) struct Worker {
    client: Client,
    clock: Clock,
    out: mpsc::Sender<Update>,
    pace: Pace,
    reading: FwReading,
    /// When what hardly changes was last read in full.
    slow: Option<Instant>,
    round: Round,
    published: bool,
}

/// How the parts of one poll fared.
#[derive(Default)]
struct Round {
    /// Some part was read.
    answered: bool,
    /// The last part had no answer at all.
    silent: bool,
    /// The first refusal.
    denied: Option<Error>,
}

impl Round {
    /// Takes the outcome of a part. A wrong key, and a router that stays silent, end the poll: the first part without an
    /// answer where none had one before, else the second in a row.
    fn take<T>(&mut self, outcome: Result<T, Error>) -> Result<Seen<T>, Error> {
        let error = match outcome {
            Ok(value) => {
                (self.answered, self.silent) = (true, false);
                return Ok(Ok(value));
            }
            Err(error) => error,
        };
        match &error {
            Error::NoCredentials | Error::Unauthenticated { .. } => return Err(error),
            Error::Http(_) if self.silent || !self.answered => return Err(error),
            Error::Http(_) => self.silent = true,
            other => {
                // A refusal is an answer too, though nothing was read.
                self.silent = false;
                if matches!(other, Error::Denied { .. }) && self.denied.is_none() {
                    self.denied = Some(error.clone());
                } else if !matches!(other, Error::Denied { .. }) {
                    self.answered = true;
                }
            }
        }
        Ok(Err(fw_gap(&error)))
    }
}

/// Reads one part into its place.
macro_rules! part {
    ($worker:ident . $field:ident = $read:expr) => {{
        let outcome = $read.await;
        $worker.reading.$field = $worker.round.take(outcome)?.map(Into::into);
    }};
}

/// Takes a part into its place. One that failed leaves what was read before, beside the reason; what a right is missing
/// for is not shown.
fn keep<T>(place: &mut Seen<T>, old: &mut Option<Gap>, seen: Seen<T>) {
    *old = None;
    match seen {
        Err(gap) if place.is_ok() && gap.kind != GapKind::Denied => *old = Some(gap),
        seen => *place = seen,
    }
}

impl Worker {
    pub(super) fn new(client: Client, clock: &Clock, out: &mpsc::Sender<Update>) -> Self {
        Self {
            pace: Pace::new(client.origin()),
            reading: FwReading::empty(clock()),
            client,
            clock: Arc::clone(clock),
            out: out.clone(),
            slow: None,
            round: Round::default(),
            published: false,
        }
    }

    /// Reads until nobody listens.
    pub(super) async fn run(mut self, mut wishes: Wishes) {
        loop {
            // Taken before the poll: a wish that comes while it runs is for another one.
            let answered = wishes.wished(SourceId::Fw);
            self.client.begin_poll().await;
            let begun = Instant::now();
            let before = self.reading.clone();
            let told = match self.poll().await {
                Ok(()) => self.publish().await.map(|()| self.pace.well(FW_INTERVAL)),
                Err(error) => {
                    // What a poll that failed put in place of what was read is no reading.
                    self.reading = before;
                    let pause = self.pace.failed(FW_INTERVAL);
                    self.report(&error, pause).await.map(|()| pause)
                }
            };
            let Ok(pause) = told else { return };
            let rest = pause.saturating_sub(begun.elapsed());
            if wishes.rest(SourceId::Fw, answered, rest).await.is_none() {
                return;
            }
        }
    }

    /// One poll. Fails when the key is wrong, nothing answers, or every part was refused.
    async fn poll(&mut self) -> Result<(), Error> {
        self.round = Round::default();
        let slow = self.slow.is_none_or(|at| at.elapsed() >= SLOW);
        let begun = Instant::now();
        if slow {
            // First, since it tells in which spelling the rest is asked for; and a wrong key is one request a try.
            part!(self.release = self.client.release());
        }
        self.rows(slow).await?;
        self.reading.at = (self.clock)();
        if !self.published && self.round.answered {
            // The first rows do not wait for what hardly changes.
            self.publish().await.ok();
        }
        self.states().await?;
        if slow {
            self.seldom().await?;
            self.slow = Some(begun);
        }
        match self.round.denied.take() {
            Some(error) if !self.round.answered => {
                self.slow = None;
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// What rows are made of.
    async fn rows(&mut self, slow: bool) -> Result<(), Error> {
        let seen = self.round.take(rules(&self.client).await)?;
        keep(&mut self.reading.rules, &mut self.reading.rules_old, seen);
        if slow {
            part!(self.interfaces = self.client.interfaces());
        }
        let seen = self.round.take(self.client.forwards().await)?.map(Into::into);
        keep(&mut self.reading.forwards, &mut self.reading.forwards_old, seen);
        Ok(())
    }

    /// What says how the router does.
    async fn states(&mut self) -> Result<(), Error> {
        part!(self.system = self.client.system_status());
        part!(self.resolver_state = self.client.resolver_state());
        part!(self.gateway_health = self.client.gateway_health());
        Ok(())
    }

    /// What hardly changes.
    async fn seldom(&mut self) -> Result<(), Error> {
        part!(self.aliases = aliases(&self.client));
        part!(self.routes = self.client.static_routes());
        part!(self.kernel_routes = self.client.kernel_routes());
        part!(self.gateways = self.client.gateways());
        part!(self.source_nat = source_nat(&self.client));
        part!(self.resolver = resolver(&self.client));
        part!(self.states = self.client.state_table());
        Ok(())
    }

    async fn publish(&mut self) -> Result<(), Gone> {
        self.published = true;
        self.reading.requests = self.client.requests().total;
        let update = Update::Fw { reading: Arc::new(self.reading.clone()), gaps: gaps(&self.reading) };
        self.out.send(update).await.map_err(|_| Gone)
    }

    async fn report(&self, error: &Error, pause: Duration) -> Result<(), Gone> {
        let at = (self.clock)();
        let gap = fw_gap(error);
        let update = Update::failed(SourceId::Fw, gap.kind, (gap.why, error.help()), at, pause);
        self.out.send(update).await.map_err(|_| Gone)
    }
}

async fn rules(client: &Client) -> Result<Arc<RuleSet>, Error> {
    client.rules().await.map(Arc::new)
}

async fn aliases(client: &Client) -> Result<Arc<Aliases>, Error> {
    client.aliases().await.map(Arc::new)
}

async fn source_nat(client: &Client) -> Result<Arc<SourceNat>, Error> {
    client.source_nat().await.map(Arc::new)
}

async fn resolver(client: &Client) -> Result<Arc<crate::backends::opnsense::model::ResolverSettings>, Error> {
    client.resolver_settings().await.map(Arc::new)
}

/// Parts that an answering router refused or could not give, each said once.
fn gaps(r: &FwReading) -> Vec<Gap> {
    let old = [r.rules_old.as_ref(), r.forwards_old.as_ref()].into_iter().flatten();
    let mut out: Vec<Gap> = r.holes().chain(old).filter(|g| g.kind != GapKind::NotRead).cloned().collect();
    let within = |parts: &[NotRead]| parts.iter().map(|n| fw_gap(&n.why).about(n.what)).collect::<Vec<_>>();
    out.extend(r.rules.iter().flat_map(|set| within(&set.not_read)));
    out.extend(r.aliases.iter().flat_map(|all| within(&all.not_read)));
    out.extend(r.source_nat.iter().flat_map(|nat| within(&nat.not_read)));
    let mut told = std::collections::BTreeSet::new();
    out.retain(|gap| told.insert(Arc::clone(&gap.why)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_failed_keeps_what_was_read_before_and_says_so() {
        let (mut place, mut old) = (Ok(1), None);
        let silent = Gap::new(GapKind::NoAnswer, "no answer");
        keep(&mut place, &mut old, Err(silent.clone()));
        assert_eq!((&place, &old), (&Ok(1), &Some(silent.clone())));
        keep(&mut place, &mut old, Ok(2));
        assert_eq!((&place, &old), (&Ok(2), &None));
        let denied = Gap::new(GapKind::Denied, "not permitted");
        keep(&mut place, &mut old, Err(denied.clone()));
        assert_eq!((&place, &old), (&Err(denied), &None));
        keep(&mut place, &mut old, Err(silent.clone()));
        assert_eq!((place, old), (Err(silent), None), "there is nothing to keep");
        let reading = FwReading {
            rules_old: Some(Gap::new(GapKind::NoAnswer, "late")),
            ..FwReading::empty(jiff::Timestamp::UNIX_EPOCH)
        };
        assert_eq!(gaps(&reading).iter().map(|g| &*g.why).collect::<Vec<_>>(), ["late"]);
    }
}
