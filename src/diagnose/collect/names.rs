//! Names: PowerDNS by its API, and the same names on the ports of the authoritative server and of the resolver.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use zeroize::Zeroizing;

use super::questions::{self, Question, Server};
use super::{Check, Fabric, Leg, Sink, Wanted, exit_node};
use crate::backends::dns::{DnsName, RecordType};
use crate::backends::exit_node::{self as exit_node_client, MAX_QUESTIONS, VrfFailure, VrfQuestion};
use crate::backends::http::Limits;
use crate::backends::powerdns::{Client, Name, ZoneListing};
use crate::backends::proxmox::model::Vm;
use crate::diagnose::rules::server_name;
use crate::inventory::feed::{Clients, DnsClient};
use crate::site::Site;
use crate::site::model::PowerDnsSite;

/// Longest wait for one request, for a tunnel, and for a round of questions from a node.
pub(super) const DEADLINE: Duration = Duration::from_secs(15);
/// Questions a tenant has asked from its own VRF: they show whether it gets through, not every name.
const FROM_VRF: usize = 3;

/// A tenant's machine by its numbers.
pub(super) struct Workload<'a> {
    pub(super) vm: &'a Vm,
    pub(super) tenant: &'a str,
    label: &'a str,
    pub(super) address: std::net::Ipv4Addr,
}

impl Workload<'_> {
    fn forward(&self, site: &Site) -> Option<DnsName> {
        format!("{}.{}.{}", self.label, self.tenant, site.domain).parse().ok()
    }
}

/// A workload's own part of a machine's name: machines are called TENANT-WORKLOAD.
pub(super) fn label<'n>(tenant: &str, name: &'n str) -> &'n str {
    name.strip_prefix(tenant).and_then(|rest| rest.strip_prefix('-')).unwrap_or(name)
}

/// The machines in scope by VMID, the first of every tenant before the second of any.
pub(super) fn workloads<'a>(site: &Site, fabric: &'a Fabric, wanted: &Wanted) -> Vec<Workload<'a>> {
    let of = |vm: &'a Vm| {
        let (index, ordinal) = site.numbering.index_of_vmid(vm.vmid).filter(|_| !vm.template)?;
        let subnet = site.numbering.subnet(index);
        let leg = fabric.legs.iter().find(|leg| leg.subnet == subnet)?;
        let (tenant, name) = (leg.zone.as_str(), vm.name.as_deref()?);
        let label = label(tenant, name);
        let address = site.numbering.workload_address(index, ordinal)?;
        let workload = Workload { vm, tenant, label, address };
        wanted.has_workload(tenant, label).then_some((ordinal, index, workload))
    };
    let mut all: Vec<_> = fabric.vms.iter().filter_map(of).collect();
    all.sort_by_key(|(ordinal, index, _)| (*ordinal, *index));
    all.into_iter().map(|(.., workload)| workload).collect()
}

/// Forward and reverse zone of a tenant.
pub(super) fn zones_of(site: &Site, leg: &Leg) -> impl Iterator<Item = String> + use<> {
    let index = site.numbering.index_of_address(leg.subnet.network());
    let reverse = index.map(|index| site.numbering.reverse_zone(index));
    [Some(format!("{}.{}", leg.zone, site.domain)), reverse].into_iter().flatten()
}

/// Forward and reverse zones of the tenants in scope.
fn zones(site: &Site, fabric: &Fabric, wanted: &Wanted) -> BTreeSet<String> {
    fabric.legs.iter().filter(|leg| wanted.has(&leg.zone)).flat_map(|leg| zones_of(site, leg)).collect()
}

/// Reads PowerDNS and asks about the names in scope.
pub(super) async fn read(
    site: &Site,
    clients: &Clients,
    wanted: &Wanted,
    fabric: impl Future<Output = Arc<Fabric>> + Clone,
    sink: &Sink,
) {
    let api = async {
        if let (Some(dns), Some(access)) = (&site.powerdns, &clients.powerdns) {
            match access {
                Ok(access) => api(site, dns, access, wanted, fabric.clone(), sink).await,
                Err(why) => sink.unasked(&server_name(dns.dns), "GET /api/v1/servers", why),
            }
        }
    };
    let ports = async {
        if wanted.check.names() && wanted.check != Check::Access {
            let fabric = fabric.clone().await;
            tokio::join!(
                authority(site, &fabric, wanted, sink),
                resolver(site, &fabric, wanted, sink),
                from_vrfs(site, clients, &fabric, wanted, sink)
            );
        }
    };
    tokio::join!(api, ports);
}

async fn api(
    site: &Site,
    dns: &PowerDnsSite,
    access: &DnsClient,
    wanted: &Wanted,
    fabric: impl Future<Output = Arc<Fabric>>,
    sink: &Sink,
) {
    let from = server_name(dns.dns);
    let client = match access {
        DnsClient::Queries => return,
        DnsClient::Api(client) => client.clone(),
        DnsClient::Tunnel { key, ssh } => {
            let key = Zeroizing::new(key.expose().to_owned());
            let limits = Limits { total: DEADLINE, ..Limits::default() };
            match Client::connect(dns, key, limits, ssh, DEADLINE).await {
                Ok(client) => client,
                Err(why) => return sink.unanswered(&from, "GET /api/v1/servers", &why.to_string()),
            }
        }
    };
    let client = client.recorded(sink.recorder(&from));
    // First and alone: with a wrong key it is one refusal.
    if client.servers().await.is_err() || wanted.check == Check::Access {
        return;
    }
    drop(tokio::join!(client.settings(), client.zones(ZoneListing::Lean), client.tsig_keys()));
    let fabric = fabric.await;
    let zones = zones(site, &fabric, wanted);
    // A clause of the contract is about every record.
    let whole = wanted.tenant.is_some() || matches!(wanted.check, Check::Contract | Check::All);
    join_all(zones.iter().map(|zone| {
        let (client, zone) = (&client, Name::new(zone));
        async move {
            // Of all tenants the records are what the ports are asked about.
            let there = if whole { client.zone(&zone).await.is_ok() } else { client.zone_head(&zone).await.is_ok() };
            if there {
                drop(client.metadata(&zone).await);
            }
        }
    }))
    .await;
}

