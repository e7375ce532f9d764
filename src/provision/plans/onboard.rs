//! Onboarding: everything that a tenant has, in the order in which nothing is ever half open (design §6).
//!
//! The SDN lock comes first: the index, on which every number rests, is looked at again under it. Names come before the
//! forwards that lead to them, what gives the way out is staged before the fabric that needs it, the proof of it on every exit
//! node comes before anything is put on it, and the diagnosis of all of it last.

mod own_index;

use std::sync::Arc;

pub use own_index::OwnIndex;

use super::workload::{self, Workload};
use super::{egress, names, network, record};
use crate::provision::fields::Fields;
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Step, Subject};
use crate::provision::preflight;
use crate::provision::survey::Survey;
use crate::provision::tenant::CheckAll;
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
    made(world, &Survey::read_for(world, &asked.tenant).await, asked).await
}

/// The same for a tenant that is there already, or a part of it.
///
/// # Errors
/// As [`plan`]; that there is no such tenant.
pub async fn reconcile(world: &Arc<World>, asked: &Onboarding) -> Result<Plan, Trouble> {
    let survey = Survey::read_for(world, &asked.tenant).await;
    if !survey.knows(&world.site, &asked.tenant) {
        // Where a source did not tell, it may be there all the same.
        survey.holders(&world.site, &asked.tenant)?;
        let text = format!("there is no tenant {}", asked.tenant);
        return Err(Trouble::new(TroubleKind::Refused, text)
            .with_help("`deevnet-console tenant create` makes one, `get tenants` lists those there are"));
    }
    made(world, &survey, asked).await
}

/// The plan of a tenant with another index, where somebody else has the one that was chosen by now. `None` where it is still
/// free, is the tenant's for good, or cannot be told.
///
/// # Errors
/// As [`plan`].
pub async fn anew(world: &Arc<World>, own: &OwnIndex) -> Result<Option<Plan>, Trouble> {
    let refused = |text: String| Trouble::new(TroubleKind::Refused, text);
    let tenant: TenantName = own.tenant.parse().map_err(|e| refused(format!("{e}")))?;
    let index = TenantIndex::new(u64::from(own.index)).map_err(|e| refused(e.to_string()))?;
    let survey = Survey::read_for(world, &tenant).await;
    let site = &world.site;
    let taken = survey.index_for(site, &tenant, Some(index)).is_err_and(|why| why.kind == TroubleKind::Refused);
    if !own.or_next || !taken || survey.own_index(site, &tenant).is_some() {
        return Ok(None);
    }
    let asked = Onboarding { tenant, index: None, first: own.first.as_deref().cloned() };
    made(world, &survey, &asked).await.map(Some)
}

async fn made(world: &Arc<World>, survey: &Survey, asked: &Onboarding) -> Result<Plan, Trouble> {
    let (site, tenant) = (&world.site, &asked.tenant);
    let checks = preflight::of_tenant(site, survey, tenant, (asked.index, asked.first.is_some()));
    if let Some(trouble) = preflight::obstacle(&checks) {
        return Err(trouble);
    }
    let index = survey.index_for(site, tenant, asked.index)?;
    let first = match &asked.first {
        Some(first) => workload(world, &Workload { index: Some(index), ..first.clone() }).await?,
        None => Vec::new(),
    };
    let own = OwnIndex {
        tenant: tenant.to_string(),
        index: index.get(),
        or_next: asked.index.is_none() && survey.own_index(site, tenant).is_none(),
        first: asked.first.clone().map(Box::new),
    };
    Ok(Plan {
        site: site.name.clone(),
        title: format!("{} {tenant}", if survey.knows(site, tenant) { "Reconcile" } else { "Onboard" }),
        subject: Subject { name: tenant.to_string(), tenant: Some(tenant.to_string()) },
        steps: steps(site, tenant, (index, survey.left_over(index).is_some()), (own, first)),
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

/// The steps of it, the numbers following from the index; `first` is what follows the network. The zone of its addresses is
/// handed over where it is left over of another tenant.
pub(crate) fn steps(
    site: &Site,
    tenant: &TenantName,
    (index, left_over): (TenantIndex, bool),
    (own, first): (OwnIndex, Vec<Step>),
) -> Vec<Step> {
    let mut network = network::onboarding(site, tenant, index).into_iter();
    let own = Object::OwnIndex(own);
    let check = Object::CheckAll(CheckAll { tenant: tenant.to_string() });
    let mut steps: Vec<Step> = network.next().into_iter().collect();
    steps.push(Step::present(own, Fields::new()));
    let named = if left_over { names::handover } else { names::onboarding };
    steps.extend(named(site, tenant, index));
    steps.extend(names::forwards(site, tenant, index));
    steps.extend(egress::stanzas(site, tenant.as_str()));
    steps.extend(network);
    steps.extend(egress::proofs(site, tenant.as_str()));
    steps.extend(first);
    steps.push(Step::present(check, CheckAll::passed()).following());
    steps
}
