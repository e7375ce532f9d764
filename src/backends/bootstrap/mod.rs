//! Check-ins of first boots, read only: of a service over HTTP, or from a file of records (docs/bootstrap-records.md).
//!
//! A source says what it knows of every workload's delivery in records. No record can carry a secret: the types have no
//! place for one, and text that looks like a token is shortened to its key id before it is kept.

mod api;
mod error;
mod file;
mod model;
mod redact;
mod wire;

use std::path::Path;

use zeroize::Zeroizing;

use crate::backends::http::Limits;
use crate::site::model::Trust;

pub use api::{LIST, PAGE};
pub use error::Error;
pub use file::MAX_FILE;
pub use model::{
    Broken, Declared, Listing, MAX_RECORDS, Record, Records, Refusal, Report, Token, TokenState, UnknownState,
};

/// What every list says it is.
pub const SCHEMA: &str = "deevnet.bootstrap-records/v1";

/// A source of check-ins.
#[derive(Debug, Clone)]
pub enum Client {
    /// A service.
    Api(Box<api::Api>),
    /// A file.
    File(file::RecordFile),
}

impl Client {
    /// A client of the service at `origin`. `credential` goes into one header marked sensitive.
    ///
    /// # Errors
    /// [`Error::Http`] with a setup fault, or [`Error::BadCredential`]; nothing is sent.
    pub fn api(origin: &str, trust: &Trust, credential: Zeroizing<String>, limits: Limits) -> Result<Self, Error> {
        api::Api::new(origin, trust, credential, limits).map(|api| Self::Api(Box::new(api)))
    }

    /// A reader of the file at `path`.
    #[must_use]
    pub fn file(path: &Path) -> Self {
        Self::File(file::RecordFile::new(path))
    }

    /// Everything the source lists now.
    ///
    /// # Errors
    /// When nothing of it could be read. Single records that make no sense are [`Records::broken`], not an error.
    pub async fn read(&self) -> Result<Listing, Error> {
        match self {
            Self::Api(api) => api.read().await,
            Self::File(file) => file.read().await.map(Listing::Records),
        }
    }

    /// Where it reads, for messages: an origin or a path.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Api(api) => api.origin().to_owned(),
            Self::File(file) => crate::backends::http::clean(&file.path().display().to_string()),
        }
    }

    /// HTTP requests sent so far.
    #[must_use]
    pub fn sent(&self) -> u64 {
        match self {
            Self::Api(api) => api.sent(),
            Self::File(_) => 0,
        }
    }
}
