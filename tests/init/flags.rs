//! Every answer as a flag.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use deevnet_console::site::Site;

use super::setup_common::{Ran, Whole, program, run};

/// The flags that a script gives for the lab: what Proxmox and the exit node tell is left to them.
fn flags(whole: &Whole) -> Vec<String> {
    let file = |name: &str| whole.lab.dir().join(name).display().to_string();
    let text = whole.lab.site_toml();
    let value = |section: &str, key: &str| {
        let part = text.split(&format!("[{section}]")).nth(1).unwrap();
        let line = part.lines().find_map(|line| line.strip_prefix(&format!("{key} = "))).unwrap();
        line.to_owned()
    };
    let exit = value("[exit_node]", "transport").replace('\n', " ");
    let mut flags: Vec<String> =
        ["--non-interactive", "--proxmox-url", &value("proxmox", "url").replace('"', "")].map(str::to_owned).to_vec();
    for (key, answer) in [
        ("proxmox.token", format!("file:{}", file("proxmox-token"))),
        ("proxmox.ca_file", file("ca.pem")),
        ("exit_node.transport", exit),
        ("site.domain", "mobile.deevnet.net".to_owned()),
        ("powerdns.mode", "api".to_owned()),
        ("powerdns.url", value("powerdns", "url")),
        ("powerdns.api_key", format!("file:{}", file("powerdns-key"))),
        ("powerdns.dns", value("powerdns", "dns")),
        ("opnsense.url", value("opnsense", "url")),
        ("opnsense.key", format!("file:{}", file("opnsense-key"))),
        ("opnsense.secret", format!("file:{}", file("opnsense-secret"))),
        ("opnsense.ca_file", file("ca.pem")),
        ("resolvers.ask", value("resolvers", "ask")),
        ("bootstrap.url", value("bootstrap", "url")),
        ("bootstrap.ca_file", file("ca.pem")),
        ("bootstrap.credential", format!("file:{}", file("bootstrap-credential"))),
    ] {
        flags.push("--set".to_owned());
        flags.push(format!("{key}={answer}"));
    }
    flags
}

async fn init(home: &Path, args: &[String], more: &[&str]) -> Ran {
    let mut command = program(home);
    command.args(["init", "mobile"]).args(args).args(more);
    run(command).await
}

fn site_of(home: &Path) -> std::path::PathBuf {
    home.join(".config/deevnet-console/sites/mobile.toml")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_written_by_flags_is_well_and_the_same_as_the_labs() {
    let whole = Whole::start("127.88.2.1", &[]).await;
    let home = tempfile::tempdir().unwrap();
    let resolv = whole.resolv_conf().display().to_string();
    let ran = init(home.path(), &flags(&whole), &["--resolv-conf", &resolv]).await;
    let complete = whole.is_complete("a_site_that_is_written_by_flags_is_well_and_the_same_as_the_labs");
    assert_eq!(ran.code, Some(if complete { 0 } else { 3 }), "{}", ran.all());
    let path = site_of(home.path());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    let text = std::fs::read_to_string(&path).unwrap();
    let site = Site::parse(&text, &path).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let lab = Site::parse(&whole.lab.site_toml(), &path).unwrap();
    assert_eq!(site.warnings, Vec::<String>::new());
    let mut expected = lab.clone();
    // What no back end tells, and no flag said.
    expected.aliases.clear();
    expected.numbering.reserved_names.clear();
    expected.proxmox.login_user = None;
    expected.exit_nodes.iter_mut().for_each(|node| node.egress_apply = None);
    let dns = expected.powerdns.as_mut().unwrap();
    (dns.nameserver, dns.update_networks) = (None, Vec::new());
    expected.proxmox.template_prefix = site.proxmox.template_prefix.clone();
    // The text it came from is another one.
    expected.redacted = site.redacted.clone();
    assert_eq!(site, expected, "{text}");
    assert!(site.proxmox.template_prefix.as_deref().is_some_and(|p| p.starts_with("fedora-")), "{text}");
    assert!(ran.out.contains("token ✓") && ran.err.contains("Start: deevnet-console --site"), "{}", ran.all());
    whole.assert_silent(&ran);
    for secret in whole.secrets() {
        assert!(!text.contains(&secret), "{text}");
    }

    // A second time it is not written over.
    let again = init(home.path(), &flags(&whole), &[]).await;
    assert_eq!(again.code, Some(2), "{}", again.all());
    assert!(again.err.contains("exists, and is not written over") && again.err.contains("--out FILE"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    whole.stop().await;
}

#[tokio::test]
async fn without_a_terminal_each_answer_that_is_missing_is_named_as_a_flag() {
    let home = tempfile::tempdir().unwrap();
    let bare = init(home.path(), &[], &[]).await;
    assert_eq!(bare.code, Some(2));
    for flag in
        ["--set proxmox.url=", "--set proxmox.token=", "--set exit_node.transport=", "--set numbering.vmid_base="]
    {
        assert!(bare.err.contains(flag), "{flag}: {}", bare.err);
    }
    let some = ["--set", "powerdns.mode=tunnel", "--proxmox-url", "https://127.0.0.1:1", "--set", "exit_node.2.name=b"];
    let some = init(home.path(), &[], &some).await;
    assert_eq!(some.code, Some(2));
    for flag in ["--set powerdns.api_key=", "--set powerdns.tunnel=", "--set exit_node.2.transport="] {
        assert!(some.err.contains(flag), "{flag}: {}", some.err);
    }
    assert!(!some.err.contains("proxmox.url="), "{}", some.err);
    assert!(!home.path().join(".config").exists(), "nothing is left behind");
}

#[tokio::test]
async fn answers_that_do_not_fit_are_refused_without_being_repeated() {
    let home = tempfile::tempdir().unwrap();
    for (flag, text) in [
        ("opnsense.secret=c4n4ry", "a secret is never written into this file"),
        ("proxmox.url=https://ops:c4n4ry@10.20.99.22:8006", "the URL holds credentials"),
        ("proxmox.tokn=c4n4ry", "did you mean `proxmox.token`?"),
        ("site.octet=c4n4ry", "expected an integer"),
        ("proxmox.2.url=c4n4ry", "this is not SECTION.KEY=VALUE"),
    ] {
        let ran = init(home.path(), &[], &["--set", flag]).await;
        assert_eq!(ran.code, Some(2), "{flag}");
        assert!(ran.err.contains(text), "{flag}: {}", ran.err);
        assert!(!ran.all().contains("c4n4ry"), "{}", ran.all());
    }
    let off = init(home.path(), &[], &["--off", "proxmox"]).await;
    assert!(off.code == Some(2) && off.err.contains("cannot be left out"), "{}", off.err);
}
