//! What a check looks at: which back ends it asks, and which rules speak in its report.

use crate::diagnose::Report;
use crate::diagnose::evidence::Evidence;
use crate::diagnose::finding::Layer;

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
    pub const ALL: [Self; 8] = [
        Self::Access,
        Self::Fabric,
        Self::Workload,
        Self::Egress,
        Self::Isolation,
        Self::Perimeter,
        Self::Dns,
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
            Self::All => "all",
        }
    }

    /// The layer whose rules speak; `None` = every layer.
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
            Self::All => None,
        }
    }

    /// Whether the exit nodes are read.
    pub(super) const fn nodes(self) -> bool {
        matches!(self, Self::Access | Self::Egress | Self::Isolation | Self::All)
    }

    /// Whether machines are read one by one: names of theirs are compared with what they are given.
    pub(super) const fn guests(self) -> bool {
        matches!(self, Self::Workload | Self::Dns | Self::All)
    }

    /// Whether PowerDNS is asked.
    pub(super) const fn names(self) -> bool {
        matches!(self, Self::Access | Self::Dns | Self::All)
    }

    /// How much of the perimeter is read.
    pub(super) const fn perimeter(self) -> Option<Depth> {
        match self {
            Self::Access => Some(Depth::Door),
            Self::Dns => Some(Depth::Resolver),
            Self::Egress | Self::Perimeter | Self::All => Some(Depth::Whole),
            Self::Isolation => Some(Depth::Rules),
            Self::Fabric | Self::Workload => None,
        }
    }
}

/// What is wanted of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Which check.
    pub check: Check,
    /// Only this tenant; `None` = all.
    pub tenant: Option<String>,
    /// Only this workload of the tenant; `None` = all.
    pub workload: Option<String>,
}

impl Wanted {
    /// `check` of `subject`: `TENANT` or `TENANT/WORKLOAD`; `None` = of everything.
    #[must_use]
    pub fn of(check: Check, subject: Option<&str>) -> Self {
        let (tenant, workload) = match subject.map(|text| text.split_once('/').unwrap_or((text, ""))) {
            None => (None, None),
            Some((tenant, workload)) => (Some(tenant.to_owned()), Some(workload).filter(|w| !w.is_empty())),
        };
        Self { check, tenant, workload: workload.map(str::to_owned) }
    }

    /// The question a bundle is kept with, which [`Wanted::asked`] reads.
    #[must_use]
    pub fn question(&self) -> String {
        let of = self.tenant.iter().chain(&self.workload).cloned().collect::<Vec<_>>().join("/");
        match of.as_str() {
            "" => format!("check {}", self.check.word()),
            of => format!("check {} of {of}", self.check.word()),
        }
    }

    /// What a check was asked that left `question`; `None` = no check did.
    #[must_use]
    pub fn asked(question: &str) -> Option<Self> {
        let mut words = question.strip_prefix("check ")?.splitn(3, ' ');
        let word = words.next()?;
        let check = Check::ALL.into_iter().find(|check| check.word() == word)?;
        match (words.next(), words.next()) {
            (None, _) => Some(Self::of(check, None)),
            (Some("of"), Some(subject)) if !subject.contains(' ') => Some(Self::of(check, Some(subject))),
            _ => None,
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
    match asked.and_then(|wanted| wanted.check.layer()) {
        Some(layer) => report.within(layer),
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
                let wanted = Wanted::of(check, subject);
                assert_eq!(Wanted::asked(&wanted.question()), Some(wanted.clone()), "{}", wanted.question());
            }
        }
        for other in ["", "check", "check why dns fails", "check dns of the site", "why is eds down", "check nothing"] {
            assert_eq!(Wanted::asked(other), None, "{other}");
        }
    }
}
