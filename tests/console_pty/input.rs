//! Bytes that arrive in pieces, never end, or mean nothing.

use std::time::Duration;

use rustix::process::Signal;

use crate::{Home, demo, leave};

/// Longer than the console waits for the rest of anything.
const QUIET: Duration = Duration::from_millis(700);
const PIECE: Duration = Duration::from_millis(20);

#[test]
fn a_paste_that_never_ends_holds_nothing() {
    let home = Home::new();
    let mut pty = demo(&home);
    pty.send(b"\x1b[200~dd");
    pty.let_pass(Duration::from_millis(300));
    // The size is taken and drawn, keys come back with esc, and a signal ends it.
    pty.resize(100, 30);
    pty.wait_until("the new size", |pty| pty.screen().rows(0, 100).nth(29).is_some_and(|row| row.contains("help")));
    pty.send(b"jjj");
    pty.let_pass(QUIET);
    pty.send(b"\x1b");
    pty.let_pass(QUIET);
    pty.press("gf", "[Members");
    pty.send(b"\x1b[200~dd");
    pty.let_pass(Duration::from_millis(300));
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_ended().exit_status(), Some(143));
    pty.assert_nothing_left_behind();
}

#[test]
fn a_slow_and_large_paste_is_one_text() {
    let home = Home::new();
    let mut pty = demo(&home);
    pty.press("/", "_");
    pty.send(b"\x1b[20");
    pty.let_pass(PIECE);
    pty.send(b"0~");
    for piece in 0..100 {
        pty.send(format!("{piece:04}").repeat(256).as_bytes());
        pty.let_pass(PIECE / 4);
    }
    pty.send(b"\x1b[2");
    pty.let_pass(PIECE);
    pty.send(b"01~");
    pty.wait_for("Nothing matches");
    pty.send(b"\x1b");
    pty.wait_for("4 sensors");
    leave(pty);
}

#[test]
fn pieces_of_a_sequence_are_no_keys() {
    let home = Home::new();
    let mut pty = demo(&home);
    for byte in b"\x1b[1;5B\x1b[B" {
        pty.send(&[*byte]);
        pty.let_pass(Duration::from_millis(2));
    }
    pty.wait_for("▸ 2 eds");
    // Answers to questions that somebody else asked, and what nobody knows.
    pty.send(b"\x1b[?62;22c\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?2026;2$y\x1bP1$r0m\x1b\\\x1b[99;99z");
    pty.press("j", "▸ 3 greenhse");
    leave(pty);
}

#[test]
fn keys_between_two_sizes_are_not_lost() {
    let home = Home::new();
    let mut pty = demo(&home);
    for round in 0..60 {
        let (key, text) = if round % 2 == 0 { (b"G", "▸ 7 radio") } else { (b"k", "▸ 5 bench1") };
        pty.resize(119 + round % 3, 40);
        pty.send(key);
        pty.wait_until(&format!("{text} in round {round}"), |pty| pty.text().contains(text));
    }
    leave(pty);
}
