//! The API through the operator's own ssh (mode `tunnel`).
//!
//! The near end is a Unix socket in a directory of its own, mode 0700, and not a port: every user of this machine may
//! connect to a loopback port, and whoever takes it over when ssh has died is sent the API key.

use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openssh::{ForwardType, Session, Socket};
use reqwest::Url;
use tempfile::TempDir;
use tokio::sync::Mutex;

use super::error::Error;
use crate::backends::exit_node::error::Error as SshError;
use crate::backends::exit_node::transport::{SshOptions, SshTransport};
use crate::backends::http::clean;

/// A tunnel. Dropping it ends the ssh connection and removes the socket.
#[derive(Debug)]
pub struct Tunnel {
    // Dropped in this order: ssh first, then the directory with the socket.
    session: Mutex<Option<Session>>,
    directory: TempDir,
    ssh: SshTransport,
    far: (String, u16),
    deadline: Duration,
}

impl Tunnel {
    /// Opens a tunnel through `destination` (as ssh takes it) to the host and port of `url` as seen from there, within
    /// `deadline`. Whether anything answers at the far end shows with the first request.
    ///
    /// # Errors
    /// [`Error::NotConfigured`] for a URL without host; [`Error::TunnelSocket`]; [`Error::Tunnel`] with what ssh said.
    pub async fn open(destination: &str, url: &str, options: &SshOptions, deadline: Duration) -> Result<Self, Error> {
        let far = target(url)?;
        let directory = private_directory(options.control_directory.as_deref())?;
        let ssh = SshTransport::new(destination.to_owned(), options.clone());
        let tunnel = Self { session: Mutex::new(None), directory, ssh, far, deadline };
        tunnel.reopen().await?;
        Ok(tunnel)
    }

    /// Opens the tunnel again, at the same socket, unless it stands: an ssh connection ends with its link, and after two
    /// minutes in which nothing was asked.
    ///
    /// # Errors
    /// As [`Tunnel::open`].
    pub async fn reopen(&self) -> Result<(), Error> {
        let opened = tokio::time::timeout(self.deadline, self.stand()).await;
        let late =
            |_| SshError::TimedOut { destination: self.destination().to_owned(), seconds: self.deadline.as_secs() };
        opened.map_err(late)?
    }

    async fn stand(&self) -> Result<(), Error> {
        let mut slot = self.session.lock().await;
        if let Some(session) = slot.as_ref()
            && session.check().await.is_ok()
        {
            return Ok(());
        }
        *slot = None;
        self.remove_socket()?;
        let session = self.ssh.connect().await?;
        let near = Socket::from(self.socket());
        let far = Socket::new(self.far.0.as_str(), self.far.1);
        session.request_port_forward(ForwardType::Local, near, far).await.map_err(|e| self.ssh.classify(&e))?;
        *slot = Some(session);
        Ok(())
    }

    /// ssh leaves its socket when it is killed, and does not listen on one that is there.
    fn remove_socket(&self) -> Result<(), Error> {
        match std::fs::remove_file(self.socket()) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(socket_error("removing the old socket", &e)),
            _ => Ok(()),
        }
    }

    /// The near end.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join(SOCKET)
    }

    /// The ssh destination.
    #[must_use]
    pub fn destination(&self) -> &str {
        self.ssh.destination()
    }
}

fn socket_error(what: &'static str, error: &std::io::Error) -> Error {
    Error::TunnelSocket { what, why: clean(&error.kind().to_string()) }
}

/// Name of the socket; short, since the whole path is limited to some 100 bytes.
const SOCKET: &str = "api";

fn target(url: &str) -> Result<(String, u16), Error> {
    let parsed = Url::parse(url).ok();
    let found = parsed.as_ref().and_then(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?)));
    found.ok_or(Error::NotConfigured("its url has no host and port"))
}

fn private_directory(below: Option<&Path>) -> Result<TempDir, Error> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("dv").permissions(Permissions::from_mode(0o700));
    let made = match below {
        Some(directory) => builder.tempdir_in(directory),
        None => builder.tempdir(),
    };
    made.map_err(|e| socket_error("making a private directory", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_far_end_is_the_urls_host_and_port() {
        let far = |url: &str| target(url).map(|(host, port)| format!("{host}:{port}"));
        assert_eq!(far("http://10.20.25.21:8081").unwrap(), "10.20.25.21:8081");
        assert_eq!(far("https://dns.example").unwrap(), "dns.example:443");
        assert_eq!(far("http://[fd00::1]:8081").unwrap(), "[fd00::1]:8081", "ssh wants the brackets");
        assert!(matches!(far("10.20.25.21"), Err(Error::NotConfigured(_))));
    }

    #[test]
    fn nobody_else_gets_at_the_socket() {
        let directory = private_directory(None).unwrap();
        let mode = std::fs::metadata(directory.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let gone = private_directory(Some(Path::new("/nowhere/at/all"))).unwrap_err();
        assert!(matches!(gone, Error::TunnelSocket { .. }), "{gone:?}");
    }
}
