//! Records and rules: their columns are known, their sources are not read by this version.
//!
//! A site without the source says `off`; a site with it says that it is not read, which is not the same as "none".
//! They name no source: whatever its state, the reason above is the one that counts.

use std::sync::LazyLock;

use super::super::list::{Align, Cell, Column, ListDef, ListId, SortKey};
use super::{fixed, words};
use crate::inventory::{Gap, GapKind, Inventory, SourceId};

/// DNS records.
pub static RECORDS: ListDef = ListDef {
    gap: |inv| gap(inv, SourceId::Dns, &RECORDS_UNREAD, &RECORDS_OFF),
    ..unread(ListId::Records, "DNS records", "records", &RECORD_COLUMNS, "name")
};

/// Perimeter rules.
pub static RULES: ListDef = ListDef {
    gap: |inv| gap(inv, SourceId::Fw, &RULES_UNREAD, &RULES_OFF),
    ..unread(ListId::Rules, "Perimeter rules", "rules", &RULE_COLUMNS, "interface")
};

/// Forwards of the perimeter resolver.
pub static FORWARDS: ListDef = ListDef {
    gap: |inv| gap(inv, SourceId::Fw, &FORWARDS_UNREAD, &FORWARDS_OFF),
    ..unread(ListId::Forwards, "Forwards", "forwards", &FORWARD_COLUMNS, "domain")
};

static FORWARDS_UNREAD: LazyLock<Gap> = LazyLock::new(|| not_read("Forwards are not read by this version."));
static FORWARDS_OFF: LazyLock<Gap> = LazyLock::new(|| off("Forwards are not set up for this site."));
static RECORDS_UNREAD: LazyLock<Gap> = LazyLock::new(|| not_read("DNS records are not read by this version."));
static RECORDS_OFF: LazyLock<Gap> = LazyLock::new(|| off("DNS records are not set up for this site."));
static RULES_UNREAD: LazyLock<Gap> = LazyLock::new(|| not_read("Perimeter rules are not read by this version."));
static RULES_OFF: LazyLock<Gap> = LazyLock::new(|| off("Perimeter rules are not set up for this site."));

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

const RECORD_COLUMNS: [Column; 7] = [
    words("tenant", "TENANT", 8, 12, 80),
    words("name", "NAME", 8, 32, 255),
    fixed("type", "TYPE", 4, Align::Left, 200),
    words("authoritative", "AUTHORITATIVE", 12, 40, 150),
    fixed("ttl", "TTL", 4, Align::Right, 20),
    words("perimeter", "PERIMETER", 12, 40, 140),
    fixed("state", "STATE", 9, Align::Left, 255),
];

const RULE_COLUMNS: [Column; 8] = [
    words("interface", "INTERFACE", 8, 20, 255),
    fixed("proto", "PROTO", 5, Align::Left, 20),
    words("source", "SOURCE", 10, 30, 150),
    words("destination", "DESTINATION", 10, 30, 150),
    fixed("port", "PORT", 4, Align::Left, 140),
    fixed("hits", "HITS", 6, Align::Right, 60),
    fixed("loaded", "LOADED", 6, Align::Left, 100),
    fixed("state", "STATE", 9, Align::Left, 255),
];

const FORWARD_COLUMNS: [Column; 6] = [
    words("tenant", "TENANT", 8, 12, 80),
    words("domain", "DOMAIN", 12, 40, 255),
    words("server", "SERVER", 11, 24, 150),
    fixed("type", "TYPE", 7, Align::Left, 140),
    fixed("enabled", "ON", 3, Align::Left, 130),
    fixed("state", "STATE", 9, Align::Left, 255),
];
