//! What changes the world from outside: deeds, at once or later, under the faults that are on.
//!
//! A request is judged in the world as it is served, faults and all. What it does is done to the undisturbed world, and
//! the faults are laid over it anew. A fault that would undo what was done is over: whoever starts a machine that a fault
//! had stopped has repaired it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::faults::Fault;
use super::pve::{self, Request};
use super::sdn::Kind;
use super::state::World;
use super::{Shared, Shifting};

/// A change of the world at a moment, in seconds since the epoch.
pub(super) type Deed = Arc<dyn Fn(&mut World, i64) + Send + Sync>;

/// How time passes for what takes some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// By the lab's clock: about a second for most tasks.
    #[default]
    Clock,
    /// Not at all: a task has ended when its number is given out.
    Instant,
    /// When [`super::Lab::step`] says so.
    Steps,
}

/// What a request does.
#[derive(Default)]
pub(super) struct Act {
    /// Milliseconds from now, and what is done then; at zero before the answer is given.
    steps: Vec<(i64, Deed)>,
}

impl Act {
    /// Does something before the answer is given.
    pub(super) fn now(&mut self, deed: impl Fn(&mut World, i64) + Send + Sync + 'static) {
        self.after(0, deed);
    }

    /// Does something so many milliseconds later.
    pub(super) fn after(&mut self, ms: i64, deed: impl Fn(&mut World, i64) + Send + Sync + 'static) {
        self.steps.push((ms, Arc::new(deed)));
    }
}

/// What is still to be done, in the order of its time: milliseconds since the epoch, and the deed.
pub(super) type Agenda = Vec<(i64, Deed)>;

impl Shifting {
    /// Does what is due at `now` (milliseconds since the epoch).
    pub(super) fn settle(&mut self, now: i64) {
        while self.pace == Pace::Clock && self.agenda.first().is_some_and(|(due, _)| *due <= now) {
            self.next(now);
        }
    }

    /// Does the next thing on the agenda, at its time or at `now` where that comes first; false when there is none.
    pub(super) fn next(&mut self, now: i64) -> bool {
        if self.agenda.is_empty() {
            return false;
        }
        let (due, deed) = self.agenda.remove(0);
        self.perform(&[deed], due.min(now).div_euclid(1000));
        true
    }

    fn act(&mut self, act: Act, now: i64) {
        let (at_once, later): (Vec<_>, Vec<_>) = act.steps.into_iter().partition(|(ms, _)| *ms == 0);
        let at_once: Vec<Deed> = at_once.into_iter().map(|(_, deed)| deed).collect();
        if !at_once.is_empty() {
            self.perform(&at_once, now.div_euclid(1000));
        }
        for (ms, deed) in later {
            let due = now + ms;
            let place = self.agenda.partition_point(|(other, _)| *other <= due);
            self.agenda.insert(place, (due, deed));
        }
        while self.pace == Pace::Instant && self.next(now) {}
    }

    /// Does something at `now` (seconds since the epoch).
    pub(super) fn perform(&mut self, deeds: &[Deed], now: i64) {
        let before = Arc::clone(&self.current);
        let mut wanted = World::clone(&before);
        let base = Arc::make_mut(&mut self.base);
        for deed in deeds {
            deed(base, now);
            deed(&mut wanted, now);
        }
        self.lay_over();
        self.end_faults(&before, &wanted);
    }

    /// Lays the faults over the undisturbed world. One whose target is gone is over.
    fn lay_over(&mut self) {
        while self.refresh().is_err() {
            let base = Arc::clone(&self.base);
            let there = |fault: &Fault| fault.apply(&mut World::clone(&base)).is_ok();
            let left: Vec<Fault> = self.active.iter().filter(|fault| there(fault)).cloned().collect();
            if left.len() == self.active.len() {
                return;
            }
            self.active = left;
        }
    }

