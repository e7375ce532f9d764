//! The end of the console's own token is not looked at.

use super::super::{Out, Rule};
use super::source;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "token-end-not-read",
    layer: Layer::Access,
    severity: Severity::Info,
    says: "When the console's API token of Proxmox VE ends is not run here: a token may not read its own end, only who may \
           change users may (`User.Modify`), and the console is not given that. A token that has ended is told by what it is \
           refused.",
    reads: "the rights of the token in use, and whether a list of tokens was read",
    unlike: &[("token-ends-soon", "the list of tokens was read, and an end is near")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    // Only of a site that was looked at: what was not gathered in a bundle from elsewhere is nobody's omission.
    let looked = facts.site.is_some() && facts.access.permissions.is_some();
    let Some(permissions) = facts.access.permissions.as_ref().filter(|_| looked && facts.access.tokens.is_empty())
    else {
        return;
    };
    let title = "When the console's own API token ends is not run here: reading it takes User.Modify.";
    let finding = out
        .finding(source(Api::Proxmox), title)
        .from(permissions)
        .not_tested("when the token in use ends")
        .next("read-token-end", 0, "have somebody who may change users look: the column `expire`, 0 is no end")
        .command("pveum user token list USER@REALM");
    out.found(finding);
}
