//! The client: one origin, one key, at most two requests in flight.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use zeroize::{Zeroize, Zeroizing};

use super::endpoints::{self, Endpoint};
use super::error::Error;
use super::message::{error_from_answer, not_the_api};
use super::model::{Server, Settings, Statistics, TsigKeyName, TsigSecret, Zone, ZoneHead, ZoneMetadata};
use super::name::Name;
use super::reach::Reach;
use super::tunnel::Tunnel;
use super::wire::{Decoded, RawItem, RawKey, RawMetadata, RawSecret, RawServer, RawZone, Unreadable, decode};
use crate::backends::exit_node::transport::SshOptions;
use crate::backends::http::{Access, HttpClient, HttpError, Kind, Limits, Request, Response};
use crate::site::model::PowerDnsSite;
use crate::site::secret::Secret;

/// Five reads at once take as long as five in turn (facts/dns.md §3).
const IN_FLIGHT: usize = 2;

/// How long a zone stays closed after its list was written. The server looks at the list first and at the kind of the zone
/// later: an update that saw the list while it was empty must have come to its end when the zone is opened. Without a wait one
/// in 230,000 passed on a loaded machine (measured); they take milliseconds.
const SETTLE: Duration = Duration::from_millis(500);

/// A client of one PowerDNS server. Cheap to clone; clones share counters, the bound on requests in flight and
/// the tunnel, which closes with the last of them.
#[derive(Debug, Clone)]
pub struct Client {
    http: HttpClient,
    shared: Arc<Shared>,
    /// How long a zone stays closed after its list was written.
    pub(super) settle: Duration,
}

#[derive(Debug)]
struct Shared {
    in_flight: Semaphore,
    /// 4.7 answers one of several changes at a time with a bare 500 (facts/dns.md §1).
    writing: Semaphore,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    tunnel: Option<Tunnel>,
    /// Only to keep it out of errors, should an answer repeat it.
    key: Secret,
}

/// How many requests were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// On the wire, repetitions included.
    pub total: u64,
    /// Path template → calls.
    pub by_endpoint: BTreeMap<&'static str, u64>,
}

/// How much the list of zones tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneListing {
    /// Names, kinds and serials.
    Lean,
    /// Whether each is signed and its edited serial too; costs the server a look into every zone.
    WithDnssec,
}

impl Client {
    /// A client of `site` in the mode it says: in mode `tunnel` it opens the tunnel, with at most `ssh_deadline` for it.
    ///
    /// # Errors
    /// [`Error::NotConfigured`] in mode `dns-only` (see [`Reach`]); those of [`Client::new`] and [`Tunnel::open`].
    pub async fn connect(
        site: &PowerDnsSite,
        key: Zeroizing<String>,
        limits: Limits,
        ssh: &SshOptions,
        ssh_deadline: Duration,
    ) -> Result<Self, Error> {
        match Reach::of(site) {
            Reach::Api => Self::new(site, key, limits),
            Reach::Tunnel => {
                let destination = site.tunnel.as_deref().ok_or(Error::NotConfigured("it names no tunnel"))?;
                let tunnel = Tunnel::open(destination, origin(site)?, ssh, ssh_deadline).await?;
                Self::through(tunnel, site, key, limits)
            }
            Reach::DnsOnly => Err(Error::NotConfigured("the site's mode is dns-only")),
        }
    }

    /// A client that connects directly. `key` goes into one header marked sensitive; the caller's copy is wiped.
    ///
    /// # Errors
    /// [`Error::NotConfigured`], [`Error::BadKey`] or [`Error::Http`] with a setup fault; nothing is sent.
    pub fn new(site: &PowerDnsSite, key: Zeroizing<String>, limits: Limits) -> Result<Self, Error> {
        let header = header(&key)?;
        let http = HttpClient::new(origin(site)?, &site.trust, Some((KEY_HEADER, header)), limits)?;
        Ok(Self::with(http, None, &key))
    }

