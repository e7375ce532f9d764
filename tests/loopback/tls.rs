//! TLS servers on loopback, and certificates for them.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use deevnet_console::site::model::Trust;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A listener whose connections are handled by `handle`; it stops when dropped.
pub struct Listener {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Listener {
    pub async fn start<F>(handle: impl Fn(usize, TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            let mut count = 0;
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(handle(count, socket));
                count += 1;
            }
        });
        Self { address, task }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A certificate with its key, and the authority that signed it.
pub struct Identity {
    pub certificate: CertificateDer<'static>,
    pub key: Vec<u8>,
    ca_pem: String,
}

impl Identity {
    pub fn fingerprint(&self) -> [u8; 32] {
        Sha256::digest(&self.certificate).into()
    }

    /// A CA file with this identity's authority in it.
    pub fn ca_file(&self, dir: &tempfile::TempDir) -> Trust {
        let path: PathBuf = dir.path().join("ca.pem");
        std::fs::write(&path, &self.ca_pem).unwrap();
        Trust::CaFile(path)
    }
}

pub fn identity(name: &str, edit: impl FnOnce(&mut CertificateParams)) -> Identity {
    identity_by("Example CA", name, edit)
}

pub fn identity_by(authority: &str, name: &str, edit: impl FnOnce(&mut CertificateParams)) -> Identity {
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.distinguished_name.push(DnType::CommonName, authority);
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    edit(&mut params);
    let certificate = params.signed_by(&key, &ca).unwrap();
    Identity { certificate: certificate.der().clone(), key: key.serialize_der(), ca_pem: ca.pem() }
}

/// A TLS server that answers every request with a version.
pub async fn tls_server(identity: &Identity) -> Listener {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.clone()], PrivateKeyDer::Pkcs8(identity.key.clone().into()))
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Listener::start(move |_, socket| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(stream) = acceptor.accept(socket).await {
                super::answer_all(stream, usize::MAX).await;
            }
        }
    })
    .await
}

/// A server that shows a certificate and signs with another key.
#[derive(Debug)]
pub struct WrongKey {
    pub certificate: CertificateDer<'static>,
    pub key: Vec<u8>,
}

impl WrongKey {
    pub async fn serve(self) -> Listener {
        let key = PrivateKeyDer::Pkcs8(self.key.into());
        let signer = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
        let certified = rustls::sign::CertifiedKey::new(vec![self.certificate], signer);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(certified)));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Listener::start(move |_, socket| {
            let acceptor = acceptor.clone();
            async move { drop(acceptor.accept(socket).await) }
        })
        .await
    }
}
