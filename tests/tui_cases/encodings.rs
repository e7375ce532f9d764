//! TUI-01: one key in several encodings, and keys that do not arrive.

use deevnet_console::console::commands::{self, Danger};
use deevnet_console::console::keymap::{self, Keymap, Mode};
use deevnet_console::terminal::{Key, KeyCode};

use crate::pty::Pty;
use crate::{Home, all, bytes, demo, leave};

const CASE: &str = include_str!("../data/cases/TUI-01/bytes.json");

const KEYMAP: &str = r#"
version = 1
name = "mine"
parent = "default"
[everywhere]
"ctrl-enter" = "go fabric"
"alt-x" = "go sources"
"shift-up" = "go activity"
"ctrl-t" = "go overview"
"#;

fn console(home: &Home) -> Pty {
    home.keymap("mine", KEYMAP);
    demo(home, &["--keymap", "mine"])
}

/// The case's bytes: those that tell of control, and those that do not.
fn case() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let forms = all(CASE).into_iter().map(|form| bytes(form["hex"].as_str().unwrap()));
    forms.partition(|bytes| bytes.first() == Some(&0x1b))
}

#[test]
fn one_key_in_every_encoding_is_one_key() {
    let home = Home::new();
    let mut pty = console(&home);
    let (told, _) = case();
    assert_eq!(told.len(), 2);
    let enter = [&b"\x1b[57414;5u"[..], b"\x1b[13;69u", b"\x1b[13;133u", b"\x1b[13;5:1u", b"\x1b[13::13;5u"];
    let alt_x = [&b"\x1bx"[..], b"\x1b[120;3u", b"\x1b[27;3;120~", b"\x1b[120;67:1u", b"\x1b[120:88;3u"];
    let ctrl_t = [&b"\x14"[..], b"\x1b[116;5u", b"\x1b[27;5;116~", b"\x1b[84;5u"];
    let shift_up = [&b"\x1b[1;2A"[..], b"\x1b[57419;2u", b"\x1b[1;2:1A", b"\x1b[1;2:2A"];
    let forms = told.iter().map(Vec::as_slice).chain(enter).map(|form| (form, "[Members"));
    let forms = forms.chain(alt_x.map(|form| (form, "[Sources"))).chain(ctrl_t.map(|form| (form, "[Needs a human")));
    for (form, place) in forms.chain(shift_up.map(|form| (form, "[Tasks"))) {
        pty.press(std::str::from_utf8(form).unwrap(), place);
        pty.press("gt", "[Tenants");
    }
    leave(pty);
}

#[test]
fn letting_go_is_no_key() {
    let home = Home::new();
    let mut pty = console(&home);
    pty.send(b"\x1b[13;5:3u\x1b[120;3:3u\x1b[27;5:3;116~\x1b[1;2:3A\x1b[113;1:3u");
    pty.press("j", "▸ 2 eds");
    assert!(pty.text().contains("[Tenants"), "{}", pty.text());
    leave(pty);
}

#[test]
fn a_plain_return_is_enter_and_runs_nothing_of_control_enter() {
    let home = Home::new();
    let mut pty = console(&home);
    let (_, plain) = case();
    assert_eq!(plain, [b"\r"]);
    // A filter takes it as the end of typing; the list stays where it is.
    pty.press("/eds", "2 eds");
    pty.wait_gone("4 sensors");
    pty.send(&plain[0]);
    pty.wait_gone("─ filter");
    pty.drain();
    assert!(pty.text().contains("[Tenants") && !pty.text().contains("[Members"), "{}", pty.text());
    pty.send(b"\x1b");
    pty.wait_for("4 sensors");
    // Over a field, what is bound to control and enter leaves the text alone.
    pty.press(":go act", "go act");
    for form in case().0 {
        pty.send(&form);
    }
    pty.press("iv", "go activ");
    assert!(!pty.text().contains("[Members"), "{}", pty.text());
    pty.press("ity\r", "[Tasks");
    leave(pty);
}

#[test]
fn sequences_that_mean_nothing_are_no_text() {
    let home = Home::new();
    let mut pty = demo(&home, &[]);
    pty.press("/", "_");
    for unknown in [
        "\x1b[13;5x",
        "\x1b[99;99z",
        "\x1b[27;5~",
        "\x1b[57441;5u",
        "\x1b[1;1;1;1;1A",
        "\x1b[?1;2c",
        "\x1b[>41;354;0c",
        "\x1b[?0u",
        "\x1b[<0;300;300M",
        "\x1b]52;c;ZA==\x07",
        "\x1b]10;rgb:ff/ff/ff\x1b\\",
        "\x1bP>|tmux 3.4\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b[200;1~",
    ] {
        pty.send(unknown.as_bytes());
    }
    pty.press("eds", "2 eds");
    pty.wait_gone("4 sensors");
    pty.send(b"\x1b");
    pty.wait_for("4 sensors");
    leave(pty);
}

fn is_plain(key: &Key) -> bool {
    !(key.ctrl || key.alt || key.shift && key.code != KeyCode::BackTab)
}

/// Whether a command of `line` in `mode` needs no key that a multiplexer may eat.
fn has_plain_path(map: &Keymap, mode: Mode, line: &str) -> bool {
    let plain = |line: &str| map.keys_of(mode, line).any(|keys| keys.iter().all(is_plain));
    plain(line) || plain("command")
}

#[test]
fn nothing_needs_a_modified_key() {
    for (name, _) in keymap::EMBEDDED {
        let map = keymap::load(name, &[]).unwrap();
        for mode in [Mode::Everywhere, Mode::List, Mode::Board, Mode::Text] {
            assert!(map.keys_of(mode, "command").any(|keys| keys.iter().all(is_plain)), "{name} {}", mode.word());
            for binding in map.bindings(mode) {
                let (command, _) = commands::parse(&binding.line).unwrap();
                let plain = map.keys_of(mode, &binding.line).any(|keys| keys.iter().all(is_plain));
                assert!(has_plain_path(&map, mode, &binding.line), "{name}: {}", binding.line);
                assert!(plain || command.danger == Danger::Look, "{name}: {} on modified keys only", binding.line);
            }
        }
    }
}

#[test]
fn help_shows_the_keys_in_force() {
    let home = Home::new();
    let mut pty = console(&home);
    pty.press("?ctrl-enter", "go to fabric");
    pty.send(b"\x1b");
    pty.wait_gone("[Keys");
    leave(pty);
}

#[test]
fn the_emacs_keys_arrive() {
    let home = Home::new();
    let mut pty = demo(&home, &["--keymap", "emacs"]);
    pty.press("\x0e", "▸ 2 eds");
    pty.press("\x10", "▸ 1 ");
    pty.press("\x1b>", "▸ 7 radio");
    pty.press("\x1b<", "▸ 1 ");
    pty.press("\x06", "[Workloads");
    pty.press("\x18o", "[VRF & egress");
    pty.press("\x1bxgo fabric\r", "[Members");
    pty.press("\x1bx", "─ candidates ─");
    pty.send(b"\x07");
    pty.wait_gone("─ candidates ─");
    pty.send(b"\x18\x03");
    assert_eq!(pty.wait_ended().exit_status(), Some(0));
    pty.assert_nothing_left_behind();
}
