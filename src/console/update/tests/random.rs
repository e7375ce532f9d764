use super::*;
use crate::console::change::Order;
use crate::terminal::{Button, Mouse, MouseKind};

fn key() -> impl Strategy<Value = Input> {
    use crate::terminal::KeyCode as K;
    let named = prop::sample::select(vec![
        K::Enter,
        K::Esc,
        K::Tab,
        K::BackTab,
        K::Backspace,
        K::Delete,
        K::Left,
        K::Right,
        K::Up,
        K::Down,
        K::Home,
        K::End,
        K::PageUp,
        K::PageDown,
        K::F(5),
    ]);
    let letters: Vec<char> = "abcdefghijklmnoprstuvwxyzGMCNXZ/:?! 0123456789é日".chars().collect();
    prop_oneof![
        3 => named.prop_map(|code| Input::Key(Key::new(code))),
        6 => prop::sample::select(letters).prop_map(|c| Input::Key(Key::char(c))),
        1 => prop::sample::select(vec!['a', 'u', 'd', 'l', 'x']).prop_map(|c| Input::Key(Key::ctrl(c))),
    ]
}

fn input() -> impl Strategy<Value = Input> {
    let kind = prop::sample::select(vec![
        MouseKind::Down(Button::Left),
        MouseKind::Down(Button::Right),
        MouseKind::ScrollUp,
        MouseKind::ScrollDown,
    ]);
    prop_oneof![
        16 => key(),
        2 => (kind, 0u16..200, 0u16..60)
            .prop_map(|(kind, x, y)| Input::Mouse(Mouse { kind, x, y, ctrl: false, alt: false, shift: false })),
        1 => "\\PC{0,12}".prop_map(Input::Paste),
        1 => (prop::sample::select(vec![1u16, 60, 72, 80, 99, 100, 120, 160, 200]), prop::sample::select(vec![1u16, 19, 20, 24, 29, 30, 40]))
            .prop_map(|(width, height)| Input::Resize { width, height }),
    ]
}

#[derive(Debug, Clone)]
enum Event {
    Input(Input),
    Picture(usize),
    Time(i64),
    Drawn,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        20 => input().prop_map(Event::Input),
        1 => (0usize..4).prop_map(Event::Picture),
        1 => (0i64..400).prop_map(Event::Time),
        2 => Just(Event::Drawn),
    ]
}

/// What must hold whatever happened.
fn check(model: &Model) {
    assert!(!model.stack.is_empty() && model.stack.len() <= 32);
    assert_eq!(model.parked.len() + 1, model.stack.len());
    if let Some(inv) = model.picture() {
        for (list, scope) in model.visible_lists() {
            let Some(state) = model.list_state(list, &scope) else { panic!("{list:?} is shown and was never made") };
            let shown = state.order.get(state.at).and_then(|i| (lists::def(list).id_of)(inv, *i as usize));
            assert_eq!(shown, state.cursor, "{list:?}: the cursor is on the row it names");
            assert!(state.order.len() <= state.total);
        }
    }
    // Neither a text, nor the isolation table, nor a page of changes has panes.
    let panes = !model.screen().is_text() && !matches!(model.screen(), Screen::Isolation { .. } | Screen::Change(_));
    if model.layout() != Layout::TooSmall && panes {
        assert!(nav::stops(model).contains(&model.focus), "{:?} on {:?}", model.focus, model.screen());
    }
    assert!(model.prefix.len() < SEQUENCE);
}

/// Effects that change nothing anywhere: the console only reads.
fn only_reads(effects: &[Effect]) {
    for effect in effects {
        match effect {
            Effect::Quit
            | Effect::Suspend
            | Effect::Redraw
            | Effect::Refresh(_)
            | Effect::Demand(_)
            | Effect::Copy(_)
            | Effect::Edit { .. }
            | Effect::Resolve { .. }
            | Effect::StopResolve
            | Effect::Check { .. }
            | Effect::StopCheck
            | Effect::Save { .. }
            | Effect::WakeAt(_)
            | Effect::Judge { .. }
            | Effect::Title(_) => {}
            // Without a plan that was looked at nothing runs, and no secret is fetched of a key that nobody told.
            Effect::Change(order) => {
                assert!(!matches!(order, Order::Run { .. } | Order::Secret { .. }), "{order:?}");
            }
            Effect::CopySecret(_) => panic!("a secret that nobody fetched"),
        }
    }
}

fn pictures() -> Vec<Arc<Inventory>> {
    let mut stale = Sample::healthy();
    stale.fail(SourceId::Exit, GapKind::Denied, "sudo refused", true);
    let mut fewer = Sample::healthy();
    fewer.resources().vms.retain(|vm| vm.vmid % 3 != 0);
    vec![healthy(), stale.join(), fewer.join(), Sample::healthy().join_without_data()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 34, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_inputs_panics_or_breaks_an_invariant(
        size in prop::sample::select(vec![(120u16, 40u16), (80, 24), (160, 50), (100, 24)]),
        events in prop::collection::vec(event(), 300),
    ) {
        let pictures = pictures();
        let mut model = model(size);
        start(&mut model);
        for event in events {
            let msg = match event {
                Event::Input(input) => Msg::Input(input),
                Event::Picture(i) => Msg::Inventory(Arc::clone(&pictures[i])),
                Event::Time(s) => Msg::Now(now() + SignedDuration::from_secs(s)),
                Event::Drawn => Msg::Drawn(view(&model).hits.into()),
            };
            only_reads(&update(&mut model, msg));
            check(&model);
        }
    }

    #[test]
    fn the_cursor_stays_on_its_object_however_a_refresh_turns_the_rows(
        seed in any::<u64>(),
        at in 0usize..42,
        filter in prop::sample::select(vec!["", "gw", "state:running", "!app"]),
    ) {
        let mut model = given((120, 40));
        run_line(&mut model, "workloads");
        update(&mut model, Msg::Repaint);
        run_line(&mut model, &format!("filter {filter}"));
        update(&mut model, Msg::Input(Input::Key(Key::new(KeyCode::Enter))));
        let key = (ListId::Workloads, Scope::All);
        model.overlay = Overlay::None;
        model.stack.truncate(2);
        model.parked.truncate(1);
        select::move_to(&mut model, &key, at);
        let cursor = model.selected().cloned();
        let mut inv = Inventory::clone(&healthy());
        let len = inv.workloads.len() as u64;
        inv.workloads.sort_by_key(|w| (u64::from(w.vmid) ^ seed).wrapping_mul(seed | 1) % len);
        update(&mut model, Msg::Inventory(Arc::new(inv)));
        prop_assert!(cursor.is_some());
        prop_assert_eq!(model.selected().cloned(), cursor);
    }
}
