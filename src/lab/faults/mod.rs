//! What can be broken in the lab: one table, one function a fault. A fault changes the world both sources answer
//! from; switching it off computes that world anew without it, so that nothing is left behind.

mod access;
mod boot;
mod contract;
mod fabric;
mod lint;
mod outside;
mod router;
mod table;
mod way_out;
mod writing;
mod writing_names;

use super::build::{ALIASES, SERVICE_NODE};
use super::sdn::Kind;
use super::state::World;

pub use table::SPECS;
pub use writing::shows_in_changes_alone;

/// Every fault, in the order in which several are applied.
pub fn specs() -> impl DoubleEndedIterator<Item = &'static Spec> {
    let own = SPECS.iter().chain(access::SPECS).chain(fabric::SPECS).chain(way_out::SPECS);
    own.chain(outside::SPECS)
        .chain(router::SPECS)
        .chain(contract::SPECS)
        .chain(lint::SPECS)
        .chain(boot::SPECS)
        .chain(writing::SPECS)
        .chain(writing_names::SPECS)
}

/// What a fault is about, and so what may stand after its `@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole site: no target.
    Site,
    /// A node.
    Node,
    /// A tenant.
    Tenant,
}

/// A fault that can be switched.
pub struct Spec {
    /// Stable id: the finding's where a finding exists for it.
    pub id: &'static str,
    /// What it is about.
    pub scope: Scope,
    /// One line for lists.
    pub title: &'static str,
    /// What it changes in the world.
    pub changes: &'static str,
    /// Changes it, for a target that exists.
    apply: fn(&mut World, &str),
}

impl std::fmt::Debug for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// A fault and where it is.
#[derive(Debug, Clone)]
pub struct Fault {
    spec: &'static Spec,
    target: Option<String>,
    /// When it was switched on, seconds since the epoch; no part of its identity.
    since: i64,
}

/// Why a fault could not be switched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// No such id.
    #[error("there is no fault {id:?}")]
    Unknown {
        /// As given.
        id: String,
    },
    /// No such tenant or node.
    #[error("{id}: there is no {what} {target:?}")]
    Target {
        /// The fault.
        id: &'static str,
        /// `tenant` or `node`.
        what: &'static str,
        /// As given.
        target: String,
    },
    /// A target where none belongs.
    #[error("{id} is about the whole site and takes no target")]
    NoTarget {
        /// The fault.
        id: &'static str,
    },
}

/// How much two words have to be alike for one to be meant by the other.
const NEAR: f64 = 0.8;

impl FaultError {
    /// What the operator can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { id } => {
                let all = "`lab fault list` names them all";
                let near = specs()
                    .map(|spec| (strsim::jaro_winkler(spec.id, id), spec.id))
                    .filter(|(likeness, _)| *likeness >= NEAR)
                    .max_by(|(a, _), (b, _)| a.total_cmp(b));
                near.map_or_else(|| all.to_owned(), |(_, near)| format!("did you mean {near:?}? {all}"))
            }
            Self::Target { what, .. } => format!("name a {what} of the lab's site"),
            Self::NoTarget { id } => format!("write {id} alone"),
        }
    }
}

impl Fault {
    /// Reads `ID` or `ID@TARGET`.
    ///
    /// # Errors
    /// When the id is not known, or a site-wide fault is given a target.
    pub fn parse(text: &str) -> Result<Self, FaultError> {
        let (id, target) = match text.split_once('@') {
            Some((id, target)) => (id, Some(target.to_owned())),
            None => (text, None),
        };
        let Some(spec) = specs().find(|spec| spec.id == id) else {
            return Err(FaultError::Unknown { id: id.to_owned() });
        };
        // A node goes by its alias too.
        let target = target.map(|given| {
            let full = ALIASES.iter().find(|(alias, _)| spec.scope == Scope::Node && *alias == given);
            full.map_or(given, |(_, node)| (*node).to_owned())
        });
        if spec.scope == Scope::Site && target.is_some() {
            return Err(FaultError::NoTarget { id: spec.id });
        }
        Ok(Self { spec, target, since: 0 })
    }

