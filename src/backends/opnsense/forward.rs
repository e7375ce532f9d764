//! Forwards of the resolver, written (facts/opnsense.md §1, §3, §9).
//!
//! What is saved is not in force: [`Client::reconfigure_resolver`] stops and starts the resolver with what is configured
//! then, once for any number of changes. A forward is known by its uuid alone: several may have one domain.

use std::fmt;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::answer::Ack;
use super::client::{Call, Client};
use super::endpoints;
use super::error::Error;
use super::model::{Forward, ForwardKind};
use super::wire::Unreadable;
use crate::backends::dns::DnsName;
use crate::backends::http::clean;
use crate::backends::permit::Permit;

/// Longest description that is sent, in characters.
const LONGEST_DESCRIPTION: usize = 255;

/// A plain forward as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewForward {
    /// Domain; its final dot would make another zone of it, and is never sent.
    pub domain: DnsName,
    /// Server.
    pub server: IpAddr,
    /// Its port; `None` = 53.
    pub port: Option<u16>,
    /// Whether it is in force after the next reconfiguration.
    pub enabled: bool,
    /// Description, not unique.
    pub description: String,
}

/// Why a forward is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the forward of {domain} cannot be written: {why}")]
pub struct BadForward {
    domain: String,
    why: &'static str,
}

impl NewForward {
    /// Whether it may be sent. Without a domain everything would be forwarded.
    ///
    /// # Errors
    /// [`BadForward`].
    pub fn check(&self) -> Result<(), BadForward> {
        let bad = |why| Err(BadForward { domain: self.domain.to_string(), why });
        if self.domain.as_str().is_empty() {
            return bad("it names no domain, and would take every question");
        }
        if self.domain.as_str().contains(['*', '/']) {
            return bad("the router takes names of hosts only");
        }
        if self.port == Some(0) {
            return bad("0 is no port");
        }
        if self.description.chars().count() > LONGEST_DESCRIPTION {
            return bad("its description is longer than 255 characters");
        }
        if clean(&self.description) != self.description {
            return bad("its description holds characters that steer a terminal");
        }
        Ok(())
    }

    /// Whether `held` is as wanted. Who described it how is no difference (domain.md §4.4).
    #[must_use]
    pub fn is_made(&self, held: &Forward) -> bool {
        held.kind == ForwardKind::Forward
            && held.enabled == self.enabled
            && held.domain == self.domain.as_str()
            && !held.final_dot
            && held.server.parse() == Ok(self.server)
            && held.port.unwrap_or(53) == self.port.unwrap_or(53)
    }

    /// All of it: the router fills in what is missing with values of its own.
    fn body(&self) -> Value {
        let port = self.port.map(|port| port.to_string()).unwrap_or_default();
        json!({"enabled": if self.enabled { "1" } else { "0" }, "type": "forward", "domain": self.domain.as_str(),
            "server": self.server.to_string(), "port": port, "verify": "", "forward_tcp_upstream": "0",
            "description": self.description})
    }
}

impl fmt::Display for NewForward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "forward {} to {}", self.domain, self.server)?;
        if let Some(port) = self.port.filter(|port| *port != 53) {
            write!(f, " port {port}")?;
        }
        if self.enabled { Ok(()) } else { f.write_str(", switched off") }
    }
}

impl Client {
    /// Adds a forward, and tells its uuid. The router takes the same one twice: whether there is one already is for the
    /// caller to read before, and after an answer that was lost.
    ///
    /// # Errors
    /// [`Error::BadForward`], and nothing is sent; [`Error::Failed`] with the fields it refuses; any other [`Error`].
    pub async fn add_forward(&self, permit: &Permit, forward: &NewForward) -> Result<String, Error> {
        forward.check()?;
        let endpoint = &endpoints::FORWARD_ADD;
        match self.acknowledged(permit, Call::new(endpoint).with("dot", forward.body())).await? {
            Ack::Saved { uuid: Some(uuid) } => Ok(uuid),
            _ => Err(unacknowledged(endpoint.path, "uuid", "is missing")),
        }
    }

    /// Makes the forward `uuid` as `forward` says, all of it. It is looked at first: the router would make a new row of an
    /// id that is gone, and a plain forward of one over TLS. Two requests or three.
    ///
    /// # Errors
    /// [`Error::Absent`] and [`Error::OtherKind`], and nothing is changed; as [`Client::add_forward`].
    pub async fn set_forward(&self, permit: &Permit, uuid: &str, forward: &NewForward) -> Result<(), Error> {
        forward.check()?;
        self.plain_forward(uuid).await?;
        let endpoint = &endpoints::FORWARD_SET;
        let call = Call::new(endpoint).id(uuid).with("dot", forward.body());
        match self.acknowledged(permit, call).await? {
            Ack::Saved { .. } => Ok(()),
            _ => Err(unacknowledged(endpoint.path, "result", "is not saved")),
        }
    }

