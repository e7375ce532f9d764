//! Changes that were noted: a journal of steps, a JSON object a line, each with its plan and its number; and what a console's own
//! journal tells of changes that did not come to their end, as one document.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::rows::number;
use super::sdn::{Pending, text};
use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::{Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[steps, changes];

/// The word in the name of what is read as one.
const CALLED: &str = "journal";

/// A step that was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The plan it is of.
    pub plan: String,
    /// Its number, from 1.
    pub number: u64,
    /// What it does.
    pub what: String,
    /// How it ended; `None` = that was not noted any more.
    pub result: Option<String>,
    /// When it was sent, as noted.
    pub sent_at: Option<String>,
    /// The task that it became.
    pub upid: Option<String>,
}

/// Name of the form of open changes.
pub const CHANGES: &str = "deevnet-console/changes/v1";
/// What their item is called.
pub const OF_CHANGES: &str = "changes from here that did not come to their end";

/// What the console's own journal tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// [`CHANGES`].
    pub schema: String,
    /// Why not all of it was told.
    #[serde(default)]
    pub lack: Option<String>,
    /// Changes that are open, the oldest first.
    pub open: Vec<Open>,
}

/// A change that did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// Its number: `C-0042`.
    pub id: String,
    /// What was to be done.
    pub title: String,
    /// Who ran it last.
    pub who: String,
    /// The last that is known of it.
    pub last: Timestamp,
    /// Whether some console runs it now; `None` = that could not be told.
    pub running: Option<bool>,
    /// The tenant that it is about, where it is about one.
    #[serde(default)]
    pub tenant: Option<String>,
    /// When it asked for the SDN lock that it has, or may have.
    #[serde(default)]
    pub lock: Option<Timestamp>,
    /// Whether it was given the lock.
    #[serde(default)]
    pub certain: bool,
    /// Steps that were read back as wanted, and how many there are.
    pub steps: (usize, usize),
    /// The first step that was not, in words.
    #[serde(default)]
    pub at: Option<String>,
    /// What is not as it is to be until the change goes on: of steps that are still to come, and what is gone.
    pub half: Vec<Left>,
    /// What it has staged in SDN, and not put in force as far as is known.
    pub staged: Vec<Staged>,
}

/// Kinds of objects of which findings speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A zone of SDN.
    SdnZone,
    /// A VNet.
    Vnet,
    /// A tenant's part of `frr.conf.local`, by `NODE/TENANT`.
    Stanza,
    /// A zone of names.
    DnsZone,
    /// A TSIG key.
    Key,
    /// Addresses of a name, or the name of an address; by their owner.
    Record,
    /// A forward of the resolver, by its domain.
    Forward,
}

/// An object that a change left half made or half gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Left {
    /// Kind.
    pub what: What,
    /// Its identity among those of its kind, without a final dot.
    pub name: String,
}

/// An object that a change staged in SDN, as the list of what waits has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Staged {
    /// `zone`, `vnet`, `subnet`.
    pub kind: String,
    /// Id.
    pub id: String,
    /// `new`, `changed`, `deleted`.
    pub state: String,
}

impl Changes {
    /// The open change that staged all of `waits` in SDN, as they wait there.
    #[must_use]
    pub fn staging<'w>(&self, waits: impl Iterator<Item = &'w Pending> + Clone) -> Option<&Open> {
        let is = |own: &Staged, one: &Pending| own.kind == one.kind && own.id == one.id && own.state == one.state;
        self.open.iter().find(|change| waits.clone().all(|one| change.staged.iter().any(|own| is(own, one))))
    }
}

/// The console's own changes.
fn changes(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(&item.kind, Kind::Material(kind) if kind == OF_CHANGES) {
        return Taken::NotMine;
    }
    match serde_json::from_str::<Changes>(&item.body) {
        Ok(read) if read.schema == CHANGES => {
            facts.changes = Some(Sourced::new(read, item));
            Taken::Read
        }
        Ok(_) => Taken::Unreadable(format!("its form is not {CHANGES}")),
        Err(why) => Taken::Unreadable(why.to_string()),
    }
}

fn step(map: &Map<String, Value>) -> Option<Step> {
    Some(Step {
        plan: text(map, "plan")?,
        number: number(map, "step")?,
        what: text(map, "what")?,
        result: text(map, "result"),
        sent_at: text(map, "sent_at"),
        upid: text(map, "upid"),
    })
}

fn steps(item: &Item, facts: &mut Facts) -> Taken {
    if !matches!(&item.kind, Kind::Material(what) if super::is_called(what, CALLED)) {
        return Taken::NotMine;
    }
    let lines = item.body.lines().filter(|line| !line.trim().is_empty());
    let all: Option<Vec<Step>> =
        lines.map(|line| step(serde_json::from_str::<Value>(line).ok()?.as_object()?)).collect();
    match all {
        Some(all) if !all.is_empty() => {
            facts.journal.extend(all.into_iter().map(|step| Sourced::new(step, item)));
            Taken::Read
        }
        _ => Taken::NotMine,
    }
}
