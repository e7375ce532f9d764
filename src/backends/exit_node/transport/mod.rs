//! How the helper's command line reaches a node: the operator's own ssh, or a command of the site's.
//!
//! Both run [`super::helper::COMMAND`] with [`super::helper::stream`] on its stdin, and give back what it printed.

mod command;
mod ssh;

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub use self::command::CommandTransport;
pub use self::ssh::{SshOptions, SshTransport};
use super::clean;
use super::error::Error;

/// Largest stdout taken. A reading of 62 tenants with 2,480 workloads is about 2 MiB.
pub const MAX_STDOUT: usize = 8 << 20;
/// How much of stderr is kept.
const MAX_STDERR: usize = 64 << 10;

/// A way to a node.
#[derive(Debug)]
pub enum Runner {
    /// The operator's ssh.
    Ssh(SshTransport),
    /// A command prefix.
    Command(CommandTransport),
}

/// What a run printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Stdout, whole.
    pub stdout: Vec<u8>,
    /// Stderr, its first 64 KiB.
    pub stderr: String,
    /// Exit code; `None` when a signal or a lost connection ended it.
    pub code: Option<i32>,
}

impl Runner {
    /// Runs `args` there with `input` on stdin.
    ///
    /// # Errors
    /// When it could not be started or reached, printed more than [`MAX_STDOUT`], or took longer than `deadline`. A
    /// program that ran and failed is no error here: see [`Output::code`].
    pub async fn run(&self, args: &[&str], input: &[u8], deadline: Duration) -> Result<Output, Error> {
        match self {
            Self::Ssh(ssh) => ssh.run(args, input, deadline).await,
            Self::Command(command) => command.run(args, input, deadline).await,
        }
    }

    /// What to call the other end in messages.
    #[must_use]
    pub fn destination(&self) -> &str {
        match self {
            Self::Ssh(ssh) => ssh.destination(),
            Self::Command(command) => command.destination(),
        }
    }
}

/// What came through the pipes of one run.
struct Piped {
    stdout: Vec<u8>,
    stderr: String,
}

/// Feeds stdin and drains stdout and stderr side by side, so that none can fill up and block the others.
async fn pump(
    stdin: Option<impl AsyncWrite + Unpin>,
    stdout: Option<impl AsyncRead + Unpin>,
    stderr: Option<impl AsyncRead + Unpin>,
    input: &[u8],
    destination: &str,
) -> Result<Piped, Error> {
    let feed = async {
        if let Some(mut stdin) = stdin {
            // It may exit without reading all of it; then what it said matters, not the broken pipe.
            let _ = stdin.write_all(input).await;
            let _ = stdin.shutdown().await;
        }
        Ok(())
    };
    let drain = async {
        let (bytes, whole) = drain(stdout, MAX_STDOUT, true).await;
        if whole { Ok(bytes) } else { Err(Error::TooLarge { destination: destination.to_owned(), limit: MAX_STDOUT }) }
    };
    let errors = async { Ok(drain_errors(stderr).await) };
    let ((), stdout, stderr) = tokio::try_join!(feed, drain, errors)?;
    Ok(Piped { stdout, stderr })
}

async fn drain_errors(stderr: Option<impl AsyncRead + Unpin>) -> String {
    let (bytes, _) = drain(stderr, MAX_STDERR, false).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads to the end, keeping at most `cap` bytes; stops at the cap when `stop`, else throws the rest away.
/// The second value says whether everything was kept. A read error ends it like an end of file: the frame tells.
async fn drain(pipe: Option<impl AsyncRead + Unpin>, cap: usize, stop: bool) -> (Vec<u8>, bool) {
    let Some(mut pipe) = pipe else { return (Vec::new(), true) };
    let mut kept = Vec::new();
    let mut whole = true;
    let mut chunk = vec![0; 16 << 10];
    while let Ok(len @ 1..) = pipe.read(&mut chunk).await {
        let room = cap.saturating_sub(kept.len());
        kept.extend_from_slice(chunk.get(..len.min(room)).unwrap_or_default());
        whole &= len <= room;
        if stop && !whole {
            break;
        }
    }
    (kept, whole)
}

fn timed_out(destination: &str, deadline: Duration) -> Error {
    Error::TimedOut { destination: destination.to_owned(), seconds: deadline.as_secs() }
}

fn words(error: &std::io::Error) -> String {
    clean::clean(&error.to_string())
}
