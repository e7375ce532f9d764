//! OPNsense: the key and each privilege.

use super::super::facts::{FaultKind, OpnsenseFacts, Tried};
use super::super::{Check, Source, State, rights};
use super::{failed, service};
use crate::backends::opnsense::endpoints::{Endpoint, Privilege};
use crate::backends::opnsense::{Evidence, OLDEST};

pub(super) fn source(facts: &OpnsenseFacts) -> Source {
    let mut checks = service::checks(&facts.service);
    let lacking: Vec<Check> = facts.tried.iter().filter_map(|(endpoint, tried)| privilege(endpoint, tried)).collect();
    checks.extend(credential(facts));
    checks.extend(version(facts));
    if lacking.iter().all(|check| check.state == State::Off)
        && facts.tried.iter().any(|(_, tried)| tried.got().is_some())
    {
        checks.push(Check::ok("rights", format!("all {} privileges", facts.tried.len())));
    }
    checks.extend(not_run(facts));
    checks.extend(lacking);
    super::source("fw", facts.service.origin.clone(), facts.service.took, checks)
}

/// The key is good when anything but a refusal of the key came.
fn credential(facts: &OpnsenseFacts) -> Option<Check> {
    match &facts.release {
        Tried::Failed(fault) if fault.kind == FaultKind::Credential => Some(fault.check("key").help(
            "System → Access → Users: is the key's user enabled, and is the key still listed (ticket icon: API keys)?",
        )),
        Tried::Failed(fault) if fault.kind == FaultKind::Right => Some(Check::ok("key", "the key is accepted")),
        Tried::Got(_) => Some(Check::ok("key", "the key is accepted")),
        other => failed("key", other),
    }
}

fn version(facts: &OpnsenseFacts) -> Option<Check> {
    match &facts.release {
        Tried::Failed(fault) if fault.kind == FaultKind::Right => {
            Some(Check::new("version", State::Unknown, "no page that tells it may be read"))
        }
        Tried::Got(release) => {
            let told = match release.evidence {
                Evidence::RuleFields => format!("OPNsense {} or a later release of its series", release.version),
                Evidence::Firmware | Evidence::SystemInformation => format!("OPNsense {}", release.version),
            };
            Some(match release.version < OLDEST {
                true => Check::new("version", State::Warning, format!("{told} is older than {OLDEST}"))
                    .help("Update the router; what this version does not tell stays unknown."),
                false => Check::ok("version", told),
            })
        }
        _ => None,
    }
}

/// One line for all that was not tried.
fn not_run(facts: &OpnsenseFacts) -> Option<Check> {
    let reasons = facts.tried.iter().filter_map(|(_, tried)| match tried {
        Tried::NotRun(why) => Some(why),
        _ => None,
    });
    let reasons: Vec<&String> = reasons.collect();
    let why = *reasons.first()?;
    Some(Check::new("rights", State::NotRun, format!("{} of {} not tried: {why}", reasons.len(), facts.tried.len())))
}

fn privilege(endpoint: &'static Endpoint, tried: &Tried<()>) -> Option<Check> {
    let Tried::Failed(fault) = tried else { return None };
    if fault.kind == FaultKind::Credential {
        return None;
    }
    if fault.kind == FaultKind::NotOffered {
        // The access list is looked at first: what is not there was not refused.
        return Some(Check::new("rights", State::Off, fault.why.clone()));
    }
    if fault.kind != FaultKind::Right {
        return Some(fault.check("rights").evidence(format!("asked {} for {}", endpoint.path, named(endpoint.need))));
    }
    let all = rights::opnsense().into_iter().find(|(need, _)| *need == endpoint.need).map(|(_, members)| members);
    let paths: Vec<&str> = all.into_iter().flatten().map(|e| e.path).collect();
    Some(
        Check::new("rights", State::Fault, format!("lacks {}", named(endpoint.need)))
            .evidence(format!("needed by {}", paths.join(", ")))
            .help(
                "There is no command for it: System → Access → Users, edit the key's user (better: a group of it), \
                 Privileges, and tick:",
            )
            .commands(endpoint.need.iter().take(1).map(|p| format!("{}   ({})", p.name, p.id))),
    )
}

fn named(need: &[Privilege]) -> String {
    let names: Vec<String> = need.iter().map(|p| format!("\"{}\"", p.name)).collect();
    names.join(" or ")
}
