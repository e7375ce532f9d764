//! PowerDNS, its DNS port, and the resolvers.

use std::net::{IpAddr, SocketAddr};

use tokio::net::UdpSocket;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::{Options, closed, secret};
use crate::backends::dns::system::SystemResolver;
use crate::backends::dns::{self, DnsName, Query, Rcode, RecordType};
use crate::backends::exit_node::transport::SshOptions;
use crate::backends::powerdns::{Client, Error, ZoneListing};
use crate::diagnose::access::facts::{
    Asked, Fault, FaultKind, PowerDnsApi, PowerDnsFacts, ProxmoxFacts, SecretFacts, ServiceFacts, Tried,
};
use crate::site::Site;
use crate::site::model::{PowerDnsMode, PowerDnsSite};

/// Everything about PowerDNS.
pub(super) async fn powerdns(site: &Site, dns: &PowerDnsSite, options: &Options<'_>) -> PowerDnsFacts {
    let began = Instant::now();
    let domain = site.domain.parse::<DnsName>().ok();
    let first = async {
        match &domain {
            Some(name) => Some(soa(dns.dns, name.clone(), options).await),
            None => None,
        }
    };
    let (api, first) = tokio::join!(api(dns, options), first);
    let mut authority: Vec<Asked> = first.into_iter().collect();
    let zones = api.as_ref().and_then(|api| api.zones.got());
    let below = |zone: &&String| zone.trim_end_matches('.').ends_with(&format!(".{}", site.domain));
    if wants_a_zone(&authority)
        && let Some(zone) = zones.and_then(|zones| zones.iter().find(below)).and_then(|zone| zone.parse().ok())
    {
        authority.push(soa(dns.dns, zone, options).await);
    }
    PowerDnsFacts { api, authority, took: began.elapsed() }
}

/// Asks the authoritative server for the zone of a tenant that Proxmox has, where no other zone was found to ask for.
pub(super) async fn ask_for_a_tenant(
    site: &Site,
    dns: &PowerDnsSite,
    proxmox: &ProxmoxFacts,
    seen: &mut PowerDnsFacts,
    options: &Options<'_>,
) {
    if !wants_a_zone(&seen.authority) {
        return;
    }
    let ours = |vni: Option<u32>| vni.is_some_and(|vni| site.numbering.index_of_vrf_vni(vni).is_some());
    let tenant = proxmox.zones.got().and_then(|zones| zones.iter().find(|zone| ours(zone.vrf_vxlan)));
    if let Some(zone) = tenant.and_then(|tenant| format!("{}.{}", tenant.zone, site.domain).parse().ok()) {
        seen.authority.push(soa(dns.dns, zone, options).await);
    }
}

/// Whether the server answers, and none of its own zones was asked for yet.
fn wants_a_zone(asked: &[Asked]) -> bool {
    asked.iter().all(|a| a.answer.got().is_some()) && !asked.iter().any(holds)
}

/// Whether the server answered for a zone of its own.
fn holds(asked: &Asked) -> bool {
    asked.answer.got().is_some_and(|a| a.rcode == Rcode::NOERROR && !a.values(RecordType::SOA).is_empty())
}

async fn soa(server: SocketAddr, name: DnsName, options: &Options<'_>) -> Asked {
    let query = Query::of_authority(server, name.clone(), RecordType::SOA);
    Asked { server: Some(server), name, answer: Tried::of(dns::ask(&query, options.clock).await) }
}

async fn api(dns: &PowerDnsSite, options: &Options<'_>) -> Option<PowerDnsApi> {
    let (url, source) = match (dns.mode, &dns.url, &dns.api_key) {
        (PowerDnsMode::DnsOnly, ..) | (_, None, _) | (_, _, None) => return None,
        (_, Some(url), Some(source)) => (url, source),
    };
    let began = Instant::now();
    let look = async {
        match dns.mode {
            PowerDnsMode::Tunnel => Tried::NotRun("it is seen from the far end of the tunnel only".to_owned()),
            _ => Tried::Got(options.look(url, &dns.trust).await),
        }
    };
    let (look, (secret, key), from) = tokio::join!(look, secret("api_key", source), own_address(url, options));
    let shut = look.got().and_then(closed);
    let not_run = |why: &str| Tried::NotRun(why.to_owned());
    let service = ServiceFacts {
        section: "powerdns",
        origin: url.clone(),
        trust: dns.trust.clone(),
        secrets: vec![secret],
        look,
        took: began.elapsed(),
    };
    let mut api = PowerDnsApi {
        service,
        tunnel: dns.tunnel.clone().filter(|_| dns.mode == PowerDnsMode::Tunnel),
        from,
        server: not_run("not asked"),
        settings: Tried::NotRun("not asked".to_owned()),
        zones: Tried::NotRun("not asked".to_owned()),
    };
    match (shut, key) {
        (Some(why), _) => say_not_run(&mut api, &why, true),
        (None, None) => say_not_run(&mut api, "there is no key", true),
        (None, Some(key)) => ask(&mut api, dns, key, options).await,
    }
    api.service.took = began.elapsed();
    Some(api)
}

