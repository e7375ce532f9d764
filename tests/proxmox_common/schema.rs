//! What Proxmox's own check of parameters would say, from its API description.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::net::IpAddr;

use regex_lite::Regex;
use serde_json::Value;

/// A contract of Proxmox, or `None` with a loud note.
pub fn contract(file: &str, test: &str) -> Option<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts").join(file);
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED {test}: ../shared is absent");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

/// The values of a template's placeholders, when `path` has its form.
pub fn placeholders(template: &str, path: &str) -> Option<BTreeMap<String, String>> {
    let (mut want, mut have) = (template.split('/'), path.split('/'));
    let mut found = BTreeMap::new();
    loop {
        match (want.next(), have.next()) {
            (None, None) => return Some(found),
            (Some(w), Some(h)) => match w.strip_prefix('{').and_then(|w| w.strip_suffix('}')) {
                Some(name) => drop(found.insert(name.to_owned(), h.to_owned())),
                None if w == h => {}
                None => return None,
            },
            _ => return None,
        }
    }
}

/// What Proxmox's parameter check would say.
pub fn parameter_faults(schema: &Value, values: &BTreeMap<String, String>) -> Vec<String> {
    let none = serde_json::Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let mut faults = Vec::new();
    for (name, value) in values {
        let property = properties.get(name).or_else(|| properties.get(&numbered(name)));
        match property {
            Some(property) => faults.extend(value_fault(property, value).map(|why| format!("{name}={value}: {why}"))),
            None => faults.push(format!("{name} is not a parameter")),
        }
    }
    for (name, property) in properties {
        if property["optional"] != 1 && !values.contains_key(name) {
            faults.push(format!("{name} is required"));
        }
    }
    faults
}

/// `net0` → `net[n]`.
pub fn numbered(name: &str) -> String {
    format!("{}[n]", name.trim_end_matches(|c: char| c.is_ascii_digit()))
}

fn value_fault(property: &Value, value: &str) -> Option<String> {
    let kind = property["type"].as_str().unwrap_or("string");
    if kind == "boolean" && !matches!(value, "0" | "1") {
        return Some("not 0 or 1".to_owned());
    }
    if matches!(kind, "integer" | "number") {
        let Ok(number) = value.parse::<i64>() else { return Some("not a number".to_owned()) };
        let least = property["minimum"].as_i64().unwrap_or(i64::MIN);
        let most = property["maximum"].as_i64().unwrap_or(i64::MAX);
        if !(least..=most).contains(&number) {
            return Some(format!("not in {least}..={most}"));
        }
    }
    if let Some(words) = property["enum"].as_array()
        && !words.iter().any(|w| w == value)
    {
        return Some(format!("not one of {words:?}"));
    }
    let length = value.chars().count() as u64;
    let fits = property["minLength"].as_u64().is_none_or(|n| length >= n)
        && property["maxLength"].as_u64().is_none_or(|n| length <= n);
    if !fits {
        return Some("wrong length".to_owned());
    }
    if let Some(pattern) = property["pattern"].as_str() {
        // Perl writes its flags as `(?^i:`.
        let pattern = pattern.replace("(?^", "(?");
        if !Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap().is_match(value) {
            return Some(format!("does not match {pattern}"));
        }
    }
    match &property["format"] {
        Value::String(name) => (!has_format(name, value)).then(|| format!("is no {name}")),
        Value::Object(parts) => property_string_fault(parts, value),
        _ => None,
    }
}

/// A text of `key=value` pairs, of which the first key may be left out.
fn property_string_fault(parts: &serde_json::Map<String, Value>, value: &str) -> Option<String> {
    let default = parts.iter().find(|(_, p)| p["default_key"] == 1).map(|(key, _)| key.as_str());
    let mut seen = BTreeMap::new();
    for pair in value.split(',') {
        let (key, text) = match pair.split_once('=') {
            Some((key, text)) => (key, text),
            None => (default?, pair),
        };
        let Some(part) = parts.get(key) else { return Some(format!("{key} is not defined")) };
        let (key, text) = match part["keyAlias"].as_str() {
            // `virtio=MAC` stands for model and address.
            Some(stands_for) => {
                seen.insert(stands_for.to_owned(), key.to_owned());
                (part["alias"].as_str().unwrap(), text)
            }
            None => (part["alias"].as_str().unwrap_or(key), text),
        };
        if seen.insert(key.to_owned(), text.to_owned()).is_some() {
            return Some(format!("{key} twice"));
        }
    }
    for (key, text) in &seen {
        if let Some(why) = value_fault(&parts[key], text) {
            return Some(format!("{key}={text}: {why}"));
        }
    }
    let missing = parts.iter().find(|(key, p)| p["optional"] != 1 && p["alias"].is_null() && !seen.contains_key(*key));
    missing.map(|(key, _)| format!("{key} is missing"))
}

