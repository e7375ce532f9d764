//! Asking everybody at once. No place waits for another, and each step has its own bound.

mod names;
mod perimeter;
pub mod proxmox;

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::facts::{ExitFacts, Facts, Fault, FaultKind, SecretFacts, ServiceFacts, Tried};
use crate::backends::dns::{DnsName, RecordType};
use crate::backends::exit_node::{Client as ExitClient, VrfQuestion};
use crate::backends::http::{self, Limits, Look, Wait};
use crate::site::Site;
use crate::site::model::{BootstrapSite, ExitNodeSite, SecretSource, Transport, Trust};

/// How the checks are made.
pub struct Options<'a> {
    /// Longest time of one step; a place takes a few steps.
    pub wait: Duration,
    /// Tells the time.
    pub clock: &'a (dyn Fn() -> Timestamp + Send + Sync),
    /// Another file than `/etc/resolv.conf` for this host's resolver.
    pub resolv_conf: Option<std::path::PathBuf>,
}

impl Options<'_> {
    fn limits(&self) -> Limits {
        Limits { connect: self.wait, total: self.wait, ..Limits::default() }
    }

    async fn look(&self, origin: &str, trust: &Trust) -> Look {
        http::look(origin, trust, Wait(self.wait), self.clock).await
    }
}

/// Asks everybody.
pub async fn collect(site: &Site, options: &Options<'_>) -> Facts {
    let at = (options.clock)();
    let exit_nodes = join_all(site.exit_nodes.iter().map(|node| exit_node(node, &site.domain, options)));
    let (bootstrap, records) = match &site.bootstrap {
        Some(BootstrapSite::Api { url, trust, credential }) => {
            (Some(service_alone(("bootstrap", "credential"), url, trust, credential, options)), None)
        }
        Some(BootstrapSite::File(path)) => (None, Some((path.clone(), size(path)))),
        None => (None, None),
    };
    let registry =
        site.registry.as_ref().map(|r| service_alone(("registry", "token"), &r.url, &r.trust, &r.token, options));
    let (proxmox, exit_nodes, mut powerdns, opnsense, resolvers, bootstrap, registry) = tokio::join!(
        proxmox::facts(&site.proxmox, options),
        exit_nodes,
        when(site.powerdns.as_ref().map(|dns| names::powerdns(site, dns, options))),
        when(site.opnsense.as_ref().map(|fw| perimeter::facts(fw, options))),
        names::resolvers(site, options),
        when(bootstrap),
        when(registry),
    );
    if let (Some(seen), Some(dns)) = (&mut powerdns, &site.powerdns) {
        names::ask_for_a_tenant(site, dns, &proxmox, seen, options).await;
    }
    Facts { at, proxmox, exit_nodes, powerdns, opnsense, resolvers, bootstrap, records, registry }
}

/// Bytes of a file that can be read.
fn size(path: &Path) -> Result<u64, String> {
    let size = std::fs::File::open(path).and_then(|file| file.metadata()).map(|facts| facts.len());
    size.map_err(|error| error.to_string())
}

async fn when<T>(work: Option<impl Future<Output = T>>) -> Option<T> {
    match work {
        Some(work) => Some(work.await),
        None => None,
    }
}

/// Reads a secret; what was seen of it, and the secret itself for the one client that sends it.
async fn secret(key: &'static str, source: &SecretSource) -> (SecretFacts, Option<Zeroizing<String>>) {
    let read = source.read().await;
    let fault = read.as_ref().err().map(Fault::from);
    let facts = SecretFacts { key, source: crate::text::clean(&format!("{source:?}")).into_owned(), fault };
    (facts, read.ok().map(|secret| Zeroizing::new(secret.expose().to_owned())))
}

/// Why no credential is sent after this look, if so.
fn closed(look: &Look) -> Option<String> {
    if let Some(Err(_)) = look.lookup {
        return Some("its name does not resolve".to_owned());
    }
    if let Some(Err(_)) = look.connect {
        return Some("it cannot be reached".to_owned());
    }
    match &look.tls {
        Some(Err(_)) => Some("there is no TLS connection".to_owned()),
        Some(Ok(seen)) if seen.verdict.is_err() => {
            Some("its certificate is not trusted, so nothing is sent".to_owned())
        }
        _ => None,
    }
}

/// A service whose API is not spoken here: reach, trust and status only.
async fn service_alone(
    (section, key): (&'static str, &'static str),
    origin: &str,
    trust: &Trust,
    source: &SecretSource,
    options: &Options<'_>,
) -> ServiceFacts {
    let began = Instant::now();
    let (look, (secret, _)) = tokio::join!(options.look(origin, trust), secret(key, source));
    ServiceFacts {
        section,
        origin: origin.to_owned(),
        trust: trust.clone(),
        secrets: vec![secret],
        look: Tried::Got(look),
        took: began.elapsed(),
    }
}

fn how(transport: &Transport) -> String {
    match transport {
        Transport::Ssh(destination) => format!("ssh {destination}"),
        Transport::Command(argv) => format!("command {}", argv.first().map_or("", String::as_str)),
    }
}

async fn exit_node(node: &ExitNodeSite, domain: &str, options: &Options<'_>) -> ExitFacts {
    let client = ExitClient::new(node);
    let before = (options.clock)();
    let began = Instant::now();
    let reading = client.read(options.wait, &[]).await;
    let (took, after) = (began.elapsed(), (options.clock)());
    let vrf = match &reading {
        Ok(reading) => match reading.vrf_routes.keys().next() {
            Some(vrf) => Some((vrf.clone(), vantage(&client, vrf, node, domain, options).await)),
            None => None,
        },
        Err(_) => None,
    };
    let reading = match reading {
        Ok(reading) => Tried::Got(std::sync::Arc::new(reading)),
        Err(error) => Tried::Failed(Fault::from(&error)),
    };
    ExitFacts { node: node.name.clone(), how: how(&node.transport), reading, ours: (before, after), took, vrf }
}

/// One question from inside `vrf`, as `resolve` asks it.
async fn vantage(
    client: &ExitClient,
    vrf: &str,
    node: &ExitNodeSite,
    domain: &str,
    options: &Options<'_>,
) -> Tried<crate::backends::dns::Answer> {
    let Ok(name) = domain.parse::<DnsName>() else {
        return Tried::NotRun("the site's domain cannot be asked for".to_owned());
    };
    let question = match VrfQuestion::new(vrf, node.transit_gateway, name, RecordType::SOA) {
        Ok(question) => question,
        Err(error) => return Tried::Failed(Fault::from(&error)),
    };
    match client.probe_dns(options.wait, &[question]).await {
        Err(error) => Tried::Failed(Fault::from(&error)),
        Ok(answers) => match answers.into_iter().next() {
            Some(answer) => Tried::of(answer),
            None => Tried::Failed(Fault {
                kind: FaultKind::Failed,
                why: "the node gave no answer".to_owned(),
                help: "ask again".to_owned(),
            }),
        },
    }
}
