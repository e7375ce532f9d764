//! A record set, replaced as a whole and only while it is as it was looked at.

use serde::{Deserialize, Serialize};

use super::{Claim, DnsZone, is_lost};
use crate::backends::permit::Permit;
use crate::backends::powerdns::model::{Comment, Content, Record, RrSet, Zone};
use crate::backends::powerdns::{Change, Error, Guarded, Name, Replaced};
use crate::provision::fields::{Difference, Fields, Seen, Wanted, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Object, Place};
use crate::provision::plan::Step;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::{Context, World};

/// Before the content of a record that is kept and not served.
const OFF: &str = "(off) ";
/// Between records.
const BETWEEN: &str = ", ";

/// A record set: all records of one name and type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRecords {
    /// Zone, without final dot.
    pub zone: String,
    /// Owner, without final dot.
    pub owner: String,
    /// Type, upper-case.
    pub rtype: String,
    /// Whether what is there may be replaced or deleted without being named first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
}

impl DnsRecords {
    /// Fields of contents with one TTL in seconds. Contents are as PowerDNS takes them.
    pub fn wanted<S: AsRef<str>>(ttl: u32, contents: impl IntoIterator<Item = S>) -> Fields {
        let mut all: Vec<String> = contents.into_iter().map(|content| content.as_ref().to_owned()).collect();
        all.sort();
        fields([("ttl", ttl.to_string()), ("records", all.join(BETWEEN))])
    }

    fn find<'a>(&self, zone: &'a Zone) -> Option<&'a RrSet> {
        zone.rrset(&Name::new(&self.owner), &self.rtype)
    }

    /// What the set holds, as it is served or would be; nothing where it is not there.
    ///
    /// # Errors
    /// When the zone cannot be read.
    pub async fn contents(&self, world: &World) -> Result<Vec<String>, Trouble> {
        let zone = self.zone(world).await?;
        let set = zone.as_ref().and_then(|zone| self.find(zone));
        let records = set.map(|set| set.records.as_slice()).unwrap_or_default();
        Ok(records.iter().map(|record| record.content.raw().to_owned()).collect())
    }

    /// The step that takes out of the set what is meant, and leaves the rest; `None` where nothing of it is there.
    ///
    /// # Errors
    /// When the zone cannot be read.
    pub async fn without(self, world: &World, meant: impl Fn(&str) -> bool) -> Result<Option<Step>, Trouble> {
        let zone = self.zone(world).await?;
        let Some(set) = zone.as_ref().and_then(|zone| self.find(zone)) else { return Ok(None) };
        let rest: Vec<&Record> = set.records.iter().filter(|record| !meant(record.content.raw())).collect();
        if rest.len() == set.records.len() {
            return Ok(None);
        }
        if rest.is_empty() {
            return Ok(Some(Step::absent(Object::DnsRecords(self))));
        }
        let row = |record: &&Record| format!("{}{}", if record.disabled { OFF } else { "" }, record.content.raw());
        let mut rows: Vec<String> = rest.iter().map(row).collect();
        rows.sort();
        Ok(Some(Step::present(Object::DnsRecords(self), fields([("records", rows.join(BETWEEN))]))))
    }

    /// Refuses an alias beside other records, before a plan is made of it.
    ///
    /// # Errors
    /// What stands there; when the zone cannot be read.
    pub async fn stands_alone(&self, world: &World) -> Result<(), Trouble> {
        self.zone(world).await?.map_or(Ok(()), |zone| self.alone(&zone))
    }

    async fn zone(&self, world: &World) -> Result<Option<Zone>, Trouble> {
        let zone = DnsZone { zone: self.zone.clone(), claim: Claim::Any };
        match world.powerdns()?.zone(&zone.own()).await {
            Ok(zone) => Ok(Some(zone)),
            Err(Error::ZoneAbsent { .. }) => Ok(None),
            Err(error) => Err(Trouble::from(&error)),
        }
    }

    /// What is sent.
    fn change(&self, todo: &Difference, held: Option<&RrSet>) -> Result<Change, Trouble> {
        let (name, kind) = (Name::new(&self.owner), self.rtype.clone());
        if matches!(todo, Difference::Delete(_)) {
            return Ok(Change::Delete { name, kind });
        }
        let missing = |what: &str| Trouble::new(TroubleKind::Refused, format!("{}: {what} is missing", self.name()));
        let held_ttl = held.and_then(|set| u32::try_from(set.ttl).ok());
        let ttl = match todo.value("ttl") {
            Some(text) => text.parse().ok(),
            None => held_ttl,
        };
        let records = match todo.value("records") {
            Some(text) => parsed(text),
            None => held.map(|set| set.records.clone()).unwrap_or_default(),
        };
        if records.is_empty() {
            return Err(missing("a record"));
        }
        let comments = match todo.value("comments") {
            Some(text) => Some(comments_of(text).ok_or_else(|| missing("a comment that can be read"))?),
            None => todo.unset().any(|field| field == "comments").then(Vec::new),
        };
        Ok(Change::Replace { name, kind, ttl: ttl.ok_or_else(|| missing("a TTL in seconds"))?, records, comments })
    }

    /// Refuses an alias beside other records of its name, and these beside an alias: the server would too, and not say what
    /// stands there.
    fn alone(&self, zone: &Zone) -> Result<(), Trouble> {
        let own = Name::new(&self.owner);
        let there =
            zone.rrsets.iter().filter(|set| set.name == own && set.kind != self.rtype && !set.records.is_empty());
        let beside = there.filter(|set| self.rtype == "CNAME" || set.kind == "CNAME");
        let shown: Vec<String> = beside
            .map(|set| {
                let content = set.records.iter().map(|r| r.content.to_string()).collect::<Vec<_>>().join(BETWEEN);
                let words = set.comments.iter().map(|c| format!(" ({} {})", c.account, c.text)).collect::<String>();
                format!("{} {content}{words}", set.kind)
            })
            .collect();
        if shown.is_empty() {
            return Ok(());
        }
        let text = format!("{} has {} already, and an alias stands alone", self.owner, shown.join("; "));
        Err(Trouble::new(TroubleKind::Refused, text).with_help("choose another name, or delete those records first"))
    }

    /// Whether the set is still as the difference was told from.
    fn unmoved(&self, todo: &Difference, held: Option<&RrSet>) -> Result<(), Trouble> {
        let now = held.map(seen).unwrap_or_default();
        let same = match todo {
            Difference::Create(_) => held.is_none(),
            _ => todo.changes().iter().all(|change| now.get(&change.field) == change.now.as_ref()),
        };
        if same {
            return Ok(());
        }
        let text = format!("{} was changed by somebody else meanwhile", self.name());
        Err(Trouble::new(TroubleKind::Moved, text).with_help("look at the plan again"))
    }
}

