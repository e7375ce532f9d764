//! Single objects as forms show them: every field, with its choices (facts/opnsense.md §3).

use serde_json::{Map, Value, json};

use super::options::{self, choice, network_text};
use super::{Ask, flag};
use crate::lab::perimeter::{Gateway, Nat};

pub(super) fn read(ask: &Ask<'_>, name: &str, id: Option<&str>) -> Option<Value> {
    let perimeter = ask.perimeter;
    Some(match name {
        "firewall/source_nat/get_rule" => match (id, perimeter.nat.iter().find(|nat| Some(nat.uuid.as_str()) == id)) {
            (Some(_), None) => json!([]),
            (_, nat) => json!({"rule": translation(ask, nat)}),
        },
        "routing/settings/get_gateway" => {
            match (id, perimeter.gateways.iter().find(|gateway| Some(gateway.uuid.as_str()) == id)) {
                (Some(_), None) => json!([]),
                (_, of) => json!({"gateway_item": gateway(ask, of)}),
            }
        }
        "firewall/filter/list_network_select_options" => networks(ask),
        _ => return None,
    })
}

fn translation(ask: &Ask<'_>, nat: Option<&Nat>) -> Value {
    let protocols = ["any", "TCP", "UDP", "TCP/UDP", "ICMP"].map(|protocol| (protocol, protocol));
    let sequence = if ask.modern() { "100" } else { "1" };
    let target = if ask.modern() && nat.is_none() { "" } else { "wanip" };
    let mut shown = json!({"enabled": "1", "nonat": "0", "sequence": sequence,
        "interface": options::interfaces(ask, nat.map_or("lan", |nat| nat.interface.as_str())),
        "ipprotocol": choice([("inet", "IPv4"), ("inet6", "IPv6")], "inet"), "protocol": choice(protocols, "any"),
        "source_net": nat.map_or("any", |nat| nat.source.as_str()), "source_not": "0", "source_port": "",
        "destination_net": "any", "destination_not": "0", "destination_port": "", "target": target,
        "target_port": "", "log": "0", "categories": [], "tagged": "",
        "description": nat.map_or("", |nat| nat.description.as_str())});
    if let (true, Value::Object(shown)) = (ask.modern(), &mut shown) {
        let group = if nat.is_some() { "400000" } else { "" };
        let order = if nat.is_some() { "400000.0000100" } else { "" };
        let more = json!({"nosync": "0", "sort_order": order, "prio_group": group, "staticnatport": "0", "tag": "",
            "endpoint-independent": "0"});
        shown.extend(more.as_object().cloned().unwrap_or_default());
    }
    shown
}

fn gateway(ask: &Ask<'_>, of: Option<&Gateway>) -> Value {
    let text = |field: fn(&Gateway) -> String| of.map(field).unwrap_or_default();
    let monitored = of.is_some_and(|gateway| gateway.monitored);
    let address = text(|gateway| gateway.address.to_string());
    let forced = of.is_some_and(|gateway| gateway.down && !gateway.monitored);
    let mut shown = json!({"disabled": "0", "name": text(|gateway| gateway.name.clone()),
        "descr": text(|gateway| gateway.name.clone()),
        "interface": options::interfaces(ask, of.map_or("-", |gateway| gateway.interface.as_str())),
        "ipprotocol": choice([("inet", "IPv4"), ("inet6", "IPv6")], "inet"), "gateway": address,
        "defaultgw": flag(of.is_some_and(|gateway| gateway.default)), "fargw": "0",
        "monitor_disable": flag(!monitored), "monitor_noroute": "0", "monitor_killstates": "0",
        "monitor_killstates_priority": "0", "monitor": if monitored { address.as_str() } else { "" },
        "force_down": flag(forced), "priority": "255", "weight": "1"});
    if let Value::Object(shown) = &mut shown {
        let limits = "latencylow latencyhigh losslow losshigh interval time_period loss_interval data_length";
        shown.extend(limits.split(' ').map(|key| (key.to_owned(), json!(""))));
        if ask.modern() {
            shown.insert("nosync".to_owned(), json!("0"));
        }
    }
    shown
}

/// What a rule's source and destination can be chosen from.
fn networks(ask: &Ask<'_>) -> Value {
    let shown = |alias: &&crate::lab::perimeter::Alias| alias.kind != "internal" && alias.kind != "port";
    let aliases: Map<String, Value> =
        ask.perimeter.aliases.iter().filter(shown).map(|alias| (alias.name.clone(), json!(alias.name))).collect();
    let mut networks = Map::new();
    let own = ["any".to_owned(), "(self)".to_owned()].into_iter();
    let sides = ask.perimeter.interfaces.iter().flat_map(|of| [format!("{}ip", of.id), of.id.clone()]);
    for value in own.chain(sides) {
        let text = network_text(ask, &value);
        networks.insert(value, json!(text));
    }
    json!({"single": {"label": "Single host or Network"}, "aliases": {"label": "Aliases", "items": aliases},
        "networks": {"label": "Networks", "items": networks}})
}
