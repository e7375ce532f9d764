//! Filter rules: made through the API, automatic and legacy ones, with their counters (facts/opnsense.md §4).

use serde_json::{Map, Value, json};

use super::options::{self, choice, network_text};
use super::{Ask, flag};
use crate::lab::perimeter::Rule;
use crate::lab::sdn::digest_of;

/// Fields of a rule that nobody here sets, empty.
const EMPTY: &[&str] = &[
    "statetimeout",
    "udp-first",
    "udp-multiple",
    "udp-single",
    "max-src-nodes",
    "max-src-states",
    "max-src-conn",
    "max",
    "max-src-conn-rate",
    "max-src-conn-rates",
    "max-pkt-rate-number",
    "max-pkt-rate-seconds",
    "overload",
    "adaptivestart",
    "adaptiveend",
    "prio",
    "set-prio",
    "set-prio-low",
    "tag",
    "tagged",
    "tcpflags1",
    "tcpflags2",
    "tcpflags_any",
    "categories",
    "sched",
    "tos",
    "shaper1",
    "shaper2",
];
/// Fields that came with 26.x.
const NEWER: &[&str] = &["max-pkt-rate-number", "max-pkt-rate-seconds", "tcpflags_any", "divert-to"];

/// An automatic or legacy rule: description, action, direction, protocol, interface id, group.
pub(super) struct Fixed(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) u32,
);

const FIXED: &[Fixed] = &[
    Fixed("Default deny / state violation rule", "block", "in", "", "", 1),
    Fixed("IPv6 RFC4890 requirements (ICMP)", "pass", "in", "ipv6-icmp", "", 1),
    Fixed("IPv6 RFC4890 requirements (ICMP)", "pass", "out", "ipv6-icmp", "", 1),
    Fixed("block all targeting port 0", "block", "in", "tcp/udp", "", 1),
    Fixed("sshlockout", "block", "in", "tcp", "", 1),
    Fixed("virusprot overload table", "block", "in", "", "", 1),
    Fixed("allow access to DHCP server", "pass", "in", "udp", "opt1", 1),
    Fixed("allow access to DHCP server", "pass", "in", "udp", "opt8", 1),
    Fixed("Block bogon IPv4 networks from WAN", "block", "in", "", "wan", 5),
    Fixed("let out anything from firewall host itself", "pass", "out", "", "", 5),
    Fixed("anti-lockout rule", "pass", "in", "tcp", "lan", 5),
    Fixed("let out anything from firewall host itself (force gw)", "pass", "out", "", "", 10_000),
];
/// The one rule that was made by hand before rules had an API.
const LEGACY: Fixed = Fixed("legacy: management pings the router", "pass", "in", "icmp", "opt8", 400_000);

pub(super) fn read(ask: &Ask<'_>, name: &str, id: Option<&str>) -> Option<Value> {
    Some(match name {
        "firewall/filter/search_rule" => search(ask),
        "firewall/filter/get_rule" => match id {
            None => json!({"rule": shown(ask, &template())}),
            Some(id) => match ask.perimeter.rules.iter().find(|rule| rule.uuid == id) {
                Some(rule) => json!({"rule": shown(ask, rule)}),
                None => json!([]),
            },
        },
        "firewall/filter/get" => whole(ask),
        "firewall/source_nat/get" if !ask.modern() => whole(ask),
        "firewall/filter_util/rule_stats" => json!({"status": "ok", "stats": statistics(ask)}),
        "firewall/filter/get_interface_list" => interface_list(ask),
        "firewall/migration/count_rules" if ask.modern() => json!({"status": "ok", "count": 1}),
        "firewall/migration/count_outbound" if ask.modern() => json!({"status": "ok", "count": 0}),
        "diagnostics/firewall/list_rule_ids" => rule_ids(ask),
        _ => return None,
    })
}

