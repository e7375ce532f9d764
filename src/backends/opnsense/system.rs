//! The router itself: version, uptime, standing messages, interfaces.

use std::collections::BTreeMap;

use ipnet::IpNet;
use serde_json::Value;

use super::client::{Call, Client};
use super::endpoints;
use super::error::Error;
use super::model::{Interface, Severity, SystemMessage, SystemStatus, Uptime};
use super::version::{Evidence, Release, Version, series_of};
use super::wire::{Read, Row, Unreadable};

impl Client {
    /// The version, from the first of three places that this key may read. It is kept for [`Client::known_release`].
    ///
    /// # Errors
    /// Any [`Error`]; a refusal only when none of the three may be read.
    pub async fn release(&self) -> Result<Release, Error> {
        let refused = |e: &Error| matches!(e, Error::Denied { .. } | Error::NoEndpoint { .. });
        let mut found = self.firmware_version().await.map(|v| (v, Evidence::Firmware));
        if found.as_ref().is_err_and(refused) {
            found = self.dashboard_version().await.map(|v| (v, Evidence::SystemInformation));
        }
        if found.as_ref().is_err_and(refused) {
            found = self.series().await.map(|v| (v, Evidence::RuleFields));
        }
        let (version, evidence) = found?;
        let release = Release { version, evidence };
        self.remember(release);
        Ok(release)
    }

    async fn firmware_version(&self) -> Result<Version, Error> {
        self.call(Call::new(&endpoints::FIRMWARE_STATUS)).await?.object(|answer| {
            let product = answer.sub("product")?;
            let text = product.need_text("product_version")?;
            Version::parse(&text).ok_or_else(|| product.fault("product_version", format!("{text:?} is no version")))
        })
    }

    async fn dashboard_version(&self) -> Result<Version, Error> {
        self.call(Call::new(&endpoints::SYSTEM_INFORMATION)).await?.object(|answer| {
            let texts = answer.keys("versions")?;
            texts.iter().find_map(|t| Version::parse(t)).ok_or_else(|| answer.fault("versions", "holds no version"))
        })
    }

    async fn series(&self) -> Result<Version, Error> {
        let template = self.call(Call::new(&endpoints::RULE_TEMPLATE)).await?;
        template.object(|answer| {
            let rule = answer.sub("rule")?;
            Ok(series_of(|field| rule.map().contains_key(field)))
        })
    }

    /// How long the router has been up.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn uptime(&self) -> Result<Uptime, Error> {
        self.call(Call::new(&endpoints::SYSTEM_TIME)).await?.object(|answer| {
            let text = answer.need_text("uptime")?;
            let seconds = uptime_seconds(&text);
            Ok(Uptime { text, seconds, load: answer.some_text("loadavg")?.filter(|l| l != "N/A") })
        })
    }

    /// Standing messages. A failed load of the rule set shows here and nowhere else (facts §1 item 3).
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn system_status(&self) -> Result<SystemStatus, Error> {
        self.call(Call::new(&endpoints::SYSTEM_STATUS)).await?.decode(system_status)
    }

    /// All interfaces, assigned ones with their id. Never assume an id: they are numbered in the order of assignment.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn interfaces(&self) -> Result<Vec<Interface>, Error> {
        self.call(Call::new(&endpoints::INTERFACE_OVERVIEW))
            .await?
            .decode(|value| Row::list(value, "")?.iter().map(interface).collect())
    }
}