    /// A client whose connections go through `tunnel`, which it owns.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn through(tunnel: Tunnel, site: &PowerDnsSite, key: Zeroizing<String>, limits: Limits) -> Result<Self, Error> {
        let header = header(&key)?;
        let secret = Some((KEY_HEADER, header));
        let http = HttpClient::through_socket(origin(site)?, &site.trust, secret, limits, &tunnel.socket())?;
        Ok(Self::with(http, Some(tunnel), &key))
    }

    fn with(http: HttpClient, tunnel: Option<Tunnel>, key: &str) -> Self {
        let key = Secret::new(trimmed(key).to_owned());
        let shared = Shared {
            in_flight: Semaphore::new(IN_FLIGHT),
            writing: Semaphore::new(1),
            counts: Mutex::default(),
            tunnel,
            key,
        };
        Self { http, shared: Arc::new(shared), settle: SETTLE }
    }

    /// The same, with another wait before a zone is opened than the half second that a server under load wants.
    #[must_use]
    pub const fn with_settle(mut self, settle: Duration) -> Self {
        self.settle = settle;
        self
    }

    /// The same client, sharing connections and bounds, that tells `recorder` of every exchange.
    #[must_use]
    pub fn recorded(&self, recorder: crate::backends::http::Recorder) -> Self {
        Self { http: self.http.recorded(recorder), shared: Arc::clone(&self.shared), settle: self.settle }
    }

    /// The same client for a request that carries `secret`.
    pub(super) fn carrying(&self, secret: &Secret) -> Self {
        Self { http: self.http.carrying(secret), ..self.clone() }
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.http.origin()
    }

    /// The tunnel, in mode `tunnel`.
    #[must_use]
    pub fn tunnel(&self) -> Option<&Tunnel> {
        self.shared.tunnel.as_ref()
    }

    /// Requests made so far.
    #[must_use]
    pub fn requests(&self) -> RequestCounts {
        let by_endpoint = self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        RequestCounts { total: self.http.sent(), by_endpoint }
    }

    /// Servers behind this API.
    ///
    /// # Errors
    /// Any [`Error`] but those about a zone; so for every call below.
    pub async fn servers(&self) -> Result<Vec<Server>, Error> {
        self.rows(&endpoints::SERVERS, RawServer::read).await
    }

    /// The server and its version.
    ///
    /// # Errors
    /// As [`Client::servers`].
    pub async fn server(&self) -> Result<Server, Error> {
        let endpoint = &endpoints::SERVER;
        let (raw, _) = self.get::<RawServer>(endpoint, None, None).await?;
        raw.read("server").map_err(unreadable(endpoint))
    }

    /// Counters, without rings.
    ///
    /// # Errors
    /// As [`Client::servers`].
    pub async fn statistics(&self) -> Result<Statistics, Error> {
        let endpoint = &endpoints::STATISTICS;
        let (rows, _) = self.get(endpoint, None, Some(("includerings", "false"))).await?;
        RawItem::statistics(rows).map_err(unreadable(endpoint))
    }

    /// The settings that matter for updates.
    ///
    /// # Errors
    /// As [`Client::servers`].
    pub async fn settings(&self) -> Result<Settings, Error> {
        let endpoint = &endpoints::CONFIG;
        let (rows, _) = self.get(endpoint, None, None).await?;
        RawItem::settings(rows).map_err(unreadable(endpoint))
    }

    /// All zones, by name. The API has no rights per zone: what is not in the list is not on the server.
    ///
    /// # Errors
    /// As [`Client::servers`].
    pub async fn zones(&self, listing: ZoneListing) -> Result<Vec<ZoneHead>, Error> {
        let endpoint = &endpoints::ZONES;
        let query = (listing == ZoneListing::Lean).then_some(("dnssec", "false"));
        let (rows, _) = self.get::<Vec<RawZone>>(endpoint, None, query).await?;
        let read = rows.into_iter().enumerate().map(|(i, row)| row.head(&format!("[{i}]")));
        let mut zones = read.collect::<Result<Vec<_>, _>>().map_err(unreadable(endpoint))?;
        zones.sort_by(|a, b| a.name.tree_order(&b.name));
        Ok(zones)
    }

    /// A zone without its records: some 450 bytes however large it is.
    ///
    /// # Errors
    /// [`Error::BadZone`], [`Error::ZoneAbsent`], and as [`Client::servers`].
    pub async fn zone_head(&self, zone: &Name) -> Result<ZoneHead, Error> {
        let (raw, _) = self.of_zone::<RawZone>(&endpoints::ZONE, zone, Some(("rrsets", "false"))).await?;
        raw.head("zone").map_err(unreadable(&endpoints::ZONE))
    }

    /// A zone and all its records, disabled ones too.
    ///
    /// # Errors
    /// As [`Client::zone_head`].
    pub async fn zone(&self, zone: &Name) -> Result<Zone, Error> {
        let (raw, replaced) = self.of_zone::<RawZone>(&endpoints::ZONE, zone, None).await?;
        raw.zone(replaced).map_err(unreadable(&endpoints::ZONE))
    }

    /// Metadata of a zone.
    ///
    /// # Errors
    /// As [`Client::zone_head`].
    pub async fn metadata(&self, zone: &Name) -> Result<ZoneMetadata, Error> {
        let endpoint = &endpoints::METADATA;
        let (rows, _) = self.of_zone(endpoint, zone, None).await?;
        let kinds = RawMetadata::kinds(rows).map_err(unreadable(endpoint))?;
        Ok(ZoneMetadata { zone: zone.clone(), kinds })
    }

    /// Names and algorithms of the TSIG keys. Their secrets are not asked for and, should a server send them, not kept.
    ///
    /// # Errors
    /// As [`Client::servers`].
    pub async fn tsig_keys(&self) -> Result<Vec<TsigKeyName>, Error> {
        self.rows(&endpoints::TSIG_KEYS, RawKey::read).await
    }

    /// One TSIG key with its secret. For the proof that it writes no other tenant's zone, to hand it to its tenant, and to sign
    /// an update that was approved: no recorder hears of the answer, and its bytes are wiped.
    ///
    /// # Errors
    /// [`Error::KeyAbsent`], and as [`Client::servers`].
    pub async fn tsig_secret(&self, key: &Name) -> Result<TsigSecret, Error> {
        let endpoint = &endpoints::TSIG_KEY;
        match self.get::<RawSecret>(endpoint, Some(key), None).await {
            Err(Error::NoApi { .. }) => {
                self.server().await?;
                Err(Error::KeyAbsent { key: key.clone() })
            }
            read => read?.0.read().map_err(unreadable(endpoint)),
        }
    }

    async fn rows<R: DeserializeOwned, T>(
        &self,
        endpoint: &'static Endpoint,
        read: impl Fn(R, &str) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, Error> {
        let (rows, _) = self.get::<Vec<R>>(endpoint, None, None).await?;
        let read = rows.into_iter().enumerate().map(|(i, row)| read(row, &format!("[{i}]")));
        read.collect::<Result<Vec<_>, _>>().map_err(unreadable(endpoint))
    }

    /// A call about `zone`. PowerDNS answers 404 for a zone that is not there, and the same 404 when its API is off: the
    /// server is asked too before a zone is said to be absent.
    async fn of_zone<T: DeserializeOwned>(
        &self,
        endpoint: &'static Endpoint,
        zone: &Name,
        query: Option<(&'static str, &'static str)>,
    ) -> Result<(T, bool), Error> {
        match self.get(endpoint, Some(zone), query).await {
            Err(Error::NoApi { .. }) => {
                self.server().await?;
                Err(Error::ZoneAbsent { zone: zone.clone() })
            }
            other => other,
        }
    }

    /// One request. The second value says that bytes were replaced to read it.
    async fn get<T: DeserializeOwned>(
        &self,
        endpoint: &'static Endpoint,
        zone: Option<&Name>,
        query: Option<(&'static str, &'static str)>,
    ) -> Result<(T, bool), Error> {
        let request = request(endpoint, zone, None, query)?;
        let mut answer = self.exchange(endpoint, &request, None).await?;
        let decoded = decode(&answer.body);
        answer.body.zeroize();
        match decoded {
            Decoded::Whole(value, replaced) => Ok((value, replaced)),
            Decoded::Shape(fault) => Err(Error::Unreadable { path: endpoint.path, fault }),
            Decoded::NotJson => Err(not_the_api(&answer)),
        }
    }

    /// One request that changes something, and its answer of success. None is repeated, but where the tunnel was gone
    /// before anything was sent.
    pub(super) async fn change(
        &self,
        endpoint: &'static Endpoint,
        (name, kind): (Option<&Name>, Option<&str>),
        body: Option<&str>,
    ) -> Result<Response, Error> {
        let query = endpoint.parameters.contains(&"rrsets").then_some(("rrsets", "false"));
        let request = request(endpoint, name, kind, query)?;
        let _one = self.shared.writing.acquire().await.ok();
        self.exchange(endpoint, &request, body).await
    }

    async fn exchange(
        &self,
        endpoint: &'static Endpoint,
        request: &Request,
        body: Option<&str>,
    ) -> Result<Response, Error> {
        let http = if endpoint.secret { self.http.unrecorded() } else { self.http.clone() };
        // The semaphore is never closed.
        let _permit = self.shared.in_flight.acquire().await.ok();
        *self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(endpoint.path).or_default() += 1;
        let mut answer = self.send(&http, request, body).await?;
        if !(200..300).contains(&answer.status) {
            let error = error_from_answer(endpoint.path, &answer, self.shared.key.expose());
            answer.body.zeroize();
            return Err(error);
        }
        Ok(answer)
    }

    /// Sends `request`; when the tunnel is gone, opens it and sends once more.
    async fn send(&self, http: &HttpClient, request: &Request, body: Option<&str>) -> Result<Response, Error> {
        let once = || async {
            let sent = match body {
                Some(body) => http.send_json(request, body).await,
                None => http.send(request).await,
            };
            sent.map_err(|e| self.transport(e, request.access))
        };
        match (once().await, &self.shared.tunnel) {
            (Err(Error::TunnelLost { .. }), Some(tunnel)) => {
                tunnel.reopen().await?;
                once().await
            }
            (other, _) => other,
        }
    }

    /// What a failed exchange means here. A connection that ends before the answer to a change leaves open whether it was
    /// made, whoever ended it.
    fn transport(&self, error: HttpError, access: Access) -> Error {
        let destination = self.shared.tunnel.as_ref().map(|tunnel| tunnel.destination().to_owned());
        match (&error.kind, destination) {
            (Kind::ClosedBeforeAnswer, _) if access == Access::Write => Error::Http(error),
            (Kind::ClosedBeforeAnswer, None) => Error::SourceRefused { origin: error.origin },
            (Kind::ClosedBeforeAnswer, Some(destination)) => Error::TunnelFarEnd { destination, origin: error.origin },
            (Kind::Refused, Some(destination)) => Error::TunnelLost { destination },
            _ => Error::Http(error),
        }
    }
}

