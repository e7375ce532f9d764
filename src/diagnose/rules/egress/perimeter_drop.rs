//! The gateway answers, and nothing beyond it does.

use std::net::{IpAddr, Ipv4Addr};

use super::super::exits::{Exit, exits};
use super::super::perimeter::{WayOut, way_out};
use super::super::{Out, Rule};
use crate::diagnose::facts::node::{Flow, Ping};
use crate::diagnose::facts::{Facts, Sourced};
use crate::diagnose::finding::{Layer, Severity};
use crate::site::model::ExitNodeSite;

/// The rule.
pub static RULE: Rule = Rule {
    id: "perimeter-drop",
    layer: Layer::Egress,
    severity: Severity::Fault,
    says: "From the transit address of the exit node the gateway answers and nothing beyond it does: the perimeter, or what is \
           behind it, drops the traffic. The exit node itself does its part.",
    reads: "probes from the transit address, neighbours, main's default route (which must be on transit), tracked flows; \
            without probes the rules, interfaces, states and log of the router",
    unlike: &[("gateway-unreachable", "the gateway itself does not answer"), ("transit-mtu", "small packets pass")],
    explains: &[],
    judge,
};

/// Bytes up to which a probe is small.
const SMALL: u32 = 128;

/// Small probes from the transit address to somewhere beyond the gateway. A probe from inside a VRF misses legs that a
/// guest's packet takes, and is never answered with FRR 8 (`facts/exit-node.md` §5).
fn beyond<'e>(exit: &'e Exit<'_>, site: &ExitNodeSite) -> Vec<&'e Sourced<Ping>> {
    let from_transit = |p: &Ping| {
        let source = p.source.as_deref();
        source == Some(site.transit_interface.as_str()) || source == Some(site.transit_address.to_string().as_str())
    };
    let inside = |ip: Ipv4Addr| {
        ip == site.transit_gateway || exit.tenants.iter().any(|t| t.has(ip)) || exit.node.owns(ip) == Some(true)
    };
    let small =
        |p: &&Sourced<Ping>| p.vrf.is_none() && p.size <= SMALL && p.sent > 0 && from_transit(p) && !inside(p.dst);
    exit.node.pings.iter().filter(small).collect()
}

fn gateway_answers(exit: &Exit<'_>, site: &ExitNodeSite) -> bool {
    let gateway = IpAddr::V4(site.transit_gateway);
    let ping = exit.node.pings.iter().any(|p| IpAddr::V4(p.dst) == gateway && p.received > 0);
    ping || exit.node.arpings.iter().any(|a| a.1 == gateway && a.2)
}

/// Whether the gateway was asked, and did not answer.
fn gateway_is_silent(exit: &Exit<'_>, site: &ExitNodeSite) -> bool {
    let asked = exit.node.pings.iter().any(|p| p.dst == site.transit_gateway && p.sent > 0);
    asked && !gateway_answers(exit, site)
}

/// Where main's default is elsewhere nothing can be sent beyond from the transit address. Flows that tenants' VRFs have to
/// the site's address on the internet tell the same: translated to the transit address, and no answer came.
///
/// Whether they told anything.
fn by_flows(exit: &Exit<'_>, site: &ExitNodeSite, internet: Option<Ipv4Addr>, out: &mut Out<'_>) -> bool {
    let ours = |flow: &&Sourced<Flow>| {
        // Echo flows live half a minute: what is listed is about now.
        flow.protocol == "icmp"
            && Some(flow.dst) == internet
            && flow.reply_dst == site.transit_address
            && exit.tenants.iter().any(|tenant| tenant.has(flow.src))
    };
    let flows: Vec<&Sourced<Flow>> = exit.node.flows.iter().filter(ours).collect();
    let Some(last) = flows.last() else {
        // Where nothing was to be sent beyond there is nothing to say.
        let why =
            exit.node.why_not_sent().or_else(|| exit.node.why_unread("conntrack -L")).filter(|_| internet.is_some());
        let told = why.is_some();
        if told {
            out.unknown(format!("what is beyond the gateway of {}", exit.name), why);
        }
        return told;
    };
    if flows.iter().any(|flow| !flow.unreplied) {
        out.pass(exit.subject());
    } else if let Some(why) = hidden(exit, site) {
        out.unknown(format!("what is beyond the gateway of {}", exit.name), Some(why));
    } else {
        let title = format!("The gateway {} answers {}, and nothing beyond it does.", site.transit_gateway, exit.name);
        let finding = out
            .finding(exit.subject(), title)
            .fact("probe.answered", exit.at(site.transit_gateway), "yes")
            .fact("flows.unreplied", exit.name, flows.len())
            .affects(exit.zones())
            .from(last)
            .next("check-perimeter-rules", 0, "look at rules, NAT and gateway of the perimeter for the transit network")
            .not_tested("which rule or which hop drops it");
        out.found(finding);
    }
    true
}

