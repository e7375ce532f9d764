//! Only what the painter may write reaches the wire.

use crate::pty::strict;
use crate::{Home, leave, started};

#[test]
fn hostile_names_stay_text() {
    let home = Home::new();
    let mut pty = started(home.console(&["demo", "--fault", "hostile-names"]));
    for (keys, text) in [
        ("\t", "[Workloads"),
        ("z", "row 1 of"),
        ("t", "all tenants"),
        ("G", "? help"),
        ("d", "esc back"),
        ("y", "YAML"),
        ("go", "[Needs a human now"),
        ("gf", "[Members"),
        ("gs", "[Sources"),
        ("ga", "[Tasks"),
        ("gt", "[Tenants"),
        ("a", "[Actions"),
    ] {
        pty.press(keys, text);
    }
    pty.drain();
    if let Err(what) = strict::check(pty.bytes()) {
        panic!("{what}");
    }
    pty.send(b"\x1b");
    pty.wait_gone("[Actions");
    leave(pty);
}

#[test]
fn the_strict_reader_is_strict() {
    for bad in [
        "\x07",
        "a\x08",
        "\x1bc",
        "\x1b[5n",
        "\x1b]52;c;AA\x07",
        "\u{9b}31m",
        "\u{202e}",
        "\x1bPq\x1b\\",
        "\x1b[3J",
        "\x1b[?47h",
        "\n",
    ] {
        assert!(strict::check(bad.as_bytes()).is_err(), "{bad:?}");
    }
    for good in ["\x1b[m", "\r\n", "\x1b[1;31mé\x1b[K", "\x1b]2;title\x1b\\", "\x1b[?2026h"] {
        assert_eq!(strict::check(good.as_bytes()), Ok(()), "{good:?}");
    }
}
