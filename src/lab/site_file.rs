//! Files of a lab: its site file, token, certificate, and the exit node's root and programs.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::build::{ALIASES, EXIT_NODE, TOKEN_ID, WRITER_ID};
use super::names::{NAMESERVER, UPDATE_NETWORKS};
use super::node::PROGRAMS;
use super::node::files::{self, Entry};
use super::perimeter::build::TRANSIT;
use super::servers::Addresses;
use super::state::{World, mix};
use super::{LabError, Shared, control};

/// File of the token that may change things.
const WRITER_FILE: &str = "proxmox-writer-token";
/// Prefix of commands in a shell script that runs the program found after our own directory.
const NEXT_IN_PATH: &str = "PATH=${PATH#*:}; export PATH;";

/// A token secret in the form of a UUID.
pub(super) fn secret(seed: u64, token: &str, now: i64) -> String {
    let part = |n: u8| mix(seed, &format!("secret {token} {n} {now}"));
    let (a, b) = (part(1), part(2));
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}

/// The site file's text; with `writable` it names the token that may change things.
pub(super) fn text(world: &World, dir: &Path, url: &str, [enter, put]: [&[String]; 2], writable: bool) -> String {
    let path = |name: &str| quote(&dir.join(name).display().to_string());
    let words = |command: &[String]| command.iter().map(|word| quote(word)).collect::<Vec<_>>().join(", ");
    let (command, put) = (words(enter), words(put));
    let aliases = ALIASES.iter().map(|(alias, node)| format!("{alias} = {}", quote(node)));
    let aliases = aliases.collect::<Vec<_>>().join(", ");
    let exit = &world.exit;
    let mut out = String::from("# The lab's site: invented, on loopback, gone when the lab stops.\nversion = 1\n");
    let _ = write!(
        out,
        "\n[site]\nname = \"mobile\"\ndomain = \"mobile.deevnet.net\"\noctet = 20\naliases = {{ {aliases} \
         }}\n\n[numbering]\nvrf_vni_base = 10000\nvnet_vni_base = \
         20000\noverlay = \"10.20.128.0/18\"\nasn = 65020\nvmid_base = 2000\nvmids_per_tenant = 40\nreserved_names = \
         [\"api\", \"tdns\", \"tfstate\"]\n"
    );
    let _ = write!(
        out,
        "\n[proxmox]\nurl = {}\ntoken = {{ file = {} }}\nca_file = {}\nnode = \"{EXIT_NODE}\"\ncontroller = \
         \"evpn1\"\nfabric = \"tfab\"\ntemplate_prefix = \"fedora-\"\nstorage = \"local-lvm\"\nlogin_user = \
         \"tenant\"\n",
        quote(url),
        path(if writable { WRITER_FILE } else { "proxmox-token" }),
        path("ca.pem")
    );
    let _ = write!(
        out,
        "\n[[exit_node]]\nname = \"{}\"\ntransport = {{ command = [{command}] }}\ntransit_interface = \
         \"{}\"\ntransit_address = \"{}\"\ntransit_gateway = \"{}\"\negress_apply = [{put}]\n",
        exit.node, exit.transit_dev, exit.transit_address, exit.transit_gateway
    );
    out
}

