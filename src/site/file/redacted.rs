//! A site file for somebody else's eyes: where its secrets come from is left out.

use toml::{Table, Value};

use super::keys::{Kind, SITE};

/// What stands in place of where a secret comes from.
const INSTEAD: &str = "REDACTED";

/// `text` without where its secrets come from; it still reads as a site file. Comments are lost. Empty when it is no
/// TOML.
pub(super) fn redacted(text: &str) -> String {
    let Ok(mut file) = text.parse::<Table>() else { return String::new() };
    for section in SITE {
        let secrets = section.keys.iter().filter(|key| key.kind == Kind::Secret).map(|key| key.name);
        for name in secrets {
            match file.get_mut(section.name) {
                Some(Value::Table(table)) => hide(table, name),
                Some(Value::Array(all)) => all.iter_mut().filter_map(Value::as_table_mut).for_each(|t| hide(t, name)),
                _ => {}
            }
        }
    }
    file.to_string()
}

fn hide(table: &mut Table, name: &str) {
    if let Some(value) = table.get_mut(name) {
        *value = Value::Table(Table::from_iter([("env".to_owned(), Value::String(INSTEAD.to_owned()))]));
    }
}