    /// Ends the faults that undo what was just done.
    fn end_faults(&mut self, before: &World, wanted: &World) {
        if self.active.is_empty() {
            return;
        }
        let done = changed(before, wanted);
        let undone = |world: &World| changed(world, wanted).intersection(&done).count();
        for at in (0..self.active.len()).rev() {
            let now = undone(&self.current);
            if now == 0 {
                return;
            }
            let fault = self.active.remove(at);
            self.lay_over();
            if undone(&self.current) >= now {
                self.active.insert(at.min(self.active.len()), fault);
                self.lay_over();
            }
        }
    }
}

/// A part of the world that requests change.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Configured(Kind, String),
    Running(Kind, String),
    Lock,
    Guest(u32),
    Node(String),
    MissingVnet(String),
    Vrf(String),
    Zone(String),
    Key(String),
    Forward(String),
}

/// Parts that differ.
fn changed(a: &World, b: &World) -> BTreeSet<Part> {
    let mut out = BTreeSet::new();
    for (kind, id, object) in a.sdn.configured.all().chain(b.sdn.configured.all()) {
        if a.sdn.configured.get(kind, id) != Some(object) || b.sdn.configured.get(kind, id) != Some(object) {
            out.insert(Part::Configured(kind, id.clone()));
        }
    }
    for (kind, id, object) in a.sdn.running.all().chain(b.sdn.running.all()) {
        if a.sdn.running.get(kind, id) != Some(object) || b.sdn.running.get(kind, id) != Some(object) {
            out.insert(Part::Running(kind, id.clone()));
        }
    }
    if a.sdn.lock != b.sdn.lock {
        out.insert(Part::Lock);
    }
    for vmid in a.guests.keys().chain(b.guests.keys()).filter(|vmid| a.guests.get(vmid) != b.guests.get(vmid)) {
        out.insert(Part::Guest(*vmid));
    }
    for (one, other) in a.nodes.iter().zip(&b.nodes) {
        if (one.sdn_version, &one.vnet_errors) != (other.sdn_version, &other.vnet_errors) {
            out.insert(Part::Node(one.name.clone()));
        }
    }
    let missing = a.exit.missing_vnets.symmetric_difference(&b.exit.missing_vnets);
    out.extend(missing.map(|vnet| Part::MissingVnet(vnet.clone())));
    for zone in a.exit.vrfs.keys().chain(b.exit.vrfs.keys()) {
        let of = |world: &World| (world.exit.vrf(zone).local, world.exit.vrf(zone).snat);
        if of(a) != of(b) {
            out.insert(Part::Vrf(zone.clone()));
        }
    }
    changed_names(a, b, &mut out);
    out
}

fn changed_names(a: &World, b: &World, out: &mut BTreeSet<Part>) {
    let (one, other) = (&a.names, &b.names);
    for zone in one.zones.keys().chain(other.zones.keys()).filter(|zone| one.zones.get(*zone) != other.zones.get(*zone))
    {
        out.insert(Part::Zone(zone.clone()));
    }
    for key in one.keys.keys().chain(other.keys.keys()).filter(|key| one.keys.get(*key) != other.keys.get(*key)) {
        out.insert(Part::Key(key.clone()));
    }
    let (one, other) = (&a.perimeter.forwards, &b.perimeter.forwards);
    for row in one.iter().filter(|row| !other.contains(row)).chain(other.iter().filter(|row| !one.contains(row))) {
        out.insert(Part::Forward(row.uuid.clone()));
    }
}

impl Shared {
    /// Milliseconds since the epoch.
    pub(super) fn now_ms(&self) -> i64 {
        (self.clock)().as_millisecond()
    }

    /// Answers a request to the Proxmox API and does what it asks for.
    pub(super) fn proxmox(&self, request: &Request) -> pve::Answer {
        let now = self.now_ms();
        let mut state = self.state();
        state.settle(now);
        let world = Arc::clone(&state.current);
        let (answer, act) = pve::act(&world, now, request);
        if let Some(act) = act {
            state.act(act, now);
        }
        answer
    }
}
