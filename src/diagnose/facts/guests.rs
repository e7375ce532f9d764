//! Guests: configuration, power state, and what their agents say. Why an agent said nothing is in the calls.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde_json::Value;

use super::rows::{self, data, number, read, truth};
use super::sdn::text;
use super::{Facts, Reader, Sourced, Taken, json};
use crate::backends::exit_node::model::Address;
use crate::diagnose::evidence::{Api, Item};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[config, status, answers, addresses, started, ended];

/// What is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Name.
    pub name: Option<String>,
    /// The agent option is on; absent means off.
    pub agent: bool,
    /// It is to start with its node, and so is to run; absent means not.
    pub onboot: bool,
    /// Addresses of `nameserver`.
    pub nameservers: Vec<String>,
    /// Bridges of its network devices.
    pub bridges: Vec<String>,
    /// SMBIOS UUID.
    pub uuid: Option<String>,
    /// MACs of its network devices, `net0` first.
    pub macs: Vec<String>,
    /// Address and gateway of its first network device, as cloud-init is told them.
    pub address: Option<(Ipv4Net, Option<Ipv4Addr>)>,
    /// Keys that may log in, percent-encoded as Proxmox keeps them.
    pub keys: Option<String>,
    /// A password is set for the login account.
    pub password: bool,
    /// It has a cloud-init drive.
    pub seeded: bool,
    /// Its notes.
    pub notes: Option<String>,
    /// Tags.
    pub tags: Option<String>,
}

/// Power state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Power {
    /// `running`, `stopped`.
    pub status: String,
    /// Seconds since its start.
    pub uptime: Option<u64>,
    /// What holds it: `backup`, `clone`, `migrate`, …
    pub lock: Option<String>,
}

/// A process that was started by way of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Guest.
    pub vmid: String,
    /// Id in the guest.
    pub pid: u64,
    /// It was seen to end: its exit code, where that was told.
    pub ended: Option<Option<i64>>,
    /// Files.
    pub file: std::sync::Arc<str>,
}

/// What was read of guests, by id.
#[derive(Debug, Default)]
pub struct Guests {
    /// Configuration.
    pub config: BTreeMap<String, Sourced<Config>>,
    /// Power state.
    pub power: BTreeMap<String, Sourced<Power>>,
    /// Seconds since their start, each time they were read, in that order.
    pub uptimes: BTreeMap<String, Vec<Sourced<u64>>>,
    /// Guests whose agent answered something.
    pub answering: BTreeMap<String, Sourced<()>>,
    /// Addresses inside, as the agent tells them.
    pub addresses: BTreeMap<String, Sourced<Vec<Address>>>,
    /// Processes.
    pub processes: Vec<Process>,
}

fn vmid(item: &Item) -> String {
    item.http().map(|http| http.segment(3).to_owned()).unwrap_or_default()
}

fn config(item: &Item, facts: &mut Facts) -> Taken {
    let row = data(item, "nodes/*/qemu/*/config").and_then(|value| rows::object(value, "a configuration"));
    let config = row.map(|row| {
        let agent = text(&row, "agent").unwrap_or_default();
        let bridge = |value: &Value| {
            let part = value.as_str()?.split(',').find_map(|p| p.strip_prefix("bridge="));
            part.map(str::to_owned)
        };
        Config {
            name: text(&row, "name"),
            agent: agent.split(',').any(|part| matches!(part.trim_start_matches("enabled="), "1" | "on" | "yes")),
            onboot: truth(&row, "onboot").unwrap_or(false),
            nameservers: super::sdn::list(&row, "nameserver"),
            bridges: row.iter().filter(|(k, _)| k.starts_with("net")).filter_map(|(_, v)| bridge(v)).collect(),
            uuid: text(&row, "smbios1").as_deref().and_then(uuid),
            macs: cards(&row).filter_map(mac).collect(),
            address: text(&row, "ipconfig0").as_deref().and_then(address),
            keys: text(&row, "sshkeys").filter(|keys| !keys.is_empty()),
            password: text(&row, "cipassword").is_some_and(|word| !word.is_empty()),
            seeded: row.values().any(|value| value.as_str().is_some_and(|disk| disk.contains("cloudinit"))),
            notes: text(&row, "description").filter(|notes| !notes.trim().is_empty()),
            tags: text(&row, "tags").filter(|tags| !tags.is_empty()),
        }
    });
    read(config, |config| drop(facts.guests.config.insert(vmid(item), Sourced::new(config, item))))
}

/// The UUID in `smbios1`.
fn uuid(smbios: &str) -> Option<String> {
    smbios.split(',').find_map(|part| part.strip_prefix("uuid=")).map(str::to_owned)
}

/// Network devices in order: `net0`, `net1`, …
fn cards(row: &rows::Row) -> impl Iterator<Item = &str> {
    (0..32).filter_map(|n| row.get(&format!("net{n}"))?.as_str())
}

