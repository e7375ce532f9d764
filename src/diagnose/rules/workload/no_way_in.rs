//! A guest that nobody could log in to.

use super::super::{Out, Rule};
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "no-way-in",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "A guest is asked for without a key, and its cloud-init has neither a key nor a password: it would start, and nobody \
           could log in. That is told before it is made, not after.",
    reads: "what is asked for, and the guest's configuration: its keys, its password, its cloud-init drive",
    unlike: &[("sshkeys-encoding", "keys were sent and refused for their form")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for asked in facts.provisioning.asked.iter().filter(|asked| asked.keys == 0) {
        let name = &asked.name;
        let found = facts.guests.config.values().find(|config| config.name.as_deref() == Some(name.as_str()));
        let Some(config) = found else {
            let why = facts.calls.why(Api::Proxmox, "nodes/*/qemu/*/config");
            out.unknown(format!("whether {name} has a key or a password of its template"), why);
            continue;
        };
        if !config.seeded {
            out.unknown(format!("how one logs in to {name}: it has no cloud-init drive"), None);
            continue;
        }
        if config.keys.is_some() || config.password {
            out.pass(Subject::new("workload", name));
            continue;
        }
        let finding = out
            .finding(Subject::new("workload", name), format!("{name} would have no key and no password: no way in."))
            .fact("login.keys", name, "none")
            .fact("login.password", name, "none")
            .affects([name])
            .from(asked)
            .from(config)
            .next("choose-key", 0, "choose a key before it is made")
            .not_tested("accounts that the image itself has");
        out.found(finding);
    }
}
