//! The registry of the invented site (domain.md §4.6): tenants as they were registered, and whose VRF has a way out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::http::{Answer, Call, Payload};
use super::sdn::Kind;
use super::state::{ApiHealth, World, mix};

/// The registry.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    /// How it behaves.
    pub api: ApiHealth,
    /// Its operator token.
    pub token: String,
    /// Tenant → index.
    pub tenants: BTreeMap<String, u32>,
}

/// Every tenant of the fabric is registered.
#[must_use]
pub fn build(world: &World) -> Registry {
    let zones = world.sdn.configured.of(Kind::Zone).filter_map(|(zone, _)| {
        let vni: u32 = world.sdn.configured.text(Kind::Zone, zone, "vrf-vxlan")?.parse().ok()?;
        Some((zone.clone(), vni.checked_sub(10_000)?))
    });
    let word = |part| mix(world.seed, &format!("registry token {part}"));
    Registry {
        api: ApiHealth { up: true, tokens_known: true, unauthorized_delay_ms: 0, ..ApiHealth::default() },
        token: format!("{:016x}{:016x}", word("a"), word("b")),
        tenants: zones.collect(),
    }
}

/// Answers a request.
pub(super) fn answer(world: &World, _now: i64, call: &Call) -> Answer {
    let registry = &world.registry;
    let wanted = format!("Bearer {}", registry.token);
    if !registry.api.tokens_known || call.header("authorization") != Some(wanted.as_str()) {
        return Answer::new(401, Payload::Json(json!({"error": "unauthorized"})));
    }
    match (call.method.as_str(), call.path.as_str()) {
        ("GET", "/v1/tenants") => {
            let rows: Vec<Value> = registry.tenants.iter().map(|(name, index)| tenant(name, *index)).collect();
            Answer::json(json!({ "tenants": rows }))
        }
        ("GET", "/v1/fabric/egress") => {
            let row = |name: &String| json!({"tenant": name, "vrf": format!("vrf_{name}")});
            Answer::json(json!({"vrfs": registry.tenants.keys().map(row).collect::<Vec<_>>()}))
        }
        _ => Answer::new(404, Payload::Json(json!({"error": "not found"}))),
    }
}

fn tenant(name: &str, index: u32) -> Value {
    let third = 128 + index;
    let steps = ["dns", "resolver", "state", "network"].map(|step| json!({"name": step, "ok": true}));
    json!({
        "name": name, "index": index, "status": "ready", "outcome": "created",
        "network": {"vrf_vni": 10_000 + index, "vnet_vni_base": 20_000 + 10 * index,
            "subnet": format!("10.20.{third}.0/24"), "gateway": format!("10.20.{third}.1")},
        "secrets_stored": true,
        "steps": steps,
    })
}
