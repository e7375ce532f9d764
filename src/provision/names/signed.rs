//! A record set, changed by a signed update (RFC 2136, RFC 8945): the server itself checks in the same moment that the set is as
//! it was read, so that nobody can come between. It needs no API, only a key.
//!
//! Sources: facts/dns.md §5.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::records::set_of;
use super::{dns_name, signing};
use crate::backends::dns::{
    Answer, Changes, Data, DnsName, Edit, FUDGE, Prerequisite, Query, Rcode, RecordData, RecordSet, RecordType,
    Transport, Unmet, Update, UpdateError, ask, update,
};
use crate::backends::permit::Permit;
use crate::backends::powerdns::{Error, Name};
use crate::provision::fields::{Difference, Fields, Seen, Wanted};
use crate::provision::names::DnsRecords;
use crate::provision::object::{Danger, Doing, Ensure, Looking, Object, Place};
use crate::provision::plan::Step;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Longest wait for the answer to an update.
const WAIT: Duration = Duration::from_secs(10);
/// Field: what a deletion by update takes along and DNS does not show.
const KEPT: &str = "beside";
/// Its value where nobody can tell.
const UNSEEN: &str = "not known: comments, and records that are switched off";

/// A record set that is changed by updates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedRecords {
    /// The set, and whether it may be replaced or deleted without being named first.
    #[serde(flatten)]
    pub set: DnsRecords,
    /// File of the key; without one PowerDNS' API tells the secret of the tenant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    /// The tenant whose key it is.
    pub tenant: String,
}

/// Types that are read back as they were written.
fn kind_of(rtype: &str) -> Result<RecordType, Trouble> {
    let known = ["A", "AAAA", "CNAME", "NS", "PTR", "TXT"].contains(&rtype);
    let kind = rtype.parse::<RecordType>().ok().filter(|_| known);
    kind.ok_or_else(|| {
        let text = format!("records of type {rtype} are not changed by updates from here");
        Trouble::new(TroubleKind::Refused, text).with_help("change them by the API")
    })
}

/// As PowerDNS writes it (facts/dns.md §3).
fn content(data: &Data) -> String {
    let absolute = |name: &str| format!("{name}.");
    match data {
        Data::A(address) => RecordData::A(*address).content(),
        Data::Aaaa(address) => RecordData::Aaaa(*address).content(),
        Data::Cname(name) | Data::Ns(name) | Data::Ptr(name) => absolute(name),
        other => other.to_string(),
    }
}

/// What a server says of a name and type.
struct Told {
    fields: Option<Fields>,
    alias: Option<String>,
}

impl Told {
    /// Records, else where an alias leads; not the TTL, which is no part of an identity.
    fn says(&self) -> Option<&str> {
        self.fields.as_ref().and_then(|fields| fields.get("records")).or(self.alias.as_ref()).map(String::as_str)
    }
}

impl SignedRecords {
    fn server(&self, context: &Context) -> Result<std::net::SocketAddr, Trouble> {
        let dns = context.world.site.powerdns.as_ref();
        let none = || Trouble::new(TroubleKind::Unknown, "the site file has no [powerdns]");
        dns.map(|dns| dns.dns).ok_or_else(none)
    }

    async fn answer(&self, context: &Context, name: &DnsName, kind: RecordType) -> Result<Answer, Trouble> {
        let server = self.server(context)?;
        let query = Query { transport: Transport::Tcp, ..Query::of_authority(server, name.clone(), kind) };
        let told = ask(&query, &*context.world.clock).await;
        let answer = told.map_err(|e| Trouble::new(TroubleKind::NotReached, e.to_string()).with_help(e.help()))?;
        let own = answer.flags.is_some_and(|flags| flags.aa && !flags.tc);
        if own && matches!(answer.rcode, Rcode::NOERROR | Rcode::NXDOMAIN) {
            return Ok(answer);
        }
        let text =
            format!("{server} answers {} for {} {kind}, not from a zone of its own", answer.rcode, name.as_str());
        let help = format!("is zone {} on that server?", self.set.zone);
        Err(Trouble::new(TroubleKind::Unknown, text).with_help(help))
    }

