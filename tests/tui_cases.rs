//! The terminal cases TUI-01 to TUI-08 (`tests/data/cases`): what must be stated, offered and avoided, each with its own
//! input and with others of the same kind.
#![cfg(feature = "console")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod loopback;
mod pty;

#[path = "tui_cases/encodings.rs"]
mod encodings;
#[path = "tui_cases/foreign_text.rs"]
mod foreign_text;
#[path = "tui_cases/hanging.rs"]
mod hanging;
#[path = "tui_cases/looks.rs"]
mod looks;
#[path = "tui_cases/migration.rs"]
mod migration;
#[path = "tui_cases/paste.rs"]
mod paste;
#[path = "tui_cases/picture.rs"]
mod picture;
#[path = "tui_cases/resize.rs"]
mod resize;
#[path = "tui_cases/resume.rs"]
mod resume;
#[path = "tui_cases/widths.rs"]
mod widths;

use std::{fs, path::PathBuf};

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

    fn console(&self, arguments: &[&str]) -> Program {
        let variables = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
        let program = Program::new(CONSOLE, arguments).size(120, 40);
        variables.into_iter().fold(program, |program, name| program.env(name, self.0.path()))
    }

    /// A keymap of the user.
    fn keymap(&self, name: &str, text: &str) {
        let dir = self.path("deevnet-console/keymaps");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("{name}.toml")), text).unwrap();
    }

    /// A site whose Proxmox is at `port` of this machine and whose exit node is reached by `command`.
    fn site(&self, port: u16, command: &str) -> String {
        fs::write(self.path("token"), "ops@pve!console=00000000-0000-4000-8000-000000000000\n").unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(self.path("token"), private).unwrap();
        let text = include_str!("console_pty/dead.toml")
            .replace("PORT", &port.to_string())
            .replace("TOKEN", &self.path("token").display().to_string())
            .replace(r#"["false"]"#, command);
        let path = self.path("site.toml");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

/// The console on the embedded lab, with everything read.
fn demo(home: &Home, more: &[&str]) -> Pty {
    let mut pty = home.console(&[&["demo"], more].concat()).start();
    for text in ["EXIT ● <", "PVE ● <", "2 of 2 running"] {
        pty.wait_for(text);
    }
    pty
}

/// Leaves by key and checks what is left behind.
#[track_caller]
fn leave(mut pty: Pty) {
    pty.send(b"q");
    assert_eq!(pty.wait_ended().exit_status(), Some(0));
    pty.assert_nothing_left_behind();
}

/// Bytes as the cases write them.
fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.trim().as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// What is to be read of a list in a JSON file of a case.
fn all(text: &str) -> Vec<serde_json::Value> {
    serde_json::from_str(text).unwrap()
}
