//! The questions in their order: what is asked first lets the rest be proposed.

use super::propose;
use super::services;
use super::session::Session;
use crate::backends::exit_node::Client as ExitClient;
use crate::cli::{Failure, open};
use crate::diagnose::access::{Options, ProxmoxFacts, SecretFacts, Tried, proxmox_with_token, rights};
use crate::runtime::clock;
use crate::site::model::{ExitNodeSite, ProxmoxSite, SecretSource};

/// Asks everything.
pub(super) fn all(session: &mut Session<'_>) -> Result<(), Failure> {
    let facts = proxmox(session)?;
    exit_nodes(session, facts.as_ref())?;
    site(session)?;
    for key in ["vrf_vni_base", "vnet_vni_base", "overlay", "asn", "vmid_base", "vmids_per_tenant", "reserved_names"] {
        let octet = session.draft.get("site", 0, "octet").unwrap_or_default().to_owned();
        let default = (key == "overlay" && !octet.is_empty()).then(|| format!("10.{octet}.128.0/18"));
        session.ask("numbering", 0, key, default)?;
    }
    services::all(session)
}

fn site(session: &mut Session<'_>) -> Result<(), Failure> {
    session.say("\nThe site.");
    session.ask("site", 0, "domain", None)?;
    // Transit addresses lie in the site's own /16.
    let transit = session.draft.text_of("exit_node", 0, "transit_address");
    let octet = transit.and_then(|ip| ip.split('.').nth(1).map(str::to_owned));
    session.ask("site", 0, "octet", octet)?;
    if session.asks() {
        session.ask("site", 0, "aliases", None)?;
    }
    Ok(())
}

/// `[proxmox]`; what it says of itself, where it was asked.
fn proxmox(session: &mut Session<'_>) -> Result<Option<ProxmoxFacts>, Failure> {
    session.say("\nProxmox VE. Prefer an address to a name: the resolver is one of the things that may be down.");
    session.ask("proxmox", 0, "url", None)?;
    services::trust(session, "proxmox")?;
    session.secret("proxmox", "token")?;
    let facts = probe(session)?;
    if let Some(facts) = &facts {
        told(session, facts);
        session.found.extend(propose::from_proxmox(facts));
    }
    for key in ["node", "controller", "fabric", "template_prefix", "storage"] {
        session.ask("proxmox", 0, key, None)?;
    }
    if session.asks() {
        session.ask("proxmox", 0, "login_user", None)?;
    }
    Ok(facts)
}

/// Asks Proxmox itself; `None` where there is nothing to ask with.
fn probe(session: &Session<'_>) -> Result<Option<ProxmoxFacts>, Failure> {
    let Some((url, trust)) = session.draft.service("proxmox", session.at()) else { return Ok(None) };
    let token = match session.read_secret("proxmox", "token") {
        Ok(token) => Some(token),
        Err(failure) if matches!(failure.code, crate::cli::Code::Signal(_)) => return Err(failure),
        Err(failure) => {
            open::warn(&format!("Proxmox was not asked: {}", failure.text));
            return Ok(None);
        }
    };
    let unnamed = String::new;
    let site = ProxmoxSite {
        url,
        token: SecretSource::Env(unnamed()),
        trust,
        node: unnamed(),
        controller: unnamed(),
        fabric: None,
        template_prefix: None,
        storage: None,
        login_user: None,
    };
    let now = clock::system();
    let options = Options { wait: session.wait(), clock: &*now, resolv_conf: None };
    let seen = SecretFacts { key: "token", source: "as given".to_owned(), fault: None };
    session.block(proxmox_with_token(&site, seen, token, &options)).map(Some)
}

fn told(session: &Session<'_>, facts: &ProxmoxFacts) {
    match &facts.version {
        Tried::Got(version) => session.say(&format!("  Proxmox VE {} takes the token.", version.version)),
        Tried::Failed(fault) => open::warn(&format!("Proxmox: {}; {}", fault.why, fault.help)),
        Tried::NotRun(why) => open::warn(&format!("Proxmox was not asked: {why}")),
    }
    if let (Some(held), Some(nodes)) = (facts.permissions.got(), facts.nodes.got()) {
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let lacks = rights::lacking(held, &nodes);
        let lacks: Vec<String> =
            lacks.iter().filter(|l| !l.later).map(|l| format!("{} on {}", l.privilege, l.path)).collect();
        if !lacks.is_empty() {
            session
                .say(&format!("  The token lacks {}; the check at the end says what grants them.", lacks.join(", ")));
        }
        session.say(&format!("  Nodes: {}", nodes.join(", ")));
    }
    let names = |rows: Option<Vec<String>>| rows.filter(|rows| !rows.is_empty()).map(|rows| rows.join(", "));
    let zones = facts.zones.got().map(|zones| zones.iter().map(|zone| zone.zone.clone()).collect());
    if let Some(zones) = names(zones) {
        session.say(&format!("  Zones: {zones}"));
    }
}

fn exit_nodes(session: &mut Session<'_>, facts: Option<&ProxmoxFacts>) -> Result<(), Failure> {
    session.say("\nExit nodes: nodes that carry the tenants' way out, reached by ssh or a command.");
    let mut names = facts.map(propose::exit_nodes).unwrap_or_default();
    if names.is_empty() {
        names.extend(session.draft.text_of("proxmox", 0, "node"));
    }
    let count = session.draft.count("exit_node").max(names.len()).max(1);
    for number in 0..count {
        exit_node(session, number, names.get(number).cloned())?;
    }
    Ok(())
}

fn exit_node(session: &mut Session<'_>, number: usize, name: Option<String>) -> Result<(), Failure> {
    session.ask("exit_node", number, "name", name)?;
    let ssh = session.draft.text_of("exit_node", number, "name").filter(|_| session.asks());
    session.ask("exit_node", number, "transport", ssh.map(|name| format!("ssh:{name}")))?;
    let wanted = ["transit_interface", "transit_address", "transit_gateway"];
    let open = wanted.iter().any(|key| session.draft.get("exit_node", number, key).is_none());
    let found = if open { transit(session, number)? } else { None };
    let answer = |pick: fn(&propose::Transit) -> Option<String>| found.as_ref().and_then(pick);
    session.ask("exit_node", number, "transit_interface", answer(|t| Some(t.interface.clone())))?;
    session.ask("exit_node", number, "transit_address", answer(|t| t.address.map(|ip| ip.to_string())))?;
    session.ask("exit_node", number, "transit_gateway", answer(|t| Some(t.gateway.to_string())))
}

/// Reads the node for its transit segment.
fn transit(session: &Session<'_>, number: usize) -> Result<Option<propose::Transit>, Failure> {
    let Some(transport) = session.draft.transport(number, session.at()) else { return Ok(None) };
    let unset = std::net::Ipv4Addr::UNSPECIFIED;
    let site = ExitNodeSite {
        name: session.draft.text_of("exit_node", number, "name").unwrap_or_default(),
        transport,
        transit_interface: String::new(),
        transit_address: unset,
        transit_gateway: unset,
        egress_apply: None,
        egress_install: false,
    };
    let client = ExitClient::new(&site);
    match session.block(client.read(session.wait(), &[]))? {
        Ok(reading) => {
            session.say(&format!("  {} answers; helper version {}.", site.name, reading.helper));
            Ok(propose::transit(&reading))
        }
        Err(error) => {
            open::warn(&format!("{}: {error}; {}", site.name, error.help()));
            Ok(None)
        }
    }
}