    async fn told(&self, context: &Context, name: &DnsName) -> Result<Told, Trouble> {
        let kind = kind_of(&self.set.rtype)?;
        let answer = self.answer(context, name, kind).await?;
        let at = |wanted: RecordType| {
            answer.answers.iter().filter(move |row| row.kind == wanted && row.name == name.as_str())
        };
        let alias = at(RecordType::CNAME).next().filter(|_| kind != RecordType::CNAME).map(|row| row.data.to_string());
        let ttl = at(kind).next().map(|row| row.ttl);
        Ok(Told { fields: ttl.map(|ttl| DnsRecords::wanted(ttl, at(kind).map(|row| content(&row.data)))), alias })
    }

    /// Refuses what cannot be told from the answer of a wildcard, records or an alias: the name may not be there at all.
    async fn not_a_wildcard(&self, context: &Context, name: &DnsName, own: &Told) -> Result<(), Trouble> {
        if own.says().is_none() {
            return Ok(());
        }
        let mut rest = name.as_str();
        while let Some((label, above)) = rest.split_once('.') {
            rest = above;
            if label == "*" || !dns_name(above)?.is_under(&self.set.zone) {
                break;
            }
            let wildcard = dns_name(&format!("*.{above}"))?;
            let told = self.told(context, &wildcard).await?;
            if told.says() == own.says() {
                let text = format!(
                    "{} is answered as {} is: whether it is there itself is not known",
                    name.as_str(),
                    wildcard.as_str()
                );
                return Err(Trouble::new(TroubleKind::Unknown, text).with_help("change it by the API"));
            }
        }
        Ok(())
    }

    /// What a deletion takes along that DNS does not show.
    async fn kept(&self, context: &Context) -> Option<String> {
        let Ok(client) = context.world.powerdns() else { return Some(UNSEEN.to_owned()) };
        let zone = match client.zone(&Name::new(&self.set.zone)).await {
            Ok(zone) => zone,
            Err(Error::ZoneAbsent { .. }) => return None,
            Err(_) => return Some(UNSEEN.to_owned()),
        };
        let set = zone.rrset(&Name::new(&self.set.owner), &self.set.rtype)?;
        let off = set.records.iter().filter(|record| record.disabled).count();
        let comments = set.comments.len();
        (off + comments > 0).then(|| format!("{off} records that are switched off, {comments} comments"))
    }

    /// The update that carries out a difference, on the condition that all is as it was read.
    fn changes(&self, name: &DnsName, todo: &Difference, now: &Told) -> Result<Changes, Trouble> {
        let refused = |text: String| Trouble::new(TroubleKind::Refused, text).with_help("correct the records");
        let kind = kind_of(&self.set.rtype)?;
        let set = |fields: &Fields| {
            let (ttl, contents) =
                set_of(fields).ok_or_else(|| refused(format!("{}: no TTL in seconds", self.name())))?;
            let data = contents.into_iter().map(|content| RecordData::Stored { kind, content }).collect();
            RecordSet::new(name.clone(), ttl, data).map_err(|e| refused(e.to_string()))
        };
        let old = now.fields.as_ref().map(set).transpose()?;
        let wanted = || {
            let mut fields = now.fields.clone().unwrap_or_default();
            fields
                .extend(["ttl", "records"].into_iter().filter_map(|k| Some((k.to_owned(), todo.value(k)?.to_owned()))));
            set(&fields)
        };
        let changes = match (todo, old) {
            (Difference::Delete(_), Some(old)) => Changes::delete(old),
            (Difference::Delete(_) | Difference::Nothing, _) => Changes::default(),
            (_, Some(old)) => Changes::replace(old, wanted()?),
            (_, None) => Changes::create(wanted()?),
        };
        // An alias stands alone: the server would refuse it, and not say what stands there.
        let alone = match (todo, kind == RecordType::CNAME) {
            (Difference::Create(_), true) => vec![Prerequisite::NameNotInUse(name.clone())],
            (Difference::Create(_) | Difference::Update(_), false) => {
                vec![Prerequisite::SetAbsent(name.clone(), RecordType::CNAME)]
            }
            _ => Vec::new(),
        };
        Ok(changes.and(Changes { prerequisites: alone, edits: Vec::<Edit>::new() }))
    }

