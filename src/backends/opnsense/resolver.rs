//! Unbound: forwards, and what decides which answers get through (facts/opnsense.md §9).

use super::client::{Call, Client};
use super::endpoints;
use super::error::Error;
use super::model::{AccessList, Forward, ForwardKind, ResolverSettings, ServiceState};
use super::wire::{Read, Row};

impl Client {
    /// All forwards, plain ones and those over TLS: a domain in the wrong list is not exempt from rebind protection.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn forwards(&self) -> Result<Vec<Forward>, Error> {
        let mut forwards = self.search(&endpoints::FORWARDS, "", &[], |row| forward(row, ForwardKind::Forward)).await?;
        forwards.extend(self.search(&endpoints::DOTS, "", &[], |row| forward(row, ForwardKind::Dot)).await?);
        Ok(forwards)
    }

    /// The resolver's settings.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn resolver_settings(&self) -> Result<ResolverSettings, Error> {
        self.call(Call::new(&endpoints::UNBOUND_SETTINGS)).await?.object(settings)
    }

    /// Whether the resolver runs.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn resolver_state(&self) -> Result<ServiceState, Error> {
        self.call(Call::new(&endpoints::UNBOUND_STATUS)).await?.object(|answer| {
            let word = answer.need_text("status")?;
            Ok(match word.as_str() {
                "running" => ServiceState::Running,
                "stopped" => ServiceState::Stopped,
                "disabled" => ServiceState::Disabled,
                _ => ServiceState::Other(word),
            })
        })
    }

    /// Domains that the *running* resolver does not validate, in lower case without final dot. An enabled plain
    /// forward puts its domain here: one that is missing has not been applied.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn insecure_domains(&self) -> Result<Vec<String>, Error> {
        self.call(Call::new(&endpoints::UNBOUND_INSECURE)).await?.object(|answer| {
            answer.need("data")?;
            Ok(answer.keys("data")?.iter().map(|domain| plain(domain)).collect())
        })
    }

    /// Access lists: who may ask.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn access_lists(&self) -> Result<Vec<AccessList>, Error> {
        let list = |row: &Row<'_>| {
            Ok(AccessList {
                enabled: row.need_bool("enabled")?,
                action: row.key("action")?.unwrap_or_default(),
                networks: row.keys("networks")?,
            })
        };
        self.search(&endpoints::UNBOUND_ACLS, "", &[], list).await
    }

    /// Zones that the *running* resolver answers from its own data, with their type, in lower case without final dot.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn local_zones(&self) -> Result<Vec<(String, String)>, Error> {
        self.call(Call::new(&endpoints::UNBOUND_LOCAL_ZONES)).await?.object(|answer| {
            let zone = |row: &Row<'_>| Ok((plain(&row.need_text("zone")?), row.need_text("type")?));
            Row::list(answer.need("data")?, "data")?.iter().map(zone).collect()
        })
    }
}

fn plain(domain: &str) -> String {
    domain.strip_suffix('.').unwrap_or(domain).to_ascii_lowercase()
}

fn port(row: &Row<'_>) -> Read<Option<u16>> {
    row.u64("port")?.map(|p| u16::try_from(p).map_err(|_| row.fault("port", "is no port"))).transpose()
}

/// A row of either list. Each holds rows of its own kind only; a row that says otherwise is not understood.
fn forward(row: &Row<'_>, listed_as: ForwardKind) -> Read<Forward> {
    let kind = match row.key("type")?.map(|t| t.to_ascii_lowercase()).as_deref() {
        None => listed_as,
        Some("forward") => ForwardKind::Forward,
        Some("dot" | "dns over tls") => ForwardKind::Dot,
        Some(other) => return Err(row.fault("type", format!("{other:?} is no kind of forward"))),
    };
    let domain = row.text("domain")?.unwrap_or_default();
    Ok(Forward {
        uuid: row.need_text("uuid")?,
        kind,
        enabled: row.need_bool("enabled")?,
        final_dot: domain.ends_with('.'),
        domain: plain(&domain),
        server: row.need_text("server")?,
        port: port(row)?,
        tcp: row.bool("forward_tcp_upstream")?,
        first: row.bool("forward_first")?,
        description: row.text("description")?.unwrap_or_default(),
    })
}

fn settings(answer: &Row<'_>) -> Read<ResolverSettings> {
    let unbound = answer.sub("unbound")?;
    let (general, advanced) = (unbound.sub("general")?, unbound.sub("advanced")?);
    advanced.need("privateaddress")?;
    let prefix = |text: String| text.parse().map_err(|_| advanced.fault("privateaddress", "is not a prefix"));
    let domains = |key: &str| -> Read<Vec<String>> { Ok(advanced.keys(key)?.iter().map(|d| plain(d)).collect()) };
    Ok(ResolverSettings {
        enabled: general.need_bool("enabled")?,
        port: port(&general)?,
        dnssec: general.bool("dnssec")?,
        interfaces: general.keys("active_interface")?,
        forwards_everything: match unbound.get("forwarding") {
            Some(_) => unbound.sub("forwarding")?.bool("enabled")?,
            None => None,
        },
        private_addresses: advanced.keys("privateaddress")?.into_iter().map(prefix).collect::<Read<_>>()?,
        private_domains: domains("privatedomain")?,
        insecure_domains: domains("insecuredomain")?,
    })
}
