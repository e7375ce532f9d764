//! Rules, translation and routes of OPNsense.

use super::Rule;

/// Rules.
pub(super) static RULES: &[&Rule] = &[];
