//! Settings of a VM, by Proxmox' names of them, in one form each whatever way they are written there.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::machine::{Found, Machine};
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints;
use crate::backends::proxmox::model::VmConfig as ConfigRead;
use crate::backends::proxmox::{Card, Edit, Error, GuestAddress, SshKeys, VmSettings};
use crate::provision::fields::{Change, Difference, Fields, Seen, Wanted, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::rights::Right;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Cores that a VM without a setting has.
const CORES: u32 = 1;
/// MiB of memory that a VM without a setting has.
const MEMORY: u32 = 512;

/// The settings of a VM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmConfig {
    /// The VM.
    pub vm: Machine,
}

/// What is set, as it is compared: lower-case MACs, tags in order, keys decoded. What waits for a cold start counts.
fn settings_of(found: &Found) -> Fields {
    let (config, raw) = (&found.config, &found.config.raw);
    let flag = |on: bool| on.then(|| "1".to_owned());
    let tags = (!config.tags.is_empty()).then(|| sorted(&config.tags));
    let all = [
        ("cores", config.cores.map(|n| n.to_string())),
        ("memory", config.memory_mib.map(|n| n.to_string())),
        ("agent", flag(config.agent)),
        ("onboot", flag(config.onboot)),
        ("net0", raw.get("net0").map(|text| card(text))),
        ("ipconfig0", raw.get("ipconfig0").map(|text| address(text))),
        ("nameserver", config.nameserver.as_deref().map(spaced)),
        ("tags", tags),
        ("ciuser", config.ciuser.clone()),
        ("sshkeys", raw.get("sshkeys").map(|text| keys(&decoded(text)))),
    ];
    fields(all.into_iter().filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?))))
}

fn sorted(tags: &[String]) -> String {
    let mut tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    tags.sort_unstable();
    tags.dedup();
    tags.join(";")
}

fn spaced(text: &str) -> String {
    text.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `virtio=MAC,bridge=B`, then what else is set, in order.
fn card(text: &str) -> String {
    let mut parts: Vec<String> = text.split(',').map(str::to_owned).collect();
    if let Some((model, mac)) = parts.first().and_then(|first| first.split_once('=')) {
        let first = format!("{model}={}", mac.to_lowercase());
        if let Some(place) = parts.first_mut() {
            *place = first;
        }
    }
    parts.retain(|part| part != "firewall=0");
    let first = usize::from(!parts.is_empty());
    if let Some(rest) = parts.get_mut(first..) {
        rest.sort_by_key(|part| (!part.starts_with("bridge="), part.clone()));
    }
    parts.join(",")
}

/// `ip=…,gw=…`, then what else is set, in order.
fn address(text: &str) -> String {
    let mut parts: Vec<&str> = text.split(',').collect();
    parts.sort_by_key(|part| (!part.starts_with("ip="), !part.starts_with("gw="), *part));
    parts.join(",")
}

/// Keys, one a line.
fn keys(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Tags, in the order in which they are compared.
pub(in crate::provision) fn tags<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    sorted(&all.into_iter().map(str::to_owned).collect::<Vec<_>>())
}

/// The keys of an `authorized_keys` file, in the form in which they are compared.
///
/// # Errors
/// When a line is none, or there is none.
pub(in crate::provision) fn authorized(text: &str) -> Result<String, Trouble> {
    SshKeys::new(text).map(|known| keys(&decoded(&known.encoded()))).map_err(|e| Trouble::from(&e))
}

/// The keys that a VM's configuration has.
pub(in crate::provision) fn keys_of(config: &ConfigRead) -> Option<String> {
    config.raw.get("sshkeys").map(|text| keys(&decoded(text))).filter(|keys| !keys.is_empty())
}

/// Percent signs taken out. Proxmox keeps keys so (facts/proxmox.md §10).
fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                out.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    crate::text::clean_lines(&String::from_utf8_lossy(&out))
}

