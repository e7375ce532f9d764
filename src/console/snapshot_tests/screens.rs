//! Every screen, healthy and with faults, at the two design sizes.

use tui_input::Input as Field;

use super::*;
use crate::console::model::TextForm;
use crate::console::msg::Notice;
use crate::inventory::{Class, GapKind, ObjectId, SourceId};

/// eds has no SNAT rule; transit does not forward; an edit waits; the lock was met.
fn faulty() -> Arc<Inventory> {
    let mut sample = testing::Sample::healthy();
    sample.fail(SourceId::Dns, GapKind::NoAnswer, "10.20.25.21:8081 refuses connections", true);
    if let crate::backends::exit_node::model::Readout::Value(nat) = &mut sample.exit.nat {
        nat.snat.retain(|rule| rule.source.is_none_or(|s| !s.to_string().starts_with("10.20.130.")));
    }
    sample.pve.lock = crate::backends::proxmox::model::LockState::Held { seen_at: testing::now() };
    sample.join()
}

#[test]
fn tenants_and_boards() {
    for size in [COMPACT, DESIGN] {
        check(&tenants(testing::healthy(), size), "tenants", "healthy");
        check(&tenants(faulty(), size), "tenants", "faulty");
        check(&board(testing::healthy(), size, "tdemo", ListId::Workloads), "board", "healthy");
        check(&board(faulty(), size, "eds", ListId::VrfFacts), "board", "faulty");
    }
    for tab in [ListId::Vnets, ListId::Records, ListId::Checkins, ListId::Rules] {
        let name = format!("board-{}", super::super::lists::def(tab).word);
        check(&board(testing::healthy(), COMPACT, "tdemo", tab), &name, "healthy");
    }
    check(&board(testing::healthy(), COMPACT, "tdemo", ListId::VrfFacts), "board-vrf", "healthy");
    check(&board(testing::healthy(), DESIGN, "sensors", ListId::Workloads), "board", "more-rows-than-room");
}

#[test]
fn full_width_lists() {
    for size in [COMPACT, DESIGN] {
        for id in [ListId::Workloads, ListId::Vrfs, ListId::Vnets, ListId::Routes] {
            let name = super::super::lists::def(id).word;
            check(&list(testing::healthy(), size, id, Scope::All), name, "healthy");
        }
        let one = list(testing::healthy(), size, ListId::Workloads, Scope::Tenant("greenhse".into()));
        check(&one, "workloads", "one-tenant");
        let mut all = list(testing::healthy(), size, ListId::Workloads, Scope::All);
        let state = all.lists.get_mut(&(ListId::Workloads, Scope::All)).expect("its state");
        state.cursor = Some(ObjectId::Workload(2081));
        state.marks.extend([ObjectId::Workload(2080), ObjectId::Workload(2081)]);
        check(&refreshed(all), "workloads", "marked");
        let all = list(testing::healthy(), size, ListId::Workloads, Scope::All);
        let open = Overlay::Filter { field: Field::new("state:running !radio".into()), before: String::new() };
        check(&with(filtered(all, "state:running !radio"), open), "workloads", "filter");
    }
    let mut frozen = list(testing::healthy(), DESIGN, ListId::Vrfs, Scope::All);
    frozen.frozen = frozen.inv.clone();
    check(&frozen, "vrfs", "frozen");
}

#[test]
fn places() {
    for size in [COMPACT, DESIGN] {
        for (inv, state) in [(testing::healthy(), "healthy"), (faulty(), "faulty")] {
            let go = |screen, list| model(Arc::clone(&inv), size, screen, Focus::Pane(list));
            check(&go(Screen::Overview, ListId::Attention), "overview", state);
            check(&go(Screen::Fabric, ListId::Members), "fabric", state);
            check(&go(Screen::Sources, ListId::Sources), "sources", state);
        }
        let mut activity = model(testing::healthy(), size, Screen::Activity, Focus::Pane(ListId::Tasks));
        activity.say(Notice::info("PVE is read again"));
        activity.say(Notice { class: Class::Warning, text: "nothing has the key F9: ? shows all keys".into() });
        check(&activity, "activity", "healthy");
    }
}

