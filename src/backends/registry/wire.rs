//! From JSON to entries. Unknown fields are ignored; an entry that makes no sense fails its list, because a tenant that
//! is left out would look like one that nobody registered.

use serde::Deserialize;
use serde_json::Value;

use super::error::Error;
use super::model::{Egress, Status, Step, Tenant};
use crate::backends::http::clean;

#[derive(Debug, Deserialize)]
struct RawTenant {
    name: String,
    index: Option<u64>,
    status: Option<String>,
    outcome: Option<String>,
    network: Option<RawNetwork>,
    secrets_stored: Option<bool>,
    steps: Option<Vec<RawStep>>,
}

#[derive(Debug, Deserialize)]
struct RawNetwork {
    vrf_vni: Option<u32>,
    vnet_vni_base: Option<u32>,
    subnet: Option<String>,
    gateway: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawStep {
    name: String,
    ok: bool,
    updated_at: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawEgress {
    tenant: String,
    vrf: String,
}

/// The list called `key` in an answer: `{"KEY": […]}`, or the bare list.
fn list<T: serde::de::DeserializeOwned>(place: &str, key: &str, body: &[u8]) -> Result<Vec<T>, Error> {
    let not = |what: String| Error::NotUnderstood { place: place.to_owned(), what };
    let said = |e: serde_json::Error| not(clean(&e.to_string()).chars().take(160).collect());
    let mut value: Value = serde_json::from_slice(body).map_err(said)?;
    let rows = match value.get_mut(key).map(Value::take) {
        Some(rows) => rows,
        None if value.is_array() => value,
        None => return Err(not(format!("there are no `{key}`"))),
    };
    serde_json::from_value(rows).map_err(said)
}

/// Reads the tenants.
///
/// # Errors
/// Where it is no list of tenants.
pub(super) fn tenants(place: &str, body: &[u8]) -> Result<Vec<Tenant>, Error> {
    let rows: Vec<RawTenant> = list(place, "tenants", body)?;
    Ok(rows.into_iter().map(tenant).collect())
}

/// Reads the VRFs with a way out.
///
/// # Errors
/// Where it is no such list.
pub(super) fn egress(place: &str, body: &[u8]) -> Result<Vec<Egress>, Error> {
    let rows: Vec<RawEgress> = list(place, "vrfs", body)?;
    Ok(rows.into_iter().map(|r| Egress { tenant: clean(&r.tenant), vrf: clean(&r.vrf) }).collect())
}

fn tenant(raw: RawTenant) -> Tenant {
    let network = raw.network.as_ref();
    Tenant {
        name: clean(&raw.name),
        index: raw.index,
        status: match raw.status.as_deref() {
            Some("provisioning") => Status::Provisioning,
            Some("ready") => Status::Ready,
            Some("deleting") => Status::Deleting,
            other => Status::Other(clean(other.unwrap_or_default())),
        },
        outcome: raw.outcome.as_deref().map(clean).filter(|o| !o.is_empty()),
        vrf_vni: network.and_then(|n| n.vrf_vni),
        vnet_vni: network.and_then(|n| n.vnet_vni_base),
        subnet: network.and_then(|n| n.subnet.as_ref()?.parse().ok()),
        gateway: network.and_then(|n| n.gateway.as_ref()?.parse().ok()),
        secrets_stored: raw.secrets_stored,
        steps: raw.steps.map(|steps| steps.into_iter().map(step).collect()),
    }
}

fn step(raw: RawStep) -> Step {
    Step { name: clean(&raw.name), ok: raw.ok, updated_at: raw.updated_at.as_ref().and_then(|at| at.parse().ok()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_lean_and_what_they_leave_out_is_not_known() {
        let body = br#"{"tenants":[{"name":"tdemo","index":1,"status":"ready","extra":[]},{"name":"eds","index":2,
            "status":"provisioning","outcome":"reissued","network":{"vrf_vni":10002,"vnet_vni_base":20020,
            "subnet":"10.20.130.0/24","gateway":"10.20.130.1"},"secrets_stored":false,
            "steps":[{"name":"dns","ok":true,"updated_at":"2026-11-29T10:00:00Z"},{"name":"network","ok":false}]}]}"#;
        let read = tenants("https://registry", body).unwrap();
        let [lean, whole] = read.as_slice() else { panic!("{read:?}") };
        assert_eq!((lean.index, &lean.status, &lean.steps, lean.vrf_vni), (Some(1), &Status::Ready, &None, None));
        assert_eq!((whole.vrf_vni, whole.subnet), (Some(10002), Some("10.20.130.0/24".parse().unwrap())));
        assert_eq!(whole.steps.as_ref().map(|s| s.iter().map(|s| s.ok).collect::<Vec<_>>()), Some(vec![true, false]));
        assert_eq!(tenants("x", br#"[{"name":"tdemo"}]"#).unwrap().len(), 1, "a bare list");
    }

    #[test]
    fn what_is_no_list_is_no_empty_list() {
        for body in [&b"{}"[..], b"<html>", b"{\"tenants\":[{\"index\":1}]}", b"{\"tenants\":null}"] {
            assert!(matches!(tenants("x", body), Err(Error::NotUnderstood { .. })));
        }
        let vrfs = egress("x", br#"{"vrfs":[{"tenant":"tdemo","vrf":"vrf_tdemo"}]}"#).unwrap();
        assert_eq!(vrfs, [Egress { tenant: "tdemo".into(), vrf: "vrf_tdemo".into() }]);
    }
}