/// A value as the type that is sent; the error names the field.
fn typed<T: FromStr>(field: &str, value: &str) -> Result<T, Trouble>
where
    T::Err: Display,
{
    value.parse().map_err(|why| Trouble::new(TroubleKind::Refused, format!("{field} = {value:?}: {why}")))
}

fn edit<T: FromStr>(change: &Change) -> Result<Edit<T>, Trouble>
where
    T::Err: Display,
{
    Ok(match change.will_be.as_deref() {
        None => Edit::Remove,
        Some(value) => Edit::Set(typed(&change.field, value)?),
    })
}

fn list<T: FromStr>(change: &Change, by: char) -> Result<Edit<Vec<T>>, Trouble>
where
    T::Err: Display,
{
    let Some(value) = change.will_be.as_deref() else { return Ok(Edit::Remove) };
    value.split(by).map(|one| typed(&change.field, one)).collect::<Result<_, _>>().map(Edit::Set)
}

fn unfit(field: &str, value: &str) -> Trouble {
    Trouble::new(TroubleKind::Refused, format!("{field} = {value:?} has parts that are not written here"))
        .with_help("set it in Proxmox")
}

fn parsed_card(value: &str) -> Result<Card, Trouble> {
    let mut parts = value.split(',');
    let unfit = || unfit("net0", value);
    let mac = parts.next().and_then(|first| first.strip_prefix("virtio=")).ok_or_else(unfit)?;
    let bridge = parts.next().and_then(|part| part.strip_prefix("bridge=")).ok_or_else(unfit)?;
    let firewall = match parts.next() {
        None => false,
        Some("firewall=1") if parts.next().is_none() => true,
        Some(_) => return Err(unfit()),
    };
    let bad = |e: Error| Trouble::from(&e);
    Ok(Card { mac: mac.parse().map_err(bad)?, bridge: bridge.parse().map_err(bad)?, firewall })
}

fn parsed_address(value: &str) -> Result<GuestAddress, Trouble> {
    if value == "ip=dhcp" {
        return Ok(GuestAddress::Dhcp);
    }
    let mut parts = value.split(',');
    let ip = parts.next().and_then(|part| part.strip_prefix("ip=")).ok_or_else(|| unfit("ipconfig0", value))?;
    let gateway = parts.next().map(|part| part.strip_prefix("gw=").ok_or_else(|| unfit("ipconfig0", value)));
    let gateway = gateway.transpose()?.map(|gateway| typed("ipconfig0", gateway)).transpose()?;
    if parts.next().is_some() {
        return Err(unfit("ipconfig0", value));
    }
    Ok(GuestAddress::Fixed { address: typed("ipconfig0", ip)?, gateway })
}

/// What is sent for what differs.
fn request(todo: &Difference) -> Result<VmSettings, Trouble> {
    let mut settings = VmSettings::default();
    for change in todo.changes() {
        let value = change.will_be.as_deref();
        let number = |otherwise: u32| value.map_or(Ok(otherwise), |value| typed(&change.field, value));
        match change.field.as_str() {
            "cores" => settings.cores = Some(number(CORES)?),
            "memory" => settings.memory_mib = Some(number(MEMORY)?),
            "agent" => settings.agent = Some(value == Some("1")),
            "onboot" => settings.onboot = Some(value == Some("1")),
            "net0" => {
                let card = value.map(parsed_card).transpose()?;
                settings.nets.insert(0, card.map_or(Edit::Remove, Edit::Set));
            }
            "ipconfig0" => {
                let address = value.map(parsed_address).transpose()?;
                settings.ipconfigs.insert(0, address.map_or(Edit::Remove, Edit::Set));
            }
            "nameserver" => settings.nameservers = list(change, ' ')?,
            "tags" => settings.tags = list(change, ';')?,
            "ciuser" => settings.ciuser = edit(change)?,
            "sshkeys" => {
                let keys = value.map(SshKeys::new).transpose().map_err(|e| Trouble::from(&e))?;
                settings.sshkeys = keys.map_or(Edit::Remove, Edit::Set);
            }
            other => return Err(Trouble::new(TroubleKind::Refused, format!("{other} is not set here"))),
        }
    }
    Ok(settings)
}

