//! What a check looks at: which back ends it asks, and which rules speak in its report.

use crate::diagnose::Report;
use crate::diagnose::contract;
use crate::diagnose::evidence::Evidence;
use crate::diagnose::finding::Layer;
use crate::diagnose::path;
use crate::diagnose::rules::Rule;

/// What is to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Whether the console may and can look at all.
    Access,
    /// SDN and what nodes made of it.
    Fabric,
    /// Machines and their agents.
    Workload,
    /// From the workload to the internet.
    Egress,
    /// Between tenants, every ordered pair.
    Isolation,
    /// Rules, translation and routes of the router.
    Perimeter,
    /// Zones, records, forwards, resolvers, updates.
    Dns,
    /// Tenants' update keys, tried on each other's zones.
    Keys,
    /// The clauses of the tenant contract.
    Contract,
    /// Everything.
    All,
}

/// How much of the perimeter a check reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Whether it answers.
    Door,
    /// Its rules, and what they are about.
    Rules,
    /// Its resolver.
    Resolver,
    /// Everything.
    Whole,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Access,
        Self::Fabric,
        Self::Workload,
        Self::Egress,
        Self::Isolation,
        Self::Perimeter,
        Self::Dns,
        Self::Keys,
        Self::Contract,
        Self::All,
    ];

    /// Word, as on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Fabric => "fabric",
            Self::Workload => "workload",
            Self::Egress => "egress",
            Self::Isolation => "isolation",
            Self::Perimeter => "perimeter",
            Self::Dns => "dns",
            Self::Keys => "keys",
            Self::Contract => "contract",
            Self::All => "all",
        }
    }

    /// Whether it looks at the path from a workload to the internet.
    #[must_use]
    pub const fn has_path(self) -> bool {
        matches!(self, Self::Egress | Self::All)
    }

    /// The layer whose rules speak; `None` = rules of several.
    #[must_use]
    pub const fn layer(self) -> Option<Layer> {
        match self {
            Self::Access => Some(Layer::Access),
            Self::Fabric => Some(Layer::Fabric),
            Self::Workload => Some(Layer::Workload),
            Self::Egress => Some(Layer::Egress),
            Self::Isolation => Some(Layer::Isolation),
            Self::Perimeter => Some(Layer::Perimeter),
            Self::Dns => Some(Layer::Dns),
            Self::Keys | Self::Contract | Self::All => None,
        }
    }

    /// Whether tenants' update keys are any of its business.
    #[must_use]
    pub const fn may_try_keys(self) -> bool {
        matches!(self, Self::Isolation | Self::Dns | Self::Keys | Self::Contract | Self::All)
    }

    /// Whether findings of `rule` belong to its report.
    #[must_use]
    pub fn hears(self, rule: &Rule) -> bool {
        match self.layer() {
            None if self == Self::Keys => ABOUT_KEYS.contains(&rule.id),
            None => self == Self::All || contract::rests_on(rule.id),
            // A key that writes another's zone is a way between tenants as well.
            Some(Layer::Isolation) => rule.layer == Layer::Isolation || BETWEEN_TENANTS.contains(&rule.id),
            // What any leg of the path says belongs to it, whatever the layer.
            Some(Layer::Egress) => rule.layer == Layer::Egress || path::on_a_leg(rule.id),
            Some(layer) => rule.layer == layer,
        }
    }

    /// Whether it counts what `rule` lacks.
    fn needs(self, rule: &Rule) -> bool {
        match self {
            Self::Egress => rule.layer == Layer::Egress,
            _ => self.hears(rule),
        }
    }

    /// Whether the exit nodes are read.
    pub(super) const fn nodes(self) -> bool {
        matches!(self, Self::Access | Self::Fabric | Self::Egress | Self::Isolation | Self::Contract | Self::All)
    }

    /// Whether check-ins of workloads are read.
    pub(super) const fn checkins(self) -> bool {
        matches!(self, Self::Workload | Self::Contract | Self::All)
    }

    /// Whether the registry of tenants is read.
    pub(super) const fn registry(self) -> bool {
        matches!(self, Self::Fabric | Self::All)
    }

    /// Whether packets are sent from every tenant's VRF to every other tenant.
    pub(super) const fn between(self) -> bool {
        matches!(self, Self::Isolation | Self::Contract | Self::All)
    }

    /// Whether it is read what each node made of the fabric, and what an apply would make of it.
    pub(super) const fn realised(self) -> bool {
        matches!(self, Self::Fabric | Self::Egress | Self::All)
    }

    /// Whether machines are read one by one: names and networks of theirs are compared with what they are given. On the path
    /// to the internet those alone that do not run.
    pub(super) const fn guests(self) -> bool {
        matches!(self, Self::Egress | Self::Workload | Self::Dns | Self::Isolation | Self::Contract | Self::All)
    }

    /// Whether PowerDNS is asked.
    pub(super) const fn names(self) -> bool {
        matches!(self, Self::Access | Self::Dns | Self::Contract | Self::All)
    }

    /// How much of the perimeter is read.
    pub(super) const fn perimeter(self) -> Option<Depth> {
        match self {
            Self::Access => Some(Depth::Door),
            Self::Dns => Some(Depth::Resolver),
            Self::Isolation => Some(Depth::Rules),
            Self::Egress | Self::Perimeter | Self::Contract | Self::All => Some(Depth::Whole),
            Self::Fabric | Self::Workload | Self::Keys => None,
        }
    }
}

