//! What a lab is to look like, and why it could not be made so.

use std::path::{Path, PathBuf};

use super::faults::FaultError;
use super::perimeter::Release;
use super::{Clock, Pace};

/// What a lab is to look like.
pub struct LabOptions {
    /// Number of invented tenants, 0–62; `None` = the default site of six.
    pub tenants: Option<u32>,
    /// Workloads per tenant, 0–40; `None` = as the site has them (invented tenants: 4).
    pub workloads: Option<u32>,
    /// Faults that are on from the start, e.g. `snat-missing@eds`.
    pub faults: Vec<String>,
    /// Seed of every invented number.
    pub seed: u64,
    /// The time.
    pub clock: Clock,
    /// The program that answers `lab-tool` and `lab-enter`: `deevnet-console` itself.
    pub program: PathBuf,
    /// Whether PowerDNS, the perimeter with their two DNS servers, and check-ins are served and named in the site file as
    /// well: without them there are Proxmox and the exit node alone. The registry is served, and not named.
    pub second_half: bool,
    /// Which release the perimeter's API speaks like.
    pub release: Release,
    /// Whether the site file names the token that may change things, rather than the one that only reads.
    pub writable: bool,
    /// How time passes for what takes some.
    pub pace: Pace,
    /// Directory to work in, made if it is not there and left behind; `None` = a temporary one, removed at the end.
    pub dir: Option<PathBuf>,
}

impl LabOptions {
    /// The default site with everything that the lab can serve, in a temporary directory.
    #[must_use]
    pub fn new(clock: Clock, program: PathBuf) -> Self {
        Self {
            tenants: None,
            workloads: None,
            faults: Vec::new(),
            seed: 1,
            clock,
            program,
            second_half: true,
            release: Release::default(),
            writable: false,
            pace: Pace::default(),
            dir: None,
        }
    }
}

/// Why a lab could not be started or changed.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file, directory or socket.
    #[error("lab: {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The certificate could not be made.
    #[error("lab: no certificate could be made: {0}")]
    Certificate(String),
    /// A fault was not understood.
    #[error(transparent)]
    Fault(#[from] FaultError),
}

impl LabError {
    /// What the operator can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Io { .. } => "give a directory that can be written, with a path shorter than 80 bytes".to_owned(),
            Self::Certificate(_) => "start it again; the certificate is made anew each time".to_owned(),
            Self::Fault(error) => error.help(),
        }
    }

    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
