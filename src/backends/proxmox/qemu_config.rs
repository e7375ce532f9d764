//! Property strings of a VM's configuration (facts/proxmox.md §10).

use serde_json::{Map, Value};

use super::model::{IpConfig, NetDevice, PendingOption, VmConfig};
use super::wire::{Row, Unreadable, scalar_text, truth_word};
use crate::backends::http::clean_block;

/// What stands for a value that may carry a secret.
const REDACTED: &str = "[redacted]";

pub(super) fn config(row: &Row<'_>) -> Result<VmConfig, Unreadable> {
    let mut config = VmConfig {
        name: row.text("name")?,
        cores: row.u32("cores")?,
        memory_mib: memory(row)?,
        agent: agent(row)?,
        onboot: row.bool("onboot")?.unwrap_or(false),
        tags: row.words("tags")?,
        nameserver: row.text("nameserver")?,
        ciuser: row.text("ciuser")?,
        smbios_uuid: row.text("smbios1")?.and_then(|text| property(&text, "uuid")),
        digest: row.text("digest")?,
        lock: row.text("lock")?,
        ..VmConfig::default()
    };
    for (key, value) in row.map().iter().filter(|(_, v)| !v.is_null()) {
        let text = option_text(key, value).ok_or_else(|| row.fault(key, "is not a scalar"))?;
        if let Some(index) = numbered(key, "net") {
            let device = net_device(&text).ok_or_else(|| row.fault(key, "names no network card"))?;
            config.nets.insert(index, Box::new(device));
        } else if let Some(index) = numbered(key, "ipconfig") {
            let (ip, gateway) = (property(&text, "ip"), property(&text, "gw"));
            config.ipconfigs.insert(index, Box::new(IpConfig { ip, gateway }));
        }
        config.raw.insert(key.clone(), text);
    }
    Ok(config)
}

