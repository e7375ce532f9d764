//! A zone and who may update it, by PowerDNS' names of what it has. How it is changed: `zone_apply.rs`.

use serde::{Deserialize, Serialize};

use super::{listed, owns_key};
use crate::backends::permit::Permit;
use crate::backends::powerdns::model::{Zone, ZoneHead, ZoneKind, ZoneMetadata};
use crate::backends::powerdns::{Error, NOBODY, Name, emptying};
use crate::provision::fields::{Difference, Fields, Seen, Wanted, differing, fields};
use crate::provision::journal::Notes;
use crate::provision::object::{Danger, Doing, Ensure, Looking, Object, Place, Undo};
use crate::provision::plan::Step;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// Kind of a zone that takes no update: a copy of nobody.
pub(super) const CLOSED: &str = "closed";

/// Whose a zone may be, and what may become of what it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "claim", content = "tenant")]
pub enum Claim {
    /// Anybody's: only its lists are meant. It goes only empty.
    #[default]
    Any,
    /// This tenant's, or nobody's yet. One that is another's is left alone; it goes only empty.
    Own(String),
    /// This tenant's, and it goes with all it holds.
    Whole(String),
    /// It comes to this tenant, from whomever, emptied (domain.md §4.3).
    Handover(String),
}

/// A zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsZone {
    /// Its name, without final dot.
    pub zone: String,
    /// Whose it may be.
    #[serde(flatten, default)]
    pub claim: Claim,
}

impl DnsZone {
    /// The zone as a name.
    pub(super) fn own(&self) -> Name {
        Name::new(&self.zone)
    }

    pub(super) fn tenant(&self) -> Option<&str> {
        match &self.claim {
            Claim::Any => None,
            Claim::Own(tenant) | Claim::Whole(tenant) | Claim::Handover(tenant) => Some(tenant),
        }
    }

    /// Whether what it holds goes with the plan.
    const fn holds(&self) -> bool {
        matches!(self.claim, Claim::Whole(_) | Claim::Handover(_))
    }

    /// The zone and its metadata; `None` where there is no such zone.
    pub(super) async fn read(&self, context: &Context) -> Result<Option<(Zone, ZoneMetadata)>, Trouble> {
        let (client, name) = (context.world.powerdns()?, self.own());
        let both = async { Ok((client.zone(&name).await?, client.metadata(&name).await?)) };
        match both.await {
            Ok(both) => Ok(Some(both)),
            Err(Error::ZoneAbsent { .. }) => Ok(None),
            Err(error) => Err(Trouble::from(&error)),
        }
    }

    /// Refuses a zone of another tenant, unless the plan says that it comes over. A mark alone tells whose it is only where no
    /// key does: who made the zone may have marked it with a word of their own.
    pub(super) fn not_anothers(&self, head: &ZoneHead, metadata: &ZoneMetadata) -> Result<(), Trouble> {
        let (Claim::Own(tenant) | Claim::Whole(tenant)) = &self.claim else { return Ok(()) };
        let keys: Vec<_> = metadata.update_keys().into_iter().filter(|key| key.as_str() != NOBODY).collect();
        let others = listed(keys.iter().map(Name::as_str).filter(|key| !owns_key(tenant, key)));
        let mark = head.account.as_deref().filter(|mark| !mark.is_empty() && mark != tenant && keys.is_empty());
        let text = match (others, mark) {
            (Some(others), _) => format!("zone {} is updated with the key {others}: it is not {tenant}'s", self.zone),
            (None, Some(mark)) => {
                format!("zone {} is marked as {mark}'s, and lists no key: it is not {tenant}'s", self.zone)
            }
            (None, None) => return Ok(()),
        };
        Err(Trouble::new(TroubleKind::Refused, text)
            .with_help("ask its tenant; if it is to come over, hand it over: it is emptied then"))
    }

