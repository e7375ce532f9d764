//! Site files: good ones as values, bad ones as the whole text an operator gets to read.

#![cfg(test)]

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use deevnet_console::site::model::{BootstrapSite, PowerDnsMode, SecretSource, Transport, Trust};
use deevnet_console::site::{Site, UserConfig};

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
    assert_eq!((site.full_name("pve2"), site.full_name("elsewhere")), ("dv02hyp002p02", "elsewhere"));
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
    let resolvers = site.resolvers.unwrap();
    assert_eq!(resolvers.ask, "10.20.50.1:53".parse().unwrap(), "its own port 53");
    assert_eq!(resolvers.substrate, Some("10.20.99.1".parse().unwrap()));
    let Some(BootstrapSite::Api { trust, .. }) = site.bootstrap else { panic!("{:?}", site.bootstrap) };
    assert_eq!(trust, Trust::CaFile("/etc/pki/site-ca.pem".into()));
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
    assert_eq!((site.internet, site.bootstrap, site.registry, site.state_dir), (None, None, None, None));
    assert_eq!(site.warnings, Vec::<String>::new());
}

#[test]
fn check_ins_come_from_a_service_or_a_file() {
    let least = std::fs::read_to_string(data("good/home.toml")).unwrap();
    let with = |keys: &str| {
        let site = Site::parse(&format!("{least}\n[bootstrap]\n{keys}\n"), Path::new("/etc/console/home.toml"));
        site.map(|site| site.bootstrap).map_err(|errors| errors.to_string())
    };
    assert_eq!(with("file = \"records.jsonl\""), Ok(Some(BootstrapSite::File("/etc/console/records.jsonl".into()))));
    let both = with("file = \"r\"\nurl = \"https://10.20.25.20:8443\"").unwrap_err();
    assert!(both.contains("`url` and `file` exclude each other"), "{both}");
    let neither = with("").unwrap_err();
    assert!(neither.contains("[bootstrap] url: ") && neither.contains("[bootstrap] credential: "), "{neither}");
    let half = with("url = \"https://10.20.25.20:8443\"").unwrap_err();
    assert!(half.contains("a required key is missing") && half.contains("[bootstrap] credential: "), "{half}");
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let dir = tempfile::tempdir().unwrap();
    let told = |path: &Path| Site::load(path).unwrap_err().to_string();
    assert!(told(&dir.path().join("absent.toml")).starts_with("error: the file cannot be read: entity not found\n"));
    assert!(told(dir.path()).starts_with("error: this is not a regular file\n"));
    let latin = dir.path().join("latin.toml");
    std::fs::write(&latin, b"version = 1\n# caf\xe9\n").unwrap();
    assert!(told(&latin).starts_with("error: line 2 is not UTF-8\n"));
}

#[test]
fn paths_start_from_the_file_or_the_home_directory() {
    let text = std::fs::read_to_string(data("good/home.toml")).unwrap();
    let with = |path: &str| {
        let text = text.replace("{ env = \"PVE_TOKEN\" }", &format!("{{ file = \"{path}\" }}"));
        Site::parse(&text, Path::new("/etc/console/sites/home.toml")).map(|site| site.proxmox.token)
    };
    assert_eq!(with("token").unwrap(), SecretSource::File("/etc/console/sites/token".into()));
    assert_eq!(with("/run/token").unwrap(), SecretSource::File("/run/token".into()));
    let home = PathBuf::from(std::env::var_os("HOME").expect("tests run with a home directory"));
    assert_eq!(with("~/token").unwrap(), SecretSource::File(home.join("token")));
    assert!(with("~root/token").unwrap_err().to_string().contains("`~` is only understood as `~/`"));
}

