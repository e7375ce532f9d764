//! Reading a secret from where the site file says it is, and holding it so that it does not get out.

use std::fmt;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use zeroize::Zeroizing;

use super::model::SecretSource;
use super::text::printable;

/// Longest secret, in bytes. Tokens and keys have hundreds.
const MAX_BYTES: u64 = 64 * 1024;
/// How long a command may take to print the secret.
const DEADLINE: Duration = Duration::from_secs(10);

/// A secret. Its memory is cleared when it is dropped; there is no way to print it but [`Secret::expose`].
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes over a secret that did not come from a [`SecretSource`], e.g. one just made.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The secret itself. Call this where it goes onto the wire and nowhere else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Why a secret could not be had. Never holds any of it.
#[derive(Debug, thiserror::Error)]
#[error("{origin}: {fault}")]
pub struct SecretError {
    origin: String,
    fault: Fault,
    help: String,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No such environment variable.
    #[error("it is not set")]
    Unset,
    /// The bytes are not UTF-8.
    #[error("the secret is not text")]
    NotText,
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(std::io::ErrorKind),
    /// A directory, a device, a pipe.
    #[error("it is not a regular file")]
    NotAFile,
    /// Others may read or change the file.
    #[error("its mode {0:04o} lets others in")]
    Mode(u32),
    /// The file belongs to somebody else.
    #[error("it belongs to user {0}, who could replace it")]
    Owner(u32),
    /// Nothing there, or blanks only.
    #[error("the secret is empty")]
    Empty,
    /// A line break or another control character inside.
    #[error("the secret holds a line break or another control character")]
    NotOneLine,
    /// More than anybody's token.
    #[error("the secret is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The command could not be started.
    #[error("it cannot be started: {0}")]
    NotStarted(std::io::ErrorKind),
    /// The command reported failure.
    #[error("it failed with status {0}")]
    Failed(i32),
    /// The command was killed by a signal.
    #[error("it was killed")]
    Killed,
    /// The command took too long.
    #[error("it did not end within {0:?}")]
    Late(Duration),
}

impl SecretError {
    /// What went wrong, without the place.
    #[must_use]
    pub const fn fault(&self) -> Fault {
        self.fault
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }

