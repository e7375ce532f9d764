//! `get KIND`: read once, print, say what is unknown.

mod items;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::args::{Format, Global, Kind};
use super::print;
use super::{Code, Failure, open};
use crate::backends::proxmox::model::Change;
use crate::inventory::feed::Feed;
use crate::inventory::{Demand, Gap, GapKind, Inventory, Owner, Seen, SourceId, SourceStatus, VnetRow, ZoneRow};
use crate::runtime::clock;

/// Runs the verb.
pub(super) fn run(
    global: &Global,
    kind: Kind,
    tenant: Option<&str>,
    format: Format,
    timeout: u16,
) -> Result<Code, Failure> {
    let site = open::site(global)?;
    open::runtime()?.block_on(async {
        let clock = clock::system();
        let mut feed = Feed::start(&site, open::clients(&site).await?, &clock);
        feed.demand(demand(kind == Kind::Snat));
        let wanted = Wanted { kinds: &[kind], tenant };
        let inv = picture(&mut feed, wanted, Duration::from_secs(u64::from(timeout))).await;
        show(&mut std::io::stdout(), &inv, kind, tenant, format, clock())
    })
}

/// Sources a kind is made of.
const fn sources(kind: Kind) -> &'static [SourceId] {
    match kind {
        Kind::Tenants => &SourceId::ALL,
        Kind::Vrfs | Kind::Snat => &[SourceId::Pve, SourceId::Exit],
        Kind::Vnets | Kind::Pending => &[SourceId::Pve],
        Kind::Workloads => &[SourceId::Pve, SourceId::Boot],
        Kind::Records => &[SourceId::Dns, SourceId::Pve],
        Kind::Checkins => &[SourceId::Boot, SourceId::Pve],
        Kind::Rules => &[SourceId::Fw],
        Kind::Forwards => &[SourceId::Fw, SourceId::Pve],
        Kind::Sources => &SourceId::ALL,
    }
}

/// What a picture is taken for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Everything of these.
    pub(super) kinds: &'a [Kind],
    /// Names are asked for at the perimeter of this tenant alone.
    pub(super) tenant: Option<&'a str>,
}

impl Wanted<'_> {
    /// Everything of these kinds.
    pub(super) const fn all(kinds: &[Kind]) -> Wanted<'_> {
        Wanted { kinds, tenant: None }
    }

    fn complete(self, inv: &Inventory) -> bool {
        self.kinds.iter().all(|kind| complete(inv, *kind, self.tenant))
    }

    /// What is wanted in every detail, as far as it is known what there is.
    fn known(self, inv: &Inventory) -> Demand {
        let mut demand = demand(self.kinds.contains(&Kind::Snat));
        if self.kinds.contains(&Kind::Workloads) {
            let vmids: BTreeSet<_> = inv.workloads.iter().map(|w| w.vmid).collect();
            demand.vmids = vmids.into_iter().collect();
        }
        if self.kinds.contains(&Kind::Records) {
            let named = inv.tenants.iter().filter(|t| self.tenant.is_none_or(|name| *t.name == *name));
            demand.tenants = named.map(|t| Arc::clone(&t.name)).collect();
        }
        demand
    }
}

/// Whether every source of `kind` has answered, failed, or is off.
fn settled(inv: &Inventory, kind: Kind) -> bool {
    sources(kind)
        .iter()
        .map(|id| inv.sources.get(*id))
        .all(|h| !h.configured || h.observed_at.is_some() || h.error.is_some())
}

/// Whether everything that `kind` needs was read, or will not be; of names at the perimeter, those of `tenant`.
fn complete(inv: &Inventory, kind: Kind, tenant: Option<&str>) -> bool {
    if !settled(inv, kind) {
        return false;
    }
    match kind {
        Kind::Workloads => !inv.workloads.iter().any(|w| unread(&w.address) || unread(&w.pending)),
        // Whose machine reported is known by its UUID.
        Kind::Checkins => !inv.workloads.iter().any(|w| unread(&w.uuid)),
        Kind::Tenants => {
            !inv.workloads.iter().any(|w| unread(&w.address))
                && !inv.vnets.iter().any(|v| unread(&v.subnets))
                && names_read(inv)
                && perimeter_read(inv)
        }
        // What a source could not be asked is known after it was asked everything.
        Kind::Sources => names_read(inv) && perimeter_read(inv),
        Kind::Vnets => {
            !inv.vnets.iter().any(|v| unread(&v.subnets) || v.nodes.iter().any(|(_, carries)| unread(carries)))
        }
        // Without the workloads nobody knows which names ought to be there.
        Kind::Records => {
            !inv.workloads.iter().any(|w| unread(&w.address))
                && names_read(inv)
                && !inv
                    .records
                    .iter()
                    .any(|r| unread(&r.perimeter) && (tenant.is_none() || r.tenant.as_deref() == tenant))
        }
        // Edits of subnets are known only with the subnets.
        Kind::Pending => !inv.vnets.iter().any(|v| unread(&v.subnets)),
        // What a rule means is known with the aliases, which are read after the rules.
        Kind::Rules => !unread(&inv.perimeter.must_not_exist) && !inv.rules.iter().any(|r| unread(&r.touches)),
        Kind::Vrfs | Kind::Snat | Kind::Forwards => true,
    }
}

