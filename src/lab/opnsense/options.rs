//! Option maps: how the API shows a field with a choice (facts/opnsense.md §3).

use serde_json::{Map, Value, json};

use super::Ask;

/// `{key: {"value": text, "selected": 0|1}}` with the chosen keys of a comma list selected.
pub(super) fn choice<K: AsRef<str>, V: AsRef<str>>(options: impl IntoIterator<Item = (K, V)>, chosen: &str) -> Value {
    let selected = |key: &str| if key.is_empty() { chosen.is_empty() } else { chosen.split(',').any(|c| c == key) };
    let row = |(key, text): (K, V)| {
        let on = i32::from(selected(key.as_ref()));
        (key.as_ref().to_owned(), json!({"value": text.as_ref(), "selected": on}))
    };
    Value::Object(options.into_iter().map(row).collect::<Map<String, Value>>())
}

/// Interfaces by id, in the order of their descriptions.
pub(super) fn interfaces(ask: &Ask<'_>, chosen: &str) -> Value {
    let mut rows: Vec<(&str, &str)> =
        ask.perimeter.interfaces.iter().map(|i| (i.id.as_str(), i.description.as_str())).collect();
    rows.sort_by_key(|(_, description)| description.to_owned());
    choice(rows, chosen)
}

/// Gateways by name, with the two that lead nowhere.
pub(super) fn gateways(ask: &Ask<'_>, none: bool, chosen: &str) -> Value {
    let mut rows = Vec::new();
    if none {
        rows.push((String::new(), "None".to_owned()));
    }
    rows.push(("Null4".to_owned(), "Null4 - 127.0.0.1".to_owned()));
    rows.push(("Null6".to_owned(), "Null6 - ::1".to_owned()));
    rows.extend(ask.perimeter.gateways.iter().map(|g| (g.name.clone(), format!("{} - {}", g.name, g.address))));
    choice(rows, chosen)
}

/// What a rule may say about a network, as text.
pub(super) fn network_text(ask: &Ask<'_>, value: &str) -> String {
    let of = |id: &str| ask.perimeter.interface(id).map(|interface| interface.description.clone());
    let network = if ask.modern() { "network" } else { "net" };
    match value {
        "(self)" => "This Firewall".to_owned(),
        _ => of(value).map(|text| format!("{text} {network}")).unwrap_or_else(|| {
            let address = value.strip_suffix("ip").and_then(of);
            address.map_or_else(|| value.to_owned(), |text| format!("{text} address"))
        }),
    }
}

/// The description of a value beside a rule's field.
pub(super) fn meta(ask: &Ask<'_>, value: &str) -> Value {
    let alias = ask.perimeter.aliases.iter().find(|alias| alias.name == value);
    json!([{"value": value, "%value": network_text(ask, value), "isAlias": alias.is_some(),
        "description": alias.map_or("", |alias| alias.description.as_str())}])
}

/// Modes of outbound translation, with the site's selected.
pub(super) fn snat_mode() -> Value {
    let modes = [("automatic", "Automatic"), ("hybrid", "Hybrid"), ("advanced", "Manual"), ("disabled", "Disable")];
    choice(modes.map(|(mode, word)| (mode, format!("{word} Source NAT rule generation"))), "hybrid")
}
