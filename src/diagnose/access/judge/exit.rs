//! An exit node: the way there, the helper, sudo, FRR's groups, the clock, the transit, and its VRFs as a vantage point.

use std::collections::BTreeSet;

use super::super::facts::{ExitFacts, FaultKind, Tried};
use super::super::{Check, Source, State};
use super::{failed, millis, service};
use crate::backends::exit_node::helper;
use crate::backends::exit_node::model::{Reading, Unread, UnreadKind};
use crate::backends::http::ClockSeen;
use crate::site::Site;
use crate::site::model::{ExitNodeSite, Transport};

pub(super) fn source(site: &Site, node: &ExitNodeSite, facts: &ExitFacts) -> Source {
    let mut checks = Vec::new();
    match &facts.reading {
        Tried::Got(reading) => {
            checks.push(Check::ok("transport", millis(facts.took)));
            checks.push(Check::ok("helper", format!("version {}", reading.helper)));
            checks.push(service::skew(ClockSeen { theirs: reading.at, ours: facts.ours }));
            checks.extend(rights(node, reading));
            checks.push(transit(node, reading));
            checks.push(vantage(facts));
        }
        other => {
            checks.extend(failed("transport", other).map(|check| unreached(check, node)));
            for what in ["helper", "rights", "transit", "VRF"] {
                checks.push(Check::new(what, State::NotRun, "there is no reading"));
            }
        }
    }
    super::source(format!("exit {}", site.short_name(&facts.node)), facts.how.clone(), facts.took, checks)
}

/// The commands by which an ssh destination is tried by hand.
fn unreached(check: Check, node: &ExitNodeSite) -> Check {
    // Whatever went wrong there, without it nothing of the node is known.
    let check = Check { state: State::Fault, ..check };
    match &node.transport {
        Transport::Ssh(destination) => check.commands([format!("ssh -o BatchMode=yes {destination} true")]),
        Transport::Command(_) => check,
    }
}

fn rights(node: &ExitNodeSite, reading: &Reading) -> Vec<Check> {
    let unread = reading.unread();
    let of = |kind: UnreadKind| unread.iter().filter(move |u| u.kind == kind).copied().collect::<Vec<&Unread>>();
    let (denied, missing) = (of(UnreadKind::Denied), of(UnreadKind::Missing));
    let mut checks = Vec::new();
    if reading.privileged && denied.is_empty() {
        checks.push(Check::ok("rights", format!("as {}, all", reading.user)));
    } else {
        let mut check =
            Check::new("rights", State::Fault, format!("{} may not read everything: no sudo line", reading.user));
        check.evidence = told(&denied);
        check.help =
            Some("As root on the node, with helper.sh of this version beside (docs/exit-node-access.md):".to_owned());
        check.commands = helper::INSTALL.iter().map(|line| (*line).to_owned()).collect();
        check.commands.push(format!("usermod -aG {} '{}'", helper::GROUP, reading.user.replace('\'', "")));
        if let Transport::Ssh(destination) = &node.transport {
            check.commands.push(format!("ssh {destination} sudo -n {} version   # from here", helper::INSTALL_PATH));
        }
        checks.push(check);
    }
    for other in unread.iter().filter(|u| !matches!(u.kind, UnreadKind::Denied)) {
        let missing = missing.iter().any(|m| m.what == other.what);
        let help = if missing { "It is not on the node." } else { "Run it on the node by hand." };
        checks.push(Check::new("reading", State::Unknown, format!("{}: {}", other.what, other.why)).help(help));
    }
    checks
}

/// What was not read, each once.
fn told(unread: &[&Unread]) -> Vec<String> {
    let lines: BTreeSet<String> = unread.iter().map(|u| format!("{}: {}", u.what, u.why)).collect();
    lines.into_iter().collect()
}

fn transit(node: &ExitNodeSite, reading: &Reading) -> Check {
    let Some(addresses) = reading.addresses.value() else {
        return Check::new("transit", State::Unknown, "the addresses could not be read");
    };
    let (dev, wanted) = (&node.transit_interface, node.transit_address);
    let on_dev: Vec<String> = addresses.iter().filter(|a| a.dev == *dev).map(|a| a.ip.to_string()).collect();
    if on_dev.contains(&wanted.to_string()) {
        return Check::ok("transit", format!("{wanted} on {dev}"));
    }
    let elsewhere = addresses.iter().find(|a| a.ip == std::net::IpAddr::V4(wanted)).map(|a| a.dev.clone());
    let seen = match (on_dev.is_empty(), elsewhere) {
        (_, Some(other)) => format!("{wanted} is on {other}, not on {dev}"),
        (true, None) => format!("there is no {dev} with an address"),
        (false, None) => format!("{dev} has {}, not {wanted}", on_dev.join(", ")),
    };
    let mut check = Check::new("transit", State::Fault, seen)
        .help("Correct transit_interface and transit_address of this exit node in the site file.");
    check.configuration = true;
    check
}

fn vantage(facts: &ExitFacts) -> Check {
    let Some((vrf, tried)) = &facts.vrf else {
        return Check::new("VRF", State::NotRun, "the node has no VRF to ask from");
    };
    match tried {
        Tried::Got(answer) => Check::ok("VRF", format!("{vrf} hears the perimeter: {}", answer.rcode)),
        Tried::Failed(fault) if fault.kind == FaultKind::Right => fault
            .check("VRF")
            .help("Entering a VRF needs root: the same line in sudoers as reading.")
            .commands([helper::SUDOERS.to_owned()]),
        // Silence here alone is no fault: the question passes neither the tenant's bridge nor its forwarding.
        Tried::Failed(fault) => Check { state: State::Unknown, ..fault.check("VRF") },
        Tried::NotRun(why) => Check::new("VRF", State::NotRun, why.clone()),
    }
}
