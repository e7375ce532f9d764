//! PowerDNS: servers, zone heads in the order in which they were read, metadata, settings; dynamic updates that were sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::rows::{self, Row, number, read};
use super::sdn::text;
use super::{Facts, Reader, Sourced, Taken, json};
use crate::backends::powerdns::Name;
use crate::backends::powerdns::model::ZoneMetadata;
use crate::diagnose::evidence::{Api, Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[servers, server, settings, zone, zones, metadata, keys, update, wanted];

/// The word in the name of what somebody asks for.
const REQUEST: &str = "request";

/// A server behind an API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The place that was asked.
    pub from: String,
    /// Id in request paths.
    pub id: String,
    /// `authoritative`, `recursor`, …
    pub daemon: String,
    /// Version.
    pub version: Option<String>,
}

/// A record that somebody asks for, as the verb takes it: `add A web 192.0.2.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Type.
    pub kind: String,
    /// Name, whole or without its zone.
    pub name: String,
    /// Value.
    pub content: String,
}

/// A zone at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The place that was asked.
    pub from: String,
    /// Name.
    pub name: Name,
    /// `Native`, `Primary`, `Secondary`, in older versions `Master`, `Slave`; `None` = not told.
    pub kind: Option<String>,
    /// Serial; 0 also when the zone has no SOA any more.
    pub serial: Option<u64>,
    /// How the API moves the serial; `None` = not told.
    pub soa_edit_api: Option<String>,
    /// How many requests had been sent before.
    pub after: usize,
    /// Name, type, values of its RRsets, where they were asked for.
    pub rrsets: Option<Vec<(Name, String, Vec<String>)>>,
    /// Whose it is; `None` = not told.
    pub account: Option<String>,
    /// Remarks on RRsets: name, type, words.
    pub remarks: Vec<(Name, String, String)>,
    /// Whether all of its RRsets were asked for.
    pub whole: bool,
    /// The name and the type that alone were asked for, where they were.
    pub only: (Option<Name>, Option<String>),
}

/// A dynamic update and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// The host it was sent from.
    pub from: String,
    /// Key it was signed with.
    pub key: Option<Name>,
    /// `update failed: REFUSED` and the like; `None` = it went through.
    pub refused: Option<String>,
    /// The answer carried no signature: the server did not take the credential.
    pub unsigned: bool,
    /// File.
    pub file: Arc<str>,
}

/// What was read of it.
#[derive(Debug, Default)]
pub struct PowerDns {
    /// Servers by the API's own word.
    pub servers: Vec<Sourced<Server>>,
    /// Places whose list of servers was read.
    pub listed: Vec<String>,
    /// Settings.
    pub settings: Option<Sourced<BTreeMap<String, String>>>,
    /// Zones one by one, in order.
    pub zones: Vec<Sourced<Head>>,
    /// The list of all zones.
    pub zone_list: Option<Sourced<Vec<Name>>>,
    /// Metadata by zone.
    pub metadata: Vec<Sourced<ZoneMetadata>>,
    /// Names of all TSIG keys.
    pub keys: Option<Sourced<Vec<Name>>>,
    /// Updates.
    pub updates: Vec<Update>,
    /// Records that are asked for.
    pub wanted: Vec<Sourced<Wanted>>,
}

impl Head {
    /// Whether its content comes from another server, so that nobody changes it here.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        let kind = self.kind.as_deref().unwrap_or_default();
        ["Slave", "Secondary", "Consumer"].iter().any(|copy| copy.eq_ignore_ascii_case(kind))
    }

    /// Whether this reading would hold the set of `name` and `kind`, if its zone had one.
    #[must_use]
    pub fn looked_at(&self, name: &Name, kind: &str) -> bool {
        let (only_name, only_kind) = &self.only;
        let asked = only_name.as_ref().is_none_or(|only| only == name);
        self.rrsets.is_some() && asked && only_kind.as_deref().is_none_or(|only| only.eq_ignore_ascii_case(kind))
    }
}

impl PowerDns {
    /// A setting; `None` = not read, or not of this version.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.as_ref()?.get(name).map(String::as_str)
    }

    /// A yes-or-no setting.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.setting(name)? {
            "yes" | "true" | "on" | "1" => Some(true),
            "no" | "false" | "off" | "0" | "" => Some(false),
            _ => None,
        }
    }

    /// The last reading of `zone`.
    #[must_use]
    pub fn head(&self, zone: &Name) -> Option<&Sourced<Head>> {
        self.zones.iter().rev().find(|head| head.name == *zone)
    }

    /// Whether the zone is there; `None` = nobody asked, or the answer does not tell.
    #[must_use]
    pub fn has(&self, zone: &Name) -> Option<bool> {
        if self.head(zone).is_some() {
            return Some(true);
        }
        self.zone_list.as_ref().map(|list| list.contains(zone))
    }
}

