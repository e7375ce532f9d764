//! Onboarding: everything that a tenant has, in the order in which nothing is ever half open (design §6).
//!
//! The SDN lock comes first: the index, on which every number rests, is looked at again under it. Names come before the
//! forwards that lead to them, the fabric after both, the proof of it on every exit node before anything is put on it, and
//! the diagnosis of all of it last.

use std::sync::Arc;

use super::network;
use crate::provision::fields::Fields;
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Step, Subject};
use crate::provision::preflight;
use crate::provision::survey::Survey;
use crate::provision::tenant::{CheckAll, OwnIndex};
use crate::provision::trouble::Trouble;
use crate::provision::world::World;
use crate::site::Site;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Onboarding {
    /// The tenant.
    pub tenant: TenantName,
    /// Its index; without one what it has already, else the lowest that is free.
    pub index: Option<TenantIndex>,
}

/// The plan of it. A tenant that is there in part gets what it lacks; a second run has nothing to do.
///
/// # Errors
/// The first check that speaks against it, or that could not be made.
pub async fn plan(world: &Arc<World>, asked: &Onboarding) -> Result<Plan, Trouble> {
    let (site, tenant) = (&world.site, &asked.tenant);
    let survey = Survey::read(world).await;
    let checks = preflight::judge(site, Some(&survey), tenant.as_str(), asked.index);
    if let Some(trouble) = preflight::obstacle(&checks) {
        return Err(trouble);
    }
    let index = survey.index_for(site, tenant, asked.index)?;
    Ok(Plan {
        site: site.name.clone(),
        title: format!("Onboard {tenant}"),
        subject: Subject { name: tenant.to_string(), tenant: Some(tenant.to_string()) },
        steps: steps(site, tenant, index),
        reach: None,
    })
}

/// The steps of it, the numbers following from the index.
#[must_use]
pub fn steps(site: &Site, tenant: &TenantName, index: TenantIndex) -> Vec<Step> {
    let mut network = network::onboarding(site, tenant, index).into_iter();
    let own = Object::OwnIndex(OwnIndex { tenant: tenant.to_string(), index: index.get() });
    let check = Object::CheckAll(CheckAll { tenant: tenant.to_string() });
    let mut steps: Vec<Step> = network.next().into_iter().collect();
    steps.push(Step::present(own, Fields::new()));
    steps.extend(network);
    steps.push(Step::present(check, CheckAll::passed()).following());
    steps
}