    fn seen(&self, zone: &Zone, metadata: &ZoneMetadata) -> Fields {
        let own = self.own();
        let apex = |kind: &str| zone.rrset(&own, kind).map(|set| set.records.as_slice()).unwrap_or_default();
        let soa = apex("SOA").first().map(|record| {
            let content = record.content.to_string();
            content.split_whitespace().take(2).map(|word| Name::new(word).to_string()).collect::<Vec<_>>().join(" ")
        });
        let (kind, held) = (kind(&zone.head), emptying(zone).len());
        // One that is closed may be half made: what it holds tells whether somebody works with it.
        let counts = self.holds() || kind == CLOSED;
        let all = [
            ("kind", Some(kind)),
            ("account", zone.head.account.clone().filter(|account| !account.is_empty())),
            ("keys", listed(metadata.update_keys().iter().map(Name::as_str))),
            ("networks", listed(metadata.update_networks())),
            ("update-serial", listed(metadata.values("SOA-EDIT-DNSUPDATE"))),
            ("ns", listed(apex("NS").iter().map(|record| record.content.target().to_string()))),
            ("soa", soa),
            ("holds", (counts && held > 0).then(|| format!("{held} record sets"))),
        ];
        fields(all.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

/// The kind of a zone, in words.
fn kind(head: &ZoneHead) -> String {
    match &head.kind {
        ZoneKind::Secondary if head.masters.is_empty() => CLOSED.to_owned(),
        ZoneKind::Secondary => format!("copy of {}", head.masters.join(", ")),
        other => other.to_string(),
    }
}

impl Ensure for DnsZone {
    fn place(&self) -> Place {
        Place::Dns
    }

    fn name(&self) -> String {
        format!("zone {}", self.zone)
    }

    fn danger(&self, todo: &Difference) -> Danger {
        if loses(todo) { Danger::Final } else { Danger::Tenant }
    }

    fn undo(&self, todo: &Difference) -> Undo {
        let opened = |c: &crate::provision::fields::Change| c.field == "keys" && c.now.is_none();
        match todo {
            _ if loses(todo) => Undo::None("the records that the zone held are gone"),
            Difference::Update(changes) if changes.iter().any(opened) => {
                Undo::None("it took updates of anybody, and is not opened again")
            }
            _ => Undo::Inverse,
        }
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let Some((zone, metadata)) = self.read(context).await? else { return Ok(Seen::Absent) };
            self.not_anothers(&zone.head, &metadata)?;
            Ok(Seen::Present(self.seen(&zone, &metadata)))
        })
    }

    /// What is as good as wanted is no difference: a primary zone, a key that came by rotation, somebody's own mark or none.
    /// One that was left closed is opened, whatever is wanted of it.
    fn difference(&self, seen: &Seen, wanted: &Wanted) -> Difference {
        let (Seen::Present(now), Wanted::Present(fields)) = (seen, wanted) else {
            return Difference::between(seen, wanted);
        };
        let mut fields = fields.clone();
        let is = |name: &str| now.get(name).map(String::as_str);
        if is("kind") == Some(CLOSED) {
            fields.entry("kind".to_owned()).or_insert_with(|| "native".to_owned());
        }
        if is("kind") == Some("primary") && fields.get("kind").is_some_and(|kind| kind == "native") {
            fields.remove("kind");
        }
        if let Some(tenant) = self.tenant() {
            let rotated = is("keys").is_some_and(|keys| super::words(keys).all(|key| owns_key(tenant, key)));
            let asked = fields.get("keys").is_some_and(|key| key == tenant);
            if rotated && asked {
                fields.remove("keys");
            }
            if !matches!(self.claim, Claim::Handover(_)) {
                fields.remove("account");
            }
            // An update moves the serial by one where nothing is said, too (facts/dns.md §2).
            if is("update-serial").is_none() && is("kind") != Some(CLOSED) {
                fields.remove("update-serial");
            }
        }
        Difference::between(seen, &Wanted::Present(fields))
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(self.change(context, permit, todo))
    }

    /// The key that it lists is of its tenant, and came with this change.
    fn proof(&self, wanted: &Fields, _notes: &Notes) -> Option<Fields> {
        let keys = wanted.get("keys").filter(|keys| !keys.is_empty() && self.tenant().is_some())?;
        Some(fields([("keys", keys)]))
    }

    /// One that was cut while it was made takes no update, holds nothing, and is marked as its tenant's: nobody works with it.
    fn unproved(&self, proof: &Fields, seen: &Seen) -> Option<String> {
        let unfinished = seen.field("kind") == Some(CLOSED)
            && seen.field("account") == self.tenant()
            && ["keys", "holds"].iter().all(|field| seen.field(field).is_none());
        if unfinished { None } else { differing(proof, seen) }
    }

    /// A key whose secret is gone is not listed again: a new one of that name would be somebody else's leave to write.
    fn without(&self, wanted: Wanted, lost: &[Object]) -> Option<Wanted> {
        let Wanted::Present(mut fields) = wanted else { return Some(wanted) };
        let gone = |key: &str| lost.iter().any(|object| matches!(object, Object::TsigKey(own) if own.key == key));
        if let Some(keys) = fields.get("keys").filter(|keys| super::words(keys).any(gone)) {
            let kept = listed(super::words(keys).filter(|key| !gone(key)))?;
            fields.insert("keys".to_owned(), kept);
        }
        Some(Wanted::Present(fields))
    }

    fn riders(&self, seen: &Seen, _own: &[Step]) -> Vec<String> {
        let holds = seen.field("holds").filter(|_| self.holds()).map(|holds| {
            let by = seen.field("keys").unwrap_or("nobody");
            format!("{holds} in zone {} (written by {by}), which are deleted", self.zone)
        });
        holds.into_iter().collect()
    }
}

/// Whether records go.
fn loses(todo: &Difference) -> bool {
    match todo {
        Difference::Update(changes) | Difference::Delete(changes) => {
            changes.iter().any(|change| change.field == "holds" && change.now.is_some() && change.will_be.is_none())
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "zone_tests.rs"]
mod tests;
