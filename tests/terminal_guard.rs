//! The terminal is given back as it was, however the program ends.
//!
//! The program under test is this very binary, started again in a terminal of its own: [`program`].
#![cfg(feature = "console")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod pty;

use std::{env, io::Read as _, os::unix::net::UnixListener, sync::mpsc::sync_channel, thread};

use pty::{LIMIT, Program, Pty};
use rustix::process::Signal;

mod program {
    //! The smallest program that uses the terminal as the console does.

    use std::{env, io::Write as _, os::unix::net::UnixStream, time::Duration};

    use deevnet_console::terminal::{
        Editor, Frame, Input, Key, KeyCode, Modes, PaintOptions, Session, Signal, Signals, TerminalError, guard, title,
    };
    use deevnet_console::text::Charset;
    use ratatui::{buffer::Buffer, layout::Rect, style::Style};
    use rustix::fs::{Mode, OFlags};

    pub const MARK: &str = "TERMINAL_GUARD_PROGRAM";
    pub const SPAM: &str = "TERMINAL_GUARD_SPAM";

    struct App {
        session: Session,
        last: String,
        resumed: u32,
    }

    impl App {
        fn draw(&self) {
            let (width, height) = self.session.size().unwrap();
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
            buffer.set_string(0, 0, format!("ready {width}x{height} resumed {}", self.resumed), Style::new());
            buffer.set_string(0, 1, format!("last {}", self.last), Style::new());
            self.session.output().frame(Frame { buffer, scroll: None, cursor: None });
        }

        /// False: the end.
        fn input(&mut self, input: Input) -> bool {
            match input {
                Input::Key(key) if key == Key::char('q') => return false,
                Input::Key(key) if key == Key::char('p') => panic!("the reason for the panic"),
                Input::Key(key) if key == Key::char('t') => {
                    std::thread::spawn(|| panic!("the reason in another thread"));
                }
                Input::Key(key) if key == Key::ctrl('z') => {
                    self.session.suspend().unwrap();
                    self.resumed += 1;
                }
                Input::Key(key) if key == Key::char('e') => self.edit(),
                Input::Key(Key { code: KeyCode::Enter, .. }) => self.session.output().repaint(),
                other => self.last = format!("{other:?}"),
            }
            true
        }

        /// Lends the terminal to a program that needs a line of input.
        fn edit(&mut self) {
            let command = r#"sh -c 'echo in the editor; read line; echo "$line" > "$1"' x"#;
            let editor = Editor::from_env(|_| Some(command.to_owned())).unwrap();
            self.last = format!("{:?}", self.session.edit(&editor, "text", ".txt").unwrap().unwrap());
        }
    }

