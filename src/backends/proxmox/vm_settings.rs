//! Settings of a VM as they are written (facts/proxmox.md §10, domain.md §4.2).

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;

use super::call::{Call, Edit};
use super::error::Error;
use super::names::{
    BridgeName, Description, Digest, Disk, DnsName, LoginName, MacAddress, NodeName, PoolId, StorageId, Tag, Vmid,
};
use super::smbios::Smbios;

/// Highest number of a card or of its address.
const LAST_CARD: u8 = 31;

/// A change of a VM's settings: what is left stays as it is. On a running VM most of it waits for a cold start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VmSettings {
    /// VM name.
    pub name: Option<DnsName>,
    /// Notes.
    pub description: Edit<Description>,
    /// All tags.
    pub tags: Edit<Vec<Tag>>,
    /// Cores, at least 1.
    pub cores: Option<u32>,
    /// Memory in MiB, at least 16.
    pub memory_mib: Option<u32>,
    /// Guest agent.
    pub agent: Option<bool>,
    /// Start at boot.
    pub onboot: Option<bool>,
    /// `netN`, 0–31.
    pub nets: BTreeMap<u8, Edit<Card>>,
    /// `ipconfigN` of cloud-init, 0–31.
    pub ipconfigs: BTreeMap<u8, Edit<GuestAddress>>,
    /// Resolvers of cloud-init.
    pub nameservers: Edit<Vec<IpAddr>>,
    /// Search domain of cloud-init.
    pub searchdomain: Edit<DnsName>,
    /// Login account of cloud-init.
    pub ciuser: Edit<LoginName>,
    /// Whether cloud-init upgrades packages at the first boot. Proxmox's default is yes.
    pub ciupgrade: Edit<bool>,
    /// Keys that may log in.
    pub sshkeys: Edit<SshKeys>,
    /// `smbios1`, whole.
    pub smbios: Option<Smbios>,
    /// Refuse unless the configuration is as it was when this was read.
    pub digest: Option<Digest>,
}

/// A virtio network card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its address. Proxmox would make one up otherwise, a new one each time.
    pub mac: MacAddress,
    /// Bridge or VNet. Proxmox does not look whether it exists.
    pub bridge: BridgeName,
    /// Guest firewall.
    pub firewall: bool,
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "virtio={},bridge={}", self.mac, self.bridge)?;
        if self.firewall { f.write_str(",firewall=1") } else { Ok(()) }
    }
}

/// An address as cloud-init gives it to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestAddress {
    /// A fixed one.
    Fixed {
        /// Address and length of its prefix.
        address: Ipv4Net,
        /// Gateway.
        gateway: Option<Ipv4Addr>,
    },
    /// Whatever DHCP says.
    Dhcp,
}

impl fmt::Display for GuestAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dhcp => f.write_str("ip=dhcp"),
            Self::Fixed { address, gateway: None } => write!(f, "ip={address}"),
            Self::Fixed { address, gateway: Some(gateway) } => write!(f, "ip={address},gw={gateway}"),
        }
    }
}

/// Public keys in OpenSSH's form, one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshKeys(String);

impl SshKeys {
    /// Takes the lines of an `authorized_keys` file; empty lines and comments are left out.
    ///
    /// # Errors
    /// [`Error::BadValue`] without any key, and for a line that has not the form of one.
    pub fn new(text: &str) -> Result<Self, Error> {
        let mut keys = String::new();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for (i, line) in lines.enumerate() {
            if !is_public_key(line) {
                let why = format!("line {} is not a public key (TYPE BASE64 COMMENT)", i + 1);
                return Err(Error::BadValue { what: "sshkeys", why });
            }
            keys.push_str(line);
            keys.push('\n');
        }
        if keys.is_empty() {
            return Err(Error::BadValue { what: "sshkeys", why: "it holds no key".to_owned() });
        }
        Ok(Self(keys))
    }

    /// Percent-encoded, as the parameter wants it *before* the form is encoded. A blank is `%20`, never `+`.
    #[must_use]
    pub fn encoded(&self) -> String {
        let mut out = String::with_capacity(self.0.len() * 3 / 2);
        for byte in self.0.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => out.push(char::from(byte)),
                // Writing into a String cannot fail.
                other => drop(write!(out, "%{other:02X}")),
            }
        }
        out
    }
}

fn is_public_key(line: &str) -> bool {
    let mut words = line.split(' ');
    let kind = words.next().unwrap_or_default();
    let known = ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].iter().any(|stem| kind.starts_with(stem));
    let body = words.next().unwrap_or_default();
    let encoded = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    known && body.len() >= 16 && body.bytes().all(encoded) && !line.contains(char::is_control)
}

impl VmSettings {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Result<Call<'a>, Error> {
        let tags = joined("tags", &self.tags, ";")?;
        let nameservers = joined("nameserver", &self.nameservers, " ")?;
        let mut call = call
            .set_some("digest", self.digest.as_ref())
            .set_some("name", self.name.as_ref())
            .edit("description", self.description.as_ref())
            .edit("tags", tags)
            .set_some("cores", at_least("cores", self.cores, 1)?)
            .set_some("memory", at_least("memory", self.memory_mib, 16)?)
            .set_flag("agent", self.agent)
            .set_flag("onboot", self.onboot)
            .edit("nameserver", nameservers)
            .edit("searchdomain", self.searchdomain.as_ref())
            .edit("ciuser", self.ciuser.as_ref())
            .edit("ciupgrade", self.ciupgrade.as_ref().map(|on| u8::from(*on)))
            .edit("sshkeys", self.sshkeys.as_ref().map(SshKeys::encoded));
        for (i, card) in &self.nets {
            call = call.edit(numbered("net", *i)?, card.as_ref());
        }
        for (i, address) in &self.ipconfigs {
            call = call.edit(numbered("ipconfig", *i)?, address.as_ref());
        }
        match &self.smbios {
            Some(smbios) => Ok(call.set("smbios1", smbios.text()?.as_str())),
            None => Ok(call),
        }
    }
}

