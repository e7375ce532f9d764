//! Site files: good ones as values, bad ones as the whole text an operator gets to read.

#![cfg(test)]

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use deevnet_console::site::Site;
use deevnet_console::site::model::{PowerDnsMode, SecretSource, Transport, Trust};

fn data(dir: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sites").join(dir)
}

fn good(name: &str) -> Site {
    let path = data("good").join(name);
    Site::load(&path).unwrap_or_else(|errors| panic!("{errors}"))
}

/// What is said about a file.
fn complaint(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let errors = Site::parse(&text, Path::new(path.file_name().unwrap())).expect_err(&path.display().to_string());
    format!("{errors}\n")
}

/// With `UPDATE_EXPECTED` set the expected texts are written instead, to be read before they are committed.
#[test]
fn every_bad_file_says_exactly_this() {
    let mut files: Vec<_> = std::fs::read_dir(data("bad")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    assert!(files.len() >= 20, "the bad files are gone");
    for path in files {
        let found = complaint(&path);
        assert!(!found.contains("hunter2"), "a secret shows:\n{found}");
        assert!(!found.chars().any(|c| c.is_control() && c != '\n'), "a control character shows:\n{found:?}");
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&expected, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&expected).unwrap_or_default();
        assert!(found == expected, "{}:\n--- expected\n{expected}--- found\n{found}", path.display());
    }
}

#[test]
fn a_whole_site_comes_out_as_written() {
    let site = good("mobile.toml");
    let dir = data("good");
    assert_eq!((site.name.as_str(), site.domain.as_str(), site.octet), ("mobile", "mobile.deevnet.net", 20));
    assert!(site.read_only);
    assert_eq!(site.short_name("dv02hyp002p02"), "hv02");
    assert_eq!(site.numbering.vnet_vni_base, 20_000);
    assert_eq!(site.numbering.reserved_names, ["api", "tdns", "tfstate"]);
    assert_eq!(site.proxmox.url, "https://10.20.99.22:8006", "no trailing slash");
    assert_eq!(site.proxmox.token, SecretSource::File(dir.join("secrets/pve-token")));
    let Trust::Fingerprint(pin) = site.proxmox.trust else { panic!("{:?}", site.proxmox.trust) };
    assert_eq!(pin[..5], [0xaa, 0xbb, 0xcc, 0xdd, 0x00]);
    let [first, second] = site.exit_nodes.as_slice() else { panic!("{:?}", site.exit_nodes) };
    assert_eq!(first.transport, Transport::Ssh("hv02".to_owned()));
    assert_eq!(first.transit_address, Ipv4Addr::new(10, 20, 50, 22));
    assert_eq!(first.egress_apply.as_deref().map(<[_]>::len), Some(2));
    assert_eq!(second.transport, Transport::Command(["ip", "netns", "exec", "node3"].map(str::to_owned).to_vec()));
    assert_eq!(second.egress_apply, None);
    let powerdns = site.powerdns.unwrap();
    assert_eq!((powerdns.mode, powerdns.trust), (PowerDnsMode::Api, Trust::Plaintext));
    assert_eq!(powerdns.dns, "10.20.25.21:53".parse().unwrap());
    assert_eq!(powerdns.update_networks.len(), 2);
    assert_eq!(site.opnsense.unwrap().trust, Trust::CaFile(dir.join("../ca/site-ca.pem")));
    assert_eq!(site.resolvers.unwrap().substrate, Some("10.20.99.1".parse().unwrap()));
    assert_eq!(site.bootstrap.unwrap().trust, Trust::CaFile("/etc/pki/site-ca.pem".into()));
    assert_eq!(site.registry.unwrap().trust, Trust::System);
    assert_eq!(site.state_dir.as_deref(), Some(Path::new("/var/lib/deevnet-console")));
    assert_eq!(
        site.warnings,
        ["[powerdns] http://10.20.25.21:8081 is spoken to in plain text: secrets can be read on the way"]
    );
}

#[test]
fn the_least_a_site_can_say() {
    let site = good("home.toml");
    assert!(!site.read_only);
    assert_eq!(site.numbering.vmids_per_tenant, 40);
    assert_eq!(site.numbering.reserved_names, Vec::<String>::new());
    assert_eq!(site.proxmox.trust, Trust::Plaintext, "loopback needs no `plaintext`");
    assert_eq!((site.powerdns, site.opnsense, site.resolvers), (None, None, None));
    assert_eq!((site.bootstrap, site.registry, site.state_dir), (None, None, None));
    assert_eq!(site.warnings, Vec::<String>::new());
}