/// Whether every zone was read, or will not be.
fn names_read(inv: &Inventory) -> bool {
    let health = inv.sources.get(SourceId::Dns);
    let hole = |gap: Option<&Gap>| gap.is_some_and(|gap| gap.kind == GapKind::NotRead);
    !health.configured
        || health.error.is_some()
        || !inv.records.iter().any(|r| hole(r.gap.as_ref()))
            && !inv.zones.iter().any(|z| {
                let exists = z.exists == Ok(true);
                unread(&z.exists) || exists && (unread(&z.rrsets) || unread(&z.keys) || unread(&z.nameservers))
            })
}

/// Whether every part of the perimeter was read, or will not be.
fn perimeter_read(inv: &Inventory) -> bool {
    let health = inv.sources.get(SourceId::Fw);
    !health.configured || health.error.is_some() || !inv.perimeter.waits
}

fn unread<T>(seen: &Seen<T>) -> bool {
    matches!(seen, Err(Gap { kind: GapKind::NotRead, .. }))
}

/// Waits for a picture that has everything `wanted`, at most `limit`; then takes what there is.
pub(super) async fn picture(feed: &mut Feed, wanted: Wanted<'_>, limit: Duration) -> Arc<Inventory> {
    let whole = async {
        let mut demand = Demand::default();
        // What waits for a cold start is read of those that are asked for: here, of all, as far as it is known which
        // those are. A hand-made VM is seen to be a tenant's by its configuration. So with names at the perimeter.
        loop {
            let next = feed.inventory.wait_for(|inv| wanted.complete(inv) || wanted.known(inv) != demand).await;
            match next.map(|inv| (wanted.complete(&inv), wanted.known(&inv))) {
                Ok((false, more)) => demand = more,
                _ => break,
            }
            feed.demand(demand.clone());
        }
    };
    // Late is no failure: what was not read by then is unknown, and says so.
    drop(tokio::time::timeout(limit, whole).await);
    Arc::clone(&feed.inventory.borrow())
}

/// State of the sources as JSON.
fn source_states(inv: &Inventory, now: Timestamp) -> Value {
    let one = |(id, h): (SourceId, &crate::inventory::SourceHealth)| {
        json!({
            "name": id,
            "state": h.status(now),
            "age_s": h.age(now).map(|a| a.as_secs()),
            "error": h.error.as_ref().map(|e| e.text.to_string()),
            "help": h.error.as_ref().and_then(|e| e.help.as_ref()).map(ToString::to_string),
            "gaps": h.gaps.iter().map(|g| g.why.to_string()).collect::<Vec<_>>(),
        })
    };
    json!(inv.sources.iter().map(one).collect::<Vec<_>>())
}

/// Prints `kind`. The code is 3 where something of it is unknown.
///
/// # Errors
/// When `tenant` names nobody, or stdout is closed.
pub(super) fn show(
    out: &mut dyn Write,
    inv: &Inventory,
    kind: Kind,
    tenant: Option<&str>,
    format: Format,
    now: Timestamp,
) -> Result<Code, Failure> {
    let list = items(inv, kind, tenant)?;
    match format {
        Format::Table => print::table(out, inv, kind, tenant, &list, now)?,
        _ => print::document(out, &document(inv, kind, &list, now), format)?,
    }
    Ok(code(inv, kind, tenant, &list, now))
}

/// Prints `kind` as JSON on one line, for watches. The code as in [`show`].
///
/// # Errors
/// As [`show`].
pub(super) fn show_line(
    out: &mut dyn Write,
    inv: &Inventory,
    kind: Kind,
    tenant: Option<&str>,
    now: Timestamp,
) -> Result<Code, Failure> {
    let list = items(inv, kind, tenant)?;
    writeln!(out, "{}", document(inv, kind, &list, now))?;
    Ok(code(inv, kind, tenant, &list, now))
}

