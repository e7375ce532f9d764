//! Forms of options of a machine: cards, addresses, keys, SMBIOS fields, sizes.

use crate::lab::pve::form::{PATTERN, UNKNOWN, format, mac};

/// Options of a card.
const CARD: &[&str] =
    &["bridge", "firewall", "host-tunnel", "link_down", "macaddr", "model", "mtu", "queues", "rate", "tag", "trunks"];
/// Models of cards, which may carry the address.
const MODELS: &[&str] = &["virtio", "e1000", "e1000e", "rtl8139", "vmxnet3"];
/// Fields of `smbios1`.
const SMBIOS: &[&str] = &["base64", "family", "manufacturer", "product", "serial", "sku", "uuid", "version"];

/// A property string that does not hold: one line for each part.
fn parts(name: &str, wrong: &[(String, String)]) -> Result<(), String> {
    if wrong.is_empty() {
        return Ok(());
    }
    let lines: String = wrong.iter().map(|(part, text)| format!("{name}.{part}: {text}\n")).collect();
    Err(format!("invalid format - format error\n{lines}"))
}

fn pairs(value: &str) -> impl Iterator<Item = (&str, &str)> {
    value.split(',').map(|part| part.split_once('=').unwrap_or(("", part)))
}

/// A card.
pub(super) fn net(name: &str, value: &str) -> Result<(), String> {
    let wrong: Vec<(String, String)> = pairs(value)
        .filter_map(|(key, text)| match key {
            "" if MODELS.contains(&text) => None,
            "" => Some(("model".to_owned(), format!("value '{text}' does not have a value in the enumeration"))),
            _ if MODELS.contains(&key) || key == "macaddr" => mac(text).err().map(|error| (key.to_owned(), error)),
            _ if CARD.contains(&key) => None,
            _ => Some((key.to_owned(), UNKNOWN.to_owned())),
        })
        .collect();
    parts(name, &wrong)
}

/// A card with an address: the one it has, or one made of `bits`.
pub(super) fn with_mac(value: &str, bits: u64) -> String {
    let (first, rest) = value.split_once(',').unwrap_or((value, ""));
    let made = format!("BC:24:11:{:02X}:{:02X}:{:02X}", bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff);
    let own = pairs(value).find(|(key, _)| *key == "macaddr").map_or(made, |(_, mac)| mac.to_owned());
    match first.strip_prefix("model=").unwrap_or(first) {
        model if MODELS.contains(&model) => {
            let rest: Vec<&str> =
                rest.split(',').filter(|part| !part.is_empty() && !part.starts_with("macaddr=")).collect();
            std::iter::once(format!("{model}={own}"))
                .chain(rest.into_iter().map(str::to_owned))
                .collect::<Vec<_>>()
                .join(",")
        }
        _ => value.to_owned(),
    }
}

/// Addresses for cloud-init.
pub(super) fn ipconfig(name: &str, value: &str) -> Result<(), String> {
    let there = |wanted: &str| pairs(value).any(|(key, _)| key == wanted);
    let net = |text: &str, v6: bool| {
        text.split_once('/').is_some() && text.parse::<ipnet::IpNet>().is_ok_and(|net| net.addr().is_ipv6() == v6)
    };
    let host = |text: &str, v6: bool| text.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_ipv6() == v6);
    let form = |of: &str| format!("invalid format - value does not look like a valid {of}\n");
    let mut wrong = Vec::new();
    for (key, text) in pairs(value) {
        let error = match key {
            "ip" => {
                (!(matches!(text, "dhcp" | "manual") || net(text, false))).then(|| form("ipv4 network configuration"))
            }
            "ip6" => (!(matches!(text, "dhcp" | "manual" | "auto") || net(text, true)))
                .then(|| form("ipv6 network configuration")),
            "gw" => (!host(text, false)).then(|| form("IPv4 address")),
            "gw6" => (!host(text, true)).then(|| form("IPv6 address")),
            _ => Some(UNKNOWN.to_owned()),
        };
        wrong.extend(error.map(|error| (key.to_owned(), error)));
    }
    for (gateway, needs) in [("gw", "ip"), ("gw6", "ip6")] {
        if there(gateway) && !there(needs) {
            wrong.push((needs.to_owned(), format!("missing property - '{name}.{gateway}' requires this property")));
        }
    }
    parts(name, &wrong)
}

/// `smbios1`: at most 512 characters; its values have the letters of Base64, encoded or not.
pub(super) fn smbios(name: &str, value: &str) -> Result<(), String> {
    if value.chars().count() > 512 {
        return Err("value may only be 512 characters long".to_owned());
    }
    let letters = |text: &str| {
        let body = text.trim_end_matches('=');
        let fits = body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
        !body.is_empty() && fits && text.len() - body.len() <= 2
    };
    let uuid = |text: &str| {
        let groups: Vec<usize> = text.split('-').map(str::len).collect();
        groups == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
    };
    let wrong: Vec<(String, String)> = pairs(value)
        .filter_map(|(key, text)| {
            match key {
                "base64" => {
                    (!matches!(text, "0" | "1")).then(|| format!("type check ('boolean') failed - got '{text}'"))
                }
                "uuid" => (!uuid(text)).then(|| PATTERN.to_owned()),
                _ if SMBIOS.contains(&key) => (!letters(text)).then(|| PATTERN.to_owned()),
                _ => Some(UNKNOWN.to_owned()),
            }
            .map(|error| (key.to_owned(), error))
        })
        .collect();
    parts(name, &wrong)
}