fn seen(set: &RrSet) -> Fields {
    let mut rows: Vec<String> = set
        .records
        .iter()
        .map(|record| format!("{}{}", if record.disabled { OFF } else { "" }, record.content.raw()))
        .collect();
    rows.sort();
    let mut all = fields([("ttl", set.ttl.to_string()), ("records", rows.join(BETWEEN))]);
    if !set.comments.is_empty() {
        let rows: Vec<_> = set.comments.iter().map(|c| (&c.text, &c.account, c.modified_at)).collect();
        all.insert("comments".to_owned(), serde_json::to_string(&rows).unwrap_or_default());
    }
    all
}

fn comments_of(text: &str) -> Option<Vec<Comment>> {
    let rows: Vec<(String, String, Option<u64>)> = serde_json::from_str(text).ok()?;
    Some(rows.into_iter().map(|(text, account, modified_at)| Comment { text, account, modified_at }).collect())
}

/// TTL and contents of fields that [`DnsRecords::wanted`] made.
pub(super) fn set_of(fields: &Fields) -> Option<(u32, Vec<String>)> {
    let ttl = fields.get("ttl")?.parse().ok()?;
    let records = parsed(fields.get("records")?);
    Some((ttl, records.iter().map(|record| record.content.raw().to_owned()).collect()))
}

