//! The fabric as a whole: what waits and whose it is, what an apply would do to each node, and the plans that apply it, drop
//! it, or free a lock that was left.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::backends::proxmox::endpoints;
use crate::backends::proxmox::model::{Change, Zone};
use crate::backends::proxmox::{SdnRead, SubnetsOf};
use crate::provision::fields::{Difference, Fields};
use crate::provision::journal::{ChangeId, Closing, Entry, Record};
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Step, Subject};
use crate::provision::sdn::{Holder, SdnApply, SdnLock, SdnRollback, SdnUnlock, holder, waiting, whole};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::World;

/// An object that waits to be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// As plans call it: `zone picow`.
    pub name: String,
    /// `new`, `changed`, `deleted`.
    pub state: String,
    /// The options that wait, and their values; `deleted` where one goes.
    pub options: Fields,
    /// The newest change of this console that touched it. `None` = another's, or nobody knows: Proxmox does not tell.
    pub by: Option<ChangeId>,
}

/// What is known of the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockSeen {
    /// A change of this console noted its token and has not given it back.
    Ours(ChangeId),
    /// A change of this console asked for it and got no answer: it may have it.
    Probably(ChangeId),
    /// It cannot be looked at without taking it.
    NotKnown,
}

/// What waits, and who keeps others from applying it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// What waits, by name.
    pub waits: Vec<Waits>,
    /// The lock.
    pub lock: LockSeen,
    /// The change that has it or may have it, who made it, and when it asked.
    pub holder: Option<Holder>,
}

/// What an apply would change on one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePreview {
    /// Node.
    pub node: String,
    /// Unified diff of `frr.conf`; `None` when nothing changes in it.
    pub frr: Option<String>,
    /// Unified diff of `interfaces.d/sdn`.
    pub interfaces: Option<String>,
    /// What the dry run leaves out, since it reads subnets as they run: gateways, forwarding, SNAT (facts/proxmox.md §7).
    pub left_out: Vec<String>,
}

async fn read(world: &World) -> Result<SdnRead, Trouble> {
    whole(world.proxmox()?, &[("zone", &endpoints::ZONES), ("VNet", &endpoints::VNETS)]).await?;
    let read = world.proxmox()?.sdn(&SubnetsOf::All).await.map_err(|e| Trouble::from(&e))?;
    match read.not_read.first() {
        None => Ok(read),
        Some(part) => {
            let text = format!("what waits to be applied is not known: {}: {}", part.what, part.why);
            Err(Trouble::new(TroubleKind::Unknown, text).with_help(part.why.help()))
        }
    }
}

/// What waits and whose it is, as far as these changes of the journal tell.
///
/// # Errors
/// When a list cannot be read.
pub async fn status(world: &World, entries: &[Entry]) -> Result<Status, Trouble> {
    let fields = waiting(&read(world).await?);
    let of = |name: &str| {
        let begins = format!("{name}: ");
        let options = fields.iter().filter_map(|(field, value)| Some((field.strip_prefix(&begins)?, value)));
        options.map(|(option, value)| (option.to_owned(), value.clone())).collect()
    };
    let objects = fields.iter().filter(|(name, _)| !name.contains(": "));
    let waits = objects.map(|(name, state)| Waits {
        name: name.clone(),
        state: state.clone(),
        options: of(name),
        by: toucher(entries, name, state, &of(name)),
    });
    let holder = holder(entries);
    let lock = match &holder {
        None => LockSeen::NotKnown,
        Some(holder) if holder.certain => LockSeen::Ours(holder.change),
        Some(holder) => LockSeen::Probably(holder.change),
    };
    Ok(Status { waits: waits.collect(), lock, holder })
}

/// The newest change that began to do just that to the object of that name. What one did that applied it, and came to its end,
/// waits no more.
fn toucher(entries: &[Entry], name: &str, state: &str, options: &Fields) -> Option<ChangeId> {
    let wrote = |todo: &Difference| match (todo, state) {
        (Difference::Create(_), "new") | (Difference::Delete(_), "deleted") => true,
        (Difference::Update(changes), "changed") => {
            options.keys().all(|option| changes.iter().any(|change| change.field == *option))
        }
        _ => false,
    };
    let touched = |entry: &&Entry| {
        entry.lines.iter().any(|line| match &line.record {
            Record::Begun { step, todo, .. } => {
                let step = entry.plan.steps.get(*step);
                step.is_some_and(|step| step.object.ensure().name() == name) && wrote(todo)
            }
            _ => false,
        })
    };
    let applied = |entry: &&Entry| {
        let applies = entry.plan.steps.iter().any(|step| matches!(step.object, Object::SdnApply(_)));
        applies && entry.closed() == Some(Closing::Done)
    };
    entries.iter().filter(|entry| !applied(entry)).filter(touched).map(|entry| entry.id).max()
}

