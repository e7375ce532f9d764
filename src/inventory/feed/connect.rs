//! From a site to clients: secrets are read, certificates loaded. What fails becomes the source's error; the rest goes on.

use zeroize::Zeroizing;

use super::{Clients, DEADLINE, Unusable};
use crate::backends::{exit_node, http, opnsense, proxmox};
use crate::site::Site;
use crate::site::model::{OpnsenseSite, SecretSource};

impl Clients {
    /// Makes the clients of `site`. Never fails as a whole: a source that cannot be used says why.
    pub async fn connect(site: &Site) -> Self {
        let exit_nodes = site.exit_nodes.iter().map(|e| (e.name.clone(), Ok(exit_node::Client::new(e)))).collect();
        let opnsense = match &site.opnsense {
            Some(section) => Some(opnsense_client(section).await),
            None => None,
        };
        Self { proxmox: proxmox_client(site).await, opnsense, exit_nodes }
    }
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
