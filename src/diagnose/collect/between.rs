//! Packets from each tenant's VRF on an exit node to addresses of the other tenants there, every ordered pair.
//!
//! Each tenant's own addresses are tried first, from its own VRF: without them silence proves nothing. Then every pair,
//! a few rounds at a time, as long as there is time for them. All of it is kept as one item.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::future::join_all;

use super::{Fabric, Leg, Sink, Wanted, names};
use crate::backends::exit_node::frame::Code;
use crate::backends::exit_node::{Client, MAX_QUESTIONS, PathProbe, Ran, What};
use crate::diagnose::evidence::Kind;
use crate::diagnose::facts::between::{Attempt, Echo, Ended, SCHEMA, Sent, Target, Tenant, WHAT};
use crate::diagnose::facts::node::Flow;
use crate::site::Site;
use crate::site::model::ExitNodeSite;

/// Round trips to a node under way at once.
const ROUNDS: usize = 4;
/// Pairs tried before flows are looked at: what is tracked is forgotten after half a minute.
const WAVE: usize = ROUNDS * MAX_QUESTIONS;

/// Who is asked, about whom.
pub(super) struct Asked<'a> {
    pub(super) about: &'a ExitNodeSite,
    pub(super) client: &'a Client,
    pub(super) site: &'a Site,
    pub(super) wanted: &'a Wanted,
    pub(super) fabric: &'a Fabric,
    /// Legs whose VRF is on the node.
    pub(super) there: Vec<&'a Leg>,
}

/// One attempt to be made.
struct Pair<'a> {
    from: &'a str,
    to: &'a Leg,
}

/// Tries every ordered pair in scope and keeps what came of it.
pub(super) async fn read(asked: &Asked<'_>, sink: &Sink) {
    let pairs = asked.pairs();
    if pairs.is_empty() {
        return;
    }
    let before = asked.flows(asked.there.iter().copied(), sink.patience()).await;
    let (tenants, beyond) = asked.controls(&pairs, sink.patience()).await;
    let mut attempts = Vec::new();
    let time = sink.patience() * 2;
    let all = async {
        for wave in pairs.chunks(WAVE) {
            attempts.extend(asked.wave(wave, &tenants, &before, sink.patience()).await);
        }
    };
    let over = |_| format!("the {}s that there are for it were over; ask about one tenant", time.as_secs());
    let cut = tokio::time::timeout(time, all).await.map_err(over).err();
    let node = asked.about.name.clone();
    let of = asked.wanted.tenant.clone();
    let sent = Sent { schema: SCHEMA.to_owned(), node, of, tenants, beyond, attempts, cut };
    // The document is plain data: writing it cannot fail.
    let Ok(body) = serde_json::to_string_pretty(&sent) else { return };
    sink.add(&sent.node, "packets-between", "json", Kind::Material(WHAT.to_owned()), body, String::new());
}

/// Flows of tenants as they were listed, by zone; else why not.
type Flows = BTreeMap<String, Result<Vec<String>, String>>;

