//! However it ends, the terminal is as it was.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use rustix::process::Signal;

use crate::pty::{Program, Pty};
use crate::{CONSOLE, Home, demo, leave, started};

#[test]
fn keys_that_leave() {
    for key in ["q", "\x03", ":quit\r"] {
        let home = Home::new();
        let mut pty = demo(&home);
        pty.send(key.as_bytes());
        assert_eq!(pty.wait_ended().exit_status(), Some(0), "{key:?}");
        pty.assert_nothing_left_behind();
    }
}

#[test]
fn signals_that_end_say_so_by_the_exit_code() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let home = Home::new();
        let mut pty = demo(&home);
        pty.signal(signal);
        assert_eq!(pty.wait_ended().exit_status(), Some(code));
        pty.assert_nothing_left_behind();
    }
}

#[test]
fn ctrl_z_stops_and_fg_goes_on() {
    let home = Home::new();
    let mut pty = demo(&home);
    pty.press("j", "▸ 2 eds");
    for stop in [&b"\x1a"[..], b"\x1a"] {
        pty.send(stop);
        pty.wait_stopped();
        pty.assert_nothing_left_behind();
        pty.signal(Signal::CONT);
        pty.wait_until("the screen again", |pty| pty.modes().is_on(1049) && !pty.line_is_restored());
        pty.wait_for("▸ 2 eds");
    }
    pty.press("j", "▸ 3 greenhse");
    leave(pty);
}

/// An editor that shows itself, takes a line and adds it to the file.
fn editor(home: &Home) -> String {
    let path = home.path("editor");
    fs::write(&path, "#!/bin/sh\necho in the editor\nread line\necho \"$line\" >> \"$1\"\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path.display().to_string()
}

#[test]
fn the_editor_has_the_terminal_to_itself() {
    let home = Home::new();
    let mut pty = started(home.console(&["demo"]).env("EDITOR", editor(&home)));
    for _ in 0..2 {
        pty.press("e", "in the editor");
        // The words of the first round still stand on the screen that the second one comes back to.
        pty.wait_until("the line as it was", super::Pty::line_is_restored);
        pty.assert_nothing_left_behind();
        pty.press("qqq\n", "[Tenants 6/62]");
        pty.wait_for("thrown away");
        assert!(!pty.line_is_restored(), "raw mode is back");
    }
    leave(pty);
}

#[test]
fn a_missing_editor_is_said() {
    let home = Home::new();
    let mut pty = started(home.console(&["demo"]).env("EDITOR", "/nonexistent/editor"));
    pty.press("e", "cannot be started");
    leave(pty);
}

/// A list that fills a large screen.
fn long_list(home: &Home) -> Pty {
    let mut pty = home.console(&["demo", "--tenants", "6", "--workloads", "40"]).size(200, 50).start();
    pty.wait_for("40 of 40 running");
    pty.press("\tzt", "row 1 of 240");
    pty
}

/// Keys that repaint the screen, while nobody reads: the wire fills.
fn stall(pty: &mut Pty) {
    for _ in 0..150 {
        pty.send(b"Ggg");
        pty.let_pass(Duration::from_millis(20));
    }
}

#[test]
fn a_reader_that_stalls_does_not_hold_the_end() {
    let home = Home::new();
    let mut pty = long_list(&home);
    stall(&mut pty);
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_ended_unread().exit_status(), Some(143));
    assert!(pty.line_is_restored(), "raw mode ends although nobody reads");
    pty.drain();
    pty.assert_nothing_left_behind();
}

#[test]
fn a_reader_that_comes_back_sees_the_newest_picture() {
    let home = Home::new();
    let mut pty = long_list(&home);
    stall(&mut pty);
    pty.press("G", "row 240 of 240");
    leave(pty);
}

#[test]
fn redirected_output_does_not_matter() {
    let home = Home::new();
    let line = format!("exec '{CONSOLE}' demo > /dev/null 2>&1");
    let pty = started(home.at_home(Program::new("sh", &["-c", &line])));
    leave(pty);
}