    /// The same fault with its target filled in and checked: the first tenant, the exit node, or for `node-offline`
    /// the node that carries no tenants.
    pub(super) fn settled(mut self, world: &World, now: i64) -> Result<Self, FaultError> {
        self.since = now;
        if self.target.is_none() {
            self.target = match self.spec.scope {
                Scope::Site => None,
                Scope::Node if self.spec.id == "node-offline" => Some(SERVICE_NODE.to_owned()),
                Scope::Node => Some(world.exit.node.clone()),
                Scope::Tenant => first_tenant(world),
            };
        }
        self.check(world)?;
        Ok(self)
    }

    fn check(&self, world: &World) -> Result<&str, FaultError> {
        let target = self.target.as_deref().unwrap_or_default();
        let (what, there) = match self.spec.scope {
            Scope::Site => return Ok(target),
            Scope::Node => ("node", world.node(target).is_some()),
            Scope::Tenant => ("tenant", world.sdn.configured.get(Kind::Zone, target).is_some()),
        };
        if there { Ok(target) } else { Err(FaultError::Target { id: self.spec.id, what, target: target.to_owned() }) }
    }

    /// Changes the world.
    pub(super) fn apply(&self, world: &mut World) -> Result<(), FaultError> {
        let target = self.check(world)?;
        // Before the change: some faults began some time before they are noticed.
        world.disturbed = world.disturbed.max(self.since);
        (self.spec.apply)(world, target);
        Ok(())
    }

    /// Whether switching this off switches `other` off.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.spec.id == other.spec.id && (self.target.is_none() || self.target == other.target)
    }

    fn key(&self) -> (usize, Option<&str>) {
        let place = specs().position(|spec| spec.id == self.spec.id).unwrap_or(usize::MAX);
        (place, self.target.as_deref())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.target {
            None => f.write_str(self.spec.id),
            Some(target) => write!(f, "{}@{target}", self.spec.id),
        }
    }
}

impl PartialEq for Fault {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Fault {}

impl PartialOrd for Fault {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fault {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// The tenant with the lowest VRF VNI.
fn first_tenant(world: &World) -> Option<String> {
    let vni =
        |zone: &str| world.sdn.configured.text(Kind::Zone, zone, "vrf-vxlan").and_then(|vni| vni.parse::<u32>().ok());
    world.sdn.configured.of(Kind::Zone).min_by_key(|(zone, _)| vni(zone)).map(|(zone, _)| zone.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_is_not_known_is_answered_by_one_like_it_or_by_the_list() {
        let help = |id: &str| Fault::parse(id).unwrap_err().help();
        assert!(help("snat-mising").contains("did you mean \"snat-missing\"?"), "{}", help("snat-mising"));
        assert_eq!(help("nosuch"), "`lab fault list` names them all", "nothing is like it");
    }

    #[test]
    fn faults_are_read_as_they_are_written() {
        for text in ["snat-missing@eds", "pve-down", "node-offline"] {
            assert_eq!(Fault::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Fault::parse("frr-down@hv02").unwrap().to_string(), "frr-down@dv02hyp002p02");
        assert_eq!(Fault::parse("pve-down@eds").unwrap_err(), FaultError::NoTarget { id: "pve-down" });
        let unknown = Fault::parse("frr-dwn").unwrap_err();
        assert_eq!(unknown.to_string(), "there is no fault \"frr-dwn\"");
        assert!(unknown.help().starts_with("did you mean \"frr-down\"?"), "{}", unknown.help());
    }

    #[test]
    fn ids_are_unique_and_described() {
        for (at, spec) in specs().enumerate() {
            assert!(specs().take(at).all(|other| other.id != spec.id), "{} is there twice", spec.id);
            assert!(!spec.title.is_empty() && !spec.changes.is_empty(), "{} is not described", spec.id);
        }
    }

    #[test]
    fn switching_off_without_a_target_covers_all_of_an_id() {
        let fault = |text| Fault::parse(text).unwrap();
        assert!(fault("snat-missing").covers(&fault("snat-missing@eds")));
        assert!(!fault("snat-missing@eds").covers(&fault("snat-missing@tdemo")));
        assert!(!fault("snat-missing").covers(&fault("snat-duplicate@eds")));
    }
}
