use super::*;

/// All events of bytes that arrive at once, with nothing behind them.
fn decoded(bytes: &[u8]) -> Vec<Input> {
    let (mut decoder, mut out) = (Decoder::default(), VecDeque::new());
    decoder.feed(bytes, &mut out);
    decoder.pause(&mut out);
    out.into()
}

fn keys(bytes: &[u8]) -> String {
    let name = |input: &Input| match input {
        Input::Key(key) => key.to_string(),
        other => format!("{other:?}"),
    };
    decoded(bytes).iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn keys_have_their_names() {
    for (bytes, wanted) in [
        ("aG?é漢", "a G ? é 漢"),
        ("\r\n\t\x7f\x08", "enter enter tab backspace backspace"),
        ("\0\x03\x1a\x1c\x1f", r"ctrl-space ctrl-c ctrl-z ctrl-\ ctrl-_"),
        ("\x1b", "esc"),
        ("\x1b\x1b", "esc esc"),
        ("\x1bx\x1b\r\x1b\x7fé", "alt-x alt-enter alt-backspace é"),
        ("\x1b[", "alt-["),
        ("\x1bO", "alt-O"),
        ("\x1b]", "alt-]"),
        ("\x1b[A\x1bOB\x1b[1;5C\x1b[1;3D", "up down ctrl-right alt-left"),
        ("\x1b[H\x1b[4~\x1b[7~\x1bOF", "home end home end"),
        ("\x1b[2~\x1b[3~\x1b[5~\x1b[6;5~", "insert delete pgup ctrl-pgdn"),
        ("\x1bOP\x1b[[B\x1b[13~\x1b[15;2~\x1b[24~\x1b[34~", "f1 f2 f3 shift-f5 f12 f20"),
        ("\x1b[Z\x1b[9;2u\x1b[27;2;9~", "backtab backtab backtab"),
        ("\x1bOM\x1bOk\x1bOp\x1bOj", "enter + 0 *"),
    ] {
        assert_eq!(keys(bytes.as_bytes()), wanted, "{bytes:?}");
    }
}

#[test]
fn a_modified_enter_is_told_where_the_terminal_tells_it() {
    assert_eq!(keys(b"\x1b[13;5u"), "ctrl-enter");
    assert_eq!(keys(b"\x1b[27;5;13~"), "ctrl-enter");
    assert_eq!(keys(b"\r"), "enter");
    assert_eq!(keys(b"\x1b[97;6u\x1b[97;2u\x1b[57426u\x1b[57376u"), "ctrl-a A delete f13");
}

#[test]
fn locks_do_not_matter_and_window_keys_are_not_ours() {
    assert_eq!(keys(b"\x1b[97;129u\x1b[1;65A"), "a up");
    assert_eq!(keys(b"\x1b[97;9u\x1b[1;9A"), "");
    assert_eq!(keys(b"\x1b[97;1:1u\x1b[97;1:2u\x1b[97;1:3u\x1b[1;1:3A"), "a a");
}

#[test]
fn what_means_nothing_is_dropped_whole() {
    for bytes in [
        "\x1b[?62;22c",
        "\x1b[?2026;2$y",
        "\x1b[99;99z",
        "\x1b[12;40R",
        "\x1b[57441u",
        "\x1b]11;rgb:0/0/0\x1b\\",
        "\x1b]11;x\x07",
        "\x1bP1$r0m\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b[[Z",
        "\x1bO5A\x1bOz",
        "\x1b[1;5",
        "\x1b]11;rgb",
        "\x1b[<0;1",
        "\x1b[M ",
        "\u{85}",
        "\x1b[<35;4;4M",
    ] {
        let got = keys(bytes.as_bytes());
        assert!(matches!(got.as_str(), "" | "up"), "{bytes:?} is {got}");
        assert_eq!(keys(format!("{bytes}\x1b\x1b[B").as_bytes()).split(' ').next_back(), Some("down"), "{bytes:?}");
    }
    let long = format!("\x1b[{}mj", "1;".repeat(500));
    assert_eq!(keys(long.as_bytes()), "j");
    for bytes in [&b"\xff\xfej"[..], b"\xc3j", b"\xe2\x82j", b"\xf4\x90\x80\x80j", b"\xa9j"] {
        assert_eq!(keys(bytes), "j", "{bytes:?}");
    }
}

#[test]
fn the_mouse_in_both_forms() {
    let at = |kind, ctrl| Input::Mouse(Mouse { kind, x: 7, y: 3, ctrl, alt: false, shift: false });
    assert_eq!(
        decoded(b"\x1b[<0;8;4M\x1b[<0;8;4m\x1b[<34;8;4M\x1b[<80;8;4M\x1b[<65;8;4M"),
        [
            at(MouseKind::Down(Button::Left), false),
            at(MouseKind::Up(Button::Left), false),
            at(MouseKind::Drag(Button::Right), false),
            at(MouseKind::ScrollUp, true),
            at(MouseKind::ScrollDown, false),
        ]
    );
    assert_eq!(decoded(b"\x1b[M (\x24j"), [at(MouseKind::Down(Button::Left), false), Input::Key(Key::char('j'))]);
    assert_eq!(decoded(b"\x1b[M#(\x24"), [at(MouseKind::Up(Button::Left), false)]);
    assert_eq!(decoded(b"\x1b[<0;0;4M\x1b[<0;99999;4M\x1b[<0;4M"), []);
    assert_eq!(decoded(b"\x1b[I\x1b[O"), [Input::FocusGained, Input::FocusLost]);
}

#[test]
fn a_paste_is_harmless_text_and_never_keys() {
    let text = Input::Paste("dy\nssh-ed25519 AAAA␛[20".into());
    assert_eq!(decoded("\x1b[200~dy\r\nssh-ed25519 AAAA\x1b[20\u{202e}\x1b[201~".as_bytes()), [text]);
    assert_eq!(decoded(b"\x1b[200~dy\r\x03q\x1b[20"), [], "it goes on until its end comes");
}

#[test]
fn a_paste_with_marks_of_its_own_is_one_text() {
    for (bytes, wanted) in [
        ("\x1b[200~abc\x1b[201~d\ny\n", "abcd\ny\n"),
        ("\x1b[200~abc\x1b[201~d\ny\n\x1b[201~", "abcd\ny\n"),
        ("\x1b[200~\x1b[201~:quit\r\x1b[200~\x1b[201~q\x1b[201~", ":quit\nq"),
        ("\x1b[200~a\x1b[201~\x1b\x03\x1b[A\x1b[<0;8;4M", "a␛␃␛[A␛[<0;8;4M"),
        ("\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~", "ab"),
    ] {
        assert_eq!(decoded(bytes.as_bytes()), [Input::Paste(wanted.into())], "{bytes:?}");
    }
}

#[test]
fn a_paste_whose_end_was_lost_ends_by_a_single_key() {
    for (typed, key) in [(b"\x1b", "esc"), (b"\x03", "ctrl-c")] {
        let (mut decoder, mut out) = (Decoder::default(), VecDeque::new());
        for piece in [&b"\x1b[200~ab\x03"[..], b"j", b"q\x1b", b"k", typed] {
            assert!(out.is_empty(), "{out:?}");
            decoder.feed(piece, &mut out);
            decoder.pause(&mut out);
        }
        assert_eq!(out.len(), 2, "{out:?}");
        assert_eq!(out[0], Input::Paste("ab␃jq␛k".into()));
        assert!(matches!(&out[1], Input::Key(last) if last.to_string() == key));
        assert_eq!(decoder.waiting(), Waiting::Nothing);
    }
}

#[test]
fn a_paste_without_end_stays_small() {
    let (mut decoder, mut out) = (Decoder::default(), VecDeque::new());
    decoder.feed(b"\x1b[200~", &mut out);
    decoder.feed(&vec![b'x'; 3 << 20], &mut out);
    assert!(matches!(&decoder.state, State::Paste(text, false) if text.len() < MAX_PASTE + 100));
    decoder.feed(b"\x1b[201~", &mut out);
    decoder.pause(&mut out);
    decoder.feed(b"j", &mut out);
    assert!(matches!(&out[0], Input::Paste(text) if text.len() == MAX_PASTE));
    assert_eq!(out[1], Input::Key(Key::char('j')));
}

#[test]
fn pieces_make_no_difference() {
    let all = "aé\x1b[1;5A\x1b[<0;8;4M\x1b]11;a\x1b\\\x1bOP\x1b[M (\x24漢\x1b\x1b[B\x1bé\x1b[200~x\x1b[1~é\x1b[201~";
    let whole = decoded(all.as_bytes());
    assert_eq!(whole.len(), 11, "{whole:?}");
    for size in 1..all.len() {
        let (mut decoder, mut out) = (Decoder::default(), VecDeque::new());
        all.as_bytes().chunks(size).for_each(|piece| decoder.feed(piece, &mut out));
        decoder.pause(&mut out);
        assert_eq!(Vec::from(out), whole, "in pieces of {size}");
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_taken(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let (mut decoder, mut out) = (Decoder::default(), VecDeque::new());
        for piece in bytes.chunks(7) {
            decoder.feed(piece, &mut out);
            decoder.pause(&mut out);
        }
    }
}
