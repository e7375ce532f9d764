//! Forwarding is off on the transit interface: answers are dropped as they come in.

use super::super::exits::exits;
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity};

/// The rule.
pub static RULE: Rule = Rule {
    id: "transit-forwarding-off",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "Forwarding is tested on the device a packet came in by. With it off on the transit interface every answer to \
           every tenant is dropped, while packets still leave, counters climb and the node's own pings work. The flags of \
           the VRF, of the VLAN's bridge and of `all` make no difference.",
    reads: "forwarding flags, the lookup of an answer on its way in, the counter IpInAddrErrors",
    unlike: &[
        ("tenant-forwarding-off", "one tenant, and its packets never leave"),
        ("return-route-missing", "forwarding is on, and the main table lacks the subnet"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(flags) = &exit.node.forwarding else {
            exit.unknown(out, "the forwarding flags", "forwarding");
            continue;
        };
        let Some(transit) = exit.transit() else {
            out.unknown(format!("the transit interface of {} (site.toml)", exit.name), None);
            continue;
        };
        match flags.get(transit) {
            None => exit.unknown(out, &format!("the forwarding flag of {transit}"), "forwarding"),
            Some(true) => out.pass(exit.subject()),
            Some(false) => {
                let title =
                    format!("Forwarding is off on {transit} of {}: answers to all tenants are dropped.", exit.name);
                let mut finding = out
                    .finding(exit.subject(), title)
                    .fact("forwarding", exit.at(transit), "off")
                    .affects(exit.zones())
                    .from(flags)
                    .next(
                        "forwarding-on",
                        2,
                        format!("switch forwarding on for {transit} of {}, and make it last", exit.name),
                    )
                    .command(format!("sysctl -w net.ipv4.conf.{}.forwarding=1", transit.replace('.', "/")));
                if let Some(rise) = exit.node.rise("IpInAddrErrors").filter(|rise| *rise > 0) {
                    finding = finding.fact("counter.IpInAddrErrors", exit.name, format!("+{rise}"));
                }
                out.found(finding);
            }
        }
    }
}
