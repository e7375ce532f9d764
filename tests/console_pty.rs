//! The real program in a terminal of its own.
#![cfg(feature = "console")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod pty;

#[path = "console_pty/changes.rs"]
mod changes;
#[path = "console_pty/diagnose.rs"]
mod diagnose;
#[path = "console_pty/endings.rs"]
mod endings;
#[path = "console_pty/environment.rs"]
mod environment;
#[path = "console_pty/input.rs"]
mod input;
#[path = "console_pty/isolation.rs"]
mod isolation;
#[path = "console_pty/resolve.rs"]
mod resolve;
#[path = "console_pty/screens.rs"]
mod screens;
#[path = "console_pty/wire.rs"]
mod wire;

use std::{fs, net::TcpListener, path::PathBuf};

use pty::{Program, Pty};
use tempfile::TempDir;

const CONSOLE: &str = env!("CARGO_BIN_EXE_deevnet-console");

/// A home directory of its own: no file of the user has a part in a test.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The console with these arguments.
    fn console(&self, arguments: &[&str]) -> Program {
        self.at_home(Program::new(CONSOLE, arguments))
    }

    fn at_home(&self, program: Program) -> Program {
        let variables = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
        variables.into_iter().fold(program, |program, name| program.env(name, self.0.path())).size(120, 40)
    }

    /// A site whose back ends are all dead: nobody listens, and the exit node's command fails.
    fn dead_site(&self) -> String {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        fs::write(self.path("token"), "ops@pve!console=00000000-0000-4000-8000-000000000000\n").unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(self.path("token"), private).unwrap();
        let site = include_str!("console_pty/dead.toml")
            .replace("PORT", &port.to_string())
            .replace("TOKEN", &self.path("token").display().to_string());
        let path = self.path("dead.toml");
        fs::write(&path, site).unwrap();
        path.display().to_string()
    }
}

/// Every source of the lab has been read.
const READ: &str = "EXIT ● <";

/// The console on the embedded lab, with everything read.
fn demo(home: &Home) -> Pty {
    started(home.console(&["demo"]))
}

fn started(program: Program) -> Pty {
    let mut pty = program.start();
    pty.wait_for(READ);
    pty.wait_for("PVE ● <");
    pty.wait_for("2 of 2 running");
    pty
}

/// Leaves by key and checks what is left behind.
#[track_caller]
fn leave(mut pty: Pty) {
    pty.send(b"q");
    assert_eq!(pty.wait_ended().exit_status(), Some(0));
    pty.assert_nothing_left_behind();
}
