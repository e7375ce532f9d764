//! Exit nodes: two readings with the lookups that decide most faults, probes between them.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::future::join_all;
use ipnet::Ipv4Net;

use super::{Check, Leg, Sink, Wanted};
use crate::backends::exit_node::Client;
use crate::backends::exit_node::error::Error;
use crate::backends::exit_node::frame::Code;
use crate::backends::exit_node::helper::LookupRequest;
use crate::backends::exit_node::{PathProbe, Ran, What};
use crate::diagnose::evidence::Kind;
use crate::inventory::feed::Clients;
use crate::site::Site;
use crate::site::model::ExitNodeSite;

/// Longest wait for one reading, and for one round of probes.
const DEADLINE: Duration = Duration::from_secs(15);
/// Between two samples of counters, where no probe takes its time anyway.
const BETWEEN: Duration = Duration::from_secs(1);
/// An address that only a default route leads to (RFC 5737). It is looked up, never sent to.
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);

/// Reads all exit nodes side by side.
pub(super) async fn read(site: &Site, clients: &Clients, wanted: &Wanted, legs: &[Leg], sink: &Sink) {
    join_all(clients.exit_nodes.iter().filter_map(|(name, client)| {
        let about = site.exit_nodes.iter().find(|e| e.name == *name)?;
        Some(async move {
            match client {
                Ok(client) => node(about, client, wanted, legs, sink).await,
                Err(why) => unread(name, "deevnet-exit-node read", &why.text, sink),
            }
        })
    }))
    .await;
}

pub(super) fn unread(node: &str, line: &str, why: &str, sink: &Sink) {
    let kind = Kind::Command { line: line.to_owned(), exit: None };
    sink.add(node, "exit-node", "txt", kind, String::new(), why.to_owned());
}

async fn node(about: &ExitNodeSite, client: &Client, wanted: &Wanted, legs: &[Leg], sink: &Sink) {
    let mine: Vec<&Leg> = legs.iter().filter(|leg| leg.exits.contains(&about.name)).collect();
    let subjects: Vec<&&Leg> =
        mine.iter().filter(|leg| wanted.tenant.as_ref().is_none_or(|t| *t == leg.zone)).collect();
    let questions = questions(about, &subjects, &mine, wanted.check);
    if sample(about, client, &questions, sink).await.is_err() {
        return;
    }
    let probes = probes(about, &subjects);
    let (ran, ()) = tokio::join!(client.probe_path(DEADLINE, &probes), tokio::time::sleep(BETWEEN));
    match ran {
        Ok(ran) => ran.into_iter().for_each(|ran| probed(about, ran, sink)),
        Err(error) => unread(&about.name, "deevnet-exit-node probe path", &error.to_string(), sink),
    }
    drop(sample(about, client, &questions, sink).await);
}

async fn sample(about: &ExitNodeSite, client: &Client, questions: &[LookupRequest], sink: &Sink) -> Result<(), Error> {
    let words: Vec<String> = questions.iter().map(LookupRequest::argument).collect();
    let line = format!("deevnet-exit-node read {}", words.join(" "));
    match client.read_raw(DEADLINE, questions).await {
        Ok((_, frame)) => {
            let kind = Kind::Command { line, exit: Some(0) };
            sink.add(&about.name, "exit-node", "txt", kind, frame, String::new());
            Ok(())
        }
        Err(error) => {
            unread(&about.name, &line, &error.to_string(), sink);
            Err(error)
        }
    }
}

/// A workload's address in `subnet`: any but the gateway's would do, since it is only looked up.
fn guest(subnet: Ipv4Net) -> Ipv4Addr {
    let first = u32::from(subnet.network());
    Ipv4Addr::from(first.saturating_add(10).min(u32::from(subnet.broadcast())))
}

