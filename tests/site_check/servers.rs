//! Servers that are wrong in one way each, and secrets that cannot be had.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::setup_common::{Ran, only, program, run};

/// Must never be printed.
const CANARY: &str = "c4n4ry00-1111-4222-8333-444455556666";

/// A site whose parts are all dead, but for what a test puts in.
struct Site {
    dir: tempfile::TempDir,
}

impl Site {
    /// With this in `[proxmox]`, and this behind all sections.
    fn new(proxmox: &str, more: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let text = format!(
            r#"version = 1
[site]
name = "mobile"
domain = "mobile.example"
octet = 20
[numbering]
vrf_vni_base = 10000
vnet_vni_base = 20000
overlay = "10.20.128.0/18"
asn = 65020
vmid_base = 2000
[proxmox]
{proxmox}
node = "hyp1"
controller = "evpn1"
[[exit_node]]
name = "hyp1"
transport = {{ command = ["false"] }}
transit_interface = "vmbr0.50"
transit_address = "10.20.50.22"
transit_gateway = "10.20.50.1"
{more}
"#
        );
        let site = Self { dir };
        std::fs::write(site.path("site.toml"), text).unwrap();
        std::fs::write(site.path("resolv.conf"), "nameserver 127.88.1.1\noptions timeout:1 attempts:1\n").unwrap();
        std::fs::write(site.path("token"), format!("ops@pve!console={CANARY}\n")).unwrap();
        site.mode(0o600);
        site
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn mode(&self, mode: u32) {
        std::fs::set_permissions(self.path("token"), PermissionsExt::from_mode(mode)).unwrap();
    }

    async fn check(&self) -> Ran {
        let mut command = program(self.dir.path());
        command.arg("--site").arg(self.path("site.toml"));
        command.args(["site", "check", "-o", "json", "--timeout", "2", "--resolv-conf"]).arg(self.path("resolv.conf"));
        command.env_remove("NO_SUCH_TOKEN").env("CANARY_TOKEN", format!("ops@pve!console={CANARY}"));
        let ran = run(command).await;
        assert!(!ran.all().contains(CANARY), "{}", ran.all());
        ran
    }
}

/// A certificate with its key.
struct Identity {
    certificate: rustls::pki_types::CertificateDer<'static>,
    key: Vec<u8>,
}

impl Identity {
    fn new(edit: impl FnOnce(&mut CertificateParams)) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        edit(&mut params);
        let made = params.self_signed(&key).unwrap();
        Self { certificate: made.der().clone(), key: key.serialize_der() }
    }

    fn fingerprint(&self) -> String {
        let digest = Sha256::digest(&self.certificate);
        digest.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
    }

    fn pem(&self) -> String {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(&self.certificate);
        format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
    }

    fn acceptor(&self) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], PrivateKeyDer::Pkcs8(self.key.clone().into()))
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Answers every request on every connection with 401 and this clock; the origin without its scheme.
async fn server(tls: Option<TlsAcceptor>, ahead_s: i64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let tls = tls.clone();
            tokio::spawn(async move {
                match tls {
                    None => answer(socket, ahead_s).await,
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(socket).await {
                            answer(stream, ahead_s).await;
                        }
                    }
                }
            });
        }
    });
    address.to_string()
}

