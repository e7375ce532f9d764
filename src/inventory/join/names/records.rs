//! Records of tenants' zones: those that are there, and those that ought to be.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use super::super::super::entities::{Mark, RecordRow, Workload, WorkloadNames};
use super::super::super::hosts::{Host, host};
use super::super::super::readings::{Answer, COMPARED, DnsReading};
use super::super::super::source::{Gap, GapKind, Seen};
use super::super::{Cx, Seed, diff};
use super::{PERIMETER, zones, zones_of};
use crate::backends::powerdns::Name;
use crate::backends::powerdns::model::RrSet;
use crate::inventory::Class;

/// A record that ought to be there: its contents, and whose it is.
struct Due {
    values: Vec<String>,
    vmid: u32,
    /// Why the address of its VM is not known: the derived one stands in, and another one is no finding.
    unread: Option<Gap>,
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
    let hosts: Vec<Option<Host>> = own.iter().map(|w| host(cx.site, w)).collect();
    for (w, host) in own.iter().zip(&hosts) {
        let Some(host) = host else { continue };
        let pair = [
            ((host.fqdn.clone(), "A"), host.address.to_string()),
            ((host.pointer.clone(), "PTR"), host.fqdn.as_str().to_owned()),
        ];
        for (key, value) in pair {
            let due = dues.entry(key).or_insert_with(|| Due { values: Vec::new(), vmid: w.vmid, unread: None });
            due.values.push(value);
            due.unread = due.unread.take().or_else(|| w.address.as_ref().err().cloned());
        }
    }
    let unread = super::guests_gap(cx).or_else(|| own.iter().find_map(|w| w.address.as_ref().err().cloned()));
    let bare = |w: &&mut Workload| w.own_address().ok().flatten();
    let addresses = match unread {
        Some(gap) => Err(gap),
        None => Ok(own.iter().filter_map(bare).collect()),
    };
    let tenant = Tenant { cx, dns, seed, dues, addresses, stale: super::stale(cx).is_some() };
    let mut marks = BTreeMap::new();
    let rows: Vec<RecordRow> = zones_of(cx, seed).iter().flat_map(|zone| tenant.zone(zone, &mut marks)).collect();
    for (w, host) in own.iter_mut().zip(hosts) {
        let Some(host) = host else { continue };
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
            let mark = held.as_ref().map_err(Clone::clone);
            let mark = mark.and_then(|held| self.judged(due, self.right(key.1, due, held, absent)));
            marks.insert(key.clone(), mark.clone());
            rows.push(self.row(zone, key, (held, mark)));
        }
        if rows.len() > held_rows {
            // The zone is in tree order already; what ought to be there goes between.
            rows.sort_by(|a, b| a.name.rsplit('.').cmp(b.name.rsplit('.')));
        }
        if let Some(gap) = self.dns.old.get(zone) {
            for ((name, _), mark) in marks.iter_mut() {
                if name.is_in(zone) {
                    *mark = Err(gap.clone());
                }
            }
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
        Ok(Held { values: answer.records.iter().map(|r| (self.cx.text(r), false)).collect(), ttl })
    }

    fn set(&self, zone: &Name, set: &RrSet, marks: &mut Marks) -> RecordRow {
        let kind = COMPARED.into_iter().find(|kind| *kind == set.kind);
        let values = set.records.iter().map(|r| (self.cx.text(r.content.to_string()), r.disabled)).collect();
        let held = Held { values, ttl: Some(set.ttl) };
        let due = kind.and_then(|kind| Some(((set.name.clone(), kind), self.dues.get(&(set.name.clone(), kind))?)));
        let mark = match due {
            Some((key, due)) => {
                let mark = self.judged(due, self.right(key.1, due, &held, "absent"));
                marks.insert(key, mark.clone());
                mark
            }
            None => Ok(self.tenants_own(set, &held)),
        };
        match kind {
            Some(kind) => self.row(zone, &(set.name.clone(), kind), (Ok(held), mark)),
            None => self.row_of(zone, (&set.name, &set.kind, None), (Ok(held), mark), self.not_compared()),
        }
    }

