//! An invented registry.

use jiff::SignedDuration;

use super::{Sample, now};
use crate::backends::registry::{Egress, Status, Step, Tenant};
use crate::inventory::readings::RegistryReading;
use crate::inventory::source::{SourceHealth, SourceId};
use crate::site::model::{RegistrySite, SecretSource, Trust};

/// A registered tenant as a list has it.
pub fn entry(name: &str, index: u64) -> Tenant {
    Tenant {
        name: name.into(),
        index: Some(index),
        status: Status::Ready,
        outcome: Some("created".into()),
        vrf_vni: None,
        vnet_vni: None,
        subnet: None,
        gateway: None,
        secrets_stored: Some(true),
        steps: Some(vec![Step { name: "dns".into(), ok: true, updated_at: None }]),
    }
}

/// The tenants of the healthy sample.
pub fn all() -> Vec<Tenant> {
    [("tdemo", 1), ("eds", 2), ("greenhse", 3), ("sensors", 4), ("bench1", 5), ("radio", 7)]
        .map(|(name, index)| entry(name, index))
        .into()
}

/// The sample with a registry that lists these.
pub fn with_registry(mut s: Sample, tenants: Vec<Tenant>) -> Sample {
    let (url, trust) = ("https://10.20.25.20:8080".to_owned(), Trust::System);
    s.site.registry = Some(RegistrySite { url, trust, token: SecretSource::Env("REGISTRY".into()) });
    let seconds = SignedDuration::from_secs;
    let mut health = SourceHealth::starting(seconds(30), seconds(10), now());
    health.observed_at = Some(now());
    s.sources.set(SourceId::Registry, health);
    let egress = tenants.iter().map(|t| Egress { tenant: t.name.clone(), vrf: format!("vrf_{}", t.name) }).collect();
    s.registry = Some(RegistryReading { at: now(), tenants: tenants.into(), egress: Ok(egress), requests: 2 });
    s
}
