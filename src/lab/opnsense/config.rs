//! What is configured beside rules: aliases, routes, gateways, source NAT, forwards (facts/opnsense.md §6–§9).

use serde_json::{Map, Value, json};

use super::options::{self, choice, meta, network_text};
use super::{Ask, flag};
use crate::lab::perimeter::{Alias, Forward, ForwardKind, Gateway, Nat, Route};

/// Fields of an alias that are empty here.
const ALIAS_EMPTY: &[&str] = &[
    "path_expression",
    "updatefreq",
    "password",
    "username",
    "authtype",
    "expire",
    "categories",
    "current_items",
    "last_updated",
    "eval_nomatch",
    "eval_match",
    "in_block_p",
    "in_block_b",
    "in_pass_p",
    "in_pass_b",
    "out_block_p",
    "out_block_b",
    "out_pass_p",
    "out_pass_b",
];

pub(super) fn read(ask: &Ask<'_>, name: &str, id: Option<&str>) -> Option<Value> {
    let perimeter = ask.perimeter;
    Some(match name {
        "firewall/alias/search_item" => ask.grid(perimeter.aliases.iter().map(alias_row).collect()),
        "firewall/alias/get_item" => match (id, perimeter.aliases.iter().find(|alias| Some(alias.uuid.as_str()) == id))
        {
            (None, _) => json!({"alias": alias_shown(ask, None)}),
            (Some(_), None) => json!([]),
            (Some(_), alias) => json!({"alias": alias_shown(ask, alias)}),
        },
        "firewall/alias/get_alias_uuid" | "firewall/alias/get_alias_u_u_i_d" => {
            match perimeter.aliases.iter().find(|alias| Some(alias.name.as_str()) == id) {
                Some(alias) => json!({"uuid": alias.uuid}),
                None => json!([]),
            }
        }
        "firewall/alias/list_network_aliases" => network_aliases(ask),
        "firewall/alias/get_table_size" => json!({"status": "ok", "size": 0, "used": 0, "details": []}),
        "firewall/alias_util/aliases" => tables(ask).map(|alias| json!(alias.name)).collect(),
        "firewall/alias_util/list" => {
            let alias = tables(ask).find(|alias| Some(alias.name.as_str()) == id);
            let rows = alias.into_iter().flat_map(|alias| &alias.content).map(|entry| json!({"ip": entry}));
            ask.grid(rows.collect())
        }
        "firewall/category/search_item" => ask.grid(Vec::new()),
        "firewall/filter/list_categories" => json!({"rows": []}),
        "firewall/source_nat/search_rule" => ask.grid(nat_rows(ask)),
        "firewall/source_nat/get" if ask.modern() => {
            json!({"filter": {"general": {"snat_mode": options::snat_mode()}}})
        }
        "firewall/d_nat/search_rule" if ask.modern() => ask.grid(lockout_rows(ask)),
        "firewall/one_to_one/search_rule" | "firewall/npt/search_rule" => ask.grid(Vec::new()),
        "routes/routes/searchroute" | "routes/routes/search_route" => {
            ask.grid(perimeter.routes.iter().map(|route| route_row(ask, route)).collect())
        }
        "routes/routes/getroute" | "routes/routes/get_route" => {
            match (id, perimeter.routes.iter().find(|route| Some(route.uuid.as_str()) == id)) {
                (Some(_), None) => json!([]),
                (_, route) => json!({"route": route_shown(ask, route)}),
            }
        }
        "routes/gateway/status" => {
            json!({"items": perimeter.gateways.iter().map(gateway_status).collect::<Vec<_>>(), "status": "ok"})
        }
        "routing/settings/search_gateway" => {
            let rows = perimeter.gateways.iter().enumerate().map(|(at, gateway)| gateway_row(ask, at, gateway));
            ask.grid(rows.collect())
        }
        "unbound/settings/search_forward" => forwards(ask, ForwardKind::Forward),
        "unbound/settings/search_dot" => forwards(ask, ForwardKind::Dot),
        "unbound/settings/get_forward" | "unbound/settings/get_dot" => {
            match (id, perimeter.forwards.iter().find(|forward| Some(forward.uuid.as_str()) == id)) {
                (Some(_), None) => json!([]),
                (_, forward) => json!({"dot": forward_shown(forward)}),
            }
        }
        "unbound/settings/search_host_override" => ask.grid(Vec::new()),
        _ => return None,
    })
}

