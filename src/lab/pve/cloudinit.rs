//! The texts cloud-init is given, as `GET cloudinit/dump` shows them (facts/proxmox.md §10).

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use crate::lab::http::percent_decode;
use crate::lab::sdn::digest_of;
use crate::lab::state::Guest;

/// `user-data`.
pub(super) fn user(guest: &Guest) -> String {
    let name = guest.text("name").unwrap_or_default();
    let domain = guest.text("searchdomain").map(|domain| format!(".{domain}")).unwrap_or_default();
    let mut out = format!("#cloud-config\nhostname: {name}\nmanage_etc_hosts: true\nfqdn: {name}{domain}\n");
    if let Some(user) = guest.text("ciuser") {
        let _ = writeln!(out, "user: {user}");
    }
    if let Some(keys) = guest.text("sshkeys") {
        out.push_str("ssh_authorized_keys:\n");
        for key in percent_decode(&keys).lines() {
            let _ = writeln!(out, "  - {key}");
        }
    }
    out.push_str("chpasswd:\n  expire: False\nusers:\n  - default\npackage_upgrade: true\n");
    out
}

/// `network-config`, version 1.
pub(super) fn network(guest: &Guest) -> String {
    let mac = guest.mac().unwrap_or_default();
    let mut out = format!(
        "version: 1\nconfig:\n    - type: physical\n      name: eth0\n      mac_address: '{mac}'\n      subnets:\n"
    );
    match guest.property("ipconfig0", "ip").as_deref().map(|ip| ip.split_once('/')) {
        Some(Some((address, prefix))) => {
            let bits = prefix.parse().ok().filter(|bits| *bits <= 32).unwrap_or(24_u32);
            let mask = Ipv4Addr::from_bits(u32::MAX.checked_shl(32 - bits).unwrap_or(0));
            let _ = write!(out, "      - type: static\n        address: '{address}'\n        netmask: '{mask}'\n");
            if let Some(gateway) = guest.property("ipconfig0", "gw") {
                let _ = writeln!(out, "        gateway: '{gateway}'");
            }
        }
        Some(None) => out.push_str("      - type: dhcp4\n"),
        None => {}
    }
    out.push_str("    - type: nameserver\n      address:\n");
    if let Some(server) = guest.text("nameserver") {
        let _ = writeln!(out, "      - '{server}'");
    }
    out.push_str("      search:\n");
    if let Some(domain) = guest.text("searchdomain") {
        let _ = writeln!(out, "      - '{domain}'");
    }
    out
}

/// `meta-data`: an instance id that changes with the other two.
pub(super) fn meta(guest: &Guest) -> String {
    format!("instance-id: {}\n", digest_of(&format!("{}{}", user(guest), network(guest))))
}
