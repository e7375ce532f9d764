//! How a zone is changed: in an order in which no update passes that nobody signed, whatever it was cut at before.

use super::zone::CLOSED;
use super::{DnsZone, dns_name, owns_key, words};
use crate::backends::dns::DnsName;
use crate::backends::permit::Permit;
use crate::backends::powerdns::model::{Content, Record, Zone, ZoneKind, ZoneMetadata};
use crate::backends::powerdns::order::{Held, relisting};
use crate::backends::powerdns::{
    Apex, Change, Error, LiveKind, Metadata, NOBODY, Name, UPDATE_NETWORKS, Write, emptying,
};
use crate::provision::fields::Difference;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

fn refused(text: impl AsRef<str>, help: &str) -> Trouble {
    Trouble::new(TroubleKind::Refused, text).with_help(help)
}

/// What is sent, and the note of the kind that a zone had before it was closed.
struct Sending<'a> {
    context: &'a Context,
    permit: &'a Permit,
    zone: &'a DnsZone,
}

impl Sending<'_> {
    fn note(&self) -> String {
        format!("zone-kind {}", self.zone.zone)
    }

    /// Sends one after the other.
    async fn send(&self, writes: Vec<Write>) -> Result<(), Trouble> {
        let client = self.context.world.powerdns()?;
        for write in writes {
            client.perform(self.permit, &write).await.map_err(|e| Trouble::from(&e))?;
        }
        Ok(())
    }
}

impl DnsZone {
    /// Carries out a difference.
    pub(super) async fn change(&self, context: &Context, permit: &Permit, todo: &Difference) -> Result<(), Trouble> {
        let sending = Sending { context, permit, zone: self };
        match todo {
            Difference::Nothing => Ok(()),
            Difference::Create(_) => sending.send(self.creation(context, todo)?).await,
            Difference::Update(_) => self.update(&sending, todo).await,
            Difference::Delete(_) => self.delete(&sending).await,
        }
    }

    fn creation(&self, context: &Context, todo: &Difference) -> Result<Vec<Write>, Trouble> {
        let zone = self.own();
        let keys = key_names(todo)?.filter(|keys| !keys.is_empty());
        let keys = keys.ok_or_else(|| refused(format!("{} is to have no key", self.zone), "name the key"))?;
        let none = || refused("the site file names no nameserver for new zones", "set nameserver in [powerdns]");
        let nameserver = dns_name(todo.value("ns").ok_or_else(none)?)?;
        let account = todo.value("account").or(self.tenant()).unwrap_or_default().to_owned();
        let apex = Apex { nameserver, serial: first_serial(context) };
        let mut writes = vec![
            Write::CreateClosed { zone: zone.clone(), account },
            Write::PutMetadata(zone.clone(), Metadata::UpdateKeys(keys)),
            Write::PutMetadata(zone.clone(), Metadata::UpdateSerial),
            Write::MakeNative(zone.clone()),
            Write::Patch(zone.clone(), apex.changes(&zone)),
        ];
        writes.extend(networks(&zone, todo)?);
        Ok(writes)
    }

    async fn update(&self, sending: &Sending<'_>, todo: &Difference) -> Result<(), Trouble> {
        let gone = || Trouble::new(TroubleKind::Moved, format!("zone {} is gone", self.zone));
        let (zone, metadata) = self.read(sending.context).await?.ok_or_else(gone)?;
        self.not_anothers(&zone.head, &metadata)?;
        let held = Held::new(&zone.head, metadata);
        if held.kind == ZoneKind::Secondary && !zone.head.masters.is_empty() {
            let text = format!("zone {} is a copy of {}", self.zone, zone.head.masters.join(", "));
            return Err(refused(text, "it is changed where it is copied from"));
        }
        if let Some(live) = LiveKind::of(&held.kind) {
            let now = sending.context.now();
            sending.context.notes.set(&sending.note(), live.word(), now)?;
        }
        let mut writes = self.lists(&zone, &held, todo)?;
        writes.extend(self.opening(sending, &held, todo)?);
        let own = self.own();
        writes.extend(todo.value("account").map(|account| Write::SetAccount(own.clone(), account.to_owned())));
        writes.extend(apex(sending.context, &zone, todo)?);
        writes.extend(networks(&own, todo)?);
        sending.send(writes).await
    }

    /// Keys and what is to be thrown away, while the zone takes no update; and how updates move the serial.
    fn lists(&self, zone: &Zone, held: &Held, todo: &Difference) -> Result<Vec<Write>, Trouble> {
        let mut writes = Vec::new();
        let keys = key_names(todo)?;
        if todo.unset().any(|field| field == "keys") || keys.as_ref().is_some_and(Vec::is_empty) {
            let text = format!("zone {} would take updates of anybody without a key", self.zone);
            return Err(refused(text, "name a key"));
        }
        let empties = todo.unset().any(|field| field == "holds");
        if let Some(keys) = &keys {
            self.may_list(&held.metadata, keys)?;
        }
        if keys.is_some() || empties {
            let list = match keys {
                Some(keys) => keys,
                None => {
                    held.metadata.update_keys().iter().map(|key| dns_name(key.as_str())).collect::<Result<_, _>>()?
                }
            };
            let gone = if empties { emptying(zone) } else { Vec::new() };
            let meanwhile = if gone.is_empty() { Vec::new() } else { vec![Write::Patch(self.own(), gone)] };
            writes.extend(relisting(held, list, meanwhile));
        }
        if todo.unset().any(|field| field == "update-serial") {
            writes.push(Write::DeleteMetadata(self.own(), "SOA-EDIT-DNSUPDATE"));
        }
        match todo.value("update-serial") {
            None => {}
            Some("INCREASE") => writes.push(Write::PutMetadata(self.own(), Metadata::UpdateSerial)),
            Some(other) => {
                return Err(refused(format!("SOA-EDIT-DNSUPDATE is not set to {other} from here"), "set it by hand"));
            }
        }
        Ok(writes)
    }