/// What an apply would change on each of these nodes, with what the dry run leaves out.
///
/// # Errors
/// When something of it cannot be read.
pub async fn preview(world: &World, nodes: &[String]) -> Result<Vec<NodePreview>, Trouble> {
    let client = world.proxmox()?;
    let read = read(world).await?;
    let mut all = Vec::new();
    for node in nodes {
        let dry = client.dry_run(node).await.map_err(|e| Trouble::from(&e))?;
        let left_out = left_out(world, &read, node);
        all.push(NodePreview { node: node.clone(), frr: dry.frr_diff, interfaces: dry.interfaces_diff, left_out });
    }
    Ok(all)
}

/// Lines that new and changed subnets bring to a node.
fn left_out(world: &World, read: &SdnRead, node: &str) -> Vec<String> {
    let exit = world.site.exit_nodes.iter().find(|exit| exit.name == node);
    let zone_of = |vnet: &str| {
        let vnet = read.config.vnets.iter().filter_map(|v| v.configured.as_ref()).find(|v| v.vnet == vnet)?;
        read.config.zones.iter().filter_map(|z| z.configured.as_ref()).find(|z| z.zone == vnet.zone)
    };
    let mut lines = Vec::new();
    for (vnet, subnets) in &read.config.subnets {
        let Some(zone) = zone_of(vnet).filter(|zone| carries(zone, node)) else { continue };
        let changed = subnets.iter().filter(|subnet| matches!(subnet.change, Change::New | Change::Changed));
        for subnet in changed.filter_map(|subnet| subnet.configured.as_ref()) {
            let (Some(gateway), Some(cidr)) = (subnet.gateway, subnet.cidr) else { continue };
            lines.push(format!("{vnet}: address {gateway}/{}, ip-forward on", cidr.prefix_len()));
            if subnet.snat && zone.exit_nodes.iter().any(|own| own == node) {
                let to = exit.map_or_else(
                    || "the address of its default route".to_owned(),
                    |exit| format!("{} on {}", exit.transit_address, exit.transit_interface),
                );
                lines.push(format!("{vnet}: SNAT of {} to {to}", cidr.trunc()));
            }
        }
    }
    lines
}

fn carries(zone: &Zone, node: &str) -> bool {
    zone.nodes.is_empty() || zone.nodes.iter().any(|own| own == node)
}

fn plan(world: &World, title: &str, steps: Vec<Step>) -> Plan {
    let site = world.site.name.clone();
    Plan { title: title.to_owned(), subject: Subject { name: site.clone(), tenant: None }, site, steps, reach: None }
}

fn locked(step: Step) -> Vec<Step> {
    vec![Step::present(Object::SdnLock(SdnLock::default()), SdnLock::held()), step]
}

/// Applies all that waits, under the lock, and looks at every node that carries a zone.
///
/// # Errors
/// When the zones or nodes cannot be read.
pub async fn apply(world: &Arc<World>) -> Result<Plan, Trouble> {
    let client = world.proxmox()?;
    let online = client.nodes().await.map_err(|e| Trouble::from(&e))?;
    let read = read(world).await?;
    let zones: Vec<&Zone> =
        read.config.zones.iter().flat_map(|zone| zone.running.iter().chain(&zone.configured)).collect();
    let nodes: BTreeSet<String> = online
        .into_iter()
        .filter(|node| node.status == "online" && zones.iter().any(|zone| carries(zone, &node.node)))
        .map(|node| node.node)
        .collect();
    let apply = Object::SdnApply(SdnApply { nodes: nodes.into_iter().collect() });
    Ok(plan(world, "Apply what waits in SDN", locked(Step::present(apply, Fields::new()))))
}

/// Drops all that waits, whoever staged it.
#[must_use]
pub fn rollback(world: &World) -> Plan {
    let rollback = Object::SdnRollback(SdnRollback {});
    plan(world, "Drop what waits in SDN", locked(Step::present(rollback, Fields::new())))
}

/// Frees the lock by force. On request alone: whoever holds it may be in the middle of something.
#[must_use]
pub fn unlock(world: &World, entries: &[Entry]) -> Plan {
    let held_by = match holder(entries) {
        None => "not known".to_owned(),
        Some(holder) if holder.certain => format!("{holder}, of this console"),
        Some(holder) => format!("probably {holder}, of this console"),
    };
    plan(world, "Free the SDN lock", vec![Step::absent(Object::SdnUnlock(SdnUnlock { held_by }))])
}
