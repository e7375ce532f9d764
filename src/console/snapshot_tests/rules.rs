//! What holds at every width, not only in the pictures.

use ratatui::style::Modifier;

use super::*;
use crate::console::msg::{Hit, Screenful};
use crate::inventory::{Gap, GapKind, ObjectId, SourceId};

fn lines(screen: &Screenful) -> Vec<String> {
    (0..screen.buffer.area.height).map(|y| grid::row(&screen.buffer, y)).collect()
}

#[test]
fn addresses_numbers_and_states_are_whole_at_every_width() {
    let inv = testing::healthy();
    for width in (72..=200).step_by(3) {
        let screen = view(&list(Arc::clone(&inv), (width, 40), ListId::Workloads, Scope::All));
        let lines = lines(&screen);
        let shown: Vec<u32> = screen
            .hits
            .iter()
            .filter_map(|(_, hit)| match hit {
                Hit::Row(ListId::Workloads, ObjectId::Workload(vmid)) => Some(*vmid),
                _ => None,
            })
            .collect();
        assert!(shown.len() > 20, "{} rows at {width}", shown.len());
        for vmid in shown {
            let w = inv.workloads.iter().find(|w| w.vmid == vmid).expect("a workload");
            let address = w.derived_address.expect("an address").to_string();
            let whole = [vmid.to_string(), address, w.name.to_string(), format!("✓ {}", w.status)];
            assert!(
                lines.iter().any(|line| whole.iter().all(|text| line.contains(text.as_str()))),
                "{whole:?} at {width} columns"
            );
        }
    }
}

/// Data that is late makes no claim: neither a status, nor an all-clear, nor a fresh pane of another source stale.
#[test]
fn what_is_late_or_awaited_is_claimed_nowhere() {
    let late = |id: SourceId| {
        let mut inv = (*testing::healthy()).clone();
        let mut health = inv.sources.get(id).clone();
        health.observed_at = health.observed_at.map(|at| at - jiff::SignedDuration::from_mins(4));
        inv.sources.set(id, health);
        Arc::new(inv)
    };
    let board = |inv| lines(&view(&board(inv, DESIGN, "tdemo", ListId::Workloads))).join("\n");
    let old = board(late(SourceId::Pve));
    assert!(old.contains("index 1 · unknown"), "{old}");
    let vrf = old.lines().find(|l| l.contains(" VRF & egress ")).expect("the pane");
    assert_eq!(vrf.matches("stale 4m").count(), 1, "the VNets are, the VRF is not: {vrf}");
    let old = board(late(SourceId::Exit));
    assert!(old.contains("index 1 · unknown"), "{old}");
    let mut inv = (*testing::healthy()).clone();
    let mut exit = inv.sources.get(SourceId::Exit).clone();
    exit.observed_at = None;
    inv.sources.set(SourceId::Exit, exit);
    let first = board(Arc::new(inv));
    assert!(first.contains("no findings so far · asking the exit node"), "{first}");
}

#[test]
fn a_full_site_says_that_no_index_is_free() {
    let text = lines(&view(&tenants(testing::Sample::large(62, 1).join(), COMPACT))).join("\n");
    assert!(text.contains("none free"), "{text}");
}

#[test]
fn a_lost_quorum_is_seen_where_rows_are_few() {
    let mut inv = (*testing::healthy()).clone();
    inv.fabric.quorate = Ok(Some(false));
    let text = lines(&view(&model(Arc::new(inv), COMPACT, Screen::Fabric, Focus::Pane(ListId::Members)))).join("\n");
    assert!(text.contains("no quorum"), "{text}");
}

#[test]
fn columns_leave_one_after_the_other_in_the_documented_order() {
    let inv = testing::healthy();
    let mut order = Vec::new();
    let mut before: Vec<&str> = Vec::new();
    for width in (72..=140).rev() {
        let mut model = list(Arc::clone(&inv), (width, 30), ListId::Workloads, Scope::All);
        let long = Arc::make_mut(model.inv.as_mut().expect("a picture"));
        long.workloads.iter_mut().for_each(|w| w.name = "a-name-of-twenty-four-ce".into());
        let screen = view(&model);
        let now: Vec<&str> = screen
            .hits
            .iter()
            .filter_map(|(_, hit)| match hit {
                Hit::Column(ListId::Workloads, key) => Some(*key),
                _ => None,
            })
            .collect();
        order.extend(before.iter().filter(|key| !now.contains(key)).copied());
        before = now;
    }
    assert!("up mem cpu node ptr origin a".starts_with(&order.join(" ")), "{order:?}");
    assert!(!order.is_empty(), "nothing had to leave");
    for key in ["name", "state", "address"] {
        assert!(before.contains(&key), "{key} left");
    }
}