impl VmConfig {
    /// Sends what differs, unless somebody changed the configuration since it was read.
    async fn send(&self, context: &Context, permit: &Permit, todo: &Difference) -> Result<(), Trouble> {
        self.vm.unlocked(context).await?;
        let client = context.world.proxmox()?;
        let config = client.vm_config(&self.vm.node, self.vm.vmid).await.map_err(|e| Trouble::from(&e))?;
        if config.name.as_deref() != Some(self.vm.name.as_str()) {
            return Err(self.vm.anothers(config.name.as_deref()));
        }
        let digest = config.digest.as_deref().map(str::parse).transpose().map_err(|e| Trouble::from(&e))?;
        let settings = VmSettings { digest, ..request(todo)? };
        match client.vm_configure(permit, &self.vm.at()?, self.vm.id()?, &settings).await {
            Ok(()) | Err(Error::NothingToDo) => {}
            Err(Error::Modified { .. }) => {
                let text = format!("the settings of {} were changed by somebody else just now", self.vm.words());
                return Err(Trouble::new(TroubleKind::Busy, text));
            }
            Err(error) => return Err(Trouble::from(&error)),
        }
        self.vm.tell_waiting(context).await;
        Ok(())
    }
}

impl Ensure for VmConfig {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("settings of {}", self.vm.words())
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::One
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        if self.vm.new { Undo::Nothing } else { Undo::Inverse }
    }

    fn rights(&self, _todo: &Difference) -> Vec<Right> {
        self.vm.rights(&endpoints::VM_CONFIG_TASK)
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            Ok(self.vm.own(context).await?.map_or(Seen::Absent, |found| Seen::Present(settings_of(&found))))
        })
    }

    /// Tags of others stay, and what else is set on a card that is as it is wanted.
    fn difference(&self, seen: &Seen, wanted: &Wanted) -> Difference {
        let Wanted::Present(wanted) = wanted else { return Difference::Nothing };
        let mut wanted = wanted.clone();
        for field in ["net0", "ipconfig0"] {
            if let (Some(now), Some(value)) = (seen.field(field), wanted.get_mut(field))
                && !value.is_empty()
                && now.strip_prefix(value.as_str()).is_some_and(|more| more.starts_with(','))
            {
                now.clone_into(value);
            }
        }
        if let (Some(now), Some(tags)) = (seen.field("tags"), wanted.get_mut("tags")) {
            let both: Vec<String> = now.split(';').chain(tags.split(';')).map(str::to_owned).collect();
            *tags = if tags.is_empty() { String::new() } else { sorted(&both) };
        }
        Difference::between(seen, &Wanted::Present(wanted))
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(self.send(context, permit, todo))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_setting_has_one_form() {
        assert_eq!(card("virtio=02:DE:20:00:07:F8,firewall=0,bridge=tdemo0"), "virtio=02:de:20:00:07:f8,bridge=tdemo0");
        assert_eq!(
            card("virtio=02:DE:20:00:07:F8,mtu=1400,bridge=tdemo0,firewall=1"),
            "virtio=02:de:20:00:07:f8,bridge=tdemo0,firewall=1,mtu=1400"
        );
        assert_eq!(address("gw=10.20.129.1,ip=10.20.129.10/24"), "ip=10.20.129.10/24,gw=10.20.129.1");
        assert_eq!(keys(&decoded("ssh-ed25519%20AAAA%2B%20a%40b%0A%0A")), "ssh-ed25519 AAAA+ a@b");
        assert_eq!(decoded("50%"), "50%");
        assert_eq!(spaced("10.20.50.1, 10.20.50.2"), "10.20.50.1 10.20.50.2");
    }
}
