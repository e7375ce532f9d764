//! Recording: a client that tells of each request and its end, so that a diagnosis can be judged again later.

use std::fmt;
use std::sync::Arc;

use super::error::HttpError;
use super::transport::Response;

/// A request and its end, as they went over the wire. The header with the credential is not part of it.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Scheme, host and port.
    pub origin: String,
    /// Method, upper-case.
    pub method: String,
    /// Path with query, encoded as sent.
    pub target: String,
    /// Body sent.
    pub sent: Option<String>,
    /// How long it took.
    pub took: std::time::Duration,
    /// The answer, or why there was none that could be used.
    pub ended: Result<Response, HttpError>,
}

/// Hears of every exchange of a client.
#[derive(Clone)]
pub struct Recorder(Arc<dyn Fn(Exchange) + Send + Sync>);

impl Recorder {
    /// A recorder that hands every exchange to `hear`, which must not block.
    pub fn new(hear: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    pub(super) fn hear(&self, exchange: Exchange) {
        (self.0)(exchange);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}
