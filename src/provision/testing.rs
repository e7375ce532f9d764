//! Objects in memory, for tests of what all objects have in common.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::fields::{Difference, Fields, Seen, fields};
use super::object::{Danger, Doing, Ensure, Looking, Object, Place, Undo};
use super::plan::{Plan, Step, Subject};
use super::trouble::{Trouble, TroubleKind};
use super::world::{Context, Patience, World};
use crate::backends::permit::Permit;
use crate::inventory::testing as invented;

/// What happens to one try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It does not arrive.
    NotReached,
    /// It is done, and the answer is lost.
    AnswerLost,
    /// It is lost, and so is the answer.
    Lost,
    /// It is done when it was looked at that many times more, and the answer is lost.
    Late(u32),
    /// Refused.
    Refused,
    /// Answered with yes, and not done.
    Empty,
    /// Never answered.
    Hangs,
}

#[derive(Debug, Default)]
struct Store {
    there: BTreeMap<String, Fields>,
    faults: BTreeMap<String, Vec<Fault>>,
    late: Vec<(u32, String, Difference)>,
    /// Every change that was made, in order.
    done: Vec<String>,
    untold: Vec<String>,
}

/// All objects of a test.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bench(Arc<Mutex<Store>>);

impl Bench {
    fn with<R>(&self, act: impl FnOnce(&mut Store) -> R) -> R {
        act(&mut self.0.lock().expect("no test panics with it"))
    }

    pub(crate) fn put(&self, id: &str, with: Fields) {
        self.with(|s| s.there.insert(id.to_owned(), with));
    }

    pub(crate) fn there(&self) -> BTreeMap<String, Fields> {
        self.with(|s| s.there.clone())
    }

    pub(crate) fn done(&self) -> Vec<String> {
        self.with(|s| s.done.clone())
    }

    /// What happens to the next tries of an object, in order.
    pub(crate) fn fail(&self, id: &str, faults: &[Fault]) {
        self.with(|s| s.faults.insert(id.to_owned(), faults.iter().rev().copied().collect()));
    }

    /// The object cannot be told, or can again.
    pub(crate) fn untold(&self, id: &str, untold: bool) {
        self.with(|s| {
            s.untold.retain(|own| own != id);
            if untold {
                s.untold.push(id.to_owned());
            }
        });
    }
}

impl Store {
    /// As the fabric does it: what is made or changed is staged until it is applied.
    fn carry_out(&mut self, id: &str, todo: &Difference) {
        if id == "apply" {
            self.done.push(format!("!{id}"));
            self.there.values_mut().for_each(|fields| drop(fields.remove("staged")));
            return;
        }
        let verb = match todo {
            Difference::Nothing => return,
            Difference::Create(_) => "+",
            Difference::Update(_) => "~",
            Difference::Delete(_) => "-",
        };
        self.done.push(format!("{verb}{id}"));
        if matches!(todo, Difference::Delete(_)) {
            self.there.remove(id);
            return;
        }
        let now = self.there.entry(id.to_owned()).or_default();
        for change in todo.changes() {
            match &change.will_be {
                Some(value) => now.insert(change.field.clone(), value.clone()),
                None => now.remove(&change.field),
            };
        }
        if id != "lock" {
            now.insert("staged".to_owned(), "yes".to_owned());
        }
    }

    fn look(&mut self, id: &str) -> Option<Fields> {
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.late).into_iter().partition(|l| l.0 == 0);
        self.late = later.into_iter().map(|(looks, id, todo)| (looks - 1, id, todo)).collect();
        due.iter().for_each(|(_, id, todo)| self.carry_out(id, todo));
        self.there.get(id).cloned()
    }
}

/// An object of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thing {
    pub(crate) id: String,
    pub(crate) place: Place,
    pub(crate) danger: Danger,
    /// What it is: `object`, `lock`, `apply`, `final`.
    pub(crate) role: String,
}

impl Ensure for Thing {
    fn in_one(&self) -> bool {
        true
    }

    fn place(&self) -> Place {
        self.place
    }

