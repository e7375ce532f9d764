//! The way back: a plan made of what a change did.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fields::{Difference, Fields, Seen, Wanted, inverse};
use super::journal::{Entry, StepState};
use super::object::{Ensure as _, Object, Place, Undo};
use super::plan::{Plan, Step};
use super::sdn::{SdnLock, asked_for_lock};
use super::tenant::NothingLives;
use super::trouble::{Trouble, TroubleKind};
use super::vm::{Off, SHUTDOWN, VmGone, VmPower};
use super::world::{Context, World};

/// What can be taken back of a change, and what cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayBack {
    /// The plan of it.
    pub plan: Plan,
    /// What stays, and why.
    pub left: Vec<(String, &'static str)>,
    /// Why it is not to be begun now: something is under way, or cannot be told. The plan leaves that out.
    pub not_yet: Option<Trouble>,
}

/// Why something stays that may be of the change.
const PERHAPS: &str = "perhaps this change's: it asked for it, got no answer and never saw it made; look whose it is";
/// Why something stays that is the change's own.
const BELOW: &str = "something stands on it that is perhaps another's";
/// Why something does not come back.
const WITHOUT: &str = "what it stands on does not come back";

/// Why nothing is done about a machine whose removal was begun, where it is there and not as it was.
const OTHERWISE: &str =
    "it is still there, with other disks than before its removal was begun; decide by hand what is right";
/// The same, where something else is found in its place.
const ELSEWHERE: &str =
    "it was renamed or moved since its removal was begun, or another has its number; decide by hand what is right";
/// Why a machine stays stopped.
const STOPPED: &str = "it ran before and is stopped now, not by this change; start it if it is to run";
/// What to do where it cannot be told what became of a machine.
const LOOK: &str = "look, then undo again";

/// Why a lock stays.
pub(super) const ASKED_FOR: &str = "perhaps held by this change: it asked for it and got no answer; once nobody changes the SDN, `sdn unlock` \
                         frees it";

/// What became of a machine whose removal did not come to its end, or that was asked for and never seen made.
enum Machine {
    /// It is there as it was, stopped at most.
    There {
        /// Whether it is stopped now.
        stopped: bool,
    },
    /// It was never made.
    Never,
    /// It is not as it was: why nothing is done.
    Left(&'static str),
    /// It cannot be told, or somebody else is at work with it: why nothing is taken back now.
    NotYet(Trouble),
}

/// Such machines by the step that was to remove or make each. One that is not among them is gone, or in doubt.
type Machines = BTreeMap<usize, Machine>;

/// What is done to take a change back, as it is put together.
#[derive(Default)]
struct Back {
    /// Objects, last first.
    steps: Vec<(Place, Step)>,
    /// Taken before.
    first: Vec<(Place, Step)>,
    /// Done again, after the objects of their place; met last first.
    again: Vec<(Place, Step)>,
    left: Vec<(String, &'static str)>,
    not_yet: Option<Trouble>,
    /// Objects that do not come back.
    lost: Vec<Object>,
    /// What may be another's and stays, with all that it stands on.
    doubtful: Vec<Step>,
}

impl Back {
    fn of(entry: &Entry, machines: &Machines) -> Self {
        let (mut back, states) = (Self::default(), entry.steps());
        for (number, (step, state)) in entry.plan.steps.iter().zip(&states).enumerate().rev() {
            match machines.get(&number) {
                Some(Machine::There { stopped }) => {
                    back.started(entry, (step, state), *stopped);
                    continue;
                }
                Some(Machine::Left(why)) => {
                    back.left.push((step.object.ensure().name(), why));
                    continue;
                }
                Some(Machine::NotYet(why)) => {
                    back.not_yet = Some(why.clone());
                    continue;
                }
                Some(Machine::Never) => continue,
                None => {}
            }
            let object = step.object.ensure();
            let (place, done) = (object.place(), all_of(state));
            match object.undo(&done) {
                Undo::First => back.first.push((place, step.clone())),
                Undo::Again => back.again.push((place, step.clone())),
                Undo::Nothing => {}
                Undo::None(why) if !done.is_nothing() => back.stays(&step.object, &done, why),
                Undo::None(_) => {}
                Undo::Inverse => back.inverse((entry, &states), (step, state), &done),
            }
        }
        back
    }

    /// Starts a machine again that this change only stopped on its way out. One that somebody else stopped stays as it is.
    fn started(&mut self, entry: &Entry, (step, state): (&Step, &StepState), stopped: bool) {
        let Object::VmGone(gone) = &step.object else { return };
        let ran = state.before.as_ref().and_then(|before| before.field("status")) != Some("stopped");
        if ran && gone.was_stopped(entry) {
            let power = Object::VmPower(VmPower { vm: gone.vm.clone(), off: Off::Shutdown(SHUTDOWN) });
            self.steps.push((power.ensure().place(), Step::present(power, VmPower::running())));
        } else if ran && stopped {
            self.left.push((step.object.ensure().name(), STOPPED));
        }
    }

