//! Each tenant's update key on every tenant's zones: whether it is kept out of all but its own (facts/dns.md §0.2).
//!
//! Nothing can change: the updates ask for what cannot be and hold no change. A secret is fetched for its own round, one at
//! a time, by a request that no recorder hears of, and is wiped at the round's end. What is kept names keys, zones and
//! answers.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::join_all;
use zeroize::Zeroizing;

use super::names::{DEADLINE, zones_of};
use super::{Fabric, Sink, Wanted};
use crate::backends::dns::{
    Ask, DnsName, FUDGE, Failure, Rcode, Signature, SignedAnswer, SignedQuery, UpdateKey, WIDEST_FUDGE, ask_signed,
};
use crate::backends::http::Limits;
use crate::backends::powerdns::{Client, Name};
use crate::diagnose::evidence::Kind;
use crate::diagnose::facts::keys::{Answer, Attempt, Key, Mark, NotOwn, SCHEMA, Tried, WHAT, Zone};
use crate::diagnose::rules::server_name;
use crate::inventory::feed::{Clients, DnsClient};
use crate::site::Site;
use crate::site::names::owns_key;

/// Updates under way at once.
const WAVE: usize = 4;
/// Seconds within which an answer's time is the question's, repeated.
const REPEATED: i64 = 2;
/// Longest wait for one answer.
const WAIT: Duration = Duration::from_secs(3);

/// Tries the keys of the tenants in scope and keeps what came of it as one item.
pub(super) async fn read(site: &Site, clients: &Clients, wanted: &Wanted, fabric: &Fabric, sink: &Sink) {
    let Some(dns) = &site.powerdns else {
        return keep(&site.name, &nothing("", "the site names no PowerDNS"), sink);
    };
    let server = server_name(dns.dns);
    if site.read_only {
        let why = "the site is read-only: no key that can write is fetched, no update is sent";
        return keep(&server, &nothing(&server, why), sink);
    }
    let round = Round { server: dns.dns, fudge: FUDGE, sink };
    let tried = round.all(&server, secrets(site, clients).await, wanted, zones(site, fabric)).await;
    keep(&server, &tried, sink);
}

/// Who tells secrets; else why nobody does.
async fn secrets(site: &Site, clients: &Clients) -> Result<Client, String> {
    match (&clients.powerdns, &site.powerdns) {
        (Some(Ok(DnsClient::Api(client))), _) => Ok(client.clone()),
        (Some(Ok(DnsClient::Tunnel { key, ssh })), Some(dns)) => {
            let key = Zeroizing::new(key.expose().to_owned());
            let limits = Limits { total: DEADLINE, ..Limits::default() };
            Client::connect(dns, key, limits, ssh, DEADLINE).await.map_err(|why| why.to_string())
        }
        (Some(Ok(DnsClient::Queries)), _) => Err("mode dns-only: a key's secret is told by the API alone".to_owned()),
        (Some(Err(why)), _) => Err(why.text.clone()),
        _ => Err("the site names no PowerDNS".to_owned()),
    }
}

/// Both zones of every tenant that the fabric shows.
fn zones(site: &Site, fabric: &Fabric) -> Vec<(Zone, DnsName)> {
    let all = fabric.legs.iter().flat_map(|leg| zones_of(site, leg).map(|zone| (zone, leg.zone.clone())));
    let mut all: Vec<(String, String)> = all.collect();
    all.sort();
    all.dedup();
    let zone = |(zone, tenant): (String, String)| {
        let name = zone.parse().ok()?;
        Some((Zone { zone, tenant, before: None, after: None }, name))
    };
    all.into_iter().filter_map(zone).collect()
}

fn nothing(server: &str, why: &str) -> Tried {
    Tried {
        schema: SCHEMA.to_owned(),
        server: server.to_owned(),
        not_run: Some(why.to_owned()),
        of: None,
        keys: Vec::new(),
        not_own: Vec::new(),
        zones: Vec::new(),
        updates: Vec::new(),
    }
}

fn keep(from: &str, tried: &Tried, sink: &Sink) {
    // The document is plain data: writing it cannot fail.
    let Ok(body) = serde_json::to_string_pretty(tried) else { return };
    sink.add(from, "update-keys", "json", Kind::Material(WHAT.to_owned()), body, String::new());
}

/// What all of one run share.
struct Round<'a> {
    server: SocketAddr,
    fudge: u16,
    sink: &'a Sink,
}

