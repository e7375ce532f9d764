//! Trust as a TLS client configuration.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256};

use crate::site::model::Trust;

/// A SHA-256 fingerprint as Proxmox and browsers show it: upper-case pairs joined by colons.
#[must_use]
pub fn fingerprint_text(fingerprint: &[u8; 32]) -> String {
    let mut text = String::with_capacity(95);
    for byte in fingerprint {
        if !text.is_empty() {
            text.push(':');
        }
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02X}");
    }
    text
}

/// The presented certificate is not the pinned one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PinMismatch {
    pub expected: [u8; 32],
    pub seen: [u8; 32],
}

impl std::fmt::Display for PinMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected {}, got {}", fingerprint_text(&self.expected), fingerprint_text(&self.seen))
    }
}

impl std::error::Error for PinMismatch {}

/// The TLS configuration for `trust`, on the ring provider. For [`Trust::Plaintext`] it trusts nobody.
pub(super) fn client_config(trust: &Trust) -> Result<ClientConfig, String> {
    config_with(verifier(trust)?)
}

/// A configuration in which `verifier` alone says whom to trust.
pub(super) fn config_with(verifier: Arc<dyn ServerCertVerifier>) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS cannot be set up: {e}"))?;
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// Who judges a server's certificate under `trust`.
pub(super) fn verifier(trust: &Trust) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let provider = Arc::new(ring::default_provider());
    Ok(match trust {
        Trust::Plaintext => Arc::new(Nobody(provider)),
        Trust::System => {
            let verifier = rustls_platform_verifier::Verifier::new(provider)
                .map_err(|e| format!("the system's certificate store cannot be used: {e}"))?;
            Arc::new(verifier)
        }
        Trust::CaFile(path) => WebPkiServerVerifier::builder_with_provider(Arc::new(roots(path)?), provider)
            .build()
            .map_err(|e| format!("CA file {}: {e}", path.display()))?,
        Trust::Fingerprint(expected) => Arc::new(PinVerifier { expected: *expected, provider }),
    })
}

fn roots(path: &Path) -> Result<RootCertStore, String> {
    let fault = |why: String| format!("CA file {}: {why}", path.display());
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| fault(e.to_string()))? {
        let certificate = certificate.map_err(|e| fault(e.to_string()))?;
        store.add(certificate).map_err(|e| fault(e.to_string()))?;
    }
    if store.is_empty() {
        return Err(fault("holds no certificate".to_owned()));
    }
    Ok(store)
}

/// The part of a verifier that checks that the peer holds its certificate's key; `$provider` is the field with the
/// algorithms.
macro_rules! signatures {
    ($provider:tt) => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            verify_tls12_signature(message, cert, dss, &self.$provider.signature_verification_algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            verify_tls13_signature(message, cert, dss, &self.$provider.signature_verification_algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.$provider.signature_verification_algorithms.supported_schemes()
        }
    };
}

/// Accepts exactly one end-entity certificate, whatever its names, dates and issuer say, and still checks that the
/// peer holds its key.
#[derive(Debug)]
struct PinVerifier {
    expected: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let seen: [u8; 32] = Sha256::digest(end_entity).into();
        if seen == self.expected {
            return Ok(ServerCertVerified::assertion());
        }
        let mismatch = PinMismatch { expected: self.expected, seen };
        Err(CertificateError::Other(OtherError(Arc::new(mismatch))).into())
    }

    signatures!(provider);
}

/// Trusts no certificate: where no TLS is meant.
#[derive(Debug)]
struct Nobody(Arc<CryptoProvider>);

impl ServerCertVerifier for Nobody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Err(CertificateError::UnknownIssuer.into())
    }

    signatures!(0);
}

/// Writes down the certificate that a server shows and what `inner` says to it, and lets the handshake go on: for a look
/// that sends nothing secret. The server must still prove that it holds the certificate's key.
#[derive(Debug)]
pub(super) struct Recorder {
    /// Who judges; `None` = nobody can, and why is known elsewhere.
    inner: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
    seen: Mutex<Option<Shown>>,
}

/// What a server showed.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    /// Its own certificate, DER.
    pub certificate: Vec<u8>,
    /// What the configured trust says to it; `None` where nobody could judge.
    pub verdict: Option<Result<(), rustls::Error>>,
}

impl Recorder {
    pub(super) fn new(inner: Option<Arc<dyn ServerCertVerifier>>) -> Self {
        Self { inner, provider: Arc::new(ring::default_provider()), seen: Mutex::default() }
    }

    pub(super) fn take(&self) -> Option<Shown> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let judged = self.inner.as_ref().map(|inner| {
            inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now).map(drop)
        });
        let shown = Shown { certificate: end_entity.as_ref().to_vec(), verdict: judged };
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        Ok(ServerCertVerified::assertion())
    }

    signatures!(provider);
}