async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, ahead_s: i64) {
    let mut bytes = [0; 4096];
    while let Ok(1..) = stream.read(&mut bytes).await {
        let now = deevnet_console::runtime::clock::now();
        let theirs = now.checked_add(jiff::SignedDuration::from_secs(ahead_s)).unwrap();
        let date = theirs.strftime("%a, %d %b %Y %H:%M:%S GMT");
        let head = format!("HTTP/1.1 401 No ticket\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n");
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_pin_shows_both_fingerprints_and_sends_no_token() {
    let identity = Identity::new(|_| {});
    let at = server(Some(identity.acceptor()), 0).await;
    let other = "AB:".repeat(31) + "AB";
    let site =
        Site::new(&format!("url = \"https://{at}\"\ntoken = {{ file = \"token\" }}\nfingerprint = \"{other}\""), "");
    let ran = site.check().await;
    let document = ran.json();
    let tls = only(&document, "pve", "TLS");
    assert_eq!((ran.code, tls["state"].as_str()), (Some(1), Some("fault")));
    let evidence = tls["evidence"].to_string();
    assert!(evidence.contains(&other) && evidence.contains(&identity.fingerprint()), "{evidence}");
    assert!(tls["commands"].to_string().contains("openssl x509 -noout -fingerprint -sha256"), "{tls}");
    let token = only(&document, "pve", "token");
    assert_eq!(token["state"], "not run");
    assert!(token["text"].as_str().unwrap().contains("not trusted"), "{token}");
    // The right pin, and the rest goes on.
    let pinned = identity.fingerprint();
    let site = Site::new(
        &format!("url = \"https://{at}\"\ntoken = {{ env = \"CANARY_TOKEN\" }}\nfingerprint = \"{pinned}\""),
        "",
    );
    let document = site.check().await.json();
    assert_eq!(only(&document, "pve", "TLS")["text"], "pin matches");
    assert_eq!(only(&document, "pve", "token")["state"], "fault");
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_that_are_not_trusted_say_why() {
    let fresh = Identity::new(|_| {});
    let expired = Identity::new(|params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
    let early = Identity::new(|params| params.not_before = rcgen::date_time_ymd(2090, 1, 1));
    for (identity, ca, text, help) in [
        (&fresh, false, "signed by itself", "pin it"),
        (&expired, true, "expired", "Renew"),
        (&early, true, "not valid yet", "clocks"),
    ] {
        let at = server(Some(identity.acceptor()), 0).await;
        let trust = if ca { "ca_file = \"ca.pem\"" } else { "" };
        let site = Site::new(&format!("url = \"https://{at}\"\ntoken = {{ file = \"token\" }}\n{trust}"), "");
        std::fs::write(site.path("ca.pem"), identity.pem()).unwrap();
        let document = site.check().await.json();
        let tls = only(&document, "pve", "TLS");
        assert_eq!(tls["state"], "fault", "{tls}");
        assert!(tls["text"].as_str().unwrap().contains(text), "{tls:#}");
        assert!(tls["help"].as_str().unwrap().contains(help), "{tls:#}");
        let evidence = tls["evidence"].to_string();
        assert!(evidence.contains(&identity.fingerprint()) && evidence.contains("valid "), "{tls:#}");
        assert_eq!(evidence.contains("this host's clock"), ca, "{tls:#}");
        assert_eq!(only(&document, "pve", "token")["state"], "not run");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_off_is_told_with_its_bound() {
    for (ahead_s, state, words) in [(0, "ok", "agrees"), (90, "warning", "ahead"), (-700, "fault", "behind")] {
        let at = server(None, ahead_s).await;
        let site = Site::new(&format!("url = \"http://{at}\"\ntoken = {{ file = \"token\" }}"), "");
        let document = site.check().await.json();
        let clock = only(&document, "pve", "clock");
        assert_eq!(clock["state"], state, "{clock}");
        assert!(clock["text"].as_str().unwrap().contains(words), "{clock}");
        assert_eq!(clock["help"].as_str().is_some_and(|help| help.contains("300 s")), ahead_s != 0, "{clock}");
        // Loopback is no place to read secrets on the way.
        assert_eq!(only(&document, "pve", "TLS")["state"], "off");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_that_are_dead_or_silent_are_bounded_and_hold_nobody_up() {
    let dead = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let alive = server(None, 0).await;
    let more = format!(
        "[bootstrap]\nurl = \"https://{}\"\ncredential = {{ file = \"token\" }}\n[registry]\nurl = \"http://{alive}\"\ntoken = \
         {{ file = \"token\" }}",
        silent.local_addr().unwrap()
    );
    let site = Site::new(&format!("url = \"https://{dead}\"\ntoken = {{ file = \"token\" }}"), &more);
    let document = site.check().await.json();
    let reach = only(&document, "pve", "reach");
    assert_eq!((reach["state"].as_str(), reach["text"].as_str()), (Some("fault"), Some("connection refused")));
    for what in ["token", "rights"] {
        assert_eq!(only(&document, "pve", what)["state"], "not run", "{what}");
    }
    assert_eq!(only(&document, "boot", "reach")["state"], "ok");
    let tls = only(&document, "boot", "TLS");
    assert!(tls["text"].as_str().unwrap().contains("no progress within 2s"), "{tls}");
    assert_eq!(only(&document, "registry", "status")["text"], "HTTP 401 to GET /");
    assert_eq!(only(&document, "exit hyp1", "transport")["state"], "fault");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_that_cannot_be_had_are_the_configurations_fault() {
    let at = server(None, 0).await;
    for (source, mode, text, help) in [
        ("{ file = \"token\" }", 0o644, "its mode 0644 lets others in", "chmod 600"),
        ("{ env = \"NO_SUCH_TOKEN\" }", 0o600, "it is not set", "set NO_SUCH_TOKEN"),
        ("{ file = \"nowhere\" }", 0o600, "cannot be read", "install -m 600"),
        ("{ command = [\"false\"] }", 0o600, "failed with status 1", "by hand"),
        ("{ command = [\"echo\", \"no-token\"] }", 0o600, "not of the form", "Store the whole token"),
    ] {
        let site = Site::new(&format!("url = \"http://{at}\"\ntoken = {source}"), "");
        site.mode(mode);
        let ran = site.check().await;
        let document = ran.json();
        let secret = only(&document, "pve", "secret");
        assert_eq!((ran.code, secret["state"].as_str()), (Some(2), Some("fault")), "{source}: {secret:#}");
        assert!(secret["text"].as_str().unwrap().contains(text), "{secret:#}");
        assert!(secret["help"].as_str().unwrap().contains(help), "{secret:#}");
        assert_eq!(only(&document, "pve", "token")["state"], "not run");
        assert_eq!(only(&document, "pve", "reach")["state"], "ok", "the way there is tried all the same");
    }
}