impl Round<'_> {
    async fn all(
        &self,
        server: &str,
        secrets: Result<Client, String>,
        wanted: &Wanted,
        zones: Vec<(Zone, DnsName)>,
    ) -> Tried {
        let Some((_, first)) = zones.first() else { return nothing(server, "no tenant's zone is known") };
        // A server that does not answer is asked once.
        if let Err(why) = self.ask(first, Ask::Soa, None).await {
            return nothing(server, &crate::text::clean(&why.to_string()));
        }
        let mut tried = Tried { not_run: None, of: wanted.tenant.clone(), ..nothing(server, "") };
        let (mut zones, names): (Vec<Zone>, Vec<DnsName>) = zones.into_iter().unzip();
        for (zone, serial) in zones.iter_mut().zip(self.serials(&names).await) {
            zone.before = serial;
        }
        let mut tenants: Vec<String> = zones.iter().map(|zone| zone.tenant.clone()).collect();
        tenants.sort();
        tenants.dedup();
        for tenant in &tenants {
            let pairs: Vec<(&Zone, &DnsName)> =
                zones.iter().zip(&names).filter(|(zone, _)| tried.concerns(tenant, &zone.tenant)).collect();
            let (own, others) = listed(tenant, &pairs, &secrets).await;
            tried.not_own.extend(others.into_iter().map(|key| NotOwn { tenant: tenant.clone(), key }));
            for name in own {
                let key = self.one((tenant, &name), &secrets, &pairs, &mut tried.updates).await;
                tried.keys.push(key);
            }
        }
        let every: Vec<(&Zone, &DnsName)> = zones.iter().zip(&names).collect();
        tried.updates.extend(self.attempts(None, &every).await);
        for (zone, serial) in zones.iter_mut().zip(self.serials(&names).await) {
            zone.after = serial;
        }
        tried.zones = zones;
        tried
    }

    /// A tenant's key of that name: its secret, whether the server takes it, and what it comes to on `zones`.
    async fn one(
        &self,
        (tenant, name): (&str, &str),
        secrets: &Result<Client, String>,
        zones: &[(&Zone, &DnsName)],
        updates: &mut Vec<Attempt>,
    ) -> Key {
        let mut told =
            Key { tenant: tenant.to_owned(), name: name.to_owned(), not_run: None, answer: None, clock_off_by: None };
        let key = match fetch(name, secrets).await {
            Ok(key) => key,
            Err(why) => return Key { not_run: Some(why), ..told },
        };
        let Some((_, own)) = zones.iter().find(|(zone, _)| zone.tenant == tenant) else { return told };
        let mut round = Round { server: self.server, fudge: self.fudge, sink: self.sink };
        match self.credential(own, &key).await {
            Ok((answer, off)) => {
                if off.is_some_and(|off| off.unsigned_abs() > u64::from(FUDGE)) {
                    round.fudge = WIDEST_FUDGE;
                }
                (told.answer, told.clock_off_by) = (Some(answer), off);
            }
            Err(why) => return Key { not_run: Some(crate::text::clean(&why.to_string()).into_owned()), ..told },
        }
        if told.answer.as_ref().is_some_and(Answer::takes_key) {
            updates.extend(round.attempts(Some((tenant, name, &key)), zones).await);
        }
        told
    }

    /// Whether the server takes `key`, and by how many seconds its clock is ahead where that is told. Where it does not take
    /// it, the widest tolerance for clocks tells whether they are why.
    async fn credential(&self, zone: &DnsName, key: &UpdateKey) -> Result<(Answer, Option<i64>), Failure> {
        let first = self.signed_soa(zone, key, FUDGE, 0).await?;
        if answer(&first).takes_key() {
            return Ok((answer(&first), told(&first)));
        }
        let wide = self.signed_soa(zone, key, WIDEST_FUDGE, 0).await?;
        if !answer(&wide).takes_key() {
            return Ok((answer(&first), None));
        }
        let off = match told(&wide) {
            Some(off) => off,
            None => self.difference(zone, key).await?,
        };
        Ok((answer(&wide), Some(off)))
    }

    /// The difference of the clocks of a server that does not tell it: the least tolerance with which it takes the key, and
    /// on which side of our time.
    async fn difference(&self, zone: &DnsName, key: &UpdateKey) -> Result<i64, Failure> {
        let (mut refused, mut taken) = (FUDGE, WIDEST_FUDGE);
        while taken - refused > 1 {
            let middle = refused + (taken - refused) / 2;
            let came = self.signed_soa(zone, key, middle, 0).await?;
            if answer(&came).takes_key() { taken = middle } else { refused = middle }
        }
        let apart = i64::from(taken);
        let ahead = self.signed_soa(zone, key, FUDGE, apart).await?;
        Ok(if answer(&ahead).takes_key() { apart } else { -apart })
    }

    /// A signed question for the start of authority, as if it were `later` seconds from now.
    async fn signed_soa(
        &self,
        zone: &DnsName,
        key: &UpdateKey,
        fudge: u16,
        later: i64,
    ) -> Result<SignedAnswer, Failure> {
        let query = SignedQuery { server: self.server, zone, ask: Ask::Soa, key: Some(key), fudge, wait: WAIT };
        let clock = || {
            let now = (self.sink.clock())();
            now.checked_add(jiff::SignedDuration::from_secs(later)).unwrap_or(now)
        };
        ask_signed(&query, &clock).await
    }

    /// The update that changes nothing on each of `zones`. Two waves without an answer end it: what is missing was not run.
    async fn attempts(&self, signed: Option<(&str, &str, &UpdateKey)>, zones: &[(&Zone, &DnsName)]) -> Vec<Attempt> {
        let key = signed.map(|(.., key)| key);
        let (mut all, mut silent) = (Vec::new(), 0);
        for wave in zones.chunks(WAVE) {
            let answers = join_all(wave.iter().map(|(_, name)| self.ask(name, Ask::Nothing, key))).await;
            silent = if answers.iter().all(Result::is_err) { silent + 1 } else { 0 };
            all.extend(wave.iter().zip(answers).map(|((zone, _), came)| Attempt {
                signed_by: signed.map(|(tenant, ..)| tenant.to_owned()),
                key: signed.map(|(_, name, _)| name.to_owned()),
                zone: zone.zone.clone(),
                why: came.as_ref().err().map(|why| crate::text::clean(&why.to_string()).into_owned()),
                answer: came.as_ref().ok().map(answer),
            }));
            if silent > 1 {
                break;
            }
        }
        all
    }

    async fn serials(&self, zones: &[DnsName]) -> Vec<Option<u32>> {
        let mut all = Vec::new();
        for wave in zones.chunks(WAVE) {
            let came = join_all(wave.iter().map(|zone| self.ask(zone, Ask::Soa, None))).await;
            all.extend(came.into_iter().map(|answer| answer.ok().and_then(|answer| answer.serial)));
        }
        all
    }

    async fn ask(&self, zone: &DnsName, ask: Ask, key: Option<&UpdateKey>) -> Result<SignedAnswer, Failure> {
        let query = SignedQuery { server: self.server, zone, ask, key, fudge: self.fudge, wait: WAIT };
        ask_signed(&query, &**self.sink.clock()).await
    }
}

