//! What is true of a tenant as a whole: nothing of it lives any more, and all is well with it. Each is looked at, nothing is
//! changed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fields::{Difference, Fields, Seen, fields};
use super::object::{Doing, Ensure, Looking, Place, only_looks};
use super::survey::{Survey, both};
use super::trouble::{Trouble, TroubleKind};
use super::world::{CHANGED, Context};
use crate::backends::permit::Permit;
use crate::backends::proxmox::model::Vm;
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Check, Sink, Wanted, collect};
use crate::inventory::feed::Clients;
use crate::site::names::TenantName;

/// Nothing of a tenant lives: no guest on its VNets, none that bears its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NothingLives {
    /// Tenant.
    pub tenant: String,
}

impl NothingLives {
    /// Guests of the tenant: by name, by number, or by a card on one of its bridges.
    async fn guests(&self, context: &Context) -> Result<Vec<String>, Trouble> {
        let world = &context.world;
        let survey = Survey::read(world).await;
        let tenant: TenantName = self.tenant.parse().map_err(|e| Trouble::new(TroubleKind::Refused, format!("{e}")))?;
        let own = survey.own_index(&world.site, &tenant);
        let vnets = survey.vnets.as_ref().map_err(Clone::clone)?;
        let bridges: Vec<&str> =
            both(vnets).filter(|vnet| vnet.zone == self.tenant).map(|vnet| vnet.vnet.as_str()).collect();
        let prefix = format!("{}-", self.tenant);
        let mut found = Vec::new();
        for (kind, guest) in survey.guests()?.filter(|(_, guest)| !guest.template) {
            let name = guest.name.clone().unwrap_or_default();
            let numbered = world.site.numbering.index_of_vmid(guest.vmid).map(|(index, _)| index);
            let by_number = own.is_some() && numbered == own;
            if name.starts_with(&prefix) || by_number || self.is_on(context, (kind, guest), &bridges).await? {
                found.push(format!("{kind} {} {name}", guest.vmid).trim_end().to_owned());
            }
        }
        Ok(found)
    }

    /// Whether a guest has a card on one of the bridges.
    async fn is_on(&self, context: &Context, (kind, guest): (&str, &Vm), bridges: &[&str]) -> Result<bool, Trouble> {
        if bridges.is_empty() {
            return Ok(false);
        }
        let client = context.world.proxmox()?;
        let own = |bridge: Option<&str>| bridge.is_some_and(|bridge| bridges.contains(&bridge));
        let read = match kind {
            "VM" => client
                .vm_config(&guest.node, guest.vmid)
                .await
                .map(|config| config.nets.values().any(|card| own(card.bridge.as_deref()))),
            _ => client
                .container_bridges(&guest.node, guest.vmid)
                .await
                .map(|all| all.iter().any(|bridge| own(Some(bridge)))),
        };
        match read {
            Ok(on) => Ok(on),
            // It went meanwhile.
            Err(error) if error.is_absent() => Ok(false),
            Err(error) => Err(Trouble::from(&error)),
        }
    }
}

impl Ensure for NothingLives {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("no workload of {}", self.tenant)
    }

    only_looks!();

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let guests = self.guests(context).await?;
            if guests.is_empty() {
                return Ok(Seen::Present(Fields::new()));
            }
            let text = format!("{} still has {}", self.tenant, guests.join(", "));
            let help = format!("delete them first: `deevnet-console workload delete {}/NAME`", self.tenant);
            Err(Trouble::new(TroubleKind::Refused, text).with_help(help))
        })
    }

    fn apply<'a>(&'a self, _context: &'a Context, _permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async { Ok(()) })
    }
}

/// Note: what `check all` came to in this change.
const CHECKED: &str = "check-all";

/// `check all` of a tenant finds nothing that speaks against it, and leaves nothing of it unknown. What all share and what does
/// not break it is told. It is run after a change, never for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAll {
    /// Tenant.
    pub tenant: String,
}

impl CheckAll {
    /// What is wanted of it.
    #[must_use]
    pub fn passed() -> Fields {
        fields([("result", "passed")])
    }

    async fn run(&self, context: &Context) -> Result<(), Trouble> {
        let world = &context.world;
        let wanted = Wanted::of(Check::All, Some(&self.tenant));
        let sink = Sink::new(Arc::clone(&world.clock));
        let clients = Clients::connect(&world.site).await;
        let evidence = collect(&world.site, &clients, &wanted, &sink).await;
        let diagnosis = Diagnosis::of(&wanted, evidence, Vec::new());
        let against = diagnosis.against(&self.tenant);
        let help = format!("`deevnet-console check all {}` shows it; mend it, then resume", self.tenant);
        if let Some(cause) = against.findings.first() {
            let text = format!("check all of {}: {}", self.tenant, cause.title);
            return Err(Trouble::new(TroubleKind::Refused, text).with_help(help));
        }
        if let Some(open) = against.unknown.first() {
            let text = format!(
                "check all of {}: {} not known{}",
                self.tenant,
                open.missing,
                open.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default()
            );
            return Err(Trouble::new(TroubleKind::Unknown, text).with_help(help));
        }
        context.tell(format!("{} rules pass", diagnosis.report.passed.len()));
        for news in against.news {
            context.tell(format!("no fault of {}: {}", self.tenant, news.title));
        }
        context.notes.set(CHECKED, "passed", context.now())
    }
}

impl Ensure for CheckAll {
    fn place(&self) -> Place {
        Place::Here
    }

    fn name(&self) -> String {
        format!("check all of {}", self.tenant)
    }

    only_looks!();

    fn for_itself(&self) -> bool {
        false
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let due = || context.notes.get(CHANGED).map(|_| "not run".to_owned());
            let result = context.notes.get(CHECKED).or_else(due);
            Ok(result.map_or(Seen::Absent, |result| Seen::Present(fields([("result", result)]))))
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, _permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(self.run(context))
    }
}
