//! The translation rule also catches traffic to a destination that is routed, whose answers take another way back.

use std::net::Ipv4Addr;

use super::super::{Out, Rule};
use crate::backends::exit_node::model::{Lookup, SnatRule};
use crate::diagnose::facts::node::{Capture, Node, Packet};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "snat-catches-routed",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "The translation rule of a subnet has no exceptions: it also translates what goes to a server that has a route of its \
           own back to the tenant. Queries arrive from the exit node's address, answers leave by another interface and \
           never meet the translation again. The internet works; the server's data is not to blame.",
    reads: "packets captured on the server, its route back, the NAT rules of exit nodes",
    unlike: &[("perimeter-drop", "nothing beyond the gateway answers")],
    explains: &[],
    judge,
};

/// A question that came in by one interface and whose answer left by another.
fn split(capture: &Capture) -> Option<(&Packet, &Packet)> {
    capture.packets.iter().find_map(|question| {
        let (inside, true) = question.place.as_ref()? else { return None };
        let answer = capture.packets.iter().find(|answer| {
            let other = answer.place.as_ref().is_some_and(|(dev, came_in)| !came_in && dev != inside);
            other && answer.src == question.dst && answer.dst == question.src && answer.dport == question.sport
        })?;
        Some((question, answer))
    })
}

/// The rule that translates to `source`, and where it is.
fn translator(facts: &Facts, source: Ipv4Addr) -> Option<(&str, &Node, &SnatRule)> {
    facts.nodes.iter().find_map(|(name, node)| {
        let rule = node.snat_rules()?.find(|rule| rule.to_source == Some(source))?;
        Some((name, node, rule))
    })
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for (server, host) in facts.nodes.iter() {
        for capture in &host.captures {
            let Some((question, answer)) = split(capture) else { continue };
            // A node that only forwards sees the same packet on several interfaces.
            if host.owns(question.dst) != Some(true) && question.dst.to_string() != server {
                continue;
            }
            match translator(facts, question.src) {
                Some(translator) => found(server, host, capture, (question, answer), translator, out),
                None => out.unknown_of(
                    [Subject::new("subnet", question.src.to_string())],
                    format!("who translates to {}", question.src),
                    None,
                ),
            }
        }
    }
    uncaptured(facts, out);
}

/// A server is silent for a guest, has a route to its subnet, and nobody looked at what arrives.
fn uncaptured(facts: &Facts, out: &mut Out<'_>) {
    for server in facts.nodes.iter().flat_map(|(_, guest)| &guest.silent_servers) {
        let Some(host) = facts.nodes.get(&server.to_string()).filter(|host| host.captures.is_empty()) else { continue };
        let translated = |ip: Ipv4Addr| {
            let rules = facts.nodes.iter().filter_map(|(_, node)| node.snat_rules());
            rules.flatten().any(|rule| rule.source.is_some_and(|source| source.contains(&ip)))
        };
        if host.lookups.iter().any(|asked| translated(asked.dst)) {
            out.unknown(
                format!("what arrives at {} and where its answers leave", server.value),
                host.why_unread("tcpdump"),
            );
        }
    }
}

fn found(
    server: &str,
    host: &Node,
    capture: &Sourced<Capture>,
    (question, answer): (&Packet, &Packet),
    (node_name, node, rule): (&str, &Node, &SnatRule),
    out: &mut Out<'_>,
) {
    let dev = |packet: &Packet| packet.place.as_ref().map_or_else(String::new, |(dev, _)| dev.clone());
    let source = rule.source.map_or_else(|| "everything".to_owned(), |source| source.to_string());
    let title = format!(
        "{node_name} translates what {source} sends to {server} as well; answers leave {server} by {} and are lost.",
        dev(answer)
    );
    let mut finding = out
        .finding(Subject::new("node", node_name), title)
        .fact("query.source", server, question.src)
        .fact("query.translated-by", server, node_name)
        .fact("query.came-by", server, dev(question))
        .fact("answer.leaves-by", server, dev(answer))
        .fact("snat.rule", format!("{node_name}/{source}"), super::super::exits::words(rule))
        .fact("internet.translation", &source, "in place")
        .affects([&source])
        .from(capture)
        .next(
            "exempt-prefix",
            2,
            format!(
                "except the network of {server} from translation, in front of the rule (an SDN apply does not keep it)"
            ),
        )
        .next("resolver-on-exit-path", 1, "or use a server that is reached by the exit path alone");
    for rules in node.snat.values() {
        finding = finding.from(rules);
    }
    for asked in host.lookups.iter().filter(|asked| rule.source.is_some_and(|source| source.contains(&asked.dst))) {
        if let Lookup::Route { dev, .. } = &asked.answer {
            finding = finding.fact("route.back", format!("{server} to {}", asked.dst), format!("by {dev}")).from(asked);
        }
    }
    out.found(finding);
}