    /// A list that has nothing of the one before belongs to somebody else: only a zone that comes over gets one.
    fn may_list(&self, metadata: &ZoneMetadata, keys: &[DnsName]) -> Result<(), Trouble> {
        let now = metadata.update_keys();
        let stays = now.iter().any(|key| key.as_str() == NOBODY || keys.iter().any(|k| k.as_str() == key.as_str()));
        let nobody = keys.iter().all(|key| key.as_str() == NOBODY);
        let own = self.tenant().is_some_and(|tenant| now.iter().all(|key| owns_key(tenant, key.as_str())));
        if now.is_empty() || stays || nobody || own || matches!(self.claim, super::Claim::Handover(_)) {
            return Ok(());
        }
        let listed = now.iter().map(Name::as_str).collect::<Vec<_>>().join(", ");
        Err(refused(
            format!("zone {} is updated with the key {listed}, and would go to another", self.zone),
            "hand it over: it is emptied then",
        ))
    }

    /// What makes a zone that is closed a live one again, or the way back.
    fn opening(&self, sending: &Sending<'_>, held: &Held, todo: &Difference) -> Result<Option<Write>, Trouble> {
        let own = self.own();
        Ok(match todo.value("kind") {
            None => None,
            Some(CLOSED) => Some(Write::Close(own)),
            Some("primary") => Some(Write::Reopen(own, LiveKind::Primary)),
            Some("native") => {
                if held.metadata.update_keys().is_empty() && key_names(todo)?.is_none() {
                    return Err(refused(format!("zone {} has no key, and would be open", self.zone), "name its key"));
                }
                let was = sending.context.notes.get(&sending.note());
                Some(match was.as_deref() {
                    Some("primary") => Write::Reopen(own, LiveKind::Primary),
                    _ => Write::MakeNative(own),
                })
            }
            Some(other) => return Err(refused(format!("no zone is made {other} from here"), "set it by hand")),
        })
    }

    async fn delete(&self, sending: &Sending<'_>) -> Result<(), Trouble> {
        let Some((zone, metadata)) = self.read(sending.context).await? else { return Ok(()) };
        self.not_anothers(&zone.head, &metadata)?;
        let held = emptying(&zone).len();
        if held > 0 && !matches!(self.claim, super::Claim::Whole(_)) {
            let text = format!("zone {} holds {held} record sets that are not this change's", self.zone);
            return Err(refused(text, "look at them; a plan that deletes the zone with all it holds says so"));
        }
        let client = sending.context.world.powerdns()?;
        match client.perform(sending.permit, &Write::DeleteZone(self.own())).await {
            Ok(_) | Err(Error::ZoneAbsent { .. }) => Ok(()),
            Err(error) => Err(Trouble::from(&error)),
        }
    }
}

/// Serials of new zones go by the day: above those that a zone of that name may have had before.
fn first_serial(context: &Context) -> u32 {
    let text = context.now().strftime("%Y%m%d00").to_string();
    text.parse().unwrap_or(1)
}

fn key_names(todo: &Difference) -> Result<Option<Vec<DnsName>>, Trouble> {
    todo.value("keys").map(|keys| words(keys).map(dns_name).collect()).transpose()
}

/// Who may send updates.
fn networks(zone: &Name, todo: &Difference) -> Result<Option<Write>, Trouble> {
    if todo.unset().any(|field| field == "networks") {
        return Ok(Some(Write::DeleteMetadata(zone.clone(), UPDATE_NETWORKS)));
    }
    let Some(text) = todo.value("networks") else { return Ok(None) };
    let bad = |word: &str| refused(format!("{word} is no network"), "correct update_networks in the site file");
    let nets = words(text).map(|word| word.parse().map_err(|_| bad(word))).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(Write::PutMetadata(zone.clone(), Metadata::UpdateNetworks(nets))))
}

/// NS and SOA. Timers and serial stay as they are (domain.md §4.3).
fn apex(context: &Context, zone: &Zone, todo: &Difference) -> Result<Option<Write>, Trouble> {
    let own = &zone.head.name;
    let one = |kind: &str, contents: Vec<String>| Change::Replace {
        name: own.clone(),
        kind: kind.to_owned(),
        ttl: 3600,
        records: contents
            .into_iter()
            .map(|content| Record { content: Content::new(&content), disabled: false })
            .collect(),
        comments: None,
    };
    let mut changes = Vec::new();
    if let Some(text) = todo.value("soa") {
        let names = text.split_whitespace().map(|word| Name::new(word).absolute()).collect::<Vec<_>>().join(" ");
        let held = zone.rrset(own, "SOA").and_then(|set| set.records.first()).map(|record| record.content.raw());
        let rest = held.map(|content| content.split_whitespace().skip(2).collect::<Vec<_>>().join(" "));
        let fresh = || format!("{} 10800 3600 604800 {}", first_serial(context), Apex::NEGATIVE);
        let rest = rest.filter(|rest| rest.split(' ').count() == 5).unwrap_or_else(fresh);
        changes.push(one("SOA", vec![format!("{names} {rest}")]));
    }
    if let Some(text) = todo.value("ns") {
        changes.push(one("NS", words(text).map(|host| Name::new(host).absolute()).collect()));
    }
    if todo.unset().any(|field| matches!(field, "soa" | "ns")) {
        return Err(refused(format!("zone {own} would be dead without its apex"), "name its nameserver"));
    }
    Ok((!changes.is_empty()).then(|| Write::Patch(own.clone(), changes)))
}
