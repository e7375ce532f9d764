//! The `command` transport: the site's argument vector with the helper's command line appended, no shell between.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::{Output, pump, timed_out, words};
use crate::backends::exit_node::error::Error;

/// Runs `PREFIX… sh -s -- read -` on this machine, in a process group of its own.
///
/// What the prefix must do: run the words behind it where the node's network is, with its own stdin and stdout (`ip
/// netns exec NS`, `ssh -T host`, `sudo -n`), or answer with a frame in their stead.
#[derive(Debug)]
pub struct CommandTransport {
    prefix: Vec<String>,
}

impl CommandTransport {
    /// A transport through `prefix`, which must not be empty (the site file is checked for it).
    #[must_use]
    pub fn new(prefix: Vec<String>) -> Self {
        Self { prefix }
    }

    pub(super) fn destination(&self) -> &str {
        self.prefix.first().map_or("", String::as_str)
    }

    pub(super) async fn run(&self, args: &[&str], input: &[u8], deadline: Duration) -> Result<Output, Error> {
        let mut child = self.spawn(args)?;
        // Whatever happens from here on, nothing of it is left running.
        let group = Group::of(&child);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let whole = async {
            let piped = pump(pipes.0, pipes.1, pipes.2, input, self.destination()).await?;
            let status = child.wait().await.map_err(|e| self.local("waiting for the command", &e))?;
            Ok(Output { stdout: piped.stdout, stderr: piped.stderr, code: status.code() })
        };
        let ended = tokio::time::timeout(deadline, whole).await;
        drop(group);
        ended.unwrap_or_else(|_| Err(timed_out(self.destination(), deadline)))
    }

    fn spawn(&self, args: &[&str]) -> Result<Child, Error> {
        let missing = |why: String| Error::CommandMissing { program: self.destination().to_owned(), why };
        let (program, rest) = self.prefix.split_first().ok_or_else(|| missing("the command is empty".to_owned()))?;
        let mut command = Command::new(program);
        command.args(rest).args(args).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|e| missing(words(&e)))
    }

    fn local(&self, what: &str, error: &std::io::Error) -> Error {
        Error::Local { what: format!("{what} {}", self.destination()), why: words(error) }
    }
}

/// Kills a child's process group when dropped: also when the reading itself is given up.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // Gone already is what is wanted.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}
