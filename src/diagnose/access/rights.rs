//! Which rights the console needs, read from the tables of endpoints, and what grants a missing one.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::backends::http::Access;
use crate::backends::opnsense::endpoints::{self as opn, Privilege as OpnPrivilege};
use crate::backends::proxmox::endpoints::{self as pve, Privilege};
use crate::backends::proxmox::model::Permissions;

/// Role that the commands give to the token.
pub const ROLE: &str = "DeevnetConsoleRead";

/// A right of Proxmox: any one of `any_of` at `path`, and below.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PveRight {
    /// ACL path at which it is granted.
    pub path: String,
    /// Any one of these.
    pub any_of: &'static [&'static str],
    /// Whether this version asks nothing that needs it.
    pub later: bool,
    /// Endpoints that need it.
    pub endpoints: BTreeSet<&'static str>,
}

impl PveRight {
    /// The least of the privileges that would do.
    #[must_use]
    pub fn least(&self) -> &'static str {
        self.any_of.first().copied().unwrap_or_default()
    }
}

/// The object tree in which a privilege is granted once for all: `/sdn` for `/sdn/zones/{zone}`.
fn root_of(path: &str) -> String {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    format!("/{first}")
}

/// Endpoints that only questions to guests use, which this version does not ask, and what only a clone needs.
fn is_later(endpoint: &str) -> bool {
    endpoint.contains("/agent/")
}

fn wanted() -> impl Iterator<Item = (&'static Privilege, &'static str, bool)> {
    let table = pve::ALL.iter().map(|e| (&e.privilege, e.path, is_later(e.path)));
    table.chain([(&pve::STORAGE, pve::RESOURCES.path, true)]).filter(|(need, ..)| !need.any_of.is_empty())
}

/// Every right of Proxmox that the table of endpoints names, by path.
#[must_use]
pub fn proxmox() -> Vec<PveRight> {
    let mut rights: BTreeMap<(String, &'static [&'static str], bool), BTreeSet<&'static str>> = BTreeMap::new();
    // What needs exactly SDN.Audit is served by the grant that serves SDN.Audit or SDN.Allocate.
    for (need, endpoint, later) in wanted() {
        rights.entry((root_of(need.path), need.any_of, later)).or_default().insert(endpoint);
    }
    rights.into_iter().map(|((path, any_of, later), endpoints)| PveRight { path, any_of, later, endpoints }).collect()
}

/// A right that only changes ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PveWriteRight {
    /// What it is asked for: ACL path with the placeholders of the request, privileges of which any one does.
    pub need: &'static Privilege,
    /// Requests that ask for it: method, path, and the parameters that do; no parameter = every such request.
    pub requests: Vec<(&'static str, &'static str, &'static [&'static str])>,
}

/// Every right of Proxmox that the table of requests that write names, in the order of that table. A site that only reads
/// needs none of them.
#[must_use]
pub fn proxmox_writing() -> Vec<PveWriteRight> {
    let mut rights: Vec<PveWriteRight> = Vec::new();
    for endpoint in pve::WRITES {
        // Where each parameter has a right of its own, the one that opens the request comes with it.
        let opened = endpoint.also.iter().any(|also| !also.parameters.is_empty());
        let own = (!opened).then_some((&endpoint.privilege, &[] as &'static [&'static str]));
        let also = endpoint.also.iter().map(|also| (&also.privilege, also.parameters));
        for (need, parameters) in own.into_iter().chain(also) {
            let request = (endpoint.method, endpoint.path, parameters);
            match rights.iter_mut().find(|right| right.need == need) {
                Some(right) => right.requests.push(request),
                None => rights.push(PveWriteRight { need, requests: vec![request] }),
            }
        }
    }
    rights
}

/// A right that is missing, and every path at which it has to be granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PveLack {
    /// The privilege to grant.
    pub privilege: &'static str,
    /// Where: the tree, or objects in it whose own entries take it away.
    pub path: String,
    /// Endpoints that are refused or show less without it.
    pub endpoints: BTreeSet<&'static str>,
    /// Whether this version can do without.
    pub later: bool,
}

