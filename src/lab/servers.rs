//! The servers of the lab's second half: PowerDNS and the perimeter, each with an API and a DNS port; check-ins; the
//! registry.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::http::{self, Api};
use super::{LabError, Shared, dns};

/// Where the second half listens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addresses {
    /// PowerDNS over HTTP.
    pub(super) powerdns: SocketAddr,
    /// PowerDNS over DNS.
    pub(super) authoritative: SocketAddr,
    /// OPNsense.
    pub(super) opnsense: SocketAddr,
    /// The perimeter's resolver.
    pub(super) resolver: SocketAddr,
    /// Check-ins.
    pub(super) bootstrap: SocketAddr,
    /// The registry.
    pub(super) registry: SocketAddr,
}

/// A free port of loopback.
///
/// # Errors
/// When there is none.
pub(super) async fn listen() -> Result<(TcpListener, SocketAddr), LabError> {
    let failed = || LabError::io("cannot listen on", Path::new("127.0.0.1"));
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed())?;
    let address = listener.local_addr().map_err(failed())?;
    Ok((listener, address))
}

/// Starts the servers of PowerDNS, the perimeter, check-ins and the registry.
///
/// # Errors
/// When a port cannot be had.
pub(super) async fn second_half(
    shared: &Arc<Shared>,
    tls: TlsAcceptor,
    stopped: &watch::Receiver<bool>,
    servers: &mut Vec<JoinHandle<()>>,
) -> Result<Addresses, LabError> {
    let failed = || LabError::io("no free port on", Path::new("127.0.0.1"));
    let (names, powerdns) = listen().await?;
    let (rules, opnsense) = listen().await?;
    let authority = dns::bind().await.map_err(failed())?;
    let cache = dns::bind().await.map_err(failed())?;
    let (checkins, bootstrap) = listen().await?;
    let (tenants, registry) = listen().await?;
    let (authoritative, resolver) = (authority.address, cache.address);
    let at = Addresses { powerdns, authoritative, opnsense, resolver, bootstrap, registry };
    let api = |api, listener, tls| tokio::spawn(http::serve(api, listener, tls, Arc::clone(shared), stopped.clone()));
    let dns = |sockets, role| tokio::spawn(dns::serve(sockets, role, Arc::clone(shared), stopped.clone()));
    servers.push(api(Api::PowerDns, names, None));
    servers.push(api(Api::Opnsense, rules, Some(tls.clone())));
    servers.push(api(Api::Bootstrap, checkins, Some(tls.clone())));
    servers.push(api(Api::Registry, tenants, Some(tls)));
    servers.push(dns(authority, dns::Role::Authoritative));
    servers.push(dns(cache, shared.resolver.clone()));
    Ok(at)
}
