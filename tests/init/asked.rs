//! Somebody at a terminal.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use deevnet_console::site::Site;
use deevnet_console::site::model::{Transport, Trust};

use super::pty::{Program, Pty};
use super::setup_common::Whole;

const CONSOLE: &str = env!("CARGO_BIN_EXE_deevnet-console");

fn start(home: &Path, arguments: &[&str]) -> Pty {
    let variables = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
    let program = variables.into_iter().fold(Program::new(CONSOLE, arguments), |p, name| p.env(name, home.join("xdg")));
    program.env("HOME", home).size(200, 100).start()
}

/// Answers the question that ends with `question`.
#[track_caller]
fn answer(pty: &mut Pty, question: &str, text: &str) {
    pty.wait_until(question, |pty| {
        let shown = pty.text();
        let last = shown.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        last.contains(question) && last.trim_end().ends_with(':')
    });
    pty.send(text.as_bytes());
    pty.send(b"\r");
}

fn sites(home: &Path) -> PathBuf {
    home.join("xdg/deevnet-console/sites")
}

fn command_of(lab: &Site) -> String {
    match &lab.exit_nodes[0].transport {
        Transport::Command(argv) => format!("command:{}", argv.join(" ")),
        Transport::Ssh(_) => panic!("the lab has a command"),
    }
}

#[test]
fn a_site_is_written_by_answering() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let whole = runtime.block_on(Whole::start("127.88.2.2", &[]));
    let lab = Site::parse(&whole.lab.site_toml(), &whole.site()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let secret = std::fs::read_to_string(whole.lab.dir().join("proxmox-token")).unwrap().trim().to_owned();
    let transport = command_of(&lab);
    let resolv = whole.resolv_conf().display().to_string();
    // Nothing beyond loopback is asked.
    let ask = format!("resolvers.ask={}", whole.lab.resolver().unwrap());
    let mut pty = start(home.path(), &["init", "--resolv-conf", &resolv, "--set", &ask]);
    answer(&mut pty, "short name of the site", "Mobile!");
    pty.wait_for("Not taken: this is not a site name");
    answer(&mut pty, "short name of the site", "mobile");
    let numbers =
        ["VRF VNI", "VNet VNI", "the /18", "BGP autonomous", "VMID =", "workloads a tenant", "labels of the site"];
    answer(&mut pty, "origin of the API", &lab.proxmox.url);
    pty.wait_for("SHA-256  ");
    pty.wait_for("signed by nobody this host knows");
    pty.wait_for("openssl x509 -noout -fingerprint -sha256 -in /etc/pve/local/pve-ssl.pem");
    // A choice without an answer leads back to the choice.
    answer(&mut pty, "Whom to trust", "ca_file");
    answer(&mut pty, "PEM file", "");
    pty.wait_for("choose again");
    answer(&mut pty, "Whom to trust", "pin");
    answer(&mut pty, "Does the server itself say the same fingerprint", "yes");
    answer(&mut pty, "API token, whole", "");
    answer(&mut pty, "The secret (not shown", &secret);
    pty.wait_for("takes the token");
    for question in ["id of the node that carries tenants", "id of the EVPN controller", "id of the SDN fabric"] {
        answer(&mut pty, question, "");
    }
    for (question, text) in [("workload templates", ""), ("storage that clones go to", "-"), ("login account", "")] {
        answer(&mut pty, question, text);
    }
    answer(&mut pty, "Proxmox node id", "");
    answer(&mut pty, "how the node is reached", &transport);
    pty.wait_for(&format!("helper version {}", deevnet_console::backends::exit_node::helper::VERSION));
    for question in ["interface on the transit segment", "the node's address there", "the perimeter's address there"] {
        answer(&mut pty, question, "");
    }
    answer(&mut pty, "DNS domain below which", "mobile.deevnet.net");
    answer(&mut pty, "second octet", "");
    answer(&mut pty, "other names of nodes", "hv02=dv02hyp002p02");
    for key in numbers {
        answer(&mut pty, key, "");
    }
    for section in ["[powerdns]", "[opnsense]"] {
        answer(&mut pty, section, "off");
    }
    answer(&mut pty, "resolver that workloads use", "");
    answer(&mut pty, "resolver of the machines below", "");
    for section in ["[bootstrap]", "[registry]"] {
        answer(&mut pty, section, "");
    }
    pty.wait_ended();
    assert!(pty.text().contains("token ✓ deevnet@pve!console"), "{}", pty.text());
    assert!(pty.line_is_restored());
    written_as_answered(home.path(), &lab, &secret, &pty);

    // The same name again is refused at once.
    let mut again = start(home.path(), &["init", "mobile"]);
    assert_eq!(again.wait_ended().exit_status(), Some(2));
    assert!(again.text().contains("exists, and is not written over"), "{}", again.text());
    runtime.block_on(whole.stop());
}