    /// Takes back what was done in one step.
    fn inverse(
        &mut self,
        (entry, states): (&Entry, &[StepState]),
        (step, state): (&Step, &StepState),
        done: &Difference,
    ) {
        let object = step.object.ensure();
        let Some(wanted) = state.before.as_ref().and_then(|before| inverse(before, done)) else { return };
        let Some(wanted) = object.without(wanted, &self.lost) else {
            return self.stays(&step.object, done, WITHOUT);
        };
        let unseen = matches!(done, Difference::Create(_)) && !state.own;
        let proof = unseen.then(|| proof((entry, states), step));
        let why = match &proof {
            Some(None) => Some(PERHAPS),
            _ if wanted == Wanted::Absent && self.doubtful.iter().any(|other| stands_on(other, step)) => Some(BELOW),
            _ => None,
        };
        if let Some(why) = why {
            self.left.push((object.name(), why));
            self.doubtful.push(step.clone());
            return;
        }
        // A later step of the change may have gone on with the same object.
        let mut same = entry.plan.steps.iter().zip(states).rev().filter(|(s, _)| s.object == step.object);
        let left_as = left_unseen(step, state, done).or_else(|| same.find_map(|(_, state)| state.after.clone()));
        let (object, proof) = (step.object.clone(), proof.flatten());
        self.steps.push((step.object.ensure().place(), Step { object, wanted, follows: false, left_as, proof }));
    }

