//! Built-in themes on a terminal.

use deevnet_console::console::theme;

use crate::pty::sgr_parameters;
use crate::{Home, demo, leave};

#[test]
fn a_theme_that_brings_its_background_covers_the_whole_screen() {
    let home = Home::new();
    let mut pty = demo(&home, &["--theme", "high-contrast"]);
    for (keys, text) in [("\tzt", "all tenants"), ("G", "row 42 of 42"), ("gf", "[Members"), ("?", "[Keys")] {
        pty.press(keys, text);
        pty.drain();
        for (row, column) in (0..40).flat_map(|row| (0..120).map(move |column| (row, column))) {
            let cell = pty.screen().cell(row, column).unwrap();
            let bare = cell.bgcolor() == vt100::Color::Default && !cell.is_wide_continuation();
            assert!(!bare, "nothing is behind row {row}, column {column}:\n{}", pty.text());
        }
    }
    pty.send(b"\x1b");
    pty.wait_gone("[Keys");
    leave(pty);
}

#[test]
fn every_theme_is_taken_by_its_name() {
    let home = Home::new();
    let mut pty = demo(&home, &[]);
    for (name, _) in theme::EMBEDDED {
        pty.press(&format!(":theme {name}\r"), &format!(" i theme {name}"));
        pty.drain();
        let before = pty.bytes().len();
        pty.send(b"\x0c");
        pty.wait_until("a whole frame", |pty| pty.bytes().len() > before + 2000);
        pty.drain();
        let coloured = sgr_parameters(&pty.bytes()[before..]).iter().any(|p| matches!(p, 30..=38 | 90..=97));
        assert_eq!(coloured, name != "mono", "{name}");
    }
    leave(pty);
}
