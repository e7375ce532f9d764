//! Terminals, locales and back ends that are not as one would wish.

use std::{process::Command, time::Duration};

use crate::pty::{Program, Pty, sgr_parameters};
use crate::{CONSOLE, Home, leave, started};

/// Runs into an error before anything is drawn.
#[track_caller]
fn refused(program: Program, text: &str) {
    let mut pty = program.start();
    assert_eq!(pty.wait_ended().exit_status(), Some(2), "{}", pty.text());
    assert!(pty.text().contains(text), "{}", pty.text());
    assert_eq!(pty.text().matches("deevnet-console:").count(), 1, "one error: {}", pty.text());
    assert!(pty.text().contains("help:"), "{}", pty.text());
    assert_eq!(pty.modes().switched(1049), 0);
    pty.assert_nothing_left_behind();
}

#[test]
fn a_terminal_that_cannot_place_text_is_refused() {
    let home = Home::new();
    refused(home.console(&["demo"]).env("TERM", "dumb"), "\"dumb\" (TERM)");
}

#[test]
fn no_terminal_is_refused() {
    let home = Home::new();
    refused(home.console(&["demo"]).without_controlling_terminal(), "there is no terminal to draw on");
}

#[test]
fn no_color_keeps_the_selection() {
    let home = Home::new();
    let mut pty = started(home.console(&["demo"]).env("NO_COLOR", "1"));
    pty.press("\tzt", "all tenants");
    pty.drain();
    let used = sgr_parameters(pty.bytes());
    let colour = used.iter().find(|p| matches!(p, 30..=38 | 40..=48 | 90..=107));
    assert_eq!(colour, None, "{used:?}");
    assert!(used.contains(&7), "the selection is reversed: {used:?}");
    leave(pty);
}

#[test]
fn an_ascii_locale_gets_ascii_only() {
    let home = Home::new();
    let mut pty = home.console(&["demo"]).env("LC_ALL", "C").start();
    pty.wait_for("EXIT + <");
    pty.wait_for("tdemo, index 1, ready");
    for (keys, text) in [
        ("\t", "[Workloads"),
        ("z", "row 1 of 2"),
        ("go", "[Needs a human now"),
        ("gf", "[Members"),
        ("gs", "[Sources"),
        ("ga", "[Tasks"),
        ("gt", "[Tenants"),
        ("?", "[Keys"),
    ] {
        pty.press(keys, text);
    }
    pty.drain();
    let high = pty.bytes().iter().position(|byte| *byte > 127);
    assert_eq!(high, None, "{}", String::from_utf8_lossy(&pty.bytes()[high.unwrap_or(0)..][..40]));
    pty.send(b"\x1b");
    pty.wait_gone("[Keys");
    leave(pty);
}

#[test]
fn dead_back_ends_hold_nothing_up() {
    let home = Home::new();
    let mut pty = home.console(&["--site", &home.dead_site()]).start();
    pty.wait_for("? help");
    pty.press("gs", "[Sources · 6]");
    pty.press("gt", "[Tenants");
    pty.press("?", "[Keys");
    pty.send(b"\x1b");
    pty.wait_gone("[Keys");
    pty.wait_for("PVE ✗ no answer");
    pty.wait_for("refused");
    pty.press("gs", "exit code 1");
    leave(pty);
}

fn has_tmux() -> bool {
    Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success())
}

/// What tmux says of its only pane.
fn tmux(socket: &str, format: &str) -> String {
    let output = Command::new("tmux").args(["-S", socket, "display-message", "-p", format]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn inside_tmux() {
    if !has_tmux() {
        eprintln!("SKIPPED inside_tmux: there is no tmux");
        return;
    }
    let home = Home::new();
    let socket = home.path("tmux").display().to_string();
    let line = format!("'{CONSOLE}' demo; echo ended with $?; exec cat");
    let program = Program::new("tmux", &["-S", &socket, "-f", "/dev/null", "new-session", &line]);
    let mut pty: Pty = home.at_home(program).size(80, 24).start();
    pty.wait_for("[Tenants 6/62");
    pty.wait_for("sensors");
    assert_eq!(tmux(&socket, "#{alternate_on} #{mouse_any_flag} #{pane_height}"), "1 1 23");
    pty.press("jj", "▸ 3 greenhse");
    pty.press("\r", "greenhse");
    pty.press("q", "ended with 0");
    assert_eq!(tmux(&socket, "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"), "0 0 1");
    assert!(!pty.text().contains("Tenants"), "{}", pty.text());
    pty.send(b"\x04");
    pty.wait_ended();
}

#[test]
fn nothing_is_written_while_nothing_changes() {
    let home = Home::new();
    let mut pty = started(home.console(&["demo"]));
    pty.press("gf", "[Members");
    // The background sweep ends, then at least two readings of each list pass.
    pty.take_for(Duration::from_secs(12));
    let before = pty.bytes().len();
    pty.take_for(Duration::from_secs(25));
    let written = pty.bytes().len() - before;
    // The minute may have turned once.
    assert!(written < 120, "{written} bytes in 25 s: {:?}", String::from_utf8_lossy(&pty.bytes()[before..]));
    leave(pty);
}