    /// What is wrong is so only while what is due is known.
    fn judged(&self, due: &Due, mark: Mark) -> Seen<Mark> {
        let unknown = || self.cx.pve_stale().or_else(|| due.unread.clone());
        match unknown().filter(|_| mark.class >= Class::Differs) {
            Some(gap) => Err(gap),
            None => Ok(mark),
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
            (true, _) => self.cx.mark(Class::Info, NO_VM),
            // It may be a workload's own name.
            (false, Err(gap)) if !addresses.is_empty() => self.cx.mark(Class::Unknown, gap.word()),
            _ => self.cx.mark(Class::Info, "tenant's own"),
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
        perimeter: Seen<Arc<Answer>>,
    ) -> RecordRow {
        let object = || format!("{name} {kind}");
        let mut diffs = Vec::new();
        let (mut class, mut word): (Class, Arc<str>) = match &mark {
            Ok(mark) => (mark.class, Arc::clone(&mark.word)),
            Err(gap) => (Class::Unknown, self.cx.text(gap.word())),
        };
        if let (Ok(held), Some(due)) = (&held, due)
            && class >= Class::Differs
        {
            diffs.push(diff(object(), "content", due.values.join(", "), shown(held)));
        }
        if let (Ok(held), Ok(answer)) = (&held, &perimeter) {
            let said = self.compare(kind, held, answer);
            if said.class >= Class::Differs {
                diffs.push(diff(object(), PERIMETER, shown(held), answer_words(answer)));
            }
            // That both servers say the same settles nothing about whose it is.
            let open = class == Class::Unknown || &*word == NO_VM;
            let settled = class >= Class::Differs || mark.is_err() || open && said.class == Class::Fine;
            if !settled {
                (class, word) = (said.class, said.word);
            }
        }
        if let Some(gap) = self.dns.old.get(zone) {
            (class, word) = (Class::Unknown, self.cx.text(gap.word()));
        }
        if self.stale || class == Class::Unknown && held.is_ok() && self.cx.pve_stale().is_some() {
            (class, word) = (Class::Unknown, self.cx.text("unknown"));
        }
        let gap = held.as_ref().err().cloned();
        let (values, ttl) = held.map_or_else(|_| (Vec::new(), None), |held| (held.values, held.ttl));
        RecordRow {
            tenant: Some(Arc::clone(&self.seed.name)),
            zone: zone.text(),
            name: name.text(),
            label: self.cx.text(label(zone, name)),
            kind: self.cx.text(kind),
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

    fn not_compared(&self) -> Seen<Arc<Answer>> {
        Err(self.cx.gap(GapKind::Off, "not asked: only addresses, aliases and pointers are compared"))
    }

    /// Whether the authority has what is due; `absent` says why not where nothing is there.
    fn right(&self, kind: &str, due: &Due, held: &Held, absent: &'static str) -> Mark {
        let (seen, wrong) = (served(kind, held), if kind == "PTR" { "wrong target" } else { "wrong address" });
        let mut expected = due.values.clone();
        expected.sort();
        let (class, word) = match (held.values.is_empty(), seen.is_empty()) {
            (true, _) => (Class::Fault, absent),
            (_, true) => (Class::Fault, "disabled"),
            _ if seen == expected => (Class::Fine, "right"),
            _ if expected.iter().all(|value| seen.contains(value)) => (Class::Differs, "one too many"),
            _ => (Class::Differs, wrong),
        };
        self.cx.mark(class, word)
    }

    /// What the perimeter says beside the authority. Why they differ is a diagnosis, not a reading.
    fn compare(&self, kind: &str, held: &Held, answer: &Answer) -> Mark {
        let mut said: Vec<String> = answer.records.iter().map(|value| plain(kind, value)).collect();
        said.sort();
        match answer.code.as_str() {
            "NOERROR" | "NXDOMAIN" if said == served(kind, held) => self.cx.mark(Class::Fine, "same"),
            "NOERROR" if said.is_empty() => self.cx.mark(Class::Differs, "FW empty"),
            "NOERROR" => self.cx.mark(Class::Differs, "FW differs"),
            code => self.cx.mark(Class::Differs, format!("FW {code}")),
        }
    }
}

const NO_VM: &str = "no VM";

/// Owner within its zone.
fn label<'a>(zone: &Name, name: &'a Name) -> &'a str {
    match name.below(zone) {
        Some("") | None => "@",
        Some(label) => label,
    }
}

/// SOA and NS of the apex are told with the zone; a set of comments alone is no record.
fn is_row(zone: &Name, set: &RrSet) -> bool {
    let apex = set.name == *zone && matches!(set.kind.as_str(), "SOA" | "NS");
    !apex && !set.records.is_empty()
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