#[track_caller]
fn written_as_answered(home: &Path, lab: &Site, secret: &str, pty: &Pty) {
    let hidden = secret.split_once('=').unwrap().1;
    assert!(!String::from_utf8_lossy(pty.bytes()).contains(hidden), "the secret was shown");
    let path = sites(home).join("mobile.toml");
    let site = Site::load(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((&site.numbering.vrf_vni_base, site.numbering.vmid_base), (&10_000, 2_000));
    let mut nodes = lab.exit_nodes.clone();
    // Nothing asks for it: it is the site's own program.
    nodes.iter_mut().for_each(|node| node.egress_apply = None);
    assert_eq!(site.exit_nodes, nodes);
    assert_eq!((site.octet, site.aliases["hv02"].as_str()), (20, "dv02hyp002p02"));
    assert_eq!((site.proxmox.template_prefix.as_deref(), &site.proxmox.storage), (Some("fedora-tenant-"), &None));
    assert!(site.powerdns.is_none() && site.resolvers.is_some());
    assert!(matches!(site.proxmox.trust, Trust::Fingerprint(_)));
    let token = home.join("xdg/deevnet-console/secrets/mobile-proxmox-token");
    assert_eq!(std::fs::read_to_string(&token).unwrap().trim(), secret);
    assert_eq!(std::fs::metadata(&token).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Everything that was left in the home directory.
fn left(home: &Path) -> usize {
    std::fs::read_dir(home).unwrap().count()
}

#[test]
fn ctrl_c_at_a_question_and_while_a_secret_is_typed_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = start(home.path(), &["init", "mobile"]);
    pty.wait_for("origin of the API");
    pty.send(b"\x03");
    assert_eq!(pty.wait_ended().exit_status(), Some(130));
    assert!(pty.text().contains("interrupted; nothing was written"), "{}", pty.text());
    assert!(pty.line_is_restored());

    let mut pty = start(home.path(), &["init", "mobile"]);
    // Nobody listens there: the certificate stays unknown, and the operator may go on.
    answer(&mut pty, "origin of the API", "https://127.0.0.1:1");
    pty.wait_for("its certificate is unknown");
    answer(&mut pty, "Whom to trust", "system");
    answer(&mut pty, "API token, whole", "");
    pty.wait_for("The secret (not shown");
    pty.send(b"c4n4ry");
    pty.send(b"\x03");
    assert_eq!(pty.wait_ended().exit_status(), Some(130));
    assert!(pty.line_is_restored(), "the echo is back");
    assert!(!pty.text().contains("c4n4ry"), "{}", pty.text());
    assert_eq!(left(home.path()), 0, "nothing is left behind");
}

#[test]
fn the_end_of_input_is_said_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = start(home.path(), &["init", "mobile"]);
    pty.wait_for("origin of the API");
    pty.send(b"\x04");
    assert_eq!(pty.wait_ended().exit_status(), Some(2));
    assert!(pty.text().contains("the input ended before the last question"), "{}", pty.text());
    assert_eq!(left(home.path()), 0);
}