    pub async fn run() -> Result<Option<Signal>, TerminalError> {
        let mut signals = Signals::start().unwrap();
        let session = Session::start(PaintOptions::default(), Modes::default())?;
        session.output().control(title::set("under test", Charset::Unicode)).unwrap();
        if let Some(path) = env::var_os(SPAM) {
            spam(&session, &path);
        }
        let mut app = App { session, last: String::new(), resumed: 0 };
        loop {
            app.draw();
            tokio::select! {
                signal = signals.next() => match signal {
                    Signal::Stop => {
                        app.session.suspend().unwrap();
                        app.resumed += 1;
                    }
                    Signal::Continue => app.session.continued().unwrap(),
                    Signal::Resize => {}
                    end => {
                        guard::restore_now();
                        return Ok(Some(end));
                    }
                },
                () = guard::panicked() => return Ok(None),
                input = app.session.input() => {
                    if !app.input(input.unwrap().unwrap()) {
                        app.session.finish(Duration::from_millis(200));
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Draws until the terminal takes nothing any more, then says so.
    fn spam(session: &Session, path: &std::ffi::OsStr) {
        let (width, height) = session.size().unwrap();
        let output = session.output();
        let picture = |i: u64| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
            (0..height).for_each(|y| buffer.set_string(0, y, format!("{i:0>9}").repeat(20), Style::new()));
            Frame { buffer, scroll: None, cursor: None }
        };
        let mut stalled = 0;
        let mut before = output.stats();
        // So many frames without one byte taken: the writer waits, it is not just slow.
        for i in 0.. {
            output.frame(picture(i));
            let now = output.stats();
            stalled = if now.bytes == before.bytes { stalled + 1 } else { 0 };
            before = now;
            if stalled > 300 {
                break;
            }
        }
        // Where a frame finds no room, a few bytes may: nothing must fit any more.
        let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK;
        let terminal = rustix::fs::open("/dev/tty", flags, Mode::empty()).unwrap();
        while rustix::io::write(&terminal, b" ").is_ok() {}
        UnixStream::connect(path).unwrap().write_all(b"stalled").unwrap();
    }
}

#[test]
#[ignore = "started by the other tests, in a terminal of its own"]
fn program() {
    if env::var_os(program::MARK).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match runtime.block_on(program::run()) {
        Ok(None) => println!("ended by key"),
        Ok(Some(signal)) => println!("ended by {signal:?}, code {:?}", signal.exit_code()),
        Err(error) => println!("error: {error}; {}", error.help()),
    }
}

const ARGUMENTS: [&str; 4] = ["--exact", "program", "--ignored", "--nocapture"];

fn this_program() -> Program {
    Program::new(env::current_exe().unwrap(), &ARGUMENTS).env(program::MARK, "1").env("RUST_BACKTRACE", "0")
}

/// The same with its output thrown away: it finds the terminal by itself.
fn silenced() -> Program {
    let exe = env::current_exe().unwrap();
    let line = format!("exec '{}' {} > /dev/null 2>&1", exe.display(), ARGUMENTS.join(" "));
    Program::new("sh", &["-c", &line]).env(program::MARK, "1")
}

fn started() -> Pty {
    let mut pty = this_program().start();
    pty.wait_for("ready 80x24");
    assert!(!pty.line_is_restored(), "raw mode is on");
    for mode in [1049, 2004, 1000, 1002, 1004, 1006] {
        assert!(pty.modes().is_on(mode), "mode {mode}");
    }
    assert!(!pty.modes().is_on(25), "the cursor is hidden");
    pty
}

fn position(bytes: &[u8], wanted: &str) -> usize {
    let found = bytes.windows(wanted.len()).rposition(|window| window == wanted.as_bytes());
    found.unwrap_or_else(|| panic!("{wanted:?} was not written"))
}

#[test]
fn a_normal_end_leaves_nothing_behind() {
    let mut pty = started();
    pty.send(b"q");
    assert_eq!(pty.wait_ended().exit_status(), Some(0));
    pty.assert_nothing_left_behind();
    assert!(pty.text().contains("ended by key"), "{}", pty.text());
}

#[test]
fn a_panic_restores_first_and_speaks_then() {
    let mut pty = started();
    pty.send(b"p");
    assert_ne!(pty.wait_ended().exit_status(), Some(0));
    pty.assert_nothing_left_behind();
    assert!(pty.text().contains("the reason for the panic"), "{}", pty.text());
    assert!(position(pty.bytes(), "\x1b[?1049l") < position(pty.bytes(), "the reason for the panic"));
}

#[test]
fn a_panic_in_another_thread_is_the_end() {
    let mut pty = started();
    pty.send(b"t");
    assert_eq!(pty.wait_ended().exit_status(), Some(0));
    pty.assert_nothing_left_behind();
    assert!(pty.text().contains("the reason in another thread"), "{}", pty.text());
    assert!(pty.text().contains("ended by key"), "{}", pty.text());
}

#[test]
fn signals_that_end_leave_nothing_behind() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)] {
        let mut pty = started();
        pty.signal(signal);
        assert_eq!(pty.wait_ended().exit_status(), Some(0));
        pty.assert_nothing_left_behind();
        assert!(pty.text().contains(&format!("code Some({code})")), "{signal:?}: {}", pty.text());
    }
}

/// Stops the program in some way, then lets it go on.
fn stops_and_goes_on(stop: impl Fn(&mut Pty)) {
    let mut pty = started();
    for round in 1..=2 {
        stop(&mut pty);
        pty.wait_stopped();
        pty.assert_nothing_left_behind();
        pty.signal(Signal::CONT);
        pty.wait_for(&format!("resumed {round}"));
        pty.wait_until("raw mode", |pty| !pty.line_is_restored() && pty.modes().is_on(1049));
        assert!(pty.text().starts_with("ready 80x24"), "painted whole: {}", pty.text());
    }
    pty.send(b"x");
    pty.wait_for("Char('x')");
    pty.send(b"q");
    pty.wait_ended();
    pty.assert_nothing_left_behind();
}

#[test]
fn a_stop_by_key_gives_the_terminal_back_and_takes_it_again() {
    stops_and_goes_on(|pty| pty.send(b"\x1a"));
}

#[test]
fn a_stop_by_signal_gives_the_terminal_back_and_takes_it_again() {
    stops_and_goes_on(|pty| pty.signal(Signal::TSTP));
}

#[test]
fn another_program_can_use_the_terminal_meanwhile() {
    let mut pty = started();
    pty.send(b"e");
    pty.wait_for("in the editor");
    pty.assert_nothing_left_behind();
    pty.send(b"saved\n");
    pty.wait_for(r#"Changed("saved\n")"#);
    assert!(pty.text().starts_with("ready 80x24"), "{}", pty.text());
    pty.send(b"q");
    pty.wait_ended();
    pty.assert_nothing_left_behind();
}

#[test]
fn a_reader_that_stalls_does_not_hold_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stalled");
    let listener = UnixListener::bind(&path).unwrap();
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        let mut said = String::new();
        let _ = listener.accept().and_then(|(mut stream, _)| stream.read_to_string(&mut said));
        let _ = sender.send(said);
    });
    // Not one chunk is taken until the program has ended.
    let mut pty = silenced().size(200, 50).env(program::SPAM, &path).start();
    assert_eq!(receiver.recv_timeout(LIMIT).as_deref(), Ok("stalled"));
    pty.signal(Signal::TERM);
    pty.wait_ended_unread();
    assert!(pty.line_is_restored(), "raw mode ends although nobody reads");
    pty.drain();
    pty.assert_nothing_left_behind();
}