/// Ids that are about update keys.
const ABOUT_KEYS: [&str; 5] = ["tsig-foreign", "tsig-unbound", "update-refused", "update-key-missing", "clock-skew"];
/// Ids of other layers that are about what is between tenants: whose null routes are not read, or are gone with FRR, is not
/// told to be kept apart.
const BETWEEN_TENANTS: [&str; 4] = ["tsig-foreign", "tsig-unbound", "exit-node-unreachable", "frr-down"];

/// What is wanted of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Which check.
    pub check: Check,
    /// Only this tenant; `None` = all.
    pub tenant: Option<String>,
    /// Only this workload of the tenant; `None` = all.
    pub workload: Option<String>,
    /// Tenants' update keys are tried on each other's zones, which takes their secrets from PowerDNS.
    pub keys: bool,
}

/// How a question ends that asks for keys too.
const WITH_KEYS: &str = " with keys";

impl Wanted {
    /// `check` of `subject`: `TENANT` or `TENANT/WORKLOAD`; `None` = of everything.
    #[must_use]
    pub fn of(check: Check, subject: Option<&str>) -> Self {
        let (tenant, workload) = match subject.map(|text| text.split_once('/').unwrap_or((text, ""))) {
            None => (None, None),
            Some((tenant, workload)) => (Some(tenant.to_owned()), Some(workload).filter(|w| !w.is_empty())),
        };
        Self { check, tenant, workload: workload.map(str::to_owned), keys: check == Check::Keys }
    }

    /// The same with the tenants' update keys, where `keys` says so.
    #[must_use]
    pub fn with_keys(mut self, keys: bool) -> Self {
        self.keys |= keys;
        self
    }

    /// The question a bundle is kept with, which [`Wanted::asked`] reads.
    #[must_use]
    pub fn question(&self) -> String {
        let of = self.tenant.iter().chain(&self.workload).cloned().collect::<Vec<_>>().join("/");
        let with = if self.keys && self.check != Check::Keys { WITH_KEYS } else { "" };
        match of.as_str() {
            "" => format!("check {}{with}", self.check.word()),
            of => format!("check {} of {of}{with}", self.check.word()),
        }
    }

    /// What a check was asked that left `question`; `None` = no check did.
    #[must_use]
    pub fn asked(question: &str) -> Option<Self> {
        let plain = question.strip_suffix(WITH_KEYS);
        let (question, keys) = (plain.unwrap_or(question), plain.is_some());
        let mut words = question.strip_prefix("check ")?.splitn(3, ' ');
        let word = words.next()?;
        let check = Check::ALL.into_iter().find(|check| check.word() == word)?;
        let subject = match (words.next(), words.next()) {
            (None, _) => None,
            (Some("of"), Some(subject)) if !subject.contains(' ') => Some(subject),
            _ => return None,
        };
        Some(Self::of(check, subject).with_keys(keys))
    }

    /// What of `report` the check speaks of.
    #[must_use]
    pub fn narrowed(&self, report: Report) -> Report {
        match self.check {
            Check::All => report,
            check => report.within(|rule| check.hears(rule), |rule| check.needs(rule)),
        }
    }

    pub(super) fn has(&self, tenant: &str) -> bool {
        self.tenant.as_ref().is_none_or(|wanted| wanted == tenant)
    }

    pub(super) fn has_workload(&self, tenant: &str, workload: &str) -> bool {
        self.has(tenant) && self.workload.as_ref().is_none_or(|wanted| wanted == workload)
    }
}

/// What `evidence` says, as far as it was asked: a check's own evidence speaks of the check's layer alone.
#[must_use]
pub fn report(evidence: &Evidence) -> Report {
    let report = Report::of(evidence);
    let asked = evidence.question.as_deref().and_then(Wanted::asked);
    match asked {
        Some(wanted) => wanted.narrowed(report),
        None => report,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_tells_the_check_again() {
        for check in Check::ALL {
            for subject in [None, Some("eds"), Some("eds/app")] {
                for keys in [false, true] {
                    let wanted = Wanted::of(check, subject).with_keys(keys);
                    assert_eq!(Wanted::asked(&wanted.question()), Some(wanted.clone()), "{}", wanted.question());
                }
            }
        }
        for other in ["", "check", "check why dns fails", "check dns of the site", "why is eds down", "check nothing"] {
            assert_eq!(Wanted::asked(other), None, "{other}");
        }
    }
}
