//! Zones, records, forwards, resolvers, updates.

use super::Rule;

/// Rules.
pub(super) static RULES: &[&Rule] = &[];
