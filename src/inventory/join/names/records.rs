//! Records of tenants' zones: those that are there, and those that ought to be.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use super::super::super::entities::{Mark, Origin, RecordRow, Workload, WorkloadNames};
use super::super::super::readings::{Answer, COMPARED, DnsReading};
use super::super::super::source::{Gap, GapKind, Seen};
use super::super::{Cx, Seed, diff};
use super::{PERIMETER, host, zones, zones_of};
use crate::backends::powerdns::Name;
use crate::backends::powerdns::model::RrSet;
use crate::inventory::Class;

/// A record that ought to be there: its contents, and whose it is.
struct Due {
    values: Vec<String>,
    vmid: u32,
}

type Dues = BTreeMap<(Name, &'static str), Due>;

/// What an authority has under a name and type.
struct Held {
    /// Contents as served, cleaned, and whether disabled.
    values: Vec<(Arc<str>, bool)>,
    ttl: Option<i64>,
}

/// One tenant while its rows are made.
struct Tenant<'a> {
    cx: &'a Cx<'a>,
    dns: &'a DnsReading,
    seed: &'a Seed,
    dues: Dues,
    /// Addresses of its VMs, or why not all of them are known.
    addresses: Seen<Vec<Ipv4Addr>>,
    stale: bool,
}

/// Rows of the tenant `seed`; its workloads are told of their names.
pub(super) fn of_tenant(cx: &Cx<'_>, dns: &DnsReading, seed: &Seed, workloads: &mut [Workload]) -> Vec<RecordRow> {
    let mut own: Vec<&mut Workload> = workloads.iter_mut().filter(|w| w.tenant == seed.name).collect();
    let mut dues = Dues::new();
    for w in &own {
        let Some(host) = host(cx.site, w) else { continue };
        let pair = [
            ((host.fqdn.clone(), "A"), host.address.to_string()),
            ((host.pointer, "PTR"), host.fqdn.as_str().to_owned()),
        ];
        for (key, value) in pair {
            dues.entry(key).or_insert_with(|| Due { values: Vec::new(), vmid: w.vmid }).values.push(value);
        }
    }
    let unread = super::guests_gap(cx).or_else(|| {
        let strange = |w: &&&mut Workload| w.origin != Origin::Ours;
        own.iter().filter(strange).find_map(|w| w.address.as_ref().err().cloned())
    });
    let bare = |w: &&mut Workload| {
        let configured = w.address.as_ref().ok().and_then(Option::as_deref);
        configured.and_then(|a| a.split('/').next()?.parse().ok()).or(w.derived_address)
    };
    let addresses = match unread {
        Some(gap) => Err(gap),
        None => Ok(own.iter().filter_map(bare).collect()),
    };
    let tenant = Tenant { cx, dns, seed, dues, addresses, stale: super::stale(cx).is_some() };
    let mut marks = BTreeMap::new();
    let rows: Vec<RecordRow> = zones_of(cx, seed).iter().flat_map(|zone| tenant.zone(zone, &mut marks)).collect();
    for w in &mut own {
        let Some(host) = host(cx.site, w) else { continue };
        let mark = |key| marks.get(&key).cloned().unwrap_or_else(|| Err(Gap::not_read("its zone")));
        w.names = WorkloadNames { a: mark((host.fqdn, "A")), ptr: mark((host.pointer, "PTR")) };
    }
    rows
}

