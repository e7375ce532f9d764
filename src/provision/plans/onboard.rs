//! Onboarding: everything that a tenant has, in the order in which nothing is ever half open (design §6).
//!
//! The SDN lock comes first: the index, on which every number rests, is looked at again under it. Names come before the
//! forwards that lead to them, what gives the way out is staged before the fabric that needs it, the proof of it on every exit
//! node comes before anything is put on it, and the diagnosis of all of it last.

use std::sync::Arc;

use super::workload::{self, Workload};
use super::{egress, names, network, record};
use crate::provision::fields::Fields;
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Step, Subject};
use crate::provision::preflight;
use crate::provision::survey::Survey;
use crate::provision::tenant::{CheckAll, OwnIndex};
use crate::provision::trouble::{Trouble, TroubleKind};
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
    /// Its first workload.
    pub first: Option<Workload>,
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
    let first = match &asked.first {
        Some(first) => workload(world, &Workload { index: Some(index), ..first.clone() }).await?,
        None => Vec::new(),
    };
    Ok(Plan {
        site: site.name.clone(),
        title: format!("Onboard {tenant}"),
        subject: Subject { name: tenant.to_string(), tenant: Some(tenant.to_string()) },
        steps: steps(site, tenant, index, first),
        reach: None,
    })
}

/// A workload and its names. What it stands on is made before it: nothing of it can be told sooner.
async fn workload(world: &Arc<World>, first: &Workload) -> Result<Vec<Step>, Trouble> {
    let plan = named(world, first, workload::create(world, first).await?)?;
    Ok(plan.steps.into_iter().map(Step::following).collect())
}

/// A plan that makes a workload, with its name and pointer behind it, where the site has names.
///
/// # Errors
/// When the plan is about no machine of the numbering, or the name is none.
pub fn named(world: &World, workload: &Workload, mut plan: Plan) -> Result<Plan, Trouble> {
    let site = &world.site;
    if site.powerdns.is_none() {
        return Ok(plan);
    }
    let nowhere = || Trouble::new(TroubleKind::Refused, format!("{}: its number is none of the site's", workload.name));
    let numbers = workload::numbers(site, &plan).ok_or_else(nowhere)?;
    let of = record::Of { site, tenant: &workload.tenant, index: numbers.index };
    plan.steps.extend(of.host_steps(&of.name(workload.name.as_str())?, numbers.address)?);
    Ok(plan)
}

/// The steps of it, the numbers following from the index; `first` is what follows the network.
#[must_use]
pub fn steps(site: &Site, tenant: &TenantName, index: TenantIndex, first: Vec<Step>) -> Vec<Step> {
    let mut network = network::onboarding(site, tenant, index).into_iter();
    let own = Object::OwnIndex(OwnIndex { tenant: tenant.to_string(), index: index.get() });
    let check = Object::CheckAll(CheckAll { tenant: tenant.to_string() });
    let mut steps: Vec<Step> = network.next().into_iter().collect();
    steps.push(Step::present(own, Fields::new()));
    steps.extend(names::onboarding(site, tenant, index));
    steps.extend(names::forwards(site, tenant, index));
    steps.extend(egress::stanzas(site, tenant.as_str()));
    steps.extend(network);
    steps.extend(egress::proofs(site, tenant.as_str()));
    steps.extend(first);
    steps.push(Step::present(check, CheckAll::passed()).following());
    steps
}