fn alias_row(alias: &Alias) -> Value {
    let texts = [
        ("external", "External (advanced)"),
        ("internal", "Internal (automatic)"),
        ("network", "Network(s)"),
        ("port", "Port(s)"),
    ];
    let text = texts.iter().find(|(kind, _)| *kind == alias.kind).map_or(alias.kind.as_str(), |(_, text)| text);
    let own = matches!(alias.kind.as_str(), "network" | "port" | "host");
    let mut row = json!({"uuid": alias.uuid, "enabled": "1", "name": alias.name, "type": alias.kind, "%type": text,
        "proto": "", "interface": "", "counters": if own { "0" } else { "" }, "content": alias.content.join("\n"),
        "description": alias.description, "categories_uuid": []});
    if let Value::Object(row) = &mut row {
        row.extend(ALIAS_EMPTY.iter().map(|key| ((*key).to_owned(), json!(""))));
    }
    row
}

fn alias_shown(ask: &Ask<'_>, alias: Option<&Alias>) -> Value {
    let kind = alias.map_or("host", |alias| alias.kind.as_str());
    let kinds =
        [("host", "Host(s)"), ("network", "Network(s)"), ("port", "Port(s)"), ("external", "External (advanced)")];
    let mut content = Map::new();
    for entry in alias.into_iter().flat_map(|alias| &alias.content) {
        content.insert(entry.clone(), json!({"value": entry, "selected": 1}));
    }
    for other in tables(ask).filter(|other| other.kind == "network") {
        let row = json!({"selected": 0, "value": other.name, "description": other.description});
        content.insert(other.name.clone(), row);
    }
    let mut shown = json!({"enabled": "1", "name": alias.map_or("", |alias| alias.name.as_str()),
        "type": choice(kinds, kind), "proto": choice([("IPv4", "IPv4"), ("IPv6", "IPv6")], "-"),
        "interface": with_none(options::interfaces(ask, "-")), "counters": "0", "content": content,
        "description": alias.map_or("", |alias| alias.description.as_str())});
    if let Value::Object(shown) = &mut shown {
        shown.extend(ALIAS_EMPTY.iter().map(|key| ((*key).to_owned(), json!(""))));
        let ways = [("", "None"), ("Basic", "Basic"), ("Bearer", "Bearer")];
        shown.insert("authtype".to_owned(), choice(ways, ""));
        shown.insert("categories".to_owned(), json!([]));
    }
    shown
}

/// Puts `None`, selected, in front of a choice.
fn with_none(options: Value) -> Value {
    let mut out = Map::new();
    out.insert(String::new(), json!({"value": "None", "selected": 1}));
    if let Value::Object(options) = options {
        out.extend(options);
    }
    Value::Object(out)
}

/// Aliases that are tables in pf: ports are not.
fn tables<'a>(ask: &Ask<'a>) -> impl Iterator<Item = &'a Alias> {
    ask.perimeter.aliases.iter().filter(|alias| alias.kind != "port")
}

fn network_aliases(ask: &Ask<'_>) -> Value {
    let listed = tables(ask).filter(|alias| alias.kind != "external");
    let row = |alias: &Alias| (alias.name.clone(), json!({"name": alias.name, "description": alias.description}));
    Value::Object(listed.map(row).collect())
}

fn nat_rows(ask: &Ask<'_>) -> Vec<Value> {
    let mut rows: Vec<Value> = (1..).zip(&ask.perimeter.nat).map(|(at, nat)| nat_row(ask, at, nat)).collect();
    if ask.modern() {
        rows.extend([("automatic_isakmp_wan", "500", "1"), ("automatic_wan", "", "0")].map(|r| automatic_nat(ask, r)));
    }
    rows
}

fn nat_row(ask: &Ask<'_>, at: u32, nat: &Nat) -> Value {
    let interface = ask.perimeter.interface(&nat.interface).map_or("", |i| i.description.as_str());
    let sequence = if ask.modern() { 100 * at } else { 1 };
    let mut row = json!({"uuid": nat.uuid, "enabled": "1", "nonat": "0", "sequence": sequence.to_string(),
        "interface": nat.interface, "%interface": interface, "ipprotocol": "inet", "%ipprotocol": "IPv4",
        "protocol": "any", "source_net": nat.source, "source_not": "0", "source_port": "", "destination_net": "any",
        "destination_not": "0", "destination_port": "", "target": "wanip", "%target": "WAN address",
        "target_port": "", "log": "0", "categories": "", "tagged": "", "description": nat.description});
    if let (true, Value::Object(row)) = (ask.modern(), &mut row) {
        let more = json!({"nosync": "0", "sort_order": format!("400000.{sequence:07}"), "prio_group": "400000",
            "staticnatport": "0", "tag": "", "endpoint-independent": "0", "category_colors": [],
            "alias_meta_source_net": meta(ask, &nat.source), "alias_meta_destination_net": meta(ask, "any"),
            "alias_meta_target": meta(ask, "wanip")});
        row.extend(more.as_object().cloned().unwrap_or_default());
    }
    row
}

