//! What only a workload or another segment can test, with the command.

use ipnet::Ipv4Net;
use serde::Serialize;

use super::ends::{Goal, Sender, SenderKind, Target, gateway, management};
use crate::diagnose::facts::Facts;
use crate::diagnose::pasted::{Ask, Filter, Leg, Wants, Whence};
use crate::diagnose::rules::exits::{Exit, Tenant};

/// A leg of the path to the internet, by its number there (`path::LEGS`, counted from 1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathLeg {
    /// Tenant.
    pub tenant: String,
    /// Number of the leg.
    pub number: usize,
    /// What is to be run.
    pub leg: Leg,
}

/// The number of "workload → bridge", and of "nothing on management".
pub const BRIDGE: usize = 2;
/// See [`BRIDGE`].
pub const MANAGEMENT: usize = 12;

fn leg(from: &Whence, ask: Ask, wants: Wants, behind: &[Ipv4Net]) -> Leg {
    Leg { from: from.clone(), ask, wants, behind: behind.to_vec() }
}

/// What shows that the sender has a network at all.
fn control(sender: &Sender) -> Option<Leg> {
    let gateway = sender.gateway?;
    let ask = match (sender.kind, &sender.asks) {
        (SenderKind::Tenant, _) => Ask::Ping(gateway),
        (SenderKind::Segment, Some(name)) => Ask::Dns { server: gateway, name: name.clone() },
        (SenderKind::Segment, None) => return None,
    };
    Some(leg(&sender.whence, ask, Wants::Answer, &[]))
}

/// The legs of a cell, the control first.
pub(super) fn of_cell(sender: &Sender, target: &Target) -> Vec<Leg> {
    let mut out: Vec<Leg> = control(sender).into_iter().collect();
    if target.goal == Goal::Hairpin {
        // Only what comes back in shows that the perimeter sent it back: nobody is there to answer.
        let seen = sender.exit.as_ref().zip(target.hosts.first()).map(|((node, device), host)| {
            let words = format!("on {node}, while a workload of {} pings", sender.name);
            let from = Whence { name: node.clone(), workload: None, words, nets: Vec::new() };
            let ask = Ask::Capture { device: device.clone(), filter: Filter::InTo(host.ip) };
            leg(&from, ask, Wants::Nothing, &[])
        });
        if seen.is_none() {
            return Vec::new();
        }
        out.extend(seen);
    }
    for host in &target.hosts {
        if host.ping {
            out.push(leg(&sender.whence, Ask::Ping(host.ip), Wants::Nothing, &target.nets));
        }
        out.extend(
            host.ports.iter().map(|port| leg(&sender.whence, Ask::Tcp(host.ip, *port), Wants::Nothing, &target.nets)),
        );
    }
    out
}

/// The legs of every tenant's path that only a workload can test.
pub(super) fn of_paths(facts: &Facts, tenants: &[Tenant<'_>], senders: &[Sender], exits: &[Exit<'_>]) -> Vec<PathLeg> {
    let mut out = Vec::new();
    for tenant in tenants {
        let Some(sender) = senders.iter().find(|s| s.name == tenant.zone && s.kind == SenderKind::Tenant) else {
            continue;
        };
        let mut put = |number, leg| out.push(PathLeg { tenant: tenant.zone.to_owned(), number, leg });
        if let Some(gateway) = gateway(tenant) {
            put(BRIDGE, leg(&sender.whence, Ask::Ping(gateway), Wants::Answer, &[]));
        }
        let beyond = facts
            .site
            .as_ref()
            .and_then(|site| site.internet.or_else(|| site.exit_nodes.first().map(|exit| exit.transit_gateway)));
        let Some((exit, beyond)) = exits.iter().find(|e| e.zones().any(|zone| zone == tenant.zone)).zip(beyond) else {
            continue;
        };
        let Some(((device, ..), (_, net))) = management(exit).zip(tenant.subnets.first()) else { continue };
        let words = format!("on {}, while a workload of {} pings", exit.name, tenant.zone);
        let node = Whence { name: exit.name.to_owned(), workload: None, words, nets: Vec::new() };
        let ask = Ask::Capture { device, filter: Filter::Net(*net) };
        put(MANAGEMENT, leg(&node, ask, Wants::Nothing, &[]));
        put(MANAGEMENT, leg(&sender.whence, Ask::Ping(beyond), Wants::Answer, &[]));
    }
    out
}