    fn new(source: &SecretSource, fault: Fault) -> Self {
        let (origin, help) = match source {
            SecretSource::Env(name) => {
                let name = printable(name);
                (format!("environment variable {name}"), format!("set {name} to the secret before the start"))
            }
            SecretSource::File(path) => (format!("secret file {}", shown(path)), file_help(path, fault)),
            SecretSource::Command(argv) => {
                let program = printable(argv.first().map_or("", String::as_str));
                let help =
                    "run the command of the site file by hand: its first line must be the secret, without a prompt";
                (format!("secret command {program}"), help.to_owned())
            }
        };
        Self { origin, fault, help }
    }
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// A path as an argument for a POSIX shell.
fn quoted(path: &Path) -> String {
    let text = shown(path);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn file_help(path: &Path, fault: Fault) -> String {
    let path = quoted(path);
    match fault {
        Fault::Mode(_) => format!("chmod 600 {path}"),
        Fault::Owner(_) => format!("make it yours: chown \"$(id -u)\" {path}, after a look at what is in it"),
        Fault::Unreadable(std::io::ErrorKind::NotFound) => format!("create it: install -m 600 /dev/stdin {path}"),
        _ => "write the secret into it, on one line".to_owned(),
    }
}

impl SecretSource {
    /// Reads the secret. Blocking work is limited to one small file; a command gets ten seconds.
    ///
    /// # Errors
    /// [`SecretError`] when there is none, when a file is open to others, when a command fails or takes too long.
    pub async fn read(&self) -> Result<Secret, SecretError> {
        self.read_within(DEADLINE).await
    }

    /// Reads a secret of several lines, such as a key as `tsig-keygen` writes it, on the same conditions.
    ///
    /// # Errors
    /// As [`SecretSource::read`]; line breaks are taken.
    pub async fn read_lines(&self) -> Result<Secret, SecretError> {
        match self {
            Self::File(path) => {
                let found = file(path).and_then(|bytes| match std::str::from_utf8(&bytes) {
                    Ok(text) if !text.trim().is_empty() => Ok(Secret::new(text.to_owned())),
                    Ok(_) => Err(Fault::Empty),
                    Err(_) => Err(Fault::NotText),
                });
                found.map_err(|fault| SecretError::new(self, fault))
            }
            other => other.read().await,
        }
    }

    async fn read_within(&self, deadline: Duration) -> Result<Secret, SecretError> {
        let found = match self {
            Self::Env(name) => environment(name),
            Self::File(path) => file(path).and_then(trimmed),
            Self::Command(argv) => command(argv, deadline).await,
        };
        found.map_err(|fault| SecretError::new(self, fault))
    }
}

fn environment(name: &str) -> Result<Secret, Fault> {
    let value = std::env::var_os(name).ok_or(Fault::Unset)?;
    let bytes = Zeroizing::new(std::os::unix::ffi::OsStringExt::into_vec(value));
    trimmed(bytes)
}

fn file(path: &PathBuf) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let unreadable = |error: std::io::Error| Fault::Unreadable(error.kind());
    // Not blocking, so that a pipe somebody put there is an error and not a wait. The file that was opened is the one
    // that is looked at.
    let non_blocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = std::fs::OpenOptions::new().read(true).custom_flags(non_blocking).open(path).map_err(unreadable)?;
    let facts = file.metadata().map_err(unreadable)?;
    if !facts.is_file() {
        return Err(Fault::NotAFile);
    }
    if facts.mode() & 0o077 != 0 {
        return Err(Fault::Mode(facts.mode() & 0o7777));
    }
    if facts.uid() != 0 && facts.uid() != rustix::process::geteuid().as_raw() {
        return Err(Fault::Owner(facts.uid()));
    }
    if facts.len() > MAX_BYTES {
        return Err(Fault::TooLong);
    }
    // Room for all of it, so that growing leaves no copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(MAX_BYTES).unwrap_or(0) + 1));
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// The text without line breaks at its end, if it is one line of text.
fn trimmed(bytes: Zeroizing<Vec<u8>>) -> Result<Secret, Fault> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Fault::TooLong);
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| Fault::NotText)?.trim_end_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return Err(Fault::Empty);
    }
    if text.contains(char::is_control) {
        return Err(Fault::NotOneLine);
    }
    Ok(Secret::new(text.to_owned()))
}

/// A command in a process group of its own, which is killed whole when this is dropped before the command was awaited.
struct Running(tokio::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The id is known exactly as long as the leader was not awaited, so it cannot be another's by now.
        let pid = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            // The group may be gone already, which is what is wanted.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

async fn command(argv: &[String], deadline: Duration) -> Result<Secret, Fault> {
    let (program, arguments) = argv.split_first().ok_or(Fault::NotStarted(std::io::ErrorKind::InvalidInput))?;
    let child = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // What it has to say could paint over the screen, and could hold what it was asked for.
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| Fault::NotStarted(error.kind()))?;
    let mut running = Running(child);
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(MAX_BYTES).unwrap_or(0) + 1));
    let work = async {
        if let Some(stdout) = running.0.stdout.take() {
            let reading = stdout.take(MAX_BYTES + 1).read_to_end(&mut bytes).await;
            reading.map_err(|error| Fault::Unreadable(error.kind()))?;
        }
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Fault::TooLong);
        }
        running.0.wait().await.map_err(|error| Fault::Unreadable(error.kind()))
    };
    let status = tokio::time::timeout(deadline, work).await.unwrap_or(Err(Fault::Late(deadline)))?;
    if !status.success() {
        return Err(status.code().map_or(Fault::Killed, Fault::Failed));
    }
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let mut rest = bytes;
    // Password stores keep the secret on the first line and notes below it.
    let first = Zeroizing::new(rest.drain(..end).collect::<Vec<u8>>());
    trimmed(first)
}

#[cfg(test)]
mod tests;
