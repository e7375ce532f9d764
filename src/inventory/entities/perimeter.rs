//! The perimeter as far as tenants meet it: rules, forwards, the route back, the version.

use std::sync::Arc;

use super::{Class, FieldDiff, Mark};
use crate::backends::opnsense::model::{Action, Direction, Hits, RuleKind};
use crate::inventory::source::Seen;

/// Whose traffic a rule can match, by prefixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// No tenant's.
    No,
    /// Every tenant's: it meets the transit network, where all leave, or the whole overlay.
    Every,
    /// That of these tenants, whose subnets it meets. Empty: a part of the overlay that is nobody's.
    Some(Vec<Arc<str>>),
}

impl Touch {
    /// Whether `tenant` is touched.
    #[must_use]
    pub fn meets(&self, tenant: &str) -> bool {
        match self {
            Self::No => false,
            Self::Every => true,
            Self::Some(names) => names.iter().any(|n| **n == *tenant),
        }
    }
}

/// One filter rule, in the order of evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleRow {
    /// uuid of a managed rule, pf's label of another.
    pub uuid: Arc<str>,
    /// Place in the evaluation, from 1.
    pub place: u32,
    /// Who made it.
    pub kind: RuleKind,
    /// Switched on.
    pub enabled: bool,
    /// Pass, block, reject.
    pub action: Action,
    /// The first match decides.
    pub quick: bool,
    /// Which way, seen from the perimeter.
    pub direction: Direction,
    /// Interfaces by description where they have one, cleaned; `any` of a floating rule on all.
    pub interfaces: Arc<str>,
    /// From, as text: aliases by name, interface networks by the interface's description, `not …`.
    pub source: Arc<str>,
    /// To, likewise.
    pub destination: Arc<str>,
    /// `any`, `TCP`, `UDP`, `TCP/UDP`, …
    pub protocol: Arc<str>,
    /// Destination port, e.g. `53`, `any`.
    pub port: Arc<str>,
    /// Description, cleaned.
    pub description: Arc<str>,
    /// Counters; they start anew with each load of the rule set. `None` = pf has none, since it has not got the rule.
    pub hits: Seen<Option<Hits>>,
    /// Whether pf has it.
    pub loaded: Seen<bool>,
    /// Whose traffic it touches: source or destination meets the transit network or the overlay. A source `any` of a
    /// rule for what comes in is what lies behind its interfaces.
    pub touches: Seen<Touch>,
    /// Why it must not exist, where it must not (domain.md §2.2).
    pub must_not_exist: Option<Arc<str>>,
    /// Must never be deleted: anti-lockout and the operators' own way in.
    pub protected: bool,
    /// Class.
    pub class: Class,
    /// Word, e.g. `loaded`, `not loaded`, `must not exist`.
    pub word: Arc<str>,
}

impl RuleRow {
    /// Port and protocol in one: `53 TCP/UDP`, `any`, `ICMP`.
    #[must_use]
    pub fn service(&self) -> String {
        match (&*self.port, &*self.protocol) {
            ("any", protocol) => protocol.to_owned(),
            (port, "any") => port.to_owned(),
            (port, protocol) => format!("{port} {protocol}"),
        }
    }

    /// What it is for, in a few words: the description of a rule of the platform without its prefix, else whatever
    /// somebody wrote, else from where to where.
    #[must_use]
    pub fn purpose(&self) -> String {
        match self.description.trim() {
            "" => format!("{} → {}", self.source, self.destination),
            text => text.strip_prefix("ansible: ").unwrap_or(text).replace("->", "→"),
        }
    }
}

/// One forward of the perimeter resolver, or one that ought to be there.
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardRow {
    /// uuid; `None` where the forward is absent.
    pub uuid: Option<Arc<str>>,
    /// Tenant whose zone it is.
    pub tenant: Option<Arc<str>>,
    /// Domain, cleaned, no trailing dot; `.` = all names.
    pub domain: Arc<str>,
    /// Server and port, cleaned.
    pub server: Option<Arc<str>>,
    /// `forward` or `dot`.
    pub kind: Option<&'static str>,
    /// Switched on.
    pub enabled: Option<bool>,
    /// Description, cleaned.
    pub description: Arc<str>,
    /// What differs from the derived values.
    pub diffs: Vec<FieldDiff>,
    /// Class.
    pub class: Class,
    /// Word.
    pub word: Arc<str>,
}

/// Something that must not exist (domain.md §2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// `iot_vendor → overlay`.
    pub name: Arc<str>,
    /// How many there are.
    pub found: Seen<usize>,
}

/// What is said of the perimeter as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct PerimeterView {
    /// Version.
    pub version: Seen<String>,
    /// How many rules there are.
    pub rules: Seen<usize>,
    /// What must not exist and does, over all [`PerimeterView::patterns`]; unknown where one of them is.
    pub must_not_exist: Seen<usize>,
    /// What must not exist, each found or proven absent.
    pub patterns: Vec<Pattern>,
    /// The aggregate route to the overlay: gateway, and whether the kernel has it.
    pub route: Seen<Mark>,
    /// The resolver.
    pub resolver: Seen<Mark>,
    /// pf refused the last rule set, in its words.
    pub rules_refused: Seen<Option<Arc<str>>>,
}
