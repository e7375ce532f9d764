//! Where things are: what an object is called, whose it is, which screen deals with it, and how to get there.

use std::sync::Arc;

use super::list::{ListId, ListState, Scope};
use super::lists::def;
use super::model::{Focus, Layout, Model, PANES, Screen, TABS};
use super::select;
use crate::inventory::{Attention, Inventory, ObjectId};

/// Screens kept to go back to.
const DEPTH: usize = 32;

/// The tenant an object belongs to.
#[must_use]
pub fn tenant_of(inv: &Inventory, id: &ObjectId) -> Option<Arc<str>> {
    match id {
        ObjectId::Tenant(t) | ObjectId::Vrf(t, _) | ObjectId::VrfFact(t, _, _) | ObjectId::Route(t, _, _) => {
            Some(Arc::clone(t))
        }
        ObjectId::Vnet(v) => inv.vnets.iter().find(|row| row.vnet == *v)?.tenant.clone(),
        ObjectId::Workload(vmid) => Some(Arc::clone(&inv.workloads.iter().find(|w| w.vmid == *vmid)?.tenant)),
        ObjectId::Pending(kind, id) => {
            let pending = inv.fabric.pending.as_ref().ok()?;
            pending.iter().find(|p| p.kind == *kind && p.id == *id)?.tenant.clone()
        }
        ObjectId::Attention(_) => match attention(inv, id)?.affects.as_slice() {
            [only] => Some(Arc::clone(only)),
            _ => None,
        },
        ObjectId::CheckIn(tenant, _) => Some(Arc::clone(tenant)),
        ObjectId::Record(name, kind) => inv.records.iter().find(|r| r.name == *name && r.kind == *kind)?.tenant.clone(),
        ObjectId::DnsZone(zone) => inv.zones.iter().find(|z| z.zone == *zone)?.tenant.clone(),
        ObjectId::Forward(id) => {
            let named = |f: &&crate::inventory::ForwardRow| f.uuid.as_ref().unwrap_or(&f.domain) == id;
            inv.forwards.iter().find(named)?.tenant.clone()
        }
        ObjectId::Node(_) | ObjectId::Zone(_) | ObjectId::Source(_) | ObjectId::Task(_) | ObjectId::Rule(_) => None,
    }
}

/// The row of the overview called `id`.
#[must_use]
pub fn attention<'a>(inv: &'a Inventory, id: &ObjectId) -> Option<&'a Attention> {
    let def = def(ListId::Attention);
    (0..inv.attention.len()).find(|i| (def.id_of)(inv, *i).as_ref() == Some(id)).and_then(|i| inv.attention.get(i))
}

/// What people call an object, e.g. `eds/services`.
#[must_use]
pub fn name_of(inv: &Inventory, id: &ObjectId) -> String {
    match id {
        ObjectId::Tenant(name) | ObjectId::Vnet(name) | ObjectId::Zone(name) | ObjectId::Task(name) => name.to_string(),
        ObjectId::Vrf(tenant, node) => format!("VRF of {tenant} on {}", inv.site.short_name(node)),
        ObjectId::VrfFact(tenant, node, label) => format!("{label} of {tenant} on {}", inv.site.short_name(node)),
        ObjectId::Route(tenant, node, dst) => format!("route {dst} of {tenant} on {}", inv.site.short_name(node)),
        ObjectId::Workload(vmid) => {
            let found = inv.workloads.iter().find(|w| w.vmid == *vmid);
            found.map_or_else(|| format!("VM {vmid}"), |w| format!("{}/{}", w.tenant, w.name))
        }
        ObjectId::Record(name, kind) => format!("{name} {kind}"),
        ObjectId::DnsZone(zone) => format!("zone {zone}"),
        ObjectId::Rule(id) => {
            let found = inv.rules.iter().find(|r| r.uuid == *id);
            found.map_or_else(|| format!("rule {id}"), |r| format!("rule {} \"{}\"", r.place, r.description))
        }
        ObjectId::Forward(id) => {
            let found = inv.forwards.iter().find(|f| f.uuid.as_ref() == Some(id));
            format!("forward {}", found.map_or(id, |f| &f.domain))
        }
        ObjectId::CheckIn(tenant, workload) => format!("check-in of {tenant}/{workload}"),
        ObjectId::Node(node) => inv.site.short_name(node).to_owned(),
        ObjectId::Pending(kind, id) => format!("{kind} {id}"),
        ObjectId::Source(source) => source.label().to_owned(),
        ObjectId::Attention(text) => attention(inv, id).map_or_else(|| text.to_string(), |a| a.place.clone()),
    }
}

