//! A token that has no rights of its own.

use super::super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "token-without-rights",
    layer: Layer::Access,
    severity: Severity::Fault,
    says: "The identity in use has no permission at all. A token with privilege separation has only the entries made for \
           the token itself; its user's do not reach it. Lists are filtered instead of refused: they come back empty with \
           status 200, which says nothing about what exists.",
    reads: "access/permissions of the identity in use, the user's tokens, and which lists came back empty",
    unlike: &[
        ("privilege-missing", "some permissions are there, and one request was refused for want of another"),
        ("credentials-rejected", "the token is not accepted at all"),
    ],
    explains: &["privilege-missing", "list-filtered"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let empty: Vec<_> = facts.calls.of(Api::Proxmox).filter(|call| call.empty_list).collect();
    let Some(permissions) = &facts.access.permissions else {
        if !empty.is_empty() || !facts.access.tokens.is_empty() {
            out.unknown(
                "access/permissions of the identity in use",
                facts.calls.why(Api::Proxmox, "access/permissions"),
            );
        }
        return;
    };
    // One token is the one in use; which of several it is, the evidence does not say.
    let token = match facts.access.tokens.as_slice() {
        [one] => Some(one),
        _ => None,
    };
    let name = token.map_or("in use", |token| token.id.as_str());
    let subject = Subject::new("token", name);
    if permissions.values().any(|privileges| !privileges.is_empty()) {
        out.pass(subject);
        return;
    }
    let denied = facts.calls.of(Api::Proxmox).filter_map(|call| match call.proxmox()? {
        Error::Denied { need: Some(need), .. } => Some(need.path.as_str()),
        _ => None,
    });
    let reach: Vec<&str> = empty.iter().map(|call| call.http.path.as_str()).chain(denied).collect();
    // Evidence of a live check names no token: the site file does.
    let which = match (token, &facts.site) {
        (None, Some(_)) => "The API token of [proxmox] in the site file".to_owned(),
        _ => format!("Token {name}"),
    };
    let mut finding = out
        .finding(subject, format!("{which} has no permissions of its own: what it lists is what it may see, nothing."))
        .fact("token.permissions", name, "none")
        .affects(&reach)
        .from(permissions)
        .next("add-token-acl", 2, "give the token its own ACL entries; an auditor's role is enough to look");
    if let Some(token) = token {
        finding = finding.command(format!("pveum acl modify / --tokens '{}' --roles PVEAuditor", token.id)).from(token);
        match token.privsep {
            Some(on) => finding = finding.fact("token.privsep", &token.id, if on { "on" } else { "off" }),
            None => out.unknown(format!("privilege separation of token {}", token.id), None),
        }
    } else {
        out.unknown("which token is in use, and its privilege separation", None);
    }
    for call in empty {
        finding = finding.fact("list.shows", &call.http.path, "none visible").resting_on(&call.file);
        out.unknown(format!("what {} holds", call.http.path), Some("the identity in use may see nothing".to_owned()));
    }
    out.found(finding);
}
