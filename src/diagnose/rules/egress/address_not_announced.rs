//! A floating address is bound on a guest, and no node has learnt it.

use std::net::IpAddr;

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::text;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "address-not-announced",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "A guest holds an address for which no node has an entry, while the guest's own address is known everywhere. With ARP \
           and ND suppression on, unknown neighbours are not asked for across nodes: if the announcement at take-over is \
           missed, nothing learns the address again.",
    reads: "addresses on the guest, the MAC-VRF of nodes, the zone's option",
    unlike: &[("workload-down", "the guest itself does not answer")],
    explains: &[],
    judge,
};

/// The VNet on which some node has learnt `ip`.
fn learnt(facts: &Facts, ip: IpAddr) -> Option<&String> {
    let mut lists = facts.sdn.mac_vrf.iter();
    lists.find(|(_, list)| list.iter().any(|entry| entry.ip == Some(ip))).map(|((_, vnet), _)| vnet)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let hosts = facts.nodes.iter().filter_map(|(name, host)| Some((name.to_owned(), host.addresses.as_ref()?)));
    let name =
        |vmid: &String| facts.guests.config.get(vmid).and_then(|c| c.name.clone()).unwrap_or_else(|| vmid.clone());
    let guests = facts.guests.addresses.iter().map(|(vmid, addresses)| (name(vmid), addresses));
    for (holder, addresses) in hosts.chain(guests) {
        for address in addresses.iter().filter(|address| address.ip.is_ipv4() && !address.ip.is_loopback()) {
            let known = |ip: IpAddr| learnt(facts, ip);
            // A guest is told by another of its addresses, which nodes have learnt.
            let own = addresses.iter().filter(|other| other.dev == address.dev && other.ip != address.ip);
            let Some((own, vnet)) = own.filter_map(|other| Some((other, known(other.ip)?))).next() else {
                continue;
            };
            let mut inside = facts.sdn.subnets_in_force().filter(|(_, subnet)| subnet.vnet == *vnet).peekable();
            if inside.peek().is_some() && !inside.any(|(_, subnet)| subnet.cidr.contains(&address.ip)) {
                continue;
            }
            if known(address.ip).is_some() {
                out.pass(Subject::new("name", address.ip.to_string()));
                continue;
            }
            let title = format!("{} is bound on {}, and no node has learnt it.", address.ip, own.ip);
            let mut finding = out
                .finding(Subject::new("name", address.ip.to_string()), title)
                .fact("address.bound", address.ip.to_string(), &holder)
                .fact("mac-vrf.entry", address.ip.to_string(), "none")
                .fact("mac-vrf.entry", own.ip.to_string(), "there")
                .affects([vnet])
                .from(addresses)
                .next("announce-again", 1, format!("announce {} again from its holder", address.ip))
                .command(format!("arping -U -c 3 -I {} {}", address.dev, address.ip));
            for list in facts.sdn.mac_vrf.iter().filter(|((_, of), _)| of == vnet).map(|(_, list)| list) {
                finding = finding.from(list);
            }
            let zones = facts.sdn.zones_in_force();
            let zone = facts.sdn.zone_of(vnet).and_then(|zone| zones?.iter().find(|z| z.zone == zone));
            match (zone, zones) {
                (Some(zone), Some(zones)) => {
                    let off = text(&zone.fields, "disable-arp-nd-suppression").is_some_and(|on| on == "1");
                    finding =
                        finding.fact("zone.arp-nd-suppression", &zone.zone, if off { "off" } else { "on" }).from(zones);
                    if !off {
                        finding = finding.next(
                            "disable-suppression",
                            2,
                            format!(
                                "set disable-arp-nd-suppression for zone {}, as for every zone with floating addresses",
                                zone.zone
                            ),
                        );
                    }
                }
                _ => out.unknown_of(
                    [Subject::new("vnet", vnet)],
                    format!("the zone of VNet {vnet}"),
                    facts.pve.why("cluster/sdn/zones"),
                ),
            }
            out.found(finding);
        }
    }
}
