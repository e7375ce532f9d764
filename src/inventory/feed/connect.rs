//! From a site to clients: secrets are read, certificates loaded. What fails becomes the source's error; the rest goes on.

use zeroize::Zeroizing;

use super::dns::limits;
use super::{Clients, DEADLINE, DnsClient, Unusable};
use crate::backends::{bootstrap, exit_node, http, opnsense, powerdns, proxmox, registry};
use crate::site::Site;
use crate::site::model::{BootstrapSite, OpnsenseSite, PowerDnsMode, PowerDnsSite, RegistrySite, SecretSource};

/// Bytes of one page of check-ins: 500 records with every report that is kept of them.
const RECORDS_BODY: usize = 8 << 20;
/// Bytes of one list of the registry: 62 tenants with all their steps are a few dozen kB.
const REGISTRY_BODY: usize = 1 << 20;

impl Clients {
    /// Makes the clients of `site`. Never fails as a whole: a source that cannot be used says why.
    pub async fn connect(site: &Site) -> Self {
        let exit_nodes = site.exit_nodes.iter().map(|e| (e.name.clone(), Ok(exit_node::Client::new(e)))).collect();
        let names = async {
            match &site.powerdns {
                Some(dns) => Some(dns_client(dns).await),
                None => None,
            }
        };
        let perimeter = async {
            match &site.opnsense {
                Some(section) => Some(opnsense_client(section).await),
                None => None,
            }
        };
        let checkins = async {
            match &site.bootstrap {
                Some(section) => Some(bootstrap_client(section).await),
                None => None,
            }
        };
        let tenants = async {
            match &site.registry {
                Some(section) => Some(registry_client(section).await),
                None => None,
            }
        };
        let (proxmox, powerdns, opnsense, bootstrap, registry) =
            tokio::join!(proxmox_client(site), names, perimeter, checkins, tenants);
        Self { proxmox, exit_nodes, powerdns, opnsense, bootstrap, registry }
    }
}

/// Reads a secret; `key` names it in the site file.
async fn secret(source: &SecretSource, key: &str) -> Result<Zeroizing<String>, Unusable> {
    match source.read().await {
        Ok(secret) => Ok(Zeroizing::new(secret.expose().to_owned())),
        Err(e) => Err(Unusable { text: format!("{key}: {e}"), help: Some(e.help().to_owned()) }),
    }
}

async fn bootstrap_client(site: &BootstrapSite) -> Result<bootstrap::Client, Unusable> {
    let (url, trust, credential) = match site {
        BootstrapSite::File(path) => return Ok(bootstrap::Client::file(path)),
        BootstrapSite::Api { url, trust, credential } => (url, trust, credential),
    };
    let credential = secret(credential, "[bootstrap] credential").await?;
    let limits = http::Limits { total: DEADLINE.unsigned_abs(), body: RECORDS_BODY, ..http::Limits::default() };
    bootstrap::Client::api(url, trust, credential, limits)
        .map_err(|e| Unusable { text: format!("[bootstrap] {e}"), help: Some(e.help()) })
}

async fn registry_client(site: &RegistrySite) -> Result<registry::Client, Unusable> {
    let token = secret(&site.token, "[registry] token").await?;
    let limits = http::Limits { total: DEADLINE.unsigned_abs(), body: REGISTRY_BODY, ..http::Limits::default() };
    registry::Client::new(site, token, limits)
        .map_err(|e| Unusable { text: format!("[registry] {e}"), help: Some(e.help()) })
}

async fn proxmox_client(site: &Site) -> Result<proxmox::Client, Unusable> {
    let secret = site
        .proxmox
        .token
        .read()
        .await
        .map_err(|e| Unusable { text: format!("[proxmox] token: {e}"), help: Some(e.help().to_owned()) })?;
    let token = Zeroizing::new(secret.expose().to_owned());
    let limits = http::Limits { total: DEADLINE.unsigned_abs(), ..http::Limits::default() };
    proxmox::Client::new(&site.proxmox, token, limits)
        .map_err(|e| Unusable { text: format!("[proxmox] {e}"), help: Some(e.help()) })
}

/// Reads the key and makes the client; connects to nobody.
async fn dns_client(dns: &PowerDnsSite) -> Result<DnsClient, Unusable> {
    if dns.mode == PowerDnsMode::DnsOnly {
        return Ok(DnsClient::Queries);
    }
    let missing = || Unusable {
        text: "[powerdns] has no api_key".to_owned(),
        help: Some("Name the API's key, or set mode = \"dns-only\".".to_owned()),
    };
    let secret = dns
        .api_key
        .as_ref()
        .ok_or_else(missing)?
        .read()
        .await
        .map_err(|e| Unusable { text: format!("[powerdns] api_key: {e}"), help: Some(e.help().to_owned()) })?;
    if dns.mode == PowerDnsMode::Tunnel {
        return Ok(DnsClient::Tunnel { key: secret, ssh: exit_node::transport::SshOptions::default() });
    }
    let key = Zeroizing::new(secret.expose().to_owned());
    powerdns::Client::new(dns, key, limits())
        .map(DnsClient::Api)
        .map_err(|e| Unusable { text: format!("[powerdns] {e}"), help: Some(e.help()) })
}

async fn opnsense_client(section: &OpnsenseSite) -> Result<opnsense::Client, Unusable> {
    let read = async |what: &str, source: &SecretSource| {
        let secret = source.read().await;
        secret
            .map(|s| Zeroizing::new(s.expose().to_owned()))
            .map_err(|e| Unusable { text: format!("[opnsense] {what}: {e}"), help: Some(e.help().to_owned()) })
    };
    let (key, secret) = (read("key", &section.key).await?, read("secret", &section.secret).await?);
    let limits = http::Limits { total: DEADLINE.unsigned_abs(), ..http::Limits::default() };
    opnsense::Client::new(section, &key, &secret, limits, opnsense::Pace::default())
        .map_err(|e| Unusable { text: format!("[opnsense] {e}"), help: Some(e.help()) })
}