    fn name(&self) -> String {
        format!("thing {}", self.id)
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        self.danger
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        match self.role.as_str() {
            "lock" => Undo::First,
            "apply" => Undo::Again,
            "final" => Undo::None("what it held is gone"),
            _ => Undo::Inverse,
        }
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let bench = &context.world.bench;
            if bench.with(|s| s.untold.contains(&self.id)) {
                return Err(Trouble::new(TroubleKind::NotReached, format!("{} does not answer", self.id)));
            }
            if self.role == "apply" {
                let staged = bench.there();
                let staged = staged.iter().filter(|(id, f)| *id != &self.id && f.contains_key("staged"));
                return Ok(Seen::Present(fields(staged.map(|(id, _)| (id.clone(), "staged")))));
            }
            let there = bench.with(|s| s.look(&self.id));
            // A lock that nothing was noted of may be anybody's.
            if self.role == "lock" && there.is_some() && context.notes.get("lock").is_none() {
                return Ok(Seen::Present(fields([("by", "unknown")])));
            }
            // Whether it waits to be applied is the apply's to tell.
            let without = |mut fields: Fields| {
                fields.remove("staged");
                Seen::Present(fields)
            };
            Ok(there.map_or(Seen::Absent, without))
        })
    }

    fn difference(&self, seen: &Seen, wanted: &super::fields::Wanted) -> Difference {
        match seen {
            Seen::Present(staged) if self.role == "apply" => {
                let changes: Vec<_> =
                    staged.keys().map(|id| super::fields::Change::set(id, Some("staged"), "")).collect();
                if changes.is_empty() { Difference::Nothing } else { Difference::Update(changes) }
            }
            _ => Difference::between(seen, wanted),
        }
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            assert!(permit.plan().starts_with("C-"), "the permit names its change");
            let bench = &context.world.bench;
            let fault = bench.with(|s| s.faults.get_mut(&self.id).and_then(Vec::pop));
            let act = || bench.with(|s| s.carry_out(&self.id, todo));
            let unsettled = || Err(Trouble::new(TroubleKind::Unsettled, "no answer"));
            match fault {
                None => act(),
                Some(Fault::NotReached) => return Err(Trouble::new(TroubleKind::NotReached, "not reached")),
                Some(Fault::Lost) => return unsettled(),
                Some(Fault::AnswerLost) => {
                    act();
                    return unsettled();
                }
                Some(Fault::Late(looks)) => {
                    bench.with(|s| s.late.push((looks, self.id.clone(), todo.clone())));
                    return unsettled();
                }
                Some(Fault::Refused) => return Err(Trouble::new(TroubleKind::Refused, "no").with_help("ask")),
                Some(Fault::Empty) => {}
                Some(Fault::Hangs) => std::future::pending::<()>().await,
            }
            // Known only once it was answered, as the token of a real lock.
            if self.role == "lock" && fault.is_none() {
                context.notes.set("lock", "held", context.now())?;
            }
            Ok(())
        })
    }

    fn riders(&self, seen: &Seen, own: &[Step]) -> Vec<String> {
        let ours: Vec<&str> = own
            .iter()
            .filter_map(|step| if let Object::Thing(thing) = &step.object { Some(thing.id.as_str()) } else { None })
            .collect();
        match seen {
            Seen::Present(staged) if self.role == "apply" => {
                staged.keys().filter(|id| !ours.contains(&id.as_str())).cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    fn give_back<'a>(&'a self, context: &'a Context, _permit: &'a Permit) -> Option<Doing<'a>> {
        context.notes.get("lock").filter(|_| self.role == "lock")?;
        Some(Box::pin(async move {
            let fault = context.world.bench.with(|s| s.faults.get_mut(&format!("free {}", self.id)).and_then(Vec::pop));
            if fault == Some(Fault::Refused) {
                context.notes.set("lock", "", context.now())?;
                return Err(Trouble::new(TroubleKind::Moved, "somebody else has it now"));
            }
            if fault.is_some() {
                return Err(Trouble::new(TroubleKind::NotReached, "not reached"));
            }
            context.world.bench.with(|s| s.there.remove(&self.id));
            context.notes.set("lock", "", context.now())
        }))
    }
}

/// An object of the fabric that can be taken back.
pub(crate) fn thing(id: &str) -> Object {
    role(id, "object", Danger::One)
}

pub(crate) fn role(id: &str, role: &str, danger: Danger) -> Object {
    Object::Thing(Thing { id: id.to_owned(), place: Place::Pve, danger, role: role.to_owned() })
}

/// A plan of the invented site.
pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    Plan {
        site: invented::site().name,
        title: "Make things".to_owned(),
        subject: Subject { name: "tdemo".to_owned(), tenant: Some("tdemo".to_owned()) },
        steps,
        reach: None,
    }
}

/// The invented site with a bench, no clients, and waits that take no time.
pub(crate) fn world() -> Arc<World> {
    let none = || Trouble::new(TroubleKind::Unknown, "no client in this test");
    Arc::new(World {
        site: Arc::new(invented::site()),
        proxmox: Err(none()),
        powerdns: Err(none()),
        opnsense: Err(none()),
        registry: None,
        exit_nodes: Vec::new(),
        clock: Arc::new(invented::now),
        sleep: Arc::new(|_| Box::pin(tokio::task::yield_now())),
        patience: Patience { between: Duration::ZERO, looks: 4, tries: 3, ..Patience::default() },
        bench: Bench::default(),
    })
}

/// Nobody stops it. The sender has to be kept.
pub(crate) fn unstopped() -> (watch::Sender<bool>, watch::Receiver<bool>) {
    watch::channel(false)
}