/// `11 days, 05:06:29`, `1 day, 00:00:10`, `05:06:29`.
fn uptime_seconds(text: &str) -> Option<u64> {
    let (days, clock) = match text.split_once(" day") {
        Some((days, rest)) => (days.trim().parse::<u64>().ok()?, rest.rsplit(", ").next()?),
        None => (0, text),
    };
    let mut parts = clock.trim().split(':').map(|p| p.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let in_days = days.checked_mul(86_400)?;
    in_days.checked_add(hours.checked_mul(3600)?)?.checked_add(minutes.checked_mul(60)?)?.checked_add(seconds)
}

/// Two forms: `{"metadata":…,"subsystems":{…}}` from 25.1 on, a flat map of names before.
fn system_status(value: &Value) -> Read<SystemStatus> {
    let answer = Row::new(value, "")?;
    let entries = match answer.get("metadata") {
        Some(_) => match answer.get("subsystems") {
            Some(inside) => Row::named(inside, "subsystems")?,
            // Seen inside the metadata as well.
            None => Row::named(answer.sub("metadata")?.need("subsystems")?, "metadata.subsystems")?,
        },
        None => Row::named(value, "status")?,
    };
    let mut messages = BTreeMap::new();
    for (name, row) in entries {
        messages.insert(name.to_ascii_lowercase(), message(&row)?);
    }
    Ok(SystemStatus { messages })
}

fn message(row: &Row<'_>) -> Read<SystemMessage> {
    let severity = match row.text("status")?.as_deref() {
        Some("OK") | Some("2") => Severity::Ok,
        Some("NOTICE") | Some("1") => Severity::Notice,
        Some("WARNING") | Some("0") => Severity::Warning,
        Some("ERROR") | Some("-1") => Severity::Error,
        Some(other) => Severity::Other(other.to_owned()),
        None => return Err(row.fault("status", "is missing")),
    };
    let at = row.u64("timestamp")?.filter(|t| *t > 0);
    let at = at.and_then(|t| i64::try_from(t).ok()).and_then(|t| jiff::Timestamp::from_second(t).ok());
    Ok(SystemMessage { severity, text: row.some_text("message")?, at })
}

fn interface(row: &Row<'_>) -> Read<Interface> {
    let mut addresses = Vec::new();
    for family in ["ipv4", "ipv6"] {
        let Some(list) = row.get(family) else { continue };
        for entry in Row::list(list, family)? {
            addresses.push(address(&entry)?);
        }
    }
    Ok(Interface {
        id: row.some_text("identifier")?,
        description: row.some_text("description")?,
        device: row.need_text("device")?,
        enabled: row.bool("enabled")?,
        link: row.some_text("status")?,
        addresses,
        vlan: row
            .u32("vlan_tag")?
            .map(|tag| u16::try_from(tag).map_err(|_| row.fault("vlan_tag", "is out of range")))
            .transpose()?,
        gateways: row.keys("gateways")?,
        routes: row.keys("routes")?,
    })
}

/// `10.20.50.1/24`, or the address and `subnetbits` beside it on interfaces without a configuration.
fn address(entry: &Row<'_>) -> Result<IpNet, Unreadable> {
    let text = entry.need_text("ipaddr")?;
    // A link-local address carries its zone.
    let (plain, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.to_owned())),
        None => (text.as_str(), entry.text("subnetbits")?),
    };
    let plain = plain.split('%').next().unwrap_or(plain);
    let address = plain.parse().map_err(|_| entry.fault("ipaddr", "is not an address"))?;
    match bits {
        None => Ok(IpNet::from(address)),
        Some(bits) => {
            let bits = bits.parse().map_err(|_| entry.fault("ipaddr", "has no prefix length"))?;
            IpNet::new(address, bits).map_err(|_| entry.fault("ipaddr", "has no prefix length"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn uptimes_are_read_or_left_alone() {
        assert_eq!(uptime_seconds("11 days, 05:06:29"), Some(11 * 86_400 + 5 * 3600 + 6 * 60 + 29));
        assert_eq!(uptime_seconds("1 day, 00:00:10"), Some(86_410));
        assert_eq!(uptime_seconds("05:06:29"), Some(18_389));
        assert_eq!(uptime_seconds("a while"), None);
    }

    #[test]
    fn a_refused_rule_set_shows_in_both_forms() {
        let text = "There were error(s) loading the rules: /tmp/rules.debug:42: syntax error";
        let new = json!({"metadata": {"system": {"status": "ERROR"}}, "subsystems": {"firewall":
            {"message": text, "status": "ERROR", "statusCode": -1, "timestamp": 1_795_969_443}}});
        let old = json!({"Firewall": {"statusCode": 2, "message": text, "status": "OK", "timestamp": "1795969443"},
            "System": {"status": "OK"}});
        for value in [new, old] {
            let status = system_status(&value).unwrap();
            let (why, at) = status.rules_refused().unwrap();
            assert_eq!(why, text);
            assert_eq!(at.unwrap().as_second(), 1_795_969_443);
        }
        let quiet = json!({"metadata": {"subsystems": []}});
        assert!(system_status(&quiet).unwrap().rules_refused().is_none());
        assert!(system_status(&json!({"metadata": {}})).is_err());
    }

    #[test]
    fn addresses_come_in_two_forms() {
        let read = |v: Value| address(&Row::new(&v, "ipv4[0]").unwrap()).map(|a| a.to_string());
        assert_eq!(read(json!({"ipaddr": "10.20.50.1/24"})).unwrap(), "10.20.50.1/24");
        assert_eq!(read(json!({"ipaddr": "127.0.0.1", "subnetbits": 8})).unwrap(), "127.0.0.1/8");
        assert_eq!(read(json!({"ipaddr": "fe80::1%lo0", "subnetbits": 64})).unwrap(), "fe80::1/64");
        assert!(read(json!({"ipaddr": "dhcp"})).is_err());
    }
}