/// What hybrid mode adds: networks of interfaces, but none that is only routed.
fn automatic_nat(ask: &Ask<'_>, (uuid, port, fixed): (&str, &str, &str)) -> Value {
    let inside = ask.perimeter.interfaces.iter().filter(|i| i.id != "wan" && i.address.is_some());
    let inside: Vec<&str> = inside.map(|interface| interface.id.as_str()).collect();
    let described: Vec<Value> = inside
        .iter()
        .map(|id| json!({"value": id, "%value": network_text(ask, id), "isAlias": false, "description": ""}))
        .collect();
    let text = if port.is_empty() { "Auto created rule" } else { "Auto created rule for ISAKMP" };
    let mut row = json!({"uuid": uuid, "enabled": "1", "nonat": "0", "nosync": "0", "sequence": "1", "interface": "wan",
        "%interface": "WAN", "ipprotocol": "inet", "%ipprotocol": "IPv4", "protocol": "any", "%protocol": "*",
        "source_net": inside.join(","), "source_not": "0", "source_port": "", "destination_net": "any",
        "destination_not": "0", "destination_port": port, "target": "wanip", "target_port": "",
        "staticnatport": fixed, "log": "0", "categories": "", "tag": "", "tagged": "", "description": text,
        "is_automatic": true, "sort_order": "500000.0000001", "prio_group": "500000", "category_colors": [],
        "alias_meta_source_net": described, "alias_meta_destination_net": meta(ask, "any"),
        "alias_meta_target": meta(ask, "wanip")});
    if let (false, Value::Object(row)) = (port.is_empty(), &mut row) {
        row.insert("alias_meta_destination_port".to_owned(), meta(ask, port));
    }
    row
}

fn lockout_rows(ask: &Ask<'_>) -> Vec<Value> {
    let row = |(at, port): (usize, &str)| {
        json!({"uuid": format!("lockout_{at}"), "ipprotocol": "", "protocol": "tcp", "%protocol": "TCP",
            "disabled": "0", "nordr": "1", "interface": "lan", "%interface": "LAN", "destination.network": "lanip",
            "destination.port": port, "alias_meta_destination.port": meta(ask, port),
            "alias_meta_destination.network": meta(ask, "lanip"), "descr": "Anti-Lockout Rule", "is_automatic": true,
            "sort_order": format!("100000.{at:07}"), "prio_group": "100000"})
    };
    [(1, "443"), (0, "80")].map(row).to_vec()
}

/// `NAME - address`, as a gateway is called where it is only a reference.
fn gateway_text(ask: &Ask<'_>, name: &str) -> String {
    ask.perimeter.gateway(name).map_or_else(|| name.to_owned(), |gateway| format!("{name} - {}", gateway.address))
}

fn route_row(ask: &Ask<'_>, route: &Route) -> Value {
    let mut row = json!({"uuid": route.uuid, "network": route.network, "gateway": route.gateway,
        "%gateway": gateway_text(ask, &route.gateway), "descr": route.description});
    switch(ask, &mut row, route.enabled);
    row
}

/// The switch of a route turned round between releases.
fn switch(ask: &Ask<'_>, row: &mut Value, enabled: bool) {
    let (key, on) = if ask.modern() { ("enabled", enabled) } else { ("disabled", !enabled) };
    if let Value::Object(row) = row {
        row.insert(key.to_owned(), json!(flag(on)));
    }
}

fn route_shown(ask: &Ask<'_>, route: Option<&Route>) -> Value {
    let mut shown = json!({"network": route.map_or("", |route| route.network.as_str()),
        "gateway": options::gateways(ask, false, route.map_or("-", |route| route.gateway.as_str())),
        "descr": route.map_or("", |route| route.description.as_str())});
    switch(ask, &mut shown, route.is_none_or(|route| route.enabled));
    shown
}