/// The whole model: rules with their choices, and what else lives in it.
fn whole(ask: &Ask<'_>) -> Value {
    let rules: Map<String, Value> =
        ask.perimeter.rules.iter().map(|rule| (rule.uuid.clone(), shown(ask, rule))).collect();
    // Written by PHP, an empty map is a list.
    let mut filter = json!({"rules": {"rule": rules}, "snatrules": {"rule": []}, "npt": {"rule": []},
        "onetoone": {"rule": []}});
    if let (true, Value::Object(filter)) = (ask.modern(), &mut filter) {
        filter.insert("general".to_owned(), json!({"snat_mode": options::snat_mode()}));
    }
    json!({"filter": filter})
}

/// What a rule is before anybody has said anything about it: pass, everything, everywhere.
fn template() -> Rule {
    Rule {
        uuid: String::new(),
        enabled: true,
        sequence: 1,
        action: "pass".to_owned(),
        interface: String::new(),
        protocol: "any".to_owned(),
        source: "any".to_owned(),
        destination: "any".to_owned(),
        destination_not: false,
        port: String::new(),
        description: String::new(),
    }
}

fn search(ask: &Ask<'_>) -> Value {
    let wanted = ask.text("interface");
    let all = ask.text("show_all").as_deref() == Some("1");
    // Nothing here has a category.
    if ask.body.get("category").and_then(Value::as_array).is_some_and(|chosen| !chosen.is_empty()) {
        return ask.grid(Vec::new());
    }
    let chosen = |rule: &&Rule| match wanted.as_deref() {
        // Until 26.1 a search that names no interface leaves the rules of single interfaces out.
        None => ask.modern() || rule.floating(),
        Some("") => rule.floating(),
        Some(id) => {
            let named = rule.interface.split(',').any(|interface| interface == id);
            if ask.modern() || all { named || rule.interface.is_empty() } else { rule.interface == id }
        }
    };
    let mut rows = Vec::new();
    if ask.modern() || all {
        rows.extend(fixed(ask, wanted.as_deref()));
    }
    let mut own: Vec<Value> = ask.perimeter.rules.iter().filter(chosen).map(|rule| row(ask, rule)).collect();
    own.sort_by_key(|row| row.get("sort_order").map(super::plain));
    rows.extend(own);
    if all {
        let stats = statistics(ask);
        for row in &mut rows {
            let label = row.get("uuid").map(super::plain).unwrap_or_default();
            if let (Some(row), Some(Value::Object(counted))) = (row.as_object_mut(), stats.get(&label)) {
                row.extend(counted.clone());
            }
        }
    }
    ask.grid(rows)
}

fn group(rule: &Rule) -> u32 {
    if rule.floating() { 200_000 } else { 400_000 }
}

/// A value, and its text where that is another.
fn told(row: &mut Map<String, Value>, key: &str, value: &str, text: &str) {
    row.insert(key.to_owned(), json!(value));
    if value != text && !value.is_empty() {
        row.insert(format!("%{key}"), json!(text));
    }
}