/// Text that was percent-encoded before it became a parameter (§10).
pub(super) fn urlencoded(value: &str) -> Result<(), String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-%_.!~*'()".contains(&byte);
    if value.bytes().all(fits) { Ok(()) } else { Err(format(&format!("invalid urlencoded string: {value}"))) }
}

/// Whether every line is a public key.
pub(super) fn are_keys(text: &str) -> bool {
    let kind = |word: &str| ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].iter().any(|start| word.starts_with(start));
    let key = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.iter().zip(words.iter().skip(1)).any(|(name, body)| kind(name) && body.starts_with("AAAA"))
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).all(key)
}

/// The name of a disk.
pub(super) fn disk(value: &str) -> Result<(), String> {
    let bus = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = value.get(bus.len()..).and_then(|number| number.parse::<u32>().ok());
    let most = match bus {
        "ide" => 3,
        "scsi" => 30,
        "virtio" => 15,
        "sata" => 5,
        "efidisk" | "tpmstate" => 0,
        _ => return Err(format!("value '{value}' does not have a value in the enumeration")),
    };
    match number {
        Some(number) if number <= most => Ok(()),
        _ => Err(format!("value '{value}' does not have a value in the enumeration")),
    }
}

/// A size, or what is to be added to one.
pub(super) fn size(value: &str) -> Result<(), String> {
    bytes(value.strip_prefix('+').unwrap_or(value)).map(|_| ()).ok_or_else(|| PATTERN.to_owned())
}

/// Bytes of a size `\d+(\.\d+)?[KMGT]?`.
fn bytes(text: &str) -> Option<u64> {
    let shift = match text.bytes().last()? {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        _ => 0,
    };
    let number = if shift == 0 { text } else { text.get(..text.len() - 1)? };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || number.contains('.') && !digits(part) {
        return None;
    }
    let part = part.get(..part.len().min(6)).unwrap_or_default();
    let scale = 10_u64.pow(u32::try_from(part.len()).ok()?);
    let fraction = part.parse::<u64>().unwrap_or(0).checked_mul(1 << shift)? / scale;
    whole.parse::<u64>().ok()?.checked_mul(1 << shift)?.checked_add(fraction)
}

/// The size a disk is to have; disks do not shrink.
pub(super) fn grown(disk: &str, wanted: &str, otherwise: u64) -> Result<u64, String> {
    let own = pairs(disk).find(|(key, _)| *key == "size").and_then(|(_, size)| bytes(size)).unwrap_or(otherwise);
    let asked = bytes(wanted.trim_start_matches('+')).unwrap_or(0);
    let size = if wanted.starts_with('+') { own.saturating_add(asked) } else { asked };
    if size < own { Err("shrinking disks is not supported".to_owned()) } else { Ok(size) }
}

/// A disk with that size.
pub(super) fn with_size(disk: &str, size: u64) -> String {
    let units = [(40, 'T'), (30, 'G'), (20, 'M'), (10, 'K')];
    let whole = units.iter().find(|(shift, _)| size.is_multiple_of(1 << shift) && size > 0);
    let text = whole.map_or_else(|| size.to_string(), |(shift, unit)| format!("{}{unit}", size >> shift));
    let kept = disk.split(',').filter(|part| !part.starts_with("size="));
    kept.map(str::to_owned).chain([format!("size={text}")]).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        assert_eq!((bytes("2G"), bytes("1.5K"), bytes("2GB"), bytes("")), (Some(2 << 30), Some(1536), None, None));
        assert_eq!(with_size("local-lvm:vm-1-disk-0,size=32G,ssd=1", 40 << 30), "local-lvm:vm-1-disk-0,ssd=1,size=40G");
        assert_eq!(grown("x,size=32G", "+8G", 0), Ok(40 << 30));
        assert!(grown("x,size=32G", "8G", 0).is_err());
    }

    #[test]
    fn a_pointer_needs_base64_and_room() {
        assert!(smbios("smbios1", "uuid=7d9f3c1e-2b4a-4c5d-8e6f-204020402040,serial=ZHZiMQ==,base64=1").is_ok());
        let text = smbios("smbios1", "serial=dvb1;u=x").unwrap_err();
        assert!(text.ends_with("smbios1.serial: value does not match the regex pattern\n"), "{text}");
        assert!(smbios("smbios1", &format!("serial={}", "A".repeat(506))).is_err());
    }

    #[test]
    fn a_gateway_needs_an_address() {
        assert!(ipconfig("ipconfig0", "ip=10.20.129.10/24,gw=10.20.129.1").is_ok());
        assert!(ipconfig("ipconfig0", "ip=dhcp").is_ok());
        assert!(ipconfig("ipconfig0", "ip=10.20.129.10").is_err(), "no prefix");
        assert!(ipconfig("ipconfig0", "gw=10.20.129.1").is_err());
    }
}
