//! TUI-04: sizes that change while things go on.

use std::time::Duration;

use deevnet_console::console::{Model, Msg, update, view};
use deevnet_console::terminal::Input;

use crate::pty::Pty;
use crate::{Home, all, demo, leave, picture};

const CASE: &str = include_str!("../data/cases/TUI-04/sizes.json");

fn case() -> Vec<(u16, u16)> {
    let number = |v: &serde_json::Value| u16::try_from(v.as_u64().unwrap()).unwrap();
    all(CASE).iter().map(|event| (number(&event["w"]), number(&event["h"]))).collect()
}

/// Other walks through sizes; each ends at one that shows everything.
fn walks() -> Vec<Vec<(u16, u16)>> {
    let mut seed = 4_u32;
    let mut next = move |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u16::try_from((seed >> 16) % below).unwrap()
    };
    let mut walks = vec![
        case(),
        vec![(0, 0), (0, 50), (200, 0), (72, 20)],
        vec![(71, 20), (72, 19), (72, 20), (1, 400), (400, 1), (160, 50)],
    ];
    for _ in 0..30 {
        let mut walk: Vec<_> = (0..6).map(|_| (next(260), next(90))).collect();
        walk.push((72 + next(200), 20 + next(60)));
        walks.push(walk);
    }
    walks
}

fn resize(model: &mut Model, (width, height): (u16, u16)) {
    update(model, Msg::Input(Input::Resize { width, height }));
    let screen = view(model);
    assert_eq!((screen.buffer.area.width, screen.buffer.area.height), (width, height));
    update(model, Msg::Drawn(screen.hits.into()));
}

#[test]
fn the_last_frame_is_that_of_a_console_born_at_its_size() {
    for walk in walks() {
        let last = *walk.last().unwrap();
        let mut model = picture::model((80, 24));
        for size in &walk {
            resize(&mut model, *size);
        }
        let mut fresh = picture::model(last);
        let screen = view(&fresh);
        update(&mut fresh, Msg::Drawn(screen.hits.into()));
        assert_eq!(view(&model).buffer, view(&fresh).buffer, "after {walk:?}");
    }
}

#[test]
fn under_the_minimum_one_line_says_so() {
    for (size, line) in [((71, 20), "This window is 71 × 20."), ((24, 3), "This window is 24 × 3.")] {
        let mut model = picture::model((120, 40));
        resize(&mut model, size);
        let rows = picture::rows(&view(&model).buffer);
        assert!(rows.iter().any(|row| row.contains(line)), "{rows:?}");
    }
}

/// What the terminal shows, with its attributes.
fn shown(pty: &Pty) -> String {
    pty.screen().contents_formatted()
}

#[test]
fn a_reading_goes_on_through_every_size() {
    let home = Home::new();
    // The exit node answers after seconds: its reading is on its way all the time.
    let mut pty = home.console(&["demo", "--fault", "exit-slow"]).size(80, 24).start();
    pty.wait_for("[Tenants");
    for walk in walks().into_iter().take(6) {
        for (width, height) in walk {
            if width == 0 || height == 0 {
                pty.resize_unseen(width, height);
            } else {
                pty.resize(width, height);
            }
            pty.let_pass(Duration::from_millis(10));
        }
    }
    pty.resize(200, 50);
    pty.wait_until("the exit node's reading", |pty| pty.text().contains("EXIT ● <"));
    leave(pty);
}

#[test]
fn nothing_is_left_of_the_sizes_before() {
    let home = Home::new();
    let mut pty = demo(&home, &[]);
    // Frozen, so that only sizes and the minute change what is shown.
    pty.press("f", "frozen");
    for walk in walks().into_iter().take(4) {
        for (width, height) in walk {
            if width == 0 || height == 0 {
                pty.resize_unseen(width, height);
            } else {
                pty.resize(width, height);
            }
            pty.let_pass(Duration::from_millis(10));
        }
        pty.resize(200, 50);
        pty.wait_until("the last size", |pty| {
            pty.screen().rows(0, 200).nth(49).is_some_and(|row| row.contains("help"))
        });
        // The minute may turn in between; then the next round has none.
        let same = (0..3).any(|_| {
            pty.drain();
            let before = shown(&pty);
            let painted = pty.bytes().len();
            pty.send(b"\x0c");
            pty.wait_until("a whole frame", |pty| pty.bytes().len() > painted + 2000);
            pty.drain();
            before == shown(&pty)
        });
        assert!(same, "{}", pty.text());
    }
    leave(pty);
}