fn matches(pattern: &str, value: &str) -> bool {
    Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap().is_match(value)
}

fn split(value: &str) -> impl Iterator<Item = &str> {
    value.split([',', ';', ' ', '\0']).filter(|part| !part.is_empty())
}

fn cidr(value: &str) -> bool {
    value.split_once('/').is_some_and(|(ip, n)| ip.parse::<IpAddr>().is_ok() && n.parse::<u8>().is_ok_and(|n| n <= 128))
}

/// A checker of our own for each format that is met, from PVE::JSONSchema and its kin.
fn has_format(name: &str, value: &str) -> bool {
    if let Some(one) = name.strip_suffix("-list") {
        return split(value).all(|part| has_format(one, part));
    }
    match name {
        "pve-vmid" => matches("[1-9][0-9]{2,8}", value),
        "pve-node" => matches("[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?", value),
        "pve-configid" => matches("(?i)[a-z][a-z0-9_-]+", value),
        "pve-storage-id" => matches("(?i)[a-z][a-z0-9_.-]*[a-z0-9]", value),
        "pve-poolid" => matches(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,2}", value),
        "pve-sdn-fabric-id" => matches("[a-zA-Z0-9][a-zA-Z0-9-]{0,6}[a-zA-Z0-9]", value),
        "pve-bridge-id" => matches("[-_.a-zA-Z0-9]+", value),
        "pve-tag" => matches("(?i)[a-z0-9_][a-z0-9_+.-]*", value),
        "dns-name" => {
            let label = "[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?";
            matches(&format!(r"({label}\.)*{label}"), value)
        }
        "ip" => value.parse::<IpAddr>().is_ok(),
        "address" => value.parse::<IpAddr>().is_ok() || has_format("dns-name", value),
        "mac-addr" => matches("(?i)[a-f0-9][02468ace](:[a-f0-9]{2}){5}", value),
        "pve-sdn-subnet-id" => {
            let parts: Vec<&str> = value.splitn(2, '-').collect();
            let id = parts.get(1).and_then(|net| net.rsplit_once('-'));
            cidr(value) || id.is_some_and(|(ip, n)| cidr(&format!("{ip}/{n}")))
        }
        "pve-task-status-type" => matches!(value, "ok" | "error" | "warning" | "unknown"),
        "urlencoded" => matches(r"[-%a-zA-Z0-9_.!~*'()]*", value),
        "pve-qm-ipconfig" => ipconfig(value),
        "pve-qm-smbios1" => smbios1(value),
        other => panic!("no checker for the format {other}"),
    }
}

fn ipconfig(value: &str) -> bool {
    let pairs: BTreeMap<&str, &str> = value.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let ip = pairs.get("ip").is_none_or(|ip| matches!(*ip, "dhcp" | "manual") || cidr(ip));
    let gateway = pairs.get("gw").is_none_or(|gw| gw.parse::<IpAddr>().is_ok() && pairs.contains_key("ip"));
    ip && gateway && pairs.len() == value.split(',').count()
}

fn smbios1(value: &str) -> bool {
    let keys = ["uuid", "version", "serial", "manufacturer", "product", "sku", "family", "base64"];
    value.split(',').all(|pair| {
        let Some((key, text)) = pair.split_once('=') else { return false };
        keys.contains(&key)
            && match key {
                "uuid" => matches("(?i)[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}", text),
                "base64" => matches!(text, "0" | "1"),
                _ => matches("[A-Za-z0-9+/]+={0,2}", text),
            }
    })
}
