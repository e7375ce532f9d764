//! Check-ins: their columns are known, their source is not read by this version.
//!
//! A site without the source says `off`; a site with it says that it is not read, which is not the same as "none".
//! They name no source: whatever its state, the reason above is the one that counts.

use std::sync::LazyLock;

use super::super::list::{Align, Cell, Column, ListDef, ListId, SortKey};
use super::{fixed, words};
use crate::inventory::{Gap, GapKind, Inventory, SourceId};

/// Check-ins.
pub static CHECKINS: ListDef = ListDef {
    gap: |inv| gap(inv, SourceId::Boot, &CHECKINS_UNREAD, &CHECKINS_OFF),
    ..unread(ListId::Checkins, "Check-ins", "checkins", &CHECKIN_COLUMNS, "workload")
};

static CHECKINS_UNREAD: LazyLock<Gap> = LazyLock::new(|| not_read("Check-ins are not read by this version."));
static CHECKINS_OFF: LazyLock<Gap> = LazyLock::new(|| off("Check-ins are not set up for this site."));

fn not_read(what: &str) -> Gap {
    Gap::new(GapKind::NotRead, format!("{what} Unknown here, not absent."))
}

fn off(what: &str) -> Gap {
    Gap::new(GapKind::Off, format!("{what} That is not a fault."))
}

fn gap(inv: &Inventory, source: SourceId, unread: &'static Gap, off: &'static Gap) -> Option<&'static Gap> {
    Some(if inv.sources.get(source).configured { unread } else { off })
}

const fn unread(
    id: ListId,
    title: &'static str,
    word: &'static str,
    columns: &'static [Column],
    sort: &'static str,
) -> ListDef {
    ListDef {
        id,
        title,
        word,
        sources: &[],
        columns,
        sort,
        len: |_| 0,
        id_of: |_, _| None,
        tenant_of: |_, _| None,
        cell: |_, _, _| Cell { text: String::new(), role: crate::console::theme::Role::Text, class: None },
        sort_key: |_, _, _| SortKey::None,
        gap: |_| None,
        detail: |_, _| Vec::new(),
        empty: "None.",
    }
}

const CHECKIN_COLUMNS: [Column; 7] = [
    words("tenant", "TENANT", 8, 12, 80),
    words("workload", "WORKLOAD", 8, 20, 255),
    fixed("state", "STATE", 10, Align::Left, 255),
    fixed("generation", "GEN", 3, Align::Right, 150),
    words("token", "TOKEN", 10, 24, 50),
    fixed("report", "LAST REPORT", 11, Align::Left, 120),
    words("next", "NEXT", 10, 40, 100),
];