#[test]
fn keys_pastes_clicks_and_sizes_arrive() {
    let mut pty = started();
    pty.send(b"\x1b[5~");
    pty.wait_for("PageUp");
    pty.paste("dy\r");
    pty.wait_for(r#"Paste("dy\n")"#);
    pty.send(b"\x1b[<0;8;4M");
    pty.wait_for("Down(Left), x: 7, y: 3");
    pty.resize(100, 30);
    pty.wait_for("ready 100x30");
    pty.send(b"\x1b[I");
    pty.wait_for("FocusGained");
    pty.send(b"q");
    pty.wait_ended();
    pty.assert_nothing_left_behind();
}

#[test]
fn a_redirected_output_does_not_matter() {
    let mut pty = silenced().start();
    pty.wait_for("ready 80x24");
    pty.send(b"q");
    pty.wait_ended();
    pty.assert_nothing_left_behind();
}

#[test]
fn without_a_terminal_there_is_a_clear_error() {
    let mut pty = this_program().without_controlling_terminal().start();
    pty.wait_ended();
    assert!(pty.text().contains("there is no terminal to draw on"), "{}", pty.text());
    assert_eq!(pty.modes().switched(1049), 0);
    pty.assert_nothing_left_behind();
}

#[test]
fn a_key_that_changes_nothing_writes_nothing() {
    let mut pty = started();
    let mut cost = |keys: &str| {
        let last = keys.chars().next_back().unwrap();
        pty.drain();
        let before = pty.bytes().len();
        pty.send(keys.as_bytes());
        pty.wait_for(&format!("Char('{last}')"));
        pty.drain();
        pty.bytes().len() - before
    };
    cost("x");
    let one = cost("y");
    assert!((1..64).contains(&one), "one letter costs {one} bytes");
    cost("x");
    assert_eq!(cost("xxxxy"), one, "keys without an effect cost nothing");
}
