//! TUI-02: a pasted block is never keys.

use std::time::Duration;

use crate::pty::Pty;
use crate::{Home, bytes, demo, leave};

const CASE: [&str; 2] =
    [include_str!("../data/cases/TUI-02/paste.hex"), include_str!("../data/cases/TUI-02/paste-evil.hex")];

/// The case's blocks, and others: commands, every kind of end, marks in odd places.
fn blocks() -> Vec<Vec<u8>> {
    let others = [
        &b"\x1b[200~:quit\rq\x03\x1a\x1b[201~"[..],
        b"\x1b[200~\x1b[201~:quit\r\x1b[201~",
        b"\x1b[200~x\x1b[201~q\x1b[200~\x1b[201~gf\x1b[201~",
        b"\x1b[200~{\n  \"d\": \"y\"\n}\n\x1b[201~",
        b"\x1b[200~\x1b[201~\x1b[13;5u\x1b[B\x1b[<0;6;8M\x03",
        "\x1b[200~日本\u{202e}語\x1b[201~d\x1b[20\x1b[201~".as_bytes(),
    ];
    CASE.iter().map(|hex| bytes(hex)).chain(others.map(<[u8]>::to_vec)).collect()
}

/// Nothing was opened, moved or left by what was pasted.
#[track_caller]
fn untouched(pty: &mut Pty) {
    pty.drain();
    let text = pty.text();
    assert!(text.contains("[Tenants") && text.contains("▸ 1 "), "{text}");
    assert!(!["[Members", "YAML", "candidates", "esc back"].iter().any(|other| text.contains(other)), "{text}");
}

#[test]
fn a_paste_into_a_list_is_dropped_and_said_so() {
    let home = Home::new();
    let mut pty = demo(&home, &[]);
    for block in blocks() {
        pty.send(&block);
        pty.wait_for("what was pasted is dropped");
        untouched(&mut pty);
        // A key works again, and takes the notice away.
        pty.press("j", "▸ 2 eds");
        pty.wait_gone("what was pasted is dropped");
        pty.press("k", "▸ 1 ");
    }
    leave(pty);
}

#[test]
fn a_paste_in_pieces_is_one_paste() {
    let home = Home::new();
    let mut pty = demo(&home, &[]);
    let evil = bytes(CASE[1]);
    for at in 1..evil.len() {
        let (first, rest) = evil.split_at(at);
        pty.send(first);
        pty.let_pass(Duration::from_millis(10));
        pty.send(rest);
        pty.wait_for("what was pasted is dropped");
        untouched(&mut pty);
        pty.press("j", "▸ 2 eds");
        pty.press("k", "▸ 1 ");
    }
    leave(pty);
}

#[test]
fn a_paste_into_a_field_waits_to_be_looked_at() {
    let home = Home::new();
    let mut pty = demo(&home, &[]);
    for (block, shown) in [
        ("\x1b[200~go fabric\r\x1b[201~", "go fabric"),
        ("\x1b[200~go fab\x1b[201~ric\r", "go fabric"),
        ("\x1b[200~go fab\x1b[201~ric\r\x1b[201~", "go fabric"),
        ("\x1b[200~go\nfabric\n\x1b[201~\n\n", "go fabric"),
    ] {
        pty.press(":", "─ candidates ─");
        pty.send(block.as_bytes());
        pty.wait_for(shown);
        pty.drain();
        assert!(!pty.text().contains("[Members"), "it was run: {block:?}\n{}", pty.text());
        pty.send(b"\x1b");
        pty.wait_gone("─ candidates ─");
        untouched(&mut pty);
    }
    pty.press(":", "─ candidates ─");
    pty.send(b"\x1b[200~go fabric\x1b[201~");
    pty.wait_for("go fabric");
    pty.press("\r", "[Members");
    leave(pty);
}
