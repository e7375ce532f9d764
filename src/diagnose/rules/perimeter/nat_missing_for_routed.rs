//! Nobody translates a tenant's addresses on their way out.

use ipnet::IpNet;

use super::super::names::Names;
use super::super::{Out, Rule};
use super::interfaces;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter::NatRule;
use crate::diagnose::facts::perimeter::routing::Interface;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "nat-missing-for-routed",
    layer: Layer::Perimeter,
    severity: Severity::Fault,
    says: "A tenant's subnet is not translated at the exit node, or its own sources arrive all the same, and the router translates only networks it is attached to: \
           automatic rules never cover networks behind a static route. Packets leave with private sources, and no answer \
           finds its way back.",
    reads: "SNAT of the subnets, rules of source NAT, interfaces, static routes, states on the way out",
    unlike: &[
        ("snat-missing", "the exit node is meant to translate and does not"),
        ("snat-without-exit-node", "SNAT is asked for and there is no exit node"),
        ("perimeter-drop", "a filter rule drops the packets"),
    ],
    explains: &["subnet-snat-off", "tenant-off-plan"],
    judge,
};

/// Whether a rule of `nat` translates `net`; `None` = one of them is not understood.
pub(super) fn covered(nat: &[NatRule], net: &IpNet, names: &Names<'_>) -> Option<bool> {
    let rules = nat.iter().filter(|rule| rule.enabled && !rule.exempts && rule.port.is_none());
    let held: Vec<Option<bool>> = rules.map(|rule| names.holds(&rule.source, net)).collect();
    if held.contains(&Some(true)) {
        return Some(true);
    }
    (!held.contains(&None)).then_some(false)
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let of = &facts.perimeter;
    let subnets: Vec<_> = facts.sdn.subnets.values().flat_map(|all| all.value.iter().map(move |s| (all, s))).collect();
    if subnets.is_empty() {
        if of.nat.is_some() && !facts.nobody() {
            let why = facts.calls.why(Api::Proxmox, "cluster/sdn/vnets/*/subnets");
            out.unknown("which tenants' subnets are translated at the exit node", why);
        }
        return;
    }
    // Without anything of the router this is not the question.
    if of.nat.is_none() && of.routes.is_none() && of.states.is_none() {
        return;
    }
    let Some(nat) = &of.nat else {
        out.unknown("the rules of source NAT", facts.calls.why(Api::Opnsense, "firewall/sourcenat/searchrule"));
        return;
    };
    let Some(interfaces) = interfaces(facts, out) else { return };
    let names = Names::new(facts, interfaces);
    for (read, subnet) in subnets {
        let shown = subnet.cidr.to_string();
        // What the exit node is asked to translate is the router's business only where its own sources arrive.
        if subnet.snat && !arrives(facts, &subnet.cidr) {
            out.pass(Subject::new("subnet", &shown));
            continue;
        }
        match covered(nat, &subnet.cidr, &names) {
            Some(true) => out.pass(Subject::new("subnet", &shown)),
            None => out.unknown_of(
                [Subject::new("subnet", &shown)],
                format!("which sources the rules of source NAT mean for {shown}"),
                None,
            ),
            Some(false) => {
                let automatic = nat.iter().all(|rule| rule.automatic);
                let mut finding = out
                    .finding(Subject::new("subnet", &shown), format!("Nobody translates {shown} on its way out."))
                    .fact("subnet.snat", &shown, if subnet.snat { "on, and its own sources arrive" } else { "off" })
                    .fact("nat.rules", "source NAT", if automatic { "automatic: attached networks" } else { "others" })
                    .fact("nat.covers", &shown, "no")
                    .affects([&shown, &subnet.zone])
                    .from(read)
                    .from(nat)
                    .next(
                        "add-source-nat",
                        3,
                        format!("set source NAT to hybrid and add one rule for {shown} on the outer interface"),
                    )
                    .next("set-snat", 3, format!("or set SNAT for {shown} at the exit node; one of the two, not both"));
                if let Some(routes) = &of.routes {
                    finding = finding.from(routes);
                }
                if let Some(interfaces) = &of.interfaces {
                    finding = finding.from(interfaces);
                }
                let finding = states(finding, facts, &subnet.cidr, interfaces, out);
                out.found(finding);
            }
        }
    }
}

/// Whether states show packets of `net` that came in with their own sources.
fn arrives(facts: &Facts, net: &IpNet) -> bool {
    let states = facts.perimeter.states.iter().flat_map(|all| all.iter());
    states.filter(|state| state.direction == "in").any(|state| state.source.is_some_and(|source| net.contains(&source)))
}

/// What states show of it.
fn states(
    mut finding: crate::diagnose::finding::Finding,
    facts: &Facts,
    net: &IpNet,
    interfaces: &[Interface],
    out: &mut Out<'_>,
) -> crate::diagnose::finding::Finding {
    let Some(states) = &facts.perimeter.states else {
        out.unknown_of(
            [Subject::new("subnet", net.to_string())],
            format!("whether packets of {net} leave untranslated"),
            facts.calls.why(Api::Opnsense, "diagnostics/firewall/querystates"),
        );
        return finding;
    };
    let outside = |name: &str| interfaces.iter().any(|i| i.outside && (i.description == name || i.device == name));
    for state in states.iter().filter(|s| s.direction == "out" && outside(&s.interface)) {
        if let (Some(source), Some(false)) = (state.source.filter(|s| net.contains(s)), state.translated) {
            finding = finding.fact("state.translated", source.to_string(), "no").from(states);
        }
    }
    finding
}