/// What `held` lacks, with `nodes` in place of `{node}`.
#[must_use]
pub fn lacking(held: &Permissions, nodes: &[&str]) -> Vec<PveLack> {
    let mut lacks: BTreeMap<(String, &'static str, bool), BTreeSet<&'static str>> = BTreeMap::new();
    for (need, endpoint, later) in wanted() {
        let least = need.any_of.first().copied().unwrap_or_default();
        for path in paths_without(need, held, nodes) {
            lacks.entry((path, least, later)).or_default().insert(endpoint);
        }
    }
    let lack = |((path, privilege, later), endpoints)| PveLack { privilege, path, endpoints, later };
    lacks.into_iter().map(lack).collect()
}

fn paths_without(need: &Privilege, held: &Permissions, nodes: &[&str]) -> BTreeSet<String> {
    let any = |path: &str| need.any_of.iter().any(|privilege| held.allows(path, privilege));
    let root = root_of(need.path);
    let parent = need.path.split("/{").next().unwrap_or_default();
    let (objects, of_nodes): (Vec<String>, bool) = match need.path {
        "/" => (vec![root.clone()], true),
        path if path.starts_with("/nodes/{node}") => {
            (nodes.iter().map(|node| format!("{parent}/{node}")).collect(), true)
        }
        // An object without an entry of its own, which inherits; no object has this name.
        _ => (vec![format!("{parent}/\u{0}")], false),
    };
    let missed = objects.iter().filter(|path| !any(path));
    let mut without: BTreeSet<String> = missed.map(|path| entry_above(path, &root, held)).collect();
    if !of_nodes {
        // An entry at an object replaces what comes from above: the grant belongs there.
        let below = format!("{parent}/");
        without.extend(held.by_path.keys().filter(|path| path.starts_with(&below) && !any(path)).cloned());
    }
    without
}

/// The nearest entry at or above `path` inside the tree of `root`, which is what a grant has to change; else the root.
fn entry_above(path: &str, root: &str, held: &Permissions) -> String {
    let mut at = path;
    while at.len() > root.len() {
        if held.by_path.contains_key(at) {
            return at.to_owned();
        }
        at = at.rsplit_once('/').map_or("", |(up, _)| up);
    }
    root.to_owned()
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The commands that grant `lacks` to the token `id`, as root on a node of the cluster. A token with privilege separation
/// has what its user *and* itself have, so both get the role.
#[must_use]
pub fn pveum(lacks: &[&PveLack], id: Option<&str>) -> Vec<String> {
    if lacks.is_empty() {
        return Vec::new();
    }
    let id = id.unwrap_or("USER@REALM!TOKEN");
    let user = id.split('!').next().unwrap_or(id);
    let privileges: BTreeSet<&str> = lacks.iter().map(|lack| lack.privilege).collect();
    let privileges = quoted(&privileges.into_iter().collect::<Vec<_>>().join(","));
    let paths: BTreeSet<&str> = lacks.iter().map(|lack| lack.path.as_str()).collect();
    let mut commands = vec![format!(
        "pveum role add {ROLE} --privs {privileges} || pveum role modify {ROLE} --append 1 --privs {privileges}"
    )];
    commands.extend(paths.into_iter().map(|path| {
        format!("pveum acl modify {} --users {} --tokens {} --roles {ROLE}", quoted(path), quoted(user), quoted(id))
    }));
    commands
}

/// The distinct needs of OPNsense's endpoints and every endpoint behind each, in the order of the table.
#[must_use]
pub fn opnsense() -> Vec<(&'static [OpnPrivilege], Vec<&'static opn::Endpoint>)> {
    let mut groups: Vec<(&'static [OpnPrivilege], Vec<&'static opn::Endpoint>)> = Vec::new();
    for endpoint in opn::ALL {
        match groups.iter_mut().find(|(need, _)| *need == endpoint.need) {
            Some((_, members)) => members.push(endpoint),
            None => groups.push((endpoint.need, vec![endpoint])),
        }
    }
    groups
}

/// Whether the console can do without what `endpoint` needs: the version is told by other pages as well, and this privilege
/// would also let its holder update the router.
#[must_use]
pub fn opnsense_is_optional(endpoint: &opn::Endpoint) -> bool {
    *endpoint == opn::FIRMWARE_STATUS
}

/// For each privilege the endpoints by which it can be tried: those that read and need no id, in the order of the table.
/// The first does unless the router's version has no such endpoint.
#[must_use]
pub fn opnsense_to_try() -> Vec<Vec<&'static opn::Endpoint>> {
    let fit =
        |e: &&'static opn::Endpoint| e.access == Access::Read && !e.path.contains('{') && !opnsense_is_optional(e);
    let groups = opnsense().into_iter().map(|(_, members)| members.into_iter().filter(fit).collect::<Vec<_>>());
    groups.filter(|members| !members.is_empty()).collect()
}

/// Lines of `pdns.conf` that open the API to `from`. The key itself is the operator's to put in.
#[must_use]
pub fn pdns_api(from: Option<IpAddr>) -> Vec<String> {
    let from = from.map_or_else(|| "ADDRESS-OF-THIS-HOST".to_owned(), |ip| ip.to_string());
    vec![
        "api=yes".to_owned(),
        "api-key=THE-KEY".to_owned(),
        "webserver=yes".to_owned(),
        "webserver-address=0.0.0.0".to_owned(),
        format!("webserver-allow-from=127.0.0.1,::1,{from}"),
    ]
}

/// Lines of `pdns.conf` without which no dynamic update is taken. Who may update is said zone by zone, in its metadata.
pub const PDNS_UPDATES: [&str; 2] = ["dnsupdate=yes", "allow-dnsupdate-from="];

#[cfg(test)]
mod tests;
