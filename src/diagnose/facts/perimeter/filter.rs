//! Filter rules, source NAT, states, drops, and whether pf took the rule set.

use std::net::IpAddr;

use jiff::Timestamp;
use serde_json::Value;

use crate::diagnose::evidence::Item;
use crate::diagnose::facts::rows::{self, Row, listed, number, read, truth};
use crate::diagnose::facts::sdn::{list, text};
use crate::diagnose::facts::{Facts, Reader, Sourced, Taken, json};

/// Readers.
pub(super) const READERS: &[Reader] = &[rules, hits, nat, status, states, log];

/// One side of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Side {
    /// Networks, addresses, aliases, interfaces; empty = any.
    pub nets: Vec<String>,
    /// Everything but these.
    pub negated: bool,
    /// Port; `None` = any.
    pub port: Option<String>,
}

/// A filter rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its label in pf; empty of some classic rules.
    pub uuid: String,
    /// From the classic pages: shown here, not editable through this API.
    pub classic: bool,
    /// Made by OPNsense itself.
    pub automatic: bool,
    /// Switched on.
    pub enabled: bool,
    /// `pass`, `block`, `reject`.
    pub action: String,
    /// The first match decides.
    pub quick: bool,
    /// Interfaces or groups of them; empty = all.
    pub interfaces: Vec<String>,
    /// All interfaces but those.
    pub elsewhere: bool,
    /// It means IPv6 alone.
    pub only_v6: bool,
    /// It means IPv4 alone.
    pub only_v4: bool,
    /// It also asks for something that is not told here: a kind of ICMP, flags, a schedule, a mark, a limit.
    pub narrowed: bool,
    /// What it passes is sent to this gateway, whatever the routes say.
    pub gateway: Option<String>,
    /// `in`, `out`, `any`.
    pub direction: String,
    /// Lower case; `any`.
    pub protocol: String,
    /// From.
    pub source: Side,
    /// To.
    pub destination: Side,
    /// Whatever somebody wrote; for people.
    pub description: String,
    /// Group of the order of evaluation; 200000 = floating.
    pub group: Option<u64>,
    /// Place in the order of evaluation: `(group, place)`; `None` where the list does not tell.
    pub order: Option<(u64, u64)>,
    /// Counters in the list itself; `None` = pf has no such rule, or they were not asked for.
    pub hits: Option<Hits>,
}

/// Counters of pf, since the rule set was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hits {
    /// How often a packet was compared.
    pub evaluations: u64,
    /// Packets that matched; `None` = not told.
    pub packets: Option<u64>,
    /// States alive; `None` = not told.
    pub states: Option<u64>,
}

/// A rule of source NAT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NatRule {
    /// Its uuid.
    pub uuid: String,
    /// Whatever somebody wrote; for people.
    pub description: String,
    /// Made by OPNsense.
    pub automatic: bool,
    /// Switched on.
    pub enabled: bool,
    /// Says not to translate.
    pub exempts: bool,
    /// Interface.
    pub interface: String,
    /// From.
    pub source: Side,
    /// Only this port of the destination.
    pub port: Option<String>,
}

/// Why pf refused a rule set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Line of the generated file.
    pub line: Option<u64>,
    /// What is wrong, from the line in question.
    pub what: &'static str,
    /// The line in question.
    pub text: String,
    /// When.
    pub at: Option<Timestamp>,
}

/// A state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Interface as described.
    pub interface: String,
    /// `in`, `out`.
    pub direction: String,
    /// `tcp`, …
    pub protocol: String,
    /// From.
    pub source: Option<IpAddr>,
    /// To.
    pub destination: Option<IpAddr>,
    /// Whether it is translated; `None` where the answer does not tell.
    pub translated: Option<bool>,
    /// The other address of a translated state: on the way out the inner one.
    pub beside: Option<IpAddr>,
    /// As shown.
    pub state: String,
    /// Packets there and back.
    pub packets: Option<(u64, u64)>,
}

/// A packet that was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// From.
    pub source: Option<IpAddr>,
    /// To.
    pub destination: Option<IpAddr>,
    /// TCP flags, e.g. `A`.
    pub flags: String,
}

fn side(row: &Row, name: &str) -> Side {
    let of = |part: &str| format!("{name}_{part}");
    let nets = list(row, &of("net"));
    Side {
        nets: if nets.iter().any(|n| n.eq_ignore_ascii_case("any")) { Vec::new() } else { nets },
        negated: truth(row, &of("not")).unwrap_or(false),
        port: text(row, &of("port")).filter(|p| !p.is_empty() && p != "any"),
    }
}