fn servers(item: &Item, facts: &mut Facts) -> Taken {
    if let Err(taken) = rows::answered(item, Api::PowerDns, "servers") {
        return taken;
    }
    let server = |row: &Row| -> Result<Server, Taken> {
        Ok(Server {
            from: item.from.clone(),
            id: rows::need(row, "id", "a server")?,
            daemon: text(row, "daemon_type").unwrap_or_default(),
            version: text(row, "version"),
        })
    };
    let all = json(item)
        .and_then(|value| rows::objects(value, "servers"))
        .and_then(|rows| rows.iter().map(server).collect::<Result<Vec<_>, _>>());
    read(all, |all| {
        facts.powerdns.listed.push(item.from.clone());
        facts.powerdns.servers.extend(all.into_iter().map(|server| Sourced::new(server, item)));
    })
}

/// One server.
fn server(item: &Item, facts: &mut Facts) -> Taken {
    if let Err(taken) = rows::answered(item, Api::PowerDns, "servers/*") {
        return taken;
    }
    let row = json(item).and_then(|value| rows::object(value, "a server"));
    let server = row.and_then(|row| {
        Ok(Server {
            from: item.from.clone(),
            id: rows::need(&row, "id", "a server")?,
            daemon: text(&row, "daemon_type").unwrap_or_default(),
            version: text(&row, "version"),
        })
    });
    read(server, |server| facts.powerdns.servers.push(Sourced::new(server, item)))
}

/// `add TYPE NAME VALUE`, as somebody asks for it.
fn wanted(item: &Item, facts: &mut Facts) -> Taken {
    let words: Vec<&str> = item.body.split_whitespace().collect();
    let (Kind::Material(what), ["add", kind, name, value]) = (&item.kind, words.as_slice()) else {
        return Taken::NotMine;
    };
    if !super::is_called(what, REQUEST) {
        return Taken::NotMine;
    }
    if !kind.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) {
        return Taken::NotMine;
    }
    let wanted = Wanted { kind: (*kind).to_owned(), name: (*name).to_owned(), content: (*value).to_owned() };
    facts.powerdns.wanted.push(Sourced::new(wanted, item));
    Taken::Read
}

fn settings(item: &Item, facts: &mut Facts) -> Taken {
    if let Err(taken) = rows::answered(item, Api::PowerDns, "servers/*/config") {
        return taken;
    }
    let all = json(item).and_then(|value| rows::objects(value, "settings"));
    read(all, |all| {
        let pair = |row: &Row| Some((text(row, "name")?, text(row, "value")?));
        facts.powerdns.settings = Some(Sourced::new(all.iter().filter_map(pair).collect(), item));
    })
}

fn head(row: &Row, item: &Item, after: usize) -> Result<Head, Taken> {
    let records = |rrset: &Value| {
        let of = |key: &str| rrset.get(key).and_then(Value::as_str).map(str::to_owned);
        let served = |r: &&Value| r.get("disabled").and_then(Value::as_bool) != Some(true);
        let list = rrset.get("records").and_then(Value::as_array)?.iter();
        let values = list.filter(served).filter_map(|r| r.get("content").and_then(Value::as_str).map(str::to_owned));
        Some((Name::new(&of("name")?), of("type")?, values.collect()))
    };
    Ok(Head {
        from: item.from.clone(),
        name: Name::new(&rows::need(row, "name", "a zone")?),
        kind: text(row, "kind"),
        serial: number(row, "serial"),
        soa_edit_api: text(row, "soa_edit_api"),
        after,
        rrsets: row.get("rrsets").and_then(Value::as_array).map(|all| all.iter().filter_map(records).collect()),
        account: text(row, "account").filter(|account| !account.is_empty()),
        remarks: row.get("rrsets").and_then(Value::as_array).into_iter().flatten().flat_map(remarks).collect(),
        only: item.http().map_or((None, None), |http| {
            let asked = |key: &str| http.query.get(key);
            (asked("rrset_name").map(|name| Name::new(name)), asked("rrset_type").cloned())
        }),
        whole: item.http().is_some_and(|http| !http.query.contains_key("rrset_name")),
    })
}

