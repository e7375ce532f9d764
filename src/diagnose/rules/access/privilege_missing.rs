//! A request refused for want of a privilege.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Out, Rule};
use super::{respelt, rest_on};
use crate::backends::{opnsense, proxmox};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::calls::{Call, Failure};
use crate::diagnose::finding::{Finding, Layer, Severity, Subject};
use crate::text::some_of;

/// The rule.
pub static RULE: Rule = Rule {
    id: "privilege-missing",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The credential is accepted, but a request was refused since the identity lacks a privilege. What the request was \
           about is unknown: a refusal says nothing of the state of a guest, an agent or a rule. Proxmox VE 9 has no \
           VM.Monitor any more; the guest agent has privileges of its own.",
    reads: "refusals (403) and the privilege they name; roles where they were read; the product's version",
    unlike: &[
        ("token-without-rights", "the identity has no permission at all, and lists come back empty instead of refused"),
        ("agent-silent", "the request was let through and the agent did not answer"),
        ("endpoint-renamed", "the same request in its other spelling is answered"),
        ("no-quorum", "a file of the cluster cannot be written, whatever the privileges"),
    ],
    explains: &[],
    judge,
};

/// Roles that Proxmox VE brings along and that give little more than the privilege.
const NARROW: [(&str, &str); 2] = [("SDN.Use", "PVESDNUser"), ("VM.Audit", "PVEAuditor")];

/// Of a privilege that was missing: where, and which requests were refused.
#[derive(Default)]
struct Refused<'a> {
    places: BTreeSet<&'a str>,
    any_of: Vec<&'a str>,
    calls: Vec<&'a Call>,
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut missing: BTreeMap<(Api, String), Refused<'_>> = BTreeMap::new();
    for call in facts.calls.all.iter().filter(|call| respelt(facts, call).is_none()) {
        let (first, any_of, place) = match &call.failure {
            Some(Failure::Proxmox(proxmox::Error::Denied { need: Some(need), .. })) => {
                let any_of: Vec<&str> = need.privileges.iter().map(String::as_str).collect();
                (any_of.first().copied().unwrap_or("a privilege"), any_of, need.path.as_str())
            }
            Some(Failure::Proxmox(proxmox::Error::Denied { need: None, .. })) => {
                ("a privilege", Vec::new(), call.http.path.as_str())
            }
            // Access lists of 25.7 and later know snake_case alone: it may be no more than the spelling.
            Some(Failure::Opnsense(opnsense::Error::Denied { endpoint, .. }))
                if endpoint.chars().any(|c| c.is_ascii_uppercase()) =>
            {
                out.unknown(format!("{endpoint} of OPNsense in its other spelling"), None);
                continue;
            }
            Some(Failure::Opnsense(opnsense::Error::Denied { endpoint, need })) => {
                let any_of: Vec<&str> = need.iter().map(|privilege| privilege.id).collect();
                (any_of.first().copied().unwrap_or("page-all"), any_of, endpoint.as_str())
            }
            Some(Failure::Status { status: 403, .. }) if call.http.api == Api::PowerDns => {
                ("a privilege", Vec::new(), call.http.path.as_str())
            }
            _ => continue,
        };
        let entry = missing.entry((call.http.api, first.to_owned())).or_default();
        entry.places.insert(place);
        entry.any_of = any_of;
        entry.calls.push(call);
    }
    let of_key: Vec<_> = missing.iter().filter(|((api, _), _)| *api == Api::Opnsense).collect();
    let one_key = of_key.len() > 1;
    if one_key {
        let finding = whole_key(&of_key, out);
        out.found(finding);
    }
    for ((api, privilege), refused) in missing.iter().filter(|((api, _), _)| !one_key || *api != Api::Opnsense) {
        let places: Vec<&str> = refused.places.iter().copied().collect();
        let mut finding = out
            .finding(
                Subject::new("privilege", privilege),
                format!("{}: {privilege} is missing at {}.", api.words(), places.join(", ")),
            )
            .affects(&places)
            .not_tested("what the refused requests would have told");
        for place in &places {
            finding = finding.fact("privilege.missing", place, privilege).fact("refusal.kind", place, "rights");
        }
        finding = rest_on(finding, refused.calls.iter().copied(), out);
        finding = match api {
            Api::Proxmox => roles(finding, facts, privilege, refused, out),
            Api::Opnsense => {
                finding.next("grant-page", 2, format!("give the key's user, by a group, the privilege {privilege}"))
            }
            _ => finding.next("allow-request", 2, format!("let {} answer these requests", api.words())),
        };
        out.found(finding);
    }
}

