//! The transit interface has no carrier.

use super::super::exits::{Exit, exits};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "uplink-down",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The transit interface of the exit node has no carrier. FRR takes the tenants' defaults away, neighbours stop \
           answering, and everything beyond is out of reach: one cause, whatever else is seen.",
    reads: "state and flags of the transit interface, the site file",
    unlike: &[("gateway-unreachable", "the link is up and the gateway does not answer")],
    explains: &[
        "vrf-default-missing",
        "management-leak",
        "gateway-unreachable",
        "perimeter-drop",
        "transit-mtu",
        "gateway-down",
    ],
    judge,
};

/// States in which nothing passes.
const DOWN: [&str; 4] = ["DOWN", "LOWERLAYERDOWN", "NOTPRESENT", "DORMANT"];

/// Whether the transit interface of `exit` has no carrier; `None` where its link was not read.
pub(super) fn is_down(exit: &Exit<'_>) -> Option<bool> {
    let link = exit.node.link(exit.transit()?)?;
    let state = link.state.as_ref()?;
    Some(DOWN.contains(&state.as_str()) || link.flags.iter().any(|flag| flag == "NO-CARRIER"))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(transit) = exit.transit() else {
            out.unknown(format!("the transit interface of {} (site.toml)", exit.name), None);
            continue;
        };
        let Some(links) = &exit.node.links else {
            exit.unknown(out, "the links", "link");
            continue;
        };
        let Some(link) = exit.node.link(transit) else {
            out.unknown(format!("the link {transit} of {}", exit.name), Some("it is not among its links".to_owned()));
            continue;
        };
        let Some(state) = &link.state else { continue };
        if is_down(&exit) != Some(true) {
            out.pass(exit.subject());
            continue;
        }
        let title = format!("The uplink of {} is down: {transit} is {state}.", exit.name);
        let finding = out
            .finding(exit.subject(), title)
            .fact("link.state", exit.at(transit), state)
            .affects(exit.zones())
            .from(links)
            .next("check-uplink", 0, format!("look at cable, port and the far end of {transit}"))
            .not_tested("everything beyond the uplink");
        out.found(finding);
    }
}
