//! The API through an ssh tunnel: a real sshd and a real PowerDNS on loopback.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict; a skip and a measurement are said aloud"
)]

mod powerdns_common;

use std::path::PathBuf;
use std::time::Duration;

use deevnet_console::backends::exit_node::error::Error as SshError;
use deevnet_console::backends::exit_node::transport::SshOptions;
use deevnet_console::backends::http::Limits;
use deevnet_console::backends::powerdns::{Client, Error, Name};
use deevnet_console::site::model::{PowerDnsMode, PowerDnsSite};
use powerdns_common::{KEY, Pdns, shown};
use zeroize::Zeroizing;

const DEADLINE: Duration = Duration::from_secs(15);

fn through(server: &Pdns) -> PowerDnsSite {
    PowerDnsSite { mode: PowerDnsMode::Tunnel, ..server.site() }
}

fn options(server: &Pdns, config: PathBuf) -> SshOptions {
    SshOptions { config: Some(config), control_directory: Some(server.directory().to_path_buf()) }
}

async fn connect(site: &PowerDnsSite, options: &SshOptions) -> Result<Client, Error> {
    Client::connect(site, Zeroizing::new(KEY.to_owned()), Limits::default(), options, DEADLINE).await
}

#[tokio::test]
async fn a_tunnel_carries_the_api_and_leaves_nothing_behind() {
    let Some(mut server) = Pdns::up("a_tunnel_carries_the_api_and_leaves_nothing_behind") else { return };
    server.add_zone("here.example.");
    let config = server.ssh_up(true);
    let (site, options) = (through(&server), options(&server, config));
    let client = connect(&site, &options).await.unwrap();
    assert_eq!(client.origin(), server.origin(), "the far end's own address, in messages and in the Host header");
    assert_eq!(client.zone(&Name::new("here.example")).await.unwrap().served(), 2);
    let tunnel = client.tunnel().unwrap();
    let socket = tunnel.socket();
    assert!(socket.exists());
    assert!(!format!("{client:?}").contains(KEY));

    server.stop();
    let error = client.server().await.unwrap_err();
    assert!(matches!(&error, Error::TunnelFarEnd { destination, .. } if destination == "tunnel"), "{error:?}");
    assert!(shown(&error).contains("webserver-allow-from") && error.is_transient());
    server.start("");
    client.server().await.unwrap();

    let second = client.clone();
    drop(client);
    second.server().await.unwrap();
    drop(second);
    assert!(!socket.exists() && !socket.parent().unwrap().exists(), "the socket goes with the last client");
}

#[tokio::test]
async fn a_tunnel_that_dies_is_opened_again() {
    let Some(mut server) = Pdns::up("a_tunnel_that_dies_is_opened_again") else { return };
    let config = server.ssh_up(true);
    let (site, options) = (through(&server), options(&server, config));
    let client = connect(&site, &options).await.unwrap();
    client.server().await.unwrap();
    server.cut();
    // Both of them find it gone; it is opened once.
    let (one, other) = tokio::join!(client.server(), client.statistics());
    assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
    // ssh may leave its socket, on which nobody listens then, or none.
    let socket = client.tunnel().unwrap().socket();
    server.cut();
    if !socket.exists() {
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    }
    client.server().await.unwrap();
    server.cut();
    std::fs::remove_file(&socket).ok();
    client.server().await.unwrap();
    server.cut();
    server.ssh_down();
    let error = client.server().await.unwrap_err();
    assert_eq!(error, Error::Tunnel(SshError::ConnectionRefused { destination: "tunnel".to_owned() }));
    assert!(error.is_transient());
    shown(&error);
}

#[tokio::test]
async fn a_tunnel_that_cannot_be_opened_says_why() {
    let Some(mut server) = Pdns::up("a_tunnel_that_cannot_be_opened_says_why") else { return };
    let config = server.ssh_up(false);
    let mut site = through(&server);
    let options = options(&server, config.clone());
    let client = connect(&site, &options).await.unwrap();
    let forbidden = client.server().await.unwrap_err();
    assert!(matches!(forbidden, Error::TunnelFarEnd { .. }), "sshd forbids forwarding: {forbidden:?}");
    assert!(shown(&forbidden).contains("TCP forwarding"));
    drop(client);

    // The host's key is not known.
    let known = config.with_file_name("known_hosts");
    std::fs::write(&known, "").unwrap();
    let error = connect(&site, &options).await.unwrap_err();
    assert_eq!(error, Error::Tunnel(SshError::HostUnknown { destination: "tunnel".to_owned() }));
    shown(&error);

    site.tunnel = Some("127.0.0.1:1".to_owned());
    let error = connect(&site, &options).await.unwrap_err();
    assert!(matches!(error, Error::Tunnel(_)), "{error:?}");

    let nowhere = SshOptions { control_directory: Some(PathBuf::from("/nowhere/at/all")), ..options };
    let error = connect(&site, &nowhere).await.unwrap_err();
    assert!(matches!(error, Error::TunnelSocket { .. }), "{error:?}");
    let left = std::fs::read_dir(server.directory()).unwrap().count();
    assert_eq!(left, 1, "only the server's data is left");
}
