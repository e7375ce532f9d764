//! Every screen by its keys, recognised by what is on it.

use crate::pty::Pty;
use crate::{Home, demo, leave};

const ESC: &str = "\x1b";

/// Opens what lies over the screen, and closes it.
#[track_caller]
fn opens_and_closes(pty: &mut Pty, key: &str, text: &str) {
    pty.press(key, text);
    pty.send(ESC.as_bytes());
    pty.wait_gone(text);
}

#[test]
fn every_pane_of_the_board_by_tab() {
    let home = Home::new();
    let mut pty = demo(&home);
    for pane in [
        "[Workloads · tdemo · 2]",
        "[VRF & egress",
        "[VNets · 1]",
        "[DNS records",
        "[Check-ins",
        "[Perimeter rules",
        "[Tenants 6/62]",
    ] {
        pty.press("\t", pane);
    }
    pty.press("\x1b[Z", "[Perimeter rules");
    leave(pty);
}

#[test]
fn every_screen_by_its_keys() {
    let home = Home::new();
    let mut pty = demo(&home);
    pty.press("\t", "[Workloads · tdemo · 2]");
    pty.press("z", "row 1 of 2");
    pty.press("t", "[Workloads · all tenants · 42]");
    for (keys, text) in [
        ("go", "[Needs a human now · 0]"),
        ("gf", "[Members · 2]"),
        ("gs", "[Sources · 6]"),
        ("ga", "[Tasks"),
        ("gt", "[Tenants 6/62]"),
    ] {
        pty.press(keys, text);
    }
    pty.press("d", "[tdemo]");
    pty.press("y", "[tdemo · YAML]");
    pty.press("y", "[tdemo · JSON]");
    pty.press("gt", "[Tenants 6/62]");
    opens_and_closes(&mut pty, "?", "[Keys · Tenants]");
    opens_and_closes(&mut pty, "a", "[Actions · tdemo]");
    opens_and_closes(&mut pty, ":", "─ candidates ─");
    opens_and_closes(&mut pty, "s", "[Sort by · Tenants]");
    opens_and_closes(&mut pty, "C", "[Columns · Tenants]");
    pty.press(":go fabric\r", "[Members · 2]");
    leave(pty);
}

#[test]
fn a_filter_narrows_and_esc_brings_all_back() {
    let home = Home::new();
    let mut pty = demo(&home);
    pty.press("/eds", "2 eds");
    pty.wait_gone("4 sensors");
    pty.send(ESC.as_bytes());
    pty.wait_for("4 sensors");
    leave(pty);
}

#[test]
fn the_mouse_selects_and_scrolls() {
    let home = Home::new();
    let mut pty = demo(&home);
    let row = pty.row_of("2 eds") + 1;
    let click = format!("\x1b[<0;6;{row}M\x1b[<0;6;{row}m");
    pty.press(&click, "▸ 2 eds");
    pty.wait_for("VRF 10002");
    pty.press("\tzt", "[Workloads · all tenants · 42]");
    pty.press("gg", "row 1 of 42");
    let wheel = "\x1b[<65;40;12M".repeat(8);
    pty.send(wheel.as_bytes());
    pty.wait_gone("row 1 of 42");
    pty.press(&"\x1b[<64;40;12M".repeat(20), "  app         2040");
    leave(pty);
}

#[test]
fn a_terminal_that_is_too_small_loses_nothing() {
    let home = Home::new();
    let mut pty = demo(&home);
    pty.press("jj", "▸ 3 greenhse");
    pty.wait_for("Workloads · greenhse · 10");
    pty.wait_for("must not exist: ✓");
    // The clock and the perimeter's counters may move meanwhile.
    let still = |pty: &Pty| pty.text().lines().skip(1).take(20).collect::<Vec<_>>().join("\n");
    pty.drain();
    let before = still(&pty);
    pty.resize(20, 5);
    pty.wait_for("This window");
    assert!(!pty.text().contains("greenhse"), "{}", pty.text());
    pty.resize(1, 1);
    pty.wait_until("a single cell", |pty| pty.text().chars().count() <= 1);
    pty.drain();
    pty.resize(120, 40);
    pty.wait_for("▸ 3 greenhse");
    pty.wait_for("? help");
    pty.drain();
    assert_eq!(still(&pty), before);
    leave(pty);
}

#[test]
fn every_last_size_is_shown_without_another_event() {
    let home = Home::new();
    let mut pty = demo(&home);
    // Nothing but the signal tells of a new size; each one is awaited before the next.
    let mut seed = 20_u32;
    for round in 0..200 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (width, height) = (72 + (seed >> 16) as u16 % 100, 20 + (seed >> 8) as u16 % 40);
        if round % 3 == 0 {
            pty.resize(width - 1, height);
        }
        pty.resize(width, height);
        let corner = move |pty: &Pty| {
            let last = pty.screen().rows(0, width).nth(usize::from(height) - 1);
            let first = pty.screen().rows(0, width).next();
            last.is_some_and(|row| row.contains("help"))
                && first.is_some_and(|row| row.trim_end().chars().count() == usize::from(width) - 1)
        };
        pty.wait_until(&format!("size {width}x{height} in round {round}"), corner);
    }
    leave(pty);
}

#[test]
fn eighty_columns_show_one_list() {
    let home = Home::new();
    let mut pty = home.console(&["demo"]).size(80, 24).start();
    pty.wait_for("[Tenants");
    pty.press("\r", "tdemo");
    leave(pty);
}

#[test]
fn the_largest_lab_is_shown() {
    let home = Home::new();
    let mut pty = home.console(&["demo", "--tenants", "62", "--workloads", "40"]).start();
    pty.wait_for("[Tenants 62/62]");
    pty.press("\t", "[Workloads");
    pty.press("z", "of 40");
    pty.press("t", "all tenants");
    pty.wait_for("row 1 of 2480");
    pty.press("G", "row 2480 of 2480");
    leave(pty);
}