    fn stays(&mut self, object: &Object, done: &Difference, why: &'static str) {
        self.left.push((object.ensure().name(), why));
        if matches!(done, Difference::Delete(_)) {
            self.lost.push(object.clone());
        }
    }
}

/// What proves that a thing is the change's own that it asked for and never saw made; `None` = nothing does.
fn proof((entry, states): (&Entry, &[StepState]), step: &Step) -> Option<Fields> {
    let wanted = asked(&step.wanted);
    if let Object::DnsRecords(records) = &step.object {
        // It goes with its zone, whoever wrote it, where the change made that.
        let made = |(other, state): (&Step, &StepState)| {
            matches!(&other.object, Object::DnsZone(zone) if zone.zone == records.zone)
                && matches!(state.todo.first(), Some(Difference::Create(_)))
        };
        return entry.plan.steps.iter().zip(states).any(made).then_some(wanted);
    }
    step.object.ensure().proof(&wanted, &entry.notes())
}

/// Whether what one step made is in the way of taking back the other: Proxmox removes nothing that holds something.
fn stands_on(other: &Step, step: &Step) -> bool {
    match (&other.object, &step.object) {
        (Object::SdnSubnet(subnet), Object::SdnVnet(vnet)) => subnet.vnet == vnet.vnet,
        (Object::SdnSubnet(subnet), Object::SdnZone(zone)) => subnet.zone == zone.zone,
        (Object::SdnVnet(_), Object::SdnZone(zone)) => asked(&other.wanted).get("zone") == Some(&zone.zone),
        // A change makes machines in its own tenant's network alone.
        (Object::VmClone(_), Object::SdnZone(_) | Object::SdnVnet(_) | Object::SdnSubnet(_)) => true,
        _ => false,
    }
}

/// What an update that nobody saw done would have left: what is neither that nor as it was before, somebody else changed since.
fn left_unseen(step: &Step, state: &StepState, done: &Difference) -> Option<Seen> {
    // The keys of a zone are on the way as they neither were nor are to be.
    if state.after.is_some() || matches!(step.object, Object::DnsZone(_)) {
        return None;
    }
    let (Some(Seen::Present(before)), Difference::Update(changes)) = (&state.before, done) else { return None };
    let mut left = before.clone();
    for change in changes {
        match &change.will_be {
            Some(value) => left.insert(change.field.clone(), value.clone()),
            None => left.remove(&change.field),
        };
    }
    Some(Seen::Present(left))
}

fn asked(wanted: &Wanted) -> Fields {
    match wanted {
        Wanted::Absent => Fields::new(),
        Wanted::Present(fields) => fields.clone(),
    }
}

/// The same as [`way_back`], with what only looking tells: a machine whose removal was begun may be there still, with its disks;
/// one that was asked for, and never seen made, may never have been.
pub async fn way_back_now(world: &Arc<World>, entry: &Entry) -> WayBack {
    let (context, states) = (Context::looking(world, entry.notes()), entry.steps());
    let mut machines = Machines::new();
    for (number, (step, state)) in entry.plan.steps.iter().zip(&states).enumerate() {
        if let Some(machine) = became(&context, entry, (step, state)).await {
            machines.insert(number, machine);
        }
    }
    made(entry, &machines)
}

/// What became of the machine of a step; `None` where the journal tells, or nothing does.
async fn became(context: &Context, entry: &Entry, (step, state): (&Step, &StepState)) -> Option<Machine> {
    let before = state.before.as_ref().filter(|_| !state.verified)?;
    match &step.object {
        Object::VmGone(gone) => {
            // Asked first: what ends in between is seen gone then.
            let going = gone.may_be_going(context, entry.last()).await;
            let now = match gone.observe(context).await {
                Ok(now) => now,
                Err(why) => return unlooked(context, gone, before, &why).await,
            };
            let same = |field: &&str| now.field(field) == before.field(field);
            match going {
                _ if now == Seen::Absent => None,
                // Another machine of that name: the one that was meant is gone.
                _ if now.field("uuid").is_some() && before.field("uuid").is_some() && !same(&"uuid") => None,
                _ if !["name", "uuid", "disks"].iter().all(same) => Some(Machine::Left(OTHERWISE)),
                Ok(None) => Some(Machine::There { stopped: now.field("status") == Some("stopped") }),
                Ok(Some(why)) => Some(Machine::NotYet(why)),
                Err(why) => Some(Machine::NotYet(untold(gone, &why))),
            }
        }
        Object::VmClone(clone) if !state.todo.is_empty() => {
            matches!(clone.observe(context).await, Ok(Seen::Absent)).then_some(Machine::Never)
        }
        _ => None,
    }
}

/// The same of a machine that cannot be looked at: what stands in its place is known where it was read, and waiting changes
/// nothing about that.
async fn unlooked(context: &Context, gone: &VmGone, before: &Seen, why: &Trouble) -> Option<Machine> {
    if let (TroubleKind::Refused, Ok(client)) = (why.kind, context.world.proxmox()) {
        match client.vm_config(&gone.vm.node, gone.vm.vmid).await {
            Ok(now) if now.name.as_ref() != Some(&gone.vm.name) => {
                let (was, is) = (before.field("uuid").filter(|uuid| !uuid.is_empty()), now.smbios_uuid.as_deref());
                // Another took its number: the one that was meant is gone.
                let anothers = was.is_some() && is.is_some() && was != is;
                return (!anothers).then_some(Machine::Left(ELSEWHERE));
            }
            Err(error) if error.is_absent() => return Some(Machine::Left(ELSEWHERE)),
            _ => {}
        }
    }
    Some(Machine::NotYet(untold(gone, why)))
}

/// Why it cannot be told what became of a machine.
fn untold(gone: &VmGone, why: &Trouble) -> Trouble {
    let text = format!("whether {} and its disks are still there cannot be told: {why}", gone.name());
    let help = why.help().map_or_else(|| LOOK.to_owned(), |help| format!("{help}; then undo again"));
    Trouble::new(TroubleKind::Unknown, text).with_help(help)
}

/// The plan that takes a change back: what it did, last first. Locks are taken before, and what applies the changes of a place
/// runs after the last of them.
#[must_use]
pub fn way_back(entry: &Entry) -> WayBack {
    made(entry, &Machines::new())
}

fn made(entry: &Entry, machines: &Machines) -> WayBack {
    let Back { steps: backs, first, again, mut left, not_yet, .. } = Back::of(entry, machines);
    if asked_for_lock(&entry.notes()).is_some() {
        left.push((SdnLock::default().name(), ASKED_FOR));
    }
    let touched = |place: Place| backs.iter().rposition(|(own, _)| *own == place);
    // An apply of the fabric writes FRR's configuration anew: what goes on the exit nodes goes before it, under the same lock.
    let over = |place: Place| match place {
        Place::Pve => touched(place).map(|last| last.max(touched(Place::Exit).unwrap_or(last))),
        place => touched(place),
    };
    let mut steps: Vec<Step> = first.into_iter().filter(|(p, _)| touched(*p).is_some()).map(|(_, step)| step).collect();
    for (number, (_, step)) in backs.iter().enumerate() {
        steps.push(step.clone());
        // They were met last first.
        let of = again.iter().rev().filter(|(place, _)| over(*place) == Some(number));
        steps.extend(of.map(|(_, step)| step.clone().following()));
    }
    guard(entry, &mut steps);
    let plan = Plan {
        site: entry.plan.site.clone(),
        title: format!("Undo {}: {}", entry.id, entry.plan.title),
        subject: entry.plan.subject.clone(),
        steps,
        reach: None,
    };
    WayBack { plan, left, not_yet }
}

/// A network is not taken from what lives on it: Proxmox would.
fn guard(entry: &Entry, steps: &mut Vec<Step>) {
    let network = |step: &Step| {
        matches!(step.object, Object::SdnZone(_) | Object::SdnVnet(_) | Object::SdnSubnet(_))
            && step.wanted == Wanted::Absent
    };
    if let (Some(at), Some(tenant)) = (steps.iter().position(network), entry.plan.subject.tenant.clone()) {
        // Told once the machines of this very change are gone.
        steps.insert(at, Step::present(Object::NothingLives(NothingLives { tenant }), Fields::new()).following());
    }
}

/// All that was to be done in a step, over all runs.
fn all_of(state: &StepState) -> Difference {
    let mut all = state.todo.iter();
    let Some(first) = all.next() else { return Difference::Nothing };
    let mut changes = first.changes().to_vec();
    for change in all.flat_map(Difference::changes) {
        if !changes.iter().any(|known| known.field == change.field) {
            changes.push(change.clone());
        }
    }
    match first {
        Difference::Create(_) => Difference::Create(changes),
        Difference::Delete(_) => Difference::Delete(changes),
        Difference::Nothing | Difference::Update(_) => Difference::Update(changes),
    }
}

#[cfg(test)]
mod tests;
