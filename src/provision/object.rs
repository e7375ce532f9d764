//! What can be changed: one kind of object of one back end each.

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::fields::{Change, Difference, Fields, Seen, Wanted, differing};
use super::journal::Notes;
use super::plan::{Plan, Step};
use super::rights::Right;
use super::trouble::Trouble;
use super::world::Context;
use crate::backends::permit::Permit;

/// The system an object belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Proxmox VE.
    Pve,
    /// PowerDNS.
    Dns,
    /// The perimeter.
    Fw,
    /// An exit node.
    Exit,
    /// The service that workloads check in at.
    Boot,
    /// The console itself.
    Here,
}

impl Place {
    /// As it is written in a list.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pve => "PVE",
            Self::Dns => "DNS",
            Self::Fw => "FW",
            Self::Exit => "EXIT",
            Self::Boot => "BOOT",
            Self::Here => "–",
        }
    }
}

/// How far a change reaches (design §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Danger {
    /// 0: it only looks.
    Look,
    /// 1: one object, and it can be taken back.
    One,
    /// 2: one tenant's traffic.
    Tenant,
    /// 3: shared by tenants.
    Shared,
    /// 3: final, it cannot be taken back.
    Final,
}

impl Danger {
    /// The level as a number, 0 to 3.
    #[must_use]
    pub const fn level(self) -> u8 {
        match self {
            Self::Look => 0,
            Self::One => 1,
            Self::Tenant => 2,
            Self::Shared | Self::Final => 3,
        }
    }

    /// Word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::One => "one",
            Self::Tenant => "tenant",
            Self::Shared => "shared",
            Self::Final => "final",
        }
    }
}

/// The way back from a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// What the object was before is wanted again.
    Inverse,
    /// It has to be done again, after the objects of its place were taken back: an apply, a reload.
    Again,
    /// It is taken again before anything is taken back: a lock.
    First,
    /// It changed nothing that could be taken back: a proof.
    Nothing,
    /// There is none, and why.
    None(&'static str),
}

/// An object that is read.
pub type Looking<'a> = BoxFuture<'a, Result<Seen, Trouble>>;
/// An object that is changed.
pub type Doing<'a> = BoxFuture<'a, Result<(), Trouble>>;
/// A plan that is made anew; `None` where there is no other.
pub type Remaking<'a> = BoxFuture<'a, Result<Option<Plan>, Trouble>>;

/// How a kind of object is looked at and changed. Whether it is as it is wanted is told by looking alone.
pub trait Ensure: Send + Sync {
    /// The system it belongs to.
    fn place(&self) -> Place;

    /// As an operator calls it: `zone tdemo`.
    fn name(&self) -> String;

    /// How far a change of it reaches.
    fn danger(&self, todo: &Difference) -> Danger;

    /// The way back.
    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::Inverse
    }

    /// Reads it. Changes nothing.
    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a>;

    /// What has to be done.
    fn difference(&self, seen: &Seen, wanted: &Wanted) -> Difference {
        Difference::between(seen, wanted)
    }

    /// Carries out a difference. May be called again with what is left of it; whether it worked is looked at afterwards.
    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a>;

    /// Whether it is changed by one request, so that nothing came of one that was refused.
    fn in_one(&self) -> bool {
        false
    }

    /// Whether it is done for itself. What is only taken or tried for other steps, a lock or a last check, is not done where
    /// they have nothing to do.
    fn for_itself(&self) -> bool {
        self.undo(&Difference::Nothing) != Undo::First
    }

    /// What goes with it where it is deleted, a line each.
    fn goes(&self, _todo: &Difference) -> Vec<String> {
        vec![self.name()]
    }

    /// What of others an apply of it takes along, as they are to be named before it is approved.
    fn riders(&self, _seen: &Seen, _own: &[Step]) -> Vec<String> {
        Vec::new()
    }

    /// The rights in Proxmox without which what has to be done is not begun.
    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        Vec::new()
    }

    /// Why what has to be done is not to be begun, by what was seen.
    fn refuses(&self, _seen: &Seen, _todo: &Difference) -> Option<Trouble> {
        None
    }

    /// Whether a part of what differs is no concern of a plan with these steps.
    fn is_of_others(&self, _part: &Change, _own: &[Step]) -> bool {
        false
    }

    /// Whether a change that was asked for before may still come: then what others did meanwhile does not go along with it.
    fn is_under_way(&self, _context: &Context) -> bool {
        false
    }

    /// What an object that a change asked for, and never saw made, has to look like so that it is certainly this change's and
    /// may be taken back; `None` = nothing proves it, and it is left to whoever looks.
    fn proof(&self, _wanted: &Fields, _notes: &Notes) -> Option<Fields> {
        None
    }

    /// The first thing that speaks against its being what a proof describes, in words; `None` = it is that.
    fn unproved(&self, proof: &Fields, seen: &Seen) -> Option<String> {
        differing(proof, seen)
    }

    /// What is still to be wanted of it by a way back on which these objects do not come back; `None` = nothing.
    fn without(&self, wanted: Wanted, _lost: &[Object]) -> Option<Wanted> {
        Some(wanted)
    }

    /// The plan that takes the place of the one this step is of, where others took what it rests on before anything of it was
    /// changed; `None` = there never is one.
    fn instead<'a>(&'a self, _context: &'a Context) -> Option<Remaking<'a>> {
        None
    }

    /// Gives back what a run must not keep when it ends early; `None` = it holds nothing.
    fn give_back<'a>(&'a self, _context: &'a Context, _permit: &'a Permit) -> Option<Doing<'a>> {
        None
    }
}

