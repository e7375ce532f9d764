//! Trust as a TLS client configuration.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

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
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS cannot be set up: {e}"))?;
    let config = match trust {
        Trust::Plaintext => builder.with_root_certificates(RootCertStore::empty()),
        Trust::System => {
            let verifier = rustls_platform_verifier::Verifier::new(provider)
                .map_err(|e| format!("the system's certificate store cannot be used: {e}"))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        Trust::CaFile(path) => {
            let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots(path)?), provider)
                .build()
                .map_err(|e| format!("CA file {}: {e}", path.display()))?;
            builder.dangerous().with_custom_certificate_verifier(verifier)
        }
        Trust::Fingerprint(expected) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(PinVerifier { expected: *expected, provider })),
    };
    Ok(config.with_no_client_auth())
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

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