#[test]
fn the_selected_row_is_reversed_whole_and_carries_the_terminal_cursor() {
    let screen = view(&list(testing::healthy(), DESIGN, ListId::Workloads, Scope::All));
    let at = screen.cursor.expect("a cursor");
    assert!(!screen.cursor_visible);
    for y in 0..40 {
        let reversed = (0..120).all(|x| screen.buffer[(x, y)].modifier.contains(Modifier::REVERSED));
        assert_eq!(reversed, y == at.y, "row {y}");
    }
    let hit = screen.hits.iter().find(|(area, hit)| area.contains(at) && matches!(hit, Hit::Row(..)));
    assert_eq!(hit.map(|(_, hit)| hit.clone()), Some(Hit::Row(ListId::Workloads, ObjectId::Workload(2040))));
    let scroll = screen.scroll.expect("rows that move as a whole");
    assert_eq!((scroll.x, scroll.width), (0, 120));
    assert!(scroll.contains(at));
}

#[test]
fn text_fields_show_their_cursor_and_overlays_take_the_clicks() {
    let field = tui_input::Input::new("re".into());
    let open = Overlay::Command { field, at: None, history: None };
    let screen = view(&with(list(testing::healthy(), COMPACT, ListId::Workloads, Scope::All), open));
    assert!(screen.cursor_visible);
    assert_eq!(screen.cursor.map(|at| (at.x, at.y)), Some((4, 22)));
    assert_eq!(screen.scroll, None);
    assert!(screen.hits.iter().all(|(_, hit)| matches!(hit, Hit::Candidate(_))), "{:?}", screen.hits);
}

#[test]
fn the_cursor_stays_in_sight_while_it_moves() {
    let mut model = list(testing::healthy(), COMPACT, ListId::Workloads, Scope::All);
    let key = (ListId::Workloads, Scope::All);
    for at in (0..42).chain((0..42).rev()) {
        let state = model.lists.get_mut(&key).expect("its state");
        state.at = at;
        let id = model.inv.as_ref().map(|inv| ObjectId::Workload(inv.workloads[at].vmid));
        state.cursor.clone_from(&id);
        let screen = view(&model);
        let y = screen.cursor.expect("a cursor").y;
        let row = screen.hits.iter().find(|(area, hit)| area.y == y && matches!(hit, Hit::Row(..)));
        assert_eq!(row.map(|(_, hit)| hit.clone()), id.map(|id| Hit::Row(ListId::Workloads, id)), "row {at}");
    }
}

#[test]
fn a_source_that_hides_a_part_leaves_no_room_for_no_faults() {
    let said = |change: &dyn Fn(&mut testing::Sample)| {
        let mut sample = testing::Sample::healthy();
        change(&mut sample);
        lines(&view(&tenants(sample.join(), DESIGN)))[1].clone()
    };
    assert!(said(&|_| ()).contains("no faults"));
    let partly = said(&|sample| {
        let mut health = sample.sources.get(SourceId::Pve).clone();
        health.gaps = vec![Gap::new(GapKind::Denied, "the token lacks VM.Audit: guests may be hidden, not absent")];
        sample.sources.set(SourceId::Pve, health);
    });
    assert!(partly.contains("0 faults") && !partly.contains("no faults"), "{partly}");
}

#[test]
fn of_sources_that_are_all_dead_nothing_is_counted() {
    let mut sample = testing::Sample::healthy();
    for (id, kind) in SourceId::ALL.into_iter().zip([GapKind::NoAnswer, GapKind::Unusable].into_iter().cycle()) {
        sample.fail(id, kind, "10.20.99.22: connection refused", false);
    }
    let said = lines(&view(&tenants(sample.join_without_data(), DESIGN)));
    assert!(said[1].contains("? faults · ? warnings"), "{}", said[1]);
    assert!(said[0].contains("PVE ✗") && said[0].contains("DNS ✗"), "{}", said[0]);
}