/// Which way a packet of each tenant goes out, back, to the node's own management side, and to every other tenant.
fn questions(about: &ExitNodeSite, subjects: &[&&Leg], all: &[&Leg], check: Check) -> Vec<LookupRequest> {
    let transit = about.transit_interface.as_str();
    let mut asked = vec![LookupRequest::new("main", OUTSIDE, None, None)];
    for leg in subjects {
        let (from, vnet) = (guest(leg.subnet), Some(leg.vnet.as_str()));
        let mut ask = |what: &str, dst, from, iif| {
            asked.push(LookupRequest::new(&format!("{what}.{}.{}", leg.zone, leg.vnet), dst, Some(from), iif));
        };
        ask("out", OUTSIDE, from, vnet);
        ask("ret", from, OUTSIDE, Some(transit));
        ask("transit", about.transit_gateway, from, vnet);
        if matches!(check, Check::Isolation | Check::All) || subjects.len() == 1 {
            for other in all.iter().filter(|other| other.zone != leg.zone) {
                ask(&format!("to.{}", other.vnet), guest(other.subnet), from, vnet);
            }
        }
    }
    // A name that Proxmox allows and the helper does not take leaves its question out; the rule then says unknown.
    asked.into_iter().filter_map(Result::ok).take(crate::backends::exit_node::helper::MAX_LOOKUPS).collect()
}

/// Packets along each tenant's path, as far as one round trip takes them: to the perimeter, and the flows there are.
fn probes(about: &ExitNodeSite, subjects: &[&&Leg]) -> Vec<PathProbe> {
    let gateway = about.transit_gateway;
    let mut all = vec![PathProbe::new(None, Some(about.transit_address), gateway, What::Ping)];
    for leg in subjects {
        all.push(PathProbe::new(Some(&format!("vrf_{}", leg.zone)), None, gateway, What::Ping));
        all.push(PathProbe::flows(leg.subnet));
    }
    all.into_iter().filter_map(Result::ok).take(crate::backends::exit_node::MAX_QUESTIONS).collect()
}

fn probed(about: &ExitNodeSite, ran: Ran, sink: &Sink) {
    let exit = match ran.code {
        Code::Exit(code) => Some(code),
        Code::Denied | Code::Missing => None,
    };
    let slug = ran.line.split(' ').filter(|w| !w.starts_with('-')).collect::<Vec<_>>().join("-");
    sink.add(&about.name, &slug, "txt", Kind::Command { line: ran.line, exit }, ran.out, ran.err);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::model::Transport;

    fn about() -> ExitNodeSite {
        ExitNodeSite {
            name: "hv02".into(),
            transport: Transport::Command(Vec::new()),
            transit_interface: "vmbr0.50".into(),
            transit_address: Ipv4Addr::new(10, 20, 50, 22),
            transit_gateway: Ipv4Addr::new(10, 20, 50, 1),
            egress_apply: None,
        }
    }

    fn leg(zone: &str, third: u8) -> Leg {
        let subnet = Ipv4Net::new(Ipv4Addr::new(10, 20, third, 0), 24).expect("a prefix");
        Leg { zone: zone.into(), vnet: format!("{zone}0"), subnet, exits: vec!["hv02".into()] }
    }

    fn arguments(check: Check, subjects: &[&Leg], all: &[&Leg]) -> Vec<String> {
        let subjects: Vec<&&Leg> = subjects.iter().collect();
        questions(&about(), &subjects, all, check).iter().map(LookupRequest::argument).collect()
    }

    #[test]
    fn every_tenant_is_looked_up_out_and_back_and_against_every_other() {
        let (a, b) = (leg("a", 129), leg("b", 130));
        let all = [&a, &b];
        let asked = arguments(Check::Isolation, &all, &all);
        for want in [
            "out.a.a0/198.51.100.1/10.20.129.10/a0",
            "ret.a.a0/10.20.129.10/198.51.100.1/vmbr0.50",
            "to.b0.a.a0/10.20.130.10/10.20.129.10/a0",
            "to.a0.b.b0/10.20.129.10/10.20.130.10/b0",
        ] {
            assert!(asked.iter().any(|a| a == want), "{want} is not in {asked:?}");
        }
        let few = arguments(Check::Egress, &all, &all);
        assert!(!few.iter().any(|a| a.starts_with("to.")), "{few:?}");
        let one = arguments(Check::Egress, &[&a], &all);
        assert!(one.iter().any(|a| a.starts_with("to.b0.a.")), "{one:?}");
    }

    #[test]
    fn a_guest_is_in_its_subnet() {
        let net = |text: &str| text.parse::<Ipv4Net>().expect("a prefix");
        assert_eq!(guest(net("10.20.129.0/24")), Ipv4Addr::new(10, 20, 129, 10));
        assert!(net("192.0.2.0/30").contains(&guest(net("192.0.2.0/30"))));
    }
}