/// The sections of PowerDNS, the perimeter and check-ins.
pub(super) fn second_half(world: &World, dir: &Path, at: &Addresses) -> String {
    let path = |name: &str| quote(&dir.join(name).display().to_string());
    let networks = UPDATE_NETWORKS.iter().map(|network| quote(network)).collect::<Vec<_>>().join(", ");
    format!(
        "\n[powerdns]\nmode = \"api\"\nurl = \"http://{}\"\napi_key = {{ file = {} }}\ndns = \"{}\"\nnameserver = \
         {}\nupdate_networks = [{networks}]\n\n[opnsense]\nurl = \"https://{}\"\nkey = {{ file = {} }}\nsecret = {{ file \
         = {} }}\nca_file = {}\ntransit = \"{TRANSIT}\"\n\n[resolvers]\nperimeter = \"{}\"\nask = \"{}\"\n\n[bootstrap]\nurl = \"https://{}\"\nca_file = {}\ncredential = {{ file = {} }}\n",
        at.powerdns,
        path("powerdns-key"),
        at.authoritative,
        quote(NAMESERVER.trim_end_matches('.')),
        at.opnsense,
        path("opnsense-key"),
        path("opnsense-secret"),
        path("ca.pem"),
        world.exit.transit_gateway,
        at.resolver,
        at.bootstrap,
        path("ca.pem"),
        path("bootstrap-credential"),
    )
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Makes the lab's directory: certificate, token, the exit node's programs. Its files follow at the first login.
pub(super) fn write_tree(shared: &Shared, ca_pem: &str, secrets: &[String; 2]) -> Result<(), LabError> {
    let dir = &shared.dir;
    for sub in ["bin", "root"] {
        let path = dir.join(sub);
        fs::create_dir_all(&path).map_err(LabError::io("cannot make", &path))?;
    }
    let socket = control::socket(dir);
    if socket.exists() {
        fs::remove_file(&socket).map_err(LabError::io("cannot replace", &socket))?;
    }
    write(&dir.join("ca.pem"), ca_pem, 0o644)?;
    let [reading, writing] = secrets;
    write(&dir.join("proxmox-token"), &format!("{TOKEN_ID}={reading}\n"), 0o600)?;
    write(&dir.join(WRITER_FILE), &format!("{WRITER_ID}={writing}\n"), 0o600)?;
    let world = shared.world();
    let (key, word) = &world.perimeter.credential;
    for (name, text) in [
        ("powerdns-key", &world.names.api_key),
        ("opnsense-key", key),
        ("opnsense-secret", word),
        ("bootstrap-credential", &world.boot.credential),
        ("registry-token", &world.registry.token),
    ] {
        write(&dir.join(name), &format!("{text}\n"), 0o600)?;
    }
    let program = shell_quote(&shared.program);
    let at = shell_quote(&socket);
    for name in PROGRAMS {
        write(&dir.join("bin").join(name), &format!("#!/bin/sh\nexec {program} lab-tool {at} {name} \"$@\"\n"), 0o755)?;
    }
    for (name, script) in shims(&dir.join("root")) {
        write(&dir.join("bin").join(name), &script, 0o755)?;
    }
    Ok(())
}

/// Programs whose real namesake is used, with the lab's root hidden from what they print and who runs them invented.
fn shims(root: &Path) -> Vec<(&'static str, String)> {
    let at = shell_quote(root);
    let denied = format!("[ -e {at}/.denied ]");
    vec![
        (
            "id",
            format!(
                "#!/bin/sh\nif {denied}; then uid=1000 user=operator; else uid=0 user=root; fi\ncase $1 in\n  -u) echo \
             $uid ;;\n  -un | -nu) echo $user ;;\n  *) echo \"uid=$uid($user)\" ;;\nesac\n"
            ),
        ),
        (
            "sudo",
            format!(
                "#!/bin/sh\nif {denied}; then echo 'sudo: a password is required' >&2; exit 1; fi\nwhile [ \"${{1#-}}\" != \
             \"$1\" ]; do [ \"$1\" = -l ] && exit 0; shift; done\nexec \"$@\"\n"
            ),
        ),
        (
            "cat",
            format!(
                "#!/bin/sh\nif {denied}; then\n  for file; do case $file in {at}/etc/frr/*) echo \"cat: \
             ${{file#{at}}}: Permission denied\" >&2; exit 1 ;; esac; done\nfi\n{NEXT_IN_PATH}\nexec cat \"$@\"\n"
            ),
        ),
        ("grep", format!("#!/bin/sh\nroot={at}\n{NEXT_IN_PATH}\ngrep \"$@\" | sed \"s|^$root/|/|\"\n")),
    ]
}

/// Brings the exit node's files up to date and names its root and its programs. Only what changed is written.
pub(super) fn refresh_root(shared: &Shared) -> Result<(PathBuf, PathBuf), LabError> {
    let world = shared.world();
    let root = shared.dir.join("root");
    let mut wanted = files::files(&world, shared.now());
    if !world.exit.root {
        // What only root may read is not there to be read, whoever runs the lab.
        wanted.retain(|name, _| !name.starts_with("etc/frr/"));
        wanted.insert(".denied".to_owned(), Entry::Text(String::new()));
    }
    let mut written = shared.written.lock().unwrap_or_else(PoisonError::into_inner);
    let stale = |name: &String, entry: &Entry| wanted.get(name) != Some(entry);
    for (name, _) in written.iter().filter(|(name, entry)| stale(name, entry)) {
        let path = root.join(name);
        fs::remove_file(&path).map_err(LabError::io("cannot remove", &path))?;
    }
    for (name, entry) in wanted.iter().filter(|(name, entry)| written.get(*name) != Some(*entry)) {
        let path = root.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(LabError::io("cannot make", parent))?;
        }
        match entry {
            Entry::Text(text) => write(&path, text, 0o644)?,
            Entry::Link(to) => symlink(to, &path).map_err(LabError::io("cannot link", &path))?,
        }
    }
    *written = wanted;
    Ok((root, shared.dir.join("bin")))
}

/// Writes a file that never has more rights than `mode`.
fn write(path: &Path, content: &str, mode: u32) -> Result<(), LabError> {
    let written = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path);
    written.and_then(|mut file| file.write_all(content.as_bytes())).map_err(LabError::io("cannot write", path))
}

fn shell_quote(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
