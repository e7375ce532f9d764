//! The perimeter as far as tenants meet it: rules, forwards, the route back, the version.

use std::sync::Arc;

use super::{Class, FieldDiff};
use crate::backends::opnsense::model::{Action, Hits, RuleKind};
use crate::inventory::source::Seen;

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
    /// Interfaces by description where they have one, cleaned; `any` of a floating rule on all.
    pub interfaces: Arc<str>,
    /// From, as text: aliases by name, interface networks by the interface's description, `not …`.
    pub source: Arc<str>,
    /// To, likewise.
    pub destination: Arc<str>,
    /// Port and protocol, e.g. `53 TCP/UDP`, `any`.
    pub port: Arc<str>,
    /// Description, cleaned.
    pub description: Arc<str>,
    /// Counters; they start anew with each load of the rule set.
    pub hits: Seen<Hits>,
    /// Whether pf has it.
    pub loaded: Seen<bool>,
    /// Whether it touches tenants' traffic: source or destination meets the transit network or the overlay.
    pub touches: Seen<bool>,
    /// Why it must not exist, where it must not (domain.md §2.2).
    pub must_not_exist: Option<Arc<str>>,
    /// Must never be deleted: anti-lockout and the operators' own way in.
    pub protected: bool,
    /// Class.
    pub class: Class,
    /// Word, e.g. `loaded`, `not loaded`, `must not exist`.
    pub word: Arc<str>,
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

/// What is said of the perimeter as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct PerimeterView {
    /// Version.
    pub version: Seen<String>,
    /// Rules in force and how many there are.
    pub rules: Seen<usize>,
    /// Rules that must not exist.
    pub must_not_exist: Seen<usize>,
    /// The aggregate route to the overlay: gateway, and whether the kernel has it.
    pub route: Seen<super::Mark>,
    /// The resolver.
    pub resolver: Seen<super::Mark>,
    /// pf refused the last rule set, in its words.
    pub rules_refused: Seen<Option<Arc<str>>>,
}