fn joined<T: ToString>(what: &'static str, values: &Edit<Vec<T>>, by: &str) -> Result<Edit<String>, Error> {
    match values {
        Edit::Set(values) if values.is_empty() => {
            Err(Error::BadValue { what, why: "an empty list; take the option away instead".to_owned() })
        }
        other => Ok(other.as_ref().map(|values| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(by))),
    }
}

fn at_least(what: &'static str, value: Option<u32>, least: u32) -> Result<Option<u32>, Error> {
    match value {
        Some(n) if n < least => Err(Error::BadValue { what, why: format!("{n} is less than {least}") }),
        other => Ok(other),
    }
}

fn numbered(stem: &'static str, i: u8) -> Result<String, Error> {
    if i > LAST_CARD {
        return Err(Error::BadValue { what: stem, why: format!("there is no number {i}, the last is {LAST_CARD}") });
    }
    Ok(format!("{stem}{i}"))
}

/// What a new VM is copied from, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloneRequest {
    /// VMID of the new VM. Somebody else may take it in between: [`Error::Exists`].
    pub newid: Vmid,
    /// Its name.
    pub name: DnsName,
    /// Whole copy, or a linked one.
    pub copy: Copying,
    /// Another node for it; needs shared storage.
    pub target: Option<NodeName>,
    /// Pool that it joins.
    pub pool: Option<PoolId>,
    /// Notes.
    pub description: Option<Description>,
}

/// How disks are copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copying {
    /// Every disk as a whole.
    Full {
        /// Storage for them; where they are otherwise.
        storage: Option<StorageId>,
    },
    /// On top of the template's disks.
    Linked,
}

impl CloneRequest {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        let call = call
            .set("newid", self.newid)
            .set("name", &self.name)
            .set_some("target", self.target.as_ref())
            .set_some("pool", self.pool.as_ref())
            .set_some("description", self.description.as_ref());
        match &self.copy {
            Copying::Full { storage } => call.set("full", 1).set_some("storage", storage.as_ref()),
            Copying::Linked => call.set("full", 0),
        }
    }
}

/// A new size of a disk, in GiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resize {
    /// The disk.
    pub disk: Disk,
    /// Size.
    pub size: DiskSize,
    /// Refuse unless the configuration is as it was when this was read.
    pub digest: Option<Digest>,
}

/// A size, in GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskSize {
    /// This much in all. Safe to send twice.
    Total(u32),
    /// This much more.
    More(u32),
}

impl Resize {
    pub(super) fn fill<'a>(&self, call: Call<'a>) -> Call<'a> {
        let size = match self.size {
            DiskSize::Total(gib) => format!("{gib}G"),
            DiskSize::More(gib) => format!("+{gib}G"),
        };
        call.set("disk", &self.disk).set("size", size).set_some("digest", self.digest.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::super::endpoints;
    use super::*;

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJjbbdP/RJQAq9NUE8ZINFCcchqmHAKUcKO1zdb5aNT3 ops@deevnet.example";

    #[test]
    fn keys_are_encoded_as_proxmox_stores_them() {
        let keys = SshKeys::new(&format!("# mine\n{KEY}\r\n\n")).unwrap();
        let recorded = "ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIJjbbdP%2FRJQAq9NUE8ZINFCcchqmHAKUcKO1zdb5aNT3%20ops%40deevnet.example%0A";
        assert_eq!(keys.encoded(), recorded);
        assert!(SshKeys::new(&KEY.replace('/', "+")).unwrap().encoded().contains("%2B"));
        for bad in ["", "# none", "hello world", "ssh-ed25519", "ssh-ed25519 AAAA;AAAAAAAAAAAAAAAA", "ssh-rsa AAAA"] {
            assert!(matches!(SshKeys::new(bad), Err(Error::BadValue { what: "sshkeys", .. })), "{bad}");
        }
    }

    #[test]
    fn what_proxmox_would_refuse_is_not_sent() {
        let fill = |settings: VmSettings| settings.fill(Call::new(&endpoints::VM_CONFIG_SET)).map(|_| ()).unwrap_err();
        let refused = [
            fill(VmSettings { cores: Some(0), ..VmSettings::default() }),
            fill(VmSettings { memory_mib: Some(15), ..VmSettings::default() }),
            fill(VmSettings { tags: Edit::Set(Vec::new()), ..VmSettings::default() }),
            fill(VmSettings { nets: BTreeMap::from([(32, Edit::Remove)]), ..VmSettings::default() }),
            fill(VmSettings { smbios: Some(Smbios::default()), ..VmSettings::default() }),
        ];
        for error in refused {
            assert!(matches!(error, Error::BadValue { .. }), "{error:?}");
            assert_eq!(error.outcome(), crate::backends::http::Outcome::NotSent);
        }
    }
}
