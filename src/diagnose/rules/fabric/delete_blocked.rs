//! What is to be removed is in use by other objects.

use std::collections::BTreeSet;

use super::super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "delete-blocked",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A zone or VNet could not be removed since others hang on it: a zone has VNets, a VNet has subnets, and guests have \
           cards on it. They go first, from the guests upwards, and one apply ends it. Proxmox VE itself does not ask about guests.",
    reads: "the refusals, VNets and subnets there are, the cards of guests",
    unlike: &[("sdn-pending", "it was removed, and waits for an apply")],
    explains: &[],
    judge,
};

/// What a refused removal is of, and what it names as its user.
enum Blocked<'a> {
    Zone { zone: &'a str, vnet: String },
    Vnet { vnet: &'a str },
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut links: Vec<(String, String)> = Vec::new();
    let mut files = BTreeSet::new();
    let mut vnets: BTreeSet<String> = BTreeSet::new();
    let mut zone = None;
    for call in facts.calls.of(Api::Proxmox).filter(|call| call.http.method == "DELETE") {
        let Some(error) = call.proxmox() else { continue };
        let id = call.http.segment(3);
        let blocked = match error {
            Error::InUse { by, .. } if call.http.asks(Api::Proxmox, "cluster/sdn/zones/*") => {
                let vnet = by.strip_prefix("vnet ").unwrap_or(by).to_owned();
                Blocked::Zone { zone: id, vnet }
            }
            Error::BadParameters { errors, .. }
                if call.http.asks(Api::Proxmox, "cluster/sdn/vnets/*")
                    && errors.get("vnet").is_some_and(|why| why.contains("if subnets exists")) =>
            {
                Blocked::Vnet { vnet: id }
            }
            _ => continue,
        };
        files.insert(call.file.to_string());
        match blocked {
            Blocked::Zone { zone: id, vnet } => {
                zone = Some(id.to_owned());
                links.push((format!("zone {id}"), format!("vnet {vnet}")));
                vnets.insert(vnet);
            }
            Blocked::Vnet { vnet } => {
                vnets.insert(vnet.to_owned());
            }
        }
    }
    if vnets.is_empty() {
        return;
    }
    let finding = finding(facts, (zone, links, &vnets), out);
    let finding = files.iter().fold(finding, |finding, file| finding.resting_on(file));
    out.found(finding);
}

fn finding(
    facts: &Facts,
    (zone, mut links, vnets): (Option<String>, Vec<(String, String)>, &BTreeSet<String>),
    out: &mut Out<'_>,
) -> Finding {
    let mut guests = Vec::new();
    for vnet in vnets {
        let subnets: Vec<_> = facts.sdn.subnets_in_force().filter(|(_, subnet)| subnet.vnet == *vnet).collect();
        if subnets.is_empty() && !facts.sdn.subnets.keys().any(|(_, read)| read == vnet) {
            let why = facts.calls.why(Api::Proxmox, "cluster/sdn/vnets/*/subnets");
            out.unknown(format!("the subnets of {vnet}"), why);
        }
        links.extend(subnets.iter().map(|(_, subnet)| (format!("vnet {vnet}"), subnet.cidr.to_string())));
        let on = facts.guests.config.iter().filter(|(_, config)| config.bridges.contains(vnet));
        guests.extend(on.map(|(vmid, config)| (vnet.clone(), vmid.clone(), config)));
    }
    if facts.guests.config.is_empty() {
        out.unknown("which guests have a card there", facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/config"));
    }
    let first = vnets.iter().next().map(String::as_str).unwrap_or_default();
    let subject = zone.as_deref().map_or_else(|| Subject::new("vnet", first), |zone| Subject::new("zone", zone));
    let what = zone.as_deref().unwrap_or(first);
    let used: Vec<String> = links.iter().map(|(of, by)| format!("{of} by {by}")).collect();
    let mut finding = out
        .finding(subject, format!("{what} cannot be removed yet, it is in use: {}.", used.join(", ")))
        .affects(vnets.iter());
    for (of, by) in &links {
        finding = finding.fact("object.used-by", of, by);
    }
    for (list, subnet) in facts.sdn.subnets_in_force() {
        if vnets.contains(&subnet.vnet) {
            finding = finding.from(list);
        }
    }
    for (vnet, vmid, config) in &guests {
        let name = config.name.as_deref().unwrap_or("?");
        finding = finding.fact("guest.on", vnet, format!("{name} ({vmid})")).affects([vmid]).from(*config);
    }
    let order = if guests.is_empty() { "subnets, VNets, zone" } else { "guests, subnets, VNets, zone" };
    finding.next("delete-in-order", 3, format!("remove in this order, then apply once: {order}"))
}
