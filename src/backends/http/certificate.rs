//! What a certificate says about itself, for an operator to compare.

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

use super::text::clean;

/// A server's certificate, read and not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// SHA-256 of the whole certificate, as pins name it.
    pub sha256: [u8; 32],
    /// Subject, cleaned; `None` where the certificate cannot be taken apart.
    pub subject: Option<String>,
    /// Issuer, cleaned.
    pub issuer: Option<String>,
    /// DNS names and addresses it is for, cleaned.
    pub names: Vec<String>,
    /// First and last moment of its validity.
    pub validity: Option<(Timestamp, Timestamp)>,
}

impl Certificate {
    /// Reads `der`. What cannot be read is absent; the fingerprint is always there.
    #[must_use]
    pub fn read(der: &[u8]) -> Self {
        let sha256 = Sha256::digest(der).into();
        let Ok((_, read)) = X509Certificate::from_der(der) else {
            return Self { sha256, subject: None, issuer: None, names: Vec::new(), validity: None };
        };
        let moment = |time: x509_parser::time::ASN1Time| Timestamp::from_second(time.timestamp()).ok();
        let alternative = read.subject_alternative_name().ok().flatten();
        let names = alternative.map(|found| found.value.general_names.iter().filter_map(name).collect());
        Self {
            sha256,
            subject: Some(clean(&read.subject().to_string())),
            issuer: Some(clean(&read.issuer().to_string())),
            names: names.unwrap_or_default(),
            validity: moment(read.validity().not_before).zip(moment(read.validity().not_after)),
        }
    }

    /// Whether it names itself as its issuer.
    #[must_use]
    pub fn is_self_issued(&self) -> bool {
        self.subject.is_some() && self.subject == self.issuer
    }
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some(clean(name)),
        GeneralName::IPAddress(bytes) => match <[u8; 4]>::try_from(*bytes) {
            Ok(four) => Some(std::net::Ipv4Addr::from(four).to_string()),
            Err(_) => <[u8; 16]>::try_from(*bytes).ok().map(|all| std::net::Ipv6Addr::from(all).to_string()),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_certificate_is_read_and_rubbish_has_a_fingerprint() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params =
            rcgen::CertificateParams::new(vec!["hyp1.example".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "hyp1\u{1b}[2J");
        params.not_before = rcgen::date_time_ymd(2026, 1, 2);
        params.not_after = rcgen::date_time_ymd(2027, 1, 2);
        let made = params.self_signed(&key).unwrap();
        let read = Certificate::read(made.der());
        assert_eq!(read.names, ["hyp1.example", "127.0.0.1"]);
        assert!(read.is_self_issued() && !read.subject.as_deref().unwrap().contains('\u{1b}'), "{read:?}");
        let (from, to) = read.validity.unwrap();
        assert_eq!((from.to_string(), to.to_string()), ("2026-01-02T00:00:00Z".into(), "2027-01-02T00:00:00Z".into()));
        let rubbish = Certificate::read(b"no certificate");
        assert_eq!((rubbish.subject, rubbish.validity), (None, None));
        assert_eq!(rubbish.sha256, <[u8; 32]>::from(Sha256::digest(b"no certificate")));
    }
}
