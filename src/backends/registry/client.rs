//! The client: one origin, one token, two lists.

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde_json::Value;
use zeroize::Zeroizing;

use super::error::Error;
use super::model::{Egress, Tenant};
use super::wire;
use crate::backends::http::{Access, HttpClient, Limits, Request, clean};
use crate::site::model::RegistrySite;

/// All tenants.
pub const TENANTS: &str = "/v1/tenants";
/// VRFs that are given a way out.
pub const EGRESS: &str = "/v1/fabric/egress";

/// A reading client of one registry. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    http: HttpClient,
}

impl Client {
    /// A client of `site`. `token` goes into one header marked sensitive.
    ///
    /// # Errors
    /// [`Error::Http`] with a setup fault, or [`Error::BadToken`]; nothing is sent.
    pub fn new(site: &RegistrySite, token: Zeroizing<String>, limits: Limits) -> Result<Self, Error> {
        let word = token.trim();
        let text = Zeroizing::new(format!("Bearer {word}"));
        let header = HeaderValue::from_str(&text).ok().filter(|_| !word.is_empty()).ok_or(Error::BadToken)?;
        Ok(Self { http: HttpClient::new(&site.url, &site.trust, Some((AUTHORIZATION, header)), limits)? })
    }

    /// Origin, for messages.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.http.origin()
    }

    /// Requests sent so far.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.http.sent()
    }

    /// Every registered tenant.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn tenants(&self) -> Result<Vec<Tenant>, Error> {
        wire::tenants(self.origin(), &self.get(TENANTS).await?)
    }

    /// Every VRF that the exit nodes are told to give a way out.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn egress(&self) -> Result<Vec<Egress>, Error> {
        wire::egress(self.origin(), &self.get(EGRESS).await?)
    }

    async fn get(&self, path: &'static str) -> Result<Vec<u8>, Error> {
        let request = Request {
            method: Method::GET,
            access: Access::Read,
            path: path.trim_start_matches('/').split('/').map(str::to_owned).collect(),
            query: Vec::new(),
        };
        let answer = self.http.send(&request).await?;
        let place = self.origin().to_owned();
        match answer.status {
            200 => Ok(answer.body),
            status @ (401 | 403) => Err(Error::Denied { place, status }),
            status => Err(Error::Status { place, path, status, text: words(&answer.body) }),
        }
    }
}

/// `{"error": …}`, else nothing: a page of a proxy says little.
fn words(body: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let text = value.as_ref().and_then(|v| v.get("error")).and_then(Value::as_str);
    text.map(|t| clean(t).chars().take(160).collect()).unwrap_or_default()
}
