//! What is to be removed is in use by other objects.

use std::collections::{BTreeMap, BTreeSet};

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

/// Refused removals that one finding tells together.
#[derive(Default)]
struct Group {
    /// What is used, and by what.
    links: Vec<(String, String)>,
    vnets: BTreeSet<String>,
    files: BTreeSet<String>,
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut groups: BTreeMap<Subject, Group> = BTreeMap::new();
    for call in facts.calls.of(Api::Proxmox).filter(|call| call.http.method == "DELETE") {
        let Some(error) = call.proxmox() else { continue };
        let id = call.http.segment(3);
        let (subject, link, vnet) = match error {
            Error::InUse { by, .. } if call.http.asks(Api::Proxmox, "cluster/sdn/zones/*") => {
                let vnet = by.strip_prefix("vnet ").unwrap_or(by).to_owned();
                (Subject::new("zone", id), Some((format!("zone {id}"), format!("vnet {vnet}"))), vnet)
            }
            Error::BadParameters { errors, .. }
                if call.http.asks(Api::Proxmox, "cluster/sdn/vnets/*")
                    && errors.get("vnet").is_some_and(|why| why.contains("if subnets exists")) =>
            {
                (Subject::new("vnet", id), None, id.to_owned())
            }
            _ => continue,
        };
        let group = groups.entry(subject).or_default();
        group.links.extend(link);
        group.vnets.insert(vnet);
        group.files.insert(call.file.to_string());
    }
    for (subject, group) in of_zones(facts, groups) {
        let finding = finding(facts, (subject, &group), out);
        out.found(group.files.iter().fold(finding, |finding, file| finding.resting_on(file)));
    }
}

/// The same with VNets told together with the zone that they keep, where its removal was refused as well.
fn of_zones(facts: &Facts, mut groups: BTreeMap<Subject, Group>) -> BTreeMap<Subject, Group> {
    let vnets: Vec<Subject> = groups.keys().filter(|subject| subject.kind == "vnet").cloned().collect();
    for subject in vnets {
        let holds = |group: &Group| group.vnets.contains(&subject.name);
        let told =
            groups.iter().find(|(zone, group)| zone.kind == "zone" && holds(group)).map(|(zone, _)| zone.clone());
        let read = || facts.sdn.zone_of(&subject.name).map(|zone| Subject::new("zone", zone));
        let Some(zone) = told.or_else(read).filter(|zone| groups.contains_key(zone)) else { continue };
        if let (Some(own), Some(group)) = (groups.remove(&subject), groups.get_mut(&zone)) {
            group.vnets.extend(own.vnets);
            group.files.extend(own.files);
        }
    }
    groups
}

fn finding(facts: &Facts, (subject, Group { links, vnets, .. }): (Subject, &Group), out: &mut Out<'_>) -> Finding {
    let mut links = links.clone();
    let mut guests = Vec::new();
    for vnet in vnets {
        let subnets: Vec<_> = facts.sdn.subnets_in_force().filter(|(_, subnet)| subnet.vnet == *vnet).collect();
        if subnets.is_empty() && !facts.sdn.subnets.keys().any(|(_, read)| read == vnet) {
            let why = facts.calls.why(Api::Proxmox, "cluster/sdn/vnets/*/subnets");
            out.unknown_of([Subject::new("vnet", vnet)], format!("the subnets of {vnet}"), why);
        }
        links.extend(subnets.iter().map(|(_, subnet)| (format!("vnet {vnet}"), subnet.cidr.to_string())));
        let on = facts.guests.config.iter().filter(|(_, config)| config.bridges.contains(vnet));
        guests.extend(on.map(|(vmid, config)| (vnet.clone(), vmid.clone(), config)));
    }
    if facts.guests.config.is_empty() {
        out.unknown("which guests have a card there", facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/config"));
    }
    let what = subject.name.clone();
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
