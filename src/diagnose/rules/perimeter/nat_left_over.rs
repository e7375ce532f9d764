//! A rule of source NAT for a network that no tenant has.

use super::super::names::Names;
use super::super::{Out, Rule};
use super::interfaces;
use super::tenants;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};
use ipnet::IpNet;

/// The rule.
pub static RULE: Rule = Rule {
    id: "nat-left-over",
    layer: Layer::Perimeter,
    severity: Severity::Warning,
    says: "A rule of source NAT names a network of the tenants' block that belongs to no tenant any more. It translates for the \
           next tenant of that network without anybody asking for it.",
    reads: "rules of source NAT, interfaces, the site file, the list of tenants where it is whole",
    unlike: &[("nat-missing-for-routed", "the network is a tenant's, and nothing translates it")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(site), Some(nat)) = (&facts.site, &facts.perimeter.nat) else { return };
    let overlay = IpNet::from(site.value.numbering.overlay);
    let Some(interfaces) = interfaces(facts, out) else { return };
    let names = Names::new(facts, interfaces);
    for rule in nat.iter().filter(|rule| !rule.automatic) {
        let nets = rule.source.nets.iter().filter_map(|part| names.nets(part)).flatten();
        let inside: Vec<IpNet> = nets.filter(|net| overlay.contains(net) && *net != overlay).collect();
        if inside.is_empty() {
            continue;
        }
        let all = match tenants::whole(facts) {
            Ok(all) => all,
            Err((missing, why)) => {
                out.unknown(missing, why);
                return;
            }
        };
        let gone: Vec<String> = inside.iter().filter(|net| !all.have(net)).map(ToString::to_string).collect();
        if gone.is_empty() {
            continue;
        }
        let own = if rule.description.is_empty() { &rule.uuid } else { &rule.description };
        let finding = out
            .finding(
                Subject::new("rule", if rule.uuid.is_empty() { own } else { &rule.uuid }),
                format!("Source NAT {own} names {}, which no tenant has.", gone.join(", ")),
            )
            .fact("nat.names", own, gone.join(", "))
            .affects(&gone)
            .from(nat)
            .from(site)
            .next("remove-rule", 2, format!("remove {own}, once nobody needs it"));
        out.found(finding);
    }
}