#[test]
fn what_works_but_looks_wrong_is_a_warning() {
    let least = std::fs::read_to_string(data("good/home.toml")).unwrap();
    let warnings = |text: &str| Site::parse(text, Path::new("home.toml")).unwrap().warnings;
    assert_eq!(
        warnings(&least.replace("10.10.128.0/18", "10.20.128.0/18")),
        ["[numbering] overlay 10.20.128.0/18 lies outside of the site's 10.10.0.0/16"]
    );
    let opnsense = "\n[opnsense]\nurl = \"https://10.10.99.1\"\nkey = { env = \"K\" }\nsecret = { env = \"S\" }\n";
    assert_eq!(
        warnings(&format!("{least}{opnsense}transit = \"10.10.51.0/24\"\n")),
        ["[opnsense] transit 10.10.51.0/24 does not hold 10.10.50.21 of the exit node dv01hyp001p01"]
    );
    assert_eq!(warnings(&format!("{least}{opnsense}transit = \"10.10.50.0/24\"\n")), Vec::<String>::new());
}

#[test]
fn only_this_machine_is_loopback() {
    let least = std::fs::read_to_string(data("good/home.toml")).unwrap();
    let url = |url: &str| {
        Site::parse(&least.replace("http://[::1]:8006", url), Path::new("home.toml")).map(|site| site.proxmox.url)
    };
    for here in ["http://localhost:8006", "http://127.9.9.9:8006", "http://[::1]:8006", "https://pve.example:8006"] {
        assert_eq!(url(here).unwrap(), here);
    }
    for elsewhere in
        ["http://localhost.example", "http://128.0.0.1", "http://[::2]", "http://127.0.0.1.example", "http://0.0.0.0"]
    {
        assert!(url(elsewhere).unwrap_err().to_string().contains("sends secrets in plain text"), "{elsewhere}");
    }
    for odd in [
        "ftp://127.0.0.1",
        "127.0.0.1:8006",
        "http://",
        "http://127.0.0.1/?a",
        "http://127.0.0.1/#a",
        "http://127.0.0.1/a",
    ] {
        url(odd).expect_err(odd);
    }
}

#[test]
fn the_users_own_file() {
    let parse = |text: &str| UserConfig::parse(text, Path::new("config.toml"));
    let config = parse("theme = \"light\"\nascii = true\ndefault_site = \"mobile\"\n").unwrap();
    assert_eq!((config.theme.as_deref(), config.keymap, config.ascii), (Some("light"), None, Some(true)));
    assert_eq!(parse("").unwrap(), UserConfig::default());
    assert_eq!(UserConfig::load(Path::new("/nonexistent/config.toml")).unwrap(), UserConfig::default());
    let told = parse("them = \"light\"\nascii = 1\n[site]\nx = 1\n").unwrap_err().to_string();
    assert_eq!(
        told,
        "error: unknown key `them`\n --> config.toml:1:1\n  |\n1 | them = …\n  | ^^^^\n  = help: did you mean `theme`?\n\n\
         error: expected true or false, found an integer\n --> config.toml:2:9\n  |\n2 | ascii = 1\n  |         ^\n\n\
         error: unknown section `site`\n --> config.toml:3:2\n  |\n3 | [site]\n  |  ^^^^\n  = help: known are theme, keymap, ascii, default_site\n\n\
         config.toml: 3 errors"
    );
}

proptest::proptest! {
    /// Whatever the text, there is an answer; and a word that stands where a secret stands never shows.
    #[test]
    fn no_text_makes_it_panic_or_tell_a_secret(cut in 0_usize..2000, insert in "[\\PC\\n\\t\"'={}\\[\\]#]{0,6}", place in 0_usize..2000) {
        let whole = std::fs::read_to_string(data("good/mobile.toml")).unwrap()
            .replace("{ env = \"REGISTRY_TOKEN\" }", "\"hunter2\"");
        let mut text: String = whole.chars().take(whole.len() - cut.min(whole.len())).collect();
        let at = (0..=place.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        text.insert_str(at, &insert);
        if let Err(errors) = Site::parse(&text, Path::new("x.toml")) {
            let told = errors.to_string();
            proptest::prop_assert!(!told.contains("hunter2"), "{}", told);
            proptest::prop_assert!(!told.chars().any(|c| c.is_control() && c != '\n'), "{:?}", told);
        }
    }
}
