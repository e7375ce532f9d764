//! Other sizes, character sets and colour depths; and that no size at all ends in a panic.

use super::*;
use crate::terminal::input::Input;

#[test]
fn other_sizes() {
    check(&board(testing::healthy(), (160, 50), "tdemo", ListId::Workloads), "board", "healthy");
    check(&list(testing::healthy(), (160, 50), ListId::Workloads, Scope::All), "workloads", "healthy");
    check(&board(testing::healthy(), (100, 24), "tdemo", ListId::Workloads), "board", "healthy");
    check(&board(testing::healthy(), (72, 20), "tdemo", ListId::Workloads), "board", "healthy");
    check(&tenants(testing::healthy(), (72, 20)), "tenants", "healthy");
    check(&tenants(testing::healthy(), (60, 12)), "too-small", "shown");
    check(&tenants(testing::healthy(), (20, 3)), "too-small", "shown");
}

#[test]
fn other_looks() {
    let mut ascii = board(testing::healthy(), COMPACT, "tdemo", ListId::Workloads);
    ascii.look = look("dark", Depth::True, true);
    check(&ascii, "board", "ascii");
    let mut ascii = board(testing::healthy(), DESIGN, "tdemo", ListId::Workloads);
    ascii.look = look("dark", Depth::True, true);
    for row in 0..40 {
        let line = grid::row(&view(&ascii).buffer, row);
        assert!(line.is_ascii(), "{line}");
    }
    check(&ascii, "board", "ascii");
    let mut mono = board(testing::healthy(), DESIGN, "tdemo", ListId::Workloads);
    mono.look = look("dark", Depth::None, false);
    check(&mono, "board", "mono");
}

#[test]
fn every_size_is_drawn() {
    let screens = [Screen::Tenants, Screen::Board { tenant: "tdemo".into() }, Screen::Overview, Screen::Fabric]
        .into_iter()
        .chain([Screen::Activity, Screen::Sources])
        .chain([ListId::Workloads, ListId::Vrfs].map(|list| Screen::List { list, scope: Scope::All }));
    let widths = [1, 2, 9, 29, 71, 72, 80, 99, 100, 120, 159, 160, 240];
    let heights = [1, 2, 9, 19, 20, 23, 29, 30, 33, 60];
    let inv = testing::healthy();
    for screen in screens {
        let mut model = model(Arc::clone(&inv), DESIGN, screen, Focus::Rail);
        for size in widths.into_iter().flat_map(|w| heights.map(|h| (w, h))) {
            update(&mut model, Msg::Input(Input::Resize { width: size.0, height: size.1 }));
            grid::assert_whole(&view(&model).buffer, size);
        }
    }
}

#[test]
fn nothing_is_needed_to_draw() {
    for size in [COMPACT, DESIGN] {
        let look = look("dark", Depth::True, false);
        let model = Model::new("mobile", size, testing::now(), look, Arc::new(Keymap::default()));
        check(&model, "first-paint", "no-picture");
    }
}

/// Prints what one picture costs; timings are read by people, not asserted.
#[test]
#[expect(clippy::disallowed_methods, reason = "a measurement for people; nothing depends on it")]
fn time_of_a_picture() {
    let large = testing::Sample::large(62, 40).join();
    let mut rows = (*large).clone();
    while rows.workloads.len() < 25_000 {
        rows.workloads.extend_from_within(..2_480.min(25_000 - rows.workloads.len()));
    }
    let model = list(Arc::new(rows), DESIGN, ListId::Workloads, Scope::All);
    let shown = |model: &Model| model.focused_state().map_or(0, |s| s.order.len());
    assert!(shown(&model) >= 25_000 - 2_480, "{} rows", shown(&model));
    let start = std::time::Instant::now();
    let times = 50;
    for _ in 0..times {
        std::hint::black_box(view(std::hint::black_box(&model)));
    }
    eprintln!("view of {} rows at 120×40: {:?}", shown(&model), start.elapsed() / times);
}
