//! Check-ins of the invented site: one record for each workload (docs/bootstrap-records.md), told from what is known of
//! its delivery and of its machine.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::http::{Answer, Call, Payload};
use super::moment;
use super::node::routes::Tables;
use super::sdn::Kind;
use super::state::{ApiHealth, Guest, World, mix};

/// Path of the list.
const LIST: &str = "/v1/bootstrap/records";
/// Records of a page, whatever is wished.
const PAGE: usize = 500;
/// Seconds between two reports.
const INTERVAL: i64 = 3600;
/// Seconds that a token lives.
const LIFE: i64 = 1800;
/// Address every guest comes from.
const EXIT: &str = "10.20.50.22";

/// The service that lists check-ins.
#[derive(Debug, Clone, Default)]
pub struct Boot {
    /// How it behaves.
    pub api: ApiHealth,
    /// Its operator credential.
    pub credential: String,
    /// Whether it has the list at all.
    pub offered: bool,
    /// Whether the credential may list.
    pub denied: bool,
    /// VMID → how far its configuration came; absent = none declared.
    pub deliveries: BTreeMap<u32, Delivery>,
}

/// How far one workload came with its configuration.
#[derive(Debug, Clone, Default)]
pub struct Delivery {
    /// Generation declared.
    pub declared: u64,
    /// Generation delivered.
    pub delivered: u64,
    /// When the token was issued, seconds since the epoch.
    pub issued: i64,
    /// When it ends.
    pub expires: i64,
    /// When it was exchanged.
    pub redeemed: Option<i64>,
    /// When the configuration ran.
    pub applied: Option<i64>,
    /// An error that was reported last: when, phase, code, detail.
    pub failed: Option<(i64, &'static str, &'static str, &'static str)>,
    /// When a second holder was refused.
    pub replayed: Option<i64>,
    /// When another machine reported.
    pub foreign: Option<i64>,
    /// When it fell silent.
    pub silent: Option<i64>,
}

/// Everything applied; of every seventh workload or so nothing is declared.
#[must_use]
pub fn build(world: &World) -> Boot {
    let credential = |part| mix(world.seed, &format!("bootstrap credential {part}"));
    let mut deliveries = BTreeMap::new();
    for (vmid, started) in workloads(world).filter_map(|(vmid, guest)| Some((vmid, guest.started?))) {
        if vmid % 40 > 1 && world.number(&format!("declared {vmid}")).is_multiple_of(7) {
            continue;
        }
        let generation = 1 + world.number(&format!("generation {vmid}")) % 4;
        deliveries.insert(vmid, Delivery::applied(generation, started));
    }
    Boot {
        api: ApiHealth { up: true, tokens_known: true, unauthorized_delay_ms: 0, ..ApiHealth::default() },
        credential: format!("{:016x}{:016x}", credential("a"), credential("b")),
        offered: true,
        denied: false,
        deliveries,
    }
}

impl Delivery {
    /// A configuration that ran a minute after its machine started.
    fn applied(generation: u64, started: i64) -> Self {
        Self {
            declared: generation,
            delivered: generation,
            issued: started - 9,
            expires: started - 9 + LIFE,
            redeemed: Some(started + 56),
            applied: Some(started + 150),
            ..Self::default()
        }
    }
}

/// What a machine's configuration looks like when it was handed over by pointer: `dvb1;…` in its serial number.
fn pointer(guest: &Guest) -> Option<i64> {
    use base64::Engine as _;

    let serial = guest.property("smbios1", "serial")?;
    let encoded = guest.property("smbios1", "base64").as_deref() == Some("1");
    let text = if encoded {
        let padded = base64::engine::general_purpose::STANDARD;
        String::from_utf8(padded.decode(&serial).ok()?).ok()?
    } else {
        serial
    };
    let mut fields = text.split(';');
    if fields.next() != Some("dvb1") {
        return None;
    }
    fields.find_map(|field| field.strip_prefix("x=")?.parse().ok())
}

/// A machine that booted asks for its configuration, if it was given a pointer and can get out. It asks once: a pointer
/// that it knows leads to what it has already.
pub(super) fn check_in(world: &mut World, now: i64, vmid: u32) {
    let Some(guest) = world.guests.get(&vmid) else { return };
    let (Some(started), Some(expires)) = (guest.started, pointer(guest)) else { return };
    let vnet = guest.property("net0", "bridge").unwrap_or_default();
    let zone = world.loaded(&guest.node).text(Kind::Vnet, &vnet, "zone").unwrap_or_default();
    let out = Tables::of(world).vrf(&zone).iter().any(|route| route.is_unicast() && route.dst.prefix_len() == 0);
    if guest.address.is_none() || !guest.wired() || !out || world.exit.missing_vnets.contains(&vnet) {
        return;
    }
    let before = world.boot.deliveries.get(&vmid);
    if before.is_some_and(|delivery| delivery.expires == expires && delivery.redeemed.is_some()) {
        return;
    }
    let generation = before.map_or(1, |delivery| delivery.declared);
    let issued = (expires - LIFE).min(started);
    let told = Delivery { declared: generation, delivered: generation, issued, expires, ..Delivery::default() };
    let delivery = match expires > now {
        true => Delivery { redeemed: Some(now), applied: Some(now), ..told },
        false => told,
    };
    world.boot.deliveries.insert(vmid, delivery);
}

/// Machines of tenants.
fn workloads(world: &World) -> impl Iterator<Item = (u32, &Guest)> {
    let tenants = 2040..4560;
    world.guests.iter().filter(move |(vmid, guest)| tenants.contains(*vmid) && !guest.template).map(|(v, g)| (*v, g))
}

/// Answers a request.
pub(super) fn answer(world: &World, now: i64, call: &Call) -> Answer {
    let wanted = format!("Bearer {}", world.boot.credential);
    if !world.boot.api.tokens_known || call.header("authorization") != Some(wanted.as_str()) {
        return said(401, "the credential is not known");
    }
    if world.boot.denied {
        return said(403, "this credential may not list check-ins");
    }
    if call.path != LIST || !world.boot.offered {
        return said(404, "not found");
    }
    if call.method != "GET" {
        return said(405, "GET alone is understood");
    }
    let limit = call.param("limit").and_then(|text| text.parse().ok()).unwrap_or(PAGE).clamp(1, PAGE);
    let after: Option<u32> = call.param("after").and_then(|text| text.strip_prefix('v')?.parse().ok());
    let mut rows = workloads(world).filter(|(vmid, _)| after.is_none_or(|after| *vmid > after)).peekable();
    let (mut items, mut last) = (Vec::new(), 0);
    while let Some((vmid, guest)) = rows.next_if(|_| items.len() < limit) {
        last = vmid;
        items.extend(record(world, now, vmid, guest));
    }
    let next = rows.peek().map(|_| format!("v{last}"));
    Answer::json(json!({"schema": "deevnet.bootstrap-records/v1", "at": text(now), "items": items, "next": next}))
}

fn said(status: u16, error: &str) -> Answer {
    Answer::new(status, Payload::Json(json!({"error": error})))
}

fn text(seconds: i64) -> String {
    moment(seconds).to_string()
}

/// The record of a workload; none where nothing is declared.
fn record(world: &World, now: i64, vmid: u32, guest: &Guest) -> Option<Value> {
    let name = guest.text("name")?;
    let (tenant, workload) = name.split_once('-')?;
    let delivery = world.boot.deliveries.get(&vmid)?;
    let uuid = guest.property("smbios1", "uuid").unwrap_or_default();
    let state = match delivery.redeemed {
        Some(_) => "redeemed",
        None if delivery.expires <= now => "expired",
        None => "issued",
    };
    let claim = |who: &str| format!("{:016x}", world.number(&format!("claim {vmid} {who}")));
    let refusals: Vec<Value> = delivery
        .replayed
        .iter()
        .map(|at| json!({"at": text(*at), "reason": "claim-mismatch", "from": EXIT, "claim": claim("second")}))
        .collect();
    Some(json!({
        "tenant": tenant, "workload": workload, "vmid": vmid,
        "declared": {"generation": delivery.declared, "digest": digest(world, vmid, delivery.declared)},
        "token": {
            "kid": format!("{:016X}", world.number(&format!("kid {vmid} {}", delivery.issued))),
            "state": state, "issued_at": text(delivery.issued), "expires_at": text(delivery.expires),
            "redeemed_at": delivery.redeemed.map(text), "redeemed_from": delivery.redeemed.map(|_| EXIT),
            "smbios_uuid": uuid, "generation": delivery.delivered,
        },
        "refusals": refusals,
        "reports": reports(world, now, vmid, guest, &uuid),
        "interval_s": INTERVAL,
    }))
}

fn digest(world: &World, vmid: u32, generation: u64) -> String {
    format!("sha256:{:016x}", world.number(&format!("digest {vmid} {generation}")))
}

/// What the agent said, oldest first: the way to the configuration, then a sign of life each hour.
fn reports(world: &World, now: i64, vmid: u32, guest: &Guest, uuid: &str) -> Vec<Value> {
    let Some(delivery) = world.boot.deliveries.get(&vmid) else { return Vec::new() };
    let boot = super::build::uuid(world, &format!("boot {vmid}"));
    let told = |at: i64, phase: &str, uuid: &str| {
        json!({"at": text(at), "phase": phase, "status": "ok", "code": "", "detail": "",
            "generation": delivery.delivered, "digest": digest(world, vmid, delivery.delivered),
            "smbios_uuid": uuid, "boot_id": boot, "from": EXIT})
    };
    let mut out: Vec<Value> = delivery.redeemed.iter().map(|at| told(*at, "redeem", uuid)).collect();
    if let Some(applied) = delivery.applied {
        out.push(told(applied - 40, "pull", uuid));
        out.push(told(applied, "start", uuid));
        // A machine that is off says nothing more than it had.
        let until = delivery.silent.unwrap_or(now).min(guest.started.map_or(world.disturbed, |_| now));
        let hours = (until - applied).div_euclid(INTERVAL);
        if hours > 0 {
            out.push(told(applied + hours * INTERVAL, "health", uuid));
        }
    }
    if let Some((at, phase, code, detail)) = delivery.failed {
        let mut report = told(at, phase, uuid);
        if let Value::Object(report) = &mut report {
            report.extend([("status".to_owned(), json!("error")), ("code".to_owned(), json!(code))]);
            report.insert("detail".to_owned(), json!(detail));
        }
        out.push(report);
    }
    out.extend(
        delivery.foreign.map(|at| told(at, "health", &super::build::uuid(world, &format!("old smbios {vmid}")))),
    );
    out
}