fn title(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

fn descriptions(ask: &Ask<'_>, ids: &str) -> String {
    let text = |id: &str| ask.perimeter.interface(id).map_or(id.to_owned(), |i| i.description.clone());
    ids.split(',').filter(|id| !id.is_empty()).map(text).collect::<Vec<_>>().join(", ")
}

fn row(ask: &Ask<'_>, rule: &Rule) -> Value {
    let mut row = Map::new();
    let mut put = |key: &str, value: &str| row.insert(key.to_owned(), json!(value));
    put("uuid", &rule.uuid);
    put("enabled", flag(rule.enabled));
    told(&mut row, "statetype", "keep", "keep state");
    let mut put = |key: &str, value: &str| row.insert(key.to_owned(), json!(value));
    put("state-policy", "");
    put("sequence", &rule.sequence.to_string());
    put("sort_order", &format!("{}.{:07}", group(rule), rule.sequence));
    put("prio_group", &group(rule).to_string());
    put("quick", "1");
    put("interfacenot", "0");
    told(&mut row, "action", &rule.action, &title(&rule.action));
    told(&mut row, "interface", &rule.interface, &descriptions(ask, &rule.interface));
    told(&mut row, "direction", "in", "In");
    told(&mut row, "ipprotocol", "inet", "IPv4");
    let nets = [("source", &rule.source, false), ("destination", &rule.destination, rule.destination_not)];
    for (side, net, negated) in nets {
        told(&mut row, &format!("{side}_net"), net, &network_text(ask, net));
        row.insert(format!("{side}_not"), json!(flag(negated)));
    }
    let mut put = |key: &str, value: &str| row.insert(key.to_owned(), json!(value));
    put("protocol", &rule.protocol);
    put("source_port", "");
    put("destination_port", &rule.port);
    for key in ["icmptype", "icmp6type", "gateway", "replyto"] {
        put(key, "");
    }
    for key in ["disablereplyto", "log", "allowopts", "nosync", "nopfsync"] {
        put(key, "0");
    }
    for key in EMPTY.iter().chain(&["divert-to"]).filter(|key| ask.modern() || !NEWER.contains(key)) {
        put(key, if *key == "tcpflags_any" { "0" } else { "" });
    }
    put("description", &rule.description);
    row.insert("category_colors".to_owned(), json!([]));
    let metas =
        [("source_net", &rule.source), ("destination_net", &rule.destination), ("destination_port", &rule.port)];
    for (key, value) in metas.iter().filter(|(_, value)| !value.is_empty()) {
        row.insert(format!("alias_meta_{key}"), options::meta(ask, value));
    }
    Value::Object(row)
}

/// The label of an automatic or legacy rule: 32 hexadecimal digits that follow from what it says.
pub(super) fn label(at: usize, fixed: &Fixed) -> String {
    digest_of(&format!("{at} {} {} {}", fixed.0, fixed.2, fixed.4)).chars().take(32).collect()
}

pub(super) fn numbered() -> impl Iterator<Item = (usize, &'static Fixed)> {
    FIXED.iter().chain([&LEGACY]).enumerate()
}

/// The rows nobody can edit here: types differ from those of the others, and an interface is its description.
fn fixed(ask: &Ask<'_>, wanted: Option<&str>) -> Vec<Value> {
    let listed = |interface: &str| match wanted {
        None => true,
        Some(id) => interface.is_empty() || interface == id,
    };
    numbered().filter(|(_, fixed)| listed(fixed.4)).map(|(at, fixed)| fixed_row(ask, at, fixed)).collect()
}

fn fixed_row(ask: &Ask<'_>, at: usize, fixed: &Fixed) -> Value {
    let Fixed(description, action, direction, protocol, interface, group) = fixed;
    let legacy = *group == LEGACY.5;
    let action_text = title(action);
    let mut row = json!({"#priority": group, "enabled": "1", "replyto": "", "description": description,
        "action": if ask.modern() { action } else { action_text.as_str() }, "direction": direction,
        "source_net": "", "source_port": "", "destination_net": "", "destination_port": "",
        "ref": if legacy { "ui/firewall/migration" } else { "" }, "uuid": label(at, fixed),
        "sort_order": format!("{group:06}.{}", 1_000_001 + at), "legacy": true, "is_automatic": !legacy,
        "category_colors": if ask.modern() { json!([]) } else { json!(["#000"]) }});
    let Value::Object(object) = &mut row else { return row };
    if at == 0 {
        object.insert("quick".to_owned(), json!(false));
    }
    let (key, text) = if protocol.contains("ipv6") { ("inet6", "IPv6") } else { ("inet46", "IPv4+IPv6") };
    if ask.modern() {
        object.insert("ipprotocol".to_owned(), json!(key));
        object.insert("protocol".to_owned(), json!(protocol));
        let texts = [
            ("%direction", title(direction)),
            ("%action", action_text),
            ("%ipprotocol", if key == "inet6" { text.to_owned() } else { String::new() }),
            ("%protocol", protocol.to_uppercase()),
        ];
        object.extend(texts.map(|(key, text)| (key.to_owned(), json!(text))));
    } else {
        object.insert("ipprotocol".to_owned(), json!(text));
        object.insert("categories".to_owned(), json!("Automatically generated rules"));
        if !protocol.is_empty() {
            object.insert("protocol".to_owned(), json!(protocol));
        }
    }
    if !interface.is_empty() {
        object.insert("interface".to_owned(), json!(descriptions(ask, interface)));
    }
    if legacy {
        object.insert("source_net".to_owned(), json!(interface));
        object.insert("destination_net".to_owned(), json!(format!("{interface}ip")));
    } else if *action == "block" {
        object.insert("log".to_owned(), json!(true));
        object.insert("disablereplyto".to_owned(), json!(1));
    }
    row
}

/// Counters by label; a rule that is not compiled has none.
fn statistics(ask: &Ask<'_>) -> Map<String, Value> {
    let mut labels: Vec<(String, u64)> = numbered().map(|(at, fixed)| (label(at, fixed), 2)).collect();
    labels
        .extend(ask.perimeter.loaded().map(|rule| (rule.uuid.clone(), if rule.protocol == "TCP/UDP" { 2 } else { 1 })));
    labels.into_iter().map(|(label, rules)| (label.clone(), counters(ask, &label, rules))).collect()
}

pub(super) fn counters(ask: &Ask<'_>, label: &str, rules: u64) -> Value {
    let compared = ask.world.counter(&format!("pf {label}"), 900, ask.now);
    let idle = ask.perimeter.idle.contains(label);
    let packets = if idle { 0 } else { compared };
    json!({"pf_rules": rules, "evaluations": compared * 9 + 11, "packets": packets, "bytes": packets * 512,
        "states": if idle { 0 } else { ask.world.number(&format!("states {label} {}", ask.now.div_euclid(30))) % 20 }})
}

fn rule_ids(ask: &Ask<'_>) -> Value {
    let mut items: Vec<(String, String)> = numbered().map(|(at, f)| (f.0.to_owned(), label(at, f))).collect();
    items.extend(ask.perimeter.loaded().map(|r| (r.description.clone(), r.uuid.clone())));
    items.sort();
    json!({"items": items.iter().map(|(text, id)| json!({"id": id, "descr": text})).collect::<Vec<_>>()})
}

/// Interfaces to choose from; the older release also counts their rules.
fn interface_list(ask: &Ask<'_>) -> Value {
    let count = |id: &str| ask.perimeter.rules.iter().filter(|rule| rule.interface == id).count();
    let item = |value: &str, label: &str, kind: &str| {
        if ask.modern() {
            json!({"value": value, "label": label, "type": kind})
        } else {
            json!({"value": value, "label": label, "count": count(value), "type": kind})
        }
    };
    let mut rows: Vec<(&str, &str)> =
        ask.perimeter.interfaces.iter().map(|i| (i.description.as_str(), i.id.as_str())).collect();
    rows.sort_unstable();
    let items: Vec<Value> = rows.iter().map(|(text, id)| item(id, text, "interface")).collect();
    let fixed = if ask.modern() { " fa-fw" } else { "" };
    let floating = match ask.modern() {
        true => item("__floating", "Floating", "floating"),
        false => item("", "Any", "floating"),
    };
    let mut list = json!({
        "floating": {"label": "Floating", "icon": format!("fa fa-layer-group{fixed} text-primary"), "items": [floating]},
        "groups": {"label": "Groups", "icon": format!("fa fa-sitemap{fixed} text-warning"), "items": []},
        "interfaces": {"label": "Interfaces", "icon": format!("fa fa-ethernet{fixed} text-info"), "items": items}});
    if let (true, Value::Object(list)) = (ask.modern(), &mut list) {
        let all = json!([item("__any", "All rules", "any")]);
        list.insert("any".to_owned(), json!({"label": "Any", "icon": "fa fa-globe-europe fa-fw", "items": all}));
    }
    list
}

fn icmp_types(ask: &Ask<'_>) -> Value {
    let mut types = choice([("echoreq", "Echo Request"), ("echorep", "Echo Reply")], "-");
    if let (true, Value::Object(types)) = (ask.modern(), &mut types) {
        for kind in types.values_mut().filter_map(Value::as_object_mut) {
            kind.insert("optgroup".to_owned(), json!("Common"));
        }
    }
    types
}

/// A rule with its choices, as a form would show it.
fn shown(ask: &Ask<'_>, rule: &Rule) -> Value {
    let mut out = match row(ask, rule) {
        Value::Object(row) => row,
        _ => Map::new(),
    };
    out.retain(|key, _| !key.starts_with('%') && !key.starts_with("alias_meta_"));
    out.shift_remove("category_colors");
    out.shift_remove("uuid");
    let states = ["keep", "sloppy", "modulate", "synproxy", "none"];
    let words = states.map(|s| (s, if s == "none" { "no state".to_owned() } else { format!("{s} state") }));
    let none = [("", "None")];
    let flags = ["syn", "ack", "fin", "rst", "psh", "urg", "ece", "cwr"].map(|flag| (flag, flag));
    let protocols = ["any", "TCP", "UDP", "TCP/UDP", "ICMP", "ESP", "AH", "GRE", "IGMP"].map(|p| (p, p));
    let policies = [("", "default"), ("if-bound", "Bind states to interface"), ("floating", "Floating states")];
    let priorities = [("", "Any priority"), ("1", "Background (1, lowest)"), ("0", "Best Effort (0, default)")];
    let keep = [("", "Keep current priority"), ("1", "Background (1, lowest)"), ("0", "Best Effort (0, default)")];
    let aliases = ask.perimeter.aliases.iter().map(|alias| (alias.name.as_str(), alias.name.as_str()));
    let ways = [("in", "In"), ("out", "Out"), ("any", "Both")];
    let choices = [
        ("statetype", choice(words, "keep")),
        ("state-policy", choice(policies, "")),
        ("action", choice([("pass", "Pass"), ("block", "Block"), ("reject", "Reject")], &rule.action)),
        ("interface", options::interfaces(ask, &rule.interface)),
        ("direction", choice(ways.iter().copied().take(if ask.modern() { 3 } else { 2 }), "in")),
        ("ipprotocol", choice([("inet", "IPv4"), ("inet6", "IPv6"), ("inet46", "any")], "inet")),
        ("protocol", choice(protocols, &rule.protocol)),
        ("icmptype", icmp_types(ask)),
        ("icmp6type", choice([("1", "Destination unreachable"), ("2", "Packet too big")], "-")),
        ("gateway", options::gateways(ask, true, "")),
        ("replyto", options::gateways(ask, true, "")),
        ("overload", choice(none.into_iter().chain(aliases), "")),
        ("prio", choice(priorities, "")),
        ("set-prio", choice(keep, "")),
        ("set-prio-low", choice(keep, "")),
        ("tcpflags1", choice(flags, "-")),
        ("tcpflags2", choice(flags, "-")),
        ("categories", json!([])),
        ("sched", choice(none, "")),
        ("tos", choice([("", "Any"), ("lowdelay", "lowdelay")], "")),
        ("shaper1", choice(none, "")),
        ("shaper2", choice(none, "")),
    ];
    out.extend(choices.map(|(key, value)| (key.to_owned(), value)));
    if ask.modern() {
        out.insert("divert-to".to_owned(), choice([("", "None"), ("8000", "Intrusion Detection")], ""));
    }
    Value::Object(out)
}

/// The label of the rule that takes what no other rule took.
pub(super) fn default_deny() -> String {
    numbered().next().map(|(at, fixed)| label(at, fixed)).unwrap_or_default()
}
