//! TUI-07: a source that hangs holds up neither keys nor the end.

use std::{
    io::{ErrorKind, Read},
    net::{TcpListener, TcpStream},
    time::{Duration, Instant},
};

use crate::pty::Pty;
use crate::{Home, all};

const CASE: &str = include_str!("../data/cases/TUI-07/timeline.json");

/// How soon a key must take effect.
const SOON: Duration = Duration::from_millis(100);

#[expect(clippy::disallowed_methods, reason = "the case is about how long something takes")]
fn now() -> Instant {
    Instant::now()
}

/// A back end that takes connections and never says a word.
struct Silent(TcpListener);

impl Silent {
    fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// The requests that came and how each connection stands: everything that was sent, and whether it is closed.
    fn requests(&self) -> Vec<(String, bool)> {
        self.0.set_nonblocking(true).unwrap();
        let connections = std::iter::from_fn(|| self.0.accept().ok().map(|(connection, _)| connection));
        connections.map(|connection| sent(&connection)).collect()
    }
}

fn sent(mut connection: &TcpStream) -> (String, bool) {
    connection.set_nonblocking(false).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    let closed = loop {
        match connection.read(&mut buffer) {
            Ok(0) => break true,
            Ok(n) => all.extend_from_slice(&buffer[..n]),
            Err(error) => break error.kind() == ErrorKind::ConnectionReset,
        }
    };
    (String::from_utf8_lossy(&all).into_owned(), closed)
}

/// A console whose Proxmox and exit node both hang.
fn console(home: &Home, back_end: &Silent) -> Pty {
    let site = home.site(back_end.port(), r#"["sleep", "3600"]"#);
    let mut pty = home.console(&["--site", &site]).start();
    pty.wait_for("[Tenants");
    pty
}

/// When the key of the case is pressed, after the view was opened, in milliseconds.
fn key_of_case() -> (u64, String) {
    let events = all(CASE);
    let at = |name: &str| events.iter().find(|event| event["ev"].as_str().unwrap().starts_with(name)).unwrap();
    let (opened, key) = (at("open"), at("key:"));
    let after = key["t"].as_u64().unwrap() - opened["t"].as_u64().unwrap();
    (after, key["ev"].as_str().unwrap().trim_start_matches("key:").to_owned())
}

#[test]
fn the_key_of_the_case_takes_effect_and_the_request_is_abandoned() {
    let (after, key) = key_of_case();
    let mut fastest = Duration::MAX;
    // A loaded machine may be late once; the program never waits for the network.
    for _ in 0..3 {
        let (home, back_end) = (Home::new(), Silent::new());
        let mut pty = console(&home, &back_end);
        pty.press("gf", "[Members");
        pty.let_pass(Duration::from_millis(after));
        let pressed = now();
        pty.send(key.as_bytes());
        assert_eq!(pty.wait_ended().exit_status(), Some(0));
        fastest = fastest.min(pressed.elapsed());
        pty.assert_nothing_left_behind();
        let requests = back_end.requests();
        assert!(requests.iter().any(|(text, _)| text.starts_with("GET /api2/json/")), "{requests:?}");
        assert!(requests.iter().all(|(_, closed)| *closed), "a request is still open: {requests:?}");
    }
    assert!(fastest <= SOON, "{fastest:?}");
}

#[test]
fn keys_work_at_once_while_everything_hangs() {
    let (home, back_end) = (Home::new(), Silent::new());
    let mut pty = console(&home, &back_end);
    let mut times = Vec::new();
    for (keys, text) in [("gf", "[Members"), ("gs", "[Sources"), ("go", "[Needs"), ("ga", "[Tasks"), ("gt", "[Tenants")]
        .into_iter()
        .cycle()
        .take(15)
    {
        let pressed = now();
        pty.press(keys, text);
        times.push(pressed.elapsed());
    }
    times.sort();
    assert!(times[times.len() / 2] <= SOON, "{times:?}");
    pty.send(b"q");
    pty.wait_ended();
}

#[test]
fn what_loads_says_since_when_and_no_key_comes_back_later() {
    let (home, back_end) = (Home::new(), Silent::new());
    let mut pty = console(&home, &back_end);
    pty.wait_for("Asking PVE. Gives up after");
    pty.wait_for("… 2s");
    pty.wait_for("… 4s");
    // Each key has its effect now; when the request times out none has a second one.
    pty.press("gf", "[Members");
    pty.press("gs", "[Sources");
    pty.press("jj", "? help");
    pty.wait_for("PVE ✗ no answer");
    pty.drain();
    let text = pty.text();
    assert!(text.contains("[Sources") && !text.contains("[Members"), "{text}");
    pty.press("gt", "[Tenants");
    pty.send(b"q");
    assert_eq!(pty.wait_ended().exit_status(), Some(0));
}
