//! The lab's certificate authority and its server certificate, made anew at every start.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest, Sha256};
use tokio_rustls::TlsAcceptor;

use super::LabError;

/// What a client needs to trust the lab, and what the lab needs to be trusted.
pub(super) struct Identity {
    pub(super) acceptor: TlsAcceptor,
    /// The authority's certificate.
    pub(super) ca_pem: String,
    /// SHA-256 of the server's certificate, upper-case pairs joined by colons.
    pub(super) fingerprint: String,
}

/// Makes an identity for loopback.
pub(super) fn make() -> Result<Identity, LabError> {
    let certificate = |error: rcgen::Error| LabError::Certificate(error.to_string());
    let ca_key = KeyPair::generate().map_err(certificate)?;
    let mut ca_params = CertificateParams::new(Vec::new()).map_err(certificate)?;
    ca_params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca_params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    ca_params.distinguished_name.push(DnType::CommonName, "deevnet lab authority");
    let ca = ca_params.self_signed(&ca_key).map_err(certificate)?;
    let issuer = Issuer::new(ca_params, ca_key);

    let key = KeyPair::generate().map_err(certificate)?;
    let mut params =
        CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).map_err(certificate)?;
    params.distinguished_name.push(DnType::CommonName, "dv02hyp002p02.lab");
    let leaf = params.signed_by(&key, &issuer).map_err(certificate)?;

    let print = Sha256::digest(leaf.der());
    let fingerprint = print.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":");
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let tls = |error: rustls::Error| LabError::Certificate(error.to_string());
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(tls)?
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone(), ca.der().clone()], private)
        .map_err(tls)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Identity { acceptor: TlsAcceptor::from(Arc::new(config)), ca_pem: ca.pem(), fingerprint })
}
