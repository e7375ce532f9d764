//! The calls that change something. Each takes a permit, is sent once, and says what became of it by its error alone: after
//! a timeout or a connection that ended, nothing but reading tells.

use rustls::crypto::ring::default_provider;
use serde::Serialize;
use zeroize::{Zeroize as _, Zeroizing};

use super::change::{BadChange, LARGEST_BODY, Write};
use super::client::{Client, unreadable};
use super::endpoints::{self, Endpoint};
use super::error::Error;
use super::model::TsigSecret;
use super::name::Name;
use super::wire::{Decoded, RawSecret, decode};
use crate::backends::dns::DnsName;
use crate::backends::permit::Permit;
use crate::site::secret::Secret;

/// The algorithm of every key that is made here (domain.md §4.3).
const ALGORITHM: &str = "hmac-sha256";
/// Bytes of a secret that is made here.
const SECRET_BYTES: usize = 32;

/// A key that has been made.
#[derive(Debug)]
pub struct MadeKey {
    /// Its name.
    pub name: DnsName,
    /// Its algorithm and secret.
    pub key: TsigSecret,
}

/// What a change has come to.
#[derive(Debug)]
pub enum Done {
    /// It is made.
    Made,
    /// A key is made.
    Key(Box<MadeKey>),
}

/// A new secret for a key: 32 random bytes in base64.
///
/// # Errors
/// [`BadChange`] when this machine has no random numbers.
pub fn fresh_secret() -> Result<Secret, BadChange> {
    use base64::Engine as _;
    let mut bytes = Zeroizing::new([0_u8; SECRET_BYTES]);
    let filled = default_provider().secure_random.fill(bytes.as_mut_slice());
    filled.map_err(|_| BadChange::new("a secret", "this machine gives no random numbers"))?;
    Ok(Secret::new(base64::engine::general_purpose::STANDARD.encode(*bytes)))
}

/// The body that makes a key.
#[derive(Serialize)]
struct KeyBody<'a> {
    name: &'a str,
    algorithm: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
}

impl Client {
    /// Sends one change, once. One that opens a zone to updates waits half a second before it.
    ///
    /// # Errors
    /// [`Error::BadChange`], and nothing is sent; [`Error::Exists`] for a zone or key that is there, [`Error::ZoneAbsent`]
    /// and [`Error::KeyAbsent`] for one that is not; [`Error::Unprocessable`] with the server's reason; and as
    /// [`Client::servers`].
    pub async fn perform(&self, permit: &Permit, write: &Write) -> Result<Done, Error> {
        write.check()?;
        tracing::info!(plan = permit.plan(), change = %write, "PowerDNS");
        match write {
            Write::CreateKey { name, secret } => {
                let key = self.create_key(name, secret.as_ref()).await?;
                Ok(Done::Key(Box::new(MadeKey { name: name.clone(), key })))
            }
            Write::DeleteKey(name) => {
                let key = Name::new(name.as_str());
                let gone = self.send_write(&endpoints::TSIG_KEY_DELETE, (Some(&key), None), write).await;
                self.absent(gone, Error::KeyAbsent { key }).await
            }
            Write::CreateClosed { zone, .. } => {
                let made = self.send_write(&endpoints::ZONE_ADD, (None, None), write).await;
                made.map_err(|e| exists(e, "zone", zone.as_str()))
            }
            Write::DeleteZone(zone) => self.of(&endpoints::ZONE_DELETE, zone, None, write).await,
            Write::MakeNative(zone) | Write::Reopen(zone, _) => {
                tokio::time::sleep(self.settle).await;
                self.of(&endpoints::ZONE_SET, zone, None, write).await
            }
            Write::Close(zone) | Write::SetAccount(zone, _) => self.of(&endpoints::ZONE_SET, zone, None, write).await,
            Write::PutMetadata(zone, metadata) => {
                self.of(&endpoints::METADATA_SET, zone, Some(metadata.kind()), write).await
            }
            Write::DeleteMetadata(zone, kind) => self.of(&endpoints::METADATA_DELETE, zone, Some(kind), write).await,
            Write::Patch(zone, _) => self.of(&endpoints::ZONE_PATCH, zone, None, write).await,
        }
    }

    async fn of(
        &self,
        endpoint: &'static Endpoint,
        zone: &Name,
        kind: Option<&str>,
        write: &Write,
    ) -> Result<Done, Error> {
        let done = self.send_write(endpoint, (Some(zone), kind), write).await;
        self.absent(done, Error::ZoneAbsent { zone: zone.clone() }).await
    }

    async fn send_write(
        &self,
        endpoint: &'static Endpoint,
        at: (Option<&Name>, Option<&str>),
        write: &Write,
    ) -> Result<Done, Error> {
        let body = write.body().map(|body| body.to_string());
        if let Some(bytes) = body.as_ref().map(String::len).filter(|bytes| *bytes > LARGEST_BODY) {
            return Err(BadChange::new("the change", format!("it has {bytes} bytes; make it in parts")).into());
        }
        self.change(endpoint, at, body.as_deref()).await.map(|_| Done::Made)
    }

    /// 404 means `absent`, or an API that is off, which answers nothing else.
    async fn absent(&self, done: Result<Done, Error>, absent: Error) -> Result<Done, Error> {
        match done {
            Err(Error::NoApi { .. }) => {
                self.server().await?;
                Err(absent)
            }
            other => other,
        }
    }

    /// Secrets are in the body and in the answer: both are wiped.
    async fn create_key(&self, name: &DnsName, secret: Option<&Secret>) -> Result<TsigSecret, Error> {
        let endpoint = &endpoints::TSIG_KEY_ADD;
        let body = KeyBody { name: name.as_str(), algorithm: ALGORITHM, key: secret.map(Secret::expose) };
        // Room for all of it, so that growing leaves no copy behind.
        let room = 128 + name.as_str().len() + 2 * secret.map_or(0, |secret| secret.expose().len());
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        let written = serde_json::to_writer(&mut *bytes, &body);
        let text = std::str::from_utf8(&bytes).ok().filter(|_| written.is_ok());
        let text = text.ok_or_else(|| BadChange::new("a key", "its body cannot be written"))?;
        let client = secret.map_or_else(|| self.clone(), |secret| self.carrying(secret));
        let made = client.change(endpoint, (None, None), Some(text)).await;
        let mut answer = made.map_err(|e| exists(e, "TSIG key", name.as_str()))?;
        let decoded = decode::<RawSecret>(&answer.body);
        answer.body.zeroize();
        match decoded {
            Decoded::Whole(raw, _) => raw.read().map_err(unreadable(endpoint)),
            Decoded::Shape(fault) => Err(Error::Unreadable { path: endpoint.path, fault }),
            Decoded::NotJson => Err(super::message::not_the_api(&answer)),
        }
    }
}

fn exists(error: Error, what: &'static str, name: &str) -> Error {
    match error {
        Error::Refused { status: 409, .. } => Error::Exists { what, name: name.to_owned() },
        other => other,
    }
}
