//! Nobody translates what the exit nodes send.

use ipnet::IpNet;

use super::super::names::Names;
use super::super::{Out, Rule};
use super::interfaces;
use super::nat_missing_for_routed::covered;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "nat-missing-for-transit",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "No rule of source NAT covers the transit network, from which everything that tenants send arrives. Automatic rules \
           cover it, as they cover every attached network; in the modes advanced and disabled there are none, and a rule of \
           one's own has to. Packets then leave with private sources, for all tenants at once.",
    reads: "rules of source NAT, interfaces, the site file",
    unlike: &[
        ("nat-missing-for-routed", "a tenant's own addresses arrive, and those are not covered"),
        ("snat-missing", "the exit node does not translate to the transit network"),
    ],
    explains: &["perimeter-drop"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let Some(router) = facts.site.as_ref().and_then(|site| site.value.opnsense.as_ref()) else { return };
    let of = &facts.perimeter;
    let Some(nat) = &of.nat else {
        if let Some(why) = facts.calls.why(Api::Opnsense, "firewall/sourcenat/searchrule") {
            out.unknown("the rules of source NAT", Some(why));
        }
        return;
    };
    let Some(interfaces) = interfaces(facts, out) else { return };
    let names = Names::new(facts, interfaces);
    let (net, subject) = (IpNet::from(router.transit), Subject::new("subnet", router.transit.to_string()));
    match covered(nat, &net, &names) {
        Some(true) => out.pass(subject),
        None => out.unknown(format!("which sources the rules of source NAT mean for {net}"), None),
        // Before 26.1.11 the list leaves automatic rules out: that they are not listed says nothing.
        Some(false) if nat.iter().all(|rule| !rule.automatic) && translated(facts, &net) != Some(false) => {
            if translated(facts, &net) == Some(true) {
                out.pass(subject);
            } else {
                let why = Some("this release lists no automatic rules, and no state shows what happens".to_owned());
                out.unknown(format!("whether automatic source NAT covers {net}"), why);
            }
        }
        Some(false) => {
            let mut finding = out
                .finding(subject, format!("Nobody translates the transit network {net} on its way out."))
                .fact("nat.covers", net.to_string(), "no")
                .affects(facts.sdn.zones_in_force().into_iter().flat_map(|zones| zones.iter()).map(|zone| &zone.zone))
                .from(nat)
                .next(
                    "add-source-nat",
                    3,
                    format!("set source NAT to hybrid, or add a rule for {net} on the outer interface"),
                );
            if let Some(states) = of.states.as_ref().filter(|_| translated(facts, &net) == Some(false)) {
                finding = finding.fact("state.translated", net.to_string(), "no").from(states);
            }
            out.found(finding);
        }
    }
}

/// Whether states of `net` that leave by an outer interface are translated; `None` where there is none.
fn translated(facts: &Facts, net: &IpNet) -> Option<bool> {
    let interfaces = facts.perimeter.interfaces.as_ref()?;
    let outside = |name: &str| interfaces.iter().any(|i| i.outside && (i.description == name || i.device == name));
    let leaving = facts.perimeter.states.as_ref()?.iter().filter(|s| s.direction == "out" && outside(&s.interface));
    let told = leaving.filter_map(|state| {
        // On the way out the translated state shows the inner address beside the outer one. Others tell nothing of `net`.
        let inner = [state.source, state.beside].into_iter().flatten().any(|ip| net.contains(&ip));
        state.translated.filter(|_| inner)
    });
    told.reduce(|a, b| a && b)
}
