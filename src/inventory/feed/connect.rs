//! From a site to clients: secrets are read, certificates loaded. What fails becomes the source's error; the rest goes on.

use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use super::dns::limits;
use super::{Clients, DEADLINE, DnsClient, Unusable};
use crate::backends::{bootstrap, exit_node, http, opnsense, powerdns, proxmox, registry};
use crate::site::model::{BootstrapSite, OpnsenseSite, PowerDnsMode, PowerDnsSite, RegistrySite, SecretSource};
use crate::site::scrub::Known;
use crate::site::{Secret, Site};

/// Bytes of one page of check-ins: 500 records with every report that is kept of them.
const RECORDS_BODY: usize = 8 << 20;
/// Bytes of one list of the registry: 62 tenants with all their steps are a few dozen kB.
const REGISTRY_BODY: usize = 1 << 20;

impl Clients {
    /// Makes the clients of `site`. Never fails as a whole: a source that cannot be used says why.
    pub async fn connect(site: &Site) -> Self {
        let exit_nodes = site.exit_nodes.iter().map(|e| (e.name.clone(), Ok(exit_node::Client::new(e)))).collect();
        let read = Secrets::default();
        let names = async {
            match &site.powerdns {
                Some(dns) => Some(dns_client(dns, &read).await),
                None => None,
            }
        };
        let perimeter = async {
            match &site.opnsense {
                Some(section) => Some(opnsense_client(section, &read).await),
                None => None,
            }
        };
        let checkins = async {
            match &site.bootstrap {
                Some(section) => Some(bootstrap_client(section, &read).await),
                None => None,
            }
        };
        let tenants = async {
            match &site.registry {
                Some(section) => Some(registry_client(section, &read).await),
                None => None,
            }
        };
        let (proxmox, powerdns, opnsense, bootstrap, registry) =
            tokio::join!(proxmox_client(site, &read), names, perimeter, checkins, tenants);
        Self { proxmox, exit_nodes, powerdns, opnsense, bootstrap, registry, known: read.known() }
    }
}

/// Secrets as they are read, to be recognised where they must not be.
#[derive(Default)]
struct Secrets(Mutex<Vec<Secret>>);

impl Secrets {
    /// Reads a secret; `key` names it in the site file.
    async fn read(&self, source: &SecretSource, key: &str) -> Result<Zeroizing<String>, Unusable> {
        match source.read().await {
            Ok(secret) => {
                self.remember(secret.clone());
                Ok(Zeroizing::new(secret.expose().to_owned()))
            }
            Err(e) => Err(Unusable { text: format!("{key}: {e}"), help: Some(e.help().to_owned()) }),
        }
    }

    fn remember(&self, secret: Secret) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(secret);
    }

    fn known(&self) -> Known {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Of a token of Proxmox VE the part up to the last equals sign is its name.
        let proof = |secret: &str| match secret.split_once('!') {
            Some((_, rest)) if rest.contains('=') => secret.rfind('=').map_or(0, |at| at + 1),
            _ => 0,
        };
        Known::of(all.iter().map(Secret::expose).filter_map(|secret| secret.get(proof(secret)..)))
    }
}

async fn bootstrap_client(site: &BootstrapSite, read: &Secrets) -> Result<bootstrap::Client, Unusable> {
    let (url, trust, credential) = match site {
        BootstrapSite::File(path) => return Ok(bootstrap::Client::file(path)),
        BootstrapSite::Api { url, trust, credential } => (url, trust, credential),
    };
    let credential = read.read(credential, "[bootstrap] credential").await?;
    let limits = http::Limits { total: DEADLINE.unsigned_abs(), body: RECORDS_BODY, ..http::Limits::default() };
    bootstrap::Client::api(url, trust, credential, limits)
        .map_err(|e| Unusable { text: format!("[bootstrap] {e}"), help: Some(e.help()) })
}

async fn registry_client(site: &RegistrySite, read: &Secrets) -> Result<registry::Client, Unusable> {
    let token = read.read(&site.token, "[registry] token").await?;
    let limits = http::Limits { total: DEADLINE.unsigned_abs(), body: REGISTRY_BODY, ..http::Limits::default() };
    registry::Client::new(site, token, limits)
        .map_err(|e| Unusable { text: format!("[registry] {e}"), help: Some(e.help()) })
}

async fn proxmox_client(site: &Site, read: &Secrets) -> Result<proxmox::Client, Unusable> {
    let token = read.read(&site.proxmox.token, "[proxmox] token").await?;
    let limits = http::Limits { total: DEADLINE.unsigned_abs(), ..http::Limits::default() };
    proxmox::Client::new(&site.proxmox, token, limits)
        .map_err(|e| Unusable { text: format!("[proxmox] {e}"), help: Some(e.help()) })
}

/// Reads the key and makes the client; connects to nobody.
async fn dns_client(dns: &PowerDnsSite, read: &Secrets) -> Result<DnsClient, Unusable> {
    if dns.mode == PowerDnsMode::DnsOnly {
        return Ok(DnsClient::Queries);
    }
    let missing = || Unusable {
        text: "[powerdns] has no api_key".to_owned(),
        help: Some("Name the API's key, or set mode = \"dns-only\".".to_owned()),
    };
    let key = read.read(dns.api_key.as_ref().ok_or_else(missing)?, "[powerdns] api_key").await?;
    if dns.mode == PowerDnsMode::Tunnel {
        let key = Secret::new(key.as_str().to_owned());
        return Ok(DnsClient::Tunnel { key, ssh: exit_node::transport::SshOptions::default() });
    }
    powerdns::Client::new(dns, key, limits())
        .map(DnsClient::Api)
        .map_err(|e| Unusable { text: format!("[powerdns] {e}"), help: Some(e.help()) })
}

async fn opnsense_client(section: &OpnsenseSite, read: &Secrets) -> Result<opnsense::Client, Unusable> {
    let key = read.read(&section.key, "[opnsense] key").await?;
    let secret = read.read(&section.secret, "[opnsense] secret").await?;
    // As Basic authentication sends both; short ones are recognised together.
    read.remember(Secret::new(format!("{}:{}", key.as_str(), secret.as_str())));
    let limits = http::Limits { total: DEADLINE.unsigned_abs(), ..http::Limits::default() };
    opnsense::Client::new(section, &key, &secret, limits, opnsense::Pace::default())
        .map_err(|e| Unusable { text: format!("[opnsense] {e}"), help: Some(e.help()) })
}