fn order(row: &Row) -> Option<(u64, u64)> {
    let sort = text(row, "sort_order")?;
    let (group, place) = sort.split_once('.').unwrap_or((&sort, "0"));
    Some((group.parse().ok()?, place.parse().ok()?))
}

/// Fields that make a rule match less than its sides say.
const NARROWING: [&str; 14] = [
    "icmptype",
    "icmp6type",
    "icmp6-type",
    "tcpflags1",
    "tcpflags2",
    "sched",
    "tagged",
    "tos",
    "prio",
    "os",
    "max",
    "max-src-conn",
    "max-src-states",
    "max-src-nodes",
];

/// Whether a rule means this family alone: `inet`, `IPv4`, `inet6`, `IPv6`; `inet46` and what is not told mean both.
fn family(row: &Row, which: char) -> bool {
    let said = text(row, "ipprotocol").unwrap_or_default().to_ascii_lowercase();
    match which {
        '6' => matches!(said.as_str(), "inet6" | "ipv6"),
        _ => matches!(said.as_str(), "inet" | "ipv4"),
    }
}

fn rule(row: &Row) -> Rule {
    let word = |key: &str, default: &str| text(row, key).map_or_else(|| default.to_owned(), |w| w.to_ascii_lowercase());
    let automatic = truth(row, "is_automatic").unwrap_or(false);
    Rule {
        uuid: text(row, "uuid").unwrap_or_default(),
        classic: truth(row, "legacy").unwrap_or(false) && !automatic,
        automatic,
        enabled: truth(row, "enabled").unwrap_or(true),
        action: word("action", "pass"),
        quick: truth(row, "quick").unwrap_or(true),
        interfaces: list(row, "interface"),
        elsewhere: truth(row, "interfacenot").unwrap_or(false),
        only_v6: family(row, '6'),
        only_v4: family(row, '4'),
        narrowed: NARROWING.iter().any(|key| text(row, key).is_some_and(|value| !value.is_empty())),
        gateway: text(row, "gateway").filter(|gateway| !gateway.is_empty()),
        direction: word("direction", "in"),
        protocol: word("protocol", "any"),
        source: side(row, "source"),
        destination: side(row, "destination"),
        description: text(row, "description").unwrap_or_default(),
        group: number(row, "prio_group"),
        order: order(row),
        hits: counters(row),
    }
}

fn counters(row: &Row) -> Option<Hits> {
    let evaluations = number(row, "evaluations")?;
    Some(Hits { evaluations, packets: number(row, "packets"), states: number(row, "states") })
}

/// `{"stats": {label: {…}}}`; an answer that failed inside says so in `status`.
fn hits(item: &Item, facts: &mut Facts) -> Taken {
    if !rows::opnsense(item, &["firewall/filterutil/rulestats"]) {
        return Taken::NotMine;
    }
    read(json(item), |value| {
        let Some(Value::Object(stats)) = value.get("stats") else { return };
        let pair = |(label, row): (&String, &Value)| Some((label.clone(), counters(row.as_object()?)?));
        facts.perimeter.hits = Some(Sourced::new(stats.iter().filter_map(pair).collect(), item));
    })
}

fn rules(item: &Item, facts: &mut Facts) -> Taken {
    let rows = listed(item, &["firewall/filter/searchrule"]);
    read(rows, |rows| gather(&mut facts.perimeter.rules, rows.iter().map(rule).collect(), item))
}

fn nat(item: &Item, facts: &mut Facts) -> Taken {
    let rule = |row: &Row| NatRule {
        uuid: text(row, "uuid").unwrap_or_default(),
        description: text(row, "description").unwrap_or_default(),
        automatic: truth(row, "is_automatic").unwrap_or(false),
        enabled: truth(row, "enabled").unwrap_or(true),
        exempts: truth(row, "nonat").unwrap_or(false),
        interface: text(row, "interface").unwrap_or_default(),
        source: side(row, "source"),
        port: text(row, "destination_port").filter(|p| !p.is_empty() && p != "any"),
    };
    let rows = listed(item, &["firewall/sourcenat/searchrule"]);
    read(rows, |rows| gather(&mut facts.perimeter.nat, rows.iter().map(rule).collect(), item))
}