    /// Switches the forward `uuid` on or off; whether that changed anything.
    ///
    /// # Errors
    /// As [`Client::set_forward`].
    pub async fn toggle_forward(&self, permit: &Permit, uuid: &str, on: bool) -> Result<bool, Error> {
        let held = self.plain_forward(uuid).await?;
        let endpoint = &endpoints::FORWARD_TOGGLE;
        match self.acknowledged(permit, Call::new(endpoint).id(uuid).flag(on)).await? {
            Ack::Toggled { enabled, changed } if enabled == on => Ok(changed.unwrap_or(held.enabled != on)),
            _ => Err(unacknowledged(endpoint.path, "result", "is another state than was asked for")),
        }
    }

    /// Deletes the forward `uuid`.
    ///
    /// # Errors
    /// [`Error::Absent`] where it is gone already; any other [`Error`].
    pub async fn delete_forward(&self, permit: &Permit, uuid: &str) -> Result<(), Error> {
        let endpoint = &endpoints::FORWARD_DELETE;
        match self.acknowledged(permit, Call::new(endpoint).id(uuid)).await? {
            Ack::Deleted => Ok(()),
            _ => Err(unacknowledged(endpoint.path, "result", "is not deleted")),
        }
    }

    /// Gives the resolver what is configured, other people's saved changes too. It is away for a moment. That it said `ok`
    /// is no proof: look at [`Client::insecure_domains`], where every plain forward in force has its domain.
    ///
    /// # Errors
    /// [`Error::Failed`] where it could not; any other [`Error`].
    pub async fn reconfigure_resolver(&self, permit: &Permit) -> Result<(), Error> {
        let endpoint = &endpoints::UNBOUND_RECONFIGURE;
        match self.acknowledged(permit, Call::new(endpoint)).await? {
            Ack::Ok => Ok(()),
            Ack::Word(text) => Err(Error::Refused { text }),
            _ => Err(unacknowledged(endpoint.path, "status", "is not ok")),
        }
    }

    /// The plain forward `uuid` as it is.
    async fn plain_forward(&self, uuid: &str) -> Result<Forward, Error> {
        let held = self.forwards().await?.into_iter().find(|row| row.uuid == uuid);
        match held {
            None => Err(Error::Absent { what: format!("forward {}", clean(uuid)) }),
            Some(row) if row.kind != ForwardKind::Forward => {
                Err(Error::OtherKind { what: format!("the forward of {} is one over TLS", row.domain) })
            }
            Some(row) => Ok(row),
        }
    }
}

fn unacknowledged(endpoint: &str, at: &str, why: &str) -> Error {
    let fault = Unreadable { at: at.to_owned(), why: why.to_owned() };
    Error::Unreadable { endpoint: endpoint.to_owned(), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forward() -> NewForward {
        NewForward {
            domain: "TDemo.mobile.example.".parse().unwrap(),
            server: [10, 20, 25, 21].into(),
            port: None,
            enabled: true,
            description: "tenant tdemo".to_owned(),
        }
    }

    fn held() -> Forward {
        Forward {
            uuid: "u".to_owned(),
            kind: ForwardKind::Forward,
            enabled: true,
            final_dot: false,
            domain: "tdemo.mobile.example".to_owned(),
            server: "10.20.25.21".to_owned(),
            port: Some(53),
            tcp: None,
            first: None,
            description: "somebody else's words".to_owned(),
        }
    }

    #[test]
    fn a_body_says_everything_without_a_final_dot() {
        let body = forward().body();
        assert_eq!(
            (&body["domain"], &body["enabled"], &body["port"]),
            (&json!("tdemo.mobile.example"), &json!("1"), &json!(""))
        );
        assert!(body.as_object().unwrap().values().all(Value::is_string), "OPNsense knows text alone");
        assert_eq!(forward().to_string(), "forward tdemo.mobile.example to 10.20.25.21");
    }

    #[test]
    fn what_would_be_taken_and_not_meant_is_not_sent() {
        let bad = |edit: fn(&mut NewForward)| {
            let mut forward = forward();
            edit(&mut forward);
            forward.check().unwrap_err().to_string()
        };
        assert!(bad(|f| f.domain = ".".parse().unwrap()).contains("every question"));
        assert!(bad(|f| f.domain = "*.example".parse().unwrap()).contains("names of hosts"));
        assert!(bad(|f| f.port = Some(0)).contains("no port"));
        assert!(bad(|f| f.description = "x".repeat(256)).contains("longer"));
        assert!(bad(|f| f.description = "\u{1b}[2J".to_owned()).contains("steer"));
        assert!(forward().check().is_ok());
    }

    #[test]
    fn what_is_there_already_is_told() {
        assert!(forward().is_made(&held()), "a description is no difference, nor is a port that is said");
        let other = |edit: fn(&mut Forward)| {
            let mut held = held();
            edit(&mut held);
            !forward().is_made(&held)
        };
        assert!(other(|f| f.enabled = false) && other(|f| f.kind = ForwardKind::Dot) && other(|f| f.final_dot = true));
        assert!(other(|f| f.server = "10.20.99.30".to_owned()) && other(|f| f.port = Some(5300)));
    }
}