/// Records of a field: what stands between quotes holds no separator.
fn parsed(text: &str) -> Vec<Record> {
    let (mut rows, mut row) = (Vec::new(), String::new());
    let (mut quoted, mut escaped) = (false, false);
    for c in text.chars() {
        row.push(c);
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ' ' if !quoted && row.ends_with(BETWEEN) => {
                row.truncate(row.len() - BETWEEN.len());
                rows.push(std::mem::take(&mut row));
            }
            _ => {}
        }
    }
    rows.push(row);
    let record = |row: &String| {
        let (disabled, content) = row.strip_prefix(OFF).map_or((false, row.as_str()), |rest| (true, rest));
        Record { content: Content::new(content), disabled }
    };
    rows.iter().filter(|row| !row.is_empty()).map(record).collect()
}

impl Ensure for DnsRecords {
    fn place(&self) -> Place {
        Place::Dns
    }

    fn name(&self) -> String {
        format!("{} {}", self.owner, self.rtype)
    }

    fn without(&self, wanted: Wanted, lost: &[Object]) -> Option<Wanted> {
        Some(wanted).filter(|wanted| *wanted == Wanted::Absent || !is_lost(&self.zone, lost))
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::One
    }

    fn goes(&self, todo: &Difference) -> Vec<String> {
        vec![super::records_that_go(self.name(), todo)]
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            // A zone that is not there holds nothing: a step before may make it, or have taken it.
            let Some(zone) = self.zone(&context.world).await? else { return Ok(Seen::Absent) };
            let found = self.find(&zone).filter(|set| !set.records.is_empty() || !set.comments.is_empty());
            Ok(found.map_or(Seen::Absent, |set| Seen::Present(seen(set))))
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            if todo.is_nothing() {
                return Ok(());
            }
            let gone = || {
                Trouble::new(TroubleKind::Refused, format!("there is no zone {} for {}", self.zone, self.name()))
                    .with_help("make the zone first")
            };
            let zone = self.zone(&context.world).await?.ok_or_else(gone)?;
            let held = self.find(&zone);
            self.unmoved(todo, held)?;
            if !matches!(todo, Difference::Delete(_)) {
                self.alone(&zone)?;
            }
            let change = self.change(todo, held)?;
            let guarded = [Guarded::of(&zone, change)];
            let done = context.world.powerdns()?.replace(permit, &Name::new(&self.zone), &guarded).await;
            if let Replaced::Written { alone: Some(false), .. } = done.map_err(|e| Trouble::from(&e))? {
                context.tell("somebody else wrote this zone at the same moment; look at what stands there");
            }
            Ok(())
        })
    }

    /// What is there and is not to be there any more.
    fn riders(&self, seen: &Seen, own: &[Step]) -> Vec<String> {
        let Some(there) = seen.field("records").filter(|_| !self.known) else { return Vec::new() };
        let step = own.iter().find(|step| matches!(&step.object, Object::DnsRecords(records) if records == self));
        let mut kept = match step.map(|step| &step.wanted) {
            Some(Wanted::Present(fields)) => fields.get("records").map(|text| parsed(text)).unwrap_or_default(),
            _ => Vec::new(),
        };
        // What the change that is taken back left there is its own.
        kept.extend(step.and_then(|step| step.own("records")).map(parsed).unwrap_or_default());
        if parsed(there).iter().all(|record| kept.contains(record)) {
            return Vec::new();
        }
        vec![format!("{}, which is {there} now", self.name())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back_as_they_were_written() {
        for all in [
            vec!["10.20.129.10"],
            vec!["10.20.129.10", "10.20.129.11"],
            vec![r#""a, b" "c""#, r#""quote \", and \\""#],
            vec!["(off) 10.20.129.9"],
            vec!["1 . alpn=h2,h3 ipv4hint=10.0.0.1,10.0.0.2"],
        ] {
            let text = DnsRecords::wanted(300, all.clone())["records"].clone();
            let mut back: Vec<String> = parsed(&text)
                .iter()
                .map(|r| format!("{}{}", if r.disabled { OFF } else { "" }, r.content.raw()))
                .collect();
            back.sort();
            let mut all: Vec<String> = all.into_iter().map(str::to_owned).collect();
            all.sort();
            assert_eq!(back, all, "{text}");
        }
    }
}