type Marks = BTreeMap<(Name, &'static str), Seen<Mark>>;

impl Tenant<'_> {
    fn zone(&self, zone: &Name, marks: &mut Marks) -> Vec<RecordRow> {
        let mut rows = Vec::new();
        let missing = if self.dns.reach.has_api() {
            match self.content(zone) {
                Ok(None) => Ok(true),
                Ok(Some(content)) => {
                    for set in content.rrsets.iter().filter(|set| is_row(zone, set)) {
                        rows.push(self.set(zone, set, marks));
                    }
                    Ok(false)
                }
                Err(gap) => Err(gap),
            }
        } else {
            Ok(false)
        };
        let held_rows = rows.len();
        for (key, due) in self.dues.iter().filter(|((name, _), _)| name.is_in(zone)) {
            if marks.contains_key(key) {
                continue;
            }
            let held = match (&missing, self.dns.reach.has_api()) {
                (Err(gap), _) => Err(gap.clone()),
                (Ok(_), true) => Ok(Held { values: Vec::new(), ttl: None }),
                (Ok(_), false) => self.asked(key),
            };
            let absent = if missing == Ok(true) { "no zone" } else { "absent" };
            let mark = held.as_ref().map(|held| right(key.1, due, held, absent)).map_err(Clone::clone);
            marks.insert(key.clone(), mark.clone());
            rows.push(self.row(zone, key, (held, mark)));
        }
        if rows.len() > held_rows {
            // The zone is in tree order already; what ought to be there goes between.
            rows.sort_by(|a, b| a.name.rsplit('.').cmp(b.name.rsplit('.')));
        }
        rows
    }

    /// The zone's records; `None` where there is no such zone.
    fn content(&self, zone: &Name) -> Seen<Option<&crate::backends::powerdns::model::Zone>> {
        let list = self.dns.zones.as_ref().map_err(Clone::clone)?;
        if !list.iter().any(|head| head.name == *zone) {
            return Ok(None);
        }
        match self.dns.content.get(zone) {
            None => Err(Gap::not_read(zone.as_str())),
            Some(seen) => seen.as_ref().map(|zone| Some(&**zone)).map_err(Clone::clone),
        }
    }

    /// What the authority answered to a question, where there is no API.
    fn asked(&self, key: &(Name, &'static str)) -> Seen<Held> {
        let answer = self.dns.authority.get(key).cloned().unwrap_or_else(|| Err(Gap::not_read(key.0.as_str())))?;
        zones::known(&answer)?;
        let ttl = answer.left.filter(|_| !answer.records.is_empty()).map(i64::from);
        Ok(Held { values: answer.records.iter().map(|r| (Arc::from(r.as_str()), false)).collect(), ttl })
    }

    fn set(&self, zone: &Name, set: &RrSet, marks: &mut Marks) -> RecordRow {
        let kind = COMPARED.into_iter().find(|kind| *kind == set.kind);
        let values = set.records.iter().map(|r| (Arc::from(r.content.to_string()), r.disabled)).collect();
        let held = Held { values, ttl: Some(set.ttl) };
        let due = kind.and_then(|kind| Some(((set.name.clone(), kind), self.dues.get(&(set.name.clone(), kind))?)));
        let mark = match due {
            Some((key, due)) => {
                let mark = right(key.1, due, &held, "absent");
                marks.insert(key, Ok(mark.clone()));
                mark
            }
            None => self.tenants_own(set, &held),
        };
        match kind {
            Some(kind) => self.row(zone, &(set.name.clone(), kind), (Ok(held), Ok(mark))),
            None => self.row_of(zone, (&set.name, &set.kind, None), (Ok(held), Ok(mark)), not_compared()),
        }
    }

    /// What a tenant wrote itself. An address of its subnet that no VM has is worth a note.
    fn tenants_own(&self, set: &RrSet, held: &Held) -> Mark {
        let subnet = self.cx.site.numbering.subnet(self.seed.index);
        let orphan = |address: &Ipv4Addr| {
            subnet.contains(address) && self.addresses.as_ref().is_ok_and(|all| !all.contains(address))
        };
        let addresses: Vec<Ipv4Addr> = match set.kind.as_str() {
            "A" => held.values.iter().filter_map(|(value, _)| value.parse().ok()).collect(),
            "PTR" => address_of(&set.name).into_iter().collect(),
            _ => Vec::new(),
        };
        match (addresses.iter().any(orphan), &self.addresses) {
            (true, _) => Mark::new(Class::Info, NO_VM),
            // It may be a workload's own name.
            (false, Err(gap)) if !addresses.is_empty() => Mark::new(Class::Unknown, gap.word()),
            _ => Mark::new(Class::Info, "tenant's own"),
        }
    }

    fn row(&self, zone: &Name, key: &(Name, &'static str), seen: (Seen<Held>, Seen<Mark>)) -> RecordRow {
        let perimeter = super::perimeter(self.cx, self.dns, key);
        self.row_of(zone, (&key.0, key.1, self.dues.get(key)), seen, perimeter)
    }

    fn row_of(
        &self,
        zone: &Name,
        (name, kind, due): (&Name, &str, Option<&Due>),
        (held, mark): (Seen<Held>, Seen<Mark>),
        perimeter: Seen<Answer>,
    ) -> RecordRow {
        let object = format!("{name} {kind}");
        let mut diffs = Vec::new();
        let (mut class, mut word): (Class, Arc<str>) = match &mark {
            Ok(mark) => (mark.class, Arc::clone(&mark.word)),
            Err(gap) => (Class::Unknown, gap.word().into()),
        };
        if let (Ok(held), Some(due)) = (&held, due)
            && class >= Class::Differs
        {
            diffs.push(diff(object.clone(), "content", due.values.join(", "), shown(held)));
        }
        if let (Ok(held), Ok(answer)) = (&held, &perimeter) {
            let said = compare(kind, held, answer);
            if said.class >= Class::Differs {
                diffs.push(diff(object, PERIMETER, shown(held), answer_words(answer)));
            }
            let settled = class >= Class::Differs || &*word == NO_VM && said.class == Class::Fine;
            if !settled {
                (class, word) = (said.class, said.word);
            }
        }
        if self.stale || self.cx.pve_stale().is_some() && due.is_some() && diffs.iter().any(|d| d.field != PERIMETER) {
            (class, word) = (Class::Unknown, "unknown".into());
        }
        let gap = held.as_ref().err().cloned();
        let (values, ttl) = held.map_or_else(|_| (Vec::new(), None), |held| (held.values, held.ttl));
        RecordRow {
            tenant: Some(Arc::clone(&self.seed.name)),
            zone: zone.as_str().into(),
            name: name.as_str().into(),
            label: label(zone, name),
            kind: kind.into(),
            values,
            ttl,
            gap,
            workload: due.map(|due| due.vmid),
            perimeter,
            diffs,
            class,
            word,
        }
    }
}

const NO_VM: &str = "no VM";

/// Owner within its zone.
fn label(zone: &Name, name: &Name) -> Arc<str> {
    match name.below(zone) {
        Some("") | None => "@".into(),
        Some(label) => label.into(),
    }
}

/// SOA and NS of the apex are told with the zone; a set of comments alone is no record.
fn is_row(zone: &Name, set: &RrSet) -> bool {
    let apex = set.name == *zone && matches!(set.kind.as_str(), "SOA" | "NS");
    !apex && !set.records.is_empty()
}

fn not_compared() -> Seen<Answer> {
    Err(Gap::new(GapKind::Off, "not asked: only addresses, aliases and pointers are compared"))
}

/// Contents in one form, so that they can be compared.
fn plain(kind: &str, value: &str) -> String {
    match kind {
        "A" | "AAAA" => value.parse::<IpAddr>().map_or_else(|_| value.to_owned(), |address| address.to_string()),
        _ => Name::new(value).as_str().to_owned(),
    }
}

fn served(kind: &str, held: &Held) -> Vec<String> {
    let mut all: Vec<String> =
        held.values.iter().filter(|(_, disabled)| !disabled).map(|(value, _)| plain(kind, value)).collect();
    all.sort();
    all
}

fn shown(held: &Held) -> String {
    let one = |(value, disabled): &(Arc<str>, bool)| format!("{value}{}", if *disabled { " (disabled)" } else { "" });
    let all: Vec<String> = held.values.iter().map(one).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(", ") }
}

/// Whether the authority has what is due; `absent` says why not where nothing is there.
fn right(kind: &str, due: &Due, held: &Held, absent: &'static str) -> Mark {
    let (seen, wrong) = (served(kind, held), if kind == "PTR" { "wrong target" } else { "wrong address" });
    let mut expected = due.values.clone();
    expected.sort();
    match (held.values.is_empty(), seen.is_empty()) {
        (true, _) => Mark::new(Class::Fault, absent),
        (_, true) => Mark::new(Class::Fault, "disabled"),
        _ if seen == expected => Mark::new(Class::Fine, "right"),
        _ if expected.iter().all(|value| seen.contains(value)) => Mark::new(Class::Differs, "one too many"),
        _ => Mark::new(Class::Differs, wrong),
    }
}

/// What the perimeter says beside the authority. Why they differ is a diagnosis, not a reading.
fn compare(kind: &str, held: &Held, answer: &Answer) -> Mark {
    let mut said: Vec<String> = answer.records.iter().map(|value| plain(kind, value)).collect();
    said.sort();
    match answer.code.as_str() {
        "NOERROR" | "NXDOMAIN" if said == served(kind, held) => Mark::new(Class::Fine, "same"),
        "NOERROR" if said.is_empty() => Mark::new(Class::Differs, "FW empty"),
        "NOERROR" => Mark::new(Class::Differs, "FW differs"),
        code => Mark::new(Class::Differs, format!("FW {code}")),
    }
}

/// An answer in words.
fn answer_words(answer: &Answer) -> String {
    match answer.code.as_str() {
        "NOERROR" if answer.records.is_empty() => "no record".to_owned(),
        "NOERROR" => answer.records.join(", "),
        code => code.to_owned(),
    }
}

/// The address that a name under `in-addr.arpa` stands for.
fn address_of(name: &Name) -> Option<Ipv4Addr> {
    let head = name.below(&Name::new("in-addr.arpa"))?;
    head.rsplit('.').collect::<Vec<_>>().join(".").parse().ok()
}
