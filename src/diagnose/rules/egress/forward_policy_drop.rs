//! The exit node's own firewall drops what is forwarded.

use super::super::exits::exits;
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::node::Forward;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "forward-policy-drop",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The forward chain of the exit node drops by policy and accepts nothing, or drops everything by a rule. Routing, \
           neighbours and translation look as they should; packets are seen on the VNet and never on the transit \
           interface.",
    reads: "policy and rules of filter/FORWARD in both engines",
    unlike: &[("tenant-forwarding-off", "forwarding itself is off")],
    explains: &[],
    judge,
};

/// Whether nothing passes the chain: `None` where its rules would have to be understood for that.
fn drops(forward: &Forward) -> Option<bool> {
    let word = |rule: &str, key: &str| {
        let words: Vec<&str> = rule.split_whitespace().collect();
        words.iter().position(|w| *w == key).and_then(|at| words.get(at + 1)).map(|w| (*w).to_owned())
    };
    let ends = |rule: &String| word(rule, "-j").is_some_and(|target| target == "DROP" || target == "REJECT");
    let bare = |rule: &String| rule.split_whitespace().nth(2) == Some("-j");
    let policy = forward.policy.as_deref() == Some("DROP");
    match forward.rules.iter().find(|rule| !ends(rule) || bare(rule)) {
        Some(first) if ends(first) => Some(true),
        Some(_) if policy => None,
        Some(_) => Some(false),
        None => Some(policy),
    }
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        if exit.node.forward.is_empty() {
            exit.unknown(out, "the forward chain", "iptables");
            continue;
        }
        let mut clean = true;
        for (engine, forward) in &exit.node.forward {
            match drops(forward) {
                Some(false) => continue,
                Some(true) => {
                    let policy = forward.policy.as_deref().unwrap_or("none");
                    let title = format!("The firewall of {} drops everything that is forwarded.", exit.name);
                    let finding = out
                        .finding(exit.subject(), title)
                        .fact("forward.policy", exit.at(format!("{engine:?}").to_lowercase()), policy)
                        .fact("forward.rules", exit.name, forward.rules.len())
                        .affects(exit.zones())
                        .from(forward)
                        .next("look-at-forward-chain", 0, format!("look who set the forward chain of {}", exit.name))
                        .command("iptables -nvL FORWARD");
                    out.found(finding);
                }
                None => out.unknown(
                    format!("what the forward chain of {} lets through", exit.name),
                    Some("its policy is DROP and its rules accept some".to_owned()),
                ),
            }
            clean = false;
        }
        if clean {
            out.pass(exit.subject());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_chain_drops() {
        let chain = |policy: &str, rules: &[&str]| Forward {
            policy: Some(policy.to_owned()),
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        };
        assert_eq!(drops(&chain("ACCEPT", &[])), Some(false));
        assert_eq!(drops(&chain("DROP", &[])), Some(true));
        assert_eq!(drops(&chain("DROP", &["-A FORWARD -i a -j ACCEPT"])), None);
        assert_eq!(drops(&chain("DROP", &["-A FORWARD -i a -j DROP"])), Some(true));
        assert_eq!(drops(&chain("ACCEPT", &["-A FORWARD -j REJECT --reject-with icmp-port-unreachable"])), Some(true));
        assert_eq!(drops(&chain("ACCEPT", &["-A FORWARD -i a -j DROP"])), Some(false));
    }
}