impl<'a> Asked<'a> {
    fn pairs(&self) -> Vec<Pair<'a>> {
        let zones: BTreeSet<&str> = self.there.iter().map(|leg| leg.zone.as_str()).collect();
        let others = |from: &'a str| self.there.iter().filter(move |to| to.zone != from);
        let all = zones.into_iter().flat_map(|from| others(from).map(move |to| Pair { from, to }));
        all.filter(|pair| self.wanted.has(pair.from) || self.wanted.has(&pair.to.zone)).collect()
    }

    /// The running workload of `leg` with the lowest number that is on this node: what a guest elsewhere answers ends at
    /// its own node, since the gateway's address is on every one.
    fn workload(&self, leg: &Leg) -> Option<(Ipv4Addr, String)> {
        let own = Wanted { tenant: Some(leg.zone.clone()), workload: None, ..self.wanted.clone() };
        let mut all = names::workloads(self.site, self.fabric, &own).into_iter();
        let here =
            all.find(|w| w.vm.node == self.about.name && w.vm.status == "running" && leg.subnet.contains(&w.address))?;
        let name = here.vm.name.as_deref().map(|name| names::label(&leg.zone, name)).unwrap_or_default();
        Some((here.address, format!("workload {}", crate::text::clean(name))))
    }

    /// What answers at home: of every tenant in a pair its addresses from its own VRF, and the router from the node.
    async fn controls(&self, pairs: &[Pair<'_>], patience: Duration) -> (Vec<Tenant>, Option<Target>) {
        let involved: BTreeSet<&str> = pairs.iter().flat_map(|pair| [pair.from, pair.to.zone.as_str()]).collect();
        let mut wanted: Vec<(&str, Ipv4Addr, String)> = Vec::new();
        for leg in self.there.iter().filter(|leg| involved.contains(leg.zone.as_str())) {
            wanted.extend(self.workload(leg).map(|(ip, what)| (leg.zone.as_str(), ip, what)));
            wanted.extend(leg.subnet.hosts().next().map(|ip| (leg.zone.as_str(), ip, "the gateway".to_owned())));
        }
        let mut probes: Vec<_> = wanted
            .iter()
            .map(|(zone, ip, _)| PathProbe::new(Some(&format!("vrf_{zone}")), None, *ip, What::Ping))
            .collect();
        let router = self.about.transit_gateway;
        probes.push(PathProbe::new(None, Some(self.about.transit_address), router, What::Ping));
        let mut echoes = self.echoes(probes, patience).await;
        let beyond = echoes.pop().map(|echo| Target { address: router, what: "the router".to_owned(), echo });
        let mut tenants: Vec<Tenant> = Vec::new();
        for ((zone, address, what), echo) in wanted.into_iter().zip(echoes) {
            let target = Target { address, what, echo };
            match tenants.iter_mut().find(|tenant| tenant.tenant == zone) {
                Some(tenant) => tenant.targets.push(target),
                None => tenants.push(Tenant {
                    tenant: zone.to_owned(),
                    vrf: format!("vrf_{zone}"),
                    subnets: self.there.iter().filter(|leg| leg.zone == zone).map(|leg| leg.subnet).collect(),
                    targets: vec![target],
                }),
            }
        }
        (tenants, beyond)
    }

    /// Tries the pairs of one wave, then looks for the flows of those that heard nothing.
    async fn wave(&self, pairs: &[Pair<'_>], tenants: &[Tenant], before: &Flows, patience: Duration) -> Vec<Attempt> {
        let addressed = |pair: &Pair<'_>| Some((pair.from.to_owned(), pair.to.zone.clone(), target(tenants, pair.to)?));
        let chosen: Vec<(String, String, Ipv4Addr)> = pairs.iter().filter_map(addressed).collect();
        // Without a source of its own: the kernel takes the VRF's, and with one `ping` does not tell that nothing could leave.
        let probe = |(from, _, ip): &(String, String, Ipv4Addr)| {
            PathProbe::new(Some(&format!("vrf_{from}")), None, *ip, What::Ping)
        };
        let echoes = self.echoes(chosen.iter().map(probe).collect(), patience).await;
        let attempt = |((from, to, address), echo)| Attempt { from, to, address, echo, flow: None, no_flows: None };
        let mut attempts: Vec<Attempt> = chosen.into_iter().zip(echoes).map(attempt).collect();
        let silent: BTreeSet<String> =
            attempts.iter().filter(|a| a.echo.ended() == Ended::Silent).map(|a| a.from.clone()).collect();
        let after = self.flows(self.there.iter().copied().filter(|leg| silent.contains(&leg.zone)), patience).await;
        for attempt in attempts.iter_mut().filter(|a| a.echo.ended() == Ended::Silent) {
            match fresh(before.get(&attempt.from), after.get(&attempt.from), attempt.address) {
                Ok(flow) => attempt.flow = flow,
                Err(why) => attempt.no_flows = Some(why),
            }
        }
        attempts
    }

    /// Flows of the zones of `legs`.
    async fn flows(&self, legs: impl Iterator<Item = &Leg>, patience: Duration) -> Flows {
        let (zones, probes): (Vec<&str>, Vec<_>) =
            legs.map(|leg| (leg.zone.as_str(), PathProbe::flows(leg.subnet))).unzip();
        let mut all = Flows::new();
        for (zone, ran) in zones.into_iter().zip(self.tried(probes, patience).await) {
            let lines = ran.and_then(|ran| match ran.code {
                Code::Exit(0) => Ok(ran.out.lines().map(str::to_owned).collect::<Vec<_>>()),
                _ => Err(ran.err.lines().next().unwrap_or_default().trim().to_owned()),
            });
            let entry = all.entry(zone.to_owned()).or_insert_with(|| Ok(Vec::new()));
            match (entry, lines) {
                (Ok(have), Ok(more)) => have.extend(more),
                (entry @ Ok(_), Err(why)) => *entry = Err(why),
                (Err(_), _) => {}
            }
        }
        all
    }

    async fn echoes<E: std::fmt::Display>(&self, probes: Vec<Result<PathProbe, E>>, patience: Duration) -> Vec<Echo> {
        let echo = |ran: Result<Ran, String>| match ran {
            Ok(Ran { line, code: Code::Exit(code), out, err }) => Echo { command: line, exit: Some(code), out, err },
            Ok(ran) => Echo { command: ran.line, exit: None, out: String::new(), err: ran.err },
            Err(why) => Echo { command: String::new(), exit: None, out: String::new(), err: why },
        };
        self.tried(probes, patience).await.into_iter().map(echo).collect()
    }

    /// Tries `probes`, [`ROUNDS`] round trips at once; the ends in the same order.
    async fn tried<E: std::fmt::Display>(
        &self,
        probes: Vec<Result<PathProbe, E>>,
        patience: Duration,
    ) -> Vec<Result<Ran, String>> {
        let probes: Vec<Result<PathProbe, String>> =
            probes.into_iter().map(|probe| probe.map_err(|why| why.to_string())).collect();
        let mut all = Vec::new();
        for rounds in probes.chunks(WAVE) {
            let mut under_way = Vec::new();
            for round in rounds.chunks(MAX_QUESTIONS) {
                under_way.push(self.round(round, patience));
            }
            all.extend(join_all(under_way).await.into_iter().flatten());
        }
        all
    }

    /// One round trip. What the helper would refuse is not sent.
    async fn round(&self, probes: &[Result<PathProbe, String>], patience: Duration) -> Vec<Result<Ran, String>> {
        let sound: Vec<PathProbe> = probes.iter().flatten().cloned().collect();
        let mut ran = match self.client.probe_path(patience, &sound).await {
            Ok(ran) => ran.into_iter().map(Ok).collect::<Vec<_>>().into_iter(),
            Err(why) => vec![Err(why.to_string()); sound.len()].into_iter(),
        };
        let lost = || Err("it was not told how it ended".to_owned());
        let end = |probe: &Result<PathProbe, String>| match probe {
            Ok(_) => ran.next().unwrap_or_else(lost),
            Err(why) => Err(why.clone()),
        };
        probes.iter().map(end).collect()
    }
}

/// Whom to try of a tenant's segment: what answers at home, a workload before the gateway.
fn target(tenants: &[Tenant], leg: &Leg) -> Option<Ipv4Addr> {
    let own = tenants.iter().find(|tenant| tenant.tenant == leg.zone)?;
    let mine = || own.targets.iter().filter(|target| leg.subnet.contains(&target.address));
    let answers = mine().find(|target| target.echo.ended() == Ended::Answered);
    answers.or_else(|| mine().next()).map(|target| target.address)
}

/// The newest flow to `address` that was not there before.
fn fresh(
    before: Option<&Result<Vec<String>, String>>,
    after: Option<&Result<Vec<String>, String>>,
    address: Ipv4Addr,
) -> Result<Option<String>, String> {
    let none = Ok(Vec::new());
    let (before, after) = (before.unwrap_or(&none).as_ref()?, after.unwrap_or(&none).as_ref()?);
    let known: BTreeSet<String> = before.iter().map(|line| super::reach::tuple(line)).collect();
    let ours = |line: &&String| {
        let flow = Flow::parse(line);
        flow.is_some_and(|f| f.protocol == "icmp" && f.dst == address) && !known.contains(&super::reach::tuple(line))
    };
    Ok(after.iter().rfind(ours).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_of_an_earlier_try_says_nothing_about_this_one() {
        let line = |id: u16| {
            format!(
                "icmp 1 29 src=10.9.129.1 dst=10.9.130.10 type=8 id={id} src=10.9.130.10 dst=10.9.0.22 type=0 id={id}"
            )
        };
        let address = Ipv4Addr::new(10, 9, 130, 10);
        let (old, both) = (Ok(vec![line(7)]), Ok(vec![line(7), line(8)]));
        assert_eq!(fresh(Some(&old), Some(&both), address), Ok(Some(line(8))));
        assert_eq!(fresh(Some(&both), Some(&both), address), Ok(None));
        assert_eq!(fresh(Some(&old), Some(&both), Ipv4Addr::new(10, 9, 130, 11)), Ok(None));
        assert_eq!(fresh(Some(&Err("needs root".to_owned())), Some(&both), address), Err("needs root".to_owned()));
    }

    #[test]
    fn what_answers_at_home_is_tried_before_what_does_not() {
        let leg = Leg {
            zone: "farm".into(),
            vnet: "farm0".into(),
            subnet: "10.9.130.0/24".parse().expect("a prefix"),
            exits: Vec::new(),
        };
        let at = |last, exit| Target {
            address: Ipv4Addr::new(10, 9, 130, last),
            what: String::new(),
            echo: Echo {
                command: String::new(),
                exit: Some(exit),
                out: format!("3 packets transmitted, {} received", if exit == 0 { 3 } else { 0 }),
                err: String::new(),
            },
        };
        let of = |workload, gateway| Tenant {
            tenant: "farm".into(),
            vrf: "vrf_farm".into(),
            subnets: vec![leg.subnet],
            targets: vec![at(10, workload), at(1, gateway)],
        };
        assert_eq!(target(&[of(0, 0)], &leg), Some(Ipv4Addr::new(10, 9, 130, 10)));
        assert_eq!(target(&[of(1, 0)], &leg), Some(Ipv4Addr::new(10, 9, 130, 1)), "a guest may drop pings");
        assert_eq!(target(&[of(1, 1)], &leg), Some(Ipv4Addr::new(10, 9, 130, 10)));
    }
}
