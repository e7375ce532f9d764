//! The `ssh` transport: the operator's own ssh and its configuration, one connection kept and shared.
//!
//! `BatchMode=yes` and strict host keys always: a console that reads every few seconds never asks and never learns a
//! key by itself.

use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openssh::{ControlPersist, KnownHosts, Session, SessionBuilder, Stdio};
use tokio::sync::Mutex;

use super::{Output, pump, timed_out, words};
use crate::backends::exit_node::clean;
use crate::backends::exit_node::error::Error;

/// Longest wait for TCP and the SSH greeting.
const CONNECT: Duration = Duration::from_secs(10);
/// A silent link is noticed after three of these.
const ALIVE: Duration = Duration::from_secs(5);
/// How long the connection outlives the console, should it be killed.
const LINGER: NonZeroUsize = NonZeroUsize::MIN.saturating_add(119);

/// What differs from the operator's defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SshOptions {
    /// `ssh -F`: another file than `~/.ssh/config`.
    pub config: Option<PathBuf>,
    /// Directory of the control socket; short, since a socket's path is limited to some 100 bytes. Default: the state
    /// directory of the user.
    pub control_directory: Option<PathBuf>,
}

/// One connection to one destination, opened when it is first needed and again when it was lost.
#[derive(Debug)]
pub struct SshTransport {
    destination: String,
    options: SshOptions,
    session: Mutex<Option<Arc<Session>>>,
}

impl SshTransport {
    /// A transport to `destination` as ssh takes it (alias, `user@host`, `ssh://user@host:port`). Connects later.
    #[must_use]
    pub fn new(destination: String, options: SshOptions) -> Self {
        Self { destination, options, session: Mutex::new(None) }
    }

    pub(in crate::backends) fn destination(&self) -> &str {
        &self.destination
    }

    pub(super) async fn run(&self, args: &[&str], input: &[u8], deadline: Duration) -> Result<Output, Error> {
        let ended = tokio::time::timeout(deadline, self.run_or_reconnect(args, input)).await;
        match ended {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(error)) => {
                self.forget().await;
                Err(error)
            }
            Err(_) => {
                // The remote end is bounded by the helper's own time limits.
                self.forget().await;
                Err(timed_out(&self.destination, deadline))
            }
        }
    }

    /// A kept connection may have died since it was last used; that alone is worth a second try.
    async fn run_or_reconnect(&self, args: &[&str], input: &[u8]) -> Result<Output, Error> {
        let (session, kept) = self.session().await?;
        let first = self.exchange(&session, args, input).await;
        match first {
            Err(Error::Disconnected { .. }) if kept => {
                drop(session);
                self.forget().await;
                let (session, _) = self.session().await?;
                self.exchange(&session, args, input).await
            }
            other => other,
        }
    }

    async fn forget(&self) {
        *self.session.lock().await = None;
    }

    /// The connection, and whether it was there before.
    async fn session(&self) -> Result<(Arc<Session>, bool), Error> {
        let mut slot = self.session.lock().await;
        if let Some(session) = slot.as_ref() {
            return Ok((Arc::clone(session), true));
        }
        let session = Arc::new(self.connect().await?);
        *slot = Some(Arc::clone(&session));
        Ok((session, false))
    }

    /// A connection of the caller's own, with the same options and the same errors.
    pub(in crate::backends) async fn connect(&self) -> Result<Session, Error> {
        self.builder().connect(&self.destination).await.map_err(|e| self.classify(&e))
    }

    fn builder(&self) -> SessionBuilder {
        let mut builder = SessionBuilder::default();
        builder.known_hosts_check(KnownHosts::Strict).connect_timeout(CONNECT).server_alive_interval(ALIVE);
        builder.control_persist(ControlPersist::IdleFor(LINGER));
        if let Some(config) = &self.options.config {
            builder.config_file(config);
        }
        if let Some(directory) = &self.options.control_directory {
            builder.control_directory(directory);
        }
        builder
    }

    async fn exchange(&self, session: &Session, args: &[&str], input: &[u8]) -> Result<Output, Error> {
        let (program, rest) = args.split_first().unwrap_or((&"true", &[]));
        let mut command = session.command(*program);
        command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().await.map_err(|e| self.classify(&e))?;
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let piped = pump(pipes.0, pipes.1, pipes.2, input, &self.destination).await?;
        let code = match child.wait().await {
            Ok(status) => status.code(),
            // ssh's own failure and a lost connection look alike. What has come is kept: its frame says if it is whole.
            Err(openssh::Error::RemoteProcessTerminated | openssh::Error::Disconnected) if piped.stdout.is_empty() => {
                let why = clean::first_line(&piped.stderr);
                return Err(Error::Disconnected { destination: self.destination.clone(), why });
            }
            Err(openssh::Error::RemoteProcessTerminated | openssh::Error::Disconnected) => None,
            Err(openssh::Error::Remote(e)) if e.kind() == ErrorKind::NotFound => Some(127),
            Err(other) => return Err(self.classify(&other)),
        };
        Ok(Output { stdout: piped.stdout, stderr: piped.stderr, code })
    }

    /// What a failure of ssh means.
    pub(in crate::backends) fn classify(&self, error: &openssh::Error) -> Error {
        let destination = self.destination.clone();
        match error {
            // An ssh that cannot be started is reported like a failed connection, and so is a missing log of it.
            openssh::Error::Connect(e) | openssh::Error::Ssh(e) if e.kind() == ErrorKind::NotFound => {
                if ssh_is_there() {
                    Error::Local { what: format!("ssh to {destination}"), why: words(e) }
                } else {
                    Error::SshMissing { destination }
                }
            }
            openssh::Error::Connect(e) => classify_words(destination, &e.to_string()),
            openssh::Error::Ssh(e) | openssh::Error::Master(e) => {
                Error::Local { what: format!("ssh to {destination}"), why: words(e) }
            }
            other => Error::Disconnected { destination, why: clean::clean(&other.to_string()) },
        }
    }
}

