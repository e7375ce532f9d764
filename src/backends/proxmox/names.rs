//! Names and numbers as Proxmox takes them (facts/proxmox.md §4, §10): what is held here can be sent.

use std::fmt;
use std::str::FromStr;

use ipnet::Ipv4Net;
use zeroize::Zeroizing;

use super::error::Error;
use crate::backends::http::clean;
use crate::site::numbering::Mac;

/// A text that keeps to one rule, checked when it is made.
macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident, $what:literal, $sound:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// As it is sent.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                let sound: fn(&str) -> bool = $sound;
                if sound(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(Error::BadId { what: $what, value: clean(text) })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

checked_text!(
    /// SDN zone id: 2–8 letters and digits, a letter first.
    ZoneId,
    "zone id (2 to 8 letters and digits, a letter first)",
    is_sdn_id
);
checked_text!(
    /// VNet id, which is also a bridge: 2–8 letters and digits, a letter first.
    VnetId,
    "VNet id (2 to 8 letters and digits, a letter first)",
    is_sdn_id
);
checked_text!(
    /// SDN controller id: 2–64 letters, digits, `_` and `-`, a letter first.
    ControllerId,
    "controller id (2 to 64 letters, digits, _ and -, a letter first)",
    |t| (2..=64).contains(&t.len()) && starts_with_letter(t) && ends_well(t) && only(t, "_-")
);
checked_text!(
    /// IPAM plug-in: at least 2 letters and digits, a letter first.
    PluginId,
    "plug-in id (2 or more letters and digits, a letter first)",
    |t| (2..=64).contains(&t.len()) && starts_with_letter(t) && only(t, "")
);
checked_text!(
    /// Fabric id: 2–8 letters, digits and `-`.
    FabricId,
    "fabric id (2 to 8 letters, digits and -)",
    |t| (2..=8).contains(&t.len()) && is_label(t)
);
checked_text!(
    /// Node id.
    NodeName,
    "node name (letters, digits and -)",
    |t| t.len() <= 63 && is_label(t)
);
checked_text!(
    /// A DNS name: VM names and search domains.
    DnsName,
    "DNS name (labels of letters, digits and -)",
    |t| t.len() <= 253 && t.split('.').all(|label| label.len() <= 63 && is_label(label))
);
checked_text!(
    /// Storage id.
    StorageId,
    "storage id (letters, digits, -, _ and ., a letter first)",
    |t| (2..=100).contains(&t.len()) && starts_with_letter(t) && ends_well(t) && only(t, "-_.")
);
checked_text!(
    /// Resource pool, of the first level.
    PoolId,
    "pool id (letters, digits, -, _ and .)",
    |t| (1..=100).contains(&t.len()) && !matches!(t, "." | "..") && only(t, "-_.")
);
checked_text!(
    /// One tag of a guest, in lower case.
    Tag,
    "tag (lower-case letters, digits, _, -, + and ., not starting with a sign but _)",
    |t| {
        (1..=100).contains(&t.len())
            && !t.starts_with(['-', '+', '.'])
            && only(t, "_-+.")
            && !t.bytes().any(|b| b.is_ascii_uppercase())
    }
);
checked_text!(
    /// Bridge or VNet that a network card is in: at most 15 characters, as Linux has it.
    BridgeName,
    "bridge name (at most 15 letters, digits, _, - and ., a letter first)",
    |t| (1..=15).contains(&t.len()) && starts_with_letter(t) && only(t, "_-.")
);
checked_text!(
    /// Login account of cloud-init.
    LoginName,
    "login name (at most 32 lower-case letters, digits, _ and -)",
    |t| {
        (1..=32).contains(&t.len())
            && t.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            && only(t, "_-")
            && !t.bytes().any(|b| b.is_ascii_uppercase())
    }
);
checked_text!(
    /// Free words on a VNet, at most 256 characters.
    Alias,
    "alias (at most 256 letters, digits, blanks and ( ) , - . / : _)",
    |t| (1..=256).contains(&t.len()) && only(t, " ()_.-,:/")
);
checked_text!(
    /// Notes of a guest, at most 8192 bytes; line feeds are the only control characters.
    Description,
    "description (at most 8192 bytes, no control characters)",
    |t| (1..=8192).contains(&t.len()) && !t.contains(|c: char| c.is_control() && c != '\n')
);
checked_text!(
    /// State of a configuration file, as Proxmox gave it with the file.
    Digest,
    "digest (40 hexadecimal digits)",
    |t| t.len() == 40 && t.bytes().all(|b| b.is_ascii_hexdigit())
);
checked_text!(
    /// Subnet id, `<zone>-<ip>-<mask>`.
    SubnetId,
    "subnet id (ZONE-ADDRESS-LENGTH)",
    is_subnet_id
);
checked_text!(
    /// A disk of a VM, e.g. `scsi0`.
    Disk,
    "disk (scsi0 to scsi30, virtio0 to virtio15, sata0 to sata5 or ide0 to ide3)",
    is_disk
);
checked_text!(
    /// MAC address of one card, lower or upper case.
    MacAddress,
    "MAC address of one card (six pairs of hexadecimal digits, the first even)",
    is_mac
);

impl SubnetId {
    /// Id of `net` in `zone`, host bits as they are.
    #[must_use]
    pub fn of(zone: &ZoneId, net: Ipv4Net) -> Self {
        Self(format!("{zone}-{}-{}", net.addr(), net.prefix_len()))
    }
}

impl From<&VnetId> for BridgeName {
    fn from(vnet: &VnetId) -> Self {
        Self(vnet.as_str().to_owned())
    }
}

impl TryFrom<Mac> for MacAddress {
    type Error = Error;

    fn try_from(mac: Mac) -> Result<Self, Error> {
        mac.to_string().parse()
    }
}

/// VMID, 100–999999999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vmid(u32);

/// VXLAN id, 1–16777215.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vni(u32);

macro_rules! checked_number {
    ($name:ident, $what:literal, $range:expr) => {
        impl $name {
            /// The number itself.
            #[must_use]
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl TryFrom<u32> for $name {
            type Error = Error;

            fn try_from(number: u32) -> Result<Self, Error> {
                if $range.contains(&number) {
                    Ok(Self(number))
                } else {
                    Err(Error::BadId { what: $what, value: number.to_string() })
                }
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                let digits = text.bytes().all(|b| b.is_ascii_digit());
                let number = text.parse::<u32>().ok().filter(|_| digits);
                let bad = || Error::BadId { what: $what, value: clean(text) };
                number.ok_or_else(bad)?.try_into()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

checked_number!(Vmid, "VMID (100 to 999999999)", 100..=999_999_999);
checked_number!(Vni, "VXLAN id (1 to 16777215)", 1..=16_777_215);

/// The token of the SDN lock: whoever has it may write. Never printed; whoever took the lock keeps it where only they read
/// (facts/proxmox.md §6: nobody can ask Proxmox for it again).
#[derive(Clone, PartialEq, Eq)]
pub struct LockToken(Zeroizing<String>);

impl LockToken {
    /// The token itself: for the wire and for the journal that gives the lock back after a crash.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for LockToken {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Ok(Self(Zeroizing::new(text.to_owned())));
        }
        Err(Error::BadId { what: "token of the SDN lock", value: "what was given".to_owned() })
    }
}

impl fmt::Debug for LockToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockToken(…)")
    }
}

fn only(text: &str, signs: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || signs.contains(c))
}

fn starts_with_letter(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn ends_well(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

fn is_label(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && ends_well(text) && only(text, "-")
}

fn is_sdn_id(text: &str) -> bool {
    (2..=8).contains(&text.len()) && starts_with_letter(text) && only(text, "")
}

fn is_subnet_id(text: &str) -> bool {
    let Some((zone, net)) = text.split_once('-') else { return false };
    let Some((ip, mask)) = net.rsplit_once('-') else { return false };
    let longest = match ip.parse() {
        Ok(std::net::IpAddr::V4(_)) => 32,
        Ok(std::net::IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    is_sdn_id(zone) && mask.len() <= 3 && mask.parse::<u8>().is_ok_and(|n| n <= longest)
}

fn is_disk(text: &str) -> bool {
    [("scsi", 30), ("virtio", 15), ("sata", 5), ("ide", 3)].iter().any(|(stem, last)| {
        let number = text.strip_prefix(stem);
        number.is_some_and(|n| n.parse::<u8>().is_ok_and(|i| i <= *last && i.to_string() == n))
    })
}

fn is_mac(text: &str) -> bool {
    let pairs: Vec<&str> = text.split(':').collect();
    let pair = |p: &&str| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit());
    let single = pairs.first().and_then(|p| u8::from_str_radix(p, 16).ok()).is_some_and(|first| first & 1 == 0);
    pairs.len() == 6 && pairs.iter().all(pair) && single
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits<T: FromStr>(texts: &[&str]) -> Vec<bool> {
        texts.iter().map(|text| text.parse::<T>().is_ok()).collect()
    }

    #[test]
    fn names_with_odd_characters_do_not_exist() {
        let odd = ["", ".", "..", "a/b", "a b", "a,b", "a\nb", "ä1", "a&b", "a=b", "-a", "a\u{202e}b", "a;b", "a%2fb"];
        for bad in odd {
            assert!(bad.parse::<ZoneId>().is_err() && bad.parse::<VnetId>().is_err(), "{bad:?}");
            assert!(bad.parse::<ControllerId>().is_err() && bad.parse::<FabricId>().is_err(), "{bad:?}");
            assert!(bad.parse::<NodeName>().is_err() && bad.parse::<DnsName>().is_err(), "{bad:?}");
            assert!(bad.parse::<StorageId>().is_err() && bad.parse::<PoolId>().is_err() || bad == "-a", "{bad:?}");
            assert!(bad.parse::<Tag>().is_err() && bad.parse::<BridgeName>().is_err(), "{bad:?}");
            assert!(bad.parse::<LoginName>().is_err() && bad.parse::<Digest>().is_err(), "{bad:?}");
            assert!(bad.parse::<SubnetId>().is_err() && bad.parse::<Disk>().is_err(), "{bad:?}");
            assert!(bad.parse::<MacAddress>().is_err() && bad.parse::<LockToken>().is_err() || bad == "-a", "{bad:?}");
        }
        assert_eq!(fits::<Description>(&["", "a\nb", "a\u{1b}[2J", &"x".repeat(8193)]), [false, true, false, false]);
        assert_eq!(fits::<Alias>(&["tenant tdemo (1)", "a\nb", "ä"]), [true, false, false]);
    }

    #[test]
    fn lengths_are_those_of_proxmox() {
        assert_eq!(fits::<ZoneId>(&["t", "td", "tdemo", "tdemo456", "tdemo4567", "1tdemo"]), {
            [false, true, true, true, false, false]
        });
        assert_eq!(fits::<Disk>(&["scsi0", "scsi30", "scsi31", "scsi00", "ide4", "efidisk0"]), {
            [true, true, false, false, false, false]
        });
        assert_eq!(fits::<MacAddress>(&["02:de:20:00:07:f8", "02:DE:20:00:07:F8", "03:de:20:00:07:f8", "02:de:20"]), {
            [true, true, false, false]
        });
        assert_eq!(fits::<SubnetId>(&["tdemo-10.20.129.0-24", "tdemo-10.20.129.0-33", "tdemo-fd00::-64"]), {
            [true, false, true]
        });
        assert!(Vmid::try_from(99).is_err() && Vmid::try_from(100).is_ok() && Vmid::try_from(1_000_000_000).is_err());
        assert!(Vni::try_from(0).is_err() && Vni::try_from(16_777_215).is_ok() && Vni::try_from(16_777_216).is_err());
    }

    #[test]
    fn the_token_of_the_lock_is_not_shown() {
        let token: LockToken = "01a2283f-2dc7-7b5f-9c0a-e4225efe1620".parse().unwrap();
        assert_eq!(format!("{token:?}"), "LockToken(…)");
        let refused = "c4n4ry c4n4ry".parse::<LockToken>().unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("c4n4ry"));
    }

    #[test]
    fn a_subnets_id_is_as_the_server_makes_it() {
        let zone: ZoneId = "tdemo".parse().unwrap();
        let id = SubnetId::of(&zone, "10.20.129.0/24".parse().unwrap());
        assert_eq!(id.as_str(), "tdemo-10.20.129.0-24");
        assert_eq!(id.as_str().parse::<SubnetId>().unwrap(), id);
    }
}
