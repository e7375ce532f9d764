//! The vantage of this host's own programs: its hosts file, its servers in its order, its time-outs.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::config::{NameServerConfig, ResolverConfig, ResolverOpts, ServerOrderingStrategy};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::RecordType as WireType;
use hickory_resolver::{Resolver, TokioResolver, system_conf};

use super::ask::Clock;
use super::error::{Failure, Strays};
use super::model::{Answer, Rcode, RecordType, Via};
use super::name::DnsName;
use super::wire::{self, Around};
use crate::text;

/// The resolver of this host. It answers without header bits where an answer is negative: the library does not keep them.
pub struct SystemResolver {
    resolver: TokioResolver,
    servers: Vec<IpAddr>,
}

impl std::fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemResolver").field("servers", &self.servers).finish_non_exhaustive()
    }
}

impl SystemResolver {
    /// As `/etc/resolv.conf` says.
    ///
    /// # Errors
    /// [`Failure::System`] when it cannot be read or names no server.
    pub fn from_system() -> Result<Self, Failure> {
        let (config, options) = system_conf::read_system_conf().map_err(|e| system(&e))?;
        Self::build(config, options)
    }

    /// As the file at `path` says, in the format of `/etc/resolv.conf`.
    ///
    /// # Errors
    /// As [`SystemResolver::from_system`].
    pub fn from_file(path: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path).map_err(|e| Failure::System { why: format!("{}: {e}", path.display()) })?;
        let (config, options) = system_conf::parse_resolv_conf(bytes).map_err(|e| system(&e))?;
        Self::build(config, options)
    }

    /// With these servers on this port, in this order, without a hosts file.
    ///
    /// # Errors
    /// [`Failure::System`] when there is none.
    pub fn with_servers(servers: &[std::net::SocketAddr], wait: Duration) -> Result<Self, Failure> {
        let configs = servers
            .iter()
            .map(|server| {
                let mut config = NameServerConfig::udp_and_tcp(server.ip());
                for connection in &mut config.connections {
                    connection.port = server.port();
                }
                config
            })
            .collect();
        let mut options = ResolverOpts::default();
        options.timeout = wait;
        options.attempts = 0;
        options.use_hosts_file = hickory_resolver::config::ResolveHosts::Never;
        Self::build(ResolverConfig::from_parts(None, Vec::new(), configs), options)
    }

    fn build(config: ResolverConfig, mut options: ResolverOpts) -> Result<Self, Failure> {
        // As the C library does it: one server after another, in the order of the file, and nothing kept.
        options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
        options.num_concurrent_reqs = 1;
        options.cache_size = 0;
        options.preserve_intermediates = true;
        let servers: Vec<IpAddr> = config.name_servers().iter().map(|server| server.ip).collect();
        if servers.is_empty() {
            return Err(Failure::System { why: "no server is configured".to_owned() });
        }
        let builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default()).with_options(options);
        Ok(Self { resolver: builder.build().map_err(|e| system(&e))?, servers })
    }

    /// The servers it asks, in this order.
    #[must_use]
    pub fn servers(&self) -> &[IpAddr] {
        &self.servers
    }

    /// Asks for `name`, which is absolute: no search list is applied.
    ///
    /// # Errors
    /// [`Failure::System`] when no server answered within `limit`.
    pub async fn ask(
        &self,
        name: &DnsName,
        kind: RecordType,
        limit: Duration,
        clock: Clock<'_>,
    ) -> Result<Answer, Failure> {
        let began = clock();
        let wire =
            wire::wire_name(name).map_err(|why| Failure::Local { what: "the question cannot be written", why })?;
        let lookup = tokio::time::timeout(limit, self.resolver.lookup(wire, WireType::from(kind.0))).await;
        let took = clock().duration_since(began).try_into().unwrap_or_default();
        match lookup {
            Err(_) => Err(Failure::System { why: format!("none within {} ms", limit.as_millis()) }),
            Ok(Ok(lookup)) => {
                let around = Around { bytes: 0, took, via: Via::Untold, strays: Strays::default() };
                Ok(Answer { bytes: None, ..wire::answer(lookup.message(), around) })
            }
            Ok(Err(NetError::Dns(DnsError::NoRecordsFound(none)))) => {
                let mut answer = without_records(Rcode(u16::from(none.response_code)), took);
                let authorities = none.authorities.unwrap_or_else(|| Arc::from([]));
                answer.authority = authorities.iter().map(wire::record).collect();
                if let (true, Some(soa)) = (answer.soa().is_none(), none.soa) {
                    answer.authority.push(wire::record(&soa.into_record_of_rdata()));
                }
                Ok(answer)
            }
            Ok(Err(NetError::Dns(DnsError::ResponseCode(code)))) => Ok(without_records(Rcode(u16::from(code)), took)),
            Ok(Err(other)) => Err(system(&other)),
        }
    }
}

const fn without_records(rcode: Rcode, took: Duration) -> Answer {
    Answer {
        rcode,
        flags: None,
        answers: Vec::new(),
        authority: Vec::new(),
        additional: Vec::new(),
        extended: Vec::new(),
        bytes: None,
        took,
        via: Via::Untold,
        strays: Strays { wrong_id: 0, wrong_question: 0, wrong_source: 0, no_header: 0 },
    }
}

fn system(error: &NetError) -> Failure {
    Failure::System { why: text::clean(&error.to_string()).chars().take(240).collect() }
}
