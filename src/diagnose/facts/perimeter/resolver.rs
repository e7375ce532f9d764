//! Unbound on OPNsense: forwards of both kinds, local zones, settings, access lists, service.

use ipnet::IpNet;
use serde_json::Value;

use crate::diagnose::evidence::Item;
use crate::diagnose::facts::rows::{self, Row, listed, number, read, selected, truth};
use crate::diagnose::facts::sdn::{list, text};
use crate::diagnose::facts::{Facts, Reader, Sourced, Taken, json};

/// Readers.
pub(super) const READERS: &[Reader] = &[forwards, dots, local_zones, settings, acl, service];

/// A forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// Its uuid.
    pub uuid: String,
    /// `forward` or `dot`, as stored.
    pub kind: String,
    /// Switched on.
    pub enabled: bool,
    /// Domain in lower case without final dot; empty = all names.
    pub domain: String,
    /// Server.
    pub server: String,
    /// Port, where one is set.
    pub port: Option<u64>,
}

impl Forward {
    /// Whether `name` is sent this way.
    #[must_use]
    pub fn covers(&self, name: &str) -> bool {
        under(name, &self.domain)
    }
}

/// Whether `name` is `zone` or below it, by labels.
#[must_use]
pub fn under(name: &str, zone: &str) -> bool {
    zone.is_empty() || name == zone || name.strip_suffix(zone).is_some_and(|head| head.ends_with('.'))
}

/// Settings that decide which answers get through; `None` = the answer does not have that part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Answers within these are stripped.
    pub private_addresses: Option<Vec<IpNet>>,
    /// Domains whose answers may be private.
    pub private_domains: Option<Vec<String>>,
    /// What happens to who is in no access list: `allow`, `deny`, `refuse`.
    pub default_action: Option<String>,
    /// Answers are validated.
    pub dnssec: Option<bool>,
}

/// An access list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acl {
    /// Switched on.
    pub enabled: bool,
    /// `allow`, `deny`, `refuse`, `allow_snoop`, …
    pub action: String,
    /// Networks.
    pub networks: Vec<IpNet>,
}

fn plain(domain: &str) -> String {
    domain.trim().strip_suffix('.').unwrap_or(domain).to_ascii_lowercase()
}

fn forward(row: &Row, listed_as: &str) -> Forward {
    let kind = text(row, "type").map_or_else(|| listed_as.to_owned(), |t| t.to_ascii_lowercase());
    Forward {
        uuid: text(row, "uuid").unwrap_or_default(),
        kind: if kind == "dns over tls" { "dot".to_owned() } else { kind },
        enabled: truth(row, "enabled").unwrap_or(true),
        domain: plain(&text(row, "domain").unwrap_or_default()),
        server: text(row, "server").unwrap_or_default(),
        port: number(row, "port"),
    }
}

fn forwards(item: &Item, facts: &mut Facts) -> Taken {
    let rows = listed(item, &["unbound/settings/searchforward"]);
    read(rows, |rows| {
        let all = rows.iter().map(|row| forward(row, "forward")).collect();
        facts.perimeter.forwards = Some(Sourced::new(all, item));
    })
}

fn dots(item: &Item, facts: &mut Facts) -> Taken {
    let rows = listed(item, &["unbound/settings/searchdot"]);
    read(rows, |rows| {
        let all = rows.iter().map(|row| forward(row, "dot")).collect();
        facts.perimeter.dots = Some(Sourced::new(all, item));
    })
}

fn local_zones(item: &Item, facts: &mut Facts) -> Taken {
    if !rows::opnsense(item, &["unbound/diagnostics/listlocalzones"]) {
        return Taken::NotMine;
    }
    let all = json(item).and_then(|value| {
        let rows = value.get("data").cloned().unwrap_or(value);
        rows::objects(rows, "local zones")
    });
    read(all, |all| {
        let pair = |row: &Row| Some((plain(&text(row, "zone")?), text(row, "type").unwrap_or_default()));
        facts.perimeter.local_zones = Some(Sourced::new(all.iter().filter_map(pair).collect(), item));
    })
}

fn settings(item: &Item, facts: &mut Facts) -> Taken {
    if !rows::opnsense(item, &["unbound/settings/get"]) {
        return Taken::NotMine;
    }
    read(json(item), |value| {
        let part = |path: &str| value.pointer(path);
        let names = |path: &str| part(path).map(|v| selected(Some(v)));
        let settings = Settings {
            private_addresses: names("/unbound/advanced/privateaddress")
                .map(|all| all.iter().filter_map(|n| n.parse().ok()).collect()),
            private_domains: names("/unbound/advanced/privatedomain").map(|all| all.iter().map(|n| plain(n)).collect()),
            default_action: names("/unbound/acls/default_action").and_then(|all| all.into_iter().next()),
            dnssec: part("/unbound/general/dnssec").and_then(|v| match v {
                Value::String(s) => Some(s == "1"),
                Value::Bool(b) => Some(*b),
                _ => None,
            }),
        };
        facts.perimeter.resolver = Some(Sourced::new(settings, item));
    })
}

fn acl(item: &Item, facts: &mut Facts) -> Taken {
    let entry = |row: &Row| Acl {
        enabled: truth(row, "enabled").unwrap_or(true),
        action: text(row, "action").unwrap_or_default().to_ascii_lowercase(),
        networks: list(row, "networks").iter().filter_map(|n| n.parse().ok()).collect(),
    };
    let rows = listed(item, &["unbound/settings/searchacl"]);
    read(rows, |rows| facts.perimeter.acl = Some(Sourced::new(rows.iter().map(entry).collect(), item)))
}

fn service(item: &Item, facts: &mut Facts) -> Taken {
    if !rows::opnsense(item, &["unbound/service/status"]) {
        return Taken::NotMine;
    }
    let word = json(item).and_then(|v| rows::object(v, "the status")).and_then(|row| rows::need(&row, "status", "it"));
    read(word, |word| facts.perimeter.service = Some(Sourced::new(word, item)))
}
