//! What pf really runs, in its own words (facts/opnsense.md §4, §6).

use serde_json::{Map, Value, json};

use super::Ask;
use super::rules::{self, Fixed};
use crate::lab::moment;
use crate::lab::perimeter::Rule;

/// Where the rules of automatic and hybrid translation begin.
const AUTOMATIC: &str = "# Automatic outbound rule";

/// Every rule that is loaded, numbered within its section.
pub(super) fn rules(ask: &Ask<'_>) -> Value {
    let mut filter = Vec::new();
    for (at, fixed) in rules::numbered() {
        share(ask, &rules::label(at, fixed), fixed_lines(ask, at == 0, fixed), &mut filter);
    }
    for rule in ask.perimeter.loaded() {
        share(ask, &rule.uuid, lines(ask, rule), &mut filter);
    }
    let mut nat = Vec::new();
    for line in translation(ask) {
        let counted = counters(ask, &line, (1, 0));
        nat.push((line, counted));
    }
    json!({"rules": {"filter rules": numbered(filter), "nat rules": numbered(nat)}})
}

fn numbered(lines: Vec<(String, Map<String, Value>)>) -> Value {
    let place = |(at, (line, counted)): (usize, (String, _))| (format!("@{at} {line}"), Value::Object(counted));
    Value::Object(lines.into_iter().enumerate().map(place).collect())
}

/// Puts the lines of one label behind those before: `rule_stats` tells what their counters add up to.
fn share(ask: &Ask<'_>, label: &str, lines: Vec<String>, out: &mut Vec<(String, Map<String, Value>)>) {
    let count = lines.len() as u64;
    for (at, line) in (0..).zip(lines) {
        let mut counted = counters(ask, label, (count, at));
        // The time of loading is torn apart at its colons.
        let loaded = moment(ask.world.booted.div_euclid(86_400) * 86_400 + 54_001);
        counted.insert("time".to_owned(), json!(loaded.strftime("%a %b %d").to_string().to_lowercase()));
        counted.insert(loaded.strftime("%H").to_string(), json!(""));
        counted.insert(loaded.strftime("%M").to_string(), json!(loaded.strftime("%S %Y").to_string()));
        out.push((format!("{line} label \"{label}\""), counted));
    }
}

/// The counters of one of `count` lines that share a label.
fn counters(ask: &Ask<'_>, label: &str, (count, at): (u64, u64)) -> Map<String, Value> {
    let all = rules::counters(ask, label, count);
    let part = |key: &str| {
        let sum = all.get(key).and_then(Value::as_u64).unwrap_or_default();
        sum / count + u64::from(at < sum % count)
    };
    let mut out: Map<String, Value> = ["evaluations", "packets", "bytes", "states"]
        .map(|key| (key.to_owned(), json!(part(key))))
        .into_iter()
        .collect();
    out.insert("inserted".to_owned(), json!("uid 0 pid 4711 "));
    out.insert("state_creations".to_owned(), json!(part("packets") / 40));
    out
}

fn device<'a>(ask: &Ask<'a>, id: &str) -> &'a str {
    ask.perimeter.interface(id).map_or("", |interface| interface.device.as_str())
}

fn on(ask: &Ask<'_>, id: &str) -> String {
    if id.is_empty() { String::new() } else { format!(" on {}", device(ask, id)) }
}

/// One line for each family, or for each kind of neighbour where there is but one family.
fn fixed_lines(ask: &Ask<'_>, first: bool, fixed: &Fixed) -> Vec<String> {
    let Fixed(_, action, direction, protocol, interface, _) = fixed;
    // The first blocks what none behind it lets through.
    let quick = if first || *direction == "out" { "" } else { " quick" };
    let head = format!("{action} {direction} log{quick}{}", on(ask, interface));
    let keep = if *action == "pass" { " keep state" } else { "" };
    if *protocol == "ipv6-icmp" {
        let to = ["fe80::/10", "ff02::/16"];
        return to.map(|to| format!("{head} inet6 proto ipv6-icmp from {{fe80::/10}} to {{{to}}}{keep}")).to_vec();
    }
    let protocol = match *protocol {
        "" => String::new(),
        "tcp/udp" => " proto {tcp udp}".to_owned(),
        one => format!(" proto {one}"),
    };
    ["inet", "inet6"].map(|family| format!("{head} {family}{protocol} from {{any}} to {{any}}{keep}")).to_vec()
}

/// One line for each interface and protocol.
fn lines(ask: &Ask<'_>, rule: &Rule) -> Vec<String> {
    let protocols = match rule.protocol.as_str() {
        "any" => vec![String::new()],
        several => several.split('/').map(|one| format!(" proto {}", one.to_lowercase())).collect(),
    };
    let source = side(ask, &rule.source, false);
    let destination = side(ask, &rule.destination, rule.destination_not);
    let port = if rule.port.is_empty() { String::new() } else { format!(" port {{{}}}", rule.port) };
    let line = |interface: &str, protocol: &str| {
        let on = on(ask, interface);
        format!("{} in quick{on} inet{protocol} from {source} to {destination}{port} keep state", rule.action)
    };
    rule.interface.split(',').flat_map(|id| protocols.iter().map(move |p| (id, p))).map(|(id, p)| line(id, p)).collect()
}

/// A side of a rule: an alias is a table, an interface its network, `…ip` its address.
fn side(ask: &Ask<'_>, value: &str, negated: bool) -> String {
    let not = if negated { "!" } else { "" };
    let interface = |id: &str| ask.perimeter.interface(id).map(|interface| interface.device.as_str());
    if ask.perimeter.aliases.iter().any(|alias| alias.name == value) {
        return format!("{not}${value}");
    }
    let text = match (interface(value), value.strip_suffix("ip").and_then(interface)) {
        (Some(device), _) => format!("({device}:network)"),
        (None, Some(device)) => format!("({device})"),
        (None, None) => value.to_owned(),
    };
    format!("{{{not}{text}}}")
}

/// Rules made through the API, then those that hybrid mode adds, then what keeps the way in open.
fn translation(ask: &Ask<'_>) -> Vec<String> {
    let mut out = vec!["no nat proto carp all".to_owned(), "no rdr proto carp all".to_owned()];
    for nat in &ask.perimeter.nat {
        let device = device(ask, &nat.interface);
        let source = side(ask, &nat.source, false);
        let source = source.trim_matches(['{', '}']);
        let text = &nat.description;
        out.push(format!("nat on {device} inet from {source} to any -> ({device}:0) port 1024:65535 # {text}"));
    }
    let wan = device(ask, "wan");
    let inside = ask.perimeter.interfaces.iter().filter(|of| of.id != "wan" && of.address.is_some());
    let mut sources: Vec<String> = inside.map(|of| format!("({}:network)", of.device)).collect();
    sources.push("127.0.0.0/8".to_owned());
    for tail in [(" port 500", "static-port"), ("", "port 1024:65535")] {
        let (to, how) = tail;
        out.extend(
            sources
                .iter()
                .map(|from| format!("nat on {wan} inet from {from} to any{to} -> ({wan}:0) {how} {AUTOMATIC}")),
        );
    }
    let (lan, why) = (
        device(ask, "lan"),
        if ask.modern() {
            "Anti-lockout; prevent redirects for protected ports to this interface address"
        } else {
            "Anti lockout, prevent redirects for protected ports to this interface ip"
        },
    );
    out.extend(["80", "443"].map(|port| format!("no rdr on {lan} proto tcp to {{({lan})}} port {{{port}}} # {why}")));
    out
}