/// Status word, its text, delay, deviation, loss; `~` for what is not measured.
fn measured(gateway: &Gateway) -> [&'static str; 5] {
    match (gateway.monitored, gateway.down) {
        (true, false) => ["none", "Online", "11.2 ms", "0.8 ms", "0.0 %"],
        (true, true) => ["down", "Offline", "~", "~", "100.0 %"],
        (false, false) => ["none", "Online", "~", "~", "~"],
        (false, true) => ["force_down", "Offline (forced)", "~", "~", "~"],
    }
}

fn gateway_status(gateway: &Gateway) -> Value {
    let [status, text, delay, deviation, loss] = measured(gateway);
    let monitor = if gateway.monitored { gateway.address.to_string() } else { "~".to_owned() };
    json!({"name": gateway.name, "address": gateway.address.to_string(), "status": status, "loss": loss,
        "delay": delay, "stddev": deviation, "monitor": monitor, "status_translated": text})
}

fn gateway_row(ask: &Ask<'_>, at: usize, gateway: &Gateway) -> Value {
    let [_, text, delay, deviation, loss] = measured(gateway);
    let interface = ask.perimeter.interface(&gateway.interface);
    let class = if gateway.down { "fa fa-plug text-danger" } else { "fa fa-plug text-success" };
    let forced = gateway.down && !gateway.monitored;
    let mut row = json!({"disabled": false, "name": gateway.name, "descr": gateway.name,
        "interface": gateway.interface, "ipprotocol": "inet", "gateway": gateway.address.to_string(),
        "defaultgw": gateway.default, "fargw": "0", "monitor_disable": flag(!gateway.monitored),
        "monitor_noroute": "0", "monitor_killstates": "0", "monitor_killstates_priority": "0",
        "monitor": if gateway.monitored { gateway.address.to_string() } else { String::new() },
        "force_down": flag(forced), "priority": "255", "weight": "1", "uuid": gateway.uuid,
        "if": interface.map_or("", |i| i.device.as_str()), "attribute": at, "virtual": false,
        "upstream": gateway.default, "interface_descr": interface.map_or("", |i| i.description.as_str()),
        "status": text, "delay": delay, "stddev": deviation, "loss": loss, "label_class": class});
    let thresholds = [
        ("latencylow", "200"),
        ("latencyhigh", "500"),
        ("losslow", "10"),
        ("losshigh", "20"),
        ("interval", "1"),
        ("time_period", "60"),
        ("loss_interval", "4"),
        ("data_length", "1"),
    ];
    if let Value::Object(row) = &mut row {
        for (key, value) in thresholds {
            row.insert(key.to_owned(), json!(""));
            row.insert(format!("current_{key}"), json!(value));
        }
        if ask.modern() {
            row.insert("nosync".to_owned(), json!("0"));
        }
    }
    row
}

fn forwards(ask: &Ask<'_>, kind: ForwardKind) -> Value {
    let rows = ask.perimeter.forwards.iter().filter(|forward| forward.kind == kind);
    let row = |forward: &Forward| {
        let (word, text) = match kind {
            ForwardKind::Forward => ("forward", "Forward"),
            ForwardKind::Dot => ("dot", "DNS over TLS"),
        };
        json!({"uuid": forward.uuid, "enabled": flag(forward.enabled), "type": word, "%type": text,
            "domain": forward.domain, "server": forward.server, "port": forward.port, "verify": "",
            "forward_tcp_upstream": "0", "forward_first": "0", "description": forward.description})
    };
    ask.grid(rows.map(row).collect())
}

pub(super) fn forward_shown(forward: Option<&Forward>) -> Value {
    let kind = match forward.map(|forward| forward.kind) {
        Some(ForwardKind::Forward) => "forward",
        Some(ForwardKind::Dot) | None => "dot",
    };
    let text = |field: fn(&Forward) -> &String| forward.map(field).cloned().unwrap_or_default();
    json!({"enabled": flag(forward.is_none_or(|forward| forward.enabled)),
        "type": choice([("dot", "DNS over TLS"), ("forward", "Forward")], kind), "domain": text(|f| &f.domain),
        "server": text(|f| &f.server), "port": text(|f| &f.port), "verify": "", "forward_tcp_upstream": "0", "forward_first": "0",
        "description": text(|f| &f.description)})
}
