//! A tenant's machine with a card on a network that is not its tenant's.

use super::super::plan::machines;
use super::super::{Out, Rule};
use crate::backends::proxmox::endpoints::VNETS;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::Failure;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "workload-on-foreign-network",
    layer: Layer::Isolation,
    severity: Severity::Fault,
    says: "A tenant's machine has a network card on a bridge that is no VNet of its tenant: another tenant's, or one of the \
           substrate. Neither null routes nor the perimeter are on that way: the machine itself joins the two networks.",
    reads: "network cards of the tenants' machines, VNets in force, the token's rights, the site's numbering",
    unlike: &[
        ("workload-off-plan", "the network is right, its address or name is not"),
        ("inter-tenant-leak", "the routes on the exit node lead from one tenant to the other"),
    ],
    explains: &[],
    judge,
};

/// Guests with a tenant's number whose configuration was asked for and not had: their cards may be on anybody's network.
fn unread(facts: &Facts, out: &mut Out<'_>) {
    for call in facts.calls.of(Api::Proxmox).filter(|call| call.failure.is_some() && !call.writes()) {
        let path: Vec<&str> = call.http.path.split('/').collect();
        let ["nodes", _, "qemu" | "lxc", vmid, "config"] = path.as_slice() else { continue };
        let number = vmid.parse().ok().zip(facts.site.as_ref());
        let is_tenants = number.is_some_and(|(vmid, site)| site.numbering.index_of_vmid(vmid).is_some());
        if is_tenants && !facts.guests.config.contains_key(*vmid) {
            let why = call.failure.as_ref().map(Failure::words);
            out.unknown(format!("on which networks guest {vmid} has its cards"), why);
        }
    }
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    unread(facts, out);
    let whole = facts.access.held.as_ref().is_some_and(|held| VNETS.privilege.sees_all(held));
    for machine in machines(facts) {
        let (name, tenant) = (machine.name(), &machine.tenant.zone.zone);
        let Some(vnets) = facts.sdn.vnets_in_force() else {
            out.unknown("the VNets of the tenants", facts.pve.why("cluster/sdn/vnets"));
            return;
        };
        let owner = |bridge: &str| vnets.iter().find(|vnet| vnet.vnet == bridge).map(|vnet| vnet.zone.as_str());
        let foreign: Vec<&String> =
            machine.config.bridges.iter().filter(|bridge| owner(bridge) != Some(tenant.as_str())).collect();
        let Some(first) = foreign.iter().find(|bridge| owner(bridge).is_some()).or(foreign.first()) else {
            out.pass(Subject::new("workload", &name));
            continue;
        };
        // The list leaves out what the token may not see: a bridge without an owner may be the tenant's own.
        if !whole && foreign.iter().all(|bridge| owner(bridge).is_none()) {
            let names = foreign.iter().map(|bridge| bridge.as_str()).collect::<Vec<_>>().join(", ");
            let why = facts.pve.why("access/permissions");
            let whose = foreign.iter().map(|bridge| Subject::new("vnet", bridge.as_str()));
            out.unknown_of(
                whose.chain([Subject::new("zone", tenant)]),
                format!("whose {names} of {name} is: whether the token sees every VNet"),
                why,
            );
            continue;
        }
        let whose = owner(first).map_or_else(|| "no tenant's".to_owned(), |zone| format!("tenant {zone}'s"));
        let title = format!("{name} of tenant {tenant} has a network card on {first}, which is {whose}.");
        let mut finding = out
            .finding(Subject::new("workload", &name), title)
            .affects([name.as_str(), tenant.as_str()])
            .affects(foreign.iter().filter_map(|bridge| owner(bridge)))
            .from(machine.config)
            .from(vnets);
        for bridge in &foreign {
            finding =
                finding.fact("workload.bridge", &name, format!("{bridge}, {}", owner(bridge).unwrap_or("no tenant")));
        }
        out.found(finding.next(
            "detach-card",
            2,
            format!("take the card on {first} from {name}; a running machine keeps it until it is stopped"),
        ));
    }
}
