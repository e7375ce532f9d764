//! A list of networks is short since the token may not see more.

use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "list-filtered",
    layer: Layer::Fabric,
    severity: Severity::Warning,
    says: "Lists of bridges and SDN objects leave out, with status 200, what the token has no SDN.Use or SDN.Audit for. Plain \
           bridges count as VNets of the pseudo zone localnetwork. An empty list is then no proof that nothing is there. \
           (Since release 9.1 the cluster's resources of type sdn are empty for everybody.)",
    reads: "the token's rights, lists of bridges, the cluster's SDN resources",
    unlike: &[("vnet-missing", "the VNet is not on that node")],
    explains: &[],
    judge,
};

/// Zone of plain bridges.
const LOCAL: &str = "/sdn/zones/localnetwork";
/// Privileges that make a VNet visible.
const SEE: [&str; 2] = ["SDN.Use", "SDN.Audit"];

/// Paths on which the token sees VNets, and whether one of them reaches beyond plain bridges.
fn visible(facts: &Facts) -> Option<(Vec<&str>, bool)> {
    let rights = facts.access.permissions.as_ref()?;
    let sees = rights.iter().filter(|(_, has)| SEE.iter().any(|privilege| has.contains(*privilege)));
    let paths: Vec<&str> =
        sees.map(|(path, _)| path.as_str()).filter(|path| *path == "/" || path.starts_with("/sdn")).collect();
    let beyond = paths.iter().any(|path| !path.starts_with(LOCAL));
    Some((paths, beyond))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let nothing = facts.pve.sdn_resources.as_ref().is_some_and(|list| list.is_empty());
    if facts.pve.bridges.is_empty() && !nothing {
        return;
    }
    let Some((paths, beyond)) = visible(facts) else {
        out.unknown("the rights of the asking token", facts.pve.why("access/permissions"));
        return;
    };
    let subject = Subject::new("source", "proxmox");
    if beyond {
        out.pass(subject);
        return;
    }
    let mut finding = out
        .finding(subject, "The asking token sees plain bridges at most: that no VNet is listed says nothing.")
        .fact("rights.sdn", "token", if paths.is_empty() { "none".to_owned() } else { paths.join(", ") });
    for (node, bridges) in &facts.pve.bridges {
        finding = finding.fact("list.visible", node, bridges.join(", ")).affects([node]).from(bridges);
    }
    if let Some(list) = &facts.pve.sdn_resources {
        finding = finding.fact("list.empty-means", "cluster SDN resources", "may not be seen").from(list);
    }
    if let Some(rights) = &facts.access.permissions {
        finding = finding.from(rights);
    }
    let finding = finding
        .next("grant-sdn-use", 2, "grant SDN.Use (or SDN.Audit) on /sdn/zones/ZONE of the tenant")
        .not_tested("how many VNets are hidden");
    out.found(finding);
}
