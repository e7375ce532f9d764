//! The lists of the console, one file each: columns, cells, sort values and details, as data.
//!
//! A column leaves a narrow list by its `keep`: the smallest first, 255 never. Cells come from the inventory when they
//! are drawn; nothing here is stored.

mod attention;
mod checkins;
mod forwards;
mod members;
mod pending;
pub mod records;
mod routes;
mod rules;
mod sources;
mod tasks;
mod tenants;
mod vnets;
mod vrf_facts;
mod vrfs;
mod workloads;

pub use checkins::{meaning, not_tested};
pub use forwards::where_to;
pub use rules::{action, direction, kind as rule_kind, left_out, pane_only, touches};
pub use tenants::{layer_cell, status_now};

use super::list::{Align, Cell, Column, Cutting, ListDef, ListId, SortKey};
use crate::inventory::{Class, FieldDiff, Gap, Seen};

/// Every list, in the order in which they are offered.
pub const ALL: [ListId; 15] = [
    ListId::Tenants,
    ListId::Vrfs,
    ListId::VrfFacts,
    ListId::Routes,
    ListId::Vnets,
    ListId::Workloads,
    ListId::Records,
    ListId::Checkins,
    ListId::Rules,
    ListId::Forwards,
    ListId::Attention,
    ListId::Members,
    ListId::Pending,
    ListId::Sources,
    ListId::Tasks,
];

/// The definition of `id`.
#[must_use]
pub const fn def(id: ListId) -> &'static ListDef {
    match id {
        ListId::Tenants => &tenants::DEF,
        ListId::Vrfs => &vrfs::DEF,
        ListId::VrfFacts => &vrf_facts::DEF,
        ListId::Routes => &routes::DEF,
        ListId::Vnets => &vnets::DEF,
        ListId::Workloads => &workloads::DEF,
        ListId::Records => &records::DEF,
        ListId::Checkins => &checkins::DEF,
        ListId::Rules => &rules::DEF,
        ListId::Forwards => &forwards::DEF,
        ListId::Attention => &attention::DEF,
        ListId::Members => &members::DEF,
        ListId::Pending => &pending::DEF,
        ListId::Sources => &sources::DEF,
        ListId::Tasks => &tasks::DEF,
    }
}

/// A column that keeps its full text or leaves. Nothing that belongs there is longer than an IPv6 address.
const fn fixed(key: &'static str, title: &'static str, min: u16, align: Align, keep: u8) -> Column {
    Column { key, title, min, max: 40, align, cutting: Cutting::Never, keep }
}

/// A column of text, cut at the end between `min` and `max` cells.
const fn words(key: &'static str, title: &'static str, min: u16, max: u16, keep: u8) -> Column {
    Column { key, title, min, max, align: Align::Left, cutting: Cutting::End, keep }
}

/// Nothing there.
fn none() -> Cell {
    Cell::muted("–")
}

/// `value` as text, or a dash.
fn or_none<T: ToString>(value: Option<T>) -> Cell {
    value.map_or_else(none, |v| Cell::text(v.to_string()))
}

/// What was seen, or the reason why it was not.
fn seen<T>(value: &Seen<T>, cell: impl FnOnce(&T) -> Cell) -> Cell {
    match value {
        Ok(v) => cell(v),
        Err(gap) => Cell::gap(gap),
    }
}

fn number(n: impl Into<f64>) -> SortKey {
    SortKey::Num(n.into())
}

fn word(text: &str) -> SortKey {
    SortKey::Text(text.to_lowercase())
}

fn maybe<T>(value: Option<T>, key: impl FnOnce(T) -> SortKey) -> SortKey {
    value.map_or(SortKey::None, key)
}

/// Worst first when ascending.
fn by_class(class: Class) -> SortKey {
    let rank = match class {
        Class::Fault => 0,
        Class::Warning => 1,
        Class::Differs => 2,
        Class::Pending => 3,
        Class::Progress => 4,
        Class::Unknown => 5,
        Class::NotRun => 6,
        Class::Absent => 7,
        Class::Info => 8,
        Class::Fine => 9,
    };
    number(rank)
}

#[expect(clippy::cast_precision_loss, reason = "an order of magnitude is enough to sort by")]
const fn big(n: u64) -> SortKey {
    SortKey::Num(n as f64)
}

/// One line a difference: what, the derived value, the observed one.
fn diff_lines(diffs: &[FieldDiff]) -> impl Iterator<Item = Vec<Cell>> + '_ {
    diffs.iter().map(|d| {
        vec![Cell::state(
            Class::Differs,
            format!("{} {}: expected {}, observed {}", d.object, d.field, d.expected, d.observed),
        )]
    })
}

/// The reason of a gap as a line of its own.
fn gap_line(gap: &Gap) -> Vec<Cell> {
    vec![Cell::state(Class::Unknown, gap.why.to_string())]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_list_is_defined_under_its_own_id_and_word() {
        let words: BTreeSet<_> = ALL.iter().map(|id| def(*id).word).collect();
        assert_eq!(words.len(), ALL.len());
        for id in ALL {
            assert_eq!(def(id).id, id);
        }
    }

    #[test]
    fn columns_are_sound() {
        for id in ALL {
            let def = def(id);
            let keys: BTreeSet<_> = def.columns.iter().map(|c| c.key).collect();
            assert_eq!(keys.len(), def.columns.len(), "{}: a key twice", def.word);
            assert!(keys.contains(def.sort), "{}: sorted by a column it does not have", def.word);
            assert!(def.columns.iter().any(|c| c.keep == 255), "{}: no column that stays", def.word);
            for column in def.columns {
                assert!(column.min <= column.max, "{}.{}", def.word, column.key);
            }
        }
    }

    #[test]
    fn columns_that_stay_fit_the_smallest_screen() {
        for id in ALL {
            let stay: u16 = def(id).columns.iter().filter(|c| c.keep == 255).map(|c| c.min + 1).sum();
            assert!(stay + 2 <= 72, "{}: {stay} cells", def(id).word);
        }
    }
}