/// Places at which `tab` stops, in order.
#[must_use]
pub fn stops(model: &Model) -> Vec<Focus> {
    let compact = model.layout() <= Layout::Compact;
    let panes = |all: [ListId; 6]| all.into_iter().map(Focus::Pane);
    match model.screen() {
        Screen::Tenants if compact || model.board.is_none() => vec![Focus::Rail],
        Screen::Tenants => std::iter::once(Focus::Rail).chain(panes(PANES)).collect(),
        Screen::Board { .. } => panes(if compact { TABS } else { PANES }).collect(),
        _ => model.visible_lists().into_iter().map(|(list, _)| Focus::Pane(list)).collect(),
    }
}

/// Gives the focus to `to`; a pane that does not fit beside the others takes their place.
pub fn focus(model: &mut Model, to: Focus) {
    if let (Focus::Pane(list), Screen::Tenants | Screen::Board { .. }) = (to, model.screen())
        && PANES.contains(&list)
    {
        model.tab = list;
    }
    if to != Focus::Rail {
        follow_now(model);
    }
    model.focus = to;
}

/// Sees to it that the focus is on something that is there.
pub fn settle(model: &mut Model) {
    if model.layout() == Layout::TooSmall {
        return;
    }
    let stops = stops(model);
    if !stops.contains(&model.focus)
        && let Some(first) = stops.first()
    {
        model.focus = *first;
    }
    if let (Screen::Board { .. }, Layout::Compact) = (model.screen(), model.layout()) {
        model.focus = Focus::Pane(model.tab);
    }
}

/// The board shows the tenant under the rail's cursor from now on.
pub fn follow_now(model: &mut Model) {
    model.follow_at = None;
    let rail = model.lists.get(&(ListId::Tenants, Scope::All)).and_then(|s| s.cursor.as_ref());
    if let (Some(ObjectId::Tenant(tenant)), Screen::Tenants) = (rail, model.screen()) {
        model.board = Some(Arc::clone(tenant));
    }
}

/// Shows `screen` on top of the others.
pub fn push(model: &mut Model, screen: Screen) {
    if *model.screen() == screen {
        return;
    }
    if model.follow_at.is_some() {
        // Whoever comes back finds the board of the row that was left.
        follow_now(model);
    }
    let focus = match &screen {
        Screen::Tenants => Focus::Rail,
        Screen::Board { .. } => Focus::Pane(model.tab),
        Screen::List { list, .. } => Focus::Pane(*list),
        Screen::Overview => Focus::Pane(ListId::Attention),
        Screen::Fabric => Focus::Pane(ListId::Members),
        Screen::Activity => Focus::Pane(ListId::Tasks),
        Screen::Sources => Focus::Pane(ListId::Sources),
        Screen::Text { .. }
        | Screen::Resolve { .. }
        | Screen::Diagnose { .. }
        | Screen::Finding { .. }
        | Screen::Evidence { .. }
        | Screen::Isolation { .. }
        | Screen::Cell { .. }
        | Screen::Change(_) => model.focus,
    };
    if model.stack.len() >= DEPTH {
        model.stack.remove(1);
        model.parked.remove(0);
    }
    model.stack.push(screen);
    model.parked.push(std::mem::replace(&mut model.focus, focus));
}

/// Goes back a screen; whether there was one.
pub fn pop(model: &mut Model) -> bool {
    if model.stack.len() < 2 {
        return false;
    }
    model.stack.pop();
    model.focus = model.parked.pop().unwrap_or(Focus::Rail);
    true
}

/// Takes `screen` out of those to go back to.
pub fn forget(model: &mut Model, screen: &Screen) {
    let top = model.stack.len().saturating_sub(1);
    for at in (1..top).rev() {
        if model.stack.get(at) == Some(screen) {
            model.stack.remove(at);
            model.parked.remove(at);
        }
    }
}

/// Goes back to the tenant list, and from there to `screen`.
pub fn from_home(model: &mut Model, screen: Screen) {
    model.stack = vec![Screen::Tenants];
    model.parked.clear();
    model.focus = Focus::Rail;
    push(model, screen);
}

/// Opens the board of `tenant` with the focus on `pane`.
pub fn open_board(model: &mut Model, tenant: &Arc<str>, pane: Option<ListId>) {
    if model.layout() <= Layout::Compact {
        if let Some(pane) = pane {
            model.tab = pane;
        }
        push(model, Screen::Board { tenant: Arc::clone(tenant) });
        return;
    }
    push(model, Screen::Tenants);
    cursor_to(model, &(ListId::Tenants, Scope::All), &ObjectId::Tenant(Arc::clone(tenant)));
    model.board = Some(Arc::clone(tenant));
    model.follow_at = None;
    let pane = pane.unwrap_or(if model.one_pane() { model.tab } else { ListId::Workloads });
    focus(model, Focus::Pane(pane));
}