/// The items of a kind, of one tenant where one is named.
fn items(inv: &Inventory, kind: Kind, tenant: Option<&str>) -> Result<Seen<Vec<Value>>, Failure> {
    let mut list = items::all(inv, kind);
    if let Some(name) = tenant {
        known_tenant(inv, name)?;
        if let Ok(items) = &mut list {
            items.retain(|i| items::of_tenant(inv, kind, i, name));
        }
    }
    Ok(list)
}

fn document(inv: &Inventory, kind: Kind, list: &Seen<Vec<Value>>, now: Timestamp) -> Value {
    let states = source_states(inv, now);
    let items = match list {
        _ if kind == Kind::Sources => states.clone(),
        // What the site does not have has no items, which is known.
        Err(gap) if gap.kind == GapKind::Off => json!([]),
        list => json!(list.as_ref().ok()),
    };
    let mut document = json!({
        "schema": format!("deevnet-console/get-{}/v1", kind.word()),
        "at": now.to_string(),
        "sources": states,
        "items": items,
    });
    if let (Err(gap), Some(map)) = (list, document.as_object_mut())
        && gap.kind != GapKind::Off
    {
        map.insert("unknown".to_owned(), json!(gap.why.to_string()));
    }
    document
}

/// An unknown tenant is an error only where the tenants are known.
///
/// # Errors
/// When the tenants were read and `name` is none of them; the help names the nearest.
pub(super) fn known_tenant(inv: &Inventory, name: &str) -> Result<(), Failure> {
    if inv.tenants_gap.is_some() || inv.tenant(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = inv.tenants.iter().map(|t| &*t.name).collect();
    let near = crate::site::text::nearest(name, names.iter().copied());
    let help = near.map_or_else(|| format!("there are: {}", names.join(", ")), |n| format!("did you mean {n}?"));
    Err(Failure::usage(format!("no tenant is called {name:?}"), help))
}

fn code(inv: &Inventory, kind: Kind, tenant: Option<&str>, list: &Seen<Vec<Value>>, now: Timestamp) -> Code {
    let late = sources(kind)
        .iter()
        .any(|id| !matches!(inv.sources.get(*id).status(now), SourceStatus::Off | SourceStatus::Fresh));
    let refused = sources(kind).iter().any(|id| inv.sources.get(*id).gaps.iter().any(|g| g.kind == GapKind::Denied));
    let holes = |item: &Value| {
        let unknown = item.get("unknown").and_then(Value::as_object);
        unknown.is_some_and(|u| u.keys().any(|key| key != items::NEEDS_TWO_SAMPLES))
    };
    let off = |item: &Value| kind == Kind::Tenants && only_off(inv, item);
    let unknown =
        list.as_ref().map_or_else(|gap| gap.kind != GapKind::Off, |items| items.iter().any(|i| holes(i) && !off(i)));
    // Those of a VNet that is being deleted go with it.
    let hidden = |v: &VnetRow| v.subnets.is_err() && v.change != Change::Deleted;
    let unknown = unknown || kind == Kind::Pending && inv.vnets.iter().any(hidden);
    // Nobody knows which records a zone holds that could not be read.
    let asked = |z: &ZoneRow| z.records_gap.is_some() && tenant.is_none_or(|name| z.tenant.as_deref() == Some(name));
    let unknown = unknown || kind == Kind::Records && inv.zones.iter().any(|z| z.tenant.is_some() && asked(z));
    let unknown =
        unknown || kind == Kind::Forwards && inv.forwards.iter().any(|f| f.class == crate::inventory::Class::Unknown);
    if late || refused || unknown { Code::Unknown } else { Code::Ok }
}

/// Whether what a tenant item does not know is only what the site does not have.
fn only_off(inv: &Inventory, item: &Value) -> bool {
    let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
    inv.tenant(name)
        .filter(|t| !matches!(t.owner, Owner::Unknown(_)))
        .is_some_and(|t| t.layers.all().iter().all(|(_, _, l)| l.gap.as_ref().is_none_or(|g| g.kind == GapKind::Off)))
}

/// What a headless read looks at: everything, counters live.
pub(super) fn demand(live: bool) -> Demand {
    Demand { live_counters: live, at_once: true, ..Demand::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing::{Sample, now};

    #[test]
    fn pending_edits_are_not_known_before_the_subnets_are() {
        let shown = |inv: &Inventory| {
            let mut out = Vec::new();
            let code = show(&mut out, inv, Kind::Pending, None, Format::Json, now()).unwrap_or(Code::Usage);
            (complete(inv, Kind::Pending, None), code)
        };
        assert_eq!(shown(&Sample::healthy().join()), (true, Code::Ok));
        let mut s = Sample::healthy();
        s.pve.sdn.as_mut().unwrap().subnets.remove("radio0");
        assert_eq!(shown(&s.join()), (false, Code::Unknown), "not read yet");
        let mut s = Sample::healthy();
        s.pve.sdn.as_mut().unwrap().subnets.remove("radio0");
        s.pve.subnet_gaps.insert("radio0".into(), Gap::new(GapKind::Failed, "no sense in it"));
        assert_eq!(shown(&s.join()), (true, Code::Unknown), "never to be known");
    }

    #[test]
    fn check_ins_off_are_known_and_old_or_broken_ones_are_not() {
        let shown = |sample: Sample, tenant: Option<&str>| {
            let mut out = Vec::new();
            let inv = sample.join();
            let code = show(&mut out, &inv, Kind::Checkins, tenant, Format::Json, now()).expect("a document");
            let json: Value = serde_json::from_slice(&out).expect("JSON");
            (code, json["items"].clone())
        };
        let (code, items) = shown(Sample::healthy(), Some("eds"));
        let all = items.as_array().expect("items");
        assert_eq!((code, all.len()), (Code::Ok, 2));
        assert!(all.iter().all(|i| i["tenant"] == "eds" && i["state"] == "applied"), "{items}");
        let mut s = Sample::healthy();
        s.boot.records = Err(Gap::new(GapKind::Off, "offers no check-ins"));
        assert_eq!(shown(s, None), (Code::Ok, json!([])), "an API without check-ins is known to have none");
        let mut s = Sample::healthy();
        s.fail(SourceId::Boot, GapKind::NoAnswer, "no answer", true);
        assert_eq!(shown(s, None).0, Code::Unknown, "old");
        let mut s = Sample::healthy();
        s.boot.holes = Some(Gap::new(GapKind::Failed, "line 3"));
        let (code, items) = shown(s, Some("radio"));
        assert_eq!((code, &items[0]["unknown"]["state"]), (Code::Unknown, &json!("line 3")));
    }

    fn zone_of() -> crate::backends::powerdns::Name {
        crate::backends::powerdns::Name::new("tdemo.mobile.deevnet.net")
    }

    #[test]
    fn records_of_a_zone_that_could_not_be_read_end_with_3() {
        let shown = |change: fn(&mut Sample, Gap), tenant: &str| {
            let mut s = Sample::of(&[("tdemo".into(), 1, Vec::new()), ("eds".into(), 2, Vec::new())]);
            change(&mut s, Gap::new(GapKind::Failed, "tdemo.mobile.deevnet.net: status 500"));
            let mut out = Vec::new();
            show(&mut out, &s.join(), Kind::Records, Some(tenant), Format::Json, now()).expect("a document")
        };
        let never: fn(&mut Sample, Gap) = |s, gap| drop(s.dns.content.insert(zone_of(), Err(gap)));
        let again: fn(&mut Sample, Gap) = |s, gap| drop(s.dns.old.insert(zone_of(), gap));
        assert_eq!(shown(|_, _| {}, "tdemo"), Code::Ok);
        for change in [never, again] {
            assert_eq!((shown(change, "tdemo"), shown(change, "eds")), (Code::Unknown, Code::Ok));
        }
    }

    #[test]
    fn an_owner_that_is_not_known_ends_with_3() {
        use crate::inventory::testing::registry::{all, with_registry};
        let shown = |sample: Sample| {
            let inv = sample.join();
            let list = items(&inv, Kind::Tenants, None).expect("items");
            let first = list.as_ref().map(|l| l[0]["owner"].clone()).unwrap_or_default();
            (code(&inv, Kind::Tenants, None, &list, now()), first)
        };
        assert_eq!(shown(Sample::healthy()), (Code::Ok, json!("console")));
        let mut s = with_registry(Sample::healthy(), all());
        assert_eq!(shown(with_registry(Sample::healthy(), all())), (Code::Ok, json!("registry")));
        s.fail(SourceId::Registry, GapKind::NoAnswer, "no answer", true);
        assert_eq!(shown(s), (Code::Unknown, Value::Null));
    }

    #[test]
    fn parts_of_the_perimeter_that_are_old_end_with_3() {
        let late = || Some(Gap::new(GapKind::NoAnswer, "late"));
        let code = |kind, change: fn(&mut crate::inventory::FwReading, Option<Gap>)| {
            let mut s = Sample::healthy();
            change(&mut s.fw, late());
            printed(&s.join(), kind, None).0
        };
        assert_eq!(code(Kind::Rules, |fw, gap| fw.rules_old = gap), Code::Unknown);
        assert_eq!(code(Kind::Forwards, |fw, gap| fw.forwards_old = gap), Code::Unknown);
        assert_eq!(code(Kind::Forwards, |fw, gap| fw.rules_old = gap), Code::Ok);
    }

    fn ends(sample: Sample, at: Timestamp) -> Code {
        let inv = sample.join();
        let list = items(&inv, Kind::Vnets, None).expect("items");
        code(&inv, Kind::Vnets, None, &list, at)
    }

    #[test]
    fn a_missing_right_and_old_data_end_with_3() {
        assert_eq!(ends(Sample::healthy(), now()), Code::Ok);
        assert_eq!(ends(Sample::healthy(), now() + jiff::SignedDuration::from_mins(5)), Code::Unknown, "old");
        let mut partial = Sample::healthy();
        let mut health = partial.sources.get(SourceId::Pve).clone();
        health.gaps.push(Gap::new(GapKind::Denied, "the token sees some zones only"));
        partial.sources.set(SourceId::Pve, health);
        assert_eq!(ends(partial, now()), Code::Unknown, "what is missing from a list that hides is unknown");
    }

    fn printed(inv: &Inventory, kind: Kind, tenant: Option<&str>) -> (Code, Value) {
        let mut out = Vec::new();
        let code = show(&mut out, inv, kind, tenant, Format::Json, now()).unwrap_or(Code::Usage);
        (code, serde_json::from_slice(&out).expect("JSON"))
    }

    #[test]
    fn rules_and_forwards_are_the_sites_or_a_tenants() {
        let inv = Sample::healthy().join();
        assert!(complete(&inv, Kind::Rules, None) && complete(&inv, Kind::Forwards, None));
        let (code, all) = printed(&inv, Kind::Rules, None);
        let (touching, own) = printed(&inv, Kind::Rules, Some("eds"));
        assert_eq!((code, touching), (Code::Ok, Code::Ok));
        let count = |v: &Value| v["items"].as_array().expect("items").len();
        assert_eq!((count(&all), count(&own)), (41, 10));
        let first = &own["items"][0];
        assert_eq!(first["description"], "ansible: gateway services DNS tenant_transit");
        assert_eq!((&first["touches"], &first["loaded"]), (&json!("every"), &json!(true)));
        assert!(first["hits"]["packets"].is_u64() && first["must_not_exist"].is_null());
        let (code, forwards) = printed(&inv, Kind::Forwards, Some("eds"));
        let domains: Vec<&str> =
            forwards["items"].as_array().expect("items").iter().filter_map(|f| f["domain"].as_str()).collect();
        assert_eq!((code, domains), (Code::Ok, vec!["eds.mobile.deevnet.net", "130.20.10.in-addr.arpa"]));
    }

    #[test]
    fn rules_wait_for_what_they_mean_and_end_with_3_where_it_stays_unknown() {
        let with = |gap: fn() -> Gap| {
            let mut s = Sample::healthy();
            s.fw.aliases = Err(gap());
            s.join()
        };
        let early = with(|| Gap::not_read("the alias list"));
        assert!(!complete(&early, Kind::Rules, None));
        let denied = with(|| Gap::new(GapKind::Denied, "not permitted"));
        assert!(complete(&denied, Kind::Rules, None));
        let (code, rules) = printed(&denied, Kind::Rules, None);
        let holes = rules["items"].as_array().expect("items").iter().filter(|r| r["touches"].is_null());
        assert!(holes.clone().all(|r| r["unknown"]["touches"] == "not permitted") && holes.count() > 0);
        assert_eq!(code, Code::Unknown);
        let mut late = Sample::healthy();
        late.fail(SourceId::Fw, GapKind::NoAnswer, "no answer", true);
        assert_eq!(printed(&late.join(), Kind::Forwards, None).0, Code::Unknown);
    }
}