/// Names of the keys that a tenant's own zones list: of its own, and where there is none the one that is called after it; and
/// of those that are not its own, whoever's they are.
async fn listed(
    tenant: &str,
    zones: &[(&Zone, &DnsName)],
    secrets: &Result<Client, String>,
) -> (Vec<String>, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    if let Ok(client) = secrets {
        for (zone, _) in zones.iter().filter(|(zone, _)| zone.tenant == tenant) {
            // What a zone does not tell, the other may.
            let Ok(list) = client.metadata(&Name::new(&zone.zone)).await else { continue };
            names.extend(list.update_keys().iter().map(|name| name.as_str().trim_end_matches('.').to_owned()));
        }
    }
    names.sort();
    names.dedup();
    let (mut own, others): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| owns_key(tenant, name));
    if own.is_empty() {
        own.push(tenant.to_owned());
    }
    (own, others)
}

async fn fetch(key: &str, secrets: &Result<Client, String>) -> Result<UpdateKey, String> {
    let client = secrets.as_ref().map_err(Clone::clone)?;
    let name: DnsName = key.parse().map_err(|_| format!("{key} is no key's name"))?;
    let told = client.tsig_secret(&Name::new(key)).await.map_err(|why| why.to_string())?;
    UpdateKey::new(&name, &told.algorithm, told.secret.expose()).map_err(|why| format!("the key {key}: {why}"))
}

/// What a signature's time says of the server's clock; nothing where the server repeats the question's, however late its
/// answer comes.
fn told(came: &SignedAnswer) -> Option<i64> {
    let Signature::Good(at) = came.signature else { return None };
    Some(at.duration_since(came.signed_at).as_secs()).filter(|off| off.abs() > REPEATED)
}

fn answer(came: &SignedAnswer) -> Answer {
    let code = came.rcode.to_string();
    let code = code.strip_prefix("RCODE").map_or(code.clone(), |number| format!("RESERVED{number}"));
    let signature = match came.signature {
        Signature::Good(_) => Mark::Good,
        Signature::None => Mark::None,
        Signature::Bad => Mark::Bad,
        // On the wire 16 is BADSIG in this place, and BADVERS in a header.
        Signature::Error(16) => Mark::Error("BADSIG".to_owned()),
        Signature::Error(code) => Mark::Error(Rcode(code).to_string()),
    };
    Answer { code, signature }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_time_tells_nothing_however_late_it_comes() {
        let time = |text: &str| text.parse::<jiff::Timestamp>().expect("a time");
        let came = |at: &str| SignedAnswer {
            rcode: Rcode(0),
            signature: Signature::Good(time(at)),
            serial: None,
            from: "127.0.0.1:53".parse().expect("an address"),
            signed_at: time("2026-11-29T11:03:00Z"),
        };
        assert_eq!(told(&came("2026-11-29T11:03:00Z")), None);
        assert_eq!(told(&came("2026-11-29T11:03:10Z")), Some(10));
        assert_eq!(told(&came("2026-11-29T10:53:00Z")), Some(-600));
    }
}
