//! Static routes, gateways, and the kernel's table (facts/opnsense.md §8).

use std::net::IpAddr;

use super::client::{Call, Client};
use super::endpoints;
use super::error::Error;
use super::model::{ArpEntry, Gateway, GatewayHealth, GatewayState, KernelRoute, StaticRoute};
use super::wire::{Read, Row};

impl Client {
    /// Static routes as configured.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn static_routes(&self) -> Result<Vec<StaticRoute>, Error> {
        self.search(&endpoints::ROUTES_LISTED, "", &[], static_route).await
    }

    /// Routes as the kernel has them: a static route that is not in here is not in force.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn kernel_routes(&self) -> Result<Vec<KernelRoute>, Error> {
        self.call(Call::new(&endpoints::KERNEL_ROUTES))
            .await?
            .decode(|value| Row::list(value, "")?.iter().map(kernel_route).collect())
    }

    /// Neighbours that the router has in its cache, at most 30 s old. An address that nobody answered for is not here.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn arp(&self) -> Result<Vec<ArpEntry>, Error> {
        let entry = |row: &Row<'_>| {
            let address = row.need_text("ip")?;
            Ok(ArpEntry {
                address: address.parse().map_err(|_| row.fault("ip", "is no address"))?,
                mac: row.need_text("mac")?,
                interface: row.text("intf_description")?.unwrap_or_default(),
                expired: row.bool("expired")?.unwrap_or(false),
            })
        };
        self.call(Call::new(&endpoints::ARP)).await?.decode(|value| Row::list(value, "")?.iter().map(entry).collect())
    }

    /// Gateways as configured.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn gateways(&self) -> Result<Vec<Gateway>, Error> {
        self.search(&endpoints::GATEWAYS_LISTED, "", &[], gateway).await
    }

    /// Gateways as monitored.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn gateway_health(&self) -> Result<Vec<GatewayHealth>, Error> {
        self.call(Call::new(&endpoints::GATEWAY_STATUS))
            .await?
            .object(|answer| Row::list(answer.need("items")?, "items")?.iter().map(health).collect())
    }
}

fn static_route(row: &Row<'_>) -> Read<StaticRoute> {
    // The field changed its name and its sense in 26.1.10.
    let enabled = match (row.bool("enabled")?, row.bool("disabled")?) {
        (Some(enabled), _) => enabled,
        (None, Some(disabled)) => !disabled,
        (None, None) => return Err(row.fault("enabled", "is missing, and so is disabled")),
    };
    let network = row.need_text("network")?;
    let gateway = row.need_text("gateway")?;
    Ok(StaticRoute {
        uuid: row.need_text("uuid")?,
        network: network.parse().map_err(|_| row.fault("network", "is not a prefix"))?,
        // Before 25.7 the address stands behind the name.
        gateway: gateway.split(" - ").next().unwrap_or(&gateway).to_owned(),
        enabled,
        description: row.text("descr")?.unwrap_or_default(),
    })
}

fn kernel_route(row: &Row<'_>) -> Read<KernelRoute> {
    Ok(KernelRoute {
        family: row.need_text("proto")?,
        destination: row.need_text("destination")?,
        gateway: row.need_text("gateway")?,
        flags: row.text("flags")?.unwrap_or_default(),
        device: row.need_text("netif")?,
    })
}

fn gateway(row: &Row<'_>) -> Read<Gateway> {
    Ok(Gateway {
        uuid: row.some_text("uuid")?,
        name: row.need_text("name")?,
        interface: row.need_text("interface")?,
        device: row.some_text("if")?,
        address: address(row, "gateway")?,
        enabled: !row.need_bool("disabled")?,
        may_be_default: row.bool("upstream")?,
        is_default: row.bool("defaultgw")?,
        monitored: row.bool("monitor_disable")?.map(|off| !off),
        description: row.text("descr")?.unwrap_or_default(),
    })
}

fn health(row: &Row<'_>) -> Read<GatewayHealth> {
    let shown = |key: &str| Ok(row.some_text(key)?.filter(|t| t != "~"));
    let state = match row.need_text("status")?.as_str() {
        "none" => GatewayState::Online,
        "down" => GatewayState::Down,
        "force_down" => GatewayState::ForcedDown,
        "" | "pending" => GatewayState::Pending,
        other => GatewayState::Impaired(other.to_owned()),
    };
    Ok(GatewayHealth {
        name: row.need_text("name")?,
        address: address(row, "address")?,
        state,
        delay: shown("delay")?,
        loss: shown("loss")?,
    })
}

/// An address; blank, `~` and `dynamic` mean that none is known.
fn address(row: &Row<'_>, key: &str) -> Read<Option<IpAddr>> {
    match row.some_text(key)?.as_deref() {
        None | Some("~" | "dynamic") => Ok(None),
        Some(text) => {
            let plain = text.split('%').next().unwrap_or(text);
            plain.parse().map(Some).map_err(|_| row.fault(key, "is not an address"))
        }
    }
}
