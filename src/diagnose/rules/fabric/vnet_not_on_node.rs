//! A node of a zone does not show a VNet of it.

use super::super::{Out, Rule};
use super::{apply_partial, node_lags};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::sdn::View;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "vnet-not-on-node",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A VNet is in force, its zone is meant for a node, and the node's own list of the zone does not show it: the node has \
           never realised it. Guests on that node cannot be connected to it. An empty list is also what a token gets that \
           may not see the zone.",
    reads: "zones and VNets as applied, the zones as each node realised them, the token's rights",
    unlike: &[
        ("vnet-missing", "a guest or an exit node misses it on the node itself"),
        ("apply-partial", "the node shows it with an error"),
        ("list-filtered", "the token may not see it"),
    ],
    explains: &["vnet-missing"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    // What waits is on no node, and need not be.
    let (Some(zones), Some(vnets)) = (facts.sdn.zones.get(&View::Running), facts.sdn.vnets.get(&View::Running)) else {
        return;
    };
    let (broken, lagging) = (apply_partial::broken(facts), node_lags::lagging(facts));
    for ((node, zone), content) in &facts.sdn.content {
        let meant = zones.iter().any(|z| z.zone == *zone && (z.nodes.is_empty() || z.nodes.contains(node)));
        let own = vnets.iter().filter(|vnet| vnet.zone == *zone);
        let absent: Vec<&str> = own
            .filter(|vnet| !content.iter().any(|shown| shown.vnet == vnet.vnet))
            .map(|vnet| vnet.vnet.as_str())
            .collect();
        if !meant || absent.is_empty() {
            continue;
        }
        let knows = facts.sdn.node_zones.get(node).is_some_and(|all| all.contains_key(zone));
        // With nothing shown at all it may be the token.
        if content.is_empty() && !knows {
            out.unknown_of(
                [Subject::new("zone", zone)],
                format!("what {node} made of zone {zone}: its list is empty"),
                facts.pve.why("access/permissions"),
            );
            continue;
        }
        let cause = if broken.contains(node.as_str()) {
            Some(apply_partial::RULE.id)
        } else {
            lagging.iter().any(|(behind, _)| *behind == node).then_some(node_lags::RULE.id)
        };
        let title = format!("{node} does not show {} of zone {zone}, which is in force there.", absent.join(", "));
        let mut finding = out
            .finding(Subject::new("node", node), title)
            .affects([zone])
            .from(zones)
            .from(vnets)
            .from(content)
            .caused_by(cause.map(|id| (id, Subject::new("node", node))))
            .next("open-reload-log", 0, format!("look how the last network reload of {node} ended"))
            .command(format!("pvesh get /nodes/{node}/tasks --typefilter srvreload --limit 5"))
            .next("reload-node", 2, format!("reload the network of {node} alone"))
            .command(format!("pvesh set /nodes/{node}/network --regenerate-frr 1"));
        for vnet in absent {
            finding = finding.fact("node.vnet", format!("{node}/{vnet}"), "not shown");
        }
        out.found(finding);
    }
}
