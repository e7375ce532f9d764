//! From the library's error chain to a [`Kind`].

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use rustls::CertificateError;

use super::error::{Kind, Phase, TlsFault};
use super::text::clean;
use super::transport::NameNotResolved;
use super::trust::PinMismatch;

/// The kind of `error`. `connect_limit` is what a timed-out connect exceeded; `answered` says that a status line came.
pub(super) fn classify(error: &reqwest::Error, connect_limit: Duration, answered: bool) -> Kind {
    if let Some(kind) = known(error, answered) {
        return if error.is_connect() { kind } else { once_connected(kind, answered) };
    }
    let last = Chain(Some(error)).last().map_or_else(|| error.to_string(), ToString::to_string);
    if error.is_timeout() {
        let phase = if error.is_connect() { Phase::Connect } else { Phase::Answer };
        return Kind::TimedOut { phase, limit: connect_limit };
    }
    Kind::Other(clean(&last))
}

/// What a failure to connect means where the connection stood: part of the request may have gone out by then.
fn once_connected(kind: Kind, answered: bool) -> Kind {
    match kind {
        Kind::NameNotResolved { .. } | Kind::Refused | Kind::Unreachable(_) | Kind::Tls(_) if answered => {
            Kind::Broken(kind.to_string())
        }
        Kind::NameNotResolved { .. } | Kind::Refused | Kind::Unreachable(_) | Kind::Tls(_) => {
            Kind::Lost(kind.to_string())
        }
        other => other,
    }
}

/// The kind of an error of a plain socket or of TLS on it.
pub(super) fn of_io(error: &io::Error) -> Kind {
    known(error, false).unwrap_or_else(|| Kind::Other(clean(&error.to_string())))
}

fn known(error: &(dyn StdError + 'static), answered: bool) -> Option<Kind> {
    Chain(Some(error)).find_map(|cause| by_cause(cause, answered))
}

fn by_cause(cause: &(dyn StdError + 'static), answered: bool) -> Option<Kind> {
    if let Some(lookup) = cause.downcast_ref::<NameNotResolved>() {
        return Some(Kind::NameNotResolved { host: clean(&lookup.host), reason: clean(&lookup.reason) });
    }
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return Some(Kind::Tls(tls_fault(tls)));
    }
    if let Some(http) = cause.downcast_ref::<hyper::Error>() {
        if http.is_parse() || http.is_parse_too_large() {
            return Some(Kind::NotHttp(clean(&http.to_string())));
        }
        if http.is_incomplete_message() || http.is_closed() || http.is_canceled() {
            return Some(broken(answered, &http.to_string()));
        }
    }
    by_io(cause.downcast_ref::<io::Error>()?, answered)
}

fn by_io(io: &io::Error, answered: bool) -> Option<Kind> {
    match io.kind() {
        // NotFound: the socket of a tunnel that is gone.
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Some(Kind::Refused),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable | io::ErrorKind::AddrNotAvailable => {
            Some(Kind::Unreachable(clean(&io.to_string())))
        }
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => Some(broken(answered, &io.to_string())),
        _ => None,
    }
}

fn broken(answered: bool, why: &str) -> Kind {
    if answered { Kind::Broken(clean(why)) } else { Kind::ClosedBeforeAnswer }
}

pub(super) fn tls_fault(error: &rustls::Error) -> TlsFault {
    match error {
        rustls::Error::InvalidCertificate(fault) => certificate_fault(fault),
        rustls::Error::InvalidMessage(_) => TlsFault::NotTls,
        rustls::Error::AlertReceived(alert) => TlsFault::Alert(format!("{alert:?}")),
        other => TlsFault::Other(clean(&other.to_string())),
    }
}

fn certificate_fault(fault: &CertificateError) -> TlsFault {
    match fault {
        CertificateError::UnknownIssuer => TlsFault::UnknownIssuer,
        CertificateError::BadSignature => TlsFault::BadSignature,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => TlsFault::NotYetValid,
        CertificateError::NotValidForName => {
            TlsFault::NameMismatch { expected: "this host".to_owned(), presented: "other names".to_owned() }
        }
        CertificateError::NotValidForNameContext { expected, presented } => TlsFault::NameMismatch {
            expected: expected.to_str().into_owned(),
            presented: if presented.is_empty() { "no name at all".to_owned() } else { clean(&presented.join(", ")) },
        },
        CertificateError::Other(other) => match other.0.downcast_ref::<PinMismatch>() {
            Some(pin) => TlsFault::PinMismatch { expected: pin.expected, seen: pin.seen },
            None => TlsFault::Other(clean(&other.0.to_string())),
        },
        other => TlsFault::Other(clean(&other.to_string())),
    }
}

/// Every cause, also the ones an [`io::Error`] wraps: its `source` skips the wrapped error itself.
struct Chain<'a>(Option<&'a (dyn StdError + 'static)>);

impl<'a> Iterator for Chain<'a> {
    type Item = &'a (dyn StdError + 'static);

    fn next(&mut self) -> Option<Self::Item> {
        let current = self.0?;
        let wrapped = current.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        self.0 = match wrapped {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => current.source(),
        };
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::Outcome;
    use super::*;

    #[test]
    fn what_breaks_a_standing_connection_is_no_failure_to_connect() {
        let lost = io::Error::new(io::ErrorKind::HostUnreachable, "no route to host");
        assert_eq!(of_io(&lost).outcome(), Outcome::NotSent);
        let alert = Kind::Tls(TlsFault::Alert("CertificateRequired".to_owned()));
        for kind in [of_io(&lost), alert, Kind::Refused] {
            let before = once_connected(kind.clone(), false);
            assert_eq!(before, Kind::Lost(kind.to_string()));
            assert_eq!(before.outcome(), Outcome::Unknown);
            assert_eq!(once_connected(kind.clone(), true), Kind::Broken(kind.to_string()));
        }
        assert_eq!(once_connected(Kind::ClosedBeforeAnswer, false), Kind::ClosedBeforeAnswer);
    }
}
