//! Aliases and the tables pf has of them (facts/opnsense.md §7).

use std::collections::BTreeSet;

use super::client::{Call, Client};
use super::endpoints;
use super::error::Error;
use super::model::{Alias, Aliases, NotRead};
use super::wire::{Read, Row};

/// Texts that searches before 25.7 show, and the keys they stand for.
const KINDS: [(&str, &str); 13] = [
    ("Host(s)", "host"),
    ("Network(s)", "network"),
    ("Port(s)", "port"),
    ("URL (IPs)", "url"),
    ("URL Table (IPs)", "urltable"),
    ("URL Table in JSON format (IPs)", "urljson"),
    ("GeoIP", "geoip"),
    ("Network group", "networkgroup"),
    ("MAC address", "mac"),
    ("BGP ASN", "asn"),
    ("Dynamic IPv6 Host", "dynipv6host"),
    ("Internal (automatic)", "internal"),
    ("External (advanced)", "external"),
];

impl Client {
    /// All aliases with their configured members, and whether pf has their tables.
    ///
    /// # Errors
    /// Any [`Error`] of reading the aliases. What else fails is named in [`Aliases::not_read`].
    pub async fn aliases(&self) -> Result<Aliases, Error> {
        let mut aliases = self.search(&endpoints::ALIASES_LISTED, "", &[], alias).await?;
        let mut not_read = Vec::new();
        match self.table_names().await {
            Ok(tables) => {
                for alias in aliases.iter_mut().filter(|a| a.has_table()) {
                    alias.loaded = Some(tables.contains(&alias.name));
                }
            }
            Err(why) => not_read.push(NotRead { what: "the tables of pf", why }),
        }
        Ok(Aliases { aliases, not_read })
    }

    /// Names of the tables pf has.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn table_names(&self) -> Result<BTreeSet<String>, Error> {
        self.call(Call::new(&endpoints::TABLE_NAMES)).await?.decode(|value| {
            let wrapped = serde_json::json!({ "names": value });
            Ok(Row::new(&wrapped, "")?.keys("names")?.into_iter().collect())
        })
    }

    /// Members of one table as pf has them.
    ///
    /// # Errors
    /// Any [`Error`]; [`Error::BadId`] for a name no alias can have.
    pub async fn table(&self, alias: &str) -> Result<Vec<String>, Error> {
        self.search(&endpoints::TABLE, alias, &[], |row| row.need_text("ip")).await
    }
}

fn alias(row: &Row<'_>) -> Read<Alias> {
    let shown = row.need_text("type")?;
    let kind = KINDS.iter().find(|(text, _)| *text == shown).map_or(shown.as_str(), |(_, key)| key).to_owned();
    Ok(Alias {
        uuid: row.need_text("uuid")?,
        name: row.need_text("name")?,
        kind,
        enabled: row.need_bool("enabled")?,
        content: row.lines("content")?,
        description: row.text("description")?.unwrap_or_default(),
        loaded: None,
    })
}