fn ssh_is_there() -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join("ssh").is_file()))
}

/// ssh exits with 255 for everything; its words are all there is. They are OpenSSH's, untranslated in every locale.
fn classify_words(destination: String, said: &str) -> Error {
    let has = |needle: &str| said.contains(needle);
    let line = |needle: &str| clean::clean(said.lines().rfind(|l| l.contains(needle)).unwrap_or_default());
    if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        Error::HostKeyChanged { destination }
    } else if has("host key is known for") || has("Host key verification failed") {
        Error::HostUnknown { destination }
    } else if has("Permission denied") || has("Too many authentication failures") || has("No supported authentication")
    {
        let why = if has("Permission denied") { line("Permission denied") } else { line("authentication") };
        Error::AuthRefused { destination, why }
    } else if has("Connection refused") {
        Error::ConnectionRefused { destination }
    } else if has("timed out") {
        Error::TimedOut { destination, seconds: CONNECT.as_secs() }
    } else {
        let last = said.lines().map(clean::clean).rfind(|l| !l.is_empty());
        Error::Unreachable { destination, why: last.unwrap_or_else(|| "ssh said nothing".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ssh_that_is_not_there_is_told_from_one_that_failed_to_log() {
        let transport = SshTransport::new("hv02".to_owned(), SshOptions::default());
        let told = transport.classify(&openssh::Error::Connect(std::io::Error::from(ErrorKind::NotFound)));
        assert_eq!(matches!(told, Error::SshMissing { .. }), !ssh_is_there(), "{told:?}");
        assert_eq!(matches!(told, Error::Local { .. }), ssh_is_there(), "{told:?}");
        let refused =
            std::io::Error::new(ErrorKind::ConnectionRefused, "connect to host hv02 port 22: Connection refused");
        let told = transport.classify(&openssh::Error::Connect(refused));
        assert_eq!(told, Error::ConnectionRefused { destination: "hv02".to_owned() });
    }

    #[test]
    fn ssh_failures_are_told_apart() {
        let told = |said: &str| classify_words("hv02".to_owned(), said);
        let destination = || "hv02".to_owned();
        let changed = "@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@\nIT IS POSSIBLE …\n\
                       Host key for [127.0.0.1]:2222 has changed and you have requested strict checking.\nHost key verification failed.";
        assert_eq!(told(changed), Error::HostKeyChanged { destination: destination() });
        let unknown = "No ED25519 host key is known for hv02 and you have requested strict checking.\r\nHost key verification failed.";
        assert_eq!(told(unknown), Error::HostUnknown { destination: destination() });
        let why = "ops@hv02: Permission denied (publickey).".to_owned();
        assert_eq!(told(&format!("{why}\r\n")), Error::AuthRefused { destination: destination(), why });
        assert_eq!(
            told("connect to host hv02 port 22: Connection refused"),
            Error::ConnectionRefused { destination: destination() }
        );
        assert_eq!(
            told("connect to host hv02 port 22: Connection timed out"),
            Error::TimedOut { destination: destination(), seconds: 10 }
        );
        assert_eq!(
            told("Connection timed out during banner exchange"),
            Error::TimedOut { destination: destination(), seconds: 10 }
        );
        for other in [
            "Could not resolve hostname hv02: Name or service not known",
            "connect to host hv02 port 22: No route to host",
            "",
        ] {
            assert!(matches!(told(other), Error::Unreachable { .. }), "{other:?}");
        }
    }
}