/// Where nothing was sent beyond the gateway, the router itself may tell: no rule lets the transit address out, so what
/// comes from there is dropped. Of a node that was not probed at all nothing is asked.
fn by_router(facts: &Facts, exit: &Exit<'_>, site: &ExitNodeSite, out: &mut Out<'_>) {
    match way_out(facts, site.transit_address) {
        // Connections that came back are from before.
        WayOut::Used if gateway_is_silent(exit, site) => {
            let why = "the gateway does not answer".to_owned();
            out.unknown(format!("what is beyond the gateway of {}", exit.name), Some(why));
        }
        WayOut::Used => out.pass(exit.subject()),
        WayOut::Closed { interface, off, dropped } => {
            let title = format!(
                "No rule of the router lets {} out by {interface}: what it sends beyond is dropped.",
                site.transit_address
            );
            let mut finding = out
                .finding(exit.subject(), title)
                .fact("router.lets-out", site.transit_address.to_string(), "no")
                .affects(exit.zones())
                .next("check-perimeter-rules", 0, format!("look at the rules of {interface}"));
            for rule in &off {
                finding = finding.fact("rule.enabled", rule, "no").next(
                    "enable-rule",
                    2,
                    format!("switch on {rule}, if that was not meant"),
                );
            }
            if dropped > 0 {
                finding = finding.fact("log.dropped", site.transit_address.to_string(), dropped);
            }
            if let Some(rules) = &facts.perimeter.rules {
                finding = finding.from(rules);
            }
            for log in facts.perimeter.log.iter().filter(|_| dropped > 0) {
                finding = finding.from(log);
            }
            out.found(finding);
        }
        WayOut::Unknown(why) if !exit.node.pings.is_empty() => {
            let why = format!("no address beyond is named by [probes] internet, and of the router: {why}");
            out.unknown(format!("what is beyond the gateway of {}", exit.name), Some(why));
        }
        WayOut::Unknown(_) => {}
    }
}

/// What hides whether anything beyond the gateway would answer.
fn hidden(exit: &Exit<'_>, site: &ExitNodeSite) -> Option<String> {
    if exit.node.tracking_full() == Some(true) {
        return Some("its connection table is full".to_owned());
    }
    if gateway_answers(exit, site) {
        return None;
    }
    Some(exit.node.why_not_sent().unwrap_or_else(|| "the gateway does not answer".to_owned()))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for exit in exits(facts) {
        let Some(site) = exit.site else { continue };
        let probes = beyond(&exit, site);
        if probes.is_empty() {
            let internet = facts.site.as_ref().and_then(|site| site.value.internet);
            if !by_flows(&exit, site, internet, out) {
                by_router(facts, &exit, site, out);
            }
            continue;
        }
        if probes.iter().any(|p| p.received > 0) {
            out.pass(exit.subject());
            continue;
        }
        // With main's default elsewhere these probes leave there and are lost in a healthy site as well.
        let aside = (exit.main_by_transit() != Some(true)).then(|| "main's default is not on transit".to_owned());
        if let Some(why) = aside.or_else(|| hidden(&exit, site)) {
            out.unknown(format!("what is beyond the gateway of {}", exit.name), Some(why));
            continue;
        }
        let title = format!("The gateway {} answers {}, and nothing beyond it does.", site.transit_gateway, exit.name);
        let mut finding = out
            .finding(exit.subject(), title)
            .fact("probe.answered", exit.at(site.transit_gateway), "yes")
            .affects(exit.zones())
            .next("check-perimeter-rules", 0, "look at rules, NAT and gateway of the perimeter for the transit network")
            .not_tested("which rule or which hop drops it");
        for probe in probes {
            finding = finding.fact("probe.answered", exit.at(probe.dst), "no").from(probe);
        }
        let lost = exit.node.flows.iter().filter(|f| f.unreplied && f.reply_dst == site.transit_address).count();
        if lost > 0 {
            finding = finding.fact("flows.unreplied", exit.name, lost);
        }
        out.found(finding);
    }
}