/// Several privileges that one key of OPNsense lacks are one fault: of the key.
fn whole_key(missing: &[(&(Api, String), &Refused<'_>)], out: &mut Out<'_>) -> Finding {
    let names: Vec<&str> = missing.iter().map(|((_, privilege), _)| privilege.as_str()).collect();
    let title = format!(
        "The API key of OPNsense, key in [opnsense] of the site file, lacks {} privileges: {}.",
        names.len(),
        some_of(&names)
    );
    let places: BTreeSet<&str> = missing.iter().flat_map(|(_, refused)| refused.places.iter().copied()).collect();
    let mut finding = out
        .finding(Subject::new("token", "OPNsense key"), title)
        .affects(&places)
        .not_tested("what the refused requests would have told")
        .next("grant-page", 2, format!("give the key's user, by a group, the privileges {}", names.join(", ")));
    for ((_, privilege), refused) in missing {
        for place in &refused.places {
            finding = finding.fact("privilege.missing", place, privilege);
        }
    }
    rest_on(finding, missing.iter().flat_map(|(_, refused)| refused.calls.iter().copied()), out)
}

/// Which of the roles that were read is to be extended.
fn roles(mut finding: Finding, facts: &Facts, privilege: &str, refused: &Refused<'_>, out: &mut Out<'_>) -> Finding {
    let has = |held: &BTreeSet<String>| refused.any_of.iter().any(|p| held.contains(*p));
    for call in refused.calls.iter().filter(|call| call.http.path.contains("/agent/")) {
        finding = finding.fact("agent.asked", call.http.segment(3), "no: refused before");
    }
    let nine = facts.access.version.as_ref().and_then(|v| v.split('.').next()?.parse::<u32>().ok()).map(|v| v >= 9);
    let mut lacking = false;
    for (role, held) in &facts.access.roles {
        finding = finding.from(held).fact("role.has", role, if has(held) { "it" } else { "not" });
        if has(held) {
            finding = finding.next("grant-role", 2, format!("give the identity role {role} at the path refused"));
            continue;
        }
        lacking = true;
        finding = finding
            .next("add-privilege", 2, format!("add {privilege} to role {role}"))
            .command(format!("pveum role modify '{role}' --append 1 --privs {privilege}"));
        if held.contains("VM.Monitor") && nine == Some(true) {
            finding = finding.fact("privilege.gone", "VM.Monitor", "since 9.0");
        }
    }
    if let Some(permissions) = &facts.access.permissions {
        finding = held_elsewhere(finding.from(permissions), permissions, privilege, refused);
    } else if facts.access.roles.is_empty() {
        out.unknown("the role of the identity in use", facts.calls.why(Api::Proxmox, "access/roles/*"));
        finding = finding.next("add-privilege", 2, format!("add {privilege} to a role the identity has there"));
        for place in refused.places.iter().filter(|place| place.starts_with('/')) {
            if let Some((_, role)) = NARROW.iter().find(|(own, _)| *own == privilege) {
                finding = finding
                    .next("add-acl", 2, format!("or give the identity {role} at {place}, no wider"))
                    .command(format!("pveum acl modify {place} --tokens 'USER@REALM!TOKEN' --roles {role}"));
            }
        }
    }
    if let (true, Some(version)) = (lacking, &facts.access.version) {
        finding = finding.from(version);
    }
    finding
}

/// What the identity holds, and where: the right may be there, at another path.
fn held_elsewhere(
    mut finding: Finding,
    permissions: &BTreeMap<String, BTreeSet<String>>,
    privilege: &str,
    refused: &Refused<'_>,
) -> Finding {
    let has = |held: &BTreeSet<String>| refused.any_of.iter().any(|p| held.contains(*p));
    for (path, held) in permissions.iter().filter(|(_, held)| !held.is_empty()) {
        finding = finding.fact("rights.at", path, held.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
    }
    for place in &refused.places {
        finding = finding.next("add-acl", 2, format!("give the identity a role with {privilege} at {place}, no wider"));
        let pools = permissions.iter().filter(|(path, held)| path.starts_with("/pool/") && has(held));
        for (pool, _) in pools.filter(|_| place.starts_with("/vms/")) {
            finding = finding.next(
                "add-to-pool",
                2,
                format!("or add what {place} stands for to {pool}, where it has that right"),
            );
        }
    }
    finding
}