/// `virtio=02:DE:20:00:07:F8,bridge=tdemo0` → the MAC.
fn mac(card: &str) -> Option<String> {
    let (_, mac) = card.split(',').next()?.split_once('=')?;
    (mac.len() == 17).then(|| mac.to_ascii_lowercase())
}

/// `ip=10.20.129.10/24,gw=10.20.129.1`; `None` for DHCP and IPv6.
fn address(config: &str) -> Option<(Ipv4Net, Option<Ipv4Addr>)> {
    let part = |key: &str| config.split(',').find_map(|part| part.strip_prefix(key));
    Some((part("ip=")?.parse().ok()?, part("gw=").and_then(|gateway| gateway.parse().ok())))
}

fn status(item: &Item, facts: &mut Facts) -> Taken {
    let power =
        data(item, "nodes/*/qemu/*/status/current").and_then(|value| rows::object(value, "a state")).and_then(|row| {
            let status = rows::need(&row, "status", "a state")?;
            Ok(Power {
                status,
                uptime: number(&row, "uptime"),
                lock: text(&row, "lock").filter(|lock| !lock.is_empty()),
            })
        });
    read(power, |power| {
        if let Some(uptime) = power.uptime {
            facts.guests.uptimes.entry(vmid(item)).or_default().push(Sourced::new(uptime, item));
        }
        facts.guests.power.insert(vmid(item), Sourced::new(power, item));
    })
}

fn answers(item: &Item, facts: &mut Facts) -> Taken {
    let asked = item.http().is_some_and(|http| {
        http.ok() && http.asks(Api::Proxmox, "nodes/*/qemu/*/agent/*") && !http.segment(5).starts_with("exec")
    });
    if !asked {
        return Taken::NotMine;
    }
    let result = json(item).map(|value| value.pointer("/data/result").cloned().unwrap_or_default());
    // An agent's own refusal comes with status 200: it answers, even so.
    read(result, |_| drop(facts.guests.answering.insert(vmid(item), Sourced::new((), item))))
}

/// Also what an agent refused is an answer, without addresses.
fn addresses(item: &Item, facts: &mut Facts) -> Taken {
    let result = data(item, "nodes/*/qemu/*/agent/network-get-interfaces");
    let interfaces = match result.map(|value| value.get("result").cloned()) {
        Err(taken) => return taken,
        Ok(Some(Value::Array(interfaces))) => interfaces,
        Ok(_) => return Taken::NotMine,
    };
    let of = |interface: &Value| {
        let dev = interface.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let list = interface.get("ip-addresses").and_then(Value::as_array).cloned().unwrap_or_default();
        list.into_iter().filter_map(move |row| {
            let ip = row.get("ip-address")?.as_str()?.parse().ok()?;
            let prefix_len = row.get("prefix").and_then(Value::as_u64).and_then(|n| u8::try_from(n).ok())?;
            Some(Address { dev: dev.clone(), ip, prefix_len })
        })
    };
    let all = interfaces.iter().flat_map(of).collect();
    facts.guests.addresses.insert(vmid(item), Sourced::new(all, item));
    Taken::Read
}

fn started(item: &Item, facts: &mut Facts) -> Taken {
    let pid = match rows::answered(item, Api::Proxmox, "nodes/*/qemu/*/agent/exec") {
        Err(taken) => return taken,
        Ok(_) => json(item).map(|value| value.pointer("/data/pid").and_then(Value::as_u64)),
    };
    let pid = pid.and_then(|pid| pid.ok_or_else(|| Taken::Unreadable("exec without a process id".to_owned())));
    read(pid, |pid| {
        let file = item.file.as_str().into();
        facts.guests.processes.push(Process { vmid: vmid(item), pid, ended: None, file });
    })
}

fn ended(item: &Item, facts: &mut Facts) -> Taken {
    let row = data(item, "nodes/*/qemu/*/agent/exec-status").and_then(|value| rows::object(value, "a process"));
    let pid = item.http().and_then(|http| http.query.get("pid")?.parse::<u64>().ok());
    let (row, pid) = match (row, pid) {
        (Err(taken), _) => return taken,
        (Ok(_), None) => return Taken::Unreadable("a process without its id".to_owned()),
        (Ok(row), Some(pid)) => (row, pid),
    };
    let ended = truth(&row, "exited").unwrap_or(false).then(|| row.get("exitcode").and_then(Value::as_i64));
    let guest = vmid(item);
    match facts.guests.processes.iter_mut().find(|p| p.vmid == guest && p.pid == pid) {
        Some(process) => process.ended = process.ended.or(ended),
        None => facts.guests.processes.push(Process { vmid: guest, pid, ended, file: item.file.as_str().into() }),
    }
    Taken::Read
}