#[test]
fn texts() {
    for (form, name) in [(TextForm::Describe, "describe"), (TextForm::Yaml, "yaml"), (TextForm::Json, "json")] {
        for size in [COMPACT, DESIGN] {
            let screen = Screen::Text { subject: ObjectId::Workload(2040), form, scroll: 0 };
            check(&model(testing::healthy(), size, screen, Focus::Rail), name, "workload");
        }
    }
    let screen = Screen::Text { subject: ObjectId::Tenant("eds".into()), form: TextForm::Describe, scroll: 3 };
    check(&model(faulty(), COMPACT, screen, Focus::Rail), "describe", "tenant-scrolled");
}

#[test]
fn overlays() {
    for size in [COMPACT, DESIGN] {
        let under = || board(testing::healthy(), size, "eds", ListId::Workloads);
        check(&with(under(), Overlay::Help { scroll: 0, search: Field::default() }), "help", "open");
        check(&with(under(), Overlay::Help { scroll: 0, search: Field::new("filter".into()) }), "help", "searched");
        check(&with(under(), Overlay::Actions { search: Field::default(), at: 0 }), "actions", "open");
        let command = Overlay::Command { field: Field::new("re".into()), at: None, history: None };
        check(&with(under(), command), "command", "completing");
        check(&with(under(), Overlay::Sort { at: 1 }), "sort", "open");
        check(&with(under(), Overlay::Columns { at: 2 }), "columns", "open");
    }
}

/// Edits that wait, a rule twice, a counter that fell, a part of the exit node that may not be read.
fn odd() -> Arc<Inventory> {
    use crate::backends::proxmox::model::Change;
    use crate::inventory::{Gap, PendingEdit};
    let mut inv = (*testing::healthy()).clone();
    let edit = |kind, id: &str, change, what: &str, by: Option<&str>| PendingEdit {
        kind,
        id: id.into(),
        tenant: None,
        change,
        what: what.into(),
        by: by.map(Into::into),
    };
    inv.fabric.pending = Ok(vec![
        edit("zone", "lab", Change::New, "evpn, controller evpn1, vrf-vxlan 10099", Some("root@pam ?")),
        edit("zone", "orchard", Change::New, "evpn, controller evpn1, vrf-vxlan 10006", None),
        edit("subnet", "eds-10.20.130.0-24", Change::Changed, "snat 1 → 0", Some("ops@pve ?")),
        edit("vnet", "old0", Change::Deleted, "tag 20099", None),
    ]);
    if let [first, second, third, ..] = inv.vrfs.as_mut_slice() {
        if let Ok(rules) = &mut first.snat {
            rules.extend(rules.clone());
        }
        if let Ok(flow) = &mut second.flow {
            flow.per_second = None;
            flow.reset_at = Some(testing::now());
            flow.history.clear();
        }
        let gap = Gap::new(GapKind::Denied, "the helper may not read iptables: no line for it in sudoers");
        third.snat = Err(gap.clone());
        third.flow = Err(gap.clone());
        third.routes = Err(gap.clone());
        let mut exit = inv.sources.get(SourceId::Exit).clone();
        exit.gaps = vec![gap];
        inv.sources.set(SourceId::Exit, exit);
    }
    Arc::new(inv)
}

#[test]
fn odd_pictures() {
    for size in [COMPACT, DESIGN] {
        check(&model(odd(), size, Screen::Fabric, Focus::Pane(ListId::Pending)), "fabric", "pending");
        check(&list(odd(), size, ListId::Vrfs, Scope::All), "vrfs", "odd");
    }
    let mut denied = list(odd(), DESIGN, ListId::Vrfs, Scope::All);
    let key = (ListId::Vrfs, Scope::All);
    let state = denied.lists.get_mut(&key).expect("its state");
    state.cursor = Some(ObjectId::Vrf("greenhse".into(), testing::NODE.into()));
    check(&refreshed(denied), "vrfs", "part-denied");
}