/// The configuration that the list of options adds up to: what waits counts, as in `config` (facts/proxmox.md §10).
pub(super) fn config_of_pending(rows: &[Row<'_>]) -> Result<VmConfig, Unreadable> {
    let mut whole = Map::new();
    for row in rows {
        let key = row.need_text("key")?;
        if row.u64("delete")?.unwrap_or(0) > 0 || key == "digest" {
            continue;
        }
        if let Some(value) = row.get("pending").or_else(|| row.get("value")) {
            whole.insert(key, value.clone());
        }
    }
    config(&Row::of_map(&whole, "data"))
}

pub(super) fn pending_option(row: &Row<'_>) -> Result<PendingOption, Unreadable> {
    let key = row.need_text("key")?;
    let text = |field: &str| match row.get(field) {
        None => Ok(None),
        Some(value) => option_text(&key, value).map(Some).ok_or_else(|| row.fault(field, "is not a scalar")),
    };
    let (value, pending) = (text("value")?, text("pending")?);
    // `delete` is 1, or 2 for a forced removal.
    let delete = row.u64("delete")?.unwrap_or(0) > 0;
    Ok(PendingOption { key, value, pending, delete })
}

/// An option as text. Of `smbios1` only the UUID stays, of a password nothing.
fn option_text(key: &str, value: &Value) -> Option<String> {
    match (key, value) {
        ("smbios1", value) => {
            let text = scalar_text(value)?;
            let uuid = property(&text, "uuid");
            let only_uuid = uuid.as_ref().is_some_and(|u| text == format!("uuid={u}"));
            Some(match uuid {
                Some(uuid) if only_uuid => format!("uuid={uuid}"),
                Some(uuid) => format!("uuid={uuid},{REDACTED}"),
                None => REDACTED.to_owned(),
            })
        }
        ("cipassword", _) => Some(REDACTED.to_owned()),
        (_, Value::String(text)) => Some(clean_block(text)),
        (_, other) => scalar_text(other),
    }
}

/// MiB: a number, or `current=N,…`.
fn memory(row: &Row<'_>) -> Result<Option<u32>, Unreadable> {
    let Some(text) = row.text("memory")? else { return Ok(None) };
    let number = property(&text, "current").unwrap_or_else(|| text.split(',').next().unwrap_or_default().to_owned());
    number.parse().map(Some).map_err(|_| row.fault("memory", "is not a number of MiB"))
}

/// `1`, or `enabled=1,…`; absent is off.
fn agent(row: &Row<'_>) -> Result<bool, Unreadable> {
    let Some(text) = row.text("agent")? else { return Ok(false) };
    let word = property(&text, "enabled").unwrap_or_else(|| text.split(',').next().unwrap_or_default().to_owned());
    truth_word(&word).ok_or_else(|| row.fault("agent", "is not a truth value"))
}

/// `virtio=MAC,bridge=B,firewall=1`, or `model=virtio,macaddr=MAC,…`.
fn net_device(text: &str) -> Option<NetDevice> {
    let first = text.split(',').next()?;
    let (model, mac) = match (property(text, "model"), first.split_once('=')) {
        (Some(model), _) => (model, property(text, "macaddr")),
        (None, Some((model, mac))) => (model.to_owned(), Some(mac.to_owned())),
        (None, None) => (first.to_owned(), None),
    };
    if model.is_empty() || model == "bridge" {
        return None;
    }
    Some(NetDevice {
        model,
        mac: mac.map(|m| m.to_ascii_lowercase()),
        bridge: property(text, "bridge"),
        firewall: property(text, "firewall").and_then(|w| truth_word(&w)).unwrap_or(false),
    })
}

fn property(text: &str, key: &str) -> Option<String> {
    text.split(',').find_map(|p| p.strip_prefix(key)?.strip_prefix('=')).map(str::to_owned)
}

/// `net12` → 12.
fn numbered(key: &str, stem: &str) -> Option<u8> {
    let digits = key.strip_prefix(stem)?;
    if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> VmConfig {
        config(&Row::new(value, "data").unwrap()).unwrap()
    }

    #[test]
    fn property_strings_are_taken_apart() {
        let vm = read(&json!({"name": "tdemo-app", "cores": "2", "memory": "current=2048", "onboot": 1,
            "agent": "enabled=1,fstrim_cloned_disks=1", "tags": "deevnet;tdemo", "netmask0": "x",
            "net0": "virtio=02:DE:20:00:07:F8,bridge=tdemo0,firewall=1", "net1": "model=e1000,macaddr=02:DE:20:00:07:F9",
            "ipconfig0": "ip=10.20.129.10/24,gw=10.20.129.1"}));
        assert_eq!((vm.cores, vm.memory_mib, vm.agent, vm.onboot), (Some(2), Some(2048), true, true));
        assert_eq!(vm.nets[&0].mac.as_deref(), Some("02:de:20:00:07:f8"));
        assert_eq!((vm.nets[&0].bridge.as_deref(), vm.nets[&0].firewall), (Some("tdemo0"), true));
        assert_eq!((vm.nets[&1].model.as_str(), vm.nets.len()), ("e1000", 2));
        assert_eq!(vm.ipconfigs[&0].gateway.as_deref(), Some("10.20.129.1"));
        assert_eq!(vm.tags, ["deevnet", "tdemo"]);
        assert!(!read(&json!({"agent": "0"})).agent);
    }

    #[test]
    fn options_add_up_to_the_configuration_that_a_cold_start_gives() {
        let rows = json!([{"key": "cores", "value": 2, "pending": 4}, {"key": "memory", "value": "2048"},
            {"key": "nameserver", "value": "10.20.50.1", "delete": 1}, {"key": "digest", "value": "ab"},
            {"key": "net0", "pending": "virtio=02:DE:20:00:07:F8,bridge=tdemo0"},
            {"key": "smbios1", "value": "uuid=7d9f,serial=Q0FOQVJZ"}]);
        let vm = config_of_pending(&Row::list(&rows, "data").unwrap()).unwrap();
        let same = read(&json!({"cores": 4, "memory": "2048", "net0": "virtio=02:DE:20:00:07:F8,bridge=tdemo0",
            "smbios1": "uuid=7d9f,serial=Q0FOQVJZ"}));
        assert_eq!(vm, same);
        assert!(!format!("{vm:?}").contains("Q0FOQVJZ"));
    }

    #[test]
    fn secrets_do_not_pass() {
        let smbios = "uuid=7d9f3c1e-2b4a-4c5d-8e6f-204020402040,serial=Q0FOQVJZ,base64=1";
        let vm = read(&json!({"smbios1": smbios, "cipassword": "CANARY", "description": "a\nb\u{1b}[2J"}));
        assert_eq!(vm.smbios_uuid.as_deref(), Some("7d9f3c1e-2b4a-4c5d-8e6f-204020402040"));
        assert_eq!(vm.raw["smbios1"], "uuid=7d9f3c1e-2b4a-4c5d-8e6f-204020402040,[redacted]");
        assert_eq!(vm.raw["description"], "a\nb␛[2J");
        let row = json!({"key": "smbios1", "value": smbios, "pending": "serial=Q0FOQVJZ"});
        let option = pending_option(&Row::new(&row, "data[0]").unwrap()).unwrap();
        let shown = format!("{vm:?}{option:?}");
        assert!(!shown.contains("Q0FOQVJZ") && !shown.contains("CANARY"), "{shown}");
        assert_eq!(option.pending.as_deref(), Some("[redacted]"));
    }

    #[test]
    fn what_is_odd_is_an_error() {
        for odd in
            [json!({"memory": "lots"}), json!({"agent": "perhaps"}), json!({"net0": "bridge=x"}), json!({"net0": {}})]
        {
            let error = config(&Row::new(&odd, "data").unwrap()).unwrap_err();
            assert!(error.at.starts_with("data."), "{error}");
        }
    }
}
