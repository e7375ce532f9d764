//! The items of `get`, in the field names of the command line's contract. Unknown is `null` with its reason under
//! `unknown`; nothing is left out silently.

mod perimeter;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::backends::registry::Step;
use crate::inventory::{
    Answer, CheckInEvent, CheckInRow, Fact, FieldDiff, Flow, GapKind, Inventory, LastReport, Layer, Origin, Owner,
    PendingEdit, RecordRow, Registration, Seen, Tenant, VnetRow, Vrf, Workload,
};

/// Puts a value, or `null` and the reason.
struct Item {
    fields: Map<String, Value>,
    unknown: BTreeMap<&'static str, String>,
}

impl Item {
    fn new(fields: Value) -> Self {
        let fields = match fields {
            Value::Object(map) => map,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Self { fields, unknown: BTreeMap::new() }
    }

    fn seen<T>(mut self, key: &'static str, value: &Seen<T>, show: impl FnOnce(&T) -> Value) -> Self {
        let shown = match value {
            Ok(v) => show(v),
            // What the site does not have is nothing that is not known.
            Err(gap) if gap.kind == GapKind::Off => Value::Null,
            Err(gap) => {
                self.unknown.insert(key, gap.why.to_string());
                Value::Null
            }
        };
        self.fields.insert(key.to_owned(), shown);
        self
    }

    fn done(mut self) -> Value {
        self.fields.insert("unknown".to_owned(), json!(self.unknown));
        Value::Object(self.fields)
    }
}

fn diffs(list: &[FieldDiff]) -> Value {
    json!(list)
}

/// `null` = not known.
fn owner(owner: &Owner) -> Value {
    match owner {
        Owner::Console => json!("console"),
        Owner::Registry(_) => json!("registry"),
        Owner::Unregistered => json!("unregistered"),
        Owner::Unknown(_) => Value::Null,
    }
}

fn registered(r: &Registration) -> Value {
    let step = |s: &Step| json!({ "name": s.name, "ok": s.ok, "updated_at": s.updated_at.map(|t| t.to_string()) });
    json!({
        "status": r.entry.status.word(),
        "outcome": r.entry.outcome,
        "index": r.entry.index,
        "egress": r.egress.as_ref().ok(),
        "secrets_stored": r.entry.secrets_stored,
        "steps": r.entry.steps.as_ref().map(|all| all.iter().map(step).collect::<Vec<_>>()),
        "absent_from_fabric": r.only,
    })
}

/// A tenant.
pub(super) fn tenant(t: &Tenant) -> Value {
    let mut presence = Map::new();
    let mut words = Map::new();
    let mut unknown = BTreeMap::new();
    let mut all: Vec<&FieldDiff> = Vec::new();
    for (_, name, layer) in t.layers.all() {
        let layer: &Layer = layer;
        presence.insert(name.to_owned(), json!(layer.presence));
        words.insert(name.to_owned(), json!(layer.words));
        if let Some(gap) = &layer.gap {
            unknown.insert(name, gap.why.to_string());
        }
        all.extend(&layer.diffs);
    }
    if let Owner::Unknown(gap) = &t.owner {
        unknown.insert("owner", gap.why.to_string());
    }
    let registration = t.owner.registration();
    all.extend(registration.iter().flat_map(|r| &r.diffs));
    json!({
        "owner": owner(&t.owner),
        "registry": registration.map(registered),
        "name": t.name,
        "index": t.index,
        "drill": t.drill,
        "status": t.status,
        "vrf_vni": t.vrf_vni,
        "vnet_vni": t.vnet_vni,
        "subnet": t.subnet.to_string(),
        "gateway": t.gateway.to_string(),
        "forward_zone": t.forward_zone,
        "reverse_zone": t.reverse_zone,
        "presence": presence,
        "words": words,
        "diffs": all,
        "unknown": unknown,
    })
}

/// A workload.
pub(super) fn workload(w: &Workload) -> Value {
    let text = |v: &Option<Arc<str>>| json!(v);
    let origin = match &w.origin {
        Origin::Ours => json!({ "foreign": false }),
        Origin::Foreign(how) => json!({ "foreign": true, "why": how }),
    };
    Item::new(json!({
        "tenant": w.tenant,
        "name": w.name,
        "vm_name": w.vm_name,
        "vmid": w.vmid,
        "ordinal": w.ordinal,
        "node": w.node,
        "status": w.status,
        "lock": w.lock,
        "derived_address": w.derived_address.map(|a| a.to_string()),
        "origin": origin,
        "cpu": w.cpu,
        "cpus": w.cpus,
        "mem": w.mem,
        "maxmem": w.maxmem,
        "maxdisk": w.maxdisk,
        "started_at": w.started_at.map(|t| t.to_string()),
        "diffs": diffs(&w.diffs),
    }))
    .seen("mac", &w.mac, text)
    .seen("address", &w.address, |a| json!(a.as_deref().map(|a| a.split('/').next().unwrap_or(a))))
    .seen("bridge", &w.bridge, text)
    .seen("nameserver", &w.nameserver, text)
    .seen("uuid", &w.uuid, text)
    .seen("pending", &w.pending, |p| json!(p))
    .seen("agent", &w.agent, |a| json!(a))
    .seen("checkin", &w.checkin, |m| json!({ "state": m.class, "word": m.word }))
    .done()
}

fn fact(f: &Fact) -> Value {
    json!({
        "name": f.label,
        "value": f.value,
        "state": f.class,
        "word": f.word,
        "unknown": f.gap.as_ref().map(|g| g.why.to_string()),
    })
}

/// A VRF on an exit node.
pub(super) fn vrf(v: &Vrf) -> Value {
    let mut item = Item::new(json!({
        "tenant": v.tenant,
        "node": v.node,
        "device": v.device,
        "vni": v.vni,
        "state": v.class,
        "facts": v.facts.iter().map(fact).collect::<Vec<_>>(),
        "diffs": diffs(&v.diffs),
    }));
    item.unknown.extend(v.facts.iter().filter_map(|f| Some((f.label, f.gap.as_ref()?.why.to_string()))));
    item.seen("routes", &v.routes, |routes| {
        json!(
            routes
                .iter()
                .map(|(r, why)| json!({
                    "dst": r.dst.to_string(),
                    "kind": r.kind,
                    "gateway": r.gateway.map(|g| g.to_string()),
                    "dev": r.dev,
                    "protocol": r.protocol,
                    "metric": r.metric,
                    "state": why.class,
                    "why": why.words,
                }))
                .collect::<Vec<_>>()
        )
    })
    .done()
}

fn flow(f: &Flow) -> Value {
    json!({
        "new_connections": f.total,
        "per_second": f.per_second,
        "since": f.since.map(|t| t.to_string()),
        "reset_at": f.reset_at.map(|t| t.to_string()),
    })
}

/// What one sample of counters cannot tell; no hole in the picture.
pub(super) const NEEDS_TWO_SAMPLES: &str = "vnet_bytes_per_second";

/// SNAT of a tenant on an exit node. The counts are first packets of connections: activity, not health.
pub(super) fn snat(v: &Vrf) -> Value {
    Item::new(json!({ "tenant": v.tenant, "node": v.node }))
        .seen("rules", &v.snat, |rules| {
            json!(
                rules
                    .iter()
                    .map(|r| json!({
                        "engine": r.engine,
                        "source": r.source.map(|s| s.to_string()),
                        "out_interface": r.out_interface,
                        "to_source": r.to_source.map(|s| s.to_string()),
                        "new_connections": r.new_connections,
                        "text": r.text,
                    }))
                    .collect::<Vec<_>>()
            )
        })
        .seen("flow", &v.flow, flow)
        .seen(NEEDS_TWO_SAMPLES, &v.vnet_bytes_s, |b| json!(b))
        .done()
}

/// A VNet.
pub(super) fn vnet(v: &VnetRow) -> Value {
    let nodes: Vec<Value> = v
        .nodes
        .iter()
        .map(|(node, said)| match said {
            Ok(status) => json!({ "node": node, "status": status, "unknown": null }),
            Err(gap) => json!({ "node": node, "status": null, "unknown": gap.why.to_string() }),
        })
        .collect();
    Item::new(json!({
        "vnet": v.vnet,
        "zone": v.zone,
        "tenant": v.tenant,
        "tag": v.tag,
        "ordinal": v.ordinal,
        "change": v.change,
        "state": v.class,
        "word": v.word,
        "alias": v.alias,
        "nodes": nodes,
        "diffs": diffs(&v.diffs),
    }))
    .seen("subnets", &v.subnets, |subnets| {
        json!(
            subnets
                .iter()
                .map(|s| json!({
                    "cidr": s.cidr,
                    "gateway": s.gateway.map(|g| g.to_string()),
                    "snat": s.snat,
                    "change": s.change,
                    "derived": s.derived,
                }))
                .collect::<Vec<_>>()
        )
    })
    .done()
}

/// An answer of the perimeter resolver.
fn answer(a: &Answer) -> Value {
    json!({
        "server": a.server.to_string(),
        "at": a.at.to_string(),
        "code": a.code,
        "authoritative": a.authoritative,
        "values": a.records,
        "left_s": a.left,
        "soa": a.soa.as_ref().map(|(owner, serial)| json!({ "owner": owner.as_str(), "serial": serial })),
    })
}

/// A record. A perimeter that is not asked for a record by intention is no hole: `perimeter` is `null` then.
pub(super) fn record(r: &RecordRow) -> Value {
    let one = |(value, disabled): &(Arc<str>, bool)| json!({ "content": value, "disabled": disabled });
    let values: Seen<Vec<Value>> = match &r.gap {
        Some(gap) => Err(gap.clone()),
        None => Ok(r.values.iter().map(one).collect()),
    };
    let item = Item::new(json!({
        "tenant": r.tenant,
        "zone": r.zone,
        "name": r.name,
        "type": r.kind,
        "ttl": r.ttl,
        "vmid": r.workload,
        "state": r.class,
        "word": r.word,
        "perimeter": null,
        "diffs": diffs(&r.diffs),
    }))
    .seen("values", &values, |values| json!(values));
    match &r.perimeter {
        Err(gap) if gap.kind == GapKind::Off => item.done(),
        seen => item.seen("perimeter", seen, |a| answer(a)).done(),
    }
}

/// A pending edit.
pub(super) fn pending(e: &PendingEdit) -> Value {
    json!({ "kind": e.kind, "id": e.id, "tenant": e.tenant, "change": e.change, "what": e.what, "by": e.by })
}

/// A check-in.
pub(super) fn checkin(c: &CheckInRow) -> Value {
    let report = |r: &LastReport| {
        let status = if r.error.is_some() { "error" } else { "ok" };
        json!({ "at": r.at.to_string(), "phase": r.phase, "status": status, "code": r.error, "detail": r.detail,
                "from": r.from })
    };
    let event = |e: &CheckInEvent| json!({ "at": e.at.to_string(), "what": e.what, "state": e.class, "text": e.text });
    let mut item = Item::new(json!({
        "tenant": c.tenant,
        "workload": c.workload,
        "vmid": c.vmid,
        "state": c.state,
        "class": c.class,
        "word": c.word,
        "since": c.since.map(|t| t.to_string()),
        "declared": c.declared,
        "applied": c.applied,
        "token": { "kid": c.kid, "words": c.token, "expires_at": c.token_expires.map(|t| t.to_string()) },
        "instance": c.instance,
        "last_report": c.last_report.as_ref().map(report),
        "next": c.next,
        "events": c.events.iter().map(event).collect::<Vec<_>>(),
    }));
    if let Some(gap) = &c.gap {
        item.unknown.insert("state", gap.why.to_string());
    }
    item.done()
}

/// Whether an item belongs to `tenant`; a rule, whether it touches its traffic.
pub(super) fn of_tenant(inv: &Inventory, kind: super::Kind, item: &Value, tenant: &str) -> bool {
    if kind == super::Kind::Rules {
        let uuid = item.get("uuid").and_then(Value::as_str);
        let at = inv.rules.iter().position(|r| Some(&*r.uuid) == uuid);
        return at.is_some_and(|i| crate::console::lists::touches(inv, i, tenant));
    }
    let named = |key: &str| item.get(key).and_then(Value::as_str) == Some(tenant);
    named("tenant") || (item.get("index").is_some() && named("name"))
}

/// All items of a kind, or why there is no list.
pub(super) fn all(inv: &Inventory, kind: super::Kind) -> Seen<Vec<Value>> {
    use super::Kind;
    match kind {
        Kind::Tenants => known(inv.tenants_gap.as_ref(), &inv.tenants, tenant),
        Kind::Vrfs => known(inv.tenants_gap.as_ref(), &inv.vrfs, vrf),
        Kind::Snat => known(inv.tenants_gap.as_ref(), &inv.vrfs, snat),
        Kind::Vnets => known(inv.tenants_gap.as_ref(), &inv.vnets, vnet),
        Kind::Workloads => known(inv.workloads_gap.as_ref(), &inv.workloads, workload),
        Kind::Checkins => known(inv.checkins_gap.as_ref(), &inv.checkins, checkin),
        Kind::Records => known(inv.records_gap.as_ref().or(inv.tenants_gap.as_ref()), &inv.records, record),
        Kind::Rules => known(inv.rules_gap.as_ref(), &inv.rules, perimeter::rule),
        Kind::Forwards => known(inv.forwards_gap.as_ref(), &inv.forwards, perimeter::forward),
        Kind::Pending => inv.fabric.pending.as_ref().map_err(Clone::clone).map(|p| p.iter().map(pending).collect()),
        Kind::Sources => Ok(Vec::new()),
    }
}

fn known<T>(gap: Option<&crate::inventory::Gap>, rows: &[T], show: fn(&T) -> Value) -> Seen<Vec<Value>> {
    match gap {
        Some(gap) => Err(gap.clone()),
        None => Ok(rows.iter().map(show).collect()),
    }
}