/// Puts a list's cursor on `id`, clearing a filter that hides it; whether it is there at all.
pub fn cursor_to(model: &mut Model, key: &select::Key, id: &ObjectId) -> bool {
    if select::move_to_id(model, key, id) {
        return true;
    }
    let Some(state) = model.lists.get_mut(key).filter(|s| !s.filter.is_empty()) else { return false };
    let filter = std::mem::take(&mut state.filter);
    if select::move_to_id(model, key, id) {
        return true;
    }
    if let Some(state) = model.lists.get_mut(key) {
        state.filter = filter;
    }
    false
}

/// Goes to the screen on which `id` can be dealt with, the cursor on it.
pub fn goto(model: &mut Model, id: &ObjectId) {
    let tenant = model.picture().and_then(|inv| tenant_of(inv, id));
    let (list, screen) = match id {
        ObjectId::Tenant(t) => return open_board(model, t, None),
        ObjectId::Workload(_) => (ListId::Workloads, None),
        ObjectId::Vnet(_) => (ListId::Vnets, None),
        ObjectId::Record(..) | ObjectId::DnsZone(_) => (ListId::Records, None),
        ObjectId::CheckIn(..) => (ListId::Checkins, None),
        ObjectId::Rule(_) => (ListId::Rules, Some(Screen::List { list: ListId::Rules, scope: Scope::All })),
        ObjectId::Forward(_) => (ListId::Forwards, Some(Screen::List { list: ListId::Forwards, scope: Scope::All })),
        ObjectId::Vrf(..) => (ListId::Vrfs, Some(Screen::List { list: ListId::Vrfs, scope: Scope::All })),
        ObjectId::VrfFact(..) => (ListId::VrfFacts, None),
        ObjectId::Route(..) => (ListId::Routes, Some(Screen::List { list: ListId::Routes, scope: Scope::All })),
        ObjectId::Node(_) | ObjectId::Zone(_) => (ListId::Members, Some(Screen::Fabric)),
        ObjectId::Pending(..) => (ListId::Pending, Some(Screen::Fabric)),
        ObjectId::Source(_) => (ListId::Sources, Some(Screen::Sources)),
        ObjectId::Task(_) => (ListId::Tasks, Some(Screen::Activity)),
        ObjectId::Attention(_) => (ListId::Attention, Some(Screen::Overview)),
    };
    let scope = match (screen, tenant) {
        (None, Some(t)) => {
            open_board(model, &t, Some(list));
            Scope::Tenant(t)
        }
        (screen, _) => {
            push(model, screen.unwrap_or(Screen::List { list, scope: Scope::All }));
            model.focus = Focus::Pane(list);
            Scope::All
        }
    };
    cursor_to(model, &(list, scope), id);
}

/// What the screen becomes when the terminal's width crosses 100 columns: the board and its rail are one screen on the
/// wide side and two on the narrow one. A terminal that is too small changes nothing.
pub fn relayout(model: &mut Model, before: Layout) {
    let compact = |l: Layout| l <= Layout::Compact;
    let now = model.layout();
    match (compact(before), compact(now)) {
        (false, true) => {
            if let (Screen::Tenants, Focus::Pane(list), Some(tenant)) =
                (model.screen(), model.focus, model.board.clone())
            {
                model.tab = if PANES.contains(&list) { list } else { model.tab };
                model.focus = Focus::Rail;
                push(model, Screen::Board { tenant });
            }
        }
        (true, false) => {
            if let Screen::Board { tenant } = model.screen() {
                let tenant = Arc::clone(tenant);
                let tab = model.tab;
                pop(model);
                open_board(model, &tenant, Some(tab));
            }
        }
        _ => {}
    }
}

/// The list that shows the same at full width: the facts of one VRF are a row of all VRFs.
#[must_use]
pub const fn zoomed(list: ListId) -> ListId {
    match list {
        ListId::VrfFacts => ListId::Vrfs,
        other => other,
    }
}

/// The same object in the list `list`, where lists name it differently.
#[must_use]
pub fn same_in(list: ListId, id: &ObjectId) -> ObjectId {
    match (list, id) {
        (ListId::Vrfs, ObjectId::VrfFact(t, n, _)) => ObjectId::Vrf(Arc::clone(t), Arc::clone(n)),
        _ => id.clone(),
    }
}

/// State of a list, made when it is not there yet.
pub fn state_mut<'a>(model: &'a mut Model, key: &select::Key) -> &'a mut ListState {
    model.lists.entry(key.clone()).or_insert_with(|| ListState::new(def(key.0).sort))
}
