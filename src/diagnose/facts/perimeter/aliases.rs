//! Aliases: names that rules use for networks.

use std::collections::BTreeMap;

use crate::diagnose::evidence::Item;
use crate::diagnose::facts::rows::{Row, listed, read, truth};
use crate::diagnose::facts::sdn::text;
use crate::diagnose::facts::{Facts, Reader, Sourced, Taken};

/// Readers.
pub(super) const READERS: &[Reader] = &[aliases];

/// What each alias means: networks, addresses and other aliases; `None` for one whose members are not in its row
/// (a table that something else fills, names that are resolved, ports).
pub type Aliases = BTreeMap<String, Option<Vec<String>>>;

fn aliases(item: &Item, facts: &mut Facts) -> Taken {
    let rows = listed(item, &["firewall/alias/searchitem"]);
    read(rows, |rows| {
        let all: Aliases = rows.iter().filter_map(alias).collect();
        facts.perimeter.aliases = Some(Sourced::new(all, item));
    })
}

fn alias(row: &Row) -> Option<(String, Option<Vec<String>>)> {
    let name = text(row, "name")?;
    let own = matches!(text(row, "type").as_deref(), Some("network" | "host")) && truth(row, "enabled") != Some(false);
    let content = text(row, "content").unwrap_or_default();
    let members =
        content.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    Some((name, own.then_some(members)))
}