const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

fn origin(site: &PowerDnsSite) -> Result<&str, Error> {
    site.url.as_deref().ok_or(Error::NotConfigured("it has no url"))
}

fn trimmed(key: &str) -> &str {
    key.trim_end_matches(['\r', '\n'])
}

fn header(key: &str) -> Result<HeaderValue, Error> {
    let key = trimmed(key);
    if key.is_empty() {
        return Err(Error::BadKey("it is empty"));
    }
    if !key.bytes().all(|b| b.is_ascii_graphic() || b == b' ') || key.trim() != key {
        return Err(Error::BadKey("it holds blanks at an end, a control character or one outside ASCII"));
    }
    let mut value = HeaderValue::from_str(key).map_err(|_| Error::BadKey("it cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn request(
    endpoint: &Endpoint,
    zone: Option<&Name>,
    kind: Option<&str>,
    query: Option<(&'static str, &'static str)>,
) -> Result<Request, Error> {
    let mut path = vec!["api".to_owned(), "v1".to_owned()];
    for segment in endpoint.path.split('/').filter(|s| !s.is_empty()) {
        match (segment, zone) {
            ("{zone}" | "{key}", Some(zone)) => path.push(checked_id(zone)?),
            ("{kind}", _) => path.push(kind.unwrap_or_default().to_owned()),
            _ => path.push(segment.to_owned()),
        }
    }
    debug_assert!(query.is_none_or(|(key, _)| endpoint.parameters.contains(&key)), "undeclared for {}", endpoint.path);
    let query = query.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let method = Method::from_bytes(endpoint.method.as_bytes()).unwrap_or(Method::GET);
    Ok(Request { method, access: endpoint.access, path, query })
}

/// The zone's id, if it cannot lead to another path.
fn checked_id(zone: &Name) -> Result<String, Error> {
    let id = zone.zone_id();
    let sound = id.bytes().any(|b| b != b'.') && !zone.as_str().is_empty() && id.len() <= 4 * 255;
    if sound { Ok(id) } else { Err(Error::BadZone { zone: zone.as_str().to_owned() }) }
}

pub(super) fn unreadable(endpoint: &'static Endpoint) -> impl Fn(Unreadable) -> Error {
    |fault| Error::Unreadable { path: endpoint.path, fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_checked_without_being_shown() {
        for bad in ["", "\n", " c4n4ry", "c4n4ry ", "c4n\u{1b}4ry", "c4n4rÿ", "c4n4ry\nx"] {
            let error = header(bad).unwrap_err();
            assert!(matches!(error, Error::BadKey(_)), "{bad:?}");
            assert!(!format!("{error} {error:?} {}", error.help()).contains("c4n"), "{error}");
        }
        let good = header("c4n4ry\n").unwrap();
        assert!(good.is_sensitive() && !format!("{good:?}").contains("c4n"));
        assert_eq!(good.to_str().unwrap(), "c4n4ry");
    }

    #[test]
    fn zones_cannot_lead_to_another_path() {
        for bad in ["", "..", "..."] {
            assert!(
                matches!(request(&endpoints::ZONE, Some(&Name::new(bad)), None, None), Err(Error::BadZone { .. })),
                "{bad:?}"
            );
        }
        let path =
            |zone: &str| request(&endpoints::ZONE, Some(&Name::new(zone)), None, None).unwrap().path.pop().unwrap();
        assert_eq!(path("../x"), "..=2Fx.");
        assert_eq!(path("."), "=2E");
        assert_eq!(path("A.Example"), "a.example.");
    }
}
