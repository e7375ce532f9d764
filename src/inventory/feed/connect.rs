//! From a site to clients: secrets are read, certificates loaded. What fails becomes the source's error; the rest goes on.

use zeroize::Zeroizing;

use super::{Clients, DEADLINE, Unusable};
use crate::backends::{exit_node, http, proxmox};
use crate::site::Site;

impl Clients {
    /// Makes the clients of `site`. Never fails as a whole: a source that cannot be used says why.
    pub async fn connect(site: &Site) -> Self {
        let exit_nodes = site.exit_nodes.iter().map(|e| (e.name.clone(), Ok(exit_node::Client::new(e)))).collect();
        Self { proxmox: proxmox_client(site).await, exit_nodes }
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
