//! TUI-05: text from an API carries terminal control sequences.

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::proxmox::{Client, Upid};
use deevnet_console::console::list::{ListId, Scope};
use deevnet_console::console::model::Screen;
use deevnet_console::console::msg::Notice;
use deevnet_console::console::{Effect, Model, Msg, update, view};
use deevnet_console::inventory::Inventory;
use deevnet_console::site::model::Trust;
use deevnet_console::terminal::{Frame, Input, Key, PaintOptions, Painter};
use deevnet_console::text;

use crate::loopback::{Canned, Seen, Server, site, token};
use crate::pty::strict;
use crate::{Home, demo, leave, picture};

const CONFIG: &str = include_str!("../data/cases/TUI-05/config.json");
const LOG: &str = include_str!("../data/cases/TUI-05/log.json");
const UPID: &str = "UPID:pve2:0000E001:00C4D5E6:6926B2A0:qmstart:5001:svc-console@pve!ops:";

/// Other texts of the same kind.
const OTHERS: [&str; 8] = [
    "a\u{1b}[2J\u{1b}[1;1Hb",
    "\u{1b}]0;title\u{1b}\\\u{1b}]2;title\u{7}",
    "\u{90}1$r0m\u{9c}\u{9d}52;c;ZQ==\u{9c}\u{9b}31m",
    "\u{1b}P+q544e\u{1b}\\\u{1b}_Ga=d\u{1b}\\\u{1b}^pm\u{1b}\\",
    "one\rtwo\u{8}\u{8}\u{8}three\u{7f}",
    "\u{2066}x\u{2069}\u{202a}y\u{202c}\u{200f}z\u{61c}",
    "\u{0}\u{1}\u{e}\u{f}\u{11}\u{13}\u{18}\u{1a}\u{1c}\u{1f}\u{84}\u{85}\u{8d}",
    "tail\u{1b}",
];

/// Answers with the two files of the case, or with `text` in their place.
async fn server(text: Option<&'static str>) -> Server {
    Server::start(move |seen: &Seen| {
        let line = text.map(|text| serde_json::json!({"data": [{"n": 1, "t": text}], "total": 1}).to_string());
        let config = text.map(|text| serde_json::json!({"data": {"name": text, "description": text}}).to_string());
        if seen.path.ends_with("/config") {
            Canned::json(config.as_deref().unwrap_or(CONFIG))
        } else {
            Canned::json(line.as_deref().unwrap_or(LOG))
        }
    })
    .await
}

fn client(server: &Server) -> Client {
    Client::new(&site(&server.origin, Trust::Plaintext), token(), Limits::default()).unwrap()
}

/// Every text that the client makes of the answers: name, description, log lines.
async fn read(text: Option<&'static str>) -> Vec<String> {
    let server = server(text).await;
    let client = client(&server);
    let config = client.vm_config("pve2", 5001).await.unwrap();
    let upid: Upid = UPID.parse().unwrap();
    let log = client.task_log(&upid, 0, 0).await.unwrap();
    let raw = config.raw.into_values();
    config.name.into_iter().chain(raw).chain(log.lines.into_iter().map(|line| line.text)).collect()
}