/// The part of [`Ensure`] that all objects share through which nothing is changed: they are looked at, and waited for.
macro_rules! only_looks {
    () => {
        fn danger(&self, _todo: &$crate::provision::fields::Difference) -> $crate::provision::object::Danger {
            $crate::provision::object::Danger::Look
        }

        fn undo(&self, _todo: &$crate::provision::fields::Difference) -> $crate::provision::object::Undo {
            $crate::provision::object::Undo::Nothing
        }
    };
}
pub(super) use only_looks;

macro_rules! objects {
    ($($(if $attr:meta,)? $words:literal $name:ident($type:ty)),* $(,)?) => {
        /// Every kind of object that a plan can hold.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", tag = "kind")]
        pub enum Object {
            $($(#[cfg($attr)])? #[doc = $words] $name($type)),*
        }

        impl Object {
            /// How it is looked at and changed.
            #[must_use]
            pub fn ensure(&self) -> &dyn Ensure {
                match self {
                    $($(#[cfg($attr)])? Self::$name(object) => object),*
                }
            }
        }
    };
}

objects! {
    "The lock on all SDN configuration." SdnLock(super::sdn::SdnLock),
    "A zone." SdnZone(super::sdn::SdnZone),
    "A VNet." SdnVnet(super::sdn::SdnVnet),
    "A subnet." SdnSubnet(super::sdn::SdnSubnet),
    "The apply of what waits." SdnApply(super::sdn::SdnApply),
    "All that waits, dropped." SdnRollback(super::sdn::SdnRollback),
    "The lock, freed by force." SdnUnlock(super::sdn::SdnUnlock),
    "The default route of a tenant's VRF on an exit node, as its kernel has it." VrfDefault(super::egress::VrfDefault),
    "An index that is nobody else's." OwnIndex(super::plans::onboard::OwnIndex),
    "Nothing of a tenant lives." NothingLives(super::tenant::NothingLives),
    "All is well with a tenant." CheckAll(super::tenant::CheckAll),
    "A VM, cloned from a template." VmClone(super::vm::VmClone),
    "The settings of a VM." VmConfig(super::vm::VmConfig),
    "The pointer in a VM's serial number." VmSerial(super::vm::VmSerial),
    "The size of a VM's disk." VmDisk(super::vm::VmDisk),
    "Whether a VM runs." VmPower(super::vm::VmPower),
    "A restart of a VM." VmReboot(super::vm::VmReboot),
    "The guest agent of a VM." VmAgent(super::vm::VmAgent),
    "A VM that no task has locked." VmUnlocked(super::vm::VmUnlocked),
    "A VM that is to be gone." VmGone(super::vm::VmGone),
    "A tenant's part of frr.conf.local on an exit node." Stanza(super::egress::Stanza),
    "A TSIG key." TsigKey(super::names::TsigKey),
    "A zone at PowerDNS, and who may update it." DnsZone(super::names::DnsZone),
    "A record set." DnsRecords(super::names::DnsRecords),
    "A record set, changed by signed updates." SignedRecords(super::names::SignedRecords),
    "A server that answers for a domain." Answers(super::names::Answers),
    "A forward of the perimeter's resolver." Forward(super::names::Forward),
    "The reload of the perimeter's resolver." ResolverReload(super::names::ResolverReload),
    if test, "An object of tests." Thing(super::testing::Thing),
}
