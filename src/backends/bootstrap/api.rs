//! The list over HTTP: pages of bounded size, at most [`MAX_PAGES`] of them, one after the other.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde_json::Value;
use zeroize::Zeroizing;

use super::error::Error;
use super::model::{Gather, Listing, MAX_RECORDS};
use super::{redact, wire, within};
use crate::backends::http::{Access, HttpClient, Limits, Request};
use crate::site::model::Trust;

/// Path of the list.
pub const LIST: &str = "/v1/bootstrap/records";
/// Records asked for with one request. A service may give fewer.
pub const PAGE: usize = 500;
/// Requests of one listing at most: a service that gives a few records a page must not be asked for ever.
const MAX_PAGES: usize = 100;
/// Longest time of one listing, all its pages together.
const LISTING: Duration = Duration::from_secs(60);

/// A service that lists its records.
#[derive(Debug, Clone)]
pub struct Api {
    http: HttpClient,
}

impl Api {
    pub(super) fn new(
        origin: &str,
        trust: &Trust,
        credential: Zeroizing<String>,
        limits: Limits,
    ) -> Result<Self, Error> {
        let word = credential.trim();
        let text = Zeroizing::new(format!("Bearer {word}"));
        let header = HeaderValue::from_str(&text).ok().filter(|_| !word.is_empty()).ok_or(Error::BadCredential)?;
        Ok(Self { http: HttpClient::new(origin, trust, Some((AUTHORIZATION, header)), limits)? })
    }

    pub(super) fn origin(&self) -> &str {
        self.http.origin()
    }

    pub(super) fn sent(&self) -> u64 {
        self.http.sent()
    }

    pub(super) async fn read(&self) -> Result<Listing, Error> {
        within(self.origin(), LISTING, self.pages()).await
    }

    async fn pages(&self) -> Result<Listing, Error> {
        let mut all = Gather::default();
        let mut after: Option<String> = None;
        let mut number = 0;
        for _ in 0..MAX_PAGES {
            let answer = self.http.send(&request(after.as_deref())).await?;
            match answer.status {
                200 => {}
                // On a later page it is a list that broke off, not an API without one.
                404 if after.is_none() => return Ok(Listing::NotOffered),
                401 | 403 => return Err(Error::Denied { place: self.origin().to_owned(), status: answer.status }),
                status => {
                    let (place, text) = (self.origin().to_owned(), words(&answer.body));
                    return Err(Error::Status { place, status, text });
                }
            }
            let page = wire::page(self.origin(), &answer.body)?;
            all.at_first(page.at);
            for item in page.items {
                number += 1;
                all.take(wire::item(number, &item));
            }
            if page.next.is_none() || number >= MAX_RECORDS {
                return Ok(Listing::Records(all.done(page.next.is_some())));
            }
            if page.next == after {
                let what = "its pages lead in a circle".to_owned();
                return Err(Error::NotUnderstood { place: self.origin().to_owned(), what });
            }
            after = page.next;
        }
        Ok(Listing::Records(all.done(true)))
    }
}

fn request(after: Option<&str>) -> Request {
    let mut query = vec![("limit".to_owned(), PAGE.to_string())];
    query.extend(after.map(|after| ("after".to_owned(), after.to_owned())));
    Request {
        method: Method::GET,
        access: Access::Read,
        path: LIST.trim_start_matches('/').split('/').map(str::to_owned).collect(),
        query,
    }
}

/// `{"error": …}` of a refusal, else nothing: a page of a proxy says little.
fn words(body: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let text = value.as_ref().and_then(|v| v.get("error")).and_then(Value::as_str);
    text.map(|t| redact::text(t, 160)).unwrap_or_default()
}
