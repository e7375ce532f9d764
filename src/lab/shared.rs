//! What the servers of a lab share: the undisturbed world, the faults that are on, and the world they make together.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::acting::Agenda;
use super::dns::Role;
use super::faults::{Fault, FaultError};
use super::gate::Gates;
use super::node::files::Files;
use super::readings::Readings;
use super::state::World;
use super::{Clock, Pace, http, node};

/// What the servers share: the undisturbed world, the faults that are on, and the world they make together.
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) dir: PathBuf,
    pub(super) program: PathBuf,
    pub(super) state: Mutex<Shifting>,
    pub(super) written: Mutex<Files>,
    /// Pings that the exit node's connection table may still hold, oldest first.
    pub(super) echoes: Mutex<Vec<node::Echo>>,
    /// The perimeter's resolver with what it keeps, whoever asks it.
    pub(super) resolver: Role,
    /// What the perimeter's API has to bear.
    pub(super) opnsense_load: http::Load,
    /// Who stands between clients and the servers.
    pub(super) gates: Gates,
    /// What readings of the exit node printed.
    pub(super) readings: Readings,
    /// Another authority's certificate for the same address.
    pub(super) stranger: tokio_rustls::TlsAcceptor,
}

pub(super) struct Shifting {
    pub(super) base: Arc<World>,
    pub(super) active: Vec<Fault>,
    pub(super) current: Arc<World>,
    /// Counts changes by hand: what servers keep from before one is forgotten.
    pub(super) epoch: u64,
    /// How time passes for what takes some.
    pub(super) pace: Pace,
    /// What is still to be done.
    pub(super) agenda: Agenda,
}

impl Shifting {
    pub(super) fn refresh(&mut self) -> Result<(), FaultError> {
        let mut world = Arc::clone(&self.base);
        for fault in &self.active {
            fault.apply(Arc::make_mut(&mut world))?;
        }
        self.current = world;
        Ok(())
    }

    /// Replaces the faults; nothing changes if one of them cannot be.
    pub(super) fn set(&mut self, active: Vec<Fault>) -> Result<(), FaultError> {
        let before = std::mem::replace(&mut self.active, active);
        self.epoch += 1;
        self.refresh().inspect_err(|_| self.active = before)
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, Shifting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn world(&self) -> Arc<World> {
        let now = self.now_ms();
        let mut state = self.state();
        state.settle(now);
        Arc::clone(&state.current)
    }

    pub(super) fn now(&self) -> i64 {
        (self.clock)().as_second()
    }

    /// Runs a program of the exit node, and keeps what it leaves behind in the connection table.
    pub(super) fn run(&self, run: &node::Run) -> node::Output {
        let (world, now) = (self.world(), self.now());
        let mut echoes = self.echoes.lock().unwrap_or_else(PoisonError::into_inner);
        // What is forgotten stays until all is: a ping keeps its number.
        if !echoes.iter().any(|echo| echo.tracked(now)) {
            echoes.clear();
        }
        echoes.extend(node::echo(&world, now, run));
        node::run_after(&world, now, run, &echoes)
    }

    pub(super) fn faults(&self) -> Vec<String> {
        self.state().active.iter().map(Fault::to_string).collect()
    }

    pub(super) fn fault_on(&self, text: &str) -> Result<(), FaultError> {
        let mut state = self.state();
        let fault = Fault::parse(text)?.settled(&state.base, self.now())?;
        let mut active = state.active.clone();
        if !active.contains(&fault) {
            active.push(fault);
            active.sort();
        }
        state.set(active)
    }

    pub(super) fn fault_off(&self, text: &str) -> Result<(), FaultError> {
        let mut state = self.state();
        let fault = Fault::parse(text)?;
        let active = state.active.iter().filter(|on| !fault.covers(on)).cloned().collect();
        state.set(active)
    }

    pub(super) fn edit(&self, change: impl FnOnce(&mut World)) -> Result<(), FaultError> {
        let mut state = self.state();
        change(Arc::make_mut(&mut state.base));
        state.epoch += 1;
        state.refresh()
    }

    /// The current world, and how often it was changed by hand.
    pub(super) fn epoch(&self) -> (u64, Arc<World>) {
        let now = self.now_ms();
        let mut state = self.state();
        state.settle(now);
        (state.epoch, Arc::clone(&state.current))
    }
}