/// Remarks on an RRset.
fn remarks(rrset: &Value) -> Vec<(Name, String, String)> {
    let of = |key: &str| rrset.get(key).and_then(Value::as_str);
    let (Some(name), Some(kind)) = (of("name"), of("type")) else { return Vec::new() };
    let all = rrset.get("comments").and_then(Value::as_array).into_iter().flatten();
    let words = all.filter_map(|comment| comment.get("content").and_then(Value::as_str));
    words.map(|words| (Name::new(name), kind.to_owned(), words.to_owned())).collect()
}

fn zone(item: &Item, facts: &mut Facts) -> Taken {
    match rows::answered(item, Api::PowerDns, "servers/*/zones/*") {
        Ok(http) if http.method == "GET" => {}
        _ => return Taken::NotMine,
    }
    let after = facts.calls.all.len();
    let one = json(item).and_then(|value| rows::object(value, "a zone")).and_then(|row| head(&row, item, after));
    read(one, |one| facts.powerdns.zones.push(Sourced::new(one, item)))
}

fn zones(item: &Item, facts: &mut Facts) -> Taken {
    match rows::answered(item, Api::PowerDns, "servers/*/zones") {
        // With `?zone=` the list is of one name only.
        Ok(http) if http.method == "GET" && !http.query.contains_key("zone") => {}
        _ => return Taken::NotMine,
    }
    let after = facts.calls.all.len();
    let all = json(item)
        .and_then(|value| rows::objects(value, "zones"))
        .and_then(|rows| rows.iter().map(|row| head(row, item, after)).collect::<Result<Vec<_>, _>>());
    read(all, |all| {
        let names = all.iter().map(|head| head.name.clone()).collect();
        facts.powerdns.zone_list = Some(Sourced::new(names, item));
        facts.powerdns.zones.extend(all.into_iter().map(|head| Sourced::new(head, item)));
    })
}

fn metadata(item: &Item, facts: &mut Facts) -> Taken {
    let zone = match rows::answered(item, Api::PowerDns, "servers/*/zones/*/metadata") {
        Ok(http) if http.method == "GET" => Name::new(http.segment(3)),
        _ => return Taken::NotMine,
    };
    let kind = |row: &Row| -> Result<(String, Vec<String>), Taken> {
        let values = row.get("metadata").and_then(Value::as_array);
        let values = values.ok_or_else(|| Taken::Unreadable("metadata without values".to_owned()))?;
        let kind = rows::need(row, "kind", "metadata")?;
        Ok((kind, values.iter().filter_map(Value::as_str).map(str::to_owned).collect()))
    };
    let all = json(item)
        .and_then(|value| rows::objects(value, "metadata"))
        .and_then(|rows| rows.iter().map(kind).collect::<Result<BTreeMap<_, _>, _>>());
    read(all, |kinds| facts.powerdns.metadata.push(Sourced::new(ZoneMetadata { zone, kinds }, item)))
}

fn keys(item: &Item, facts: &mut Facts) -> Taken {
    match rows::answered(item, Api::PowerDns, "servers/*/tsigkeys") {
        Ok(http) if http.method == "GET" => {}
        _ => return Taken::NotMine,
    }
    let all = json(item).and_then(|value| rows::objects(value, "keys"));
    read(all, |all| {
        let names = all.iter().filter_map(|row| text(row, "name").or_else(|| text(row, "id")));
        facts.powerdns.keys = Some(Sourced::new(names.map(|name| Name::new(&name)).collect(), item));
    })
}

/// nsupdate's own words: facts/dns.md §5, last but one paragraph of the table.
fn update(item: &Item, facts: &mut Facts) -> Taken {
    let Some((line, exit)) = item.command() else { return Taken::NotMine };
    let mut words = line.split_ascii_whitespace();
    if !words.any(|word| word == "nsupdate" || word.ends_with("/nsupdate")) {
        return Taken::NotMine;
    }
    let said = || item.body.lines().chain(item.stderr.lines());
    let refused = said().find_map(|l| l.trim().strip_prefix("update failed: ")).map(str::to_owned);
    if refused.is_none() && exit != Some(0) {
        return Taken::Unreadable("an update that ended without saying how".to_owned());
    }
    // `-y [algorithm:]name:secret`
    let key = line.split_ascii_whitespace().skip_while(|w| *w != "-y").nth(1);
    let key = key.and_then(|key| key.rsplit(':').nth(1)).map(Name::new);
    facts.powerdns.updates.push(Update {
        from: item.from.clone(),
        key,
        refused,
        unsigned: said().any(|l| l.contains("TSIG error with server")),
        file: Arc::from(item.file.as_str()),
    });
    Taken::Read
}
