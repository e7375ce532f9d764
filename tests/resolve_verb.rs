//! `resolve` as a program: its codes, its document, its table. Everything it asks is on loopback.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

mod dns_common;

use std::path::PathBuf;
use std::process::{Output, Stdio};

use dns_common::{Server, bytes, empty, with_a};
use hickory_proto::op::{Message, ResponseCode};
use serde_json::Value;
use tokio::net::UdpSocket;

/// Addresses of the resolvers, on the port that a site file cannot change.
const PERIMETER: &str = "127.87.0.1";
const HOST: &str = "127.87.0.3";

struct Site {
    dir: tempfile::TempDir,
    file: PathBuf,
}

/// A site whose Proxmox is not there; the exit node answers with what the file `frame` holds.
fn site(authority: &Server) -> Site {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("frame"), "").unwrap();
    std::fs::write(at("resolv.conf"), format!("nameserver {HOST}\noptions timeout:1 attempts:1\n")).unwrap();
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
vmids_per_tenant = 40
reserved_names = ["api"]
[proxmox]
url = "https://127.0.0.1:1"
token = {{ env = "NO_SUCH_TOKEN" }}
node = "hv02"
controller = "evpn1"
[[exit_node]]
name = "hv02"
transport = {{ command = ["sh", "-c", "cat >/dev/null; cat {frame}"] }}
transit_interface = "vmbr0.50"
transit_address = "10.20.50.22"
transit_gateway = "10.20.50.1"
[powerdns]
mode = "dns-only"
dns = "{authority}"
[resolvers]
perimeter = "{PERIMETER}"
"#,
        frame = at("frame").display(),
        authority = authority.addr,
    );
    let file = at("mobile.toml");
    std::fs::write(&file, text).unwrap();
    Site { dir, file }
}

async fn resolve(site: &Site, args: &[&str]) -> Output {
    let resolv = site.dir.path().join("resolv.conf");
    tokio::process::Command::new(env!("CARGO_BIN_EXE_deevnet-console"))
        .arg("--site")
        .arg(&site.file)
        .arg("resolve")
        .args(args)
        .arg("--resolv-conf")
        .arg(resolv)
        .env("HOME", site.dir.path())
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "120")
        .env_remove("NO_SUCH_TOKEN")
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap()
}

fn api(address: [u8; 4]) -> impl Fn(&Message) -> Vec<Vec<u8>> {
    move |asked| {
        let known = asked.queries[0].name.to_string() == "api.mobile.example.";
        vec![bytes(&if known { with_a(asked, address) } else { empty(asked, ResponseCode::NXDomain) })]
    }
}

/// Sends what comes to `address`:53 on to `server`; `None` where that port may not be opened.
async fn on_port_53(test: &str, address: &str, server: &Server) -> Option<tokio::task::JoinHandle<()>> {
    let Ok(socket) = UdpSocket::bind((address, 53)).await else {
        eprintln!("SKIPPED part of {test}: {address}:53 may not be opened here");
        return None;
    };
    let behind = server.addr;
    Some(tokio::spawn(async move {
        let mut buffer = vec![0; 4096];
        while let Ok((len, from)) = socket.recv_from(&mut buffer).await {
            let relay = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            relay.send_to(&buffer[..len], behind).await.unwrap();
            let (len, _) = relay.recv_from(&mut buffer).await.unwrap();
            let _ = socket.send_to(&buffer[..len], from).await;
        }
    }))
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[tokio::test]
async fn codes_document_and_table() {
    let test = "codes_document_and_table";
    let authority = Server::udp(api([10, 20, 25, 20])).await;
    let site = site(&authority);
    let usage = resolve(&site, &["a b"]).await;
    assert_eq!(usage.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&usage.stderr).contains("is not a DNS name"), "{usage:?}");
    assert_eq!(resolve(&site, &["10.20.129.10", "TXT"]).await.status.code(), Some(2));
    assert_eq!(resolve(&site, &["x.example", "ANY"]).await.status.code(), Some(2));

    // Nobody answers but the authority: unknown, each with its reason and remedy.
    let alone = resolve(&site, &["api.mobile.example", "-o", "json"]).await;
    assert_eq!(alone.status.code(), Some(3), "{alone:?}");
    let document = json(&alone);
    assert_eq!(document["schema"], "deevnet-console/resolve/v1");
    let states: Vec<&str> =
        document["columns"].as_array().unwrap().iter().map(|c| c["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["same", "unknown", "not compared", "not compared", "unknown"]);
    assert_eq!(document["columns"][0]["answer"]["values"][0], "10.20.25.20");
    assert!(document["columns"][1]["why"].as_str().unwrap().contains("refuses connections"));
    assert_eq!(document["columns"][2]["outcome"], "not configured");
    assert_eq!(document["expected"]["state"], "nothing");

    let same = Server::udp(api([10, 20, 25, 20])).await;
    let other = Server::udp(api([6, 6, 6, 6])).await;
    let Some(perimeter) = on_port_53(test, PERIMETER, &same).await else { return };
    let host = on_port_53(test, HOST, &same).await.unwrap();
    let agree = resolve(&site, &["api.mobile.example"]).await;
    assert_eq!(agree.status.code(), Some(0), "{agree:?}");
    let table = String::from_utf8(agree.stdout).unwrap();
    assert!(table.contains("AUTHORITATIVE") && table.contains("THIS HOST") && table.contains("✓ same"), "{table}");
    let [title, asked, how, ..] = table.lines().skip(1).collect::<Vec<_>>()[..] else { panic!("{table}") };
    assert!(title.contains("EXPECTED") && asked.contains(PERIMETER) && how.contains("no recursion, udp"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    host.abort();
    let _ = host.await;
    let host = on_port_53(test, HOST, &other).await.unwrap();
    let differ = resolve(&site, &["api.mobile.example", "-o", "yaml"]).await;
    assert_eq!(differ.status.code(), Some(1), "{differ:?}");
    assert!(String::from_utf8_lossy(&differ.stdout).contains("state: differs"));
    perimeter.abort();
    host.abort();
}