    fn unmoved(&self, todo: &Difference, now: &Told) -> Result<(), Trouble> {
        let none = Fields::new();
        let fields = now.fields.as_ref().unwrap_or(&none);
        let same = match todo {
            Difference::Create(_) => now.fields.is_none(),
            _ => todo.changes().iter().filter(|c| c.field != KEPT).all(|c| fields.get(&c.field) == c.now.as_ref()),
        };
        if same {
            return Ok(());
        }
        let text = format!("{} was changed by somebody else since it was read", self.name());
        Err(Trouble::new(TroubleKind::Moved, text).with_help("look at the plan again"))
    }

    async fn send(&self, context: &Context, permit: &Permit, todo: &Difference) -> Result<(), Trouble> {
        let name = dns_name(&self.set.owner)?;
        let now = self.told(context, &name).await?;
        self.unmoved(todo, &now)?;
        if let Some(alias) = now.alias.as_ref().filter(|_| !matches!(todo, Difference::Delete(_))) {
            let text = format!("{} is an alias of {alias} already, and an alias stands alone", self.set.owner);
            return Err(
                Trouble::new(TroubleKind::Refused, text).with_help("choose another name, or delete the alias first")
            );
        }
        let (zone, server) = (dns_name(&self.set.zone)?, self.server(context)?);
        let changes = self.changes(&name, todo, &now)?;
        let key = signing::key(&context.world, &self.tenant, &self.set.zone, self.key_file.as_deref()).await?;
        let message = Update { server, zone: &zone, changes: &changes, key: &key, fudge: FUDGE, wait: WAIT };
        match update(permit, &message, &*context.world.clock).await {
            Ok(_) => Ok(()),
            Err(UpdateError::Unmet { unmet: Unmet::NameThere, .. }) => {
                let text = format!("{} has other records, and an alias stands alone", self.set.owner);
                Err(Trouble::new(TroubleKind::Refused, text)
                    .with_help("choose another name, or delete those records first"))
            }
            Err(error) => Err(signing::trouble(&error, &message, &*context.world.clock).await),
        }
    }
}

impl Ensure for SignedRecords {
    fn place(&self) -> Place {
        Place::Dns
    }

    fn name(&self) -> String {
        format!("{} {}, by update", self.set.owner, self.set.rtype)
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::One
    }

    fn goes(&self, todo: &Difference) -> Vec<String> {
        vec![super::records_that_go(self.name(), todo)]
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let name = dns_name(&self.set.owner)?;
            let told = self.told(context, &name).await?;
            self.not_a_wildcard(context, &name, &told).await?;
            let Some(mut own) = told.fields else { return Ok(Seen::Absent) };
            own.extend(self.kept(context).await.map(|kept| (KEPT.to_owned(), kept)));
            Ok(Seen::Present(own))
        })
    }

    /// What DNS does not show is nothing that could be wanted back.
    fn difference(&self, seen: &Seen, wanted: &Wanted) -> Difference {
        let mut wanted = wanted.clone();
        if let Wanted::Present(fields) = &mut wanted {
            fields.retain(|name, _| name == "ttl" || name == "records");
        }
        Difference::between(seen, &wanted)
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            if todo.is_nothing() {
                return Ok(());
            }
            self.send(context, permit, todo).await
        })
    }

    fn in_one(&self) -> bool {
        true
    }

    fn riders(&self, seen: &Seen, own: &[Step]) -> Vec<String> {
        let step = own.iter().find(|step| matches!(&step.object, Object::SignedRecords(records) if records == self));
        // What the change that is taken back left there is its own.
        let left = step.and_then(|step| step.own("records"));
        let there = seen.field("records").filter(|there| !self.set.known && left != Some(there));
        let mut all: Vec<String> =
            there.map(|records| format!("{}, which is {records} now", self.name())).into_iter().collect();
        all.extend(seen.field(KEPT).map(|kept| format!("what is beside {}: {kept}", self.name())));
        all
    }
}

#[cfg(test)]
#[path = "signed_tests.rs"]
mod tests;
