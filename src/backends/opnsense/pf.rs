//! What pf has loaded: counters by label, rules in its own words, states.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

use super::client::{Call, Client};
use super::endpoints;
use super::error::Error;
use super::filter::direction;
use super::model::{Hits, Logged, PfRule, PfRules, State, StateTable, States};
use super::version::Version;
use super::wire::{Read, Row, scalar};

/// States read at most for one address.
pub const MOST_STATES: usize = 1000;

impl Client {
    /// Counters of everything loaded, by label. What is not in here, pf does not have; but see
    /// [`super::Version::caches_counters`].
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn rule_stats(&self) -> Result<BTreeMap<String, Hits>, Error> {
        self.call(Call::new(&endpoints::RULE_STATS)).await?.object(|answer| {
            let named = Row::named(answer.need("stats")?, "stats")?;
            named.into_iter().map(|(label, row)| Ok((crate::backends::http::clean(label), hits(&row)?))).collect()
        })
    }

    /// [`Client::rule_stats`] past the cache of 25.7.6–26.1, which is dropped first. Other versions have none: there
    /// nothing but the counters is asked for.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn fresh_rule_stats(&self) -> Result<BTreeMap<String, Hits>, Error> {
        if self.version_for_reading().await?.caches_counters() {
            self.call(Call::new(&endpoints::FLUSH_RULE_STATS)).await?;
        }
        self.rule_stats().await
    }

    /// Rules as pf has them.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn pf_rules(&self) -> Result<PfRules, Error> {
        self.call(Call::new(&endpoints::PF_RULES)).await?.object(|answer| {
            let rules = answer.sub("rules")?;
            Ok(PfRules { filter: pf_lines(&rules, "filter rules")?, nat: pf_lines(&rules, "nat rules")? })
        })
    }

    /// States of one address, at most `limit` and never more than [`MOST_STATES`]. The router searches for the text
    /// of the address (also as part of another); what does not have it as an address is left out here.
    ///
    /// # Errors
    /// Any [`Error`]; [`Error::NotOffered`] for an IPv6 address before 26.1.3, where such a search finds nothing.
    pub async fn states_of(&self, address: IpAddr, limit: usize) -> Result<States, Error> {
        if address.is_ipv6() {
            let version = self.version_for_reading().await?;
            if !version.searches_colons() {
                let what = "the states of an IPv6 address";
                return Err(Error::NotOffered { what, version, since: Version::new(26, 1, 3) });
            }
        }
        let limit = limit.clamp(1, MOST_STATES);
        let page = self.search_some(&endpoints::STATES_LISTED, &address.to_string(), limit, state).await?;
        let cut = page.total > page.rows.len();
        let has = |s: &State| {
            s.source.0 == address || s.destination.0 == address || s.inside.is_some_and(|(inside, _)| inside == address)
        };
        Ok(States { states: page.rows.into_iter().filter(has).collect(), cut })
    }

    /// The newest `limit` packets that pf logged: what no rule passes is among them, what a rule without `log` passes
    /// is not.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn filter_log(&self, limit: usize) -> Result<Vec<Logged>, Error> {
        let logged = |row: &Row<'_>| {
            let address = |key: &str| Ok(row.some_text(key)?.and_then(|text| text.parse().ok()));
            Ok(Logged {
                action: row.text("action")?.unwrap_or_default(),
                label: row.text("rid")?.unwrap_or_default(),
                source: address("src")?,
                destination: address("dst")?,
            })
        };
        self.call(Call::new(&endpoints::PF_LOG).asking("limit", limit))
            .await?
            .decode(|value| Row::list(value, "")?.iter().map(logged).collect())
    }

    /// How full the state table is.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn state_table(&self) -> Result<StateTable, Error> {
        self.call(Call::new(&endpoints::STATE_TABLE))
            .await?
            .object(|answer| Ok(StateTable { current: answer.need_u64("current")?, limit: answer.need_u64("limit")? }))
    }
}

pub(super) fn hits(row: &Row<'_>) -> Read<Hits> {
    Ok(Hits {
        pf_rules: row.need_u64("pf_rules")?,
        evaluations: row.need_u64("evaluations")?,
        packets: row.need_u64("packets")?,
        bytes: row.need_u64("bytes")?,
        states: row.need_u64("states")?,
    })
}

/// `"@2 nat on re1 inet from …": {counters}`; the number is the place.
fn pf_lines(rules: &Row<'_>, key: &str) -> Read<Vec<PfRule>> {
    let Some(lines) = rules.get(key) else { return Err(rules.fault(key, "is missing")) };
    let mut read = Vec::new();
    for (line, row) in Row::named(lines, key)? {
        let line = crate::backends::http::clean(line);
        let numbered = line.strip_prefix('@').and_then(|l| l.split_once(' '));
        let text = numbered.map_or(line.as_str(), |(_, text)| text).to_owned();
        let label = text.split_once("label \"").and_then(|(_, rest)| rest.split_once('"')).map(|(l, _)| l.to_owned());
        let counters = |key: &str| row.u64(key);
        let hits = match (counters("evaluations")?, counters("packets")?, counters("bytes")?, counters("states")?) {
            (Some(evaluations), Some(packets), Some(bytes), Some(states)) => {
                Some(Hits { pf_rules: 1, evaluations, packets, bytes, states })
            }
            _ => None,
        };
        read.push(PfRule { text, label, hits });
    }
    Ok(read)
}

fn state(row: &Row<'_>) -> Read<State> {
    Ok(State {
        id: row.need_text("id")?,
        label: row.some_text("label")?,
        device: row.text("iface")?.unwrap_or_default(),
        protocol: row.need_text("proto")?,
        direction: direction(row)?,
        source: endpoint(row, "src_addr", "src_port")?.ok_or_else(|| row.fault("src_addr", "is missing"))?,
        destination: endpoint(row, "dst_addr", "dst_port")?.ok_or_else(|| row.fault("dst_addr", "is missing"))?,
        inside: endpoint(row, "nat_addr", "nat_port")?,
        state: row.text("state")?.unwrap_or_default(),
        age: row.text("age")?.unwrap_or_default(),
        expires: row.text("expires")?.unwrap_or_default(),
        packets: pair(row, "pkts")?,
        bytes: pair(row, "bytes")?,
    })
}

fn endpoint(row: &Row<'_>, address: &str, port: &str) -> Read<Option<(IpAddr, Option<u16>)>> {
    let Some(text) = row.some_text(address)? else { return Ok(None) };
    let plain = text.split('%').next().unwrap_or(&text);
    let ip = plain.parse().map_err(|_| row.fault(address, "is not an address"))?;
    let port = row.u64(port)?.map(|p| u16::try_from(p).map_err(|_| row.fault(port, "is no port"))).transpose()?;
    Ok(Some((ip, port)))
}

fn pair(row: &Row<'_>, key: &str) -> Read<Option<[u64; 2]>> {
    let Some(value) = row.get(key) else { return Ok(None) };
    let number = |v: &Value| scalar(v).and_then(|t| t.parse::<u64>().ok());
    match value.as_array().map(Vec::as_slice) {
        Some([a, b]) => match (number(a), number(b)) {
            (Some(a), Some(b)) => Ok(Some([a, b])),
            _ => Err(row.fault(key, "expected two numbers")),
        },
        _ => Err(row.fault(key, "expected two numbers")),
    }
}
