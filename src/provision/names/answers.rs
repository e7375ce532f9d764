//! A server that answers for a domain, asked before names are led to it.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::dns_name;
use super::forward::server_text;
use crate::backends::dns::{Answer, Query, Rcode, Record, RecordType, ask};
use crate::backends::permit::Permit;
use crate::provision::fields::{Difference, Fields, Seen};
use crate::provision::object::{Doing, Ensure, Looking, Place, only_looks};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// A server has the SOA of a domain. A forward to one that has not is taken by the router all the same, and the reload for it
/// is everybody's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// The domain, without final dot.
    pub domain: String,
    /// The server.
    pub server: SocketAddr,
}

/// Who is asked for the SOA of a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The server of the zone itself.
    Authority,
    /// One that asks others.
    Resolver,
}

/// What is wrong with the answer to a question for the SOA of a domain; `true` = there was one.
pub(super) async fn unanswered(
    context: &Context,
    (server, role): (SocketAddr, Role),
    domain: &str,
) -> Result<Option<(bool, String)>, Trouble> {
    let query = Query::new(server, dns_name(domain)?, RecordType::SOA);
    let clock = std::sync::Arc::clone(&context.world.clock);
    Ok(match ask(&query, &move || clock()).await {
        Ok(answer) if answer.rcode != Rcode::NOERROR => Some((true, format!("answers {}", answer.rcode))),
        Ok(answer) if !has_soa(&answer, domain) => Some((true, "answers without its SOA".to_owned())),
        Ok(answer) if role == Role::Authority && answer.flags.is_some_and(|flags| !flags.aa) => {
            Some((true, "answers what it has from others: the zone is not its own".to_owned()))
        }
        Ok(_) => None,
        Err(failure) => Some((false, format!("does not answer: {failure}"))),
    })
}

/// Whether the domain itself has an SOA by this answer; one at the end of an alias is another zone's.
fn has_soa(answer: &Answer, domain: &str) -> bool {
    let own = |record: &Record| record.name.eq_ignore_ascii_case(domain.trim_end_matches('.'));
    answer.answers.iter().any(|record| record.kind == RecordType::SOA && own(record))
}

impl Ensure for Answers {
    fn place(&self) -> Place {
        Place::Dns
    }

    fn name(&self) -> String {
        format!("{} answers for {}", server_text(self.server.ip(), self.server.port()), self.domain)
    }

    only_looks!();

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let server = server_text(self.server.ip(), self.server.port());
            let Some((told, how)) = unanswered(context, (self.server, Role::Authority), &self.domain).await? else {
                return Ok(Seen::Present(Fields::new()));
            };
            let kind = if told { TroubleKind::Refused } else { TroubleKind::Unknown };
            let text = format!("asked for the SOA of {}, {server} {how}", self.domain);
            Err(Trouble::new(kind, text).with_help(
                "forward to a server that has the zone, and that answers from here; one that only the perimeter may ask, or \
                 that has the zone from others, is taken unasked with `--not-asked` (asked=no)",
            ))
        })
    }

    fn apply<'a>(&'a self, _context: &'a Context, _permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async { Ok(()) })
    }
}