/// Names of the workloads in scope: all of one tenant, the first of each of all.
fn hosts(site: &Site, fabric: &Fabric, wanted: &Wanted) -> Vec<[Question; 2]> {
    let mut seen = BTreeSet::new();
    let chosen = workloads(site, fabric, wanted).into_iter();
    let chosen = chosen.filter(|w| wanted.tenant.is_some() || seen.insert(w.tenant));
    let own = |w: Workload<'_>| {
        let pointer = DnsName::reverse(IpAddr::V4(w.address));
        Some([(w.forward(site)?, RecordType::A), (pointer, RecordType::PTR)])
    };
    chosen.filter_map(own).collect()
}

fn apexes(site: &Site, fabric: &Fabric, wanted: &Wanted) -> Vec<DnsName> {
    zones(site, fabric, wanted).iter().filter_map(|zone| zone.parse().ok()).collect()
}

async fn authority(site: &Site, fabric: &Fabric, wanted: &Wanted, sink: &Sink) {
    let Some(dns) = &site.powerdns else { return };
    let apex = |zone: DnsName| [(zone.clone(), RecordType::SOA), (zone, RecordType::NS)];
    let mut all: Vec<Question> = apexes(site, fabric, wanted).into_iter().flat_map(apex).collect();
    all.extend(hosts(site, fabric, wanted).into_iter().flatten());
    if all.is_empty() {
        // Nobody's zone is known: whether it answers at all.
        all.extend(site.domain.parse().ok().map(|name| (name, RecordType::SOA)));
    }
    let name = server_name(dns.dns);
    questions::ask(&Server { name: &name, at: dns.dns, resolver: false }, all, sink).await;
}

async fn resolver(site: &Site, fabric: &Fabric, wanted: &Wanted, sink: &Sink) {
    let Some(resolvers) = &site.resolvers else { return };
    // A resolver knows that name by itself: it tells a dead one from one whose sources are.
    let mut all: Vec<Question> = "localhost".parse().ok().map(|name| (name, RecordType::A)).into_iter().collect();
    all.extend(apexes(site, fabric, wanted).into_iter().map(|zone| (zone, RecordType::SOA)));
    all.extend(hosts(site, fabric, wanted).into_iter().flatten());
    let name = resolvers.perimeter.to_string();
    questions::ask(&Server { name: &name, at: resolvers.ask, resolver: true }, all, sink).await;
}

/// The same from inside the tenants' VRFs, of the perimeter by way of each exit node.
async fn from_vrfs(site: &Site, clients: &Clients, fabric: &Fabric, wanted: &Wanted, sink: &Sink) {
    if site.resolvers.is_none() {
        return;
    }
    join_all(clients.exit_nodes.iter().filter_map(|(node, client)| {
        let (client, about) = (client.as_ref().ok()?, site.exit_nodes.iter().find(|e| e.name == *node)?);
        let mut all: Vec<InVrf> = Vec::new();
        let tenants: BTreeSet<&str> = fabric
            .legs
            .iter()
            .filter(|leg| wanted.has(&leg.zone) && leg.exits.contains(node))
            .map(|leg| leg.zone.as_str())
            .collect();
        for tenant in tenants {
            let own = Wanted { tenant: Some(tenant.to_owned()), ..wanted.clone() };
            let vrf = format!("vrf_{tenant}");
            let most = if wanted.tenant.is_some() { FROM_VRF } else { 1 };
            let mut names: Vec<Question> =
                hosts(site, fabric, &own).into_iter().take(most).map(|[forward, _]| forward).collect();
            // A tenant without workloads has its zone at least.
            let zone = format!("{tenant}.{}", site.domain).parse().ok().map(|zone| (zone, RecordType::SOA));
            names.extend(zone.filter(|_| names.is_empty()));
            for name in names {
                let question = VrfQuestion::new(&vrf, about.transit_gateway, name.0.clone(), name.1);
                all.extend(question.ok().map(|question| (vrf.clone(), question, name)));
            }
        }
        Some(async move {
            for round in all.chunks(MAX_QUESTIONS) {
                from_vrf(node, client, &about.transit_gateway.to_string(), round, sink).await;
            }
        })
    }))
    .await;
}

/// A VRF, what is asked from inside it, and the same in plain.
type InVrf = (String, VrfQuestion, Question);

async fn from_vrf(node: &str, client: &exit_node_client::Client, server: &str, round: &[InVrf], sink: &Sink) {
    let asked: Vec<VrfQuestion> = round.iter().map(|(_, question, _)| question.clone()).collect();
    let answers = match client.probe_dns(DEADLINE, &asked).await {
        Ok(answers) => answers,
        Err(why) => return exit_node::unread(node, "deevnet-exit-node probe dns", &why.to_string(), sink),
    };
    for ((vrf, _, (name, kind)), answer) in round.iter().zip(answers) {
        let outcome = match answer {
            Ok(answer) => Ok(answer),
            Err(VrfFailure::Dns { failure, .. }) => Err(failure),
            // It was not asked, which says nothing about names.
            Err(_) => continue,
        };
        questions::keep(server, Some(vrf), (name, *kind), false, &outcome, sink);
    }
}
