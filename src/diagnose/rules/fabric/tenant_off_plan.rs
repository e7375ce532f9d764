//! A tenant's network that is not what its index derives.

use super::super::plan::{Planned, tenants};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::Vnet;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "tenant-off-plan",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "A tenant's zone, VNet or subnet is not what its index derives: another tag, prefix, gateway or controller, or SNAT \
           not asked for. It may work; the next tenant whose numbers those are will not, and nothing of the platform notices.",
    reads: "zones, VNets and subnets in force, the site's numbering",
    unlike: &[
        ("subnet-overlap", "two subnets hold the same addresses already"),
        ("vni-collision", "two numbers are the same already"),
        ("workload-off-plan", "the network is right, and a machine in it is not"),
    ],
    explains: &[],
    judge,
};

/// A difference: key, of what, as it is, as derived.
type Difference = (&'static str, String, String, String);

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for tenant in tenants(facts) {
        let name = &tenant.zone.zone;
        let vnets = facts.sdn.vnets_in_force();
        if let (None, Some(why)) = (vnets, facts.pve.why("cluster/sdn/vnets")) {
            out.unknown_of([Subject::new("zone", name)], "the tags of the VNets", Some(why));
        }
        let mut differences = controller(&tenant);
        for vnet in vnets.iter().flat_map(|list| list.iter()).filter(|vnet| vnet.zone == *name) {
            let own = vnet.tag.and_then(|tag| tenant.site.numbering.index_of_tag(tag));
            if let (Some(tag), false) = (vnet.tag, own.is_some_and(|(index, _)| index == tenant.index)) {
                let derived = tenant.site.numbering.vnet_vni_base_of(tenant.index);
                differences.push((
                    "vnet.tag",
                    vnet.vnet.clone(),
                    tag.to_string(),
                    format!("{derived} and the nine after"),
                ));
            }
        }
        let mut files: Vec<_> = vnets.iter().map(|list| list.file.clone()).collect();
        for (list, subnet) in facts.sdn.subnets_in_force().filter(|(_, subnet)| subnet.zone == *name) {
            differences.extend(of_subnet(&tenant, subnet));
            files.push(list.file.clone());
        }
        let Some((_, what, is, derived)) = differences.first() else {
            let Some(vnets) = vnets else { continue };
            let unread = unread(facts, vnets, name);
            match unread.is_empty() {
                true => out.pass(Subject::new("zone", name)),
                false => {
                    out.unknown_of([Subject::new("zone", name)], unread.join(", "), facts.pve.why("cluster/sdn/vnets"))
                }
            }
            continue;
        };
        let title =
            format!("Tenant {name} is not what index {} derives: {what} has {is}, not {derived}.", tenant.index);
        let mut finding = out.finding(Subject::new("zone", name), title).affects([name]);
        for (key, what, is, derived) in &differences {
            finding = finding.fact(key, what, format!("{is}, derived {derived}"));
        }
        for file in &files {
            finding = finding.resting_on(file);
        }
        out.found(
            finding
                .next("compare-with-plan", 0, "compare with what the index derives")
                .command_for(name, format!("deevnet-console numbering {} --name {name}", tenant.index)),
        );
    }
}

/// What has to be read before a zone is as its index derives.
fn unread(facts: &Facts, vnets: &[Vnet], zone: &str) -> Vec<String> {
    let own: Vec<&Vnet> = vnets.iter().filter(|vnet| vnet.zone == zone).collect();
    if own.is_empty() {
        return vec![format!("the VNets of zone {zone}")];
    }
    let tagless = own.iter().filter(|vnet| vnet.tag.is_none()).map(|vnet| format!("the tag of VNet {}", vnet.vnet));
    let listed = |vnet: &Vnet| facts.sdn.subnets.keys().any(|(_, of)| *of == vnet.vnet);
    let unlisted = own.iter().filter(|vnet| !listed(vnet)).map(|vnet| format!("the subnets of VNet {}", vnet.vnet));
    tagless.chain(unlisted).collect()
}

fn controller(tenant: &Planned<'_>) -> Vec<Difference> {
    let derived = &tenant.site.proxmox.controller;
    let is = tenant.zone.fields.get("controller").and_then(serde_json::Value::as_str);
    let other = is.filter(|is| is != derived);
    other.map(|is| ("zone.controller", tenant.zone.zone.clone(), is.to_owned(), derived.clone())).into_iter().collect()
}

fn of_subnet(tenant: &Planned<'_>, subnet: &crate::diagnose::facts::sdn::Subnet) -> Vec<Difference> {
    let (plan, what) = (&tenant.site.numbering, subnet.cidr.to_string());
    let derived = ipnet::IpNet::V4(plan.subnet(tenant.index));
    if subnet.cidr != derived {
        return vec![("subnet.prefix", subnet.vnet.clone(), what, derived.to_string())];
    }
    let mut all = Vec::new();
    let gateway = subnet.fields.get("gateway").and_then(serde_json::Value::as_str);
    let right = plan.gateway(tenant.index).to_string();
    if gateway != Some(right.as_str()) {
        all.push(("subnet.gateway", what.clone(), gateway.unwrap_or("none").to_owned(), right));
    }
    // Without an exit node there is nobody to translate.
    if !subnet.snat && !tenant.zone.exit_nodes.is_empty() {
        all.push(("subnet.snat", what, "off".to_owned(), "on".to_owned()));
    }
    all
}