fn harmful(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn controls(text: &str) -> usize {
    text.chars().filter(|c| c.is_control()).count()
}

/// Marks that stand for control characters, and line ends that stand for a carriage return.
fn marks(text: &str) -> usize {
    text.chars().filter(|c| matches!(c, '\u{2400}'..='\u{2424}' | '\u{fffd}' | '\n')).count()
}

#[tokio::test]
async fn what_the_client_gives_on_is_harmless_and_shows_what_was_there() {
    let description = serde_json::from_str::<serde_json::Value>(CONFIG).unwrap()["data"]["description"].clone();
    let case = read(None).await;
    assert!(case.iter().any(|text| text.contains("DELETE web2?")), "{case:?}");
    assert!(case.iter().any(|text| text.contains("31mfake")), "{case:?}");
    for text in &case {
        assert!(!text.contains(harmful), "{text:?}");
    }
    let shown = case.iter().find(|text| text.contains("DELETE")).unwrap();
    assert_eq!(marks(shown), controls(description.as_str().unwrap()), "a mark for each: {shown:?}");
    for other in OTHERS {
        for text in read(Some(other)).await {
            assert!(!text.contains(harmful), "{text:?}");
            assert_eq!(marks(&text), controls(other), "a mark for each of {other:?}: {text:?}");
        }
    }
}

/// A picture in which a guest, a task and the node bear `hostile`.
fn hostile(hostile: &str) -> std::sync::Arc<Inventory> {
    let mut guest = picture::guest(5001, hostile, "running");
    (guest.node, guest.status) = (hostile.to_owned(), hostile.to_owned());
    guest.lock = Some(hostile.to_owned());
    picture::joined(picture::reading(vec![guest, picture::guest(2040, "tdemo-app", "running")]))
}

/// Presses a key and returns what it asks for.
fn press(model: &mut Model, key: char) -> Vec<Effect> {
    update(model, Msg::Input(Input::Key(Key::char(key))))
}

#[test]
fn no_frame_title_or_copy_carries_it() {
    let description = serde_json::from_str::<serde_json::Value>(CONFIG).unwrap()["data"]["description"].clone();
    let log = serde_json::from_str::<serde_json::Value>(LOG).unwrap()["data"][0]["t"].clone();
    let case = [description.as_str().unwrap(), log.as_str().unwrap()];
    for text in case.into_iter().chain(OTHERS) {
        for size in [(80, 24), (120, 40)] {
            let screen = Screen::List { list: ListId::Workloads, scope: Scope::All };
            let mut model = picture::showing(hostile(text), size, Some(screen));
            model.say(Notice::warning(text));
            let mut painter = Painter::new(PaintOptions::default());
            let mut wire = Vec::new();
            let mut effects = Vec::new();
            // The list, everything about the guest, its data in both forms; each is copied, too.
            for key in [None, Some('G'), Some('d'), Some('y'), Some('y')] {
                effects.extend(key.into_iter().flat_map(|key| press(&mut model, key)));
                effects.extend(press(&mut model, 'c'));
                let shown = view(&model);
                picture::rows(&shown.buffer);
                painter.paint(Frame { buffer: shown.buffer, scroll: shown.scroll, cursor: shown.cursor }, &mut wire);
            }
            strict::check(&wire).unwrap_or_else(|what| panic!("{text:?}: {what}"));
            let copied = effects.iter().filter_map(|effect| match effect {
                Effect::Copy(text) | Effect::Title(text) | Effect::Edit { text, .. } => Some(text),
                _ => None,
            });
            let copied: Vec<_> = copied.collect();
            assert!(copied.len() >= 5, "{effects:?}");
            assert!(copied.iter().all(|text| !text.contains(harmful)), "{copied:?}");
        }
    }
}

#[test]
fn the_terminal_gets_no_title_and_no_clipboard_of_a_name() {
    let home = Home::new();
    let mut pty = demo(&home, &["--fault", "hostile-names"]);
    for (keys, text) in
        [("\t", "[Workloads"), ("zt", "all tenants"), ("G", "? help"), ("d", "esc back"), ("gf", "[Members")]
    {
        pty.press(keys, text);
    }
    pty.drain();
    strict::check(pty.bytes()).unwrap_or_else(|what| panic!("{what}"));
    assert!(!String::from_utf8_lossy(pty.bytes()).contains("owned\u{7}"));
    leave(pty);
}

#[test]
fn every_control_character_has_a_mark_of_its_own() {
    for c in (0..=0x9f).filter_map(char::from_u32).filter(|c| c.is_control() && *c != '\t') {
        let shown = text::clean(&format!("a{c}b")).into_owned();
        assert_eq!(text::width(&shown), 3, "{c:?} is {shown:?}");
        assert!(!shown.contains(harmful), "{c:?} is {shown:?}");
    }
}