fn say_not_run(api: &mut PowerDnsApi, why: &str, all: bool) {
    if all {
        api.server = Tried::NotRun(why.to_owned());
    }
    api.settings = Tried::NotRun(why.to_owned());
    api.zones = Tried::NotRun(why.to_owned());
}

async fn ask(api: &mut PowerDnsApi, dns: &PowerDnsSite, key: Zeroizing<String>, options: &Options<'_>) {
    let client = match Client::connect(dns, key, options.limits(), &SshOptions::default(), options.wait).await {
        Ok(client) => client,
        Err(error) => {
            say_not_run(api, "the API cannot be asked", true);
            let fault = Fault::from(&error);
            match api.service.secrets.first_mut() {
                Some(SecretFacts { fault: slot, .. }) if matches!(error, Error::BadKey(_)) => *slot = Some(fault),
                _ => api.server = Tried::Failed(fault),
            }
            return;
        }
    };
    api.server = Tried::of(client.server().await);
    match &api.server {
        Tried::Got(_) => {}
        Tried::Failed(Fault { kind: FaultKind::Credential, .. }) => {
            return say_not_run(api, "the key is not accepted", false);
        }
        _ => return say_not_run(api, "the API does not answer", false),
    }
    let (settings, zones) = tokio::join!(client.settings(), client.zones(ZoneListing::Lean));
    api.settings = Tried::of(settings);
    api.zones = Tried::of(zones.map(|rows| rows.into_iter().map(|zone| zone.name.absolute()).collect()));
}

/// The address that this host shows to `url`'s host: what an access list there has to name. Sends nothing.
async fn own_address(url: &str, options: &Options<'_>) -> Option<IpAddr> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    let port = url.port_or_known_default()?;
    let looked = tokio::time::timeout(options.wait, tokio::net::lookup_host((host, port))).await.ok()?.ok()?;
    let target = looked.into_iter().next()?;
    let any = if target.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any).await.ok()?;
    socket.connect(target).await.ok()?;
    socket.local_addr().ok().map(|local| local.ip())
}

/// The perimeter's resolver, the substrate's and this host's, each asked for the SOA of the site's domain.
pub(super) async fn resolvers(site: &Site, options: &Options<'_>) -> Vec<(&'static str, Asked)> {
    let Ok(name) = site.domain.parse::<DnsName>() else { return Vec::new() };
    let recursive = |server: SocketAddr| {
        let name = name.clone();
        async move {
            let query = Query::new(server, name.clone(), RecordType::SOA);
            Asked { server: Some(server), name, answer: Tried::of(dns::ask(&query, options.clock).await) }
        }
    };
    let perimeter = super::when(site.resolvers.as_ref().map(|r| recursive(r.ask)));
    let substrate = site.resolvers.as_ref().and_then(|r| r.substrate).map(|ip| SocketAddr::new(ip, 53));
    let substrate = super::when(substrate.map(recursive));
    let host = async {
        let resolver = match &options.resolv_conf {
            Some(file) => SystemResolver::from_file(file),
            None => SystemResolver::from_system(),
        };
        let answer = match resolver {
            Ok(resolver) => Tried::of(resolver.ask(&name, RecordType::SOA, options.wait, options.clock).await),
            Err(failure) => Tried::Failed(Fault::from(&failure)),
        };
        Asked { server: None, name: name.clone(), answer }
    };
    let (perimeter, substrate, host) = tokio::join!(perimeter, substrate, host);
    let named = [("perimeter", perimeter), ("substrate", substrate), ("this host", Some(host))];
    named.into_iter().filter_map(|(who, asked)| Some((who, asked?))).collect()
}
