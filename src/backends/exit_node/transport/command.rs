//! The `command` transport: the site's argument vector with the helper's command line appended, no shell between.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};

use super::{Output, pump, timed_out, words};
use crate::backends::exit_node::error::Error;

/// How long a run that is given up may take to end by itself.
const GRACE: Duration = Duration::from_secs(1);
/// Between two looks whether it has.
const LOOK: Duration = Duration::from_millis(10);

/// Runs `PREFIX… sh -s -- read -` on this machine, in a process group of its own.
///
/// What the prefix must do: run the words behind it where the node's network is, with its own stdin and stdout (`ip
/// netns exec NS`, `ssh -T host`, `sudo -n`), or answer with a frame in their stead.
#[derive(Debug)]
pub struct CommandTransport {
    prefix: Vec<String>,
    /// Variables of its environment, beside the console's own.
    variables: Vec<(&'static str, String)>,
}

impl CommandTransport {
    /// A transport through `prefix`, which must not be empty (the site file is checked for it).
    #[must_use]
    pub fn new(prefix: Vec<String>) -> Self {
        Self { prefix, variables: Vec::new() }
    }

    /// The same with a variable in its environment.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: String) -> Self {
        self.variables.push((name, value));
        self
    }

    pub(super) fn destination(&self) -> &str {
        let program = self.prefix.first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    pub(in crate::backends::exit_node) async fn run(
        &self,
        args: &[&str],
        input: &[u8],
        deadline: Duration,
    ) -> Result<Output, Error> {
        let mut child = self.spawn(args)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // Whatever happens from here on, nothing of it is left running.
        let mut running = Running(Some(Group::of(child)));
        let whole = async {
            let piped = pump(pipes.0, pipes.1, pipes.2, input, self.destination()).await?;
            let status = running.wait().await.map_err(|e| self.local("waiting for the command", &e))?;
            Ok(Output { stdout: piped.stdout, stderr: piped.stderr, code: status.code() })
        };
        let ended = tokio::time::timeout(deadline, whole).await;
        if !matches!(ended, Ok(Ok(_))) {
            running.end().await;
        }
        ended.unwrap_or_else(|_| Err(timed_out(self.destination(), deadline)))
    }

    fn spawn(&self, args: &[&str]) -> Result<Child, Error> {
        let missing = |why: String| Error::CommandMissing { program: self.destination().to_owned(), why };
        let (program, rest) = self.prefix.split_first().ok_or_else(|| missing("the command is empty".to_owned()))?;
        let mut command = Command::new(program);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.args(rest).args(args).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|e| missing(words(&e)))
    }

    fn local(&self, what: &str, error: &std::io::Error) -> Error {
        Error::Local { what: format!("{what} {}", self.destination()), why: words(error) }
    }
}

/// A child and its process group, of which nothing is left when this is dropped.
struct Group {
    pid: Option<Pid>,
    child: Child,
}

impl Group {
    fn of(child: Child) -> Self {
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { pid, child }
    }

    /// Gives a group that was asked to end a moment to do so; what is left then is ended.
    async fn leave(mut self) {
        let gone = async {
            let _ = self.child.wait().await;
            // Its first process may be gone while the helper, further down, still removes its directory.
            while self.pid.is_some_and(|pid| test_kill_process_group(pid).is_ok()) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(GRACE, gone).await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid {
            // Gone already is what is wanted.
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// A run under way. One that is given up is asked to end first, so that the helper can remove its directory.
struct Running(Option<Group>);

impl Running {
    /// Waits for the child's end; what it left behind goes with it.
    async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let Some(group) = &mut self.0 else { return Err(std::io::ErrorKind::NotFound.into()) };
        let status = group.child.wait().await?;
        self.0 = None;
        Ok(status)
    }

    async fn end(&mut self) {
        if let Some(group) = self.0.take() {
            group.signal(Signal::TERM);
            group.leave().await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Without a runtime to wait in, or with one that ends, the group is ended at once.
        if let (Some(group), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            group.signal(Signal::TERM);
            runtime.spawn(group.leave());
        }
    }
}