/// Puts rows in place of an earlier reading, or behind them where they are a further page, or of another search.
fn gather<T>(slot: &mut Option<Sourced<Vec<T>>>, rows: Vec<T>, item: &Item) {
    let sent = item.http().and_then(|http| http.sent.as_deref());
    let sent: Row = sent.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let searched = text(&sent, "searchPhrase").is_some_and(|phrase| !phrase.is_empty());
    let further = searched || number(&sent, "current").is_some_and(|page| page > 1);
    match slot.as_mut().filter(|_| further) {
        Some(have) => have.value.extend(rows),
        None => *slot = Some(Sourced::new(rows, item)),
    }
}

/// Both forms of the answer: with `subsystems`, and the flat one up to 24.7.
fn status(item: &Item, facts: &mut Facts) -> Taken {
    if !rows::opnsense(item, &["core/system/status"]) {
        return Taken::NotMine;
    }
    let status = json(item).and_then(|value| rows::object(value, "the status"));
    read(status, |status| {
        facts.perimeter.status_read = true;
        let inside = status.get("subsystems").and_then(Value::as_object).unwrap_or(&status);
        let firewall = inside.iter().find(|(name, _)| name.eq_ignore_ascii_case("firewall"));
        let Some(firewall) = firewall.and_then(|(_, row)| row.as_object()) else { return };
        let said = text(firewall, "message").unwrap_or_default();
        if said.contains("loading the rules") {
            let at = number(firewall, "timestamp").and_then(|s| i64::try_from(s).ok());
            let at = at.and_then(|s| Timestamp::from_second(s).ok());
            facts.perimeter.refused = Some(Sourced::new(refused(&said, at), item));
        }
    })
}

/// pf names file, line and the line itself: `…/rules.debug:88: syntax error - The line in question reads [88]: …`.
fn refused(said: &str, at: Option<Timestamp>) -> Refused {
    let text = said.split_once("reads [").and_then(|(_, rest)| rest.split_once("]: ")).map_or("", |(_, text)| text);
    let number = said.split(':').map(str::trim).find_map(|part| part.parse::<u64>().ok());
    let packed: String = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let empty = |word: &str| packed.contains(&format!("{word} {{ }}")) || packed.contains(&format!("{word} {{}}"));
    let what = match () {
        () if empty("from") => "empty source list",
        () if empty("to") => "empty destination list",
        () if packed.contains(" on from ") || packed.contains(" on inet") => "no interface",
        () => "syntax error",
    };
    Refused { line: number, what, text: text.to_owned(), at }
}

fn address(row: &Row, keys: [&str; 2]) -> Option<IpAddr> {
    keys.iter().find_map(|key| text(row, key)).and_then(|text| text.parse().ok())
}

fn states(item: &Item, facts: &mut Facts) -> Taken {
    let state = |row: &Row| {
        let packets = row.get("pkts").and_then(Value::as_array);
        let pair = packets.and_then(|p| Some((p.first()?.as_u64()?, p.get(1)?.as_u64()?)));
        let nat = row.get("nat_addr").map(|nat| nat.as_str().is_some_and(|nat| !nat.is_empty()));
        State {
            interface: text(row, "interface").or_else(|| text(row, "iface")).unwrap_or_default(),
            direction: text(row, "direction").unwrap_or_default().to_ascii_lowercase(),
            protocol: text(row, "proto").unwrap_or_default().to_ascii_lowercase(),
            source: address(row, ["src_addr", "src"]),
            destination: address(row, ["dst_addr", "dst"]),
            translated: nat,
            beside: address(row, ["nat_addr", "nat_addr"]),
            state: text(row, "state").unwrap_or_default(),
            packets: pair,
        }
    };
    let rows = listed(item, &["diagnostics/firewall/querystates"]);
    read(rows, |rows| gather(&mut facts.perimeter.states, rows.iter().map(state).collect(), item))
}

fn log(item: &Item, facts: &mut Facts) -> Taken {
    let dropped = |row: &Row| Dropped {
        source: address(row, ["src", "src_addr"]),
        destination: address(row, ["dst", "dst_addr"]),
        flags: text(row, "tcpflags").unwrap_or_default(),
    };
    let rows = listed(item, &["diagnostics/firewall/log"]);
    read(rows, |rows| {
        let blocked = |row: &&Row| text(row, "action").is_some_and(|a| a == "block" || a == "reject");
        let all = rows.iter().filter(blocked).map(dropped).collect();
        facts.perimeter.log = Some(Sourced::new(all, item));
    })
}
