//! Questions to DNS servers: what an authority serves where there is no API, and what the perimeter resolver says.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::Clock;
use super::dns_trouble::gap_of;
use crate::backends::dns::{self, DnsName, Failure, Query, RecordType};
use crate::backends::powerdns::Name;
use crate::inventory::readings::{Answer, QuestionKey};
use crate::inventory::source::{Gap, GapKind, Seen};

/// Questions in flight.
pub(super) const WAVE: usize = 8;
/// How long a server may take for one of many questions. Unbound is silent about what takes longer than 1.9 s
/// (facts/dns.md §0.6).
const WAIT: Duration = Duration::from_secs(2);
/// How long each of two tries may take that tell a server that lives from one that does not.
const ALIVE: Duration = Duration::from_secs(1);
/// How old an answer may be before it says nothing any more.
const OLDEST: Duration = Duration::from_secs(3 * 60);

/// Answers of one server.
#[derive(Default)]
pub(super) struct Answers {
    kept: BTreeMap<QuestionKey, (Instant, Seen<Arc<Answer>>)>,
    /// Queries made so far.
    pub queries: u64,
}

impl Answers {
    /// Which of `keys` to ask next, the oldest first: those that were asked more than `age` before `began`.
    pub(super) fn due(
        &self,
        keys: impl Iterator<Item = QuestionKey>,
        (began, age): (Instant, Duration),
        most: usize,
    ) -> Vec<QuestionKey> {
        let asked = |key: &QuestionKey| self.kept.get(key).map(|(at, _)| *at);
        let mut due: Vec<(Option<Instant>, QuestionKey)> = keys
            .map(|key| (asked(&key), key))
            .filter(|(at, _)| at.is_none_or(|at| began.saturating_duration_since(at) > age))
            .collect();
        due.sort_by_key(|(at, _)| *at);
        due.truncate(most);
        due.into_iter().map(|(_, key)| key).collect()
    }

    /// Asks `keys` at once; how many of them met silence.
    pub(super) async fn ask(
        &mut self,
        server: SocketAddr,
        recursion: bool,
        keys: Vec<QuestionKey>,
        clock: &Clock,
    ) -> usize {
        let asked = join_all(keys.into_iter().map(async |key| {
            let said = one(server, recursion, &key, clock).await;
            (key, said)
        }));
        let mut silent = 0;
        for (key, said) in asked.await {
            self.queries += 1;
            silent += usize::from(matches!(&said, Err(Failure::TimedOut { .. })));
            self.kept.insert(key, (Instant::now(), said.map(Arc::new).map_err(|failure| gap_of(&failure))));
        }
        silent
    }

    /// What `keys` leave unknown because of `gap`.
    pub(super) fn leave(&mut self, keys: Vec<QuestionKey>, gap: &Gap, now: Instant) {
        for key in keys {
            self.kept.insert(key, (now, Err(gap.clone())));
        }
    }

    /// Answers that still say something.
    pub(super) fn fresh(&self, now: Instant) -> BTreeMap<QuestionKey, Seen<Arc<Answer>>> {
        let fresh = self.kept.iter().filter(|(_, (at, _))| now.saturating_duration_since(*at) < OLDEST);
        fresh.map(|(key, (_, seen))| (key.clone(), seen.clone())).collect()
    }

    /// Forgets what nobody asks for any more.
    pub(super) fn forget(&mut self, now: Instant) {
        self.kept.retain(|_, (at, _)| now.saturating_duration_since(*at) < OLDEST);
    }
}

/// Whether `server` answers at all: any answer to `key` will do.
///
/// # Errors
/// What happened instead of an answer.
pub(super) async fn alive(
    server: SocketAddr,
    recursion: bool,
    key: &QuestionKey,
    clock: &Clock,
) -> Result<(), Failure> {
    let Some(mut query) = query(server, recursion, key) else { return Ok(()) };
    (query.tries, query.wait) = (2, ALIVE);
    dns::ask(&query, &**clock).await.map(drop)
}

/// The question that every resolver answers by itself.
pub(super) fn localhost() -> QuestionKey {
    (Name::new("localhost"), "A")
}

/// What a dead resolver leaves unknown.
pub(super) fn dead_resolver(shown: std::net::IpAddr, failure: &Failure) -> Gap {
    match failure {
        Failure::Refused { .. } => Gap::new(GapKind::NoAnswer, format!("{shown} refuses DNS questions")),
        Failure::TimedOut { .. } => Gap::new(GapKind::NoAnswer, format!("{shown} does not answer")),
        other => gap_of(other),
    }
}

fn query(server: SocketAddr, recursion: bool, (name, kind): &QuestionKey) -> Option<Query> {
    let (name, kind) = (name.as_str().parse::<DnsName>().ok()?, kind.parse::<RecordType>().ok()?);
    Some(if recursion { Query::new(server, name, kind) } else { Query::of_authority(server, name, kind) })
}

/// Whether a question about this name can be put.
pub(super) fn can_be_asked(name: &Name) -> bool {
    !name.as_str().contains('*') && name.as_str().parse::<DnsName>().is_ok()
}

async fn one(server: SocketAddr, recursion: bool, key: &QuestionKey, clock: &Clock) -> Result<Answer, Failure> {
    let Some(mut query) = query(server, recursion, key) else {
        return Err(Failure::Local { what: "no question", why: format!("{} is no name to ask for", key.0) });
    };
    (query.tries, query.wait) = (1, WAIT);
    let kind = query.kind;
    let said = dns::ask(&query, &**clock).await?;
    let soa = said.soa().map(|(record, soa)| ((Name::new(&record.name), soa.serial), record.ttl));
    let ttl = said.answers.iter().filter(|record| record.kind == kind).map(|record| record.ttl).min();
    Ok(Answer {
        server,
        at: clock(),
        took: said.took,
        code: said.rcode.to_string(),
        authoritative: said.flags.is_some_and(|flags| flags.aa),
        records: said.values(kind).iter().map(|value| crate::text::clean(value).into_owned()).collect(),
        left: ttl.or(soa.as_ref().map(|(_, ttl)| *ttl)),
        soa: soa.map(|(soa, _)| soa),
    })
}
