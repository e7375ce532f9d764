//! What the last frame showed: where lists were cut, and which details are wanted first.

use std::sync::Arc;

use crate::console::change::handover;
use crate::console::commands::text_height;
use crate::console::list::{ListId, Scope};
use crate::console::model::{Layout, Model, Overlay, Screen};
use crate::console::msg::{Demand, Effect, Hit};
use crate::inventory::ObjectId;
use crate::site::numbering::TenantIndex;

/// Takes note of a frame; a demand that changed is sent.
pub(super) fn drawn(model: &mut Model) -> Vec<Effect> {
    for key in model.visible_lists() {
        note_top(model, &key);
    }
    note_scroll(model);
    let demand = demand(model);
    if demand == model.kept.demand {
        return Vec::new();
    }
    model.kept.demand.clone_from(&demand);
    vec![Effect::Demand(demand)]
}

/// The first row shown is where the frame had it: the cursor's row less those above it.
fn note_top(model: &mut Model, key: &(ListId, Scope)) {
    let hits = Arc::clone(&model.hits);
    let Some(state) = model.lists.get_mut(key) else { return };
    let rows = || {
        hits.iter().filter_map(|(rect, hit)| match hit {
            Hit::Row(list, id) if *list == key.0 => Some((rect.y, id)),
            _ => None,
        })
    };
    let cursor = rows().find(|(_, id)| Some(*id) == state.cursor.as_ref());
    if let Some((y, _)) = cursor {
        let above = rows().filter(|(other, _)| *other < y).count();
        state.top = state.at.saturating_sub(above);
    }
}

/// A text is scrolled as far as the frame shows it, so that the next key moves from there.
fn note_scroll(model: &mut Model) {
    let shown = model.hits.iter().find_map(|(_, hit)| match hit {
        Hit::Text { top, end } => Some((*top, *end)),
        _ => None,
    });
    let Some((top, end)) = shown else { return };
    let (width, height) = (model.size.0, text_height(model).unwrap_or(0));
    let shown = match &mut model.overlay {
        Overlay::Approve(open) => {
            open.shown(width, (top, end), height);
            None
        }
        Overlay::Help { scroll, .. } => Some(scroll),
        _ => model.stack.last_mut().and_then(Screen::scroll_mut),
    };
    if let Some(scroll) = shown {
        *scroll = top;
    }
}

fn demand(model: &Model) -> Demand {
    let mut out = Demand::default();
    for (_, hit) in model.hits.iter() {
        match hit {
            Hit::Row(_, ObjectId::Workload(vmid)) if !out.vmids.contains(vmid) => out.vmids.push(*vmid),
            Hit::Row(ListId::Vrfs, ObjectId::Vrf(tenant, _)) if !out.tenants.contains(tenant) => {
                out.tenants.push(Arc::clone(tenant));
            }
            _ => {}
        }
    }
    for tenant in tenants_of_records(model) {
        if !out.tenants.contains(&tenant) {
            out.tenants.push(tenant);
        }
    }
    let shown = match model.screen() {
        Screen::Tenants if model.layout() > Layout::Compact => model.board.clone(),
        _ => model.tenant(),
    };
    if let Some(tenant) = shown {
        out.tenants.retain(|t| *t != tenant);
        out.tenants.insert(0, tenant);
    }
    out.live_counters = match model.screen() {
        Screen::List { list: ListId::Vrfs | ListId::VrfFacts, .. } => true,
        Screen::Diagnose { .. } => model.inquiry.as_ref().is_some_and(|i| i.has_path() && i.tenant.is_some()),
        _ => false,
    };
    out.flows = flows(model);
    if let (true, Some(of), Some(inv)) = (handover::is_shown(model), &model.changes.handover, model.picture()) {
        out.vmids = inv.workloads.iter().filter(|w| w.tenant == of.tenant).map(|w| w.vmid).collect();
        out.tenants.retain(|tenant| *tenant != of.tenant);
        out.tenants.insert(0, Arc::clone(&of.tenant));
    }
    if let Screen::Text { subject, .. } = model.screen() {
        out.focus = Some(subject.clone());
        if let ObjectId::Workload(vmid) = subject {
            out.vmids = vec![*vmid];
        }
    }
    out
}

/// The subnet of the tenant whose path is on screen: its flows are counted beside.
fn flows(model: &Model) -> Vec<ipnet::Ipv4Net> {
    let (Screen::Diagnose { .. }, Some(inquiry), Some(inv)) = (model.screen(), &model.inquiry, model.picture()) else {
        return Vec::new();
    };
    let tenant = inquiry.tenant.as_ref().filter(|_| inquiry.has_path()).and_then(|tenant| inv.tenant(tenant));
    let index = tenant.and_then(|tenant| TenantIndex::new(u64::from(tenant.index)).ok());
    index.map(|index| inv.site.numbering.subnet(index)).into_iter().collect()
}

/// Tenants of the records on screen, where the list is that of all tenants: their names are compared with the
/// perimeter's first.
fn tenants_of_records(model: &Model) -> Vec<Arc<str>> {
    let all = (ListId::Records, Scope::All);
    let Some(state) = model.lists.get(&all).filter(|_| model.visible_lists().contains(&all)) else { return Vec::new() };
    let shown = model.hits.iter().filter(|(_, hit)| matches!(hit, Hit::Row(ListId::Records, _))).count();
    let records = model.picture().map(|inv| inv.records.as_slice()).unwrap_or_default();
    let rows = state.order.iter().skip(state.top).take(shown).filter_map(|i| records.get(*i as usize));
    let mut tenants: Vec<Arc<str>> = rows.filter_map(|r| r.tenant.clone()).collect();
    tenants.dedup();
    tenants
}
