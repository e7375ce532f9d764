//! Proxmox: the token, the version, and each right that the table of endpoints names.

use super::super::facts::{FaultKind, ProxmoxFacts, Tried};
use super::super::rights::{self, PveLack};
use super::super::{Check, Source, State};
use super::{failed, service};
use crate::site::Site;

/// First release whose SDN this console reads.
const OLDEST: u32 = 9;

pub(super) fn source(site: &Site, facts: &ProxmoxFacts) -> Source {
    let mut checks = service::checks(&facts.service);
    checks.extend(token(facts));
    checks.extend(version(facts));
    checks.extend(rights(site, facts));
    super::source("pve", facts.service.origin.clone(), facts.service.took, checks)
}

fn token(facts: &ProxmoxFacts) -> Option<Check> {
    let id = facts.token_id.as_deref().unwrap_or("the token");
    match &facts.version {
        Tried::Got(_) => Some(Check::ok("token", id)),
        Tried::Failed(fault) if fault.kind == FaultKind::Credential => {
            let user = id.split('!').next().unwrap_or(id);
            let check = fault.check("token").commands([format!("pveum user token list '{user}'")]);
            Some(if facts.token_id.is_some() { check } else { Check { commands: Vec::new(), ..check } })
        }
        other => failed("token", other),
    }
}

fn version(facts: &ProxmoxFacts) -> Option<Check> {
    let version = facts.version.got()?;
    let major = version.version.split('.').next().and_then(|n| n.parse::<u32>().ok());
    Some(match major {
        Some(n) if n >= OLDEST => Check::ok("version", format!("Proxmox VE {}", version.version)),
        Some(_) => Check::new("version", State::Warning, format!("Proxmox VE {} is older than 9", version.version))
            .help("Update the cluster; what this version does not tell stays unknown."),
        None => Check::new("version", State::Unknown, format!("{:?} is no version", version.version)),
    })
}

fn rights(site: &Site, facts: &ProxmoxFacts) -> Vec<Check> {
    let held = match &facts.permissions {
        Tried::Got(held) => held,
        other => return failed("rights", other).into_iter().collect(),
    };
    let mut nodes: Vec<&str> = facts.nodes.got().into_iter().flatten().map(String::as_str).collect();
    if nodes.is_empty() {
        nodes = std::iter::once(site.proxmox.node.as_str())
            .chain(site.exit_nodes.iter().map(|n| n.name.as_str()))
            .collect();
    }
    let lacks = rights::lacking(held, &nodes);
    let (later, needed): (Vec<&PveLack>, Vec<&PveLack>) = lacks.iter().partition(|lack| lack.later);
    let id = facts.token_id.as_deref();
    let mut checks: Vec<Check> = needed.iter().map(|lack| lacking(lack, id, State::Fault)).collect();
    if checks.is_empty() {
        checks.push(Check::ok("rights", "all that this version reads"));
    }
    checks.extend(later.iter().map(|lack| lacking(lack, id, State::Off)));
    checks
}

fn lacking(lack: &PveLack, id: Option<&str>, state: State) -> Check {
    let text = match state {
        State::Off => format!("without {} on {}, which nothing asks for yet", lack.privilege, lack.path),
        _ => format!("lacks {} on {}", lack.privilege, lack.path),
    };
    let endpoints: Vec<&str> = lack.endpoints.iter().copied().collect();
    Check::new("rights", state, text)
        .evidence(format!("needed by {}", endpoints.join(", ")))
        .help("As root on a node of the cluster:")
        .commands(rights::pveum(&[lack], id))
}
